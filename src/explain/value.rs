//! Values of the Python that is explained, and the arguments of a call.

use broadcheck_protocol::tensor::ScalarType;

use crate::bench::Tensor;
use crate::drawing::IndexPart;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A tensor, of which the bench knows shape and dtype.
    Tensor(Tensor),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A complex number: its real and its imaginary part.
    Complex(f64, f64),
    /// `None`.
    None,
    /// `...`.
    Ellipsis,
    /// `start:stop:step`.
    Slice(Option<i64>, Option<i64>, Option<i64>),
    /// Text.
    Text(String),
    /// A dtype.
    Dtype(ScalarType),
    /// A list, a tuple, or a shape.
    List(Vec<Value>),
    /// A layer with the arguments that it was made with, such as `nn.Linear(4, 3)`.
    Layer(String, Box<Arguments>),
}

/// The arguments of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    /// Those without a name.
    pub positional: Vec<Value>,
    /// Those with a name.
    pub named: Vec<(String, Value)>,
}

/// The arguments of a call that are no tensors, as far as drawings and fixes need them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The sizes that `expand`, `view` or `reshape` are given.
    pub sizes: Vec<i64>,
    /// The dimensions of a reduction, counted from the front, or that of `cat` and `stack`; none for all.
    pub dims: Vec<usize>,
    /// `keepdim`.
    pub keepdim: bool,
    /// The equation of `einsum`.
    pub equation: String,
    /// The `reduction` of a loss.
    pub reduction: String,
    /// The operator in place of a name, such as `+`.
    pub operator: Option<&'static str>,
    /// True for libtorch's operator (`torch.ops.aten.add`), which no front end in Python checks beforehand.
    pub aten: bool,
    /// The items of a subscript.
    pub index: Vec<IndexPart>,
    /// True for `x[…] = v`.
    pub assigned: bool,
}

impl Value {
    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<Tensor> {
        match self {
            Value::Tensor(tensor) => Some(*tensor),
            _ => None,
        }
    }

    /// The integer, if it is one; `True` counts as 1.
    pub fn int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            Value::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// The integers of a list, or a single one.
    pub fn ints(&self) -> Option<Vec<i64>> {
        match self {
            Value::List(values) => values.iter().map(Value::int).collect(),
            other => other.int().map(|value| vec![value]),
        }
    }

    /// The tensors of a list.
    pub fn tensors(&self) -> Option<Vec<Tensor>> {
        match self {
            Value::List(values) => values.iter().map(Value::tensor).collect(),
            _ => None,
        }
    }

    /// The kind of value, as an error names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Tensor(_) => "a tensor",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Bool(_) => "a bool",
            Value::Complex(..) => "a complex number",
            Value::None => "None",
            Value::Ellipsis => "...",
            Value::Slice(..) => "a slice",
            Value::Text(_) => "a string",
            Value::Dtype(_) => "a dtype",
            Value::List(_) => "a list",
            Value::Layer(..) => "a layer",
        }
    }
}

impl Arguments {
    /// Argument `at`, by its place or by one of its names.
    pub fn get(&self, at: usize, names: &[&str]) -> Option<&Value> {
        self.positional.get(at).or_else(|| self.keyword(names))
    }

    /// An argument by one of its names.
    pub fn keyword(&self, names: &[&str]) -> Option<&Value> {
        self.named.iter().find(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value)
    }

    /// A list that starts at argument `at`, or all that is left: `view(2, 3)` and `view((2, 3))`.
    pub fn list(&self, at: usize, names: &[&str]) -> Option<Vec<i64>> {
        match self.positional.get(at) {
            Some(list @ Value::List(_)) => list.ints(),
            Some(_) => self.positional[at..].iter().map(Value::int).collect(),
            None => self.keyword(names)?.ints(),
        }
    }
}
