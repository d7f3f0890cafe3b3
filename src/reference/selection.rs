//! Elements that are named by their row-major numbers in a tensor, as masks and indices name them.
//!
//! The phases that [`super::mask`], [`super::gather`] and [`super::indexing`] share once they have found the numbers:
//! reading the elements into a result, overwriting them, and what flows back. It must not know how the numbers are found.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::tensor::storage::Stored;
use crate::tensor::{Category, Layout, Scalar, Shape};

use super::autograd::{self, Route};
use super::budget::charge;
use super::machine::{Call, Machine, Operand, Result, Slot, Tensor, TensorId};
use super::write;

/// For each element of a shape that an operand is broadcast to, the number of the operand's own; nothing without elements.
pub(super) fn numbering(machine: &Machine, own: &Shape, broadcast: &Shape) -> Vec<usize> {
    if !machine.has_elements() {
        return Vec::new();
    }
    charge(broadcast.numel());
    let numbers = Layout::contiguous(own.clone()).expand(broadcast).expect("the operand broadcasts to this shape");
    numbers.positions().collect()
}

/// The elements with these numbers.
fn pick<T: Copy>(elements: &[T], numbers: &[usize]) -> Vec<T> {
    numbers.iter().map(|&number| elements[number]).collect()
}

/// Writes the elements of `operand` with these numbers to `out`, which has their shape, or to a new tensor of this layout.
pub(super) fn deliver(
    machine: &mut Machine,
    out: Option<TensorId>,
    operand: &Tensor,
    numbers: &[usize],
    layout: Layout,
) -> TensorId {
    let pick =
        || crate::with_element_type!(operand.dtype, T => T::wrap(pick::<T>(&machine.elements(operand), numbers)));
    let values = machine.eval(operand.dtype, pick);
    write::deliver_in(machine, out, layout, values)
}

/// Records a result whose elements are those of `operand` with these numbers.
pub(super) fn record_picked(
    machine: &mut Machine,
    call: &Call,
    result: TensorId,
    operand: &Tensor,
    numbers: Vec<usize>,
) {
    if call.form == Form::Functional {
        let pairs = numbers.into_iter().enumerate().collect();
        let route = Route { node: operand.node, shape: operand.shape().clone(), pairs, added: true };
        // The indices, unless they are copied first, and the operand, if its sizes are (derivatives.yaml: `gather`,
        // `masked_select`, `index`, `index_select`; `take_along_dim` takes its indices modulo the size).
        let kept = |at| match call.op {
            Op::IndexTensor | Op::IndexSelect => at != 0,
            Op::TakeAlongDim => at == 0,
            _ => true,
        };
        autograd::record_routes(machine, call, result, vec![route], kept);
    }
}

/// The elements of a target that are overwritten, and the source of their values.
pub(super) struct Put<'a> {
    /// The number of each in the target, and that of the element of the source that it receives.
    pub pairs: Vec<(usize, usize)>,
    /// The source, unless it is a number.
    pub source: Option<&'a Tensor>,
    /// True if one element of the source may go to several places, or several to one.
    pub repeated: bool,
    /// True if the elements are added to those of the target.
    pub accumulated: bool,
}

/// Records that part of `target` was overwritten; `operand` broadcasts to it. Here, as in `set_history`, gradients through
/// a new tensor of integers are refused.
pub(super) fn record_put(
    machine: &mut Machine,
    call: &Call,
    target: TensorId,
    operand: &Tensor,
    put: Put,
) -> Result<Slot> {
    let shape = machine.tensor(target).shape().clone();
    let mut kept = vec![true; if machine.has_elements() { shape.numel() } else { 0 }];
    put.pairs.iter().for_each(|&(number, _)| kept[number] = put.accumulated);
    let own = numbering(machine, operand.shape(), &shape).into_iter().enumerate().filter(|(at, _)| kept[*at]);
    let added = *operand.shape() != shape;
    let mut routes = vec![Route { node: operand.node, shape: operand.shape().clone(), pairs: own.collect(), added }];
    if let Some(source) = put.source {
        let shape = source.shape().clone();
        routes.push(Route { node: source.node, shape, pairs: put.pairs, added: put.repeated });
    }
    check_history(machine, call, target, routes.iter().any(|route| route.node.is_some()))?;
    let source = put.source.and_then(|_| call.args.iter().rposition(|arg| matches!(arg, Operand::Tensor(_))));
    let flows = source.is_some() && routes.get(1).is_some_and(|route| route.node.is_some());
    // The target is overwritten. Of the source some take the sizes, and those that add need the indices for it alone
    // (derivatives.yaml: `put`, `index_copy`, `index_add`, `scatter_add`).
    let sized = flows && matches!(call.op, Op::Put | Op::IndexCopy | Op::IndexAdd);
    let located = flows || !matches!(call.op, Op::IndexAdd | Op::ScatterAdd);
    let kept = |at| at != 0 && if Some(at) == source { sized } else { located };
    autograd::record_routes(machine, call, target, routes, kept);
    Ok(Slot::Tensor(target))
}

/// Refuses gradients through a new tensor of integers; in place libtorch does not (`rebase_history`).
pub(super) fn check_history(machine: &Machine, call: &Call, target: TensorId, flows: bool) -> Result<()> {
    let dtype = machine.tensor(target).dtype;
    if flows && call.form == Form::Functional && dtype.category() < Category::Floating {
        return Err(Rejection::NotDifferentiable { dtype }.into());
    }
    Ok(())
}

/// Overwrites the elements of a tensor with these numbers, in this order. Each value is asked for when its turn comes, with
/// the position of the element in the storage: what it is read from may be the memory that is written to.
pub(super) fn overwrite(
    machine: &mut Machine,
    target: &Tensor,
    numbers: &[usize],
    value: impl Fn(&Machine, usize, usize) -> Scalar,
) {
    if !machine.has_elements() {
        return machine.put(target.storage, []);
    }
    let positions: Vec<usize> = target.layout.positions().collect();
    for (turn, &number) in numbers.iter().enumerate() {
        let value = value(machine, turn, positions[number]);
        machine.put(target.storage, [(positions[number], value)]);
    }
}
