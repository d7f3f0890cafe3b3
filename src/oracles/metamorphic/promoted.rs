//! Operands of different dtypes, converted by hand: type promotion by its definition.

use crate::ops::{Form, Op, ParamKind, Quirk};
use crate::program::{Arg, Input, Outcome, Program, Step, Value, ValueRef};
use crate::tensor::{Buffer, DType, Layout, Scalar, ScalarType, Shape};

use crate::metamorphic::gradient::are_tame;
use crate::metamorphic::judge::{Compared, OutputRelation};
use crate::metamorphic::step_context::{Rewrite, StepContext, elements};
use crate::metamorphic::synonym::{moved, with_input};

/// One follow-up for each input that promotion converts: of the step that is given it, or of the gradient through that step.
pub(super) fn promoted(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    let users: Vec<usize> = match context.step.op {
        Op::Backward => (0..context.at).collect(),
        Op::Grad if are_tame(context) && is_of_leaf(context) => (0..context.at).collect(),
        _ if context.accepted() && context.is_apart() => vec![context.at],
        _ => Vec::new(),
    };
    let of_user = |at: usize| {
        let user = StepContext::new(context.program, context.reply, at).filter(StepContext::accepted)?;
        let (common, converted) = conversions(&user)?;
        Some(converted.into_iter().filter_map(move |(number, value)| {
            let input = &user.program.inputs[value.value];
            if context.at != at && input.requires_grad {
                return None;
            }
            let (rewrite, at) = rewritten(context, at, number, in_dtype(input, common)?);
            Some((rewrite, OutputRelation::Same { at, compared: Compared::Elements }))
        }))
    };
    users.into_iter().filter_map(of_user).flatten().collect()
}

/// Follow-ups of the functions of dtypes.
pub(super) fn dtypes(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    let step = context.step;
    match (step.op, step.args.as_slice(), context.outcome) {
        (Op::ResultType, [a, b], Outcome::Value(Value::Dtype(common))) => {
            let mut sum = Rewrite::before(context);
            sum.add("sum", Op::Add, vec![a.clone(), b.clone(), Arg::Number(Scalar::Int(1))]);
            let of_dtypes = dimensioned(context).map(|[a, b]| of_two(Op::PromoteTypes, a, b));
            let is_run = step.uses().next().is_some() && common.dtype().is_some();
            is_run.then(|| agrees(sum)).into_iter().chain(of_dtypes).collect()
        }
        (Op::PromoteTypes, [Arg::ScalarType(a), Arg::ScalarType(b)], Outcome::Value(Value::Dtype(common))) => {
            let of_tensors = a.dtype().zip(b.dtype()).map(|(a, b)| {
                let mut operands = of_ones(&[a, b]);
                operands.add("common", Op::ResultType, vec![input(0), input(1)]);
                agrees(operands)
            });
            let others = [a, b]
                .into_iter()
                .flat_map(|one| [of_two(Op::PromoteTypes, *common, *one), of_two(Op::CanCast, *one, *common)]);
            others.chain(of_tensors).collect()
        }
        (Op::CanCast, [Arg::ScalarType(from), Arg::ScalarType(to)], Outcome::Value(_)) => {
            let written = from.dtype().zip(to.dtype()).map(|(from, to)| {
                let mut operands = of_ones(&[from, to]);
                let args = vec![input(0), input(0), Arg::Number(Scalar::Int(1))];
                let out = Some(ValueRef { value: 1, part: None });
                operands.push(Step { name: "sum".to_owned(), op: Op::Add, form: Form::Out, args, out });
                agrees(operands)
            });
            written.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn agrees(rewrite: Rewrite) -> (Program, OutputRelation) {
    let at = rewrite.last();
    (rewrite.program, OutputRelation::Agrees { at })
}

/// A program that asks a function about two dtypes.
fn of_two(op: Op, a: ScalarType, b: ScalarType) -> (Program, OutputRelation) {
    let mut rewrite = Rewrite { program: Program::default() };
    rewrite.add("asked", op, vec![Arg::ScalarType(a), Arg::ScalarType(b)]);
    agrees(rewrite)
}

/// The dtypes of the operands, if they are tensors with dimensions.
fn dimensioned(context: &StepContext) -> Option<[ScalarType; 2]> {
    let read = context.read()?;
    let [(_, a), (_, b)] = read.as_slice() else { return None };
    let all = a.shape().rank() > 0 && b.shape().rank() > 0;
    all.then(|| [a.dtype.into(), b.dtype.into()])
}

/// A program of inputs of one element, one of each dtype.
fn of_ones(dtypes: &[DType]) -> Rewrite {
    let one = |(at, dtype): (usize, &DType)| {
        let data = Buffer::from_scalars(*dtype, std::iter::once(Scalar::Bool(true)));
        let shape = Shape::of_sizes(vec![1]);
        let data = data.to_bytes(&Layout::contiguous(shape.clone()));
        Input { name: format!("x{at}"), dtype: *dtype, shape, data, requires_grad: false }
    };
    Rewrite { program: Program { inputs: dtypes.iter().enumerate().map(one).collect(), steps: Vec::new() } }
}

fn input(number: usize) -> Arg {
    Arg::Tensor(ValueRef { value: number, part: None })
}

/// Returns whether the step tells the gradient of an input.
fn is_of_leaf(context: &StepContext) -> bool {
    let leaf =
        matches!(context.step.args.first(), Some(Arg::Tensor(leaf)) if leaf.value < context.program.inputs.len());
    leaf && matches!(context.outcome, Outcome::Value(Value::Tensor(_)))
}

/// The dtype that the operands of an elementwise step are promoted to, with the inputs among them that have another, by the
/// numbers of their arguments. None where ranks or numbers take part in promotion, or where an operand has a dtype of its own.
fn conversions(user: &StepContext) -> Option<(DType, Vec<(usize, ValueRef)>)> {
    let step = user.step;
    let own = [Quirk::KeepsFirst, Quirk::KeepsSecond, Quirk::KeepsOwn];
    // The start and the end of an interpolation have one dtype, and are not promoted.
    let promotes = user.is_elementwise() && step.op != Op::Lerp;
    if step.form == Form::InPlace || !promotes || own.iter().any(|quirk| step.op.info().has(*quirk)) {
        return None;
    }
    let params = step.op.info().arguments;
    let read = user.read()?;
    let read: Vec<_> = read.into_iter().filter(|(number, _)| params[*number].name != "condition").collect();
    let common = read.iter().map(|(_, known)| known.dtype).reduce(DType::promote)?;
    let is_higher = |(number, arg): (usize, &Arg)| match arg {
        Arg::Number(value) => user.kind(number) == ParamKind::Operand && value.category() > common.category(),
        _ => false,
    };
    let scalars = read.iter().filter(|(_, known)| known.shape().rank() == 0).count();
    let by_rank = scalars > 0 && scalars < read.len();
    // What is rounded to 16 bits on the way, and what is not, is not said.
    let reduced = matches!(common, DType::Float16 | DType::Bfloat16) && step.op.info().has(Quirk::UnroundedSecond);
    if by_rank || reduced || step.args.iter().enumerate().any(is_higher) {
        return None;
    }
    let was_written = user.program.steps[..user.at].iter().any(|step| step.form != Form::Functional);
    let converted = read.into_iter().filter(|(_, known)| known.dtype != common);
    let converted = converted.filter_map(|(number, _)| match step.args[number] {
        Arg::Tensor(value) if value.value < user.program.inputs.len() && !was_written => Some((number, value)),
        _ => None,
    });
    Some((common, converted.collect()))
}

/// The input in another dtype; `None` if that does not hold each of its elements.
fn in_dtype(input: &Input, dtype: DType) -> Option<Input> {
    let own = elements(input);
    let data = Buffer::from_scalars(dtype, own.iter().copied());
    let holds = |(own, converted): (&Scalar, &Scalar)| parts(*own) == parts(*converted);
    if !own.iter().zip(&data.scalars()).all(holds) {
        return None;
    }
    let data = data.to_bytes(&Layout::contiguous(input.shape.clone()));
    Some(Input { name: "converted".to_owned(), dtype, data, requires_grad: false, ..input.clone() })
}

/// The real and the imaginary part. NaN is its own kind, and equals none.
fn parts(value: Scalar) -> (f64, f64) {
    match value {
        Scalar::Bool(value) => (f64::from(u8::from(value)), 0.0),
        // What a float does not hold is not converted, to be sure.
        Scalar::Int(value) if value.unsigned_abs() > 1 << 24 => (f64::NAN, 0.0),
        Scalar::Int(value) => (value as f64, 0.0),
        Scalar::Float(value) => (value, 0.0),
        Scalar::Complex(value) => (value.re, value.im),
    }
}

/// The steps up to that of the context, with another input in one place, and the number of the last.
fn rewritten(context: &StepContext, user: usize, number: usize, input: Input) -> (Program, usize) {
    let inputs = context.program.inputs.len();
    let (mut rewrite, converted) = with_input(context, input);
    let last: Step = moved(context.step.clone(), inputs);
    rewrite.push(last);
    rewrite.program.steps[user].args[number] = Arg::Tensor(converted);
    let at = rewrite.last();
    (rewrite.program, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_converted_exactly_or_not_at_all() {
        let input = |dtype, values: &[Scalar]| {
            let shape = crate::tensor::Shape::new(vec![values.len() as i64]).expect("a shape");
            let data = Buffer::from_scalars(dtype, values.iter().copied()).to_bytes(&Layout::contiguous(shape.clone()));
            Input { name: "x".to_owned(), dtype, shape, data, requires_grad: false }
        };
        let whole = input(DType::Int32, &[Scalar::Int(3), Scalar::Int(-2)]);
        let converted = in_dtype(&whole, DType::Float16).expect("3 and -2 are float16");
        assert_eq!(elements(&converted), [Scalar::Float(3.0), Scalar::Float(-2.0)]);
        assert!(in_dtype(&input(DType::Int32, &[Scalar::Int(2049)]), DType::Float16).is_none());
        let complex = in_dtype(&input(DType::Bool, &[Scalar::Bool(true)]), DType::Complex64).expect("1+0j");
        assert_eq!(complex.dtype, DType::Complex64);
    }
}
