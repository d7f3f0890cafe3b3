//! Indexing by tensors: integers pick elements along a dimension, masks along several.
//!
//! Indices broadcast together, and one element of all of them picks one place (`make_info`, `AdvancedIndex`). The order
//! of faults: the number of indices, their dtypes, the sizes of masks, the shapes of indices, dimensions of size 0, the
//! values to be put, and last, element by element, what the indices say.

use crate::error::{DtypePair, IndexFault, Rejection};
use crate::ops::Form;
use crate::program::VALUE_LIMIT;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};
use crate::with_element_type as with_any_type;

use super::autograd::{self, Route};
use super::elementwise::{self, restride};
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::mask;
use super::number::{Computed, Number};

/// `index`: a new tensor of the elements that the indices name, laid out as a loop over the operands would
/// (`build_index_op`).
pub(super) fn index(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let id = call.tensor(0)?;
    let operand = machine.tensor(id).clone();
    let indices = call.indices(1)?;
    if let Some(out) = call.out {
        check_out(machine, id, indices, out)?;
    }
    let places = Places::new(machine, &operand, indices)?;
    let inputs = places.inputs(&operand);
    let shape = iterator::broadcast(&inputs)?;
    let layout = iterator::result_layout(&inputs, &shape);
    let mut layouts: Vec<Layout> = layouts(&inputs);
    if let Some(out) = call.out {
        if *machine.tensor(out).shape() != shape {
            elementwise::resize_output(machine, out, layout.clone(), 1)?;
        } else {
            layouts.insert(0, machine.tensor(out).layout.clone());
        }
    }
    let mut found = vec![Place::default(); shape.numel()];
    let numbers = places.numbers(&shape);
    for at in iterator::sequence(&layouts, &shape) {
        found[at] = places.find(&numbers, at)?;
    }
    let values = found.iter().map(|place| machine.get(operand.storage, place.position)).collect::<Vec<_>>();
    let values = Buffer::from_scalars(operand.dtype, values.into_iter());
    if let Some(out) = call.out {
        let tensor = machine.tensor(out).clone();
        machine.write(&tensor, &values);
        return Ok(Slot::Tensor(out));
    }
    let mut result = machine.allocate(Layout::contiguous(shape.clone()), values);
    if layout != result.layout {
        result = restride(machine, &result, layout);
    }
    let result = machine.add(result);
    // On the way back libtorch indexes again, and warns again.
    if has_bytes(machine, indices) {
        autograd::record_unknown(machine, call.op, result, &[id]);
        return Ok(Slot::Tensor(result));
    }
    let own = found.iter().map(|place| place.number).collect();
    mask::record_taken(machine, call, result, &operand, own);
    Ok(Slot::Tensor(result))
}

/// Whether any of the indices is a mask in bytes.
fn has_bytes(machine: &Machine, indices: &[Option<TensorId>]) -> bool {
    indices.iter().flatten().any(|index| machine.tensor(*index).dtype == DType::Uint8)
}

/// What `index` refuses of a tensor given by `out=`. The count of the indices comes before all but gradients.
fn check_out(machine: &Machine, id: TensorId, indices: &[Option<TensorId>], out: TensorId) -> Result<()> {
    let (operand, tensor) = (machine.tensor(id), machine.tensor(out));
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
        return Err(IndexFault::IndexOutDtype { pair: DtypePair(operand.dtype, tensor.dtype) }.into());
    }
    iterator::check_internal_overlap(tensor)?;
    iterator::check_no_overlap(tensor, operand, id == out)?;
    for index in indices.iter().flatten() {
        iterator::check_no_overlap(tensor, machine.tensor(*index), out == *index)?;
    }
    Ok(())
}

/// `index_put` (`_index_put_impl_`): the functional form puts the values into a copy.
pub(super) fn index_put(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (id, value_id) = (call.tensor(0)?, call.tensor(2)?);
    let (operand, value) = (machine.tensor(id).clone(), machine.tensor(value_id).clone());
    let (indices, accumulate) = (call.indices(1)?, call.flag(3)?);
    let target = match call.form {
        Form::InPlace => {
            let inputs = [Input::Tensor(operand.clone()), Input::Tensor(value.clone())];
            autograd::check_in_place(machine, call, id, &inputs)?;
            id
        }
        _ => {
            // A copy keeps the strides wherever they leave no gaps (`clone`).
            let layout = match operand.layout.is_dense() {
                true => Layout { offset: 0, ..operand.layout.clone() },
                false => iterator::result_layout(&[Input::Tensor(operand.clone())], operand.shape()),
            };
            let copy = restride(machine, &operand, layout);
            machine.add(copy)
        }
    };
    let tensor = machine.tensor(target).clone();
    check_count(&tensor, indices)?;
    if indices.iter().all(Option::is_none) {
        return Err(nothing_indexed());
    }
    mask::warn_expanded(machine, &tensor, PUT_EXPANDED);
    let bytes = has_bytes(machine, indices);
    let differentiated = operand.node.is_some() || value.node.is_some();
    if !accumulate && let Some(mask) = as_mask(machine, &tensor, indices, &value)? {
        let number = mask::scalars(machine, &value)[0];
        let named: usize = indices.iter().flatten().map(|id| machine.tensor(*id).shape().rank()).sum();
        let masked = mask::fill(machine, target, &mask, number)?;
        let kept = (0..masked.len()).filter(|&at| !masked[at]);
        let filled = (0..masked.len()).filter(|&at| masked[at]).map(|at| (at, 0)).collect();
        let own = mask::own_route(&operand, tensor.shape(), kept);
        let put = Route { node: value.node, shape: value.shape().clone(), pairs: filled, added: true };
        // On the way back libtorch indexes by the mask, and fails if that names no dimension, or leaves fewer than the value
        // has; or it warns again.
        let taken = 1 + tensor.shape().rank().saturating_sub(named);
        let lost = named == 0 || value.shape().rank() > taken;
        if (value.node.is_some() && lost) || (bytes && differentiated) {
            mask::check_history(machine, call, target, differentiated)?;
            autograd::record_unknown(machine, call.op, target, &[id, value_id]);
            return Ok(Slot::Tensor(target));
        }
        return mask::finish(machine, call, target, vec![own, put]);
    }
    iterator::check_no_overlap(&tensor, &value, target == value_id)?;
    for index in indices.iter().flatten() {
        iterator::check_no_overlap(&tensor, machine.tensor(*index), target == *index)?;
    }
    let places = Places::new(machine, &tensor, indices)?;
    if !value.shape().expands_to(&places.layout.shape) {
        let (value, places) = (value.shape().sizes().to_vec(), places.layout.shape.sizes().to_vec());
        return Err(IndexFault::ValueShape { value, places }.into());
    }
    if value.dtype != tensor.dtype {
        return Err(IndexFault::PutDtypes { to: tensor.dtype, from: value.dtype }.into());
    }
    let mut inputs = places.inputs(&tensor);
    inputs.insert(1, Input::Tensor(value.clone()));
    let shape = iterator::broadcast(&inputs)?;
    if shape != places.layout.shape {
        let (output, broadcast) = (places.layout.shape.sizes().to_vec(), shape.sizes().to_vec());
        return Err(Rejection::OutputShape { output, broadcast }.into());
    }
    let from: Vec<usize> = value.layout.expand(&shape).expect("the values expand to it").positions().collect();
    let from_numbers = Layout::contiguous(value.shape().clone()).expand(&shape).expect("the values expand to it");
    let from_numbers: Vec<usize> = from_numbers.positions().collect();
    let (mut put, mut overwritten) = (Vec::new(), vec![false; tensor.shape().numel()]);
    let numbers = places.numbers(&shape);
    for at in iterator::sequence(&layouts(&inputs), &shape) {
        // What came before an index that is out of range has been written.
        let place = places.find(&numbers, at)?;
        let new = machine.get(value.storage, from[at]);
        let new = if accumulate { sum(tensor.dtype, machine.get(tensor.storage, place.position), new) } else { new };
        machine.put(tensor.storage, [(place.position, new)]);
        put.push((place.number, from_numbers[at]));
        overwritten[place.number] = true;
    }
    // On the way back libtorch indexes again, and warns again.
    if bytes && differentiated && operand.dtype.category() >= Category::Floating {
        autograd::record_unknown(machine, call.op, target, &[id, value_id]);
        return Ok(Slot::Tensor(target));
    }
    let kept = (0..overwritten.len()).filter(|&at| accumulate || !overwritten[at]);
    let own = mask::own_route(&operand, tensor.shape(), kept);
    let added = value.shape() != &shape;
    let put = Route { node: value.node, shape: value.shape().clone(), pairs: put, added };
    mask::finish(machine, call, target, vec![own, put])
}

/// Where the elements lie that indices name.
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
    values: Vec<i64>,
    size: i64,
    stride: i64,
    /// The stride between elements numbered row-major.
    numbered: i64,
}

/// One element that indices name: its position in the storage, and its row-major number.
#[derive(Clone, Copy, Default)]
struct Place {
    position: usize,
    number: usize,
}

impl Places {
    fn new(machine: &mut Machine, tensor: &Tensor, given: &[Option<TensorId>]) -> Result<Places> {
        check_count(tensor, given)?;
        let indices: Vec<Option<Tensor>> = given.iter().map(|id| id.map(|id| machine.tensor(id).clone())).collect();
        // An index that is expanded to more than can be looked at.
        for index in indices.iter().flatten() {
            let bytes = index.shape().numel().saturating_mul(DType::Int64.size());
            if bytes > VALUE_LIMIT {
                return Err(iterator::too_large(bytes));
            }
        }
        let allowed = [DType::Int64, DType::Uint8, DType::Bool, DType::Int32];
        if indices.iter().flatten().any(|index| !allowed.contains(&index.dtype)) {
            return Err(IndexFault::IndexDtype {}.into());
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
            return Err(IndexFault::NoSuchIndex {}.into());
        }
        let padded = [vec![1; before], replacement.sizes().to_vec(), vec![1; after]].concat();
        let padded = Shape::new(padded).map_err(|_| Rejection::Numel)?;
        let named = indices.into_iter().flatten().enumerate().map(|(at, index)| Indexed {
            layout: converted(&index).view(&padded).expect("only sizes of 1 are new"),
            values: machine.elements(&index),
            size: layout.shape.sizes()[before + at],
            stride: layout.strides[before + at],
            numbered: numbered.strides[before + at],
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

    /// What the loop goes over: the tensor, then the indices. Of these only their layouts matter.
    fn inputs(&self, tensor: &Tensor) -> Vec<Input> {
        let layouts = std::iter::once(&self.layout).chain(self.indices.iter().map(|index| &index.layout));
        layouts.map(|layout| Input::Tensor(Tensor { layout: layout.clone(), ..tensor.clone() })).collect()
    }

    /// For each element of the loop: where it starts in the tensor, and its element of each index.
    fn numbers(&self, shape: &Shape) -> Vec<Vec<usize>> {
        let of = |layout: &Layout| layout.expand(shape).expect("broadcast to this shape").positions().collect();
        let indices = self.indices.iter().map(|index| of(&Layout::contiguous(index.layout.shape.clone())));
        [of(&self.layout), of(&self.numbered)].into_iter().chain(indices).collect()
    }

    /// The place that element `at` of the loop names. The message counts the indices, not the dimensions.
    fn find(&self, numbers: &[Vec<usize>], at: usize) -> Result<Place> {
        let (mut position, mut number) = (numbers[0][at] as i64, numbers[1][at] as i64);
        for (dim, index) in self.indices.iter().enumerate() {
            let value = index.values[numbers[2 + dim][at]];
            if value < -index.size || value >= index.size {
                return Err(Rejection::IndexRange { index: value, dim, size: index.size }.into());
            }
            let value = if value < 0 { value + index.size } else { value };
            position += value * index.stride;
            number += value * index.numbered;
        }
        Ok(Place { position: position as usize, number: number as usize })
    }
}

/// Refuses more indices than dimensions. A mask counts once here, however many dimensions it has.
fn check_count(tensor: &Tensor, indices: &[Option<TensorId>]) -> Result<()> {
    let (rank, got) = (tensor.shape().rank(), indices.len());
    if got > rank { Err(IndexFault::TooMany { rank, got }.into()) } else { Ok(()) }
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
        let truths: Vec<bool> = machine.elements(mask);
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
    IndexFault::MaskShape { mask, at, tensor, dim }.into()
}

/// The indices broadcast together (`expand_outplace`).
fn broadcast(mut indices: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
    let shapes: Vec<&Shape> = indices.iter().flatten().map(Tensor::shape).collect();
    let Some(first) = shapes.first() else { return Ok(indices) };
    let shape = shapes
        .iter()
        .try_fold((*first).clone(), |shape, next| shape.broadcast(next))
        .map_err(|_| IndexFault::IndexShapes { shapes: shapes.iter().map(|shape| shape.sizes().to_vec()).collect() })?;
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

/// Whether the indices stand side by side (`hasContiguousSubspace`).
fn adjacent(indices: &[Option<Tensor>]) -> bool {
    let there: Vec<usize> = (0..indices.len()).filter(|&at| indices[at].is_some()).collect();
    there.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

fn permuted(layout: &Layout, order: &[usize]) -> Layout {
    Layout {
        shape: Shape::new(order.iter().map(|&dim| layout.shape.sizes()[dim]).collect()).expect("the same sizes"),
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

fn layouts(inputs: &[Input]) -> Vec<Layout> {
    let layout = |input: &Input| match input {
        Input::Tensor(tensor) => Some(tensor.layout.clone()),
        Input::Number(_) => None,
    };
    inputs.iter().filter_map(layout).collect()
}

/// `a + b` in a dtype.
fn sum(dtype: DType, a: Scalar, b: Scalar) -> Scalar {
    use crate::tensor::element::Element;
    with_any_type!(dtype, T => {
        T::narrow(T::from_scalar(a).widened().plus(T::from_scalar(b).widened())).to_scalar()
    })
}

const PUT_EXPANDED: &str = "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before \
    performing this operation. This also applies to advanced indexing e.g. tensor[indices] = tensor";

const INDEX_BYTES: &str = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.";
