//! The degree to which elements are the same whatever the order of the arithmetic.

use num_complex::Complex64;

use crate::program::TensorValue;
use crate::tensor::{Category, Scalar};

/// The largest element of a tensor that sums and products are taken of. Beyond it the order of the terms decides what
/// is lost, and every order is right.
const TAME: f64 = 64.0;

/// The degree to which the elements of a tensor can be trusted to be the same whatever the order of the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tameness {
    /// Extremes, and complex numbers that are not finite, in whose products an infinity meets a zero.
    Wild,
    /// Infinities and NaN among small numbers: sums agree in every order.
    Special,
    /// Small numbers: sums agree within a few units of precision. The negative zero is one, as sums lose its sign.
    Small,
    /// Small integers: sums agree exactly.
    Whole,
}

impl Tameness {
    /// That of a tensor. Integers wrap the same way in every order.
    pub fn of(tensor: &TensorValue) -> Tameness {
        let of_scalar = |scalar: Scalar| match scalar {
            Scalar::Bool(_) | Scalar::Int(_) => Tameness::Whole,
            Scalar::Float(value) => of_float(value),
            Scalar::Complex(value) => of_complex(value),
        };
        tensor.elements().map(of_scalar).min().unwrap_or(Tameness::Whole)
    }

    /// That of a number.
    pub fn of_number(number: Scalar) -> Tameness {
        match number {
            Scalar::Int(value) if value.unsigned_abs() > TAME as u64 => Tameness::Wild,
            Scalar::Bool(_) | Scalar::Int(_) => Tameness::Whole,
            Scalar::Float(value) => of_float(value),
            Scalar::Complex(value) => of_complex(value),
        }
    }
}

fn of_complex(value: Complex64) -> Tameness {
    if value.is_finite() { of_float(value.re).min(of_float(value.im)) } else { Tameness::Wild }
}

fn of_float(value: f64) -> Tameness {
    match value {
        value if !value.is_finite() => Tameness::Special,
        value if value.abs() > TAME => Tameness::Wild,
        value if value.fract() == 0.0 && (value != 0.0 || value.is_sign_positive()) => Tameness::Whole,
        _ => Tameness::Small,
    }
}

/// Returns whether a sum with this result in one order has the same bits in every other. A zero may have either sign, and
/// the mean of complex numbers is a complex division.
pub(crate) fn is_exact(tensor: &TensorValue, tameness: Tameness) -> bool {
    let zero = |scalar: Scalar| scalar == Scalar::Float(0.0);
    match tensor.dtype.category() {
        Category::Bool | Category::Integral => true,
        Category::Floating => tameness == Tameness::Whole && !tensor.elements().any(zero),
        Category::Complex => false,
    }
}
