//! Derivatives in closed form, where the quotient of two differences has no digits left, or the formula has no value on
//! one side.

use super::gamma;
use super::set::{Format, power};
use super::wide::{BITS, Real, Wide};
use super::{Details, Op};

/// The least logarithm of a probability, by the page of `torch.nn.BCELoss`.
const LEAST: f64 = -100.0;

/// The least and the greatest derivative by one operand; `None` where the operation has no closed form here, and
/// `Some(None)` where there is no derivative, or which one is open.
pub(super) fn slope(
    op: Op,
    format: Format,
    args: &[f64],
    which: usize,
    details: &Details,
) -> Option<Option<(f64, f64)>> {
    let unit = 16.0 * format.ulp(1.0);
    let around = |value: f64, error: f64| Some((value - error, value + error)).filter(|_| (value + error).is_finite());
    Some(match (op, which) {
        // By the page the function is 0 for every other operand.
        (Op::Xlogy | Op::SpecialXlog1py, 1) if args[0] == 0.0 => Some((0.0, 0.0)),
        (Op::Remainder | Op::Fmod, _) => remainder(op, args, which).map(|slope| (slope, slope)),
        _ if has_limits(op) && args.iter().any(|value| value.is_infinite()) && !is_gamma(op) => limit(op, args, which),
        (Op::Igamma | Op::Igammac, 1) => gamma::slope(op, format, args[0], args[1]),
        (Op::BinaryCrossEntropy, _) => {
            let (value, size) = of_probability(args, which)?;
            value.and_then(|value| around(value, unit * size))
        }
        (Op::BinaryCrossEntropyWithLogits, 0 | 1) => {
            let (x, target) = (args[0], args[1]);
            let (weight, positive) = weights(args, details);
            if which == 1 {
                let (one, other) = (weight * positive * softplus(-x), weight * softplus(x));
                return Some(around(one - other, unit * (one.abs() + other.abs())));
            }
            let (one, other) = (weight * positive * target * sigmoid(-x), weight * (1.0 - target) * sigmoid(x));
            // The difference of the sigmoid and the target may cancel, but not take half of the larger term with it.
            let cancelled = unit * weight.abs() * ((positive * target).abs() + (1.0 - target).abs());
            let error = cancelled.min(one.abs().max(other.abs()) / 2.0);
            around(other - one, error + unit * (1.0 + x.abs()) * (one.abs() + other.abs()))
        }
        (Op::KlDiv, 0) => {
            let target = if details.flag { args[1].exp() } else { args[1] };
            around(-target, unit * target.abs())
        }
        (Op::KlDiv, 1) => {
            let logarithm = if details.flag { args[1] } else { args[1].ln() };
            let factor = if details.flag { args[1].exp() } else { 1.0 };
            let size = factor * (1.0 + logarithm.abs() + args[0].abs());
            // What the upstream gradient and the target are multiplied to may be lost.
            let kept = details.flag || args[1] >= format.smallest_normal();
            around(factor * (logarithm + 1.0 - args[0]), unit * size).filter(|_| logarithm.is_finite() && kept)
        }
        (Op::PoissonNllLoss, 0 | 1) => {
            of_poisson(format, args, which, details).and_then(|(value, size)| around(value, size))
        }
        _ => return None,
    })
}

/// Returns whether the derivatives of an operation are known at infinity.
pub(super) fn has_limits(op: Op) -> bool {
    is_gamma(op) || matches!(op, Op::Copysign | Op::Hypot | Op::Atan2 | Op::Logaddexp | Op::Logaddexp2)
}

fn is_gamma(op: Op) -> bool {
    matches!(op, Op::Igamma | Op::Igammac)
}

/// The limit of a derivative by one operand, where an operand is infinite: any number that it comes near to.
fn limit(op: Op, args: &[f64], which: usize) -> Option<(f64, f64)> {
    let (own, other) = (args[which], args[1 - which]);
    let exactly = |slope: f64| Some((slope, slope));
    match op {
        Op::Copysign if which == 1 => exactly(0.0),
        // Where the sign is taken away there is a kink.
        Op::Copysign if own == 0.0 => Some((-1.0, 1.0)),
        Op::Copysign => exactly(own.signum() * other.signum()),
        Op::Hypot if own.is_infinite() && other.is_infinite() => None,
        Op::Hypot => exactly(if own.is_infinite() { own.signum() } else { 0.0 }),
        Op::Atan2 => exactly(0.0),
        // The share that the operand has in the sum.
        _ if own == other => Some((0.0, 1.0)),
        _ => exactly(if own > other { 1.0 } else { 0.0 }),
    }
}

/// The slope of a remainder: 1, or minus the rounded quotient; none where the quotient is an integer, and jumps.
fn remainder(op: Op, args: &[f64], which: usize) -> Option<f64> {
    let quotient = Wide::of(args[0]) / Wide::of(args[1]);
    let size = Some(quotient.nearest().abs()).filter(|_| quotient.is_number())?;
    let rounded = if op == Op::Fmod { quotient.clone().trunc() } else { quotient.clone().floor() };
    if quotient == rounded || size > power(BITS as i32 / 2) {
        return None;
    }
    Some(if which == 0 { 1.0 } else { -rounded.nearest() })
}

/// The weight of an element and that of its positive class.
pub(super) fn weights(args: &[f64], details: &Details) -> (f64, f64) {
    let mut rest = args[2..].iter().copied();
    let mut next = |missing: bool| if missing { 1.0 } else { rest.next().unwrap_or(1.0) };
    (next(details.missing[2]), next(details.missing[3]))
}

/// The derivative of the cross entropy of a probability, whose logarithms are at least -100, and the size of its terms.
/// Whether the gradient passes where a logarithm is cut off is open.
fn of_probability(args: &[f64], which: usize) -> Option<(Option<f64>, f64)> {
    let (x, target, weight) = (args[0], args[1], args.get(2).copied().unwrap_or(1.0));
    if !(0.0..=1.0).contains(&x) {
        return Some((None, 0.0));
    }
    let logarithms = [x.ln(), (-x).ln_1p()];
    let [log, log_rest] = logarithms.map(|logarithm| logarithm.max(LEAST));
    Some(match which {
        0 => {
            let share = |factor: f64, logarithm: f64, of: f64| match factor {
                0.0 => Some(0.0),
                _ if logarithm <= LEAST + 0.1 => None,
                _ => Some(factor / of),
            };
            let terms = share(target, logarithms[0], x).zip(share(1.0 - target, logarithms[1], 1.0 - x));
            let size = terms.map_or(0.0, |(one, other)| one.abs() + other.abs());
            (terms.map(|(one, other)| weight * (other - one)), weight.abs() * size)
        }
        1 => (Some(weight * (log_rest - log)), weight.abs() * (1.0 + log.abs() + log_rest.abs())),
        _ => {
            let terms = [target * log, (1.0 - target) * log_rest];
            (Some(-(terms[0] + terms[1])), 1.0 + terms[0].abs() + terms[1].abs())
        }
    })
}

/// The derivative of the negative log likelihood of a Poisson distribution, and what may be lost of it.
fn of_poisson(format: Format, args: &[f64], which: usize, details: &Details) -> Option<(f64, f64)> {
    let (x, target, [is_log, full]) = (args[0], args[1], details.flags);
    let unit = 16.0 * format.ulp(1.0);
    let rate = x + details.numbers[0].unwrap_or(0.0);
    // What is lost of the sum with `eps`, relative to it.
    let lost = 4.0 * format.ulp(rate) / rate;
    if !(is_log || rate > 0.0 && lost < 0.1) {
        return None;
    }
    if which == 0 {
        let (one, other) = if is_log { (x.exp(), target) } else { (1.0, target / rate) };
        let error = unit * (1.0 + x.abs()) * (one.abs() + other.abs()) + if is_log { 0.0 } else { lost * other.abs() };
        return Some((one - other, error));
    }
    let logarithm = if is_log { x } else { rate.ln() };
    // Stirling's approximation is added for targets of more than 1, and jumps there.
    let factorial = match full {
        true if target == 1.0 => return None,
        true if target > 1.0 => target.ln() + 0.5 / target,
        _ => 0.0,
    };
    let size = 1.0 + logarithm.abs() + factorial.abs();
    Some((factorial - logarithm, unit * size + if is_log { 0.0 } else { lost }))
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The logarithm of 1 and the exponential.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
