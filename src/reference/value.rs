//! Tensors, operands, and the reasons why a step has no value.

use crate::error::Rejection;
use crate::tensor::{DType, Layout, Scalar, Shape};

/// The reason why a step has no value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    /// The operation raises an error.
    Rejected(Rejection),
    /// The reference does not model this.
    Unsupported(String),
    /// The program is malformed.
    Malformed(String),
    /// The outcome depends on elements that are not there, in a program that is run without them.
    Unknown(String),
}

impl From<Rejection> for Stop {
    fn from(rejection: Rejection) -> Stop {
        Stop::Rejected(rejection)
    }
}

pub(super) type Result<T> = std::result::Result<T, Stop>;

/// Names a tensor of the machine. Two names of one tensor object (after an in-place step) are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TensorId(pub usize);

/// Names a storage of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StorageId(pub usize);

/// Names a node of the graph. Later steps have greater numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(pub usize);

/// A view of a storage.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub storage: StorageId,
    pub layout: Layout,
    pub dtype: DType,
    /// Its node in the graph, if gradients flow through it.
    pub node: Option<NodeId>,
    /// The tensor that it is a view of.
    pub base: Option<TensorId>,
}

impl Tensor {
    pub fn shape(&self) -> &Shape {
        &self.layout.shape
    }
}

/// An operand of an elementwise operation.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// A tensor.
    Tensor(Tensor),
    /// A number, which libtorch wraps into a tensor without dimensions that yields in promotion.
    Number(Scalar),
}

impl Input {
    /// The tensor, if it is one.
    pub fn tensor(&self) -> Option<&Tensor> {
        match self {
            Input::Tensor(tensor) => Some(tensor),
            Input::Number(_) => None,
        }
    }

    /// Returns its node in the graph.
    pub fn node(&self) -> Option<NodeId> {
        self.tensor()?.node
    }

    pub fn shape(&self) -> Shape {
        match self {
            Input::Tensor(tensor) => tensor.shape().clone(),
            Input::Number(_) => Shape::scalar(),
        }
    }

    pub fn dtype(&self) -> DType {
        match self {
            Input::Tensor(tensor) => tensor.dtype,
            Input::Number(number) => number.dtype(),
        }
    }
}
