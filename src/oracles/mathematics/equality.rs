//! `isclose`, `allclose` and `equal`, by PyTorch's pages: with NaN, infinities, and what lies on one side of the tolerance
//! for every way to round it.

use super::set::{Format, Set, as_float};
use super::trace::{Elements, Trace};
use super::view::{View, unravel};
use super::{Right, Wrong, wrong_shape};
use crate::difference::MATHEMATICS;
use crate::ops::Op;
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, DType, Scalar};
use crate::{Aspect, Difference, format};

const CLOSE: &str = "torch.isclose: finite elements are close within atol + rtol * |other|, others if they are equal, NaN to NaN only with equal_nan";
const EQUAL: &str =
    "torch.equal: the same size and equal elements; tensors containing NaNs are never equal to each other";

/// The tolerances of a step.
struct Tolerances {
    relative: f64,
    absolute: f64,
    equal_nan: bool,
}

impl Tolerances {
    fn of(step: &Step) -> Option<Tolerances> {
        let [_, _, Arg::Number(relative), Arg::Number(absolute), Arg::Flag(equal_nan)] = &step.args[..] else {
            return None;
        };
        let (relative, absolute) = (as_float(*relative)?, as_float(*absolute)?);
        let known = relative.is_finite() && absolute.is_finite() && relative >= 0.0 && absolute >= 0.0;
        known.then_some(Tolerances { relative, absolute, equal_nan: *equal_nan })
    }

    /// Returns whether two elements are close; `None` where that depends on the rounding.
    fn hold(&self, dtype: DType, one: Scalar, other: Scalar) -> Option<bool> {
        if dtype.category() == Category::Bool {
            return None;
        }
        let (a, b) = (as_float(one)?, as_float(other)?);
        if !a.is_finite() || !b.is_finite() {
            return Some(a == b || self.equal_nan && a.is_nan() && b.is_nan());
        }
        if one == other {
            return Some(true);
        }
        // Integers are multiplied with a tolerance in float32.
        let format = Format::of(dtype).unwrap_or(Format::SINGLE);
        let (apart, allowed) = ((a - b).abs(), self.absolute + self.relative * b.abs());
        let most = format.largest() / 4.0;
        if [apart, allowed, self.absolute, self.relative].iter().any(|size| *size > most) {
            return None;
        }
        let error = 8.0 * format.ulp(1.0) * (apart + allowed) + 8.0 * format.smallest();
        match apart {
            _ if apart + error <= allowed => Some(true),
            _ if apart - error > allowed => Some(false),
            _ => None,
        }
    }
}

/// The two operands of a step, if they have one dtype.
fn operands(trace: Trace, at: usize, step: &Step) -> Option<[Elements; 2]> {
    let [Arg::Tensor(a), Arg::Tensor(b), ..] = &step.args[..] else { return None };
    let (a, b) = (trace.before(at, *a)?, trace.before(at, *b)?);
    (a.dtype == b.dtype && a.dtype.category() != Category::Complex).then_some([a, b])
}

/// The elements of two operands that meet, by number.
type Pairs = Vec<(usize, usize)>;

/// Pairs of elements that meet, and the shape that they do so in.
fn pairs(a: &Elements, b: &Elements) -> Option<(Vec<i64>, Pairs)> {
    let sizes = a.shape.broadcast(&b.shape).ok()?.sizes().to_vec();
    if sizes.iter().product::<i64>() > 4096 {
        return None;
    }
    let [a, b] = [a, b].map(|one| View::of(one.shape.sizes()).expanded(&sizes));
    let (a, b) = (a?, b?);
    let count = a.count();
    let pair = |number| {
        let index = unravel(&sizes, number);
        (a.place(&index), b.place(&index))
    };
    let pairs = (0..count).map(pair).collect();
    Some((sizes, pairs))
}

/// The first element of an `isclose` that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let [a, b] = operands(trace, at, step)?;
    let tolerances = Tolerances::of(step)?;
    let (sizes, pairs) = pairs(&a, &b)?;
    if result.shape.sizes() != sizes {
        return Some(wrong_shape(step, result, &sizes, CLOSE));
    }
    let observed = Elements::of(result)?;
    for (number, (one, other)) in pairs.into_iter().enumerate() {
        let (one, other, observed) = (a.values[one], b.values[other], observed.values[number]);
        let Some(holds) = tolerances.hold(a.dtype, one, other) else { continue };
        if observed != Scalar::Bool(holds) {
            let right = Right::by(CLOSE, Set::Exactly(Scalar::Bool(holds)));
            return Some(Wrong { right, at: number, observed, operands: vec![one, other] }.difference(step, result));
        }
    }
    None
}

/// The difference of the answer of `allclose` or `equal`.
pub(super) fn judge_truth(trace: Trace, at: usize, step: &Step, observed: Scalar) -> Option<Difference> {
    if !matches!(step.op, Op::Allclose | Op::Equal) {
        return None;
    }
    let [a, b] = operands(trace, at, step)?;
    let (by, right) = if step.op == Op::Equal { (EQUAL, equal(&a, &b)) } else { (CLOSE, all_close(step, &a, &b)?) };
    (observed != Scalar::Bool(right)).then(|| Difference {
        value: step.name.clone(),
        aspect: Aspect::Values,
        by: format!("{MATHEMATICS}{by}"),
        expected: format!("{right}: {} in {}", format::call(step), a.dtype),
        observed: observed.to_string(),
    })
}

fn equal(a: &Elements, b: &Elements) -> bool {
    let same = |(one, other): (&Scalar, &Scalar)| match (one, other) {
        (Scalar::Float(one), Scalar::Float(other)) => one == other,
        (one, other) => one == other,
    };
    a.shape == b.shape && a.values.iter().zip(&b.values).all(same)
}

fn all_close(step: &Step, a: &Elements, b: &Elements) -> Option<bool> {
    let tolerances = Tolerances::of(step)?;
    let (_, pairs) = pairs(a, b)?;
    let each: Vec<Option<bool>> =
        pairs.into_iter().map(|(one, other)| tolerances.hold(a.dtype, a.values[one], b.values[other])).collect();
    // One pair that is apart decides, whatever the others are.
    if each.contains(&Some(false)) {
        return Some(false);
    }
    each.into_iter().all(|one| one.is_some()).then_some(true)
}
