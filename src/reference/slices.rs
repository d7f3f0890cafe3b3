//! Slices of one dimension that are written at indices: filled, copied, added. Neither the indices nor the source broadcast.

use crate::error::{Bare, Rejection};
use crate::ops::Form;
use crate::tensor::element::Element;
use crate::tensor::{Category, DType, Layout, Scalar, Shape};
use crate::with_element_type;

use super::gather::{indices_of, size};
use super::held::{check_held, is};
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Result, Slot, Tensor, TensorId, wrap_dim};
use super::number::{Computed, Number};
use super::selection::{Put, check_history, overwrite, record_put};
use super::{autograd, elementwise, mask, reduction, write};

/// `index_fill`: one value for whole slices. Negative indices count from the end (`index_fill_`).
pub(super) fn index_fill(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [operand, index] = [call.tensor(0)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
    let value = elementwise::input(machine, call, 3)?;
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone()), value.clone()])?;
    let target = begin_fill(machine, call, &operand);
    let tensor = machine.tensor(target).clone();
    let dim = infer_fill(machine, call, &tensor, &index, &value)?;
    let number = match &value {
        Input::Tensor(value) => mask::only(machine, value),
        Input::Number(number) => Some(*number),
    };
    number.map_or(Ok(()), |number| check_held(number, tensor.dtype))?;
    let along = size(tensor.shape(), dim);
    let indices = indices_of(machine, &index);
    let wrapped: Vec<i64> = indices.iter().map(|&at| if at < 0 { at + along } else { at }).collect();
    let (slices, bad) = Slices::of(machine, tensor.shape(), dim, &wrapped, index.shape().count());
    if let Some(number) = number {
        overwrite(machine, &tensor, &slices.numbers(), |_, _, _| number);
    }
    if let Some(turn) = bad {
        return Err(Rejection::IndexRange { index: indices[turn], dim, size: along }.into());
    }
    let mut filled = slices.numbers();
    filled.sort_unstable();
    filled.dedup();
    let source = value.tensor();
    let pairs = filled.into_iter().map(|number| (number, 0)).collect();
    record_put(machine, call, target, &operand, Put { pairs, source, repeated: true, accumulated: false })
}

/// The tensor that is written to: the operand in place, or a copy in the order of its dimensions.
fn begin_fill(machine: &mut Machine, call: &Call, operand: &Tensor) -> TensorId {
    match call.tensor(0) {
        Ok(id) if call.form == Form::InPlace => id,
        _ => {
            let copy = write::restride(machine, operand, iterator::dense(&operand.layout));
            machine.add(copy)
        }
    }
}

/// The order of faults: the dimensions of the value, the dtype of the indices, overlap, complex numbers, the dimension, the
/// dimensions of the indices.
fn infer_fill(machine: &mut Machine, call: &Call, target: &Tensor, index: &Tensor, value: &Input) -> Result<usize> {
    if let Some(rank) = value.tensor().map(|value| value.shape().rank()).filter(|rank| *rank > 0) {
        return Err(Rejection::IndexFillRank { rank }.into());
    }
    if index.dtype != DType::Int64 {
        return Err(Rejection::IndexFillDtype.into());
    }
    let same = call.form == Form::InPlace && call.tensor(0)? == call.tensor(2)?;
    iterator::check_no_overlap(target, index, same)?;
    mask::warn_expanded(machine, target, FILL_EXPANDED);
    if value.dtype().category() == Category::Complex && target.dtype.category() != Category::Complex {
        return Err(Rejection::IndexFillComplex.into());
    }
    let dim = wrap_dim(call.int(1)?, target.shape().rank())?;
    if index.shape().rank() > 1 {
        return Err(Rejection::IndexFillVector.into());
    }
    Ok(dim)
}

/// `index_copy`: slices of the source, one after the other.
pub(super) fn index_copy(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [operand, index, source] =
        [call.tensor(0)?, call.tensor(2)?, call.tensor(3)?].map(|id| machine.tensor(id).clone());
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone()), Input::Tensor(source.clone())])?;
    let dim = wrap_dim(call.int(1)?, operand.shape().rank())?;
    prepare(machine, call, &operand)?;
    infer_copy(&operand, dim, &index, &source)?;
    let target = begin(machine, call, &operand)?;
    let tensor = machine.tensor(target).clone();
    let indices = indices_of(machine, &index);
    let (slices, bad) = Slices::of(machine, tensor.shape(), dim, &indices, index.shape().count());
    let (numbers, from) = (slices.numbers(), slices.sources(&source.layout));
    overwrite(machine, &tensor, &numbers, |machine, turn, _| machine.get(source.storage, from[turn]));
    if let Some(turn) = bad {
        return Err(Rejection::IndexCopyRange { index: indices[turn], dim, size: size(tensor.shape(), dim) }.into());
    }
    record(machine, call, target, &operand, (&index, &source), &slices, false)
}

/// The order of faults: the dimensions of the indices and of the source, dtypes, the sizes of the slices, their number.
fn infer_copy(operand: &Tensor, dim: usize, index: &Tensor, source: &Tensor) -> Result<()> {
    let (own, rank, count) = (operand.shape().rank(), source.shape().rank(), index.shape().count());
    if index.shape().rank() > 1 {
        return Err(Rejection::IndexCopyVector { rank: index.shape().rank() }.into());
    }
    if rank == 0 && count != 1 {
        return Err(Rejection::IndexCopyScalar { count }.into());
    }
    if rank != own && rank != 0 && own != 0 {
        return Err(Rejection::IndexCopyRank { source: rank, rank: own }.into());
    }
    if index.dtype != DType::Int64 {
        return Err(Rejection::IndexCopyDtype { dtype: index.dtype }.into());
    }
    if operand.dtype != source.dtype {
        return Err(Rejection::IndexCopyDtypes { own: operand.dtype, source: source.dtype }.into());
    }
    let slice = |shape: &Shape| -> Vec<i64> {
        shape.sizes().iter().enumerate().filter(|(at, _)| *at != dim).map(|(_, size)| *size).collect()
    };
    let (own, other) = (slice(operand.shape()), slice(source.shape()));
    if own != other {
        return Err(Rejection::IndexCopySlices { own: Bare(own), dim, source: Bare(other) }.into());
    }
    if rank > 0 && count != size(source.shape(), dim) {
        return Err(Rejection::IndexCopyCount { count, size: size(source.shape(), dim) }.into());
    }
    Ok(())
}

/// `index_add`: multiples of the slices of the source are added, one after the other.
pub(super) fn index_add(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [operand, index, source] =
        [call.tensor(0)?, call.tensor(2)?, call.tensor(3)?].map(|id| machine.tensor(id).clone());
    let alpha = call.number(4)?;
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone()), Input::Tensor(source.clone())])?;
    let dim = wrap_dim(call.int(1)?, operand.shape().rank())?;
    infer_add(&operand, dim, &index, &source)?;
    prepare(machine, call, &operand)?;
    let target = begin(machine, call, &operand)?;
    let tensor = machine.tensor(target).clone();
    let rank = tensor.shape().rank();
    let indices = indices_of(machine, &index);
    let (slices, bad) = Slices::of(machine, tensor.shape(), dim, &indices, index.shape().count());
    // Of matrices and more, each slice has its index looked at before the factor is.
    if rank < 2 || (index.shape().count() > 0 && tensor.shape().count() > 0 && bad != Some(0)) {
        check_held(alpha, tensor.dtype)?;
    }
    let (numbers, from) = (slices.numbers(), slices.sources(&source.layout));
    let values: Vec<Scalar> = from.into_iter().map(|at| machine.get(source.storage, at)).collect();
    overwrite(machine, &tensor, &numbers, |machine, turn, position| {
        plus_product(tensor.dtype, machine.get(tensor.storage, position), alpha, values[turn])
    });
    let one = is(alpha, 1.0, true);
    if let Some(turn) = bad {
        // Some of the work `scatter_add` does, with another message.
        let by_default = one && !matches!(alpha, Scalar::Bool(_));
        let scattered = rank > 1 && (dim == 0 || dim + 1 == rank) && by_default && index.dtype == DType::Int64;
        return Err(match scattered {
            true => Rejection::IndexRange { index: indices[turn], dim, size: size(tensor.shape(), dim) }.into(),
            false => Rejection::IndexSelectRange.into(),
        });
    }
    if source.node.is_some() && !one {
        check_history(machine, call, target, true)?;
        autograd::record_unknown(machine, call.op, target, &[call.tensor(0)?, call.tensor(3)?]);
        return Ok(Slot::Tensor(target));
    }
    record(machine, call, target, &operand, (&index, &source), &slices, true)
}

/// The order of faults: the dimensions of the indices, dtypes, the dimension, the number of the slices, their sizes.
fn infer_add(operand: &Tensor, dim: usize, index: &Tensor, source: &Tensor) -> Result<()> {
    let (rank, count) = (source.shape().rank(), index.shape().count());
    if index.shape().rank() > 1 {
        let sizes = index.shape().sizes().to_vec();
        return Err(Rejection::IndexAddVector { rank: sizes.len(), dtype: index.dtype, sizes }.into());
    }
    if !matches!(index.dtype, DType::Int64 | DType::Int32) {
        return Err(Rejection::IndexAddDtype { dtype: index.dtype }.into());
    }
    if operand.dtype != source.dtype {
        return Err(Rejection::IndexAddDtypes { own: operand.dtype, source: source.dtype }.into());
    }
    if dim > 0 && dim >= rank {
        return Err(Rejection::IndexAddDim { dim, rank }.into());
    }
    if count != size(source.shape(), dim) {
        // The message asks a source without dimensions for a size.
        return Err(match rank {
            0 => Rejection::NoDimensions { dim: 0 }.into(),
            _ => Rejection::IndexAddCount { count, size: size(source.shape(), dim), dim }.into(),
        });
    }
    let (own, other) = (operand.shape().sizes(), source.shape().sizes());
    if own.len() != other.len() || (0..own.len()).any(|at| at != dim && own[at] != other[at]) {
        return Err(Rejection::IndexAddSlices { own: own.to_vec(), source: other.to_vec() }.into());
    }
    Ok(())
}

/// `put`: elements of the source, one after the other, at places that are counted over all dimensions (`put_`).
pub(super) fn put(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [operand, index, source] =
        [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
    let accumulated = call.flag(3)?;
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone()), Input::Tensor(source.clone())])?;
    let target = begin_fill(machine, call, &operand);
    infer_put(machine, call, target, &index, &source)?;
    let (tensor, indices) = (machine.tensor(target).clone(), indices_of(machine, &index));
    let numel = tensor.shape().count();
    let order = match machine.has_elements() {
        true => iterator::sequence(None, &[Input::Tensor(index.clone())], index.shape()),
        false => (0..indices.len()).collect(),
    };
    let bad = order.iter().copied().find(|&at| !(-numel..numel).contains(&indices[at]));
    let kept: Vec<usize> = order.into_iter().take_while(|at| Some(*at) != bad).collect();
    let written = bad.is_none() || !kept.is_empty();
    let kept = if machine.has_elements() { kept } else { Vec::new() };
    let place = |&at: &usize| if indices[at] < 0 { indices[at] + numel } else { indices[at] } as usize;
    let (numbers, values) = (kept.iter().map(place).collect::<Vec<_>>(), machine.elements_as_scalars(&source));
    if written {
        overwrite(machine, &tensor, &numbers, |machine, turn, position| match accumulated {
            true => super::scatter::sum(tensor.dtype, machine.get(tensor.storage, position), values[kept[turn]]),
            false => values[kept[turn]],
        });
    }
    if let Some(at) = bad {
        return Err(Rejection::PutRange { index: indices[at], numel }.into());
    }
    let pairs = numbers.into_iter().zip(kept).collect();
    record_put(machine, call, target, &operand, Put { pairs, source: Some(&source), repeated: false, accumulated })
}

/// The order of faults: the dtype of the indices, the dtype and the number of the elements, a tensor without any, overlap.
fn infer_put(machine: &Machine, call: &Call, target: TensorId, index: &Tensor, source: &Tensor) -> Result<()> {
    let tensor = machine.tensor(target);
    let (count, elements) = (index.shape().count(), source.shape().count());
    if index.dtype != DType::Int64 {
        return Err(Rejection::PutIndexDtype { dtype: index.dtype }.into());
    }
    if source.dtype != tensor.dtype {
        return Err(Rejection::PutSourceDtype { own: tensor.dtype, source: source.dtype }.into());
    }
    if count != elements {
        return Err(Rejection::PutCount { source: elements, index: count }.into());
    }
    if tensor.shape().count() == 0 && count > 0 {
        return Err(Rejection::PutEmpty.into());
    }
    iterator::check_internal_overlap(tensor)?;
    write::check_apart(machine, target, [call.tensor(1)?, call.tensor(2)?])
}

/// Brings a tensor given by `out=` to the shape, and refuses a target that overlaps itself or what is read.
fn prepare(machine: &mut Machine, call: &Call, operand: &Tensor) -> Result<()> {
    reduction::set_output(machine, call.out, operand.shape(), operand.dtype)?;
    let Some(target) = call.target()? else { return Ok(()) };
    iterator::check_internal_overlap(machine.tensor(target))?;
    write::check_apart(machine, target, [call.tensor(2)?, call.tensor(3)?])
}

/// The tensor that is written to: the operand in place, what `out=` names once the operand is copied to it, or a row-major
/// copy.
fn begin(machine: &mut Machine, call: &Call, operand: &Tensor) -> Result<TensorId> {
    let id = call.tensor(0)?;
    match (call.form, call.out) {
        (Form::InPlace, _) => Ok(id),
        (_, Some(out)) if out == id => Ok(id),
        (_, Some(out)) => {
            iterator::check_partial_overlap(machine.tensor(out), operand)?;
            write::copy(machine, out, operand);
            Ok(out)
        }
        _ => {
            let copy = write::restride(machine, operand, Layout::contiguous(operand.shape().clone()));
            Ok(machine.add(copy))
        }
    }
}

/// The upstream gradient of the slices goes to the source, and that of the others, or all of it, to the operand.
fn record(
    machine: &mut Machine,
    call: &Call,
    target: TensorId,
    operand: &Tensor,
    (index, source): (&Tensor, &Tensor),
    slices: &Slices,
    accumulated: bool,
) -> Result<Slot> {
    // On the way back libtorch selects several indices of what has no dimensions, and fails.
    if operand.shape().rank() == 0 && index.shape().count() != 1 && source.node.is_some() {
        check_history(machine, call, target, true)?;
        autograd::record_unknown(machine, call.op, target, &[call.tensor(0)?, call.tensor(3)?]);
        return Ok(Slot::Tensor(target));
    }
    let from = slices.sources(&Layout::contiguous(source.shape().clone()));
    let pairs = slices.numbers().into_iter().zip(from).collect();
    record_put(machine, call, target, operand, Put { pairs, source: Some(source), repeated: false, accumulated })
}

/// Slices of a dimension, in the order in which indices name them.
struct Slices {
    /// The elements of a tensor, row-major, with the dimension in front.
    own: Layout,
    /// The slices, up to the first index that is out of range.
    indices: Vec<i64>,
    dim: usize,
}

impl Slices {
    /// The slices that are in range, and the first index that is not. Where slices have no elements, none is looked at.
    /// Without elements there are none.
    fn of(machine: &Machine, shape: &Shape, dim: usize, indices: &[i64], count: i64) -> (Slices, Option<usize>) {
        let along = size(shape, dim);
        let others = shape.sizes().iter().enumerate().filter(|(at, _)| *at != dim).all(|(_, size)| *size > 0);
        let looked = others && count > 0;
        let bad = indices.iter().position(|index| !(0..along).contains(index)).filter(|_| looked);
        let named = if looked { &indices[..bad.unwrap_or(indices.len())] } else { &[] };
        let named = if machine.has_elements() { named.to_vec() } else { Vec::new() };
        (Slices { own: Layout::contiguous(shape.clone()), indices: named, dim }, bad)
    }

    /// The numbers of their elements, slice by slice.
    fn numbers(&self) -> Vec<usize> {
        self.elements(&self.own, self.indices.iter().copied())
    }

    /// The positions of the elements of as many slices of a source, one after the other.
    fn sources(&self, source: &Layout) -> Vec<usize> {
        self.elements(source, 0..self.indices.len() as i64)
    }

    fn elements(&self, of: &Layout, slices: impl Iterator<Item = i64>) -> Vec<usize> {
        let stride = of.strides.get(self.dim).copied().unwrap_or(1);
        let mut sizes = self.own.shape.sizes().to_vec();
        let mut strides = of.strides.clone();
        if self.dim < sizes.len() {
            sizes.remove(self.dim);
        }
        if self.dim < strides.len() {
            strides.remove(self.dim);
        }
        let shape = Shape::of_sizes(sizes);
        slices
            .flat_map(|slice| {
                let offset = of.offset + slice * stride;
                Layout { shape: shape.clone(), strides: strides.clone(), offset }.positions().collect::<Vec<_>>()
            })
            .collect()
    }
}

/// `a + alpha × b` in a dtype. The factor is converted first.
fn plus_product(dtype: DType, a: Scalar, alpha: Scalar, b: Scalar) -> Scalar {
    with_element_type!(dtype, T => {
        let [a, alpha, b] = [a, alpha, b].map(T::from_scalar);
        if is(alpha.to_scalar(), 1.0, true) {
            T::narrow(a.widened().plus(b.widened())).to_scalar()
        } else {
            a.plus_product(alpha, b).to_scalar()
        }
    })
}

const FILL_EXPANDED: &str = "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor before \
    performing this operation. This also applies to advanced indexing e.g. tensor[mask] = scalar";
