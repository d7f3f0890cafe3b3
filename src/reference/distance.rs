//! Distances: norms of differences, angles, and whether two tensors are close or equal.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::element::Element;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::autograd;
use super::budget::charge_product;
use super::composition::{Composition, Term, real};
use super::elementwise::{Operands, formula};
use super::functions::{Tolerance, printed};
use super::graph::Kept;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::{norm, write};

/// `cosine_similarity`: the sum of the products of two vectors, each divided by its length.
pub(super) fn cosine_similarity(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (ids, dim, eps) = ([call.tensor(0)?, call.tensor(1)?], call.int(2)?, real(call, 3)?);
    let (dtype, shape) = infer_cosine(&ids.map(|id| Input::Tensor(machine.tensor(id).clone())), eps)?;
    let mut cosine = Composition { machine, op: call.op };
    let mut sides = Vec::new();
    for id in ids {
        let mut side = id;
        let tensor = cosine.machine.tensor(id).clone();
        if tensor.dtype.category() < Category::Floating {
            let cast = cosine.machine.converted(&tensor, dtype);
            side = cosine.machine.add(cast);
        }
        if *tensor.shape() != shape {
            let sizes = Term::Other(Arg::Ints(shape.sizes().to_vec()));
            side = cosine.step(Op::Expand, Form::Functional, &[side.into(), sizes])?;
        }
        sides.push(side);
    }
    let mut lengths = Vec::new();
    for &side in &sides {
        lengths.push(norm::along(&mut cosine, side, 2.0, Some(dim), true)?);
    }
    let mut units = Vec::new();
    for (&side, &length) in sides.iter().zip(&lengths) {
        let length = clamp_length(cosine.machine, length, eps)?;
        units.push(cosine.combine(Op::Div, side, length)?);
    }
    let product = cosine.combine(Op::Mul, units[0], units[1])?;
    cosine.step(Op::Sum, Form::Functional, &[product.into(), Term::Other(Arg::Ints(vec![dim]))]).map(Slot::Tensor)
}

/// The dtype and the shape that the vectors have in common. The order of faults: that dtype, the least length, that shape.
fn infer_cosine(inputs: &[Input], eps: f64) -> Result<(DType, Shape)> {
    let dtype = iterator::result_type(inputs);
    if dtype.category() != Category::Floating {
        return Err(Rejection::CosineDtype { dtype }.into());
    }
    if eps.is_nan() || eps < 0.0 {
        return Err(Rejection::CosineEps { eps: printed(eps) }.into());
    }
    let shape = iterator::broadcast(inputs)?;
    if dtype != DType::Float64 && eps.is_finite() && eps > f64::from(f32::MAX) {
        return Err(Stop::Unsupported("cosine_similarity with eps beyond float32".to_owned()));
    }
    Ok((dtype, shape))
}

/// Puts the least length in behind autograd's back.
fn clamp_length(machine: &mut Machine, length: TensorId, least: f64) -> Result<TensorId> {
    let tensor = machine.tensor(length).clone();
    let operands = [Input::Tensor(tensor.clone()), Input::Number(Scalar::Float(least))];
    let lengths = formula(machine, &operands, tensor.shape(), tensor.dtype, &|row| {
        if row[0].is_nan() { row[0] } else { row[0].max(row[1]) }
    })?;
    write::copy(machine, length, &lengths);
    Ok(machine.add(tensor))
}

/// `pairwise_distance`: the norm of the difference along the last dimension.
pub(super) fn pairwise_distance(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b, p, eps, keepdim) = (call.tensor(0)?, call.tensor(1)?, real(call, 2)?, real(call, 3)?, call.flag(4)?);
    let mut distance = Composition { machine, op: call.op };
    pairwise(&mut distance, a, b, p, eps, keepdim).map(Slot::Tensor)
}

/// `triplet_margin_loss`: by how much the anchor is not nearer to the positive than to the negative, or, with `swap`, than the
/// nearer one of anchor and positive is to the negative.
pub(super) fn triplet_margin_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?];
    let (margin, p, eps, swap) = (real(call, 3)?, real(call, 4)?, real(call, 5)?, call.flag(6)?);
    let reduction = super::composition::Reduction::of(call)?;
    infer_triplet(ids.map(|id| machine.tensor(id).shape().rank()))?;
    let [anchor, positive, negative] = ids;
    let mut loss = Composition { machine, op: call.op };
    let near = pairwise(&mut loss, anchor, positive, p, eps, false)?;
    let mut far = pairwise(&mut loss, anchor, negative, p, eps, false)?;
    if swap {
        let swapped = pairwise(&mut loss, positive, negative, p, eps, false)?;
        far = loss.combine(Op::Minimum, far, swapped)?;
    }
    let moved = loss.combine(Op::Add, near, margin)?;
    let difference = loss.combine(Op::Sub, moved, far)?;
    let kept = loss.combine(Op::ClampMin, difference, 0i64)?;
    loss.reduced(kept, reduction).map(Slot::Tensor)
}

/// Refuses other ranks.
fn infer_triplet([anchor, positive, negative]: [usize; 3]) -> Result<()> {
    if anchor != positive || positive != negative {
        return Err(Rejection::TripletRanks { anchor, positive, negative }.into());
    }
    Ok(())
}

fn pairwise(distance: &mut Composition, a: TensorId, b: TensorId, p: f64, eps: f64, keepdim: bool) -> Result<TensorId> {
    let rank = [a, b].map(|id| distance.machine.tensor(id).shape().rank()).into_iter().max().unwrap_or(0);
    let difference = distance.combine(Op::Sub, a, b)?;
    let moved = distance.combine(Op::Add, difference, eps)?;
    let result = norm::along(distance, moved, p, Some(rank as i64 - 1), keepdim)?;
    autograd::keep_result(distance.machine, result, "Norm1");
    Ok(result)
}

/// `dist`: the norm of the difference, of all elements.
pub(super) fn dist(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b, p) = (call.tensor(0)?, call.tensor(1)?, call.number(2)?);
    let mut distance = Composition { machine, op: call.op };
    let difference = distance.combine(Op::Sub, a, b)?;
    let order = check_difference(distance.machine.tensor(difference).dtype, p)?;
    let named = |stop: Stop| match (stop, p) {
        // An integer is printed as one.
        (Stop::Rejected(Rejection::NormOfNothing { .. }), Scalar::Int(order)) => {
            Rejection::NormOfNothing { order: order.to_string() }.into()
        }
        (stop, _) => stop,
    };
    let result = norm::along(&mut distance, difference, order, None, false).map_err(named)?;
    autograd::keep_operands(distance.machine, result, &[a, b]);
    autograd::keep_result(distance.machine, result, "Dist");
    Ok(Slot::Tensor(result))
}

/// The order of the norm. The order of faults: the dtype of the difference, that order.
fn check_difference(dtype: DType, order: Scalar) -> Result<f64> {
    if dtype.category() < Category::Floating {
        return Err(Rejection::DistDtype { dtype }.into());
    }
    match order {
        Scalar::Complex(_) => Err(Rejection::NormOrder.into()),
        order => Ok(f64::from_scalar(order)),
    }
}

/// `cdist`: the distance of every row of one matrix from every row of another; batches of them broadcast.
pub(super) fn cdist(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = [call.tensor(0)?, call.tensor(1)?];
    let [a, b] = ids.map(|id| machine.tensor(id).clone());
    let p = real(call, 2)?;
    let rows = infer_cdist(machine, call, &a, &b, p)?;
    let values = machine.try_eval(a.dtype, || {
        let distances = rows.distances(
            &machine.expanded::<f64>(&a, &rows.shapes[0])?,
            &machine.expanded::<f64>(&b, &rows.shapes[1])?,
            p,
        );
        Ok::<_, Stop>(Buffer::of(a.dtype, distances))
    })?;
    let result = write::deliver(machine, None, &rows.shapes[2], values);
    autograd::record_own(machine, call.op, result, &ids.map(Some), vec![p], cdist_backward);
    autograd::keep_result(machine, result, "Cdist");
    Ok(Slot::Tensor(result))
}

/// The order of faults: ranks, columns, dtypes, the order and the mode, the batches, what the kernel refuses.
fn infer_cdist(machine: &Machine, call: &Call, a: &Tensor, b: &Tensor, p: f64) -> Result<Rows> {
    let mode = match call.dims(3)?.as_deref() {
        None => 0,
        Some([mode]) => *mode,
        Some(_) => return Err(Stop::Malformed("several modes".to_owned())),
    };
    let [first, second] = [a, b].map(|tensor| tensor.shape().sizes());
    if first.len() < 2 {
        return Err(Rejection::CdistRank { name: "X1", rank: first.len() }.into());
    }
    if second.len() < 2 {
        return Err(Rejection::CdistRank { name: "X2", rank: second.len() }.into());
    }
    let [(batch1, matrix1), (batch2, matrix2)] = [first, second].map(|sizes| sizes.split_at(sizes.len() - 2));
    if matrix1[1] != matrix2[1] {
        return Err(Rejection::CdistColumns { first: matrix1[1], second: matrix2[1] }.into());
    }
    for (name, dtype) in [("X1", a.dtype), ("X2", b.dtype)] {
        if dtype.category() != Category::Floating {
            return Err(Rejection::CdistDtype { name, dtype }.into());
        }
    }
    if p.is_nan() || p < 0.0 {
        return Err(Rejection::CdistOrder.into());
    }
    if !(0..=2).contains(&mode) {
        return Err(Rejection::CdistMode { mode }.into());
    }
    let [batch1, batch2] = [batch1, batch2].map(|batch| Shape::of_sizes(batch.to_vec()));
    let rows = Rows::new(batch1.broadcast(&batch2)?.sizes(), [matrix1[0], matrix2[0]], matrix1[1])?;
    if rows.shapes[2].numel() > 0 && rows.columns > 0 {
        let elements = machine.has_elements();
        if elements && p == 2.0 && (mode == 1 || (mode == 0 && rows.counts.iter().any(|&count| count > 25))) {
            return Err(Stop::Unsupported("cdist by a matrix product".to_owned()));
        }
        if !matches!(a.dtype, DType::Float32 | DType::Float64) {
            return Err(Rejection::NoKernel { kernel: "cdist", dtype: a.dtype }.into());
        }
        if a.dtype != b.dtype {
            return Err(Rejection::ScalarType { expected: a.dtype, found: b.dtype }.into());
        }
    }
    norm::check_order(machine, p)?;
    Ok(rows)
}

/// The rows of two batches of matrices, each of the one with each of the other.
struct Rows {
    /// The shapes of both batches, broadcast, and of their distances.
    shapes: [Shape; 3],
    counts: [usize; 2],
    columns: usize,
}

impl Rows {
    fn new(batch: &[i64], [rows1, rows2]: [i64; 2], columns: i64) -> Result<Rows> {
        let shape = |matrix: [i64; 2]| Shape::new([batch, &matrix].concat()).map_err(|_| Stop::from(Rejection::Numel));
        let shapes = [shape([rows1, columns])?, shape([rows2, columns])?, shape([rows1, rows2])?];
        Ok(Rows { shapes, counts: [rows1 as usize, rows2 as usize], columns: columns as usize })
    }

    /// Every column of a row meets that of every row of the other side.
    fn charge(&self) {
        charge_product(&[self.shapes[2].numel(), self.columns.max(1)]);
    }

    /// The starts of both rows whose distance has this number.
    fn starts(&self, at: usize) -> [usize; 2] {
        let [rows1, rows2] = self.counts;
        let (batch, row1, row2) = (at / (rows1 * rows2), at / rows2 % rows1, at % rows2);
        [(batch * rows1 + row1) * self.columns, (batch * rows2 + row2) * self.columns]
    }

    fn distances(&self, left: &[f64], right: &[f64], p: f64) -> Vec<f64> {
        self.charge();
        let distance = |at: usize| {
            let [from, to] = self.starts(at);
            norm::of((0..self.columns).map(|column| (left[from + column] - right[to + column]).abs()), p)
        };
        (0..self.shapes[2].numel()).map(distance).collect()
    }

    /// The gradients of the elements of both sides.
    fn gradients(&self, left: &[f64], right: &[f64], arrived: &[f64], p: f64) -> [Vec<f64>; 2] {
        self.charge();
        let mut received = [vec![0.0; left.len()], vec![0.0; right.len()]];
        let distances = self.distances(left, right, p);
        for (at, (&arrived, distance)) in arrived.iter().zip(distances).enumerate() {
            let [from, to] = self.starts(at);
            for column in 0..self.columns {
                // The kernel looks at the difference itself, and counts each that is the greatest.
                let share = match left[from + column] - right[to + column] {
                    _ if p == 0.0 => 0.0,
                    0.0 if p != 1.0 => 0.0,
                    difference => norm::slope(difference, [distance, 1.0], arrived, p, norm::product_first),
                };
                received[0][from + column] += share;
                received[1][to + column] -= share;
            }
        }
        received
    }
}

/// `_cdist_backward`, of each operand.
fn cdist_backward(machine: &mut Machine, gradient: &Tensor, saved: &Kept) -> Result<Vec<Option<Tensor>>> {
    let (Some(a), Some(b)) = (&saved.tensors[0], &saved.tensors[1]) else { return Ok(vec![None, None]) };
    let (batch, counts) = gradient.shape().sizes().split_at(gradient.shape().rank() - 2);
    let rows = Rows::new(batch, [counts[0], counts[1]], a.shape().sizes()[a.shape().rank() - 1])?;
    let (left, right) = (machine.expanded::<f64>(a, &rows.shapes[0])?, machine.expanded::<f64>(b, &rows.shapes[1])?);
    let received = match machine.has_elements() {
        true => rows.gradients(&left, &right, &machine.elements::<f64>(gradient), saved.real(0)),
        false => [Vec::new(), Vec::new()],
    };
    let sides = received.into_iter().zip([a, b]).zip(&rows.shapes).map(|((values, tensor), shape)| {
        let values = Buffer::of(tensor.dtype, values);
        Some(machine.allocate(Layout::contiguous(shape.clone()), values))
    });
    Ok(sides.collect())
}

/// `equal`: whether two tensors have one shape and the same elements. It does not broadcast.
pub(super) fn equal(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    if machine.tensor(a).shape() != machine.tensor(b).shape() {
        return Ok(Slot::Number(Scalar::Bool(false)));
    }
    let mut composition = Composition { machine, op: call.op };
    let (a, b) = (composition.detached(a), composition.detached(b));
    let same = composition.combine(Op::Eq, a, b)?;
    // Without elements there is nothing that differs; the number is not looked at.
    let same: Vec<bool> = composition.machine.elements(composition.machine.tensor(same));
    Ok(Slot::Number(Scalar::Bool(same.into_iter().all(|same| same))))
}

/// `allclose`: whether every element of two tensors, which broadcast, is close to that of the other.
pub(super) fn allclose(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = [call.tensor(0)?, call.tensor(1)?].map(|id| Input::Tensor(machine.tensor(id).clone()));
    let tolerance = Tolerance::infer(call, &inputs)?;
    let shape = iterator::broadcast(&inputs)?;
    let operands = Operands::new(call.op, inputs.to_vec(), shape, Scalar::Int(1));
    let all = !machine.has_elements() || tolerance.each(machine, &operands).into_iter().all(|close| close);
    Ok(Slot::Number(Scalar::Bool(all)))
}
