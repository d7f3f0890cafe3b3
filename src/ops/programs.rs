//! What a program does beside computing: gradients, and functions of PyTorch's Python front end.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! programs_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            BroadcastShapes "broadcast_shapes" "-" {
                arguments: (shapes: Shapes), forms: [Functional], result: Same, compare: Bits,
                kernel: front_end(broadcast_shapes), gradient: none,
            }
            Backward "backward" "-" {
                arguments: (self: Tensor, gradient: Tensor = None), forms: [Functional], result: Same, compare: Bits,
                kernel: autograd(backward), gradient: none,
            }
            Grad "grad" "-" {
                arguments: (self: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: autograd(grad), gradient: none,
            }
            BroadcastWarning "backcompat.broadcast_warning" "-" {
                arguments: (enabled: Flag = None), forms: [Functional], result: Same, compare: Bits,
                kernel: front_end(broadcast_warning), gradient: none,
            }
            ]
        }
    };
}
