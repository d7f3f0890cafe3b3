//! Products of vectors and matrices: exact for integers, and for floating-point numbers an interval that holds for every
//! order of the sum.

use super::reduction::total;
use super::set::{Format, Set, as_float, as_integer};
use super::trace::{Elements, Trace};
use super::view::{View, dimension, unravel};
use super::{Right, Wrong, formula, integer};
use crate::Difference;
use crate::ops::{Form, Op};
use crate::program::{Arg, Step, TensorValue};
use crate::tensor::{Category, Scalar, Shape};

const WRAP: &str = "two's complement: integers wrap around modulo a power of two";
const DOT: &str = "the exact sum of products, within n units of roundoff of the sum of their magnitudes: Higham, Accuracy and Stability of Numerical Algorithms, 3.1";
const ACTIVATED: &str = "torch.nn.functional.relu, and gelu: x times the share of the normal distribution below x, of the exact sum of products within its roundoff: Higham, Accuracy and Stability of Numerical Algorithms, 3.1";
const ALPHA: &str = "torch.addmm: alpha times the product, which is NaN for 0 times infinity (IEEE 754-2019, 7.2); the BLAS standard leaves out what alpha = 0 multiplies";

const FACTORS: &str = "torch.addmm: of integers beta and alpha should be integers, too; of others the formula of the page, rounded to an integer next to it";

/// The largest magnitude of a sum that float64 has with its fraction.
const FEW: f64 = 1e12;

/// The most products of one step that are added up.
const MOST: usize = 1 << 14;

/// The first element that is wrong.
pub(super) fn judge(trace: Trace, at: usize, step: &Step, result: &TensorValue) -> Option<Difference> {
    let given = |number: usize| trace.operand(at, step, number);
    let (first, summand) = places(step);
    let (a, b) = (given(first)?, given(first + 1)?);
    let added = match summand {
        Some(summand) => Some(given(summand)?),
        None => None,
    };
    if step.form != Form::Functional {
        let target = step.target()?;
        let own = trace.first_name(target);
        let mut others = step.args.iter().flat_map(Arg::uses).filter(|value| trace.first_name(*value) != own);
        // A summand that is resized in place has lost its elements.
        if step.form == Form::InPlace && trace.sizes(at, target)? != result.shape.sizes() {
            return None;
        }
        // A summand in place is read in time; one that `out=` names may have been resized.
        let first = if step.form == Form::Out { 0 } else { first };
        let read = step.args.iter().skip(first).flat_map(Arg::uses).any(|value| trace.first_name(value) == own);
        if read || others.any(|value| trace.may_alias(at, value, target)) {
            return None;
        }
    }
    let dtype = a.dtype;
    if dtype != b.dtype || dtype != result.dtype || added.as_ref().is_some_and(|added| added.dtype != dtype) {
        return None;
    }
    let sums = Sums { added, beta: factor(step, "beta")?, alpha: factor(step, "alpha")?, a, b };
    let terms = terms(step, sums.a.shape.sizes(), sums.b.shape.sizes(), result.shape.sizes())?;
    let result_elements = Elements::of(result)?;
    if terms.iter().map(Vec::len).sum::<usize>() > MOST || terms.len() != result_elements.values.len() {
        return None;
    }
    let each = terms.iter().zip(&result_elements.values).enumerate();
    let wrong = each.filter_map(|(number, (terms, &observed))| {
        let right = match (dtype.category(), Format::of(dtype)) {
            (Category::Floating, Some(format)) => sums.of_floats(format, terms, number, result.shape.sizes())?,
            (Category::Complex, _) => return None,
            _ => sums.of_integers(result, terms, number)?,
        };
        let right = if step.op == Op::AddmmActivation { activated(right, step, Format::of(dtype))? } else { right };
        let operands = terms.iter().take(8).flat_map(|&(one, other)| [sums.a.values[one], sums.b.values[other]]);
        Wrong::unless(right, number, observed, operands)
    });
    Some(Wrong::first(wrong)?.difference(step, result))
}

/// The arguments of a product: the first of its two factors, which the second follows, and what is added to it.
pub(super) fn places(step: &Step) -> (usize, Option<usize>) {
    match step.op {
        Op::Addmm | Op::AddmmActivation | Op::Addmv | Op::Baddbmm | Op::Addbmm | Op::Addr => (1, Some(0)),
        Op::Linear => (0, matches!(step.args.get(2), Some(Arg::Tensor(_))).then_some(2)),
        _ => (0, None),
    }
}

/// Returns whether a product has the conjugate of its first factor.
pub(super) fn conjugates(op: Op) -> bool {
    matches!(op, Op::Vdot | Op::LinalgVecdot)
}

/// The factor of a step with a name; 1 where it takes none.
pub(super) fn factor(step: &Step, name: &str) -> Option<Scalar> {
    let at = step.op.info().arguments.iter().position(|param| param.name == name);
    match at.and_then(|at| step.args.get(at)) {
        Some(Arg::Number(number)) => Some(*number),
        None => Some(Scalar::Int(1)),
        _ => None,
    }
}

struct Sums {
    added: Option<Elements>,
    beta: Scalar,
    alpha: Scalar,
    a: Elements,
    b: Elements,
}

impl Sums {
    /// The element that is added, by the number of that of the result.
    fn added(&self, number: usize, sizes: &[i64]) -> Option<Scalar> {
        let Some(added) = &self.added else { return Some(Scalar::Int(0)) };
        let view = View::of(added.shape.sizes()).expanded(sizes)?;
        added.values.get(view.place(&unravel(sizes, number))).copied()
    }

    fn of_integers(&self, result: &TensorValue, terms: &[(usize, usize)], number: usize) -> Option<Right> {
        if result.dtype.category() == Category::Bool {
            return None;
        }
        let mut sum = 0i64;
        for &(one, other) in terms {
            sum = sum.wrapping_add(as_integer(self.a.values[one])?.wrapping_mul(as_integer(self.b.values[other])?));
        }
        let added = as_integer(self.added(number, result.shape.sizes())?)?;
        if let [Scalar::Float(_), _] | [_, Scalar::Float(_)] = [self.beta, self.alpha] {
            let all = as_float(self.beta)? * added as f64 + as_float(self.alpha)? * sum as f64;
            if all.abs() > FEW {
                return None;
            }
            let [low, high] = [all.floor(), all.ceil()].map(|end| integer::exactly(result.dtype, end as i128));
            return Some(Right::by(FACTORS, low.or(high)));
        }
        let all = as_integer(self.beta)?.wrapping_mul(added).wrapping_add(as_integer(self.alpha)?.wrapping_mul(sum));
        Some(Right::by(WRAP, integer::exactly(result.dtype, i128::from(all))))
    }

    fn of_floats(&self, format: Format, terms: &[(usize, usize)], number: usize, sizes: &[i64]) -> Option<Right> {
        let (alpha, beta) = (format.round(as_float(self.alpha)?), format.round(as_float(self.beta)?));
        // Factors that are rounded twice, and what is infinite times an empty sum, are not of interest.
        if !alpha.is_finite()
            || !beta.is_finite()
            || as_float(self.alpha) != Some(alpha)
            || as_float(self.beta) != Some(beta)
        {
            return None;
        }
        let added = as_float(self.added(number, sizes)?)?;
        let added = if beta == 0.0 { 0.0 } else { beta * added };
        let mut products = Vec::with_capacity(terms.len());
        for &(one, other) in terms {
            let factors = [as_float(self.a.values[one])?, as_float(self.b.values[other])?];
            let product = factors[0] * factors[1];
            if product.is_infinite() && factors.iter().all(|factor| factor.is_finite()) {
                return None;
            }
            products.push(product);
        }
        // Whatever is multiplied with the factor first must not overflow.
        let largest = |elements: &Elements, of: fn(&(usize, usize)) -> usize| {
            let sizes = terms.iter().filter_map(|term| as_float(elements.values[of(term)])).map(f64::abs);
            sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
        };
        let factors = [largest(&self.a, |term| term.0), largest(&self.b, |term| term.1)];
        let scaled = factors.map(|size| size * alpha.abs());
        if scaled.iter().any(|size| *size > format.largest()) {
            return None;
        }
        let magnitudes: f64 = products.iter().map(|product| product.abs()).filter(|product| product.is_finite()).sum();
        let most = format.largest() / 2.0;
        let overflows = |part: f64| part.is_finite() && part.abs() > most;
        if magnitudes.is_infinite() || [magnitudes, magnitudes * alpha.abs(), added].into_iter().any(overflows) {
            return None;
        }
        if !products.iter().all(|product| product.is_finite()) || !added.is_finite() {
            let sum: f64 = products.iter().sum::<f64>() * alpha + added;
            if alpha == 0.0 {
                let left_out = format.near(added, format.ulp(added));
                return (sum.is_nan() && added.is_finite()).then(|| Right::by(ALPHA, Set::Nan).disputed(left_out));
            }
            if products.iter().chain([&added]).all(|product| !product.is_nan()) {
                return None;
            }
            return sum.is_nan().then(|| Right::by(DOT, Set::Nan));
        }
        let unit = format.ulp(1.0);
        let value = alpha * total(&products) + added;
        let terms = (terms.len() + 3) as f64;
        // A product of two factors that underflows is off by the smallest number, and the third factor multiplies that.
        let third = factors.into_iter().fold(alpha.abs().max(1.0), f64::max);
        let underflow = terms * format.smallest() * third;
        let error = terms * unit * (alpha.abs() * magnitudes + added.abs()) + underflow;
        let exact = self.added.is_none() && products.iter().all(|product| *product == 0.0);
        let set = if exact { Set::ZERO } else { format.near(value, error) };
        Some(Right::by(DOT, set))
    }
}

/// The rectified element, or `gelu` of it.
fn activated(right: Right, step: &Step, format: Option<Format>) -> Option<Right> {
    let gelu = step.args.last() == Some(&Arg::Flag(true));
    let of = |set: Set| {
        Some(match set {
            Set::Nan => Set::Nan,
            Set::Exactly(Scalar::Int(value)) if !gelu => Set::Exactly(Scalar::Int(value.max(0))),
            Set::Exactly(Scalar::Float(value)) => curved(value, value, gelu, format?)?,
            Set::Between(low, high) => curved(low, high, gelu, format?)?,
            _ => return None,
        })
    };
    let source = if right.disputed.is_some() { right.source } else { ACTIVATED };
    Some(Right { source, ..right.converted(of)? })
}

/// The values of the function between two numbers. `gelu` has one turning point, and what it loses is a part of the number.
fn curved(low: f64, high: f64, gelu: bool, format: Format) -> Option<Set> {
    if !low.is_finite() || !high.is_finite() {
        return None;
    }
    if !gelu {
        return Some(Set::Between(low.max(0.0), high.max(0.0)));
    }
    const LEAST: (f64, f64) = (-0.751_791_524_693_564_5, -0.169_971_207_480_106_3);
    let error = 16.0 * format.ulp(1.0) * low.abs().max(high.abs()) + format.smallest() + 1e-11;
    let (at_low, at_high) = (formula::gelu(low), formula::gelu(high));
    let least = if low < LEAST.0 && high > LEAST.0 { LEAST.1 } else { at_low.min(at_high) };
    Some(Set::Between(format.round(least - error), format.round(at_low.max(at_high) + error)))
}

/// The products that each element of the result adds up, as pairs of numbers of elements.
pub(super) fn terms(step: &Step, a: &[i64], b: &[i64], result: &[i64]) -> Option<Vec<Vec<(usize, usize)>>> {
    let terms = defined(step, a, b, result)?;
    // Operands that do not fit should have been rejected, which is for others to say.
    let [most_a, most_b] = [a, b].map(|sizes| sizes.iter().product::<i64>() as usize);
    terms.iter().flatten().all(|(one, other)| *one < most_a && *other < most_b).then_some(terms)
}

fn defined(step: &Step, a: &[i64], b: &[i64], result: &[i64]) -> Option<Vec<Vec<(usize, usize)>>> {
    match step.op {
        Op::Kron => kron(a, b),
        Op::LinalgVecdot => {
            let Some(Arg::Int(dim)) = step.args.get(2) else { return None };
            vecdot(a, b, *dim)
        }
        Op::Mm | Op::Bmm | Op::Mv | Op::Dot | Op::Vdot | Op::Matmul => matmul(a, b, result),
        Op::Addmm | Op::AddmmActivation | Op::Addmv | Op::Baddbmm => matmul(a, b, result),
        Op::Addbmm => {
            let ([batches, n, k], [_, _, m]) = (<[i64; 3]>::try_from(a).ok()?, <[i64; 3]>::try_from(b).ok()?);
            let [batches, n, k, m] = [batches, n, k, m].map(|size| size as usize);
            let of = |row: usize, column: usize| {
                let pairs = (0..batches).flat_map(move |batch| (0..k).map(move |inner| (batch, inner)));
                pairs.map(|(batch, inner)| ((batch * n + row) * k + inner, (batch * k + inner) * m + column)).collect()
            };
            Some(
                (0..n)
                    .flat_map(|row| (0..m).map(move |column| (row, column)))
                    .map(|(row, column)| of(row, column))
                    .collect(),
            )
        }
        Op::Outer | Op::Ger | Op::Addr => {
            let ([n], [m]) = (<[i64; 1]>::try_from(a).ok()?, <[i64; 1]>::try_from(b).ok()?);
            Some((0..n as usize).flat_map(|row| (0..m as usize).map(move |column| vec![(row, column)])).collect())
        }
        Op::Inner | Op::Linear => {
            let (inner, other) = (*a.last()?, *b.last()?);
            let [rows, columns] =
                [&a[..a.len() - 1], &b[..b.len() - 1]].map(|sizes| sizes.iter().product::<i64>() as usize);
            let inner = if inner == other { inner as usize } else { return None };
            let of = |row: usize, column: usize| (0..inner).map(|at| (row * inner + at, column * inner + at)).collect();
            Some(
                (0..rows)
                    .flat_map(|row| (0..columns).map(move |column| (row, column)))
                    .map(|(row, column)| of(row, column))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// `torch.kron`: blocks of the second operand, one for each element of the first; the one of fewer dimensions gets leading
/// ones.
fn kron(a: &[i64], b: &[i64]) -> Option<Vec<Vec<(usize, usize)>>> {
    let rank = a.len().max(b.len());
    let padded = |sizes: &[i64]| [&vec![1; rank - sizes.len()][..], sizes].concat();
    let (a, b) = (padded(a), padded(b));
    let sizes: Vec<i64> = a.iter().zip(&b).map(|(one, other)| one * other).collect();
    let (left, right) = (View::of(&a), View::of(&b));
    let term = |number: usize| {
        let index = unravel(&sizes, number);
        let of =
            |part: fn(i64, i64) -> i64| index.iter().zip(&b).map(|(at, size)| part(*at, *size)).collect::<Vec<_>>();
        vec![(left.place(&of(|at, size| at / size)), right.place(&of(|at, size| at % size)))]
    };
    Some((0..sizes.iter().product::<i64>() as usize).map(term).collect())
}

/// `torch.linalg.vecdot` along one dimension of the common shape.
fn vecdot(a: &[i64], b: &[i64], dim: i64) -> Option<Vec<Vec<(usize, usize)>>> {
    let [left, right] = [a, b].map(|sizes| Shape::new(sizes.to_vec()).ok());
    let shape = left?.broadcast(&right?).ok()?;
    let mut outer = shape.sizes().to_vec();
    let dim = dimension(dim, outer.len()).filter(|_| !outer.is_empty())?;
    let [left, right] = [a, b].map(|sizes| View::of(sizes).expanded(shape.sizes()));
    let (left, right) = (left?, right?);
    let count = outer.remove(dim);
    let terms = |number: usize| {
        let at = |inner: i64| {
            let mut index = unravel(&outer, number);
            index.insert(dim, inner);
            (left.place(&index), right.place(&index))
        };
        (0..count).map(at).collect()
    };
    Some((0..outer.iter().product::<i64>() as usize).map(terms).collect())
}

fn matmul(a: &[i64], b: &[i64], result: &[i64]) -> Option<Vec<Vec<(usize, usize)>>> {
    // A vector is a row on the left and a column on the right.
    let left: Vec<i64> = if a.len() == 1 { vec![1, a[0]] } else { a.to_vec() };
    let right: Vec<i64> = if b.len() == 1 { vec![b[0], 1] } else { b.to_vec() };
    let (batch_a, batch_b) =
        (left.split_at_checked(left.len().checked_sub(2)?)?, right.split_at_checked(right.len().checked_sub(2)?)?);
    let ([n, k], [_, m]) = (<[i64; 2]>::try_from(batch_a.1).ok()?, <[i64; 2]>::try_from(batch_b.1).ok()?);
    let [n, k, m] = [n, k, m].map(|size| size as usize);
    let rank = batch_a.0.len().max(batch_b.0.len());
    let size = |sizes: &[i64], dim: usize| (dim + sizes.len()).checked_sub(rank).map_or(1, |dim| sizes[dim]);
    let batches: Vec<i64> = (0..rank)
        .map(|dim| {
            let (one, other) = (size(batch_a.0, dim), size(batch_b.0, dim));
            if one == 1 { other } else { one }
        })
        .collect();
    let count = batches.iter().product::<i64>() as usize;
    if count * n * m != result.iter().product::<i64>() as usize {
        return None;
    }
    let place = |sizes: &[i64], batch: usize| {
        let (mut rest, mut place, mut stride) = (batch, 0, 1);
        for dim in (0..rank).rev() {
            let index = rest % batches[dim].max(1) as usize;
            rest /= batches[dim].max(1) as usize;
            if size(sizes, dim) != 1 {
                place += index * stride;
                stride *= size(sizes, dim) as usize;
            }
        }
        place
    };
    let mut all = Vec::with_capacity(count * n * m);
    for batch in 0..count {
        let (first, second) = (place(batch_a.0, batch), place(batch_b.0, batch));
        for row in 0..n {
            for column in 0..m {
                let terms = (0..k).map(|at| ((first * n + row) * k + at, (second * k + at) * m + column));
                all.push(terms.collect());
            }
        }
    }
    Some(all)
}
