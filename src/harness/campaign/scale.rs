//! What a campaign comes to on many machines, out of the journal of one.
//!
//! How many signatures so many cases have follows from how often each was found: those that were found once or twice say how
//! many are still out there (Chao 1984; Chao et al. 2014, "Rarefaction and extrapolation with Hill numbers"). What a machine
//! writes is counted in its journal, and what a merge costs is measured on as many journals of that size.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::cases::Shard;
use super::journal::{self};
use super::summary::Summary;
use super::tally::{Found, Tally};
use crate::campaign::record::{Identity, Plan, Record};

/// What lines of findings are called.
pub const FINDINGS: &str = "findings";

/// What lines of checkpoints are called.
pub const CHECKPOINTS: &str = "checkpoints";

/// What was measured on one machine, and what follows for many.
#[derive(Clone, Debug, Serialize)]
pub struct Scale {
    /// What was tested.
    pub implementation: Identity,
    /// What was asked for.
    pub plan: Plan,
    /// Cases that are done.
    pub cases: u64,
    /// The seconds that they took.
    pub seconds: f64,
    /// Signatures that were found, known ones too.
    pub signatures: usize,
    /// Those that were found in one case only, and in two.
    pub once: usize,
    pub twice: usize,
    /// The signatures of so many cases.
    pub curve: Vec<Point>,
    /// What the journal is made of, by the kind of its lines.
    pub journal: BTreeMap<String, Written>,
    /// What the merge cost.
    pub merge: Merge,
}

/// So many cases, and the signatures in them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The cases.
    pub cases: u64,
    /// How many signatures the first so many cases had; `None` beyond what was run.
    pub seen: Option<usize>,
    /// How many any so many cases have, as expected.
    pub expected: f64,
}

/// Lines of a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    pub lines: u64,
    pub bytes: u64,
}

/// As many journals as there are machines, put together.
#[derive(Clone, Debug, Serialize)]
pub struct Merge {
    /// How many there were.
    pub machines: u64,
    /// How large they were together.
    pub bytes: u64,
    /// Findings in them.
    pub findings: u64,
    /// How long reading them and putting them together took.
    pub seconds: f64,
}

impl Scale {
    /// Of the campaign in a folder, on so many machines. The journals that a merge needs are written to `scratch`.
    ///
    /// # Errors
    /// When there is no campaign, or files cannot be read and written.
    pub fn of(folder: &Path, machines: u64, scratch: &Path) -> Result<Scale, String> {
        let (records, tally) = (journal::records(folder)?, journal::read(folder)?);
        let counts: Vec<u64> = tally.findings.values().map(|found| found.cases.len() as u64).collect();
        let times = |wanted: u64| counts.iter().filter(|count| **count == wanted).count();
        let cases = tally.checkpoint.counts.cases;
        Ok(Scale {
            implementation: tally.header.implementation.clone(),
            plan: tally.header.plan.clone(),
            cases,
            seconds: tally.checkpoint.milliseconds as f64 / 1000.0,
            signatures: counts.len(),
            once: times(1),
            twice: times(2),
            curve: curve(&tally, &counts, machines),
            journal: written(&records),
            merge: merge(&records, machines, scratch)?,
        })
    }
}

/// From a hundredth of the cases to those of all machines.
fn curve(tally: &Tally, counts: &[u64], machines: u64) -> Vec<Point> {
    let cases = tally.checkpoint.counts.cases;
    let firsts: Vec<u64> = tally.findings.values().filter_map(|found: &Found| found.cases.first().copied()).collect();
    let shares = [0.01, 0.03, 0.1, 0.3, 1.0].map(|share| (cases as f64 * share) as u64);
    let beyond =
        (1..).map_while(|power| 10u64.checked_pow(power)).take_while(|times| *times < machines).chain([machines]);
    let all = shares.into_iter().chain(beyond.map(|times| cases.saturating_mul(times)));
    let of = tally.header.plan.shard.of;
    all.map(|n| Point {
        cases: n,
        seen: (n <= cases).then(|| firsts.iter().filter(|first| **first / of < n).count()),
        expected: expected(counts, cases, n),
    })
    .collect()
}

/// How many signatures `n` cases have, as expected from how often each was found in `cases`.
fn expected(counts: &[u64], cases: u64, n: u64) -> f64 {
    let seen = counts.len() as f64;
    if n <= cases {
        // Each of its cases is missed with this probability.
        let missed = 1.0 - n as f64 / cases.max(1) as f64;
        return counts.iter().map(|count| 1.0 - missed.powf(*count as f64)).sum();
    }
    let times = |wanted: u64| counts.iter().filter(|count| **count == wanted).count() as f64;
    let (once, twice) = (times(1), times(2));
    let unseen = if twice > 0.0 { once * once / (2.0 * twice) } else { once * (once - 1.0) / 2.0 };
    if unseen == 0.0 {
        return seen;
    }
    let rate = once / (once + cases as f64 * unseen);
    seen + unseen * (1.0 - (1.0 - rate).powf((n - cases) as f64))
}

fn written(records: &[(Record, String)]) -> BTreeMap<String, Written> {
    let mut written: BTreeMap<String, Written> = BTreeMap::new();
    for (record, line) in records {
        let kind = match record {
            Record::Header(_) => "header",
            Record::Finding(_) => FINDINGS,
            Record::Pursued(_) => "findings cut down",
            Record::Checkpoint(_) => CHECKPOINTS,
            Record::End { .. } => "end",
        };
        let of_kind = written.entry(kind.to_owned()).or_default();
        of_kind.lines += 1;
        of_kind.bytes += line.len() as u64 + 1;
    }
    written
}

/// Writes the journal of each machine, as if it had found in its own cases what the one did in its, and merges them.
fn merge(records: &[(Record, String)], machines: u64, scratch: &Path) -> Result<Merge, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", scratch.display());
    let mut merge = Merge { machines, bytes: 0, findings: 0, seconds: 0.0 };
    let folders: Vec<_> = (0..machines).map(|machine| scratch.join(machine.to_string())).collect();
    for (machine, folder) in (0..machines).zip(&folders) {
        let shard = Shard { index: machine, of: machines };
        let mut text = Vec::new();
        for (record, line) in records {
            match record.clone() {
                Record::Header(mut header) => {
                    header.plan.shard = shard;
                    serde_json::to_writer(&mut text, &Record::Header(header)).map_err(|error| error.to_string())?;
                }
                Record::Finding(mut finding) => {
                    merge.findings += 1;
                    finding.case = shard.case(finding.case);
                    serde_json::to_writer(&mut text, &Record::Finding(finding)).map_err(|error| error.to_string())?;
                }
                _ => text.extend(line.as_bytes()),
            }
            text.push(b'\n');
        }
        merge.bytes += text.len() as u64;
        fs::create_dir_all(folder).and_then(|()| fs::write(folder.join(journal::FILE), text)).map_err(failed)?;
    }
    let begun = Instant::now();
    let tallies = folders.iter().map(|folder| journal::read(folder)).collect::<Result<Vec<_>, _>>()?;
    Summary::of_all(&tallies)?;
    merge.seconds = begun.elapsed().as_secs_f64();
    Ok(merge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_cases_have_fewer_signatures_and_more_have_no_end() {
        // Found in 1, 1, 2 and 50 of 100 cases.
        let counts = [1, 1, 2, 50];
        let at = |n| expected(&counts, 100, n);
        assert_eq!((at(0), at(100)), (0.0, 4.0));
        assert!((at(50) - (0.5 + 0.5 + 0.75 + 1.0)).abs() < 1e-9, "{}", at(50));
        // f1 = 2 and f2 = 1: two more are out there.
        assert!(at(200) > 4.0 && at(200) < at(1000) && at(1_000_000) <= 6.0 && at(1_000_000) > 5.99);
        assert_eq!(expected(&[5, 7], 100, 100_000), 2.0, "nothing was rare");
    }
}
