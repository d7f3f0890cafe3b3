//! The summary of a campaign, for people and programs: from the tallies of its parts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::groups::{CauseGroup, groups};
use super::tally::{Found, Group, Tally};
use crate::campaign::counts::{Checked, Counts, Judged};
use crate::campaign::record::{Configuration, Identity};
use crate::ops::Op;
use crate::relaxations::Openness;

pub use super::groups::Line;

/// The summary of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The version of broadcheck.
    pub broadcheck: String,
    /// SHA-256 over the specification's files.
    pub suite: String,
    /// The implementation under test.
    pub implementation: Identity,
    /// The implementation that it was compared with.
    pub against: Option<Identity>,
    /// The configuration of the campaign. The shard is the whole in a summary of all shards.
    #[serde(rename = "plan")]
    pub configuration: Configuration,
    /// The shards that are in it.
    pub shards: Vec<Part>,
    /// The shards that are not.
    pub missing: Vec<u64>,
    /// Cases that are done.
    pub cases: u64,
    /// Steps that were judged.
    pub steps: Judged,
    /// What these steps leave open.
    #[serde(default)]
    pub openness: Openness,
    /// The number of times an adapter was restarted.
    pub restarts: u64,
    /// Seconds, those of all shards together.
    pub seconds: f64,
    /// Steps by operation.
    pub operations: BTreeMap<Op, Judged>,
    /// In a small world, its calls.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, Checked>,
    /// Operations that programs could have been made of, and that were in none.
    pub never: Vec<Op>,
    /// The findings that are not known, by cause: the worst first, then the most frequent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<CauseGroup>,
    /// The findings, the most frequent first.
    pub findings: Vec<Line>,
}

/// A shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its number.
    pub shard: u64,
    /// Cases that are done.
    pub cases: u64,
    /// The reason for its end; `None` if it was killed.
    pub ended: Option<String>,
}

impl Summary {
    /// One that was printed as JSON.
    ///
    /// # Errors
    /// When the file cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Summary, String> {
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read(path).map_err(|error| told(&error))?;
        let summary: Summary = serde_json::from_slice(&text).map_err(|error| told(&error))?;
        summary.configuration.shard.check().map_err(|error| told(&error))?;
        Ok(summary)
    }

    /// Of one campaign, or one part of it.
    pub fn of(tally: &Tally) -> Summary {
        Summary::of_all(std::slice::from_ref(tally)).unwrap_or_else(|why| unreachable!("one part fits itself: {why}"))
    }

    /// Of parts of one campaign, at least one.
    ///
    /// # Errors
    /// When they are not parts of one campaign, or one is given twice.
    pub fn of_all(parts: &[Tally]) -> Result<Summary, String> {
        let (first, others) = parts.split_first().ok_or("no campaign is given")?;
        for other in others {
            let differing = other.header.other_than(&first.header);
            if !differing.is_empty() {
                let (a, b) = (first.header.configuration.shard, other.header.configuration.shard);
                return Err(format!("shard {b} is not of the campaign of shard {a}: other {}", differing.join(", ")));
            }
        }
        let mut shards = BTreeSet::new();
        let mut counts = Counts::default();
        let mut findings: BTreeMap<&Group, Found> = BTreeMap::new();
        for part in parts {
            let shard = part.header.configuration.shard;
            if !shards.insert(shard.index) {
                return Err(format!("shard {shard} is given twice"));
            }
            counts += &part.checkpoint.counts;
            for (group, found) in &part.findings {
                let all = findings.entry(group).or_default();
                all.cases.extend(&found.cases);
                all.examples.extend(found.examples.iter().cloned());
                if !all.is_reduced() && (all.pursued.is_none() || found.is_reduced()) {
                    all.pursued.clone_from(&found.pursued);
                }
            }
        }
        let mut configuration = first.header.configuration.clone();
        let of = configuration.shard.of;
        let missing: Vec<u64> =
            if parts.len() == 1 { Vec::new() } else { (0..of).filter(|index| !shards.contains(index)).collect() };
        if parts.len() > 1 {
            configuration.shard = super::cases::Shard::WHOLE;
        }
        let mut findings: Vec<Line> = findings.into_iter().filter_map(|(group, found)| line(group, &found)).collect();
        findings.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.signature.cmp(&b.signature)));
        let milliseconds: u64 = parts.iter().map(|part| part.checkpoint.milliseconds).fold(0, u64::saturating_add);
        Ok(Summary {
            broadcheck: first.header.broadcheck.clone(),
            suite: first.header.suite.clone(),
            implementation: first.header.implementation.clone(),
            against: first.header.against.clone(),
            shards: parts.iter().map(part).collect(),
            missing,
            cases: counts.cases,
            steps: counts.steps(),
            openness: counts.openness,
            restarts: counts.restarts,
            seconds: milliseconds as f64 / 1000.0,
            never: configuration.ops.iter().filter(|op| !counts.operations.contains_key(op)).copied().collect(),
            configuration,
            operations: counts.operations,
            calls: counts.calls,
            groups: groups(&findings),
            findings,
        })
    }

    /// Findings that are neither known divergences nor disputed.
    pub fn new_findings(&self) -> impl Iterator<Item = &Line> {
        self.findings.iter().filter(|line| line.known.is_none() && !line.signature.is_disputed())
    }

    /// Findings of which one authority says that they are right.
    pub fn disputed(&self) -> impl Iterator<Item = &Line> {
        self.findings.iter().filter(|line| line.known.is_none() && line.signature.is_disputed())
    }

    /// Findings that are known divergences.
    pub fn known(&self) -> impl Iterator<Item = &Line> {
        self.findings.iter().filter(|line| line.known.is_some())
    }

    /// Returns whether anything was judged at all.
    pub fn judged(&self) -> bool {
        self.steps.accepted > 0 || self.steps.rejected > 0
    }
}

fn part(tally: &Tally) -> Part {
    Part {
        shard: tally.header.configuration.shard.index,
        cases: tally.checkpoint.counts.cases,
        ended: tally.ended.clone(),
    }
}

fn line(group: &Group, found: &Found) -> Option<Line> {
    let simplest = found.pursued.as_ref().map(|pursued| pursued.simplest.clone());
    Some(Line {
        signature: group.signature.clone(),
        known: group.known.clone(),
        count: found.cases.len(),
        first: *found.cases.first()?,
        folder: found.pursued.as_ref().map(|pursued| pursued.folder.clone()),
        not_reduced: group.known.is_none() && !found.is_reduced(),
        example: simplest.or_else(|| found.examples.first().map(|(_, example)| example.clone())),
    })
}
