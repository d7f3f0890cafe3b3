//! Shapes, and the rules by which they broadcast.
//!
//! The rules are those of "General semantics" in PyTorch's notes, as `infer_size_impl` (ATen/ExpandUtils.cpp) decides
//! them, and they are written once, here.

use serde::{Deserialize, Serialize};

use crate::error::Rejection;

/// The sizes of a tensor, outermost dimension first. No size is negative.
///
/// ```
/// use broadcheck_protocol::tensor::Shape;
///
/// let (a, b) = (Shape::new(vec![5, 1, 4, 1]).unwrap(), Shape::new(vec![3, 1, 1]).unwrap());
/// assert_eq!(a.broadcast(&b).unwrap().sizes(), [5, 3, 4, 1]);
///
/// let rejection = Shape::new(vec![2]).unwrap().broadcast(&Shape::new(vec![3]).unwrap()).unwrap_err();
/// assert!(rejection.to_string().starts_with("The size of tensor a (2) must match the size of tensor b (3)"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(Vec<i64>);

impl Shape {
    /// A shape with these sizes, or what is impossible about them.
    pub fn new(sizes: Vec<i64>) -> Result<Shape, ShapeError> {
        if let Some(dim) = sizes.iter().position(|&size| size < 0) {
            return Err(ShapeError::Negative { size: sizes[dim], dim });
        }
        if !countable(&sizes) {
            return Err(ShapeError::TooLarge);
        }
        Ok(Shape(sizes))
    }

    /// A shape of the sizes of another one, some of them or all, in any order. A 0 that now stands behind large sizes no
    /// longer helps, so that it is not certain that the elements can be counted.
    pub fn of_sizes(sizes: Vec<i64>) -> Shape {
        debug_assert!(sizes.iter().all(|&size| size >= 0), "{sizes:?}");
        Shape(sizes)
    }

    /// Returns whether the number of elements can be counted. Of a broadcast shape it is not certain.
    pub fn is_countable(&self) -> bool {
        countable(&self.0)
    }

    /// The shape with no dimensions: that of a single number.
    pub fn scalar() -> Shape {
        Shape(Vec::new())
    }

    /// The sizes, outermost first.
    pub fn sizes(&self) -> &[i64] {
        &self.0
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The number of elements; the greatest number where there are more than memory has addresses.
    pub fn numel(&self) -> usize {
        usize::try_from(self.count()).unwrap_or(usize::MAX)
    }

    /// The number of elements, on machines whose memory has fewer addresses, too; the greatest number where it cannot be
    /// counted.
    pub fn count(&self) -> i64 {
        if self.0.contains(&0) { 0 } else { self.0.iter().fold(1, |product, &size| i64::saturating_mul(product, size)) }
    }

    /// The shape that `self` and `other` broadcast to, or the innermost dimension in which they cannot.
    pub fn broadcast(&self, other: &Shape) -> Result<Shape, Rejection> {
        let rank = self.rank().max(other.rank());
        let mut sizes = vec![0; rank];
        for dim in (0..rank).rev() {
            sizes[dim] = match align(self.aligned(dim, rank), other.aligned(dim, rank)) {
                Alignment::Equal(size) | Alignment::Left(size) | Alignment::Right(size) => size,
                Alignment::Mismatch { a, b } => return Err(Rejection::SizeMismatch { a, b, dim }),
            };
        }
        Ok(Shape(sizes))
    }

    /// The size in dimension `dim` once the shape is padded with leading ones to `rank`; `None` where it was padded.
    pub fn aligned(&self, dim: usize, rank: usize) -> Option<i64> {
        (dim + self.rank()).checked_sub(rank).map(|own| self.0[own])
    }

    /// Returns whether a tensor of this shape expands to `target` without losing or changing a dimension
    /// (`at::is_expandable_to`).
    pub fn expands_to(&self, target: &Shape) -> bool {
        self.rank() <= target.rank()
            && (0..target.rank())
                .filter_map(|dim| Some((self.aligned(dim, target.rank())?, target.0[dim])))
                .all(|(own, wanted)| own == wanted || own == 1)
    }
}

/// Returns whether the product of the sizes fits, multiplied in their order as unsigned integers of 64 bits
/// (`TensorImpl::safe_compute_numel`): a 0 helps only the sizes after it.
pub fn countable(sizes: &[i64]) -> bool {
    let product = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size as u64));
    product.is_some_and(|product| i64::try_from(product).is_ok())
}

/// The result of aligning one dimension of two shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// Both have this size.
    Equal(i64),
    /// The left side decides; the right is 1 or missing.
    Left(i64),
    /// The right side decides; the left is 1 or missing.
    Right(i64),
    /// Neither is 1, and they differ.
    Mismatch {
        /// The size of the first.
        a: i64,
        /// The size of the second.
        b: i64,
    },
}

/// The broadcasting rule for one dimension: equal sizes stay, a 1 or a missing dimension gives way to the other side.
pub fn align(a: Option<i64>, b: Option<i64>) -> Alignment {
    match (a, b) {
        (Some(a), Some(b)) if a == b => Alignment::Equal(a),
        (Some(a), None | Some(1)) => Alignment::Left(a),
        (None | Some(1), Some(b)) => Alignment::Right(b),
        (Some(a), Some(b)) => Alignment::Mismatch { a, b },
        (None, None) => Alignment::Equal(1),
    }
}

/// The reason why a list of sizes is no shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// A size is negative.
    #[error("size {size} in dimension {dim} is negative")]
    Negative {
        /// The size.
        size: i64,
        /// The dimension.
        dim: usize,
    },
    /// The number of elements does not fit into 64 bits.
    #[error("the number of elements does not fit into 64 bits")]
    TooLarge,
}

/// Sizes as libtorch prints them: `[5, 3, 4, 1]`.
pub fn bracketed(sizes: &[i64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
    format!("[{}]", sizes.join(", "))
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&bracketed(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sizes: &[i64]) -> Shape {
        Shape::new(sizes.to_vec()).unwrap()
    }

    #[test]
    fn trailing_dimensions_line_up() {
        assert_eq!(shape(&[5, 1, 4, 1]).broadcast(&shape(&[3, 1, 1])), Ok(shape(&[5, 3, 4, 1])));
        assert_eq!(shape(&[1]).broadcast(&shape(&[3, 1, 7])), Ok(shape(&[3, 1, 7])));
        assert_eq!(Shape::scalar().broadcast(&shape(&[2, 2])), Ok(shape(&[2, 2])));
    }

    #[test]
    fn a_one_gives_way_to_zero() {
        assert_eq!(shape(&[1]).broadcast(&shape(&[0])), Ok(shape(&[0])));
        assert_eq!(shape(&[0]).broadcast(&shape(&[2, 2])), Err(Rejection::SizeMismatch { a: 0, b: 2, dim: 1 }));
    }

    #[test]
    fn the_innermost_mismatch_is_named() {
        assert_eq!(shape(&[2, 3]).broadcast(&shape(&[4, 5])), Err(Rejection::SizeMismatch { a: 3, b: 5, dim: 1 }));
    }

    #[test]
    fn impossible_sizes_are_rejected() {
        assert_eq!(Shape::new(vec![2, -1]), Err(ShapeError::Negative { size: -1, dim: 1 }));
        assert_eq!(Shape::new(vec![i64::MAX, 2]), Err(ShapeError::TooLarge));
        assert!(Shape::new(vec![i64::MAX, 1]).is_ok());
        assert!(Shape::new(vec![0, i64::MAX, i64::MAX]).is_ok());
        assert_eq!(Shape::new(vec![i64::MAX, i64::MAX, 0]), Err(ShapeError::TooLarge));
    }
}
