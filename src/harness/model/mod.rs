//! What is observed, as data: differences, findings, events, and the differences that are known. It judges nothing.

pub mod difference;
pub mod divergence;
pub mod event;
pub mod finding;
