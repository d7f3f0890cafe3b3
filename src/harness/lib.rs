//! Runs programs on implementations and judges what comes back.
//!
//! [`oracles::specification`] judges the cases of the specification, [`oracles::comparison`] two implementations against
//! each other. [`check`] runs the whole specification and reports what it observes as [`model::event`]s. Nothing here
//! prints.

pub mod adapter;
pub mod assets;
pub mod benchmark;
pub mod campaign;
pub mod case;
pub mod check;
pub mod corpus;
pub mod escape;
pub mod format;
pub mod generate;
pub mod give_up;
pub mod json;
pub mod model;
pub mod mutation;
pub mod oracles;
pub mod output;
pub mod reduce;
pub mod reference;
pub mod relaxations;
pub mod runner;
pub mod triage;

pub use crate::case::Aspect;
use broadcheck_protocol::{error, messages, ops, program, tensor, with_element_type};
pub use model::difference::{Difference, UNKNOWN};
