//! `bilinear`: the sums of products of its definition, and what rounding may make of them.

use super::set::{Format, as_float};
use super::trace::{Elements, Trace};
use super::view::{View, unravel};
use super::{Right, Wrong, integer, wrong_shape};
use crate::Difference;
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, Scalar, Shape};

const BILINEAR: &str = "torch.nn.Bilinear: each element is the sum of the products of two elements and a weight, and a bias, within n units of roundoff of the sum of magnitudes: Higham, Accuracy and Stability of Numerical Algorithms, 3.1";

/// The most products of one step that are judged.
const MOST: usize = 1 << 14;

/// The first element that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let given = |number: usize| trace.operand(at, step, number);
    let [first, second, weight] = [given(0)?, given(1)?, given(2)?];
    let bias = if matches!(step.args[3], Arg::Tensor(_)) { Some(given(3)?) } else { None };
    let category = result.dtype.category();
    // What should have been rejected is for others to judge.
    if [&first, &second, &weight].into_iter().chain(&bias).any(|operand| operand.dtype != result.dtype)
        || matches!(category, Category::Bool | Category::Complex)
    {
        return None;
    }
    let ([batch @ .., m], &[columns, one, other]) = (first.shape.sizes(), weight.shape.sizes()) else { return None };
    let n = *second.shape.sizes().last()?;
    if second.shape.sizes() != [batch, &[n]].concat() || (*m, n) != (one, other) {
        return None;
    }
    let products = Shape::new([batch, &[columns]].concat()).ok()?;
    let shape = match &bias {
        Some(bias) => products.broadcast(&bias.shape).ok()?,
        None => products.clone(),
    };
    if result.shape != shape {
        return Some(wrong_shape(step, result, shape.sizes(), BILINEAR));
    }
    let (m, n) = (*m as usize, n as usize);
    if shape.numel().saturating_mul(m * n) > MOST {
        return None;
    }
    let places = View::of(products.sizes()).expanded(shape.sizes())?;
    let added = match &bias {
        Some(bias) => Some((bias, View::of(bias.shape.sizes()).expanded(shape.sizes())?)),
        None => None,
    };
    let observed = Elements::of(result)?;
    for (number, observed) in observed.values.iter().enumerate() {
        let index = unravel(shape.sizes(), number);
        let place = places.place(&index);
        let (row, column) = (place / columns as usize, place % columns as usize);
        let factors = (0..m * n).map(|at| {
            let (i, j) = (at / n, at % n);
            Some([
                *first.values.get(row * m + i)?,
                *second.values.get(row * n + j)?,
                *weight.values.get((column * m + i) * n + j)?,
            ])
        });
        let factors = factors.collect::<Option<Vec<_>>>()?;
        let summand = match &added {
            Some((bias, view)) => *bias.values.get(view.place(&index))?,
            None => Scalar::Int(0),
        };
        let set = match Format::of(result.dtype) {
            Some(format) => of_floats(format, &factors, as_float(summand)?),
            None => of_integers(&factors, summand).map(|value| integer::exactly(result.dtype, value.into())),
        };
        let Some(set) = set else { continue };
        let operands = factors.into_iter().flatten().take(8).chain([summand]);
        if let Some(wrong) = Wrong::unless(Right::by(BILINEAR, set), number, *observed, operands) {
            return Some(wrong.difference(step, result));
        }
    }
    None
}

fn of_integers(factors: &[[Scalar; 3]], summand: Scalar) -> Option<i64> {
    let whole = |number: Scalar| if let Scalar::Int(number) = number { Some(number) } else { None };
    let product = |three: &[Scalar; 3]| {
        three.iter().try_fold(1i64, |product, factor| Some(product.wrapping_mul(whole(*factor)?)))
    };
    factors.iter().try_fold(whole(summand)?, |sum, three| Some(sum.wrapping_add(product(three)?)))
}

/// Any order of the sums is right. `None` where one may overflow, or where something is not finite.
fn of_floats(format: Format, factors: &[[Scalar; 3]], summand: f64) -> Option<super::set::Set> {
    let (mut sum, mut size) = (0.0, 0.0);
    for three in factors {
        let [a, b, w] = [as_float(three[0])?, as_float(three[1])?, as_float(three[2])?];
        let largest = [a * w, b * w, a * b].into_iter().map(f64::abs).fold(0.0, f64::max);
        if !largest.is_finite() || largest > format.largest() / (4.0 * factors.len() as f64) {
            return None;
        }
        sum += a * w * b;
        size += (a * w * b).abs();
    }
    let size = size + summand.abs();
    if !size.is_finite() || size > format.largest() / 4.0 {
        return None;
    }
    let loss = (factors.len() + 4) as f64 * format.ulp(1.0) * size;
    let lost = factors.iter().flatten().filter_map(|factor| as_float(*factor)).map(f64::abs).fold(1.0, f64::max);
    // A product that underflows loses less than the smallest number, which a factor may multiply.
    Some(format.near(sum + summand, loss + factors.len() as f64 * 4.0 * format.smallest() * lost))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{judged, step};
    use crate::ops::Op;
    use crate::program::Arg;

    #[test]
    fn each_matrix_makes_one_product_and_the_bias_broadcasts() {
        let said = |bias: bool, sizes: &[i64], result: &[f64]| {
            let weight = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0];
            let inputs: [(&[i64], &[f64], bool); 4] = [
                (&[1, 2], &[2.0, 3.0], false),
                (&[1, 2], &[5.0, 7.0], false),
                (&[2, 2, 2], &weight, false),
                (&[2, 1], &[10.0, 20.0], false),
            ];
            let (uses, rest) = if bias { (&[0, 1, 2, 3][..], vec![]) } else { (&[0, 1, 2][..], vec![Arg::Nothing]) };
            judged(&inputs, vec![step("r", Op::Bilinear, uses, rest)], &[Some((sizes, result))])
        };
        assert_eq!(said(false, &[1, 2], &[31.0, 29.0]), None);
        assert!(said(false, &[1, 2], &[29.0, 31.0]).is_some(), "the matrices in another order");
        assert!(said(false, &[1, 2], &[31.0, 29.5]).is_some());
        assert_eq!(said(true, &[2, 2], &[41.0, 39.0, 51.0, 49.0]), None);
        assert!(said(true, &[2, 2], &[41.0, 49.0, 51.0, 39.0]).is_some(), "the bias along the other dimension");
        assert!(said(true, &[1, 2], &[41.0, 39.0]).is_some(), "the result does not grow");
    }
}
