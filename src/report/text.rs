//! The whole run as text for people: a table of clauses, the truth table of the documents, every failure, the totals. The
//! same in brief is `brief`.

use std::collections::BTreeMap;
use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::{Run, Truth, count, is_failure, repeat_command};
use crate::harness::model::event::{Agreement, Judged, Verdict};

pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const HEAD: Style = Style::new().bold();

/// The least width of a column of the table of clauses.
const CELL: usize = 15;

/// The greatest width of prose.
pub(super) const WIDTH: usize = 110;

/// The whole report, with colours; print it through something that strips them where they do not belong.
pub fn render(run: &Run) -> String {
    let mut text = String::new();
    heading(run, &mut text);
    clause_table(run, &mut text);
    unsupported(run, &mut text);
    replaced(run, &mut text);
    diverging(run, &mut text);
    truth_table(run, &mut text);
    failures(run, &mut text);
    generated(run, &mut text);
    totals(run, &mut text);
    text
}

pub(super) fn heading(run: &Run, text: &mut String) {
    let Some(started) = &run.started else { return };
    let cases = if started.cases == started.of {
        count(started.cases, "case")
    } else {
        format!("{} of {} cases", started.cases, started.of)
    };
    let suite = super::short(&started.suite);
    let _ = writeln!(
        text,
        "broadcheck {} · {cases}, {} · specification {suite}",
        started.broadcheck,
        count(run.clauses.len(), "clause")
    );
}

fn clause_table(run: &Run, text: &mut String) {
    let labels: Vec<&str> = run.implementations.iter().map(|ready| ready.label.as_str()).collect();
    let width = run.clauses.iter().map(|clause| clause.id.len()).max().unwrap_or(0).max("clause".len());
    let _ = write!(text, "\n{HEAD}{:width$}", "clause");
    for label in &labels {
        let _ = write!(text, "  {label:>CELL$}");
    }
    let _ = writeln!(text, "{HEAD:#}   {FAINT}cases executed/total{FAINT:#}");
    let mut judged: BTreeMap<(&str, &str), &Judged> = BTreeMap::new();
    for one in &run.judged {
        judged.insert((&one.implementation, &one.case), one);
    }
    for clause in &run.clauses {
        let _ = write!(text, "{:width$}", clause.id);
        for label in &labels {
            let cell_width = label.chars().count().max(CELL);
            let cases = clause.cases.iter().filter_map(|case| judged.get(&(*label, case.as_str())));
            let (mut executed, mut failed) = (0, 0);
            for one in cases {
                executed += usize::from(one.verdict.executed());
                failed += usize::from(is_failure(one));
            }
            let cell = match failed {
                0 => format!("{executed}/{}", clause.cases.len()),
                failed => format!("✗{failed} {executed}/{}", clause.cases.len()),
            };
            let style = match (failed, executed) {
                (0, 0) => FAINT,
                (0, _) => GOOD,
                _ => BAD,
            };
            let _ = write!(text, "  {style}{cell:>cell_width$}{style:#}");
        }
        text.push('\n');
    }
}

fn unsupported(run: &Run, text: &mut String) {
    for ready in &run.implementations {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for judged in run.of(&ready.label) {
            if let Verdict::Unsupported { what, .. } = &judged.verdict {
                reasons.entry(what).or_default().push(&judged.case);
            }
        }
        for (what, cases) in reasons {
            let _ = writeln!(
                text,
                "\n{HEAD}{} does not support {what}{HEAD:#}: {}",
                ready.label,
                count(cases.len(), "case")
            );
            wrap(&cases.join(", "), "  ", text);
        }
    }
}

fn replaced(run: &Run, text: &mut String) {
    for ready in &run.implementations {
        let mut instead: BTreeMap<String, usize> = BTreeMap::new();
        for judged in run.of(&ready.label).filter(|judged| !judged.replaced.is_empty()) {
            let pairs = judged.replaced.iter().map(|pair| format!("{} for {}", pair.to, pair.from));
            *instead.entry(pairs.collect::<Vec<_>>().join(", ")).or_default() += 1;
        }
        for (pairs, cases) in instead {
            let _ = writeln!(text, "\n{HEAD}{} was given {pairs}{HEAD:#}: {}", ready.label, count(cases, "case"));
        }
    }
}

fn diverging(run: &Run, text: &mut String) {
    for ready in &run.implementations {
        let mut known: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for judged in run.of(&ready.label) {
            if let Verdict::Diverges { divergence, kind, .. } = &judged.verdict {
                known.entry((divergence, kind.words())).or_default().push(&judged.case);
            }
        }
        for ((divergence, words), cases) in known {
            let _ = writeln!(
                text,
                "\n{HEAD}{} is {words}: {divergence}{HEAD:#}: {}",
                ready.label,
                count(cases.len(), "case")
            );
            wrap(&cases.join(", "), "  ", text);
        }
    }
}

pub(super) fn truth_table(run: &Run, text: &mut String) {
    let Some(witness) = run.witness() else { return };
    let truths = run.truth(&witness.label);
    let (documented, code): (Vec<Truth>, Vec<Truth>) =
        truths.into_iter().partition(|truth| run.is_documented(truth.clause));
    for (title, truths) in [
        ("what the documents say, and what holds in", documented),
        ("what libtorch's own code does, and what holds in", code),
    ] {
        if !truths.is_empty() {
            let _ = writeln!(text, "\n{HEAD}{title} {}{HEAD:#}", witness.label);
        }
        statements(run, &truths, text);
    }
}

fn statements(run: &Run, truths: &[Truth], text: &mut String) {
    for truth in truths {
        let documents = truth.documents().join(", ");
        let (word, style) = match truth.holds() {
            _ if truth.clause.cannot_be_shown.is_some() => ("–", FAINT),
            Some(true) => ("true", GOOD),
            Some(false) => ("false", BAD),
            None => ("unseen", FAINT),
        };
        let _ = write!(text, "{style}{word:<7}{style:#}");
        // The first line is on the line of the label, the others below it.
        let mut statement = String::new();
        wrap(&format!("{} ({documents})", truth.clause.statement), "       ", &mut statement);
        text.push_str(statement.trim_start());
        if let (Some(false), Some((why, case))) = (truth.holds(), truth.really()) {
            wrap(&format!("really: {why} [{case}]"), "       ", text);
        }
        match &truth.clause.cannot_be_shown {
            Some(reason) => wrap(&format!("cannot be shown: {}", reason.trim()), "       ", text),
            None if truth.holds().is_none() => reference_instead(run, truth, text),
            None => {}
        }
    }
}

/// For a statement that the witness cannot show: what the reference makes of it.
fn reference_instead(run: &Run, truth: &Truth, text: &mut String) {
    let Some(reference) = run.implementations.iter().find(|ready| ready.name == "reference") else { return };
    let truths = run.truth(&reference.label);
    let Some(modelled) = truths.iter().find(|other| other.clause.id == truth.clause.id) else { return };
    let says = match modelled.holds() {
        Some(true) => "true in the reference, which models PyTorch's Python front end".to_owned(),
        Some(false) => {
            let (why, case) = modelled.really().unwrap_or(("", ""));
            format!("false in the reference, which models PyTorch's Python front end: {why} [{case}]")
        }
        None => return,
    };
    wrap(&says, "       ", text);
}

fn failures(run: &Run, text: &mut String) {
    for judged in run.judged.iter().filter(|judged| is_failure(judged)) {
        let _ = writeln!(text, "\n{BAD}{}{BAD:#} {} on {}", judged.verdict.name(), judged.case, judged.implementation);
        let _ = writeln!(text, "  {FAINT}{}{FAINT:#}", judged.location);
        verdict_of(judged, text);
        for seen in judged.outcome.iter().filter(|seen| seen.origin.is_some()) {
            let _ = writeln!(
                text,
                "  {FAINT}{} was raised by {}{FAINT:#}",
                seen.value,
                seen.origin.as_deref().unwrap_or_default()
            );
        }
        let _ = writeln!(text, "  repeat: {}", repeat_command(judged));
    }
}

/// Writes what differs in one case, or how the implementation broke.
pub(super) fn verdict_of(judged: &Judged, text: &mut String) {
    match &judged.verdict {
        Verdict::Failed { differences } => {
            for difference in differences {
                let _ = writeln!(text, "  {}: {}", difference.value, difference.aspect.name());
                let by = &difference.by;
                let _ = writeln!(text, "    expected {GOOD}{}{GOOD:#} {FAINT}({by}){FAINT:#}", difference.expected);
                let _ = writeln!(text, "    observed {BAD}{}{BAD:#}", difference.observed);
            }
        }
        Verdict::Uncontrolled { control } => {
            let _ = writeln!(
                text,
                "  rejected as expected, but the accepting case {control} does not pass: it counts for nothing"
            );
        }
        Verdict::Broken { fault, stderr } => {
            let _ = writeln!(text, "  {fault}");
            for line in stderr.lines() {
                let _ = writeln!(text, "  | {line}");
            }
        }
        Verdict::Passed | Verdict::Diverges { .. } | Verdict::Unsupported { .. } | Verdict::NotJudged { .. } => {}
    }
}

/// Generated programs on which an implementation differs from the reference.
fn generated(run: &Run, text: &mut String) {
    for (label, generated) in &run.generated {
        let (what, yaml) = match &generated.verdict {
            Agreement::Differs { signature, yaml, .. } => (signature, yaml),
            Agreement::Broken { fault, yaml } => (fault, yaml),
            Agreement::Agrees | Agreement::Known { .. } | Agreement::Unsupported { .. } => continue,
        };
        let _ = writeln!(text, "\n{BAD}differs{BAD:#} generated program {} on {label}\n  {what}", generated.program);
        for line in yaml.lines() {
            let _ = writeln!(text, "  {FAINT}{line}{FAINT:#}");
        }
    }
}

pub(super) fn totals(run: &Run, text: &mut String) {
    let Some(totals) = &run.totals else { return };
    text.push('\n');
    for clause in &totals.unexecuted_clauses {
        let style = if totals.conforms { FAINT } else { BAD };
        let _ = writeln!(text, "{style}no implementation executed a case of {clause}{style:#}");
    }
    verdict(run, text);
}

/// Writes what fell short, and the line with the totals and the verdict.
pub(super) fn verdict(run: &Run, text: &mut String) {
    let Some(totals) = &run.totals else { return };
    for shortfall in &totals.shortfalls {
        let _ = writeln!(text, "{BAD}{shortfall}{BAD:#}");
    }
    for tally in &totals.implementations {
        if let Some(how) = &tally.ended_badly {
            let _ = writeln!(text, "{BAD}{}: {how}{BAD:#}", tally.implementation);
        }
    }
    let mut parts: Vec<String> = totals
        .implementations
        .iter()
        .map(|tally| {
            let mut part = format!("{}: {} passed", tally.implementation, tally.passed);
            if tally.failed > 0 || tally.passed == 0 {
                let _ = write!(part, ", {} failed", tally.failed);
            }
            if tally.diverging > 0 {
                let _ = write!(part, ", {} known to differ", tally.diverging);
            }
            for (count, word) in [
                (tally.release_specific, "release-specific"),
                (tally.unsupported, "unsupported"),
                (tally.not_judged, "not judged (it reports no elements)"),
                (tally.not_run, "not run"),
            ] {
                if count > 0 {
                    let _ = write!(part, ", {count} {word}");
                }
            }
            if let Some(corpus) = &tally.corpus {
                let programs = corpus.agree + corpus.known + corpus.differ;
                let _ = write!(part, ", {} of {programs} generated programs differ", corpus.differ);
                if corpus.unsupported > 0 {
                    let _ = write!(part, " and {} are unsupported", corpus.unsupported);
                }
            }
            part
        })
        .collect();
    if let Some(witness) = run.witness() {
        let truths = run.truth(&witness.label);
        let documented = truths.iter().filter(|truth| run.is_documented(truth.clause));
        let (shown, not_shown): (Vec<_>, Vec<_>) =
            documented.partition(|truth| truth.holds().is_some() || truth.clause.cannot_be_shown.is_none());
        let with = |holds| shown.iter().filter(|truth| truth.holds() == holds).count();
        let several = if totals.implementations.len() > 1 { format!(" in {}", witness.label) } else { String::new() };
        let mut part =
            format!("documented statements{several}: {} true, {} false", with(Some(true)), with(Some(false)));
        for (count, word) in [(with(None), "unseen"), (not_shown.len(), "that cannot be shown")] {
            if count > 0 {
                let _ = write!(part, ", {count} {word}");
            }
        }
        parts.push(part);
    }
    let style = if totals.conforms { GOOD } else { BAD };
    let verdict = format!("{style}{}{style:#}", run.verdict());
    let _ = writeln!(text, "{} · {verdict}", parts.join(" · "));
}

/// Prose broken into lines.
pub(super) fn wrap(prose: &str, indent: &str, text: &mut String) {
    let mut line = String::from(indent);
    for word in prose.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH && line.len() > indent.len() {
            let _ = writeln!(text, "{}", line.trim_end());
            line = String::from(indent);
        }
        line.push_str(word);
        line.push(' ');
    }
    let _ = writeln!(text, "{}", line.trim_end());
}
