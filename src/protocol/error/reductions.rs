//! Rejections of reductions.

/// Adds the rows of reductions.
macro_rules! rows {
    ($($families:ident)*; $($rows:tt)*) => { $crate::error::table::rejections! { $($families)*; $($rows)*
    /// `item()` of anything but one element (`item`).
    ItemCount { numel: i64 } => ItemCount, "a Tensor with {numel} elements cannot be converted to Scalar";
    /// A mean of integers, or in integers (the meta function of `mean`).
    MeanDtype { source: &'static str = ["Input", "Optional"], dtype: DType } => Dtype,
        "mean(): could not infer output dtype. {source} dtype must be either a floating point or complex dtype. Got: \
         {dtype}";
    /// `out=` of another dtype than the one asked for (`make_reduction`).
    ProvidedDtype { name: &'static str = ["mean", "nansum", "prod", "sum"], got: DType, wanted: DType } => Dtype,
        "{name}: provided dtype must match dtype of result. Got {got} and {wanted}.";
    /// `out=` of `amax` or `amin` of another dtype than the tensor (the meta functions of `amax` and `amin`).
    AmaxOutput { input: DType, out: DType } => Dtype,
        "Expected the dtype for input and out to match, but got {input} for input's dtype and {out} for out's dtype.";
    /// `out=` of `all` or `any` that is neither bool nor uint8 (`check_result_is_bytebool`).
    BoolOutput { name: &'static str, dtype: DType } => Dtype,
        "{name} only supports bool tensor for result, got: {dtype}";
    /// `nansum` of complex numbers (`nansum_out`).
    NansumComplex => Dtype, "nansum on CPU does not support complex inputs";
    /// `var` and `std` of integers (`std_var_out`).
    VarDtype => Dtype, "std and var only support floating point and complex dtypes";
    /// `var_mean` and `std_mean` of integers (`std_var_mean_out`).
    VarMeanDtype { name: &'static str } => Dtype, "{name} only support floating point and complex dtypes";
    /// `logsumexp` with `out=` of integers (`logsumexp_out`).
    LogsumexpDtype { dtype: DType } => Dtype,
        "logsumexp(): Expected floating point type for result tensor, but got: {dtype}";
    /// `amax`, `argmax` or their likes along a dimension of size 0 (`zero_numel_check_dims`).
    EmptyDimension { name: &'static str, dim: i64 } => Dimension,
        "{name}(): Expected reduction dim {dim} to have non-zero size.";
    /// `amax` or `amin` of an empty tensor, without a dimension (the meta functions of `amax` and `amin`).
    AmaxEmpty { name: &'static str } => Dimension,
        "{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the \
         'dim' argument.";
    /// `argmax` or `argmin` of bool or complex tensors (`check_argmax_argmin`).
    ArgmaxDtype { name: &'static str, category: &'static str = ["complex", "bool"] } => Dtype,
        "{name}(): does not support {category} input";
    /// `argmax` or `argmin` of an empty tensor, without a dimension (`check_argmax_argmin`).
    ArgmaxEmpty { name: &'static str } => Dimension,
        "{name}(): Expected reduction dim to be specified for input.numel() == 0.";
    /// `cummax` or `cummin` of a tensor without dimensions along another than 0 and -1 (`zero_numel_check_dims`).
    ScalarDimension { name: &'static str, dim: i64 } => Dimension,
        "{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}";
    /// `aminmax` along a dimension of size 0 (`zero_numel_check_dims`).
    AminmaxDimension { dim: usize } => Dimension, "aminmax: Expected reduction dim {dim} to have non-zero size.";
    /// `aminmax` of an empty tensor, without a dimension (the meta function of `aminmax`).
    AminmaxEmpty => Dimension,
        "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.";
    /// `aminmax` of a complex number, with a dimension (`aminmax_kernel`).
    AminmaxComplex { dtype: DType } => Dtype, "aminmax not implemented for {dtype}";
    /// `kthvalue` of a rank that the dimension has not (`kthvalue_out_impl_cpu`).
    KthvalueRange { dim: usize } => Argument, "kthvalue(): selected number k out of range for dimension {dim}";
    /// Quantiles of nothing (`quantile_checks`).
    QuantileOfNothing => Dimension, "quantile() input tensor must be non-empty";
    /// Fractions in more than one dimension (`quantile_checks`).
    QuantileRank => Argument, "quantile() q must be a scalar or 1D tensor";
    /// Quantiles of anything but float32 and float64 (`quantile_checks`).
    QuantileDtype => Dtype, "quantile() input tensor must be either float or double dtype";
    /// Fractions of another dtype than the elements (`quantile_checks`).
    QuantileFractions => Dtype, "quantile() q tensor must be same dtype as the input tensor";
    /// `out=` of another dtype than the elements (`quantile_out_impl`).
    QuantileOutput => Dtype, "quantile() out tensor must be same dtype as the input tensor";
    /// An interpolation that there is not (`get_quantile_interpolation_mode`).
    QuantileInterpolation { given: String } => Argument,
        "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {given}";
    /// A fraction that is less than 0, greater than 1 or NaN (`quantile_compute`).
    QuantileRange => Argument, "quantile() q values must be in the range [0, 1]";
    /// `out=` of `logcumsumexp` of another dtype than the tensor (`check_scalar_type_device_layout_equal`).
    LogcumsumexpOutput { input: DType, out: DType } => Dtype, "expected scalar_type {input} but found {out}";
    /// `nanmean` of integers (`nanmean`).
    NanmeanDtype { dtype: DType } => Dtype,
        "nanmean(): expected input to have floating point or complex dtype but got {dtype}";
    /// `nanmean` of integers into `out=` (`nanmean_out`).
    NanmeanIntegers => Dtype,
        "nanmean(): integral types and 'Bool' are not supported for nanmean, even for empty tensors.";
    /// `nanmean` in integers (`nanmean`).
    NanmeanOptional { dtype: DType } => Dtype,
        "nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. \
         Got: {dtype}";
    /// `layer_norm` over no dimensions (`_check_layer_norm_inputs`).
    NormalizedNothing => Argument,
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got \
         normalized_shape = []";
    /// A weight or a bias of another shape than what is normalized, be its sizes 1 (`_check_layer_norm_inputs`).
    NormalizedFactor { name: &'static str = ["weight", "bias"], sizes: Vec<i64>, normalized: Vec<i64> } => SizeMismatch,
        "Expected {name} to be of same shape as normalized_shape, but got {name} of shape {sizes} and normalized_shape = \
         {normalized}";
    /// `layer_norm` over other sizes than the last of the input (`_check_layer_norm_inputs`).
    NormalizedInput { normalized: Vec<i64>, input: Vec<i64> } => SizeMismatch,
        "Given normalized_shape={normalized}, expected input with shape [*, {inner}, but got input of size{input}",
        inner = &normalized.to_string()[1..];
    /// A weight or a bias that is neither of the dtype of the input nor float32 (`check_mixed_data_type`).
    NormalizedParameter => Dtype, "mixed dtype (CPU): expect parameter to have scalar type of Float";
    /// A float32 weight or bias with an input that is neither float16 nor bfloat16 (`check_mixed_data_type`).
    NormalizedMixed => Dtype, "mixed dtype (CPU): all inputs must share same datatype.";
    /// A norm of complex order (`linalg_vector_norm`).
    NormOrder => Argument, "linalg.vector_norm: Expected a non-complex scalar as the order of norm.";
    /// A norm without identity, of an empty tensor (`linalg_vector_norm`).
    NormOfNothing { order: String } => Dimension,
        "linalg.vector_norm cannot compute the {order} norm on an empty tensor because the operation does not have \
         an identity";
    /// A norm without identity, along a dimension of size 0 (`linalg_vector_norm`). The missing space is libtorch's.
    NormAlongNothing { order: String, dim: i64 = (-8..8) } => Dimension,
        "linalg.vector_norm cannot compute the {order} norm on the dimension {dim}because this dimension is empty \
         and the operation does not have an identity";
    /// A norm computed in integers (`check_linalg_norm_dtype`).
    NormDtype { dtype: DType } => Dtype,
        "linalg.vector_norm: dtype should be floating point or complex, but got {dtype}";
    /// A norm of complex numbers computed in real ones (`check_linalg_norm_dtype`).
    NormComplex { dtype: DType } => Dtype,
        "linalg.vector_norm: dtype should be complex for complex inputs, but got {dtype}";
    /// A norm of real numbers computed in complex ones (`check_linalg_norm_dtype`).
    NormReal { dtype: DType } => Dtype, "linalg.vector_norm: dtype should be real for real inputs, but got {dtype}";
    /// A norm computed in a dtype that narrows the operand (`check_linalg_norm_dtype`).
    NormNarrowed { own: DType, given: DType } => Dtype,
        "linalg.vector_norm: the dtype of the input ({own}) should be convertible without narrowing to the specified \
         dtype ({given})";
    } };
}

pub(super) use rows;
