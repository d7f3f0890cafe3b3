//! Functions that only PyTorch's Python front end has.

use crate::error::Rejection;
use crate::program::ShapeArg;
use crate::tensor::Scalar;

use super::machine::{Call, Machine, Result, Slot};

/// `torch.broadcast_shapes` (`torch._refs._broadcast_shapes`): each argument is laid over what the earlier ones came to,
/// from its last dimension to its first.
pub(super) fn broadcast_shapes(_: &mut Machine, call: &Call) -> Result<Slot> {
    let shapes = call.shapes(0)?;
    let float = shapes.iter().find_map(|shape| match shape {
        ShapeArg::Float(value) => Some(format!("{value:?}")),
        _ => None,
    });
    if let Some(value) = float {
        return Err(Rejection::ShapesFloat { value }.into());
    }
    let rank = shapes.iter().map(|shape| dimensions(shape).len()).max().unwrap_or(0);
    let mut common = vec![1; rank];
    for (argument, shape) in shapes.iter().enumerate() {
        for (back, size) in dimensions(shape).iter().rev().enumerate() {
            let seen = &mut common[rank - 1 - back];
            match size {
                Err(_) if *seen == 1 => return Err(Rejection::ShapesText.into()),
                Ok(size) if *seen == 1 && *size < 0 => return Err(Rejection::ShapesNegative.into()),
                Ok(size) if *seen == 1 => *seen = *size,
                Ok(size) if *size == 1 || size == seen => {}
                Ok(_) | Err(_) => {
                    return Err(Rejection::ShapesMismatch {
                        size: size.map_or_else(String::from, |size| size.to_string()),
                        dim: -1 - back as i64,
                        argument,
                        shape: shape.to_string(),
                        expected: common,
                    }
                    .into());
                }
            }
        }
    }
    Ok(Slot::Sizes(common))
}

/// Returns the items that Python finds in a sequence of sizes: a text is a sequence of characters.
fn dimensions(shape: &ShapeArg) -> Vec<std::result::Result<i64, char>> {
    match shape {
        ShapeArg::Text(text) => text.chars().map(Err).collect(),
        _ => shape.sizes().unwrap_or_default().iter().copied().map(Ok).collect(),
    }
}

/// `torch.utils.backcompat.broadcast_warning.enabled`, which is assigned to if there is an argument, and read if there
/// is none. It is false at first. The switch is still there, but nothing in libtorch 2.x reads it, so it changes no
/// other outcome.
pub(super) fn broadcast_warning(machine: &mut Machine, call: &Call) -> Result<Slot> {
    match call.optional_flag(0)? {
        None => return Ok(Slot::Number(Scalar::Bool(machine.broadcast_warning))),
        Some(enabled) => machine.broadcast_warning = enabled,
    }
    Ok(Slot::Nothing)
}
