//! Functions of floating-point numbers: the right results by IEEE 754, and bounds around the value of the function.

use super::formula::{self, formula};
use super::set::{Format, Set};
use super::wide::{Real, Wide};
use super::{Details, Right, activation, gamma, special, unary};
use crate::ops::Op;

const IEEE: &str = "IEEE 754-2019, 5.4.1: rounded correctly";
const STEPS: &str = "the value of the documented formula, each operation of which rounds once (IEEE 754-2019, 5.4.1)";
const NAN: &str = "IEEE 754-2019, 6.2: an operand that is NaN gives NaN";
const FUNCTION: &str = "the value of the function, within 4 units in the last place: the C libraries' documented maximum (glibc manual, 'Known Maximum Errors in Math Functions'; SLEEF: 1 unit) and a margin";
const MAXIMUM: &str =
    "torch.maximum and minimum: NaN if either is, else the larger or smaller; the sign of a zero is open";
const FMAX: &str = "C Annex F, F.10.9.2: fmax ignores NaN; the sign of a zero is open";
const CLAMP: &str = "torch.clamp: min(max(x, min), max)";
const FMOD: &str = "C Annex F, F.10.7.1: fmod is exact";
const REMAINDER: &str = "array API standard, remainder: the sign of the divisor";
const FLOOR: &str = "torch.floor_divide and div: the quotient, rounded to an integer, before or after it is rounded";
const ZETA: &str = "torch.special.zeta: the sum of the page, all of whose terms are zeros";

/// The units in the last place that a transcendental function may be off, and the relative error of its operands, in the
/// same units, that it may have as well.
fn bounds(op: Op) -> Option<(f64, f64)> {
    match op {
        Op::Hypot | Op::Atan2 | Op::Pow | Op::FloatPower | Op::Ldexp | Op::Xlogy | Op::SpecialXlog1py => {
            Some((4.0, 0.0))
        }
        Op::Erf | Op::Erfc | Op::HardsigmoidBackward | Op::SigmoidBackward | Op::TanhBackward => Some((4.0, 0.0)),
        // The logarithm of a sum near 1 cancels: what is lost is a rounding of the larger operand.
        Op::Logaddexp | Op::Logaddexp2 => Some((4.0, 2.0)),
        _ => None,
    }
}

/// The right results for operands that were converted to the format; `None` where nothing is defined.
pub(super) fn right(op: Op, format: Format, args: &[f64], details: &Details) -> Option<Right> {
    let (&a, b) = (args.first()?, args.get(1).copied().unwrap_or(0.0));
    let nan = args.iter().any(|value| value.is_nan());
    let is_plain = details.factor.is_none_or(|factor| factor == crate::tensor::Scalar::Int(1));
    if details.mode.is_none()
        && is_plain
        && let Some(right) = special::right(op, format, args)
    {
        return Some(right);
    }
    let exact = |value: f64| Some(Right::by(IEEE, Set::float(format.round(value))));
    let select = |source, value: f64| {
        let set = if value == 0.0 { Set::ZERO } else { Set::float(value) };
        Some(Right::by(source, set))
    };
    if args.len() == 1
        && let Some(right) = unary::real(op, format, a)
    {
        return Some(right);
    }
    match op {
        _ if activation::is_gradient(op) => activation::right(op, format, args, details),
        Op::Add if is_plain => exact(a + b),
        Op::Sub if is_plain => exact(a - b),
        Op::Rsub if is_plain => exact(b - a),
        Op::Mul => exact(format.product(a, b)),
        Op::Div if details.mode.is_none() => exact(quotient(format, a, b)),
        Op::Maximum | Op::Minimum if nan => Some(Right::by(MAXIMUM, Set::Nan)),
        Op::Maximum => select(MAXIMUM, if a > b { a } else { b }),
        Op::Minimum => select(MAXIMUM, if a < b { a } else { b }),
        Op::Fmax | Op::Fmin if a.is_nan() => Some(Right::by(FMAX, Set::float(b))),
        Op::Fmax | Op::Fmin if b.is_nan() => Some(Right::by(FMAX, Set::float(a))),
        Op::Fmax => select(FMAX, if a > b { a } else { b }),
        Op::Fmin => select(FMAX, if a < b { a } else { b }),
        Op::Clamp | Op::ClampMin | Op::ClampMax if a.is_nan() => Some(Right::by(NAN, Set::Nan)),
        // What a bound that is NaN does is documented nowhere.
        Op::Clamp | Op::ClampMin | Op::ClampMax if nan => None,
        Op::Clamp => {
            let low = if details.missing[1] || a >= b { a } else { b };
            let high = args.get(2).copied().unwrap_or(0.0);
            select(CLAMP, if details.missing[2] || low <= high { low } else { high })
        }
        Op::ClampMin => select(CLAMP, if a < b { b } else { a }),
        Op::ClampMax => select(CLAMP, if a > b { b } else { a }),
        Op::Copysign => Some(Right::by("IEEE 754-2019, 5.5.1: copySign", Set::float(a.copysign(b)))),
        Op::Nextafter => Some(Right::by("C Annex F, F.10.8.3: nextafter", Set::float(format.next_after(a, b)))),
        // The page's three lines have none for NaN; the step of what is neither below nor at zero could be either.
        Op::Heaviside if a.is_nan() => Some(
            Right::by("NumPy: heaviside of NaN is NaN; PyTorch's page says nothing", Set::Nan)
                .disputed(Set::float(0.0).or(Set::float(1.0))),
        ),
        Op::Heaviside => {
            let step = if a == 0.0 { b } else { f64::from(u8::from(a > 0.0)) };
            Some(Right::by("torch.heaviside: 0 below zero, `values` at zero, 1 above", Set::float(step)))
        }
        Op::Prelu if nan && (a.is_nan() || a <= 0.0) => Some(Right::by(NAN, Set::Nan)),
        Op::Prelu => {
            let value = if a > 0.0 { a } else { format.round(format.product(b, a)) };
            Some(Right::by("torch.nn.PReLU: x above zero, weight * x below", Set::float(value)))
        }
        Op::Fmod => Some(Right::by(FMOD, Set::float(a % b))),
        Op::Remainder => {
            let rest = a % b;
            let moved = format.round(rest + b);
            let same = rest == 0.0 || (rest < 0.0) == (b < 0.0);
            Some(Right::by(
                REMAINDER,
                match (same, rest == 0.0) {
                    (true, true) => Set::float(0.0f64.copysign(b)),
                    (true, false) => Set::float(rest),
                    (false, _) => Set::float(moved),
                },
            ))
        }
        Op::FloorDivide | Op::Div => rounded_quotient(op, format, a, b, details),
        Op::Igamma | Op::Igammac if nan => Some(Right::by(NAN, Set::Nan)),
        Op::Igamma | Op::Igammac => gamma::right(op, format, a, b),
        Op::SpecialZeta if a.is_nan() || b.is_nan() && a != 1.0 => Some(Right::by(NAN, Set::Nan)),
        Op::SpecialZeta if b == f64::INFINITY && a > 1.0 || a == f64::INFINITY && b > 1.0 => {
            Some(Right::by(ZETA, Set::ZERO))
        }
        _ if nan && linear(op) => Some(Right::by(NAN, Set::Nan)),
        Op::Add | Op::Sub | Op::Rsub | Op::Addcmul | Op::Addcdiv | Op::Lerp => steps(op, format, args, details),
        _ => transcendental(op, format, args, details),
    }
}

/// Returns whether every operand takes part in the result whatever the others are.
fn linear(op: Op) -> bool {
    use Op::{Add, Addcdiv, Addcmul, Div, FloorDivide, Lerp, Mul, Rsub, Sub};
    matches!(op, Add | Sub | Rsub | Mul | Div | FloorDivide | Addcmul | Addcdiv | Lerp)
}

fn quotient(format: Format, a: f64, b: f64) -> f64 {
    if format == Format::SINGLE { f64::from(a as f32 / b as f32) } else { a / b }
}

/// A quotient that is rounded to an integer, up, down or towards zero.
fn rounded_quotient(op: Op, format: Format, a: f64, b: f64, details: &Details) -> Option<Right> {
    if a.is_nan() || b.is_nan() {
        return Some(Right::by(NAN, Set::Nan));
    }
    let to_integer = |value: f64| match details.mode {
        Some("trunc") => value.trunc(),
        _ => value.floor(),
    };
    let one = |value: f64| if value == 0.0 { Set::ZERO } else { Set::float(format.round(value)) };
    if b == 0.0 || (a.is_infinite() && b.is_infinite()) {
        return Some(Right::by(
            IEEE,
            if a == 0.0 || a.is_infinite() && b.is_infinite() { Set::Nan } else { one(a / b) },
        ));
    }
    if a.is_infinite() {
        // Python, and the array API standard with it, say NaN; the limit is an infinity.
        return Some(Right::by(
            "array API standard, floor_divide: NaN; the quotient: an infinity",
            one(a / b).or(Set::Nan),
        ));
    }
    if b.is_infinite() {
        let below = op == Op::FloorDivide || details.mode == Some("floor");
        let set = if below && a != 0.0 && (a < 0.0) != (b < 0.0) { one(-1.0).or(Set::ZERO) } else { Set::ZERO };
        return Some(Right::by(FLOOR, set));
    }
    // Numbers of 16 bits are divided in single precision: a quotient of 16 bits may be rounded beyond an integer.
    let steps = if format.is_half() { Format::SINGLE } else { format };
    let set = one(to_integer(a / b)).or(one(to_integer(steps.round(quotient(steps, a, b)))));
    // The quotient of the remainder is exact where the quotient itself is too large to be.
    let rest = a % b;
    let exact = to_integer(((a - rest) / b).round() + if rest == 0.0 { 0.0 } else { 0.5 * (a.signum() * b.signum()) });
    let right = Right::by(FLOOR, set.or(one(exact)));
    if details.mode == Some("trunc") {
        return Some(right);
    }
    Some(right.disputed(one(floor_of_python(steps, a, b))))
}

/// The quotient of Python's and of NumPy's `//`: of what the remainder leaves, each step of which rounds.
fn floor_of_python(format: Format, a: f64, b: f64) -> f64 {
    let rest = a % b;
    let mut ratio = format.round(quotient(format, format.round(a - rest), b));
    if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
        ratio = format.round(ratio - 1.0);
    }
    let floor = ratio.floor();
    if ratio - floor > 0.5 { format.round(floor + 1.0) } else { floor }
}

/// Formulas of sums and products, each operation of which rounds.
fn steps(op: Op, format: Format, args: &[f64], details: &Details) -> Option<Right> {
    if args.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let factor = match details.factor {
        Some(crate::tensor::Scalar::Float(value)) => format.round(value),
        Some(crate::tensor::Scalar::Int(value)) => format.round(value as f64),
        Some(crate::tensor::Scalar::Bool(value)) => f64::from(u8::from(value)),
        Some(crate::tensor::Scalar::Complex(_)) => return None,
        None => 1.0,
    };
    let (a, b, c) = (args[0], *args.get(1)?, args.get(2).copied().unwrap_or(0.0));
    let unit = |value: f64| format.ulp(value);
    let rounded = Details { factor: Some(crate::tensor::Scalar::Float(factor)), ..*details };
    let exact: Vec<Wide> = args.iter().map(|&value| Wide::of(value)).collect();
    let value = formula(op, &exact, &rounded).filter(Wide::is_number)?.nearest();
    // The intermediate results in the orders that the documentation leaves open, and what each may lose.
    let (parts, lost): (Vec<f64>, f64) = match op {
        Op::Add | Op::Sub => (vec![factor * b], unit(factor * b)),
        Op::Rsub => (vec![factor * a], unit(factor * a)),
        Op::Addcmul => {
            let all = factor * b * c;
            (
                vec![factor * b, factor * c, b * c, all],
                unit(all) + losses(format, &[(factor * b, c), (factor * c, b), (b * c, factor)]),
            )
        }
        Op::Addcdiv => {
            let all = factor * b / c;
            (
                vec![factor * b, b / c, all, factor / c],
                unit(all) + losses(format, &[(factor * b, 1.0 / c), (b / c, factor)]),
            )
        }
        _ => {
            let way = b - a;
            let rest = 1.0 - c;
            let sums = unit(way) * (c.abs() + rest.abs()) + unit(rest) * way.abs();
            (vec![way, way * c, way * rest], sums + unit(way * c) + unit(way * rest) + unit(a) + unit(b))
        }
    };
    // What overflows on the way is infinite in one order and finite in another.
    if parts.iter().any(|part| part.is_nan() || part.abs() > format.largest()) {
        return None;
    }
    Some(Right::by(STEPS, format.near(value, lost + 0.01 * unit(value))))
}

/// The most that a product loses by the rounding of its first factor.
fn losses(format: Format, pairs: &[(f64, f64)]) -> f64 {
    pairs.iter().map(|(rounded, by)| format.ulp(*rounded) * by.abs()).fold(0.0, f64::max)
}

/// A function that is rounded in other ways by every implementation.
fn transcendental(op: Op, format: Format, args: &[f64], details: &Details) -> Option<Right> {
    let (ulps, backward) = bounds(op)?;
    if args.iter().any(|value| !value.is_finite()) {
        return None;
    }
    // The square overflows on the way.
    if op == Op::TanhBackward && args.get(1).is_some_and(|value| value * value > format.largest()) {
        return None;
    }
    let value = formula::value(op, args, details)?;
    let mut error = ulps * format.ulp(value);
    if backward > 0.0 {
        let largest = args.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        error += backward * format.ulp(largest);
    }
    // 1 - y² cancels next to 1, and the square may have been rounded. A square of 16 bits fits in the wider dtype.
    if let (Op::TanhBackward, false, &[gradient, at, ..]) = (op, format.is_half(), args) {
        error += 0.5 * format.ulp(at * at) * gradient.abs();
    }
    Some(Right::by(FUNCTION, format.near(value, error)))
}
