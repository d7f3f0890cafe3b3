//! candle as an implementation. `../README.md` is the protocol.

mod language;
mod operations;

use broadcheck_protocol::adapter::library::{Recorder, class, elements, locked, shown};
use broadcheck_protocol::adapter::{
    CallError, Capability, Hello, Lack, Library, Operation, UnsupportedCall, serve_process,
};
use broadcheck_protocol::error::Class;
use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::{Input, TensorValue};
use broadcheck_protocol::tensor;
use broadcheck_recording::Recording;
use candle_core::backprop::GradStore;
use candle_core::{DType, Device, Tensor, Var, WithDType};
use half::{bf16, f16};

/// candle, on the CPU.
pub struct Candle {
    /// The gradients of the last `backward` of the program.
    gradients: Option<GradStore>,
    /// The program in its calls, if one is asked for.
    recording: Option<Recording<language::Candle>>,
}

/// Runs `$body` with the type `$T` bound to the element type of a dtype; one that the protocol lacks is unsupported.
#[macro_export]
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::with_element!($dtype, $T => $body; U8 u8, I16 i16, I32 i32, I64 i64, F16 f16, BF16 bf16, F32 f32,
            F64 f64)
    };
    ($dtype:expr, $T:ident => $body:expr; $($dtype_name:ident $element:ty),+) => {
        match $dtype {
            $(candle_core::DType::$dtype_name => {
                type $T = $element;
                $body
            })+
            _ => Err($crate::operations::unsupported($crate::operations::POSITIONS)),
        }
    };
}

impl Library for Candle {
    type Tensor = Tensor;

    const OPERATIONS: &'static [Operation<Candle>] = operations::OPERATIONS;

    fn describe(&self) -> Hello {
        let mut lacks = vec![
            Lack::dtype(tensor::DType::Bool, "candle has no bool: comparisons give u8"),
            Lack::dtype(tensor::DType::Int8, "candle has no such dtype"),
            Lack::dtype(tensor::DType::Complex64, "candle has no complex dtype"),
            Lack::dtype(tensor::DType::Complex128, "candle has no complex dtype"),
        ];
        lacks.extend(operations::ARGUMENTS.iter().map(|&(op, name, why)| Lack::argument(op, name, why)));
        Hello {
            name: "candle".to_owned(),
            version: locked(include_str!("../Cargo.lock"), "candle-core"),
            build: String::new(),
            ops: Vec::new(),
            dtypes: DTYPES.iter().map(|(dtype, _)| *dtype).collect(),
            capabilities: vec![Capability::InPlace, Capability::Autograd],
            lacks,
            unsupported: operations::UNSUPPORTED.iter().map(|(what, ops)| UnsupportedCall::of(what, ops)).collect(),
        }
    }

    fn lacks(&self, form: Form) -> &'static str {
        match form {
            Form::Functional => "candle only does it in place",
            _ => "candle's function gives a new tensor",
        }
    }

    fn make(&mut self, input: &Input) -> Result<Tensor, CallError> {
        let sizes: Vec<usize> = input.shape.sizes().iter().map(|&size| size as usize).collect();
        with_element!(dtype(input.dtype), T => {
            let data: Vec<T> = elements(&input.data);
            Ok(match input.requires_grad {
                true => Var::from_vec(data, sizes, &Device::Cpu)?.into_inner(),
                false => Tensor::from_vec(data, sizes, &Device::Cpu)?,
            })
        })
    }

    fn read(&mut self, tensor: &Tensor) -> Result<TensorValue, CallError> {
        with_element!(tensor.dtype(), T => {
            shown::<T>(tensor.dims(), || row_major(tensor).expect("a tensor can be read"))
        })
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

const DTYPES: [(tensor::DType, DType); 8] = [
    (tensor::DType::Uint8, DType::U8),
    (tensor::DType::Int16, DType::I16),
    (tensor::DType::Int32, DType::I32),
    (tensor::DType::Int64, DType::I64),
    (tensor::DType::Float16, DType::F16),
    (tensor::DType::Bfloat16, DType::BF16),
    (tensor::DType::Float32, DType::F32),
    (tensor::DType::Float64, DType::F64),
];

/// candle's name of a dtype. Of one that it lacks there is no input.
fn dtype(of: tensor::DType) -> DType {
    DTYPES.iter().find(|(dtype, _)| *dtype == of).expect("a dtype of hello").1
}

fn row_major<T: WithDType>(tensor: &Tensor) -> candle_core::Result<Vec<T>> {
    tensor.flatten_all()?.to_vec1()
}

fn main() -> std::io::Result<()> {
    serve_process(&mut Candle { gradients: None, recording: Recording::wanted(language::Candle) })
}
