//! Rejections of products.

/// Adds the rows of products.
macro_rules! rows {
    ($($families:ident)*; $($rows:tt)*) => { $crate::error::table::rejections! { $($families)*; $($rows)*
    /// An operand of `linear` without dimensions (`linear`).
    LinearScalar { input: usize, weight: usize } => Dimension,
        "both arguments to linear need to be at least 1D, but they are {input}D and {weight}D";
    /// `bilinear` of several dtypes (`bilinear`).
    BilinearDtypes { input1: DType, input2: DType, weight: DType } => Dtype,
        "All tensors must have the same dtype, got input1: {input1}, input2: {input2}, weight: {weight}",
        input1 = input1.cpp_name(), input2 = input2.cpp_name(), weight = weight.cpp_name();
    /// The same with a bias (`bilinear`).
    BilinearBiasDtypes { input1: DType, input2: DType, weight: DType, bias: DType } => Dtype,
        "All tensors must have the same dtype, got input1: {input1}, input2: {input2}, weight: {weight}, bias: {bias}",
        input1 = input1.cpp_name(), input2 = input2.cpp_name(), weight = weight.cpp_name(), bias = bias.cpp_name();
    /// Inputs of `bilinear` of two ranks (`bilinear`).
    BilinearRanks { first: usize, second: usize } => ProductShape,
        "bilinear(): input dimensions do not match: got {first} and {second}";
    /// Inputs of `bilinear` whose batches differ, be one of the sizes 1 (`bilinear`).
    BilinearBatches { dim: usize, first: i64, second: i64 } => ProductShape,
        "bilinear(): input batch dimensions do not match at dim {dim}: got {first} and {second}";
    /// An operand of `bilinear` with another number of features than the weight (`bilinear`).
    BilinearSize { name: &'static str = ["input1", "input2", "bias"], got: i64, expected: i64 } => ProductShape,
        "bilinear(): {name} size does not match weight size: got {got} but expected {expected}";
    /// A weight of `bilinear` with more than three dimensions (`sumproduct_pair`).
    BilinearWeight => ProductShape, "number of dimensions must match";
    /// `matmul` of a 0-dim tensor (`_matmul_impl`).
    MatmulScalar { a: usize, b: usize } => ProductShape,
        "both arguments to matmul need to be at least 1D, but they are {a}D and {b}D";
    /// A matrix product whose inner sizes differ (the meta functions of `mm` and `addmm`).
    MatrixSizes { rows: i64, left: i64, right: i64, columns: i64 } => ProductShape,
        "mat1 and mat2 shapes cannot be multiplied ({rows}x{left} and {right}x{columns})";
    /// A factor of `mm` that is no matrix (the meta function of `mm`).
    MmRank { name: &'static str = ["self", "mat2"] } => ProductShape, "{name} must be a matrix";
    /// A factor of `addmm` that is no matrix (the meta function of `addmm`).
    AddmmRank { name: &'static str = ["mat1", "mat2"], rank: usize } => ProductShape,
        "{name} must be a matrix, got {rank}-D tensor";
    /// A product of two dtypes (`addmm_impl_cpu_`).
    MatrixDtypes { a: DType, b: DType } => Dtype,
        "expected m1 and m2 to have the same dtype, but got: {a} != {b}", a = a.cpp_name(), b = b.cpp_name();
    /// Operands of several dtypes (the meta function of `addmm`).
    AddmmDtypes { first: &'static str = ["self", "mat1"], a: DType, b: DType } => Dtype,
        "{first} and mat2 must have the same dtype, but got {a} and {b}";
    /// Operands of several dtypes (the meta function of `baddbmm`).
    BaddbmmDtypes { input: DType, batch1: DType, batch2: DType } => Dtype,
        "Input dtypes must be the same, got: input {input}, batch1: {batch1}, batch2: {batch2}",
        input = input.cpp_name(), batch1 = batch1.cpp_name(), batch2 = batch2.cpp_name();
    /// Operands of `addmv` of other ranks (the meta function of `addmv`).
    AddmvRanks { input: usize, matrix: usize, vector: usize } => ProductShape,
        "vector + matrix @ vector expected, got {input}, {matrix}, {vector}";
    /// Sizes of a matrix-vector product that differ (the meta function of `addmv`).
    AddmvSizes { input: i64, rows: i64, columns: i64, vector: i64 } => ProductShape,
        "size mismatch, got input ({input}), mat ({rows}x{columns}), vec ({vector})";
    /// A matrix-vector product of several dtypes (the meta function of `addmv`).
    AddmvDtypes { input: DType, matrix: DType, vector: DType } => Dtype,
        "addmv input tensors must have the same dtype, but got {input}, {matrix}, and {vector}";
    /// An inner product of anything but vectors (`dot_check`).
    DotRanks { a: usize, b: usize } => ProductShape, "1D tensors expected, but got {a}D and {b}D tensors";
    /// An inner product of two dtypes (`dot_check`).
    DotDtypes { a: DType, b: DType } => Dtype, "dot : expected both vectors to have same dtype, but found {a} and {b}";
    /// An inner product of vectors whose sizes differ (`dot_check`).
    DotSizes { a: i64, b: i64 } => ProductShape,
        "inconsistent tensor size, expected tensor [{a}] and src [{b}] to have the same number of elements, but got \
         {a} and {b} elements respectively";
    /// `out=` of another dtype than the operands (`dot_out`, `vdot_out`).
    DotOut { out: DType, input: DType } => Dtype, "result dtype {out} does not match input dtype {input}";
    /// A factor that is no batch of matrices (`common_checks_baddbmm_bmm`, `addbmm_impl_`).
    BatchRank { name: &'static str = ["batch1", "batch2"] } => ProductShape, "{name} must be a 3D tensor";
    /// Batches of matrices that do not fit (`common_checks_baddbmm_bmm`).
    BatchSizes { expected: [i64; 2], got: [i64; 2] } => ProductShape,
        "Expected size for first two dimensions of batch2 tensor to be: {expected} but got: {got}.";
    /// Batches of several lengths (`addbmm_impl_`).
    BatchCounts { a: i64, b: i64 } => ProductShape,
        "batch1 and batch2 must have same number of batches, got {a} and {b}";
    /// Matrices whose inner sizes differ (`addbmm_impl_`).
    BatchInner { rows: i64, left: i64, right: i64, columns: i64 } => ProductShape,
        "Incompatible matrix sizes for bmm ({rows}x{left} and {right}x{columns})";
    /// A factor of `outer` or `addr` that is no vector (`check_1d`).
    OuterRank { function: &'static str = ["outer", "addr"], name: &'static str = ["self", "vec1", "vec2"], rank: usize }
        => ProductShape,
        "{function}: Expected 1-D argument {name}, but got {rank}-D";
    /// A matrix that `addr_` adds to of another rank (`build_addr_iter`).
    AddrRank { rank: usize } => ProductShape, "2D tensor expected, got {rank}D tensor for input";
    /// A matrix that `addr_` adds to of another shape than the product (`build_addr_iter`).
    AddrSizes { input: Vec<i64>, a: Vec<i64>, b: Vec<i64> } => OutputShape,
        "size mismatch, input: {input}, v1: {a}, v2: {b}";
    /// `out=` that requires grad and has another shape (`tensordot_out`).
    TensordotOutGrad => Autograd,
        "tensordot(): the 'out' tensor was specified and requires gradients, and its shape does not match the \
         expected result. Either remove the 'out' argument, ensure it does not require gradients, or make sure its \
         shape matches the expected output.";
    /// `tensordot` with lists of dimensions of different lengths (`tensordot`).
    TensordotDims => Argument, "both dimension lists should have same length";
    /// `tensordot` of two dtypes (`tensordot`).
    TensordotDtypes => Dtype, "both inputs should have same dtype";
    /// `tensordot` over sizes that differ (`tensordot`).
    TensordotSizes { size1: i64, dim1: i64, size2: i64, dim2: i64 } => ProductShape,
        "contracted dimensions need to match, but first has size {size1} in dim {dim1} and second has size {size2} \
         in dim {dim2}";
    /// `out=` of another dtype than the result (`tensordot_out`).
    TensordotOut { expected: DType, got: DType } => Dtype,
        "tensordot: Expected the output tensor to have dtype {expected}, but got an output tensor with dtype {got}";
    /// `inner` over last dimensions that differ (`inner`).
    InnerSizes { a: Vec<i64>, b: Vec<i64> } => ProductShape,
        "inner() the last dimension must match on both input tensors but got shapes {a} and {b}";
    /// Integers or bool where a floating-point or complex tensor is needed (`checkFloatingOrComplex`).
    NotFloating {
        function: &'static str = ["linalg.vecdot", "linalg.solve", "linalg.vector_norm", "linalg.svd", "torch.linalg.lu_solve"],
        dtype: DType
    } => Dtype,
        "{function}: Expected a floating point or complex tensor as input. Got {dtype}";
    /// float16 or bfloat16 where LAPACK has no kernel (`checkFloatingOrComplex`).
    LowPrecision { function: &'static str = ["linalg.vecdot", "linalg.solve"], dtype: DType } => Dtype,
        "{function}: Low precision dtypes not supported. Got {dtype}";
    /// `linalg_vecdot` of two dtypes (`linalg_vecdot`).
    VecdotDtypes { a: DType, b: DType } => Dtype,
        "linalg.vecdot: Expected x and y to have the same dtype, but found x of type {a} and y of type {b} instead";
    /// `linalg_vecdot` with `out=` of another dtype (`linalg_vecdot_out`). The missing space is libtorch's.
    VecdotOut { input: DType, out: DType } => Dtype, "linalg.vecdot: Expected out of dtype{input} but found {out}";
    /// `linalg_cross` of two ranks (the meta function of `linalg_cross`).
    CrossRanks => ProductShape, "linalg.cross: inputs must have the same number of dimensions.";
    /// `linalg_cross` along a dimension that is not of length 3 (the meta function of `linalg_cross`).
    CrossSizes { dim: i64, a: i64, b: i64 } => ProductShape,
        "linalg.cross: inputs dimension {dim} must have length 3. Got {a} and {b}";
    /// `cross` without a dimension, of an operand that has none of size 3 (`_default_cross_dim`).
    CrossWithoutDim => ProductShape, "no dimension of size 3 in input";
    /// `linalg_solve` of two dtypes (the meta function of `_linalg_solve_ex`).
    SolveDtypes { function: &'static str = ["linalg.solve", "linalg.solve_triangular"], a: DType, b: DType } => Dtype,
        "{function}: Expected A and B to have the same dtype, but found A of type {a} and B of type {b} instead";
    /// Equations with anything but matrices (`checkIsMatrix`).
    SolveRank {
        function: &'static str = [
            "linalg.solve", "linalg.solve_triangular", "torch.linalg.matrix_rank", "torch.linalg.lu_solve", "linalg.lu_solve"
        ],
        name: &'static str = ["A", "B", "input"]
    } => ProductShape, "{function}: The input tensor {name} must have at least 2 dimensions.";
    /// Equations whose matrices are not square (`squareCheckInputs`).
    SolveSquare {
        function: &'static str = ["linalg.solve", "linalg.solve_triangular", "linalg.eigh", "torch.linalg.lu_solve"],
        rows: i64, columns: i64
    } => ProductShape,
        "{function}: A must be batches of square matrices, but they are {rows} by {columns} matrices";
    /// Equations with matrices whose sizes do not fit (`checkInputsSolver`).
    SolveSizes {
        function: &'static str = ["linalg.solve", "linalg.solve_triangular", "linalg.lu_solve"],
        equation: &'static str = ["AX = B", "XA = B"], a: [i64; 2], b: [i64; 2]
    } => ProductShape,
        "{function}: Incompatible shapes of A and B for the equation {equation} ({rows}x{left} and \
         {right}x{columns})", rows = a[0], left = a[1], right = b[0], columns = b[1];
    /// `linalg_solve` from the right for a vector (the meta function of `_linalg_solve_ex`).
    SolveVector => ProductShape,
        "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case \
         linalg.solve is equivalent to B / A.squeeze(-1)";
    /// `linalg_solve` with a matrix that has no inverse (`_linalg_check_errors`).
    Singular => Singular, "torch.linalg.solve: The solver failed because the input matrix is singular.";
    /// The same for a batch: the first of its matrices without an inverse (`_linalg_check_errors`).
    SingularInBatch { batch: i64 } => Singular,
        "torch.linalg.solve: (Batch element {batch}): The solver failed because the input matrix is singular.";
    /// `scaled_dot_product_attention` of several dtypes (`validate_sdpa_input`).
    AttentionDtypes { query: DType, key: DType, value: DType } => Dtype,
        "Expected query, key, and value to have the same dtype, but got query.dtype: {query} key.dtype: {key} and \
         value.dtype: {value} instead.", query = query.cpp_name(), key = key.cpp_name(), value = value.cpp_name();
    /// `scaled_dot_product_attention` of vectors (`validate_sdpa_input`).
    AttentionRanks { query: usize, key: usize, value: usize } => Dimension,
        "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query} key.dim: {key} \
         and value.dim: {value} instead.";
    /// `scaled_dot_product_attention` with a mask of another dtype (`validate_sdpa_input`).
    AttentionMask { mask: DType, query: DType } => Dtype,
        "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {mask} and  \
         query.dtype: {query} instead.", mask = mask.cpp_name(), query = query.cpp_name();
    /// `scaled_dot_product_attention` with a mask and `is_causal` (`_scaled_dot_product_attention_math`).
    CausalMask => Argument,
        "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True";
    /// Attention of complex numbers, of which there are none (`isneginf`).
    ComplexInfinities => Dtype, "isneginf does not support complex inputs.";
    /// `out=` of a dtype that the result cannot be cast to (`checkLinalgCompatibleDtype`).
    CastableOut {
        function: &'static str = ["cholesky_solve", "linalg.pinv", "torch.linalg.matrix_rank"], input: DType, out: DType
    } => Dtype,
        "{function}: Expected result to be safely castable from {input} dtype, but got result with dtype {out}";
    /// `cholesky_solve` of anything but matrices (`cholesky_solve`).
    CholeskyRank { name: &'static str = ["b", "u"], rank: usize } => ProductShape,
        "{name} should have at least 2 dimensions, but has {rank} dimensions instead";
    /// `cholesky_solve` of two dtypes (`linearSolveCheckInputs`).
    CholeskyDtypes { b: DType, a: DType } => Dtype,
        "Expected b and A to have the same dtype, but found b of type {b} and A of type {a} instead.";
    /// `cholesky_solve` with a factor that is not square (`linearSolveCheckInputs`).
    CholeskySquare { rows: i64, columns: i64 } => ProductShape,
        "A must be batches of square matrices, but they are {rows} by {columns} matrices";
    /// `cholesky_solve` of matrices whose sizes do not fit (`linearSolveCheckInputs`).
    CholeskySizes { a: [i64; 2], b: [i64; 2] } => ProductShape,
        "Incompatible matrix sizes for cholesky_solve: each A matrix is {rows} by {left} but each b matrix is {right} by \
         {columns}", rows = a[0], left = a[1], right = b[0], columns = b[1];
    /// `linalg_lu_solve` of two dtypes (the meta function of `linalg_lu_solve`).
    LuDtypes { lu: DType, b: DType } => Dtype,
        "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type {lu} and B of type {b} instead";
    /// `linalg_lu_solve` with pivots of another dtype than int32 (the meta function of `linalg_lu_solve`).
    PivotDtype => Dtype, "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32";
    /// `linalg_lu_solve` with more or fewer pivots than rows (the meta function of `linalg_lu_solve`).
    PivotCount => ProductShape,
        "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix";
    /// `linalg_lu_solve` with pivots for another batch (the meta function of `linalg_lu_solve`).
    PivotBatch { pivots: Vec<i64> } => ProductShape,
        "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape {pivots} \
         instead";
    /// `linalg_lu_solve` with a pivot that is no row (`lu_solve_kernel`).
    PivotRange { bound: &'static str = ["greater or equal to 1", "smaller or equal to LU.size(-2)"] } => Dimension,
        "Pivots given to lu_solve must all be {bound}. Did you properly pass the result of lu_factor?";
    /// `linalg_pinv` of anything but matrices of a dtype that LAPACK decomposes (`linalg_pinv`).
    PinvOperand { dtype: DType, sizes: Vec<i64> } => Dtype,
        "linalg.pinv({dtype}{{{sizes}}}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble \
         types";
    /// A tolerance that is complex (`checkNotComplexTolerance`).
    ComplexTolerance {
        function: &'static str = ["torch.linalg.matrix_rank", "torch.linalg.pinv"], name: &'static str = ["atol", "rtol"],
        dtype: DType
    } => Dtype, "{function}: {name} tensor of complex type is not supported. Got {dtype}";
    /// A dtype whose precision is the default of a tolerance, and that LAPACK does not decompose (`_get_epsilon`).
    NoPrecision => Dtype, "This function doesn't handle types other than float and double";
    /// Singular values of a matrix with NaN (`_linalg_check_errors`).
    Endless => Singular,
        "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.";
    /// The same for a batch: the first of its matrices with NaN (`_linalg_check_errors`).
    EndlessInBatch { batch: i64 } => Singular,
        "linalg.svd: (Batch element {batch}): The algorithm failed to converge because the input matrix contained \
         non-finite values.";
    } };
}

pub(super) use rows;
