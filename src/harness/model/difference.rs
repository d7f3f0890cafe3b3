//! The kinds of differences that are known.

use serde::{Deserialize, Serialize};

pub use broadcheck_oracles::difference::{Difference, UNKNOWN, class_of};

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
