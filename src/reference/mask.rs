//! Masks: booleans that say which elements of a tensor an operation is about.

use crate::error::Rejection;
use crate::ops::Form;
use crate::tensor::{DType, Layout, Scalar, Shape};

use super::elementwise;
use super::held::check_held;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::selection::{self, Put, numbering, record_picked, record_put};
use super::{autograd, view, write};

/// `masked_fill`: the functional form fills a copy that is broadcast with the mask, the mask being named first; the
/// in-place form lets only the mask broadcast.
pub(super) fn masked_fill(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (id, mask) = (call.tensor(0)?, machine.tensor(call.tensor(1)?).clone());
    let operand = machine.tensor(id).clone();
    let value = elementwise::input(machine, call, 2)?;
    let target = begin(machine, call, &mask, &operand, &value)?;
    let (number, source): (Option<Scalar>, _) = match &value {
        Input::Tensor(tensor) if tensor.shape().rank() > 0 => {
            return Err(Rejection::MaskedFillRank { rank: tensor.shape().rank() }.into());
        }
        Input::Tensor(tensor) => (only(machine, tensor), Some(tensor)),
        Input::Number(number) => (Some(*number), None),
    };
    let pairs = fill(machine, target, &mask, number)?;
    record_put(machine, call, target, &operand, Put { pairs, source, repeated: true, accumulated: false })
}

/// The element of a tensor that has one, if it is there.
pub(super) fn only(machine: &Machine, tensor: &Tensor) -> Option<Scalar> {
    machine.has_elements().then(|| machine.get(tensor.storage, tensor.layout.offset as usize))
}

/// Puts `value`, if it is there, where the mask is true, and returns these numbers, each with that of the value, which is 0
/// (`masked_fill_impl_cpu`).
pub(super) fn fill(
    machine: &mut Machine,
    target: TensorId,
    mask: &Tensor,
    value: Option<Scalar>,
) -> Result<Vec<(usize, usize)>> {
    let tensor = machine.tensor(target).clone();
    infer_fill(machine, &tensor, mask, value)?;
    let Some(value) = value.filter(|_| machine.has_elements()) else {
        machine.put(tensor.storage, []);
        return Ok(Vec::new());
    };
    let numbers = selected(&truths(machine, mask, tensor.shape()));
    // As one write: what gradients need is not modified by more of them.
    let places: Vec<usize> = tensor.layout.positions().collect();
    machine.put(tensor.storage, numbers.iter().map(|&number| (places[number], value)));
    Ok(numbers.into_iter().map(|number| (number, 0)).collect())
}

/// The order of faults: the mask's dtype, overlap, the shapes, the number, which is held if it is not there.
fn infer_fill(machine: &mut Machine, target: &Tensor, mask: &Tensor, value: Option<Scalar>) -> Result<()> {
    if mask.dtype != DType::Bool {
        return Err(Rejection::MaskedFillMask { dtype: mask.dtype }.into());
    }
    warn_expanded(machine, target, FILL_EXPANDED);
    iterator::check_partial_overlap(target, mask)?;
    let shape = target.shape().broadcast(mask.shape())?;
    iterator::check_shape(target.shape(), &shape)?;
    value.map_or(Ok(()), |value| check_held(value, target.dtype))
}

/// `masked_scatter`: the elements of the source, one after the other, go where the mask is true.
pub(super) fn masked_scatter(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (id, mask) = (call.tensor(0)?, machine.tensor(call.tensor(1)?).clone());
    let (operand, source) = (machine.tensor(id).clone(), machine.tensor(call.tensor(2)?).clone());
    let target = begin(machine, call, &mask, &operand, &Input::Tensor(source.clone()))?;
    let tensor = machine.tensor(target).clone();
    let mask = infer_masked_scatter(machine, call, &tensor, mask, &source)?;
    let pairs = write_masked(machine, &tensor, &mask, &source)?;
    let source = Some(&source);
    record_put(machine, call, target, &operand, Put { pairs, source, repeated: false, accumulated: false })
}

/// The mask in the shape of the target. In place it is expanded, with the faults of `expand`.
fn infer_masked_scatter(
    machine: &mut Machine,
    call: &Call,
    target: &Tensor,
    mask: Tensor,
    source: &Tensor,
) -> Result<Tensor> {
    iterator::check_internal_overlap(target)?;
    if target.dtype != source.dtype {
        return Err(Rejection::MaskedScatterDtypes { own: target.dtype, source: source.dtype }.into());
    }
    let layout = match call.form {
        Form::InPlace if mask.shape() != target.shape() => {
            view::expanded(&mask.layout, mask.dtype, target.shape().sizes())?
        }
        _ => mask.layout.expand(target.shape()).expect("the copy was broadcast with the mask"),
    };
    if mask.dtype == DType::Uint8 {
        machine.warnings.push(SCATTER_BYTES.to_owned());
    }
    if mask.dtype != DType::Bool {
        return Err(Rejection::MaskedScatterMask { dtype: mask.dtype }.into());
    }
    Ok(Tensor { layout, ..mask })
}

/// Writes what comes of the source before it is used up, and returns the numbers in target and source. The mask is read as
/// the loop goes, and a contiguous source where it lies, even while they are written to.
fn write_masked(machine: &mut Machine, target: &Tensor, mask: &Tensor, source: &Tensor) -> Result<Vec<(usize, usize)>> {
    if !machine.has_elements() {
        machine.put(target.storage, []);
        return Ok(Vec::new());
    }
    let copy = (!source.layout.is_contiguous()).then(|| machine.elements_as_scalars(source));
    let mut pairs = Vec::new();
    for (number, (place, asked)) in target.layout.positions().zip(mask.layout.positions()).enumerate() {
        if machine.get(mask.storage, asked) != Scalar::Bool(true) {
            continue;
        }
        let next = pairs.len();
        if next == source.shape().numel() {
            return Err(Rejection::MaskedScatterCount.into());
        }
        let value = match &copy {
            Some(values) => values[next],
            None => machine.get(source.storage, source.layout.offset as usize + next),
        };
        machine.put(target.storage, [(place, value)]);
        pairs.push((number, next));
    }
    Ok(pairs)
}

/// `masked_select`: the elements where the mask is true, row by row, the mask and the tensor broadcast together
/// (`masked_select_out_impl_cpu`).
pub(super) fn masked_select(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (operand, mask) = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone()).into();
    let shape = infer_select(machine, call, &operand, &mask)?;
    let own = numbering(machine, operand.shape(), &shape);
    let expanded = mask.layout.expand(&shape).expect("the mask broadcasts to this shape");
    let chosen = selected(&match machine.has_elements() {
        true => truths(machine, &mask, &shape),
        false => known(machine, &Tensor { layout: expanded, ..mask.clone() })?,
    });
    let result = Shape::new(vec![chosen.len() as i64]).expect("so many elements are there");
    let numbers: Vec<usize> = chosen.into_iter().filter(|_| machine.has_elements()).map(|at| own[at]).collect();
    write::prepare(machine, call.out, &result)?;
    let result = selection::deliver(machine, call.out, &operand, &numbers, Layout::contiguous(result));
    record_picked(machine, call, result, &operand, numbers);
    Ok(Slot::Tensor(result))
}

/// The booleans of a mask that decides a shape, row-major.
pub(super) fn known(machine: &Machine, mask: &Tensor) -> Result<Vec<bool>> {
    machine.known(mask).ok_or_else(|| Stop::Unknown("the elements of the mask decide the shape".to_owned()))
}

/// The shape that the mask and the tensor broadcast to.
fn infer_select(machine: &Machine, call: &Call, operand: &Tensor, mask: &Tensor) -> Result<Shape> {
    autograd::check_target(machine, call, &[Input::Tensor(operand.clone())])?;
    if mask.dtype != DType::Bool {
        return Err(Rejection::MaskedSelectMask.into());
    }
    if let Some(out) = call.out {
        let tensor = machine.tensor(out);
        if tensor.dtype != operand.dtype {
            return Err(Rejection::SelectOutDtype { function: "masked_select" }.into());
        }
        iterator::check_internal_overlap(tensor)?;
        write::check_apart(machine, out, [call.tensor(0)?, call.tensor(1)?])?;
    }
    Ok(mask.shape().broadcast(operand.shape())?)
}

/// The numbers of the elements where a mask is true.
fn selected(truths: &[bool]) -> Vec<usize> {
    (0..truths.len()).filter(|&number| truths[number]).collect()
}

/// The booleans of a mask, broadcast to a shape.
fn truths(machine: &Machine, mask: &Tensor, shape: &Shape) -> Vec<bool> {
    let expanded = mask.layout.expand(shape).expect("the mask broadcasts to this shape");
    machine.buffer(mask.storage).gather(&expanded)
}

/// Warns of a target that has internal overlap.
pub(super) fn warn_expanded(machine: &mut Machine, tensor: &Tensor, warning: &str) {
    if iterator::check_internal_overlap(tensor).is_err() {
        machine.warnings.push(warning.to_owned());
    }
}

/// The tensor that is written to: the operand in place, or a contiguous copy of it that is broadcast with the mask
/// (`expand_outplace`, `clone`).
fn begin(machine: &mut Machine, call: &Call, mask: &Tensor, operand: &Tensor, value: &Input) -> Result<TensorId> {
    if call.form == Form::InPlace {
        let id = call.tensor(0)?;
        autograd::check_in_place(machine, call, id, &[Input::Tensor(operand.clone()), value.clone()])?;
        return Ok(id);
    }
    let shape = mask.shape().broadcast(operand.shape())?;
    let layout = operand.layout.expand(&shape).ok_or_else(|| Stop::Malformed("shapes that broadcast".to_owned()))?;
    let copy = Tensor { layout, node: None, ..operand.clone() };
    let copy = write::restride(machine, &copy, Layout::contiguous(shape));
    Ok(machine.add(copy))
}

const FILL_EXPANDED: &str = "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before \
    performing this operation. This also applies to advanced indexing e.g. tensor[mask] = scalar";

const SCATTER_BYTES: &str = "masked_scatter_ received a mask with dtype torch.uint8, this behavior is now \
    deprecated,please use a mask with dtype torch.bool instead.";
