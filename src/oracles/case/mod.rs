//! The specification as data: documents, clauses, cases; and how they are read from YAML and written to it.
//!
//! Nothing here runs a program or knows an implementation.

pub mod load;
pub mod model;
pub mod releases;
pub mod render;

pub use load::{Fault, LoadError, load, load_files, load_program};
pub use model::{
    Aspect, Case, Clause, Document, Expectation, Expected, ExpectedRejection, Location, Otherwise, Shows, Source,
    Specification,
};
pub use releases::Releases;
