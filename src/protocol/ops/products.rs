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
            Einsum "einsum" "einsum": "The sum of products that an equation describes." {
                arguments: (equation: Text, operands: Tensors), forms: [Functional], result: Same, compare: Tolerance,
                kernel: product(einsum), gradient: kernel, tch: [f_einsum],
            }
            Matmul "matmul" "matmul": "The product of vectors, matrices, or batches of matrices." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, Out],
                aliases: ["linalg_matmul" "linalg_matmul"], result: Same, compare: Tolerance,
                kernel: product(matmul), gradient: kernel, tch: [f_matmul],
            }
            Dot "dot" "dot": "The dot product of two vectors." {
                arguments: (self: Tensor, tensor: Tensor), forms: [Functional, Out], dtypes: NotBool "dot",
                result: Same, compare: Tolerance,
                kernel: product(dot), gradient: kernel,
            }
            Vdot "vdot" "vdot": "The dot product of two vectors, the first conjugated." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, Out], dtypes: NotBool "dot", result: Same,
                compare: Tolerance,
                kernel: product(vdot), gradient: kernel,
            }
            Mv "mv" "mv": "The product of a matrix and a vector." {
                arguments: (self: Tensor, vec: Tensor), forms: [Functional, Out], dtypes: NotBool "addmv_impl_cpu",
                result: Same, compare: Tolerance,
                kernel: product(mv), gradient: kernel,
            }
            Mm "mm" "mm": "The product of two matrices." {
                arguments: (self: Tensor, mat2: Tensor), forms: [Functional, Out], dtypes: NotBool "addmm_impl_cpu_",
                result: Same, compare: Tolerance,
                kernel: product(mm), gradient: kernel,
            }
            Bmm "bmm" "bmm": "The products of two batches of matrices." {
                arguments: (self: Tensor, mat2: Tensor), forms: [Functional, Out], dtypes: NotBool "bmm", result: Same,
                compare: Tolerance,
                kernel: product(bmm), gradient: kernel,
            }
            Addmm "addmm" "addmm": "Adds the product of two matrices." {
                arguments: (self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number = 1, alpha: Number = 1),
                forms: [Functional, InPlace, Out], dtypes: NotBool "addmm_impl_cpu_", result: Same, compare: Tolerance,
                kernel: product(addmm), gradient: kernel,
            }
            AddmmActivation "_addmm_activation" "_addmm_activation":
                "Adds the product of two matrices, and rectifies the sum, or takes `gelu` of it." {
                arguments: (self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number = 1, alpha: Number = 1,
                    use_gelu: Flag = False),
                forms: [Functional, Out], dtypes: Real "addmm_impl_cpu_|GeluKernelImpl", quirks: [AutogradFallback],
                result: Same, compare: Tolerance, kernel: product(addmm_activation), gradient: kernel,
            }
            Linear "linear" "linear": "The product with a transposed matrix, and a bias that broadcasts to it." {
                arguments: (input: Tensor, weight: Tensor, bias: Tensor = None), forms: [Functional],
                absent: [Out "PyTorch's page has none, and the overload writes to its own operands unchecked"],
                result: Same, compare: Tolerance, kernel: product(linear), gradient: kernel,
            }
            Bilinear "bilinear" "bilinear": "The products of two vectors with each of several matrices, and a bias that broadcasts to them." {
                arguments: (input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor = None), forms: [Functional],
                result: Same, compare: Tolerance, kernel: product(bilinear), gradient: kernel,
            }
            ScaledDotProductAttention "scaled_dot_product_attention" "scaled_dot_product_attention":
                "Values, weighted by how queries are like their keys." {
                arguments: (query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor = None, dropout_p: Real = 0.0,
                    is_causal: Flag = False, scale: Real = None),
                forms: [Functional], result: Same, compare: Tolerance,
                kernel: product(scaled_dot_product_attention), gradient: kernel,
            }
            Addmv "addmv" "addmv": "Adds the product of a matrix and a vector." {
                arguments: (self: Tensor, mat: Tensor, vec: Tensor, beta: Number = 1, alpha: Number = 1),
                forms: [Functional, InPlace, Out], dtypes: NotBool "addmv_impl_cpu", result: Same, compare: Tolerance,
                kernel: product(addmv), gradient: kernel,
            }
            Addr "addr" "addr": "Adds the outer product of two vectors." {
                arguments: (self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number = 1, alpha: Number = 1),
                forms: [Functional, InPlace, Out], result: Promoted, compare: Tolerance,
                kernel: product(addr), gradient: kernel,
            }
            Baddbmm "baddbmm" "baddbmm": "Adds the products of two batches of matrices." {
                arguments: (self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number = 1, alpha: Number = 1),
                forms: [Functional, InPlace, Out], dtypes: NotBool "baddbmm", result: Same, compare: Tolerance,
                kernel: product(baddbmm), gradient: kernel,
            }
            Addbmm "addbmm" "addbmm": "Adds the sum of the products of two batches of matrices." {
                arguments: (self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number = 1, alpha: Number = 1),
                forms: [Functional, InPlace, Out], dtypes: NotBool "addmm_impl_cpu_", result: Same, compare: Tolerance,
                kernel: product(addbmm), gradient: kernel,
            }
            Outer "outer" "outer": "The outer product of two vectors." {
                arguments: (self: Tensor, vec2: Tensor), forms: [Functional, Out], result: Promoted, compare: Bits,
                kernel: product(outer), gradient: kernel,
            }
            Ger "ger" "ger": "The outer product of two vectors, as `outer`." {
                arguments: (self: Tensor, vec2: Tensor), forms: [Functional, Out], result: Promoted, compare: Bits,
                kernel: product(ger), gradient: kernel,
            }
            Inner "inner" "inner": "The dot products along the last dimension." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, Out], result: Same, compare: Tolerance,
                kernel: product(inner), gradient: kernel,
            }
            Tensordot "tensordot" "tensordot": "Sums products over given dimensions of two tensors." {
                arguments: (self: Tensor, other: Tensor, dims_self: Ints, dims_other: Ints), forms: [Functional, Out],
                result: Same, compare: Tolerance,
                kernel: product(tensordot), gradient: kernel,
            }
            Kron "kron" "kron": "The Kronecker product." {
                arguments: (self: Tensor, other: Tensor), forms: [Functional, Out], result: Promoted, compare: Bits,
                kernel: product(kron), gradient: kernel,
            }
            LinalgVecdot "linalg_vecdot" "linalg_vecdot":
                "The dot products along a dimension, the first operand conjugated." {
                arguments: (x: Tensor, y: Tensor, dim: Int = -1), forms: [Functional, Out], dtypes: Fractions,
                result: Same, compare: Tolerance,
                kernel: product(linalg_vecdot), gradient: kernel,
            }
            LinalgCross "linalg_cross" "linalg_cross": "The cross products of vectors of three elements." {
                arguments: (self: Tensor, other: Tensor, dim: Int = -1), forms: [Functional, Out],
                dtypes: NotBool "cross", result: Same, compare: Tolerance,
                kernel: product(linalg_cross), gradient: kernel,
            }
            Cross "cross" "cross": "The cross products of vectors of three elements, along the first dimension of that size." {
                arguments: (self: Tensor, other: Tensor, dim: Int = None), forms: [Functional, Out],
                dtypes: NotBool "cross", result: Same, compare: Tolerance,
                kernel: product(cross), gradient: kernel,
            }
            LinalgSolve "linalg_solve" "linalg_solve": "Solves systems of linear equations." {
                arguments: (A: Tensor, B: Tensor, left: Flag = True), forms: [Functional, Out], dtypes: Fractions,
                result: Same, compare: Tolerance,
                kernel: product(linalg_solve), gradient: kernel,
            }
            LinalgSolveTriangular "linalg_solve_triangular" "linalg_solve_triangular":
                "Solves systems of linear equations with triangular matrices." {
                arguments: (A: Tensor, B: Tensor, upper: Flag, left: Flag = True, unitriangular: Flag = False),
                forms: [Functional, Out], result: Same, compare: Tolerance,
                kernel: product(linalg_solve_triangular), gradient: kernel,
            }
            CholeskySolve "cholesky_solve" "cholesky_solve":
                "Solves systems of linear equations with the Cholesky factors of their matrices." {
                arguments: (B: Tensor, L: Tensor, upper: Flag = False), forms: [Functional, Out],
                result: Same, compare: Tolerance,
                kernel: product(cholesky_solve), gradient: kernel,
            }
            LinalgLuSolve "linalg_lu_solve" "linalg_lu_solve":
                "Solves systems of linear equations with the LU factors of their matrices." {
                arguments: (LU: Tensor, pivots: Tensor, B: Tensor, left: Flag = True, adjoint: Flag = False),
                forms: [Functional, Out], result: Same, compare: Tolerance,
                kernel: product(linalg_lu_solve), gradient: kernel,
            }
            LinalgMatrixRank "linalg_matrix_rank" "linalg_matrix_rank.atol_rtol_tensor":
                "The ranks of matrices: the numbers of their singular values above the tolerances." {
                arguments: (input: Tensor, atol: Tensor = None, rtol: Tensor = None, hermitian: Flag = False),
                forms: [Functional, Out], result: Int64, compare: Bits,
                kernel: product(linalg_matrix_rank), gradient: none,
            }
            LinalgPinv "linalg_pinv" "linalg_pinv.atol_rtol_tensor":
                "The pseudoinverses of matrices, of their singular values above the tolerances." {
                arguments: (self: Tensor, atol: Tensor = None, rtol: Tensor = None, hermitian: Flag = False),
                forms: [Functional, Out], result: Same, compare: Tolerance,
                kernel: product(linalg_pinv), gradient: kernel,
            }
            ]
        }
    };
}
