//! Reductions: every element of the operand goes to one element of the result. Here are sums, means, products and truths,
//! and what all reductions share.
//!
//! The order of faults is libtorch's: what the operation itself refuses of dtypes, the dimensions, then the dtype of
//! `out` (`resize_out`), which has its shape from then on, then what the kernel refuses.

use num_complex::Complex64;

use crate::error::{PointwiseFault, ReductionFault, Rejection};
use crate::ops::Op;
use crate::program::Arg;
use crate::tensor::element::Element;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};
use crate::with_element_type;

use super::autograd;
use super::elementwise::resize_output;
use super::graph::Kept;
use super::iterator::Input;
use super::machine::{Backward, Call, Machine, Operand, Result, Slot, Stop, Tensor, TensorId, wrap_dim};
use super::number::{Computed, Number};

/// `sum`.
pub(super) fn sum(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let out = begin(machine, call, &tensor)?;
    let dtype = call.optional_dtype(3)?.unwrap_or(dtype_of(machine, out, sum_dtype(tensor.dtype)));
    let plan = Plan::structured(&tensor, call.dims(1)?, call.flag(2)?)?;
    set_output(machine, out, &plan.shape, dtype)?;
    let result = add_up(machine, &tensor, &plan, dtype)?;
    check_differentiable(&tensor, dtype)?;
    let id = deliver(machine, out, &plan.shape, result);
    autograd::record_reduction(machine, call.op, id, &tensor, plan.targets()?, 1);
    Ok(Slot::Tensor(id))
}

/// `nansum`: what is no number counts as zero.
pub(super) fn nansum(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    if tensor.dtype.category() < Category::Floating {
        return sum(machine, call);
    }
    let out = begin(machine, call, &tensor)?;
    if out.is_none() {
        // A new result is made before anything else is looked at.
        Plan::new(&tensor, call.dims(1)?, call.flag(2)?)?;
    }
    if tensor.dtype.category() == Category::Complex {
        return Err(ReductionFault::NansumComplex {}.into());
    }
    let given = call.optional_dtype(3)?;
    let dtype = given.unwrap_or(dtype_of(machine, out, tensor.dtype));
    // Integers that are asked for are summed like any integers, and have no kernel where `out` implies them.
    let summed = given.is_some_and(|given| given.category() < Category::Floating);
    if let Some(got) = out.map(|out| machine.tensor(out).dtype).filter(|got| *got != dtype) {
        return Err(if summed {
            Plan::structured(&tensor, call.dims(1)?, call.flag(2)?)?;
            ReductionFault::OutDtype { wanted: dtype, got }.into()
        } else {
            ReductionFault::ProvidedDtype { name: "nansum", got, wanted: dtype }.into()
        });
    }
    let plan = Plan::new(&tensor, call.dims(1)?, call.flag(2)?)?;
    resize(machine, out, &plan.shape)?;
    if dtype.category() != Category::Floating && !summed && tensor.shape().numel() > 0 {
        return Err(PointwiseFault::NoKernel { kernel: "nansum_cpu", dtype }.into());
    }
    plan.check_size()?;
    let numbers =
        machine.elements::<f64>(&tensor).into_iter().map(|element| if element.is_nan() { 0.0 } else { element });
    let numbers = Buffer::from_scalars(tensor.dtype, numbers.map(Scalar::Float).collect::<Vec<_>>().into_iter());
    let numbers = machine.allocate(Layout::contiguous(tensor.shape().clone()), numbers);
    let result = add_up(machine, &numbers, &plan, dtype)?;
    check_differentiable(&tensor, dtype)?;
    let id = deliver(machine, out, &plan.shape, result);
    record_groups(machine, call.op, id, &tensor, &plan, &[], nansum_backward);
    Ok(Slot::Tensor(id))
}

fn nansum_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, |group| {
        group.elements.iter().map(|element| if element.is_nan() { 0.0 } else { group.arrived }).collect()
    })
}

/// `mean`: the sum, divided by the number of elements.
pub(super) fn mean(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let out = begin(machine, call, &tensor)?;
    let given = call.optional_dtype(3)?;
    if given.unwrap_or(tensor.dtype).category() < Category::Floating {
        return Err(match given {
            Some(dtype) => ReductionFault::MeanOptional { dtype }.into(),
            None => ReductionFault::MeanInput { dtype: tensor.dtype }.into(),
        });
    }
    let dtype = given.unwrap_or(dtype_of(machine, out, tensor.dtype));
    let plan = Plan::structured(&tensor, call.dims(1)?, call.flag(2)?)?;
    set_output(machine, out, &plan.shape, dtype)?;
    // libtorch writes the sum to `out` before it divides it in place, which integers refuse.
    if dtype.category() < Category::Floating {
        return Err(Rejection::CannotCast { from: DType::Float32, to: dtype }.into());
    }
    let count = plan.count();
    let sums = add_up_wide(machine, &tensor, &plan, dtype)?;
    let means = sums.into_iter().map(|sum| match sum {
        Scalar::Complex(sum) => Scalar::Complex(sum / count as f64),
        Scalar::Float(sum) => Scalar::Float(sum / count as f64),
        whole => whole,
    });
    let result = Buffer::from_scalars(dtype, means.collect::<Vec<_>>().into_iter());
    let id = deliver(machine, out, &plan.shape, result);
    autograd::record_reduction(machine, call.op, id, &tensor, plan.targets()?, count);
    Ok(Slot::Tensor(id))
}

/// `prod`.
pub(super) fn prod(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let (dim, keepdim) = (call.optional_int(1)?, call.flag(2)?);
    if dim.is_none() && keepdim {
        return Err(Stop::Unsupported("prod of all elements has no keepdim".to_owned()));
    }
    if dim.is_none() && call.out.is_some() {
        return Err(Stop::Unsupported("prod of all elements has no out".to_owned()));
    }
    let out = begin(machine, call, &tensor)?;
    let dtype = call.optional_dtype(3)?.unwrap_or(dtype_of(machine, out, sum_dtype(tensor.dtype)));
    let plan = Plan::new(&tensor, dim.map(|dim| vec![dim]), keepdim)?;
    set_output(machine, out, &plan.shape, dtype)?;
    warn_of_lost_parts(machine, &tensor, dtype);
    let result = multiply(machine, &tensor, &plan, dtype)?;
    check_differentiable(&tensor, dtype)?;
    let id = deliver(machine, out, &plan.shape, result);
    record_groups(machine, call.op, id, &tensor, &plan, &[], prod_backward);
    autograd::keep_result(machine, id, if dim.is_some() { "Prod1" } else { "Prod" });
    Ok(Slot::Tensor(id))
}

fn prod_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let scalar = kept.tensors.iter().flatten().all(|operand| operand.shape().rank() == 0);
    over_groups(machine, gradient, kept, |group| {
        // Each element's factor is the product of the others, which is there even where the element is zero.
        let elements = &group.elements;
        let others =
            |at: usize| elements.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, &e)| e).product();
        let factor = |at: usize| -> f64 { if scalar { 1.0 } else { others(at) } };
        (0..elements.len()).map(|at| group.arrived * factor(at)).collect()
    })
}

/// `all`.
pub(super) fn all(machine: &mut Machine, call: &Call) -> Result<Slot> {
    truth(machine, call, true)
}

/// `any`.
pub(super) fn any(machine: &mut Machine, call: &Call) -> Result<Slot> {
    truth(machine, call, false)
}

fn truth(machine: &mut Machine, call: &Call, all: bool) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let out = begin(machine, call, &tensor)?;
    // uint8 stands for itself, for the sake of masks from before bool existed.
    let own = if tensor.dtype == DType::Uint8 { DType::Uint8 } else { DType::Bool };
    let dtype = dtype_of(machine, out, own);
    if !matches!(dtype, DType::Bool | DType::Uint8) {
        return Err(ReductionFault::TruthDtype { name: call.op.name(), dtype }.into());
    }
    let mut plan = Plan::structured(&tensor, call.dims(1)?, call.flag(2)?)?;
    // An empty list is no dimension here; for other reductions it is all of them.
    if matches!(&call.args[1], Operand::Other(Arg::Ints(dims)) if dims.is_empty()) {
        plan = Plan {
            shape: tensor.shape().clone(),
            operand: tensor.shape().clone(),
            reduced: vec![false; plan.reduced.len()],
        };
    }
    set_output(machine, out, &plan.shape, dtype)?;
    let truths = plan
        .groups::<bool>(machine, &tensor)?
        .into_iter()
        .map(|group| if all { group.iter().all(|&truth| truth) } else { group.iter().any(|&truth| truth) });
    let result = Buffer::from_scalars(dtype, truths.map(Scalar::Bool).collect::<Vec<_>>().into_iter());
    Ok(Slot::Tensor(deliver(machine, out, &plan.shape, result)))
}

/// `sum_to_size`: the sum over the dimensions that an expansion from that size would have made (`at::sum_to`): everything if
/// the size has no dimensions, else the leading dimensions that it lacks and those in which it has a 1. Where nothing is to
/// be summed the result is the tensor itself.
pub(super) fn sum_to_size(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let id = call.tensor(0)?;
    let tensor = machine.tensor(id).clone();
    let sizes = call.ints(1)?;
    let target = Shape::new(sizes.to_vec()).ok().filter(|target| target.expands_to(tensor.shape()));
    let Some(target) = target else {
        let (from, to) = (sizes.to_vec(), tensor.shape().sizes().to_vec());
        return Err(Rejection::NotExpandable { from, to }.into());
    };
    let sizes = tensor.shape().sizes();
    let leading = sizes.len() - target.rank();
    let reduced: Vec<i64> = (0..sizes.len())
        .filter(|&dim| target.rank() == 0 || dim < leading || (target.sizes()[dim - leading] == 1 && sizes[dim] != 1))
        .map(|dim| dim as i64)
        .collect();
    if reduced.is_empty() && target.rank() > 0 {
        return Ok(Slot::Tensor(id));
    }
    let plan = Plan { shape: target, ..Plan::new(&tensor, Some(reduced), false)? };
    let result = add_up(machine, &tensor, &plan, sum_dtype(tensor.dtype))?;
    let id = deliver(machine, None, &plan.shape, result);
    autograd::record_reduction(machine, call.op, id, &tensor, plan.targets()?, 1);
    Ok(Slot::Tensor(id))
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

/// How many elements a reduction may go through. An expanded operand can have any number without taking memory.
const MOST: usize = 1 << 22;

/// Which element of the result each element of the operand goes to.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The shape of the result.
    pub shape: Shape,
    operand: Shape,
    /// Whether a dimension is reduced.
    reduced: Vec<bool>,
}

impl Plan {
    /// A reduction over `dims`; over all of them if there are none to name (`make_dim_mask`, `shape_from_dim_mask`).
    pub fn new(tensor: &Tensor, dims: Option<Vec<i64>>, keepdim: bool) -> Result<Plan> {
        let dims = dims.unwrap_or_default();
        let operand = tensor.shape().clone();
        let rank = operand.rank();
        let mut reduced = vec![false; rank.max(1)];
        if rank > MOST_DIMS {
            // Without a list libtorch reads bits beyond its mask.
            return Err(if dims.is_empty() {
                Stop::Unsupported(format!("a reduction over more than {MOST_DIMS} dimensions"))
            } else {
                ReductionFault::TooManyDimensions { most: MOST_DIMS }.into()
            });
        }
        for &dim in &dims {
            let dim = wrap_dim(dim, rank)?;
            if reduced[dim] {
                return Err(Rejection::DimensionRepeated { dim }.into());
            }
            reduced[dim] = true;
        }
        if dims.is_empty() {
            reduced.fill(true);
        }
        let kept = |dim: &usize| keepdim || !reduced[*dim];
        let sizes = (0..rank).filter(kept).map(|dim| if reduced[dim] { 1 } else { operand.sizes()[dim] }).collect();
        Ok(Plan { shape: Shape::new(sizes).expect("no size grew"), operand, reduced })
    }

    /// The same for operations that wrap all dimensions first, and make a list of all of them where none is given
    /// (`resize_reduction`): such a list can be too long.
    pub fn structured(tensor: &Tensor, dims: Option<Vec<i64>>, keepdim: bool) -> Result<Plan> {
        let rank = tensor.shape().rank();
        let dims = dims.unwrap_or_else(|| (0..rank as i64).collect());
        // Every dimension is in range before any is found to be there twice.
        dims.iter().try_for_each(|&dim| wrap_dim(dim, rank).map(drop))?;
        Plan::new(tensor, Some(dims), keepdim)
    }

    /// How many elements go to each element of the result.
    pub fn count(&self) -> usize {
        let sizes = self.operand.sizes().iter().zip(&self.reduced);
        sizes.filter(|(_, reduced)| **reduced).map(|(size, _)| *size as usize).product()
    }

    /// Whether the reference goes through so many elements.
    pub fn check_size(&self) -> Result<()> {
        let most = self.operand.numel().max(self.shape.numel());
        if most > MOST { Err(Stop::Unsupported(format!("a reduction of {most} elements"))) } else { Ok(()) }
    }

    /// For each element of the operand, row-major, its element of the result.
    pub fn targets(&self) -> Result<Vec<usize>> {
        self.check_size()?;
        let sizes = self.operand.sizes();
        let kept = sizes.iter().zip(&self.reduced).map(|(&size, &reduced)| if reduced { 1 } else { size }).collect();
        let mut into = Layout::contiguous(Shape::new(kept).expect("no size grew"));
        for (stride, _) in into.strides.iter_mut().zip(&self.reduced).filter(|(_, reduced)| **reduced) {
            *stride = 0;
        }
        into.shape = self.operand.clone();
        Ok(into.positions().collect())
    }

    /// For each element of the result, the elements of the operand that go to it.
    pub fn groups<T: Stored>(&self, machine: &Machine, tensor: &Tensor) -> Result<Vec<Vec<T>>> {
        let targets = self.targets()?;
        let mut groups = vec![Vec::new(); self.shape.numel()];
        for (target, element) in targets.into_iter().zip(machine.elements::<T>(tensor)) {
            groups[target].push(element);
        }
        Ok(groups)
    }
}

/// The bits of libtorch's mask of dimensions (`dim_list_to_bitset`).
const MOST_DIMS: usize = 64;

/// The tensor that a reduction writes to, once autograd has nothing against it.
pub(super) fn begin(machine: &Machine, call: &Call, operand: &Tensor) -> Result<Option<TensorId>> {
    let Some(out) = call.target()? else { return Ok(None) };
    autograd::check_in_place(machine, call, out, &[Input::Tensor(operand.clone())])?;
    if machine.tensor(out).storage == operand.storage {
        return Err(Stop::Unsupported("a reduction that is written over its operand".to_owned()));
    }
    Ok(Some(out))
}

/// The dtype that the result takes from `out`, or else has of its own.
pub(super) fn dtype_of(machine: &Machine, out: Option<TensorId>, own: DType) -> DType {
    out.map_or(own, |out| machine.tensor(out).dtype)
}

/// Refuses an `out` of another dtype, and gives it the shape of the result (`resize_out` of structured kernels).
pub(super) fn set_output(machine: &mut Machine, out: Option<TensorId>, shape: &Shape, dtype: DType) -> Result<()> {
    if let Some(got) = out.map(|out| machine.tensor(out).dtype).filter(|got| *got != dtype) {
        return Err(ReductionFault::OutDtype { wanted: dtype, got }.into());
    }
    resize(machine, out, shape)?;
    Ok(())
}

/// Gives `out` the shape of the result (`resize_output`).
pub(super) fn resize(machine: &mut Machine, out: Option<TensorId>, shape: &Shape) -> Result<()> {
    if let Some(out) = out.filter(|out| machine.tensor(*out).shape() != shape) {
        resize_output(machine, out, Layout::contiguous(shape.clone()), 1)?;
    }
    Ok(())
}

/// Puts the result, row-major, where it belongs.
pub(super) fn deliver(machine: &mut Machine, out: Option<TensorId>, shape: &Shape, result: Buffer) -> TensorId {
    match out {
        None => {
            let result = machine.allocate(Layout::contiguous(shape.clone()), result);
            machine.add(result)
        }
        Some(out) => {
            let target = machine.tensor(out).clone();
            machine.write(&target, &result);
            out
        }
    }
}

/// What went to one element of a result, and the gradient that arrived there; all in double precision.
pub(super) struct Group {
    pub elements: Vec<f64>,
    /// The element of the result, of an operation that keeps that.
    pub result: f64,
    pub arrived: f64,
    /// The dtype of the operand.
    pub dtype: DType,
    /// The number of elements.
    pub count: f64,
}

/// Notes a reduction whose gradient is a function [`over_groups`], with its parameters.
pub(super) fn record_groups(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    operand: &Tensor,
    plan: &Plan,
    parameters: &[f64],
    function: Backward,
) {
    let targets = plan.targets().ok().filter(|_| operand.node.is_some()).unwrap_or_default();
    let numbers = std::iter::once(plan.count() as f64).chain(parameters.iter().copied()).map(Scalar::Float).collect();
    let kept = Kept { tensors: vec![Some(operand.clone())], numbers, targets, ..Kept::of(op) };
    autograd::record_formula(machine, result, &[Some(operand)], kept, function);
}

/// The gradient of a reduction by what each of the elements of a group receives.
pub(super) fn over_groups(
    machine: &mut Machine,
    gradient: &Tensor,
    kept: &Kept,
    formula: impl Fn(&Group) -> Vec<f64>,
) -> Result<Vec<Option<Tensor>>> {
    let Some(operand) = &kept.tensors[0] else { return Ok(vec![None]) };
    if operand.dtype.category() == Category::Complex || gradient.dtype.category() == Category::Complex {
        return Err(Stop::Unsupported(format!("the gradient of {} for complex numbers", kept.op)));
    }
    let (arrived, dtype, count) = (machine.elements::<f64>(gradient), operand.dtype, kept.real(0));
    let results: Vec<f64> = kept.result.iter().flat_map(|result| machine.elements::<f64>(&result.tensor)).collect();
    let mut groups: Vec<Vec<f64>> = vec![Vec::new(); arrived.len()];
    for (&target, element) in kept.targets.iter().zip(machine.elements::<f64>(operand)) {
        groups[target].push(element);
    }
    let received = groups.into_iter().zip(arrived).enumerate().map(|(at, (elements, arrived))| {
        let result = results.get(at).copied().unwrap_or(f64::NAN);
        formula(&Group { elements, result, arrived, dtype, count }).into_iter()
    });
    let mut received: Vec<_> = received.collect();
    let gradients = kept
        .targets
        .iter()
        .map(|&target| Scalar::Float(received[target].next().expect("a gradient for each element")))
        .collect::<Vec<_>>();
    let gradients = Buffer::from_scalars(dtype, gradients.into_iter());
    Ok(vec![Some(machine.allocate(Layout::contiguous(operand.shape().clone()), gradients))])
}

/// Refuses a result that gradients could not flow through, although they flow through the operand (autograd's
/// `set_history`).
fn check_differentiable(tensor: &Tensor, dtype: DType) -> Result<()> {
    if tensor.node.is_some() && dtype.category() < Category::Floating {
        return Err(ReductionFault::NotDifferentiable { dtype }.into());
    }
    Ok(())
}

/// libtorch's warning where complex numbers are converted to real ones (`copy_impl`).
pub(super) fn warn_of_lost_parts(machine: &mut Machine, tensor: &Tensor, to: DType) {
    let lost = tensor.dtype.category() == Category::Complex && to.category() < Category::Complex;
    if lost && to != DType::Bool && tensor.shape().numel() > 0 {
        machine.warnings.push("Casting complex values to real discards the imaginary part".to_owned());
    }
}

fn sum_dtype(dtype: DType) -> DType {
    if dtype.category() < Category::Floating { DType::Int64 } else { dtype }
}

/// The sums of the elements, which are converted to `dtype` first.
pub(super) fn add_up(machine: &mut Machine, tensor: &Tensor, plan: &Plan, dtype: DType) -> Result<Buffer> {
    let sums = add_up_wide(machine, tensor, plan, dtype)?;
    Ok(Buffer::from_scalars(dtype, sums.into_iter()))
}

/// The sums before they are rounded. Floats are added in double precision; libtorch adds them in another order and
/// precision, which is why reductions are compared within a tolerance. Integers wrap, and booleans or.
fn add_up_wide(machine: &mut Machine, tensor: &Tensor, plan: &Plan, dtype: DType) -> Result<Vec<Scalar>> {
    warn_of_lost_parts(machine, tensor, dtype);
    with_element_type!(dtype, T => {
        let groups = plan.groups::<T>(machine, tensor)?;
        let sum = |group: Vec<T>| {
            let zero = match dtype.category() {
                Category::Bool => Scalar::Bool(false),
                Category::Integral => Scalar::Int(0),
                Category::Floating => Scalar::Float(0.0),
                Category::Complex => Scalar::Complex(Complex64::new(0.0, 0.0)),
            };
            group.into_iter().fold(zero, |sum, element| match (sum, element.to_scalar()) {
                (Scalar::Bool(a), Scalar::Bool(b)) => Scalar::Bool(a | b),
                (Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a.wrapping_add(b)),
                (Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a + b),
                (Scalar::Complex(a), Scalar::Complex(b)) => Scalar::Complex(a + b),
                _ => unreachable!("elements of one dtype"),
            })
        };
        Ok(groups.into_iter().map(sum).collect())
    })
}

/// The products of the elements, which are converted to `dtype` first and rounded to it after each factor.
fn multiply(machine: &Machine, tensor: &Tensor, plan: &Plan, dtype: DType) -> Result<Buffer> {
    with_element_type!(dtype, T => {
        let product = |group: Vec<T>| {
            group.into_iter().fold(T::from_scalar(Scalar::Int(1)), |product, factor| {
                T::narrow(product.widened().times(factor.widened()))
            })
        };
        Ok(T::wrap(plan.groups::<T>(machine, tensor)?.into_iter().map(product).collect()))
    })
}
