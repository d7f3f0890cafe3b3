//! Functions that make tensors, and reductions that return indices too.

use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::Arg;
use broadcheck_protocol::tensor::{DType, Shape};

use super::{Beside, Kind, joined, shape};
use crate::bench::{Bench, Made, Stop, of_tensors};
use crate::value::{Arguments, Value};

/// `zeros`, `randn_like`, `arange`, `tensor` and their like.
pub(super) fn make(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let given = match arguments.keyword(&["dtype"]) {
        Some(Value::Dtype(dtype)) => Some(of_tensors(*dtype)?),
        _ => None,
    };
    let (sizes, own) = match function.kind {
        Kind::Like => {
            let tensor = function.tensor(arguments, 0, &["input"])?;
            (bench.shape(tensor).sizes().to_vec(), bench.dtype(tensor))
        }
        Kind::Range => {
            let ints: Option<Vec<i64>> = arguments.positional.iter().map(Value::int).collect();
            let ints = ints.ok_or_else(|| Stop::Unsupported("arange of integers is explained".to_owned()))?;
            let (start, end, step) = match ints.as_slice() {
                [end] => (0, *end, 1),
                [start, end] => (*start, *end, 1),
                [start, end, step] if *step != 0 => (*start, *end, *step),
                _ => return Err(Stop::Unsupported("arange takes an end, or start, end and step".to_owned())),
            };
            (vec![(end.saturating_sub(start).saturating_add(step - step.signum()) / step).max(0)], DType::Int64)
        }
        Kind::Literal => {
            let value = arguments.positional.first().cloned().unwrap_or(Value::None);
            if let Value::Tensor(_) = value {
                return Ok(value);
            }
            let dtype = if function.name == "FloatTensor" { Some(DType::Float32) } else { None };
            let (sizes, own) = literal(&value);
            (sizes, dtype.unwrap_or(own))
        }
        _ => {
            let at = match function.name {
                "new_zeros" | "new_ones" => 1,
                // `randint(high, size)` and `randint(low, high, size)`.
                "randint" => arguments.positional.iter().position(|value| matches!(value, Value::List(_))).unwrap_or(1),
                _ => 0,
            };
            let sizes = match function.name {
                "eye" => {
                    let ints: Vec<i64> = arguments.positional.iter().filter_map(Value::int).collect();
                    vec![*ints.first().unwrap_or(&1), *ints.last().unwrap_or(&1)]
                }
                "full" => arguments.get(0, &["size"]).and_then(Value::ints).unwrap_or_default(),
                _ => arguments
                    .list(at, &["size", "shape"])
                    .ok_or_else(|| Stop::Unsupported(format!("{} takes sizes", function.name)))?,
            };
            (sizes, if function.name == "randint" { DType::Int64 } else { DType::Float32 })
        }
    };
    let made = bench.declare(function.name, shape(sizes)?, given.unwrap_or(own), None);
    if arguments.keyword(&["requires_grad"]) == Some(&Value::Bool(true)) {
        bench.require_grad(made, true);
    }
    Ok(Value::Tensor(made))
}

/// The shape and the dtype of nested lists of numbers.
fn literal(value: &Value) -> (Vec<i64>, DType) {
    match value {
        Value::List(items) => {
            let (inner, dtype) = items.first().map_or((Vec::new(), DType::Float32), literal);
            let dtype = items.iter().map(|item| literal(item).1).fold(dtype, DType::promote);
            (std::iter::once(items.len() as i64).chain(inner).collect(), dtype)
        }
        Value::Int(_) => (Vec::new(), DType::Int64),
        Value::Bool(_) => (Vec::new(), DType::Bool),
        Value::Complex(..) => (Vec::new(), DType::Complex64),
        _ => (Vec::new(), DType::Float32),
    }
}

/// `max`, `min` and their like: of all elements, of two tensors, or over a dimension, with the indices.
pub(super) fn extreme(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let tensor = function.tensor(arguments, 0, &["input", "self"])?;
    if let Some(other) = arguments.get(1, &["other"]).and_then(Value::tensor) {
        let op = if function.name == "min" { Op::Minimum } else { Op::Maximum };
        return match bench.call(op, Form::Functional, vec![tensor.into(), other.into()], None)? {
            Made::Tensor(tensor) => Ok(Value::Tensor(tensor)),
            _ => Err(Stop::Unsupported(format!("{} makes no tensor", function.name))),
        };
    }
    let (own, dtype) = (bench.shape(tensor).sizes().to_vec(), bench.dtype(tensor));
    let at = if function.name == "topk" { 2 } else { 1 };
    let dim = arguments.get(at, &["dim", "axis"]).and_then(Value::int);
    let dim = if function.name == "topk" { Some(dim.unwrap_or(-1)) } else { dim };
    let row = match function.name {
        "max" => Some(Op::Max),
        "min" => Some(Op::Min),
        "median" => Some(Op::Median),
        "mode" => Some(Op::Mode),
        _ => None,
    };
    let dim = if function.name == "mode" { Some(dim.unwrap_or(-1)) } else { dim };
    if let (Some(row), Some(dim)) = (row, dim) {
        let keeps = matches!(arguments.get(2, &["keepdim", "keepdims"]), Some(Value::Bool(true) | Value::Int(1)));
        let args = vec![tensor.into(), Arg::Int(dim), Arg::Flag(keeps)];
        return match bench.call(row, Form::Functional, args, None)? {
            Made::Tensors(all) => Ok(Value::List(all.into_iter().map(Value::Tensor).collect())),
            _ => Err(Stop::Unsupported(format!("{} makes no tensors", function.name))),
        };
    }
    let Some(dim) = dim else {
        return Ok(Value::Tensor(bench.declare(function.name, Shape::scalar(), dtype, None)));
    };
    let dim = joined::wrap(dim, own.len())?;
    let mut sizes = own;
    if let Some(size) = sizes.get_mut(dim) {
        *size = arguments.get(1, &["k"]).and_then(Value::int).unwrap_or(1);
    }
    let values = bench.declare(function.name, shape(sizes.clone())?, dtype, None);
    let indices = bench.declare(function.name, shape(sizes)?, DType::Int64, None);
    Ok(Value::List(vec![Value::Tensor(values), Value::Tensor(indices)]))
}
