//! Inputs and steps as Python's expressions. A step is written as the documents name it where that name leads straight to
//! libtorch, and as the operator itself, `torch.ops.aten`, where Python does something of its own on the way.

use std::fmt::Write as _;

use crate::escape::is_hidden;
use crate::ops::{Family, Form, Op, OpInfo, Param, ParamKind, REDUCTIONS};
use crate::program::{Arg, Input, Program, ShapeArg, Step, ValueRef};
use crate::tensor::shape::bracketed;
use crate::tensor::{DType, Scalar, index};

use super::super::literal;

/// Functions that Python writes anew, outside of the families that are all such.
const OWN_OF_PYTHON: &[&str] = &[
    "expand_copy",
    "meshgrid",
    "cartesian_prod",
    "einsum",
    "tensordot",
    "broadcast_tensors",
    "unflatten",
    "bernoulli",
];

/// Functions that take no `out=` under their documented names.
const WITHOUT_OUT: &[&str] = &["rsub"];

/// Functions that are methods only.
const METHODS: &[&str] = &["sum_to_size", "item"];

/// The name of a value as a variable; names of cases may be words of Python.
pub(super) fn variable(program: &Program, value: usize) -> String {
    const WORDS: &[&str] = &[
        "and",
        "as",
        "assert",
        "async",
        "await",
        "break",
        "class",
        "continue",
        "def",
        "del",
        "elif",
        "else",
        "except",
        "finally",
        "for",
        "from",
        "global",
        "if",
        "import",
        "in",
        "is",
        "lambda",
        "nonlocal",
        "not",
        "or",
        "pass",
        "raise",
        "return",
        "try",
        "while",
        "with",
        "yield",
        "torch",
        "math",
        "warnings",
        "caught",
        "error",
        "one",
        "str",
        "tuple",
        "print",
        "complex",
        "bytearray",
    ];
    let name = program.value_name(value);
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !name.starts_with(|letter: char| letter.is_ascii_digit());
    if plain && !WORDS.contains(&name) { name.to_owned() } else { format!("value{value}") }
}

pub(super) fn input(input: &Input) -> String {
    let sizes = input.shape.sizes();
    let dtype = dtype(input.dtype);
    let mut fields = Vec::new();
    let numbers = literal::numbers(input.dtype, &input.data);
    let mut tensor = match &numbers {
        _ if input.data.is_empty() => format!("torch.empty({}", bracketed(sizes)),
        Some(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(|value| number(*value, input.dtype)).collect();
            format!("torch.tensor({}", nested(&numbers, sizes))
        }
        None => {
            let (bytes, sizes) = (literal::hex(&input.data), bracketed(sizes));
            let tensor =
                format!("torch.frombuffer(bytearray.fromhex(\"{bytes}\"), dtype={dtype}).reshape({sizes}).clone()");
            return if input.requires_grad { format!("{tensor}.requires_grad_()") } else { tensor };
        }
    };
    // The dtypes that PyTorch gives to what is written here.
    let given = match (&numbers, input.dtype) {
        (Some(numbers), _) if !input.data.is_empty() => match numbers.first() {
            Some(Scalar::Bool(_)) => DType::Bool,
            Some(Scalar::Int(_)) => DType::Int64,
            Some(Scalar::Float(_)) => DType::Float32,
            _ => DType::Complex64,
        },
        _ => DType::Float32,
    };
    if given != input.dtype {
        fields.push(format!("dtype={dtype}"));
    }
    if input.requires_grad {
        fields.push("requires_grad=True".to_owned());
    }
    fields.iter().for_each(|field| tensor += &format!(", {field}"));
    tensor + ")"
}

fn nested(elements: &[String], sizes: &[i64]) -> String {
    match sizes {
        [] => elements.concat(),
        [size, inner @ ..] => {
            let count = elements.len() / (*size as usize).max(1);
            let parts: Vec<String> = elements.chunks(count.max(1)).map(|part| nested(part, inner)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

fn number(value: Scalar, dtype: DType) -> String {
    let float = |value: f64| match value {
        value if value.is_nan() => "math.nan".to_owned(),
        f64::INFINITY => "math.inf".to_owned(),
        f64::NEG_INFINITY => "-math.inf".to_owned(),
        value => literal::float(value, dtype),
    };
    match value {
        Scalar::Bool(true) => "True".to_owned(),
        Scalar::Bool(false) => "False".to_owned(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => float(value),
        Scalar::Complex(value) => format!("complex({}, {})", float(value.re), float(value.im)),
    }
}

fn dtype(dtype: DType) -> String {
    format!("torch.{dtype}")
}

fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\x{:02x}", letter as u32);
            }
            letter if is_hidden(letter) => {
                let _ = write!(quoted, "\\U{:08x}", letter as u32);
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

/// The spelling of the call of a step.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Spelling {
    /// `torch.add(x, y)`, `torch.linalg.cross(x, y)`, and `x.add_(y)` for what writes to its first operand.
    Function,
    /// `x.expand(…)`.
    Method,
    /// `torch.ops.aten.mse_loss(x, t, 1)`.
    Operator,
}

pub(super) fn spelling(step: &Step) -> Spelling {
    let info: &OpInfo = step.op.info();
    let indices = info.arguments.iter().any(|param| param.kind == ParamKind::Indices);
    let operator_only = step.form == Form::Out && WITHOUT_OUT.contains(&info.name);
    let own = info.family() == Family::Losses || indices || operator_only || OWN_OF_PYTHON.contains(&info.name);
    let own = own || overload(step).is_some() || info.name.ends_with("_backward");
    match (own, step.form) {
        (true, _) => Spelling::Operator,
        (_, Form::InPlace) => Spelling::Method,
        _ if info.family() == Family::Views || METHODS.contains(&info.name) => Spelling::Method,
        _ => Spelling::Function,
    }
}

/// The overload that has to be named, since Python calls another: it makes a tensor of a factor, and a number of a probability
/// or a bound, if they are tensors without dimensions.
fn overload(step: &Step) -> Option<&'static str> {
    match (step.op, step.args.as_slice()) {
        (Op::Mul, [_, Arg::Number(_)]) if step.form == Form::InPlace => Some("Scalar"),
        (Op::Bernoulli, [_, Arg::Tensor(_), ..]) => Some("Tensor"),
        (Op::Clamp, [_, Arg::Number(_), Arg::Tensor(_)] | [_, Arg::Tensor(_), Arg::Number(_)]) => Some("Tensor"),
        _ => None,
    }
}

/// A step as an expression; [`Op::SetItem`] as a statement, which makes no value.
pub(super) fn call(program: &Program, step: &Step) -> String {
    let value = |value: &ValueRef| reference(program, *value);
    match (step.op, step.args.as_slice()) {
        (Op::Index, [Arg::Tensor(x), Arg::Index(items)]) => format!("{}[{}]", value(x), index::render(items)),
        (Op::SetItem, [Arg::Tensor(x), Arg::Index(items), written]) => {
            let written = argument(program, &step.op.info().arguments[2], written);
            format!("{}[{}] = {written}", value(x), index::render(items))
        }
        (Op::Backward, [Arg::Tensor(x), Arg::Tensor(gradient)]) => {
            format!("{}.backward({})", value(x), value(gradient))
        }
        (Op::Backward, [Arg::Tensor(x), _]) => format!("{}.backward()", value(x)),
        (Op::Grad, [Arg::Tensor(x)]) => format!("{}.grad", value(x)),
        (Op::BroadcastWarning, [Arg::Flag(flag)]) => {
            format!("setattr(torch.utils.backcompat.broadcast_warning, \"enabled\", {})", truth(*flag))
        }
        (Op::BroadcastWarning, _) => "torch.utils.backcompat.broadcast_warning.enabled".to_owned(),
        _ => plain_call(program, step),
    }
}

/// The statements of a call whose value is kept.
pub(super) fn kept(program: &Program, at: usize, call: &str) -> String {
    let (step, name) = (&program.steps[at], variable(program, program.inputs.len() + at));
    match (step.op, step.target()) {
        (Op::SetItem, Some(target)) => format!("{call}\n{name} = {}", reference(program, target)),
        _ => format!("{name} = {call}"),
    }
}

fn plain_call(program: &Program, step: &Step) -> String {
    let spelling = spelling(step);
    let params = step.op.info().arguments;
    let mut args: Vec<String> = Vec::new();
    for (param, arg) in params.iter().zip(&step.args) {
        let text = match arg {
            // This overload takes no numbers.
            Arg::Number(_) if step.op == Op::Clamp && overload(step).is_some() => {
                format!("torch.tensor({})", argument(program, param, arg))
            }
            _ => argument(program, param, arg),
        };
        // Operators have no defaults of their own for some; functions have all.
        match param.default {
            Some(default) if spelling != Spelling::Operator && Arg::from(default) == *arg => {
                // With `out=` or `keepdim` a reduction asks for its dimensions.
                let asks = step.form == Form::Out || step.args.contains(&Arg::Flag(true));
                if asks && matches!(step.op, Op::Sum | Op::Nansum | Op::Mean) && param.name == "dim" {
                    args.push("dim=None".to_owned());
                }
            }
            Some(_) => args.push(format!("{}={text}", param.name)),
            None => match arg {
                Arg::Tensors(values) if spelling != Spelling::Operator => {
                    args.extend(values.iter().map(|value| reference(program, *value)));
                }
                Arg::Shapes(shapes) => args.extend(shapes.iter().map(shape)),
                // It has no place of its own.
                Arg::Flag(_) if step.op == Op::LinalgSolveTriangular => args.push(format!("{}={text}", param.name)),
                _ => args.push(text),
            },
        }
    }
    let name = step.op.name();
    let suffix = if step.form == Form::InPlace { "_" } else { "" };
    let out = step.out.map(|out| format!("out={}", reference(program, out)));
    match spelling {
        Spelling::Method => {
            let target = args.remove(0);
            // A number has no methods.
            let target = if target.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                format!("({target})")
            } else {
                target
            };
            format!("{target}.{name}{suffix}({})", args.join(", "))
        }
        Spelling::Function => {
            let name = ["linalg", "special"]
                .into_iter()
                .find_map(|module| Some(format!("{module}.{}", name.strip_prefix(module)?.strip_prefix('_')?)));
            let name = match step.op {
                Op::Linear | Op::Bilinear | Op::LayerNorm | Op::ScaledDotProductAttention => {
                    format!("nn.functional.{}", step.op.name())
                }
                _ => name.unwrap_or_else(|| step.op.name().to_owned()),
            };
            args.extend(out);
            format!("torch.{name}({})", args.join(", "))
        }
        Spelling::Operator => {
            let schema = step.op.info().schema;
            let name = schema.split_once('.').map_or(schema, |(name, _)| name);
            // The gradients of an operator call their `out=` otherwise.
            let gradient = name.ends_with("_backward") && step.op != Op::NativeDropoutBackward;
            args.extend(out.map(|out| if gradient { out.replacen("out=", "grad_input=", 1) } else { out }));
            let overload = overload(step).map(|overload| format!(".{overload}")).unwrap_or_default();
            format!("torch.ops.aten.{name}{suffix}{overload}({})", args.join(", "))
        }
    }
}

fn argument(program: &Program, param: &Param, arg: &Arg) -> String {
    match arg {
        Arg::Nothing => "None".to_owned(),
        Arg::Tensor(value) => reference(program, *value),
        Arg::Tensors(values) => list(values.iter().map(|value| reference(program, *value))),
        Arg::Indices(values) => {
            list(values.iter().map(|value| value.map_or("None".to_owned(), |value| reference(program, value))))
        }
        Arg::Number(value) => number(*value, DType::Float64),
        Arg::Int(value) => value.to_string(),
        Arg::Ints(values) => bracketed(values),
        Arg::Shapes(shapes) => list(shapes.iter().map(shape)),
        Arg::Flag(value) => truth(*value).to_owned(),
        Arg::Dtype(dtype) => self::dtype(*dtype),
        Arg::ScalarType(dtype) => format!("torch.{dtype}"),
        Arg::Text(text) if param.kind == ParamKind::Reduction => {
            REDUCTIONS.iter().position(|name| name == text).map_or(string(text), |number| number.to_string())
        }
        Arg::Text(text) => string(text),
        Arg::Index(items) => string(&index::render(items)),
    }
}

fn shape(shape: &ShapeArg) -> String {
    match shape {
        ShapeArg::Size(size) => size.to_string(),
        ShapeArg::Sizes(sizes) => bracketed(sizes),
        ShapeArg::Float(value) => format!("{value:?}"),
        ShapeArg::Text(text) => string(text),
    }
}

fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

pub(super) fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(", "))
}

fn reference(program: &Program, value: ValueRef) -> String {
    let name = variable(program, value.value);
    match value.part {
        Some(part) => format!("{name}[{part}]"),
        None => name,
    }
}
