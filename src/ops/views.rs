//! Expansions and other views: the same memory in another layout.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! views_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            Expand "expand" "expand" {
                arguments: (self: Tensor, size: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand), gradient: kernel, tch: [f_expand],
            }
            ExpandAs "expand_as" "expand_as" {
                arguments: (self: Tensor, other: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand_as), gradient: kernel, tch: [f_expand_as],
            }
            BroadcastTo "broadcast_to" "broadcast_to" {
                arguments: (self: Tensor, size: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand), gradient: kernel, tch: [f_broadcast_to],
            }
            BroadcastTensors "broadcast_tensors" "broadcast_tensors" {
                arguments: (tensors: Tensors), forms: [Functional], result: Same, compare: Bits,
                kernel: view(broadcast_tensors), gradient: kernel, tch: [f_broadcast_tensors],
            }
            Unsqueeze "unsqueeze" "unsqueeze" {
                arguments: (self: Tensor, dim: Int), forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(unsqueeze), gradient: kernel, tch: [f_unsqueeze],
            }
            Transpose "transpose" "transpose.int" {
                arguments: (self: Tensor, dim0: Int, dim1: Int), forms: [Functional, InPlace], result: Same,
                compare: Bits,
                kernel: view(transpose), gradient: kernel, tch: [f_transpose],
            }
            Permute "permute" "permute" {
                arguments: (self: Tensor, size: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: view(permute), gradient: kernel, tch: [f_permute],
            }
            View "view" "view" {
                arguments: (self: Tensor, size: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: view(reshape view), gradient: kernel, tch: [f_view],
            }
            Index "index" "-" {
                arguments: (self: Tensor, index: Index), forms: [Functional], result: Same, compare: Bits,
                kernel: view(slice index), gradient: kernel,
            }
            ViewAs "view_as" "view_as" {
                arguments: (self: Tensor, other: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: view(reshape view_as), gradient: kernel,
            }
            Reshape "reshape" "reshape" {
                arguments: (self: Tensor, shape: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: copy(reshape), gradient: kernel,
            }
            ReshapeAs "reshape_as" "reshape_as" {
                arguments: (self: Tensor, other: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: copy(reshape_as), gradient: kernel,
            }
            Flatten "flatten" "flatten.using_ints" {
                arguments: (self: Tensor, start_dim: Int = 0, end_dim: Int = -1), forms: [Functional], result: Same,
                compare: Bits,
                kernel: copy(flatten), gradient: kernel,
            }
            Unflatten "unflatten" "unflatten.int" {
                arguments: (self: Tensor, dim: Int, sizes: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: view(reshape unflatten), gradient: kernel,
            }
            Squeeze "squeeze" "squeeze" {
                arguments: (self: Tensor, dim: Dims = None), forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(squeeze), gradient: kernel,
            }
            Swapaxes "swapaxes" "swapaxes" {
                arguments: (self: Tensor, axis0: Int, axis1: Int), forms: [Functional, InPlace], result: Same,
                compare: Bits,
                kernel: view(transpose), gradient: kernel,
            }
            Swapdims "swapdims" "swapdims" {
                arguments: (self: Tensor, dim0: Int, dim1: Int), forms: [Functional, InPlace], result: Same,
                compare: Bits,
                kernel: view(transpose), gradient: kernel,
            }
            T "t" "t" {
                arguments: (self: Tensor), forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(t), gradient: kernel,
            }
            Movedim "movedim" "movedim.int" {
                arguments: (self: Tensor, source: Int, destination: Int), forms: [Functional], result: Same,
                compare: Bits,
                kernel: view(movedim), gradient: kernel,
            }
            Moveaxis "moveaxis" "moveaxis.int" {
                arguments: (self: Tensor, source: Int, destination: Int), forms: [Functional], result: Same,
                compare: Bits,
                kernel: view(movedim), gradient: kernel,
            }
            Select "select" "select.int" {
                arguments: (self: Tensor, dim: Int, index: Int), forms: [Functional], result: Same, compare: Bits,
                kernel: view(slice select), gradient: kernel,
            }
            Narrow "narrow" "narrow" {
                arguments: (self: Tensor, dim: Int, start: Int, length: Int), forms: [Functional], result: Same,
                compare: Bits,
                kernel: view(slice narrow), gradient: kernel,
            }
            AsStrided "as_strided" "as_strided" {
                arguments: (self: Tensor, size: Ints, stride: Ints, storage_offset: Int = None), forms: [Functional],
                result: Same, compare: Bits,
                kernel: view(slice as_strided), gradient: kernel,
            }
            Detach "detach" "detach" {
                arguments: (self: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: view(detach), gradient: none,
            }
            Clone "clone" "clone" {
                arguments: (self: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: copy(clone), gradient: kernel,
            }
            Contiguous "contiguous" "contiguous" {
                arguments: (self: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: copy(contiguous), gradient: kernel, tch: [f_contiguous],
            }
            ]
        }
    };
}
