//! A finding as a Rust program that needs `tch` and nothing else.

use std::fmt::Write as _;

use crate::escape::one_line;
use crate::program::{Input, Program, ValueRef};
use crate::tensor::{DType, Scalar};

use super::expected::{Check, Is, checks};
use super::{Dossier, Expected, literal, tch};

/// The text that every program starts with.
const PREAMBLE: &str = include_str!("preamble.rs.txt");

/// The program of a finding, which exits with 1 if the difference is there, with 0 if it is not, and with 2 if `tch`
/// cannot show it.
pub(super) fn render(dossier: &Dossier) -> String {
    let finding = dossier.finding;
    let mut text = String::new();
    let _ = writeln!(text, "//! {}\n//!", one_line(&finding.signature.to_string()));
    text.push_str(
        "//! Exits with 1 if the difference is there, with 0 if it is not, with 2 if tch cannot show it. In a new package:\n\
         //!\n\
         //! ```toml\n\
         //! [dependencies]\n\
         //! tch = \"0.26\"       # for libtorch 2.13; LIBTORCH names the folder of another one\n\
         //! ```\n\n",
    );
    let mut missing = gaps(&finding.program);
    if let Expected::SameAs { program, .. } = dossier.expected {
        missing.extend(gaps(program));
    }
    let seen = match dossier.expected {
        Expected::Outcomes(side) => checks(finding, side, dossier.observed),
        Expected::SameAs { .. } => Vec::new(),
    };
    let hidden = |check: &Check| {
        matches!(check.is, Is::Storage(..) | Is::Warnings(_) | Is::Number(_) | Is::ScalarType(_) | Is::Sizes(_))
    };
    let (hidden, seen): (Vec<Check>, Vec<Check>) = seen.into_iter().partition(hidden);
    let hidden: Vec<String> =
        hidden.iter().map(|check| format!("tch does not tell {} of {}", check.aspect(), check.value)).collect();
    // What is left may still show that something is wrong.
    match seen.is_empty() {
        true => missing.extend(hidden),
        false => hidden.iter().for_each(|what| text.push_str(&format!("// {what}\n"))),
    }
    missing.dedup();
    if !missing.is_empty() {
        for what in &missing {
            let _ = writeln!(text, "// {}", one_line(what));
        }
        text.push_str("\nfn main() -> std::process::ExitCode {\n");
        for what in &missing {
            let _ = writeln!(text, "    println!(\"{{}}\", {:?});", one_line(what));
        }
        text.push_str(
            "    println!(\"README.md has the program in Python.\");\n    std::process::ExitCode::from(2)\n}\n",
        );
        return text;
    }
    text.push_str("// Not every finding needs all of what follows.\n#![allow(unused)]\n\n");
    text.push_str(PREAMBLE);
    let _ = write!(text, "\n{}", function("program", &finding.program));
    if let Expected::SameAs { rule, program, .. } = dossier.expected {
        let _ = write!(text, "\n/// By definition the same: {}.\n{}", one_line(rule), function("same", program));
    }
    text.push_str("\nfn main() -> ExitCode {\n    // As it was found: with more, the order of sums may be another.\n    tch::set_num_threads(1);\n    let seen = program();\n");
    text.push_str("    let at = |seen: &[(&str, Held)], name: &str| seen.iter().rposition(|(own, _)| *own == name).expect(\"a value\");\n");
    text.push_str("    let mut same = true;\n");
    match dossier.expected {
        _ if finding.is_broken() => {
            text.push_str("    for (name, held) in &seen {\n        println!(\"{name}: {}\", held.seen);\n    }\n    let _ = at;\n    same &= true;\n");
        }
        Expected::Outcomes(_) => seen.iter().for_each(|check| text.push_str(&self::check(check))),
        Expected::SameAs { pairs, .. } => {
            text.push_str("    let other = same_program();\n".replace("same_program", "self::same").as_str());
            for (here, there) in pairs {
                let _ = writeln!(
                    text,
                    "    let (got, wanted) = (&seen[at(&seen, {0:?})].1, &other[at(&other, {1:?})].1);\n    \
                     same &= expect({0:?}, \"all of it\", &wanted.seen, &got.seen, wanted.seen == got.seen);",
                    here.split('.').next().unwrap_or_default(),
                    there.split('.').next().unwrap_or_default()
                );
            }
        }
    }
    text.push_str("    if same { ExitCode::SUCCESS } else { ExitCode::from(1) }\n}\n");
    text
}

/// The steps that `tch` has no function for.
fn gaps(program: &Program) -> Vec<String> {
    let value = |value: ValueRef| reference(program, value);
    program.steps.iter().filter_map(|step| tch::call(step, &value).err()).collect()
}

fn function(name: &str, program: &Program) -> String {
    let mut text =
        format!("#[rustfmt::skip]\nfn {name}() -> Vec<(&'static str, Held)> {{\n    let mut seen = Vec::new();\n");
    for (at, input) in program.inputs.iter().enumerate() {
        let _ = writeln!(text, "    let {} = Seen::from({});", variable(program, at), self::input(input));
    }
    let value = |value: ValueRef| reference(program, value);
    for (at, step) in program.steps.iter().enumerate() {
        let variable = variable(program, program.inputs.len() + at);
        let call = tch::call(step, &value).expect("gaps were looked for");
        // Several calls are one result.
        let call = if call.contains('?') { format!("Ok({call}?)") } else { call };
        let _ = writeln!(text, "    let {variable} = attempt(|| {call});");
        let _ = writeln!(text, "    seen.push(({:?}, held(&{variable})));", step.name);
    }
    for (at, input) in program.inputs.iter().enumerate() {
        let _ =
            writeln!(text, "    seen.push(({:?}, held(&{})));", format!("{} after", input.name), variable(program, at));
    }
    text.push_str("    seen\n}\n");
    text
}

fn variable(program: &Program, value: usize) -> String {
    let name = program.value_name(value);
    let plain = name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    let first = name.starts_with(|letter: char| letter.is_ascii_lowercase());
    // A word of Rust among them would be no name; none is one letter with a number.
    let short = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len() == 1;
    if plain && first && short { name.to_owned() } else { format!("value{value}") }
}

fn reference(program: &Program, value: ValueRef) -> String {
    format!("{}.tensor({})", variable(program, value.value), value.part.unwrap_or(0))
}

fn input(input: &Input) -> String {
    let sizes = format!("&{:?}", input.shape.sizes());
    let kind = tch::kind(input.dtype);
    let rust = match input.dtype {
        DType::Bool => Some("bool"),
        DType::Uint8 => Some("u8"),
        DType::Int8 => Some("i8"),
        DType::Int16 => Some("i16"),
        DType::Int32 => Some("i32"),
        DType::Int64 => Some("i64"),
        DType::Float32 => Some("f32"),
        DType::Float64 => Some("f64"),
        _ => None,
    };
    let numbers = literal::numbers(input.dtype, &input.data);
    let tensor = match (rust, numbers) {
        _ if input.data.is_empty() => format!("Tensor::zeros({:?}, (Kind::{kind}, Device::Cpu))", input.shape.sizes()),
        (Some(rust), Some(numbers)) => {
            let numbers: Vec<String> = numbers.iter().map(|value| number(*value, input.dtype, rust)).collect();
            let sizes = input.shape.sizes();
            let sizes = if sizes.is_empty() { "[0i64; 0]".to_owned() } else { format!("{sizes:?}") };
            format!("Tensor::from_slice(&[{}]).reshape({sizes})", numbers.join(", "))
        }
        _ => format!("Tensor::from_data_size(&bytes(\"{}\"), {sizes}, Kind::{kind})", literal::hex(&input.data)),
    };
    if input.requires_grad { format!("{tensor}.set_requires_grad(true)") } else { tensor }
}

fn number(value: Scalar, dtype: DType, rust: &str) -> String {
    match value {
        Scalar::Bool(value) => value.to_string(),
        Scalar::Int(value) => format!("{value}{rust}"),
        Scalar::Float(value) if value.is_nan() => format!("{rust}::NAN"),
        Scalar::Float(f64::INFINITY) => format!("{rust}::INFINITY"),
        Scalar::Float(f64::NEG_INFINITY) => format!("{rust}::NEG_INFINITY"),
        Scalar::Float(value) => format!("{}{rust}", literal::float(value, dtype)),
        Scalar::Complex(_) => unreachable!("complex inputs are written as bytes"),
    }
}

/// The lines that look at one thing.
fn check(check: &Check) -> String {
    let name = if check.after { format!("{} after", check.value) } else { check.value.to_owned() };
    let part = check.part.unwrap_or(0);
    let mut lines = format!("    let got = &seen[at(&seen, {name:?})].1;\n");
    let tensor = |field: usize, wanted: &str| {
        format!("got.tensors.get({part}).is_some_and(|tensor| tensor.{field} == {wanted})")
    };
    let (wanted, same) = match &check.is {
        Is::Accepted => ("a result".to_owned(), "!got.rejected".to_owned()),
        Is::Rejected => ("a rejection".to_owned(), "got.rejected".to_owned()),
        Is::Message(text) => (format!("rejected: {text}"), format!("got.seen == {:?}", format!("rejected: {text}"))),
        Is::Shape(sizes) => (check.expected(), tensor(1, &format!("{sizes:?} as [i64; {}]", sizes.len()))),
        Is::Strides(strides) => (check.expected(), tensor(2, &format!("{strides:?} as [i64; {}]", strides.len()))),
        Is::Dtype(dtype) => (check.expected(), tensor(0, &format!("Kind::{}", tch::kind(*dtype)))),
        Is::Nothing => ("nothing".to_owned(), "got.seen == \"nothing\"".to_owned()),
        Is::Elements(value, slack) => {
            let mut reals = Vec::new();
            let mut integers = Vec::new();
            for scalar in value.scalars() {
                match scalar {
                    Scalar::Float(value) => reals.push(tch::real(value)),
                    Scalar::Complex(value) => reals.extend([value.re, value.im].map(tch::real)),
                    Scalar::Int(value) => integers.push(format!("{value}i64")),
                    Scalar::Bool(value) => integers.push(format!("{}i64", u8::from(value))),
                }
            }
            let (reals, integers) = (reals.join(", "), integers.join(", "));
            let same = format!(
                "got.tensors.get({part}).is_some_and(|tensor| near(&[{reals}], &tensor.3, {slack:?}) && tensor.4 == [{integers}] as [i64; {}])",
                if integers.is_empty() { 0 } else { value.scalars().len() }
            );
            (check.expected(), same)
        }
        Is::Number(_) | Is::ScalarType(_) | Is::Sizes(_) | Is::Storage(..) | Is::Warnings(_) => {
            unreachable!("tch cannot show it")
        }
    };
    let name = match check.part {
        Some(part) => format!("{name}.{part}"),
        None => name,
    };
    let _ = writeln!(lines, "    same &= expect({name:?}, {:?}, {wanted:?}, &got.seen, {same});", check.aspect());
    lines
}
