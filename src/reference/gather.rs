//! Indices along one dimension. Of these only `take_along_dim` broadcasts.

use crate::error::Rejection;
use crate::ops::Form;
use crate::program::Arg;
use crate::tensor::storage::Stored;
use crate::tensor::{DType, Layout, Shape};

use super::held::check_held;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Operand, Result, Slot, Tensor, TensorId, wrap_dim};
use super::reduction::set_output;
use super::selection::{self, Put, numbering, overwrite, record_picked, record_put};
use super::{autograd, elementwise, slice, write};

/// For each index along `dim`, row-major, the number of the element of a tensor that it names, up to the first that is out
/// of range, which is returned, too. Without elements that index alone.
pub(super) fn along(
    machine: &Machine,
    indices: &[i64],
    shape: &Shape,
    of: &Shape,
    dim: usize,
) -> (Vec<usize>, Option<i64>) {
    let all = Layout::contiguous(of.clone());
    let stride = all.strides.get(dim).copied().unwrap_or(1);
    // Everything but the dimension that the indices go along, for which they stand themselves.
    let mut start = corner(&all, shape);
    start.strides.get_mut(dim).into_iter().for_each(|stride| *stride = 0);
    let bad = indices.iter().position(|index| !(0..size(of, dim)).contains(index));
    if !machine.has_elements() {
        return (Vec::new(), bad.map(|at| indices[at]));
    }
    let good = start.positions().zip(&indices[..bad.unwrap_or(indices.len())]);
    (good.map(|(start, index)| start + (index * stride) as usize).collect(), bad.map(|at| indices[at]))
}

/// `take_along_dim`: the tensor and the indices broadcast together, apart from the dimension that the indices go along
/// (`_take_along_dim_helper`); without a dimension both are flattened. Then it is `gather`.
pub(super) fn take_along_dim(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [operand, index] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    if matches!(call.args.get(2), Some(Operand::Other(Arg::Nothing))) {
        let (source, index) = infer_take_flat(machine, operand, index)?;
        return gather_from(machine, call, source, 0, index);
    }
    let (source, index, dim) = infer_take(machine, call, operand, index)?;
    // A negative index counts from the end. One that is still out of range is reported as it was given.
    let own = size(&source.view.shape, dim);
    let indices = machine.eval(DType::Int64, || {
        let from_start = |index: i64| if (-own..0).contains(&index) { index + own } else { index };
        i64::wrap(machine.elements::<i64>(&index).into_iter().map(from_start).collect())
    });
    let index = machine.allocate(Layout::contiguous(index.shape().clone()), indices);
    gather_from(machine, call, source, dim, index)
}

/// Both flattened, as views.
fn infer_take_flat(machine: &Machine, operand: Tensor, index: Tensor) -> Result<(Source, Tensor)> {
    let flat = |tensor: &Tensor| -> Result<Layout> {
        let flat = Shape::new(vec![tensor.shape().count()]).expect("the elements are there");
        Ok(tensor.layout.view(&flat).ok_or(Rejection::ViewStride)?)
    };
    let source = Source { view: flat(&operand)?, own: all_of(machine, &operand), operand, id: None };
    let layout = flat(&index)?;
    Ok((source, Tensor { layout, ..index }))
}

/// Both expanded to each other, apart from one dimension.
fn infer_take(machine: &Machine, call: &Call, operand: Tensor, index: Tensor) -> Result<(Source, Tensor, usize)> {
    let (rank, indices) = (operand.shape().rank(), index.shape().rank());
    if rank != indices {
        return Err(Rejection::TakeAlongDimRank { rank, indices }.into());
    }
    if index.dtype != DType::Int64 {
        return Err(Rejection::TakeAlongDimDtype { dtype: index.dtype }.into());
    }
    let dim = wrap_dim(call.int(2)?, rank)?;
    if rank == 0 {
        return Err(Rejection::NoDimensions { dim: 0 }.into());
    }
    let with = |shape: &Shape, size: i64| {
        let mut sizes = shape.sizes().to_vec();
        sizes[dim] = size;
        Shape::new(sizes).map_err(|_| Rejection::Numel)
    };
    let (own, others) = (operand.shape().sizes()[dim], index.shape().sizes()[dim]);
    let index_shape = with(operand.shape(), others)?.broadcast(index.shape())?;
    let own_shape = with(index.shape(), own)?.broadcast(operand.shape())?;
    let expand = |layout: &Layout, shape: &Shape| layout.expand(shape).expect("broadcast to this shape");
    let (view, own) = (expand(&operand.layout, &own_shape), numbering(machine, operand.shape(), &own_shape));
    let layout = expand(&index.layout, &index_shape);
    Ok((Source { view, own, operand, id: None }, Tensor { layout, ..index }, dim))
}

/// `gather`.
pub(super) fn gather(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let id = call.tensor(0)?;
    let (operand, index) = (machine.tensor(id).clone(), machine.tensor(call.tensor(2)?).clone());
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone())])?;
    let dim = wrap_dim(call.int(1)?, operand.shape().rank())?;
    let own = all_of(machine, &operand);
    gather_from(machine, call, Source { view: operand.layout.clone(), own, operand, id: Some(id) }, dim, index)
}

/// The numbers of all elements; nothing without elements.
fn all_of(machine: &Machine, operand: &Tensor) -> Vec<usize> {
    if machine.has_elements() { (0..operand.shape().numel()).collect() } else { Vec::new() }
}

/// The indices that are there.
pub(super) fn indices_of(machine: &Machine, index: &Tensor) -> Vec<i64> {
    machine.known(index).unwrap_or_default()
}

/// A view of the operand, from which elements are gathered.
struct Source {
    view: Layout,
    /// For each element of the view its number in the operand.
    own: Vec<usize>,
    operand: Tensor,
    /// The operand itself, if the view is nothing else.
    id: Option<TensorId>,
}

fn gather_from(machine: &mut Machine, call: &Call, source: Source, dim: usize, index: Tensor) -> Result<Slot> {
    if let Some(out) = call.out {
        prepare_gather(machine, out, &source, &index)?;
    }
    check_gather(&source.view.shape, &index, dim)?;
    let (numbers, bad) = along(machine, &indices_of(machine, &index), index.shape(), &source.view.shape, dim);
    if let Some(index) = bad {
        return Err(Rejection::IndexRange { index, dim, size: size(&source.view.shape, dim) }.into());
    }
    let numbers: Vec<usize> = numbers.into_iter().map(|number| source.own[number]).collect();
    let layout = Layout::contiguous(index.shape().clone());
    let result = selection::deliver(machine, call.out, &source.operand, &numbers, layout);
    record_picked(machine, call, result, &source.operand, numbers);
    Ok(Slot::Tensor(result))
}

/// The meta function of `gather`: `out` is resized before anything else is looked at.
fn prepare_gather(machine: &mut Machine, out: TensorId, source: &Source, index: &Tensor) -> Result<()> {
    if source.operand.node.is_some() || machine.tensor(out).node.is_some() {
        return Err(Rejection::OutNeedsGrad { name: "gather" }.into());
    }
    set_output(machine, Some(out), index.shape(), source.operand.dtype)?;
    let tensor = machine.tensor(out);
    iterator::check_internal_overlap(tensor)?;
    let viewed = Tensor { layout: source.view.clone(), ..source.operand.clone() };
    iterator::check_no_overlap(tensor, &viewed, source.id == Some(out))?;
    iterator::check_partial_overlap(tensor, index)
}

/// Refuses, as the kernel does, an index that is not empty.
fn check_gather(shape: &Shape, index: &Tensor, dim: usize) -> Result<()> {
    if index.shape().numel() == 0 {
        return Ok(());
    }
    if !matches!(index.dtype, DType::Int64 | DType::Int32) {
        return Err(Rejection::IndexNotInteger { function: "gather" }.into());
    }
    let rank = shape.rank().max(1);
    if rank != index.shape().rank().max(1) {
        return Err(Rejection::IndexTensorRank { other: "input" }.into());
    }
    if let Some(at) = (0..rank).find(|&at| at != dim && size(index.shape(), at) > size(shape, at)) {
        let (index, tensor) = (index.shape().sizes().to_vec(), shape.sizes().to_vec());
        return Err(Rejection::GatherShape { at, index, tensor, dim }.into());
    }
    Ok(())
}

/// `scatter`: a copy of the tensor with elements of the source, or one number, where the indices say.
pub(super) fn scatter(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [operand, index] = [call.tensor(0)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
    let source = elementwise::input(machine, call, 3)?;
    let dim = infer_scatter(machine, call, &operand, &index, &source)?;
    let target = begin_scatter(machine, call, &operand)?;
    let tensor = machine.tensor(target).clone();
    let indices = indices_of(machine, &index);
    let (numbers, bad) = along(machine, &indices, index.shape(), tensor.shape(), dim);
    // Nothing is written, and the number not looked at.
    let none = index.shape().numel() == 0 || (bad.is_some() && bad == indices.first().copied());
    match &source {
        Input::Number(_) if none => {}
        Input::Number(number) => {
            check_held(*number, tensor.dtype)?;
            overwrite(machine, &tensor, &numbers, |_, _, _| *number);
        }
        Input::Tensor(source) => {
            let from = positions(machine, &corner(&source.layout, index.shape()));
            overwrite(machine, &tensor, &numbers, |machine, turn, _| machine.get(source.storage, from[turn]));
        }
    }
    // What came before a bad index has been written.
    if let Some(index) = bad {
        return Err(Rejection::IndexRange { index, dim, size: size(tensor.shape(), dim) }.into());
    }
    record_scatter(machine, call, target, &operand, (&index, &source), &numbers, false)
}

/// The order of faults of `scatter` and its kin: autograd, the dimension, dtypes and shapes, overlap.
pub(super) fn infer_scatter(
    machine: &Machine,
    call: &Call,
    operand: &Tensor,
    index: &Tensor,
    source: &Input,
) -> Result<usize> {
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone()), source.clone()])?;
    let dim = wrap_dim(call.int(1)?, operand.shape().rank())?;
    check_scatter(operand, dim, index, source)?;
    if let Some(target) = call.target()? {
        iterator::check_internal_overlap(machine.tensor(target))?;
        let source = matches!(source, Input::Tensor(_)).then(|| call.tensor(3)).transpose()?;
        write::check_apart(machine, target, std::iter::once(call.tensor(2)?).chain(source))?;
    }
    Ok(dim)
}

/// The tensor that is written to: the operand in place, or a copy of it, for which `out` is prepared.
pub(super) fn begin_scatter(machine: &mut Machine, call: &Call, operand: &Tensor) -> Result<TensorId> {
    let id = call.tensor(0)?;
    match (call.form, call.out) {
        (Form::InPlace, _) => Ok(id),
        (_, Some(out)) => {
            prepare_scatter(machine, call, operand, out)?;
            if out != id {
                write::copy(machine, out, operand);
            }
            Ok(out)
        }
        _ => {
            let copy = write::restride(machine, operand, Layout::contiguous(operand.shape().clone()));
            Ok(machine.add(copy))
        }
    }
}

/// Brings `out` to the shape of the operand. It may have grown over what is read by then.
fn prepare_scatter(machine: &mut Machine, call: &Call, operand: &Tensor, out: TensorId) -> Result<()> {
    set_output(machine, Some(out), operand.shape(), operand.dtype)?;
    // Without indices there is no loop that reads them and the source.
    let index = Some(call.tensor(2)?).filter(|index| machine.tensor(*index).shape().numel() > 0);
    let source = index.and_then(|_| call.tensor(3).ok());
    let mut read = std::iter::once(call.tensor(0)?).chain(index).chain(source).filter(|read| *read != out);
    read.try_for_each(|read| iterator::check_partial_overlap(machine.tensor(out), machine.tensor(read)))
}

/// Notes elements that were written over, or added to, those of the target.
pub(super) fn record_scatter(
    machine: &mut Machine,
    call: &Call,
    target: TensorId,
    operand: &Tensor,
    (index, source): (&Tensor, &Input),
    numbers: &[usize],
    accumulated: bool,
) -> Result<Slot> {
    let source = match source {
        Input::Tensor(source) => Some(source),
        Input::Number(_) => None,
    };
    // The gradient of a source that is larger than the indices libtorch documents as missing.
    if source.is_some_and(|source| source.node.is_some() && source.shape() != index.shape()) {
        autograd::record_unknown(machine, call.op, target, &[call.tensor(0)?, call.tensor(3)?]);
        return Ok(Slot::Tensor(target));
    }
    let from: Vec<usize> = match source {
        Some(source) => positions(machine, &corner(&Layout::contiguous(source.shape().clone()), index.shape())),
        None => vec![0; numbers.len()],
    };
    let pairs = numbers.iter().copied().zip(from).collect();
    record_put(machine, call, target, operand, Put { pairs, source, repeated: false, accumulated })
}

/// Refuses operands of `scatter` (`scatter_gather_dtype_check`, `scatter_shape_check`).
fn check_scatter(operand: &Tensor, dim: usize, index: &Tensor, source: &Input) -> Result<()> {
    let empty = index.shape().numel() == 0;
    if !empty && !matches!(index.dtype, DType::Int64 | DType::Int32) {
        return Err(Rejection::IndexNotInteger { function: "scatter" }.into());
    }
    let source = match source {
        Input::Tensor(source) => Some(source),
        Input::Number(_) => None,
    };
    if source.is_some_and(|source| source.dtype != operand.dtype) {
        return Err(Rejection::ScatterSourceDtype.into());
    }
    if empty {
        return Ok(());
    }
    let rank = operand.shape().rank().max(1);
    if rank != index.shape().rank().max(1) {
        return Err(Rejection::IndexTensorRank { other: "self" }.into());
    }
    let beyond_own = (0..rank).any(|at| at != dim && size(index.shape(), at) > size(operand.shape(), at));
    let (sizes, own) = (index.shape().sizes().to_vec(), operand.shape().sizes().to_vec());
    let Some(source) = source else {
        if beyond_own {
            return Err(Rejection::ScatterValueShape { index: sizes, tensor: own, dim }.into());
        }
        return Ok(());
    };
    // The sizes of the source are asked for before its rank is.
    let mut beyond = beyond_own;
    for dim in (0..rank).take_while(|_| !beyond_own) {
        let low = source.shape().rank() as i64;
        if low > 0 && dim as i64 >= low {
            return Err(Rejection::DimensionRange { low: -low, high: low - 1, got: dim as i64 }.into());
        }
        beyond |= size(index.shape(), dim) > size(source.shape(), dim);
        if beyond {
            break;
        }
    }
    if source.shape().rank().max(1) != index.shape().rank().max(1) {
        return Err(Rejection::IndexTensorRank { other: "src" }.into());
    }
    if beyond {
        let source = source.shape().sizes().to_vec();
        return Err(Rejection::ScatterShape { index: sizes, tensor: own, dim, source }.into());
    }
    Ok(())
}

/// `index_select` (`index_select_out_cpu_`).
pub(super) fn index_select(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [operand, index] = [call.tensor(0)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
    let (dim, shape) = infer_index_select(machine, call, &operand, &index)?;
    let row_major = prepare_index_select(machine, call, &operand, dim, &shape)?;
    let indices = indices_of(machine, &index);
    check_selected(operand.shape(), dim, (&indices, index.shape().numel()), row_major)?;
    let spread = (0..shape.rank()).map(|at| i64::from(at == dim)).collect();
    let spread = Layout { shape: shape.clone(), strides: spread, offset: 0 };
    let indices: Vec<i64> = positions(machine, &spread).into_iter().map(|at| indices[at]).collect();
    let (numbers, _) = along(machine, &indices, &shape, operand.shape(), dim);
    let result = selection::deliver(machine, call.out, &operand, &numbers, Layout::contiguous(shape));
    record_picked(machine, call, result, &operand, numbers);
    Ok(Slot::Tensor(result))
}

/// The dimension, and the shape of the result.
fn infer_index_select(machine: &Machine, call: &Call, operand: &Tensor, index: &Tensor) -> Result<(usize, Shape)> {
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone())])?;
    let (rank, count) = (operand.shape().rank(), index.shape().count());
    let dim = wrap_dim(call.int(1)?, rank)?;
    if index.shape().rank() > 1 {
        return Err(Rejection::IndexSelectRank.into());
    }
    if rank == 0 && count != 1 {
        return Err(Rejection::IndexSelectScalar { count }.into());
    }
    if !matches!(index.dtype, DType::Int64 | DType::Int32) {
        return Err(Rejection::IndexSelectDtype.into());
    }
    let mut sizes = operand.shape().sizes().to_vec();
    sizes.get_mut(dim).into_iter().for_each(|size| *size = count);
    let shape = Shape::new(sizes).map_err(|_| Rejection::Numel)?;
    if let Some(out) = call.out {
        let tensor = machine.tensor(out);
        if tensor.dtype != operand.dtype {
            return Err(Rejection::SelectOutDtype { function: "index_select" }.into());
        }
        iterator::check_internal_overlap(tensor)?;
        write::check_apart(machine, out, [call.tensor(0)?, call.tensor(2)?])?;
    }
    Ok((dim, shape))
}

/// Resizes `out`, and returns whether the result is row-major: a copy that is, and goes along the second dimension, has
/// words of its own for a bad index.
fn prepare_index_select(
    machine: &mut Machine,
    call: &Call,
    operand: &Tensor,
    dim: usize,
    shape: &Shape,
) -> Result<bool> {
    write::prepare(machine, call.out, shape)?;
    let row_major = call.out.is_none_or(|out| machine.tensor(out).layout.is_contiguous());
    let by_slices = !(row_major && dim == 1) && shape.rank() > 1;
    if let Some(out) = call.out.filter(|_| by_slices && shape.numel() > 0 && operand.shape().numel() > 0) {
        // The loop that copies slices checks the first of them.
        let first = |tensor: &Tensor| Tensor { layout: slice::selected(&tensor.layout, dim, 0), ..tensor.clone() };
        iterator::check_partial_overlap(&first(machine.tensor(out)), &first(operand))?;
    }
    Ok(row_major)
}

/// Refuses indices, of which there may be more than are known, as the kernel does.
fn check_selected(of: &Shape, dim: usize, (indices, count): (&[i64], usize), row_major: bool) -> Result<()> {
    let along = size(of, dim);
    let empty = of.rank() > 1 && of.numel() == 0;
    if empty && along == 0 && count > 0 {
        return Err(Rejection::IndexSelectEmpty.into());
    }
    match indices.iter().find(|index| !(0..along).contains(*index)) {
        None => Ok(()),
        Some(&index) if of.rank() > 1 && (empty || (dim == 1 && row_major)) => {
            Err(Rejection::IndexSelectBounds { index, size: along }.into())
        }
        Some(_) => Err(Rejection::IndexSelectRange.into()),
    }
}

/// The positions of elements; nothing without elements.
pub(super) fn positions(machine: &Machine, layout: &Layout) -> Vec<usize> {
    if machine.has_elements() { layout.positions().collect() } else { Vec::new() }
}

/// The size of a dimension; a tensor without dimensions counts as one of a single element (`ensure_nonempty_size`).
pub(super) fn size(shape: &Shape, dim: usize) -> i64 {
    shape.sizes().get(dim).copied().unwrap_or(1)
}

/// The first elements of a layout in every dimension, as many as `shape` has; a tensor without dimensions counts as one
/// of a single element.
pub(super) fn corner(layout: &Layout, shape: &Shape) -> Layout {
    let stride = |dim: usize| layout.strides.get(dim).copied().unwrap_or(1);
    Layout { shape: shape.clone(), strides: (0..shape.rank()).map(stride).collect(), offset: layout.offset }
}
