//! Special cases of functions of real numbers: one row a rule, each with its source.

use std::f64::consts::PI;

use super::Right;
use crate::mathematics::set::{Format, Set};
use crate::ops::Op;

/// A condition on an operand.
#[derive(Clone, Copy, Debug)]
enum Is {
    Any,
    Nan,
    Number,
    Zero,
    MinusZero,
    Finite,
    Infinite,
    PlusInfinity,
    MinusInfinity,
    Positive,
    Negative,
    FiniteNegative,
    One,
    MinusOne,
    OddPositive,
    OddNegative,
    Fraction,
    Small,
    Large,
}

/// The results of a rule. `Signed` ones have the sign of the first operand.
#[derive(Clone, Copy, Debug)]
enum Gives {
    Nan,
    Zero,
    PlusZero,
    MinusZero,
    One,
    PlusInfinity,
    MinusInfinity,
    /// The operand with this number.
    Operand(usize),
    /// The same, but that a zero may have either sign: the logarithm of 1 is +0.
    Number(usize),
    /// Zero with the sign of the first operand.
    SignedZero,
    /// Infinity with the sign of the first operand.
    SignedInfinity,
    /// A multiple of a quarter of pi with the sign of the first operand.
    SignedQuarters(f64),
    /// An infinity whose sign is the product of the signs of both operands.
    ProductInfinity,
}

/// A rule: the operation, a condition on each of its first two operands, the results, and the source.
struct Rule(Op, Is, Is, Gives, &'static str);

const C_POW: &str = "C Annex F, F.10.4.4: pow";
const C_ATAN2: &str = "C Annex F, F.10.1.4: atan2";
const C_HYPOT: &str = "C Annex F, F.10.4.3: hypot";
const C_FMOD: &str = "C Annex F, F.10.7.1: fmod";
const IEEE_ADD: &str = "IEEE 754-2019, 7.2: the sum of infinities of opposite signs is invalid";
const IEEE_MUL: &str = "IEEE 754-2019, 7.2: the product of zero and infinity is invalid";
const IEEE_DIV: &str = "IEEE 754-2019, 7.2 and 7.3: 0/0 and infinity/infinity are invalid, x/0 is an infinity";
const API_REMAINDER: &str = "array API standard: special cases of remainder";
const LOGADDEXP: &str = "array API standard: special cases of logaddexp; log(exp(-infinity) + exp(x)) = x";
const DEGREE: &str = "IEEE 754-2019, 6.2: a degree that is NaN gives NaN";
const POLYNOMIAL: &str = "torch.special.chebyshev_polynomial_t and its like: a recursion over the input from degree 1 on, to which IEEE 754-2019, 6.2, hands a NaN on";
const XLOGY: &str = "torch.xlogy: NaN if other is NaN, 0 if input is 0, input * log(other) otherwise";

/// The rules, the first of which that holds decides.
#[rustfmt::skip]
const RULES: &[Rule] = &[
    Rule(Op::Pow, Is::Any, Is::Zero, Gives::One, C_POW),
    Rule(Op::Pow, Is::One, Is::Any, Gives::One, C_POW),
    Rule(Op::Pow, Is::Nan, Is::Any, Gives::Nan, C_POW),
    Rule(Op::Pow, Is::Any, Is::Nan, Gives::Nan, C_POW),
    Rule(Op::Pow, Is::Zero, Is::OddNegative, Gives::SignedInfinity, C_POW),
    Rule(Op::Pow, Is::Zero, Is::Negative, Gives::PlusInfinity, C_POW),
    Rule(Op::Pow, Is::Zero, Is::OddPositive, Gives::SignedZero, C_POW),
    Rule(Op::Pow, Is::Zero, Is::Positive, Gives::PlusZero, C_POW),
    Rule(Op::Pow, Is::MinusOne, Is::Infinite, Gives::One, C_POW),
    Rule(Op::Pow, Is::FiniteNegative, Is::Fraction, Gives::Nan, C_POW),
    Rule(Op::Pow, Is::Small, Is::MinusInfinity, Gives::PlusInfinity, C_POW),
    Rule(Op::Pow, Is::Large, Is::MinusInfinity, Gives::PlusZero, C_POW),
    Rule(Op::Pow, Is::Small, Is::PlusInfinity, Gives::PlusZero, C_POW),
    Rule(Op::Pow, Is::Large, Is::PlusInfinity, Gives::PlusInfinity, C_POW),
    Rule(Op::Pow, Is::MinusInfinity, Is::OddNegative, Gives::MinusZero, C_POW),
    Rule(Op::Pow, Is::MinusInfinity, Is::Negative, Gives::PlusZero, C_POW),
    Rule(Op::Pow, Is::MinusInfinity, Is::OddPositive, Gives::MinusInfinity, C_POW),
    Rule(Op::Pow, Is::MinusInfinity, Is::Positive, Gives::PlusInfinity, C_POW),
    Rule(Op::Pow, Is::PlusInfinity, Is::Negative, Gives::PlusZero, C_POW),
    Rule(Op::Pow, Is::PlusInfinity, Is::Positive, Gives::PlusInfinity, C_POW),

    Rule(Op::Atan2, Is::Nan, Is::Any, Gives::Nan, C_ATAN2),
    Rule(Op::Atan2, Is::Any, Is::Nan, Gives::Nan, C_ATAN2),
    Rule(Op::Atan2, Is::Zero, Is::MinusZero, Gives::SignedQuarters(4.0), C_ATAN2),
    Rule(Op::Atan2, Is::Zero, Is::Negative, Gives::SignedQuarters(4.0), C_ATAN2),
    Rule(Op::Atan2, Is::Zero, Is::Any, Gives::SignedZero, C_ATAN2),
    Rule(Op::Atan2, Is::Finite, Is::Zero, Gives::SignedQuarters(2.0), C_ATAN2),
    Rule(Op::Atan2, Is::Finite, Is::MinusInfinity, Gives::SignedQuarters(4.0), C_ATAN2),
    Rule(Op::Atan2, Is::Finite, Is::PlusInfinity, Gives::SignedZero, C_ATAN2),
    Rule(Op::Atan2, Is::Infinite, Is::Finite, Gives::SignedQuarters(2.0), C_ATAN2),
    Rule(Op::Atan2, Is::Infinite, Is::MinusInfinity, Gives::SignedQuarters(3.0), C_ATAN2),
    Rule(Op::Atan2, Is::Infinite, Is::PlusInfinity, Gives::SignedQuarters(1.0), C_ATAN2),

    Rule(Op::Hypot, Is::Infinite, Is::Any, Gives::PlusInfinity, C_HYPOT),
    Rule(Op::Hypot, Is::Any, Is::Infinite, Gives::PlusInfinity, C_HYPOT),
    Rule(Op::Hypot, Is::Nan, Is::Any, Gives::Nan, C_HYPOT),
    Rule(Op::Hypot, Is::Any, Is::Nan, Gives::Nan, C_HYPOT),

    Rule(Op::Fmod, Is::Nan, Is::Any, Gives::Nan, C_FMOD),
    Rule(Op::Fmod, Is::Any, Is::Nan, Gives::Nan, C_FMOD),
    Rule(Op::Fmod, Is::Infinite, Is::Any, Gives::Nan, C_FMOD),
    Rule(Op::Fmod, Is::Any, Is::Zero, Gives::Nan, C_FMOD),
    Rule(Op::Fmod, Is::Any, Is::Infinite, Gives::Operand(0), C_FMOD),

    Rule(Op::Remainder, Is::Nan, Is::Any, Gives::Nan, API_REMAINDER),
    Rule(Op::Remainder, Is::Any, Is::Nan, Gives::Nan, API_REMAINDER),
    Rule(Op::Remainder, Is::Infinite, Is::Any, Gives::Nan, API_REMAINDER),
    Rule(Op::Remainder, Is::Any, Is::Zero, Gives::Nan, API_REMAINDER),
    Rule(Op::Remainder, Is::Positive, Is::PlusInfinity, Gives::Operand(0), API_REMAINDER),
    Rule(Op::Remainder, Is::Negative, Is::PlusInfinity, Gives::PlusInfinity, API_REMAINDER),
    Rule(Op::Remainder, Is::Positive, Is::MinusInfinity, Gives::MinusInfinity, API_REMAINDER),
    Rule(Op::Remainder, Is::Negative, Is::MinusInfinity, Gives::Operand(0), API_REMAINDER),

    Rule(Op::Add, Is::PlusInfinity, Is::MinusInfinity, Gives::Nan, IEEE_ADD),
    Rule(Op::Add, Is::MinusInfinity, Is::PlusInfinity, Gives::Nan, IEEE_ADD),
    Rule(Op::Mul, Is::Zero, Is::Infinite, Gives::Nan, IEEE_MUL),
    Rule(Op::Mul, Is::Infinite, Is::Zero, Gives::Nan, IEEE_MUL),
    Rule(Op::Div, Is::Zero, Is::Zero, Gives::Nan, IEEE_DIV),
    Rule(Op::Div, Is::Infinite, Is::Infinite, Gives::Nan, IEEE_DIV),
    Rule(Op::Div, Is::Finite, Is::Zero, Gives::ProductInfinity, IEEE_DIV),

    Rule(Op::Logaddexp, Is::Nan, Is::Any, Gives::Nan, LOGADDEXP),
    Rule(Op::Logaddexp, Is::Any, Is::Nan, Gives::Nan, LOGADDEXP),
    Rule(Op::Logaddexp, Is::PlusInfinity, Is::Any, Gives::PlusInfinity, LOGADDEXP),
    Rule(Op::Logaddexp, Is::Any, Is::PlusInfinity, Gives::PlusInfinity, LOGADDEXP),
    Rule(Op::Logaddexp, Is::MinusInfinity, Is::Any, Gives::Number(1), LOGADDEXP),
    Rule(Op::Logaddexp, Is::Any, Is::MinusInfinity, Gives::Number(0), LOGADDEXP),
    Rule(Op::Logaddexp2, Is::Nan, Is::Any, Gives::Nan, LOGADDEXP),
    Rule(Op::Logaddexp2, Is::Any, Is::Nan, Gives::Nan, LOGADDEXP),
    Rule(Op::Logaddexp2, Is::PlusInfinity, Is::Any, Gives::PlusInfinity, LOGADDEXP),
    Rule(Op::Logaddexp2, Is::Any, Is::PlusInfinity, Gives::PlusInfinity, LOGADDEXP),
    Rule(Op::Logaddexp2, Is::MinusInfinity, Is::Any, Gives::Number(1), LOGADDEXP),
    Rule(Op::Logaddexp2, Is::Any, Is::MinusInfinity, Gives::Number(0), LOGADDEXP),

    Rule(Op::Xlogy, Is::Any, Is::Nan, Gives::Nan, XLOGY),
    Rule(Op::Xlogy, Is::Zero, Is::Number, Gives::Zero, XLOGY),
    Rule(Op::Xlogy, Is::Nan, Is::Any, Gives::Nan, XLOGY),
    Rule(Op::Xlogy, Is::Any, Is::Negative, Gives::Nan, XLOGY),
    Rule(Op::Xlogy, Is::Any, Is::PlusInfinity, Gives::SignedInfinity, XLOGY),
    Rule(Op::SpecialXlog1py, Is::Any, Is::Nan, Gives::Nan, XLOGY),
    Rule(Op::SpecialXlog1py, Is::Zero, Is::Number, Gives::Zero, XLOGY),
    Rule(Op::SpecialXlog1py, Is::Nan, Is::Any, Gives::Nan, XLOGY),
    Rule(Op::SpecialXlog1py, Is::Any, Is::PlusInfinity, Gives::SignedInfinity, XLOGY),
];

/// The right results by a special case, if the operands are one.
pub(super) fn right(op: Op, format: Format, args: &[f64]) -> Option<Right> {
    let op = if op == Op::FloatPower { Op::Pow } else { op };
    let (&a, &b) = (args.first()?, args.get(1)?);
    if is_polynomial(op) && a.is_nan() && (1.0..1e6).contains(&b) {
        return Some(Right::by(POLYNOMIAL, Set::Nan));
    }
    if is_polynomial(op) && b.is_nan() {
        return Some(Right::by(DEGREE, Set::Nan));
    }
    let rules = RULES.iter().filter(|rule| rule.0 == op);
    let Rule(_, _, _, gives, source) = rules.into_iter().find(|rule| rule.1.holds(a) && rule.2.holds(b))?;
    Some(Right::by(source, gives.set(format, a, b)))
}

/// Returns whether an operation is an orthogonal polynomial: of an input, and of a degree.
fn is_polynomial(op: Op) -> bool {
    op.name().contains("_polynomial_")
}

impl Is {
    fn holds(self, value: f64) -> bool {
        let odd = value.is_finite() && value.trunc() == value && value % 2.0 != 0.0;
        match self {
            Is::Any => true,
            Is::Nan => value.is_nan(),
            Is::Number => !value.is_nan(),
            Is::Zero => value == 0.0,
            Is::MinusZero => value == 0.0 && value.is_sign_negative(),
            Is::Finite => value.is_finite(),
            Is::Infinite => value.is_infinite(),
            Is::PlusInfinity => value == f64::INFINITY,
            Is::MinusInfinity => value == f64::NEG_INFINITY,
            Is::Positive => value > 0.0,
            Is::Negative => value < 0.0,
            Is::FiniteNegative => value < 0.0 && value.is_finite(),
            Is::One => value == 1.0,
            Is::MinusOne => value == -1.0,
            Is::OddPositive => odd && value > 0.0,
            Is::OddNegative => odd && value < 0.0,
            Is::Fraction => value.is_finite() && value.trunc() != value,
            Is::Small => value.abs() < 1.0,
            Is::Large => value.abs() > 1.0,
        }
    }
}

impl Gives {
    fn set(self, format: Format, a: f64, b: f64) -> Set {
        let sign = if a.is_sign_negative() { -1.0 } else { 1.0 };
        let product = if b.is_sign_negative() { -sign } else { sign };
        match self {
            Gives::Nan => Set::Nan,
            Gives::Zero => Set::ZERO,
            Gives::PlusZero => Set::float(0.0),
            Gives::MinusZero => Set::float(-0.0),
            Gives::One => Set::float(1.0),
            Gives::PlusInfinity => Set::float(f64::INFINITY),
            Gives::MinusInfinity => Set::float(f64::NEG_INFINITY),
            Gives::Operand(0) => Set::float(format.round(a)),
            Gives::Operand(_) => Set::float(format.round(b)),
            Gives::Number(at) => {
                let number = format.round([a, b][at]);
                Set::Between(number, number)
            }
            Gives::SignedZero => Set::float(0.0 * sign),
            Gives::SignedInfinity => Set::float(f64::INFINITY * sign),
            Gives::SignedQuarters(quarters) => format.within(sign * quarters * PI / 4.0, 4.0),
            Gives::ProductInfinity => Set::float(f64::INFINITY * product),
        }
    }
}
