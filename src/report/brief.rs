//! The run in brief: the totals, the failures by what differs, what is false, and the totals again. A green run fits on a
//! screen; `text` has everything.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::text::{self, BAD, FAINT, HEAD, WIDTH, wrap};
use super::{Run, Truth, count, is_failure, repeat_command, thousands};
use crate::harness::model::event::cause::{NO_REASON, UNPROVEN, call, cause};
use crate::harness::model::event::{Agreement, CaseStated, Judged, Kind, Verdict};

/// So many groups of failures are shown with an example.
const EXAMPLES: usize = 6;
/// So many more are a line each.
const LINES: usize = 24;
/// So many operations of a group are named.
const CALLS: usize = 5;
/// So many lines of a program are shown.
const PROGRAM: usize = 8;
/// So many statements are shown whole; of more than that only the documents' false ones, a line each.
const STATEMENTS: usize = 12;
/// So many false statements are shown.
const FALSE: usize = 20;

/// The report, with colours; print it through something that strips them where they do not belong.
pub fn render(run: &Run) -> String {
    let mut text = String::new();
    text::heading(run, &mut text);
    let few = run.clauses.len() <= STATEMENTS;
    if !few {
        text::verdict(run, &mut text);
    }
    failures(run, &mut text);
    generated(run, &mut text);
    if few {
        text::truth_table(run, &mut text);
    } else {
        untrue(run, &mut text);
    }
    counts(run, &mut text);
    text.push('\n');
    text::verdict(run, &mut text);
    text
}

/// The failures that went wrong in the same way.
struct Group<'a> {
    what: String,
    judged: Vec<&'a Judged>,
}

/// The failures of all implementations by what differs, the largest group first.
fn groups(run: &Run) -> Vec<Group<'_>> {
    let cases: BTreeMap<&str, &CaseStated> = run.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut groups: Vec<Group> = Vec::new();
    for judged in run.judged.iter().filter(|judged| is_failure(judged)) {
        let what = format!("{}: {}", judged.implementation, cause(judged, cases.get(judged.case.as_str()).copied()));
        match groups.iter_mut().find(|group| group.what == what) {
            Some(group) => group.judged.push(judged),
            None => groups.push(Group { what, judged: vec![judged] }),
        }
    }
    // What follows from other failures comes after them.
    groups.sort_by_key(|group| (group.what.ends_with(UNPROVEN), std::cmp::Reverse(group.judged.len())));
    groups
}

fn failures(run: &Run, text: &mut String) {
    let groups = groups(run);
    for (at, group) in groups.iter().enumerate().take(EXAMPLES + LINES) {
        let cases = count(group.judged.len(), "case");
        if at < EXAMPLES {
            let _ = writeln!(text, "\n{BAD}{cases}{BAD:#} {HEAD}{}{HEAD:#}{}", group.what, calls(run, group));
            example(run, group, text);
        } else {
            if at == EXAMPLES {
                text.push('\n');
            }
            let (calls, first) = (calls(run, group), &group.judged[0].case);
            let _ = writeln!(text, "{BAD}{cases}{BAD:#} {}{calls}, as {first}", group.what);
        }
    }
    if let Some(rest) = groups.get(EXAMPLES + LINES..).filter(|rest| !rest.is_empty()) {
        let cases = rest.iter().map(|group| group.judged.len()).sum();
        let _ = writeln!(text, "and {} in {}", count(cases, "case"), count(rest.len(), "smaller group"));
    }
}

/// The calls whose outcomes differ, unless the title says them: ` · add, mul_`.
fn calls(run: &Run, group: &Group) -> String {
    let mut calls: Vec<&str> = Vec::new();
    for judged in &group.judged {
        let case = run.cases.iter().find(|case| case.id == judged.case);
        calls.extend(call(judged, case).filter(|call| !calls.contains(call)));
    }
    let first = calls.iter().take(CALLS).copied().collect::<Vec<_>>().join(", ");
    match calls[..] {
        [] => String::new(),
        [only] if group.what.ends_with(&format!(" of {only}")) => String::new(),
        _ if calls.len() > CALLS => format!(" · {first} and {} more", calls.len() - CALLS),
        _ => format!(" · {first}"),
    }
}

/// The first case of a group: its program, the expected and the observed outcome.
fn example(run: &Run, group: &Group, text: &mut String) {
    let judged = group.judged[0];
    let _ = writeln!(text, "  {}  {FAINT}{}{FAINT:#}", judged.case, judged.location);
    if let Some(case) = run.cases.iter().find(|case| case.id == judged.case) {
        lines(&case.program, text);
    }
    text::verdict_of(judged, text);
    let _ = writeln!(text, "  repeat: {}", repeat_command(judged));
    if let [_, others @ ..] = &group.judged[..]
        && !others.is_empty()
    {
        let names: Vec<&str> = others.iter().take(3).map(|judged| judged.case.as_str()).collect();
        let more = if others.len() > names.len() { ", …" } else { "" };
        let _ = writeln!(text, "  also: {}{more}", names.join(", "));
    }
}

/// A case as the specification has it, and its outcomes in this run.
pub fn case(run: &Run, id: &str) -> String {
    let mut text = String::new();
    let Some(case) = run.cases.iter().find(|case| case.id == id) else { return text };
    let _ = writeln!(text, "{HEAD}{}{HEAD:#}  {FAINT}{}{FAINT:#}", case.id, case.location);
    let source = [Some(case.source.doc.as_str()), Some(case.source.section.as_str()), case.source.at.as_deref()];
    let _ = writeln!(text, "source: {}", source.into_iter().flatten().collect::<Vec<_>>().join(", "));
    for (word, prose) in [("note", &case.note), ("why", &case.why), ("control", &case.control)] {
        if let Some(prose) = prose {
            wrap(&format!("{word}: {}", prose.trim()), "", &mut text);
        }
    }
    text.push('\n');
    for line in case.program.lines() {
        let _ = writeln!(text, "  {line}");
    }
    for (title, stated) in [("expected", &case.expected), ("the document says instead", &case.documented)] {
        if !stated.is_empty() {
            let _ = writeln!(text, "\n{HEAD}{title}{HEAD:#}");
        }
        for one in stated {
            let _ = writeln!(text, "  {}: {}", one.value, one.outcome);
        }
    }
    let _ = writeln!(text, "\n{HEAD}tests{HEAD:#}");
    for clause in run.clauses.iter().filter(|clause| case.clauses.contains(&clause.id)) {
        wrap(&format!("{}: {}", clause.id, clause.statement), "  ", &mut text);
    }
    text
}

/// Formats the outcome of a case in each implementation; once where that is the same in several.
pub fn outcomes<'a>(all: impl IntoIterator<Item = &'a Judged>) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for judged in all {
        let shown = outcome(judged);
        match groups.iter_mut().find(|(other, _)| *other == shown) {
            Some((_, labels)) => labels.push(&judged.implementation),
            None => groups.push((shown, vec![&judged.implementation])),
        }
    }
    let mut text = String::new();
    for (shown, labels) in groups {
        text.push('\n');
        let mut whose = String::new();
        wrap(&labels.join(", "), "", &mut whose);
        let _ = write!(text, "{HEAD}{}{HEAD:#}: {shown}", whose.trim_end());
    }
    text
}

fn outcome(judged: &Judged) -> String {
    let style = if is_failure(judged) { BAD } else { text::GOOD };
    let mut text = format!("{style}{}{style:#}", judged.verdict.name());
    match &judged.verdict {
        Verdict::Diverges { divergence, why, .. } => {
            let _ = writeln!(text, ", {divergence}");
            wrap(why, "  ", &mut text);
        }
        Verdict::Unsupported { what, .. } => {
            let _ = writeln!(text, ": {what}");
        }
        _ => text.push('\n'),
    }
    text::verdict_of(judged, &mut text);
    for seen in &judged.outcome {
        let _ = writeln!(text, "  {}: {}", seen.value, cut(&seen.outcome));
    }
    text
}

/// The first lines of a program.
fn lines(program: &str, text: &mut String) {
    for line in program.lines().take(PROGRAM) {
        let _ = writeln!(text, "  {FAINT}|{FAINT:#} {}", cut(line));
    }
    if program.lines().count() > PROGRAM {
        let _ = writeln!(text, "  {FAINT}| …{FAINT:#}");
    }
}

/// A line that is no longer than prose may be.
fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDTH - 4) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// Generated programs on which an implementation differs from the reference, by how they differ.
fn generated(run: &Run, text: &mut String) {
    let mut groups: Vec<(String, &str, u64, usize)> = Vec::new();
    for (label, generated) in &run.generated {
        let (what, yaml) = match &generated.verdict {
            Agreement::Differs { signature, yaml, .. } => (signature, yaml),
            Agreement::Broken { fault, yaml } => (fault, yaml),
            Agreement::Agrees | Agreement::Known { .. } | Agreement::Unsupported { .. } => continue,
        };
        let what = format!("{label}: {what}");
        match groups.iter_mut().find(|(other, ..)| *other == what) {
            Some((.., programs)) => *programs += 1,
            None => groups.push((what, yaml, generated.program, 1)),
        }
    }
    groups.sort_by_key(|(.., programs)| std::cmp::Reverse(*programs));
    for (what, yaml, program, programs) in groups.iter().take(EXAMPLES) {
        let programs = count(*programs, "generated program");
        let _ = writeln!(text, "\n{BAD}{programs}{BAD:#} {HEAD}{}{HEAD:#}\n  program {program}", cut(what));
        lines(yaml, text);
    }
    if groups.len() > EXAMPLES {
        let _ = writeln!(text, "and {} of generated programs", count(groups.len() - EXAMPLES, "smaller group"));
    }
}

/// The statements of documents that are false, a line each.
fn untrue(run: &Run, text: &mut String) {
    let Some(witness) = run.witness() else { return };
    let truths = run.truth(&witness.label);
    let is_false = |truth: &&Truth| run.is_documented(truth.clause) && truth.holds() == Some(false);
    let untrue: Vec<&Truth> = truths.iter().filter(is_false).collect();
    if untrue.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{HEAD}What the documents say, and what is false in {}{HEAD:#}", witness.label);
    for truth in untrue.iter().take(FALSE) {
        let case = truth.really().map(|(_, case)| format!(" [{case}]")).unwrap_or_default();
        wrap(&format!("{}{case}", truth.clause.statement), "  ", text);
    }
    if untrue.len() > FALSE {
        let _ = writeln!(text, "  and {} more", untrue.len() - FALSE);
    }
}

/// Writes the counts of everything that is no failure.
fn counts(run: &Run, text: &mut String) {
    let mut lines = Vec::new();
    for ready in &run.implementations {
        let of = |wanted: &dyn Fn(&Verdict) -> Option<String>| {
            let names: Vec<String> = run.of(&ready.label).filter_map(|judged| wanted(&judged.verdict)).collect();
            let kinds = names.iter().collect::<std::collections::BTreeSet<_>>().len();
            (names.len(), kinds)
        };
        let known = |changed: bool| {
            of(&|verdict| match verdict {
                Verdict::Diverges { divergence, kind, .. } if (*kind == Kind::Changed) == changed => {
                    Some(divergence.clone())
                }
                _ => None,
            })
        };
        let (cases, causes) = known(false);
        let (_, unexplained) = of(&|verdict| match verdict {
            Verdict::Diverges { divergence, why, .. } if matches!(why.trim(), "" | NO_REASON) => {
                Some(divergence.clone())
            }
            _ => None,
        });
        if cases > 0 {
            let causes = count(causes, "known cause");
            let unexplained = match unexplained {
                0 => String::new(),
                number => format!(", {} without a reason yet", thousands(number as u64)),
            };
            lines.push(format!("{} differs in {} with {causes}{unexplained}", ready.label, count(cases, "case")));
        }
        let (cases, causes) = known(true);
        if cases > 0 {
            let causes = count(causes, "change");
            lines.push(format!("{} is release-specific in {}: {causes} of PyTorch", ready.label, count(cases, "case")));
        }
        let (cases, reasons) = of(&|verdict| match verdict {
            Verdict::Unsupported { what, .. } => Some(what.clone()),
            _ => None,
        });
        if cases > 0 {
            let reasons = count(reasons, "reason");
            lines.push(format!("{} does not support {}, for {reasons}", ready.label, count(cases, "case")));
        }
        let replaced = run.of(&ready.label).filter(|judged| !judged.replaced.is_empty()).count();
        if replaced > 0 {
            lines.push(format!("{} was given other dtypes in {}", ready.label, count(replaced, "case")));
        }
    }
    let unexecuted = run.totals.as_ref().map_or(0, |totals| totals.unexecuted_clauses.len());
    if unexecuted > 0 {
        let statements = thousands(unexecuted as u64);
        lines.push(format!("no implementation executed a case of {statements} statements"));
    }
    if lines.is_empty() {
        return;
    }
    text.push('\n');
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    let _ =
        writeln!(text, "{FAINT}--verbose lists them, and every statement; `broadcheck show CASE` prints one{FAINT:#}");
}
