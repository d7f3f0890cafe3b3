//! Rejections of arithmetic.

/// Adds the rows of arithmetic.
macro_rules! rows {
    ($($families:ident)*; $($rows:tt)*) => { $crate::error::table::rejections! { $($families)*; $($rows)*
    /// A dtype that the kernel is not implemented for (`AT_DISPATCH_…`).
    NoKernel {
        kernel: &'static str | ["GeluKernelImpl", "addmm_impl_cpu_", "addmv_impl_cpu", "bernoulli_tensor_cpu_p_",
            "bernoulli_tensor_cpu_self_", "cholesky_solve_cpu", "div_trunc_cpu", "linalg.lu_solve_cpu", "linalg_eigh_cpu", "linalg_svd_cpu", "lu_cpu",
            "normal_kernel_cpu", "softmax_lastdim_kernel_impl", "std_cpu", "triangular_solve_cpu"], dtype: DType
    } => Dtype,
        "\"{kernel}\" not implemented for '{dtype}'";
    /// A bool scalar as a factor of a result that is not bool (`alpha_check`, `check_addr_scalar`).
    BoolFactor { name: &'static str = ["alpha", "beta"] } => Dtype,
        "Boolean {name} only supported for Boolean results.";
    /// A scalar with a fraction as a factor of an integral result (`alpha_check`, `check_addr_scalar`).
    FloatFactor { name: &'static str = ["alpha", "beta"] } => Dtype,
        "For integral input tensors, argument {name} must not be a floating point number.";
    /// A complex scalar as a factor of a real result (`alpha_check`).
    ComplexFactor { name: &'static str = ["alpha"] } => Dtype,
        "For non-complex input tensors, argument {name} must not be a complex number.";
    /// `-` with two bool operands (`sub_check`).
    BoolSubtract => Dtype,
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` \
         operator instead.";
    /// `-` with a bool scalar or tensor on one side (`sub_check`).
    BoolSubtractOne => Dtype,
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use \
         the `~` or `logical_not()` operator instead.";
    /// `neg` of bool (the meta function of `neg`).
    BoolNegation => Dtype,
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the \
         `~` or `logical_not()` operator instead.";
    /// `sign` of complex numbers (the meta function of `sign`).
    ComplexSign => Dtype,
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.";
    /// Complex numbers that are to be rounded to integers (the meta functions of `ceil`, `floor`, `trunc`).
    ComplexRounded { name: &'static str = ["ceil", "floor", "trunc"] } => Dtype,
        "{name} is not supported for complex inputs";
    /// `abs_` of complex numbers (`abs_`).
    ComplexAbsolute => Dtype, "In-place abs is not supported for complex tensors.";
    /// `leaky_relu_backward` of a result, with a slope that loses the sign of the operand (the meta function of
    /// `leaky_relu_backward`).
    NegativeSlope => Argument,
        "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This is \
         caused by calling in-place forward function with a negative slope, please call out-of-place version instead. \
         File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward \
         calculation with negative slope";
    /// `elu_backward` of a result, with a factor that loses the sign of the operand (the meta function of `elu_backward`).
    NegativeAlpha => Argument,
        "In-place elu backward calculation is triggered with a negative slope which is not supported. This is caused by \
         calling in-place forward function with a negative slope, please call out-of-place version instead.";
    /// `relu` of bool (`relu_`).
    ReluBool => Dtype, "Boolean inputs not supported for relu";
    /// An approximation that `gelu` does not have (`get_gelutype_enum`).
    GeluApproximation => Argument, "approximate argument must be either none or tanh.";
    /// Complex operands of `maximum`, `minimum` and their likes (the meta function of `maximum`).
    ComplexOperands { name: &'static str } => Dtype, "{name} not implemented for complex tensors.";
    /// A rounding mode that division does not have (the meta function of `div`).
    RoundingMode { mode: String } => Argument,
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'";
    /// A scalar that overflows the dtype it is converted to (`c10::checked_convert`, `Scalar::toDouble`).
    Overflow { dtype: DType } => Argument,
        "value cannot be converted to type {dtype} without overflow", dtype = dtype.spelled_name();
    /// Integers divided by zero (`zero_division` of the loops in BinaryOpsKernel.cpp).
    ZeroDivision => ZeroDivision, "ZeroDivisionError";
    } };
}

pub(super) use rows;
