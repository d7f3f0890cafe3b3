//! Losses: a formula element by element on operands that broadcast, then perhaps a reduction.
//!
//! Those with a kernel of their own in libtorch (`mse_loss`, `smooth_l1_loss`, `huber_loss`) are a [`Function`] here; the
//! others are composed of other operations, as they are in libtorch (ATen/native/Loss.cpp).

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::{Buffer, Category, DType, Layout, Shape};

use super::autograd;
use super::composition::{Composition, Function, LOG_SIGMOID, Reduction, Term, real};
use super::elementwise::{Plan, check_kernel};
use super::iterator::{self, Input};
use super::loss_gradient::{huber_backward, logits_backward, mse_backward, smooth_backward, soft_margin_backward};
use super::machine::{Backward, Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::write;

/// `mse_loss`: the square of the difference.
pub(super) fn mse_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    structured(machine, call, &SQUARE, Vec::new(), mse_backward)
}

/// `smooth_l1_loss`: the square of the difference up to `beta`, and its size beyond.
pub(super) fn smooth_l1_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let beta = real(call, 3)?;
    autograd::check_target(machine, call, &operands(machine, call, 2)?)?;
    if beta.is_nan() || beta < 0.0 {
        return Err(Rejection::SmoothL1Beta.into());
    }
    structured(machine, call, &SMOOTH, vec![beta], smooth_backward)
}

/// `huber_loss`: half the square of the difference up to `delta`, and in proportion to its size beyond. What it is
/// computed in has the shape and the dtype of the input before it is broadcast (`empty_like`), and is resized with the
/// warning that is meant for a tensor given by `out`.
pub(super) fn huber_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (reduction, delta) = (Reduction::of(call)?, real(call, 3)?);
    let inputs = operands(machine, call, 2)?;
    autograd::check_target(machine, call, &inputs)?;
    if delta.is_nan() || delta <= 0.0 {
        return Err(Rejection::HuberDelta.into());
    }
    let target = match call.target()? {
        Some(target) => target,
        None => empty_like(machine, call.tensor(0)?),
    };
    write_into(machine, call, &HUBER, &inputs, &[delta], target)?;
    let result = settle(machine, call, target, reduction)?;
    let operands = [Some(call.tensor(0)?), Some(call.tensor(1)?)];
    record(machine, call, result, &operands, vec![reduction.share(), delta], huber_backward);
    Ok(Slot::Tensor(result))
}

/// `l1_loss`: the size of the difference.
pub(super) fn l1_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let reduction = Reduction::of(call)?;
    let mut loss = Composition { machine, op: call.op };
    let difference = loss.combine(Op::Sub, call.tensor(0)?, call.tensor(1)?)?;
    let size = loss.absolute(difference)?;
    loss.reduced(size, reduction).map(Slot::Tensor)
}

/// `hinge_embedding_loss`: the input where the target is 1, what it lacks to `margin` where the target is -1, and both
/// elsewhere.
pub(super) fn hinge_embedding_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (input, target, margin, reduction) = (call.tensor(0)?, call.tensor(1)?, real(call, 2)?, Reduction::of(call)?);
    let mut loss = Composition { machine, op: call.op };
    let zeros = loss.zeros_like(input);
    let lacking = loss.less(margin, input)?;
    let lacking = loss.lift_to_zero(lacking)?;
    let unlike = loss.combine(Op::Ne, target, 1i64)?;
    let unlike = loss.choose(unlike, lacking, zeros)?;
    let alike = loss.combine(Op::Ne, target, -1i64)?;
    let alike = loss.choose(alike, input, zeros)?;
    let sum = loss.combine(Op::Add, unlike, alike)?;
    loss.reduced(sum, reduction).map(Slot::Tensor)
}

/// `margin_ranking_loss`: by how much the difference of the inputs fails to have the target's sign.
pub(super) fn margin_ranking_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (margin, reduction) = (real(call, 3)?, Reduction::of(call)?);
    let mut loss = Composition { machine, op: call.op };
    // The difference comes first: it is refused before the negation is.
    let difference = loss.combine(Op::Sub, call.tensor(0)?, call.tensor(1)?)?;
    let opposite = loss.negative(call.tensor(2)?)?;
    let product = loss.combine(Op::Mul, opposite, difference)?;
    let moved = loss.combine(Op::Add, product, margin)?;
    let kept = loss.lift_to_zero(moved)?;
    loss.reduced(kept, reduction).map(Slot::Tensor)
}

/// `kl_div`: the target times the difference of its logarithm and the input.
pub(super) fn kl_div(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (input, target, reduction) = (call.tensor(0)?, call.tensor(1)?, Reduction::of(call)?);
    let categories = [input, target].map(|id| machine.tensor(id).dtype.category());
    if categories.contains(&Category::Complex) {
        return Err(Rejection::KlDivComplex.into());
    }
    if categories.iter().any(|&category| category < Category::Floating) {
        return Err(Rejection::KlDivIntegral.into());
    }
    let mut loss = Composition { machine, op: call.op };
    let divergence = if call.flag(3)? {
        let difference = loss.combine(Op::Sub, target, input)?;
        let weight = loss.function(&EXPONENTIAL, &[target], &[])?;
        loss.combine(Op::Mul, weight, difference)?
    } else {
        let crossed = loss.combine(Op::Mul, target, input)?;
        let entropy = loss.function(&TIMES_LOGARITHM, &[target, target], &[])?;
        loss.combine(Op::Sub, entropy, crossed)?
    };
    loss.reduced(divergence, reduction).map(Slot::Tensor)
}

/// `poisson_nll_loss`: the unlikelihood of a count, with or without Stirling's term for its factorial.
pub(super) fn poisson_nll_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (input, target, reduction) = (call.tensor(0)?, call.tensor(1)?, Reduction::of(call)?);
    let (log_input, full, eps) = (call.flag(2)?, call.flag(3)?, real(call, 4)?);
    let mut loss = Composition { machine, op: call.op };
    let mut result = if log_input {
        let product = loss.combine(Op::Mul, target, input)?;
        let rate = loss.function(&EXPONENTIAL, &[input], &[])?;
        loss.combine(Op::Sub, rate, product)?
    } else {
        let moved = loss.combine(Op::Add, input, eps)?;
        let logarithm = loss.function(&LOGARITHM, &[moved], &[])?;
        let product = loss.combine(Op::Mul, target, logarithm)?;
        loss.combine(Op::Sub, input, product)?
    };
    if full {
        let logarithm = loss.function(&LOGARITHM, &[target], &[])?;
        let product = loss.combine(Op::Mul, target, logarithm)?;
        let difference = loss.combine(Op::Sub, product, target)?;
        let circle = loss.combine(Op::Mul, target, 2.0 * std::f64::consts::PI)?;
        let circle = loss.function(&LOGARITHM, &[circle], &[])?;
        let half = loss.combine(Op::Mul, circle, 0.5)?;
        let stirling = loss.combine(Op::Add, difference, half)?;
        let small = loss.combine(Op::Le, target, 1i64)?;
        let zeros = loss.zeros_like(stirling);
        let kept = loss.choose(small, zeros, stirling)?;
        result = loss.add_into(result, kept)?;
    }
    loss.reduced(result, reduction).map(Slot::Tensor)
}

/// `soft_margin_loss`: the logarithm of 1 and the exponential of what input and target make, negated. Computed in the
/// tensor that it is for, with the dtype of the input.
pub(super) fn soft_margin_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (input, target, reduction) = (call.tensor(0)?, call.tensor(1)?, Reduction::of(call)?);
    infer_soft_margin(machine, call)?;
    let mut loss = Composition { machine, op: call.op };
    let plain = loss.detached(input);
    let negative = loss.negative(plain)?;
    let result = match call.target()? {
        None => negative,
        Some(out) => {
            prepare_soft_margin(loss.machine, call, out)?;
            let values = loss.machine.tensor(negative).clone();
            write::copy(loss.machine, out, &values);
            out
        }
    };
    // The target may be the tensor that is written to.
    let factor = if call.target()? == Some(target) { target } else { loss.detached(target) };
    loss.update(Op::Mul, result, factor)?;
    for step in [&EXPONENTIAL, &LOGARITHM_OF_MORE] {
        update(loss.machine, step, result)?;
    }
    let result = settle(machine, call, result, reduction)?;
    record(machine, call, result, &[Some(input), Some(target)], vec![reduction.share()], soft_margin_backward);
    Ok(Slot::Tensor(result))
}

/// The order of faults: autograd, a target that requires grad, the negation.
fn infer_soft_margin(machine: &Machine, call: &Call) -> Result<()> {
    autograd::check_target(machine, call, &operands(machine, call, 2)?)?;
    not_differentiable(machine, call, 1, "target")?;
    match machine.tensor(call.tensor(0)?).dtype {
        DType::Bool => Err(Rejection::BoolNegation.into()),
        _ => Ok(()),
    }
}

/// Brings `out` to the shape of the input, whose dtype it has to have.
fn prepare_soft_margin(machine: &mut Machine, call: &Call, out: TensorId) -> Result<()> {
    let inputs = operands(machine, call, 1)?;
    iterator::check_overlap(machine.tensor(out), &inputs)?;
    let (found, expected) = (machine.tensor(out).dtype, inputs[0].dtype());
    if found != expected {
        return Err(Rejection::FoundDtype { found, expected }.into());
    }
    write::resize_output(machine, out, iterator::result_layout(&inputs, &inputs[0].shape()), 1)
}

/// A function of the elements of a tensor, in place.
fn update(machine: &mut Machine, function: &'static Function, id: TensorId) -> Result<()> {
    let tensor = machine.tensor(id).clone();
    let inputs = [Input::Tensor(tensor.clone())];
    iterator::check_overlap(&tensor, &inputs)?;
    iterator::check_cast(function.dtype(&inputs), tensor.dtype)?;
    let values = function.compute(machine, &inputs, &[], tensor.shape())?;
    machine.write(&tensor, &values);
    Ok(())
}

/// Reduces a loss; in an `out` that it was computed in, which loses its dimensions for it.
fn settle(machine: &mut Machine, call: &Call, loss: TensorId, reduction: Reduction) -> Result<TensorId> {
    let reduced = Composition { machine, op: call.op }.reduced(loss, reduction)?;
    if reduction == Reduction::None || call.form != Form::Out {
        return Ok(reduced);
    }
    let values = machine.tensor(reduced).clone();
    shrink(machine, loss);
    write::copy(machine, loss, &values);
    Ok(loss)
}

/// `binary_cross_entropy_with_logits`: computed in `1 - target`, whose shape and dtype the other operands cannot change.
pub(super) fn binary_cross_entropy_with_logits(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (input, target) = (call.tensor(0)?, call.tensor(1)?);
    let (weight, positive) = (call.optional_tensor(2)?, call.optional_tensor(3)?);
    let reduction = Reduction::of(call)?;
    let complex = |id: TensorId| machine.tensor(id).dtype.category() == Category::Complex;
    if !complex(input) && [Some(target), weight, positive].into_iter().flatten().any(complex) {
        return Err(Stop::Unsupported(format!("{} with complex numbers", call.op)));
    }
    not_differentiable(machine, call, 2, "weight")?;
    not_differentiable(machine, call, 3, "pos_weight")?;
    let mut loss = Composition { machine, op: call.op };
    let (logits, wanted) = (loss.detached(input), loss.detached(target));
    let likelihood = loss.function(&LOG_SIGMOID, &[logits], &[])?;
    if let Some(positive) = positive {
        let positive = loss.detached(positive);
        let more = loss.combine(Op::Sub, positive, 1i64)?;
        let weight = loss.combine(Op::Mul, more, wanted)?;
        loss.update(Op::Add, weight, 1i64)?;
        loss.update(Op::Mul, likelihood, weight)?;
    }
    let result = loss.less(1.0, wanted)?;
    loss.update(Op::Mul, result, logits)?;
    loss.update(Op::Sub, result, likelihood)?;
    if let Some(weight) = weight {
        let weight = loss.detached(weight);
        loss.update(Op::Mul, result, weight)?;
    }
    let result = loss.reduced(result, reduction)?;
    let operands = [Some(input), Some(target), weight, positive];
    record(loss.machine, call, result, &operands, vec![reduction.share()], logits_backward);
    Ok(Slot::Tensor(result))
}

/// `cosine_embedding_loss`: what the cosine of two vectors lacks to 1, or has beyond `margin`, as the target says.
pub(super) fn cosine_embedding_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (first, second, target) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let (margin, reduction) = (real(call, 3)?, Reduction::of(call)?);
    let rank = machine.tensor(target).shape().rank();
    if rank > 1 {
        return Err(Rejection::CosineTargetRank.into());
    }
    let sizes = [first, second].map(|id| machine.tensor(id).shape().sizes().to_vec());
    if sizes.iter().any(|sizes| sizes.len() != rank + 1) {
        let [first, second] = sizes;
        return Err(Rejection::CosineInputRank { target: rank, first, second }.into());
    }
    let mut loss = Composition { machine, op: call.op };
    let product = |loss: &mut Composition, a, b| {
        let product = loss.combine(Op::Mul, a, b)?;
        loss.step(Op::Sum, Form::Functional, &[product.into(), Term::Other(Arg::Ints(vec![rank as i64]))])
    };
    let together = product(&mut loss, first, second)?;
    let apart = [product(&mut loss, first, first)?, product(&mut loss, second, second)?];
    // A constant of type float.
    let tiny = f64::from(1e-12f32);
    let squares = [loss.combine(Op::Add, apart[0], tiny)?, loss.combine(Op::Add, apart[1], tiny)?];
    let square = loss.combine(Op::Mul, squares[0], squares[1])?;
    let length = loss.function(&ROOT, &[square], &[])?;
    let cosine = loss.combine(Op::Div, together, length)?;
    let zeros = loss.zeros_like(cosine);
    let alike = loss.less(1.0, cosine)?;
    let unlike = loss.combine(Op::Sub, cosine, margin)?;
    let unlike = loss.not_below_zero(unlike)?;
    let is_alike = loss.combine(Op::Eq, target, 1i64)?;
    let alike = loss.choose(is_alike, alike, zeros)?;
    let is_unlike = loss.combine(Op::Eq, target, -1i64)?;
    let unlike = loss.choose(is_unlike, unlike, zeros)?;
    let sum = loss.combine(Op::Add, alike, unlike)?;
    loss.reduced(sum, reduction).map(Slot::Tensor)
}

impl Reduction {
    /// The number that is kept of it for gradients: 1 for a mean, of which each element has its share.
    fn share(self) -> f64 {
        f64::from(u8::from(self == Reduction::Mean))
    }
}

/// The first `count` arguments, which are tensors.
fn operands(machine: &Machine, call: &Call, count: usize) -> Result<Vec<Input>> {
    (0..count).map(|at| Ok(Input::Tensor(machine.tensor(call.tensor(at)?).clone()))).collect()
}

/// Refuses an operand that requires grad where libtorch has no derivative (`check_no_requires_grad`).
fn not_differentiable(machine: &Machine, call: &Call, at: usize, argument: &'static str) -> Result<()> {
    match call.optional_tensor(at)? {
        Some(id) if machine.tensor(id).node.is_some() => {
            Err(Rejection::FixedArgument { name: call.op.name(), argument }.into())
        }
        _ => Ok(()),
    }
}

/// Notes the gradient of a result that no `out` was given for.
fn record(
    machine: &mut Machine,
    call: &Call,
    result: TensorId,
    operands: &[Option<TensorId>],
    numbers: Vec<f64>,
    backward: Backward,
) {
    if call.form == Form::Functional {
        machine.tensor_mut(result).node = None;
        autograd::record_own(machine, call.op, result, operands, numbers, backward);
    }
}

/// A loss of two operands whose result libtorch prepares as that of any elementwise operation, for a target of the
/// broadcast shape, and only then finds to have no dimensions (`TORCH_META_FUNC(mse_loss)`).
fn structured(
    machine: &mut Machine,
    call: &Call,
    function: &'static Function,
    parameters: Vec<f64>,
    gradient: Backward,
) -> Result<Slot> {
    let reduction = Reduction::of(call)?;
    let inputs = operands(machine, call, 2)?;
    if let Some(target) = call.target()?
        && machine.tensor(target).dtype.category() == Category::Complex
    {
        return Err(Stop::Unsupported("a loss in a complex tensor".to_owned()));
    }
    let plan = Plan::new(machine, call, &inputs)?;
    // Its iterator is no structured kernel's, and resizes a target of another dtype once there is a result.
    let common = function.dtype(&inputs);
    let converts = |target: &TensorId| machine.tensor(*target).dtype != common;
    if let (Op::HuberLoss, Some(target)) = (call.op, plan.target.filter(converts))
        && let Err(stop) = check_kernel(call.op, common)
    {
        write::warn_of_resize(machine, target, &plan.shape, 1)?;
        return Err(stop);
    }
    plan.prepare(machine, call)?;
    if let (Some(target), true) = (plan.target, reduction != Reduction::None) {
        shrink(machine, target);
    }
    // An operand that is the target has lost its dimensions, too.
    let (inputs, common, shape) = match reduction {
        Reduction::None => (inputs, plan.common, plan.shape.clone()),
        _ => {
            let inputs = operands(machine, call, 2)?;
            let (common, shape) = (function.dtype(&inputs), iterator::broadcast(&inputs)?);
            (inputs, common, shape)
        }
    };
    check_kernel(call.op, common)?;
    let values = function.compute(machine, &inputs, &parameters, &shape)?;
    let result = match reduction {
        Reduction::None => plan.deliver(machine, values),
        _ => {
            let loss = write::create(machine, Layout::contiguous(shape), values);
            reduced_into(machine, call, plan.target, loss, reduction)?
        }
    };
    let numbers = std::iter::once(reduction.share()).chain(parameters).collect();
    let operands = [Some(call.tensor(0)?), Some(call.tensor(1)?)];
    record(machine, call, result, &operands, numbers, gradient);
    Ok(Slot::Tensor(result))
}

/// Reduces a loss that is not in the tensor that it is for; a sum is taken in the dtype of that.
fn reduced_into(
    machine: &mut Machine,
    call: &Call,
    target: Option<TensorId>,
    loss: Tensor,
    reduction: Reduction,
) -> Result<TensorId> {
    let dtype = target.map_or(loss.dtype, |target| machine.tensor(target).dtype);
    let loss = if dtype == loss.dtype { loss } else { machine.converted(&loss, dtype) };
    let loss = machine.add(loss);
    let reduced = Composition { machine, op: call.op }.reduced(loss, reduction)?;
    let Some(target) = target else { return Ok(reduced) };
    let values = machine.tensor(reduced).clone();
    write::copy(machine, target, &values);
    Ok(target)
}

/// A function into a tensor that is there, by a `TensorIterator` that knows it as its output.
fn write_into(
    machine: &mut Machine,
    call: &Call,
    function: &'static Function,
    inputs: &[Input],
    parameters: &[f64],
    target: TensorId,
) -> Result<()> {
    let output = machine.tensor(target).clone();
    iterator::check_overlap(&output, inputs)?;
    let shape = iterator::broadcast(inputs)?;
    let read = (0..inputs.len()).any(|at| call.tensor(at).is_ok_and(|id| id == target));
    if read {
        iterator::check_shape(output.shape(), &shape)?;
    }
    let common = function.dtype(inputs);
    iterator::check_cast(common, output.dtype)?;
    write::resize_output(machine, target, iterator::result_layout(inputs, &shape), 1)?;
    check_kernel(call.op, common)?;
    let values = function.compute(machine, inputs, parameters, &shape)?;
    let output = machine.tensor(target).clone();
    machine.write(&output, &values);
    Ok(())
}

/// A tensor with the shape, the dtype and, if it is dense, the strides of another (`empty_like`).
fn empty_like(machine: &mut Machine, like: TensorId) -> TensorId {
    let tensor = machine.tensor(like);
    let (layout, zeros) = (iterator::dense(&tensor.layout), Buffer::zeros(tensor.dtype, tensor.shape().numel()));
    write::deliver_in(machine, None, layout, zeros)
}

/// Takes the dimensions of a tensor away (`resize_({})`), which warns of nothing.
fn shrink(machine: &mut Machine, target: TensorId) {
    machine.replace(target, Layout::contiguous(Shape::scalar()));
}

static SQUARE: Function = Function::of_floats("mse_cpu", |row, r| {
    let difference = r.to(row[0] - row[1]);
    r.to(difference * difference)
});

/// bfloat16 is widened for it, float16 is not.
static SMOOTH: Function = Function {
    steps: |dtype| if dtype == DType::Bfloat16 { DType::Float32 } else { dtype },
    ..Function::of_floats("smooth_l1_cpu", |row, r| {
        let (size, beta) = (r.to(row[0] - row[1]).abs(), r.to(row[2]));
        if size < beta { r.to(r.to(r.to(0.5 * size) * size) / beta) } else { r.to(size - r.to(0.5 * beta)) }
    })
};

/// float16 is widened for it, bfloat16 is not.
static HUBER: Function = Function {
    steps: |dtype| if dtype == DType::Float16 { DType::Float32 } else { dtype },
    ..Function::of_floats("huber_cpu", |row, r| {
        let (size, delta) = (r.to(row[0] - row[1]).abs(), r.to(row[2]));
        if size < delta { r.to(r.to(0.5 * size) * size) } else { r.to(delta * r.to(size - r.to(0.5 * delta))) }
    })
};

static EXPONENTIAL: Function = Function {
    promotes: true,
    partials: |row| vec![row[0] * row[1].exp()],
    ..Function::of_floats("exp", |row, _| row[0].exp())
};

static LOGARITHM: Function = Function {
    promotes: true,
    partials: |row| vec![row[0] / row[1]],
    ..Function::of_floats("log", |row, _| row[0].ln())
};

static LOGARITHM_OF_MORE: Function =
    Function { promotes: true, ..Function::of_floats("log1p", |row, _| row[0].ln_1p()) };

static ROOT: Function = Function {
    promotes: true,
    partials: |row| vec![row[0] / (2.0 * row[1].sqrt())],
    ..Function::of_floats("sqrt", |row, _| row[0].sqrt())
};

/// `xlogy`.
static TIMES_LOGARITHM: Function = Function {
    promotes: true,
    partials: |row| {
        let [gradient, x, y] = [row[0], row[1], row[2]];
        vec![if x == 0.0 && y <= 0.0 { 0.0 } else { gradient * y.ln() }, gradient * x / y]
    },
    ..Function::of_floats("xlogy_cpu", |row, r| match (row[0], row[1]) {
        (_, y) if y.is_nan() => f64::NAN,
        (0.0, _) => 0.0,
        (x, y) => r.to(x * r.to(y.ln())),
    })
};
