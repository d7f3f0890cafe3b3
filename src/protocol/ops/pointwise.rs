//! Operations that work element by element on operands that broadcast.
//!
//! Not reached are the forms with `out=` that libtorch derives from a functional form for numbers (`add.Scalar_out`,
//! `bitwise_and.Scalar_Tensor_out` and the like): they compute first and copy then, and PyTorch's front end, which makes a
//! tensor of the number, never calls them. A number with `out=` goes that way here too. `rsub.Tensor_out` is derived as
//! well, but there is no other, so it is what `rsub` with `out=` means.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! pointwise_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            Add "add" "add.Tensor": "Adds the second operand, times `alpha`, to the first." {
                arguments: (self: Operand, other: Operand, alpha: Number = 1), forms: [Functional, InPlace, Out],
                result: Promoted, compare: Bits,
                kernel: sum(a, b; alpha) => a.plus_product(alpha, b),
                gradient: partials(d) => [d.gradient(), d.times(d.gradient(), d.alpha())],
                tch: [f_add, f_add_, f_add_out],
            }
            Sub "sub" "sub.Tensor": "Subtracts the second operand, times `alpha`, from the first." {
                arguments: (self: Operand, other: Operand, alpha: Number = 1), forms: [Functional, InPlace, Out],
                quirks: [RefusesBool, NegatedFactor], aliases: ["subtract" "subtract.Tensor"], result: Promoted,
                compare: Bits,
                kernel: sum(a, b; alpha) => a.plus_product(alpha, b),
                gradient: partials(d) => [d.gradient(), d.times(d.negative(d.gradient()), d.alpha())],
                tch: [f_sub, f_sub_, f_sub_out],
            }
            Rsub "rsub" "rsub.Tensor": "Subtracts the first operand, times `alpha`, from the second." {
                arguments: (self: Operand, other: Operand, alpha: Number = 1), forms: [Functional, Out],
                quirks: [AutogradFallback], result: Promoted, compare: Bits,
                kernel: arithmetic(reversed_difference),
                gradient: partials(d) => [d.gradient(), d.times(d.negative(d.gradient()), d.alpha())],
                tch: [f_rsub, -, -],
            }
            Mul "mul" "mul.Tensor": "Multiplies two operands." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                quirks: [UnroundedSecond, NumberFirstInPlace], aliases: ["multiply" "multiply.Tensor"],
                result: Promoted, compare: Bits,
                kernel: number(a, b) => a.times(b),
                gradient: partials(d) => [d.times(d.gradient(), d.right()), d.times(d.gradient(), d.left())],
                tch: [f_mul, f_mul_, f_mul_out],
            }
            Div "div" "div.Tensor_mode": "Divides two operands, and rounds the quotient as `rounding_mode` says." {
                arguments: (self: Operand, other: Operand, rounding_mode: Text = None),
                forms: [Functional, InPlace, Out], dtypes: Fractions "div_cpu", quirks: [UnroundedSecond],
                aliases: ["divide" "divide.Tensor_mode", "true_divide" "true_divide.Tensor"], result: Float,
                compare: Bits,
                kernel: number(a, b) => a.over(b),
                gradient: partials(d) => [
                    d.over(d.gradient(), d.right()),
                    d.negative(d.times(d.gradient(), d.over(d.over(d.left(), d.right()), d.right())))
                ],
                tch: [f_div, f_div_, f_div_out],
            }
            Eq "eq" "eq.Tensor": "Whether two operands are equal." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out], dtypes: All "eq_cpu",
                quirks: [Commutes], result: Bool, compare: Bits,
                kernel: compare(a, b) => a == b, gradient: none, tch: [f_eq_tensor, f_eq_tensor_, f_eq_tensor_out],
            }
            Ne "ne" "ne.Tensor": "Whether two operands differ." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out], dtypes: All "ne_cpu",
                quirks: [Commutes], aliases: ["not_equal" "not_equal.Tensor"], result: Bool, compare: Bits,
                kernel: compare(a, b) => a != b, gradient: none, tch: [f_ne_tensor, f_ne_tensor_, f_ne_tensor_out],
            }
            Lt "lt" "lt.Tensor": "Whether the first operand is less than the second." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: NotComplex "lt_cpu", aliases: ["less" "less.Tensor"], result: Bool, compare: Bits,
                kernel: order(a, b) => a < b, gradient: none, tch: [f_lt_tensor, f_lt_tensor_, f_lt_tensor_out],
            }
            Le "le" "le.Tensor": "Whether the first operand is at most the second." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: NotComplex "le_cpu", aliases: ["less_equal" "less_equal.Tensor"], result: Bool, compare: Bits,
                kernel: order(a, b) => a <= b, gradient: none, tch: [f_le_tensor, f_le_tensor_, f_le_tensor_out],
            }
            Gt "gt" "gt.Tensor": "Whether the first operand is greater than the second." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: NotComplex "gt_cpu", aliases: ["greater" "greater.Tensor"], result: Bool, compare: Bits,
                kernel: order(a, b) => a > b, gradient: none, tch: [f_gt_tensor, f_gt_tensor_, f_gt_tensor_out],
            }
            Ge "ge" "ge.Tensor": "Whether the first operand is at least the second." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: NotComplex "ge_cpu", aliases: ["greater_equal" "greater_equal.Tensor"], result: Bool,
                compare: Bits,
                kernel: order(a, b) => a >= b, gradient: none, tch: [f_ge_tensor, f_ge_tensor_, f_ge_tensor_out],
            }
            Maximum "maximum" "maximum": "The larger of two elements, or NaN." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, Out], dtypes: NotComplex "maximum_cpu",
                quirks: [RefusesComplex], aliases: ["max" "max.other"], result: Promoted, compare: Bits,
                kernel: real(a, b) => a.greater(b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| if a == b { g / 2.0 } else if a < b { 0.0 } else { g }),
                    d.formula(|[g, a, b]| if a == b { g / 2.0 } else if a > b { 0.0 } else { g })
                ],
                tch: [f_maximum],
            }
            Minimum "minimum" "minimum": "The smaller of two elements, or NaN." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, Out], dtypes: NotComplex "minimum_cpu",
                quirks: [RefusesComplex], aliases: ["min" "min.other"], result: Promoted, compare: Bits,
                kernel: real(a, b) => a.lesser(b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| if a == b { g / 2.0 } else if a > b { 0.0 } else { g }),
                    d.formula(|[g, a, b]| if a == b { g / 2.0 } else if a < b { 0.0 } else { g })
                ],
                tch: [f_minimum],
            }
            Fmax "fmax" "fmax": "The larger of two elements, of which one may be NaN." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, Out], dtypes: NotComplex "fmax_cpu",
                quirks: [RefusesComplex], result: Promoted, compare: Bits,
                kernel: real(a, b) => a.greater_number(b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| if a >= b || b.is_nan() { g } else { 0.0 }),
                    d.formula(|[g, a, b]| if a >= b || b.is_nan() { 0.0 } else { g })
                ],
                tch: [f_fmax],
            }
            Fmin "fmin" "fmin": "The smaller of two elements, of which one may be NaN." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, Out], dtypes: NotComplex "fmin_cpu",
                quirks: [RefusesComplex], result: Promoted, compare: Bits,
                kernel: real(a, b) => a.lesser_number(b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| if a <= b || b.is_nan() { g } else { 0.0 }),
                    d.formula(|[g, a, b]| if a <= b || b.is_nan() { 0.0 } else { g })
                ],
                tch: [f_fmin],
            }
            BitwiseAnd "bitwise_and" "bitwise_and.Tensor": "The bitwise AND of integers, the logical AND of bools." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: Integral "bitwise_and_cpu", quirks: [Commutes, AutogradFallback],
                aliases: ["__and__" "__and__.Tensor", "__iand__" "__iand__.Tensor"], result: Promoted, compare: Bits,
                kernel: integer(a, b) => a.and(b), gradient: none,
                tch: [f_bitwise_and_tensor, f_bitwise_and_tensor_, f_bitwise_and_tensor_out],
            }
            BitwiseOr "bitwise_or" "bitwise_or.Tensor": "The bitwise OR of integers, the logical OR of bools." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: Integral "bitwise_or_cpu", quirks: [Commutes, AutogradFallback],
                aliases: ["__or__" "__or__.Tensor", "__ior__" "__ior__.Tensor"], result: Promoted, compare: Bits,
                kernel: integer(a, b) => a.or(b), gradient: none,
                tch: [f_bitwise_or_tensor, f_bitwise_or_tensor_, f_bitwise_or_tensor_out],
            }
            BitwiseXor "bitwise_xor" "bitwise_xor.Tensor": "The bitwise XOR of integers, the logical XOR of bools." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: Integral "bitwise_xor_cpu", quirks: [Commutes, AutogradFallback],
                aliases: ["__xor__" "__xor__.Tensor", "__ixor__" "__ixor__.Tensor"], result: Promoted, compare: Bits,
                kernel: integer(a, b) => a.xor(b), gradient: none,
                tch: [f_bitwise_xor_tensor, f_bitwise_xor_tensor_, f_bitwise_xor_tensor_out],
            }
            BitwiseLeftShift "bitwise_left_shift" "bitwise_left_shift.Tensor":
                "Shifts the bits of integers to the left." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: Integers "lshift_cpu", quirks: [AutogradFallback],
                aliases: ["__lshift__" "__lshift__.Tensor", "__ilshift__" "__ilshift__.Tensor"], result: Promoted,
                compare: Bits,
                kernel: integer(a, b) => a.shifted_left(b), gradient: none,
                tch: [f_bitwise_left_shift, f_bitwise_left_shift_, f_bitwise_left_shift_tensor_out],
            }
            BitwiseRightShift "bitwise_right_shift" "bitwise_right_shift.Tensor":
                "Shifts the bits of integers to the right, with the sign." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: Integers "rshift_cpu", quirks: [AutogradFallback],
                aliases: ["__rshift__" "__rshift__.Tensor", "__irshift__" "__irshift__.Tensor"], result: Promoted,
                compare: Bits,
                kernel: integer(a, b) => a.shifted_right(b), gradient: none,
                tch: [f_bitwise_right_shift, f_bitwise_right_shift_, f_bitwise_right_shift_tensor_out],
            }
            Gcd "gcd" "gcd": "The greatest common divisor." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out], dtypes: Integers "gcd_cpu",
                quirks: [Commutes, AutogradFallback], result: Promoted, compare: Bits,
                kernel: integer(a, b) => a.gcd(b), gradient: none, tch: [f_gcd],
            }
            Lcm "lcm" "lcm": "The least common multiple." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out], dtypes: Integers "lcm_cpu",
                quirks: [Commutes, AutogradFallback], result: Promoted, compare: Bits,
                kernel: integer(a, b) => a.lcm(b), gradient: none, tch: [f_lcm],
            }
            LogicalAnd "logical_and" "logical_and": "Whether both elements are true." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out],
                dtypes: All "logical_and_cpu", quirks: [Commutes, Unstructured, NoAutograd], result: Bool,
                compare: Bits,
                kernel: compare(a, b) => a.truth() && b.truth(), gradient: none, tch: [f_logical_and],
            }
            LogicalOr "logical_or" "logical_or": "Whether an element of the two is true." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out],
                dtypes: All "logical_or_cpu", quirks: [Commutes, Unstructured, NoAutograd], result: Bool, compare: Bits,
                kernel: compare(a, b) => a.truth() || b.truth(), gradient: none, tch: [f_logical_or],
            }
            LogicalXor "logical_xor" "logical_xor": "Whether one element of the two is true." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out],
                dtypes: All "logical_xor_cpu", quirks: [Commutes, Unstructured, NoAutograd], result: Bool,
                compare: Bits,
                kernel: compare(a, b) => a.truth() != b.truth(), gradient: none, tch: [f_logical_xor],
            }
            FloorDivide "floor_divide" "floor_divide": "The quotient, rounded down." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: Real "div_floor_cpu", quirks: [UnroundedSecond, Unstructured, AutogradFallback],
                result: Promoted, compare: Bits,
                kernel: quotient(a, b) => a.floor_over(b), gradient: none,
                tch: [f_floor_divide, f_floor_divide_, f_floor_divide_out],
            }
            Remainder "remainder" "remainder.Tensor": "The remainder with the sign of the divisor." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: Real "remainder_cpu", result: Promoted, compare: Bits,
                kernel: divide(a, b) => a.remainder(b),
                gradient: partials(d) => [d.gradient(), d.formula(|[g, a, b]| -g * d.floored(a, b))],
                tch: [f_remainder_tensor, f_remainder_tensor_, f_remainder_tensor_out],
            }
            Fmod "fmod" "fmod.Tensor": "The remainder with the sign of the dividend." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out], dtypes: Real "fmod_cpu",
                result: Promoted, compare: Bits,
                kernel: divide(a, b) => a.fmod(b),
                gradient: partials(d) => [d.gradient(), d.formula(|[g, a, b]| -g * d.truncated(a, b))],
                tch: [f_fmod_tensor, f_fmod_tensor_, f_fmod_tensor_out],
            }
            Hypot "hypot" "hypot": "The hypotenuse of a right triangle." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out], dtypes: Floats "hypot_cpu",
                quirks: [KeepsOwn], result: Promoted,
                compare: Ulps(1, "the C library and Sleef round it in their own ways"),
                kernel: float(a, b) => a.hypot(b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| g * a / a.hypot(b)),
                    d.formula(|[g, a, b]| g * b / a.hypot(b))
                ],
                tch: [f_hypot],
            }
            ]
        }
    };
}
