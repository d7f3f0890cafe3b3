//! Variances, logarithms of sums of exponentials, and the mean of what is not NaN.

use num_complex::Complex64;

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::element::Element;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar};
use crate::with_element_type;

use super::budget::charge_product;
use super::elementwise::check_kernel;
use super::graph::Kept;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, Tensor, TensorId, wrap_dim};
use super::reduction::{Group, Plan, begin, dtype_of, over_groups, record_groups};
use super::scan::{self, Lines};
use super::{autograd, dispatch, math, write};

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

/// The arguments of a variance.
struct Spread {
    dims: Option<Vec<i64>>,
    keepdim: bool,
    /// Subtracted from the number of elements.
    correction: f64,
    /// True if its root is asked for.
    root: bool,
}

impl Spread {
    /// The order of faults: the dtype, the correction, the dimensions.
    fn infer(call: &Call, tensor: &Tensor, root: bool) -> Result<(Spread, Plan)> {
        if tensor.dtype.category() < Category::Floating {
            return Err(match call.op {
                Op::VarMean | Op::StdMean => Rejection::VarMeanDtype { name: call.op.name() }.into(),
                _ => Rejection::VarDtype.into(),
            });
        }
        let spread = Spread::new(call, root)?;
        let plan = Plan::new(tensor, spread.dims.clone(), spread.keepdim)?;
        Ok((spread, plan))
    }

    fn new(call: &Call, root: bool) -> Result<Spread> {
        let correction = match (call.optional_number(2)?, call.optional_flag(4)?) {
            (None, None) => 1.0,
            (None, Some(unbiased)) => f64::from(u8::from(unbiased)),
            (Some(Scalar::Complex(value)), _) if value.im != 0.0 => {
                return Err(Rejection::Overflow { dtype: DType::Float64 }.into());
            }
            (Some(number), _) => f64::from_scalar(number),
        };
        Ok(Spread { dims: call.dims(1)?, keepdim: call.flag(3)?, correction, root })
    }

    /// The variance of some numbers, or its root.
    fn of(&self, elements: impl Iterator<Item = f64>) -> f64 {
        self.rooted(Welford::of(elements).variance(self.correction))
    }

    fn rooted(&self, variance: f64) -> f64 {
        if self.root { variance.sqrt() } else { variance }
    }
}

/// No overload takes both.
fn check_arguments(call: &Call) -> Result<()> {
    if call.optional_number(2)?.is_some() && call.optional_flag(4)?.is_some() {
        return Err(Stop::Unsupported("both correction and unbiased".to_owned()));
    }
    Ok(())
}

fn variance(machine: &mut Machine, call: &Call, root: bool) -> Result<Slot> {
    check_arguments(call)?;
    let (tensor, out) = begin(machine, call)?;
    let (spread, plan) = Spread::infer(call, &tensor, root)?;
    let dtype = dtype_of(machine, out, real_dtype(tensor.dtype));
    // A variance of everything is rounded to the operand's dtype on its way to a wider one.
    let rounded = if plan.shape.numel() == 1 { real_dtype(tensor.dtype) } else { DType::Float64 };
    let values = if tensor.dtype.category() == Category::Complex {
        prepare_complex(machine, call, &tensor, out, &plan, &spread)?;
        machine.try_eval(dtype, || {
            let groups = plan.groups::<Complex64>(machine, &tensor)?.into_iter();
            let values = groups.map(|group| complex_variance(&group, &spread, dtype, rounded));
            Ok::<_, Stop>(Buffer::from_scalars(dtype, values))
        })
    } else {
        prepare_real(machine, call, &tensor, out, &plan, &spread)?;
        machine.try_eval(dtype, || {
            let groups = plan.groups::<f64>(machine, &tensor)?.into_iter();
            let values = groups.map(|group| Scalar::Float(round(rounded, spread.of(group.into_iter()))));
            Ok(Buffer::from_scalars(dtype, values))
        })
    };
    let id = write::deliver(machine, out, &plan.shape, values?);
    record_variance(machine, call.op, id, &tensor, &plan, &spread);
    if root {
        autograd::keep_result(machine, id, "Std");
    }
    Ok(Slot::Tensor(id))
}

/// Resizes `out`, and refuses what is left to refuse of real numbers.
fn prepare_real(
    machine: &mut Machine,
    call: &Call,
    tensor: &Tensor,
    out: Option<TensorId>,
    plan: &Plan,
    spread: &Spread,
) -> Result<()> {
    write::prepare(machine, out, &plan.shape)?;
    let dtype = dtype_of(machine, out, tensor.dtype);
    iterator::check_cast(tensor.dtype, dtype)?;
    warn_of_freedom(machine, call.op, plan, spread.correction, 1);
    if dtype.category() == Category::Complex && tensor.shape().numel() > 0 && plan.shape.numel() != 1 {
        return Err(Rejection::NoKernel { kernel: "std_cpu", dtype }.into());
    }
    Ok(())
}

/// The same for complex numbers: the variances of their parts are added, and the sum goes to `out`, as any sum does.
fn prepare_complex(
    machine: &mut Machine,
    call: &Call,
    tensor: &Tensor,
    out: Option<TensorId>,
    plan: &Plan,
    spread: &Spread,
) -> Result<()> {
    let own = real_dtype(tensor.dtype);
    let dtype = dtype_of(machine, out, own);
    iterator::check_cast(own, dtype)?;
    warn_of_freedom(machine, call.op, plan, spread.correction, 2);
    let Some(out) = out else { return Ok(()) };
    iterator::check_internal_overlap(machine.tensor(out))?;
    let warnings = if dtype.category() == Category::Complex { 2 } else { 1 };
    write::resize_output(machine, out, Layout::contiguous(plan.shape.clone()), warnings)
}

/// The variance of complex numbers, or its root, in a dtype that may be complex; each part's is rounded.
fn complex_variance(elements: &[Complex64], spread: &Spread, dtype: DType, rounded: DType) -> Scalar {
    let part = |part: fn(&Complex64) -> f64| {
        round(rounded, Welford::of(elements.iter().map(part)).variance(spread.correction))
    };
    let sum = part(|element| element.re) + part(|element| element.im);
    match spread.root {
        // The root of a complex number that is none has no part either.
        true if sum.is_nan() => Scalar::Complex(Complex64::new(sum, sum)),
        true if dtype.category() == Category::Complex => Scalar::Complex(Complex64::new(sum, 0.0).sqrt()),
        _ => Scalar::Float(spread.rooted(sum)),
    }
}

/// The nearest number of a dtype.
fn round(dtype: DType, number: f64) -> f64 {
    with_element_type!(dtype, T => f64::from_scalar(T::from_scalar(Scalar::Float(number)).to_scalar()))
}

fn moments(machine: &mut Machine, call: &Call, root: bool) -> Result<Slot> {
    check_arguments(call)?;
    let tensor = machine.tensor(call.tensor(0)?).clone();
    let (spread, plan) = Spread::infer(call, &tensor, root)?;
    let category = tensor.dtype.category();
    let warnings = if category == Category::Complex { 2 } else { 1 };
    warn_of_freedom(machine, call.op, &plan, spread.correction, warnings);
    let groups = plan.groups::<Complex64>(machine, &tensor)?;
    let spreads = machine.eval(real_dtype(tensor.dtype), || {
        let spreads = groups.iter().map(|group| Scalar::Float(complex_spread(group, &spread, category)));
        Buffer::from_scalars(real_dtype(tensor.dtype), spreads)
    });
    let means = machine.eval(tensor.dtype, || Buffer::of(tensor.dtype, groups.iter().map(|group| mean(group))));
    let first = write::deliver(machine, None, &plan.shape, spreads);
    record_variance(machine, call.op, first, &tensor, &plan, &spread);
    let second = write::deliver(machine, None, &plan.shape, means);
    record_groups(machine, call.op, second, &tensor, &plan, &[], mean_backward);
    if root {
        autograd::keep_result(machine, first, "StdMean");
        autograd::keep_first(machine, second, first, "StdMean");
    }
    autograd::record_twins(machine, [first, second]);
    Ok(Slot::Tensors(vec![first, second]))
}

fn mean_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, &|group| vec![group.arrived / group.count; group.elements.len()])
}

/// The variance of numbers that may be complex, or its root: that of both parts.
fn complex_spread(elements: &[Complex64], spread: &Spread, category: Category) -> f64 {
    let part = |part: fn(&Complex64) -> f64| Welford::of(elements.iter().map(part)).variance(spread.correction);
    let imaginary = if category == Category::Complex { part(|element| element.im) } else { 0.0 };
    spread.rooted(part(|element| element.re) + imaginary)
}

fn mean(elements: &[Complex64]) -> Complex64 {
    let part = |part: fn(&Complex64) -> f64| Welford::of(elements.iter().map(part)).mean();
    Complex64::new(part(|element| element.re), part(|element| element.im))
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
    sum: f64,
    mean: f64,
    squares: f64,
}

impl Welford {
    fn of(elements: impl Iterator<Item = f64>) -> Welford {
        let none = Welford { count: 0, sum: 0.0, mean: 0.0, squares: 0.0 };
        elements.fold(none, |seen, element| {
            let count = seen.count + 1;
            let distance = element - seen.mean;
            let mean = seen.mean + distance / count as f64;
            let sum = seen.sum + element;
            Welford { count, sum, mean, squares: seen.squares + distance * (element - mean) }
        })
    }

    /// The mean: that of the sum where the distance from an infinite mean is NaN.
    fn mean(&self) -> f64 {
        match self.count {
            0 => f64::NAN,
            count if self.mean.is_nan() => self.sum / count as f64,
            _ => self.mean,
        }
    }

    /// The squared distances, divided by the degrees of freedom, of which there are at least none.
    fn variance(&self, correction: f64) -> f64 {
        let count = self.count as f64;
        let freedom = if count > correction { count - correction } else { 0.0 };
        if self.count == 0 { f64::NAN } else { self.squares / freedom }
    }
}

/// Records a variance or its root.
fn record_variance(machine: &mut Machine, op: Op, result: TensorId, tensor: &Tensor, plan: &Plan, spread: &Spread) {
    let of_all = spread.dims.is_none() || tensor.shape().rank() == 0;
    let parameters = [spread.correction, f64::from(u8::from(of_all))];
    let function = if spread.root { std_backward } else { var_backward };
    record_groups(machine, op, result, tensor, plan, &parameters, function);
}

/// `var_backward`.
fn var_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, &|group| spread_slopes(group, kept, group.arrived))
}

/// `std_backward`.
fn std_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, &|group| {
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
    let (tensor, out) = begin(machine, call)?;
    let own = if tensor.dtype.category() < Category::Floating { DType::Float32 } else { tensor.dtype };
    let dtype = dtype_of(machine, out, own);
    let plan = infer_logsumexp(call, &tensor, dtype)?;
    write::prepare(machine, out, &plan.shape)?;
    if let Some(out) = out {
        // The sum goes to out= as any other sum does (`sum_out`).
        iterator::check_internal_overlap(machine.tensor(out))?;
    }
    write::warn_of_cast(machine, tensor.dtype, dtype, tensor.shape().numel());
    let values = machine.try_eval(dtype, || {
        let groups = plan.groups::<Complex64>(machine, &tensor)?.into_iter();
        let values = groups.map(|group| match tensor.dtype.category() {
            Category::Complex => complex_log_sum_exp(&group),
            _ => log_sum_exp(&group, own, dtype),
        });
        Ok::<_, Stop>(Buffer::from_scalars(dtype, values))
    })?;
    let id = write::deliver(machine, out, &plan.shape, values);
    record_groups(machine, call.op, id, &tensor, &plan, &[], logsumexp_backward);
    autograd::keep_result(machine, id, "Logsumexp");
    Ok(Slot::Tensor(id))
}

/// The order of faults: the dtype of the result, the dimensions.
fn infer_logsumexp(call: &Call, tensor: &Tensor, dtype: DType) -> Result<Plan> {
    if dtype.category() < Category::Floating {
        return Err(Rejection::LogsumexpDtype { dtype }.into());
    }
    Plan::structured(tensor, call.dims(1)?, call.flag(2)?)
}

fn logsumexp_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    over_groups(machine, gradient, kept, &|group| {
        group.elements.iter().map(|element| group.arrived * (element - group.result).exp()).collect()
    })
}

/// The greatest of the elements by their real parts, or NaN; 0 instead of an infinity.
fn greatest(elements: &[Complex64]) -> f64 {
    let greater = |a: f64, b: f64| if a > b || a.is_nan() { a } else { b };
    let greatest = elements.iter().map(|element| element.re).fold(f64::NEG_INFINITY, greater);
    if greatest.is_infinite() { 0.0 } else { greatest }
}

fn complex_log_sum_exp(elements: &[Complex64]) -> Scalar {
    let taken = greatest(elements);
    let sum: Complex64 = elements.iter().map(|element| (element - taken).exp()).sum();
    Scalar::Complex(sum.ln() + taken)
}

/// Each term is rounded to the dtype of the operand, and their sum to that of the result.
fn log_sum_exp(elements: &[Complex64], own: DType, dtype: DType) -> Scalar {
    let taken = round(own, greatest(elements));
    let term = |element: &Complex64| round(own, round(own, round(own, element.re) - taken).exp());
    Scalar::Float(round(dtype, elements.iter().map(term).sum::<f64>()).ln() + taken)
}

/// `logcumsumexp`: the logarithm of the sum of the exponentials of all elements up to each.
pub(super) fn logcumsumexp(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let tensor = machine.tensor(call.tensor(0)?).clone();
    autograd::check_target(machine, call, &[Input::Tensor(tensor.clone())])?;
    let dim = infer_running(machine, call, &tensor)?;
    write::prepare(machine, call.out, tensor.shape())?;
    if tensor.shape().rank() > 0 && tensor.shape().numel() > 0 {
        scan::check_memory(machine, call, &tensor, call.out)?;
    }
    let values = machine.eval(tensor.dtype, || {
        let lines = Lines::along(tensor.shape(), dim);
        if tensor.dtype.category() == Category::Complex {
            // libtorch begins with the logarithm of zero: one that is given loses its angle.
            let with = |sum, element| math::complex_log_add_exp(element, sum);
            let zero = Complex64::new(f64::NEG_INFINITY, 0.0);
            let elements = machine.elements::<Complex64>(&tensor).into_iter().map(|element| with(zero, element));
            return Buffer::of(tensor.dtype, lines.folded(&elements.collect::<Vec<_>>(), with));
        }
        let folded = lines.folded(&machine.elements::<f64>(&tensor), math::log_add_exp);
        Buffer::of(tensor.dtype, folded)
    });
    let id = write::deliver(machine, call.out, tensor.shape(), values);
    let numbers = vec![Scalar::Int(dim as i64)];
    let kept = Kept { tensors: vec![Some(tensor.clone())], numbers, ..Kept::of(call.op) };
    autograd::record_formula(machine, id, &[Some(&tensor)], kept, logcumsumexp_backward);
    autograd::keep_result(machine, id, "Logcumsumexp");
    Ok(Slot::Tensor(id))
}

/// The order of faults: the dtype of `out`, the dimension, the dtype.
fn infer_running(machine: &Machine, call: &Call, tensor: &Tensor) -> Result<usize> {
    if let Some(out) = call.out.map(|out| machine.tensor(out).dtype).filter(|out| *out != tensor.dtype) {
        return Err(Rejection::LogcumsumexpOutput { input: tensor.dtype, out }.into());
    }
    let dim = wrap_dim(call.int(1)?, tensor.shape().rank())?;
    check_kernel(call.op, tensor.dtype)?;
    Ok(dim)
}

/// `logcumsumexp_backward`: the share that each element has of every sum from it on.
fn logcumsumexp_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let (Some(operand), Some(result)) = (&kept.tensors[0], &kept.result) else { return Ok(vec![None]) };
    // A tensor without dimensions is its own logarithm.
    if operand.shape().rank() == 0 {
        return Ok(vec![Some(gradient.clone())]);
    }
    let shares = machine.eval(operand.dtype, || {
        let [elements, results, arrived] =
            [operand, &result.tensor, gradient].map(|tensor| machine.elements::<Complex64>(tensor));
        let mut shares = vec![Complex64::default(); elements.len()];
        for line in Lines::along(operand.shape(), kept.real(0) as usize).numbers() {
            let line: Vec<usize> = line.collect();
            charge_product(&[line.len(), line.len()]);
            for (place, &at) in line.iter().enumerate() {
                let share = |from: usize| arrived[from] * (elements[at] - results[from]).exp().conj();
                // What arrived nowhere has no share, however far the sum is off.
                let sources = line[place..].iter().filter(|from| arrived[**from] != Complex64::default());
                shares[at] = sources.map(|from| share(*from)).sum();
            }
        }
        Buffer::of(operand.dtype, shares)
    });
    Ok(vec![Some(machine.allocate(Layout::contiguous(operand.shape().clone()), shares))])
}

/// `nanmean`: the sum of what is not NaN, divided by the number of it.
pub(super) fn nanmean(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let id = call.tensor(0)?;
    infer_nanmean(call, machine.tensor(id).dtype)?;
    let made = machine.compose(|machine| {
        let numbers = dispatch::apply(machine, Op::Eq, &[Operand::Tensor(id), Operand::Tensor(id)])?;
        let nothing = Operand::Other(&Arg::Nothing);
        let [dim, keepdim] = [1, 2].map(|at| call.args[at].clone());
        let count = dispatch::apply(machine, Op::Sum, &[Operand::Tensor(numbers), dim, keepdim, nothing.clone()])?;
        let sum = dispatch::apply_form(machine, &Call { op: Op::Nansum, ..*call })?;
        let args = [Operand::Tensor(sum), Operand::Tensor(count), nothing];
        let form = if call.form == Form::Out { Form::InPlace } else { Form::Functional };
        dispatch::apply_form(machine, &Call { op: Op::Div, form, args: &args, out: None })
    });
    made.map(Slot::Tensor)
}

/// The order of faults: the dtype, which `out` has words of its own for, then the one that is given.
fn infer_nanmean(call: &Call, dtype: DType) -> Result<()> {
    let integers = |dtype: DType| dtype.category() < Category::Floating;
    match (call.form, call.optional_dtype(3)?) {
        (Form::Out, _) if integers(dtype) => Err(Rejection::NanmeanIntegers.into()),
        _ if integers(dtype) => Err(Rejection::NanmeanDtype { dtype }.into()),
        (_, Some(given)) if integers(given) => Err(Rejection::NanmeanOptional { dtype: given }.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::Welford;

    #[test]
    fn the_mean_of_an_infinity_is_infinite() {
        let mean = |elements: &[f64]| Welford::of(elements.iter().copied()).mean();
        assert_eq!((mean(&[f64::INFINITY, 1.0]), mean(&[1.0, 2.0])), (f64::INFINITY, 1.5));
        assert!(mean(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan() && mean(&[f64::NAN, 1.0]).is_nan());
    }
}
