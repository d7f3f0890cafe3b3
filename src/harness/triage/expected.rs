//! The checks that the programs of a finding make: each thing that differs, as data.

use crate::program::{Outcome, Program, Reply, TensorValue, Value};
use crate::tensor::{Category, Scalar};

use super::super::Aspect;
use crate::format;
use crate::model::finding::Finding;
use crate::oracles::comparison::Side;

/// A value that differs, and what was expected of it.
pub(super) struct Check<'a> {
    /// The value, by name; of one of several results that of the step.
    pub value: &'a str,
    /// The index among several results.
    pub part: Option<usize>,
    /// True if it is an input as it is after the program.
    pub after: bool,
    pub is: Is<'a>,
}

/// An expectation.
pub(super) enum Is<'a> {
    Accepted,
    Rejected,
    Message(&'a str),
    Shape(&'a [i64]),
    Dtype(crate::tensor::DType),
    Strides(&'a [i64]),
    /// In the storage of this input from this element, or in one that is no input's.
    Storage(Option<&'a str>, i64),
    /// Elements, each of which may be off by so much.
    Elements(&'a TensorValue, f64),
    Number(Scalar),
    ScalarType(crate::tensor::ScalarType),
    Sizes(&'a [i64]),
    Nothing,
    Warnings(&'a [String]),
}

/// The checks of a finding against what one side expected. A difference that names no value, or one that an outcome has
/// nothing to say of, has none.
pub(super) fn checks<'a>(finding: &'a Finding, expected: Side<'a>, observed: Option<&Reply>) -> Vec<Check<'a>> {
    let program = &finding.program;
    let mut checks = Vec::new();
    for difference in &finding.differences {
        let (name, after) = match difference.value.strip_suffix(" after") {
            Some(name) => (name, true),
            None => (difference.value.as_str(), false),
        };
        let (value, part) = match name.split_once('.') {
            Some((value, part)) => (value, part.parse().ok()),
            None => (name, None),
        };
        let is = match after {
            true => program.inputs.iter().position(|input| input.name == value).and_then(|at| {
                let seen = observed.and_then(|reply| reply.inputs.get(at));
                tensor(program, difference.aspect, expected.reply.inputs.get(at)?, seen)
            }),
            false => program.steps.iter().position(|step| step.name == value).and_then(|at| {
                let wanted = expected.reply.steps.get(at)?;
                let seen = observed.and_then(|reply| reply.steps.get(at));
                match difference.aspect {
                    Aspect::Warnings => Some(Is::Warnings(&wanted.warnings)),
                    aspect => outcome(program, aspect, part, &wanted.outcome, seen.map(|seen| &seen.outcome)),
                }
            }),
        };
        checks.extend(is.map(|is| Check { value, part, after, is }));
    }
    checks
}

fn outcome<'a>(
    program: &'a Program,
    aspect: Aspect,
    part: Option<usize>,
    wanted: &'a Outcome,
    seen: Option<&Outcome>,
) -> Option<Is<'a>> {
    match (wanted, aspect) {
        (Outcome::Rejected(rejected), Aspect::Message) => Some(Is::Message(&rejected.message)),
        (Outcome::Rejected(_), _) => Some(Is::Rejected),
        (Outcome::Value(_), Aspect::Outcome) if !matches!(seen, Some(Outcome::Value(_))) => Some(Is::Accepted),
        (Outcome::Value(Value::Nothing), _) => Some(Is::Nothing),
        (Outcome::Value(Value::Number(number)), _) => Some(Is::Number(*number)),
        (Outcome::Value(Value::Sizes(sizes)), _) => Some(Is::Sizes(sizes)),
        (Outcome::Value(Value::Dtype(dtype)), _) => Some(Is::ScalarType(*dtype)),
        (Outcome::Value(_), Aspect::Outcome) => Some(Is::Accepted),
        (Outcome::Value(_), _) => {
            let part = part.unwrap_or(0);
            tensor(program, aspect, wanted.tensors().get(part)?, seen.and_then(|seen| seen.tensors().get(part)))
        }
        _ => None,
    }
}

fn tensor<'a>(
    program: &'a Program,
    aspect: Aspect,
    wanted: &'a TensorValue,
    seen: Option<&TensorValue>,
) -> Option<Is<'a>> {
    Some(match aspect {
        Aspect::Shape => Is::Shape(wanted.shape.sizes()),
        Aspect::Dtype => Is::Dtype(wanted.dtype),
        Aspect::Strides => Is::Strides(wanted.strides.as_deref()?),
        Aspect::Aliasing => {
            let storage = wanted.storage?;
            Is::Storage(program.inputs.get(storage.id).map(|input| input.name.as_str()), storage.offset)
        }
        Aspect::Values => Is::Elements(wanted, seen.map_or(0.0, |seen| slack(wanted, seen))),
        _ => return None,
    })
}

/// Returns how far an element may be off before the difference is the one that was found. Where something else than
/// rounding differs, the rest may be off as far as it was; else the largest difference is what was found, and half of it
/// is not.
fn slack(wanted: &TensorValue, seen: &TensorValue) -> f64 {
    if wanted.dtype.category() < Category::Floating {
        return 0.0;
    }
    let parts = |tensor: &TensorValue| -> Vec<f64> {
        let scalars = tensor.scalars().into_iter();
        scalars
            .flat_map(|scalar| match scalar {
                Scalar::Complex(value) => vec![value.re, value.im],
                Scalar::Float(value) => vec![value],
                _ => Vec::new(),
            })
            .collect()
    };
    let (wanted, seen) = (parts(wanted), parts(seen));
    let pairs = || wanted.iter().zip(&seen).filter(|(a, b)| a.to_bits() != b.to_bits() && !(a.is_nan() && b.is_nan()));
    let rounded = |(a, b): &(&f64, &f64)| a.is_finite() && b.is_finite() && (**a != 0.0 || **b != 0.0);
    let largest = pairs().filter(rounded).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    match pairs().any(|pair| !rounded(&pair)) {
        true => 2.0 * largest,
        false => largest / 2.0,
    }
}

impl Check<'_> {
    /// Returns the expectation, as reports print it.
    pub fn expected(&self) -> String {
        match &self.is {
            Is::Accepted => "a result".to_owned(),
            Is::Rejected => "a rejection".to_owned(),
            Is::Message(text) => format!("rejected: {text}"),
            Is::Shape(sizes) | Is::Strides(sizes) | Is::Sizes(sizes) => format!("{sizes:?}"),
            Is::Dtype(dtype) => dtype.to_string(),
            Is::Storage(Some(input), offset) => format!("the storage of {input} from element {offset}"),
            Is::Storage(None, offset) => format!("a storage that is no input's, from element {offset}"),
            Is::Elements(tensor, _) => format::tensor(tensor),
            Is::Number(number) => number.to_string(),
            Is::ScalarType(dtype) => dtype.to_string(),
            Is::Nothing => "None".to_owned(),
            Is::Warnings(warnings) => format::warnings(warnings),
        }
    }

    /// The word for what is looked at.
    pub fn aspect(&self) -> &'static str {
        match self.is {
            Is::Accepted | Is::Rejected | Is::Nothing => "outcome",
            Is::Message(_) => "message",
            Is::Shape(_) | Is::Sizes(_) => "shape",
            Is::Dtype(_) | Is::ScalarType(_) => "dtype",
            Is::Strides(_) => "strides",
            Is::Storage(..) => "aliasing",
            Is::Elements(..) | Is::Number(_) => "values",
            Is::Warnings(_) => "warnings",
        }
    }
}
