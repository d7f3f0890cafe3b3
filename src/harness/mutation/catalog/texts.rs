//! Wrong rejections, wrong messages, wrong warnings, and a process that breaks.

use crate::adapter::FaultKind;
use crate::class_of;
use crate::error::{Class, Rejection};
use crate::mutation::Mutant;
use crate::mutation::planted::{Seen, crash, hang};
use crate::mutation::wrong_replies;
use crate::ops::{Form, Op};
use crate::program::{Arg, Outcome, Rejected, Step, TensorValue, Value};
use crate::tensor::{Category, Layout, Scalar, Shape};

use crate::mutation::catalog::mutants;

pub(super) fn rejected(message: String) -> Outcome {
    Outcome::Rejected(Rejected { message, class: None, origin: None, raises: None })
}

fn class(seen: &Seen) -> Option<Class> {
    match seen.outcome() {
        Outcome::Rejected(rejected) => class_of(rejected),
        _ => None,
    }
}

/// Returns the reason why operands that do not broadcast are rejected.
fn mismatch(seen: &Seen) -> Option<Rejection> {
    let operands = seen.operands();
    let shapes = operands.iter().map(|operand| operand.shape);
    shapes.cloned().try_fold(Shape::scalar(), |shape, next| shape.broadcast(&next)).err()
}

/// A number that follows from what the step is about.
fn fingerprint(seen: &Seen) -> u64 {
    let text = |step: &Step| format!("{:?}{:?}{:?}", step.op, step.form, step.args);
    let shapes: Vec<_> = seen.operands().iter().map(|operand| (operand.dtype, operand.shape.clone())).collect();
    let bytes = format!("{}{shapes:?}", text(seen.step())).into_bytes();
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)) >> 7
}

fn zeros(seen: &Seen) -> Option<Outcome> {
    let first = seen.operands().into_iter().next()?;
    let (dtype, shape) = (first.dtype, first.shape.clone());
    let strides = Some(Layout::contiguous(shape.clone()).strides);
    let data = vec![0; shape.numel() * dtype.size()];
    Some(Outcome::Value(Value::Tensor(TensorValue { dtype, shape, data, strides, storage: None })))
}

pub(super) const REJECTIONS: &[Mutant] = mutants! { "rejections"
    "refuses-everything" "each step is rejected" Lies => wrong_replies::rejects_everything;
    "accepts-everything" "each rejection becomes a tensor of zeros" Lies => wrong_replies::accepts_everything;
    "refuses-one-in-a-thousand" "one valid elementwise step in a thousand is rejected" Outcomes => |seen, answer| {
        if seen.is_elementwise() && matches!(answer.outcome, Outcome::Value(_)) && fingerprint(seen).is_multiple_of(1000) {
            answer.outcome = rejected("The size of tensor a (2) must match the size of tensor b (3) at non-singleton \
                dimension 0".to_owned());
        }
    };
    "accepts-one-in-a-hundred" "one mismatch of sizes in a hundred is accepted" Outcomes => |seen, answer| {
        if class(seen) == Some(Class::SizeMismatch) && fingerprint(seen).is_multiple_of(100) {
            answer.outcome = zeros(seen).unwrap_or(answer.outcome.clone());
        }
    };
    "refuses-empty" "broadcasting with an empty tensor is rejected" Outcomes => |seen, answer| {
        let empty = seen.operands().iter().any(|operand| operand.shape.numel() == 0);
        if seen.is_elementwise() && empty && matches!(answer.outcome, Outcome::Value(_)) && seen.operands().len() > 1 {
            answer.outcome = rejected("The size of tensor a (0) must match the size of tensor b (1) at non-singleton \
                dimension 0".to_owned());
        }
    };
    "expands-anything" "expand repeats dimensions of any size" Outcomes => |seen, answer| {
        if class(seen) == Some(Class::Expand) && seen.step().op == Op::Expand {
            answer.outcome = zeros(seen).unwrap_or(answer.outcome.clone());
        }
    };
    "casts-anything" "an in-place step takes results of any category" Outcomes => |seen, answer| {
        let in_place = seen.step().form == Form::InPlace && seen.is_elementwise();
        if in_place && class(seen) == Some(Class::Dtype) {
            answer.outcome = zeros(seen).unwrap_or(answer.outcome.clone());
        }
    };
    "writes-to-expanded" "writing to an expanded tensor is accepted" Outcomes => |seen, answer| {
        if class(seen) == Some(Class::Overlap) {
            answer.outcome = zeros(seen).unwrap_or(answer.outcome.clone());
        }
    };
    "sizes-before-dtypes" "of two errors the sizes are reported first, in place of the dtype" Outcomes => |seen, answer| {
        if let (true, Some(Class::Dtype), Some(rejection)) = (seen.is_elementwise(), class(seen), mismatch(seen)) {
            answer.outcome = rejected(rejection.to_string());
        }
    };
    "target-before-sizes" "of two errors the shape of the target is reported first" Outcomes => |seen, answer| {
        let in_place = seen.step().form == Form::InPlace && seen.is_elementwise();
        let operands = seen.operands();
        if let (true, Some(Class::SizeMismatch), [target, other, ..]) = (in_place, class(seen), operands.as_slice()) {
            let (output, broadcast) = (target.shape.sizes().to_vec(), other.shape.sizes().to_vec());
            answer.outcome = rejected(Rejection::OutputShape { output, broadcast }.to_string());
        }
    };
};

fn numbers(text: &str, change: impl Fn(usize, i64) -> i64) -> String {
    let mut changed = String::new();
    let (mut rest, mut count) = (text, 0);
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[start..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| start + end);
        changed.push_str(&rest[..start]);
        let number = rest[start..end].parse().unwrap_or(0);
        changed.push_str(&change(count, number).to_string());
        (rest, count) = (&rest[end..], count + 1);
    }
    changed + rest
}

pub(super) const WORDS: &[Mutant] = mutants! { "words"
    "one-character" "one character of each message is changed" Lies => wrong_replies::wrong_message;
    "sizes-swapped" "the two sizes in the message are swapped" Words => |seen, text| {
        let Some(Rejection::SizeMismatch { a, b, .. }) = mismatch(seen) else { return text.to_owned() };
        let mismatch = class(seen) == Some(Class::SizeMismatch);
        numbers(text, |at, number| match at {
            0 if mismatch => b,
            1 if mismatch => a,
            _ => number,
        })
    };
    "dimension-off-by-one" "the message names the next dimension" Words => |seen, text| {
        let mismatch = class(seen) == Some(Class::SizeMismatch);
        numbers(text, |at, number| if mismatch && at == 2 { number + 1 } else { number })
    };
    "outermost-mismatch" "the message names the outermost dimension that does not fit" Words => |seen, text| {
        let operands = seen.operands();
        let [a, b] = operands.as_slice() else { return text.to_owned() };
        let rank = a.shape.rank().max(b.shape.rank());
        let first = (0..rank).find_map(|dim| {
            let (a, b) = (a.shape.aligned(dim, rank)?, b.shape.aligned(dim, rank)?);
            (a != b && a != 1 && b != 1).then_some(Rejection::SizeMismatch { a, b, dim })
        });
        match first.filter(|_| class(seen) == Some(Class::SizeMismatch) && seen.is_elementwise()) {
            Some(rejection) => rejection.to_string(),
            None => text.to_owned(),
        }
    };
    "shapes-swapped" "the shapes of the target and of the result are swapped in the message" Words => |_, text| {
        match text.strip_prefix("output with shape ").and_then(|rest| rest.split_once(" doesn't match the broadcast shape ")) {
            Some((output, broadcast)) => format!("output with shape {broadcast} doesn't match the broadcast shape {output}"),
            None => text.to_owned(),
        }
    };
    "dtype-names" "messages say Double for Float" Words => |_, text| text.replace("Float", "Double");
};

pub(super) const WARNINGS: &[Mutant] = mutants! { "warnings"
    "warnings-lost" "nothing warns" Lies => wrong_replies::lost_warning;
    "warning-invented" "the first step warns" Lies => wrong_replies::invented_warning;
    "warning-repeated" "each warning is raised twice" Outcomes => |_, answer| {
        let again = answer.warnings.clone();
        answer.warnings.extend(again);
    };
    "std-warns-not" "std does not warn of a variance without a degree of freedom" Outcomes => |seen, answer| {
        if [Op::Std, Op::StdMean].contains(&seen.step().op) {
            answer.warnings.clear();
        }
    };
};

pub(super) const PROCESS: &[Mutant] = mutants! { "process"
    "crash-by-rank" "a result of six dimensions ends the process with SIGSEGV" Breaks => |seen| {
        let deep = seen.outcome().tensors().iter().any(|tensor| tensor.shape.rank() >= 6);
        if deep { crash("signal: 11 (SIGSEGV)") } else { None }
    };
    "crash-by-division" "an integer divided by zero ends the process with SIGFPE" Breaks => |seen| {
        let divides = [Op::Div, Op::FloorDivide, Op::Remainder, Op::Fmod].contains(&seen.step().op);
        let whole = |scalar: &Scalar| *scalar == Scalar::Int(0);
        let operands = seen.operands();
        let second = operands.get(1).filter(|second| second.dtype.category() == Category::Integral);
        if divides && second.is_some_and(|second| second.elements.iter().any(whole)) {
            return crash("signal: 8 (SIGFPE)");
        }
        None
    };
    "hang-on-nothing" "a reduction of an empty tensor does not end" Breaks => |seen| {
        let reduces = seen.step().op.info().family() == crate::ops::Family::Reductions;
        let empty = seen.operands().iter().any(|operand| operand.elements.is_empty());
        if reduces && empty { hang() } else { None }
    };
    "rubbish-for-text" "a rejected einsum is answered with text that is not JSON" Breaks => |seen| {
        let refused = matches!(seen.outcome(), Outcome::Rejected(_)) && matches!(seen.step().args.first(), Some(Arg::Text(_)));
        let why = "not JSON: expected value at line 1 column 1".to_owned();
        refused.then_some(FaultKind::Protocol { line: "terminate called".to_owned(), why })
    };
};
