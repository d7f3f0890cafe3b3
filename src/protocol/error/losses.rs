//! What losses and distances refuse.

use crate::tensor::{DType, shape::bracketed};

use super::faults::faults;

faults! {
    /// What losses and distances refuse.
    LossFault {
    /// A negative `beta` (`smooth_l1_loss`).
    NegativeBeta {} => Argument, "smooth_l1_loss does not support negative values for beta.";
    /// A `delta` that is not positive (`huber_loss`).
    Delta {} => Argument, "huber_loss does not support non-positive values for delta.";
    /// `kl_div` of complex numbers.
    ComplexDivergence {} => Dtype, "kl_div: Complex inputs not supported.";
    /// `kl_div` of integers.
    IntegralDivergence {} => Dtype, "kl_div: Integral inputs not supported.";
    /// `clamp_min` of complex numbers, within a loss.
    ComplexClamp {} => Dtype, "clamp is not supported for complex types";
    /// `neg` of bool, within a loss.
    BoolNegation {} => Dtype, "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert \
        a mask, use the `~` or `logical_not()` operator instead.";
    /// Two dtypes where `TensorIterator` does not promote (`compute_types`).
    FoundDtype { found: DType, expected: DType } => Dtype, "Found dtype {} but expected {}", found.libtorch_name(),
        expected.libtorch_name();
    /// An operand that requires grad and has no derivative (`check_no_requires_grad`).
    FixedTarget { name: &'static str } => Autograd, "The function '{name}' is not differentiable with respect to argument \
        'target'. This input cannot have requires_grad True.";
    /// The same of a weight.
    FixedWeight { name: &'static str } => Autograd, "The function '{name}' is not differentiable with respect to argument \
        'weight'. This input cannot have requires_grad True.";
    /// The same of a weight of what is true.
    FixedPositiveWeight { name: &'static str } => Autograd, "The function '{name}' is not differentiable with respect to \
        argument 'pos_weight'. This input cannot have requires_grad True.";
    /// What `binary_cross_entropy_with_logits` gives back has not the shape of its operand (`validate_outputs`).
    LogitsGradient { index: usize, gradient: Vec<i64>, expected: Vec<i64> } => NotExpandable,
        "Function BinaryCrossEntropyWithLogitsBackward0 returned an invalid gradient at index {index} - got {} but \
        expected shape compatible with {}", bracketed(gradient), bracketed(expected);
    /// A target of two dimensions or more (`cosine_embedding_loss`).
    ManyTargets {} => Dimension, "0D or 1D target tensor expected, multi-target not supported";
    /// One target for inputs that are no vectors (`cosine_embedding_loss`).
    OneTarget { first: Vec<i64>, second: Vec<i64> } => Dimension,
        "0D target tensor expects 1D input tensors, but found inputs with sizes {} and {}.",
        bracketed(first), bracketed(second);
    /// A target for each of inputs that are no matrices (`cosine_embedding_loss`).
    TargetVector { first: Vec<i64>, second: Vec<i64> } => Dimension,
        "1D target tensor expects 2D input tensors, but found inputs with sizes {} and {}.",
        bracketed(first), bracketed(second);
    /// Operands of several ranks (`triplet_margin_loss`).
    TripletRanks { anchor: usize, positive: usize, negative: usize } => Dimension, "The anchor, positive, and negative \
        tensors are expected to have the same number of dimensions, but got: anchor {anchor}D, positive {positive}D, and \
        negative {negative}D inputs";
    /// Operands that meet in a dtype that has no lengths (`cosine_similarity`).
    CosineDtype { dtype: DType } => Dtype, "expected common dtype to be floating point, yet common dtype is {}",
        dtype.libtorch_name();
    /// A negative `eps` (`cosine_similarity`).
    CosineEps { eps: String } => Argument, "eps must be non-negative, got: {eps}";
    /// A norm of integers (`norm`).
    NormDtype { dtype: DType } => Dtype, "norm(): input dtype should be either floating point or complex. Got {} instead.",
        dtype.libtorch_name();
    /// A norm of complex order (`linalg_vector_norm`).
    ComplexOrder {} => Argument, "linalg.vector_norm: Expected a non-complex scalar as the order of norm.";
    /// A norm without identity, of nothing (`linalg_vector_norm`).
    NormOfNothing { order: String } => Dimension, "linalg.vector_norm cannot compute the {order} norm on an empty tensor \
        because the operation does not have an identity";
    /// The same along a dimension of size 0. The missing space is libtorch's.
    NormAlongNothing { order: String, dim: usize } => Dimension, "linalg.vector_norm cannot compute the {order} norm on the \
        dimension {dim}because this dimension is empty and the operation does not have an identity";
    /// A first operand that is no matrix (`cdist`).
    FirstRank { rank: usize } => Dimension, "cdist only supports at least 2D tensors, X1 got: {rank}D";
    /// A second operand that is no matrix (`cdist`).
    SecondRank { rank: usize } => Dimension, "cdist only supports at least 2D tensors, X2 got: {rank}D";
    /// Rows of several lengths (`cdist`).
    Columns { first: i64, second: i64 } => ProductShape, "X1 and X2 must have the same number of columns. X1: {first} \
        X2: {second}";
    /// A first operand that is not floating-point (`cdist`).
    FirstDtype { dtype: DType } => Dtype, "cdist only supports floating-point dtypes, X1 got: {}", dtype.libtorch_name();
    /// A second operand that is not floating-point (`cdist`).
    SecondDtype { dtype: DType } => Dtype, "cdist only supports floating-point dtypes, X2 got: {}", dtype.libtorch_name();
    /// A negative order (`cdist`).
    NegativeOrder {} => Argument, "cdist only supports non-negative p values";
    /// A way to compute that does not exist (`cdist`).
    Mode { mode: i64 } => Argument, "possible modes: 0, 1, 2, but was: {mode}";
    /// Two dtypes in one kernel (`cdist`).
    ExpectedScalar { expected: DType, found: DType } => Dtype, "expected scalar type {} but found {}",
        expected.libtorch_name(), found.libtorch_name();
    /// Two dtypes (`isclose`).
    Unlike { left: DType, right: DType } => Dtype, "{} did not match {}", left.libtorch_name(), right.libtorch_name();
    /// A negative relative tolerance (`isclose`).
    NegativeRtol { rtol: String } => Argument, "rtol must be greater than or equal to zero, but got {rtol}";
    /// A negative absolute tolerance (`isclose`).
    NegativeAtol { atol: String } => Argument, "atol must be greater than or equal to zero, but got {atol}";
    }
}
