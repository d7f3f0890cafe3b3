//! `tensordot` and `inner`: products summed over chosen dimensions (ATen/native/Linear.cpp).

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::tensor::Shape;

use super::super::autograd;
use super::super::machine::{Call, Machine, Operand, Result, Slot, Tensor, TensorId, wrap_dim};
use super::super::write;
use super::output::deliver;
use super::parts;

/// `tensordot`: dimensions of one operand are summed with dimensions of the other; those of length 1 broadcast.
pub(in super::super) fn tensordot(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let dims = [call.ints(2)?.to_vec(), call.ints(3)?.to_vec()];
    let target = call.target()?;
    machine.compose(|machine| product(machine, a, b, dims, target)).map(Slot::Tensor)
}

/// `inner`: over the last dimension of both.
pub(in super::super) fn inner(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let target = call.target()?;
    let (left, right) = (machine.tensor(a).shape().sizes().to_vec(), machine.tensor(b).shape().sizes().to_vec());
    let made = machine.compose(|machine| {
        if left.is_empty() || right.is_empty() {
            return match target {
                Some(out) => parts::binary_out(machine, Op::Mul, a, b, out),
                None => parts::binary(machine, Op::Mul, a, b),
            };
        }
        if left.last() != right.last() {
            return Err(Rejection::InnerSizes { a: left, b: right }.into());
        }
        product(machine, a, b, [vec![-1], vec![-1]], target)
    })?;
    Ok(Slot::Tensor(made))
}

/// The dimensions of a product.
struct Contraction {
    /// The dimensions of each operand that are summed beforehand, since the other one has length 1 there.
    summed: [Vec<i64>; 2],
    /// The dimensions of each operand that are left, and their sizes.
    kept: [Vec<i64>; 2],
    sizes: [Vec<i64>; 2],
    /// The number of products in each sum.
    inner: i64,
}

impl Contraction {
    /// The order of faults: as many dimensions of each, dtypes, the sizes of each pair, dimensions that are named twice.
    fn infer(a: &Tensor, b: &Tensor, dims: &[Vec<i64>; 2]) -> Result<Contraction> {
        if dims[0].len() != dims[1].len() {
            return Err(Rejection::TensordotDims.into());
        }
        if a.dtype != b.dtype {
            return Err(Rejection::TensordotDtypes.into());
        }
        let (mut summed, mut inner) = ([Vec::new(), Vec::new()], 1);
        for (&dim1, &dim2) in dims[0].iter().zip(&dims[1]) {
            let (size1, size2) = (parts::size(a.shape(), dim1)?, parts::size(b.shape(), dim2)?);
            match (size1, size2) {
                (_, 1) => summed[0].push(dim1),
                (1, _) => summed[1].push(dim2),
                _ if size1 != size2 => return Err(Rejection::TensordotSizes { size1, dim1, size2, dim2 }.into()),
                _ => inner = i64::wrapping_mul(inner, size1),
            }
        }
        let kept = [left_over(a.shape(), &dims[0])?, left_over(b.shape(), &dims[1])?];
        let sizes = |shape: &Shape, kept: &[i64]| kept.iter().map(|&dim| shape.sizes()[dim as usize]).collect();
        let sizes = [sizes(a.shape(), &kept[0]), sizes(b.shape(), &kept[1])];
        Ok(Contraction { summed, kept, sizes, inner })
    }
}

/// The dimensions that are not contracted.
fn left_over(shape: &Shape, dims: &[i64]) -> Result<Vec<i64>> {
    let mut contracted = vec![false; shape.rank().max(1)];
    for &dim in dims {
        let dim = wrap_dim(dim, shape.rank())?;
        if std::mem::replace(&mut contracted[dim], true) {
            return Err(Rejection::DimensionRepeated { dim }.into());
        }
    }
    Ok((0..shape.rank()).filter(|&dim| !contracted[dim]).map(|dim| dim as i64).collect())
}

fn product(
    machine: &mut Machine,
    a: TensorId,
    b: TensorId,
    dims: [Vec<i64>; 2],
    target: Option<TensorId>,
) -> Result<TensorId> {
    let Contraction { summed, kept, sizes, inner } = Contraction::infer(machine.tensor(a), machine.tensor(b), &dims)?;
    let mut operands = [a, b];
    for (operand, dims) in operands.iter_mut().zip(summed) {
        for dim in dims {
            *operand = own_sum(machine, *operand, vec![dim], true)?;
        }
    }
    let left = parts::permute(machine, operands[0], [&kept[0][..], &dims[0]].concat())?;
    let right = parts::permute(machine, operands[1], [&dims[1][..], &kept[1]].concat())?;
    let [height, width] = [0, 1].map(|side: usize| parts::multiplied(&sizes[side]));
    let product = if height == 1 && width == 1 {
        // A single element is no matrix product.
        let flat = [left, right].iter().all(|id| machine.tensor(*id).layout.is_contiguous());
        if flat {
            let left = parts::reshape(machine, left, vec![inner])?;
            let right = parts::reshape(machine, right, vec![inner])?;
            parts::binary(machine, Op::Dot, left, right)?
        } else {
            let (left, right) = (parts::squeeze_all(machine, left)?, parts::squeeze_all(machine, right)?);
            let products = parts::binary(machine, Op::Mul, left, right)?;
            let dims = (0..machine.tensor(products).shape().rank() as i64).collect();
            own_sum(machine, products, dims, false)?
        }
    } else {
        let left = parts::reshape(machine, left, vec![height, inner])?;
        let right = parts::reshape(machine, right, vec![inner, width])?;
        parts::binary(machine, Op::Mm, left, right)?
    };
    let product = parts::reshape(machine, product, sizes.concat())?;
    match target {
        Some(out) => copied(machine, product, out),
        None => Ok(product),
    }
}

/// The product copied to the tensor that `out=` names, which unlike in other operations autograd follows.
fn copied(machine: &mut Machine, product: TensorId, out: TensorId) -> Result<TensorId> {
    let (made, tensor) = (machine.tensor(product).clone(), machine.tensor(out).clone());
    if tensor.node.is_some() && tensor.shape() != made.shape() {
        return Err(Rejection::TensordotOutGrad.into());
    }
    if tensor.dtype != made.dtype {
        return Err(Rejection::TensordotOut { expected: made.dtype, got: tensor.dtype }.into());
    }
    if tensor.node.is_some() {
        let copy = Call { op: Op::Add, form: Form::InPlace, args: &[Operand::Tensor(out)], out: None };
        autograd::check_in_place(machine, &copy, out, &[])?;
    }
    write::prepare(machine, Some(out), made.shape())?;
    let values = write::elements(machine, &made, made.dtype);
    let result = deliver(machine, Some(out), made.shape(), values)?;
    autograd::record_copy(machine, Op::Tensordot, result, &made);
    Ok(result)
}

/// A sum in the operand's own dtype.
fn own_sum(machine: &mut Machine, a: TensorId, dims: Vec<i64>, keepdim: bool) -> Result<TensorId> {
    let dtype = machine.tensor(a).dtype;
    let sum = parts::sum(machine, a, dims, keepdim)?;
    let made = machine.tensor(sum).clone();
    if made.dtype == dtype {
        return Ok(sum);
    }
    let converted = machine.converted(&made, dtype);
    Ok(machine.add(converted))
}
