//! One thing said in two ways.

use half::{bf16, f16};

use crate::ops::{Family, Form, Op, ParamKind, Quirk};
use crate::program::{Arg, Input, Program, Step, ValueRef};
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use crate::metamorphic::judge::{Compared, OutputRelation, same};
use crate::metamorphic::step_context::{Rewrite, StepContext};

/// One follow-up for each number that stands for a tensor.
pub(super) fn number(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    let info = context.step.op.info();
    let elementwise = info.family() == Family::Pointwise || context.step.op == Op::MaskedFill;
    if !context.accepted() || !elementwise || !context.is_apart() {
        return Vec::new();
    }
    (0..context.step.args.len()).filter_map(|number| as_tensor(context, number)).collect()
}

fn as_tensor(context: &StepContext, number: usize) -> Option<(Program, OutputRelation)> {
    let step = context.step;
    let Arg::Number(value) = step.args[number] else { return None };
    if !matches!(context.kind(number), ParamKind::Operand | ParamKind::Value) || !is_in_every_dtype(value) {
        return None;
    }
    // A condition or a mask has no part in promotion.
    let params = step.op.info().arguments;
    let others = step.args.iter().zip(params).filter(|(_, param)| !["condition", "mask"].contains(&param.name));
    let others = others.filter_map(|(arg, _)| if let Arg::Tensor(value) = arg { Some(*value) } else { None });
    let others: Vec<_> = others.map(|other| context.known(other)).collect::<Option<_>>()?;
    let decides = others.iter().find(|other| {
        other.shape().rank() > 0
            && other.dtype.category() >= value.category()
            && other.dtype.category() >= Category::Integral
    })?;
    // A number beside it that no dtype here can hold is converted as long as all are numbers, and promotes otherwise.
    let beyond = |arg: &Arg| matches!(arg, Arg::Number(other) if other.category() > decides.dtype.category());
    if step.args.iter().any(beyond) {
        return None;
    }
    // An operand that must have the dtype of the others has it.
    let alike = decides.dtype.category() == value.category();
    if step.op == Op::Lerp && !alike {
        return None;
    }
    let dtype = match value.category() {
        _ if alike => decides.dtype,
        Category::Bool => DType::Bool,
        Category::Integral => DType::Int64,
        Category::Floating => DType::Float64,
        Category::Complex => DType::Complex128,
    };
    let shape = Shape::scalar();
    let data = Buffer::from_scalars(dtype, std::iter::once(value)).to_bytes(&Layout::contiguous(shape.clone()));
    let input = Input { name: "number".to_owned(), dtype, shape, data, requires_grad: false };
    let (mut rewrite, tensor) = with_input(context, input);
    let mut last = moved(step.clone(), context.program.inputs.len());
    last.args[number] = Arg::Tensor(tensor);
    rewrite.push(last);
    Some(same(rewrite, Compared::Elements))
}

/// Returns whether each dtype of its category, and of higher ones, holds exactly this scalar.
fn is_in_every_dtype(number: Scalar) -> bool {
    let float = |value: f64| f16::from_f64(value).to_f64() == value && bf16::from_f64(value).to_f64() == value;
    match number {
        Scalar::Bool(_) => true,
        Scalar::Int(value) => (0..=127).contains(&value),
        Scalar::Float(value) => float(value),
        Scalar::Complex(value) => float(value.re) && float(value.im),
    }
}

/// The steps before, in a program with one more input.
pub(super) fn with_input(context: &StepContext, input: Input) -> (Rewrite, ValueRef) {
    let mut rewrite = Rewrite::before(context);
    let inputs = rewrite.program.inputs.len();
    for step in &mut rewrite.program.steps {
        *step = moved(step.clone(), inputs);
    }
    rewrite.program.inputs.push(input);
    (rewrite, ValueRef { value: inputs, part: None })
}

/// A step whose values have one more input before them.
pub(super) fn moved(mut step: Step, inputs: usize) -> Step {
    step.uses_mut().into_iter().for_each(|used| used.value += usize::from(used.value >= inputs));
    step
}

/// Returns equivalent programs, in which other calls replace the step.
pub(super) fn synonym(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let step = context.step;
    if step.form != Form::Functional {
        return None;
    }
    let (op, args, compared) = other_words(context)?;
    let mut rewrite = Rewrite::before(context);
    rewrite.push(Step { op, args, ..step.clone() });
    Some(same(rewrite, compared))
}

fn other_words(context: &StepContext) -> Option<(Op, Vec<Arg>, Compared)> {
    use Compared::{Elements, Layout};
    let (op, args) = (context.step.op, &context.step.args);
    let rank = |number: usize| match args[number] {
        Arg::Tensor(value) => context.known(value).map(|known| known.shape().rank()),
        _ => None,
    };
    let swapped = || [&[args[1].clone(), args[0].clone()], &args[2..]].concat();
    // Messages name the function, and what is wrong with the first operand is told first.
    let words = |op, args, compared| context.accepted().then_some((op, args, compared));
    match op {
        Op::Expand => words(Op::BroadcastTo, args.clone(), Layout),
        Op::BroadcastTo => words(Op::Expand, args.clone(), Layout),
        Op::ExpandAs => {
            let Arg::Tensor(other) = args[1] else { return None };
            let sizes = context.known(other)?.sizes().to_vec();
            words(Op::Expand, vec![args[0].clone(), Arg::Ints(sizes)], Layout)
        }
        Op::ViewAs | Op::ReshapeAs => {
            let Arg::Tensor(other) = args[1] else { return None };
            let sizes = context.known(other)?.sizes().to_vec();
            let op = if op == Op::ViewAs { Op::View } else { Op::Reshape };
            words(op, vec![args[0].clone(), Arg::Ints(sizes)], Layout)
        }
        Op::Transpose => words(Op::Swapaxes, args.clone(), Layout),
        Op::Swapaxes => words(Op::Swapdims, args.clone(), Layout),
        Op::Swapdims => words(Op::Transpose, args.clone(), Layout),
        Op::Movedim => words(Op::Moveaxis, args.clone(), Layout),
        Op::Moveaxis => words(Op::Movedim, args.clone(), Layout),
        Op::T if rank(0)? == 2 => words(Op::Transpose, vec![args[0].clone(), Arg::Int(0), Arg::Int(1)], Layout),
        Op::PromoteTypes | Op::ResultType => Some((op, swapped(), Elements)),
        Op::Outer => words(Op::Ger, args.clone(), Elements),
        Op::Ger => words(Op::Outer, args.clone(), Elements),
        Op::Rsub => words(Op::Sub, swapped(), Elements),
        Op::Lt => words(Op::Gt, swapped(), Elements),
        Op::Gt => words(Op::Lt, swapped(), Elements),
        Op::Le => words(Op::Ge, swapped(), Elements),
        Op::Ge => words(Op::Le, swapped(), Elements),
        op if op.info().has(Quirk::Commutes) => words(op, swapped(), Elements),
        Op::FloorDivide => {
            let floor = Arg::Text("floor".to_owned());
            words(Op::Div, vec![args[0].clone(), args[1].clone(), floor], Elements)
        }
        Op::ClampMin => words(Op::Clamp, vec![args[0].clone(), args[1].clone(), Arg::Nothing], Elements),
        Op::ClampMax => words(Op::Clamp, vec![args[0].clone(), Arg::Nothing, args[1].clone()], Elements),
        Op::Mm | Op::Bmm | Op::Dot | Op::Mv => words(Op::Matmul, args.clone(), Elements),
        Op::Matmul => match (rank(0)?, rank(1)?) {
            (1, 1) => words(Op::Dot, args.clone(), Elements),
            (2, 1) => words(Op::Mv, args.clone(), Elements),
            (2, 2) => words(Op::Mm, args.clone(), Elements),
            _ => None,
        },
        _ => None,
    }
}
