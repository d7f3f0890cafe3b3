//! The drawing of a call: which kind it gets, and of which shapes.

use broadcheck_protocol::ops::{Family, Form, Op};
use broadcheck_protocol::tensor::Shape;

use crate::beside::Kind;
use crate::drawing::{self, Drawing, Label, Named};
use crate::evaluate::{Call, Operand};
use crate::fix;
use crate::names::Function;

/// Draws a call; `None` for a call whose shapes do not meet.
pub fn sketch(call: &Call, label: Label) -> Option<Drawing> {
    let named: Vec<Named> = call.operands.iter().map(named).collect();
    let mut drawing = match call.function {
        Function::Table(Op::Einsum, _) => drawing::einsum(&call.settings.equation, &named, label)?,
        Function::Table(Op::Expand | Op::BroadcastTo, _) => {
            drawing::expand(named.first()?, &call.settings.sizes, label)
        }
        Function::Table(Op::ExpandAs, _) => {
            let [tensor, other] = &named[..] else { return None };
            drawing::expand(tensor, other.1.sizes(), label)
        }
        Function::Table(Op::View | Op::Reshape, _) => drawing::view(named.first()?, &call.settings.sizes, label),
        Function::Table(Op::IndexTensor, _) => {
            let indices = named.get(1..).filter(|indices| indices.len() > 1)?;
            drawing::elementwise(indices, false, None, label)
        }
        Function::Table(op, form) => match op.info().family() {
            Family::Products => product(op, &named, label)?,
            Family::Reductions if op != Op::SumToSize && op != Op::Item => {
                drawing::reduction(named.first()?, &call.settings.dims, call.settings.keepdim, label)
            }
            _ if fix::is_elementwise(call) => {
                let written = form == Form::InPlace;
                let own = match op {
                    // The mask and what is filled or selected broadcast; the value does not.
                    Op::MaskedFill | Op::MaskedSelect | Op::MaskedScatter => named.get(..2)?,
                    _ => &named[..],
                };
                if own.len() < 2 && call.out.is_none() {
                    return None;
                }
                let out = call.out.as_ref().map(self::named);
                drawing::elementwise(own, written, out.as_ref(), label)
            }
            _ => return None,
        },
        Function::Beside(function) => match function.kind {
            Kind::Cat => drawing::cat(&named, call.settings.dims.first().copied().unwrap_or(0), label),
            Kind::Stack => drawing::stack(&named, call.settings.dims.first().copied().unwrap_or(0), label),
            Kind::BinaryCrossEntropy => drawing::elementwise(&named, false, None, label),
            Kind::Linear => {
                let [x, weight, ..] = &named[..] else { return None };
                drawing::matmul(x, &transposed(weight), true, label)
            }
            Kind::Attention => {
                let [query, key, ..] = &named[..] else { return None };
                drawing::matmul(query, &transposed(key), true, label)
            }
            _ => return None,
        },
    };
    if let Some(row) = drawing.rows.iter_mut().find(|row| row.result && row.shape.is_empty())
        && let Some((shape, _)) = &call.result
    {
        row.shape = drawing::shape_text(shape.sizes(), label);
    }
    Some(drawing)
}

fn product(op: Op, named: &[Named], label: Label) -> Option<Drawing> {
    let batches = matches!(op, Op::Matmul);
    Some(match (op, named) {
        (Op::Matmul | Op::Mm | Op::Bmm | Op::Mv | Op::Dot | Op::Vdot, [a, b]) => drawing::matmul(a, b, batches, label),
        (Op::Addmm | Op::Addmv | Op::Baddbmm | Op::Addbmm, [_, a, b]) => drawing::matmul(a, b, false, label),
        (Op::Inner, [a, b]) if b.1.rank() > 1 => drawing::matmul(a, &transposed(b), batches, label),
        (Op::LinalgVecdot | Op::LinalgCross, [_, _]) => drawing::elementwise(named, false, None, label),
        _ => return None,
    })
}

fn named(operand: &Operand) -> Named {
    (operand.name.clone(), operand.shape.clone())
}

/// A tensor with its last two dimensions swapped, under the name that says so.
fn transposed(tensor: &Named) -> Named {
    let mut sizes = tensor.1.sizes().to_vec();
    if let [.., a, b] = sizes.as_mut_slice() {
        std::mem::swap(a, b);
    }
    (format!("{}.mT", tensor.0), Shape::new(sizes).unwrap_or_default())
}
