//! Operations that look at the same memory in another layout.
//!
//! Each is a function from layout to layout; [`apply`] makes the tensor. The gradient needs no formula of its own: an
//! element of the operand receives what arrives at the elements of the view that stand for it.

use crate::error::Rejection;
use crate::ops::Op;
use crate::tensor::{Buffer, DType, IndexItem, Layout, Shape, shape::ShapeError};

use super::backward;
use super::elementwise::restride;
use super::machine::{Call, Machine, Result, Slot, Tensor, TensorId, wrap_dim};

macro_rules! views {
    ($($(#[$doc:meta])* $name:ident = $layout:expr;)+) => {$(
        $(#[$doc])*
        pub(super) fn $name(machine: &mut Machine, call: &Call) -> Result<Slot> {
            let layout: fn(&Machine, &Layout, DType, &Call) -> Result<Layout> = $layout;
            apply(machine, call.op, call.tensor(0)?, |machine, from, dtype| layout(machine, from, dtype, call)).map(Slot::Tensor)
        }
    )+};
}

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
    /// `transpose`.
    transpose = |_, from, _, call| {
        let (a, b) = (wrap_dim(call.int(1)?, from.shape.rank())?, wrap_dim(call.int(2)?, from.shape.rank())?);
        let mut order: Vec<usize> = (0..from.shape.rank()).collect();
        if a != b {
            order.swap(a, b);
        }
        Ok(permuted(from, &order))
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
        Ok(permuted(from, &order))
    };
    /// `view`.
    view = |_, from, _, call| {
        let target = view_shape(call.ints(1)?, from.shape.numel())?;
        from.view(&target).ok_or_else(|| Rejection::ViewStride.into())
    };
    /// `x[…]` with `None`, `...`, integers and slices.
    index = |_, from, _, call| indexed(from, call.index(1)?);
}

/// `contiguous`: the tensor itself, or a row-major copy.
pub(super) fn contiguous(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let id = call.tensor(0)?;
    let tensor = machine.tensor(id).clone();
    if tensor.layout.is_contiguous() {
        return Ok(Slot::Tensor(id));
    }
    let copy = restride(machine, &tensor, Layout::contiguous(tensor.shape().clone()));
    let copy = machine.add(copy);
    backward::record_copy(machine, call.op, copy, &tensor);
    Ok(Slot::Tensor(copy))
}

/// `broadcast_tensors`: every operand expanded to the shape of all (`expand_outplace`).
pub(super) fn broadcast_tensors(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = call.tensors(0)?.to_vec();
    let mut shape = Shape::scalar();
    for (at, id) in ids.iter().enumerate() {
        let next = machine.tensor(*id).shape();
        shape = if at == 0 { next.clone() } else { shape.broadcast(next)? };
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

/// A tensor on the same storage in the layout that `layout` makes of the operand's.
pub(super) fn apply(
    machine: &mut Machine,
    op: Op,
    of: TensorId,
    layout: impl Fn(&Machine, &Layout, DType) -> Result<Layout>,
) -> Result<TensorId> {
    let operand = machine.tensor(of).clone();
    let mut view = operand.clone();
    view.layout = layout(machine, &operand.layout, operand.dtype)?;
    view.node = None;
    view.base = operand.base.or(Some(of));
    // The same view of a contiguous operand tells which element stands where, whatever the operand's own strides are.
    // A shape that strides cannot express in one layout they can in the row-major one, never the other way round.
    let from = Layout::contiguous(operand.shape().clone());
    let positions: Vec<usize> = match operand.node {
        Some(_) => layout(machine, &from, operand.dtype)?.positions().collect(),
        None => Vec::new(),
    };
    let view = machine.add(view);
    backward::record_view(machine, op, view, &operand, positions);
    Ok(view)
}

fn expanded(from: &Layout, dtype: DType, sizes: &[i64]) -> Result<Layout> {
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
            (size, None) if size < 0 => return Err(Rejection::ExpandLeading { size, dim }.into()),
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

fn insert_dimension(from: &Layout, dim: usize) -> Layout {
    let (mut sizes, mut strides) = (from.shape.sizes().to_vec(), from.strides.clone());
    let stride = if dim < sizes.len() { sizes[dim] * strides[dim] } else { 1 };
    sizes.insert(dim, 1);
    strides.insert(dim, stride);
    Layout { shape: Shape::new(sizes).expect("one more 1 changes no count"), strides, offset: from.offset }
}

fn permuted(from: &Layout, order: &[usize]) -> Layout {
    let sizes = order.iter().map(|&dim| from.shape.sizes()[dim]).collect();
    Layout {
        shape: Shape::new(sizes).expect("the same sizes in another order"),
        strides: order.iter().map(|&dim| from.strides[dim]).collect(),
        offset: from.offset,
    }
}

/// The target of a view with its -1 filled in (`infer_size`).
fn view_shape(sizes: &[i64], numel: usize) -> Result<Shape> {
    // Sizes are looked at in order: the first that is wrong in either way decides.
    let mut inferred = false;
    for (at, &size) in sizes.iter().enumerate() {
        if size == -1 && inferred {
            return Err(Rejection::ViewInferred.into());
        }
        if size < -1 {
            return Err(Rejection::ViewNegative { size, at, target: sizes.to_vec() }.into());
        }
        inferred |= size == -1;
    }
    let invalid = || Rejection::ViewSize { target: sizes.to_vec(), numel };
    let known: i64 = sizes.iter().filter(|&&size| size >= 0).product();
    let mut target = sizes.to_vec();
    if let Some(at) = sizes.iter().position(|&size| size == -1) {
        if known == 0 && numel == 0 {
            return Err(Rejection::ViewAmbiguous { target: sizes.to_vec() }.into());
        }
        if known == 0 || numel as i64 % known != 0 {
            return Err(invalid().into());
        }
        target[at] = numel as i64 / known;
    } else if known != numel as i64 {
        return Err(invalid().into());
    }
    Ok(Shape::new(target).map_err(|_: ShapeError| Rejection::Numel)?)
}

fn indexed(from: &Layout, items: &[IndexItem]) -> Result<Layout> {
    let rank = from.shape.rank();
    let used = items.iter().filter(|item| matches!(item, IndexItem::At(_) | IndexItem::Slice { .. })).count();
    if used > rank {
        return Err(match items {
            [IndexItem::At(0)] if rank == 0 => Rejection::IndexScalar,
            [IndexItem::At(index)] if rank == 0 => Rejection::IndexRange { index: *index, dim: 0, size: 0 },
            _ => Rejection::TooManyIndices { rank },
        }
        .into());
    }
    let mut result = from.clone();
    let mut dim = 0;
    for (at, item) in items.iter().enumerate() {
        match item {
            IndexItem::None => {
                result = insert_dimension(&result, dim);
                dim += 1;
            }
            IndexItem::Ellipsis => {
                dim += rank - used;
            }
            IndexItem::At(index) => {
                let (mut sizes, mut strides) = (result.shape.sizes().to_vec(), result.strides.clone());
                let (size, stride) = (sizes.remove(dim), strides.remove(dim));
                if *index < -size || *index >= size {
                    // The message counts the items, not the dimensions.
                    return Err(Rejection::IndexRange { index: *index, dim: at, size }.into());
                }
                let offset = result.offset + index.rem_euclid(size) * stride;
                result = Layout { shape: Shape::new(sizes).expect("fewer sizes"), strides, offset };
            }
            IndexItem::Slice { start, stop, step } => {
                let size = result.shape.sizes()[dim];
                let clamp = |bound: i64| if bound < 0 { (bound + size).max(0) } else { bound.min(size) };
                let (start, stop) = (clamp(start.unwrap_or(0)), clamp(stop.unwrap_or(size)));
                let mut sizes = result.shape.sizes().to_vec();
                sizes[dim] = (stop - start).max(0).div_ceil_step(*step);
                result.offset += start * result.strides[dim];
                result.strides[dim] *= step;
                result.shape = Shape::new(sizes).expect("smaller sizes");
                dim += 1;
            }
        }
    }
    Ok(result)
}

trait DivCeil {
    fn div_ceil_step(self, step: i64) -> i64;
}

impl DivCeil for i64 {
    /// How many steps of `step` begin within `self`.
    fn div_ceil_step(self, step: i64) -> i64 {
        (self + step - 1) / step
    }
}

/// Adds what arrived at each element of a view to the element of the operand that it stands for.
pub(super) fn gather_back(machine: &Machine, gradient: &Tensor, shape: &Shape, positions: &[usize]) -> Buffer {
    macro_rules! accumulate {
        ($type:ty) => {{
            let mut sums = vec![<$type>::default(); shape.numel()];
            for (&position, value) in positions.iter().zip(machine.elements::<$type>(gradient)) {
                sums[position] += value;
            }
            <$type as crate::tensor::storage::Stored>::wrap(sums)
        }};
    }
    let sums = match gradient.dtype.category() {
        crate::tensor::Category::Complex => accumulate!(num_complex::Complex64),
        _ => accumulate!(f64),
    };
    Buffer::from_scalars(gradient.dtype, sums.scalars().into_iter())
}
