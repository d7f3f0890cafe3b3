//! The same elements in another shape: a view where strides can say it, else a copy; and copies as such.

use crate::error::Rejection;
use crate::tensor::{Layout, Shape, shape::ShapeError};

use super::autograd;
use super::iterator::{self, Request};
use super::machine::{Call, Machine, Result, Slot, Stop, TensorId, wrap_dim};
use super::view::{self, views};
use super::write::restride;

views! {
    /// `view`.
    view = |_, from, _, call| viewed(from, &view_sizes(call.ints(1)?, from.shape.count())?);
    /// `view_as`.
    view_as = |machine, from, _, call| {
        let target = machine.tensor(call.tensor(1)?).shape().sizes();
        viewed(from, &view_sizes(target, from.shape.count())?)
    };
    /// `unflatten`: several dimensions in the place of one.
    unflatten = |_, from, _, call| {
        let (dim, sizes) = (wrap_dim(call.int(1)?, from.shape.rank())?, call.ints(2)?);
        if sizes.is_empty() {
            return Err(Rejection::UnflattenEmpty.into());
        }
        let Some(&size) = from.shape.sizes().get(dim) else { return Err(unexpected()) };
        let Ok(inner) = view_sizes(sizes, size) else {
            let product = sizes.iter().filter(|&&size| size != -1).fold(1, |product: i64, &size| product.wrapping_mul(size));
            let plain = sizes.iter().all(|&size| size >= -1) && sizes.iter().filter(|&&size| size == -1).count() < 2;
            return Err(match plain && (product != 0 || size != 0) {
                true => Rejection::UnflattenSizes { sizes: sizes.to_vec(), dim, size }.into(),
                false => unexpected(),
            });
        };
        let mut target = from.shape.sizes().to_vec();
        target.splice(dim..=dim, inner);
        viewed(from, &target)
    };
}

/// The outcome for an error that `unflatten` quotes from another one, with the place in its sources.
fn unexpected() -> Stop {
    Stop::Unsupported("the words of unflatten for what it did not expect".to_owned())
}

/// `reshape`.
pub(super) fn reshape(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let sizes = call.ints(1)?.to_vec();
    reshaped(machine, call, &sizes)
}

/// `reshape_as`.
pub(super) fn reshape_as(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let sizes = machine.tensor(call.tensor(1)?).shape().sizes().to_vec();
    reshaped(machine, call, &sizes)
}

/// `flatten`: one dimension in the place of several.
pub(super) fn flatten(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let id = call.tensor(0)?;
    let sizes = machine.tensor(id).shape().sizes().to_vec();
    let (start, end) = (wrap_dim(call.int(1)?, sizes.len())?, wrap_dim(call.int(2)?, sizes.len())?);
    if start > end {
        return Err(Rejection::FlattenOrder.into());
    }
    if sizes.is_empty() {
        return reshaped(machine, call, &[1]);
    }
    if start == end {
        return Ok(Slot::Tensor(id));
    }
    let mut target = sizes.clone();
    let joined = sizes[start..=end].iter().fold(1, |product: i64, &size| product.wrapping_mul(size));
    target.splice(start..=end, [joined]);
    reshaped(machine, call, &target)
}

/// `contiguous`: the tensor itself, or a row-major copy.
pub(super) fn contiguous(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let id = call.tensor(0)?;
    let tensor = machine.tensor(id);
    if tensor.layout.is_contiguous() {
        return Ok(Slot::Tensor(id));
    }
    let layout = Layout::contiguous(tensor.shape().clone());
    copied(machine, call, id, layout, Request::RowMajor)
}

/// `clone`: a copy in the same order of dimensions, without gaps (`empty_like`).
pub(super) fn clone(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let id = call.tensor(0)?;
    let layout = iterator::dense(&machine.tensor(id).layout);
    copied(machine, call, id, layout, Request::Strided)
}

fn copied(machine: &mut Machine, call: &Call, id: TensorId, layout: Layout, request: Request) -> Result<Slot> {
    let tensor = machine.tensor(id).clone();
    iterator::check_memory(&layout, tensor.dtype, request, machine.has_elements())?;
    let copy = restride(machine, &tensor, layout);
    let copy = machine.add(copy);
    autograd::record_copy(machine, call.op, copy, &tensor);
    Ok(Slot::Tensor(copy))
}

fn reshaped(machine: &mut Machine, call: &Call, sizes: &[i64]) -> Result<Slot> {
    let id = call.tensor(0)?;
    let tensor = machine.tensor(id).clone();
    let target = view_sizes(sizes, tensor.shape().count())?;
    let shape = view_shape(&tensor.layout, &target)?;
    if tensor.layout.view(&shape).is_some() {
        return view::apply(machine, call.op, id, |_, from, _| viewed(from, &target)).map(Slot::Tensor);
    }
    let row_major = Layout::contiguous(tensor.shape().clone());
    iterator::check_memory(&row_major, tensor.dtype, Request::RowMajor, machine.has_elements())?;
    let mut copy = restride(machine, &tensor, row_major);
    copy.layout = Layout::contiguous(shape);
    let copy = machine.add(copy);
    let elements = if machine.has_elements() { tensor.shape().numel() } else { 0 };
    let positions = (0..elements).collect();
    autograd::record_view(machine, call.op, copy, &tensor, Some(positions));
    Ok(Slot::Tensor(copy))
}

fn viewed(from: &Layout, sizes: &[i64]) -> Result<Layout> {
    from.view(&view_shape(from, sizes)?).ok_or_else(|| Rejection::ViewStride.into())
}

/// The shape of a view. One of nothing may have sizes that multiply to more than can be counted; its strides are counted
/// before its elements, and come out negative then, or as anything (`set_sizes_and_strides`).
fn view_shape(from: &Layout, sizes: &[i64]) -> Result<Shape> {
    if sizes == from.shape.sizes() {
        return Ok(from.shape.clone());
    }
    let strides = sizes.iter().rev().scan(1i64, |stride, &size| {
        let own = *stride;
        *stride = stride.wrapping_mul(size.max(1));
        Some(own)
    });
    if strides.into_iter().any(|stride| stride < 0) {
        return Err(Rejection::StrideOverflow.into());
    }
    Ok(Shape::new(sizes.to_vec()).map_err(|_: ShapeError| Rejection::Numel)?)
}

/// The sizes of a view with their -1 filled in (`infer_size`).
fn view_sizes(sizes: &[i64], numel: i64) -> Result<Vec<i64>> {
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
    let known = sizes.iter().filter(|&&size| size >= 0).fold(1, |product: i64, &size| product.wrapping_mul(size));
    let mut target = sizes.to_vec();
    if let Some(at) = sizes.iter().position(|&size| size == -1) {
        if known == 0 && numel == 0 {
            return Err(Rejection::ViewAmbiguous { target: sizes.to_vec() }.into());
        }
        if known <= 0 || numel % known != 0 {
            return Err(invalid().into());
        }
        target[at] = numel / known;
    } else if known != numel {
        return Err(invalid().into());
    }
    Ok(target)
}
