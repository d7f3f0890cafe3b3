//! The records of a campaign, each a line of its journal: which campaign it is, what was found, how far it is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::cases::Shard;
use super::counts::{Counts, Positions};
use crate::Difference;
use crate::adapter::Hello;
use crate::case::render;
use crate::generate::bounded_exhaustive::Bounds;
use crate::model::finding::{Finding, Oracle, Signature};
use crate::ops::Op;

/// A line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Record {
    /// The first line.
    Header(Box<Header>),
    /// Something was found.
    Finding(FindingRecord),
    /// The first finding of a signature was shrunk and written up.
    Pursued(Pursued),
    /// The progress of the campaign.
    Checkpoint(Checkpoint),
    /// The process ended while the reference was at a case.
    Suspect(Suspect),
    /// A run ended by itself.
    End {
        /// The reason.
        why: String,
    },
}

/// The identity of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of broadcheck.
    pub broadcheck: String,
    /// SHA-256 over the specification's files.
    pub suite: String,
    /// SHA-256 over the first programs: another generator makes other cases of the same seed.
    pub programs: String,
    /// The implementation under test.
    pub implementation: Identity,
    /// The implementation that it is compared with, if that is another adapter.
    pub against: Option<Identity>,
    /// The machine that it ran on.
    pub machine: Machine,
    /// The configuration of the campaign.
    #[serde(rename = "plan")]
    pub configuration: Configuration,
}

/// The configuration of a campaign that is saved: all that decides on its cases and verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The seed of the cases.
    pub seed: u64,
    /// The number of cases of the whole campaign; `None` if only time ends it.
    pub cases: Option<u64>,
    /// The part of them that this campaign takes.
    pub shard: Shard,
    /// The operations that programs are made of.
    pub ops: Vec<Op>,
    /// True if programs are made that have no one right outcome.
    pub unrestricted: bool,
    /// True if each program is made of a few of the operations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub swarm: bool,
    /// The small world whose cases are all of them, in place of a seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<Bounds>,
    /// The file with the programs of the cases, in place of a seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<PathBuf>,
    /// The oracles that judge.
    pub oracles: Vec<Oracle>,
    /// The implementation under test, as the command line calls it.
    pub implementation: String,
    /// The implementation that it is compared with, by its name on the command line.
    pub against: Option<String>,
    /// The file of its known differences, in place of those that come with broadcheck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergences: Option<PathBuf>,
    /// Seconds that a program may take.
    pub timeout: u64,
    /// The address space of an adapter in GiB; 0 for no limit.
    pub memory: u64,
}

/// The identity that an implementation declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The build of the implementation.
    pub build: String,
}

/// The machine that a campaign ran on. Another machine makes no other campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The operating system.
    pub os: String,
    /// The architecture of the processor.
    pub arch: String,
    /// The number of processors.
    pub cpus: usize,
}

/// One finding.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingRecord {
    /// The number of the case.
    pub case: u64,
    /// The signature that it has in common with others.
    pub signature: Signature,
    /// The known divergence that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// The whole of it, of the first few of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

/// A finding in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The program as YAML; up to the step that breaks the implementation, if it does.
    pub program: String,
    /// The differences.
    pub differences: Vec<Difference>,
    /// The way in which the implementation broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The last that it wrote to standard error then.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// The result of reducing the first finding of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pursued {
    /// The signature.
    pub signature: Signature,
    /// Its folder among the findings.
    pub folder: String,
    /// True if it was observed again when the program was run once more. Only then can it be shrunk.
    pub reproduced: bool,
    /// True if the campaign ended before it was shrunk to the end. A campaign that is resumed continues with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_reduced: bool,
    /// The simplest program, and what is wrong there.
    pub simplest: Example,
}

/// A case that the reference was at when the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suspect {
    /// The number of the case.
    pub case: u64,
    /// How often that was so since it was last made without harm; 0 once it was.
    pub deaths: u32,
}

/// The progress of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The positions of its shard that are done.
    pub done: Positions,
    /// The counts over these.
    pub counts: Counts,
    /// For how long it has been running, in milliseconds.
    pub milliseconds: u64,
}

impl Identity {
    /// Of an implementation.
    pub fn of(hello: &Hello) -> Identity {
        Identity { name: hello.name.clone(), version: hello.version.clone(), build: hello.build.clone() }
    }
}

impl Machine {
    /// This one.
    pub fn here() -> Machine {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Machine { os: std::env::consts::OS.to_owned(), arch: std::env::consts::ARCH.to_owned(), cpus }
    }
}

impl Example {
    /// Of a finding.
    pub fn of(finding: &Finding) -> Example {
        Example {
            program: render::program(&finding.program),
            differences: finding.differences.clone(),
            fault: finding.fault.as_ref().map(ToString::to_string),
            stderr: finding.fault.as_ref().map(|fault| fault.stderr_lines(20).join("\n")).unwrap_or_default(),
        }
    }
}

impl Header {
    /// In what this campaign is another one than that, whatever part of it either is.
    pub fn other_than(&self, that: &Header) -> Vec<String> {
        // Machines may call the same implementation differently.
        let plain = |header: &Header| {
            let mut configuration = Configuration {
                implementation: String::new(),
                against: None,
                divergences: None,
                corpus: None,
                ..header.configuration.clone()
            };
            configuration.shard.index = 0;
            Header { machine: that.machine.clone(), configuration, ..header.clone() }
        };
        differing(&plain(self), &plain(that))
    }
}

impl Configuration {
    /// Returns the differences to that configuration.
    pub fn other_than(&self, that: &Configuration) -> Vec<String> {
        differing(self, that)
    }
}

/// The fields in which two records differ, with both values where they are short.
fn differing<T: Serialize>(this: &T, that: &T) -> Vec<String> {
    let fields = |record: &T| serde_json::to_value(record).expect("records have only text for keys");
    let mut found = Vec::new();
    collect("", &fields(this), &fields(that), &mut found);
    found
}

fn collect(name: &str, this: &serde_json::Value, that: &serde_json::Value, found: &mut Vec<String>) {
    use serde_json::Value::Object;
    match (this, that) {
        (Object(this), Object(that)) => {
            for (key, value) in this {
                collect(key, value, that.get(key).unwrap_or(&serde_json::Value::Null), found);
            }
        }
        _ if this != that => {
            let (this, that) = (this.to_string(), that.to_string());
            let short = this.len().max(that.len()) <= 80;
            found.push(if short { format!("{name} ({this}, not {that})") } else { name.to_owned() });
        }
        _ => {}
    }
}
