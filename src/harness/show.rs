//! Values as text, for people: short, on one line, unmistakable.

use crate::case::{Expectation, Expected};
use crate::program::{Outcome, Program, Reply, TensorValue, Value, ValueRef};
use crate::tensor::{Scalar, Shape, shape::bracketed};

/// How many elements are written out.
const ELEMENTS: usize = 24;

/// The name of a value: `r`, or `r.0` for one of several results.
pub fn name(program: &Program, value: ValueRef) -> String {
    match value.part {
        Some(part) => format!("{}.{part}", program.value_name(value.value)),
        None => program.value_name(value.value).to_owned(),
    }
}

/// What came of a step.
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Value(value) => self::value(value),
        Outcome::Rejected(rejected) => match rejected.class {
            Some(class) => format!("rejected ({class}): {}", rejected.message),
            None => format!("rejected: {}", rejected.message),
        },
        Outcome::Unsupported(what) => format!("unsupported: {what}"),
        Outcome::Blocked(value) => format!("not run: value {value} is missing"),
        Outcome::Failed(message) => format!("the adapter failed: {message}"),
    }
}

/// A value.
pub fn value(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => self::tensor(tensor),
        Value::Tensors(tensors) => tensors.iter().map(self::tensor).collect::<Vec<_>>().join("; "),
        Value::Sizes(sizes) => bracketed(sizes),
        Value::Number(number) => number.to_string(),
        Value::Nothing => "None".to_owned(),
    }
}

/// A tensor: dtype, shape, elements.
pub fn tensor(tensor: &TensorValue) -> String {
    format!("{} {} {}", tensor.dtype, tensor.shape, elements(&tensor.scalars(), &tensor.shape))
}

/// Elements, nested as the shape nests them; cut after a few.
pub fn elements(scalars: &[Scalar], shape: &Shape) -> String {
    let mut text = String::new();
    nest(scalars, shape.sizes(), &mut 0, &mut text);
    text
}

fn nest(scalars: &[Scalar], sizes: &[i64], at: &mut usize, text: &mut String) {
    let Some((size, inner)) = sizes.split_first() else {
        match scalars.get(*at) {
            Some(scalar) => text.push_str(&scalar.to_string()),
            None => text.push('?'),
        }
        *at += 1;
        return;
    };
    text.push('[');
    for index in 0..*size {
        if index > 0 {
            text.push_str(", ");
        }
        if *at >= ELEMENTS {
            text.push('…');
            break;
        }
        nest(scalars, inner, at, text);
    }
    text.push(']');
}

/// What a case expects of a value.
pub fn expectation(program: &Program, expectation: &Expectation) -> String {
    match expectation {
        Expectation::Value(expected) => properties(program, expected),
        Expectation::Rejected(rejection) => match (&rejection.class, &rejection.message) {
            (Some(class), Some(message)) => format!("rejected ({class}): {message}"),
            (None, Some(message)) => format!("rejected: {message}"),
            (Some(class), None) => format!("rejected ({class})"),
            (None, None) => "rejected".to_owned(),
        },
        Expectation::Unchanged => "unchanged".to_owned(),
        Expectation::Nothing => "None".to_owned(),
    }
}

fn properties(program: &Program, expected: &Expected) -> String {
    let mut parts = Vec::new();
    parts.extend(expected.dtype.map(|dtype| dtype.to_string()));
    parts.extend(expected.shape.as_ref().map(Shape::to_string));
    if let (Some(values), Some(shape)) = (&expected.values, &expected.shape) {
        parts.push(elements(values, shape));
    }
    parts.extend(expected.decimals.map(|decimals| format!("to {decimals} decimals")));
    parts.extend(expected.strides.as_ref().map(|strides| format!("strides {}", bracketed(strides))));
    parts.extend(expected.view_of.map(|value| format!("a view of {}", name(program, value))));
    parts.extend(expected.fresh.then(|| "in a storage of its own".to_owned()));
    parts.extend(expected.number.map(|number| number.to_string()));
    parts.extend(expected.warnings.as_ref().map(|warnings| self::warnings(warnings)));
    parts.join(" ")
}

/// The warnings of a step.
pub fn warnings(warnings: &[String]) -> String {
    if warnings.is_empty() { "no warning".to_owned() } else { format!("warning: {}", warnings.join(" | ")) }
}

/// Everything that came of a program, a line a value: the text of the snapshots.
pub fn reply(program: &Program, reply: &Reply) -> String {
    let mut lines = Vec::new();
    for (step, outcome) in program.steps.iter().zip(&reply.steps) {
        lines.push(format!("{} = {}", step.name, self::outcome(&outcome.outcome)));
        for tensor in outcome.outcome.tensors() {
            lines.extend(layout(program, tensor).map(|layout| format!("    {layout}")));
        }
        lines.extend(outcome.warnings.iter().map(|warning| format!("    warning: {warning}")));
    }
    for (input, tensor) in program.inputs.iter().zip(&reply.inputs) {
        lines.push(format!("{} after = {}", input.name, self::tensor(tensor)));
    }
    lines.join("\n") + "\n"
}

fn layout(program: &Program, tensor: &TensorValue) -> Option<String> {
    let strides = bracketed(tensor.strides.as_deref()?);
    let storage = tensor.storage?;
    let place = match program.inputs.get(storage.id) {
        Some(input) => format!("the storage of {}", input.name),
        None => "a storage of its own".to_owned(),
    };
    let offset = if storage.offset == 0 { String::new() } else { format!(" from element {}", storage.offset) };
    Some(format!("strides {strides}, in {place}{offset}"))
}
