//! Order statistics, and the most frequent element: one element of each line along a dimension, and where it stands.

use std::cmp::Ordering;

use crate::error::Rejection;
use crate::ops::Op;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType};

use super::autograd;
use super::elementwise::check_kernel;
use super::machine::{Call, Machine, Result, Slot, Tensor, wrap_dim};
use super::number::with_real_type;
use super::reduction::Plan;
use super::write;

/// `median` along a dimension: of an even number the lower one of the two in the middle; NaN if there is any.
pub(super) fn median(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (tensor, plan) = infer_median(machine, call)?;
    ranked(machine, call.op, &tensor, &plan, Rank::Median)
}

/// `nanmedian` along a dimension: that of the elements that are not NaN.
pub(super) fn nanmedian(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (tensor, plan) = infer_median(machine, call)?;
    ranked(machine, call.op, &tensor, &plan, Rank::MedianOfNumbers)
}

/// The order of faults: the dimension, its size, the dtype (`median_with_indices_impl`, which calls both `median`).
fn infer_median(machine: &Machine, call: &Call) -> Result<(Tensor, Plan)> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let dim = wrap_dim(call.int(1)?, tensor.shape().rank())?;
    check_size("median", &tensor, dim, dim as i64)?;
    check_kernel(call.op, tensor.dtype)?;
    let plan = Plan::along(&tensor, dim, call.flag(2)?);
    Ok((tensor, plan))
}

/// `mode`.
pub(super) fn mode(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let dim = wrap_dim(call.int(1)?, tensor.shape().rank())?;
    check_size("mode", &tensor, dim, dim as i64)?;
    // Nothing is counted of nothing, nor of a single number.
    if tensor.shape().rank() > 0 && tensor.shape().numel() > 0 {
        check_kernel(call.op, tensor.dtype)?;
    }
    let plan = Plan::along(&tensor, dim, call.flag(2)?);
    ranked(machine, call.op, &tensor, &plan, Rank::Mode)
}

/// `kthvalue`: by rank from 1 on, NaN being the greatest.
pub(super) fn kthvalue(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let (k, dim) = (call.int(1)?, wrap_dim(call.int(2)?, tensor.shape().rank())?);
    check_size("kthvalue", &tensor, dim, dim as i64)?;
    if !(1..=tensor.shape().sizes().get(dim).copied().unwrap_or(1)).contains(&k) {
        return Err(Rejection::KthvalueRange { dim }.into());
    }
    if tensor.shape().rank() > 0 {
        check_kernel(call.op, tensor.dtype)?;
    }
    let plan = Plan::along(&tensor, dim, call.flag(3)?);
    ranked(machine, call.op, &tensor, &plan, Rank::Kth(k as usize - 1))
}

/// Rejects a dimension without elements (`zero_numel_check_dims`); the message has it as it was given, or wrapped.
pub(super) fn check_size(name: &'static str, tensor: &Tensor, dim: usize, named: i64) -> Result<()> {
    match tensor.shape().sizes().get(dim) {
        Some(0) => Err(Rejection::EmptyDimension { name, dim: named }.into()),
        _ => Ok(()),
    }
}

/// The element of a line that is asked for.
#[derive(Clone, Copy)]
enum Rank {
    Median,
    MedianOfNumbers,
    Mode,
    Kth(usize),
}

fn ranked(machine: &mut Machine, op: Op, tensor: &Tensor, plan: &Plan, rank: Rank) -> Result<Slot> {
    let found = if !machine.has_elements() {
        (Buffer::zeros(tensor.dtype, 0), Vec::new())
    } else if tensor.dtype.category() == Category::Complex {
        // One element, or none.
        (write::elements(machine, tensor, tensor.dtype), vec![0; plan.shape.numel()])
    } else {
        with_real_type!(tensor.dtype, T => pick(plan.groups::<T>(machine, tensor)?, |group| {
            place(group.len(), &|a, b| group[a].partial_cmp(&group[b]), rank)
        }))
    };
    check_real_gradient(op, tensor)?;
    picked(machine, op, tensor, plan, found)
}

/// Rejects gradients of complex numbers, where there was no kernel to reject the numbers
/// (`throw_error_for_complex_autograd`).
pub(super) fn check_real_gradient(op: Op, tensor: &Tensor) -> Result<()> {
    if tensor.node.is_some() && tensor.dtype.category() == Category::Complex {
        return Err(Rejection::ComplexAutograd { name: op.name() }.into());
    }
    Ok(())
}

/// The place of the element of a line of `count`, of which NaN compares with none. Of several that are equal the first is
/// taken, where every one would be right.
fn place(count: usize, compare: &dyn Fn(usize, usize) -> Option<Ordering>, rank: Rank) -> usize {
    let is_nan = |at: usize| compare(at, at).is_none();
    // NaN is the greatest.
    let compared = |a: usize, b: usize| compare(a, b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)));
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| compared(a, b));
    let numbers = order.iter().filter(|at| !is_nan(**at)).count();
    match rank {
        Rank::Median if numbers < count => (0..count).find(|at| is_nan(*at)).unwrap_or(0),
        Rank::Median | Rank::MedianOfNumbers => order[numbers.saturating_sub(1) / 2],
        Rank::Kth(at) => order[at],
        Rank::Mode => {
            let runs = order.chunk_by(|a, b| compared(*a, *b) == Ordering::Equal);
            let longest = runs.reduce(|longest, run| if run.len() > longest.len() { run } else { longest });
            longest.and_then(|run| run.last()).copied().unwrap_or(0)
        }
    }
}

/// The element of each group at the place that `of` finds, and the places.
pub(super) fn pick<T: Stored>(groups: Vec<Vec<T>>, of: impl Fn(&[T]) -> usize) -> (Buffer, Vec<usize>) {
    let (mut values, mut places) = (Vec::with_capacity(groups.len()), Vec::with_capacity(groups.len()));
    for group in groups {
        let place = of(&group);
        values.push(group[place]);
        places.push(place);
    }
    (T::wrap(values), places)
}

/// Returns elements that were picked along a dimension, and their indices, which the gradient needs again.
pub(super) fn picked(
    machine: &mut Machine,
    op: Op,
    tensor: &Tensor,
    plan: &Plan,
    (values, places): (Buffer, Vec<usize>),
) -> Result<Slot> {
    let indices = machine.eval(DType::Int64, || i64::wrap(places.iter().map(|place| *place as i64).collect()));
    let first = write::deliver(machine, None, &plan.shape, values);
    let second = write::deliver(machine, None, &plan.shape, indices);
    let mut numbers = Vec::new();
    if machine.has_elements() && tensor.node.is_some() {
        let mut seen = vec![0; places.len()];
        numbers = vec![0; places.len()];
        for (number, target) in plan.targets(machine)?.into_iter().enumerate() {
            if seen[target] == places[target] {
                numbers[target] = number;
            }
            seen[target] += 1;
        }
    }
    autograd::record_selection(machine, op, first, tensor, numbers, &[second]);
    Ok(Slot::Tensors(vec![first, second]))
}
