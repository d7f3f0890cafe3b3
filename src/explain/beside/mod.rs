//! Functions that the operation table lacks and that stand in people's questions: functions of one tensor, those that make
//! or join tensors, layers, and losses with targets of another rank.
//!
//! They know shapes and dtypes alone. Where a function is defined by others (`linear` is a product and a sum), it calls
//! these, so that a rejection is theirs. A message that is written here is PyTorch's own, of the function that is named with it.

mod joined;
mod layers;
mod made;

use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::Arg;
use broadcheck_protocol::tensor::{Category, DType, Shape};

use crate::bench::{Bench, Made, Stop, Tensor, of_tensors};
use crate::value::{Arguments, Settings, Value};

pub use layers::{layer, weights};

/// A function that the operation table lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Its name.
    pub name: &'static str,
    /// The kind of function.
    pub kind: Kind,
}

/// What a function does with shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Keeps shape and dtype.
    Same,
    /// Keeps the shape; integers become float32.
    Float,
    /// Keeps the shape; the result is of bool.
    Truth,
    /// Keeps the shape, converts to this dtype.
    To(DType),
    /// Converts to the dtype that is given, if one is.
    Convert,
    /// Keeps the shape, and takes a dimension (`softmax`).
    Along,
    /// Makes a tensor of the sizes that are given.
    New,
    /// Makes a tensor of the shape of another.
    Like,
    /// `arange`.
    Range,
    /// `tensor`, of a list.
    Literal,
    /// `max`, `min`, `median`, `mode` over a dimension: values and indices.
    Extreme,
    /// `cat`.
    Cat,
    /// `stack`.
    Stack,
    /// `repeat`, `tile`.
    Repeat,
    /// `chunk`, `split`, `unbind`.
    Split,
    /// `linear`.
    Linear,
    /// `scaled_dot_product_attention`.
    Attention,
    /// `cross_entropy`, `nll_loss`.
    CrossEntropy,
    /// `binary_cross_entropy`.
    BinaryCrossEntropy,
    /// `layer_norm`.
    LayerNorm,
    /// `embedding`.
    Embedding,
}

macro_rules! functions {
    ($($kind:expr => $($name:literal)+;)+) => {
        const FUNCTIONS: &[Beside] = &[$($(Beside { name: $name, kind: $kind },)+)+];
    };
}

functions! {
    Kind::Same => "relu" "relu6" "relu_" "clone_" "flip" "roll" "cuda" "cpu"
        "detach_" "zero_" "dropout" "nan_to_num" "square" "half_" "sort"
        "normal_" "uniform_" "positive" "conj";
    Kind::Float => "exp" "exp2" "expm1" "log" "log2" "log10" "log1p" "sqrt" "rsqrt" "reciprocal" "sin" "cos" "tan" "asin" "acos"
        "atan" "sinh" "cosh" "tanh" "sigmoid" "gelu" "silu" "elu" "selu" "leaky_relu" "softplus" "hardtanh" "hardsigmoid" "mish"
        "erfinv" "lgamma" "digamma" "logit" "logsigmoid" "softsign" "tanh_" "sigmoid_" "exp_";
    Kind::Truth => "signbit";
    Kind::To(DType::Float32) => "float";
    Kind::To(DType::Float64) => "double";
    Kind::To(DType::Float16) => "half";
    Kind::To(DType::Bfloat16) => "bfloat16";
    Kind::To(DType::Int64) => "long";
    Kind::To(DType::Int32) => "int";
    Kind::To(DType::Bool) => "bool";
    Kind::Convert => "to" "type" "type_as" "astype";
    Kind::Along => "softmax" "log_softmax" "softmin" "normalize" "gumbel_softmax";
    Kind::New => "zeros" "ones" "rand" "randn" "empty" "full" "randint" "eye" "new_zeros" "new_ones";
    Kind::Like => "zeros_like" "ones_like" "rand_like" "randn_like" "empty_like" "full_like";
    Kind::Range => "arange" "range";
    Kind::Literal => "tensor" "as_tensor" "array" "FloatTensor" "LongTensor";
    Kind::Extreme => "max" "min" "median" "mode" "topk";
    Kind::Cat => "cat" "concat" "concatenate" "hstack" "vstack";
    Kind::Stack => "stack";
    Kind::Repeat => "repeat" "tile";
    Kind::Split => "chunk" "split" "unbind";
    Kind::Linear => "linear";
    Kind::Attention => "scaled_dot_product_attention";
    Kind::CrossEntropy => "cross_entropy" "nll_loss";
    Kind::BinaryCrossEntropy => "binary_cross_entropy";
    Kind::LayerNorm => "layer_norm";
    Kind::Embedding => "embedding";
}

impl Beside {
    /// The function with this name.
    pub fn named(name: &str) -> Option<Beside> {
        FUNCTIONS.iter().copied().find(|function| function.name == name)
    }

    /// Every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FUNCTIONS.iter().map(|function| function.name)
    }

    /// The arguments that drawings and fixes look at.
    pub fn settings(self, bench: &Bench, arguments: &Arguments) -> Settings {
        let mut settings = Settings::default();
        if matches!(self.kind, Kind::Cat | Kind::Stack)
            && let Some(first) =
                arguments.positional.first().and_then(Value::tensors).and_then(|all| all.first().copied())
        {
            let rank = bench.shape(first).rank() + usize::from(self.kind == Kind::Stack);
            settings.dims = joined::dim(self, arguments, rank).into_iter().collect();
        }
        if self.kind == Kind::Repeat {
            settings.sizes = arguments.list(1, &["repeats", "dims", "sizes"]).unwrap_or_default();
        }
        settings
    }

    /// Calls it.
    ///
    /// # Errors
    /// When PyTorch rejects the call, or the arguments are not understood.
    pub fn call(self, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
        let same = |bench: &mut Bench, dtype: &dyn Fn(DType) -> DType| {
            let tensor = self.tensor(arguments, 0, &["input", "self", "x"])?;
            let (shape, own) = (bench.shape(tensor).clone(), bench.dtype(tensor));
            let dtype = dtype(own);
            // In place, and where nothing changes, it is the tensor itself.
            if self.name.ends_with('_') || (dtype == own && matches!(self.kind, Kind::To(_) | Kind::Convert)) {
                return Ok(Value::Tensor(tensor));
            }
            Ok(Value::Tensor(bench.declare(self.name, shape, dtype, None)))
        };
        match self.kind {
            Kind::Same => same(bench, &|own| own),
            Kind::Float => same(bench, &|own| if own.category() < Category::Floating { DType::Float32 } else { own }),
            Kind::Truth => same(bench, &|_| DType::Bool),
            Kind::To(dtype) => same(bench, &|_| dtype),
            Kind::Convert => {
                let given = arguments.positional.iter().skip(1).chain(arguments.keyword(&["dtype"]));
                let dtype = given.into_iter().find_map(|value| match value {
                    Value::Dtype(dtype) => Some(of_tensors(*dtype)),
                    Value::Tensor(other) => Some(Ok(bench.dtype(*other))),
                    _ => None,
                });
                let dtype = dtype.transpose()?;
                same(bench, &|own| dtype.unwrap_or(own))
            }
            Kind::Along => {
                let tensor = self.tensor(arguments, 0, &["input", "self"])?;
                let at = if self.name == "normalize" { 2 } else { 1 };
                let dim =
                    arguments.get(at, &["dim", "axis"]).and_then(Value::int).unwrap_or(if at == 2 { 1 } else { -1 });
                joined::wrap(dim, bench.shape(tensor).rank())?;
                same(bench, &|own| if own.category() < Category::Floating { DType::Float32 } else { own })
            }
            Kind::New | Kind::Like | Kind::Range | Kind::Literal => made::make(self, bench, arguments),
            Kind::Extreme => made::extreme(self, bench, arguments),
            Kind::Cat | Kind::Stack => joined::join(self, bench, arguments),
            Kind::Repeat => joined::repeat(self, bench, arguments),
            Kind::Split => joined::split(self, bench, arguments),
            Kind::Linear => layers::linear(self, bench, arguments),
            Kind::Attention => layers::attention(self, bench, arguments),
            Kind::CrossEntropy => layers::cross_entropy(self, bench, arguments),
            Kind::BinaryCrossEntropy => layers::binary_cross_entropy(self, bench, arguments),
            Kind::LayerNorm => layers::layer_norm(self, bench, arguments),
            Kind::Embedding => layers::embedding(self, bench, arguments),
        }
    }

    /// An argument that is a tensor.
    fn tensor(self, arguments: &Arguments, at: usize, names: &[&str]) -> Result<Tensor, Stop> {
        let given = arguments.get(at, names);
        given.and_then(Value::tensor).ok_or_else(|| {
            let what = given.map_or("nothing", Value::kind);
            Stop::Unsupported(format!("argument {} of {} is a tensor, not {what}", at + 1, self.name))
        })
    }
}

/// Calls an operation of the table that makes one tensor.
fn apply(bench: &mut Bench, op: Op, args: Vec<Arg>) -> Result<Tensor, Stop> {
    match bench.call(op, Form::Functional, args, None)? {
        Made::Tensor(tensor) => Ok(tensor),
        _ => Err(Stop::Unsupported(format!("{op} makes no tensor"))),
    }
}

/// A shape of these sizes.
fn shape(sizes: Vec<i64>) -> Result<Shape, Stop> {
    Shape::new(sizes).map_err(|error| Stop::Unsupported(error.to_string()))
}
