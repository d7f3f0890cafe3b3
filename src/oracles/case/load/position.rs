//! The positions of everything in a YAML file: `serde_yaml` gives values without places, so a second, event-based reading
//! of the same text supplies them. It also sees the duplicate keys that a mapping cannot hold.
//!
//! It knows nothing of cases.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser};

/// The places of one value and of everything in it, in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The key, where the value has one.
    pub key: Option<Place>,
    /// The value itself.
    pub value: Place,
    /// The elements of a list, or the values of a mapping.
    pub children: Vec<Places>,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// A key that one mapping has twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The key.
    pub key: String,
    /// The place of its first occurrence.
    pub first: Place,
    /// The place where it is repeated.
    pub again: Place,
}

impl Places {
    /// The places in `text`, and the duplicate keys; or where and why it cannot be read.
    pub fn of(text: &str) -> Result<(Places, Vec<Duplicate>), (Place, String)> {
        let mut builder = Builder::default();
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| (Place::from(*error.marker()), error.info().to_owned()))?;
            builder.event(&event, Place::from(span.start));
        }
        Ok((builder.root.unwrap_or_default(), builder.duplicates))
    }
}

/// Builds the tree without recursion, so that no nesting is too deep for it.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Places>,
    duplicates: Vec<Duplicate>,
}

/// A list or mapping whose end is still to come.
struct Open {
    places: Places,
    /// The keys so far; `None` for a list.
    keys: Option<HashMap<String, Place>>,
    /// A key whose value is still to come.
    key: Option<Place>,
}

impl Builder {
    fn event(&mut self, event: &Event<'_>, place: Place) {
        let leaf = || Places { value: place, ..Places::default() };
        match event {
            Event::Scalar(text, ..) => self.close(leaf(), Some(text)),
            // What an alias stands for has places of its own, elsewhere; faults in it point here.
            Event::Alias(_) => self.close(leaf(), None),
            Event::SequenceStart(..) => self.open.push(Open { places: leaf(), keys: None, key: None }),
            Event::MappingStart(..) => {
                self.open.push(Open { places: leaf(), keys: Some(HashMap::new()), key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop().expect("the parser pairs starts and ends");
                self.close(open.places, None);
            }
            _ => {}
        }
    }

    /// Hands a complete value to the list or mapping around it. `text` is that of a scalar, which may be a key.
    fn close(&mut self, mut places: Places, text: Option<&str>) {
        let Some(around) = self.open.last_mut() else {
            self.root.get_or_insert(places);
            return;
        };
        if let (Some(keys), None) = (&mut around.keys, around.key) {
            around.key = Some(places.value);
            if let Some(text) = text {
                let again = places.value;
                match keys.get(text) {
                    Some(&first) => self.duplicates.push(Duplicate { key: text.to_owned(), first, again }),
                    None => drop(keys.insert(text.to_owned(), again)),
                }
            }
            return;
        }
        places.key = around.key.take();
        around.places.children.push(places);
    }
}

impl Default for Place {
    fn default() -> Self {
        Place { line: 1, column: 1 }
    }
}

impl From<Marker> for Place {
    fn from(marker: Marker) -> Self {
        Place { line: marker.line().max(1), column: marker.col() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_have_their_places() {
        let (places, duplicates) = Places::of("- a: 1\n  b: [x, {c: y}]\n- *no\n").unwrap_or_default();
        assert!(duplicates.is_empty());
        assert!(places.children.is_empty(), "an alias of nothing is not valid YAML");

        let (places, duplicates) = Places::of("# first\n- a: 1\n  b: [x, {c: \"y\"}]\n").unwrap();
        assert!(duplicates.is_empty());
        let record = &places.children[0];
        assert_eq!(record.value, Place { line: 2, column: 3 });
        let b = &record.children[1];
        assert_eq!((b.key, b.value), (Some(Place { line: 3, column: 3 }), Place { line: 3, column: 6 }));
        let c = &b.children[1].children[0];
        assert_eq!((c.key, c.value), (Some(Place { line: 3, column: 11 }), Place { line: 3, column: 14 }));
    }

    #[test]
    fn duplicates_are_found_at_any_depth() {
        let (_, duplicates) = Places::of("a: {b: 1, c: {d: 1, d: 2}}\na: 2\n").unwrap();
        let keys: Vec<_> = duplicates.iter().map(|duplicate| (duplicate.key.as_str(), duplicate.again.line)).collect();
        assert_eq!(keys, [("d", 1), ("a", 2)]);
    }
}
