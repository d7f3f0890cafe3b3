//! The closeness of elements: bit for bit, within units in the last place, within what the order of a sum can lose.

use crate::modes::Mode;
use crate::ops::{Compare, Family, Kernel, Op};
use crate::program::{Arg, Program, Reply, TensorValue};
use crate::relaxations::Elements;
use crate::tensor::{Buffer, DType, Scalar};

/// The bound on the precision that a step can lose: sums round their terms, however small the result is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The largest magnitude among what is summed.
    pub size: f64,
    /// The number of terms in a sum, at most.
    pub terms: f64,
}

impl Extent {
    pub(super) const NONE: Extent = Extent { size: 0.0, terms: 1.0 };

    /// That of step `at`: of its operands; of everything there is where gradients flow; of products where there are some.
    pub(super) fn of(program: &Program, reply: &Reply, at: usize) -> Extent {
        let step = &program.steps[at];
        let info = step.op.info();
        let inputs = program.inputs.len();
        // A view, or a copy, is as close as what it is made of.
        if let (Family::Views, Some(made_of)) = (info.family(), step.uses().next())
            && let Some(made_at) = made_of.value.checked_sub(inputs).filter(|made_at| *made_at < at)
        {
            return Extent::of(program, reply, made_at);
        }
        let measure = |value: usize| -> (f64, usize) {
            let largest = |scalars: Vec<Scalar>| scalars.into_iter().map(magnitude).fold(0.0, f64::max);
            match (program.inputs.get(value), value.checked_sub(inputs).and_then(|step| reply.steps.get(step))) {
                (Some(input), _) => {
                    let elements = Buffer::from_bytes(input.dtype, &input.data).map(|buffer| buffer.scalars());
                    (largest(elements.unwrap_or_default()), input.shape.numel())
                }
                (None, Some(step)) => {
                    let tensors = step.outcome.tensors().iter();
                    tensors.fold((0.0, 0), |(size, count): (f64, usize), tensor| {
                        (size.max(largest(tensor.scalars())), count.max(tensor.shape.numel()))
                    })
                }
                (None, None) => (0.0, 0),
            }
        };
        // What is written to meanwhile is as large as that.
        let written = program.steps[..at].iter().enumerate().filter(|(_, step)| step.target().is_some());
        let most = written.map(|(step, _)| measure(inputs + step).0).fold(0.0, f64::max);
        let measure = |value: usize| (measure(value).0.max(most), measure(value).1);
        let measured: Vec<(f64, usize)> = match info.family() {
            Family::Autograd => (0..inputs + at).map(measure).collect(),
            _ => step.uses().map(|used| measure(used.value)).collect(),
        };
        let count = measured.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let made = reply.steps.get(at).map_or(&[][..], |step| step.outcome.tensors());
        let made = made.iter().map(|tensor| tensor.shape.numel()).max().unwrap_or(1).max(1);
        // What is multiplied with a factor has an error that is, too.
        let number = |arg: &Arg| if let Arg::Number(number) = arg { magnitude(*number).max(1.0) } else { 1.0 };
        let scaled = info.takes_alpha() || info.family() == Family::Products;
        let factor: f64 = if scaled { step.args.iter().map(number).product() } else { 1.0 };
        let sizes = measured.iter().map(|(size, _)| *size * factor);
        match info.family() {
            Family::Products => Extent { size: sizes.map(|size| size.max(1.0)).product(), terms: count.max(1) as f64 },
            Family::Autograd => Extent { size: sizes.fold(0.0, f64::max), terms: count.max(1) as f64 },
            // A running sum has as many elements as its operand, and as many terms at most, as has what is normalized.
            _ if matches!(info.kernel, Kernel::Scan | Kernel::Normalization) || step.op == Op::Logcumsumexp => {
                Extent { size: sizes.fold(0.0, f64::max), terms: count.max(1) as f64 }
            }
            _ => Extent { size: sizes.fold(0.0, f64::max), terms: count.div_ceil(made).max(1) as f64 },
        }
    }

    /// The most by which two orders of summation can differ, in units of the precision: each of n - 1 additions rounds
    /// by half a unit of the sum of the magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 4.2), and
    /// a few more steps go before and after it. What is summed in a wider dtype is rounded only there.
    fn loss(self, dtype: DType) -> f64 {
        self.additions(dtype) * self.terms * self.size
    }

    /// The same relative to the sum of the magnitudes.
    fn additions(self, dtype: DType) -> f64 {
        let wider = matches!(dtype, DType::Float16 | DType::Bfloat16);
        4.0 + if wider { 0.0 } else { (self.terms - 1.0) / 2.0 }
    }
}

/// The magnitude of a number that is finite, else 0.
fn magnitude(number: Scalar) -> f64 {
    let size = match number {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Int(value) => (value as f64).abs(),
        Scalar::Float(value) => value.abs(),
        Scalar::Complex(value) => value.re.abs().max(value.im.abs()),
    };
    if size.is_finite() { size } else { 0.0 }
}

/// Returns whether two tensors of one dtype have the same elements, as this mode compares them.
pub(super) fn same_values(mode: Mode, extent: Extent, wanted: &TensorValue, got: &TensorValue) -> bool {
    first_other(mode, extent, wanted, got).is_none()
}

/// Returns the row-major position of the first element that differs.
pub(super) fn first_other(mode: Mode, extent: Extent, wanted: &TensorValue, got: &TensorValue) -> Option<usize> {
    let dtype = wanted.dtype;
    let close = |a: Scalar, b: Scalar| {
        same_bits(a, b)
            || is_open(mode.open, a, b, dtype, extent)
            || match mode.compare {
                Compare::Bits => false,
                Compare::Ulps(ulps) => near(a, b, |a, b| within_ulps(a, b, dtype, ulps)),
                Compare::Tolerance => near(a, b, |a, b| within_tolerance(a, b, dtype, extent)),
            }
    };
    let (wanted, got) = (wanted.scalars(), got.scalars());
    let missing = (wanted.len() != got.len()).then_some(wanted.len().min(got.len()));
    wanted.iter().zip(&got).position(|(a, b)| !close(*a, *b)).or(missing)
}

/// Returns whether two elements are both right where a step leaves some open. What is open in a lesser degree is open in a
/// greater one.
fn is_open(open: Elements, a: Scalar, b: Scalar, dtype: DType, extent: Extent) -> bool {
    let infinite = |scalar: Scalar| match scalar {
        Scalar::Float(value) => !value.is_finite(),
        Scalar::Complex(value) => !value.re.is_finite() || !value.im.is_finite(),
        _ => false,
    };
    let zeros = |a: f64, b: f64| same(a, b) || (a == 0.0 && b == 0.0);
    open == Elements::Any
        || (open >= Elements::EitherZero && near(a, b, zeros))
        || (open >= Elements::EitherSign && near(a, b, |a, b| same(a.abs(), b.abs())))
        || (open >= Elements::Parts && parts_agree(a, b, dtype, 8.0))
        || (open >= Elements::Magnified && parts_agree(a, b, dtype, 4096.0))
        || (open >= Elements::Bounded && near(a, b, |a, b| within_tolerance(a, b, dtype, extent)))
        || (open >= Elements::Overflow && (infinite(a) || infinite(b)))
        || (open >= Elements::Coarse && near(a, b, |a, b| within_tolerance(a, b, DType::Float16, Extent::NONE)))
}

/// Returns whether both parts of two complex numbers are within so many units of precision of the greatest part.
fn parts_agree(a: Scalar, b: Scalar, dtype: DType, units: f64) -> bool {
    let (Scalar::Complex(a), Scalar::Complex(b)) = (a, b) else { return false };
    let (digits, lowest) = precision(dtype);
    let greatest = [a.re, a.im, b.re, b.im]
        .into_iter()
        .filter(|part| part.is_finite())
        .fold(0.0, |most, part| part.abs().max(most));
    let most = (units * greatest * 2f64.powi(1 - digits)).max(4.0 * f64::from(lowest).exp2());
    [(a.re, b.re), (a.im, b.im)].into_iter().all(|(a, b)| same(a, b) || (a - b).abs() <= most)
}

fn near(a: Scalar, b: Scalar, near: impl Fn(f64, f64) -> bool) -> bool {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => near(a, b),
        (Scalar::Complex(a), Scalar::Complex(b)) => near(a.re, b.re) && near(a.im, b.im),
        _ => false,
    }
}

/// Within what the order of a sum can change: a few units of the dtype's precision, relative to the larger value, with
/// an absolute floor for sums that cancel. In double precision both sides round every term.
fn within_tolerance(a: f64, b: f64, dtype: DType, extent: Extent) -> bool {
    let (digits, _) = precision(dtype);
    let units: f64 = if digits == 53 { 256.0 } else { 16.0 };
    let most = (units.max(extent.additions(dtype)) * a.abs().max(b.abs()).max(1.0)).max(extent.loss(dtype));
    // Nothing is near an infinity.
    let finite = a.is_finite() && b.is_finite();
    same(a, b) || (finite && (a - b).abs() <= most * 2f64.powi(1 - digits))
}

/// At most so many numbers of the dtype apart. What is not finite, and the sign of a zero, must be the same.
fn within_ulps(a: f64, b: f64, dtype: DType, ulps: u32) -> bool {
    if same(a, b) || !a.is_finite() || !b.is_finite() || (a == 0.0 && b == 0.0) {
        return same(a, b);
    }
    let (digits, lowest) = precision(dtype);
    // The distance between neighbours at the larger of the two.
    let exponent = a.abs().max(b.abs()).log2().floor() as i32;
    (a - b).abs() <= f64::from(ulps) * f64::from((exponent + 1 - digits).max(lowest)).exp2()
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// The binary digits of the dtype's numbers, and the exponent of its smallest one.
fn precision(dtype: DType) -> (i32, i32) {
    match dtype {
        DType::Float16 => (11, -24),
        DType::Bfloat16 => (8, -133),
        DType::Float32 | DType::Complex64 => (24, -149),
        _ => (53, -1074),
    }
}

/// Equal bit for bit, but that any NaN equals any NaN.
pub fn same_bits(a: Scalar, b: Scalar) -> bool {
    let float = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => float(a, b),
        (Scalar::Complex(a), Scalar::Complex(b)) => float(a.re, b.re) && float(a.im, b.im),
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_more_may_differ_by_more() {
        let off = 1.0 + 40.0 * f64::from(f32::EPSILON);
        let extent = |size, terms| Extent { size, terms };
        assert!(!within_tolerance(1.0, off, DType::Float32, Extent::NONE));
        assert!(within_tolerance(1.0, off, DType::Float32, extent(10.0, 1.0)), "it cancelled");
        assert!(within_tolerance(1.0, off, DType::Float32, extent(1.0, 8.0)), "every term was rounded");
        assert!(!within_tolerance(1.0, f64::INFINITY, DType::Float32, extent(1.0, 8.0)));
    }

    #[test]
    fn units_in_the_last_place_are_those_of_the_dtype() {
        let next = f64::from(1f32.next_up());
        assert!(within_ulps(1.0, next, DType::Float32, 1));
        assert!(!within_ulps(1.0, next, DType::Float64, 1));
        assert!(!within_ulps(1.0, 1.0 + 2.5 * (next - 1.0), DType::Float32, 2));
        assert!(within_ulps(0.0, 5e-324, DType::Float64, 1), "neighbours among the subnormal numbers");
        assert!(!within_ulps(0.0, -0.0, DType::Float64, 9), "the sign of a zero counts");
        assert!(!within_ulps(f64::MAX, f64::INFINITY, DType::Float64, 9));
        assert!(within_ulps(f64::NAN, -f64::NAN, DType::Float64, 0));
    }
}
