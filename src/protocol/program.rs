//! Programs: a few tensors, a few operations on them; and the outcome of each operation.
//!
//! These are the types that cross the adapter protocol, so they say nothing of expectations.

use serde::{Deserialize, Serialize};

use crate::error::Class;
use crate::ops::{Compare, Form, Op, Param, ParamDefault, ParamKind};
use crate::tensor::{DType, Element, IndexItem, Scalar, ScalarType, Shape, shape::bracketed};

/// Tensors and steps. Values are numbered: first the inputs, then the steps.
///
/// ```
/// use broadcheck_protocol::ops::{Form, Op};
/// use broadcheck_protocol::program::{Arg, Input, Program, Step, ValueRef};
/// use broadcheck_protocol::tensor::{DType, Scalar, Shape};
///
/// let x = Input {
///     name: "x".to_owned(),
///     dtype: DType::Uint8,
///     shape: Shape::new(vec![3]).unwrap(),
///     data: vec![1, 2, 3],
///     requires_grad: false,
/// };
/// let value = |value| Arg::Tensor(ValueRef { value, part: None });
/// let double = Step {
///     name: "double".to_owned(),
///     op: Op::Add,
///     form: Form::InPlace,
///     args: vec![value(0), value(0), Arg::Number(Scalar::Int(1))],
///     out: None,
/// };
/// let program = Program { inputs: vec![x], steps: vec![double] };
/// assert_eq!(program.value_name(1), "double");
/// assert!(program.mutates(), "the reply has the final state of `x`");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The tensors that the program starts with.
    pub inputs: Vec<Input>,
    /// The operations, in order. One may use any value that comes before it.
    pub steps: Vec<Step>,
}

/// A tensor that the program starts with: contiguous, in a storage of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The name in the program.
    pub name: String,
    /// The dtype.
    pub dtype: DType,
    /// The sizes.
    pub shape: Shape,
    /// The elements: little-endian, row-major.
    #[serde(with = "bytes")]
    pub data: Vec<u8>,
    /// True if gradients are kept for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requires_grad: bool,
}

/// One operation on values that are there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The name of the result.
    pub name: String,
    /// The operation.
    pub op: Op,
    /// The form of the call: where the result goes.
    pub form: Form,
    /// One argument for each parameter of the operation, defaults filled in.
    pub args: Vec<Arg>,
    /// The tensor that `out=` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<ValueRef>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arg {
    /// Python's `None`.
    Nothing,
    /// A tensor.
    Tensor(ValueRef),
    /// Several tensors.
    Tensors(Vec<ValueRef>),
    /// Several tensors, some of them missing.
    Indices(Vec<Option<ValueRef>>),
    /// A scalar.
    Number(Scalar),
    /// An integer that is no operand: a dimension.
    Int(i64),
    /// Sizes or dimensions.
    Ints(Vec<i64>),
    /// Shapes, for the functions that take several.
    Shapes(Vec<ShapeArg>),
    /// A switch.
    Flag(bool),
    /// A dtype, in which the operation computes.
    Dtype(DType),
    /// A dtype that the operation is about: any of PyTorch's.
    ScalarType(ScalarType),
    /// Text.
    Text(String),
    /// Python-style basic indexing.
    Index(Vec<IndexItem>),
}

/// A shape as an argument, which may be impossible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShapeArg {
    /// A single integer: one dimension.
    Size(i64),
    /// A list of sizes.
    Sizes(Vec<i64>),
    /// A scalar that is not an integer, which Python can pass but which is not a shape.
    Float(f64),
    /// Text, likewise.
    Text(String),
}

impl ShapeArg {
    /// The sizes; `None` for an argument that is not a shape.
    pub fn sizes(&self) -> Option<&[i64]> {
        match self {
            ShapeArg::Size(size) => Some(std::slice::from_ref(size)),
            ShapeArg::Sizes(sizes) => Some(sizes),
            ShapeArg::Float(_) | ShapeArg::Text(_) => None,
        }
    }
}

/// A value of the program: `value` counts the inputs, then the steps; `part` picks one of several results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueRef {
    /// Its number.
    pub value: usize,
    /// The index of the tensor, of a step that has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<usize>,
}

impl From<ParamDefault> for Arg {
    /// The argument that a default stands for.
    fn from(default: ParamDefault) -> Arg {
        match default {
            ParamDefault::Nothing => Arg::Nothing,
            ParamDefault::Int(value) => Arg::Int(value),
            ParamDefault::Number(value) => Arg::Number(Scalar::Int(value)),
            ParamDefault::Flag(value) => Arg::Flag(value),
            ParamDefault::Text(value) => Arg::Text(value.to_owned()),
            ParamDefault::Real(value) => Arg::Number(Scalar::Float(value)),
        }
    }
}

impl Arg {
    /// The values that it names.
    pub fn uses(&self) -> impl Iterator<Item = ValueRef> {
        let (there, maybe): (&[ValueRef], &[Option<ValueRef>]) = match self {
            Arg::Tensor(value) => (std::slice::from_ref(value), &[]),
            Arg::Tensors(values) => (values, &[]),
            Arg::Indices(values) => (&[], values),
            _ => (&[], &[]),
        };
        there.iter().copied().chain(maybe.iter().copied().flatten())
    }
}

impl Program {
    /// The name of a value.
    pub fn value_name(&self, value: usize) -> &str {
        match self.inputs.get(value) {
            Some(input) => &input.name,
            None => &self.steps[value - self.inputs.len()].name,
        }
    }

    /// Returns whether any step writes to a tensor that was there before it.
    pub fn mutates(&self) -> bool {
        self.steps.iter().any(|step| step.form != Form::Functional)
    }
}

impl Step {
    /// The value that the step writes to, if it is one that was there before.
    pub fn target(&self) -> Option<ValueRef> {
        match (self.form, self.args.first()) {
            (Form::InPlace, Some(Arg::Tensor(target))) => Some(*target),
            (Form::Out, _) => self.out,
            _ => None,
        }
    }

    /// Returns how its result is compared: as the table says; one that many elements were reduced to is a sum.
    pub fn compare(&self) -> Compare {
        let params = self.op.info().arguments;
        let reduces = |(param, arg): (&Param, &Arg)| {
            param.kind == ParamKind::Reduction && !matches!(arg, Arg::Text(text) if text == "none")
        };
        let reduced = params.iter().zip(&self.args).any(reduces);
        if reduced { Compare::Tolerance } else { self.op.info().compare }
    }

    /// The values that the step uses, `out` included.
    pub fn uses(&self) -> impl Iterator<Item = ValueRef> {
        self.args.iter().flat_map(Arg::uses).chain(self.out)
    }

    /// The same, to be changed.
    pub fn uses_mut(&mut self) -> Vec<&mut ValueRef> {
        let mut uses: Vec<&mut ValueRef> = self.out.iter_mut().collect();
        for arg in &mut self.args {
            match arg {
                Arg::Tensor(value) => uses.push(value),
                Arg::Tensors(values) => uses.extend(values),
                Arg::Indices(values) => uses.extend(values.iter_mut().flatten()),
                _ => {}
            }
        }
        uses
    }
}

/// The answer of an implementation to one program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The outcome of each step, in order, as it was right after that step.
    pub steps: Vec<StepOutcome>,
    /// The inputs as they are after the last step; empty if no step writes to a tensor that was there before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<TensorValue>,
}

/// The outcome of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepOutcome {
    /// The result or its absence.
    pub outcome: Outcome,
    /// The warnings that the step gave, without their source positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The category of each warning, such as `UserWarning`, if the library reports categories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
}

impl StepOutcome {
    /// An outcome without warnings.
    pub fn of(outcome: Outcome) -> StepOutcome {
        StepOutcome { outcome, warnings: Vec::new(), categories: Vec::new() }
    }
}

/// A result, or why there is none.
///
/// ```
/// use broadcheck_protocol::program::{Outcome, Value};
/// use broadcheck_protocol::tensor::Scalar;
///
/// let outcome: Outcome = serde_json::from_str(r#"{"value":{"number":{"int":2}}}"#).unwrap();
/// assert_eq!(outcome, Outcome::Value(Value::Number(Scalar::Int(2))));
/// let outcome: Outcome = serde_json::from_str(r#"{"rejected":{"message":"shapes differ"}}"#).unwrap();
/// assert!(matches!(outcome, Outcome::Rejected(rejected) if rejected.class.is_none()));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The step has a value.
    Value(Value),
    /// The implementation rejected the call.
    Rejected(Rejected),
    /// The implementation declares that it cannot do this.
    Unsupported(String),
    /// A value that the step uses does not exist; `Blocked` carries its number.
    Blocked(usize),
    /// The adapter itself went wrong.
    Failed(String),
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A tensor.
    Tensor(TensorValue),
    /// Several tensors.
    Tensors(Vec<TensorValue>),
    /// A shape.
    Sizes(Vec<i64>),
    /// A scalar, which has no dtype.
    Number(Scalar),
    /// A dtype.
    Dtype(ScalarType),
    /// Python's `None`: no gradient, or nothing to return.
    Nothing,
}

/// The most bytes that the elements of one value may take. An expanded tensor can claim any size without taking memory;
/// what is larger comes without its elements, and takes part in nothing but views.
pub const VALUE_LIMIT: usize = 64 << 20;

/// A tensor, seen from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorValue {
    /// The dtype.
    pub dtype: DType,
    /// The sizes.
    pub shape: Shape,
    /// The elements: little-endian, row-major, whatever the strides are; none where they would take more than
    /// [`VALUE_LIMIT`].
    #[serde(with = "bytes")]
    pub data: Vec<u8>,
    /// Elements from one index to the next; absent where the library has no strides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Vec<i64>>,
    /// Its storage and its place in it; absent where the library does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageRef>,
}

impl From<&Input> for TensorValue {
    /// The tensor that an input is, without strides and storage.
    fn from(input: &Input) -> TensorValue {
        let Input { dtype, shape, data, .. } = input.clone();
        TensorValue { dtype, shape, data, strides: None, storage: None }
    }
}

/// A place in a storage. Storages are numbered in the order in which the reply first mentions them, after the inputs,
/// whose storages have the inputs' own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageRef {
    /// The number of the storage.
    pub id: usize,
    /// Elements before the first one.
    pub offset: i64,
}

/// A rejection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    /// The library's own first line.
    pub message: String,
    /// The portable class, where the implementation knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The function that raised it, if the library reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The type of the exception in the library's language, such as `RuntimeError`, if the library reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raises: Option<String>,
}

impl Reply {
    /// The first thing in the program that was not run because it is not supported.
    pub fn unsupported(&self) -> Option<&str> {
        self.steps.iter().find_map(|step| step.outcome.unsupported())
    }
}

impl Outcome {
    /// Returns what is not supported, if that is why there is no result.
    pub fn unsupported(&self) -> Option<&str> {
        match self {
            Outcome::Unsupported(what) => Some(what),
            _ => None,
        }
    }

    /// The tensors of a value.
    pub fn tensors(&self) -> &[TensorValue] {
        match self {
            Outcome::Value(Value::Tensor(tensor)) => std::slice::from_ref(tensor),
            Outcome::Value(Value::Tensors(tensors)) => tensors,
            _ => &[],
        }
    }
}

impl TensorValue {
    /// The elements as numbers, row-major.
    ///
    /// An adapter may send too few or too many bytes; whole elements are read, the harness compares the counts.
    pub fn scalars(&self) -> Vec<Scalar> {
        self.elements().collect()
    }

    /// The same, one by one.
    pub fn elements(&self) -> impl Iterator<Item = Scalar> {
        let dtype = self.dtype;
        let elements = self.data.chunks_exact(dtype.size());
        elements.map(move |element| crate::with_element_type!(dtype, T => T::read(element).to_scalar()))
    }
}

impl std::fmt::Display for ShapeArg {
    /// As Python prints the argument: an integer as the tuple it stands for.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ShapeArg::Size(size) => write!(f, "({size},)"),
            ShapeArg::Sizes(sizes) => f.write_str(&bracketed(sizes)),
            ShapeArg::Float(value) => write!(f, "{value:?}"),
            ShapeArg::Text(text) => f.write_str(text),
        }
    }
}

/// Bytes, which are base64 where only text can be: NaN payloads, infinities and empty tensors survive JSON.
mod bytes {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde::de::{Deserializer, Error, Visitor};
    use serde::ser::Serializer;

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&STANDARD.encode(bytes))
        } else {
            serializer.serialize_bytes(bytes)
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Data)
        } else {
            deserializer.deserialize_bytes(Data)
        }
    }

    /// Reads text or bytes where they stand, without a copy of them in between.
    struct Data;

    impl Visitor<'_> for Data {
        type Value = Vec<u8>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
            formatter.write_str("data")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
            STANDARD.decode(text).map_err(|error| E::custom(format!("base64 data: {error}")))
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }
}
