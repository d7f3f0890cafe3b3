//! `cosine_similarity` and `cosine_embedding_loss`: the cosine of two vectors of any length.

use super::set::{Format, Set, as_float};
use super::trace::{Elements, Trace};
use super::view::{View, dimension, unravel};
use super::{Right, Wrong, wrong_shape};
use crate::Difference;
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{DType, Scalar};

const COSINE: &str = "torch.nn.CosineEmbeddingLoss: 1 less the cosine, or what the cosine exceeds the margin by, whatever the lengths of the vectors, within 1e-6";

const SIMILARITY: &str = "torch.nn.functional.cosine_similarity: the quotient of the page, whatever the lengths of the vectors are beyond eps, within n units of roundoff";

/// What any implementation may be off.
const OFF: f64 = 1e-6;

/// The most elements of a step that is judged.
const MOST: usize = 1 << 12;

/// The first loss that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let [_, _, _, Arg::Number(margin), Arg::Text(reduction)] = &step.args[..] else { return None };
    let [a, b, target] = [0, 1, 2].map(|number| trace.operand(at, step, number));
    let (a, b, target, margin) = (a?, b?, target?, as_float(*margin)?);
    if !matches!(result.dtype, DType::Float32 | DType::Float64) || [&a, &b].iter().any(|one| one.dtype != result.dtype)
    {
        return None;
    }
    let (length, outer) = a.shape.sizes().split_last()?;
    if a.shape != b.shape || target.shape.sizes() != outer || outer.len() > 1 {
        return None;
    }
    let format = Format::of(result.dtype)?;
    let length = usize::try_from(*length).ok().filter(|length| *length > 0)?;
    let observed = Elements::of(result)?;
    let losses = (0..target.values.len()).map(|row| {
        let of = |one: &Elements| one.values[row * length..(row + 1) * length].iter().map(|it| as_float(*it)).collect();
        let (one, other): (Option<Vec<f64>>, Option<Vec<f64>>) = (of(&a), of(&b));
        loss(format, &one?, &other?, as_float(target.values[row])?, margin)
    });
    let losses: Vec<Option<(f64, f64)>> = losses.collect();
    let operands = |row: usize| -> Vec<Scalar> {
        let elements = [&a, &b].map(|one| one.values[row * length..(row + 1) * length].iter().copied().take(8));
        elements.into_iter().flatten().chain([target.values[row]]).collect()
    };
    let near = |value: f64, error: f64| Right::by(COSINE, Set::Between(value - error, value + error));
    let wrong = if reduction == "none" {
        let mut each = losses.iter().zip(&observed.values).enumerate();
        each.find_map(|(row, (loss, observed))| {
            let (value, error) = (*loss)?;
            Wrong::unless(near(value, error), row, *observed, operands(row))
        })?
    } else {
        let losses: Vec<(f64, f64)> = losses.into_iter().collect::<Option<_>>()?;
        let (value, error) = losses.iter().fold((0.0, 0.0), |(sum, off), (value, error)| (sum + value, off + error));
        let error = error + losses.len() as f64 * format.ulp(value);
        let divisor = if reduction == "mean" { losses.len() as f64 } else { 1.0 };
        let first = if losses.is_empty() { return None } else { operands(0) };
        Wrong::unless(near(value / divisor, error / divisor), 0, *observed.values.first()?, first)?
    };
    Some(wrong.difference(step, result))
}

/// The first similarity that is wrong.
pub(super) fn judge_similarity(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let [_, _, Arg::Int(dim), Arg::Number(eps)] = &step.args[..] else { return None };
    let (a, b, eps) = (trace.operand(at, step, 0)?, trace.operand(at, step, 1)?, as_float(*eps)?);
    if !matches!(result.dtype, DType::Float32 | DType::Float64) || [&a, &b].iter().any(|one| one.dtype != result.dtype)
    {
        return None;
    }
    let shape = a.shape.broadcast(&b.shape).ok()?;
    let dim = dimension(*dim, shape.rank()).filter(|dim| *dim < shape.rank())?;
    let mut outer = shape.sizes().to_vec();
    let length = outer.remove(dim);
    if result.shape.sizes() != outer {
        return Some(wrong_shape(step, result, &outer, SIMILARITY));
    }
    let format = Format::of(result.dtype)?;
    let [left, right] = [&a, &b].map(|one| View::of(one.shape.sizes()).expanded(shape.sizes()));
    let (left, right, observed) = (left?, right?, Elements::of(result)?);
    if shape.numel() > MOST {
        return None;
    }
    let wrong = observed.values.iter().enumerate().find_map(|(number, observed)| {
        let mut index = unravel(&outer, number);
        index.insert(dim, 0);
        let mut vector = |view: &View, elements: &Elements| -> Option<Vec<f64>> {
            let of = |at: i64| {
                index[dim] = at;
                as_float(elements.values[view.place(&index)])
            };
            (0..length).map(of).collect()
        };
        let (one, other) = (vector(&left, &a)?, vector(&right, &b)?);
        let cosine = cosine(format, &one, &other, eps)?;
        let error = 8.0 * (one.len() as f64 + 8.0) * format.ulp(1.0);
        let right = Right::by(SIMILARITY, Set::Between(cosine - error, cosine + error));
        let operands = one.iter().take(8).chain(other.iter().take(8)).map(|value| Scalar::Float(*value));
        Wrong::unless(right, number, *observed, operands)
    })?;
    Some(wrong.difference(step, result))
}

/// The cosine of two vectors that are finite and longer than eps. `None` where a square underflows, or there is no direction.
fn cosine(format: Format, one: &[f64], other: &[f64], eps: f64) -> Option<f64> {
    let least = (format.smallest_normal() / format.ulp(1.0)).sqrt().max(2.0 * eps.max(eps.sqrt()));
    let long = |vector: &[f64]| {
        let largest = vector.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        (largest > least && vector.iter().all(|value| value.is_finite())).then(|| scaled(vector, largest))
    };
    let (one, other) = (long(one)?, long(other)?);
    Some(one.iter().zip(&other).map(|(one, other)| one * other).sum())
}

/// The loss of a pair of vectors, and how far any may be off. `None` where a vector has no direction, a square overflows or
/// underflows, or the target is neither 1 nor -1.
fn loss(format: Format, one: &[f64], other: &[f64], target: f64, margin: f64) -> Option<(f64, f64)> {
    let count = one.len() as f64;
    let (one, other) = (direction(format, one)?, direction(format, other)?);
    let cosine: f64 = one.iter().zip(&other).map(|(one, other)| one * other).sum();
    let error = OFF + 8.0 * (count + 8.0) * format.ulp(1.0) + format.ulp(margin);
    match target {
        1.0 => Some((1.0 - cosine, error)),
        -1.0 if margin.is_finite() => Some(((cosine - margin).max(0.0), error)),
        _ => None,
    }
}

/// The vector of length 1.
fn direction(format: Format, vector: &[f64]) -> Option<Vec<f64>> {
    let largest = vector.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let range =
        (format.smallest_normal() / format.ulp(1.0)).sqrt()..(format.largest() / 4.0).sqrt() / vector.len() as f64;
    if !range.contains(&largest) || vector.iter().any(|value| value.is_nan()) {
        return None;
    }
    Some(scaled(vector, largest))
}

/// The vector of length 1, of one whose largest element is known.
fn scaled(vector: &[f64], largest: f64) -> Vec<f64> {
    let length = vector.iter().map(|value| (value / largest) * (value / largest)).sum::<f64>().sqrt();
    vector.iter().map(|value| value / largest / length).collect()
}
