//! Functions of one operand that are exact: signs, integers, truths.

use super::set::{Format, Set, as_float};
use super::{Right, integer as whole};
use crate::ops::Op;
use crate::tensor::{DType, Scalar};

const SIGN: &str = "IEEE 754-2019, 5.5.1: negate and abs change the sign alone";
const SGN: &str = "array API standard, sign: 1, 0, -1, and NaN for NaN";
const INTEGRAL: &str = "IEEE 754-2019, 5.9: roundToIntegral";
const FRACTION: &str = "torch.frac: x - floor(|x|) sgn(x)";
const TRUTH: &str = "torch.logical_not: what is 0 is not true";
const CLASS: &str = "IEEE 754-2019, 5.7.2: isNaN, isInfinite, isFinite; a complex number is what one of its parts is";
const ABSOLUTE: &str = "array API standard, abs: the magnitude of a complex number, within 2 units in the last place";

/// The right results for a real operand; `None` for any other function.
pub(super) fn real(op: Op, format: Format, a: f64) -> Option<Right> {
    let exact = |source, value: f64| Some(Right::by(source, Set::float(value)));
    match op {
        Op::Abs => exact(SIGN, a.abs()),
        Op::Neg => exact(SIGN, -a),
        Op::Sign if a == 0.0 => Some(Right::by(SGN, Set::ZERO)),
        Op::Sign => exact(SGN, if a.is_nan() { a } else { a.signum() }),
        Op::Floor => exact(INTEGRAL, a.floor()),
        Op::Ceil => exact(INTEGRAL, a.ceil()),
        Op::Trunc => exact(INTEGRAL, a.trunc()),
        Op::Round => exact(INTEGRAL, a.round_ties_even()),
        // C's modf has zero for an infinity, the formula NaN.
        Op::Frac if a.is_infinite() => Some(Right::by(FRACTION, Set::Nan.or(Set::ZERO))),
        Op::Frac if a.fract() == 0.0 => Some(Right::by(FRACTION, Set::ZERO)),
        Op::Frac => exact(FRACTION, format.round(a.fract())),
        _ => None,
    }
}

/// The right results for an integer or a bool; `None` for any other function.
pub(super) fn integer(op: Op, dtype: DType, a: i128) -> Option<Right> {
    let by = |source, value: i128| Some(Right::by(source, whole::exactly(dtype, value)));
    match op {
        Op::Abs => by("two's complement: the least integer has no negative", a.abs()),
        Op::Neg => by("two's complement: integers wrap around modulo a power of two", -a),
        Op::Sign => by(SGN, a.signum()),
        Op::Floor | Op::Ceil | Op::Trunc | Op::Round => by("an integer is one already", a),
        Op::BitwiseNot if dtype == DType::Bool => by("torch.bitwise_not: the logical NOT of bools", 1 - a),
        Op::BitwiseNot => by("the truth table of each bit in two's complement", !a),
        _ => None,
    }
}

/// Whether an element is of a class; `None` for any other function.
pub(super) fn truth(op: Op, value: Scalar) -> Option<Right> {
    let parts = match value {
        Scalar::Complex(value) => vec![value.re, value.im],
        other => vec![as_float(other)?],
    };
    let (source, holds) = match op {
        Op::LogicalNot => (TRUTH, parts.iter().all(|part| *part == 0.0)),
        Op::Isnan => (CLASS, parts.iter().any(|part| part.is_nan())),
        Op::Isinf => (CLASS, parts.iter().any(|part| part.is_infinite())),
        Op::Isfinite => (CLASS, parts.iter().all(|part| part.is_finite())),
        _ => return None,
    };
    Some(Right::by(source, Set::Exactly(Scalar::Bool(holds))))
}

/// The magnitude of a complex number in the format of its parts.
pub(super) fn magnitude(format: Format, value: num_complex::Complex64) -> Option<Right> {
    if value.re.is_infinite() || value.im.is_infinite() {
        return Some(Right::by(ABSOLUTE, Set::float(f64::INFINITY)));
    }
    if !value.is_finite() {
        return Some(Right::by(ABSOLUTE, Set::Nan));
    }
    let size = value.re.hypot(value.im);
    Some(Right::by(ABSOLUTE, format.near(size, 2.0 * format.ulp(size))))
}
