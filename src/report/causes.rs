//! The root causes of libtorch's known differences: `causes.md`.

use std::collections::BTreeSet;

use serde::Serialize;

use super::confirmed::Confirmed;
use super::history::History;
use super::template;
use crate::harness::model::divergence::Divergence;
use crate::harness::model::event::Kind;
use crate::harness::model::finding::Oracle;

#[derive(Serialize)]
struct Page {
    /// The releases, oldest first.
    releases: Vec<String>,
    kinds: Vec<Group>,
}

/// The causes of one kind.
#[derive(Serialize)]
struct Group {
    kind: Kind,
    causes: Vec<Cause>,
}

#[derive(Serialize)]
struct Cause {
    id: String,
    operations: String,
    why: String,
    since: String,
    until: String,
    word: Vec<String>,
    link: String,
    /// Folders of findings, and the first of the cases.
    findings: Vec<String>,
    case: Option<String>,
    /// The releases in whose Python it was shown, and not shown.
    python: String,
}

/// The page of all root causes, by kind, each with the releases of the history that have it, and with those whose Python
/// has shown it.
pub fn render(history: &History, divergences: &[Divergence], confirmed: &Confirmed) -> String {
    let releases: Vec<String> = history.releases().into_iter().map(|at| history.columns[at].version.clone()).collect();
    let kinds = [Kind::Bug, Kind::Documentation, Kind::Unsupported, Kind::ByDesign, Kind::Changed].map(|kind| Group {
        kind,
        causes: divergences
            .iter()
            .filter(|divergence| divergence.kind == kind)
            .map(|divergence| cause(divergence, &releases, history, confirmed))
            .collect(),
    });
    let kinds = kinds.into_iter().filter(|group| !group.causes.is_empty()).collect();
    template::fill("causes.md", Page { releases, kinds })
}

fn cause(divergence: &Divergence, releases: &[String], history: &History, confirmed: &Confirmed) -> Cause {
    let contained = |version: &&String| divergence.releases.iter().any(|range| range.contain(version));
    let (first, last) = (releases.iter().find(contained), releases.iter().rfind(contained));
    // A release that is not in the history is named as the entry has it.
    let given = || divergence.releases.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
    let since = match first {
        Some(first) if Some(first) == releases.first() => format!("{first} or before"),
        Some(first) => first.clone(),
        None => given(),
    };
    let until = match last {
        Some(last) if Some(last) == releases.last() => "–".to_owned(),
        Some(last) => last.clone(),
        None => given(),
    };
    Cause {
        id: divergence.id.clone(),
        operations: operations(divergence),
        why: divergence.why.clone(),
        since,
        until,
        word: words(divergence, history),
        link: divergence.link.clone(),
        findings: divergence.findings.clone(),
        python: confirmed.cell(&divergence.id, releases),
        case: divergence.witnesses.first().map(|witness| witness.case.clone()),
    }
}

/// The operations that show it, as the conditions of the entry name them, or its signatures.
fn operations(divergence: &Divergence) -> String {
    let mut names = BTreeSet::new();
    for applies in &divergence.applies {
        names.extend(applies.ops.iter().chain(&applies.conditions.beside).map(|op| op.0.name().to_owned()));
    }
    if names.len() > 1 {
        names.retain(|name| name != "backward" && name != "grad");
    }
    if names.is_empty() {
        let calls = divergence.signature.iter().map(|pattern| pattern.call.replace('*', ""));
        names.extend(calls.filter(|call| !call.trim().is_empty()));
    }
    if names.is_empty() { "any".to_owned() } else { names.into_iter().collect::<Vec<_>>().join(", ") }
}

/// What says that the implementation is wrong: the authority that mathematics names, a relation of the definition, the
/// statements that the cases test, and the reference alone where there is no other.
fn words(divergence: &Divergence, history: &History) -> Vec<String> {
    let mut words = BTreeSet::new();
    for pattern in &divergence.signature {
        let relation = pattern.text.split(':').next().unwrap_or_default().replace('*', "");
        match pattern.oracle {
            Oracle::Mathematics => drop(words.insert(pattern.text.replace('*', "").trim().to_owned())),
            Oracle::Definition if !relation.is_empty() => drop(words.insert(format!("the relation {relation}"))),
            Oracle::Definition => drop(words.insert("the definition".to_owned())),
            Oracle::Reference | Oracle::Release => {}
        }
    }
    let tested = |id: &str| history.cases().iter().find(|case| case.id == id);
    let clauses =
        divergence.witnesses.iter().filter_map(|witness| tested(&witness.case)).flat_map(|case| &case.clauses);
    words.extend(clauses.map(|clause| format!("the statement {clause}")));
    if words.is_empty() { vec!["the reference".to_owned()] } else { words.into_iter().collect() }
}
