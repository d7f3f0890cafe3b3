//! Gradients: the graph that steps leave behind, and the walk back through it.
//!
//! What arrives at an operand is summed to the operand's size (`validate_outputs`, `sum_to`), whatever operation it
//! comes from: that is all that broadcasting means for gradients.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use num_complex::Complex64;

use crate::error::{self, Rejection};
use crate::for_each_op;
use crate::ops::{Form, Op, Quirk};
use crate::tensor::element::Element;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::elementwise::restride;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, StorageId, Tensor, TensorId};
use super::{math, reduction, slice, view};

mod record;
mod terms;

pub(super) use record::*;
use terms::{Terms, partials};

/// Names a node of the graph. Later steps have greater numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(usize);

/// The nodes, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    /// What the value of this node looks like; a gradient that arrives is brought to it.
    shape: Shape,
    dtype: DType,
    kind: Kind,
    /// Whether a gradient has gone through it: what was kept for that is given up then (`release_variables`).
    spent: bool,
    /// Whether it was given to a view, which had none, by a write to another view, and no operation has asked for it
    /// since: libtorch takes such a view for a leaf (`VariableHooks::is_leaf` looks at what the view knows itself).
    unseen: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    /// A tensor that the program made; its gradient is kept.
    Leaf { gradient: Option<TensorId> },
    /// The result of an operation on these nodes.
    Operation { parents: Vec<Option<NodeId>>, derivative: Derivative },
}

/// How a gradient goes from a result to its operands.
#[derive(Clone, Debug)]
enum Derivative {
    /// As the operation table says.
    Elementwise { op: Op, saved: Saved, factor: Scalar },
    /// To the elements that the view stands for.
    View { shape: Shape, positions: Vec<usize> },
    /// To the operands of an operation that overwrote the elements at these positions, what arrived there; to the tensor
    /// as it was before, what arrived elsewhere, and at these positions what the operation passes to its own operand
    /// (`CopySlices`).
    Part { shape: Shape, positions: Vec<usize>, part: Box<Derivative> },
    /// From each result back to the elements that were summed into it, divided by `count`.
    Reduction { shape: Shape, target: Vec<usize>, count: usize },
    /// From single elements of the result to single elements of each operand.
    Routes { routes: Vec<Route>, versions: Vec<(StorageId, u64)> },
    /// Unchanged.
    Copy,
    /// By a formula of the operation's own.
    Formula(Formula),
    /// libtorch has none.
    Missing { name: &'static str },
    /// Not modelled.
    Unknown { op: Op },
}

/// What each operand receives of what arrived at a result: a function that holds on to what it needs of the operands.
#[derive(Clone)]
struct Formula {
    function: Rc<Partials>,
    /// The storages that it reads, as they were.
    saved: Vec<(StorageId, u64)>,
    /// The result, if that is needed again.
    result: Option<KeptResult>,
}

/// The result of an operation that needs it again.
#[derive(Clone, Debug)]
struct KeptResult {
    storage: StorageId,
    version: u64,
    dtype: DType,
    shape: Shape,
    /// What libtorch calls the operation.
    node: error::Node,
}

impl KeptResult {
    /// Refuses a result that was written to since (`SavedVariable::unpack`).
    fn check(&self, machine: &Machine) -> Result<()> {
        let (version, expected) = (machine.version(self.storage), self.version);
        if version == expected {
            return Ok(());
        }
        let (dtype, shape, node) = (self.dtype, self.shape.sizes().to_vec(), self.node);
        Err(Rejection::Modified { dtype, shape, node: Some(node), version, expected }.into())
    }
}

/// A gradient for each operand, if it receives any, from what arrived at the result.
pub(super) type Partials = dyn Fn(&mut Machine, &Tensor) -> Result<Vec<Option<Tensor>>>;

impl std::fmt::Debug for Formula {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Formula").field("saved", &self.saved).finish_non_exhaustive()
    }
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

impl Route {
    /// What arrives at the operand. Sums are rounded once.
    fn spread(&self, machine: &mut Machine, dtype: DType, arrived: &[Complex64]) -> Tensor {
        let mut sums = vec![Complex64::default(); self.shape.numel()];
        for &(from, to) in &self.pairs {
            sums[to] = if self.added { sums[to] + arrived[from] } else { arrived[from] };
        }
        let sums = sums.into_iter().map(Scalar::Complex);
        machine.allocate(Layout::contiguous(self.shape.clone()), Buffer::from_scalars(dtype, sums))
    }
}

/// What each operand receives: of one element of the gradient, of each operand, and the parameters.
pub(super) type Slopes = fn(&[f64]) -> Vec<f64>;

/// What each operand receives: of the gradient, and of what was kept. Nothing for operands that need nothing.
pub(super) type Backward = fn(&mut Machine, &Tensor, &Kept) -> Result<Vec<Option<Tensor>>>;

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
    inputs: Vec<Input>,
    /// Whether the operation is flat: nothing flows back but zeros.
    flat: bool,
    /// Whether gradients have flowed through it already. Then nothing is kept any more.
    freed: bool,
    /// For each operand that is a tensor: itself, unless it is one that an operation made on its way; its storage, and how
    /// often that had been written to.
    versions: Vec<Option<(Option<TensorId>, StorageId, u64)>>,
}

impl Graph {
    /// The node of an input that gradients are kept for.
    pub fn leaf(&mut self, shape: Shape, dtype: DType) -> NodeId {
        self.add(Node { shape, dtype, kind: Kind::Leaf { gradient: None }, spent: false, unseen: false })
    }

    fn add(&mut self, node: Node) -> NodeId {
        if let Kind::Operation { parents, .. } = &node.kind {
            for parent in parents.iter().flatten() {
                self.nodes[parent.0].unseen = false;
            }
        }
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }

    fn is_leaf(&self, node: NodeId) -> bool {
        matches!(self.nodes[node.0].kind, Kind::Leaf { .. })
    }
}

/// `backward`: gradients flow from a tensor to the leaves that it was made of.
pub(super) fn backward(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let root = machine.tensor(call.tensor(0)?).clone();
    let seed = match call.optional_tensor(1)? {
        Some(gradient) => {
            let gradient = machine.tensor(gradient).clone();
            // One of another shape is summed to the tensor's, if the tensor's expands to it.
            if root.node.is_some() && !root.shape().expands_to(gradient.shape()) {
                let (gradient, output) = (gradient.shape().sizes().to_vec(), root.shape().sizes().to_vec());
                return Err(Rejection::InvalidGradient { gradient, output }.into());
            }
            gradient
        }
        None if root.node.is_some() && root.shape().numel() != 1 => return Err(Rejection::GradNeedsScalar.into()),
        None => {
            let one = Buffer::from_scalars(root.dtype, vec![Scalar::Int(1); root.shape().numel()].into_iter());
            machine.allocate(Layout::contiguous(root.shape().clone()), one)
        }
    };
    let start = root.node.ok_or(Rejection::NoGradient)?;
    let mut pending = BTreeMap::from([(start, seed)]);
    while let Some((node, gradient)) = pending.pop_last() {
        let node_shape = machine.graph.nodes[node.0].shape.clone();
        let node_dtype = machine.graph.nodes[node.0].dtype;
        let gradient = fit(machine, gradient, &node_shape, node_dtype)?;
        let (parents, derivative) = match &machine.graph.nodes[node.0].kind {
            Kind::Leaf { .. } => {
                accumulate(machine, node, &gradient);
                continue;
            }
            Kind::Operation { parents, derivative } => (parents.clone(), derivative.clone()),
        };
        if std::mem::replace(&mut machine.graph.nodes[node.0].spent, true) {
            derivative.check_second()?;
        }
        let wanted: Vec<bool> = parents.iter().map(Option::is_some).collect();
        let partials = derivative.apply(machine, &gradient, &wanted)?;
        if let Kind::Operation { derivative: Derivative::Elementwise { saved, .. }, .. } =
            &mut machine.graph.nodes[node.0].kind
        {
            saved.freed = true;
        }
        for (parent, partial) in parents.into_iter().zip(partials) {
            let (Some(parent), Some(partial)) = (parent, partial) else { continue };
            let (shape, dtype) = (machine.graph.nodes[parent.0].shape.clone(), machine.graph.nodes[parent.0].dtype);
            let partial = fit(machine, partial, &shape, dtype)?;
            let sum = match pending.remove(&parent) {
                Some(seen) => arithmetic(machine, Op::Add, Input::Tensor(seen), Input::Tensor(partial))?,
                None => partial,
            };
            pending.insert(parent, sum);
        }
    }
    Ok(Slot::Nothing)
}

/// `grad`: what has flowed into a leaf so far.
pub(super) fn grad(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let Some(node) = machine.tensor(call.tensor(0)?).node else { return Ok(Slot::Nothing) };
    match &machine.graph.nodes[node.0].kind {
        Kind::Leaf { gradient: Some(gradient) } => Ok(Slot::Tensor(*gradient)),
        Kind::Leaf { gradient: None } => Ok(Slot::Nothing),
        Kind::Operation { .. } => {
            machine.warnings.push(NON_LEAF.to_owned());
            Ok(Slot::Nothing)
        }
    }
}

/// The warning of `TensorBody.h` for the gradient of a tensor that is no leaf.
const NON_LEAF: &str = "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad \
    attribute won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for a \
    non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure \
    you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.";

/// What autograd refuses before an operation writes to `target` (`check_inplace`, `throw_error_out_requires_grad`).
pub(super) fn check_in_place(machine: &Machine, call: &Call, target: TensorId, inputs: &[Input]) -> Result<()> {
    let node_of = |input: &Input| match input {
        Input::Tensor(tensor) => tensor.node,
        Input::Number(_) => None,
    };
    let tensor = machine.tensor(target);
    if tensor.node.is_none() && inputs.iter().all(|input| node_of(input).is_none()) {
        return Ok(());
    }
    if call.op.info().has(Quirk::NoAutograd) {
        return Ok(());
    }
    if call.form == Form::Out {
        if call.op.info().has(Quirk::AutogradFallback) {
            // The fallback looks at the target alone: a leaf, or a view of one.
            let leaf = |tensor: &Tensor| tensor.node.is_some_and(|node| machine.graph.is_leaf(node));
            if !leaf(tensor) && !tensor.base.is_some_and(|base| leaf(machine.tensor(base))) {
                return Ok(());
            }
            return Err(Rejection::OutFallback { name: call.op.name() }.into());
        }
        if !call.op.info().differentiable {
            return Ok(());
        }
        return Err(Rejection::OutNeedsGrad { name: call.op.name() }.into());
    }
    if let Some(node) = tensor.node {
        if tensor.base.is_some_and(|base| machine.tensor(base).node.is_some_and(|node| machine.graph.is_leaf(node))) {
            return Err(Rejection::LeafViewInPlace.into());
        }
        if machine.graph.is_leaf(node) || machine.graph.nodes[node.0].unseen {
            return Err(Rejection::LeafInPlace.into());
        }
    }
    if !call.op.info().differentiable && !call.op.info().has(Quirk::AutogradFallback) {
        return Err(Stop::Unsupported(format!("the gradient of {}_", call.op)));
    }
    Ok(())
}

/// Whether gradients flow from a result to what it was made of.
fn flows(op: Op, result: &Tensor, parents: &[Option<NodeId>]) -> bool {
    let floating = result.dtype.category() >= Category::Floating;
    op.info().differentiable && floating && parents.iter().any(Option::is_some)
}

/// Brings a gradient to the shape and dtype of what it belongs to (`validate_outputs`).
fn fit(machine: &mut Machine, gradient: Tensor, shape: &Shape, dtype: DType) -> Result<Tensor> {
    let mut gradient = gradient;
    gradient.node = None;
    if gradient.shape() != shape && !shape.expands_to(gradient.shape()) {
        // A result whose tensor was resized afterwards.
        return Err(Stop::Unsupported("a gradient of a shape that the tensor has no more".to_owned()));
    }
    if gradient.shape() != shape {
        let id = machine.add(gradient);
        let summed = reduction::sum_to(machine, Op::SumToSize, id, shape)?;
        gradient = machine.tensor(summed).clone();
    }
    if gradient.dtype != dtype {
        let values = machine.buffer(gradient.storage).to_bytes(&gradient.layout);
        let values = Buffer::from_bytes(gradient.dtype, &values).expect("whole elements");
        let cast = Buffer::from_scalars(dtype, values.scalars().into_iter());
        gradient = machine.allocate(Layout::contiguous(shape.clone()), cast);
    }
    Ok(gradient)
}

/// Adds to the gradient of a leaf. The first one is copied, so that it has the leaf's own layout (`AccumulateGrad`).
fn accumulate(machine: &mut Machine, leaf: NodeId, gradient: &Tensor) {
    let Kind::Leaf { gradient: kept } = &machine.graph.nodes[leaf.0].kind else { return };
    match *kept {
        None => {
            let copy = restride(machine, gradient, Layout::contiguous(gradient.shape().clone()));
            let copy = machine.add(copy);
            machine.graph.nodes[leaf.0].kind = Kind::Leaf { gradient: Some(copy) };
        }
        Some(kept) => {
            let kept = machine.tensor(kept).clone();
            let sum = arithmetic(machine, Op::Add, Input::Tensor(kept.clone()), Input::Tensor(gradient.clone()))
                .expect("gradients of one leaf have one shape and dtype");
            let values = machine.buffer(sum.storage).clone();
            machine.write(&kept, &values);
        }
    }
}

impl Derivative {
    /// Refuses a second gradient where operands were kept for the first.
    fn check_second(&self) -> Result<()> {
        match self {
            Derivative::Part { .. } => Err(Rejection::Freed.into()),
            Derivative::Formula(formula) if !formula.saved.is_empty() => Err(Rejection::Freed.into()),
            _ => Ok(()),
        }
    }

    /// What libtorch calls a node of the graph: the operation, and which of its overloads with a gradient.
    fn node(&self) -> Option<error::Node> {
        let Derivative::Elementwise { op, saved, .. } = self else { return None };
        let number = matches!(saved.inputs.get(1), Some(Input::Number(_)));
        Some(error::Node(match (op, number) {
            (Op::Add, false) => "Add",
            (Op::Sub, false) => "Sub",
            (Op::Mul, false) => "Mul",
            (Op::Div, _) if saved.flat => "Div2",
            (Op::Div, false) => "Div",
            (Op::Add, true) => "Add1",
            (Op::Sub, true) => "Sub1",
            (Op::Mul, true) => "Mul1",
            (Op::Div, true) => "Div1",
            (Op::Fmod, false) => "Fmod1",
            (Op::Fmod, true) => "Fmod",
            (Op::Remainder, false) => "Remainder1",
            (Op::Remainder, true) => "Remainder",
            (Op::Rsub, false) => "Rsub",
            (Op::Rsub, true) => "Rsub1",
            (Op::Maximum, _) => "Maximum",
            (Op::Minimum, _) => "Minimum",
            (Op::Fmax, _) => "Fmax",
            (Op::Fmin, _) => "Fmin",
            _ => return None,
        }))
    }

    /// What each operand receives that is `wanted`.
    fn apply(&self, machine: &mut Machine, gradient: &Tensor, wanted: &[bool]) -> Result<Vec<Option<Tensor>>> {
        let modified = |machine: &Machine, saved: &[(StorageId, u64)]| {
            saved.iter().any(|&(storage, version)| machine.version(storage) != version)
        };
        let stale = || Err(Stop::Unsupported("an operand was modified before backward needed it".to_owned()));
        match self {
            Derivative::Elementwise { op, saved, factor } if saved.flat => {
                // A rounded quotient keeps its operands all the same.
                let terms = Terms { machine: RefCell::new(machine), op: *op, gradient, saved, factor: *factor };
                terms.operand(1)?;
                if wanted[1] {
                    terms.operand(0)?;
                }
                let zeros = Buffer::zeros(gradient.dtype, gradient.shape().numel());
                let zeros = machine.allocate(Layout::contiguous(gradient.shape().clone()), zeros);
                Ok(wanted.iter().map(|&wanted| wanted.then(|| zeros.clone())).collect())
            }
            Derivative::Elementwise { op, saved, factor } => {
                let terms = Terms { machine: RefCell::new(machine), op: *op, gradient, saved, factor: *factor };
                partials(*op, &terms, wanted)?
                    .into_iter()
                    .map(|input| input.map(|input| terms.tensor(input)).transpose())
                    .collect()
            }
            Derivative::View { shape, positions } => {
                let sums = view::gather_back(machine, gradient, shape, positions);
                Ok(vec![Some(machine.allocate(Layout::contiguous(shape.clone()), sums))])
            }
            Derivative::Part { shape, positions, part } => {
                let whole = machine.elements::<Complex64>(gradient);
                let scalars = positions.iter().map(|&position| Scalar::Complex(whole[position]));
                let arrived = Buffer::from_scalars(gradient.dtype, scalars);
                let arrived = machine.allocate(Layout::contiguous(shape.clone()), arrived);
                let mut partials = part.apply(machine, &arrived, wanted)?;
                if partials.is_empty() {
                    return Err(Stop::Malformed("an operation without operands".to_owned()));
                }
                let own = match partials.remove(0) {
                    Some(own) => fit(machine, own, shape, gradient.dtype)?,
                    None => {
                        let zeros = Buffer::zeros(gradient.dtype, shape.numel());
                        machine.allocate(Layout::contiguous(shape.clone()), zeros)
                    }
                };
                let before = restride(machine, gradient, Layout::contiguous(gradient.shape().clone()));
                let own = machine.elements::<Complex64>(&own);
                let mut elements = whole;
                for (&position, value) in positions.iter().zip(own) {
                    elements[position] = value;
                }
                let values = Buffer::from_scalars(gradient.dtype, elements.into_iter().map(Scalar::Complex));
                machine.write(&before, &values);
                partials.insert(0, Some(before));
                Ok(partials)
            }
            Derivative::Reduction { shape, target, count } => {
                let spread = crate::with_element_type!(gradient.dtype, T => {
                    let arrived = machine.elements::<T>(gradient);
                    T::wrap(target.iter().map(|&target| arrived[target]).collect())
                });
                let spread = machine.allocate(Layout::contiguous(shape.clone()), spread);
                let share = match count {
                    1 => spread,
                    count => {
                        let count = Input::Number(Scalar::Int(*count as i64));
                        arithmetic(machine, Op::Div, Input::Tensor(spread), count)?
                    }
                };
                Ok(vec![Some(share)])
            }
            Derivative::Copy => Ok(vec![Some(gradient.clone())]),
            Derivative::Missing { name } => Err(Rejection::NoDerivative { name }.into()),
            Derivative::Unknown { op } => Err(Stop::Unsupported(format!("the gradient of {op}"))),
            Derivative::Formula(formula) => {
                if modified(machine, &formula.saved) {
                    return stale();
                }
                if let Some(result) = &formula.result {
                    result.check(machine)?;
                }
                machine.aside(|machine| (formula.function)(machine, gradient))
            }
            Derivative::Routes { routes, versions } => {
                if versions.iter().any(|&(storage, version)| machine.version(storage) != version) {
                    return Err(Stop::Unsupported("an operand was modified before backward needed it".to_owned()));
                }
                let values: Vec<Complex64> = machine.elements(gradient);
                Ok(routes.iter().map(|route| Some(route.spread(machine, gradient.dtype, &values))).collect())
            }
        }
    }
}

/// The tensor with every element conjugated: itself if it is real.
pub(super) fn conjugate(machine: &mut Machine, tensor: &Tensor) -> Tensor {
    if tensor.dtype.category() != Category::Complex {
        return tensor.clone();
    }
    let values: Vec<Complex64> = machine.elements(tensor);
    let conjugates = values.into_iter().map(|value| Scalar::Complex(value.conj()));
    let conjugates = Buffer::from_scalars(tensor.dtype, conjugates);
    machine.allocate(Layout::contiguous(tensor.shape().clone()), conjugates)
}

/// An elementwise operation of the table, outside of the graph.
pub(super) fn arithmetic(machine: &mut Machine, op: Op, a: Input, b: Input) -> Result<Tensor> {
    let inputs = [a, b];
    let shape = iterator::broadcast(&inputs)?;
    super::elementwise::compute(machine, op, &inputs, shape, Scalar::Int(1))
}
