//! Functions of integers and bools: exact, modulo two to the number of bits.

use super::{Details, Right};
use crate::mathematics::set::Set;
use crate::ops::Op;
use crate::tensor::element::Element;
use crate::tensor::{DType, Scalar};

/// Arithmetic of integers in the tensor library: PyTorch's documentation of dtypes, and NumPy's of overflow.
const WRAP: &str = "two's complement: integers wrap around modulo a power of two";
const LOGICAL_OR: &str = "torch.add of bool: the logical or";
const BITS: &str = "the truth table of each bit in two's complement";
const CLAMP: &str = "torch.clamp: min(max(x, min), max)";
const DOCUMENTED: &str = "PyTorch's documentation of the function";
const ARRAY_API: &str = "the array API standard: floor_divide and remainder of integers";

/// The right results for integers of a dtype; `None` where nothing is defined.
pub(super) fn right(op: Op, dtype: DType, args: &[i64], details: &Details) -> Option<Right> {
    let wrap = |value: i128| exactly(dtype, value);
    let [a, b] = [args.first().copied()?, args.get(1).copied().unwrap_or(0)].map(i128::from);
    let factor = details.factor.map_or(Some(1), |factor| match factor {
        Scalar::Int(value) => Some(i128::from(value)),
        Scalar::Bool(value) => Some(i128::from(value)),
        _ => None,
    });
    let least = |value: i128| dtype != DType::Uint8 && value == -(1 << (8 * dtype.size() - 1));
    // Addition of bools is the logical or, and `alpha` is converted to bool.
    if dtype == DType::Bool && matches!(op, Op::Add | Op::Sub | Op::Rsub | Op::Addcmul) && details.factor.is_some() {
        let scaled = b & i128::from(factor? != 0);
        return (op == Op::Add).then(|| Right::by(LOGICAL_OR, wrap(a | scaled)));
    }
    Some(match op {
        Op::Add => Right::by(WRAP, wrap(a + factor? * b)),
        Op::Sub => Right::by(WRAP, wrap(a - factor? * b)),
        Op::Rsub => Right::by(WRAP, wrap(b - factor? * a)),
        Op::Mul => Right::by(WRAP, wrap(a * b)),
        Op::Addcmul => Right::by(WRAP, wrap(a.wrapping_add(factor?.wrapping_mul(b * i128::from(*args.get(2)?))))),
        Op::Maximum | Op::Fmax => Right::by(DOCUMENTED, wrap(a.max(b))),
        Op::Minimum | Op::Fmin => Right::by(DOCUMENTED, wrap(a.min(b))),
        Op::Clamp => {
            let low = if details.missing[1] { a } else { a.max(b) };
            let high = if details.missing[2] { low } else { low.min(i128::from(*args.get(2)?)) };
            fits(dtype, high).then(|| Right::by(CLAMP, wrap(high)))?
        }
        // A bound that is a number may lie beyond the dtype; then the result may have no place in it.
        Op::ClampMin => fits(dtype, a.max(b)).then(|| Right::by(CLAMP, wrap(a.max(b))))?,
        Op::ClampMax => fits(dtype, a.min(b)).then(|| Right::by(CLAMP, wrap(a.min(b))))?,
        Op::BitwiseAnd => Right::by(BITS, wrap(a & b)),
        Op::BitwiseOr => Right::by(BITS, wrap(a | b)),
        Op::BitwiseXor => Right::by(BITS, wrap(a ^ b)),
        Op::BitwiseLeftShift if (0..8 * dtype.size() as i128).contains(&b) => {
            Right::by("an arithmetic shift: the product with a power of two", wrap(a << b))
        }
        Op::BitwiseRightShift if (0..8 * dtype.size() as i128).contains(&b) => {
            Right::by("an arithmetic shift: the quotient by a power of two, rounded down", wrap(a >> b))
        }
        Op::Gcd => Right::by("the greatest common divisor, which is not negative", wrap(gcd(a, b))),
        Op::Lcm if a == 0 || b == 0 => Right::by("the least common multiple, which is not negative", wrap(0)),
        Op::Lcm if a.abs().checked_mul(b.abs()).is_some_and(|product| fits(dtype, product)) => {
            Right::by("the least common multiple, which is not negative", wrap((a * b).abs() / gcd(a, b)))
        }
        // The least integer has no negative, and C leaves its quotient by -1 undefined.
        Op::FloorDivide | Op::Div if b != 0 && !(least(a) && b == -1) => {
            let quotient = if details.mode == Some("trunc") { a / b } else { floored(a, b) };
            Right::by(ARRAY_API, wrap(quotient))
        }
        Op::Remainder if b != 0 => Right::by(ARRAY_API, wrap(a - b * floored(a, b))),
        Op::Fmod if b != 0 => Right::by("torch.fmod: the remainder with the sign of the dividend", wrap(a % b)),
        Op::Pow if b >= 0 => Right::by(WRAP, wrap(raised(a as i64, b as u64))),
        Op::Pow if a == 1 => Right::by("1 to any power is 1", wrap(1)),
        Op::Pow if a == -1 => Right::by("-1 to an integer power", wrap(if b % 2 == 0 { 1 } else { -1 })),
        Op::Heaviside => {
            let step = if a == 0 { b } else { i128::from(a > 0) };
            Right::by("torch.heaviside: 0 below zero, `values` at zero, 1 above", wrap(step))
        }
        _ => return None,
    })
}

/// The set of one integer of a dtype.
pub(super) fn exactly(dtype: DType, value: i128) -> Set {
    let wrapped = Scalar::Int(if dtype == DType::Bool { i64::from(value != 0) } else { value as i64 });
    Set::Exactly(crate::with_element_type!(dtype, T => T::from_scalar(wrapped).to_scalar()))
}

/// The same of an integer that is converted.
pub(super) fn narrowed(dtype: DType, set: Set) -> Option<Set> {
    match set {
        Set::Exactly(Scalar::Int(value)) => Some(exactly(dtype, i128::from(value))),
        _ => None,
    }
}

fn fits(dtype: DType, value: i128) -> bool {
    matches!(exactly(dtype, value), Set::Exactly(Scalar::Int(same)) if i128::from(same) == value)
}

fn floored(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// A power modulo two to the 64.
fn raised(base: i64, exponent: u64) -> i128 {
    let (mut base, mut exponent, mut result) = (base, exponent, 1i64);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    i128::from(result)
}
