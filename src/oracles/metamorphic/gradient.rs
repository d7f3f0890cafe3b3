//! Gradients of what was broadcast.

use crate::ops::{Form, Op};
use crate::program::{Arg, Input, Outcome, Program, Step, Value, ValueRef};
use crate::tensor::{Buffer, Layout, Scalar, Shape};

use crate::metamorphic::LARGEST;
use crate::metamorphic::broadcast::expansions;
use crate::metamorphic::judge::{Compared, OutputRelation, same};
use crate::metamorphic::step_context::{Rewrite, StepContext, elements, small, within};
use crate::metamorphic::synonym::{moved, with_input};

/// The largest magnitude of which gradients are compared.
const LARGE: f64 = 1e4;

/// One follow-up for each place where a leaf is broadcast, if the step asks for its gradient, or for gradients in vain.
pub(super) fn gradient(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    if let (Op::Backward, Outcome::Rejected(_)) = (context.step.op, context.outcome) {
        return refused(context);
    }
    let Some(leaf) = leaf(context) else { return Vec::new() };
    if !are_tame(context) {
        return Vec::new();
    }
    places(context, leaf).into_iter().filter_map(|(at, place)| rewritten(context, leaf, at, place)).collect()
}

/// Returns whether no number of the program is so large that the order of a sum decides what is lost of others.
pub(super) fn are_tame(context: &StepContext) -> bool {
    context.program.inputs.iter().all(|input| within(LARGE, &elements(input)))
        && context.reply.steps.iter().flat_map(|step| step.outcome.tensors()).all(|made| small(LARGE, made))
}

/// The same program with an expansion for a leaf in the one place where it is used and broadcast: there are gradients of
/// both, or of neither.
fn refused(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    let leaves = context.program.inputs.iter().enumerate().filter(|(_, input)| input.requires_grad);
    let leaves = leaves.map(|(value, _)| ValueRef { value, part: None });
    let once = |leaf: &ValueRef| {
        let used = |step: &Step| step.op != Op::Grad && step.uses().any(|used| used.value == leaf.value);
        context.program.steps.iter().take(context.at).filter(|step| used(step)).count() == 1
    };
    let rewritten = |leaf: ValueRef| {
        let [(user, place)] = <[_; 1]>::try_from(places(context, leaf)).ok()?;
        let mut rewrite = with_expanded(context, leaf, user, &place)?.0;
        rewrite.push(moved(context.step.clone(), context.program.inputs.len()));
        Some(same(rewrite, Compared::Elements))
    };
    leaves.filter(once).filter_map(rewritten).collect()
}

/// Returns the places where a leaf is broadcast, with the number of the step.
fn places(context: &StepContext, leaf: ValueRef) -> Vec<(usize, Place)> {
    let users = context.program.steps.iter().enumerate().take(context.at);
    let users = users.filter(|(_, step)| step.form == Form::Functional && step.uses().any(|used| used == leaf));
    users.flat_map(|(at, _)| broadcast(context, at, leaf).into_iter().map(move |place| (at, place))).collect()
}

/// The input of which the step tells the gradient.
fn leaf(context: &StepContext) -> Option<ValueRef> {
    let (Op::Grad, Arg::Tensor(leaf)) = (context.step.op, context.step.args.first()?) else { return None };
    let input = context.program.inputs.get(leaf.value)?;
    let backward = context.program.steps.iter().filter(|step| step.op == Op::Backward).count();
    match context.outcome {
        Outcome::Value(Value::Tensor(gradient)) if gradient.shape == input.shape && backward == 1 => Some(*leaf),
        _ => None,
    }
}

/// An operand of a step that is broadcast, and the sizes that it is broadcast to.
struct Place {
    argument: usize,
    part: Option<usize>,
    sizes: Vec<i64>,
}

fn broadcast(context: &StepContext, at: usize, leaf: ValueRef) -> Vec<Place> {
    let Some(user) = StepContext::new(context.program, context.reply, at).filter(StepContext::accepted) else {
        return Vec::new();
    };
    if [Op::Expand, Op::BroadcastTo, Op::ExpandAs].contains(&user.step.op) {
        let result = user.outcome.tensors().first().map(|result| result.shape.sizes().to_vec());
        let own = matches!(user.step.args[0], Arg::Tensor(value) if value == leaf);
        let place = result.filter(|_| own).map(|sizes| Place { argument: 0, part: None, sizes });
        return place.into_iter().collect();
    }
    let expansions = expansions(&user).unwrap_or_default().into_iter();
    let places = expansions.filter(|expansion| match (&user.step.args[expansion.argument], expansion.part) {
        (Arg::Tensor(value), None) => *value == leaf,
        (Arg::Tensors(values), Some(part)) => values[part] == leaf,
        _ => false,
    });
    places.map(|found| Place { argument: found.argument, part: found.part, sizes: found.sizes }).collect()
}

/// The same program with an expansion of the leaf in one place, which is a leaf of its own: its gradient, summed to the
/// size, is what that place adds to the gradient.
fn rewritten(context: &StepContext, leaf: ValueRef, user: usize, place: Place) -> Option<(Program, OutputRelation)> {
    let (inputs, input) = (context.program.inputs.len(), &context.program.inputs[leaf.value]);
    let (mut rewrite, expanded) = with_expanded(context, leaf, user, &place)?;
    let others = rewrite.program.steps.iter().filter(|step| step.op != Op::Grad);
    let elsewhere = others.flat_map(|step| step.uses()).any(|used| used == leaf);
    let own = rewrite.push(moved(context.step.clone(), inputs));
    let gradient = rewrite.add("gradient", Op::Grad, vec![Arg::Tensor(expanded)]);
    let sizes = input.shape.sizes().to_vec();
    let summed = rewrite.add("summed", Op::SumToSize, vec![Arg::Tensor(gradient), Arg::Ints(sizes)]);
    if elsewhere {
        let one = Arg::Number(Scalar::Int(1));
        rewrite.add("together", Op::Add, vec![Arg::Tensor(own), Arg::Tensor(summed), one]);
    }
    Some(same(rewrite, Compared::Elements))
}

/// The steps before, with an expansion of the leaf in one place, which is a leaf of its own.
fn with_expanded(context: &StepContext, leaf: ValueRef, user: usize, place: &Place) -> Option<(Rewrite, ValueRef)> {
    let input = &context.program.inputs[leaf.value];
    let shape = Shape::new(place.sizes.clone()).ok();
    let shape = shape.filter(|shape| shape.numel() <= LARGEST && shape != &input.shape)?;
    let layout = Layout::contiguous(input.shape.clone()).expand(&shape)?;
    let data = Buffer::from_bytes(input.dtype, &input.data)?.to_bytes(&layout);
    let expanded = Input { name: "expanded".to_owned(), shape, data, ..input.clone() };
    let (mut rewrite, expanded) = with_input(context, expanded);
    match (&mut rewrite.program.steps[user].args[place.argument], place.part) {
        (Arg::Tensor(operand), None) => *operand = expanded,
        (Arg::Tensors(operands), Some(part)) => operands[part] = expanded,
        _ => return None,
    }
    Some((rewrite, expanded))
}
