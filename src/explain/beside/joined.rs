//! Functions that join tensors, repeat them, or take them apart.

use broadcheck_protocol::error::Rejection;
use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::Arg;
use broadcheck_protocol::tensor::shape::bracketed;

use super::{Beside, Kind, shape};
use crate::bench::{Bench, Made, Stop, Tensor};
use crate::value::{Arguments, Value};

/// A dimension that may count from the end.
pub(super) fn wrap(dim: i64, rank: usize) -> Result<usize, Stop> {
    let range = rank.max(1) as i64;
    if dim < -range || dim >= range {
        return Err(Rejection::DimensionRange { low: -range, high: range - 1, got: dim }.into());
    }
    Ok(dim.rem_euclid(range) as usize)
}

/// The dimension that tensors are joined along; `None` where it is out of range.
pub(super) fn dim(function: Beside, arguments: &Arguments, rank: usize) -> Option<usize> {
    let given = arguments.get(1, &["dim", "axis"]).and_then(Value::int);
    let own = match function.name {
        // Tensors of one dimension are joined along it, all others along their columns.
        "hstack" => i64::from(rank > 1),
        "vstack" => 0,
        _ => given.unwrap_or(0),
    };
    wrap(own, rank).ok()
}

/// `cat` and `stack`.
pub(super) fn join(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let tensors = arguments.positional.first().or_else(|| arguments.keyword(&["tensors"])).and_then(Value::tensors);
    let tensors = tensors.filter(|tensors| !tensors.is_empty());
    let tensors = tensors.ok_or_else(|| Stop::Unsupported(format!("{} takes a list of tensors", function.name)))?;
    let dtype = tensors
        .iter()
        .map(|tensor| bench.dtype(*tensor))
        .reduce(|a, b| a.promote(b))
        .unwrap_or_else(|| bench.dtype(tensors[0]));
    let given = arguments.get(1, &["dim", "axis"]).and_then(Value::int).unwrap_or(0);
    let sizes = match function.kind {
        Kind::Stack => stacked(bench, &tensors, given)?,
        _ => joined(function, bench, &tensors, arguments)?,
    };
    Ok(Value::Tensor(bench.declare(function.name, shape(sizes)?, dtype, None)))
}

/// `TORCH_META_FUNC(cat)`: a tensor of shape [0] is left out; the first one that is kept says the sizes.
fn joined(function: Beside, bench: &Bench, tensors: &[Tensor], arguments: &Arguments) -> Result<Vec<i64>, Stop> {
    let mut all: Vec<Vec<i64>> = tensors.iter().map(|tensor| bench.shape(*tensor).sizes().to_vec()).collect();
    match function.name {
        // `atleast_2d`.
        "vstack" => all.iter_mut().filter(|sizes| sizes.len() < 2).for_each(|sizes| {
            sizes.resize(1, 1);
            sizes.insert(0, 1);
        }),
        "hstack" => all.iter_mut().filter(|sizes| sizes.is_empty()).for_each(|sizes| sizes.push(1)),
        _ => {}
    }
    if let Some(at) = all.iter().position(Vec::is_empty) {
        return Err(Stop::rejected(format!("zero-dimensional tensor (at position {at}) cannot be concatenated")));
    }
    let kept: Vec<(usize, &Vec<i64>)> = all.iter().enumerate().filter(|(_, sizes)| sizes.as_slice() != [0]).collect();
    let Some((_, first)) = kept.first() else { return Ok(vec![0]) };
    let given = arguments.get(1, &["dim", "axis"]).and_then(Value::int).unwrap_or(0);
    let dim = match dim(function, arguments, first.len()) {
        Some(dim) => dim,
        None => wrap(given, first.len())?,
    };
    let mut result = (*first).clone();
    for (number, sizes) in &kept[1..] {
        if sizes.len() != first.len() {
            let (first, own) = (first.len(), sizes.len());
            return Err(Stop::rejected(format!("Tensors must have same number of dimensions: got {first} and {own}")));
        }
        if let Some(at) = (0..first.len()).find(|&at| at != dim && sizes[at] != first[at]) {
            return Err(Stop::rejected(format!(
                "Sizes of tensors must match except in dimension {dim}. Expected size {} but got size {} for tensor number \
                 {number} in the list.",
                first[at], sizes[at]
            )));
        }
        result[dim] += sizes[dim];
    }
    Ok(result)
}

/// `stack` (`check_stack_inputs`).
fn stacked(bench: &Bench, tensors: &[Tensor], dim: i64) -> Result<Vec<i64>, Stop> {
    let first = bench.shape(tensors[0]).sizes().to_vec();
    let dim = wrap(dim, first.len() + 1)?;
    for (entry, tensor) in tensors.iter().enumerate().skip(1) {
        let own = bench.shape(*tensor).sizes();
        if own != first {
            return Err(Stop::rejected(format!(
                "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {entry}",
                bracketed(&first),
                bracketed(own)
            )));
        }
    }
    let mut sizes = first;
    sizes.insert(dim, tensors.len() as i64);
    Ok(sizes)
}

/// `repeat` and `tile`: as many copies along each dimension; `repeat` needs one number a dimension at least.
pub(super) fn repeat(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let tensor = function.tensor(arguments, 0, &["input", "self"])?;
    let counts = arguments.list(1, &["repeats", "dims", "sizes"]);
    let mut counts = counts.ok_or_else(|| Stop::Unsupported(format!("{} takes integers", function.name)))?;
    let own = bench.shape(tensor).sizes().to_vec();
    if counts.len() < own.len() {
        if function.name == "repeat" {
            let message = "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor";
            return Err(Stop::rejected(message));
        }
        counts.splice(0..0, vec![1; own.len() - counts.len()]);
    }
    // The table has it, so that gradients flow through it.
    match bench.call(Op::Repeat, Form::Functional, vec![tensor.into(), Arg::Ints(counts)], None)? {
        Made::Tensor(made) => Ok(Value::Tensor(made)),
        _ => Err(Stop::Unsupported(format!("{} makes one tensor", function.name))),
    }
}

/// `chunk`, `split` and `unbind`: a list of tensors.
pub(super) fn split(function: Beside, bench: &mut Bench, arguments: &Arguments) -> Result<Value, Stop> {
    let tensor = function.tensor(arguments, 0, &["input", "self"])?;
    let (own, dtype) = (bench.shape(tensor).sizes().to_vec(), bench.dtype(tensor));
    let at = if function.name == "unbind" { 1 } else { 2 };
    let dim = wrap(arguments.get(at, &["dim", "axis"]).and_then(Value::int).unwrap_or(0), own.len())?;
    let Some(&whole) = own.get(dim) else { return Err(Stop::Unsupported("there is nothing to split".to_owned())) };
    let count = arguments.get(1, &["chunks", "split_size", "split_size_or_sections"]);
    let parts: Vec<i64> = match (function.name, count) {
        ("unbind", _) => vec![1; whole.clamp(0, 64) as usize],
        (_, Some(list @ Value::List(_))) => list.ints().unwrap_or_default(),
        (name, Some(Value::Int(count))) if *count > 0 => {
            let each = if name == "chunk" { whole.saturating_add(count - 1) / count } else { *count };
            let each = each.max(1);
            (0..whole.saturating_add(each - 1) / each).take(64).map(|at| each.min(whole - at * each)).collect()
        }
        _ => return Err(Stop::Unsupported(format!("{} takes a size, or a list of sizes", function.name))),
    };
    let mut made = Vec::new();
    for part in parts {
        let mut sizes = own.clone();
        match function.name {
            "unbind" => _ = sizes.remove(dim),
            _ => sizes[dim] = part,
        }
        made.push(Value::Tensor(bench.declare(function.name, shape(sizes)?, dtype, None)));
    }
    Ok(Value::List(made))
}
