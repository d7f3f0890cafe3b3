//! Arithmetic that is made of other arithmetic: division with a rounding mode, and the difference the other way round.

use crate::error::PointwiseFault;
use crate::ops::{DtypeSet, Form, Op, ResultType, Signature};
use crate::program::Arg;

use super::elementwise::{self, Elementwise, Facts, elementwise_kernel};
use super::iterator;
use super::machine::{Call, Machine, Operand, Result, Slot};
use super::{backward, write};

/// The rounding of a quotient (`rounding_mode`).
enum Rounding {
    Floor,
    Truncated,
}

/// The kernel of a division, and what is true of it, by its rounding mode (`TORCH_META_FUNC2(div, Tensor_mode)`). Other
/// calls keep theirs.
pub(super) fn rounded(call: &Call, kernel: Elementwise) -> Result<(Elementwise, Facts)> {
    let Some(rounding) = rounding(call)? else { return Ok((kernel, Facts::of(call.op))) };
    let (kernel, refusal) = match rounding {
        Rounding::Floor => (elementwise_kernel!(quotient (a, b) a.floor_over(b)), "div_floor_cpu"),
        Rounding::Truncated => (elementwise_kernel!(quotient (a, b) a.truncated_over(b)), "div_trunc_cpu"),
    };
    Ok((kernel, Facts { gradient: Op::Div, result: ResultType::Promoted, dtypes: DtypeSet::Real, refusal }))
}

/// Whether a call rounds a quotient: nothing flows back through it but zeros.
pub(super) fn rounds(call: &Call) -> bool {
    matches!(rounding(call), Ok(Some(_)))
}

fn rounding(call: &Call) -> Result<Option<Rounding>> {
    if call.op.info().signature != Signature::Division {
        return Ok(None);
    }
    match call.args.get(2) {
        Some(Operand::Other(Arg::Text(mode))) => match mode.as_str() {
            "floor" => Ok(Some(Rounding::Floor)),
            "trunc" => Ok(Some(Rounding::Truncated)),
            _ => Err(PointwiseFault::RoundingMode { mode: mode.clone() }.into()),
        },
        _ => Ok(None),
    }
}

/// `rsub`: the second operand less the first (`at::sub(other, self)`). With `out=` the difference is computed first, and
/// copied then, to a tensor of its own dtype.
pub(super) fn reversed_difference(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = [elementwise::input(machine, call, 0)?, elementwise::input(machine, call, 1)?];
    elementwise::check_autograd(machine, call, &inputs)?;
    let args = [call.args[1].clone(), call.args[0].clone(), call.args[2].clone()];
    let difference = Call { op: Op::Sub, form: Form::Functional, args: &args, out: None };
    let kernel = elementwise_kernel!(sum (a, b; alpha) a.plus_product(alpha, b));
    let facts = Facts { gradient: Op::Rsub, ..Facts::of(Op::Sub) };
    let slot = elementwise::run_as(machine, &difference, kernel, facts)?;
    let (Some(out), Slot::Tensor(result)) = (call.out, &slot) else { return Ok(slot) };
    let result = machine.tensor(*result).clone();
    write::prepare(machine, Some(out), result.shape())?;
    let target = machine.tensor(out).clone();
    if target.dtype != result.dtype {
        return Err(PointwiseFault::OutDtype { result: result.dtype, out: target.dtype }.into());
    }
    iterator::check_overlap(&target, &[])?;
    write::copy(machine, out, &result);
    backward::record_missing(machine, Op::Rsub, Form::Out, out, &inputs);
    Ok(Slot::Tensor(out))
}
