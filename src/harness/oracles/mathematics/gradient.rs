//! Gradients: derivatives of the definitions, taken in numbers that are wide enough for differences to be exact.
//!
//! The gradient is walked back from the root to the leaf, through operations that have a [formula], sums, and losses. A
//! path through anything else is left to the other oracles. At a kink any number between the one-sided derivatives is
//! right (a subgradient); where a derivative is infinite, or does not exist, nothing is known.

use std::collections::BTreeMap;

use super::elementwise;
use super::formula::formula;
use super::set::{Format, as_float};
use super::trace::{Elements, Trace};
use super::wide::{Real, Wide};
use super::{Details, index};
use crate::model::finding::MATHEMATICS;
use crate::ops::{Family, Form, Op};
use crate::program::{Arg, Outcome, Step, TensorValue, ValueRef};
use crate::tensor::Category;
use crate::{Aspect, Difference};

/// The most derivatives of a program that are taken.
const MOST: usize = 512;

/// The size of a step relative to the operand: its square is far below the roundoff of every dtype.
const STEP: i32 = -70;

/// What arrives at an element, and how far an implementation may be off: `low` to `high`, `error` on either side.
#[derive(Clone, Copy, Debug, Default)]
struct Arriving {
    low: f64,
    high: f64,
    error: f64,
    /// The sum of the magnitudes of what was added up.
    magnitude: f64,
}

/// The difference between the gradient of a leaf and the derivative.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let Some(Arg::Tensor(leaf)) = step.args.first() else { return None };
    if Format::of(result.dtype).is_none() || result.dtype.category() == Category::Complex {
        return None;
    }
    // Derivatives at operands as they are, and only if one is amiss at those nearby.
    let first = Walk::new(trace, at, *leaf, 0.0)?;
    first.wrong(step, result)?;
    Walk::new(trace, at, *leaf, 4.0)?.wrong(step, result)
}

/// A gradient on its way from the root to the leaf.
struct Walk<'a> {
    trace: Trace<'a>,
    leaf: ValueRef,
    arriving: BTreeMap<usize, Vec<Arriving>>,
    path: Vec<&'static str>,
    /// The units of roundoff by which operands are moved.
    nearby: f64,
    left: usize,
}

impl<'a> Walk<'a> {
    fn new(trace: Trace<'a>, at: usize, leaf: ValueRef, nearby: f64) -> Option<Walk<'a>> {
        let steps = &trace.program.steps[..at];
        let mut backwards = steps.iter().enumerate().filter(|(_, step)| step.op == Op::Backward);
        let ((back, backward), None) = (backwards.next()?, backwards.next()) else { return None };
        if steps.iter().any(|step| step.form != Form::Functional) || leaf.value >= trace.program.inputs.len() {
            return None;
        }
        if !matches!(trace.reply.steps.get(back)?.outcome, Outcome::Value(_)) {
            return None;
        }
        let Some(Arg::Tensor(root)) = backward.args.first() else { return None };
        let root_elements = trace.before(back, *root)?;
        let seeds: Vec<f64> = match backward.args.get(1) {
            Some(Arg::Nothing) => vec![1.0; root_elements.values.len()],
            Some(Arg::Tensor(gradient)) => {
                let gradient = trace.before(back, *gradient)?;
                if gradient.shape != root_elements.shape || gradient.dtype != root_elements.dtype {
                    return None;
                }
                gradient.values.into_iter().map(as_float).collect::<Option<_>>()?
            }
            _ => return None,
        };
        let seed = |value: f64| Arriving { low: value, high: value, error: 0.0, magnitude: value.abs() };
        let arriving = BTreeMap::from([(root.value, seeds.into_iter().map(seed).collect())]);
        let mut walk = Walk { trace, leaf, arriving, path: Vec::new(), nearby, left: MOST };
        for number in (0..back).rev() {
            walk.through(number)?;
        }
        Some(walk)
    }

    /// Returns whether a value is made of the leaf.
    fn depends(&self, value: usize) -> bool {
        let Some(number) = value.checked_sub(self.trace.program.inputs.len()) else { return value == self.leaf.value };
        let step = &self.trace.program.steps[number];
        step.op.info().differentiable && step.op != Op::Detach && step.uses().any(|used| self.depends(used.value))
    }

    /// Hands what arrived at the result of a step to its operands. `None` if that is not known.
    fn through(&mut self, number: usize) -> Option<()> {
        let value = self.trace.program.inputs.len() + number;
        let Some(arrived) = self.arriving.remove(&value) else { return Some(()) };
        if !self.depends(value) {
            return Some(());
        }
        let step = &self.trace.program.steps[number];
        let result = Elements::of(self.trace.reply.steps.get(number)?.outcome.tensors().first()?)?;
        let format = Format::of(result.dtype).filter(|_| result.dtype.category() == Category::Floating)?;
        self.path.push(step.op.name());
        match step.op.info().family() {
            Family::Pointwise => self.elementwise(number, step, &result, format, &arrived, None),
            Family::Losses => {
                let reduction =
                    step.args.iter().find_map(|arg| if let Arg::Text(text) = arg { Some(text.as_str()) } else { None });
                self.elementwise(number, step, &result, format, &arrived, reduction.filter(|text| *text != "none"))
            }
            Family::Reductions if step.op == Op::Sum && arrived.len() == 1 => {
                let Some(Arg::Tensor(own)) = step.args.first() else { return None };
                let count = self.trace.before(number, *own)?.values.len();
                self.add(*own, vec![arrived[0]; count]);
                Some(())
            }
            _ => None,
        }
    }

    fn add(&mut self, to: ValueRef, more: Vec<Arriving>) {
        match self.arriving.get_mut(&to.value) {
            Some(there) => there.iter_mut().zip(more).for_each(|(there, more)| *there = there.plus(more)),
            None => drop(self.arriving.insert(to.value, more)),
        }
    }

    fn elementwise(
        &mut self,
        number: usize,
        step: &Step,
        result: &Elements,
        format: Format,
        arrived: &[Arriving],
        reduction: Option<&str>,
    ) -> Option<()> {
        let (operands, details) = elementwise::operands(self.trace, number, step)?;
        let mut shape = result.shape.clone();
        if reduction.is_some() {
            shape = operands
                .iter()
                .try_fold(operands.first()?.shape.clone(), |shape, one| shape.broadcast(&one.shape).ok())?;
        }
        let targets: Vec<Option<ValueRef>> = tensors(step);
        let count = shape.numel();
        let mut handed: Vec<Vec<Arriving>> =
            operands.iter().map(|one| vec![Arriving::default(); one.values.len()]).collect();
        for element in 0..count {
            let places = elementwise::places(&operands, &shape, element)?;
            let mut args = Vec::with_capacity(operands.len());
            for (operand, place) in operands.iter().zip(&places) {
                args.push(format.round(as_float(operand.values[*place])?));
            }
            if args.iter().any(|value| !value.is_finite()) {
                return None;
            }
            let mut upstream = *arrived.get(if reduction.is_some() { 0 } else { element })?;
            if reduction == Some("mean") {
                upstream =
                    upstream.times(1.0 / count as f64, 1.0 / count as f64, format.ulp(upstream.high / count as f64));
            }
            for (which, target) in targets.iter().enumerate() {
                if !target.is_some_and(|target| self.depends(target.value)) {
                    continue;
                }
                self.left = self.left.checked_sub(1)?;
                let (low, high) = self.derivative(step.op, format, &args, which, &details)?;
                let own = operands[which].dtype.and_then(Format::of)?;
                let size = low.abs().max(high.abs());
                let largest = size * upstream.low.abs().max(upstream.high.abs());
                if !(largest <= own.largest() / 4.0 && size <= format.largest() / 4.0) {
                    return None;
                }
                let error =
                    16.0 * (format.ulp(largest) + own.ulp(largest)) + 16.0 * format.ulp(size) * upstream.magnitude;
                let term = upstream.times(low, high, error);
                handed[which][places[which]] = handed[which][places[which]].plus(term);
            }
        }
        for ((target, handed), operand) in targets.iter().zip(handed).zip(&operands) {
            if let Some(target) = target.filter(|target| self.depends(target.value)) {
                let own = operand.dtype.and_then(Format::of)?;
                let unit = own.ulp(1.0).max(format.ulp(1.0));
                let terms = (count / handed.len().max(1)) as f64;
                let rounded = |one: Arriving| Arriving { error: one.error + terms * unit * one.magnitude, ..one };
                self.add(target, handed.into_iter().map(rounded).collect());
            }
        }
        Some(())
    }

    /// The least and the greatest derivative by one operand.
    fn derivative(&self, op: Op, format: Format, args: &[f64], which: usize, details: &Details) -> Option<(f64, f64)> {
        let (mut low, mut high) = slopes(op, args, which, details)?;
        if self.nearby > 0.0 {
            for moved in 0..args.len() {
                for direction in [-1.0, 1.0] {
                    let mut args = args.to_vec();
                    args[moved] += direction * self.nearby * format.ulp(args[moved]);
                    let (least, greatest) = slopes(op, &args, which, details)?;
                    (low, high) = (low.min(least), high.max(greatest));
                }
            }
        }
        Some((low, high))
    }

    fn wrong(&self, step: &Step, result: &TensorValue) -> Option<Difference> {
        let arrived = self.arriving.get(&self.leaf.value)?;
        let format = Format::of(result.dtype)?;
        let elements = Elements::of(result)?;
        if elements.values.len() != arrived.len() {
            return None;
        }
        let each = elements.values.iter().zip(arrived).enumerate();
        let mut wrong = each.filter_map(|(at, (observed, arriving))| {
            let (middle, half) = (f64::midpoint(arriving.low, arriving.high), (arriving.high - arriving.low) / 2.0);
            let set = format.near(middle, half + arriving.error + 8.0 * format.smallest());
            (!set.contains(*observed)).then_some((at, observed, set))
        });
        let (at, observed, set) = wrong.next()?;
        let place = format!("[{}]", index(result.shape.sizes(), at).join(", "));
        Some(Difference {
            value: step.name.clone(),
            aspect: Aspect::Values,
            by: format!("{MATHEMATICS}the derivative of {}", self.path.join(" of ")),
            expected: format!("{set} at {place} in {}", result.dtype),
            observed: format!("{observed} at {place}"),
        })
    }
}

impl Arriving {
    fn plus(self, other: Arriving) -> Arriving {
        Arriving {
            low: self.low + other.low,
            high: self.high + other.high,
            error: self.error + other.error,
            magnitude: self.magnitude + other.magnitude,
        }
    }

    /// The product with a derivative, which loses something more.
    fn times(self, low: f64, high: f64, error: f64) -> Arriving {
        let ends = [self.low * low, self.low * high, self.high * low, self.high * high];
        let size = low.abs().max(high.abs());
        Arriving {
            low: ends.into_iter().fold(f64::INFINITY, f64::min),
            high: ends.into_iter().fold(f64::NEG_INFINITY, f64::max),
            error: self.error * size + error,
            magnitude: self.magnitude * size,
        }
    }
}

/// The tensor that each operand of a step is, if it is one.
fn tensors(step: &Step) -> Vec<Option<ValueRef>> {
    let operand = |arg: &Arg| match arg {
        Arg::Tensor(value) => Some(*value),
        _ => None,
    };
    step.args.iter().map(operand).collect()
}

/// The one-sided derivatives by one operand, the smaller first; `None` where there are none that are finite.
fn slopes(op: Op, args: &[f64], which: usize, details: &Details) -> Option<(f64, f64)> {
    let exact: Vec<Wide> = args.iter().map(|value| Wide::of(*value)).collect();
    let at = |step: Wide| {
        let mut args = exact.clone();
        args[which] = args[which].clone() + step;
        formula(op, &args, details).filter(Wide::is_number)
    };
    let middle = at(Wide::of(0.0))?;
    let scale = if args[which] == 0.0 { 0 } else { super::set::exponent(args[which]) };
    let slope = |relative: i32, sign: f64| {
        let step = Wide::of(sign * super::set::power((scale + relative).max(-1000)));
        Some(((at(step.clone())? - middle.clone()) / step).nearest())
    };
    let mut sides = Vec::with_capacity(2);
    for sign in [1.0, -1.0] {
        let (coarse, fine) = (slope(STEP, sign)?, slope(STEP - 12, sign)?);
        // A quotient that depends on the step has no limit.
        let (apart, most) = ((coarse - fine).abs(), 1e-12 * (1.0 + coarse.abs().max(fine.abs())));
        if apart.is_nan() || apart > most {
            return None;
        }
        sides.push(fine);
    }
    Some((sides[0].min(sides[1]), sides[0].max(sides[1])))
}
