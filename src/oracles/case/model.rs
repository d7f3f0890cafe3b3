//! Documents, clauses and cases. `spec/README.md` explains the format; this is what is left of it after loading.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use crate::difference::Aspect;

use super::releases::Releases;
use crate::error::Class;
use crate::program::{Program, ValueRef};
use crate::tensor::{Scalar, ScalarType, Shape};

/// Everything under `spec/`. Ids are unique and every reference between the three lists is valid.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// The documents, in the order of reports.
    pub documents: Vec<Document>,
    /// The normative statements.
    pub clauses: Vec<Clause>,
    /// The cases, by file name, then in the order of the file.
    pub cases: Vec<Case>,
    /// SHA-256 over the names and texts of the files, in hexadecimal.
    pub digest: String,
}

/// A document that makes statements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The id that cases use.
    pub id: String,
    /// The title of the document.
    pub title: String,
    /// True if it is the library's source code and not a text for its users. The behaviour of code is reported apart from
    /// the promises of documents.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub code: bool,
}

/// One normative statement.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The id that cases use.
    pub id: String,
    /// The statement, in our words.
    pub statement: String,
    /// The aspects whose differences contradict it.
    pub about: Vec<Aspect>,
    /// True if the clause lists them itself; [`Aspect::OF_A_STATEMENT`] otherwise.
    pub about_is_explicit: bool,
    /// The kinds of case that it must have.
    pub shows: Vec<Shows>,
    /// The reason why no case can show it; such a statement has none.
    pub cannot_be_shown: Option<String>,
    /// The corrected sentence, for a document whose own is false.
    pub correction: Option<String>,
    /// The places where it is stated.
    pub sources: Vec<Source>,
    /// The location of the clause itself in `spec/`.
    pub location: Location,
}

/// A kind of case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Some operands are accepted.
    Accept,
    /// Some operands are rejected.
    Reject,
    /// Neither: the case shows what becomes of the claim.
    Claim,
}

/// A place in a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The document's id.
    pub doc: String,
    /// The section's heading.
    pub section: String,
    /// The number of the example in the section, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<u32>,
    /// The place of the sentence in the section, such as `paragraph 2, bullet 1`; for the sources of clauses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// A program and what must come of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique: the file's theme, `/`, what it shows.
    pub id: String,
    /// The clauses that it tests.
    pub clauses: Vec<String>,
    /// The values that witness a clause, where not everything that the case expects does.
    pub witnesses: BTreeMap<String, Vec<ValueRef>>,
    /// The source that it comes from.
    pub source: Source,
    /// The purpose of the case.
    pub note: Option<String>,
    /// The program.
    pub program: Program,
    /// The expectations, by value of the program.
    pub expect: Vec<(ValueRef, Expectation)>,
    /// The outcomes of some values in other releases of PyTorch than the one that the reference is of.
    pub otherwise: Vec<Otherwise>,
    /// The statements of the document instead, by value; empty where it agrees with `expect`.
    pub documented: Vec<(ValueRef, Expectation)>,
    /// The actual behaviour, where the document says something else.
    pub why: Option<String>,
    /// The accepting case without which a rejection counts for nothing.
    pub control: Option<String>,
    /// The location of the case.
    pub location: Location,
}

/// The expected outcomes of some values in some releases of PyTorch.
#[derive(Clone, Debug)]
pub struct Otherwise {
    /// The releases.
    pub releases: Releases,
    /// The outcomes of these values there. The other values have the same outcome in every release.
    pub expect: Vec<(ValueRef, Expectation)>,
}

/// A place under `spec/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file, as the user named the folder.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// The expected outcome of one value.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// A value with these properties.
    Value(Expected),
    /// A rejection.
    Rejected(ExpectedRejection),
    /// An input holds what it held before.
    Unchanged,
    /// Python's `None`.
    Nothing,
}

/// The properties of a value that a case states; those that it leaves out are free.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    /// The sizes.
    pub shape: Option<Shape>,
    /// The dtype.
    pub dtype: Option<ScalarType>,
    /// The strides, in elements.
    pub strides: Option<Vec<i64>>,
    /// The elements, row-major. `shape` is then given too.
    pub values: Option<Vec<Scalar>>,
    /// The number of decimals that the values were printed with.
    pub decimals: Option<u32>,
    /// A value whose storage it shares.
    pub view_of: Option<ValueRef>,
    /// It shares its storage with no input.
    pub fresh: bool,
    /// The number that it is.
    pub number: Option<Scalar>,
    /// The warnings of the step.
    pub warnings: Option<Vec<String>>,
    /// The categories of the warnings.
    pub categories: Option<Vec<String>>,
}

/// A rejection that a case expects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedRejection {
    /// The portable class; `None` where the document gives no more than a text or the fact.
    pub class: Option<Class>,
    /// PyTorch's exact text.
    pub message: Option<String>,
    /// The type of the exception in Python.
    pub raises: Option<String>,
}

impl Case {
    /// Returns whether the case expects a rejection, and so needs a control.
    pub fn rejects(&self) -> bool {
        self.expect.iter().any(|(_, expectation)| matches!(expectation, Expectation::Rejected(_)))
    }

    /// Returns whether a value is among those that witness a clause of the case.
    pub fn witnesses(&self, clause: &str, value: ValueRef) -> bool {
        self.witnesses.get(clause).is_none_or(|values| values.contains(&value))
    }

    /// Returns the statement of the document on each value: the expectation of the case, unless `documented` has something
    /// else.
    pub fn document_says(&self) -> impl Iterator<Item = (ValueRef, &Expectation)> {
        let of = |value: ValueRef| self.documented.iter().find(|(other, _)| *other == value);
        let expected = self
            .expect
            .iter()
            .map(move |(value, expectation)| (*value, of(*value).map_or(expectation, |(_, documented)| documented)));
        let alone = self.documented.iter().filter(|(value, _)| !self.expect.iter().any(|(other, _)| other == value));
        expected.chain(alone.map(|(value, documented)| (*value, documented)))
    }

    /// Returns the expectation of a value in a release of PyTorch, if it differs from the current one.
    pub fn otherwise_of(&self, value: ValueRef, release: Option<&str>) -> Option<&Expectation> {
        let ranges = self.otherwise.iter().filter(|otherwise| release.is_some_and(|it| otherwise.releases.contain(it)));
        ranges
            .flat_map(|otherwise| &otherwise.expect)
            .find(|(other, _)| *other == value)
            .map(|(_, expectation)| expectation)
    }

    /// Returns the expectations in a release of PyTorch; the current ones, if there is no release.
    pub fn expected_in<'a>(&'a self, release: Option<&str>) -> Vec<(ValueRef, &'a Expectation)> {
        let of =
            |(value, now): &'a (ValueRef, Expectation)| (*value, self.otherwise_of(*value, release).unwrap_or(now));
        self.expect.iter().map(of).collect()
    }

    /// The theme: what stands before the `/` of the id.
    pub fn theme(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }
}

impl Expectation {
    /// The aspects of which it says something.
    pub fn aspects(&self) -> Vec<Aspect> {
        let stated = |aspects: &[(bool, Aspect)]| {
            aspects.iter().filter(|(stated, _)| *stated).map(|(_, aspect)| *aspect).collect::<Vec<_>>()
        };
        match self {
            Expectation::Value(expected) => stated(&[
                (true, Aspect::Outcome),
                (expected.shape.is_some(), Aspect::Shape),
                (expected.dtype.is_some(), Aspect::Dtype),
                (expected.strides.is_some(), Aspect::Strides),
                (expected.view_of.is_some() || expected.fresh, Aspect::Aliasing),
                (expected.values.is_some() || expected.number.is_some(), Aspect::Values),
                (expected.warnings.is_some() || expected.categories.is_some(), Aspect::Warnings),
            ]),
            Expectation::Rejected(rejection) => stated(&[
                (true, Aspect::Outcome),
                (rejection.class.is_some(), Aspect::Class),
                (rejection.message.is_some(), Aspect::Message),
                (rejection.raises.is_some(), Aspect::Raises),
            ]),
            Expectation::Unchanged => vec![Aspect::Values],
            Expectation::Nothing => vec![Aspect::Outcome],
        }
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}
