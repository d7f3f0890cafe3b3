//! Drawings of broadcasting: a row for each operand, a column for each dimension, and the rule that decides each, as text.

use broadcheck_explain::broadcast::dimensions;

use crate::campaign::coverage::broadcasts;
use crate::format;
use crate::model::event::{Drawing, Operand};
use crate::ops::{Form, Op};
use crate::program::{Arg, Program, Reply, ShapeArg, Step, Value, ValueRef};
use crate::tensor::Shape;

/// The drawing of a case: of the first of these values that is a broadcast, or of the first step that is one.
pub fn of_case(program: &Program, reply: &Reply, values: &[ValueRef]) -> Option<Drawing> {
    let first = values.iter().filter_map(|value| value.value.checked_sub(program.inputs.len()));
    first.chain(0..program.steps.len()).find_map(|at| of_step(program, reply, at))
}

/// The drawing of a step; `None` where no shapes are broadcast together, or one of them is not known.
fn of_step(program: &Program, reply: &Reply, at: usize) -> Option<Drawing> {
    let step = program.steps.get(at)?;
    let operands: Vec<(String, Shape)> = match &step.args[..] {
        [Arg::Shapes(shapes)] => shapes.iter().map(of_argument).collect::<Option<_>>()?,
        _ if broadcasts(step.op) || step.op == Op::BroadcastTensors => {
            let operands = step.args.iter().flat_map(|arg| match arg {
                Arg::Tensor(value) => vec![*value],
                Arg::Tensors(values) => values.clone(),
                _ => Vec::new(),
            });
            let named = |value| Some((format::name(program, value), shape_of(program, reply, at, value)?));
            operands.map(named).collect::<Option<_>>()?
        }
        _ => return None,
    };
    (operands.len() > 1).then(|| draw(call(step, &operands), &operands, step.form))
}

/// A shape that is an argument itself.
fn of_argument(shape: &ShapeArg) -> Option<(String, Shape)> {
    let shape = Shape::new(shape.sizes()?.to_vec()).ok()?;
    Some((shape.to_string(), shape))
}

/// The shape of a value before a step. What changes shape on the way is not followed.
fn shape_of(program: &Program, reply: &Reply, before: usize, value: ValueRef) -> Option<Shape> {
    if let Some(input) = program.inputs.get(value.value) {
        return Some(input.shape.clone());
    }
    let step = value.value.checked_sub(program.inputs.len()).filter(|step| *step < before)?;
    match (&reply.steps.get(step)?.outcome, value.part) {
        (crate::program::Outcome::Value(Value::Tensor(tensor)), None) => Some(tensor.shape.clone()),
        (outcome, Some(part)) => Some(outcome.tensors().get(part)?.shape.clone()),
        _ => None,
    }
}

fn call(step: &Step, operands: &[(String, Shape)]) -> String {
    let names: Vec<&str> = operands.iter().map(|(name, _)| name.as_str()).collect();
    match step.form {
        Form::InPlace => format!("{}.{}_({})", names[0], step.op, names[1..].join(", ")),
        _ => format!("{}({})", step.op, names.join(", ")),
    }
}

/// The drawing of named shapes.
pub fn draw(call: String, operands: &[(String, Shape)], form: Form) -> Drawing {
    Drawing {
        call,
        operands: operands
            .iter()
            .map(|(name, shape)| Operand { name: name.clone(), shape: shape.sizes().to_vec() })
            .collect(),
        dimensions: dimensions(operands, form == Form::InPlace, &|size| size.to_string()),
    }
}
