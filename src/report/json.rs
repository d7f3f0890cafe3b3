//! The run as one JSON document: totals, statements, and every case with what each implementation made of it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Extent, Run};
use crate::case::{Document, Source};
use crate::escape;
use crate::harness::Aspect;
use crate::harness::model::event::{Exact, ImplementationReady, Seen, Totals, Verdict};

/// The document, indented, with a newline at the end.
pub fn render(run: &Run) -> String {
    let started = run.started.as_ref();
    let report = Report {
        broadcheck: started.map(|started| started.broadcheck.as_str()).unwrap_or_default(),
        suite: started.map(|started| started.suite.as_str()).unwrap_or_default(),
        documents: started.map(|started| started.documents.as_slice()).unwrap_or_default(),
        implementations: &run.implementations,
        clauses: clauses(run),
        cases: cases(run),
        totals: run.totals.as_ref(),
        verdict: run.verdict(),
        extent: run
            .totals
            .iter()
            .flat_map(|totals| &totals.implementations)
            .map(|tally| (tally.implementation.as_str(), run.extent(tally)))
            .collect(),
    };
    let mut text = serde_json::to_string_pretty(&report).expect("a report has no maps with other keys than text");
    text.push('\n');
    escape::json(&text).into_owned()
}

#[derive(Serialize)]
struct Report<'a> {
    broadcheck: &'a str,
    suite: &'a str,
    documents: &'a [Document],
    implementations: &'a [ImplementationReady],
    clauses: Vec<Clause<'a>>,
    cases: Vec<Case<'a>>,
    totals: Option<&'a Totals>,
    /// The last line's verdict, in words.
    verdict: String,
    /// By implementation, how much of the specification was judged.
    extent: BTreeMap<&'a str, Extent>,
}

#[derive(Serialize)]
struct Clause<'a> {
    id: &'a str,
    statement: &'a str,
    sources: &'a [Source],
    /// True if a document makes the statement, and not the library's code alone.
    documented: bool,
    /// The aspects whose differences contradict it.
    about: &'a [Aspect],
    #[serde(skip_serializing_if = "Option::is_none")]
    cannot_be_shown: Option<&'a str>,
    /// For each implementation: true, false, or null where no case of it was executed.
    holds: BTreeMap<&'a str, Option<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    really: Option<&'a str>,
}

#[derive(Serialize)]
struct Case<'a> {
    id: &'a str,
    clause: &'a [String],
    source: &'a Source,
    location: &'a str,
    documented: Documented<'a>,
    implementations: BTreeMap<&'a str, Ran<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum Documented<'a> {
    /// The document and the specification say the same.
    Agrees,
    /// The document says something else.
    Contradicted { says: &'a str, why: &'a str },
}

#[derive(Serialize)]
struct Ran<'a> {
    verdict: &'a Verdict,
    /// True if what the document says holds of every value; null where nothing was observed.
    documented_holds: Option<bool>,
    outcome: &'a [Seen],
    exact: &'a [Exact],
}

fn clauses(run: &Run) -> Vec<Clause<'_>> {
    let mut truths: Vec<_> =
        run.implementations.iter().map(|ready| (ready.label.as_str(), run.truth(&ready.label))).collect();
    run.clauses
        .iter()
        .enumerate()
        .map(|(at, clause)| Clause {
            id: &clause.id,
            statement: &clause.statement,
            sources: &clause.sources,
            documented: run.is_documented(clause),
            about: &clause.about,
            cannot_be_shown: clause.cannot_be_shown.as_deref(),
            holds: truths.iter().map(|(label, truths)| (*label, truths[at].holds())).collect(),
            really: truths.iter_mut().rev().find_map(|(_, truths)| {
                let (judged, _) = truths[at].against.first()?;
                judged.why.as_deref()
            }),
        })
        .collect()
}

fn cases(run: &Run) -> Vec<Case<'_>> {
    let mut cases: Vec<Case> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for judged in &run.judged {
        let at = *places.entry(&judged.case).or_insert_with(|| {
            cases.push(Case {
                id: &judged.case,
                clause: &judged.clauses,
                source: &judged.source,
                location: &judged.location,
                documented: match (&judged.document_says, &judged.why) {
                    (Some(says), why) => Documented::Contradicted { says, why: why.as_deref().unwrap_or_default() },
                    (None, _) => Documented::Agrees,
                },
                implementations: BTreeMap::new(),
            });
            cases.len() - 1
        });
        let documented_holds = judged.documented.as_ref().map(Vec::is_empty);
        let exact = &judged.exact;
        let ran = Ran { verdict: &judged.verdict, documented_holds, outcome: &judged.outcome, exact };
        cases[at].implementations.insert(&judged.implementation, ran);
    }
    cases
}
