//! The operation table, as far as candle has it.
//!
//! An operation is a function of candle and nothing made of several. Where candle has one that broadcasts next to one
//! that does not, it is the one that broadcasts: `broadcast_add` and not `+`. A number is given as candle's users give
//! it, as in `&x + 2.`.

use Argument::{Flag, Index, Indices, Int, Ints, Nothing, Number, Shapes, Tensor as T};
use broadcheck_protocol::adapter::{Answer, Argument, CallError, Operation, Returned};
use broadcheck_protocol::error::Class;
use broadcheck_protocol::operation;
use broadcheck_protocol::ops::Op;
use broadcheck_protocol::program::ShapeArg;
use broadcheck_protocol::tensor::{DType, Element, IndexItem, Scalar};
use candle_core::shape::Dim;
use candle_core::{D, IndexOp, Result, Shape, Tensor, TensorIndexer};
use half::{bf16, f16};

use crate::{Candle, with_element};

const NUMBER_FIRST: &str = "candle has no such function of a number and a tensor";
const TENSORS: &str = "candle's function takes tensors only";
const NO_TENSOR: &str = "candle's function takes a number only";
const BOUNDS: &str = "candle's clamp takes both bounds";
const NEGATIVE: &str = "candle's sizes and indices are usize";
const ONE_DIMENSION: &str = "candle's function takes one dimension";
const ALL: &str = "candle's function of all elements keeps no dimension";
const HOLE: &str = "candle's reshape takes a hole at a place that is known when the program is compiled";
const DIMENSIONS: &str = "candle takes dimensions that count from the end in tuples of up to six";
const TWO_SHAPES: &str = "candle broadcasts two shapes";
const NO_SHAPE: &str = "candle's shapes are lists of usize, and nothing else";
const LITERAL: &str = "candle's const_set takes a number of the tensor's own type, and there is none such";
const STEP: &str = "candle's ranges have no steps";
const ITEM: &str = "candle's i() has no None and no ellipsis";
const ITEMS: &str = "candle's i() takes one to seven indices";

pub const POSITIONS: &str = "candle's positions are of dtype u32, which broadcheck does not have";

/// Texts, each with its operations.
macro_rules! answers {
    ($($text:ident: $($op:ident)+;)+) => { &[$(($text, &[$(Op::$op),+])),+] };
}

/// The texts with which a step is answered as unsupported, each with the operations of which it may be the answer.
pub const UNSUPPORTED: &[(&str, &[Op])] = answers! {
    NUMBER_FIRST: Eq Ne Lt Le Gt Ge Pow;
    TENSORS: Where Scatter;
    NO_TENSOR: Fill;
    BOUNDS: Clamp;
    NEGATIVE: Expand BroadcastTo BroadcastShapes Reshape Select Narrow Index;
    ONE_DIMENSION: Squeeze Amax Amin Argmax Argmin Var;
    ALL: Sum Mean;
    HOLE: Reshape;
    DIMENSIONS: Permute Sum Mean Logsumexp;
    TWO_SHAPES: BroadcastShapes;
    NO_SHAPE: BroadcastShapes;
    STEP: Index;
    ITEM: Index;
    ITEMS: Index IndexTensor;
    LITERAL: Fill;
    POSITIONS: Argmax Argmin;
};

const FACTOR: &str = "candle's function has no factor";
const NO_DTYPE: &str = "candle's function has no dtype";
const UNBIASED: &str = "candle's var has Bessel's correction and no other";

pub const ARGUMENTS: [(Op, &str, &str); 13] = [
    (Op::Add, "alpha", FACTOR),
    (Op::Sub, "alpha", FACTOR),
    (Op::Div, "rounding_mode", "candle's div has no rounding mode"),
    (Op::Sum, "dtype", NO_DTYPE),
    (Op::Mean, "dtype", NO_DTYPE),
    (Op::Var, "correction", UNBIASED),
    (Op::Var, "unbiased", UNBIASED),
    (Op::Logsumexp, "keepdim", "candle's log_sum_exp keeps no dimension"),
    (Op::VectorNorm, "ord", "candle's norm is the Euclidean one"),
    (Op::VectorNorm, "dim", "candle's norm is of all elements"),
    (Op::VectorNorm, "keepdim", ALL),
    (Op::VectorNorm, "dtype", NO_DTYPE),
    (Op::Backward, "gradient", "candle's backward begins with ones"),
];

/// Arithmetic, whose numbers are `f64`.
macro_rules! arithmetic {
    ($op:ident $tensors:ident $operator:tt) => {
        operation!($op,
            [T(a), T(b), ..] => one(a.$tensors(b)),
            [T(a), Number(number), ..] => one(a $operator real(number)),
            [Number(number), T(a), ..] => one(real(number) $operator a),
        )
    };
}

/// A function whose numbers are of any type, and on the right.
macro_rules! compared {
    ($op:ident $tensors:ident $numbers:ident) => {
        operation!($op,
            [T(a), T(b)] => one(a.$tensors(b)),
            [T(a), Number(Scalar::Int(number))] => one(a.$numbers(number)),
            [T(a), Number(number)] => one(a.$numbers(real(number))),
            [Number(_), T(_)] => Err(unsupported(NUMBER_FIRST)),
        )
    };
}

/// A function of two tensors.
macro_rules! pair {
    ($op:ident $function:ident) => {
        operation!($op, [T(a), T(b)] => one(a.$function(b)))
    };
}

/// A function of two dimensions.
macro_rules! swap {
    ($op:ident) => {
        operation!($op, [T(a), Int(one_dim), Int(other)] => one(a.transpose(Axis(one_dim), Axis(other))))
    };
}

/// A function of one dimension, without and with `keepdim`.
macro_rules! along {
    ($op:ident $squeezed:ident $kept:ident) => {
        operation!($op,
            [T(a), Int(dim) | Ints(&[dim]), Flag(false), ..]
            | [T(a), Int(dim) | Ints(&[dim]), Nothing, Flag(false), ..] => one(a.$squeezed(Axis(dim))),
            [T(a), Int(dim) | Ints(&[dim]), Flag(true), ..]
            | [T(a), Int(dim) | Ints(&[dim]), Nothing, Flag(true), ..] => one(a.$kept(Axis(dim))),
            [T(_), Ints(_) | Nothing, ..] => Err(unsupported(ONE_DIMENSION)),
        )
    };
}

/// A function of several dimensions, without and with `keepdim`, and one of all elements.
macro_rules! reduction {
    ($op:ident $squeezed:ident $kept:ident $all:ident) => {
        operation!($op,
            [T(a), Nothing, Flag(false), ..] => one(a.$all()),
            [T(_), Nothing, Flag(true), ..] => Err(unsupported(ALL)),
            [T(a), Int(dim), Flag(false), ..] => one(a.$squeezed(Axis(dim))),
            [T(a), Int(dim), Flag(true), ..] => one(a.$kept(Axis(dim))),
            [T(a), Ints(dims), Flag(false), ..] => one(over!(dims, dims => a.$squeezed(dims))),
            [T(a), Ints(dims), Flag(true), ..] => one(over!(dims, dims => a.$kept(dims))),
        )
    };
}

/// A call with dimensions: in a `Vec`, or in a tuple where one counts from the end.
macro_rules! over {
    ($given:expr, $dims:ident => $call:expr) => {{
        macro_rules! with {
            ($value:expr) => {{
                let $dims = $value;
                $call
            }};
        }
        match *$given {
            _ if $given.iter().all(|&dim| dim >= 0) => {
                with!($given.iter().map(|&dim| dim as usize).collect::<Vec<_>>())
            }
            [a] => with!(Axis(a)),
            [a, b] => with!((Axis(a), Axis(b))),
            [a, b, c] => with!((Axis(a), Axis(b), Axis(c))),
            [a, b, c, d] => with!((Axis(a), Axis(b), Axis(c), Axis(d))),
            [a, b, c, d, e] => with!((Axis(a), Axis(b), Axis(c), Axis(d), Axis(e))),
            [a, b, c, d, e, f] => with!((Axis(a), Axis(b), Axis(c), Axis(d), Axis(e), Axis(f))),
            _ => return Err(unsupported(DIMENSIONS)),
        }
    }};
}

pub const OPERATIONS: &[Operation<Candle>] = &[
    arithmetic!(Add broadcast_add +),
    arithmetic!(Sub broadcast_sub -),
    arithmetic!(Mul broadcast_mul *),
    arithmetic!(Div broadcast_div /),
    compared!(Eq broadcast_eq eq),
    compared!(Ne broadcast_ne ne),
    compared!(Lt broadcast_lt lt),
    compared!(Le broadcast_le le),
    compared!(Gt broadcast_gt gt),
    compared!(Ge broadcast_ge ge),
    compared!(Maximum broadcast_maximum maximum),
    compared!(Minimum broadcast_minimum minimum),
    operation!(Pow,
        [T(a), T(b)] => one(a.broadcast_pow(b)),
        [T(a), Number(number)] => one(a.powf(real(number))),
        [Number(_), T(_)] => Err(unsupported(NUMBER_FIRST)),
    ),
    operation!(Clamp,
        [T(a), T(low), T(high)] => one(a.clamp(low, high)),
        [T(a), Number(low), Number(high)] => one(a.clamp(real(low), real(high))),
        [T(a), T(low), Number(high)] => one(a.clamp(low, real(high))),
        [T(a), Number(low), T(high)] => one(a.clamp(real(low), high)),
        [T(_), _, _] => Err(unsupported(BOUNDS)),
    ),
    operation!(Where,
        [T(condition), T(a), T(b)] => one(condition.where_cond(a, b)),
        [T(_), _, _] => Err(unsupported(TENSORS)),
    ),
    operation!(Fill [InPlace],
        [T(a), Number(number)] => {
            with_element!(a.dtype(), E => in_place(a, a.const_set(literal::<E>(number)?.into())))
        },
        [T(_), T(_)] => Err(unsupported(NO_TENSOR)),
    ),
    operation!(Expand, [T(a), Ints(sizes)] => one(a.expand(naturals(sizes)?))),
    operation!(BroadcastTo, [T(a), Ints(sizes)] => one(a.broadcast_as(naturals(sizes)?))),
    operation!(ExpandAs, [T(a), T(other)] => one(a.expand(other.shape()))),
    operation!(BroadcastShapes,
        [Shapes([one, other])] => {
            let broadcast = shape(one)?.broadcast_shape_binary_op(&shape(other)?, "broadcast_shapes")?;
            Ok(Returned::Sizes(broadcast.dims().iter().map(|&size| size as i64).collect()))
        },
        [Shapes(_)] => Err(unsupported(TWO_SHAPES)),
    ),
    operation!(Unsqueeze, [T(a), Int(dim)] => one(a.unsqueeze(Axis(dim)))),
    operation!(Squeeze,
        [T(a), Int(dim) | Ints(&[dim])] => one(a.squeeze(Axis(dim))),
        [T(_), _] => Err(unsupported(ONE_DIMENSION)),
    ),
    swap!(Transpose),
    swap!(Swapaxes),
    swap!(Swapdims),
    operation!(T, [T(a)] => one(a.t())),
    operation!(Permute, [T(a), Ints(dims)] => one(over!(dims, dims => a.permute(dims)))),
    operation!(Reshape,
        [T(a), Ints(&[-1])] => one(a.reshape(((),))),
        [T(a), Ints(&[-1, size])] if size >= 0 => one(a.reshape(((), size as usize))),
        [T(a), Ints(&[size, -1])] if size >= 0 => one(a.reshape((size as usize, ()))),
        [T(_), Ints(sizes)] if sizes.contains(&-1) => Err(unsupported(HOLE)),
        [T(a), Ints(sizes)] => one(a.reshape(naturals(sizes)?)),
    ),
    operation!(ReshapeAs, [T(a), T(other)] => one(a.reshape(other.shape()))),
    operation!(Flatten, [T(a), Int(start), Int(end)] => one(a.flatten(Axis(start), Axis(end)))),
    operation!(Select, [T(a), Int(dim), Int(index)] => one(a.get_on_dim(Axis(dim), natural(index)?))),
    operation!(Narrow, [T(a), Int(dim), Int(start), Int(length)] => {
        one(a.narrow(Axis(dim), natural(start)?, natural(length)?))
    }),
    operation!(Index, [T(a), Index(items)] => {
        index(a, items.iter().map(indexer).collect::<std::result::Result<_, _>>()?)
    }),
    operation!(IndexTensor, [T(a), Indices(ref indices)] => {
        index(a, indices.iter().map(|index| index.map_or((..).into(), Into::into)).collect())
    }),
    operation!(IndexSelect, [T(a), Int(dim), T(index)] => one(a.index_select(index, Axis(dim)))),
    operation!(Gather, [T(a), Int(dim), T(index)] => one(a.gather(index, Axis(dim)))),
    operation!(Scatter [Functional InPlace],
        @InPlace [T(a), Int(dim), T(index), T(source)] => in_place(a, a.scatter_set(index, source, Axis(dim))),
        [T(a), Int(dim), T(index), T(source)] => one(a.scatter(index, source, Axis(dim))),
        [T(_), Int(_), T(_), Number(_)] => Err(unsupported(TENSORS)),
    ),
    operation!(Detach, [T(a)] => one(Ok(a.detach()))),
    operation!(Clone, [T(a)] => one(a.copy())),
    operation!(Contiguous, [T(a)] => one(a.contiguous())),
    pair!(Matmul broadcast_matmul),
    pair!(Mm matmul),
    pair!(Bmm matmul),
    pair!(Mv mv),
    pair!(Dot dot),
    reduction!(Sum sum sum_keepdim sum_all),
    reduction!(Mean mean mean_keepdim mean_all),
    along!(Amax max max_keepdim),
    along!(Amin min min_keepdim),
    along!(Argmax argmax argmax_keepdim),
    along!(Argmin argmin argmin_keepdim),
    along!(Var var var_keepdim),
    operation!(Logsumexp,
        [T(a), Int(dim), Flag(false)] => one(a.log_sum_exp(Axis(dim))),
        [T(a), Ints(dims), Flag(false)] => one(over!(dims, dims => a.log_sum_exp(dims))),
    ),
    operation!(VectorNorm, [T(a), ..] => one(a.norm())),
    operation!(Item, [T(a)] => item(a)),
    operation!(Backward |candle, call|, [T(a), Nothing] => {
        candle.gradients = Some(a.backward()?);
        Ok(Returned::Nothing)
    }),
    operation!(Grad |candle, call|, [T(a)] => {
        let gradient = candle.gradients.as_ref().and_then(|gradients| gradients.get(a));
        Ok(gradient.map_or(Returned::Nothing, |gradient| Returned::Tensor(gradient.clone())))
    }),
];

/// Parts of messages, with their classes of rejections.
pub const CLASSES: &[(&[Op], &str, Class)] = &[
    (&[Op::Reshape, Op::ReshapeAs], "", Class::View),
    (&[Op::Item], "unexpected rank", Class::ItemCount),
    (&[], "capacity overflow", Class::ImpossibleSize),
    (&[Op::Matmul], "mismatch in broadcast_matmul", Class::SizeMismatch),
    (&[], "cannot broadcast", Class::Expand),
    (&[], "dtype", Class::Dtype),
    (&[], "out of range", Class::Dimension),
    (&[], "duplicate dim", Class::Dimension),
    (&[], "dimension mismatch in permute", Class::Dimension),
    (&[], "narrow invalid args", Class::Dimension),
    (&[], "invalid index", Class::Dimension),
    (&[], "unexpected rank", Class::Dimension),
    (&[], "index out of bounds", Class::Dimension),
    (&[], "empty tensor", Class::Dimension),
    (&[Op::Matmul, Op::Mm, Op::Bmm, Op::Mv, Op::Dot], "", Class::ProductShape),
    (&[Op::IndexSelect], "shape mismatch", Class::Dimension),
    (&[], "mismatch in ", Class::SizeMismatch),
];

/// A dimension, which counts from the end where it is negative.
#[derive(Clone, Copy)]
struct Axis(i64);

impl Dim for Axis {
    fn to_index(&self, shape: &Shape, op: &'static str) -> Result<usize> {
        match usize::try_from(self.0) {
            Ok(dim) => dim.to_index(shape, op),
            Err(_) => D::Minus(self.0.unsigned_abs() as usize).to_index(shape, op),
        }
    }

    fn to_index_plus_one(&self, shape: &Shape, op: &'static str) -> Result<usize> {
        match usize::try_from(self.0) {
            Ok(dim) => dim.to_index_plus_one(shape, op),
            Err(_) => D::Minus(self.0.unsigned_abs() as usize).to_index_plus_one(shape, op),
        }
    }
}

pub fn unsupported(why: &str) -> CallError {
    CallError::Unsupported(why.to_owned())
}

fn one(result: Result<Tensor>) -> Answer<Tensor> {
    Ok(Returned::Tensor(result?))
}

fn in_place(target: &Tensor, result: Result<()>) -> Answer<Tensor> {
    one(result.map(|()| target.clone()))
}

/// A number as an `f64`. There are no others where there is no bool and no complex dtype.
fn real(number: Scalar) -> f64 {
    match number {
        Scalar::Int(number) => number as f64,
        Scalar::Float(number) => number,
        other => unreachable!("{other}"),
    }
}

/// A number as a literal of an element type: one that the compiler takes.
fn literal<E: Element>(number: Scalar) -> std::result::Result<E, CallError> {
    let fits = number.fits(E::DTYPE) && number.category() <= E::DTYPE.category();
    let positive = !matches!((number, E::DTYPE), (Scalar::Int(..0), DType::Uint8));
    if fits && positive { Ok(E::from_scalar(number)) } else { Err(unsupported(LITERAL)) }
}

fn natural(number: i64) -> std::result::Result<usize, CallError> {
    usize::try_from(number).map_err(|_| unsupported(NEGATIVE))
}

fn naturals(numbers: &[i64]) -> std::result::Result<Vec<usize>, CallError> {
    numbers.iter().map(|&number| natural(number)).collect()
}

fn shape(given: &ShapeArg) -> std::result::Result<Shape, CallError> {
    Ok(match given {
        ShapeArg::Size(size) => Shape::from(natural(*size)?),
        ShapeArg::Sizes(sizes) => Shape::from(naturals(sizes)?),
        ShapeArg::Float(_) | ShapeArg::Text(_) => return Err(unsupported(NO_SHAPE)),
    })
}

fn indexer(item: &IndexItem) -> std::result::Result<TensorIndexer, CallError> {
    Ok(match *item {
        IndexItem::At(index) => natural(index)?.into(),
        IndexItem::Slice { start: None, stop: None, step: 1 } => (..).into(),
        IndexItem::Slice { start: Some(start), stop: None, step: 1 } => (natural(start)?..).into(),
        IndexItem::Slice { start: None, stop: Some(stop), step: 1 } => (..natural(stop)?).into(),
        IndexItem::Slice { start: Some(start), stop: Some(stop), step: 1 } => (natural(start)?..natural(stop)?).into(),
        IndexItem::Slice { .. } => return Err(unsupported(STEP)),
        IndexItem::None | IndexItem::Ellipsis => return Err(unsupported(ITEM)),
    })
}

fn index(tensor: &Tensor, indexers: Vec<TensorIndexer>) -> Answer<Tensor> {
    let count = indexers.len();
    let mut indexers = indexers.into_iter();
    let mut next = || indexers.next().expect("as many as are counted");
    one(match count {
        1 => tensor.i(next()),
        2 => tensor.i((next(), next())),
        3 => tensor.i((next(), next(), next())),
        4 => tensor.i((next(), next(), next(), next())),
        5 => tensor.i((next(), next(), next(), next(), next())),
        6 => tensor.i((next(), next(), next(), next(), next(), next())),
        7 => tensor.i((next(), next(), next(), next(), next(), next(), next())),
        _ => return Err(unsupported(ITEMS)),
    })
}

fn item(tensor: &Tensor) -> Answer<Tensor> {
    with_element!(tensor.dtype(), T => Ok(Returned::Number(Element::to_scalar(tensor.to_scalar::<T>()?))))
}
