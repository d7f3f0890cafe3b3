//! Definitions of functions of real numbers, for numbers of any width.

use std::cell::RefCell;
use std::collections::HashMap;

use super::Details;
use super::set::power;
use super::wide::{BITS, Real, Wide};
use crate::ops::Op;
use crate::tensor::Scalar;

/// The largest exponent of two that `ldexp` tells from larger ones: a number of 64 bits times such a power overflows, and
/// divided by it underflows.
const LARGEST_SHIFT: f64 = 2200.0;

/// What a value is computed from. The other arguments are written out, as numbers have no hash.
type Key = (Op, Vec<u64>, String);

/// The most values that are kept.
const KEPT: usize = 1 << 14;

thread_local! {
    /// The values that were computed before: broadcasting lets the same numbers meet again and again.
    static KNOWN: RefCell<HashMap<Key, Option<f64>>> = RefCell::default();
}

/// The nearest float64 of a formula in wide numbers; what float64 makes of it where those have no number. `None` where it
/// has no definition here.
pub(super) fn value(op: Op, args: &[f64], details: &Details) -> Option<f64> {
    let key = (op, args.iter().map(|arg| arg.to_bits()).collect(), format!("{details:?}"));
    if let Some(known) = KNOWN.with_borrow(|known| known.get(&key).copied()) {
        return known;
    }
    let exact: Vec<Wide> = args.iter().map(|&arg| Wide::of(arg)).collect();
    let value = match formula(op, &exact, details) {
        Some(value) if !value.is_number() => formula(op, args, details),
        value => value.map(|value| value.nearest()),
    };
    KNOWN.with_borrow_mut(|known| {
        if known.len() == KEPT {
            known.clear();
        }
        known.insert(key, value);
    });
    value
}

/// The function of an operation at finite operands; `None` where it has no definition here.
pub(super) fn formula<R: Real>(op: Op, args: &[R], details: &Details) -> Option<R> {
    let get = |at: usize| args.get(at).cloned();
    let (a, b) = (get(0)?, get(1));
    let of = R::of;
    let number = |at: usize| details.numbers[at].filter(|number| number.is_finite());
    let factor = || match details.factor {
        None => Some(of(1.0)),
        Some(Scalar::Float(value)) => Some(of(value)),
        Some(Scalar::Int(value)) if value.unsigned_abs() < 1 << 53 => Some(of(value as f64)),
        Some(Scalar::Bool(value)) => Some(of(f64::from(u8::from(value)))),
        _ => None,
    };
    Some(match op {
        Op::Add => a + factor()? * b?,
        Op::Sub => a - factor()? * b?,
        Op::Rsub => b? - factor()? * a,
        Op::Mul => a * b?,
        Op::Div if details.mode.is_none() => a / b?,
        Op::Addcmul => a + factor()? * b? * get(2)?,
        Op::Addcdiv => a + factor()? * (b? / get(2)?),
        Op::Lerp => {
            let weight = get(2)?;
            a.clone() + weight * (b? - a)
        }
        Op::Abs => a.abs(),
        Op::Neg => -a,
        Op::Frac => a.clone() - a.trunc(),
        Op::Erf => error_function(a)?,
        Op::Erfc => of(1.0) - error_function(a)?,
        Op::SigmoidBackward => {
            let y = b?;
            a * (of(1.0) - y.clone()) * y
        }
        Op::TanhBackward => {
            let y = b?;
            a * (of(1.0) - y.clone() * y)
        }
        Op::HardsigmoidBackward => {
            if b?.abs() < of(3.0) {
                a / of(6.0)
            } else {
                of(0.0)
            }
        }
        Op::HardswishBackward => {
            let x = b?;
            if x <= of(-3.0) {
                of(0.0)
            } else if x >= of(3.0) {
                a
            } else {
                a * (x / of(3.0) + of(0.5))
            }
        }
        Op::SoftplusBackward => {
            let x = b? * of(number(0)?);
            if x > of(number(1)?) { a } else { a * sigmoid(x) }
        }
        Op::EluBackward => {
            let (x, [alpha, scale, input_scale]) = (b?, [number(0), number(1), number(2)].map(|number| number.map(of)));
            let (alpha, scale, input_scale) = (alpha?, scale?, input_scale?);
            if x > of(0.0) {
                a * scale
            } else if details.flag {
                a * input_scale * (x + alpha * scale)
            } else {
                a * input_scale.clone() * alpha * scale * (x * input_scale).exp()
            }
        }
        Op::LogitBackward => {
            let x = b?;
            a / (x.clone() * (of(1.0) - x))
        }
        Op::SiluBackward => {
            let x = b?;
            let y = sigmoid(x.clone());
            a * y.clone() * (of(1.0) + x * (of(1.0) - y))
        }
        // The hyperbolic tangent of softplus is a quotient: of the square of 1 and the exponential, less 1, and plus 1.
        Op::MishBackward => {
            let x = b?;
            let power = of(1.0) + x.clone().exp();
            let square = power.clone() * power;
            let curve = (square.clone() - of(1.0)) / (square + of(1.0));
            a * (curve.clone() + x.clone() * sigmoid(x) * (of(1.0) - curve.clone() * curve))
        }
        // The buffer has the exponential of the opposite of the magnitude.
        Op::LogSigmoidBackward => {
            let (x, power) = (b?, get(2)?);
            let share = power.clone() / (of(1.0) + power);
            if x < of(0.0) { a * (of(1.0) - share) } else { a * share }
        }
        Op::GeluBackward => {
            let (x, root) = (b?, of(2.0).sqrt());
            let half_circle = R::pi();
            if details.mode == Some("tanh") {
                let (square, cubic) = (x.clone() * x.clone(), of(0.044715));
                let beta = root / half_circle.sqrt();
                let power = (of(2.0) * beta.clone() * x.clone() * (of(1.0) + cubic.clone() * square.clone())).exp();
                let curve = (power.clone() - of(1.0)) / (power + of(1.0));
                let slope = beta * (of(1.0) + of(3.0) * cubic * square);
                let rest = of(1.0) - curve.clone() * curve.clone();
                a * of(0.5) * (of(1.0) + curve + x * rest * slope)
            } else {
                let share = of(0.5) * (of(1.0) + error_function(x.clone() / root)?);
                let density = (of(-0.5) * x.clone() * x.clone()).exp() / (of(2.0) * half_circle).sqrt();
                a * (share + x * density)
            }
        }
        Op::NativeDropoutBackward => a * b? * of(number(0)?),
        Op::MseLossBackward => of(2.0 * details.share.unwrap_or(1.0)) * (b? - get(2)?) * a,
        Op::SmoothL1LossBackward | Op::HuberLossBackward => {
            let bend = number(0).filter(|number| *number > 0.0)?;
            let (difference, bend) = (b? - get(2)?, of(bend));
            let factor = if op == Op::HuberLossBackward { of(1.0) } else { of(1.0) / bend.clone() };
            let bent = difference.greater(-bend.clone()).lesser(bend);
            of(details.share.unwrap_or(1.0)) * bent * a * factor
        }
        Op::SoftMarginLossBackward => {
            let (x, target) = (b?, get(2)?);
            of(-details.share.unwrap_or(1.0)) * target.clone() * sigmoid(-(target * x)) * a
        }
        Op::Hypot => {
            let b = b?;
            (a.clone() * a + b.clone() * b).sqrt()
        }
        Op::Atan2 => a.atan2(b?),
        Op::Pow | Op::FloatPower => a.powf(b?),
        // A zero stays one, however large its factor; beyond these exponents every other number is infinite or zero.
        Op::Ldexp if a == of(0.0) => a,
        Op::Ldexp => a * power_of_two(b?.greater(of(-LARGEST_SHIFT)).lesser(of(LARGEST_SHIFT))),
        Op::Logaddexp => log_add_exp(a, b?, of(1.0)),
        Op::Logaddexp2 => log_add_exp(a, b?, R::ln_2()),
        Op::Xlogy | Op::SpecialXlog1py if a == of(0.0) => of(0.0),
        Op::Xlogy => a * b?.ln(),
        Op::SpecialXlog1py => a * b?.ln_1p(),
        Op::Maximum | Op::Fmax | Op::ClampMin => a.greater(b?),
        Op::Minimum | Op::Fmin | Op::ClampMax => a.lesser(b?),
        Op::Clamp => {
            let low = if details.missing[1] { a } else { a.greater(b?) };
            if details.missing[2] { low } else { low.lesser(get(2)?) }
        }
        Op::Copysign => {
            let sign = if b?.nearest().is_sign_negative() { of(-1.0) } else { of(1.0) };
            a.abs() * sign
        }
        Op::Where => {
            if a == of(0.0) {
                get(2)?
            } else {
                b?
            }
        }
        Op::Remainder => {
            let b = b?;
            a.clone() - b.clone() * (a / b).floor()
        }
        Op::Fmod => {
            let b = b?;
            a.clone() - b.clone() * (a / b).trunc()
        }
        Op::Prelu => {
            let zero = of(0.0);
            if a > zero { a } else { b? * a }
        }
        Op::MseLoss => {
            let difference = a - b?;
            difference.clone() * difference
        }
        Op::L1Loss => (a - b?).abs(),
        Op::SmoothL1Loss => {
            let (difference, beta) = ((a - b?).abs(), of(details.number));
            if difference < beta {
                of(0.5) * difference.clone() * difference / beta
            } else {
                difference - of(0.5) * beta
            }
        }
        Op::HuberLoss => {
            let (difference, delta) = ((a - b?).abs(), of(details.number));
            if difference < delta {
                of(0.5) * difference.clone() * difference
            } else {
                delta.clone() * (difference - of(0.5) * delta)
            }
        }
        Op::SoftMarginLoss => log_add_exp(of(0.0), -(b? * a), of(1.0)),
        // Outside of the unit interval it is rejected.
        Op::BinaryCrossEntropy => {
            let (target, least) = (b?, of(-100.0));
            let clamped = |x: R| if x == of(0.0) { least.clone() } else { x.ln().greater(least.clone()) };
            let weight = get(2).unwrap_or(of(1.0));
            let (one, other) = (clamped(a.clone()), clamped(of(1.0) - a));
            -(target.clone() * one + (of(1.0) - target) * other) * weight
        }
        // The logarithms of the sigmoid of an input and of its opposite.
        Op::BinaryCrossEntropyWithLogits => {
            let target = b?;
            let mut rest = args.iter().skip(2).cloned();
            let mut next = |missing: bool| if missing { None } else { rest.next() }.unwrap_or(of(1.0));
            let (weight, positive) = (next(details.missing[2]), next(details.missing[3]));
            let (one, other) = (log_add_exp(of(0.0), -a.clone(), of(1.0)), log_add_exp(of(0.0), a, of(1.0)));
            (positive * target.clone() * one + (of(1.0) - target) * other) * weight
        }
        Op::HingeEmbeddingLoss => match b?.nearest() {
            1.0 => a,
            -1.0 => (of(details.number) - a).greater(of(0.0)),
            _ => return None,
        },
        Op::KlDiv if details.flag => {
            let target = b?;
            target.clone().exp() * (target - a)
        }
        // By the page a target of 0 adds nothing, and below it there is no logarithm.
        Op::KlDiv => {
            let target = b?;
            match target.nearest() {
                0.0 => of(0.0),
                below if below < 0.0 => return None,
                _ => target.clone() * (target.ln() - a),
            }
        }
        Op::MarginRankingLoss => (of(details.number) - get(2)? * (a - b?)).greater(of(0.0)),
        _ => return None,
    })
}

fn sigmoid<R: Real>(x: R) -> R {
    R::of(1.0) / (R::of(1.0) + (-x).exp())
}

/// The error function by its power series, whose terms grow to `e^(x²)` before they vanish; `None` where that is too much.
fn error_function<R: Real>(x: R) -> Option<R> {
    let square = x.clone() * x.clone();
    let size = square.nearest();
    if size > 25.0 {
        return None;
    }
    let (mut term, mut sum) = (x.clone(), x);
    for n in 1..=(150 + 3 * size as i32) {
        term = -term * square.clone() / R::of(n.into());
        sum = sum + term.clone() / R::of((2 * n + 1).into());
        // No later term is larger, and none of this size changes the sum.
        if f64::from(n) > size && term.clone().abs() <= sum.clone().abs() * R::of(power(-(BITS as i32) - 8)) {
            break;
        }
    }
    Some(R::of(2.0) * sum / R::pi().sqrt())
}

/// `gelu`, exact: half of the number is on each side of the mean.
pub(super) fn gelu(x: f64) -> f64 {
    let of = |value: f64| Wide::of(value);
    match error_function(of(x) / of(2.0).sqrt()) {
        Some(share) => (of(0.5) * of(x) * (of(1.0) + share)).nearest(),
        None => x.max(0.0),
    }
}

/// `log(exp(a l) + exp(b l)) / l`.
fn log_add_exp<R: Real>(a: R, b: R, l: R) -> R {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let difference = (low - high.clone()) * l.clone();
    // What is that far below adds nothing that any format could hold next to the other.
    if difference < R::of(-5000.0) {
        return high;
    }
    high + difference.exp().ln_1p() / l
}

fn power_of_two<R: Real>(exponent: R) -> R {
    let nearest = exponent.nearest();
    if nearest.trunc() == nearest && nearest.abs() <= 1000.0 && exponent == R::of(nearest) {
        return R::of(power(nearest as i32));
    }
    (exponent * R::ln_2()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_kept_for_its_other_arguments_alone() {
        let of = |beta: f64| Details { numbers: [Some(beta), Some(20.0), None], ..Details::default() };
        let value = |beta: f64| value(Op::SoftplusBackward, &[1.0, 1.0], &of(beta)).unwrap();
        // 1 / (1 + e⁻¹) and 1 / (1 + e⁻²), again too.
        for _ in 0..2 {
            assert_eq!(value(1.0), 0.731_058_578_630_004_9);
            assert_eq!(value(2.0), 0.880_797_077_977_882_4);
        }
    }

    /// The series ends when its terms no longer count, not before. The digits are those of Python's `math.erf`.
    #[test]
    fn the_series_of_the_error_function_is_summed_to_its_end() {
        let erf = |x: f64| value(Op::Erf, &[x], &Details::default());
        assert_eq!(erf(0.0), Some(0.0));
        assert_eq!(erf(5e-324), Some(5e-324));
        assert_eq!(erf(0.5), Some(0.520_499_877_813_046_5));
        assert_eq!(erf(-2.0), Some(-0.995_322_265_018_952_7));
        assert_eq!(erf(4.5), Some(0.999_999_999_803_383_9));
        assert_eq!(erf(5.5), None);
    }
}
