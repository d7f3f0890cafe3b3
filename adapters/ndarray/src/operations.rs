//! The operation table, as far as ndarray has it.
//!
//! An operation is an operator or a function of ndarray and nothing made of several. Comparisons and `where` are
//! `Zip::map_collect`, which is how ndarray combines arrays that broadcast. Operands have one element type, since
//! anything else is rejected by the compiler, and a scalar is written as a literal of that type.

use Argument::{Index, Int, Ints, Nothing, Number, Tensor as T};
use broadcheck_protocol::adapter::{Answer, Argument, CallError, Operation, Returned};
use broadcheck_protocol::error::Class;
use broadcheck_protocol::operation;
use broadcheck_protocol::ops::Op;
use broadcheck_protocol::tensor::{DType, Element, IndexItem, Scalar};
use ndarray::linalg::{Dot, general_mat_mul, general_mat_vec_mul, kron};
use ndarray::{Array, ArrayD, Axis, Dimension, Ix1, Ix2, IxDyn, SliceInfo, SliceInfoElem, Zip, arr0};

use crate::array::{ALIAS, LAYOUT, TYPES, Tensor, VIEW};
use crate::{Ndarray, with_element};

pub const ELEMENT: &str = "Rust has no such operator or function of this element type";
const LITERAL: &str = "Rust has no such literal of this element type";
const NEGATIVE: &str = "ndarray's sizes, axes and indices are usize";
const FACTOR: &str = "ndarray has a factor in scaled_add only, which works in place on two arrays";
const ONE_AXIS: &str = "ndarray's function takes one axis, or is of all elements";
const DEGREES: &str = "ndarray's var and std are told their degrees of freedom";
const NUMBERS: &str = "ndarray's function takes a number";
const ARRAYS: &str = "ndarray's function takes arrays";
const BOUNDS: &str = "ndarray's clamp takes both bounds";
const ITEM: &str = "ndarray's slices have no ellipsis";
const SQUEEZE: &str = "ndarray's squeeze removes all axes of length one";
const RANK: &str = "ndarray has this function for arrays of another rank";

/// Texts, each with its operations.
macro_rules! answers {
    ($($text:ident: $($op:ident)+;)+) => { &[$(($text, &[$(Op::$op),+])),+] };
}

/// The texts with which a step is answered as unsupported, each with the operations of which it may be the answer.
pub const UNSUPPORTED: &[(&str, &[Op])] = answers! {
    ELEMENT: Add Sub Mul Div Fmod BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift BitwiseRightShift Lt Le Gt Ge Pow
        Hypot Clamp IndexSelect Matmul Mm Mv Dot Kron Addmm Addmv Sum Prod Mean Var Std;
    LITERAL: Add Sub Mul Div Fmod BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift BitwiseRightShift Pow Hypot Clamp
        Fill Addmm Addmv Var Std;
    NEGATIVE: Expand BroadcastTo Unsqueeze Transpose Swapaxes Swapdims Permute View Reshape Select IndexSelect Sum Prod
        Mean Var Std;
    FACTOR: Add;
    ONE_AXIS: Sum Mean Var Std;
    DEGREES: Var Std;
    NUMBERS: Pow Hypot Clamp Fill;
    ARRAYS: Eq Ne Lt Le Gt Ge Where;
    BOUNDS: Clamp;
    ITEM: Index;
    SQUEEZE: Squeeze;
    RANK: IndexSelect Kron Addmm Addmv;
    TYPES: Add Sub Mul Div Fmod BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift BitwiseRightShift Eq Ne Lt Le Gt Ge
        Where Equal Copy Matmul Mm Mv Dot Kron Addmm Addmv;
    ALIAS: Add Sub Mul Div Fmod BitwiseAnd BitwiseOr BitwiseXor BitwiseLeftShift BitwiseRightShift Copy Fill Transpose
        Swapaxes Swapdims Addmm Addmv;
    VIEW: Expand BroadcastTo ExpandAs Unsqueeze Squeeze Transpose Swapaxes Swapdims T Permute View Reshape Flatten
        Select Index Contiguous;
    LAYOUT: View;
};

const KEEPDIM: &str = "ndarray's reductions keep no axis";
const NO_DTYPE: &str = "ndarray's reductions have no dtype";

pub const ARGUMENTS: [(Op, &str, &str); 14] = [
    (Op::Sub, "alpha", FACTOR),
    (Op::Div, "rounding_mode", "ndarray has one division"),
    (Op::Flatten, "start_dim", "ndarray's flatten is of all axes"),
    (Op::Flatten, "end_dim", "ndarray's flatten is of all axes"),
    (Op::Sum, "keepdim", KEEPDIM),
    (Op::Sum, "dtype", NO_DTYPE),
    (Op::Prod, "keepdim", KEEPDIM),
    (Op::Prod, "dtype", NO_DTYPE),
    (Op::Mean, "keepdim", KEEPDIM),
    (Op::Mean, "dtype", NO_DTYPE),
    (Op::Var, "keepdim", KEEPDIM),
    (Op::Var, "unbiased", DEGREES),
    (Op::Std, "keepdim", KEEPDIM),
    (Op::Std, "unbiased", DEGREES),
];

/// An operator, and the one that works in place.
macro_rules! operator {
    ($op:ident $class:ident $operator:tt $in_place:tt) => {
        operation!($op [Functional InPlace],
            @InPlace [T(a), T(b), ..] => with_element!($class a.dtype, A => {
                *a.get_mut::<A>()? $in_place &*b.get::<A>()?;
                same(a)
            }),
            @InPlace [T(a), Number(n), ..] => with_element!($class a.dtype, A => {
                *a.get_mut::<A>()? $in_place literal::<A>(n)?;
                same(a)
            }),
            [T(a), T(b), ..] => with_element!($class a.dtype, A => new(&*a.get::<A>()? $operator &*b.get::<A>()?)),
            [T(a), Number(n), ..] => with_element!($class a.dtype, A => {
                new(&*a.get::<A>()? $operator literal::<A>(n)?)
            }),
            [Number(n), T(a), ..] => with_element!($class a.dtype, A => {
                new(literal::<A>(n)? $operator &*a.get::<A>()?)
            }),
        )
    };
}

/// A comparison, by `Zip`.
macro_rules! comparison {
    ($op:ident $class:ident $operator:tt) => {
        operation!($op,
            [T(a), T(b)] => with_element!($class a.dtype, A => {
                let (a, b) = (a.get::<A>()?, b.get::<A>()?);
                new(Zip::from(&*a).and_broadcast(&*b).map_collect(|a, b| a $operator b))
            }),
            [T(_), Number(_)] | [Number(_), T(_)] => Err(unsupported(ARRAYS)),
        )
    };
}

/// A reduction along one axis, and one of all elements.
macro_rules! reduction {
    ($op:ident $all:ident $along:ident) => {
        operation!($op,
            [T(a), Nothing, ..] => with_element!(number a.dtype, A => new(arr0(a.get::<A>()?.$all()).into_dyn())),
            [T(a), Int(axis) | Ints(&[axis]), ..] => {
                with_element!(number a.dtype, A => new(a.get::<A>()?.$along(Axis(natural(axis)?))))
            },
            [T(_), Ints(_), ..] => Err(unsupported(ONE_AXIS)),
        )
    };
}

/// A variance or its root.
macro_rules! spread {
    ($op:ident $all:ident $along:ident) => {
        operation!($op,
            [T(a), Nothing, Number(freedom), ..] => with_element!(float a.dtype, A => {
                new(arr0(a.get::<A>()?.$all(literal(freedom)?)).into_dyn())
            }),
            [T(a), Int(axis) | Ints(&[axis]), Number(freedom), ..] => with_element!(float a.dtype, A => {
                new(a.get::<A>()?.$along(Axis(natural(axis)?), literal(freedom)?))
            }),
            [T(_), Ints(_), Number(_), ..] => Err(unsupported(ONE_AXIS)),
            [T(_), _, Nothing, ..] => Err(unsupported(DEGREES)),
        )
    };
}

/// `dot` of two arrays of dynamic rank.
macro_rules! dot {
    ($op:ident) => {
        operation!($op, [T(a), T(b)] => {
            with_element!(number a.dtype, A => new(Dot::dot(&**a.get::<A>()?, &**b.get::<A>()?)))
        })
    };
}

/// A function of an array and two axes, as a view or in place.
macro_rules! swap {
    ($op:ident) => {
        operation!($op [Functional InPlace],
            @InPlace [T(a), Int(one), Int(other)] => with_element!(all a.dtype, A => {
                let (one, other) = (natural(one)?, natural(other)?);
                a.get_mut::<A>()?.swap_axes(one, other);
                same(a)
            }),
            [T(a), Int(one), Int(other)] => with_element!(all a.dtype, A => {
                let (one, other) = (natural(one)?, natural(other)?);
                let array = a.get::<A>()?;
                let mut view = array.view();
                view.swap_axes(one, other);
                a.view(view)
            }),
        )
    };
}

/// A function that gives a view of an array.
macro_rules! view {
    ($op:ident, $($arguments:pat => |$array:ident| $view:expr),+) => {
        operation!($op, $([T(a), $arguments] => with_element!(all a.dtype, A => {
            let $array = &*a.get::<A>()?;
            a.view($view)
        })),+)
    };
}

pub const OPERATIONS: &[Operation<Ndarray>] = &[
    operation!(Add [Functional InPlace] |ndarray, call|,
        [.., Number(Scalar::Int(1))] => (PLUS.call)(ndarray, call),
        @InPlace [T(a), T(b), Number(alpha)] => with_element!(number a.dtype, A => {
            a.get_mut::<A>()?.scaled_add(literal(alpha)?, &*b.get::<A>()?);
            same(a)
        }),
        _ => Err(unsupported(FACTOR)),
    ),
    operator!(Sub number - -=),
    operator!(Mul number * *=),
    operator!(Div number / /=),
    operator!(Fmod real % %=),
    operator!(BitwiseAnd bits & &=),
    operator!(BitwiseOr bits | |=),
    operator!(BitwiseXor bits ^ ^=),
    operator!(BitwiseLeftShift integer << <<=),
    operator!(BitwiseRightShift integer >> >>=),
    comparison!(Eq all ==),
    comparison!(Ne all !=),
    comparison!(Lt ordered <),
    comparison!(Le ordered <=),
    comparison!(Gt ordered >),
    comparison!(Ge ordered >=),
    operation!(Where,
        [T(condition), T(a), T(b)] => with_element!(all a.dtype, A => {
            let (condition, a, b) = (condition.get::<bool>()?, a.get::<A>()?, b.get::<A>()?);
            let choose = |&condition: &bool, &a: &A, &b: &A| if condition { a } else { b };
            new(Zip::from(&*condition).and_broadcast(&*a).and_broadcast(&*b).map_collect(choose))
        }),
        [T(_), _, _] => Err(unsupported(ARRAYS)),
    ),
    operation!(Equal, [T(a), T(b)] => with_element!(all a.dtype, A => {
        Ok(Returned::Number(Scalar::Bool(*a.get::<A>()? == *b.get::<A>()?)))
    })),
    operation!(Pow,
        [T(a), Number(n)] => with_element!(float a.dtype, A => new(a.get::<A>()?.powf(literal(n)?))),
        [_, T(_)] => Err(unsupported(NUMBERS)),
    ),
    operation!(Hypot,
        [T(a), Number(n)] => with_element!(float a.dtype, A => new(a.get::<A>()?.hypot(literal(n)?))),
        [_, T(_)] => Err(unsupported(NUMBERS)),
    ),
    operation!(Clamp,
        [T(a), Number(low), Number(high)] => {
            with_element!(ordered a.dtype, A => new(a.get::<A>()?.clamp(literal(low)?, literal(high)?)))
        },
        [T(_), Nothing, _] | [T(_), _, Nothing] => Err(unsupported(BOUNDS)),
        [T(_), _, _] => Err(unsupported(NUMBERS)),
    ),
    operation!(Copy [InPlace], [T(a), T(b)] => with_element!(all a.dtype, A => {
        a.get_mut::<A>()?.assign(&*b.get::<A>()?);
        same(a)
    })),
    operation!(Fill [InPlace],
        [T(a), Number(n)] => with_element!(all a.dtype, A => {
            a.get_mut::<A>()?.fill(literal(n)?);
            same(a)
        }),
        [T(_), T(_)] => Err(unsupported(NUMBERS)),
    ),
    view!(Expand, Ints(sizes) => |array| some(array.broadcast(naturals(sizes)?))?),
    view!(BroadcastTo, Ints(sizes) => |array| some(array.broadcast(naturals(sizes)?))?),
    operation!(ExpandAs, [T(a), T(other)] => {
        let sizes = with_element!(all other.dtype, A => Ok(other.get::<A>()?.raw_dim()))?;
        with_element!(all a.dtype, A => a.view(some(a.get::<A>()?.broadcast(sizes))?))
    }),
    view!(Unsqueeze, Int(axis) => |array| array.view().insert_axis(Axis(natural(axis)?))),
    operation!(Squeeze,
        [T(a), Nothing] => with_element!(all a.dtype, A => a.view(a.get::<A>()?.view().squeeze())),
        [T(_), _] => Err(unsupported(SQUEEZE)),
    ),
    swap!(Transpose),
    swap!(Swapaxes),
    swap!(Swapdims),
    operation!(T, [T(a)] => with_element!(all a.dtype, A => a.view(a.get::<A>()?.t()))),
    view!(Permute, Ints(axes) => |array| array.view().permuted_axes(naturals(axes)?)),
    operation!(View,
        [T(a), Ints(_)] if a.scattered => Err(unsupported(LAYOUT)),
        [T(a), Ints(sizes)] => with_element!(all a.dtype, A => {
            a.view(a.get::<A>()?.view().into_shape_with_order(naturals(sizes)?)?)
        }),
    ),
    operation!(Reshape, [T(a), Ints(sizes)] => {
        with_element!(all a.dtype, A => a.view(a.get::<A>()?.to_shape(naturals(sizes)?)?.view()))
    }),
    operation!(Flatten, [T(a), ..] => {
        with_element!(all a.dtype, A => a.view(a.get::<A>()?.flatten().view().into_dyn()))
    }),
    operation!(Select, [T(a), Int(axis), Int(index)] => with_element!(all a.dtype, A => {
        a.view(a.get::<A>()?.index_axis(Axis(natural(axis)?), natural(index)?))
    })),
    operation!(Index, [T(a), Index(items)] => {
        let slice = items.iter().map(slice_item).collect::<Result<Vec<_>, _>>()?;
        let slice = SliceInfo::<_, IxDyn, IxDyn>::try_from(slice)?;
        with_element!(all a.dtype, A => a.view(a.get::<A>()?.slice(slice)))
    }),
    operation!(IndexSelect, [T(a), Int(axis), T(index)] => with_element!(all a.dtype, A => {
        new(a.get::<A>()?.select(Axis(natural(axis)?), &indices(index)?))
    })),
    operation!(Clone, [T(a)] => with_element!(all a.dtype, A => new(a.get::<A>()?.to_owned()))),
    operation!(Contiguous, [T(a)] => {
        with_element!(all a.dtype, A => a.view(a.get::<A>()?.as_standard_layout().view()))
    }),
    dot!(Matmul),
    dot!(Mm),
    dot!(Mv),
    dot!(Dot),
    operation!(Kron, [T(a), T(b)] => with_element!(number a.dtype, A => {
        new(kron(&fixed::<A, Ix2>(a)?, &fixed::<A, Ix2>(b)?).into_dyn())
    })),
    operation!(Addmm [InPlace],
        [T(c), T(a), T(b), Number(beta), Number(alpha)] => with_element!(number c.dtype, A => {
            let (a, b) = (fixed::<A, Ix2>(a)?, fixed::<A, Ix2>(b)?);
            let mut sum = fixed::<A, Ix2>(c)?;
            general_mat_mul(literal(alpha)?, &a, &b, literal(beta)?, &mut sum);
            written(c, sum)
        }),
    ),
    operation!(Addmv [InPlace],
        [T(y), T(a), T(x), Number(beta), Number(alpha)] => with_element!(number y.dtype, A => {
            let (a, x) = (fixed::<A, Ix2>(a)?, fixed::<A, Ix1>(x)?);
            let mut sum = fixed::<A, Ix1>(y)?;
            general_mat_vec_mul(literal(alpha)?, &a, &x, literal(beta)?, &mut sum);
            written(y, sum)
        }),
    ),
    reduction!(Sum sum sum_axis),
    reduction!(Prod product product_axis),
    operation!(Mean,
        [T(a), Nothing, ..] => with_element!(number a.dtype, A => new(arr0(some(a.get::<A>()?.mean())?).into_dyn())),
        [T(a), Int(axis) | Ints(&[axis]), ..] => {
            with_element!(number a.dtype, A => new(some(a.get::<A>()?.mean_axis(Axis(natural(axis)?)))?))
        },
        [T(_), Ints(_), ..] => Err(unsupported(ONE_AXIS)),
    ),
    spread!(Var var var_axis),
    spread!(Std std std_axis),
];

const PLUS: Operation<Ndarray> = operator!(Add number + +=);

/// The operations that do not write to an operand and yet want one that is as large as the result.
const ZIPPED: &[Op] = &[Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Where];

/// Parts of messages, with their classes of rejections.
pub const CLASSES: &[(&[Op], &str, Class)] = &[
    (&[Op::Expand, Op::ExpandAs, Op::BroadcastTo], "", Class::Expand),
    (&[Op::View, Op::Reshape], "", Class::View),
    (&[Op::Addmm, Op::Addmv], "output", Class::OutputShape),
    (&[Op::Matmul, Op::Mm, Op::Mv, Op::Dot, Op::Addmm, Op::Addmv], "", Class::ProductShape),
    (ZIPPED, "could not broadcast", Class::SizeMismatch),
    (&[], "could not broadcast", Class::OutputShape),
    (&[], "IncompatibleShape", Class::SizeMismatch),
    (&[], "by zero", Class::ZeroDivision),
    (&[], "divisor of zero", Class::ZeroDivision),
    (&[Op::Clamp], "min must be", Class::Argument),
    (&[Op::Index], "step", Class::Argument),
    (&[], "", Class::Dimension),
];

fn unsupported(why: &str) -> CallError {
    CallError::Unsupported(why.to_owned())
}

fn new<A: Element>(array: ArrayD<A>) -> Answer<Tensor> {
    Ok(Returned::Tensor(Tensor::new(array)))
}

fn same(tensor: &Tensor) -> Answer<Tensor> {
    Ok(Returned::Tensor(tensor.clone()))
}

/// The rejection for `None`, which some of ndarray's functions return.
fn some<T>(result: Option<T>) -> Result<T, CallError> {
    result.ok_or_else(|| CallError::Rejected("None".to_owned()))
}

/// A number as a literal of an element type: one that the compiler takes.
fn literal<A: Element>(number: Scalar) -> Result<A, CallError> {
    let category = A::DTYPE.category();
    let exact = match (number, A::DTYPE) {
        (Scalar::Bool(_), DType::Bool) => true,
        (_, DType::Bool) | (Scalar::Bool(_), _) => false,
        (Scalar::Int(number), DType::Uint8) => u8::try_from(number).is_ok(),
        _ => number.category() <= category && number.fits(A::DTYPE),
    };
    if exact { Ok(A::from_scalar(number)) } else { Err(unsupported(LITERAL)) }
}

fn natural(number: i64) -> Result<usize, CallError> {
    usize::try_from(number).map_err(|_| unsupported(NEGATIVE))
}

fn naturals(numbers: &[i64]) -> Result<Vec<usize>, CallError> {
    numbers.iter().map(|&number| natural(number)).collect()
}

/// A tensor of indices as the slice that ndarray takes.
fn indices(tensor: &Tensor) -> Result<Vec<usize>, CallError> {
    with_element!(integer tensor.dtype, A => {
        let indices = fixed::<A, Ix1>(tensor)?;
        let position = |index: &A| match index.to_scalar() {
            Scalar::Int(index) => natural(index),
            _ => Err(unsupported(ELEMENT)),
        };
        indices.iter().map(position).collect()
    })
}

/// An array of a rank that the compiler knows.
fn fixed<A: Element, D: Dimension>(tensor: &Tensor) -> Result<Array<A, D>, CallError> {
    tensor.get::<A>()?.to_owned().into_dimensionality().map_err(|_| unsupported(RANK))
}

/// The answer of a function that wrote to an array of a rank that the compiler knows.
fn written<A: Element, D: Dimension>(target: &Tensor, array: Array<A, D>) -> Answer<Tensor> {
    *target.get_mut::<A>()? = array.into_dyn();
    same(target)
}

fn slice_item(item: &IndexItem) -> Result<SliceInfoElem, CallError> {
    Ok(match *item {
        IndexItem::None => SliceInfoElem::NewAxis,
        IndexItem::At(index) => SliceInfoElem::Index(index as isize),
        IndexItem::Slice { start, stop, step } => SliceInfoElem::Slice {
            start: start.unwrap_or(0) as isize,
            end: stop.map(|stop| stop as isize),
            step: step as isize,
        },
        IndexItem::Ellipsis => return Err(unsupported(ITEM)),
    })
}
