//! Distances: norms of differences, angles, and whether two tensors are close or equal.

use crate::error::{LossFault, PointwiseFault, Rejection};
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::autograd;
use super::composition::{Composition, Term, real, sign};
use super::elementwise::Operands;
use super::functions::{Tolerance, printed};
use super::graph::Kept;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId, wrap_dim};

/// `cosine_similarity`: the sum of the products of two vectors, each divided by its length.
pub(super) fn cosine_similarity(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (ids, dim, eps) = ([call.tensor(0)?, call.tensor(1)?], call.int(2)?, real(call, 3)?);
    let inputs = ids.map(|id| Input::Tensor(machine.tensor(id).clone()));
    let dtype = iterator::result_type(&inputs);
    if dtype.category() != Category::Floating {
        return Err(LossFault::CosineDtype { dtype }.into());
    }
    if eps.is_nan() || eps < 0.0 {
        return Err(LossFault::CosineEps { eps: printed(eps) }.into());
    }
    let shape = iterator::broadcast(&inputs)?;
    if dtype != DType::Float64 && eps.is_finite() && eps > f64::from(f32::MAX) {
        return Err(Stop::Unsupported("cosine_similarity with eps beyond float32".to_owned()));
    }
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
        lengths.push(norm(&mut cosine, side, 2.0, Some(dim), true)?);
    }
    let mut units = Vec::new();
    for (&side, &length) in sides.iter().zip(&lengths) {
        // The least length is put in behind autograd's back.
        let tensor = cosine.machine.tensor(length).clone();
        let lengths = [Input::Tensor(tensor.clone()), Input::Number(Scalar::Float(eps))];
        let lengths = cosine.machine.real_formula(&lengths, &[], tensor.shape(), tensor.dtype, |row| {
            if row[0].is_nan() { row[0] } else { row[0].max(row[1]) }
        })?;
        let values = cosine.machine.buffer(lengths.storage).clone();
        let length = cosine.machine.tensor(length).clone();
        cosine.machine.write(&length, &values);
        let id = cosine.machine.add(length);
        units.push(cosine.combine(Op::Div, side, id)?);
    }
    let product = cosine.combine(Op::Mul, units[0], units[1])?;
    cosine.step(Op::Sum, Form::Functional, &[product.into(), Term::Other(Arg::Ints(vec![dim]))]).map(Slot::Tensor)
}

/// `pairwise_distance`: the norm of the difference along the last dimension.
pub(super) fn pairwise_distance(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b, p, eps, keepdim) = (call.tensor(0)?, call.tensor(1)?, real(call, 2)?, real(call, 3)?, call.flag(4)?);
    let mut distance = Composition { machine, op: call.op };
    pairwise(&mut distance, a, b, p, eps, keepdim).map(Slot::Tensor)
}

/// `triplet_margin_loss`: by how much the anchor is not nearer to the one than to the other.
pub(super) fn triplet_margin_loss(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?];
    let (margin, p, eps, swap) = (real(call, 3)?, real(call, 4)?, real(call, 5)?, call.flag(6)?);
    let reduction = super::composition::Reduction::of(call)?;
    let [anchor, positive, negative] = ids.map(|id| machine.tensor(id).shape().rank());
    if anchor != positive || positive != negative {
        return Err(LossFault::TripletRanks { anchor, positive, negative }.into());
    }
    if swap {
        return Err(Stop::Unsupported("triplet_margin_loss with swap".to_owned()));
    }
    let [anchor, positive, negative] = ids;
    let mut loss = Composition { machine, op: call.op };
    let near = pairwise(&mut loss, anchor, positive, p, eps, false)?;
    let far = pairwise(&mut loss, anchor, negative, p, eps, false)?;
    let moved = loss.combine(Op::Add, near, margin)?;
    let difference = loss.combine(Op::Sub, moved, far)?;
    let kept = loss.not_below_zero(difference)?;
    loss.reduced(kept, reduction).map(Slot::Tensor)
}

fn pairwise(distance: &mut Composition, a: TensorId, b: TensorId, p: f64, eps: f64, keepdim: bool) -> Result<TensorId> {
    let rank = [a, b].map(|id| distance.machine.tensor(id).shape().rank()).into_iter().max().unwrap_or(0);
    let difference = distance.combine(Op::Sub, a, b)?;
    let moved = distance.combine(Op::Add, difference, eps)?;
    let result = norm(distance, moved, p, Some(rank as i64 - 1), keepdim)?;
    autograd::keep_result(distance.machine, result, "Norm1");
    Ok(result)
}

/// `dist`: the norm of the difference, of all elements.
pub(super) fn dist(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b, p) = (call.tensor(0)?, call.tensor(1)?, call.number(2)?);
    let mut distance = Composition { machine, op: call.op };
    let difference = distance.combine(Op::Sub, a, b)?;
    let dtype = distance.machine.tensor(difference).dtype;
    if dtype.category() < Category::Floating {
        return Err(LossFault::NormDtype { dtype }.into());
    }
    let p = match p {
        Scalar::Complex(_) => return Err(LossFault::ComplexOrder {}.into()),
        p => <f64 as crate::tensor::element::Element>::from_scalar(p),
    };
    let named = |stop: Stop| match (stop, call.number(2)) {
        // An integer is printed as one.
        (Stop::Rejected(Rejection::Loss(LossFault::NormOfNothing { .. })), Ok(Scalar::Int(order))) => {
            LossFault::NormOfNothing { order: order.to_string() }.into()
        }
        (stop, _) => stop,
    };
    let result = norm(&mut distance, difference, p, None, false).map_err(named)?;
    autograd::keep_result(distance.machine, result, "Dist");
    Ok(Slot::Tensor(result))
}

/// A norm along one dimension, or of everything (`linalg_vector_norm`).
fn norm(it: &mut Composition, operand: TensorId, p: f64, dim: Option<i64>, keepdim: bool) -> Result<TensorId> {
    let tensor = it.machine.tensor(operand).clone();
    let rank = tensor.shape().rank();
    let dim = dim.map(|dim| wrap_dim(dim, rank)).transpose()?;
    if tensor.dtype.category() == Category::Complex {
        return Err(Stop::Unsupported("a norm of complex numbers".to_owned()));
    }
    let lines = Lines::new(tensor.shape(), dim);
    if (p < 0.0 || p == f64::INFINITY) && lines.length == 0 && (dim.is_none() || tensor.shape().numel() == 0) {
        match dim {
            None => return Err(LossFault::NormOfNothing { order: printed(p) }.into()),
            Some(dim) if tensor.shape().sizes().get(dim) == Some(&0) => {
                return Err(LossFault::NormAlongNothing { order: printed(p), dim }.into());
            }
            Some(_) => {}
        }
    }
    check_order(p)?;
    let elements: Vec<f64> = it.machine.elements(&tensor);
    let alone = lines.length == 1 && rank > 0 && p != 0.0;
    let norms = (0..lines.count).map(|line| {
        let mut line = lines.of(line).map(|at| elements[at]);
        // Of one element it is the size, whatever the order.
        Scalar::Float(if alone { line.next().map_or(0.0, f64::abs) } else { p_norm(line, p) })
    });
    let values = Buffer::from_scalars(tensor.dtype, norms.collect::<Vec<_>>().into_iter());
    let sizes = tensor.shape().sizes().iter().enumerate();
    let sizes: Vec<i64> = match dim {
        None => Vec::new(),
        Some(_) if rank == 0 => Vec::new(),
        Some(dim) if keepdim => sizes.map(|(at, &size)| if at == dim { 1 } else { size }).collect(),
        Some(dim) => sizes.filter(|(at, _)| *at != dim).map(|(_, &size)| size).collect(),
    };
    let shape = Shape::new(sizes).expect("no size grew");
    let result = it.place(values, Layout::contiguous(shape));
    let numbers = vec![p, dim.map_or(-1.0, |dim| dim as f64)];
    autograd::record_own(it.machine, it.op, result, &[Some(operand)], numbers, norm_backward);
    Ok(result)
}

/// Orders so far from the usual that what powers come to depends on how they are computed.
fn check_order(p: f64) -> Result<()> {
    if p.is_nan() || (p.is_finite() && p != 0.0 && !(0.1..=16.0).contains(&p.abs())) {
        return Err(Stop::Unsupported(format!("a norm of the order {p}")));
    }
    Ok(())
}

/// The elements along one dimension, or all of them.
struct Lines {
    count: usize,
    length: usize,
    inner: usize,
}

impl Lines {
    fn new(shape: &Shape, dim: Option<usize>) -> Lines {
        let numel = shape.numel();
        match dim.filter(|_| shape.rank() > 0) {
            None => Lines { count: 1, length: numel, inner: 1 },
            Some(dim) => {
                let product = |sizes: &[i64]| sizes.iter().product::<i64>() as usize;
                let (outer, inner) = (product(&shape.sizes()[..dim]), product(&shape.sizes()[dim + 1..]));
                Lines { count: outer * inner, length: shape.sizes()[dim] as usize, inner }
            }
        }
    }

    /// The positions of one line, row-major.
    fn of(&self, line: usize) -> impl Iterator<Item = usize> + use<> {
        let (length, inner) = (self.length, self.inner);
        (0..length).map(move |at| (line / inner * length + at) * inner + line % inner)
    }
}

fn p_norm(elements: impl Iterator<Item = f64>, p: f64) -> f64 {
    let sizes = elements.map(f64::abs);
    let nan_or =
        |pick: fn(f64, f64) -> f64| move |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { pick(a, b) };
    if p == f64::INFINITY {
        sizes.fold(0.0, nan_or(f64::max))
    } else if p == f64::NEG_INFINITY {
        sizes.fold(f64::INFINITY, nan_or(f64::min))
    } else if p == 0.0 {
        sizes.filter(|size| *size != 0.0).count() as f64
    } else if p == 1.0 {
        sizes.fold(0.0, |sum, size| sum + size)
    } else if p == 2.0 {
        sizes.fold(0.0, |sum, size| sum + size * size).sqrt()
    } else {
        sizes.fold(0.0, |sum, size| sum + size.powf(p)).powf(1.0 / p)
    }
}

/// `norm_backward`. Where the norm is 0 it has a subgradient of 0.
fn norm_backward(machine: &mut Machine, gradient: &Tensor, saved: &Kept) -> Result<Vec<Option<Tensor>>> {
    let Some(operand) = &saved.tensors[0] else { return Ok(vec![None]) };
    let p = saved.real(0);
    if p == 0.0 {
        return Err(Stop::Unsupported(
            "the gradient of a norm that counts, which libtorch leaves undefined".to_owned(),
        ));
    }
    if p < 0.0 && p.is_finite() {
        return Err(Stop::Unsupported(
            "the gradient of a norm of negative order, beyond what float16 holds".to_owned(),
        ));
    }
    let dim = Some(saved.real(1)).filter(|dim| *dim >= 0.0).map(|dim| dim as usize);
    let lines = Lines::new(operand.shape(), dim);
    let elements: Vec<f64> = machine.elements(operand);
    let gradients: Vec<f64> = machine.elements(gradient);
    let mut results = vec![Scalar::Float(0.0); elements.len()];
    for (line, gradient) in gradients.into_iter().enumerate().take(lines.count) {
        let norm = p_norm(lines.of(line).map(|at| elements[at]), p);
        let extremes = lines.of(line).filter(|&at| elements[at].abs() == norm).count() as f64;
        for at in lines.of(line) {
            let (x, size) = (elements[at], elements[at].abs());
            let received = if p == 1.0 {
                sign(x) * gradient
            } else if p.is_infinite() {
                if size == norm { sign(x) * gradient / extremes } else { 0.0 }
            } else if p < 1.0 {
                if x == 0.0 { 0.0 } else { sign(x) * size.powf(p - 1.0) * gradient * norm.powf(1.0 - p) }
            } else if norm == 0.0 {
                0.0
            } else if p == 2.0 {
                gradient * (x / norm)
            } else {
                sign(x) * size.powf(p - 1.0) * (gradient / norm.powf(p - 1.0))
            };
            results[at] = Scalar::Float(received);
        }
    }
    let results = Buffer::from_scalars(operand.dtype, results.into_iter());
    Ok(vec![Some(machine.allocate(Layout::contiguous(operand.shape().clone()), results))])
}

/// `cdist`: the distance of every row of one matrix from every row of another; batches of them broadcast.
pub(super) fn cdist(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = [call.tensor(0)?, call.tensor(1)?];
    let [a, b] = ids.map(|id| machine.tensor(id).clone());
    let p = real(call, 2)?;
    let mode = match call.dims(3)?.as_deref() {
        None => 0,
        Some([mode]) => *mode,
        Some(_) => return Err(Stop::Malformed("several modes".to_owned())),
    };
    let sizes = [&a, &b].map(|tensor| tensor.shape().sizes().to_vec());
    for (sizes, fault) in
        sizes.iter().zip([|rank| LossFault::FirstRank { rank }, |rank| LossFault::SecondRank { rank }]
            as [fn(usize) -> LossFault; 2])
    {
        if sizes.len() < 2 {
            return Err(fault(sizes.len()).into());
        }
    }
    let [(batch1, rows1, columns1), (batch2, rows2, columns2)] = [&sizes[0], &sizes[1]].map(|sizes| {
        let (batch, matrix) = sizes.split_at(sizes.len() - 2);
        (batch.to_vec(), matrix[0], matrix[1])
    });
    if columns1 != columns2 {
        return Err(LossFault::Columns { first: columns1, second: columns2 }.into());
    }
    if a.dtype.category() != Category::Floating {
        return Err(LossFault::FirstDtype { dtype: a.dtype }.into());
    }
    if b.dtype.category() != Category::Floating {
        return Err(LossFault::SecondDtype { dtype: b.dtype }.into());
    }
    if p.is_nan() || p < 0.0 {
        return Err(LossFault::NegativeOrder {}.into());
    }
    if !(0..=2).contains(&mode) {
        return Err(LossFault::Mode { mode }.into());
    }
    let [batch1, batch2] = [batch1, batch2].map(|batch| Shape::new(batch).expect("sizes of a tensor"));
    let batch = batch1.broadcast(&batch2)?;
    let shape = |last: [i64; 2]| Shape::new([batch.sizes(), &last].concat()).map_err(|_| Stop::from(Rejection::Numel));
    let (result_shape, shape1, shape2) = (shape([rows1, rows2])?, shape([rows1, columns1])?, shape([rows2, columns2])?);
    let empty = result_shape.numel() == 0 || columns1 == 0;
    if !empty && p == 2.0 && (mode == 1 || (mode == 0 && (rows1 > 25 || rows2 > 25))) {
        return Err(Stop::Unsupported("cdist by a matrix product".to_owned()));
    }
    if !empty {
        if !matches!(a.dtype, DType::Float32 | DType::Float64) {
            return Err(PointwiseFault::NoKernel { kernel: "cdist", dtype: a.dtype }.into());
        }
        if a.dtype != b.dtype {
            return Err(LossFault::ExpectedScalar { expected: a.dtype, found: b.dtype }.into());
        }
    }
    check_order(p)?;
    let (rows1, rows2, columns) = (rows1 as usize, rows2 as usize, columns1 as usize);
    let (left, right) = (machine.expanded::<f64>(&a, &shape1)?, machine.expanded::<f64>(&b, &shape2)?);
    let distance = |at: usize| {
        let (batch, row1, row2) = (at / (rows1 * rows2), at / rows2 % rows1, at % rows2);
        let (from, to) = ((batch * rows1 + row1) * columns, (batch * rows2 + row2) * columns);
        p_norm((0..columns).map(|column| left[from + column] - right[to + column]), p)
    };
    let values: Vec<Scalar> = (0..result_shape.numel()).map(|at| Scalar::Float(distance(at))).collect();
    let values = Buffer::from_scalars(a.dtype, values.into_iter());
    let mut composition = Composition { machine, op: call.op };
    let result = composition.place(values, Layout::contiguous(result_shape));
    autograd::record_own(composition.machine, call.op, result, &ids.map(Some), vec![p], cdist_backward);
    autograd::keep_result(composition.machine, result, "Cdist");
    Ok(Slot::Tensor(result))
}

/// `_cdist_backward`, of each operand.
fn cdist_backward(machine: &mut Machine, gradient: &Tensor, saved: &Kept) -> Result<Vec<Option<Tensor>>> {
    let (Some(a), Some(b)) = (&saved.tensors[0], &saved.tensors[1]) else { return Ok(vec![None, None]) };
    let p = saved.real(0);
    let sizes = gradient.shape().sizes();
    let (batch, [rows1, rows2]) = (&sizes[..sizes.len() - 2], [sizes[sizes.len() - 2], sizes[sizes.len() - 1]]);
    let columns = a.shape().sizes()[a.shape().rank() - 1];
    let shape = |rows: i64| Shape::new([batch, &[rows, columns]].concat()).map_err(|_| Stop::from(Rejection::Numel));
    let shapes = [shape(rows1)?, shape(rows2)?];
    let (left, right) = (machine.expanded::<f64>(a, &shapes[0])?, machine.expanded::<f64>(b, &shapes[1])?);
    let gradients: Vec<f64> = machine.elements(gradient);
    let mut received = [vec![0.0; left.len()], vec![0.0; right.len()]];
    let (rows1, rows2, columns) = (rows1 as usize, rows2 as usize, columns as usize);
    for (at, gradient) in gradients.into_iter().enumerate() {
        let (batch, row1, row2) = (at / (rows1 * rows2), at / rows2 % rows1, at % rows2);
        let (from, to) = ((batch * rows1 + row1) * columns, (batch * rows2 + row2) * columns);
        let differences: Vec<f64> = (0..columns).map(|column| left[from + column] - right[to + column]).collect();
        let distance = p_norm(differences.iter().copied(), p);
        for (column, difference) in differences.into_iter().enumerate() {
            let size = difference.abs();
            let share = if p == 0.0 || (distance == 0.0 && p != 1.0) {
                0.0
            } else if p == 1.0 {
                sign(difference) * gradient
            } else if p.is_infinite() {
                if size == distance { sign(difference) * gradient } else { 0.0 }
            } else if difference == 0.0 {
                0.0
            } else {
                sign(difference) * size.powf(p - 1.0) * gradient / distance.powf(p - 1.0)
            };
            received[0][from + column] += share;
            received[1][to + column] -= share;
        }
    }
    let [first, second] = received;
    let mut place = |values: Vec<f64>, dtype: DType, shape: Shape| {
        let values = Buffer::from_scalars(dtype, values.into_iter().map(Scalar::Float));
        Some(machine.allocate(Layout::contiguous(shape), values))
    };
    let [shape1, shape2] = shapes;
    Ok(vec![place(first, a.dtype, shape1), place(second, b.dtype, shape2)])
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
    let same: Vec<bool> = composition.machine.elements(composition.machine.tensor(same));
    Ok(Slot::Number(Scalar::Bool(same.into_iter().all(|same| same))))
}

/// `allclose`: whether every element of two tensors, which broadcast, is close to that of the other.
pub(super) fn allclose(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let (rtol, atol, equal_nan) = (real(call, 2)?, real(call, 3)?, call.flag(4)?);
    let inputs = [a, b].map(|id| Input::Tensor(machine.tensor(id).clone()));
    let [left, right] = [a, b].map(|id| machine.tensor(id).dtype);
    if left != right {
        return Err(LossFault::Unlike { left, right }.into());
    }
    if rtol.is_nan() || rtol < 0.0 {
        return Err(LossFault::NegativeRtol { rtol: printed(rtol) }.into());
    }
    if atol.is_nan() || atol < 0.0 {
        return Err(LossFault::NegativeAtol { atol: printed(atol) }.into());
    }
    let shape = iterator::broadcast(&inputs)?;
    let operands = Operands::new(call.op, inputs.to_vec(), shape, Scalar::Int(1));
    let tolerance = Tolerance { relative: rtol, absolute: atol, nan_equals_nan: equal_nan };
    let all = tolerance.each(machine, &operands).into_iter().all(|close| close);
    Ok(Slot::Number(Scalar::Bool(all)))
}
