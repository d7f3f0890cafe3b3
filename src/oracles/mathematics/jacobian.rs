//! Slopes of functions of complex numbers: how each part of a result changes with each part of an operand.
//!
//! A complex number counts as two real ones, its parts, and so does its gradient: torch's page "Autograd mechanics",
//! "Autograd for Complex Numbers". An edge leads from a part to a part, where tensors of complex numbers have two
//! parts for each element, the real one first.

use num_complex::Complex64;

use super::Details;
use super::elementwise;
use super::product;
use super::scan;
use super::selection::{selection, selects};
use super::set::{Format, as_float};
use super::slope::{Edge, Slopes};
use super::view::View;
use crate::ops::{Family, Op};
use crate::tensor::element::Element;
use crate::tensor::{Category, DType, Scalar};

/// The most edges of one step.
const MOST: usize = 1 << 14;

/// The units of roundoff, of the size of the derivative, that an implementation may lose of each part of it.
const LOST: f64 = 32.0;

/// The numbers that an element of a dtype consists of; `None` for dtypes that no gradient flows to.
pub(super) fn width(dtype: DType) -> Option<usize> {
    match dtype.category() {
        Category::Floating => Some(1),
        Category::Complex => Some(2),
        _ => None,
    }
}

/// The parts of elements, one after the other; `None` if the dtype has none.
pub(super) fn flat(dtype: DType, values: &[Scalar]) -> Option<Vec<f64>> {
    match width(dtype)? {
        1 => values.iter().copied().map(as_float).collect(),
        _ => Some(values.iter().map(|value| Complex64::from_scalar(*value)).flat_map(|one| [one.re, one.im]).collect()),
    }
}

/// The least and the greatest derivatives of the parts of a result, in rows, by the parts of an operand, in columns.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Jacobian([[(f64, f64); 2]; 2]);

impl Jacobian {
    /// That of the parts one by one.
    fn each(slope: (f64, f64)) -> Jacobian {
        Jacobian([[slope, (0.0, 0.0)], [(0.0, 0.0), slope]])
    }

    /// That of a product with a number, each part of which may be off by `lost`.
    fn times(factor: Complex64, lost: f64) -> Jacobian {
        let near = |value: f64| (value - lost, value + lost);
        Jacobian([[near(factor.re), near(-factor.im)], [near(factor.im), near(factor.re)]])
    }

    /// The same of the conjugate of the operand.
    fn of_conjugate(self) -> Jacobian {
        Jacobian(self.0.map(|[re, (low, high)]| [re, (-high, -low)]))
    }
}

/// The derivative of an element of a result by an element of an argument.
struct Dependence {
    result: usize,
    arg: usize,
    element: usize,
    slope: Option<Jacobian>,
}

/// The edges between the parts of a result and of the arguments that are wanted; `None` where the operation is not known.
pub(super) fn edges(slopes: &Slopes, wanted: &[bool]) -> Option<Vec<Edge>> {
    let op = slopes.step.op;
    let dependences = match op.info().family() {
        _ if selects(op) => {
            let edges = slopes.selected(&selection(slopes.trace, slopes.number, slopes.step)?)?;
            edges.into_iter().map(|edge| Dependence::from_edge(&edge)).collect()
        }
        Family::Pointwise => pointwise(slopes, wanted)?,
        Family::Reductions if op == Op::Cumsum => {
            let operand = slopes.operand(0)?;
            let lines = scan::lines(operand.shape.sizes(), scan::dimension(slopes.step, operand.shape.rank())?);
            let sums = lines.iter().flat_map(|line| {
                let before = |last: usize| line[..=last].iter().map(move |element| (line[last], *element));
                (0..line.len()).flat_map(before).collect::<Vec<_>>()
            });
            sums.map(|(result, element)| Dependence::of_first(result, element, Jacobian::each((1.0, 1.0)))).collect()
        }
        Family::Reductions => reduced(slopes)?,
        Family::Products => multiplied(slopes)?,
        _ => return None,
    };
    let rows = width(slopes.result.dtype)?;
    let mut edges = Vec::with_capacity(4 * dependences.len());
    for one in dependences.iter().filter(|one| wanted.get(one.arg) == Some(&true)) {
        let columns = width(slopes.operand(one.arg)?.dtype)?;
        for row in 0..rows {
            for column in 0..columns {
                let slope = one.slope.map(|slope| slope.0[row][column]);
                if slope != Some((0.0, 0.0)) {
                    let finite = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
                    let (result, element) = (rows * one.result + row, columns * one.element + column);
                    edges.push(Edge { result, arg: one.arg, element, slope: slope.filter(finite) });
                }
            }
        }
    }
    (edges.len() <= MOST).then_some(edges)
}

impl Dependence {
    fn from_edge(edge: &Edge) -> Dependence {
        let Edge { result, arg, element, slope } = *edge;
        Dependence { result, arg, element, slope: slope.map(Jacobian::each) }
    }

    fn of_first(result: usize, element: usize, slope: Jacobian) -> Dependence {
        Dependence { result, arg: 0, element, slope: Some(slope) }
    }
}

fn reduced(slopes: &Slopes) -> Option<Vec<Dependence>> {
    let operand = slopes.operand(0)?;
    let (groups, _) = slopes.groups(&operand)?;
    let mut dependences = Vec::with_capacity(operand.values.len());
    for (result, group) in groups.iter().enumerate() {
        for (at, element) in group.iter().enumerate() {
            let slope = match slopes.step.op {
                Op::Sum | Op::SumToSize => Jacobian::each((1.0, 1.0)),
                Op::Mean => Jacobian::each((1.0 / group.len() as f64, 1.0 / group.len() as f64)),
                Op::Prod => {
                    let others = group.iter().enumerate().filter(|(other, _)| *other != at);
                    let factors: Vec<Complex64> =
                        others.map(|(_, place)| Complex64::from_scalar(operand.values[*place])).collect();
                    let product = factors.iter().product::<Complex64>();
                    // Few factors of moderate size, of which no product overflows; a zero is divided by in some formulas.
                    let tame = |factor: &Complex64| (1e-3..1e3).contains(&factor.norm());
                    if group.len() > 6
                        || !group.iter().all(|place| tame(&Complex64::from_scalar(operand.values[*place])))
                    {
                        return None;
                    }
                    Jacobian::times(product, LOST * slopes.format.ulp(product.norm()))
                }
                _ => return None,
            };
            dependences.push(Dependence::of_first(result, *element, slope));
        }
    }
    Some(dependences)
}

fn multiplied(slopes: &Slopes) -> Option<Vec<Dependence>> {
    let (first, summand) = product::places(slopes.step);
    let (a, b) = (slopes.operand(first)?, slopes.operand(first + 1)?);
    let sizes = slopes.result.shape.sizes();
    let terms = product::terms(slopes.step, a.shape.sizes(), b.shape.sizes(), sizes)?;
    if terms.len() != slopes.result.values.len() || terms.iter().map(Vec::len).sum::<usize>() > MOST {
        return None;
    }
    let [alpha, beta] =
        [product::factor(slopes.step, "alpha")?, product::factor(slopes.step, "beta")?].map(Complex64::from_scalar);
    let times = |factor: Complex64| Jacobian::times(factor, slopes.format.ulp(factor.norm()));
    let conjugates = product::conjugates(slopes.step.op);
    let mut unknown = slopes.unknown(first, alpha.is_finite())?;
    unknown.extend(slopes.unknown(first + 1, alpha.is_finite())?);
    let mut dependences = Vec::new();
    for (result, terms) in terms.iter().enumerate() {
        for &(one, other) in terms {
            let (x, y) = (Complex64::from_scalar(a.values[one]), Complex64::from_scalar(b.values[other]));
            let (by_first, x) = if conjugates { (times(y).of_conjugate(), x.conj()) } else { (times(alpha * y), x) };
            dependences.push(Dependence { result, arg: first, element: one, slope: Some(by_first) });
            dependences.push(Dependence { result, arg: first + 1, element: other, slope: Some(times(alpha * x)) });
        }
    }
    if let Some(summand) = summand {
        unknown.extend(slopes.unknown(summand, beta.is_finite())?);
        let places = View::of(slopes.operand(summand)?.shape.sizes()).expanded(sizes)?.places()?;
        let slope = Some(times(beta));
        let added = places.into_iter().enumerate();
        dependences.extend(added.map(|(result, element)| Dependence { result, arg: summand, element, slope }));
    }
    dependences.extend(unknown.iter().map(Dependence::from_edge));
    Some(dependences)
}

fn pointwise(slopes: &Slopes, wanted: &[bool]) -> Option<Vec<Dependence>> {
    let (operands, details) = elementwise::operands(slopes.trace, slopes.number, slopes.step)?;
    let mut dependences = Vec::new();
    for result in 0..slopes.result.values.len() {
        let places = elementwise::places(&operands, &slopes.result.shape, result)?;
        let rounded = |value: Scalar| {
            let Complex64 { re, im } = Complex64::from_scalar(value);
            Complex64::new(slopes.format.round(re), slopes.format.round(im))
        };
        let args: Vec<Complex64> =
            operands.iter().zip(&places).map(|(operand, place)| rounded(operand.values[*place])).collect();
        let finite = args.iter().all(|arg| arg.is_finite());
        for arg in (0..slopes.step.args.len()).filter(|arg| wanted[*arg]) {
            let which = slopes.place(arg);
            let slope = if finite { derivative(slopes.step.op, slopes.format, &args, which, &details) } else { None };
            dependences.push(Dependence { result, arg, element: *places.get(which)?, slope });
        }
    }
    Some(dependences)
}

/// The derivative by one operand, at finite operands. `None` where it is not known, or a step of the formula overflows.
fn derivative(op: Op, format: Format, args: &[Complex64], which: usize, details: &Details) -> Option<Jacobian> {
    let factor = details.factor.map_or(Complex64::ONE, Complex64::from_scalar);
    let one = Complex64::ONE;
    let exactly = |slope: f64| Some(Jacobian::each((slope, slope)));
    // The derivative, and the sum of the sizes of the numbers that it is the sum of.
    let near = |value: Complex64, size: f64| {
        let lost = LOST * format.ulp(size.max(value.norm()));
        (value.is_finite() && size < format.largest().sqrt()).then(|| Jacobian::times(value, lost))
    };
    let sizes = |numbers: &[Complex64]| numbers.iter().map(|number| number.norm()).sum::<f64>();
    let quotient = |a: Complex64, b: Complex64| {
        let range = format.smallest_normal().sqrt().sqrt()..format.largest().sqrt().sqrt();
        (range.contains(&b.norm()) && a.norm() < range.end).then(|| a / b)
    };
    match (op, which) {
        (Op::Add | Op::Sub, 0) | (Op::Rsub, 1) | (Op::Copy | Op::Fill, 1) | (Op::Addcmul | Op::Addcdiv, 0) => {
            exactly(1.0)
        }
        (Op::Copy | Op::Fill, 0) => exactly(0.0),
        (Op::Neg, 0) => exactly(-1.0),
        (Op::Add, 1) => near(factor, 0.0),
        (Op::Sub, 1) | (Op::Rsub, 0) => near(-factor, 0.0),
        (Op::Mul, _) => near(args[1 - which], 0.0),
        (Op::Div, 0) if details.mode.is_none() => near(quotient(one, args[1])?, 0.0),
        (Op::Div, 1) if details.mode.is_none() => near(-quotient(quotient(args[0], args[1])?, args[1])?, 0.0),
        (Op::Addcmul, _) => near(factor * args[3 - which], 0.0),
        (Op::Addcdiv, 1) => near(factor * quotient(one, args[2])?, 0.0),
        (Op::Addcdiv, _) => near(-factor * quotient(quotient(args[1], args[2])?, args[2])?, 0.0),
        (Op::Where, _) => exactly(f64::from(u8::from((args[0] != Complex64::ZERO) == (which == 1)))),
        (Op::Lerp, 0) => near(one - args[2], sizes(&[one, args[2]])),
        (Op::Lerp, 1) => near(args[2], sizes(&[one, args[2]])),
        (Op::Lerp, _) => near(args[1] - args[0], sizes(&args[..2])),
        (Op::Abs, 0) => of_magnitude(format, args[0]),
        (Op::Complex, 0) => exactly(1.0),
        (Op::Complex, _) => Some(Jacobian([[(0.0, 0.0); 2], [(1.0, 1.0), (0.0, 0.0)]])),
        (Op::Polar, _) if args[1].re.abs() < 1e5 => {
            let turned = Complex64::from_polar(1.0, args[1].re);
            let value = if which == 0 { turned } else { Complex64::I * args[0].re * turned };
            near(value, 0.0)
        }
        (Op::Pow | Op::FloatPower, _) => of_power(format, args, which),
        (Op::Logaddexp, _) => {
            let apart = args[1 - which] - args[which];
            let sum = one + apart.exp();
            // Where the sum is next to zero the quotient is anything.
            let is_tame = apart.re.abs() < 30.0 && apart.im.abs() < 100.0 && sum.norm() > 0.1;
            let size = (1.0 + apart.norm()) * (1.0 + apart.re.exp()) / sum.norm_sqr();
            near(one / sum, size).filter(|_| is_tame)
        }
        (Op::SigmoidBackward, 0) => {
            let slope = args[1] * (one - args[1]);
            near(slope.conj(), args[1].norm() * sizes(&[one, args[1]]))
        }
        (Op::SigmoidBackward, _) => {
            let (value, size) = (args[0] * (one - 2.0 * args[1].conj()), args[0].norm() * sizes(&[one, 2.0 * args[1]]));
            near(value, size).map(Jacobian::of_conjugate)
        }
        (Op::TanhBackward, 0) => near((one - args[1] * args[1]).conj(), sizes(&[one, args[1] * args[1]])),
        (Op::TanhBackward, _) => near(-2.0 * args[0] * args[1].conj(), 0.0).map(Jacobian::of_conjugate),
        _ => None,
    }
}

/// The direction of a number; at zero, that of any (a subgradient). `None` if the magnitude overflows.
fn of_magnitude(format: Format, value: Complex64) -> Option<Jacobian> {
    let size = value.norm();
    if size > format.largest() {
        return None;
    }
    // A magnitude below the normal numbers is rounded to one of few.
    let rounded = if size < format.smallest_normal() { format.ulp(size) / size } else { 0.0 };
    let along = |part: f64| match size == 0.0 {
        true => (-1.0, 1.0),
        false => {
            let lost = LOST * format.ulp(1.0) + rounded * (part / size).abs();
            (part / size - lost, part / size + lost)
        }
    };
    Some(Jacobian([[along(value.re), along(value.im)], [(0.0, 0.0); 2]]))
}

/// w z^(w - 1) and z^w log z, for numbers of moderate size that are not next to the cut of the logarithm.
fn of_power(format: Format, args: &[Complex64], which: usize) -> Option<Jacobian> {
    let (base, exponent) = (args[0], args[1]);
    let is_tame = (1e-3..1e3).contains(&base.norm()) && exponent.norm() < 8.0;
    if !is_tame || base.re < 0.0 && base.im.abs() < 1e-3 * base.norm() {
        return None;
    }
    let value = if which == 0 { exponent * base.powc(exponent - 1.0) } else { base.powc(exponent) * base.ln() };
    // The exponential of a logarithm loses what the logarithm loses, times the exponent.
    let size = base.powc(exponent).norm().max(value.norm()) * (1.0 + base.ln().norm()) * (2.0 + exponent.norm());
    let lost = LOST * format.ulp(size / base.norm().min(1.0));
    Some(Jacobian::times(value, lost))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the quotient of differences of num-complex, in the direction of either part.
    #[test]
    fn derivatives_are_limits_of_quotients() {
        type Function = fn(&[Complex64]) -> Complex64;
        let complex = [Complex64::new(0.75, -1.25), Complex64::new(-0.5, 0.375), Complex64::new(1.5, 0.5)];
        let real = [Complex64::new(0.75, 0.0), Complex64::new(-0.5, 0.0)];
        let functions: [(Op, &[Complex64], Function); 14] = [
            (Op::Rsub, &complex[..2], |x| x[1] - x[0]),
            (Op::Mul, &complex[..2], |x| x[0] * x[1]),
            (Op::Div, &complex[..2], |x| x[0] / x[1]),
            (Op::Addcmul, &complex, |x| x[0] + x[1] * x[2]),
            (Op::Addcdiv, &complex, |x| x[0] + x[1] / x[2]),
            (Op::Lerp, &complex, |x| x[0] + x[2] * (x[1] - x[0])),
            (Op::Where, &complex, |x| x[1]),
            (Op::Abs, &complex[..1], |x| x[0].norm().into()),
            (Op::Pow, &complex[..2], |x| x[0].powc(x[1])),
            (Op::Logaddexp, &complex[..2], |x| (x[0].exp() + x[1].exp()).ln()),
            (Op::SigmoidBackward, &complex[..2], |x| x[0] * ((1.0 - x[1]) * x[1]).conj()),
            (Op::TanhBackward, &complex[..2], |x| x[0] * (1.0 - x[1] * x[1]).conj()),
            (Op::Complex, &real, |x| Complex64::new(x[0].re, x[1].re)),
            (Op::Polar, &real, |x| x[0].re * Complex64::from_polar(1.0, x[1].re)),
        ];
        for (op, args, function) in functions {
            // The condition of `where` has no derivative, and a real operand has no other part.
            for which in usize::from(op == Op::Where)..args.len() {
                let slope = derivative(op, Format::SINGLE, args, which, &Details::default()).expect("it is known");
                let steps = [Complex64::new(1e-6, 0.0), Complex64::new(0.0, 1e-6)];
                for (column, step) in steps.into_iter().take(if args == real { 1 } else { 2 }).enumerate() {
                    let at = |sign: f64| {
                        let mut args = args.to_vec();
                        args[which] += sign * step;
                        function(&args)
                    };
                    let quotient = (at(1.0) - at(-1.0)) / 2e-6;
                    for (row, part) in [quotient.re, quotient.im].into_iter().enumerate() {
                        let (low, high) = slope.0[row][column];
                        let is_near = low - 1e-8 < part && part < high + 1e-8 && high - low < 1e-3;
                        assert!(is_near, "{op} {which}: {part} in {slope:?}");
                    }
                }
            }
        }
    }
}
