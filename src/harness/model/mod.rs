//! Observations as data: differences, findings, events, and the known differences. It judges nothing.

pub mod divergence;
pub mod event;
pub mod finding;
