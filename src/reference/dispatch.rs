//! Runs operations by the functions that the machine was handed. Kernels that are made of other operations run them
//! through it, and know none of their kernels.

use crate::ops::{Family, Form, Op};

use super::machine::{Call, Machine, Operand, Result, Slot, Stop, TensorId, is_large};
use super::{elementwise, iterator};

/// Runs the kernel of an operation, without a look at the size of its operands.
pub(super) fn run(machine: &mut Machine, call: &Call) -> Result<Slot> {
    match (machine.kernels)(call.op) {
        Some(function) => function(machine, call),
        None => elementwise::run_row(machine, call),
    }
}

/// Runs an operation of the table as a part of another one, in its functional form.
pub(super) fn apply(machine: &mut Machine, op: Op, args: &[Operand]) -> Result<TensorId> {
    apply_form(machine, &Call { op, form: Form::Functional, args, out: None })
}

/// Runs an operation of the table as a part of another one, in any form.
pub(super) fn apply_form(machine: &mut Machine, call: &Call) -> Result<TensorId> {
    match dispatch(machine, call)? {
        Slot::Tensor(id) => Ok(id),
        _ => Err(Stop::Malformed(format!("{} is no tensor", call.op))),
    }
}

/// Runs an operation.
pub(super) fn dispatch(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let Some(function) = (machine.kernels)(call.op) else { return elementwise::run_row(machine, call) };
    check_size(machine, call)?;
    let before = call.target()?.map(|target| machine.version(machine.tensor(target).storage));
    let slot = function(machine, call)?;
    // These write one element after the other, which libtorch counts as one write, and as none to a new tensor.
    if let Slot::Tensor(made) = slot
        && call.op.info().family() == Family::Indexing
        && call.form != Form::Out
    {
        let version = before.map_or(0, |before| before + 1);
        machine.set_version(machine.tensor(made).storage, version);
    }
    Ok(slot)
}

/// Only views, copies, which look for themselves, operations element by element, and functions of dtypes take tensors that are
/// too large to be looked at.
fn check_size(machine: &Machine, call: &Call) -> Result<()> {
    if matches!(call.op.info().family(), Family::Views | Family::Dtypes) || !machine.has_elements() {
        return Ok(());
    }
    let tensors = call.args.iter().flat_map(|arg| match arg {
        Operand::Tensor(id) => std::slice::from_ref(id),
        Operand::Tensors(ids) => ids,
        _ => &[],
    });
    let tensors = tensors.chain(&call.out).map(|id| machine.tensor(*id));
    match tensors.into_iter().find(|tensor| is_large(tensor.shape(), tensor.dtype)) {
        Some(tensor) => Err(iterator::too_large(tensor.shape().numel().saturating_mul(tensor.dtype.size()))),
        None => Ok(()),
    }
}
