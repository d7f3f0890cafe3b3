//! `binary_cross_entropy` and its gradient (ATen/native/Loss.cpp), which promote nothing. Their operands broadcast as those
//! of the other losses do; libtorch leaves sizes of 1 out, and gives the result the shape of the input, whatever it is.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::tensor::{Buffer, Layout, Scalar};

use super::composition::{Composition, Reduction};
use super::elementwise::{self, Casting, Facts, Plan};
use super::graph::Kept;
use super::iterator::{self, Input};
use super::loss::{not_differentiable, operands};
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::{autograd, write};

/// The least that the product of a probability and its complement is taken for: a constant of type float.
const EPSILON: f64 = 1e-12f32 as f64;

/// The least that a logarithm is taken for.
const LEAST: f64 = -100.0;

/// `binary_cross_entropy`: what the logarithms of a probability and of its complement weigh, by the target.
pub(super) fn binary_cross_entropy(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (weight, reduction) = (call.optional_tensor(2)?, Reduction::of(call)?);
    let plan = infer(machine, call, 2)?;
    let inputs = operands(machine, call, 2)?;
    let values = machine.try_eval(plan.common, || {
        let columns = machine.columns::<f64>(&inputs, &plan.shape)?;
        let [input, target] = &columns[..] else { return Ok(Buffer::zeros(plan.common, 0)) };
        let loss = input.iter().zip(target).map(|(&input, &target)| entropy(input, target).map(Scalar::Float));
        Ok::<_, Stop>(Buffer::from_scalars(plan.common, loss.collect::<Result<Vec<_>>>()?.into_iter()))
    })?;
    let layout = layout_like(machine, call.tensor(0)?, &plan);
    let loss = write::create(machine, layout, values);
    let loss = machine.add(loss);
    weigh(machine, call.op, loss, weight)?;
    let loss = Composition { machine, op: call.op }.reduced(loss, reduction)?;
    let result = deliver(machine, call, loss)?;
    if call.form == Form::Functional {
        machine.tensor_mut(result).node = None;
        let operands = [Some(call.tensor(0)?), Some(call.tensor(1)?), weight];
        let share = if reduction == Reduction::Mean { 1.0 / plan.shape.numel() as f64 } else { 1.0 };
        autograd::record_own(machine, call.op, result, &operands, vec![share], entropy_backward);
    }
    Ok(Slot::Tensor(result))
}

/// `binary_cross_entropy_backward`: the slope of the loss times the upstream gradient.
pub(super) fn binary_cross_entropy_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let weight = call.optional_tensor(3)?;
    let reduction = Reduction::of(call)?;
    let plan = infer(machine, call, 3)?;
    let inputs = operands(machine, call, 3)?;
    let numel = inputs[1].shape().numel() as f64;
    let result =
        elementwise::formula(machine, &inputs, &plan.shape, plan.common, &|row| row[0] * slope(row[1], row[2]))?;
    let layout = layout_like(machine, call.tensor(1)?, &plan);
    let result = write::restride(machine, &result, layout);
    let result = machine.add(result);
    weigh(machine, call.op, result, weight)?;
    if reduction == Reduction::Mean {
        Composition { machine, op: call.op }.update(Op::Div, result, numel)?;
    }
    let result = deliver(machine, call, result)?;
    if call.form == Form::Functional {
        machine.tensor_mut(result).node = None;
        let operands = [Some(call.tensor(0)?), Some(call.tensor(1)?), Some(call.tensor(2)?), weight];
        let share = if reduction == Reduction::Mean { 1.0 / numel } else { 1.0 };
        autograd::record_own(machine, call.op, result, &operands, vec![share], slope_backward);
    }
    Ok(Slot::Tensor(result))
}

/// The plan of an operation on so many tensors and a weight. The order of faults: autograd, overlap, shapes, dtypes, the
/// kernel.
fn infer(machine: &Machine, call: &Call, count: usize) -> Result<Plan> {
    let inputs = operands(machine, call, count)?;
    let mut all = inputs.clone();
    all.extend(call.optional_tensor(count)?.map(|weight| Input::Tensor(machine.tensor(weight).clone())));
    autograd::check_target(machine, call, &all)?;
    not_differentiable(machine, call, count, "weight")?;
    if let Some(target) = call.target()? {
        iterator::check_overlap(machine.tensor(target), &inputs)?;
    }
    iterator::broadcast(&inputs)?;
    let expected = inputs[0].dtype();
    let out = call.target()?.map(|target| machine.tensor(target).dtype);
    let others = inputs.iter().map(Input::dtype);
    if let Some(found) = out.into_iter().chain(others).find(|dtype| *dtype != expected) {
        return Err(Rejection::FoundDtype { found, expected }.into());
    }
    let plan = Plan::into(machine, call, &inputs, (expected, expected), Casting::Exact, None)?;
    Facts::of(call.op).check_kernel(expected)?;
    Ok(plan)
}

/// The layout of the input, if the result has its shape (`empty_like`).
fn layout_like(machine: &mut Machine, input: TensorId, plan: &Plan) -> Layout {
    if *machine.tensor(input).shape() != plan.shape {
        return plan.layout.clone();
    }
    let like = write::empty_like(machine, input);
    machine.tensor(like).layout.clone()
}

/// Multiplies in place, without autograd.
fn weigh(machine: &mut Machine, op: Op, loss: TensorId, weight: Option<TensorId>) -> Result<()> {
    let Some(weight) = weight else { return Ok(()) };
    let mut composition = Composition { machine, op };
    let weight = composition.detached(weight);
    composition.update(Op::Mul, loss, weight)
}

/// The result, or `out=` with its elements.
fn deliver(machine: &mut Machine, call: &Call, result: TensorId) -> Result<TensorId> {
    let Some(target) = call.target()? else {
        // The weight and the mean are written in place, and the result counts as unwritten.
        let made = machine.tensor(result).clone();
        let fresh = write::restride(machine, &made, made.layout.clone());
        return Ok(machine.add(fresh));
    };
    let values = machine.tensor(result).clone();
    write::resize_output(machine, target, Layout::contiguous(values.shape().clone()), 1)?;
    write::copy(machine, target, &values);
    Ok(target)
}

/// The loss of a probability, or the rejection of what is none.
fn entropy(input: f64, target: f64) -> Result<f64> {
    for (value, name) in [(input, "input"), (target, "target")] {
        if !(0.0..=1.0).contains(&value) {
            return Err(Rejection::NoProbability { name }.into());
        }
    }
    Ok((target - 1.0) * (-input).ln_1p().max(LEAST) - target * input.ln().max(LEAST))
}

/// The slope of the loss at a probability.
fn slope(input: f64, target: f64) -> f64 {
    (input - target) / spread(input).max(EPSILON)
}

fn spread(input: f64) -> f64 {
    (1.0 - input) * input
}

fn entropy_backward(machine: &mut Machine, gradient: &Tensor, saved: &Kept) -> Result<Vec<Option<Tensor>>> {
    let formulas: [fn(&[f64]) -> f64; 2] = [
        |row| row[0] * slope(row[1], row[2]) * row[3] * row[4],
        |row| row[0] * ((-row[1]).ln_1p().max(LEAST) - row[1].ln().max(LEAST)) * row[3] * row[4],
    ];
    for_each(machine, gradient, saved, 2, &formulas)
}

fn slope_backward(machine: &mut Machine, gradient: &Tensor, saved: &Kept) -> Result<Vec<Option<Tensor>>> {
    let formulas: [fn(&[f64]) -> f64; 3] = [
        |row| row[0] * slope(row[2], row[3]) * row[4] * row[5],
        |row| {
            let (input, target, spread) = (row[2], row[3], spread(row[2]));
            let bend = if spread < EPSILON {
                1.0 / EPSILON
            } else {
                (spread - (input - target) * (1.0 - 2.0 * input)) / (spread * spread)
            };
            row[0] * row[1] * bend * row[4] * row[5]
        },
        |row| -row[0] * row[1] / spread(row[2]).max(EPSILON) * row[4] * row[5],
    ];
    for_each(machine, gradient, saved, 3, &formulas)
}

/// The gradients of so many operands by formulas of the upstream gradient, the operands, the weight and the share of an
/// element; none for the weight.
fn for_each(
    machine: &mut Machine,
    gradient: &Tensor,
    saved: &Kept,
    count: usize,
    formulas: &[fn(&[f64]) -> f64],
) -> Result<Vec<Option<Tensor>>> {
    let weight = saved.tensors[count].clone().map_or(Input::Number(Scalar::Float(1.0)), Input::Tensor);
    let kept = saved.tensors[..count].iter().flatten().cloned().map(Input::Tensor);
    let tensors: Vec<Input> = std::iter::once(Input::Tensor(gradient.clone())).chain(kept).chain([weight]).collect();
    let shape = iterator::broadcast(&tensors)?;
    let inputs: Vec<Input> = tensors.into_iter().chain([Input::Number(saved.numbers[0])]).collect();
    let mut received = vec![None; count + 1];
    for (at, formula) in formulas.iter().enumerate().filter(|(at, _)| saved.needed[*at]) {
        let Some(own) = &saved.tensors[at] else { continue };
        received[at] = Some(elementwise::formula(machine, &inputs, &shape, own.dtype, formula)?);
    }
    Ok(received)
}
