//! Losses: a formula element by element on operands that broadcast, then perhaps a reduction.
//!
//! Those with a kernel of their own in libtorch (`mse_loss`, `smooth_l1_loss`, `huber_loss`) have a loop here; the
//! others are composed of other operations, as they are in libtorch (ATen/native/Loss.cpp).

use crate::error::Rejection;
use crate::ops::{Form, Op, ResultType};
use crate::program::Arg;
use crate::tensor::{Category, DType, Layout, Scalar, Shape};

use super::composition::{Composition, EXPONENTIAL, Function, LOG_SIGMOID, NO_SLOPE, Reduction, Term, in_double, real};
pub(super) use super::cross_entropy::{binary_cross_entropy, binary_cross_entropy_backward};
use super::elementwise::{Casting, Elementwise, Facts, Plan, check_kernel, elementwise_kernel};
pub(super) use super::functions::{
    huber_loss_backward, mse_loss_backward, smooth_l1_loss_backward, soft_margin_loss_backward,
};
use super::iterator::{self, Input};
use super::loss_gradient::{huber_backward, logits_backward, mse_backward, smooth_backward, soft_margin_backward};
use super::machine::{Backward, Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::{autograd, math, write};

/// `mse_loss`: the square of the difference.
pub(super) fn mse_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let kernel = |_| {
        elementwise_kernel!(stepwise (a, b) {
            let difference = a - b;
            difference * difference
        })
    };
    structured(machine, call, kernel, None, mse_backward)
}

/// `smooth_l1_loss`: the square of the difference up to `beta`, and its size beyond.
pub(super) fn smooth_l1_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let beta = infer_smooth(machine, call)?;
    // bfloat16 is widened for it, float16 is not.
    let kernel = |dtype| match dtype {
        DType::Bfloat16 => elementwise_kernel!(float (a, b; beta) smooth(a - b, beta)),
        _ => elementwise_kernel!(stepwise (a, b; beta) smooth(a - b, beta)),
    };
    structured(machine, call, kernel, Some(beta), smooth_backward)
}

/// The bound, which is refused after what autograd refuses.
fn infer_smooth(machine: &Machine, call: &Call) -> Result<f64> {
    let beta = real(call, 3)?;
    autograd::check_target(machine, call, &operands(machine, call, 2)?)?;
    if beta.is_nan() || beta < 0.0 { Err(Rejection::SmoothL1Beta.into()) } else { Ok(beta) }
}

/// `huber_loss`: half the square of the difference up to `delta`, and in proportion to its size beyond. What it is
/// computed in has the shape and the dtype of the input before it is broadcast (`empty_like`), and is resized with the
/// warning that is meant for a tensor given by `out`.
pub(super) fn huber_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (reduction, inputs) = (Reduction::of(call)?, operands(machine, call, 2)?);
    let delta = infer_huber(machine, call, &inputs)?;
    let target = match call.target()? {
        Some(target) => target,
        None => write::empty_like(machine, call.tensor(0)?),
    };
    let facts = Facts::of(call.op);
    let plan = Plan::into(machine, call, &inputs, facts.dtypes(&inputs), Casting::Promoted, Some(target))?;
    plan.prepare_checked(machine, facts.check_kernel(plan.common))?;
    // float16 is widened for it, bfloat16 is not.
    let kernel = match plan.common {
        DType::Float16 => elementwise_kernel!(float (a, b; delta) huber(a - b, delta)),
        _ => elementwise_kernel!(stepwise (a, b; delta) huber(a - b, delta)),
    };
    let values =
        kernel.evaluate(machine, call.op, &inputs, Scalar::Float(delta), (&plan.shape, plan.common, plan.common))?;
    plan.deliver(machine, values);
    let result = settle(machine, call, target, reduction)?;
    let operands = [Some(call.tensor(0)?), Some(call.tensor(1)?)];
    record(machine, call, result, &operands, vec![reduction.share(), delta], huber_backward);
    Ok(Slot::Tensor(result))
}

/// The same.
fn infer_huber(machine: &Machine, call: &Call, inputs: &[Input]) -> Result<f64> {
    let delta = real(call, 3)?;
    autograd::check_target(machine, call, inputs)?;
    if delta.is_nan() || delta <= 0.0 { Err(Rejection::HuberDelta.into()) } else { Ok(delta) }
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
    loss.update(Op::ClampMin, lacking, 0i64)?;
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
    loss.update(Op::ClampMin, moved, 0i64)?;
    loss.reduced(moved, reduction).map(Slot::Tensor)
}

/// `kl_div`: the target times the difference of its logarithm and the input.
pub(super) fn kl_div(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (input, target, reduction) = (call.tensor(0)?, call.tensor(1)?, Reduction::of(call)?);
    infer_divergence([input, target].map(|id| machine.tensor(id).dtype.category()))?;
    let mut loss = Composition { machine, op: call.op };
    let divergence = if call.flag(3)? {
        let difference = loss.combine(Op::Sub, target, input)?;
        let weight = loss.function(&EXPONENTIAL, target)?;
        loss.combine(Op::Mul, weight, difference)?
    } else {
        let crossed = loss.combine(Op::Mul, target, input)?;
        let entropy = loss.combine(Op::Xlogy, target, target)?;
        loss.combine(Op::Sub, entropy, crossed)?
    };
    loss.reduced(divergence, reduction).map(Slot::Tensor)
}

/// The order of faults: complex numbers, then integers, in either operand.
fn infer_divergence(categories: [Category; 2]) -> Result<()> {
    if categories.contains(&Category::Complex) {
        return Err(Rejection::KlDivComplex.into());
    }
    match categories.iter().any(|category| *category < Category::Floating) {
        true => Err(Rejection::KlDivIntegral.into()),
        false => Ok(()),
    }
}

/// `poisson_nll_loss`: the unlikelihood of a count, with or without Stirling's term for its factorial.
pub(super) fn poisson_nll_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (input, target, reduction) = (call.tensor(0)?, call.tensor(1)?, Reduction::of(call)?);
    let (log_input, full, eps) = (call.flag(2)?, call.flag(3)?, real(call, 4)?);
    let mut loss = Composition { machine, op: call.op };
    let mut result = if log_input {
        let product = loss.combine(Op::Mul, target, input)?;
        let rate = loss.function(&EXPONENTIAL, input)?;
        loss.combine(Op::Sub, rate, product)?
    } else {
        let moved = loss.combine(Op::Add, input, eps)?;
        let logarithm = loss.function(&LOGARITHM, moved)?;
        let product = loss.combine(Op::Mul, target, logarithm)?;
        loss.combine(Op::Sub, input, product)?
    };
    if full {
        let logarithm = loss.function(&LOGARITHM, target)?;
        let product = loss.combine(Op::Mul, target, logarithm)?;
        let difference = loss.combine(Op::Sub, product, target)?;
        let circle = loss.combine(Op::Mul, target, 2.0 * std::f64::consts::PI)?;
        let circle = loss.function(&LOGARITHM, circle)?;
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
        loss.overwrite(step, result)?;
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

/// Reduces a loss; in an `out` that it was computed in, which loses its dimensions for it.
fn settle(machine: &mut Machine, call: &Call, loss: TensorId, reduction: Reduction) -> Result<TensorId> {
    let reduced = Composition { machine, op: call.op }.reduced(loss, reduction)?;
    if reduction == Reduction::None || call.form != Form::Out {
        return Ok(reduced);
    }
    let values = machine.tensor(reduced).clone();
    shrink(machine, loss)?;
    write::copy(machine, loss, &values);
    Ok(loss)
}

/// `binary_cross_entropy_with_logits`: computed in `1 - target`, whose shape and dtype the other operands cannot change.
pub(super) fn binary_cross_entropy_with_logits(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (input, target) = (call.tensor(0)?, call.tensor(1)?);
    let (weight, positive) = (call.optional_tensor(2)?, call.optional_tensor(3)?);
    let reduction = Reduction::of(call)?;
    infer_logits(machine, call)?;
    let mut loss = Composition { machine, op: call.op };
    let (logits, wanted) = (loss.detached(input), loss.detached(target));
    let likelihood = loss.function(&LOG_SIGMOID, logits)?;
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

/// The order of faults: a weight that requires grad, then such a positive weight.
fn infer_logits(machine: &Machine, call: &Call) -> Result<()> {
    let complex = |id: TensorId| machine.tensor(id).dtype.category() == Category::Complex;
    let others = [Some(call.tensor(1)?), call.optional_tensor(2)?, call.optional_tensor(3)?];
    if !complex(call.tensor(0)?) && others.into_iter().flatten().any(complex) {
        return Err(Stop::Unsupported(format!("{} with complex numbers", call.op)));
    }
    not_differentiable(machine, call, 2, "weight")?;
    not_differentiable(machine, call, 3, "pos_weight")
}

/// `cosine_embedding_loss`: what the cosine of two vectors lacks to 1, or has beyond `margin`, as the target says.
pub(super) fn cosine_embedding_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (first, second, target) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let (margin, reduction) = (real(call, 3)?, Reduction::of(call)?);
    let dim = infer_cosine(machine, [first, second], target)?;
    let mut loss = Composition { machine, op: call.op };
    let product = |loss: &mut Composition, a, b| {
        let product = loss.combine(Op::Mul, a, b)?;
        loss.step(Op::Sum, Form::Functional, &[product.into(), Term::Other(Arg::Ints(vec![dim]))])
    };
    let together = product(&mut loss, first, second)?;
    let apart = [product(&mut loss, first, first)?, product(&mut loss, second, second)?];
    // A constant of type float.
    let tiny = f64::from(1e-12f32);
    let squares = [loss.combine(Op::Add, apart[0], tiny)?, loss.combine(Op::Add, apart[1], tiny)?];
    let square = loss.combine(Op::Mul, squares[0], squares[1])?;
    let length = loss.function(&ROOT, square)?;
    let cosine = loss.combine(Op::Div, together, length)?;
    let zeros = loss.zeros_like(cosine);
    let alike = loss.less(1.0, cosine)?;
    let unlike = loss.combine(Op::Sub, cosine, margin)?;
    let unlike = loss.combine(Op::ClampMin, unlike, 0i64)?;
    let is_alike = loss.combine(Op::Eq, target, 1i64)?;
    let alike = loss.choose(is_alike, alike, zeros)?;
    let is_unlike = loss.combine(Op::Eq, target, -1i64)?;
    let unlike = loss.choose(is_unlike, unlike, zeros)?;
    let sum = loss.combine(Op::Add, alike, unlike)?;
    loss.reduced(sum, reduction).map(Slot::Tensor)
}

/// The dimension of the vectors, which is the last. The order of faults: the rank of the target, those of the inputs.
fn infer_cosine(machine: &Machine, inputs: [TensorId; 2], target: TensorId) -> Result<i64> {
    let rank = machine.tensor(target).shape().rank();
    if rank > 1 {
        return Err(Rejection::CosineTargetRank.into());
    }
    let sizes = inputs.map(|id| machine.tensor(id).shape().sizes().to_vec());
    if sizes.iter().any(|sizes| sizes.len() != rank + 1) {
        let [first, second] = sizes;
        return Err(Rejection::CosineInputRank { target: rank, first, second }.into());
    }
    Ok(rank as i64)
}

impl Reduction {
    /// The number that is kept of it for gradients: 1 for a mean, of which each element has its share.
    fn share(self) -> f64 {
        f64::from(u8::from(self == Reduction::Mean))
    }
}

/// The first `count` arguments, which are tensors.
pub(super) fn operands(machine: &Machine, call: &Call, count: usize) -> Result<Vec<Input>> {
    (0..count).map(|at| Ok(Input::Tensor(machine.tensor(call.tensor(at)?).clone()))).collect()
}

/// Refuses an operand that requires grad where libtorch has no derivative (`check_no_requires_grad`).
pub(super) fn not_differentiable(machine: &Machine, call: &Call, at: usize, argument: &'static str) -> Result<()> {
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

/// A loss of two operands, whose loop depends on the dtype.
fn structured(
    machine: &mut Machine,
    call: &Call,
    kernel: impl Fn(DType) -> Elementwise,
    parameter: Option<f64>,
    gradient: Backward,
) -> Result<Slot> {
    let reduction = Reduction::of(call)?;
    let plan = prepare_structured(machine, call, reduction)?;
    // An operand that is the target has lost its dimensions, too.
    let inputs = operands(machine, call, 2)?;
    let (common, shape) = (iterator::result_type(&inputs), iterator::broadcast(&inputs)?);
    check_kernel(call.op, common)?;
    let factor = Scalar::Float(parameter.unwrap_or(1.0));
    let values = kernel(common).evaluate(machine, call.op, &inputs, factor, (&shape, common, common))?;
    let result = match reduction {
        Reduction::None => plan.deliver(machine, values),
        _ => {
            let loss = write::create(machine, Layout::contiguous(shape), values);
            reduced_into(machine, call, plan.target, loss, reduction)?
        }
    };
    let numbers = std::iter::once(reduction.share()).chain(parameter).collect();
    let operands = [Some(call.tensor(0)?), Some(call.tensor(1)?)];
    record(machine, call, result, &operands, numbers, gradient);
    Ok(Slot::Tensor(result))
}

/// libtorch first gives the target the broadcast shape, as any elementwise operation does; a reduction then takes its
/// dimensions away (`TORCH_META_FUNC(mse_loss)`).
fn prepare_structured(machine: &mut Machine, call: &Call, reduction: Reduction) -> Result<Plan> {
    let target = call.target()?;
    if target.is_some_and(|target| machine.tensor(target).dtype.category() == Category::Complex) {
        return Err(Stop::Unsupported("a loss in a complex tensor".to_owned()));
    }
    let plan = Plan::new(machine, call, &operands(machine, call, 2)?)?;
    plan.prepare(machine, call)?;
    if let Some(target) = target.filter(|_| reduction != Reduction::None) {
        shrink(machine, target)?;
    }
    Ok(plan)
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

/// Takes the dimensions of a tensor away (`resize_({})`), which warns of nothing.
fn shrink(machine: &mut Machine, target: TensorId) -> Result<()> {
    let number = Shape::scalar();
    if machine.is_large_resized(target, &number) {
        return Err(iterator::too_large(usize::MAX));
    }
    machine.replace(target, Layout::contiguous(number));
    Ok(())
}

/// The square of a difference up to `beta`, divided by it, and its size beyond.
fn smooth<T: math::Real>(difference: T, beta: T) -> T {
    let (size, half) = (difference.abs(), math::number::<T>(0.5));
    if size < beta { half * size * size / beta } else { size - half * beta }
}

/// Half the square of a difference up to `delta`, and in proportion to its size beyond.
fn huber<T: math::Real>(difference: T, delta: T) -> T {
    let (size, half) = (difference.abs(), math::number::<T>(0.5));
    if size < delta { half * size * size } else { delta * (size - half * delta) }
}

static LOGARITHM: Function = Function::of_floats(
    "log",
    ResultType::Float,
    elementwise_kernel!(float (x) in_double(x, f64::ln)),
    |[gradient, x]| gradient / x,
);

static LOGARITHM_OF_MORE: Function =
    Function::of_floats("log1p", ResultType::Float, elementwise_kernel!(float (x) in_double(x, f64::ln_1p)), NO_SLOPE);

static ROOT: Function = Function::of_floats(
    "sqrt",
    ResultType::Float,
    elementwise_kernel!(float (x) in_double(x, f64::sqrt)),
    |[gradient, x]| gradient / (2.0 * x.sqrt()),
);
