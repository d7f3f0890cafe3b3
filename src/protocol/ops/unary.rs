//! Functions of one operand, element by element: nothing broadcasts in them but the target.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! unary_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            Abs "abs" "abs": "The absolute value; that of a complex number is real." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: NotBool "abs_cpu",
                quirks: [ExactTarget], aliases: ["absolute" "absolute"], result: Real,
                compare: Ulps(1, "the size of a complex number is rounded in more ways than one"),
                kernel: function(absolute), gradient: partials(d) => [d.towards_sign()],
            }
            Neg "neg" "neg": "The negative." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: NotBool "neg_cpu",
                quirks: [ExactTarget], aliases: ["negative" "negative"], result: Promoted, compare: Bits,
                kernel: number(a) => a.negated(), gradient: partials(d) => [d.negative(d.gradient())],
            }
            Sign "sign" "sign": "The sign of a real number." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: NotComplex "sign_cpu",
                quirks: [ExactTarget], result: Promoted, compare: Bits,
                kernel: real(a) => a.sign(), gradient: partials(d) => [d.formula_reading([], |_, []| 0.0)],
            }
            Floor "floor" "floor": "The greatest integer that is not above." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: Real "floor_vml_cpu",
                quirks: [ExactTarget], result: Promoted, compare: Bits,
                kernel: real(a) => a.floored(), gradient: partials(d) => [d.formula_reading([], |_, []| 0.0)],
            }
            Ceil "ceil" "ceil": "The least integer that is not below." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: Real "ceil_vml_cpu",
                quirks: [ExactTarget], result: Promoted, compare: Bits,
                kernel: real(a) => a.raised(), gradient: partials(d) => [d.formula_reading([], |_, []| 0.0)],
            }
            Trunc "trunc" "trunc": "The integer part." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: Real "trunc_vml_cpu",
                quirks: [ExactTarget], aliases: ["fix" "fix"], result: Promoted, compare: Bits,
                kernel: real(a) => a.whole(), gradient: partials(d) => [d.formula_reading([], |_, []| 0.0)],
            }
            Round "round" "round": "The nearest integer; the even one of two." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: Real "round_vml_cpu",
                quirks: [ExactTarget], result: Promoted, compare: Bits,
                kernel: real(a) => a.nearest_whole(), gradient: partials(d) => [d.formula_reading([], |_, []| 0.0)],
            }
            Frac "frac" "frac": "What is left without the integer part." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: Floats "frac_cpu",
                quirks: [ExactTarget], result: Promoted, compare: Bits,
                kernel: real(a) => a.minus(a.whole()), gradient: partials(d) => [d.gradient()],
            }
            BitwiseNot "bitwise_not" "bitwise_not": "The bitwise NOT of integers, the logical NOT of bools." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: Integral "bitwise_not_cpu",
                quirks: [ExactTarget, AutogradFallback], result: Promoted, compare: Bits,
                kernel: integer(a) => a.complement(), gradient: none,
            }
            LogicalNot "logical_not" "logical_not": "Whether an element is zero." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: All "logical_not_cpu",
                quirks: [Unstructured, NoAutograd], result: Bool, compare: Bits,
                kernel: compare(a) => !a.truth(), gradient: none,
            }
            Isnan "isnan" "isnan": "Whether an element is NaN." {
                arguments: (self: Tensor), forms: [Functional], result: Bool, compare: Bits,
                kernel: compare(a) => !a.equals_itself(), gradient: none,
            }
            Isinf "isinf" "isinf": "Whether an element is infinite." {
                arguments: (self: Tensor), forms: [Functional], result: Bool, compare: Bits,
                kernel: function(is_infinite), gradient: none,
            }
            Isfinite "isfinite" "isfinite": "Whether an element is neither infinite nor NaN." {
                arguments: (self: Tensor), forms: [Functional], result: Bool, compare: Bits,
                kernel: function(is_finite), gradient: none,
            }
            Erf "erf" "erf": "The error function." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: Floats "erf_vml_cpu",
                aliases: ["special_erf" "special_erf"], result: Float,
                compare: Ulps(4, "libtorch's vector loop has approximations of its own, the C library others"),
                kernel: float(a) => math::error_function(a),
                gradient: partials(d) => [
                    d.formula(|[g, a]| g * std::f64::consts::FRAC_2_SQRT_PI * (-(a * a)).exp())
                ],
            }
            Erfc "erfc" "erfc": "One less the error function." {
                arguments: (self: Tensor), forms: [Functional, InPlace, Out], dtypes: Floats "erfc_vml_cpu",
                aliases: ["special_erfc" "special_erfc"], result: Float,
                compare: Ulps(4, "libtorch's vector loop has approximations of its own, the C library others"),
                kernel: float(a) => a.error_function_complement(),
                gradient: partials(d) => [
                    d.formula(|[g, a]| -g * std::f64::consts::FRAC_2_SQRT_PI * (-(a * a)).exp())
                ],
            }
            ]
        }
    };
}
