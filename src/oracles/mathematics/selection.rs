//! Elements as they are, at other places: views, masks and indices. Their shapes are judged too.

use super::elementwise::{exactly, is_apart};
use super::indexing::{Chosen, Combination, Made, Source, chosen};
use super::reduction::total;
use super::set::{Format, Set, as_float};
use super::trace::{Elements, Trace};
use super::view::view;
use super::{Right, Wrong, integer, wrong_shape};
use crate::Difference;
use crate::ops::{Form, Op};
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, DType, Scalar};

const VIEW: &str = "torch.Tensor.view, indexing and their like: the elements of the tensor, none of them changed";
const INDEX: &str = "torch.gather, index_put and their like: the elements at the indices";
const COMBINED: &str = "torch.Tensor.scatter_reduce_: the reduction of all elements that meet at one place";
const ADDED: &str = "torch.Tensor.index_put_: the sum of what was there and of all values that are put there";

/// The elements that a step takes of its operands.
pub(super) fn selection(trace: Trace, at: usize, step: &Step) -> Option<Chosen> {
    let Some(Arg::Tensor(own)) = step.args.first() else { return None };
    let own = trace.sizes(at, *own)?;
    match view(trace, at, step, &own) {
        Some(view) => Some(Chosen::of_first(view.sizes.clone(), view.places()?)),
        None => chosen(trace, at, step, &own),
    }
}

/// The first element that is wrong, or the shape.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let elements = Elements::of(result)?;
    if step.form != Form::Functional && !is_apart(trace, at, step, result) {
        return None;
    }
    // What is written while it is read has no one outcome.
    let read = step.args.iter().skip(usize::from(step.form == Form::InPlace)).flat_map(Arg::uses);
    if step.target().is_some_and(|target| read.into_iter().any(|value| trace.may_alias(at, value, target))) {
        return None;
    }
    let by = if step.op.info().family() == crate::ops::Family::Views { VIEW } else { INDEX };
    // A view that is too large to be counted out has another shape than a result that could be printed.
    let shape = step.uses().next().and_then(|own| view(trace, at, step, &trace.sizes(at, own)?));
    if let Some(view) = shape.filter(|view| view.sizes != result.shape.sizes()) {
        return Some(wrong_shape(step, result, &view.sizes, by));
    }
    let chosen = selection(trace, at, step)?;
    if result.shape.sizes() != chosen.sizes {
        return Some(wrong_shape(step, result, &chosen.sizes, by));
    }
    let operands = Operands::of(trace, at, step)?;
    if operands.dtype != result.dtype {
        return None;
    }
    for (number, made) in chosen.elements.iter().enumerate() {
        let Some(right) = operands.right(made, by) else { continue };
        let observed = *elements.values.get(number)?;
        if !right.set.contains(observed) {
            let (Made::Sum(sources) | Made::OneOf(sources) | Made::Combined(_, sources)) = made;
            let operands = sources.iter().take(8).filter_map(|source| operands.element(*source)).collect();
            return Some(Wrong { right, at: number, observed, operands }.difference(step, result));
        }
    }
    None
}

/// The operands of a selection.
struct Operands {
    dtype: DType,
    values: Vec<Option<(Option<DType>, Vec<Scalar>)>>,
}

impl Operands {
    fn of(trace: Trace, at: usize, step: &Step) -> Option<Operands> {
        let read = |arg: &Arg| match arg {
            Arg::Tensor(value) => trace.before(at, *value).map(|tensor| (Some(tensor.dtype), tensor.values)),
            Arg::Number(number) => Some((None, vec![*number])),
            _ => None,
        };
        let values: Vec<Option<(Option<DType>, Vec<Scalar>)>> = step.args.iter().map(read).collect();
        let dtype = values.first()?.as_ref()?.0?;
        Some(Operands { dtype, values })
    }

    fn element(&self, (arg, element): Source) -> Option<Scalar> {
        self.values.get(arg)?.as_ref()?.1.get(element).copied()
    }

    /// The element in the dtype of the first operand.
    fn set(&self, source: Source) -> Option<Set> {
        let value = self.element(source)?;
        if self.values.get(source.0)?.as_ref()?.0 == Some(self.dtype) {
            return Some(exactly(self.dtype, value));
        }
        // What the dtype cannot hold is rejected, or undefined.
        if value.category() > self.dtype.category() {
            return None;
        }
        let converted = super::elementwise::convert(value, self.dtype);
        let set = exactly(self.dtype, converted);
        match (self.dtype.category(), Format::of(self.dtype)) {
            (Category::Integral, _) if converted != value && value.category() == Category::Integral => None,
            (Category::Floating, Some(format)) => Some(set.or(Set::float(format.round(as_float(value)?)))),
            _ => Some(set),
        }
    }

    fn right(&self, made: &Made, by: &'static str) -> Option<Right> {
        match made {
            Made::Sum(sources) if sources.is_empty() => {
                let zero = super::elementwise::convert(Scalar::Int(0), self.dtype);
                Some(Right::by(by, exactly(self.dtype, zero)))
            }
            // A zero and a negative zero have the sum zero.
            Made::Combined(Combination::Sum, sources) if sources.len() == 1 => {
                let alone = self.set(sources[0])?;
                let zero = alone.contains(Scalar::Float(-0.0));
                Some(Right::by(COMBINED, if zero { alone.or(Set::ZERO) } else { alone }))
            }
            Made::Combined(combination, sources) => {
                let values: Option<Vec<Scalar>> = sources.iter().map(|source| self.element(*source)).collect();
                self.combined(*combination, &values?)
            }
            Made::Sum(sources) if sources.len() == 1 => Some(Right::by(by, self.set(sources[0])?)),
            Made::OneOf(sources) => {
                let sets: Option<Vec<Set>> = sources.iter().map(|source| self.set(*source)).collect();
                Some(Right::by(by, sets?.into_iter().reduce(Set::or)?))
            }
            Made::Sum(sources) => {
                let values: Option<Vec<Scalar>> = sources.iter().map(|source| self.element(*source)).collect();
                self.sum(&values?)
            }
        }
    }

    /// The mean, the product, the greatest or the least of some elements, of real dtypes.
    fn combined(&self, combination: Combination, values: &[Scalar]) -> Option<Right> {
        let count = values.len() as f64;
        let extreme = |greater: bool| {
            let reals: Vec<f64> = values.iter().map(|value| as_float(*value)).collect::<Option<_>>()?;
            if reals.iter().any(|value| value.is_nan()) {
                return Some(Right::by(COMBINED, exactly(self.dtype, Scalar::Float(f64::NAN))));
            }
            let precedes = |a: f64, b: f64| if greater { a > b } else { a < b };
            // Of zeros either sign is right, and integers beyond the precision of a double are judged as such.
            let best = reals.iter().copied().reduce(|best, next| if precedes(next, best) { next } else { best })?;
            let sets = values.iter().zip(&reals).filter(|(_, real)| **real == best);
            let sets = sets.map(|(value, _)| exactly(self.dtype, *value)).reduce(Set::or)?;
            Some(Right::by(COMBINED, sets))
        };
        match combination {
            Combination::Sum => self.sum(values),
            Combination::Greatest => extreme(true),
            Combination::Least => extreme(false),
            Combination::Product if self.dtype.category() == Category::Integral => {
                let whole =
                    |value: &Scalar| if let Scalar::Int(value) = value { Some(i128::from(*value)) } else { None };
                let values: Option<Vec<i128>> = values.iter().map(whole).collect();
                let product = values?.into_iter().try_fold(1i128, i128::checked_mul)?;
                Some(Right::by(COMBINED, integer::exactly(self.dtype, product)))
            }
            Combination::Product => {
                let format = Format::of(self.dtype).filter(|_| self.dtype.category() == Category::Floating)?;
                let values: Vec<f64> = values.iter().map(|value| as_float(*value)).collect::<Option<_>>()?;
                let partial = |product: &mut f64, value: &f64| {
                    *product *= value.abs().max(1.0);
                    Some(*product)
                };
                let largest = values.iter().scan(1.0, partial).fold(1.0, f64::max);
                let product: f64 = values.iter().product();
                if largest.is_nan() || largest > format.largest() / 2.0 || product.abs() < 1e-4 {
                    return None;
                }
                Some(Right::by(COMBINED, format.near(product, count * format.ulp(1.0) * product.abs())))
            }
            Combination::Mean => {
                let format = Format::of(self.dtype).filter(|_| self.dtype.category() == Category::Floating)?;
                let values: Vec<f64> = values.iter().map(|value| as_float(*value)).collect::<Option<_>>()?;
                let magnitudes: f64 = values.iter().map(|value| value.abs()).sum();
                if magnitudes.is_nan() || magnitudes > format.largest() / 2.0 {
                    return None;
                }
                let error = (count + 1.0) * format.ulp(1.0) * magnitudes / count;
                let zero = || Set::ZERO;
                let near = || format.near(total(&values) / count, error + format.ulp(0.0));
                Some(Right::by(COMBINED, if magnitudes == 0.0 { zero() } else { near() }))
            }
        }
    }

    fn sum(&self, values: &[Scalar]) -> Option<Right> {
        if self.dtype.category() == Category::Integral {
            let whole = |value: &Scalar| if let Scalar::Int(value) = value { Some(i128::from(*value)) } else { None };
            let values: Option<Vec<i128>> = values.iter().map(whole).collect();
            return Some(Right::by(ADDED, integer::exactly(self.dtype, values?.into_iter().sum())));
        }
        let format = Format::of(self.dtype).filter(|_| self.dtype.category() == Category::Floating)?;
        let values: Vec<f64> = values.iter().map(|value| as_float(*value)).collect::<Option<_>>()?;
        let magnitudes: f64 = values.iter().map(|value| value.abs()).sum();
        if magnitudes.is_nan() || magnitudes > format.largest() / 2.0 {
            return None;
        }
        let (value, error) = (total(&values), values.len() as f64 * format.ulp(1.0) * magnitudes);
        Some(Right::by(ADDED, if magnitudes == 0.0 { Set::ZERO } else { format.near(value, error) }))
    }
}

/// Returns whether an operation only chooses elements.
pub(super) fn selects(op: Op) -> bool {
    matches!(op.info().family(), crate::ops::Family::Views | crate::ops::Family::Indexing)
}
