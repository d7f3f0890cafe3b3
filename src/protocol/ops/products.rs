//! Products of vectors, matrices and batches of matrices.
//!
//! Products whose order of summation is free are compared within a tolerance; `outer`, `addr`, `kron` and `linalg_cross`
//! are element by element. None of their kernels takes bool, `outer`, `addr` and `kron` apart.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! products_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            Einsum "einsum" "einsum" {
                signature: Einsum, forms: [Functional], result: Same, compare: Tolerance,
                kernel: product(einsum),
                gradient: kernel,
                tch: [f_einsum],
            }
            Matmul "matmul" "matmul" {
                signature: TwoTensors, forms: [Functional, Out], result: Same, compare: Tolerance,
                kernel: product(matmul),
                gradient: kernel,
                tch: [f_matmul],
            }
            Dot "dot" "dot" {
                signature: Tensors1D, forms: [Functional, Out], dtypes: NotBool "dot", result: Same,
                compare: Tolerance,
                kernel: product(dot),
                gradient: kernel,
                tch: [],
            }
            Vdot "vdot" "vdot" {
                signature: TwoTensors, forms: [Functional, Out], dtypes: NotBool "dot", result: Same,
                compare: Tolerance,
                kernel: product(vdot),
                gradient: kernel,
                tch: [],
            }
            Mv "mv" "mv" {
                signature: MatrixVector, forms: [Functional, Out], dtypes: NotBool "addmv_impl_cpu", result: Same,
                compare: Tolerance,
                kernel: product(mv),
                gradient: kernel,
                tch: [],
            }
            Mm "mm" "mm" {
                signature: Matrices, forms: [Functional, Out], dtypes: NotBool "addmm_impl_cpu_", result: Same,
                compare: Tolerance,
                kernel: product(mm),
                gradient: kernel,
                tch: [],
            }
            Bmm "bmm" "bmm" {
                signature: Batches, forms: [Functional, Out], dtypes: NotBool "bmm", result: Same,
                compare: Tolerance,
                kernel: product(bmm),
                gradient: kernel,
                tch: [],
            }
            Addmm "addmm" "addmm" {
                signature: Addmm, forms: [Functional, InPlace, Out], dtypes: NotBool "addmm_impl_cpu_", result: Same,
                compare: Tolerance,
                kernel: product(addmm),
                gradient: kernel,
                tch: [],
            }
            Addmv "addmv" "addmv" {
                signature: Addmv, forms: [Functional, InPlace, Out], dtypes: NotBool "addmv_impl_cpu", result: Same,
                compare: Tolerance,
                kernel: product(addmv),
                gradient: kernel,
                tch: [],
            }
            Addr "addr" "addr" {
                signature: Addr, forms: [Functional, InPlace, Out], result: Promoted, compare: Tolerance,
                kernel: product(addr),
                gradient: kernel,
                tch: [],
            }
            Baddbmm "baddbmm" "baddbmm" {
                signature: BatchSum, forms: [Functional, InPlace, Out], dtypes: NotBool "baddbmm", result: Same,
                compare: Tolerance,
                kernel: product(baddbmm),
                gradient: kernel,
                tch: [],
            }
            Addbmm "addbmm" "addbmm" {
                signature: BatchSum, forms: [Functional, InPlace, Out], dtypes: NotBool "addmm_impl_cpu_",
                result: Same, compare: Tolerance,
                kernel: product(addbmm),
                gradient: kernel,
                tch: [],
            }
            Outer "outer" "outer" {
                signature: Vectors, forms: [Functional, Out], result: Promoted, compare: Bits,
                kernel: product(outer),
                gradient: kernel,
                tch: [],
            }
            Ger "ger" "ger" {
                signature: Vectors, forms: [Functional, Out], result: Promoted, compare: Bits,
                kernel: product(ger),
                gradient: kernel,
                tch: [],
            }
            Inner "inner" "inner" {
                signature: TwoTensors, forms: [Functional, Out], result: Same, compare: Tolerance,
                kernel: product(inner),
                gradient: kernel,
                tch: [],
            }
            Tensordot "tensordot" "tensordot" {
                signature: Tensordot, forms: [Functional, Out], result: Same, compare: Tolerance,
                kernel: product(tensordot),
                gradient: kernel,
                tch: [],
            }
            Kron "kron" "kron" {
                signature: TwoTensors, forms: [Functional, Out], result: Promoted, compare: Bits,
                kernel: product(kron),
                gradient: kernel,
                tch: [],
            }
            LinalgVecdot "linalg_vecdot" "linalg_vecdot" {
                signature: Vecdot, forms: [Functional, Out], dtypes: Fractions, result: Same, compare: Tolerance,
                kernel: product(linalg_vecdot),
                gradient: kernel,
                tch: [],
            }
            LinalgCross "linalg_cross" "linalg_cross" {
                signature: Along, forms: [Functional, Out], dtypes: NotBool "cross", result: Same,
                compare: Tolerance,
                kernel: product(linalg_cross),
                gradient: kernel,
                tch: [],
            }
            LinalgSolve "linalg_solve" "linalg_solve" {
                signature: Solve, forms: [Functional, Out], dtypes: Fractions, result: Same, compare: Tolerance,
                kernel: product(linalg_solve),
                gradient: kernel,
                tch: [],
            }
            ]
        }
    };
}
