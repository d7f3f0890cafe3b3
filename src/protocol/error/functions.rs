//! Rejections of functions that work element by element and are more than arithmetic.

/// Adds the rows of functions that work element by element and are more than arithmetic.
macro_rules! rows {
    ($($families:ident)*; $($rows:tt)*) => { $crate::error::table::rejections! { $($families)*; $($rows)*
    /// A complex standard deviation (`CHECK_NORMAL_TENSOR_STD`).
    ComplexDeviation => Dtype, "normal expects standard deviation to be non-complex";
    /// A standard deviation below zero, or NaN (`CHECK_NORMAL_TENSOR_STD`).
    NegativeDeviation => Argument, "normal expects all elements of std >= 0.0";
    /// A number of trials, or a probability, that is no floating-point number (`binomial`).
    BinomialDtype { name: &'static str = ["count", "prob"], dtype: DType } => Dtype,
        "binomial only supports floating-point dtypes for {name}, got: {dtype}";
    /// A probability that is none (`bernoulli_tensor_kernel`).
    Probability => Argument,
        "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please \
         report an enhancement request to PyTorch.)";
    /// `pow` of integers to a negative integer (`pow`, Pow.cpp).
    NegativePower => Argument, "Integers to negative integer powers are not allowed.";
    /// `float_power_` of anything but float64 or complex128 (`float_power_`).
    FloatPowerBase { base: DType, required: DType } => Dtype,
        "the base given to float_power_ has dtype {base} but the operation's result requires dtype {required}";
    /// `float_power` with `out=` of anything but float64 or complex128 (`float_power_out`).
    FloatPowerOutput { output: DType, required: DType } => Dtype,
        "the output given to float_power has dtype {output} but the operation's result requires dtype {required}";
    /// `ldexp` with `out=` of integers (`ldexp_out`).
    LdexpOutput { output: DType } => Dtype, "ldexp can't be cast to the desired output type {output}";
    /// `heaviside` of complex numbers (the meta function of `heaviside`).
    HeavisideComplex => Dtype, "heaviside is not yet implemented for complex tensors.";
    /// `heaviside` of two dtypes (the meta function of `heaviside`).
    HeavisideDtypes => Dtype, "heaviside is not yet implemented for tensors with different dtypes.";
    /// `complex` and `polar` of anything but floating-point numbers (`complex_check_floating`).
    PartsDtype { first: DType, second: DType } => Dtype,
        "Expected both inputs to be Half, Float or Double tensors but got {first} and {second}";
    /// `complex` and `polar` of two dtypes (`complex_check_dtype`).
    PartsDiffer { first: DType, second: DType } => Dtype,
        "Expected object of scalar type {first} but got scalar type {second} for second argument";
    /// `complex` and `polar` with `out=` of another dtype than the parts make (`complex_check_dtype`).
    PartsOutput { wanted: DType, output: DType } => Dtype,
        "Expected object of scalar type {wanted} but got scalar type {output} for argument 'out'";
    /// `addcdiv` of integers by integers (the meta function of `addcdiv`).
    AddcdivIntegers => Dtype,
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true \
         division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * \
         torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / \
         tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * \
         tensor1 / tensor2), for all dtypes.";
    /// `lerp` of two dtypes, or with a weight of another dtype (the meta functions of `lerp`).
    LerpDtype { operand: &'static str = ["end", "weight"], first: DType, other: DType } => Dtype,
        "expected dtype {first} for `{operand}` but got dtype {other}", first = first.cpp_name(),
        other = other.cpp_name();
    /// `clamp` without bounds (the meta function of `clamp`).
    ClampNoBounds => Argument, "torch.clamp: At least one of 'min' or 'max' must not be None";
    /// `clamp` of complex numbers (the meta functions of `clamp` and `clamp_min`).
    ClampComplex => Dtype, "clamp is not supported for complex types";
    /// `where` with `out=` of another dtype than the result (`where_self_out`).
    WhereOutput { wanted: DType, output: DType } => Dtype, "Expected out type to be {wanted} but got {output}";
    /// `where` with a condition that is not bool (`where_self_out`).
    WhereCondition { dtype: DType } => Dtype,
        "where expected condition to be a boolean tensor, but got a tensor with dtype {dtype}";
    /// `isclose` or `allclose` of two dtypes (`isclose`).
    IscloseDtypes { first: DType, second: DType } => Dtype, "{first} did not match {second}";
    /// `isclose` or `allclose` with a negative tolerance (`isclose`).
    NegativeTolerance { name: &'static str = ["rtol", "atol"], value: String } => Argument,
        "{name} must be greater than or equal to zero, but got {value}";
    /// `prelu` with a weight of another dtype (`prelu`).
    PreluDtypes { first: DType, second: DType } => Dtype,
        "prelu: Type promoting not supported. Got {first} and {second}";
    /// `prelu` of a 0-dim tensor with a weight of several elements (`prelu`).
    PreluScalar => Dimension, "Not allow zero-dim input tensor.";
    /// `prelu` with a weight of another length than there are channels (`prelu`).
    PreluSlopes { slopes: i64, channels: i64 } => SizeMismatch,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = {slopes} and channel size = \
         {channels}.";
    /// `prelu` with a weight of more than one dimension (`prelu`).
    PreluRank { rank: usize } => Dimension,
        "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {rank}";
    /// `fill_` with a tensor that has dimensions (`fill_`).
    FillRank { rank: usize } => Dimension,
        "fill_ only supports 0-dimension value tensor but got tensor with {rank} dimensions.";
    } };
}

pub(super) use rows;
