//! `linalg_vecdot` and `linalg_cross`: products of vectors along one dimension.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};
use crate::with_element_type;

use super::super::autograd;
use super::super::graph::Kept;
use super::super::iterator;
use super::super::machine::{Call, Machine, Operand, Result, Slot, Tensor, TensorId, wrap_dim};
use super::super::number::{Computed, Number};
use super::super::write;
use super::multiply::{received, record_product};
use super::output::{check_autograd, deliver, set_output};
use super::{matrix, parts};

/// `linalg_vecdot`: the first vector conjugated, times the second, summed.
pub(in super::super) fn linalg_vecdot(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b, dim, target) = (call.tensor(0)?, call.tensor(1)?, call.int(2)?, call.target()?);
    infer_vecdot(machine, [a, b], dim, target)?;
    let made = machine.compose(|machine| {
        if [a, b].iter().all(|id| machine.tensor(*id).shape().rank() == 1) {
            let Some(out) = target else { return parts::binary(machine, Op::Vdot, a, b) };
            write::prepare(machine, Some(out), &Shape::scalar())?;
            return parts::binary_out(machine, Op::Vdot, a, b, out);
        }
        let a = conjugated(machine, call.op, a);
        let products = parts::binary(machine, Op::Mul, a, b)?;
        match target {
            Some(out) => parts::sum_out(machine, products, vec![dim], out),
            None => parts::sum(machine, products, vec![dim], false),
        }
    })?;
    Ok(Slot::Tensor(made))
}

/// The order of faults: the dtype of the first vector, that of the second, that of `out`, and then the dimension of two
/// vectors of one size. libtorch ignores that dimension (`vecdot-of-vectors-along-any-dimension`); the Array API and NumPy
/// reject one that is out of range, and so does libtorch for matrices.
fn infer_vecdot(machine: &Machine, operands: [TensorId; 2], dim: i64, target: Option<TensorId>) -> Result<()> {
    let [a, b] = operands.map(|id| machine.tensor(id).dtype);
    check_floating("linalg.vecdot", a)?;
    if a != b {
        return Err(Rejection::VecdotDtypes { a, b }.into());
    }
    if let Some(out) = target.map(|out| machine.tensor(out).dtype).filter(|out| *out != a) {
        return Err(Rejection::VecdotOut { input: a, out }.into());
    }
    let [a, b] = operands.map(|id| machine.tensor(id).shape());
    if a.rank() == 1 && a == b {
        wrap_dim(dim, a.rank())?;
    }
    Ok(())
}

fn conjugated(machine: &mut Machine, op: Op, id: TensorId) -> TensorId {
    let tensor = machine.tensor(id).clone();
    if tensor.dtype.category() != Category::Complex {
        return id;
    }
    let conjugate = autograd::conjugate(machine, &tensor);
    let made = machine.add(Tensor { node: None, base: None, ..conjugate });
    autograd::record_formula(machine, made, &[Some(&tensor)], Kept::of(op), conjugate_backward);
    made
}

fn conjugate_backward(machine: &mut Machine, gradient: &Tensor, _: &Kept) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(autograd::conjugate(machine, gradient))])
}

/// `cross`: along the first dimension of size 3, unless one is given.
pub(in super::super) fn cross(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let dim = match call.optional_int(2)? {
        Some(dim) => dim,
        None => {
            if call.form == Form::Functional {
                machine.warnings.push(WITHOUT_DIM.to_owned());
            }
            let sizes = machine.tensor(call.tensor(0)?).shape().sizes();
            let first = sizes.iter().position(|size| *size == 3);
            first.ok_or(Rejection::CrossWithoutDim)? as i64
        }
    };
    let dim = Arg::Int(dim);
    let args = [call.args[0].clone(), call.args[1].clone(), Operand::Other(&dim)];
    linalg_cross(machine, &Call { op: Op::LinalgCross, form: call.form, args: &args, out: call.out })
}

const WITHOUT_DIM: &str = "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim \
                           explicitly or simply use torch.linalg.cross.\nThe default value of dim will change to agree \
                           with that of linalg.cross in a future release.";

/// `linalg_cross`.
pub(in super::super) fn linalg_cross(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let [a, b] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    let (shape, along) = infer_cross(machine, call, &a, &b)?;
    let target = set_output(machine, call, &shape, a.dtype)?;
    check_cross(machine, call, target, [a.dtype, b.dtype])?;
    let values = products(machine, &a, &b, &shape, along);
    let result = deliver(machine, target, &shape, values)?;
    record_product(machine, call.op, result, &[&a, &b], &[Scalar::Int(along as i64)], cross_backward);
    Ok(Slot::Tensor(result))
}

/// The shape of the result, and the dimension of the vectors.
fn infer_cross(machine: &Machine, call: &Call, a: &Tensor, b: &Tensor) -> Result<(Shape, usize)> {
    let dim = call.int(2)?;
    check_autograd(machine, call, &[a, b])?;
    let rank = a.shape().rank();
    if rank != b.shape().rank() {
        return Err(Rejection::CrossRanks.into());
    }
    let sizes = [parts::size(a.shape(), dim)?, parts::size(b.shape(), dim)?];
    if sizes != [3, 3] {
        return Err(Rejection::CrossSizes { dim, a: sizes[0], b: sizes[1] }.into());
    }
    Ok((a.shape().broadcast(b.shape())?, wrap_dim(dim, rank)?))
}

/// What is refused once `out` is resized: overlap, the dtype, another dtype of the second operand.
fn check_cross(machine: &Machine, call: &Call, target: Option<TensorId>, [a, b]: [DType; 2]) -> Result<()> {
    if let Some(target) = target {
        iterator::check_internal_overlap(machine.tensor(target))?;
        write::check_apart(machine, target, [call.tensor(0)?, call.tensor(1)?])?;
    }
    matrix::check_kernel("cross", a)?;
    match a == b {
        true => Ok(()),
        false => Err(Rejection::ScalarType { expected: a, found: b }.into()),
    }
}

fn cross_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let (along, shape) = (kept.real(0) as usize, gradient.shape());
    let first = |machine: &mut Machine, b: &Tensor, _| {
        let b = autograd::conjugate(machine, b);
        let values = products(machine, &b, gradient, shape, along);
        machine.allocate(Layout::contiguous(shape.clone()), values)
    };
    let second = |machine: &mut Machine, a: &Tensor, _| {
        let a = autograd::conjugate(machine, a);
        let values = products(machine, gradient, &a, shape, along);
        machine.allocate(Layout::contiguous(shape.clone()), values)
    };
    received(machine, gradient, kept, first, second)
}

/// The elements of a cross product of operands that broadcast to a shape.
fn products(machine: &Machine, a: &Tensor, b: &Tensor, shape: &Shape, dim: usize) -> Buffer {
    let step = Layout::contiguous(shape.clone()).strides[dim] as usize;
    machine.eval(a.dtype, || {
        with_element_type!(a.dtype, T => {
            let expanded = |operand| machine.expanded::<T>(operand, shape).expect("the operands broadcast");
            T::wrap(cross_of(&expanded(a), &expanded(b), step))
        })
    })
}

/// The cross product of vectors whose components lie `step` apart: each component is a difference of two products.
fn cross_of<T: Computed>(left: &[T], right: &[T], step: usize) -> Vec<T> {
    let component = |at: usize| {
        let own = at / step % 3;
        let other = |by: usize| at - own * step + (own + by) % 3 * step;
        let (next, last) = (other(1), other(2));
        let minus = right[next].widened().times(left[last].widened());
        T::narrow(left[next].widened().times(right[last].widened()).minus(minus))
    };
    (0..left.len()).map(component).collect()
}

/// Refuses integers and bool (`checkFloatingOrComplex`).
pub(super) fn check_floating(function: &'static str, dtype: DType) -> Result<()> {
    if dtype.category() < Category::Floating {
        return Err(Rejection::NotFloating { function, dtype }.into());
    }
    Ok(())
}
