//! Slopes: how much each element of a result changes with each element of an operand.
//!
//! Pointwise functions and losses have the derivative of their [formula], taken in numbers that are wide enough for
//! differences to be exact. Views, indexing, sums and products are linear in each operand: the slope is 1, or the factor.

use std::collections::HashMap;

use super::elementwise::{self, Operand};
use super::formula::formula;
use super::indexing::{Chosen, Combination, Made};
use super::product;
use super::reduction::{Options, total};
use super::selection::{selection, selects};
use super::set::{Format, as_float, exponent, power};
use super::trace::{Elements, Trace};
use super::wide::{BITS, Real, Wide};
use super::{Details, activation, closed, distance, order, scan, view};
use crate::ops::{Family, Op, ParamKind};
use crate::program::{Arg, Step};
use crate::tensor::Category;

/// The size of a step relative to the operand: its square is far below the roundoff of every dtype.
const STEP: i32 = -70;

/// The most edges of one step.
const MOST: usize = 1 << 14;

/// The dependence of an element of the result on an element of an argument; of complex numbers, of a part on a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    pub result: usize,
    pub arg: usize,
    pub element: usize,
    /// The least and the greatest derivative; `None` where there is none, or it is not known.
    pub slope: Option<(f64, f64)>,
}

impl Edge {
    fn linear(result: usize, arg: usize, element: usize, slope: f64) -> Edge {
        Edge { result, arg, element, slope: Some((slope, slope)).filter(|_| slope.is_finite()) }
    }
}

/// A step whose slopes are wanted.
pub(super) struct Slopes<'a> {
    pub trace: Trace<'a>,
    pub number: usize,
    pub step: &'a Step,
    /// The result, and the format that it is computed in.
    pub result: &'a Elements,
    pub format: Format,
    /// The units of roundoff by which operands are moved.
    pub nearby: f64,
}

impl Slopes<'_> {
    /// The edges from the result to the arguments that are wanted, of which `budget` may be computed in wide numbers;
    /// `None` where the operation is not known.
    pub fn edges(&self, wanted: &[bool], budget: &mut usize) -> Option<Vec<Edge>> {
        let edges = match self.step.op.info().family() {
            _ if selects(self.step.op) => self.selected(&selection(self.trace, self.number, self.step)?)?,
            Family::Pointwise => self.pointwise(wanted, budget, None)?,
            Family::Losses if self.step.op == Op::Cdist => self.farthest()?,
            Family::Losses => {
                let text = |arg: &Arg| if let Arg::Text(text) = arg { Some(text.clone()) } else { None };
                let reduction = self.step.args.iter().find_map(text);
                self.pointwise(wanted, budget, reduction.as_deref().filter(|text| *text != "none"))?
            }
            Family::Reductions if scan::scans(self.step.op) => {
                of_first(scan::slopes(self.step, &self.operand(0)?, self.result, self.format)?)
            }
            Family::Reductions if order::chooses(self.step.op) => {
                of_first(order::slopes(self.step, &self.operand(0)?, self.result)?)
            }
            _ if self.step.op == Op::LayerNorm => return None,
            Family::Reductions => self.reduced()?,
            Family::Products => self.multiplied()?,
            _ => return None,
        };
        (edges.len() <= MOST).then_some(edges)
    }

    /// Returns whether the result, or an argument that is wanted, has complex numbers.
    pub fn are_complex(&self, wanted: &[bool]) -> bool {
        let is_complex = |arg: usize| self.operand(arg).is_some_and(|one| one.dtype.category() == Category::Complex);
        self.result.dtype.category() == Category::Complex || (0..wanted.len()).any(|arg| wanted[arg] && is_complex(arg))
    }

    /// The elements of an argument before the step.
    pub fn operand(&self, arg: usize) -> Option<Elements> {
        match self.step.args.get(arg)? {
            Arg::Tensor(value) => self.trace.before(self.number, *value),
            _ => None,
        }
    }

    /// The edges of a step that only chooses elements, or adds them up.
    pub fn selected(&self, chosen: &Chosen) -> Option<Vec<Edge>> {
        if chosen.sizes != self.result.shape.sizes() {
            return None;
        }
        let mut edges = Vec::new();
        for (result, made) in chosen.elements.iter().enumerate() {
            let (Made::Sum(sources) | Made::OneOf(sources) | Made::Combined(_, sources)) = made;
            // Which one was written is open; the slopes of other functions are not judged. That of a product is a quotient
            // of it, which is rounded where a factor is alone, too.
            let rounded =
                if self.step.args.contains(&Arg::Text("prod".to_owned())) { self.format.ulp(1.0) } else { 0.0 };
            let adds = matches!(made, Made::Sum(_) | Made::Combined(Combination::Sum, _));
            let slope = if adds { Some((1.0 - rounded, 1.0 + rounded)) } else { None };
            edges.extend(sources.iter().map(|&(arg, element)| Edge { result, arg, element, slope }));
        }
        Some(edges)
    }

    /// The elements of the operand that each of a reduction is made of, and the correction of a variance.
    pub fn groups(&self, operand: &Elements) -> Option<(Vec<Vec<usize>>, f64)> {
        if self.step.op == Op::SumToSize {
            return Some((summed(operand.shape.sizes(), self.result.shape.sizes())?, 0.0));
        }
        let options = Options::of(self.step, operand, self.result.shape.sizes())?;
        Some((options.groups(operand, self.result.shape.sizes())?, options.correction))
    }

    fn reduced(&self) -> Option<Vec<Edge>> {
        let operand = self.operand(0)?;
        let (groups, correction) = self.groups(&operand)?;
        let mut edges = Vec::with_capacity(operand.values.len());
        for (result, group) in groups.iter().enumerate() {
            let values: Vec<f64> = group.iter().map(|at| as_float(operand.values[*at])).collect::<Option<_>>()?;
            let spreads = matches!(self.step.op, Op::Var | Op::Std);
            let spread = if spreads { Spread::of(&values, correction, self.format) } else { None };
            for (at, element) in group.iter().enumerate() {
                let slope = match self.step.op {
                    Op::Var => spread.as_ref().and_then(|spread| spread.slope_of_variance(values[at])),
                    Op::Std => spread.as_ref().and_then(|spread| spread.slope_of_deviation(values[at])),
                    Op::Sum | Op::SumToSize => Some((1.0, 1.0)),
                    Op::Nansum => Some(if values[at].is_nan() { (0.0, 0.0) } else { (1.0, 1.0) }),
                    Op::Nanmean => share_of_mean(&values, at),
                    Op::Mean => Some((1.0 / group.len() as f64, 1.0 / group.len() as f64)),
                    Op::Amax | Op::Amin => extreme(self.step.op, &values, at),
                    Op::Logsumexp => share_of_sum(self.format, &values, at),
                    Op::Prod => {
                        let others = values.iter().enumerate().filter(|(other, _)| *other != at);
                        let product = others.map(|(_, value)| value).product::<f64>();
                        Some((product, product)).filter(|_| self.is_tame_product(&values))
                    }
                    _ => return None,
                };
                edges.push(Edge { result, arg: 0, element: *element, slope });
            }
        }
        Some(edges)
    }

    /// Returns whether no product of some of the numbers overflows or underflows: few numbers of moderate size.
    fn is_tame_product(&self, values: &[f64]) -> bool {
        let most: f64 = values.iter().map(|value| value.abs().max(1.0)).product();
        let least: f64 = values.iter().filter(|value| **value != 0.0).map(|value| value.abs().min(1.0)).product();
        let range = self.format.smallest_normal().sqrt()..self.format.largest().sqrt();
        values.len() <= 12 && range.contains(&most) && range.contains(&least)
    }

    /// The edges of an argument that a factor multiplies, if the factor is not finite: the product of it and a sum of nothing is
    /// NaN, and where it is left out for want of terms it is 0.
    pub fn unknown(&self, arg: usize, is_finite: bool) -> Option<Vec<Edge>> {
        let count = if is_finite { 0 } else { self.operand(arg)?.values.len() };
        Some((0..count).map(|element| Edge { result: 0, arg, element, slope: None }).collect())
    }

    fn multiplied(&self) -> Option<Vec<Edge>> {
        let (first, summand) = product::places(self.step);
        let (a, b) = (self.operand(first)?, self.operand(first + 1)?);
        let terms = product::terms(self.step, a.shape.sizes(), b.shape.sizes(), self.result.shape.sizes())?;
        if terms.len() != self.result.values.len() || terms.iter().map(Vec::len).sum::<usize>() > MOST {
            return None;
        }
        let factor = |name| product::factor(self.step, name).and_then(as_float);
        let (alpha, beta) = (factor("alpha")?, factor("beta")?);
        let mut edges = self.unknown(first, alpha.is_finite())?;
        edges.extend(self.unknown(first + 1, alpha.is_finite())?);
        for (result, terms) in terms.iter().enumerate() {
            for &(one, other) in terms {
                let (x, y) = (as_float(a.values[one])?, as_float(b.values[other])?);
                edges.push(Edge::linear(result, first, one, alpha * y));
                edges.push(Edge::linear(result, first + 1, other, alpha * x));
            }
        }
        if let Some(summand) = summand {
            edges.extend(self.unknown(summand, beta.is_finite())?);
            let added = view::View::of(self.operand(summand)?.shape.sizes()).expanded(self.result.shape.sizes())?;
            let places = added.places()?.into_iter().enumerate();
            edges.extend(places.map(|(result, place)| Edge::linear(result, summand, place, beta)));
        }
        Some(edges)
    }

    fn pointwise(&self, wanted: &[bool], budget: &mut usize, reduction: Option<&str>) -> Option<Vec<Edge>> {
        // Its buffer is a function of its operand.
        if self.step.op == Op::LogSigmoidBackward {
            return None;
        }
        let reduction = reduction.filter(|_| !activation::is_gradient(self.step.op));
        let (operands, details) = elementwise::operands(self.trace, self.number, self.step)?;
        // The weights of channels are aligned in a way of their own.
        if self.step.op == Op::Prelu && operands.get(1)?.values.len() > 1 {
            return None;
        }
        let mut shape = self.result.shape.clone();
        if reduction.is_some() {
            let first = operands.first()?.shape.clone();
            shape = operands.iter().try_fold(first, |shape, one| shape.broadcast(&one.shape).ok())?;
        }
        let count = shape.numel();
        let share = if reduction == Some("mean") { 1.0 / count as f64 } else { 1.0 };
        let mut edges = Vec::new();
        // Broadcasting lets the same numbers meet again and again.
        let mut known = HashMap::new();
        for element in 0..count {
            let places = elementwise::places(&operands, &shape, element)?;
            let args = self.arguments(&operands, &places);
            for arg in (0..self.step.args.len()).filter(|arg| wanted[*arg]) {
                let which = self.place(arg);
                let mut slope = None;
                if let (Some(args), true) = (&args, *budget > 0) {
                    *budget -= 1;
                    let key: (Vec<u64>, usize) = (args.iter().map(|arg| arg.to_bits()).collect(), which);
                    let one = *known.entry(key).or_insert_with(|| self.slope(args, which, &details));
                    slope = one.map(|(low, high)| (low * share, high * share));
                }
                let result = if reduction.is_some() { 0 } else { element };
                edges.push(Edge { result, arg, element: *places.get(which)?, slope });
            }
        }
        Some(edges)
    }

    /// The number of an argument among those that are operands.
    pub fn place(&self, arg: usize) -> usize {
        let before = &self.step.op.info().arguments[..arg];
        before.iter().filter(|param| matches!(param.kind, ParamKind::Tensor | ParamKind::Operand)).count()
    }

    /// The edges of the largest differences of the coordinates of rows: of several of them, any share.
    fn farthest(&self) -> Option<Vec<Edge>> {
        let (a, b) = (self.operand(0)?, self.operand(1)?);
        let plan =
            distance::Plan::of_cdist(self.step, &a, &b).filter(|plan| plan.sizes == self.result.shape.sizes())?;
        if !matches!(self.step.args.get(2), Some(Arg::Number(order)) if as_float(*order)? == f64::INFINITY) {
            return None;
        }
        if plan.pairs.iter().map(Vec::len).sum::<usize>() > MOST / 2 {
            return None;
        }
        let mut edges = Vec::new();
        for (result, pairs) in plan.pairs.iter().enumerate() {
            let difference =
                |&(one, other): &(usize, usize)| Some(as_float(a.values[one])? - as_float(b.values[other])?);
            let differences: Vec<f64> = pairs.iter().map(difference).collect::<Option<_>>()?;
            let most = differences.iter().fold(0.0f64, |most, difference| most.max(difference.abs()));
            let least = most - 4.0 * self.format.ulp(most);
            let ties = differences.iter().filter(|difference| difference.abs() >= least).count();
            for (&(one, other), difference) in pairs.iter().zip(&differences) {
                let share = match difference.abs() >= least {
                    _ if differences.iter().any(|difference| !difference.is_finite()) => None,
                    false => Some((0.0, 0.0)),
                    true if most == 0.0 => Some((-1.0, 1.0)),
                    true if ties == 1 => Some((difference.signum(), difference.signum())),
                    true => Some((difference.signum().min(0.0), difference.signum().max(0.0))),
                };
                edges.push(Edge { result, arg: 0, element: one, slope: share });
                edges.push(Edge { result, arg: 1, element: other, slope: share.map(|(low, high)| (-high, -low)) });
            }
        }
        Some(edges)
    }

    /// The operands of an element in the format of the result, if they are finite, or the derivative has a limit.
    fn arguments(&self, operands: &[Operand], places: &[usize]) -> Option<Vec<f64>> {
        let float = |(operand, place): (&Operand, &usize)| Some(self.format.round(as_float(operand.values[*place])?));
        let args: Vec<f64> = operands.iter().zip(places).map(float).collect::<Option<_>>()?;
        let limits = closed::has_limits(self.step.op);
        args.iter().all(|value| value.is_finite() || limits && value.is_infinite()).then_some(args)
    }

    /// The least and the greatest derivative by one operand, at the operands and near them.
    fn slope(&self, args: &[f64], which: usize, details: &Details) -> Option<(f64, f64)> {
        let op = self.step.op;
        if let Some(slope) = closed::slope(op, self.format, args, which, details) {
            return slope;
        }
        let (mut low, mut high) = slopes(op, args, which, details)?;
        let lost = 16.0 * self.format.ulp(1.0) * activation::cancelled(op, args, which);
        (low, high) = (low - lost, high + lost);
        if self.nearby > 0.0 {
            // A number is rounded to the format, or not: below the normal ones that is more than a few units.
            let numbers = details.numbers.map(|number| number.map(|number| self.format.round(number)));
            if numbers != details.numbers {
                let (least, greatest) = slopes(op, args, which, &Details { numbers, ..*details })?;
                (low, high) = (low.min(least), high.max(greatest));
            }
            // Zero is what it is: no rounding makes it.
            for moved in (0..args.len()).filter(|moved| args[*moved] != 0.0) {
                for direction in [-1.0, 1.0] {
                    let mut args = args.to_vec();
                    args[moved] += direction * self.nearby * self.format.ulp(args[moved]);
                    let (least, greatest) = slopes(op, &args, which, details)?;
                    (low, high) = (low.min(least), high.max(greatest));
                }
            }
        }
        Some((low, high))
    }
}

/// The edges to the first argument.
fn of_first(slopes: Vec<scan::SlopeAt>) -> Vec<Edge> {
    slopes.into_iter().map(|(result, element, slope)| Edge { result, arg: 0, element, slope }).collect()
}

/// The spread of numbers around their mean, and what an implementation may lose of a number's distance from it.
struct Spread {
    mean: f64,
    freedom: f64,
    variance: f64,
    lost: f64,
}

impl Spread {
    /// `None` where there is no degree of freedom, or the squares overflow.
    fn of(values: &[f64], correction: f64, format: Format) -> Option<Spread> {
        let (count, freedom) = (values.len() as f64, values.len() as f64 - correction);
        let largest = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        if freedom <= 0.0 || !largest.is_finite() || largest * largest * count > format.largest() {
            return None;
        }
        let mean = total(values) / count;
        let squares: Vec<f64> = values.iter().map(|value| (value - mean) * (value - mean)).collect();
        let lost = 2.0 * (count + 2.0) * format.ulp(largest);
        Some(Spread { mean, freedom, variance: total(&squares) / freedom, lost })
    }

    /// Twice the distance from the mean, by the degrees of freedom.
    fn slope_of_variance(&self, value: f64) -> Option<(f64, f64)> {
        let distance = value - self.mean;
        let ends = [distance - self.lost, distance + self.lost].map(|end| 2.0 * end / self.freedom);
        Some((ends[0], ends[1]))
    }

    /// The same by twice the deviation; `None` where that may be zero, or next to it.
    fn slope_of_deviation(&self, value: f64) -> Option<(f64, f64)> {
        let deviation = self.variance.sqrt();
        // A deviation is off by no more than the distances that it is made of.
        let range = [deviation - 2.0 * self.lost, deviation + 2.0 * self.lost];
        let (low, high) = self.slope_of_variance(value)?;
        let ends = [low / range[0], low / range[1], high / range[0], high / range[1]].map(|end| end / 2.0);
        let (low, high) = (ends.into_iter().fold(ends[0], f64::min), ends.into_iter().fold(ends[0], f64::max));
        (range[0] > 8.0 * self.lost).then_some((low, high))
    }
}

/// The elements that `sum_to_size` adds up for each of the result.
fn summed(own: &[i64], result: &[i64]) -> Option<Vec<Vec<usize>>> {
    let places = view::View::of(result).expanded(own)?.places()?;
    let mut groups = vec![Vec::new(); result.iter().product::<i64>() as usize];
    for (element, place) in places.into_iter().enumerate() {
        groups[place].push(element);
    }
    Some(groups)
}

/// The share that an element has of the mean of those that are not NaN. The mean of none is NaN and has no derivative.
fn share_of_mean(values: &[f64], at: usize) -> Option<(f64, f64)> {
    let count = values.iter().filter(|value| !value.is_nan()).count();
    let share = if values[at].is_nan() { 0.0 } else { 1.0 / count as f64 };
    (count > 0).then_some((share, share))
}

/// The share that the exponential of a number has in the sum of all: any share of those that are infinite alike.
fn share_of_sum(format: Format, values: &[f64], at: usize) -> Option<(f64, f64)> {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() || values.iter().any(|value| value.is_nan()) {
        return extreme(Op::Amax, values, at);
    }
    let exponential = |value: f64| (value - largest).exp();
    let sum = values.iter().map(|value| exponential(*value)).sum::<f64>();
    let share = exponential(values[at]) / sum;
    let spread = values.iter().filter(|value| value.is_finite()).map(|value| value.abs()).fold(1.0, f64::max);
    let lost = share * format.ulp(1.0) * (16.0 + values.len() as f64 + 4.0 * spread);
    Some((share - lost, share + lost)).filter(|_| lost < share.max(f64::MIN_POSITIVE))
}

/// The slopes of an extreme: 1 for the only one, any share of it among several.
fn extreme(op: Op, values: &[f64], at: usize) -> Option<(f64, f64)> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let best = if op == Op::Amax {
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    } else {
        values.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let is_shared = values.iter().filter(|value| **value == best).count() > 1;
    Some(match values[at] == best {
        true if is_shared => (0.0, 1.0),
        true => (1.0, 1.0),
        false => (0.0, 0.0),
    })
}

/// The one-sided derivatives by one operand, the smaller first; `None` where there are none that are finite. At an end of
/// the operands that the function has a value for, the derivative is that from within.
fn slopes(op: Op, args: &[f64], which: usize, details: &Details) -> Option<(f64, f64)> {
    let factor = match details.factor {
        None => Some(1.0),
        Some(factor) => as_float(factor),
    };
    let both = |slope: f64| Some((slope, slope)).filter(|_| slope.is_finite());
    match (op, which) {
        (Op::Add | Op::Sub, 0) | (Op::Rsub, 1) | (Op::Copy | Op::Fill, 1) => return both(1.0),
        (Op::Add, 1) => return both(factor?),
        (Op::Sub, 1) | (Op::Rsub, 0) => return both(-factor?),
        (Op::Copy | Op::Fill, 0) => return both(0.0),
        (Op::Mul, _) => return both(args[1 - which]),
        (Op::SpecialZeta, 1) => return slope_of_zeta(args[0], args[1]),
        // Next to zero it bends within the smallest steps.
        (Op::Pow | Op::FloatPower, 0) if args[0] > 0.0 => {
            let [base, exponent] = [args[0], args[1]].map(Wide::of);
            let slope = exponent.clone() * base.powf(exponent - Wide::of(1.0));
            return Some(slope).filter(Wide::is_number).and_then(|slope| both(slope.nearest()));
        }
        // It jumps at the integers, all of which a large step may be.
        (Op::Frac, _) => return both(1.0).filter(|_| args[0] != args[0].trunc()),
        _ => {}
    }
    let exact: Vec<Wide> = args.iter().map(|value| Wide::of(*value)).collect();
    let at = |step: Wide| {
        let mut args = exact.clone();
        args[which] = args[which].clone() + step;
        formula(op, &args, details).filter(Wide::is_number)
    };
    let middle = at(Wide::of(0.0))?;
    // Steps next to the smallest numbers would be lost in what the function rounds.
    let scale = if args[which] == 0.0 { 0 } else { exponent(args[which]).max(-40) };
    let slope = |relative: i32, sign: f64| {
        let step = Wide::of(sign * power((scale + relative).max(-1000)));
        Some(((at(step.clone())? - middle.clone()) / step).nearest())
    };
    // What the rounding of the function loses of the quotient.
    let mut lost = middle.nearest().abs() * power(16 - BITS as i32) / power((scale + STEP - 12).max(-1000));
    let mut sides = Vec::with_capacity(2);
    for sign in [1.0, -1.0] {
        let (Some(coarse), Some(fine)) = (slope(STEP, sign), slope(STEP - 12, sign)) else { continue };
        // A quotient that depends on the step has no limit.
        let (apart, most) = ((coarse - fine).abs(), 1e-12 * (1.0 + coarse.abs().max(fine.abs())));
        if apart.is_nan() || apart > most {
            return None;
        }
        sides.push((fine, apart));
    }
    let (&(one, apart), &(other, _)) = (sides.first()?, sides.last()?);
    // From one side alone, the quotient is off by less than it changes with the step.
    if sides.len() == 1 {
        lost += apart;
    }
    Some((one.min(other) - lost, one.max(other) + lost))
}

/// The slope of the Hurwitz zeta function by its second operand: -s zeta(s + 1, q), by the Euler-Maclaurin formula
/// (DLMF 25.11.17 and 25.11.7), for orders and operands of which a few terms are enough.
fn slope_of_zeta(s: f64, q: f64) -> Option<(f64, f64)> {
    const TERMS: usize = 24;
    /// Bernoulli numbers of even index, by the factorial of the index.
    const BERNOULLI: [f64; 6] =
        [1.0 / 12.0, -1.0 / 720.0, 1.0 / 30240.0, -1.0 / 1_209_600.0, 1.0 / 47_900_160.0, -691.0 / 1_307_674_368_000.0];
    let order = s + 1.0;
    if !(1.0 < s && s <= 16.0 && 0.0 < q && q <= 1e6) {
        return None;
    }
    let rest = q + TERMS as f64;
    let mut value: f64 = (0..TERMS).map(|at| (q + at as f64).powf(-order)).sum();
    value += rest.powf(1.0 - order) / (order - 1.0) + rest.powf(-order) / 2.0;
    let mut factor = order * rest.powf(-order - 1.0);
    for (at, number) in BERNOULLI.iter().enumerate() {
        value += number * factor;
        let next = order + 2.0 * at as f64;
        factor *= (next + 1.0) * (next + 2.0) / (rest * rest);
    }
    // No library states a bound for its own sum of powers: a hundred units of roundoff of float32.
    let (slope, off) = (-s * value, s * value * 1e-5);
    Some((slope - off, slope + off))
}
