//! Rejections of losses and distances.

/// Adds the rows of losses and distances.
macro_rules! rows {
    ($($families:ident)*; $($rows:tt)*) => { $crate::error::table::rejections! { $($families)*; $($rows)*
    /// A negative `beta` (`smooth_l1_loss`).
    SmoothL1Beta => Argument, "smooth_l1_loss does not support negative values for beta.";
    /// A `delta` that is not positive (`huber_loss`).
    HuberDelta => Argument, "huber_loss does not support non-positive values for delta.";
    /// An element that is no probability (`binary_cross_entropy_out_cpu`).
    NoProbability { name: &'static str = ["input", "target"] } => Argument, "all elements of {name} should be between 0 and 1";
    /// `kl_div` of complex numbers (`kl_div`).
    KlDivComplex => Dtype, "kl_div: Complex inputs not supported.";
    /// `kl_div` of integers (`kl_div`).
    KlDivIntegral => Dtype, "kl_div: Integral inputs not supported.";
    /// An integral of bools, or over them (`trapezoid`, `cumulative_trapezoid`).
    BoolIntegral { name: &'static str = ["trapezoid", "cumulative_trapezoid"] } => Dtype,
        "{name}: received a bool input for `x` or `y`, but bool is not supported";
    /// An integral over a vector of another length than the dimension has (`trapezoid`, `cumulative_trapezoid`).
    SamplePoints { name: &'static str = ["trapezoid", "cumulative_trapezoid"] } => SizeMismatch,
        "{name}: There must be one `x` value for each sample point";
    /// A target with more than one dimension (`cosine_embedding_loss`).
    CosineTargetRank => Dimension, "0D or 1D target tensor expected, multi-target not supported";
    /// Inputs that do not have one dimension more than the target (`cosine_embedding_loss`).
    CosineInputRank { target: usize, first: Vec<i64>, second: Vec<i64> } => Dimension,
        "{target}D target tensor expects {inputs}D input tensors, but found inputs with sizes {first} and {second}.",
        inputs = *target + 1;
    /// Operands of different ranks (`triplet_margin_loss`).
    TripletRanks { anchor: usize, positive: usize, negative: usize } => Dimension,
        "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: \
         anchor {anchor}D, positive {positive}D, and negative {negative}D inputs";
    /// Operands whose common dtype is integral or bool (`cosine_similarity`).
    CosineDtype { dtype: DType } => Dtype, "expected common dtype to be floating point, yet common dtype is {dtype}";
    /// A negative `eps` (`cosine_similarity`).
    CosineEps { eps: String } => Argument, "eps must be non-negative, got: {eps}";
    /// A norm of integers (`norm`).
    DistDtype { dtype: DType } => Dtype,
        "norm(): input dtype should be either floating point or complex. Got {dtype} instead.";
    /// An operand that is no matrix (`cdist`).
    CdistRank { name: &'static str = ["X1", "X2"], rank: usize } => Dimension,
        "cdist only supports at least 2D tensors, {name} got: {rank}D";
    /// Operands with different numbers of columns (`cdist`).
    CdistColumns { first: i64, second: i64 } => ProductShape,
        "X1 and X2 must have the same number of columns. X1: {first} X2: {second}";
    /// An operand that is not floating-point (`cdist`).
    CdistDtype { name: &'static str = ["X1", "X2"], dtype: DType } => Dtype,
        "cdist only supports floating-point dtypes, {name} got: {dtype}";
    /// A negative order (`cdist`).
    CdistOrder => Argument, "cdist only supports non-negative p values";
    /// A `compute_mode` that does not exist (`cdist`).
    CdistMode { mode: i64 } => Argument, "possible modes: 0, 1, 2, but was: {mode}";
    } };
}

pub(super) use rows;
