//! Reductions, and what else makes fewer elements of many.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! reductions_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            SumToSize "sum_to_size" "sum_to_size": "Sums dimensions until the tensor has a given shape." {
                arguments: (self: Tensor, size: Ints), forms: [Functional], result: Sum, compare: Tolerance,
                kernel: reduction(sum_to_size), gradient: kernel, tch: [f_sum_to_size],
            }
            Sum "sum" "sum.dim_IntList": "The sum." {
                arguments: (self: Tensor, dim: Dims = None, keepdim: Flag = False, dtype: Dtype = None),
                forms: [Functional, Out], result: Sum, compare: Tolerance,
                kernel: reduction(sum), gradient: kernel,
            }
            Nansum "nansum" "nansum": "The sum, with NaN as zero." {
                arguments: (self: Tensor, dim: Dims = None, keepdim: Flag = False, dtype: Dtype = None),
                forms: [Functional, Out], dtypes: NotComplex "nansum_cpu", result: Sum, compare: Tolerance,
                kernel: reduction(nansum), gradient: kernel,
            }
            Mean "mean" "mean.dim": "The mean." {
                arguments: (self: Tensor, dim: Dims = None, keepdim: Flag = False, dtype: Dtype = None),
                forms: [Functional, Out], result: Same, compare: Tolerance,
                kernel: reduction(mean), gradient: kernel,
            }
            Nanmean "nanmean" "nanmean": "The mean of what is not NaN." {
                arguments: (self: Tensor, dim: Dims = None, keepdim: Flag = False, dtype: Dtype = None),
                forms: [Functional, Out], dtypes: Floats, result: Same, compare: Tolerance,
                kernel: moment(nanmean), gradient: kernel,
            }
            Prod "prod" "prod": "The product." {
                arguments: (self: Tensor, dim: Int = None, keepdim: Flag = False, dtype: Dtype = None),
                forms: [Functional, Out], result: Sum, compare: Tolerance,
                kernel: reduction(prod), gradient: kernel,
            }
            Amax "amax" "amax": "The maximum." {
                arguments: (self: Tensor, dim: Dims = None, keepdim: Flag = False), forms: [Functional, Out],
                dtypes: NotComplex "max_values_cpu", quirks: [NoOptionalDims], result: Same, compare: Bits,
                kernel: extreme(amax), gradient: kernel,
            }
            Amin "amin" "amin": "The minimum." {
                arguments: (self: Tensor, dim: Dims = None, keepdim: Flag = False), forms: [Functional, Out],
                dtypes: NotComplex "min_values_cpu", quirks: [NoOptionalDims], result: Same, compare: Bits,
                kernel: extreme(amin), gradient: kernel,
            }
            Argmax "argmax" "argmax": "The index of the maximum." {
                arguments: (self: Tensor, dim: Int = None, keepdim: Flag = False), forms: [Functional, Out],
                dtypes: Real, result: Int64, compare: Bits,
                kernel: extreme(argmax), gradient: none,
            }
            Argmin "argmin" "argmin": "The index of the minimum." {
                arguments: (self: Tensor, dim: Int = None, keepdim: Flag = False), forms: [Functional, Out],
                dtypes: Real, result: Int64, compare: Bits,
                kernel: extreme(argmin), gradient: none,
            }
            Max "max" "max.dim": "The maximum along a dimension, and its index." {
                arguments: (self: Tensor, dim: Int, keepdim: Flag = False), forms: [Functional], dtypes: NotComplex,
                absent: [Out "a program has one out= tensor, and this has two results"],
                result: Same, compare: Bits,
                kernel: extreme(max), gradient: kernel,
            }
            Min "min" "min.dim": "The minimum along a dimension, and its index." {
                arguments: (self: Tensor, dim: Int, keepdim: Flag = False), forms: [Functional], dtypes: NotComplex,
                absent: [Out "a program has one out= tensor, and this has two results"],
                result: Same, compare: Bits,
                kernel: extreme(min), gradient: kernel,
            }
            Aminmax "aminmax" "aminmax": "The minimum and the maximum." {
                arguments: (self: Tensor, dim: Int = None, keepdim: Flag = False), forms: [Functional],
                dtypes: NotComplex "aminmax_cpu", absent: [Out "a program has one out= tensor, and this has two results"],
                result: Same, compare: Bits,
                kernel: extreme(aminmax), gradient: kernel,
            }
            Cummax "cummax" "cummax": "The maximum of the elements up to each, and its index." {
                arguments: (self: Tensor, dim: Int), forms: [Functional], dtypes: NotComplex "cummax_cpu",
                absent: [Out "a program has one out= tensor, and this has two results"],
                result: Same, compare: Bits,
                kernel: extreme(cummax), gradient: kernel,
            }
            Cummin "cummin" "cummin": "The minimum of the elements up to each, and its index." {
                arguments: (self: Tensor, dim: Int), forms: [Functional], dtypes: NotComplex "cummin_cpu",
                absent: [Out "a program has one out= tensor, and this has two results"],
                result: Same, compare: Bits,
                kernel: extreme(cummin), gradient: kernel,
            }
            Cumsum "cumsum" "cumsum": "The sum of the elements up to each." {
                arguments: (self: Tensor, dim: Int, dtype: Dtype = None), forms: [Functional, InPlace, Out],
                dtypes: NotBool "cumsum_out_cpu", result: Sum, compare: Tolerance,
                kernel: scan(cumsum), gradient: kernel,
            }
            Cumprod "cumprod" "cumprod": "The product of the elements up to each." {
                arguments: (self: Tensor, dim: Int, dtype: Dtype = None), forms: [Functional, InPlace, Out],
                dtypes: NotBool "cumprod_out_cpu", result: Sum, compare: Tolerance,
                kernel: scan(cumprod), gradient: kernel,
            }
            Logcumsumexp "logcumsumexp" "logcumsumexp": "The logarithm of the sum of the exponentials up to each." {
                arguments: (self: Tensor, dim: Int), forms: [Functional, Out],
                dtypes: Fractions "logcumsumexp_out_cpu", result: Same, compare: Tolerance,
                kernel: moment(logcumsumexp), gradient: kernel,
            }
            Median "median" "median.dim": "The lower median along a dimension, and its index." {
                arguments: (self: Tensor, dim: Int, keepdim: Flag = False), forms: [Functional],
                dtypes: Real "median_out", absent: [Out "a program has one out= tensor, and this has two results"],
                result: Same, compare: Bits,
                kernel: ranked(median), gradient: kernel,
            }
            Nanmedian "nanmedian" "nanmedian.dim": "The lower median of what is not NaN, and its index." {
                arguments: (self: Tensor, dim: Int, keepdim: Flag = False), forms: [Functional],
                dtypes: Real "median_out", absent: [Out "a program has one out= tensor, and this has two results"],
                result: Same, compare: Bits,
                kernel: ranked(nanmedian), gradient: kernel,
            }
            Mode "mode" "mode": "The most frequent element along a dimension, and its index." {
                arguments: (self: Tensor, dim: Int = -1, keepdim: Flag = False), forms: [Functional],
                dtypes: NotComplex "mode_cpu", absent: [Out "a program has one out= tensor, and this has two results"],
                result: Same, compare: Bits,
                kernel: ranked(mode), gradient: kernel,
            }
            Kthvalue "kthvalue" "kthvalue": "The k-th smallest element along a dimension, and its index." {
                arguments: (self: Tensor, k: Int, dim: Int = -1, keepdim: Flag = False), forms: [Functional],
                dtypes: Real "kthvalue_cpu", absent: [Out "a program has one out= tensor, and this has two results"],
                result: Same, compare: Bits,
                kernel: ranked(kthvalue), gradient: kernel,
            }
            Quantile "quantile" "quantile":
                "The elements at fractions of the order of those along a dimension, or between two of them." {
                arguments: (self: Tensor, q: Tensor, dim: Int = None, keepdim: Flag = False,
                    interpolation: Text = "linear"),
                forms: [Functional, Out], dtypes: WideFloats, result: Same, compare: Tolerance,
                kernel: quantile(quantile), gradient: kernel,
            }
            Nanquantile "nanquantile" "nanquantile": "The quantiles of the elements that are not NaN." {
                arguments: (self: Tensor, q: Tensor, dim: Int = None, keepdim: Flag = False,
                    interpolation: Text = "linear"),
                forms: [Functional, Out], dtypes: WideFloats, result: Same, compare: Tolerance,
                kernel: quantile(nanquantile), gradient: kernel,
            }
            Var "var" "var.correction": "The variance." {
                arguments: (self: Tensor, dim: Dims = None, correction: Number = None, keepdim: Flag = False,
                    unbiased: Flag = None),
                forms: [Functional, Out], dtypes: Fractions "std_cpu", result: Real, compare: Tolerance,
                kernel: moment(var), gradient: kernel,
            }
            Std "std" "std.correction": "The standard deviation." {
                arguments: (self: Tensor, dim: Dims = None, correction: Number = None, keepdim: Flag = False,
                    unbiased: Flag = None),
                forms: [Functional, Out], dtypes: Fractions "std_cpu", result: Real, compare: Tolerance,
                kernel: moment(std), gradient: kernel,
            }
            VarMean "var_mean" "var_mean.correction": "The variance and the mean." {
                arguments: (self: Tensor, dim: Dims = None, correction: Number = None, keepdim: Flag = False,
                    unbiased: Flag = None),
                forms: [Functional], dtypes: Fractions "std_cpu", result: Real, compare: Tolerance,
                kernel: moment(var_mean), gradient: kernel,
            }
            StdMean "std_mean" "std_mean.correction": "The standard deviation and the mean." {
                arguments: (self: Tensor, dim: Dims = None, correction: Number = None, keepdim: Flag = False,
                    unbiased: Flag = None),
                forms: [Functional], dtypes: Fractions "std_cpu", result: Real, compare: Tolerance,
                kernel: moment(std_mean), gradient: kernel,
            }
            Logsumexp "logsumexp" "logsumexp": "The logarithm of the sum of exponentials." {
                arguments: (self: Tensor, dim: Dims, keepdim: Flag = False), forms: [Functional, Out], result: Float,
                compare: Tolerance,
                kernel: moment(logsumexp), gradient: kernel,
            }
            VectorNorm "linalg_vector_norm" "linalg_vector_norm": "The norm of vectors." {
                arguments: (self: Tensor, ord: Number = 2, dim: Dims = None, keepdim: Flag = False,
                    dtype: Dtype = None),
                forms: [Functional, Out], dtypes: Fractions, result: Real, compare: Tolerance,
                kernel: norm(vector_norm), gradient: kernel,
            }
            LayerNorm "layer_norm" "layer_norm":
                "The last dimensions, less their mean and divided by the root of their variance." {
                arguments: (input: Tensor, normalized_shape: Ints, weight: Tensor = None, bias: Tensor = None,
                    eps: Real = 1e-5),
                forms: [Functional], dtypes: Floats "LayerNormKernelImpl", result: Same, compare: Tolerance,
                kernel: normalization(layer_norm), gradient: kernel,
            }
            All "all" "all": "Whether all elements are true." {
                arguments: (self: Tensor, dim: Dims = None, keepdim: Flag = False), forms: [Functional, Out],
                quirks: [DimOverloads], result: Bool, compare: Bits,
                kernel: reduction(all), gradient: none,
            }
            Any "any" "any": "Whether an element is true." {
                arguments: (self: Tensor, dim: Dims = None, keepdim: Flag = False), forms: [Functional, Out],
                quirks: [DimOverloads], result: Bool, compare: Bits,
                kernel: reduction(any), gradient: none,
            }
            Item "item" "item": "The only element, as a Python number." {
                arguments: (self: Tensor), forms: [Functional], result: Same, compare: Bits,
                kernel: reduction(item), gradient: none,
            }
            ]
        }
    };
}
