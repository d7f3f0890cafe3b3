//! `linalg_lu_solve`: equations whose matrices are given as their LU factors and the rows that were exchanged
//! (ATen/native/BatchLinearAlgebra.cpp).

use num_complex::Complex64;

use crate::error::Rejection;
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

use super::super::autograd;
use super::super::graph::Kept;
use super::super::iterator;
use super::super::machine::{Call, Machine, Result, Slot, Tensor, TensorId};
use super::super::write;
use super::cross::check_floating;
use super::matrix::shape_of;
use super::multiply::{adjoint, product};
use super::output::check_autograd;
use super::solve::{Sizes, by_columns, expanded, has_lapack, last_two, wide};
use super::triangular::Triangle;

/// `linalg_lu_solve`: the X of AX = B, or of XA = B, for the A, or its adjoint, whose factors are given; batches broadcast.
pub(in super::super) fn linalg_lu_solve(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [lu, pivots, b] = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
    let (left, adjoint) = (call.flag(3)?, call.flag(4)?);
    check_autograd(machine, call, &[&lu, &pivots, &b])?;
    if pivots.node.is_some() {
        return Err(Rejection::FixedArgument { name: "linalg_lu_solve", argument: "pivots" }.into());
    }
    let sizes = infer(&lu, &pivots, &b, left)?;
    let shape = shape_of(sizes.solution.clone())?;
    let layout = if left { by_columns(shape) } else { Layout::contiguous(shape) };
    let factors = Factors::of(machine, &lu, &pivots, &sizes)?;
    let whole = expanded(&b, &sizes.solution)?;
    let whole = write::restride(machine, &whole, Layout::contiguous(whole.shape().clone()));
    if let Some(target) = call.target()? {
        prepare(machine, target, call.tensor(2)?, &layout, lu.dtype)?;
    }
    check_kernel(machine, &pivots, &lu, &layout.shape)?;
    if let Some(target) = call.target()? {
        iterator::check_internal_overlap(machine.tensor(target))?;
    }
    let solution = factors.solve(machine, &whole, left, adjoint);
    let values = write::elements(machine, &solution, b.dtype);
    let result = write::deliver_in(machine, call.target()?, layout, values);
    let kept = Kept {
        tensors: vec![Some(lu.clone()), Some(pivots.clone()), Some(solution)],
        numbers: [left, adjoint].map(Scalar::Bool).to_vec(),
        ..Kept::of(call.op)
    };
    autograd::record_formula(machine, result, &[Some(&lu), Some(&b)], kept, backward);
    autograd::keep_result(machine, result, "LinalgLuSolve");
    Ok(Slot::Tensor(result))
}

/// The order of faults: dtypes, matrices, sizes, the number of pivots, their batch, the batches (the meta function).
fn infer(lu: &Tensor, pivots: &Tensor, b: &Tensor, left: bool) -> Result<Sizes> {
    check_floating("torch.linalg.lu_solve", lu.dtype)?;
    if lu.dtype != b.dtype {
        return Err(Rejection::LuDtypes { lu: lu.dtype, b: b.dtype }.into());
    }
    if pivots.dtype != DType::Int32 {
        return Err(Rejection::PivotDtype.into());
    }
    let (own, right) = (lu.shape().sizes(), b.shape().sizes());
    Sizes::check_square("torch.linalg.lu_solve", own)?;
    Sizes::check("linalg.lu_solve", own, right, left)?;
    let given = pivots.shape().sizes();
    match given.last() {
        None => return Err(Rejection::NoDimensions { dim: -1 }.into()),
        Some(count) if *count != last_two(own)[1] => return Err(Rejection::PivotCount.into()),
        Some(_) if given != &own[..own.len() - 1] => {
            return Err(Rejection::PivotBatch { pivots: given.to_vec() }.into());
        }
        Some(_) => {}
    }
    Sizes::broadcast(own, right)
}

/// Checks the dtype of `out=`, gives it its layout, and checks its overlap where it is solved for in this memory itself.
fn prepare(machine: &mut Machine, target: TensorId, b: TensorId, layout: &Layout, dtype: DType) -> Result<()> {
    let got = machine.tensor(target).dtype;
    if got != dtype {
        return Err(Rejection::OutDtype { expected: dtype, got }.into());
    }
    write::resize_output(machine, target, layout.clone(), 1)?;
    if machine.tensor(target).layout.strides == layout.strides && layout.shape.numel() > 0 {
        iterator::check_internal_overlap(machine.tensor(target))?;
        iterator::check_partial_overlap(machine.tensor(target), machine.tensor(b))?;
    }
    Ok(())
}

/// Rejects, where there is anything to solve for, pivots that are no rows, then a dtype that LAPACK does not have.
fn check_kernel(machine: &Machine, pivots: &Tensor, lu: &Tensor, solution: &Shape) -> Result<()> {
    if solution.numel() == 0 {
        return Ok(());
    }
    let rows = lu.shape().sizes().last().copied().unwrap_or(0);
    let known: Vec<i32> = machine.known(pivots).unwrap_or_default();
    if known.iter().any(|pivot| *pivot < 1) {
        return Err(Rejection::PivotRange { bound: "greater or equal to 1" }.into());
    }
    if known.iter().any(|pivot| i64::from(*pivot) > rows) {
        return Err(Rejection::PivotRange { bound: "smaller or equal to LU.size(-2)" }.into());
    }
    match has_lapack(lu.dtype) {
        true => Ok(()),
        false => Err(Rejection::NoKernel { kernel: "linalg.lu_solve_cpu", dtype: lu.dtype }.into()),
    }
}

const LOWER: Triangle = Triangle { upper: false, unit: true };
const UPPER: Triangle = Triangle { upper: true, unit: false };

/// The factors of matrices, one for each solution.
struct Factors {
    /// The lower factor, whose diagonal is ones, below the diagonal, and the upper one.
    both: Tensor,
    /// For each row of each matrix the row that it was exchanged with, from 1 on.
    pivots: Vec<usize>,
}

impl Factors {
    fn of(machine: &mut Machine, lu: &Tensor, pivots: &Tensor, sizes: &Sizes) -> Result<Factors> {
        let whole = expanded(lu, &sizes.matrices)?;
        let both = write::restride(machine, &whole, Layout::contiguous(whole.shape().clone()));
        let pivots = expanded(pivots, &sizes.matrices[..sizes.matrices.len() - 1])?;
        let pivots: Vec<i32> = if machine.has_elements() { machine.elements(&pivots) } else { Vec::new() };
        Ok(Factors { both, pivots: pivots.into_iter().map(|pivot| pivot as usize).collect() })
    }

    /// The solution as row-major matrices in double precision. That from the right is the adjoint of one from the left.
    fn solve(&self, machine: &mut Machine, b: &Tensor, left: bool, adjoint: bool) -> Tensor {
        if left {
            return self.solve_left(machine, b, adjoint);
        }
        let turned = super::multiply::adjoint(machine, b);
        let solved = self.solve_left(machine, &turned, !adjoint);
        let turned = super::multiply::adjoint(machine, &solved);
        write::restride(machine, &turned, Layout::contiguous(turned.shape().clone()))
    }

    fn solve_left(&self, machine: &mut Machine, b: &Tensor, adjoint: bool) -> Tensor {
        if adjoint {
            let turned = super::multiply::adjoint(machine, &self.both);
            let between = Triangle { upper: false, ..UPPER }.solve(machine, &turned, b, true);
            let between = Triangle { upper: true, ..LOWER }.solve(machine, &turned, &between, true);
            return self.exchanged(machine, &between, true);
        }
        let exchanged = self.exchanged(machine, b, false);
        let between = LOWER.solve(machine, &self.both, &exchanged, true);
        UPPER.solve(machine, &self.both, &between, true)
    }

    /// Matrices with their rows exchanged, in the order of the rows or back again.
    fn exchanged(&self, machine: &mut Machine, tensor: &Tensor, back: bool) -> Tensor {
        let dtype = wide(tensor.dtype);
        let [rows, columns] = last_two(tensor.shape().sizes()).map(|size| size as usize);
        let values = machine.eval(dtype, || {
            let mut values: Vec<Complex64> = machine.elements(tensor);
            if !values.is_empty() {
                for (matrix, pivots) in values.chunks_mut(rows * columns).zip(self.pivots.chunks(rows)) {
                    for step in 0..rows {
                        let row = if back { rows - 1 - step } else { step };
                        (0..columns).for_each(|at| matrix.swap(row * columns + at, (pivots[row] - 1) * columns + at));
                    }
                }
            }
            Buffer::of(dtype, values)
        });
        machine.allocate(Layout::contiguous(tensor.shape().clone()), values)
    }
}

/// B receives the solution for what arrived with the adjoint of A. A receives the product of that and X, of which the lower
/// factor takes what is below the diagonal, and the upper one the rest (`linalg_lu_solve_LU`).
fn backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let [Some(lu), Some(pivots), Some(x)] = &kept.tensors[..] else { return Ok(vec![None, None]) };
    let [left, adjoint_of] = [0, 1].map(|at| kept.numbers[at] == Scalar::Bool(true));
    let solution = x.shape().sizes().to_vec();
    let matrices = [&solution[..solution.len() - 2], &last_two(lu.shape().sizes())].concat();
    let factors = Factors::of(machine, lu, pivots, &Sizes { solution, matrices })?;
    let to_b = factors.solve(machine, gradient, left, !adjoint_of);
    // The gradient of the matrix that stands in the equation, and of A, if that is its adjoint.
    let (first, second) = if left == adjoint_of { (x, &to_b) } else { (&to_b, x) };
    let (first, second) = if left {
        let second = adjoint(machine, second);
        (first.clone(), second)
    } else {
        let first = adjoint(machine, first);
        (first, second.clone())
    };
    let of_a = product(machine, &first, &second, Scalar::Int(-1));
    let of_a = factors.exchanged(machine, &of_a, false);
    let (upper, lower) = (UPPER.of(machine, &factors.both), LOWER.of(machine, &factors.both));
    let (upper, lower) = (adjoint(machine, &upper), adjoint(machine, &lower));
    let of_lower = product(machine, &of_a, &upper, Scalar::Int(1));
    // The diagonal of the lower factor, which is not stored, is ones.
    let (off_diagonal, diagonal) = (product(machine, &lower, &of_a, Scalar::Int(1)), of_a);
    let parts = [LOWER.of(machine, &of_lower), UPPER.of(machine, &off_diagonal), UPPER.of(machine, &diagonal)];
    let (dtype, shape) = (wide(lu.dtype), diagonal.shape().clone());
    let values = machine.eval(dtype, || {
        let [below, above, more]: [Vec<Complex64>; 3] = parts.map(|part| machine.elements(&part));
        Buffer::of(dtype, below.into_iter().zip(above).zip(more).map(|((below, above), more)| below + above + more))
    });
    let to_lu = machine.allocate(Layout::contiguous(shape), values);
    Ok(vec![Some(to_lu), Some(to_b)])
}
