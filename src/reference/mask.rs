//! Masks: booleans that say which elements of a tensor an operation is about.

use crate::error::{IndexFault, PointwiseFault, Rejection};
use crate::ops::Form;
use crate::tensor::{Category, DType, Layout, Scalar, Shape};

use super::autograd::{self, Route};
use super::elementwise;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::view;

/// `masked_fill`: the functional form fills a copy that is broadcast with the mask, the mask being named first; the
/// in-place form lets only the mask broadcast.
pub(super) fn masked_fill(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (id, mask) = (call.tensor(0)?, machine.tensor(call.tensor(1)?).clone());
    let operand = machine.tensor(id).clone();
    let value = elementwise::input(machine, call, 2)?;
    let target = match call.form {
        Form::InPlace => {
            autograd::check_in_place(machine, call, id, &[Input::Tensor(operand.clone()), value.clone()])?;
            id
        }
        _ => broadcast_copy(machine, &mask, &operand)?,
    };
    let number = match &value {
        Input::Tensor(tensor) if tensor.shape().rank() > 0 => {
            return Err(IndexFault::FillRank { rank: tensor.shape().rank() }.into());
        }
        Input::Tensor(tensor) => machine.get(tensor.storage, tensor.layout.offset as usize),
        Input::Number(number) => *number,
    };
    let mask = fill(machine, target, &mask, number)?;
    let kept = (0..mask.len()).filter(|&at| !mask[at]);
    let mut routes = vec![own_route(&operand, machine.tensor(target).shape(), kept)];
    if let Input::Tensor(tensor) = &value {
        let filled = (0..mask.len()).filter(|&at| mask[at]).map(|at| (at, 0)).collect();
        routes.push(Route { node: tensor.node, shape: Shape::scalar(), pairs: filled, added: true });
    }
    finish(machine, call, target, routes)
}

/// Puts `value` where the mask is true, and tells where that is (`masked_fill_impl_cpu`). The order of faults: the mask's
/// dtype, overlap, the shapes, the number.
pub(super) fn fill(machine: &mut Machine, target: TensorId, mask: &Tensor, value: Scalar) -> Result<Vec<bool>> {
    let tensor = machine.tensor(target).clone();
    if mask.dtype != DType::Bool {
        return Err(IndexFault::FillMask { dtype: mask.dtype }.into());
    }
    warn_expanded(machine, &tensor, FILL_EXPANDED);
    iterator::check_partial_overlap(&tensor, mask)?;
    let shape = tensor.shape().broadcast(mask.shape())?;
    if shape != *tensor.shape() {
        let (output, broadcast) = (tensor.shape().sizes().to_vec(), shape.sizes().to_vec());
        return Err(Rejection::OutputShape { output, broadcast }.into());
    }
    check_number(value, tensor.dtype)?;
    let mask = truths(machine, mask, &shape);
    let places = tensor.layout.positions().zip(&mask).filter(|(_, masked)| **masked).map(|(place, _)| (place, value));
    machine.put(tensor.storage, places.collect::<Vec<_>>());
    Ok(mask)
}

/// `masked_scatter`: the elements of the source, one after the other, go where the mask is true. In-place the mask is
/// expanded to the target, with the faults of `expand`. The elements before one that is missing have been written.
pub(super) fn masked_scatter(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (id, mask) = (call.tensor(0)?, machine.tensor(call.tensor(1)?).clone());
    let (operand, source) = (machine.tensor(id).clone(), machine.tensor(call.tensor(2)?).clone());
    let target = match call.form {
        Form::InPlace => {
            let inputs = [Input::Tensor(operand.clone()), Input::Tensor(source.clone())];
            autograd::check_in_place(machine, call, id, &inputs)?;
            id
        }
        _ => broadcast_copy(machine, &mask, &operand)?,
    };
    let tensor = machine.tensor(target).clone();
    iterator::check_internal_overlap(&tensor)?;
    if tensor.dtype != source.dtype {
        return Err(IndexFault::ScatterDtypes { own: tensor.dtype, source: source.dtype }.into());
    }
    let broadcast = match call.form {
        Form::InPlace if mask.shape() != tensor.shape() => {
            view::expanded(&mask.layout, mask.dtype, tensor.shape().sizes())?
        }
        _ => mask.layout.expand(tensor.shape()).expect("the copy was broadcast with the mask"),
    };
    if mask.dtype == DType::Uint8 {
        machine.warnings.push(SCATTER_BYTES.to_owned());
    }
    if mask.dtype != DType::Bool {
        return Err(IndexFault::ScatterMask { dtype: mask.dtype }.into());
    }
    // The mask is read as the loop goes, and a contiguous source where it lies, even while they are written to.
    let asked: Vec<usize> = broadcast.positions().collect();
    let mut truths = vec![false; asked.len()];
    let copy: Option<Vec<Scalar>> = (!source.layout.is_contiguous()).then(|| scalars(machine, &source));
    let count = source.shape().numel();
    let mut next = 0;
    let mut moved = Vec::new();
    for (at, place) in tensor.layout.positions().enumerate() {
        truths[at] = machine.get(mask.storage, asked[at]) == Scalar::Bool(true);
        if !truths[at] {
            continue;
        }
        if next == count {
            return Err(IndexFault::SourceCount {}.into());
        }
        let value = match &copy {
            Some(values) => values[next],
            None => machine.get(source.storage, source.layout.offset as usize + next),
        };
        machine.put(tensor.storage, [(place, value)]);
        moved.push((at, next));
        next += 1;
    }
    let kept = (0..truths.len()).filter(|&at| !truths[at]);
    let routes = vec![
        own_route(&operand, tensor.shape(), kept),
        Route { node: source.node, shape: source.shape().clone(), pairs: moved, added: false },
    ];
    finish(machine, call, target, routes)
}

/// `masked_select`: the elements where the mask is true, row by row, the mask and the tensor broadcast together
/// (`masked_select_out_impl_cpu`).
pub(super) fn masked_select(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (id, mask_id) = (call.tensor(0)?, call.tensor(1)?);
    let (operand, mask) = (machine.tensor(id).clone(), machine.tensor(mask_id).clone());
    if let Some(out) = call.target()? {
        autograd::check_in_place(machine, call, out, &[Input::Tensor(operand.clone())])?;
    }
    if mask.dtype != DType::Bool {
        return Err(IndexFault::SelectMask {}.into());
    }
    if let Some(out) = call.out {
        let tensor = machine.tensor(out);
        if tensor.dtype != operand.dtype {
            return Err(IndexFault::SelectDtype {}.into());
        }
        iterator::check_internal_overlap(tensor)?;
        iterator::check_no_overlap(tensor, &operand, out == id)?;
        iterator::check_no_overlap(tensor, &mask, out == mask_id)?;
    }
    let shape = mask.shape().broadcast(operand.shape())?;
    let truths = truths(machine, &mask, &shape);
    let taken = |of: &Layout| -> Vec<usize> {
        let expanded = of.expand(&shape).expect("broadcast to this shape");
        expanded.positions().zip(&truths).filter(|(_, truth)| **truth).map(|(position, _)| position).collect()
    };
    let positions = taken(&operand.layout);
    let result = Shape::new(vec![positions.len() as i64]).expect("so many elements are there");
    let result = deliver(machine, call.out, &operand, result, &positions)?;
    let own = taken(&Layout::contiguous(operand.shape().clone()));
    record_taken(machine, call, result, &operand, own);
    Ok(Slot::Tensor(result))
}

/// Where gradients would flow through a new tensor of integers libtorch refuses, once everything is done; in place it does
/// not (`set_history`, `rebase_history`).
pub(super) fn check_history(machine: &Machine, call: &Call, target: TensorId, flows: bool) -> Result<()> {
    let dtype = machine.tensor(target).dtype;
    let new = call.form == Form::Functional;
    if flows && new && dtype.category() < Category::Floating {
        return Err(IndexFault::NotDifferentiable { dtype }.into());
    }
    Ok(())
}

/// Notes the ways back.
pub(super) fn finish(machine: &mut Machine, call: &Call, target: TensorId, routes: Vec<Route>) -> Result<Slot> {
    check_history(machine, call, target, routes.iter().any(|route| route.node.is_some()))?;
    autograd::record_routes(machine, call, target, routes);
    Ok(Slot::Tensor(target))
}

/// A new tensor, or the resized `out`, with the elements of `operand` that lie at these positions.
pub(super) fn deliver(
    machine: &mut Machine,
    out: Option<TensorId>,
    operand: &Tensor,
    shape: Shape,
    positions: &[usize],
) -> Result<TensorId> {
    let layout = Layout::contiguous(shape);
    if let Some(out) = out.filter(|out| *machine.tensor(*out).shape() != layout.shape) {
        elementwise::resize_output(machine, out, layout.clone(), 1)?;
    }
    let values = positions.iter().map(|&position| machine.get(operand.storage, position)).collect::<Vec<_>>();
    let values = crate::tensor::Buffer::from_scalars(operand.dtype, values.into_iter());
    Ok(match out {
        Some(out) => {
            let tensor = machine.tensor(out).clone();
            machine.write(&tensor, &values);
            out
        }
        None => {
            let tensor = machine.allocate(layout, values);
            machine.add(tensor)
        }
    })
}

/// Notes a result whose elements are those of `operand` with these row-major numbers.
pub(super) fn record_taken(machine: &mut Machine, call: &Call, result: TensorId, operand: &Tensor, own: Vec<usize>) {
    let pairs = own.into_iter().enumerate().collect();
    let route = Route { node: operand.node, shape: operand.shape().clone(), pairs, added: true };
    if call.form == Form::Functional {
        autograd::record_routes(machine, call, result, vec![route]);
    }
}

/// The way back to an operand for some elements of a result that the operand was broadcast to.
pub(super) fn own_route(operand: &Tensor, shape: &Shape, kept: impl Iterator<Item = usize>) -> Route {
    let numbers = Layout::contiguous(operand.shape().clone()).expand(shape).expect("the operand was broadcast to it");
    let numbers: Vec<usize> = numbers.positions().collect();
    let same = operand.shape() == shape;
    let pairs = kept.map(|at| (at, numbers[at])).collect();
    Route { node: operand.node, shape: operand.shape().clone(), pairs, added: !same }
}

/// Refuses a number that a dtype cannot hold (`c10::overflows`). Booleans hold everything, and unsigned integers hold
/// the negatives of what they hold.
pub(super) fn check_number(value: Scalar, dtype: DType) -> Result<()> {
    let float = |value: f64| match dtype.category() {
        Category::Bool => false,
        Category::Integral => {
            let (low, high) = integer_range(dtype);
            value.is_nan() || value < low as f64 || value > high as f64
        }
        _ => value.is_finite() && value.abs() > greatest(dtype),
    };
    let overflows = match value {
        _ if dtype == DType::Bool => false,
        Scalar::Bool(_) => false,
        Scalar::Int(value) if dtype.category() == Category::Integral => {
            let (low, high) = integer_range(dtype);
            let low = if low == 0 { -high } else { low };
            value < low || value > high
        }
        Scalar::Int(value) => float(value as f64),
        Scalar::Float(value) => float(value),
        Scalar::Complex(value) => {
            (dtype.category() < Category::Complex && value.im != 0.0) || float(value.re) || float(value.im)
        }
    };
    if overflows { Err(PointwiseFault::Overflow { dtype }.into()) } else { Ok(()) }
}

fn integer_range(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::Uint8 => (0, i64::from(u8::MAX)),
        DType::Int8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        DType::Int16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        DType::Int32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    }
}

fn greatest(dtype: DType) -> f64 {
    match dtype {
        DType::Float16 => f64::from(half::f16::MAX),
        DType::Bfloat16 => f64::from(half::bf16::MAX),
        DType::Float32 | DType::Complex64 => f64::from(f32::MAX),
        _ => f64::MAX,
    }
}

/// Warns of a target that names one element twice.
pub(super) fn warn_expanded(machine: &mut Machine, tensor: &Tensor, warning: &str) {
    if tensor.layout.has_zero_stride() && !tensor.layout.is_dense() {
        machine.warnings.push(warning.to_owned());
    }
}

/// The elements of a tensor, row-major.
pub(super) fn scalars(machine: &Machine, tensor: &Tensor) -> Vec<Scalar> {
    tensor.layout.positions().map(|position| machine.get(tensor.storage, position)).collect()
}

/// The booleans of a mask, broadcast to a shape.
fn truths(machine: &Machine, mask: &Tensor, shape: &Shape) -> Vec<bool> {
    let expanded = mask.layout.expand(shape).expect("the mask broadcasts to this shape");
    machine.buffer(mask.storage).gather(&expanded)
}

/// A contiguous copy of the operand, broadcast with the mask (`expand_outplace`, `clone`).
fn broadcast_copy(machine: &mut Machine, mask: &Tensor, operand: &Tensor) -> Result<TensorId> {
    let shape = mask.shape().broadcast(operand.shape())?;
    let expanded = operand.layout.expand(&shape).ok_or_else(|| Stop::Malformed("shapes that broadcast".to_owned()))?;
    let copy = Tensor { layout: expanded, node: None, ..operand.clone() };
    let copy = elementwise::restride(machine, &copy, Layout::contiguous(shape));
    Ok(machine.add(copy))
}

const FILL_EXPANDED: &str = "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before \
    performing this operation. This also applies to advanced indexing e.g. tensor[mask] = scalar";

const SCATTER_BYTES: &str = "masked_scatter_ received a mask with dtype torch.uint8, this behavior is now \
    deprecated,please use a mask with dtype torch.bool instead.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_dtypes_hold() {
        let holds = |value: Scalar, dtype| check_number(value, dtype).is_ok();
        assert!(holds(Scalar::Int(-255), DType::Uint8) && !holds(Scalar::Int(-256), DType::Uint8));
        assert!(!holds(Scalar::Float(-0.5), DType::Uint8) && holds(Scalar::Float(-0.5), DType::Int8));
        assert!(holds(Scalar::Float(f64::INFINITY), DType::Float16) && !holds(Scalar::Int(65505), DType::Float16));
        assert!(holds(Scalar::Float(f64::NAN), DType::Bool) && !holds(Scalar::Float(f64::NAN), DType::Int64));
    }
}
