//! Arguments, each by the kind of its parameter.
//!
//! Nothing is known of an operation here but its arguments. What a list of integers means is not part of that, so lists
//! are made of everything that one can mean: new sizes, dimensions, a split of the elements.

use arbitrary::{Result, Unstructured};

use crate::ops::{Form, Op, Param, ParamKind, REDUCTIONS};
use crate::program::{Arg, ShapeArg, ValueRef};
use crate::tensor::{DType, Scalar, ScalarType, Shape};

use super::shape::{Palette, drop_leading, make_ones};
use super::{MAX_RANK, chance, text, value};
use crate::generate::builder::ProgramBuilder;
use crate::relaxations::TensorState;

/// Sizes that only a tensor without memory behind it can have, and what brings them down to nothing.
const HUGE: &[i64] = &[1 << 62, 1 << 40, 0, 1 << 55, 1];

impl ProgramBuilder<'_> {
    /// One argument for each parameter of `op`.
    pub(super) fn arguments(&self, u: &mut Unstructured, palette: &Palette, op: Op, form: Form) -> Result<Vec<Arg>> {
        let params = op.info().arguments;
        let mut args: Vec<Arg> = Vec::with_capacity(params.len());
        let together = self.theme == Some(op) && chance(u, 3, 4)?;
        for (at, param) in params.iter().enumerate() {
            args.push(match (param.kind, param.default) {
                // What is dropped is drawn by chance.
                (_, Some(value)) if param.name == "dropout_p" => Arg::from(value),
                (_, Some(value)) if !chance(u, 1, 2)? => Arg::from(value),
                (ParamKind::Text, None) if param.name == "reduce" => Arg::Text((*u.choose(COMBINED)?).to_owned()),
                // Depends on the tensors, which come after it.
                (ParamKind::Text, None) => Arg::Nothing,
                // The inputs were made for it.
                (ParamKind::Tensor, default)
                    if together
                        && (default.is_none()
                            || param.name == "attn_mask"
                            || matches!(op, Op::Bilinear | Op::LayerNorm)
                            || op.decomposes())
                        && at < self.program.inputs.len()
                        && self.tracker.find(ValueRef { value: at, part: None }).is_some() =>
                {
                    Arg::Tensor(ValueRef { value: at, part: None })
                }
                (ParamKind::Tensor, _) if !ranks(op).is_empty() => Arg::Tensor(self.operand(u, op, &args)?),
                (ParamKind::Operand, _) if form == Form::InPlace && at == 0 => Arg::Tensor(self.tensor(u)?),
                _ => match self.particular(u, param, self.sizes_of(&args), &args)? {
                    Some(arg) => arg,
                    None => self.argument(u, palette, param, args.iter().flat_map(tensors).next())?,
                },
            });
        }
        if !together {
            self.summand(u, op, &mut args)?;
        }
        // Two lists of dimensions go together: mostly as long as each other.
        if let Some(at) = params.iter().position(|param| param.name == "dims_other")
            && !chance(u, 1, 8)?
            && let (Arg::Tensor(second), Arg::Ints(first)) = (&args[1], &args[at - 1])
        {
            let (rank, count) = (self.sizes(*second).len(), first.len());
            args[at] = Arg::Ints((0..count).map(|_| dimension(u, rank)).collect::<Result<_>>()?);
        }
        for at in 0..params.len() {
            if params[at].kind == ParamKind::Text && args[at] == Arg::Nothing && params[at].default.is_none() {
                let operands = args.iter().flat_map(tensors).map(|value| self.sizes(value)).collect::<Vec<_>>();
                args[at] = Arg::Text(text::equation(u, &operands)?);
            }
        }
        Ok(args)
    }

    /// An argument whose name tells what it stands for, mostly one that fits those before it.
    fn particular(&self, u: &mut Unstructured, param: &Param, sizes: &[i64], before: &[Arg]) -> Result<Option<Arg>> {
        let dim = before.iter().find_map(|arg| if let Arg::Int(dim) = arg { Some(*dim) } else { None });
        let dim = dim.map(|dim| dim.rem_euclid(sizes.len().max(1) as i64) as usize);
        let size = dim.and_then(|dim| sizes.get(dim)).copied().unwrap_or(1);
        Ok(match (param.name, param.kind) {
            _ if chance(u, 1, 8)? => None,
            ("k", ParamKind::Int) => {
                let size = sizes.iter().max().copied().unwrap_or(1);
                Some(Arg::Int(u.int_in_range(0..=size.clamp(0, 64) + 1)?))
            }
            ("index", ParamKind::Int) => Some(Arg::Int(u.int_in_range(-size..=(size - 1).max(0))?)),
            ("start" | "length", ParamKind::Int) => Some(Arg::Int(u.int_in_range(-1..=size)?)),
            ("sizes", ParamKind::Ints) => {
                let mut split = if size % 2 == 0 && chance(u, 1, 2)? { vec![2, size / 2] } else { vec![size] };
                split.insert(u.int_in_range(0..=split.len())?, 1);
                if chance(u, 1, 3)? {
                    let at = u.choose_index(split.len())?;
                    split[at] = -1;
                }
                Some(Arg::Ints(split))
            }
            ("normalized_shape", ParamKind::Ints) => {
                // That of the weight, if there is one that fits.
                let of_weight = self.sizes(ValueRef { value: 2, part: None });
                let mut normalized = match !of_weight.is_empty() && sizes.ends_with(of_weight) && chance(u, 3, 4)? {
                    true => of_weight.to_vec(),
                    false => sizes[u.int_in_range(0..=sizes.len())?..].to_vec(),
                };
                if chance(u, 1, 8)? {
                    make_ones(u, &mut normalized)?;
                }
                Some(Arg::Ints(normalized))
            }
            ("stride", ParamKind::Ints) => {
                let Some(Arg::Ints(sizes)) = before.last() else { return Ok(None) };
                let largest = u.int_in_range(0..=3)?;
                let strides = (0..sizes.len()).map(|_| u.int_in_range(0..=largest)).collect::<Result<_>>()?;
                Some(Arg::Ints(strides))
            }
            ("compute_mode", ParamKind::Int) => Some(Arg::Int(u.int_in_range(-1..=3)?)),
            ("p", ParamKind::Real) => Some(Arg::Number(Scalar::Float(*u.choose(ORDERS)?))),
            ("diagonal", ParamKind::Int) => Some(Arg::Int(u.int_in_range(-4..=4)?)),
            ("repeats" | "dims", ParamKind::Ints) => {
                let missing = u.int_in_range(0..=sizes.len())?;
                let count = if u.arbitrary()? { sizes.len() + missing } else { sizes.len() - missing };
                let count = if param.name == "repeats" { count.max(sizes.len()) } else { count };
                let negative = if chance(u, 1, 8)? { -1 } else { 0 };
                Some(Arg::Ints((0..count).map(|_| u.int_in_range(negative..=3)).collect::<Result<_>>()?))
            }
            ("indexing", ParamKind::Text) => Some(Arg::Text((*u.choose(&["xy", "xy", "ij", "floor"])?).to_owned())),
            ("approximate", ParamKind::Text) => {
                Some(Arg::Text((*u.choose(&["tanh", "none", "tanh", "floor"])?).to_owned()))
            }
            ("interpolation", ParamKind::Text) => {
                let ways = ["linear", "lower", "higher", "midpoint", "nearest", "floor"];
                Some(Arg::Text((*u.choose(&ways)?).to_owned()))
            }
            ("side", ParamKind::Text) => Some(Arg::Text((*u.choose(&["right", "left", "right", "floor"])?).to_owned())),
            ("storage_offset", ParamKind::Int) => Some(Arg::Int(u.int_in_range(-1..=4)?)),
            _ => None,
        })
    }

    fn argument(&self, u: &mut Unstructured, palette: &Palette, param: &Param, first: Option<ValueRef>) -> Result<Arg> {
        let sizes = first.map_or(&[][..], |first| self.sizes(first));
        let rank = sizes.len();
        Ok(match param.kind {
            // These two are named alike wherever they occur.
            ParamKind::Tensor if param.name == "mask" => {
                Arg::Tensor(self.tensor_of(u, |known| known.tensor.dtype == DType::Bool)?)
            }
            ParamKind::Tensor if ["index", "indices"].contains(&param.name) => {
                Arg::Tensor(self.tensor_of(u, is_index)?)
            }
            // What goes into a tensor mostly has its dtype.
            ParamKind::Tensor | ParamKind::Value if MOVED.contains(&param.name) && chance(u, 3, 4)? => {
                let known = first.and_then(|first| self.tracker.find(first)).map(|known| known.tensor.dtype);
                Arg::Tensor(self.tensor_of(u, |candidate| Some(candidate.tensor.dtype) == known)?)
            }
            ParamKind::Tensor => Arg::Tensor(self.tensor(u)?),
            ParamKind::Operand if chance(u, 1, 5)? => Arg::Number(value::number(u)?),
            ParamKind::Operand => Arg::Tensor(self.tensor(u)?),
            ParamKind::Value if chance(u, 1, 2)? => Arg::Number(value::number(u)?),
            ParamKind::Value => Arg::Tensor(self.tensor(u)?),
            ParamKind::Tensors if param.name == "tensors" && self.theme.is_some_and(crosses) && chance(u, 3, 4)? => {
                let count = u.int_in_range(1..=3)?;
                let vector = |u: &mut Unstructured| self.tensor_of(u, |known| known.tensor.shape.rank() == 1);
                Arg::Tensors((0..count).map(|_| vector(u)).collect::<Result<_>>()?)
            }
            ParamKind::Tensors => {
                let count = if chance(u, 1, 16)? { 0 } else { u.int_in_range(1..=3)? };
                Arg::Tensors((0..count).map(|_| self.tensor(u)).collect::<Result<_>>()?)
            }
            ParamKind::Indices => {
                let beyond = usize::from(chance(u, 1, 16)?);
                let count = u.int_in_range(1..=rank.max(1) + beyond)?;
                let index = |u: &mut Unstructured| {
                    let there = !chance(u, 1, 4)?;
                    there.then(|| self.tensor_of(u, is_index)).transpose()
                };
                Arg::Indices((0..count).map(|_| index(u)).collect::<Result<_>>()?)
            }
            ParamKind::Shapes => {
                let count = u.int_in_range(0..=4)?;
                Arg::Shapes((0..count).map(|_| shape_argument(u, palette)).collect::<Result<_>>()?)
            }
            ParamKind::Number => Arg::Number(value::number(u)?),
            ParamKind::Int => Arg::Int(dimension(u, rank)?),
            ParamKind::Ints if param.name.starts_with("dims") => Arg::Ints(dimensions(u, rank)?),
            ParamKind::Ints => Arg::Ints(self.integers(u, palette, sizes)?),
            ParamKind::Dims if chance(u, 1, 4)? => Arg::Int(dimension(u, rank)?),
            ParamKind::Dims => Arg::Ints(dimensions(u, rank)?),
            ParamKind::Real => Arg::Number(value::real(u)?),
            ParamKind::Reduction => Arg::Text((*u.choose(REDUCTIONS)?).to_owned()),
            ParamKind::Flag => Arg::Flag(u.arbitrary()?),
            ParamKind::Dtype => Arg::Dtype(*u.choose(&self.options.dtypes)?),
            ParamKind::ScalarType => Arg::ScalarType(match chance(u, 1, 2)? {
                true => ScalarType::from(*u.choose(&self.options.dtypes)?),
                false => *u.choose(ScalarType::ALL)?,
            }),
            ParamKind::Text => Arg::Text((*u.choose(text::WORDS)?).to_owned()),
            ParamKind::Index => Arg::Index(text::index(u, sizes)?),
        })
    }

    /// A tensor that is there; now and then one that a refused step should have made.
    pub(super) fn tensor(&self, u: &mut Unstructured) -> Result<ValueRef> {
        if !self.missing.is_empty() && chance(u, 1, 32)? {
            return u.choose(&self.missing).copied();
        }
        // The latest ones more often: longer chains reach further.
        let at = match self.tracker.known.len() {
            0 => return Err(arbitrary::Error::EmptyChoose),
            count if chance(u, 1, 3)? => count - 1,
            count => u.int_in_range(0..=count - 1)?,
        };
        Ok(self.tracker.known[at].at)
    }

    /// A tensor for argument `at`, after the ones before it: mostly one of the rank that a product wants there, and one
    /// that fits what it is multiplied with.
    fn operand(&self, u: &mut Unstructured, op: Op, args: &[Arg]) -> Result<ValueRef> {
        let at = args.len();
        let ranks = ranks(op);
        let Some(&rank) = ranks.get(at).filter(|_| !ranks.is_empty()) else { return self.tensor(u) };
        if chance(u, 1, 8)? {
            return self.tensor(u);
        }
        let of_rank = |known: &&TensorState| known.tensor.shape.rank() == rank;
        let before = args.last().filter(|_| at + 1 == ranks.len()).and_then(|arg| tensors(arg).first().copied());
        let inner = before.and_then(|value| self.sizes(value).last().copied());
        let fits = |known: &&TensorState| {
            let sizes = known.tensor.shape.sizes();
            inner.is_none_or(|inner| sizes[rank.saturating_sub(2)] == inner)
        };
        let fitting: Vec<ValueRef> =
            self.tracker.known.iter().filter(of_rank).filter(fits).map(|known| known.at).collect();
        let ranked: Vec<ValueRef> = self.tracker.known.iter().filter(of_rank).map(|known| known.at).collect();
        match (fitting.is_empty(), ranked.is_empty()) {
            (false, _) if !chance(u, 1, 8)? => u.choose(&fitting).copied(),
            (_, false) => u.choose(&ranked).copied(),
            _ => self.tensor(u),
        }
    }

    /// A summand that broadcasts to the product of the arguments after it, if there is one.
    fn summand(&self, u: &mut Unstructured, op: Op, args: &mut [Arg]) -> Result<()> {
        let count = match op {
            Op::Addmm | Op::AddmmActivation | Op::Addmv | Op::Addr | Op::Baddbmm | Op::Addbmm => 3,
            _ => return Ok(()),
        };
        let [left, right] = [1, count - 1].map(|at| tensors(&args[at]).first().map_or(&[][..], |it| self.sizes(*it)));
        let [Some(rows), columns] = [left.get(left.len().saturating_sub(2)), right.last()] else { return Ok(()) };
        let product: Vec<i64> = match op {
            Op::Addmv => vec![*rows],
            _ => std::iter::once(*rows).chain(columns.copied()).collect(),
        };
        let Ok(product) = Shape::new(product) else { return Ok(()) };
        let batches = |known: &TensorState| {
            known.tensor.shape.sizes().split_first().is_some_and(|(_, matrix)| matrix == product.sizes())
        };
        let fits = |known: &&TensorState| known.tensor.shape.expands_to(&product) || (count == 3 && batches(known));
        let fitting: Vec<ValueRef> = self.tracker.known.iter().filter(fits).map(|known| known.at).collect();
        if !fitting.is_empty() && !chance(u, 1, 4)? {
            args[0] = Arg::Tensor(u.choose(&fitting).copied()?);
        }
        Ok(())
    }

    /// A tensor, mostly one that `wanted` wants, if there is any.
    fn tensor_of(&self, u: &mut Unstructured, wanted: impl Fn(&TensorState) -> bool) -> Result<ValueRef> {
        let fitting: Vec<ValueRef> =
            self.tracker.known.iter().filter(|known| wanted(known)).map(|known| known.at).collect();
        if fitting.is_empty() || chance(u, 1, 16)? { self.tensor(u) } else { u.choose(&fitting).copied() }
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
            _ if chance(u, 1, 4)? => {
                let leading =
                    (0..u.int_in_range(1..=2)?).map(|_| u.choose(HUGE).copied()).collect::<Result<Vec<_>>>()?;
                integers.splice(0..0, leading);
            }
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
        self.tracker.find(value).map_or(&[], |known| known.tensor.shape.sizes())
    }
}

/// Parameters whose elements go into another tensor.
const MOVED: &[&str] = &["values", "source", "src"];

/// Returns whether an operation takes vectors, each of its own length.
fn crosses(op: Op) -> bool {
    matches!(op, Op::Meshgrid | Op::CartesianProd)
}

/// What elements that are scattered to one place are combined by, and what is none.
const COMBINED: &[&str] = &["sum", "mean", "prod", "amax", "amin", "mean", "amax", "add"];

/// The orders of norms that have a loop of their own, and some that have none.
const ORDERS: &[f64] = &[2.0, 1.0, 0.0, f64::INFINITY, 3.0, 0.5, 1.5];

/// Returns whether a tensor can be an index.
fn is_index(known: &TensorState) -> bool {
    matches!(known.tensor.dtype, DType::Int64 | DType::Int32 | DType::Bool | DType::Uint8)
}

/// The ranks that a product wants of its operands; empty for what is no product of operands of certain ranks.
fn ranks(op: Op) -> &'static [usize] {
    match op {
        Op::Dot | Op::Outer | Op::Ger => &[1, 1],
        Op::Mv => &[2, 1],
        Op::Mm => &[2, 2],
        Op::Bmm => &[3, 3],
        Op::Addmm | Op::AddmmActivation => &[2, 2, 2],
        Op::Addmv => &[1, 2, 1],
        Op::Addr => &[2, 1, 1],
        Op::Baddbmm | Op::Addbmm => &[3, 3, 3],
        _ => &[],
    }
}

fn tensors(arg: &Arg) -> Vec<ValueRef> {
    match arg {
        Arg::Tensor(value) => vec![*value],
        Arg::Tensors(values) => values.clone(),
        Arg::Indices(values) => values.iter().flatten().copied().collect(),
        _ => Vec::new(),
    }
}

fn shape_argument(u: &mut Unstructured, palette: &Palette) -> Result<ShapeArg> {
    let mut sizes = palette.shape(u)?.sizes().to_vec();
    if !sizes.is_empty() && chance(u, 1, 16)? {
        let dim = u.choose_index(sizes.len())?;
        sizes[dim] = u.int_in_range(-2..=-1)?;
    }
    // What is no shape, now and then.
    if chance(u, 1, 32)? {
        let number = u.int_in_range(0..=4)?;
        let float = u.arbitrary()?;
        return Ok(if float { ShapeArg::Float(f64::from(number) + 0.5) } else { ShapeArg::Text(number.to_string()) });
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
            sizes[at] = sizes[at].saturating_mul(sizes.remove(at + 1));
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
