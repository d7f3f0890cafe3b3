//! Variances, and the logarithm of a sum of exponentials.

use num_complex::Complex64;

use crate::error::{PointwiseFault, ReductionFault, Rejection};
use crate::ops::Op;
use crate::tensor::element::Element;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar};
use crate::with_element_type;

use super::autograd;
use super::elementwise::resize_output;
use super::graph::Kept;
use super::iterator;
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::reduction::{Group, Plan, begin, deliver, dtype_of, over_groups, record_groups, resize, warn_of_lost_parts};

/// `var`.
pub(super) fn var(machine: &mut Machine, call: &Call) -> Result<Slot> {
    variance(machine, call, false)
}

/// `std`: the root of the variance.
pub(super) fn std(machine: &mut Machine, call: &Call) -> Result<Slot> {
    variance(machine, call, true)
}

/// `var_mean`.
pub(super) fn var_mean(machine: &mut Machine, call: &Call) -> Result<Slot> {
    moments(machine, call, false)
}

/// `std_mean`.
pub(super) fn std_mean(machine: &mut Machine, call: &Call) -> Result<Slot> {
    moments(machine, call, true)
}

/// What is asked of a variance.
struct Spread {
    dims: Option<Vec<i64>>,
    keepdim: bool,
    /// What is taken off the number of elements.
    correction: f64,
}

/// No overload takes both.
fn check_arguments(call: &Call) -> Result<()> {
    if call.optional_number(2)?.is_some() && call.optional_flag(4)?.is_some() {
        return Err(Stop::Unsupported("both correction and unbiased".to_owned()));
    }
    Ok(())
}

impl Spread {
    fn new(call: &Call) -> Result<Spread> {
        let correction = match (call.optional_number(2)?, call.optional_flag(4)?) {
            (None, None) => 1.0,
            (None, Some(unbiased)) => f64::from(u8::from(unbiased)),
            (Some(Scalar::Complex(value)), _) if value.im != 0.0 => return Err(ReductionFault::Correction {}.into()),
            (Some(number), _) => f64::from_scalar(number),
        };
        Ok(Spread { dims: call.dims(1)?, keepdim: call.flag(3)?, correction })
    }
}

fn variance(machine: &mut Machine, call: &Call, root: bool) -> Result<Slot> {
    check_arguments(call)?;
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let out = begin(machine, call, &tensor)?;
    if tensor.dtype.category() < Category::Floating {
        return Err(ReductionFault::VarianceDtype {}.into());
    }
    let spread = Spread::new(call)?;
    let plan = Plan::new(&tensor, spread.dims.clone(), spread.keepdim)?;
    let dtype = dtype_of(machine, out, real_dtype(tensor.dtype));
    let fits = real_dtype(tensor.dtype).can_cast_to(dtype);
    let refused = Rejection::CannotCast { from: real_dtype(tensor.dtype), to: dtype };
    let result = if tensor.dtype.category() == Category::Complex {
        // The variances of the real and the imaginary parts, added: the sum goes to `out`, as any sum does.
        if !fits {
            return Err(refused.into());
        }
        warn_of_freedom(machine, call.op, &plan, spread.correction, 2);
        if let Some(out) = out {
            iterator::check_internal_overlap(machine.tensor(out))?;
        }
        let tellings = if dtype.category() == Category::Complex { 2 } else { 1 };
        if let Some(out) = out.filter(|out| *machine.tensor(*out).shape() != plan.shape) {
            resize_output(machine, out, Layout::contiguous(plan.shape.clone()), tellings)?;
        }
        let groups = plan.groups::<Complex64>(machine, &tensor)?;
        let rounded = if plan.shape.numel() == 1 { real_dtype(tensor.dtype) } else { DType::Float64 };
        let of_part = |part: Vec<f64>| round(rounded, Welford::of(&part).variance(spread.correction));
        let values = groups.into_iter().map(|group| {
            let real = of_part(group.iter().map(|element| element.re).collect());
            let sum = real + of_part(group.iter().map(|element| element.im).collect());
            match root {
                // The root of a complex number that is none has no part either.
                true if sum.is_nan() => Scalar::Complex(Complex64::new(sum, sum)),
                true if dtype.category() == Category::Complex => Scalar::Complex(Complex64::new(sum, 0.0).sqrt()),
                true => Scalar::Float(sum.sqrt()),
                false => Scalar::Float(sum),
            }
        });
        values.collect::<Vec<_>>()
    } else {
        resize(machine, out, &plan.shape)?;
        if !fits {
            return Err(refused.into());
        }
        warn_of_freedom(machine, call.op, &plan, spread.correction, 1);
        if dtype.category() == Category::Complex && tensor.shape().numel() > 0 && plan.shape.numel() != 1 {
            return Err(PointwiseFault::NoKernel { kernel: "std_cpu", dtype }.into());
        }
        // A variance of everything is rounded to float32 on its way to a wider dtype.
        let rounded = if plan.shape.numel() == 1 { tensor.dtype } else { DType::Float64 };
        let values = plan.groups::<f64>(machine, &tensor)?.into_iter().map(|group| {
            let variance = Welford::of(&group).variance(spread.correction);
            Scalar::Float(round(rounded, if root { variance.sqrt() } else { variance }))
        });
        values.collect()
    };
    let result = Buffer::from_scalars(dtype, result.into_iter());
    let id = deliver(machine, out, &plan.shape, result);
    record_variance(machine, call.op, id, &tensor, &plan, &spread, root);
    if root {
        autograd::keep_result(machine, id, "Std");
    }
    Ok(Slot::Tensor(id))
}

/// The nearest number of a dtype.
fn round(dtype: DType, number: f64) -> f64 {
    with_element_type!(dtype, T => f64::from_scalar(T::from_scalar(Scalar::Float(number)).to_scalar()))
}

fn moments(machine: &mut Machine, call: &Call, root: bool) -> Result<Slot> {
    check_arguments(call)?;
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let category = tensor.dtype.category();
    if category < Category::Floating {
        return Err(ReductionFault::MomentsDtype { name: call.op.name() }.into());
    }
    let spread = Spread::new(call)?;
    let plan = Plan::new(&tensor, spread.dims.clone(), spread.keepdim)?;
    let times = if category == Category::Complex { 2 } else { 1 };
    warn_of_freedom(machine, call.op, &plan, spread.correction, times);
    let groups = plan.groups::<Complex64>(machine, &tensor)?;
    let parts: Vec<(Welford, Welford)> = groups
        .into_iter()
        .map(|group| {
            let part = |part: fn(&Complex64) -> f64| Welford::of(&group.iter().map(part).collect::<Vec<_>>());
            (part(|element| element.re), part(|element| element.im))
        })
        .collect();
    let spreads = parts.iter().map(|(real, imaginary)| {
        let imaginary = if category == Category::Complex { imaginary.variance(spread.correction) } else { 0.0 };
        let variance = real.variance(spread.correction) + imaginary;
        Scalar::Float(if root { variance.sqrt() } else { variance })
    });
    let spreads = Buffer::from_scalars(real_dtype(tensor.dtype), spreads.collect::<Vec<_>>().into_iter());
    let means = parts.iter().map(|(real, imaginary)| Scalar::Complex(Complex64::new(real.mean(), imaginary.mean())));
    let means = Buffer::from_scalars(tensor.dtype, means.collect::<Vec<_>>().into_iter());
    let first = deliver(machine, None, &plan.shape, spreads);
    record_variance(machine, call.op, first, &tensor, &plan, &spread, root);
    let second = deliver(machine, None, &plan.shape, means);
    record_groups(machine, call.op, second, &tensor, &plan, &[], mean_backward);
    if root {
        autograd::keep_result(machine, first, "StdMean");
        autograd::keep_first(machine, second, first, "StdMean");
    }
    Ok(Slot::Tensors(vec![first, second]))
}

fn mean_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, |group| vec![group.arrived / group.count; group.elements.len()])
}

pub(super) fn real_dtype(dtype: DType) -> DType {
    match dtype {
        DType::Complex64 => DType::Float32,
        DType::Complex128 => DType::Float64,
        real => real,
    }
}

fn warn_of_freedom(machine: &mut Machine, op: Op, plan: &Plan, correction: f64, times: usize) {
    let count = if plan.shape.numel() == 0 { 0 } else { plan.count() };
    if count as f64 - correction <= 0.0 {
        let warning = format!(
            "{op}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input \
             numel divided by output numel)."
        );
        machine.warnings.extend(std::iter::repeat_n(warning, times));
    }
}

/// Mean and squared distances from it, element after element (Welford's algorithm, as `WelfordOps`).
struct Welford {
    count: usize,
    mean: f64,
    squares: f64,
}

impl Welford {
    fn of(elements: &[f64]) -> Welford {
        let none = Welford { count: 0, mean: 0.0, squares: 0.0 };
        elements.iter().fold(none, |seen, &element| {
            let count = seen.count + 1;
            let distance = element - seen.mean;
            let mean = seen.mean + distance / count as f64;
            Welford { count, mean, squares: seen.squares + distance * (element - mean) }
        })
    }

    fn mean(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.mean }
    }

    /// The squared distances, divided by the degrees of freedom, of which there are at least none.
    fn variance(&self, correction: f64) -> f64 {
        let count = self.count as f64;
        let freedom = if count > correction { count - correction } else { 0.0 };
        if self.count == 0 { f64::NAN } else { self.squares / freedom }
    }
}

/// Notes a variance or its root (`var_backward`, `std_backward`).
fn record_variance(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    tensor: &Tensor,
    plan: &Plan,
    spread: &Spread,
    root: bool,
) {
    let of_all = spread.dims.is_none() || tensor.shape().rank() == 0;
    let parameters = [spread.correction, f64::from(u8::from(of_all))];
    let function = if root { std_backward } else { var_backward };
    record_groups(machine, op, result, tensor, plan, &parameters, function);
}

/// The gradient of a variance.
fn var_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, |group| spread_slopes(group, kept, group.arrived))
}

/// The gradient of the root of one.
fn std_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, |group| {
        let arrived = if group.result == 0.0 { 0.0 } else { group.arrived / (2.0 * group.result) };
        spread_slopes(group, kept, arrived)
    })
}

fn spread_slopes(group: &Group, kept: &Kept, arrived: f64) -> Vec<f64> {
    let (freedom, of_all) = (group.count - kept.real(1), kept.real(2) == 1.0);
    let mean = round(group.dtype, group.elements.iter().sum::<f64>() / group.count);
    let slope = |&element: &f64| match of_all && freedom <= 0.0 {
        // The limit, which only the variance of everything knows of.
        true if element == mean => f64::NAN,
        true => f64::INFINITY,
        false => 2.0 / freedom * (element - mean),
    };
    group.elements.iter().map(|element| arrived * slope(element)).collect()
}

/// `logsumexp`: computed with the greatest element taken off and added again.
pub(super) fn logsumexp(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let out = begin(machine, call, &tensor)?;
    let own = if tensor.dtype.category() < Category::Floating { DType::Float32 } else { tensor.dtype };
    let dtype = dtype_of(machine, out, own);
    if dtype.category() < Category::Floating {
        return Err(ReductionFault::LogsumexpDtype { dtype }.into());
    }
    let plan = Plan::structured(&tensor, call.dims(1)?, call.flag(2)?)?;
    resize(machine, out, &plan.shape)?;
    let complex = tensor.dtype.category() == Category::Complex;
    warn_of_lost_parts(machine, &tensor, dtype);
    let groups = plan.groups::<Complex64>(machine, &tensor)?;
    let values = groups.into_iter().map(|group| {
        let greatest =
            group.iter().map(|element| element.re).fold(f64::NEG_INFINITY, |a, b| match a > b || a.is_nan() {
                true => a,
                false => b,
            });
        let taken = if greatest.is_infinite() { 0.0 } else { greatest };
        if complex {
            let sum: Complex64 = group.iter().map(|element| (element - taken).exp()).sum();
            return Scalar::Complex(sum.ln() + taken);
        }
        // Each term is rounded to the dtype of the operand.
        let term = |element: &Complex64| round(own, round(own, round(own, element.re) - round(own, taken)).exp());
        Scalar::Float(round(dtype, group.iter().map(term).sum::<f64>()).ln() + round(own, taken))
    });
    let result = Buffer::from_scalars(dtype, values.collect::<Vec<_>>().into_iter());
    let id = deliver(machine, out, &plan.shape, result);
    record_groups(machine, call.op, id, &tensor, &plan, &[], logsumexp_backward);
    autograd::keep_result(machine, id, "Logsumexp");
    Ok(Slot::Tensor(id))
}

fn logsumexp_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, |group| {
        group.elements.iter().map(|element| group.arrived * (element - group.result).exp()).collect()
    })
}
