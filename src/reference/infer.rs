//! Runs a program without elements, for the shapes, dtypes, strides and rejections of its steps.
//!
//! The kernels are the same, in their phases infer, prepare and write; only the gate of their eval phase is closed. So the
//! sizes are bounded by what 64 bits can count, and by nothing that a machine holds.

use crate::error::Rejection;
use crate::program::{Step, StorageRef};
use crate::tensor::{Buffer, DType, ScalarType, Shape};

use super::evaluate::{Halted, Session};
use super::machine::{Slot, Stop, TensorId};

/// An input of a program that is run without elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Its dtype.
    pub dtype: DType,
    /// Its shape.
    pub shape: Shape,
    /// Its elements, row-major and little-endian, where shapes may depend on them: of indices and masks.
    pub data: Option<Vec<u8>>,
    /// True if gradients are kept for it.
    pub requires_grad: bool,
}

/// The outcomes of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferences {
    /// One for each step.
    pub steps: Vec<Inference>,
    /// The inputs after the last step, which steps may have resized.
    pub inputs: Vec<TensorFacts>,
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Inference {
    /// Its value, or why there is none.
    pub outcome: Inferred,
    /// The warnings, as libtorch words them.
    pub warnings: Vec<String>,
}

/// The value of a step without its elements, or why there is none.
///
/// Elements that are not there are supposed to raise no error: indices are in range, divisors are not zero, matrices have
/// inverses. Where they decide the shape, the outcome is [`Inferred::Unknown`].
#[derive(Clone, Debug, PartialEq)]
pub enum Inferred {
    /// A tensor.
    Tensor(TensorFacts),
    /// A list of tensors.
    Tensors(Vec<TensorFacts>),
    /// A list of sizes.
    Sizes(Vec<i64>),
    /// A number, which is not known.
    Number,
    /// A dtype.
    Dtype(ScalarType),
    /// Nothing.
    Nothing,
    /// The step raises an error.
    Rejected(Rejection),
    /// The outcome depends on elements that are not there, of the operand that is named.
    Unknown(String),
    /// The reference does not model this.
    Unsupported(String),
    /// The step uses this value, and that is not there.
    Blocked(usize),
    /// The step is malformed.
    Malformed(String),
}

impl Inferred {
    /// The tensors of the value.
    pub fn tensors(&self) -> &[TensorFacts] {
        match self {
            Inferred::Tensor(tensor) => std::slice::from_ref(tensor),
            Inferred::Tensors(tensors) => tensors,
            _ => &[],
        }
    }
}

/// The facts about a tensor, except for its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorFacts {
    /// Its dtype.
    pub dtype: DType,
    /// Its shape.
    pub shape: Shape,
    /// Its strides, in elements.
    pub strides: Vec<i64>,
    /// Its place in memory: tensors that share a storage have the same number.
    pub storage: StorageRef,
}

/// Runs a program without elements, apart from those of inputs whose data is given.
///
/// # Errors
/// When the data of an input does not fill its shape.
///
/// ```
/// use broadcheck_protocol::ops::{Form, Op};
/// use broadcheck_protocol::program::{Arg, Step, ValueRef};
/// use broadcheck_protocol::tensor::{DType, Scalar, Shape};
/// use broadcheck_reference::{Declared, infer};
///
/// let declared = |name: &str, sizes: Vec<i64>| Declared {
///     name: name.to_owned(),
///     dtype: DType::Float32,
///     shape: Shape::new(sizes).unwrap(),
///     data: None,
///     requires_grad: false,
/// };
/// let inputs = [declared("x", vec![1_000_000_000, 1]), declared("y", vec![1, 1_000_000_000])];
/// let operand = |value| Arg::Tensor(ValueRef { value, part: None });
/// let args = vec![operand(0), operand(1), Arg::Number(Scalar::Int(1))];
/// let sum = Step { name: "r".to_owned(), op: Op::Add, form: Form::Functional, args, out: None };
/// let outcomes = infer(&inputs, &[sum]).unwrap();
/// assert_eq!(outcomes.steps[0].outcome.tensors()[0].shape.sizes(), [1_000_000_000, 1_000_000_000]);
/// ```
pub fn infer(inputs: &[Declared], steps: &[Step]) -> Result<Inferences, String> {
    let mut session = Session::without_elements();
    for input in inputs {
        let buffer = match &input.data {
            None => Buffer::zeros(input.dtype, 0),
            Some(data) => Buffer::from_bytes(input.dtype, data)
                .filter(|buffer| buffer.len() == input.shape.numel())
                .ok_or_else(|| format!("input {}: the data does not fill the shape {}", input.name, input.shape))?,
        };
        session.declare(&input.shape, buffer, input.requires_grad);
    }
    let steps = steps.iter().map(|step| inference(&mut session, step)).collect();
    let inputs = (0..session.count_inputs()).map(|input| facts(&mut session, TensorId(input))).collect();
    Ok(Inferences { steps, inputs })
}

fn inference(session: &mut Session, step: &Step) -> Inference {
    let outcome = match session.advance(step) {
        Ok(Slot::Tensor(id)) => Inferred::Tensor(facts(session, id)),
        Ok(Slot::Tensors(ids)) => Inferred::Tensors(ids.into_iter().map(|id| facts(session, id)).collect()),
        Ok(Slot::Sizes(sizes)) => Inferred::Sizes(sizes),
        Ok(Slot::Number(_)) => Inferred::Number,
        Ok(Slot::Dtype(dtype)) => Inferred::Dtype(dtype),
        Ok(Slot::Nothing) => Inferred::Nothing,
        Err(Halted::Blocked(value)) => Inferred::Blocked(value),
        Err(Halted::Stopped(Stop::Rejected(rejection))) => Inferred::Rejected(rejection),
        Err(Halted::Stopped(Stop::Unknown(what))) => Inferred::Unknown(what),
        Err(Halted::Stopped(Stop::Unsupported(what))) => Inferred::Unsupported(what),
        Err(Halted::Stopped(Stop::Malformed(what))) => Inferred::Malformed(what),
    };
    Inference { outcome, warnings: session.warnings() }
}

fn facts(session: &mut Session, id: TensorId) -> TensorFacts {
    let (tensor, id) = session.tensor(id);
    TensorFacts {
        dtype: tensor.dtype,
        shape: tensor.shape().clone(),
        strides: tensor.layout.strides.clone(),
        storage: StorageRef { id, offset: tensor.layout.offset },
    }
}
