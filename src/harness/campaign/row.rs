//! A campaign in a few lines: the row that it has in the report of implementations.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::groups::{CauseGroup, Line};
use super::summary::Summary;
use crate::campaign::record::Identity;

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
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
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

    /// Reads one that was written as [`CampaignRow::json`] says.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a row.
    pub fn read(path: &Path) -> Result<CampaignRow, String> {
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read(path).map_err(|error| told(&error))?;
        serde_json::from_slice(&text).map_err(|error| told(&error))
    }

    /// The row as JSON.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a row has only text for keys");
        text.push('\n');
        text
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
