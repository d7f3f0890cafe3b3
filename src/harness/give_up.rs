//! After how many crashes and hangs an implementation is given up: each costs its time limit or a restart, and says less
//! than the one before.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::adapter::fault::NO_ANSWER;
use crate::adapter::{Fault, Hello};
use crate::model::divergence::{self, Divergence};
use crate::model::finding::Finding;

/// The beginning of the message that an implementation was given up.
pub const GIVEN_UP: &str = "given up";

/// The crashes and hangs of a run that are not known.
#[derive(Clone, Debug, Default)]
pub struct Breaks {
    /// So many are too many; 0 for never.
    limit: u64,
    /// The number of times each occurred.
    counts: BTreeMap<String, u64>,
    /// The reason why the implementation cannot be run any more.
    gone: Option<String>,
    /// True once the run is to end.
    halt: Arc<AtomicBool>,
}

impl Breaks {
    /// None yet. Once `halt` is true the implementation is given up as if there were too many.
    pub fn new(limit: u64, halt: Arc<AtomicBool>) -> Breaks {
        Breaks { limit, halt, ..Breaks::default() }
    }

    /// Counts a finding if it is a crash or a hang. True once there are too many.
    pub fn is_too_many(&mut self, finding: &Finding) -> bool {
        if finding.fault.as_ref().is_some_and(|fault| fault.kind.is_break()) {
            let signature = &finding.signature;
            self.count(format!("{} in {}", signature.kind, signature.call));
        }
        self.are_too_many()
    }

    /// Counts a fault if it is a crash or a hang, and notes it if the implementation cannot be run any more.
    pub fn count_fault(&mut self, fault: &Fault) {
        if fault.kind.is_break() {
            self.count(fault.kind.to_string());
        } else if !fault.kind.was_run() {
            self.gone.get_or_insert(fault.kind.to_string());
        }
    }

    fn count(&mut self, what: String) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Returns whether the run is to end, whatever the implementation does.
    pub fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }

    /// Returns whether the implementation is given up.
    pub fn are_too_many(&self) -> bool {
        self.is_halted() || self.gone.is_some() || self.limit > 0 && self.counts.values().sum::<u64>() >= self.limit
    }

    /// Returns the reasons why it was given up, the most frequent first, if it was.
    pub fn given_up(&self) -> Option<String> {
        if !self.are_too_many() {
            return None;
        }
        if let Some(gone) = &self.gone {
            return Some(format!("{GIVEN_UP}: programs are {gone}"));
        }
        if self.is_halted() {
            return Some(format!("{GIVEN_UP}: the run was interrupted"));
        }
        let mut counts: Vec<(&String, &u64)> = self.counts.iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let shown: Vec<String> = counts.iter().take(4).map(|(what, count)| format!("{count} × {what}")).collect();
        let more = if counts.len() > shown.len() { ", …" } else { "" };
        let all = self.counts.values().sum::<u64>();
        Some(format!("{GIVEN_UP} after {all} crashes and hangs: {}{more}", shown.join(", ")))
    }
}

/// Returns whether a case is pinned to break in this way.
pub fn is_pinned(divergences: &[Divergence], case: &str, hello: &Hello, fault: &str) -> bool {
    let witness = divergence::of_case(divergences, hello, case).map(|(_, witness)| witness);
    witness.and_then(|witness| witness.broken.as_ref()).is_some_and(|pinned| is_as_pinned(pinned, fault))
}

/// Returns whether a fault is the pinned one. A program that has no answer in one time has none in another.
pub fn is_as_pinned(pinned: &str, fault: &str) -> bool {
    fault.contains(pinned) || [pinned, fault].iter().all(|text| text.starts_with(NO_ANSWER))
}
