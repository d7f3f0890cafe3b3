//! Integrals by the trapezoidal rule, made of slices, products and sums.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::{DType, Layout, Shape};

use super::composition::{Composition, Term};
use super::iterator::{self, Request};
use super::machine::{Call, Machine, Result, Slot, TensorId, wrap_dim};

/// `trapezoid`: the sum of the trapezoids along a dimension.
pub(super) fn trapezoid(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (y, dim) = (call.tensor(0)?, call.int(2)?);
    let shape = machine.tensor(y).shape().clone();
    let along = wrap_dim(dim, shape.rank())?;
    // The dimension is wrapped before its size is asked for.
    if shape.rank() == 0 {
        return Err(Rejection::NoDimensions { dim: along as i64 }.into());
    }
    if shape.sizes()[along] == 0 {
        let mut sizes = shape.sizes().to_vec();
        sizes.remove(along);
        let dtype = machine.tensor(y).dtype;
        let Ok(shape) = Shape::new(sizes.clone()) else { return Err(Rejection::StorageOverflow { sizes }.into()) };
        let layout = Layout::contiguous(shape);
        iterator::check_memory(&layout, dtype, Request::RowMajor, machine.has_elements())?;
        let zeros = machine.blank(dtype, layout);
        return Ok(Slot::Tensor(machine.add(zeros)));
    }
    let areas = areas(machine, call, along)?;
    let mut steps = Composition { machine, op: call.op };
    let sum = steps.step(Op::Sum, Form::Functional, &[areas.into(), Term::Other(Arg::Ints(vec![along as i64]))])?;
    steps.combine(Op::Div, sum, 2.0).map(Slot::Tensor)
}

/// `cumulative_trapezoid`: the running sums of the trapezoids.
pub(super) fn cumulative_trapezoid(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let along = wrap_dim(call.int(2)?, machine.tensor(call.tensor(0)?).shape().rank())?;
    let areas = areas(machine, call, along)?;
    let mut steps = Composition { machine, op: call.op };
    let sums = steps.step(Op::Cumsum, Form::Functional, &[areas.into(), Term::Other(Arg::Int(along as i64))])?;
    steps.combine(Op::Div, sums, 2.0).map(Slot::Tensor)
}

/// Twice the areas of the trapezoids: the sums of neighbouring heights times the widths, which broadcast.
fn areas(machine: &mut Machine, call: &Call, along: usize) -> Result<TensorId> {
    let (y, x) = (call.tensor(0)?, call.tensor(1)?);
    if [y, x].iter().any(|id| machine.tensor(*id).dtype == DType::Bool) {
        return Err(Rejection::BoolIntegral { name: call.op.name() }.into());
    }
    let mut steps = Composition { machine, op: call.op };
    let x = viewed(&mut steps, y, x, along)?;
    let [left, right] = [slice(&mut steps, x, along, false)?, slice(&mut steps, x, along, true)?];
    let widths = steps.combine(Op::Sub, right, left)?;
    let [left, right] = [slice(&mut steps, y, along, false)?, slice(&mut steps, y, along, true)?];
    let heights = steps.combine(Op::Add, left, right)?;
    steps.combine(Op::Mul, heights, widths)
}

/// The points with as many dimensions as the heights have: a vector lies along the dimension, anything else is aligned at
/// the end.
fn viewed(steps: &mut Composition, y: TensorId, x: TensorId, along: usize) -> Result<TensorId> {
    let [heights, points] = [y, x].map(|id| steps.machine.tensor(id).shape().sizes().to_vec());
    let sizes = match points[..] {
        [points] => {
            if heights.get(along) != Some(&points) {
                return Err(match heights.is_empty() {
                    true => Rejection::NoDimensions { dim: along as i64 },
                    false => Rejection::SamplePoints { name: steps.op.name() },
                }
                .into());
            }
            let mut sizes = vec![1; heights.len()];
            sizes[along] = points;
            sizes
        }
        _ if points.len() < heights.len() => {
            std::iter::repeat_n(1, heights.len() - points.len()).chain(points.iter().copied()).collect()
        }
        _ => return Ok(x),
    };
    steps.step(Op::View, Form::Functional, &[x.into(), Term::Other(Arg::Ints(sizes))])
}

/// All elements along a dimension but the last one, or but the first one.
fn slice(steps: &mut Composition, of: TensorId, along: usize, right: bool) -> Result<TensorId> {
    let Some(&size) = steps.machine.tensor(of).shape().sizes().get(along) else {
        return Err(Rejection::ZeroDim { name: "slice" }.into());
    };
    let start = i64::from(right).min(size);
    let length = (size - 1).max(0);
    let terms =
        [of.into(), Term::Other(Arg::Int(along as i64)), Term::Other(Arg::Int(start)), Term::Other(Arg::Int(length))];
    steps.step(Op::Narrow, Form::Functional, &terms)
}
