//! Powers, and functions made of powers and logarithms.

use std::cmp::Ordering;

use super::*;

/// `pow`: by tensors, or by a number on either side, each of which has a loop of its own (Pow.cpp).
pub(crate) fn power(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    power_of(machine, call, inputs)
}

fn power_of(machine: &mut Machine, call: &Call, inputs: Vec<Input>) -> Result<Slot> {
    match inputs[..] {
        [Input::Tensor(_), Input::Number(exponent)] => power_to_number(machine, call, inputs, exponent),
        [Input::Number(base), Input::Tensor(_)] => power_of_number(machine, call, inputs, base),
        _ => elementwise::run_on(
            machine,
            call,
            kernel!(number(a, b) => a.power(b)),
            (call.op, Facts::of(call.op)),
            inputs,
        ),
    }
}

/// `pow_Tensor_Scalar`.
fn power_to_number(machine: &mut Machine, call: &Call, inputs: Vec<Input>, exponent: Scalar) -> Result<Slot> {
    let common = infer_power_to_number(machine, call, &inputs, exponent)?;
    let base = converted(machine, &inputs[0], common);
    let inputs = vec![base, inputs[1].clone()];
    let plan = Plan::typed(machine, call, &inputs[..1], (common, common), Casting::Promoted)?;
    plan.prepare(machine, call)?;
    if let Some(out) = plan.target.filter(|_| is(exponent, 1.0, true)) {
        // The base is copied, which checks for overlap again, after the target has grown.
        if let Input::Tensor(base) = &inputs[0] {
            iterator::check_partial_overlap(machine.tensor(out), base)?;
        }
    }
    check_exponent(exponent, common)?;
    if common == DType::Float32 && exponent.category() < Category::Complex {
        let values = power_in_double(machine, &inputs[0], f64::from_scalar(exponent), &plan.shape)?;
        return Ok(deliver(machine, call, plan, values, &inputs, Scalar::Int(1)));
    }
    finish(machine, call, plan, kernel!(number(a, b) => a.power_scalar(b)), &inputs, &inputs)
}

/// Powers of float32 numbers, whose exponent is not rounded.
fn power_in_double(machine: &Machine, base: &Input, exponent: f64, shape: &Shape) -> Result<Buffer> {
    machine.try_eval(DType::Float32, || {
        let columns = machine.columns::<f32>(std::slice::from_ref(base), shape)?;
        Ok(f32::wrap(columns[0].iter().map(|base| math::power_scalar(*base, exponent)).collect()))
    })
}

/// The dtype of the result. The order of faults: autograd, integers to a negative power.
fn infer_power_to_number(machine: &Machine, call: &Call, inputs: &[Input], exponent: Scalar) -> Result<DType> {
    autograd::check_target(machine, call, inputs)?;
    let negative = matches!(exponent, Scalar::Int(value) if value < 0);
    if negative && inputs[0].dtype().category() <= Category::Integral {
        return Err(Rejection::NegativePower.into());
    }
    Ok(iterator::result_type(inputs))
}

/// Rejects what the loop rejects. The exponents 0 and 1 need none, and wide floating-point numbers meet the exponent in
/// double precision.
fn check_exponent(exponent: Scalar, common: DType) -> Result<()> {
    if is(exponent, 0.0, true) || is(exponent, 1.0, true) {
        return Ok(());
    }
    check_dtype("pow", common, |dtype| dtype != DType::Bool)?;
    match common {
        DType::Float32 | DType::Float64 | DType::Complex64 | DType::Complex128 => Ok(()),
        _ => check_held(exponent, common),
    }
}

/// `pow_Scalar`: `out=` is resized before anything but autograd is checked, the result is contiguous, and a base of 1 needs
/// no loop.
fn power_of_number(machine: &mut Machine, call: &Call, inputs: Vec<Input>, base: Scalar) -> Result<Slot> {
    autograd::check_target(machine, call, &inputs)?;
    let shape = inputs[1].shape();
    let layout = Layout::contiguous(shape.clone());
    write::prepare(machine, call.out, &shape)?;
    let one = is(base, 1.0, false);
    if let Some(out) = call.out.filter(|_| one) {
        // It is filled, even where one element stands for several.
        let dtype = machine.tensor(out).dtype;
        let ones = || Buffer::from_scalars(dtype, std::iter::repeat_n(Scalar::Int(1), shape.numel()));
        let ones = machine.eval(dtype, ones);
        return Ok(Slot::Tensor(write::deliver_in(machine, Some(out), layout, ones)));
    }
    let plan = Plan { layout, ..Plan::new(machine, call, &inputs)? };
    if !one {
        check_dtype("pow", plan.common, |dtype| dtype != DType::Bool)?;
    }
    finish(machine, call, plan, kernel!(number(a, b) => a.power(b)), &inputs, &inputs)
}

/// `float_power`: `pow` in double precision.
pub(crate) fn float_power(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    let complex = inputs.iter().any(|input| input.dtype().category() == Category::Complex);
    let required = if complex { DType::Complex128 } else { DType::Float64 };
    if let Some(target) = call.target()? {
        let found = machine.tensor(target).dtype;
        if found != required && call.form == Form::Out {
            return Err(Rejection::FloatPowerOutput { output: found, required }.into());
        }
        if found != required {
            return Err(Rejection::FloatPowerBase { base: found, required }.into());
        }
    }
    let numbers = inputs.iter().all(|input| matches!(input, Input::Number(_)));
    let mut inputs: Vec<Input> = inputs.iter().map(|input| converted(machine, input, required)).collect();
    if numbers {
        // No overload takes two numbers, so they become tensors, which count as numbers until they are converted.
        for (number, input) in elementwise::inputs(machine, call)?.iter().zip(&mut inputs) {
            if let (Input::Number(given), Input::Number(_)) = (number, &*input)
                && given.category() < required.category()
            {
                let values = Buffer::from_scalars(required, std::iter::once(*given));
                *input = Input::Tensor(machine.allocate(Layout::contiguous(Shape::scalar()), values));
            }
        }
    }
    power_of(machine, &Call { op: Op::Pow, form: call.form, args: call.args, out: call.out }, inputs)
}

/// `heaviside`, which takes no two dtypes.
pub(crate) fn heaviside(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    let target = call.target()?.map(|target| machine.tensor(target).dtype);
    let dtypes: Vec<DType> = inputs.iter().map(Input::dtype).chain(target).collect();
    if dtypes.iter().any(|dtype| dtype.category() == Category::Complex) {
        return Err(Rejection::HeavisideComplex.into());
    }
    if dtypes.iter().any(|dtype| *dtype != dtypes[0]) {
        return Err(Rejection::HeavisideDtypes.into());
    }
    // NaN alone is neither below zero nor above it, and is handed on, as by NumPy's function.
    let kernel = kernel!(real(a, b) => match a.partial_cmp(&T::default()) {
        Some(Ordering::Equal) => b,
        Some(order) => T::from_scalar(Scalar::Bool(order == Ordering::Greater)),
        None => a,
    });
    let plan = Plan::typed(machine, call, &inputs, (dtypes[0], dtypes[0]), Casting::Promoted)?;
    plan.prepare(machine, call)?;
    finish(machine, call, plan, kernel, &inputs, &inputs)
}

/// `logaddexp`, also of complex numbers.
pub(crate) fn log_add_exp(machine: &mut Machine, call: &Call) -> Result<Slot> {
    elementwise::run(machine, call, kernel!(number(a, b) => a.log_add_exp(b)))
}

/// `ldexp`: of a fraction and an integer without a power, and with no promotion; else a product with a power of two.
pub(crate) fn ldexp(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    let (of, exponent) = (inputs[0].dtype(), inputs[1].dtype());
    if !infer_ldexp(machine, call, &inputs)? {
        let product = vec![inputs[0].clone(), power_of_two(machine, of, &inputs[1])?];
        let plan = Plan::new(machine, call, &product)?;
        plan.prepare(machine, call)?;
        return finish(machine, call, plan, kernel!(number(a, b) => a.times(b)), &product, &inputs);
    }
    let plan = Plan::typed(machine, call, &inputs, (of, of), Casting::Any)?;
    plan.prepare(machine, call)?;
    let plan = if call.form == Form::Functional { prepare_like(machine, plan, &inputs[0])? } else { plan };
    check_dtype("ldexp_cpu_exp", exponent, |dtype| dtype != DType::Bool)?;
    finish(
        machine,
        call,
        plan,
        Elementwise { run: if cfg!(feature = "elements") { ldexp_loop } else { elementwise::absent } },
        &inputs,
        &inputs,
    )
}

/// Returns whether the exponent is taken as it is. The order of faults: autograd, a target of integers.
fn infer_ldexp(machine: &Machine, call: &Call, inputs: &[Input]) -> Result<bool> {
    autograd::check_target(machine, call, inputs)?;
    let (of, exponent) = (inputs[0].dtype(), inputs[1].dtype());
    let target = call.target()?.map(|target| machine.tensor(target).dtype);
    if let Some(output) = target.filter(|dtype| dtype.category() <= Category::Integral) {
        return Err(Rejection::LdexpOutput { output }.into());
    }
    let direct = exponent.category() <= Category::Integral && of.category() == Category::Floating;
    Ok(direct && target.is_none_or(|target| target == of))
}

/// The result is a tensor like the first operand, which is resized and warned of as any `out` is.
fn prepare_like(machine: &mut Machine, plan: Plan, first: &Input) -> Result<Plan> {
    let layout = match first {
        Input::Tensor(tensor) => like(tensor),
        Input::Number(_) => Layout::contiguous(Shape::scalar()),
    };
    if layout.shape == plan.shape {
        return Ok(Plan { layout, ..plan });
    }
    let empty = machine.blank(plan.common, layout);
    let empty = machine.add(empty);
    write::resize_output(machine, empty, plan.layout.clone(), 1)?;
    Ok(plan)
}

/// 2 to the power of a tensor, in a dtype that suits another one (`_pow2`).
fn power_of_two(machine: &mut Machine, of: DType, exponent: &Input) -> Result<Input> {
    let narrow = of.category() <= Category::Integral || of == DType::Float32;
    let two = if narrow {
        Input::Number(Scalar::Float(2.0))
    } else {
        let two = Buffer::from_scalars(of, std::iter::once(Scalar::Int(2)));
        Input::Tensor(machine.allocate(Layout::contiguous(Shape::scalar()), two))
    };
    let inputs = vec![two, exponent.clone()];
    let (common, shape) = (iterator::result_type(&inputs), exponent.shape());
    let layout = if narrow { Layout::contiguous(shape.clone()) } else { iterator::result_layout(&inputs, &shape) };
    let kernel = kernel!(number(a, b) => a.power(b));
    let values = kernel.evaluate(machine, Op::Pow, &inputs, Scalar::Int(1), (&shape, common, common))?;
    Ok(Input::Tensor(write::create(machine, layout, values)))
}

fn ldexp_loop(dtype: DType, machine: &Machine, operands: &Operands) -> std::result::Result<Buffer, Halt> {
    let (values, exponents) = (operands.column::<f64>(machine, 0), operands.column::<i64>(machine, 1));
    let scaled = values.into_iter().zip(exponents);
    let scaled = scaled.map(|(value, exponent)| Scalar::Float(libm::ldexp(value, exponent as i32)));
    Ok(Buffer::from_scalars(dtype, scaled))
}
