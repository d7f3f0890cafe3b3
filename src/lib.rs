//! Conformance tests and a differential fuzzer for PyTorch's broadcasting semantics.
//!
//! Read `ARCHITECTURE.md` for the map. In one line: the specification is a set of [`program`]s with documented
//! outcomes; the [`mod@reference`] and the [`adapter`]s run them; the [`harness`] judges; the [`report`]s show the
//! results.
//!
//! ```
//! use std::path::PathBuf;
//!
//! use broadcheck::case::load_files;
//! use broadcheck::harness::check::{Candidate, Selection, check};
//! use broadcheck::harness::model::divergence::Source;
//! use broadcheck::harness::model::event::Verdict;
//! use broadcheck::harness::runner::Runner;
//! use broadcheck::report::Run;
//!
//! let files = [
//!     ("documents.yaml", "- {id: notes, title: Notes}"),
//!     (
//!         "clauses.yaml",
//!         "- {id: ones, statement: Sizes of 1 expand., shows: [accept],\n   sources: [{doc: notes, section: Rules, at: line 1}]}",
//!     ),
//!     (
//!         "add.yaml",
//!         "- {id: add/ones, clause: [ones], source: {doc: notes, section: Rules},\n   \
//!          program: {x: {shape: [3, 1]}, y: {shape: [4]}, r: {add: [x, y]}}, expect: {r: {shape: [3, 4]}}}",
//!     ),
//! ];
//! let files = files.map(|(name, text)| (PathBuf::from(name), text.to_owned()));
//! let specification = load_files(&files).unwrap_or_else(|error| panic!("{error}"));
//! let reference = Candidate::new("reference".to_owned(), Runner::Reference, &Source::Own, &specification).unwrap();
//!
//! let mut run = Run::default();
//! let everything = Selection::default();
//! let totals = check(&specification, &specification.digest, &everything, &mut [reference], |event| run.add(event));
//! assert!(totals.conforms);
//! assert_eq!(run.judged[0].verdict, Verdict::Passed);
//! ```
//!
//! The crates below this one are seen through it; [`explain()`] answers why shapes broadcast, or do not. An adapter depends on `broadcheck-protocol` alone.

pub mod cli;
pub mod implementations;
pub mod install;
pub mod report;

pub use broadcheck_explain as explanations;
pub use broadcheck_explain::{Answer, Options, explain};
pub use broadcheck_harness as harness;
pub use broadcheck_harness::{adapter, assets, case, escape, generate, output};
pub use broadcheck_protocol::{error, for_each_op, messages, ops, program, tensor, with_element_type};
pub use broadcheck_reference as reference;
