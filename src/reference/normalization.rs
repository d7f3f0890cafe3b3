//! `layer_norm` (ATen/native/layer_norm.cpp): a tensor less the mean of its last dimensions, by the root of their variance.

use crate::error::Rejection;
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

use super::autograd;
use super::budget::charge;
use super::composition::real;
use super::elementwise::check_kernel;
use super::graph::Kept;
use super::machine::{Call, Machine, Result, Slot, Tensor};
use super::product::parts::multiplied;
use super::write;

/// `layer_norm`.
pub(super) fn layer_norm(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let input = machine.tensor(call.tensor(0)?).clone();
    let [weight, bias] = [call.optional_tensor(2)?, call.optional_tensor(3)?].map(|id| {
        let tensor = id.map(|id| machine.tensor(id));
        tensor.cloned()
    });
    let operands = [Some(&input), weight.as_ref(), bias.as_ref()];
    let plan = Plan::infer(call, &input, weight.as_ref(), bias.as_ref())?;
    let values = machine.eval(input.dtype, || plan.normalized(machine, operands));
    let result = write::deliver(machine, None, &plan.shape, values);
    let tensors = operands.map(|operand| operand.cloned()).to_vec();
    let numbers = vec![Scalar::Float(plan.eps), Scalar::Int(plan.length as i64)];
    let kept = Kept { tensors, numbers, ..Kept::of(call.op) };
    autograd::record_formula(machine, result, &operands, kept, backward);
    Ok(Slot::Tensor(result))
}

/// What is normalized: the elements of the last dimensions, so many at a time.
struct Plan {
    shape: Shape,
    length: usize,
    eps: f64,
}

impl Plan {
    /// The order of faults: dtypes that are mixed, a shape without sizes, the shape of the weight, that of the bias, that of
    /// the input; the dtype of the kernel. Neither the weight nor the bias broadcasts.
    fn infer(call: &Call, input: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>) -> Result<Plan> {
        let dtypes = [weight, bias].map(|factor| factor.map(|factor| factor.dtype));
        let mixed = is_mixed(input.dtype, dtypes)?;
        let (normalized, sizes) = (call.ints(1)?.to_vec(), input.shape().sizes());
        if normalized.is_empty() {
            return Err(Rejection::NormalizedNothing.into());
        }
        for (name, factor) in [("weight", weight), ("bias", bias)] {
            if let Some(factor) = factor.filter(|factor| factor.shape().sizes() != normalized) {
                return Err(
                    Rejection::NormalizedFactor { name, sizes: factor.shape().sizes().to_vec(), normalized }.into()
                );
            }
        }
        if !sizes.ends_with(&normalized) {
            return Err(Rejection::NormalizedInput { normalized, input: sizes.to_vec() }.into());
        }
        if !mixed {
            check_kernel(call.op, input.dtype)?;
            if let Some(found) = dtypes[1].filter(|found| *found != input.dtype) {
                return Err(Rejection::ScalarType { expected: input.dtype, found }.into());
            }
        }
        let length = multiplied(&normalized) as usize;
        Ok(Plan { shape: input.shape().clone(), length, eps: real(call, 4)? })
    }

    fn normalized(&self, machine: &Machine, [input, weight, bias]: [Option<&Tensor>; 3]) -> Buffer {
        let Some(input) = input else { return Buffer::zeros(DType::Float32, 0) };
        let mut values: Vec<f64> = machine.elements(input);
        let [weight, bias] = [weight, bias].map(|factor| factor.map(|factor| machine.elements::<f64>(factor)));
        charge(4 * values.len());
        for row in values.chunks_mut(self.length.max(1)) {
            let moments = Moments::of(row, self.eps);
            for (at, value) in row.iter_mut().enumerate() {
                let factor = weight.as_ref().map_or(1.0, |weight| weight[at]);
                let summand = bias.as_ref().map_or(0.0, |bias| bias[at]);
                *value = moments.normalize(*value) * factor + summand;
            }
        }
        Buffer::of(input.dtype, values)
    }
}

/// Returns whether the parameters have another dtype than the input, which those of float32 may, of an input of 16 bits. The
/// weight decides it, or the bias where there is no weight.
fn is_mixed(input: DType, [weight, bias]: [Option<DType>; 2]) -> Result<bool> {
    if weight.or(bias).is_none_or(|parameter| parameter == input) {
        return Ok(false);
    }
    if [weight, bias].into_iter().flatten().any(|parameter| parameter != DType::Float32) {
        return Err(Rejection::NormalizedParameter.into());
    }
    match input {
        DType::Float16 | DType::Bfloat16 => Ok(true),
        _ => Err(Rejection::NormalizedMixed.into()),
    }
}

/// The mean of a row, and one by the root of its variance.
#[derive(Clone, Copy)]
struct Moments {
    mean: f64,
    scale: f64,
}

impl Moments {
    fn of(row: &[f64], eps: f64) -> Moments {
        let count = row.len() as f64;
        let mean = row.iter().sum::<f64>() / count;
        let variance = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
        Moments { mean, scale: 1.0 / (variance + eps).sqrt() }
    }

    fn normalize(self, value: f64) -> f64 {
        (value - self.mean) * self.scale
    }
}

/// The gradients of the input, the weight and the bias (`native_layer_norm_backward`).
fn backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let [Some(input), weight, bias] = &kept.tensors[..] else { return Ok(vec![None, None, None]) };
    let length = match kept.numbers[1] {
        Scalar::Int(length) => length as usize,
        _ => 0,
    };
    let received = match machine.has_elements() {
        true => {
            charge(8 * input.shape().numel());
            let weight = weight.as_ref().map(|weight| machine.elements(weight));
            slopes(machine.elements(input), &machine.elements(gradient), weight.as_deref(), kept.real(0), length)
        }
        false => [const { Vec::new() }; 3],
    };
    let operands = [Some(input), weight.as_ref(), bias.as_ref()].into_iter().zip(received).zip(&kept.needed);
    let made = operands.map(|((operand, values), needed)| {
        let operand = operand.filter(|_| *needed)?;
        let values = Buffer::of(operand.dtype, values);
        Some(machine.allocate(Layout::contiguous(operand.shape().clone()), values))
    });
    Ok(made.collect())
}

/// The same of elements.
fn slopes(mut input: Vec<f64>, gradient: &[f64], weight: Option<&[f64]>, eps: f64, length: usize) -> [Vec<f64>; 3] {
    let [mut of_weight, mut of_bias] = [(); 2].map(|()| vec![0.0; length]);
    let rows = length.max(1);
    for (row, arrived) in input.chunks_mut(rows).zip(gradient.chunks(rows)) {
        let moments = Moments::of(row, eps);
        row.iter_mut().for_each(|value| *value = moments.normalize(*value));
        let weighed: Vec<f64> =
            arrived.iter().enumerate().map(|(at, value)| value * weight.map_or(1.0, |weight| weight[at])).collect();
        let count = length as f64;
        let mean = weighed.iter().sum::<f64>() / count;
        let along = weighed.iter().zip(&*row).map(|(arrived, own)| arrived * own).sum::<f64>() / count;
        for (at, own) in row.iter_mut().enumerate() {
            of_weight[at] += arrived[at] * *own;
            of_bias[at] += arrived[at];
            *own = moments.scale * (weighed[at] - mean - *own * along);
        }
    }
    [input, of_weight, of_bias]
}
