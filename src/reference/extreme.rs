//! The least and the greatest of the elements, and where they stand.

use crate::error::{PointwiseFault, ReductionFault};
use crate::ops::Op;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Scalar};

use super::autograd;
use super::graph::Kept;
use super::machine::{Call, Machine, Result, Slot, Tensor, wrap_dim};
use super::number::with_real_type;
use super::reduction::{Plan, begin, deliver, over_groups, record_groups, set_output};

/// `amax`.
pub(super) fn amax(machine: &mut Machine, call: &Call) -> Result<Slot> {
    extreme(machine, call, true)
}

/// `amin`.
pub(super) fn amin(machine: &mut Machine, call: &Call) -> Result<Slot> {
    extreme(machine, call, false)
}

/// `argmax`.
pub(super) fn argmax(machine: &mut Machine, call: &Call) -> Result<Slot> {
    position(machine, call, true)
}

/// `argmin`.
pub(super) fn argmin(machine: &mut Machine, call: &Call) -> Result<Slot> {
    position(machine, call, false)
}

fn extreme(machine: &mut Machine, call: &Call, greatest: bool) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let out = begin(machine, call, &tensor)?;
    if let Some(target) = out.map(|out| machine.tensor(out).dtype).filter(|target| *target != tensor.dtype) {
        return Err(ReductionFault::ExtremeDtype { input: tensor.dtype, out: target }.into());
    }
    let dims = call.dims(1)?.unwrap_or_default();
    if tensor.shape().numel() == 0 {
        if dims.is_empty() {
            return Err(ReductionFault::EmptyExtreme { name: call.op.name() }.into());
        }
        for &dim in &dims {
            check_size(call.op, &tensor, dim, dim)?;
        }
    }
    let plan = Plan::structured(&tensor, Some(dims), call.flag(2)?)?;
    set_output(machine, out, &plan.shape, tensor.dtype)?;
    let result = if tensor.shape().numel() == 0 {
        // No kernel runs, whatever the dtype.
        Buffer::zeros(tensor.dtype, plan.shape.numel())
    } else if tensor.dtype.category() == Category::Complex {
        return Err(PointwiseFault::NoKernel { kernel: call.op.info().refusal, dtype: tensor.dtype }.into());
    } else {
        with_real_type!(tensor.dtype, T => {
            let groups = plan.groups::<T>(machine, &tensor)?.into_iter();
            T::wrap(groups.map(|group| group[best(&group, greatest)]).collect())
        })
    };
    if tensor.node.is_some() && tensor.dtype.category() == Category::Complex {
        return Err(ReductionFault::ComplexAutograd { name: call.op.name() }.into());
    }
    let id = deliver(machine, out, &plan.shape, result);
    record_groups(machine, call.op, id, &tensor, &plan, &[], extreme_backward);
    autograd::keep_result(machine, id, if greatest { "Amax" } else { "Amin" });
    Ok(Slot::Tensor(id))
}

/// `scale_grad_by_count`.
fn extreme_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, |group| {
        // All that equal the result share evenly; a NaN equals nothing, so that nobody is left to share.
        let equal: Vec<f64> = group.elements.iter().map(|&e| f64::from(u8::from(e == group.result))).collect();
        let count: f64 = equal.iter().sum();
        equal.into_iter().map(|equal| group.arrived * equal / count).collect()
    })
}

/// Refuses a dimension without elements (`zero_numel_check_dims`); the message has it as it was given, or wrapped.
fn check_size(op: Op, tensor: &Tensor, dim: i64, named: i64) -> Result<()> {
    let at = wrap_dim(dim, tensor.shape().rank())?;
    if tensor.shape().sizes().get(at) == Some(&0) {
        return Err(ReductionFault::EmptyDimension { name: op.name(), dim: named }.into());
    }
    Ok(())
}

fn position(machine: &mut Machine, call: &Call, greatest: bool) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let out = begin(machine, call, &tensor)?;
    let name = call.op.name();
    match tensor.dtype.category() {
        Category::Complex => return Err(ReductionFault::PositionComplex { name }.into()),
        Category::Bool => return Err(ReductionFault::PositionBool { name }.into()),
        _ => {}
    }
    let dim = call.optional_int(1)?;
    match dim {
        Some(dim) => {
            let wrapped = wrap_dim(dim, tensor.shape().rank())?;
            check_size(call.op, &tensor, dim, wrapped as i64)?;
        }
        None if tensor.shape().numel() == 0 => return Err(ReductionFault::EmptyPosition { name }.into()),
        None => {}
    }
    let plan = Plan::new(&tensor, dim.map(|dim| vec![dim]), call.flag(2)?)?;
    set_output(machine, out, &plan.shape, DType::Int64)?;
    let positions: Vec<usize> = with_real_type!(tensor.dtype, T => {
        plan.groups::<T>(machine, &tensor)?.into_iter().map(|group| best(&group, greatest)).collect()
    });
    let positions = positions.into_iter().map(|at| Scalar::Int(at as i64));
    let result = Buffer::from_scalars(DType::Int64, positions.collect::<Vec<_>>().into_iter());
    Ok(Slot::Tensor(deliver(machine, out, &plan.shape, result)))
}

/// Where the greatest or least element stands: the first of several, and the first NaN before all others.
fn best<T: PartialOrd + Copy>(group: &[T], greatest: bool) -> usize {
    let is_nan = |element: &T| element.partial_cmp(element).is_none();
    let better = |a: &T, b: &T| !is_nan(b) && (is_nan(a) || if greatest { a > b } else { a < b });
    (0..group.len()).fold(0, |best, at| if better(&group[at], &group[best]) { at } else { best })
}
