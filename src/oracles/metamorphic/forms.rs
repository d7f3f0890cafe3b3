//! The forms of an operation by its functional form, and what a refusal leaves behind.

use crate::difference::class_of;
use crate::error::Class;
use crate::ops::{Family, Form, Op};
use crate::program::{Arg, Outcome, Program, Step};

use crate::metamorphic::LARGEST;
use crate::metamorphic::judge::{Compared, OutputRelation, same};
use crate::metamorphic::step_context::{Rewrite, StepContext};

pub(super) fn in_place(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let (step, info) = (context.step, context.step.op.info());
    if step.form != Form::InPlace || !info.forms.contains(&Form::Functional) {
        return None;
    }
    let target = context.target()?;
    let mut rewrite = Rewrite::before(context);
    let functional = Step { form: Form::Functional, ..step.clone() };
    if info.family() == Family::Views {
        rewrite.push(functional);
        // A leaf refuses to become its own view.
        let applies = context.accepted() || !context.has_gradients();
        return applies.then(|| same(rewrite, Compared::Layout));
    }
    if !context.is_apart() || (!context.accepted() && context.has_gradients()) {
        return None;
    }
    let relation = written(&mut rewrite, context, functional, target.dtype, target.shape().clone())?;
    Some((rewrite.program, relation))
}

pub(super) fn out(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let (step, info) = (context.step, context.step.op.info());
    // What reduces its own target reads all of it before it has a result.
    let reduces = matches!(info.family(), Family::Reductions | Family::Losses) && context.is_its_own_operand();
    // `where` has no `out=` form for numbers: they are tensors by then, which no conversion refuses.
    let numbers = step.op == Op::Where && step.args.iter().any(|arg| matches!(arg, Arg::Number(_)));
    if step.form != Form::Out || !(context.is_apart() || reduces) || context.has_gradients() || numbers {
        return None;
    }
    let target = context.target()?;
    let mut rewrite = Rewrite::before(context);
    let functional = Step { form: Form::Functional, out: None, ..step.clone() };
    let [result] = context.outcome.tensors() else {
        // Whether another dtype is refused is the operation's own.
        let relation = written(&mut rewrite, context, functional, target.dtype, target.shape().clone())?;
        return (info.family() == Family::Pointwise).then_some((rewrite.program, relation));
    };
    // What adds up in the dtype of its target has an argument for that dtype.
    let converts = info.family() == Family::Pointwise || step.op == Op::Logsumexp;
    if converts && result.shape == *target.shape() {
        let relation = written(&mut rewrite, context, functional, target.dtype, target.shape().clone())?;
        return Some((rewrite.program, relation));
    }
    rewrite.push(functional);
    // The functional form tells the dtype that it computes in, and no dtype is to be seen before it is run.
    Some(same(rewrite, Compared::ElementsOfOneDtype))
}

/// Adds the functional form, and a copy of the target with its result.
fn written(
    rewrite: &mut Rewrite,
    context: &StepContext,
    functional: Step,
    dtype: crate::tensor::DType,
    shape: crate::tensor::Shape,
) -> Option<OutputRelation> {
    if shape.numel() > LARGEST {
        return None;
    }
    let target = context.step.target()?;
    let computed = rewrite.push(functional);
    let at = rewrite.last();
    let copy = rewrite.add("copy", Op::Clone, vec![Arg::Tensor(target)]);
    let args = vec![Arg::Tensor(copy), Arg::Tensor(computed)];
    let name = format!("written{}", rewrite.program.steps.len());
    rewrite.push(Step { name, op: Op::Copy, form: Form::InPlace, args, out: None });
    Some(OutputRelation::Written { computed: at, copied: rewrite.last(), dtype, shape })
}

/// A step that writes to memory that it reads, or that several elements of the target share.
pub(super) fn aliased(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let (step, info) = (context.step, context.step.op.info());
    let computes = ![Family::Views, Family::Autograd, Family::Sizes, Family::FrontEnd].contains(&info.family());
    let has_functional = step.form != Form::Functional && info.forms.contains(&Form::Functional);
    if !computes || !has_functional || context.has_gradients() || context.is_apart() {
        return None;
    }
    if !context.accepted() {
        return misread(context);
    }
    // What the other rule for `out=` asks for.
    let reduces = matches!(info.family(), Family::Reductions | Family::Losses) && context.is_its_own_operand();
    let numbers = step.op == Op::Where && step.args.iter().any(|arg| matches!(arg, Arg::Number(_)));
    let known = step.uses().all(|used| context.known(used).is_some());
    let target = context.target()?;
    let [result] = context.outcome.tensors() else { return None };
    let resized = result.shape != *target.shape();
    if reduces || numbers || !known || (resized && step.form == Form::InPlace) {
        return None;
    }
    let mut rewrite = Rewrite::before(context);
    let functional = Step { form: Form::Functional, out: None, ..step.clone() };
    if step.form == Form::InPlace || (info.family() == Family::Pointwise && !resized) {
        let relation = written(&mut rewrite, context, functional, target.dtype, target.shape().clone())?;
        return Some((rewrite.program, relation));
    }
    rewrite.push(functional);
    Some(same(rewrite, Compared::ElementsOfOneDtype))
}

/// A rejection of shapes that the operands of the functional form do not have: the target was resized before they were read.
fn misread(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let Outcome::Rejected(rejected) = context.outcome else { return None };
    // What a target may be rejected for itself.
    let of_target =
        [Class::Overlap, Class::OutputShape, Class::Dtype, Class::Autograd, Class::View, Class::ImpossibleSize];
    if context.step.form != Form::Out || class_of(rejected).is_some_and(|class| of_target.contains(&class)) {
        return None;
    }
    if !context.step.uses().all(|used| context.known(used).is_some()) {
        return None;
    }
    let mut rewrite = Rewrite::before(context);
    rewrite.push(Step { form: Form::Functional, out: None, ..context.step.clone() });
    Some(same(rewrite, Compared::ElementsOfOneDtype))
}

pub(super) fn refused(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let Outcome::Rejected(_) = context.outcome else { return None };
    let target = context.step.target()?;
    if context.known(target)?.shape().numel() > LARGEST {
        return None;
    }
    let mut rewrite = Rewrite::before(context);
    rewrite.add("before", Op::Clone, vec![Arg::Tensor(target)]);
    let before = rewrite.last();
    rewrite.push(context.step.clone());
    rewrite.add("after", Op::Clone, vec![Arg::Tensor(target)]);
    let after = rewrite.last();
    Some((rewrite.program, OutputRelation::Unchanged { before, after }))
}
