//! The default of an argument, written out or written otherwise.

use crate::ops::{Family, Form, Op, Param, ParamDefault, ParamKind};
use crate::program::{Arg, Input, Program};
use crate::tensor::{Buffer, Category, Layout, Scalar, Shape};

use crate::metamorphic::judge::{Compared, OutputRelation, same};
use crate::metamorphic::step_context::{Rewrite, StepContext};
use crate::metamorphic::synonym::{moved, with_input};

/// One follow-up for each argument that can be written otherwise.
pub(super) fn written_out(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    if !context.is_apart() {
        return Vec::new();
    }
    let params = context.step.op.info().arguments;
    let mut made: Vec<(Program, OutputRelation)> = Vec::new();
    for (number, param) in params.iter().enumerate().take(context.step.args.len()) {
        // What a number may be is another matter than which dimensions are meant.
        if !context.accepted() && param.kind != ParamKind::Dims {
            continue;
        }
        for (number, arg) in others(context, number, param) {
            let mut rewrite = Rewrite::before(context);
            let mut last = context.step.clone();
            // Both names of the same choice are not given together.
            if param.name == "correction" {
                last.args[2] = Arg::Nothing;
            }
            last.args[number] = arg;
            rewrite.push(last);
            made.push(same(rewrite, Compared::Elements));
        }
    }
    if context.accepted() {
        made.extend(weight(context));
    }
    made
}

/// The ways to say what an argument says, with the number of the argument that says it.
fn others(context: &StepContext, number: usize, param: &Param) -> Vec<(usize, Arg)> {
    let reduces = context.step.op.info().family() == Family::Reductions;
    let given = &context.step.args[number];
    match (param.kind, given) {
        (ParamKind::Number | ParamKind::Real, Arg::Number(value))
            if is_default(param, *value) && is_floating(context) =>
        {
            otherwise(*value).into_iter().map(|value| (number, Arg::Number(value))).collect()
        }
        (ParamKind::Number, _) if param.name == "correction" => correction(context, number),
        (ParamKind::Dims, Arg::Int(dim)) if reduces => vec![(number, Arg::Ints(vec![*dim]))],
        (ParamKind::Dims, Arg::Ints(dims)) if reduces && dims.len() == 1 => vec![(number, Arg::Int(dims[0]))],
        (ParamKind::Dims, Arg::Nothing) if reduces => every_dimension(context, number),
        (ParamKind::Int, Arg::Nothing) if reduces && context.step.form == Form::Functional => {
            if rank(context) == 1 {
                vec![(number, Arg::Int(0))]
            } else {
                Vec::new()
            }
        }
        (ParamKind::Dtype, Arg::Nothing) if reduces && context.step.form == Form::Functional => {
            own_dtype(context, number)
        }
        _ => Vec::new(),
    }
}

fn is_default(param: &Param, value: Scalar) -> bool {
    let default = match param.default {
        Some(ParamDefault::Number(default)) => default as f64,
        Some(ParamDefault::Real(default)) => default,
        _ => return false,
    };
    match value {
        Scalar::Int(value) => value as f64 == default,
        // The negative of a default of zero is another number, of which an integer has none.
        Scalar::Float(value) => value.to_bits() == default.to_bits(),
        Scalar::Bool(_) | Scalar::Complex(_) => false,
    }
}

/// Returns whether every tensor of the step takes a scalar of either kind, and there is one among the operands: integers reject
/// a factor that is a float.
fn is_floating(context: &StepContext) -> bool {
    let mut known = context.step.uses().map(|used| context.known(used));
    context.step.args.iter().any(|arg| matches!(arg, Arg::Tensor(_)))
        && known.all(|known| known.is_some_and(|known| known.dtype.category() >= Category::Floating))
}

/// The same number as a float, or as an integer.
fn otherwise(value: Scalar) -> Option<Scalar> {
    match value {
        Scalar::Int(value) => Some(Scalar::Float(value as f64)),
        Scalar::Float(value) if value.fract() == 0.0 => Some(Scalar::Int(value as i64)),
        _ => None,
    }
}

/// The degrees of freedom that a variance loses: 1 if nothing is said, and if `unbiased` is true.
fn correction(context: &StepContext, number: usize) -> Vec<(usize, Arg)> {
    let args = &context.step.args;
    let Some(unbiased) = context.step.op.info().arguments.iter().position(|param| param.name == "unbiased") else {
        return Vec::new();
    };
    let one = || (number, Arg::Number(Scalar::Int(1)));
    match (&args[number], &args[unbiased]) {
        (Arg::Nothing, Arg::Nothing) => vec![one(), (unbiased, Arg::Flag(true))],
        (Arg::Number(value), Arg::Nothing) if *value == Scalar::Int(1) => {
            vec![(number, Arg::Nothing), (unbiased, Arg::Flag(true))]
        }
        (Arg::Number(value), Arg::Nothing) if *value == Scalar::Int(0) => vec![(unbiased, Arg::Flag(false))],
        _ => Vec::new(),
    }
}

/// All dimensions by their numbers.
fn every_dimension(context: &StepContext, number: usize) -> Vec<(usize, Arg)> {
    // An empty list may stand for none.
    let rank = rank(context);
    if rank == 0 { Vec::new() } else { vec![(number, Arg::Ints((0..rank as i64).collect()))] }
}

/// The number of dimensions of the first operand.
fn rank(context: &StepContext) -> usize {
    let Some(Arg::Tensor(operand)) = context.step.args.first() else { return 0 };
    context.known(*operand).map_or(0, |known| known.shape().rank())
}

/// The dtype that the result has anyway.
fn own_dtype(context: &StepContext, number: usize) -> Vec<(usize, Arg)> {
    let Some(Arg::Tensor(operand)) = context.step.args.first() else { return Vec::new() };
    let (Some(operand), [result]) = (context.known(*operand), context.outcome.tensors()) else { return Vec::new() };
    // The dtype of a norm is that of its operand, which is complex where the result is real.
    let real = operand.dtype.category() == Category::Complex && result.dtype.category() != Category::Complex;
    if real { Vec::new() } else { vec![(number, Arg::Dtype(result.dtype))] }
}

/// A weight of one in place of none: a product with one is exact.
fn weight(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let number = context.step.op.info().arguments.iter().position(|param| param.name == "weight")?;
    let of_loss = context.step.op == Op::BinaryCrossEntropyWithLogits;
    let (true, Some(Arg::Nothing), Some(Arg::Tensor(operand))) =
        (of_loss, context.step.args.get(number), context.step.args.first())
    else {
        return None;
    };
    let dtype = context.known(*operand)?.dtype;
    let shape = Shape::scalar();
    let data =
        Buffer::from_scalars(dtype, std::iter::once(Scalar::Int(1))).to_bytes(&Layout::contiguous(shape.clone()));
    let input = Input { name: "weight".to_owned(), dtype, shape, data, requires_grad: false };
    let (mut rewrite, tensor) = with_input(context, input);
    let mut last = moved(context.step.clone(), context.program.inputs.len());
    last.args[number] = Arg::Tensor(tensor);
    rewrite.push(last);
    Some(same(rewrite, Compared::Elements))
}
