//! A campaign in a few lines: the row that it has in the report of implementations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::groups::{CauseGroup, Line};
use super::summary::Summary;
use crate::campaign::record::Identity;
use crate::json;

/// The most lines of a program that a row shows of a group.
const LINES: usize = 8;

/// A campaign in numbers, with what it found that is not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignRow {
    /// The version of broadcheck.
    pub broadcheck: String,
    /// SHA-256 over the specification's files.
    pub suite: String,
    /// The day on which it ended, in UTC.
    pub date: String,
    /// The implementation under test.
    pub implementation: Identity,
    /// The seed of its cases.
    pub seed: u64,
    /// Cases that are done.
    pub cases: u64,
    /// Steps that were judged.
    pub steps: u64,
    /// Seconds that it ran.
    pub seconds: u64,
    /// The number of times that the adapter was restarted.
    pub restarts: u64,
    /// Findings that are known differences.
    pub known: Found,
    /// The number of known differences that they are of.
    pub causes: usize,
    /// Findings of which one authority says that they are right.
    pub disputed: Found,
    /// Findings that are not known.
    pub new: Found,
    /// What is not known, by cause, the worst first.
    pub groups: Vec<NewGroup>,
}

/// A number of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// How many.
    pub findings: usize,
    /// How many signatures they have.
    pub signatures: usize,
}

/// Findings with one cause that is not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewGroup {
    /// What they have in common.
    pub rule: String,
    /// How many there are.
    #[serde(flatten)]
    pub found: Found,
    /// The smallest program, as YAML; its first lines if it is long.
    pub program: String,
    /// The name of the value in it that differs first.
    pub value: String,
    /// What was expected of it.
    pub expected: String,
    /// What was observed.
    pub observed: String,
}

impl CampaignRow {
    /// The row of a campaign that ends now.
    pub fn of(summary: &Summary) -> CampaignRow {
        let causes: BTreeSet<&str> = summary.known().filter_map(|line| line.known.as_deref()).collect();
        let steps = summary.steps;
        CampaignRow {
            broadcheck: summary.broadcheck.clone(),
            suite: summary.suite.clone(),
            date: chrono::Utc::now().format("%Y-%m-%d").to_string(),
            implementation: summary.implementation.clone(),
            seed: summary.configuration.seed,
            cases: summary.cases,
            steps: steps.accepted.saturating_add(steps.rejected),
            seconds: summary.seconds.round() as u64,
            restarts: summary.restarts,
            known: Found::of(summary.known()),
            causes: causes.len(),
            disputed: Found::of(summary.disputed()),
            new: Found::of(summary.new_findings()),
            groups: summary.groups.iter().filter(|group| !group.disputed).map(|group| new(group, summary)).collect(),
        }
    }

    /// Of which implementation it is the row: a library has one, and libtorch one for each release.
    fn key(&self) -> String {
        let Identity { name, version, .. } = &self.implementation;
        if name == "libtorch" { format!("{name} {version}") } else { name.clone() }
    }
}

/// The rows of campaigns, one for each implementation, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rows(BTreeMap<String, CampaignRow>);

impl Rows {
    /// Reads the rows of a file that was written as [`Rows::json`] says.
    ///
    /// # Errors
    /// If the file cannot be read, or has other things than rows.
    pub fn read(path: &Path) -> Result<Rows, String> {
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read(path).map_err(|error| told(&error))?;
        serde_json::from_slice(&text).map_err(|error| told(&error))
    }

    /// Adds a row, in place of an older one of the same implementation.
    pub fn put(&mut self, row: CampaignRow) {
        self.0.insert(row.key(), row);
    }

    /// The rows, by name.
    pub fn into_rows(self) -> Vec<CampaignRow> {
        self.0.into_values().collect()
    }

    /// The rows as JSON.
    pub fn json(&self) -> String {
        json::pretty(self)
    }
}

impl Found {
    fn of<'a>(lines: impl Iterator<Item = &'a Line>) -> Found {
        lines.fold(Found::default(), |found, line| Found {
            findings: found.findings + line.count,
            signatures: found.signatures + 1,
        })
    }
}

fn new(group: &CauseGroup, summary: &Summary) -> NewGroup {
    let smallest = summary.new_findings().find(|line| line.signature == group.smallest);
    let example = smallest.and_then(|line| line.example.as_ref());
    let first = example.and_then(|example| example.differences.first());
    NewGroup {
        rule: group.title(),
        found: Found { findings: group.count, signatures: group.signatures.len() },
        program: example.map_or_else(String::new, |example| {
            example.program.trim_end().lines().take(LINES).collect::<Vec<_>>().join("\n")
        }),
        value: first.map_or_else(String::new, |first| first.value.clone()),
        expected: first.map_or_else(String::new, |first| first.expected.clone()),
        observed: match first {
            Some(first) => first.observed.clone(),
            None => example.and_then(|example| example.fault.clone()).unwrap_or_default(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, version: &str, cases: u64) -> CampaignRow {
        let found = Found::default();
        CampaignRow {
            broadcheck: "0.1.0".to_owned(),
            suite: String::new(),
            date: "2026-11-26".to_owned(),
            implementation: Identity { name: name.to_owned(), version: version.to_owned(), build: String::new() },
            seed: 1,
            cases,
            steps: cases,
            seconds: 60,
            restarts: 0,
            known: found,
            causes: 0,
            disputed: found,
            new: found,
            groups: Vec::new(),
        }
    }

    #[test]
    fn a_library_has_one_row_and_each_release_of_libtorch_its_own() {
        let mut rows = Rows::default();
        for row in [row("numpy", "2.3.0", 1), row("libtorch", "2.0.1", 2), row("libtorch", "2.1.0", 3)] {
            rows.put(row);
        }
        rows.put(row("numpy", "2.4.6", 4));
        let written: Rows = serde_json::from_str(&rows.json()).unwrap();
        let of = |row: &CampaignRow| (row.implementation.version.clone(), row.cases);
        let all: Vec<(String, u64)> = written.into_rows().iter().map(of).collect();
        assert_eq!(all, [("2.0.1".to_owned(), 2), ("2.1.0".to_owned(), 3), ("2.4.6".to_owned(), 4)]);
    }
}
