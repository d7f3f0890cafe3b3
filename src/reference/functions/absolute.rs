//! The absolute value, which is real for complex numbers, and what follows from it: whether a number is infinite.

use num_complex::Complex64;

use super::super::composition::Composition;
use super::*;

/// `abs`. Of complex numbers the loop makes complex ones, whose real parts are copied to a result that is not complex
/// (`unary_op_impl_with_complex_to_float_out`), which is contiguous if it has to be resized.
pub(crate) fn absolute(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    let real = match inputs[0].dtype() {
        DType::Complex64 => DType::Float32,
        DType::Complex128 => DType::Float64,
        _ => return elementwise::run(machine, call, kernel!(real(a) => a.magnitude())),
    };
    let mut plan = infer_absolute(machine, call, &inputs, real)?;
    // What is copied is real already.
    plan.common = plan.result;
    if let (Form::Functional, Input::Tensor(operand)) = (call.form, &inputs[0]) {
        plan.layout = like(operand);
    }
    if let Some(target) = plan.target {
        write::resize_output(machine, target, Layout::contiguous(plan.layout.shape.clone()), 1)?;
    }
    let Input::Tensor(operand) = &inputs[0] else { unreachable!("its argument is a tensor") };
    let values = machine.eval(plan.result, || {
        let values: Vec<Complex64> = machine.elements(operand);
        Buffer::of(plan.result, values.into_iter().map(|value| value.re.hypot(value.im)))
    });
    Ok(deliver(machine, call, plan, values, &inputs, Scalar::Int(1)))
}

/// The order of faults: autograd, a complex target in place, a target that the real dtype cannot be cast to, those of every
/// [`Plan`].
fn infer_absolute(machine: &Machine, call: &Call, inputs: &[Input], real: DType) -> Result<Plan> {
    autograd::check_target(machine, call, inputs)?;
    let common = inputs[0].dtype();
    if call.form == Form::InPlace {
        return Err(Rejection::ComplexAbsolute.into());
    }
    let target = call.target()?.map(|target| machine.tensor(target).dtype);
    match target {
        Some(to) if to.category() == Category::Complex => {
            Plan::typed(machine, call, inputs, (common, common), Casting::Exact)
        }
        Some(to) => {
            iterator::check_cast(real, to)?;
            Plan::typed(machine, call, inputs, (common, real), Casting::Any)
        }
        None => Plan::typed(machine, call, inputs, (common, real), Casting::Any),
    }
}

/// `isinf`.
pub(crate) fn is_infinite(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let is = |value: Complex64| value.re.is_infinite() || value.im.is_infinite();
    // As a comparison of the magnitude of a part with a number makes it. The parts lie two apart.
    let layout = |operand: Input, shape: &Shape| {
        let Input::Tensor(mut part) = operand else { return iterator::result_layout(&[operand], shape) };
        part.layout.strides.iter_mut().for_each(|stride| *stride = stride.saturating_mul(2));
        part.layout = iterator::result_layout(&[Input::Tensor(part.clone())], shape);
        iterator::result_layout(&[Input::Tensor(part), Input::Number(Scalar::Float(f64::INFINITY))], shape)
    };
    classify(machine, call, is, layout, |steps, operand| {
        let size = steps.absolute(operand)?;
        steps.combine(Op::Eq, size, f64::INFINITY)
    })
}

/// `isfinite`.
pub(crate) fn is_finite(machine: &mut Machine, call: &Call) -> Result<Slot> {
    classify(
        machine,
        call,
        |value| value.is_finite(),
        |operand, shape| iterator::result_layout(&[operand], shape),
        |steps, operand| {
            let same = steps.combine(Op::Eq, operand, operand)?;
            let size = steps.absolute(operand)?;
            let small = steps.combine(Op::Ne, size, f64::INFINITY)?;
            steps.combine(Op::Mul, same, small)
        },
    )
}

/// Whether each number is of a class: integers are by their dtype, complex numbers by their parts, and floating-point ones by
/// steps of the table.
fn classify(
    machine: &mut Machine,
    call: &Call,
    is: impl Fn(Complex64) -> bool,
    layout: impl Fn(Input, &Shape) -> Layout,
    steps: impl FnOnce(&mut Composition, TensorId) -> Result<TensorId>,
) -> Result<Slot> {
    let id = call.tensor(0)?;
    let tensor = machine.tensor(id).clone();
    let category = tensor.dtype.category();
    if category == Category::Floating {
        return steps(&mut Composition { machine, op: call.op }, id).map(Slot::Tensor);
    }
    let values = machine.eval(DType::Bool, || {
        let elements: Vec<Complex64> = machine.elements(&tensor);
        Buffer::from_scalars(DType::Bool, elements.into_iter().map(|value| Scalar::Bool(is(value))))
    });
    let layout = match category {
        Category::Complex => layout(Input::Tensor(tensor.clone()), tensor.shape()),
        _ => like(&tensor),
    };
    Ok(Slot::Tensor(Composition { machine, op: call.op }.place(values, layout)))
}
