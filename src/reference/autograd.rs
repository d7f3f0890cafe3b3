//! Records operations in the autograd graph, and rejects what autograd rejects before an operation runs.

use num_complex::Complex64;

use crate::error::{self, Rejection};
use crate::ops::{Form, Op, Quirk};
use crate::program::Arg;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar};

use super::budget::charge;
use super::graph::{Derivative, Kept, KeptResult, Kind, Saved, Slope};
use super::iterator::Input;
use super::machine::{Backward, Call, Machine, Operand, Result, Stop, Tensor, TensorId};
use super::value::NodeId;
use super::write::restride;

pub(super) use super::graph::Route;

/// Rejects what autograd rejects before an operation writes to its target, if it has one.
pub(super) fn check_target(machine: &Machine, call: &Call, inputs: &[Input]) -> Result<()> {
    call.target()?.map_or(Ok(()), |target| check_in_place(machine, call, target, inputs))
}

/// Raises the errors of autograd before an operation writes to `target` (`check_inplace`,
/// `throw_error_out_requires_grad`).
pub(super) fn check_in_place(machine: &Machine, call: &Call, target: TensorId, inputs: &[Input]) -> Result<()> {
    let tensor = machine.tensor(target);
    if tensor.node.is_none() && inputs.iter().all(|input| input.node().is_none()) {
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
        if machine.graph.is_leaf(node) || machine.graph[node].unseen {
            return Err(Rejection::LeafInPlace.into());
        }
    }
    if !call.op.info().differentiable && !call.op.info().has(Quirk::AutogradFallback) {
        return Err(Stop::Unsupported(format!("the gradient of {}_", call.op)));
    }
    Ok(())
}

/// Returns whether gradients flow from a result to what it was made of.
fn flows(op: Op, result: &Tensor, parents: &[Option<NodeId>]) -> bool {
    let floating = result.dtype.category() >= Category::Floating;
    op.info().differentiable && floating && parents.iter().any(Option::is_some)
}

/// Keeps the operands of an elementwise operation for its gradient, before it writes to any: as they are, apart from the
/// target of an in-place operation, of which a copy is kept (`original_self` in libtorch's generated code).
pub(super) fn save(machine: &mut Machine, call: &Call, mut inputs: Vec<Input>, flat: bool) -> Saved {
    let flows = inputs.iter().any(|input| input.node().is_some());
    let mut tensors = call.args.iter().filter_map(|arg| match arg {
        Operand::Tensor(id) => Some(*id),
        _ => None,
    });
    let mut versions: Vec<_> = inputs
        .iter()
        .map(|input| match input {
            Input::Tensor(tensor) => tensors.next().map(|id| {
                (Some(id).filter(|id| machine.outlives(*id)), tensor.storage, machine.version(tensor.storage))
            }),
            Input::Number(_) => None,
        })
        .collect();
    if flows
        && call.form == Form::InPlace
        && let Some(Input::Tensor(target)) = inputs.first()
    {
        let (node, target) = (target.node, target.clone());
        let copy = restride(machine, &target, Layout::contiguous(target.shape().clone()));
        inputs[0] = Input::Tensor(Tensor { node, ..copy });
        versions[0] = None;
    }
    if flows && let Some(kept) = kept_operands(call.op, &inputs) {
        // The formulas of the table compute the result once more, of what its operands were.
        for ((input, version), _) in inputs.iter_mut().zip(&mut versions).zip(kept).filter(|(_, kept)| !kept) {
            if let Input::Tensor(tensor) = input {
                let copy = restride(machine, tensor, Layout::contiguous(tensor.shape().clone()));
                *tensor = Tensor { node: tensor.node, ..copy };
                *version = None;
            }
        }
    }
    let flag = call.args.iter().any(|arg| matches!(arg, Operand::Other(Arg::Flag(true))));
    let text =
        call.args.iter().find_map(|arg| if let Operand::Other(Arg::Text(text)) = arg { Some(text) } else { None });
    let text = text.cloned().unwrap_or_default();
    Saved { inputs, numbers: call.numbers(), flag, text, flat, freed: false, versions }
}

/// Returns which of two operands libtorch keeps as they are, for an operation that keeps its result next to them.
fn kept_operands(op: Op, inputs: &[Input]) -> Option<[bool; 2]> {
    let flows = |at: usize| inputs.get(at).is_some_and(|input| input.node().is_some());
    let info = op.info();
    if info.has(Quirk::KeepsOwn) {
        Some([flows(0), flows(1)])
    } else if info.has(Quirk::KeepsFirst) {
        Some([flows(0), false])
    } else if info.has(Quirk::KeepsSecond) {
        Some([false, flows(0)])
    } else {
        None
    }
}

/// Notes what an elementwise operation did, if gradients flow through it. `op` is the operation whose gradient it has.
pub(super) fn record_elementwise(
    machine: &mut Machine,
    call: &Call,
    op: Op,
    result: TensorId,
    saved: Saved,
    factor: Scalar,
) {
    let fallback = call.op.info().has(Quirk::AutogradFallback);
    if fallback && (!op.info().differentiable || call.form != Form::Functional) {
        return record_missing(machine, call.op, call.form, result, &saved.inputs);
    }
    let parents = saved.inputs.iter().map(Input::node).collect();
    record(machine, op, result, parents, Derivative::Row { op, saved, factor });
}

/// Notes a result of operands that gradients flow through, of an operation that libtorch has no gradient for, or not in this
/// form. Of a view the tensor has none that this is a view of, whatever its operands are.
pub(super) fn record_missing(machine: &mut Machine, op: Op, form: Form, result: TensorId, inputs: &[Input]) {
    let parents: Vec<_> = inputs.iter().map(Input::node).collect();
    // Those that are in place, and take what gradients flow through.
    let name = match (op, form) {
        (Op::FloorDivide, Form::InPlace) => "floor_divide_",
        (Op::Heaviside, Form::InPlace) => "heaviside_",
        _ => op.name(),
    };
    let tensor = machine.tensor(result);
    if tensor.dtype.category() < Category::Floating || parents.iter().all(Option::is_none) {
        return;
    }
    let written = tensor.base.unwrap_or(result);
    let parents = std::iter::once(machine.tensor(written).node).chain(parents).collect();
    add_operation(machine, written, parents, Derivative::Missing { name });
    refresh_views(machine, written);
}

/// Notes a view of `operand`: for each element of the view the one of the operand that it stands for, if any; none where
/// the reference does not model the gradient.
pub(super) fn record_view(
    machine: &mut Machine,
    op: Op,
    view: TensorId,
    operand: &Tensor,
    positions: Option<Vec<usize>>,
) {
    let derivative = positions.map_or(Derivative::Unknown { op }, |positions| {
        let pairs = positions.into_iter().enumerate().filter(|&(_, to)| to < operand.shape().numel()).collect();
        // `at::sum_to` adds up what goes to a tensor without dimensions, be it one element, and the sum starts at zero.
        let expands = matches!(op, Op::Expand | Op::ExpandAs | Op::ExpandCopy | Op::BroadcastTo | Op::BroadcastTensors);
        // So does the sum over the dimensions that copies are new along.
        let deeper = machine.tensor(view).shape().rank() > operand.shape().rank();
        let repeats = matches!(op, Op::Repeat | Op::Tile) && deeper;
        routes(operand, pairs, repeats || (expands && operand.shape().rank() == 0), 1)
    });
    add(machine, op, view, vec![operand.node], derivative);
}

/// The way back to one operand.
fn routes(operand: &Tensor, pairs: Vec<(usize, usize)>, added: bool, count: usize) -> Derivative<Backward> {
    let route = Route { node: operand.node, shape: operand.shape().clone(), pairs, added };
    Derivative::Routes { routes: vec![route], versions: Vec::new(), count }
}

/// Notes a sum of the elements of `operand`, divided by `count`: for each the element of the result that it went to.
pub(super) fn record_reduction(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    operand: &Tensor,
    target: Vec<usize>,
    count: usize,
) {
    let pairs = target.into_iter().enumerate().map(|(to, from)| (from, to)).collect();
    record(machine, op, result, vec![operand.node], routes(operand, pairs, false, count));
}

/// Notes an operation that takes elements of its operands from one place to another. The arguments at the places that `kept`
/// accepts are needed again, but for the target of an in-place operation and what is in its memory.
pub(super) fn record_routes(
    machine: &mut Machine,
    call: &Call,
    result: TensorId,
    routes: Vec<Route>,
    kept: impl Fn(usize) -> bool,
) {
    let parents = routes.iter().map(|route| route.node).collect();
    let written = call.args.first().filter(|_| call.form == Form::InPlace).and_then(|target| match target {
        Operand::Tensor(id) => Some(machine.tensor(*id).storage),
        Operand::Indices(_) | Operand::Tensors(_) | Operand::Other(_) => None,
    });
    let used = call.args.iter().enumerate().filter(|(at, _)| kept(*at)).flat_map(|(_, arg)| match arg {
        Operand::Tensor(id) => vec![*id],
        Operand::Indices(ids) => ids.iter().flatten().copied().collect(),
        _ => Vec::new(),
    });
    let storages = used.map(|id| machine.tensor(id).storage).filter(|storage| Some(*storage) != written);
    let versions = storages.map(|storage| (storage, machine.version(storage))).collect();
    record(machine, call.op, result, parents, Derivative::Routes { routes, versions, count: 1 });
}

/// Notes that elements of `operand` were picked, by their numbers, one for each element of the result. These tensors are
/// needed again.
pub(super) fn record_selection(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    operand: &Tensor,
    numbers: Vec<usize>,
    read: &[TensorId],
) {
    let pairs = numbers.into_iter().enumerate().collect();
    let storages = read.iter().map(|id| machine.tensor(*id).storage);
    let versions = storages.map(|storage| (storage, machine.version(storage))).collect();
    let route = Route { node: operand.node, shape: operand.shape().clone(), pairs, added: false };
    record(machine, op, result, vec![operand.node], Derivative::Routes { routes: vec![route], versions, count: 1 });
}

/// Notes that two results are of one call, and that gradients go through both at once, or through one of them.
pub(super) fn record_twins(machine: &mut Machine, results: [TensorId; 2]) {
    let nodes = results.map(|id| machine.tensor(id).node);
    if let [Some(one), Some(other)] = nodes {
        machine.graph[one].twin = Some(other);
        machine.graph[other].twin = Some(one);
    }
}

/// Notes an operation that takes elements of its operands from one place to another, and needs none of them again.
pub(super) fn record_moved(machine: &mut Machine, op: Op, result: TensorId, routes: Vec<Route>) {
    let parents = routes.iter().map(|route| route.node).collect();
    record(machine, op, result, parents, Derivative::Routes { routes, versions: Vec::new(), count: 1 });
}

/// Notes what a function of one real number did, element by element. It needs its operand again, or its result.
pub(super) fn record_function(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    operand: &Input,
    (slope, of_result): (Slope, bool),
) {
    let mut operand = operand.clone();
    let mut kept = operand.tensor().map(|tensor| tensor.storage);
    if of_result
        && let Input::Tensor(tensor) = &mut operand
        && tensor.node.is_some()
    {
        // The slope computes the result once more, of what its operand was.
        let copy = restride(machine, tensor, Layout::contiguous(tensor.shape().clone()));
        *tensor = Tensor { node: tensor.node, ..copy };
        kept = Some(machine.tensor(result).storage);
    }
    let versions = kept.into_iter().map(|storage| (storage, machine.version(storage))).collect();
    record(machine, op, result, vec![operand.node()], Derivative::Slope { operand, slope, versions });
}

/// Notes an operation whose gradient is a function of the upstream gradient, all operands, and numbers.
pub(super) fn record_own(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    operands: &[Option<TensorId>],
    numbers: Vec<f64>,
    function: Backward,
) {
    let tensors: Vec<Option<Tensor>> = operands.iter().map(|id| id.map(|id| machine.tensor(id).clone())).collect();
    let operands: Vec<Option<&Tensor>> = tensors.iter().map(Option::as_ref).collect();
    let numbers = numbers.into_iter().map(Scalar::Float).collect();
    let kept = Kept { tensors: tensors.clone(), numbers, ..Kept::of(op) };
    record_formula(machine, result, &operands, kept, function);
}

/// Notes an operation whose gradient is a function of the upstream gradient and of what is kept.
pub(super) fn record_formula(
    machine: &mut Machine,
    result: TensorId,
    operands: &[Option<&Tensor>],
    mut kept: Kept,
    function: Backward,
) {
    let parents: Vec<Option<NodeId>> = operands.iter().map(|operand| operand.and_then(|tensor| tensor.node)).collect();
    kept.needed = parents.iter().map(Option::is_some).collect();
    kept.tensors.iter_mut().flatten().for_each(|tensor| tensor.node = None);
    let read = kept.tensors.iter().flatten();
    let versions = read.map(|tensor| (tensor.storage, machine.version(tensor.storage))).collect();
    let (op, kept) = (kept.op, Box::new(kept));
    record(machine, op, result, parents, Derivative::Formula { function, kept, versions });
}

/// Notes an operation whose gradient the reference does not model; asking for it is unsupported, not wrong.
pub(super) fn record_unknown(machine: &mut Machine, op: Op, result: TensorId, operands: &[TensorId]) {
    let parents = operands.iter().map(|id| machine.tensor(*id).node).collect();
    record(machine, op, result, parents, Derivative::Unknown { op });
}

/// Notes a copy of `operand`.
pub(super) fn record_copy(machine: &mut Machine, op: Op, copy: TensorId, operand: &Tensor) {
    let elements = if operand.node.is_some() && machine.has_elements() { operand.shape().numel() } else { 0 };
    record(
        machine,
        op,
        copy,
        vec![operand.node],
        routes(operand, (0..elements).map(|at| (at, at)).collect(), false, 1),
    );
}

/// Notes that the operation that `result` is the result of needs it again for its gradient, under the name that
/// libtorch has for it.
pub(super) fn keep_result(machine: &mut Machine, result: TensorId, name: &'static str) {
    keep_first(machine, result, result, name);
}

/// The same of an operation with several results that needs the first of them.
pub(super) fn keep_first(machine: &mut Machine, result: TensorId, first: TensorId, name: &'static str) {
    let tensor = Tensor { node: None, ..machine.tensor(first).clone() };
    let kept = KeptResult { version: machine.version(tensor.storage), tensor, node: error::Node(name) };
    if let Some(node) = machine.tensor(result).node
        && let Kind::Operation { derivative: Derivative::Formula { kept: all, .. }, .. } = &mut machine.graph[node].kind
    {
        all.result = Some(kept);
    }
}

/// Notes that the operation that `result` is the result of needs these operands again for its gradient.
pub(super) fn keep_operands(machine: &mut Machine, result: TensorId, operands: &[TensorId]) {
    let read = operands.iter().map(|id| machine.tensor(*id).storage);
    let read: Vec<_> = read.map(|storage| (storage, machine.version(storage))).collect();
    if let Some(node) = machine.tensor(result).node
        && let Kind::Operation { derivative: Derivative::Formula { versions, .. }, .. } = &mut machine.graph[node].kind
    {
        versions.extend(read);
    }
}

/// Notes an operation that made a new tensor, or overwrote one. Of a view it has overwritten a part of the tensor that
/// this is a view of, and all that look at the same elements are now made of what was written (`rebase_history`).
fn record(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    parents: Vec<Option<NodeId>>,
    derivative: Derivative<Backward>,
) {
    let tensor = machine.tensor(result).clone();
    let Some(base) = tensor.base else {
        add(machine, op, result, parents, derivative);
        return refresh_views(machine, result);
    };
    if !flows(op, &tensor, &parents) {
        return;
    }
    let owner = machine.tensor(base).clone();
    let kind = match element_positions(machine, &owner.layout, owner.dtype, &tensor.layout) {
        Some(positions) => {
            let derivative = Derivative::Part { shape: tensor.shape().clone(), positions, part: Box::new(derivative) };
            let parents = std::iter::once(owner.node).chain(parents.into_iter().skip(1)).collect();
            Kind::Operation { parents, derivative }
        }
        None => Kind::Operation { parents, derivative: Derivative::Unknown { op } },
    };
    let node = machine.graph.add(owner.shape().clone(), owner.dtype, kind);
    machine.tensor_mut(base).node = Some(node);
    refresh_views(machine, base);
    if let Some(own) = machine.tensor(result).node {
        machine.graph[own].unseen = false;
    }
}

/// Makes all the views of a tensor again what they are: views of what it has become.
pub(super) fn refresh_views(machine: &mut Machine, base: TensorId) {
    let owner = machine.tensor(base).clone();
    if owner.node.is_none() {
        return;
    }
    for view in machine.views_of(base) {
        let (layout, before) = (machine.tensor(view).layout.clone(), machine.tensor(view).node);
        let positions = element_positions(machine, &owner.layout, owner.dtype, &layout);
        record_view(machine, Op::AsStrided, view, &owner, positions);
        let unseen = before.is_none_or(|before| machine.graph[before].unseen);
        if let Some(node) = machine.tensor(view).node {
            machine.graph[node].unseen = unseen;
        }
    }
}

fn add(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    parents: Vec<Option<NodeId>>,
    derivative: Derivative<Backward>,
) {
    let tensor = machine.tensor(result);
    if !flows(op, tensor, &parents) {
        return;
    }
    add_operation(machine, result, parents, derivative);
}

fn add_operation(
    machine: &mut Machine,
    result: TensorId,
    parents: Vec<Option<NodeId>>,
    derivative: Derivative<Backward>,
) {
    let tensor = machine.tensor(result);
    let (shape, dtype) = (tensor.shape().clone(), tensor.dtype);
    let node = machine.graph.add(shape, dtype, Kind::Operation { parents, derivative });
    machine.tensor_mut(result).node = Some(node);
}

/// For each element of `view` the element of `of` that lies at the same place of the storage, counted row-major, and
/// `usize::MAX` if none does. `None` where that is not to be told; nothing at all without elements.
pub(super) fn element_positions(machine: &Machine, of: &Layout, dtype: DType, view: &Layout) -> Option<Vec<usize>> {
    if !machine.has_elements() {
        return Some(Vec::new());
    }
    if machine.is_large(&of.shape, dtype) || machine.is_large(&view.shape, dtype) {
        return None;
    }
    charge(of.shape.numel() + view.shape.numel());
    let mut places = std::collections::HashMap::new();
    for (at, place) in of.positions().enumerate() {
        // One place that stands for several elements: what is its own of a gradient?
        if places.insert(place, at).is_some() {
            return None;
        }
    }
    Some(view.positions().map(|place| places.get(&place).copied().unwrap_or(usize::MAX)).collect())
}

/// The tensor with every element conjugated: itself if it is real.
pub(super) fn conjugate(machine: &mut Machine, tensor: &Tensor) -> Tensor {
    if tensor.dtype.category() != Category::Complex {
        return tensor.clone();
    }
    let conjugates = machine.eval(tensor.dtype, || {
        let values: Vec<Complex64> = machine.elements(tensor);
        Buffer::of(tensor.dtype, values.iter().map(Complex64::conj))
    });
    machine.allocate(Layout::contiguous(tensor.shape().clone()), conjugates)
}
