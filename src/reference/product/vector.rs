//! `dot`, `vdot`, `mv` and `addmv`: products with a vector (ATen/native/Blas.cpp).

use crate::error::Rejection;
use crate::tensor::{Buffer, Category, DType, Scalar, Shape};

use super::super::autograd;
use super::super::graph::Kept;
use super::super::machine::{Call, Machine, Result, Slot, Tensor};
use super::super::write;
use super::matrix::{check_kernel, expanded, shape_of};
use super::multiply::{adjoint, column, multiply, product, received, record_product, row, scaled, with_layout};
use super::output::{check_autograd, check_summand, copied, deliver, set_output};
use super::{factor, parts};

/// `dot`.
pub(in super::super) fn dot(machine: &mut Machine, call: &Call) -> Result<Slot> {
    inner_product(machine, call, false)
}

/// `vdot`: `dot` with the first vector conjugated.
pub(in super::super) fn vdot(machine: &mut Machine, call: &Call) -> Result<Slot> {
    inner_product(machine, call, true)
}

fn inner_product(machine: &mut Machine, call: &Call, conjugated: bool) -> Result<Slot> {
    let [a, b] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    check_autograd(machine, call, &[&a, &b])?;
    let target = call.target()?;
    if let Some(target) = target {
        write::prepare(machine, Some(target), &Shape::scalar())?;
        let out = machine.tensor(target).dtype;
        if out != a.dtype {
            return Err(Rejection::DotOut { out, input: a.dtype }.into());
        }
    }
    let (rank_a, rank_b) = (a.shape().rank(), b.shape().rank());
    if rank_a != 1 || rank_b != 1 {
        return Err(Rejection::DotRanks { a: rank_a, b: rank_b }.into());
    }
    if a.dtype != b.dtype {
        return Err(Rejection::DotDtypes { a: a.dtype, b: b.dtype }.into());
    }
    let (size_a, size_b) = (a.shape().sizes()[0], b.shape().sizes()[0]);
    if size_a != size_b {
        return Err(Rejection::DotSizes { a: size_a, b: size_b }.into());
    }
    check_kernel("dot", a.dtype)?;
    let left = if conjugated { autograd::conjugate(machine, &a) } else { a.clone() };
    let values = multiply(machine, &row(&left), &column(&b), Scalar::Int(1), None);
    let result = deliver(machine, target, &Shape::scalar(), values)?;
    let function = if conjugated { vdot_backward } else { dot_backward };
    record_product(machine, call.op, result, &[&a, &b], &[], function);
    Ok(Slot::Tensor(result))
}

fn dot_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let arrived = autograd::conjugate(machine, gradient);
    let times = |machine: &mut Machine, vector: &Tensor, _| {
        let product = times(machine, &arrived, vector);
        autograd::conjugate(machine, &product)
    };
    received(machine, gradient, kept, times, times)
}

fn vdot_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let arrived = autograd::conjugate(machine, gradient);
    received(
        machine,
        gradient,
        kept,
        |machine, b, _| times(machine, &arrived, b),
        |machine, a, _| times(machine, gradient, a),
    )
}

/// A number, as a tensor without dimensions, times a vector.
fn times(machine: &mut Machine, number: &Tensor, vector: &Tensor) -> Tensor {
    let number = with_layout(number, vec![1, 1], vec![1, 1]);
    let product = product(machine, &number, &row(vector), Scalar::Int(1));
    with_layout(&product, vector.shape().sizes().to_vec(), vec![1])
}

/// `mv`: `addmv` with a summand that is not looked at.
pub(in super::super) fn mv(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [matrix, vector] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    check_autograd(machine, call, &[&matrix, &vector])?;
    let rows = parts::size(matrix.shape(), 0)?;
    // The output itself stands for the summand where it could be one.
    let standing = match call.target()? {
        Some(target) => {
            let out = machine.tensor(target);
            let fits = out.shape().rank() <= 1 && [1, rows].contains(&out.shape().count());
            fits.then(|| out.clone())
        }
        None => None,
    };
    let (shape, dtype) = match &standing {
        Some(out) => (out.shape().clone(), out.dtype),
        None => (shape_of(vec![rows])?, vector.dtype),
    };
    let fitted = Fitted::new((&shape, dtype), &matrix, &vector)?;
    let target = set_output(machine, call, &fitted.0, vector.dtype)?;
    let values = fitted.values(machine, &matrix, &vector, Scalar::Int(1), None)?;
    let result = deliver(machine, target, &fitted.0, values)?;
    record_product(machine, call.op, result, &[&matrix, &vector], &[], vector_backward);
    Ok(Slot::Tensor(result))
}

/// `addmv`: a matrix times a vector and a summand that broadcasts to it.
pub(in super::super) fn addmv(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [input, matrix, vector] =
        [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
    let (beta, alpha) = (call.number(3)?, call.number(4)?);
    check_autograd(machine, call, &[&input, &matrix, &vector])?;
    let fitted = Fitted::new((input.shape(), input.dtype), &matrix, &vector)?;
    let target = set_output(machine, call, &fitted.0, vector.dtype)?;
    let summand = expanded(machine, &input, &fitted.0)?;
    check_summand(machine, call, target, &summand, beta)?;
    // A factor that underflows to zero in the dtype of the kernel counts as zero. Without a matrix there is no kernel.
    let converted = factor::widen(beta, vector.dtype).ok().filter(|_| matrix.shape().numel() > 0);
    let zero = factor::is_zero(converted.unwrap_or(beta));
    let added = Some((&summand, beta)).filter(|_| !zero);
    let values = match added {
        Some((summand, beta)) if matrix.shape().numel() == 0 => scaled_summand(machine, summand, beta),
        _ => fitted.values(machine, &matrix, &vector, alpha, added),
    };
    let values = match values {
        Ok(values) => values,
        Err(stop) => {
            if added.is_some() && matrix.shape().numel() > 0 {
                copied(machine, call, target, &summand)?;
            }
            return Err(stop);
        }
    };
    let result = deliver(machine, target, &fitted.0, values)?;
    record_product(machine, call.op, result, &[&input, &matrix, &vector], &[beta, alpha], vector_backward);
    Ok(Slot::Tensor(result))
}

/// The gradients of a matrix times a vector.
fn vector_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    received(
        machine,
        gradient,
        kept,
        |machine, vector, alpha| {
            let vector = adjoint(machine, &column(vector));
            product(machine, &column(gradient), &vector, alpha)
        },
        |machine, matrix, alpha| {
            let matrix = adjoint(machine, matrix);
            let product = product(machine, &matrix, &column(gradient), alpha);
            with_layout(&product, vec![product.shape().sizes()[0]], vec![1])
        },
    )
}

/// The summand without a matrix: its product with `beta`, a number of its own dtype.
fn scaled_summand(machine: &mut Machine, summand: &Tensor, beta: Scalar) -> Result<Buffer> {
    // A single element of 16 bits is set without the check that they hold the number.
    let held = if matches!(summand.dtype, DType::Float16 | DType::Bfloat16) { DType::Float64 } else { summand.dtype };
    let number = match summand.dtype {
        DType::Bool => Scalar::Bool(!factor::is_zero(beta)),
        _ => factor::convert(beta, held)?,
    };
    let scaled = scaled(machine, summand, number)?;
    Ok(write::elements(machine, &scaled, summand.dtype))
}

/// A matrix, a vector and a summand that fit, and the shape of the result (the meta function of `addmv`).
struct Fitted(Shape);

impl Fitted {
    fn new((input, dtype): (&Shape, crate::tensor::DType), matrix: &Tensor, vector: &Tensor) -> Result<Fitted> {
        let ranks = [input.rank(), matrix.shape().rank(), vector.shape().rank()];
        if ranks[0] > 1 || ranks[1] != 2 || ranks[2] != 1 {
            return Err(Rejection::AddmvRanks { input: ranks[0], matrix: ranks[1], vector: ranks[2] }.into());
        }
        let (rows, columns) = (matrix.shape().sizes()[0], matrix.shape().sizes()[1]);
        let (size, numel) = (vector.shape().sizes()[0], input.count());
        if columns != size || (rows != numel && numel != 1) {
            let input = parts::size(input, 0)?;
            return Err(Rejection::AddmvSizes { input, rows, columns, vector: size }.into());
        }
        if dtype != matrix.dtype || matrix.dtype != vector.dtype {
            return Err(Rejection::AddmvDtypes { input: dtype, matrix: matrix.dtype, vector: vector.dtype }.into());
        }
        Ok(Fitted(shape_of(vec![rows])?))
    }

    fn values(
        &self,
        machine: &Machine,
        matrix: &Tensor,
        vector: &Tensor,
        alpha: Scalar,
        added: Option<(&Tensor, Scalar)>,
    ) -> Result<Buffer> {
        let dtype = matrix.dtype;
        if matrix.shape().numel() == 0 {
            return Ok(machine.zeros(dtype, self.0.numel()));
        }
        check_kernel("addmv_impl_cpu", dtype)?;
        let alpha = convert(alpha, dtype)?;
        let column_of = |(summand, beta)| Ok((column(summand), convert(beta, dtype)?));
        let added: Option<Result<(Tensor, Scalar)>> = added.map(column_of);
        let added = added.transpose()?;
        let added = added.as_ref().map(|(summand, beta)| (summand, *beta));
        Ok(multiply(machine, matrix, &column(vector), alpha, added))
    }
}

fn convert(number: Scalar, dtype: crate::tensor::DType) -> Result<Scalar> {
    debug_assert!(dtype.category() > Category::Bool, "bool is refused");
    factor::convert(number, dtype)
}
