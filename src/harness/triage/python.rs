//! A finding as a Python program that needs PyTorch and nothing else.
//!
//! A step is written as the documents name it where that name leads straight to libtorch, and as the operator itself,
//! `torch.ops.aten`, where Python does something of its own on the way.

use std::fmt::Write as _;

use crate::escape::{is_hidden, visible};
use crate::ops::{Family, Form, Op, OpInfo, Param, ParamKind, REDUCTIONS, Signature};
use crate::program::{Arg, Input, Program, ShapeArg, Step, ValueRef};
use crate::tensor::shape::bracketed;
use crate::tensor::{DType, Scalar, index};

use super::expected::{Check, Is, checks};
use super::{Dossier, Expected, literal};

/// What every program starts with.
const PREAMBLE: &str = include_str!("preamble.py");

/// Functions that Python writes anew, outside of the families that are all such.
const OWN_OF_PYTHON: &[&str] = &["einsum", "tensordot", "broadcast_tensors", "unflatten"];

/// Functions that take no `out=` under their documented names.
const WITHOUT_OUT: &[&str] = &["rsub"];

/// Functions that are methods only.
const METHODS: &[&str] = &["sum_to_size", "item"];

/// The program of a finding, which exits with 1 if the difference is there and with 0 if it is not.
pub(super) fn render(dossier: &Dossier) -> String {
    let finding = dossier.finding;
    let mut text = String::new();
    let _ = writeln!(text, "#!/usr/bin/env python3");
    let signature = visible(&finding.signature.to_string()).replace('\\', "\\\\").replace('"', "'");
    let _ = writeln!(
        text,
        "\"\"\"{signature}\n\nExits with 1 if the difference is there, with 0 if it is not, with 2 if Python has no such call."
    );
    if finding.fault.is_some() {
        let _ = writeln!(
            text,
            "The program was seen to end the process, or never to end; if it gets to its end, it exits with 0."
        );
    }
    let _ = writeln!(text, "\"\"\"\n\n{PREAMBLE}");
    let _ = write!(text, "\n{}", function("program", &finding.program));
    if let Expected::SameAs { rule, program, .. } = dossier.expected {
        let _ = write!(text, "\n\n# By definition the same: {rule}.\n{}", function("same", program));
    }
    let _ = writeln!(text, "\n\nseen = program()");
    match dossier.expected {
        _ if finding.fault.is_some() => text.push_str("print(seen)\n"),
        Expected::Outcomes(side) => {
            for check in checks(finding, side, dossier.observed) {
                let step = finding.program.steps.iter().find(|step| step.name == check.value);
                text.push_str(&match (step, &check.is) {
                    // Only functions hand them over to Python.
                    (Some(step), Is::Warnings(texts)) if spelling(step) == Spelling::Operator => {
                        format!(
                            "print({})\n",
                            string(&format!("{}: the warnings are on stderr; expected: {texts:?}", check.value))
                        )
                    }
                    _ => self::check(&check),
                });
            }
        }
        Expected::SameAs { pairs, .. } => {
            text.push_str("wanted = same()\n");
            for (here, there) in pairs {
                let (here, there) = (place(here), place(there));
                let _ = writeln!(
                    text,
                    "expect({}, \"all of it\", short(str(wanted{there})), short(str(seen{here})), alike(wanted{there}, seen{here}))",
                    string(&here)
                );
            }
            text = text.replacen("\ndifferent = []\n", &format!("\n{ALIKE}\n\ndifferent = []\n"), 1);
        }
    }
    text.push_str("sys.exit(1 if different else 0)\n");
    text
}

/// For two programs that should come to the same: elements, shape and dtype, whatever the memory.
const ALIKE: &str = "\
def alike(wanted, got):
    if isinstance(wanted, Refused) or isinstance(got, Refused):
        return type(wanted) is type(got) and str(wanted) == str(got)
    if isinstance(wanted, tuple) and isinstance(got, tuple):
        same = wanted[:2] == got[:2] and len(wanted[4]) == len(got[4])
        return same and all(near(a, b, 0.0) for a, b in zip(wanted[4], got[4]))
    if isinstance(wanted, list) and isinstance(got, list):
        return len(wanted) == len(got) and all(alike(a, b) for a, b in zip(wanted, got))
    return wanted == got
";

/// Where the outcome of a value stands among all: `["r"]`, `["r"][0]`.
fn place(name: &str) -> String {
    match name.split_once('.') {
        Some((value, part)) => format!("[{}][{part}]", string(value)),
        None => format!("[{}]", string(name)),
    }
}

/// A function that runs a program and returns what came of each value.
fn function(name: &str, program: &Program) -> String {
    let mut text = format!("def {name}():\n    seen = {{}}\n");
    for (at, input) in program.inputs.iter().enumerate() {
        let _ = writeln!(text, "    {} = {}", variable(program, at), self::input(input));
    }
    for (at, step) in program.steps.iter().enumerate() {
        let own = program.inputs.len() + at;
        let variable = self::variable(program, own);
        let mut needs: Vec<usize> =
            step.uses().map(|used| used.value).filter(|used| *used >= program.inputs.len()).collect();
        needs.sort_unstable();
        needs.dedup();
        let needs: String = needs.into_iter().map(|value| format!(", {}", self::variable(program, value))).collect();
        let _ = writeln!(text, "    {variable}, warned = attempt(lambda: {}{needs})", call(program, step));
        let name = string(&step.name);
        let _ =
            writeln!(text, "    seen[{name}], seen[{}] = held({variable}), warned", string(&warnings_of(&step.name)));
    }
    for (at, input) in program.inputs.iter().enumerate() {
        let _ =
            writeln!(text, "    seen[{}] = held({})", string(&format!("{} after", input.name)), variable(program, at));
    }
    text.push_str("    return seen\n");
    text
}

fn warnings_of(step: &str) -> String {
    format!("{step} warned")
}

/// The name of a value as a variable; names of cases may be words of Python.
fn variable(program: &Program, value: usize) -> String {
    const WORDS: &[&str] = &[
        "and",
        "as",
        "assert",
        "async",
        "await",
        "break",
        "class",
        "continue",
        "def",
        "del",
        "elif",
        "else",
        "except",
        "finally",
        "for",
        "from",
        "global",
        "if",
        "import",
        "in",
        "is",
        "lambda",
        "nonlocal",
        "not",
        "or",
        "pass",
        "raise",
        "return",
        "try",
        "while",
        "with",
        "yield",
        "seen",
        "torch",
        "attempt",
        "held",
        "warned",
        "complex",
        "float",
        "bytearray",
    ];
    let name = program.value_name(value);
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !name.starts_with(|letter: char| letter.is_ascii_digit());
    if plain && !WORDS.contains(&name) { name.to_owned() } else { format!("value{value}") }
}

fn input(input: &Input) -> String {
    let sizes = input.shape.sizes();
    let dtype = dtype(input.dtype);
    let tensor = match literal::numbers(input.dtype, &input.data) {
        _ if input.data.is_empty() => format!("torch.empty({}, dtype={dtype})", bracketed(sizes)),
        Some(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(|value| number(*value, input.dtype)).collect();
            format!("torch.tensor({}, dtype={dtype})", nested(&numbers, sizes))
        }
        None => format!(
            "torch.frombuffer(bytearray.fromhex(\"{}\"), dtype={dtype}).reshape({}).clone()",
            literal::hex(&input.data),
            bracketed(sizes)
        ),
    };
    if input.requires_grad { format!("{tensor}.requires_grad_()") } else { tensor }
}

fn nested(elements: &[String], sizes: &[i64]) -> String {
    match sizes {
        [] => elements.concat(),
        [size, inner @ ..] => {
            let count = elements.len() / (*size as usize).max(1);
            let parts: Vec<String> = elements.chunks(count.max(1)).map(|part| nested(part, inner)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

fn number(value: Scalar, dtype: DType) -> String {
    let float = |value: f64| match value {
        value if value.is_nan() => "math.nan".to_owned(),
        f64::INFINITY => "math.inf".to_owned(),
        f64::NEG_INFINITY => "-math.inf".to_owned(),
        value => literal::float(value, dtype),
    };
    match value {
        Scalar::Bool(true) => "True".to_owned(),
        Scalar::Bool(false) => "False".to_owned(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => float(value),
        Scalar::Complex(value) => format!("complex({}, {})", float(value.re), float(value.im)),
    }
}

fn dtype(dtype: DType) -> String {
    format!("torch.{dtype}")
}

fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\x{:02x}", letter as u32);
            }
            letter if is_hidden(letter) => {
                let _ = write!(quoted, "\\U{:08x}", letter as u32);
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

/// How a step is called.
#[derive(Clone, Copy, PartialEq)]
enum Spelling {
    /// `torch.add(x, y)`, `torch.linalg.cross(x, y)`, and `x.add_(y)` for what writes to its first operand.
    Function,
    /// `x.expand(…)`.
    Method,
    /// `torch.ops.aten.mse_loss(x, t, 1)`.
    Operator,
}

fn spelling(step: &Step) -> Spelling {
    let info: &OpInfo = step.op.info();
    let indices = info.signature.params().iter().any(|param| param.kind == ParamKind::Indices);
    let operator_only = step.form == Form::Out && WITHOUT_OUT.contains(&info.name);
    let own = info.family() == Family::Losses || indices || operator_only || OWN_OF_PYTHON.contains(&info.name);
    let own = own || overload(step).is_some();
    match (own, step.form) {
        (true, _) => Spelling::Operator,
        (_, Form::InPlace) => Spelling::Method,
        _ if info.family() == Family::Views || METHODS.contains(&info.name) => Spelling::Method,
        _ => Spelling::Function,
    }
}

/// The overload that has to be named, since Python makes a tensor of the number and calls the one for tensors, which
/// computes with it as it is.
fn overload(step: &Step) -> Option<&'static str> {
    let by_number = matches!(step.args.as_slice(), [_, Arg::Number(_)]);
    (step.op == Op::Mul && step.form == Form::InPlace && by_number).then_some("Scalar")
}

/// A step as an expression.
fn call(program: &Program, step: &Step) -> String {
    let value = |value: &ValueRef| reference(program, *value);
    match (step.op, step.args.as_slice()) {
        (Op::Index, [Arg::Tensor(x), Arg::Index(items)]) => format!("{}[{}]", value(x), index::render(items)),
        (Op::Backward, [Arg::Tensor(x), Arg::Tensor(gradient)]) => {
            format!("{}.backward({})", value(x), value(gradient))
        }
        (Op::Backward, [Arg::Tensor(x), _]) => format!("{}.backward()", value(x)),
        (Op::Grad, [Arg::Tensor(x)]) => format!("{}.grad", value(x)),
        (Op::BroadcastWarning, [Arg::Flag(flag)]) => {
            format!("setattr(torch.utils.backcompat.broadcast_warning, \"enabled\", {})", truth(*flag))
        }
        (Op::BroadcastWarning, _) => "torch.utils.backcompat.broadcast_warning.enabled".to_owned(),
        _ => plain_call(program, step),
    }
}

fn plain_call(program: &Program, step: &Step) -> String {
    let spelling = spelling(step);
    let params = step.op.info().signature.params();
    let mut args: Vec<String> = Vec::new();
    for (param, arg) in params.iter().zip(&step.args) {
        let text = argument(program, param, arg);
        // Operators have no defaults of their own for some; functions have all.
        match param.default {
            Some(default) if spelling != Spelling::Operator && Arg::from(default) == *arg => {
                // With `out=` or `keepdim` a reduction asks for its dimensions.
                let asks = step.form == Form::Out || step.args.contains(&Arg::Flag(true));
                if asks && step.op.info().signature == Signature::TypedReduction && param.name == "dim" {
                    args.push("dim=None".to_owned());
                }
            }
            Some(_) => args.push(format!("{}={text}", param.name)),
            None => match arg {
                Arg::Tensors(values) if spelling != Spelling::Operator => {
                    args.extend(values.iter().map(|value| reference(program, *value)));
                }
                Arg::Shapes(shapes) => args.extend(shapes.iter().map(shape)),
                _ => args.push(text),
            },
        }
    }
    let name = step.op.name();
    let suffix = if step.form == Form::InPlace { "_" } else { "" };
    let out = step.out.map(|out| format!("out={}", reference(program, out)));
    match spelling {
        Spelling::Method => {
            let target = args.remove(0);
            // A number has no methods.
            let target = if target.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                format!("({target})")
            } else {
                target
            };
            format!("{target}.{name}{suffix}({})", args.join(", "))
        }
        Spelling::Function => {
            let name = ["linalg", "special"]
                .into_iter()
                .find_map(|module| Some(format!("{module}.{}", name.strip_prefix(module)?.strip_prefix('_')?)));
            let name = name.unwrap_or_else(|| step.op.name().to_owned());
            args.extend(out);
            format!("torch.{name}({})", args.join(", "))
        }
        Spelling::Operator => {
            let schema = step.op.info().schema;
            let name = schema.split_once('.').map_or(schema, |(name, _)| name);
            args.extend(out);
            let overload = overload(step).map(|overload| format!(".{overload}")).unwrap_or_default();
            format!("torch.ops.aten.{name}{suffix}{overload}({})", args.join(", "))
        }
    }
}

fn argument(program: &Program, param: &Param, arg: &Arg) -> String {
    match arg {
        Arg::Nothing => "None".to_owned(),
        Arg::Tensor(value) => reference(program, *value),
        Arg::Tensors(values) => list(values.iter().map(|value| reference(program, *value))),
        Arg::Indices(values) => {
            list(values.iter().map(|value| value.map_or("None".to_owned(), |value| reference(program, value))))
        }
        Arg::Number(value) => number(*value, DType::Float64),
        Arg::Int(value) => value.to_string(),
        Arg::Ints(values) => bracketed(values),
        Arg::Shapes(shapes) => list(shapes.iter().map(shape)),
        Arg::Flag(value) => truth(*value).to_owned(),
        Arg::Dtype(dtype) => self::dtype(*dtype),
        Arg::Text(text) if param.kind == ParamKind::Reduction => {
            REDUCTIONS.iter().position(|name| name == text).map_or(string(text), |number| number.to_string())
        }
        Arg::Text(text) => string(text),
        Arg::Index(items) => string(&index::render(items)),
    }
}

fn shape(shape: &ShapeArg) -> String {
    match shape {
        ShapeArg::Size(size) => size.to_string(),
        ShapeArg::Sizes(sizes) => bracketed(sizes),
        ShapeArg::Float(value) => format!("{value:?}"),
        ShapeArg::Text(text) => string(text),
    }
}

fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(", "))
}

fn reference(program: &Program, value: ValueRef) -> String {
    let name = variable(program, value.value);
    match value.part {
        Some(part) => format!("{name}[{part}]"),
        None => name,
    }
}

/// The lines that look at one thing.
fn check(check: &Check) -> String {
    let part = check.part.map(|part| format!("[{part}]")).unwrap_or_default();
    let key = match (check.after, &check.is) {
        (true, _) => format!("{} after", check.value),
        (false, Is::Warnings(_)) => warnings_of(check.value),
        _ => check.value.to_owned(),
    };
    let seen = format!("seen[{}]{part}", string(&key));
    let tensor = |at: usize| format!("field({seen}, {at})");
    let refused = format!("isinstance({seen}, Refused)");
    let mut lines = String::new();
    let (wanted, got, same) = match &check.is {
        Is::Accepted => ("\"a result\"".to_owned(), format!("short(repr({seen}))"), format!("not {refused}")),
        Is::Rejected => ("\"a refusal\"".to_owned(), format!("short(repr({seen}))"), refused),
        Is::Message(text) => {
            // Only some types of tensors have other names in Python.
            let (wanted, other) = (string(text), string(&as_python_says(text)));
            let texts = if other == wanted { wanted.clone() } else { format!("{wanted}, {other}") };
            (wanted, format!("short(str({seen}))"), format!("{refused} and str({seen}) in [{texts}]"))
        }
        Is::Shape(sizes) => plain(&tuple(sizes), &tensor(1)),
        Is::Strides(strides) => plain(&tuple(strides), &tensor(2)),
        Is::Sizes(sizes) => plain(&tuple(sizes), &format!("tuple({seen})")),
        Is::Dtype(dtype) => plain(&self::dtype(*dtype), &tensor(0)),
        Is::Number(value) => {
            let wanted = number(*value, DType::Float64);
            (wanted.clone(), seen.clone(), format!("near({wanted}, {seen}, 0.0)"))
        }
        Is::Nothing => plain("None", &seen),
        Is::Warnings(texts) => plain(&list(texts.iter().map(|text| string(text))), &seen),
        Is::Storage(Some(input), offset) => {
            let owner = format!("seen[{}]", string(&format!("{input} after")));
            plain(&format!("({owner}[3][0], {offset})"), &tensor(3))
        }
        Is::Storage(None, offset) => {
            let inputs = "[seen[name][3][0] for name in seen if name.endswith(\" after\")]";
            let place = tensor(3);
            let same = format!("isinstance({seen}, tuple) and {place}[0] not in {inputs} and {place}[1] == {offset}");
            (format!("\"a storage that is no input's, from element {offset}\""), place, same)
        }
        Is::Elements(tensor_value, slack) => {
            let numbers = tensor_value.scalars();
            let written = match literal::numbers(tensor_value.dtype, &tensor_value.data) {
                _ if numbers.len() <= 64 => list(numbers.iter().map(|value| number(*value, tensor_value.dtype))),
                Some(numbers) => list(numbers.iter().map(|value| number(*value, tensor_value.dtype))),
                None => format!(
                    "torch.frombuffer(bytearray.fromhex(\"{}\"), dtype={}).tolist()",
                    literal::hex(&tensor_value.data),
                    self::dtype(tensor_value.dtype)
                ),
            };
            // The text of a float32 is not the number itself.
            let narrow = matches!(tensor_value.dtype, DType::Float32 | DType::Complex64) && written.starts_with('[');
            let written = match narrow {
                true => format!("torch.tensor({written}, dtype={}).tolist()", self::dtype(tensor_value.dtype)),
                false => written,
            };
            let _ = writeln!(lines, "wanted = {written}");
            let got = tensor(4);
            let same = format!("alike_elements(wanted, {got}, {slack:?})");
            ("short(str(wanted))".to_owned(), format!("short(str({got}))"), same)
        }
    };
    let name = match check.part {
        Some(part) => format!("{}.{part}", check.value),
        None if check.after => key,
        None => check.value.to_owned(),
    };
    let _ = writeln!(lines, "expect({}, \"{}\", {wanted}, {got}, {same})", string(&name), check.aspect());
    lines
}

/// Python has names of its own for the types of tensors: `CPUFloatType` is `torch.FloatTensor`.
fn as_python_says(text: &str) -> String {
    let mut words = text.split("CPU");
    let mut said = words.next().unwrap_or_default().to_owned();
    for word in words {
        match word.split_once("Type") {
            Some((dtype, rest)) if dtype.chars().all(char::is_alphanumeric) => {
                let _ = write!(said, "torch.{dtype}Tensor{rest}");
            }
            _ => {
                let _ = write!(said, "CPU{word}");
            }
        }
    }
    said
}

fn plain(wanted: &str, got: &str) -> (String, String, String) {
    (wanted.to_owned(), got.to_owned(), format!("{got} == {wanted}"))
}

fn tuple(sizes: &[i64]) -> String {
    match sizes {
        [one] => format!("({one},)"),
        _ => format!("({})", sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    }
}
