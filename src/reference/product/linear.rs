//! `linear`: a product with a transposed matrix, and a bias.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::Scalar;

use super::super::dispatch::{apply, apply_form};
use super::super::machine::{Call, Machine, Operand, Result, Slot, TensorId};
use super::parts;

/// `linear`.
pub(in super::super) fn linear(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (input, weight) = (call.tensor(0)?, call.tensor(1)?);
    let bias = call.optional_tensor(2)?;
    let [rank, rows] = [input, weight].map(|id| machine.tensor(id).shape().rank());
    if rank == 0 || rows == 0 {
        return Err(Rejection::LinearScalar { input: rank, weight: rows }.into());
    }
    machine.compose(|machine| transformed(machine, input, weight, bias)).map(Slot::Tensor)
}

/// With a bias, matrices are one step (`addmm`), and so is what is contiguous with a bias that is a vector.
fn transformed(machine: &mut Machine, input: TensorId, weight: TensorId, bias: Option<TensorId>) -> Result<TensorId> {
    let turned = apply(machine, Op::T, &[Operand::Tensor(weight)])?;
    if let Some(bias) = bias {
        if machine.tensor(input).shape().rank() == 2 {
            return added(machine, bias, input, turned);
        }
        if is_vector(machine, bias) && machine.tensor(input).layout.is_contiguous() {
            let sizes = machine.tensor(input).shape().sizes().to_vec();
            let (inner, leading) = (sizes[sizes.len() - 1], &sizes[..sizes.len() - 1]);
            let flat = parts::reshape(machine, input, vec![parts::multiplied(leading), inner])?;
            let product = added(machine, bias, flat, turned)?;
            let columns = machine.tensor(product).shape().sizes()[1];
            return parts::view(machine, product, [leading, &[columns]].concat());
        }
    }
    let product = parts::binary(machine, Op::Matmul, input, turned)?;
    let Some(bias) = bias else { return Ok(product) };
    let one = Arg::Number(Scalar::Int(1));
    let args = [Operand::Tensor(product), Operand::Tensor(bias), Operand::Other(&one)];
    apply_form(machine, &Call { op: Op::Add, form: Form::InPlace, args: &args, out: None })
}

fn added(machine: &mut Machine, bias: TensorId, a: TensorId, b: TensorId) -> Result<TensorId> {
    let one = Arg::Number(Scalar::Int(1));
    let operands = [bias, a, b].map(Operand::Tensor).into_iter();
    let args: Vec<Operand> = operands.chain([Operand::Other(&one), Operand::Other(&one)]).collect();
    apply(machine, Op::Addmm, &args)
}

/// Returns whether a bias is contiguous, and a vector but for dimensions of length 1.
fn is_vector(machine: &Machine, bias: TensorId) -> bool {
    let layout = &machine.tensor(bias).layout;
    let sizes = layout.shape.sizes();
    (sizes.len() == 1 || sizes.iter().filter(|size| **size != 1).count() == 1) && layout.is_contiguous()
}
