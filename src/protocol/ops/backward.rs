//! Kernels that the gradients of activations are computed by: the upstream gradient and an operand broadcast.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! backward_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            SigmoidBackward "sigmoid_backward" "sigmoid_backward": "The gradient of `sigmoid`, from its result." {
                arguments: (grad_output: Tensor, output: Tensor), forms: [Functional, Out],
                dtypes: Fractions "sigmoid_backward_cpu", result: Promoted,
                compare: Ulps(2, "the loop over vectors and that over elements multiply in their own order"),
                kernel: number(g, y) => number::sigmoid_slope(g, y),
                gradient: partials(d) => [
                    d.formula_reading([1], |g, [y]| g * (1.0 - y) * y),
                    d.formula(|[g, above, y]| g * above * (1.0 - 2.0 * y))
                ],
            }
            TanhBackward "tanh_backward" "tanh_backward": "The gradient of `tanh`, from its result." {
                arguments: (grad_output: Tensor, output: Tensor), forms: [Functional, Out],
                dtypes: Fractions "tanh_backward_cpu", result: Promoted,
                compare: Ulps(2, "the loop over vectors and that over elements multiply in their own order"),
                kernel: number(g, y) => number::tanh_slope(g, y),
                gradient: partials(d) => [
                    d.formula_reading([1], |g, [y]| g * (1.0 - y * y)),
                    d.formula(|[g, above, y]| g * above * -2.0 * y)
                ],
            }
            HardsigmoidBackward "hardsigmoid_backward" "hardsigmoid_backward": "The gradient of `hardsigmoid`." {
                arguments: (grad_output: Tensor, self: Tensor), forms: [Functional, Out],
                dtypes: Floats "hardsigmoid_backward", quirks: [AutogradFallback], result: Promoted,
                compare: Ulps(1, "a sixth is a factor in one loop and a divisor in another"),
                kernel: float(g, a) => math::hardsigmoid_slope(g, a),
                gradient: partials(d) => [d.without_derivatives(), d.without_derivatives()],
            }
            ThresholdBackward "threshold_backward" "threshold_backward":
                "The gradient of `threshold`: the upstream gradient where the operand is above the threshold." {
                arguments: (grad_output: Tensor, self: Tensor, threshold: Number), forms: [Functional, Out],
                dtypes: Real "threshold_cpu", quirks: [SecondFirst], result: Promoted, compare: Bits,
                kernel: real(g, a; threshold) => if a <= threshold { T::default() } else { g },
                gradient: partials(d) => [
                    d.formula_reading([1], |g, [a]| if a <= d.factor() { 0.0 } else { g }),
                    d.formula_reading([1], |_, [_]| 0.0)
                ],
            }
            HardshrinkBackward "hardshrink_backward" "hardshrink_backward":
                "The gradient of `hardshrink`: the upstream gradient where the operand is further from zero than `lambd`." {
                arguments: (grad_out: Tensor, self: Tensor, lambd: Number), forms: [Functional, Out],
                dtypes: Floats "shrink_backward_cpu", result: Promoted, compare: Bits,
                kernel: real(g, a; lambd) => if a >= lambd.negated() && a <= lambd { T::default() } else { g },
                gradient: partials(d) => [
                    d.formula_reading([1], |g, [a]| if a >= -d.factor() && a <= d.factor() { 0.0 } else { g }),
                    d.formula_reading([], |_, []| 0.0)
                ],
            }
            SoftshrinkBackward "softshrink_backward" "softshrink_backward":
                "The gradient of `softshrink`: the upstream gradient where the operand is further from zero than `lambd`." {
                arguments: (grad_output: Tensor, self: Tensor, lambd: Number), forms: [Functional, Out],
                dtypes: Floats "shrink_backward_cpu", result: Promoted, compare: Bits,
                kernel: real(g, a; lambd) => if a >= lambd.negated() && a <= lambd { T::default() } else { g },
                gradient: partials(d) => [
                    d.formula_reading([1], |g, [a]| if a >= -d.factor() && a <= d.factor() { 0.0 } else { g }),
                    d.formula_reading([], |_, []| 0.0)
                ],
            }
            LeakyReluBackward "leaky_relu_backward" "leaky_relu_backward":
                "The gradient of `leaky_relu`: the upstream gradient, times `negative_slope` where the operand is not positive." {
                arguments: (grad_output: Tensor, self: Tensor, negative_slope: Number, self_is_result: Flag),
                forms: [Functional, Out], dtypes: Floats "leaky_relu_backward_cpu", quirks: [SecondFirst],
                result: Promoted, compare: Bits,
                kernel: real(g, a; slope) => if a > T::default() { g } else { g.times(slope) },
                gradient: partials(d) => [
                    d.formula_reading([1], |g, [a]| if a > 0.0 { g } else { g * d.factor() }),
                    d.formula_reading([], |_, []| 0.0)
                ],
            }
            ]
        }
    };
}
