//! The least and the greatest of the elements, and where they stand.

use crate::error::Rejection;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType};

use super::autograd;
use super::graph::Kept;
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId, wrap_dim};
use super::number::with_real_type;
use super::ranked::{check_real_gradient, check_size, pick, picked};
use super::reduction::{Group, Plan, begin, over_groups, record_groups, set_output};
use super::scan::Lines;
use super::write;

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

/// `max` along a dimension.
pub(super) fn max(machine: &mut Machine, call: &Call) -> Result<Slot> {
    along(machine, call, true)
}

/// `min` along a dimension.
pub(super) fn min(machine: &mut Machine, call: &Call) -> Result<Slot> {
    along(machine, call, false)
}

/// `cummax`.
pub(super) fn cummax(machine: &mut Machine, call: &Call) -> Result<Slot> {
    running(machine, call, true)
}

/// `cummin`.
pub(super) fn cummin(machine: &mut Machine, call: &Call) -> Result<Slot> {
    running(machine, call, false)
}

fn extreme(machine: &mut Machine, call: &Call, greatest: bool) -> Result<Slot> {
    let (tensor, out) = begin(machine, call)?;
    let plan = infer_extreme(machine, call, &tensor, out)?;
    set_output(machine, out, &plan.shape, tensor.dtype)?;
    let result = if tensor.shape().numel() == 0 {
        // No kernel runs, whatever the dtype.
        machine.zeros(tensor.dtype, plan.shape.numel())
    } else if tensor.dtype.category() == Category::Complex {
        return Err(Rejection::NoKernel { kernel: call.op.info().kernel_names, dtype: tensor.dtype }.into());
    } else {
        machine.try_eval(tensor.dtype, || Ok::<_, Stop>(best_of_groups(machine, &tensor, &plan, greatest)?.0))?
    };
    check_real_gradient(call.op, &tensor)?;
    let id = write::deliver(machine, out, &plan.shape, result);
    record_groups(machine, call.op, id, &tensor, &plan, &[], extreme_backward);
    autograd::keep_result(machine, id, if greatest { "Amax" } else { "Amin" });
    Ok(Slot::Tensor(id))
}

/// The order of faults: the dtype of `out`, reductions of nothing, the dimensions.
fn infer_extreme(machine: &Machine, call: &Call, tensor: &Tensor, out: Option<TensorId>) -> Result<Plan> {
    if let Some(target) = out.map(|out| machine.tensor(out).dtype).filter(|target| *target != tensor.dtype) {
        return Err(Rejection::AmaxOutput { input: tensor.dtype, out: target }.into());
    }
    let dims = call.dims(1)?.unwrap_or_default();
    if tensor.shape().numel() == 0 {
        if dims.is_empty() {
            return Err(Rejection::AmaxEmpty { name: call.op.name() }.into());
        }
        for &dim in &dims {
            check_size(call.op.name(), tensor, wrap_dim(dim, tensor.shape().rank())?, dim)?;
        }
    }
    Plan::structured(tensor, Some(dims), call.flag(2)?)
}

/// `scale_grad_by_count`.
fn extreme_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, &shared_evenly)
}

/// All that equal the result share evenly; a NaN equals nothing, so that none is left to share.
fn shared_evenly(group: &Group) -> Vec<f64> {
    let equal: Vec<f64> = group.elements.iter().map(|&e| f64::from(u8::from(e == group.result))).collect();
    let count: f64 = equal.iter().sum();
    equal.into_iter().map(|equal| group.arrived * equal / count).collect()
}

fn position(machine: &mut Machine, call: &Call, greatest: bool) -> Result<Slot> {
    let (tensor, out) = begin(machine, call)?;
    let plan = infer_position(call, &tensor)?;
    set_output(machine, out, &plan.shape, DType::Int64)?;
    let positions = machine.try_eval(DType::Int64, || {
        let positions = with_real_type!(tensor.dtype, T => {
            plan.groups::<T>(machine, &tensor)?.into_iter().map(|group| best(&group, greatest) as i64).collect()
        });
        Ok::<_, Stop>(i64::wrap(positions))
    })?;
    Ok(Slot::Tensor(write::deliver(machine, out, &plan.shape, positions)))
}

fn infer_position(call: &Call, tensor: &Tensor) -> Result<Plan> {
    let name = call.op.name();
    match tensor.dtype.category() {
        Category::Complex => return Err(Rejection::ArgmaxDtype { name, category: "complex" }.into()),
        Category::Bool => return Err(Rejection::ArgmaxDtype { name, category: "bool" }.into()),
        _ => {}
    }
    let dim = call.optional_int(1)?;
    match dim {
        Some(dim) => {
            let wrapped = wrap_dim(dim, tensor.shape().rank())?;
            check_size(call.op.name(), tensor, wrapped, wrapped as i64)?;
        }
        None if tensor.shape().numel() == 0 => return Err(Rejection::ArgmaxEmpty { name }.into()),
        None => {}
    }
    Plan::new(tensor, dim.map(|dim| vec![dim]), call.flag(2)?)
}

/// The order of faults: the dimension, its size, the dtype (the meta functions of `max` and `min`).
fn infer_along(call: &Call, tensor: &Tensor) -> Result<Plan> {
    let dim = wrap_dim(call.int(1)?, tensor.shape().rank())?;
    check_size(call.op.name(), tensor, dim, dim as i64)?;
    if tensor.dtype.category() == Category::Complex {
        return Err(Rejection::ArgmaxDtype { name: call.op.name(), category: "complex" }.into());
    }
    Plan::new(tensor, Some(vec![dim as i64]), call.flag(2)?)
}

fn along(machine: &mut Machine, call: &Call, greatest: bool) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let plan = infer_along(call, &tensor)?;
    let found = if machine.has_elements() {
        best_of_groups(machine, &tensor, &plan, greatest)?
    } else {
        (Buffer::zeros(tensor.dtype, 0), Vec::new())
    };
    picked(machine, call.op, &tensor, &plan, found)
}

/// The order of faults of `aminmax`: the dimension and its size, or nothing at all, then the dtype.
fn infer_both(call: &Call, tensor: &Tensor) -> Result<Plan> {
    let (dim, keepdim, scalar) = (call.optional_int(1)?, call.flag(2)?, tensor.shape().rank() == 0);
    if let Some(dim) = dim {
        let dim = wrap_dim(dim, tensor.shape().rank())?;
        if tensor.shape().sizes().get(dim) == Some(&0) {
            return Err(Rejection::AminmaxDimension { dim }.into());
        }
    } else if tensor.shape().numel() == 0 {
        return Err(Rejection::AminmaxEmpty.into());
    }
    let plan = Plan::new(tensor, dim.map(|dim| vec![dim]), keepdim)?;
    match (tensor.dtype.category(), dim) {
        (Category::Complex, Some(_)) if scalar => Err(Rejection::AminmaxComplex { dtype: tensor.dtype }.into()),
        (Category::Complex, _) => {
            Err(Rejection::NoKernel { kernel: call.op.info().kernel_names, dtype: tensor.dtype }.into())
        }
        _ => Ok(plan),
    }
}

/// `aminmax`: both, each with its gradient.
pub(super) fn aminmax(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let plan = infer_both(call, &tensor)?;
    let mut both = Vec::with_capacity(2);
    for greatest in [false, true] {
        let values =
            machine.try_eval(tensor.dtype, || Ok::<_, Stop>(best_of_groups(machine, &tensor, &plan, greatest)?.0))?;
        let id = write::deliver(machine, None, &plan.shape, values);
        record_groups(machine, call.op, id, &tensor, &plan, &[], extreme_backward);
        autograd::keep_result(machine, id, "Aminmax");
        both.push(id);
    }
    autograd::record_twins(machine, [both[0], both[1]]);
    Ok(Slot::Tensors(both))
}

/// The order of faults of `cummax` and `cummin`: the dimension, then the dtype, unless nothing is compared.
fn infer_running(call: &Call, tensor: &Tensor) -> Result<usize> {
    let (dim, rank) = (call.int(1)?, tensor.shape().rank());
    if rank == 0 {
        if ![0, -1].contains(&dim) {
            return Err(Rejection::ScalarDimension { name: call.op.name(), dim }.into());
        }
        return Ok(0);
    }
    let dim = wrap_dim(dim, rank)?;
    if tensor.dtype.category() == Category::Complex && tensor.shape().numel() > 0 {
        return Err(Rejection::NoKernel { kernel: call.op.info().kernel_names, dtype: tensor.dtype }.into());
    }
    Ok(dim)
}

fn running(machine: &mut Machine, call: &Call, greatest: bool) -> Result<Slot> {
    let id = call.tensor(0)?;
    let tensor = machine.tensor(id).clone();
    let dim = infer_running(call, &tensor)?;
    let shape = tensor.shape().clone();
    let (values, places, numbers) = if !machine.has_elements() {
        (Buffer::zeros(tensor.dtype, 0), Vec::new(), Vec::new())
    } else if tensor.dtype.category() == Category::Complex {
        // One element, or none.
        (write::elements(machine, &tensor, tensor.dtype), vec![0; shape.numel()], (0..shape.numel()).collect())
    } else {
        with_real_type!(tensor.dtype, T => {
            running_best::<T>(&machine.elements(&tensor), &Lines::along(&shape, dim), greatest)
        })
    };
    check_real_gradient(call.op, &tensor)?;
    let first = write::deliver(machine, None, &shape, values);
    let second = write::deliver(machine, None, &shape, i64::wrap(places));
    autograd::record_selection(machine, call.op, first, &tensor, numbers, &[id, second]);
    Ok(Slot::Tensors(vec![first, second]))
}

/// The best element up to each, its place in the line, and its number. Of several that are equal, or NaN, the last counts
/// (`cummax_cummin_helper`); no document says so.
fn running_best<T: Stored + PartialOrd>(
    elements: &[T],
    lines: &Lines,
    greatest: bool,
) -> (Buffer, Vec<i64>, Vec<usize>) {
    let is_nan = |element: &T| element.partial_cmp(element).is_none();
    let better = |a: &T, b: &T| is_nan(a) || !is_nan(b) && if greatest { a >= b } else { a <= b };
    let (mut places, mut numbers) = (vec![0; elements.len()], vec![0; elements.len()]);
    for line in lines.numbers() {
        let mut best: Option<(i64, usize)> = None;
        for (place, at) in line.enumerate() {
            let found = best.filter(|(_, best)| !better(&elements[at], &elements[*best])).unwrap_or((place as i64, at));
            (places[at], numbers[at], best) = (found.0, found.1, Some(found));
        }
    }
    (T::wrap(numbers.iter().map(|&at| elements[at]).collect()), places, numbers)
}

/// The greatest or least element of each group, and its place.
fn best_of_groups(machine: &Machine, tensor: &Tensor, plan: &Plan, greatest: bool) -> Result<(Buffer, Vec<usize>)> {
    Ok(with_real_type!(tensor.dtype, T => pick(plan.groups::<T>(machine, tensor)?, |group| best(group, greatest))))
}

/// The position of the greatest or least element: the first of several, and the first NaN before all others.
fn best<T: PartialOrd + Copy>(group: &[T], greatest: bool) -> usize {
    let is_nan = |element: &T| element.partial_cmp(element).is_none();
    let better = |a: &T, b: &T| !is_nan(b) && (is_nan(a) || if greatest { a > b } else { a < b });
    (0..group.len()).fold(0, |best, at| if better(&group[at], &group[best]) { at } else { best })
}
