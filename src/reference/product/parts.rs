//! The parts of composed products: operations of the table, called by their names.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::{IndexItem, Layout, Shape};

use super::super::dispatch::{apply, apply_form};
use super::super::machine::{Call, Machine, Operand, Result, TensorId, wrap_dim};

/// An operation on two tensors.
pub(crate) fn binary(machine: &mut Machine, op: Op, a: TensorId, b: TensorId) -> Result<TensorId> {
    apply(machine, op, &[Operand::Tensor(a), Operand::Tensor(b)])
}

/// An operation on two tensors that writes to a third.
pub(crate) fn binary_out(machine: &mut Machine, op: Op, a: TensorId, b: TensorId, out: TensorId) -> Result<TensorId> {
    let args = [Operand::Tensor(a), Operand::Tensor(b)];
    apply_form(machine, &Call { op, form: Form::Out, args: &args, out: Some(out) })
}

pub(crate) fn unsqueeze(machine: &mut Machine, a: TensorId, dim: i64) -> Result<TensorId> {
    apply(machine, Op::Unsqueeze, &[Operand::Tensor(a), Operand::Other(&Arg::Int(dim))])
}

pub(crate) fn transpose(machine: &mut Machine, a: TensorId, dim0: i64, dim1: i64) -> Result<TensorId> {
    let args = [Operand::Tensor(a), Operand::Other(&Arg::Int(dim0)), Operand::Other(&Arg::Int(dim1))];
    apply(machine, Op::Transpose, &args)
}

pub(crate) fn expand(machine: &mut Machine, a: TensorId, sizes: Vec<i64>) -> Result<TensorId> {
    if machine.tensor(a).shape().sizes() == sizes {
        return Ok(a);
    }
    apply(machine, Op::Expand, &[Operand::Tensor(a), Operand::Other(&Arg::Ints(sizes))])
}

pub(crate) fn permute(machine: &mut Machine, a: TensorId, dims: Vec<i64>) -> Result<TensorId> {
    apply(machine, Op::Permute, &[Operand::Tensor(a), Operand::Other(&Arg::Ints(dims))])
}

pub(crate) fn view(machine: &mut Machine, a: TensorId, sizes: Vec<i64>) -> Result<TensorId> {
    apply(machine, Op::View, &[Operand::Tensor(a), Operand::Other(&Arg::Ints(sizes))])
}

pub(crate) fn contiguous(machine: &mut Machine, a: TensorId) -> Result<TensorId> {
    apply(machine, Op::Contiguous, &[Operand::Tensor(a)])
}

/// A view if strides can say it, else a copy.
pub(crate) fn reshape(machine: &mut Machine, a: TensorId, sizes: Vec<i64>) -> Result<TensorId> {
    let fits = Shape::new(sizes.clone()).is_ok_and(|shape| machine.tensor(a).layout.view(&shape).is_some());
    let source = if fits { a } else { contiguous(machine, a)? };
    view(machine, source, sizes)
}

/// Takes away a dimension of length 1, counted from the front or, the last one, from the back.
pub(crate) fn squeeze(machine: &mut Machine, a: TensorId, first: bool) -> Result<TensorId> {
    let index = if first { vec![IndexItem::At(0)] } else { vec![IndexItem::Ellipsis, IndexItem::At(0)] };
    apply(machine, Op::Index, &[Operand::Tensor(a), Operand::Other(&Arg::Index(index))])
}

/// Takes away every dimension of length 1.
pub(crate) fn squeeze_all(machine: &mut Machine, a: TensorId) -> Result<TensorId> {
    super::super::view::apply(machine, Op::View, a, |_, from, _| {
        let kept = || from.shape.sizes().iter().zip(&from.strides).filter(|(size, _)| **size != 1);
        let shape = Shape::of_sizes(kept().map(|(size, _)| *size).collect());
        Ok(Layout { shape, strides: kept().map(|(_, stride)| *stride).collect(), offset: from.offset })
    })
}

pub(crate) fn sum(machine: &mut Machine, a: TensorId, dims: Vec<i64>, keepdim: bool) -> Result<TensorId> {
    summed(machine, a, dims, keepdim, None)
}

/// A sum that is written to another tensor.
pub(crate) fn sum_out(machine: &mut Machine, a: TensorId, dims: Vec<i64>, out: TensorId) -> Result<TensorId> {
    summed(machine, a, dims, false, Some(out))
}

fn summed(
    machine: &mut Machine,
    a: TensorId,
    dims: Vec<i64>,
    keepdim: bool,
    out: Option<TensorId>,
) -> Result<TensorId> {
    let args = [
        Operand::Tensor(a),
        Operand::Other(&Arg::Ints(dims)),
        Operand::Other(&Arg::Flag(keepdim)),
        Operand::Other(&Arg::Nothing),
    ];
    let form = if out.is_some() { Form::Out } else { Form::Functional };
    apply_form(machine, &Call { op: Op::Sum, form, args: &args, out })
}

/// The product of sizes, which wraps around as that of `c10::multiply_integers` does.
pub(crate) fn multiplied(sizes: &[i64]) -> i64 {
    sizes.iter().fold(1, |product, &size| i64::wrapping_mul(product, size))
}

/// The size of a dimension (`Tensor::size`).
pub(crate) fn size(shape: &Shape, dim: i64) -> Result<i64> {
    match shape.rank() {
        0 => Err(Rejection::NoDimensions { dim }.into()),
        rank => Ok(shape.sizes()[wrap_dim(dim, rank)?]),
    }
}
