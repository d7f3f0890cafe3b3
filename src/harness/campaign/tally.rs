//! The state of a campaign so far: which cases are done, what was judged, and what was found.

use std::collections::{BTreeMap, BTreeSet};

use crate::campaign::record::{Checkpoint, Example, FindingRecord, Header, Pursued, Record, Suspect};
use crate::model::finding::Signature;

/// The state of a campaign, or of one part of it. It is made of the records of a journal alone, so that one that was
/// killed and one that was not come to the same.
#[derive(Clone, Debug)]
pub struct Tally {
    /// The identity of the campaign.
    pub header: Header,
    /// The cases that are done, and the counts over them.
    pub checkpoint: Checkpoint,
    /// The findings, by group. Some of them can be of cases that are not done yet.
    pub findings: BTreeMap<Group, Found>,
    /// How often the process ended while the reference was at these cases.
    pub suspects: BTreeMap<u64, u32>,
    /// The reason for the end of the last run; `None` if it was killed or continues.
    pub ended: Option<String>,
}

/// Findings that belong together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group {
    /// The signature that they have in common.
    pub signature: Signature,
    /// The known divergence that they are.
    pub known: Option<String>,
}

/// The findings of a group.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The cases. A set, because a case that is run again after a kill is found again.
    pub cases: BTreeSet<u64>,
    /// The first few, in full.
    pub examples: Vec<(u64, Example)>,
    /// The result of reducing the first one.
    pub pursued: Option<Pursued>,
}

impl Tally {
    /// Nothing yet.
    pub fn new(header: Header) -> Tally {
        Tally {
            header,
            checkpoint: Checkpoint::default(),
            findings: BTreeMap::new(),
            suspects: BTreeMap::new(),
            ended: None,
        }
    }

    /// Takes a record in.
    pub fn take(&mut self, record: Record) {
        match record {
            Record::Header(_) => {}
            Record::Finding(FindingRecord { case, signature, known, example }) => {
                let found = self.findings.entry(Group { signature, known }).or_default();
                if found.cases.insert(case) {
                    found.examples.extend(example.map(|example| (case, example)));
                }
                self.ended = None;
            }
            Record::Pursued(pursued) => {
                let group = Group { signature: pursued.signature.clone(), known: None };
                self.findings.entry(group).or_default().pursued = Some(pursued);
            }
            Record::Checkpoint(checkpoint) => {
                self.checkpoint = checkpoint;
                self.ended = None;
            }
            Record::Suspect(Suspect { case, deaths }) => {
                self.suspects.insert(case, deaths);
            }
            Record::End { why } => self.ended = Some(why),
        }
    }

    /// Returns whether every case that the configuration has is done. A campaign without a number of cases has no such end.
    pub fn complete(&self) -> Option<bool> {
        let configuration = &self.header.configuration;
        configuration.cases.map(|cases| self.checkpoint.done.len() == configuration.shard.share(cases))
    }

    /// Returns the number of findings that are still to be shrunk.
    pub fn not_reduced(&self) -> usize {
        self.new_groups().filter(|(_, found)| !found.is_reduced()).count()
    }

    /// The groups of findings that are not known divergences.
    pub fn new_groups(&self) -> impl Iterator<Item = (&Group, &Found)> {
        self.findings.iter().filter(|(group, _)| group.known.is_none())
    }
}

impl Found {
    /// Returns whether nothing more is to be done about the first one.
    pub fn is_reduced(&self) -> bool {
        self.pursued.as_ref().is_some_and(|pursued| !pursued.not_reduced)
    }
}
