//! Running sums and products: each element is made of all that stand before it along one dimension, and of itself.

use std::ops::{Add, Mul};

use num_complex::Complex64;

use crate::error::Rejection;
use crate::ops::Form;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::autograd::{self, conjugate};
use super::budget::charge;
use super::elementwise::check_kernel;
use super::graph::Kept;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Result, Slot, Tensor, TensorId, wrap_dim};
use super::reduction::check_differentiable;
use super::write;

/// `cumsum`.
pub(super) fn cumsum(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (operand, id, dim) = run(machine, call, &SUM)?;
    let real = operand.dtype.category() < Category::Complex;
    let kept = Kept { numbers: vec![Scalar::Int(dim as i64), Scalar::Bool(real)], ..Kept::of(call.op) };
    autograd::record_formula(machine, id, &[Some(&operand)], kept, cumsum_backward);
    Ok(Slot::Tensor(id))
}

/// `cumprod`.
pub(super) fn cumprod(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (operand, id, dim) = run(machine, call, &PRODUCT)?;
    let numbers = vec![Scalar::Int(dim as i64)];
    let kept = Kept { tensors: vec![Some(operand.clone())], numbers, ..Kept::of(call.op) };
    autograd::record_formula(machine, id, &[Some(&operand)], kept, cumprod_backward);
    autograd::keep_result(machine, id, "Cumprod");
    Ok(Slot::Tensor(id))
}

/// The step from one element to the next, in each kind of number.
struct Step {
    integer: fn(i64, i64) -> i64,
    float: fn(f64, f64) -> f64,
    complex: fn(Complex64, Complex64) -> Complex64,
}

const SUM: Step = Step { integer: i64::wrapping_add, float: Add::add, complex: Add::add };
const PRODUCT: Step = Step { integer: i64::wrapping_mul, float: Mul::mul, complex: Mul::mul };

/// Returns the operand, the result and the dimension. In place the operand is a copy of what it was.
fn run(machine: &mut Machine, call: &Call, step: &Step) -> Result<(Tensor, TensorId, usize)> {
    let mut operand = machine.tensor(call.tensor(0)?).clone();
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone())])?;
    let target = call.target()?;
    let (dim, dtype) = infer(machine, call, &operand, target)?;
    prepare(machine, call, &operand, target, dtype)?;
    check_differentiable(&operand, dtype)?;
    let shape = operand.shape().clone();
    let values = machine.eval(dtype, || {
        let elements = write::elements(machine, &operand, dtype);
        running(elements, &Lines::along(&shape, dim), step)
    });
    if call.form == Form::InPlace && operand.node.is_some() {
        let copy = write::restride(machine, &operand, Layout::contiguous(shape.clone()));
        operand = Tensor { node: operand.node, ..copy };
    }
    let id = write::deliver(machine, target, &shape, values);
    Ok((operand, id, dim))
}

/// The dimension, and the dtype of the result (`meta_func_cum_ops`).
fn infer(machine: &Machine, call: &Call, operand: &Tensor, target: Option<TensorId>) -> Result<(usize, DType)> {
    let dim = wrap_dim(call.int(1)?, operand.shape().rank())?;
    let own = if operand.dtype.category() < Category::Floating { DType::Int64 } else { operand.dtype };
    let implied = target.map(|target| machine.tensor(target).dtype);
    let dtype = call.optional_dtype(2)?.or(implied).unwrap_or(own);
    match implied.filter(|implied| *implied != dtype) {
        Some(input) if call.form == Form::InPlace => Err(Rejection::InPlaceDtype { input, output: dtype }.into()),
        Some(got) => Err(Rejection::OutDtype { expected: dtype, got }.into()),
        None => Ok((dim, dtype)),
    }
}

/// Resizes `out=`, and raises what the kernel does: a tensor without dimensions is copied, one without elements not
/// looked at.
fn prepare(machine: &mut Machine, call: &Call, operand: &Tensor, target: Option<TensorId>, dtype: DType) -> Result<()> {
    if call.form == Form::Out {
        write::prepare(machine, target, operand.shape())?;
    }
    write::warn_of_cast(machine, operand.dtype, dtype, operand.shape().numel());
    if operand.shape().rank() == 0 || operand.shape().numel() == 0 {
        return Ok(());
    }
    check_kernel(call.op, dtype)?;
    check_memory(machine, call, operand, target)
}

/// Rejects a target that overlaps itself, or in part an operand of its own dtype; others are copied first.
pub(super) fn check_memory(machine: &Machine, call: &Call, operand: &Tensor, target: Option<TensorId>) -> Result<()> {
    let Some(target) = target.map(|target| machine.tensor(target)) else { return Ok(()) };
    iterator::check_internal_overlap(target)?;
    if call.form == Form::Out && target.dtype == operand.dtype {
        iterator::check_partial_overlap(target, operand)?;
    }
    Ok(())
}

/// The elements of a tensor in lines along one dimension.
pub(super) struct Lines {
    outer: usize,
    size: usize,
    inner: usize,
}

impl Lines {
    /// Those of a shape. A tensor without dimensions is one line of one element; one without elements has no lines, whatever
    /// its other sizes are.
    pub fn along(shape: &Shape, dim: usize) -> Lines {
        if shape.numel() == 0 {
            return Lines { outer: 0, size: 0, inner: 0 };
        }
        let product = |sizes: &[i64]| sizes.iter().product::<i64>() as usize;
        match shape.sizes().get(dim) {
            Some(&size) => Lines {
                outer: product(&shape.sizes()[..dim]),
                size: size as usize,
                inner: product(&shape.sizes()[dim + 1..]),
            },
            None => Lines { outer: 1, size: 1, inner: 1 },
        }
    }

    /// The numbers of the elements of each line, row-major.
    pub fn numbers(&self) -> impl Iterator<Item = impl DoubleEndedIterator<Item = usize> + use<>> + use<> {
        let (outer, size, inner) = (self.outer, self.size, self.inner);
        charge(outer * size * inner);
        (0..outer).flat_map(move |outer| {
            (0..inner).map(move |line| (0..size).map(move |at| (outer * size + at) * inner + line))
        })
    }

    /// Folds every line from its start, and keeps what there is at each element.
    pub fn folded<T: Copy>(&self, elements: &[T], step: impl Fn(T, T) -> T) -> Vec<T> {
        let mut folded = elements.to_vec();
        for line in self.numbers() {
            let mut before: Option<T> = None;
            for at in line {
                let next = before.map_or(elements[at], |before| step(before, elements[at]));
                (folded[at], before) = (next, Some(next));
            }
        }
        folded
    }
}

/// Folds the elements of a dtype in the number that libtorch accumulates it in (`acc_type`): float64 for float32, float32
/// for the dtypes of 16 bits.
fn running(elements: Buffer, lines: &Lines, step: &Step) -> Buffer {
    let dtype = elements.dtype();
    fn all<T: Stored>(elements: &Buffer) -> Vec<T> {
        let count = Shape::new(vec![elements.len() as i64]).expect("a length");
        elements.gather(&Layout::contiguous(count))
    }
    match dtype.category() {
        Category::Bool => elements,
        Category::Integral => {
            let folded = lines.folded(&all::<i64>(&elements), step.integer);
            Buffer::of(dtype, folded)
        }
        Category::Floating => {
            let narrow = matches!(dtype, DType::Float16 | DType::Bfloat16);
            let round = |number: f64| if narrow { f64::from(number as f32) } else { number };
            let folded = lines.folded(&all::<f64>(&elements), |a, b| round((step.float)(a, b)));
            Buffer::of(dtype, folded)
        }
        Category::Complex => {
            let folded = lines.folded(&all::<Complex64>(&elements), step.complex);
            Buffer::of(dtype, folded)
        }
    }
}

/// The dimension that was kept.
fn kept_dim(kept: &Kept) -> usize {
    kept.real(0) as usize
}

/// `cumsum_backward`: the sum of all that arrived at an element and after it.
fn cumsum_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let shape = gradient.shape().clone();
    // The upstream gradient is converted to the dtype of the operand first.
    if kept.numbers[1] == Scalar::Bool(true) {
        write::warn_of_cast(machine, gradient.dtype, DType::Float64, shape.numel());
    }
    let sums = machine.eval(gradient.dtype, || {
        let mut sums = machine.elements::<Complex64>(gradient);
        for line in Lines::along(&shape, kept_dim(kept)).numbers() {
            let mut after = Complex64::default();
            for at in line.rev() {
                after += sums[at];
                sums[at] = after;
            }
        }
        Buffer::of(gradient.dtype, sums)
    });
    Ok(vec![Some(machine.allocate(Layout::contiguous(shape), sums))])
}

/// `cumprod_backward`: each element is a factor of the products from it on, whose other factors stand before and after
/// it. So that it may be zero, nothing is divided by it.
fn cumprod_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let Some(operand) = &kept.tensors[0] else { return Ok(vec![None]) };
    write::warn_of_cast(machine, gradient.dtype, operand.dtype, gradient.shape().numel());
    let (operand, shape) = (conjugate(machine, operand), operand.shape().clone());
    let received = machine.eval(operand.dtype, || {
        let lines = Lines::along(&shape, kept_dim(kept));
        if [&operand, gradient].iter().all(|tensor| tensor.dtype.category() < Category::Complex) {
            let (factors, arrived) = (machine.elements::<f64>(&operand), machine.elements::<f64>(gradient));
            let received = shares(&factors, &arrived, &lines, 1.0);
            Buffer::of(operand.dtype, received)
        } else {
            let (factors, arrived) = (machine.elements::<Complex64>(&operand), machine.elements::<Complex64>(gradient));
            let received = shares(&factors, &arrived, &lines, Complex64::new(1.0, 0.0));
            Buffer::of(operand.dtype, received)
        }
    });
    Ok(vec![Some(machine.allocate(Layout::contiguous(shape), received))])
}

fn shares<T: Copy + Default + Add<Output = T> + Mul<Output = T>>(
    factors: &[T],
    arrived: &[T],
    lines: &Lines,
    one: T,
) -> Vec<T> {
    let mut shares = vec![T::default(); factors.len()];
    for line in lines.numbers() {
        let line: Vec<usize> = line.collect();
        // What arrived from an element on, each times the factors between.
        let mut after: Option<T> = None;
        for &at in line.iter().rev() {
            shares[at] = after.map_or(arrived[at], |after| arrived[at] + after);
            after = Some(factors[at] * shares[at]);
        }
        let mut before = one;
        for &at in &line {
            shares[at] = before * shares[at];
            before = before * factors[at];
        }
    }
    shares
}
