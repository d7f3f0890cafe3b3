//! The forms of an operation by its functional form, and what a refusal leaves behind.

use crate::error::Class;
use crate::ops::{Family, Form, Op};
use crate::program::{Arg, Outcome, Program, Step};

use super::super::expect::class_of;
use super::LARGEST;
use super::judge::{Claim, Compared};
use super::scene::{Rewrite, Scene};

pub(super) fn in_place(scene: &Scene) -> Vec<(Program, Claim)> {
    let rewritten = || {
        let (step, info) = (scene.step, scene.step.op.info());
        if step.form != Form::InPlace || !info.forms.contains(&Form::Functional) {
            return None;
        }
        let target = scene.target()?;
        let mut rewrite = Rewrite::before(scene);
        let functional = Step { form: Form::Functional, ..step.clone() };
        if info.family() == Family::Views {
            rewrite.push(functional);
            let at = rewrite.last();
            // A leaf refuses to become its own view.
            let applies = scene.accepted() || !scene.has_gradients();
            return applies.then_some((rewrite.program, Claim::Same { at, compared: Compared::Layout }));
        }
        if !scene.is_apart() || (!scene.accepted() && scene.has_gradients()) {
            return None;
        }
        let claim = written(&mut rewrite, scene, functional, target.dtype, target.shape().clone())?;
        Some((rewrite.program, claim))
    };
    rewritten().into_iter().collect()
}

pub(super) fn out(scene: &Scene) -> Vec<(Program, Claim)> {
    let rewritten = || {
        let (step, info) = (scene.step, scene.step.op.info());
        // What reduces its own target reads all of it before it has a result.
        let reduces = matches!(info.family(), Family::Reductions | Family::Losses) && scene.is_its_own_operand();
        // `where` has no `out=` form for numbers: they are tensors by then, which no conversion refuses.
        let numbers = step.op == Op::Where && step.args.iter().any(|arg| matches!(arg, Arg::Number(_)));
        if step.form != Form::Out || !(scene.is_apart() || reduces) || scene.has_gradients() || numbers {
            return None;
        }
        let target = scene.target()?;
        let mut rewrite = Rewrite::before(scene);
        let functional = Step { form: Form::Functional, out: None, ..step.clone() };
        let [result] = scene.outcome.tensors() else {
            // Whether another dtype is refused is the operation's own.
            let claim = written(&mut rewrite, scene, functional, target.dtype, target.shape().clone())?;
            return (info.family() == Family::Pointwise).then_some((rewrite.program, claim));
        };
        if info.family() == Family::Pointwise && result.shape == *target.shape() {
            let claim = written(&mut rewrite, scene, functional, target.dtype, target.shape().clone())?;
            return Some((rewrite.program, claim));
        }
        rewrite.push(functional);
        let at = rewrite.last();
        // The functional form tells the dtype that it computes in, and no dtype is to be seen before it is run.
        Some((rewrite.program, Claim::Same { at, compared: Compared::ElementsOfOneDtype }))
    };
    rewritten().into_iter().collect()
}

/// Adds the functional form, and a copy of the target with its result.
fn written(
    rewrite: &mut Rewrite,
    scene: &Scene,
    functional: Step,
    dtype: crate::tensor::DType,
    shape: crate::tensor::Shape,
) -> Option<Claim> {
    if shape.numel() > LARGEST {
        return None;
    }
    let target = scene.step.target()?;
    let computed = rewrite.push(functional);
    let at = rewrite.last();
    let copy = rewrite.add("copy", Op::Clone, vec![Arg::Tensor(target)]);
    let args = vec![Arg::Tensor(copy), Arg::Tensor(computed)];
    let name = format!("written{}", rewrite.program.steps.len());
    rewrite.push(Step { name, op: Op::Copy, form: Form::InPlace, args, out: None });
    Some(Claim::Written { computed: at, copied: rewrite.last(), dtype, shape })
}

pub(super) fn refused(scene: &Scene) -> Vec<(Program, Claim)> {
    let rewritten = || {
        let Outcome::Rejected(rejected) = scene.outcome else { return None };
        let target = scene.step.target()?;
        let known = scene.known(target)?;
        let out = scene.step.form == Form::Out;
        // A product copies its summand first, and what is indexed is written element by element.
        let family = scene.step.op.info().family();
        let in_part = [Class::ZeroDivision, Class::ItemCount, Class::Dimension].map(Some).contains(&class_of(rejected));
        let begun = out && [Family::Products, Family::Losses].contains(&family);
        let indexed = family == Family::Indexing && (out || in_part);
        if begun || indexed || class_of(rejected) == Some(Class::ZeroDivision) || known.shape().numel() > LARGEST {
            return None;
        }
        let mut rewrite = Rewrite::before(scene);
        rewrite.add("before", Op::Clone, vec![Arg::Tensor(target)]);
        let before = rewrite.last();
        rewrite.push(scene.step.clone());
        rewrite.add("after", Op::Clone, vec![Arg::Tensor(target)]);
        let after = rewrite.last();
        Some((rewrite.program, Claim::Unchanged { before, after }))
    };
    rewritten().into_iter().collect()
}
