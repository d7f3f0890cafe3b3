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
                    d.formula(|[g, _, y]| g * (1.0 - y) * y),
                    d.formula(|[g, above, y]| g * above * (1.0 - 2.0 * y))
                ],
            }
            TanhBackward "tanh_backward" "tanh_backward": "The gradient of `tanh`, from its result." {
                arguments: (grad_output: Tensor, output: Tensor), forms: [Functional, Out],
                dtypes: Fractions "tanh_backward_cpu", result: Promoted,
                compare: Ulps(2, "the loop over vectors and that over elements multiply in their own order"),
                kernel: number(g, y) => number::tanh_slope(g, y),
                gradient: partials(d) => [
                    d.formula(|[g, _, y]| g * (1.0 - y * y)),
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
                    d.formula_reading([1], |_, [_]| 0.0)
                ],
            }
            SoftshrinkBackward "softshrink_backward" "softshrink_backward":
                "The gradient of `softshrink`: the upstream gradient where the operand is further from zero than `lambd`." {
                arguments: (grad_output: Tensor, self: Tensor, lambd: Number), forms: [Functional, Out],
                dtypes: Floats "shrink_backward_cpu", result: Promoted, compare: Bits,
                kernel: real(g, a; lambd) => if a >= lambd.negated() && a <= lambd { T::default() } else { g },
                gradient: partials(d) => [
                    d.formula_reading([1], |g, [a]| if a >= -d.factor() && a <= d.factor() { 0.0 } else { g }),
                    d.formula_reading([1], |_, [_]| 0.0)
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
                    d.formula_reading([1], |_, [_]| 0.0)
                ],
            }
            HardtanhBackward "hardtanh_backward" "hardtanh_backward":
                "The gradient of `hardtanh`: the upstream gradient where the operand is between the bounds." {
                arguments: (grad_output: Tensor, self: Tensor, min_val: Number, max_val: Number),
                forms: [Functional, Out], dtypes: Floats "hardshrink_backward_cpu", quirks: [Unstructured],
                result: Promoted, compare: Bits,
                kernel: function(hardtanh_backward),
                gradient: partials(d) => [
                    d.formula_reading([1], |g, [a]| if a <= d.number(0) || a >= d.number(1) { 0.0 } else { g }),
                    d.formula_reading([1], |_, [_]| 0.0)
                ],
            }
            HardswishBackward "hardswish_backward" "hardswish_backward": "The gradient of `hardswish`." {
                arguments: (grad_output: Tensor, self: Tensor), forms: [Functional],
                dtypes: Floats "hardswish_backward_cpu",
                absent: [Out "libtorch generates it for compilers: no front end has it, and it computes into a new tensor and copies"],
                result: Promoted, compare: Ulps(1, "the derivatives of it round once, and in libtorch after every step"),
                kernel: float(g, a) => math::hardswish_slope(g, a),
                gradient: partials(d) => [
                    d.formula(|[g, _, a]| math::hardswish_slope(g, a)),
                    d.formula(|[g, above, a]| if a > -3.0 && a < 3.0 { g * above / 3.0 } else { 0.0 })
                ],
            }
            SoftplusBackward "softplus_backward" "softplus_backward":
                "The gradient of `softplus`: a sigmoid of the operand times `beta`, and beyond `threshold` the upstream gradient." {
                arguments: (grad_output: Tensor, self: Tensor, beta: Number, threshold: Number),
                forms: [Functional, Out], dtypes: Floats "softplus_backward_cpu", result: Promoted,
                compare: Ulps(4, "the exponential rounds in its own way, and so does the quotient that is made of it"),
                kernel: function(softplus_backward),
                gradient: partials(d) => [
                    d.formula(|[g, _, a]| {
                        let x = a * d.number(0);
                        if x > d.number(1) { g } else { g * x.exp() / (x.exp() + 1.0) }
                    }),
                    d.formula(|[g, above, a]| {
                        let (x, beta) = (a * d.number(0), d.number(0));
                        let y = 1.0 / (1.0 + (-x).exp());
                        if x < d.number(1) { g * above * (1.0 - y) * y * beta } else { 0.0 }
                    })
                ],
            }
            EluBackward "elu_backward" "elu_backward": "The gradient of `elu`, from the operand or from the result." {
                arguments: (grad_output: Tensor, alpha: Number, scale: Number, input_scale: Number, is_result: Flag,
                    self_or_result: Tensor),
                forms: [Functional, Out], dtypes: Floats "elu_backward_cpu", result: Promoted,
                compare: Ulps(4, "the exponential rounds in its own way, and so do the products that it is part of"),
                kernel: function(elu_backward),
                gradient: partials(d) => [
                    d.formula(|[g, _, a]| d.elu(g, a)),
                    d.formula(|[g, above, a]| match a < 0.0 {
                        true if d.flag() => g * above * d.number(2),
                        true => d.elu(g * above * d.number(2), a),
                        false => 0.0,
                    })
                ],
            }
            LogitBackward "logit_backward" "logit_backward": "The gradient of `logit`: the upstream gradient over x (1 - x)." {
                arguments: (grad_output: Tensor, self: Tensor, eps: Real = None), forms: [Functional, Out],
                dtypes: Floats "logit_backward_cpu", quirks: [AutogradFallback], result: Promoted, compare: Bits,
                kernel: function(logit_backward),
                gradient: partials(d) => [d.without_derivatives(), d.without_derivatives()],
            }
            SiluBackward "silu_backward" "silu_backward": "The gradient of `silu`." {
                arguments: (grad_output: Tensor, self: Tensor), forms: [Functional, Out],
                dtypes: Fractions "silu_backward_cpu", quirks: [AutogradFallback], result: Promoted,
                compare: Ulps(32, "the exponential rounds in its own way, and the difference that it is part of magnifies that"),
                kernel: function(silu_backward),
                gradient: partials(d) => [d.without_derivatives(), d.without_derivatives()],
            }
            MishBackward "mish_backward" "mish_backward": "The gradient of `mish`." {
                arguments: (grad_output: Tensor, self: Tensor), forms: [Functional],
                dtypes: Floats "mish_backward_cpu", quirks: [AutogradFallback], result: Second,
                compare: Tolerance,
                kernel: function(mish_backward),
                gradient: partials(d) => [d.without_derivatives(), d.without_derivatives()],
            }
            LogSigmoidBackward "log_sigmoid_backward" "log_sigmoid_backward":
                "The gradient of `logsigmoid`, from the operand and from the exponential that was kept." {
                arguments: (grad_output: Tensor, self: Tensor, buffer: Tensor), forms: [Functional, Out],
                dtypes: Floats "log_sigmoid_backward_cpu", quirks: [FirstLast, ExactTarget],
                result: Promoted, compare: Ulps(1, "the derivatives of it round once, and in libtorch after every step"),
                kernel: function(log_sigmoid_backward),
                gradient: partials(d) => [
                    d.formula(|[g, _, a, power]| {
                        let share = power / (1.0 + power);
                        g * if a < 0.0 { 1.0 - share } else { share }
                    }),
                    d.formula(|[g, above, a, _]| {
                        let y = 1.0 / (1.0 + (-a).exp());
                        g * above * (y - 1.0) * y
                    }),
                    d.nothing()
                ],
            }
            GeluBackward "gelu_backward" "gelu_backward": "The gradient of `gelu`." {
                arguments: (grad_output: Tensor, self: Tensor, approximate: Text = "none"), forms: [Functional, Out],
                dtypes: Floats "GeluBackwardKernelImpl", result: Promoted, compare: Tolerance,
                kernel: function(gelu_backward),
                gradient: partials(d) => [
                    d.formula(|[g, _, a]| d.gelu(g, a, false)),
                    d.formula(|[g, above, a]| d.gelu(g * above, a, true))
                ],
            }
            NativeDropoutBackward "native_dropout_backward" "native_dropout_backward":
                "The gradient of dropout: the product of the upstream gradient, the mask and the scale." {
                arguments: (grad_output: Tensor, mask: Tensor, scale: Real), forms: [Functional],
                absent: [Out "libtorch generates it for compilers: no front end has it, and it computes into a new tensor and copies"],
                result: Float, compare: Bits,
                kernel: function(native_dropout_backward),
                gradient: partials(d) => [
                    d.formula(|[g, _, mask]| g * mask * d.number(0)),
                    d.all_operands().and_then(|_| d.without_derivative("native_dropout_backward: mask"))
                ],
            }
            ]
        }
    };
}
