//! Expansions and other views: the same memory in another layout.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! views_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            Expand "expand" "expand": "Expands dimensions of size 1, without a copy." {
                arguments: (self: Tensor, size: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand), gradient: kernel, tch: [f_expand],
            }
            ExpandAs "expand_as" "expand_as": "Expands a tensor to the shape of another." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand_as), gradient: kernel, tch: [f_expand_as],
            }
            BroadcastTo "broadcast_to" "broadcast_to": "Expands a tensor to a shape." {
                arguments: (self: Tensor, size: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand), gradient: kernel, tch: [f_broadcast_to],
            }
            BroadcastTensors "broadcast_tensors" "broadcast_tensors": "Expands tensors to their common shape." {
                arguments: (tensors: Tensors), forms: [Functional], result: Same, compare: Bits,
                kernel: view(broadcast_tensors), gradient: kernel, tch: [f_broadcast_tensors],
            }
            Unsqueeze "unsqueeze" "unsqueeze": "Inserts a dimension of size 1." {
                arguments: (self: Tensor, dim: Int), forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(unsqueeze), gradient: kernel, tch: [f_unsqueeze],
            }
            Transpose "transpose" "transpose.int": "Swaps two dimensions." {
                arguments: (self: Tensor, dim0: Int, dim1: Int), forms: [Functional, InPlace], result: Same,
                compare: Bits,
                kernel: view(transpose), gradient: kernel, tch: [f_transpose],
            }
            Permute "permute" "permute": "Reorders the dimensions." {
                arguments: (self: Tensor, size: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: view(permute), gradient: kernel, tch: [f_permute],
            }
            View "view" "view": "Views the elements in another shape." {
                arguments: (self: Tensor, size: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: view(reshape view), gradient: kernel, tch: [f_view],
            }
            Index "index" "-": "Basic indexing, `x[...]`." {
                arguments: (self: Tensor, index: Index), forms: [Functional], result: Same, compare: Bits,
                kernel: view(slice index), gradient: kernel,
            }
            ViewAs "view_as" "view_as": "Views the elements in the shape of another tensor." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: view(reshape view_as), gradient: kernel,
            }
            Reshape "reshape" "reshape": "Gives the elements another shape, by a view where one is possible." {
                arguments: (self: Tensor, shape: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: copy(reshape), gradient: kernel,
            }
            ReshapeAs "reshape_as" "reshape_as": "Gives the elements the shape of another tensor." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: copy(reshape_as), gradient: kernel,
            }
            Flatten "flatten" "flatten.using_ints": "Merges a range of dimensions into one." {
                arguments: (self: Tensor, start_dim: Int = 0, end_dim: Int = -1), forms: [Functional], result: Same,
                compare: Bits,
                kernel: copy(flatten), gradient: kernel,
            }
            Unflatten "unflatten" "unflatten.int": "Splits a dimension into several." {
                arguments: (self: Tensor, dim: Int, sizes: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: view(reshape unflatten), gradient: kernel,
            }
            Squeeze "squeeze" "squeeze": "Removes dimensions of size 1." {
                arguments: (self: Tensor, dim: Dims = None), forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(squeeze), gradient: kernel,
            }
            Swapaxes "swapaxes" "swapaxes": "Swaps two dimensions, as `transpose`." {
                arguments: (self: Tensor, axis0: Int, axis1: Int), forms: [Functional, InPlace], result: Same,
                compare: Bits,
                kernel: view(transpose), gradient: kernel,
            }
            Swapdims "swapdims" "swapdims": "Swaps two dimensions, as `transpose`." {
                arguments: (self: Tensor, dim0: Int, dim1: Int), forms: [Functional, InPlace], result: Same,
                compare: Bits,
                kernel: view(transpose), gradient: kernel,
            }
            T "t" "t": "Transposes a matrix." {
                arguments: (self: Tensor), forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: view(t), gradient: kernel,
            }
            Movedim "movedim" "movedim.int": "Moves a dimension to another position." {
                arguments: (self: Tensor, source: Int, destination: Int), forms: [Functional], result: Same,
                compare: Bits,
                kernel: view(movedim), gradient: kernel,
            }
            Moveaxis "moveaxis" "moveaxis.int": "Moves a dimension to another position, as `movedim`." {
                arguments: (self: Tensor, source: Int, destination: Int), forms: [Functional], result: Same,
                compare: Bits,
                kernel: view(movedim), gradient: kernel,
            }
            Select "select" "select.int": "Selects one index of a dimension." {
                arguments: (self: Tensor, dim: Int, index: Int), forms: [Functional], result: Same, compare: Bits,
                kernel: view(slice select), gradient: kernel,
            }
            Narrow "narrow" "narrow": "Selects a range of a dimension." {
                arguments: (self: Tensor, dim: Int, start: Int, length: Int), forms: [Functional], result: Same,
                compare: Bits,
                kernel: view(slice narrow), gradient: kernel,
            }
            AsStrided "as_strided" "as_strided": "Views the storage with given sizes, strides and offset." {
                arguments: (self: Tensor, size: Ints, stride: Ints, storage_offset: Int = None), forms: [Functional],
                result: Same, compare: Bits,
                kernel: view(slice as_strided), gradient: kernel,
            }
            Detach "detach" "detach": "Views the tensor outside of the gradient graph." {
                arguments: (self: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: view(detach), gradient: none,
            }
            Clone "clone" "clone": "Copies the tensor." {
                arguments: (self: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: copy(clone), gradient: kernel,
            }
            Contiguous "contiguous" "contiguous": "Copies the tensor unless it is contiguous." {
                arguments: (self: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: copy(contiguous), gradient: kernel, tch: [f_contiguous],
            }
            ExpandCopy "expand_copy" "expand_copy": "Expands dimensions of size 1 into a new tensor." {
                arguments: (self: Tensor, size: Ints), forms: [Functional, Out],
                quirks: [AutogradFallback], result: Same, compare: Bits,
                kernel: repetition(expand_copy), gradient: kernel,
            }
            Repeat "repeat" "repeat": "Repeats the tensor along its dimensions, and along new ones in front of them." {
                arguments: (self: Tensor, repeats: Ints), forms: [Functional],
                absent: [Out "libtorch generates it for compilers: no front end has it, and it computes into a new tensor and copies"],
                result: Same, compare: Bits,
                kernel: repetition(repeat), gradient: kernel,
            }
            Tile "tile" "tile": "Repeats the tensor, its last dimensions if there are fewer numbers than dimensions." {
                arguments: (self: Tensor, dims: Ints), forms: [Functional], result: Same, compare: Bits,
                kernel: repetition(tile), gradient: kernel,
            }
            Tril "tril" "tril": "Copies matrices with zeros above a diagonal." {
                arguments: (self: Tensor, diagonal: Int = 0), forms: [Functional, InPlace, Out], result: Same,
                compare: Bits,
                kernel: triangle(tril), gradient: kernel,
            }
            Triu "triu" "triu": "Copies matrices with zeros below a diagonal." {
                arguments: (self: Tensor, diagonal: Int = 0), forms: [Functional, InPlace, Out], result: Same,
                compare: Bits,
                kernel: triangle(triu), gradient: kernel,
            }
            Meshgrid "meshgrid" "meshgrid.indexing": "Expands vectors along dimensions of their own." {
                arguments: (tensors: Tensors, indexing: Text = "ij"), forms: [Functional], result: Same, compare: Bits,
                kernel: view(grid meshgrid), gradient: kernel,
            }
            CartesianProd "cartesian_prod" "cartesian_prod": "The elements of vectors, each with each." {
                arguments: (tensors: Tensors), forms: [Functional], result: Same, compare: Bits,
                kernel: grid(cartesian_prod), gradient: kernel,
            }
            ]
        }
    };
}
