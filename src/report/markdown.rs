//! A run as Markdown that fits a job page or a comment on a pull request.

use serde_json::{Value, json};

use super::{Run, is_failure, repeat_command, template};
use crate::harness::model::event::Verdict;

/// The number of failures that are written out.
const SHOWN: usize = 20;

/// The summary.
pub fn render(run: &Run) -> String {
    let failures: Vec<_> = run.judged.iter().filter(|judged| is_failure(judged)).collect();
    let shown: Vec<Value> = failures
        .iter()
        .take(SHOWN)
        .map(|judged| {
            let lines: Vec<(String, String, String)> = match &judged.verdict {
                Verdict::Failed { differences } => differences
                    .iter()
                    .map(|one| {
                        (format!("{} {}", one.value, one.aspect.name()), one.expected.clone(), one.observed.clone())
                    })
                    .collect(),
                Verdict::Uncontrolled { control } => {
                    vec![("control".to_owned(), format!("{control} passes"), "it does not".to_owned())]
                }
                Verdict::Broken { fault, .. } => vec![("run".to_owned(), "an answer".to_owned(), fault.clone())],
                Verdict::Passed
                | Verdict::Diverges { .. }
                | Verdict::Unsupported { .. }
                | Verdict::NotJudged { .. } => Vec::new(),
            };
            json!({"case": judged.case, "implementation": judged.implementation, "location": judged.location, "lines": lines, "repeat": repeat_command(judged), "verdict": judged.verdict.name()})
        })
        .collect();
    let totals = run.totals.clone().unwrap_or_default();
    let mut truths = run.witness().map(|witness| run.truth(&witness.label)).unwrap_or_default();
    truths.retain(|truth| run.is_documented(truth.clause));
    let count = |holds| truths.iter().filter(|truth| truth.holds() == holds).count();
    template::fill(
        "run.md",
        json!({"started": run.started, "totals": totals, "shown": shown, "failures": failures.len(), "clauses": truths.len(), "verdict": run.verdict(), "ended": run.totals.is_some(), "absent": run.absent, "witness": run.witness().map(|witness| witness.label.clone()), "yes": count(Some(true)), "no": count(Some(false)), "unseen": count(None)}),
    )
}
