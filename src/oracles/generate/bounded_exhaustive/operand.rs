//! The operands of a small world: shapes, and how they lie in memory.

use crate::ops::Op;
use crate::program::Arg;
use crate::tensor::{IndexItem, Shape};

/// A tensor of which views make an operand.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Operand {
    /// The shape of the base that it begins with.
    pub base: Shape,
    /// The views, each with its arguments after the tensor.
    pub views: Vec<(Op, Vec<Arg>)>,
}

impl Operand {
    /// Returns whether it lies row by row in memory of its own.
    pub fn is_plain(&self) -> bool {
        self.views.is_empty()
    }
}

impl From<Vec<i64>> for Operand {
    fn from(sizes: Vec<i64>) -> Operand {
        Operand { base: shape(sizes), views: Vec::new() }
    }
}

/// Every shape of these sizes up to a rank, the short ones first.
pub(super) fn shapes(rank: usize, sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut shapes = vec![Vec::new()];
    let mut longest = shapes.clone();
    for _ in 0..rank {
        longest = longest
            .iter()
            .flat_map(|shape: &Vec<i64>| sizes.iter().map(move |size| [&shape[..], &[*size]].concat()))
            .collect();
        shapes.extend(longest.iter().cloned());
    }
    shapes
}

/// The ways in which a shape is made to lie in memory: row by row; with its dimensions reversed; with one dimension
/// expanded, cut out with a step of 2, or cut off from the one element before it; with all dimensions expanded; and, without
/// dimensions, as the second of two elements.
pub(super) fn layouts(sizes: Vec<i64>) -> Vec<Operand> {
    let with = |base: Vec<i64>, op: Op, args: Vec<Arg>| Operand { base: shape(base), views: vec![(op, args)] };
    let changed = |dim: usize, size: i64| {
        let mut base = sizes.clone();
        base[dim] = size;
        base
    };
    let rank = sizes.len();
    let mut all: Vec<Operand> = vec![sizes.clone().into()];
    if rank == 0 {
        all.push(with(vec![2], Op::Index, vec![Arg::Index(vec![IndexItem::At(1)])]));
    }
    if rank > 1 {
        let reversed: Vec<i64> = sizes.iter().rev().copied().collect();
        all.push(with(reversed, Op::Permute, vec![Arg::Ints((0..rank as i64).rev().collect())]));
    }
    for dim in 0..rank {
        let (at, size) = (dim as i64, sizes[dim]);
        if size != 1 {
            all.push(with(changed(dim, 1), Op::Expand, vec![Arg::Ints(sizes.clone())]));
        }
        if size != 0 {
            let whole = IndexItem::Slice { start: None, stop: None, step: 1 };
            let mut items = vec![whole; rank];
            items[dim] = IndexItem::Slice { start: None, stop: None, step: 2 };
            all.push(with(changed(dim, 2 * size), Op::Index, vec![Arg::Index(items)]));
        }
        all.push(with(changed(dim, size + 1), Op::Narrow, vec![Arg::Int(at), Arg::Int(1), Arg::Int(size)]));
    }
    if rank > 1 && sizes.iter().filter(|size| **size != 1).count() > 1 {
        all.push(with(vec![1; rank], Op::Expand, vec![Arg::Ints(sizes)]));
    }
    all
}

fn shape(sizes: Vec<i64>) -> Shape {
    Shape::new(sizes).expect("no size of a world is negative")
}
