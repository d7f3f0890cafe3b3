//! The numbers that products are scaled by: `alpha` and `beta`.

use num_complex::Complex64;

use crate::tensor::element::Element;
use crate::tensor::{Category, DType, Scalar};

use super::super::held::check_held;
use super::super::machine::Result;

/// Returns whether a scalar counts as zero, so that what it would scale is not even looked at.
pub(super) fn is_zero(number: Scalar) -> bool {
    Complex64::from_scalar(number) == Complex64::ZERO
}

/// The number as a kernel gets it that computes in a wider type than float16 and bfloat16 (`at::opmath_type`).
pub(super) fn widen(number: Scalar, dtype: DType) -> Result<Scalar> {
    let half = matches!(dtype, DType::Float16 | DType::Bfloat16);
    convert(number, if half { DType::Float32 } else { dtype })
}

/// The number as the kernel gets it, in the type that elements of `dtype` are computed in: fractions are cut off for
/// integers, and what the type does not have is refused (`Scalar::to`, `c10::overflows`).
pub(super) fn convert(number: Scalar, dtype: DType) -> Result<Scalar> {
    check_held(number, dtype)?;
    let single = |value: f64| f64::from(value as f32);
    Ok(match (dtype.category(), number) {
        // A factor of 16 bits underflows as one of 32 bits does; by how much it is rounded is within the tolerance of products.
        _ if matches!(dtype, DType::Float16 | DType::Bfloat16 | DType::Float32) => {
            Scalar::Float(single(Complex64::from_scalar(number).re))
        }
        _ if dtype == DType::Complex64 => {
            let number = Complex64::from_scalar(number);
            Scalar::Complex(Complex64::new(single(number.re), single(number.im)))
        }
        (Category::Complex, _) => Scalar::Complex(Complex64::from_scalar(number)),
        (Category::Floating, _) => Scalar::Float(Complex64::from_scalar(number).re),
        (_, Scalar::Int(value)) => Scalar::Int(value),
        _ => Scalar::Int(Complex64::from_scalar(number).re as i64),
    })
}

/// The conjugate.
pub(super) fn conjugate(number: Scalar) -> Scalar {
    match number {
        Scalar::Complex(value) => Scalar::Complex(value.conj()),
        real => real,
    }
}
