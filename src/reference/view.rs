//! Operations that look at the same memory in another layout.
//!
//! Each is a function from layout to layout; [`apply`] makes the tensor. The gradient needs no formula of its own: an
//! element of the operand receives what arrives at the elements of the view that stand for it.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::{DType, Layout, Shape, shape::ShapeError};

use super::autograd;
use super::iterator::Input;
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, Tensor, TensorId, dimension_set, wrap_dim};

/// From the layout of the operand to that of the view.
pub(super) type ToLayout = fn(&Machine, &Layout, DType, &Call) -> Result<Layout>;

/// Operations that are a function from layout to layout, in the forms that make a view and that change their operand.
macro_rules! views {
    ($($(#[$doc:meta])* $name:ident = $layout:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) fn $name(
            machine: &mut $crate::machine::Machine,
            call: &$crate::machine::Call,
        ) -> $crate::machine::Result<$crate::machine::Slot> {
            let layout: $crate::view::ToLayout = $layout;
            $crate::view::run(machine, call, layout)
        }
    )+};
}

pub(super) use views;

views! {
    /// `expand`, and `broadcast_to`, which is the same in libtorch.
    expand = |_, from, dtype, call| expanded(from, dtype, call.ints(1)?);
    /// `expand_as`.
    expand_as = |machine, from, dtype, call| {
        let target = machine.tensor(call.tensor(1)?).shape().clone();
        expanded(from, dtype, target.sizes())
    };
    /// `unsqueeze` (`inferUnsqueezeGeometry`).
    unsqueeze = |_, from, _, call| {
        let dim = wrap_dim(call.int(1)?, from.shape.rank() + 1)?;
        Ok(insert_dimension(from, dim))
    };
    /// `squeeze` of all dimensions, of one, or of several (`inferSqueezeGeometry`).
    squeeze = |_, from, _, call| {
        let rank = from.shape.rank();
        let taken = match call.args.get(1) {
            Some(Operand::Other(Arg::Int(dim))) => vec![wrap_dim(*dim, rank)?],
            _ => match call.dims(1)? {
                None => (0..rank).collect(),
                Some(dims) => dimension_set(&dims, rank)?,
            },
        };
        let kept: Vec<usize> = (0..rank).filter(|dim| from.shape.sizes()[*dim] != 1 || !taken.contains(dim)).collect();
        permuted(from, &kept)
    };
    /// `transpose`, and `swapaxes` and `swapdims`, which are the same.
    transpose = |_, from, _, call| {
        let (a, b) = (wrap_dim(call.int(1)?, from.shape.rank())?, wrap_dim(call.int(2)?, from.shape.rank())?);
        let mut order: Vec<usize> = (0..from.shape.rank()).collect();
        if a != b {
            order.swap(a, b);
        }
        permuted(from, &order)
    };
    /// `t`: `transpose` of a matrix.
    t = |_, from, _, call| {
        let rank = from.shape.rank();
        match call.form {
            Form::InPlace if rank > 2 => return Err(Rejection::TransposeRank { name: "t_", rank }.into()),
            _ if rank > 2 => return Err(Rejection::TransposeRank { name: "t", rank }.into()),
            _ => {}
        }
        permuted(from, &(0..rank).rev().collect::<Vec<_>>())
    };
    /// `movedim` of one dimension.
    movedim = |_, from, _, call| {
        let rank = from.shape.rank();
        let (source, destination) = (wrap_dim(call.int(1)?, rank)?, wrap_dim(call.int(2)?, rank)?);
        let mut order: Vec<usize> = (0..rank).collect();
        if rank > 0 {
            let moved = order.remove(source);
            order.insert(destination, moved);
        }
        permuted(from, &order)
    };
    /// `permute`.
    permute = |_, from, _, call| {
        let (dims, rank) = (call.ints(1)?, from.shape.rank());
        if dims.len() != rank {
            return Err(Rejection::PermuteRank { got: dims.len(), rank }.into());
        }
        let mut order = Vec::with_capacity(rank);
        for &dim in dims {
            let dim = wrap_dim(dim, rank)?;
            if order.contains(&dim) {
                return Err(Rejection::PermuteRepeated.into());
            }
            order.push(dim);
        }
        permuted(from, &order)
    };
}

/// `detach`: the same elements, and no gradients. Autograd knows nothing of the one being a view of the other.
pub(super) fn detach(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    Ok(Slot::Tensor(machine.add(Tensor { node: None, base: None, ..tensor })))
}

/// `broadcast_tensors`: every operand expanded to the shape of all (`expand_outplace`).
pub(super) fn broadcast_tensors(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = call.tensors(0)?.to_vec();
    let mut shape = Shape::scalar();
    for (at, id) in ids.iter().enumerate() {
        let next = machine.tensor(*id).shape();
        shape = if at == 0 { next.clone() } else { shape.broadcast(next)? };
    }
    if !shape.is_countable() {
        return Err(Rejection::Numel.into());
    }
    let op = call.op;
    let expand = |machine: &mut Machine, id: TensorId| {
        if *machine.tensor(id).shape() == shape {
            return Ok(id);
        }
        apply(machine, op, id, |_, from, _| Ok(from.expand(&shape).expect("operands broadcast to this shape")))
    };
    ids.into_iter().map(|id| expand(machine, id)).collect::<Result<_>>().map(Slot::Tensors)
}

/// Runs an operation that is a function from layout to layout.
pub(super) fn run(machine: &mut Machine, call: &Call, layout: ToLayout) -> Result<Slot> {
    let id = call.tensor(0)?;
    match call.form {
        Form::InPlace => change(machine, call, id, layout)?,
        _ => return apply(machine, call.op, id, |m, from, dtype| layout(m, from, dtype, call)).map(Slot::Tensor),
    }
    Ok(Slot::Tensor(id))
}

/// Gives a tensor itself another layout on the same elements.
fn change(machine: &mut Machine, call: &Call, id: TensorId, layout: ToLayout) -> Result<()> {
    let tensor = machine.tensor(id).clone();
    autograd::check_in_place(machine, call, id, &[Input::Tensor(tensor.clone())])?;
    let changed = layout(machine, &tensor.layout, tensor.dtype, call)?;
    if tensor.node.is_some() && (tensor.base.is_some() || machine.is_large(tensor.shape(), tensor.dtype)) {
        return Err(Stop::Unsupported(format!("gradients through {}_ of a view", call.op)));
    }
    let positions = match tensor.node {
        Some(_) if machine.has_elements() => {
            layout(machine, &Layout::contiguous(tensor.shape().clone()), tensor.dtype, call)?.positions().collect()
        }
        _ => Vec::new(),
    };
    machine.relayout(id, changed);
    autograd::record_view(machine, call.op, id, &tensor, Some(positions));
    autograd::refresh_views(machine, id);
    Ok(())
}

/// A tensor on the same storage in the layout that `layout` makes of the operand's.
pub(super) fn apply(
    machine: &mut Machine,
    op: Op,
    of: TensorId,
    layout: impl Fn(&Machine, &Layout, DType) -> Result<Layout>,
) -> Result<TensorId> {
    let operand = machine.tensor(of).clone();
    let view = layout(machine, &operand.layout, operand.dtype)?;
    // The same view of a contiguous operand tells which element stands where, whatever the operand's own strides are.
    // A shape that strides cannot express in one layout they can in the row-major one, never the other way round.
    let from = Layout::contiguous(operand.shape().clone());
    let positions = match operand.node {
        _ if !machine.has_elements() => Some(Vec::new()),
        Some(_)
            if !machine.is_large(&view.shape, operand.dtype) && !machine.is_large(operand.shape(), operand.dtype) =>
        {
            Some(layout(machine, &from, operand.dtype)?.positions().collect())
        }
        Some(_) => None,
        None => Some(Vec::new()),
    };
    Ok(make(machine, op, of, view, positions))
}

/// A tensor on the same storage in this layout. `positions` tells for each of its elements which element of the operand
/// it stands for, counted row-major; it is `None` where that is not known, and empty where no gradients flow.
pub(super) fn make(
    machine: &mut Machine,
    op: Op,
    of: TensorId,
    layout: Layout,
    positions: Option<Vec<usize>>,
) -> TensorId {
    let operand = machine.tensor(of).clone();
    let view = Tensor { layout, node: None, base: operand.base.or(Some(of)), ..operand.clone() };
    let view = machine.add(view);
    autograd::record_view(machine, op, view, &operand, positions);
    view
}

/// The layout of an expansion to `sizes`, with -1 for those that stay.
pub(super) fn expanded(from: &Layout, dtype: DType, sizes: &[i64]) -> Result<Layout> {
    let tensor = from.shape.sizes();
    if sizes.len() < tensor.len() {
        return Err(Rejection::ExpandRank { dtype, tensor: tensor.to_vec(), target: sizes.to_vec() }.into());
    }
    let missing = sizes.len() - tensor.len();
    let mut target = sizes.to_vec();
    // libtorch goes from the last dimension to the first (`inferExpandGeometryImpl`), except that it takes every size as
    // given for a tensor without dimensions.
    for dim in (0..sizes.len()).rev().filter(|_| !tensor.is_empty()) {
        let existing = dim.checked_sub(missing).map(|own| tensor[own]);
        match (sizes[dim], existing) {
            (-1, Some(existing)) => target[dim] = existing,
            (size @ -1, None) => return Err(Rejection::ExpandLeading { size, dim }.into()),
            (wanted, Some(existing)) if existing != 1 && wanted != existing => {
                return Err(Rejection::ExpandSize {
                    wanted,
                    existing,
                    dim,
                    target: sizes.to_vec(),
                    tensor: tensor.to_vec(),
                }
                .into());
            }
            _ => {}
        }
    }
    let target = Shape::new(target).map_err(|_: ShapeError| Rejection::Numel)?;
    Ok(from.expand(&target).expect("every dimension was checked"))
}

pub(super) fn insert_dimension(from: &Layout, dim: usize) -> Layout {
    let (mut sizes, mut strides) = (from.shape.sizes().to_vec(), from.strides.clone());
    let stride = if dim < sizes.len() { sizes[dim].wrapping_mul(strides[dim]) } else { 1 };
    sizes.insert(dim, 1);
    strides.insert(dim, stride);
    Layout { shape: Shape::new(sizes).expect("one more 1 changes no count"), strides, offset: from.offset }
}

/// The dimensions `order` of a layout, in that order. What is left out has the size 1.
fn permuted(from: &Layout, order: &[usize]) -> Result<Layout> {
    let sizes = order.iter().map(|&dim| from.shape.sizes()[dim]).collect();
    Ok(Layout {
        // In another order the same sizes can be too many to be counted, if one of them is 0.
        shape: Shape::new(sizes).map_err(|_: ShapeError| Rejection::Numel)?,
        strides: order.iter().map(|&dim| from.strides[dim]).collect(),
        offset: from.offset,
    })
}
