//! Parameterised cases: one text stands for a case of each entry of its `each`.
//!
//! This knows nothing of what a case means. It replaces `<name>` by what an entry gives for `name`, everywhere in the
//! case, before anything else is read. A scalar that is nothing but `<name>` becomes the value itself, with the place
//! of the value, so that an error in it is reported with its place; inside of a longer text the value becomes text.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use serde_yaml::{Mapping, Value};

use super::node::File;
use super::position::{Place, Places};

const EACH: &str = "each";

/// The most cases that one may stand for. The longest list of broadcheck's own has 28 entries.
pub const MAX_ENTRIES: usize = 10_000;

/// The maximum size of the cases of a file with every name replaced, in bytes of texts, each of which counts for some
/// more. Names in values are replaced as well, so that a few lines could stand for more than memory holds.
pub const MAX_EXPANDED: usize = 64 << 20;

/// The size that a value counts for in addition to its text.
const NODE: usize = 32;

/// The records of a file, each parameterised one replaced by what it stands for.
pub fn expand(file: &File<'_>, (value, places): (Value, Places)) -> (Value, Places) {
    let Value::Sequence(records) = &value else { return (value, places) };
    let (mut expanded, mut expanded_places) = (Vec::new(), Vec::new());
    let left = Cell::new(MAX_EXPANDED);
    for (record, record_places) in records.iter().zip(&places.children) {
        for (record, places) in expand_record(file, record, record_places, &left) {
            expanded.push(record);
            expanded_places.push(places);
        }
    }
    (Value::Sequence(expanded), Places { children: expanded_places, ..places })
}

fn expand_record(file: &File<'_>, record: &Value, places: &Places, left: &Cell<usize>) -> Vec<(Value, Places)> {
    let each = record.as_mapping().and_then(|record| record.iter().position(|(key, _)| key == EACH));
    let (Some(at), Some(mapping)) = (each, record.as_mapping()) else { return vec![(record.clone(), places.clone())] };
    let (template, template_places) = without(mapping, places, at);
    let each_places = child(places, at);
    let Some((_, Value::Sequence(entries))) = mapping.iter().nth(at) else {
        file.fault(each_places.value, "expected a list of mappings, one for each case that this one stands for");
        return Vec::new();
    };
    if entries.is_empty() {
        file.fault(each_places.value, "expected at least one entry: without one there is no case");
    }
    if entries.len() > MAX_ENTRIES {
        let count = entries.len();
        file.fault(each_places.value, format!("{count} entries are too many: `{EACH}` may have {MAX_ENTRIES}"));
        return Vec::new();
    }
    let mut names: Option<BTreeSet<&str>> = None;
    let mut records = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let entry_places = child(each_places, at);
        let Some(values) = entry.as_mapping() else {
            file.fault(entry_places.value, "expected a mapping from names to what `<name>` stands for in this case");
            continue;
        };
        let bindings = Bindings { file, values, places: entry_places, used: RefCell::default(), left };
        let here: BTreeSet<&str> = values.keys().filter_map(Value::as_str).collect();
        let expected = names.get_or_insert_with(|| here.clone());
        if let Some(missing) = expected.difference(&here).next() {
            file.fault(entry_places.value, format!("this entry lacks `{missing}`, which the first one has"));
            continue;
        }
        if let Some(further) = here.difference(expected).next() {
            file.fault(entry_places.value, format!("the first entry lacks `{further}`, which this one has"));
            continue;
        }
        records.push(bindings.replace(&template, &template_places));
        if left.get() == 0 {
            let most = format!("the cases of this file add up to more than {MAX_EXPANDED} bytes, the limit");
            file.fault(entry_places.value, format!("with this entry {most}: divide the file"));
            return Vec::new();
        }
        for unused in here.iter().filter(|name| !bindings.used.borrow().contains(**name)) {
            file.fault(entry_places.value, format!("`<{unused}>` does not occur in the case"));
        }
    }
    records
}

/// The bindings of one entry of `each`.
struct Bindings<'a> {
    file: &'a File<'a>,
    values: &'a Mapping,
    places: &'a Places,
    used: RefCell<BTreeSet<&'a str>>,
    /// The remainder of [`MAX_EXPANDED`]. Once there is nothing, nothing more is replaced.
    left: &'a Cell<usize>,
}

impl<'a> Bindings<'a> {
    fn iter(&self) -> impl Iterator<Item = (&'a str, &'a Value, &'a Places)> {
        let places = self.places;
        self.values
            .iter()
            .enumerate()
            .filter_map(move |(at, (name, value))| Some((name.as_str()?, value, child(places, at))))
    }

    /// Counts what is made. False if there is nothing left to make more with.
    fn spend(&self, size: usize) -> bool {
        self.left.set(self.left.get().saturating_sub(size));
        self.left.get() > 0
    }

    fn replace(&self, value: &Value, places: &Places) -> (Value, Places) {
        if !self.spend(NODE) {
            return (Value::Null, places.clone());
        }
        match value {
            Value::String(text) => {
                let whole = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
                if let Some((name, value, value_places)) = self.iter().find(|(name, ..)| whole == Some(*name)) {
                    self.used.borrow_mut().insert(name);
                    self.spend(size(value));
                    // The key stays where it is.
                    return (value.clone(), Places { key: places.key, ..value_places.clone() });
                }
                (Value::String(self.text(text, places.value)), places.clone())
            }
            Value::Sequence(values) => {
                let replaced = values.iter().enumerate().map(|(at, value)| self.replace(value, child(places, at)));
                let (values, children) = replaced.unzip();
                (Value::Sequence(values), Places { children, ..places.clone() })
            }
            Value::Mapping(mapping) => {
                let (mut replaced, mut children) = (Mapping::new(), Vec::new());
                for (at, (key, value)) in mapping.iter().enumerate() {
                    let value_places = child(places, at);
                    let place = value_places.key.unwrap_or(value_places.value);
                    let key = match key.as_str() {
                        Some(key) => Value::String(self.text(key, place)),
                        None => key.clone(),
                    };
                    let (value, value_places) = self.replace(value, value_places);
                    if replaced.contains_key(&key) {
                        let key = key.as_str().unwrap_or_default();
                        self.file.fault(place, format!("the key `{key}` occurs twice in one of the cases of `{EACH}`"));
                        continue;
                    }
                    replaced.insert(key, value);
                    children.push(value_places);
                }
                (Value::Mapping(replaced), Places { children, ..places.clone() })
            }
            other => (other.clone(), places.clone()),
        }
    }

    fn text(&self, text: &str, place: Place) -> String {
        let mut text = text.to_owned();
        for (name, value, _) in self.iter() {
            let mark = format!("<{name}>");
            if !text.contains(&mark) {
                continue;
            }
            self.used.borrow_mut().insert(name);
            match as_text(value) {
                Some(value) if self.spend(text.matches(&mark).count().saturating_mul(value.len())) => {
                    text = text.replace(&mark, &value);
                }
                Some(_) => return text,
                None => self.file.fault(place, format!("`{mark}` is not text, so it cannot be part of a text")),
            }
        }
        text
    }
}

/// Returns the size that a value counts for.
fn size(value: &Value) -> usize {
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Sequence(values) => values.iter().map(size).sum(),
        Value::Mapping(mapping) => mapping.iter().map(|(key, value)| size(key) + size(value)).sum(),
        _ => 0,
    }
}

/// A scalar, or a list of them as libtorch prints sizes.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Sequence(values) => {
            let values: Option<Vec<String>> = values.iter().map(as_text).collect();
            values.map(|values| format!("[{}]", values.join(", ")))
        }
        _ => None,
    }
}

fn without(mapping: &Mapping, places: &Places, at: usize) -> (Value, Places) {
    let rest = mapping.iter().enumerate().filter(|(index, _)| *index != at);
    let template = Value::Mapping(rest.map(|(_, (key, value))| (key.clone(), value.clone())).collect());
    let mut places = places.clone();
    if at < places.children.len() {
        places.children.remove(at);
    }
    (template, places)
}

/// The places of a child; an alias has a place, and what is in it has not.
fn child(places: &Places, at: usize) -> &Places {
    places.children.get(at).unwrap_or(places)
}
