//! The gamma function and its relatives (`aten/src/ATen/native/Math.h`): digamma, polygamma, the zeta function of
//! Hurwitz, and the incomplete gamma functions.
//!
//! The methods are those of the Cephes library, and for the incomplete functions those of SciPy and Boost. Equations
//! named by numbers are those of the Digital Library of Mathematical Functions, <https://dlmf.nist.gov>.

use std::sync::LazyLock;

use super::super::budget::{STRIDE, charge};
use super::{Real, number};

/// A polynomial from its coefficients, that of the highest power first.
fn horner<T: Real>(x: T, coefficients: impl IntoIterator<Item = f64>) -> T {
    coefficients.into_iter().fold(T::zero(), |sum, coefficient| sum.mul_add(x, number(coefficient)))
}

/// The zeta function of Hurwitz: the sum of `(q + k)^-x` over all k from 0 on. In double precision, but for the term
/// of `q` itself.
///
/// Infinite for `x = 1` and for a `q` that is zero or a negative integer, NaN for a lesser `x`, and for another
/// negative `q` unless `x` is an integer. Where an argument is infinite, the terms are zeros, or some are infinite. It takes
/// as many steps as `q` is below nine.
pub fn zeta<T: Real>(x: T, q: T) -> T {
    if x == T::one() {
        return T::infinity();
    }
    if x < T::one() || x.is_nan() || q.is_nan() {
        return T::nan();
    }
    if q.is_infinite() && q > T::zero() || x.is_infinite() && q > T::one() {
        return T::zero();
    }
    if q <= T::zero() {
        if q == q.floor() {
            return T::infinity();
        }
        if x != x.floor() {
            return T::nan();
        }
    }
    T::nearest(euler_maclaurin(x.wide(), q.wide(), q.powf(-x).wide()))
}

/// The sum by the formula of Euler and Maclaurin (25.11.5), from its first term on.
fn euler_maclaurin(x: f64, q: f64, first_term: f64) -> f64 {
    /// (2k)! over the Bernoulli number of index 2k.
    const DIVISORS: [f64; 12] = [
        12.0,
        -720.0,
        30240.0,
        -1209600.0,
        47900160.0,
        -1.307674368e12 / 691.0,
        7.47242496e10,
        -1.067062284288e16 / 3617.0,
        5.109094217170944e18 / 43867.0,
        -8.028576626982912e20 / 174611.0,
        1.5511210043330986e23 / 854513.0,
        -1.6938241367317437e27 / 236364091.0,
    ];
    let (mut sum, mut base, mut term) = (first_term, q, 0.0);
    let mut steps = 0;
    while steps < 9 || base <= 9.0 {
        steps += 1;
        if usize::is_multiple_of(steps, STRIDE) {
            charge(STRIDE);
        }
        base += 1.0;
        term = base.powf(-x);
        sum += term;
        if -f64::ROUNDING * sum < term && term < f64::ROUNDING * sum {
            return sum;
        }
    }
    let integral = term * base / (x - 1.0);
    sum = (-0.5f64).mul_add(term, sum + integral);
    let (mut rising, mut k) = (1.0, 0.0);
    for divisor in DIVISORS {
        rising *= x + k;
        term /= base;
        let correction = rising * term / divisor;
        sum += correction;
        if (correction / sum).abs() < f64::ROUNDING {
            break;
        }
        rising *= x + k + 1.0;
        term /= base;
        k += 2.0;
    }
    sum
}

/// The regularized lower incomplete gamma function, P(a, x). NaN for a negative argument.
pub fn gamma_lower<T: Real>(a: T, x: T) -> T {
    if let Some([lower, _]) = at_border(a, x) {
        return lower;
    }
    if is_near(a, x) {
        return by_uniform_expansion(a, x, -T::one());
    }
    if x > T::one() && x > a {
        return T::one() - gamma_upper(a, x);
    }
    lower_by_series(a, x)
}

/// The regularized upper incomplete gamma function, Q(a, x) = 1 - P(a, x). NaN for a negative argument.
pub fn gamma_upper<T: Real>(a: T, x: T) -> T {
    if let Some([_, upper]) = at_border(a, x) {
        return upper;
    }
    if is_near(a, x) {
        return by_uniform_expansion(a, x, T::one());
    }
    let (wide, wide_a) = (x.wide(), a.wide());
    if wide > 1.1 {
        if x < a { T::one() - lower_by_series(a, x) } else { upper_by_fraction(a, x) }
    } else {
        let from_lower = if wide <= 0.5 { -0.4 / x.ln().wide() < wide_a } else { wide * 1.1 < wide_a };
        if from_lower { T::one() - lower_by_series(a, x) } else { upper_by_series(a, x) }
    }
}

/// P and Q where an argument is NaN, zero, infinite or negative.
fn at_border<T: Real>(a: T, x: T) -> Option<[T; 2]> {
    let (zero, one, nan) = (T::zero(), T::one(), T::nan());
    if a.is_nan() || x.is_nan() || x < zero || a < zero {
        Some([nan, nan])
    } else if a.is_zero() {
        Some(if x > zero { [one, zero] } else { [nan, nan] })
    } else if x.is_zero() {
        Some([zero, one])
    } else if a.is_infinite() {
        Some(if x.is_infinite() { [nan, nan] } else { [zero, one] })
    } else if x.is_infinite() {
        Some([one, zero])
    } else {
        None
    }
}

/// Returns whether `x` is so near to a great `a` that the uniform expansion is best.
fn is_near<T: Real>(a: T, x: T) -> bool {
    let (some, many) = (number(20.0), number(200.0));
    let distance = (x - a).abs() / a;
    (a > some && a < many && distance < number(0.3)) || (a > many && distance < number::<T>(4.5) / a.sqrt())
}

/// x^a e^-x / Γ(a), by the approximation of Lanczos where the parts are great and the whole is not.
fn prefactor<T: Real>(a: T, x: T) -> T {
    let lanczos_g = number::<T>(6.02468004077673);
    if (a - x).abs().wide() > 0.4 * a.abs().wide() {
        let exponent = a.mul_add(x.ln(), -x) - a.log_gamma();
        return if exponent < number(-T::GREATEST_LOGARITHM) { T::zero() } else { exponent.exp() };
    }
    let shifted = a + lanczos_g - number(0.5);
    let scale = (shifted / T::E()).sqrt() / lanczos_sum(a);
    let many = number(200.0);
    if a < many && x < many {
        return scale * ((a - x).exp() * (x / shifted).powf(a));
    }
    let relative = (x - a - lanczos_g + number(0.5)) / shifted;
    let correction = x.wide() * (0.5 - lanczos_g.wide()) / shifted.wide();
    let exponent = a.times_plus_wide(relative.ln_1p() - relative, correction);
    T::nearest(scale.wide() * exponent.exp())
}

/// The sum of the approximation of Lanczos, scaled by e^-g: a quotient of two polynomials.
fn lanczos_sum<T: Real>(x: T) -> T {
    const NUMERATOR: [f64; 13] = [
        0.006061842346248907,
        0.5098416655656676,
        19.519927882476175,
        449.9445569063168,
        6955.999602515376,
        75999.29304014542,
        601859.6171681099,
        3481712.154980646,
        14605578.087685067,
        43338889.32467614,
        86363131.28813859,
        103794043.11634454,
        56906521.913471565,
    ];
    // x (x + 1) … (x + 11)
    const DENOMINATOR: [f64; 13] = [
        1.0,
        66.0,
        1925.0,
        32670.0,
        357423.0,
        2637558.0,
        13339535.0,
        45995730.0,
        105258076.0,
        150917976.0,
        120543840.0,
        39916800.0,
        0.0,
    ];
    let ascending = |coefficients: [f64; 13]| coefficients.into_iter().rev();
    if x > T::one() {
        horner(x.recip(), ascending(NUMERATOR)) / horner(x.recip(), ascending(DENOMINATOR))
    } else {
        horner(x, NUMERATOR) / horner(x, DENOMINATOR)
    }
}

/// P by 8.11.4.
fn lower_by_series<T: Real>(a: T, x: T) -> T {
    let factor = prefactor(a, x);
    if factor.is_zero() {
        return T::zero();
    }
    let (mut divisor, mut term, mut sum) = (a, T::one(), T::one());
    for _ in 0..MOST_STEPS {
        divisor = divisor + T::one();
        term = term * (x / divisor);
        sum = sum + term;
        if term <= number::<T>(T::ROUNDING) * sum {
            break;
        }
    }
    sum * factor / a
}

/// Q by 8.7.3.
fn upper_by_series<T: Real>(a: T, x: T) -> T {
    let (mut factor, mut sum) = (T::one(), T::zero());
    for n in 1..MOST_STEPS {
        let n = T::nearest_integer(n);
        factor = factor * (-x / n);
        let term = factor / (a + n);
        sum = sum + term;
        if term.abs() <= number::<T>(T::ROUNDING) * sum.abs() {
            break;
        }
    }
    let logarithm = x.ln();
    let first = -a.mul_add(logarithm, -(T::one() + a).log_gamma()).exp_m1();
    (-a.mul_add(logarithm, -a.log_gamma()).exp()).mul_add(sum, first)
}

/// Q by the continued fraction 8.9.2.
fn upper_by_fraction<T: Real>(a: T, x: T) -> T {
    let factor = prefactor(a, x);
    if factor.is_zero() {
        return T::zero();
    }
    let one = T::one();
    let great = number::<T>(T::ROUNDING).recip();
    let (mut y, mut z, mut count) = (one - a, x + (one - a) + one, T::zero());
    let (mut numerators, mut denominators) = ([one, x + one], [x, z * x]);
    let mut value = numerators[1] / denominators[1];
    for _ in 0..MOST_STEPS {
        count = count + one;
        y = y + one;
        z = z + number(2.0);
        let weight = y * count;
        let next = |[before, last]: [T; 2]| last.mul_add(z, -(before * weight));
        let (numerator, denominator) = (next(numerators), next(denominators));
        let mut change = one;
        if !denominator.is_zero() {
            let ratio = numerator / denominator;
            change = ((value - ratio) / ratio).abs();
            value = ratio;
        }
        numerators = [numerators[1], numerator];
        denominators = [denominators[1], denominator];
        if numerator.abs() > great {
            numerators = numerators.map(|part| part / great);
            denominators = denominators.map(|part| part / great);
        }
        if change <= number(T::ROUNDING) {
            break;
        }
    }
    value * factor
}

/// P (`sign` -1) or Q (`sign` 1) by the uniform expansion of Temme, 8.12.3 and 8.12.4.
fn by_uniform_expansion<T: Real>(a: T, x: T, sign: T) -> T {
    let lambda = x / a;
    let sigma = (x - a) / a;
    let root = (number::<T>(-2.0) * (sigma.ln_1p() - sigma)).sqrt();
    let eta = if lambda > T::one() {
        root
    } else if lambda < T::one() {
        -root
    } else {
        T::zero()
    };
    let main = number::<T>(0.5) * (sign * eta * (a / number(2.0)).sqrt()).error_function_complement();
    let rounding = number::<T>(T::ROUNDING);
    let (mut sum, mut power_of_a, mut last) = (T::zero(), T::one(), T::infinity());
    for row in TEMME.iter() {
        let mut coefficient = number::<T>(row[0]);
        let mut power_of_eta = T::one();
        for &factor in &row[1..] {
            power_of_eta = eta * power_of_eta;
            let part = number::<T>(factor) * power_of_eta;
            coefficient = coefficient + part;
            if part.abs() < rounding * coefficient.abs() {
                break;
            }
        }
        let term = coefficient * power_of_a;
        if term.abs() > last {
            break;
        }
        sum = sum + term;
        if term.abs() < rounding * sum.abs() {
            break;
        }
        last = term.abs();
        power_of_a = power_of_a / a;
    }
    let two_pi = number::<T>(std::f64::consts::TAU);
    let decay = (-0.5 * a.wide() * eta.wide() * eta.wide()).exp();
    T::nearest(main.wide() + sign.wide() * decay * sum.wide() / (two_pi * a).sqrt().wide())
}

const MOST_STEPS: i64 = 2000;
const TERMS: usize = 25;

/// The coefficients of η^n a^-k in Temme's expansion, row by k.
///
/// With λ = 1 + μ, η²/2 = μ - ln(1 + μ), so that μ μ' = η (1 + μ), which gives the series of μ in powers of η. The
/// first row is 1/μ - 1/η (8.12.10), the others follow by 8.12.11: each row is the derivative of the one before over η,
/// and a multiple of 1/μ that takes the pole away.
static TEMME: LazyLock<[[f64; TERMS]; TERMS]> = LazyLock::new(|| {
    const LENGTH: usize = 3 * TERMS + 2;
    let mut mu = [0.0; LENGTH + 2];
    mu[1] = 1.0;
    for m in 2..LENGTH + 2 {
        let products: f64 = (2..m).map(|i| mu[i] * mu[m + 1 - i]).sum();
        mu[m] = mu[m - 1] / (m as f64 + 1.0) - products / 2.0;
    }
    let mut inverse = [0.0; LENGTH + 1];
    inverse[0] = 1.0;
    for n in 1..=LENGTH {
        inverse[n] = -(1..=n).map(|i| mu[i + 1] * inverse[n - i]).sum::<f64>();
    }
    let first = &inverse[1..];
    let mut row = first.to_vec();
    std::array::from_fn(|_| {
        let coefficients = std::array::from_fn(|n| row[n]);
        let pole = row[1];
        row = (0..row.len() - 2).map(|n| (n as f64 + 2.0) * row[n + 2] - pole * first[n]).collect();
        coefficients
    })
});

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-14, "{value} is not {expected}");
    }

    #[test]
    fn poles() {
        assert_eq!((zeta(1.0, 1.0), zeta(2.0, -3.0)), (f64::INFINITY, f64::INFINITY));
        assert_eq!((zeta(2.0, f64::INFINITY), zeta(f64::INFINITY, 2.0)), (0.0, 0.0));
        assert!(zeta(f64::NAN, 0.0).is_nan());
    }

    #[test]
    fn incomplete_gamma_functions() {
        // P(1, x) = 1 - e^-x, by each of the methods.
        for x in [0.1, 0.4, 0.9, 1.5, 8.0] {
            close(gamma_lower(1.0, x), -f64::exp_m1(-x));
            close(gamma_upper(1.0, x), f64::exp(-x));
        }
        // The first coefficients, which 8.12.12 has as fractions.
        close(TEMME[0][0], -1.0 / 3.0);
        close(TEMME[0][1], 1.0 / 12.0);
        close(TEMME[1][0], -1.0 / 540.0);
        assert_eq!((gamma_lower(0.0, 1.0), gamma_upper(0.0, 1.0), gamma_upper(1.0, 0.0)), (1.0, 0.0, 1.0));
        assert!(gamma_lower(-1f64, 1.0).is_nan() && gamma_lower(0f64, 0.0).is_nan());
        assert!(gamma_lower(f64::NAN, 0.0).is_nan() && gamma_upper(f64::INFINITY, f64::NAN).is_nan());
    }
}
