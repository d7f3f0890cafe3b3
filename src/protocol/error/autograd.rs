//! Rejections of autograd.

use std::fmt;

use super::table::{Fact, FactKind};

/// Adds the rows of autograd.
macro_rules! rows {
    ($($families:ident)*; $($rows:tt)*) => { $crate::error::table::rejections! { $($families)*; $($rows)*
    /// `backward` of more than one element without a gradient (`_make_grads`).
    GradNeedsScalar => Autograd, "grad can be implicitly created only for scalar outputs";
    /// `backward` of a tensor that nothing differentiable made (`run_backward`).
    NoGradient => Autograd, "element 0 of tensors does not require grad and does not have a grad_fn";
    /// The gradient given to `backward` has a shape that the tensor's does not expand to (`validate_outputs`).
    InvalidGradient { gradient: Vec<i64>, output: Vec<i64> } => NotExpandable,
        "invalid gradient at index 0 - got {gradient} but expected shape compatible with {output}";
    /// A gradient of `binary_cross_entropy_with_logits` whose shape the operand's does not expand to
    /// (`validate_outputs`).
    LogitsGradient { index: usize, gradient: Vec<i64>, expected: Vec<i64> } => NotExpandable,
        "Function BinaryCrossEntropyWithLogitsBackward0 returned an invalid gradient at index {index} - got \
         {gradient} but expected shape compatible with {expected}";
    /// `out=` while an operand requires grad (`throw_error_out_requires_grad`).
    OutNeedsGrad { name: &'static str | ["_linalg_solve_ex"] } => Autograd,
        "{name}(): functions with out=... arguments don't support automatic differentiation, but one of the \
         arguments requires grad.";
    /// The same of an operation without a derivative (`autogradNotImplementedFallback`).
    OutFallback { name: &'static str } => Autograd,
        "aten::{message}", message = Rejection::OutNeedsGrad { name: *name };
    /// `backward` through a graph whose saved tensors were freed (`ERR_BACKWARD_TWICE`).
    Freed => Autograd,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have \
         already been freed). Saved intermediate values of the graph are freed when you call .backward() or \
         autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if \
         you need to access saved tensors after calling backward.";
    /// In-place on a leaf that requires grad (`check_inplace` of VariableTypeUtils.h).
    LeafInPlace => Autograd, "a leaf Variable that requires grad is being used in an in-place operation.";
    /// In-place on a view of a leaf that requires grad (`check_inplace` of VariableTypeUtils.h).
    LeafViewInPlace => Autograd, "a view of a leaf Variable that requires grad is being used in an in-place operation.";
    /// An operand or a result that `backward` needs was modified since (`SavedVariable::unpack`).
    Modified {
        dtype: DType, shape: Vec<i64>,
        node: Option<Node> | (
            ["Add", "Add1", "Sub", "Sub1", "Mul", "Mul1", "Div", "Div1", "Div2", "Fmod", "Fmod1", "Remainder",
             "Remainder1", "Rsub", "Rsub1", "Maximum", "Minimum", "Fmax", "Fmin", "Amax", "Amin", "Prod", "Prod1",
             "Std", "StdMean", "Logsumexp", "LinalgVectorNorm", "Norm1", "Dist", "Cdist", "LinalgSolveEx",
             "LinalgSolveTriangular", "CholeskySolve", "LinalgPinv", "ScaledDotProductFlashAttentionForCpu"]
                .map(|name| Some(Node(name)))
        ),
        version: u64, expected: u64
    } => Autograd,
        "one of the variables needed for gradient computation has been modified by an inplace operation: \
         [CPU{dtype}Type {shape}]{node} is at version {version}; expected version {expected} instead. Hint: enable \
         anomaly detection to find the operation that failed to compute its gradient, with \
         torch.autograd.set_detect_anomaly(True, check_nan=False).";
    /// The gradient of an operand that libtorch has no formula for (`not_implemented` of derivatives.yaml).
    NoFormula { name: &'static str | ["zeta", "igamma: input", "igammac: input", "native_dropout_backward: mask"] } => Autograd,
        "the derivative for '{name}' is not implemented.";
    /// The gradient of an operation without a derivative (`autogradNotImplementedFallback`, `NotImplemented`).
    NoDerivative { name: &'static str | ["floor_divide_"] } => Autograd,
        "derivative for aten::{name} is not implemented";
    /// A result of integers or bool of an operand that requires grad (`set_history`).
    NotDifferentiable { dtype: DType } => Autograd, "Autograd not support dtype: {dtype}";
    /// An operand that requires grad and has no derivative (`check_no_requires_grad`).
    FixedArgument {
        name: &'static str,
        argument: &'static str = ["target", "weight", "pos_weight", "buffer", "atol", "rtol", "pivots"]
    } => Autograd,
        "The function '{name}' is not differentiable with respect to argument '{argument}'. This input cannot have \
         requires_grad True.";
    /// A complex result of an operation whose gradient is defined for real numbers only
    /// (`throw_error_for_complex_autograd`).
    ComplexAutograd { name: &'static str } => Autograd,
        "{name} does not support automatic differentiation for outputs with complex dtype.";
    } };
}

pub(super) use rows;

/// A node of the graph, as libtorch's messages name it: the operation, and which of its overloads with a gradient it
/// is, unless it is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(pub &'static str);

/// The node that produced a tensor, if one did.
impl Fact for Option<Node> {
    const KIND: FactKind = FactKind::Node;

    fn samples(_: &[&'static str]) -> Vec<Self> {
        vec![None]
    }

    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Some(Node(name)) => write!(f, ", which is output 0 of {name},"),
            None => Ok(()),
        }
    }
}
