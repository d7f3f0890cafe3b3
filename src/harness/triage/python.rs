//! A finding as a Python program that needs PyTorch and nothing else, short enough to be pasted into an issue: the inputs,
//! the calls, and after each `print` a comment of what it prints.

mod calls;

use std::fmt::Write as _;

use crate::escape::{one_line, visible};
use crate::ops::{Form, Op};
use crate::oracles::metamorphic::Relation;
use crate::program::{Outcome, Program, Reply, Step, TensorValue, Value};

use super::super::Aspect;
use super::look::{Look, Property, elements, look};
use super::{Dossier, Expected, other, title};
use crate::model::finding::{HANG, Oracle};
use calls::{Spelling, call, input, kept, list, spelling, variable};

/// Begins a comment that has a line of what the program prints.
pub const PRINTS: &str = "# prints: ";

/// Begins a comment that has a line of what it should print.
pub const EXPECTED: &str = "# expected: ";

/// Begins the comment of a call that has no outcome.
pub const BROKEN: &str = "# the call ";

/// The comment of a value that the adapter had no words for, such as a shape with a negative size.
pub const UNDESCRIBED: &str = "# which the adapter could not describe";

/// The steps of a program as statements of Python, each with the value that it makes: `t = torch.add(x, y)`. The inputs
/// have the names that [`input_name`] says.
pub fn statements(program: &Program) -> Vec<String> {
    let line = |(at, step)| kept(program, at, &call(program, step));
    program.steps.iter().enumerate().map(line).collect()
}

/// The variable that an input is in Python; a case may have a word of Python for a name.
pub fn input_name(program: &Program, input: usize) -> String {
    variable(program, input)
}

/// The program of a finding.
pub(super) fn render(dossier: &Dossier) -> String {
    let finding = dossier.finding;
    let mut body = Body::default();
    let wanted: Vec<Wanted> = finding
        .differences
        .iter()
        .map(|difference| {
            let expected = match dossier.expected {
                Expected::Outcomes(side) => Some((&finding.program, side.reply, difference.value.as_str())),
                Expected::SameAs { program, pairs, reply, .. } => {
                    let there = pairs.iter().find(|(here, _)| *here == difference.value);
                    there.and_then(|(_, there)| Some((program, reply?, there.as_str())))
                }
            };
            // The reference has nothing to do with what an authority says.
            let said = (finding.signature.oracle == Oracle::Mathematics).then_some(difference.expected.as_str());
            Wanted { value: &difference.value, aspect: difference.aspect, expected, said }
        })
        .collect();
    body.program(&finding.program, dossier.observed, &wanted, None);
    match dossier.expected {
        _ if finding.is_broken() && finding.signature.kind == HANG => body.line(&format!("{BROKEN}never ends")),
        _ if finding.is_broken() => body.line(&format!("{BROKEN}ends the process")),
        Expected::Outcomes(_) => {}
        Expected::SameAs { rule, program, reply, .. } => {
            body.line("");
            body.line(&match Relation::named(rule) {
                Some(rule) if !rule.is_of_elements() => format!("# It should agree with {}:", other(rule.name())),
                _ => format!("# By definition the same ({}):", one_line(rule)),
            });
            let there: Vec<Wanted> = wanted
                .iter()
                .filter_map(|wanted| {
                    let (_, _, value) = wanted.expected?;
                    let observed = dossier.observed.map(|reply| (&finding.program, reply, wanted.value));
                    Some(Wanted { value, aspect: wanted.aspect, expected: observed, said: None })
                })
                .collect();
            body.program(program, reply, &there, Some(&finding.program));
        }
    }
    let mut text = format!("# {}.\n", visible(&one_line(&title(dossier))));
    let _ = writeln!(
        text,
        "# {} {}",
        visible(&one_line(&dossier.implementation.name)),
        visible(&one_line(&dossier.implementation.version))
    );
    if body.text.contains("math.") {
        text.push_str("import math\n");
    }
    if body.text.contains("warnings.") {
        text.push_str("import warnings\n");
    }
    text.push_str("import torch\n\n");
    if body.text.contains("warnings.") {
        text.push_str("torch.set_warn_always(True)\n");
    }
    // As it was found: with more, the order of sums may be another.
    if finding.differences.iter().any(|difference| difference.aspect == Aspect::Values) {
        text.push_str("torch.set_num_threads(1)\n");
    }
    // As the adapter does before each program.
    if dossier.finding.program.steps.iter().any(|step| matches!(step.op, Op::Normal | Op::Bernoulli | Op::Binomial)) {
        text.push_str("torch.manual_seed(0)\n");
    }
    text + &body.text
}

/// A value to print.
struct Wanted<'a> {
    /// Its name.
    value: &'a str,
    aspect: Aspect,
    /// The value that it is compared with: of a program, as an implementation answered it.
    expected: Option<(&'a Program, &'a Reply, &'a str)>,
    /// The expectation of an authority, in words.
    said: Option<&'a str>,
}

impl Wanted<'_> {
    /// The step or input, and whether it is an input after the program.
    fn place(&self) -> (&str, bool) {
        let (name, after) = match self.value.strip_suffix(" after") {
            Some(name) => (name, true),
            None => (self.value, false),
        };
        (name.split_once('.').map_or(name, |(name, _)| name), after)
    }
}

/// The lines of the program after its imports.
#[derive(Default)]
struct Body {
    text: String,
    /// A view that only the next step uses: its variable, and the expression that it is written as there.
    view: Option<(String, String)>,
}

impl Body {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A program, and what is wanted of it. Inputs that an earlier program has made, and left alone, are there already.
    fn program(&mut self, program: &Program, reply: Option<&Reply>, wanted: &[Wanted], before: Option<&Program>) {
        let kept = before.filter(|before| !before.steps.iter().any(writes));
        for (at, input) in program.inputs.iter().enumerate() {
            if !kept.is_some_and(|kept| kept.inputs.contains(input)) {
                self.line(&format!("{} = {}", variable(program, at), self::input(input)));
            }
        }
        for (at, step) in program.steps.iter().enumerate() {
            let answer = reply.and_then(|reply| reply.steps.get(at));
            let own: Vec<&Wanted> =
                wanted.iter().filter(|wanted| wanted.place() == (step.name.as_str(), false)).collect();
            let call = self.call(program, at);
            if own.is_empty()
                && is_link(program, at)
                && matches!(answer.map(|answer| &answer.outcome), Some(Outcome::Value(_)))
            {
                self.view = Some((variable(program, program.inputs.len() + at), call));
                continue;
            }
            match answer.map(|answer| &answer.outcome) {
                Some(Outcome::Blocked(_) | Outcome::Unsupported(_)) => {}
                Some(Outcome::Rejected(_)) if own.iter().any(|wanted| wanted.aspect == Aspect::Warnings) => {
                    let caught = format!("    try:\n        {call}\n    except Exception:\n        pass");
                    self.warns(&caught, program, at, &own, reply);
                }
                Some(Outcome::Rejected(rejected)) => {
                    self.line(&format!("try:\n    {call}\nexcept Exception as error:"));
                    match own.is_empty() && !wanted.iter().any(|wanted| is_blocked(program, reply, wanted)) {
                        true => self.line("    pass"),
                        false => {
                            self.line("    print(error)");
                            self.prints(&as_python_says(&rejected.message));
                        }
                    }
                    match own.iter().any(|wanted| wanted.aspect == Aspect::Values) {
                        true => self.target(program, step, reply),
                        false => own.iter().for_each(|wanted| self.expects(wanted, program, reply)),
                    }
                }
                _ => self.step(program, at, call, &own, reply),
            }
        }
        self.view = None;
        for input in wanted.iter().filter(|wanted| wanted.place().1) {
            self.shows(program, input, reply);
        }
    }

    /// A step as an expression, with the view before it in place of its variable.
    fn call(&mut self, program: &Program, at: usize) -> String {
        let call = call(program, &program.steps[at]);
        let Some((variable, view)) = self.view.take() else { return call };
        match call.strip_prefix(&variable).filter(|rest| rest.starts_with('.')) {
            Some(rest) => view + rest,
            None => {
                self.line(&format!("{variable} = {view}"));
                call
            }
        }
    }

    /// A step that is not rejected.
    fn step(&mut self, program: &Program, at: usize, call: String, wanted: &[&Wanted], reply: Option<&Reply>) {
        let step = &program.steps[at];
        let value = program.inputs.len() + at;
        let warns = wanted.iter().any(|wanted| wanted.aspect == Aspect::Warnings);
        let used = program.steps[at + 1..].iter().any(|later| later.uses().any(|used| used.value == value))
            || wanted.iter().any(|wanted| wanted.aspect != Aspect::Warnings);
        let call = if used { kept(program, at, &call) } else { call };
        // Only functions hand their warnings over to Python.
        match warns && spelling(step) != Spelling::Operator {
            true => self.warns(&format!("    {call}"), program, at, wanted, reply),
            false => self.line(&call),
        }
        for wanted in wanted.iter().filter(|wanted| wanted.aspect != Aspect::Warnings) {
            self.shows(program, wanted, reply);
        }
    }

    /// Runs a step, and prints its warnings.
    fn warns(&mut self, call: &str, program: &Program, at: usize, wanted: &[&Wanted], reply: Option<&Reply>) {
        let catch = "with warnings.catch_warnings(record=True) as caught:\n    warnings.simplefilter(\"always\")";
        self.line(&format!("{catch}\n{call}"));
        self.line("print([str(one.message).split(\" (Triggered\")[0] for one in caught])");
        let texts = |reply: &Reply, at: usize| {
            reply.steps.get(at).map(|answer| list(answer.warnings.iter().map(|text| python_string(text))))
        };
        let own = reply.and_then(|reply| texts(reply, at));
        own.iter().for_each(|texts| self.prints(texts));
        let expected =
            wanted.iter().filter(|wanted| wanted.aspect == Aspect::Warnings).find_map(|wanted| wanted.expected);
        let expected = expected.filter(|(theirs, ..)| std::ptr::eq(*theirs, program));
        if let Some(expected) = expected.and_then(|(_, reply, _)| texts(reply, at)) {
            self.line(&format!("{EXPECTED}{}", visible(&expected)));
        }
    }

    /// Prints the target of a rejected step, which should be as it was, if it is an input that nothing else writes to.
    fn target(&mut self, program: &Program, step: &Step, reply: Option<&Reply>) {
        let Some(target) = step.target().map(|target| target.value) else { return };
        let writers = program.steps.iter().filter(|step| writes(step)).count();
        let (Some(input), Some(after)) = (program.inputs.get(target), reply.and_then(|reply| reply.inputs.get(target)))
        else {
            return;
        };
        if writers > 1 || input.shape != after.shape {
            return;
        }
        let name = format!("{} after", input.name);
        let Some(Look::Value(Property::Elements, text)) =
            reply.and_then(|reply| look(program, reply, &name, Aspect::Values, None))
        else {
            return;
        };
        let before = TensorValue { data: input.data.clone(), ..after.clone() };
        self.line(&format!("print({}.tolist())", variable(program, target)));
        self.prints(&text);
        self.line(&format!("{EXPECTED}{}", elements(&before)));
    }

    /// Prints what is wanted of a value that is there.
    fn shows(&mut self, program: &Program, wanted: &Wanted, reply: Option<&Reply>) {
        let (name, _) = wanted.place();
        let Some(value) = (0..program.inputs.len() + program.steps.len()).find(|at| program.value_name(*at) == name)
        else {
            return;
        };
        let part = wanted.value.strip_suffix(" after").unwrap_or(wanted.value).split_once('.');
        let part = part.map_or(String::new(), |(_, part)| format!("[{part}]"));
        let made = value.checked_sub(program.inputs.len()).and_then(|step| reply?.steps.get(step));
        let several = made.is_some_and(|made| matches!(made.outcome, Outcome::Value(Value::Tensors(_))));
        let part = if several && part.is_empty() { "[0]".to_owned() } else { part };
        let own = format!("{}{part}", variable(program, value));
        let other = wanted.expected;
        let seen = reply.and_then(|reply| look(program, reply, wanted.value, wanted.aspect, other));
        match seen {
            Some(Look::Value(property, text)) => {
                self.line(&format!("print({})", expression(&property, &own)));
                self.prints(&text);
            }
            _ => self.line(&format!("print(tuple({own}.shape))\n{UNDESCRIBED}")),
        }
        self.expects(wanted, program, reply);
    }

    fn prints(&mut self, text: &str) {
        for line in text.trim_end().split('\n') {
            self.line(&format!("{PRINTS}{}", visible(line)));
        }
    }

    /// Writes the expected output, where no other call says it.
    fn expects(&mut self, wanted: &Wanted, program: &Program, reply: Option<&Reply>) {
        if let Some(said) = wanted.said {
            return self.line(&format!("{EXPECTED}{}", visible(&one_line(said))));
        }
        let Some((theirs, expected, value)) = wanted.expected.filter(|(theirs, ..)| std::ptr::eq(*theirs, program))
        else {
            return;
        };
        let own = reply.map(|reply| (program, reply, wanted.value));
        let text = match look(theirs, expected, value, wanted.aspect, own) {
            Some(Look::Value(_, text)) => text,
            Some(Look::Error(message)) => format!("an error: {message}"),
            None => return,
        };
        for line in text.trim_end().split('\n') {
            self.line(&format!("{EXPECTED}{}", visible(line)));
        }
    }
}

/// Returns whether a step is a view, or a copy of one, of which nothing but the next step is made.
fn is_link(program: &Program, at: usize) -> bool {
    let value = program.inputs.len() + at;
    let uses = |step: &Step| step.uses().filter(|used| used.value == value).count();
    let later: usize = program.steps[at + 1..].iter().map(uses).sum();
    let step = &program.steps[at];
    let is_method = step.form == Form::Functional && spelling(step) == Spelling::Method;
    is_method && later == 1 && program.steps.get(at + 1).is_some_and(|next| uses(next) == 1)
}

/// Returns whether a wanted step did not run, since one before it was rejected.
fn is_blocked(program: &Program, reply: Option<&Reply>, wanted: &Wanted) -> bool {
    let at = program.steps.iter().position(|step| step.name == wanted.place().0);
    let answer = at.zip(reply).and_then(|(at, reply)| reply.steps.get(at));
    matches!(answer.map(|answer| &answer.outcome), Some(Outcome::Blocked(_)))
}

/// Returns whether a step may change its operands.
fn writes(step: &Step) -> bool {
    step.form != Form::Functional || matches!(step.op, Op::Backward | Op::Grad)
}

/// The expression that is printed of a value.
fn expression(property: &Property, value: &str) -> String {
    match property {
        Property::Elements => format!("{value}.tolist()"),
        Property::Element(at) => format!("{value}.flatten()[{at}].item()"),
        Property::Shape => format!("tuple({value}.shape)"),
        Property::Dtype => format!("{value}.dtype"),
        Property::Strides => format!("{value}.stride()"),
        Property::Shares(input) => {
            format!(
                "{value}.untyped_storage().data_ptr() == {input}.untyped_storage().data_ptr(), {value}.storage_offset()"
            )
        }
        Property::Offset => format!("{value}.storage_offset()"),
        Property::Sizes => format!("tuple({value})"),
        Property::Itself => value.to_owned(),
    }
}

/// A text as Python writes it within a list.
fn python_string(text: &str) -> String {
    match text.contains('\'') && !text.contains('"') {
        true => format!("\"{}\"", text.replace('\\', "\\\\").replace('\n', "\\n")),
        false => format!("'{}'", text.replace('\\', "\\\\").replace('\n', "\\n").replace('\'', "\\'")),
    }
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
