//! What functions refuse that work element by element and are more than arithmetic.

use crate::tensor::DType;

use super::faults::faults;

faults! {
    /// What functions refuse that work element by element and are more than arithmetic.
    FunctionFault {
    /// A target that must have the dtype that is computed in (`TensorIteratorBase::compute_types`).
    OutputDtype { found: DType, expected: DType } => Dtype, "Found dtype {} but expected {}", found.libtorch_name(),
        expected.libtorch_name();
    /// A gradient that libtorch has no formula for (`not_implemented` of derivatives.yaml).
    NoDerivative { name: &'static str } => Autograd, "the derivative for '{name}' is not implemented.";
    /// The gradient of an operation without derivatives (`autogradNotImplementedFallback`).
    NoDerivatives { name: &'static str } => Autograd, "derivative for aten::{name} is not implemented";
    /// `pow` of integers to a negative integer (`pow`, Pow.cpp).
    NegativePower {} => Argument, "Integers to negative integer powers are not allowed.";
    /// `float_power_` of anything but float64 or complex128 (`float_power_`).
    PowerBase { base: DType, required: DType } => Dtype,
        "the base given to float_power_ has dtype {} but the operation's result requires dtype {}",
        base.libtorch_name(), required.libtorch_name();
    /// `float_power` to anything but float64 or complex128 (`float_power_out`).
    PowerOutput { output: DType, required: DType } => Dtype,
        "the output given to float_power has dtype {} but the operation's result requires dtype {}",
        output.libtorch_name(), required.libtorch_name();
    /// `ldexp` to integers (`ldexp_out`).
    LdexpOutput { output: DType } => Dtype, "ldexp can't be cast to the desired output type {}",
        output.libtorch_name();
    /// `heaviside` of complex numbers.
    StepComplex {} => Dtype, "heaviside is not yet implemented for complex tensors.";
    /// `heaviside` of two dtypes.
    StepDtypes {} => Dtype, "heaviside is not yet implemented for tensors with different dtypes.";
    /// `complex` and `polar` of anything but floating-point numbers (`complex_check_floating`).
    PartsDtype { first: DType, second: DType } => Dtype,
        "Expected both inputs to be Half, Float or Double tensors but got {} and {}", first.libtorch_name(),
        second.libtorch_name();
    /// `complex` and `polar` of two dtypes (`complex_check_dtype`).
    PartsDtypes { first: DType, second: DType } => Dtype,
        "Expected object of scalar type {} but got scalar type {} for second argument", first.libtorch_name(),
        second.libtorch_name();
    /// `complex` and `polar` to another dtype than the parts make (`complex_check_dtype`).
    PartsOutput { wanted: DType, output: DType } => Dtype,
        "Expected object of scalar type {} but got scalar type {} for argument 'out'", wanted.libtorch_name(),
        output.libtorch_name();
    /// `addcdiv` of integers by integers.
    IntegerQuotients {} => Dtype, "Integer division with addcdiv is no longer supported, and in a future  release addcdiv \
        will perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + \
        value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / \
        tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 \
        / tensor2), for all dtypes.";
    /// `lerp` of two dtypes.
    EndDtype { first: DType, other: DType } => Dtype, "expected dtype {} for `end` but got dtype {}", first.cpp_name(),
        other.cpp_name();
    /// `lerp` with a weight of another dtype.
    WeightDtype { first: DType, other: DType } => Dtype, "expected dtype {} for `weight` but got dtype {}",
        first.cpp_name(), other.cpp_name();
    /// `clamp` without bounds.
    NoBounds {} => Argument, "torch.clamp: At least one of 'min' or 'max' must not be None";
    /// `clamp` of complex numbers.
    ComplexBounds {} => Dtype, "clamp is not supported for complex types";
    /// In-place `clamp` of integers to fractions, which names the C++ type.
    BoundsCast { result: DType, target: DType } => Dtype, "result type {} can't be cast to the desired output type {}",
        result.libtorch_name(), target.cpp_name();
    /// `where` to another dtype than that of the result (`where_self_out`).
    ChoiceOutput { wanted: DType, output: DType } => Dtype, "Expected out type to be {} but got {}",
        wanted.libtorch_name(), output.libtorch_name();
    /// `where` with a condition that is neither true nor false (`where_self_out`).
    Condition { dtype: DType } => Dtype, "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
        dtype.libtorch_name();
    /// `isclose` of two dtypes.
    CloseDtypes { first: DType, second: DType } => Dtype, "{} did not match {}", first.libtorch_name(),
        second.libtorch_name();
    /// `isclose` with a tolerance below zero.
    Tolerance { name: &'static str, value: String } => Argument,
        "{name} must be greater than or equal to zero, but got {value}";
    /// `prelu` of two dtypes.
    SlopeDtypes { first: DType, second: DType } => Dtype, "prelu: Type promoting not supported. Got {} and {}",
        first.libtorch_name(), second.libtorch_name();
    /// `prelu` with several slopes for a tensor without dimensions.
    SlopesOfScalar {} => Dimension, "Not allow zero-dim input tensor.";
    /// `prelu` with another number of slopes than there are channels.
    Slopes { slopes: usize, channels: i64 } => SizeMismatch,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = {slopes} and channel size = {channels}.";
    /// `prelu` with slopes of more than one dimension.
    SlopeRank { rank: usize } => Dimension,
        "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {rank}";
    /// `fill_` with a tensor of more than one element's rank (`fill_`).
    FillRank { rank: usize } => Dimension,
        "fill_ only supports 0-dimension value tensor but got tensor with {rank} dimensions.";
    }
}

/// Names in texts that are neither those of operations nor of kernels.
pub const NAMES: &[&str] = &["zeta", "igamma: input", "igammac: input", "rtol", "atol"];
