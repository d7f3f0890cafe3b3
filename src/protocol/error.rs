//! Every rejection, in one table: its facts, its portable class, and libtorch's message.
//!
//! Each family of operations has a file with the rows of its rejections; `table.rs` says how a row is written.
//! [`crate::messages`] reads a message back into a class.

mod autograd;
mod broadcasting;
mod einsum;
mod functions;
mod indexing;
mod losses;
mod pointwise;
mod products;
mod reductions;
mod table;
mod views;

use serde::{Deserialize, Serialize};

use crate::tensor::{DType, ScalarType};

pub use autograd::Node;
pub(crate) use table::Row;
pub use table::{Bare, FactKind};

table::rejections! {
    broadcasting views indexing pointwise functions products einsum reductions losses autograd;
}

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident $name:literal),+ $(,)?) => {
        /// The portable kind of a rejection: a name that suits any library with these semantics.
        ///
        /// ```
        /// use broadcheck_protocol::error::Class;
        ///
        /// assert_eq!(Class::parse("size-mismatch"), Some(Class::SizeMismatch));
        /// assert_eq!(Class::OutputShape.name(), "output-shape");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Class {
            $($(#[$doc])* #[serde(rename = $name)] $class),+
        }

        impl Class {
            /// Every class.
            pub const ALL: &[Class] = &[$(Class::$class),+];

            /// The name that cases and reports use.
            pub fn name(self) -> &'static str {
                match self { $(Class::$class => $name),+ }
            }
        }
    };
}

classes! {
    /// Operand shapes do not broadcast together.
    SizeMismatch "size-mismatch",
    /// An in-place target or `out=` would have to change shape.
    OutputShape "output-shape",
    /// `expand` cannot produce the wanted shape.
    Expand "expand",
    /// The shape of a gradient or of a `sum_to_size` target does not expand to the tensor's.
    NotExpandable "not-expandable",
    /// A size that no tensor can have: negative, or too large.
    ImpossibleSize "impossible-size",
    /// A dimension number or an index out of range, repeated, or too many.
    Dimension "dimension",
    /// A view with another number of elements, or with strides that do not exist.
    View "view",
    /// A dtype that the operation or its output does not support.
    Dtype "dtype",
    /// The tensor that is written to overlaps itself or an operand.
    Overlap "overlap",
    /// More than one element where one was needed.
    ItemCount "item-count",
    /// Inner sizes of a product differ.
    ProductShape "product-shape",
    /// An einsum equation is malformed.
    EinsumEquation "einsum-equation",
    /// The operands of an einsum do not fit its equation.
    EinsumOperand "einsum-operand",
    /// An argument whose value the operation does not accept.
    Argument "argument",
    /// Integers divided by zero.
    ZeroDivision "zero-division",
    /// A matrix that has no inverse.
    Singular "singular",
    /// Autograd does not support the operation.
    Autograd "autograd",
}

impl Class {
    /// The class called `name`.
    pub fn parse(name: &str) -> Option<Class> {
        Class::ALL.iter().copied().find(|class| class.name() == name)
    }
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
