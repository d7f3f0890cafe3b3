//! Reductions: every element of the operand goes to one element of the result. Here are sums, means, products and truths,
//! and what all reductions share.
//!
//! The order of faults is libtorch's: what the operation itself refuses of dtypes, the dimensions, then the dtype of
//! `out` (`resize_out`), which has its shape from then on, then what the kernel refuses.

use num_complex::Complex64;

use crate::error::Rejection;
use crate::ops::Op;
use crate::program::Arg;
use crate::tensor::element::Element;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};
use crate::with_element_type;

use super::autograd;
use super::budget::{charge, charge_product};
use super::graph::Kept;
use super::iterator::Input;
use super::machine::{
    Backward, Call, MOST_DIMS, Machine, Operand, Result, Slot, Stop, Tensor, TensorId, dimension_set, wrap_dim,
};
use super::number::{Computed, Number};
use super::write;

/// `sum`.
pub(super) fn sum(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (tensor, out) = begin(machine, call)?;
    let dtype = call.optional_dtype(3)?.unwrap_or(dtype_of(machine, out, sum_dtype(tensor.dtype)));
    let plan = Plan::structured(&tensor, call.dims(1)?, call.flag(2)?)?;
    set_output(machine, out, &plan.shape, dtype)?;
    let result = add_up(machine, &tensor, &plan, dtype)?;
    check_differentiable(&tensor, dtype)?;
    let id = write::deliver(machine, out, &plan.shape, result);
    autograd::record_reduction(machine, call.op, id, &tensor, plan.targets(machine)?, 1);
    Ok(Slot::Tensor(id))
}

/// `nansum`: what is no number counts as zero.
pub(super) fn nansum(machine: &mut Machine, call: &Call) -> Result<Slot> {
    if machine.tensor(call.tensor(0)?).dtype.category() < Category::Floating {
        return sum(machine, call);
    }
    let (tensor, out) = begin(machine, call)?;
    let (plan, dtype) = infer_nansum(machine, call, &tensor, out)?;
    write::prepare(machine, out, &plan.shape)?;
    let summed = call.optional_dtype(3)?.is_some_and(|given| given.category() < Category::Floating);
    if dtype.category() != Category::Floating && !summed && tensor.shape().numel() > 0 {
        return Err(Rejection::NoKernel { kernel: "nansum_cpu", dtype }.into());
    }
    plan.check_size(machine)?;
    let numbers = machine.eval(tensor.dtype, || {
        let elements = machine.elements::<f64>(&tensor).into_iter();
        Buffer::of(tensor.dtype, elements.map(number_or_zero))
    });
    let numbers = write::create(machine, Layout::contiguous(tensor.shape().clone()), numbers);
    let result = add_up(machine, &numbers, &plan, dtype)?;
    check_differentiable(&tensor, dtype)?;
    let id = write::deliver(machine, out, &plan.shape, result);
    record_groups(machine, call.op, id, &tensor, &plan, &[], nansum_backward);
    Ok(Slot::Tensor(id))
}

fn nansum_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, &|group| {
        group.elements.iter().map(|element| if element.is_nan() { 0.0 } else { group.arrived }).collect()
    })
}

fn number_or_zero(element: f64) -> f64 {
    if element.is_nan() { 0.0 } else { element }
}

/// The order of faults: a new result, complex numbers, the dtype of `out`, the dimensions.
fn infer_nansum(machine: &Machine, call: &Call, tensor: &Tensor, out: Option<TensorId>) -> Result<(Plan, DType)> {
    let (dims, keepdim) = (call.dims(1)?, call.flag(2)?);
    if out.is_none() {
        Plan::new(tensor, dims.clone(), keepdim)?;
    }
    if tensor.dtype.category() == Category::Complex {
        return Err(Rejection::NansumComplex.into());
    }
    let given = call.optional_dtype(3)?;
    let dtype = given.unwrap_or(dtype_of(machine, out, tensor.dtype));
    if let Some(got) = out.map(|out| machine.tensor(out).dtype).filter(|got| *got != dtype) {
        // Integers that are asked for are summed like any integers, and have no kernel where `out` implies them.
        return Err(if given.is_some_and(|given| given.category() < Category::Floating) {
            Plan::structured(tensor, dims, keepdim)?;
            Rejection::OutDtype { expected: dtype, got }.into()
        } else {
            Rejection::ProvidedDtype { name: "nansum", got, wanted: dtype }.into()
        });
    }
    Ok((Plan::new(tensor, dims, keepdim)?, dtype))
}

/// `mean`: the sum, divided by the number of elements.
pub(super) fn mean(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (tensor, out) = begin(machine, call)?;
    let (plan, dtype) = infer_mean(machine, call, &tensor, out)?;
    set_output(machine, out, &plan.shape, dtype)?;
    // libtorch writes the sum to `out` before it divides it in place, which integers refuse.
    if dtype.category() < Category::Floating {
        return Err(Rejection::CannotCast { from: DType::Float32, to: dtype.libtorch_name() }.into());
    }
    let count = plan.count();
    write::warn_of_cast(machine, tensor.dtype, dtype, tensor.shape().numel());
    let means = machine.try_eval(dtype, || {
        let means = add_up_wide(machine, &tensor, &plan, dtype)?.into_iter().map(|sum| match sum {
            Scalar::Complex(sum) => Scalar::Complex(sum / count as f64),
            sum => Scalar::Float(f64::from_scalar(sum) / count as f64),
        });
        Ok::<_, Stop>(Buffer::from_scalars(dtype, means))
    })?;
    let id = write::deliver(machine, out, &plan.shape, means);
    let targets = plan.targets(machine)?;
    autograd::record_reduction(machine, call.op, id, &tensor, targets, count);
    Ok(Slot::Tensor(id))
}

fn infer_mean(machine: &Machine, call: &Call, tensor: &Tensor, out: Option<TensorId>) -> Result<(Plan, DType)> {
    let given = call.optional_dtype(3)?;
    if given.unwrap_or(tensor.dtype).category() < Category::Floating {
        return Err(match given {
            Some(dtype) => Rejection::MeanDtype { source: "Optional", dtype }.into(),
            None => Rejection::MeanDtype { source: "Input", dtype: tensor.dtype }.into(),
        });
    }
    let dtype = given.unwrap_or(dtype_of(machine, out, tensor.dtype));
    Ok((Plan::structured(tensor, call.dims(1)?, call.flag(2)?)?, dtype))
}

/// `prod`.
pub(super) fn prod(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (dim, keepdim) = (call.optional_int(1)?, call.flag(2)?);
    if dim.is_none() && keepdim {
        return Err(Stop::Unsupported("prod of all elements has no keepdim".to_owned()));
    }
    if dim.is_none() && call.out.is_some() {
        return Err(Stop::Unsupported("prod of all elements has no out".to_owned()));
    }
    let (tensor, out) = begin(machine, call)?;
    let dtype = call.optional_dtype(3)?.unwrap_or(dtype_of(machine, out, sum_dtype(tensor.dtype)));
    let plan = Plan::new(&tensor, dim.map(|dim| vec![dim]), keepdim)?;
    set_output(machine, out, &plan.shape, dtype)?;
    write::warn_of_cast(machine, tensor.dtype, dtype, tensor.shape().numel());
    let result = multiply(machine, &tensor, &plan, dtype)?;
    check_differentiable(&tensor, dtype)?;
    let id = write::deliver(machine, out, &plan.shape, result);
    record_groups(machine, call.op, id, &tensor, &plan, &[], prod_backward);
    autograd::keep_result(machine, id, if dim.is_some() { "Prod1" } else { "Prod" });
    Ok(Slot::Tensor(id))
}

fn prod_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let scalar = kept.tensors.iter().flatten().all(|operand| operand.shape().rank() == 0);
    over_groups(machine, gradient, kept, &|group| prod_gradient(group, scalar))
}

/// Each element's factor is the product of the others, which is there even where the element is zero.
fn prod_gradient(group: &Group, scalar: bool) -> Vec<f64> {
    let elements = group.elements.iter().enumerate();
    let others = |at: usize| elements.clone().filter(move |(other, _)| *other != at).map(|(_, &element)| element);
    let factor = |at: usize| -> f64 { if scalar { 1.0 } else { others(at).product() } };
    charge_product(&[group.elements.len(), group.elements.len()]);
    (0..group.elements.len()).map(|at| group.arrived * factor(at)).collect()
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
    let (tensor, out) = begin(machine, call)?;
    let (plan, dtype) = infer_truth(machine, call, &tensor, out)?;
    set_output(machine, out, &plan.shape, dtype)?;
    let every = |group: Vec<bool>| group.into_iter().all(|truth| truth);
    let some = |group: Vec<bool>| group.into_iter().any(|truth| truth);
    let result = machine.try_eval(dtype, || {
        let truths = plan.groups(machine, &tensor)?.into_iter().map(if all { every } else { some });
        Ok::<_, Stop>(Buffer::of(dtype, truths))
    })?;
    Ok(Slot::Tensor(write::deliver(machine, out, &plan.shape, result)))
}

fn infer_truth(machine: &Machine, call: &Call, tensor: &Tensor, out: Option<TensorId>) -> Result<(Plan, DType)> {
    // uint8 stands for itself, for the sake of masks from before bool existed.
    let own = if tensor.dtype == DType::Uint8 { DType::Uint8 } else { DType::Bool };
    let dtype = dtype_of(machine, out, own);
    if !matches!(dtype, DType::Bool | DType::Uint8) {
        return Err(Rejection::BoolOutput { name: call.op.name(), dtype }.into());
    }
    let plan = Plan::structured(tensor, call.dims(1)?, call.flag(2)?)?;
    // An empty list is no dimension here; for other reductions it is all of them.
    let none = matches!(&call.args[1], Operand::Other(Arg::Ints(dims)) if dims.is_empty());
    Ok((if none { Plan::of_none(tensor) } else { plan }, dtype))
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
    let id = write::deliver(machine, None, &plan.shape, result);
    autograd::record_reduction(machine, call.op, id, &tensor, plan.targets(machine)?, 1);
    Ok(Slot::Tensor(id))
}

/// `item`: the number that a tensor of one element holds (`_local_scalar_dense`).
pub(super) fn item(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?);
    if tensor.shape().numel() != 1 {
        return Err(Rejection::ItemCount { numel: tensor.shape().count() }.into());
    }
    if !machine.has_elements() {
        return Ok(Slot::Number(Scalar::Bool(false)));
    }
    let at = Layout { shape: Shape::scalar(), strides: Vec::new(), offset: tensor.layout.offset };
    let element = Buffer::from_bytes(tensor.dtype, &machine.buffer(tensor.storage).to_bytes(&at)).expect("one element");
    Ok(Slot::Number(element.scalars()[0]))
}

/// The most elements that a reduction may go through. An expanded operand can have any number without taking memory.
const MOST: usize = 1 << 22;

/// The element of the result that each element of the operand goes to.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// The shape of the result.
    pub shape: Shape,
    operand: Shape,
    /// A flag for each dimension: true if it is reduced.
    reduced: Vec<bool>,
}

impl Plan {
    /// A reduction over `dims`; over all of them if there are none to name (`make_dim_mask`, `shape_from_dim_mask`).
    pub fn new(tensor: &Tensor, dims: Option<Vec<i64>>, keepdim: bool) -> Result<Plan> {
        let dims = dims.unwrap_or_default();
        let operand = tensor.shape().clone();
        let rank = operand.rank();
        if rank > MOST_DIMS && dims.is_empty() {
            // Without a list libtorch reads bits beyond its mask.
            return Err(Stop::Unsupported(format!("a reduction over more than {MOST_DIMS} dimensions")));
        }
        let mut reduced = vec![dims.is_empty(); rank.max(1)];
        dimension_set(&dims, rank)?.into_iter().for_each(|dim| reduced[dim] = true);
        let kept = |dim: &usize| keepdim || !reduced[*dim];
        let sizes: Vec<i64> =
            (0..rank).filter(kept).map(|dim| if reduced[dim] { 1 } else { operand.sizes()[dim] }).collect();
        // Without a dimension of size 0 the others may be too many elements.
        let shape = Shape::new(sizes.clone()).map_err(|_| Rejection::StorageOverflow { sizes })?;
        Ok(Plan { shape, operand, reduced })
    }

    /// A reduction along one dimension of a tensor of any rank.
    pub fn along(tensor: &Tensor, dim: usize, keepdim: bool) -> Plan {
        let operand = tensor.shape().clone();
        let reduced: Vec<bool> = (0..operand.rank().max(1)).map(|at| at == dim).collect();
        let kept = (0..operand.rank()).filter(|at| keepdim || *at != dim);
        let sizes = kept.map(|at| if at == dim { 1 } else { operand.sizes()[at] }).collect();
        Plan { shape: Shape::of_sizes(sizes), operand, reduced }
    }

    /// [`Plan::new`] for operations that wrap all dimensions first, and make a list of all of them where none is given
    /// (`resize_reduction`): such a list can be too long.
    pub fn structured(tensor: &Tensor, dims: Option<Vec<i64>>, keepdim: bool) -> Result<Plan> {
        let rank = tensor.shape().rank();
        let dims = dims.unwrap_or_else(|| (0..rank as i64).collect());
        // Every dimension is in range before any is found to be there twice.
        dims.iter().try_for_each(|&dim| wrap_dim(dim, rank).map(drop))?;
        Plan::new(tensor, Some(dims), keepdim)
    }

    /// A reduction over no dimension.
    fn of_none(tensor: &Tensor) -> Plan {
        let shape = tensor.shape().clone();
        Plan { reduced: vec![false; shape.rank().max(1)], operand: shape.clone(), shape }
    }

    /// The number of elements that go to each element of the result.
    pub fn count(&self) -> usize {
        let sizes = self.operand.sizes().iter().zip(&self.reduced);
        let sizes =
            sizes.filter(|(_, reduced)| **reduced).map(|(size, _)| usize::try_from(*size).unwrap_or(usize::MAX));
        sizes.fold(1, usize::saturating_mul)
    }

    /// Checks that the reference goes through so many elements, if there are any.
    pub fn check_size(&self, machine: &Machine) -> Result<()> {
        if !machine.has_elements() {
            return Ok(());
        }
        let most = self.operand.numel().max(self.shape.numel());
        if most > MOST { Err(Stop::Unsupported(format!("a reduction of {most} elements"))) } else { Ok(()) }
    }

    /// For each element of the operand, row-major, its element of the result; nothing without elements.
    pub fn targets(&self, machine: &Machine) -> Result<Vec<usize>> {
        if !machine.has_elements() {
            return Ok(Vec::new());
        }
        self.check_size(machine)?;
        charge(self.operand.numel());
        let sizes = self.operand.sizes();
        let kept = sizes.iter().zip(&self.reduced).map(|(&size, &reduced)| if reduced { 1 } else { size }).collect();
        let mut into = Layout::contiguous(Shape::of_sizes(kept));
        for (stride, _) in into.strides.iter_mut().zip(&self.reduced).filter(|(_, reduced)| **reduced) {
            *stride = 0;
        }
        into.shape = self.operand.clone();
        Ok(into.positions().collect())
    }

    /// For each element of the result, the elements of the operand that go to it; nothing without elements.
    pub fn groups<T: Stored>(&self, machine: &Machine, tensor: &Tensor) -> Result<Vec<Vec<T>>> {
        if !machine.has_elements() {
            return Ok(Vec::new());
        }
        self.check_size(machine)?;
        self.group(machine, machine.elements(tensor))
    }

    /// The same of elements of the operand, row-major.
    fn group<T>(&self, machine: &Machine, elements: Vec<T>) -> Result<Vec<Vec<T>>> {
        let mut groups: Vec<Vec<T>> = (0..self.shape.numel()).map(|_| Vec::new()).collect();
        for (target, element) in self.targets(machine)?.into_iter().zip(elements) {
            groups[target].push(element);
        }
        Ok(groups)
    }
}

/// The operand of a reduction, and the tensor that it writes to, once autograd has nothing against it. Both may be one: the
/// result is that of the elements before the call, which libtorch overwrites before it reads them
/// (`reductions-into-their-operand`).
pub(super) fn begin(machine: &Machine, call: &Call) -> Result<(Tensor, Option<TensorId>)> {
    let operand = machine.tensor(call.tensor(0)?).clone();
    let Some(out) = call.target()? else { return Ok((operand, None)) };
    autograd::check_in_place(machine, call, out, &[Input::Tensor(operand.clone())])?;
    Ok((operand, Some(out)))
}

/// The dtype that the result takes from `out`, or else has of its own.
pub(super) fn dtype_of(machine: &Machine, out: Option<TensorId>, own: DType) -> DType {
    out.map_or(own, |out| machine.tensor(out).dtype)
}

/// Refuses an `out` of another dtype, and gives it the shape of the result (`resize_out` of structured kernels).
pub(super) fn set_output(machine: &mut Machine, out: Option<TensorId>, shape: &Shape, dtype: DType) -> Result<()> {
    if let Some(got) = out.map(|out| machine.tensor(out).dtype).filter(|got| *got != dtype) {
        return Err(Rejection::OutDtype { expected: dtype, got }.into());
    }
    write::prepare(machine, out, shape)
}

/// The elements that went to one element of a result, and the gradient that arrived there; all in double precision.
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
    let targets = plan.targets(machine).ok().filter(|_| operand.node.is_some()).unwrap_or_default();
    let numbers = std::iter::once(plan.count() as f64).chain(parameters.iter().copied()).map(Scalar::Float).collect();
    let kept = Kept { tensors: vec![Some(operand.clone())], numbers, targets, ..Kept::of(op) };
    autograd::record_formula(machine, result, &[Some(operand)], kept, function);
}

/// The gradient of a reduction by that which each of the elements of a group receives.
pub(super) fn over_groups(
    machine: &mut Machine,
    gradient: &Tensor,
    kept: &Kept,
    formula: &dyn Fn(&Group) -> Vec<f64>,
) -> Result<Vec<Option<Tensor>>> {
    let Some(operand) = &kept.tensors[0] else { return Ok(vec![None]) };
    let complex = [operand, gradient].iter().any(|tensor| tensor.dtype.category() == Category::Complex);
    if complex && machine.has_elements() {
        return Err(Stop::Unsupported(format!("the gradient of {} for complex numbers", kept.op)));
    }
    let gradients = machine.eval(operand.dtype, || {
        let received = shares(machine, gradient, kept, machine.elements::<f64>(operand), formula);
        Buffer::of(operand.dtype, received)
    });
    Ok(vec![Some(machine.allocate(Layout::contiguous(operand.shape().clone()), gradients))])
}

/// The same of an operand whose reduction depends on the magnitudes of its elements alone, which may be complex: each
/// receives a gradient in its own direction.
pub(super) fn over_magnitudes(
    machine: &mut Machine,
    gradient: &Tensor,
    kept: &Kept,
    formula: &dyn Fn(&Group) -> Vec<f64>,
) -> Result<Vec<Option<Tensor>>> {
    let complex = |operand: &&Tensor| operand.dtype.category() == Category::Complex;
    let Some(operand) = kept.tensors[0].as_ref().filter(complex) else {
        return over_groups(machine, gradient, kept, formula);
    };
    let gradients = machine.eval(operand.dtype, || {
        let elements = machine.elements::<Complex64>(operand);
        let sizes = elements.iter().map(|element| element.norm()).collect();
        let received = shares(machine, gradient, kept, sizes, formula);
        let turned = elements.iter().zip(received).map(|(element, share)| {
            let size = element.norm();
            Scalar::Complex(if size == 0.0 { Complex64::default() } else { element / size * share })
        });
        Buffer::from_scalars(operand.dtype, turned.collect::<Vec<_>>().into_iter())
    });
    Ok(vec![Some(machine.allocate(Layout::contiguous(operand.shape().clone()), gradients))])
}

/// What each element of the operand receives, group by group.
fn shares(
    machine: &Machine,
    gradient: &Tensor,
    kept: &Kept,
    elements: Vec<f64>,
    formula: &dyn Fn(&Group) -> Vec<f64>,
) -> Vec<f64> {
    let operand = kept.tensors[0].as_ref().expect("over_groups and over_magnitudes keep one");
    let (arrived, dtype, count) = (machine.elements::<f64>(gradient), operand.dtype, kept.real(0));
    let results: Vec<f64> = kept.result.iter().flat_map(|result| machine.elements::<f64>(&result.tensor)).collect();
    let mut groups: Vec<Vec<f64>> = vec![Vec::new(); arrived.len()];
    for (&target, element) in kept.targets.iter().zip(elements) {
        groups[target].push(element);
    }
    let received = groups.into_iter().zip(arrived).enumerate().map(|(at, (elements, arrived))| {
        let result = results.get(at).copied().unwrap_or(f64::NAN);
        formula(&Group { elements, result, arrived, dtype, count }).into_iter()
    });
    let mut received: Vec<_> = received.collect();
    let targets = kept.targets.iter();
    targets.map(|&target| received[target].next().expect("a gradient for each element")).collect()
}

/// Refuses a result that gradients could not flow through, although they flow through the operand (autograd's
/// `set_history`).
pub(super) fn check_differentiable(tensor: &Tensor, dtype: DType) -> Result<()> {
    if tensor.node.is_some() && dtype.category() < Category::Floating {
        return Err(Rejection::NotDifferentiable { dtype }.into());
    }
    Ok(())
}

fn sum_dtype(dtype: DType) -> DType {
    if dtype.category() < Category::Floating { DType::Int64 } else { dtype }
}

/// The sums of the elements, which are converted to `dtype` first.
pub(super) fn add_up(machine: &mut Machine, tensor: &Tensor, plan: &Plan, dtype: DType) -> Result<Buffer> {
    write::warn_of_cast(machine, tensor.dtype, dtype, tensor.shape().numel());
    machine.try_eval(dtype, || {
        let sums = add_up_wide(machine, tensor, plan, dtype)?;
        Ok(Buffer::from_scalars(dtype, sums.into_iter()))
    })
}

/// The sums before they are rounded. Floats are added in double precision; libtorch adds them in another order and
/// precision, which is why reductions are compared within a tolerance.
fn add_up_wide(machine: &Machine, tensor: &Tensor, plan: &Plan, dtype: DType) -> Result<Vec<Scalar>> {
    plan.check_size(machine)?;
    let (elements, all) = (write::elements(machine, tensor, dtype), Layout::contiguous(tensor.shape().clone()));
    fn totals<T: Number>(groups: Vec<Vec<T>>) -> Vec<Scalar> {
        groups.into_iter().map(|group| total(&group).to_scalar()).collect()
    }
    Ok(match dtype.category() {
        Category::Bool => totals::<bool>(plan.group(machine, elements.gather(&all))?),
        Category::Integral => totals::<i64>(plan.group(machine, elements.gather(&all))?),
        Category::Floating => totals::<f64>(plan.group(machine, elements.gather(&all))?),
        Category::Complex => totals::<Complex64>(plan.group(machine, elements.gather(&all))?),
    })
}

/// The sum of some elements: integers wrap, and booleans or.
fn total<T: Number>(elements: &[T]) -> T {
    elements.iter().fold(T::default(), |sum, element| sum.plus(*element))
}

/// The products of the elements, which are converted to `dtype` first.
fn multiply(machine: &Machine, tensor: &Tensor, plan: &Plan, dtype: DType) -> Result<Buffer> {
    machine.try_eval(dtype, || {
        with_element_type!(dtype, T => {
            Ok(T::wrap(plan.groups::<T>(machine, tensor)?.iter().map(|group| product(group)).collect()))
        })
    })
}

/// The product of some elements, rounded after each factor.
fn product<T: Computed>(elements: &[T]) -> T {
    let one = T::from_scalar(Scalar::Int(1));
    elements.iter().fold(one, |product, factor| T::narrow(product.widened().times(factor.widened())))
}
