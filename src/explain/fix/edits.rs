//! Edits of a text: an operand with something after it, or another call.

use std::ops::Range;

use crate::evaluate::Operand;

/// An operand with a method or a subscript after it: `b.unsqueeze(1)`, `(a + b)[:, None]`.
pub(super) fn after(source: &str, operand: &Operand, suffix: &str) -> (Range<usize>, String) {
    let text = source.get(operand.span.clone()).unwrap_or_default();
    (operand.span.clone(), format!("{}{suffix}", atom(text)))
}

/// A text that something can be put after: in parentheses unless it is a name, a call or a subscript.
pub(super) fn atom(text: &str) -> String {
    let mut depth = 0usize;
    let mut loose = false;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            c if depth == 0 && !(c.is_alphanumeric() || matches!(c, '_' | '.')) => loose = true,
            _ => {}
        }
    }
    if loose { format!("({text})") } else { text.to_owned() }
}

/// `[:, None, :]` for a tensor of which dimension `k` goes to dimension `places[k]` of `rank`: `None` for each other
/// dimension; the leading ones are left out, since PyTorch adds them by itself.
pub(super) fn subscript(places: &[usize], rank: usize) -> String {
    let start = places.first().copied().unwrap_or(rank);
    let items: Vec<&str> = (start..rank).map(|dim| if places.contains(&dim) { ":" } else { "None" }).collect();
    // One new dimension has a name of its own.
    let new: Vec<usize> = items.iter().enumerate().filter(|(_, item)| **item == "None").map(|(at, _)| at).collect();
    match new.as_slice() {
        [] => String::new(),
        [at] => format!(".unsqueeze({at})"),
        _ => format!("[{}]", items.join(", ")),
    }
}
