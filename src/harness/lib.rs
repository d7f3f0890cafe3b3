//! Runs programs on implementations and judges what comes back.
//!
//! The specification is judged by [`expect`], two implementations against each other by [`compare`]; [`check`] runs
//! the whole specification and tells everything it sees as [`event`]s. Nothing here prints.

pub mod adapter;
pub mod assets;
pub mod campaign;
pub mod case;
pub mod check;
pub mod compare;
pub mod corpus;
pub mod coverage;
pub mod definition;
pub mod divergence;
pub mod drawing;
pub mod escape;
pub mod event;
pub mod expect;
pub mod finding;
pub mod generate;
pub mod give_up;
pub mod matrix;
pub mod mutants;
pub mod output;
pub mod pin;
pub mod replace;
pub mod required;
pub mod runner;
pub mod show;
pub mod speed;
pub mod triage;

use broadcheck_protocol::{error, messages, ops, program, tensor, with_element_type};
use broadcheck_reference as reference;
use serde::{Deserialize, Serialize};

pub use crate::case::Aspect;

/// What differences call the class of a rejection that neither the implementation nor its text tells.
pub const UNKNOWN: &str = "unknown";

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
