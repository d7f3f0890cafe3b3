//! Values that are written to a part of a tensor: `x[…] = value`, `index_put_({…}, value)` in C++ (`at::indexing::set_item`).

use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::{Buffer, IndexItem, Layout, Shape};

use super::composition::{Composition, Term};
use super::machine::{Call, Machine, Operand, Result, Slot, TensorId};
use super::{functions, slice};

/// `setitem`. The order of faults: a step of 0, a number that the dtype does not hold, the index, the shape of the value, and what writing to
/// the part refuses.
pub(super) fn setitem(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (target, items) = (call.tensor(0)?, call.index(1)?);
    slice::check_steps(items)?;
    let value = value(machine, call, target)?;
    let mut steps = Composition { machine, op: call.op };
    let index = Term::Other(Arg::Index(items.to_vec()));
    let part = steps.step(Op::Index, Form::Functional, &[target.into(), index])?;
    let part = if is_whole(steps.machine.tensor(target).shape(), items) { target } else { part };
    copy_to(&mut steps, part, value)?;
    Ok(Slot::Tensor(target))
}

/// The value as a tensor. A number is converted before anything else (`scalarToTensor`).
fn value(machine: &mut Machine, call: &Call, target: TensorId) -> Result<TensorId> {
    let Some(Operand::Other(Arg::Number(number))) = call.args.get(2) else { return call.tensor(2) };
    let dtype = machine.tensor(target).dtype;
    functions::check_filled(*number, dtype, 1)?;
    let buffer = Buffer::from_scalars(dtype, std::iter::once(*number));
    Ok(Composition { machine, op: call.op }.place(buffer, Layout::contiguous(Shape::scalar())))
}

/// Writes a value to a tensor (`copy_to`): one of the same shape is copied, one without dimensions fills, and any other loses its
/// leading sizes of 1 and expands.
fn copy_to(steps: &mut Composition, part: TensorId, value: TensorId) -> Result<()> {
    let [to, from] = [part, value].map(|id| steps.machine.tensor(id).shape().clone());
    if from != to && from.rank() == 0 {
        return steps.update(Op::Fill, part, value);
    }
    let mut value = value;
    if from != to {
        let sizes: Vec<i64> = from.sizes().iter().copied().skip_while(|size| *size == 1).collect();
        value = steps.step(Op::View, Form::Functional, &[value.into(), Term::Other(Arg::Ints(sizes.clone()))])?;
        if sizes != to.sizes() {
            let sizes = Term::Other(Arg::Ints(to.sizes().to_vec()));
            value = steps.step(Op::Expand, Form::Functional, &[value.into(), sizes])?;
        }
    }
    steps.update(Op::Copy, part, value)
}

/// Returns whether an index names everything, so that no view is made (`applySlice`).
fn is_whole(shape: &Shape, items: &[IndexItem]) -> bool {
    let sliced = items.iter().filter(|item| matches!(item, IndexItem::Slice { .. })).count();
    let mut dim = 0;
    items.iter().all(|item| match item {
        IndexItem::Ellipsis => {
            dim += shape.rank().saturating_sub(sliced);
            true
        }
        IndexItem::Slice { start, stop, step: 1 } => {
            let size = shape.sizes().get(dim).copied().unwrap_or(0);
            dim += 1;
            start.unwrap_or(0) == 0 && stop.is_none_or(|stop| stop >= size)
        }
        _ => false,
    })
}
