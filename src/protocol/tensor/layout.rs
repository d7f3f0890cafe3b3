//! The places of the elements of a tensor in its storage: sizes, strides, offset. All in elements, never in bytes.

use std::ops::Range;

use super::shape::Shape;

/// A strided view of a storage.
///
/// ```
/// use broadcheck_protocol::tensor::{Layout, Shape};
///
/// let column = Layout::contiguous(Shape::new(vec![3, 1]).unwrap());
/// let matrix = column.expand(&Shape::new(vec![3, 4]).unwrap()).unwrap();
/// assert_eq!(matrix.strides, [1, 0]);
/// assert!(matrix.has_zero_stride() && !matrix.is_contiguous());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The sizes.
    pub shape: Shape,
    /// Elements from one index to the next, for each dimension.
    pub strides: Vec<i64>,
    /// Elements before the first one.
    pub offset: i64,
}

impl Layout {
    /// Row-major, from the start of the storage. A zero size counts as 1, as in `c10::contiguous_strides`; strides that
    /// no memory could have wrap around.
    pub fn contiguous(shape: Shape) -> Layout {
        let mut strides = vec![1i64; shape.rank()];
        for dim in (1..shape.rank()).rev() {
            strides[dim - 1] = strides[dim].wrapping_mul(shape.sizes()[dim].max(1));
        }
        Layout { shape, strides, offset: 0 }
    }

    /// Returns whether the elements lie in row-major order without gaps; an empty tensor always does
    /// (`is_contiguous`).
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        self.shape.numel() == 0
            || self.shape.sizes().iter().zip(&self.strides).rev().all(|(&size, &stride)| {
                let fits = size == 1 || stride == expected;
                expected = expected.wrapping_mul(size);
                fits
            })
    }

    /// Returns whether the elements of an image lie with its channels innermost, without gaps
    /// (`is_channels_last_contiguous_2d`). Only tensors with four dimensions can be images.
    pub fn is_channels_last(&self) -> bool {
        let mut expected = 1;
        self.shape.rank() == 4
            && [1, 3, 2, 0].into_iter().all(|dim: usize| {
                let (size, stride) = (self.shape.sizes()[dim], self.strides[dim]);
                let fits = size == 1 || stride == expected;
                expected = expected.wrapping_mul(size);
                fits
            })
    }

    /// An image with its channels innermost, from the start of the storage (`get_channels_last_strides_2d`).
    pub fn channels_last(shape: Shape) -> Layout {
        let strides = match *shape.sizes() {
            [_, channels, height, width] => vec![height * width * channels, 1, width * channels, channels],
            _ => Layout::contiguous(shape.clone()).strides,
        };
        Layout { shape, strides, offset: 0 }
    }

    /// The bytes from the start of a storage to the last element, in elements of `item` bytes from `offset` on; 0 if there
    /// are no elements, and `None` if they cannot be counted (`at::detail::computeStorageNbytes`).
    pub fn extent(sizes: &[i64], strides: &[i64], offset: i64, item: usize) -> Option<i64> {
        if sizes.contains(&0) {
            return Some(0);
        }
        let reach = sizes.iter().zip(strides).try_fold(1u64, |reach, (&size, &stride)| {
            reach.checked_add((stride as u64).checked_mul((size as u64).wrapping_sub(1))?)
        })?;
        i64::try_from(reach.checked_add(offset as u64)?.checked_mul(item as u64)?).ok()
    }

    /// Returns whether the elements fill a stretch of the storage exactly once, in some order of the dimensions
    /// (`is_non_overlapping_and_dense`).
    pub fn is_dense(&self) -> bool {
        if self.is_contiguous() {
            return true;
        }
        let mut dims: Vec<(i64, i64)> = self
            .strides
            .iter()
            .copied()
            .zip(self.shape.sizes().iter().copied())
            .filter(|&(_, size)| size != 1)
            .collect();
        dims.sort_unstable();
        let mut expected = 1;
        dims.iter().all(|&(stride, size)| {
            let fits = stride == expected;
            expected = expected.wrapping_mul(size);
            fits
        })
    }

    /// Returns whether two indices may name the same element: a stride of 0 in a dimension longer than 1
    /// (`at::has_internal_overlap`, the part of it that is certain).
    pub fn has_zero_stride(&self) -> bool {
        self.shape.numel() > 0
            && self.shape.sizes().iter().zip(&self.strides).any(|(&size, &stride)| size > 1 && stride == 0)
    }

    /// The view of this one in shape `target`, with stride 0 in every dimension that grows. `None` unless it expands.
    pub fn expand(&self, target: &Shape) -> Option<Layout> {
        if !self.shape.expands_to(target) {
            return None;
        }
        let rank = target.rank();
        let missing = rank - self.shape.rank();
        let mut strides = vec![0; rank];
        if self.shape.rank() == 0 {
            return Some(Layout { shape: target.clone(), strides, offset: self.offset });
        }
        // From the inside out, because a new leading dimension takes the stride that a contiguous one would have
        // if its size is 1 (`inferExpandGeometry`).
        for dim in (0..rank).rev() {
            let wanted = target.sizes()[dim];
            strides[dim] = match dim.checked_sub(missing) {
                Some(own) if self.shape.sizes()[own] == wanted => self.strides[own],
                Some(_) => 0,
                None if wanted == 1 => strides[dim + 1].wrapping_mul(target.sizes()[dim + 1]),
                None => 0,
            };
        }
        Some(Layout { shape: target.clone(), strides, offset: self.offset })
    }

    /// The view of the same elements in another shape, if strides can say it (`computeStride_impl`).
    pub fn view(&self, target: &Shape) -> Option<Layout> {
        if self.shape.count() != target.count() {
            return None;
        }
        if self.shape.numel() == 0 {
            if self.shape == *target {
                return Some(self.clone());
            }
            return Some(Layout { offset: self.offset, ..Layout::contiguous(target.clone()) });
        }
        let mut strides = vec![0; target.rank()];
        let mut at = target.rank();
        let mut chunk_stride = *self.strides.last().unwrap_or(&1);
        let (mut chunk, mut viewed) = (1i64, 1i64);
        for dim in (0..self.shape.rank()).rev() {
            chunk *= self.shape.sizes()[dim];
            let ends = dim == 0
                || (self.shape.sizes()[dim - 1] != 1 && self.strides[dim - 1] != chunk.wrapping_mul(chunk_stride));
            if !ends {
                continue;
            }
            while at > 0 && (viewed < chunk || target.sizes()[at - 1] == 1) {
                at -= 1;
                strides[at] = i64::wrapping_mul(viewed, chunk_stride);
                viewed *= target.sizes()[at];
            }
            if viewed != chunk {
                return None;
            }
            if dim > 0 {
                chunk_stride = self.strides[dim - 1];
                (chunk, viewed) = (1, 1);
            }
        }
        if self.shape.rank() == 0 {
            strides.fill(1);
            at = 0;
        }
        (at == 0).then(|| Layout { shape: target.clone(), strides, offset: self.offset })
    }

    /// The stretch of the storage that the elements are, if they lie in row-major order without gaps.
    pub fn stretch(&self) -> Option<Range<usize>> {
        let start = self.offset as usize;
        (self.shape.numel() > 0 && self.is_contiguous()).then(|| start..start + self.shape.numel())
    }

    /// The storage position of every element, in row-major order of the indices.
    pub fn positions(&self) -> Positions<'_> {
        Positions { layout: self, index: vec![0; self.shape.rank()], position: self.offset, left: self.shape.numel() }
    }
}

/// See [`Layout::positions`].
pub struct Positions<'a> {
    layout: &'a Layout,
    index: Vec<i64>,
    position: i64,
    left: usize,
}

impl Iterator for Positions<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let current = self.position;
        for dim in (0..self.index.len()).rev() {
            let stride = self.layout.strides[dim];
            self.index[dim] += 1;
            self.position += stride;
            if self.index[dim] < self.layout.shape.sizes()[dim] {
                break;
            }
            self.position -= stride * self.index[dim];
            self.index[dim] = 0;
        }
        Some(current as usize)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Positions<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sizes: &[i64]) -> Shape {
        Shape::new(sizes.to_vec()).unwrap()
    }

    #[test]
    fn expansion_repeats_without_copying() {
        let row = Layout::contiguous(shape(&[3]));
        let expanded = row.expand(&shape(&[2, 3])).unwrap();
        assert_eq!(expanded.strides, [0, 1]);
        assert_eq!(expanded.positions().collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
        assert!(expanded.has_zero_stride());
        assert_eq!(row.expand(&shape(&[4])), None);
    }

    #[test]
    fn a_view_needs_compatible_strides() {
        let matrix = Layout::contiguous(shape(&[2, 3]));
        assert_eq!(matrix.view(&shape(&[3, 2])).unwrap().strides, [2, 1]);
        assert_eq!(matrix.view(&shape(&[1, 6, 1])).unwrap().strides, [6, 1, 1]);
        let transposed = Layout { shape: shape(&[3, 2]), strides: vec![1, 3], offset: 0 };
        assert_eq!(transposed.view(&shape(&[6])), None);
        assert!(!transposed.is_contiguous());
        assert_eq!(Layout::contiguous(Shape::scalar()).view(&shape(&[1, 1])).unwrap().strides, [1, 1]);
    }

    #[test]
    fn empty_tensors_have_contiguous_strides_of_ones() {
        assert_eq!(Layout::contiguous(shape(&[2, 0, 3])).strides, [3, 3, 1]);
        assert_eq!(Layout::contiguous(shape(&[2, 0, 3])).positions().count(), 0);
    }
}
