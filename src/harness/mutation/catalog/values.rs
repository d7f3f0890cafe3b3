//! Wrong elements: another operation, a wrong argument, a wrong place.

use crate::mutation::Mutant;
use crate::mutation::planted::Seen;
use crate::mutation::wrong_replies;
use crate::ops::{Form, Op};
use crate::program::{Arg, Step};
use crate::tensor::{Category, DType, Scalar};

use crate::mutation::catalog::mutants;

/// Another operation in place of one.
pub(super) fn instead(step: &mut Step, op: Op, other: Op) {
    if step.op == op && other.info().forms.contains(&step.form) {
        step.op = other;
    }
}

/// Two arguments exchanged, unless the first is written to.
pub(super) fn exchange(step: &mut Step, op: Op, a: usize, b: usize) {
    if step.op == op && step.form != Form::InPlace {
        step.args.swap(a, b);
    }
}

/// An argument by its name.
fn argument<'a>(step: &'a mut Step, ops: &[Op], name: &str) -> Option<&'a mut Arg> {
    let at = step.op.info().arguments.iter().position(|param| param.name == name)?;
    ops.contains(&step.op).then(|| &mut step.args[at])
}

pub(super) fn put(step: &mut Step, ops: &[Op], name: &str, arg: Arg) {
    if let Some(argument) = argument(step, ops, name) {
        *argument = arg;
    }
}

fn mode(step: &mut Step, from: &str, to: &str) {
    if matches!(&step.args[..], [_, _, Arg::Text(mode)] if step.op == Op::Div && mode == from) {
        step.args[2] = Arg::Text(to.to_owned());
    }
}

const ONE: Arg = Arg::Number(Scalar::Int(1));

pub(super) const ARITHMETIC: &[Mutant] = mutants! { "arithmetic"
    "swapped-operands" "the operands of arithmetic and comparisons are swapped" Lies => wrong_replies::swapped_operands;
    "floor-for-trunc" "div rounds down where it should truncate" Steps => |_, step| mode(step, "trunc", "floor");
    "trunc-for-floor" "div truncates where it should round down" Steps => |_, step| mode(step, "floor", "trunc");
    "fmod-for-remainder" "remainder takes the sign of the dividend" Steps
        => |_, step| instead(step, Op::Remainder, Op::Fmod);
    "remainder-for-fmod" "fmod takes the sign of the divisor" Steps => |_, step| instead(step, Op::Fmod, Op::Remainder);
    "maximum-drops-nan" "maximum ignores NaN, as fmax does" Steps => |_, step| instead(step, Op::Maximum, Op::Fmax);
    "fmin-keeps-nan" "fmin gives NaN, as minimum does" Steps => |_, step| instead(step, Op::Fmin, Op::Minimum);
    "alpha-lost" "add and sub ignore alpha" Steps => |_, step| put(step, &[Op::Add, Op::Sub], "alpha", ONE);
    "float-factor-lost" "addcmul and addcdiv take a value that is a float for 0" Steps => |_, step| {
        if let Some(value @ Arg::Number(Scalar::Float(_))) = argument(step, &[Op::Addcmul, Op::Addcdiv], "value") {
            *value = Arg::Number(Scalar::Int(0));
        }
    };
    "rsub-forwards" "rsub subtracts the second operand" Steps => |_, step| instead(step, Op::Rsub, Op::Sub);
    "lt-takes-equal" "lt is true of equal elements" Steps => |_, step| instead(step, Op::Lt, Op::Le);
    "ge-without-equal" "ge is false of equal elements" Steps => |_, step| instead(step, Op::Ge, Op::Gt);
    "right-shift-left" "bitwise_right_shift shifts to the left" Steps
        => |_, step| instead(step, Op::BitwiseRightShift, Op::BitwiseLeftShift);
    "xor-is-or" "logical_xor is true where both are" Steps => |_, step| instead(step, Op::LogicalXor, Op::LogicalOr);
    "negative-gcd" "gcd has the sign of its operand" Elements => |seen, elements| {
        if seen.step().op == Op::Gcd {
            elements.iter_mut().for_each(|element| *element = element.negative());
        }
    };
    "branches-swapped" "where takes the other operand" Steps => |_, step| exchange(step, Op::Where, 1, 2);
    "bounds-swapped" "clamp swaps its bounds" Steps => |_, step| exchange(step, Op::Clamp, 1, 2);
    "weight-from-the-end" "lerp weighs from the other end" Steps => |_, step| exchange(step, Op::Lerp, 0, 1);
    "factor-of-addcmul-lost" "addcmul and addcdiv ignore value" Steps
        => |_, step| put(step, &[Op::Addcmul, Op::Addcdiv], "value", ONE);
    "nan-is-close" "isclose takes NaN for equal to NaN" Steps
        => |_, step| put(step, &[Op::Isclose, Op::Allclose], "equal_nan", Arg::Flag(true));
    "logarithm-to-base-two" "logaddexp computes to the base 2" Steps
        => |_, step| instead(step, Op::Logaddexp, Op::Logaddexp2);
    "atan2-swapped" "atan2 swaps its operands" Steps => |_, step| exchange(step, Op::Atan2, 0, 1);
    "copysign-swapped" "copysign takes the magnitude of its second operand" Steps
        => |_, step| exchange(step, Op::Copysign, 0, 1);
};

fn floats(seen: &Seen, elements: &mut [Scalar], change: impl Fn(f64) -> f64) {
    let dtype = seen.outcome().tensors().first().map(|tensor| tensor.dtype);
    for element in elements {
        if let (Scalar::Float(value), Some(dtype)) = (&mut *element, dtype)
            && dtype.category() == Category::Floating
        {
            *element = Scalar::Float(change(*value));
        }
    }
}

/// Another number, far from any rounding and exact in every dtype.
fn spoil(element: &mut Scalar) {
    *element = match *element {
        Scalar::Bool(value) => Scalar::Bool(!value),
        Scalar::Int(7) | Scalar::Float(7.0) => Scalar::Int(8),
        _ => Scalar::Int(7),
    };
}

fn rank(seen: &Seen) -> usize {
    seen.outcome().tensors().first().map_or(0, |tensor| tensor.shape.rank())
}

pub(super) const PLACES: &[Mutant] = mutants! { "places and extremes"
    "one-element" "the first element of the first result is wrong" Lies => wrong_replies::wrong_value;
    "nan-dropped" "NaN becomes 0" Lies => wrong_replies::lost_nan;
    "zero-sign-dropped" "-0 becomes 0" Lies => wrong_replies::lost_zero_sign;
    "subnormal-flushed" "subnormal float32 results become 0" Elements => |seen, elements| {
        floats(seen, elements, |value| if value.abs() < f64::from(f32::MIN_POSITIVE) { 0.0 * value } else { value });
    };
    "infinity-clipped" "infinities become the greatest float32" Elements => |seen, elements| {
        floats(seen, elements, |value| if value.is_infinite() { f64::from(f32::MAX).copysign(value) } else { value });
    };
    "vector-tail" "the last element of an elementwise result that no vector of eight takes is wrong" Elements
        => |seen, elements| {
            if seen.is_elementwise() && elements.len() > 8 && elements.len() % 8 != 0 {
                elements.last_mut().into_iter().for_each(spoil);
            }
        };
    "vector-body" "the first vector of eight elements loses its last" Elements => |seen, elements| {
        if seen.is_elementwise() {
            elements.get_mut(7).into_iter().for_each(spoil);
        }
    };
    "only-strided-operands" "wrong if an operand is not contiguous" Elements => |seen, elements| {
        if seen.is_elementwise() && seen.has_strided_operand() {
            elements.last_mut().into_iter().for_each(spoil);
        }
    };
    "only-rank-five" "wrong if the result has five dimensions or more" Elements => |seen, elements| {
        if seen.is_elementwise() && rank(seen) >= 5 {
            elements.last_mut().into_iter().for_each(spoil);
        }
    };
    "only-int8-overflow" "int8 saturates in place of wrapping around" Elements => |seen, elements| {
        let int8 = seen.outcome().tensors().first().is_some_and(|tensor| tensor.dtype == DType::Int8);
        let plus = |values: &[Scalar]| values.iter().any(|value| matches!(value, Scalar::Int(100..=127)));
        if int8 && seen.is_elementwise() && seen.operands().iter().any(|operand| plus(&operand.elements)) {
            for element in elements {
                if matches!(element, Scalar::Int(-128..=-100)) {
                    *element = Scalar::Int(127);
                }
            }
        }
    };
    "int64-through-double" "int64 beyond 53 bits loses its last bits" Elements => |_, elements| {
        for element in elements {
            if let Scalar::Int(value) = element {
                *element = Scalar::Int(*value as f64 as i64);
            }
        }
    };
    "half-truncated" "float16 results lose their last bit" Elements => |seen, elements| {
        if seen.is_elementwise() && seen.outcome().tensors().first().is_some_and(|tensor| tensor.dtype == DType::Float16) {
            floats(seen, elements, |value| {
                let bits = half::f16::from_f64(value).to_bits();
                if value.is_finite() { half::f16::from_bits(bits & !1).to_f64() } else { value }
            });
        }
    };
    "conjugated" "complex results of arithmetic are conjugated" Elements => |seen, elements| {
        for element in elements.iter_mut().filter(|_| seen.is_elementwise()) {
            if let Scalar::Complex(value) = element {
                *element = Scalar::Complex(value.conj());
            }
        }
    };
    "bool-sum-wraps" "true and true is false in a sum of bools" Elements => |seen, elements| {
        let (op, operands) = (seen.step().op, seen.operands());
        if op == Op::Add && operands.len() > 1 && operands.iter().all(|operand| operand.dtype == DType::Bool) {
            elements.iter_mut().for_each(|element| *element = Scalar::Bool(false));
        }
    };
    "both-broadcast" "wrong if both operands are broadcast" Elements => |seen, elements| {
        let result = seen.outcome().tensors().first().map(|tensor| tensor.shape.clone());
        let operands = seen.operands();
        if operands.len() == 2 && operands.iter().all(|operand| Some(operand.shape) != result.as_ref()) {
            elements.last_mut().into_iter().filter(|_| seen.is_elementwise()).for_each(spoil);
        }
    };
    "number-as-int" "a fractional scalar is truncated" Steps => |_, step| {
        for arg in &mut step.args {
            if let Arg::Number(Scalar::Float(value)) = arg
                && value.is_finite()
            {
                *value = value.trunc();
            }
        }
    };
};

const LOSSES: &[Op] = &[
    Op::MseLoss,
    Op::L1Loss,
    Op::SmoothL1Loss,
    Op::HuberLoss,
    Op::SoftMarginLoss,
    Op::HingeEmbeddingLoss,
    Op::MarginRankingLoss,
    Op::KlDiv,
    Op::PoissonNllLoss,
    Op::BinaryCrossEntropy,
];

pub(super) const REDUCTIONS: &[Mutant] = mutants! { "reductions and losses"
    "keepdim-ignored" "reductions never keep the dimensions" Steps => |_, step| {
        let op = step.op;
        put(step, &[op], "keepdim", Arg::Flag(false));
    };
    "first-dim-only" "a reduction over several dimensions takes the first" Steps => |_, step| {
        if let Some(Arg::Ints(dims)) = argument(step, &[Op::Sum, Op::Mean, Op::Amax, Op::Amin, Op::All, Op::Any], "dim") {
            dims.truncate(1);
        }
    };
    "empty-all-is-false" "all of an empty tensor is false" Elements => |seen, elements| {
        if seen.step().op == Op::All && seen.operands().iter().any(|operand| operand.elements.is_empty()) {
            elements.iter_mut().for_each(spoil);
        }
    };
    "empty-product-is-zero" "the product of an empty tensor is 0" Elements => |seen, elements| {
        if seen.step().op == Op::Prod && seen.operands().iter().any(|operand| operand.elements.is_empty()) {
            elements.iter_mut().for_each(|element| *element = Scalar::Int(0));
        }
    };
    "nansum-keeps-nan" "nansum adds NaN" Steps => |_, step| instead(step, Op::Nansum, Op::Sum);
    "argmax-counts-from-one" "argmax is one too large" Elements => |seen, elements| {
        for element in elements.iter_mut().filter(|_| seen.step().op == Op::Argmax) {
            if let Scalar::Int(value) = element {
                *value += 1;
            }
        }
    };
    "correction-ignored" "variances divide by the number of elements" Steps => |_, step| {
        let ops = [Op::Var, Op::Std, Op::VarMean, Op::StdMean];
        put(step, &ops, "correction", Arg::Number(Scalar::Int(0)));
        put(step, &ops, "unbiased", Arg::Nothing);
    };
    "mean-is-sum" "losses sum where they should average" Steps => |_, step| {
        if let Some(Arg::Text(reduction)) = argument(step, LOSSES, "reduction")
            && reduction == "mean"
        {
            *reduction = "sum".to_owned();
        }
    };
    "delta-ignored" "huber_loss and smooth_l1_loss bend at 1" Steps => |_, step| {
        put(step, &[Op::HuberLoss], "delta", Arg::Number(Scalar::Float(1.0)));
        put(step, &[Op::SmoothL1Loss], "beta", Arg::Number(Scalar::Float(1.0)));
    };
};

pub(super) const PRODUCTS: &[Mutant] = mutants! { "products"
    "beta-ignored" "addmm and similar operations ignore beta" Steps => |_, step| {
        put(step, &[Op::Addmm, Op::Addmv, Op::Addr, Op::Baddbmm, Op::Addbmm], "beta", ONE);
    };
    "matmul-swapped" "products of two matrices multiply in the other order" Steps => |_, step| {
        exchange(step, Op::Mm, 0, 1);
        exchange(step, Op::Matmul, 0, 1);
    };
    "cross-reversed" "linalg_cross has the opposite sign" Steps => |_, step| exchange(step, Op::LinalgCross, 0, 1);
    "normal-swapped" "normal takes the mean for the deviation" Steps => |_, step| exchange(step, Op::Normal, 0, 1);
    "kron-swapped" "kron swaps its operands" Steps => |_, step| exchange(step, Op::Kron, 0, 1);
    "solved-from-the-left" "linalg_solve ignores the side" Steps
        => |_, step| put(step, &[Op::LinalgSolve], "left", Arg::Flag(true));
    "upper-always" "linalg_solve_triangular and cholesky_solve read the upper triangle" Steps
        => |_, step| put(step, &[Op::LinalgSolveTriangular, Op::CholeskySolve], "upper", Arg::Flag(true));
    "always-rectified" "_addmm_activation ignores use_gelu" Steps
        => |_, step| put(step, &[Op::AddmmActivation], "use_gelu", Arg::Flag(false));
    "unmasked" "scaled_dot_product_attention ignores its mask" Steps
        => |_, step| put(step, &[Op::ScaledDotProductAttention], "attn_mask", Arg::Nothing);
    "halves-are-read" "linalg_matrix_rank and linalg_pinv read both halves of Hermitian matrices" Steps
        => |_, step| put(step, &[Op::LinalgMatrixRank, Op::LinalgPinv], "hermitian", Arg::Flag(false));
    "always-euclidean" "cdist and pairwise_distance ignore p" Steps
        => |_, step| put(step, &[Op::Cdist, Op::PairwiseDistance], "p", Arg::Number(Scalar::Float(2.0)));
};

pub(super) const INDEXING: &[Mutant] = mutants! { "indexing"
    "accumulate-ignored" "index_put writes in place of adding" Steps
        => |_, step| put(step, &[Op::IndexPut], "accumulate", Arg::Flag(false));
    "accumulates-always" "index_put adds in place of writing" Steps
        => |_, step| put(step, &[Op::IndexPut], "accumulate", Arg::Flag(true));
    "from-the-other-end" "a negative index of select counts from the start" Steps => |_, step| {
        if let Some(Arg::Int(index)) = argument(step, &[Op::Select], "index")
            && *index < 0
        {
            *index = -1 - *index;
        }
    };
    "masked-select-last" "masked_select gives the last element twice" Elements => |seen, elements| {
        if let (Op::MaskedSelect, [.., before, last]) = (seen.step().op, elements) {
            *before = *last;
        }
    };
    "source-restarts" "masked_scatter takes the first element of its source every time" Elements => |seen, elements| {
        let source = seen.operands().into_iter().nth(2).and_then(|source| source.elements.first().copied());
        let mask = seen.operands().into_iter().nth(1).map(|mask| mask.elements).unwrap_or_default();
        if let (Op::MaskedScatter, Some(first)) = (seen.step().op, source)
            && mask.len() == elements.len()
        {
            let taken = elements.iter_mut().zip(mask).filter(|(_, mask)| *mask == Scalar::Bool(true));
            taken.for_each(|(element, _)| *element = first);
        }
    };
};
