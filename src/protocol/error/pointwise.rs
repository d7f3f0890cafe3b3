//! What operations refuse that work element by element.

use crate::tensor::DType;
use crate::tensor::shape::bracketed;

use super::faults::{Names, Sample, faults};

faults! {
    /// What operations refuse that work element by element.
    PointwiseFault {
    /// A dtype that the kernel does not compute in (`AT_DISPATCH_…`).
    NoKernel { kernel: &'static str, dtype: DType } => Dtype, "\"{kernel}\" not implemented for '{}'",
        dtype.libtorch_name();
    /// Complex operands of an extremum (`TORCH_META_FUNC(maximum)`).
    ComplexOperands { name: &'static str } => Dtype, "{name} not implemented for complex tensors.";
    /// A rounding mode that division does not have (`TORCH_META_FUNC2(div, Tensor_mode)`).
    RoundingMode { mode: String } => Argument,
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'";
    /// `out=` while gradients are kept for an operand, of an operation that has no gradient
    /// (`autogradNotImplementedFallback`).
    OutFallback { name: &'static str } => Autograd, "aten::{name}(): functions with out=... arguments don't support \
        automatic differentiation, but one of the arguments requires grad.";
    /// `backward` for the second time through an operation that keeps its operands (`ERR_BACKWARD_TWICE`).
    Freed {} => Autograd, "Trying to backward through the graph a second time (or directly access saved tensors after \
        they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or \
        autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you \
        need to access saved tensors after calling backward.";
    /// `backward` through an operation that has no gradient (`NotImplemented` in libtorch's autograd).
    NoDerivative { name: &'static str } => Autograd, "derivative for aten::{name} is not implemented";
    /// A tensor to copy a result to that has another dtype (`copy_arg` in libtorch's generated code).
    OutDtype { result: DType, out: DType } => Dtype, "Expected out tensor to have dtype {}, but got {} instead",
        result.cpp_name(), out.cpp_name();
    /// A number that the dtype it goes to does not have (`c10::checked_convert`).
    Overflow { dtype: DType } => Argument, "value cannot be converted to type {} without overflow",
        dtype.spelled_name();
    /// An operand that `backward` needs was written to since (`SavedVariable::unpack`).
    Modified { dtype: DType, shape: Vec<i64>, version: u64, expected: u64 } => Autograd,
        "one of the variables needed for gradient computation has been modified by an inplace operation: \
        [CPU{}Type {}] is at version {version}; expected version {expected} instead. Hint: \
        enable anomaly detection to find the operation that failed to compute its gradient, with \
        torch.autograd.set_detect_anomaly(True, check_nan=False).", dtype.libtorch_name(), bracketed(shape);
    /// The same of an operand that is the result of an operation.
    ModifiedResult { dtype: DType, shape: Vec<i64>, node: Node, version: u64, expected: u64 } => Autograd,
        "one of the variables needed for gradient computation has been modified by an inplace operation: \
        [CPU{}Type {}], which is output 0 of {node}, is at version {version}; expected version {expected} instead. Hint: \
        enable anomaly detection to find the operation that failed to compute its gradient, with \
        torch.autograd.set_detect_anomaly(True, check_nan=False).", dtype.libtorch_name(), bracketed(shape);
    /// Integers divided by zero (`zero_division` of the loops in BinaryOpsKernel.cpp).
    ZeroDivision {} => ZeroDivision, "ZeroDivisionError";
    }
}

/// A node of the graph, as libtorch's messages name it: the operation, and which of its overloads with a gradient it is,
/// unless it is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(pub &'static str);

impl Node {
    /// Every one that messages name.
    const ALL: &[Node] = &[
        Node("Add"),
        Node("Add1"),
        Node("Sub"),
        Node("Sub1"),
        Node("Mul"),
        Node("Mul1"),
        Node("Div"),
        Node("Div1"),
        Node("Div2"),
        Node("Fmod"),
        Node("Fmod1"),
        Node("Remainder"),
        Node("Remainder1"),
        Node("Rsub"),
        Node("Rsub1"),
        Node("Maximum"),
        Node("Minimum"),
        Node("Fmax"),
        Node("Fmin"),
        Node("Amax"),
        Node("Amin"),
        Node("Prod"),
        Node("Prod1"),
        Node("Std"),
        Node("StdMean"),
        Node("Logsumexp"),
        Node("LinalgVectorNorm"),
        Node("Norm1"),
        Node("Dist"),
        Node("Cdist"),
        Node("LinalgSolveEx"),
    ];
}

impl std::fmt::Display for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl Sample for Node {
    fn sample(_: &Names, round: usize) -> Node {
        Node::ALL[round % Node::ALL.len()]
    }
}
