//! The gradients of losses as operations: the upstream gradient, the input and the target broadcast. A mean has the share
//! of the input's own elements, whatever these broadcast to.

use super::super::composition::{Composition, EXPONENTIAL};
use super::super::dispatch;
use super::super::number::with_float_type;
use super::*;

/// The gradient of a loss at one element: of the upstream gradient, the input and the target, the share of the element, and
/// a parameter.
trait Slope {
    fn apply<T: math::Real>(operands: &[T], share: T, parameter: f64) -> T;

    /// The same of integers, which wrap around.
    fn of_integers(_operands: [i64; 3], _share: i64, _parameter: f64) -> i64 {
        unreachable!("integers are refused")
    }
}

/// `mse_loss_backward`.
pub(crate) fn mse_loss_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    struct Square;
    impl Slope for Square {
        fn apply<T: math::Real>(operands: &[T], share: T, _: f64) -> T {
            share * (operands[1] - operands[2]) * operands[0]
        }

        fn of_integers([gradient, input, target]: [i64; 3], share: i64, _: f64) -> i64 {
            share.wrapping_mul(input.wrapping_sub(target)).wrapping_mul(gradient)
        }
    }
    slope_at::<Square>(machine, call, Casting::Promoted, 2.0, 0.0)
}

/// `smooth_l1_loss_backward`, whose 16 bits are widened.
pub(crate) fn smooth_l1_loss_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    struct Smooth;
    impl Slope for Smooth {
        // A `beta` below the numbers of the type is not rounded to zero.
        fn apply<T: math::Real>(operands: &[T], share: T, beta: f64) -> T {
            let (gradient, difference) = (operands[0], operands[1] - operands[2]);
            if difference.wide() <= -beta {
                -share * gradient
            } else if difference.wide() >= beta {
                share * gradient
            } else {
                T::nearest((share * difference * gradient).wide() / beta)
            }
        }

        fn of_integers([gradient, input, target]: [i64; 3], share: i64, beta: f64) -> i64 {
            let difference = input.wrapping_sub(target);
            if difference as f64 <= -beta {
                share.wrapping_neg().wrapping_mul(gradient)
            } else if difference as f64 >= beta {
                share.wrapping_mul(gradient)
            } else {
                (share.wrapping_mul(difference).wrapping_mul(gradient) as f64 / beta) as i64
            }
        }
    }
    let beta = f64::from_scalar(call.number(4)?);
    slope_at::<Smooth>(machine, call, Casting::Promoted, 1.0, beta)
}

/// `huber_loss_backward`, which promotes nothing.
pub(crate) fn huber_loss_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    struct Huber;
    impl Slope for Huber {
        fn apply<T: math::Real>(operands: &[T], share: T, delta: f64) -> T {
            let (gradient, difference, delta) = (operands[0], operands[1] - operands[2], T::nearest(delta));
            if difference <= -delta {
                -share * gradient * delta
            } else if difference >= delta {
                share * gradient * delta
            } else {
                share * difference * gradient
            }
        }
    }
    let delta = f64::from_scalar(call.number(4)?);
    slope_at::<Huber>(machine, call, Casting::Exact, 1.0, delta)
}

/// The gradient of a loss with a loop of its own, in a tensor like the input, or in one that is given.
fn slope_at<S: Slope>(
    machine: &mut Machine,
    call: &Call,
    casting: Casting,
    factor: f64,
    parameter: f64,
) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    let share = Scalar::Float(factor * share_of_element(machine, call)?);
    let target = match call.target()? {
        Some(target) => target,
        None => {
            let blank = machine.blank(inputs[1].dtype(), Layout::contiguous(inputs[1].shape()));
            machine.add(blank)
        }
    };
    let plan = plan_into(machine, call, &inputs, target, casting, Some(share))?;
    let values = machine.try_eval(plan.common, || {
        let operands = Operands::new(call.op, inputs.clone(), plan.shape.clone(), share);
        Ok::<_, Stop>(match plan.common.category() {
            Category::Integral => {
                let columns = machine.columns::<i64>(&inputs, &plan.shape)?;
                let share = i64::from_scalar(share);
                let value = |at: usize| {
                    Scalar::Int(S::of_integers([columns[0][at], columns[1][at], columns[2][at]], share, parameter))
                };
                Buffer::from_scalars(plan.common, (0..plan.shape.numel()).map(value))
            }
            _ if call.op == Op::SmoothL1LossBackward => with_float_type!(plan.common, T => {
                let results = operands.each::<T, _>(machine, |row, share| S::apply(row, share, parameter));
                elementwise::buffer_of::<T>(results)
            }),
            _ => with_float_type!(plan.common, T => {
                T::wrap(operands.each_stored::<T, _>(machine, |row, share| S::apply(row, share, parameter)))
            }),
        })
    })?;
    Ok(deliver(machine, call, plan, values, &inputs, Scalar::Int(1)))
}

/// The share of one element of the input in the loss.
fn share_of_element(machine: &Machine, call: &Call) -> Result<f64> {
    let count = machine.tensor(call.tensor(1)?).shape().numel();
    Ok(if call.text(3)? == "mean" { 1.0 / count as f64 } else { 1.0 })
}

/// `soft_margin_loss_backward`: steps that write to the result in place, the first of which gives it its shape. Its dtype is
/// that of the input.
pub(crate) fn soft_margin_loss_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    if inputs[2].node().is_some() {
        return Err(Rejection::FixedArgument { name: call.op.name(), argument: "target" }.into());
    }
    let share = share_of_element(machine, call)?;
    let mut loss = Composition { machine, op: call.op };
    let [gradient, input, wanted] = [0, 1, 2].map(|at| call.tensor(at).map(|id| loss.detached(id)));
    let (gradient, input, wanted) = (gradient?, input?, wanted?);
    let opposite = loss.negative(wanted)?;
    let product = loss.combine(Op::Mul, opposite, input)?;
    let power = loss.function(&EXPONENTIAL, product)?;
    let target = match call.target()? {
        Some(target) => target,
        None => {
            let empty = Shape::new(vec![0]).expect("a size that is not negative");
            let empty = loss.machine.blank(inputs[1].dtype(), Layout::contiguous(empty));
            loss.machine.add(empty)
        }
    };
    let args = [Operand::Tensor(wanted), Operand::Tensor(power)];
    dispatch::run(loss.machine, &Call { op: Op::Mul, form: Form::Out, args: &args, out: Some(target) })?;
    loss.update(Op::Mul, target, -share)?;
    loss.update(Op::Add, power, 1i64)?;
    loss.update(Op::Div, target, power)?;
    loss.update(Op::Mul, target, gradient)?;
    if call.form == Form::Functional {
        let saved = autograd::save(machine, call, inputs, false);
        autograd::record_elementwise(machine, call, call.op, target, saved, Scalar::Int(1));
    }
    Ok(Slot::Tensor(target))
}

/// `native_dropout_backward`: the product of the upstream gradient, the mask and the scale, one after the other.
pub(crate) fn native_dropout_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    let scale = f64::from_scalar(call.number(2)?);
    let mut steps = Composition { machine, op: call.op };
    let [gradient, mask] = [0, 1].map(|at| call.tensor(at).map(|id| steps.detached(id)));
    let product = steps.combine(Op::Mul, gradient?, mask?)?;
    let result = steps.combine(Op::Mul, product, scale)?;
    let flows = inputs.iter().any(|input| input.node().is_some());
    if flows && machine.tensor(result).dtype.category() == Category::Complex {
        return Err(Rejection::ComplexAutograd { name: call.op.name() }.into());
    }
    let saved = autograd::save(machine, call, inputs, false);
    autograd::record_elementwise(machine, call, call.op, result, saved, Scalar::Int(1));
    Ok(Slot::Tensor(result))
}
