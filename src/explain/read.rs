//! Reads what people have: shapes, lines of Python, error messages, whole tracebacks.
//!
//! It turns text into data and knows no operation. [`arguments`] sorts a mixture; the others read one kind each:
//! [`shape`], [`bindings`], [`python`] and [`message`].

pub mod ast;

mod arguments;
mod bindings;
mod dtype;
mod error;
mod foreign;
mod message;
mod operand;
mod parser;
mod pieces;
mod sizes;
mod token;
mod traceback;

pub use arguments::{Asked, Script, arguments};
pub use bindings::{Binding, bindings};
pub use error::ReadError;
pub use message::{Known, Origin, Reported, message};
pub use operand::{creation, operand, shape};
pub use parser::python;
pub use sizes::{Operand, Size};
pub use traceback::Frame;

#[cfg(test)]
mod tests;
