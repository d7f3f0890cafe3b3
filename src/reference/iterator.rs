//! What libtorch's `TensorIterator` decides before any element is computed: the common dtype, the broadcast shape, the
//! overlap of what is written with what is read, and the strides of a new result.

use crate::error::Rejection;
use crate::tensor::{Category, DType, Layout, Scalar, Shape};

use super::machine::{Result, Tensor};

/// An operand of an elementwise operation.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// A tensor.
    Tensor(Tensor),
    /// A number, which libtorch wraps into a tensor without dimensions that yields in promotion.
    Number(Scalar),
}

impl Input {
    pub fn shape(&self) -> Shape {
        match self {
            Input::Tensor(tensor) => tensor.shape().clone(),
            Input::Number(_) => Shape::scalar(),
        }
    }

    pub fn dtype(&self) -> DType {
        match self {
            Input::Tensor(tensor) => tensor.dtype,
            Input::Number(number) => number.dtype(),
        }
    }
}

/// The dtype in which operands meet (`at::result_type`): tensors with dimensions, tensors without, and numbers are three
/// ranks; a lower rank counts only if its category is higher.
pub(super) fn result_type(inputs: &[Input]) -> DType {
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
    let [dimensioned, scalars, numbers] = ranks;
    combine(dimensioned, combine(scalars, numbers)).expect("an operation has operands")
}

/// One rank and the next lower one (`combine_categories`).
fn combine(higher: Option<DType>, lower: Option<DType>) -> Option<DType> {
    let (Some(high), Some(low)) = (higher, lower) else { return higher.or(lower) };
    Some(match high.category() {
        Category::Complex => high,
        Category::Floating if low.category() == Category::Complex => match high {
            DType::Float64 => DType::Complex128,
            _ => DType::Complex64,
        },
        Category::Floating => high,
        Category::Bool => high.promote(low),
        Category::Integral if low.category() >= Category::Floating => high.promote(low),
        Category::Integral => high,
    })
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

/// Whether two views of one storage certainly share some memory but are not the same view (`get_overlap_status`).
fn overlaps_in_part(a: &Tensor, b: &Tensor) -> bool {
    let dense = |tensor: &Tensor| tensor.layout.is_dense() && tensor.shape().numel() > 0;
    if a.storage != b.storage || !dense(a) || !dense(b) {
        return false;
    }
    let range = |tensor: &Tensor| (tensor.layout.offset, tensor.layout.offset + tensor.shape().numel() as i64);
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

/// The layout of a new result (`fast_set_up`, `reorder_dimensions`, `allocate_or_resize_outputs`): contiguous if all
/// operands are; the operands' own strides if they agree on some; else dense, in the order of the operands' strides.
pub(super) fn result_layout(inputs: &[Input], shape: &Shape) -> Layout {
    let layouts: Vec<Layout> = inputs
        .iter()
        .map(|input| match input {
            Input::Tensor(tensor) => tensor.layout.clone(),
            Input::Number(_) => Layout::contiguous(Shape::scalar()),
        })
        .collect();
    let same_shape = layouts.iter().all(|layout| layout.shape == *shape);
    if same_shape && layouts.iter().all(Layout::is_contiguous) {
        return Layout::contiguous(shape.clone());
    }
    if same_shape && layouts.iter().all(|layout| layout.is_dense() && layout.strides == layouts[0].strides) {
        return Layout { offset: 0, ..layouts[0].clone() };
    }
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
        next *= shape.sizes()[dim];
    }
    Layout { shape: shape.clone(), strides: result, offset: 0 }
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
