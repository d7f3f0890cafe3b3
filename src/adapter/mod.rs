//! Implementations under test: one trait, and the protocol that carries it over a pipe.
//!
//! An adapter sees programs and answers with outcomes. It never sees an expectation.

#[cfg(feature = "cli")]
pub mod process;
pub mod protocol;
pub mod serve;

use serde::{Deserialize, Serialize};

use crate::ops::Op;
use crate::program::{Program, Reply};
use crate::tensor::DType;

pub use serve::serve;

/// What an implementation says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The library: `libtorch`, `numpy`, …
    pub name: String,
    /// Its exact version, asked of the library at run time.
    pub version: String,
    /// How it was built, where that can change results.
    #[serde(default)]
    pub build: String,
    /// The operations that it has. Names unknown to this broadcheck are kept out of programs.
    pub ops: Vec<Op>,
    /// The dtypes that it has.
    pub dtypes: Vec<DType>,
    /// What else it can do.
    #[serde(default)]
    pub capabilities: Vec<Capability>,
}

/// Something that an implementation may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// In-place operations.
    InPlace,
    /// `out=` arguments.
    Out,
    /// Strides and storages are visible.
    Strides,
    /// Gradients.
    Autograd,
    /// Warnings are captured.
    Warnings,
    /// Messages are meant to be PyTorch's own.
    Messages,
}

/// Something that runs programs.
pub trait Implementation {
    /// What it is.
    fn hello(&mut self) -> Hello;

    /// Runs a program on fresh tensors and tells what came of each step.
    fn run(&mut self, program: &Program) -> Reply;
}
