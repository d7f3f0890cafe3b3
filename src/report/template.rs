//! The templates of reports: markup is data, in `templates/`, and what goes into it comes from `serde`.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, escape_formatter};
use serde::Serialize;

/// The templates, by name.
const TEMPLATES: &[(&str, &str)] = &[
    ("badge.svg", include_str!("templates/badge.svg")),
    ("benchmarks.md", include_str!("templates/benchmarks.md")),
    ("changes.md", include_str!("templates/changes.md")),
    ("diff.md", include_str!("templates/diff.md")),
    ("documentation.md", include_str!("templates/documentation.md")),
    ("exhaustive.md", include_str!("templates/exhaustive.md")),
    ("implementations.md", include_str!("templates/implementations.md")),
    ("index.html", include_str!("templates/index.html")),
    ("matrix.md", include_str!("templates/matrix.md")),
    ("page.css", include_str!("templates/page.css")),
    ("page.js", include_str!("templates/page.js")),
    ("run.md", include_str!("templates/run.md")),
    ("scale.md", include_str!("templates/scale.md")),
];

/// Fills in a template. Its text and what goes into it are both of this crate, so that a fault is one of the crate.
pub fn fill(name: &str, context: impl Serialize) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.unwrap_or_else(|error| panic!("{error:#}")));
    environment.set_auto_escape_callback(|name| match name.rsplit('.').next() {
        Some("html" | "svg") => AutoEscape::Html,
        _ => AutoEscape::None,
    });
    // The library's own also escapes slashes, of which ids are full.
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if *state.auto_escape() == AutoEscape::Html && !value.is_safe() => Ok(out.write_str(&html(text))?),
        _ => escape_formatter(out, state, value),
    });
    environment.add_filter("cell", cell);
    environment.add_filter("code", code);
    environment.add_filter("thousands", super::thousands);
    environment.add_filter("count", |number: usize, noun: String| super::count(number, &noun));
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    }
    let template = environment.get_template(name).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    template.render(Serde(context)).unwrap_or_else(|error| panic!("{name}: {error:#}"))
}

/// Text in HTML, in an element or a quoted attribute.
fn html(text: &str) -> String {
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

/// Prose in Markdown, in a table or a list: nothing of it is markup.
fn cell(text: String) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '\n' => escaped.push(' '),
            '|' | '*' | '_' | '<' | '[' | ']' | '\\' | '`' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Code in Markdown, in a table or a list.
fn code(text: String) -> String {
    let text = text.trim().replace('\n', " ").replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(cell("a_b | *c* [d]\n<e>".to_owned()), "a\\_b \\| \\*c\\* \\[d\\] \\<e>");
        assert_eq!(html("<a href=\"b\">'c' & d/e"), "&lt;a href=&quot;b&quot;&gt;'c' &amp; d/e");
        assert_eq!(code("a|b".to_owned()), "`a\\|b`");
        assert_eq!(code("a`b".to_owned()), "`` a`b ``");
    }
}
