//! Quantiles: the element at a fraction of the order of each line, or a number between two of them
//! (ATen/native/Sorting.cpp).

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::tensor::element::Element;
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

use super::autograd;
use super::budget::charge;
use super::dispatch;
use super::graph::Kept;
use super::machine::{Call, Machine, Operand, Result, Slot, Tensor, TensorId, wrap_dim};
use super::reduction;
use super::write;

/// `quantile`: NaN where any element of the line is.
pub(super) fn quantile(machine: &mut Machine, call: &Call) -> Result<Slot> {
    at_fractions(machine, call, false)
}

/// `nanquantile`: that of the elements that are not NaN.
pub(super) fn nanquantile(machine: &mut Machine, call: &Call) -> Result<Slot> {
    at_fractions(machine, call, true)
}

fn at_fractions(machine: &mut Machine, call: &Call, ignores_nan: bool) -> Result<Slot> {
    let plan = infer(machine, call, ignores_nan)?;
    // What is read is what was there before `out=`, which may be the operand, had another size.
    let (operand, fractions) = plan.operands(machine);
    write::prepare(machine, call.target()?, &plan.shape())?;
    plan.check_range(machine)?;
    let places = plan.places(machine, &operand, &fractions)?;
    let values = machine.eval(operand.dtype, || {
        let elements: Vec<f64> = machine.elements(&operand);
        let wide: Vec<f64> = places.iter().map(|place| place.value(&elements, operand.dtype)).collect();
        Buffer::of(operand.dtype, wide)
    });
    let result = write::deliver_in(machine, None, plan.layout(), values);
    machine.set_version(machine.tensor(result).storage, plan.writes());
    record(machine, call.op, result, plan.interpolation, (operand, fractions), &places);
    let Some(target) = call.target()? else { return Ok(Slot::Tensor(result)) };
    let args = [target, result].map(Operand::Tensor);
    dispatch::run(machine, &Call { op: Op::Copy, form: Form::InPlace, args: &args, out: None })
}

/// The ways from two neighbours in the order to a quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interpolation {
    Linear,
    Lower,
    Higher,
    Midpoint,
    Nearest,
}

impl Interpolation {
    fn of(given: &str) -> Result<Interpolation> {
        Ok(match given {
            "linear" => Interpolation::Linear,
            "lower" => Interpolation::Lower,
            "higher" => Interpolation::Higher,
            "midpoint" => Interpolation::Midpoint,
            "nearest" => Interpolation::Nearest,
            other => return Err(Rejection::QuantileInterpolation { given: other.to_owned() }.into()),
        })
    }

    /// Returns whether the result may lie between two elements.
    fn interpolates(self) -> bool {
        matches!(self, Interpolation::Linear | Interpolation::Midpoint)
    }
}

/// The quantiles that are asked for.
struct Plan {
    operand: Tensor,
    /// A number, or a vector.
    fractions: Tensor,
    lines: reduction::Plan,
    interpolation: Interpolation,
    ignores_nan: bool,
}

/// The order of faults: the interpolation, an empty operand, the rank of the fractions, the dtypes of the operand, of the
/// fractions and of `out=`, the dimension (`quantile_checks`, `quantile_out_impl`).
fn infer(machine: &Machine, call: &Call, ignores_nan: bool) -> Result<Plan> {
    let [operand, fractions] = [call.tensor(0)?, call.tensor(1)?].map(|id| machine.tensor(id).clone());
    let interpolation = Interpolation::of(call.text(4)?)?;
    if operand.shape().numel() == 0 {
        return Err(Rejection::QuantileOfNothing.into());
    }
    if fractions.shape().rank() > 1 {
        return Err(Rejection::QuantileRank.into());
    }
    if !matches!(operand.dtype, DType::Float32 | DType::Float64) {
        return Err(Rejection::QuantileDtype.into());
    }
    if fractions.dtype != operand.dtype {
        return Err(Rejection::QuantileFractions.into());
    }
    if call.target()?.is_some_and(|target| machine.tensor(target).dtype != operand.dtype) {
        return Err(Rejection::QuantileOutput.into());
    }
    let keepdim = call.flag(3)?;
    let lines = match call.optional_int(2)? {
        Some(dim) => reduction::Plan::along(&operand, wrap_dim(dim, operand.shape().rank())?, keepdim),
        None => reduction::Plan::new(&operand, None, keepdim)?,
    };
    lines.check_size(machine)?;
    Ok(Plan { operand, fractions, lines, interpolation, ignores_nan })
}

impl Plan {
    /// Copies of the operands, which nothing writes to.
    fn operands(&self, machine: &mut Machine) -> (Tensor, Tensor) {
        let mut copy = |tensor: &Tensor| Tensor {
            node: tensor.node,
            ..write::restride(machine, tensor, Layout::contiguous(tensor.shape().clone()))
        };
        (copy(&self.operand), copy(&self.fractions))
    }

    /// Rejects fractions beyond 0 and 1 (`quantile_compute`).
    fn check_range(&self, machine: &Machine) -> Result<()> {
        let known: Option<Vec<f64>> = machine.known(&self.fractions);
        match known {
            Some(all) if !all.iter().all(|fraction| (0.0..=1.0).contains(fraction)) => {
                Err(Rejection::QuantileRange.into())
            }
            _ => Ok(()),
        }
    }

    /// The shape of the result: a vector of fractions is its first dimension.
    fn shape(&self) -> Shape {
        let first = self.fractions.shape().sizes();
        Shape::of_sizes([first, self.lines.shape.sizes()].concat())
    }

    /// Its layout: the quantiles of a line lie together.
    fn layout(&self) -> Layout {
        let (first, lines) = (self.fractions.shape().sizes(), self.lines.shape.sizes());
        let stored = Layout::contiguous(Shape::of_sizes([lines, first].concat()));
        let (own, of_fractions) = stored.strides.split_at(lines.len());
        Layout { strides: [of_fractions, own].concat(), shape: self.shape(), ..stored }
    }

    /// How often libtorch writes to the result, or changes its sizes in place.
    fn writes(&self) -> u64 {
        let moved = if self.fractions.shape().rank() == 0 { 1 } else { 3 };
        moved + u64::from(self.interpolation.interpolates())
    }

    /// For each element of the result, row-major, where it is found; nothing without elements.
    fn places(&self, machine: &Machine, operand: &Tensor, fractions: &Tensor) -> Result<Vec<Place>> {
        if !machine.has_elements() {
            return Ok(Vec::new());
        }
        let (elements, fractions): (Vec<f64>, Vec<f64>) = (machine.elements(operand), machine.elements(fractions));
        let mut lines: Vec<Vec<usize>> = vec![Vec::new(); self.lines.shape.numel()];
        for (number, line) in self.lines.targets(machine)?.into_iter().enumerate() {
            lines[line].push(number);
        }
        charge(fractions.len() * lines.len());
        lines.iter_mut().for_each(|line| line.sort_by(|a, b| compared(elements[*a], elements[*b])));
        let of_fraction = |fraction: &f64| lines.iter().map(|line| self.place(line, &elements, *fraction)).collect();
        let places: Vec<Vec<Place>> = fractions.iter().map(of_fraction).collect();
        Ok(places.concat())
    }

    /// The place of a fraction of the order of a line, computed in the dtype of the elements.
    fn place(&self, line: &[usize], elements: &[f64], fraction: f64) -> Place {
        let numbers = line.iter().filter(|at| !elements[**at].is_nan()).count();
        let last = if self.ignores_nan { numbers.saturating_sub(1) } else { line.len() - 1 };
        // The last one of the line is NaN if any is.
        let fixed = numbers == 0 || (numbers < line.len() && !self.ignores_nan);
        let exact = if fixed { (line.len() - 1) as f64 } else { rounded(self.operand.dtype, fraction * last as f64) };
        let rank = match self.interpolation {
            Interpolation::Lower => exact.floor(),
            Interpolation::Higher => exact.ceil(),
            Interpolation::Nearest => exact.round_ties_even(),
            Interpolation::Linear | Interpolation::Midpoint => exact,
        };
        let (below, above) = (rank.floor(), rank.ceil());
        let weight = match self.interpolation {
            Interpolation::Midpoint => 0.5,
            _ => rank - below,
        };
        let scale = if fixed || self.interpolation != Interpolation::Linear { 0.0 } else { last as f64 };
        Place { below: line[below as usize], above: line[above as usize], weight, scale }
    }
}

/// The order of elements, NaN last.
fn compared(a: f64, b: f64) -> std::cmp::Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn rounded(dtype: DType, value: f64) -> f64 {
    if dtype == DType::Float32 { f64::from(value as f32) } else { value }
}

/// The two elements that a quantile lies between, by their numbers in the operand.
#[derive(Clone, Copy, Debug)]
struct Place {
    below: usize,
    above: usize,
    /// The weight of the one above.
    weight: f64,
    /// How much the rank changes with the fraction, where the result does.
    scale: f64,
}

impl Place {
    /// The quantile, which is the element itself where it does not lie between two of them. Between them it is computed from
    /// the nearer one (`lerp`), but for an infinity above, whose distance from any number is infinite.
    fn value(&self, elements: &[f64], dtype: DType) -> f64 {
        let (below, above) = (elements[self.below], elements[self.above]);
        if self.below == self.above {
            return below;
        }
        if above == f64::INFINITY && below.is_finite() && self.weight > 0.0 {
            return above;
        }
        let distance = rounded(dtype, above - below);
        match self.weight < 0.5 {
            true => rounded(dtype, below + rounded(dtype, self.weight * distance)),
            false => rounded(dtype, above - rounded(dtype, distance * (1.0 - self.weight))),
        }
    }
}

/// Notes where gradients go: to the two elements by their weights, and to the fractions of a linear interpolation.
fn record(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    interpolation: Interpolation,
    (operand, mut fractions): (Tensor, Tensor),
    places: &[Place],
) {
    fractions.node = fractions.node.filter(|_| interpolation == Interpolation::Linear);
    let operands = [Some(&operand), Some(&fractions)];
    let kept = Kept {
        tensors: operands.map(|operand| operand.cloned()).to_vec(),
        numbers: places.iter().flat_map(|place| [place.weight, place.scale]).map(Scalar::Float).collect(),
        targets: places.iter().flat_map(|place| [place.below, place.above]).collect(),
        ..Kept::of(op)
    };
    autograd::record_formula(machine, result, &operands, kept, backward);
}

/// The gradients of the elements and of the fractions.
fn backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let [Some(operand), Some(fractions)] = &kept.tensors[..] else { return Ok(vec![None, None]) };
    let mut sums = Sums::default();
    if machine.has_elements() {
        sums = Sums::of(machine, gradient, kept, operand, fractions);
    }
    let mut made = |like: &Tensor, values: Vec<f64>| {
        let values = machine.eval(like.dtype, || Buffer::of(like.dtype, values));
        machine.allocate(Layout::contiguous(like.shape().clone()), values)
    };
    Ok(vec![Some(made(operand, sums.elements)), Some(made(fractions, sums.fractions))])
}

/// The gradients of the elements and of the fractions, summed over the quantiles.
#[derive(Default)]
struct Sums {
    elements: Vec<f64>,
    fractions: Vec<f64>,
}

impl Sums {
    fn of(machine: &Machine, gradient: &Tensor, kept: &Kept, operand: &Tensor, fractions: &Tensor) -> Sums {
        let [count, several] = [operand, fractions].map(|tensor| tensor.shape().numel());
        let mut sums = Sums { elements: vec![0.0; count], fractions: vec![0.0; several] };
        let (elements, arrived): (Vec<f64>, Vec<f64>) = (machine.elements(operand), machine.elements(gradient));
        let lines = (arrived.len() / several.max(1)).max(1);
        let places = kept.targets.chunks(2).zip(kept.numbers.chunks(2)).zip(arrived).enumerate();
        for (at, ((between, numbers), arrived)) in places {
            let [weight, scale] = [&numbers[0], &numbers[1]].map(|number| f64::from_scalar(*number));
            sums.elements[between[0]] += arrived * (1.0 - weight);
            sums.elements[between[1]] += arrived * weight;
            sums.fractions[at / lines] += arrived * scale * (elements[between[1]] - elements[between[0]]);
        }
        sums
    }
}
