//! Text from outside, made harmless where it is shown: in a terminal, in Markdown, in HTML.
//!
//! Adapters and event files say what they like: names, versions, messages, what was written to standard error. Files and
//! JSON keep it exactly; whatever a person reads goes through here. It must not know what a text is about.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The text with everything written out that cannot be seen or changes how the rest is seen: control characters,
/// bidirectional and other format characters, code points that are no characters, and marks, as in `\u{202e}`. Ends of
/// lines and tabs stay.
///
/// ```
/// use broadcheck_harness::escape::visible;
///
/// assert_eq!(visible("\u{1b}[31mred"), "\\u{1b}[31mred");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_hidden(c) => shown.push(c),
            c if is_blank(c) => shown.extend(c.escape_unicode()),
            c => shown.extend(c.escape_debug()),
        }
    }
    Cow::Owned(shown)
}

/// The same on one line.
pub fn one_line(text: &str) -> String {
    visible(text).replace('\n', " ")
}

/// A record, such as an event, in which every text is [`visible`].
pub fn visible_in<T: Serialize + DeserializeOwned + Clone>(record: &T) -> T {
    let json = serde_json::to_string(record).expect("records have only text for keys");
    if !hides_something(&json) {
        return record.clone();
    }
    let mut value: Value = serde_json::from_str(&json).expect("it was written as JSON");
    show(&mut value);
    serde_json::from_value(value).expect("a record reads back")
}

/// A document of JSON that says the same, with everything that cannot be seen written as JSON has it: `\u202e`.
pub fn json(document: &str) -> Cow<'_, str> {
    if !document.contains(is_hidden) {
        return Cow::Borrowed(document);
    }
    let mut shown = String::with_capacity(document.len() + 16);
    for c in document.chars() {
        // Outside of texts there is none.
        match is_hidden(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}"))),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Code in Markdown, on one line of a table or a list.
pub fn markdown_code(text: &str) -> String {
    let text = one_line(text.trim()).replace('|', "\\|");
    // Longer than any run of backquotes in it, so that none of them ends it.
    let fence = "`".repeat(longest_run(&text) + 1);
    // Programs that show Markdown leave out one space on each side.
    let space = if fence.len() > 1 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A block of code in Markdown, in a language, with an end of line after it.
pub fn markdown_block(language: &str, text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat((longest_run(&text) + 1).max(3));
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

/// Prose in Markdown, in a table or a list: nothing of it is markup.
pub fn markdown_prose(text: &str) -> String {
    let text = visible(text.trim());
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => escaped.push(' '),
            '|' | '*' | '_' | '<' | '[' | ']' | '\\' | '`' => escaped.extend(['\\', c]),
            // The beginning of a character by its name or number.
            '&' if rest.peek().is_some_and(|next| *next == '#' || next.is_ascii_alphanumeric()) => {
                escaped.push_str("\\&");
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text in HTML or SVG, in an element or a quoted attribute.
pub fn html(text: &str) -> String {
    let text = visible(text);
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns whether a character cannot be seen, or changes how others are seen.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' | ' '..='~' => false,
        // What the standard library writes out where text is shown for debugging: all that is not printable.
        c => is_blank(c) || c.escape_debug().len() > 1,
    }
}

/// Letters of Hangul that are blank; to the standard library they are letters as any other.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
}

/// Returns whether any text in a document of JSON, or in lines of JSON, has a hidden character.
pub fn hides_something(json: &str) -> bool {
    // Searches of the standard library are fast in every build; loops over characters are not.
    let mut lines = json.lines().filter(|line| !line.is_ascii() || line.contains('\u{7f}'));
    if lines.any(|line| line.contains(is_hidden)) {
        return true;
    }
    // Control characters stand there as \u001b and \r, a backslash as \\.
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        match rest.as_bytes().get(at + 1) {
            Some(b'u' | b'r' | b'b' | b'f') => return true,
            _ => rest = rest.get(at + 2..).unwrap_or(""),
        }
    }
    false
}

fn show(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(shown) = visible(text) {
                *text = shown;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(show),
        Value::Object(fields) => {
            let shown = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                show(&mut value);
                (visible(&key).into_owned(), value)
            });
            *fields = shown.collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(visible("size (3) ≠ 'two'\n\t\"\\n\" …"), "size (3) ≠ 'two'\n\t\"\\n\" …");
        assert!(matches!(visible("plain"), Cow::Borrowed(_)));
        let hidden = [
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("a\rb\u{7f}\u{85}\0", "a\\rb\\u{7f}\\u{85}\\0"),
            ("\u{202a}\u{202e}\u{2066}\u{2069}", "\\u{202a}\\u{202e}\\u{2066}\\u{2069}"),
            ("\u{200e}\u{200f}\u{61c}\u{200b}\u{feff}", "\\u{200e}\\u{200f}\\u{61c}\\u{200b}\\u{feff}"),
            ("\u{fffe}\u{ffff}\u{fdd0}\u{10ffff}", "\\u{fffe}\\u{ffff}\\u{fdd0}\\u{10ffff}"),
            ("\u{3164}\u{e0041}\u{fe0f}\u{2028}\u{a0}", "\\u{3164}\\u{e0041}\\u{fe0f}\\u{2028}\\u{a0}"),
        ];
        for (text, shown) in hidden {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn every_text_of_a_record_is_shown() {
        type Record = (u64, BTreeMap<String, Vec<Option<String>>>);
        let record = |text: &str| -> Record {
            (u64::MAX, BTreeMap::from([(format!("key {text}"), vec![None, Some(format!("\\u{text}\\"))])]))
        };
        assert_eq!(visible_in(&record("\u{1b}\u{202e}")), record("\\u{1b}\\u{202e}"));
        assert_eq!(visible_in(&record("\\r \" \n")), record("\\r \" \n"));
        for hidden in ["\r", "\u{8}", "\u{c}", "\u{7f}", "\u{feff}", "\n\u{7f}"] {
            assert_ne!(visible_in(&record(hidden)), record(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn json_says_the_same() {
        let text = "a\u{202e}\u{1b}\u{7f}\u{fffe}\u{e0041}\u{10ffff}é\n";
        let document = serde_json::to_string_pretty(&[text]).unwrap();
        assert_eq!(json(&document), "[\n  \"a\\u202e\\u001b\\u007f\\ufffe\\udb40\\udc41\\udbff\\udfffé\\n\"\n]");
        assert_eq!(serde_json::from_str::<[String; 1]>(&json(&document)).unwrap(), [text]);
    }

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(markdown_prose("a_b | *c* [d]\n<e>"), "a\\_b \\| \\*c\\* \\[d\\] \\<e>");
        assert_eq!(markdown_prose("a & b &lt; &#8238;\r"), "a & b \\&lt; \\&#8238;");
        assert_eq!(html("<a href=\"b\">'c' & d/e\u{202e}"), "&lt;a href=&quot;b&quot;&gt;'c' &amp; d/e\\u{202e}");
    }

    #[test]
    fn nothing_in_code_ends_it() {
        assert_eq!(markdown_code("a|b"), "`a\\|b`");
        assert_eq!(markdown_code("a`b"), "`` a`b ``");
        assert_eq!(markdown_code("```"), "```` ``` ````");
        assert_eq!(markdown_code("a\rb\nc"), "`a\\rb c`");
        assert_eq!(markdown_block("text", "a\n```\nb"), "````text\na\n```\nb\n````\n");
        assert_eq!(markdown_block("yaml", "a: 1\n"), "```yaml\na: 1\n```\n");
    }
}
