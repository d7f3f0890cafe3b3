//! Functions of sizes that libtorch has in C++ alone (`ATen/ExpandUtils.h`). The libtorch adapter registers them as operators.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! sizes_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            InferSize "infer_size" "broadcheck::infer_size": "The common shape of two shapes." {
                arguments: (a: Ints, b: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: sizes(infer_size), gradient: none,
            }
            AreExpandable "are_expandable" "broadcheck::are_expandable": "Whether two shapes broadcast." {
                arguments: (shape1: Ints, shape2: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: sizes(are_expandable), gradient: none,
            }
            IsExpandableTo "is_expandable_to" "broadcheck::is_expandable_to": "Whether a shape expands to another." {
                arguments: (shape: Ints, desired: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: sizes(is_expandable_to), gradient: none,
            }
            ]
        }
    };
}
