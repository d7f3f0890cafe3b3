//! Views: which element of the operand each element of the result stands for, by PyTorch's pages on views and NumPy's on
//! basic indexing.

use super::trace::Trace;
use crate::ops::Op;
use crate::program::{Arg, Step};
use crate::tensor::IndexItem;

/// The most elements of a view that are looked at one by one.
pub(super) const MOST: usize = 1 << 20;

/// Steps through the elements of an operand, which are numbered row-major.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    pub sizes: Vec<i64>,
    strides: Vec<i64>,
    offset: i64,
}

impl View {
    /// All elements of a shape, in order.
    pub fn of(sizes: &[i64]) -> View {
        let mut strides = vec![1; sizes.len()];
        for dim in (1..sizes.len()).rev() {
            strides[dim - 1] = strides[dim] * sizes[dim].max(1);
        }
        View { sizes: sizes.to_vec(), strides, offset: 0 }
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.sizes.iter().product::<i64>() as usize
    }

    /// The element of the operand at an index of the view.
    pub fn place(&self, index: &[i64]) -> usize {
        let steps = self.strides.iter().zip(index).map(|(stride, at)| stride * at);
        (self.offset + steps.sum::<i64>()) as usize
    }

    /// The elements of the operand, one for each of the view; `None` for more than are judged one by one.
    pub fn places(&self) -> Option<Vec<usize>> {
        let counted = self.sizes.iter().try_fold(1i64, |count, size| count.checked_mul(*size));
        let count = counted.and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= MOST)?;
        Some((0..count).map(|number| self.place(&unravel(&self.sizes, number))).collect())
    }

    /// The view that broadcasts to sizes; `None` where it does not.
    pub fn expanded(self, sizes: &[i64]) -> Option<View> {
        let missing = sizes.len().checked_sub(self.sizes.len())?;
        let mut strides = vec![0; missing];
        for (dim, (own, stride)) in self.sizes.iter().zip(&self.strides).enumerate() {
            let wanted = sizes[missing + dim];
            strides.push(if *own == wanted { *stride } else { 0 });
            if *own != wanted && *own != 1 {
                return None;
            }
        }
        Some(View { sizes: sizes.to_vec(), strides, offset: self.offset })
    }

    /// The view with its dimensions in another order.
    fn permuted(&self, order: &[usize]) -> View {
        let [sizes, strides] = [&self.sizes, &self.strides].map(|list| order.iter().map(|dim| list[*dim]).collect());
        View { sizes, strides, offset: self.offset }
    }

    /// The view with the dimensions at two places swapped.
    fn swapped(&self, one: usize, other: usize) -> View {
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        order.swap(one, other);
        self.permuted(&order)
    }

    fn insert(&mut self, dim: usize) {
        self.sizes.insert(dim, 1);
        self.strides.insert(dim, 0);
    }

    fn remove(&mut self, dim: usize) {
        self.sizes.remove(dim);
        self.strides.remove(dim);
    }

    /// The view of a part of a dimension.
    fn slice(&mut self, dim: usize, start: i64, count: i64, step: i64) {
        self.offset += start * self.strides[dim];
        self.strides[dim] *= step;
        self.sizes[dim] = count;
    }

    /// The view of one index of a dimension, which is dropped. `None` if there is no such index.
    fn select(&mut self, dim: usize, index: i64) -> Option<()> {
        let size = self.sizes[dim];
        let index = if index < 0 { index + size } else { index };
        (0..size).contains(&index).then(|| {
            self.offset += index * self.strides[dim];
            self.remove(dim);
        })
    }
}

/// The index of the element with a number, row-major.
pub(super) fn unravel(sizes: &[i64], number: usize) -> Vec<i64> {
    let mut rest = number as i64;
    let mut index = vec![0; sizes.len()];
    for (at, size) in index.iter_mut().zip(sizes).rev() {
        *at = rest % (*size).max(1);
        rest /= (*size).max(1);
    }
    index
}

/// A dimension, counted from the end if negative.
pub(super) fn dimension(dim: i64, rank: usize) -> Option<usize> {
    let rank = rank.max(1) as i64;
    usize::try_from(if dim < 0 { dim + rank } else { dim }).ok().filter(|dim| (*dim as i64) < rank)
}

/// The view that a step makes of its first operand, whose sizes are given; `None` for what is not a view, or not known.
pub(super) fn view(trace: Trace, at: usize, step: &Step, own: &[i64]) -> Option<View> {
    let whole = View::of(own);
    let rank = own.len();
    let int = |number: usize| match step.args.get(number)? {
        Arg::Int(value) => Some(*value),
        _ => None,
    };
    let dim = |number: usize| dimension(int(number)?, rank);
    let ints = |number: usize| match step.args.get(number)? {
        Arg::Ints(values) => Some(values.clone()),
        _ => None,
    };
    let other = || match step.args.get(1)? {
        Arg::Tensor(value) => trace.sizes(at, *value),
        _ => None,
    };
    let reshaped = |sizes: Vec<i64>| {
        let sizes = inferred(&sizes, whole.count())?;
        (sizes.iter().product::<i64>() as usize == whole.count()).then(|| View::of(&sizes))
    };
    Some(match step.op {
        Op::Clone | Op::Contiguous | Op::Detach => whole,
        Op::Expand | Op::BroadcastTo | Op::ExpandCopy => {
            let sizes = ints(1)?;
            let missing = sizes.len().checked_sub(rank)?;
            let kept = |(at, size): (usize, &i64)| if *size == -1 && at >= missing { own[at - missing] } else { *size };
            let sizes: Vec<i64> = sizes.iter().enumerate().map(kept).collect();
            whole.expanded(&sizes)?
        }
        Op::ExpandAs => whole.expanded(&other()?)?,
        Op::View | Op::Reshape => reshaped(ints(1)?)?,
        Op::ViewAs | Op::ReshapeAs => reshaped(other()?)?,
        Op::Flatten if rank == 0 => reshaped(vec![1])?,
        Op::Flatten => {
            let (start, end) = (dim(1)?, dim(2)?);
            let merged = own.get(start..=end)?.iter().product();
            reshaped([&own[..start], &[merged], &own[end + 1..]].concat())?
        }
        Op::Unflatten => {
            let dim = dim(1)?;
            let sizes = inferred(&ints(2)?, *own.get(dim)? as usize)?;
            reshaped([&own[..dim], &sizes, &own[dim + 1..]].concat())?
        }
        Op::Unsqueeze => {
            let mut view = whole;
            view.insert(dimension(int(1)?, rank + 1)?);
            view
        }
        Op::Squeeze => {
            let dims = match step.args.get(1)? {
                Arg::Nothing => (0..rank).collect(),
                Arg::Int(dim) => vec![dimension(*dim, rank)?],
                Arg::Ints(dims) => dims.iter().map(|dim| dimension(*dim, rank)).collect::<Option<_>>()?,
                _ => return None,
            };
            let mut view = whole;
            for dim in (0..rank).rev().filter(|dim| dims.contains(dim) && own[*dim] == 1) {
                view.remove(dim);
            }
            view
        }
        Op::Transpose | Op::Swapaxes | Op::Swapdims if rank == 0 => whole,
        Op::Transpose | Op::Swapaxes | Op::Swapdims => whole.swapped(dim(1)?, dim(2)?),
        Op::T if rank == 2 => whole.swapped(0, 1),
        Op::T if rank < 2 => whole,
        Op::Permute => {
            let order: Vec<usize> = ints(1)?.into_iter().map(|at| dimension(at, rank)).collect::<Option<_>>()?;
            if order.len() != rank {
                return None;
            }
            whole.permuted(&order)
        }
        Op::Movedim | Op::Moveaxis if rank == 0 => whole,
        Op::Movedim | Op::Moveaxis => {
            let (source, destination) = (dim(1)?, dim(2)?);
            let mut order: Vec<usize> = (0..rank).filter(|dim| *dim != source).collect();
            order.insert(destination, source);
            whole.permuted(&order)
        }
        Op::Select => {
            let mut view = whole;
            view.select(dim(1).filter(|_| rank > 0)?, int(2)?)?;
            view
        }
        Op::Narrow => {
            let (dim, start, count) = (dim(1).filter(|_| rank > 0)?, int(2)?, int(3)?);
            let start = if start < 0 { start + own[dim] } else { start };
            if start < 0 || count < 0 || start + count > own[dim] {
                return None;
            }
            let mut view = whole;
            view.slice(dim, start, count, 1);
            view
        }
        // The elements of an input that nothing writes to lie in order.
        Op::AsStrided => {
            let Some(Arg::Tensor(own)) = step.args.first() else { return None };
            if own.value >= trace.program.inputs.len() || trace.is_written(at, *own) {
                return None;
            }
            let offset = if *step.args.get(3)? == Arg::Nothing { 0 } else { int(3)? };
            let view = View { sizes: ints(1)?, strides: ints(2)?, offset };
            let reach = view.sizes.iter().zip(&view.strides).map(|(size, stride)| (size - 1).max(0) * stride);
            let is_within = view.strides.len() == view.sizes.len()
                && view.strides.iter().all(|stride| *stride >= 0)
                && offset >= 0
                && offset + reach.sum::<i64>() < whole.count() as i64;
            return is_within.then_some(view);
        }
        Op::Index => match step.args.get(1)? {
            Arg::Index(items) => indexed(whole, items)?,
            _ => return None,
        },
        _ => return None,
    })
}

/// Sizes of which one may be -1: what is left for it.
fn inferred(sizes: &[i64], count: usize) -> Option<Vec<i64>> {
    let Some(at) = sizes.iter().position(|size| *size == -1) else { return Some(sizes.to_vec()) };
    let others: i64 = sizes.iter().enumerate().filter(|(dim, _)| *dim != at).map(|(_, size)| size).product();
    if others <= 0 || count as i64 % others != 0 {
        return None;
    }
    let mut sizes = sizes.to_vec();
    sizes[at] = count as i64 / others;
    Some(sizes)
}

/// Basic indexing (NumPy, "Indexing on ndarrays"): integers, slices, `None` and one ellipsis.
pub(super) fn indexed(mut view: View, items: &[IndexItem]) -> Option<View> {
    let takes = |item: &&IndexItem| matches!(item, IndexItem::At(_) | IndexItem::Slice { .. });
    let rest = view.sizes.len().checked_sub(items.iter().filter(takes).count())?;
    let mut dim = 0;
    for item in items {
        match item {
            IndexItem::None => {
                view.insert(dim);
                dim += 1;
            }
            IndexItem::Ellipsis => dim += rest,
            IndexItem::At(index) => view.select(dim, *index)?,
            IndexItem::Slice { start, stop, step } => {
                let size = view.sizes[dim];
                let within = |bound: i64| (if bound < 0 { bound.saturating_add(size) } else { bound }).clamp(0, size);
                let (start, stop) = (start.map_or(0, within), stop.map_or(size, within));
                if *step <= 0 {
                    return None;
                }
                let count = (stop - start).max(0).saturating_add(step - 1) / step;
                view.slice(dim, start.min(size), count, *step);
                dim += 1;
            }
        }
    }
    Some(view)
}
