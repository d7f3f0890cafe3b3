//! Documents, clauses and cases. `spec/README.md` explains the format; this is what is left of it after loading.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::releases::Releases;
use crate::error::Class;
use crate::program::{Program, ValueRef};
use crate::tensor::{DType, Scalar, Shape};

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
    /// How cases name it.
    pub id: String,
    /// What it is.
    pub title: String,
}

/// One normative statement.
#[derive(Clone, Debug)]
pub struct Clause {
    /// How cases name it.
    pub id: String,
    /// The statement, in our words.
    pub statement: String,
    /// Which kinds of case it must have.
    pub shows: Vec<Shows>,
    /// Where it stands.
    pub sources: Vec<Source>,
    /// Where the clause itself stands in `spec/`.
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
    /// Which example of the section, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<u32>,
}

/// A program and what must come of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique: the file's theme, `/`, what it shows.
    pub id: String,
    /// The clauses that it tests.
    pub clauses: Vec<String>,
    /// Where it comes from.
    pub source: Source,
    /// Why it is there.
    pub note: Option<String>,
    /// The program.
    pub program: Program,
    /// What holds, by value of the program.
    pub expect: Vec<(ValueRef, Expectation)>,
    /// What held in earlier releases of PyTorch instead. A release that no range has counts as the newest.
    pub earlier: Vec<Earlier>,
    /// What the document says instead, by value; empty where it agrees with `expect`.
    pub documented: Vec<(ValueRef, Expectation)>,
    /// What really happens, where the document says something else.
    pub why: Option<String>,
    /// The accepting case without which a rejection counts for nothing.
    pub control: Option<String>,
    /// Where the case stands.
    pub location: Location,
}

/// What held in some releases of PyTorch that are not the newest.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Which ones.
    pub releases: Releases,
    /// What came of these values then. The others came to what they come to now.
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

/// What must come of one value.
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
    pub dtype: Option<DType>,
    /// The strides, in elements.
    pub strides: Option<Vec<i64>>,
    /// The elements, row-major. `shape` is then given too.
    pub values: Option<Vec<Scalar>>,
    /// How many decimals the values were printed with.
    pub decimals: Option<u32>,
    /// A value whose storage it shares.
    pub view_of: Option<ValueRef>,
    /// It shares its storage with no input.
    pub fresh: bool,
    /// The number that it is.
    pub number: Option<Scalar>,
    /// The warnings of the step.
    pub warnings: Option<Vec<String>>,
}

/// A rejection that a case expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedRejection {
    /// The portable class; `None` where the document gives no more than a text or the fact.
    pub class: Option<Class>,
    /// PyTorch's exact text.
    pub message: Option<String>,
}

impl Case {
    /// Whether the case expects a rejection, and so needs a control.
    pub fn rejects(&self) -> bool {
        self.expect.iter().any(|(_, expectation)| matches!(expectation, Expectation::Rejected(_)))
    }

    /// What is expected of a value in a release of PyTorch, where that is not what holds now.
    pub fn earlier_of(&self, value: ValueRef, release: Option<&str>) -> Option<&Expectation> {
        let ranges = self.earlier.iter().filter(|earlier| release.is_some_and(|it| earlier.releases.contain(it)));
        ranges
            .flat_map(|earlier| &earlier.expect)
            .find(|(other, _)| *other == value)
            .map(|(_, expectation)| expectation)
    }

    /// What is expected in a release of PyTorch; what holds now, where there is none.
    pub fn expected_in<'a>(&'a self, release: Option<&str>) -> Vec<(ValueRef, &'a Expectation)> {
        let of = |(value, now): &'a (ValueRef, Expectation)| (*value, self.earlier_of(*value, release).unwrap_or(now));
        self.expect.iter().map(of).collect()
    }

    /// The theme: what stands before the `/` of the id.
    pub fn theme(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}
