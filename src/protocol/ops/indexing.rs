//! Masks and indices.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! indexing_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            MaskedFill "masked_fill" "masked_fill.Tensor": "Puts one value where a mask is true." {
                arguments: (self: Tensor, mask: Tensor, value: Value), forms: [Functional, InPlace],
                absent: [Out "libtorch generates it for compilers: no front end has it, and it computes into a new tensor and copies"],
                result: Same, compare: Bits,
                kernel: mask(masked_fill), gradient: kernel,
            }
            MaskedScatter "masked_scatter" "masked_scatter": "Puts elements in order where a mask is true." {
                arguments: (self: Tensor, mask: Tensor, source: Tensor), forms: [Functional, InPlace],
                absent: [Out "libtorch generates it for compilers: no front end has it, and it computes into a new tensor and copies"],
                result: Same, compare: Bits,
                kernel: mask(masked_scatter), gradient: kernel,
            }
            MaskedSelect "masked_select" "masked_select": "The elements where a mask is true." {
                arguments: (self: Tensor, mask: Tensor), forms: [Functional, Out], result: Same, compare: Bits,
                kernel: mask(masked_select), gradient: kernel,
            }
            IndexTensor "index.Tensor" "index.Tensor": "Indexing by tensors, one for each of the first dimensions." {
                arguments: (self: Tensor, indices: Indices), forms: [Functional, Out], result: Same, compare: Bits,
                kernel: indexing(index), gradient: kernel,
            }
            IndexPut "index_put" "index_put": "Puts values at the elements that tensors index." {
                arguments: (self: Tensor, indices: Indices, values: Tensor, accumulate: Flag = False),
                forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: indexing(index_put), gradient: kernel,
            }
            SetItem "setitem" "-": "Writes values to a part of a tensor, `x[...] = value`." {
                arguments: (self: Tensor, index: Index, value: Value), forms: [InPlace], result: Same, compare: Bits,
                kernel: assignment(setitem), gradient: kernel,
            }
            TakeAlongDim "take_along_dim" "take_along_dim":
                "The elements at indices along a dimension, which broadcast." {
                arguments: (self: Tensor, indices: Tensor, dim: Int = None), forms: [Functional, Out], result: Same,
                compare: Bits,
                kernel: gather(take_along_dim), gradient: kernel,
            }
            Gather "gather" "gather": "The elements at indices along a dimension." {
                arguments: (self: Tensor, dim: Int, index: Tensor), forms: [Functional, Out], result: Same,
                compare: Bits,
                kernel: gather(gather), gradient: kernel,
            }
            Scatter "scatter" "scatter.src": "Puts elements at indices along a dimension." {
                arguments: (self: Tensor, dim: Int, index: Tensor, src: Value), forms: [Functional, InPlace, Out],
                result: Same, compare: Bits,
                kernel: gather(scatter), gradient: kernel,
            }
            IndexSelect "index_select" "index_select": "The slices of a dimension at given indices." {
                arguments: (self: Tensor, dim: Int, index: Tensor), forms: [Functional, Out], result: Same,
                compare: Bits,
                kernel: gather(index_select), gradient: kernel,
            }
            IndexFill "index_fill" "index_fill.int_Tensor": "Puts one value into the slices of a dimension at given indices." {
                arguments: (self: Tensor, dim: Int, index: Tensor, value: Value), forms: [Functional, InPlace],
                absent: [Out "libtorch generates it for compilers: no front end has it, and it computes into a new tensor and copies"],
                result: Same, compare: Bits,
                kernel: slices(index_fill), gradient: kernel,
            }
            IndexCopy "index_copy" "index_copy": "Puts slices into a dimension at given indices." {
                arguments: (self: Tensor, dim: Int, index: Tensor, source: Tensor), forms: [Functional, InPlace, Out],
                result: Same, compare: Bits,
                kernel: slices(index_copy), gradient: kernel,
            }
            IndexAdd "index_add" "index_add": "Adds multiples of slices to those of a dimension at given indices." {
                arguments: (self: Tensor, dim: Int, index: Tensor, source: Tensor, alpha: Number = 1),
                forms: [Functional, InPlace, Out], result: Same, compare: Tolerance,
                kernel: slices(index_add), gradient: kernel,
            }
            ScatterAdd "scatter_add" "scatter_add": "Adds elements at indices along a dimension." {
                arguments: (self: Tensor, dim: Int, index: Tensor, src: Tensor), forms: [Functional, InPlace, Out],
                result: Same, compare: Tolerance,
                kernel: scatter(scatter_add), gradient: kernel,
            }
            ScatterReduce "scatter_reduce" "scatter_reduce.two":
                "Combines elements at indices along a dimension: their sum, product, mean, maximum or minimum." {
                arguments: (self: Tensor, dim: Int, index: Tensor, src: Tensor, reduce: Text, include_self: Flag = True),
                forms: [Functional, InPlace, Out],
                dtypes: All "scatter_gather_tensor_cpu_reduce_amax|scatter_gather_tensor_cpu_reduce_amin|scatter_gather_tensor_cpu_reduce_mean|div_floor_cpu",
                result: Same, compare: Tolerance,
                kernel: scatter(scatter_reduce), gradient: kernel,
            }
            Put "put" "put": "Puts elements at places of the flattened tensor." {
                arguments: (self: Tensor, index: Tensor, source: Tensor, accumulate: Flag = False),
                forms: [Functional, InPlace],
                absent: [Out "libtorch generates it for compilers: no front end has it, and it computes into a new tensor and copies"],
                result: Same, compare: Bits,
                kernel: slices(put), gradient: kernel,
            }
            Isin "isin" "isin.Tensor_Tensor": "Whether each element is one of others." {
                arguments: (elements: Tensor, test_elements: Tensor, assume_unique: Flag = False, invert: Flag = False),
                forms: [Functional, Out], result: Bool, compare: Bits,
                kernel: lookup(isin), gradient: none,
            }
            Searchsorted "searchsorted" "searchsorted.Tensor":
                "The places of values among sorted ones, row by row." {
                arguments: (sorted_sequence: Tensor, values: Tensor, out_int32: Flag = False, right: Flag = False, side: Text = None),
                forms: [Functional, Out], dtypes: Real "searchsorted_out_cpu", result: Int64, compare: Bits,
                kernel: lookup(searchsorted), gradient: none,
            }
            Bucketize "bucketize" "bucketize.Tensor": "The places of values among sorted boundaries." {
                arguments: (input: Tensor, boundaries: Tensor, out_int32: Flag = False, right: Flag = False),
                forms: [Functional, Out], dtypes: Real "searchsorted_out_cpu", result: Int64, compare: Bits,
                kernel: lookup(bucketize), gradient: none,
            }
            ]
        }
    };
}
