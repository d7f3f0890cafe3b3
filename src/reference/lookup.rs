//! Elements that are looked for among others. Neither broadcasts: each element is compared with all, or with those of the
//! row that its own position names.

use crate::error::Rejection;
use crate::program::Arg;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Shape};

use super::budget::charge_product;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, Tensor};
use super::number::with_real_type;
use super::{reduction, write};

/// `isin`: for each element whether it equals any of the others, in the dtype that both promote to.
pub(super) fn isin(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [elements, others] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    let invert = call.flag(3)?;
    infer_isin([elements.dtype, others.dtype])?;
    let shape = elements.shape().clone();
    reduction::set_output(machine, call.out, &shape, DType::Bool)?;
    if let Some(out) = call.out.filter(|_| shape.numel() > 0) {
        iterator::check_internal_overlap(machine.tensor(out))?;
    }
    let common = iterator::result_type(&[Input::Tensor(elements.clone()), Input::Tensor(others.clone())]);
    let truths = machine.eval(DType::Bool, || {
        charge_product(&[shape.numel(), others.shape().numel()]);
        with_real_type!(common, T => {
            let others = machine.elements::<T>(&others);
            let found = machine.elements::<T>(&elements).into_iter().map(|element| others.contains(&element) != invert);
            bool::wrap(found.collect())
        })
    });
    Ok(Slot::Tensor(write::deliver(machine, call.out, &shape, truths)))
}

/// Refuses what is not ordered.
fn infer_isin(dtypes: [DType; 2]) -> Result<()> {
    let refused = |dtype: &DType| *dtype == DType::Bool || dtype.category() == Category::Complex;
    match dtypes.into_iter().find(refused) {
        Some(dtype) => Err(Rejection::IsinDtype { dtype }.into()),
        None => Ok(()),
    }
}

/// `searchsorted`: for each value the place among the boundaries of its row at which it could be inserted.
pub(super) fn searchsorted(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [boundaries, values] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    let side = match call.args.get(4) {
        Some(Operand::Other(Arg::Text(side))) => Some(side.as_str()),
        _ => None,
    };
    check_side(side, call.flag(3)?)?;
    search(machine, call, &boundaries, &values, (call.flag(2)?, side.map_or(call.flag(3)?, |side| side == "right")))
}

/// `bucketize`: the same among the boundaries of one vector, which is the second operand.
pub(super) fn bucketize(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [values, boundaries] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    if boundaries.shape().rank() != 1 {
        return Err(Rejection::BucketizeRank { rank: boundaries.shape().rank() }.into());
    }
    search(machine, call, &boundaries, &values, (call.flag(2)?, call.flag(3)?))
}

/// Refuses a side that is none, or not the one that `right` names.
fn check_side(side: Option<&str>, right: bool) -> Result<()> {
    match side {
        Some("") => Err(Stop::Unsupported("a side without a name".to_owned())),
        Some(side) if !["left", "right"].contains(&side) => Err(Rejection::SearchSide { side: side.to_owned() }.into()),
        Some("left") if right => Err(Rejection::SearchOpposites.into()),
        _ => Ok(()),
    }
}

fn search(
    machine: &mut Machine,
    call: &Call,
    boundaries: &Tensor,
    values: &Tensor,
    (narrow, right): (bool, bool),
) -> Result<Slot> {
    let dtype = if narrow { DType::Int32 } else { DType::Int64 };
    infer_search(machine, call, boundaries, values, dtype)?;
    let shape = values.shape().clone();
    write::prepare(machine, call.out, &shape)?;
    if shape.numel() == 0 {
        let empty = machine.zeros(dtype, 0);
        return Ok(Slot::Tensor(write::deliver(machine, call.out, &shape, empty)));
    }
    let common = check_search(machine, call, boundaries, values)?;
    let found = machine.eval(dtype, || {
        let row = boundaries.shape().sizes().last().copied().unwrap_or(1) as usize;
        let places = with_real_type!(common, T => {
            let (rows, values) = (machine.elements::<T>(boundaries), machine.elements::<T>(values));
            let inner = shape.sizes().last().copied().unwrap_or(1) as usize;
            let own = |at: usize| if boundaries.shape().rank() == 1 { 0 } else { at / inner * row };
            let mut places = Vec::with_capacity(values.len());
            for (at, value) in values.iter().enumerate() {
                places.push(place(&rows[own(at)..own(at) + row], value, right));
            }
            places
        });
        Buffer::of(dtype, places.into_iter().map(|place| place as i64))
    });
    Ok(Slot::Tensor(write::deliver_in(machine, call.out, Layout::contiguous(shape), found)))
}

/// The dtype that is compared in, once `out` is resized. The order of faults: that dtype, overlap.
fn check_search(machine: &mut Machine, call: &Call, boundaries: &Tensor, values: &Tensor) -> Result<DType> {
    if !values.layout.is_contiguous() {
        machine.warnings.push(SCATTERED_VALUES.to_owned());
    }
    if !boundaries.layout.is_contiguous() {
        machine.warnings.push(SCATTERED_BOUNDARIES.to_owned());
    }
    let common = match boundaries.dtype == values.dtype {
        true => values.dtype,
        false => iterator::result_type(&[boundaries, values].map(|tensor| Input::Tensor(tensor.clone()))),
    };
    if common == DType::Bool || common.category() == Category::Complex {
        return Err(Rejection::NoKernel { kernel: "searchsorted_out_cpu", dtype: common }.into());
    }
    if let Some(out) = call.out.filter(|out| !machine.tensor(*out).layout.is_contiguous()) {
        iterator::check_internal_overlap(machine.tensor(out))?;
    }
    Ok(common)
}

/// The place of the first boundary that is not less than the value, or, if `right`, that is greater. NaN is the greatest, as
/// in `sort`. The bisection is libtorch's, since boundaries in no order show its steps.
fn place<T: PartialOrd>(boundaries: &[T], value: &T, right: bool) -> usize {
    let (mut start, mut end) = (0, boundaries.len());
    while start < end {
        let middle = start + (end - start) / 2;
        let boundary = &boundaries[middle];
        let before = match is_nan(boundary) {
            true => !right || !is_nan(value),
            false if right => boundary > value,
            false => boundary >= value,
        };
        if before {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}

#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
fn is_nan<T: PartialOrd>(number: &T) -> bool {
    number != number
}

/// The order of faults: a value without dimensions, boundaries without, the leading dimensions, the dtype of `out`.
fn infer_search(machine: &Machine, call: &Call, boundaries: &Tensor, values: &Tensor, dtype: DType) -> Result<()> {
    let (rank, own) = (boundaries.shape().rank(), values.shape().rank());
    if own == 0 && rank != 1 {
        return Err(Rejection::SearchScalar { rank }.into());
    }
    if rank == 0 {
        return Err(Rejection::SearchNoDimensions.into());
    }
    let leading = |shape: &Shape| shape.sizes().split_last().map(|(_, leading)| leading.to_vec());
    if rank != 1 && (rank != own || leading(boundaries.shape()) != leading(values.shape())) {
        let [boundaries, values] = [boundaries, values].map(|tensor| tensor.shape().sizes().to_vec());
        return Err(Rejection::SearchShapes { boundaries, values }.into());
    }
    match call.out.map(|out| machine.tensor(out).dtype).filter(|got| *got != dtype) {
        Some(got) => {
            let flag = if dtype == DType::Int32 { "True" } else { "False" };
            Err(Rejection::SearchOutput { dtype: got, flag }.into())
        }
        None => Ok(()),
    }
}

const SCATTERED_VALUES: &str = "torch.searchsorted(): input value tensor is non-contiguous, this will lower the \
    performance due to extra data copy when converting non-contiguous tensor to contiguous, please use contiguous \
    input value tensor if possible. This message will only appear once per program.";

const SCATTERED_BOUNDARIES: &str = "torch.searchsorted(): boundary tensor is non-contiguous, this will lower the \
    performance due to extra data copy when converting non-contiguous tensor to contiguous, please use contiguous \
    boundary tensor if possible. This message will only appear once per program.";
