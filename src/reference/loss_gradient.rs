//! The gradients of losses that have a kernel of their own.

use crate::error::Rejection;
use crate::ops::{Op, ResultType};
use crate::tensor::{DType, Layout, Scalar};

use super::composition::{Composition, Function, LOG_SIGMOID, NO_SLOPE, check_gradient, in_double};
use super::elementwise::{self, elementwise_kernel};
use super::graph::Kept;
use super::iterator::{self, Input};
use super::machine::{Machine, Result, Tensor};
use super::write;

/// The gradient of a loss of two operands that knows nothing of broadcasting: it is computed for a tensor like the
/// operand, which is resized, with a warning, and the mean divides by the operand's own elements
/// (`mse_loss_backward_out`, `smooth_l1_loss_backward_out`, `huber_loss_backward_out`). One that is not promoted rejects
/// operands of several dtypes.
fn for_both(
    machine: &mut Machine,
    gradient: &Tensor,
    saved: &Kept,
    promoted: bool,
    formula: fn(&[f64]) -> f64,
) -> Result<Vec<Option<Tensor>>> {
    let mut results = vec![None, None];
    for (at, result) in results.iter_mut().enumerate().filter(|(at, _)| saved.needed[*at]) {
        let (Some(own), Some(other)) = (&saved.tensors[at], &saved.tensors[1 - at]) else { continue };
        let inputs = [own, other, gradient].map(|tensor| Input::Tensor(tensor.clone()));
        let unlike = inputs.iter().map(Input::dtype).find(|dtype| !promoted && *dtype != own.dtype);
        if let Some(found) = unlike {
            return Err(Rejection::FoundDtype { found, expected: own.dtype }.into());
        }
        let shape = iterator::broadcast(&inputs)?;
        if shape != *own.shape() {
            let target = machine.blank(own.dtype, Layout::contiguous(own.shape().clone()));
            let target = machine.add(target);
            write::resize_output(machine, target, Layout::contiguous(shape.clone()), 1)?;
        }
        let numbers = std::iter::once(Scalar::Float(share(saved, own))).chain(saved.numbers[1..].iter().copied());
        let inputs: Vec<Input> = inputs.into_iter().chain(numbers.map(Input::Number)).collect();
        *result = Some(elementwise::formula(machine, &inputs, &shape, own.dtype, &formula)?);
    }
    Ok(results)
}

/// The share of one element in a loss: the first number kept tells whether that is a mean.
fn share(saved: &Kept, operand: &Tensor) -> f64 {
    if saved.real(0) == 1.0 { 1.0 / operand.shape().numel() as f64 } else { 1.0 }
}

pub(super) fn mse_backward(machine: &mut Machine, gradient: &Tensor, saved: &Kept) -> Result<Vec<Option<Tensor>>> {
    for_both(machine, gradient, saved, true, |row| 2.0 * row[3] * (row[0] - row[1]) * row[2])
}

pub(super) fn smooth_backward(machine: &mut Machine, gradient: &Tensor, saved: &Kept) -> Result<Vec<Option<Tensor>>> {
    for_both(machine, gradient, saved, true, |row| bent(row, 1.0, row[4]))
}

pub(super) fn huber_backward(machine: &mut Machine, gradient: &Tensor, saved: &Kept) -> Result<Vec<Option<Tensor>>> {
    for_both(machine, gradient, saved, false, |row| bent(row, row[4], 1.0))
}

/// The slope of a loss that grows with the square of the difference, divided by `divisor`, up to the parameter, and in
/// proportion to `factor` beyond it.
fn bent(row: &[f64], factor: f64, divisor: f64) -> f64 {
    let (difference, share, bend) = (row[0] - row[1], row[3], row[4]);
    if difference <= -bend {
        -share * row[2] * factor
    } else if difference >= bend {
        share * row[2] * factor
    } else {
        share * difference * row[2] / divisor
    }
}

pub(super) fn soft_margin_backward(
    machine: &mut Machine,
    gradient: &Tensor,
    saved: &Kept,
) -> Result<Vec<Option<Tensor>>> {
    let (Some(input), Some(target)) = (&saved.tensors[0], &saved.tensors[1]) else { return Ok(vec![None, None]) };
    // Unlike the loss, its gradient begins with the opposite of the target.
    if target.dtype == DType::Bool {
        return Err(Rejection::BoolNegation.into());
    }
    let inputs = [input, target, gradient].map(|tensor| Input::Tensor(tensor.clone()));
    let shape = iterator::broadcast(&inputs)?;
    let share = share(saved, input);
    let result = elementwise::formula(machine, &inputs, &shape, input.dtype, &|row| {
        let power = (-row[1] * row[0]).exp();
        row[1] * power * -share / (power + 1.0) * row[2]
    })?;
    Ok(vec![Some(result), None])
}

/// Steps that write in place, and refuse what they cannot hold.
pub(super) fn logits_backward(machine: &mut Machine, gradient: &Tensor, saved: &Kept) -> Result<Vec<Option<Tensor>>> {
    let mut loss = Composition { machine, op: saved.op };
    let mut add = |tensor: &Tensor| loss.machine.add(tensor.clone());
    let (Some(input), Some(target)) = (&saved.tensors[0], &saved.tensors[1]) else { return Ok(vec![None; 4]) };
    let shapes = [input.clone(), target.clone()];
    let (input, target, gradient) = (add(input), add(target), add(gradient));
    let [weight, positive] = [2, 3].map(|at| saved.tensors[at].as_ref().map(&mut add));
    let mut received = Vec::new();
    for (at, operand) in shapes.iter().enumerate() {
        if !saved.needed[at] {
            received.push(None);
            continue;
        }
        let result = if at == 0 {
            let probable = loss.function(&SIGMOID, input)?;
            match positive {
                None => {
                    loss.update(Op::Sub, probable, target)?;
                    loss.update(Op::Mul, probable, gradient)?;
                    probable
                }
                Some(positive) => {
                    let weighted = loss.combine(Op::Mul, positive, target)?;
                    let result = loss.combine(Op::Add, weighted, 1i64)?;
                    loss.update(Op::Sub, result, target)?;
                    loss.update(Op::Mul, probable, result)?;
                    loss.update(Op::Sub, probable, weighted)?;
                    loss.update(Op::Mul, probable, gradient)?;
                    probable
                }
            }
        } else {
            let opposite = loss.negative(input)?;
            let result = match positive {
                None => opposite,
                Some(positive) => {
                    let result = loss.function(&LOG_SIGMOID, opposite)?;
                    let likelihood = loss.function(&LOG_SIGMOID, input)?;
                    loss.update(Op::Mul, likelihood, positive)?;
                    loss.update(Op::Sub, result, likelihood)?;
                    result
                }
            };
            loss.combine(Op::Mul, result, gradient)?
        };
        if let Some(weight) = weight {
            loss.update(Op::Mul, result, weight)?;
        }
        if saved.real(0) == 1.0 {
            let count = operand.shape().numel() as i64;
            loss.update(Op::Div, result, count)?;
        }
        received.push(Some(loss.machine.tensor(result).clone()));
    }
    for (at, received) in received.iter().enumerate() {
        if let Some(gradient) = received {
            check_gradient(at, gradient, &shapes[at])?;
        }
    }
    received.extend([None, None]);
    Ok(received)
}

static SIGMOID: Function = Function::of_floats(
    "sigmoid_cpu",
    ResultType::Float,
    elementwise_kernel!(float (x) T::from_scalar(Scalar::Int(1)).over(T::from_scalar(Scalar::Int(1)).plus(in_double(-x, f64::exp)))),
    NO_SLOPE,
);
