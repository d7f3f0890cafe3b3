//! Norms of vectors.

use num_complex::Complex64;

use crate::error::ReductionFault;
use crate::tensor::element::Element;
use crate::tensor::{Buffer, Category, DType, Scalar};

use super::autograd;
use super::graph::Kept;
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, wrap_dim};
use super::moment::real_dtype;
use super::reduction::{Group, Plan, begin, deliver, over_groups, record_groups, set_output, warn_of_lost_parts};

/// `linalg_vector_norm`.
pub(super) fn vector_norm(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let out = begin(machine, call, &tensor)?;
    if tensor.dtype.category() < Category::Floating {
        return Err(ReductionFault::NormInput { dtype: tensor.dtype }.into());
    }
    let exponent = match call.number(1)? {
        Scalar::Complex(_) => return Err(ReductionFault::NormOrder {}.into()),
        number => f64::from_scalar(number),
    };
    let dims = call.dims(2)?.unwrap_or_default();
    check_identity(&tensor, exponent, &dims)?;
    let given = call.optional_dtype(4)?;
    check_dtype(tensor.dtype, given)?;
    let named = !dims.is_empty() && tensor.shape().rank() == 0;
    let plan = Plan::new(&tensor, Some(dims), call.flag(3)?)?;
    let dtype = real_dtype(given.unwrap_or(tensor.dtype));
    set_output(machine, out, &plan.shape, dtype)?;
    if exponent == 0.0 && plan.count() == 1 && !named {
        // Single elements are copied rather than counted, unless a dimension is named where there is none.
        warn_of_lost_parts(machine, &tensor, dtype);
    }
    let values = plan.groups::<Complex64>(machine, &tensor)?.into_iter().map(|group| {
        let sizes: Vec<f64> = group.into_iter().map(|element| element.norm()).collect();
        Scalar::Float(norm(&sizes, exponent))
    });
    let result = Buffer::from_scalars(dtype, values.collect::<Vec<_>>().into_iter());
    let id = deliver(machine, out, &plan.shape, result);
    if exponent == 0.0 && tensor.node.is_some() {
        return Err(Stop::Unsupported("gradients through a count of elements".to_owned()));
    }
    record_groups(machine, call.op, id, &tensor, &plan, &[exponent], norm_backward);
    autograd::keep_result(machine, id, "LinalgVectorNorm");
    Ok(Slot::Tensor(id))
}

fn norm(sizes: &[f64], exponent: f64) -> f64 {
    let extreme = |better: fn(f64, f64) -> bool, start: f64| {
        sizes.iter().fold(
            start,
            |best, &size| if best.is_nan() || !(size.is_nan() || better(size, best)) { best } else { size },
        )
    };
    match exponent {
        0.0 => sizes.iter().filter(|size| **size != 0.0).count() as f64,
        f64::INFINITY => extreme(|a, b| a > b, 0.0),
        f64::NEG_INFINITY => extreme(|a, b| a < b, f64::INFINITY),
        // Not `sum`, which is -0 of nothing.
        _ => sizes.iter().map(|size| size.powf(exponent)).fold(0.0, |sum, size| sum + size).powf(exponent.recip()),
    }
}

/// Norms that have no value for nothing refuse it (the meta function of `linalg_vector_norm`).
fn check_identity(tensor: &Tensor, exponent: f64, dims: &[i64]) -> Result<()> {
    if tensor.shape().numel() != 0 || !(exponent < 0.0 || exponent == f64::INFINITY) {
        return Ok(());
    }
    let order = if exponent.is_infinite() { format!("{exponent}") } else { Scalar::Float(exponent).to_string() };
    let order = order.trim_end_matches(".0").to_owned();
    if dims.is_empty() {
        return Err(ReductionFault::NormOfNothing { order }.into());
    }
    for &dim in dims {
        if tensor.shape().sizes()[wrap_dim(dim, tensor.shape().rank())?] == 0 {
            return Err(ReductionFault::NormAlongNothing { order, dim }.into());
        }
    }
    Ok(())
}

/// The dtype that is asked for has all of the operand's, and is of its kind (`check_linalg_norm_dtype`).
fn check_dtype(own: DType, given: Option<DType>) -> Result<()> {
    let Some(given) = given else { return Ok(()) };
    if given.category() < Category::Floating {
        return Err(ReductionFault::NormDtype { dtype: given }.into());
    }
    match (own.category() == Category::Complex, given.category() == Category::Complex) {
        (true, false) => Err(ReductionFault::NormComplex { dtype: given }.into()),
        (false, true) => Err(ReductionFault::NormReal { dtype: given }.into()),
        _ if own.promote(given) != given => Err(ReductionFault::NormNarrowed { own, given }.into()),
        _ => Ok(()),
    }
}

/// `linalg_vector_norm_backward`.
fn norm_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, |group| slopes(group, kept.real(1)))
}

fn slopes(group: &Group, exponent: f64) -> Vec<f64> {
    let (elements, result, arrived) = (&group.elements, group.result, group.arrived);
    let sign = |element: f64| if element == 0.0 { 0.0 } else { element.signum() };
    if exponent.is_infinite() {
        let equal: Vec<f64> = elements.iter().map(|e| f64::from(u8::from(e.abs() == result))).collect();
        let count: f64 = equal.iter().sum();
        return elements.iter().zip(equal).map(|(&e, equal)| sign(e) * arrived * equal / count).collect();
    }
    let slope = |&element: &f64| match exponent {
        1.0 => sign(element) * arrived,
        _ if result == 0.0 || (element == 0.0 && exponent < 1.0) => 0.0,
        2.0 => arrived * element / result,
        _ => arrived * sign(element) * (element.abs() / result).powf(exponent - 1.0),
    };
    elements.iter().map(slope).collect()
}
