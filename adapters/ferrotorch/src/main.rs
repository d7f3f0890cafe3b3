//! ferrotorch as an implementation; it is the crate `ferrotorch-core`. `../README.md` is the protocol.

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

#[cfg(target_os = "linux")]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tensor::Tensor;

/// ferrotorch, on the CPU, whose floats, integers, booleans and complex numbers have tensors of their own types.
pub struct Ferrotorch {
    /// The program in its calls, if one is asked for.
    recording: Option<Recording<language::Ferrotorch>>,
}

impl Library for Ferrotorch {
    type Tensor = Tensor;

    const OPERATIONS: &'static [Operation<Ferrotorch>] = operations::OPERATIONS;

    fn describe(&self) -> Hello {
        let integer = "ferrotorch has no such integers";
        let mut lacks: Vec<Lack> =
            [DType::Uint8, DType::Int8, DType::Int16].map(|dtype| Lack::dtype(dtype, integer)).into();
        lacks.extend(operations::ARGUMENTS.iter().map(|&(op, name, why)| Lack::argument(op, name, why)));
        let mut unsupported: Vec<UnsupportedCall> =
            operations::UNSUPPORTED.iter().map(|(what, ops)| UnsupportedCall::of(what, ops)).collect();
        let typed = operations::OPERATIONS.iter().map(|row| row.op);
        let typed: Vec<Op> = typed.filter(|op| !operations::OF_EVERY_TYPE.contains(op)).collect();
        unsupported.push(UnsupportedCall::of(tensor::KIND, &typed));
        // Only floating-point and complex inputs can require gradients. If an input cannot be made, every step is
        // answered so.
        let complex = [DType::Complex64, DType::Complex128].map(|dtype| dtype.name().to_owned());
        unsupported.push(UnsupportedCall {
            what: tensor::LEAF.to_owned(),
            dtypes: complex.into(),
            ..UnsupportedCall::default()
        });
        Hello {
            name: "ferrotorch".to_owned(),
            version: locked(include_str!("../Cargo.lock"), "ferrotorch-core"),
            build: String::new(),
            ops: Vec::new(),
            dtypes: tensor::DTYPES.to_vec(),
            capabilities: vec![Capability::InPlace, Capability::Out, Capability::Autograd],
            lacks,
            unsupported,
        }
    }

    fn lacks(&self, form: Form) -> &'static str {
        match form {
            Form::Functional => "ferrotorch only does it in place",
            _ => "ferrotorch's function gives a new tensor",
        }
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
        let accident = operations::ACCIDENTS.iter().any(|text| message.contains(text));
        if accident { None } else { class(operations::CLASSES, op, message) }
    }
}

/// The limit of memory, so that the machine does not decide which programs are rejected.
const MEMORY: u64 = 8 << 30;

fn main() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    if getrlimit(Resource::As).maximum.is_none_or(|most| most > MEMORY) {
        setrlimit(Resource::As, Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) })?;
    }
    serve_process(&mut Ferrotorch { recording: Recording::wanted(language::Ferrotorch) })
}
