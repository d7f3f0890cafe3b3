//! Gradients: what flows back from the root of each `backward` to a leaf, by the chain rule.
//!
//! Each element has an interval that its derivative lies in, and what an implementation may lose of it. At a kink any
//! number between the one-sided derivatives is right (a subgradient). Where a derivative is infinite, does not exist or
//! is not known, nothing is known of what it flows to. A gradient has the shape of its tensor, whatever its elements are.
//! The parts of a complex number count as two elements.

use std::collections::BTreeMap;

use super::jacobian::{self, flat, width};
use super::set::{Format, as_float};
use super::slope::{Edge, Slopes};
use super::trace::{Elements, Trace};
use super::view::{View, unravel};
use super::wrong_shape;
use crate::difference::MATHEMATICS;
use crate::ops::{Family, Form, Op};
use crate::program::{Arg, Outcome, Step, TensorValue, ValueRef};
use crate::tensor::Scalar;
use crate::{Aspect, Difference};

/// The most derivatives of a program that are taken in wide numbers.
const MOST: usize = 512;

const SHARE: &str =
    "coordinates that tie for the largest difference share one subgradient (Rockafellar, Convex Analysis, 23)";

const SHAPE: &str = "torch.Tensor.grad: a gradient has the shape of its tensor";

/// The gradient of an element, and how far an implementation may be off: `low` to `high`, `error` on either side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Arriving {
    low: f64,
    high: f64,
    error: f64,
    /// The sum of the magnitudes of what was added up.
    magnitude: f64,
}

/// The most that the magnitudes of some elements of the gradient may be together.
struct Share {
    elements: Vec<usize>,
    most: f64,
}

/// The gradients of the elements of a tensor; `None` for one of which nothing is known.
type Arrivals = Vec<Option<Arriving>>;

/// A tensor: the number of the value, or of the step that wrote it last, and the part of several results that it is.
type Node = (usize, usize);

/// An operand that a gradient flows to.
struct Target {
    node: Node,
    format: Format,
    /// The number of its parts.
    count: usize,
    /// The parts of an element.
    width: usize,
}

/// The difference between the gradient of a leaf and the derivative.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let Some(Arg::Tensor(leaf)) = step.args.first() else { return None };
    let own = &trace.program.inputs.get(leaf.value)?;
    if result.shape != own.shape && !trace.is_written(at, *leaf) {
        return Some(wrong_shape(step, result, own.shape.sizes(), SHAPE));
    }
    if width(result.dtype).is_none() || result.dtype != own.dtype {
        return None;
    }
    // Derivatives at operands as they are, and only if one is amiss at those nearby.
    Walk::new(trace, at, *leaf, 0.0)?.wrong(step, result)?;
    Walk::new(trace, at, *leaf, 4.0)?.wrong(step, result)
}

/// The difference of a leaf without a gradient, if its derivative is another number than zero.
pub(super) fn judge_absence(trace: Trace, at: usize, step: &Step) -> Option<Difference> {
    let Some(Arg::Tensor(leaf)) = step.args.first() else { return None };
    trace.program.inputs.get(leaf.value).filter(|input| input.requires_grad)?;
    let width = width(trace.program.inputs[leaf.value].dtype)?;
    let walk = Walk::new(trace, at, *leaf, 4.0)?;
    let arrived = walk.arriving.get(&(leaf.value, 0))?;
    let (number, some) = arrived.iter().enumerate().find_map(|(number, one)| {
        let one = one.filter(|one| one.low - one.error > 0.0 || one.high + one.error < 0.0)?;
        Some((number, one))
    })?;
    Some(Difference {
        value: step.name.clone(),
        aspect: Aspect::Values,
        by: walk.by(),
        expected: format!(
            "between {:e} and {:e} at element {}",
            some.low - some.error,
            some.high + some.error,
            number / width
        ),
        observed: "None".to_owned(),
    })
}

/// A gradient on its way from the roots to the leaf. Values are told apart by the step that wrote them last.
struct Walk<'a> {
    trace: Trace<'a>,
    /// The values that depend on the leaf in ways that gradients flow through, by number.
    depends: Vec<bool>,
    arriving: BTreeMap<Node, Arrivals>,
    path: Vec<String>,
    leaf: Node,
    /// How often a gradient arrived at the leaf.
    arrivals: usize,
    shares: Vec<Share>,
    /// The units of roundoff by which operands are moved.
    nearby: f64,
    left: usize,
}

impl<'a> Walk<'a> {
    /// All that flows to a leaf before a step. `None` where that is not known.
    fn new(trace: Trace<'a>, at: usize, leaf: ValueRef, nearby: f64) -> Option<Walk<'a>> {
        let mut walk = Walk {
            trace,
            depends: Vec::new(),
            arriving: BTreeMap::new(),
            path: Vec::new(),
            leaf: (leaf.value, 0),
            arrivals: 0,
            shares: Vec::new(),
            nearby,
            left: MOST,
        };
        walk.depends = (0..trace.program.inputs.len()).map(|input| input == leaf.value).collect();
        let mut sum: Option<Arrivals> = None;
        // What was kept for the gradient may be gone.
        if trace.may_be_overwritten(at) {
            return None;
        }
        for (number, step) in trace.program.steps[..at].iter().enumerate() {
            let depends = walk.flows(number, step)?;
            walk.depends.push(depends);
            if step.op == Op::Backward {
                let Some(Arg::Tensor(root)) = step.args.first() else { return None };
                let root = walk.node(number, *root);
                if !walk.depends[root.0] {
                    continue;
                }
                // What was rejected may have got somewhere before.
                matches!(trace.reply.steps.get(number)?.outcome, Outcome::Value(_)).then_some(())?;
                walk.seed(number, step, root)?;
                (0..number).rev().try_for_each(|number| walk.through(number))?;
                let arrived = walk.arriving.remove(&(leaf.value, 0))?;
                walk.arriving.clear();
                let format = Format::of(trace.program.inputs[leaf.value].dtype)?;
                sum = Some(match sum {
                    Some(sum) => {
                        sum.into_iter().zip(arrived).map(|(one, other)| Arriving::sum(one, other, format)).collect()
                    }
                    None => arrived,
                });
            }
        }
        walk.arriving = BTreeMap::from([((leaf.value, 0), sum?)]);
        Some(walk)
    }

    /// The value that a name stands for before a step: the number of the step that wrote it last, after the inputs.
    fn node(&self, before: usize, value: ValueRef) -> Node {
        let own = self.trace.first_name(value);
        let inputs = self.trace.program.inputs.len();
        let is_own = |step: &Step| step.target().is_some_and(|target| self.trace.first_name(target) == own);
        let writes = |number: &usize| {
            let accepted =
                matches!(self.trace.reply.steps.get(*number).map(|step| &step.outcome), Some(Outcome::Value(_)));
            accepted && is_own(&self.trace.program.steps[*number])
        };
        let made = (own.value, own.part.unwrap_or(0));
        (0..before).rev().find(writes).map_or(made, |number| (inputs + number, 0))
    }

    /// Returns whether the result of a step depends on the leaf. `None` where that is not known.
    fn flows(&self, number: usize, step: &Step) -> Option<bool> {
        let Outcome::Value(_) = &self.trace.reply.steps.get(number)?.outcome else { return Some(false) };
        let mut depends = false;
        for used in step.uses() {
            depends |= self.depends.get(self.node(number, used).0).copied().unwrap_or(false);
        }
        if matches!(step.op, Op::Backward | Op::Grad) || !depends {
            return Some(false);
        }
        let makes_reals =
            self.trace.reply.steps[number].outcome.tensors().iter().any(|made| Format::of(made.dtype).is_some());
        let flows = step.op.info().differentiable && step.op != Op::Detach && makes_reals;
        match step.form {
            Form::Functional => Some(flows),
            // Only what autograd does not see may be written to `out=`.
            Form::Out => None,
            Form::InPlace => {
                // Other names of the same memory change too.
                let own = self.trace.first_name(step.target()?);
                let inputs = self.trace.program.inputs.len();
                let values = (0..inputs + self.trace.program.steps.len()).map(|value| ValueRef { value, part: None });
                let is_tensor = |value: &ValueRef| match value.value.checked_sub(inputs) {
                    Some(made) => {
                        !self.trace.reply.steps.get(made).is_none_or(|step| step.outcome.tensors().is_empty())
                    }
                    None => true,
                };
                let mut others =
                    values.filter(is_tensor).filter(|value| self.trace.first_name(*value) == *value && *value != own);
                let last = self.trace.program.steps.len();
                (flows && others.all(|other| !self.trace.may_alias(last, other, own))).then_some(true)
            }
        }
    }

    /// What `backward` starts with.
    fn seed(&mut self, number: usize, step: &Step, root: Node) -> Option<()> {
        let Some(Arg::Tensor(of)) = step.args.first() else { return None };
        let elements = self.trace.before(number, *of)?;
        let seeds: Vec<f64> = match step.args.get(1)? {
            // One, of complex numbers too.
            Arg::Nothing => flat(elements.dtype, &vec![Scalar::Int(1); elements.values.len()])?,
            Arg::Tensor(gradient) => {
                let gradient = self.trace.before(number, *gradient)?;
                if gradient.shape != elements.shape || gradient.dtype != elements.dtype {
                    return None;
                }
                flat(gradient.dtype, &gradient.values)?
            }
            _ => return None,
        };
        let seed = |value: f64| {
            let arriving = Arriving { low: value, high: value, error: 0.0, magnitude: value.abs() };
            value.is_finite().then_some(arriving)
        };
        let width = width(elements.dtype)?;
        self.arriving.insert(root, whole(seeds.into_iter().map(seed).collect(), width));
        Some(())
    }

    /// Hands what arrived at the results of a step to its operands. `None` if it is not known where to.
    fn through(&mut self, number: usize) -> Option<()> {
        let value = self.trace.program.inputs.len() + number;
        let step = &self.trace.program.steps[number];
        let parts = self.arriving.range((value, 0)..(value + 1, 0)).map(|(node, _)| node.1).collect::<Vec<_>>();
        for part in parts {
            let arrived = self.arriving.remove(&(value, part))?;
            if !self.depends[value] {
                continue;
            }
            let result = Elements::of(self.trace.reply.steps.get(number)?.outcome.tensors().get(part)?)?;
            match &step.args[..] {
                [Arg::Tensors(operands)] if step.op == Op::BroadcastTensors => {
                    self.path.push(step.op.name().to_owned());
                    let target = self.target(number, *operands.get(part)?)?;
                    let own = self.trace.sizes(number, operands[part])?;
                    let each = width(result.dtype)?;
                    let places = View::of(&own).expanded(result.shape.sizes())?.places()?.into_iter().enumerate();
                    let edge = |(result, element)| Edge { result, arg: 0, element, slope: Some((1.0, 1.0)) };
                    let places =
                        places.flat_map(|(to, from)| (0..each).map(move |at| (each * to + at, each * from + at)));
                    let edges: Vec<Edge> = places.map(edge).collect();
                    if let Some(target) = target {
                        let handed = hand(edges.iter(), &arrived, target.format, &target);
                        self.receive(&target, handed);
                    }
                }
                _ if part == 0 => self.hand_on(number, step, &result, &arrived)?,
                _ => return None,
            }
        }
        Some(())
    }

    /// An operand that depends on the leaf; `Some(None)` for one that does not.
    fn target(&self, number: usize, used: ValueRef) -> Option<Option<Target>> {
        let node = self.node(number, used);
        if !self.depends[node.0] {
            return Some(None);
        }
        let tensor = self.trace.before(number, used)?;
        let width = width(tensor.dtype)?;
        let count = tensor.values.len() * width;
        Some(Some(Target { node, format: Format::of(tensor.dtype)?, count, width }))
    }

    fn hand_on(&mut self, number: usize, step: &Step, result: &Elements, arrived: &Arrivals) -> Option<()> {
        let mut targets = Vec::new();
        for arg in &step.args {
            targets.push(match arg {
                Arg::Tensor(used) => self.target(number, *used)?,
                _ if arg.uses().any(|used| self.depends[self.node(number, used).0]) => return None,
                _ => None,
            });
        }
        let broadcasts = step.op.info().family() == Family::Losses && self.broadcasts(number, step);
        self.path.push(format!("{}{}", step.op.name(), if broadcasts { " of broadcast operands" } else { "" }));
        let wanted: Vec<bool> = targets.iter().map(Option::is_some).collect();
        let format = Format::of(result.dtype);
        let mut left = self.left;
        let edges = format.and_then(|format| {
            let nearby = self.nearby;
            let slopes = Slopes { trace: self.trace, number, step, result, format, nearby };
            match slopes.are_complex(&wanted) {
                true => jacobian::edges(&slopes, &wanted),
                false => slopes.edges(&wanted, &mut left),
            }
        });
        self.left = left;
        for (arg, target) in targets.into_iter().enumerate() {
            let Some(target) = target else { continue };
            let handed = match (&edges, format) {
                (Some(edges), Some(format)) => {
                    hand(edges.iter().filter(|edge| edge.arg == arg), arrived, format, &target)
                }
                _ => vec![None; target.count],
            };
            if let (Op::Cdist, Some(edges), true) = (step.op, &edges, target.node == self.leaf) {
                self.share(edges.iter().filter(|edge| edge.arg == arg), arrived);
            }
            self.receive(&target, handed);
        }
        Some(())
    }

    /// Adds the shares that the coordinates of a row have of the largest difference from each row of another matrix.
    fn share<'e>(&mut self, edges: impl Iterator<Item = &'e Edge>, arrived: &Arrivals) {
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for edge in edges {
            rows.entry(edge.result).or_default().push(edge.element);
        }
        let mut shares: BTreeMap<Vec<usize>, Option<f64>> = BTreeMap::new();
        for (result, elements) in rows {
            let known = arrived.get(result).copied().flatten();
            let most = known.map(|one| one.low.abs().max(one.high.abs()) + one.error);
            let sum = shares.entry(elements).or_insert(Some(0.0));
            *sum = sum.zip(most).map(|(sum, most)| sum + most);
        }
        self.shares.extend(shares.into_iter().filter_map(|(elements, most)| Some(Share { elements, most: most? })));
    }

    /// The elements whose magnitudes are more together than they may be. Where gradients arrived in several ways, each of
    /// them may have more.
    fn exceeds(&self, step: &Step, format: Format, elements: &Elements) -> Option<Difference> {
        if self.arrivals != 1 {
            return None;
        }
        self.shares.iter().find_map(|share| {
            let each = share.elements.iter().map(|element| as_float(elements.values[*element]));
            let sum = each.collect::<Option<Vec<f64>>>()?.iter().map(|value| value.abs()).sum::<f64>();
            let most = share.most + (share.elements.len() + 16) as f64 * format.ulp(share.most);
            (sum > most).then(|| Difference {
                value: step.name.clone(),
                aspect: Aspect::Values,
                by: format!("{}: {SHARE}", self.by()),
                expected: format!("magnitudes of {:e} together at elements {:?}", share.most, share.elements),
                observed: format!("{sum:e}"),
            })
        })
    }

    /// Adds to what arrived at a tensor.
    fn receive(&mut self, target: &Target, handed: Arrivals) {
        self.arrivals += usize::from(target.node == self.leaf);
        let sum = match self.arriving.remove(&target.node) {
            Some(there) => {
                there.into_iter().zip(handed).map(|(one, other)| Arriving::sum(one, other, target.format)).collect()
            }
            None => handed,
        };
        self.arriving.insert(target.node, whole(sum, target.width));
    }

    /// Returns whether operands of a step have different shapes.
    fn broadcasts(&self, number: usize, step: &Step) -> bool {
        let mut sizes = step.args.iter().flat_map(Arg::uses).map(|used| self.trace.sizes(number, used));
        let first = sizes.next();
        sizes.any(|sizes| first.as_ref() != Some(&sizes))
    }

    fn by(&self) -> String {
        format!("{MATHEMATICS}the derivative of {}", self.path.join(" of "))
    }

    fn wrong(&self, step: &Step, result: &TensorValue) -> Option<Difference> {
        let arrived = self.arriving.values().next()?;
        let format = Format::of(result.dtype)?;
        let elements = Elements::of(result)?;
        let observed = flat(elements.dtype, &elements.values)?;
        if observed.len() != arrived.len() {
            return None;
        }
        let each = observed.into_iter().map(Scalar::Float).zip(arrived).enumerate();
        let mut wrong = each.filter_map(|(at, (observed, arriving))| {
            let arriving = (*arriving)?;
            let (middle, half) = (f64::midpoint(arriving.low, arriving.high), (arriving.high - arriving.low) / 2.0);
            let set = format.near(middle, half + arriving.error + 8.0 * format.smallest());
            (!set.contains(observed)).then_some((at, observed, set))
        });
        let Some((at, observed, set)) = wrong.next() else { return self.exceeds(step, format, &elements) };
        let width = width(result.dtype)?;
        let part = ["", " (the imaginary part)"][at % width];
        let place = format!("{:?}{part}", unravel(result.shape.sizes(), at / width));
        Some(Difference {
            value: step.name.clone(),
            aspect: Aspect::Values,
            by: self.by(),
            expected: format!("{set} at {place} in {}", result.dtype),
            observed: format!("{observed} at {place}"),
        })
    }
}

/// Forgets what is known of one part of an element alone: products of complex numbers mix a NaN into both parts.
fn whole(arrivals: Arrivals, width: usize) -> Arrivals {
    let elements = arrivals.chunks(width);
    elements.flat_map(|parts| if parts.contains(&None) { vec![None; width] } else { parts.to_vec() }).collect()
}

/// The gradient of an operand through edges: computed in the format of the result, and rounded to that of the operand.
fn hand<'e>(edges: impl Iterator<Item = &'e Edge>, arrived: &Arrivals, format: Format, target: &Target) -> Arrivals {
    let own = target.format;
    let mut handed = vec![Some(Arriving::default()); target.count];
    let mut terms = vec![0usize; target.count];
    for edge in edges {
        terms[edge.element] += 1;
        let term = arrived.get(edge.result).copied().flatten().and_then(|upstream| upstream.along(edge, format, own));
        handed[edge.element] = match (handed[edge.element], term) {
            (Some(one), Some(other)) => Some(one.plus(other)),
            _ => None,
        };
    }
    let unit = own.ulp(1.0).max(format.ulp(1.0));
    let rounded = |(one, terms): (Option<Arriving>, usize)| {
        let one = one.filter(|one| one.magnitude <= own.largest().min(format.largest()) / 4.0)?;
        let lost = if terms > 1 { terms as f64 * unit * one.magnitude } else { 0.0 };
        Some(Arriving { error: one.error + lost, ..one })
    };
    handed.into_iter().zip(terms).map(rounded).collect()
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

    /// The sum, rounded to a format.
    fn sum(one: Option<Arriving>, other: Option<Arriving>, format: Format) -> Option<Arriving> {
        let sum = one?.plus(other?);
        let is_small = sum.magnitude <= format.largest() / 4.0;
        is_small.then(|| Arriving { error: sum.error + 2.0 * format.ulp(sum.magnitude), ..sum })
    }

    /// The product with a slope, which loses something more. `None` where it is not known, or may overflow.
    fn along(self, edge: &Edge, format: Format, own: Format) -> Option<Arriving> {
        let (low, high) = edge.slope?;
        let size = low.abs().max(high.abs());
        let largest = size * self.low.abs().max(self.high.abs());
        if !(largest <= own.largest() / 4.0 && size <= format.largest() / 4.0) {
            return None;
        }
        let error = match low == 1.0 && high == 1.0 {
            true if own == format => 0.0,
            true => own.ulp(largest),
            false => 16.0 * (format.ulp(largest) + own.ulp(largest)) + 16.0 * format.ulp(size) * self.magnitude,
        };
        let ends = [self.low * low, self.low * high, self.high * low, self.high * high];
        Some(Arriving {
            low: ends.into_iter().fold(f64::INFINITY, f64::min),
            high: ends.into_iter().fold(f64::NEG_INFINITY, f64::max),
            error: self.error * size + error,
            magnitude: self.magnitude * size,
        })
    }
}
