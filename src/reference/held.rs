//! The numbers that dtypes hold.

use half::bf16;

use crate::error::Rejection;
use crate::tensor::{Buffer, Category, DType, Scalar};

use super::value::Result;

/// Refuses a number that a dtype cannot hold (`c10::overflows`). What it rounds to or loses behind the point does not
/// matter; an unsigned integer takes a negative one that has its magnitude.
pub(super) fn check_held(number: Scalar, dtype: DType) -> Result<()> {
    let real = |value: f64| match dtype.category() {
        Category::Bool => true,
        Category::Integral => {
            let (low, high) = range(dtype);
            value >= low && value <= high
        }
        Category::Floating | Category::Complex => !value.is_finite() || value.abs() <= range(dtype).1,
    };
    let held = match number {
        _ if dtype == DType::Bool => true,
        Scalar::Bool(_) => true,
        Scalar::Int(value) if dtype.category() == Category::Integral => {
            let (low, high) = range(dtype);
            let low = if dtype == DType::Uint8 { -high } else { low };
            dtype == DType::Int64 || (value as f64 >= low && value as f64 <= high)
        }
        Scalar::Int(value) => real(value as f64),
        Scalar::Float(value) => real(value),
        Scalar::Complex(value) if dtype.category() == Category::Complex => real(value.re) && real(value.im),
        Scalar::Complex(value) => value.im == 0.0 && real(value.re),
    };
    if held { Ok(()) } else { Err(Rejection::Overflow { dtype }.into()) }
}

/// A number in a dtype (`Scalar::to`).
pub(super) fn converted(number: Scalar, dtype: DType) -> Result<Scalar> {
    check_held(number, dtype)?;
    Ok(Buffer::from_scalars(dtype, [number].into_iter()).scalars()[0])
}

/// The least and the greatest number of a dtype.
fn range(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::Bool => (0.0, 1.0),
        DType::Uint8 => (0.0, 255.0),
        DType::Int8 => (-128.0, 127.0),
        DType::Int16 => (-32768.0, 32767.0),
        DType::Int32 => (i32::MIN.into(), i32::MAX.into()),
        DType::Int64 => (i64::MIN as f64, i64::MAX as f64),
        DType::Float16 => (-65504.0, 65504.0),
        DType::Bfloat16 => (bf16::MIN.into(), bf16::MAX.into()),
        DType::Float32 | DType::Complex64 => (f32::MIN.into(), f32::MAX.into()),
        DType::Float64 | DType::Complex128 => (f64::MIN, f64::MAX),
    }
}

/// The dtype that 16 bits are widened to (`at::opmath_type`).
pub(super) fn computed_in(dtype: DType) -> DType {
    match dtype {
        DType::Float16 | DType::Bfloat16 => DType::Float32,
        other => other,
    }
}

/// Returns whether a scalar equals another (`Scalar::equal`); a bool equals none, unless the caller asks for it, too.
pub(super) fn is(number: Scalar, other: f64, or_bool: bool) -> bool {
    match number {
        Scalar::Bool(value) => or_bool && f64::from(u8::from(value)) == other,
        Scalar::Int(value) => value as f64 == other,
        Scalar::Float(value) => value == other,
        Scalar::Complex(value) => value.re == other && value.im == 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_dtypes_hold() {
        let holds = |value: Scalar, dtype| check_held(value, dtype).is_ok();
        assert!(holds(Scalar::Int(-255), DType::Uint8) && !holds(Scalar::Int(-256), DType::Uint8));
        assert!(!holds(Scalar::Float(-0.5), DType::Uint8) && holds(Scalar::Float(-0.5), DType::Int8));
        assert!(holds(Scalar::Float(f64::INFINITY), DType::Float16) && !holds(Scalar::Int(65505), DType::Float16));
        assert!(holds(Scalar::Float(f64::NAN), DType::Bool) && !holds(Scalar::Float(f64::NAN), DType::Int64));
    }
}
