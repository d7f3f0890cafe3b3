//! Elements that are chosen by their order or their number, and the indices that lead to them.
//!
//! What the documents leave open is right in every way: which of several elements that are equal, or as frequent, and which
//! of their indices.

use super::elementwise::exactly;
use super::scan::{SlopeAt, dimension, lines};
use super::set::{Set, as_float};
use super::trace::{Elements, Trace};
use super::{Right, Wrong, wrong_shape};
use crate::Difference;
use crate::ops::Op;
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, Scalar};

const EXTREME: &str = "torch.max, min, aminmax, cummax, cummin: the extreme element, NaN if any is";
const FIRST: &str = "torch.max, min: the index of the first maximal or minimal value";
const MEDIAN: &str = "torch.median: the lower of the two medians, NaN if any element is";
const NUMBERS: &str = "torch.nanmedian: the median of the elements that are not NaN";
const KTH: &str = "torch.kthvalue: the k-th smallest element; NumPy: NaN is sorted to the end";
const MODE: &str = "torch.mode: a value which appears most often";
const INDEX: &str = "torch.max and its like: the index location of the value";
const SHAPE: &str = "torch.max and its like: the size of input, but for the dimension dim";

/// The most elements of the operand of a step that is judged.
const MOST: usize = 2048;

/// Returns whether an operation chooses elements by their order.
pub(super) fn chooses(op: Op) -> bool {
    runs(op) || matches!(op, Op::Max | Op::Min | Op::Aminmax | Op::Median | Op::Nanmedian | Op::Mode | Op::Kthvalue)
}

/// Returns whether there is one result for each element, made of those up to it.
fn runs(op: Op) -> bool {
    matches!(op, Op::Cummax | Op::Cummin)
}

/// The first element or index that is wrong, or a shape.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, results: &[TensorValue]) -> Option<Difference> {
    let Some(Arg::Tensor(own)) = step.args.first() else { return None };
    let operand = trace.before(at, *own)?;
    if operand.values.len() > MOST || operand.dtype.category() == Category::Complex {
        return None;
    }
    let choice = Choice::of(step, &operand)?;
    let named =
        |part: usize, difference: Difference| Difference { value: format!("{}.{part}", step.name), ..difference };
    for (part, result) in results.iter().enumerate() {
        if result.shape.sizes() != choice.sizes {
            return Some(named(part, wrong_shape(step, result, &choice.sizes, SHAPE)));
        }
        let elements = Elements::of(result)?;
        let wrong = choice.lines.iter().enumerate().filter_map(|(number, line)| {
            let values: Vec<Scalar> = line.iter().map(|place| operand.values[*place]).collect();
            let observed = *elements.values.get(number)?;
            let right = match (part, step.op) {
                (1, Op::Aminmax) | (0, _) => value(step, part, &values)?,
                _ => index(step.op, &values, Elements::of(&results[0])?.values.get(number).copied()?)?,
            };
            let set = match right.set {
                Set::Exactly(value) if part == 0 || step.op == Op::Aminmax => exactly(operand.dtype, value),
                set => set,
            };
            let right = Right { set, ..right };
            Wrong::unless(right, number, observed, values.iter().copied().take(16))
        });
        if let Some(wrong) = Wrong::first(wrong) {
            return Some(named(part, wrong.difference(step, result)));
        }
    }
    None
}

/// The elements that each element of the results is chosen from.
struct Choice {
    sizes: Vec<i64>,
    lines: Vec<Vec<usize>>,
}

impl Choice {
    fn of(step: &Step, operand: &Elements) -> Option<Choice> {
        let own = operand.shape.sizes();
        let keeps = step.op.info().arguments.iter().position(|param| param.name == "keepdim");
        let keeps = keeps.is_some_and(|at| step.args.get(at) == Some(&Arg::Flag(true)));
        if step.op == Op::Aminmax && step.args.get(1) == Some(&Arg::Nothing) {
            let sizes = if keeps { vec![1; own.len()] } else { Vec::new() };
            return Some(Choice { sizes, lines: vec![(0..operand.values.len()).collect()] });
        }
        let dim = dimension(step, own.len())?;
        let lines = lines(own, dim);
        if runs(step.op) {
            let mut before = vec![Vec::new(); operand.values.len()];
            for line in &lines {
                line.iter().enumerate().for_each(|(last, at)| before[*at] = line[..=last].to_vec());
            }
            return Some(Choice { sizes: own.to_vec(), lines: before });
        }
        let kept = own.iter().enumerate().filter(|(at, _)| keeps || *at != dim);
        let sizes = kept.map(|(at, size)| if at == dim { 1 } else { *size }).collect();
        Some(Choice { sizes, lines })
    }
}

fn is_nan(value: &Scalar) -> bool {
    matches!(value, Scalar::Float(value) if value.is_nan())
}

/// Returns whether two elements are equal, or both NaN.
fn equal(one: &Scalar, other: &Scalar) -> bool {
    one == other || is_nan(one) && is_nan(other)
}

/// The elements in their order, the least first, without NaN.
fn sorted(values: &[Scalar]) -> Vec<Scalar> {
    let mut numbers: Vec<Scalar> = values.iter().copied().filter(|value| !is_nan(value)).collect();
    numbers.sort_by(|one, other| match (one, other) {
        (Scalar::Float(one), Scalar::Float(other)) => one.total_cmp(other),
        (Scalar::Int(one), Scalar::Int(other)) => one.cmp(other),
        (Scalar::Bool(one), Scalar::Bool(other)) => one.cmp(other),
        _ => std::cmp::Ordering::Equal,
    });
    numbers
}

/// The values that are right.
fn value(step: &Step, part: usize, values: &[Scalar]) -> Option<Right> {
    let numbers = sorted(values);
    let some_nan = numbers.len() < values.len();
    let one = |value: &Scalar| if as_zero(value) { Set::ZERO } else { Set::Exactly(*value) };
    Some(match step.op {
        Op::Max | Op::Min | Op::Aminmax | Op::Cummax | Op::Cummin => {
            let least = matches!(step.op, Op::Min | Op::Cummin) || step.op == Op::Aminmax && part == 0;
            let extreme = if least { numbers.first() } else { numbers.last() };
            Right::by(EXTREME, if some_nan { Set::Nan } else { one(extreme?) })
        }
        Op::Median if some_nan => Right::by(MEDIAN, Set::Nan),
        Op::Nanmedian if numbers.is_empty() => Right::by(NUMBERS, Set::Nan),
        Op::Median => Right::by(MEDIAN, one(numbers.get(numbers.len().checked_sub(1)? / 2)?)),
        Op::Nanmedian => Right::by(NUMBERS, one(&numbers[(numbers.len() - 1) / 2])),
        Op::Kthvalue => {
            let Some(Arg::Int(k)) = step.args.get(1) else { return None };
            let at = usize::try_from(k - 1).ok()?;
            Right::by(KTH, numbers.get(at).map_or(Set::Nan, one))
        }
        Op::Mode if !some_nan => {
            let runs: Vec<&[Scalar]> = numbers.chunk_by(equal).collect();
            let most = runs.iter().map(|run| run.len()).max()?;
            let frequent = runs.iter().filter(|run| run.len() == most).map(|run| one(&run[0]));
            Right::by(MODE, frequent.reduce(Set::or)?)
        }
        _ => return None,
    })
}

fn as_zero(value: &Scalar) -> bool {
    matches!(value, Scalar::Float(value) if *value == 0.0)
}

/// The indices that lead to the value that was returned: the first one, where the document says so.
fn index(op: Op, values: &[Scalar], found: Scalar) -> Option<Right> {
    let places = (0..values.len()).filter(|at| equal(&values[*at], &found));
    let mut sets = places.map(|at| Set::Exactly(Scalar::Int(at as i64)));
    // Of several NaN no document says which.
    if matches!(op, Op::Max | Op::Min) && !is_nan(&found) {
        return Some(Right::by(FIRST, sets.next()?));
    }
    Some(Right::by(INDEX, sets.reduce(Set::or)?))
}

/// How much the first result changes with the elements that it is chosen from: those that equal it share it.
pub(super) fn slopes(step: &Step, operand: &Elements, result: &Elements) -> Option<Vec<SlopeAt>> {
    let choice = Choice::of(step, operand)?;
    if result.shape.sizes() != choice.sizes || operand.values.len() > MOST {
        return None;
    }
    let mut slopes = Vec::new();
    for (number, line) in choice.lines.iter().enumerate() {
        let found = as_float(*result.values.get(number)?)?;
        let values: Vec<f64> = line.iter().map(|at| as_float(operand.values[*at])).collect::<Option<_>>()?;
        let ties = values.iter().filter(|value| **value == found).count();
        // Where several are as frequent, any of them may have been taken.
        let is_known = values.iter().all(|value| !value.is_nan());
        for (value, &element) in values.iter().zip(line) {
            let slope = match (*value == found, ties) {
                (false, _) => (0.0, 0.0),
                (true, 1) => (1.0, 1.0),
                (true, _) => (0.0, 1.0),
            };
            slopes.push((number, element, is_known.then_some(slope)));
        }
    }
    Some(slopes)
}
