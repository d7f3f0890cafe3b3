//! Wrong functions and derivatives, for the search for faults that the reference shares.

use crate::mutation::Mutant;
use crate::mutation::planted::Seen;
use crate::ops::Op;
use crate::program::Arg;
use crate::tensor::Scalar;

use crate::mutation::catalog::mutants;
use crate::mutation::catalog::values::{exchange, instead, put};

/// Changes the floating-point results of some operations.
fn change(seen: &Seen, elements: &mut [Scalar], ops: &[Op], change: impl Fn(f64) -> f64) {
    for element in elements.iter_mut().filter(|_| ops.contains(&seen.step().op)) {
        if let Scalar::Float(value) = element {
            *element = Scalar::Float(change(*value));
        }
    }
}

/// Changes the gradients of programs in which an operation is.
fn derivative(seen: &Seen, elements: &mut [Scalar], op: Op, by: impl Fn(f64) -> f64) {
    if seen.program.steps.iter().any(|step| step.op == op) {
        change(seen, elements, &[Op::Grad], by);
    }
}

const fn number(value: i64) -> Arg {
    Arg::Number(Scalar::Int(value))
}

pub(super) const FUNCTIONS: &[Mutant] = mutants! { "functions"
    "hypot-is-the-sum" "hypot adds its operands" Elements
        => |seen, elements| change(seen, elements, &[Op::Hypot], |value| value * 1.5);
    "pow-swapped" "pow takes its operands for each other" Steps => |_, step| exchange(step, Op::Pow, 0, 1);
    "float-power-swapped" "float_power takes its operands for each other" Steps
        => |_, step| exchange(step, Op::FloatPower, 0, 1);
    "nextafter-swapped" "nextafter starts at its second operand" Steps => |_, step| exchange(step, Op::Nextafter, 0, 1);
    "heaviside-swapped" "heaviside takes its operands for each other" Steps
        => |_, step| exchange(step, Op::Heaviside, 0, 1);
    "ldexp-swapped" "ldexp takes its operands for each other" Steps => |_, step| exchange(step, Op::Ldexp, 0, 1);
    "xlogy-swapped" "xlogy takes the logarithm of its first operand" Steps => |_, step| exchange(step, Op::Xlogy, 0, 1);
    "xlog1py-is-xlogy" "xlog1py does not add 1" Steps => |_, step| instead(step, Op::SpecialXlog1py, Op::Xlogy);
    "logaddexp2-to-base-e" "logaddexp2 computes to the base e" Steps
        => |_, step| instead(step, Op::Logaddexp2, Op::Logaddexp);
    "atan2-in-degrees" "atan2 gives degrees" Elements
        => |seen, elements| change(seen, elements, &[Op::Atan2], f64::to_degrees);
    "copysign-drops-sign" "copysign is never negative" Elements
        => |seen, elements| change(seen, elements, &[Op::Copysign], f64::abs);
    "remainder-drops-sign" "remainder is never negative" Elements
        => |seen, elements| change(seen, elements, &[Op::Remainder], f64::abs);
    "fmod-drops-sign" "fmod is never negative" Elements => |seen, elements| change(seen, elements, &[Op::Fmod], f64::abs);
    "fmax-keeps-nan" "fmax gives NaN, as maximum does" Steps => |_, step| instead(step, Op::Fmax, Op::Maximum);
    "minimum-drops-nan" "minimum ignores NaN, as fmin does" Steps => |_, step| instead(step, Op::Minimum, Op::Fmin);
    "addcmul-subtracts" "addcmul ignores its factor and subtracts" Steps
        => |_, step| put(step, &[Op::Addcmul], "value", number(-1));
    "addcdiv-subtracts" "addcdiv ignores its factor and subtracts" Steps
        => |_, step| put(step, &[Op::Addcdiv], "value", number(-1));
    "clamp-min-is-max" "clamp_min clamps from above" Steps => |_, step| instead(step, Op::ClampMin, Op::ClampMax);
    "clamp-max-is-min" "clamp_max clamps from below" Steps => |_, step| instead(step, Op::ClampMax, Op::ClampMin);
    "gt-takes-equal" "gt is true of equal elements" Steps => |_, step| instead(step, Op::Gt, Op::Ge);
    "le-without-equal" "le is false of equal elements" Steps => |_, step| instead(step, Op::Le, Op::Lt);
    "eq-is-ne" "eq is true where elements differ" Steps => |_, step| instead(step, Op::Eq, Op::Ne);
    "and-is-or" "logical_and is true where either is" Steps => |_, step| instead(step, Op::LogicalAnd, Op::LogicalOr);
    "or-is-and" "logical_or is false where either is" Steps => |_, step| instead(step, Op::LogicalOr, Op::LogicalAnd);
    "bits-and-is-or" "bitwise_and is bitwise_or" Steps => |_, step| instead(step, Op::BitwiseAnd, Op::BitwiseOr);
    "bits-xor-is-or" "bitwise_xor is bitwise_or" Steps => |_, step| instead(step, Op::BitwiseXor, Op::BitwiseOr);
    "left-shift-right" "bitwise_left_shift shifts to the right" Steps
        => |_, step| instead(step, Op::BitwiseLeftShift, Op::BitwiseRightShift);
    "lcm-is-gcd" "lcm is the greatest common divisor" Steps => |_, step| instead(step, Op::Lcm, Op::Gcd);
    "polar-swapped" "polar takes its operands for each other" Steps => |_, step| exchange(step, Op::Polar, 0, 1);
    "complex-swapped" "complex takes its operands for each other" Steps => |_, step| exchange(step, Op::Complex, 0, 1);
    "amax-is-amin" "amax is the minimum" Steps => |_, step| instead(step, Op::Amax, Op::Amin);
    "argmin-is-argmax" "argmin is the index of the maximum" Steps => |_, step| instead(step, Op::Argmin, Op::Argmax);
    "std-is-var" "std is the variance" Steps => |_, step| instead(step, Op::Std, Op::Var);
    "norm-of-order-one" "vector_norm ignores the order" Steps
        => |_, step| put(step, &[Op::VectorNorm], "ord", number(1));
    "all-is-any" "all is true where any is" Steps => |_, step| instead(step, Op::All, Op::Any);
    "mean-of-one-less" "mean divides by too little" Elements
        => |seen, elements| change(seen, elements, &[Op::Mean], |value| value * 1.25);
    "prod-sign" "prod has the other sign" Elements => |seen, elements| change(seen, elements, &[Op::Prod], |value| -value);
    "mse-doubled" "mse_loss is twice the squared error" Elements
        => |seen, elements| change(seen, elements, &[Op::MseLoss], |value| value * 2.0);
    "products-doubled" "products of matrices are doubled" Elements => |seen, elements| {
        change(seen, elements, &[Op::Mm, Op::Mv, Op::Dot, Op::Bmm, Op::Matmul, Op::Addmm], |value| value * 2.0);
    };
    "alpha-of-products-lost" "the factor of the product in addmm and its like is lost" Steps => |_, step| {
        put(step, &[Op::Addmm, Op::Addmv, Op::Addr, Op::Baddbmm, Op::Addbmm], "alpha", number(1));
    };
};

pub(super) const DERIVATIVES: &[Mutant] = mutants! { "derivatives"
    "derivative-of-mul" "the gradient through mul has the other sign" Elements
        => |seen, elements| derivative(seen, elements, Op::Mul, |value| -value);
    "derivative-of-div" "the gradient through div has the other sign" Elements
        => |seen, elements| derivative(seen, elements, Op::Div, |value| -value);
    "derivative-of-pow" "the gradient through pow is halved" Elements
        => |seen, elements| derivative(seen, elements, Op::Pow, |value| value / 2.0);
    "derivative-of-hypot" "the gradient through hypot has the other sign" Elements
        => |seen, elements| derivative(seen, elements, Op::Hypot, |value| -value);
    "derivative-of-atan2" "the gradient through atan2 has the other sign" Elements
        => |seen, elements| derivative(seen, elements, Op::Atan2, |value| -value);
    "derivative-of-logaddexp" "the gradient through logaddexp is doubled" Elements
        => |seen, elements| derivative(seen, elements, Op::Logaddexp, |value| value * 2.0);
    "derivative-of-maximum" "the gradient through maximum is NaN where it is 0" Elements
        => |seen, elements| derivative(seen, elements, Op::Maximum, |value| if value == 0.0 { f64::NAN } else { value });
    "derivative-of-lerp" "the gradient through lerp has the other sign" Elements
        => |seen, elements| derivative(seen, elements, Op::Lerp, |value| -value);
    "derivative-of-addcmul" "the gradient through addcmul is doubled" Elements
        => |seen, elements| derivative(seen, elements, Op::Addcmul, |value| value * 2.0);
    "derivative-of-mse-loss" "the gradient through mse_loss is halved" Elements
        => |seen, elements| derivative(seen, elements, Op::MseLoss, |value| value / 2.0);
};
