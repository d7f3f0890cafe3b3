//! A campaign on many machines: `scale.md`.

use serde::Serialize;

use super::{template, thousands};
use crate::harness::campaign::journal::CHECKPOINT;
use crate::harness::campaign::scale::{CHECKPOINTS, FINDINGS, Scale, Written};

#[derive(Serialize)]
struct Page {
    implementation: String,
    oracles: String,
    seed: u64,
    machines: u64,
    cases: u64,
    minutes: String,
    rate: String,
    signatures: usize,
    once: usize,
    twice: usize,
    curve: Vec<Point>,
    journal: Vec<Line>,
    /// Bytes of findings in a million cases.
    per_million: u64,
    /// Bytes of checkpoints in an hour.
    per_hour: u64,
    merge: Merge,
}

#[derive(Serialize)]
struct Point {
    cases: u64,
    seen: String,
    expected: String,
    /// How long one machine takes for them, and how long all of them do.
    one: String,
    all: String,
}

#[derive(Serialize)]
struct Line {
    kind: String,
    #[serde(flatten)]
    written: Written,
}

#[derive(Serialize)]
struct Merge {
    megabytes: String,
    findings: u64,
    seconds: String,
}

/// The page.
pub fn render(scale: &Scale) -> String {
    let rate = scale.cases as f64 / scale.seconds.max(0.001);
    let time = |cases: u64, machines: u64| duration(cases as f64 / machines as f64 / rate);
    let curve = scale.curve.iter().map(|point| Point {
        cases: point.cases,
        seen: point.seen.map_or("–".to_owned(), |seen| thousands(seen as u64)),
        expected: format!("{:.1}", point.expected),
        one: time(point.cases, 1),
        all: time(point.cases, scale.merge.machines),
    });
    let written = |kind: &str| scale.journal.get(kind).copied().unwrap_or_default();
    let (findings, checkpoints) = (written(FINDINGS), written(CHECKPOINTS));
    let oracles: Vec<&str> = scale.plan.oracles.iter().map(|oracle| oracle.name()).collect();
    let page = Page {
        implementation: format!("{} {}", scale.implementation.name, scale.implementation.version),
        oracles: oracles.join(" and "),
        seed: scale.plan.seed,
        machines: scale.merge.machines,
        cases: scale.cases,
        minutes: format!("{:.1}", scale.seconds / 60.0),
        rate: format!("{rate:.0}"),
        signatures: scale.signatures,
        once: scale.once,
        twice: scale.twice,
        curve: curve.collect(),
        journal: scale.journal.iter().map(|(kind, written)| Line { kind: kind.clone(), written: *written }).collect(),
        per_million: (findings.bytes as f64 * 1e6 / scale.cases.max(1) as f64) as u64,
        per_hour: checkpoints.bytes / checkpoints.lines.max(1) * (3600 / CHECKPOINT.as_secs()),
        merge: Merge {
            megabytes: format!("{:.1}", scale.merge.bytes as f64 / 1e6),
            findings: scale.merge.findings,
            seconds: format!("{:.1}", scale.merge.seconds),
        },
    };
    template::fill("scale.md", page)
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..60.0 => format!("{seconds:.1} s"),
        ..3600.0 => format!("{:.1} min", seconds / 60.0),
        ..86400.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.1} days", seconds / 86400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_fits() {
        assert_eq!([0.5, 90.0, 7200.0, 172_800.0].map(duration), ["0.5 s", "1.5 min", "2.0 h", "2.0 days"]);
    }
}
