//! Runs programs on implementations and judges what comes back.
//!
//! [`oracles::specification`] judges the cases of the specification, [`oracles::comparison`] two implementations against
//! each other. [`check`] runs the whole specification and reports what it observes as [`model::event`]s. Nothing here
//! prints.

pub mod assets;
pub mod benchmark;
pub mod campaign;
pub mod check;
pub mod corpus;
pub mod escape;
pub mod format;
pub mod give_up;
pub mod json;
pub mod model;
pub mod mutation;
pub mod output;
pub mod reduce;
pub mod runner;
pub mod triage;

pub use broadcheck_adapter as adapter;
pub use broadcheck_oracles as oracles;
pub use broadcheck_oracles::difference::class_of;
pub use broadcheck_oracles::{Aspect, Difference, UNKNOWN, case, generate, reference, relaxations};
use broadcheck_protocol::{error, messages, ops, program, tensor};
