//! Grids of vectors: each with each. Vectors broadcast against each other along dimensions of their own.

use crate::error::Rejection;
use crate::tensor::{Buffer, Layout, Scalar, Shape};

use super::iterator;
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::{autograd, view};

/// `meshgrid`: every vector expanded along a dimension of its own. By "xy" the first two vectors swap
/// their dimensions.
pub(super) fn meshgrid(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = call.tensors(0)?.to_vec();
    let swaps = infer_grid(machine, &ids, call.text(1)?)?;
    let mut order = ids.clone();
    if swaps {
        order.swap(0, 1);
    }
    let sizes: Vec<i64> = order.iter().map(|id| machine.tensor(*id).shape().count()).collect();
    let shape = Shape::new(sizes).map_err(|_| Rejection::Numel)?;
    let mut grids = Vec::with_capacity(ids.len());
    for (at, id) in order.iter().enumerate() {
        grids.push(view::apply(machine, call.op, *id, |_, from, _| spread(from, at, &shape))?);
    }
    if swaps {
        grids.swap(0, 1);
    }
    Ok(Slot::Tensors(grids))
}

/// Returns whether the first two are swapped. The order of faults: no tensors, dtypes, dimensions, the indexing.
fn infer_grid(machine: &Machine, ids: &[TensorId], indexing: &str) -> Result<bool> {
    let tensors: Vec<&Tensor> = ids.iter().map(|id| machine.tensor(*id)).collect();
    let Some((first, _)) = tensors.split_first() else { return Err(Rejection::MeshgridEmpty.into()) };
    if tensors.iter().any(|tensor| tensor.dtype != first.dtype) {
        return Err(Rejection::MeshgridDtypes.into());
    }
    let swaps = match indexing {
        "ij" => false,
        "xy" => tensors.len() > 1,
        "" => return Err(Stop::Unsupported("an indexing without a name".to_owned())),
        other => return Err(Rejection::MeshgridIndexing { indexing: other.to_owned() }.into()),
    };
    if tensors.iter().any(|tensor| tensor.shape().rank() > 1) {
        return Err(Rejection::MeshgridRank { shown: String::new() }.into());
    }
    Ok(swaps)
}

/// The layout of one vector in a grid: a view of one dimension among ones, expanded.
fn spread(from: &Layout, at: usize, shape: &Shape) -> Result<Layout> {
    let mut sizes = vec![1; shape.rank()];
    sizes[at] = from.shape.count();
    let column = from.view(&Shape::new(sizes).map_err(|_| Rejection::Numel)?).ok_or(Rejection::ViewStride)?;
    column.expand(shape).ok_or_else(|| Stop::Malformed("a vector of another size".to_owned()))
}

/// `cartesian_prod`: the elements of vectors, each with each, row by row, as `itertools.product` has them: of a
/// single vector a column.
pub(super) fn cartesian_prod(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = call.tensors(0)?.to_vec();
    let tensors: Vec<Tensor> = ids.iter().map(|id| machine.tensor(*id).clone()).collect();
    if let Some(tensor) = tensors.iter().find(|tensor| tensor.shape().rank() != 1) {
        return Err(Rejection::CartesianRank { sizes: tensor.shape().sizes().to_vec() }.into());
    }
    infer_grid(machine, &ids, "ij")?;
    let rows = tensors.iter().fold(1i64, |rows, tensor| rows.saturating_mul(tensor.shape().count()));
    let layout = Layout::contiguous(Shape::new(vec![rows, ids.len() as i64]).map_err(|_| Rejection::Numel)?);
    let (dtype, elements) = (tensors[0].dtype, machine.has_elements());
    iterator::check_memory(&layout, dtype, iterator::Request::RowMajor, elements)?;
    product(machine, call, &tensors, layout)
}

fn product(machine: &mut Machine, call: &Call, tensors: &[Tensor], layout: Layout) -> Result<Slot> {
    let (rows, dtype) = (layout.shape.sizes()[0] as usize, tensors[0].dtype);
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); tensors.len()];
    if machine.has_elements() {
        let mut inner = rows;
        for (places, tensor) in places.iter_mut().zip(tensors) {
            let own = tensor.shape().numel().max(1);
            inner /= own;
            places.extend((0..rows).map(|row| row / inner.max(1) % own));
        }
    }
    let values = machine.eval(dtype, || {
        let columns: Vec<Vec<Scalar>> = tensors.iter().map(|tensor| machine.elements_as_scalars(tensor)).collect();
        let row = |row: usize| columns.iter().zip(&places).map(move |(column, places)| column[places[row]]);
        Buffer::from_scalars(dtype, (0..rows).flat_map(row))
    });
    let result = super::write::deliver_in(machine, None, layout, values);
    let count = tensors.len();
    let route = |(at, tensor): (usize, &Tensor)| autograd::Route {
        node: tensor.node,
        shape: tensor.shape().clone(),
        pairs: places[at].iter().enumerate().map(|(row, &own)| (row * count + at, own)).collect(),
        added: false,
    };
    let routes = tensors.iter().enumerate().map(route).collect();
    autograd::record_moved(machine, call.op, result, routes);
    Ok(Slot::Tensor(result))
}
