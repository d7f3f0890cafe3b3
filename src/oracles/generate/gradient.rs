//! The end of a program that gradients flow through: a step with a derivative, a step that overwrites what was made, and
//! the backward pass.

use arbitrary::{Result, Unstructured};

use crate::generate::builder::{ProgramBuilder, TRIES, Trial};
use crate::generate::shape::Palette;
use crate::generate::{MAX_STEPS, chance};
use crate::ops::{Form, Op, ParamKind};
use crate::program::{Arg, Outcome, ValueRef};
use crate::relaxations::TensorState;

impl ProgramBuilder<'_> {
    /// Makes sure that gradients flow through a result, overwrites one now and then, and goes back.
    pub(super) fn backward(&mut self, u: &mut Unstructured, palette: &Palette) -> Result<()> {
        if !self.tracker.known.iter().any(|known| self.is_made_with_gradient(known)) {
            self.differentiate(u, palette)?;
        }
        if chance(u, 1, 3)? {
            self.overwrite(u, palette)?;
        }
        self.gradients(u)
    }

    /// Returns whether a tensor is the result of a step, and gradients flow through it.
    fn is_made_with_gradient(&self, known: &TensorState) -> bool {
        known.grad && known.at.value >= self.program.inputs.len()
    }

    /// A step with a derivative, of an input that gradients flow through: a program that no gradient flows through shows
    /// none.
    fn differentiate(&mut self, u: &mut Unstructured, palette: &Palette) -> Result<()> {
        let has = |op: &&Op| op.info().differentiable && op.info().forms.contains(&Form::Functional);
        let through = self.tracker.known.iter().filter(|known| known.grad).map(|known| known.at).collect();
        self.accepted_step(u, palette, has, Form::Functional, through)
    }

    /// A step that overwrites what an earlier step made, often a view, while gradients flow.
    fn overwrite(&mut self, u: &mut Unstructured, palette: &Palette) -> Result<()> {
        let writes = |op: &&Op| op.info().differentiable && op.info().forms.contains(&Form::InPlace);
        let inputs = self.program.inputs.len();
        let made = self.tracker.known.iter().map(|known| known.at).filter(|at| at.value >= inputs).collect();
        self.accepted_step(u, palette, writes, Form::InPlace, made)
    }

    /// A step that is accepted, of an operation with the property, in this form, that uses one of these tensors or writes to
    /// it; if there are any, and room for a backward pass after it.
    fn accepted_step(
        &mut self,
        u: &mut Unstructured,
        palette: &Palette,
        property: impl Fn(&&Op) -> bool,
        form: Form,
        tensors: Vec<ValueRef>,
    ) -> Result<()> {
        let begins = |op: &Op| {
            let first = op.info().arguments.first().map(|param| param.kind);
            matches!(first, Some(ParamKind::Operand | ParamKind::Tensor))
        };
        let ops: Vec<Op> = self.options.ops.iter().filter(|op| property(op) && begins(op)).copied().collect();
        if ops.is_empty() || tensors.is_empty() || self.program.steps.len() + 4 > MAX_STEPS {
            return Ok(());
        }
        let theme = self.theme.filter(|theme| ops.contains(theme));
        for _ in 0..TRIES {
            let op = match theme {
                Some(theme) if chance(u, 1, 2)? => theme,
                _ => *u.choose(&ops)?,
            };
            let mut args = self.arguments(u, palette, op, form)?;
            let places = if form == Form::InPlace { &args[..1] } else { &args[..] };
            if !places.iter().flat_map(Arg::uses).any(|used| tensors.contains(&used)) {
                args[0] = Arg::Tensor(*u.choose(&tensors)?);
            }
            match self.attempt(self.named(op, form, args, None)) {
                Trial::Kept(outcome) if matches!(outcome.outcome, Outcome::Value(_)) => {
                    self.learn(outcome);
                    return Ok(());
                }
                Trial::Kept(_) => {
                    self.program.steps.pop();
                }
                Trial::Dropped => {}
                Trial::Broken => return Ok(()),
            }
        }
        Ok(())
    }

    /// `sum` where a scalar is needed, `backward`, and the gradients of the inputs.
    fn gradients(&mut self, u: &mut Unstructured) -> Result<()> {
        let made = |known: &&TensorState| self.is_made_with_gradient(known);
        let Some(mut root) = self.tracker.known.iter().rfind(made).cloned() else { return Ok(()) };
        if chance(u, 1, 3)? {
            let made: Vec<&TensorState> = self.tracker.known.iter().filter(made).collect();
            root = (*u.choose(&made)?).clone();
        }
        let run = |draft: &mut ProgramBuilder, op: Op, args: Vec<Arg>| {
            if !draft.options.ops.contains(&op) {
                return false;
            }
            match draft.attempt(draft.named(op, Form::Functional, args, None)) {
                Trial::Kept(outcome) => {
                    draft.learn(outcome);
                    true
                }
                Trial::Dropped | Trial::Broken => false,
            }
        };
        if root.tensor.shape.numel() != 1 && !chance(u, 1, 8)? {
            let params = Op::Sum.info().arguments;
            let defaults = params.iter().filter_map(|param| param.default.map(Arg::from));
            if !run(self, Op::Sum, std::iter::once(Arg::Tensor(root.at)).chain(defaults).collect()) {
                return Ok(());
            }
            if let Some(sum) = self.tracker.known.last() {
                root = sum.clone();
            }
        }
        let gradient = if chance(u, 1, 8)? { Arg::Tensor(self.tensor(u)?) } else { Arg::Nothing };
        if !run(self, Op::Backward, vec![Arg::Tensor(root.at), gradient]) {
            return Ok(());
        }
        for input in 0..self.program.inputs.len() {
            if self.program.inputs[input].requires_grad && self.program.steps.len() < MAX_STEPS {
                run(self, Op::Grad, vec![Arg::Tensor(ValueRef { value: input, part: None })]);
            }
        }
        Ok(())
    }
}
