//! Functions of sizes, which may be any integers (`ATen/ExpandUtils.h`).

use crate::error::Rejection;
use crate::tensor::Scalar;

use super::machine::{Call, Machine, Result, Slot};

/// `at::infer_size` (`infer_size_impl`): from the last dimension to the first, one size has to be the other, or 1.
pub(super) fn infer_size(_: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b) = (call.ints(0)?, call.ints(1)?);
    let rank = a.len().max(b.len());
    let size = |sizes: &[i64], dim: usize| (dim + sizes.len()).checked_sub(rank).map_or(1, |dim| sizes[dim]);
    let mut common = vec![1; rank];
    for dim in (0..rank).rev() {
        common[dim] = match (size(a, dim), size(b, dim)) {
            (1, other) => other,
            (size, other) if other == size || other == 1 => size,
            (a, b) => return Err(Rejection::SizeMismatch { a, b, dim }.into()),
        };
    }
    Ok(Slot::Sizes(common))
}

/// `at::are_expandable`: in each dimension that both have, one size is the other, or 1.
pub(super) fn are_expandable(_: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b) = (call.ints(0)?.iter().rev(), call.ints(1)?.iter().rev());
    truth(a.zip(b).all(|(a, b)| a == b || *a == 1 || *b == 1))
}

/// `at::is_expandable_to`: the desired shape has at least as many dimensions, and in each size the same, or 1.
pub(super) fn is_expandable_to(_: &mut Machine, call: &Call) -> Result<Slot> {
    let (shape, desired) = (call.ints(0)?, call.ints(1)?);
    let expands = |(size, to): (&i64, &i64)| size == to || *size == 1;
    truth(shape.len() <= desired.len() && shape.iter().rev().zip(desired.iter().rev()).all(expands))
}

fn truth(of: bool) -> Result<Slot> {
    Ok(Slot::Number(Scalar::Bool(of)))
}
