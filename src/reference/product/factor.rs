//! The numbers that products are scaled by: `alpha` and `beta`.

use num_complex::Complex64;

use crate::error::Rejection;
use crate::tensor::{Category, DType, Scalar};

use super::super::machine::Result;

/// Whether a number counts as zero, so that what it would scale is not even looked at.
pub(super) fn is_zero(number: Scalar) -> bool {
    complex(number) == Complex64::ZERO
}

/// The number as a kernel gets it that computes in a wider type than float16 and bfloat16 (`at::opmath_type`).
pub(super) fn widen(number: Scalar, dtype: DType) -> Result<Scalar> {
    let half = matches!(dtype, DType::Float16 | DType::Bfloat16);
    convert(number, if half { DType::Float32 } else { dtype })
}

/// The number as the kernel gets it, in the type that elements of `dtype` are computed in: fractions are cut off for
/// integers, and what the type does not have is refused (`Scalar::to`, `c10::overflows`).
pub(super) fn convert(number: Scalar, dtype: DType) -> Result<Scalar> {
    let refused = || Err(Rejection::Overflow { dtype }.into());
    let value = complex(number);
    let limit = match dtype {
        DType::Float16 => 65504.0,
        DType::Bfloat16 => f64::from(f32::from_bits(0x7f7f_0000)),
        DType::Float32 | DType::Complex64 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let beyond = |part: f64| part.is_finite() && part.abs() > limit;
    match dtype.category() {
        Category::Complex if beyond(value.re) || beyond(value.im) => return refused(),
        Category::Complex => return Ok(Scalar::Complex(value)),
        _ if value.im != 0.0 => return refused(),
        Category::Floating if beyond(value.re) => return refused(),
        Category::Floating => return Ok(Scalar::Float(value.re)),
        _ => {}
    }
    let (low, high) = match dtype {
        // Negative integers wrap, as long as their opposites are there.
        DType::Uint8 if number.category() < Category::Floating => (-255, 255),
        DType::Uint8 => (0, 255),
        DType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    };
    let whole = match number {
        Scalar::Bool(value) => i64::from(value),
        Scalar::Int(value) => value,
        _ if value.re.is_nan() || value.re < low as f64 || value.re > high as f64 => return refused(),
        _ => value.re as i64,
    };
    if whole < low || whole > high { refused() } else { Ok(Scalar::Int(whole)) }
}

/// The conjugate.
pub(super) fn conjugate(number: Scalar) -> Scalar {
    match number {
        Scalar::Complex(value) => Scalar::Complex(value.conj()),
        real => real,
    }
}

fn complex(number: Scalar) -> Complex64 {
    match number {
        Scalar::Bool(value) => Complex64::from(f64::from(u8::from(value))),
        Scalar::Int(value) => Complex64::from(value as f64),
        Scalar::Float(value) => Complex64::from(value),
        Scalar::Complex(value) => value,
    }
}
