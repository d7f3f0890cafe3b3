//! The names of a program: what each stands for, and what text such as `r.0` refers to.

use std::collections::HashMap;

use serde_yaml::Value;

use super::did_you_mean;
use super::node::Node;
use crate::ops::Op;
use crate::program::ValueRef;

/// Every name of a program, those of faulty entries included, so that one fault does not make others.
pub struct Names<'a> {
    entries: Vec<Name<'a>>,
    by_name: HashMap<&'a str, usize>,
}

/// A name.
#[derive(Clone, Copy)]
pub struct Name<'a> {
    /// The name itself.
    pub name: &'a str,
    /// The number of its value: inputs count before steps, wherever they stand.
    pub value: usize,
    /// The kind of its value.
    pub kind: Kind,
    /// The node in the program.
    pub node: Node<'a>,
}

/// The kind of value that a name stands for, as far as that is known without running anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tensor that the program starts with.
    Input,
    /// The tensor that a step makes.
    Tensor,
    /// So many tensors.
    Several(usize),
    /// A shape.
    Sizes,
    /// A number without dtype.
    Number,
    /// A dtype.
    Dtype,
    /// Nothing at all.
    Nothing,
    /// A gradient, which may be missing.
    Gradient,
    /// A faulty step's.
    Unknown,
}

impl<'a> Names<'a> {
    /// Numbers the entries of a program.
    pub fn of(program: &[(&'a str, Node<'a>)]) -> Self {
        let inputs = program.iter().filter(|(_, node)| is_input(*node)).count();
        let (mut next_input, mut next_step) = (0, inputs);
        let mut names = Names { entries: Vec::new(), by_name: HashMap::new() };
        for &(name, node) in program {
            let (next, kind) =
                if is_input(node) { (&mut next_input, Kind::Input) } else { (&mut next_step, Kind::Unknown) };
            names.by_name.insert(name, names.entries.len());
            names.entries.push(Name { name, value: *next, kind, node });
            *next += 1;
        }
        names
    }

    /// The names, in the order of the program.
    pub fn entries(&self) -> &[Name<'a>] {
        &self.entries
    }

    /// Notes what came out about the entry number `at`.
    pub fn set_kind(&mut self, at: usize, kind: Kind) {
        self.entries[at].kind = kind;
    }

    /// Returns the value that `text`, found in the entry number `before`, refers to; without `before`, anything of the
    /// program is meant. `Err` has the problem.
    pub fn resolve(&self, text: &str, before: Option<usize>) -> Result<(ValueRef, Name<'a>), String> {
        let (name, part) = match text.split_once('.') {
            Some((name, part)) => (name, Some(part)),
            None => (text, None),
        };
        let visible = before.unwrap_or(self.entries.len());
        let Some(&at) = self.by_name.get(name) else {
            let candidates = self.entries[..visible].iter().map(|entry| entry.name);
            return Err(format!("`{name}` is neither an input nor a step{}", did_you_mean(name, candidates)));
        };
        if at >= visible {
            let candidates = self.entries[..visible].iter().map(|entry| entry.name);
            let line = self.entries[at].node.location().line;
            let suggestion = did_you_mean(name, candidates);
            return Err(format!("`{name}` is used before it is defined, on line {line}{suggestion}"));
        }
        let entry = self.entries[at];
        let part = match (part, entry.kind) {
            (None, _) => None,
            (Some(part), Kind::Several(count)) => match part.parse::<usize>() {
                Ok(part) if part < count => Some(part),
                _ => return Err(format!("`{name}` has {count} results, counted from 0; there is no `{text}`")),
            },
            // The error of the step itself has been reported already.
            (Some(part), Kind::Unknown) => part.parse().ok(),
            (Some(_), _) => return Err(format!("`{name}` has a single result: write `{name}`, not `{text}`")),
        };
        Ok((ValueRef { value: entry.value, part }, entry))
    }

    /// The tensor that `text` refers to.
    pub fn tensor(&self, text: &str, before: Option<usize>) -> Result<ValueRef, String> {
        let (value, entry) = self.resolve(text, before)?;
        match entry.kind {
            Kind::Several(count) if value.part.is_none() => {
                Err(format!("`{text}` has {count} results: name one of them, as in `{text}.0`"))
            }
            Kind::Sizes | Kind::Number | Kind::Dtype | Kind::Nothing => {
                Err(format!("`{text}` is {}, not a tensor", entry.kind))
            }
            _ => Ok(value),
        }
    }
}

impl Kind {
    /// Returns the kind of the result of an operation with so many arguments.
    pub fn of(op: Op, arguments: usize) -> Kind {
        match op {
            Op::Item | Op::Allclose | Op::Equal | Op::CanCast => Kind::Number,
            Op::AreExpandable | Op::IsExpandableTo => Kind::Number,
            Op::PromoteTypes | Op::ResultType => Kind::Dtype,
            Op::Grad => Kind::Gradient,
            Op::BroadcastTensors | Op::Meshgrid => Kind::Several(arguments),
            Op::VarMean | Op::StdMean | Op::Aminmax => Kind::Several(2),
            Op::Max | Op::Min | Op::Cummax | Op::Cummin => Kind::Several(2),
            Op::Median | Op::Nanmedian | Op::Mode | Op::Kthvalue => Kind::Several(2),
            Op::BroadcastShapes | Op::InferSize => Kind::Sizes,
            Op::Backward | Op::BroadcastWarning => Kind::Nothing,
            _ => Kind::Tensor,
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Input | Kind::Tensor | Kind::Gradient | Kind::Unknown => "a tensor",
            Kind::Several(_) => "several tensors",
            Kind::Sizes => "a shape",
            Kind::Number => "a number",
            Kind::Dtype => "a dtype",
            Kind::Nothing => "nothing",
        })
    }
}

/// Returns whether an entry of a program is an input; everything else is a step.
pub fn is_input(node: Node<'_>) -> bool {
    matches!(node.value, Value::Mapping(mapping) if mapping.contains_key("shape") || mapping.contains_key("values"))
}

/// Returns whether a program may use this as a name: never a number, never `name.part`.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
