//! A difference between what was expected and what was observed, and the kinds of differences that are known.

use serde::{Deserialize, Serialize};

use crate::case::Aspect;
use crate::error::Class;
use crate::messages;
use crate::program::Rejected;

/// The class in differences of a rejection whose class neither the implementation nor its message reveals.
pub const UNKNOWN: &str = "unknown";

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The value of the program, by name.
    pub value: String,
    /// The aspect that differs.
    pub aspect: Aspect,
    /// The side that sets the expectation: the specification, or the implementation that was compared with.
    pub by: String,
    /// The expected value.
    pub expected: String,
    /// The observed value.
    pub observed: String,
}

/// The class of a rejection: what the implementation says, else what its text says.
pub fn class_of(rejected: &Rejected) -> Option<Class> {
    rejected.class.or_else(|| messages::classify(&rejected.message))
}

/// The value of `by` in differences that report a pinned case that is not as pinned.
pub const FILE: &str = "known differences";

/// The kind of a divergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The implementation contradicts its documentation, or itself.
    Bug,
    /// It does not do this, and says so.
    Unsupported,
    /// It means to differ.
    ByDesign,
    /// Its documentation is wrong.
    Documentation,
    /// It was otherwise in this release than in the one that the reference is of.
    Changed,
}

impl Kind {
    /// A verdict in words, as in `libtorch 2.13.0 is known to be wrong`.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Bug => "known to be wrong",
            Kind::Unsupported => "known not to support this",
            Kind::ByDesign => "known to differ by design",
            Kind::Documentation => "known to contradict its documentation",
            Kind::Changed => "release-specific: PyTorch changed",
        }
    }
}
