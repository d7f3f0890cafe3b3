//! What reductions refuse.

use crate::tensor::DType;

use super::faults::faults;

faults! {
    /// What reductions refuse.
    ReductionFault {
    /// A mean of integers (the meta function of `mean`).
    MeanInput { dtype: DType } => Dtype,
        "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {}",
        dtype.libtorch_name();
    /// A mean in integers.
    MeanOptional { dtype: DType } => Dtype,
        "mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: {}",
        dtype.libtorch_name();
    /// A tensor to write to that has another dtype than the result (`resize_out`).
    OutDtype { wanted: DType, got: DType } => Dtype, "Expected out tensor to have dtype {}, but got {} instead",
        wanted.cpp_name(), got.cpp_name();
    /// The same, where the reduction itself looks (`make_reduction`).
    ProvidedDtype { name: &'static str, got: DType, wanted: DType } => Dtype,
        "{name}: provided dtype must match dtype of result. Got {} and {}.", got.libtorch_name(), wanted.libtorch_name();
    /// The same for the least and the greatest (the meta functions of `amax` and `amin`).
    ExtremeDtype { input: DType, out: DType } => Dtype,
        "Expected the dtype for input and out to match, but got {} for input's dtype and {} for out's dtype.",
        input.libtorch_name(), out.libtorch_name();
    /// A truth that is to be written to neither bool nor uint8 (`check_result_is_bytebool`).
    TruthDtype { name: &'static str, dtype: DType } => Dtype, "{name} only supports bool tensor for result, got: {}",
        dtype.libtorch_name();
    /// `nansum` of complex numbers.
    NansumComplex {} => Dtype, "nansum on CPU does not support complex inputs";
    /// The position of the least or greatest of numbers that have no order (`check_argmax_argmin`).
    PositionComplex { name: &'static str } => Dtype, "{name}(): does not support complex input";
    /// The same of booleans.
    PositionBool { name: &'static str } => Dtype, "{name}(): does not support bool input";
    /// `var` and `std` of integers (`std_var_out`).
    VarianceDtype {} => Dtype, "std and var only support floating point and complex dtypes";
    /// `var_mean` and `std_mean` of integers (`std_var_mean_out`).
    MomentsDtype { name: &'static str } => Dtype, "{name} only support floating point and complex dtypes";
    /// `logsumexp` that is to be written to integers.
    LogsumexpDtype { dtype: DType } => Dtype,
        "logsumexp(): Expected floating point type for result tensor, but got: {}", dtype.libtorch_name();
    /// A complex correction of a variance (`Scalar::toDouble`).
    Correction {} => Argument, "value cannot be converted to type double without overflow";
    /// The least or greatest of nothing (`zero_numel_check_dims`).
    EmptyDimension { name: &'static str, dim: i64 } => Dimension,
        "{name}(): Expected reduction dim {dim} to have non-zero size.";
    /// The same over all dimensions.
    EmptyExtreme { name: &'static str } => Dimension,
        "{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the \
         'dim' argument.";
    /// The same for a position (`check_argmax_argmin`).
    EmptyPosition { name: &'static str } => Dimension,
        "{name}(): Expected reduction dim to be specified for input.numel() == 0.";
    /// The norm of integers (`checkFloatingOrComplex`).
    NormInput { dtype: DType } => Dtype,
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}", dtype.libtorch_name();
    /// A norm with a complex exponent.
    NormOrder {} => Argument, "linalg.vector_norm: Expected a non-complex scalar as the order of norm.";
    /// A norm that has no value for nothing.
    NormOfNothing { order: String } => Dimension,
        "linalg.vector_norm cannot compute the {order} norm on an empty tensor because the operation does not have an \
         identity";
    /// The same along a dimension; libtorch has lost a space there.
    NormAlongNothing { order: String, dim: i64 } => Dimension,
        "linalg.vector_norm cannot compute the {order} norm on the dimension {dim}because this dimension is empty and \
         the operation does not have an identity";
    /// A norm in integers (`check_linalg_norm_dtype`).
    NormDtype { dtype: DType } => Dtype, "linalg.vector_norm: dtype should be floating point or complex, but got {}",
        dtype.libtorch_name();
    /// A norm of complex numbers in real ones.
    NormComplex { dtype: DType } => Dtype, "linalg.vector_norm: dtype should be complex for complex inputs, but got {}",
        dtype.libtorch_name();
    /// A norm of real numbers in complex ones.
    NormReal { dtype: DType } => Dtype, "linalg.vector_norm: dtype should be real for real inputs, but got {}",
        dtype.libtorch_name();
    /// A norm in a dtype that does not hold the operand's numbers.
    NormNarrowed { own: DType, given: DType } => Dtype,
        "linalg.vector_norm: the dtype of the input ({}) should be convertible without narrowing to the specified dtype \
         ({})", own.libtorch_name(), given.libtorch_name();
    /// Integers made of numbers that gradients flow through (`set_history`).
    NotDifferentiable { dtype: DType } => Autograd, "Autograd not support dtype: {}", dtype.libtorch_name();
    /// A complex result of an operation whose gradient knows real numbers only (`throw_error_for_complex_autograd`).
    ComplexAutograd { name: &'static str } => Autograd,
        "{name} does not support automatic differentiation for outputs with complex dtype.";
    /// A list of dimensions of a tensor with too many (`dim_list_to_bitset`).
    TooManyDimensions { most: usize } => Dimension, "only tensors with up to {most} dims are supported";
    }
}
