//! Arithmetic that is made of other arithmetic: the difference the other way round.

use crate::error::Rejection;
use crate::ops::{Form, Op};

use super::elementwise::{self, Facts, elementwise_kernel};
use super::iterator;
use super::machine::{Call, Machine, Result, Slot};
use super::{autograd, write};

/// `rsub`: the second operand less the first (`at::sub(other, self)`). With `out=` the difference is computed first, and
/// copied then, to a tensor of its own dtype.
pub(super) fn reversed_difference(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = [elementwise::input(machine, call, 0)?, elementwise::input(machine, call, 1)?];
    autograd::check_target(machine, call, &inputs)?;
    let args = [call.args[1].clone(), call.args[0].clone(), call.args[2].clone()];
    let difference = Call { op: Op::Sub, form: Form::Functional, args: &args, out: None };
    let kernel = elementwise_kernel!(sum (a, b; alpha) a.plus_product(alpha, b));
    let facts = Facts::of(Op::Sub);
    let operands = elementwise::inputs(machine, &difference)?;
    let slot = elementwise::run_on(machine, &difference, kernel, (Op::Rsub, facts), operands)?;
    let (Some(out), Slot::Tensor(result)) = (call.out, &slot) else { return Ok(slot) };
    let result = machine.tensor(*result).clone();
    write::prepare(machine, Some(out), result.shape())?;
    let target = machine.tensor(out).clone();
    if target.dtype != result.dtype {
        return Err(Rejection::OutDtype { expected: result.dtype, got: target.dtype }.into());
    }
    iterator::check_overlap(&target, &[])?;
    write::copy(machine, out, &result);
    autograd::record_missing(machine, Op::Rsub, Form::Out, out, &inputs);
    Ok(Slot::Tensor(out))
}
