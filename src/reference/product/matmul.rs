//! `matmul`, and the choices that libtorch makes inside of it (`_matmul_impl`).

use crate::error::Rejection;
use crate::ops::Op;
use crate::tensor::Shape;

use super::super::machine::{Call, Machine, Result, Slot, Tensor, TensorId};
use super::super::write;
use super::matrix::shape_of;
use super::parts;

/// `matmul`: vectors, matrices, and batches of matrices whose leading dimensions broadcast.
pub(in super::super) fn matmul(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let out = call.target()?;
    machine.compose(|machine| product(machine, a, b, out)).map(Slot::Tensor)
}

/// The ranks of the operands. The order of faults: an operand without dimensions, autograd.
fn infer(machine: &Machine, a: TensorId, b: TensorId, out: Option<TensorId>) -> Result<(usize, usize)> {
    let (rank_a, rank_b) = (machine.tensor(a).shape().rank(), machine.tensor(b).shape().rank());
    if rank_a == 0 || rank_b == 0 {
        return Err(Rejection::MatmulScalar { a: rank_a, b: rank_b }.into());
    }
    if out.is_some() && [Some(a), Some(b), out].into_iter().flatten().any(|id| machine.tensor(id).node.is_some()) {
        return Err(Rejection::OutNeedsGrad { name: "matmul" }.into());
    }
    Ok((rank_a, rank_b))
}

fn product(machine: &mut Machine, a: TensorId, b: TensorId, out: Option<TensorId>) -> Result<TensorId> {
    match infer(machine, a, b, out)? {
        (1, 1) => part(machine, Op::Dot, a, b, out),
        (2, 1) => part(machine, Op::Mv, a, b, out),
        (1, 2) => {
            let row = parts::unsqueeze(machine, a, 0)?;
            let product = part(machine, Op::Mm, row, b, out)?;
            if let Some(out) = out {
                squeeze_in_place(machine, out);
                return Ok(out);
            }
            parts::squeeze(machine, product, true)
        }
        (2, 2) => part(machine, Op::Mm, a, b, out),
        _ if folds(machine.tensor(a), machine.tensor(b), out.is_some()) => folded(machine, a, b, out),
        _ => batched(machine, a, b, out),
    }
}

fn part(machine: &mut Machine, op: Op, a: TensorId, b: TensorId, out: Option<TensorId>) -> Result<TensorId> {
    match out {
        Some(out) => parts::binary_out(machine, op, a, b, out),
        None => parts::binary(machine, op, a, b),
    }
}

/// Takes the first dimension, of length 1, from the tensor itself.
fn squeeze_in_place(machine: &mut Machine, id: TensorId) {
    let layout = &mut machine.tensor_mut(id).layout;
    layout.shape = Shape::of_sizes(layout.shape.sizes()[1..].to_vec());
    layout.strides.remove(0);
}

/// Returns whether libtorch multiplies a batch by a matrix or a vector as one large matrix (`should_fold`).
fn folds(a: &Tensor, b: &Tensor, has_out: bool) -> bool {
    let (larger, smaller, a_is_larger) =
        if a.shape().rank() >= b.shape().rank() { (a, b, true) } else { (b, a, false) };
    let rank = larger.shape().rank();
    if rank < 3 || smaller.shape().rank() > 2 {
        return false;
    }
    if smaller.node.is_some() && !has_out {
        return true;
    }
    if a.shape().rank() == 2 {
        return false;
    }
    let (mut sizes, mut strides) = (larger.shape().sizes().to_vec(), larger.layout.strides.clone());
    if !a_is_larger {
        sizes.swap(rank - 1, rank - 2);
        strides.swap(rank - 1, rank - 2);
    }
    larger.shape().numel() == 0
        || (0..rank - 2).all(|dim| strides[dim] == strides[dim + 1].wrapping_mul(sizes[dim + 1]))
}

fn folded(machine: &mut Machine, a: TensorId, b: TensorId, out: Option<TensorId>) -> Result<TensorId> {
    let exchanged = machine.tensor(b).shape().rank() > machine.tensor(a).shape().rank();
    // The smaller side becomes the right factor, and a matrix that stood on the left is transposed for that.
    let (large, small) = if exchanged {
        let small = if machine.tensor(a).shape().rank() == 2 { parts::transpose(machine, a, 0, 1)? } else { a };
        (parts::transpose(machine, b, -2, -1)?, small)
    } else {
        (a, b)
    };
    let sizes = machine.tensor(large).shape().sizes().to_vec();
    let (inner, leading) = (sizes[sizes.len() - 1], &sizes[..sizes.len() - 1]);
    let right = machine.tensor(small).shape().sizes().to_vec();
    let rows = parts::multiplied(leading);
    let matrix = right.len() == 2;
    let columns = if matrix { Some(right[1]) } else { None };
    let shape: Vec<i64> = leading.iter().copied().chain(columns).collect();
    let flat = parts::reshape(machine, large, vec![rows, inner])?;
    let op = if matrix { Op::Mm } else { Op::Mv };
    let Some(out) = out else {
        let product = parts::binary(machine, op, flat, small)?;
        let product = parts::view(machine, product, shape)?;
        if exchanged && matrix {
            let product = parts::transpose(machine, product, -2, -1)?;
            return parts::contiguous(machine, product);
        }
        return Ok(product);
    };
    let flattened: Vec<i64> = std::iter::once(rows).chain(columns).collect();
    let copied = |machine: &Machine, flat: TensorId, out: TensorId| {
        // The copy has the rows as one dimension still, and does not broadcast to those of the target.
        let [flat, out] = [flat, out].map(|id| machine.tensor(id).shape());
        let broadcast = out.broadcast(flat)?;
        if broadcast == *out {
            Ok(())
        } else {
            let [output, broadcast] = [out, &broadcast].map(|shape| shape.sizes().to_vec());
            Err(Rejection::OutputShape { output, broadcast }.into())
        }
    };
    into(machine, out, shape, flattened, |machine, out| parts::binary_out(machine, op, flat, small, out), copied)
}

fn batched(machine: &mut Machine, a: TensorId, b: TensorId, out: Option<TensorId>) -> Result<TensorId> {
    let (left, right) = (machine.tensor(a).shape().sizes().to_vec(), machine.tensor(b).shape().sizes().to_vec());
    let grad = |machine: &Machine, id: TensorId| machine.tensor(id).node.is_some();
    // A batch of one matrix is no batch where that saves the gradient an expansion.
    if left.len() == 3 && right.len() == 3 && left[0] != right[0] {
        if left[0] == 1 && grad(machine, a) {
            let a = parts::squeeze(machine, a, true)?;
            return product(machine, a, b, out);
        }
        if right[0] == 1 && grad(machine, b) {
            let b = parts::squeeze(machine, b, true)?;
            return product(machine, a, b, out);
        }
    }
    let Batches { batch, left, right, shape, vector } = Batches::infer(&left, &right)?;
    let count = parts::multiplied(&batch);
    let factor = |machine: &mut Machine, id: TensorId, sizes: &[i64]| {
        let id = parts::expand(machine, id, [&batch, sizes].concat())?;
        parts::reshape(machine, id, [&[count], sizes].concat())
    };
    let a = factor(machine, a, &left)?;
    let b = factor(machine, b, &right)?;
    let b = if vector { parts::unsqueeze(machine, b, 2)? } else { b };
    let (rows, columns) = (left[0], right.get(1).copied().unwrap_or(1));
    let Some(out) = out else {
        let product = parts::binary(machine, Op::Bmm, a, b)?;
        let product = if vector { parts::squeeze(machine, product, false)? } else { product };
        return parts::view(machine, product, shape);
    };
    into(
        machine,
        out,
        shape,
        vec![count, rows, columns],
        |machine, out| parts::binary_out(machine, Op::Bmm, a, b, out),
        |_, _, _| Ok(()),
    )
}

/// Batches of matrices that broadcast, and a batch of vectors.
struct Batches {
    /// The sizes of the batch.
    batch: Vec<i64>,
    /// The sizes of each factor without its batch.
    left: Vec<i64>,
    right: Vec<i64>,
    /// The sizes of the product.
    shape: Vec<i64>,
    /// True if the right factors are vectors.
    vector: bool,
}

impl Batches {
    /// Rejects batches that do not broadcast; whether the matrices fit is for the product of them to say.
    fn infer(left: &[i64], right: &[i64]) -> Result<Batches> {
        let vector = right.len() == 1;
        let batch_of = |sizes: &[i64]| shape_of(sizes[..sizes.len().saturating_sub(2)].to_vec());
        let batch = batch_of(left)?.broadcast(&batch_of(right)?)?.sizes().to_vec();
        let rows = (left.len() > 1).then(|| left[left.len() - 2]);
        let right = right[right.len().saturating_sub(2)..].to_vec();
        let shape = batch.iter().copied().chain(rows).chain(right.get(1).copied()).collect();
        Ok(Batches { batch, left: vec![rows.unwrap_or(1), left[left.len() - 1]], right, shape, vector })
    }
}

/// Gives `out` its shape and lets `multiply` write to it in another one; through a copy, which `check` may reject, if no
/// view has that.
fn into(
    machine: &mut Machine,
    out: TensorId,
    shape: Vec<i64>,
    flattened: Vec<i64>,
    multiply: impl FnOnce(&mut Machine, TensorId) -> Result<TensorId>,
    check: impl FnOnce(&Machine, TensorId, TensorId) -> Result<()>,
) -> Result<TensorId> {
    let shape = shape_of(shape)?;
    write::prepare(machine, Some(out), &shape)?;
    let flat = parts::reshape(machine, out, flattened)?;
    multiply(machine, flat)?;
    if machine.tensor(flat).storage != machine.tensor(out).storage {
        check(machine, flat, out)?;
        let values = machine.buffer(machine.tensor(flat).storage).clone();
        return super::output::deliver(machine, Some(out), &shape, values);
    }
    Ok(out)
}
