//! The operation table, as far as Burn has it.
//!
//! An operation is a method of Burn's tensors and nothing made of several. A number is given as Burn's users give it,
//! as in `x + 2.0`. A rank that a result has in its type is the one that its shape is known to have beforehand.

use Argument::{Flag, Index, Int, Ints, Nothing, Number, Tensor as T, Tensors, Text};
use broadcheck_protocol::adapter::{Answer, Argument, CallError, Operation, Returned};
use broadcheck_protocol::error::Class;
use broadcheck_protocol::operation;
use broadcheck_protocol::ops::Op;
use broadcheck_protocol::tensor::{IndexItem, Scalar};
use burn_tensor::{Bool, Float, IndexingUpdateOp, Int as Integer, Slice};

use crate::tensor::{KIND, Kind, OPERANDS, Tensor, one};
use crate::{Burn, with_rank, with_type};

const NUMBER_FIRST: &str = "Burn has no such method of a number and a tensor";
const NUMBERS: &str = "Burn's method takes a number";
const TENSORS: &str = "Burn's method takes tensors";
const BOUNDS: &str = "Burn's clamp takes both bounds";
const NEGATIVE: &str = "Burn's sizes are usize where they are no array";
const LIST: &str = "Burn's method takes one dimension, or is of all elements";
const KEPT: &str = "Burn's method keeps the dimensions that it reduces";
const ALL: &str = "Burn's method of all elements has a result of one dimension";
const CORRECTION: &str = "Burn has variances with Bessel's correction and without, and no other";
const ITEM: &str = "Burn's slices have no None, no ellipsis and keep every dimension";
const EQUATION: &str = "the rank of an einsum is not known beforehand";

/// Texts, each with its operations.
macro_rules! answers {
    ($($text:ident: $($op:ident)+;)+) => { &[$(($text, &[$(Op::$op),+])),+] };
}

/// The texts with which a step is answered as unsupported, each with the operations of which it may be the answer.
/// Any operation may be answered with [`RANK`](crate::tensor::RANK), since the inputs of the program have ranks.
pub const UNSUPPORTED: &[(&str, &[Op])] = answers! {
    NUMBER_FIRST: Remainder Eq Ne Lt Le Gt Ge Pow BitwiseAnd BitwiseOr BitwiseXor;
    NUMBERS: Clamp ClampMin ClampMax MaskedFill;
    TENSORS: Fmod BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift BitwiseRightShift Where Scatter;
    BOUNDS: Clamp;
    NEGATIVE: Narrow;
    LIST: Any All Argmax Argmin Var;
    KEPT: Mean Prod Amax Amin Any All Argmax Argmin Var;
    ALL: Sum Mean Prod Amax Amin Any All;
    CORRECTION: Var;
    ITEM: Index;
    EQUATION: Einsum;
    OPERANDS: Add Sub Mul Div Remainder Fmod Eq Ne Lt Le Gt Ge Maximum Minimum Hypot Atan2 Pow BitwiseAnd BitwiseOr
        BitwiseXor BitwiseLeftShift BitwiseRightShift LogicalAnd LogicalOr LogicalXor Where MaskedFill MaskedSelect
        Isclose Allclose Permute IndexSelect Gather Scatter Matmul Mm Bmm Dot LinalgCross Einsum;
    KIND: Add Sub Mul Div Remainder Fmod Eq Ne Lt Le Gt Ge Maximum Minimum Hypot Atan2 Pow BitwiseAnd BitwiseOr
        BitwiseXor BitwiseLeftShift BitwiseRightShift LogicalAnd LogicalOr LogicalXor Clamp ClampMin ClampMax Where
        MaskedFill Isclose Allclose Detach Matmul Mm Bmm LinalgCross Einsum Sum Mean Prod Amax Amin Argmax Argmin Var
        Backward Grad;
};

const FACTOR: &str = "Burn's method has no factor";
const NO_DTYPE: &str = "Burn's method has no dtype";

pub const ARGUMENTS: [(Op, &str, &str); 9] = [
    (Op::Add, "alpha", FACTOR),
    (Op::Sub, "alpha", FACTOR),
    (Op::Div, "rounding_mode", "Burn's div has no rounding mode"),
    (Op::Sum, "dtype", NO_DTYPE),
    (Op::Mean, "dtype", NO_DTYPE),
    (Op::Prod, "dtype", NO_DTYPE),
    (Op::Isclose, "equal_nan", "Burn's is_close has no such switch"),
    (Op::Allclose, "equal_nan", "Burn's all_close has no such switch"),
    (Op::Backward, "gradient", "Burn's backward begins with ones"),
];

/// An operator, with the kinds of tensors that it has with a number on the left.
macro_rules! operator {
    ($op:ident $operator:tt $left:ident) => {
        operation!($op,
            [T(a), T(b), ..] => with_type!(number a, D K => one(a.get::<D, K>()? $operator b.get::<D, K>()?)),
            [T(a), Number(n), ..] => with_type!(number a, D K => match n {
                Scalar::Int(n) => one(a.get::<D, K>()? $operator n),
                n => one(a.get::<D, K>()? $operator real(n)?),
            }),
            [Number(n), T(a), ..] => with_type!($left a, D K => one(real(n)? $operator a.get::<D, K>()?)),
        )
    };
}

/// A method of two tensors, and one with a number in its place.
macro_rules! method {
    ($op:ident $kinds:ident $tensors:ident) => {
        operation!($op,
            [T(a), T(b), ..] => with_type!($kinds a, D K => one(a.get::<D, K>()?.$tensors(b.get::<D, K>()?))),
            [T(_), Number(_), ..] | [Number(_), T(_), ..] => Err(unsupported(TENSORS)),
        )
    };
    ($op:ident $kinds:ident $tensors:ident $number:ident) => {
        operation!($op,
            [T(a), T(b), ..] => with_type!($kinds a, D K => one(a.get::<D, K>()?.$tensors(b.get::<D, K>()?))),
            [T(a), Number(n), ..] => with_type!($kinds a, D K => match n {
                Scalar::Int(n) => one(a.get::<D, K>()?.$number(n)),
                n => one(a.get::<D, K>()?.$number(real(n)?)),
            }),
            [Number(_), T(_), ..] => Err(unsupported(NUMBER_FIRST)),
        )
    };
}

/// A bitwise operation on integers, and the operator on booleans.
macro_rules! bitwise {
    ($op:ident $tensors:ident $number:ident $operator:tt) => {
        operation!($op,
            [T(a), T(b)] if a.kind == Kind::Bool => with_rank!(a.rank, D => {
                one(a.get::<D, Bool>()? $operator b.get::<D, Bool>()?)
            }),
            [T(a), T(b)] => with_type!(int a, D K => one(a.get::<D, K>()?.$tensors(b.get::<D, K>()?))),
            [T(a), Number(Scalar::Int(n))] => with_type!(int a, D K => one(a.get::<D, K>()?.$number(n))),
            [T(_), Number(_)] => Err(unsupported(TENSORS)),
            [Number(_), T(_)] => Err(unsupported(NUMBER_FIRST)),
        )
    };
}

/// A reduction of all elements, of one dimension, of several.
macro_rules! reduction {
    ($op:ident $kinds:ident $all:ident $one:ident $several:ident) => {
        operation!($op,
            [T(a), Nothing, Flag(false), ..] => with_type!($kinds a, D K => one(a.get::<D, K>()?.$all())),
            [T(_), Nothing, Flag(true), ..] => Err(unsupported(ALL)),
            [T(_), _, Flag(false), ..] => Err(unsupported(KEPT)),
            [T(a), Int(dim) | Ints(&[dim]), Flag(true), ..] => {
                with_type!($kinds a, D K => one(a.get::<D, K>()?.$one(dim)))
            },
            [T(a), Ints(dims), Flag(true), ..] => with_type!($kinds a, D K => one(a.get::<D, K>()?.$several(dims))),
        )
    };
}

/// A reduction of all elements, or of one dimension.
macro_rules! truth {
    ($op:ident $all:ident $one:ident) => {
        operation!($op,
            [T(a), Nothing, Flag(false)] => with_type!(all a, D K => one(a.get::<D, K>()?.$all())),
            [T(_), Nothing, Flag(true)] => Err(unsupported(ALL)),
            [T(_), _, Flag(false)] => Err(unsupported(KEPT)),
            [T(a), Int(dim) | Ints(&[dim]), Flag(true)] => with_type!(all a, D K => one(a.get::<D, K>()?.$one(dim))),
            [T(_), Ints(_), Flag(true)] => Err(unsupported(LIST)),
        )
    };
}

/// A position along one dimension.
macro_rules! position {
    ($op:ident $method:ident) => {
        operation!($op,
            [T(_), Nothing, _] => Err(unsupported(LIST)),
            [T(_), _, Flag(false)] => Err(unsupported(KEPT)),
            [T(a), Int(dim), Flag(true)] => with_type!(number a, D K => one(a.get::<D, K>()?.$method(dim))),
        )
    };
}

/// Two dimensions that change places.
macro_rules! swap {
    ($op:ident) => {
        operation!($op, [T(a), Int(dim0), Int(dim1)] => {
            with_type!(all a, D K => one(a.get::<D, K>()?.swap_dims(dim0, dim1)))
        })
    };
}

/// A dimension that goes elsewhere.
macro_rules! travel {
    ($op:ident) => {
        operation!($op, [T(a), Int(source), Int(destination)] => {
            with_type!(all a, D K => one(a.get::<D, K>()?.movedim(source, destination)))
        })
    };
}

/// A shape given as an array.
macro_rules! shaped {
    ($op:ident $method:ident) => {
        operation!($op, [T(a), Ints(sizes)] => with_type!(all a, D K => with_rank!(sizes.len(), E => {
            one::<E, K>(a.get::<D, K>()?.$method(array::<E>(sizes)))
        })))
    };
}

pub const OPERATIONS: &[Operation<Burn>] = &[
    operator!(Add + number),
    operator!(Sub - number),
    operator!(Mul * number),
    operator!(Div / float),
    method!(Remainder number remainder remainder_scalar),
    method!(Fmod float fmod),
    method!(Eq all equal equal_elem),
    method!(Ne all not_equal not_equal_elem),
    method!(Lt number lower lower_scalar),
    method!(Le number lower_equal lower_equal_scalar),
    method!(Gt number greater greater_scalar),
    method!(Ge number greater_equal greater_equal_scalar),
    method!(Maximum number max_pair),
    method!(Minimum number min_pair),
    method!(Hypot float hypot),
    method!(Atan2 float atan2),
    operation!(Pow,
        [T(a), T(b)] if a.kind == Kind::Int => with_rank!(a.rank, D => {
            one(a.get::<D, Integer>()?.powi(b.get::<D, Integer>()?))
        }),
        [T(a), T(b)] => with_type!(float a, D K => one(a.get::<D, K>()?.powf(b.get::<D, K>()?))),
        [T(a), Number(Scalar::Int(n))] if a.kind == Kind::Int => {
            with_rank!(a.rank, D => one(a.get::<D, Integer>()?.powi_scalar(n)))
        },
        [T(a), Number(Scalar::Int(n))] => with_type!(float a, D K => one(a.get::<D, K>()?.powf_scalar(n))),
        [T(a), Number(n)] => with_type!(float a, D K => one(a.get::<D, K>()?.powf_scalar(real(n)?))),
        [Number(_), T(_)] => Err(unsupported(NUMBER_FIRST)),
    ),
    bitwise!(BitwiseAnd bitwise_and bitwise_and_scalar &),
    bitwise!(BitwiseOr bitwise_or bitwise_or_scalar |),
    bitwise!(BitwiseXor bitwise_xor bitwise_xor_scalar ^),
    method!(BitwiseLeftShift int bitwise_left_shift),
    method!(BitwiseRightShift int bitwise_right_shift),
    method!(LogicalAnd bool bool_and),
    method!(LogicalOr bool bool_or),
    method!(LogicalXor bool bool_xor),
    operation!(Clamp,
        [T(a), Number(Scalar::Int(low)), Number(Scalar::Int(high))] => {
            with_type!(number a, D K => one(a.get::<D, K>()?.clamp(low, high)))
        },
        [T(a), Number(low), Number(high)] => {
            with_type!(number a, D K => one(a.get::<D, K>()?.clamp(real(low)?, real(high)?)))
        },
        [T(_), Nothing, _] | [T(_), _, Nothing] => Err(unsupported(BOUNDS)),
        [T(_), _, _] => Err(unsupported(NUMBERS)),
    ),
    operation!(ClampMin,
        [T(a), Number(Scalar::Int(low))] => with_type!(number a, D K => one(a.get::<D, K>()?.clamp_min(low))),
        [T(a), Number(low)] => with_type!(number a, D K => one(a.get::<D, K>()?.clamp_min(real(low)?))),
        [T(_), T(_)] => Err(unsupported(NUMBERS)),
    ),
    operation!(ClampMax,
        [T(a), Number(Scalar::Int(high))] => with_type!(number a, D K => one(a.get::<D, K>()?.clamp_max(high))),
        [T(a), Number(high)] => with_type!(number a, D K => one(a.get::<D, K>()?.clamp_max(real(high)?))),
        [T(_), T(_)] => Err(unsupported(NUMBERS)),
    ),
    operation!(Where,
        [T(condition), T(a), T(b)] => with_type!(all b, D K => {
            one(b.get::<D, K>()?.mask_where(condition.get::<D, Bool>()?, a.get::<D, K>()?))
        }),
        [T(condition), Number(Scalar::Int(n)), T(b)] => with_type!(number b, D K => {
            one(b.get::<D, K>()?.mask_fill(condition.get::<D, Bool>()?, n))
        }),
        [T(condition), Number(n), T(b)] => with_type!(number b, D K => {
            one(b.get::<D, K>()?.mask_fill(condition.get::<D, Bool>()?, real(n)?))
        }),
        [T(_), _, Number(_)] => Err(unsupported(TENSORS)),
    ),
    operation!(MaskedFill,
        [T(a), T(mask), Number(Scalar::Int(n))] => {
            with_type!(number a, D K => one(a.get::<D, K>()?.mask_fill(mask.get::<D, Bool>()?, n)))
        },
        [T(a), T(mask), Number(n)] => {
            with_type!(number a, D K => one(a.get::<D, K>()?.mask_fill(mask.get::<D, Bool>()?, real(n)?)))
        },
        [T(_), T(_), T(_)] => Err(unsupported(NUMBERS)),
    ),
    operation!(MaskedSelect, [T(a), T(mask)] => {
        with_type!(all a, D K => one(a.get::<D, K>()?.mask_select(mask.get::<D, Bool>()?)))
    }),
    operation!(Isclose, [T(a), T(b), Number(rtol), Number(atol), ..] => with_type!(float a, D K => {
        one(a.get::<D, K>()?.is_close(b.get::<D, K>()?, Some(real(rtol)?), Some(real(atol)?)))
    })),
    operation!(Allclose, [T(a), T(b), Number(rtol), Number(atol), ..] => with_type!(float a, D K => {
        let close = a.get::<D, K>()?.all_close(b.get::<D, K>()?, Some(real(rtol)?), Some(real(atol)?));
        Ok(Returned::Number(Scalar::Bool(close)))
    })),
    shaped!(Expand expand),
    shaped!(BroadcastTo expand),
    shaped!(Reshape reshape),
    operation!(Unsqueeze, [T(a), Int(dim)] => with_type!(all a, D K => with_rank!(D + 1, E => {
        one::<E, K>(a.get::<D, K>()?.unsqueeze_dim(dim))
    }))),
    operation!(Squeeze,
        [T(a), Nothing] => with_type!(all a, D K => {
            let tensor = a.get::<D, K>()?;
            with_rank!(tensor.dims().iter().filter(|size| **size != 1).count(), E => one::<E, K>(tensor.squeeze()))
        }),
        [T(a), Int(dim) | Ints(&[dim])] => with_type!(all a, D K => with_rank!(D - 1, E => {
            one::<E, K>(a.get::<D, K>()?.squeeze_dim(dim))
        })),
        [T(a), Ints(dims)] => with_type!(all a, D K => with_rank!(D.saturating_sub(dims.len()), E => {
            one::<E, K>(a.get::<D, K>()?.squeeze_dims(dims))
        })),
    ),
    swap!(Transpose),
    swap!(Swapaxes),
    swap!(Swapdims),
    travel!(Movedim),
    travel!(Moveaxis),
    operation!(T, [T(a)] => with_type!(all a, D K => one(a.get::<D, K>()?.t()))),
    operation!(Permute, [T(a), Ints(dims)] => with_type!(all a, D K => {
        let dims = <[i64; D]>::try_from(dims).map_err(|_| unsupported(OPERANDS))?;
        one(a.get::<D, K>()?.permute(dims))
    })),
    operation!(Flatten, [T(a), Int(start), Int(end)] => with_type!(all a, D K => {
        with_rank!(flattened_rank(D, start, end), E => one::<E, K>(a.get::<D, K>()?.flatten(start, end)))
    })),
    operation!(Select, [T(a), Int(dim), Int(index)] => with_type!(all a, D K => with_rank!(D - 1, E => {
        one::<E, K>(a.get::<D, K>()?.select_dim(dim, index))
    }))),
    operation!(Narrow, [T(a), Int(dim), Int(start), Int(length)] => with_type!(all a, D K => {
        one(a.get::<D, K>()?.narrow(dim, natural(start)?, natural(length)?))
    })),
    operation!(Index, [T(a), Index(items)] => with_type!(all a, D K => {
        let slices = items.iter().map(slice).collect::<Result<Vec<_>, _>>()?;
        one(a.get::<D, K>()?.slice(&slices))
    })),
    operation!(IndexSelect, [T(a), Int(dim), T(index)] => with_type!(all a, D K => {
        one(a.get::<D, K>()?.select(dim, index.get::<1, Integer>()?))
    })),
    operation!(Gather, [T(a), Int(dim), T(index)] => with_type!(all a, D K => {
        one(a.get::<D, K>()?.gather(dim, index.get::<D, Integer>()?))
    })),
    operation!(Scatter,
        [T(a), Int(dim), T(index), T(source)] => with_type!(all a, D K => {
            let (index, source) = (index.get::<D, Integer>()?, source.get::<D, K>()?);
            one(a.get::<D, K>()?.scatter(dim, index, source, IndexingUpdateOp::Assign))
        }),
        [T(_), Int(_), T(_), Number(_)] => Err(unsupported(TENSORS)),
    ),
    operation!(Detach, [T(a)] => with_type!(float a, D K => one(a.get::<D, K>()?.detach()))),
    method!(Matmul number matmul),
    method!(Mm number matmul),
    method!(Bmm number matmul),
    operation!(Dot,
        [T(a), T(b)] if a.kind == Kind::Int => one(a.get::<1, Integer>()?.dot(b.get::<1, Integer>()?)),
        [T(a), T(b)] => one(a.get::<1, Float>()?.dot(b.get::<1, Float>()?)),
    ),
    operation!(LinalgCross, [T(a), T(b), Int(dim)] => {
        with_type!(float a, D K => one(a.get::<D, K>()?.cross(b.get::<D, K>()?, dim)))
    }),
    operation!(Einsum, [Text(equation), Tensors(ref operands)] => einsum(equation, operands)),
    operation!(Sum,
        [T(a), Nothing, Flag(false), ..] => with_type!(number a, D K => one(a.get::<D, K>()?.sum())),
        [T(_), Nothing, Flag(true), ..] => Err(unsupported(ALL)),
        [T(a), Int(dim) | Ints(&[dim]), Flag(true), ..] => {
            with_type!(number a, D K => one(a.get::<D, K>()?.sum_dim(dim)))
        },
        [T(a), Int(dim), Flag(false), ..] => with_type!(number a, D K => {
            with_rank!(D - 1, E => one::<E, K>(a.get::<D, K>()?.sum_dims_squeeze(&[dim])))
        }),
        [T(a), Ints(dims), Flag(true), ..] => with_type!(number a, D K => one(a.get::<D, K>()?.sum_dims(dims))),
        [T(a), Ints(dims), Flag(false), ..] => with_type!(number a, D K => {
            with_rank!(D.saturating_sub(dims.len()), E => one::<E, K>(a.get::<D, K>()?.sum_dims_squeeze(dims)))
        }),
    ),
    reduction!(Mean number mean mean_dim mean_dims),
    reduction!(Prod number prod prod_dim prod_dims),
    reduction!(Amax number max max_dim max_dims),
    reduction!(Amin number min min_dim min_dims),
    position!(Argmax argmax),
    position!(Argmin argmin),
    truth!(Any any any_dim),
    truth!(All all all_dim),
    operation!(Var,
        [T(_), Nothing, ..] => Err(unsupported(LIST)),
        [T(_), Int(_) | Ints(_), _, Flag(false), _] => Err(unsupported(KEPT)),
        [T(a), Int(dim) | Ints(&[dim]), Nothing, _, Nothing | Flag(true)] => {
            with_type!(float a, D K => one(a.get::<D, K>()?.var(dim)))
        },
        [T(a), Int(dim) | Ints(&[dim]), Nothing, _, Flag(false)] => {
            with_type!(float a, D K => one(a.get::<D, K>()?.var_bias(dim)))
        },
        [T(a), Int(dim) | Ints(&[dim]), Number(Scalar::Int(1)), ..] => {
            with_type!(float a, D K => one(a.get::<D, K>()?.var(dim)))
        },
        [T(a), Int(dim) | Ints(&[dim]), Number(Scalar::Int(0)), ..] => {
            with_type!(float a, D K => one(a.get::<D, K>()?.var_bias(dim)))
        },
        [T(_), Int(_) | Ints(&[_]), ..] => Err(unsupported(CORRECTION)),
        [T(_), Ints(_), ..] => Err(unsupported(LIST)),
    ),
    operation!(Item, [T(a)] => with_rank!(a.rank, D => Ok(Returned::Number(match a.kind {
        Kind::Float => Scalar::Float(a.get::<D, Float>()?.into_scalar::<f64>()),
        Kind::Int => Scalar::Int(a.get::<D, Integer>()?.into_scalar::<i64>()),
        Kind::Bool => Scalar::Bool(a.get::<D, Bool>()?.into_scalar::<bool>()),
    })))),
    operation!(Backward |burn, call|, [T(a), Nothing] => with_type!(float a, D K => {
        burn.gradients = Some(a.get::<D, K>()?.backward());
        Ok(Returned::Nothing)
    })),
    operation!(Grad |burn, call|, [T(a)] => with_type!(float a, D K => {
        let tensor = a.get::<D, K>()?;
        match burn.gradients.as_ref().and_then(|gradients| tensor.grad(gradients)) {
            Some(gradient) => one(gradient),
            None => Ok(Returned::Nothing),
        }
    })),
];

/// Parts of messages, with their classes of rejections.
pub const CLASSES: &[(&[Op], &str, Class)] = &[
    (&[], "capacity overflow", Class::ImpossibleSize),
    (&[Op::Expand, Op::BroadcastTo], "positive or -1! Got -", Class::ImpossibleSize),
    (&[Op::Expand, Op::BroadcastTo], "", Class::Expand),
    (&[Op::Reshape], "", Class::View),
    (&[Op::Item], "InvalidShape", Class::ItemCount),
    (&[], "dtype", Class::Dtype),
    (&[Op::Einsum], "operand count", Class::EinsumOperand),
    (&[Op::Einsum], "output subscript", Class::EinsumEquation),
    (&[Op::Einsum], "at byte", Class::EinsumEquation),
    (&[Op::Einsum], "", Class::EinsumOperand),
    (&[Op::LinalgCross], "BoundsError", Class::Dimension),
    (&[Op::LinalgCross], "Cross product requires", Class::ProductShape),
    (&[Op::Matmul, Op::Mm, Op::Bmm, Op::LinalgCross], "not broadcastable", Class::SizeMismatch),
    (&[Op::Matmul, Op::Mm, Op::Bmm, Op::Dot, Op::LinalgCross], "", Class::ProductShape),
    (&[], "divide by zero", Class::ZeroDivision),
    (&[], "divisor of zero", Class::ZeroDivision),
    (&[], "incompatible shapes", Class::SizeMismatch),
    (&[], "broadcast_shape: incompatible dimensions", Class::SizeMismatch),
    (&[Op::Gather, Op::Scatter], "shape should be the same", Class::SizeMismatch),
    (&[Op::Backward], "", Class::Autograd),
    (&[], "", Class::Dimension),
];

fn unsupported(why: &str) -> CallError {
    CallError::Unsupported(why.to_owned())
}

/// A number as an `f64`.
fn real(number: Scalar) -> Result<f64, CallError> {
    match number {
        Scalar::Int(number) => Ok(number as f64),
        Scalar::Float(number) => Ok(number),
        _ => Err(unsupported(KIND)),
    }
}

fn natural(number: i64) -> Result<usize, CallError> {
    usize::try_from(number).map_err(|_| unsupported(NEGATIVE))
}

/// As many sizes as the rank that was made of their number.
fn array<const D: usize>(sizes: &[i64]) -> [i64; D] {
    sizes.try_into().expect("the rank is their number")
}

fn slice(item: &IndexItem) -> Result<Slice, CallError> {
    match *item {
        IndexItem::Slice { start, stop, step } => {
            Ok(Slice { start: start.unwrap_or(0) as isize, end: stop.map(|stop| stop as isize), step: step as isize })
        }
        _ => Err(unsupported(ITEM)),
    }
}

/// The rank of a tensor of which these dimensions become one.
pub fn flattened_rank(rank: usize, start: i64, end: i64) -> usize {
    let last = |dim: i64| if dim < 0 { dim + rank as i64 } else { dim };
    (rank as i64 - (last(end) - last(start)).max(0)) as usize
}

/// The rank that the equation of an einsum shows: a result of no dimensions has one here.
pub fn einsum_rank(equation: &str) -> Option<usize> {
    let (_, output) = equation.split_once("->")?;
    (!output.contains('.')).then(|| output.chars().filter(|c| c.is_alphabetic()).count().max(1))
}

/// An einsum, if its equation shows the rank of the result: a result of no dimensions has one here.
fn einsum(equation: &str, operands: &[&Tensor]) -> Answer<Tensor> {
    let rank = einsum_rank(equation).ok_or_else(|| unsupported(EQUATION))?;
    let Some(first) = operands.first() else { return Err(unsupported(EQUATION)) };
    with_type!(number first, _D K => {
        let operands = operands.iter().map(|operand| {
            with_rank!(operand.rank, D => Ok(operand.get::<D, K>()?.into()))
        });
        let operands = operands.collect::<Result<Vec<_>, CallError>>()?;
        with_rank!(rank, E => one(burn_tensor::Tensor::<E, K>::einsum(equation, operands)))
    })
}
