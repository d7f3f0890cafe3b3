//! JSON by columns: what stands at the same place of many records stands together, where it compresses best.
//!
//! `page.js` puts the records together again.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::{Value, json};

use crate::output::gzip;

/// The values of a document by their path, in the order of the document. A path has `.key` for what is in an object and
/// `[]` for what is in a list. A list is `[length]` in the column of its own path, and an object the list of its keys.
///
/// `[{"a": 1}, {"a": 2}]` becomes `{"": [[2]], "[]": [["a"], ["a"]], "[].a": [1, 2]}`. A long text that a column has had
/// already is `{"at": 3}`, its place there: it may be too far away for the compression to see it. `places` are the paths of
/// references, each with the path of what they refer to: such a text is its place in that column, if it stands there.
pub fn columns(document: Value, places: &BTreeMap<&str, &str>) -> BTreeMap<String, Vec<Value>> {
    let mut columns = BTreeMap::new();
    add(&mut columns, String::new(), document);
    for (from, to) in places {
        refer(&mut columns, from, to);
    }
    columns.values_mut().for_each(|column| write_once(column));
    columns
}

/// As JSON, compressed, in [`text`].
pub fn packed(packed: &impl Serialize) -> String {
    let json = serde_json::to_vec(packed).expect("its maps have only text for keys");
    text(&gzip(&json))
}

/// Bytes as text in base 85, as Ascii85 has it: five digits for each four bytes, and one more than bytes for the last. Base64 needs
/// a fifteenth more of a page.
pub fn text(bytes: &[u8]) -> String {
    let digits: Vec<char> = digits().collect();
    let word = |four: &[u8]| four.iter().chain(&[0; 3]).take(4).fold(0, |word, &byte| (word << 8) | u32::from(byte));
    let five = |word: u32| (0..5_u32).rev().map(move |place| (word / 85_u32.pow(place) % 85) as usize);
    bytes.chunks(4).flat_map(|four| five(word(four)).take(four.len() + 1)).map(|digit| digits[digit]).collect()
}

/// The bytes of a [`text`]; `None` if it is none.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> =
        text.chars().map(|one| digits().position(|digit| digit == one).map(|at| at as u32)).collect::<Option<_>>()?;
    let word = |five: &[u32]| {
        five.iter().chain(&[84; 4]).take(5).fold(0_u32, |word, digit| word.wrapping_mul(85).wrapping_add(*digit))
    };
    Some(digits.chunks(5).flat_map(|five| word(five).to_be_bytes().into_iter().take(five.len() - 1)).collect())
}

/// The digits: what ASCII has from `#` to `}` without what is markup, or might be taken for it.
fn digits() -> impl Iterator<Item = char> {
    ('#'..='}').filter(|digit| !"&'<>\\`".contains(*digit))
}

/// The bytes of a text that is worth a reference.
const LONG: usize = 24;

fn write_once(column: &mut [Value]) {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, value) in column.iter_mut().enumerate() {
        let Some(text) = value.as_str().filter(|text| text.len() >= LONG) else { continue };
        match places.get(text) {
            Some(place) => *value = json!({ "at": place }),
            None => drop(places.insert(text.to_owned(), at)),
        }
    }
}

/// Replaces the texts of a column by their places in another one, which has each once.
fn refer(columns: &mut BTreeMap<String, Vec<Value>>, from: &str, to: &str) {
    let own = columns.get(to).map(Vec::as_slice).unwrap_or_default();
    let places: HashMap<&str, usize> =
        own.iter().enumerate().filter_map(|(place, text)| Some((text.as_str()?, place))).collect();
    let Some(column) = columns.get(from) else { return };
    let place = |value: &Value| match value.as_str().and_then(|text| places.get(text)) {
        Some(place) => Value::from(*place),
        None => value.clone(),
    };
    let replaced = column.iter().map(place).collect();
    columns.insert(from.to_owned(), replaced);
}

fn add(columns: &mut BTreeMap<String, Vec<Value>>, path: String, value: Value) {
    let (token, inside): (Value, Vec<(String, Value)>) = match value {
        Value::Array(list) => {
            let token = Value::from(vec![list.len()]);
            (token, list.into_iter().map(|value| (format!("{path}[]"), value)).collect())
        }
        Value::Object(object) => {
            let token = object.keys().cloned().collect();
            (token, object.into_iter().map(|(key, value)| (format!("{path}.{key}"), value)).collect())
        }
        scalar => (scalar, Vec::new()),
    };
    columns.entry(path).or_default().push(token);
    for (path, value) in inside {
        add(columns, path, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken_apart(document: Value) -> BTreeMap<String, Vec<Value>> {
        columns(document, &BTreeMap::new())
    }

    #[test]
    fn references_are_places() {
        let document = json!({"cases": [{"id": "a"}, {"id": "b", "like": "a"}], "first": "b", "last": "c"});
        let id = ".cases[].id";
        let columns = columns(document, &BTreeMap::from([(".cases[].like", id), (".first", id), (".last", id)]));
        assert_eq!(columns[".cases[].like"], [json!(0)]);
        assert_eq!(columns[".first"], [json!(1)]);
        assert_eq!(columns[".last"], [json!("c")]);
    }

    #[test]
    fn bytes_are_text_in_base_85() {
        assert_eq!(digits().count(), 85);
        assert_eq!(text(&[0, 0, 0, 0, 0, 0, 0, 84]), "#########}");
        for length in 0..9 {
            let all: Vec<u8> = (0..length).map(|at| 255 - 31 * at).collect();
            assert_eq!(text(&all).len(), all.len() + all.len().div_ceil(4));
            assert_eq!(bytes(&text(&all)), Some(all));
        }
        assert_eq!(bytes("<"), None);
    }

    #[test]
    fn records_become_columns() {
        let columns = taken_apart(json!([{"a": 1, "b": [true, null]}, {"b": []}, {}]));
        let expected = json!({
            "": [[3]], "[]": [["a", "b"], ["b"], []], "[].a": [1], "[].b": [[2], [0]], "[].b[]": [true, null],
        });
        assert_eq!(serde_json::to_value(columns).unwrap(), expected);
    }

    #[test]
    fn a_long_text_is_there_once() {
        let long = "x".repeat(LONG);
        let columns = taken_apart(json!([long, "y", "y", long]));
        let expected = json!({"": [[4]], "[]": [long, "y", "y", {"at": 0}]});
        assert_eq!(serde_json::to_value(columns).unwrap(), expected);
    }
}
