//! A difference between what was expected and what was observed.

use serde::{Deserialize, Serialize};

use crate::error::Class;
use crate::messages;
use crate::program::Rejected;

/// One side of an outcome. Each is judged by itself, so that partial conformance shows and a statement can say what it is
/// about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Accepted, rejected, or not run.
    Outcome,
    /// The sizes.
    Shape,
    /// The dtype.
    Dtype,
    /// The strides.
    Strides,
    /// The sharing of storage between values.
    Aliasing,
    /// The elements.
    Values,
    /// The portable class of a rejection.
    Class,
    /// The exact text of a rejection.
    Message,
    /// The type of the exception, in the library's language.
    Raises,
    /// The warnings.
    Warnings,
}

impl Aspect {
    /// All of them, in the order of reports.
    pub const ALL: [Aspect; 10] = [
        Aspect::Outcome,
        Aspect::Shape,
        Aspect::Dtype,
        Aspect::Strides,
        Aspect::Aliasing,
        Aspect::Values,
        Aspect::Class,
        Aspect::Message,
        Aspect::Raises,
        Aspect::Warnings,
    ];

    /// The aspects of a statement that does not name any.
    pub const OF_A_STATEMENT: [Aspect; 4] = [Aspect::Outcome, Aspect::Shape, Aspect::Dtype, Aspect::Values];

    /// The name that reports and the specification use.
    pub fn name(self) -> &'static str {
        match self {
            Aspect::Outcome => "outcome",
            Aspect::Shape => "shape",
            Aspect::Dtype => "dtype",
            Aspect::Strides => "strides",
            Aspect::Aliasing => "aliasing",
            Aspect::Values => "values",
            Aspect::Class => "class",
            Aspect::Message => "message",
            Aspect::Raises => "raises",
            Aspect::Warnings => "warnings",
        }
    }

    /// The aspect of that name.
    pub fn parse(name: &str) -> Option<Aspect> {
        Aspect::ALL.into_iter().find(|aspect| aspect.name() == name)
    }
}

/// The beginning of [`Difference::by`] in what contradicts the definition of a function, or a standard.
pub const MATHEMATICS: &str = "mathematics: ";

/// The same where authorities differ.
pub const DISPUTED: &str = "disputed: ";

/// The end of `by` in differences between two releases that are within what the operation may lose.
pub const ROUNDED_OTHERWISE: &str = ", rounded otherwise";

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
