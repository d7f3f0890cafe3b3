//! Programs of tensor operations, and the protocol in which an implementation is asked to run them.
//!
//! It is what an adapter needs and no more: [`tensor`]s and their dtypes, the table of operations ([`ops`]),
//! [`program`]s and outcomes, the ways to reject a call ([`mod@error`]), and the adapter's side of the protocol
//! ([`adapter`]). It knows neither the reference nor an expectation.

pub mod adapter;
pub mod error;
pub mod messages;
pub mod ops;
pub mod program;
pub mod tensor;
