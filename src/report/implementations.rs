//! Other libraries compared with libtorch: `implementations.md`, and the same table in `index.html`.

use serde::Serialize;

use super::history::{Cell, Column, History, LIBRARY};
use super::matrix::in_themes;
use super::share::{self, percent};
use super::{left_out, template};
use crate::harness::campaign::row::CampaignRow;
use crate::harness::model::event::{CaseStated, Judged, Verdict};

/// The results of the libraries.
#[derive(Clone, Debug, Serialize)]
pub struct Others {
    suite: String,
    cases: usize,
    labels: Vec<String>,
    rows: Vec<Row>,
    themes: Vec<Theme>,
    lists: Vec<List>,
}

/// A library in numbers.
#[derive(Clone, Debug, Serialize)]
struct Row {
    label: String,
    date: String,
    missing: Option<String>,
    executed: usize,
    passed: usize,
    percent: String,
    /// The step of the scale that the share is on.
    step: Option<usize>,
    diverging: usize,
    failed: usize,
    unsupported: String,
    /// Cases that ran in other dtypes than their own, and which.
    replaced: usize,
    dtypes: String,
    build: String,
}

/// The cases of a theme: in each library, the share that passed of those that it executed.
#[derive(Clone, Debug, Serialize)]
pub struct Theme {
    name: String,
    cases: usize,
    cells: Vec<Share>,
}

#[derive(Clone, Debug, Serialize)]
struct Share {
    percent: String,
    step: Option<usize>,
    passed: usize,
    executed: usize,
}

impl Others {
    /// Returns the number of libraries.
    pub fn libraries(&self) -> usize {
        self.lists.len() + self.rows.iter().filter(|row| row.missing.is_some()).count()
    }

    /// Returns the names of the libraries, in the order of the shares of a theme.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Returns the shares of each theme.
    pub fn themes(&self) -> &[Theme] {
        &self.themes
    }

    /// Returns the known differences of each library. A page has the programs already, each with its case.
    pub fn lists_without_programs(&self) -> Vec<List> {
        let mut lists = self.lists.clone();
        lists.iter_mut().flat_map(|list| &mut list.known).for_each(|known| known.program.clear());
        lists
    }
}

/// The known divergences of a library, bugs first, then those of most cases.
#[derive(Clone, Debug, Serialize)]
pub struct List {
    label: String,
    name: String,
    known: Vec<Known>,
}

#[derive(Clone, Debug, Serialize)]
struct Known {
    id: String,
    kind: String,
    why: String,
    cases: usize,
    /// The smallest of them.
    case: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    program: String,
    expected: String,
    observed: String,
}

/// The libraries that are neither libtorch nor the reference; `None` if there is none. The newest libtorch is shown
/// next to them.
pub fn others(history: &History) -> Option<Others> {
    let newest = *history.releases().last()?;
    let label = history.columns[newest].label.clone();
    let history = history.part(|column| is_other(column) || column.label == label);
    if !history.columns.iter().any(is_other) {
        return None;
    }
    let columns = 0..history.columns.len();
    Some(Others {
        suite: super::short(history.suite()).to_owned(),
        cases: history.cases().len(),
        labels: history.columns.iter().map(|column| column.label.clone()).collect(),
        rows: columns.clone().map(|at| row(&history, at)).collect(),
        themes: in_themes(&history).into_iter().map(|(name, cases)| theme(&history, name, &cases)).collect(),
        // The differences of a library that was not run are unknown.
        lists: columns
            .filter(|at| is_other(&history.columns[*at]) && history.columns[*at].came.is_ok())
            .map(|at| list(&history, at))
            .collect(),
    })
}

/// Returns whether a column is neither a release of libtorch nor the reference.
pub fn is_other(column: &Column) -> bool {
    ![LIBRARY, "reference"].contains(&column.name.as_str())
}

/// The report.
pub fn render(others: &Others, campaigns: &[CampaignRow]) -> String {
    #[derive(Serialize)]
    struct Page<'a> {
        #[serde(flatten)]
        others: &'a Others,
        campaigns: &'a [CampaignRow],
        /// Those of which the cases were run and no campaign was.
        without: Vec<&'a str>,
    }
    let has_none = |list: &&List| campaigns.iter().all(|row| row.implementation.name != list.name);
    let without = others.lists.iter().filter(has_none).map(|list| list.label.as_str()).collect();
    template::fill("implementations.md", Page { others, campaigns, without })
}

fn row(history: &History, at: usize) -> Row {
    let column = &history.columns[at];
    let tally = column.came.clone().unwrap_or_default();
    let executed = tally.executed();
    let judged = || history.cases().iter().filter_map(|case| history.judged(at, &case.id));
    let mut pairs: Vec<String> =
        judged().flat_map(|judged| &judged.replaced).map(|pair| format!("{} for {}", pair.to, pair.from)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    Row {
        label: column.label.clone(),
        date: column.header.date.split('T').next().unwrap_or_default().to_owned(),
        missing: column.came.as_ref().err().cloned(),
        executed,
        passed: tally.passed,
        percent: percent(tally.passed, executed),
        step: share::step(tally.passed, executed),
        diverging: tally.diverging + tally.release_specific,
        failed: tally.failed,
        unsupported: left_out(&tally),
        replaced: judged().filter(|judged| !judged.replaced.is_empty()).count(),
        dtypes: pairs.join(", "),
        build: column.build.clone(),
    }
}

fn theme(history: &History, name: &str, cases: &[&str]) -> Theme {
    let share = |at: usize| {
        let mut cell = Cell::default();
        cases.iter().filter_map(|case| history.judged(at, case)).for_each(|judged| cell.add(judged));
        Share {
            percent: percent(cell.passed, cell.executed),
            step: share::step(cell.passed, cell.executed),
            passed: cell.passed,
            executed: cell.executed,
        }
    };
    Theme { name: name.to_owned(), cases: cases.len(), cells: (0..history.columns.len()).map(share).collect() }
}

fn list(history: &History, at: usize) -> List {
    let mut known: Vec<(Known, usize)> = Vec::new();
    for case in history.cases() {
        let Some(judged) = history.judged(at, &case.id) else { continue };
        let Verdict::Diverges { divergence, kind, why, .. } = &judged.verdict else { continue };
        let size = case.program.len();
        let slot = match known.iter().position(|(one, _)| one.id == *divergence) {
            Some(place) => place,
            None => {
                let kind = serde_json::to_value(kind).ok().and_then(|kind| kind.as_str().map(str::to_owned));
                let (kind, why) = (kind.unwrap_or_default(), why.clone());
                known.push((Known { why, ..Known::of(divergence, kind) }, usize::MAX));
                known.len() - 1
            }
        };
        let (one, smallest) = &mut known[slot];
        one.cases += 1;
        if size < *smallest {
            *smallest = size;
            one.show(case, judged);
        }
    }
    known.sort_by_key(|(one, _)| (one.kind != "bug", std::cmp::Reverse(one.cases)));
    let column = &history.columns[at];
    let known = known.into_iter().map(|(one, _)| one).collect();
    List { label: column.label.clone(), name: column.name.clone(), known }
}

impl Known {
    fn of(id: &str, kind: String) -> Known {
        let nothing = String::new;
        Known {
            id: id.to_owned(),
            kind,
            why: nothing(),
            cases: 0,
            case: nothing(),
            program: nothing(),
            expected: nothing(),
            observed: nothing(),
        }
    }

    /// Takes a case for the example.
    fn show(&mut self, case: &CaseStated, judged: &Judged) {
        self.case.clone_from(&case.id);
        self.program = case.program.lines().collect::<Vec<_>>().join("; ");
        let Verdict::Diverges { differences, broken, control, .. } = &judged.verdict else { return };
        // The aspect that differs, and nothing else.
        (self.expected, self.observed) = match (differences.first(), broken, control) {
            (Some(one), ..) => {
                let side = |text: &str| format!("{} of {}: {text}", one.aspect.name(), one.value);
                (side(&one.expected), side(&one.observed))
            }
            (None, Some(fault), _) => ("an answer".to_owned(), fault.clone()),
            (None, None, Some(control)) => (format!("{control} is accepted"), "it is not".to_owned()),
            (None, None, None) => (String::new(), String::new()),
        };
    }
}
