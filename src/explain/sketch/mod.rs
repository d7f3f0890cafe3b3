//! The drawing of a call: which kind it gets, and of which shapes.

mod product;

use broadcheck_protocol::error::Class;
use broadcheck_protocol::ops::{Family, Form, Op};
use broadcheck_protocol::tensor::Shape;

use crate::bench::Stop;
use crate::beside::Kind;
use crate::drawing::{self, Drawing, Label, Named, shape_text};
use crate::evaluate::{Call, Operand};
use crate::fix;
use crate::names::Function;

/// Draws a call; `None` for a call whose shapes do not meet, and for a rejection whose reason no drawing shows.
pub fn sketch(call: &Call, label: Label) -> Option<Drawing> {
    let mut drawing = match call.function {
        Function::Table(op, form) => of_table(op, form, call, label)?,
        Function::Beside(function) => beside(function.kind, call, label)?,
    };
    finish(&mut drawing, call, label);
    let explained = drawing.rules.iter().any(|rule| !rule.holds);
    let by_shapes =
        matches!(class(call), Some(Class::SizeMismatch | Class::OutputShape | Class::Expand | Class::ProductShape));
    (explained || !by_shapes).then_some(drawing)
}

/// The class of the rejection of a call.
fn class(call: &Call) -> Option<Class> {
    match &call.stop {
        Some(Stop::Rejected(_, Some(rejection))) => Some(rejection.class()),
        _ => None,
    }
}

fn of_table(op: Op, form: Form, call: &Call, label: Label) -> Option<Drawing> {
    let all: Vec<Named> = call.operands.iter().map(named).collect();
    Some(match (op, &all[..]) {
        (Op::Einsum, _) => drawing::einsum(&call.settings.equation, &all, label)?,
        (Op::Expand | Op::BroadcastTo, [tensor, ..]) => drawing::expand(tensor, &call.settings.sizes, label),
        (Op::ExpandAs, [tensor, other]) => drawing::expand(tensor, other.1.sizes(), label),
        (Op::View | Op::Reshape, [tensor, ..]) => drawing::view(tensor, &call.settings.sizes, label),
        (Op::Index | Op::IndexTensor, [tensor, ..]) if !call.settings.index.is_empty() => {
            drawing::index(tensor, &call.settings.index, label)
        }
        (Op::IndexTensor, [_, indices @ ..]) if indices.len() > 1 => drawing::elementwise(indices, false, None, label),
        (Op::Gather, [tensor, index]) => drawing::gather(tensor, index, *call.settings.dims.first()?, label),
        (Op::Scatter, [tensor, index, source]) => {
            drawing::scatter(tensor, index, source, *call.settings.dims.first()?, label)
        }
        (Op::Cdist, [a, b]) => drawing::distances(a, &transposed(b), label),
        (Op::Prelu, [tensor, weight]) => drawing::prelu(tensor, weight, label),
        // The target has one element for each pair of rows.
        (Op::CosineEmbeddingLoss, [a, b, _]) => drawing::elementwise(&[a.clone(), b.clone()], false, None, label),
        // Shapes that differ are an answer, and not a mistake.
        (Op::Equal, [a, b]) if a.1 != b.1 => return None,
        // The weight and the bias lie along the last dimensions. They do not broadcast, which a drawing of shapes that differ would say.
        (Op::LayerNorm, [_, _, ..]) if call.stop.is_none() => drawing::elementwise(&all, false, None, label),
        // One element fills what a mask selects, whatever its shape is.
        (Op::IndexPut, [place, value, ..]) if call.stop.is_none() && value.1.numel() == 1 => {
            drawing::elementwise(&[place.clone(), (value.0.clone(), Shape::scalar())], true, None, label)
        }
        // Points of one dimension lie along that of the integral.
        (Op::Trapezoid | Op::CumulativeTrapezoid, [y, x]) if x.1.rank() == 1 && y.1.rank() > 1 => {
            let last = y.1.rank() - 1;
            let x = along(x, y.1.rank(), call.settings.dims.first().copied().unwrap_or(last))?;
            drawing::elementwise(&[y.clone(), x], false, None, label)
        }
        // They keep the shape.
        (Op::Cumsum | Op::Cumprod | Op::Cummax | Op::Cummin | Op::Logcumsumexp | Op::LayerNorm, _) => return None,
        (_, [tensor, ..]) if op.info().family() == Family::Reductions && !matches!(op, Op::SumToSize | Op::Item) => {
            drawing::reduction(tensor, &call.settings.dims, call.settings.keepdim, label)
        }
        _ if op.info().family() == Family::Products => product::sketch(op, form, call, &all, label)?,
        _ if fix::is_elementwise(call) => {
            let own = match op {
                // The mask and what is filled or selected broadcast; the value does not.
                Op::MaskedFill | Op::MaskedSelect | Op::MaskedScatter => all.get(..2)?,
                _ => &all[..],
            };
            if own.len() < 2 && call.out.is_none() {
                return None;
            }
            // A weight that broadcasts is multiplied in place, too.
            let written = form == Form::InPlace || (call.out.is_none() && class(call) == Some(Class::OutputShape));
            let out = call.out.as_ref().map(self::named);
            drawing::elementwise(own, written, out.as_ref(), label)
        }
        _ => return None,
    })
}

fn beside(kind: Kind, call: &Call, label: Label) -> Option<Drawing> {
    let all: Vec<Named> = call.operands.iter().map(named).collect();
    let dim = call.settings.dims.first().copied().unwrap_or(0);
    Some(match (kind, &all[..]) {
        (Kind::Cat, _) => drawing::cat(&all, dim, label),
        (Kind::Stack, _) => drawing::stack(&all, dim, label),
        (Kind::BinaryCrossEntropy, _) => drawing::elementwise(&all, false, None, label),
        (Kind::Linear, [x, weight, ..]) => drawing::matmul(x, &transposed(weight), true, label),
        (Kind::Attention, [query, key, ..]) => drawing::matmul(query, &transposed(key), true, label),
        _ => return None,
    })
}

/// The shape of the whole result, and the fate of `out=`.
fn finish(drawing: &mut Drawing, call: &Call, label: Label) {
    let result = call.result.as_ref().map(|(shape, _)| shape_text(shape.sizes(), label));
    if let (Some(row), Some(result)) = (drawing.rows.iter_mut().find(|row| row.result), result) {
        if row.shape.is_empty() {
            row.shape = result;
        } else if row.shape != result {
            "broadcast".clone_into(&mut row.name);
            drawing.law(true, format!("what the shapes broadcast to is reduced, and the result is {result}"));
        }
    }
    // `out=` that is an operand, too: another shape would lose what is read.
    if let (Some(out), Some(Class::OutputShape)) = (&call.out, class(call)) {
        drawing.rules.retain(|rule| !rule.text.contains("is resized to"));
        drawing.law(
            false,
            format!(
                "{} has shape {} and is an operand as well, so it is not resized",
                out.name,
                shape_text(out.shape.sizes(), label)
            ),
        );
    }
}

fn named(operand: &Operand) -> Named {
    (operand.name.clone(), operand.shape.clone())
}

/// A vector as a tensor of so many dimensions, along one of them; `None` if there is no such dimension.
fn along(vector: &Named, rank: usize, dim: usize) -> Option<Named> {
    let mut sizes = vec![1; rank];
    *sizes.get_mut(dim)? = vector.1.sizes()[0];
    Some((vector.0.clone(), Shape::new(sizes).ok()?))
}

/// A tensor with its last two dimensions swapped, under the name that says so.
fn transposed(tensor: &Named) -> Named {
    let mut sizes = tensor.1.sizes().to_vec();
    if let [.., a, b] = sizes.as_mut_slice() {
        std::mem::swap(a, b);
    }
    (format!("{}.mT", tensor.0), Shape::new(sizes).unwrap_or_default())
}
