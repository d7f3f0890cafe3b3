//! `linalg_matrix_rank` and `linalg_pinv`: what a matrix is once the singular values within a tolerance are taken for zeros
//! (ATen/native/LinearAlgebra.cpp). The tolerances broadcast with the batch.

use num_complex::Complex64;

use crate::error::Rejection;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::super::autograd;
use super::super::budget::charge;
use super::super::graph::Kept;
use super::super::iterator;
use super::super::machine::{Call, Machine, Result, Slot, Tensor};
use super::super::write;
use super::cross::check_floating;
use super::eigen::Dilation;
use super::matrix::shape_of;
use super::output::check_autograd;
use super::solve::{has_lapack, wide};

/// `linalg_matrix_rank`: the number of singular values above the tolerance.
pub(in super::super) fn linalg_matrix_rank(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let matrices = Matrices::of(machine, call)?;
    if matrices.input.shape().rank() < 2 {
        return Err(Rejection::SolveRank { function: "torch.linalg.matrix_rank", name: "input" }.into());
    }
    let batch = match matrices.ranked(machine, call) {
        Ok(batch) => batch,
        Err(stop) => {
            // It has been given the shape of the batch by then.
            write::prepare(machine, call.target()?, &matrices.own_batch()?)?;
            return Err(stop);
        }
    };
    let target = call.target()?;
    write::prepare(machine, target, &batch)?;
    if let Some(target) = target {
        iterator::check_internal_overlap(machine.tensor(target))?;
    }
    let values = machine.eval(DType::Int64, || {
        let spectra = matrices.spectra(machine);
        let thresholds = matrices.thresholds(machine, &spectra, &batch);
        let rank = |(which, threshold): (usize, f64)| {
            Scalar::Int(spectra[which].singular.iter().filter(|value| **value > threshold).count() as i64)
        };
        Buffer::from_scalars(DType::Int64, matrices.places(&batch).into_iter().zip(thresholds).map(rank))
    });
    Ok(Slot::Tensor(write::deliver(machine, target, &batch, values)))
}

/// `linalg_pinv`: the pseudoinverse.
pub(in super::super) fn linalg_pinv(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let matrices = Matrices::of(machine, call)?;
    let (input, dtype) = (&matrices.input, matrices.input.dtype);
    let given = [Some(input), matrices.atol.as_ref(), matrices.rtol.as_ref()];
    check_autograd(machine, call, &given.into_iter().flatten().collect::<Vec<_>>())?;
    for (argument, tensor) in [("atol", &matrices.atol), ("rtol", &matrices.rtol)] {
        if tensor.as_ref().is_some_and(|tensor| tensor.node.is_some()) {
            return Err(Rejection::FixedArgument { name: call.op.name(), argument }.into());
        }
    }
    let target = call.target()?;
    if let Some(out) = target.map(|target| machine.tensor(target).dtype).filter(|out| !dtype.can_cast_to(*out)) {
        return Err(Rejection::CastableOut { function: "linalg.pinv", input: dtype, out }.into());
    }
    if !has_lapack(dtype) || input.shape().rank() < 2 {
        return Err(Rejection::PinvOperand { dtype, sizes: input.shape().sizes().to_vec() }.into());
    }
    matrices.check_tolerances("torch.linalg.pinv")?;
    matrices.check_decomposed(machine)?;
    let batch = matrices.batch()?;
    let [rows, columns] = matrices.sizes();
    let shape = shape_of([batch.sizes(), &[columns, rows]].concat())?;
    write::prepare(machine, target, &shape)?;
    if let Some(target) = target {
        iterator::check_internal_overlap(machine.tensor(target))?;
    }
    let mut thresholds = Vec::new();
    let values = machine.eval(dtype, || {
        let spectra = matrices.spectra(machine);
        thresholds = matrices.thresholds(machine, &spectra, &batch);
        let inverse = |(which, threshold): (usize, &f64)| spectra[which].pseudoinverse(*threshold);
        let inverses = matrices.places(&batch).into_iter().zip(&thresholds).flat_map(inverse);
        Buffer::of(dtype, inverses)
    });
    let result = write::deliver(machine, target, &shape, values);
    let hermitian = Scalar::Bool(matrices.hermitian);
    let numbers = std::iter::once(hermitian).chain(thresholds.into_iter().map(Scalar::Float)).collect();
    let kept = Kept { tensors: vec![Some(input.clone())], numbers, ..Kept::of(call.op) };
    autograd::record_formula(machine, result, &[Some(input)], kept, pinv_backward);
    autograd::keep_result(machine, result, "LinalgPinv");
    Ok(Slot::Tensor(result))
}

/// The derivative of what is computed: libtorch's formula takes the singular values within the tolerance for zeros of the
/// matrix, and reads both halves of a Hermitian one.
fn pinv_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let [Some(input)] = &kept.tensors[..] else { return Ok(vec![None]) };
    let hermitian = kept.numbers[0] == Scalar::Bool(true);
    let matrices = Matrices { input: input.clone(), atol: None, rtol: None, hermitian };
    let [rows, columns] = matrices.sizes();
    let sizes = gradient.shape().sizes();
    let batch = shape_of(sizes[..sizes.len() - 2].to_vec())?;
    let shape = shape_of([batch.sizes(), &[rows, columns]].concat())?;
    let dtype = wide(input.dtype);
    let values = machine.eval(dtype, || {
        let (spectra, arrived): (_, Vec<Complex64>) = (matrices.spectra(machine), machine.elements(gradient));
        let arrived = arrived.chunks(rows.saturating_mul(columns).max(1) as usize);
        let parts = matrices.places(&batch).into_iter().zip(arrived).zip(&kept.numbers[1..]);
        let slopes = parts.flat_map(|((which, arrived), threshold)| match threshold {
            Scalar::Float(threshold) => spectra[which].slope(*threshold, arrived),
            _ => Vec::new(),
        });
        Buffer::of(dtype, slopes)
    });
    Ok(vec![Some(machine.allocate(Layout::contiguous(shape), values))])
}

/// Matrices, and the tolerances for their singular values.
struct Matrices {
    input: Tensor,
    atol: Option<Tensor>,
    rtol: Option<Tensor>,
    /// True if they are taken for Hermitian ones, of which the lower halves are read.
    hermitian: bool,
}

impl Matrices {
    fn of(machine: &Machine, call: &Call) -> Result<Matrices> {
        let given = |at: usize| -> Result<Option<Tensor>> {
            Ok(call.optional_tensor(at)?.map(|id| machine.tensor(id).clone()))
        };
        let input = machine.tensor(call.tensor(0)?).clone();
        Ok(Matrices { input, atol: given(1)?, rtol: given(2)?, hermitian: call.flag(3)? })
    }

    /// The order of faults of a rank: the tolerances, the dtype of `out=`, the matrices, the batches, and autograd in the
    /// sum that counts the singular values.
    fn ranked(&self, machine: &Machine, call: &Call) -> Result<Shape> {
        const FUNCTION: &str = "torch.linalg.matrix_rank";
        self.check_tolerances(FUNCTION)?;
        let out = call.target()?.map(|target| machine.tensor(target));
        if let Some(out) = out.map(|out| out.dtype).filter(|out| !DType::Int64.can_cast_to(*out)) {
            return Err(Rejection::CastableOut { function: FUNCTION, input: DType::Int64, out }.into());
        }
        self.check_decomposed(machine)?;
        let batch = self.batch()?;
        if out.is_some_and(|out| out.node.is_some()) {
            return Err(Rejection::OutNeedsGrad { name: "sum" }.into());
        }
        Ok(batch)
    }

    /// Rejects complex tolerances, and a dtype without a precision where one is needed (`get_atol_rtol`).
    fn check_tolerances(&self, function: &'static str) -> Result<()> {
        for (name, tensor) in [("atol", &self.atol), ("rtol", &self.rtol)] {
            if let Some(dtype) =
                tensor.as_ref().map(|tensor| tensor.dtype).filter(|it| it.category() == Category::Complex)
            {
                return Err(Rejection::ComplexTolerance { function, name, dtype }.into());
            }
        }
        if self.rtol.is_none() && !has_lapack(self.input.dtype) {
            return Err(Rejection::NoPrecision.into());
        }
        Ok(())
    }

    /// Rejects what cannot be decomposed. libtorch does not look at matrices without elements.
    fn check_decomposed(&self, machine: &Machine) -> Result<()> {
        let (dtype, [rows, columns]) = (self.input.dtype, self.sizes());
        if self.hermitian && rows != columns {
            return Err(Rejection::SolveSquare { function: "linalg.eigh", rows, columns }.into());
        }
        if !self.hermitian {
            check_floating("linalg.svd", dtype)?;
        }
        if !has_lapack(dtype) && self.input.shape().numel() > 0 {
            let kernel = if self.hermitian { "linalg_eigh_cpu" } else { "linalg_svd_cpu" };
            return Err(Rejection::NoKernel { kernel, dtype }.into());
        }
        if self.hermitian || !machine.has_elements() || self.input.shape().numel() == 0 {
            return Ok(());
        }
        let values: Vec<Complex64> = machine.elements(&self.input);
        let mut matrices = values.chunks((rows * columns) as usize);
        match matrices.position(|matrix| matrix.iter().any(|value| value.is_nan())) {
            Some(batch) if self.input.shape().rank() > 2 => {
                Err(Rejection::EndlessInBatch { batch: batch as i64 }.into())
            }
            Some(_) => Err(Rejection::Endless.into()),
            None => Ok(()),
        }
    }

    fn sizes(&self) -> [i64; 2] {
        let sizes = self.input.shape().sizes();
        [sizes[sizes.len() - 2], sizes[sizes.len() - 1]]
    }

    fn own_batch(&self) -> Result<Shape> {
        let sizes = self.input.shape().sizes();
        shape_of(sizes[..sizes.len() - 2].to_vec())
    }

    /// The shape that the batch and the tolerances broadcast to: the relative tolerance meets the singular values first, and
    /// has the shape of the absolute one where it depends on it.
    fn batch(&self) -> Result<Shape> {
        let own = self.own_batch()?;
        let scaled = match self.rtol.as_ref().or(self.atol.as_ref()) {
            Some(rtol) => rtol.shape().broadcast(&own)?,
            None => own,
        };
        Ok(match &self.atol {
            Some(atol) => atol.shape().broadcast(&scaled)?,
            None => scaled,
        })
    }

    /// The matrix of each element of the batch.
    fn places(&self, batch: &Shape) -> Vec<usize> {
        let own = self.own_batch().expect("sizes of an operand");
        Layout::contiguous(own).expand(batch).expect("batches broadcast").positions().collect()
    }

    /// The decomposed matrices.
    fn spectra(&self, machine: &Machine) -> Vec<Dilation> {
        let [rows, columns] = self.sizes().map(|size| size as usize);
        let values: Vec<Complex64> = machine.elements(&self.input);
        if values.is_empty() {
            let count = self.own_batch().map_or(0, |batch| batch.numel());
            charge(count);
            return (0..count).map(|_| Dilation::of(&[], rows, columns)).collect();
        }
        let single = matches!(self.input.dtype, DType::Float32 | DType::Complex64);
        let decomposed = |matrix: &[Complex64]| {
            let mut spectrum = match self.hermitian {
                true => Dilation::of(&completed(matrix, rows), rows, columns),
                false => Dilation::of(matrix, rows, columns),
            };
            if single {
                spectrum.singular.iter_mut().for_each(|value| *value = f64::from(*value as f32));
            }
            spectrum
        };
        values.chunks(rows * columns).map(decomposed).collect()
    }

    /// The tolerance for the singular values of each matrix of the batch.
    fn thresholds(&self, machine: &Machine, spectra: &[Dilation], batch: &Shape) -> Vec<f64> {
        let elements = |tensor: &Tensor| -> Vec<f64> {
            let layout = tensor.layout.expand(batch).expect("tolerances broadcast");
            machine.elements(&Tensor { layout, node: None, ..tensor.clone() })
        };
        let largest =
            self.places(batch).into_iter().map(|which| spectra[which].singular.first().copied().unwrap_or(0.0));
        let [atol, rtol] = [&self.atol, &self.rtol].map(|tensor| tensor.as_ref().map(elements));
        let eps = match self.input.dtype {
            DType::Float32 | DType::Complex64 => f64::from(f32::EPSILON),
            _ => f64::EPSILON,
        };
        let [rows, columns] = self.sizes();
        let threshold = |(at, largest): (usize, f64)| {
            let absolute = atol.as_ref().map_or(0.0, |values| values[at]);
            let relative = match &rtol {
                Some(values) => values[at],
                None if absolute > 0.0 => 0.0,
                None => eps * rows.max(columns) as f64,
            };
            let relative = relative * largest;
            // The larger one, or NaN.
            if relative.is_nan() || absolute < relative { relative } else { absolute }
        };
        largest.enumerate().map(threshold).collect()
    }
}

/// The Hermitian matrix of which this is the lower half.
fn completed(matrix: &[Complex64], size: usize) -> Vec<Complex64> {
    let element = |at: usize| match (at / size, at % size) {
        (row, column) if row > column => matrix[at],
        (row, column) if row < column => matrix[column * size + row].conj(),
        _ => Complex64::from(matrix[at].re),
    };
    (0..size * size).map(element).collect()
}
