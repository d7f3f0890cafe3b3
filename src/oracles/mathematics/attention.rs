//! `scaled_dot_product_attention`: the definition in float64, and what rounding may make of it.

use super::set::{Format, Set, as_float};
use super::trace::{Elements, Trace};
use super::view::View;
use super::{Right, Wrong, wrong_shape};
use crate::Difference;
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, Scalar, Shape};

const ATTENTION: &str = "torch.nn.functional.scaled_dot_product_attention: the sum of the values, weighted by the softmax of the scaled products and the mask; the exponential magnifies the error of the products: Higham, Accuracy and Stability of Numerical Algorithms, 3.1";

/// The most products of one step that are judged.
const MOST: i64 = 1 << 14;

/// The first element that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let given = |number: usize| trace.operand(at, step, number);
    let [query, key, value] = [given(0)?, given(1)?, given(2)?];
    let masked = matches!(step.args[3], Arg::Tensor(_));
    let mask = if masked { Some(given(3)?) } else { None };
    let causal = step.args[5] == Arg::Flag(true);
    let format = Format::of(result.dtype)?;
    // Complex numbers, and what should have been rejected, are for others to judge.
    let complex = result.dtype.category() == Category::Complex;
    if complex || query.dtype != result.dtype || step.args[4] != Arg::Number(Scalar::Float(0.0)) || (causal && masked) {
        return None;
    }
    let split = |known: &Elements| {
        let sizes = known.shape.sizes();
        let (batch, matrix) = sizes.split_at_checked(sizes.len().checked_sub(2)?)?;
        Some((batch.to_vec(), [matrix[0], matrix[1]]))
    };
    let [(batch_q, [rows, inner]), (batch_k, [columns, inner_k]), (batch_v, [columns_v, outer])] =
        [split(&query)?, split(&key)?, split(&value)?];
    if inner != inner_k || columns != columns_v {
        return None;
    }
    let shape = |sizes: &[i64]| Shape::new(sizes.to_vec()).ok();
    let batch = shape(&batch_q)?.broadcast(&shape(&batch_k)?).ok()?.broadcast(&shape(&batch_v)?).ok()?;
    let whole = |matrix: [i64; 2]| [batch.sizes(), &matrix].concat();
    let sizes = whole([rows, outer]);
    if result.shape.sizes() != sizes {
        return Some(wrong_shape(step, result, &sizes, ATTENTION));
    }
    let scores = whole([rows, columns]);
    if scores.iter().product::<i64>().checked_mul(inner.max(outer).max(1))? > MOST {
        return None;
    }
    let view = |known: &Elements, sizes: &[i64]| View::of(known.shape.sizes()).expanded(sizes);
    let views = [(&query, [rows, inner]), (&key, [columns, inner]), (&value, [columns, outer])];
    let [q, k, v] = views.map(|(known, matrix)| view(known, &whole(matrix)));
    let (q, k, v) = (q?, k?, v?);
    let m = match &mask {
        Some(mask) => Some((mask, view(mask, &scores)?)),
        None => None,
    };
    let scale = match step.args.get(6)? {
        Arg::Number(scale) => as_float(*scale)?,
        _ => (inner as f64).sqrt().recip(),
    };
    let number = |known: &Elements, view: &View, batch: &[i64], place: [i64; 2]| {
        as_float(*known.values.get(view.place(&[batch, &place].concat()))?)
    };
    // Each side is multiplied by the root of the scale, which may overflow.
    let sides = query.values.iter().chain(&key.values).filter_map(|number| as_float(*number)).map(f64::abs);
    let largest = sides.filter(|size| size.is_finite()).fold(1.0, f64::max);
    if largest * scale.abs().sqrt() > format.largest() {
        return None;
    }
    let unit = format.ulp(1.0);
    let observed = Elements::of(result)?;
    let mut wrong = Vec::new();
    for (number_of_row, index) in indices(&whole([rows, 1])).into_iter().enumerate() {
        let (own, row) = (&index[..index.len() - 2], index[index.len() - 2]);
        let (mut weights, mut error, mut masked) = (Vec::new(), 0.0f64, true);
        for column in 0..columns {
            let (mut score, mut size, mut finite) = (0.0, 0.0, true);
            for at in 0..inner {
                let factors = [number(&query, &q, own, [row, at])?, number(&key, &k, own, [column, at])?];
                let product = factors[0] * factors[1];
                finite &= factors.iter().all(|factor| factor.is_finite());
                (score, size) = (score + product, size + product.abs());
            }
            // What overflows here need not where each side is scaled first.
            if finite && size.is_infinite() {
                return None;
            }
            let added = match &m {
                Some((mask, view)) => {
                    let value = *mask.values.get(view.place(&[own, &[row, column]].concat()))?;
                    match value {
                        Scalar::Bool(seen) => hidden(!seen),
                        value => as_float(value)?,
                    }
                }
                None => hidden(causal && column > row),
            };
            masked &= added == f64::NEG_INFINITY;
            let magnitude = size * scale.abs() + if added.is_finite() { added.abs() } else { 0.0 };
            error = error.max((inner + 8) as f64 * 4.0 * unit * magnitude);
            weights.push(score * scale + added);
        }
        let Some(factor) = weigh(&mut weights, masked) else { continue };
        for column in 0..outer {
            let values = (0..columns).map(|at| number(&value, &v, own, [at, column])).collect::<Option<Vec<f64>>>()?;
            let set = match factor {
                Factor::Nan => Set::Nan,
                // Zero times infinity is NaN.
                Factor::Zero if values.iter().any(|value| !value.is_finite()) => continue,
                Factor::Zero => Set::ZERO,
                Factor::Sum => {
                    let terms = || weights.iter().zip(&values).map(|(weight, value)| weight * value);
                    let most: f64 = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
                    if !most.is_finite() || most > format.largest() / 4.0 || error.is_nan() || error > 0.25 {
                        continue;
                    }
                    let loss = most * (4.0 * error + (columns + 16) as f64 * unit) + 8.0 * format.smallest();
                    format.near(terms().sum(), loss)
                }
            };
            let place = number_of_row * outer as usize + column as usize;
            let (right, observed) = (Right::by(ATTENTION, set), *observed.values.get(place)?);
            wrong.extend(Wrong::unless(right, place, observed, values.into_iter().map(Scalar::Float)));
        }
    }
    Some(Wrong::first(wrong.into_iter())?.difference(step, result))
}

fn hidden(hides: bool) -> f64 {
    if hides { f64::NEG_INFINITY } else { 0.0 }
}

/// The kind of a row.
#[derive(Clone, Copy)]
enum Factor {
    /// A score is NaN, and so are all weights.
    Nan,
    /// All is masked.
    Zero,
    /// The weights add up to 1.
    Sum,
}

/// Makes weights of scores. `None` for those that overflow, or are infinite, by an operand that may be so large that
/// another order of the products is not.
fn weigh(row: &mut [f64], masked: bool) -> Option<Factor> {
    if row.iter().any(|score| score.is_nan()) {
        return Some(Factor::Nan);
    }
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if masked {
        return Some(Factor::Zero);
    }
    if most.abs() > 1e30 {
        return None;
    }
    row.iter_mut().for_each(|score| *score = (*score - most).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|weight| *weight /= sum);
    Some(Factor::Sum)
}

/// The indices of a shape, row-major.
fn indices(sizes: &[i64]) -> Vec<Vec<i64>> {
    let count = sizes.iter().product::<i64>() as usize;
    (0..count).map(|number| super::view::unravel(sizes, number)).collect()
}
