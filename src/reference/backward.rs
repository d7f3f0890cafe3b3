//! Gradients: the graph that steps leave behind, and the walk back through it.
//!
//! What arrives at an operand is summed to the operand's size (`validate_outputs`, `sum_to`), whatever operation it
//! comes from: that is all that broadcasting means for gradients.

use std::cell::RefCell;
use std::collections::BTreeMap;

use num_complex::Complex64;

use crate::error::Rejection;
use crate::for_each_op;
use crate::ops::{Form, Op};
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::elementwise::restride;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Result, Slot, Stop, StorageId, Tensor, TensorId};
use super::{reduction, view};

/// Names a node of the graph. Later steps have greater numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(usize);

/// The nodes, in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    /// What the value of this node looks like; a gradient that arrives is brought to it.
    shape: Shape,
    dtype: DType,
    kind: Kind,
}

#[derive(Debug)]
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
    Elementwise { op: Op, inputs: Box<[Input; 2]>, alpha: Scalar, versions: Vec<(StorageId, u64)> },
    /// To the elements that the view stands for.
    View { shape: Shape, positions: Vec<usize> },
    /// From each result back to the elements that were summed into it, divided by `count`.
    Reduction { shape: Shape, target: Vec<usize>, count: usize },
    /// Unchanged.
    Copy,
    /// Not modelled.
    Unknown { op: Op },
}

impl Graph {
    /// The node of an input that gradients are kept for.
    pub fn leaf(&mut self, shape: Shape, dtype: DType) -> NodeId {
        self.add(Node { shape, dtype, kind: Kind::Leaf { gradient: None } })
    }

    fn add(&mut self, node: Node) -> NodeId {
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
        let partials = derivative.apply(machine, &gradient)?;
        for (parent, partial) in parents.into_iter().zip(partials) {
            let Some(parent) = parent else { continue };
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
    if call.form == Form::Out {
        if !call.op.info().differentiable {
            return Ok(());
        }
        return Err(Rejection::OutNeedsGrad { name: call.op.name() }.into());
    }
    if let Some(node) = tensor.node {
        if tensor.base.is_some_and(|base| machine.tensor(base).node.is_some_and(|node| machine.graph.is_leaf(node))) {
            return Err(Rejection::LeafViewInPlace.into());
        }
        if machine.graph.is_leaf(node) {
            return Err(Rejection::LeafInPlace.into());
        }
    }
    if machine.views_of(tensor.storage) > 1 {
        return Err(Stop::Unsupported("gradients through in-place operations on views".to_owned()));
    }
    if !call.op.info().differentiable {
        return Err(Stop::Unsupported(format!("the gradient of {}_", call.op)));
    }
    Ok(())
}

/// Notes what an elementwise operation did, if gradients flow through it.
pub(super) fn record_elementwise(
    machine: &mut Machine,
    call: &Call,
    result: TensorId,
    inputs: &[Input; 2],
    alpha: Scalar,
) {
    let saved = inputs.iter().filter_map(|input| match input {
        Input::Tensor(tensor) => Some(tensor.storage),
        Input::Number(_) => None,
    });
    let versions = saved.map(|storage| (storage, machine.version(storage))).collect();
    let parents = inputs
        .iter()
        .map(|input| match input {
            Input::Tensor(tensor) => tensor.node,
            Input::Number(_) => None,
        })
        .collect();
    let derivative = Derivative::Elementwise { op: call.op, inputs: Box::new(inputs.clone()), alpha, versions };
    record(machine, call.op, result, parents, derivative);
}

/// Notes a view of `operand`.
pub(super) fn record_view(machine: &mut Machine, op: Op, view: TensorId, operand: &Tensor, positions: Vec<usize>) {
    let derivative = Derivative::View { shape: operand.shape().clone(), positions };
    record(machine, op, view, vec![operand.node], derivative);
}

/// Notes a reduction of `operand`.
pub(super) fn record_reduction(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    operand: &Tensor,
    target: Vec<usize>,
    count: usize,
) {
    let derivative = Derivative::Reduction { shape: operand.shape().clone(), target, count };
    record(machine, op, result, vec![operand.node], derivative);
}

/// Notes a copy of `operand`.
pub(super) fn record_copy(machine: &mut Machine, op: Op, copy: TensorId, operand: &Tensor) {
    record(machine, op, copy, vec![operand.node], Derivative::Copy);
}

/// Notes an operation whose gradient the reference does not model; asking for it is unsupported, not wrong.
pub(super) fn record_unknown(machine: &mut Machine, op: Op, result: TensorId, operands: &[TensorId]) {
    let parents = operands.iter().map(|id| machine.tensor(*id).node).collect();
    record(machine, op, result, parents, Derivative::Unknown { op });
}

fn record(machine: &mut Machine, op: Op, result: TensorId, parents: Vec<Option<NodeId>>, derivative: Derivative) {
    let tensor = machine.tensor(result);
    let floating = tensor.dtype.category() >= Category::Floating;
    if !op.info().differentiable || !floating || parents.iter().all(Option::is_none) {
        return;
    }
    let (shape, dtype) = (tensor.shape().clone(), tensor.dtype);
    let node = machine.graph.add(Node { shape, dtype, kind: Kind::Operation { parents, derivative } });
    machine.tensor_mut(result).node = Some(node);
}

/// Brings a gradient to the shape and dtype of what it belongs to (`validate_outputs`).
fn fit(machine: &mut Machine, gradient: Tensor, shape: &Shape, dtype: DType) -> Result<Tensor> {
    let mut gradient = gradient;
    gradient.node = None;
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
    fn apply(&self, machine: &mut Machine, gradient: &Tensor) -> Result<Vec<Tensor>> {
        match self {
            Derivative::Elementwise { op, inputs, alpha, versions } => {
                let stale = versions.iter().any(|&(storage, version)| machine.version(storage) != version);
                if stale && *op != Op::Add && *op != Op::Sub {
                    return Err(Stop::Unsupported("an operand was modified before backward needed it".to_owned()));
                }
                let terms = Terms { machine: RefCell::new(machine), gradient, inputs, alpha: *alpha };
                partials(*op, &terms)?.into_iter().map(|input| terms.tensor(input)).collect()
            }
            Derivative::View { shape, positions } => {
                let sums = view::gather_back(machine, gradient, shape, positions);
                Ok(vec![machine.allocate(Layout::contiguous(shape.clone()), sums)])
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
                Ok(vec![share])
            }
            Derivative::Copy => Ok(vec![gradient.clone()]),
            Derivative::Unknown { op } => Err(Stop::Unsupported(format!("the gradient of {op}"))),
        }
    }
}

/// What the partial derivatives of the operation table are written in.
struct Terms<'a> {
    machine: RefCell<&'a mut Machine>,
    gradient: &'a Tensor,
    inputs: &'a [Input; 2],
    alpha: Scalar,
}

impl Terms<'_> {
    /// What arrived at the result.
    fn gradient(&self) -> Result<Input> {
        Ok(Input::Tensor(self.gradient.clone()))
    }

    /// The first operand, conjugated.
    fn left(&self) -> Result<Input> {
        self.conjugated(&self.inputs[0])
    }

    /// The second operand, conjugated.
    fn right(&self) -> Result<Input> {
        self.conjugated(&self.inputs[1])
    }

    /// The factor of the second operand, conjugated.
    fn alpha(&self) -> Result<Input> {
        self.conjugated(&Input::Number(self.alpha))
    }

    /// Its negative.
    fn minus_alpha(&self) -> Result<Input> {
        self.negative(self.alpha())
    }

    fn times(&self, a: Result<Input>, b: Result<Input>) -> Result<Input> {
        self.combine(Op::Mul, a?, b?)
    }

    fn over(&self, a: Result<Input>, b: Result<Input>) -> Result<Input> {
        self.combine(Op::Div, a?, b?)
    }

    fn negative(&self, a: Result<Input>) -> Result<Input> {
        self.combine(Op::Mul, a?, Input::Number(Scalar::Int(-1)))
    }

    fn combine(&self, op: Op, a: Input, b: Input) -> Result<Input> {
        arithmetic(&mut self.machine.borrow_mut(), op, a, b).map(Input::Tensor)
    }

    fn conjugated(&self, input: &Input) -> Result<Input> {
        Ok(match input {
            Input::Number(Scalar::Complex(value)) => Input::Number(Scalar::Complex(value.conj())),
            Input::Tensor(tensor) if tensor.dtype.category() == Category::Complex => {
                let mut machine = self.machine.borrow_mut();
                let values: Vec<Complex64> = machine.elements(tensor);
                let values = values.into_iter().map(|value| Scalar::Complex(value.conj()));
                let conjugate = Buffer::from_scalars(tensor.dtype, values);
                Input::Tensor(machine.allocate(Layout::contiguous(tensor.shape().clone()), conjugate))
            }
            other => other.clone(),
        })
    }

    fn tensor(&self, input: Result<Input>) -> Result<Tensor> {
        match input? {
            Input::Tensor(tensor) => Ok(tensor),
            Input::Number(_) => Err(Stop::Malformed("a partial derivative without the gradient".to_owned())),
        }
    }
}

macro_rules! partials {
    ($($variant:ident $name:literal $schema:literal {
        signature: $signature:ident, forms: $forms:tt, result: $result:ident, compare: $compare:ident,
        kernel: $shape:ident $arguments:tt $(=> $body:expr)?,
        gradient: $gradient:ident $(($terms:ident) => [$($partial:expr),+])?,
        tch: $tch:tt,
    })+) => {
        /// What each operand of an operation receives.
        fn partials(op: Op, terms: &Terms) -> Result<Vec<Result<Input>>> {
            match op {
                $($(Op::$variant => {
                    let $terms = terms;
                    Ok(vec![$($partial),+])
                })?)+
                _ => Err(Stop::Unsupported(format!("the gradient of {op}"))),
            }
        }
    };
}

for_each_op!(partials);

/// An elementwise operation of the table, outside of the graph.
fn arithmetic(machine: &mut Machine, op: Op, a: Input, b: Input) -> Result<Tensor> {
    let inputs = [a, b];
    let shape = iterator::broadcast(&inputs)?;
    super::elementwise::compute(machine, op, &inputs, shape, Scalar::Int(1))
}
