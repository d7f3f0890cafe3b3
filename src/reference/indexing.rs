//! Indexing by tensors: integers pick elements along a dimension, masks along several.
//!
//! Indices broadcast together, and one element of all of them picks one place (`make_info`, `AdvancedIndex`). The order
//! of faults: the number of indices, their dtypes, the sizes of masks, the shapes of indices, dimensions of size 0, the
//! values to be put, and last, element by element, what the indices say.

use crate::error::Rejection;
use crate::ops::Form;
use crate::program::VALUE_LIMIT;
use crate::tensor::storage::Stored;
use crate::tensor::{Category, DType, Layout, Shape};

use super::autograd;
use super::budget::charge;
use super::iterator::{self, Input};
use super::machine::{Call, MOST_KNOWN, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::scatter::sum;
use super::selection::{self, Put, numbering, overwrite, record_picked, record_put};
use super::{mask, write};

/// `index`: a new tensor of the elements that the indices name, laid out as a loop over the operands would
/// (`build_index_op`).
pub(super) fn index(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let operand = machine.tensor(call.tensor(0)?).clone();
    if let Some(out) = call.out {
        check_out(machine, call, &operand, out)?;
    }
    let places = Places::new(machine, &operand, call.indices(1)?)?;
    let inputs = places.inputs(&operand);
    let shape = iterator::broadcast(&inputs)?;
    let layout = iterator::result_layout(&inputs, &shape);
    // The loop goes over `out`, too, unless that is resized.
    let given = call.out.map(|out| machine.tensor(out).layout.clone()).filter(|layout| layout.shape == shape);
    let order = places.order(machine, given.as_ref(), &inputs, &shape);
    if let Some(out) = call.out {
        write::resize_output(machine, out, layout.clone(), 1)?;
    }
    let (found, fault) = places.eval(&shape, &order);
    check_range(fault)?;
    let found = if machine.has_elements() { found } else { Vec::new() };
    let mut numbers = vec![0; found.len()];
    order.into_iter().zip(found).for_each(|(at, number)| numbers[at] = number);
    let result = selection::deliver(machine, call.out, &operand, &numbers, layout);
    record_index(machine, call, result, &operand, numbers)
}

/// On the way back libtorch indexes again, and warns again, of which the reference knows nothing.
fn record_index(
    machine: &mut Machine,
    call: &Call,
    result: TensorId,
    operand: &Tensor,
    numbers: Vec<usize>,
) -> Result<Slot> {
    if call.out.is_none() && has_bytes(machine, call.indices(1)?) {
        autograd::record_unknown(machine, call.op, result, &[call.tensor(0)?]);
    } else {
        record_picked(machine, call, result, operand, numbers);
    }
    Ok(Slot::Tensor(result))
}

/// Returns whether any of the indices is a mask in bytes.
fn has_bytes(machine: &Machine, indices: &[Option<TensorId>]) -> bool {
    indices.iter().flatten().any(|index| machine.tensor(*index).dtype == DType::Uint8)
}

/// Refuses a tensor given by `out=`. The count of the indices comes before all but gradients.
fn check_out(machine: &Machine, call: &Call, operand: &Tensor, out: TensorId) -> Result<()> {
    let (indices, tensor) = (call.indices(1)?, machine.tensor(out));
    // An index of floating-point numbers, which is refused later, counts here, too.
    let mut named = indices.iter().flatten().map(|index| machine.tensor(*index));
    if operand.node.is_some() || tensor.node.is_some() || named.any(|index| index.node.is_some()) {
        return Err(Rejection::OutNeedsGrad { name: "index" }.into());
    }
    check_count(operand, indices)?;
    if indices.is_empty() {
        return Err(nothing_indexed());
    }
    if operand.dtype != tensor.dtype {
        return Err(Rejection::IndexOutDtype { input: operand.dtype, result: tensor.dtype }.into());
    }
    iterator::check_internal_overlap(tensor)?;
    let indices = indices.iter().flatten().copied();
    write::check_apart(machine, out, std::iter::once(call.tensor(0)?).chain(indices))
}

/// `index_put` (`_index_put_impl_`): the functional form puts the values into a copy.
pub(super) fn index_put(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [operand, value] = [call.tensor(0)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
    let (indices, accumulated) = (call.indices(1)?, call.flag(3)?);
    let target = begin_put(machine, call, &operand, &value)?;
    let tensor = machine.tensor(target).clone();
    check_count(&tensor, indices)?;
    if indices.iter().all(Option::is_none) {
        return Err(nothing_indexed());
    }
    mask::warn_expanded(machine, &tensor, PUT_EXPANDED);
    if !accumulated && let Some(mask) = as_mask(machine, &tensor, indices, &value)? {
        let number = machine.elements_as_scalars(&value).first().copied();
        let pairs = mask::fill(machine, target, &mask, number)?;
        let put = Put { pairs, source: Some(&value), repeated: true, accumulated };
        return record_filled(machine, call, target, &operand, put);
    }
    let places = infer_put(machine, call, target, &value)?;
    let shape = places.layout.shape.clone();
    let mut inputs = places.inputs(&tensor);
    inputs.insert(1, Input::Tensor(value.clone()));
    let order = places.order(machine, None, &inputs, &shape);
    let (numbers, fault) = places.eval(&shape, &order);
    let numbers = if machine.has_elements() { numbers } else { Vec::new() };
    let from = value.layout.expand(&shape).expect("the values expand to it");
    let from: Vec<usize> = if machine.has_elements() { from.positions().collect() } else { Vec::new() };
    overwrite(machine, &tensor, &numbers, |machine, turn, position| {
        let new = machine.get(value.storage, from[order[turn]]);
        if accumulated { sum(tensor.dtype, machine.get(tensor.storage, position), new) } else { new }
    });
    // What came before an index that is out of range has been written.
    check_range(fault)?;
    let own = numbering(machine, value.shape(), &shape);
    let pairs = numbers.into_iter().zip(order).map(|(number, at)| (number, own[at])).collect();
    let repeated = *value.shape() != shape;
    record_indexed(machine, call, target, &operand, Put { pairs, source: Some(&value), repeated, accumulated })
}

/// The tensor that is written to: the operand in place, or a copy, which keeps the strides wherever they leave no gaps (`clone`).
fn begin_put(machine: &mut Machine, call: &Call, operand: &Tensor, value: &Tensor) -> Result<TensorId> {
    if call.form == Form::InPlace {
        let id = call.tensor(0)?;
        let inputs = [operand, value].map(|tensor| Input::Tensor(tensor.clone()));
        autograd::check_in_place(machine, call, id, &inputs)?;
        return Ok(id);
    }
    let copy = write::restride(machine, operand, iterator::like(operand));
    Ok(machine.add(copy))
}

/// The places that the values go to, after overlap; then the shape and the dtype of the values.
fn infer_put(machine: &mut Machine, call: &Call, target: TensorId, value: &Tensor) -> Result<Places> {
    let (tensor, indices) = (machine.tensor(target).clone(), call.indices(1)?);
    let others = indices.iter().flatten().copied();
    write::check_apart(machine, target, std::iter::once(call.tensor(2)?).chain(others))?;
    let places = Places::new(machine, &tensor, indices)?;
    let shape = &places.layout.shape;
    if !value.shape().expands_to(shape) {
        let (value, places) = (value.shape().sizes().to_vec(), shape.sizes().to_vec());
        return Err(Rejection::PutShape { value, places }.into());
    }
    if value.dtype != tensor.dtype {
        return Err(Rejection::PutDtypes { to: tensor.dtype, from: value.dtype }.into());
    }
    let broadcast = iterator::broadcast(&places.inputs(&tensor))?.broadcast(value.shape())?;
    iterator::check_shape(shape, &broadcast)?;
    Ok(places)
}

/// On the way back libtorch indexes by the mask, and fails if that names no dimension, or leaves fewer than the value has;
/// or it warns again.
fn record_filled(machine: &mut Machine, call: &Call, target: TensorId, operand: &Tensor, put: Put) -> Result<Slot> {
    let (indices, value) = (call.indices(1)?, machine.tensor(call.tensor(2)?));
    let named: usize = indices.iter().flatten().map(|id| machine.tensor(*id).shape().rank()).sum();
    let taken = 1 + operand.shape().rank().saturating_sub(named);
    let lost = named == 0 || value.shape().rank() > taken;
    let differentiated = operand.node.is_some() || value.node.is_some();
    if (value.node.is_some() && lost) || (has_bytes(machine, indices) && differentiated) {
        selection::check_history(machine, call, target, differentiated)?;
        autograd::record_unknown(machine, call.op, target, &[call.tensor(0)?, call.tensor(2)?]);
        return Ok(Slot::Tensor(target));
    }
    record_put(machine, call, target, operand, put)
}

/// On the way back libtorch indexes again, and warns again.
fn record_indexed(machine: &mut Machine, call: &Call, target: TensorId, operand: &Tensor, put: Put) -> Result<Slot> {
    let differentiated = operand.node.is_some() || put.source.is_some_and(|value| value.node.is_some());
    let floating = operand.dtype.category() >= Category::Floating;
    if has_bytes(machine, call.indices(1)?) && differentiated && floating {
        autograd::record_unknown(machine, call.op, target, &[call.tensor(0)?, call.tensor(2)?]);
        return Ok(Slot::Tensor(target));
    }
    record_put(machine, call, target, operand, put)
}

/// The elements that indices name: how their numbers are computed.
struct Places {
    /// The tensor with stride 0 in place of the dimensions that are indexed (`restride_src`), as it lies in memory.
    layout: Layout,
    /// The same with the elements numbered row-major.
    numbered: Layout,
    /// One for each dimension that is indexed.
    indices: Vec<Indexed>,
}

/// A dimension that is indexed.
struct Indexed {
    /// The index, with dimensions of size 1 for those of the tensor that are not indexed.
    layout: Layout,
    /// Its elements, if they are there.
    values: Option<Vec<i64>>,
    size: i64,
    /// The stride between elements numbered row-major.
    stride: i64,
}

impl Places {
    fn new(machine: &mut Machine, tensor: &Tensor, given: &[Option<TensorId>]) -> Result<Places> {
        check_count(tensor, given)?;
        let indices: Vec<Option<Tensor>> = given.iter().map(|id| id.map(|id| machine.tensor(id).clone())).collect();
        // An index that is expanded to more than can be looked at.
        for index in indices.iter().flatten() {
            let bytes = index.shape().numel().saturating_mul(DType::Int64.size());
            if machine.has_elements() && bytes > VALUE_LIMIT {
                return Err(iterator::too_large(bytes));
            }
        }
        let allowed = [DType::Int64, DType::Uint8, DType::Bool, DType::Int32];
        if indices.iter().flatten().any(|index| !allowed.contains(&index.dtype)) {
            return Err(Rejection::IndexDtype.into());
        }
        let indices = without_masks(machine, tensor, indices)?;
        let mut indices = broadcast(indices)?;
        if indices.iter().all(Option::is_none) {
            return Err(nothing_indexed());
        }
        let rank = tensor.shape().rank();
        indices.resize_with(indices.len().max(rank), || None);
        let mut layouts = [tensor.layout.clone(), Layout::contiguous(tensor.shape().clone())];
        if !adjacent(&indices) {
            let (named, others): (Vec<usize>, Vec<usize>) = (0..rank).partition(|&dim| indices[dim].is_some());
            let order: Vec<usize> = named.into_iter().chain(others).collect();
            layouts = layouts.map(|layout| permuted(&layout, &order));
            indices = order.iter().map(|&dim| indices[dim].take()).collect();
        }
        let [layout, numbered] = layouts;
        Places::of(machine, layout, numbered, indices)
    }

    /// For indices that are adjacent (`AdvancedIndex`).
    fn of(machine: &Machine, layout: Layout, numbered: Layout, indices: Vec<Option<Tensor>>) -> Result<Places> {
        let rank = layout.shape.rank();
        let before = indices.iter().take_while(|index| index.is_none()).count();
        let count = indices.iter().flatten().count();
        let after = indices.len() - before - count;
        if before + count > rank {
            let got = before.max(rank) as i64;
            return Err(Rejection::DimensionRange { low: -(rank as i64), high: rank as i64 - 1, got }.into());
        }
        let replacement = indices[before].as_ref().map(|index| index.shape().clone()).unwrap_or_default();
        let sizes = &layout.shape.sizes()[before..before + count];
        if sizes.contains(&0) && !replacement.sizes().contains(&0) {
            return Err(Rejection::NoSuchIndex.into());
        }
        let padded = [vec![1; before], replacement.sizes().to_vec(), vec![1; after]].concat();
        let padded = Shape::new(padded).map_err(|_| Rejection::Numel)?;
        let named = indices.into_iter().flatten().enumerate().map(|(at, index)| Indexed {
            layout: converted(&index).view(&padded).expect("only sizes of 1 are new"),
            values: machine.known(&index),
            size: layout.shape.sizes()[before + at],
            stride: numbered.strides[before + at],
        });
        let named = named.collect();
        let replaced = |from: &Layout| -> Result<Layout> {
            let (mut sizes, mut strides) = (from.shape.sizes().to_vec(), from.strides.clone());
            sizes.splice(before..before + count, replacement.sizes().iter().copied());
            strides.splice(before..before + count, vec![0; replacement.rank()]);
            Ok(Layout { shape: Shape::new(sizes).map_err(|_| Rejection::Numel)?, strides, offset: from.offset })
        };
        Ok(Places { layout: replaced(&layout)?, numbered: replaced(&numbered)?, indices: named })
    }

    /// The operands of the loop: the tensor, then the indices. Of these only their layouts matter.
    fn inputs(&self, tensor: &Tensor) -> Vec<Input> {
        let layouts = std::iter::once(&self.layout).chain(self.indices.iter().map(|index| &index.layout));
        layouts.map(|layout| Input::Tensor(Tensor { layout: layout.clone(), ..tensor.clone() })).collect()
    }

    /// The order of the loop. Without elements there is none where all indices that are there are in range.
    fn order(&self, machine: &Machine, output: Option<&Layout>, inputs: &[Input], shape: &Shape) -> Vec<usize> {
        let wrong = |index: &Indexed| {
            let mut values = index.values.iter().flatten();
            values.any(|value| !(-index.size..index.size).contains(value))
        };
        let few = shape.count() <= MOST_KNOWN;
        match machine.has_elements() || (few && self.indices.iter().any(wrong)) {
            true => iterator::sequence(output, inputs, shape),
            false => Vec::new(),
        }
    }

    /// The numbers of the elements of the tensor, in the order of the loop, up to the first index that is out of range.
    /// Without elements only for the fault, if that can be told.
    fn eval(&self, shape: &Shape, order: &[usize]) -> (Vec<usize>, Option<Beyond>) {
        let of = |layout: &Layout| layout.expand(shape).expect("broadcast to this shape").positions().collect();
        if order.is_empty() {
            return (Vec::new(), if shape.numel() == 0 { self.unread() } else { None });
        }
        let starts: Vec<usize> = of(&self.numbered);
        let column = |index: &Indexed| {
            charge(shape.numel());
            of(&Layout::contiguous(index.layout.shape.clone()))
        };
        let columns: Vec<Vec<usize>> = self.indices.iter().map(column).collect();
        let mut numbers = Vec::with_capacity(order.len());
        for &at in order {
            let mut number = starts[at] as i64;
            for (dim, (index, column)) in self.indices.iter().zip(&columns).enumerate() {
                let Some(values) = &index.values else { continue };
                let (value, size) = (values[column[at]], index.size);
                if value < -size || value >= size {
                    return (numbers, Some(Beyond { index: value, dim, size }));
                }
                number += if value < 0 { value + size } else { value } * index.stride;
            }
            numbers.push(number as usize);
        }
        (numbers, None)
    }

    /// The first index that is out of range, where dimensions beside it leave nothing to be read. NumPy refuses it as any
    /// other; so does `index_select`.
    fn unread(&self) -> Option<Beyond> {
        let count = self.indices.first().map_or(0, |index| index.layout.shape.numel());
        charge(count);
        let beyond = |at: usize| {
            self.indices.iter().enumerate().find_map(|(dim, index)| {
                let value = *index.values.as_ref()?.get(at)?;
                let size = index.size;
                (!(-size..size).contains(&value)).then_some(Beyond { index: value, dim, size })
            })
        };
        (0..count).find_map(beyond)
    }
}

/// An index that is out of range: its value, its number among the indices, and the size of the dimension.
struct Beyond {
    index: i64,
    dim: usize,
    size: i64,
}

/// Refuses such an index. The message counts the indices, not the dimensions.
fn check_range(fault: Option<Beyond>) -> Result<()> {
    fault.map_or(Ok(()), |Beyond { index, dim, size }| Err(Rejection::IndexRange { index, dim, size }.into()))
}

/// Refuses more indices than dimensions. A mask counts once here, however many dimensions it has.
fn check_count(tensor: &Tensor, indices: &[Option<TensorId>]) -> Result<()> {
    let (rank, got) = (tensor.shape().rank(), indices.len());
    if got > rank { Err(Rejection::TooManyIndexTensors { rank, got }.into()) } else { Ok(()) }
}

/// libtorch fails an assertion where no dimension is indexed, or returns something empty.
fn nothing_indexed() -> Stop {
    Stop::Unsupported("an index that names no dimension".to_owned())
}

/// Masks as the indices of what is true in them, one for each of their dimensions (`expandTensors`).
fn without_masks(machine: &mut Machine, tensor: &Tensor, indices: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
    let mut result: Vec<Option<Tensor>> = Vec::new();
    for index in indices {
        let Some(mask) = index.as_ref().filter(|index| matches!(index.dtype, DType::Bool | DType::Uint8)) else {
            result.push(index);
            continue;
        };
        if mask.dtype == DType::Uint8 {
            machine.warnings.push(INDEX_BYTES.to_owned());
        }
        check_mask(tensor, mask, result.len()).map_err(|(at, dim)| mask_shape(tensor, mask, at, dim))?;
        let truths = mask::known(machine, mask)?;
        let found: Vec<i64> = (0..).zip(truths).filter(|(_, truth)| *truth).map(|(at, _)| at).collect();
        let strides = Layout::contiguous(mask.shape().clone()).strides;
        for (&size, stride) in mask.shape().sizes().iter().zip(strides) {
            let along = i64::wrap(found.iter().map(|at| at / stride % size.max(1)).collect());
            let shape = Shape::new(vec![found.len() as i64]).expect("no more than the mask has");
            result.push(Some(machine.allocate(Layout::contiguous(shape), along)));
        }
    }
    Ok(result)
}

/// The first dimension of a mask whose size is not that of the dimension of the tensor that it stands for, counted from
/// `first`; `Err` with both numbers.
fn check_mask(tensor: &Tensor, mask: &Tensor, first: usize) -> std::result::Result<(), (usize, usize)> {
    let differs = |at: &usize| tensor.shape().sizes().get(first + at) != Some(&mask.shape().sizes()[*at]);
    (0..mask.shape().rank()).find(differs).map_or(Ok(()), |at| Err((at, first + at)))
}

fn mask_shape(tensor: &Tensor, mask: &Tensor, at: usize, dim: usize) -> Stop {
    let rank = tensor.shape().rank() as i64;
    if dim as i64 >= rank {
        return Rejection::DimensionRange { low: -rank, high: rank - 1, got: dim as i64 }.into();
    }
    let (mask, tensor) = (mask.shape().sizes().to_vec(), tensor.shape().sizes().to_vec());
    Rejection::MaskShape { mask, at, tensor, dim }.into()
}

/// The indices broadcast together (`expand_outplace`).
fn broadcast(mut indices: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
    let shapes: Vec<&Shape> = indices.iter().flatten().map(Tensor::shape).collect();
    let Some(first) = shapes.first() else { return Ok(indices) };
    let shape = shapes
        .iter()
        .try_fold((*first).clone(), |shape, next| shape.broadcast(next))
        .map_err(|_| Rejection::IndexShapes { shapes: shapes.iter().map(|shape| shape.sizes().to_vec()).collect() })?;
    for index in indices.iter_mut().flatten() {
        index.layout = index.layout.expand(&shape).expect("the indices broadcast to this shape");
    }
    Ok(indices)
}

/// The layout of an index once it is of int64: a copy has no gaps and no repetitions (`to`).
fn converted(index: &Tensor) -> Layout {
    if index.dtype != DType::Int32 || index.layout.is_dense() {
        return index.layout.clone();
    }
    iterator::result_layout(&[Input::Tensor(index.clone())], index.shape())
}

/// Returns whether the indices are adjacent (`hasContiguousSubspace`).
fn adjacent(indices: &[Option<Tensor>]) -> bool {
    let there: Vec<usize> = (0..indices.len()).filter(|&at| indices[at].is_some()).collect();
    there.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

fn permuted(layout: &Layout, order: &[usize]) -> Layout {
    Layout {
        shape: Shape::of_sizes(order.iter().map(|&dim| layout.shape.sizes()[dim]).collect()),
        strides: order.iter().map(|&dim| layout.strides[dim]).collect(),
        offset: layout.offset,
    }
}

/// The mask that stands for the indices, if they are a single mask and the value is a single element
/// (`canDispatchToMaskedFill`). Then the rules are those of `masked_fill_`: any number fits, and a mask of uint8 does not.
fn as_mask(machine: &Machine, tensor: &Tensor, indices: &[Option<TensorId>], value: &Tensor) -> Result<Option<Tensor>> {
    if value.shape().numel() != 1 {
        return Ok(None);
    }
    let mut found: Option<Tensor> = None;
    let mut dims = 0;
    for id in indices {
        let Some(id) = id else {
            // After the mask its dimensions are all added below.
            dims += usize::from(found.is_none());
            continue;
        };
        let index = machine.tensor(*id);
        if !matches!(index.dtype, DType::Bool | DType::Uint8) || found.is_some() {
            return Ok(None);
        }
        check_mask(tensor, index, dims).map_err(|(at, dim)| mask_shape(tensor, index, at, dim))?;
        dims += index.shape().rank();
        found = Some(index.clone());
    }
    Ok(found.map(|mut mask| {
        let missing = tensor.shape().rank().saturating_sub(dims);
        for _ in 0..missing {
            let mut sizes = mask.shape().sizes().to_vec();
            sizes.push(1);
            mask.layout.shape = Shape::new(sizes).expect("one more 1");
            mask.layout.strides.push(1);
        }
        mask
    }))
}

const PUT_EXPANDED: &str = "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before \
    performing this operation. This also applies to advanced indexing e.g. tensor[indices] = tensor";

const INDEX_BYTES: &str = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.";
