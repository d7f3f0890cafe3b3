//! The choice of the function of `tch` that runs a step, and the spelling of its call.
//!
//! The names and parameters of `tch`'s functions are in `tch.txt`, which `tests/tch.rs` derives from the sources of
//! `tch`; the one is chosen that takes the arguments that there are, whose kinds its types distinguish.

use std::sync::LazyLock;

use crate::ops::{Form, Op, Param, ParamKind, Quirk};
use crate::program::{Arg, Step, ValueRef};
use crate::tensor::{DType, IndexItem, Scalar};

/// A function of `tch`.
struct Function {
    /// libtorch's name.
    libtorch: &'static str,
    /// Its own.
    name: &'static str,
    /// Names and types.
    params: Vec<(&'static str, &'static str)>,
}

static FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let lines = include_str!("tch.txt").lines().filter(|line| !line.starts_with('#'));
    let function = |line: &'static str| {
        let (libtorch, rest) = line.split_once(' ')?;
        let (name, rest) = rest.split_once('(')?;
        let (params, _) = rest.split_once(") -> ")?;
        let params = params.split(", ").filter(|param| !param.is_empty());
        Some(Function {
            libtorch,
            name,
            params: params.map(|param| param.split_once(": ").unwrap_or((param, param))).collect(),
        })
    };
    lines.filter_map(function).collect()
});

/// A step as an expression that is a `Result`, or why there is none.
pub(super) fn call(step: &Step, value: &dyn Fn(ValueRef) -> String) -> Result<String, String> {
    match (step.op, step.args.as_slice()) {
        (Op::Backward, [Arg::Tensor(x), Arg::Nothing]) => return Ok(format!("{}.f_backward()", value(*x))),
        (Op::Grad, [Arg::Tensor(x)]) => return Ok(format!("{}.f_grad()", value(*x))),
        (Op::Index, [Arg::Tensor(x), Arg::Index(items)]) => return index(&value(*x), items),
        // tch has no clone but that of the handle, and copies without a result.
        (Op::Clone, [Arg::Tensor(x)]) if step.form == Form::Functional => {
            let x = value(*x);
            return Ok(format!("{x}.f_zeros_like().and_then(|mut copy| copy.f_copy_(&{x}).map(|()| copy))"));
        }
        (Op::Copy, [Arg::Tensor(x), Arg::Tensor(from)]) if step.form == Form::InPlace => {
            let (x, from) = (value(*x), value(*from));
            return Ok(format!("{{ let mut target = {x}.shallow_clone(); target.f_copy_(&{from}).map(|()| target) }}"));
        }
        _ => {}
    }
    let schema = step.op.info().schema;
    let (name, overload) = schema.split_once('.').unwrap_or((schema, ""));
    let wanted = match step.form {
        Form::Functional => name.to_owned(),
        Form::InPlace => format!("{name}_"),
        Form::Out => format!("{name}_out"),
    };
    let mut found: Vec<(usize, String)> = Vec::new();
    for function in FUNCTIONS.iter().filter(|function| function.libtorch == wanted) {
        let named = function.name.to_owned() + "_" == format!("{name}_{}_", overload.to_lowercase());
        if let Some((left_out, call)) = applied(function, step, value) {
            // The overload of the row before another; one that takes all that is given before one that takes less.
            found.push((2 * left_out + usize::from(!named), call));
        }
    }
    let best = found.into_iter().min_by_key(|(rank, _)| *rank);
    best.map(|(_, call)| call).ok_or_else(|| format!("tch has no function for {} with these arguments", step.op))
}

/// The call of a function with the arguments of a step, and how many arguments it does without because they are the
/// defaults; `None` if it takes something else.
fn applied(function: &Function, step: &Step, value: &dyn Fn(ValueRef) -> String) -> Option<(usize, String)> {
    let params = step.op.info().arguments;
    let mut left: Vec<(&Param, &Arg)> = params.iter().zip(&step.args).collect();
    let mut receiver = None;
    let mut args = Vec::new();
    // By name where it is the same, else in order.
    let mut take = |name: &str| {
        let plain = name.trim_end_matches("_scalar").trim_end_matches('_').to_lowercase();
        let at = left.iter().position(|(param, _)| param.name.to_lowercase() == plain).unwrap_or(0);
        (at < left.len()).then(|| left.remove(at))
    };
    for (name, kind) in &function.params {
        match *kind {
            "&self" | "&mut self" => {
                let (_, arg) = take("self")?;
                let Arg::Tensor(tensor) = arg else { return None };
                let tensor = value(*tensor);
                receiver = Some(if *kind == "&self" { tensor } else { format!("{tensor}.shallow_clone()") });
            }
            _ if *name == "out" => args.push(format!("&{}", value(step.out?))),
            _ if *name == "path" => args.push("None::<&[i64]>".to_owned()),
            _ if *name == "implicit" => args.push("false".to_owned()),
            kind => {
                let (param, arg) = take(name)?;
                args.push(argument(step, param, arg, kind, value)?);
            }
        }
    }
    let left_out = left.len();
    if left.iter().any(|(param, arg)| param.default.is_none_or(|default| Arg::from(default) != **arg)) {
        return None;
    }
    let args = args.join(", ");
    Some((
        left_out,
        match receiver {
            Some(receiver) => format!("{receiver}.f_{}({args})", function.name),
            None => format!("Tensor::f_{}({args})", function.name),
        },
    ))
}

fn argument(step: &Step, param: &Param, arg: &Arg, kind: &str, value: &dyn Fn(ValueRef) -> String) -> Option<String> {
    let list = |ints: &[i64]| match ints {
        [] => "[0i64; 0]".to_owned(),
        ints => format!("[{}]", ints.iter().map(|int| format!("{int}i64")).collect::<Vec<_>>().join(", ")),
    };
    Some(match (kind, arg) {
        ("&Tensor", Arg::Tensor(tensor)) => format!("&{}", value(*tensor)),
        ("Option<Borrow<Tensor>>", Arg::Tensor(tensor)) => format!("Some({})", value(*tensor)),
        ("Option<Borrow<Tensor>>", Arg::Nothing) => "None::<&Tensor>".to_owned(),
        ("Into<Scalar>", Arg::Number(Scalar::Int(int))) => format!("{int}i64"),
        ("Into<Scalar>", Arg::Number(Scalar::Float(float))) => real(*float),
        ("i64" | "impl Into<Option<i64>>", Arg::Int(int)) => format!("{int}i64"),
        ("impl Into<Option<i64>>", Arg::Nothing) => "None::<i64>".to_owned(),
        ("impl IntList", Arg::Ints(ints)) => list(ints),
        // Arrays are no such lists, and slices are.
        ("impl IntListOption", Arg::Ints(ints)) => format!("&{}[..]", list(ints)),
        ("impl IntList" | "impl IntListOption", Arg::Int(dim)) if !step.op.info().has(Quirk::DimOverloads) => {
            format!("&{}[..]", list(&[*dim]))
        }
        // An empty list stands for all dimensions, and a few functions take no None.
        ("impl IntList" | "impl IntListOption", Arg::Nothing)
            if step.op.info().has(Quirk::NoOptionalDims) && param.kind == ParamKind::Dims =>
        {
            "&[0i64; 0][..]".to_owned()
        }
        ("impl IntListOption", Arg::Nothing) => "None::<&[i64]>".to_owned(),
        ("bool", Arg::Flag(flag)) => flag.to_string(),
        ("f64", Arg::Number(Scalar::Float(float))) => real(*float),
        ("f64", Arg::Number(Scalar::Int(int))) => real(*int as f64),
        ("Kind" | "impl Into<Option<Kind>>", Arg::Dtype(dtype)) => format!("Kind::{}", self::kind(*dtype)),
        ("impl Into<Option<Kind>>", Arg::Nothing) => "None::<Kind>".to_owned(),
        ("&str", Arg::Text(text)) => format!("{text:?}"),
        ("crate::Reduction", Arg::Text(text)) => match text.as_str() {
            "none" => "tch::Reduction::None".to_owned(),
            "mean" => "tch::Reduction::Mean".to_owned(),
            _ => "tch::Reduction::Sum".to_owned(),
        },
        ("&[T]", Arg::Tensors(tensors)) => {
            let tensors: Vec<String> = tensors.iter().map(|tensor| value(*tensor)).collect();
            match tensors.is_empty() {
                true => "&[] as &[&Tensor]".to_owned(),
                false => format!("&[{}]", tensors.join(", ")),
            }
        }
        ("&[Option<T>]", Arg::Indices(tensors)) => {
            let index = |tensor: &Option<ValueRef>| match tensor {
                Some(tensor) => format!("Some({})", value(*tensor)),
                None => "None::<&Tensor>".to_owned(),
            };
            format!("&[{}] as &[Option<&Tensor>]", tensors.iter().map(index).collect::<Vec<_>>().join(", "))
        }
        _ => return None,
    })
}

/// Brackets as the views that they stand for. What comes after `...` would need the rank, unless it is a new dimension.
fn index(tensor: &str, items: &[IndexItem]) -> Result<String, String> {
    let mut call = String::new();
    let mut dim = 0;
    let mut after = false;
    for item in items {
        let view = match item {
            IndexItem::Ellipsis if after => return Err("`...` twice is nothing that tch has".to_owned()),
            IndexItem::Ellipsis => {
                after = true;
                continue;
            }
            IndexItem::None if after => "f_unsqueeze(-1)".to_owned(),
            _ if after => return Err("what follows `...` is not written for tch, which has no such index".to_owned()),
            IndexItem::None => {
                dim += 1;
                format!("f_unsqueeze({})", dim - 1)
            }
            IndexItem::At(at) => format!("f_select({dim}, {at})"),
            IndexItem::Slice { start, stop, step } => {
                let bound = |bound: &Option<i64>| bound.map_or("None::<i64>".to_owned(), |bound| format!("{bound}i64"));
                dim += 1;
                format!("f_slice({}, {}, {}, {step})", dim - 1, bound(start), bound(stop))
            }
        };
        call = match call.is_empty() {
            true => format!("{tensor}.{view}"),
            false => format!("{call}?.{view}"),
        };
    }
    if call.is_empty() { Ok(format!("{tensor}.f_alias()")) } else { Ok(call) }
}

/// A number as Rust writes it, with its type.
pub(super) fn real(value: f64) -> String {
    match value {
        value if value.is_nan() => "f64::NAN".to_owned(),
        f64::INFINITY => "f64::INFINITY".to_owned(),
        f64::NEG_INFINITY => "f64::NEG_INFINITY".to_owned(),
        value => format!("{value:?}f64"),
    }
}

/// `tch`'s name for a dtype.
pub(super) fn kind(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "Bool",
        DType::Uint8 => "Uint8",
        DType::Int8 => "Int8",
        DType::Int16 => "Int16",
        DType::Int32 => "Int",
        DType::Int64 => "Int64",
        DType::Float16 => "Half",
        DType::Bfloat16 => "BFloat16",
        DType::Float32 => "Float",
        DType::Float64 => "Double",
        DType::Complex64 => "ComplexFloat",
        DType::Complex128 => "ComplexDouble",
    }
}
