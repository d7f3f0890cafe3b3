//! `linalg_cross` and `cross`: the cross product by its definition.

use super::set::{Format, Set, as_float};
use super::trace::{Elements, Trace};
use super::view::{View, dimension, unravel};
use super::{Right, Wrong, integer, wrong_shape};
use crate::Difference;
use crate::ops::Form;
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, Scalar};

const CROSS: &str = "torch.linalg.cross: each element is a[i+1] b[i+2] - a[i+2] b[i+1], within three roundings";

/// The first element that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let [Arg::Tensor(a), Arg::Tensor(b), dim] = &step.args[..] else { return None };
    if step.form == Form::Out && [a, b].iter().any(|value| trace.may_alias(at, **value, step.out.unwrap_or(**value))) {
        return None;
    }
    let (a, b) = (trace.before(at, *a)?, trace.before(at, *b)?);
    let sizes = a.shape.broadcast(&b.shape).ok()?.sizes().to_vec();
    let dim = match dim {
        Arg::Int(dim) => dimension(*dim, sizes.len())?,
        // torch.cross: the first dimension of the first operand that has size 3.
        _ => a.shape.sizes().iter().position(|size| *size == 3)?,
    };
    if sizes.get(dim) != Some(&3)
        || a.dtype != b.dtype
        || a.dtype != result.dtype
        || a.dtype.category() == Category::Complex
    {
        return None;
    }
    if result.shape.sizes() != sizes {
        return Some(wrong_shape(step, result, &sizes, CROSS));
    }
    let [left, right] = [&a, &b].map(|one| View::of(one.shape.sizes()).expanded(&sizes));
    let (left, right) = (left?, right?);
    let observed = Elements::of(result)?;
    for (number, observed) in observed.values.iter().enumerate() {
        let index = unravel(&sizes, number);
        let moved = |view: &View, values: &[Scalar], by: i64| {
            let mut index = index.clone();
            index[dim] = (index[dim] + by) % 3;
            values.get(view.place(&index)).copied()
        };
        let [a1, a2] = [1, 2].map(|by| moved(&left, &a.values, by));
        let [b1, b2] = [1, 2].map(|by| moved(&right, &b.values, by));
        let operands = [a1?, b2?, a2?, b1?];
        let set = match Format::of(a.dtype) {
            Some(format) => of_floats(format, operands),
            None => of_integers(operands).map(|value| integer::exactly(result.dtype, value)),
        };
        let Some(set) = set else { continue };
        if !set.contains(*observed) {
            let right = Right::by(CROSS, set);
            let wrong = Wrong { right, at: number, observed: *observed, operands: operands.to_vec() };
            return Some(wrong.difference(step, result));
        }
    }
    None
}

fn of_integers([a1, b2, a2, b1]: [Scalar; 4]) -> Option<i128> {
    let whole = |value| if let Scalar::Int(value) = value { Some(i128::from(value)) } else { None };
    (whole(a1)? * whole(b2)?).checked_sub(whole(a2)? * whole(b1)?)
}

fn of_floats(format: Format, [a1, b2, a2, b1]: [Scalar; 4]) -> Option<Set> {
    let (first, second) = (as_float(a1)? * as_float(b2)?, as_float(a2)? * as_float(b1)?);
    let magnitudes = first.abs() + second.abs();
    if magnitudes.is_nan() || magnitudes > format.largest() / 4.0 {
        return None;
    }
    let error = 4.0 * format.ulp(1.0) * magnitudes + 4.0 * format.smallest();
    Some(if magnitudes == 0.0 { Set::Between(-error, error) } else { format.near(first - second, error) })
}
