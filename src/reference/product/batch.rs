//! `bmm`, `baddbmm` and `addbmm`: products of batches of matrices.

use crate::error::Rejection;
use crate::ops::Form;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::super::budget::charge;
use super::super::graph::Kept;
use super::super::iterator::too_large;
use super::super::machine::{Call, Machine, Result, Slot, Tensor, TensorId};
use super::super::write;
use super::matrix::{check_kernel, expanded, scaled_in_place, shape_of};
use super::multiply::{adjoint, multiply, product, product_backward, received, record_product, with_layout};
use super::output::{check_autograd, check_summand, copied, deliver, set_output};
use super::{factor, parts};

/// `bmm`.
pub(in super::super) fn bmm(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [a, b] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    check_autograd(machine, call, &[&a, &b])?;
    let shape = product_shape(&a, &b)?;
    let target = set_output(machine, call, &shape, b.dtype)?;
    let values = if shape.numel() == 0 || a.shape().sizes()[2] == 0 {
        machine.zeros(b.dtype, shape.numel())
    } else {
        check_dtypes("bmm", &a, &b, true)?;
        multiply(machine, &a, &b, Scalar::Int(1), None)
    };
    check_differentiable(&[&a, &b], b.dtype)?;
    let result = deliver(machine, target, &shape, values)?;
    record_product(machine, call.op, result, &[&a, &b], &[], product_backward);
    Ok(Slot::Tensor(result))
}

/// Refuses a result of integers that gradients should flow through.
fn check_differentiable(operands: &[&Tensor], dtype: DType) -> Result<()> {
    let differentiated = operands.iter().any(|operand| operand.node.is_some());
    if differentiated && dtype.category() < Category::Floating {
        return Err(Rejection::NotDifferentiable { dtype }.into());
    }
    Ok(())
}

/// `baddbmm`: products of a batch of matrices, and a summand that broadcasts to them.
pub(in super::super) fn baddbmm(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [input, a, b] = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
    let (beta, alpha) = (call.number(3)?, call.number(4)?);
    let (summand, shape) = infer_baddbmm(machine, call, &input, &a, &b)?;
    let target = set_output(machine, call, &shape, b.dtype)?;
    check_summand(machine, call, target, &summand, beta)?;
    let added = Some((&summand, beta)).filter(|_| !factor::is_zero(beta));
    if added.is_some() {
        write::warn_of_cast(machine, summand.dtype, b.dtype, shape.numel());
    }
    let values = if shape.numel() == 0 {
        Ok(Buffer::zeros(b.dtype, 0))
    } else if a.shape().sizes()[2] == 0 {
        match added {
            // The sum has the dtype of the second batch, to which the summand is converted first.
            Some((summand, beta)) => {
                let summand = machine.converted(summand, b.dtype);
                scaled_in_place(machine, &summand, beta)
            }
            None => Ok(machine.zeros(b.dtype, shape.numel())),
        }
    } else {
        product_and_summand(machine, &a, &b, alpha, added)
    };
    if values.is_err() && added.is_some() {
        copied(machine, call, target, &summand)?;
    }
    let values = values?;
    check_differentiable(&[&input, &a, &b], b.dtype)?;
    let result = deliver(machine, target, &shape, values)?;
    record_product(machine, call.op, result, &[&input, &a, &b], &[beta, alpha], product_backward);
    Ok(Slot::Tensor(result))
}

/// The summand, expanded, and the shape of the result. The summand is looked at first, before it is known that there are
/// batches at all.
fn infer_baddbmm(
    machine: &mut Machine,
    call: &Call,
    input: &Tensor,
    a: &Tensor,
    b: &Tensor,
) -> Result<(Tensor, Shape)> {
    check_autograd(machine, call, &[input, a, b])?;
    let sizes = [parts::size(a.shape(), 0)?, parts::size(a.shape(), 1)?, parts::size(b.shape(), 2)?];
    let summand = expanded(machine, input, &shape_of(sizes.to_vec())?)?;
    if input.dtype != a.dtype {
        return Err(Rejection::BaddbmmDtypes { input: input.dtype, batch1: a.dtype, batch2: b.dtype }.into());
    }
    Ok((summand, product_shape(a, b)?))
}

fn product_and_summand(
    machine: &Machine,
    a: &Tensor,
    b: &Tensor,
    alpha: Scalar,
    added: Option<(&Tensor, Scalar)>,
) -> Result<Buffer> {
    let route = Route::of(a, b);
    if route == Route::Each || (route == Route::Loop && a.dtype == DType::Bool) {
        check_dtypes("baddbmm", a, b, false)?;
    }
    // The other kernels convert the factors before the dtypes are compared.
    let dtype = if route == Route::Mkl { b.dtype } else { a.dtype };
    let alpha = factor::widen(alpha, dtype)?;
    let added = match added {
        Some((summand, beta)) => Some((summand, factor::widen(beta, dtype)?)),
        None => None,
    };
    check_dtypes("baddbmm", a, b, false)?;
    Ok(multiply(machine, a, b, alpha, added))
}

/// `addbmm`: the sum of the products of a batch of matrices, and a summand that broadcasts to it.
pub(in super::super) fn addbmm(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let operands = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?].map(|id| machine.tensor(id).clone());
    let factors = [call.number(3)?, call.number(4)?];
    let summand = infer_addbmm(machine, call, &operands)?;
    let target = prepare_addbmm(machine, call, summand.shape())?;
    check_summand(machine, call, target, &summand, factors[0])?;
    let [input, a, b] = &operands;
    let dtype = target.map_or(input.dtype, |target| machine.tensor(target).dtype);
    let kept = !factor::is_zero(factors[0]);
    if kept {
        write::warn_of_cast(machine, summand.dtype, dtype, summand.shape().numel());
    }
    let mut sum = machine.converted(&summand, dtype);
    let outcome = accumulate(machine, &mut sum, a, b, factors);
    if outcome.is_err() && kept {
        copied(machine, call, target, &sum)?;
    }
    outcome?;
    let values = machine.buffer(sum.storage).clone();
    let result = deliver(machine, target, summand.shape(), values)?;
    if target.is_none() && dtype.category() < Category::Floating && operands.iter().any(|it| it.node.is_some()) {
        // Without batches the dtypes need not agree.
        return Err(Rejection::NotDifferentiable { dtype }.into());
    }
    record_product(machine, call.op, result, &operands.each_ref(), &factors, addbmm_backward);
    Ok(Slot::Tensor(result))
}

/// The summand, expanded to the shape of the result.
fn infer_addbmm(machine: &mut Machine, call: &Call, [input, a, b]: &[Tensor; 3]) -> Result<Tensor> {
    check_autograd(machine, call, &[input, a, b])?;
    // Autograd notes the number of batches.
    if [input, a, b].iter().any(|operand| operand.node.is_some()) {
        parts::size(a.shape(), 0)?;
    }
    let shape = shape_of(vec![parts::size(a.shape(), 1)?, parts::size(b.shape(), 2)?])?;
    let summand = expanded(machine, input, &shape)?;
    let [left, right] = batches(a, b)?;
    if left[0] != right[0] {
        return Err(Rejection::BatchCounts { a: left[0], b: right[0] }.into());
    }
    if left[2] != right[1] {
        let (rows, left, right, columns) = (left[1], left[2], right[1], right[2]);
        return Err(Rejection::BatchInner { rows, left, right, columns }.into());
    }
    Ok(summand)
}

/// Gives `out` the shape of the result. There is no warning here.
fn prepare_addbmm(machine: &mut Machine, call: &Call, shape: &Shape) -> Result<Option<TensorId>> {
    let Some(target) = call.target()? else { return Ok(None) };
    let found = machine.tensor(target).shape();
    if found != shape && call.form == Form::InPlace {
        // Its siblings refuse this, in these words.
        let (input, output) = (found.sizes().to_vec(), shape.sizes().to_vec());
        return Err(Rejection::InPlaceShape { input, output }.into());
    }
    if found != shape {
        if machine.is_large_resized(target, shape) {
            return Err(too_large(usize::MAX));
        }
        machine.replace(target, Layout::contiguous(shape.clone()));
    }
    Ok(Some(target))
}

/// Each matrix of a batch receives what that of a product receives.
fn addbmm_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let (sizes, strides) = (gradient.shape().sizes(), &gradient.layout.strides);
    for batch in kept.tensors.iter().flatten() {
        shape_of(vec![batch.shape().sizes()[0], sizes[0], sizes[1]])?;
    }
    let repeated = |batch: &Tensor| {
        let sizes = vec![batch.shape().sizes()[0], sizes[0], sizes[1]];
        with_layout(gradient, sizes, vec![0, strides[0], strides[1]])
    };
    received(
        machine,
        gradient,
        kept,
        |machine, b, alpha| {
            let adjoint = adjoint(machine, b);
            product(machine, &repeated(b), &adjoint, alpha)
        },
        |machine, a, alpha| {
            let adjoint = adjoint(machine, a);
            product(machine, &adjoint, &repeated(a), alpha)
        },
    )
}

/// The element operations that a product counts for at least: those of matrices without elements are computed one after the
/// other, too, by libtorch and here.
const PRODUCT: usize = 1 << 10;

/// Adds one product after the other, as `addmm_` does.
fn accumulate(
    machine: &mut Machine,
    sum: &mut Tensor,
    a: &Tensor,
    b: &Tensor,
    [beta, alpha]: [Scalar; 2],
) -> Result<()> {
    let zero = |machine: &mut Machine, sum: &Tensor| machine.blank(sum.dtype, sum.layout.clone());
    let batches = a.shape().sizes()[0];
    if batches == 0 {
        *sum = match factor::is_zero(beta) {
            true => zero(machine, sum),
            false => {
                let values = scaled_in_place(machine, sum, beta)?;
                machine.allocate(sum.layout.clone(), values)
            }
        };
        return Ok(());
    }
    let mut beta = beta;
    // Of each batch the same is refused, and the sum has no elements.
    let batches = if machine.has_elements() { batches } else { 1 };
    charge((batches as usize).saturating_mul(PRODUCT));
    for batch in 0..batches {
        for (first, dtype) in [("self", sum.dtype), ("mat1", a.dtype)] {
            if dtype != b.dtype {
                return Err(Rejection::AddmmDtypes { first, a: dtype, b: b.dtype }.into());
            }
        }
        let (left, right) = (selected(a, batch), selected(b, batch));
        let values = super::matrix::combine(machine, &left, &right, alpha, Some((sum, beta)))?;
        *sum = machine.allocate(sum.layout.clone(), values);
        beta = Scalar::Int(1);
    }
    Ok(())
}

/// One matrix of a batch.
fn selected(batch: &Tensor, at: i64) -> Tensor {
    let (sizes, strides) = (batch.shape().sizes(), &batch.layout.strides);
    let mut matrix = with_layout(batch, sizes[1..].to_vec(), strides[1..].to_vec());
    matrix.layout.offset += at * strides[0];
    matrix
}

fn product_shape(a: &Tensor, b: &Tensor) -> Result<Shape> {
    let [left, right] = batches(a, b)?;
    let (expected, got) = ([left[0], left[2]], [right[0], right[1]]);
    if expected != got {
        return Err(Rejection::BatchSizes { expected, got }.into());
    }
    shape_of(vec![left[0], left[1], right[2]])
}

/// The sizes of two batches of matrices.
fn batches<'a>(a: &'a Tensor, b: &'a Tensor) -> Result<[&'a [i64]; 2]> {
    for (name, batch) in [("batch1", a), ("batch2", b)] {
        if batch.shape().rank() != 3 {
            return Err(Rejection::BatchRank { name }.into());
        }
    }
    Ok([a.shape().sizes(), b.shape().sizes()])
}

/// The routine that multiplies two batches of matrices (`bmm_out_or_baddbmm_`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// A loop, for small matrices.
    Loop,
    /// MKL, for large ones of floating-point numbers that lie well.
    Mkl,
    /// `addmm_` for each matrix.
    Each,
}

impl Route {
    fn of(a: &Tensor, b: &Tensor) -> Route {
        let (left, right) = (a.shape().sizes(), b.shape().sizes());
        let half = matches!(b.dtype, DType::Float16 | DType::Bfloat16);
        if left[1].saturating_mul(left[2]).saturating_mul(right[2]) < 400 {
            Route::Loop
        } else if b.dtype.category() >= Category::Floating && !half && lies_well(a) && lies_well(b) {
            Route::Mkl
        } else {
            Route::Each
        }
    }
}

/// Refuses dtypes as the kernel does that is taken for these sizes.
fn check_dtypes(kernel: &'static str, a: &Tensor, b: &Tensor, alone: bool) -> Result<()> {
    let same = a.dtype == b.dtype;
    match Route::of(a, b) {
        Route::Loop => {
            check_kernel(kernel, a.dtype)?;
            if same { Ok(()) } else { Err(Rejection::ScalarType { expected: a.dtype, found: b.dtype }.into()) }
        }
        Route::Mkl if same => Ok(()),
        Route::Mkl => Err(Rejection::ScalarType { expected: b.dtype, found: a.dtype }.into()),
        Route::Each if same => check_kernel("addmm_impl_cpu_", a.dtype),
        Route::Each if alone => Err(Rejection::MatrixDtypes { a: a.dtype, b: b.dtype }.into()),
        Route::Each => Err(Rejection::AddmmDtypes { first: "mat1", a: a.dtype, b: b.dtype }.into()),
    }
}

/// Returns whether each matrix of a batch is row-major or column-major.
fn lies_well(batch: &Tensor) -> bool {
    let (sizes, strides) = (batch.shape().sizes(), &batch.layout.strides);
    let along =
        |inner: usize, outer: usize| strides[inner] == 1 && (sizes[outer] == 1 || strides[outer] >= sizes[inner]);
    along(2, 1) || along(1, 2)
}
