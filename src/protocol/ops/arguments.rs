//! The arguments of operations: parameters, their kinds and defaults.

use serde::Serialize;

/// One parameter of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The documented name, usable as a keyword.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: ParamKind,
    /// Its value when it is left out; `None` where it must be given.
    pub default: Option<ParamDefault>,
}

/// The kind of the values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamKind {
    /// A tensor.
    Tensor,
    /// A tensor or a scalar.
    Operand,
    /// A scalar, or a tensor in its place: a value to be written, which takes no part in promotion.
    Value,
    /// All the remaining arguments, each a tensor.
    Tensors,
    /// A list of tensors, some of which may be missing: one for each of the first dimensions.
    Indices,
    /// All the remaining arguments, each a list of sizes or a single size.
    Shapes,
    /// A scalar.
    Number,
    /// An integer.
    Int,
    /// A list of integers.
    Ints,
    /// An integer or a list of integers.
    Dims,
    /// A floating-point number; an integer stands for one.
    Real,
    /// The reduction of the elements of a loss: `none`, `mean`, `sum`.
    Reduction,
    /// True or false.
    Flag,
    /// A dtype, in which the operation computes.
    Dtype,
    /// A dtype that the operation is about: any of PyTorch's, also those that no tensor of a program has.
    ScalarType,
    /// Text.
    Text,
    /// The index between the brackets of `x[...]`, as text.
    Index,
}

/// The value of a parameter that is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamDefault {
    /// Python's `None`.
    Nothing,
    /// An integer that is a size, a dimension or an index.
    Int(i64),
    /// A number that is an integer.
    Number(i64),
    /// A floating-point number.
    Real(f64),
    /// True or false.
    Flag(bool),
    /// Text.
    Text(&'static str),
}

/// The reductions of a loss, each at the place of the number by which libtorch's operators know it (`at::Reduction`).
pub const REDUCTIONS: &[&str] = &["none", "mean", "sum"];

/// The default of a parameter of a kind, as rows write it.
macro_rules! default {
    ($kind:ident) => {
        None
    };
    ($kind:ident None) => {
        Some(ParamDefault::Nothing)
    };
    ($kind:ident False) => {
        Some(ParamDefault::Flag(false))
    };
    ($kind:ident True) => {
        Some(ParamDefault::Flag(true))
    };
    (Int $value:literal) => {
        Some(ParamDefault::Int($value))
    };
    (Number $value:literal) => {
        Some(ParamDefault::Number($value))
    };
    (Real $value:literal) => {
        Some(ParamDefault::Real($value))
    };
    (Text $value:literal) => {
        Some(ParamDefault::Text($value))
    };
    (Reduction $value:literal) => {
        Some(ParamDefault::Text($value))
    };
}

pub(super) use default;
