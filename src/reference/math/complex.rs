//! Complex numbers, as the loop over single elements computes them (`torch/headeronly/util/complex.h`).

use num_complex::Complex;

use super::{Real, number};

/// A product by its definition. An infinite factor can give NaN in both parts.
pub fn multiply<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    Complex::new(a.re.mul_add(b.re, -(a.im * b.im)), a.re.mul_add(b.im, a.im * b.re))
}

/// A quotient, scaled by the greater part of the divisor (Smith's method, as in NumPy). It agrees with annex G of the C
/// standard where a finite number is divided by zero, which is infinite in one part, and where an infinite part meets a
/// finite divisor. A finite number over an infinity of which both parts are infinite is zero there, and NaN here and in
/// NumPy.
pub fn divide<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    if b.re.is_zero() && b.im.is_zero() {
        return Complex::new(a.re / b.re.abs(), a.im / b.im.abs());
    }
    if b.re.abs() >= b.im.abs() {
        let ratio = b.im / b.re;
        let scale = b.im.mul_add(ratio, b.re).recip();
        Complex::new(a.im.mul_add(ratio, a.re) * scale, (-a.re).mul_add(ratio, a.im) * scale)
    } else {
        let ratio = b.re / b.im;
        let scale = b.re.mul_add(ratio, b.im).recip();
        Complex::new(a.re.mul_add(ratio, a.im) * scale, a.im.mul_add(ratio, -a.re) * scale)
    }
}

/// One divided by the number.
pub fn reciprocal<T: Real>(z: Complex<T>) -> Complex<T> {
    divide(Complex::new(T::one(), T::zero()), z)
}

/// The magnitude. An infinite part makes it infinite, even beside NaN.
pub fn absolute<T: Real>(z: Complex<T>) -> T {
    z.re.hypot(z.im)
}

/// The argument, from -pi to pi.
pub fn angle<T: Real>(z: Complex<T>) -> T {
    z.im.atan2(z.re)
}

/// The number with a magnitude, which can be negative, and an argument.
pub fn polar<T: Real>(magnitude: T, angle: T) -> Complex<T> {
    Complex::new(magnitude * angle.cos(), magnitude * angle.sin())
}

/// A power, by logarithm and exponential. Zero to the power of zero is NaN.
pub fn complex_power<T: Real>(base: Complex<T>, exponent: Complex<T>) -> Complex<T> {
    exponential(multiply_c99(exponent, logarithm(base)))
}

/// A power whose exponent is a real scalar (`pow_tensor_scalar`). Some exponents need no logarithm.
pub fn complex_power_scalar<T: Real>(base: Complex<T>, exponent: f64) -> Complex<T> {
    match exponent {
        0.0 => Complex::new(T::one(), T::zero()),
        1.0 => base,
        2.0 => multiply(base, base),
        3.0 => multiply(multiply(base, base), base),
        -1.0 => reciprocal(base),
        -2.0 => reciprocal(multiply(base, base)),
        0.5 => square_root(base),
        -0.5 => reciprocal(square_root(base)),
        _ => complex_power(base, Complex::new(T::nearest(exponent), T::zero())),
    }
}

/// The square root with a real part that is not negative (`csqrt` of the C library).
pub fn square_root<T: Real>(z: Complex<T>) -> Complex<T> {
    let (re, im) = (z.re, z.im);
    let half = number::<T>(0.5);
    if im.is_infinite() {
        return Complex::new(T::infinity(), im);
    }
    if re.is_infinite() {
        let other = if im.is_nan() { im } else { T::zero() };
        return if re > T::zero() {
            Complex::new(re, other.copysign(im))
        } else {
            Complex::new(other, re.abs().copysign(im))
        };
    }
    if re.is_nan() || im.is_nan() {
        return Complex::new(T::nan(), T::nan());
    }
    if im.is_zero() {
        let root = re.abs().sqrt();
        return if re < T::zero() { Complex::new(T::zero(), root.copysign(im)) } else { Complex::new(root, im) };
    }
    // A power of four moves the numbers to where their squares neither overflow nor lose digits.
    let greatest = re.abs().max(im.abs());
    let scale = if greatest > T::max_value() / number(4.0) {
        number::<T>(0.25)
    } else if greatest < T::min_positive_value() + T::min_positive_value() {
        T::epsilon().powi(-2)
    } else {
        T::one()
    };
    let (re, im) = (re * scale, im * scale);
    let magnitude = re.hypot(im);
    let root = if re.is_zero() {
        let greater = (half * im.abs()).sqrt();
        [greater, greater]
    } else if re > T::zero() {
        let greater = (half * (magnitude + re)).sqrt();
        [greater, half * (im / greater).abs()]
    } else {
        let greater = (half * (magnitude - re)).sqrt();
        [half * (im / greater).abs(), greater]
    };
    let back = scale.sqrt();
    Complex::new(root[0] / back, (root[1] / back).copysign(im))
}

/// The principal logarithm (`clog` of the C library), with care where the magnitude is near one.
fn logarithm<T: Real>(z: Complex<T>) -> Complex<T> {
    let (one, two) = (T::one(), number::<T>(2.0));
    let (x, y) = if z.re.abs() < z.im.abs() { (z.im.abs(), z.re.abs()) } else { (z.re.abs(), z.im.abs()) };
    let re = if x == one {
        (y * y).ln_1p() / two
    } else if x > one && x < two && y < one {
        let square = if y >= T::epsilon() { y * y } else { T::zero() };
        ((x - one) * (x + one) + square).ln_1p() / two
    } else if x < one && x >= number(0.5) && x * x + y * y >= number(0.5) {
        T::nearest(square_sum_less_one(x.wide(), y.wide())).ln_1p() / two
    } else if x > T::max_value() / two && x.is_finite() {
        (x / two).hypot(y / two).ln() + T::LN_2()
    } else if x < T::min_positive_value() && !x.is_zero() {
        (x / T::epsilon()).hypot(y / T::epsilon()).ln() + T::epsilon().ln()
    } else {
        x.hypot(y).ln()
    };
    Complex::new(re, angle(z))
}

/// `x² + y² - 1` for a sum near one, with the digits that cancel: every rounding error is added at the end.
fn square_sum_less_one(x: f64, y: f64) -> f64 {
    let (x_square, y_square) = (x * x, y * y);
    let errors_of_squares = x.mul_add(x, -x_square) + y.mul_add(y, -y_square);
    let rest = x_square - 0.5;
    let sum = rest + y_square;
    let of_y = sum - rest;
    let error_of_sum = (rest - (sum - of_y)) + (y_square - of_y);
    (sum - 0.5) + (error_of_sum + errors_of_squares)
}

/// The exponential (`cexp` of the C library).
fn exponential<T: Real>(z: Complex<T>) -> Complex<T> {
    let zero_or_infinity = if z.re > T::zero() { T::infinity() } else { T::zero() };
    if z.im.is_zero() {
        return Complex::new(z.re.exp(), z.im);
    }
    if z.re.is_infinite() && !z.im.is_finite() {
        return Complex::new(zero_or_infinity, if z.re > T::zero() { T::nan() } else { T::zero().copysign(z.im) });
    }
    if z.re.is_infinite() {
        return Complex::new(zero_or_infinity.copysign(z.im.cos()), zero_or_infinity.copysign(z.im.sin()));
    }
    // The exponential alone can overflow where the product does not.
    let (mut re, mut part) = (z.re, [z.im.cos(), z.im.sin()]);
    let most = number::<T>(T::GREATEST_LOGARITHM).floor();
    for _ in 0..2 {
        if re > most {
            re = re - most;
            part = part.map(|part| part * most.exp());
        }
    }
    Complex::new(re.exp() * part[0], re.exp() * part[1])
}

/// `ln(eᵃ + eᵇ)` (`_log_add_exp_helper`). The angle is that of the greater operand plus a principal value, so that it can
/// be beyond pi: the principal value of the whole logarithm differs by a multiple of 2 pi, and has the same exponential.
pub fn complex_log_add_exp<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let nan = |z: Complex<T>| z.re.is_nan() || z.im.is_nan();
    if nan(a) || nan(b) {
        return Complex::new(T::nan(), T::nan());
    }
    let (least, greatest) = if a.re < b.re { (a, b) } else { (b, a) };
    if least.re.is_infinite() && least.re == greatest.re {
        // Of two numbers that are zero to the eye no angle is better than the other.
        return if least.re < T::zero() { least } else { logarithm(exponential(least) + exponential(greatest)) };
    }
    logarithm_of_one_plus(exponential(least - greatest)) + greatest
}

/// `ln(1 + z)`, with the digits of a small number (`log1p`).
fn logarithm_of_one_plus<T: Real>(z: Complex<T>) -> Complex<T> {
    let one = Complex::new(T::one(), T::zero());
    let sum = z + one;
    if sum == one {
        return z;
    }
    let logarithm = logarithm(sum);
    if sum - one == z { logarithm } else { multiply(logarithm, divide(z, sum - one)) }
}

/// A product in which an infinite factor gives infinity, as the C standard wants it (annex G).
fn multiply_c99<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let by_definition =
        |a: Complex<T>, b: Complex<T>| Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    let product = by_definition(a, b);
    if !(product.re.is_nan() && product.im.is_nan()) {
        return product;
    }
    let infinite = |z: Complex<T>| z.re.is_infinite() || z.im.is_infinite();
    let unit = |part: T| if part.is_infinite() { T::one() } else { T::zero() }.copysign(part);
    let boxed = |z: Complex<T>| Complex::new(unit(z.re), unit(z.im));
    let no_nan = |part: T| if part.is_nan() { T::zero().copysign(part) } else { part };
    let without_nan = |z: Complex<T>| Complex::new(no_nan(z.re), no_nan(z.im));
    let (a, b) = match (infinite(a), infinite(b)) {
        (true, true) => (boxed(a), boxed(b)),
        (true, false) => (boxed(a), without_nan(b)),
        (false, true) => (without_nan(a), boxed(b)),
        (false, false)
            if [a.re * b.re, a.im * b.im, a.re * b.im, a.im * b.re].iter().any(|part| part.is_infinite()) =>
        {
            (without_nan(a), without_nan(b))
        }
        (false, false) => return product,
    };
    let product = by_definition(a, b);
    Complex::new(product.re * T::infinity(), product.im * T::infinity())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complex(re: f64, im: f64) -> Complex<f64> {
        Complex::new(re, im)
    }

    #[test]
    fn products_and_quotients() {
        assert_eq!(multiply(complex(1.0, 2.0), complex(3.0, -1.0)), complex(5.0, 5.0));
        assert_eq!(divide(complex(5.0, 5.0), complex(3.0, -1.0)), complex(1.0, 2.0));
        assert_eq!(reciprocal(complex(0.0, 2.0)), complex(0.0, -0.5));
        assert!(divide(complex(1.0, 0.0), complex(0.0, 0.0)).re.is_infinite());
    }

    /// By annex G of the C standard, G.5.1: a finite number over zero is an infinity, one over an infinite part zero. And
    /// scaled: a number over itself is one, however large or small.
    #[test]
    fn quotients_at_the_ends_of_the_dtype() {
        let one = complex(1.0, 0.0);
        let over_zero = divide(one, complex(0.0, 0.0));
        assert!(over_zero.re == f64::INFINITY && over_zero.im.is_nan());
        assert_eq!(divide(one, complex(f64::INFINITY, 0.0)), complex(0.0, 0.0));
        for size in [1e200, 1e-200] {
            assert_eq!(divide(complex(size, 0.0), complex(size, 0.0)), one);
            assert_eq!(divide(complex(0.0, size), complex(0.0, size)), one);
        }
    }

    /// `ln(e^7i + e^i)` is `4i + ln(2 cos 3)`, and `2 cos 3` is negative, which adds an odd multiple of `pi i`: here
    /// `7i + ln(1 + e^-6i)`, whose logarithm has the angle `pi - 3`.
    #[test]
    fn logarithms_of_sums() {
        let sum = complex_log_add_exp(complex(0.0, 7.0), complex(0.0, 1.0));
        let by_hand = complex((2.0 * 3f64.cos()).abs().ln(), 4.0 + std::f64::consts::PI);
        assert!((sum - by_hand).norm() < 1e-14, "{sum}");
        let infinity = |im: f64| complex(f64::INFINITY, im);
        let infinite = complex_log_add_exp(infinity(1.0), infinity(2.0));
        assert!(infinite.re == f64::INFINITY && infinite.im.is_nan(), "an infinity of no certain angle: {infinite}");
        assert_eq!(complex_log_add_exp(infinity(1.0), complex(f64::NEG_INFINITY, 2.0)), infinity(1.0));
        assert!(complex_log_add_exp(complex(1.0, f64::NAN), complex(1.0, 0.0)).re.is_nan());
        let nothing = |im: f64| complex(f64::NEG_INFINITY, im);
        assert_eq!(complex_log_add_exp(nothing(1.0), nothing(2.0)), nothing(2.0));
    }

    #[test]
    fn magnitudes_and_arguments() {
        assert_eq!(absolute(complex(3.0, -4.0)), 5.0);
        assert_eq!(absolute(complex(f64::NAN, f64::INFINITY)), f64::INFINITY);
        assert_eq!(angle(complex(-1.0, -0.0)), -std::f64::consts::PI);
        assert_eq!(polar(-2.0, 0.0), complex(-2.0, 0.0));
    }

    #[test]
    fn powers() {
        assert_eq!(complex_power_scalar(complex(1.0, 1.0), 2.0), complex(0.0, 2.0));
        assert_eq!(square_root(complex(-4.0, -0.0)), complex(0.0, -2.0));
        assert_eq!(square_root(complex(3.0, -4.0)), complex(2.0, -1.0));
        assert!(complex_power(complex(0.0, 0.0), complex(0.0, 0.0)).re.is_nan());
        // i^i is e^(-pi/2).
        let power = complex_power(complex(0.0, 1.0), complex(0.0, 1.0));
        assert!((power.re - (-std::f64::consts::FRAC_PI_2).exp()).abs() < 1e-16 && power.im.abs() < 1e-16);
    }
}
