//! Quantiles: an element at a fraction of the order of a line, or a number between two of them.

use super::scan::{dimension, lines};
use super::set::{Format, Set, as_float};
use super::trace::Trace;
use super::{Right, Wrong, wrong_shape};
use crate::Difference;
use crate::ops::Op;
use crate::program::{Arg, Step, TensorValue};

const QUANTILE: &str = "torch.quantile: the element at q of the order of the line, or between two: lower, higher, nearest, (a + b) / 2, a + (b - a) * fraction";
const NAN: &str = "torch.quantile: NaN if any element of the line is";
const NUMBERS: &str = "torch.nanquantile: the quantile of the elements that are not NaN, NaN if all are";
const SHAPE: &str = "torch.quantile: the first dimension stands for the quantiles, the rest for the reduced input";

/// The most elements of the operand of a step that is judged.
const MOST: usize = 2048;

/// The first element that is wrong, or the shape.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let [Arg::Tensor(own), Arg::Tensor(fractions), dim, Arg::Flag(keepdim), Arg::Text(way)] = &step.args[..] else {
        return None;
    };
    if step.out.is_some_and(|out| [own, fractions].iter().any(|value| trace.may_alias(at, **value, out))) {
        return None;
    }
    let (operand, fractions) = (trace.before(at, *own)?, trace.before(at, *fractions)?);
    let format = Format::of(operand.dtype)?;
    if operand.values.len() > MOST || operand.values.is_empty() || fractions.shape.rank() > 1 {
        return None;
    }
    let sizes = operand.shape.sizes();
    let along = if *dim == Arg::Nothing { None } else { Some(dimension(step, sizes.len())?) };
    let lines = along.map_or_else(|| vec![(0..operand.values.len()).collect()], |along| lines(sizes, along));
    let reduced = |at: usize| along.is_none_or(|along| along == at);
    let kept = sizes.iter().enumerate().filter(|(at, _)| *keepdim || !reduced(*at));
    let kept: Vec<i64> = kept.map(|(at, size)| if reduced(at) { 1 } else { *size }).collect();
    let whole = [fractions.shape.sizes(), &kept[..]].concat();
    if result.shape.sizes() != whole {
        return Some(wrong_shape(step, result, &whole, SHAPE));
    }
    let elements: Vec<f64> = operand.values.iter().map(|value| as_float(*value)).collect::<Option<_>>()?;
    let fractions: Vec<f64> = fractions.values.iter().map(|value| as_float(*value)).collect::<Option<_>>()?;
    let observed = result.scalars();
    let wrong = observed.into_iter().enumerate().filter_map(|(number, observed)| {
        let (fraction, line) = (fractions[number / lines.len()], &lines[number % lines.len()]);
        let values: Vec<f64> = line.iter().map(|at| elements[*at]).collect();
        let right = quantile(step.op, values, fraction, way, format)?;
        let shown = line.iter().map(|at| operand.values[*at]).take(16);
        Wrong::unless(right, number, observed, shown)
    });
    Some(Wrong::first(wrong)?.difference(step, result))
}

/// The values that are right for a line. The rank of a fraction is rounded to the dtype, either way.
fn quantile(op: Op, values: Vec<f64>, fraction: f64, way: &str, format: Format) -> Option<Right> {
    let mut numbers: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    let (some_nan, source) = (numbers.len() < values.len(), if op == Op::Quantile { QUANTILE } else { NUMBERS });
    if numbers.is_empty() || (some_nan && op == Op::Quantile) {
        return Some(Right::by(if op == Op::Quantile { NAN } else { NUMBERS }, Set::Nan));
    }
    numbers.sort_by(f64::total_cmp);
    let last = (numbers.len() - 1) as f64;
    let exact = fraction * last;
    // A product that is a number of the dtype is not rounded.
    let is_exact = fraction.mul_add(last, -exact) == 0.0 && format.round(exact) == exact;
    let unit = if is_exact { 0.0 } else { format.ulp(exact) };
    let near = [exact, format.round(exact), exact - unit, exact + unit];
    let ranks = near.into_iter().map(|rank| rank.clamp(0.0, last));
    let sets = ranks.map(|rank| at_rank(&numbers, rank, way, format)).collect::<Option<Vec<Set>>>()?;
    Some(Right::by(source, sets.into_iter().reduce(Set::or)?))
}

fn at_rank(numbers: &[f64], rank: f64, way: &str, format: Format) -> Option<Set> {
    let element = |rank: f64| match numbers[rank as usize] {
        0.0 => Set::ZERO,
        value => Set::float(value),
    };
    let (below, above) = (numbers[rank.floor() as usize], numbers[rank.ceil() as usize]);
    Some(match way {
        "lower" => element(rank.floor()),
        "higher" => element(rank.ceil()),
        // Of two that are as near the document names neither.
        "nearest" if rank.fract() == 0.5 => element(rank.floor()).or(element(rank.ceil())),
        "nearest" => element(rank.round()),
        // It does not lie between two elements.
        "linear" | "midpoint" if rank.fract() == 0.0 => element(rank),
        // a + (b - a) * fraction, and (a + b) / 2.
        "linear" | "midpoint" if above == f64::INFINITY && below.is_finite() => Set::float(f64::INFINITY),
        "midpoint" if below == f64::NEG_INFINITY && above.is_finite() => Set::float(f64::NEG_INFINITY),
        "linear" | "midpoint" if [below, above, above - below].iter().any(|value| !value.is_finite()) => Set::Free,
        "linear" | "midpoint" => {
            let weight = if way == "midpoint" { 0.5 } else { rank.fract() };
            let most = below.abs().max(above.abs());
            if 2.0 * most > format.largest() {
                return Some(Set::Free);
            }
            format.near(below + (above - below) * weight, 4.0 * format.ulp(most) + format.smallest())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_step;
    use super::{Format, quantile};
    use crate::ops::Op;
    use crate::program::Arg;

    /// What is said of a quantile of a vector.
    fn said(op: Op, values: &[f64], fraction: f64, way: &str, result: f64) -> Option<String> {
        let operands: [(&[i64], &[f64]); 2] = [(&[values.len() as i64], values), (&[], &[fraction])];
        let rest = vec![Arg::Nothing, Arg::Flag(false), Arg::Text(way.to_owned())];
        of_step(op, &operands, rest, (&[], &[result]))
    }

    #[test]
    fn each_interpolation_has_its_own_quantile() {
        for (way, right) in [("linear", 1.75), ("lower", 1.0), ("higher", 2.0), ("midpoint", 1.5), ("nearest", 2.0)] {
            for result in [1.0, 1.5, 1.75, 2.0] {
                let said = said(Op::Quantile, &[4.0, 1.0, 3.0, 2.0], 0.25, way, result);
                assert_eq!(said.is_none(), result == right, "{way} {result}: {said:?}");
            }
        }
    }

    /// The fraction of float32 that is next to 1/3 times 6 is not 2, and is rounded to it.
    #[test]
    fn ranks_are_rounded_either_way() {
        let values = vec![0.0, 0.0, f64::from(1.0f32 / 3.0), 1.0, 1.0, 1.0, 1.0];
        let right = quantile(Op::Nanquantile, values, f64::from(1.0f32 / 3.0), "midpoint", Format::SINGLE).unwrap();
        let holds = |value: f64| right.set.contains(crate::tensor::Scalar::Float(value));
        assert!(holds(f64::from(1.0f32 / 3.0)) && holds(f64::from(2.0f32 / 3.0)) && !holds(0.5));
    }

    #[test]
    fn infinities_are_quantiles_and_nan_is_left_out_or_not() {
        let wrong = said(Op::Quantile, &[1.0, f64::INFINITY], 1.0, "linear", f64::NAN);
        assert!(wrong.unwrap().contains("between two"));
        assert_eq!(said(Op::Quantile, &[1.0, f64::INFINITY], 1.0, "linear", f64::INFINITY), None);
        for (way, fraction) in [("linear", 0.4), ("linear", 0.6), ("midpoint", 0.4)] {
            assert!(said(Op::Quantile, &[1.0, f64::INFINITY], fraction, way, f64::NAN).is_some(), "{way} {fraction}");
            assert_eq!(said(Op::Quantile, &[1.0, f64::INFINITY], fraction, way, f64::INFINITY), None);
        }
        assert!(said(Op::Quantile, &[1.0, f64::NAN], 0.0, "lower", 1.0).is_some());
        assert_eq!(said(Op::Nanquantile, &[1.0, f64::NAN], 0.0, "lower", 1.0), None);
        assert!(said(Op::Nanquantile, &[1.0, f64::NAN], 0.0, "lower", f64::NAN).is_some());
    }

    #[test]
    fn quantiles_stand_in_the_first_dimension() {
        let of = |sizes: &[i64], result: &[f64]| {
            let operands: [(&[i64], &[f64]); 2] = [(&[2, 2], &[1.0, 2.0, 10.0, 20.0]), (&[3], &[0.0, 0.5, 1.0])];
            let rest = vec![Arg::Int(1), Arg::Flag(false), Arg::Text("linear".to_owned())];
            of_step(Op::Quantile, &operands, rest, (sizes, result))
        };
        assert_eq!(of(&[3, 2], &[1.0, 10.0, 1.5, 15.0, 2.0, 20.0]), None);
        assert!(of(&[2, 3], &[1.0, 1.5, 2.0, 10.0, 15.0, 20.0]).is_some(), "the last dimension");
        assert!(of(&[3, 2], &[1.0, 1.5, 2.0, 10.0, 15.0, 20.0]).is_some(), "in another order");
    }
}
