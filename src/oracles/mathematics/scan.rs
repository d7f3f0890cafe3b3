//! Running sums, products and logarithms of sums: each element is the reduction of those up to it.

use super::elementwise::is_apart;
use super::reduction::{Options, right};
use super::set::{Format, as_float};
use super::trace::{Elements, Trace};
use super::{Wrong, integer, wrong_shape};
use crate::Difference;
use crate::ops::{Form, Op};
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, DType, Scalar};

const SHAPE: &str = "torch.cumsum and its like: the size of input";

/// The most elements of the operand of a step that is judged, each with all that stand before it.
const MOST: usize = 512;

/// Returns whether an operation makes a result of the elements up to each.
pub(super) fn scans(op: Op) -> bool {
    matches!(op, Op::Cumsum | Op::Cumprod | Op::Logcumsumexp)
}

/// The first element that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let result_elements = Elements::of(result)?;
    let Some(Arg::Tensor(own)) = step.args.first() else { return None };
    let operand = trace.before(at, *own)?;
    // What is written while it is read, or several times, has no one outcome.
    let is_alone = step.form == Form::Functional || is_apart(trace, at, step, result);
    if operand.values.len() > MOST || !is_alone {
        return None;
    }
    if result.shape != operand.shape {
        return Some(wrong_shape(step, result, operand.shape.sizes(), SHAPE));
    }

    let options = Options::everything();
    let reduction = match step.op {
        Op::Cumsum => Op::Sum,
        Op::Cumprod => Op::Prod,
        _ => Op::Logsumexp,
    };
    let lines = lines(operand.shape.sizes(), dimension(step, operand.shape.rank())?);
    let places = lines.iter().flat_map(|line| (0..line.len()).map(move |last| &line[..=last]));
    let wrong = places.filter_map(|before| {
        let elements: Vec<Scalar> = before.iter().map(|&place| operand.values[place]).collect();
        let at = *before.last()?;
        let right = match result.dtype.category() {
            // Whatever they were added up in, what is left of it is the same.
            Category::Integral if result.dtype != DType::Int64 => right(reduction, DType::Int64, &elements, &options)?
                .converted(|set| integer::narrowed(result.dtype, set))?,
            _ => right(reduction, result.dtype, &elements, &options)?,
        };
        let observed = *result_elements.values.get(at)?;
        Wrong::unless(right, at, observed, elements.iter().copied().take(16))
    });
    Some(Wrong::first(wrong)?.difference(step, result))
}

/// The dimension that a step names, or its only one.
pub(super) fn dimension(step: &Step, rank: usize) -> Option<usize> {
    let at = step.op.info().arguments.iter().position(|param| param.name == "dim")?;
    let Some(Arg::Int(dim)) = step.args.get(at) else { return None };
    let range = rank.max(1) as i64;
    (-range..range).contains(dim).then(|| dim.rem_euclid(range) as usize)
}

/// The elements of a shape in lines along a dimension, row-major.
pub(super) fn lines(sizes: &[i64], dim: usize) -> Vec<Vec<usize>> {
    let size = sizes.get(dim).copied().unwrap_or(1) as usize;
    let inner = sizes.iter().skip(dim + 1).product::<i64>() as usize;
    let all = sizes.iter().product::<i64>() as usize;
    let line = |first: usize| (0..size).map(|at| first / inner * inner * size + first % inner + at * inner).collect();
    (0..all / size.max(1)).map(line).collect()
}

/// The numbers of an element of a result and of one of the operand, and the least and the greatest derivative, if known.
pub(super) type SlopeAt = (usize, usize, Option<(f64, f64)>);

/// How much each element of a result changes with those up to it.
pub(super) fn slopes(step: &Step, operand: &Elements, result: &Elements, format: Format) -> Option<Vec<SlopeAt>> {
    if result.shape != operand.shape || operand.values.len() > MOST {
        return None;
    }
    let values: Vec<f64> = operand.values.iter().map(|value| as_float(*value)).collect::<Option<_>>()?;
    let mut slopes = Vec::new();
    for line in lines(operand.shape.sizes(), dimension(step, operand.shape.rank())?) {
        for (last, &at) in line.iter().enumerate() {
            let before: Vec<f64> = line[..=last].iter().map(|place| values[*place]).collect();
            for (place, &element) in line[..=last].iter().enumerate() {
                let slope = match step.op {
                    Op::Cumsum => Some((1.0, 1.0)),
                    Op::Cumprod => product_of_others(&before, place, format),
                    _ => share(&before, place, format),
                };
                slopes.push((at, element, slope));
            }
        }
    }
    Some(slopes)
}

/// The product of all factors but one; `None` where it depends on the order whether some overflow, or are lost.
fn product_of_others(factors: &[f64], which: usize, format: Format) -> Option<(f64, f64)> {
    let most: f64 = factors.iter().map(|factor| factor.abs().max(1.0)).product();
    let least: f64 = factors.iter().filter(|factor| **factor != 0.0).map(|factor| factor.abs().min(1.0)).product();
    let range = format.smallest_normal().sqrt()..format.largest().sqrt();
    let is_tame = factors.len() <= 12 && range.contains(&most) && range.contains(&least);
    let others = factors.iter().enumerate().filter(|(at, _)| *at != which);
    let product: f64 = others.map(|(_, factor)| factor).product();
    is_tame.then_some((product, product))
}

/// The share that an exponential has of their sum, which an implementation may take of rounded logarithms.
fn share(values: &[f64], which: usize, format: Format) -> Option<(f64, f64)> {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !values.iter().all(|value| value.abs() <= 64.0) {
        return None;
    }
    let sum: f64 = values.iter().map(|value| (value - largest).exp()).sum();
    let share = (values[which] - largest).exp() / sum;
    let off = share * 64.0 * format.ulp(1.0) * (1.0 + largest.abs() + values[which].abs());
    Some((share - off, share + off))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_run_along_a_dimension() {
        assert_eq!(lines(&[2, 3], 1), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(lines(&[2, 3], 0), [[0, 3], [1, 4], [2, 5]]);
        assert_eq!(lines(&[2, 2, 2], 1), [[0, 2], [1, 3], [4, 6], [5, 7]]);
        assert_eq!(lines(&[], 0), [[0]]);
        assert_eq!(lines(&[0, 2], 0).len() + lines(&[0, 2], 1).len(), 0);
    }
}
