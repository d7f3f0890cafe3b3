//! Copies of a tensor along its dimensions: each element of the result is one of the operand, and the layout of the result
//! is row-major.

use crate::error::Rejection;
use crate::ops::Form;
use crate::tensor::shape::countable;
use crate::tensor::{Layout, Shape};

use super::autograd;
use super::budget::charge;
use super::iterator::{self, Input, Request};
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::view;
use super::{selection, write};

/// `expand_copy`: the elements of an expansion in a new tensor, or in that given by `out=`.
pub(super) fn expand_copy(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let operand = machine.tensor(call.tensor(0)?).clone();
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone())])?;
    let layout = infer_expanded(&operand, call.ints(1)?)?;
    let shape = layout.shape.clone();
    if !shape.is_countable() && machine.has_elements() {
        return Err(Rejection::Numel.into());
    }
    let row_major = Layout::contiguous(shape.clone());
    iterator::check_memory(&row_major, operand.dtype, Request::RowMajor, machine.has_elements())?;
    if let Some(out) = call.out {
        return write_copy(machine, call, out, (&operand, &Tensor { layout, ..operand.clone() }));
    }
    let numbers = selection::numbering(machine, operand.shape(), &shape);
    Ok(Slot::Tensor(deliver(machine, call, &operand, numbers, row_major)))
}

/// The layout of the expansion. Negative sizes that are counted with a zero are refused by the new tensor.
fn infer_expanded(operand: &Tensor, sizes: &[i64]) -> Result<Layout> {
    let missing = sizes.len().saturating_sub(operand.shape().rank());
    let filled = |(at, &size): (usize, &i64)| match at.checked_sub(missing) {
        Some(own) if size == -1 => operand.shape().sizes()[own],
        _ => size,
    };
    view::expanded(&operand.layout, operand.dtype, sizes).map_err(|stop| {
        let sizes: Vec<i64> = sizes.iter().enumerate().map(filled).collect();
        match sizes.iter().find(|&&size| size < 0) {
            Some(&size) if stop == Rejection::Numel.into() && countable(&sizes) => {
                Rejection::NegativeSize { size, sizes }.into()
            }
            _ => stop,
        }
    })
}

/// The tensor given by `out=` is resized before its dtype is looked at (`resize_out_helper`, `copy_arg`).
fn write_copy(
    machine: &mut Machine,
    call: &Call,
    out: TensorId,
    (operand, expanded): (&Tensor, &Tensor),
) -> Result<Slot> {
    let (values, shape) = (write::elements(machine, expanded, expanded.dtype), expanded.shape().clone());
    write::prepare(machine, Some(out), &shape)?;
    let target = machine.tensor(out);
    if target.dtype != expanded.dtype {
        return Err(Rejection::OutDtype { expected: expanded.dtype, got: target.dtype }.into());
    }
    iterator::check_overlap(target, &[])?;
    let result = write::deliver(machine, Some(out), &shape, values);
    autograd::record_missing(machine, call.op, call.form, result, &[Input::Tensor(operand.clone())]);
    Ok(Slot::Tensor(result))
}

/// `repeat`: so many copies along each dimension, and along as many new ones in front as there are further numbers.
pub(super) fn repeat(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let repeats = call.ints(1)?.to_vec();
    repeated(machine, call, &repeats)
}

/// `tile`: `repeat`, with ones in front of the numbers if there are fewer than dimensions.
pub(super) fn tile(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (given, rank) = (call.ints(1)?, machine.tensor(call.tensor(0)?).shape().rank());
    let mut repeats = vec![1; rank.saturating_sub(given.len())];
    repeats.extend(given);
    repeated(machine, call, &repeats)
}

fn repeated(machine: &mut Machine, call: &Call, repeats: &[i64]) -> Result<Slot> {
    let operand = machine.tensor(call.tensor(0)?).clone();
    let (padded, shape) = infer_repeated(operand.shape(), repeats)?;
    let layout = Layout::contiguous(shape.clone());
    iterator::check_memory(&layout, operand.dtype, Request::RowMajor, machine.has_elements())?;
    let elements = machine.has_elements() && shape.numel() > 0;
    let numbers = if elements { copies(&padded, shape.sizes()) } else { Vec::new() };
    Ok(Slot::Tensor(deliver(machine, call, &operand, numbers, Layout::contiguous(shape))))
}

/// The sizes of the operand with ones in front, and the shape of the result.
fn infer_repeated(operand: &Shape, repeats: &[i64]) -> Result<(Vec<i64>, Shape)> {
    let missing = repeats.len().checked_sub(operand.rank()).ok_or(Rejection::RepeatRank)?;
    let mut padded = vec![1; missing];
    padded.extend(operand.sizes());
    let sizes = padded.iter().zip(repeats).map(|(&size, &count)| size.checked_mul(count));
    let sizes: Option<Vec<i64>> = sizes.collect();
    let Some(sizes) = sizes.filter(|sizes| sizes.iter().all(|&size| size >= LEAST_SIZE)) else {
        return Err(Stop::Unsupported("a repetition whose sizes 64 bits do not hold".to_owned()));
    };
    if let Some(&size) = sizes.iter().find(|&&size| size < 0) {
        return Err(Rejection::NegativeSize { size, sizes }.into());
    }
    let shape = Shape::new(sizes.clone()).map_err(|_| Rejection::StorageOverflow { sizes: sizes.clone() })?;
    // The views of nothing by which libtorch copies may have more elements than can be counted.
    let most = padded.iter().zip(&sizes).fold(1i64, |most, (&own, &size)| most.saturating_mul(own.max(size).max(1)));
    if shape.numel() == 0 && most == i64::MAX {
        return Err(Stop::Unsupported("an empty repetition of sizes beyond counting".to_owned()));
    }
    Ok((padded, shape))
}

/// The least size that reaches the check for negative ones (`SymInt::check_range`).
const LEAST_SIZE: i64 = -(1 << 62);

/// For each element of copies of a tensor the number of the one that it is a copy of, row-major.
fn copies(own: &[i64], sizes: &[i64]) -> Vec<usize> {
    let mut numbers = vec![0usize];
    for (&own, &size) in own.iter().zip(sizes) {
        charge(numbers.len() * size as usize);
        let along = |before: &usize| {
            let before = *before;
            (0..size).map(move |at| before * own as usize + (at % own) as usize)
        };
        numbers = numbers.iter().flat_map(along).collect();
    }
    numbers
}

/// Makes the result, and notes where its elements are from. What is empty reads nothing.
fn deliver(machine: &mut Machine, call: &Call, operand: &Tensor, numbers: Vec<usize>, layout: Layout) -> TensorId {
    debug_assert_eq!(call.form, Form::Functional);
    let result = match numbers.is_empty() {
        true => {
            let blank = machine.blank(operand.dtype, layout);
            machine.add(blank)
        }
        false => selection::deliver(machine, None, operand, &numbers, layout),
    };
    autograd::record_view(machine, call.op, result, operand, Some(numbers));
    result
}
