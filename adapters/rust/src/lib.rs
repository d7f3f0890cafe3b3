//! Writes the programs that an adapter in Rust runs as programs in the calls of its library.
//!
//! The table of an adapter has the source of each of its calls ([`Arm`]). [`Recorder::call`] receives the arm that a step
//! takes. [`Recording`] puts the step's arguments in it, and writes the program to the file that the variable
//! `BROADCHECK_RENDER` names. A [`Language`] supplies what is the library's own.

mod dispatch;
mod expressions;
mod language;
mod literal;
mod rewrite;
mod scope;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;

use broadcheck_protocol::adapter::library::{Arm, RENDER, Recorder};
use broadcheck_protocol::program::{Input, Outcome, Program, Step, TensorValue, Value, ValueRef};
use broadcheck_protocol::tensor::DType;
use quote::ToTokens;
use rewrite::Unwritable;
use syn::parse::Parser;
use syn::visit_mut::{self, VisitMut};

pub use language::{Language, Written};
pub use literal::{list, name, number, real_and_imaginary, sizes, vector};
pub use scope::{Bound, Tensor};

/// The program that is written.
pub struct Recording<L> {
    language: L,
    file: PathBuf,
    /// The tensors that each input and each step is, if it is tensors.
    values: Vec<Option<Vec<Rc<Tensor>>>>,
    /// The variable of each input, and its type and its expression.
    inputs: Vec<(String, String)>,
    /// The lines of each step that was called.
    steps: Vec<String>,
    /// The lines that the program prints.
    printed: Vec<String>,
    /// The statements that print, by the numbers of their marks. Macros are not formatted, so these are put in last.
    prints: Vec<String>,
    /// The message of the last panic.
    panic: Option<String>,
    /// The variables that are written to.
    mutable: Vec<String>,
    /// Variables that calls have bound, other than results.
    variables: BTreeSet<String>,
    pending: Option<Pending>,
    /// Why the program is not written.
    program_error: Option<String>,
    /// Why the call of the step that is called is not written, unless a later arm of it is.
    step_error: Option<String>,
    /// The dtype of the first tensor of the step that is called.
    dtype: Option<DType>,
}

/// A step that was called and has not ended.
struct Pending {
    name: String,
    written: Written,
}

/// The name of the marks of statements that print.
const MARK: &str = "print_";

/// Of larger tensors the sizes are printed, and no elements.
const MOST_ELEMENTS: usize = 256;

impl<L: Language> Recording<L> {
    /// Returns a recording, if this process is asked for one.
    pub fn wanted(language: L) -> Option<Recording<L>> {
        let file = std::env::var_os(RENDER)?;
        Some(Recording { file: file.into(), ..Recording::new(language) })
    }

    fn new(language: L) -> Recording<L> {
        Recording {
            language,
            file: PathBuf::new(),
            values: Vec::new(),
            inputs: Vec::new(),
            steps: Vec::new(),
            printed: Vec::new(),
            prints: Vec::new(),
            panic: None,
            mutable: Vec::new(),
            variables: BTreeSet::new(),
            pending: None,
            program_error: None,
            step_error: None,
            dtype: None,
        }
    }

    fn tensor(&self, value: ValueRef) -> Option<Rc<Tensor>> {
        self.values.get(value.value)?.as_ref()?.get(value.part.unwrap_or(0)).cloned()
    }

    /// The call that an arm makes for a step.
    fn translated(&self, step: &Step, arm: Arm) -> Result<Written, Unwritable> {
        let tensor = |value: &ValueRef| self.tensor(*value);
        let bound = |arg| Bound::of(arg, tensor).ok_or("an argument");
        let arguments = step.args.iter().map(bound).collect::<Result<Vec<_>, _>>()?;
        if let Some(written) = self.language.call(step, &arguments) {
            return Ok(written);
        }
        let out = step.out.as_ref().and_then(tensor).map(Bound::Tensor);
        let pattern = syn::Pat::parse_multi.parse_str(arm.arguments).map_err(|error| error.to_string())?;
        let answer = syn::parse_str(arm.answer).map_err(|error| error.to_string())?;
        rewrite::rewrite(&self.language, &pattern, answer, arguments, out)
    }

    /// Writes the program as far as it has come, with a step that was called and has not ended.
    fn write(&self) {
        let called = self.pending.is_some() || self.steps.iter().any(|step| !step.is_empty());
        if let Some(error) = &self.program_error {
            eprintln!("the program is not written: {error}");
        }
        if self.program_error.is_some() || !called {
            let _ = std::fs::remove_file(&self.file);
            return;
        }
        let mut body = String::new();
        for (name, value) in &self.inputs {
            let mutable = if self.mutable.contains(name) { "mut " } else { "" };
            body += &format!("let {mutable}{name}{value};\n");
        }
        for step in &self.steps {
            let mutable =
                |step: String, name: &String| step.replace(&format!("let {name} "), &format!("let mut {name} "));
            body += &self.mutable.iter().fold(step.clone(), mutable);
        }
        if let Some(Pending { name, written }) = &self.pending {
            written.before.iter().for_each(|line| body += line);
            if let Some(value) = &written.value {
                body += &let_statement(name, written, value);
            }
        }
        let (returns, end) = if body.contains('?')
            || self.prints.iter().any(|line| line.contains("?;") || line.contains("?)") || line.contains("?."))
        {
            (format!("-> {}", L::RETURNS), "Ok(())")
        } else {
            Default::default()
        };
        let text = format!(
            "{} fn main() {returns} {{ {body} {end} }}",
            uses::<L>(&format!("{body}{}{returns}", self.prints.concat()))
        );
        let program = match syn::parse_file(&text) {
            Ok(file) => prettyplease::unparse(&file).lines().map(|line| self.finished(line)).collect::<String>(),
            Err(error) => {
                eprintln!("the program is not written: {error}: {text}");
                let _ = std::fs::remove_file(&self.file);
                return;
            }
        };
        let mut text = "rust\n".to_owned();
        text += "// With these dependencies in Cargo.toml:\n";
        dependencies(L::MANIFEST, &program).for_each(|line| text += &format!("// {line}\n"));
        text += &program;
        if let Some(panic) = &self.panic {
            text += &format!("// panics: {panic}\n");
        }
        if !self.printed.is_empty() {
            text += &format!("// prints: {}\n", self.printed.join("\n// "));
        }
        if let Err(error) = std::fs::write(&self.file, text) {
            eprintln!("the program is not written: {error}");
        }
    }

    /// A line of the program, with the statement that it is the mark of.
    fn finished(&self, line: &str) -> String {
        let indent = &line[..line.len() - line.trim_start().len()];
        let mark = line.trim().strip_prefix(MARK).and_then(|number| number.strip_suffix("();")?.parse::<usize>().ok());
        match mark.and_then(|number| self.prints.get(number)) {
            Some(print) => format!("{indent}{print}\n"),
            None if line.starts_with("fn main") => format!("\n{line}\n"),
            // The arguments of a macro are not formatted.
            None if line.contains(['[', ',']) => {
                let line = ["[", "(", ", "]
                    .iter()
                    .fold(line.to_owned(), |line, before| line.replace(&format!("{before}- "), &format!("{before}-")));
                format!("{line}\n")
            }
            None => format!("{line}\n"),
        }
    }

    /// Returns the mark of a statement that prints a line.
    fn print(&mut self, line: String, statement: String) -> String {
        self.printed.push(line);
        self.prints.push(statement);
        format!("{MARK}{}();", self.prints.len() - 1)
    }

    /// The mark of the statement that prints a tensor.
    fn show(&mut self, name: &str, label: &str, value: &TensorValue) -> String {
        let (sizes, elements) = self.language.parts(name, value);
        let of = value.shape.sizes();
        if value.shape.numel() > MOST_ELEMENTS {
            return self.print(format!("{label}: {of:?}"), format!("println!(\"{label}: {{:?}}\", {sizes});"));
        }
        let line = format!("{label}: {of:?} {}", literal::debug_elements(value.dtype, &value.data));
        self.print(line, format!("println!(\"{label}: {{:?}} {{:?}}\", {sizes}, {elements});"))
    }
}

impl<L: Language> Recorder for Recording<L> {
    fn begin(&mut self, program: &Program) {
        // Nothing of another program is left.
        let _ = std::fs::remove_file(&self.file);
        let inputs = program.inputs.iter();
        let made = |input: &Input| {
            let annotation = self.language.annotation(input).map_or(String::new(), |of| format!(": {of}"));
            (variable(&input.name), format!("{annotation} = {}", self.language.input(input)))
        };
        self.inputs = inputs.clone().map(made).collect();
        let tensor = |input: &Input| Some(vec![Rc::new(Tensor { name: variable(&input.name), value: input.into() })]);
        self.values = inputs.map(tensor).collect();
        (self.steps, self.printed, self.prints, self.panic, self.mutable, self.program_error) = Default::default();
        (self.pending, self.step_error, self.variables) = Default::default();
    }

    fn call(&mut self, step: &Step, arm: Arm) {
        // A panic here is none of the library.
        let translated = catch_unwind(AssertUnwindSafe(|| self.translated(step, arm)));
        match translated.unwrap_or_else(|_| Err("a panic of the recorder".into())) {
            Ok(written) => {
                self.mutable.extend(written.mutable.iter().cloned());
                self.pending = Some(Pending { name: variable(&step.name), written });
                self.step_error = None;
                self.dtype = step.uses().next().and_then(|value| Some(self.tensor(value)?.value.dtype));
                let _ = catch_unwind(AssertUnwindSafe(|| self.write()));
            }
            Err(Unwritable::NoCall) => {}
            Err(Unwritable::Because(why)) => {
                self.step_error = Some(format!("{}: {why}", step.op));
                // If the call ends the process, a program without it would be left.
                let _ = std::fs::remove_file(&self.file);
            }
        }
    }

    fn end(&mut self, outcome: &Outcome, panicked: bool) {
        let mut values = None;
        if let Some(error) = self.step_error.take()
            && !matches!(outcome, Outcome::Unsupported(_) | Outcome::Blocked(_))
        {
            self.program_error = Some(error);
        }
        if let Some(Pending { name, written }) = self.pending.take() {
            let mut lines = written.before.join("\n");
            let bind = |name: &str| written.value.as_ref().map(|value| let_statement(name, &written, value));
            if let Outcome::Value(_) = outcome {
                let names =
                    written.before.iter().filter_map(|line| Some(line.strip_prefix("let ")?.split_once(' ')?.0));
                self.variables.extend(names.map(str::to_owned));
            }
            match outcome {
                Outcome::Value(Value::Tensor(value)) => {
                    let kept = written.alias.clone().unwrap_or_else(|| name.clone());
                    lines += &bind(&name).unwrap_or_default();
                    lines += &self.show(&kept, &name, value);
                    values = Some(vec![Rc::new(Tensor { name: kept, value: value.clone() })]);
                }
                Outcome::Value(Value::Tensors(parts)) => {
                    lines += &bind(&name).unwrap_or_default();
                    let mut tensors = Vec::new();
                    for (at, value) in parts.iter().enumerate() {
                        let part = format!("{name}[{at}]");
                        lines += &self.show(&part, &part, value);
                        tensors.push(Rc::new(Tensor { name: part, value: value.clone() }));
                    }
                    values = Some(tensors);
                }
                Outcome::Value(Value::Nothing) => {
                    let is_there = |needed: &str| self.variables.contains(needed);
                    if let Some(expr) = written.value.as_ref().filter(|_| written.needs.is_none_or(is_there)) {
                        lines += &format!("let {name} = {expr};");
                        let print = format!("println!(\"{name}: {{:?}}\", {name}.map(|_| ()));");
                        lines += &self.print(format!("{name}: None"), print);
                    }
                }
                Outcome::Value(value) => {
                    lines += &bind(&name).unwrap_or_default();
                    let shown = match value {
                        Value::Number(number) => literal::debugged(*number, self.dtype),
                        Value::Sizes(sizes) => format!("{sizes:?}"),
                        other => format!("{other:?}"),
                    };
                    lines += &self.print(format!("{name}: {shown}"), format!("println!(\"{name}: {{{name}:?}}\");"));
                }
                Outcome::Rejected(by) if panicked => {
                    lines = panicking::<L>(&name, &written);
                    let print = format!("println!(\"{name} panics: {{}}\", {name}.is_err());");
                    lines += &self.print(format!("{name} panics: true"), print);
                    self.panic = Some(by.message.clone());
                }
                Outcome::Rejected(by) => {
                    let (error, shown) = rejected::<L>(&name, &written);
                    lines = error;
                    let print = format!("println!(\"{name}: {{{name}{shown}}}\");");
                    lines += &self.print(format!("{name}: {}", by.message), print);
                }
                // The library returned what the protocol has no value for, such as a shape of too many elements.
                Outcome::Failed(_) => lines += &bind(&name).unwrap_or_default(),
                Outcome::Unsupported(_) | Outcome::Blocked(_) => lines.clear(),
            }
            self.steps.push(lines);
        }
        self.values.push(values);
    }

    fn finish(&mut self) {
        self.write();
    }
}

/// The variable for a value of this name.
fn variable(name: &str) -> String {
    if syn::parse_str::<syn::Ident>(name).is_ok() { name.to_owned() } else { format!("{name}_") }
}

/// The statement that binds the result of a call.
fn let_statement(name: &str, written: &Written, value: &str) -> String {
    let annotation = written.annotation.as_ref().map_or(String::new(), |of| format!(": {of}"));
    let question = if written.is_result { "?" } else { "" };
    let unwrapped = if written.is_option { ".unwrap()" } else { "" };
    let value = if written.is_result { parenthesized(value) } else { value.to_owned() };
    format!("let {name}{annotation} = {value}{question}{unwrapped};")
}

/// The lines that show that a call panics.
fn panicking<L: Language>(name: &str, written: &Written) -> String {
    let mut body = written.before.join("\n");
    match (&written.value, &written.annotation) {
        (Some(value), Some(_)) => body += &format!("{} result", let_statement("result", written, value)),
        (Some(value), None) => body += value,
        (None, _) => {}
    }
    let (returns, end) = match body.contains('?') {
        true => (format!("-> {}", L::RETURNS), "; Ok(())"),
        false => Default::default(),
    };
    format!("let {name} = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {returns} {{ {body} {end} }}));")
}

/// The lines that take the error of a call, and how it is formatted.
fn rejected<L: Language>(name: &str, written: &Written) -> (String, &'static str) {
    let Written { before, value, is_result, .. } = written;
    let lines = before.join("\n");
    if let Some(option) = value.as_ref().filter(|_| !is_result).and_then(|value| unwrapped(value)) {
        return (format!("{lines} let {name} = {option}.map(|_| ());"), ":?");
    }
    let error = match (before.as_slice(), value) {
        ([], Some(value)) if *is_result && !value.contains('?') => {
            format!("let {name} = {}.unwrap_err();", parenthesized(value))
        }
        ([line], None) if line.matches('?').count() == 1 && line.ends_with("?;") => {
            let call = line.strip_prefix("let ").and_then(|line| Some(line.split_once(" = ")?.1)).unwrap_or(line);
            format!("let {name} = {}.unwrap_err();", call.trim_end_matches("?;"))
        }
        _ => {
            let value = value.as_ref().map_or(String::new(), |value| let_statement("_result", written, value));
            let attempt = format!("let {name} = || -> {} {{ {lines} {value} Ok(()) }};", L::RETURNS);
            format!("{attempt} let {name} = {name}().unwrap_err();")
        }
    };
    (error, "")
}

/// The `Option` that is unwrapped somewhere in an expression.
fn unwrapped(value: &str) -> Option<String> {
    struct Unwrapped(Option<String>);
    impl VisitMut for Unwrapped {
        fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
            if call.method == "unwrap" {
                self.0 = Some(call.receiver.to_token_stream().to_string());
            }
            visit_mut::visit_expr_method_call_mut(self, call);
        }
    }
    let mut found = Unwrapped(None);
    found.visit_expr_mut(&mut syn::parse_str(value).ok()?);
    found.0
}

/// An expression, in parentheses where a method or `?` after it would be of a part of it.
fn parenthesized(value: &str) -> String {
    match syn::parse_str(value) {
        Ok(syn::Expr::Call(_) | syn::Expr::MethodCall(_) | syn::Expr::Path(_)) => value.to_owned(),
        _ => format!("({value})"),
    }
}

/// The items that a program uses, one line for each module.
fn uses<L: Language>(body: &str) -> String {
    let body: String = body.split_whitespace().collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    // A name is not the end of another.
    let mentions = |text: &str| {
        let mut places = body.match_indices(text);
        places.any(|(at, _)| !text.starts_with(is_word) || !body[..at].ends_with(is_word))
    };
    let mut modules: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, _) in L::USES.iter().filter(|(_, text)| mentions(text)) {
        let (module, item) = path.rsplit_once("::").unwrap_or(("", path));
        modules.entry(module).or_default().insert(item);
    }
    let line = |(module, items): (&str, BTreeSet<&str>)| {
        let items: Vec<&str> = items.into_iter().collect();
        match &items[..] {
            [item] => format!("use {module}::{item};\n"),
            items => format!("use {module}::{{{}}};\n", items.join(", ")),
        }
    };
    modules.into_iter().map(line).collect()
}

/// The entries of a manifest that a program needs.
fn dependencies<'a>(manifest: &'a str, program: &'a str) -> impl Iterator<Item = &'a str> {
    let entries = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let entries =
        entries.take_while(|line| !line.starts_with('[')).filter_map(|line| Some((line, line.split_once(" =")?.0)));
    entries.filter(|(_, package)| program.contains(&format!("{}::", package.replace('-', "_")))).map(|(line, _)| line)
}
