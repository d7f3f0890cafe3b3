//! Runs programs on implementations and judges what comes back.
//!
//! The specification is judged by [`expect`], two implementations against each other by [`compare`]; [`check`] runs
//! the whole specification and tells everything it sees as [`event`]s. Nothing here prints.

pub mod campaign;
pub mod check;
pub mod compare;
pub mod corpus;
pub mod coverage;
pub mod definition;
pub mod divergence;
pub mod drawing;
pub mod event;
pub mod expect;
pub mod finding;
pub mod matrix;
pub mod mutants;
pub mod replace;
pub mod runner;
pub mod show;
pub mod speed;
pub mod triage;

use serde::{Deserialize, Serialize};

/// A side of an outcome that is judged on its own, so that partial conformance shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Accepted, rejected, or neither.
    Outcome,
    /// The sizes.
    Shape,
    /// The dtype.
    Dtype,
    /// The strides.
    Strides,
    /// Which storage is shared with which.
    Aliasing,
    /// The elements.
    Values,
    /// The portable class of a rejection.
    Class,
    /// The exact text of a rejection.
    Message,
    /// The warnings.
    Warnings,
}

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The value of the program, by name.
    pub value: String,
    /// What differs.
    pub aspect: Aspect,
    /// Who says so: the specification, or the implementation that was compared with.
    pub by: String,
    /// What should be.
    pub expected: String,
    /// What is.
    pub observed: String,
}

impl Aspect {
    /// The name that reports use.
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
            Aspect::Warnings => "warnings",
        }
    }
}
