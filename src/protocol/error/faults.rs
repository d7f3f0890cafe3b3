//! How a family of rejections is written down: each fault with its facts, its class and libtorch's text, in one place.

use crate::tensor::DType;

/// Defines the faults of one family of operations:
///
/// ```text
/// /// What the family is.
/// LossFault {
///     /// What is refused, and by which function of libtorch.
///     Reduction { name: &'static str } => Argument, "{name} is not a valid value for reduction";
/// }
/// ```
///
/// The text is a format string over the fields, perhaps with arguments after it; the class is one of
/// [`Class`](super::Class). From the same entry comes a sample of each text, by which a text is recognised.
macro_rules! faults {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$fault_doc:meta])* $fault:ident { $($field:ident: $type:ty),* } => $class:ident, $text:literal $(, $arg:expr)*;)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$fault_doc])* #[allow(missing_docs)] $fault { $($field: $type),* }),*
        }

        impl $name {
            /// The portable class.
            pub fn class(&self) -> $crate::error::Class {
                match *self { $($name::$fault { .. } => $crate::error::Class::$class),* }
            }

            /// libtorch's text.
            pub fn text(&self) -> String {
                match *self { $($name::$fault { $(ref $field),* } => format!($text $(, $arg)*)),* }
            }

            /// One fault of each text, for each of the names that it may have in it.
            pub fn samples(names: &[&'static str]) -> Vec<$name> {
                let names = $crate::error::faults::Names(names);
                // As many rounds as there are names, and pairs of dtypes.
                (0..names.0.len().max($crate::tensor::DType::ALL.len().pow(2)))
                    .flat_map(|_round| -> Vec<$name> {
                        vec![$($name::$fault {
                            $($field: <$type as $crate::error::faults::Sample>::sample(&names, _round)),*
                        }),*]
                    })
                    .collect()
            }
        }
    };
}

pub(super) use faults;

/// Names that texts may have in them: of operations, and those under which kernels refuse.
pub struct Names<'a>(pub &'a [&'static str]);

/// A field of a fault has some value for each round, so that every text occurs in some round.
pub trait Sample {
    /// The value of the field in a round.
    fn sample(names: &Names, round: usize) -> Self;
}

macro_rules! samples {
    ($($type:ty: $value:expr;)+) => {$(
        impl Sample for $type {
            fn sample(_: &Names, _: usize) -> Self {
                $value
            }
        }
    )+};
}

samples! {
    i64: 2;
    usize: 1;
    u64: 1;
    bool: true;
    char: 'i';
    Vec<i64>: vec![2];
    [i64; 2]: [2, 3];
}

impl Sample for &'static str {
    fn sample(names: &Names, round: usize) -> Self {
        names.0[round % names.0.len()]
    }
}

/// A number as C++ prints it.
impl Sample for String {
    fn sample(_: &Names, round: usize) -> Self {
        const NUMBERS: &[&str] = &["2", "-0.5", "inf", "-inf", "nan"];
        NUMBERS[round % NUMBERS.len()].to_owned()
    }
}

impl Sample for DType {
    fn sample(_: &Names, round: usize) -> Self {
        DType::ALL[round % DType::ALL.len()]
    }
}
