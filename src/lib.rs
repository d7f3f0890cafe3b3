//! Conformance tests and a differential fuzzer for PyTorch's broadcasting semantics.
//!
//! Read `ARCHITECTURE.md` for the map. In one line: the specification is a set of [`program`]s with documented
//! outcomes; the [`mod@reference`] and the [`adapter`]s run them; the `harness` judges; the `report`s tell.
//!
//! Without the default feature `cli` the crate is what an adapter needs and no more.

pub mod adapter;
pub mod error;
pub mod messages;
pub mod ops;
pub mod program;
pub mod tensor;

#[cfg(feature = "cli")]
pub mod assets;
#[cfg(feature = "cli")]
pub mod case;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod escape;
#[cfg(feature = "generate")]
pub mod generate;
#[cfg(feature = "cli")]
pub mod harness;
#[cfg(feature = "cli")]
pub mod implementations;
#[cfg(feature = "cli")]
pub mod install;
#[cfg(feature = "cli")]
pub mod output;
#[cfg(feature = "generate")]
pub mod reference;
#[cfg(feature = "cli")]
pub mod report;
