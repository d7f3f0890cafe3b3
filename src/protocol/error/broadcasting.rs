//! Rejections of shapes that do not broadcast, and of results that do not fit the tensor that they are written to.

/// Adds the rows of broadcasting.
macro_rules! rows {
    ($($families:ident)*; $($rows:tt)*) => { $crate::error::table::rejections! { $($families)*; $($rows)*
    /// Two sizes differ and neither is 1 (`infer_size_impl`); `dim` counts in the broadcast shape.
    SizeMismatch { a: i64, b: i64, dim: usize } => SizeMismatch,
        "The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim}";
    /// The tensor that is written to would have to grow (`TensorIteratorBase::mark_resize_outputs`).
    OutputShape { output: Vec<i64>, broadcast: Vec<i64> } => OutputShape,
        "output with shape {output} doesn't match the broadcast shape {broadcast}";
    /// `expand` to fewer dimensions than the tensor has (`expand`).
    ExpandRank { dtype: DType, tensor: Vec<i64>, target: Vec<i64> } => Expand,
        "expand(CPU{dtype}Type{{{tensor}}}, size={target}): the number of sizes provided ({sizes}) must be greater \
         or equal to the number of dimensions in the tensor ({rank})", sizes = target.len(), rank = tensor.len();
    /// `expand` of a dimension that is neither 1 nor the wanted size (`inferExpandGeometryImpl`).
    ExpandSize { wanted: i64, existing: i64, dim: usize, target: Vec<i64>, tensor: Vec<i64> } => Expand,
        "The expanded size of the tensor ({wanted}) must match the existing size ({existing}) at non-singleton \
         dimension {dim}.  Target sizes: {target}.  Tensor sizes: {tensor}";
    /// `expand` with -1 for a dimension that the tensor does not have (`inferExpandGeometryImpl`).
    ExpandLeading { size: i64, dim: usize } => Expand,
        "The expanded size of the tensor ({size}) isn't allowed in a leading, non-existing dimension {dim}";
    /// `sum_to_size` to a shape that does not expand to the tensor's (`sum_to_size`).
    NotExpandable { from: Vec<i64>, to: Vec<i64> } => NotExpandable,
        "size {{{from}}} is not expandable to size {{{to}}}.";
    /// `torch.broadcast_shapes` (Python): two sizes differ and neither is 1; `dim` counts from the end, from -1.
    ShapesMismatch {
        size: String, dim: i64, argument: usize, shape: String = ["[2]".to_owned(), "(2,)".to_owned()],
        expected: Vec<i64>
    } => SizeMismatch,
        "Attempting to broadcast a dimension of length {size} at {dim}! Mismatching argument at index {argument} had \
         {shape}; but expected shape should be broadcastable to {expected}";
    /// `torch.broadcast_shapes` (Python): a scalar that is not an integer.
    ShapesFloat { value: String } => Argument,
        "Input shapes should be of type ints, a tuple of ints, or a list of ints, got {value}";
    /// `torch.broadcast_shapes` (Python): a character of a string, where a size is compared with 0.
    ShapesText => Argument, "'<' not supported between instances of 'str' and 'int'";
    /// `torch.broadcast_shapes` (Python): a negative size.
    ShapesNegative => ImpossibleSize, "Attempting to broadcast a dimension with negative length!";
    /// The tensor that is written to has internal overlap (`assert_no_internal_overlap`).
    InternalOverlap => Overlap,
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. \
         Please clone() the tensor before performing the operation.";
    /// The tensor that is written to overlaps an operand in part (`assert_no_partial_overlap`).
    PartialOverlap => Overlap,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory \
         location. Please clone() the tensor before performing the operation.";
    /// The result's dtype is of a higher category than the tensor it would be written to
    /// (`TensorIteratorBase::compute_types`). In-place `clamp` of integers names the C++ type.
    CannotCast {
        from: DType, to: &'static str = (DType::ALL.iter().flat_map(|to| [to.libtorch_name(), to.cpp_name()]))
    } => Dtype, "result type {from} can't be cast to the desired output type {to}";
    /// Dtypes that have no promotion, or that are not in its table (`promote_types`).
    NoPromotion { a: ScalarType, b: ScalarType } => Dtype, "Promotion from {a} and {b} is unsupported.";
    /// Quantized dtypes (`c10::promoteTypes`).
    PromotedQuantized { a: ScalarType, b: ScalarType } => Dtype,
        "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, offending \
         types: {a} {b}";
    /// Floating-point numbers of 8 bits (`c10::promoteTypes`).
    PromotedFloat8 { a: ScalarType, b: ScalarType } => Dtype,
        "Promotion for Float8 Types is not supported, attempted to promote {a} and {b}";
    /// Unsigned integers, where no floating-point number is the other one (`c10::promoteTypes`).
    PromotedUnsigned { a: ScalarType, b: ScalarType } => Dtype,
        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {a} and {b}";
    /// Two dtypes where operands are not promoted (`TensorIteratorBase::compute_types`).
    FoundDtype { found: DType, expected: DType } => Dtype, "Found dtype {found} but expected {expected}";
    /// `out=` of another dtype than the result (`resize_out` of structured kernels, `copy_arg` of generated code).
    OutDtype { expected: DType, got: DType } => Dtype,
        "Expected out tensor to have dtype {expected}, but got {got} instead", expected = expected.cpp_name(),
        got = got.cpp_name();
    /// An in-place operation whose result would have another dtype (`check_inplace` of structured kernels).
    InPlaceDtype { input: DType, output: DType } => Dtype,
        "Bad in-place call: input tensor dtype {input} and output tensor dtype {output} should match",
        input = input.cpp_name(), output = output.cpp_name();
    /// An in-place operation whose result would have another shape (`check_inplace` of structured kernels).
    InPlaceShape { input: Vec<i64>, output: Vec<i64> } => OutputShape,
        "Bad in-place call: input tensor size {input} and output tensor size {output} should match";
    /// Two dtypes where a kernel reads elements of one (`TensorBase::data_ptr`).
    ScalarType { expected: DType, found: DType } => Dtype, "expected scalar type {expected} but found {found}";
    } };
}

pub(super) use rows;
