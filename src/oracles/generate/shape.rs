//! Shapes that have something to do with each other, as far as broadcasting is concerned.

use arbitrary::{Result, Unstructured};

use crate::ops::Op;
use crate::tensor::Shape;

use super::{MAX_ELEMENTS, MAX_INPUT_ELEMENTS, MAX_LARGE_ELEMENTS, MAX_RANK, chance};

/// Sizes to draw from; the first is what no bytes mean. Few and small, so that sizes meet again.
const SIZES: &[i64] = &[2, 3, 1, 4, 0, 5, 3, 7, 8];

/// Sizes on both sides of the square root of 32,768, libtorch's parallel grain (`at::internal::GRAIN_SIZE`).
const AROUND_THE_GRAIN: &[i64] = &[181, 182, 180, 183];

/// Sizes on both sides of those that kernels of products work in.
const AROUND_BLOCKS: &[i64] = &[17, 16, 15, 31, 33, 32, 63, 64, 65];

/// Ranks to draw from: the usual ones more than once.
const RANKS: &[usize] = &[2, 1, 3, 0, 2, 4, 3, 5, 1, 6];

/// The few sizes of one program, and the shape that its shapes are relatives of.
#[derive(Debug)]
pub(super) struct Palette {
    sizes: Vec<i64>,
    base: Vec<i64>,
    /// The most elements of an input.
    most: usize,
    /// The most elements that a step may make.
    pub elements: usize,
}

impl Palette {
    /// Sizes for a program; of 256 programs `large` have large tensors.
    pub fn new(u: &mut Unstructured, large: u8) -> Result<Palette> {
        if large > 0 && u.int_in_range(0..=255u8)? > 255 - large {
            return Palette::large(u);
        }
        let mut sizes = vec![*u.choose(SIZES)?, *u.choose(SIZES)?, 1];
        let mut rank = *u.choose(RANKS)?;
        // Vector loops begin at some number of elements, and end before the last few.
        if chance(u, 1, 8)? {
            sizes[0] = u.int_in_range(1..=65)?;
            rank = rank.min(2);
        }
        let base = (0..rank).map(|_| u.choose(&sizes).copied()).collect::<Result<_>>()?;
        Ok(Palette { sizes, base, most: MAX_INPUT_ELEMENTS, elements: MAX_ELEMENTS })
    }

    /// Sizes for a program with as many elements as libtorch gives to several threads, or with matrices as large as
    /// its kernels take in one go.
    fn large(u: &mut Unstructured) -> Result<Palette> {
        let sizes = if u.arbitrary()? { AROUND_THE_GRAIN } else { AROUND_BLOCKS };
        let sizes = vec![*u.choose(sizes)?, *u.choose(sizes)?, 1];
        let base = sizes[..2].to_vec();
        Ok(Palette { sizes, base, most: MAX_LARGE_ELEMENTS, elements: MAX_LARGE_ELEMENTS })
    }

    /// A size of the program.
    pub fn size(&self, u: &mut Unstructured) -> Result<i64> {
        u.choose(&self.sizes).copied()
    }

    /// A shape for an input.
    pub fn shape(&self, u: &mut Unstructured) -> Result<Shape> {
        let base = self.base.clone();
        Ok(fitting(self.relative(u, &base)?, self.most))
    }

    /// A shape for an input, one of those that go together, or of no relation to them.
    pub fn operand(&self, u: &mut Unstructured, together: Option<&Vec<i64>>) -> Result<Shape> {
        match together {
            Some(sizes) => Ok(fitting(sizes.clone(), self.most)),
            None => self.shape(u),
        }
    }

    /// Sizes that broadcast with `of`, or nearly do.
    pub fn relative(&self, u: &mut Unstructured, of: &[i64]) -> Result<Vec<i64>> {
        let mut sizes = of.to_vec();
        match u.int_in_range(0..=12u8)? {
            0..=2 => {}
            3 => drop_leading(u, &mut sizes)?,
            4 => make_ones(u, &mut sizes)?,
            5 => {
                drop_leading(u, &mut sizes)?;
                make_ones(u, &mut sizes)?;
            }
            // One size is another: mostly a mismatch, sometimes a neighbour that broadcasts.
            6 if !sizes.is_empty() => {
                let dim = u.choose_index(sizes.len())?;
                sizes[dim] = if u.arbitrary()? { sizes[dim] + 1 } else { self.size(u)? };
            }
            7 => {
                let leading = (0..u.int_in_range(1..=2)?).map(|_| self.size(u)).collect::<Result<Vec<_>>>()?;
                sizes.splice(0..0, leading);
            }
            // A product's other operand has the last two sizes the other way round.
            8 if sizes.len() >= 2 => {
                let last = sizes.len() - 1;
                sizes.swap(last, last - 1);
            }
            // So has a vector, and a matrix or a batch of them with columns of its own.
            9 | 10 if !sizes.is_empty() => {
                let inner = sizes[sizes.len() - 1];
                let batch = if sizes.len() == 3 { sizes[..1].to_vec() } else { Vec::new() };
                let columns = if u.arbitrary()? { vec![self.size(u)?] } else { Vec::new() };
                sizes = if columns.is_empty() { vec![inner] } else { [batch, vec![inner], columns].concat() };
            }
            // Square matrices.
            11 if sizes.len() >= 2 => {
                let last = sizes.len() - 1;
                sizes[last] = sizes[last - 1];
            }
            _ => {
                let rank = *u.choose(RANKS)?;
                sizes = (0..rank).map(|_| self.size(u)).collect::<Result<_>>()?;
            }
        }
        Ok(sizes)
    }
}

/// Shapes that fit each other as the operands of a product and its like, in the order of the parameters; none for an
/// operation whose operands only broadcast.
pub(super) fn operands(u: &mut Unstructured, palette: &Palette, op: Op) -> Result<Vec<Vec<i64>>> {
    let [rows, inner, columns, batch] = [palette.size(u)?, palette.size(u)?, palette.size(u)?, palette.size(u)?];
    let with_batch = |u: &mut Unstructured, sizes: &[i64]| -> Result<Vec<i64>> {
        Ok(if u.arbitrary()? { [&[batch], sizes].concat() } else { sizes.to_vec() })
    };
    Ok(match op {
        Op::Dot => vec![vec![inner]; 2],
        Op::Mv => vec![vec![rows, inner], vec![inner]],
        Op::Mm => vec![vec![rows, inner], vec![inner, columns]],
        Op::Bmm => vec![vec![batch, rows, inner], vec![batch, inner, columns]],
        Op::Addmm | Op::AddmmActivation => vec![vec![rows, columns], vec![rows, inner], vec![inner, columns]],
        Op::Addmv => vec![vec![rows], vec![rows, inner], vec![inner]],
        Op::Addr => vec![vec![rows, columns], vec![rows], vec![columns]],
        Op::Baddbmm | Op::Addbmm => {
            let summand = with_batch(u, &[rows, columns])?;
            vec![summand, vec![batch, rows, inner], vec![batch, inner, columns]]
        }
        Op::LinalgSolve | Op::LinalgSolveTriangular => {
            let matrix = with_batch(u, &[rows, rows])?;
            vec![matrix, with_batch(u, &[rows, columns])?]
        }
        Op::CholeskySolve => {
            let right = with_batch(u, &[rows, columns])?;
            vec![right, with_batch(u, &[rows, rows])?]
        }
        Op::LinalgLuSolve => {
            let matrix = with_batch(u, &[rows, rows])?;
            let pivots = matrix[..matrix.len() - 1].to_vec();
            let sides = if chance(u, 1, 3)? { [columns, rows] } else { [rows, columns] };
            vec![matrix, pivots, with_batch(u, &sides)?]
        }
        Op::Quantile | Op::Nanquantile => {
            let fractions = if u.arbitrary()? { vec![] } else { vec![columns] };
            vec![with_batch(u, &[rows, inner])?, fractions]
        }
        Op::ScaledDotProductAttention => attention(u, palette, [rows, inner, columns, batch])?,
        Op::Bilinear => {
            let outputs = palette.size(u)?;
            let leading = u.choose(&[vec![], vec![rows], vec![batch, rows]])?.clone();
            let inputs = [inner, columns].map(|features| [&leading[..], &[features]].concat());
            // A bias of more dimensions begins with the size that is checked, and broadcasts with the others.
            let mut bias = vec![outputs];
            if chance(u, 1, 4)? {
                let mut broadcast = [&leading[..], &[outputs]].concat();
                make_ones(u, &mut broadcast)?;
                bias.extend(broadcast);
            }
            vec![inputs[0].clone(), inputs[1].clone(), vec![outputs, inner, columns], bias]
        }
        // The shape has a place among the parameters, too.
        Op::LayerNorm => {
            let normalized = u.choose(&[vec![inner], vec![columns, inner]])?.clone();
            let leading = u.choose(&[vec![rows], vec![], vec![batch, rows]])?.clone();
            vec![[&leading[..], &normalized].concat(), vec![], normalized.clone(), normalized]
        }
        Op::LinalgMatrixRank | Op::LinalgPinv => {
            let columns = if u.arbitrary()? { rows } else { columns };
            let matrices = with_batch(u, &[rows, columns])?;
            let tolerance = |u: &mut Unstructured| -> Result<Vec<i64>> {
                Ok(u.choose(&[vec![], vec![batch], vec![inner, batch], vec![inner, 1], vec![1]])?.clone())
            };
            vec![matrices, tolerance(u)?, tolerance(u)?]
        }
        Op::Trapezoid | Op::CumulativeTrapezoid if u.arbitrary()? => vec![vec![rows, inner], vec![inner]],
        Op::Trapezoid | Op::CumulativeTrapezoid => vec![vec![rows, inner], vec![1, inner]],
        Op::LinalgCross | Op::Cross => {
            let vectors = with_batch(u, &[rows, 3])?;
            vec![vectors.clone(), vectors]
        }
        Op::Cdist => {
            let first = with_batch(u, &[rows, inner])?;
            vec![first, with_batch(u, &[columns, inner])?]
        }
        // The dimension has a place among the parameters, too.
        Op::Gather | Op::IndexSelect if u.arbitrary()? => vec![vec![rows, inner], vec![], vec![columns]],
        // A source of another size now and then.
        Op::IndexAdd | Op::IndexCopy if chance(u, 1, 4)? => {
            vec![vec![rows, inner], vec![], vec![columns], vec![columns, inner]]
        }
        Op::IndexAdd | Op::IndexCopy if u.arbitrary()? => vec![vec![rows], vec![], vec![columns], vec![columns]],
        Op::IndexAdd | Op::IndexCopy => vec![vec![rows, inner], vec![], vec![columns], vec![rows, columns]],
        Op::Put => vec![with_batch(u, &[rows, inner])?, vec![columns], vec![columns]],
        Op::Searchsorted if u.arbitrary()? => vec![vec![rows, inner], vec![rows, columns]],
        Op::Searchsorted => vec![vec![inner], vec![rows, columns]],
        Op::Bucketize => vec![vec![rows, columns], vec![inner]],
        Op::Meshgrid | Op::CartesianProd => vec![vec![rows], vec![columns], vec![inner]],
        Op::IndexFill => vec![with_batch(u, &[rows, inner])?, vec![], vec![columns]],
        Op::Gather | Op::IndexSelect | Op::Scatter | Op::ScatterAdd | Op::ScatterReduce => {
            vec![vec![rows, inner], vec![], vec![rows, inner], vec![rows, inner]]
        }
        // Nothing to take from, now and then.
        Op::TakeAlongDim if chance(u, 1, 8)? => vec![vec![rows, 0], vec![rows, inner]],
        Op::TakeAlongDim => vec![vec![rows, inner], vec![rows, inner]],
        Op::MaskedScatter => vec![vec![rows, inner], vec![rows, inner], vec![rows, inner]],
        Op::BinaryCrossEntropy | Op::BinaryCrossEntropyBackward if chance(u, 3, 4)? => {
            vec![with_batch(u, &[rows, inner])?; 3]
        }
        Op::MarginRankingLoss | Op::CosineEmbeddingLoss => vec![vec![rows, inner], vec![rows, inner], vec![rows]],
        _ => Vec::new(),
    })
}

/// Queries, keys, values and a mask: mostly in two batches, which one step of libtorch is for.
fn attention(u: &mut Unstructured, palette: &Palette, sizes: [i64; 4]) -> Result<Vec<Vec<i64>>> {
    let [queries, inner, keys, batch] = sizes;
    let heads = if u.arbitrary()? { vec![batch, palette.size(u)?] } else { vec![batch] };
    let heads = if chance(u, 1, 4)? { Vec::new() } else { heads };
    let outer = if chance(u, 1, 4)? { palette.size(u)? } else { inner };
    let with_heads = |u: &mut Unstructured, matrix: [i64; 2]| -> Result<Vec<i64>> {
        let mut own = heads.clone();
        match u.int_in_range(0..=7u8)? {
            0 => drop_leading(u, &mut own)?,
            1 => make_ones(u, &mut own)?,
            _ => {}
        }
        Ok([&own[..], &matrix].concat())
    };
    let operands = vec![with_heads(u, [queries, inner])?, with_heads(u, [keys, inner])?, with_heads(u, [keys, outer])?];
    let mut mask = [&heads[..], &[queries, keys]].concat();
    drop_leading(u, &mut mask)?;
    if chance(u, 1, 4)? {
        make_ones(u, &mut mask)?;
    }
    Ok([operands, vec![mask]].concat())
}

/// Returns whether [`operands`] has shapes for an operation.
pub(super) fn takes_some(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Dot | Mv
            | Mm
            | Bmm
            | Addmm
            | AddmmActivation
            | Addmv
            | Addr
            | Baddbmm
            | Addbmm
            | LinalgSolve
            | LinalgSolveTriangular
            | CholeskySolve
            | LinalgLuSolve
            | Quantile
            | Nanquantile
            | Bilinear
            | LayerNorm
            | ScaledDotProductAttention
            | LinalgMatrixRank
            | LinalgPinv
            | LinalgCross
            | Cross
            | Trapezoid
            | CumulativeTrapezoid
            | Cdist
            | Gather
            | IndexSelect
            | Scatter
            | ScatterAdd
            | ScatterReduce
            | Put
            | Searchsorted
            | Bucketize
            | Meshgrid
            | CartesianProd
            | IndexAdd
            | IndexCopy
            | IndexFill
            | TakeAlongDim
            | MaskedScatter
            | MarginRankingLoss
            | BinaryCrossEntropy
            | BinaryCrossEntropyBackward
            | CosineEmbeddingLoss
    )
}

/// Takes a few of the first sizes away.
pub(super) fn drop_leading(u: &mut Unstructured, sizes: &mut Vec<i64>) -> Result<()> {
    let count = u.int_in_range(0..=sizes.len())?;
    sizes.drain(..count);
    Ok(())
}

/// Makes any of the sizes 1.
pub(super) fn make_ones(u: &mut Unstructured, sizes: &mut [i64]) -> Result<()> {
    for size in sizes {
        if u.arbitrary()? {
            *size = 1;
        }
    }
    Ok(())
}

/// The shape with these sizes, or the nearest that is within the limits: leading dimensions give way.
pub(super) fn fitting(mut sizes: Vec<i64>, elements: usize) -> Shape {
    sizes.drain(..sizes.len().saturating_sub(MAX_RANK));
    for dim in 0..sizes.len() {
        if sizes.iter().product::<i64>() <= elements as i64 {
            break;
        }
        sizes[dim] = 1;
    }
    Shape::new(sizes).expect("sizes of the palette, none negative, their product small")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_programs_are_on_both_sides_of_the_grain() {
        let sizes: Vec<i64> =
            AROUND_THE_GRAIN.iter().flat_map(|a| AROUND_THE_GRAIN.iter().map(move |b| a * b)).collect();
        assert!(sizes.iter().any(|&size| size < 32768) && sizes.iter().any(|&size| size > 32768));
        assert!(sizes.iter().all(|&size| size as usize <= MAX_LARGE_ELEMENTS));
    }

    #[test]
    fn the_limits_hold() {
        let shape = fitting(vec![7; 9], MAX_INPUT_ELEMENTS);
        assert_eq!(shape.sizes(), [1, 1, 1, 1, 7, 7]);
        assert_eq!(fitting(vec![3, 0, 3], 1).sizes(), [3, 0, 3]);
    }
}
