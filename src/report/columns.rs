//! JSON by columns: what stands at the same place of many records stands together, where it compresses best.
//!
//! `page.js` puts the records together again.

use std::collections::BTreeMap;

use serde_json::Value;

/// The values of a document by their path, in the order of the document. A path has `.key` for what is in an object and
/// `[]` for what is in a list. A list is `[length]` in the column of its own path, and an object the list of its keys.
///
/// `[{"a": 1}, {"a": 2}]` becomes `{"": [[2]], "[]": [["a"], ["a"]], "[].a": [1, 2]}`.
pub fn columns(document: Value) -> BTreeMap<String, Vec<Value>> {
    let mut columns = BTreeMap::new();
    add(&mut columns, String::new(), document);
    columns
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
    use serde_json::json;

    use super::*;

    #[test]
    fn records_become_columns() {
        let columns = columns(json!([{"a": 1, "b": [true, null]}, {"b": []}, {}]));
        let expected = json!({
            "": [[3]], "[]": [["a", "b"], ["b"], []], "[].a": [1], "[].b": [[2], [0]], "[].b[]": [true, null],
        });
        assert_eq!(serde_json::to_value(columns).unwrap(), expected);
    }
}
