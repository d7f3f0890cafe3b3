//! `outer`, `addr` and `kron`: every element of one operand by every element of the other.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::tensor::element::Element;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Scalar, Shape};
use crate::with_element_type;

use super::super::autograd;
use super::super::elementwise::Plan;
use super::super::graph::Kept;
use super::super::iterator::Input;
use super::super::machine::{Call, Machine, Result, Slot, Tensor};
use super::super::number::{Computed, Number};
use super::super::write;
use super::matrix::{expanded, shape_of};
use super::multiply::{adjoint, column, product, received, record_product, row, transposed, with_layout};
use super::output::check_autograd;
use super::{factor, parts};

/// `outer`.
pub(in super::super) fn outer(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    for (name, id) in [("self", a), ("vec2", b)] {
        let rank = machine.tensor(id).shape().rank();
        if rank != 1 {
            return Err(Rejection::OuterRank { function: "outer", name, rank }.into());
        }
    }
    let target = call.target()?;
    let rows = machine.tensor(a).shape().sizes()[0];
    let made = machine.compose(|machine| {
        let column = parts::reshape(machine, a, vec![rows, 1])?;
        match target {
            Some(out) => parts::binary_out(machine, Op::Mul, column, b, out),
            None => parts::binary(machine, Op::Mul, column, b),
        }
    })?;
    Ok(Slot::Tensor(made))
}

/// `ger`: the old name of `outer`. The one with `out=` warns of it.
pub(in super::super) fn ger(machine: &mut Machine, call: &Call) -> Result<Slot> {
    if call.form == Form::Out {
        machine.warnings.push(
            "torch.ger is deprecated and will be removed in a future PyTorch release. Use torch.outer instead."
                .to_owned(),
        );
    }
    outer(machine, call)
}

/// `kron`: a product of every pair of elements, the elements of one operand in blocks (`KronImpl`).
pub(in super::super) fn kron(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let target = call.target()?;
    let made = machine.compose(|machine| {
        let (left, right) = (machine.tensor(a).shape().clone(), machine.tensor(b).shape().clone());
        let rank = left.rank().max(right.rank());
        let size = |shape: &Shape, dim: usize| shape.aligned(dim, rank).unwrap_or(1);
        let spread = |shape: &Shape, at: usize| -> Vec<i64> {
            (0..rank).flat_map(|dim| if at == 0 { [size(shape, dim), 1] } else { [1, size(shape, dim)] }).collect()
        };
        let sizes: Vec<i64> = (0..rank).map(|dim| size(&left, dim).wrapping_mul(size(&right, dim))).collect();
        let pairs: Vec<i64> = (0..rank).flat_map(|dim| [size(&left, dim), size(&right, dim)]).collect();
        let a = parts::view(machine, a, spread(&left, 0))?;
        let b = parts::view(machine, b, spread(&right, 1))?;
        let Some(out) = target else {
            let product = parts::binary(machine, Op::Mul, a, b)?;
            return parts::view(machine, product, sizes);
        };
        let shape = shape_of(sizes)?;
        write::prepare(machine, Some(out), &shape)?;
        let split = parts::view(machine, out, pairs)?;
        parts::binary_out(machine, Op::Mul, a, b, split)?;
        Ok(out)
    })?;
    Ok(Slot::Tensor(made))
}

/// `addr`: an outer product, and a summand that broadcasts to it. The three are promoted, unlike those of other
/// products.
pub(in super::super) fn addr(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [input, a, b] = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
    let (beta, alpha) = (call.number(3)?, call.number(4)?);
    let inputs = infer_addr(machine, call, &input, &a, &b)?;
    let plan = Plan::new(machine, call, &inputs)?;
    let factors = plan.prepare_checked(machine, infer_factors(beta, alpha, plan.common))?;
    let values = outer_sum(machine, &inputs, &plan.shape, plan.common, factors)?;
    let result = plan.deliver(machine, values);
    record_product(machine, call.op, result, &[&input, &a, &b], &[beta, alpha], addr_backward);
    Ok(Slot::Tensor(result))
}

/// The operands of the loop: the summand in the shape of the result, a column and a row.
fn infer_addr(machine: &mut Machine, call: &Call, input: &Tensor, a: &Tensor, b: &Tensor) -> Result<[Input; 3]> {
    check_autograd(machine, call, &[input, a, b])?;
    for (name, vector) in [("vec1", a), ("vec2", b)] {
        let rank = vector.shape().rank();
        if rank != 1 {
            return Err(Rejection::OuterRank { function: "addr", name, rank }.into());
        }
    }
    let (rows, columns) = (a.shape().sizes()[0], b.shape().sizes()[0]);
    let shape = shape_of(vec![rows, columns])?;
    let summand = if call.form == Form::InPlace {
        let rank = input.shape().rank();
        if rank != 2 {
            return Err(Rejection::AddrRank { rank }.into());
        }
        if *input.shape() != shape {
            let input = input.shape().sizes().to_vec();
            return Err(Rejection::AddrSizes { input, a: vec![rows], b: vec![columns] }.into());
        }
        Tensor { node: None, ..input.clone() }
    } else {
        expanded(machine, input, &shape)?
    };
    let left = a.layout.view(&shape_of(vec![rows, 1])?).expect("one more dimension of size 1 is a view of any vector");
    let left = Tensor { node: None, layout: left, ..a.clone() };
    let right = Tensor { node: None, ..b.clone() };
    Ok([summand, left, right].map(Input::Tensor))
}

fn addr_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    // Each gradient is a product of a matrix and the other vector (`mv`), which wants one dtype.
    for vector in kept.tensors.iter().rev().flatten() {
        if vector.dtype != gradient.dtype {
            let (matrix, vector) = (gradient.dtype, vector.dtype);
            return Err(Rejection::AddmvDtypes { input: vector, matrix, vector }.into());
        }
    }
    let flat = |tensor: Tensor| with_layout(&tensor, vec![tensor.shape().sizes()[0]], vec![1]);
    let first = |machine: &mut Machine, b: &Tensor, alpha| {
        let b = adjoint(machine, &row(b));
        flat(product(machine, gradient, &b, alpha))
    };
    let second = |machine: &mut Machine, a: &Tensor, alpha| {
        let a = column(&autograd::conjugate(machine, a));
        flat(product(machine, &transposed(gradient), &a, alpha))
    };
    received(machine, gradient, kept, first, second)
}

/// `beta c + alpha a b` for every element; the summand is not looked at where `beta` is zero (`addr_kernel`).
fn outer_sum(
    machine: &Machine,
    inputs: &[Input],
    shape: &Shape,
    dtype: DType,
    [beta, alpha]: [Scalar; 2],
) -> Result<Buffer> {
    let zero = factor::is_zero(beta);
    let values = || {
        Ok(with_element_type!(dtype, T => {
            let columns = machine.columns::<T>(inputs, shape)?;
            let (beta, alpha) = (<T as Computed>::Wide::from_scalar(beta), <T as Computed>::Wide::from_scalar(alpha));
            let element = |at: usize| {
                let operand = |column: usize| columns[column][at].widened();
                let (c, a, b) = (operand(0), operand(1), operand(2));
                // Every step is rounded, those of float16 and bfloat16 too.
                let rounded = |value| T::narrow(value).widened();
                let product = rounded(rounded(alpha.times(a)).times(b));
                T::narrow(if zero { product } else { rounded(beta.times(c)).plus(product) })
            };
            T::wrap((0..shape.numel()).map(element).collect())
        }))
    };
    machine.try_eval(dtype, values)
}

fn truth(number: Scalar) -> Scalar {
    Scalar::Bool(!factor::is_zero(number))
}

/// The factors in the dtype of the result, or truths.
fn infer_factors(beta: Scalar, alpha: Scalar, dtype: DType) -> Result<[Scalar; 2]> {
    for (name, number) in [("beta", beta), ("alpha", alpha)] {
        check_factor(name, number, dtype)?;
    }
    match dtype {
        DType::Bool => Ok([truth(beta), truth(alpha)]),
        _ => Ok([factor::convert(beta, dtype)?, factor::convert(alpha, dtype)?]),
    }
}

/// A factor must be of the category of the result, or lower (`check_addr_scalar`).
fn check_factor(name: &'static str, number: Scalar, dtype: DType) -> Result<()> {
    let fraction = number.category() >= Category::Floating;
    if number.category() == Category::Bool && dtype != DType::Bool {
        return Err(Rejection::BoolFactor { name }.into());
    }
    if fraction && dtype.category() < Category::Floating {
        return Err(Rejection::FloatFactor { name }.into());
    }
    Ok(())
}
