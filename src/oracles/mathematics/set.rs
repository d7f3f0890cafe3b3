//! Sets of right results, and the rounding of real numbers to a dtype by IEEE 754.

use std::fmt;

use crate::tensor::{DType, Scalar};

/// The right results for one element.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Set {
    /// Any value: nothing is known, or no authority says anything.
    Free,
    /// Any NaN.
    Nan,
    /// This value to the bit.
    Exactly(Scalar),
    /// Each number from the first to the second; a zero of either sign if zero is among them.
    Between(f64, f64),
    /// A complex number whose parts are right one by one.
    Parts(Box<Set>, Box<Set>),
    /// A complex infinity: a number of which a part is infinite, whatever the other is (C Annex G, G.3).
    Infinite,
    /// One of several.
    OneOf(Vec<Set>),
}

impl Set {
    /// A zero of either sign.
    pub const ZERO: Set = Set::Between(0.0, 0.0);

    /// The set of one floating-point number; any NaN for NaN.
    pub fn float(value: f64) -> Set {
        if value.is_nan() { Set::Nan } else { Set::Exactly(Scalar::Float(value)) }
    }

    /// The union.
    pub fn or(self, other: Set) -> Set {
        match (self, other) {
            (Set::Free, _) | (_, Set::Free) => Set::Free,
            (one, other) if one.is(&other) => one,
            (Set::OneOf(mut several), other) => {
                if !several.iter().any(|set| set.is(&other)) {
                    several.push(other);
                }
                Set::OneOf(several)
            }
            (one, Set::OneOf(several)) => Set::OneOf(several).or(one),
            (one, other) => Set::OneOf(vec![one, other]),
        }
    }

    /// Returns whether two sets are the same: zeros of different signs are not equal here.
    fn is(&self, other: &Set) -> bool {
        match (self, other) {
            (Set::Exactly(Scalar::Float(one)), Set::Exactly(Scalar::Float(other))) => one.to_bits() == other.to_bits(),
            (Set::Parts(re, im), Set::Parts(other_re, other_im)) => re.is(other_re) && im.is(other_im),
            (one, other) => one == other,
        }
    }

    /// Returns whether a value is among the right ones.
    pub fn contains(&self, value: Scalar) -> bool {
        match (self, value) {
            (Set::Free, _) => true,
            (Set::OneOf(several), _) => several.iter().any(|set| set.contains(value)),
            (Set::Nan, Scalar::Float(value)) => value.is_nan(),
            (Set::Exactly(Scalar::Float(right)), Scalar::Float(value)) => right.to_bits() == value.to_bits(),
            (Set::Exactly(right), value) => *right == value,
            (Set::Between(low, high), Scalar::Float(value)) => (*low..=*high).contains(&value),
            (Set::Parts(re, im), Scalar::Complex(value)) => {
                re.contains(Scalar::Float(value.re)) && im.contains(Scalar::Float(value.im))
            }
            (Set::Infinite, Scalar::Complex(value)) => value.re.is_infinite() || value.im.is_infinite(),
            _ => false,
        }
    }

    /// The same set after a conversion to another floating-point dtype, at once or by way of float32.
    pub fn converted(self, to: Format) -> Set {
        // The conversion of float64 to 16 bits rounds twice on most processors.
        let roundings = |value: f64| [to.round(value), to.round(Format::SINGLE.round(value))];
        match self {
            Set::Exactly(Scalar::Float(value)) => {
                let [once, twice] = roundings(value);
                let exactly = |value| Set::Exactly(Scalar::Float(value));
                if once.to_bits() == twice.to_bits() || to == Format::DOUBLE {
                    exactly(once)
                } else {
                    Set::OneOf(vec![exactly(once), exactly(twice)])
                }
            }
            Set::Between(low, high) if to == Format::DOUBLE => Set::Between(low, high),
            Set::Between(low, high) => {
                let ([low, below], [high, above]) = (roundings(low), roundings(high));
                Set::Between(low.min(below), high.max(above))
            }
            Set::Parts(re, im) => Set::Parts(Box::new(re.converted(to)), Box::new(im.converted(to))),
            Set::OneOf(several) => Set::OneOf(several.into_iter().map(|set| set.converted(to)).collect()),
            other => other,
        }
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Set::Free => f.write_str("anything"),
            Set::Nan => f.write_str("nan"),
            Set::Exactly(value) => write!(f, "{value}"),
            Set::Between(low, high) if low == high => write!(f, "{low:?} or {:?}", -high),
            Set::Between(low, high) => write!(f, "between {low:?} and {high:?}"),
            Set::Parts(re, im) => write!(f, "({re}) + ({im})j"),
            Set::Infinite => f.write_str("an infinity"),
            Set::OneOf(several) => {
                let several: Vec<String> = several.iter().map(Set::to_string).collect();
                f.write_str(&several.join(", or "))
            }
        }
    }
}

/// The nearest float64 of a number; `None` for complex numbers.
pub(super) fn as_float(value: Scalar) -> Option<f64> {
    match value {
        Scalar::Bool(value) => Some(f64::from(u8::from(value))),
        Scalar::Int(value) => Some(value as f64),
        Scalar::Float(value) => Some(value),
        Scalar::Complex(_) => None,
    }
}

/// The integer that a number is, or a truth; `None` for any other number.
pub(super) fn as_integer(value: Scalar) -> Option<i64> {
    match value {
        Scalar::Int(value) => Some(value),
        Scalar::Bool(value) => Some(i64::from(value)),
        _ => None,
    }
}

/// A binary floating-point format (IEEE 754-2019, 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// Bits of the significand, the leading one included.
    digits: i32,
    /// The exponent of the smallest normal number.
    least: i32,
    /// The exponent of the largest number.
    greatest: i32,
}

impl Format {
    /// A product of two numbers of the format, rounded so that another rounding to it is the only one that counts: float64
    /// has more than twice the digits of the narrower formats, and two digits more.
    pub fn product(self, a: f64, b: f64) -> f64 {
        if self == Format::SINGLE { f64::from(a as f32 * b as f32) } else { a * b }
    }

    /// The format of float64.
    pub const DOUBLE: Format = Format { digits: 53, least: -1022, greatest: 1023 };

    /// The format of float32.
    pub const SINGLE: Format = Format { digits: 24, least: -126, greatest: 127 };

    /// The format of the numbers of a dtype, or of their parts. `None` for integers and bools.
    pub fn of(dtype: DType) -> Option<Format> {
        match dtype {
            DType::Float16 => Some(Format { digits: 11, least: -14, greatest: 15 }),
            DType::Bfloat16 => Some(Format { digits: 8, least: -126, greatest: 127 }),
            DType::Float32 | DType::Complex64 => Some(Format::SINGLE),
            DType::Float64 | DType::Complex128 => Some(Format::DOUBLE),
            _ => None,
        }
    }

    /// Returns whether numbers have 16 bits.
    pub fn is_half(self) -> bool {
        self.digits < 24
    }

    /// The largest finite number.
    pub fn largest(self) -> f64 {
        (2.0 - power(1 - self.digits)) * power(self.greatest)
    }

    /// The smallest normal number.
    pub fn smallest_normal(self) -> f64 {
        power(self.least)
    }

    /// The smallest positive number.
    pub fn smallest(self) -> f64 {
        power(self.least - self.digits + 1)
    }

    /// The unit in the last place of a number of this magnitude.
    pub fn ulp(self, value: f64) -> f64 {
        let exponent = if value.is_finite() { exponent(value).min(self.greatest) } else { self.greatest };
        power(exponent.max(self.least) - self.digits + 1)
    }

    /// Rounds to nearest, ties to even, with subnormal numbers and overflow to infinity.
    pub fn round(self, value: f64) -> f64 {
        match self {
            Format::DOUBLE => value,
            Format::SINGLE => f64::from(value as f32),
            _ if !value.is_finite() || value == 0.0 => value,
            _ => {
                let unit = self.ulp(value);
                let rounded = ((value / unit).round_ties_even() * unit).copysign(value);
                if rounded.abs() > self.largest() { f64::INFINITY.copysign(value) } else { rounded }
            }
        }
    }

    /// The roundings of all real numbers that are at most this far from a value.
    pub fn near(self, value: f64, error: f64) -> Set {
        if value.is_nan() || error.is_nan() {
            return Set::Nan;
        }
        if error.is_infinite() {
            return Set::Free;
        }
        // A sum in float64 rounds as well.
        let (low, high) = ((value - error).next_down(), (value + error).next_up());
        let (low, high) = if error == 0.0 { (value, value) } else { (low, high) };
        let (low, high) = (self.round(low), self.round(high));
        // Whatever may overflow may also stop short of it.
        let low = if low == f64::INFINITY { if error == 0.0 { low } else { self.largest() } } else { low };
        let high = if high == f64::NEG_INFINITY { if error == 0.0 { high } else { -self.largest() } } else { high };
        match low == high {
            // What is around zero and rounds to it does so from either side.
            true if low.to_bits() != high.to_bits() => Set::ZERO,
            true => Set::float(low),
            false => Set::Between(low, high),
        }
    }

    /// The same for an error in units in the last place of the value.
    pub fn within(self, value: f64, ulps: f64) -> Set {
        self.near(value, ulps * self.ulp(value))
    }

    /// The next number in the direction of another (IEEE 754 nextUp and nextDown; C Annex F, F.10.8.3).
    pub fn next_after(self, from: f64, to: f64) -> f64 {
        if from.is_nan() || to.is_nan() {
            return f64::NAN;
        }
        if from == to {
            return to;
        }
        if from == 0.0 {
            return self.smallest().copysign(to);
        }
        if from.is_infinite() {
            return self.largest().copysign(from);
        }
        let outwards = (to > from) == (from > 0.0);
        let unit = self.ulp(from);
        // Below a power of two the numbers lie twice as close.
        let down = self.ulp(from.abs().next_down());
        let magnitude = if outwards { from.abs() + unit } else { from.abs() - down };
        let magnitude = if magnitude > self.largest() { f64::INFINITY } else { magnitude };
        magnitude.copysign(from)
    }
}

/// Two to a power, of a subnormal magnitude if need be.
pub(super) fn power(exponent: i32) -> f64 {
    match exponent {
        1024.. => f64::INFINITY,
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        -1074..=-1023 => f64::from_bits(1 << (exponent + 1074)),
        _ => 0.0,
    }
}

/// The exponent of the leading bit; the least there is for zero.
pub(super) fn exponent(value: f64) -> i32 {
    let bits = value.abs().to_bits();
    match (bits >> 52) as i32 {
        0 if bits == 0 => -1074,
        0 => 63 - bits.leading_zeros() as i32 - 1074,
        biased => biased - 1023,
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    #[test]
    fn rounding_is_that_of_the_formats() {
        let (half, brain) = (Format::of(DType::Float16).unwrap(), Format::of(DType::Bfloat16).unwrap());
        for value in
            [0.1, -1.0 / 3.0, 65519.0, 65520.0, 6e-8, 2e-8, 1e-5, 2049.0, 2051.0, f64::NAN, f64::INFINITY, -0.0]
        {
            let (right, rounded) = (f16::from_f32(value as f32).to_f64(), half.round(value));
            assert!(right.to_bits() == rounded.to_bits() || right.is_nan() && rounded.is_nan(), "{value}: {rounded}");
            let (right, rounded) = (bf16::from_f32(value as f32).to_f64(), brain.round(value));
            assert!(right.to_bits() == rounded.to_bits() || right.is_nan() && rounded.is_nan(), "{value}: {rounded}");
        }
        assert_eq!(half.largest(), 65504.0);
        assert_eq!(Format::SINGLE.largest(), f64::from(f32::MAX));
        assert_eq!(Format::DOUBLE.largest(), f64::MAX);
    }

    #[test]
    fn the_next_number_is_that_of_the_format() {
        for value in [1.0f64, -1.0, 0.75, 1e300, f64::MAX, f64::MIN_POSITIVE, 5e-324, -2.0] {
            assert_eq!(Format::DOUBLE.next_after(value, f64::INFINITY), value.next_up(), "{value}");
            assert_eq!(Format::DOUBLE.next_after(value, f64::NEG_INFINITY), value.next_down(), "{value}");
        }
        for value in [1.0f32, -1.0, 0.75, 1e30, f32::MAX, f32::MIN_POSITIVE, 1e-45, -2.0] {
            let next = Format::SINGLE.next_after(f64::from(value), f64::INFINITY);
            assert_eq!(next, f64::from(value.next_up()), "{value}");
        }
    }

    #[test]
    fn sets_contain_what_they_say_and_nothing_else() {
        let third = Format::SINGLE.within(1.0 / 3.0, 1.0);
        let nearest = 1.0f32 / 3.0;
        assert!(third.contains(Scalar::Float(f64::from(nearest))));
        assert!(third.contains(Scalar::Float(f64::from(nearest.next_up()))));
        assert!(!third.contains(Scalar::Float(f64::from(nearest.next_up().next_up()))));
        assert!(Set::ZERO.contains(Scalar::Float(-0.0)) && !Set::float(0.0).contains(Scalar::Float(-0.0)));
        assert!(Set::Nan.contains(Scalar::Float(f64::NAN)) && !Set::Nan.contains(Scalar::Float(0.0)));
        assert!(!Set::Between(0.0, 1.0).contains(Scalar::Float(f64::NAN)));
        let zeros = Set::float(-0.0).or(Set::float(0.0));
        assert!(zeros.contains(Scalar::Float(-0.0)) && zeros.contains(Scalar::Float(0.0)));
        let overflow = Format::SINGLE.within(3.5e38, 1.0);
        assert!(
            overflow.contains(Scalar::Float(f64::INFINITY)) && overflow.contains(Scalar::Float(f64::from(f32::MAX)))
        );
        assert!(!overflow.contains(Scalar::Float(1.0)));
        // The sum of the least number and its negative is 0, which a bound of less than that number does not make negative.
        let cancelled = Format::SINGLE.near(0.0, 1e-51);
        assert!([0.0, -0.0].iter().all(|zero| cancelled.contains(Scalar::Float(*zero))), "{cancelled}");
        assert!(!Format::SINGLE.near(-0.0, 0.0).contains(Scalar::Float(0.0)), "an exact zero has a sign");
    }
}
