//! Dimensions in another order, or one more of them: an elementwise operation knows nothing of their order or number.

use crate::ops::{Form, Op};
use crate::program::{Arg, Outcome, Program, Step, Value, ValueRef};

use crate::metamorphic::judge::{Compared, OutputRelation, same};
use crate::metamorphic::step_context::{Facts, Rewrite, StepContext};

/// The most dimensions of operands that are viewed otherwise: libtorch's limits on rank are another matter.
const MAX_RANK: usize = 16;

/// The step on operands whose dimensions are in reverse order, and its result turned back.
pub(super) fn permuted(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    on_views(context, |rewrite, tensor, known, rank| {
        let mut value = tensor;
        for _ in known.shape().rank()..rank {
            value = rewrite.add("aligned", Op::Unsqueeze, vec![Arg::Tensor(value), Arg::Int(0)]);
        }
        reversed(rewrite, value, rank)
    })
    .filter(|(_, _, rank)| *rank > 1)
    .map(|(mut rewrite, result, rank)| {
        reversed(&mut rewrite, result, rank);
        same(rewrite, Compared::Elements)
    })
    .into_iter()
    .collect()
}

/// The step on operands with one more dimension of size 1 in front, and the only part of its result.
pub(super) fn batched(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    on_views(context, |rewrite, tensor, known, rank| {
        let mut value = tensor;
        for _ in known.shape().rank()..=rank {
            value = rewrite.add("in_front", Op::Unsqueeze, vec![Arg::Tensor(value), Arg::Int(0)]);
        }
        value
    })
    .map(|(mut rewrite, result, _)| {
        rewrite.add("only", Op::Select, vec![Arg::Tensor(result), Arg::Int(0), Arg::Int(0)]);
        same(rewrite, Compared::Elements)
    })
    .into_iter()
    .collect()
}

/// A tensor without dimensions as one of one element, next to another of the same dtype that has dimensions.
pub(super) fn one_element(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    let Some(read) = elementwise(context) else { return Vec::new() };
    // The condition of where takes no part in promotion.
    let promoted = || read.iter().filter(|(number, _)| context.step.op != Op::Where || *number > 0);
    let decides = |known: &Facts| promoted().any(|(_, other)| other.shape().rank() > 0 && other.dtype == known.dtype);
    let scalars = read.iter().filter(|(_, known)| known.shape().rank() == 0 && decides(known));
    let made = scalars.map(|(number, _)| {
        let mut rewrite = Rewrite::before(context);
        let mut last = context.step.clone();
        let Arg::Tensor(value) = last.args[*number] else { unreachable!("only tensors are read") };
        let one = rewrite.add("one", Op::Unsqueeze, vec![Arg::Tensor(value), Arg::Int(0)]);
        last.args[*number] = Arg::Tensor(one);
        rewrite.push(last);
        same(rewrite, Compared::Elements)
    });
    made.collect()
}

/// A reduction with the other choice of `keepdim`, in the shape of the step's result.
pub(super) fn kept(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let number = context.step.op.info().arguments.iter().position(|param| param.name == "keepdim")?;
    let Arg::Flag(keeps) = context.step.args[number] else { return None };
    // Without a dimension there is no `prod` that keeps dimensions.
    let all = context.step.op == Op::Prod && matches!(context.step.args[1], Arg::Nothing);
    if context.step.form != Form::Functional || all {
        return None;
    }
    let mut rewrite = Rewrite::before(context);
    let mut other = context.step.clone();
    other.args[number] = Arg::Flag(!keeps);
    let result = rewrite.push(other);
    match context.outcome {
        Outcome::Value(Value::Tensor(own)) => {
            let sizes = Arg::Ints(own.shape.sizes().to_vec());
            rewrite.add("as_it_is", Op::Reshape, vec![Arg::Tensor(result), sizes]);
            Some(same(rewrite, Compared::Elements))
        }
        _ => {
            let at = rewrite.last();
            Some((rewrite.program, OutputRelation::Alike { at, shape: false }))
        }
    }
}

/// Tensors that are read, by the numbers of their arguments, where an accepted functional step combines them element by
/// element into one tensor.
fn elementwise(context: &StepContext) -> Option<Vec<(usize, Facts)>> {
    let one = matches!(context.outcome, Outcome::Value(Value::Tensor(_)));
    (one && context.step.form == Form::Functional && context.is_elementwise()).then(|| context.read()).flatten()
}

/// The step on what `view` makes of its operands, with the rank of the result. Tensors without dimensions stay as they are,
/// since they count less in type promotion.
fn on_views(
    context: &StepContext,
    view: impl Fn(&mut Rewrite, ValueRef, &Facts, usize) -> ValueRef,
) -> Option<(Rewrite, ValueRef, usize)> {
    let read = elementwise(context)?;
    let sizes: Vec<&[i64]> = read.iter().map(|(_, known)| known.sizes()).collect();
    let rank = sizes.iter().map(|sizes| sizes.len()).max().filter(|rank| (1..MAX_RANK).contains(rank))?;
    let mut rewrite = Rewrite::before(context);
    let mut last: Step = context.step.clone();
    for (number, known) in &read {
        let (Arg::Tensor(value), true) = (&last.args[*number], known.shape().rank() > 0) else { continue };
        let made = view(&mut rewrite, *value, known, rank);
        last.args[*number] = Arg::Tensor(made);
    }
    let result = rewrite.push(last);
    Some((rewrite, result, rank))
}

fn reversed(rewrite: &mut Rewrite, value: ValueRef, rank: usize) -> ValueRef {
    let dims = (0..rank as i64).rev().collect();
    rewrite.add("reversed", Op::Permute, vec![Arg::Tensor(value), Arg::Ints(dims)])
}
