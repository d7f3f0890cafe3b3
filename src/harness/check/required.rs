//! The minimum of the specification that an implementation has to be judged on.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::Case;

/// The minimum that every implementation except the reference has to run and be judged on. Less does not conform, even if
/// all of it is right.
#[derive(Clone, Debug, Default)]
pub struct Required {
    /// So many cases.
    pub cases: usize,
    /// Each of these, as far as they are chosen, and whose they are: what an earlier run has executed.
    pub like: Option<(String, BTreeSet<String>)>,
    /// For each operation, so many of the cases that call it, and the file that says so. It is about the whole
    /// specification.
    pub operations: Option<(String, BTreeMap<String, usize>)>,
}

impl Required {
    /// Returns the shortfalls of an implementation that has executed these of the chosen cases.
    pub(super) fn shortfalls(&self, label: &str, executed: &BTreeSet<&str>, chosen: &[&Case]) -> Vec<String> {
        let ran = || chosen.iter().copied().filter(|case| executed.contains(case.id.as_str()));
        let operations = self.operations.iter().flat_map(|(file, wanted)| {
            let judged = operations(ran());
            let less = wanted.iter().filter_map(move |(operation, wanted)| {
                let judged = judged.get(operation.as_str()).copied().unwrap_or(0);
                (judged < *wanted).then_some((operation, judged, *wanted))
            });
            less.map(move |(operation, judged, wanted)| {
                format!(
                    "{label} was judged on {judged} cases of {operation}, and {file} has {wanted}: less is supported"
                )
            })
        });
        self.missing(label, executed, chosen).into_iter().chain(operations).collect()
    }

    fn missing(&self, label: &str, executed: &BTreeSet<&str>, chosen: &[&Case]) -> Option<String> {
        if executed.len() < self.cases {
            return Some(format!("{label} was judged on {} cases, and {} are required", executed.len(), self.cases));
        }
        let (name, like) = self.like.as_ref()?;
        let missing: Vec<&str> = chosen.iter().map(|case| case.id.as_str()).filter(|id| like.contains(*id)).collect();
        let missing: Vec<&str> = missing.into_iter().filter(|id| !executed.contains(id)).collect();
        let first = missing.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
        let more = if missing.len() > SHOWN { ", …" } else { "" };
        let count = missing.len();
        (count > 0).then(|| format!("{label} was not judged on {count} cases that {name} has: {first}{more}"))
    }
}

/// For each operation, how many of the cases call it.
pub fn operations<'a>(cases: impl Iterator<Item = &'a Case>) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for case in cases {
        let called: BTreeSet<&str> = case.program.steps.iter().map(|step| step.op.name()).collect();
        called.into_iter().for_each(|operation| *counts.entry(operation).or_default() += 1);
    }
    counts
}

/// The number of cases that a shortfall names.
const SHOWN: usize = 5;
