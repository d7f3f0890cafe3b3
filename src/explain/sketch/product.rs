//! Products: which of them take matrices, and what is added to them.

use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::tensor::Shape;

use crate::drawing::{self, Drawing, Label, Named, shape_text};
use crate::evaluate::Call;

/// The drawing of a product.
pub(super) fn sketch(op: Op, form: Form, call: &Call, all: &[Named], label: Label) -> Option<Drawing> {
    if let (Some(ranks), [.., a, b]) = (ranks(op), all)
        && (a.1.rank(), b.1.rank()) != ranks
    {
        let mut drawing = Drawing::default();
        for (tensor, rank) in [(a, ranks.0), (b, ranks.1)] {
            let (own, what) = (drawing::dims(tensor.1.rank()), drawing::dims(rank));
            drawing.law(tensor.1.rank() == rank, format!("{op} takes {what} here, and {} has {own}", tensor.0));
        }
        return Some(drawing);
    }
    Some(match (op, all) {
        (Op::Matmul, [a, b]) => drawing::matmul(a, b, true, label),
        (Op::Mm | Op::Bmm | Op::Mv | Op::Dot | Op::Vdot, [a, b]) => drawing::matmul(a, b, false, label),
        (Op::Inner, [a, b]) if a.1.rank() > 0 && b.1.rank() > 0 => {
            let last = (a.1.rank() - 1, b.1.rank() - 1);
            let equation = contraction(a.1.rank(), b.1.rank(), &[last.0], &[last.1 as i64])?;
            let mut drawing = drawing::einsum(&equation, all, label)?;
            let (own, other) = (a.1.sizes()[last.0], b.1.sizes()[last.1]);
            if own != other {
                let text =
                    format!("the last dimensions are {} and {}: they have to be equal", label(own), label(other));
                drawing.law(false, text);
            }
            drawing
        }
        (Op::Inner, [_, _]) => drawing::elementwise(all, false, None, label),
        (Op::Addmm | Op::AddmmActivation | Op::Addmv | Op::Baddbmm | Op::Addbmm, [own, a, b]) => {
            let mut drawing = drawing::matmul(a, b, false, label);
            if op == Op::Addbmm {
                drawing::sum_batches(&mut drawing);
            }
            added(&mut drawing, op, form, own, (a, b), label);
            drawing
        }
        (Op::Outer | Op::Ger, [a, b]) => drawing::elementwise(&[column(a), row(b)], false, None, label),
        (Op::Addr, [own, a, b]) => {
            let mut drawing = drawing::elementwise(&[column(a), row(b)], false, None, label);
            added(&mut drawing, op, form, own, (a, b), label);
            drawing
        }
        (Op::Kron, [a, b]) => drawing::kron(a, b, label),
        (Op::Tensordot, [a, b]) => {
            let (own, other) = (&call.settings.dims, &call.settings.sizes);
            let equation = contraction(a.1.rank(), b.1.rank(), own, other)?;
            drawing::einsum(&equation, all, label)?
        }
        // The sizes are those of the product of the inverse and the right side.
        (Op::CholeskySolve, [b, factor]) if is_square(factor) && b.1.rank() >= 2 => {
            drawing::matmul(factor, b, true, label)
        }
        (Op::LinalgSolveTriangular | Op::LinalgLuSolve, [a, .., b]) if call.stop.is_none() && fits_left(a, b) => {
            drawing::matmul(a, b, true, label)
        }
        (Op::LinalgVecdot, [_, _]) => drawing::elementwise(all, false, None, label),
        (Op::LinalgCross, [a, b]) => {
            let mut drawing = drawing::elementwise(all, false, None, label);
            if a.1.rank() != b.1.rank() {
                let (own, other) = (drawing::dims(a.1.rank()), drawing::dims(b.1.rank()));
                drawing.law(false, format!("{} has {own} and {} has {other}: cross adds no dimension", a.0, b.0));
            }
            drawing
        }
        _ => return None,
    })
}

/// Returns whether a right side has as many rows as a square matrix. From the right it has them too only if it is square, and
/// then the result has the same shape.
fn fits_left(a: &Named, b: &Named) -> bool {
    matches!((a.1.sizes(), b.1.sizes()), ([.., inner, _], [.., rows, _]) if is_square(a) && inner == rows)
}

fn is_square(tensor: &Named) -> bool {
    matches!(tensor.1.sizes(), [.., rows, columns] if rows == columns)
}

/// The number of dimensions that the factors must have; `None` for a product that takes any.
fn ranks(op: Op) -> Option<(usize, usize)> {
    match op {
        Op::Mm | Op::Addmm | Op::AddmmActivation => Some((2, 2)),
        Op::Mv | Op::Addmv => Some((2, 1)),
        Op::Bmm | Op::Baddbmm | Op::Addbmm => Some((3, 3)),
        Op::Dot | Op::Vdot | Op::Outer | Op::Ger | Op::Addr => Some((1, 1)),
        _ => None,
    }
}

/// What is added to a product is expanded to its shape (`addmm`: "broadcastable with a (n × p) tensor").
fn added(drawing: &mut Drawing, op: Op, form: Form, own: &Named, (a, b): (&Named, &Named), label: Label) {
    let (rows, columns) = (a.1.sizes(), b.1.sizes());
    let product = match op {
        Op::Addmm | Op::AddmmActivation => vec![rows[0], columns[1]],
        Op::Addmv => vec![rows[0]],
        Op::Addr => vec![rows[0], columns[0]],
        Op::Addbmm => vec![rows[1], columns[2]],
        _ => vec![rows[0], rows[1], columns[2]],
    };
    let text = format!("{}, which is added, is {}", own.0, shape_text(own.1.sizes(), label));
    let wanted = shape_text(&product, label);
    let fits = Shape::new(product.clone()).is_ok_and(|product| own.1.broadcast(&product).as_ref() == Ok(&product));
    match fits {
        _ if own.1.sizes() == product => drawing.law(true, format!("{text}, the shape of the product")),
        true if form == Form::InPlace => {
            drawing.law(false, format!("{text}, and it is written in place, so it is not expanded to {wanted}"));
        }
        true => drawing.law(true, format!("{text}, and is expanded to the shape of the product, {wanted}")),
        false => drawing.law(false, format!("{text}, and cannot be expanded to the shape of the product, {wanted}")),
    }
}

fn column(tensor: &Named) -> Named {
    with_one(tensor, 1, "[:, None]")
}

fn row(tensor: &Named) -> Named {
    with_one(tensor, 0, "[None, :]")
}

fn with_one(tensor: &Named, at: usize, index: &str) -> Named {
    let mut sizes = tensor.1.sizes().to_vec();
    sizes.insert(at.min(sizes.len()), 1);
    (format!("{}{index}", tensor.0), Shape::new(sizes).unwrap_or_default())
}

/// The equation of `tensordot`: the dimensions that are summed over have the same letter in both operands. `None` for
/// lists that do not fit.
fn contraction(own: usize, other: usize, own_dims: &[usize], other_dims: &[i64]) -> Option<String> {
    let letters: Vec<char> = ('a'..='z').chain('A'..='Z').collect();
    if own + other > letters.len() || own_dims.len() != other_dims.len() {
        return None;
    }
    let left = &letters[..own];
    let mut right = letters[own..own + other].to_vec();
    for (own, dim) in own_dims.iter().zip(other_dims) {
        let at = if *dim < 0 { dim + other as i64 } else { *dim };
        *right.get_mut(usize::try_from(at).ok()?)? = *left.get(*own)?;
    }
    let kept = |letter: &&char| !(left.contains(letter) && right.contains(letter));
    let result: String = left.iter().chain(&right).filter(kept).collect();
    Some(format!("{},{}->{result}", left.iter().collect::<String>(), right.iter().collect::<String>()))
}
