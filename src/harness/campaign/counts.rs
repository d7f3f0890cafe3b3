//! The counts of a campaign, and the set of its cases that are done.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::ops::Op;
use crate::relaxations::Openness;

/// The counts over cases that are done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Cases.
    pub cases: u64,
    /// The number of times an adapter was restarted.
    pub restarts: u64,
    /// Steps by operation.
    pub operations: BTreeMap<Op, Judged>,
    /// What they leave open.
    #[serde(default)]
    pub openness: Openness,
    /// In a small world, its calls by what is given to them, as in `clamp_(self, max)`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<String, Checked>,
}

/// The number of steps of an operation that every side answered, by the answer of the implementation under test, and of
/// those that one of them did not support.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// Accepted calls.
    pub accepted: u64,
    /// Rejected calls.
    pub rejected: u64,
    /// Calls that are not supported.
    pub unsupported: u64,
}

/// The outcomes of one call in the cases of a small world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checked {
    /// Accepted calls.
    pub accepted: u64,
    /// Rejected calls.
    pub rejected: u64,
    /// Calls that are not supported.
    pub unsupported: u64,
    /// The number of times the implementation broke over it.
    pub broken: u64,
    /// The number of times it differed in a way that is known.
    pub known: u64,
    /// The number of times it differed.
    pub differing: u64,
}

impl Counts {
    /// All operations together.
    pub fn steps(&self) -> Judged {
        let mut all = Judged::default();
        self.operations.values().for_each(|judged| all += *judged);
        all
    }
}

impl Checked {
    /// In how many cases it was called.
    pub fn cases(self) -> u64 {
        // What a journal says may be any number.
        [self.rejected, self.unsupported, self.broken].into_iter().fold(self.accepted, u64::saturating_add)
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        self.cases = self.cases.saturating_add(other.cases);
        self.restarts = self.restarts.saturating_add(other.restarts);
        self.openness += other.openness;
        for (op, judged) in &other.operations {
            *self.operations.entry(*op).or_default() += *judged;
        }
        for (call, checked) in &other.calls {
            // Names are copied once.
            match self.calls.get_mut(call) {
                Some(sum) => *sum += *checked,
                None => drop(self.calls.insert(call.clone(), *checked)),
            }
        }
    }
}

impl AddAssign for Checked {
    fn add_assign(&mut self, other: Checked) {
        self.accepted = self.accepted.saturating_add(other.accepted);
        self.rejected = self.rejected.saturating_add(other.rejected);
        self.unsupported = self.unsupported.saturating_add(other.unsupported);
        self.broken = self.broken.saturating_add(other.broken);
        self.known = self.known.saturating_add(other.known);
        self.differing = self.differing.saturating_add(other.differing);
    }
}

impl AddAssign for Judged {
    fn add_assign(&mut self, other: Judged) {
        self.accepted = self.accepted.saturating_add(other.accepted);
        self.rejected = self.rejected.saturating_add(other.rejected);
        self.unsupported = self.unsupported.saturating_add(other.unsupported);
    }
}

/// Positions of a part of a campaign, as few ranges as they can be written in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Positions(Vec<(u64, u64)>);

impl Positions {
    /// Adds those from `start` to before `end`.
    pub fn insert(&mut self, mut start: u64, mut end: u64) {
        self.0.retain(|&(from, to)| {
            let apart = to < start || end < from;
            if !apart {
                (start, end) = (start.min(from), end.max(to));
            }
            apart
        });
        let at = self.0.partition_point(|&(from, _)| from < start);
        self.0.insert(at, (start, end));
    }

    /// The first stretch of at most `most` positions from `from` on that is not in here, before `limit`.
    pub fn next_gap(&self, mut from: u64, most: u64, limit: u64) -> Option<(u64, u64)> {
        for &(start, end) in &self.0 {
            if from < start {
                break;
            }
            from = from.max(end);
        }
        let next = self.0.iter().map(|&(start, _)| start).find(|&start| start > from).unwrap_or(limit);
        (from < limit).then(|| (from, next.min(limit).min(from.saturating_add(most))))
    }

    /// Checks that they are as [`Positions::insert`] leaves them: in order, and apart.
    ///
    /// # Errors
    /// With the first range that is not.
    pub fn check(&self) -> Result<(), String> {
        let mut before = None;
        for &(start, end) in &self.0 {
            if start >= end || before.is_some_and(|before| start <= before) {
                return Err(format!("[{start}, {end}] is no range of positions after those before it"));
            }
            before = Some(end);
        }
        Ok(())
    }

    /// Returns the number of positions.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// Returns whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_grow_together_in_any_order() {
        let mut done = Positions::default();
        for start in [64, 192, 0, 320, 128] {
            done.insert(start, start + 64);
        }
        assert_eq!(done.0, [(0, 256), (320, 384)]);
        assert_eq!(done.len(), 320);
        assert_eq!(done.next_gap(0, 64, 1000), Some((256, 320)));
        assert_eq!(done.next_gap(0, 10, 1000), Some((256, 266)));
        assert_eq!(done.next_gap(320, 64, 400), Some((384, 400)));
        assert_eq!(done.next_gap(0, 64, 200), None);
        done.insert(256, 320);
        assert_eq!(done.0, [(0, 384)]);
    }

    #[test]
    fn every_position_is_handed_out_once() {
        let mut done = Positions::default();
        done.insert(10, 20);
        done.insert(25, 26);
        let (mut at, mut seen) = (0, Vec::new());
        while let Some((start, end)) = done.next_gap(at, 7, 40) {
            seen.extend(start..end);
            at = end;
        }
        assert_eq!(seen, (0..10).chain(20..25).chain(26..40).collect::<Vec<_>>());
    }
}
