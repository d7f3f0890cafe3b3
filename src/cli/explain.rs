//! `broadcheck explain`: the rule that decides each dimension when shapes broadcast, or do not.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use clap::Args;

use super::{Ending, Failure, ops, print};
use crate::adapter::Implementation;
use crate::error::Rejection;
use crate::harness::check::drawing;
use crate::ops::{Form, Op, ParamKind};
use crate::program::{Arg, Input, Outcome, Program, Rejected, Step, Value, ValueRef};
use crate::reference::Reference;
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const FAINT: Style = Style::new().dimmed();

/// The most elements for which the operation is run for its exact outcome; the reference is slow.
const MOST_ELEMENTS: usize = 1 << 18;

/// Draw how shapes line up, which rule decides each dimension, and the result.
///
/// A shape is its sizes with commas between them; [] is the shape of a single number. The outcome is that of the
/// reference, whose texts are libtorch's own.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck explain 5,1,4,1 3,1,1
  broadcheck explain 1,3,1 3,1,7 --op add_       in-place: the first shape may not grow
  broadcheck explain 8,1,6 7,1 [] 6

Exit codes: 0 the shapes are accepted, 1 they are rejected, 2 bad arguments.")]
pub struct Explain {
    /// Two or more shapes, for example 5,1,4,1 3,1,1.
    #[arg(required = true, num_args = 2.., value_parser = parse_shape, value_name = "SHAPE", allow_negative_numbers = true)]
    shapes: Vec<Shape>,
    /// The operation, as in `broadcheck ops`; a trailing _ means in-place
    /// [default: add, or broadcast_tensors for more than two shapes].
    #[arg(long, value_name = "NAME")]
    op: Option<String>,
}

impl Explain {
    pub fn run(&self) -> Result<Ending, Failure> {
        let (op, form) = self.operation()?;
        let outcome = outcome(op, form, &self.shapes)?;
        let mut text = String::new();
        if is_elementwise(op) {
            draw(&self.shapes, form, &mut text);
        }
        let call = call(op, form, &self.shapes);
        let ending = match &outcome {
            Outcome::Value(value) => {
                let _ = writeln!(text, "{GOOD}accepted{GOOD:#}  {call} gives shape {}", result_shape(value));
                Ending::Conforms
            }
            Outcome::Rejected(rejected) => {
                let _ = writeln!(text, "{BAD}rejected{BAD:#}  {call}");
                let _ = writeln!(text, "          {}", rejected.message);
                Ending::Differs
            }
            other => return Err(format!("{op}: {}", crate::harness::format::outcome(other)).into()),
        };
        print(&text)?;
        Ok(ending)
    }

    fn operation(&self) -> Result<(Op, Form), Failure> {
        let default = if self.shapes.len() == 2 { "add" } else { "broadcast_tensors" };
        let name = self.op.as_deref().unwrap_or(default);
        let (op, form) = Op::parse(name)
            .filter(|(op, _)| ops::takes_tensors_only(*op) && !op.is_front_end())
            .ok_or_else(|| format!("--op {name}: no such operation on shapes; `broadcheck ops` lists them"))?;
        let most = match op {
            Op::BroadcastTensors => usize::MAX,
            _ => op.info().arguments.iter().filter(|param| param.default.is_none()).count(),
        };
        if most != self.shapes.len() && most != usize::MAX {
            let plural = if most == 1 { "" } else { "s" };
            return Err(format!("--op {name} takes {most} shape{plural}, not {}", self.shapes.len()).into());
        }
        Ok((op, form))
    }
}

fn parse_shape(text: &str) -> Result<Shape, String> {
    let inner = text.trim().trim_start_matches(['[', '(']).trim_end_matches([']', ')']).trim_end_matches(',');
    let sizes = inner
        .split(',')
        .map(str::trim)
        .filter(|_| !inner.trim().is_empty())
        .map(|size| {
            size.parse::<i64>().map_err(|_| {
                format!("{size:?} is not a size; write a shape as 5,1,4,1, or [] for a shape without dimensions")
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    Shape::new(sizes).map_err(|error| error.to_string())
}

/// True if the operation only broadcasts its shapes.
fn is_elementwise(op: Op) -> bool {
    op == Op::BroadcastTensors || op.info().takes_two_operands()
}

/// Runs the operation in the reference, or, with shapes too large for that, asks the rules alone.
fn outcome(op: Op, form: Form, shapes: &[Shape]) -> Result<Outcome, Failure> {
    let broadcast = shapes[1..].iter().try_fold(shapes[0].clone(), |shape, next| shape.broadcast(next));
    if let Ok(shape) = &broadcast {
        // Sizes that are possible one by one need not be possible together.
        Shape::new(shape.sizes().to_vec())?;
    }
    let largest = shapes.iter().chain(broadcast.as_ref().ok()).map(Shape::numel).max().unwrap_or(0);
    if largest > MOST_ELEMENTS {
        if is_elementwise(op) {
            return Ok(by_the_rules(form, &shapes[0], broadcast));
        }
        let most = format!("the most is {MOST_ELEMENTS}");
        return Err(format!("{op} was not run, since {largest} elements are too many; {most}").into());
    }
    let inputs = shapes.iter().enumerate().map(|(at, shape)| {
        let ones = Buffer::from_scalars(DType::Float32, vec![Scalar::Int(1); shape.numel()].into_iter());
        let data = ones.to_bytes(&Layout::contiguous(shape.clone()));
        Input { name: letter(at), dtype: DType::Float32, shape: shape.clone(), data, requires_grad: false }
    });
    let inputs: Vec<Input> = inputs.collect();
    let mut values = (0..inputs.len()).map(|value| ValueRef { value, part: None });
    let args = op
        .info()
        .arguments
        .iter()
        .map(|param| match (param.kind, param.default) {
            (ParamKind::Tensors, _) => Arg::Tensors(values.by_ref().collect()),
            (_, None) => values.next().map_or(Arg::Nothing, Arg::Tensor),
            (_, Some(default)) => Arg::from(default),
        })
        .collect();
    let step = Step { name: "result".to_owned(), op, form, args, out: None };
    let reply = Reference.run(&Program { inputs, steps: vec![step] });
    reply.steps.into_iter().next().map(|step| step.outcome).ok_or_else(|| "the reference gave no outcome".into())
}

/// The outcome of an operation that broadcasts its operands and, in place, rejects a change of its target's shape.
fn by_the_rules(form: Form, target: &Shape, broadcast: Result<Shape, Rejection>) -> Outcome {
    let rejection = match broadcast {
        Ok(shape) if form == Form::InPlace && shape != *target => {
            Rejection::OutputShape { output: target.sizes().to_vec(), broadcast: shape.sizes().to_vec() }
        }
        Ok(shape) => return Outcome::Value(Value::Sizes(shape.sizes().to_vec())),
        Err(rejection) => rejection,
    };
    let (message, class) = (rejection.to_string(), Some(rejection.class()));
    Outcome::Rejected(Rejected { message, class, origin: None, raises: None })
}

/// A column for each dimension, a row for each shape, the result below, then the rule of each dimension in words.
fn draw(shapes: &[Shape], form: Form, text: &mut String) {
    let named: Vec<(String, Shape)> =
        shapes.iter().cloned().enumerate().map(|(at, shape)| (letter(at), shape)).collect();
    let drawing = drawing::draw(String::new(), &named, form);
    let rank = drawing.dimensions.len();
    if rank == 0 {
        text.push_str("no shape has a dimension, so there is nothing to line up\n\n");
        return;
    }
    let sizes = drawing.dimensions.iter().flat_map(|dimension| dimension.sizes.iter().flatten());
    let width = sizes.map(|size| size.to_string().len()).max().unwrap_or(1).max(2);
    let _ = write!(text, "{FAINT}{:<10}", "dimension");
    for dim in 0..rank {
        let _ = write!(text, "  {dim:>width$}");
    }
    let _ = writeln!(text, "{FAINT:#}");
    for (at, (name, shape)) in named.iter().enumerate() {
        let _ = write!(text, "{name:<10}");
        for dimension in &drawing.dimensions {
            let style = if dimension.conflict { BAD } else { Style::new() };
            match dimension.sizes[at] {
                Some(size) => {
                    let _ = write!(text, "  {style}{size:>width$}{style:#}");
                }
                None => {
                    let _ = write!(text, "  {FAINT}{:>width$}{FAINT:#}", "·");
                }
            }
        }
        let _ = writeln!(text, "   {FAINT}{shape}{FAINT:#}");
    }
    let _ = writeln!(text, "{:<10}{}", "", "─".repeat((width + 2) * rank));
    let _ = write!(text, "{:<10}", "result");
    for dimension in &drawing.dimensions {
        match dimension.result {
            Some(size) => {
                let style = if dimension.conflict { BAD } else { GOOD };
                let _ = write!(text, "  {style}{size:>width$}{style:#}");
            }
            None => {
                let _ = write!(text, "  {BAD}{:>width$}{BAD:#}", "✗");
            }
        }
    }
    text.push_str("\n\n");
    for (dim, dimension) in drawing.dimensions.iter().enumerate().rev() {
        let mark = if dimension.conflict { format!("{BAD}✗{BAD:#}") } else { format!("{GOOD}✓{GOOD:#}") };
        let _ = writeln!(text, "{mark} dimension {dim}: {}", dimension.rule);
    }
    text.push('\n');
}

fn result_shape(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => tensor.shape.to_string(),
        Value::Tensors(tensors) => tensors.first().map(|tensor| tensor.shape.to_string()).unwrap_or_default(),
        other => crate::harness::format::value(other),
    }
}

fn call(op: Op, form: Form, shapes: &[Shape]) -> String {
    let names: Vec<String> = (0..shapes.len()).map(letter).collect();
    match form {
        Form::InPlace => format!("{}.{op}_({})", names[0], names[1..].join(", ")),
        _ => format!("{op}({})", names.join(", ")),
    }
}

/// a, b, …, z, then numbered.
fn letter(at: usize) -> String {
    match u8::try_from(at) {
        Ok(at) if at < 26 => char::from(b'a' + at).to_string(),
        _ => format!("t{at}"),
    }
}
