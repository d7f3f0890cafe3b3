//! What a program does beside computing: gradients, and functions of PyTorch's Python front end.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! programs_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            BroadcastShapes "broadcast_shapes" "-" {
                signature: Shapes, forms: [Functional], result: Same, compare: Bits,
                kernel: front_end(broadcast_shapes),
                gradient: none,
                tch: [],
            }
            Backward "backward" "-" {
                signature: Backward, forms: [Functional], result: Same, compare: Bits,
                kernel: autograd(backward),
                gradient: none,
                tch: [],
            }
            Grad "grad" "-" {
                signature: Unary, forms: [Functional], result: Same, compare: Bits,
                kernel: autograd(grad),
                gradient: none,
                tch: [],
            }
            BroadcastWarning "backcompat.broadcast_warning" "-" {
                signature: Setting, forms: [Functional], result: Same, compare: Bits,
                kernel: front_end(broadcast_warning),
                gradient: none,
                tch: [],
            }
            ]
        }
    };
}
