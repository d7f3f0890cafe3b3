//! Samplers: the values that the parameters allow. The generator decides which of them is drawn.

use super::elementwise::{Operand, places};
use super::set::{Format, Set, as_float};
use super::trace::{Elements, Trace};
use super::{Right, Wrong, wrong_shape};
use crate::Difference;
use crate::ops::{Form, Op};
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::Scalar;

const NORMAL: &str = "torch.normal: the mean where the standard deviation is zero, and nowhere farther from it than ten of them, as no generator of 64 bits comes";
const BINOMIAL: &str =
    "torch.binomial: a whole number of successes, none for a probability of 0, and all trials for one of 1";
const BERNOULLI: &str = "torch.bernoulli: 0 or 1, and what is certain for a probability of 0 or 1";

/// The first element that cannot be drawn.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let [Arg::Tensor(first), Arg::Tensor(second)] = &step.args[..] else { return None };
    if step.form == Form::Out && [first, second].iter().any(|value| step.out == Some(**value)) && step.op != Op::Normal
    {
        return None;
    }
    let read = |value| {
        let Elements { dtype, shape, values } = trace.before(at, value)?;
        Some(Operand { dtype: Some(dtype), shape, values })
    };
    let operands = vec![read(*first)?, read(*second)?];
    let rule = match step.op {
        Op::Normal => NORMAL,
        Op::Binomial => BINOMIAL,
        _ => BERNOULLI,
    };
    let shape = match step.op {
        Op::Bernoulli => operands[0].shape.clone(),
        _ => operands[0].shape.broadcast(&operands[1].shape).ok()?,
    };
    if result.shape != shape {
        return Some(wrong_shape(step, result, shape.sizes(), rule));
    }
    let observed = Elements::of(result)?;
    for number in 0..shape.numel() {
        let places = places(&operands, &shape, number)?;
        let values: Vec<Scalar> = operands.iter().zip(places).map(|(operand, place)| operand.values[place]).collect();
        let [one, other] = [as_float(values[0]), as_float(values[1])];
        let set = match step.op {
            Op::Normal if operands[0].dtype == Some(result.dtype) => normal(Format::of(result.dtype)?, one?, other?),
            Op::Binomial => binomial(one?, other?),
            Op::Bernoulli => bernoulli(other?, as_float(observed.values[number])?),
            _ => return None,
        };
        let Some(set) = set else { continue };
        let drawn = as_float(observed.values[number])?;
        let is_whole = step.op != Op::Binomial || drawn.fract() == 0.0;
        if !is_whole || !set.contains(Scalar::Float(drawn)) {
            let right = Right::by(rule, set);
            return Some(
                Wrong { right, at: number, observed: observed.values[number], operands: values }
                    .difference(step, result),
            );
        }
    }
    None
}

fn normal(format: Format, mean: f64, deviation: f64) -> Option<Set> {
    let reach = 10.0 * deviation;
    let known = mean.is_finite() && deviation >= 0.0 && mean.abs() + reach < format.largest() / 2.0;
    known.then(|| match deviation {
        0.0 if mean == 0.0 => Set::ZERO,
        0.0 => Set::Exactly(Scalar::Float(mean)),
        _ => format.near(mean, reach + 2.0 * format.ulp(mean.abs() + reach)),
    })
}

fn binomial(count: f64, probability: f64) -> Option<Set> {
    let known = count >= 0.0 && count.fract() == 0.0 && (0.0..=1.0).contains(&probability);
    known.then_some(match probability {
        0.0 => Set::ZERO,
        1.0 => Set::Between(count, count),
        _ => Set::Between(0.0, count),
    })
}

fn bernoulli(probability: f64, drawn: f64) -> Option<Set> {
    let certain = |value: f64| Set::Between(value, value);
    (0.0..=1.0).contains(&probability).then(|| match probability {
        0.0 | 1.0 => certain(probability),
        _ if drawn == 1.0 => certain(1.0),
        _ => Set::ZERO,
    })
}
