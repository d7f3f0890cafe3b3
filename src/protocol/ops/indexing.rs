//! Masks and indices.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! indexing_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            MaskedFill "masked_fill" "masked_fill.Tensor" {
                signature: MaskedFill, forms: [Functional, InPlace],
                absent: [Out "libtorch generates it for compilers: no front end has it, and it computes into a new tensor and copies"],
                result: Same, compare: Bits,
                kernel: mask(masked_fill),
                gradient: kernel,
                tch: [],
            }
            MaskedScatter "masked_scatter" "masked_scatter" {
                signature: MaskedScatter, forms: [Functional, InPlace],
                absent: [Out "libtorch generates it for compilers: no front end has it, and it computes into a new tensor and copies"],
                result: Same, compare: Bits,
                kernel: mask(masked_scatter),
                gradient: kernel,
                tch: [],
            }
            MaskedSelect "masked_select" "masked_select" {
                signature: Masked, forms: [Functional, Out], result: Same, compare: Bits,
                kernel: mask(masked_select),
                gradient: kernel,
                tch: [],
            }
            IndexTensor "index.Tensor" "index.Tensor" {
                signature: IndexTensors, forms: [Functional, Out], result: Same, compare: Bits,
                kernel: indexing(index),
                gradient: kernel,
                tch: [],
            }
            IndexPut "index_put" "index_put" {
                signature: IndexPut, forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: indexing(index_put),
                gradient: kernel,
                tch: [],
            }
            TakeAlongDim "take_along_dim" "take_along_dim" {
                signature: TakeAlong, forms: [Functional, Out], result: Same, compare: Bits,
                kernel: gather(take_along_dim),
                gradient: kernel,
                tch: [],
            }
            Gather "gather" "gather" {
                signature: AlongDim, forms: [Functional, Out], result: Same, compare: Bits,
                kernel: gather(gather),
                gradient: kernel,
                tch: [],
            }
            Scatter "scatter" "scatter.src" {
                signature: Scatter, forms: [Functional, InPlace, Out], result: Same, compare: Bits,
                kernel: gather(scatter),
                gradient: kernel,
                tch: [],
            }
            IndexSelect "index_select" "index_select" {
                signature: AlongDim, forms: [Functional, Out], result: Same, compare: Bits,
                kernel: gather(index_select),
                gradient: kernel,
                tch: [],
            }
            ]
        }
    };
}
