//! The arithmetic of each element type, as libtorch's CPU kernels do it.

use std::cmp::Ordering;

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

use super::math;
pub(super) use super::math::Real as Rounded;
use crate::tensor::storage::Stored;
use crate::tensor::{Category, Scalar};

/// An element type and the type that libtorch computes it in: float16 and bfloat16 are widened to float32, and the
/// result is rounded once (`at::opmath_type`).
pub(super) trait Computed: Stored {
    /// The type that it is computed in.
    type Wide: Number;
    /// The same number.
    fn widened(self) -> Self::Wide;
    /// The same of several numbers.
    fn all_widened(elements: Vec<Self>) -> Vec<Self::Wide>;
    /// The nearest number of this type.
    fn narrow(wide: Self::Wide) -> Self;
    /// The same of several numbers.
    fn all_narrowed(wide: Vec<Self::Wide>) -> Vec<Self>;
    /// `a + factor × b`, as the loop over single elements computes it: a product of floating-point numbers is not rounded
    /// before the sum, but that of float16 and bfloat16 is, and so are the products that one of complex numbers is made of.
    fn plus_product(self, factor: Self, other: Self) -> Self;
}

/// A type whose numbers can be divided into a whole quotient, which is rounded to the type once.
pub(super) trait Quotient: Sized {
    /// The greatest whole number that is not above the quotient; `None` for an integer and zero.
    fn floor_over(self, other: Self) -> Option<Self>;
    /// The quotient without its fraction; `None` for an integer and zero.
    fn truncated_over(self, other: Self) -> Option<Self>;
}

/// A type with arithmetic.
pub(super) trait Number: Stored {
    /// `a + b`; integers wrap, booleans or.
    fn plus(self, other: Self) -> Self;
    /// `a - b`; integers wrap, booleans exclude each other.
    fn minus(self, other: Self) -> Self;
    /// `a × b`; integers wrap, booleans and.
    fn times(self, other: Self) -> Self;
    /// `a / b`, true division; only floating and complex types are ever asked.
    fn over(self, other: Self) -> Self;
    /// Returns whether it counts as true: anything but zero, NaN included.
    fn truth(self) -> bool {
        self != Self::default()
    }
    /// A power; integers wrap.
    fn power(self, exponent: Self) -> Self;
    /// A power whose exponent is a scalar, some of which are computed without a logarithm.
    fn power_scalar(self, exponent: Self) -> Self {
        self.power(exponent)
    }
    /// `a + factor × b × c`. The first product is rounded; the second one is not, if the numbers are real fractions.
    fn plus_products(self, factor: Self, b: Self, c: Self) -> Self {
        self.plus(factor.times(b).times(c))
    }
    /// The point at `weight` on the way to `end`; only floating and complex types are ever asked.
    fn between(self, end: Self, weight: Self) -> Self;
    /// `ln(eᵃ + eᵇ)`; only floating and complex types are ever asked.
    fn log_add_exp(self, other: Self) -> Self;
    /// The number 1.
    fn one() -> Self {
        Self::from_scalar(Scalar::Int(1))
    }
    /// `-a`; integers wrap.
    fn negated(self) -> Self {
        Self::default().minus(self)
    }
    /// The complex conjugate.
    fn conjugated(self) -> Self {
        self
    }
    /// Returns whether it equals itself: everything does but NaN.
    fn equals_itself(self) -> bool {
        self == self.plus(Self::default())
    }
}

/// A type whose numbers have an order: bool, integers, floating-point numbers.
pub(super) trait RealNumber: Number + PartialOrd {
    /// The greater one; NaN if either is.
    fn greater(self, other: Self) -> Self {
        if self >= other || self.is_nan() { self } else { other }
    }

    /// The lesser one; NaN if either is.
    fn lesser(self, other: Self) -> Self {
        if self <= other || self.is_nan() { self } else { other }
    }

    /// The greater one; the other one if either is NaN.
    fn greater_number(self, other: Self) -> Self {
        if self.is_nan() || self < other { other } else { self }
    }

    /// The lesser one; the other one if either is NaN.
    fn lesser_number(self, other: Self) -> Self {
        if self.is_nan() || other < self { other } else { self }
    }

    /// Returns whether it is NaN.
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }

    /// The distance from zero; integers wrap.
    fn magnitude(self) -> Self {
        if self < Self::default() { self.negated() } else { self }
    }

    /// 1, 0 or -1; NaN for NaN.
    fn sign(self) -> Self {
        let zero = Self::default();
        match self.partial_cmp(&zero) {
            Some(Ordering::Greater) => Self::one(),
            Some(Ordering::Less) => Self::one().negated(),
            Some(Ordering::Equal) => zero,
            None => self,
        }
    }

    /// The greatest integer that is not above.
    fn floored(self) -> Self {
        self
    }

    /// The least integer that is not below.
    fn raised(self) -> Self {
        self
    }

    /// The integer part.
    fn whole(self) -> Self {
        self
    }

    /// The nearest integer; the even one of two.
    fn nearest_whole(self) -> Self {
        self
    }

    /// Returns the remainder of `a` after `b` was taken from it as often as it fits, with the sign of `b`; `None` for
    /// an integer and zero.
    fn remainder(self, other: Self) -> Option<Self>;

    /// Returns the remainder of `a` after `b` was taken from it as often as it fits, with the sign of `a`; `None` for
    /// an integer and zero.
    fn fmod(self, other: Self) -> Option<Self>;
}

/// Integers, and bool.
pub(super) trait Integer: RealNumber {
    /// Bit by bit.
    fn and(self, other: Self) -> Self;
    /// Bit by bit.
    fn or(self, other: Self) -> Self;
    /// Bit by bit.
    fn xor(self, other: Self) -> Self;
    /// Bits moved to the left; zero if they are moved by less than nothing or by the width and more (`lshift_kernel`).
    fn shifted_left(self, places: Self) -> Self;
    /// Bits moved to the right, with copies of the sign; only the sign is left if they are moved by less than nothing or
    /// by the width and more (`rshift_kernel`).
    fn shifted_right(self, places: Self) -> Self;
    /// The greatest common divisor of the magnitudes. That of the least number by itself or zero wraps around.
    fn gcd(self, other: Self) -> Self;
    /// The magnitude of the least common multiple, which wraps around.
    fn lcm(self, other: Self) -> Self;
    /// Every bit turned round.
    fn complement(self) -> Self;
}

/// The gradient of the logistic function where it has the value `y`.
pub(super) fn sigmoid_slope<T: Number>(g: T, y: T) -> T {
    let rest = T::one().minus(y);
    if T::DTYPE.category() == Category::Complex { g.times(rest.times(y).conjugated()) } else { g.times(rest).times(y) }
}

/// The gradient of the hyperbolic tangent where it has the value `y`. The square of a real number is not rounded before it
/// is subtracted.
pub(super) fn tanh_slope<T: Number>(g: T, y: T) -> T {
    let is_complex = T::DTYPE.category() == Category::Complex;
    let one = T::one();
    let slope = if is_complex { one.minus(y.times(y)) } else { one.plus_products(y.negated(), one, y) };
    g.times(slope.conjugated())
}

/// A floating-point type.
pub(super) trait Real: RealNumber + math::Real {}

macro_rules! computed {
    ($($type:ident $how:ident),+) => {$(
        impl Computed for $type {
            type Wide = $type;
            fn widened(self) -> $type { self }
            fn all_widened(elements: Vec<$type>) -> Vec<$type> { elements }
            fn narrow(wide: $type) -> $type { wide }
            fn all_narrowed(wide: Vec<$type>) -> Vec<$type> { wide }
            fn plus_product(self, factor: Self, other: Self) -> Self { computed!(@ $how self factor other) }
        }
    )+};
    (@ fused $a:ident $factor:ident $b:ident) => { $factor.mul_add($b, $a) };
    (@ apart $a:ident $factor:ident $b:ident) => { $a.plus($factor.times($b)) };
    // A real factor multiplies each part by itself (C Annex G, G.5.1), and the sum is that of the parts (G.5.2).
    (@ parts $a:ident $factor:ident $b:ident) => {
        if $factor.im == 0.0 { $a.plus($b.scale($factor.re)) } else { $a.plus($factor.times($b)) }
    };
}

computed!(bool apart, u8 apart, i8 apart, i16 apart, i32 apart, i64 apart, f32 fused, f64 fused);
computed!(Complex32 parts, Complex64 parts);

macro_rules! widened {
    ($($type:ty),+) => {$(
        impl Computed for $type {
            type Wide = f32;
            fn widened(self) -> f32 { self.to_f32() }
            fn all_widened(elements: Vec<$type>) -> Vec<f32> { elements.into_iter().map(Self::widened).collect() }
            fn narrow(wide: f32) -> $type { <$type>::from_f32(wide) }
            fn all_narrowed(wide: Vec<f32>) -> Vec<$type> { wide.into_iter().map(Self::narrow).collect() }
            fn plus_product(self, factor: Self, other: Self) -> Self {
                let product = Self::narrow(factor.widened() * other.widened());
                Self::narrow(self.widened() + product.widened())
            }
        }
        impl Quotient for $type {
            fn floor_over(self, other: Self) -> Option<Self> {
                Some(Self::narrow(floor_division(self.widened(), other.widened())))
            }
            fn truncated_over(self, other: Self) -> Option<Self> {
                Some(Self::narrow((self.widened() / other.widened()).trunc()))
            }
        }
    )+};
}

widened!(f16, bf16);

/// The magnitude of an integer; the least one is its own.
macro_rules! magnitude {
    ($value:expr) => {{
        let value = $value;
        #[allow(unused_comparisons, reason = "one text for integers with and without a sign")]
        if value < 0 { value.wrapping_neg() } else { value }
    }};
}

macro_rules! integers {
    ($($type:ty: $promoted:ident),+) => {$(
        impl Number for $type {
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn over(self, _: Self) -> Self { unreachable!("true division promotes integers to float first") }
            fn power(self, exponent: Self) -> Self { math::integer_power(self, exponent) }
            fn between(self, _: Self, _: Self) -> Self { unreachable!("integers are refused") }
            fn log_add_exp(self, _: Self) -> Self { unreachable!("integers are refused") }
        }
        impl RealNumber for $type {
            fn fmod(self, other: Self) -> Option<Self> {
                if other == 0 { None } else { Some(self.wrapping_rem(other)) }
            }
            #[allow(unused_comparisons, reason = "one text for integers with and without a sign")]
            fn remainder(self, other: Self) -> Option<Self> {
                let rest = self.fmod(other)?;
                Some(if rest != 0 && (rest < 0) != (other < 0) { rest.wrapping_add(other) } else { rest })
            }
        }
        impl Quotient for $type {
            #[allow(unused_comparisons, reason = "one text for integers with and without a sign")]
            fn floor_over(self, other: Self) -> Option<Self> {
                let quotient = self.truncated_over(other)?;
                let inexact = self.wrapping_rem(other) != 0;
                Some(if inexact && (self < 0) != (other < 0) { quotient - 1 } else { quotient })
            }
            fn truncated_over(self, other: Self) -> Option<Self> {
                if other == 0 { None } else { Some(self.wrapping_div(other)) }
            }
        }
        impl Integer for $type {
            fn and(self, other: Self) -> Self { self & other }
            fn complement(self) -> Self { !self }
            fn or(self, other: Self) -> Self { self | other }
            fn xor(self, other: Self) -> Self { self ^ other }
            fn shifted_left(self, places: Self) -> Self {
                u32::try_from(places).ok().and_then(|places| self.checked_shl(places)).unwrap_or(0)
            }
            #[allow(unused_comparisons, reason = "one text for integers with and without a sign")]
            fn shifted_right(self, places: Self) -> Self {
                let sign = if self < 0 { !0 } else { 0 };
                u32::try_from(places).ok().and_then(|places| self.checked_shr(places)).unwrap_or(sign)
            }
            fn gcd(self, other: Self) -> Self {
                let (mut a, mut b) = (i128::from(self).abs(), i128::from(other).abs());
                while a != 0 {
                    (a, b) = (b % a, a);
                }
                b as $type
            }
            fn lcm(self, other: Self) -> Self {
                // C++ computes in `int` at least, and keeps what fits of the result.
                let divisor = self.gcd(other);
                if divisor == 0 {
                    return 0;
                }
                let multiple = $promoted::from(self).wrapping_div(divisor.into()).wrapping_mul(other.into());
                magnitude!(multiple) as $type
            }
        }
    )+};
}

integers!(u8: i32, i8: i32, i16: i32, i32: i32, i64: i64);

macro_rules! floats {
    ($($type:ty { $($more:tt)+ })+) => {$(
        impl Number for $type {
            fn plus(self, other: Self) -> Self { self + other }
            fn minus(self, other: Self) -> Self { self - other }
            fn times(self, other: Self) -> Self { self * other }
            fn negated(self) -> Self { -self }
            $($more)+
        }
    )+};
}

macro_rules! real_functions {
    ($($type:ty),+) => {
        floats! { $($type {
            fn over(self, other: Self) -> Self { self / other }
            fn power(self, exponent: Self) -> Self { math::power(self, exponent) }
            fn power_scalar(self, exponent: Self) -> Self { math::power_scalar(self, f64::from(exponent)) }
            fn plus_products(self, factor: Self, b: Self, c: Self) -> Self { (factor * b).mul_add(c, self) }
            fn between(self, end: Self, weight: Self) -> Self { math::lerp(self, end, weight) }
            fn log_add_exp(self, other: Self) -> Self { math::log_add_exp(self, other) }
        })+ }
    };
}

real_functions!(f32, f64);

macro_rules! complex_functions {
    ($($type:ty),+) => {
        floats! { $($type {
            fn over(self, other: Self) -> Self { math::divide(self, other) }
            fn conjugated(self) -> Self { self.conj() }
            fn power(self, exponent: Self) -> Self { math::complex_power(self, exponent) }
            fn power_scalar(self, exponent: Self) -> Self {
                if exponent.im == 0.0 {
                    math::complex_power_scalar(self, f64::from(exponent.re))
                } else {
                    math::complex_power(self, exponent)
                }
            }
            fn between(self, end: Self, weight: Self) -> Self {
                let way = end - self;
                if weight.norm() < 0.5 { self + weight * way } else { end - way * (Self::new(1.0, 0.0) - weight) }
            }
            fn log_add_exp(self, other: Self) -> Self { math::complex_log_add_exp(self, other) }
        })+ }
    };
}

complex_functions!(Complex32, Complex64);

macro_rules! reals {
    ($($type:ty),+) => {$(
        impl RealNumber for $type {
            fn magnitude(self) -> Self { self.abs() }
            fn floored(self) -> Self { self.floor() }
            fn raised(self) -> Self { self.ceil() }
            fn whole(self) -> Self { self.trunc() }
            fn nearest_whole(self) -> Self { self.round_ties_even() }
            fn fmod(self, other: Self) -> Option<Self> {
                Some(self % other)
            }
            fn remainder(self, other: Self) -> Option<Self> {
                let rest = self % other;
                // Zero has the sign of the divisor, too, as in Python.
                Some(match rest {
                    0.0 => rest.copysign(other),
                    _ if (rest < 0.0) != (other < 0.0) => rest + other,
                    _ => rest,
                })
            }
        }
        impl Quotient for $type {
            fn floor_over(self, other: Self) -> Option<Self> {
                Some(floor_division(self, other))
            }
            fn truncated_over(self, other: Self) -> Option<Self> {
                Some((self / other).trunc())
            }
        }
        impl Real for $type {}
    )+};
}

reals!(f32, f64);

/// The floor of a quotient, as Python has it: from the exact remainder (`c10::div_floor_floating`).
fn floor_division<T: num_traits::Float>(a: T, b: T) -> T {
    let (zero, one) = (T::zero(), T::one());
    if b == zero {
        return a / b;
    }
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != zero && (b < zero) != (rest < zero) {
        quotient = quotient - one;
    }
    if quotient == zero {
        return zero.copysign(a / b);
    }
    let floor = quotient.floor();
    let half = one / (one + one);
    if quotient - floor > half { floor + one } else { floor }
}

impl Number for bool {
    fn plus(self, other: Self) -> Self {
        self | other
    }
    fn minus(self, other: Self) -> Self {
        self ^ other
    }
    fn times(self, other: Self) -> Self {
        self & other
    }
    fn over(self, _: Self) -> Self {
        unreachable!("true division promotes booleans to float first")
    }
    fn power(self, exponent: Self) -> Self {
        self | !exponent
    }
    fn between(self, _: Self, _: Self) -> Self {
        unreachable!("bool is refused")
    }
    fn log_add_exp(self, _: Self) -> Self {
        unreachable!("bool is refused")
    }
}

impl RealNumber for bool {
    fn fmod(self, _: Self) -> Option<Self> {
        unreachable!("bool is refused")
    }
    fn remainder(self, _: Self) -> Option<Self> {
        unreachable!("bool is refused")
    }
}

impl Quotient for bool {
    fn floor_over(self, _: Self) -> Option<Self> {
        unreachable!("bool is refused")
    }
    fn truncated_over(self, _: Self) -> Option<Self> {
        unreachable!("bool is refused")
    }
}

impl Integer for bool {
    fn and(self, other: Self) -> Self {
        self & other
    }
    fn or(self, other: Self) -> Self {
        self | other
    }
    fn xor(self, other: Self) -> Self {
        self ^ other
    }
    fn shifted_left(self, _: Self) -> Self {
        unreachable!("bool is refused")
    }
    fn shifted_right(self, _: Self) -> Self {
        unreachable!("bool is refused")
    }
    fn complement(self) -> Self {
        !self
    }
    fn gcd(self, _: Self) -> Self {
        unreachable!("bool is refused")
    }
    fn lcm(self, _: Self) -> Self {
        unreachable!("bool is refused")
    }
}

/// Runs a body with a type bound to the element type of a dtype, for those of one kind.
macro_rules! with_some_type {
    ($dtype:expr, $T:ident => $body:expr, $($variant:ident $type:ty),+) => {
        match $dtype {
            $($crate::tensor::DType::$variant => {
                type $T = $type;
                $body
            })+
            other => unreachable!("{other} was refused"),
        }
    };
}

/// Bool, integers, floating-point numbers.
macro_rules! with_real_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::number::with_some_type!(
            $dtype, $T => $body, Bool bool, Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float16 half::f16,
            Bfloat16 half::bf16, Float32 f32, Float64 f64
        )
    };
}

/// Bool and integers.
macro_rules! with_integer_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::number::with_some_type!(
            $dtype, $T => $body, Bool bool, Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64
        )
    };
}

/// Floating-point numbers.
macro_rules! with_float_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::number::with_some_type!(
            $dtype, $T => $body, Float16 half::f16, Bfloat16 half::bf16, Float32 f32, Float64 f64
        )
    };
}

/// Floating-point numbers of 32 and 64 bits.
macro_rules! with_wide_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::number::with_some_type!($dtype, $T => $body, Float32 f32, Float64 f64)
    };
}

pub(super) use {with_float_type, with_integer_type, with_real_type, with_some_type, with_wide_type};
