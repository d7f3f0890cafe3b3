//! Views of a part of a tensor: what `x[…]` makes, `select`, `narrow`, and any strides at all.

use crate::error::Rejection;
use crate::tensor::{IndexItem, Layout, Shape, shape::ShapeError};

use super::autograd::element_positions;
use super::machine::{Call, Machine, Result, Slot, Stop, wrap_dim};
use super::view::{self, insert_dimension, views};

views! {
    /// `x[…]` with `None`, `...`, integers and slices.
    index = |_, from, _, call| indexed(from, call.index(1)?);
    /// `select`: one index of a dimension.
    select = |_, from, _, call| {
        let (dim, index) = (call.int(1)?, call.int(2)?);
        if from.shape.rank() == 0 {
            return Err(Rejection::ZeroDim { name: "select" }.into());
        }
        let dim = wrap_dim(dim, from.shape.rank())?;
        let size = from.shape.sizes()[dim];
        if index < -size || index >= size {
            return Err(Rejection::SelectRange { index, sizes: from.shape.sizes().to_vec(), dim }.into());
        }
        Ok(selected(from, dim, index))
    };
    /// `narrow`: a stretch of a dimension.
    narrow = |_, from, _, call| {
        let (dim, start, length) = (call.int(1)?, call.int(2)?, call.int(3)?);
        let rank = from.shape.rank();
        if rank == 0 {
            return Err(Rejection::ZeroDim { name: "narrow" }.into());
        }
        if length < 0 {
            return Err(Rejection::NarrowLength.into());
        }
        let dim = wrap_dim(dim, rank)?;
        let size = from.shape.sizes()[dim];
        if start < -size || start > size {
            return Err(Rejection::NarrowStart { low: -size, high: size, start }.into());
        }
        let start = if start < 0 { start + size } else { start };
        if start > size - length {
            return Err(Rejection::NarrowEnd { start, length, size }.into());
        }
        Ok(sliced(from, dim, start, start + length, 1))
    };
}

/// `as_strided`: any view that the storage has the elements for (`setStrided`, `checkInBoundsForStorage`).
pub(super) fn as_strided(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let of = call.tensor(0)?;
    let tensor = machine.tensor(of).clone();
    let (sizes, strides) = (call.ints(1)?, call.ints(2)?);
    let offset = call.optional_int(3)?.unwrap_or(tensor.layout.offset);
    if sizes.len() != strides.len() {
        return Err(Rejection::StridesLength.into());
    }
    if strides.iter().any(|&stride| stride < 0) {
        return Err(Rejection::NegativeStride { strides: strides.to_vec() }.into());
    }
    let item = tensor.dtype.size() as i64;
    let (sizes, strides) = (sizes.to_vec(), strides.to_vec());
    if offset < 0 {
        return Err(Rejection::NegativeOffset { offset }.into());
    }
    let Some(needed) = Layout::extent(&sizes, &strides, offset, tensor.dtype.size()) else {
        // No strides at all are taken for strides that are not given.
        return Err(match strides.is_empty() {
            true => Rejection::StorageOverflow { sizes }.into(),
            false => Rejection::StridedOverflow { sizes, strides }.into(),
        });
    };
    let storage = machine.length(tensor.storage).saturating_mul(item);
    if needed > storage {
        return Err(Rejection::StorageBounds { sizes, strides, offset, item, needed, storage }.into());
    }
    let shape = Shape::new(sizes).map_err(|_: ShapeError| Rejection::Numel)?;
    let layout = Layout { shape, strides, offset };
    let positions = match tensor.node {
        None => Some(Vec::new()),
        Some(_) => element_positions(machine, &tensor.layout, tensor.dtype, &layout),
    };
    Ok(Slot::Tensor(view::make(machine, call.op, of, layout, positions)))
}

/// The end of a slice that names none (`INDEX_MAX`, the largest that a `SymInt` holds without a pointer): a dimension
/// of this size or more loses its end.
const OPEN_END: i64 = (1 << 62) - 1;

fn indexed(from: &Layout, items: &[IndexItem]) -> Result<Layout> {
    let rank = from.shape.rank();
    check_steps(items)?;
    let used = items.iter().filter(|item| matches!(item, IndexItem::At(_) | IndexItem::Slice { .. })).count();
    if used > rank {
        return Err(match items {
            [IndexItem::At(0)] if rank == 0 => Rejection::IndexScalar,
            [IndexItem::At(index)] if rank == 0 => Rejection::IndexRange { index: *index, dim: 0, size: 0 },
            [IndexItem::Slice { step: ..=0, .. }] => Rejection::SliceStep,
            [IndexItem::Slice { .. }] if rank == 0 => Rejection::ZeroDim { name: "slice" },
            _ => Rejection::TooManyIndices { rank },
        }
        .into());
    }
    let mut result = from.clone();
    let mut dim = 0;
    for (at, item) in items.iter().enumerate() {
        match item {
            IndexItem::None => {
                dim = wrap_dim(dim as i64, result.shape.rank() + 1)?;
                result = insert_dimension(&result, dim);
                dim += 1;
            }
            // Each stands for all the dimensions that nothing names, so that a second one can lead past the last.
            IndexItem::Ellipsis => {
                dim += rank - used;
            }
            IndexItem::At(index) => {
                let size = size_of(&result, dim)?;
                if *index < -size || *index >= size {
                    // The message counts the items, not the dimensions.
                    return Err(Rejection::IndexRange { index: *index, dim: at, size }.into());
                }
                result = selected(&result, dim, *index);
            }
            IndexItem::Slice { start, stop, step } => {
                if *step < 1 {
                    return Err(Rejection::SliceStep.into());
                }
                let size = size_of(&result, dim)?;
                let clamp = |bound: i64| if bound < 0 { (bound + size).max(0) } else { bound.min(size) };
                let (start, stop) = (clamp(start.unwrap_or(0)), clamp(stop.unwrap_or(OPEN_END)));
                result = sliced(&result, dim, start, stop, *step);
                dim += 1;
            }
        }
    }
    Ok(result)
}

/// Refuses a step of 0, which no slice can be made with (`Slice`).
pub(super) fn check_steps(items: &[IndexItem]) -> Result<()> {
    match items.iter().any(|item| matches!(item, IndexItem::Slice { step: 0, .. })) {
        true => Err(Rejection::SliceStepZero.into()),
        false => Ok(()),
    }
}

/// The size of a dimension that an index comes to. libtorch takes what is in memory behind the sizes for those beyond.
fn size_of(layout: &Layout, dim: usize) -> Result<i64> {
    let beyond = || Stop::Unsupported("an index of a dimension that is not there, after a second ellipsis".to_owned());
    layout.shape.sizes().get(dim).copied().ok_or_else(beyond)
}

/// One index of a dimension, which is gone then.
pub(super) fn selected(from: &Layout, dim: usize, index: i64) -> Layout {
    let (mut sizes, mut strides) = (from.shape.sizes().to_vec(), from.strides.clone());
    let (size, stride) = (sizes.remove(dim), strides.remove(dim));
    let offset = from.offset + index.rem_euclid(size).wrapping_mul(stride);
    Layout { shape: Shape::of_sizes(sizes), strides, offset }
}

/// Every `step`th index from `start` to `stop`, both within the dimension. A stride that is too large wraps around.
fn sliced(from: &Layout, dim: usize, start: i64, stop: i64, step: i64) -> Layout {
    let (mut sizes, mut strides) = (from.shape.sizes().to_vec(), from.strides.clone());
    let length = (stop - start).max(0);
    sizes[dim] = length / step + i64::from(length % step != 0);
    let offset = from.offset.wrapping_add(start.wrapping_mul(strides[dim]));
    strides[dim] = strides[dim].wrapping_mul(step);
    Layout { shape: Shape::new(sizes).expect("smaller sizes"), strides, offset }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a fuzz target found: [`insert_dimension`] panics.
    #[test]
    fn a_second_ellipsis_can_lead_past_the_last_dimension() {
        use IndexItem::{At, Ellipsis, None as NewAxis, Slice};
        let matrix = Layout::contiguous(Shape::new(vec![2, 3]).expect("small sizes"));
        let slice = Slice { start: Some(0), stop: Some(1), step: 1 };
        assert_eq!(
            indexed(&matrix, &[Ellipsis, Ellipsis]).expect("there is nothing to look for").shape.sizes(),
            [2, 3]
        );
        assert_eq!(indexed(&matrix, &[Ellipsis, At(0), Ellipsis]).expect("one of two is left").shape.sizes(), [2]);
        let Err(Stop::Rejected(rejection)) = indexed(&matrix, &[Ellipsis, Ellipsis, NewAxis]) else {
            panic!("a new dimension has a range");
        };
        let message = rejection.to_string();
        assert_eq!(message, "Dimension out of range (expected to be in range of [-3, 2], but got 4)");
        for item in [At(0), At(-1), slice] {
            let outcome = indexed(&matrix, &[Ellipsis, Ellipsis, item.clone()]);
            assert!(matches!(outcome, Err(Stop::Unsupported(_))), "{item:?}: {outcome:?}");
        }
    }
}
