//! The events of a run. Every report is written from these alone. `file.rs` stores them, and alone does input and output.

pub mod cause;
pub mod file;
mod recount;
mod tally;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::case::{Aspect, Document, Source};
use crate::tensor::DType;

use crate::Difference;
pub use broadcheck_explain::broadcast::Dimension;
pub use tally::{CorpusTally, Tally, Totals};

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

/// Something that happened, in the order in which it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The run begins: which specification, and how much of it.
    Started(Started),
    /// A statement of the documents.
    Clause(ClauseStated),
    /// A case of the specification, as it is for every implementation.
    Case(Box<CaseStated>),
    /// An implementation is there.
    Implementation(ImplementationReady),
    /// An implementation should have been there, and could not be run.
    Absent(Absent),
    /// A case was judged on one implementation.
    Judged(Box<Judged>),
    /// A program of the seeded corpus was judged on one implementation.
    Generated(Box<Generated>),
    /// The run is over.
    Finished(Totals),
}

/// The run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// The version of broadcheck.
    pub broadcheck: String,
    /// SHA-256 over the specification's files.
    pub suite: String,
    /// The number of cases that were chosen.
    pub cases: usize,
    /// The number of cases that the specification has.
    pub of: usize,
    /// The documents.
    pub documents: Vec<Document>,
    /// The generated programs that are run after the cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpus: Option<Corpus>,
}

/// Generated programs that are the same everywhere: the first so many of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// The seed.
    pub seed: u64,
    /// The number of programs.
    pub programs: u64,
}

/// A statement of the documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClauseStated {
    /// Its id.
    pub id: String,
    /// Our wording.
    pub statement: String,
    /// The aspects whose differences contradict it.
    pub about: Vec<Aspect>,
    /// The places where it is stated.
    pub sources: Vec<Source>,
    /// The chosen cases that test it.
    pub cases: Vec<String>,
    /// The reason why no case can show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cannot_be_shown: Option<String>,
    /// The corrected sentence, for a document whose own is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
}

/// The identity of the case that was judged. Events of another digest are about another case.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseDigest {
    /// The program, and that of the accepting case that it is judged with.
    pub program: String,
    /// The digest of the expectations: of the specification, and of the reference.
    pub expected: String,
}

/// A case of the specification, for people: what stands in it, whoever runs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseStated {
    /// Its id.
    pub id: String,
    /// The digest of the case.
    pub digest: CaseDigest,
    /// The statements that it tests.
    pub clauses: Vec<String>,
    /// The values that witness a statement, where not everything that the case expects does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub witnesses: BTreeMap<String, Vec<String>>,
    /// The source that it comes from.
    pub source: Source,
    /// The location: file and line.
    pub location: String,
    /// The program, as YAML.
    pub program: String,
    /// The calls, step by step.
    pub calls: Vec<Call>,
    /// The expectations, by value.
    pub expected: Vec<Stated>,
    /// The expectations for other releases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<StatedOtherwise>,
    /// The statements of the document instead, by value; empty where it says the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documented: Vec<Stated>,
    /// The actual behaviour, where the document says something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The purpose of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The accepting case without which a rejection counts for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// The drawing of how the shapes of its operands line up, where they are broadcast together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawing: Option<Drawing>,
}

/// A step, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The name of its result.
    pub value: String,
    /// The name that is called, as in `add_`.
    pub call: String,
}

/// The statement about one value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// Its name.
    pub value: String,
    /// The expected outcome, as text.
    pub outcome: String,
    /// The aspects that this is about.
    pub aspects: Vec<Aspect>,
}

/// The expectations for other releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedOtherwise {
    /// The releases, as in `>=2.1, <2.6`.
    pub releases: String,
    /// The expectations, by value.
    pub expected: Vec<Stated>,
}

/// A drawing of how shapes line up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// The call, as in `x.add_(y)`.
    pub call: String,
    /// The shapes, each with its name.
    pub operands: Vec<Operand>,
    /// The dimensions, from the first to the last.
    pub dimensions: Vec<Dimension>,
}

/// A shape in a drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operand {
    /// Its name.
    pub name: String,
    /// Its sizes.
    pub shape: Vec<i64>,
}

/// A dtype and the one that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The dtype in the case.
    pub from: DType,
    /// The dtype that was run.
    pub to: DType,
}

/// An implementation is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImplementationReady {
    /// The name in reports.
    pub label: String,
    /// The name on the command line.
    pub given: String,
    /// Its name, as it says itself.
    pub name: String,
    /// Its version, as it says itself.
    pub version: String,
    /// The build configuration.
    pub build: String,
    /// A digest of what it declares: operations, dtypes, capabilities, and what it lacks of them.
    pub declares: String,
}

/// An implementation should have been there, and could not be run: a row without data, not a missing row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// The name in reports, as in `libtorch 2.0.1`.
    pub label: String,
    /// The name on the command line.
    pub given: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The reason why it could not be run.
    pub reason: String,
}

/// A case was judged on one implementation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// The case.
    pub case: String,
    /// The digest of the case.
    pub digest: CaseDigest,
    /// The statements that it tests.
    pub clauses: Vec<String>,
    /// The source that it comes from.
    pub source: Source,
    /// The location: file and line.
    pub location: String,
    /// The implementation's label.
    pub implementation: String,
    /// The name of the implementation on the command line.
    pub given: String,
    /// The dtypes that stood for those of the case, which the implementation lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Replacement>,
    /// The verdict.
    pub verdict: Verdict,
    /// In what the outcome differs from what the document says; `None` where there was no outcome.
    pub documented: Option<Vec<Difference>>,
    /// Aspects that the case expects something of, and that the implementation does not tell.
    pub untold: Vec<Aspect>,
    /// The statement of the document, where the case expects something else.
    pub document_says: Option<String>,
    /// The actual behaviour, where the document says something else.
    pub why: Option<String>,
    /// The outcome of every value, by name, truncated where it is long.
    pub outcome: Vec<Seen>,
    /// The same and more, uncut: what another implementation has to equal.
    pub exact: Vec<Exact>,
}

/// The outcome of one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Its name.
    pub value: String,
    /// The outcome, as text.
    pub outcome: String,
    /// The function of the library that refused, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

/// The exact outcome of one value: of a step, of one of its results (`r.0`), or of an input (`x after`) that is not what
/// it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exact {
    /// Its name.
    pub value: String,
    /// The outcome.
    pub is: Came,
    /// The warnings of the step; with its first result, where it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Their categories, where they are told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
}

/// The outcome of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// A tensor.
    Tensor {
        /// Its dtype.
        dtype: String,
        /// Its sizes.
        shape: Vec<i64>,
        /// Its strides, where they are told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        strides: Option<Vec<i64>>,
        /// The storage that it is in, by the first value there.
        storage: String,
        /// Its elements. A digest stands for what is too long.
        elements: String,
    },
    /// Something else than a tensor: a shape, a number, `None`.
    Other(String),
    /// A rejection.
    Rejected {
        /// Its portable class, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        class: Option<String>,
        /// Its text.
        message: String,
        /// The type of the exception, if the implementation reports it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raises: Option<String>,
    },
    /// The step needs a value that is missing.
    NotRun {
        /// The missing value.
        missing: String,
    },
    /// The implementation declares that it cannot do this.
    Unsupported(String),
    /// The adapter failed.
    Failed(String),
}

/// A program of the seeded corpus was judged on one implementation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    /// Its number in the corpus.
    pub program: u64,
    /// The calls, step by step.
    pub calls: Vec<String>,
    /// The outcome of each step without the elements, as text; empty if there was none.
    pub outline: String,
    /// A digest of everything that came of it, elements included; empty where nothing came.
    pub digest: String,
    /// The verdict of the reference.
    pub verdict: Agreement,
}

/// The agreement of an implementation with the reference on a generated program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// It agrees.
    Agrees,
    /// It is wrong in a way that is known.
    Known {
        /// The divergence.
        divergence: String,
    },
    /// It differs.
    Differs {
        /// The signature of the finding.
        signature: String,
        /// The differences.
        differences: Vec<Difference>,
        /// The program, as YAML.
        yaml: String,
    },
    /// It crashed, hung, or broke the protocol.
    Broken {
        /// The failure that happened.
        fault: String,
        /// The program, as YAML.
        yaml: String,
    },
    /// It declares that it cannot do this.
    Unsupported {
        /// The capability that it lacks.
        what: String,
    },
}

/// The verdict on a case on an implementation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Verdict {
    /// Everything is as expected.
    Passed,
    /// Something is not.
    Failed {
        /// The differences.
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
        /// The kind of the divergence.
        kind: Kind,
        /// The rule of its own that the implementation breaks.
        why: String,
        /// In what it differs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        differences: Vec<Difference>,
        /// The way in which it broke, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broken: Option<String>,
        /// The accepting case that diverges, where this one is rejected as expected and has nothing to stand on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        control: Option<String>,
    },
    /// The implementation declares that it cannot do this.
    Unsupported {
        /// The capability that it lacks.
        what: String,
        /// The accepting case that needs it, where this one does not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        control: Option<String>,
    },
    /// The implementation tells no elements, and the case expects some. Everything else is as expected.
    NotJudged {
        /// The part that was not judged.
        what: String,
    },
    /// The implementation crashed, hung, or broke the protocol.
    Broken {
        /// The failure that happened.
        fault: String,
        /// The end of its stderr.
        stderr: String,
    },
}

impl Verdict {
    /// Returns whether the implementation ran the case and was judged on it.
    pub fn executed(&self) -> bool {
        !matches!(self, Verdict::Unsupported { .. } | Verdict::NotJudged { .. })
    }

    /// The verdict before known differences and accepting cases were looked at: what the outcome alone says.
    #[must_use]
    pub fn raw(self) -> Verdict {
        match self {
            Verdict::Diverges { control: Some(_), .. }
            | Verdict::Unsupported { control: Some(_), .. }
            | Verdict::Uncontrolled { .. } => Verdict::Passed,
            Verdict::Diverges { broken: Some(fault), .. } => Verdict::Broken { fault, stderr: String::new() },
            // On a processor that does not show it.
            Verdict::Diverges { differences, .. } if differences.is_empty() => Verdict::Passed,
            Verdict::Diverges { differences, .. } => Verdict::Failed { differences },
            Verdict::Failed { mut differences } => {
                differences.retain(|one| one.by != FILE);
                if differences.is_empty() { Verdict::Passed } else { Verdict::Failed { differences } }
            }
            other => other,
        }
    }

    /// The name that reports use.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed { .. } => "failed",
            Verdict::Uncontrolled { .. } => "uncontrolled",
            Verdict::Diverges { .. } => "diverges",
            Verdict::Unsupported { .. } => "unsupported",
            Verdict::NotJudged { .. } => "not judged",
            Verdict::Broken { .. } => "broken",
        }
    }
}
