//! The shape of an operand as people write it: sizes that are numbers or names.

use std::fmt;

use broadcheck_protocol::tensor::DType;

/// A size as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// A number, 0 or more.
    Number(i64),
    /// A name, such as `B` in `B,T,C`.
    Name(String),
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Number(number) => write!(f, "{number}"),
            Size::Name(name) => f.write_str(name),
        }
    }
}

/// The shape of an operand, and its dtype where the text says one. Displays as `[5, B]`.
///
/// ```
/// use broadcheck_explain::read::{Operand, Size, shape};
/// use broadcheck_protocol::tensor::DType;
///
/// let operand = shape("(B, 3):int64").unwrap();
/// assert_eq!(operand.sizes, [Size::Name("B".to_owned()), Size::Number(3)]);
/// assert_eq!(operand.dtype, Some(DType::Int64));
/// assert_eq!(operand.to_string(), "[B, 3]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operand {
    /// The sizes, from the first dimension.
    pub sizes: Vec<Size>,
    /// The dtype, if the text says one.
    pub dtype: Option<DType>,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.sizes.iter().map(Size::to_string).collect();
        write!(f, "[{}]", sizes.join(", "))
    }
}
