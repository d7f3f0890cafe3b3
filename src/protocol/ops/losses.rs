//! Losses and distances.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! losses_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            MseLoss "mse_loss" "mse_loss": "The squared error." {
                arguments: (self: Tensor, target: Tensor, reduction: Reduction = "mean"), forms: [Functional, Out],
                dtypes: Floats "mse_cpu", result: Promoted, compare: Bits,
                kernel: loss(mse_loss), gradient: kernel,
            }
            L1Loss "l1_loss" "l1_loss": "The absolute error." {
                arguments: (self: Tensor, target: Tensor, reduction: Reduction = "mean"), forms: [Functional],
                result: Promoted, compare: Ulps(1, "the size of a complex number is rounded in more ways than one"),
                kernel: loss(l1_loss), gradient: kernel,
            }
            SmoothL1Loss "smooth_l1_loss" "smooth_l1_loss": "The absolute error, quadratic below `beta`." {
                arguments: (self: Tensor, target: Tensor, reduction: Reduction = "mean", beta: Real = 1.0),
                forms: [Functional, Out], dtypes: Floats "smooth_l1_cpu", result: Promoted, compare: Bits,
                kernel: loss(smooth_l1_loss), gradient: kernel,
            }
            HuberLoss "huber_loss" "huber_loss": "The Huber loss: quadratic below `delta`." {
                arguments: (self: Tensor, target: Tensor, reduction: Reduction = "mean", delta: Real = 1.0),
                forms: [Functional, Out], dtypes: Floats "huber_cpu", result: Promoted, compare: Bits,
                kernel: loss(huber_loss), gradient: kernel,
            }
            SoftMarginLoss "soft_margin_loss" "soft_margin_loss": "The logistic loss of targets 1 and -1." {
                arguments: (self: Tensor, target: Tensor, reduction: Reduction = "mean"), forms: [Functional, Out],
                result: Same,
                compare: Ulps(4, "the exponential and the logarithm round in their own ways, one after the other"),
                kernel: loss(soft_margin_loss), gradient: kernel,
            }
            HingeEmbeddingLoss "hinge_embedding_loss" "hinge_embedding_loss":
                "The loss of distances between alike and unlike pairs." {
                arguments: (self: Tensor, target: Tensor, margin: Real = 1.0, reduction: Reduction = "mean"),
                forms: [Functional], result: Same, compare: Bits,
                kernel: loss(hinge_embedding_loss), gradient: kernel,
            }
            MarginRankingLoss "margin_ranking_loss" "margin_ranking_loss": "The loss of the order of two inputs." {
                arguments: (input1: Tensor, input2: Tensor, target: Tensor, margin: Real = 0.0,
                    reduction: Reduction = "mean"),
                forms: [Functional], result: Float, compare: Bits,
                kernel: loss(margin_ranking_loss), gradient: kernel,
            }
            KlDiv "kl_div" "kl_div": "The Kullback-Leibler divergence." {
                arguments: (self: Tensor, target: Tensor, reduction: Reduction = "mean", log_target: Flag = False),
                forms: [Functional], result: Promoted, compare: Tolerance,
                kernel: loss(kl_div), gradient: kernel,
            }
            PoissonNllLoss "poisson_nll_loss" "poisson_nll_loss":
                "The negative log likelihood of a Poisson distribution." {
                arguments: (input: Tensor, target: Tensor, log_input: Flag = True, full: Flag = False,
                    eps: Real = 1e-8, reduction: Reduction = "mean"),
                forms: [Functional], result: Float, compare: Tolerance,
                kernel: loss(poisson_nll_loss), gradient: kernel,
            }
            BinaryCrossEntropyWithLogits "binary_cross_entropy_with_logits" "binary_cross_entropy_with_logits":
                "The cross entropy of two classes, from logits." {
                arguments: (self: Tensor, target: Tensor, weight: Tensor = None, pos_weight: Tensor = None,
                    reduction: Reduction = "mean"),
                forms: [Functional], dtypes: Floats "log_sigmoid_cpu", result: Same, compare: Tolerance,
                kernel: loss(binary_cross_entropy_with_logits), gradient: kernel,
            }
            BinaryCrossEntropy "binary_cross_entropy" "binary_cross_entropy":
                "The cross entropy of two classes, from probabilities." {
                arguments: (self: Tensor, target: Tensor, weight: Tensor = None, reduction: Reduction = "mean"),
                forms: [Functional, Out], dtypes: Floats "binary_cross_entropy", result: Same, compare: Tolerance,
                kernel: loss(binary_cross_entropy), gradient: kernel,
            }
            BinaryCrossEntropyBackward "binary_cross_entropy_backward" "binary_cross_entropy_backward":
                "The gradient of `binary_cross_entropy`: the difference over the product of the probability and its complement." {
                arguments: (grad_output: Tensor, self: Tensor, target: Tensor, weight: Tensor = None,
                    reduction: Reduction = "mean"),
                forms: [Functional, Out], dtypes: Floats "binary_cross_entropy_backward", result: Same, compare: Tolerance,
                kernel: loss(binary_cross_entropy_backward), gradient: kernel,
            }
            CosineEmbeddingLoss "cosine_embedding_loss" "cosine_embedding_loss":
                "The loss of the cosine of alike and unlike pairs." {
                arguments: (input1: Tensor, input2: Tensor, target: Tensor, margin: Real = 0.0,
                    reduction: Reduction = "mean"),
                forms: [Functional], result: Float, compare: Tolerance,
                kernel: loss(cosine_embedding_loss), gradient: kernel,
            }
            TripletMarginLoss "triplet_margin_loss" "triplet_margin_loss":
                "The loss of the distances of an anchor from a positive and a negative." {
                arguments: (anchor: Tensor, positive: Tensor, negative: Tensor, margin: Real = 1.0, p: Real = 2.0,
                    eps: Real = 1e-6, swap: Flag = False, reduction: Reduction = "mean"),
                forms: [Functional], result: Float, compare: Tolerance,
                kernel: distance(triplet_margin_loss), gradient: kernel,
            }
            CosineSimilarity "cosine_similarity" "cosine_similarity": "The cosine of the angle between vectors." {
                arguments: (x1: Tensor, x2: Tensor, dim: Int = 1, eps: Real = 1e-8), forms: [Functional],
                result: Promoted, compare: Tolerance,
                kernel: distance(cosine_similarity), gradient: kernel,
            }
            PairwiseDistance "pairwise_distance" "pairwise_distance":
                "The distance between vectors of the last dimension." {
                arguments: (x1: Tensor, x2: Tensor, p: Real = 2.0, eps: Real = 1e-6, keepdim: Flag = False),
                forms: [Functional], result: Float, compare: Tolerance,
                kernel: distance(pairwise_distance), gradient: kernel,
            }
            Cdist "cdist" "cdist": "The distances between all rows of two matrices." {
                arguments: (x1: Tensor, x2: Tensor, p: Real = 2.0, compute_mode: Int = None), forms: [Functional],
                dtypes: WideFloats "cdist", result: Same, compare: Tolerance,
                kernel: distance(cdist), gradient: kernel,
            }
            Dist "dist" "dist": "The norm of the difference of two tensors." {
                arguments: (self: Tensor, other: Tensor, p: Number = 2), forms: [Functional], result: Promoted,
                compare: Tolerance,
                kernel: distance(dist), gradient: kernel,
            }
            Trapezoid "trapezoid" "trapezoid.x": "The integral along a dimension, by the trapezoidal rule." {
                arguments: (y: Tensor, x: Tensor, dim: Int = -1), forms: [Functional],
                aliases: ["trapz" "trapz.x"], result: Float, compare: Tolerance,
                kernel: integral(trapezoid), gradient: kernel,
            }
            CumulativeTrapezoid "cumulative_trapezoid" "cumulative_trapezoid.x":
                "The integral up to each point, by the trapezoidal rule." {
                arguments: (y: Tensor, x: Tensor, dim: Int = -1), forms: [Functional], result: Float, compare: Tolerance,
                kernel: integral(cumulative_trapezoid), gradient: kernel,
            }
            MseLossBackward "mse_loss_backward" "mse_loss_backward":
                "The gradient of `mse_loss`: twice the difference, times the share of an element." {
                arguments: (grad_output: Tensor, self: Tensor, target: Tensor, reduction: Reduction),
                forms: [Functional, Out], dtypes: Real "mse_backward_cpu_out", quirks: [FirstLast, Unstructured],
                result: Second, compare: Ulps(2, "the derivatives of it round once, and in libtorch after every step"),
                kernel: loss(mse_loss_backward),
                gradient: partials(d) => [
                    d.formula(|[g, _, a, b]| 2.0 * d.share() * (a - b) * g),
                    d.formula(|[g, above, _, _]| 2.0 * d.share() * g * above),
                    d.formula(|[g, above, _, _]| -2.0 * d.share() * g * above)
                ],
            }
            SmoothL1LossBackward "smooth_l1_loss_backward" "smooth_l1_loss_backward":
                "The gradient of `smooth_l1_loss`: the difference over `beta`, and its sign beyond." {
                arguments: (grad_output: Tensor, self: Tensor, target: Tensor, reduction: Reduction, beta: Real),
                forms: [Functional, Out], dtypes: Real "smooth_l1_backward_cpu_out", quirks: [FirstLast, Unstructured],
                result: Second, compare: Ulps(4, "the quotient is a factor in one loop, and the product is divided in another"),
                kernel: loss(smooth_l1_loss_backward),
                gradient: partials(d) => [
                    d.formula(|[g, _, a, b]| d.bent(a - b, 1.0 / d.number(0)) * g),
                    d.formula(|[g, above, a, b]| d.is_bent(a - b, 1.0 / d.number(0)) * g * above),
                    d.formula(|[g, above, a, b]| -d.is_bent(a - b, 1.0 / d.number(0)) * g * above)
                ],
            }
            HuberLossBackward "huber_loss_backward" "huber_loss_backward":
                "The gradient of `huber_loss`: the difference, and `delta` with its sign beyond." {
                arguments: (grad_output: Tensor, self: Tensor, target: Tensor, reduction: Reduction, delta: Real),
                forms: [Functional, Out], dtypes: Floats "huber_backward_cpu_out",
                quirks: [FirstLast, Unstructured, ExactTarget],
                result: Second, compare: Ulps(4, "the loop over vectors and that over elements multiply in their own order"),
                kernel: loss(huber_loss_backward),
                gradient: partials(d) => [
                    d.formula(|[g, _, a, b]| d.bent(a - b, 1.0) * g),
                    d.formula(|[g, above, a, b]| d.is_bent(a - b, 1.0) * g * above),
                    d.formula(|[g, above, a, b]| -d.is_bent(a - b, 1.0) * g * above)
                ],
            }
            SoftMarginLossBackward "soft_margin_loss_backward" "soft_margin_loss_backward":
                "The gradient of `soft_margin_loss`: the target times the share of an exponential, negated." {
                arguments: (grad_output: Tensor, self: Tensor, target: Tensor, reduction: Reduction),
                forms: [Functional, Out], result: Second,
                compare: Ulps(8, "the exponential rounds in its own way, and so do the steps after it"),
                kernel: loss(soft_margin_loss_backward),
                gradient: partials(d) => [
                    d.formula(|[g, _, a, b]| {
                        let power = (-b * a).exp();
                        -d.share() * b * power / (power + 1.0) * g
                    }),
                    d.formula(|[g, above, a, b]| {
                        let power = (-b * a).exp();
                        d.share() * b * b * power / ((power + 1.0) * (power + 1.0)) * g * above
                    }),
                    d.nothing()
                ],
            }
            Allclose "allclose" "allclose": "Whether all elements are equal within tolerances." {
                arguments: (self: Tensor, other: Tensor, rtol: Real = 1e-5, atol: Real = 1e-8, equal_nan: Flag = False),
                forms: [Functional], result: Bool, compare: Bits,
                kernel: distance(allclose), gradient: none,
            }
            Equal "equal" "equal": "Whether two tensors have the same shape and elements." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional], result: Bool, compare: Bits,
                kernel: distance(equal), gradient: none,
            }
            ]
        }
    };
}
