//! Mathematics: the results that are right by the definition of a function, whatever any implementation does.
//!
//! The truth is written from IEEE 754, Annexes F and G of the C standard, the special cases of the Python array API
//! standard, the definition of each function and PyTorch's documentation. It knows neither the reference nor libtorch: the
//! operands of a step are the inputs, or what the implementation under test itself returned before. For each element there
//! is a set of right results, and a result outside of it is a difference, which names its authority. Where
//! authorities differ, the difference is *disputed*.

mod activation;
mod attention;
mod bilinear;
mod closed;
mod complex;
mod cosine;
mod cross;
mod distance;
mod elementwise;
mod equality;
mod formula;
mod gamma;
mod gradient;
mod indexing;
mod integer;
mod jacobian;
mod lookup;
mod loss;
mod normalization;
mod order;
mod product;
mod quantile;
mod real;
mod reduction;
mod sampling;
mod scan;
mod selection;
mod set;
mod slope;
mod solution;
mod special;
mod spectrum;
mod trace;
mod unary;
mod view;
mod wide;

#[cfg(test)]
mod tests;

use crate::ops::{Family, Op};
use crate::program::{Outcome, Program, Reply, Step, TensorValue, Value};
use crate::tensor::Scalar;

use crate::difference::{DISPUTED, MATHEMATICS};
use crate::{Aspect, Difference, format};
use set::Set;
use trace::Trace;

/// The right results for an element, and who says so.
#[derive(Clone, Debug, PartialEq)]
struct Right {
    set: Set,
    source: &'static str,
    /// The results that are right by another authority: they are disputed.
    disputed: Option<Set>,
}

impl Right {
    fn by(source: &'static str, set: Set) -> Right {
        Right { set, source, disputed: None }
    }

    /// What either of two allows.
    fn or(self, other: Right) -> Right {
        let disputed = match (self.disputed, other.disputed) {
            (Some(one), Some(other)) => Some(one.or(other)),
            (one, other) => one.or(other),
        };
        Right { set: self.set.or(other.set), disputed, ..self }
    }

    /// The same, where another authority holds other results right.
    fn disputed(self, set: Set) -> Right {
        Right { disputed: Some(set), ..self }
    }

    /// The results after a conversion; `None` if it leaves any open.
    fn converted(self, convert: impl Fn(Set) -> Option<Set>) -> Option<Right> {
        let disputed = self.disputed.and_then(&convert);
        Some(Right { set: convert(self.set)?, disputed, ..self })
    }
}

/// The arguments of a step that are no operands.
#[derive(Clone, Copy, Debug, Default)]
struct Details<'a> {
    /// The factor: `alpha`, `value`.
    factor: Option<Scalar>,
    /// The rounding mode of a quotient.
    mode: Option<&'a str>,
    /// The operands that are `None`.
    missing: [bool; 4],
    /// A threshold: `beta`, `delta`.
    number: f64,
    /// The arguments that are numbers, in order; `None` for those that are missing.
    numbers: [Option<f64>; 3],
    /// True if a flag is set.
    flag: bool,
    /// The first flags, in order.
    flags: [bool; 2],
    /// The share of one element in the loss that the step has the gradient of.
    share: Option<f64>,
}

/// The differences between a reply and what is right, by the reply's own operands: one a step at most, the first.
pub fn judge(program: &Program, reply: &Reply) -> Vec<Difference> {
    let trace = Trace { program, reply };
    let steps = program.steps.iter().zip(&reply.steps).enumerate();
    let mut differences: Vec<Difference> =
        steps.filter_map(|(at, (step, answer))| judge_step(trace, at, step, &answer.outcome)).collect();
    // The first names the finding: what is disputed does not stand before what is wrong.
    differences.sort_by_key(|difference| difference.by.starts_with(DISPUTED));
    differences
}

fn judge_step(trace: Trace, at: usize, step: &Step, outcome: &Outcome) -> Option<Difference> {
    let result = match outcome {
        Outcome::Value(Value::Tensor(result)) => result,
        Outcome::Value(Value::Tensors(results)) if order::chooses(step.op) => {
            return order::judge(trace, at, step, results);
        }
        Outcome::Value(Value::Tensors(results)) if step.op == Op::Meshgrid => {
            return lookup::judge_grids(trace, at, step, results);
        }
        Outcome::Value(Value::Nothing) if step.op == Op::Grad => return gradient::judge_absence(trace, at, step),
        Outcome::Value(Value::Number(truth)) => return equality::judge_truth(trace, at, step, *truth),
        _ => return None,
    };
    match step.op {
        Op::Normal | Op::Binomial | Op::Bernoulli => return sampling::judge(trace, at, step, result),
        Op::Isclose => return equality::judge(trace, at, step, result),
        Op::Cdist | Op::PairwiseDistance | Op::Dist => return distance::judge(trace, at, step, result),
        Op::Quantile | Op::Nanquantile => return quantile::judge(trace, at, step, result),
        Op::LinalgSolve | Op::LinalgSolveTriangular | Op::CholeskySolve | Op::LinalgLuSolve => {
            return solution::judge(trace, at, step, result);
        }
        Op::ScaledDotProductAttention => return attention::judge(trace, at, step, result),
        Op::CosineEmbeddingLoss => return cosine::judge(trace, at, step, result),
        Op::CosineSimilarity => return cosine::judge_similarity(trace, at, step, result),
        Op::Bilinear => return bilinear::judge(trace, at, step, result),
        Op::LayerNorm => return normalization::judge(trace, at, step, result),
        Op::LinalgMatrixRank | Op::LinalgPinv => return spectrum::judge(trace, at, step, result),
        Op::Isin | Op::Searchsorted | Op::Bucketize | Op::CartesianProd => {
            return lookup::judge(trace, at, step, result);
        }
        Op::LinalgCross | Op::Cross => return cross::judge(trace, at, step, result),
        op if activation::is_gradient(op) => return elementwise::judge(trace, at, step, result),
        _ => {}
    }
    match step.op.info().family() {
        Family::Reductions if scan::scans(step.op) => scan::judge(trace, at, step, result),
        Family::Reductions => reduction::judge(trace, at, step, result),
        Family::Products => product::judge(trace, at, step, result),
        Family::Losses => loss::judge(trace, at, step, result),
        Family::Autograd if step.op == Op::Grad => gradient::judge(trace, at, step, result),
        Family::Pointwise => elementwise::judge(trace, at, step, result),
        Family::Views | Family::Indexing => selection::judge(trace, at, step, result),
        _ => None,
    }
}

/// The difference of a result of the wrong shape.
fn wrong_shape(step: &Step, result: &TensorValue, right: &[i64], source: &'static str) -> Difference {
    Difference {
        value: step.name.clone(),
        aspect: Aspect::Shape,
        by: format!("{MATHEMATICS}{source}"),
        expected: format!("{right:?}: {}", format::call(step)),
        observed: format!("{:?}", result.shape.sizes()),
    }
}

/// An element that is wrong.
struct Wrong {
    right: Right,
    at: usize,
    observed: Scalar,
    /// The operands of the element.
    operands: Vec<Scalar>,
}

impl Wrong {
    /// An element, unless it is right.
    fn unless(right: Right, at: usize, observed: Scalar, operands: impl IntoIterator<Item = Scalar>) -> Option<Wrong> {
        (!right.set.contains(observed)).then(|| Wrong { right, at, observed, operands: operands.into_iter().collect() })
    }

    fn is_disputed(&self) -> bool {
        self.right.disputed.as_ref().is_some_and(|held| held.contains(self.observed))
    }

    /// The first that is wrong by every authority, or else the first that is disputed.
    fn first(mut all: impl Iterator<Item = Wrong>) -> Option<Wrong> {
        let first = all.next()?;
        if first.is_disputed() { Some(all.find(|wrong| !wrong.is_disputed()).unwrap_or(first)) } else { Some(first) }
    }

    fn difference(self, step: &Step, result: &TensorValue) -> Difference {
        let by = if self.is_disputed() { DISPUTED } else { MATHEMATICS };
        let Wrong { right, at, observed, operands } = self;
        let operands: Vec<String> = operands.iter().map(Scalar::to_string).collect();
        let place = format!("{:?}", view::unravel(result.shape.sizes(), at));
        let call = format::call(step);
        Difference {
            value: step.name.clone(),
            aspect: Aspect::Values,
            by: format!("{by}{}", right.source),
            expected: format!("{} at {place}: {call} of {} in {}", right.set, operands.join(", "), result.dtype),
            observed: format!("{observed} at {place}"),
        }
    }
}
