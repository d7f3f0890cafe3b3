//! Expansions and other views: the same memory in another layout.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! views_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            Expand "expand" "expand" {
                signature: Sizes, forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand),
                gradient: kernel,
                tch: [f_expand],
            }
            ExpandAs "expand_as" "expand_as" {
                signature: TwoTensors, forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand_as),
                gradient: kernel,
                tch: [f_expand_as],
            }
            BroadcastTo "broadcast_to" "broadcast_to" {
                signature: Sizes, forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand),
                gradient: kernel,
                tch: [f_broadcast_to],
            }
            BroadcastTensors "broadcast_tensors" "broadcast_tensors" {
                signature: Tensors, forms: [Functional], result: Same, compare: Bits,
                kernel: view(broadcast_tensors),
                gradient: kernel,
                tch: [f_broadcast_tensors],
            }
            Unsqueeze "unsqueeze" "unsqueeze" {
                signature: Dim, forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(unsqueeze),
                gradient: kernel,
                tch: [f_unsqueeze],
            }
            Transpose "transpose" "transpose.int" {
                signature: TwoDims, forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(transpose),
                gradient: kernel,
                tch: [f_transpose],
            }
            Permute "permute" "permute" {
                signature: Sizes, forms: [Functional], result: Same, compare: Bits,
                kernel: view(permute),
                gradient: kernel,
                tch: [f_permute],
            }
            View "view" "view" {
                signature: Sizes, forms: [Functional], result: Same, compare: Bits,
                kernel: view(reshape view),
                gradient: kernel,
                tch: [f_view],
            }
            Index "index" "-" {
                signature: Index, forms: [Functional], result: Same, compare: Bits,
                kernel: view(slice index),
                gradient: kernel,
                tch: [],
            }
            ViewAs "view_as" "view_as" {
                signature: TwoTensors, forms: [Functional], result: Same, compare: Bits,
                kernel: view(reshape view_as),
                gradient: kernel,
                tch: [],
            }
            Reshape "reshape" "reshape" {
                signature: Shape, forms: [Functional], result: Same, compare: Bits,
                kernel: copy(reshape),
                gradient: kernel,
                tch: [],
            }
            ReshapeAs "reshape_as" "reshape_as" {
                signature: TwoTensors, forms: [Functional], result: Same, compare: Bits,
                kernel: copy(reshape_as),
                gradient: kernel,
                tch: [],
            }
            Flatten "flatten" "flatten.using_ints" {
                signature: Flatten, forms: [Functional], result: Same, compare: Bits,
                kernel: copy(flatten),
                gradient: kernel,
                tch: [],
            }
            Unflatten "unflatten" "unflatten.int" {
                signature: Unflatten, forms: [Functional], result: Same, compare: Bits,
                kernel: view(reshape unflatten),
                gradient: kernel,
                tch: [],
            }
            Squeeze "squeeze" "squeeze" {
                signature: Squeeze, forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(squeeze),
                gradient: kernel,
                tch: [],
            }
            Swapaxes "swapaxes" "swapaxes" {
                signature: TwoAxes, forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(transpose),
                gradient: kernel,
                tch: [],
            }
            Swapdims "swapdims" "swapdims" {
                signature: TwoDims, forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(transpose),
                gradient: kernel,
                tch: [],
            }
            T "t" "t" {
                signature: Unary, forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(t),
                gradient: kernel,
                tch: [],
            }
            Movedim "movedim" "movedim.int" {
                signature: Move, forms: [Functional], result: Same, compare: Bits,
                kernel: view(movedim),
                gradient: kernel,
                tch: [],
            }
            Moveaxis "moveaxis" "moveaxis.int" {
                signature: Move, forms: [Functional], result: Same, compare: Bits,
                kernel: view(movedim),
                gradient: kernel,
                tch: [],
            }
            Select "select" "select.int" {
                signature: Select, forms: [Functional], result: Same, compare: Bits,
                kernel: view(slice select),
                gradient: kernel,
                tch: [],
            }
            Narrow "narrow" "narrow" {
                signature: Narrow, forms: [Functional], result: Same, compare: Bits,
                kernel: view(slice narrow),
                gradient: kernel,
                tch: [],
            }
            AsStrided "as_strided" "as_strided" {
                signature: Strided, forms: [Functional], result: Same, compare: Bits,
                kernel: view(slice as_strided),
                gradient: kernel,
                tch: [],
            }
            Detach "detach" "detach" {
                signature: Unary, forms: [Functional], result: Same, compare: Bits,
                kernel: view(detach),
                gradient: none,
                tch: [],
            }
            Clone "clone" "clone" {
                signature: Unary, forms: [Functional], result: Same, compare: Bits,
                kernel: copy(clone),
                gradient: kernel,
                tch: [],
            }
            Contiguous "contiguous" "contiguous" {
                signature: Unary, forms: [Functional], result: Same, compare: Bits,
                kernel: copy(contiguous),
                gradient: kernel,
                tch: [f_contiguous],
            }
            ]
        }
    };
}
