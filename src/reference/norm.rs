//! Norms of vectors.

use num_complex::Complex64;

use crate::error::Rejection;
use crate::tensor::element::Element;
use crate::tensor::{Buffer, Category, DType, Scalar};

use super::autograd;
use super::composition::{Composition, sign};
use super::functions::printed;
use super::graph::Kept;
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId, wrap_dim};
use super::moment::real_dtype;
use super::reduction::{Group, Plan, begin, over_groups, over_magnitudes, record_groups, set_output};
use super::write;

/// `linalg_vector_norm`.
pub(super) fn vector_norm(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (tensor, out) = begin(machine, call)?;
    let (plan, exponent) = infer_norm(call, &tensor)?;
    let dtype = real_dtype(call.optional_dtype(4)?.unwrap_or(tensor.dtype));
    set_output(machine, out, &plan.shape, dtype)?;
    let result = machine.try_eval(dtype, || {
        let groups = plan.groups::<Complex64>(machine, &tensor)?.into_iter();
        let values = groups.map(|group| Scalar::Float(of(group.into_iter().map(Complex64::norm), exponent)));
        Ok::<_, Stop>(Buffer::from_scalars(dtype, values.collect::<Vec<_>>().into_iter()))
    })?;
    let id = write::deliver(machine, out, &plan.shape, result);
    record_norm(machine, call, id, &tensor, &plan, exponent)?;
    Ok(Slot::Tensor(id))
}

/// The order of faults: the dtype, the order, a norm of nothing, the dtype that is given, the dimensions.
fn infer_norm(call: &Call, tensor: &Tensor) -> Result<(Plan, f64)> {
    if tensor.dtype.category() < Category::Floating {
        return Err(Rejection::NotFloating { function: "linalg.vector_norm", dtype: tensor.dtype }.into());
    }
    let order = match call.number(1)? {
        Scalar::Complex(_) => return Err(Rejection::NormOrder.into()),
        number => number,
    };
    let dims = call.dims(2)?.unwrap_or_default();
    check_identity(tensor, order, &dims)?;
    check_dtype(tensor.dtype, call.optional_dtype(4)?)?;
    Ok((Plan::new(tensor, Some(dims), call.flag(3)?)?, f64::from_scalar(order)))
}

fn record_norm(
    machine: &mut Machine,
    call: &Call,
    result: TensorId,
    tensor: &Tensor,
    plan: &Plan,
    exponent: f64,
) -> Result<()> {
    if exponent == 0.0 && tensor.node.is_some() {
        return Err(Stop::Unsupported("gradients through a count of elements".to_owned()));
    }
    record_groups(machine, call.op, result, tensor, plan, &[exponent], norm_backward);
    autograd::keep_result(machine, result, "LinalgVectorNorm");
    Ok(())
}

/// The norm of a vector from the magnitudes of its elements.
pub(super) fn of(sizes: impl Iterator<Item = f64>, order: f64) -> f64 {
    let extreme = |pick: fn(f64, f64) -> f64| {
        move |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
            (true, _) => a,
            (_, true) => b,
            _ => pick(a, b),
        }
    };
    // Not `sum`, which is -0 of nothing.
    let sum = |sum: f64, term: f64| sum + term;
    match order {
        f64::INFINITY => sizes.fold(0.0, extreme(f64::max)),
        f64::NEG_INFINITY => sizes.fold(f64::INFINITY, extreme(f64::min)),
        0.0 => sizes.filter(|size| *size != 0.0).count() as f64,
        1.0 => sizes.fold(0.0, sum),
        2.0 => sizes.map(|size| size * size).fold(0.0, sum).sqrt(),
        _ => sizes.map(|size| size.powf(order)).fold(0.0, sum).powf(order.recip()),
    }
}

/// The norm along one dimension, or of everything, as a step of an operation that is made of others. That of complex numbers is
/// real.
pub(super) fn along(
    it: &mut Composition,
    id: TensorId,
    order: f64,
    dim: Option<i64>,
    keepdim: bool,
) -> Result<TensorId> {
    let operand = it.machine.tensor(id).clone();
    let plan = infer_along(it.machine, &operand, order, dim, keepdim)?;
    // Of one element it is the size, whatever the order.
    let alone = plan.count() == 1 && operand.shape().rank() > 0 && order != 0.0;
    let dtype = real_dtype(operand.dtype);
    let values = it.machine.try_eval(dtype, || {
        let sizes = plan.groups::<Complex64>(it.machine, &operand)?.into_iter();
        let norm = |group: Vec<Complex64>| {
            let mut sizes = group.into_iter().map(Complex64::norm);
            if alone { sizes.next().unwrap_or_default() } else { of(sizes, order) }
        };
        Ok::<_, Stop>(Buffer::of(dtype, sizes.map(norm)))
    })?;
    let result = write::deliver(it.machine, None, &plan.shape, values);
    record_groups(it.machine, it.op, result, &operand, &plan, &[order], along_backward);
    Ok(result)
}

/// The order of faults: the dimension, nothing to take the norm of. Orders so far from the usual that the powers depend on
/// how they are computed are not modelled.
fn infer_along(machine: &Machine, operand: &Tensor, order: f64, dim: Option<i64>, keepdim: bool) -> Result<Plan> {
    let dim = dim.map(|dim| wrap_dim(dim, operand.shape().rank())).transpose()?;
    let plan = Plan::new(operand, dim.map(|dim| vec![dim as i64]), keepdim)?;
    if (order < 0.0 || order == f64::INFINITY) && operand.shape().numel() == 0 && plan.count() == 0 {
        let order = printed(order);
        return Err(match dim {
            None => Rejection::NormOfNothing { order }.into(),
            Some(dim) => Rejection::NormAlongNothing { order, dim: dim as i64 }.into(),
        });
    }
    check_order(machine, order)?;
    Ok(plan)
}

/// Orders so far from the usual that the powers depend on how they are computed are not modelled.
pub(super) fn check_order(machine: &Machine, order: f64) -> Result<()> {
    if !machine.has_elements() {
        return Ok(());
    }
    if order.is_nan() || (order.is_finite() && order != 0.0 && !(0.1..=16.0).contains(&order.abs())) {
        return Err(Stop::Unsupported(format!("a norm of the order {order}")));
    }
    Ok(())
}

/// `norm_backward`.
fn along_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let order = kept.real(1);
    if order == 0.0 {
        let missing = "the gradient of a norm that counts, which libtorch leaves undefined";
        return Err(Stop::Unsupported(missing.to_owned()));
    }
    if order < 0.0 && order.is_finite() {
        let missing = "the gradient of a norm of negative order, beyond what float16 holds";
        return Err(Stop::Unsupported(missing.to_owned()));
    }
    over_groups(machine, gradient, kept, &|group| slopes_along(group, order))
}

fn slopes_along(group: &Group, order: f64) -> Vec<f64> {
    let (elements, arrived) = (&group.elements, group.arrived);
    let norm = of(elements.iter().copied().map(f64::abs), order);
    let ties = elements.iter().filter(|element| element.abs() == norm).count() as f64;
    let slope = |&x: &f64| slope(x, [norm, ties], arrived, order, quotient_first);
    elements.iter().map(slope).collect()
}

/// The derivative of the norm by one element, times what arrived: `sign(x) |x|ᵖ⁻¹ / ‖x‖ᵖ⁻¹`, which elements of the
/// greatest size share where the order is infinite. Where the norm is 0 it has a subgradient of 0.
///
/// `scaled` says in which order the powers are multiplied, since it is rounded after each:
///
/// - [`quotient_first`], as `norm_backward` (FunctionsManual.cpp) has it: what arrived is divided by the power of the norm;
/// - [`product_first`], as the kernel of `_cdist_backward` (DistanceOpsKernel.cpp) has it: the quotient is taken last;
/// - [`relative`]: one power of the size relative to the norm as it was rounded, which does not overflow.
pub(super) fn slope(x: f64, [norm, ties]: [f64; 2], arrived: f64, order: f64, scaled: Scaled) -> f64 {
    match order {
        1.0 => sign(x) * arrived,
        _ if order.is_infinite() && x.abs() == norm => sign(x) * arrived / ties,
        _ if order.is_infinite() || norm == 0.0 || (order < 1.0 && x == 0.0) => 0.0,
        _ => scaled(x, norm, arrived, order),
    }
}

/// A derivative by an element, from it, the norm, what arrived and the order.
type Scaled = fn(f64, f64, f64, f64) -> f64;

fn quotient_first(x: f64, norm: f64, arrived: f64, order: f64) -> f64 {
    let power = order - 1.0;
    match order {
        2.0 => arrived * (x / norm),
        ..1.0 => sign(x) * x.abs().powf(power) * arrived * norm.powf(-power),
        _ => sign(x) * x.abs().powf(power) * (arrived / norm.powf(power)),
    }
}

pub(super) fn product_first(x: f64, norm: f64, arrived: f64, order: f64) -> f64 {
    sign(x) * x.abs().powf(order - 1.0) * arrived / norm.powf(order - 1.0)
}

fn relative(x: f64, norm: f64, arrived: f64, order: f64) -> f64 {
    match order {
        2.0 => arrived * x / norm,
        _ => arrived * sign(x) * (x.abs() / norm).powf(order - 1.0),
    }
}

/// An order as messages print it: an integer as it is, any other number as C++ prints it.
fn text_of(order: Scalar) -> String {
    if let Scalar::Int(order) = order { order.to_string() } else { printed(f64::from_scalar(order)) }
}

/// Norms that have no value for nothing refuse it (the meta function of `linalg_vector_norm`).
fn check_identity(tensor: &Tensor, order: Scalar, dims: &[i64]) -> Result<()> {
    let exponent = f64::from_scalar(order);
    if tensor.shape().numel() != 0 || !(exponent < 0.0 || exponent == f64::INFINITY) {
        return Ok(());
    }
    let order = text_of(order);
    if dims.is_empty() {
        return Err(Rejection::NormOfNothing { order }.into());
    }
    for &dim in dims {
        if tensor.shape().sizes()[wrap_dim(dim, tensor.shape().rank())?] == 0 {
            return Err(Rejection::NormAlongNothing { order, dim }.into());
        }
    }
    Ok(())
}

/// The dtype that is asked for has all of the operand's, and is of its kind (`check_linalg_norm_dtype`).
fn check_dtype(own: DType, given: Option<DType>) -> Result<()> {
    let Some(given) = given else { return Ok(()) };
    if given.category() < Category::Floating {
        return Err(Rejection::NormDtype { dtype: given }.into());
    }
    match (own.category() == Category::Complex, given.category() == Category::Complex) {
        (true, false) => Err(Rejection::NormComplex { dtype: given }.into()),
        (false, true) => Err(Rejection::NormReal { dtype: given }.into()),
        _ if own.promote(given) != given => Err(Rejection::NormNarrowed { own, given }.into()),
        _ => Ok(()),
    }
}

/// `linalg_vector_norm_backward`.
fn norm_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let order = kept.real(1);
    over_magnitudes(machine, gradient, kept, &|group| {
        let ties = group.elements.iter().filter(|element| element.abs() == group.result).count() as f64;
        let slope = |&x: &f64| slope(x, [group.result, ties], group.arrived, order, relative);
        group.elements.iter().map(slope).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As libtorch's message has them: a fuzz target found the last.
    #[test]
    fn orders_are_printed_as_c_plus_plus_prints_numbers() {
        let orders = [
            (Scalar::Int(-2), "-2"),
            (Scalar::Float(-2.0), "-2"),
            (Scalar::Float(-0.5), "-0.5"),
            (Scalar::Float(f64::INFINITY), "inf"),
            (Scalar::Float(-2.681561595978115e154), "-2.68156e+154"),
        ];
        for (order, text) in orders {
            assert_eq!(text_of(order), text);
        }
    }
}
