//! What must not decide whether a call is accepted: which of several siblings it is, and how long an unrelated dimension is.

use crate::error::Class;
use crate::model::difference::class_of;
use crate::ops::{Form, Op};
use crate::program::{Arg, Input, Outcome, Program, Step, ValueRef};
use crate::tensor::{Buffer, Layout, Scalar, Shape};

use crate::oracles::metamorphic::LARGEST;
use crate::oracles::metamorphic::judge::OutputRelation;
use crate::oracles::metamorphic::step_context::{Rewrite, StepContext};

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
    &[Op::All, Op::Any],
    &[Op::Var, Op::Std],
    &[Op::VarMean, Op::StdMean],
    &[Op::MseLoss, Op::L1Loss],
];

/// One follow-up for each sibling.
pub(super) fn siblings(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    let of_op = SIBLINGS.iter().find(|group| group.contains(&context.step.op)).copied().unwrap_or_default();
    if !is_about_operands(context) || context.has_gradients() || !is_affordable(context) {
        return Vec::new();
    }
    let has_form = |op: &&Op| op.info().forms.contains(&context.step.form);
    let others = of_op.iter().filter(|op| **op != context.step.op).filter(has_form);
    let made = others.map(|op| {
        let mut rewrite = Rewrite::before(context);
        rewrite.push(Step { op: *op, ..context.step.clone() });
        let at = rewrite.last();
        (rewrite.program, OutputRelation::Alike { at, shape: true })
    });
    made.collect()
}

/// The step on ones, with another size in place of one that its operands have in common; a dimension of size 1 stays.
pub(super) fn resized(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    let elementwise = context.is_elementwise() && context.step.form == Form::Functional;
    if !elementwise || !is_about_operands(context) || context.has_gradients() || !is_affordable(context) {
        return Vec::new();
    }
    let Some(read) = context.read() else { return Vec::new() };
    let rank = read.iter().map(|(_, known)| known.shape().rank()).max().unwrap_or(0);
    let size = |known: &[i64], place: usize| known.len().checked_sub(place + 1).map(|at| known[at]);
    let mut made = Vec::new();
    for place in 0..rank {
        let sizes = || read.iter().filter_map(|(_, known)| size(known.sizes(), place)).filter(|size| *size != 1);
        let Some(old) = sizes().next().filter(|old| sizes().all(|size| size == *old)) else { continue };
        for new in [0, 1, 2, 5].into_iter().filter(|new| *new != old) {
            let mut step = context.step.clone();
            let mut inputs = Vec::new();
            for (number, known) in &read {
                let mut sizes = known.sizes().to_vec();
                if size(&sizes, place) == Some(old) {
                    let at = sizes.len() - place - 1;
                    sizes[at] = new;
                }
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
