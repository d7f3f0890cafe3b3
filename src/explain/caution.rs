//! Calls that PyTorch accepts and that are probably not meant.

use broadcheck_protocol::ops::{Family, Form, Op};
use broadcheck_protocol::tensor::Shape;

use crate::drawing::Label;
use crate::evaluate::Call;
use crate::fix;
use crate::names::Function;

/// Something to look at, though the call is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caution {
    /// What is to be looked at.
    pub text: String,
    /// True if other shapes are likely meant, so that changes are worth proposing.
    pub meant_otherwise: bool,
}

/// A result above so many bytes is worth a word.
const LARGE: u64 = 1 << 30;

/// The cautions of a call that is accepted.
pub fn cautions(call: &Call, calls: &[Call], label: Label) -> Vec<Caution> {
    let mut found = Vec::new();
    if fix::is_elementwise(call) {
        found.extend(every_with_every(call, label));
        found.extend(lost_dimension(call, calls));
    }
    found.extend(never_equal(call, label));
    found.extend(vectors_as_matrix(call));
    found.extend(resized(call, label));
    found.extend(nothing_left(call));
    found.extend(enormous(call, label));
    found
}

/// `[n]` with `[n, 1]`: the same number of elements, and a result that has every pair of them.
fn every_with_every(call: &Call, label: Label) -> Option<Caution> {
    let [a, b, ..] = &call.operands[..] else { return None };
    if a.shape == b.shape {
        return None;
    }
    let loss = matches!(call.function, Function::Table(op, _) if op.info().family() == Family::Losses);
    let bare = |shape: &Shape| shape.sizes().iter().copied().filter(|size| *size != 1).collect::<Vec<_>>();
    let (own, other) = (bare(&a.shape), bare(&b.shape));
    let together = a.shape.broadcast(&b.shape).ok()?;
    let grows = together != a.shape && together != b.shape;
    if own == other && !own.is_empty() && grows {
        let each = a.shape.numel() as i64;
        return Some(Caution {
            text: format!(
                "{} and {} have {} elements each, and the broadcast shape is {}: every element of one meets every element of \
                 the other",
                a.name,
                b.name,
                label(each),
                crate::drawing::shape_text(together.sizes(), label)
            ),
            meant_otherwise: true,
        });
    }
    loss.then(|| Caution {
        text: format!(
            "a loss compares an input with a target of the same shape; {} is {}, {} is {}, and they broadcast",
            a.name,
            crate::drawing::shape_text(a.shape.sizes(), label),
            b.name,
            crate::drawing::shape_text(b.shape.sizes(), label)
        ),
        meant_otherwise: true,
    })
}

/// `x / x.sum(1)` of a square `x`: the sums of the rows line up with the columns.
fn lost_dimension(call: &Call, calls: &[Call]) -> Option<Caution> {
    call.operands.iter().find_map(|operand| {
        let made = fix::reduction_at(operand, calls)?;
        let source = made.operands.first()?;
        let other = call.operands.iter().find(|other| other.span != operand.span && other.name == source.name)?;
        let dims = &made.settings.dims;
        // What is left lines up at the end; it is in its own place only if the first dimensions went.
        let leading = dims.iter().all(|dim| *dim < dims.len());
        let left = operand.shape.rank();
        if dims.is_empty() || leading || left == 0 || other.shape.rank() <= left {
            return None;
        }
        let dim = dims[0];
        Some(Caution {
            text: format!(
                "{} has lost dimension {dim} of {}; its last dimension lines up with the last one of {}, which is another",
                operand.name, source.name, other.name
            ),
            meant_otherwise: true,
        })
    })
}

/// A batch of matrices times what looks like a batch of vectors: all sizes agree, and it is taken for one matrix.
fn vectors_as_matrix(call: &Call) -> Option<Caution> {
    let (Function::Table(Op::Matmul, _), [a, b]) = (call.function, &call.operands[..]) else { return None };
    let ([batch, _, inner], [rows, columns]) = (a.shape.sizes(), b.shape.sizes()) else { return None };
    (batch == rows && inner == columns && *batch > 1).then(|| Caution {
        text: format!("{} is taken for one matrix; if its rows are vectors, one for each matrix of {}, they need a dimension more", b.name, a.name),
        meant_otherwise: true,
    })
}

/// `equal` of shapes that differ, which do not broadcast.
fn never_equal(call: &Call, label: Label) -> Option<Caution> {
    let (Function::Table(Op::Equal, _), [a, b]) = (call.function, &call.operands[..]) else { return None };
    (a.shape != b.shape).then(|| Caution {
        text: format!(
            "{} is {} and {} is {}: equal does not broadcast, and returns False",
            a.name,
            crate::drawing::shape_text(a.shape.sizes(), label),
            b.name,
            crate::drawing::shape_text(b.shape.sizes(), label)
        ),
        meant_otherwise: false,
    })
}

/// A tensor given as `out=` that has another shape.
fn resized(call: &Call, label: Label) -> Option<Caution> {
    let (out, (shape, _)) = (call.out.as_ref()?, call.result.as_ref()?);
    (out.shape != *shape && out.shape.numel() > 0).then(|| Caution {
        text: format!(
            "{} has shape {} and is resized to {}, which PyTorch deprecates",
            out.name,
            crate::drawing::shape_text(out.shape.sizes(), label),
            crate::drawing::shape_text(shape.sizes(), label)
        ),
        meant_otherwise: true,
    })
}

/// A result without elements, of operands that have some.
fn nothing_left(call: &Call) -> Option<Caution> {
    let (shape, _) = call.result.as_ref()?;
    let some = !call.operands.is_empty() && call.operands.iter().all(|operand| operand.shape.numel() > 0);
    (some && shape.numel() == 0).then(|| Caution {
        text: format!("the result {shape} has no elements, though every operand has some"),
        meant_otherwise: true,
    })
}

/// A result of many bytes that comes of smaller operands.
fn enormous(call: &Call, label: Label) -> Option<Caution> {
    let (shape, dtype) = call.result.as_ref()?;
    if matches!(call.function, Function::Table(op, Form::Functional) if op.info().family() == Family::Views) {
        return None;
    }
    let bytes = bytes(shape, dtype.size());
    let largest =
        call.operands.iter().map(|operand| self::bytes(&operand.shape, operand.dtype.size())).max().unwrap_or(0);
    if bytes < u128::from(LARGE) || bytes < 8 * largest {
        return None;
    }
    Some(Caution {
        text: format!(
            "the result {} takes {} in memory, its largest operand {}",
            crate::drawing::shape_text(shape.sizes(), label),
            human(bytes),
            human(largest)
        ),
        meant_otherwise: false,
    })
}

/// The bytes of a tensor.
pub fn bytes(shape: &Shape, each: usize) -> u128 {
    shape.sizes().iter().fold(each as u128, |all, size| all.saturating_mul(u128::try_from(*size).unwrap_or(0)))
}

/// A number of bytes as people say it: `3.7 GiB`.
///
/// ```
/// assert_eq!(broadcheck_explain::caution::human(4_000_000_000), "3.7 GiB");
/// assert_eq!(broadcheck_explain::caution::human(12), "12 bytes");
/// ```
pub fn human(bytes: u128) -> String {
    const UNITS: [&str; 8] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
    let mut size = bytes as f64;
    let mut unit = None;
    for name in UNITS {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = Some(name);
    }
    match unit {
        None => format!("{bytes} bytes"),
        Some(unit) => format!("{size:.1} {unit}"),
    }
}
