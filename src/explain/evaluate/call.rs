//! Calls: arguments as Python gives them, bound to the parameters of a row of the operation table.

use std::ops::Range;

use broadcheck_protocol::ops::{Form, Op, Param, ParamKind, REDUCTIONS};
use broadcheck_protocol::program::{Arg, ShapeArg};
use broadcheck_protocol::tensor::{Scalar, Shape};

use super::{Evaluation, Operand, Placed};
use crate::bench::{self, Stop, of_tensors};
use crate::beside::Beside;
use crate::names::Function;
use crate::value::{Settings, Value};

/// Arguments of PyTorch's calls that change no shape.
const WITHOUT_EFFECT: &[&str] = &[
    "device",
    "requires_grad",
    "memory_format",
    "generator",
    "layout",
    "non_blocking",
    "pin_memory",
    "copy",
    "size_average",
    "reduce",
    "training",
    "inplace",
    "bias",
    "casting",
    "order",
    "approximate",
    "split_size_or_sections",
    "stable",
];

/// Arguments of a call, bound to the parameters of an operation.
#[derive(Debug)]
pub struct Bound {
    /// One for each parameter.
    pub args: Vec<Arg>,
    /// The number of the parameter, and the place in the given arguments, of each tensor.
    tensors: Vec<(&'static str, Placed)>,
    settings: Settings,
}

/// Binds arguments to the parameters of an operation.
///
/// # Errors
/// When an argument is missing, unknown, or of a kind that the parameter does not take.
fn bind_placed(op: Op, positional: &[Placed], named: &[(String, Placed)], settings: Settings) -> Result<Bound, Stop> {
    let params = op.info().arguments;
    let mut bound = Bound { args: Vec::new(), tensors: Vec::new(), settings };
    let mut taken = 0;
    for (at, param) in params.iter().enumerate() {
        let keyword = named.iter().find(|(name, _)| means(op, param, name)).map(|(_, value)| value);
        let variadic = matches!(param.kind, ParamKind::Tensors | ParamKind::Shapes)
            || (param.kind == ParamKind::Ints && params[at + 1..].iter().all(|param| param.default.is_some()));
        let given = positional.get(taken);
        let arg = match (given, keyword) {
            // `broadcast_shapes()` of no shapes is a call.
            (None, None) if param.kind == ParamKind::Shapes => Arg::Shapes(Vec::new()),
            (Some(first), None)
                if variadic && (param.kind == ParamKind::Shapes || !matches!(first.value, Value::List(_))) =>
            {
                let rest = &positional[taken..];
                taken = positional.len();
                several(op, param, rest, &mut bound)?
            }
            (Some(placed), None) => {
                taken += 1;
                single(op, param, placed, &mut bound)?
            }
            (_, Some(placed)) => single(op, param, placed, &mut bound)?,
            (None, None) => match param.default {
                Some(default) => Arg::from(default),
                None => return Err(Stop::Unsupported(format!("{op} needs {}; `{}`", param.name, signature(op)))),
            },
        };
        bound.args.push(arg);
    }
    if positional.len() > taken {
        return Err(Stop::Unsupported(format!(
            "{op} takes {taken} arguments, not {}; `{}`",
            positional.len(),
            signature(op)
        )));
    }
    let unknown = named.iter().find(|(name, _)| {
        let known = params.iter().any(|param| means(op, param, name)) || is_target(op, name);
        !known && !WITHOUT_EFFECT.contains(&name.as_str())
    });
    if let Some((name, _)) = unknown {
        return Err(Stop::Unsupported(format!("{op} has no argument {name}; `{}`", signature(op))));
    }
    Ok(bound)
}

/// Returns whether an argument is the tensor that the result is written to. The gradients of operators call it otherwise.
fn is_target(op: Op, name: &str) -> bool {
    name == "out" || name == "grad_input" && op.name().ends_with("_backward")
}

/// The call as its documentation writes it: `add(self, other, alpha=1)`.
pub fn signature(op: Op) -> String {
    let params = op.info().arguments.iter().map(|param| match param.default {
        Some(_) => format!("{}=…", param.name),
        None => param.name.to_owned(),
    });
    format!("{op}({})", params.collect::<Vec<_>>().join(", "))
}

/// Returns whether a keyword means a parameter: its own name, or the one that PyTorch's front end or NumPy has for it.
fn means(op: Op, param: &Param, keyword: &str) -> bool {
    let front = match (op, param.name) {
        (_, "self") => &["input", "x"][..],
        (Op::Permute, "size") => &["dims"],
        (_, "dim") => &["axis", "dims"],
        (_, "keepdim") => &["keepdims"],
        (_, "size") => &["shape", "sizes"],
        (_, "ord") => &["p"],
        (_, "values") => &["value"],
        (_, "reduction") => &[],
        (_, "other") => &["value", "tensor", "mat2"],
        (_, "vec2" | "tensor") => &["other"],
        _ => &[],
    };
    param.name == keyword || front.contains(&keyword)
}

fn several(op: Op, param: &Param, values: &[Placed], bound: &mut Bound) -> Result<Arg, Stop> {
    match param.kind {
        ParamKind::Tensors => {
            let mut tensors = Vec::new();
            for placed in values {
                tensors.push(placed.value.tensor().ok_or_else(|| wrong(op, param, &placed.value))?);
                bound.tensors.push((param.name, placed.clone()));
            }
            Ok(bench::list(&tensors))
        }
        ParamKind::Shapes => {
            values.iter().map(|placed| shape_arg(op, param, &placed.value)).collect::<Result<_, _>>().map(Arg::Shapes)
        }
        _ => {
            let ints: Option<Vec<i64>> = values.iter().map(|placed| placed.value.int()).collect();
            let ints = ints.ok_or_else(|| wrong(op, param, &values[0].value))?;
            bound.settings.sizes.clone_from(&ints);
            Ok(Arg::Ints(ints))
        }
    }
}

fn shape_arg(op: Op, param: &Param, value: &Value) -> Result<ShapeArg, Stop> {
    match value {
        Value::Int(size) => Ok(ShapeArg::Size(*size)),
        Value::Float(value) => Ok(ShapeArg::Float(*value)),
        Value::Text(text) => Ok(ShapeArg::Text(text.clone())),
        other => other.ints().map(ShapeArg::Sizes).ok_or_else(|| wrong(op, param, other)),
    }
}

fn single(op: Op, param: &Param, placed: &Placed, bound: &mut Bound) -> Result<Arg, Stop> {
    let value = &placed.value;
    let none = || wrong(op, param, value);
    if *value == Value::None && param.default.is_some() {
        return Ok(param.default.map_or(Arg::Nothing, Arg::from));
    }
    Ok(match param.kind {
        ParamKind::Tensor | ParamKind::Operand | ParamKind::Value => match value {
            Value::Tensor(tensor) => {
                bound.tensors.push((param.name, placed.clone()));
                (*tensor).into()
            }
            _ if param.kind == ParamKind::Tensor => return Err(none()),
            other => Arg::Number(scalar(other).ok_or_else(none)?),
        },
        ParamKind::Tensors => {
            let tensors = value.tensors().ok_or_else(none)?;
            bound.tensors.extend(placed.items().into_iter().map(|item| (param.name, item)));
            bench::list(&tensors)
        }
        ParamKind::Indices => {
            let Value::List(items) = value else { return Err(none()) };
            let indices: Option<Vec<_>> = items
                .iter()
                .map(|item| match item {
                    Value::None => Some(None),
                    other => other.tensor().map(Some),
                })
                .collect();
            bench::indices(&indices.ok_or_else(none)?)
        }
        ParamKind::Shapes => Arg::Shapes(match value {
            Value::List(items) if items.iter().all(|item| matches!(item, Value::List(_))) => {
                items.iter().map(|item| shape_arg(op, param, item)).collect::<Result<_, _>>()?
            }
            other => vec![shape_arg(op, param, other)?],
        }),
        ParamKind::Number | ParamKind::Real => Arg::Number(match value {
            // `norm(p='fro')` is the norm of order 2.
            Value::Text(_) => Scalar::Int(2),
            other => scalar(other).ok_or_else(none)?,
        }),
        ParamKind::Int => Arg::Int(value.int().ok_or_else(none)?),
        ParamKind::Ints => {
            let ints = value.ints().ok_or_else(none)?;
            bound.settings.sizes.clone_from(&ints);
            Arg::Ints(ints)
        }
        ParamKind::Dims => match value {
            Value::List(_) => Arg::Ints(value.ints().ok_or_else(none)?),
            other => Arg::Int(other.int().ok_or_else(none)?),
        },
        ParamKind::Flag => match value {
            Value::Bool(flag) => Arg::Flag(*flag),
            Value::Int(flag) => Arg::Flag(*flag != 0),
            _ => return Err(none()),
        },
        ParamKind::Dtype => match value {
            Value::Dtype(dtype) => Arg::Dtype(of_tensors(*dtype)?),
            _ => return Err(none()),
        },
        ParamKind::ScalarType => match value {
            Value::Dtype(dtype) => Arg::ScalarType(*dtype),
            _ => return Err(none()),
        },
        ParamKind::Reduction | ParamKind::Text => match value {
            Value::Text(text) => {
                if param.name == "equation" {
                    bound.settings.equation.clone_from(text);
                }
                Arg::Text(text.clone())
            }
            // Operators have a number for it (`at::Reduction`).
            Value::Int(number) if param.kind == ParamKind::Reduction => {
                let name = usize::try_from(*number).ok().and_then(|number| REDUCTIONS.get(number));
                Arg::Text((*name.ok_or_else(none)?).to_owned())
            }
            _ => return Err(none()),
        },
        ParamKind::Index => return Err(none()),
    })
}

/// The number that a value is.
pub(super) fn scalar(value: &Value) -> Option<Scalar> {
    Some(match value {
        Value::Int(value) => Scalar::Int(*value),
        Value::Float(value) => Scalar::Float(*value),
        Value::Bool(value) => Scalar::Bool(*value),
        Value::Complex(real, imaginary) => Scalar::Complex(num_complex::Complex64::new(*real, *imaginary)),
        _ => return None,
    })
}

fn wrong(op: Op, param: &Param, value: &Value) -> Stop {
    let wanted = match param.kind {
        ParamKind::Tensor => "a tensor",
        ParamKind::Operand | ParamKind::Value => "a tensor or a number",
        ParamKind::Tensors => "tensors",
        ParamKind::Indices => "a list of tensors",
        ParamKind::Shapes => "shapes",
        ParamKind::Number | ParamKind::Real => "a number",
        ParamKind::Int => "an integer",
        ParamKind::Ints => "integers",
        ParamKind::Dims => "an integer or a list of integers",
        ParamKind::Reduction => "\"none\", \"mean\" or \"sum\"",
        ParamKind::Flag => "True or False",
        ParamKind::Dtype | ParamKind::ScalarType => "a dtype",
        ParamKind::Text => "a string",
        ParamKind::Index => "an index",
    };
    Stop::Unsupported(format!("{} of {op} is {wanted}, not {}; `{}`", param.name, value.kind(), signature(op)))
}

impl Evaluation<'_> {
    /// Calls an operation of the table.
    pub(super) fn table(
        &mut self,
        op: Op,
        form: Form,
        positional: &[Placed],
        named: &[(String, Placed)],
        settings: Settings,
        span: Range<usize>,
    ) -> Result<Value, Stop> {
        let positional = match op {
            Op::Tensordot if !settings.aten => self.tensordot(positional, named)?,
            _ => positional.to_vec(),
        };
        let named: Vec<(String, Placed)> =
            named.iter().filter(|(name, _)| op != Op::Tensordot || name != "dims").cloned().collect();
        let mut bound = bind_placed(op, &positional, &named, settings)?;
        let out = named
            .iter()
            .find(|(name, value)| is_target(op, name) && value.value != Value::None)
            .map(|(_, value)| value.clone());
        let form = if out.is_some() { Form::Out } else { form };
        if !op.info().forms.contains(&form) {
            let name = if form == Form::InPlace { format!("{op}_") } else { format!("{op} with out=") };
            return Err(Stop::Unsupported(format!("{name} is not known here; {op} is")));
        }
        let operands: Vec<Operand> = bound.tensors.iter().map(|(param, placed)| self.operand(placed, param)).collect();
        let own = operands.first().map_or(0, |operand| operand.shape.rank());
        note(op, &bound.args, own, &mut bound.settings);
        if let Some(message) = front_end(op, &operands).filter(|_| !bound.settings.aten) {
            return self
                .record(Function::Table(op, form), operands, bound.settings, span, |_| Err(Stop::rejected(message)));
        }
        let target = out.as_ref().map(|placed| self.operand(placed, "out"));
        let out = out.and_then(|placed| placed.value.tensor());
        let (args, settings) = (bound.args, bound.settings);
        let made =
            self.record(Function::Table(op, form), operands, settings, span, |bench| bench.call(op, form, args, out));
        if let Some(call) = self.calls.last_mut() {
            call.out = target;
            call.warnings.extend(size_warning(op, &call.operands).filter(|_| !call.settings.aten));
        }
        made
    }

    /// `tensordot` with `dims` as Python gives it: a number of dimensions, or two lists of them.
    fn tensordot(&self, positional: &[Placed], named: &[(String, Placed)]) -> Result<Vec<Placed>, Stop> {
        let dims = positional.get(2).or_else(|| named.iter().find(|(name, _)| name == "dims").map(|(_, value)| value));
        let two = Placed::new(Value::Int(2), 0..0);
        let dims = dims.unwrap_or(&two);
        let rank =
            positional.first().and_then(|first| first.value.tensor()).map_or(0, |first| self.bench.shape(first).rank());
        let list = |ints: Vec<i64>| Placed::new(Value::List(ints.into_iter().map(Value::Int).collect()), 0..0);
        let (own, other) = match &dims.value {
            Value::Int(count) => ((rank as i64 - count..rank as i64).collect(), (0..*count).collect()),
            Value::List(pair) if pair.len() == 2 => {
                let ints = |value: &Value| {
                    value.ints().ok_or_else(|| Stop::Unsupported("dims of tensordot are integers".to_owned()))
                };
                (ints(&pair[0])?, ints(&pair[1])?)
            }
            _ => {
                return Err(Stop::Unsupported("dims of tensordot are a number, or two lists of dimensions".to_owned()));
            }
        };
        let mut made: Vec<Placed> = positional.iter().take(2).cloned().collect();
        made.extend([list(own), list(other)]);
        Ok(made)
    }

    /// Calls a function beside the table.
    pub(super) fn beside(
        &mut self,
        function: Beside,
        positional: &[Placed],
        named: &[(String, Placed)],
        span: Range<usize>,
    ) -> Result<Value, Stop> {
        let flat = positional.iter().flat_map(Placed::items);
        let given = flat.chain(named.iter().map(|(_, value)| value.clone()));
        let operands: Vec<Operand> = given
            .filter(|placed| placed.value.tensor().is_some())
            .enumerate()
            .map(|(at, placed)| self.operand(&placed, &format!("tensor {at}")))
            .collect();
        let arguments = super::arguments_of(positional, named);
        let settings = function.settings(&self.bench, &arguments);
        let mut value = None;
        let made = self.record(Function::Beside(function), operands, settings, span, |bench| {
            let made = function.call(bench, &arguments)?;
            if let Value::Tensor(tensor) = made {
                return Ok(bench::Made::Tensor(tensor));
            }
            value = Some(made);
            Ok(bench::Made::Nothing)
        })?;
        Ok(value.unwrap_or(made))
    }
}

/// The message with which PyTorch's Python front end rejects a call before libtorch sees it (`torch/nn/functional.py`,
/// `torch/autograd/__init__.py`).
fn front_end(op: Op, operands: &[Operand]) -> Option<String> {
    let [first, second, ..] = operands else { return None };
    let (own, other) = (python_size(&first.shape), python_size(&second.shape));
    let differ = first.shape != second.shape;
    match op {
        Op::BinaryCrossEntropyWithLogits if differ => {
            Some(format!("Target size ({other}) must be the same as input size ({own})"))
        }
        Op::Backward if differ => Some(format!(
            "Mismatch in shape: grad_output[0] has a shape of {other} and output[0] has a shape of {own}."
        )),
        _ => None,
    }
}

/// The warning of PyTorch's Python front end for a loss whose operands broadcast (`torch/nn/functional.py`).
fn size_warning(op: Op, operands: &[Operand]) -> Option<String> {
    let losses = [Op::MseLoss, Op::L1Loss, Op::SmoothL1Loss, Op::HuberLoss];
    let [input, target, ..] = operands else { return None };
    (losses.contains(&op) && input.shape != target.shape).then(|| {
        format!(
            "Using a target size ({}) that is different to the input size ({}). This will likely lead to incorrect results due \
             to broadcasting. Please ensure they have the same size.",
            python_size(&target.shape),
            python_size(&input.shape)
        )
    })
}

fn python_size(shape: &Shape) -> String {
    format!("torch.Size({shape})")
}

/// Notes the arguments that drawings and fixes look at.
fn note(op: Op, args: &[Arg], rank: usize, settings: &mut Settings) {
    let wrap = |dim: i64| if dim < 0 { (dim + rank as i64).max(0) as usize } else { dim as usize };
    for (param, arg) in op.info().arguments.iter().zip(args) {
        match (param.name, arg) {
            ("dim", Arg::Int(dim)) => settings.dims = vec![wrap(*dim)],
            ("dim", Arg::Ints(dims)) => settings.dims = dims.iter().map(|dim| wrap(*dim)).collect(),
            ("dims_self", Arg::Ints(dims)) => settings.dims = dims.iter().map(|dim| wrap(*dim)).collect(),
            ("keepdim", Arg::Flag(keepdim)) => settings.keepdim = *keepdim,
            ("reduction", Arg::Text(reduction)) => settings.reduction.clone_from(reduction),
            ("equation", Arg::Text(equation)) => settings.equation.clone_from(equation),
            (_, Arg::Ints(sizes)) => settings.sizes.clone_from(sizes),
            _ => {}
        }
    }
}
