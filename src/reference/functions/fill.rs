//! Slopes of channels, and what is written as it is: copies and fills.

use super::*;

/// `prelu`: one slope for all, or one for each channel, which is the second dimension.
pub(crate) fn prelu(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (of, mut slopes) = (call.tensor(0)?, call.tensor(1)?);
    infer_slopes(machine.tensor(of), machine.tensor(slopes))?;
    let (shape, count) = (machine.tensor(of).shape(), machine.tensor(slopes).shape().count());
    if machine.tensor(slopes).shape().rank() != shape.rank() {
        let channels = |dim: usize| if dim == 1 { count } else { 1 };
        let sizes = (0..shape.rank()).map(channels).collect();
        slopes = product::parts::view(machine, slopes, sizes)?;
    }
    let inputs = [of, slopes].map(|id| Input::Tensor(machine.tensor(id).clone()));
    let dtype = inputs[0].dtype();
    let plan = Plan::typed(machine, call, &inputs, (dtype, dtype), Casting::Any)?;
    let plan = Plan { layout: like(machine.tensor(of)), ..plan };
    elementwise::check_kernel(call.op, dtype)?;
    let kernel = kernel!(float(a, slope) => if a > T::default() { a } else { a * slope });
    // What is kept for the gradient is the view of the slopes.
    let args = [Operand::Tensor(of), Operand::Tensor(slopes)];
    finish(machine, &Call { args: &args, ..*call }, plan, kernel, &inputs, &inputs)
}

/// The order of faults: dtypes, the number of the slopes, their rank.
fn infer_slopes(of: &Tensor, slopes: &Tensor) -> Result<()> {
    if of.dtype != slopes.dtype {
        return Err(Rejection::PreluDtypes { first: of.dtype, second: slopes.dtype }.into());
    }
    let (count, rank) = (slopes.shape().count(), slopes.shape().rank());
    if count != 1 && of.shape().rank() == 0 {
        return Err(Rejection::PreluScalar.into());
    }
    let channels = of.shape().sizes().get(1).copied().unwrap_or(1);
    if count != 1 && channels != count {
        return Err(Rejection::PreluSlopes { slopes: count, channels }.into());
    }
    if rank > 1 {
        return Err(Rejection::PreluRank { rank }.into());
    }
    Ok(())
}

/// `copy_`: the source is converted, not promoted.
pub(crate) fn copy(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (target, source) = (call.tensor(0)?, call.tensor(1)?);
    let inputs = vec![Input::Tensor(machine.tensor(target).clone()), Input::Tensor(machine.tensor(source).clone())];
    autograd::check_target(machine, call, &inputs)?;
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
    let written = machine.tensor(target).shape().numel();
    write::warn_of_cast(machine, from, to, written);
    finish(machine, call, plan, kernel!(number(_target, source) => source), &inputs, &inputs)
}

/// `fill_`, and `fill` into a copy.
pub(crate) fn fill(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    let Input::Tensor(of) = &inputs[0] else {
        return Err(Stop::Malformed("fill of a number".to_owned()));
    };
    let of = of.clone();
    let target = match call.form {
        Form::Functional => {
            let blank = machine.blank(of.dtype, iterator::result_layout(&inputs[..1], of.shape()));
            machine.add(blank)
        }
        _ => call.tensor(0)?,
    };
    infer_fill(machine, target, &of, &inputs[1])?;
    let values = machine.eval(of.dtype, || {
        let value = match &inputs[1] {
            Input::Number(number) => *number,
            Input::Tensor(value) => machine.elements_as_scalars(value)[0],
        };
        Buffer::from_scalars(of.dtype, std::iter::repeat_n(value, of.shape().numel()))
    });
    let saved = autograd::save(machine, call, inputs, false);
    write::deliver(machine, Some(target), of.shape(), values);
    autograd::record_elementwise(machine, call, call.op, target, saved, Scalar::Int(1));
    Ok(Slot::Tensor(target))
}

/// The order of faults: a number that is not held; the dimensions of a tensor, overlap.
fn infer_fill(machine: &mut Machine, target: TensorId, of: &Tensor, value: &Input) -> Result<()> {
    let value = match value {
        Input::Number(number) => return check_filled(*number, of.dtype, of.shape().numel()),
        Input::Tensor(value) => value,
    };
    if value.shape().rank() > 0 {
        return Err(Rejection::FillRank { rank: value.shape().rank() }.into());
    }
    // A view of what is filled is copied first.
    let apart = (value.storage != of.storage).then(|| Input::Tensor(value.clone()));
    iterator::check_overlap(machine.tensor(target), apart.as_slice())?;
    write::warn_of_cast(machine, value.dtype, of.dtype, of.shape().numel());
    Ok(())
}
