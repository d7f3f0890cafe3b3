//! Elements on their way to what cases give an input by default.

use crate::program::Input;
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

use crate::generate::counting;
use crate::reduce::scalars;

/// The most elements of an input that replaces a result, or a tensor without elements.
pub(super) const MOST_ELEMENTS: usize = 256;

/// Returns the distance of the elements from the usual ones: those that are not, and how strange each is.
pub(super) fn weight(input: &Input, at: usize) -> u64 {
    let elements = scalars(input);
    unusual(input, at).into_iter().map(|place| 8 + strangeness(elements[place])).sum()
}

/// The places of the elements that are not the usual ones.
pub(super) fn unusual(input: &Input, at: usize) -> Vec<usize> {
    let usual = counting(input.dtype, &input.shape, at);
    let size = input.dtype.size();
    let pairs = usual.chunks_exact(size).zip(input.data.chunks_exact(size)).enumerate();
    pairs.filter(|(_, (usual, element))| usual != element).map(|(place, _)| place).collect()
}

fn strangeness(number: Scalar) -> u64 {
    let of = |value: f64| match value {
        value if value == 0.0 => u64::from(value.is_sign_negative()) * 4,
        value if value == 1.0 || value == 2.0 => 1,
        value if value.fract() == 0.0 && value.abs() <= 64.0 => 3,
        value if value.is_nan() => 5,
        value if value.is_finite() => 6,
        _ => 5,
    };
    match number {
        Scalar::Bool(_) => 0,
        Scalar::Int(value) => of(value as f64),
        Scalar::Float(value) => of(value),
        Scalar::Complex(value) => of(value.re).max(of(value.im)) + u64::from(value.im != 0.0),
    }
}

/// The most parts that the elements of an input are made plainer by in one round. Each is a copy of the input; what is left
/// has fewer parts in the next round.
const PARTS: usize = 256;

/// The input with plainer elements: all of them, ever smaller parts of them, each if there are few.
pub(super) fn plainer(input: &Input, at: usize) -> Vec<Input> {
    let places = unusual(input, at);
    let usual = counting(input.dtype, &input.shape, at);
    let size = input.dtype.size();
    let mut inputs = Vec::new();
    let mut chunk = places.len();
    while chunk > 0 && places.len().div_ceil(chunk) <= PARTS {
        for part in places.chunks(chunk) {
            let mut plainer = input.clone();
            for place in part {
                let bytes = place * size..(place + 1) * size;
                plainer.data[bytes.clone()].copy_from_slice(&usual[bytes]);
            }
            inputs.push(plainer);
        }
        chunk = if chunk == 1 { 0 } else { chunk.div_ceil(2) };
    }
    // What has to be unusual may still be simple.
    if places.len() <= 16 {
        for place in places {
            for number in [0, 1, 2] {
                inputs.extend(with(input, place, Scalar::Int(number)));
            }
            if let Scalar::Complex(value) = scalars(input)[place] {
                inputs.extend(with(input, place, Scalar::Float(value.re)));
            }
        }
    }
    inputs
}

fn with(input: &Input, place: usize, number: Scalar) -> Option<Input> {
    let mut elements = scalars(input);
    *elements.get_mut(place)? = number;
    Some(of(input, input.shape.clone(), input.dtype, elements))
}

/// The input with some of its indices along one dimension.
pub(super) fn sliced(input: &Input, dim: usize, from: usize, to: usize) -> Input {
    let sizes = input.shape.sizes();
    let size = sizes[dim] as usize;
    // Without elements the other sizes may have a product beyond counting.
    let inner = if input.data.is_empty() { 0 } else { sizes[dim + 1..].iter().product::<i64>() as usize };
    let inner = inner * input.dtype.size();
    let data = match size * inner {
        0 => Vec::new(),
        block => input.data.chunks_exact(block).flat_map(|block| &block[from * inner..to * inner]).copied().collect(),
    };
    let mut sizes = sizes.to_vec();
    sizes[dim] = (to - from) as i64;
    Input { shape: Shape::new(sizes).expect("sizes that only became smaller"), data, ..input.clone() }
}

/// The input without a dimension of one index; the input itself if it is empty along this dimension alone, and large.
pub(super) fn without_dim(input: &Input, dim: usize) -> Input {
    let first = if input.shape.sizes()[dim] > 1 { sliced(input, dim, 0, 1) } else { input.clone() };
    let mut sizes = first.shape.sizes().to_vec();
    let gone = sizes.remove(dim);
    let shape = Shape::new(sizes).expect("sizes that only became fewer");
    match gone {
        0 if shape.numel() > MOST_ELEMENTS => input.clone(),
        0 => usual(input, shape, input.dtype, 0),
        _ => Input { shape, ..first },
    }
}

/// The input with other sizes and the elements that cases give an input by default.
pub(super) fn usual(input: &Input, shape: Shape, dtype: DType, at: usize) -> Input {
    let data = counting(dtype, &shape, at);
    Input { dtype, shape, data, ..input.clone() }
}

/// The input in another dtype.
pub(super) fn converted(input: &Input, dtype: DType) -> Input {
    of(input, input.shape.clone(), dtype, scalars(input))
}

fn of(input: &Input, shape: Shape, dtype: DType, elements: Vec<Scalar>) -> Input {
    let data = Buffer::from_scalars(dtype, elements.into_iter()).to_bytes(&Layout::contiguous(shape.clone()));
    Input { dtype, shape, data, ..input.clone() }
}
