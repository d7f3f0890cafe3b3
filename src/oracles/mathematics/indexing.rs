//! Masks and indices: which elements of the operands each element of the result is made of, by PyTorch's pages and, for
//! `x[tensors]`, NumPy's on advanced indexing.

use super::trace::{Elements, Trace};
use super::view::{MOST, View, dimension, indexed, unravel};
use crate::ops::Op;
use crate::program::{Arg, Step, ValueRef};
use crate::tensor::{DType, Scalar};

/// An element of an argument of a step: the number of the argument, and that of the element.
pub(super) type Source = (usize, usize);

/// The elements that one of a result is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Made {
    /// Their sum.
    Sum(Vec<Source>),
    /// Any of them: which is written last is open.
    OneOf(Vec<Source>),
    /// What a function makes of all of them.
    Combined(Combination, Vec<Source>),
}

/// A function of any number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combination {
    /// The sum, which may begin with a zero of its own.
    Sum,
    Product,
    Mean,
    Greatest,
    Least,
}

/// A result made of elements of operands as they are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub sizes: Vec<i64>,
    pub elements: Vec<Made>,
}

impl Chosen {
    /// One element of the first operand each.
    pub fn of_first(sizes: Vec<i64>, places: Vec<usize>) -> Chosen {
        Chosen { sizes, elements: places.into_iter().map(|place| Made::Sum(vec![(0, place)])).collect() }
    }
}

/// Positions along a dimension.
fn positions(index: &Elements, size: i64) -> Option<Vec<i64>> {
    let position = |value: &Scalar| match value {
        Scalar::Int(at) => Some(if *at < 0 { at + size } else { *at }).filter(|at| (0..size).contains(at)),
        _ => None,
    };
    index.values.iter().map(position).collect()
}

/// What a step makes of its operands; `None` where it does something else, or that is not known.
pub(super) fn chosen(trace: Trace, at: usize, step: &Step, own: &[i64]) -> Option<Chosen> {
    let tensor = |number: usize| trace.operand(at, step, number);
    let dim = |number: usize| match step.args.get(number)? {
        Arg::Int(dim) => dimension(*dim, own.len()),
        _ => None,
    };
    match step.op {
        Op::MaskedFill | Op::MaskedSelect | Op::MaskedScatter => masked(trace, at, step, own, &tensor(1)?),
        Op::IndexTensor => {
            let Arg::Indices(indices) = step.args.get(1)? else { return None };
            let indexed = Indexed::of(trace, at, indices, own)?;
            let places = indexed.places();
            Some(Chosen::of_first(indexed.sizes, places))
        }
        Op::IndexPut => {
            let Arg::Indices(indices) = step.args.get(1)? else { return None };
            let indexed = Indexed::of(trace, at, indices, own)?;
            let values = View::of(trace.sizes(at, value_of(step, 2)?)?.as_slice()).expanded(&indexed.sizes)?;
            let adds = *step.args.get(3)? == Arg::Flag(true);
            let written = indexed.places().into_iter().zip(values.places()?);
            Some(put(own, written, 2, adds))
        }
        // NumPy, "Assigning values to indexed arrays": sizes of 1 in front of the value do not count.
        Op::SetItem => {
            let Arg::Index(items) = step.args.get(1)? else { return None };
            let part = indexed(View::of(own), items)?;
            let places = part.places()?;
            let values = match value_of(step, 2) {
                Some(value) => {
                    let sizes: Vec<i64> = trace.sizes(at, value)?.into_iter().skip_while(|size| *size == 1).collect();
                    View::of(&sizes).expanded(&part.sizes)?.places()?
                }
                None => vec![0; places.len()],
            };
            Some(put(own, places.into_iter().zip(values), 2, false))
        }
        Op::Gather => gathered(own, dim(1)?, &tensor(2)?),
        Op::TakeAlongDim => {
            let index = tensor(1)?;
            if *step.args.get(2)? == Arg::Nothing {
                let flat =
                    Elements { shape: crate::tensor::Shape::new(vec![index.values.len() as i64]).ok()?, ..index };
                return gathered(&[own.iter().product()], 0, &flat);
            }
            along(own, dim(2)?, &index)
        }
        Op::IndexSelect => {
            let (dim, index) = (dim(1)?, tensor(2)?);
            let size = own.get(dim).copied().unwrap_or(1);
            let positions = positions(&index, size)?;
            // The page asks for indices from 0 on.
            if own.is_empty() || index.values.iter().any(|value| matches!(value, Scalar::Int(at) if *at < 0)) {
                return None;
            }
            let mut sizes = own.to_vec();
            sizes[dim] = positions.len() as i64;
            let operand = View::of(own);
            let place = |number: usize| {
                let mut index = unravel(&sizes, number);
                index[dim] = positions[index[dim] as usize];
                operand.place(&index)
            };
            let places = (0..sizes.iter().product::<i64>() as usize).map(place).collect();
            Some(Chosen::of_first(sizes, places))
        }
        Op::Tril | Op::Triu => {
            let [.., _, _] = own else { return None };
            let Some(Arg::Int(diagonal)) = step.args.get(1) else { return None };
            let made = |place: usize| {
                let at = unravel(own, place);
                let [.., row, column] = at[..] else { return Made::Sum(Vec::new()) };
                let above = i128::from(column) - i128::from(row) - i128::from(*diagonal);
                let stays = if step.op == Op::Tril { above <= 0 } else { above >= 0 };
                Made::Sum(if stays { vec![(0, place)] } else { Vec::new() })
            };
            let count = View::of(own).count();
            (count <= MOST).then(|| Chosen { sizes: own.to_vec(), elements: (0..count).map(made).collect() })
        }
        Op::Repeat | Op::Tile => {
            let Some(Arg::Ints(counts)) = step.args.get(1) else { return None };
            // Whichever is shorter has ones in front.
            let rank = own.len().max(counts.len());
            let padded = |list: &[i64]| [vec![1; rank - list.len()], list.to_vec()].concat();
            let (own, counts) = (padded(own), padded(counts));
            let sizes: Vec<i64> =
                own.iter().zip(&counts).map(|(size, count)| size.checked_mul(*count)).collect::<Option<_>>()?;
            let count = sizes.iter().try_fold(1i64, |count, size| count.checked_mul(*size))?;
            if sizes.iter().any(|size| *size < 0) || count as usize > MOST {
                return None;
            }
            let operand = View::of(&own);
            let place = |number: usize| {
                let at = unravel(&sizes, number);
                operand.place(&at.iter().zip(&own).map(|(at, size)| at % size).collect::<Vec<_>>())
            };
            Some(Chosen::of_first(sizes.clone(), (0..count as usize).map(place).collect()))
        }
        Op::Put => {
            let index = tensor(1)?;
            let places = positions(&index, own.iter().product())?;
            let sources = trace.sizes(at, value_of(step, 2)?)?.iter().product::<i64>();
            let adds = *step.args.get(3)? == Arg::Flag(true);
            let written = places.into_iter().enumerate().map(|(from, to)| (to as usize, from)).collect::<Vec<_>>();
            (sources as usize == written.len()).then(|| put(own, written, 2, adds))
        }
        Op::IndexFill => {
            let whole = View::of(own);
            let (dim, index) = (dim(1)?, tensor(2)?);
            let filled = positions(&index, own.get(dim).copied().unwrap_or(1))?;
            let made = |place: usize| {
                let at = unravel(own, place).get(dim).copied().unwrap_or(0);
                Made::Sum(vec![if filled.contains(&at) { (3, 0) } else { (0, place) }])
            };
            Some(Chosen { sizes: own.to_vec(), elements: (0..whole.count()).map(made).collect() })
        }
        Op::IndexCopy | Op::IndexAdd => {
            let (dim, index) = (dim(1)?, tensor(2)?);
            let to = positions(&index, own.get(dim).copied().unwrap_or(1))?;
            if step.op == Op::IndexAdd && step.args.get(4) != Some(&Arg::Number(Scalar::Int(1))) {
                return None;
            }
            let operand = View::of(own);
            let source = trace.sizes(at, value_of(step, 3)?)?;
            // Releases before 2.1 accepted what the page rejects: a source of another shape than the slices.
            let fits = |(at, size): (usize, &i64)| *size == if at == dim { to.len() as i64 } else { own[at] };
            if source.len() != own.len() || own.is_empty() || !source.iter().enumerate().all(fits) {
                return None;
            }
            let from = View::of(&source);
            let written = (0..from.count()).map(|number| {
                let at = unravel(&source, number);
                let mut target = at.clone();
                target[dim] = to[at[dim] as usize];
                (operand.place(&target), number)
            });
            Some(put(own, written.collect::<Vec<_>>(), 3, step.op == Op::IndexAdd))
        }
        Op::ScatterAdd | Op::ScatterReduce => {
            let (dim, index) = (dim(1)?, tensor(2)?);
            let positions = positions(&index, own.get(dim).copied().unwrap_or(1))?;
            let sizes = index.shape.sizes();
            let (operand, source) = (View::of(own), View::of(&trace.sizes(at, value_of(step, 3)?)?));
            if sizes.len() != own.len() || source.sizes.len() != own.len() {
                return None;
            }
            let written = positions.iter().enumerate().map(|(number, position)| {
                let from = unravel(sizes, number);
                let mut to = from.clone();
                if let Some(to) = to.get_mut(dim) {
                    *to = *position;
                }
                (operand.place(&to), source.place(&from))
            });
            let added = put(own, written.collect::<Vec<_>>(), 3, true);
            if step.op == Op::ScatterAdd { Some(added) } else { combined(step, added) }
        }
        Op::Scatter => {
            let (dim, index) = (dim(1)?, tensor(2)?);
            let positions = positions(&index, own.get(dim).copied().unwrap_or(1))?;
            let sizes = index.shape.sizes();
            let operand = View::of(own);
            let source = match step.args.get(3)? {
                Arg::Tensor(value) => Some(View::of(&trace.sizes(at, *value)?)),
                Arg::Number(_) => None,
                _ => return None,
            };
            if sizes.len() != own.len() || source.as_ref().is_some_and(|source| source.sizes.len() != own.len()) {
                return None;
            }
            let written = positions.iter().enumerate().map(|(number, position)| {
                let from = unravel(sizes, number);
                let mut to = from.clone();
                if let Some(to) = to.get_mut(dim) {
                    *to = *position;
                }
                (operand.place(&to), source.as_ref().map_or(0, |source| source.place(&from)))
            });
            Some(put(own, written.collect::<Vec<_>>(), 3, false))
        }
        _ => None,
    }
}

/// `torch.Tensor.scatter_reduce_`: the function that is named, of the elements that meet at one place; the element that
/// was there counts unless it is left out.
fn combined(step: &Step, added: Chosen) -> Option<Chosen> {
    let [.., Arg::Text(name), Arg::Flag(included)] = &step.args[..] else { return None };
    let combination = match name.as_str() {
        "sum" => Combination::Sum,
        "prod" => Combination::Product,
        "mean" => Combination::Mean,
        "amax" => Combination::Greatest,
        "amin" => Combination::Least,
        _ => return None,
    };
    let made = |made: Made| match made {
        Made::Sum(mut sources) if sources.len() > 1 => {
            if !included {
                sources.remove(0);
            }
            match combination {
                Combination::Sum if *included => Made::Sum(sources),
                _ => Made::Combined(combination, sources),
            }
        }
        alone => alone,
    };
    Some(Chosen { elements: added.elements.into_iter().map(made).collect(), ..added })
}

fn value_of(step: &Step, number: usize) -> Option<ValueRef> {
    match step.args.get(number)? {
        Arg::Tensor(value) => Some(*value),
        _ => None,
    }
}

/// A tensor in which elements were replaced by those of another argument, or added to.
fn put(own: &[i64], written: impl IntoIterator<Item = (usize, usize)>, arg: usize, adds: bool) -> Chosen {
    let whole = View::of(own);
    let mut sources: Vec<Vec<Source>> = vec![Vec::new(); whole.count()];
    for (to, from) in written {
        sources[to].push((arg, from));
    }
    let made = |(place, mut sources): (usize, Vec<Source>)| {
        if adds || sources.is_empty() {
            sources.insert(0, (0, place));
            return Made::Sum(sources);
        }
        if let [source] = sources[..] { Made::Sum(vec![source]) } else { Made::OneOf(sources) }
    };
    Chosen { sizes: own.to_vec(), elements: sources.into_iter().enumerate().map(made).collect() }
}

fn masked(trace: Trace, at: usize, step: &Step, own: &[i64], mask: &Elements) -> Option<Chosen> {
    if mask.dtype != DType::Bool {
        return None;
    }
    let shape = crate::tensor::Shape::new(own.to_vec()).ok()?.broadcast(&mask.shape).ok()?;
    let sizes = shape.sizes().to_vec();
    let own_places = View::of(own).expanded(&sizes)?.places()?;
    let mask_places = View::of(mask.shape.sizes()).expanded(&sizes)?.places()?;
    let truths = mask_places.iter().map(|place| mask.values[*place] == Scalar::Bool(true));
    let both = own_places.into_iter().zip(truths);
    Some(match step.op {
        Op::MaskedSelect => {
            let places: Vec<usize> = both.filter(|(_, holds)| *holds).map(|(place, _)| place).collect();
            Chosen::of_first(vec![places.len() as i64], places)
        }
        Op::MaskedFill => {
            let made = |(place, holds): (usize, bool)| Made::Sum(vec![if holds { (2, 0) } else { (0, place) }]);
            Chosen { sizes, elements: both.map(made).collect() }
        }
        _ => {
            let count = trace.sizes(at, value_of(step, 2)?)?.iter().product::<i64>() as usize;
            let mut next = 0..count;
            let mut made = |(place, holds): (usize, bool)| {
                Some(Made::Sum(vec![if holds { (2, next.next()?) } else { (0, place) }]))
            };
            Chosen { sizes, elements: both.map(&mut made).collect::<Option<_>>()? }
        }
    })
}

/// `torch.gather`: `out[i][j] = input[index[i][j]][j]` for the first dimension, and so on.
fn gathered(own: &[i64], dim: usize, index: &Elements) -> Option<Chosen> {
    let sizes = index.shape.sizes();
    let positions = positions(index, own.get(dim).copied().unwrap_or(1))?;
    if sizes.len() != own.len() {
        return None;
    }
    let operand = View::of(own);
    let place = |(number, position): (usize, &i64)| {
        let mut at = unravel(sizes, number);
        if let Some(at) = at.get_mut(dim) {
            *at = *position;
        }
        operand.place(&at)
    };
    let places = positions.iter().enumerate().map(place).collect();
    Some(Chosen::of_first(sizes.to_vec(), places))
}

/// `torch.take_along_dim`: the same, of operands that broadcast along the other dimensions.
fn along(own: &[i64], dim: usize, index: &Elements) -> Option<Chosen> {
    let mut sizes = index.shape.sizes().to_vec();
    if sizes.len() != own.len() || own.is_empty() {
        return None;
    }
    for (at, size) in sizes.iter_mut().enumerate().filter(|(at, _)| *at != dim) {
        if *size == 1 {
            *size = own[at];
        }
    }
    let positions = positions(index, own[dim])?;
    let index_places = View::of(index.shape.sizes()).expanded(&sizes)?.places()?;
    let mut all = sizes.clone();
    all[dim] = own[dim];
    let operand = View::of(own).expanded(&all)?;
    let place = |(number, place): (usize, usize)| {
        let mut at = unravel(&sizes, number);
        at[dim] = positions[place];
        operand.place(&at)
    };
    let places = index_places.into_iter().enumerate().map(place).collect();
    Some(Chosen::of_first(sizes, places))
}

/// `x[tensors]` (NumPy, "Advanced indexing"): index tensors broadcast together. Their dimensions come where the first of
/// them is if all are neighbours, and first otherwise.
struct Indexed {
    sizes: Vec<i64>,
    operand: View,
    /// For each dimension of the operand the positions that broadcast to the shape of the indices, if it is indexed.
    positions: Vec<Option<Vec<i64>>>,
    /// The shape of the indices, and the dimension of the result that theirs begin at.
    shape: Vec<i64>,
    first: usize,
}

impl Indexed {
    fn of(trace: Trace, at: usize, indices: &[Option<ValueRef>], own: &[i64]) -> Option<Indexed> {
        let mut given: Vec<Option<(Vec<i64>, Vec<i64>)>> = Vec::new();
        for index in indices {
            let Some(index) = index else {
                given.push(None);
                continue;
            };
            let index = trace.before(at, *index)?;
            let dim = given.len();
            match index.dtype {
                // A mask stands for the positions where it is true, one list for each of its dimensions.
                DType::Bool if index.shape.rank() > 0 => {
                    let sizes = index.shape.sizes();
                    if own.get(dim..dim + sizes.len())? != sizes {
                        return None;
                    }
                    let truths = index.values.iter().enumerate().filter(|(_, value)| **value == Scalar::Bool(true));
                    let found: Vec<Vec<i64>> = truths.map(|(number, _)| unravel(sizes, number)).collect();
                    for axis in 0..sizes.len() {
                        let positions = found.iter().map(|at| at[axis]).collect();
                        given.push(Some((vec![found.len() as i64], positions)));
                    }
                }
                DType::Int64 | DType::Int32 => {
                    let positions = positions(&index, *own.get(dim)?)?;
                    given.push(Some((index.shape.sizes().to_vec(), positions)));
                }
                _ => return None,
            }
        }
        if given.len() > own.len() || given.iter().all(Option::is_none) {
            return None;
        }
        given.resize(own.len(), None);
        let mut shape = crate::tensor::Shape::scalar();
        for (sizes, _) in given.iter().flatten() {
            shape = shape.broadcast(&crate::tensor::Shape::new(sizes.clone()).ok()?).ok()?;
        }
        let shape = shape.sizes().to_vec();
        let indexed: Vec<usize> = (0..own.len()).filter(|dim| given[*dim].is_some()).collect();
        let together = indexed.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let first = if together { indexed[0] } else { 0 };
        let mut sizes: Vec<i64> = (0..own.len()).filter(|dim| given[*dim].is_none()).map(|dim| own[dim]).collect();
        sizes.splice(first..first, shape.iter().copied());
        let mut positions = Vec::new();
        for one in given {
            positions.push(match one {
                Some((sizes, values)) => {
                    let places = View::of(&sizes).expanded(&shape)?.places()?;
                    Some(places.into_iter().map(|place| values[place]).collect())
                }
                None => None,
            });
        }
        Some(Indexed { sizes, operand: View::of(own), positions, shape, first })
    }

    /// The element of the operand for each of the result.
    fn places(&self) -> Vec<usize> {
        let count = self.sizes.iter().product::<i64>() as usize;
        let whole = View::of(&self.shape);
        let place = |number: usize| {
            let mut rest = unravel(&self.sizes, number);
            let of_indices: Vec<i64> = rest.drain(self.first..self.first + self.shape.len()).collect();
            let at = whole.place(&of_indices);
            let mut rest = rest.into_iter();
            let index = self.positions.iter().map(|positions| match positions {
                Some(positions) => positions[at],
                None => rest.next().unwrap_or(0),
            });
            self.operand.place(&index.collect::<Vec<_>>())
        };
        (0..count).map(place).collect()
    }
}
