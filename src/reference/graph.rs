//! The autograd graph: the derivative of each result, and the tensors that were kept for it. It is data: it knows no
//! kernel, and not how it is walked.

use std::ops::{Index, IndexMut};

use crate::error;
use crate::ops::Op;
use crate::tensor::element::Element;
use crate::tensor::{DType, Scalar, Shape};

use super::value::{Input, NodeId, StorageId, Tensor, TensorId};

/// The nodes, in the order in which they were made. `F` is a formula that an operation has of its own.
#[derive(Clone, Debug)]
pub(super) struct Graph<F> {
    nodes: Vec<Node<F>>,
}

#[derive(Clone, Debug)]
pub(super) struct Node<F> {
    /// The shape of this node's value; an upstream gradient is brought to it, and to the dtype.
    pub shape: Shape,
    pub dtype: DType,
    pub kind: Kind<F>,
    /// True if a gradient has gone through it: what was kept for that is freed then (`release_variables`).
    pub spent: bool,
    /// True if it was given to a view, which had none, by a write to another view, and no operation has asked for it
    /// since: libtorch takes such a view for a leaf (`VariableHooks::is_leaf` looks at what the view knows itself).
    pub unseen: bool,
    /// The node of another result of the same call: libtorch has one node for both, which is spent as one.
    pub twin: Option<NodeId>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind<F> {
    /// A tensor that the program made; its gradient is kept.
    Leaf { gradient: Option<TensorId> },
    /// The result of an operation on these nodes.
    Operation { parents: Vec<Option<NodeId>>, derivative: Derivative<F> },
}

/// The rule by which a gradient goes from a result to its operands.
#[derive(Clone, Debug)]
pub(super) enum Derivative<F> {
    /// By the partial derivatives in the row of the operation table.
    Row { op: Op, saved: Saved, factor: Scalar },
    /// By the slope of a function of one real number, element by element.
    Slope { operand: Input, slope: Slope, versions: Vec<(StorageId, u64)> },
    /// To the operands of an operation that overwrote the elements at these positions, what arrived there; to the tensor
    /// as it was before, what arrived elsewhere, and at these positions what the operation passes to its own operand
    /// (`CopySlices`).
    Part { shape: Shape, positions: Vec<usize>, part: Box<Derivative<F>> },
    /// From single elements of the result to single elements of each operand, divided by `count`.
    Routes { routes: Vec<Route>, versions: Vec<(StorageId, u64)>, count: usize },
    /// By a function beside the kernel, of the upstream gradient and of what was kept, whose storages had these versions.
    Formula { function: F, kept: Box<Kept>, versions: Vec<(StorageId, u64)> },
    /// libtorch has none.
    Missing { name: &'static str },
    /// Not modelled.
    Unknown { op: Op },
}

/// The result of an operation that needs it again.
#[derive(Clone, Debug)]
pub(super) struct KeptResult {
    pub tensor: Tensor,
    pub version: u64,
    /// libtorch's name of the operation.
    pub node: error::Node,
}

/// The elements of an operand that what arrives at a result goes to.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// The node of the operand, as it was before the operation.
    pub node: Option<NodeId>,
    /// The shape of the operand.
    pub shape: Shape,
    /// From which element of the result to which one of the operand, both numbered row-major.
    pub pairs: Vec<(usize, usize)>,
    /// True if they are added to zeros, which leaves no negative zero. Else a single one is taken as it is, and only
    /// several are added.
    pub added: bool,
}

/// The gradient of the operand, from one element of the upstream gradient and one of the operand.
pub(super) type Slope = fn([f64; 2]) -> f64;

/// The data that an operation keeps for its gradient.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub op: Op,
    /// Operands, without their place in the graph, where they are kept.
    pub tensors: Vec<Option<Tensor>>,
    /// Parameters.
    pub numbers: Vec<Scalar>,
    /// The element of the result that each element of the operand went to, of a reduction.
    pub targets: Vec<usize>,
    /// A flag for each operand: true if it needs a gradient.
    pub needed: Vec<bool>,
    /// The result, if that is needed again.
    pub result: Option<KeptResult>,
}

impl Kept {
    /// Nothing yet.
    pub fn of(op: Op) -> Kept {
        let (tensors, numbers, targets, needed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Kept { op, tensors, numbers, targets, needed, result: None }
    }

    /// Parameter `at`, which is real.
    pub fn real(&self, at: usize) -> f64 {
        f64::from_scalar(self.numbers[at])
    }
}

/// The operands of an operation, as they were before it.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub inputs: Vec<Input>,
    /// The arguments that are numbers, in order.
    pub numbers: Vec<Scalar>,
    /// True if an argument is true.
    pub flag: bool,
    /// The argument that is a text.
    pub text: String,
    /// True if the operation has zero gradient.
    pub flat: bool,
    /// True if gradients have flowed through it already. Then nothing is kept any more.
    pub freed: bool,
    /// For each operand that is a tensor: itself, unless it is one that an operation made on its way; its storage, and how
    /// often that had been written to.
    pub versions: Vec<Option<(Option<TensorId>, StorageId, u64)>>,
}

impl<F> Graph<F> {
    pub fn new() -> Graph<F> {
        Graph { nodes: Vec::new() }
    }

    /// The node of an input that gradients are kept for.
    pub fn leaf(&mut self, shape: Shape, dtype: DType) -> NodeId {
        self.add(shape, dtype, Kind::Leaf { gradient: None })
    }

    /// A new node, whose parents have been asked for now.
    pub fn add(&mut self, shape: Shape, dtype: DType, kind: Kind<F>) -> NodeId {
        if let Kind::Operation { parents, .. } = &kind {
            for &parent in parents.iter().flatten() {
                self[parent].unseen = false;
            }
        }
        self.nodes.push(Node { shape, dtype, kind, spent: false, unseen: false, twin: None });
        NodeId(self.nodes.len() - 1)
    }

    /// Gives a leaf the shape of its resized tensor. What was recorded before keeps the old one
    /// (`AccumulateGrad` is made when the first operation asks for it).
    pub fn resize_leaf(&mut self, leaf: NodeId, shape: &Shape) {
        let asked =
            |node: &Node<F>| matches!(&node.kind, Kind::Operation { parents, .. } if parents.contains(&Some(leaf)));
        if self.is_leaf(leaf) && !self.nodes.iter().any(asked) {
            self[leaf].shape = shape.clone();
        }
    }

    pub fn is_leaf(&self, node: NodeId) -> bool {
        matches!(self[node].kind, Kind::Leaf { .. })
    }
}

impl<F> Index<NodeId> for Graph<F> {
    type Output = Node<F>;

    fn index(&self, node: NodeId) -> &Node<F> {
        &self.nodes[node.0]
    }
}

impl<F> IndexMut<NodeId> for Graph<F> {
    fn index_mut(&mut self, node: NodeId) -> &mut Node<F> {
        &mut self.nodes[node.0]
    }
}
