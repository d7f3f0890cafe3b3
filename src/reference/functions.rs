//! Functions that work element by element and have rules of their own: what they refuse beforehand, operands that take no
//! part in promotion or are missing, numbers that choose another loop.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::element::Element;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::autograd;
use super::elementwise::{self, Casting, Elementwise, Facts, Halt, Operands, Plan, elementwise_kernel};
use super::held::{check_held, computed_in, is};
use super::iterator::{self, Input, like};
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, Tensor, TensorId};
use super::number::{Computed, Number};
use super::{math, product, write};

/// A loop, written as the rows of the operation table write it.
macro_rules! kernel {
    ($word:ident $operands:tt => $body:expr) => {
        elementwise_kernel!($word $operands $body)
    };
}

mod absolute;
mod activation;
mod choice;
mod fill;
mod loss_slope;
mod power;

pub(super) use absolute::*;
pub(super) use activation::*;
pub(super) use choice::*;
pub(super) use fill::*;
pub(super) use loss_slope::*;
pub(super) use power::*;

/// `complex`.
pub(super) fn complex(machine: &mut Machine, call: &Call) -> Result<Slot> {
    parts(machine, call, kernel!(pair(re, im) => num_complex::Complex::new(re, im)))
}

/// `polar`.
pub(super) fn polar(machine: &mut Machine, call: &Call) -> Result<Slot> {
    parts(machine, call, kernel!(pair(abs, angle) => math::polar(abs, angle)))
}

/// Complex numbers out of two real ones (`complex_check_floating`, `complex_check_dtype`).
fn parts(machine: &mut Machine, call: &Call, kernel: Elementwise) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    let (first, second) = (inputs[0].dtype(), inputs[1].dtype());
    let part = |dtype| matches!(dtype, DType::Float16 | DType::Float32 | DType::Float64);
    if !part(first) || !part(second) {
        return Err(Rejection::PartsDtype { first, second }.into());
    }
    if first != second {
        return Err(Rejection::PartsDiffer { first, second }.into());
    }
    if first == DType::Float16 {
        return Err(Stop::Unsupported("complex numbers of two float16".to_owned()));
    }
    let wanted = if first == DType::Float32 { DType::Complex64 } else { DType::Complex128 };
    if let Some(target) = call.target()? {
        let output = machine.tensor(target).dtype;
        if output != wanted {
            return Err(Rejection::PartsOutput { wanted, output }.into());
        }
    }
    let plan = Plan::typed(machine, call, &inputs, (first, wanted), Casting::Any)?;
    plan.prepare(machine, call)?;
    finish(machine, call, plan, kernel, &inputs, &inputs)
}

/// `addcmul`.
pub(super) fn addcmul(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    fused(machine, call, inputs, kernel!(number(a, b, c; value) => a.plus_products(value, b, c)))
}

/// `addcdiv`, which divides no integers by integers.
pub(super) fn addcdiv(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    if inputs[1..].iter().all(|input| input.dtype().category() <= Category::Integral) {
        return Err(Rejection::AddcdivIntegers.into());
    }
    fused(machine, call, inputs, kernel!(number(a, b, c; value) => a.plus(value.times(b).over(c))))
}

fn fused(machine: &mut Machine, call: &Call, inputs: Vec<Input>, kernel: Elementwise) -> Result<Slot> {
    let value = call.number(3)?;
    let plan = Plan::new(machine, call, &inputs)?;
    plan.prepare(machine, call)?;
    elementwise::check_kernel(call.op, plan.common)?;
    check_held(value, computed_in(plan.common))?;
    let common = plan.common;
    let factor = if common.category() <= Category::Integral { held_as(value, common) } else { value };
    finish_with(machine, call, plan, kernel, &inputs, &inputs, factor)
}

/// `lerp`: a weight with dimensions, or a number, has nothing to say in promotion.
pub(super) fn lerp(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = elementwise::inputs(machine, call)?;
    let plan = infer_lerp(machine, call, &inputs)?;
    plan.prepare(machine, call)?;
    check_weight(&inputs[2], plan.common)?;
    // A number is not rounded to 16 bits, as an element would be.
    if let Input::Number(weight) = inputs[2] {
        let kernel = kernel!(number(start, end; weight) => start.between(end, weight));
        return finish_with(machine, call, plan, kernel, &inputs[..2], &inputs, weight);
    }
    let kernel = kernel!(number(start, end, weight) => start.between(end, weight));
    finish(machine, call, plan, kernel, &inputs, &inputs)
}

/// The order of faults: autograd, the dtype of the end, that of a weight with dimensions, those of every [`Plan`].
fn infer_lerp(machine: &Machine, call: &Call, inputs: &[Input]) -> Result<Plan> {
    autograd::check_target(machine, call, inputs)?;
    let first = inputs[0].dtype();
    let check = |operand, other| match other == first {
        true => Ok(()),
        false => Err(Stop::from(Rejection::LerpDtype { operand, first, other })),
    };
    check("end", inputs[1].dtype())?;
    let (operands, common, casting) = match &inputs[2] {
        Input::Number(_) => (&inputs[..2], first, Casting::Promoted),
        Input::Tensor(weight) if weight.shape().rank() > 0 => {
            check("weight", weight.dtype)?;
            (inputs, first, Casting::Exact)
        }
        Input::Tensor(_) => (inputs, iterator::result_type(inputs), Casting::Promoted),
    };
    Plan::typed(machine, call, operands, (common, common), casting)
}

/// Rejects what the kernel rejects: a dtype, then a number that it cannot hold.
fn check_weight(weight: &Input, common: DType) -> Result<()> {
    let kernel = match weight {
        Input::Number(_) => "lerp_kernel_scalar",
        Input::Tensor(_) => "lerp_kernel_tensor",
    };
    check_dtype(kernel, common, |dtype| dtype.category() >= Category::Floating)?;
    match weight {
        Input::Number(weight) => check_held(*weight, computed_in(common)),
        Input::Tensor(_) => Ok(()),
    }
}

/// Refuses a dtype that a kernel does not compute in.
fn check_dtype(kernel: &'static str, dtype: DType, takes: impl Fn(DType) -> bool) -> Result<()> {
    if takes(dtype) { Ok(()) } else { Err(Rejection::NoKernel { kernel, dtype }.into()) }
}

/// Refuses a number that so many elements cannot be filled with. A single element of 16 bits is set without the check that
/// they hold the number, which goes through a double.
pub(super) fn check_filled(number: Scalar, dtype: DType, elements: usize) -> Result<()> {
    let single = elements == 1 && computed_in(dtype) != dtype;
    check_held(number, if single { DType::Float64 } else { dtype })
}

/// A number as a dtype holds it.
fn held_as(number: Scalar, dtype: DType) -> Scalar {
    crate::with_element_type!(dtype, T => T::from_scalar(number).to_scalar())
}

/// An operand in another dtype (`Tensor::to`): a copy with the same strides, if it is dense, through which gradients
/// flow.
fn converted(machine: &mut Machine, input: &Input, dtype: DType) -> Input {
    match input {
        Input::Tensor(tensor) if tensor.dtype != dtype => {
            let values = write::elements(machine, tensor, dtype);
            Input::Tensor(Tensor { node: tensor.node, ..write::create(machine, like(tensor), values) })
        }
        Input::Number(number) if dtype.category() > number.category() => Input::Number(match dtype.category() {
            Category::Complex => num_complex::Complex64::from_scalar(*number).to_scalar(),
            Category::Floating => f64::from_scalar(*number).to_scalar(),
            _ => *number,
        }),
        other => other.clone(),
    }
}

fn finish(
    machine: &mut Machine,
    call: &Call,
    plan: Plan,
    kernel: Elementwise,
    computed: &[Input],
    recorded: &[Input],
) -> Result<Slot> {
    finish_with(machine, call, plan, kernel, computed, recorded, Scalar::Int(1))
}

/// Computes the result from some operands, and records it for autograd as a result of others.
fn finish_with(
    machine: &mut Machine,
    call: &Call,
    plan: Plan,
    kernel: Elementwise,
    computed: &[Input],
    recorded: &[Input],
    factor: Scalar,
) -> Result<Slot> {
    let values = kernel.evaluate(machine, call.op, computed, factor, (&plan.shape, plan.common, plan.result))?;
    Ok(deliver(machine, call, plan, values, recorded, factor))
}

/// Writes the result, and records it for autograd as a result of these operands.
fn deliver(machine: &mut Machine, call: &Call, plan: Plan, values: Buffer, recorded: &[Input], factor: Scalar) -> Slot {
    let saved = autograd::save(machine, call, recorded.to_vec(), false);
    let slot = plan.deliver(machine, values);
    autograd::record_elementwise(machine, call, call.op, slot, saved, factor);
    Slot::Tensor(slot)
}
