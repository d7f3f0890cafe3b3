//! The oracles: each judges outcomes by a truth of its own.
//!
//! | oracle | truth |
//! |---|---|
//! | [`specification`] | the expectations of a case |
//! | [`comparison`] | another implementation: the reference, or another release |
//! | [`metamorphic`] | programs that agree by definition, within one implementation |
//! | [`mathematics`] | the right results of a function, by its definition and the standards |

mod closeness;
pub mod comparison;
pub mod mathematics;
pub mod metamorphic;
mod modes;
pub mod specification;
