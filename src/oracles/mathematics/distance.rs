//! Distances: the p-norm of a difference, within what its computation in any order loses.

use super::set::{Format, Set, as_float};
use super::trace::{Elements, Trace};
use super::view::{View, unravel};
use super::{Right, Wrong, wrong_shape};
use crate::Difference;
use crate::ops::Op;
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, Scalar, Shape};

const NAN: &str = "IEEE 754-2019, 6.2: a difference that is NaN gives NaN";
const DISTANCE: &str = "torch.cdist, pairwise_distance, dist: the p-norm of the difference, within n units of roundoff";

/// The most differences of a step that is judged.
const MOST: usize = 1 << 14;

/// The first distance that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let [Arg::Tensor(a), Arg::Tensor(b), Arg::Number(order), rest @ ..] = &step.args[..] else { return None };
    let (a, b, order) = (trace.before(at, *a)?, trace.before(at, *b)?, as_float(*order)?);
    let format = Format::of(result.dtype).filter(|_| result.dtype.category() == Category::Floating)?;
    if a.dtype != result.dtype || b.dtype != result.dtype {
        return None;
    }
    let plan = match (step.op, rest) {
        (Op::Cdist, [mode]) => Plan::of_rows(&a, &b, order, mode)?,
        (Op::PairwiseDistance, [Arg::Number(eps), Arg::Flag(keeps)]) if order >= 1.0 => {
            Plan::of_pairs(&a, &b, as_float(*eps)?, *keeps)?
        }
        (Op::Dist, []) => Plan::of_all(&a, &b)?,
        _ => return None,
    };
    if result.shape.sizes() != plan.sizes {
        return Some(wrong_shape(step, result, &plan.sizes, DISTANCE));
    }
    let observed = Elements::of(result)?;
    if plan.pairs.iter().map(Vec::len).sum::<usize>() > MOST {
        return None;
    }
    for (number, pairs) in plan.pairs.iter().enumerate() {
        let differences: Option<Vec<(f64, f64)>> = pairs
            .iter()
            .map(|&(one, other)| {
                let (one, other) = (as_float(a.values[one])?, as_float(b.values[other])?);
                Some(difference(format, one, other, plan.eps))
            })
            .collect();
        let Some(set) = norm(format, &differences?, order) else { continue };
        let observed = *observed.values.get(number)?;
        if !set.contains(observed) {
            let operands: Vec<Scalar> =
                pairs.iter().take(8).flat_map(|&(one, other)| [a.values[one], b.values[other]]).collect();
            let right = Right::by(if matches!(set, Set::Nan) { NAN } else { DISTANCE }, set);
            return Some(Wrong { right, at: number, observed, operands }.difference(step, result));
        }
    }
    None
}

/// The shape of the distances, and the pairs of elements whose differences each is made of.
pub(super) struct Plan {
    pub sizes: Vec<i64>,
    pub pairs: Vec<Vec<(usize, usize)>>,
    eps: f64,
}

impl Plan {
    /// The distances of a step that is `cdist`.
    pub fn of_cdist(step: &Step, a: &Elements, b: &Elements) -> Option<Plan> {
        let [_, _, Arg::Number(order), mode] = &step.args[..] else { return None };
        Plan::of_rows(a, b, as_float(*order)?, mode)
    }

    /// The distances of all rows of one matrix from those of another.
    fn of_rows(a: &Elements, b: &Elements, order: f64, mode: &Arg) -> Option<Plan> {
        let ([batch_a @ .., p, m], [batch_b @ .., r, other]) = (a.shape.sizes(), b.shape.sizes()) else { return None };
        // Large ones are computed by a product of matrices, which cancels.
        let multiplies = match mode {
            Arg::Nothing | Arg::Int(0) => *p > 25 || *r > 25,
            Arg::Int(2) => false,
            _ => true,
        };
        if m != other || order == 2.0 && multiplies || order.is_nan() || order < 0.0 {
            return None;
        }
        let batch = Shape::new(batch_a.to_vec()).ok()?.broadcast(&Shape::new(batch_b.to_vec()).ok()?).ok()?;
        let batch = batch.sizes();
        let left = View::of(a.shape.sizes()).expanded(&[batch, &[*p, *m]].concat())?;
        let right = View::of(b.shape.sizes()).expanded(&[batch, &[*r, *m]].concat())?;
        let sizes = [batch, &[*p, *r]].concat();
        let pairs = (0..sizes.iter().product::<i64>() as usize).map(|number| {
            let index = unravel(&sizes, number);
            let (batch, rows) = index.split_at(batch.len());
            let at = |row: i64, element: i64| [batch, &[row, element]].concat();
            (0..*m).map(|element| (left.place(&at(rows[0], element)), right.place(&at(rows[1], element)))).collect()
        });
        let pairs = pairs.collect();
        Some(Plan { sizes, pairs, eps: 0.0 })
    }

    /// The distance of two tensors, each as one vector.
    fn of_all(a: &Elements, b: &Elements) -> Option<Plan> {
        let shape = a.shape.broadcast(&b.shape).ok().filter(|shape| shape.numel() <= MOST)?;
        let [left, right] = [a, b].map(|one| View::of(one.shape.sizes()).expanded(shape.sizes()));
        let pairs = left?.places()?.into_iter().zip(right?.places()?).collect();
        Some(Plan { sizes: Vec::new(), pairs: vec![pairs], eps: 0.0 })
    }

    /// The distances of vectors along the last dimension, which is dropped or kept.
    fn of_pairs(a: &Elements, b: &Elements, eps: f64, keeps: bool) -> Option<Plan> {
        let shape = a.shape.broadcast(&b.shape).ok()?;
        let (count, outer) = shape.sizes().split_last()?;
        let [left, right] = [a, b].map(|one| View::of(one.shape.sizes()).expanded(shape.sizes()));
        let (left, right) = (left?, right?);
        let pairs = (0..outer.iter().product::<i64>() as usize).map(|number| {
            let index = unravel(outer, number);
            let at = |element: i64| [&index[..], &[element]].concat();
            (0..*count).map(|element| (left.place(&at(element)), right.place(&at(element)))).collect()
        });
        let pairs = pairs.collect();
        let kept: &[i64] = if keeps { &[1] } else { &[] };
        Some(Plan { sizes: [outer, kept].concat(), pairs, eps })
    }
}

/// A difference, with `eps` added, and what its roundings may lose of it.
fn difference(format: Format, one: f64, other: f64, eps: f64) -> (f64, f64) {
    let value = one - other + eps;
    let lost = format.ulp(1.0) * (value.abs() + if eps == 0.0 { 0.0 } else { (one - other).abs() + 2.0 * eps.abs() });
    (value, lost)
}

/// The norm of differences, each of which may be off by as much as stands next to it.
fn norm(format: Format, differences: &[(f64, f64)], order: f64) -> Option<Set> {
    let magnitudes: Vec<f64> = differences.iter().map(|(value, _)| value.abs()).collect();
    if magnitudes.iter().any(|value| value.is_nan()) {
        // By the page the norm of order 0 counts what is not 0.
        return (order != 0.0).then_some(Set::Nan);
    }
    if magnitudes.iter().any(|value| *value > format.largest() / 4.0) {
        return None;
    }
    let count = magnitudes.len() as f64;
    let lost: f64 = differences.iter().map(|(_, lost)| lost).sum();
    let lost = lost + if lost > 0.0 { count * format.smallest() } else { 0.0 };
    if order.is_infinite() {
        return Some(format.near(magnitudes.into_iter().fold(0.0, f64::max), lost));
    }
    if order == 0.0 {
        let nonzero = magnitudes.iter().filter(|value| **value != 0.0).count();
        return Some(Set::float(nonzero as f64));
    }
    if !(0.25..=16.0).contains(&order) {
        return None;
    }
    let inner = if format.is_half() { Format::SINGLE } else { format };
    let powers: Vec<f64> = magnitudes.iter().map(|value| value.powf(order)).collect();
    let range = inner.smallest_normal() / inner.ulp(1.0)..inner.largest() / 4.0 / count.max(1.0);
    if magnitudes.iter().zip(&powers).any(|(value, power)| *value != 0.0 && !range.contains(power)) {
        return None;
    }
    // The sum of nothing is -0 otherwise.
    let value = powers.iter().fold(0.0, |sum, power| sum + power).powf(1.0 / order);
    let error = (count + 16.0) * inner.ulp(1.0) * value * (1.0 + 1.0 / order) + 2.0 * format.ulp(value);
    // The norm of what is lost is at most its sum if `order` is at least 1; below, each is relative to its own term.
    Some(format.near(value, if value == 0.0 { lost } else { error + lost + count * format.ulp(1.0) * value }))
}
