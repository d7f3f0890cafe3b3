//! The elements of tensors before a step, by the reply alone: those that the implementation itself returned.

use crate::ops::Form;
use crate::program::{Arg, Outcome, Program, Reply, Step, TensorValue, ValueRef};
use crate::tensor::{Buffer, DType, Scalar, Shape};

/// The most elements of a tensor that is read.
const LARGEST: usize = 1 << 14;

/// A tensor with its elements, row-major.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    pub dtype: DType,
    pub shape: Shape,
    pub values: Vec<Scalar>,
}

impl Elements {
    /// The elements of a tensor that a reply has; `None` if they are too many, or not as many as the shape says.
    pub fn of(tensor: &TensorValue) -> Option<Elements> {
        let count = tensor.shape.numel();
        let whole = count <= LARGEST && tensor.data.len() == count * tensor.dtype.size();
        whole.then(|| Elements { dtype: tensor.dtype, shape: tensor.shape.clone(), values: tensor.scalars() })
    }
}

/// A program and the reply to it.
#[derive(Clone, Copy)]
pub(super) struct Trace<'a> {
    pub program: &'a Program,
    pub reply: &'a Reply,
}

impl<'a> Trace<'a> {
    /// The elements of a value right before a step. `None` where the reply does not tell: something was written to the
    /// same storage under another name, or by a step that was rejected.
    pub fn before(self, at: usize, value: ValueRef) -> Option<Elements> {
        let own = self.first_name(value);
        let storage = self.storage(at, own);
        let mut latest = None;
        for number in 0..at {
            let step = &self.program.steps[number];
            if step.form == Form::Functional {
                continue;
            }
            let target = self.first_name(step.target()?);
            // A view that was to be written to may have been resized.
            if self.left_alone(number) && (target != own || own.value < self.program.inputs.len()) {
                continue;
            }
            if target == own {
                match &self.reply.steps.get(number)?.outcome {
                    Outcome::Value(_) => latest = Some(number),
                    _ => return None,
                }
            } else if self.made(own) <= number {
                let written = self.storage(at, target);
                if storage.is_none() || written.is_none() || written == storage {
                    return None;
                }
            }
        }
        match (latest, self.program.inputs.get(own.value)) {
            (Some(number), _) => Elements::of(self.reply.steps[number].outcome.tensors().first()?),
            (None, Some(input)) if input.shape.numel() <= LARGEST => {
                let values = Buffer::from_bytes(input.dtype, &input.data)?.scalars();
                Some(Elements { dtype: input.dtype, shape: input.shape.clone(), values })
            }
            (None, Some(_)) => None,
            (None, None) => Elements::of(self.created(own)?),
        }
    }

    /// The elements of the tensor that an argument of a step is.
    pub fn operand(self, at: usize, step: &Step, argument: usize) -> Option<Elements> {
        match step.args.get(argument)? {
            Arg::Tensor(value) => self.before(at, *value),
            _ => None,
        }
    }

    /// The sizes of a value right before a step, under the same conditions.
    pub fn sizes(self, at: usize, value: ValueRef) -> Option<Vec<i64>> {
        self.before(at, value).map(|elements| elements.shape.sizes().to_vec())
    }

    /// Returns whether a step before writes to a value, or tries to.
    pub fn is_written(self, at: usize, value: ValueRef) -> bool {
        let own = self.first_name(value);
        let mut targets = self.program.steps[..at].iter().filter_map(Step::target);
        targets.any(|target| self.first_name(target) == own)
    }

    /// Returns whether two values may share memory.
    pub fn may_alias(self, at: usize, one: ValueRef, other: ValueRef) -> bool {
        let storages = [one, other].map(|value| self.storage(at, self.first_name(value)));
        storages.contains(&None) || storages[0] == storages[1]
    }

    /// The first name of a value: the result of a step that writes to a tensor is that tensor.
    pub fn first_name(self, value: ValueRef) -> ValueRef {
        let step = value.value.checked_sub(self.program.inputs.len()).and_then(|step| self.program.steps.get(step));
        match step.and_then(|step| step.target()) {
            Some(target) => self.first_name(target),
            None => value,
        }
    }

    /// The number of the step after which a value is there.
    fn made(self, value: ValueRef) -> usize {
        value.value.saturating_sub(self.program.inputs.len())
    }

    fn created(self, value: ValueRef) -> Option<&'a TensorValue> {
        let number = value.value.checked_sub(self.program.inputs.len())?;
        self.reply.steps.get(number)?.outcome.tensors().get(value.part.unwrap_or(0))
    }

    /// The storage of a value before a step; `None` where it is not known, or where an `out=` may have moved it.
    fn storage(self, at: usize, own: ValueRef) -> Option<usize> {
        let mut storage = match self.program.inputs.get(own.value) {
            Some(_) => Some(own.value),
            None => self.created(own).and_then(|tensor| tensor.storage).map(|storage| storage.id),
        };
        for (step, answer) in self.program.steps.iter().zip(&self.reply.steps).take(at) {
            let is_accepted = matches!(answer.outcome, Outcome::Value(_));
            if is_accepted && step.target().is_some_and(|target| self.first_name(target) == own) {
                let tensor = answer.outcome.tensors().first();
                storage = tensor.and_then(|tensor| tensor.storage).map(|storage| storage.id);
            }
        }
        storage
    }

    /// Returns whether a step before `at` was rejected and may have left anything in a tensor, such as new memory: its target
    /// is one that other steps use.
    pub fn may_be_overwritten(self, at: usize) -> bool {
        let rejected = |number: &usize| {
            matches!(self.reply.steps.get(*number).map(|step| &step.outcome), Some(Outcome::Rejected(_)))
        };
        (0..at).filter(rejected).any(|number| {
            let Some(target) = self.program.steps[number].target().map(|target| self.first_name(target)) else {
                return false;
            };
            let used = |other: &usize| self.program.steps[*other].uses().any(|used| self.first_name(used) == target);
            !self.left_alone(number) && (0..at).filter(|other| *other != number).any(|other| used(&other))
        })
    }

    /// Returns whether a step was rejected and has changed no element: it would have written to the memory of an input that no
    /// other step writes to, and that is in the end as it was in the beginning.
    fn left_alone(self, number: usize) -> bool {
        let is_accepted = |step: usize| matches!(self.reply.steps[step].outcome, Outcome::Value(_));
        let Some(target) = self.program.steps[number].target().map(|target| self.first_name(target)) else {
            return false;
        };
        let memory = match self.program.inputs.get(target.value) {
            Some(_) => Some(target.value),
            None => self.created(target).and_then(|tensor| tensor.storage).map(|storage| storage.id),
        };
        let Some(input) = memory.filter(|memory| *memory < self.program.inputs.len()) else { return false };
        let (before, Some(after)) = (&self.program.inputs[input], self.reply.inputs.get(input)) else { return false };
        let writes = (0..self.reply.steps.len()).filter(|step| is_accepted(*step));
        let mut written = writes.filter_map(|step| {
            self.program.steps[step].target().map(|_| self.reply.steps[step].outcome.tensors().first()?.storage)
        });
        self.reply.steps.len() == self.program.steps.len()
            && !is_accepted(number)
            && before.shape == after.shape
            && before.data == after.data
            && written.all(|storage| storage.is_some_and(|storage| storage.id != input))
    }
}
