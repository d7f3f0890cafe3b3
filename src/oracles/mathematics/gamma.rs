//! The incomplete gamma functions by the series of their integral (DLMF 8.7.1), in wide numbers.

use super::Right;
use super::set::Format;
use super::wide::{Real, Wide};
use crate::ops::Op;

const INTEGRAL: &str =
    "torch.special.gammainc and gammaincc: the integral of the page, within 16384 units in the last place";

/// The largest operand, which bounds the terms of the series, and the smallest second one.
const LARGEST: f64 = 300.0;
const SMALLEST: f64 = 1e-6;

/// The least value that 1 minus the other function is known for, of which less than 1e-40 is lost.
const LEAST: f64 = 1e-28;

/// The right results of `igamma` and `igammac` where both operands are positive numbers of moderate size.
pub(super) fn right(op: Op, format: Format, a: f64, x: f64) -> Option<Right> {
    if !(a > 0.0 && a <= LARGEST && (SMALLEST..=LARGEST).contains(&x)) {
        return None;
    }
    let lower = lower(a, x);
    let value = if op == Op::Igamma { lower } else { Wide::of(1.0) - lower }.nearest();
    let error = units(format) * format.ulp(value) + format.smallest();
    (value > LEAST).then(|| Right::by(INTEGRAL, format.near(value, error)))
}

/// The derivative by the second operand: the density x^(a - 1) exp(-x) / Γ(a), at 0 its limit from within, and 0 at
/// infinity; its opposite for `igammac`. It is as exact as the functions are and as the exponential of its logarithm, or as the
/// sum of the terms of that.
pub(super) fn slope(op: Op, format: Format, a: f64, x: f64) -> Option<(f64, f64)> {
    if !(a > 0.0 && a.is_finite()) || x.is_nan() || x < 0.0 || x == 0.0 && a < 1.0 {
        return None;
    }
    let sign = if op == Op::Igamma { 1.0 } else { -1.0 };
    let ends = |low: f64, high: f64| Some(((sign * low).min(sign * high), (sign * low).max(sign * high)));
    if x == 0.0 || x == f64::INFINITY {
        let limit = if x == 0.0 && a == 1.0 { 1.0 } else { 0.0 };
        return ends(limit, limit);
    }
    let order = Wide::of(a);
    let terms = [(order.clone() - Wide::of(1.0)) * Wide::of(x).ln(), -Wide::of(x), -ln_gamma(order)];
    let added: f64 = terms.iter().map(|term| term.nearest().abs()).sum();
    let [first, second, third] = terms;
    let logarithm = first + second + third;
    let size = logarithm.nearest();
    // Beyond the exponents of every format.
    if size < -1e5 {
        return ends(0.0, 0.0);
    }
    let units = (units(format) + 16.0 * (1.0 + size.abs())).min(32.0 * (1.0 + added));
    let (density, error) = (logarithm.exp().nearest(), units * format.ulp(1.0));
    if size < 700.0 && error < 4.0 { ends(density * (-error).exp(), density * error.exp()) } else { None }
}

/// The units in the last place that the functions may lose. In 16 bits they are computed in float32.
fn units(format: Format) -> f64 {
    if format.is_half() { 4.0 } else { 16384.0 }
}

/// P(a, x): x^a exp(-x) / Γ(a + 1) times the sum of x^n / ((a + 1) … (a + n)).
fn lower(a: f64, x: f64) -> Wide {
    let (mut term, mut sum, mut divisor) = (Wide::of(1.0), Wide::of(1.0), Wide::of(a));
    while term > sum.clone() * Wide::of(f64::EPSILON.powi(3)) {
        divisor = divisor + Wide::of(1.0);
        term = term * Wide::of(x) / divisor.clone();
        sum = sum + term.clone();
    }
    (Wide::of(a) * Wide::of(x).ln() - Wide::of(x) - ln_gamma(Wide::of(a) + Wide::of(1.0))).exp() * sum
}

/// The logarithm of Γ by Stirling's series (DLMF 5.11.1), where z is large enough for its terms to be small.
fn ln_gamma(mut z: Wide) -> Wide {
    const BERNOULLI: [(f64, f64); 12] = [
        (1.0, 6.0),
        (-1.0, 30.0),
        (1.0, 42.0),
        (-1.0, 30.0),
        (5.0, 66.0),
        (-691.0, 2730.0),
        (7.0, 6.0),
        (-3617.0, 510.0),
        (43867.0, 798.0),
        (-174_611.0, 330.0),
        (854_513.0, 138.0),
        (-236_364_091.0, 2730.0),
    ];
    let mut below = Wide::of(1.0);
    while z < Wide::of(60.0) {
        below = below * z.clone();
        z = z + Wide::of(1.0);
    }
    let pi = Wide::of(0.0).atan2(Wide::of(-1.0));
    let half = Wide::of(0.5);
    let mut sum = (z.clone() - half.clone()) * z.clone().ln() - z.clone() + half * (Wide::of(2.0) * pi).ln();
    let mut power = z.clone();
    for (at, (numerator, denominator)) in (1..).zip(BERNOULLI) {
        let even = 2.0 * f64::from(at);
        sum = sum + Wide::of(numerator) / (Wide::of(denominator * even * (even - 1.0)) * power.clone());
        power = power * z.clone() * z.clone();
    }
    sum - below.ln()
}

#[cfg(test)]
mod tests {
    use super::lower;

    /// The exponential distribution has a = 1; a derivative of P is the quotient of its differences.
    #[test]
    fn densities_are_the_derivatives_of_the_integral() {
        use super::{Format, Op, Real, slope};
        for (a, x) in [(1.0, 0.0), (1.0, 3.0), (2.5, 1.5), (0.5, 0.25), (40.0, 38.0)] {
            let (low, high) = slope(Op::Igamma, Format::DOUBLE, a, x).unwrap();
            let step = 1e-6;
            let below = if x == 0.0 { 0.0 } else { lower(a, x - step).nearest() };
            let width = if x == 0.0 { step } else { 2.0 * step };
            let quotient = (lower(a, x + step).nearest() - below) / width;
            assert!((quotient - low).abs() < 1e-5 && low <= high && high - low < 1e-10, "{a} {x}: {low} {quotient}");
            assert_eq!(slope(Op::Igammac, Format::DOUBLE, a, x), Some((-high, -low)));
        }
        assert_eq!(slope(Op::Igamma, Format::SINGLE, 3.0, f64::INFINITY), Some((0.0, 0.0)));
        assert_eq!(slope(Op::Igamma, Format::SINGLE, 0.5, 0.0), None, "infinite");
        // Next to the mean of a distribution that is nearly normal, with the variance of its order.
        let (low, high) = slope(Op::Igamma, Format::SINGLE, 1e7, 1e7).unwrap();
        let normal = (2.0 * std::f64::consts::PI * 1e7).sqrt().recip();
        assert!(low < normal && normal < high && high < 1.01 * normal, "{low} {normal} {high}");
        assert_eq!(slope(Op::Igamma, Format::SINGLE, 3.0, 1e30), Some((0.0, 0.0)));
    }

    /// Of integers, 1 - P is a sum of Poisson's probabilities; of one half, P is the error function of a root.
    #[test]
    fn values_are_those_of_closed_forms() {
        let poisson = |a: u32, x: f64| -> f64 {
            let terms = (1..a).scan(1.0, |term, k| {
                *term *= x / f64::from(k);
                Some(*term)
            });
            1.0 - (-x).exp() * (1.0 + terms.sum::<f64>())
        };
        for (a, x) in [(1, 1.0), (2, 0.5), (21, 21.0), (49, 49.5), (100, 120.0)] {
            let (value, wanted) = (super::Real::nearest(&lower(f64::from(a), x)), poisson(a, x));
            assert!((value / wanted - 1.0).abs() < 1e-13, "P({a}, {x}) is {value}, not {wanted}");
        }
        let value = super::Real::nearest(&lower(0.5, 2.0));
        assert!((value - 0.954_499_736_103_641_6).abs() < 1e-15, "{value}");
    }
}
