//! The output of products: a new tensor, the first operand, or the tensor that `out=` names.

use crate::error::Rejection;
use crate::ops::Form;
use crate::tensor::{Buffer, DType, Scalar, Shape};

use super::super::autograd;
use super::super::iterator::{self, Input};
use super::super::machine::{Call, Machine, Result, Tensor, TensorId};
use super::super::write;
use super::factor;

/// Raises the errors of autograd, before anything else is checked.
pub(super) fn check_autograd(machine: &Machine, call: &Call, operands: &[&Tensor]) -> Result<()> {
    let inputs: Vec<Input> = operands.iter().map(|operand| Input::Tensor((*operand).clone())).collect();
    autograd::check_target(machine, call, &inputs)
}

/// Prepares the output of a structured kernel: `out=` is given the shape, in-place has it already (`set_output`).
pub(super) fn set_output(machine: &mut Machine, call: &Call, shape: &Shape, dtype: DType) -> Result<Option<TensorId>> {
    let Some(target) = call.target()? else { return Ok(None) };
    let tensor = machine.tensor(target);
    if call.form == Form::Out {
        if tensor.dtype != dtype {
            return Err(Rejection::OutDtype { expected: dtype, got: tensor.dtype }.into());
        }
        write::prepare(machine, Some(target), shape)?;
    } else {
        if tensor.dtype != dtype {
            return Err(Rejection::InPlaceDtype { input: tensor.dtype, output: dtype }.into());
        }
        if tensor.shape() != shape {
            let (input, output) = (tensor.shape().sizes().to_vec(), shape.sizes().to_vec());
            return Err(Rejection::InPlaceShape { input, output }.into());
        }
    }
    Ok(Some(target))
}

/// Writes the values to the target, in which no element stands for several, or to a new tensor.
pub(super) fn deliver(
    machine: &mut Machine,
    target: Option<TensorId>,
    shape: &Shape,
    values: Buffer,
) -> Result<TensorId> {
    if let Some(target) = target {
        iterator::check_internal_overlap(machine.tensor(target))?;
    }
    Ok(write::deliver(machine, target, shape, values))
}

/// Rejects an `out=` that shares a part of its memory with the summand, which is copied into it before anything is
/// multiplied, unless it is the same tensor or `beta` is zero.
pub(super) fn check_summand(
    machine: &Machine,
    call: &Call,
    target: Option<TensorId>,
    summand: &Tensor,
    beta: Scalar,
) -> Result<()> {
    let own = call.tensor(0)?;
    match target.filter(|target| call.form == Form::Out && *target != own && !factor::is_zero(beta)) {
        Some(target) => iterator::check_partial_overlap(machine.tensor(target), summand),
        None => Ok(()),
    }
}

/// Writes a tensor to the target before a kernel refuses: libtorch has put the summand there already.
pub(super) fn copied(machine: &mut Machine, call: &Call, target: Option<TensorId>, tensor: &Tensor) -> Result<()> {
    let Some(target) = target.filter(|_| call.form == Form::Out) else { return Ok(()) };
    iterator::check_internal_overlap(machine.tensor(target))?;
    write::copy(machine, target, tensor);
    Ok(())
}
