//! Cases and programs as YAML that loads to the same thing: for findings, which become cases by copy and paste.
//!
//! The style is that of `spec/README.md`: a line for each input, step and expectation.

use std::fmt::Write as _;

use super::load::Fill;
use super::model::{Case, Expectation, Expected, ExpectedRejection, Source};
use crate::ops::{Form, ParamDefault};
use crate::program::{Arg, Input, Program, ShapeArg, Step, ValueRef};
use crate::tensor::shape::bracketed;
use crate::tensor::{Buffer, DType, Scalar, Shape, index};

/// A case as an element of the list that a file of cases is.
pub fn case(case: &Case) -> String {
    let mut lines = vec![
        format!("id: {}", text(&case.id)),
        format!("clause: {}", list(case.clauses.iter().map(|id| tested(case, id)))),
        format!("source: {}", source(&case.source)),
    ];
    let mut line = |key: &str, value: &Option<String>| {
        lines.extend(value.as_ref().map(|value| format!("{key}: {}", text(value))));
    };
    line("note", &case.note);
    line("control", &case.control);
    let mut block = |key: &str, entries: Vec<String>| {
        lines.push(format!("{key}:"));
        lines.extend(entries.into_iter().map(|entry| format!("  {entry}")));
    };
    block("program", program(&case.program).lines().map(str::to_owned).collect());
    let entries = |expectations: &[(ValueRef, Expectation)]| {
        let entry = |(value, expectation): &(ValueRef, Expectation)| {
            format!("{}: {}", reference(&case.program, *value), self::expectation(&case.program, expectation))
        };
        expectations.iter().map(entry).collect()
    };
    block("expect", entries(&case.expect));
    let otherwise = case.otherwise.iter().flat_map(|otherwise| {
        let expect: Vec<String> = entries(&otherwise.expect);
        let begin = [format!("- releases: {}", quoted(&otherwise.releases.to_string())), "  expect:".to_owned()];
        begin.into_iter().chain(expect.into_iter().map(|entry| format!("    {entry}")))
    });
    let otherwise: Vec<String> = otherwise.collect();
    if !otherwise.is_empty() {
        block("otherwise", otherwise);
    }
    if !case.documented.is_empty() {
        block("documented", entries(&case.documented));
    }
    lines.extend(case.why.as_ref().map(|why| format!("why: {}", text(why))));
    let mut yaml = String::new();
    for (at, line) in lines.iter().enumerate() {
        let _ = writeln!(yaml, "{}{line}", if at == 0 { "- " } else { "  " });
    }
    yaml
}

/// All that a case expects, as text: which expectation it is.
pub fn expectations(case: &Case) -> String {
    let mut text = String::new();
    let mut each = |key: &str, expectations: &[(ValueRef, Expectation)]| {
        for (value, expectation) in expectations {
            let expectation = self::expectation(&case.program, expectation);
            let _ = writeln!(text, "{key} {}: {expectation}", reference(&case.program, *value));
        }
    };
    each("expect", &case.expect);
    for otherwise in &case.otherwise {
        each(&otherwise.releases.to_string(), &otherwise.expect);
    }
    each("documented", &case.documented);
    text
}

/// A program as the mapping under the key `program`, one line for each input and step.
pub fn program(program: &Program) -> String {
    let mut yaml = String::new();
    for (at, input) in program.inputs.iter().enumerate() {
        let _ = writeln!(yaml, "{}: {{{}}}", input.name, self::input(input, at));
    }
    for step in &program.steps {
        let _ = writeln!(yaml, "{}: {{{}}}", step.name, self::step(program, step));
    }
    yaml
}

/// Renders the expectation of one value.
pub fn expectation(program: &Program, expectation: &Expectation) -> String {
    match expectation {
        Expectation::Unchanged => "unchanged".to_owned(),
        Expectation::Nothing => "nothing".to_owned(),
        Expectation::Rejected(rejection) => format!("{{{}}}", rejected(rejection)),
        Expectation::Value(value) => format!("{{{}}}", expected(program, value)),
    }
}

fn input(input: &Input, at: usize) -> String {
    let shape = &input.shape;
    let fill = Fill::ALL.iter().find(|fill| fill.data(shape, input.dtype, at) == input.data);
    let (mut fields, default) = match fill {
        Some(fill) => {
            let mut fields = vec![format!("shape: {shape}")];
            if *fill != Fill::ALL[0] {
                fields.push(format!("fill: {}", fill.name()));
            }
            (fields, DType::Float32)
        }
        None => {
            let elements = Buffer::from_bytes(input.dtype, &input.data).expect("the whole elements of an input");
            let scalars = elements.scalars();
            let default = scalars.iter().max_by_key(|number| number.category()).map_or(DType::Float32, |n| n.dtype());
            let scalars: Vec<String> = scalars.iter().map(|number| element(input.dtype, *number)).collect();
            (vec![format!("values: {}", nested(&scalars, shape.sizes()))], default)
        }
    };
    if input.dtype != default {
        fields.push(format!("dtype: {}", input.dtype));
    }
    if input.requires_grad {
        fields.push("requires_grad: true".to_owned());
    }
    fields.join(", ")
}

fn step(program: &Program, step: &Step) -> String {
    let suffix = if step.form == Form::InPlace { "_" } else { "" };
    let mut positional = Vec::new();
    let mut keywords = Vec::new();
    for (param, arg) in step.op.info().arguments.iter().zip(&step.args) {
        let value = |arg| argument(program, arg);
        match (param.default, arg) {
            (Some(default), arg) if is_default(default, arg) => {}
            (Some(_), arg) => keywords.push(format!(", {}: {}", param.name, value(arg))),
            (None, Arg::Tensors(values)) => positional.extend(values.iter().map(|value| reference(program, *value))),
            (None, Arg::Shapes(shapes)) => positional.extend(shapes.iter().map(shape_arg)),
            (None, arg) => positional.push(value(arg)),
        }
    }
    keywords.extend(step.out.map(|out| format!(", out: {}", reference(program, out))));
    format!("{}{suffix}: {}{}", step.op, list(positional), keywords.concat())
}

/// Returns whether this argument is exactly the default that a reader fills in. The negative zero does not equal the
/// positive one.
fn is_default(default: ParamDefault, arg: &Arg) -> bool {
    let negative = |arg: &Arg| matches!(arg, Arg::Number(Scalar::Float(value)) if value.is_sign_negative());
    let default = Arg::from(default);
    default == *arg && negative(&default) == negative(arg)
}

fn argument(program: &Program, arg: &Arg) -> String {
    match arg {
        // Stands only where it is the default, and then it is left out.
        Arg::Nothing => "null".to_owned(),
        Arg::Tensor(value) => reference(program, *value),
        Arg::Tensors(values) => list(values.iter().map(|value| reference(program, *value))),
        Arg::Indices(values) => list(values.iter().map(|value| match value {
            Some(value) => reference(program, *value),
            None => "null".to_owned(),
        })),
        Arg::Number(value) => number(*value),
        Arg::Int(value) => value.to_string(),
        Arg::Ints(values) => bracketed(values),
        Arg::Shapes(shapes) => list(shapes.iter().map(shape_arg)),
        Arg::Flag(value) => value.to_string(),
        Arg::Dtype(dtype) => dtype.to_string(),
        Arg::ScalarType(dtype) => dtype.to_string(),
        Arg::Text(value) => quoted(value),
        Arg::Index(items) => quoted(&index::render(items)),
    }
}

fn shape_arg(shape: &ShapeArg) -> String {
    match shape {
        ShapeArg::Size(size) => size.to_string(),
        ShapeArg::Sizes(sizes) => bracketed(sizes),
        ShapeArg::Float(value) => number(Scalar::Float(*value)),
        ShapeArg::Text(text) => quoted(text),
    }
}

/// The name of a value: `r`, or `r.0` for one of several results.
pub fn reference(program: &Program, value: ValueRef) -> String {
    let name = program.value_name(value.value);
    match value.part {
        Some(part) => format!("{name}.{part}"),
        None => name.to_owned(),
    }
}

fn expected(program: &Program, expected: &Expected) -> String {
    let Expected { shape, dtype, strides, values, decimals, view_of, fresh, number, warnings, categories } = expected;
    let mut fields = Vec::new();
    let mut field = |key: &str, value: Option<String>| {
        fields.extend(value.map(|value| format!("{key}: {value}")));
    };
    let elements = |values: &Vec<Scalar>| {
        let shape = shape.as_ref().map_or(&[][..], Shape::sizes);
        nested(&values.iter().map(|value| self::number(*value)).collect::<Vec<_>>(), shape)
    };
    field("shape", shape.as_ref().map(Shape::to_string));
    field("dtype", dtype.map(|dtype| dtype.to_string()));
    field("strides", strides.as_deref().map(bracketed));
    field("values", values.as_ref().map(elements));
    field("decimals", decimals.map(|decimals| decimals.to_string()));
    field("view_of", view_of.map(|value| reference(program, value)));
    field("fresh", fresh.then(|| "true".to_owned()));
    field("number", number.map(self::number));
    field("warnings", warnings.as_ref().map(|texts| list(texts.iter().map(|text| quoted(text)))));
    field("categories", categories.as_ref().map(|names| list(names.iter().map(|name| text(name)))));
    fields.join(", ")
}

fn rejected(ExpectedRejection { class, message, raises }: &ExpectedRejection) -> String {
    let class = match (class, message) {
        (Some(class), _) => Some(format!("rejected: {}", class.name())),
        (None, None) => Some("rejected: any".to_owned()),
        (None, Some(_)) => None,
    };
    let message = message.as_ref().map(|message| format!("message: {}", quoted(message)));
    let raises = raises.as_ref().map(|raises| format!("raises: {}", text(raises)));
    class.into_iter().chain(message).chain(raises).collect::<Vec<_>>().join(", ")
}

/// A clause that the case tests: its id, with the values that witness it where they are named.
fn tested(case: &Case, clause: &str) -> String {
    match case.witnesses.get(clause) {
        None => text(clause),
        Some(values) => {
            let values = values.iter().map(|value| reference(&case.program, *value));
            format!("{{{}: {}}}", text(clause), list(values))
        }
    }
}

fn source(Source { doc, section, example, at }: &Source) -> String {
    let example = example.map(|example| format!(", example: {example}")).unwrap_or_default();
    let at = at.as_ref().map(|at| format!(", at: {}", quoted(at))).unwrap_or_default();
    format!("{{doc: {}, section: {}{example}{at}}}", text(doc), text(section))
}

/// Nested lists of texts. Lists inside an empty one are not there to be written.
fn nested(elements: &[String], sizes: &[i64]) -> String {
    match sizes {
        [] => elements.concat(),
        [0, ..] => "[]".to_owned(),
        [size, inner @ ..] => {
            let parts = (0..*size as usize).map(|at| {
                let count = elements.len() / *size as usize;
                nested(&elements[at * count..(at + 1) * count], inner)
            });
            list(parts)
        }
    }
}

fn list(elements: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", elements.into_iter().collect::<Vec<_>>().join(", "))
}

/// An element of an input: the shortest text that the input's dtype turns into the same element.
fn element(dtype: DType, value: Scalar) -> String {
    let stored = |number: Scalar| Buffer::from_scalars(dtype, std::iter::once(number)).scalars()[0];
    let short = match value {
        Scalar::Float(value) => Scalar::Float(shortest(value)),
        Scalar::Complex(value) => Scalar::Complex(num_complex::Complex64::new(shortest(value.re), shortest(value.im))),
        exact => exact,
    };
    number(if stored(short) == value { short } else { value })
}

/// The number whose text is as short as that of the nearest `f32`.
fn shortest(value: f64) -> f64 {
    format!("{:?}", value as f32).parse().expect("Rust reads the floats that it prints")
}

/// A number as the loader reads it.
fn number(value: Scalar) -> String {
    match value {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) if value.is_nan() => ".nan".to_owned(),
        Scalar::Float(f64::INFINITY) => ".inf".to_owned(),
        Scalar::Float(f64::NEG_INFINITY) => "-.inf".to_owned(),
        Scalar::Float(value) => format!("{value:?}"),
        Scalar::Complex(value) => {
            let part = |part: f64| if part.is_nan() { "nan".to_owned() } else { format!("{part:?}") };
            let (re, im) = (part(value.re), part(value.im));
            let plus = if im.starts_with('-') { "" } else { "+" };
            format!("{re}{plus}{im}j")
        }
    }
}

/// Text, without quotes where YAML reads it as text without them.
fn text(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _-./()".contains(c);
    let word = matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts && !word && !text.ends_with(' ') && text.chars().all(plain) { text.to_owned() } else { quoted(text) }
}

/// Text in double quotes, whatever is in it.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            // What YAML does not count as printable, and what it counts as a line break.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
