//! Many elements to one: exact for integers, and for floating-point numbers an interval that holds for every order.

use super::elementwise::{convert, truth_in};
use super::set::{Format, Set, as_float};
use super::trace::{Elements, Trace};
use super::wide::{Real, Wide};
use super::{Right, Wrong, integer, wrong_shape};
use crate::Difference;
use crate::ops::{Form, Op, ResultType};
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, DType, Scalar};

const SUM: &str = "the exact sum, within n units of roundoff of the sum of magnitudes: Higham, Accuracy and Stability of Numerical Algorithms, 4.2";
const MEAN: &str = "torch.nanmean is torch.mean of what is not NaN: the exact sum by the number of elements, none of which is exceeded, within n units of roundoff of float32 for numbers of 16 bits";
const WRAP: &str = "two's complement: integers wrap around modulo a power of two";
const PROD: &str =
    "the exact product, within n units of roundoff: Higham, Accuracy and Stability of Numerical Algorithms, 3.1";
const EXTREME: &str = "torch.amax, amin: the extreme element, NaN if any is; the sign of a zero is open";
const FIRST: &str = "torch.argmax, argmin: the index of the first extreme element";
const NAN_IS_EXTREME: &str = "NumPy: the index of the first NaN; PyTorch's page says nothing";
const TRUTH: &str = "torch.all, any: what is not 0 is true; all of nothing is true, any of nothing is false";
const VARIANCE: &str =
    "torch.var: the sum of squared deviations by n - correction, with the bound of the two-pass algorithm: Higham, 1.9";
const LOGSUMEXP: &str = "torch.logsumexp: the logarithm of the sum of exponentials";
const SHAPE: &str = "torch.sum and its like: the dimensions in dim are dropped, or of size 1 with keepdim=True";
const NORM: &str = "torch.linalg.vector_norm: the p-th root of the sum of p-th powers of magnitudes";

/// The most elements of the operand of a step that is judged.
const MOST: usize = 4096;

/// The first element that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let result_elements = Elements::of(result)?;
    let Some(Arg::Tensor(own)) = step.args.first() else { return None };
    let operand = trace.before(at, *own)?;
    if operand.values.len() > MOST || step.form == Form::Out && trace.may_alias(at, *own, step.out?) {
        return None;
    }
    let options = Options::of(step, &operand, result.shape.sizes())?;
    let sizes = options.sizes(operand.shape.sizes());
    if result.shape.sizes() != sizes {
        return Some(wrong_shape(step, result, &sizes, SHAPE));
    }
    let dtype = options.dtype(step.op, operand.dtype)?;
    if dtype != result.dtype && !matches!(step.op.info().result, ResultType::Bool | ResultType::Int64) {
        return None;
    }
    let groups = options.groups(&operand, result.shape.sizes())?;
    let wrong = groups.iter().enumerate().filter_map(|(number, group)| {
        let elements: Vec<Scalar> = group.iter().map(|&place| operand.values[place]).collect();
        let mut right = right(step.op, dtype, &elements, &options)?;
        // The page of torch.all gives uint8 for uint8, and an `out=` may have any dtype.
        if step.op.info().result == ResultType::Bool {
            right = right.converted(|set| truth_in(result.dtype, set))?;
        }
        let observed = *result_elements.values.get(number)?;
        Wrong::unless(right, number, observed, elements.iter().copied().take(16))
    });
    Some(Wrong::first(wrong)?.difference(step, result))
}

/// The arguments of a reduction.
pub(super) struct Options {
    dims: Vec<usize>,
    keeps: bool,
    dtype: Option<DType>,
    pub correction: f64,
    order: f64,
}

impl Options {
    /// No arguments: everything is reduced to one element.
    pub fn everything() -> Options {
        Options { dims: Vec::new(), keeps: false, dtype: None, correction: 1.0, order: 2.0 }
    }

    /// The arguments of a step with a result of some sizes, which tell what an empty list of dimensions stands for: all
    /// dimensions for some functions, none for others.
    pub fn of(step: &Step, operand: &Elements, result: &[i64]) -> Option<Options> {
        let rank = operand.shape.rank();
        let mut options = Options { dims: (0..rank).collect(), keeps: false, dtype: None, correction: 1.0, order: 2.0 };
        let mut lists_none = false;
        let dim = |dim: i64| {
            let rank = rank.max(1) as i64;
            usize::try_from(if dim < 0 { dim + rank } else { dim }).ok().filter(|dim| (*dim as i64) < rank)
        };
        for (param, arg) in step.op.info().arguments.iter().zip(&step.args).skip(1) {
            match (param.name, arg) {
                ("dim", Arg::Int(at)) => options.dims = vec![dim(*at)?],
                ("dim", Arg::Ints(dims)) if !dims.is_empty() => {
                    options.dims = dims.iter().map(|at| dim(*at)).collect::<Option<_>>()?;
                }
                ("dim" | "unbiased" | "dtype" | "correction", Arg::Nothing) => {}
                ("dim", Arg::Ints(_)) => lists_none = true,
                ("keepdim", Arg::Flag(keeps)) => options.keeps = *keeps,
                ("dtype", Arg::Dtype(dtype)) => options.dtype = Some(*dtype),
                ("correction", Arg::Number(number)) => options.correction = as_float(*number)?,
                ("unbiased", Arg::Flag(unbiased)) => options.correction = f64::from(u8::from(*unbiased)),
                ("ord", Arg::Number(order)) => options.order = as_float(*order)?,
                _ => return None,
            }
        }
        if rank == 0 {
            options.dims.clear();
        } else if lists_none && options.sizes(operand.shape.sizes()) != result {
            return None;
        }
        Some(options)
    }

    /// The dtype that is computed in; `None` where that is open.
    fn dtype(&self, op: Op, own: DType) -> Option<DType> {
        let category = own.category();
        Some(match (op.info().result, self.dtype) {
            (_, Some(dtype)) => dtype,
            (ResultType::Sum, None) if category <= Category::Integral => DType::Int64,
            (ResultType::Float, None) if category <= Category::Integral => DType::Float32,
            (ResultType::Real, None) if category == Category::Complex => return None,
            (ResultType::Int64 | ResultType::Bool, None) => own,
            _ => own,
        })
        .filter(|dtype| op.info().result != ResultType::Int64 || *dtype == own)
    }

    /// The sizes of the result.
    fn sizes(&self, own: &[i64]) -> Vec<i64> {
        let is_reduced = |dim: usize| self.dims.contains(&dim);
        let kept = (0..own.len()).filter(|dim| self.keeps || !is_reduced(*dim));
        kept.map(|dim| if is_reduced(dim) { 1 } else { own[dim] }).collect()
    }

    /// The elements that each element of the result is made of; `None` if the result does not have the shape for it.
    pub fn groups(&self, operand: &Elements, result: &[i64]) -> Option<Vec<Vec<usize>>> {
        let sizes = operand.shape.sizes();
        let is_reduced = |dim: usize| self.dims.contains(&dim);
        let wanted = self.sizes(sizes);
        if wanted != result {
            return None;
        }
        let mut groups = vec![Vec::new(); wanted.iter().product::<i64>() as usize];
        for number in 0..operand.values.len() {
            let (mut rest, mut place, mut stride) = (number, 0, 1);
            for dim in (0..sizes.len()).rev() {
                let size = sizes[dim] as usize;
                if !is_reduced(dim) {
                    place += rest % size * stride;
                    stride *= size;
                }
                rest /= size;
            }
            groups[place].push(number);
        }
        Some(groups)
    }
}

/// The right results of a reduction of some elements in a dtype.
pub(super) fn right(op: Op, dtype: DType, elements: &[Scalar], options: &Options) -> Option<Right> {
    match op {
        Op::All | Op::Any => {
            let mut truths = elements.iter().map(|element| convert(*element, DType::Bool) == Scalar::Bool(true));
            let holds = if op == Op::All { truths.all(|truth| truth) } else { truths.any(|truth| truth) };
            return Some(Right::by(TRUTH, Set::Exactly(Scalar::Bool(holds))));
        }
        Op::Argmax | Op::Argmin => return place(op, elements),
        _ => {}
    }
    match dtype.category() {
        Category::Complex => None,
        Category::Floating => {
            let format = Format::of(dtype)?;
            let values: Option<Vec<f64>> = elements.iter().map(|element| as_float(convert(*element, dtype))).collect();
            of_floats(op, format, values?, options)
        }
        _ => {
            let whole = |element: &Scalar| match convert(*element, dtype) {
                Scalar::Int(value) => Some(i128::from(value)),
                Scalar::Bool(value) => Some(i128::from(value)),
                _ => None,
            };
            // A float that no integer is converts in ways that C leaves undefined.
            if elements.iter().any(|element| element.category() > Category::Integral) {
                return None;
            }
            let values = elements.iter().filter_map(whole);
            let wrap = |value: i128| Set::Exactly(Scalar::Int(value as i64));
            Some(match op {
                Op::Sum | Op::Nansum | Op::SumToSize if dtype == DType::Int64 => Right::by(WRAP, wrap(values.sum())),
                Op::Prod if dtype == DType::Int64 => {
                    let product = values.fold(1i64, |product, value| product.wrapping_mul(value as i64));
                    Right::by(WRAP, wrap(i128::from(product)))
                }
                Op::Amax => Right::by(EXTREME, integer::exactly(dtype, values.max()?)),
                Op::Amin => Right::by(EXTREME, integer::exactly(dtype, values.min()?)),
                _ => return None,
            })
        }
    }
}

/// The index of the first extreme element.
fn place(op: Op, elements: &[Scalar]) -> Option<Right> {
    let greatest = op == Op::Argmax;
    let better = |one: Scalar, best: Scalar| match (one, best) {
        (Scalar::Bool(one), Scalar::Bool(best)) => one != best && one == greatest,
        (Scalar::Int(one), Scalar::Int(best)) => one != best && (one > best) == greatest,
        (Scalar::Float(one), Scalar::Float(best)) => one != best && (one > best) == greatest,
        _ => false,
    };
    let index = |at: usize| Set::Exactly(Scalar::Int(at as i64));
    // By another custom a NaN is left out.
    let is_nan = |element: &Scalar| matches!(element, Scalar::Float(value) if value.is_nan());
    let numbers = (0..elements.len()).filter(|at| !is_nan(&elements[*at]));
    let best = numbers.reduce(|best, at| if better(elements[at], elements[best]) { at } else { best }).unwrap_or(0);
    if let Some(at) = elements.iter().position(is_nan) {
        return Some(Right::by(NAN_IS_EXTREME, index(at)).disputed(index(best)));
    }
    (!elements.is_empty()).then(|| Right::by(FIRST, index(best)))
}

/// The format that partial results have: numbers of 16 bits are added up in float32, or as they are.
fn unit(format: Format) -> f64 {
    if format.is_half() { Format::SINGLE.ulp(1.0) } else { format.ulp(1.0) }
}

fn of_floats(op: Op, format: Format, mut values: Vec<f64>, options: &Options) -> Option<Right> {
    if matches!(op, Op::Nansum | Op::Nanmean) {
        values.retain(|value| !value.is_nan());
    }
    let count = values.len() as f64;
    let nan = values.iter().any(|value| value.is_nan());
    let finite = values.iter().all(|value| value.is_finite());
    let magnitudes: f64 = values.iter().filter(|value| value.is_finite()).map(|value| value.abs()).sum();
    match op {
        Op::Amax | Op::Amin => {
            let extreme = match op {
                _ if values.is_empty() => return None,
                _ if nan => f64::NAN,
                Op::Amax => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                _ => values.iter().copied().fold(f64::INFINITY, f64::min),
            };
            Some(Right::by(EXTREME, if extreme == 0.0 { Set::ZERO } else { Set::float(extreme) }))
        }
        Op::Sum | Op::Nansum | Op::SumToSize | Op::Mean | Op::Nanmean => {
            let averages = matches!(op, Op::Mean | Op::Nanmean);
            // The sum of numbers of 16 bits overflows in these alone.
            let overflows = magnitudes > format.largest();
            if overflows && !(averages && format.is_half() && magnitudes <= Format::SINGLE.largest() / 4.0) {
                return None;
            }
            let count = if averages { count } else { 1.0 };
            if !finite {
                let [plus, minus] = [f64::INFINITY, f64::NEG_INFINITY].map(|infinity| values.contains(&infinity));
                let sum = match (nan, plus, minus) {
                    (false, true, false) => f64::INFINITY,
                    (false, false, true) => f64::NEG_INFINITY,
                    _ => f64::NAN,
                };
                return Some(Right::by(SUM, Set::float(sum)));
            }
            if averages && values.is_empty() {
                return Some(Right::by("the mean of nothing: 0/0", Set::Nan));
            }
            let error = values.len().saturating_sub(1) as f64 * unit(format) * magnitudes;
            let error = error / count + if averages { format.ulp(magnitudes / count) } else { 0.0 };
            let value = total(&values) / count;
            let set = if value == 0.0 && error == 0.0 { Set::ZERO } else { format.near(value, error) };
            Some(Right::by(if overflows { MEAN } else { SUM }, set))
        }
        Op::Prod => {
            let infinite = values.iter().any(|value| value.is_infinite());
            let zero = values.contains(&0.0);
            if nan || infinite && zero {
                return Some(Right::by(PROD, Set::Nan));
            }
            // Whatever order meets the largest or the smallest numbers first may overflow or underflow on the way.
            let most: f64 = values.iter().filter(|value| value.is_finite()).map(|value| value.abs().max(1.0)).product();
            let nonzero = values.iter().filter(|value| **value != 0.0 && value.is_finite());
            let least: f64 = nonzero.map(|value| value.abs().min(1.0)).product();
            if most > format.largest() || least < format.smallest_normal() {
                return None;
            }
            let value: f64 = values.iter().product();
            // Each product may be rounded to the dtype itself.
            let error = count * format.ulp(1.0) * value.abs();
            let set = if value == 0.0 {
                Set::ZERO
            } else if infinite {
                Set::float(value)
            } else {
                format.near(value, error)
            };
            Some(Right::by(PROD, set))
        }
        Op::Var | Op::Std => {
            let freedom = count - options.correction;
            if freedom <= 0.0 || values.is_empty() {
                return None;
            }
            if !finite {
                return Some(Right::by(VARIANCE, Set::Nan));
            }
            let largest = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
            if largest * largest * count > format.largest() {
                return None;
            }
            let mean = total(&values) / count;
            let squares: Vec<f64> = values.iter().map(|value| (value - mean) * (value - mean)).collect();
            let variance = total(&squares) / freedom;
            let error =
                4.0 * (count + 4.0) * unit(format) * (variance + largest * (variance.sqrt() + largest * unit(format)));
            if op == Op::Var {
                return Some(Right::by(VARIANCE, format.near(variance, error + format.ulp(variance))));
            }
            let (low, high) = ((variance - error).max(0.0).sqrt(), (variance + error).sqrt());
            let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
            Some(Right::by(VARIANCE, format.near(middle, half + format.ulp(middle))))
        }
        Op::Logsumexp => {
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if nan {
                return Some(Right::by(LOGSUMEXP, Set::Nan));
            }
            if !largest.is_finite() {
                return Some(Right::by(LOGSUMEXP, Set::float(largest)));
            }
            let sum: f64 = values.iter().map(|value| (value - largest).exp()).sum();
            let value = largest + sum.ln();
            // The exponentials may be added up in the dtype itself.
            let error = (count + 8.0) * format.ulp(1.0) * (1.0 + largest.abs()) + 4.0 * format.ulp(value);
            Some(Right::by(LOGSUMEXP, format.near(value, error)))
        }
        Op::VectorNorm => {
            let order = options.order;
            if values.is_empty() || nan {
                return (nan && order != 0.0).then(|| Right::by(NORM, Set::Nan));
            }
            let magnitudes = values.iter().map(|value| value.abs());
            if order.is_infinite() {
                let extreme =
                    if order > 0.0 { magnitudes.fold(0.0, f64::max) } else { magnitudes.fold(f64::INFINITY, f64::min) };
                return Some(Right::by(NORM, Set::float(extreme)));
            }
            if !finite || !(0.0..=16.0).contains(&order) {
                return None;
            }
            if order == 0.0 {
                let nonzero = magnitudes.filter(|value| *value != 0.0).count();
                return Some(Right::by(NORM, format.near(nonzero as f64, 0.0)));
            }
            let powers: Vec<f64> = magnitudes.map(|value| value.powf(order)).collect();
            let inner = if format.is_half() { Format::SINGLE } else { format };
            let range = inner.smallest_normal() / inner.ulp(1.0)..inner.largest() / count;
            if values.iter().zip(&powers).any(|(value, power)| *value != 0.0 && !range.contains(power)) {
                return None;
            }
            // The root of so small an order makes any number of the error of a power.
            if unit(format) / order > 0.01 {
                return None;
            }
            let sum: f64 = powers.iter().sum();
            let value = sum.powf(1.0 / order);
            // The exponent of the root is rounded too, here and there, which counts by the logarithm of the sum.
            let root = if sum == 0.0 { 0.0 } else { sum.ln().abs() / order };
            let error = (count + 16.0 + root) * unit(format) * value * (1.0 + 1.0 / order) + format.ulp(value);
            Some(Right::by(NORM, format.near(value, if value == 0.0 { 0.0 } else { error })))
        }
        _ => None,
    }
}

/// A sum of finite numbers, rounded once.
pub(super) fn total(values: &[f64]) -> f64 {
    values.iter().fold(Wide::of(0.0), |sum, value| sum + Wide::of(*value)).nearest()
}
