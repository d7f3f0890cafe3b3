//! Conformance tests and a differential fuzzer for PyTorch's broadcasting semantics.
//!
//! Read `ARCHITECTURE.md` for the map. In one line: the specification is a set of [`program`]s with documented
//! outcomes; the [`mod@reference`] and the [`adapter`]s run them; the [`harness`] judges; the [`report`]s show the
//! results.
//!
//! The three crates below this one are seen through it. An adapter depends on `broadcheck-protocol` alone.

pub mod cli;
pub mod implementations;
pub mod install;
pub mod report;

pub use broadcheck_harness as harness;
pub use broadcheck_harness::{adapter, assets, case, escape, generate, output};
pub use broadcheck_protocol::{error, for_each_op, messages, ops, program, tensor, with_element_type};
pub use broadcheck_reference as reference;
