//! Functions that work element by element on operands that broadcast and are more than arithmetic.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! functions_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            Pow "pow" "pow.Tensor_Tensor": "Raises a base to an exponent." {
                arguments: (self: Operand, exponent: Operand), forms: [Functional, InPlace, Out], dtypes: NotBool "pow",
                result: Promoted,
                compare: Ulps(16, "the vector loop rounds a scalar exponent to the dtype and approximates the power, the loop over elements computes in float64"),
                kernel: function(power),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| if b == 0.0 { 0.0 } else { g * b * a.powf(b - 1.0) }),
                    d.formula(|[g, a, b]| if a == 0.0 && b >= 0.0 { 0.0 } else { g * a.powf(b) * a.ln() })
                ],
            }
            FloatPower "float_power" "float_power.Tensor_Tensor": "Raises a base to an exponent in double precision." {
                arguments: (self: Operand, exponent: Operand), forms: [Functional, InPlace, Out], result: Double,
                compare: Ulps(2, "the C library's functions round in their own ways"),
                kernel: function(float_power), gradient: kernel,
            }
            Atan2 "atan2" "atan2": "The angle of a point, by its coordinates y and x." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out], dtypes: Floats "atan2_cpu",
                aliases: ["arctan2" "arctan2"], result: Float,
                compare: Ulps(2, "libtorch's vector loop has approximations of its own, the C library others"),
                kernel: float(a, b) => a.atan2(b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| if a == 0.0 && b == 0.0 { 0.0 } else { g * b / (a * a + b * b) }),
                    d.formula(|[g, a, b]| if a == 0.0 && b == 0.0 { 0.0 } else { -g * a / (a * a + b * b) })
                ],
            }
            Copysign "copysign" "copysign.Tensor": "The magnitude of one operand with the sign of the other." {
                arguments: (self: Tensor, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: Floats "copysign_cpu", quirks: [KeepsFirst], result: Float, compare: Bits,
                kernel: float(a, b) => a.copysign(b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| g * if a == 0.0 { 0.0 } else { a.copysign(b) / a }),
                    d.formula(|[_, _, _]| 0.0)
                ],
            }
            Nextafter "nextafter" "nextafter": "The next floating-point number in the direction of another." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out],
                dtypes: Floats "nextafter_cpu", result: Promoted, compare: Bits,
                kernel: stepwise(a, b) => math::next_after(a, b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| if a == b { 0.0 } else { g }),
                    d.formula_reading([], |_, []| 0.0)
                ],
            }
            Heaviside "heaviside" "heaviside": "The Heaviside step function, with `values` at zero." {
                arguments: (self: Tensor, values: Tensor), forms: [Functional, InPlace, Out],
                dtypes: NotComplex "heaviside_cpu", quirks: [AutogradFallback], result: Promoted, compare: Bits,
                kernel: function(heaviside),
                gradient: partials(d) => [d.without_derivatives(), d.without_derivatives()],
            }
            Ldexp "ldexp" "ldexp.Tensor": "Multiplies by a power of two." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out],
                dtypes: All "ldexp_cpu_exp", quirks: [UnroundedSecond, KeepsSecond], result: Float,
                compare: Ulps(4, "the power of two is the C library's, or the vector loop's"),
                kernel: function(ldexp),
                gradient: partials(d) => [
                    d.formula(|[g, _, b]| g * b.exp2()),
                    d.formula(|[g, a, b]| g * a * b.exp2() * std::f64::consts::LN_2)
                ],
            }
            Logaddexp "logaddexp" "logaddexp": "The logarithm of a sum of exponentials." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, Out], dtypes: Fractions "logaddexp_cpu",
                result: Promoted,
                compare: Ulps(8, "libtorch's vector loop has approximations of its own, the C library others; it cancels where the sum is near one"),
                kernel: function(log_add_exp),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| g / (1.0 + (b - a).exp())),
                    d.formula(|[g, a, b]| g / (1.0 + (a - b).exp()))
                ],
            }
            Logaddexp2 "logaddexp2" "logaddexp2": "The logarithm to base 2 of a sum of powers of two." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, Out], dtypes: Floats "logaddexp2_cpu",
                result: Promoted,
                compare: Ulps(8, "libtorch's vector loop has approximations of its own, the C library others; it cancels where the sum is near one"),
                kernel: float(a, b) => math::log_add_exp2(a, b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| g / (1.0 + (b - a).exp2())),
                    d.formula(|[g, a, b]| g / (1.0 + (a - b).exp2()))
                ],
            }
            Xlogy "xlogy" "xlogy.Tensor": "`self * log(other)`, 0 where `self` is 0." {
                arguments: (self: Operand, other: Operand), forms: [Functional, InPlace, Out],
                dtypes: Floats "xlogy_cpu", aliases: ["special_xlogy" "special_xlogy"], result: Float,
                compare: Ulps(1, "the C library's functions round in their own ways"),
                kernel: stepwise(a, b) => math::x_log_y(a, b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| if a == 0.0 && b <= 0.0 { 0.0 } else { math::x_log_y(g, b) }),
                    d.formula(|[g, a, b]| g * a / b)
                ],
            }
            SpecialXlog1py "special_xlog1py" "special_xlog1py": "`self * log1p(other)`, 0 where `self` is 0." {
                arguments: (self: Operand, other: Operand), forms: [Functional, Out], dtypes: Floats "xlog1py_cpu",
                result: Float, compare: Ulps(1, "the C library's functions round in their own ways"),
                kernel: stepwise(a, b) => math::x_log1p_y(a, b),
                gradient: partials(d) => [
                    d.formula(|[g, a, b]| if a == 0.0 && b <= -1.0 { 0.0 } else { math::x_log1p_y(g, b) }),
                    d.formula(|[g, a, b]| g * a / (b + 1.0))
                ],
            }
            SpecialZeta "special_zeta" "special_zeta": "The Hurwitz zeta function." {
                arguments: (self: Operand, other: Operand), forms: [Functional, Out], dtypes: WideFloats "zeta_cpu",
                result: Float, compare: Ulps(2, "a sum of powers of the C library"),
                kernel: float(a, b) => math::zeta(a, b),
                gradient: partials(d) => [
                    d.without_derivative("zeta"),
                    d.formula(|[g, a, b]| -g * a * math::zeta(a + 1.0, b))
                ],
            }
            Igamma "igamma" "igamma": "The lower regularized incomplete gamma function." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out],
                dtypes: Floats "igamma_cpu", aliases: ["special_gammainc" "special_gammainc"], result: Promoted,
                compare: Ulps(16384, "as measured: a series or a continued fraction, whose factors are functions of the C library"),
                kernel: float(a, b) => math::gamma_lower(a, b),
                gradient: partials(d) => [
                    d.without_derivative("igamma: input"),
                    d.formula(|[g, a, b]| g * ((a - 1.0) * b.ln() - b - libm::lgamma(a)).exp())
                ],
            }
            Igammac "igammac" "igammac": "The upper regularized incomplete gamma function." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, InPlace, Out],
                dtypes: Floats "igammac_cpu", aliases: ["special_gammaincc" "special_gammaincc"], result: Promoted,
                compare: Ulps(16384, "as measured: a series or a continued fraction, whose factors are functions of the C library"),
                kernel: float(a, b) => math::gamma_upper(a, b),
                gradient: partials(d) => [
                    d.without_derivative("igammac: input"),
                    d.formula(|[g, a, b]| -g * ((a - 1.0) * b.ln() - b - libm::lgamma(a)).exp())
                ],
            }
            SpecialChebyshevPolynomialT "special_chebyshev_polynomial_t" "special_chebyshev_polynomial_t":
                "The Chebyshev polynomial of the first kind." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "chebyshev_polynomial_t_cpu", result: Float,
                compare: Ulps(2, "beyond low degrees it is a function of an angle, which the C library rounds"),
                kernel: float(x, n) => math::chebyshev(math::Chebyshev::T, x, n), gradient: none,
            }
            SpecialChebyshevPolynomialU "special_chebyshev_polynomial_u" "special_chebyshev_polynomial_u":
                "The Chebyshev polynomial of the second kind." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "chebyshev_polynomial_u_cpu", result: Float,
                compare: Ulps(2, "beyond low degrees it is a function of an angle, which the C library rounds"),
                kernel: float(x, n) => math::chebyshev(math::Chebyshev::U, x, n), gradient: none,
            }
            SpecialChebyshevPolynomialV "special_chebyshev_polynomial_v" "special_chebyshev_polynomial_v":
                "The Chebyshev polynomial of the third kind." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "chebyshev_polynomial_v_cpu", result: Float,
                compare: Ulps(2, "beyond low degrees it is a function of an angle, which the C library rounds"),
                kernel: float(x, n) => math::chebyshev(math::Chebyshev::V, x, n), gradient: none,
            }
            SpecialChebyshevPolynomialW "special_chebyshev_polynomial_w" "special_chebyshev_polynomial_w":
                "The Chebyshev polynomial of the fourth kind." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "chebyshev_polynomial_w_cpu", result: Float,
                compare: Ulps(2, "beyond low degrees it is a function of an angle, which the C library rounds"),
                kernel: float(x, n) => math::chebyshev(math::Chebyshev::W, x, n), gradient: none,
            }
            SpecialShiftedChebyshevPolynomialT "special_shifted_chebyshev_polynomial_t" "special_shifted_chebyshev_polynomial_t":
                "The shifted Chebyshev polynomial of the first kind." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "shifted_chebyshev_polynomial_t_cpu", result: Float,
                compare: Ulps(2, "beyond low degrees it is a function of an angle, which the C library rounds"),
                kernel: float(x, n) => math::shifted_chebyshev(math::Chebyshev::T, x, n), gradient: none,
            }
            SpecialShiftedChebyshevPolynomialU "special_shifted_chebyshev_polynomial_u" "special_shifted_chebyshev_polynomial_u":
                "The shifted Chebyshev polynomial of the second kind." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "shifted_chebyshev_polynomial_u_cpu", result: Float,
                compare: Ulps(2, "beyond low degrees it is a function of an angle, which the C library rounds"),
                kernel: float(x, n) => math::shifted_chebyshev(math::Chebyshev::U, x, n), gradient: none,
            }
            SpecialShiftedChebyshevPolynomialV "special_shifted_chebyshev_polynomial_v" "special_shifted_chebyshev_polynomial_v":
                "The shifted Chebyshev polynomial of the third kind." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "shifted_chebyshev_polynomial_v_cpu", result: Float,
                compare: Ulps(2, "beyond low degrees it is a function of an angle, which the C library rounds"),
                kernel: float(x, n) => math::shifted_chebyshev(math::Chebyshev::V, x, n), gradient: none,
            }
            SpecialShiftedChebyshevPolynomialW "special_shifted_chebyshev_polynomial_w" "special_shifted_chebyshev_polynomial_w":
                "The shifted Chebyshev polynomial of the fourth kind." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "shifted_chebyshev_polynomial_w_cpu", result: Float,
                compare: Ulps(2, "beyond low degrees it is a function of an angle, which the C library rounds"),
                kernel: float(x, n) => math::shifted_chebyshev(math::Chebyshev::W, x, n), gradient: none,
            }
            SpecialHermitePolynomialH "special_hermite_polynomial_h" "special_hermite_polynomial_h":
                "The physicist's Hermite polynomial." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "hermite_polynomial_h_cpu", result: Float, compare: Bits,
                kernel: float(x, n) => math::hermite_h(x, n), gradient: none,
            }
            SpecialHermitePolynomialHe "special_hermite_polynomial_he" "special_hermite_polynomial_he":
                "The probabilist's Hermite polynomial." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "hermite_polynomial_he_cpu", result: Float, compare: Bits,
                kernel: float(x, n) => math::hermite_he(x, n), gradient: none,
            }
            SpecialLaguerrePolynomialL "special_laguerre_polynomial_l" "special_laguerre_polynomial_l":
                "The Laguerre polynomial." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "laguerre_polynomial_l_cpu", result: Float, compare: Bits,
                kernel: float(x, n) => math::laguerre(x, n), gradient: none,
            }
            SpecialLegendrePolynomialP "special_legendre_polynomial_p" "special_legendre_polynomial_p":
                "The Legendre polynomial." {
                arguments: (x: Operand, n: Operand), forms: [Functional, Out],
                dtypes: WideFloats "legendre_polynomial_p_cpu", result: Float, compare: Bits,
                kernel: float(x, n) => math::legendre(x, n), gradient: none,
            }
            Complex "complex" "complex": "Complex numbers of real and imaginary parts." {
                arguments: (real: Tensor, imag: Tensor), forms: [Functional, Out], dtypes: WideFloats, result: Complex,
                compare: Bits,
                kernel: function(complex),
                gradient: partials(d) => [d.parts(|g, [_, _]| g.re), d.parts(|g, [_, _]| g.im)],
            }
            Polar "polar" "polar": "Complex numbers of magnitudes and angles." {
                arguments: (abs: Tensor, angle: Tensor), forms: [Functional, Out], dtypes: WideFloats "polar_cpu",
                result: Complex, compare: Ulps(1, "the C library's functions round in their own ways"),
                kernel: function(polar),
                gradient: partials(d) => [
                    d.parts(|g, [_, angle]| g.re * angle.cos() + g.im * angle.sin()),
                    d.parts(|g, [magnitude, angle]| magnitude * (g.im * angle.cos() - g.re * angle.sin()))
                ],
            }
            Addcmul "addcmul" "addcmul": "Adds the product of two tensors, times `value`." {
                arguments: (self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Number = 1),
                forms: [Functional, InPlace, Out], dtypes: NotBool "addcmul_cpu_out", result: Promoted, compare: Bits,
                kernel: function(addcmul),
                gradient: partials(d) => [
                    d.gradient(),
                    d.times(d.gradient(), d.times(d.operand(2), d.alpha())),
                    d.times(d.gradient(), d.times(d.operand(1), d.alpha()))
                ],
            }
            Addcdiv "addcdiv" "addcdiv": "Adds the quotient of two tensors, times `value`." {
                arguments: (self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Number = 1),
                forms: [Functional, InPlace, Out], dtypes: Fractions "addcdiv_cpu_out", result: Promoted, compare: Bits,
                kernel: function(addcdiv),
                gradient: partials(d) => [
                    d.gradient_keeping(2),
                    d.times(d.gradient(), d.over(d.alpha(), d.operand(2))),
                    d.negative(d.times(
                        d.gradient(),
                        d.over(d.times(d.alpha(), d.operand(1)), d.times(d.operand(2), d.operand(2)))
                    ))
                ],
            }
            Lerp "lerp" "lerp.Tensor": "Interpolates linearly between two tensors." {
                arguments: (self: Tensor, end: Tensor, weight: Operand), forms: [Functional, InPlace, Out],
                dtypes: Fractions "lerp_kernel_tensor|lerp_kernel_scalar", result: Promoted, compare: Bits,
                kernel: function(lerp),
                gradient: partials(d) => [
                    d.formula_reading([2], |g, [weight]| g * (1.0 - weight)),
                    d.formula_reading([2], |g, [weight]| g * weight),
                    d.formula(|[g, start, end, _]| g * (end - start))
                ],
            }
            Clamp "clamp" "clamp.Tensor": "Clamps elements to bounds, either of which may be missing." {
                arguments: (self: Tensor, min: Operand = None, max: Operand = None), forms: [Functional, InPlace, Out],
                dtypes: NotComplex "clamp_cpu|clamp_scalar_cpu|clamp_min_scalar_cpu|clamp_max_scalar_cpu|maximum_cpu|minimum_cpu",
                aliases: ["clip" "clip.Tensor"], result: Promoted, compare: Bits,
                kernel: function(clamp),
                gradient: partials(d) => [d.within_bounds(), d.below_bounds(), d.above_bounds()],
            }
            ClampMin "clamp_min" "clamp_min.Tensor": "Clamps elements to a lower bound." {
                arguments: (self: Tensor, min: Operand), forms: [Functional, InPlace, Out],
                dtypes: NotComplex "clamp_min_scalar_cpu|maximum_cpu", result: Promoted, compare: Bits,
                kernel: function(clamp_min),
                gradient: partials(d) => [d.within_bounds(), d.below_bounds(), d.above_bounds()],
            }
            ClampMax "clamp_max" "clamp_max.Tensor": "Clamps elements to an upper bound." {
                arguments: (self: Tensor, max: Operand), forms: [Functional, InPlace, Out],
                dtypes: NotComplex "clamp_max_scalar_cpu|minimum_cpu", result: Promoted, compare: Bits,
                kernel: function(clamp_max),
                gradient: partials(d) => [d.within_bounds(), d.below_bounds(), d.above_bounds()],
            }
            Where "where" "where.self": "Selects from two operands by a condition." {
                arguments: (condition: Tensor, self: Operand, other: Operand), forms: [Functional, Out], result: Chosen,
                compare: Bits,
                kernel: function(choose),
                gradient: partials(d) => [
                    d.nothing(),
                    d.formula_reading([0], |g, [condition]| if condition != 0.0 { g } else { 0.0 }),
                    d.formula_reading([0], |g, [condition]| if condition != 0.0 { 0.0 } else { g })
                ],
            }
            Isclose "isclose" "isclose": "Whether two elements are equal within tolerances." {
                arguments: (self: Tensor, other: Tensor, rtol: Real = 1e-5, atol: Real = 1e-8, equal_nan: Flag = False),
                forms: [Functional], result: Bool, compare: Bits,
                kernel: function(is_close), gradient: none,
            }
            Prelu "prelu" "prelu": "The rectifier with a slope for each channel." {
                arguments: (self: Tensor, weight: Tensor), forms: [Functional], dtypes: Floats "prelu_cpu",
                result: Same, compare: Bits,
                kernel: function(prelu),
                gradient: partials(d) => [
                    d.formula(|[g, a, slope]| if a > 0.0 { g } else { g * slope }),
                    d.formula(|[g, a, _]| if a > 0.0 { 0.0 } else { g * a })
                ],
            }
            Copy "copy" "copy": "Copies another tensor into this one." {
                arguments: (self: Tensor, src: Tensor), forms: [InPlace],
                absent: [Out "libtorch generates it for compilers: no front end has it, and it computes into a new tensor and copies"],
                result: Same, compare: Bits,
                kernel: function(copy), gradient: partials(d) => [d.times(d.gradient(), d.zero()), d.gradient()],
            }
            Fill "fill" "fill.Tensor": "Fills a tensor with one value." {
                arguments: (self: Tensor, value: Operand), forms: [InPlace], result: Same, compare: Bits,
                kernel: function(fill), gradient: partials(d) => [d.times(d.gradient(), d.zero()), d.gradient()],
            }
            Normal "normal" "normal.Tensor_Tensor": "Normally distributed numbers, of a mean and a standard deviation." {
                arguments: (mean: Tensor, std: Tensor), forms: [Functional, Out], result: Same, compare: Bits,
                kernel: sampler(normal),
                gradient: partials(d) => [d.formula_reading([], |_, []| 0.0), d.formula_reading([], |_, []| 0.0)],
            }
            Binomial "binomial" "binomial": "How many trials succeed, of a number of them and a probability." {
                arguments: (count: Tensor, prob: Tensor), forms: [Functional, Out], dtypes: WideFloats "binomial_cpu",
                quirks: [AutogradFallback], result: Same, compare: Bits,
                kernel: sampler(binomial), gradient: none,
            }
            Bernoulli "bernoulli" "bernoulli.Tensor": "Ones and zeros, the ones with a probability." {
                arguments: (self: Tensor, p: Tensor), forms: [Functional, InPlace], result: Same, compare: Bits,
                kernel: sampler(bernoulli),
                gradient: partials(d) => [d.formula_reading([], |_, []| 0.0), d.formula_reading([], |_, []| 0.0)],
            }
            ]
        }
    };
}
