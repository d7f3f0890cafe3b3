//! `scaled_dot_product_attention` (ATen/native/transformers/attention.cpp).

use crate::error::Rejection;
use crate::ops::Op;
use crate::tensor::element::Element;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::super::autograd;
use super::super::budget::{charge, charge_product};
use super::super::composition::{Composition, real};
use super::super::graph::Kept;
use super::super::iterator;
use super::super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::super::write;
use super::matrix::shape_of;
use super::parts;

/// `scaled_dot_product_attention`: the values, weighted by the softmax of how the queries are like the keys. A row of which
/// everything is masked is zero.
pub(in super::super) fn scaled_dot_product_attention(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?];
    let [query, key, value] = ids.map(|id| machine.tensor(id).clone());
    let (operands, mask) = ([&query, &key, &value], call.optional_tensor(3)?.map(|id| machine.tensor(id).clone()));
    let (way, rule) = infer(call, operands, mask.as_ref())?;
    let made = match way {
        Way::Nothing => of_nothing(machine, call.op, operands, mask.as_ref(), rule),
        Way::Fused => fused(machine, call.op, operands, mask.as_ref(), rule),
        Way::Composed => machine.compose(|machine| composed(machine, call.op, ids, mask.as_ref(), rule)),
    };
    made.map(Slot::Tensor)
}

/// The ways in which libtorch computes it.
enum Way {
    /// Not at all: there is nothing to compute.
    Nothing,
    /// In one step.
    Fused,
    /// In several.
    Composed,
}

/// Checks the operands first, and then rejects a bool mask for integers, which have no infinity.
fn infer(call: &Call, operands: [&Tensor; 3], mask: Option<&Tensor>) -> Result<(Way, Rule)> {
    let [query, key, value] = operands;
    check_operands(query, key, value, mask)?;
    if real(call, 4)? != 0.0 {
        return Err(Stop::Unsupported("attention with dropout".to_owned()));
    }
    let scale = call.optional_number(6)?.map(f64::from_scalar);
    let inner = *query.shape().sizes().last().expect("two dimensions");
    let rule = Rule { causal: call.flag(5)?, scale: scale.unwrap_or(1.0 / (inner as f64).sqrt()) };
    let way = match mask {
        _ if is_of_nothing(query, value) => Way::Nothing,
        Some(mask) if mask.dtype == DType::Bool && is_integer(query.dtype) => {
            return Err(Rejection::Overflow { dtype: query.dtype }.into());
        }
        _ if is_fused(operands, mask, rule) => Way::Fused,
        _ => Way::Composed,
    };
    Ok((way, rule))
}

/// How queries are compared with keys.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// True if no query sees the keys behind its own place.
    causal: bool,
    /// The factor of the products.
    scale: f64,
}

/// The order of faults: dtypes, ranks, the dtype of the mask (`validate_sdpa_input`).
fn check_operands(query: &Tensor, key: &Tensor, value: &Tensor, mask: Option<&Tensor>) -> Result<()> {
    if query.dtype != key.dtype || query.dtype != value.dtype {
        let [query, key, value] = [query, key, value].map(|tensor| tensor.dtype);
        return Err(Rejection::AttentionDtypes { query, key, value }.into());
    }
    let ranks @ [first, second, third] = [query, key, value].map(|tensor| tensor.shape().rank());
    if ranks.iter().any(|rank| *rank < 2) {
        return Err(Rejection::AttentionRanks { query: first, key: second, value: third }.into());
    }
    match mask.map(|mask| mask.dtype) {
        Some(dtype) if ![DType::Bool, DType::Float32, query.dtype].contains(&dtype) => {
            Err(Rejection::AttentionMask { mask: dtype, query: query.dtype }.into())
        }
        _ => Ok(()),
    }
}

fn is_integer(dtype: DType) -> bool {
    dtype.category() < Category::Floating && dtype != DType::Bool
}

/// Returns whether there are no queries, or no values. Then libtorch looks at no dtype.
fn is_of_nothing(query: &Tensor, value: &Tensor) -> bool {
    let sizes = query.shape().sizes();
    sizes[sizes.len() - 2] == 0 || value.shape().numel() == 0
}

/// The zeros that come of nothing, whatever the dtype is. libtorch does not look at the shapes either; what does not fit is
/// refused here as it is elsewhere.
fn of_nothing(
    machine: &mut Machine,
    op: Op,
    operands: [&Tensor; 3],
    mask: Option<&Tensor>,
    rule: Rule,
) -> Result<TensorId> {
    let blank = |machine: &mut Machine, shape: &Shape| machine.blank(DType::Float32, Layout::contiguous(shape.clone()));
    let likes = operands.map(|operand| blank(machine, operand.shape()));
    let mask = mask.map(|mask| blank(machine, mask.shape()));
    let shape = machine.aside(|machine| {
        let ids = likes.map(|like| machine.add(like));
        composed(machine, op, ids, mask.as_ref(), rule).map(|id| machine.tensor(id).shape().clone())
    })?;
    // It is zeros, to which the sums of the operands are added, times zero.
    let layout = machine.aside(|machine| {
        let zeros = blank(machine, &shape);
        let zeros = machine.add(zeros);
        let sum = Composition { machine, op }.combine(Op::Add, zeros, 0.0)?;
        Ok::<_, Stop>(machine.tensor(sum).layout.clone())
    })?;
    let zeros = machine.blank(operands[0].dtype, layout);
    let result = machine.add(zeros);
    // Their shapes alone are needed again.
    let shapes = operands.map(|operand| Some(blank(machine, operand.shape()))).to_vec();
    let kept = Kept { tensors: shapes, ..Kept::of(op) };
    autograd::record_formula(machine, result, &operands.map(Some), kept, |machine, gradient, kept| {
        let mut blank = |like: &Tensor| machine.blank(gradient.dtype, Layout::contiguous(like.shape().clone()));
        Ok(kept.tensors.iter().map(|tensor| tensor.as_ref().map(&mut blank)).collect())
    });
    Ok(result)
}

/// Returns whether libtorch computes it in one step (`use_flash_attention_cpp`), which lays the result out as the query, and
/// keeps all operands. There it neither compares keys with values nor refuses a mask with `is_causal`; the reference sends
/// both to [`composed`], which refuses them.
fn is_fused(operands: [&Tensor; 3], mask: Option<&Tensor>, rule: Rule) -> bool {
    let [query, key, value] = operands;
    if operands.iter().any(|tensor| tensor.shape().rank() != 4 || tensor.layout.strides[3] != 1) {
        return false;
    }
    let [own, keys, values] = operands.map(|tensor| tensor.shape().sizes());
    let alike = [0, 1, 3].into_iter().all(|dim| own[dim] == keys[dim] && own[dim] == values[dim]);
    let masked = mask.is_none_or(|mask| {
        let sizes = mask.shape().sizes();
        let whole = [own[0], own[1], own[2], keys[2]];
        let fits = |(size, whole): (&i64, &i64)| *size == *whole || *size == 1;
        let fitting = [2, 4].contains(&sizes.len()) && sizes.iter().rev().zip(whole.iter().rev()).all(fits);
        mask.node.is_none() && fitting && !rule.causal
    });
    let floats = [query, key, value].iter().all(|tensor| tensor.dtype.category() == Category::Floating);
    alike && masked && floats && own[2] != 0 && keys[2] != 0 && keys[2] == values[2]
}

fn fused(machine: &mut Machine, op: Op, operands: [&Tensor; 3], mask: Option<&Tensor>, rule: Rule) -> Result<TensorId> {
    let mask = mask.map(|mask| additive(machine, mask, operands[0].dtype));
    let computed = machine.aside(|machine| {
        let ids = operands.map(|operand| machine.add(Tensor { node: None, base: None, ..operand.clone() }));
        composed(machine, op, ids, mask.as_ref(), rule).map(|id| machine.tensor(id).clone())
    })?;
    let values = write::elements(machine, &computed, computed.dtype);
    let result = write::deliver_in(machine, None, iterator::dense(&operands[0].layout), values);
    let tensors = operands.into_iter().map(Some).chain([mask.as_ref()]).map(|it| it.cloned()).collect();
    let numbers = vec![Scalar::Float(rule.scale), Scalar::Bool(rule.causal)];
    let kept = Kept { tensors, numbers, ..Kept::of(op) };
    autograd::record_formula(machine, result, &operands.map(Some), kept, fused_backward);
    autograd::keep_result(machine, result, "ScaledDotProductFlashAttentionForCpu");
    Ok(result)
}

/// What is added to the products: the mask itself, or minus infinity where it is false.
fn additive(machine: &mut Machine, mask: &Tensor, dtype: DType) -> Tensor {
    if mask.dtype != DType::Bool {
        return mask.clone();
    }
    let dtype = if dtype.category() < Category::Floating { DType::Float32 } else { dtype };
    let values = machine.eval(dtype, || {
        let seen: Vec<bool> = machine.elements(mask);
        Buffer::of(dtype, seen.into_iter().map(|seen| hidden(!seen)))
    });
    machine.allocate(Layout::contiguous(mask.shape().clone()), values)
}

fn hidden(hides: bool) -> f64 {
    if hides { f64::NEG_INFINITY } else { 0.0 }
}

/// The steps that it is made of (`_scaled_dot_product_attention_math`). 16 bits become 32 on the way.
fn composed(machine: &mut Machine, op: Op, ids: [TensorId; 3], mask: Option<&Tensor>, rule: Rule) -> Result<TensorId> {
    let dtype = machine.tensor(ids[0]).dtype;
    let mut mask = mask.map(|mask| additive(machine, mask, dtype));
    let narrow = matches!(dtype, DType::Float16 | DType::Bfloat16);
    let [query, key, value] = ids.map(|id| if narrow { cast(machine, op, id, DType::Float32) } else { id });
    let mut attention = Composition { machine, op };
    let root = rule.scale.abs().sqrt();
    let query = attention.combine(Op::Mul, query, if rule.scale < 0.0 { -root } else { root })?;
    if rule.causal {
        if mask.is_some() {
            return Err(Rejection::CausalMask.into());
        }
        let [rows, columns] = [query, key].map(|id| {
            let sizes = attention.machine.tensor(id).shape().sizes();
            sizes[sizes.len() - 2]
        });
        mask = Some(causal(attention.machine, rows, columns)?);
    }
    let turned = parts::transpose(attention.machine, key, -2, -1)?;
    let key = attention.combine(Op::Mul, turned, root)?;
    let scores = attention.combine(Op::Matmul, query, key)?;
    if let Some(mask) = mask {
        let mask = attention.machine.add(mask);
        attention.update(Op::Add, scores, mask)?;
    }
    let weights = softmax(attention.machine, op, scores)?;
    let result = attention.combine(Op::Matmul, weights, value)?;
    Ok(cast(machine, op, result, dtype))
}

/// A copy in another dtype, in the same layout, if it has another one.
fn cast(machine: &mut Machine, op: Op, id: TensorId, dtype: DType) -> TensorId {
    let tensor = machine.tensor(id).clone();
    if tensor.dtype == dtype {
        return id;
    }
    let copy = machine.converted(&tensor, dtype);
    let copy = write::restride(machine, &copy, iterator::dense(&tensor.layout));
    let copy = machine.add(copy);
    autograd::record_copy(machine, op, copy, &tensor);
    copy
}

/// Zeros in the lower triangle, and minus infinity above it.
fn causal(machine: &mut Machine, rows: i64, columns: i64) -> Result<Tensor> {
    let shape = shape_of(vec![rows, columns])?;
    let values = machine.eval(DType::Float32, || {
        charge(shape.numel());
        let hides = |at: usize| (at as i64) % columns > at as i64 / columns;
        Buffer::from_scalars(DType::Float32, (0..shape.numel()).map(|at| Scalar::Float(hidden(hides(at)))))
    });
    Ok(machine.allocate(Layout::contiguous(shape), values))
}

/// The softmax along the last dimension, zero where everything is minus infinity (`_safe_softmax`).
fn softmax(machine: &mut Machine, op: Op, scores: TensorId) -> Result<TensorId> {
    let scores = machine.tensor(scores).clone();
    let (dtype, shape) = (scores.dtype, scores.shape().clone());
    infer_softmax(dtype, &shape)?;
    let values = machine.eval(dtype, || {
        let mut values: Vec<f64> = machine.elements(&scores);
        values.chunks_mut(row_length(&shape)).for_each(weigh);
        Buffer::of(dtype, values)
    });
    let result = write::deliver(machine, None, &shape, values);
    let kept = Kept { tensors: vec![Some(machine.tensor(result).clone())], ..Kept::of(op) };
    autograd::record_formula(machine, result, &[Some(&scores)], kept, softmax_backward);
    Ok(result)
}

/// The order of faults: the dtype of any scores, complex numbers even of none.
fn infer_softmax(dtype: DType, shape: &Shape) -> Result<()> {
    if dtype.category() != Category::Floating && shape.numel() > 0 {
        return Err(Rejection::NoKernel { kernel: "softmax_lastdim_kernel_impl", dtype }.into());
    }
    match dtype.category() {
        Category::Complex => Err(Rejection::ComplexInfinities.into()),
        _ => Ok(()),
    }
}

fn row_length(shape: &Shape) -> usize {
    shape.sizes().last().map_or(1, |size| *size as usize).max(1)
}

/// Makes weights of the scores of a row.
fn weigh(row: &mut [f64]) {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, |most, next| if next > most { next } else { most });
    if row.iter().all(|score| *score == f64::NEG_INFINITY) {
        row.fill(0.0);
        return;
    }
    row.iter_mut().for_each(|score| *score = (*score - most).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|weight| *weight /= sum);
}

/// The gradient of the scores of a row from that of its weights.
fn score_gradients(gradient: &mut [f64], weights: &[f64]) {
    let mean: f64 = gradient.iter().zip(weights).map(|(gradient, weight)| gradient * weight).sum();
    gradient.iter_mut().zip(weights).for_each(|(gradient, weight)| *gradient = (*gradient - mean) * weight);
}

fn softmax_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let [Some(weights)] = &kept.tensors[..] else { return Ok(vec![None]) };
    let (dtype, shape) = (gradient.dtype, gradient.shape().clone());
    let values = machine.eval(dtype, || {
        let [mut arrived, weights]: [Vec<f64>; 2] = [gradient, weights].map(|tensor| machine.elements(tensor));
        let length = row_length(&shape);
        arrived.chunks_mut(length).zip(weights.chunks(length)).for_each(|(row, weights)| score_gradients(row, weights));
        Buffer::of(dtype, arrived)
    });
    Ok(vec![Some(machine.allocate(Layout::contiguous(shape), values))])
}

/// The gradients of the queries, the keys and the values of what is computed in one step.
fn fused_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let [Some(query), Some(key), Some(value), mask] = &kept.tensors[..] else { return Ok(vec![None, None, None]) };
    let (operands, rule) =
        ([query, key, value], Rule { causal: kept.numbers[1] == Scalar::Bool(true), scale: kept.real(0) });
    let (sizes, columns) = (query.shape().sizes(), key.shape().sizes()[2]);
    let whole = shape_of(vec![sizes[0], sizes[1], sizes[2], columns])?;
    let sizes = [sizes[0] * sizes[1], sizes[2], columns, sizes[3]].map(|size| size as usize);
    charge_product(&[sizes[0], sizes[1], sizes[2], sizes[3].max(1)]);
    let received = match machine.has_elements() {
        true => {
            let added = mask.as_ref().map(|mask| machine.expanded::<f64>(mask, &whole)).transpose()?;
            let elements = [query, key, value, gradient].map(|tensor| machine.elements(tensor));
            slopes(&elements, added.as_deref(), rule, sizes)
        }
        false => [const { Vec::new() }; 3],
    };
    let made = operands.into_iter().zip(received).map(|(tensor, values)| {
        let values = Buffer::of(tensor.dtype, values);
        Some(machine.allocate(Layout::contiguous(tensor.shape().clone()), values))
    });
    Ok(made.collect())
}

/// The same of the elements of all three, of what arrived, and of what was added to the products.
fn slopes(
    [q, k, v, g]: &[Vec<f64>; 4],
    added: Option<&[f64]>,
    rule: Rule,
    [batches, rows, columns, inner]: [usize; 4],
) -> [Vec<f64>; 3] {
    let [mut dq, mut dk, mut dv] = [q, k, v].map(|operand| vec![0.0; operand.len()]);
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    for batch in 0..batches {
        let own = |row: usize| (batch * rows + row) * inner..(batch * rows + row + 1) * inner;
        let other = |column: usize| (batch * columns + column) * inner..(batch * columns + column + 1) * inner;
        for row in 0..rows {
            let score = |column: usize| {
                let place = (batch * rows + row) * columns + column;
                let added = added.map_or(hidden(rule.causal && column > row), |added| added[place]);
                rule.scale * dot(&q[own(row)], &k[other(column)]) + added
            };
            let mut weights: Vec<f64> = (0..columns).map(score).collect();
            weigh(&mut weights);
            let mut slopes: Vec<f64> = (0..columns).map(|column| dot(&g[own(row)], &v[other(column)])).collect();
            score_gradients(&mut slopes, &weights);
            for column in 0..columns {
                for at in 0..inner {
                    let (mine, there) = (own(row).start + at, other(column).start + at);
                    dv[there] += weights[column] * g[mine];
                    dq[mine] += rule.scale * slopes[column] * k[there];
                    dk[there] += rule.scale * slopes[column] * q[mine];
                }
            }
        }
    }
    [dq, dk, dv]
}
