//! Operations that combine operands element by element.

use super::set::{Format, Set, as_float, as_integer};
use super::trace::{Elements, Trace};
use super::view::{View, unravel};
use super::{Details, Right, Wrong, complex, integer, real, unary};
use crate::ops::{Form, Op, ParamKind, ResultType};
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::element::Element;
use crate::tensor::{Category, DType, Scalar, Shape};
use crate::{Difference, with_element_type};

/// The most elements of a result that are judged: evenly spread ones of larger results.
const MOST: usize = 512;

const BEYOND: &str = "numpy.equal and its like: a Python integer is compared by its value, one that the dtype lacks too; by type promotion it is converted to the dtype first";

const CONVERSION: &str =
    "torch.Tensor.copy_: the element, in the dtype of the target; IEEE 754-2019, 5.4.2: a conversion rounds once";

/// The largest integer up to which float64 has all of them.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// An operand: a tensor, or a number.
pub(super) struct Operand {
    /// `None` for a number.
    pub dtype: Option<DType>,
    pub shape: Shape,
    pub values: Vec<Scalar>,
}

impl Operand {
    fn number(value: Scalar) -> Operand {
        Operand { dtype: None, shape: Shape::scalar(), values: vec![value] }
    }

    fn of(trace: Trace, at: usize, arg: &Arg) -> Option<Operand> {
        match arg {
            Arg::Tensor(value) => {
                let Elements { dtype, shape, values } = trace.before(at, *value)?;
                Some(Operand { dtype: Some(dtype), shape, values })
            }
            Arg::Number(number) => Some(Operand::number(*number)),
            _ => None,
        }
    }

    /// The operand as it broadcasts to a shape.
    fn view(&self, shape: &Shape) -> Option<View> {
        View::of(self.shape.sizes()).expanded(shape.sizes())
    }

    /// The elements that an operand may be taken for in a dtype. A single element of another dtype may be rounded to a
    /// format of 16 bits at once, or be kept wider until the result is.
    fn taken(&self, number: usize, dtype: DType) -> Vec<Scalar> {
        let value = self.values[number];
        if self.dtype == Some(dtype) {
            return vec![value];
        }
        let converted = convert(value, dtype);
        let (Some(format), Some(wide)) = (Format::of(dtype), as_float(value)) else { return vec![converted] };
        if dtype.category() == Category::Complex {
            return vec![converted];
        }
        let mut taken = vec![converted];
        // A conversion may change the sign of NaN (IEEE 754-2019, 6.3).
        if wide.is_nan() {
            taken.extend([wide, -wide].map(Scalar::Float));
        }
        let mut add = |value: f64| {
            if !taken.contains(&Scalar::Float(value)) && !value.is_nan() {
                taken.push(Scalar::Float(value));
            }
        };
        add(format.round(wide));
        if self.values.len() == 1 {
            add(f64::from(wide as f32));
            add(wide);
        }
        taken
    }
}

/// The elements of operands that meet in an element of their common shape.
pub(super) fn places(operands: &[Operand], shape: &Shape, number: usize) -> Option<Vec<usize>> {
    let index = unravel(shape.sizes(), number);
    operands.iter().map(|operand| Some(operand.view(shape)?.place(&index))).collect()
}

/// The set of one truth, as a number of another dtype; `None` for any other set.
pub(super) fn truth_in(dtype: DType, set: Set) -> Option<Set> {
    let Set::Exactly(truth) = set else { return None };
    Some(Set::Exactly(convert(truth, dtype)))
}

/// A number in another dtype, as `Tensor.to` converts it.
pub(super) fn convert(value: Scalar, dtype: DType) -> Scalar {
    with_element_type!(dtype, T => T::from_scalar(value).to_scalar())
}

/// The dtype that operands promote to, by torch.result_type: tensors with dimensions first, then tensors without, then
/// numbers; one of lower rank counts if it is of a higher category.
pub(super) fn result_type(operands: &[Operand]) -> Option<DType> {
    let rank = |operand: &Operand| match operand.dtype {
        Some(_) if operand.shape.rank() > 0 => 0,
        Some(_) => 1,
        None => 2,
    };
    let mut result: Option<DType> = None;
    for wanted in 0..3 {
        let of_rank = operands.iter().filter(|operand| rank(operand) == wanted);
        let dtypes = of_rank.map(|operand| operand.dtype.unwrap_or_else(|| operand.values[0].dtype()));
        let Some(dtype) = dtypes.reduce(DType::promote) else { continue };
        result = Some(match result {
            Some(higher) if dtype.category() > higher.category() => match (higher, dtype.category()) {
                (DType::Float64, Category::Complex) => DType::Complex128,
                (higher, Category::Complex) if higher.category() == Category::Floating => DType::Complex64,
                _ => higher.promote(dtype),
            },
            Some(higher) => higher,
            None => dtype,
        });
    }
    result
}

/// The first element that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let result_elements = Elements::of(result)?;
    if step.form != Form::Functional && !is_apart(trace, at, step, result) {
        return None;
    }
    let (operands, details) = operands(trace, at, step)?;
    // The steps of a composition write to the target before the last of them reads.
    if step.op == Op::SoftMarginLossBackward && step.form != Form::Functional {
        return None;
    }
    if step.op == Op::Isclose || step.op == Op::Prelu && operands[1].values.len() > 1 {
        return None;
    }
    // Its steps round to the dtype of the input, between others that have the promoted one.
    if step.op == Op::SoftMarginLossBackward && operands.iter().any(|operand| operand.dtype != operands[0].dtype) {
        return None;
    }
    let judge = Judge { step, details, operands };
    judge.first_wrong(&result_elements).map(|wrong| wrong.difference(step, result))
}

/// The operands of a step, and its other arguments. `None` if any of them is not known.
pub(super) fn operands<'a>(trace: Trace, at: usize, step: &'a Step) -> Option<(Vec<Operand>, Details<'a>)> {
    let mut details = Details { number: 1.0, ..Details::default() };
    let mut operands = Vec::new();
    let flags = step.args.iter().filter_map(|arg| if let Arg::Flag(flag) = arg { Some(*flag) } else { None });
    for (slot, flag) in details.flags.iter_mut().zip(flags) {
        *slot = flag;
    }
    details.flag = step.args.iter().any(|arg| matches!(arg, Arg::Flag(true)));
    let numbers = step.op.info().arguments.iter().zip(&step.args);
    let numbers = numbers.filter(|(param, _)| matches!(param.kind, ParamKind::Number | ParamKind::Real));
    for (slot, (_, arg)) in details.numbers.iter_mut().zip(numbers) {
        *slot = if let Arg::Number(number) = arg { as_float(*number) } else { None };
    }
    for (number, (param, arg)) in step.op.info().arguments.iter().zip(&step.args).enumerate() {
        match (param.kind, arg) {
            (ParamKind::Tensor | ParamKind::Operand, Arg::Nothing) => *details.missing.get_mut(number)? = true,
            (ParamKind::Tensor | ParamKind::Operand, arg) => operands.push(Operand::of(trace, at, arg)?),
            (ParamKind::Number, Arg::Number(factor)) => details.factor = Some(*factor),
            (ParamKind::Text, Arg::Text(mode)) => details.mode = Some(mode),
            (ParamKind::Real, Arg::Nothing) if step.op == Op::LogitBackward => {}
            (ParamKind::Text, Arg::Nothing) | (ParamKind::Reduction | ParamKind::Flag, _) => {}
            (ParamKind::Real, Arg::Number(number)) => details.number = as_float(*number)?,
            _ => return None,
        }
    }
    if matches!(step.args.get(3), Some(Arg::Text(text)) if text == "mean") {
        details.share = operands.get(1).map(|input| 1.0 / input.values.len() as f64);
    }
    // Operands that are missing keep their place.
    for missing in 1..3 {
        if details.missing[missing] && step.op == Op::Clamp {
            operands.insert(missing.min(operands.len()), Operand::number(Scalar::Bool(false)));
        }
    }
    Some((operands, details))
}

/// Operations that may put several elements at one place in memory.
const EXPANDING: &[Op] =
    &[Op::Expand, Op::ExpandAs, Op::BroadcastTo, Op::BroadcastTensors, Op::Meshgrid, Op::AsStrided];

/// Returns whether the target of a step shares memory with no operand but itself, and no element of it with another.
pub(super) fn is_apart(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> bool {
    let strides = result.strides.iter().flatten().zip(result.shape.sizes());
    // Dense, or at least not so that steps along dimensions meet.
    let mut spans: Vec<(i64, i64)> =
        strides.filter(|(_, size)| **size > 1).map(|(step, size)| (*step, *size)).collect();
    spans.sort_unstable();
    let mut reach = 0;
    for (step, size) in spans {
        if step <= reach {
            return false;
        }
        reach += step * (size - 1);
    }
    let Some(target) = step.target() else { return false };
    // Without strides every element of what was expanded may be another's.
    let mut earlier = trace.program.steps.iter().take(at);
    if result.strides.is_none() && earlier.any(|step| EXPANDING.contains(&step.op)) {
        return false;
    }
    let own = trace.first_name(target);
    let operands = step.args.iter().flat_map(Arg::uses);
    let mut others = operands.filter(|value| trace.first_name(*value) != own);
    // One that was resized has lost its elements.
    let read = step.args.iter().flat_map(Arg::uses).any(|value| trace.first_name(value) == own);
    let resized = read && trace.before(at, target).is_none_or(|before| before.shape != result.shape);
    !resized && others.all(|value| !trace.may_alias(at, value, target))
}

struct Judge<'a> {
    step: &'a Step,
    details: Details<'a>,
    operands: Vec<Operand>,
}

impl Judge<'_> {
    /// The dtype that is computed in; `None` where that of the result does not tell.
    fn computed_in(&self, result: DType) -> Option<DType> {
        let given = self.promoting();
        let info = self.step.op.info();
        let common = result_type(given)?;
        // The complex dtype beside bfloat16 is complex64, and since 2.15 one of two bfloat16.
        let is_bfloat16 = |operand: &Operand| operand.dtype == Some(DType::Bfloat16);
        if self.is_truth() && common.category() == Category::Complex && given.iter().any(is_bfloat16) {
            return None;
        }
        match info.result {
            ResultType::Bool | ResultType::Same | ResultType::Second => Some(common),
            // Integers are divided as integers if the quotient is rounded.
            _ if self.details.mode.is_some() => Some(common),
            _ if self.step.form == Form::Functional => Some(result),
            ResultType::Float if common.category() < Category::Floating => Some(DType::Float32),
            ResultType::Promoted | ResultType::Float | ResultType::Chosen => Some(common),
            _ => None,
        }
    }

    /// The operands that take part in type promotion.
    fn promoting(&self) -> &[Operand] {
        if self.step.op == Op::Where { &self.operands[1..] } else { &self.operands }
    }

    fn first_wrong(&self, result: &Elements) -> Option<Wrong> {
        let dtype = self.computed_in(result.dtype)?;
        let views: Vec<View> =
            self.operands.iter().map(|operand| operand.view(&result.shape)).collect::<Option<_>>()?;
        let count = result.values.len();
        let stride = count.div_ceil(MOST).max(1);
        let numbers = (0..count).step_by(stride).chain(count.saturating_sub(8)..count);
        Wrong::first(numbers.filter_map(|number| {
            let index = unravel(result.shape.sizes(), number);
            let places: Vec<usize> = views.iter().map(|view| view.place(&index)).collect();
            let mut right = self.right(dtype, &places)?;
            if result.dtype != dtype && !self.is_truth() {
                let both = [dtype, result.dtype].iter().all(|dtype| dtype.category() == Category::Floating);
                let format = Format::of(result.dtype).filter(|_| both)?;
                right = right.converted(|set| Some(set.converted(format)))?;
            } else if self.is_truth() && result.dtype != DType::Bool {
                right = right.converted(|set| truth_in(result.dtype, set))?;
            }
            let operands = self.operands.iter().zip(&places).map(|(operand, &place)| operand.values[place]);
            Wrong::unless(right, number, result.values[number], operands)
        }))
    }

    /// Returns whether the result says whether something is so.
    fn is_truth(&self) -> bool {
        self.step.op.info().result == ResultType::Bool
    }

    /// The right results for one element, whichever way its operands are taken.
    fn right(&self, dtype: DType, places: &[usize]) -> Option<Right> {
        let op = self.step.op;
        let own = |number: usize| self.operands[number].values[places[number]];
        if self.operands.len() == 1
            && let Some(right) = unary::truth(op, own(0))
        {
            return Some(right);
        }
        match op {
            Op::Abs if let Scalar::Complex(value) = own(0) => return unary::magnitude(Format::of(dtype)?, value),
            Op::LogicalAnd | Op::LogicalOr | Op::LogicalXor => {
                let [a, b] = [truth(own(0)), truth(own(1))];
                let value = |a: bool, b: bool| {
                    Set::Exactly(Scalar::Bool(match op {
                        Op::LogicalAnd => a && b,
                        Op::LogicalOr => a || b,
                        _ => a != b,
                    }))
                };
                // Type promotion converts the operands first, by its page.
                let [promoted_a, promoted_b] = [0, 1].map(|number| truth(convert(own(number), dtype)));
                let right = Right::by("torch.logical_and: what is not 0 is true", value(a, b));
                return Some(right.disputed(value(promoted_a, promoted_b)));
            }
            Op::Where => {
                let chosen = if truth(own(0)) { 1 } else { 2 };
                let taken = self.operands[chosen].taken(places[chosen], dtype);
                let sets = taken.into_iter().map(|value| exactly(dtype, value));
                return Some(Right::by(
                    "torch.where: one operand where true, the other elsewhere",
                    sets.reduce(Set::or)?,
                ));
            }
            Op::Copy | Op::Fill => return self.copied(own(1)),
            Op::Complex | Op::Polar => {
                let (a, b) = (as_float(own(0))?, as_float(own(1))?);
                return complex::of_parts(op, Format::of(dtype)?, a, b);
            }
            _ => {}
        }
        if let Some(right) = self.beyond(dtype, own) {
            return Some(right);
        }
        // A bound stays the number that it is, although the dtype may lack it; beside a bound that is a tensor it may be
        // converted to the dtype as one.
        let is_clamp = matches!(op, Op::Clamp | Op::ClampMin | Op::ClampMax) && dtype.category() == Category::Integral;
        let numbers_alone = self.operands.iter().skip(1).all(|bound| bound.dtype.is_none());
        let taken = |(operand, &place): (&Operand, &usize)| match (is_clamp && operand.dtype.is_none(), numbers_alone) {
            (true, true) => vec![operand.values[place]],
            (true, false) => [operand.taken(place, dtype), vec![operand.values[place]]].concat(),
            (false, _) => operand.taken(place, dtype),
        };
        let taken: Vec<Vec<Scalar>> = self.operands.iter().zip(places).map(taken).collect();
        let mut result: Option<Right> = None;
        let mut args = vec![Scalar::Bool(false); taken.len()];
        let ways = taken.iter().map(Vec::len).product::<usize>().min(64);
        for way in 0..ways {
            let mut rest = way;
            for (arg, taken) in args.iter_mut().zip(&taken) {
                *arg = taken[rest % taken.len()];
                rest /= taken.len();
            }
            let right = self.of(dtype, &args)?;
            result = Some(match result {
                Some(result) => result.or(right),
                None => right,
            });
        }
        result
    }

    /// A comparison with a number that the dtype of the tensor lacks.
    fn beyond(&self, dtype: DType, own: impl Fn(usize) -> Scalar) -> Option<Right> {
        let [a, b] = &self.operands[..] else { return None };
        let is_beyond = |number: usize| as_integer(convert(own(number), dtype)) != as_integer(own(number));
        if a.dtype.is_some() && b.dtype.is_some() || dtype.category() != Category::Integral {
            return None;
        }
        if !(0..2).any(is_beyond) {
            return None;
        }
        let holds = |a: Scalar, b: Scalar| {
            let [a, b] = [a, b].map(|value| as_integer(value).map(Scalar::Int));
            Some(Set::Exactly(Scalar::Bool(compared(self.step.op, &[a?, b?])?)))
        };
        let right = Right::by(BEYOND, holds(own(0), own(1))?);
        Some(right.disputed(holds(convert(own(0), dtype), convert(own(1), dtype))?))
    }

    /// The element in the dtype of the target.
    fn copied(&self, value: Scalar) -> Option<Right> {
        let target = self.operands[0].dtype?;
        // The conversion of what the target cannot hold is undefined in C.
        if value.category() > target.category() && target.category() != Category::Bool {
            return None;
        }
        let set = match (Format::of(target), as_float(value)) {
            (Some(format), Some(wide)) if target.category() == Category::Floating => {
                let once = Set::float(format.round(wide));
                // An integer that float64 lacks is rounded twice here.
                let lacks = matches!(value, Scalar::Int(_)) && wide.abs() > EXACT;
                if lacks { once.or(exactly(target, convert(value, target))) } else { once }
            }
            _ => exactly(target, convert(value, target)),
        };
        Some(Right::by(CONVERSION, set))
    }

    fn of(&self, dtype: DType, args: &[Scalar]) -> Option<Right> {
        let op = self.step.op;
        if let Some(holds) = compared(op, args) {
            return Some(Right::by("IEEE 754-2019, 5.11: comparisons", Set::Exactly(Scalar::Bool(holds))));
        }
        match (dtype.category(), Format::of(dtype)) {
            (Category::Floating, Some(format)) => {
                let args: Option<Vec<f64>> = args.iter().map(|arg| as_float(*arg)).collect();
                real::right(op, format, &args?, &self.details)
            }
            (Category::Complex, Some(format)) => complex::right(op, format, args, &self.details),
            (Category::Complex, None) => None,
            _ => {
                let args = args.iter().map(|arg| as_integer(*arg)).collect::<Option<Vec<i64>>>()?;
                match args[..] {
                    [a] => unary::integer(op, dtype, a.into()),
                    _ => integer::right(op, dtype, &args, &self.details),
                }
            }
        }
    }
}

/// The set of one element of a dtype.
pub(super) fn exactly(dtype: DType, value: Scalar) -> Set {
    match value {
        Scalar::Float(value) => Set::float(value),
        Scalar::Complex(value) => Set::Parts(Box::new(Set::float(value.re)), Box::new(Set::float(value.im))),
        value => Set::Exactly(convert(value, dtype)),
    }
}

fn truth(value: Scalar) -> bool {
    match value {
        Scalar::Bool(value) => value,
        Scalar::Int(value) => value != 0,
        Scalar::Float(value) => value != 0.0,
        Scalar::Complex(value) => value.re != 0.0 || value.im != 0.0,
    }
}

/// Returns whether a comparison holds; `None` for what is no comparison, and for an order of complex numbers.
fn compared(op: Op, args: &[Scalar]) -> Option<bool> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if !matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge) {
        return None;
    }
    let order = match (args[0], args[1]) {
        (Scalar::Bool(a), Scalar::Bool(b)) => a.partial_cmp(&b),
        (Scalar::Int(a), Scalar::Int(b)) => a.partial_cmp(&b),
        (Scalar::Float(a), Scalar::Float(b)) => a.partial_cmp(&b),
        // Complex numbers have no order.
        (Scalar::Complex(a), Scalar::Complex(b)) if matches!(op, Op::Eq | Op::Ne) => (a == b).then_some(Equal),
        _ => return None,
    };
    Some(match op {
        Op::Eq => order == Some(Equal),
        Op::Ne => order != Some(Equal),
        Op::Lt => order == Some(Less),
        Op::Gt => order == Some(Greater),
        Op::Le => matches!(order, Some(Less | Equal)),
        _ => matches!(order, Some(Greater | Equal)),
    })
}
