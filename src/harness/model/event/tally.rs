//! A run in numbers.

use serde::{Deserialize, Serialize};

use crate::model::event::{Kind, Verdict};

/// The run in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Totals {
    /// For each implementation, in order.
    pub implementations: Vec<Tally>,
    /// Chosen clauses that no implementation executed.
    pub unexecuted_clauses: Vec<String>,
    /// The shortfalls: less was run than was required, and by which implementation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortfalls: Vec<String>,
    /// True if everything conforms.
    pub conforms: bool,
}

/// One implementation in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Its label.
    pub implementation: String,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed, were uncontrolled, or broke it.
    pub failed: usize,
    /// Cases in which it differs as pinned: it is known to be wrong, or to differ by design.
    pub diverging: usize,
    /// Cases in which it differs as pinned, since PyTorch changed between this release and the reference's.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub release_specific: usize,
    /// Cases that it declares it cannot do.
    pub unsupported: usize,
    /// Cases of elements that it does not tell.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_judged: usize,
    /// Chosen cases of which there is no judgement.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_run: usize,
    /// The problem with the end of its process, after the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_badly: Option<String>,
    /// The programs of the corpus, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<CorpusTally>,
}

/// The programs of the corpus on one implementation, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorpusTally {
    /// SHA-256 over the programs: what was made of the seed.
    pub digest: String,
    /// Programs on which it agrees with the reference.
    pub agree: u64,
    /// Programs on which it is wrong in a way that is known.
    pub known: u64,
    /// Programs on which it differs, or which broke it.
    pub differ: u64,
    /// Programs that it declares it cannot do.
    pub unsupported: u64,
}

impl Tally {
    /// Cases that it ran and that were judged.
    pub fn executed(&self) -> usize {
        self.passed + self.failed + self.diverging + self.release_specific
    }

    /// Returns whether nothing is wrong and something was done.
    pub fn is_green(&self) -> bool {
        self.failed == 0
            && self.passed > 0
            && self.ended_badly.is_none()
            && self.corpus.as_ref().is_none_or(|corpus| corpus.differ == 0)
    }

    /// A tally that was counted again from the judgements, with what `told` has beside them; of so many cases.
    #[must_use]
    pub fn completed(self, told: &Tally, cases: usize) -> Tally {
        Tally {
            implementation: told.implementation.clone(),
            not_run: cases.saturating_sub(self.executed() + self.unsupported + self.not_judged),
            ended_badly: told.ended_badly.clone(),
            corpus: told.corpus.clone(),
            ..self
        }
    }

    /// Counts a judgement.
    pub fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Unsupported { .. } => self.unsupported += 1,
            Verdict::NotJudged { .. } => self.not_judged += 1,
            Verdict::Diverges { kind: Kind::Changed, .. } => self.release_specific += 1,
            Verdict::Diverges { .. } => self.diverging += 1,
            Verdict::Failed { .. } | Verdict::Uncontrolled { .. } | Verdict::Broken { .. } => self.failed += 1,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
