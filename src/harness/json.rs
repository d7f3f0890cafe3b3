//! JSON that people read, too: what holds numbers and short texts alone is on one line, or on a few.

use serde::Serialize;

/// The columns that a line is filled to.
const WIDTH: usize = 120;

/// A value as JSON with a newline at the end.
///
/// ```
/// use broadcheck_harness::json::pretty;
///
/// let steps = std::collections::BTreeMap::from([("add", vec![1, 2, 3]), ("mul", vec![4])]);
/// assert_eq!(pretty(&steps), "{\n  \"add\": [1, 2, 3],\n  \"mul\": [4]\n}\n");
/// ```
///
/// # Panics
/// If the value has a map with other keys than text.
pub fn pretty(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("a value has only text for keys");
    let mut lines: Vec<String> = Vec::new();
    // The lists and objects around a line: where each begins, and whether there is none within it.
    let mut around: Vec<(usize, bool)> = Vec::new();
    for line in text.lines() {
        if line.ends_with(['[', '{']) {
            if let Some((_, innermost)) = around.last_mut() {
                *innermost = false;
            }
            around.push((lines.len(), true));
        } else if line.trim_start().starts_with([']', '}'])
            && let Some((first, true)) = around.pop()
        {
            let parts = lines.split_off(first);
            lines.extend(filled(&parts, line.trim_start()));
            continue;
        }
        lines.push(line.to_owned());
    }
    lines.join("\n") + "\n"
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines of a list or an object: one if it is short, else as many as it fills.
fn filled(parts: &[String], end: &str) -> Vec<String> {
    let inner: Vec<&str> = parts[1..].iter().map(|part| part.trim_start()).collect();
    let whole = format!("{}{}{end}", parts[0], inner.join(" "));
    if whole.len() <= WIDTH {
        return vec![whole];
    }
    let mut lines = vec![parts[0].clone()];
    let start = " ".repeat(indent(&parts[0]) + 2);
    for part in inner {
        match lines.last_mut() {
            Some(last) if last.starts_with(&start) && last.len() + 1 + part.len() <= WIDTH => {
                last.push(' ');
                last.push_str(part);
            }
            _ => lines.push(format!("{start}{part}")),
        }
    }
    lines.push(format!("{}{end}", " ".repeat(indent(&parts[0]))));
    lines
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, pretty};

    #[test]
    fn lists_fill_lines_and_what_holds_others_is_a_line_each() {
        let names: Vec<String> = (0..40).map(|at| format!("operation-{at} [{{")).collect();
        let value = serde_json::json!({"names": names, "none": [], "nested": [{"a": 1, "b": []}, {}]});
        let text = pretty(&value);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        assert!(text.lines().all(|line| line.len() <= WIDTH) && text.lines().count() < 20, "{text}");
        assert!(text.contains("    {\"a\": 1, \"b\": []},\n    {}\n"), "{text}");
    }
}
