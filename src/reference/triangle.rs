//! Triangles of matrices: copies with zeros on one side of a diagonal.

use crate::error::Rejection;
use crate::tensor::storage::Stored;
use crate::tensor::{Layout, Shape};
use crate::with_element_type;

use super::budget::charge;
use super::iterator::{self, Input, Request};
use super::machine::{Call, Machine, Result, Slot, Tensor};
use super::{autograd, reduction, write};

/// `tril`: the elements on and below a diagonal.
pub(super) fn tril(machine: &mut Machine, call: &Call) -> Result<Slot> {
    triangle(machine, call, |row, column, diagonal| column - row <= diagonal)
}

/// `triu`: the elements on and above a diagonal.
pub(super) fn triu(machine: &mut Machine, call: &Call) -> Result<Slot> {
    triangle(machine, call, |row, column, diagonal| column - row >= diagonal)
}

fn triangle(machine: &mut Machine, call: &Call, stays: fn(i64, i64, i64) -> bool) -> Result<Slot> {
    let operand = machine.tensor(call.tensor(0)?).clone();
    let diagonal = call.int(1)?;
    infer(machine, call, &operand)?;
    let shape = operand.shape().clone();
    reduction::set_output(machine, call.out, &shape, operand.dtype)?;
    let target = call.target()?;
    if let Some(target) = target {
        iterator::check_internal_overlap(machine.tensor(target))?;
    }
    let kept: Vec<usize> = match machine.has_elements() {
        true => kept(&shape, |row, column| stays(row, column, diagonal)),
        false => Vec::new(),
    };
    let values = machine.eval(operand.dtype, || {
        with_element_type!(operand.dtype, T => {
            let elements = machine.elements::<T>(&operand);
            let mut values = vec![T::default(); elements.len()];
            kept.iter().for_each(|&at| values[at] = elements[at]);
            T::wrap(values)
        })
    });
    let result = write::deliver(machine, target, &shape, values);
    record(machine, call, result, &operand, kept);
    Ok(Slot::Tensor(result))
}

/// The order of faults: autograd, the rank, the memory of a new tensor; the dtype of `out` comes next.
fn infer(machine: &Machine, call: &Call, operand: &Tensor) -> Result<()> {
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone())])?;
    if operand.shape().rank() < 2 {
        return Err(Rejection::TriangleRank { name: call.op.name() }.into());
    }
    let elements = machine.has_elements();
    let row_major = Layout::contiguous(operand.shape().clone());
    iterator::check_memory(&row_major, operand.dtype, Request::RowMajor, elements)
}

/// The numbers of the elements that stay, row-major.
fn kept(shape: &Shape, stays: impl Fn(i64, i64) -> bool) -> Vec<usize> {
    charge(shape.numel());
    let [.., rows, columns] = *shape.sizes() else { return Vec::new() };
    let place = |at: usize| (at as i64 / columns % rows, at as i64 % columns);
    (0..shape.numel()).filter(|&at| stays(place(at).0, place(at).1)).collect()
}

/// An element that stays has the upstream gradient of its result; the others have zero.
fn record(machine: &mut Machine, call: &Call, result: super::machine::TensorId, operand: &Tensor, kept: Vec<usize>) {
    let pairs = kept.into_iter().map(|at| (at, at)).collect();
    let route = autograd::Route { node: operand.node, shape: operand.shape().clone(), pairs, added: false };
    autograd::record_moved(machine, call.op, result, vec![route]);
}
