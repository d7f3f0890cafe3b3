//! ndarray as an implementation. `../README.md` is the protocol.

mod array;
mod language;
mod operations;

use broadcheck_protocol::adapter::library::{Recorder, class, elements, locked};
use broadcheck_protocol::adapter::{
    CallError, Capability, Hello, Lack, Library, Operation, UnsupportedCall, serve_process,
};
use broadcheck_protocol::error::Class;
use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::{Input, TensorValue};
use broadcheck_protocol::tensor::DType;
use broadcheck_recording::Recording;
use ndarray::ArrayD;

use array::Tensor;

/// ndarray, whose arrays have the element type in their own type.
pub struct Ndarray {
    /// The program in its calls, if one is asked for.
    recording: Option<Recording<language::Ndarray>>,
}

impl Library for Ndarray {
    type Tensor = Tensor;

    const OPERATIONS: &'static [Operation<Ndarray>] = operations::OPERATIONS;

    fn describe(&self) -> Hello {
        let half = "Rust has no stable type for it";
        let mut lacks = vec![Lack::dtype(DType::Float16, half), Lack::dtype(DType::Bfloat16, half)];
        lacks.extend(operations::ARGUMENTS.iter().map(|&(op, name, why)| Lack::argument(op, name, why)));
        Hello {
            name: "ndarray".to_owned(),
            version: locked(include_str!("../Cargo.lock"), "ndarray"),
            build: String::new(),
            ops: Vec::new(),
            dtypes: array::DTYPES.to_vec(),
            capabilities: vec![Capability::InPlace],
            lacks,
            unsupported: operations::UNSUPPORTED.iter().map(|(what, ops)| UnsupportedCall::of(what, ops)).collect(),
        }
    }

    fn lacks(&self, form: Form) -> &'static str {
        match form {
            Form::Functional => "ndarray only does it in place",
            _ => "ndarray's function does not write to its operand",
        }
    }

    fn make(&mut self, input: &Input) -> Result<Tensor, CallError> {
        let sizes: Vec<usize> = input.shape.sizes().iter().map(|&size| size as usize).collect();
        with_element!(all input.dtype, A => Ok(Tensor::new(ArrayD::from_shape_vec(sizes, elements::<A>(&input.data))?)))
    }

    fn read(&mut self, tensor: &Tensor) -> Result<TensorValue, CallError> {
        tensor.read()
    }

    fn recorder(&mut self) -> Option<&mut dyn Recorder> {
        self.recording.as_mut().map(|recording| recording as &mut dyn Recorder)
    }

    fn classify(&self, op: Op, message: &str) -> Option<Class> {
        class(operations::CLASSES, op, message)
    }
}

fn main() -> std::io::Result<()> {
    serve_process(&mut Ndarray { recording: Recording::wanted(language::Ndarray) })
}
