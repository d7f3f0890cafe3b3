//! A cursor over a parsed YAML file that knows where it is, so that whatever is wrong is said with its place.
//!
//! It reads the plain kinds (text, integers, lists, records) and knows nothing of what a case means. Every reader
//! returns `None` after it has noted a fault; the caller continues with the rest.

use std::cell::RefCell;
use std::fmt::Display;
use std::path::Path;

use serde_yaml::Value;

use super::position::{Place, Places};
use super::{Fault, closest, did_you_mean};
use crate::case::model::Location;

/// A file that is being read, and what was found wrong so far.
pub struct File<'a> {
    /// As the user named it.
    pub path: &'a Path,
    /// Shared by all the files of a run.
    pub faults: &'a RefCell<Vec<Fault>>,
}

/// A value of a file.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    /// The file it stands in.
    pub file: &'a File<'a>,
    /// The value itself.
    pub value: &'a Value,
    places: &'a Places,
}

impl File<'_> {
    /// The location of a place in this file.
    pub fn at(&self, place: Place) -> Location {
        Location { file: self.path.to_owned(), line: place.line, column: place.column }
    }

    /// Notes a fault.
    pub fn fault(&self, place: Place, message: impl Into<String>) {
        self.faults.borrow_mut().push(Fault { location: self.at(place), message: message.into() });
    }
}

impl<'a> Node<'a> {
    /// The whole file.
    pub fn root(file: &'a File<'a>, value: &'a Value, places: &'a Places) -> Self {
        Node { file, value, places }
    }

    /// Returns the location of the value.
    pub fn location(self) -> Location {
        self.file.at(self.places.value)
    }

    /// Returns the location of its key; of the value itself, if it has none.
    pub fn key_location(self) -> Location {
        self.file.at(self.places.key.unwrap_or(self.places.value))
    }

    /// Notes that something is wrong with the value.
    pub fn fault(self, message: impl Into<String>) {
        self.file.fault(self.places.value, message);
    }

    /// Notes that something is wrong with the key.
    pub fn key_fault(self, message: impl Into<String>) {
        self.file.fault(self.places.key.unwrap_or(self.places.value), message);
    }

    /// Notes that the value is not `expected`.
    pub fn wrong<T>(self, expected: impl Display) -> Option<T> {
        self.fault(format!("expected {expected}, found {}", self.found()));
        None
    }

    /// Describes the value in words.
    pub fn found(self) -> String {
        match self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(value) => format!("{value}"),
            Value::Number(number) if number.is_f64() => format!("the number {number}"),
            Value::Number(number) => format!("the integer {number}"),
            Value::String(text) => format!("the text {text:?}"),
            Value::Sequence(_) => "a list".to_owned(),
            Value::Mapping(_) => "a mapping".to_owned(),
            Value::Tagged(tagged) => format!("the tag {}", tagged.tag),
        }
    }

    /// The elements of a list.
    pub fn list(self, expected: impl Display) -> Option<Vec<Node<'a>>> {
        match self.value {
            Value::Sequence(values) => {
                Some(values.iter().enumerate().map(|(at, value)| self.child(at, value)).collect())
            }
            _ => self.wrong(expected),
        }
    }

    /// The keys and values of a mapping.
    pub fn entries(self, expected: impl Display) -> Option<Vec<(&'a str, Node<'a>)>> {
        let Value::Mapping(mapping) = self.value else { return self.wrong(expected) };
        let mut entries = Vec::with_capacity(mapping.len());
        for (at, (key, value)) in mapping.iter().enumerate() {
            let child = self.child(at, value);
            match key {
                Value::String(key) => entries.push((key.as_str(), child)),
                other => {
                    let key = Node { value: other, ..child };
                    child.key_fault(format!("a key must be text, found {}", key.found()));
                }
            }
        }
        Some(entries)
    }

    /// A mapping that may have these keys and no others.
    pub fn record(self, what: &'static str, keys: &'static [&'static str]) -> Option<Record<'a>> {
        let mut fields = self.entries(format_args!("{what}: a mapping"))?;
        let mut meant = Vec::new();
        fields.retain(|(key, node)| {
            let known = keys.contains(key);
            if !known {
                meant.extend(closest(key, keys.iter().copied()));
                node.key_fault(format!(
                    "{what} has no key `{key}`, only {}{}",
                    keys.join(", "),
                    did_you_mean(key, keys.iter().copied())
                ));
            }
            known
        });
        Some(Record { node: self, what, fields, meant })
    }

    /// Text that is not empty.
    pub fn text(self, expected: impl Display) -> Option<&'a str> {
        match self.value {
            Value::String(text) if !text.trim().is_empty() => Some(text),
            _ => self.wrong(expected),
        }
    }

    /// An integer.
    pub fn integer(self, expected: impl Display) -> Option<i64> {
        match self.value.as_i64() {
            Some(integer) => Some(integer),
            None if self.value.is_u64() => {
                self.fault(format!("{} does not fit into 64 bits with a sign", self.found()));
                None
            }
            None => self.wrong(expected),
        }
    }

    /// True or false.
    pub fn flag(self, expected: impl Display) -> Option<bool> {
        match self.value {
            Value::Bool(flag) => Some(*flag),
            _ => self.wrong(expected),
        }
    }

    /// One of several words.
    pub fn word<T>(
        self,
        what: &str,
        words: impl Iterator<Item = &'static str> + Clone,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(format_args!("a {what}"))?;
        let parsed = parse(text);
        if parsed.is_none() {
            let all: Vec<&str> = words.clone().collect();
            self.fault(format!("unknown {what} `{text}`, none of {}{}", all.join(", "), did_you_mean(text, words)));
        }
        parsed
    }

    /// The child number `at`, whose value is `value`.
    pub fn child(self, at: usize, value: &'a Value) -> Node<'a> {
        // An alias has a place, and its elements have not.
        Node { file: self.file, value, places: self.places.children.get(at).unwrap_or(self.places) }
    }
}

/// A mapping with known keys.
pub struct Record<'a> {
    /// The mapping.
    pub node: Node<'a>,
    what: &'static str,
    fields: Vec<(&'a str, Node<'a>)>,
    /// The keys that unknown ones are probably meant to be: these are not reported as missing.
    meant: Vec<&'static str>,
}

impl<'a> Record<'a> {
    /// The value of a key that may be left out.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.fields.iter().find(|(name, _)| *name == key).map(|&(_, node)| node)
    }

    /// The value of a key that may not.
    pub fn require(&self, key: &str) -> Option<Node<'a>> {
        let node = self.get(key);
        if node.is_none() && !self.meant.contains(&key) {
            self.node.fault(format!("{} lacks the key `{key}`", self.what));
        }
        node
    }
}
