//! Samplers: random numbers whose parameters broadcast. The reference has no generator: its elements are some that the
//! parameters allow, and its shape, dtype and strides are those of any result.

use crate::error::Rejection;
use crate::ops::Form;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar};

use super::elementwise::{Casting, Facts, Plan};
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor};
use super::{autograd, view, write};

/// `normal`: of a mean and a standard deviation (`normal_impl`). Here the mean.
pub(super) fn normal(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = tensors(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    let [mean, deviation] = [0, 1].map(|at| inputs[at].tensor().cloned());
    let (Some(mean), Some(deviation)) = (mean, deviation) else { return Err(Rejection::NegativeDeviation.into()) };
    if deviation.dtype.category() == Category::Complex {
        return Err(Rejection::ComplexDeviation.into());
    }
    let least = |machine: &Machine| machine.elements::<f64>(&deviation).into_iter().all(|value| value >= 0.0);
    if machine.has_elements() && !least(machine) {
        return Err(Rejection::NegativeDeviation.into());
    }
    let shape = iterator::broadcast(&inputs)?;
    let layout = Layout::contiguous(shape.clone());
    let target = call.target()?;
    let dtype = target.map_or(mean.dtype, |target| machine.tensor(target).dtype);
    write::prepare(machine, target, &shape)?;
    // libtorch looks at the dtype of `out=` alone.
    let integral = [dtype, mean.dtype].into_iter().find(|dtype| dtype.category() < Category::Floating);
    if let Some(dtype) = integral.filter(|_| shape.numel() > 0) {
        return Err(Rejection::NoKernel { kernel: "normal_kernel_cpu", dtype }.into());
    }
    if let Some(target) = target {
        let out = machine.tensor(target);
        iterator::check_internal_overlap(out)?;
        // An operand that is the target has been resized with it.
        for id in [call.tensor(1)?, call.tensor(0)?].into_iter().filter(|id| *id != target) {
            iterator::check_partial_overlap(out, machine.tensor(id))?;
        }
    }
    check_real(call, &inputs, dtype)?;
    // What is drawn is multiplied by the one, and added to the other, in place.
    let drawn = Input::Tensor(machine.blank(dtype, layout.clone()));
    for other in [&inputs[1], &inputs[0]] {
        iterator::check_cast(iterator::result_type(&[drawn.clone(), other.clone()]), dtype)?;
    }
    let expanded = Tensor { layout: mean.layout.expand(&shape).expect("operands broadcast"), node: None, ..mean };
    let values = write::elements(machine, &expanded, dtype);
    let saved = autograd::save(machine, call, inputs, false);
    let result = write::deliver_in(machine, target, layout, values);
    autograd::record_elementwise(machine, call, call.op, result, saved, Scalar::Int(1));
    Ok(Slot::Tensor(result))
}

/// `binomial`: of a number of trials and a probability (`_s_binomial_cpu`). Here all that are certain to
/// succeed, and no other.
pub(super) fn binomial(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = tensors(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    let [count, probability] = [0, 1].map(|at| inputs[at].dtype());
    for (name, dtype) in [("count", count), ("prob", probability)] {
        if dtype.category() != Category::Floating {
            return Err(Rejection::BinomialDtype { name, dtype }.into());
        }
    }
    iterator::broadcast(&inputs)?;
    if probability != count {
        return Err(Rejection::FoundDtype { found: probability, expected: count }.into());
    }
    let plan = Plan::into(machine, call, &inputs, (count, count), Casting::Exact, None)?;
    Facts::of(call.op).check_kernel(count)?;
    let target = call.target()?;
    if let Some(target) = target {
        write::prepare(machine, Some(target), &plan.shape)?;
        let got = machine.tensor(target).dtype;
        if got != count {
            return Err(Rejection::OutDtype { expected: count, got }.into());
        }
        iterator::check_internal_overlap(machine.tensor(target))?;
    }
    let values = machine.try_eval(count, || {
        let columns = machine.columns::<f64>(&inputs, &plan.shape)?;
        let successes = columns[0].iter().zip(&columns[1]).map(|(&count, &p)| if p >= 1.0 { count } else { 0.0 });
        Ok::<_, Stop>(Buffer::of(count, successes))
    })?;
    let same = inputs[0].shape() == plan.shape;
    let layout = if same { Layout::contiguous(plan.shape) } else { plan.layout };
    let result = write::deliver_in(machine, target, layout, values);
    autograd::record_missing(machine, call.op, call.form, result, &inputs);
    Ok(Slot::Tensor(result))
}

/// `bernoulli`: ones with a probability that broadcasts to the tensor (`bernoulli_impl_`). Here those that
/// are certain.
pub(super) fn bernoulli(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = tensors(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    let (own, given) = (call.tensor(0)?, call.tensor(1)?);
    let (tensor, probability) = (machine.tensor(own).clone(), machine.tensor(given).clone());
    if call.form == Form::InPlace {
        iterator::check_internal_overlap(&tensor)?;
    }
    if tensor.shape().numel() > 0 {
        check_bernoulli(machine, call, &tensor, &probability)?;
    }
    // In place, libtorch does not look at it (`bernoulli-in-place-of-complex-numbers`).
    if call.form == Form::Functional {
        check_real(call, &inputs, tensor.dtype)?;
    }
    let saved = autograd::save(machine, call, inputs, false);
    let values = machine.try_eval(tensor.dtype, || {
        let probabilities = machine.expanded::<f64>(&probability, tensor.shape())?;
        let ones = probabilities.into_iter().map(|p| Scalar::Int(i64::from(p >= 1.0)));
        Ok::<_, Stop>(Buffer::from_scalars(tensor.dtype, ones))
    });
    let values = if tensor.shape().numel() > 0 { values? } else { machine.zeros(tensor.dtype, 0) };
    let target = (call.form == Form::InPlace).then_some(own);
    let result = write::deliver_in(machine, target, iterator::dense(&tensor.layout), values);
    autograd::record_elementwise(machine, call, call.op, result, saved, Scalar::Int(1));
    Ok(Slot::Tensor(result))
}

/// The order of faults: the dtype, the shape of the probabilities, overlap, their dtype, a number that is no probability.
fn check_bernoulli(machine: &Machine, call: &Call, tensor: &Tensor, probability: &Tensor) -> Result<()> {
    if tensor.dtype.category() == Category::Complex {
        return Err(Rejection::NoKernel { kernel: "bernoulli_tensor_cpu_self_", dtype: tensor.dtype }.into());
    }
    let layout = view::expanded(&probability.layout, probability.dtype, tensor.shape().sizes())?;
    if call.form == Form::InPlace {
        iterator::check_partial_overlap(tensor, &Tensor { layout, node: None, ..probability.clone() })?;
    }
    if probability.dtype.category() != Category::Floating {
        return Err(Rejection::NoKernel { kernel: "bernoulli_tensor_cpu_p_", dtype: probability.dtype }.into());
    }
    let within = |value: f64| (0.0..=1.0).contains(&value);
    if machine.has_elements() && !machine.elements::<f64>(probability).into_iter().all(within) {
        return Err(Rejection::Probability.into());
    }
    Ok(())
}

/// Rejects complex numbers that gradients would flow through.
fn check_real(call: &Call, inputs: &[Input], dtype: DType) -> Result<()> {
    match dtype.category() {
        Category::Complex if inputs.iter().any(|input| input.node().is_some()) => {
            Err(Rejection::ComplexAutograd { name: call.op.name() }.into())
        }
        _ => Ok(()),
    }
}

fn tensors(machine: &Machine, call: &Call) -> Result<Vec<Input>> {
    [0, 1].into_iter().map(|at| Ok(Input::Tensor(machine.tensor(call.tensor(at)?).clone()))).collect()
}
