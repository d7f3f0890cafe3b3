//! What a run tells. Every report is written from these alone.

use serde::Serialize;

use crate::case::{Document, Source};

use super::Difference;

/// Something that happened, in the order in which it did.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The run begins: which specification, and how much of it.
    Started(Started),
    /// A statement of the documents.
    Clause(ClauseStated),
    /// An implementation is there.
    Implementation(ImplementationReady),
    /// A case was judged on one implementation.
    Judged(Box<Judged>),
    /// The run is over.
    Finished(Totals),
}

/// The run begins.
#[derive(Clone, Debug, Serialize)]
pub struct Started {
    /// The version of broadcheck.
    pub broadcheck: String,
    /// SHA-256 over the specification's files.
    pub suite: String,
    /// How many cases were chosen.
    pub cases: usize,
    /// How many cases the specification has.
    pub of: usize,
    /// The documents.
    pub documents: Vec<Document>,
}

/// A statement of the documents.
#[derive(Clone, Debug, Serialize)]
pub struct ClauseStated {
    /// Its id.
    pub id: String,
    /// Our wording.
    pub statement: String,
    /// Where it stands.
    pub sources: Vec<Source>,
    /// The chosen cases that test it.
    pub cases: Vec<String>,
}

/// An implementation is there.
#[derive(Clone, Debug, Serialize)]
pub struct ImplementationReady {
    /// How reports call it.
    pub label: String,
    /// How the command line calls it.
    pub given: String,
    /// Its name, as it says itself.
    pub name: String,
    /// Its version, as it says itself.
    pub version: String,
    /// How it was built.
    pub build: String,
}

/// A case was judged on one implementation.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The case.
    pub case: String,
    /// The statements that it tests.
    pub clauses: Vec<String>,
    /// Where it comes from.
    pub source: Source,
    /// Where it stands: file and line.
    pub location: String,
    /// The implementation's label.
    pub implementation: String,
    /// How the command line calls the implementation.
    pub given: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether what the document says holds here; `None` where it was not seen.
    pub documented: Option<bool>,
    /// What the document says, where the case expects something else.
    pub document_says: Option<String>,
    /// What really happens, where the document says something else.
    pub why: Option<String>,
    /// What came of every value, by name.
    pub outcome: Vec<Seen>,
}

/// What came of one value.
#[derive(Clone, Debug, Serialize)]
pub struct Seen {
    /// Its name.
    pub value: String,
    /// The outcome, as text.
    pub outcome: String,
    /// The function of the library that refused, where it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// How a case ended on an implementation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Verdict {
    /// Everything is as expected.
    Passed,
    /// Something is not.
    Failed {
        /// What.
        differences: Vec<Difference>,
    },
    /// The rejection is as expected, but the accepting twin failed: refusing everything is not conformance.
    Uncontrolled {
        /// The accepting case.
        control: String,
    },
    /// It is wrong in exactly the way that is pinned for it.
    Diverges {
        /// The id of the divergence.
        divergence: String,
        /// What it is.
        kind: super::divergence::Kind,
        /// Which rule of its own the implementation breaks.
        why: String,
    },
    /// The implementation declares that it cannot do this.
    Unsupported {
        /// What it lacks.
        what: String,
    },
    /// The implementation crashed, hung, or broke the protocol.
    Broken {
        /// What happened.
        fault: String,
        /// The end of its stderr.
        stderr: String,
    },
}

/// The run in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// For each implementation, in order.
    pub implementations: Vec<Tally>,
    /// Chosen clauses that no implementation executed.
    pub unexecuted_clauses: Vec<String>,
    /// Whether everything conforms.
    pub conforms: bool,
}

/// One implementation in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Its label.
    pub implementation: String,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed, were uncontrolled, or broke it.
    pub failed: usize,
    /// Cases in which it is wrong as pinned.
    pub diverging: usize,
    /// Cases that it declares it cannot do.
    pub unsupported: usize,
}

impl Verdict {
    /// Whether the implementation really ran the case.
    pub fn executed(&self) -> bool {
        !matches!(self, Verdict::Unsupported { .. })
    }

    /// The name that reports use.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed { .. } => "failed",
            Verdict::Uncontrolled { .. } => "uncontrolled",
            Verdict::Diverges { .. } => "diverges",
            Verdict::Unsupported { .. } => "unsupported",
            Verdict::Broken { .. } => "broken",
        }
    }
}
