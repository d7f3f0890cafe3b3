//! Reductions, and what else makes fewer elements of many.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! reductions_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            SumToSize "sum_to_size" "sum_to_size" {
                signature: Sizes, forms: [Functional], result: Sum, compare: Tolerance,
                kernel: reduction(sum_to_size),
                gradient: kernel,
                tch: [f_sum_to_size],
            }
            Sum "sum" "sum.dim_IntList" {
                signature: TypedReduction, forms: [Functional, Out], result: Sum, compare: Tolerance,
                kernel: reduction(sum),
                gradient: kernel,
                tch: [],
            }
            Nansum "nansum" "nansum" {
                signature: TypedReduction, forms: [Functional, Out], dtypes: NotComplex "nansum_cpu",
                result: Sum, compare: Tolerance,
                kernel: reduction(nansum),
                gradient: kernel,
                tch: [],
            }
            Mean "mean" "mean.dim" {
                signature: TypedReduction, forms: [Functional, Out], result: Same, compare: Tolerance,
                kernel: reduction(mean),
                gradient: kernel,
                tch: [],
            }
            Prod "prod" "prod" {
                signature: Product, forms: [Functional, Out], result: Sum, compare: Tolerance,
                kernel: reduction(prod),
                gradient: kernel,
                tch: [],
            }
            Amax "amax" "amax" {
                signature: Reduction, forms: [Functional, Out], dtypes: NotComplex "max_values_cpu",
                result: Same, compare: Bits,
                kernel: extreme(amax),
                gradient: kernel,
                tch: [],
            }
            Amin "amin" "amin" {
                signature: Reduction, forms: [Functional, Out], dtypes: NotComplex "min_values_cpu",
                result: Same, compare: Bits,
                kernel: extreme(amin),
                gradient: kernel,
                tch: [],
            }
            Argmax "argmax" "argmax" {
                signature: Position, forms: [Functional, Out], dtypes: Real, result: Int64, compare: Bits,
                kernel: extreme(argmax),
                gradient: none,
                tch: [],
            }
            Argmin "argmin" "argmin" {
                signature: Position, forms: [Functional, Out], dtypes: Real, result: Int64, compare: Bits,
                kernel: extreme(argmin),
                gradient: none,
                tch: [],
            }
            Var "var" "var.correction" {
                signature: Variance, forms: [Functional, Out], dtypes: Fractions "std_cpu",
                result: Real, compare: Tolerance,
                kernel: moment(var),
                gradient: kernel,
                tch: [],
            }
            Std "std" "std.correction" {
                signature: Variance, forms: [Functional, Out], dtypes: Fractions "std_cpu",
                result: Real, compare: Tolerance,
                kernel: moment(std),
                gradient: kernel,
                tch: [],
            }
            VarMean "var_mean" "var_mean.correction" {
                signature: Moments, forms: [Functional], dtypes: Fractions "std_cpu", result: Real, compare: Tolerance,
                kernel: moment(var_mean),
                gradient: kernel,
                tch: [],
            }
            StdMean "std_mean" "std_mean.correction" {
                signature: Moments, forms: [Functional], dtypes: Fractions "std_cpu", result: Real, compare: Tolerance,
                kernel: moment(std_mean),
                gradient: kernel,
                tch: [],
            }
            Logsumexp "logsumexp" "logsumexp" {
                signature: NamedReduction, forms: [Functional, Out], result: Float, compare: Tolerance,
                kernel: moment(logsumexp),
                gradient: kernel,
                tch: [],
            }
            VectorNorm "linalg_vector_norm" "linalg_vector_norm" {
                signature: Norm, forms: [Functional, Out], dtypes: Fractions, result: Real, compare: Tolerance,
                kernel: norm(vector_norm),
                gradient: kernel,
                tch: [],
            }
            All "all" "all" {
                signature: Truth, forms: [Functional, Out], result: Bool, compare: Bits,
                kernel: reduction(all),
                gradient: none,
                tch: [],
            }
            Any "any" "any" {
                signature: Truth, forms: [Functional, Out], result: Bool, compare: Bits,
                kernel: reduction(any),
                gradient: none,
                tch: [],
            }
            Item "item" "item" {
                signature: Unary, forms: [Functional], result: Same, compare: Bits,
                kernel: reduction(item),
                gradient: none,
                tch: [],
            }
            ]
        }
    };
}
