//! Expectations: what a case says of the values of its program.

use serde_yaml::Value;

use super::names::{Kind, Name, Names};
use super::node::{Node, Record};
use super::value::{self, Nested};
use crate::case::model::{Expectation, Expected, ExpectedRejection};
use crate::error::Class;
use crate::program::ValueRef;
use crate::tensor::ScalarType;

/// The keys of an expectation, in the order in which they are listed and rendered.
const KEYS: &[&str] = &[
    "shape",
    "dtype",
    "strides",
    "values",
    "decimals",
    "view_of",
    "fresh",
    "number",
    "warnings",
    "categories",
    "rejected",
    "message",
    "raises",
];

/// The keys that a rejection may have.
const REJECTION_KEYS: &[&str] = &["rejected", "message", "raises"];

/// The side that states an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The actual behaviour: rejections have a class and a text.
    Expect,
    /// The statement of a document: it may leave out either.
    Documented,
}

/// Reads the expectations under one key of a case.
pub fn read(node: Node<'_>, names: &Names<'_>, side: Side) -> Option<Vec<(ValueRef, Expectation)>> {
    let entries = node.entries("expectations: a mapping from names to what holds")?;
    if entries.is_empty() {
        node.fault("at least one expectation is needed: the case tests nothing");
        return None;
    }
    let expectations: Vec<_> = entries
        .into_iter()
        .map(|(name, node)| match names.resolve(name, None) {
            Ok((value, target)) => {
                let reader = Reader { value, target, names, side };
                reader.expectation(node).map(|expectation| (value, expectation))
            }
            Err(message) => {
                node.key_fault(message);
                None
            }
        })
        .collect();
    expectations.into_iter().collect()
}

/// The value that an expectation is about.
struct Reader<'a> {
    value: ValueRef,
    target: Name<'a>,
    names: &'a Names<'a>,
    side: Side,
}

impl Reader<'_> {
    fn expectation(&self, node: Node<'_>) -> Option<Expectation> {
        let name = self.target.name;
        match node.value {
            Value::String(text) if text == "unchanged" => {
                if self.target.kind != Kind::Input {
                    node.fault(format!("only an input can be `unchanged`, and `{name}` is a step"));
                    return None;
                }
                Some(Expectation::Unchanged)
            }
            Value::String(text) if text == "nothing" => {
                if !matches!(self.target.kind, Kind::Nothing | Kind::Gradient | Kind::Unknown) {
                    node.fault(format!("`{name}` is {}, never `nothing`", self.target.kind));
                    return None;
                }
                Some(Expectation::Nothing)
            }
            Value::Mapping(_) => {
                let record = node.record("an expectation", KEYS)?;
                if REJECTION_KEYS.iter().any(|key| record.get(key).is_some()) {
                    self.rejection(&record).map(Expectation::Rejected)
                } else {
                    self.expected(&record).map(Expectation::Value)
                }
            }
            _ => node.wrong(format_args!("a mapping of {}, or `unchanged`, or `nothing`", KEYS.join(", "))),
        }
    }

    fn rejection(&self, record: &Record<'_>) -> Option<ExpectedRejection> {
        let mut sound = true;
        for key in KEYS.iter().filter(|key| !REJECTION_KEYS.contains(key)) {
            if let Some(node) = record.get(key) {
                node.key_fault(format!("`{key}` of a value that is rejected: a rejection has no value"));
                sound = false;
            }
        }
        if self.target.kind == Kind::Input {
            record.node.key_fault(format!("`{}` is an input, which nothing can reject", self.target.name));
            sound = false;
        }
        if self.value.part.is_some() {
            let name = self.target.name;
            record.node.key_fault(format!("a step is rejected as a whole: expect it of `{name}`"));
            sound = false;
        }
        let class = match record.get("rejected") {
            Some(node) if self.side == Side::Documented && node.value.as_str() == Some("any") => Some(None),
            Some(node) => {
                let classes = Class::ALL.iter().map(|class| class.name());
                let parse = |name: &str| Class::ALL.iter().copied().find(|class| class.name() == name);
                node.word("rejection class", classes, parse).map(Some)
            }
            None if self.side == Side::Documented => Some(None),
            None => {
                record.require("rejected");
                None
            }
        };
        let message = match record.get("message") {
            Some(node) => node.text("the text of the rejection").map(|text| Some(text.to_owned())),
            None if self.side == Side::Documented => Some(None),
            None => {
                record.require("message");
                None
            }
        };
        let raises = match record.get("raises") {
            Some(node) => Some(node.text("the type of the exception in Python, as RuntimeError")?.to_owned()),
            None => None,
        };
        let (class, message) = (class?, message?);
        sound.then_some(ExpectedRejection { class, message, raises })
    }

    fn expected(&self, record: &Record<'_>) -> Option<Expected> {
        let mut sound = self.check_keys(record);
        let mut note = |read: bool| sound &= read;
        let mut expected = Expected::default();
        if let Some(node) = record.get("shape") {
            expected.shape = value::shape(node);
            note(expected.shape.is_some());
        }
        if let Some(node) = record.get("dtype") {
            expected.dtype = match self.target.kind {
                Kind::Dtype => value::scalar_type(node),
                _ => value::dtype(node).map(ScalarType::from),
            };
            note(expected.dtype.is_some());
        }
        if let Some(node) = record.get("strides") {
            expected.strides = value::integers(node, "strides: a list of integers");
            note(expected.strides.is_some());
            if let (Some(strides), Some(shape)) = (&expected.strides, &expected.shape)
                && strides.len() != shape.rank()
            {
                node.fault(format!("{} strides for a shape of {} dimensions", strides.len(), shape.rank()));
                note(false);
            }
        }
        if let Some(node) = record.get("values") {
            note(values(node, &mut expected).is_some());
        }
        if let Some(node) = record.get("decimals") {
            expected.decimals = decimals(node, record.get("values").is_some());
            note(expected.decimals.is_some());
        }
        if let Some(node) = record.get("view_of") {
            expected.view_of = self.view_of(node);
            note(expected.view_of.is_some());
        }
        if let Some(node) = record.get("fresh") {
            expected.fresh = node.value == &Value::Bool(true);
            if !expected.fresh {
                node.wrong::<()>("true: leave `fresh` out where the storage may be shared");
            }
            note(expected.fresh);
        }
        if let Some(node) = record.get("number") {
            expected.number = value::number(node);
            note(expected.number.is_some());
        }
        if let Some(node) = record.get("warnings") {
            expected.warnings = warnings(node);
            note(expected.warnings.is_some());
        }
        if let Some(node) = record.get("categories") {
            expected.categories = warnings(node);
            note(expected.categories.is_some());
            let count = |texts: &Option<Vec<String>>| texts.as_ref().map(Vec::len);
            if expected.categories.is_some() && count(&expected.categories) != count(&expected.warnings) {
                node.key_fault("`categories` has one for each of the `warnings`");
                note(false);
            }
        }
        sound.then_some(expected)
    }

    /// Returns whether the keys make sense together, and for this kind of value.
    fn check_keys(&self, record: &Record<'_>) -> bool {
        let mut sound = true;
        if record.node.value.as_mapping().is_some_and(|mapping| mapping.is_empty()) {
            record.node.fault("an expectation states something");
            return false;
        }
        let present: Vec<_> = KEYS.iter().filter_map(|&key| record.get(key).map(|node| (key, node))).collect();
        let name = self.target.name;
        for &(key, node) in &present {
            let problem = match (key, self.target.kind) {
                ("warnings" | "categories", Kind::Input) => format!("`{name}` is an input: only steps give warnings"),
                ("warnings" | "categories", _) if self.value.part.is_some() => {
                    format!("a step gives its warnings as a whole: expect them of `{name}`")
                }
                ("warnings" | "categories", _)
                | (_, Kind::Unknown)
                | ("shape", Kind::Sizes)
                | ("dtype", Kind::Dtype)
                | ("number", Kind::Number) => continue,
                (_, Kind::Several(count)) if self.value.part.is_none() => {
                    format!("`{name}` has {count} results: expect `{key}` of one of them, as in `{name}.0`")
                }
                ("number", _) | (_, Kind::Sizes | Kind::Number | Kind::Dtype | Kind::Nothing) => {
                    format!("`{name}` is {}, which has no `{key}`", self.target.kind)
                }
                ("fresh", Kind::Input) => format!("`{name}` is an input, whose storage is its own"),
                _ => continue,
            };
            node.key_fault(problem);
            sound = false;
        }
        sound
    }

    /// Reads `view_of`, which names another tensor of the program.
    fn view_of(&self, node: Node<'_>) -> Option<ValueRef> {
        let text = node.text("the name of a tensor")?;
        let problem = match self.names.tensor(text, None) {
            Ok(value) if value == self.value => format!("`{text}` is the value itself"),
            Ok(value) => return Some(value),
            Err(message) => message,
        };
        node.fault(problem);
        None
    }
}

/// Reads `values`, and infers from their nesting a shape that is not given.
fn values(node: Node<'_>, expected: &mut Expected) -> Option<()> {
    let nested = Nested::read(node)?;
    if let Some(dtype) = expected.dtype.and_then(ScalarType::dtype)
        && !nested.fit(dtype)
    {
        return None;
    }
    let shape = match &expected.shape {
        Some(shape) => shape.clone(),
        None => value::possible(node, nested.sizes.clone())?,
    };
    if !nested.suits(&shape) {
        let sizes = crate::tensor::shape::bracketed(&nested.sizes);
        node.fault(format!("the nesting of the values is that of a shape {sizes}, not {shape}"));
        return None;
    }
    expected.shape = Some(shape);
    expected.values = Some(nested.scalars());
    Some(())
}

fn decimals(node: Node<'_>, has_values: bool) -> Option<u32> {
    if !has_values {
        node.key_fault("`decimals` says how `values` were printed, and there are none");
        return None;
    }
    match u32::try_from(node.integer("a number of decimals")?) {
        Ok(decimals) if decimals <= 17 => Some(decimals),
        _ => node.wrong("a number of decimals from 0 to 17"),
    }
}

fn warnings(node: Node<'_>) -> Option<Vec<String>> {
    let list = node.list("the texts of the warnings: a list, `[]` for none")?;
    let texts: Vec<_> = list.into_iter().map(|text| text.text("the text of a warning").map(str::to_owned)).collect();
    texts.into_iter().collect()
}
