//! `mm`, `addmm` and `_addmm_activation`: products of matrices.

use crate::error::Rejection;
use crate::tensor::{Buffer, Category, DType, Scalar, Shape};

use super::super::autograd;
use super::super::iterator::{self, Input};
use super::super::machine::{Call, Machine, Result, Slot, Tensor, TensorId};
use super::super::write;
use super::multiply::{self, product_backward, record_product, scaled};
use super::output::{check_autograd, check_summand, copied, deliver, set_output};
use super::{factor, parts};

/// `mm`.
pub(in super::super) fn mm(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [a, b] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    check_autograd(machine, call, &[&a, &b])?;
    for (name, factor) in [("self", &a), ("mat2", &b)] {
        if factor.shape().rank() != 2 {
            return Err(Rejection::MmRank { name }.into());
        }
    }
    let shape = product_shape(&a, &b)?;
    let target = set_output(machine, call, &shape, a.dtype)?;
    let values = combine(machine, &a, &b, Scalar::Int(1), None)?;
    let result = deliver(machine, target, &shape, values)?;
    record_product(machine, call.op, result, &[&a, &b], &[], product_backward);
    Ok(Slot::Tensor(result))
}

/// `addmm`: a product of matrices and a summand that broadcasts to it.
pub(in super::super) fn addmm(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let sum = Sum::of(machine, call)?;
    let [input, a, b] = &sum.operands;
    let numbers = [call.number(3)?, call.number(4)?];
    let result = deliver(machine, sum.target, &sum.shape, sum.values)?;
    record_product(machine, call.op, result, &[input, a, b], &numbers, product_backward);
    Ok(Slot::Tensor(result))
}

/// `_addmm_activation`: the rectifier of that, or `gelu`. libtorch refuses what they do not take once the sum is in the
/// output, and has no gradient of it.
pub(in super::super) fn addmm_activation(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (sum, gelu) = (Sum::of(machine, call)?, call.flag(5)?);
    let dtype = sum.values.dtype();
    let refusal = activation_refuses(dtype, gelu);
    let values = match refusal {
        Some(_) => sum.values,
        None => machine.eval(dtype, || activated(&sum.values, gelu)),
    };
    let result = deliver(machine, sum.target, &sum.shape, values)?;
    if let Some(refusal) = refusal {
        return Err(refusal.into());
    }
    autograd::record_missing(machine, call.op, call.form, result, &sum.operands.map(Input::Tensor));
    Ok(Slot::Tensor(result))
}

/// The refusal of a dtype by `relu_` or `gelu_`.
fn activation_refuses(dtype: DType, gelu: bool) -> Option<Rejection> {
    match dtype.category() {
        Category::Floating => None,
        _ if gelu => Some(Rejection::NoKernel { kernel: "GeluKernelImpl", dtype }),
        Category::Bool => Some(Rejection::ReluBool),
        Category::Complex => Some(Rejection::ClampComplex),
        _ => None,
    }
}

/// The elements, each rectified, or times the share of the normal distribution below it.
fn activated(values: &Buffer, gelu: bool) -> Buffer {
    let rectified = |value: f64| if value < 0.0 { 0.0 } else { value };
    let weighted = |value: f64| value * 0.5 * libm::erfc(-value * std::f64::consts::FRAC_1_SQRT_2);
    let (dtype, values) = (values.dtype(), values.scalars());
    let values = values.into_iter().map(|value| match value {
        Scalar::Int(value) => Scalar::Int(value.max(0)),
        Scalar::Float(value) if gelu => Scalar::Float(weighted(value)),
        Scalar::Float(value) => Scalar::Float(rectified(value)),
        other => other,
    });
    Buffer::from_scalars(dtype, values)
}

/// A sum of a product of matrices and a summand, computed and not yet in the output.
struct Sum {
    operands: [Tensor; 3],
    target: Option<TensorId>,
    shape: Shape,
    values: Buffer,
}

impl Sum {
    fn of(machine: &mut Machine, call: &Call) -> Result<Sum> {
        let operands = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
        let [input, a, b] = &operands;
        let (beta, alpha) = (call.number(3)?, call.number(4)?);
        check_autograd(machine, call, &[input, a, b])?;
        for (first, dtype) in [("self", input.dtype), ("mat1", a.dtype)] {
            if dtype != b.dtype {
                return Err(Rejection::AddmmDtypes { first, a: dtype, b: b.dtype }.into());
            }
        }
        for (name, factor) in [("mat1", a), ("mat2", b)] {
            let rank = factor.shape().rank();
            if rank != 2 {
                return Err(Rejection::AddmmRank { name, rank }.into());
            }
        }
        let shape = product_shape(a, b)?;
        let target = set_output(machine, call, &shape, a.dtype)?;
        let summand = expanded(machine, input, &shape)?;
        check_summand(machine, call, target, &summand, beta)?;
        let values = match combine(machine, a, b, alpha, Some((&summand, beta))) {
            Ok(values) => values,
            Err(stop) => {
                if !factor::is_zero(beta) && shape.numel() > 0 {
                    copied(machine, call, target, &summand)?;
                }
                return Err(stop);
            }
        };
        Ok(Sum { operands, target, shape, values })
    }
}

/// The summand in the shape of the product; refused in the words of `expand`.
pub(super) fn expanded(machine: &mut Machine, input: &Tensor, shape: &Shape) -> Result<Tensor> {
    let input = Tensor { node: None, ..input.clone() };
    machine.aside(|machine| {
        let id = machine.add(input);
        parts::expand(machine, id, shape.sizes().to_vec()).map(|id| machine.tensor(id).clone())
    })
}

/// The shape of the product of two matrices.
fn product_shape(a: &Tensor, b: &Tensor) -> Result<Shape> {
    let (left, right) = (a.shape().sizes(), b.shape().sizes());
    if left[1] != right[0] {
        let (rows, left, right, columns) = (left[0], left[1], right[0], right[1]);
        return Err(Rejection::MatrixSizes { rows, left, right, columns }.into());
    }
    shape_of(vec![left[0], right[1]])
}

/// A shape that may be too large.
pub(super) fn shape_of(sizes: Vec<i64>) -> Result<Shape> {
    Ok(Shape::new(sizes).map_err(|_| Rejection::Numel)?)
}

/// The elements of a product and a summand (`addmm_impl_cpu_`).
pub(super) fn combine(
    machine: &mut Machine,
    a: &Tensor,
    b: &Tensor,
    alpha: Scalar,
    added: Option<(&Tensor, Scalar)>,
) -> Result<Buffer> {
    if a.dtype != b.dtype {
        return Err(Rejection::MatrixDtypes { a: a.dtype, b: b.dtype }.into());
    }
    let [rows, inner, columns] = [a.shape().sizes()[0], a.shape().sizes()[1], b.shape().sizes()[1]];
    let added = added.filter(|(_, beta)| !factor::is_zero(*beta));
    if rows == 0 || columns == 0 {
        return Ok(Buffer::zeros(a.dtype, 0));
    }
    if inner == 0 {
        return match added {
            None => Ok(machine.zeros(a.dtype, (rows * columns) as usize)),
            Some((summand, beta)) => scaled_in_place(machine, summand, beta),
        };
    }
    check_kernel("addmm_impl_cpu_", a.dtype)?;
    let alpha = factor::widen(alpha, a.dtype)?;
    let widened = |(summand, beta)| Result::Ok((summand, factor::widen(beta, a.dtype)?));
    let added = added.map(widened).transpose()?;
    Ok(multiply::multiply(machine, a, b, alpha, added))
}

/// The elements that `mul_` by a number leaves in a tensor.
pub(super) fn scaled_in_place(machine: &mut Machine, tensor: &Tensor, number: Scalar) -> Result<Buffer> {
    let from = iterator::result_type(&[Input::Tensor(tensor.clone()), Input::Number(number)]);
    iterator::check_cast(from, tensor.dtype)?;
    let product = scaled(machine, tensor, number)?;
    Ok(write::elements(machine, &product, tensor.dtype))
}

/// Refuses bool, which no product's kernel computes in.
pub(super) fn check_kernel(kernel: &'static str, dtype: DType) -> Result<()> {
    if dtype.category() == Category::Bool {
        return Err(Rejection::NoKernel { kernel, dtype }.into());
    }
    Ok(())
}
