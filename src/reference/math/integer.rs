//! Powers of integers, as C++ computes them for libtorch.
//!
//! What overflows wraps around. It must know nothing of errors: libtorch refuses a negative scalar exponent.

use num_traits::{PrimInt, WrappingMul};

fn is_minus_one<I: PrimInt>(value: I) -> bool {
    I::min_value() < I::zero() && value == !I::zero()
}

/// A power, which wraps around (`at::native::powi`).
///
/// A negative exponent gives zero, except that a base of 1 gives 1, and of -1 its sign by the exponent's parity.
pub fn integer_power<I: PrimInt + WrappingMul>(base: I, exponent: I) -> I {
    let (zero, one) = (I::zero(), I::one());
    let odd = |value: I| value & one == one;
    if exponent < zero {
        return if base == one || (is_minus_one(base) && !odd(exponent)) {
            one
        } else if is_minus_one(base) {
            base
        } else {
            zero
        };
    }
    let (mut power, mut base, mut exponent) = (one, base, exponent);
    while !exponent.is_zero() {
        if odd(exponent) {
            power = power.wrapping_mul(&base);
        }
        exponent = exponent >> 1;
        base = base.wrapping_mul(&base);
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers() {
        assert_eq!((integer_power(3, 4), integer_power(0, 0), integer_power(2i8, 7)), (81, 1, -128));
        assert_eq!((integer_power(-1, -3), integer_power(-1, -2), integer_power(1, -5)), (-1, 1, 1));
        assert_eq!((integer_power(2, -1), integer_power(0, -1), integer_power(3u8, 255)), (0, 0, 171));
    }
}
