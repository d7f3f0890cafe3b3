//! Walks the autograd graph backward.
//!
//! The gradient of an operand is summed to the operand's size (`validate_outputs`, `sum_to`), whatever operation it
//! comes from: that is all that broadcasting means for gradients.

use std::cell::RefCell;
use std::collections::BTreeMap;

use num_complex::Complex64;

use crate::error::{self, Rejection};
use crate::for_each_op;
use crate::ops::Op;
use crate::program::Arg;
use crate::tensor::element::Element;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::autograd::conjugate;
use super::elementwise::{arithmetic, formula};
use super::graph::{Derivative, KeptResult, Kind, Route, Saved};
use super::iterator::Input;
use super::machine::{Backward, Call, Machine, Operand, Result, Slot, Stop, StorageId, Tensor};
use super::value::NodeId;
use super::write::restride;
use super::{dispatch, math};

mod terms;

use terms::{Terms, partials};

/// A node in place of which libtorch's message has the shape and the origin of a tensor that the reference does not tell: one
/// that an operation keeps in a form of its own, or that is the result of one whose node has no name here. The relaxation
/// `UnnamedNodes` looks for this text.
const UNNAMED: error::Node = error::Node("a node without a name in the reference");

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
            let ones = || std::iter::repeat_n(Scalar::Int(1), root.shape().numel());
            let one = machine.eval(root.dtype, || Buffer::from_scalars(root.dtype, ones()));
            machine.allocate(Layout::contiguous(root.shape().clone()), one)
        }
    };
    let start = root.node.ok_or(Rejection::NoGradient)?;
    let mut pending = BTreeMap::from([(start, seed)]);
    let mut twins = Vec::new();
    while let Some((node, gradient)) = pending.pop_last() {
        let node_shape = machine.graph[node].shape.clone();
        let node_dtype = machine.graph[node].dtype;
        let gradient = fit(machine, gradient, &node_shape, node_dtype)?;
        let (parents, derivative) = match &machine.graph[node].kind {
            Kind::Leaf { .. } => {
                if machine.is_resized(node) {
                    return Err(Stop::Unsupported("a gradient of a leaf that has been resized".to_owned()));
                }
                accumulate(machine, node, &gradient);
                continue;
            }
            Kind::Operation { parents, derivative } => (parents.clone(), derivative.clone()),
        };
        if std::mem::replace(&mut machine.graph[node].spent, true) {
            derivative.check_second()?;
        }
        twins.extend(machine.graph[node].twin);
        let wanted: Vec<bool> = parents.iter().map(Option::is_some).collect();
        let partials = derivative.apply(machine, &gradient, &wanted)?;
        if let Kind::Operation { derivative: Derivative::Row { saved, .. }, .. } = &mut machine.graph[node].kind {
            saved.freed = true;
        }
        for (parent, partial) in parents.into_iter().zip(partials) {
            let (Some(parent), Some(partial)) = (parent, partial) else { continue };
            let (shape, dtype) = (machine.graph[parent].shape.clone(), machine.graph[parent].dtype);
            let partial = fit(machine, partial, &shape, dtype)?;
            let sum = match pending.remove(&parent) {
                Some(seen) => arithmetic(machine, Op::Add, Input::Tensor(seen), Input::Tensor(partial))?,
                None => partial,
            };
            pending.insert(parent, sum);
        }
    }
    twins.into_iter().for_each(|twin| machine.graph[twin].spent = true);
    Ok(Slot::Nothing)
}

/// `grad`: what has flowed into a leaf so far.
pub(super) fn grad(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let Some(node) = machine.tensor(call.tensor(0)?).node else { return Ok(Slot::Nothing) };
    match &machine.graph[node].kind {
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

/// Brings a gradient to the shape and dtype of what it belongs to (`validate_outputs`).
fn fit(machine: &mut Machine, gradient: Tensor, shape: &Shape, dtype: DType) -> Result<Tensor> {
    let mut gradient = gradient;
    gradient.node = None;
    if gradient.shape() != shape && !shape.expands_to(gradient.shape()) {
        // A result whose tensor was resized afterwards.
        return Err(Stop::Unsupported("a gradient of a shape that the tensor has no more".to_owned()));
    }
    if gradient.shape() != shape {
        let (id, sizes) = (machine.add(gradient), Arg::Ints(shape.sizes().to_vec()));
        let summed = dispatch::apply(machine, Op::SumToSize, &[Operand::Tensor(id), Operand::Other(&sizes)])?;
        gradient = machine.tensor(summed).clone();
    }
    if gradient.dtype != dtype {
        gradient = machine.converted(&gradient, dtype);
    }
    Ok(gradient)
}

/// Adds to the gradient of a leaf. The first one is copied, so that it has the leaf's own layout (`AccumulateGrad`).
fn accumulate(machine: &mut Machine, leaf: NodeId, gradient: &Tensor) {
    let Kind::Leaf { gradient: kept } = &machine.graph[leaf].kind else { return };
    match *kept {
        None => {
            let copy = restride(machine, gradient, Layout::contiguous(gradient.shape().clone()));
            let copy = machine.add(copy);
            machine.graph[leaf].kind = Kind::Leaf { gradient: Some(copy) };
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

impl Derivative<Backward> {
    /// Refuses a second gradient where operands were kept for the first.
    fn check_second(&self) -> Result<()> {
        match self {
            Derivative::Part { .. } => Err(Rejection::Freed.into()),
            _ if !self.versions().is_empty() => Err(Rejection::Freed.into()),
            _ => Ok(()),
        }
    }

    /// The storages that are read again, as they were.
    fn versions(&self) -> &[(StorageId, u64)] {
        match self {
            Derivative::Slope { versions, .. }
            | Derivative::Formula { versions, .. }
            | Derivative::Routes { versions, .. } => versions,
            _ => &[],
        }
    }

    /// Returns libtorch's name of a node of the graph: the operation, and which of its overloads with a gradient.
    fn node(&self) -> Option<error::Node> {
        let Derivative::Row { op, saved, .. } = self else { return None };
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

    /// Returns the gradient that each operand receives that is `wanted`.
    fn apply(&self, machine: &mut Machine, gradient: &Tensor, wanted: &[bool]) -> Result<Vec<Option<Tensor>>> {
        for &(storage, expected) in self.versions() {
            let version = machine.version(storage);
            if version != expected {
                let (dtype, shape) = (gradient.dtype, gradient.shape().sizes().to_vec());
                return Err(Rejection::Modified { dtype, shape, node: Some(UNNAMED), version, expected }.into());
            }
        }
        match self {
            Derivative::Row { op, saved, factor } if saved.flat => {
                // A rounded quotient keeps its operands all the same.
                let terms = Terms { machine: RefCell::new(machine), op: *op, gradient, saved, factor: *factor };
                terms.operand(1)?;
                if wanted[1] {
                    terms.operand(0)?;
                }
                let zeros = machine.blank(gradient.dtype, Layout::contiguous(gradient.shape().clone()));
                Ok(wanted.iter().map(|&wanted| wanted.then(|| zeros.clone())).collect())
            }
            Derivative::Row { op, saved, factor } => {
                let terms = Terms { machine: RefCell::new(machine), op: *op, gradient, saved, factor: *factor };
                partials(*op, &terms, wanted)?
                    .into_iter()
                    .map(|input| input.map(|input| terms.tensor(input)).transpose())
                    .collect()
            }
            Derivative::Slope { operand, slope, .. } => {
                let columns = [Input::Tensor(gradient.clone()), operand.clone()];
                real_formula(machine, &columns, gradient, &|row| slope([row[0], row[1]])).map(|made| vec![Some(made)])
            }
            Derivative::Part { shape, positions, part } => {
                let whole = machine.elements::<Complex64>(gradient);
                let arrived = machine.eval(gradient.dtype, || {
                    let scalars = positions.iter().map(|&position| Scalar::Complex(whole[position]));
                    Buffer::from_scalars(gradient.dtype, scalars)
                });
                let arrived = machine.allocate(Layout::contiguous(shape.clone()), arrived);
                let mut partials = part.apply(machine, &arrived, wanted)?;
                if partials.is_empty() {
                    return Err(Stop::Malformed("an operation without operands".to_owned()));
                }
                let own = match partials.remove(0) {
                    Some(own) => fit(machine, own, shape, gradient.dtype)?,
                    None => machine.blank(gradient.dtype, Layout::contiguous(shape.clone())),
                };
                let before = restride(machine, gradient, Layout::contiguous(gradient.shape().clone()));
                let values = machine.eval(gradient.dtype, || {
                    let own = machine.elements::<Complex64>(&own);
                    let mut elements = whole;
                    for (&position, value) in positions.iter().zip(own) {
                        elements[position] = value;
                    }
                    Buffer::of(gradient.dtype, elements)
                });
                machine.write(&before, &values);
                partials.insert(0, Some(before));
                Ok(partials)
            }
            Derivative::Missing { name } => Err(Rejection::NoDerivative { name }.into()),
            Derivative::Unknown { op } => Err(Stop::Unsupported(format!("the gradient of {op}"))),
            Derivative::Formula { function, kept, .. } => {
                if let Some(result) = &kept.result {
                    result.check(machine)?;
                }
                machine.aside(|machine| function(machine, gradient, kept))
            }
            Derivative::Routes { routes, count, .. } => {
                let arrived: Vec<Complex64> = machine.elements(gradient);
                let share = |route: &Route| {
                    let values = machine.eval(gradient.dtype, || spread(route, gradient.dtype, &arrived));
                    let spread = machine.allocate(Layout::contiguous(route.shape.clone()), values);
                    Ok(Some(match *count {
                        1 => spread,
                        count => {
                            let count = Input::Number(Scalar::Int(count as i64));
                            arithmetic(machine, Op::Div, Input::Tensor(spread), count)?
                        }
                    }))
                };
                routes.iter().map(share).collect()
            }
        }
    }
}

/// A formula of what arrived and of operands, for a gradient of the same shape and dtype. Integers are operands in the
/// dtype that they were promoted to, in which a large one is another number, or none.
fn real_formula(
    machine: &mut Machine,
    columns: &[Input],
    gradient: &Tensor,
    of: &dyn Fn(&[f64]) -> f64,
) -> Result<Tensor> {
    let complex = columns.iter().any(|column| column.dtype().category() == Category::Complex);
    if complex && machine.has_elements() {
        return Err(Stop::Unsupported("the gradient of complex operands".to_owned()));
    }
    let promoted = columns.iter().map(|column| match column {
        Input::Tensor(tensor) if tensor.dtype.category() < Category::Floating => {
            Input::Tensor(machine.converted(tensor, gradient.dtype))
        }
        other => other.clone(),
    });
    let promoted: Vec<Input> = promoted.collect();
    formula(machine, &promoted, gradient.shape(), gradient.dtype, of)
}

impl KeptResult {
    /// Refuses a result that was written to since (`SavedVariable::unpack`).
    fn check(&self, machine: &Machine) -> Result<()> {
        let (version, expected) = (machine.version(self.tensor.storage), self.version);
        if version == expected {
            return Ok(());
        }
        let (dtype, shape, node) = (self.tensor.dtype, self.tensor.shape().sizes().to_vec(), self.node);
        Err(Rejection::Modified { dtype, shape, node: Some(node), version, expected }.into())
    }
}

/// Returns the gradient of the operand of a route. Sums are rounded once.
fn spread(route: &Route, dtype: DType, arrived: &[Complex64]) -> Buffer {
    let zero = Complex64::default();
    let mut sums: Vec<Option<Complex64>> = vec![route.added.then_some(zero); route.shape.numel()];
    for &(from, to) in &route.pairs {
        sums[to] = Some(sums[to].map_or(arrived[from], |sum| zero + sum + arrived[from]));
    }
    Buffer::of(dtype, sums.into_iter().map(|sum| sum.unwrap_or_default()))
}
