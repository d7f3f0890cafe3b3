//! The differences between two releases, as text for people, as Markdown and as JSON.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::changes::{Change, Changes};
use super::text::wrap;
use super::{count, template};

const GONE: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Green.on_default();
const HEAD: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// The number of characters of an outcome that are shown.
const LONGEST: usize = 300;

/// The number of lines of a program that are shown.
const PROGRAM: usize = 8;

/// The number of groups that are shown in Markdown, which is to be read at once.
const GROUPS: usize = 40;

/// The number of program numbers that are shown.
const NUMBERS: usize = 12;

/// The report as text, with colours.
pub fn text(changes: &Changes) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{HEAD}{} → {}{HEAD:#} · {}", changes.before, changes.after, compared(changes));
    let mut kind = None;
    for group in &changes.groups {
        if kind != Some(group.kind) {
            kind = Some(group.kind);
            let cases = count(changes.kinds.get(&group.kind).copied().unwrap_or_default(), "case");
            let _ = writeln!(text, "\n{HEAD}{}{HEAD:#}: {cases}", group.kind.name());
        }
        let _ = writeln!(text, "  {} · {}", group.clause, group.call);
        let [first, others @ ..] = &group.changes[..] else { continue };
        let Change { case, value, before, after, why } = first;
        let _ = writeln!(text, "    {case}  {FAINT}{value}{FAINT:#}");
        for line in group.program.lines().take(PROGRAM) {
            let _ = writeln!(text, "    {FAINT}|{FAINT:#} {}", cut(line));
        }
        if group.program.lines().count() > PROGRAM {
            let _ = writeln!(text, "    {FAINT}| …{FAINT:#}");
        }
        let _ = writeln!(text, "    {GONE}- {}{GONE:#}", cut(before));
        let _ = writeln!(text, "    {NEW}+ {}{NEW:#}", cut(after));
        if let Some(why) = why {
            wrap(&format!("known: {why}"), "    ", &mut text);
        }
        let others = others_of(first, others);
        if !others.is_empty() {
            let _ = writeln!(text, "    {FAINT}the same kind of change in {}{FAINT:#}", others.join(", "));
        }
    }
    if !changes.programs.is_empty() {
        let _ = writeln!(text, "\n{HEAD}generated programs{HEAD:#}: {}", changes.generated_differing);
    }
    for programs in &changes.programs {
        let _ = writeln!(text, "  {}: {}", programs.kind.name(), numbers(&programs.programs));
        if programs.before != programs.after {
            let _ = writeln!(text, "    {}: {}", programs.programs[0], programs.call);
            let _ = writeln!(text, "    {GONE}- {}{GONE:#}", cut(&programs.before));
            let _ = writeln!(text, "    {NEW}+ {}{NEW:#}", cut(&programs.after));
        }
    }
    let _ = writeln!(text, "\n{}", summary(changes));
    for line in not_compared(changes) {
        let _ = writeln!(text, "{FAINT}{line}{FAINT:#}");
    }
    text
}

/// Cases and aspects that were not compared, with the reason.
fn not_compared(changes: &Changes) -> Vec<String> {
    let lacking = [(&changes.before, changes.unsupported_before), (&changes.after, changes.unsupported_after)];
    let lacking = lacking.into_iter().filter(|(_, cases)| *cases > 0);
    let mut lines: Vec<String> = lacking
        .map(|(label, cases)| format!("not compared: {}, unsupported by {label} alone", count(cases, "case")))
        .collect();
    if !changes.unreported.is_empty() {
        let aspects: Vec<&str> = changes.unreported.iter().map(|aspect| aspect.name()).collect();
        lines.push(format!("not compared: {}, which one of the two does not report", aspects.join(", ")));
    }
    if !changes.ignored.is_empty() {
        let kinds: Vec<&str> = changes.ignored.iter().map(|kind| kind.name()).collect();
        lines.push(format!("ignored: {}", kinds.join(", ")));
    }
    lines
}

/// The report as Markdown.
pub fn markdown(changes: &Changes) -> String {
    template::fill("diff.md", json!({"changes": view(changes), "level": "##"}))
}

/// The report as JSON.
pub fn json(changes: &Changes) -> String {
    let mut text = serde_json::to_string_pretty(changes).expect("changes have only text for keys");
    text.push('\n');
    crate::escape::json(&text).into_owned()
}

/// A sentence with the number of differences.
pub fn summary(changes: &Changes) -> String {
    if changes.differing == 0 && changes.generated_differing == 0 {
        return format!("no difference in {}", compared(changes));
    }
    let kinds: Vec<String> = changes.kinds.iter().map(|(kind, cases)| format!("{} {cases}", kind.name())).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let mut text = format!("{} of {} cases differ{kinds}", changes.differing, changes.cases);
    if changes.generated > 0 {
        let _ = write!(text, "; {} of {} generated programs", changes.generated_differing, changes.generated);
    }
    text
}

fn compared(changes: &Changes) -> String {
    match changes.generated {
        0 => count(changes.cases, "case"),
        programs => format!("{}, {}", count(changes.cases, "case"), count(programs, "generated program")),
    }
}

/// The first numbers of programs, and how many more there are.
fn numbers(programs: &[u64]) -> String {
    let first: Vec<String> = programs.iter().take(NUMBERS).map(u64::to_string).collect();
    match programs.len().saturating_sub(NUMBERS) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// The other cases of a group, without repetition.
fn others_of<'a>(first: &'a Change, others: &'a [Change]) -> Vec<&'a str> {
    let mut cases: Vec<&str> = others.iter().map(|change| change.case.as_str()).collect();
    cases.retain(|case| *case != first.case);
    cases.dedup();
    cases
}

/// A block of code within an item of an item of a Markdown list. Its indentation is what makes it code, so nothing in it
/// can end it.
fn code_block(text: &str) -> String {
    text.lines().map(|line| format!("        {}", line.replace('\r', " "))).collect::<Vec<_>>().join("\n")
}

fn cut(text: &str) -> String {
    let text = text.replace('\n', " ");
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Returns the values that fill the template.
pub(super) fn view(changes: &Changes) -> Value {
    let groups: Vec<Value> = changes
        .groups
        .iter()
        .take(GROUPS)
        .filter_map(|group| {
            let (first, others) = group.changes.split_first()?;
            Some(json!({"kind": group.kind.name(), "clause": group.clause, "call": group.call, "case": first.case, "value": first.value, "program": code_block(&group.program), "before": cut(&first.before), "after": cut(&first.after), "why": first.why, "others": others_of(first, others)}))
        })
        .collect();
    let programs: Vec<Value> = changes
        .programs
        .iter()
        .map(|programs| {
            json!({"kind": programs.kind.name(), "call": programs.call, "programs": numbers(&programs.programs), "before": cut(&programs.before), "after": cut(&programs.after)})
        })
        .collect();
    json!({"before": changes.before, "after": changes.after, "summary": summary(changes), "not_compared": not_compared(changes), "groups": groups, "programs": programs, "more": changes.groups.len().saturating_sub(GROUPS), "differing": changes.differing + changes.generated_differing})
}
