//! `tensordot` and `inner`: products summed over chosen dimensions (ATen/native/Linear.cpp).

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::tensor::Buffer;

use super::super::autograd;
use super::super::machine::{Call, Machine, Operand, Result, Slot, TensorId, wrap_dim};
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

fn product(
    machine: &mut Machine,
    a: TensorId,
    b: TensorId,
    dims: [Vec<i64>; 2],
    target: Option<TensorId>,
) -> Result<TensorId> {
    if dims[0].len() != dims[1].len() {
        return Err(Rejection::TensordotDims.into());
    }
    if machine.tensor(a).dtype != machine.tensor(b).dtype {
        return Err(Rejection::TensordotDtypes.into());
    }
    let operands = [a, b];
    let mut summed = operands;
    let mut inner = 1;
    for (&dim1, &dim2) in dims[0].iter().zip(&dims[1]) {
        let size1 = parts::size(machine.tensor(a).shape(), dim1)?;
        let size2 = parts::size(machine.tensor(b).shape(), dim2)?;
        if size2 == 1 {
            summed[0] = own_sum(machine, summed[0], vec![dim1], true)?;
        } else if size1 == 1 {
            summed[1] = own_sum(machine, summed[1], vec![dim2], true)?;
        } else if size1 != size2 {
            return Err(Rejection::TensordotSizes { size1, dim1, size2, dim2 }.into());
        } else {
            inner *= size1;
        }
    }
    let mut kept = [Vec::new(), Vec::new()];
    for side in 0..2 {
        let rank = machine.tensor(operands[side]).shape().rank();
        let mut contracted = vec![false; rank.max(1)];
        for &dim in &dims[side] {
            let dim = wrap_dim(dim, rank)?;
            if contracted[dim] {
                return Err(crate::error::Rejection::DimensionRepeated { dim }.into());
            }
            contracted[dim] = true;
        }
        kept[side] = (0..rank).filter(|&dim| !contracted[dim]).map(|dim| dim as i64).collect();
    }
    let sizes = |machine: &Machine, side: usize| -> Vec<i64> {
        let sizes = machine.tensor(summed[side]).shape().sizes();
        kept[side].iter().map(|&dim| sizes[dim as usize]).collect()
    };
    let [rows, columns] = [sizes(machine, 0), sizes(machine, 1)];
    let left = parts::permute(machine, summed[0], [&kept[0][..], &dims[0]].concat())?;
    let right = parts::permute(machine, summed[1], [&dims[1][..], &kept[1]].concat())?;
    let sizes = [rows, columns];
    let [height, width] = [0, 1].map(|side: usize| sizes[side].iter().product::<i64>());
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
    let values = machine.buffer(made.storage).scalars();
    let values = Buffer::from_scalars(dtype, values.into_iter());
    let converted = machine.allocate(made.layout, values);
    Ok(machine.add(converted))
}
