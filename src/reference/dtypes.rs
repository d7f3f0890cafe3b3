//! Functions of dtypes (`c10/core/ScalarType.cpp`, `ATen/native/TypeProperties.cpp`).

use crate::error::Rejection;
use crate::tensor::{Scalar, ScalarKind, ScalarType};

use super::machine::{Call, Machine, Result, Slot};
use super::{elementwise, iterator};

/// `promote_types`.
pub(super) fn promote_types(_: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b) = (call.scalar_type(0)?, call.scalar_type(1)?);
    Ok(Slot::Dtype(promoted(a, b)?))
}

/// `can_cast`.
pub(super) fn can_cast(_: &mut Machine, call: &Call) -> Result<Slot> {
    let (from, to) = (call.scalar_type(0)?, call.scalar_type(1)?);
    Ok(Slot::Number(Scalar::Bool(from.can_cast_to(to))))
}

/// `result_type`: the dtype in which the operands of an elementwise operation meet.
pub(super) fn result_type(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let operands = [elementwise::input(machine, call, 0)?, elementwise::input(machine, call, 1)?];
    Ok(Slot::Dtype(iterator::scalar_type(&operands)))
}

/// The dtype that two dtypes promote to (`c10::promoteTypes`). Where libtorch's table lacks a dtype, an internal assertion of it
/// fails; the rejection is the one of dtypes without a promotion.
fn promoted(a: ScalarType, b: ScalarType) -> std::result::Result<ScalarType, Rejection> {
    use ScalarKind::{Bits, Float8, NarrowUnsigned, Quantized, Unsigned};
    if a == b {
        return Ok(a);
    }
    let either = |kinds: &[ScalarKind]| [a, b].iter().any(|one| kinds.contains(&one.kind()));
    if either(&[Quantized]) {
        Err(Rejection::PromotedQuantized { a, b })
    } else if either(&[Bits]) {
        Err(Rejection::NoPromotion { a, b })
    } else if either(&[Float8]) {
        Err(Rejection::PromotedFloat8 { a, b })
    } else if either(&[Unsigned, NarrowUnsigned]) {
        [a, b].into_iter().find(|one| one.is_floating()).ok_or(Rejection::PromotedUnsigned { a, b })
    } else {
        a.promote(b).ok_or(Rejection::NoPromotion { a, b })
    }
}
