//! The operations that their rows say element by element.

use crate::error::Rejection;
use crate::for_each_op;
use crate::ops::{DtypeSet, Op, ResultType};
use crate::program::Arg;
use crate::tensor::{Layout, Scalar};

use super::super::autograd;
use super::super::iterator::{self, Input};
use super::super::machine::{Call, Machine, Operand, Result, Slot, Stop, Tensor};
use super::super::{math, number};
use super::{Elementwise, Facts, elementwise_kernel, inputs, run_on};

macro_rules! row {
    ($word:ident $function:tt) => {
        None
    };
    ($word:ident $operands:tt $body:expr) => {
        Some(elementwise_kernel!($word $operands $body))
    };
}

macro_rules! rows {
    ($($variant:ident { facts: $facts:tt kernel: $kernel:tt gradient: $gradient:tt calls: $calls:tt })+) => {
        /// The loop of an operation, if its row says one.
        fn row(op: Op) -> Option<Elementwise> {
            match op {
                $(Op::$variant => row! $kernel),+
            }
        }
    };
}

for_each_op!(rows);

/// Runs an operation that its row says element by element, in any of its forms.
pub(crate) fn run_row(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    let (kernel, facts) = rounded(call)?;
    run_on(machine, call, kernel, (call.op, facts), inputs)
}

/// The same of two operands that are known to fit, without autograd and into a new contiguous tensor.
pub(crate) fn arithmetic(machine: &mut Machine, op: Op, a: Input, b: Input) -> Result<Tensor> {
    let inputs = [a, b];
    let shape = iterator::broadcast(&inputs)?;
    let (common, result) = Facts::of(op).dtypes(&inputs);
    let values = own(op)?.evaluate(machine, op, &inputs, Scalar::Int(1), (&shape, common, result))?;
    Ok(machine.allocate(Layout::contiguous(shape), values))
}

fn own(op: Op) -> Result<Elementwise> {
    row(op).ok_or_else(|| Stop::Malformed(format!("{op} is not elementwise")))
}

/// The rounding of a quotient (`rounding_mode`).
enum Rounding {
    Floor,
    Truncated,
}

/// The kernel of a division, and what is true of it, by its rounding mode (`TORCH_META_FUNC2(div, Tensor_mode)`). Other
/// calls have those of their row.
fn rounded(call: &Call) -> Result<(Elementwise, Facts)> {
    let Some(rounding) = rounding(call)? else { return Ok((own(call.op)?, Facts::of(call.op))) };
    let (kernel, refusal) = match rounding {
        Rounding::Floor => (elementwise_kernel!(quotient (a, b) a.floor_over(b)), "div_floor_cpu"),
        Rounding::Truncated => (elementwise_kernel!(quotient (a, b) a.truncated_over(b)), "div_trunc_cpu"),
    };
    Ok((kernel, Facts { result: ResultType::Promoted, dtypes: DtypeSet::Real, refusal }))
}

/// Returns whether a call rounds a quotient, which has zero gradient.
pub(super) fn rounds(call: &Call) -> bool {
    matches!(rounding(call), Ok(Some(_)))
}

fn rounding(call: &Call) -> Result<Option<Rounding>> {
    if call.op != Op::Div {
        return Ok(None);
    }
    match call.args.get(2) {
        Some(Operand::Other(Arg::Text(mode))) => match mode.as_str() {
            "floor" => Ok(Some(Rounding::Floor)),
            "trunc" => Ok(Some(Rounding::Truncated)),
            _ => Err(Rejection::RoundingMode { mode: mode.clone() }.into()),
        },
        _ => Ok(None),
    }
}
