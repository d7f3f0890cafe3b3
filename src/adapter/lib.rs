//! The harness's side of the protocol: starts an adapter, sends it programs, bounds its time and memory, and reports
//! how it failed.
//!
//! The adapter's side, which is re-exported here, is [`broadcheck_protocol::adapter`].

pub mod canned;
mod check;
mod child;
pub mod fault;
pub mod launch;
pub mod limits;
pub mod process;
pub mod validate;
pub mod watch;

pub use broadcheck_protocol::adapter::*;
use broadcheck_protocol::{ops, program, tensor};
pub use fault::{Fault, FaultKind, StartError};
pub use launch::CommandLine;
pub use limits::{Halt, Limits};
pub use process::Process;
