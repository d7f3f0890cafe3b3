//! Campaigns over small worlds: `exhaustive.md`.

use serde::Serialize;

use super::template;
use crate::harness::campaign::counts::Checked;
use crate::harness::campaign::summary::{Line, Summary};

use crate::generate::bounded_exhaustive::WHY;

#[derive(Serialize)]
struct Page {
    why: &'static str,
    worlds: Vec<World>,
}

/// The results of a world.
#[derive(Serialize)]
struct World {
    implementation: String,
    broadcheck: String,
    /// Its bounds.
    bounds: String,
    cases: u64,
    /// The number of cases that it has.
    of: u64,
    minutes: String,
    all: Row,
    rows: Vec<Row>,
    findings: Vec<Finding>,
}

/// One call in all cases.
#[derive(Serialize)]
struct Row {
    call: String,
    cases: u64,
    #[serde(flatten)]
    checked: Checked,
}

#[derive(Serialize)]
struct Finding {
    signature: String,
    known: Option<String>,
    count: usize,
}

/// The page of the worlds that were run, those of the most dimensions first.
pub fn render(summaries: &[Summary]) -> String {
    let mut summaries: Vec<&Summary> = summaries.iter().collect();
    let rank = |summary: &&Summary| summary.configuration.world.as_ref().map_or(0, |bounds| bounds.rank);
    summaries.sort_by_key(|summary| std::cmp::Reverse(rank(summary)));
    template::fill("exhaustive.md", Page { why: WHY, worlds: summaries.into_iter().map(world).collect() })
}

fn world(summary: &Summary) -> World {
    let row = |call: &str, checked: Checked| Row { call: call.to_owned(), cases: checked.cases(), checked };
    let mut all = Checked::default();
    summary.calls.values().for_each(|checked| all += *checked);
    let configuration = &summary.configuration;
    World {
        implementation: format!("{} {}", summary.implementation.name, summary.implementation.version),
        broadcheck: summary.broadcheck.clone(),
        bounds: configuration.world.as_ref().map(ToString::to_string).unwrap_or_default(),
        cases: summary.cases,
        of: configuration.cases.unwrap_or(summary.cases),
        minutes: format!("{:.1}", summary.seconds / 60.0),
        all: row("all", all),
        rows: summary.calls.iter().map(|(call, checked)| row(call, *checked)).collect(),
        findings: summary.findings.iter().map(finding).collect(),
    }
}

fn finding(line: &Line) -> Finding {
    Finding { signature: line.signature.to_string(), known: line.known.clone(), count: line.count }
}
