//! Every release compared with every other: `matrix.md`.

use serde::Serialize;
use serde_json::json;

use crate::harness::model::event::Tally;

use super::changes::Changes;
use super::history::{Cell, History, Holds};
use super::share::percent;
use super::{diff, left_out, template};

#[derive(Serialize)]
struct Row {
    label: String,
    date: String,
    missing: Option<String>,
    cases: usize,
    executed: usize,
    passed: usize,
    percent: String,
    diverging: usize,
    release_specific: usize,
    failed: usize,
    unsupported: String,
    yes: usize,
    no: usize,
    unseen: usize,
    corpus: String,
    changed: String,
    build: String,
    machine: String,
}

#[derive(Serialize)]
struct Line {
    name: String,
    cases: usize,
    cells: Vec<String>,
}

/// The report, with what changed from release to release.
pub fn render(history: &History, steps: &[Changes]) -> String {
    let columns: Vec<usize> = (0..history.columns.len()).collect();
    let changed = |at: usize| {
        let label = &history.columns[at].label;
        let step = steps.iter().find(|step| step.after == *label);
        step.map_or("–".to_owned(), |step| step.differing.to_string())
    };
    let rows: Vec<Row> = columns.iter().map(|at| row(history, *at, changed(*at))).collect();
    let (complete, clauses): (Vec<Line>, Vec<Line>) = clauses(history).into_iter().partition(is_complete);
    template::fill(
        "matrix.md",
        json!({"suite": super::short(history.suite()), "labels": short_labels(history), "rows": rows, "themes": themes(history), "clauses": clauses, "complete": complete.len(), "steps": steps.iter().map(diff::view).collect::<Vec<_>>()}),
    )
}

/// Versions of releases, names of others.
pub fn short_labels(history: &History) -> Vec<String> {
    let releases = history.releases();
    let short = |(at, column): (usize, &super::history::Column)| match releases.contains(&at) {
        true => column.version.clone(),
        false => column.label.clone(),
    };
    history.columns.iter().enumerate().map(short).collect()
}

fn row(history: &History, at: usize, changed: String) -> Row {
    let column = &history.columns[at];
    let holds = history.holds_of_documents(at);
    let of = |wanted: Holds| holds.iter().filter(|holds| **holds == wanted).count();
    let tally = column.came.as_ref().ok();
    let cases = history.cases().len();
    let executed = tally.map_or(0, Tally::executed);
    let passed = tally.map_or(0, |tally| tally.passed);
    Row {
        label: column.label.clone(),
        date: column.header.date.split('T').next().unwrap_or_default().to_owned(),
        missing: column.came.as_ref().err().cloned(),
        cases,
        executed,
        passed,
        percent: percent(passed, executed),
        diverging: tally.map_or(0, |tally| tally.diverging),
        release_specific: tally.map_or(0, |tally| tally.release_specific),
        failed: tally.map_or(0, |tally| tally.failed),
        unsupported: tally.map(left_out).unwrap_or_default(),
        yes: of(Holds::True),
        no: of(Holds::False),
        unseen: of(Holds::Unseen),
        corpus: history.corpus(at).map_or("–".to_owned(), |corpus| {
            let run = corpus.agree + corpus.known + corpus.differ;
            format!("{}/{run}, {} known, {} differ", corpus.agree, corpus.known, corpus.differ)
        }),
        changed,
        build: column.build.clone(),
        machine: format!(
            "{}, {}, {} threads",
            column.header.machine.processor, column.header.machine.system, column.header.machine.threads
        ),
    }
}

/// A row for each theme.
fn themes(history: &History) -> Vec<Line> {
    in_themes(history).into_iter().map(|(name, cases)| line(history, name, &cases)).collect()
}

/// The ids of cases by theme, which is what stands before their `/`.
pub fn in_themes(history: &History) -> Vec<(&str, Vec<&str>)> {
    let mut themes: Vec<(&str, Vec<&str>)> = Vec::new();
    for case in history.cases() {
        let theme = case.id.split('/').next().unwrap_or_default();
        match themes.iter_mut().find(|(name, _)| *name == theme) {
            Some((_, cases)) => cases.push(&case.id),
            None => themes.push((theme, vec![&case.id])),
        }
    }
    themes
}

fn clauses(history: &History) -> Vec<Line> {
    let each = history.clauses().iter();
    each.map(|clause| {
        let cases: Vec<&str> = clause.cases.iter().map(String::as_str).collect();
        line(history, &clause.id, &cases)
    })
    .collect()
}

fn line(history: &History, name: &str, cases: &[&str]) -> Line {
    let cells = (0..history.columns.len()).map(|at| {
        if history.columns[at].came.is_err() {
            return "no data".to_owned();
        }
        let mut cell = Cell { cases: cases.len(), ..Cell::default() };
        for judged in cases.iter().filter_map(|case| history.judged(at, case)) {
            cell.add(judged);
        }
        text_of(&cell)
    });
    Line { name: name.to_owned(), cases: cases.len(), cells: cells.collect() }
}

fn text_of(cell: &Cell) -> String {
    let mut text = match cell.executed {
        executed if executed == cell.cases && cell.passed == executed => return "✓".to_owned(),
        0 => return "·".to_owned(),
        executed => format!("{}/{executed}", cell.passed),
    };
    if cell.executed < cell.cases {
        text += &format!(" of {}", cell.cases);
    }
    if cell.failed > 0 {
        text += &format!(" ✗{}", cell.failed);
    }
    text
}

fn is_complete(line: &Line) -> bool {
    line.cells.iter().all(|cell| cell == "✓" || cell == "no data")
}
