//! Broadcasting by its definition: the same program with operands that have been expanded and copied by hand.
//!
//! [`by_hand`] only rewrites; whether both programs come to the same elements is for an oracle to ask.

use crate::ops::{Form, Op, ParamKind, Quirk};
use crate::program::{Arg, Outcome, Program, Reply, Step, ValueRef};
use crate::tensor::{DType, Scalar};

/// For a step that combines operands element by element into a new tensor: the program up to it, with each operand
/// expanded to the result's shape and copied first. The last step of it is the operation itself, and its elements
/// should be those that `reply` has for step `at`, bit for bit.
///
/// `None` for other steps, for refused ones, and where the definition does not hold: a tensor without dimensions has a
/// lower rank in type promotion, which it would lose by expansion.
pub fn by_hand(program: &Program, reply: &Reply, at: usize) -> Option<Program> {
    let step = program.steps.get(at)?;
    let [result] = reply.steps.get(at)?.outcome.tensors() else { return None };
    // Numbers stand for tensors only where elements are combined.
    let elementwise = step.op.info().signature.params().iter().any(|param| param.kind == ParamKind::Operand);
    // An `out=` tensor may have been resized since the reply told its shape.
    let resized = program.steps[..at].iter().any(|step| step.form == Form::Out);
    if !elementwise || step.form != Form::Functional || resized {
        return None;
    }
    let operands: Vec<(DType, usize)> = step.uses().map(|used| facts(program, reply, used)).collect::<Option<_>>()?;
    let promotion_is_by_rank = operands.iter().any(|(_, rank)| *rank == 0);
    if promotion_is_by_rank && operands.iter().any(|(dtype, _)| *dtype != operands[0].0) {
        return None;
    }
    // A second operand of one element is not rounded to the dtype that it meets, and an expanded one is.
    let reduced = matches!(result.dtype, DType::Float16 | DType::Bfloat16);
    if reduced && step.op.info().has(Quirk::UnroundedSecond) && operands.iter().any(|(dtype, _)| *dtype != result.dtype)
    {
        return None;
    }

    let mut program = Program { inputs: program.inputs.clone(), steps: program.steps[..at].to_vec() };
    let sizes = result.shape.sizes().to_vec();
    let mut last = step.clone();
    for (number, arg) in last.args.iter_mut().enumerate() {
        let Arg::Tensor(operand) = arg else { continue };
        let expanded = push(
            &mut program,
            format!("expanded{number}"),
            Op::Expand,
            vec![Arg::Tensor(*operand), Arg::Ints(sizes.clone())],
        );
        let copied = push(&mut program, format!("copied{number}"), Op::Contiguous, vec![Arg::Tensor(expanded)]);
        *operand = copied;
    }
    program.steps.push(last);
    Some(program)
}

fn push(program: &mut Program, name: String, op: Op, args: Vec<Arg>) -> ValueRef {
    program.steps.push(Step { name, op, form: Form::Functional, args, out: None });
    ValueRef { value: program.inputs.len() + program.steps.len() - 1, part: None }
}

/// The dtype and the rank of a tensor.
fn facts(program: &Program, reply: &Reply, value: ValueRef) -> Option<(DType, usize)> {
    if let Some(input) = program.inputs.get(value.value) {
        return Some((input.dtype, input.shape.rank()));
    }
    let outcome = &reply.steps.get(value.value - program.inputs.len())?.outcome;
    let tensor = outcome.tensors().get(value.part.unwrap_or(0))?;
    Some((tensor.dtype, tensor.shape.rank()))
}

/// Where the last step of a program that was made [`by_hand`] came to something else than the step that it is made of;
/// `None` where they agree. Any NaN equals any NaN.
pub fn difference(broadcast: &Outcome, by_hand: &Reply) -> Option<String> {
    let by_hand = by_hand.steps.last().map(|step| &step.outcome);
    let (Some(by_hand), [wanted]) = (by_hand, broadcast.tensors()) else { return Some("no outcome".to_owned()) };
    let [got] = by_hand.tensors() else { return Some(format!("{by_hand:?}")) };
    let same = (wanted.dtype, &wanted.shape) == (got.dtype, &got.shape)
        && (wanted.data == got.data || wanted.scalars().iter().zip(got.scalars()).all(|(a, b)| same(*a, b)));
    (!same).then(|| format!("{got:?} is not {wanted:?}"))
}

fn same(a: Scalar, b: Scalar) -> bool {
    let float = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => float(a, b),
        (Scalar::Complex(a), Scalar::Complex(b)) => float(a.re, b.re) && float(a.im, b.im),
        (a, b) => a == b,
    }
}
