//! The gradients of activations whose formulas have several numbers, or rules of their own on dtypes.
//!
//! Each formula is the sequence of operations of libtorch's loop over elements; float16 and bfloat16 are widened for it.

use num_complex::{Complex, Complex32, Complex64};

use super::super::composition::in_double;
use super::super::math::Real;
use super::super::number::with_float_type;
use super::*;

/// The gradient of an activation at one element: of the upstream gradient, the operands, and numbers.
trait Formula {
    fn apply<T: Real>(operands: &[T], numbers: &[T], flag: bool) -> T;
}

/// `hardtanh_backward`: the upstream gradient between the bounds. NaN is not outside of them.
pub(crate) fn hardtanh_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    struct Hardtanh;
    impl Formula for Hardtanh {
        fn apply<T: Real>(operands: &[T], numbers: &[T], _: bool) -> T {
            if operands[1] <= numbers[0] || operands[1] >= numbers[1] { T::zero() } else { operands[0] }
        }
    }
    structured::<Hardtanh>(machine, call)
}

/// `softplus_backward`: a sigmoid up to the threshold, and the upstream gradient beyond it.
pub(crate) fn softplus_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    struct Softplus;
    impl Formula for Softplus {
        fn apply<T: Real>(operands: &[T], numbers: &[T], _: bool) -> T {
            let (&[gradient, at], &[beta, threshold]) = (operands, numbers) else { unreachable!("two and two") };
            let grown = in_double(at * beta, f64::exp);
            if at * beta > threshold { gradient } else { gradient * grown / (grown + T::one()) }
        }
    }
    structured::<Softplus>(machine, call)
}

/// `elu_backward`, from the operand or from the result of `elu`.
pub(crate) fn elu_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    struct Elu;
    impl Formula for Elu {
        fn apply<T: Real>(operands: &[T], numbers: &[T], is_result: bool) -> T {
            let (&[gradient, at], &[alpha, scale, input_scale]) = (operands, numbers) else {
                unreachable!("two and three")
            };
            let negative = alpha * scale;
            if at > T::zero() {
                gradient * scale
            } else if is_result {
                gradient * input_scale * (at + negative)
            } else {
                gradient * input_scale * negative * in_double(at * input_scale, f64::exp)
            }
        }
    }
    autograd::check_target(machine, call, &elementwise::inputs(machine, call)?)?;
    let alpha = call.number(1)?;
    if call.flag(4)? {
        check_held(alpha, DType::Float64)?;
        if f64::from_scalar(alpha).is_nan() || f64::from_scalar(alpha) < 0.0 {
            return Err(Rejection::NegativeAlpha.into());
        }
    }
    structured::<Elu>(machine, call)
}

/// `logit_backward`: without `eps` NaN beyond 0 and 1, with it zero beyond the bounds that it makes. Its 16 bits round after
/// every operation.
pub(crate) fn logit_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    let plan = Plan::new(machine, call, &inputs)?;
    plan.prepare(machine, call)?;
    elementwise::check_kernel(call.op, plan.common)?;
    let eps = call.optional_number(2)?.unwrap_or(Scalar::Float(-1.0));
    check_held(eps, plan.common)?;
    let kernel = kernel!(stepwise(gradient, at; eps) => {
        let (zero, one) = (math::number::<T>(0.0), math::number::<T>(1.0));
        let (low, high) = if eps < zero { (zero, one) } else { (eps, one - eps) };
        if at < low || at > high {
            if eps < zero { T::nan() } else { zero }
        } else if at == zero || at == one {
            gradient * T::infinity()
        } else {
            gradient / (at * (one - at))
        }
    });
    finish_with(machine, call, plan, kernel, &inputs, &inputs, eps)
}

/// `silu_backward`, also of complex numbers.
pub(crate) fn silu_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    struct Silu;
    impl Formula for Silu {
        fn apply<T: Real>(operands: &[T], _: &[T], _: bool) -> T {
            let &[gradient, at] = operands else { unreachable!("two operands") };
            let sigmoid = sigmoid(at);
            gradient * sigmoid * (T::one() + at * (T::one() - sigmoid))
        }
    }
    let inputs = elementwise::inputs(machine, call)?;
    if iterator::result_type(&inputs).category() < Category::Complex {
        return structured::<Silu>(machine, call);
    }
    let plan = Plan::new(machine, call, &inputs)?;
    plan.prepare(machine, call)?;
    let values = machine.try_eval(plan.result, || {
        Ok::<_, Stop>(match plan.result {
            DType::Complex64 => {
                let columns = machine.columns::<Complex32>(&inputs, &plan.shape)?;
                Complex32::wrap(columns[0].iter().zip(&columns[1]).map(|(a, b)| complex_silu(*a, *b)).collect())
            }
            _ => {
                let columns = machine.columns::<Complex64>(&inputs, &plan.shape)?;
                Complex64::wrap(columns[0].iter().zip(&columns[1]).map(|(a, b)| complex_silu(*a, *b)).collect())
            }
        })
    })?;
    Ok(deliver(machine, call, plan, values, &inputs, Scalar::Int(1)))
}

/// `mish_backward`, whose result has the dtype of the operand, whatever the upstream gradient has.
pub(crate) fn mish_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    struct Mish;
    impl Formula for Mish {
        fn apply<T: Real>(operands: &[T], _: &[T], _: bool) -> T {
            let &[gradient, at] = operands else { unreachable!("two operands") };
            let curve = in_double(in_double(in_double(at, f64::exp), f64::ln_1p), f64::tanh);
            gradient * (curve + at * sigmoid(at) * (T::one() - curve * curve))
        }
    }
    let inputs = elementwise::inputs(machine, call)?;
    let empty = Shape::new(vec![0]).expect("a size that is not negative");
    let empty = machine.blank(inputs[1].dtype(), Layout::contiguous(empty));
    let target = machine.add(empty);
    resized::<Mish>(machine, call, inputs, target, Casting::Promoted)
}

/// `gelu_backward`, exact or by the approximation with a hyperbolic tangent.
pub(crate) fn gelu_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    struct Exact;
    impl Formula for Exact {
        fn apply<T: Real>(operands: &[T], _: &[T], _: bool) -> T {
            let &[gradient, at] = operands else { unreachable!("two operands") };
            let half = math::number::<T>(0.5);
            let share = half * (T::one() + math::error_function(at * T::FRAC_1_SQRT_2()));
            let density = in_double(at * at * -half, f64::exp) * T::FRAC_2_SQRT_PI() * T::FRAC_1_SQRT_2() * half;
            gradient * (share + at * density)
        }
    }
    struct Tangent;
    impl Formula for Tangent {
        fn apply<T: Real>(operands: &[T], _: &[T], _: bool) -> T {
            let &[gradient, at] = operands else { unreachable!("two operands") };
            let (half, cubic, three) = (math::number::<T>(0.5), math::number::<T>(0.044715), math::number::<T>(3.0));
            let beta = T::SQRT_2() * T::FRAC_2_SQRT_PI() * half;
            let curve = in_double(beta * (at + cubic * (at * at * at)), f64::tanh);
            let slope = beta * (T::one() + three * cubic * (at * at));
            let left = half * (T::one() + curve);
            let right = half * at * ((T::one() - curve * curve) * slope);
            gradient * (left + right)
        }
    }
    let inputs = elementwise::inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    let plan = Plan::new(machine, call, &inputs)?;
    plan.prepare(machine, call)?;
    // The approximation is looked at when the result is computed.
    let values = match call.text(2)? {
        "none" => {
            elementwise::check_kernel(call.op, plan.common)?;
            evaluate::<Exact>(machine, call, &plan, &inputs)?
        }
        "tanh" => {
            elementwise::check_kernel(call.op, plan.common)?;
            evaluate::<Tangent>(machine, call, &plan, &inputs)?
        }
        _ => return Err(Rejection::GeluApproximation.into()),
    };
    Ok(deliver(machine, call, plan, values, &inputs, Scalar::Int(1)))
}

/// `log_sigmoid_backward`, of the operand and of the exponential that `log_sigmoid` has kept. It promotes nothing, and is
/// computed in a tensor like the upstream gradient, which is resized with the warning that is meant for `out=`.
pub(crate) fn log_sigmoid_backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    struct LogSigmoid;
    impl Formula for LogSigmoid {
        fn apply<T: Real>(operands: &[T], _: &[T], _: bool) -> T {
            let &[gradient, at, grown] = operands else { unreachable!("three operands") };
            let share = grown / (T::one() + grown);
            let share = if at < T::zero() { T::one() - share } else { T::zero() + share };
            share * gradient
        }
    }
    let inputs = elementwise::inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    if inputs[2].node().is_some() {
        return Err(Rejection::FixedArgument { name: call.op.name(), argument: "buffer" }.into());
    }
    let target = match call.target()? {
        Some(target) => target,
        None => write::empty_like(machine, call.tensor(0)?),
    };
    resized::<LogSigmoid>(machine, call, inputs, target, Casting::Exact)
}

fn complex_silu<T: Real>(gradient: Complex<T>, at: Complex<T>) -> Complex<T> {
    let one = Complex::from(T::one());
    let sigmoid = one / (one + (-at).exp());
    gradient * sigmoid * (one + at * (one - sigmoid))
}

fn sigmoid<T: Real>(at: T) -> T {
    T::one() / (T::one() + in_double(-at, f64::exp))
}

/// A result that libtorch prepares as that of any elementwise operation.
fn structured<F: Formula>(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    let plan = Plan::new(machine, call, &inputs)?;
    plan.prepare(machine, call)?;
    elementwise::check_kernel(call.op, plan.common)?;
    let values = evaluate::<F>(machine, call, &plan, &inputs)?;
    Ok(deliver(machine, call, plan, values, &inputs, Scalar::Int(1)))
}

/// A result in a tensor that is there before, whether it is given or not. Where the casting is exact, the dtype is that of
/// the operand that the iterator meets first.
fn resized<F: Formula>(
    machine: &mut Machine,
    call: &Call,
    inputs: Vec<Input>,
    target: TensorId,
    casting: Casting,
) -> Result<Slot> {
    let plan = plan_into(machine, call, &inputs, target, casting, None)?;
    let values = evaluate::<F>(machine, call, &plan, &inputs)?;
    Ok(deliver(machine, call, plan, values, &inputs, Scalar::Int(1)))
}

/// The decisions about such a result, which is resized. The dtype that is computed in has to hold a number.
pub(super) fn plan_into(
    machine: &mut Machine,
    call: &Call,
    inputs: &[Input],
    target: TensorId,
    casting: Casting,
    held: Option<Scalar>,
) -> Result<Plan> {
    let met = elementwise::met(call.op, inputs);
    let common = if casting == Casting::Exact { met[0].dtype() } else { iterator::result_type(inputs) };
    let plan = Plan::into(machine, call, &met, (common, common), casting, Some(target))?;
    let other = met.iter().map(Input::dtype).find(|dtype| casting == Casting::Exact && *dtype != common);
    if let Some(found) = other {
        return Err(Rejection::FoundDtype { found, expected: common }.into());
    }
    let kernel = elementwise::check_kernel(call.op, plan.common);
    let kernel = kernel.and_then(|()| held.map_or(Ok(()), |number| check_held(number, plan.common)));
    plan.prepare_checked(machine, kernel)?;
    Ok(plan)
}

fn held<T: Element>(numbers: &[Scalar]) -> Vec<T> {
    numbers.iter().map(|number| T::from_scalar(*number)).collect()
}

/// The formula for every element, with numbers as the type holds them that the formula is computed in.
fn evaluate<F: Formula>(machine: &Machine, call: &Call, plan: &Plan, inputs: &[Input]) -> Result<Buffer> {
    let numbers = call.numbers();
    numbers.iter().try_for_each(|number| check_held(*number, computed_in(plan.common)))?;
    let flag = call.args.iter().any(|arg| matches!(arg, Operand::Other(Arg::Flag(true))));
    machine.try_eval(plan.common, || {
        let operands = Operands::new(call.op, inputs.to_vec(), plan.shape.clone(), Scalar::Int(1));
        Ok(with_float_type!(plan.common, T => {
            let numbers = held::<<T as Computed>::Wide>(&numbers);
            let results = operands.each::<T, _>(machine, |row, _| F::apply(row, &numbers, flag));
            elementwise::buffer_of::<T>(results)
        }))
    })
}
