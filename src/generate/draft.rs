//! A program in the making.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arbitrary::{Result, Unstructured};

use crate::adapter::Implementation;
use crate::ops::{Form, Op, ParamKind};
use crate::program::{Arg, Input, Outcome, Program, Step, StepOutcome, TensorValue, ValueRef};
use crate::reference::Reference;
use crate::tensor::Category;

use super::shape::Palette;
use super::value::{self, Tameness};
use super::{MAX_ELEMENTS, MAX_INPUTS, MAX_STEPS, Options, avoid, chance};

/// How often a step that did not come out as wanted is proposed again.
const TRIES: usize = 8;

/// What there is of a program, and what is known of its values.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub options: &'a Options,
    pub program: Program,
    /// Every tensor that a step can use.
    pub known: Vec<Known>,
    /// The values of steps that were refused.
    pub missing: Vec<ValueRef>,
}

/// A tensor that a step can use, as it was when it was made.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub at: ValueRef,
    pub tensor: TensorValue,
    pub tameness: Tameness,
    /// Whether two right implementations may differ in it: in elements, or in how they lie in memory.
    pub tolerated: bool,
    /// Whether gradients flow through it.
    pub grad: bool,
}

/// What came of a proposal.
enum Trial {
    /// The step is in the program, and its outcome known.
    Kept(StepOutcome),
    /// There is nothing to be compared: the step is out of the program again.
    Dropped,
    /// The reference went wrong over it: the step stays, as the last one, for whoever runs the program.
    Broken,
}

impl<'a> Draft<'a> {
    pub fn new(options: &'a Options) -> Draft<'a> {
        Draft { options, program: Program::default(), known: Vec::new(), missing: Vec::new() }
    }

    /// Makes inputs and steps until the bytes or the limits end it.
    pub fn fill(&mut self, u: &mut Unstructured) -> Result<()> {
        let palette = Palette::new(u)?;
        let gradients = chance(u, 1, 4)?;
        self.inputs(u, &palette, gradients)?;
        // What follows a program with gradients takes up to four steps more.
        let limit = if gradients { MAX_STEPS - 4 } else { MAX_STEPS };
        for _ in 0..u.int_in_range(1..=limit)? {
            if !self.step(u, &palette)? {
                return Ok(());
            }
        }
        if gradients { self.gradients(u) } else { Ok(()) }
    }

    pub fn finish(self) -> Program {
        self.program
    }

    fn inputs(&mut self, u: &mut Unstructured, palette: &Palette, gradients: bool) -> Result<()> {
        // Operands of one dtype in half of the programs: most rejections for dtypes would hide what comes after them.
        let common = *u.choose(&self.options.dtypes)?;
        let mixed: bool = u.arbitrary()?;
        for at in 0..u.int_in_range(1..=MAX_INPUTS)? {
            let dtype = if mixed { *u.choose(&self.options.dtypes)? } else { common };
            let shape = palette.shape(u)?;
            let data = value::elements(u, dtype, &shape, at)?;
            let requires_grad = gradients && dtype.category() >= Category::Floating && !chance(u, 1, 4)?;
            let tensor = TensorValue { dtype, shape: shape.clone(), data: data.clone(), strides: None, storage: None };
            self.known.push(Known {
                at: ValueRef { value: at, part: None },
                tameness: Tameness::of(&tensor),
                tensor,
                tolerated: false,
                grad: requires_grad,
            });
            self.program.inputs.push(Input { name: format!("x{at}"), dtype, shape, data, requires_grad });
        }
        Ok(())
    }

    /// Adds a step, accepted or refused as the bytes want it, if one of the proposals is so; else the last one that can
    /// be compared at all. False if the program must end here.
    fn step(&mut self, u: &mut Unstructured, palette: &Palette) -> Result<bool> {
        let accepted = u.int_in_range(0..=99u8)? < self.options.accepted;
        let mut second_best = None;
        for _ in 0..TRIES {
            let step = self.propose(u, palette)?;
            match self.attempt(step.clone()) {
                Trial::Broken => return Ok(false),
                Trial::Dropped => {}
                Trial::Kept(outcome) if matches!(outcome.outcome, Outcome::Value(_)) == accepted => {
                    self.learn(&outcome);
                    return Ok(true);
                }
                Trial::Kept(_) => {
                    self.program.steps.pop();
                    second_best = Some(step);
                }
            }
            if u.is_empty() {
                break;
            }
        }
        if let Some(step) = second_best
            && let Trial::Kept(outcome) = self.attempt(step)
        {
            self.learn(&outcome);
        }
        Ok(true)
    }

    fn propose(&mut self, u: &mut Unstructured, palette: &Palette) -> Result<Step> {
        let op = *u.choose(&self.options.ops)?;
        let form = *u.choose(op.info().forms)?;
        let args = self.arguments(u, palette, op, form)?;
        let out = if form == Form::Out { Some(self.tensor(u)?) } else { None };
        Ok(self.named(op, form, args, out))
    }

    /// `sum` where a scalar is needed, `backward`, and the gradients that come of it.
    fn gradients(&mut self, u: &mut Unstructured) -> Result<()> {
        let made = |known: &&Known| known.grad && known.at.value >= self.program.inputs.len();
        let Some(mut root) = self.known.iter().rfind(made).cloned() else { return Ok(()) };
        let run = |draft: &mut Draft, op: Op, args: Vec<Arg>| {
            if !draft.options.ops.contains(&op) {
                return false;
            }
            match draft.attempt(draft.named(op, Form::Functional, args, None)) {
                Trial::Kept(outcome) => {
                    draft.learn(&outcome);
                    true
                }
                Trial::Dropped | Trial::Broken => false,
            }
        };
        if root.tensor.shape.numel() != 1 && !chance(u, 1, 8)? {
            let params = Op::Sum.info().signature.params();
            let defaults = params.iter().filter_map(|param| param.default.map(super::argument::default));
            if !run(self, Op::Sum, std::iter::once(Arg::Tensor(root.at)).chain(defaults).collect()) {
                return Ok(());
            }
            if let Some(sum) = self.known.last() {
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

    fn named(&self, op: Op, form: Form, args: Vec<Arg>, out: Option<ValueRef>) -> Step {
        Step { name: format!("r{}", self.program.steps.len()), op, form, args, out }
    }

    /// Puts a step at the end of the program and asks the reference what comes of it.
    fn attempt(&mut self, step: Step) -> Trial {
        if self.bound(&step) > MAX_ELEMENTS {
            return Trial::Dropped;
        }
        self.program.steps.push(step);
        let avoided = |draft: &Draft, outcome| draft.options.avoid.iter().any(|it| it.applies(draft, outcome));
        if avoided(self, None) {
            self.program.steps.pop();
            return Trial::Dropped;
        }
        let reply = catch_unwind(AssertUnwindSafe(|| Reference.run(&self.program)));
        let Some(outcome) = reply.ok().and_then(|mut reply| reply.steps.pop()) else { return Trial::Broken };
        let unsupported = matches!(outcome.outcome, Outcome::Unsupported(_));
        if unsupported || avoided(self, Some(&outcome.outcome)) {
            self.program.steps.pop();
            return Trial::Dropped;
        }
        Trial::Kept(outcome)
    }

    /// The most elements that a step can make, or the most terms that it sums.
    fn bound(&self, step: &Step) -> usize {
        let shapes: Vec<&[i64]> = step.uses().filter_map(|used| Some(self.find(used)?.tensor.shape.sizes())).collect();
        let numels = || shapes.iter().map(|sizes| sizes.iter().map(|&size| size.max(1)).product::<i64>());
        let together = if step.op.info().kernel == "product" {
            numels().fold(1, i64::saturating_mul)
        } else {
            let rank = shapes.iter().map(|sizes| sizes.len()).max().unwrap_or(0);
            let largest = |back: usize| shapes.iter().filter_map(|sizes| sizes.iter().nth_back(back)).max();
            (0..rank).filter_map(largest).fold(1i64, |product, &size| product.saturating_mul(size.max(1)))
        };
        let given = step.args.iter().filter_map(|arg| match arg {
            Arg::Ints(sizes) => Some(sizes),
            _ => None,
        });
        let sizes = given.map(|sizes| {
            // -1 can stand for all that there is.
            let start = if sizes.contains(&-1) { numels().max().unwrap_or(1) } else { 1 };
            sizes.iter().fold(start, |product, size| product.saturating_mul(size.saturating_abs().max(1)))
        });
        sizes.fold(together, i64::max) as usize
    }

    /// Notes what came of the last step.
    fn learn(&mut self, outcome: &StepOutcome) {
        let value = self.program.inputs.len() + self.program.steps.len() - 1;
        let Some(step) = self.program.steps.last() else { return };
        if !matches!(outcome.outcome, Outcome::Value(_)) {
            // Only where numbers stand for tensors is it certain that a tensor would have come of it.
            if step.op.info().signature.params().iter().any(|param| param.kind == ParamKind::Operand) {
                self.missing.push(ValueRef { value, part: None });
            }
            return;
        }
        let info = step.op.info();
        let grad = info.differentiable && step.uses().filter_map(|used| self.find(used)).any(|known| known.grad);
        let several = !matches!(outcome.outcome, Outcome::Value(crate::program::Value::Tensor(_)));
        for (part, tensor) in outcome.outcome.tensors().iter().enumerate() {
            let tameness = Tameness::of(tensor);
            let made = Known {
                at: ValueRef { value, part: several.then_some(part) },
                tameness,
                tensor: tensor.clone(),
                tolerated: !info.layout_is_specified() || (avoid::sums(info) && !value::is_exact(tensor, tameness)),
                grad: grad && tensor.dtype.category() >= Category::Floating,
            };
            if let Some(target) = target(self.program.steps.last()) {
                self.written(target, &made);
            }
            self.known.push(made);
        }
    }

    /// Notes that `made` was written to `target`, and so to every other view of its storage.
    fn written(&mut self, target: ValueRef, made: &Known) {
        let storage = made.tensor.storage.map(|storage| storage.id);
        let resized = self.find(target).is_some_and(|target| target.tensor.shape != made.tensor.shape);
        let inputs = self.program.inputs.len();
        self.known.retain_mut(|known| {
            let own =
                known.tensor.storage.map(|storage| storage.id).or((known.at.value < inputs).then_some(known.at.value));
            if own != storage {
                return true;
            }
            known.tameness = known.tameness.min(made.tameness);
            known.tolerated |= made.tolerated;
            known.grad |= made.grad;
            // What the others look like now is not for a generator to know.
            !resized
        });
    }

    /// What is known of a value.
    pub fn find(&self, at: ValueRef) -> Option<&Known> {
        self.known.iter().find(|known| known.at == at)
    }
}

/// The value that a step writes to, if it is one that was there before.
pub(super) fn target(step: Option<&Step>) -> Option<ValueRef> {
    let step = step?;
    match (step.form, step.args.first()) {
        (Form::InPlace, Some(Arg::Tensor(target))) => Some(*target),
        (Form::Out, _) => step.out,
        _ => None,
    }
}
