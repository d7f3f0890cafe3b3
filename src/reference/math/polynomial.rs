//! Orthogonal polynomials, evaluated by their recurrences (`aten/src/ATen/native/Math.h`).
//!
//! Every function takes the degree as a number: it is cut to an integer, a negative degree gives zero, and so do NaN
//! and whatever has no 64-bit integer. The loops run as often as the degree is high, and charge for it.
//!
//! NaN gives NaN. libtorch returns an uninitialized variable there for a degree of two or more, often the result of the
//! element before; only T, V and the Hermite polynomials are safe.

use super::super::budget::{STRIDE, charge};
use super::{Real, number};

/// One of the four families of Chebyshev polynomials: they differ in the polynomial of the first degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chebyshev {
    /// cos nθ, for x = cos θ.
    T,
    /// sin (n+1)θ / sin θ.
    U,
    /// cos (n+½)θ / cos ½θ.
    V,
    /// sin (n+½)θ / sin ½θ.
    W,
}

/// A Chebyshev polynomial.
pub fn chebyshev<T: Real>(family: Chebyshev, x: T, degree: T) -> T {
    let at_end = match x {
        x if x == T::one() => Some(End::Right),
        x if x == -T::one() => Some(End::Left),
        _ => None,
    };
    let near_right = if x > T::zero() { End::Right } else { End::Left };
    let recurrence_up_to = if family == Chebyshev::T { 6 } else { 8 };
    chebyshev_at(family, x, whole(degree), at_end, near_right, recurrence_up_to)
}

/// A Chebyshev polynomial of 2x - 1, which moves the interval to that from 0 to 1.
///
/// Close to `x = 1`, where θ/2 has the cosine 1, libtorch gives the fourth family its value at the other end.
pub fn shifted_chebyshev<T: Real>(family: Chebyshev, x: T, degree: T) -> T {
    let at_end = match x {
        x if x == T::one() => Some(End::Right),
        x if x.is_zero() => Some(End::Left),
        _ => None,
    };
    let recurrence_up_to = if family == Chebyshev::W { 4 } else { 6 };
    chebyshev_at(family, x + x - T::one(), whole(degree), at_end, End::Left, recurrence_up_to)
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Left,
    Right,
}

fn chebyshev_at<T: Real>(
    family: Chebyshev,
    x: T,
    degree: i64,
    at_end: Option<End>,
    near: End,
    recurrence_up_to: i64,
) -> T {
    if degree < 0 {
        return T::zero();
    }
    if let Some(end) = at_end {
        return value_at_end(family, end, degree);
    }
    if degree > recurrence_up_to && x.abs() < T::one() {
        return by_angle(family, x, degree, near);
    }
    let twice = x + x;
    let first = match family {
        Chebyshev::T => x,
        Chebyshev::U => twice,
        Chebyshev::V => twice - T::one(),
        Chebyshev::W => twice + T::one(),
    };
    recur(degree, first, |_, last, before| twice.mul_add(last, -before))
}

/// The value at x = 1 or x = -1, an integer.
fn value_at_end<T: Real>(family: Chebyshev, end: End, degree: i64) -> T {
    let magnitude = match (family, end) {
        (Chebyshev::T, _) | (Chebyshev::V, End::Right) | (Chebyshev::W, End::Left) => 1,
        (Chebyshev::U, _) => degree.wrapping_add(1),
        (Chebyshev::V, End::Left) | (Chebyshev::W, End::Right) => degree.wrapping_add(degree).wrapping_add(1),
    };
    let negative = end == End::Left && degree % 2 != 0;
    T::nearest_integer(if negative { magnitude.wrapping_neg() } else { magnitude })
}

/// The value by the trigonometric formula; where that is 0/0, the value at an end.
fn by_angle<T: Real>(family: Chebyshev, x: T, degree: i64, near: End) -> T {
    let angle = x.acos();
    let half = angle / number(2.0);
    let degree_number = T::nearest_integer(degree);
    let next = T::nearest_integer(degree + 1);
    let between = degree_number + number(0.5);
    match family {
        Chebyshev::T => (degree_number * angle).cos(),
        Chebyshev::U if !angle.sin().is_zero() => (next * angle).sin() / angle.sin(),
        Chebyshev::U => next * (next * angle).cos() / x,
        Chebyshev::V if half.sin() != T::one() => (between * angle).cos() / half.cos(),
        Chebyshev::V => value_at_end(family, End::Left, degree),
        Chebyshev::W if half.cos() != T::one() => (between * angle).sin() / half.sin(),
        Chebyshev::W => value_at_end(family, near, degree),
    }
}

/// The Hermite polynomial of the physicists. NaN for a degree above 128 in single and 512 in double precision.
pub fn hermite_h<T: Real>(x: T, degree: T) -> T {
    let twice = x + x;
    hermite(whole(degree), twice, |k, last, before| twice.mul_add(last, -(T::nearest_integer(2 * k) * before)))
}

/// The Hermite polynomial of the probabilists. NaN for a degree above 128 in single and 512 in double precision.
pub fn hermite_he<T: Real>(x: T, degree: T) -> T {
    hermite(whole(degree), x, |k, last, before| x.mul_add(last, -(T::nearest_integer(k) * before)))
}

fn hermite<T: Real>(degree: i64, first: T, step: impl Fn(i64, T, T) -> T) -> T {
    if degree < 0 {
        T::zero()
    } else if degree > T::GREATEST_HERMITE_DEGREE {
        T::nan()
    } else {
        recur(degree, first, step)
    }
}

/// The Laguerre polynomial.
pub fn laguerre<T: Real>(x: T, degree: T) -> T {
    let degree = whole(degree);
    if degree < 0 {
        return T::zero();
    }
    if x.is_zero() {
        return T::one();
    }
    let first = T::one() - x;
    recur(degree, first, |k, last, before| {
        let factor = T::nearest_integer(2 * k) + first;
        factor.mul_add(last, -(T::nearest_integer(k) * before)) / T::nearest_integer(k + 1)
    })
}

/// The Legendre polynomial.
pub fn legendre<T: Real>(x: T, degree: T) -> T {
    let degree = whole(degree);
    if degree < 0 {
        return T::zero();
    }
    if x.abs() == T::one() {
        return if x < T::zero() && degree % 2 != 0 { -T::one() } else { T::one() };
    }
    recur(degree, x, |k, last, before| {
        let factor = T::nearest_integer(2 * k + 1) * x;
        factor.mul_add(last, -(T::nearest_integer(k) * before)) / T::nearest_integer(k + 1)
    })
}

/// The integer that a degree is cut to. What is NaN or out of range becomes the least integer, as on x86.
fn whole<T: Real>(degree: T) -> i64 {
    degree.to_i64().unwrap_or(i64::MIN)
}

/// The polynomial of a degree that is not negative, from those of degree 0, which is 1, and 1: `step(k, last, before)`
/// is that of degree `k + 1`. It ends early at NaN, which stays.
fn recur<T: Real>(degree: i64, first: T, step: impl Fn(i64, T, T) -> T) -> T {
    if degree == 0 {
        return T::one();
    }
    let (mut before, mut last) = (T::one(), first);
    for k in 1..degree {
        if last.is_nan() {
            break;
        }
        if (k as usize).is_multiple_of(STRIDE) {
            charge(STRIDE);
        }
        (before, last) = (last, step(k, last, before));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_degrees() {
        // T₃ = 4x³ - 3x, U₂ = 4x² - 1, V₂ = 4x² - 2x - 1, W₂ = 4x² + 2x - 1, at x = 2.
        let at_two = |family, degree| chebyshev(family, 2.0, degree);
        assert_eq!((at_two(Chebyshev::T, 3.0), at_two(Chebyshev::U, 2.0)), (26.0, 15.0));
        assert_eq!((at_two(Chebyshev::V, 2.0), at_two(Chebyshev::W, 2.9)), (11.0, 19.0));
        assert_eq!(shifted_chebyshev(Chebyshev::T, 1.5, 3.0), 26.0);
        // H₃ = 8x³ - 12x, He₃ = x³ - 3x, 2 L₂ = x² - 4x + 2, 2 P₂ = 3x² - 1, at x = 2.
        assert_eq!((hermite_h(2.0, 3.0), hermite_he(2.0, 3.0)), (40.0, 2.0));
        assert_eq!((laguerre(2.0, 2.0), legendre(2.0, 2.0)), (-1.0, 5.5));
    }

    #[test]
    fn degrees_that_are_none() {
        assert_eq!((legendre(0.5, -1.0), legendre(0.5, f64::NAN), legendre(0.5, f64::INFINITY)), (0.0, 0.0, 0.0));
        assert_eq!(legendre(0.5, -0.5), 1.0);
        assert!(hermite_h(0.5f32, 129.0).is_nan() && !hermite_h(0.5f64, 129.0).is_nan());
    }

    #[test]
    fn ends() {
        assert_eq!((chebyshev(Chebyshev::U, -1.0, 3.0), chebyshev(Chebyshev::V, -1.0, 3.0)), (-4.0, -7.0));
        assert_eq!((chebyshev(Chebyshev::W, 1.0, 3.0), shifted_chebyshev(Chebyshev::W, 0.0, 3.0)), (7.0, -1.0));
    }
}
