//! The singular values and vectors of a matrix, as eigenvalues and eigenvectors: those of the Hermitian matrix that has it
//! and its adjoint beside the diagonal, and zeros elsewhere, are the singular values with either sign, and zeros.

use num_complex::Complex64;

use super::super::budget::charge_product;

/// The most rounds of rotations. Some six are enough.
const ROUNDS: usize = 40;

/// The eigenvalues and eigenvectors of a matrix of `rows` and `columns` with its adjoint.
pub(super) struct Dilation {
    rows: usize,
    columns: usize,
    /// The singular values, the largest first.
    pub singular: Vec<f64>,
    /// The eigenvalues; those that the sizes alone make zero are zero.
    values: Vec<f64>,
    /// The eigenvectors, in the columns of a matrix.
    vectors: Vec<Complex64>,
}

impl Dilation {
    pub fn of(matrix: &[Complex64], rows: usize, columns: usize) -> Dilation {
        let size = rows + columns;
        // A matrix without elements may have a side of any length, and has nothing to rotate.
        if matrix.is_empty() {
            return Dilation { rows, columns, singular: Vec::new(), values: Vec::new(), vectors: Vec::new() };
        }
        let mut whole = vec![Complex64::ZERO; size * size];
        for (at, element) in matrix.iter().enumerate() {
            let (row, column) = (at / columns, rows + at % columns);
            (whole[row * size + column], whole[column * size + row]) = (*element, element.conj());
        }
        let (mut values, vectors) = rotated(whole, size);
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|&one, &other| values[other].abs().total_cmp(&values[one].abs()));
        let count = rows.min(columns);
        order[2 * count..].iter().for_each(|&at| values[at] = 0.0);
        let mut singular: Vec<f64> = order[..2 * count].iter().step_by(2).map(|&at| values[at].abs()).collect();
        singular.sort_by(|one, other| other.total_cmp(one));
        Dilation { rows, columns, singular, values, vectors }
    }

    /// One over each eigenvalue above the threshold, zero for the others.
    fn inverted(&self, threshold: f64) -> Vec<f64> {
        // What was rounded is compared as the singular values are.
        let kept = |value: f64| value != 0.0 && self.rounded(value) > threshold;
        self.values.iter().map(|&value| if kept(value) { value.recip() } else { 0.0 }).collect()
    }

    /// The singular value next to the magnitude of an eigenvalue.
    fn rounded(&self, value: f64) -> f64 {
        let distance = |one: &f64| (one - value.abs()).abs();
        self.singular.iter().copied().min_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap_or(0.0)
    }

    /// The pseudoinverse, of the singular values above the threshold.
    pub fn pseudoinverse(&self, threshold: f64) -> Vec<Complex64> {
        let (inverted, size) = (self.inverted(threshold), self.rows + self.columns);
        charge_product(&[self.rows, self.columns, size]);
        let element = |at: usize| {
            let (row, column) = (self.rows + at / self.rows, at % self.rows);
            let of = |place: usize, which: usize| self.vectors[place * size + which];
            (0..size).map(|which| of(row, which) * of(column, which).conj() * inverted[which]).sum()
        };
        (0..self.rows * self.columns).map(element).collect()
    }

    /// The gradient of the matrix for that of its pseudoinverse: the derivative of a function of a Hermitian matrix has the
    /// divided differences of the function at its eigenvalues (Higham, Functions of Matrices, 3.2).
    pub fn slope(&self, threshold: f64, gradient: &[Complex64]) -> Vec<Complex64> {
        let (inverted, size) = (self.inverted(threshold), self.rows + self.columns);
        if gradient.is_empty() {
            return Vec::new();
        }
        let mut whole = vec![Complex64::ZERO; size * size];
        for (at, element) in gradient.iter().enumerate() {
            let (row, column) = (self.rows + at / self.rows, at % self.rows);
            (whole[row * size + column], whole[column * size + row]) = (*element, element.conj());
        }
        let adjoint: Vec<Complex64> =
            (0..size * size).map(|at| self.vectors[at % size * size + at / size].conj()).collect();
        let mut inner = multiplied(&multiplied(&adjoint, &whole, size), &self.vectors, size);
        for (at, element) in inner.iter_mut().enumerate() {
            let (one, other) = (at / size, at % size);
            let quotient = |kept: usize, left: usize| inverted[kept] / (self.values[kept] - self.values[left]);
            *element *= match (inverted[one] != 0.0, inverted[other] != 0.0) {
                (true, true) => -inverted[one] * inverted[other],
                (true, false) => quotient(one, other),
                (false, true) => quotient(other, one),
                (false, false) => 0.0,
            };
        }
        let outer = multiplied(&multiplied(&self.vectors, &inner, size), &adjoint, size);
        let place = |at: usize| at / self.columns * size + self.rows + at % self.columns;
        (0..self.rows * self.columns).map(|at| outer[place(at)]).collect()
    }
}

/// The product of two square matrices.
fn multiplied(a: &[Complex64], b: &[Complex64], size: usize) -> Vec<Complex64> {
    charge_product(&[size, size, size]);
    let element = |at: usize| (0..size).map(|inner| a[at / size * size + inner] * b[inner * size + at % size]).sum();
    (0..size * size).map(element).collect()
}

/// Jacobi's method: the eigenvalues of a Hermitian matrix, and its eigenvectors, by rotations each of which makes one
/// element beside the diagonal zero (Golub and Van Loan, Matrix Computations, 8.5).
fn rotated(mut matrix: Vec<Complex64>, size: usize) -> (Vec<f64>, Vec<Complex64>) {
    let one = |at: usize| if at / size == at % size { Complex64::ONE } else { Complex64::ZERO };
    let mut vectors: Vec<Complex64> = (0..size * size).map(one).collect();
    let least = matrix.iter().map(|element| element.norm()).fold(0.0, f64::max) * f64::EPSILON * 1e-2;
    for _ in 0..ROUNDS {
        charge_product(&[size, size, size]);
        let mut done = true;
        for row in 0..size {
            for column in row + 1..size {
                let element = matrix[row * size + column];
                // So is NaN left alone.
                if element.norm() > least {
                    rotate(&mut matrix, &mut vectors, size, [row, column]);
                    done = false;
                }
            }
        }
        if done {
            break;
        }
    }
    ((0..size).map(|at| matrix[at * size + at].re).collect(), vectors)
}

fn rotate(matrix: &mut [Complex64], vectors: &mut [Complex64], size: usize, [row, column]: [usize; 2]) {
    let element = matrix[row * size + column];
    let (length, turn) = (element.norm(), element.conj() / element.norm());
    let [first, second] = [row, column].map(|at| matrix[at * size + at].re);
    let slant = (second - first) / (2.0 * length);
    let tangent = slant.signum() / (slant.abs() + slant.hypot(1.0));
    let cosine = tangent.hypot(1.0).recip();
    let sine = tangent * cosine;
    let turned = |one: Complex64, other: Complex64| (one * cosine - other * sine, one * sine + other * cosine);
    for at in 0..size {
        let [one, other] = [at * size + row, at * size + column];
        (matrix[one], matrix[other]) = turned(matrix[one], matrix[other] * turn);
        (vectors[one], vectors[other]) = turned(vectors[one], vectors[other] * turn);
    }
    for at in 0..size {
        let [one, other] = [row * size + at, column * size + at];
        (matrix[one], matrix[other]) = turned(matrix[one], matrix[other] * turn.conj());
    }
    for at in [row * size + column, column * size + row] {
        matrix[at] = Complex64::ZERO;
    }
    matrix[row * size + row] = Complex64::from(first - tangent * length);
    matrix[column * size + column] = Complex64::from(second + tangent * length);
}
