//! The newest release that changed something, for the page of all results: what differs from the release before, by its
//! reason.

use serde::Serialize;

use super::changes::{Change, Changes, Group};
use super::diff;
use super::history::{History, Holds};

/// The number of characters of an outcome that are shown.
const LONGEST: usize = 160;

/// What changed in a release.
#[derive(Debug, Serialize)]
pub struct Newest {
    /// Newer releases, in which nothing changed.
    quiet: Vec<String>,
    /// The release.
    release: String,
    /// The release before.
    before: String,
    /// The changes in numbers.
    summary: String,
    /// The changes by reason, the gravest first.
    reasons: Vec<Reason>,
    /// Statements that became true or false.
    turned: Vec<Turned>,
}

/// Changes of one kind for one reason.
#[derive(Debug, Serialize)]
struct Reason {
    kind: &'static str,
    /// The operations that are called.
    calls: Vec<String>,
    /// The cases in which it is seen.
    cases: usize,
    /// The reason, where it is known.
    why: Option<String>,
    /// A case, with its outcome in both releases.
    case: String,
    before: String,
    after: String,
}

/// A statement of which something else is true.
#[derive(Debug, Serialize)]
struct Turned {
    id: String,
    statement: String,
    before: Holds,
    after: Holds,
}

/// Returns the newest release that changed something; `None` if no release did, or there is only one.
pub fn newest(history: &History, steps: &[Changes]) -> Option<Newest> {
    let changed = |step: &&Changes| step.differing + step.generated_differing > 0;
    let step = steps.iter().rev().find(changed)?;
    let quiet = steps.iter().rev().take_while(|step| !changed(step)).map(|step| step.after.clone()).collect();
    Some(Newest {
        quiet,
        release: step.after.clone(),
        before: step.before.clone(),
        summary: diff::summary(step),
        reasons: reasons(&step.groups),
        turned: turned(history, step),
    })
}

/// Puts groups of one kind and one reason together. Groups are sorted by kind, the gravest first.
fn reasons(groups: &[Group]) -> Vec<Reason> {
    let mut reasons: Vec<(Reason, Vec<&str>)> = Vec::new();
    for group in groups {
        let Some(first) = group.changes.first() else { continue };
        let kind = group.kind.name();
        let known = reasons.iter_mut().find(|(one, _)| one.kind == kind && one.why.is_some() && one.why == first.why);
        let (reason, cases) = match known {
            Some(known) => known,
            None => {
                reasons.push((Reason::of(kind, first), Vec::new()));
                reasons.last_mut().expect("it was just added")
            }
        };
        if !reason.calls.contains(&group.call) {
            reason.calls.push(group.call.clone());
        }
        cases.extend(group.changes.iter().map(|change| change.case.as_str()));
    }
    let counted = |(reason, mut cases): (Reason, Vec<&str>)| {
        cases.sort_unstable();
        cases.dedup();
        Reason { cases: cases.len(), ..reason }
    };
    reasons.into_iter().map(counted).collect()
}

impl Reason {
    fn of(kind: &'static str, change: &Change) -> Reason {
        let cut = |text: &str| match text.char_indices().nth(LONGEST) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text.to_owned(),
        };
        Reason {
            kind,
            calls: Vec::new(),
            cases: 0,
            why: change.why.as_deref().map(|why| why.trim().to_owned()),
            case: change.case.clone(),
            before: cut(&change.before),
            after: cut(&change.after),
        }
    }
}

fn turned(history: &History, step: &Changes) -> Vec<Turned> {
    let holds = |label: &str| {
        let column = history.columns.iter().position(|column| column.label == label);
        column.map(|column| history.holds(column)).unwrap_or_default()
    };
    let both = holds(&step.before).into_iter().zip(holds(&step.after));
    let shown = |holds: Holds| matches!(holds, Holds::True | Holds::False);
    let each = history.clauses().iter().zip(both);
    let turned = each.filter(|(_, (before, after))| before != after && shown(*before) && shown(*after));
    turned
        .map(|(clause, (before, after))| Turned {
            id: clause.id.clone(),
            statement: clause.statement.trim().to_owned(),
            before,
            after,
        })
        .collect()
}
