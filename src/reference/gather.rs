//! Indices along one dimension. Of these only `take_along_dim` broadcasts.

use crate::error::{IndexFault, PointwiseFault, Rejection};
use crate::ops::Form;
use crate::program::Arg;
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

use super::autograd::{self, Route};
use super::elementwise::{self, restride};
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, Tensor, TensorId, wrap_dim};
use super::mask;

/// `take_along_dim`: the tensor and the indices broadcast together, apart from the dimension that the indices go along
/// (`_take_along_dim_helper`); without a dimension both are flattened. Then it is `gather`.
pub(super) fn take_along_dim(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let operand = machine.tensor(call.tensor(0)?).clone();
    let index = machine.tensor(call.tensor(1)?).clone();
    let whole = |tensor: &Tensor| -> Result<Layout> {
        let flat = Shape::new(vec![tensor.shape().numel() as i64]).expect("the elements are there");
        Ok(tensor.layout.view(&flat).ok_or(Rejection::ViewStride)?)
    };
    if matches!(call.args.get(2), Some(Operand::Other(Arg::Nothing))) {
        let flat =
            Layout::contiguous(Shape::new(vec![operand.shape().numel() as i64]).expect("the elements are there"));
        let source = Source { layout: whole(&operand)?, numbered: flat, operand: operand.clone(), id: None };
        let index = Tensor { layout: whole(&index)?, ..index };
        return gather_from(machine, call, source, 0, index);
    }
    let (rank, indices) = (operand.shape().rank(), index.shape().rank());
    if rank != indices {
        return Err(IndexFault::TakeRank { rank, indices }.into());
    }
    if index.dtype != DType::Int64 {
        return Err(IndexFault::TakeDtype { dtype: index.dtype }.into());
    }
    let dim = wrap_dim(call.int(2)?, rank)?;
    if rank == 0 {
        return Err(IndexFault::NoDimensions { dim: 0 }.into());
    }
    let with = |shape: &Shape, size: i64| {
        let mut sizes = shape.sizes().to_vec();
        sizes[dim] = size;
        Shape::new(sizes).map_err(|_| Rejection::Numel)
    };
    let (own, others) = (operand.shape().sizes()[dim], index.shape().sizes()[dim]);
    let index_shape = with(operand.shape(), others)?.broadcast(index.shape())?;
    let own_shape = with(index.shape(), own)?.broadcast(operand.shape())?;
    let expand = |layout: &Layout, shape: &Shape| layout.expand(shape).expect("broadcast to this shape");
    let source = Source {
        layout: expand(&operand.layout, &own_shape),
        numbered: expand(&Layout::contiguous(operand.shape().clone()), &own_shape),
        operand: operand.clone(),
        id: None,
    };
    // Unlike any other index, one that is out of range counts on from the other end, as often as it takes
    // (`remainder`).
    let indices: Vec<i64> = machine.buffer(index.storage).gather(&expand(&index.layout, &index_shape));
    if own == 0 && !indices.is_empty() {
        return Err(PointwiseFault::ZeroDivision {}.into());
    }
    let indices = indices.into_iter().map(|index| Scalar::Int(index.rem_euclid(own))).collect::<Vec<_>>();
    let indices = Buffer::from_scalars(DType::Int64, indices.into_iter());
    let index = machine.allocate(Layout::contiguous(index_shape), indices);
    gather_from(machine, call, source, dim, index)
}

/// `gather`.
pub(super) fn gather(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let id = call.tensor(0)?;
    let operand = machine.tensor(id).clone();
    let index = machine.tensor(call.tensor(2)?).clone();
    let source = Source {
        layout: operand.layout.clone(),
        numbered: Layout::contiguous(operand.shape().clone()),
        operand: operand.clone(),
        id: Some(id),
    };
    // What autograd refuses comes first.
    if let Some(out) = call.target()? {
        autograd::check_in_place(machine, call, out, &[Input::Tensor(operand.clone())])?;
    }
    let dim = wrap_dim(call.int(1)?, operand.shape().rank())?;
    gather_from(machine, call, source, dim, index)
}

/// What is gathered from: a view of the operand, in memory and with its elements numbered row-major.
struct Source {
    layout: Layout,
    numbered: Layout,
    operand: Tensor,
    /// The operand itself, if the view is nothing else.
    id: Option<TensorId>,
}

/// The meta function of `gather`, then its kernel: `out` is resized before anything else is looked at.
fn gather_from(machine: &mut Machine, call: &Call, source: Source, dim: usize, index: Tensor) -> Result<Slot> {
    if let Some(out) = call.out {
        if source.operand.node.is_some() || machine.tensor(out).node.is_some() {
            return Err(Rejection::OutNeedsGrad { name: "gather" }.into());
        }
        take_output(machine, out, source.operand.dtype, index.shape())?;
        let tensor = machine.tensor(out);
        iterator::check_internal_overlap(tensor)?;
        let viewed = Tensor { layout: source.layout.clone(), ..source.operand.clone() };
        iterator::check_no_overlap(tensor, &viewed, source.id == Some(out))?;
        iterator::check_partial_overlap(tensor, &index)?;
    }
    let sizes = source.layout.shape.sizes();
    let mut found = Vec::new();
    if index.shape().numel() > 0 {
        if !matches!(index.dtype, DType::Int64 | DType::Int32) {
            return Err(IndexFault::GatherDtype {}.into());
        }
        if sizes.len().max(1) != index.shape().rank().max(1) {
            return Err(IndexFault::GatherRank {}.into());
        }
        let larger = |&at: &usize| at != dim && size(index.shape(), at) > size(&source.layout.shape, at);
        if let Some(at) = (0..sizes.len().max(1)).find(larger) {
            let (index, tensor) = (index.shape().sizes().to_vec(), sizes.to_vec());
            return Err(IndexFault::GatherShape { at, index, tensor, dim }.into());
        }
        let (all, fault) = places(machine, &index, [&source.layout, &source.numbered], dim);
        fault.map_or(Ok(()), Err)?;
        found = all;
    }
    let positions: Vec<usize> = found.iter().map(|place| place[0]).collect();
    let result = mask::deliver(machine, call.out, &source.operand, index.shape().clone(), &positions)?;
    mask::record_taken(machine, call, result, &source.operand, found.iter().map(|place| place[1]).collect());
    Ok(Slot::Tensor(result))
}

/// `scatter`: a copy of the tensor with elements of the source, or one number, where the indices say.
pub(super) fn scatter(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (id, index_id) = (call.tensor(0)?, call.tensor(2)?);
    let (operand, index) = (machine.tensor(id).clone(), machine.tensor(index_id).clone());
    let source = elementwise::input(machine, call, 3)?;
    if let Some(target) = call.target()? {
        autograd::check_in_place(machine, call, target, &[Input::Tensor(operand.clone()), source.clone()])?;
    }
    let dim = wrap_dim(call.int(1)?, operand.shape().rank())?;
    check_scatter(&operand, dim, &index, &source)?;
    if let Some(target) = call.target()? {
        let tensor = machine.tensor(target);
        iterator::check_internal_overlap(tensor)?;
        iterator::check_no_overlap(tensor, &index, target == index_id)?;
        if let (Input::Tensor(source), Operand::Tensor(source_id)) = (&source, &call.args[3]) {
            iterator::check_no_overlap(tensor, source, target == *source_id)?;
        }
    }
    let target = match (call.form, call.out) {
        (Form::InPlace, _) => id,
        (_, Some(out)) => {
            take_output(machine, out, operand.dtype, operand.shape())?;
            // The tensor is copied first, unless it is the target itself.
            let copy = restride(machine, &operand, Layout::contiguous(operand.shape().clone()));
            let (values, target) = (machine.buffer(copy.storage).clone(), machine.tensor(out).clone());
            if out != id {
                machine.write(&target, &values);
            }
            out
        }
        _ => {
            let copy = restride(machine, &operand, Layout::contiguous(operand.shape().clone()));
            machine.add(copy)
        }
    };
    let tensor = machine.tensor(target).clone();
    let (mut overwritten, mut put) = (vec![false; tensor.shape().numel()], Vec::new());
    if index.shape().numel() > 0 {
        let numbered = Layout::contiguous(tensor.shape().clone());
        let (found, fault) = places(machine, &index, [&tensor.layout, &numbered], dim);
        let from: Vec<usize> = match &source {
            Input::Tensor(source) => corner(&source.layout, index.shape()).positions().collect(),
            Input::Number(_) => Vec::new(),
        };
        let numbers: Vec<usize> = match &source {
            Input::Tensor(source) => {
                corner(&Layout::contiguous(source.shape().clone()), index.shape()).positions().collect()
            }
            Input::Number(_) => Vec::new(),
        };
        for (at, place) in found.iter().enumerate() {
            let value = match &source {
                Input::Tensor(source) => machine.get(source.storage, from[at]),
                Input::Number(number) => {
                    mask::check_number(*number, tensor.dtype)?;
                    *number
                }
            };
            machine.put(tensor.storage, [(place[0], value)]);
            overwritten[place[1]] = true;
            put.extend(numbers.get(at).map(|number| (place[1], *number)));
        }
        // What came before a bad index has been written.
        fault.map_or(Ok(()), Err)?;
    }
    let kept = (0..overwritten.len()).filter(|&at| !overwritten[at]);
    let mut routes = vec![mask::own_route(&operand, tensor.shape(), kept)];
    if let Input::Tensor(source) = &source {
        routes.push(Route { node: source.node, shape: source.shape().clone(), pairs: put, added: false });
    }
    // The gradient of a source that is larger than the indices libtorch documents as missing.
    if let (Input::Tensor(source), Operand::Tensor(source_id)) = (&source, &call.args[3])
        && source.node.is_some()
        && source.shape() != index.shape()
    {
        autograd::record_unknown(machine, call.op, target, &[id, *source_id]);
        return Ok(Slot::Tensor(target));
    }
    mask::finish(machine, call, target, routes)
}

/// What `scatter` refuses of its operands (`scatter_gather_dtype_check`, `scatter_shape_check`).
fn check_scatter(operand: &Tensor, dim: usize, index: &Tensor, source: &Input) -> Result<()> {
    let empty = index.shape().numel() == 0;
    if !empty && !matches!(index.dtype, DType::Int64 | DType::Int32) {
        return Err(IndexFault::ScatterIndexDtype {}.into());
    }
    let source = match source {
        Input::Tensor(source) => Some(source),
        Input::Number(_) => None,
    };
    if source.is_some_and(|source| source.dtype != operand.dtype) {
        return Err(IndexFault::ScatterSourceDtype {}.into());
    }
    if empty {
        return Ok(());
    }
    let rank = operand.shape().rank().max(1);
    if rank != index.shape().rank().max(1) {
        return Err(IndexFault::ScatterRank {}.into());
    }
    let beyond_own = (0..rank).any(|at| at != dim && size(index.shape(), at) > size(operand.shape(), at));
    let (sizes, own) = (index.shape().sizes().to_vec(), operand.shape().sizes().to_vec());
    let Some(source) = source else {
        if beyond_own {
            return Err(IndexFault::ScatterValueShape { index: sizes, tensor: own, dim }.into());
        }
        return Ok(());
    };
    // The sizes of the source are asked for before its rank is.
    let mut beyond = beyond_own;
    for dim in (0..rank).take_while(|_| !beyond_own) {
        let low = source.shape().rank() as i64;
        if low > 0 && dim as i64 >= low {
            return Err(Rejection::DimensionRange { low: -low, high: low - 1, got: dim as i64 }.into());
        }
        beyond |= size(index.shape(), dim) > size(source.shape(), dim);
        if beyond {
            break;
        }
    }
    if source.shape().rank().max(1) != index.shape().rank().max(1) {
        return Err(IndexFault::ScatterSourceRank {}.into());
    }
    if beyond {
        let source = source.shape().sizes().to_vec();
        return Err(IndexFault::ScatterShape { index: sizes, tensor: own, dim, source }.into());
    }
    Ok(())
}

/// `index_select` (`index_select_out_cpu_`).
pub(super) fn index_select(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (id, index_id) = (call.tensor(0)?, call.tensor(2)?);
    let (operand, index) = (machine.tensor(id).clone(), machine.tensor(index_id).clone());
    if let Some(out) = call.target()? {
        autograd::check_in_place(machine, call, out, &[Input::Tensor(operand.clone())])?;
    }
    let (rank, count) = (operand.shape().rank(), index.shape().numel());
    let dim = wrap_dim(call.int(1)?, rank)?;
    if index.shape().rank() > 1 {
        return Err(IndexFault::SelectRank {}.into());
    }
    if rank == 0 && count != 1 {
        return Err(IndexFault::SelectScalar { count }.into());
    }
    if !matches!(index.dtype, DType::Int64 | DType::Int32) {
        return Err(IndexFault::SelectIndexDtype {}.into());
    }
    let mut sizes = operand.shape().sizes().to_vec();
    if rank > 0 {
        sizes[dim] = count as i64;
    }
    let shape = Shape::new(sizes).map_err(|_| Rejection::Numel)?;
    if let Some(out) = call.out {
        let tensor = machine.tensor(out);
        if tensor.dtype != operand.dtype {
            return Err(IndexFault::SelectResultDtype {}.into());
        }
        iterator::check_internal_overlap(tensor)?;
        iterator::check_no_overlap(tensor, &operand, out == id)?;
        iterator::check_no_overlap(tensor, &index, out == index_id)?;
        if *tensor.shape() != shape {
            elementwise::resize_output(machine, out, Layout::contiguous(shape.clone()), 1)?;
        }
    }
    let along = size(operand.shape(), dim);
    let indices: Vec<i64> = machine.elements(&index);
    // A copy whose result is row-major and that goes along the second dimension has words of its own for a bad index.
    let row_major = call.out.is_none_or(|out| machine.tensor(out).layout.is_contiguous());
    let empty = rank > 1 && operand.shape().numel() == 0;
    if empty && along == 0 && count > 0 {
        return Err(IndexFault::SelectEmpty {}.into());
    }
    if let Some(&bad) = indices.iter().find(|&&index| index < 0 || index >= along) {
        return Err(match rank > 1 && (empty || (dim == 1 && row_major)) {
            true => IndexFault::SelectBounds { index: bad, size: along }.into(),
            false => IndexFault::SelectRange {}.into(),
        });
    }
    let taken = |layout: &Layout| -> Vec<usize> {
        let mut rest = corner(layout, &shape);
        rest.strides.get_mut(dim).into_iter().for_each(|stride| *stride = 0);
        let stride = layout.strides.get(dim).copied().unwrap_or(1);
        let mut along = Layout::contiguous(shape.clone());
        let inner = along.strides.get(dim).copied().unwrap_or(1);
        along.offset = 0;
        rest.positions()
            .zip(along.positions())
            .map(|(at, number)| {
                let which = if shape.rank() == 0 { 0 } else { number as i64 / inner % shape.sizes()[dim] };
                (at as i64 + indices[which as usize] * stride) as usize
            })
            .collect()
    };
    let positions = taken(&operand.layout);
    let own = taken(&Layout::contiguous(operand.shape().clone()));
    let result = mask::deliver(machine, call.out, &operand, shape.clone(), &positions)?;
    mask::record_taken(machine, call, result, &operand, own);
    Ok(Slot::Tensor(result))
}

/// Brings a tensor given by `out=` to the shape of the result, as structured operators do (`resize_out`).
fn take_output(machine: &mut Machine, out: TensorId, dtype: DType, shape: &Shape) -> Result<()> {
    let tensor = machine.tensor(out);
    if tensor.dtype != dtype {
        return Err(IndexFault::OutDtype { pair: crate::error::DtypePair(dtype, tensor.dtype) }.into());
    }
    if tensor.shape() != shape {
        elementwise::resize_output(machine, out, Layout::contiguous(shape.clone()), 1)?;
    }
    Ok(())
}

/// The size of a dimension; a tensor without dimensions counts as one of a single element (`ensure_nonempty_size`).
fn size(shape: &Shape, dim: usize) -> i64 {
    shape.sizes().get(dim).copied().unwrap_or(1)
}

/// For each element of the index, row-major: what it names in each of two layouts of one tensor. The first that is out
/// of range ends it.
fn places(machine: &Machine, index: &Tensor, layouts: [&Layout; 2], dim: usize) -> (Vec<[usize; 2]>, Option<Stop>) {
    let values: Vec<i64> = machine.elements(index);
    let along = size(&layouts[0].shape, dim);
    // Everything but the dimension that the indices go along, for which they stand themselves.
    let starts = layouts.map(|layout| {
        let mut start = corner(layout, index.shape());
        start.strides.get_mut(dim).into_iter().for_each(|stride| *stride = 0);
        start.positions().collect::<Vec<usize>>()
    });
    let strides = layouts.map(|layout| layout.strides.get(dim).copied().unwrap_or(1));
    let mut found = Vec::with_capacity(values.len());
    for (at, &value) in values.iter().enumerate() {
        if value < 0 || value >= along {
            return (found, Some(Rejection::IndexRange { index: value, dim, size: along }.into()));
        }
        found.push([0, 1].map(|layout| (starts[layout][at] as i64 + value * strides[layout]) as usize));
    }
    (found, None)
}

/// The first elements of a layout in every dimension, as many as `shape` has; a tensor without dimensions counts as one
/// of a single element.
fn corner(layout: &Layout, shape: &Shape) -> Layout {
    let stride = |dim: usize| layout.strides.get(dim).copied().unwrap_or(1);
    Layout { shape: shape.clone(), strides: (0..shape.rank()).map(stride).collect(), offset: layout.offset }
}
