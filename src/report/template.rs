//! The templates of reports: markup is data, in `templates/`, and what goes into it comes from `serde`.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, escape_formatter};
use serde::Serialize;

use crate::escape;

/// The templates, by name.
const TEMPLATES: &[(&str, &str)] = &[
    ("badge.svg", include_str!("templates/badge.svg")),
    ("benchmarks.md", include_str!("templates/benchmarks.md")),
    ("causes.md", include_str!("templates/causes.md")),
    ("changes.md", include_str!("templates/changes.md")),
    ("devices.md", include_str!("templates/devices.md")),
    ("diff.md", include_str!("templates/diff.md")),
    ("documentation.md", include_str!("templates/documentation.md")),
    ("exhaustive.md", include_str!("templates/exhaustive.md")),
    ("implementations.md", include_str!("templates/implementations.md")),
    ("index.html", include_str!("templates/index.html")),
    ("matrix.md", include_str!("templates/matrix.md")),
    ("page.css", include_str!("templates/page.css")),
    ("page.js", include_str!("templates/page.js")),
    ("run.md", include_str!("templates/run.md")),
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
        Some(text) if *state.auto_escape() == AutoEscape::Html && !value.is_safe() => {
            Ok(out.write_str(&escape::html(text))?)
        }
        _ => escape_formatter(out, state, value),
    });
    environment.add_filter("sentence", sentence);
    environment.add_filter("cell", |text: String| escape::markdown_prose(&text));
    environment.add_filter("code", |text: String| escape::markdown_code(&text));
    environment.add_filter("thousands", super::thousands);
    environment.add_filter("count", |number: usize, noun: String| super::count(number, &noun));
    for (name, text) in TEMPLATES {
        let text = if name.ends_with(".js") { without_comments(text) } else { (*text).to_owned() };
        environment.add_template_owned(*name, text).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    }
    let template = environment.get_template(name).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    template.render(Serde(context)).unwrap_or_else(|error| panic!("{name}: {error:#}"))
}

/// Removes the lines of a script that are only a comment, which would be a part of every page.
fn without_comments(script: &str) -> String {
    let is_comment = |line: &&str| {
        let line = line.trim();
        line.starts_with("//") || (line.starts_with("/**") && line.ends_with("*/"))
    };
    script.lines().filter(|line| !is_comment(line)).map(|line| format!("{line}\n")).collect()
}

/// Begins with a capital letter. The library's own `capitalize` makes all others small, those of names too.
fn sentence(text: String) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
