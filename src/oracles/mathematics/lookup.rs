//! Elements among others, and each with each: membership, places in sorted rows, grids; by PyTorch's pages on `isin`,
//! `searchsorted`, `bucketize`, `meshgrid` and `cartesian_prod`.

use super::elementwise::{Operand, convert, exactly, is_apart, result_type};
use super::set::{Set, as_float};
use super::trace::{Elements, Trace};
use super::{Right, Wrong, wrong_shape};
use crate::Difference;
use crate::ops::{Form, Op};
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, DType, Scalar};

const MEMBER: &str = "torch.isin: whether the element is in test_elements";
const PLACE: &str = "torch.searchsorted: boundaries[i-1] < v <= boundaries[i], or <= and < for the right side";
const GRID: &str = "torch.meshgrid, cartesian_prod: each element of a vector with each of the others";

/// The first place or truth that is wrong, or the shape.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    if step.form != Form::Functional && !is_apart(trace, at, step, result) {
        return None;
    }
    let operand = |number: usize| trace.operand(at, step, number);
    if step.op == Op::CartesianProd {
        return judge_product(trace, at, step, result);
    }
    let (first, second) = (operand(0)?, operand(1)?);
    let (values, others) = if step.op == Op::Searchsorted { (second, first) } else { (first, second) };
    let source = if step.op == Op::Isin { MEMBER } else { PLACE };
    if result.shape != values.shape {
        return Some(wrong_shape(step, result, values.shape.sizes(), source));
    }
    let common = common(&values, &others)?;
    let [values, rows] = [&values, &others]
        .map(|elements| elements.values.iter().map(|value| convert(*value, common)).collect::<Vec<Scalar>>());
    let observed = Elements::of(result)?;
    for (number, value) in values.iter().enumerate() {
        let right = match step.op {
            Op::Isin => Scalar::Bool(is_member(step, *value, &rows)?),
            _ => Scalar::Int(place(step, *value, row(number, &others, result, &rows))?),
        };
        let right = Right::by(source, Set::Exactly(right));
        let seen = *observed.values.get(number)?;
        if !right.set.contains(seen) {
            return Some(Wrong { right, at: number, observed: seen, operands: vec![*value] }.difference(step, result));
        }
    }
    None
}

/// The dtype in which they are compared.
fn common(values: &Elements, others: &Elements) -> Option<DType> {
    let operand = |elements: &Elements| Operand {
        dtype: Some(elements.dtype),
        shape: elements.shape.clone(),
        values: Vec::new(),
    };
    let common = result_type(&[operand(others), operand(values)])?;
    matches!(common.category(), Category::Integral | Category::Floating).then_some(common)
}

fn is_member(step: &Step, value: Scalar, others: &[Scalar]) -> Option<bool> {
    let (unique, invert) = (flag(step, 2)?, flag(step, 3)?);
    // Elements that are not unique may then have any truth.
    (!unique).then(|| others.iter().any(|other| ordering(value, *other) == Some(std::cmp::Ordering::Equal)) != invert)
}

fn flag(step: &Step, number: usize) -> Option<bool> {
    match step.args.get(number)? {
        Arg::Flag(flag) => Some(*flag),
        _ => None,
    }
}

/// The boundaries for the value with a number.
fn row<'a>(number: usize, others: &Elements, result: &TensorValue, rows: &'a [Scalar]) -> &'a [Scalar] {
    let length = others.shape.sizes().last().copied().unwrap_or(0) as usize;
    let inner = result.shape.sizes().last().copied().unwrap_or(1).max(1) as usize;
    let start = if others.shape.rank() == 1 { 0 } else { number / inner * length };
    rows.get(start..start + length).unwrap_or(&[])
}

/// The number of boundaries before a value; `None` where they are in no order. NaN comes last, as `torch.sort` has it.
fn place(step: &Step, value: Scalar, boundaries: &[Scalar]) -> Option<i64> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let right = match step.args.get(4) {
        Some(Arg::Text(side)) => side == "right",
        _ => flag(step, 3)?,
    };
    let order = |one: Scalar, other: Scalar| {
        let is_nan = |number: Scalar| as_float(number).is_some_and(f64::is_nan);
        ordering(one, other).or(Some(is_nan(one).cmp(&is_nan(other))))
    };
    if boundaries.windows(2).any(|pair| !matches!(order(pair[0], pair[1]), Some(Less | Equal))) {
        return None;
    }
    let mut count = 0;
    for boundary in boundaries {
        match order(*boundary, value)? {
            Less => count += 1,
            Equal if right => count += 1,
            Equal | Greater => {}
        }
    }
    Some(count)
}

/// The order of two numbers of one dtype; `None` for NaN.
fn ordering(one: Scalar, other: Scalar) -> Option<std::cmp::Ordering> {
    match (one, other) {
        (Scalar::Int(one), Scalar::Int(other)) => Some(one.cmp(&other)),
        _ => as_float(one)?.partial_cmp(&as_float(other)?),
    }
}

fn judge_product(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let Some(Arg::Tensors(operands)) = step.args.first() else { return None };
    let columns: Vec<Elements> = operands.iter().map(|value| trace.before(at, *value)).collect::<Option<_>>()?;
    if columns.len() < 2 {
        return None;
    }
    let rows: usize = columns.iter().map(|column| column.values.len()).product();
    let sizes = [rows as i64, columns.len() as i64];
    if result.shape.sizes() != sizes {
        return Some(wrong_shape(step, result, &sizes, GRID));
    }
    let observed = Elements::of(result)?;
    for (number, seen) in observed.values.iter().enumerate() {
        let (row, column) = (number / columns.len(), number % columns.len());
        let after: usize = columns[column + 1..].iter().map(|column| column.values.len()).product();
        let value = columns[column].values[row / after % columns[column].values.len()];
        let right = Right::by(GRID, exactly(columns[column].dtype, value));
        if !right.set.contains(*seen) {
            return Some(Wrong { right, at: number, observed: *seen, operands: vec![value] }.difference(step, result));
        }
    }
    None
}

/// The first grid that is wrong.
pub(super) fn judge_grids(trace: Trace, at: usize, step: &Step, results: &[TensorValue]) -> Option<Difference> {
    let [Arg::Tensors(operands), Arg::Text(indexing)] = &step.args[..] else { return None };
    let vectors: Vec<Elements> = operands.iter().map(|value| trace.before(at, *value)).collect::<Option<_>>()?;
    // The dimension that each vector goes along.
    let mut along: Vec<usize> = (0..vectors.len()).collect();
    if indexing == "xy" && along.len() > 1 {
        along.swap(0, 1);
    }
    let mut sizes = vec![0; vectors.len()];
    along.iter().zip(&vectors).for_each(|(dim, vector)| sizes[*dim] = vector.values.len() as i64);
    for (result, (vector, dim)) in results.iter().zip(vectors.iter().zip(&along)) {
        if result.shape.sizes() != sizes {
            return Some(wrong_shape(step, result, &sizes, GRID));
        }
        let after: i64 = sizes[dim + 1..].iter().product();
        for (number, seen) in Elements::of(result)?.values.iter().enumerate() {
            let value = vector.values[number / after.max(1) as usize % vector.values.len()];
            let right = Right::by(GRID, exactly(vector.dtype, value));
            if !right.set.contains(*seen) {
                let wrong = Wrong { right, at: number, observed: *seen, operands: vec![value] };
                return Some(wrong.difference(step, result));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tests::step;
    use super::*;

    /// NaN is the last of the boundaries, and no number goes behind it.
    #[test]
    fn boundaries_of_nan_are_the_last() {
        let found = |op: Op, value: f64, right: bool| {
            let rest = match op {
                Op::Bucketize => vec![Arg::Flag(false), Arg::Flag(right)],
                _ => vec![Arg::Flag(false), Arg::Flag(right), Arg::Nothing],
            };
            let boundaries = [1.0, 3.0, f64::NAN].map(Scalar::Float);
            place(&step("r", op, &[0, 1], rest), Scalar::Float(value), &boundaries)
        };
        for op in [Op::Searchsorted, Op::Bucketize] {
            assert_eq!([4.0, f64::INFINITY, f64::NAN].map(|value| found(op, value, false)), [Some(2); 3]);
            assert_eq!([4.0, f64::NAN].map(|value| found(op, value, true)), [Some(2), Some(3)]);
        }
    }
}
