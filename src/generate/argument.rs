//! Arguments, each by the kind of its parameter.
//!
//! Nothing is known of an operation here but its signature. What a list of integers means is not part of that, so lists
//! are made of everything that one can mean: new sizes, dimensions, a split of the elements.

use arbitrary::{Result, Unstructured};

use crate::ops::{Form, Op, Param, ParamDefault, ParamKind};
use crate::program::{Arg, ShapeArg, ValueRef};
use crate::tensor::Scalar;

use super::draft::Draft;
use super::shape::{Palette, drop_leading, make_ones};
use super::{MAX_RANK, chance, text, value};

impl Draft<'_> {
    /// One argument for each parameter of `op`.
    pub(super) fn arguments(&self, u: &mut Unstructured, palette: &Palette, op: Op, form: Form) -> Result<Vec<Arg>> {
        let params = op.info().signature.params();
        let mut args: Vec<Arg> = Vec::with_capacity(params.len());
        for (at, param) in params.iter().enumerate() {
            args.push(match (param.kind, param.default) {
                (_, Some(value)) if !chance(u, 1, 2)? => default(value),
                // Depends on the tensors, which come after it.
                (ParamKind::Text, _) => Arg::Nothing,
                (ParamKind::Operand, _) if form == Form::InPlace && at == 0 => Arg::Tensor(self.tensor(u)?),
                _ => self.argument(u, palette, param, self.sizes_of(&args))?,
            });
        }
        for at in 0..params.len() {
            if params[at].kind == ParamKind::Text && args[at] == Arg::Nothing {
                let operands = args.iter().flat_map(tensors).map(|value| self.sizes(value)).collect::<Vec<_>>();
                args[at] = Arg::Text(text::equation(u, &operands)?);
            }
        }
        Ok(args)
    }

    fn argument(&self, u: &mut Unstructured, palette: &Palette, param: &Param, sizes: &[i64]) -> Result<Arg> {
        let rank = sizes.len();
        Ok(match param.kind {
            ParamKind::Tensor => Arg::Tensor(self.tensor(u)?),
            ParamKind::Operand if chance(u, 1, 5)? => Arg::Number(value::number(u)?),
            ParamKind::Operand => Arg::Tensor(self.tensor(u)?),
            ParamKind::Tensors => {
                let count = if chance(u, 1, 16)? { 0 } else { u.int_in_range(1..=3)? };
                Arg::Tensors((0..count).map(|_| self.tensor(u)).collect::<Result<_>>()?)
            }
            ParamKind::Shapes => {
                let count = u.int_in_range(0..=4)?;
                Arg::Shapes((0..count).map(|_| shape_argument(u, palette)).collect::<Result<_>>()?)
            }
            ParamKind::Number => Arg::Number(value::number(u)?),
            ParamKind::Int => Arg::Int(dimension(u, rank)?),
            ParamKind::Ints => Arg::Ints(self.integers(u, palette, sizes)?),
            ParamKind::Dims => Arg::Ints(dimensions(u, rank)?),
            ParamKind::Flag => Arg::Flag(u.arbitrary()?),
            ParamKind::Text => Arg::Text(String::new()),
            ParamKind::Index => Arg::Index(text::index(u, sizes)?),
        })
    }

    /// A tensor that is there; now and then one that a refused step should have made.
    pub(super) fn tensor(&self, u: &mut Unstructured) -> Result<ValueRef> {
        if !self.missing.is_empty() && chance(u, 1, 32)? {
            return u.choose(&self.missing).copied();
        }
        // The latest ones more often: longer chains reach further.
        let at = match self.known.len() {
            0 => return Err(arbitrary::Error::EmptyChoose),
            count if chance(u, 1, 3)? => count - 1,
            count => u.int_in_range(0..=count - 1)?,
        };
        Ok(self.known[at].at)
    }

    /// A list of integers for a tensor of these sizes.
    fn integers(&self, u: &mut Unstructured, palette: &Palette, sizes: &[i64]) -> Result<Vec<i64>> {
        let mut integers = sizes.to_vec();
        match u.int_in_range(0..=7u8)? {
            // An expansion.
            0 | 1 => {
                for size in &mut integers {
                    if *size == 1 {
                        *size = palette.size(u)?;
                    } else if chance(u, 1, 4)? {
                        *size = -1;
                    }
                }
                let leading = (0..u.int_in_range(0..=2)?).map(|_| palette.size(u)).collect::<Result<Vec<_>>>()?;
                integers.splice(0..0, leading);
            }
            // A reordering of the dimensions.
            2 => {
                integers = (0..sizes.len() as i64).collect();
                for at in 1..integers.len() {
                    integers.swap(at, u.int_in_range(0..=at)?);
                }
                for dim in &mut integers {
                    if chance(u, 1, 8)? {
                        *dim -= sizes.len() as i64;
                    }
                }
            }
            // The same elements split otherwise.
            3 => split(u, &mut integers)?,
            // What this is an expansion of.
            4 => {
                drop_leading(u, &mut integers)?;
                make_ones(u, &mut integers)?;
            }
            // The sizes of another tensor.
            5 => integers = self.sizes(self.tensor(u)?).to_vec(),
            6 => integers = palette.relative(u, sizes)?,
            _ => {
                let count = u.int_in_range(0..=MAX_RANK)?;
                integers = (0..count).map(|_| u.int_in_range(-2..=7)).collect::<Result<_>>()?;
            }
        }
        Ok(integers)
    }

    /// The sizes of the first tensor among the arguments so far.
    fn sizes_of(&self, args: &[Arg]) -> &[i64] {
        args.iter().flat_map(tensors).next().map_or(&[], |value| self.sizes(value))
    }

    fn sizes(&self, value: ValueRef) -> &[i64] {
        self.find(value).map_or(&[], |known| known.tensor.shape.sizes())
    }
}

/// The argument that a default stands for.
pub(super) fn default(default: ParamDefault) -> Arg {
    match default {
        ParamDefault::Nothing => Arg::Nothing,
        ParamDefault::One => Arg::Number(Scalar::Int(1)),
        ParamDefault::False => Arg::Flag(false),
    }
}

fn tensors(arg: &Arg) -> Vec<ValueRef> {
    match arg {
        Arg::Tensor(value) => vec![*value],
        Arg::Tensors(values) => values.clone(),
        _ => Vec::new(),
    }
}

fn shape_argument(u: &mut Unstructured, palette: &Palette) -> Result<ShapeArg> {
    let mut sizes = palette.shape(u)?.sizes().to_vec();
    if !sizes.is_empty() && chance(u, 1, 16)? {
        let dim = u.choose_index(sizes.len())?;
        sizes[dim] = u.int_in_range(-2..=-1)?;
    }
    Ok(match sizes[..] {
        [size] if chance(u, 1, 2)? => ShapeArg::Size(size),
        _ => ShapeArg::Sizes(sizes),
    })
}

/// A dimension of a tensor of this rank, from either end; now and then one too far.
fn dimension(u: &mut Unstructured, rank: usize) -> Result<i64> {
    let rank = rank as i64;
    let beyond = i64::from(chance(u, 1, 8)?);
    u.int_in_range(-rank - beyond..=(rank - 1).max(0) + beyond)
}

/// Some dimensions of a tensor of this rank, mostly different ones.
fn dimensions(u: &mut Unstructured, rank: usize) -> Result<Vec<i64>> {
    let mut dims = Vec::new();
    for dim in 0..rank as i64 {
        if chance(u, 1, 2)? {
            dims.push(if chance(u, 1, 3)? { dim - rank as i64 } else { dim });
        }
    }
    if chance(u, 1, 8)? {
        dims.push(dimension(u, rank)?);
    }
    Ok(dims)
}

/// Joins neighbours, puts ones in between, and leaves one size to be inferred.
fn split(u: &mut Unstructured, sizes: &mut Vec<i64>) -> Result<()> {
    let mut at = 0;
    while at + 1 < sizes.len() {
        if chance(u, 1, 3)? {
            sizes[at] *= sizes.remove(at + 1);
        } else {
            at += 1;
        }
    }
    if chance(u, 1, 3)? {
        let at = u.int_in_range(0..=sizes.len())?;
        sizes.insert(at, 1);
    }
    if !sizes.is_empty() && chance(u, 1, 3)? {
        let at = u.choose_index(sizes.len())?;
        sizes[at] = -1;
    }
    Ok(())
}
