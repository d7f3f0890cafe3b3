//! Where programs come from, and who judges the replies to them.
//!
//! [`case`] reads the programs of the specification, [`generate`] makes others out of bytes, [`mod@reference`] asks the
//! reference for its reply, and the oracles judge a reply:
//!
//! | oracle | truth |
//! |---|---|
//! | [`specification`] | the expectations of a case |
//! | [`comparison`] | another implementation: the reference, or another release |
//! | [`metamorphic`] | programs that agree by definition, within one implementation |
//! | [`mathematics`] | the right results of a function, by its definition and the standards |
//!
//! [`relaxations`] say what a step leaves open.

pub mod case;
mod closeness;
pub mod comparison;
pub mod difference;
pub mod format;
pub mod generate;
pub mod mathematics;
pub mod metamorphic;
mod modes;
pub mod reference;
pub mod relaxations;
pub mod specification;

use broadcheck_protocol::{adapter, error, messages, ops, program, tensor, with_element_type};
pub use closeness::same_bits;
pub use difference::{Aspect, Difference, UNKNOWN};
