//! Slopes of channels, and what is written as it is: copies and fills.

use super::*;

/// `prelu`: one slope for all, or one for each channel, which is the second dimension.
pub(in crate::reference) fn prelu(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (of, slopes) = (call.tensor(0)?, call.tensor(1)?);
    let (first, second) = (machine.tensor(of).dtype, machine.tensor(slopes).dtype);
    if first != second {
        return Err(FunctionFault::SlopeDtypes { first, second }.into());
    }
    let shape = machine.tensor(of).shape().clone();
    let slope_shape = machine.tensor(slopes).shape().clone();
    let count = slope_shape.numel();
    if count != 1 {
        if shape.rank() == 0 {
            return Err(FunctionFault::SlopesOfScalar {}.into());
        }
        let channels = if shape.rank() > 1 { shape.sizes()[1] } else { 1 };
        if channels != count as i64 {
            return Err(FunctionFault::Slopes { slopes: count, channels }.into());
        }
    }
    if slope_shape.rank() > 1 {
        return Err(FunctionFault::SlopeRank { rank: slope_shape.rank() }.into());
    }
    let mut slopes = slopes;
    if slope_shape.rank() != shape.rank() {
        let mut sizes = vec![1; shape.rank()];
        if shape.rank() > 1 {
            sizes[1] = count as i64;
        }
        let sizes = Arg::Ints(sizes);
        let args = [Operand::Tensor(slopes), Operand::Other(&sizes)];
        let call_of_view = Call { op: Op::View, form: Form::Functional, args: &args, out: None };
        let Slot::Tensor(view) = reshape::view(machine, &call_of_view)? else {
            return Err(Stop::Malformed("a view that is no tensor".to_owned()));
        };
        slopes = view;
    }
    let inputs = vec![Input::Tensor(machine.tensor(of).clone()), Input::Tensor(machine.tensor(slopes).clone())];
    let mut plan = Plan::typed(machine, call, &inputs, (first, first), Casting::Any)?;
    plan.layout = like(machine.tensor(of));
    elementwise::check_kernel(call.op, first)?;
    let kernel = kernel!(float(a, slope) => if a > T::default() { a } else { a * slope });
    // What is kept for the gradient is the view of the slopes.
    let args = [Operand::Tensor(of), Operand::Tensor(slopes)];
    finish(machine, &Call { args: &args, ..*call }, plan, kernel, &inputs, &inputs)
}

/// `copy_`: the source is converted, not promoted.
pub(in crate::reference) fn copy(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (target, source) = (call.tensor(0)?, call.tensor(1)?);
    let inputs = vec![Input::Tensor(machine.tensor(target).clone()), Input::Tensor(machine.tensor(source).clone())];
    check_autograd(machine, call, &inputs)?;
    let [written, read] = [target, source].map(|id| machine.tensor(id));
    // The same elements in the same order are left alone.
    if target == source
        || (written.storage == read.storage && written.layout == read.layout && written.dtype == read.dtype)
    {
        // Autograd counts it as a write all the same.
        let (storage, version) = (written.storage, machine.version(written.storage));
        machine.set_version(storage, version + 1);
        return Ok(Slot::Tensor(target));
    }
    let (to, from) = (machine.tensor(target).dtype, machine.tensor(source).dtype);
    let plan = Plan::typed(machine, call, &inputs, (from, to), Casting::Any)?;
    let written = machine.tensor(target).clone();
    warn_of_parts(machine, &written, from);
    finish(machine, call, plan, kernel!(number(_target, source) => source), &inputs, &inputs)
}

/// Warns where imaginary parts are dropped, if there are any: the truth of a complex number is made of both.
fn warn_of_parts(machine: &mut Machine, target: &Tensor, from: DType) {
    let real = matches!(target.dtype.category(), Category::Integral | Category::Floating);
    if from.category() == Category::Complex && real && target.shape().numel() > 0 {
        machine.warnings.push(COMPLEX_TO_REAL.to_owned());
    }
}

/// The warning of `copy_` where it drops imaginary parts.
const COMPLEX_TO_REAL: &str = "Casting complex values to real discards the imaginary part";

/// `fill_`, and `fill` into a copy.
pub(in crate::reference) fn fill(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    check_autograd(machine, call, &inputs)?;
    let Input::Tensor(of) = &inputs[0] else {
        return Err(Stop::Malformed("fill of a number".to_owned()));
    };
    let of = of.clone();
    let target = match call.form {
        Form::Functional => {
            let layout = iterator::result_layout(&inputs[..1], of.shape());
            let copy = machine.allocate(layout, Buffer::zeros(of.dtype, of.shape().numel()));
            machine.add(copy)
        }
        _ => call.tensor(0)?,
    };
    let values = match &inputs[1] {
        Input::Number(number) => {
            check_filled(*number, of.dtype, of.shape().numel())?;
            Buffer::from_scalars(of.dtype, std::iter::repeat_n(held_as(*number, of.dtype), of.shape().numel()))
        }
        Input::Tensor(value) => {
            if value.shape().rank() > 0 {
                return Err(FunctionFault::FillRank { rank: value.shape().rank() }.into());
            }
            // A view of what is filled is copied first.
            let apart = value.storage != of.storage;
            iterator::check_overlap(machine.tensor(target), if apart { &inputs[1..] } else { &[] })?;
            warn_of_parts(machine, &of, value.dtype);
            let value = machine.elements_as_scalars(value);
            Buffer::from_scalars(of.dtype, value.into_iter().cycle().take(of.shape().numel()))
        }
    };
    let tensor = machine.tensor(target).clone();
    let saved = autograd::save(machine, call, inputs, false);
    machine.write(&tensor, &values);
    autograd::record_elementwise(machine, call.op, target, saved, Scalar::Int(1));
    Ok(Slot::Tensor(target))
}
