//! The decisions of libtorch's `TensorIterator` before any element is computed: the common dtype, the broadcast
//! shape, the overlap of the output with the inputs, and the strides of a new result.

use crate::error::Rejection;
use crate::program::VALUE_LIMIT;
use crate::tensor::{DType, Layout, ScalarKind, ScalarType, Shape};

use super::budget::charge;
use super::value::{Result, Stop, Tensor};

pub(super) use super::value::Input;

impl Input {
    fn layout(&self) -> Layout {
        match self {
            Input::Tensor(tensor) => tensor.layout.clone(),
            Input::Number(_) => Layout::contiguous(Shape::scalar()),
        }
    }
}

/// The dtype in which operands meet. complex32 is none of tensors of programs.
pub(super) fn result_type(inputs: &[Input]) -> DType {
    scalar_type(inputs).dtype().unwrap_or(DType::Complex64)
}

/// The dtype in which operands meet (`at::result_type`): tensors with dimensions, tensors without, and numbers are three
/// ranks; a lower rank counts only if its category is higher.
pub(super) fn scalar_type(inputs: &[Input]) -> ScalarType {
    let mut ranks: [Option<DType>; 3] = [None; 3];
    for input in inputs {
        let rank = match input {
            Input::Tensor(tensor) if tensor.shape().rank() > 0 => 0,
            Input::Tensor(_) => 1,
            Input::Number(_) => 2,
        };
        let dtype = input.dtype();
        ranks[rank] = Some(ranks[rank].map_or(dtype, |seen| seen.promote(dtype)));
    }
    let [dimensioned, scalars, numbers] = ranks.map(|rank| rank.map(ScalarType::from));
    combine(dimensioned, combine(scalars, numbers)).expect("an operation has operands")
}

/// One rank and the next lower one (`combine_categories`).
fn combine(higher: Option<ScalarType>, lower: Option<ScalarType>) -> Option<ScalarType> {
    let (Some(high), Some(low)) = (higher, lower) else { return higher.or(lower) };
    match (high.kind(), low.kind()) {
        (ScalarKind::Floating, ScalarKind::Complex) => Some(to_complex(high)),
        (ScalarKind::Complex | ScalarKind::Floating, _) => Some(high),
        (ScalarKind::Bool, _) | (_, ScalarKind::Floating | ScalarKind::Complex) => high.promote(low),
        _ => Some(high),
    }
}

/// The complex dtype that stands for a floating-point one (`c10::toComplexType`).
fn to_complex(floating: ScalarType) -> ScalarType {
    match floating {
        ScalarType::Float16 => ScalarType::Complex32,
        ScalarType::Float64 => ScalarType::Complex128,
        _ => ScalarType::Complex64,
    }
}

/// Refuses to write where one element stands for several, or over part of an operand (`compute_mem_overlaps`).
pub(super) fn check_overlap(output: &Tensor, inputs: &[Input]) -> Result<()> {
    if !output.layout.is_dense() && output.layout.has_zero_stride() {
        return Err(Rejection::InternalOverlap.into());
    }
    let partial = inputs.iter().any(|input| match input {
        Input::Tensor(tensor) => overlaps_in_part(output, tensor),
        Input::Number(_) => false,
    });
    if partial { Err(Rejection::PartialOverlap.into()) } else { Ok(()) }
}

/// Refuses to write where one element stands for several (`assert_no_internal_overlap`).
pub(super) fn check_internal_overlap(output: &Tensor) -> Result<()> {
    if output.layout.has_zero_stride() && !output.layout.is_dense() {
        return Err(Rejection::InternalOverlap.into());
    }
    Ok(())
}

/// Refuses to write over part of an operand (`assert_no_partial_overlap`).
pub(super) fn check_partial_overlap(output: &Tensor, input: &Tensor) -> Result<()> {
    if overlaps_in_part(output, input) { Err(Rejection::PartialOverlap.into()) } else { Ok(()) }
}

/// Refuses to write over any of an operand, or all of it (`assert_no_overlap`).
pub(super) fn check_no_overlap(output: &Tensor, input: &Tensor, same_object: bool) -> Result<()> {
    let dense = |tensor: &Tensor| tensor.layout.is_dense() && tensor.shape().numel() > 0;
    let same_view = output.storage == input.storage
        && output.layout.offset == input.layout.offset
        && output.shape().count() == input.shape().count()
        && dense(output)
        && dense(input);
    if same_object || same_view { Err(Rejection::PartialOverlap.into()) } else { check_partial_overlap(output, input) }
}

/// The elements of a loop over these operands, numbered row-major, in the order in which the loop comes to them
/// (`reorder_dimensions`).
pub(super) fn sequence(output: Option<&Layout>, inputs: &[Input], shape: &Shape) -> Vec<usize> {
    charge(shape.numel());
    let layouts = output.cloned().into_iter().chain(inputs.iter().map(Input::layout));
    let strides: Vec<Vec<i64>> = layouts.map(|layout| broadcast_strides(&layout, shape)).collect();
    let mut order = iteration_order(shape, &strides);
    order.reverse();
    let numbers = Layout::contiguous(shape.clone());
    let sizes = order.iter().map(|&dim| shape.sizes()[dim]).collect();
    Layout {
        shape: Shape::of_sizes(sizes),
        strides: order.iter().map(|&dim| numbers.strides[dim]).collect(),
        offset: 0,
    }
    .positions()
    .collect()
}

/// Returns whether two views of one storage certainly share some memory but are not the same view
/// (`get_overlap_status`).
fn overlaps_in_part(a: &Tensor, b: &Tensor) -> bool {
    let dense = |tensor: &Tensor| tensor.layout.is_dense() && tensor.shape().numel() > 0;
    if a.storage != b.storage || !dense(a) || !dense(b) {
        return false;
    }
    let range = |tensor: &Tensor| (tensor.layout.offset, tensor.layout.offset.saturating_add(tensor.shape().count()));
    let ((a_from, a_to), (b_from, b_to)) = (range(a), range(b));
    if (a_from, a_to) == (b_from, b_to) {
        return a.layout.strides != b.layout.strides;
    }
    a_from < b_to && b_from < a_to
}

/// The shape that all operands broadcast to (`compute_shape`): from left to right, as the message names them.
pub(super) fn broadcast(inputs: &[Input]) -> Result<Shape> {
    let mut shapes = inputs.iter().map(Input::shape);
    let first = shapes.next().unwrap_or_default();
    Ok(shapes.try_fold(first, |shape, next| shape.broadcast(&next))?)
}

/// The operands as their strides are looked at: those of another dtype are converted first, which leaves no gaps in them
/// and no repetitions (`compute_types`).
pub(super) fn converted(inputs: &[Input], common: DType) -> Vec<Input> {
    let convert = |input: &Input| match input {
        Input::Tensor(tensor) if tensor.dtype != common => {
            Input::Tensor(Tensor { layout: dense(&tensor.layout), ..tensor.clone() })
        }
        other => other.clone(),
    };
    inputs.iter().map(convert).collect()
}

/// Refuses an output that is not of the shape that the operands broadcast to, where it is not resized.
pub(super) fn check_shape(output: &Shape, broadcast: &Shape) -> Result<()> {
    if output == broadcast {
        return Ok(());
    }
    let (output, broadcast) = (output.sizes().to_vec(), broadcast.sizes().to_vec());
    Err(Rejection::OutputShape { output, broadcast }.into())
}

/// Refuses a result that an output cannot be cast from (`canCast`).
pub(super) fn check_cast(from: DType, to: DType) -> Result<()> {
    if from.can_cast_to(to) { Ok(()) } else { Err(Rejection::CannotCast { from, to: to.libtorch_name() }.into()) }
}

/// The layout of a new result (`fast_set_up`, `reorder_dimensions`, `allocate_or_resize_outputs`): contiguous if all
/// operands are, or with the channels innermost; the operands' own strides if they agree on some; else dense, in the
/// order of the operands' strides.
pub(super) fn result_layout(inputs: &[Input], shape: &Shape) -> Layout {
    let layouts: Vec<Layout> = inputs.iter().map(Input::layout).collect();
    let same_shape = layouts.iter().all(|layout| layout.shape == *shape);
    if same_shape && layouts.iter().all(Layout::is_contiguous) {
        return Layout::contiguous(shape.clone());
    }
    if same_shape && layouts.iter().all(Layout::is_channels_last) {
        return Layout::channels_last(shape.clone());
    }
    if same_shape && layouts.iter().all(|layout| layout.is_dense() && layout.strides == layouts[0].strides) {
        return Layout { offset: 0, ..layouts[0].clone() };
    }
    in_order(&layouts, shape)
}

/// Dense, in the order of the strides.
fn in_order(layouts: &[Layout], shape: &Shape) -> Layout {
    let strides: Vec<Vec<i64>> = layouts.iter().map(|layout| broadcast_strides(layout, shape)).collect();
    let order = iteration_order(shape, &strides);
    let innermost_last: Vec<usize> = (0..shape.rank()).rev().collect();
    if order == innermost_last {
        return Layout::contiguous(shape.clone());
    }
    let mut result = vec![0; shape.rank()];
    let mut next = 1;
    for &dim in &order {
        result[dim] = next;
        next = i64::wrapping_mul(next, shape.sizes()[dim]);
    }
    Layout { shape: shape.clone(), strides: result, offset: 0 }
}

/// The layout of a new tensor like another one (`empty_like`): the same strides, if it is dense.
pub(super) fn like(tensor: &Tensor) -> Layout {
    if tensor.layout.is_dense() {
        Layout { offset: 0, ..tensor.layout.clone() }
    } else {
        result_layout(&[Input::Tensor(tensor.clone())], tensor.shape())
    }
}

/// The layout of a copy that keeps the order of the dimensions: that of the original if it has neither gaps nor
/// repetitions, else the nearest such (`infer_dense_strides`).
pub(super) fn dense(layout: &Layout) -> Layout {
    if layout.is_dense() {
        return Layout { offset: 0, ..layout.clone() };
    }
    let mut strides = vec![1; layout.shape.rank()];
    let mut next = 1;
    for dim in iteration_order(&layout.shape, std::slice::from_ref(&layout.strides)) {
        strides[dim] = next;
        next = i64::wrapping_mul(next, layout.shape.sizes()[dim].max(1));
    }
    Layout { shape: layout.shape.clone(), strides, offset: 0 }
}

/// The way in which a new tensor is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// By its sizes alone (`empty`).
    RowMajor,
    /// By sizes and strides (`empty_strided`).
    Strided,
}

/// The way in which a result of this layout is allocated.
pub(super) fn request(layout: &Layout) -> Request {
    let row_major = layout.strides == Layout::contiguous(layout.shape.clone()).strides;
    if row_major { Request::RowMajor } else { Request::Strided }
}

/// Refuses a new tensor that there is no memory for (`empty_generic`, `alloc_cpu`). What there may be memory for, and
/// the reference has no use for, is unsupported. Of a tensor without elements only the numbers matter.
pub(super) fn check_memory(layout: &Layout, dtype: DType, request: Request, elements: bool) -> Result<()> {
    let (sizes, strides) = (layout.shape.sizes(), &layout.strides);
    let count = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size as u64));
    let bytes = count.and_then(|count| count.checked_mul(dtype.size() as u64));
    match bytes.and_then(|bytes| i64::try_from(bytes).ok()) {
        None if request == Request::RowMajor => Err(Rejection::StorageOverflow { sizes: sizes.to_vec() }.into()),
        // The loop over the strides ends at a size of 0, and the sizes are multiplied once more.
        None if sizes.contains(&0) => Err(Rejection::Numel.into()),
        None => Err(Rejection::StridedOverflow { sizes: sizes.to_vec(), strides: strides.clone() }.into()),
        Some(bytes) if elements && bytes >= ADDRESS_SPACE => Err(Rejection::NoMemory { bytes }.into()),
        Some(bytes) if elements && bytes as usize > VALUE_LIMIT => Err(too_large(bytes as usize)),
        Some(0) if request == Request::RowMajor && !has_strides(sizes) => Err(Rejection::StrideOverflow.into()),
        Some(_) => Ok(()),
    }
}

/// Returns whether row-major strides can be counted.
fn has_strides(sizes: &[i64]) -> bool {
    sizes.iter().skip(1).try_fold(1i64, |product, &size| product.checked_mul(size.max(1))).is_some()
}

/// The same for the copies of operands that are converted to another dtype, and for those that are too large for the
/// reference to look at.
pub(super) fn check_operands_memory(inputs: &[Input], common: DType, elements: bool) -> Result<()> {
    for input in inputs {
        let Input::Tensor(tensor) = input else { continue };
        if tensor.dtype != common {
            let copy = dense(&tensor.layout);
            if *tensor.shape() != Shape::scalar() {
                check_memory(&copy, common, Request::Strided, elements)?;
            }
        }
    }
    Ok(())
}

/// The bytes that a process on x86-64 can have at most.
const ADDRESS_SPACE: i64 = 1 << 47;

/// Reports a value beyond the limit as unsupported.
pub(super) fn too_large(bytes: usize) -> Stop {
    Stop::Unsupported(format!("a value of {bytes} bytes: the limit is {} MiB", VALUE_LIMIT >> 20))
}

/// When the loop comes to each element of a target, given row-major: the elements before one in the loop have smaller
/// numbers.
pub(super) fn loop_places(target: &Layout, inputs: &[Input], shape: &Shape) -> Vec<usize> {
    charge(shape.numel());
    let strides = inputs.iter().map(|input| broadcast_strides(&input.layout(), shape));
    let strides: Vec<Vec<i64>> = std::iter::once(target.strides.clone()).chain(strides).collect();
    let mut places = vec![0; shape.rank()];
    let mut next = 1;
    for dim in iteration_order(shape, &strides) {
        places[dim] = next;
        next *= shape.sizes()[dim];
    }
    Layout { shape: shape.clone(), strides: places, offset: 0 }.positions().collect()
}

fn broadcast_strides(layout: &Layout, shape: &Shape) -> Vec<i64> {
    let missing = shape.rank() - layout.shape.rank();
    (0..shape.rank())
        .map(|dim| match dim.checked_sub(missing) {
            Some(own) if layout.shape.sizes()[own] != 1 || shape.sizes()[dim] == 1 => layout.strides[own],
            _ => 0,
        })
        .collect()
}

/// The dimensions from the fastest to the slowest (`reorder_dimensions`): an insertion sort that leaves ambiguous pairs
/// as they are.
fn iteration_order(shape: &Shape, strides: &[Vec<i64>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..shape.rank()).rev().collect();
    for start in 1..order.len() {
        let mut at = start;
        for before in (0..start).rev() {
            match compare(shape, strides, order[before], order[at]) {
                std::cmp::Ordering::Greater => {
                    order.swap(before, at);
                    at = before;
                }
                std::cmp::Ordering::Less => break,
                std::cmp::Ordering::Equal => {}
            }
        }
    }
    order
}

fn compare(shape: &Shape, strides: &[Vec<i64>], a: usize, b: usize) -> std::cmp::Ordering {
    use std::cmp::Ordering::*;
    for operand in strides {
        let (stride_a, stride_b) = (operand[a], operand[b]);
        if stride_a == 0 || stride_b == 0 {
            continue;
        }
        if stride_a != stride_b {
            return stride_a.cmp(&stride_b);
        }
        // Equal strides: only a larger size decides, and only in this direction.
        if shape.sizes()[a] > shape.sizes()[b] {
            return Greater;
        }
    }
    Equal
}
