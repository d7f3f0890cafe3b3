//! `layer_norm`: the definition in float64, and what rounding may make of it.

use super::set::{Format, Set, as_float};
use super::trace::{Elements, Trace};
use super::{Right, Wrong, wrong_shape};
use crate::Difference;
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{DType, Scalar};

const LAYER_NORM: &str = "torch.nn.LayerNorm: the element less the mean, by the root of the variance and eps, times the weight, and the bias, of elements that are moved by n units of roundoff: Higham, Accuracy and Stability of Numerical Algorithms, 1.9";

const OVERFLOWS: &str = "torch.nn.LayerNorm: the formula of the page as it is, or with a variance that overflows to infinity, which leaves 0 times the weight, and the bias";

/// The first element that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let [Arg::Tensor(_), Arg::Ints(normalized), _, _, Arg::Number(eps)] = &step.args[..] else { return None };
    let input = trace.operand(at, step, 0)?;
    let parameter = |number: usize| match step.args[number] {
        Arg::Tensor(_) => Some(trace.operand(at, step, number)?).filter(|it| it.shape.sizes() == normalized).map(Some),
        _ => Some(None),
    };
    let [weight, bias] = [parameter(2)?, parameter(3)?];
    let (format, eps) = (Format::of(result.dtype)?, as_float(*eps)?);
    // What should have been rejected is for others to judge.
    if input.dtype != result.dtype || normalized.is_empty() || !input.shape.sizes().ends_with(normalized) {
        return None;
    }
    if input.shape != result.shape {
        return Some(wrong_shape(step, result, input.shape.sizes(), LAYER_NORM));
    }
    let numbers = |known: &Elements| known.values.iter().map(|value| as_float(*value)).collect::<Option<Vec<f64>>>();
    let factors = match &weight {
        Some(weight) => Some(numbers(weight)?),
        None => None,
    };
    let summands = match &bias {
        Some(bias) => Some(numbers(bias)?),
        None => None,
    };
    let (values, observed) = (numbers(&input)?, Elements::of(result)?);
    let length = normalized.iter().product::<i64>().max(1) as usize;
    for (row, elements) in values.chunks(length).enumerate() {
        let Some(moments) = Moments::of(elements, eps, inner(format, result.dtype)) else { continue };
        for (place, element) in elements.iter().enumerate() {
            let [factor, summand] = [(&factors, 1.0), (&summands, 0.0)]
                .map(|(given, without)| given.as_ref().map_or(without, |given| given[place]));
            let Some(set) = moments.of_element(*element, factor, summand, format) else { continue };
            let number = row * length + place;
            let operands = elements.iter().take(8).chain([&factor, &summand]).map(|value| Scalar::Float(*value));
            let overflows = matches!(moments, Moments::Large { .. });
            let right = Right::by(if overflows { OVERFLOWS } else { LAYER_NORM }, set);
            if let Some(wrong) = Wrong::unless(right, number, *observed.values.get(number)?, operands) {
                return Some(wrong.difference(step, result));
            }
        }
    }
    None
}

/// The format that it is computed in: 16 bits in float32.
fn inner(format: Format, dtype: DType) -> Format {
    if matches!(dtype, DType::Float16 | DType::Bfloat16) { Format::SINGLE } else { format }
}

/// The mean of a row, the bounds of its root, and what an element may be moved by.
enum Moments {
    /// A root of what is below zero, or of NaN.
    Nan,
    Of {
        mean: f64,
        low: f64,
        high: f64,
        moved: f64,
        unit: f64,
    },
    /// Squares that overflow: the mean and the deviation as parts of the largest element.
    Large {
        largest: f64,
        mean: f64,
        deviation: f64,
        moved: f64,
    },
}

impl Moments {
    /// `None` where rounding decides whether the root is zero, or there is one, and where something may overflow.
    fn of(row: &[f64], eps: f64, format: Format) -> Option<Moments> {
        let (count, unit) = (row.len() as f64, format.ulp(1.0));
        if row.iter().any(|value| !value.is_finite()) || eps.is_nan() {
            return Some(Moments::Nan);
        }
        let largest = row.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        if eps.is_infinite() {
            return None;
        }
        if 4.0 * count * largest * largest > format.largest() {
            return Moments::large(row, eps, largest, format);
        }
        let mean = row.iter().sum::<f64>() / count;
        let deviation = (row.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count).sqrt();
        let moved = 4.0 * (count + 8.0) * unit * largest + 8.0 * format.smallest();
        let bounds = [(deviation - moved).max(0.0), deviation + moved].map(|deviation| deviation * deviation + eps);
        let slack = 8.0 * unit * (bounds[1] - eps + eps.abs()) + 8.0 * format.smallest();
        let (low, high) = (bounds[0] - slack, bounds[1] + slack);
        if high < 0.0 {
            return Some(Moments::Nan);
        }
        // So near to zero the rounding of the variance decides the root.
        if low <= 1e6 * format.smallest_normal() {
            return None;
        }
        Some(Moments::Of { mean, low: 1.0 / high.sqrt(), high: 1.0 / low.sqrt(), moved, unit })
    }

    /// `None` where a sum overflows, or elements are so close to each other, or `eps` so large, that rounding or `eps` counts.
    fn large(row: &[f64], eps: f64, largest: f64, format: Format) -> Option<Moments> {
        let (count, unit) = (row.len() as f64, format.ulp(1.0));
        let parts: Vec<f64> = row.iter().map(|value| value / largest).collect();
        let mean = parts.iter().sum::<f64>() / count;
        let deviation = (parts.iter().map(|part| (part - mean) * (part - mean)).sum::<f64>() / count).sqrt();
        let moved = 16.0 * (count + 8.0) * unit;
        let is_open = 4.0 * count * largest > format.largest()
            || deviation < 8.0 * moved
            || eps.abs().sqrt() / largest > unit * deviation;
        (!is_open).then_some(Moments::Large { largest, mean, deviation, moved })
    }

    /// The right results for an element.
    fn of_element(&self, element: f64, factor: f64, summand: f64, format: Format) -> Option<Set> {
        if let Moments::Nan = self {
            return Some(Set::Nan);
        }
        if !factor.is_finite() || !summand.is_finite() {
            return None;
        }
        if let Moments::Large { largest, mean, deviation, moved } = *self {
            let value = (element / largest - mean) / deviation * factor;
            let size = value.abs() + factor.abs() + summand.abs();
            if size > format.largest() / 4.0 {
                return None;
            }
            let error = 4.0 * moved / deviation * size + 8.0 * format.ulp(size);
            return Some(format.near(value + summand, error).or(format.near(summand, 4.0 * format.ulp(summand))));
        }
        let Moments::Of { mean, low, high, moved, unit } = *self else { return None };
        let ends = [element - mean - moved, element - mean + moved];
        let all = ends.iter().flat_map(|end| [end * low * factor, end * high * factor]);
        let (least, most) =
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), it| (least.min(it), most.max(it)));
        let size = least.abs().max(most.abs()) + summand.abs();
        // What is multiplied first may overflow.
        if size > format.largest() / 4.0 || element.abs() * high > format.largest() / 4.0 {
            return None;
        }
        let error = (most - least) / 2.0 + 8.0 * unit * size + 8.0 * format.smallest() * factor.abs().max(1.0);
        Some(format.near(least / 2.0 + most / 2.0 + summand, error))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_step;
    use crate::ops::Op;
    use crate::program::Arg;
    use crate::tensor::Scalar;

    #[test]
    fn rows_are_normalized_by_their_own_moments() {
        let said = |eps: f64, result: &[f64]| {
            let rest = vec![Arg::Ints(vec![2]), Arg::Nothing, Arg::Nothing, Arg::Number(Scalar::Float(eps))];
            of_step(Op::LayerNorm, &[(&[2, 2], &[1.0, 3.0, 14.0, 6.0])], rest, (&[2, 2], result))
        };
        assert_eq!(said(0.0, &[-1.0, 1.0, 1.0, -1.0]), None);
        assert_eq!(said(3.0, &[-0.5, 0.5, 4.0 / 19f64.sqrt(), -4.0 / 19f64.sqrt()]), None);
        assert!(said(3.0, &[-1.0, 1.0, 1.0, -1.0]).is_some(), "without eps");
        assert!(
            said(0.0, &[-0.5f64.sqrt(), 0.5f64.sqrt(), 0.5f64.sqrt(), -0.5f64.sqrt()]).is_some(),
            "a corrected variance"
        );
        assert!(said(0.0, &[-1.0, 1.0, -1.0, 1.0]).is_some(), "the sign of another row");
    }
}
