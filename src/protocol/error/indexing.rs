//! Rejections of masks and indices.

/// Adds the rows of masks and indices.
macro_rules! rows {
    ($($families:ident)*; $($rows:tt)*) => { $crate::error::table::rejections! { $($families)*; $($rows)*
    /// More integers and slices between the brackets than the tensor has dimensions (`applySlicing`).
    TooManyIndices { rank: usize } => Dimension, "too many indices for tensor of dimension {rank}";
    /// An integer index outside of the dimension (`applySelect`).
    IndexRange { index: i64, dim: usize, size: i64 } => Dimension,
        "index {index} is out of bounds for dimension {dim} with size {size}";
    /// An integer index into a tensor of no dimensions (`applySelect`).
    IndexScalar => Dimension,
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a \
         0-dim tensor to a number";
    /// `masked_fill` with a mask that is not bool (`masked_fill_impl_cpu`).
    MaskedFillMask { dtype: DType } => Dtype,
        "masked_fill_ only supports boolean masks, but got mask with dtype {dtype}", dtype = dtype.cpp_name();
    /// `masked_fill` with a value that has dimensions (`masked_fill__cpu`).
    MaskedFillRank { rank: usize } => Argument,
        "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {rank} dimension(s).";
    /// `masked_scatter` of two dtypes (`masked_scatter__cpu`). The missing space is libtorch's.
    MaskedScatterDtypes { own: DType, source: DType } => Dtype,
        "masked_scatter: expected self and source to have same dtypes but got{own} and {source}";
    /// `masked_scatter` with a mask that is not bool (`masked_scatter_kernel`).
    MaskedScatterMask { dtype: DType } => Dtype,
        "masked_scatter_ only supports boolean masks, but got mask with dtype {dtype}";
    /// `masked_scatter` with fewer elements than the mask selects (`cpu_masked_scatter_kernel`).
    MaskedScatterCount => ItemCount, "Number of elements of source < number of ones in mask";
    /// `masked_select` with a mask that is not bool (`masked_select_out_impl_cpu`).
    MaskedSelectMask => Dtype, "masked_select: expected BoolTensor for mask";
    /// More index tensors than dimensions (`_index_put_impl_`, the meta function of `index`).
    TooManyIndexTensors { rank: usize, got: usize } => Dimension,
        "too many indices for tensor of dimension {rank} (got {got})";
    /// An index that is neither an integer nor a mask (`checkIndexTensorTypes`).
    IndexDtype => Dtype, "tensors used as indices must be long, int, byte or bool tensors";
    /// A mask of other sizes than the dimensions that it indexes (`invalid_mask`).
    MaskShape { mask: Vec<i64>, at: usize, tensor: Vec<i64>, dim: usize } => SizeMismatch,
        "The shape of the mask {mask} at index {at} does not match the shape of the indexed tensor {tensor} at index \
         {dim}";
    /// Indices that do not broadcast together (`make_info`).
    IndexShapes { shapes: Vec<Vec<i64>> } => SizeMismatch,
        "shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}";
    /// Index tensors into a dimension of size 0 (`AdvancedIndex`).
    NoSuchIndex => Dimension, "index is out of bounds for dimension with size 0";
    /// Values that do not broadcast to the shape of the indexing result (`make_index_put_iterator`).
    PutShape { value: Vec<i64>, places: Vec<i64> } => SizeMismatch,
        "shape mismatch: value tensor of shape {value} cannot be broadcast to indexing result of shape {places}";
    /// Values of another dtype than the tensor (`make_index_put_iterator`).
    PutDtypes { to: DType, from: DType } => Dtype,
        "Index put requires the source and destination dtypes match, got {to} for the destination and {from} for the \
         source.";
    /// `out=` of another dtype than the tensor that is indexed (the meta function of `index`).
    IndexOutDtype { input: DType, result: DType } => Dtype,
        "index_out: self ({input}) and result ({result}) must have the same scalar type";
    /// `take_along_dim` of two ranks (`_take_along_dim_helper`).
    TakeAlongDimRank { rank: usize, indices: usize } => Dimension,
        "torch.take_along_dim(): input and indices should have the same number of dimensions, but got {rank} \
         dimensions for input, and {indices} dimensions for indices";
    /// `take_along_dim` with indices of another dtype (`_take_along_dim_helper`).
    TakeAlongDimDtype { dtype: DType } => Dtype,
        "torch.take_along_dim(): dtype of indices should be Long but got {dtype}";
    /// An index tensor of another dtype than integers (the meta function of `gather`, `scatter_gather_dtype_check`).
    IndexNotInteger { function: &'static str = ["gather", "scatter"] } => Dtype,
        "{function}(): Expected dtype int32/int64 for index";
    /// An index tensor of another rank than the tensor or the source (`gather_shape_check`, `scatter_shape_check`).
    IndexTensorRank { other: &'static str = ["input", "self", "src"] } => Dimension,
        "Index tensor must have the same number of dimensions as {other} tensor";
    /// An index tensor larger than the tensor in a dimension other than `dim` (`gather_shape_check`).
    GatherShape { at: usize, index: Vec<i64>, tensor: Vec<i64>, dim: usize } => SizeMismatch,
        "Size does not match at dimension {at} expected index {index} to be no larger than self {tensor} apart from \
         dimension {dim}";
    /// A source of another dtype than the tensor (`scatter_gather_dtype_check`).
    ScatterSourceDtype => Dtype, "scatter(): Expected self.dtype to be equal to src.dtype";
    /// An index tensor larger than the tensor or the source (`scatter_shape_check`).
    ScatterShape { index: Vec<i64>, tensor: Vec<i64>, dim: usize, source: Vec<i64> } => SizeMismatch,
        "Expected index {index} to be no larger than self {tensor} apart from dimension {dim} and to be no larger \
         size than src {source}";
    /// An index tensor larger than the tensor, with a scalar as the source (`scatter_shape_check`).
    ScatterValueShape { index: Vec<i64>, tensor: Vec<i64>, dim: usize } => SizeMismatch,
        "Expected index {index} to be no larger than self {tensor} apart from dimension {dim}";
    /// `out=` of another dtype than the tensor (`masked_select_out_impl_cpu`, `index_select_out_cpu_`).
    SelectOutDtype { function: &'static str = ["masked_select", "index_select"] } => Dtype,
        "{function}(): self and result must have the same scalar type";
    /// An index tensor with more than one dimension (`index_select_out_cpu_`).
    IndexSelectRank => Dimension, "index_select(): Index is supposed to be a vector";
    /// Any number of indices but one for a 0-dim tensor (`index_select_out_cpu_`).
    IndexSelectScalar { count: i64 } => ItemCount,
        "index_select(): Index to scalar can have only 1 value, got {count} value(s)";
    /// An index tensor of another dtype than integers (`index_select_out_cpu_`).
    IndexSelectDtype => Dtype, "index_select(): Expected dtype int32 or int64 for index";
    /// An index out of range (`index_select_out_cpu_`).
    IndexSelectRange => Dimension, "index out of range in self";
    /// An index out of range, of the second dimension (`check_indexarray_range`).
    IndexSelectBounds { index: i64, size: i64 } => Dimension,
        "INDICES element is out of DATA bounds, id={index} axis_dim={size}";
    /// Any index of a dimension of size 0 (`index_select_out_cpu_`).
    IndexSelectEmpty => Dimension, "index_select(): self indexing axis dim should be positive";
    /// `index_fill` by indices of another dtype (`index_fill_`).
    IndexFillDtype => Dtype, "index_fill_(): Expected dtype int64 for index.";
    /// `index_fill` of real numbers with a complex one (`index_fill_`).
    IndexFillComplex => Dtype, "index_fill_(): Converting complex Scalar to non-complex type is not supported";
    /// `index_fill` with a value that has dimensions (`index_fill_`).
    IndexFillRank { rank: usize } => Argument,
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with {rank} dimension(s).";
    /// `index_fill` by an index tensor with more than one dimension (`index_fill_`).
    IndexFillVector => Dimension, "Index has to be a vector/scalar";
    /// `index_copy` by an index tensor with more than one dimension (the meta function of `index_copy`).
    IndexCopyVector { rank: usize } => Dimension, "index_copy_(): Index should have dimension 1 or 0 (got {rank})";
    /// `index_copy` of a source without dimensions to several indices, or to none (the meta function of `index_copy`).
    IndexCopyScalar { count: i64 } => ItemCount,
        "index_copy_(): When source is scalar, index should have one element (got {count})";
    /// `index_copy` of a source of another rank (the meta function of `index_copy`).
    IndexCopyRank { source: usize, rank: usize } => Dimension,
        "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source \
         dimensionality ({source}), destination dimensionality ({rank})";
    /// `index_copy` by indices of another dtype (the meta function of `index_copy`).
    IndexCopyDtype { dtype: DType } => Dtype, "index_copy_(): Expected a long tensor for index, but got {dtype}";
    /// `index_copy` of two dtypes (the meta function of `index_copy`).
    IndexCopyDtypes { own: DType, source: DType } => Dtype,
        "index_copy_(): self and source expected to have the same dtype, but got (self) {own} and (source) {source}";
    /// `index_copy` of slices of another shape (the meta function of `index_copy`).
    IndexCopySlices { own: Bare, dim: usize, source: Bare } => SizeMismatch,
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: {own} at \
         dimension {dim} and source slice shape: {source} at dimension 0.";
    /// `index_copy` of another number of slices than there are indices (the meta function of `index_copy`).
    IndexCopyCount { count: i64, size: i64 } => ItemCount,
        "index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({size})";
    /// `index_copy` to an index that is out of range (`index_copy_kernel`).
    IndexCopyRange { index: i64, dim: usize, size: i64 } => Dimension,
        "index_copy_(): index {index} is out of bounds for dimension {dim} with size {size}";
    /// `index_add` by an index tensor with more than one dimension (`index_func_meta_impl`).
    IndexAddVector { rank: usize, dtype: DType, sizes: Vec<i64> } => Dimension,
        "index_add_(): Index is supposed to be a vector, but got dim: {rank} with type: {dtype} and size: {sizes}";
    /// `index_add` by indices of another dtype than integers (`index_func_meta_impl`).
    IndexAddDtype { dtype: DType } => Dtype, "index_add_(): Expected dtype int32/int64 for index but got: {dtype}";
    /// `index_add` of two dtypes (`index_func_meta_impl`).
    IndexAddDtypes { own: DType, source: DType } => Dtype,
        "index_add_(): self ({own}) and source ({source}) must have the same scalar type";
    /// `index_add` along a dimension that the source does not have (`index_func_meta_impl`).
    IndexAddDim { dim: usize, rank: usize } => Dimension,
        "index_add_(): Indexing dim {dim} is out of bounds of the source tensor with dim {rank}";
    /// `index_add` of another number of slices than there are indices (`index_func_meta_impl`).
    IndexAddCount { count: i64, size: i64, dim: usize } => ItemCount,
        "index_add_(): Number of indices ({count}) should be equal to source.size(dim): ({size}), for dim: {dim}";
    /// `index_add` of slices of another shape (`index_func_meta_impl`).
    IndexAddSlices { own: Vec<i64>, source: Vec<i64> } => SizeMismatch,
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {own} \
         source.shape = {source}";
    /// `put` by indices of another dtype (`put_`).
    PutIndexDtype { dtype: DType } => Dtype, "put_(): Expected a long tensor for index, but got {dtype}";
    /// `put` of two dtypes (`put_`).
    PutSourceDtype { own: DType, source: DType } => Dtype,
        "put_(): self and source expected to have the same dtype, but got self.dtype = {own} and source.dtype = \
         {source}";
    /// `put` of another number of elements than there are indices (`put_`).
    PutCount { source: i64, index: i64 } => ItemCount,
        "put_(): Expected source and index to have the same number of elements, but got source.numel() = {source}, \
         index.numel() = {index}";
    /// `put` into a tensor without elements (`put_`).
    PutEmpty => Dimension, "put_(): Tried to put elements into an empty tensor";
    /// `put` at an index that is out of range (`cpu_take_put_kernel`).
    PutRange { index: i64, numel: i64 } => Dimension,
        "out of range: tried to access index {index} on a tensor of {numel} elements.";
    /// `isin` of bool or complex tensors (`check_for_unsupported_isin_dtype`).
    IsinDtype { dtype: DType } => Dtype, "Unsupported input type encountered for isin(): {dtype}";
    /// A side that is neither (`searchsorted_pre_check`).
    SearchSide { side: String = ["floor".to_owned(), "trunc".to_owned()] } => Argument,
        "torch.searchsorted(): side can only be 'left' or 'right' but got {side}";
    /// The left side, and `right` (`searchsorted_pre_check`).
    SearchOpposites => Argument,
        "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True";
    /// A value without dimensions among the boundaries of several rows (`searchsorted_pre_check`).
    SearchScalar { rank: usize } => Dimension,
        "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got \
         boundaries tensor dim({rank}) and input value's dim(0) numel(1)";
    /// Boundaries without dimensions (`searchsorted_pre_check`).
    SearchNoDimensions => Dimension,
        "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension";
    /// Boundaries of other rows than the values have (`searchsorted_pre_check`).
    SearchShapes { boundaries: Vec<i64>, values: Vec<i64> } => SizeMismatch,
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries \
         tensor and input value tensor must match, but we got boundaries tensor {boundaries} and input value tensor \
         {values}";
    /// `out=` of another dtype than places have (`searchsorted_pre_check`).
    SearchOutput { dtype: DType, flag: &'static str = ["True", "False"] } => Dtype,
        "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on \
         whether out_int32 flag is True, but we got output tensor's dtype {dtype} and out_int32 flag is {flag}";
    /// `bucketize` by boundaries that are no vector (`bucketize_out_cpu`).
    BucketizeRank { rank: usize } => Dimension, "boundaries tensor must be 1 dimension, but got dim({rank})";
    /// A name that is no reduction of `scatter_reduce` (`get_operator_enum`).
    ScatterReduction { name: String = ["add".to_owned()] } => Argument,
        "reduce argument must be either sum, prod, mean, amax or amin, got {name}";
    } };
}

pub(super) use rows;
