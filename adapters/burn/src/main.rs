//! Burn as an implementation, on its Flex backend; `burn::tensor` is the crate `burn-tensor`. `../README.md` is the
//! protocol.

mod language;
mod operations;
mod tensor;

use broadcheck_protocol::adapter::library::{Recorder, class, locked};
use broadcheck_protocol::adapter::{
    CallError, Capability, Hello, Lack, Library, Operation, UnsupportedCall, serve_process,
};
use broadcheck_protocol::error::Class;
use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::{Input, TensorValue};
use broadcheck_protocol::tensor::DType;
use broadcheck_recording::Recording;
use burn_tensor::Gradients;

use tensor::Tensor;

/// Burn, whose tensors have rank and kind in their type.
pub struct Burn {
    /// The gradients of the last `backward` of the program.
    gradients: Option<Gradients>,
    /// The program in its calls, if one is asked for.
    recording: Option<Recording<language::Burn>>,
}

impl Library for Burn {
    type Tensor = Tensor;

    const OPERATIONS: &'static [Operation<Burn>] = operations::OPERATIONS;

    fn describe(&self) -> Hello {
        let complex = "Burn has no complex dtype";
        let mut lacks = vec![Lack::dtype(DType::Complex64, complex), Lack::dtype(DType::Complex128, complex)];
        lacks.extend(operations::ARGUMENTS.iter().map(|&(op, name, why)| Lack::argument(op, name, why)));
        let mut unsupported: Vec<UnsupportedCall> =
            operations::UNSUPPORTED.iter().map(|(what, ops)| UnsupportedCall::of(what, ops)).collect();
        let every: Vec<Op> = operations::OPERATIONS.iter().map(|row| row.op).collect();
        unsupported.push(UnsupportedCall::of(tensor::RANK, &every));
        Hello {
            name: "burn".to_owned(),
            version: locked(include_str!("../Cargo.lock"), "burn-tensor"),
            build: "Flex".to_owned(),
            ops: Vec::new(),
            dtypes: tensor::DTYPES.iter().map(|(dtype, _)| *dtype).collect(),
            capabilities: vec![Capability::Autograd],
            lacks,
            unsupported,
        }
    }

    fn lacks(&self, _form: Form) -> &'static str {
        "Burn's tensors are immutable"
    }

    fn make(&mut self, input: &Input) -> Result<Tensor, CallError> {
        Tensor::make(input)
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

    fn begin(&mut self) {
        self.gradients = None;
    }
}

fn main() -> std::io::Result<()> {
    serve_process(&mut Burn { gradients: None, recording: Recording::wanted(language::Burn) })
}
