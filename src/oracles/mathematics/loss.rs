//! Losses: a function of each pair of elements, added up or averaged.

use super::elementwise::{Operand, convert, places};
use super::formula::{self, formula};
use super::reduction::total;
use super::set::{Format, Set, as_float};
use super::trace::{Elements, Trace};
use super::{Details, Right, Wrong, closed};
use crate::Difference;
use crate::ops::{Form, Op};
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, DType, Shape};

const LOGITS: &str = "torch.nn.BCEWithLogitsLoss: the formula of the page, more stable than a sigmoid and BCELoss, whose term of 0 is 0: within n units of roundoff, of which cancellation takes no more than half";
const LOSS: &str = "the documented formula of the loss, within 8 units in the last place of each term and n units of roundoff of their sum";

/// The most pairs of elements of a step that is judged.
const MOST: usize = 2048;

/// The first element that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    use Op::{
        BinaryCrossEntropy, BinaryCrossEntropyWithLogits, HingeEmbeddingLoss, HuberLoss, KlDiv, L1Loss,
        MarginRankingLoss, MseLoss, SmoothL1Loss, SoftMarginLoss,
    };
    let is_known = matches!(
        step.op,
        MseLoss
            | L1Loss
            | SmoothL1Loss
            | HuberLoss
            | SoftMarginLoss
            | HingeEmbeddingLoss
            | MarginRankingLoss
            | KlDiv
            | BinaryCrossEntropy
            | BinaryCrossEntropyWithLogits
    );
    if step.form != Form::Functional || !is_known {
        return None;
    }
    let format = Format::of(result.dtype).filter(|_| result.dtype.category() == Category::Floating)?;
    let mut operands = Vec::new();
    let mut details = Details { number: 1.0, ..Details::default() };
    let mut reduction = "none";
    for (number, (param, arg)) in step.op.info().arguments.iter().zip(&step.args).enumerate() {
        match (param.name, arg) {
            (_, Arg::Tensor(value)) => {
                let Elements { dtype, shape, values } = trace.before(at, *value)?;
                operands.push(Operand { dtype: Some(dtype), shape, values });
            }
            ("weight" | "pos_weight", Arg::Nothing) => *details.missing.get_mut(number)? = true,
            ("reduction", Arg::Text(text)) => reduction = text,
            ("log_target", Arg::Flag(flag)) => details.flag = *flag,
            ("beta" | "delta" | "margin", Arg::Number(number)) => details.number = as_float(*number)?,
            _ => return None,
        }
    }
    // Integers are subtracted as integers, and wrap.
    let is_float = |operand: &Operand| operand.dtype.is_some_and(|dtype| dtype.category() == Category::Floating);
    if !operands.iter().all(is_float) {
        return None;
    }
    // Terms have the dtype that the operands are promoted to, which may be coarser than that of the result.
    let ranked = |operand: &&Operand| operand.shape.rank() > 0 || operands.iter().all(|other| other.shape.rank() == 0);
    let promoted = operands.iter().filter(ranked).filter_map(|operand| operand.dtype).reduce(DType::promote);
    let mut formats = vec![promoted.and_then(Format::of)?, format];
    if step.op == MarginRankingLoss {
        // The difference of the first two has the dtype of these alone.
        formats.extend(operands.iter().take(2).filter_map(|operand| operand.dtype.and_then(Format::of)));
    }
    if matches!(step.op, BinaryCrossEntropyWithLogits | KlDiv) {
        // The logarithm has the dtype of the logit, or of the target.
        formats.extend(operands.iter().filter_map(|operand| operand.dtype.and_then(Format::of)));
    }
    let format = formats.into_iter().max_by(|one, other| one.ulp(1.0).total_cmp(&other.ulp(1.0)))?;
    let shape = operands
        .iter()
        .skip(1)
        .try_fold(operands.first()?.shape.clone(), |shape, operand| shape.broadcast(&operand.shape).ok())?;
    let (values, errors) = terms(step.op, format, &operands, &shape, &details)?;
    let by = if step.op == BinaryCrossEntropyWithLogits { LOGITS } else { LOSS };
    let observed = Elements::of(result)?;
    let wrong = |right: Right, at: usize, places: Vec<usize>| {
        let operands = operands.iter().zip(places).map(|(operand, place)| operand.values[place]).collect();
        Wrong { right, at, observed: observed.values[at], operands }.difference(step, result)
    };
    if reduction == "none" {
        if observed.values.len() != values.len() {
            return None;
        }
        let mut each = values.iter().zip(&errors).zip(&observed.values).enumerate();
        let (at, ((value, error), _)) =
            each.find(|(_, ((value, error), observed))| !near(format, **value, **error).contains(**observed))?;
        return Some(wrong(Right::by(by, near(format, *value, *error)), at, places(&operands, &shape, at)?));
    }
    let divisor = if reduction == "mean" { values.len() as f64 } else { 1.0 };
    if values.is_empty() {
        let set = if divisor == 0.0 { Set::Nan } else { Set::ZERO };
        let is_right = set.contains(*observed.values.first()?);
        return (!is_right).then(|| wrong(Right::by(by, set), 0, Vec::new()));
    }
    let magnitudes: f64 = values.iter().map(|value| value.abs()).sum();
    if magnitudes > format.largest() {
        return None;
    }
    let error = errors.iter().sum::<f64>() + values.len() as f64 * format.ulp(1.0) * magnitudes;
    let value = total(&values) / divisor;
    let set = near(format, value, error / divisor + 2.0 * format.ulp(value));
    let is_right = set.contains(*observed.values.first()?);
    let all = places(&operands, &shape, 0)?;
    (!is_right).then(|| wrong(Right::by(by, set), 0, all))
}

fn near(format: Format, value: f64, error: f64) -> Set {
    if value == 0.0 && error <= format.smallest() * 8.0 { Set::ZERO } else { format.near(value, error) }
}

/// The loss of each pair, and what each may lose; `None` where an element is not finite or has no loss.
fn terms(
    op: Op,
    format: Format,
    operands: &[Operand],
    shape: &Shape,
    details: &Details,
) -> Option<(Vec<f64>, Vec<f64>)> {
    if shape.numel() > MOST {
        return None;
    }
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for number in 0..shape.numel() {
        let places = places(operands, shape, number)?;
        let mut args = Vec::with_capacity(operands.len());
        for (operand, place) in operands.iter().zip(places) {
            let own = operand.values[place];
            let value = format.round(as_float(own)?);
            // What the dtype of the result rounds may be rounded before or after.
            if convert(own, operand.dtype?) != own || as_float(own) != Some(value) {
                return None;
            }
            args.push(value);
        }
        if op == Op::BinaryCrossEntropyWithLogits && is_certain(&args) {
            values.push(0.0);
            errors.push(0.0);
            continue;
        }
        // The square of a difference is by `beta`, and as small as that.
        let is_quotient = op == Op::SmoothL1Loss && details.number > 0.0;
        let most = if is_quotient { format.largest() / 8.0 } else { format.largest().sqrt() / 4.0 };
        if args.iter().any(|value| !value.is_finite() || value.abs() > most) {
            return None;
        }
        // By the page what overflows is infinite, and times 0 it is NaN.
        if op == Op::KlDiv && details.flag && args[1].exp() > format.largest() / 8.0 {
            return None;
        }
        let value = if is_quotient { formula::value(op, &args, details)? } else { formula(op, &args, details)? };
        let scale = args.iter().fold(details.number.abs(), |most, value| most.max(value.abs()));
        let lost = match op {
            // The sum with 1 rounds, and the product before.
            Op::SoftMarginLoss => 2.0 * format.ulp(1.0) + 2.0 * format.ulp(args[0] * args[1]),
            // Both logarithms round, and so do the products with the target and the weight.
            Op::BinaryCrossEntropy => 4.0 * format.ulp(1.0 + value.abs()),
            Op::BinaryCrossEntropyWithLogits => lost_of_logits(format, &args, details),
            // What the square loses that underflows counts where the quotient is not a normal number, either.
            Op::SmoothL1Loss if value < format.smallest_normal() => format.smallest() / details.number.min(1.0),
            Op::MarginRankingLoss => 2.0 * format.ulp(args[2] * (args[0] - args[1])),
            Op::HingeEmbeddingLoss => format.ulp(scale),
            // The product with the target and its own logarithm cancel.
            Op::KlDiv if details.flag => 4.0 * format.ulp(args[1].exp() * (args[0].abs() + args[1].abs())),
            Op::KlDiv if args[1] == 0.0 => 0.0,
            Op::KlDiv => 4.0 * (format.ulp(args[1] * args[0]) + format.ulp(args[1] * (1.0 + args[1].ln().abs()))),
            _ => 0.0,
        };
        if format.is_half() && op == Op::SoftMarginLoss && args[0] * args[1] < -8.0 {
            return None;
        }
        values.push(value);
        errors.push(
            8.0 * format.ulp(value)
                + lost
                + match details.number == format.round(details.number) {
                    true => 0.0,
                    false if is_quotient && (args[0] - args[1]).abs() < details.number => 4.0 * format.ulp(value),
                    false => format.ulp(scale),
                },
        );
    }
    Some((values, errors))
}

/// Returns whether an infinite logit is right, which costs nothing.
fn is_certain(args: &[f64]) -> bool {
    let is_right = args[0] == f64::NEG_INFINITY && args[1] == 0.0 || args[0] == f64::INFINITY && args[1] == 1.0;
    is_right && args[2..].iter().all(|weight| weight.is_finite())
}

/// What the cross entropy of a logit may lose: the roundoff of its terms as they are added up in any order, of which
/// cancellation takes no more than half of the loss.
fn lost_of_logits(format: Format, args: &[f64], details: &Details) -> f64 {
    let (x, target) = (args[0], args[1]);
    let (weight, positive) = closed::weights(args, details);
    let [one, other] = [-x, x].map(|x| x.max(0.0) + (-x.abs()).exp().ln_1p());
    let unit = 8.0 * format.ulp(1.0) * weight.abs();
    let terms = [(positive * target * one).abs(), ((1.0 - target) * other).abs()];
    let cancelled = unit * ((1.0 - target) * x).abs() + unit * ((1.0 - target).abs() + (positive * target).abs()) * one;
    let scaled = if details.missing[3] { 0.0 } else { unit * (1.0 + positive.abs()) * target.abs() * one };
    let sum = weight.abs() * (terms[0] + terms[1]);
    cancelled.min(sum / 2.0) + scaled + 8.0 * format.ulp(sum)
}
