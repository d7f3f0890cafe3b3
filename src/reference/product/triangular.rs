//! `linalg_solve_triangular` and `cholesky_solve`: equations whose matrices are triangles, of which the other half is not
//! read (ATen/native/BatchLinearAlgebra.cpp).

use num_complex::Complex64;

use crate::error::Rejection;
use crate::tensor::{Buffer, DType, Layout, Scalar};

use super::super::autograd;
use super::super::budget::charge_product;
use super::super::graph::Kept;
use super::super::iterator;
use super::super::machine::{Call, Machine, Result, Slot, Tensor};
use super::super::write;
use super::matrix::shape_of;
use super::multiply::{adjoint, product, transposed};
use super::output::check_autograd;
use super::solve::{Sizes, by_columns, expanded, has_lapack, last_two, wide};

/// `linalg_solve_triangular`: the X of AX = B, or of XA = B, for the triangle of A; batches broadcast.
pub(in super::super) fn linalg_solve_triangular(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [a, b] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    let (upper, left, unit) = (call.flag(2)?, call.flag(3)?, call.flag(4)?);
    check_autograd(machine, call, &[&a, &b])?;
    let sizes = Sizes::infer("linalg.solve_triangular", a.shape().sizes(), b.shape().sizes(), left)?;
    let layout = by_columns(shape_of(sizes.solution.clone())?);
    let (whole_a, whole_b) = (expanded(&a, &sizes.matrices)?, expanded(&b, &sizes.solution)?);
    if let Some(target) = call.target()? {
        write::resize_output(machine, target, layout.clone(), 1)?;
        check_output(machine.tensor(target), &a, &whole_b)?;
    }
    check_triangular_dtypes(&a, &b)?;
    let triangle = Triangle { upper, unit };
    let solution = triangle.solve(machine, &whole_a, &whole_b, left);
    let values = write::elements(machine, &solution, b.dtype);
    let result = write::deliver_in(machine, call.target()?, layout, values);
    let numbers = [upper, left, unit].map(Scalar::Bool).to_vec();
    let kept = Kept { tensors: vec![Some(a.clone()), Some(solution)], numbers, ..Kept::of(call.op) };
    autograd::record_formula(machine, result, &[Some(&a), Some(&b)], kept, triangular_backward);
    autograd::keep_result(machine, result, "LinalgSolveTriangular");
    Ok(Slot::Tensor(result))
}

/// Rejects an `out=` that the right side cannot be copied into, or that has another dtype.
fn check_output(out: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    if out.layout.is_contiguous() || transposed(out).layout.is_contiguous() {
        iterator::check_partial_overlap(out, b)?;
    }
    check_triangular_dtypes(a, b)?;
    if out.dtype != a.dtype {
        return Err(Rejection::ScalarType { expected: a.dtype, found: out.dtype }.into());
    }
    iterator::check_internal_overlap(out)
}

/// Rejects a dtype that LAPACK does not have, then two dtypes. libtorch has no rejection of these, and converts B;
/// `linalg_solve` has one, whose words it is rejected in.
fn check_triangular_dtypes(a: &Tensor, b: &Tensor) -> Result<()> {
    check_kernel("triangular_solve_cpu", a.dtype)?;
    if a.dtype != b.dtype {
        return Err(Rejection::SolveDtypes { function: "linalg.solve_triangular", a: a.dtype, b: b.dtype }.into());
    }
    Ok(())
}

/// `cholesky_solve`: the X of AX = B for the A whose Cholesky factor is given; batches broadcast.
pub(in super::super) fn cholesky_solve(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [b, factor] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    let upper = call.flag(2)?;
    check_autograd(machine, call, &[&b, &factor])?;
    if let Some(target) = call.target()? {
        let out = machine.tensor(target).dtype;
        if !b.dtype.can_cast_to(out) {
            return Err(Rejection::CastableOut { function: "cholesky_solve", input: b.dtype, out }.into());
        }
    }
    let sizes = infer_cholesky(&b, &factor)?;
    check_kernel("cholesky_solve_cpu", b.dtype)?;
    let triangle = Triangle { upper, unit: false };
    let (whole_b, whole) = (expanded(&b, &sizes.solution)?, expanded(&factor, &sizes.matrices)?);
    let solution = triangle.solve_product(machine, &whole, &whole_b);
    let layout = by_columns(whole_b.shape().clone());
    if let Some(target) = call.target()? {
        write::prepare(machine, Some(target), &layout.shape)?;
        iterator::check_internal_overlap(machine.tensor(target))?;
    }
    let values = write::elements(machine, &solution, b.dtype);
    let result = write::deliver_in(machine, call.target()?, layout, values);
    let kept = Kept {
        tensors: vec![Some(factor.clone()), Some(solution)],
        numbers: vec![Scalar::Bool(upper)],
        ..Kept::of(call.op)
    };
    autograd::record_formula(machine, result, &[Some(&b), Some(&factor)], kept, cholesky_backward);
    autograd::keep_operands(machine, result, &[call.tensor(0)?]);
    autograd::keep_result(machine, result, "CholeskySolve");
    Ok(Slot::Tensor(result))
}

/// The order of faults: ranks, dtypes, a matrix that is not square, sizes, the batches.
fn infer_cholesky(b: &Tensor, factor: &Tensor) -> Result<Sizes> {
    for (name, tensor) in [("b", b), ("u", factor)] {
        let rank = tensor.shape().rank();
        if rank < 2 {
            return Err(Rejection::CholeskyRank { name, rank }.into());
        }
    }
    if b.dtype != factor.dtype {
        return Err(Rejection::CholeskyDtypes { b: b.dtype, a: factor.dtype }.into());
    }
    let (a, b_sizes) = (last_two(factor.shape().sizes()), last_two(b.shape().sizes()));
    if a[0] != a[1] {
        return Err(Rejection::CholeskySquare { rows: a[0], columns: a[1] }.into());
    }
    if a[1] != b_sizes[0] {
        return Err(Rejection::CholeskySizes { a, b: b_sizes }.into());
    }
    Sizes::broadcast(factor.shape().sizes(), b.shape().sizes())
}

/// Rejects a dtype that LAPACK does not have.
fn check_kernel(kernel: &'static str, dtype: DType) -> Result<()> {
    if has_lapack(dtype) { Ok(()) } else { Err(Rejection::NoKernel { kernel, dtype }.into()) }
}

/// The half of a matrix that is read.
#[derive(Clone, Copy)]
pub(super) struct Triangle {
    pub upper: bool,
    /// True if the diagonal is taken for ones.
    pub unit: bool,
}

impl Triangle {
    /// The X of AX = B, or of XA = B, for batches of one length, in double precision, row-major.
    pub fn solve(self, machine: &mut Machine, a: &Tensor, b: &Tensor, left: bool) -> Tensor {
        if !left {
            let other = Triangle { upper: !self.upper, ..self };
            let solved = other.solve(machine, &transposed(a), &transposed(b), true);
            let turned = transposed(&solved);
            return write::restride(machine, &turned, Layout::contiguous(turned.shape().clone()));
        }
        let values = machine.eval(wide(a.dtype), || self.solved(machine, a, b));
        machine.allocate(Layout::contiguous(b.shape().clone()), values)
    }

    /// The X of AX = B where A is the product of the triangle and its adjoint.
    fn solve_product(self, machine: &mut Machine, a: &Tensor, b: &Tensor) -> Tensor {
        let adjoint = adjoint(machine, a);
        let other = Triangle { upper: !self.upper, ..self };
        if self.upper {
            let between = other.solve(machine, &adjoint, b, true);
            self.solve(machine, a, &between, true)
        } else {
            let between = self.solve(machine, a, b, true);
            other.solve(machine, &adjoint, &between, true)
        }
    }

    fn solved(self, machine: &Machine, a: &Tensor, b: &Tensor) -> Buffer {
        let [rows, columns] = last_two(b.shape().sizes()).map(|size| size as usize);
        let (matrices, mut right): (Vec<Complex64>, Vec<Complex64>) = (machine.elements(a), machine.elements(b));
        if !right.is_empty() {
            for (matrix, right) in matrices.chunks(rows * rows).zip(right.chunks_mut(rows * columns)) {
                self.substitute(matrix, right, rows);
            }
        }
        Buffer::of(wide(a.dtype), right)
    }

    /// Substitution: each row of the solution from those that are known.
    fn substitute(self, matrix: &[Complex64], right: &mut [Complex64], size: usize) {
        let columns = right.len() / size;
        charge_product(&[size, size, columns]);
        for step in 0..size {
            let row = if self.upper { size - 1 - step } else { step };
            let known = if self.upper { row + 1..size } else { 0..row };
            for column in 0..columns {
                let mut value = right[row * columns + column];
                for inner in known.clone() {
                    value -= matrix[row * size + inner] * right[inner * columns + column];
                }
                right[row * columns + column] = if self.unit { value } else { value / matrix[row * size + row] };
            }
        }
    }

    /// The matrices with zeros where the triangle is not read.
    pub fn of(self, machine: &mut Machine, tensor: &Tensor) -> Tensor {
        let dtype = wide(tensor.dtype);
        let values = machine.eval(dtype, || {
            let mut values: Vec<Complex64> = machine.elements(tensor);
            let size = tensor.shape().sizes().last().map_or(1, |size| *size as usize).max(1);
            for (at, value) in values.iter_mut().enumerate() {
                let (row, column) = (at / size % size, at % size);
                let kept = if self.upper { row < column } else { row > column };
                if !(kept || (row == column && !self.unit)) {
                    *value = Complex64::ZERO;
                }
            }
            Buffer::of(dtype, values)
        });
        machine.allocate(Layout::contiguous(tensor.shape().clone()), values)
    }
}

/// B receives the solution for what arrived with the adjoint of A, A the triangle of the product of that and X.
fn triangular_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let [Some(a), Some(x)] = &kept.tensors[..] else { return Ok(vec![None, None]) };
    let [upper, left, unit] = [0, 1, 2].map(|at| kept.numbers[at] == Scalar::Bool(true));
    let a = expanded(a, &matrices_for(x, a))?;
    let adjoint_a = adjoint(machine, &a);
    let to_b = Triangle { upper: !upper, unit }.solve(machine, &adjoint_a, gradient, left);
    let adjoint_x = adjoint(machine, x);
    let (first, second) = if left { (&to_b, &adjoint_x) } else { (&adjoint_x, &to_b) };
    let whole = product(machine, first, second, Scalar::Int(-1));
    Ok(vec![Some(Triangle { upper, unit }.of(machine, &whole)), Some(to_b)])
}

/// B receives the solution for what arrived, the factor the triangle of the product of what both make of X and itself.
/// libtorch's gradient of the factor is that of all its elements, of which the other half was not read.
fn cholesky_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let [Some(factor), Some(x)] = &kept.tensors[..] else { return Ok(vec![None, None]) };
    let triangle = Triangle { upper: kept.numbers[0] == Scalar::Bool(true), unit: false };
    let whole = expanded(factor, &matrices_for(x, factor))?;
    let to_b = triangle.solve_product(machine, &whole, gradient);
    let adjoint_x = adjoint(machine, x);
    let half = product(machine, &to_b, &adjoint_x, Scalar::Int(-1));
    let sum = with_adjoint(machine, &half);
    let read = triangle.of(machine, &whole);
    let (first, second) = if triangle.upper { (&read, &sum) } else { (&sum, &read) };
    let to_factor = product(machine, first, second, Scalar::Int(1));
    Ok(vec![Some(to_b), Some(triangle.of(machine, &to_factor))])
}

/// The sums of the matrices and their adjoints.
fn with_adjoint(machine: &mut Machine, tensor: &Tensor) -> Tensor {
    let adjoint = adjoint(machine, tensor);
    let values = machine.eval(tensor.dtype, || {
        let [one, other]: [Vec<Complex64>; 2] = [tensor, &adjoint].map(|part| machine.elements(part));
        Buffer::of(tensor.dtype, one.into_iter().zip(other).map(|(a, b)| a + b))
    });
    machine.allocate(Layout::contiguous(tensor.shape().clone()), values)
}

/// The sizes of the matrices for this solution.
fn matrices_for(x: &Tensor, a: &Tensor) -> Vec<i64> {
    let (sizes, own) = (x.shape().sizes(), last_two(a.shape().sizes()));
    [&sizes[..sizes.len() - 2], &own].concat()
}
