//! Operations of a program besides computing: gradients, and functions of PyTorch's Python front end.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! programs_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            BroadcastShapes "broadcast_shapes" "-": "The common shape of shapes." {
                arguments: (shapes: Shapes), forms: [Functional], result: Same, compare: Bits,
                kernel: front_end(broadcast_shapes), gradient: none,
            }
            Backward "backward" "-": "Computes the gradients of the leaves." {
                arguments: (self: Tensor, gradient: Tensor = None), forms: [Functional], result: Same, compare: Bits,
                kernel: autograd(backward), gradient: none,
            }
            Grad "grad" "-": "The gradient that a leaf has accumulated." {
                arguments: (self: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: autograd(grad), gradient: none,
            }
            BroadcastWarning "backcompat.broadcast_warning" "-":
                "The switch of the warning about the broadcasting of old releases." {
                arguments: (enabled: Flag = None), forms: [Functional], result: Same, compare: Bits,
                kernel: front_end(broadcast_warning), gradient: none,
            }
            ]
        }
    };
}
