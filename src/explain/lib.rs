//! Why shapes broadcast in PyTorch, or do not, and what to write instead.
//!
//! [`read`] turns what a person has (shapes, a line of Python, an error message) into data. It decides nothing about
//! tensors.

pub mod broadcast;
pub mod drawing;
pub mod read;
pub mod symbols;
