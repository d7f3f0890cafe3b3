//! Runs programs on implementations and judges what comes back.
//!
//! The specification is judged by [`expect`], two implementations against each other by [`compare`]; [`check`] runs
//! the whole specification and tells everything it sees as [`event`]s. Nothing here prints.

pub mod adapter;
pub mod assets;
pub mod benchmark;
pub mod campaign;
pub mod case;
pub mod check;
pub mod escape;
pub mod format;
pub mod generate;
pub mod give_up;
pub mod model;
pub mod mutation;
pub mod oracles;
pub mod output;
pub mod reduce;
pub mod runner;
pub mod triage;

pub use crate::case::Aspect;
use broadcheck_protocol::{error, messages, ops, program, tensor, with_element_type};
use broadcheck_reference as reference;
pub use model::difference::{Difference, UNKNOWN};
