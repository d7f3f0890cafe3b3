//! Real numbers that are wider than those of a dtype: float64, and binary fractions of as many bits as it takes.

use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::LazyLock;

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;

use super::set::power;

/// Numbers that a definition can be computed in.
pub(super) trait Real:
    Clone
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    fn of(value: f64) -> Self;
    fn pi() -> Self;
    fn ln_2() -> Self;
    fn nearest(&self) -> f64;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn sqrt(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn atan2(self, x: Self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn floor(self) -> Self;
    fn trunc(self) -> Self;

    fn abs(self) -> Self {
        if self < Self::of(0.0) { -self } else { self }
    }

    fn greater(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    fn lesser(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Real for f64 {
    fn of(value: f64) -> f64 {
        value
    }
    fn pi() -> f64 {
        std::f64::consts::PI
    }
    fn ln_2() -> f64 {
        std::f64::consts::LN_2
    }
    fn nearest(&self) -> f64 {
        *self
    }
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    fn ln(self) -> f64 {
        f64::ln(self)
    }
    fn ln_1p(self) -> f64 {
        f64::ln_1p(self)
    }
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    fn sin(self) -> f64 {
        f64::sin(self)
    }
    fn cos(self) -> f64 {
        f64::cos(self)
    }
    fn atan2(self, x: f64) -> f64 {
        f64::atan2(self, x)
    }
    fn powf(self, exponent: f64) -> f64 {
        f64::powf(self, exponent)
    }
    fn floor(self) -> f64 {
        f64::floor(self)
    }
    fn trunc(self) -> f64 {
        f64::trunc(self)
    }
}

/// The bits of a [`Wide`] number.
pub(super) const BITS: usize = 192;

/// The largest magnitude of an argument of the exponential, far beyond what any dtype holds.
const LARGEST_EXPONENT: f64 = 1e6;

/// A binary fraction of 192 bits, each function of which is rounded correctly; none where there is no finite number.
#[derive(Clone, PartialEq)]
pub(super) struct Wide(Option<FBig<HalfEven, 2>>);

/// The number with the precision of all: what is exact, such as zero, has none of its own, which functions need.
fn precise(value: FBig<HalfEven, 2>) -> FBig<HalfEven, 2> {
    value.with_precision(BITS).value()
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Wide) -> Option<std::cmp::Ordering> {
        self.0.as_ref()?.partial_cmp(other.0.as_ref()?)
    }
}

impl Wide {
    fn map(self, function: impl FnOnce(FBig<HalfEven, 2>) -> FBig<HalfEven, 2>) -> Wide {
        Wide(self.0.map(|value| function(precise(value))))
    }

    /// Returns whether it is a number.
    pub fn is_number(&self) -> bool {
        self.0.is_some()
    }

    fn is_zero(&self) -> bool {
        self.0.as_ref().is_some_and(|value| *value == FBig::<HalfEven, 2>::ZERO)
    }

    /// The values where a function of an angle or exponent is worth computing.
    fn bounded(self) -> Wide {
        let is_small = self.nearest().abs() <= LARGEST_EXPONENT;
        if is_small { self } else { Wide(None) }
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $operator:tt;)+) => {$(
        impl $trait for Wide {
            type Output = Wide;
            fn $method(self, other: Wide) -> Wide {
                Wide(self.0.zip(other.0).map(|(one, other)| precise(one) $operator precise(other)))
            }
        }
    )+};
}

operators! { Add add +; Sub sub -; Mul mul *; }

impl Div for Wide {
    type Output = Wide;
    fn div(self, other: Wide) -> Wide {
        if other.is_zero() {
            Wide(None)
        } else {
            Wide(self.0.zip(other.0).map(|(one, other)| precise(one) / precise(other)))
        }
    }
}

impl Neg for Wide {
    type Output = Wide;
    fn neg(self) -> Wide {
        self.map(|value| -value)
    }
}

impl Real for Wide {
    fn of(value: f64) -> Wide {
        Wide(FBig::try_from(value).ok().filter(|_| value.is_finite()).map(|value| value.with_precision(BITS).value()))
    }
    fn pi() -> Wide {
        static PI: LazyLock<Wide> = LazyLock::new(|| Wide::of(0.0).atan2(Wide::of(-1.0)));
        PI.clone()
    }
    fn ln_2() -> Wide {
        static LN_2: LazyLock<Wide> = LazyLock::new(|| Wide::of(2.0).ln());
        LN_2.clone()
    }
    fn nearest(&self) -> f64 {
        let Some(value) = &self.0 else { return f64::NAN };
        let nearest = value.to_f64().value();
        if nearest != 0.0 || self.is_zero() {
            return nearest;
        }
        // The conversion takes all numbers below the smallest one for zero, and those above its half round to it.
        let scaled = (self.clone() * Wide::of(power(100))).0.map_or(0.0, |value| value.to_f64().value());
        if scaled.abs() > power(100 - 1075) { power(-1074).copysign(scaled) } else { nearest }
    }
    fn exp(self) -> Wide {
        self.bounded().map(|value| value.exp())
    }
    fn ln(self) -> Wide {
        if self > Wide::of(0.0) { self.map(|value| value.ln()) } else { Wide(None) }
    }
    fn ln_1p(self) -> Wide {
        if self > Wide::of(-1.0) { self.map(|value| value.ln_1p()) } else { Wide(None) }
    }
    fn sqrt(self) -> Wide {
        if self < Wide::of(0.0) { Wide(None) } else { self.map(|value| value.sqrt()) }
    }
    fn sin(self) -> Wide {
        self.bounded().map(|value| value.sin())
    }
    fn cos(self) -> Wide {
        self.bounded().map(|value| value.cos())
    }
    fn atan2(self, x: Wide) -> Wide {
        if self.is_zero() && x.is_zero() {
            return Wide(None);
        }
        Wide(self.0.zip(x.0).map(|(y, x)| precise(y).atan2(&precise(x))))
    }
    fn floor(self) -> Wide {
        self.map(|value| value.floor())
    }
    fn trunc(self) -> Wide {
        self.map(|value| value.trunc())
    }
    fn powf(self, exponent: Wide) -> Wide {
        let (base, power) = (self.nearest(), exponent.nearest());
        if base.is_nan() || power.is_nan() || self.is_zero() && power <= 0.0 {
            return Wide(None);
        }
        if self.is_zero() {
            return self;
        }
        let whole = power.trunc() == power && power.abs() < 9e15 && exponent == Wide::of(power);
        if base < 0.0 && !whole {
            return Wide(None);
        }
        let magnitude = (exponent * self.abs().ln()).exp();
        if base < 0.0 && power % 2.0 != 0.0 { -magnitude } else { magnitude }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IEEE 754-2019, 4.3.1: what is above half of the smallest number is nearer to it than to zero.
    #[test]
    fn the_nearest_number_may_be_the_smallest() {
        let smallest = 5e-324;
        for (factor, nearest) in [(0.6, smallest), (-0.6, -smallest), (0.5, 0.0), (0.4, 0.0), (1.4, smallest)] {
            assert_eq!((Wide::of(factor) * Wide::of(smallest)).nearest(), nearest, "{factor}");
        }
    }
}
