//! Gradients of activations: the derivative of the formula on the activation's page, times the upstream gradient.

use super::formula::value;
use super::set::{Format, Set, as_float};
use super::{Details, Right};
use crate::ops::Op;

const PIECES: &str = "the derivative of the activation's formula on its page, piece by piece";
const SLOPE: &str = "the derivative of the activation's formula on its page, within 8 units in the last place of the largest of its terms";
const LIMIT: &str =
    "the derivative of the activation's formula on its page, which is 1 or 0 to every digit so far from 0";
const NAN: &str = "IEEE 754-2019, 6.2: an operand that is NaN gives NaN";

/// Returns whether an operation is a gradient of an activation that this module judges.
pub(super) fn is_gradient(op: Op) -> bool {
    is_piecewise(op) || is_smooth(op)
}

fn is_piecewise(op: Op) -> bool {
    use Op::{HardshrinkBackward, HardtanhBackward, LeakyReluBackward, SoftshrinkBackward, ThresholdBackward};
    matches!(op, ThresholdBackward | HardshrinkBackward | SoftshrinkBackward | LeakyReluBackward | HardtanhBackward)
}

fn is_smooth(op: Op) -> bool {
    use Op::{
        EluBackward, GeluBackward, HardswishBackward, HuberLossBackward, LogSigmoidBackward, LogitBackward,
        MishBackward, MseLossBackward, SiluBackward, SmoothL1LossBackward, SoftMarginLossBackward, SoftplusBackward,
    };
    matches!(
        op,
        HardswishBackward
            | MseLossBackward
            | SmoothL1LossBackward
            | HuberLossBackward
            | SoftMarginLossBackward
            | GeluBackward
            | SoftplusBackward
            | EluBackward
            | LogitBackward
            | SiluBackward
            | MishBackward
            | LogSigmoidBackward
    )
}

/// The size of the terms that cancel in the derivative of a gradient by one of its operands: those of `gelu` have a factor
/// that is 1 less a number next to 1, far from zero.
pub(super) fn cancelled(op: Op, args: &[f64], which: usize) -> f64 {
    match (op, which, args) {
        (Op::GeluBackward, 0, [_, at]) => 1.0 + at.abs(),
        // The slope of the argument of the hyperbolic tangent, twice, by its page.
        (Op::GeluBackward, _, [gradient, at]) => gradient.abs() * (1.0 + at.abs()) * (1.0 + 0.2 * at * at).powi(2),
        _ => 0.0,
    }
}

/// The right results for an upstream gradient and the other operands; `None` where nothing is defined.
pub(super) fn right(op: Op, format: Format, args: &[f64], details: &Details) -> Option<Right> {
    let (&gradient, &at) = (args.first()?, args.get(1)?);
    if op == Op::HardtanhBackward {
        return bounded(format, gradient, at, details);
    }
    if is_piecewise(op) { linear(op, format, gradient, at, details) } else { smooth(op, format, args, details) }
}

/// The gradient of a function that is made of pieces of exponentials and quotients.
fn smooth(op: Op, format: Format, args: &[f64], details: &Details) -> Option<Right> {
    let at = args[1];
    if details.numbers.iter().any(|number| number.is_some_and(|number| !is_ordinary(format, number))) {
        return None;
    }
    // The buffer of a logarithm of a sigmoid may be another number's.
    if at.is_nan() && args[0].is_finite() && args[0] != 0.0 && op != Op::LogSigmoidBackward {
        return Some(Right::by(NAN, Set::Nan));
    }
    if let Some(value) = limit(op, args, details) {
        return near(format, value, 8.0 * format.ulp(value)).map(|right| Right { source: LIMIT, ..right });
    }
    if args.iter().any(|&value| value != 0.0 && !is_ordinary(format, value)) {
        return None;
    }
    let [first, second, third] = details.numbers.map(|number| number.unwrap_or(1.0));
    // The largest of the terms of the derivative, and the size of the number that the exponential is taken of.
    let (terms, power) = match op {
        Op::LogitBackward => return logit(format, args[0], at, details),
        Op::HardswishBackward => (1.0 + at.abs(), 0.0),
        // On which side of the threshold a product is that was rounded is open.
        Op::SoftplusBackward if (at * first - second).abs() < 0.01 => return None,
        Op::SoftplusBackward => (1.0, at * first),
        Op::EluBackward if details.flag => (third * (at.abs() + (first * second).abs()) + second.abs(), 0.0),
        Op::EluBackward => return elu(format, args, details),
        Op::SiluBackward => (1.0 + at.abs(), at),
        Op::MishBackward => (2.0 + 2.0 * at.abs(), at),
        Op::MseLossBackward => (2.0 * (at.abs() + args[2].abs()), 0.0),
        Op::SmoothL1LossBackward | Op::HuberLossBackward if first <= 0.0 => return None,
        Op::SmoothL1LossBackward => (1.0, 0.0),
        Op::HuberLossBackward => (first, 0.0),
        Op::SoftMarginLossBackward => (args[2].abs(), at * args[2]),
        Op::GeluBackward => (1.0 + at * at, at),
        // The share of an exponential that is none may be anything.
        _ if args[2] < 0.0 => return None,
        _ => (2.0, 0.0),
    };
    // The exponential overflows in 16 bits.
    let largest = if format.is_half() && op == Op::SoftMarginLossBackward { 8.0 } else { 40.0 };
    if power.abs() > largest {
        return None;
    }
    let value = value(op, args, details)?;
    let terms = terms * args[0].abs() * (1.0 + power.abs());
    near(format, value, 8.0 * format.ulp(terms))
}

/// The upstream gradient or zero, so far out that the derivative rounds to 1 or 0 in every format.
fn limit(op: Op, args: &[f64], details: &Details) -> Option<f64> {
    let (gradient, at) = (args[0], args[1]);
    if !gradient.is_finite() || !at.is_finite() {
        return None;
    }
    let (low, high) = match op {
        Op::GeluBackward => (at < -100.0, at > 100.0),
        Op::SiluBackward | Op::MishBackward => (at < -1000.0, at > 100.0),
        // Beyond the threshold it is 1, too.
        Op::SoftplusBackward => (false, at * details.numbers[0]? > 40.0 && details.numbers[0]? > 0.0),
        _ => return None,
    };
    if high { Some(gradient) } else { low.then_some(0.0) }
}

/// Products of powers of the input, of which the exponential has the largest relative error.
fn elu(format: Format, args: &[f64], details: &Details) -> Option<Right> {
    let power = if args[1] > 0.0 { 0.0 } else { args[1] * details.numbers[2]? };
    if power.abs() > 40.0 {
        return None;
    }
    let value = value(Op::EluBackward, args, details)?;
    near(format, value, (8.0 + 2.0 * power.abs()) * format.ulp(value))
}

/// `1 / (x (1 - x))` between 0 and 1; beyond them, where `logit` has no real value, or within `eps` of them, where it is
/// constant, something else.
fn logit(format: Format, gradient: f64, at: f64, details: &Details) -> Option<Right> {
    let eps = details.numbers[0];
    let (low, high) = eps.filter(|eps| *eps >= 0.0).map_or((0.0, 1.0), |eps| (eps, format.round(1.0 - eps)));
    // It is within a bound that is rounded to the format, and beyond one that is not.
    if at == format.round(low) && at != low {
        return None;
    }
    if at < low || at > high {
        let set = if eps.is_some_and(|eps| eps >= 0.0) { Set::ZERO } else { Set::Nan };
        return Some(Right::by(PIECES, set));
    }
    // At the ends the slope is infinite, and on one side of a bound that is rounded it is none.
    if at == 0.0 || at == 1.0 || eps.is_some_and(|eps| eps != format.round(eps) || at == low || at == high) {
        return None;
    }
    let value = value(Op::LogitBackward, &[gradient, at], details)?;
    near(format, value, 8.0 * format.ulp(value))
}

/// A derivative as near as its terms allow.
fn near(format: Format, value: f64, error: f64) -> Option<Right> {
    if value.abs() > format.largest() / 4.0 || (value != 0.0 && value.abs() < format.smallest_normal() * 16.0) {
        return None;
    }
    let set = if value == 0.0 && error == 0.0 { Set::ZERO } else { format.near(value, error) };
    Some(Right::by(SLOPE, set))
}

/// Returns whether products and quotients of a few such numbers stay within the format.
fn is_ordinary(format: Format, value: f64) -> bool {
    let (largest, smallest) = (format.largest().powf(0.25), format.smallest_normal().powf(0.25));
    value == 0.0 || (smallest..=largest).contains(&value.abs())
}

/// The upstream gradient between two bounds, which may be rounded to the format, or not.
fn bounded(format: Format, gradient: f64, at: f64, details: &Details) -> Option<Right> {
    let [low, high] = [details.numbers[0]?, details.numbers[1]?];
    // Which piece NaN is in, and what a bound that is NaN says, is documented nowhere.
    if [at, low, high].iter().any(|value| value.is_nan()) {
        return None;
    }
    let of = |low: f64, high: f64| if at <= low || at >= high { Set::ZERO } else { passed(gradient) };
    let set = of(low, high).or(of(format.round(low), format.round(high)));
    Some(Right::by(PIECES, set))
}

fn passed(gradient: f64) -> Set {
    if gradient == 0.0 { Set::ZERO } else { Set::float(gradient) }
}

/// The gradient of a piecewise linear activation: the upstream gradient, zero, or the product with a slope.
fn linear(op: Op, format: Format, gradient: f64, at: f64, details: &Details) -> Option<Right> {
    // A number of 16 bits may be rounded to them, or not.
    let bound = as_float(details.factor?)?;
    let rounded = format.round(bound);
    if rounded != bound {
        let of = |bound: f64| linear_with(op, format, gradient, at, bound);
        return Some(of(bound)?.or(of(rounded)?));
    }
    linear_with(op, format, gradient, at, bound)
}

fn linear_with(op: Op, format: Format, gradient: f64, at: f64, bound: f64) -> Option<Right> {
    // Which piece NaN is in, and what a bound that is NaN says, is documented nowhere.
    if at.is_nan() || bound.is_nan() {
        return None;
    }
    let passes = match op {
        Op::ThresholdBackward => at > bound,
        Op::LeakyReluBackward => at > 0.0,
        _ => at < -bound || at > bound,
    };
    let value = match op {
        _ if passes => gradient,
        Op::LeakyReluBackward => format.round(format.product(gradient, bound)),
        _ => 0.0,
    };
    Some(Right::by(PIECES, passed(value)))
}
