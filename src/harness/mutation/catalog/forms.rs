//! Wrong targets and gradients.

use crate::class_of;
use crate::error::Class;
use crate::mutation::Mutant;
use crate::mutation::planted::{Seen, reshape};
use crate::mutation::wrong_replies::{self, tensors_mut};
use crate::ops::{Family, Form, Op};
use crate::program::{Outcome, Program, Reply, StepOutcome, StorageRef, Value};
use crate::tensor::{Layout, Scalar};

use crate::mutation::catalog::mutants;

pub(super) const IN_PLACE: &[Mutant] = mutants! { "in-place"
    "target-grows" "an in-place step lets its target grow" Lies => wrong_replies::grows_target;
    "changed-before-refused" "a rejected in-place step has changed its target" Lies => wrong_replies::changed_target;
    "shared-memory-taken" "a step that writes to memory shared by its elements is accepted, and does nothing" Outcomes
        => shared_memory_taken;
    "target-not-written" "an in-place step computes into a new tensor" Steps => |_, step| {
        if step.form == Form::InPlace && step.op.info().forms.contains(&Form::Functional) {
            step.form = Form::Functional;
        }
    };
    "target-forgets" "the inputs are after the program as they were before" Lies => forgets;
    "written-through-no-view" "a write to a view does not change its base" Lies => written_to_copies;
    "copies-first-only" "copy_ copies the first element everywhere" Elements => |seen, elements| {
        if let (Op::Copy, Some(first)) = (seen.step().op, elements.first().copied()) {
            elements.fill(first);
        }
    };
};

/// The target as it was made, in place of the rejection of a target whose elements share memory.
fn shared_memory_taken(seen: &Seen, answer: &mut StepOutcome) {
    let Outcome::Rejected(rejected) = seen.outcome() else { return };
    let target = seen.step().target().and_then(|at| at.value.checked_sub(seen.program.inputs.len()));
    let made = target.and_then(|step| seen.reply.steps.get(step)).map(|made| &made.outcome);
    if let (Some(Class::Overlap), Some(Outcome::Value(made))) = (class_of(rejected), made) {
        answer.outcome = Outcome::Value(made.clone());
    }
}

fn forgets(program: &Program) -> Reply {
    let mut reply = wrong_replies::honest(program);
    for (after, before) in reply.inputs.iter_mut().zip(&program.inputs) {
        if after.shape == before.shape {
            after.data.clone_from(&before.data);
        }
    }
    reply
}

/// The state of an input that was written to through a view alone.
fn written_to_copies(program: &Program) -> Reply {
    let mut reply = wrong_replies::honest(program);
    for (number, (after, before)) in reply.inputs.iter_mut().zip(&program.inputs).enumerate() {
        let itself = program.steps.iter().any(|step| step.target().is_some_and(|target| target.value == number));
        if !itself && after.shape == before.shape {
            after.data.clone_from(&before.data);
        }
    }
    reply
}

pub(super) const OUT: &[Mutant] = mutants! { "out="
    "out-not-written" "the result is not written to out" Steps => |_, step| {
        if step.form == Form::Out {
            (step.form, step.out) = (Form::Functional, None);
        }
    };
    "out-keeps-its-shape" "out of a wrong shape is not resized" Tensors => |seen, tensor| {
        let target = seen.operands().pop().map(|target| target.shape.sizes().to_vec());
        if let (Form::Out, Some(sizes)) = (seen.step().form, target)
            && tensor.shape.sizes() != sizes
        {
            reshape(tensor, sizes);
        }
    };
    "out-is-fresh" "the result of a step with out has a storage of its own" Tensors => |seen, tensor| {
        if seen.step().form == Form::Out {
            let id = seen.program.inputs.len() + seen.program.steps.len() + seen.at;
            tensor.storage = Some(StorageRef { id, offset: 0 });
        }
    };
    "out-row-by-row" "out of the right shape gets the strides of a new tensor" Tensors => |seen, tensor| {
        if seen.step().form == Form::Out {
            tensor.strides = Some(Layout::contiguous(tensor.shape.clone()).strides);
        }
    };
    "out-of-another-dtype" "out is rejected unless it has the dtype of the result" Outcomes => |seen, answer| {
        let mut functional = seen.program.clone();
        if seen.step().form != Form::Out {
            return;
        }
        functional.steps.truncate(seen.at + 1);
        let last = &mut functional.steps[seen.at];
        (last.form, last.out) = (Form::Functional, None);
        let made = wrong_replies::honest(&functional).steps.pop();
        let dtype = made.and_then(|made| made.outcome.tensors().first().map(|tensor| tensor.dtype));
        let own = answer.outcome.tensors().first().map(|tensor| tensor.dtype);
        if let (Some(dtype), Some(own)) = (dtype, own)
            && dtype != own
        {
            let message = format!("Expected out tensor to have dtype {dtype}, but got {own} instead");
            answer.outcome = crate::mutation::catalog::texts::rejected(message);
        }
    };
};

fn gradients(seen: &Seen, elements: &mut [Scalar], change: impl Fn(f64) -> f64) {
    for element in elements.iter_mut().filter(|_| seen.step().op == Op::Grad) {
        if let Scalar::Float(value) = element {
            *element = Scalar::Float(change(*value));
        }
    }
}

/// Returns whether the leaf whose gradient a step reports was broadcast anywhere.
fn was_broadcast(seen: &Seen) -> bool {
    let leaf = seen.step().uses().next();
    let users =
        seen.program.steps.iter().zip(&seen.reply.steps).filter(|(step, _)| {
            step.op.info().family() != Family::Autograd && step.uses().any(|used| Some(used) == leaf)
        });
    let shape = seen.operands().first().map(|leaf| leaf.shape);
    let mut made = users.flat_map(|(_, answer)| answer.outcome.tensors());
    made.any(|made| shape.is_some_and(|shape| shape != &made.shape && shape.expands_to(&made.shape)))
}

pub(super) const GRADIENTS: &[Mutant] = mutants! { "gradients"
    "gradient-not-summed" "the gradient of a broadcast operand keeps the broadcast shape" Lies => wrong_replies::wrong_gradient;
    "gradient-without-keepdim" "the gradient of a broadcast operand loses its dimensions of size 1" Tensors
        => |seen, tensor| {
            if seen.step().op == Op::Grad && was_broadcast(seen) {
                reshape(tensor, tensor.shape.sizes().iter().copied().filter(|size| *size != 1).collect());
            }
        };
    "gradient-over-the-wrong-dimension" "the gradient of a broadcast operand is summed over its own dimensions, too" Elements
        => |seen, elements| {
            let value = |element: &Scalar| if let Scalar::Float(value) = element { *value } else { 0.0 };
            let total = elements.iter().map(value).sum();
            if was_broadcast(seen) {
                gradients(seen, elements, |_| total);
            }
        };
    "gradient-of-one-element" "the gradient of a broadcast operand is that of one element" Elements => |seen, elements| {
        let made = seen.program.steps.iter().zip(&seen.reply.steps).take(seen.at);
        let most = made.flat_map(|(_, made)| made.outcome.tensors()).map(|made| made.shape.numel()).max();
        let times = most.unwrap_or(0) / elements.len().max(1);
        if times > 1 && was_broadcast(seen) {
            gradients(seen, elements, |value| value / times as f64);
        }
    };
    "gradient-doubled" "each gradient is added twice" Elements
        => |seen, elements| gradients(seen, elements, |value| value * 2.0);
    "gradient-sign" "the gradient has the sign of the second operand of a difference" Elements => |seen, elements| {
        if seen.program.steps.iter().any(|step| matches!(step.op, Op::Sub | Op::Rsub)) {
            gradients(seen, elements, |value| -value);
        }
    };
    "no-gradient" "a broadcast operand has no gradient" Outcomes => |seen, answer| {
        if seen.step().op == Op::Grad && matches!(answer.outcome, Outcome::Value(Value::Tensor(_))) && was_broadcast(seen) {
            answer.outcome = Outcome::Value(Value::Nothing);
        }
    };
    "gradient-shape" "a gradient has an extra leading 1" Outcomes => |seen, answer| {
        for tensor in tensors_mut(&mut answer.outcome).iter_mut().filter(|_| seen.step().op == Op::Grad) {
            reshape(tensor, [&[1], tensor.shape.sizes()].concat());
        }
    };
};
