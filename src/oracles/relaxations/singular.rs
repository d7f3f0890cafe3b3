//! Matrices whose singular values are close to a tolerance, to each other on both sides of it, or to zero.

use num_complex::Complex64;

use crate::ops::{Family, Form, Op};
use crate::program::{Arg, Outcome};
use crate::relaxations::tracker::{Scene, TensorState};
use crate::tensor::element::Element;
use crate::tensor::{DType, Layout, Scalar, Shape};

/// The most rounds of rotations. Some six are enough.
const ROUNDS: usize = 40;

/// The singular values of a matrix, row by row, the largest first: the lengths of its columns once they are turned until any
/// two are orthogonal (one-sided Jacobi method; Golub and Van Loan, Matrix Computations, 8.6).
pub(crate) fn singular_values(matrix: &[Complex64], rows: usize, columns: usize) -> Vec<f64> {
    if rows < columns {
        let adjoint: Vec<Complex64> =
            (0..rows * columns).map(|at| matrix[at % rows * columns + at / rows].conj()).collect();
        return singular_values(&adjoint, columns, rows);
    }
    // Scaled, so that no square is beyond a float.
    let scale = matrix.iter().map(|element| element.norm()).fold(0.0, f64::max);
    if scale == 0.0 || !scale.is_finite() {
        return vec![scale; columns];
    }
    let column = |at: usize| (0..rows).map(|row| matrix[row * columns + at] / scale).collect();
    let mut turned: Vec<Vec<Complex64>> = (0..columns).map(column).collect();
    let square = |one: &[Complex64]| one.iter().map(Complex64::norm_sqr).sum::<f64>();
    for _ in 0..ROUNDS {
        let mut done = true;
        for first in 0..columns {
            for second in first + 1..columns {
                let (before, after) = turned.split_at_mut(second);
                let (one, other) = (&mut before[first], &mut after[0]);
                let (a, b) = (square(one), square(other));
                let product: Complex64 = one.iter().zip(&*other).map(|(one, other)| one.conj() * other).sum();
                let length = product.norm();
                if length <= 1e-17 * (a * b).sqrt() || length <= 1e-36 {
                    continue;
                }
                done = false;
                let (turn, slant) = (product.conj() / length, (b - a) / (2.0 * length));
                let tangent = slant.signum() / (slant.abs() + slant.hypot(1.0));
                let cosine = tangent.hypot(1.0).recip();
                for (one, other) in one.iter_mut().zip(other) {
                    let (p, q) = (*one, *other * turn);
                    (*one, *other) = ((p - q * tangent) * cosine, (p * tangent + q) * cosine);
                }
            }
        }
        if done {
            break;
        }
    }
    let mut lengths: Vec<f64> = turned.iter().map(|column| square(column).sqrt() * scale).collect();
    lengths.sort_by(|one, other| other.total_cmp(one));
    lengths
}

/// The Hermitian matrix of which this is the lower half.
pub(crate) fn completed(matrix: &[Complex64], size: usize) -> Vec<Complex64> {
    let element = |at: usize| match (at / size, at % size) {
        (row, column) if row > column => matrix[at],
        (row, column) if row < column => matrix[column * size + row].conj(),
        _ => Complex64::from(matrix[at].re),
    };
    (0..size * size).map(element).collect()
}

/// The singular values of a matrix, and the tolerance for them.
pub(crate) struct Spectrum {
    pub values: Vec<f64>,
    pub threshold: f64,
    /// How far off a singular value may be that an implementation has.
    pub error: f64,
}

impl Spectrum {
    /// Returns whether rounding decides which singular values are above the tolerance, or they are extremes.
    pub fn is_close(&self) -> bool {
        // Of these a square may be beyond the dtype.
        if self.values.first().is_some_and(|largest| *largest > 1e30 || (*largest > 0.0 && *largest < 1e-30)) {
            return true;
        }
        let relative = if self.threshold.is_finite() { self.threshold.abs() * self.precision() } else { 0.0 };
        self.values.iter().any(|value| {
            let distance = (value - self.threshold).abs();
            distance < self.error + relative || (self.values[0] > 0.0 && distance == 0.0)
        })
    }

    /// The precision of the singular values.
    fn precision(&self) -> f64 {
        self.values.first().filter(|largest| **largest > 0.0).map_or(0.0, |largest| self.error / largest)
    }

    /// Returns whether what is lost of the singular values above the tolerance is magnified, or a small distance from those
    /// below it is divided by.
    fn is_weak(&self) -> bool {
        let largest = self.values.first().copied().unwrap_or(0.0);
        let kept = self.values.iter().copied().rfind(|value| *value > self.threshold);
        let left = self.values.iter().copied().find(|value| *value <= self.threshold).unwrap_or(0.0);
        kept.is_some_and(|kept| kept * 100.0 < largest || kept * kept * 16.0 < largest || kept - left < 0.01 * largest)
    }
}

/// The matrices and tolerances of a step that decomposes matrices: `None` where the tensors do not fit, or are not known.
/// `find` tells the dtype, the shape and the elements of a tensor.
pub(crate) fn spectra(
    args: &[Arg],
    find: impl Fn(crate::program::ValueRef) -> Option<(DType, Shape, Vec<Scalar>)>,
) -> Option<Vec<Spectrum>> {
    let [Arg::Tensor(matrices), atol, rtol, Arg::Flag(hermitian)] = args else { return None };
    let (dtype, shape, elements) = find(*matrices)?;
    let [own @ .., rows, columns] = shape.sizes() else { return None };
    if *hermitian && rows != columns {
        return None;
    }
    let tolerance = |arg: &Arg| match arg {
        Arg::Tensor(value) => find(*value).map(|(dtype, shape, elements)| Some((dtype, shape, elements))),
        _ => Some(None),
    };
    let (atol, rtol) = (tolerance(atol)?, tolerance(rtol)?);
    let own = Shape::new(own.to_vec()).ok()?;
    let batch = [&atol, &rtol].into_iter().flatten().try_fold(own.clone(), |all, (_, shape, _)| all.broadcast(shape));
    let batch = batch.ok()?;
    let spread = |shape: &Shape| -> Option<Vec<usize>> {
        Some(Layout::contiguous(shape.clone()).expand(&batch)?.positions().collect())
    };
    let places = |of: &Option<(DType, Shape, Vec<Scalar>)>| -> Option<Option<Vec<f64>>> {
        let Some((_, shape, elements)) = of else { return Some(None) };
        let number = |at: usize| elements.get(at).map(|element| f64::from_scalar(*element));
        Some(Some(spread(shape)?.into_iter().map(number).collect::<Option<_>>()?))
    };
    let (atol, rtol) = (places(&atol)?, places(&rtol)?);
    let [rows, columns] = [rows, columns].map(|size| *size as usize);
    let elements: Vec<Complex64> = elements.into_iter().map(Complex64::from_scalar).collect();
    let eps = match dtype {
        DType::Float32 | DType::Complex64 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    };
    let single = |matrix: &[Complex64]| match hermitian {
        true => singular_values(&completed(matrix, rows), rows, columns),
        false => singular_values(matrix, rows, columns),
    };
    let count = rows * columns;
    let own: Vec<Vec<f64>> = match count {
        0 => vec![Vec::new(); own.numel()],
        count => elements.chunks(count).map(single).collect(),
    };
    let spectrum = |(at, which): (usize, usize)| {
        let values = own.get(which)?.clone();
        let largest = values.first().copied().unwrap_or(0.0);
        let absolute = atol.as_ref().map_or(0.0, |values| values[at]);
        let relative = match &rtol {
            Some(values) => values[at],
            None if absolute > 0.0 => 0.0,
            None => eps * rows.max(columns) as f64,
        };
        let scaled = relative * largest;
        let threshold = if scaled.is_nan() || absolute < scaled { scaled } else { absolute };
        // Half of the default tolerance, so that a matrix without full rank has singular values that are taken for zeros.
        let error = 0.5 * eps * rows.max(columns) as f64 * largest;
        Some(Spectrum { values, threshold, error })
    };
    spread(&shape_before(&shape)?)?.into_iter().enumerate().map(spectrum).collect()
}

/// The shape of a batch of matrices.
fn shape_before(shape: &Shape) -> Option<Shape> {
    Shape::new(shape.sizes().get(..shape.rank().checked_sub(2)?)?.to_vec()).ok()
}

/// The matrices of the last step, if it decomposes some and was accepted.
fn decomposed<'a>(scene: Scene<'a>) -> Option<&'a TensorState> {
    let step = scene.last().filter(|step| step.op.decomposes())?;
    let Some(Arg::Tensor(matrices)) = step.args.first() else { return None };
    scene.find(*matrices)
}

/// Returns whether elements of an operand of the last step are not known here: it was resized, or turned in place.
fn is_turned(scene: Scene) -> bool {
    let turns = |step: &&crate::program::Step| step.form == Form::InPlace && step.op.info().family() == Family::Views;
    let last = scene.last();
    scene
        .steps
        .iter()
        .filter(turns)
        .any(|turned| last.is_some_and(|last| last.uses().any(|used| turned.target() == Some(used))))
}

pub(crate) fn endless_matrices(scene: Scene) -> bool {
    let finite = |number: Scalar| Complex64::from_scalar(number).is_finite();
    decomposed(scene).is_some_and(|known| is_turned(scene) || !known.tensor.elements().all(finite))
}

pub(crate) fn close_tolerances(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let accepted = matches!(outcome, Some(Outcome::Value(_)));
    let Some(step) = scene.last().filter(|step| accepted && step.op.decomposes()) else { return false };
    let known = |value| {
        let known = scene.find(value)?;
        Some((known.tensor.dtype, known.tensor.shape.clone(), known.tensor.elements().collect()))
    };
    let Some(spectra) = spectra(&step.args, known) else { return true };
    spectra.iter().any(|spectrum| spectrum.is_close() || (step.op == Op::LinalgPinv && spectrum.is_weak()))
}

/// Returns whether the last step is a rank of more than five dimensions into its own matrix.
pub(crate) fn freed_sizes(scene: Scene) -> bool {
    let Some(step) = scene.last().filter(|step| step.op == Op::LinalgMatrixRank && step.form == Form::Out) else {
        return false;
    };
    let Some(Arg::Tensor(matrices)) = step.args.first() else { return false };
    let [Some(matrices), Some(out)] = [Some(*matrices), step.out].map(|value| scene.find(value?)) else { return false };
    matrices.place().id == out.place().id && matrices.tensor.shape.rank() > 5
}
