//! The operation table, as far as ferrotorch has it.
//!
//! An operation is a method of ferrotorch's tensors, or the function where there is no method, and nothing made of
//! several. Where ferrotorch has one that broadcasts next to one that does not, it is the one that broadcasts. A number
//! is given as the function takes it: as an `f64`, or as an element.

use Argument::{Flag, Int, Ints, Nothing, Number, Shapes, Tensor as T, Tensors, Text};
use broadcheck_protocol::adapter::{Argument, Call, CallError, Operation, Returned};
use broadcheck_protocol::error::Class;
use broadcheck_protocol::operation;
use broadcheck_protocol::ops::Op;
use broadcheck_protocol::program::ShapeArg;
use broadcheck_protocol::tensor::{Element, Scalar};
use ferrotorch_core::grad_fns::arithmetic::{add_scaled, add_scaled_out, sub_scaled};
use ferrotorch_core::grad_fns::indexing::{masked_fill_bcast, masked_select_bcast, where_cond_bcast};
use ferrotorch_core::grad_fns::{activation, reduction};
use ferrotorch_core::ops::elementwise;
use ferrotorch_core::{
    BoolTensor, ComplexTensor, IntTensor, Tensor as Floats, broadcast_shapes, broadcast_tensors, cdist, linalg,
    scatter, select, special,
};

use crate::tensor::{OPERANDS, Tensor, one};
use crate::{Ferrotorch, typed};

const NUMBERS: &str = "ferrotorch's function takes tensors, and no number in the place of one";
const TENSORS: &str = "ferrotorch's function takes a number, and no tensor in its place";
const REAL: &str = "ferrotorch's numbers are real";
const ELEMENT: &str = "ferrotorch's number is an element here, and there is none such";
const NEGATIVE: &str = "ferrotorch's sizes and indices, and many of its dimensions, are usize";
const FACTOR: &str = "ferrotorch's function of this type of tensor has no factor";
const ROUNDING: &str = "ferrotorch rounds quotients in place only";
const BOUNDS: &str = "ferrotorch's clamp takes both bounds";
const ONE_DIMENSION: &str = "ferrotorch's function takes one dimension";
const ALL: &str = "ferrotorch's function of all elements keeps no dimension";
const KEPT: &str = "ferrotorch's function of integers keeps no dimension";
const FLAT: &str = "ferrotorch's flatten is of all dimensions";
const TWO_SHAPES: &str = "ferrotorch broadcasts two shapes";
const NO_SHAPE: &str = "ferrotorch's shapes are lists of usize, and nothing else";
const NO_OPERANDS: &str = "no tensors have no type";
const LEFT: &str = "ferrotorch's solve has the matrix on the left";

/// Texts, each with its operations.
macro_rules! answers {
    ($($text:ident: $($op:ident)+;)+) => { &[$(($text, &[$(Op::$op),+])),+] };
}

/// The texts with which a step is answered as unsupported, each with the operations of which it may be the answer.
pub const UNSUPPORTED: &[(&str, &[Op])] = answers! {
    NUMBERS: Add Sub Rsub Mul Div FloorDivide Remainder Fmod Eq Ne Lt Le Gt Ge BitwiseAnd BitwiseOr BitwiseXor
        BitwiseLeftShift BitwiseRightShift Copysign Xlogy SpecialZeta Where;
    TENSORS: Pow SpecialChebyshevPolynomialT SpecialChebyshevPolynomialU SpecialChebyshevPolynomialV
        SpecialChebyshevPolynomialW SpecialShiftedChebyshevPolynomialT SpecialShiftedChebyshevPolynomialU
        SpecialShiftedChebyshevPolynomialV SpecialShiftedChebyshevPolynomialW SpecialHermitePolynomialH
        SpecialHermitePolynomialHe SpecialLaguerrePolynomialL SpecialLegendrePolynomialP Clamp ClampMin ClampMax Fill
        MaskedFill;
    REAL: Add Sub Rsub Mul Pow Addcmul Addcdiv Clamp ClampMin ClampMax Fill MaskedFill Scatter Addmm Addmv Addr Baddbmm
        Addbmm Var Std VectorNorm Cdist;
    ELEMENT: Add Mul Clamp ClampMin ClampMax Fill MaskedFill Scatter Addmm Addmv Addr Baddbmm Addbmm;
    NEGATIVE: SpecialChebyshevPolynomialT SpecialChebyshevPolynomialU SpecialChebyshevPolynomialV
        SpecialChebyshevPolynomialW SpecialShiftedChebyshevPolynomialT SpecialShiftedChebyshevPolynomialU
        SpecialShiftedChebyshevPolynomialV SpecialShiftedChebyshevPolynomialW SpecialHermitePolynomialH
        SpecialHermitePolynomialHe SpecialLaguerrePolynomialL SpecialLegendrePolynomialP Expand BroadcastTo
        BroadcastShapes Transpose Swapaxes Swapdims Permute Reshape Select Narrow AsStrided Scatter;
    FACTOR: Add Sub;
    ROUNDING: Div;
    BOUNDS: Clamp;
    ONE_DIMENSION: Squeeze Sum Mean Amax Amin Any All Logsumexp Var Std VectorNorm;
    ALL: Sum Nansum Mean Prod Amax Amin Any All Argmax Argmin Var Std VectorNorm;
    KEPT: Argmax Argmin;
    FLAT: Flatten;
    TWO_SHAPES: BroadcastShapes;
    NO_SHAPE: BroadcastShapes;
    NO_OPERANDS: BroadcastTensors Einsum;
    LEFT: LinalgSolve;
    OPERANDS: Add Sub Rsub Mul Div FloorDivide Remainder Fmod Eq Ne Lt Le Gt Ge BitwiseAnd BitwiseOr BitwiseXor
        BitwiseLeftShift BitwiseRightShift LogicalAnd LogicalOr LogicalXor Hypot Atan2 Copysign Nextafter Xlogy
        SpecialZeta Igamma Igammac Addcmul Addcdiv Where Prelu ExpandAs BroadcastTensors MaskedFill MaskedScatter
        MaskedSelect Scatter Einsum Matmul Mm Bmm Mv Dot Addmm Addmv Addr Baddbmm Addbmm Outer Kron LinalgCross
        LinalgSolve Cdist Backward;
};

/// The operations that take tensors of every type, or none. Any other may be answered with
/// [`KIND`](crate::tensor::KIND).
pub const OF_EVERY_TYPE: &[Op] = &[Op::BroadcastShapes, Op::Reshape];

const NO_DTYPE: &str = "ferrotorch's function has no dtype";

pub const ARGUMENTS: [(Op, &str, &str); 7] = [
    (Op::Sum, "dtype", NO_DTYPE),
    (Op::Nansum, "dtype", NO_DTYPE),
    (Op::Nansum, "dim", "ferrotorch's nansum is of all elements"),
    (Op::Mean, "dtype", NO_DTYPE),
    (Op::Prod, "dtype", NO_DTYPE),
    (Op::VectorNorm, "dtype", NO_DTYPE),
    (Op::Cdist, "compute_mode", "ferrotorch's cdist has no such mode"),
];

/// A function of two tensors of one type.
macro_rules! binary {
    ($op:ident $($kind:ident $function:path),+) => {
        operation!($op,
            [T(a), T(b)] => typed!((a, b) $($kind => one($function(a, b))),+),
            [T(_), Number(_)] | [Number(_), T(_)] => Err(unsupported(NUMBERS)),
        )
    };
}

/// A function of a tensor and a degree.
macro_rules! polynomial {
    ($op:ident $function:ident) => {
        operation!($op,
            [T(x), Number(Scalar::Int(degree))] => typed!((x) float => one(special::$function(x, natural(degree)?))),
            [T(_), Number(_)] => Err(unsupported(NEGATIVE)),
            [_, T(_)] => Err(unsupported(TENSORS)),
        )
    };
}

/// A tensor with a factor times two others.
macro_rules! fused {
    ($op:ident $function:ident) => {
        operation!($op, [T(a), T(b), T(c), Number(value)] => {
            typed!((a, b, c) float => one(a.$function(b, c, real(value)?)))
        })
    };
}

/// A product with a summand, and a factor for each.
macro_rules! affine {
    ($op:ident $function:ident) => {
        operation!($op, [T(a), T(b), T(c), Number(beta), Number(alpha)] => {
            typed!((a, b, c) float => one(linalg::$function(a, b, c, element(beta)?, element(alpha)?)))
        })
    };
}

/// A bound in place.
macro_rules! bound {
    ($op:ident |$bound:ident| $low:expr, $high:expr) => {
        operation!($op [InPlace],
            [T(a), Number(number)] => typed!((a) float => {
                let $bound = element(number)?;
                one(a.clamp_opt_($low, $high).cloned())
            }),
            [T(_), T(_)] => Err(unsupported(TENSORS)),
        )
    };
}

/// Two dimensions that change places.
macro_rules! swap {
    ($op:ident $method:ident) => {
        operation!($op, [T(a), Int(one_dim), Int(other)] => {
            typed!((a) float => one(a.$method(natural(one_dim)?, natural(other)?)))
        })
    };
}

/// A dimension that goes elsewhere.
macro_rules! travel {
    ($op:ident $method:ident) => {
        operation!($op, [T(a), Int(source), Int(destination)] => {
            typed!((a) float => one(a.$method(&[source as isize], &[destination as isize])))
        })
    };
}

/// A reduction of all elements, and of one dimension.
macro_rules! reduction {
    ($op:ident $all:path, $one:path $(, $kind:ident $other:path)*) => {
        operation!($op,
            [T(a), Nothing, Flag(false), ..] => typed!((a) float => one($all(a)) $(, $kind => one($other(a)))*),
            [T(_), Nothing, Flag(true), ..] => Err(unsupported(ALL)),
            [T(a), Int(dim) | Ints(&[dim]), Flag(keepdim), ..] => typed!((a) float => one($one(a, dim, keepdim))),
            [T(_), Ints(_), ..] => Err(unsupported(ONE_DIMENSION)),
        )
    };
}

/// A position among all elements, and along one dimension.
macro_rules! position {
    ($op:ident $method:ident $all:ident $one:ident) => {
        operation!($op,
            [T(a), Nothing, Flag(false)] => typed!((a) float => one(a.$all()), int => one(a.$method(None))),
            [T(_), Nothing, Flag(true)] => Err(unsupported(ALL)),
            [T(a), Int(dim), Flag(keepdim)] => typed!((a)
                float => one(a.$one(dim, keepdim)),
                int => if keepdim { Err(unsupported(KEPT)) } else { one(a.$method(Some(dim as isize))) },
            ),
        )
    };
}

/// A variance or its root, of all elements and of one dimension.
macro_rules! moment {
    ($op:ident $all:ident $one:ident) => {
        operation!($op,
            [T(a), Nothing, ref correction, Flag(false), ref unbiased] => {
                typed!((a) float => one(a.$all(taken_off(correction, unbiased)?)))
            },
            [T(_), Nothing, _, Flag(true), _] => Err(unsupported(ALL)),
            [T(a), Int(dim) | Ints(&[dim]), ref correction, Flag(keepdim), ref unbiased] => {
                typed!((a) float => one(reduction::$one(a, dim, taken_off(correction, unbiased)?, keepdim)))
            },
            [T(_), Ints(_), ..] => Err(unsupported(ONE_DIMENSION)),
        )
    };
}

pub const OPERATIONS: &[Operation<Ferrotorch>] = &[
    operation!(Add [Functional InPlace Out] |_library, call|,
        @InPlace [T(a), T(b), Number(alpha)] => {
            typed!((a, b) float => one(a.add_scaled_(b, real(alpha)?).cloned()))
        },
        @InPlace [T(a), Number(number), Number(Scalar::Int(1))] => {
            typed!((a) float => one(a.add_scalar_(element(number)?).cloned()))
        },
        @Out [T(a), T(b), Number(alpha)] => {
            let out = target(call)?;
            typed!((a, b, out) float => one(add_scaled_out(out, a, b, real(alpha)?).map(|()| out.clone())))
        },
        [T(a), T(b), Number(alpha)] => typed!((a, b)
            float => one(add_scaled(a, b, real(alpha)?)),
            int => unscaled(alpha).and_then(|()| one(a.add(b))),
            complex => unscaled(alpha).and_then(|()| one(a.add(b))),
        ),
        [T(_), Number(_), _] | [Number(_), T(_), _] => Err(unsupported(NUMBERS)),
    ),
    operation!(Sub [Functional InPlace],
        @InPlace [T(a), T(b), Number(alpha)] => {
            typed!((a, b) float => one(a.sub_scaled_(b, real(alpha)?).cloned()))
        },
        [T(a), T(b), Number(alpha)] => typed!((a, b)
            float => one(sub_scaled(a, b, real(alpha)?)),
            int => unscaled(alpha).and_then(|()| one(a.sub(b))),
            complex => unscaled(alpha).and_then(|()| one(a.sub(b))),
        ),
        [T(_), Number(_), _] | [Number(_), T(_), _] => Err(unsupported(NUMBERS)),
    ),
    operation!(Rsub,
        [T(a), T(b), Number(alpha)] => typed!((a, b) float => one(a.rsub_t(b, real(alpha)?))),
        [T(_), Number(_), _] | [Number(_), T(_), _] => Err(unsupported(NUMBERS)),
    ),
    operation!(Mul [Functional InPlace],
        @InPlace [T(a), T(b)] => typed!((a, b) float => one(a.mul_(b).cloned())),
        @InPlace [T(a), Number(number)] => typed!((a) float => one(a.mul_scalar_(element(number)?).cloned())),
        [T(a), T(b)] => {
            typed!((a, b) float => one(a.mul_t(b)), int => one(a.mul(b)), complex => one(a.mul(b)))
        },
        [T(_), Number(_)] | [Number(_), T(_)] => Err(unsupported(NUMBERS)),
    ),
    operation!(Div [Functional InPlace],
        @InPlace [T(a), T(b), Nothing] => typed!((a, b) float => one(a.div_(b).cloned())),
        @InPlace [T(a), T(b), Text(mode)] => typed!((a, b) float => one(a.div_rounding_(b, mode).cloned())),
        [T(a), T(b), Nothing] => typed!((a, b) float => one(a.div_t(b))),
        [_, _, Text(_)] => Err(unsupported(ROUNDING)),
        [T(_), Number(_), _] | [Number(_), T(_), _] => Err(unsupported(NUMBERS)),
    ),
    binary!(FloorDivide float Floats::floor_divide_t, int IntTensor::floor_div),
    binary!(Remainder float Floats::remainder_t, int IntTensor::remainder),
    binary!(Fmod float Floats::fmod_t),
    operation!(Pow,
        [T(a), Number(exponent)] => typed!((a) float => one(a.pow_t(real(exponent)?))),
        [_, T(_)] => Err(unsupported(TENSORS)),
    ),
    binary!(Eq float BoolTensor::eq_t, int BoolTensor::eq_int),
    binary!(Ne float BoolTensor::ne, int BoolTensor::ne_int),
    binary!(Lt float BoolTensor::lt, int BoolTensor::lt_int),
    binary!(Le float BoolTensor::le, int BoolTensor::le_int),
    binary!(Gt float BoolTensor::gt, int BoolTensor::gt_int),
    binary!(Ge float BoolTensor::ge, int BoolTensor::ge_int),
    binary!(BitwiseAnd int IntTensor::bitand),
    binary!(BitwiseOr int IntTensor::bitor),
    binary!(BitwiseXor int IntTensor::bitxor),
    binary!(BitwiseLeftShift int IntTensor::shl),
    binary!(BitwiseRightShift int IntTensor::shr),
    binary!(LogicalAnd bool BoolTensor::and),
    binary!(LogicalOr bool BoolTensor::or),
    binary!(LogicalXor bool BoolTensor::xor),
    binary!(Hypot float ferrotorch_core::hypot),
    binary!(Atan2 float ferrotorch_core::atan2),
    binary!(Copysign float ferrotorch_core::copysign),
    binary!(Nextafter float ferrotorch_core::nextafter),
    binary!(Xlogy float special::xlogy),
    binary!(SpecialZeta float special::zeta),
    binary!(Igamma float special::gammainc),
    binary!(Igammac float special::gammaincc),
    polynomial!(SpecialChebyshevPolynomialT chebyshev_polynomial_t),
    polynomial!(SpecialChebyshevPolynomialU chebyshev_polynomial_u),
    polynomial!(SpecialChebyshevPolynomialV chebyshev_polynomial_v),
    polynomial!(SpecialChebyshevPolynomialW chebyshev_polynomial_w),
    polynomial!(SpecialShiftedChebyshevPolynomialT shifted_chebyshev_polynomial_t),
    polynomial!(SpecialShiftedChebyshevPolynomialU shifted_chebyshev_polynomial_u),
    polynomial!(SpecialShiftedChebyshevPolynomialV shifted_chebyshev_polynomial_v),
    polynomial!(SpecialShiftedChebyshevPolynomialW shifted_chebyshev_polynomial_w),
    polynomial!(SpecialHermitePolynomialH hermite_polynomial_h),
    polynomial!(SpecialHermitePolynomialHe hermite_polynomial_he),
    polynomial!(SpecialLaguerrePolynomialL laguerre_polynomial_l),
    polynomial!(SpecialLegendrePolynomialP legendre_polynomial_p),
    fused!(Addcmul addcmul_t),
    fused!(Addcdiv addcdiv_t),
    operation!(Clamp [Functional InPlace],
        [T(_), T(_), _] | [T(_), _, T(_)] => Err(unsupported(TENSORS)),
        @InPlace [T(a), ref low, ref high] => {
            typed!((a) float => one(a.clamp_opt_(perhaps(low)?, perhaps(high)?).cloned()))
        },
        [T(a), Number(low), Number(high)] => typed!((a) float => one(a.clamp_t(element(low)?, element(high)?))),
        [T(_), _, _] => Err(unsupported(BOUNDS)),
    ),
    bound!(ClampMin | low | Some(low), None),
    bound!(ClampMax | high | None, Some(high)),
    operation!(Where,
        [T(condition), T(a), T(b)] => {
            let condition = condition.get()?;
            typed!((a, b) float => one(where_cond_bcast(condition, a, b)))
        },
        [T(_), _, _] => Err(unsupported(NUMBERS)),
    ),
    binary!(Prelu float activation::prelu),
    operation!(Fill [InPlace],
        [T(a), Number(number)] => typed!((a) float => one(a.fill_(element(number)?).cloned())),
        [T(_), T(_)] => Err(unsupported(TENSORS)),
    ),
    operation!(Expand, [T(a), Ints(sizes)] => typed!((a) float => one(ferrotorch_core::expand(a, &naturals(sizes)?)))),
    operation!(ExpandAs, [T(a), T(other)] => typed!((a, other) float => one(a.expand_as_t(other)))),
    operation!(BroadcastTo, [T(a), Ints(sizes)] => typed!((a) float => one(a.broadcast_to_t(&naturals(sizes)?)))),
    operation!(BroadcastTensors, [Tensors(ref tensors)] => match tensors[..] {
        [first, ref others @ ..] => typed!((first) float => {
            let mut all = vec![first.clone()];
            for other in others {
                all.push(Floats::clone(other.get()?));
            }
            Ok(Returned::Tensors(broadcast_tensors(&all)?.into_iter().map(Tensor::new).collect()))
        }),
        [] => Err(unsupported(NO_OPERANDS)),
    }),
    operation!(BroadcastShapes,
        [Shapes([one, other])] => {
            let broadcast = broadcast_shapes(&shape(one)?, &shape(other)?)?;
            Ok(Returned::Sizes(broadcast.into_iter().map(|size| size as i64).collect()))
        },
        [Shapes(_)] => Err(unsupported(TWO_SHAPES)),
    ),
    operation!(Unsqueeze, [T(a), Int(dim)] => typed!((a) float => one(a.unsqueeze_t(dim as isize)))),
    operation!(Squeeze,
        [T(a), Int(dim) | Ints(&[dim])] => typed!((a) float => one(a.squeeze_t(dim as isize))),
        [T(_), _] => Err(unsupported(ONE_DIMENSION)),
    ),
    swap!(Transpose transpose),
    swap!(Swapaxes swapaxes),
    swap!(Swapdims swapdims),
    operation!(T, [T(a)] => typed!((a) float => one(a.t()))),
    operation!(Permute, [T(a), Ints(dims)] => typed!((a) float => one(a.permute(&naturals(dims)?)))),
    travel!(Movedim movedim_t),
    travel!(Moveaxis moveaxis_t),
    operation!(View, [T(a), Ints(sizes)] => typed!((a) float => one(a.view(sizes)))),
    operation!(Reshape, [T(a), Ints(sizes)] => typed!((a)
        float => one(a.reshape_t(&signed(sizes))),
        int => one(a.reshape(&naturals(sizes)?)),
        bool => one(a.reshape(&naturals(sizes)?)),
        complex => one(a.reshape(&naturals(sizes)?)),
    )),
    operation!(Flatten,
        [T(a), Int(0), Int(-1)] => typed!((a) float => one(a.flatten_t())),
        [T(_), _, _] => Err(unsupported(FLAT)),
    ),
    operation!(Unflatten, [T(a), Int(dim), Ints(sizes)] => {
        typed!((a) float => one(a.unflatten_t(dim as isize, &signed(sizes))))
    }),
    operation!(Select, [T(a), Int(dim), Int(index)] => {
        typed!((a) float => one(select(a, natural(dim)?, natural(index)?)))
    }),
    operation!(Narrow, [T(a), Int(dim), Int(start), Int(length)] => {
        typed!((a) float => one(a.narrow(natural(dim)?, natural(start)?, natural(length)?)))
    }),
    operation!(AsStrided,
        [T(a), Ints(sizes), Ints(strides), Nothing] => {
            typed!((a) float => one(a.as_strided(&naturals(sizes)?, &signed(strides), None)))
        },
        [T(a), Ints(sizes), Ints(strides), Int(offset)] => {
            typed!((a) float => one(a.as_strided(&naturals(sizes)?, &signed(strides), Some(natural(offset)?))))
        },
    ),
    operation!(Detach, [T(a)] => typed!((a) float => one(Ok(a.detach())))),
    operation!(Contiguous, [T(a)] => typed!((a) float => one(a.contiguous()))),
    operation!(MaskedFill,
        [T(a), T(mask), Number(number)] => {
            let mask = mask.get()?;
            typed!((a) float => one(masked_fill_bcast(a, mask, element(number)?)))
        },
        [T(_), T(_), T(_)] => Err(unsupported(TENSORS)),
    ),
    operation!(MaskedScatter, [T(a), T(mask), T(source)] => {
        let mask = mask.get()?;
        typed!((a, source) float => one(a.masked_scatter_t(mask, source)))
    }),
    operation!(MaskedSelect, [T(a), T(mask)] => {
        let mask = mask.get()?;
        typed!((a) float => one(masked_select_bcast(a, mask)))
    }),
    operation!(Gather, [T(a), Int(dim), T(index)] => typed!((index) int => {
        typed!((a) float => one(a.gather(dim as isize, index)), int => one(a.gather(dim as isize, index)))
    })),
    operation!(IndexSelect, [T(a), Int(dim), T(index)] => typed!((index) int => {
        typed!((a) float => one(a.index_select(dim as isize, index)), int => one(a.index_select(dim as isize, index)))
    })),
    operation!(Scatter,
        [T(a), Int(dim), T(index), T(source)] => typed!((index) int => {
            let positions = positions(index)?;
            typed!((a, source) float => one(scatter(a, dim as isize, &positions, index.shape(), source)))
        }),
        [T(a), Int(dim), T(index), Number(number)] => typed!((index) int => {
            let positions = positions(index)?;
            typed!((a) float => one(a.scatter_value_t(dim, &positions, index.shape(), element(number)?)))
        }),
    ),
    operation!(Einsum, [Text(equation), Tensors(ref operands)] => match operands[..] {
        [first, ref others @ ..] => typed!((first) float => {
            let others = others.iter().map(|other| other.get()).collect::<Result<Vec<_>, _>>()?;
            one(first.einsum(equation, &others))
        }),
        [] => Err(unsupported(NO_OPERANDS)),
    }),
    binary!(Matmul float Floats::matmul, complex ComplexTensor::matmul),
    binary!(Mm float Floats::mm),
    binary!(Bmm float Floats::bmm),
    binary!(Mv float Floats::mv_t),
    binary!(Dot float Floats::dot_t),
    affine!(Addmm addmm),
    affine!(Addmv addmv),
    affine!(Addr addr),
    affine!(Baddbmm baddbmm),
    affine!(Addbmm addbmm),
    binary!(Outer float linalg::outer),
    binary!(Kron float linalg::kron),
    operation!(LinalgCross, [T(a), T(b), Int(dim)] => typed!((a, b) float => one(linalg::cross(a, b, dim)))),
    operation!(LinalgSolve,
        [T(a), T(b), Flag(true)] => typed!((a, b) float => one(linalg::solve(a, b))),
        [T(_), T(_), Flag(false)] => Err(unsupported(LEFT)),
    ),
    reduction!(Sum Floats::sum_all, Floats::sum_dim, int IntTensor::sum),
    operation!(Nansum,
        [T(a), Nothing, Flag(false), _] => typed!((a) float => one(elementwise::nansum(a))),
        [T(_), Nothing, Flag(true), _] => Err(unsupported(ALL)),
    ),
    reduction!(Mean Floats::mean_all, Floats::mean_dim),
    reduction!(Prod Floats::prod_all, reduction::prod_dim, int IntTensor::prod),
    reduction!(Amax Floats::amax, reduction::amax_dim, int IntTensor::max),
    reduction!(Amin Floats::amin, reduction::amin_dim, int IntTensor::min),
    reduction!(Any Floats::any_t, reduction::any_dim),
    reduction!(All Floats::all_t, reduction::all_dim),
    reduction!(Logsumexp Floats::logsumexp_t, Floats::logsumexp_dim_t),
    position!(Argmax argmax argmax_t argmax_dim_t),
    position!(Argmin argmin argmin_t argmin_dim_t),
    moment!(Var var_with_correction_t var_dim),
    moment!(Std std_with_correction_t std_dim),
    operation!(VectorNorm,
        [T(a), Number(ord), Nothing, Flag(false), _] => typed!((a) float => one(linalg::vector_norm(a, real(ord)?))),
        [T(_), _, Nothing, ..] => Err(unsupported(ALL)),
        [T(a), Number(ord), Int(dim) | Ints(&[dim]), Flag(keepdim), _] => {
            typed!((a) float => one(reduction::norm_with_dim(a, real(ord)?, dim, keepdim)))
        },
        [T(_), _, Ints(_), ..] => Err(unsupported(ONE_DIMENSION)),
    ),
    operation!(Cdist, [T(a), T(b), Number(p), _] => typed!((a, b) float => one(cdist(a, b, real(p)?)))),
    operation!(Item, [T(a)] => typed!((a) float => Ok(Returned::Number(a.item()?.to_scalar())))),
    operation!(Backward,
        [T(a), Nothing] => typed!((a) float => Ok(a.backward().map(|()| Returned::Nothing)?)),
        [T(a), T(gradient)] => typed!((a, gradient) float => {
            Ok(a.backward_with_gradient(gradient).map(|()| Returned::Nothing)?)
        }),
    ),
    operation!(Grad, [T(a)] => typed!((a) float => {
        Ok(a.grad()?.map_or(Returned::Nothing, |gradient| Returned::Tensor(Tensor::new(gradient))))
    })),
];

/// Parts of the messages of Rust's panics. They are of no class: ferrotorch's functions return a result for rejections.
pub const ACCIDENTS: [&str; 2] = ["the len is", "attempt to "];

/// Parts of messages, with their classes of rejections.
pub const CLASSES: &[(&[Op], &str, Class)] = &[
    (&[], "capacity overflow", Class::ImpossibleSize),
    (&[Op::AsStrided, Op::View, Op::Reshape], "", Class::View),
    (&[Op::Unflatten], "unflatten:", Class::View),
    (&[Op::Expand, Op::ExpandAs, Op::BroadcastTo], "", Class::Expand),
    (&[Op::Item], "", Class::ItemCount),
    (&[Op::Einsum], "character", Class::EinsumEquation),
    (&[Op::Einsum], "output index", Class::EinsumEquation),
    (&[Op::Einsum], "", Class::EinsumOperand),
    (&[Op::Backward], "gradient shape", Class::NotExpandable),
    (&[Op::Backward], "", Class::Autograd),
    (&[], "not allowed on a ", Class::Autograd),
    (&[], "cannot resize the target", Class::OutputShape),
    (&[], "requires f32 or f64", Class::Dtype),
    (&[], "singular matrix", Class::Singular),
    (&[Op::Addbmm, Op::Baddbmm], "must be 3-D", Class::Dimension),
    (&[Op::Addmm, Op::Addmv, Op::Addr, Op::Addbmm, Op::Baddbmm], "cannot broadcast", Class::Expand),
    (&[Op::Addmm, Op::Addmv, Op::Addr, Op::Addbmm, Op::Baddbmm], "", Class::ProductShape),
    (&[Op::Matmul], "batch dimensions", Class::SizeMismatch),
    (&[Op::Matmul, Op::Mm, Op::Bmm, Op::Mv, Op::Dot, Op::Outer, Op::Kron, Op::LinalgSolve], "", Class::ProductShape),
    (&[Op::LinalgCross], "same shape", Class::ProductShape),
    (&[], "masked_scatter: source has", Class::ItemCount),
    (&[Op::Clamp], "must not be None", Class::Argument),
    (&[Op::Div], "expected rounding_mode", Class::Argument),
    (&[], "cannot broadcast", Class::SizeMismatch),
    (&[], "shapes ", Class::SizeMismatch),
    (&[Op::Gather], "exceeds input size", Class::SizeMismatch),
    (&[], "", Class::Dimension),
];

fn unsupported(why: &str) -> CallError {
    CallError::Unsupported(why.to_owned())
}

/// The tensor that a call with `out=` writes to.
fn target<'a>(call: &Call<'a, Tensor>) -> Result<&'a Tensor, CallError> {
    call.out.ok_or_else(|| call.malformation())
}

fn real(number: Scalar) -> Result<f64, CallError> {
    match number {
        Scalar::Int(number) => Ok(number as f64),
        Scalar::Float(number) => Ok(number),
        _ => Err(unsupported(REAL)),
    }
}

fn element<E: Element>(number: Scalar) -> Result<E, CallError> {
    real(number)?;
    if number.fits(E::DTYPE) { Ok(E::from_scalar(number)) } else { Err(unsupported(ELEMENT)) }
}

/// A bound that may be missing.
fn perhaps<E: Element>(bound: &Argument<'_, Tensor>) -> Result<Option<E>, CallError> {
    match *bound {
        Number(number) => element(number).map(Some),
        _ => Ok(None),
    }
}

/// Rejects a factor other than 1.
fn unscaled(factor: Scalar) -> Result<(), CallError> {
    if factor == Scalar::Int(1) { Ok(()) } else { Err(unsupported(FACTOR)) }
}

/// The correction that a variance subtracts from the number of elements.
fn taken_off(correction: &Argument<'_, Tensor>, unbiased: &Argument<'_, Tensor>) -> Result<f64, CallError> {
    match (correction, unbiased) {
        (&Number(correction), _) => real(correction),
        (_, Flag(false)) => Ok(0.),
        _ => Ok(1.),
    }
}

fn natural(number: i64) -> Result<usize, CallError> {
    usize::try_from(number).map_err(|_| unsupported(NEGATIVE))
}

fn naturals(numbers: &[i64]) -> Result<Vec<usize>, CallError> {
    numbers.iter().map(|&number| natural(number)).collect()
}

fn signed(numbers: &[i64]) -> Vec<isize> {
    numbers.iter().map(|&number| number as isize).collect()
}

fn shape(given: &ShapeArg) -> Result<Vec<usize>, CallError> {
    match given {
        ShapeArg::Size(size) => Ok(vec![natural(*size)?]),
        ShapeArg::Sizes(sizes) => naturals(sizes),
        ShapeArg::Float(_) | ShapeArg::Text(_) => Err(unsupported(NO_SHAPE)),
    }
}

/// Indices as `scatter` takes them.
fn positions<I: ferrotorch_core::IntElement>(index: &IntTensor<I>) -> Result<Vec<usize>, CallError> {
    index.data()?.iter().map(|position| natural(position.to_i64())).collect()
}
