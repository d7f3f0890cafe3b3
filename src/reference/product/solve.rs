//! `linalg_solve`: linear equations (`_linalg_solve_ex`).

use num_complex::Complex64;

use crate::error::Rejection;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::super::autograd;
use super::super::budget::charge_product;
use super::super::graph::Kept;
use super::super::iterator;
use super::super::machine::{Call, Machine, Result, Slot, Stop, Tensor};
use super::super::write;
use super::cross::check_floating;
use super::matrix::shape_of;
use super::multiply::{adjoint, product, transposed, with_layout};
use super::output::check_autograd;

/// `linalg_solve`: the X of AX = B, or of XA = B; batches broadcast.
pub(in super::super) fn linalg_solve(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [a, b] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    let left = call.flag(2)?;
    let refuse = |stop| match stop {
        // The operator underneath gives its own name.
        Stop::Rejected(Rejection::OutNeedsGrad { .. }) => Rejection::OutNeedsGrad { name: "_linalg_solve_ex" }.into(),
        other => other,
    };
    check_autograd(machine, call, &[&a, &b]).map_err(refuse)?;
    let equations = Equations::infer(&a, &b, left)?;
    if let Some(target) = call.target()? {
        let got = machine.tensor(target).dtype;
        if got != b.dtype {
            return Err(Rejection::OutDtype { expected: b.dtype, got }.into());
        }
        write::resize_output(machine, target, equations.layout(), 1)?;
        check_kernel(&a)?;
        iterator::check_internal_overlap(machine.tensor(target))?;
        // The right side is copied into it, or into a tensor in between if its strides are others, as those of vectors are. It
        // has been resized if it is the same tensor.
        if !equations.vector && machine.tensor(target).layout.strides == equations.layout().strides {
            iterator::check_partial_overlap(machine.tensor(target), machine.tensor(call.tensor(1)?))?;
        }
    }
    equations.check_solvable(machine, &a)?;
    let solution = equations.solve(machine, &a, &b)?;
    let values = write::elements(machine, &solution, b.dtype);
    let result = write::deliver_in(machine, call.target()?, equations.layout(), values);
    if call.out.is_none() {
        // It was there before it was solved for, which counts as a write.
        machine.set_version(machine.tensor(result).storage, 1);
    }
    let numbers = [left, equations.vector].map(Scalar::Bool).to_vec();
    let kept = Kept { tensors: vec![Some(a.clone()), Some(solution)], numbers, ..Kept::of(call.op) };
    autograd::record_formula(machine, result, &[Some(&a), Some(&b)], kept, solve_backward);
    autograd::keep_result(machine, result, "LinalgSolveEx");
    Ok(Slot::Tensor(result))
}

/// Equations that fit.
struct Equations {
    left: bool,
    /// True if B holds vectors.
    vector: bool,
    /// The sizes of A, and of the solution as matrices.
    sizes: Sizes,
    /// The shape of the solution.
    shape: Shape,
}

impl Equations {
    /// The order of faults: dtypes, ranks, sizes, the batches, vectors on the wrong side.
    fn infer(a: &Tensor, b: &Tensor, left: bool) -> Result<Equations> {
        check_floating("linalg.solve", a.dtype)?;
        if a.dtype != b.dtype {
            return Err(Rejection::SolveDtypes { function: "linalg.solve", a: a.dtype, b: b.dtype }.into());
        }
        let (sizes_a, sizes_b) = (a.shape().sizes(), b.shape().sizes());
        let vector = sizes_b.len() == 1 || (!sizes_a.is_empty() && sizes_b == &sizes_a[..sizes_a.len() - 1]);
        let matrices: Vec<i64> = sizes_b.iter().copied().chain(vector.then_some(1)).collect();
        let sizes = Sizes::infer("linalg.solve", sizes_a, &matrices, left)?;
        if !left && vector {
            return Err(Rejection::SolveVector.into());
        }
        let solution = &sizes.solution;
        let shape = shape_of(solution[..solution.len() - usize::from(vector)].to_vec())?;
        Ok(Equations { left, vector, sizes, shape })
    }

    /// Returns the layout of the solution: that of LAPACK, even where the last two dimensions are no matrix but a batch
    /// of vectors.
    fn layout(&self) -> Layout {
        match self.left && self.shape.rank() >= 2 {
            true => by_columns(self.shape.clone()),
            false => Layout::contiguous(self.shape.clone()),
        }
    }

    /// Rejects what LAPACK rejects once `out=` is resized: a dtype, then a matrix that has no inverse.
    fn check_solvable(&self, machine: &Machine, a: &Tensor) -> Result<()> {
        check_kernel(a)?;
        // An A that many share is factored once, so its own batch tells which of them has no inverse.
        match self.singular(machine, a) {
            Some(batch) if a.shape().rank() > 2 => Err(Rejection::SingularInBatch { batch }.into()),
            Some(_) => Err(Rejection::Singular.into()),
            None => Ok(()),
        }
    }

    /// The solution as row-major matrices in double precision.
    fn solve(&self, machine: &mut Machine, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        let b = if self.vector { as_matrices(b) } else { b.clone() };
        let (a, b) = (expanded(a, &self.sizes.matrices)?, expanded(&b, &self.sizes.solution)?);
        let (a, b) = if self.left { (a, b) } else { (transposed(&a), transposed(&b)) };
        let solved = solved(machine, &a, &b);
        let solution = if self.left { solved } else { transposed(&solved) };
        Ok(write::restride(machine, &solution, Layout::contiguous(solution.shape().clone())))
    }

    /// The first matrix of a batch that has no inverse.
    fn singular(&self, machine: &Machine, a: &Tensor) -> Option<i64> {
        if !machine.has_elements() {
            return None;
        }
        let size = last_two(&self.sizes.matrices)[1] as usize;
        let values: Vec<Complex64> = machine.elements(a);
        if values.is_empty() {
            return None;
        }
        let mut matrices = values.chunks(size * size);
        matrices.position(|matrix| eliminate(&mut matrix.to_vec(), size, &mut [], 0).is_none()).map(|at| at as i64)
    }
}

/// The sizes of equations whose batches are broadcast.
pub(super) struct Sizes {
    pub solution: Vec<i64>,
    pub matrices: Vec<i64>,
}

impl Sizes {
    /// The order of faults: a vector for A, a matrix that is not square, a vector for B, sizes, the batches.
    pub fn infer(function: &'static str, a: &[i64], b: &[i64], left: bool) -> Result<Sizes> {
        Sizes::check_square(function, a)?;
        Sizes::check(function, a, b, left)?;
        Sizes::broadcast(a, b)
    }

    /// Rejects what is no square matrix (`squareCheckInputs`).
    pub fn check_square(function: &'static str, a: &[i64]) -> Result<()> {
        if a.len() < 2 {
            return Err(Rejection::SolveRank { function, name: "A" }.into());
        }
        let [rows, columns] = last_two(a);
        if rows != columns {
            return Err(Rejection::SolveSquare { function, rows, columns }.into());
        }
        Ok(())
    }

    /// Rejects right sides of square matrices that are no matrices, or that they do not fit (`checkInputsSolver`).
    pub fn check(function: &'static str, a: &[i64], b: &[i64], left: bool) -> Result<()> {
        let [rows, columns] = last_two(a);
        if b.len() < 2 {
            return Err(Rejection::SolveRank { function, name: "B" }.into());
        }
        let own = last_two(b);
        if if left { rows != own[0] } else { columns != own[1] } {
            let equation = if left { "AX = B" } else { "XA = B" };
            return Err(Rejection::SolveSizes { function, equation, a: [rows, columns], b: own }.into());
        }
        Ok(())
    }

    /// Those of A and B, which are matrices.
    pub fn broadcast(a: &[i64], b: &[i64]) -> Result<Sizes> {
        let batch = |sizes: &[i64]| shape_of(sizes[..sizes.len() - 2].to_vec());
        let batch = batch(b)?.broadcast(&batch(a)?)?;
        let with = |sizes: &[i64]| [batch.sizes(), &last_two(sizes)].concat();
        Ok(Sizes { solution: with(b), matrices: with(a) })
    }
}

pub(super) fn last_two(sizes: &[i64]) -> [i64; 2] {
    [sizes[sizes.len() - 2], sizes[sizes.len() - 1]]
}

/// The layout of matrices with the columns of each together, as LAPACK has them.
pub(super) fn by_columns(shape: Shape) -> Layout {
    let mut layout = Layout::contiguous(shape);
    let [rows, _] = last_two(layout.shape.sizes());
    let rank = layout.strides.len();
    (layout.strides[rank - 2], layout.strides[rank - 1]) = (1, rows.max(1));
    layout
}

/// Rejects a dtype that LAPACK does not have, before anything is written.
fn check_kernel(a: &Tensor) -> Result<()> {
    if a.shape().numel() > 0 && matches!(a.dtype, DType::Float16 | DType::Bfloat16) {
        return Err(Rejection::NoKernel { kernel: "lu_cpu", dtype: a.dtype }.into());
    }
    Ok(())
}

/// The gradients of A and B: B receives the solution for what arrived with the adjoint of A, A the product of that and X.
fn solve_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let [Some(a), Some(x)] = &kept.tensors[..] else { return Ok(vec![None, None]) };
    let [left, vector] = [0, 1].map(|at| kept.numbers[at] == Scalar::Bool(true));
    let sizes = x.shape().sizes().to_vec();
    let own = &a.shape().sizes()[a.shape().rank() - 2..];
    let whole = expanded(a, &[&sizes[..sizes.len() - 2], own].concat())?;
    let adjoint_a = adjoint(machine, &whole);
    let arrived = if vector { as_matrices(gradient) } else { gradient.clone() };
    let to_b = if left {
        solved(machine, &adjoint_a, &arrived)
    } else {
        transposed(&solved(machine, &transposed(&adjoint_a), &transposed(&arrived)))
    };
    let adjoint_x = adjoint(machine, x);
    let (first, second) = if left { (&to_b, &adjoint_x) } else { (&adjoint_x, &to_b) };
    let to_a = product(machine, first, second, Scalar::Int(-1));
    let to_b = if vector {
        with_layout(&to_b, sizes[..sizes.len() - 1].to_vec(), to_b.layout.strides[..sizes.len() - 1].to_vec())
    } else {
        to_b
    };
    Ok(vec![Some(to_a), Some(to_b)])
}

/// Vectors as matrices of one column.
fn as_matrices(tensor: &Tensor) -> Tensor {
    let (mut sizes, mut strides) = (tensor.shape().sizes().to_vec(), tensor.layout.strides.clone());
    sizes.push(1);
    strides.push(1);
    with_layout(tensor, sizes, strides)
}

/// Matrices expanded to these sizes, which their batches broadcast to.
pub(super) fn expanded(tensor: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let layout = tensor.layout.expand(&shape_of(sizes.to_vec())?);
    Ok(Tensor { layout: layout.expect("batches broadcast"), node: None, ..tensor.clone() })
}

/// Returns whether LAPACK solves equations, and decomposes matrices, in a dtype.
pub(super) fn has_lapack(dtype: DType) -> bool {
    matches!(dtype, DType::Float32 | DType::Float64 | DType::Complex64 | DType::Complex128)
}

/// The dtype that solutions are computed in.
pub(super) fn wide(dtype: DType) -> DType {
    if dtype.category() == Category::Complex { DType::Complex128 } else { DType::Float64 }
}

/// The X of AX = B for batches of one length, in double precision, row-major.
fn solved(machine: &mut Machine, a: &Tensor, b: &Tensor) -> Tensor {
    let values = machine.eval(wide(a.dtype), || solved_elements(machine, a, b));
    machine.allocate(Layout::contiguous(b.shape().clone()), values)
}

fn solved_elements(machine: &Machine, a: &Tensor, b: &Tensor) -> Buffer {
    let rank = b.shape().rank();
    let [rows, columns] = [b.shape().sizes()[rank - 2] as usize, b.shape().sizes()[rank - 1] as usize];
    let (left, mut right): (Vec<Complex64>, Vec<Complex64>) = (machine.elements(a), machine.elements(b));
    if !right.is_empty() {
        for (matrix, right) in left.chunks(rows * rows).zip(right.chunks_mut(rows * columns)) {
            // One that has no inverse was refused when the solution was made.
            eliminate(&mut matrix.to_vec(), rows, right, columns);
        }
    }
    Buffer::of(wide(a.dtype), right)
}

/// Gauss's elimination with the largest pivot of each column; `None` where there is none but zero.
fn eliminate(a: &mut [Complex64], size: usize, b: &mut [Complex64], columns: usize) -> Option<()> {
    charge_product(&[size, size, size + columns]);
    for at in 0..size {
        let largest = (at..size).max_by(|&i, &j| a[i * size + at].l1_norm().total_cmp(&a[j * size + at].l1_norm()))?;
        if a[largest * size + at] == Complex64::ZERO {
            return None;
        }
        for column in 0..size {
            a.swap(at * size + column, largest * size + column);
        }
        for column in 0..columns {
            b.swap(at * columns + column, largest * columns + column);
        }
        for row in (0..size).filter(|&row| row != at) {
            let factor = a[row * size + at] / a[at * size + at];
            for column in at..size {
                let part = factor * a[at * size + column];
                a[row * size + column] -= part;
            }
            for column in 0..columns {
                let part = factor * b[at * columns + column];
                b[row * columns + column] -= part;
            }
        }
    }
    for at in 0..size {
        for column in 0..columns {
            b[at * columns + column] /= a[at * size + at];
        }
    }
    Some(())
}
