//! What products refuse.

use crate::tensor::DType;
use crate::tensor::shape::bracketed;

use super::faults::faults;

faults! {
    /// What products refuse.
    ProductFault {
    /// `matmul` of a tensor without dimensions (`_matmul_impl`).
    Scalar { a: usize, b: usize } => ProductShape,
        "both arguments to matmul need to be at least 1D, but they are {a}D and {b}D";
    /// A matrix product whose inner sizes differ (the meta functions of `mm` and `addmm`).
    Inner { rows: i64, left: i64, right: i64, columns: i64 } => ProductShape,
        "mat1 and mat2 shapes cannot be multiplied ({rows}x{left} and {right}x{columns})";
    /// A factor of `mm` that is no matrix: "self" or "mat2".
    NoMatrix { name: &'static str } => ProductShape, "{name} must be a matrix";
    /// A factor of `addmm` that is no matrix.
    NoMatrixBut { name: &'static str, rank: usize } => ProductShape, "{name} must be a matrix, got {rank}-D tensor";
    /// A product of two dtypes (`addmm_impl_cpu_`).
    MatrixDtypes { a: DType, b: DType } => Dtype,
        "expected m1 and m2 to have the same dtype, but got: {} != {}", a.cpp_name(), b.cpp_name();
    /// Operands of several dtypes (the meta function of `addmm`).
    AddmmDtypes { first: &'static str, a: DType, b: DType } => Dtype,
        "{first} and mat2 must have the same dtype, but got {} and {}", a.libtorch_name(), b.libtorch_name();
    /// Operands of several dtypes (the meta function of `baddbmm`).
    BaddbmmDtypes { input: DType, batch1: DType, batch2: DType } => Dtype,
        "Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}", input.cpp_name(), batch1.cpp_name(),
        batch2.cpp_name();
    /// A vector or matrix of another rank (the meta function of `addmv`).
    VectorRanks { input: usize, matrix: usize, vector: usize } => ProductShape,
        "vector + matrix @ vector expected, got {input}, {matrix}, {vector}";
    /// Sizes of a matrix-vector product that differ.
    VectorSizes { input: i64, rows: i64, columns: i64, vector: i64 } => ProductShape,
        "size mismatch, got input ({input}), mat ({rows}x{columns}), vec ({vector})";
    /// A matrix-vector product of several dtypes.
    VectorDtypes { input: DType, matrix: DType, vector: DType } => Dtype,
        "addmv input tensors must have the same dtype, but got {}, {}, and {}", input.libtorch_name(),
        matrix.libtorch_name(), vector.libtorch_name();
    /// An inner product of anything but vectors (`dot_check`).
    DotRanks { a: usize, b: usize } => ProductShape, "1D tensors expected, but got {a}D and {b}D tensors";
    /// An inner product of two dtypes.
    DotDtypes { a: DType, b: DType } => Dtype,
        "dot : expected both vectors to have same dtype, but found {} and {}", a.libtorch_name(), b.libtorch_name();
    /// An inner product of vectors whose sizes differ.
    DotSizes { a: i64, b: i64 } => ProductShape,
        "inconsistent tensor size, expected tensor [{a}] and src [{b}] to have the same number of elements, but got {a} \
         and {b} elements respectively";
    /// `out=` of another dtype than the operands (`dot_out`, `vdot_out`).
    DotOut { out: DType, input: DType } => Dtype, "result dtype {} does not match input dtype {}", out.libtorch_name(),
        input.libtorch_name();
    /// A factor that is no batch of matrices (`common_checks_baddbmm_bmm`, `addbmm_impl_`).
    NoBatch { name: &'static str } => ProductShape, "{name} must be a 3D tensor";
    /// Batches of matrices that do not fit.
    BatchSizes { expected: [i64; 2], got: [i64; 2] } => ProductShape,
        "Expected size for first two dimensions of batch2 tensor to be: {} but got: {}.", bracketed(expected),
        bracketed(got);
    /// Two dtypes where a kernel reads elements of one (`TensorBase::data_ptr`).
    ScalarType { expected: DType, found: DType } => Dtype, "expected scalar type {} but found {}",
        expected.libtorch_name(), found.libtorch_name();
    /// Batches of several lengths (`addbmm_impl_`).
    BatchCounts { a: i64, b: i64 } => ProductShape, "batch1 and batch2 must have same number of batches, got {a} and {b}";
    /// Matrices whose inner sizes differ (`addbmm_impl_`).
    BatchInner { rows: i64, left: i64, right: i64, columns: i64 } => ProductShape,
        "Incompatible matrix sizes for bmm ({rows}x{left} and {right}x{columns})";
    /// A dtype that the kernel does not compute in (`AT_DISPATCH_…`).
    NoKernel { kernel: &'static str, dtype: DType } => Dtype, "\"{kernel}\" not implemented for '{}'",
        dtype.libtorch_name();
    /// A size that a tensor without dimensions does not have (`maybe_wrap_dim`).
    NoDimensions { dim: i64 } => Dimension, "Dimension specified as {dim} but tensor has no dimensions";
    /// `out=` of another dtype than the result (`resize_out` of structured kernels).
    OutDtype { expected: DType, got: DType } => Dtype, "Expected out tensor to have dtype {}, but got {} instead",
        expected.cpp_name(), got.cpp_name();
    /// An in-place operation whose result would have another dtype (`check_inplace` of structured kernels).
    InPlaceDtype { input: DType, output: DType } => Dtype,
        "Bad in-place call: input tensor dtype {} and output tensor dtype {} should match", input.cpp_name(),
        output.cpp_name();
    /// An in-place operation whose result would have another shape.
    InPlaceShape { input: Vec<i64>, output: Vec<i64> } => OutputShape,
        "Bad in-place call: input tensor size {} and output tensor size {} should match", bracketed(input),
        bracketed(output);
    /// A factor of `outer` that is no vector (`check_1d`).
    OuterVector { name: &'static str, rank: usize } => ProductShape,
        "outer: Expected 1-D argument {name}, but got {rank}-D";
    /// A factor of `addr` that is no vector (`check_1d`).
    AddrVector { name: &'static str, rank: usize } => ProductShape,
        "addr: Expected 1-D argument {name}, but got {rank}-D";
    /// A summand of `addr` that is no matrix (`build_addr_iter`).
    AddrRank { rank: usize } => ProductShape, "2D tensor expected, got {rank}D tensor for input";
    /// A summand of `addr` that is written to and has another shape than the product.
    AddrSizes { input: Vec<i64>, a: Vec<i64>, b: Vec<i64> } => OutputShape,
        "size mismatch, input: {}, v1: {}, v2: {}", bracketed(input), bracketed(a), bracketed(b);
    /// A boolean factor of a result that is not (`check_addr_scalar`).
    BoolFactor { name: &'static str } => Dtype, "Boolean {name} only supported for Boolean results.";
    /// A factor of integers that is no integer.
    FloatFactor { name: &'static str } => Dtype,
        "For integral input tensors, argument {name} must not be a floating point number.";
    /// A result that no gradient flows through, of an operand that requires one: the dtypes of an empty batch are not
    /// compared (`set_history`).
    AutogradDtype { dtype: DType } => Autograd, "Autograd not support dtype: {}", dtype.libtorch_name();
    /// `out=` that requires grad and has another shape (`tensordot_out`).
    OutRequiresGrad {} => Autograd,
        "tensordot(): the 'out' tensor was specified and requires gradients, and its shape does not match the expected \
         result. Either remove the 'out' argument, ensure it does not require gradients, or make sure its shape matches \
         the expected output.";
    /// `tensordot` with lists of several lengths.
    DotDims {} => Argument, "both dimension lists should have same length";
    /// `tensordot` of two dtypes.
    TensordotDtypes {} => Dtype, "both inputs should have same dtype";
    /// `tensordot` over sizes that differ.
    Contracted { size1: i64, dim1: i64, size2: i64, dim2: i64 } => ProductShape,
        "contracted dimensions need to match, but first has size {size1} in dim {dim1} and second has size {size2} in \
         dim {dim2}";
    /// `out=` of another dtype than the result (`tensordot_out`).
    TensordotOut { expected: DType, got: DType } => Dtype,
        "tensordot: Expected the output tensor to have dtype {}, but got an output tensor with dtype {}",
        expected.libtorch_name(), got.libtorch_name();
    /// `inner` over last dimensions that differ.
    InnerSizes { a: Vec<i64>, b: Vec<i64> } => ProductShape,
        "inner() the last dimension must match on both input tensors but got shapes {} and {}", bracketed(a),
        bracketed(b);
    /// Integers where a division or a conjugate is needed (`checkFloatingOrComplex`).
    NotFloating { function: &'static str, dtype: DType } => Dtype,
        "{function}: Expected a floating point or complex tensor as input. Got {}", dtype.libtorch_name();
    /// Half precision where LAPACK has none (`checkFloatingOrComplex`).
    LowPrecision { function: &'static str, dtype: DType } => Dtype,
        "{function}: Low precision dtypes not supported. Got {}", dtype.libtorch_name();
    /// `linalg_vecdot` of two dtypes.
    VecdotDtypes { a: DType, b: DType } => Dtype,
        "linalg.vecdot: Expected x and y to have the same dtype, but found x of type {} and y of type {} instead",
        a.libtorch_name(), b.libtorch_name();
    /// `linalg_vecdot` into another dtype. The text lacks a space.
    VecdotOut { input: DType, out: DType } => Dtype, "linalg.vecdot: Expected out of dtype{} but found {}",
        input.libtorch_name(), out.libtorch_name();
    /// `linalg_cross` of two ranks.
    CrossRanks {} => ProductShape, "linalg.cross: inputs must have the same number of dimensions.";
    /// `linalg_cross` along a dimension that is not of length 3.
    CrossSizes { dim: i64, a: i64, b: i64 } => ProductShape,
        "linalg.cross: inputs dimension {dim} must have length 3. Got {a} and {b}";
    /// `linalg_solve` of two dtypes.
    SolveDtypes { a: DType, b: DType } => Dtype,
        "linalg.solve: Expected A and B to have the same dtype, but found A of type {} and B of type {} instead",
        a.libtorch_name(), b.libtorch_name();
    /// `linalg_solve` of anything but matrices.
    SolveRank { name: &'static str } => ProductShape,
        "linalg.solve: The input tensor {name} must have at least 2 dimensions.";
    /// `linalg_solve` of matrices that are not square.
    SolveSquare { rows: i64, columns: i64 } => ProductShape,
        "linalg.solve: A must be batches of square matrices, but they are {rows} by {columns} matrices";
    /// `linalg_solve` of matrices that do not fit.
    SolveSizes { equation: &'static str, a: [i64; 2], b: [i64; 2] } => ProductShape,
        "linalg.solve: Incompatible shapes of A and B for the equation {equation} ({}x{} and {}x{})", a[0], a[1], b[0],
        b[1];
    /// `linalg_solve` from the right for a vector.
    SolveVector {} => ProductShape,
        "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case \
         linalg.solve is equivalent to B / A.squeeze(-1)";
    /// `linalg_solve` with a matrix that has no inverse (`_linalg_check_errors`).
    Singular {} => Singular, "torch.linalg.solve: The solver failed because the input matrix is singular.";
    /// The same with a batch: the first of the matrices that have none.
    SingularInBatch { batch: i64 } => Singular,
        "torch.linalg.solve: (Batch element {batch}): The solver failed because the input matrix is singular.";
    }
}

/// The words by which texts name operands and functions, beside the names of operations.
pub(crate) const WORDS: &[&str] = &[
    "self",
    "mat1",
    "mat2",
    "batch1",
    "batch2",
    "vec1",
    "vec2",
    "beta",
    "alpha",
    "A",
    "B",
    "AX = B",
    "XA = B",
    "dot",
    "bmm",
    "baddbmm",
    "cross",
    "addmm_impl_cpu_",
    "addmv_impl_cpu",
    "lu_cpu",
    "linalg.solve",
    "linalg.vecdot",
];
