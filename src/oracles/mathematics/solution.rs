//! Linear equations: what is left of them at the solution is at most what Gaussian elimination, or substitution, may leave.

use super::set::{Format, as_float, as_integer};
use super::trace::Trace;
use super::view::{View, unravel};
use super::wrong_shape;
use crate::difference::MATHEMATICS;
use crate::ops::{Form, Op};
use crate::program::{Arg, Step, TensorValue, ValueRef};
use crate::tensor::{Category, Shape};
use crate::{Aspect, Difference, format};

const SOLVED: &str = "torch.linalg.solve: AX = B, or XA = B with left=False, within the residual that elimination with partial pivoting may leave: Higham, Accuracy and Stability of Numerical Algorithms, 9.3";
const SUBSTITUTED: &str = "torch.linalg.solve_triangular: AX = B, or XA = B with left=False, for the triangle of A, within the residual that substitution may leave: Higham, Accuracy and Stability of Numerical Algorithms, 8.1";
const FACTORED: &str = "torch.cholesky_solve: AX = B for the A that is the product of the factor and its adjoint, within the residual that substitution may leave: Higham, Accuracy and Stability of Numerical Algorithms, 10.1";

const BY_LU: &str = "torch.linalg.lu_solve: AX = B, or XA = B with left=False, for the A of these LU factors, or its adjoint, within the residual that substitution may leave: Higham, Accuracy and Stability of Numerical Algorithms, 9.3";

/// The largest matrix that is judged: the growth of the elements is bounded by a power of two of its size.
const LARGEST: i64 = 8;

/// The first equation that the solution does not solve.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let Operands { a, b, pivots, flags } = Operands::of(step)?;
    let flag = |at: usize| flags.get(at).is_some_and(|arg| *arg == Arg::Flag(true));
    let (reads, left, rule) = match step.op {
        Op::LinalgSolveTriangular => (Reads::Triangle { upper: flag(0), unit: flag(2) }, flag(1), SUBSTITUTED),
        Op::CholeskySolve => (Reads::Factor { upper: flag(0) }, true, FACTORED),
        Op::LinalgLuSolve => (Reads::Factors { adjoint: flag(1) }, flag(0), BY_LU),
        _ => (Reads::All, flag(0), SOLVED),
    };
    let read = [Some(a), Some(b), pivots];
    if step.form == Form::Out
        && read.into_iter().flatten().any(|value| trace.may_alias(at, value, step.out.unwrap_or(value)))
    {
        return None;
    }
    let pivots = pivots.map(|pivots| trace.before(at, pivots)).map_or(Some(Vec::new()), |pivots| {
        pivots?.values.into_iter().map(|pivot| as_integer(pivot).map(|pivot| pivot as usize)).collect()
    })?;
    let (a, b) = (trace.before(at, a)?, trace.before(at, b)?);
    let format = Format::of(result.dtype).filter(|_| result.dtype.category() == Category::Floating)?;
    if a.dtype != result.dtype || b.dtype != result.dtype {
        return None;
    }
    let (own, right) = (a.shape.sizes(), b.shape.sizes());
    let [batch_a @ .., n, m] = own else { return None };
    if n != m || *n > LARGEST || *n == 0 {
        return None;
    }
    // "B" is a vector, or a batch of vectors, by the page.
    let vector = step.op == Op::LinalgSolve
        && (right.len() == 1 || own.len() == right.len() + 1 && right == &own[..own.len() - 1]);
    let (batch_b, rows, columns) = match right {
        [batch @ .., rows] if vector => (batch, *rows, 1),
        [batch @ .., rows, columns] => (batch, *rows, *columns),
        _ => return None,
    };
    // What does not fit should have been rejected, which is for others to say.
    if *n != if left { rows } else { columns } {
        return None;
    }
    let batch = Shape::new(batch_a.to_vec()).ok()?.broadcast(&Shape::new(batch_b.to_vec()).ok()?).ok()?;
    let batch = batch.sizes().to_vec();
    let tail = if vector { vec![rows] } else { vec![rows, columns] };
    let sizes = [&batch[..], &tail].concat();
    if result.shape.sizes() != sizes {
        return Some(wrong_shape(step, result, &sizes, rule));
    }
    let whole = [&batch[..], &[rows, columns]].concat();
    let matrix = View::of(own).expanded(&[&batch[..], &[*n, *n]].concat())?;
    let right = View::of(&[batch_b, &[rows, columns]].concat()).expanded(&whole)?;
    let solution = View::of(&whole);
    let floats = |values: Vec<crate::tensor::Scalar>| values.into_iter().map(as_float).collect::<Option<Vec<f64>>>();
    let (a, b, x) = (reads.of(floats(a.values)?, *n as usize, &pivots)?, floats(b.values)?, floats(result.scalars())?);
    if a.iter().chain(&b).chain(&x).any(|value| !value.is_finite()) || x.len() != solution.count() {
        return None;
    }
    let matrices = a.chunks((n * n) as usize);
    if matrices.into_iter().any(|matrix| is_singular(matrix.to_vec(), *n as usize)) {
        return None;
    }
    let largest = |values: &[f64]| values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let (most_a, most_x) = (largest(&a), largest(&x));
    let size = *n as f64;
    let growth = size * size * size * 8.0 * size.exp2();
    let error =
        growth * (format.ulp(1.0) * (most_a * most_x + largest(&b)) + format.smallest() * (1.0 + most_a + most_x));
    if growth * most_a.max(1.0) * most_x.max(1.0) > format.largest() {
        return None;
    }
    for number in 0..solution.count() {
        let index = unravel(&whole, number);
        let (batch, place) = index.split_at(batch.len());
        let element =
            |view: &View, values: &[f64], row: i64, column: i64| values[view.place(&[batch, &[row, column]].concat())];
        let term = |inner: i64| {
            let (row, column) = (place[0], place[1]);
            if left {
                element(&matrix, &a, row, inner) * element(&solution, &x, inner, column)
            } else {
                element(&solution, &x, row, inner) * element(&matrix, &a, inner, column)
            }
        };
        let product: f64 = (0..*n).map(term).sum();
        let wanted = element(&right, &b, place[0], place[1]);
        if (product - wanted).abs() > error {
            let sides = if left { "A @ X" } else { "X @ A" };
            return Some(Difference {
                value: step.name.clone(),
                aspect: Aspect::Values,
                by: format!("{MATHEMATICS}{rule}"),
                expected: format!("{sides} at {index:?} within {error:e} of {wanted}: {}", format::call(step)),
                observed: format!("{product}"),
            });
        }
    }
    None
}

/// The tensors of equations, by their roles.
struct Operands<'a> {
    a: ValueRef,
    b: ValueRef,
    /// The rows that the rows of A were exchanged with.
    pivots: Option<ValueRef>,
    flags: &'a [Arg],
}

impl Operands<'_> {
    fn of(step: &Step) -> Option<Operands<'_>> {
        Some(match &step.args[..] {
            [Arg::Tensor(a), Arg::Tensor(pivots), Arg::Tensor(b), flags @ ..] => {
                Operands { a: *a, b: *b, pivots: Some(*pivots), flags }
            }
            [Arg::Tensor(b), Arg::Tensor(a), flags @ ..] if step.op == Op::CholeskySolve => {
                Operands { a: *a, b: *b, pivots: None, flags }
            }
            [Arg::Tensor(a), Arg::Tensor(b), flags @ ..] => Operands { a: *a, b: *b, pivots: None, flags },
            _ => return None,
        })
    }
}

/// What an operation reads of the matrices that it is given.
#[derive(Clone, Copy)]
enum Reads {
    All,
    /// The elements on one side of the diagonal, which may be taken for ones.
    Triangle {
        upper: bool,
        unit: bool,
    },
    /// The same as a factor of the matrix, which is the product of it and its adjoint.
    Factor {
        upper: bool,
    },
    /// Two factors of the matrix with its rows exchanged: the lower one, whose diagonal is ones, and the upper one.
    Factors {
        adjoint: bool,
    },
}

impl Reads {
    /// The matrices of the equations.
    fn of(self, elements: Vec<f64>, size: usize, pivots: &[usize]) -> Option<Vec<f64>> {
        let Reads::Factors { adjoint } = self else { return Some(self.of_one(elements, size)) };
        let matrices = elements.chunks(size * size).zip(pivots.chunks(size));
        let whole = matrices.map(|(factors, pivots)| multiplied(factors, pivots, size, adjoint));
        Some(whole.collect::<Option<Vec<_>>>()?.concat())
    }

    /// Those of one triangle.
    fn of_one(self, mut elements: Vec<f64>, size: usize) -> Vec<f64> {
        let (Reads::Triangle { upper, .. } | Reads::Factor { upper }) = self else { return elements };
        let unit = matches!(self, Reads::Triangle { unit: true, .. });
        for (at, element) in elements.iter_mut().enumerate() {
            let (row, column) = (at / size % size, at % size);
            if row == column && unit {
                *element = 1.0;
            } else if row != column && upper != (row < column) {
                *element = 0.0;
            }
        }
        if matches!(self, Reads::Triangle { .. }) {
            return elements;
        }
        let product = |factor: &[f64], at: usize| -> f64 {
            let (row, column) = (at / size, at % size);
            let term = |inner: usize| {
                if upper {
                    factor[inner * size + row] * factor[inner * size + column]
                } else {
                    factor[row * size + inner] * factor[column * size + inner]
                }
            };
            (0..size).map(term).sum()
        };
        let whole = elements.chunks(size * size);
        whole.flat_map(|factor| (0..size * size).map(|at| product(factor, at)).collect::<Vec<_>>()).collect()
    }
}

/// The matrix of two factors, with its rows exchanged back, or its transpose.
fn multiplied(factors: &[f64], pivots: &[usize], size: usize, adjoint: bool) -> Option<Vec<f64>> {
    let lower = |row: usize, column: usize| if row == column { 1.0 } else { factors[row * size + column] };
    let product = |row: usize, column: usize| {
        (0..=row.min(column)).map(|inner| lower(row, inner) * factors[inner * size + column]).sum()
    };
    let mut rows: Vec<Vec<f64>> = (0..size).map(|row| (0..size).map(|column| product(row, column)).collect()).collect();
    for (row, pivot) in pivots.iter().enumerate().rev() {
        rows.swap(row, pivot.checked_sub(1).filter(|pivot| *pivot < size)?);
    }
    let at = |at: usize| if adjoint { rows[at % size][at / size] } else { rows[at / size][at % size] };
    Some((0..size * size).map(at).collect())
}

/// Returns whether a matrix has no inverse, as far as elimination in float64 tells: then there is no one solution.
fn is_singular(mut matrix: Vec<f64>, size: usize) -> bool {
    let most = matrix.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    for step in 0..size {
        let rows = step..size;
        let magnitude = |row: usize| matrix[row * size + step].abs();
        let Some(pivot) = rows.max_by(|one, other| magnitude(*one).total_cmp(&magnitude(*other))) else { return true };
        if magnitude(pivot) <= 1e-12 * most {
            return true;
        }
        for column in 0..size {
            matrix.swap(step * size + column, pivot * size + column);
        }
        for row in step + 1..size {
            let factor = matrix[row * size + step] / matrix[step * size + step];
            for column in step..size {
                matrix[row * size + column] -= factor * matrix[step * size + column];
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::{input, shaped, step, tensor};
    use crate::ops::Op;
    use crate::program::{Arg, Input, Outcome, Program, Reply, StepOutcome, Value};
    use crate::tensor::{DType, Shape};

    #[test]
    fn factors_are_of_the_matrix_with_its_rows_exchanged() {
        // [[1, 9/2], [2, 1]], whose rows exchanged are [[1, 0], [1/2, 1]] times [[2, 1], [0, 4]].
        let of = |name: &str, sizes: &[i64], values: &[f64]| {
            let (shape, data) = shaped(DType::Float64, sizes, values);
            Input { shape, data, ..input(name, DType::Float64, values, false) }
        };
        let is_right = |pivots: &[f64], b: &[f64], left: bool, adjoint: bool| {
            let right: &[i64] = if left { &[2, 1] } else { &[1, 2] };
            let pivots = input("p", DType::Int32, pivots, false);
            let inputs = vec![of("lu", &[2, 2], &[2.0, 1.0, 0.5, 4.0]), pivots, of("b", right, b)];
            let flags = vec![Arg::Flag(left), Arg::Flag(adjoint)];
            let program = Program { inputs, steps: vec![step("r", Op::LinalgLuSolve, &[0, 1, 2], flags)] };
            let Outcome::Value(Value::Tensor(mut solution)) = tensor(DType::Float64, &[1.0, 2.0], 3).outcome else {
                panic!("a tensor")
            };
            (solution.shape, solution.strides) = (Shape::new(right.to_vec()).unwrap(), None);
            let steps = vec![StepOutcome::of(Outcome::Value(Value::Tensor(solution)))];
            judge(&program, &Reply { steps, inputs: Vec::new() }).is_empty()
        };
        let all = [
            ([10.0, 4.0], true, false),
            ([5.0, 6.5], true, true),
            ([5.0, 6.5], false, false),
            ([10.0, 4.0], false, true),
        ];
        for (b, left, adjoint) in all {
            assert!(is_right(&[2.0, 2.0], &b, left, adjoint), "{b:?} {left} {adjoint}");
            assert!(!is_right(&[1.0, 2.0], &b, left, adjoint), "no rows are exchanged: {b:?} {left} {adjoint}");
            assert!(!is_right(&[2.0, 2.0], &b, left, !adjoint), "the adjoint: {b:?} {left} {adjoint}");
        }
    }
}
