//! The scalar mathematics of libtorch's CPU kernels, one element at a time.
//!
//! Every function computes what the loop over single elements computes in libtorch: the order of the operations and
//! the treatment of NaN, of infinities and of signed zeros are libtorch's. It must know nothing of tensors, dtypes or
//! errors: division of an integer by zero, which libtorch refuses, is the caller's business.
//!
//! A product that is added to something is rounded once ([`Float::mul_add`]), where the compiler of libtorch's AVX2
//! and AVX-512 kernels fuses the two. Its kernels for other processors (`ATEN_CPU_CAPABILITY=default`) round twice, and
//! loops over whole vectors use approximations of their own for the transcendental functions: neither is modelled.
//!
//! Of floats of 16 bits most kernels compute in `f32` and round once, which the caller does. Some round after every
//! operation: those are the functions that say so, to be called with the 16 bit type itself.

pub mod complex;
pub mod gamma;
pub mod integer;
pub mod polynomial;

pub use complex::*;
pub use gamma::*;
pub use integer::*;
pub use polynomial::*;

use half::{bf16, f16};
use num_traits::{Float, FloatConst};

/// A floating point type that libtorch computes in. Those of 16 bits round after every operation.
pub trait Real: Float + FloatConst + Send + Sync + 'static {
    /// Half the distance from one to the next number: the greatest relative error of a rounding.
    const ROUNDING: f64;
    /// The natural logarithm of the greatest number.
    const GREATEST_LOGARITHM: f64;
    /// The highest degree of a Hermite polynomial that libtorch evaluates.
    const GREATEST_HERMITE_DEGREE: i64;

    /// The nearest number of this type.
    fn nearest(value: f64) -> Self;
    /// The nearest number of this type.
    fn nearest_integer(value: i64) -> Self;
    /// The same number.
    fn wide(self) -> f64;
    /// `self * factor + addend` in double precision, of which only the product is in this type's precision. Fused if
    /// this type is double precision.
    fn times_plus_wide(self, factor: Self, addend: f64) -> f64;
    /// The logarithm of the magnitude of the gamma function, as the C library approximates it.
    fn log_gamma(self) -> Self;
    /// One less the error function.
    fn error_function_complement(self) -> Self;
    /// The least number that is greater.
    fn successor(self) -> Self;
    /// The greatest number that is less.
    fn predecessor(self) -> Self;
}

impl Real for f32 {
    const ROUNDING: f64 = f32::EPSILON as f64 / 2.0;
    const GREATEST_LOGARITHM: f64 = 88.72283905206835;
    const GREATEST_HERMITE_DEGREE: i64 = 128;

    fn nearest(value: f64) -> f32 {
        value as f32
    }

    fn nearest_integer(value: i64) -> f32 {
        value as f32
    }

    fn wide(self) -> f64 {
        self.into()
    }

    fn times_plus_wide(self, factor: f32, addend: f64) -> f64 {
        f64::from(self * factor) + addend
    }

    fn log_gamma(self) -> f32 {
        libm::lgammaf(self)
    }

    fn error_function_complement(self) -> f32 {
        libm::erfcf(self)
    }

    fn successor(self) -> f32 {
        self.next_up()
    }

    fn predecessor(self) -> f32 {
        self.next_down()
    }
}

impl Real for f64 {
    const ROUNDING: f64 = f64::EPSILON / 2.0;
    const GREATEST_LOGARITHM: f64 = 709.782712893384;
    const GREATEST_HERMITE_DEGREE: i64 = 512;

    fn nearest(value: f64) -> f64 {
        value
    }

    fn nearest_integer(value: i64) -> f64 {
        value as f64
    }

    fn wide(self) -> f64 {
        self
    }

    fn times_plus_wide(self, factor: f64, addend: f64) -> f64 {
        self.mul_add(factor, addend)
    }

    fn log_gamma(self) -> f64 {
        libm::lgamma(self)
    }

    fn error_function_complement(self) -> f64 {
        libm::erfc(self)
    }

    fn successor(self) -> f64 {
        self.next_up()
    }

    fn predecessor(self) -> f64 {
        self.next_down()
    }
}

macro_rules! sixteen_bits {
    ($($real:ty),*) => {
        $(impl Real for $real {
            const ROUNDING: f64 = <$real>::EPSILON.to_f64_const() / 2.0;
            const GREATEST_LOGARITHM: f64 = f32::GREATEST_LOGARITHM;
            const GREATEST_HERMITE_DEGREE: i64 = 1024;

            fn nearest(value: f64) -> $real {
                <$real>::from_f64(value)
            }

            fn nearest_integer(value: i64) -> $real {
                <$real>::from_f64(value as f64)
            }

            fn wide(self) -> f64 {
                self.into()
            }

            fn times_plus_wide(self, factor: $real, addend: f64) -> f64 {
                (self * factor).wide() + addend
            }

            fn log_gamma(self) -> $real {
                <$real>::from_f32(libm::lgammaf(self.into()))
            }

            fn error_function_complement(self) -> $real {
                <$real>::from_f32(libm::erfcf(self.into()))
            }

            fn successor(self) -> $real {
                let bits = self.to_bits();
                <$real>::from_bits(match self.is_sign_negative() {
                    _ if bits & 0x7fff == 0 => 1,
                    true => bits - 1,
                    false => bits + 1,
                })
            }

            fn predecessor(self) -> $real {
                -(-self).successor()
            }
        })*
    };
}

sixteen_bits!(bf16, f16);

/// A small number that each type has.
pub(crate) fn number<T: Real>(value: f64) -> T {
    T::nearest(value)
}

// Neighbours.

/// The neighbour of `from` in the direction of `to`, and `to` itself if they are equal.
pub fn next_after<T: Real>(from: T, to: T) -> T {
    if from.is_nan() || to.is_nan() {
        T::nan()
    } else if from == to {
        to
    } else if from.is_zero() {
        T::zero().successor().copysign(to)
    } else if from < to {
        from.successor()
    } else {
        from.predecessor()
    }
}

// Activations.

/// The gradient of the piecewise linear sigmoid: a sixth of the upstream gradient between -3 and 3.
pub fn hardsigmoid_slope<T: Real>(gradient: T, at: T) -> T {
    if at.abs() < number(3.0) { gradient / number(6.0) } else { T::zero() }
}

/// The gradient of the piecewise sigmoid-weighted unit: the upstream gradient above 3, and a share of it down to -3.
pub fn hardswish_slope<T: Real>(gradient: T, at: T) -> T {
    if at <= number(-3.0) {
        T::zero()
    } else if at >= number(3.0) {
        gradient
    } else {
        gradient * (at / number(3.0) + number(0.5))
    }
}

// Exponentials and logarithms.

/// The error function, as the C library approximates it in double precision.
pub fn error_function<T: Real>(x: T) -> T {
    number(libm::erf(x.wide()))
}

/// `ln(e^a + e^b)`, without overflow.
pub fn log_add_exp<T: Real>(a: T, b: T) -> T {
    if a.is_infinite() && a == b {
        return a;
    }
    greater(a, b) + (-(a - b).abs()).exp().ln_1p()
}

/// `log2(2^a + 2^b)`, without overflow.
pub fn log_add_exp2<T: Real>(a: T, b: T) -> T {
    if a.is_infinite() && a == b {
        return a;
    }
    (-(a - b).abs()).exp2().ln_1p().mul_add(number(1.0 / std::f64::consts::LN_2), greater(a, b))
}

/// `std::max`: the second only if it is greater.
fn greater<T: Real>(a: T, b: T) -> T {
    if a < b { b } else { a }
}

/// `x ln y`, and zero for a zero `x` unless `y` is NaN. It rounds after every operation.
pub fn x_log_y<T: Real>(x: T, y: T) -> T {
    x_times(x, y, T::ln)
}

/// `x ln(1 + y)`, and zero for a zero `x` unless `y` is NaN. It rounds after every operation.
pub fn x_log1p_y<T: Real>(x: T, y: T) -> T {
    x_times(x, y, T::ln_1p)
}

fn x_times<T: Real>(x: T, y: T, logarithm: fn(T) -> T) -> T {
    if y.is_nan() {
        T::nan()
    } else if x.is_zero() {
        T::zero()
    } else {
        x * logarithm(y)
    }
}

/// A power (`pow` with a tensor as exponent). An exponent of zero and a base of one give one, even with NaN.
pub fn power<T: Real>(base: T, exponent: T) -> T {
    base.powf(exponent)
}

/// A power whose exponent is a scalar (`pow_tensor_scalar`).
///
/// Some exponents are computed without a logarithm. The others are in double precision, whatever the base is, except
/// that a base of 16 bits rounds the exponent too. It rounds after every operation for `bfloat16`. For `float16` libtorch
/// takes [`power`] for every exponent but 0 and 1, which differs at a negative infinity and zero: their power of 0.5 is
/// not their square root.
pub fn power_scalar<T: Real>(base: T, exponent: f64) -> T {
    let sixteen_bits = T::ROUNDING > f32::ROUNDING;
    match if sixteen_bits { T::nearest(exponent).wide() } else { exponent } {
        0.0 => T::one(),
        1.0 => base,
        2.0 => base * base,
        3.0 => base * base * base,
        -1.0 => base.recip(),
        -2.0 => (base * base).recip(),
        0.5 => base.sqrt(),
        -0.5 => base.sqrt().recip(),
        exponent => T::nearest(base.wide().powf(exponent)),
    }
}

// Geometry.

/// The point at `weight` on the way from `start` to `end`, which is exact at both (`at::native::lerp`).
pub fn lerp<T: Real>(start: T, end: T, weight: T) -> T {
    let way = end - start;
    if weight.abs() < number(0.5) { weight.mul_add(way, start) } else { (-way).mul_add(T::one() - weight, end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_cross_zero() {
        assert_eq!(next_after(0.0f32, -1.0).to_bits(), 0x8000_0001);
        assert!(next_after(0.0f64, -0.0).is_sign_negative());
        assert_eq!(next_after(f64::MAX, f64::INFINITY), f64::INFINITY);
        assert_eq!(next_after(bf16::NEG_ZERO, bf16::ONE).to_bits(), 1);
        assert_eq!(next_after(bf16::ONE, bf16::NEG_ZERO).to_bits(), 0x3f7f);
        assert_eq!(next_after(-f16::ONE, f16::INFINITY).to_bits(), 0xbbff);
    }

    #[test]
    fn logarithms_of_sums_do_not_overflow() {
        assert_eq!(log_add_exp2(1000.0, 1000.0), 1001.0);
        assert_eq!(log_add_exp(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(x_log_y(0.0, f64::INFINITY), 0.0);
        assert!(x_log1p_y(0.0, f64::NAN).is_nan());
    }

    #[test]
    fn scalar_exponents() {
        assert_eq!((power_scalar(-8.0, 2.0), power_scalar(4.0, -0.5)), (64.0, 0.5));
        assert_eq!((power(f64::NAN, 0.0), power_scalar(f64::NAN, 0.0)), (1.0, 1.0));
        assert!(power_scalar(f64::NEG_INFINITY, 0.5).is_nan());
    }

    #[test]
    fn interpolation_meets_both_ends() {
        assert_eq!((lerp(0.1, 0.7, 0.0), lerp(0.1, 0.7, 1.0), lerp(1.0, 3.0, 0.5)), (0.1, 0.7, 2.0));
    }
}
