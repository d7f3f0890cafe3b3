//! Reductions: every element of the operand goes to one element of the result.

use num_complex::Complex64;

use crate::error::Rejection;
use crate::ops::Op;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::backward;
use super::machine::{Call, Machine, Result, Slot, Tensor, TensorId, wrap_dim};

/// `sum`.
pub(super) fn sum(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let plan = Plan::new(&tensor, call.dims(1)?, call.flag(2)?)?;
    let dtype = sum_dtype(tensor.dtype);
    let result = total(machine, &tensor, &plan, dtype, 1);
    Ok(finish(machine, call.op, &tensor, plan, result, 1))
}

/// `mean`.
pub(super) fn mean(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    if tensor.dtype.category() < Category::Floating {
        return Err(Rejection::MeanDtype { dtype: tensor.dtype }.into());
    }
    let plan = Plan::new(&tensor, call.dims(1)?, call.flag(2)?)?;
    let count = plan.count(&tensor);
    let result = total(machine, &tensor, &plan, tensor.dtype, count);
    Ok(finish(machine, call.op, &tensor, plan, result, count))
}

/// `all`.
pub(super) fn all(machine: &mut Machine, call: &Call) -> Result<Slot> {
    truth(machine, call, true)
}

/// `any`.
pub(super) fn any(machine: &mut Machine, call: &Call) -> Result<Slot> {
    truth(machine, call, false)
}

/// `sum_to_size`: the sum over the dimensions that an expansion from that size would have made (`at::sum_to`).
pub(super) fn sum_to_size(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let id = call.tensor(0)?;
    let tensor = machine.tensor(id).clone();
    let sizes = call.ints(1)?;
    let target = Shape::new(sizes.to_vec()).ok().filter(|target| target.expands_to(tensor.shape()));
    let Some(target) = target else {
        let (from, to) = (sizes.to_vec(), tensor.shape().sizes().to_vec());
        return Err(Rejection::NotExpandable { from, to }.into());
    };
    sum_to(machine, call.op, id, &target).map(Slot::Tensor)
}

/// Sums a tensor down to a shape that expands to its own: everything if the shape has no dimensions, else the leading
/// dimensions that the shape lacks and those in which it has a 1. Where nothing is to be summed the result is a view.
pub(super) fn sum_to(machine: &mut Machine, op: Op, id: TensorId, target: &Shape) -> Result<TensorId> {
    let tensor = machine.tensor(id).clone();
    let sizes = tensor.shape().sizes();
    let leading = sizes.len() - target.rank();
    let reduced: Vec<i64> = (0..sizes.len())
        .filter(|&dim| target.rank() == 0 || dim < leading || (target.sizes()[dim - leading] == 1 && sizes[dim] != 1))
        .map(|dim| dim as i64)
        .collect();
    if reduced.is_empty() && target.rank() > 0 {
        return Ok(id);
    }
    let plan = Plan::new(&tensor, Some(reduced), false)?.with_shape(target.clone());
    let dtype = sum_dtype(tensor.dtype);
    let result = total(machine, &tensor, &plan, dtype, 1);
    let Slot::Tensor(id) = finish(machine, op, &tensor, plan, result, 1) else {
        unreachable!("a reduction is a tensor")
    };
    Ok(id)
}

/// `item`: the number that a tensor of one element holds (`_local_scalar_dense`).
pub(super) fn item(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?);
    if tensor.shape().numel() != 1 {
        return Err(Rejection::ItemCount { numel: tensor.shape().numel() }.into());
    }
    let at = Layout { shape: Shape::scalar(), strides: Vec::new(), offset: tensor.layout.offset };
    let element = Buffer::from_bytes(tensor.dtype, &machine.buffer(tensor.storage).to_bytes(&at)).expect("one element");
    Ok(Slot::Number(element.scalars()[0]))
}

/// Which element of the result each element of the operand goes to.
pub(super) struct Plan {
    /// The shape of the result.
    shape: Shape,
    /// For each element of the operand, row-major, its element of the result.
    target: Vec<usize>,
}

impl Plan {
    /// A reduction over `dims`; over all of them if there are none to name.
    fn new(tensor: &Tensor, dims: Option<Vec<i64>>, keepdim: bool) -> Result<Plan> {
        let rank = tensor.shape().rank();
        let mut reduced = vec![false; rank.max(1)];
        for dim in dims.iter().flatten() {
            let dim = wrap_dim(*dim, rank)?;
            if reduced[dim] {
                return Err(Rejection::DimensionRepeated { dim }.into());
            }
            reduced[dim] = true;
        }
        if dims.is_none_or(|dims| dims.is_empty()) {
            reduced.fill(true);
        }
        let sizes = tensor.shape().sizes();
        let kept: Vec<i64> = (0..rank).map(|dim| if reduced[dim] { 1 } else { sizes[dim] }).collect();
        let kept = Shape::new(kept).expect("no size grew");
        let mut into = Layout::contiguous(kept.clone());
        for (stride, _) in into.strides.iter_mut().zip(&reduced).filter(|(_, reduced)| **reduced) {
            *stride = 0;
        }
        into.shape = tensor.shape().clone();
        let target = into.positions().collect();
        let dropped = (0..rank).filter(|&dim| keepdim || !reduced[dim]).map(|dim| kept.sizes()[dim]).collect();
        Ok(Plan { shape: Shape::new(dropped).expect("no size grew"), target })
    }

    /// The same reduction, its result in another shape with as many elements.
    fn with_shape(self, shape: Shape) -> Plan {
        Plan { shape, ..self }
    }

    /// How many elements go to each element of the result.
    fn count(&self, tensor: &Tensor) -> usize {
        tensor.shape().numel().checked_div(self.shape.numel()).unwrap_or(0)
    }
}

fn sum_dtype(dtype: DType) -> DType {
    if dtype.category() < Category::Floating { DType::Int64 } else { dtype }
}

/// The sums, each divided by `count`. Floats are added in double precision and rounded once; libtorch adds them in
/// another order and precision, which is why reductions are compared within a tolerance.
fn total(machine: &Machine, tensor: &Tensor, plan: &Plan, dtype: DType, count: usize) -> Buffer {
    macro_rules! sums {
        ($type:ty, $add:expr) => {{
            let mut sums = vec![<$type>::default(); plan.shape.numel()];
            for (&target, value) in plan.target.iter().zip(machine.elements::<$type>(tensor)) {
                sums[target] = $add(sums[target], value);
            }
            sums
        }};
    }
    let sums = match tensor.dtype.category() {
        Category::Complex => {
            let divisor = count as f64;
            Complex64::wrap(sums!(Complex64, |a, b| a + b).into_iter().map(|sum| sum / divisor).collect())
        }
        Category::Floating => {
            let divisor = count as f64;
            f64::wrap(sums!(f64, |a, b| a + b).into_iter().map(|sum| sum / divisor).collect())
        }
        _ => i64::wrap(sums!(i64, i64::wrapping_add)),
    };
    Buffer::from_scalars(dtype, sums.scalars().into_iter())
}

fn finish(machine: &mut Machine, op: Op, operand: &Tensor, plan: Plan, result: Buffer, count: usize) -> Slot {
    let result = machine.allocate(Layout::contiguous(plan.shape), result);
    let id = machine.add(result);
    backward::record_reduction(machine, op, id, operand, plan.target, count);
    Slot::Tensor(id)
}

fn truth(machine: &mut Machine, call: &Call, all: bool) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let plan = Plan::new(&tensor, call.dims(1)?, call.flag(2)?)?;
    let mut results = vec![all; plan.shape.numel()];
    for (&target, value) in plan.target.iter().zip(machine.elements::<bool>(&tensor)) {
        results[target] = if all { results[target] & value } else { results[target] | value };
    }
    // uint8 stands for itself, for the sake of masks from before bool existed.
    let dtype = if tensor.dtype == DType::Uint8 { DType::Uint8 } else { DType::Bool };
    let result = Buffer::from_scalars(dtype, results.into_iter().map(Scalar::Bool));
    let result = machine.allocate(Layout::contiguous(plan.shape), result);
    Ok(Slot::Tensor(machine.add(result)))
}
