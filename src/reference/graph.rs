//! The graph that steps leave behind for gradients: which derivative each result has, and what was kept for it. It is
//! data, and knows no kernel and no walk.

use std::ops::{Index, IndexMut};

use crate::error;
use crate::ops::Op;
use crate::tensor::{DType, Scalar, Shape};

use super::value::{Input, NodeId, StorageId, Tensor, TensorId};

/// The nodes, in the order in which they were made. `F` is a formula that an operation has of its own.
#[derive(Clone, Debug)]
pub(super) struct Graph<F> {
    nodes: Vec<Node<F>>,
}

#[derive(Clone, Debug)]
pub(super) struct Node<F> {
    /// What the value of this node looks like; a gradient that arrives is brought to it.
    pub shape: Shape,
    pub dtype: DType,
    pub kind: Kind<F>,
    /// Whether a gradient has gone through it: what was kept for that is given up then (`release_variables`).
    pub spent: bool,
    /// Whether it was given to a view, which had none, by a write to another view, and no operation has asked for it
    /// since: libtorch takes such a view for a leaf (`VariableHooks::is_leaf` looks at what the view knows itself).
    pub unseen: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Kind<F> {
    /// A tensor that the program made; its gradient is kept.
    Leaf { gradient: Option<TensorId> },
    /// The result of an operation on these nodes.
    Operation { parents: Vec<Option<NodeId>>, derivative: Derivative<F> },
}

/// How a gradient goes from a result to its operands.
#[derive(Clone, Debug)]
pub(super) enum Derivative<F> {
    /// As the operation table says.
    Elementwise { op: Op, saved: Saved, factor: Scalar },
    /// As slopes say of real numbers, element by element.
    Slopes { op: Op, inputs: Vec<Input>, parameters: Vec<f64>, slopes: Slopes, versions: Vec<(StorageId, u64)> },
    /// To the elements that the view stands for.
    View { shape: Shape, positions: Vec<usize> },
    /// To the operands of an operation that overwrote the elements at these positions, what arrived there; to the tensor
    /// as it was before, what arrived elsewhere, and at these positions what the operation passes to its own operand
    /// (`CopySlices`).
    Part { shape: Shape, positions: Vec<usize>, part: Box<Derivative<F>> },
    /// From each result back to the elements that were summed into it, divided by `count`.
    Reduction { shape: Shape, target: Vec<usize>, count: usize },
    /// From single elements of the result to single elements of each operand.
    Routes { routes: Vec<Route>, versions: Vec<(StorageId, u64)> },
    /// Unchanged.
    Copy,
    /// By a formula of the operation's own.
    Formula(Formula<F>),
    /// libtorch has none.
    Missing { name: &'static str },
    /// Not modelled.
    Unknown { op: Op },
}

/// What each operand receives of what arrived at a result: a function, and what it reads.
#[derive(Clone, Debug)]
pub(super) struct Formula<F> {
    pub function: F,
    /// The storages that it reads, as they were.
    pub saved: Vec<(StorageId, u64)>,
    /// The result, if that is needed again.
    pub result: Option<KeptResult>,
}

/// The result of an operation that needs it again.
#[derive(Clone, Debug)]
pub(super) struct KeptResult {
    pub storage: StorageId,
    pub version: u64,
    pub dtype: DType,
    pub shape: Shape,
    /// What libtorch calls the operation.
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
    /// Whether they are added to zeros, which leaves no negative zero, or taken as they are.
    pub added: bool,
}

/// What each operand receives: of one element of the gradient, of each operand, and the parameters.
pub(super) type Slopes = fn(&[f64]) -> Vec<f64>;

/// What an operation keeps for its gradient.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// The operation.
    pub op: Op,
    /// The operands, without their place in the graph, and perhaps the result after them.
    pub tensors: Vec<Option<Tensor>>,
    /// The parameters.
    pub numbers: Vec<f64>,
    /// Which operands need a gradient.
    pub needed: Vec<bool>,
}

/// The operands of an operation, as they were before it.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub inputs: Vec<Input>,
    /// Whether the operation is flat: nothing flows back but zeros.
    pub flat: bool,
    /// Whether gradients have flowed through it already. Then nothing is kept any more.
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
        self.nodes.push(Node { shape, dtype, kind, spent: false, unseen: false });
        NodeId(self.nodes.len() - 1)
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
