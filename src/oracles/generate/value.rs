//! Elements and numbers: mostly small integers, which every dtype has and every sum keeps exact, and what tends to go
//! wrong.

use arbitrary::{Result, Unstructured};
use num_complex::Complex64;

use super::{MAX_INPUT_ELEMENTS, chance};
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

/// Floats that rounding, comparison and conversion tend to get wrong; a dtype that lacks one gets the nearest or an
/// infinity.
const FLOATS: &[f64] = &[
    0.0,
    -0.0,
    f64::NAN,
    1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    -1.5,
    0.5,
    2.5,
    0.1,
    3.0,
    65504.0,
    16777217.0,
    f32::MAX as f64,
    f32::MIN_POSITIVE as f64,
    1e-45,
    6e-8,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    9.223372036854776e18,
];

/// Integers at the ends of the dtypes; a dtype that lacks one gets what is left of it after wrapping.
const INTEGERS: &[i64] =
    &[0, 1, -1, 2, 127, 128, 255, 256, -128, 32767, -32768, 16777217, 2147483647, -2147483648, i64::MAX, i64::MIN];

/// The number of elements that are drawn; what follows repeats them. It is no size of any shape, so that rows differ.
const PERIOD: usize = 59;

/// The elements of the input number `input`.
pub(super) fn elements(u: &mut Unstructured, dtype: DType, shape: &Shape, input: usize) -> Result<Vec<u8>> {
    match chance(u, 1, 4)? {
        true => drawn(dtype, shape, || adversarial(u, dtype.category())),
        false => tame(u, dtype, shape, input),
    }
}

/// The same without extremes.
pub(super) fn tame(u: &mut Unstructured, dtype: DType, shape: &Shape, input: usize) -> Result<Vec<u8>> {
    match u.int_in_range(0..=2u8)? {
        0 if shape.numel() <= MAX_INPUT_ELEMENTS => Ok(counting(dtype, shape, input)),
        _ => drawn(dtype, shape, || Ok(Scalar::Int(u.int_in_range(-4..=4)?))),
    }
}

/// Elements that are drawn one by one, and repeat after a period.
fn drawn(dtype: DType, shape: &Shape, mut draw: impl FnMut() -> Result<Scalar>) -> Result<Vec<u8>> {
    let period = (0..shape.numel().min(PERIOD)).map(|_| draw()).collect::<Result<Vec<_>>>()?;
    Ok(bytes(dtype, shape, period.into_iter().cycle().take(shape.numel())))
}

/// The elements of a mask or of an index: integers that small dimensions have, from either end.
pub(super) fn small(u: &mut Unstructured, dtype: DType, shape: &Shape) -> Result<Vec<u8>> {
    // Now and then one that they do not have.
    let (low, high) = if chance(u, 1, 8)? { (-5, 5) } else { (-1, 1) };
    let low = if chance(u, 1, 2)? { 0 } else { low };
    drawn(dtype, shape, || Ok(Scalar::Int(u.int_in_range(low..=high)?)))
}

/// The rows that the rows of matrices are exchanged with, from 1 on, and now and then what is none.
pub(super) fn pivots(u: &mut Unstructured, dtype: DType, shape: &Shape) -> Result<Vec<u8>> {
    let rows = shape.sizes().last().copied().unwrap_or(1).clamp(1, 64);
    let (low, high) = if chance(u, 1, 16)? { (0, rows + 1) } else { (1, rows) };
    drawn(dtype, shape, || Ok(Scalar::Int(u.int_in_range(low..=high)?)))
}

/// Probabilities, their ends among them.
pub(super) fn probabilities(u: &mut Unstructured, dtype: DType, shape: &Shape) -> Result<Vec<u8>> {
    drawn(dtype, shape, || Ok(Scalar::Float(f64::from(u.int_in_range(0..=8u8)?) / 8.0)))
}

/// The elements of matrices whose diagonals outweigh the rest, so that equations with them have solutions.
pub(super) fn dominant(u: &mut Unstructured, dtype: DType, shape: &Shape) -> Result<Vec<u8>> {
    let size = shape.sizes().last().copied().unwrap_or(1).max(1) as usize;
    let element = |at: usize| {
        let diagonal = at / size % size == at % size;
        let value = u.int_in_range(-1..=1)?;
        Ok(Scalar::Int(if diagonal { value * 2 + 4 * size as i64 } else { value }))
    };
    Ok(bytes(dtype, shape, (0..shape.numel()).map(element).collect::<Result<Vec<_>>>()?))
}

/// The same of matrices some of whose first rows are zeros, so that their ranks are less than their sizes.
pub(super) fn dominant_in_part(u: &mut Unstructured, dtype: DType, shape: &Shape) -> Result<Vec<u8>> {
    let [rows, columns] =
        shape.sizes().last_chunk::<2>().map_or([1, 1], |sizes| sizes.map(|size| size.max(1) as usize));
    let zeros = if chance(u, 1, 2)? { u.int_in_range(0..=rows)? } else { 0 };
    let element = |at: usize| {
        let (row, column) = (at / columns % rows, at % columns);
        let value = u.int_in_range(-1..=1)?;
        Ok(Scalar::Int(match row == column {
            _ if row < zeros => 0,
            true => value * 2 + 4 * rows.max(columns) as i64,
            false => value,
        }))
    };
    Ok(bytes(dtype, shape, (0..shape.numel()).map(element).collect::<Result<Vec<_>>>()?))
}

/// The elements of tolerances, mostly small, some of which are larger than the singular values of small matrices.
pub(super) fn tolerances(u: &mut Unstructured, dtype: DType, shape: &Shape) -> Result<Vec<u8>> {
    drawn(dtype, shape, || match u.int_in_range(0..=3u8)? {
        0 => real(u),
        _ => Ok(Scalar::Float(*u.choose(&[0.0, 0.5, 1.5, 9.5, 0.03125])?)),
    })
}

/// The elements that a case gives the input number `input` if it says nothing of them, so that findings are short.
pub fn counting(dtype: DType, shape: &Shape, input: usize) -> Vec<u8> {
    bytes(dtype, shape, (0..shape.numel()).map(|at| Scalar::Int((1 + 16 * input + at) as i64)))
}

pub(super) fn bytes(dtype: DType, shape: &Shape, scalars: impl IntoIterator<Item = Scalar>) -> Vec<u8> {
    Buffer::from_scalars(dtype, scalars.into_iter()).to_bytes(&Layout::contiguous(shape.clone()))
}

/// A number where an operation takes one.
pub(super) fn number(u: &mut Unstructured) -> Result<Scalar> {
    Ok(match u.int_in_range(0..=7u8)? {
        0..=3 => Scalar::Int(u.int_in_range(-3..=5)?),
        4 => adversarial(u, Category::Integral)?,
        5 => adversarial(u, Category::Floating)?,
        6 => Scalar::Bool(u.arbitrary()?),
        _ => adversarial(u, Category::Complex)?,
    })
}

/// A floating-point number that is a parameter: a margin, a bound, an exponent.
pub(super) fn real(u: &mut Unstructured) -> Result<Scalar> {
    let value = match u.int_in_range(0..=7u8)? {
        0 => *u.choose(FLOATS)?,
        1 => -f64::from(u.int_in_range(1..=3u8)?),
        _ => *u.choose(&[0.0, 0.5, 1.0, 1.5, 2.0, 2.0, 3.0, 0.25])?,
    };
    Ok(Scalar::Float(value))
}

fn adversarial(u: &mut Unstructured, category: Category) -> Result<Scalar> {
    Ok(match category {
        Category::Bool => Scalar::Bool(u.arbitrary()?),
        Category::Integral => Scalar::Int(*u.choose(INTEGERS)?),
        Category::Floating => Scalar::Float(*u.choose(FLOATS)?),
        Category::Complex => Scalar::Complex(Complex64::new(*u.choose(FLOATS)?, *u.choose(FLOATS)?)),
    })
}
