//! Losses and distances.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! losses_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            MseLoss "mse_loss" "mse_loss" {
                signature: Loss, forms: [Functional, Out], dtypes: Floats "mse_cpu", result: Promoted, compare: Bits,
                kernel: loss(mse_loss),
                gradient: kernel,
                tch: [],
            }
            L1Loss "l1_loss" "l1_loss" {
                signature: Loss, forms: [Functional], result: Promoted,
                compare: Ulps(1, "the size of a complex number is rounded in more ways than one"),
                kernel: loss(l1_loss),
                gradient: kernel,
                tch: [],
            }
            SmoothL1Loss "smooth_l1_loss" "smooth_l1_loss" {
                signature: SmoothLoss, forms: [Functional, Out], dtypes: Floats "smooth_l1_cpu", result: Promoted,
                compare: Bits,
                kernel: loss(smooth_l1_loss),
                gradient: kernel,
                tch: [],
            }
            HuberLoss "huber_loss" "huber_loss" {
                signature: HuberLoss, forms: [Functional, Out], dtypes: Floats "huber_cpu", result: Promoted,
                compare: Bits,
                kernel: loss(huber_loss),
                gradient: kernel,
                tch: [],
            }
            SoftMarginLoss "soft_margin_loss" "soft_margin_loss" {
                signature: Loss, forms: [Functional, Out], result: Same,
                compare: Ulps(4, "the exponential and the logarithm round in their own ways, one after the other"),
                kernel: loss(soft_margin_loss),
                gradient: kernel,
                tch: [],
            }
            HingeEmbeddingLoss "hinge_embedding_loss" "hinge_embedding_loss" {
                signature: HingeLoss, forms: [Functional], result: Same, compare: Bits,
                kernel: loss(hinge_embedding_loss),
                gradient: kernel,
                tch: [],
            }
            MarginRankingLoss "margin_ranking_loss" "margin_ranking_loss" {
                signature: PairLoss, forms: [Functional], result: Float, compare: Bits,
                kernel: loss(margin_ranking_loss),
                gradient: kernel,
                tch: [],
            }
            KlDiv "kl_div" "kl_div" {
                signature: Divergence, forms: [Functional], result: Promoted, compare: Tolerance,
                kernel: loss(kl_div),
                gradient: kernel,
                tch: [],
            }
            PoissonNllLoss "poisson_nll_loss" "poisson_nll_loss" {
                signature: PoissonLoss, forms: [Functional], result: Float, compare: Tolerance,
                kernel: loss(poisson_nll_loss),
                gradient: kernel,
                tch: [],
            }
            BinaryCrossEntropyWithLogits "binary_cross_entropy_with_logits" "binary_cross_entropy_with_logits" {
                signature: LogitsLoss, forms: [Functional], dtypes: Floats "log_sigmoid_cpu", result: Same,
                compare: Tolerance,
                kernel: loss(binary_cross_entropy_with_logits),
                gradient: kernel,
                tch: [],
            }
            CosineEmbeddingLoss "cosine_embedding_loss" "cosine_embedding_loss" {
                signature: PairLoss, forms: [Functional], result: Float, compare: Tolerance,
                kernel: loss(cosine_embedding_loss),
                gradient: kernel,
                tch: [],
            }
            TripletMarginLoss "triplet_margin_loss" "triplet_margin_loss" {
                signature: TripletLoss, forms: [Functional], result: Float, compare: Tolerance,
                kernel: distance(triplet_margin_loss),
                gradient: kernel,
                tch: [],
            }
            CosineSimilarity "cosine_similarity" "cosine_similarity" {
                signature: Similarity, forms: [Functional], result: Promoted, compare: Tolerance,
                kernel: distance(cosine_similarity),
                gradient: kernel,
                tch: [],
            }
            PairwiseDistance "pairwise_distance" "pairwise_distance" {
                signature: PairwiseDistance, forms: [Functional], result: Float, compare: Tolerance,
                kernel: distance(pairwise_distance),
                gradient: kernel,
                tch: [],
            }
            Cdist "cdist" "cdist" {
                signature: Cdist, forms: [Functional], dtypes: WideFloats "cdist", result: Same, compare: Tolerance,
                kernel: distance(cdist),
                gradient: kernel,
                tch: [],
            }
            Dist "dist" "dist" {
                signature: Dist, forms: [Functional], result: Promoted, compare: Tolerance,
                kernel: distance(dist),
                gradient: kernel,
                tch: [],
            }
            Allclose "allclose" "allclose" {
                signature: Closeness, forms: [Functional], result: Bool, compare: Bits,
                kernel: distance(allclose),
                gradient: none,
                tch: [],
            }
            Equal "equal" "equal" {
                signature: TwoTensors, forms: [Functional], result: Bool, compare: Bits,
                kernel: distance(equal),
                gradient: none,
                tch: [],
            }
            ]
        }
    };
}
