//! Functions of complex numbers: parts where they are defined one by one, else a distance from the value.

use num_complex::Complex64;

use super::set::{Format, Set, as_float};
use super::wide::{Real, Wide};
use super::{Details, Right};
use crate::ops::Op;
use crate::tensor::Scalar;

const PARTS: &str = "C Annex G, G.5.2: complex numbers are added part by part, as IEEE 754 rounds";
const PRODUCT: &str =
    "(ac - bd) + (ad + bc)j, each part within the rounding of its formula (array API standard, multiply)";
const INFINITE: &str = "C Annex G, G.5.1: a quotient by zero of what is not zero is an infinity";
const QUOTIENT: &str =
    "the quotient within 8 units of roundoff of its magnitude (Baudin and Smith, A Robust Complex Division in Scilab)";
const BRANCH: &str =
    "torch.logaddexp: log(exp(a) + exp(b)), with the principal value of the logarithm (array API standard, log)";
const POLAR: &str = "torch.polar: abs * cos(angle) + abs * sin(angle) * j";
const COMPLEX: &str = "torch.complex: the parts as they are";

/// The right results for complex operands; `None` where nothing is defined.
pub(super) fn right(op: Op, format: Format, args: &[Scalar], details: &Details) -> Option<Right> {
    let args: Vec<Complex64> = args
        .iter()
        .map(|arg| match *arg {
            Scalar::Complex(value) => Some(value),
            other => as_float(other).map(Complex64::from),
        })
        .collect::<Option<_>>()?;
    let (a, b) = (*args.first()?, *args.get(1)?);
    let finite = a.is_finite() && b.is_finite();
    let plain = match details.factor {
        None | Some(Scalar::Int(1) | Scalar::Bool(true)) => true,
        Some(Scalar::Float(factor)) => factor == 1.0,
        _ => false,
    };
    match op {
        Op::Add | Op::Sub | Op::Rsub if plain => {
            let sum = match op {
                Op::Add => a + b,
                Op::Sub => a - b,
                _ => b - a,
            };
            let part = |value: f64| Set::float(format.round(value));
            Some(Right::by(PARTS, Set::Parts(Box::new(part(sum.re)), Box::new(part(sum.im)))))
        }
        Op::Mul if finite => product(format, a, b),
        Op::Div if details.mode.is_none() && finite => quotient(format, a, b),
        Op::Logaddexp if finite => {
            let largest = a.re.max(b.re);
            let [one, other] = [a, b].map(|value| (value - largest).exp());
            let sum = one + other;
            let value = sum.ln() + largest;
            let spread = one.norm() * (1.0 + a.norm()) + other.norm() * (1.0 + b.norm());
            let lost =
                format.ulp(1.0).max(8.0 * Format::DOUBLE.ulp(1.0)) * (8.0 * spread / sum.norm() + 4.0 * value.norm());
            // Near the cut either side of it is right.
            if !lost.is_finite() || lost > 0.01 || std::f64::consts::PI - value.im.abs() <= 2.0 * lost {
                return None;
            }
            let right = around(format, value, lost);
            // The logarithm has many branches; a sum of exponents may end on any of them.
            let any_branch = Set::Parts(Box::new(format.near(value.re, lost)), Box::new(Set::Free));
            Some(Right::by(BRANCH, right).disputed(any_branch))
        }
        _ => None,
    }
}

/// The complex numbers of real parts, or of a magnitude and an angle.
pub(super) fn of_parts(op: Op, format: Format, a: f64, b: f64) -> Option<Right> {
    match op {
        Op::Complex => Some(Right::by(COMPLEX, Set::Parts(Box::new(Set::float(a)), Box::new(Set::float(b))))),
        Op::Polar if a.is_finite() && b.is_finite() && b.abs() < 1e5 => {
            let part = |turned: Wide| {
                let value = (Wide::of(a) * turned).nearest();
                if a == 0.0 || b == 0.0 && value == 0.0 {
                    Set::ZERO
                } else {
                    format.near(value, 4.0 * format.ulp(value))
                }
            };
            let (re, im) = (part(Wide::of(b).cos()), part(Wide::of(b).sin()));
            Some(Right::by(POLAR, Set::Parts(Box::new(re), Box::new(im))))
        }
        _ => None,
    }
}

/// All numbers whose parts are at most this far from those of a value.
fn around(format: Format, value: Complex64, error: f64) -> Set {
    Set::Parts(Box::new(format.near(value.re, error)), Box::new(format.near(value.im, error)))
}

fn product(format: Format, a: Complex64, b: Complex64) -> Option<Right> {
    let part = |one: (f64, f64), other: (f64, f64), sign: f64| {
        let [x, y] = [one, other].map(|(p, q)| Wide::of(p) * Wide::of(q));
        let value = (x.clone() + Wide::of(sign) * y.clone()).nearest();
        let (x, y) = (x.nearest(), y.nearest());
        if x.abs().max(y.abs()) > format.largest() / 2.0 {
            return None;
        }
        let lost = format.ulp(x) + format.ulp(y);
        Some(if value == 0.0 && x == 0.0 && y == 0.0 { Set::ZERO } else { format.near(value, lost) })
    };
    let re = part((a.re, b.re), (a.im, b.im), -1.0)?;
    let im = part((a.re, b.im), (a.im, b.re), 1.0)?;
    Some(Right::by(PRODUCT, Set::Parts(Box::new(re), Box::new(im))))
}

fn quotient(format: Format, a: Complex64, b: Complex64) -> Option<Right> {
    if b.re == 0.0 && b.im == 0.0 {
        let set = if a.re == 0.0 && a.im == 0.0 { return None } else { Set::Infinite };
        return Some(Right::by(INFINITE, set));
    }
    let [ar, ai, br, bi] = [a.re, a.im, b.re, b.im].map(Wide::of);
    let norm = br.clone() * br.clone() + bi.clone() * bi.clone();
    let re = ((ar.clone() * br.clone() + ai.clone() * bi.clone()) / norm.clone()).nearest();
    let im = ((ai * br - ar * bi) / norm).nearest();
    let value = Complex64::new(re, im);
    let magnitude = value.re.abs().max(value.im.abs());
    if magnitude > format.largest() / 4.0 {
        return None;
    }
    // An operand that is subnormal has fewer digits on the way.
    let least = [a.re, a.im, b.re, b.im].into_iter().map(f64::abs).filter(|part| *part > 0.0).fold(f64::MAX, f64::min);
    if least < format.smallest_normal() / format.ulp(1.0) || magnitude < format.smallest_normal() / format.ulp(1.0) {
        return None;
    }
    Some(Right::by(QUOTIENT, around(format, value, 8.0 * format.ulp(magnitude))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of a sum have nothing to do with each other, whatever they are.
    #[test]
    fn sums_are_those_of_the_parts() {
        let number = |re: f64, im: f64| Scalar::Complex(Complex64::new(re, im));
        let sum = |op: Op, a: Scalar, b: Scalar, result: Scalar| {
            let right = right(op, Format::DOUBLE, &[a, b], &Details::default()).expect("it is judged");
            right.set.contains(result)
        };
        let infinite = number(f64::INFINITY, 0.0);
        assert!(sum(Op::Add, infinite, infinite, infinite));
        assert!(!sum(Op::Add, infinite, infinite, number(f64::INFINITY, f64::NAN)));
        assert!(sum(Op::Sub, number(-0.0, 1.0), number(0.0, 1.0), number(-0.0, 0.0)));
        assert!(!sum(Op::Sub, number(-0.0, 1.0), number(0.0, 1.0), number(0.0, 0.0)), "the sign of a zero");
    }
}
