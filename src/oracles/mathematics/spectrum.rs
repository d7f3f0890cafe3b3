//! `linalg_matrix_rank` and `linalg_pinv`: the number of singular values above the tolerance, and the conditions that Moore
//! and Penrose have for the pseudoinverse.

use num_complex::Complex64;

use super::set::Format;
use super::trace::Trace;
use super::view::View;
use super::wrong_shape;
use crate::difference::MATHEMATICS;
use crate::ops::{Form, Op};
use crate::program::{Arg, Step, TensorValue};
use crate::relaxations::singular::{Spectrum, completed, spectra};
use crate::tensor::Shape;
use crate::tensor::element::Element;
use crate::{Aspect, Difference, format};

const COUNTED: &str = "torch.linalg.matrix_rank: the number of singular values that are greater than the tolerance, max(atol, rtol times the largest); the tolerances broadcast with the batch";
const INVERTED: &str = "torch.linalg.pinv: the Moore-Penrose conditions: XAX = X, AX and XA are symmetric, and AXA is A but for singular values within the tolerance, max(atol, rtol times the largest)";

/// The largest matrix that is judged.
const LARGEST: usize = 64;

/// The first rank, or element of a pseudoinverse, that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let rule = if step.op == Op::LinalgPinv { INVERTED } else { COUNTED };
    let [Arg::Tensor(matrices), .., Arg::Flag(hermitian)] = &step.args[..] else { return None };
    if step.form == Form::Out && step.uses().any(|used| trace.may_alias(at, used, step.out.unwrap_or(used))) {
        return None;
    }
    let own = trace.before(at, *matrices)?;
    let [batch @ .., rows, columns] = own.shape.sizes() else { return None };
    let mut wanted = Shape::new(batch.to_vec()).ok()?;
    for arg in &step.args[1..3] {
        if let Arg::Tensor(tolerance) = arg {
            wanted = wanted.broadcast(&trace.before(at, *tolerance)?.shape).ok()?;
        }
    }
    let sizes = match step.op {
        Op::LinalgPinv => [wanted.sizes(), &[*columns, *rows]].concat(),
        _ => wanted.sizes().to_vec(),
    };
    if result.shape.sizes() != sizes {
        return Some(wrong_shape(step, result, &sizes, rule));
    }
    let known = |value| trace.before(at, value).map(|known| (known.dtype, known.shape, known.values));
    let spectra = spectra(&step.args, known)?;
    let finite = |value: &Complex64| value.is_finite();
    let elements: Vec<Complex64> = own.values.iter().copied().map(Complex64::from_scalar).collect();
    if !elements.iter().all(finite) || result.scalars().len() != result.shape.numel() {
        return None;
    }
    let difference = |expected: String, observed: String| Difference {
        value: step.name.clone(),
        aspect: Aspect::Values,
        by: format!("{MATHEMATICS}{rule}"),
        expected: format!("{expected}: {}", format::call(step)),
        observed,
    };
    let sizes = [*rows, *columns].map(|size| size as usize);
    if step.op == Op::LinalgMatrixRank {
        for (number, (spectrum, rank)) in spectra.iter().zip(result.scalars()).enumerate() {
            let right = spectrum.values.iter().filter(|value| **value > spectrum.threshold).count();
            let observed = Complex64::from_scalar(rank).re;
            if !spectrum.is_close() && observed != right as f64 {
                return Some(difference(format!("{right} at {number}"), observed.to_string()));
            }
        }
        return None;
    }
    let count = sizes[0] * sizes[1];
    if count == 0 || count > LARGEST * LARGEST || sizes[0].max(sizes[1]) > LARGEST {
        return None;
    }
    let places = View::of(batch).expanded(wanted.sizes())?.places()?;
    // Half a unit in the last place of one.
    let precision = |dtype| Format::of(dtype).unwrap_or(Format::DOUBLE).ulp(1.0) / 2.0;
    let precision = precision(own.dtype).max(precision(result.dtype));
    let inverses: Vec<Complex64> = result.scalars().into_iter().map(Complex64::from_scalar).collect();
    for (number, (spectrum, inverse)) in spectra.iter().zip(inverses.chunks(count)).enumerate() {
        let matrix = &elements[places[number] * count..][..count];
        let matrix = if *hermitian { completed(matrix, sizes[0]) } else { matrix.to_vec() };
        if let Some((condition, by)) = broken(&matrix, inverse, sizes, spectrum, precision) {
            return Some(difference(format!("{condition} at {number}"), by));
        }
    }
    None
}

/// The condition that an inverse does not meet, and by how much.
fn broken(
    matrix: &[Complex64],
    inverse: &[Complex64],
    [rows, columns]: [usize; 2],
    spectrum: &Spectrum,
    precision: f64,
) -> Option<(String, String)> {
    let [own, other] = [matrix, inverse].map(|of| of.iter().map(|value| value.norm_sqr()).sum::<f64>().sqrt());
    let steps = (rows + columns) as f64;
    // What rounding may lose of a product of the matrix and its inverse. The inverse of what is next to nothing has no digits.
    let lost = 64.0 * steps * precision * (1.0 + own * other) * (1.0 + own * other);
    if spectrum.is_close() || !own.is_finite() || !other.is_finite() || lost > 0.1 {
        return None;
    }
    // Nothing is greater than NaN.
    let threshold = if spectrum.threshold.is_nan() { f64::INFINITY } else { spectrum.threshold.max(0.0) };
    let left = product(matrix, inverse, [rows, columns, rows]);
    let right = product(inverse, matrix, [columns, rows, columns]);
    let skew = |of: &[Complex64], size: usize| {
        (0..size * size).map(|at| (of[at] - of[at % size * size + at / size].conj()).norm()).fold(0.0, f64::max)
    };
    let off = |one: &[Complex64], other: &[Complex64]| {
        one.iter().zip(other).map(|(one, other)| (one - other).norm()).fold(0.0, f64::max)
    };
    let conditions = [
        ("AX symmetric", skew(&left, rows), lost),
        ("XA symmetric", skew(&right, columns), lost),
        ("XAX = X", off(&product(&right, inverse, [columns, columns, rows]), inverse), lost * other),
        ("AXA = A", off(&product(&left, matrix, [rows, rows, columns]), matrix), lost * own + threshold),
        (
            "X no larger than one over the tolerance",
            inverse.iter().map(|value| value.norm()).fold(0.0, f64::max),
            (1.0 + lost) / threshold,
        ),
    ];
    let broken = conditions.into_iter().find(|(_, found, most)| found > most)?;
    Some((format!("{} within {:e}", broken.0, broken.2), format!("{:e}", broken.1)))
}

fn product(a: &[Complex64], b: &[Complex64], [rows, inner, columns]: [usize; 3]) -> Vec<Complex64> {
    let element =
        |at: usize| (0..inner).map(|which| a[at / columns * inner + which] * b[which * columns + at % columns]).sum();
    (0..rows * columns).map(element).collect()
}
