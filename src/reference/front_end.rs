//! What only PyTorch's Python front end has.

use crate::error::Rejection;
use crate::program::ShapeArg;

use super::machine::{Call, Machine, Result, Slot};

/// `torch.broadcast_shapes` (`torch._refs._broadcast_shapes`): each argument is laid over what the earlier ones came to,
/// from its last dimension to its first.
pub(super) fn broadcast_shapes(_: &mut Machine, call: &Call) -> Result<Slot> {
    let shapes = call.shapes(0)?;
    let sizes_of = |shape: &ShapeArg| match shape {
        ShapeArg::Size(size) => vec![*size],
        ShapeArg::Sizes(sizes) => sizes.clone(),
    };
    let rank = shapes.iter().map(|shape| sizes_of(shape).len()).max().unwrap_or(0);
    let mut common = vec![1; rank];
    for (argument, shape) in shapes.iter().enumerate() {
        let sizes = sizes_of(shape);
        for (back, &size) in sizes.iter().rev().enumerate() {
            let seen = &mut common[rank - 1 - back];
            if *seen == 1 && size < 0 {
                return Err(Rejection::ShapesNegative.into());
            }
            if *seen == 1 {
                *seen = size;
            } else if size != 1 && size != *seen {
                return Err(Rejection::ShapesMismatch {
                    size,
                    dim: -1 - back as i64,
                    argument,
                    shape: shape.to_string(),
                    expected: common,
                }
                .into());
            }
        }
    }
    Ok(Slot::Sizes(common))
}

/// `torch.utils.backcompat.broadcast_warning.enabled = …`. The switch is still there, but nothing in libtorch 2.x reads
/// it, so it changes no outcome.
pub(super) fn broadcast_warning(_: &mut Machine, call: &Call) -> Result<Slot> {
    call.flag(0)?;
    Ok(Slot::Nothing)
}
