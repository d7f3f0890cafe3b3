//! Why a question is not answered.

use crate::read::ReadError;

/// A question that cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The text cannot be read.
    #[error("{}", .0.pointed())]
    Read(#[from] ReadError),
    /// The text is read, and means nothing that is known.
    #[error("{0}")]
    Unknown(String),
}
