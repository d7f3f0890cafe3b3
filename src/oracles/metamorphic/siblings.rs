//! What must not decide whether a call is accepted: which of several siblings it is, and how long an unrelated dimension is.

use crate::difference::class_of;
use crate::error::Class;
use crate::ops::{Form, Kernel, Op, Param};
use crate::program::{Arg, Input, Outcome, Program, Step, ValueRef};
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use crate::metamorphic::LARGEST;
use crate::metamorphic::judge::OutputRelation;
use crate::metamorphic::step_context::{Facts, Rewrite, StepContext};

/// Operations that take the same arguments, and differ in nothing but the function of the elements.
const SIBLINGS: &[&[Op]] = &[
    &[Op::Eq, Op::Ne],
    &[Op::Lt, Op::Le, Op::Gt, Op::Ge],
    &[Op::Maximum, Op::Minimum],
    &[Op::Fmax, Op::Fmin],
    &[Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor],
    &[Op::BitwiseLeftShift, Op::BitwiseRightShift],
    &[Op::LogicalAnd, Op::LogicalOr, Op::LogicalXor],
    &[Op::Gcd, Op::Lcm],
    &[Op::Remainder, Op::Fmod],
    &[Op::Logaddexp, Op::Logaddexp2],
    &[Op::Xlogy, Op::SpecialXlog1py],
    &[Op::Igamma, Op::Igammac],
    &[Op::ClampMin, Op::ClampMax],
    &[
        Op::SpecialChebyshevPolynomialT,
        Op::SpecialChebyshevPolynomialU,
        Op::SpecialChebyshevPolynomialV,
        Op::SpecialChebyshevPolynomialW,
        Op::SpecialShiftedChebyshevPolynomialT,
        Op::SpecialShiftedChebyshevPolynomialU,
        Op::SpecialShiftedChebyshevPolynomialV,
        Op::SpecialShiftedChebyshevPolynomialW,
        Op::SpecialHermitePolynomialH,
        Op::SpecialHermitePolynomialHe,
        Op::SpecialLaguerrePolynomialL,
        Op::SpecialLegendrePolynomialP,
    ],
    &[Op::Amax, Op::Amin],
    &[Op::Argmax, Op::Argmin],
    &[Op::Max, Op::Min],
    &[Op::Cummax, Op::Cummin],
    &[Op::Cumsum, Op::Cumprod],
    &[Op::Median, Op::Nanmedian],
    &[Op::Quantile, Op::Nanquantile],
    &[Op::All, Op::Any],
    &[Op::Var, Op::Std],
    &[Op::VarMean, Op::StdMean],
    &[Op::MseLoss, Op::L1Loss],
];

/// Comparisons, which take the same real operands.
const COMPARISONS: &[Op] = &[Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];

/// Losses of a difference, which broadcast.
const DIFFERENCES: &[Op] = &[Op::MseLoss, Op::L1Loss, Op::SmoothL1Loss, Op::HuberLoss];

/// All losses of an input and a target, which take the same floats of one dtype and shape.
const LOSSES: &[Op] = &[
    Op::MseLoss,
    Op::L1Loss,
    Op::SmoothL1Loss,
    Op::HuberLoss,
    Op::SoftMarginLoss,
    Op::HingeEmbeddingLoss,
    Op::KlDiv,
    Op::PoissonNllLoss,
    Op::BinaryCrossEntropyWithLogits,
];

/// Products, with the letters of the dimensions of their operands.
const PRODUCTS: &[(Op, &[&str])] = &[
    (Op::Mm, &["nk", "km"]),
    (Op::Bmm, &["bnk", "bkm"]),
    (Op::Mv, &["nk", "k"]),
    (Op::Dot, &["k", "k"]),
    (Op::Vdot, &["k", "k"]),
    (Op::Outer, &["n", "m"]),
    (Op::Addmm, &["nm", "nk", "km"]),
    (Op::Baddbmm, &["bnm", "bnk", "bkm"]),
    (Op::Addmv, &["n", "nk", "k"]),
    (Op::Addr, &["nm", "n", "m"]),
];

/// One follow-up for each sibling.
pub(super) fn siblings(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    if !is_about_operands(context) || context.has_gradients() || !is_affordable(context) {
        return Vec::new();
    }
    let mut made = Vec::new();
    for (op, args) in others(context) {
        let mut rewrite = Rewrite::before(context);
        rewrite.push(Step { op, args, ..context.step.clone() });
        let at = rewrite.last();
        made.push((rewrite.program, OutputRelation::Alike { at, shape: true }));
    }
    made.extend(part(context));
    made
}

/// Returns the siblings of the step's operation, with their arguments.
fn others(context: &StepContext) -> Vec<(Op, Vec<Arg>)> {
    let step = context.step;
    let of_op = SIBLINGS.iter().find(|group| group.contains(&step.op)).copied().unwrap_or_default();
    let has_form = |op: &Op| *op != step.op && op.info().forms.contains(&step.form);
    let mut others: Vec<(Op, Vec<Arg>)> =
        of_op.iter().copied().filter(has_form).map(|op| (op, step.args.clone())).collect();
    let Some(read) = context.read() else { return others };
    let dtypes = || read.iter().map(|(_, known)| known.dtype).chain(context.target().map(|target| target.dtype));
    let is_complex = |arg: &Arg| matches!(arg, Arg::Number(number) if number.category() == Category::Complex);
    // A target that a rejected step may have changed is no longer known.
    let known = step.form == Form::Functional || context.target().is_some();
    let real = known && dtypes().all(|dtype| dtype.category() < Category::Complex) && !step.args.iter().any(is_complex);
    if COMPARISONS.contains(&step.op) && real {
        let more = COMPARISONS.iter().copied().filter(|op| has_form(op) && !of_op.contains(op));
        others.extend(more.map(|op| (op, step.args.clone())));
    }
    others.extend(losses(context, &read).into_iter().filter(|(op, _)| has_form(op) && !of_op.contains(op)));
    let tensors = || step.args.iter().all(|arg| matches!(arg, Arg::Tensor(_)));
    match step.op {
        Op::ClampMin if tensors() && real && step.form == Form::Functional => {
            others.push((Op::Maximum, step.args.clone()))
        }
        Op::ClampMax if tensors() && real && step.form == Form::Functional => {
            others.push((Op::Minimum, step.args.clone()))
        }
        Op::Addmm | Op::Baddbmm | Op::Addmv if context.accepted() && step.form == Form::Functional => {
            let op = match step.op {
                Op::Addmm => Op::Mm,
                Op::Baddbmm => Op::Bmm,
                _ => Op::Mv,
            };
            others.push((op, step.args[1..3].to_vec()));
        }
        _ => {}
    }
    others
}

/// The losses that take the operands of a loss, which its other arguments do not get rejected.
fn losses(context: &StepContext, read: &[(usize, Facts)]) -> Vec<(Op, Vec<Arg>)> {
    let [(_, input), (_, target)] = read else { return Vec::new() };
    let wide = [DType::Float32, DType::Float64].contains(&input.dtype) && input.dtype == target.dtype;
    let argument =
        matches!(context.outcome, Outcome::Rejected(rejected) if class_of(rejected) == Some(Class::Argument));
    let group = if input.shape() == target.shape() { LOSSES } else { DIFFERENCES };
    if !wide || argument || context.step.form != Form::Functional || !group.contains(&context.step.op) {
        return Vec::new();
    }
    group.iter().filter_map(|op| Some((*op, loss_arguments(context.step, *op)?))).collect()
}

/// The arguments of another loss: the input, the target and the reduction of the step, and the defaults of the rest.
fn loss_arguments(step: &Step, op: Op) -> Option<Vec<Arg>> {
    let reduction = step.op.info().arguments.iter().position(|param| param.name == "reduction")?;
    let argument = |(at, param): (usize, &Param)| match param.name {
        "reduction" => Some(step.args[reduction].clone()),
        _ if at < 2 => Some(step.args[at].clone()),
        _ => param.default.map(Arg::from),
    };
    op.info().arguments.iter().enumerate().map(argument).collect()
}

/// A product of two matrices as a batch of one.
fn part(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let step = context.step;
    let [(_, first), (_, second)] = &context.read()?[..] else { return None };
    if step.op != Op::Mm || step.form != Form::Functional || first.shape().rank() != 2 || second.shape().rank() != 2 {
        return None;
    }
    let mut rewrite = Rewrite::before(context);
    let batch = |rewrite: &mut Rewrite, at: usize| {
        Arg::Tensor(rewrite.add("batch", Op::Unsqueeze, vec![step.args[at].clone(), Arg::Int(0)]))
    };
    let args = vec![batch(&mut rewrite, 0), batch(&mut rewrite, 1)];
    rewrite.add("product", Op::Bmm, args);
    let at = rewrite.last();
    Some((rewrite.program, OutputRelation::Alike { at, shape: false }))
}

/// The step on ones, with another size in place of one that its operands have in common; a dimension of size 1 stays.
pub(super) fn resized(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    let inner_sizes =
        matches!(context.outcome, Outcome::Rejected(rejected) if class_of(rejected) == Some(Class::ProductShape));
    let asked = context.step.form == Form::Functional && (is_about_operands(context) || inner_sizes);
    // A sampler rejects parameters by their elements.
    let asked = asked && context.step.op.info().kernel != Kernel::Sampler;
    if !asked || context.has_gradients() || !is_affordable(context) {
        return Vec::new();
    }
    let Some(read) = context.read() else { return Vec::new() };
    let sizes = if context.is_elementwise() { dimensions(&read) } else { letters(context, &read) };
    let mut made = Vec::new();
    for Dimension { size, places } in sizes {
        for new in [0, 1, 2, 5].into_iter().filter(|new| *new != size) {
            let mut step = context.step.clone();
            let mut inputs = Vec::new();
            for (at, (number, known)) in read.iter().enumerate() {
                let mut sizes = known.sizes().to_vec();
                places.iter().filter(|(operand, _)| *operand == at).for_each(|(_, place)| sizes[*place] = new);
                step.args[*number] = Arg::Tensor(ValueRef { value: inputs.len(), part: None });
                let Ok(shape) = Shape::new(sizes) else { return made };
                let ones = std::iter::repeat_n(Scalar::Int(1), shape.numel());
                let data = Buffer::from_scalars(known.dtype, ones).to_bytes(&Layout::contiguous(shape.clone()));
                let name = format!("ones{number}");
                inputs.push(Input { name, dtype: known.dtype, shape, data, requires_grad: false });
            }
            made.push((Program { inputs, steps: vec![step] }, OutputRelation::Alike { at: 0, shape: false }));
        }
    }
    made
}

/// A size that operands have in common, and where: the number among those that are read, and the dimension.
struct Dimension {
    size: i64,
    places: Vec<(usize, usize)>,
}

/// The dimensions of elementwise operands, aligned at the last, in which all are of one size or of size 1.
fn dimensions(read: &[(usize, Facts)]) -> Vec<Dimension> {
    let rank = read.iter().map(|(_, known)| known.shape().rank()).max().unwrap_or(0);
    let dimension = |from_end: usize| {
        let place = |known: &Facts| known.sizes().len().checked_sub(from_end + 1);
        let places = read.iter().enumerate().filter_map(|(at, (_, known))| Some((at, place(known)?)));
        let places: Vec<_> = places.filter(|(at, place)| read[*at].1.sizes()[*place] != 1).collect();
        common(read, places)
    };
    (0..rank).filter_map(dimension).collect()
}

/// The dimensions of the operands of a product, which its documentation names by letters.
fn letters(context: &StepContext, read: &[(usize, Facts)]) -> Vec<Dimension> {
    let Some((_, letters)) = PRODUCTS.iter().find(|(product, _)| *product == context.step.op) else {
        return Vec::new();
    };
    // A factor that the dtype does not have is rejected where there is something to multiply.
    let every_dtype_has = |arg: &Arg| match arg {
        Arg::Number(Scalar::Int(factor)) => (0..=127).contains(factor),
        Arg::Number(_) => false,
        _ => true,
    };
    let fits = context.step.args.iter().all(every_dtype_has)
        && read.len() == letters.len()
        && read.iter().zip(*letters).all(|((_, known), letters)| known.shape().rank() == letters.len());
    let dimension = |letter: char| {
        let of = |(at, letters): (usize, &&str)| letters.find(letter).map(|place| (at, place));
        common(read, letters.iter().enumerate().filter_map(of).collect())
    };
    if fits { ['b', 'n', 'k', 'm'].into_iter().filter_map(dimension).collect() } else { Vec::new() }
}

/// These places, if there are any and all have one size.
fn common(read: &[(usize, Facts)], places: Vec<(usize, usize)>) -> Option<Dimension> {
    let size = |(at, place): &(usize, usize)| read[*at].1.sizes()[*place];
    let first = size(places.first()?);
    places.iter().all(|place| size(place) == first).then_some(Dimension { size: first, places })
}

/// Returns whether a result of all sizes of the operands would have few elements: a call that is rejected may be one of
/// expanded tensors that no memory could hold, and the follow-up may be accepted.
fn is_affordable(context: &StepContext) -> bool {
    let Some(read) = context.read() else { return false };
    let longest = read.iter().map(|(_, known)| known.shape().rank()).max().unwrap_or(0);
    let most = |place: usize| {
        let sizes = read.iter().filter_map(|(_, known)| known.sizes().iter().rev().nth(place));
        sizes.max().copied().unwrap_or(1).max(1)
    };
    (0..longest).map(most).try_fold(1i64, i64::checked_mul).is_some_and(|all| all <= LARGEST as i64)
}

/// Returns whether the step was accepted, or rejected for the shapes or the dtypes of its operands and not for their
/// elements, their memory or the gradients that flow through them.
fn is_about_operands(context: &StepContext) -> bool {
    match context.outcome {
        Outcome::Rejected(rejected) => class_of(rejected).is_some_and(|class| {
            [Class::SizeMismatch, Class::Dtype, Class::Dimension, Class::OutputShape, Class::Argument].contains(&class)
        }),
        _ => context.accepted(),
    }
}
