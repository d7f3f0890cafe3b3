//! The macro that makes one table of the families' rejections, and the types that facts of a rejection may have.
//!
//! A row is everything that is known of a rejection:
//!
//! ```text
//! /// A tolerance below zero (`isclose`).
//! NegativeTolerance { name: &'static str = ["rtol", "atol"], value: String } => Argument,
//!     "{name} must be greater than or equal to zero, but got {value}";
//! ```
//!
//! that is: the condition and the function of libtorch that raises it, the facts, the [`Class`](super::Class), and
//! libtorch's message, a format string over the facts. A dtype is printed as `Float`, and sizes as `[2, 3]`;
//! `dtype = dtype.cpp_name()` after the message prints a fact otherwise. [`crate::messages`] reads a message back by its
//! format string into the rejection and its facts, and recognises its class by samples of the rejection, which are
//! derived from the types of the facts. `= [...]` replaces the samples of a fact, and `| [...]` adds to them.

use std::fmt;

use super::Class;
use crate::tensor::shape::bracketed;
use crate::tensor::{DType, ScalarType};

/// Makes `Rejection` from the rows of every family. Each family's `rows!` adds its own and calls this macro again.
macro_rules! rejections {
    ($family:ident $($families:ident)*; $($rows:tt)*) => { $family::rows! { $($families)*; $($rows)* } };
    (; $($(#[$doc:meta])*
        $name:ident $({ $($fact:ident: $type:ty $(= $samples:tt)? $(| $more:tt)?),* })? => $class:ident,
        $message:literal $(, $arg:ident = $value:expr)*;)*) => {
        /// A rejection: why an operation does not run. Displays as libtorch's message.
        ///
        /// ```
        /// use broadcheck_protocol::error::{Class, Rejection};
        /// use broadcheck_protocol::messages::classify;
        ///
        /// let rejection = Rejection::ViewSize { target: vec![2, 3], numel: 4 };
        /// assert_eq!(rejection.class(), Class::View);
        /// assert_eq!(rejection.to_string(), "shape '[2, 3]' is invalid for input of size 4");
        /// assert_eq!(classify("shape '[7]' is invalid for input of size 5"), Some(Class::View));
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Rejection {
            $($(#[$doc])* #[allow(missing_docs)] $name $({ $($fact: $type),* })?),*
        }

        impl Rejection {
            /// The portable class.
            pub fn class(&self) -> Class {
                match self { $(Rejection::$name { .. } => Class::$class),* }
            }

            /// Every rejection with every combination of its facts' samples. A `&'static str` is any of `names`, unless
            /// its row says otherwise.
            pub(crate) fn samples(names: &[&'static str]) -> Vec<Rejection> {
                let mut samples = Vec::new();
                $({
                    $($(
                        let only: Option<Vec<$type>> = None $(.or(Some(Vec::from_iter($samples))))?;
                        let more: Option<Vec<$type>> = None $(.or(Some(Vec::from_iter($more))))?;
                        let $fact = table::samples_of(only, more, names);
                    )*)?
                    let combinations = 1 $($(* $fact.len())*)?;
                    for _at in 0..combinations {
                        let mut _rest = _at;
                        samples.push(Rejection::$name $({ $($fact: table::pick(&$fact, &mut _rest)),* })?);
                    }
                })*
                samples
            }
        }

        /// The rows of the table.
        pub(crate) const ROWS: &[table::Row] = &[$(table::Row {
            name: stringify!($name),
            class: Class::$class,
            message: $message,
            facts: &[$($((stringify!($fact), <$type as table::Fact>::KIND)),*)?],
        }),*];

        #[cfg(test)]
        impl Rejection {
            /// The facts and the arguments of the message, each with its text. Of two with one name, the message prints
            /// the last.
            pub(crate) fn printed(&self) -> (&'static str, Vec<(&'static str, String)>) {
                match self {
                    $(Rejection::$name $({ $($fact),* })? => {
                        $($(let $fact = table::Shown($fact);)*)?
                        let facts = vec![$($((stringify!($fact), $fact.to_string()),)*)?];
                        let arguments = vec![$((stringify!($arg), ($value).to_string())),*];
                        (stringify!($name), [facts, arguments].concat())
                    })*
                }
            }
        }

        impl std::fmt::Display for Rejection {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Rejection::$name $({ $($fact),* })? => {
                        $($(let $fact = table::Shown($fact);)*)?
                        write!(f, $message $(, $arg = $value)*)
                    })*
                }
            }
        }
    };
}

pub(crate) use rejections;

/// A row as data, from which a message is read back.
pub struct Row {
    /// The name of the rejection.
    pub name: &'static str,
    pub class: Class,
    /// The message with its facts in braces.
    pub message: &'static str,
    /// The facts of the rejection, each with the kind of its text.
    pub facts: &'static [(&'static str, FactKind)],
}

/// The kinds of texts that facts are printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FactKind {
    /// A whole number.
    Integer,
    /// A dtype, by any name that a message gives it.
    Dtype,
    /// Sizes in brackets or parentheses.
    Sizes,
    /// Several of these.
    Shapes,
    /// Sizes that are separated by spaces, or none.
    Bare,
    /// A character.
    Letter,
    /// The node of the graph, with a comma before it and after it, or nothing.
    Node,
    /// A name in the source of libtorch.
    Name,
    /// Any text.
    Text,
}

/// The samples of a fact: those of its type unless the row has `only` these, and `more`.
// One function for all rows of a type: in place they are what takes longest to compile here.
#[inline(never)]
pub fn samples_of<T: Fact>(only: Option<Vec<T>>, more: Option<Vec<T>>, names: &[&'static str]) -> Vec<T> {
    let mut samples = only.unwrap_or_else(|| T::samples(names));
    samples.extend(more.into_iter().flatten());
    samples
}

/// Takes one of `samples`, as the lowest digit of `combination` says, and leaves the other digits.
#[inline(never)]
pub fn pick<T: Clone>(samples: &[T], combination: &mut usize) -> T {
    let at = *combination % samples.len();
    *combination /= samples.len();
    samples[at].clone()
}

/// A type that a fact of a rejection may have.
pub trait Fact: Sized {
    /// The kind of its text.
    const KIND: FactKind;

    /// Values whose texts differ in more than numbers.
    fn samples(names: &[&'static str]) -> Vec<Self>;

    /// Prints the fact as libtorch does.
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Displays a fact as libtorch does.
pub struct Shown<'a, T>(pub &'a T);

impl<T> std::ops::Deref for Shown<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: Fact> fmt::Display for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.show(f)
    }
}

macro_rules! facts {
    ($($type:ty: $kind:ident, $samples:expr, |$fact:ident| $shown:expr;)+) => {$(
        impl Fact for $type {
            const KIND: FactKind = FactKind::$kind;

            fn samples(_: &[&'static str]) -> Vec<Self> {
                $samples
            }

            fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $fact = self;
                write!(f, "{}", $shown)
            }
        }
    )+};
}

facts! {
    i64: Integer, vec![2], |number| number;
    usize: Integer, vec![1], |number| number;
    u64: Integer, vec![1], |number| number;
    char: Letter, vec!['i'], |letter| letter;
    // A number as C++ prints it.
    String: Text, ["2", "-0.5", "inf", "-inf", "nan"].map(str::to_owned).to_vec(), |number| number;
    DType: Dtype, DType::ALL.to_vec(), |dtype| dtype.libtorch_name();
    // Messages have the names of all of them in the same places.
    ScalarType: Dtype, vec![ScalarType::Float32, ScalarType::Uint16, ScalarType::Qint8, ScalarType::Float8E5m2],
        |dtype| dtype.libtorch_name();
    [i64; 2]: Sizes, vec![[2, 3]], |sizes| bracketed(sizes);
    Vec<i64>: Sizes, vec![vec![2]], |sizes| bracketed(sizes);
    Bare: Bare, vec![Bare(vec![]), Bare(vec![3]), Bare(vec![3, 4])],
        |sizes| sizes.0.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
    Vec<Vec<i64>>: Shapes, (2..18).map(|count| vec![vec![2]; count]).collect(),
        |shapes| shapes.iter().map(|shape| bracketed(shape)).collect::<Vec<_>>().join(", ");
}

/// Sizes of which libtorch prints no more than the numbers, separated by spaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bare(pub Vec<i64>);

impl Fact for &'static str {
    const KIND: FactKind = FactKind::Name;

    fn samples(names: &[&'static str]) -> Vec<Self> {
        names.to_vec()
    }

    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
