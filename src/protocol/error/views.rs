//! Rejections of dimensions, sizes and views.

/// Adds the rows of dimensions, sizes and views.
macro_rules! rows {
    ($($families:ident)*; $($rows:tt)*) => { $crate::error::table::rejections! { $($families)*; $($rows)*
    /// A dimension number outside of `low..=high` (`maybe_wrap_dim`).
    DimensionRange { low: i64, high: i64, got: i64 } => Dimension,
        "Dimension out of range (expected to be in range of [{low}, {high}], but got {got})";
    /// A dimension twice in a list (`dim_list_to_bitset`).
    DimensionRepeated { dim: usize } => Dimension, "dim {dim} appears multiple times in the list of dims";
    /// A list of dimensions of a tensor that has too many (`dim_list_to_bitset`).
    TooManyDimensions { most: usize } => Dimension, "only tensors with up to {most} dims are supported";
    /// The size of a dimension of a 0-dim tensor (`maybe_wrap_dim`).
    NoDimensions { dim: i64 } => Dimension, "Dimension specified as {dim} but tensor has no dimensions";
    /// `select`, `narrow` or a slice of a 0-dim tensor (`select`, `narrow`, `slice`).
    ZeroDim { name: &'static str | ["slice"] } => Dimension, "{name}() cannot be applied to a 0-dim tensor.";
    /// `permute` with a list of the wrong length (`permute`).
    PermuteRank { got: usize, rank: usize } => Dimension,
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired \
         ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {got}";
    /// `permute` with a dimension twice (`permute`).
    PermuteRepeated => Dimension, "permute(): duplicate dims are not allowed.";
    /// `view` or `reshape` to a shape with another number of elements (`infer_size`).
    ViewSize { target: Vec<i64>, numel: i64 } => View, "shape '{target}' is invalid for input of size {numel}";
    /// `view` to a shape that no strides express (`view_impl`).
    ViewStride => View,
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two \
         contiguous subspaces). Use .reshape(...) instead.";
    /// More than one -1 among the sizes of a view (`infer_size`).
    ViewInferred => View, "only one dimension can be inferred";
    /// A size below -1 among the sizes of a view (`infer_size`).
    ViewNegative { size: i64, at: usize, target: Vec<i64> } => View,
        "invalid shape dimension {size} at index {at} of shape {target}";
    /// A -1 among the sizes of a view of an empty tensor, where any size would do (`infer_size`).
    ViewAmbiguous { target: Vec<i64> } => View,
        "cannot reshape tensor of 0 elements into shape {target} because the unspecified dimension size -1 can be \
         any value and is ambiguous";
    /// `t` of more than a matrix (`check_t`).
    TransposeRank { name: &'static str = ["t", "t_"], rank: usize } => Dimension,
        "{name}() expects a tensor with <= 2 dimensions, but self is {rank}D";
    /// An index beyond the dimension (`select`).
    SelectRange { index: i64, sizes: Vec<i64>, dim: usize } => Dimension,
        "select(): index {index} out of range for tensor of size {sizes} at dimension {dim}";
    /// A negative length (`narrow`).
    NarrowLength => Dimension, "narrow(): length must be non-negative.";
    /// A start beyond the dimension (`narrow`).
    NarrowStart { low: i64, high: i64, start: i64 } => Dimension,
        "start out of range (expected to be in range of [{low}, {high}], but got {start})";
    /// An end beyond the dimension (`narrow`).
    NarrowEnd { start: i64, length: i64, size: i64 } => Dimension,
        "start ({start}) + length ({length}) exceeds dimension size ({size}).";
    /// A step of 0 (`Slice`), rejected before any index is looked at.
    SliceStepZero => Argument, "slice step cannot be zero";
    /// A step that is not positive (`applySlice`).
    SliceStep => Argument, "step must be greater than zero";
    /// Dimensions in the wrong order (`flatten`).
    FlattenOrder => Dimension, "flatten() has invalid args: start_dim cannot come after end_dim";
    /// No sizes (`unflatten`).
    UnflattenEmpty => View, "unflatten: sizes must be non-empty";
    /// Sizes of another product than the size of the dimension (`unflatten`).
    UnflattenSizes { sizes: Vec<i64>, dim: usize, size: i64 } => View,
        "unflatten: Provided sizes {sizes} don't multiply up to the size of dim {dim} ({size}) in the input tensor";
    /// Sizes and strides of different lengths (`as_strided`).
    StridesLength => View, "mismatch in length of strides and shape";
    /// A negative stride (`as_strided`).
    NegativeStride { strides: Vec<i64> } => View,
        "as_strided: Negative strides are not supported at the moment, got strides: {strides}";
    /// A storage offset below 0 (`as_strided`).
    NegativeOffset { offset: i64 } => View, "Tensor: invalid storage offset {offset}";
    /// A view beyond the end of the storage (`checkInBoundsForStorage`).
    StorageBounds { sizes: Vec<i64>, strides: Vec<i64>, offset: i64, item: i64, needed: i64, storage: i64 } => View,
        "setStorage: sizes {sizes}, strides {strides}, storage offset {offset}, and itemsize {item} requiring a \
         storage size of {needed} are out of bounds for storage of size {storage}";
    /// More bytes than 64 bits count, with strides that are given (`computeStorageNbytes`).
    StridedOverflow { sizes: Vec<i64>, strides: Vec<i64> } => ImpossibleSize,
        "Storage size calculation overflowed with sizes={sizes} and strides={strides}";
    /// More bytes than 64 bits count (`computeStorageNbytesContiguous`).
    StorageOverflow { sizes: Vec<i64> } => ImpossibleSize, "Storage size calculation overflowed with sizes={sizes}";
    /// Strides that overflow 64 bits, of a tensor without elements (`empty_tensor_restride`).
    StrideOverflow => ImpossibleSize, "Stride calculation overflowed";
    /// More bytes than a process can allocate (`alloc_cpu`).
    NoMemory { bytes: i64 } => ImpossibleSize,
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to \
         allocate {bytes} bytes. Error code 12 (Cannot allocate memory)";
    /// `tril` or `triu` of fewer dimensions than a matrix has (the meta functions of `tril` and `triu`).
    TriangleRank { name: &'static str = ["tril", "triu"] } => Dimension,
        "{name}: input tensor must have at least 2 dimensions";
    /// `repeat` with fewer numbers than the tensor has dimensions (`repeat`).
    RepeatRank => Dimension,
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor";
    /// A new tensor with a negative size (`check_size_nonnegative`).
    NegativeSize { size: i64, sizes: Vec<i64> } => ImpossibleSize,
        "Trying to create tensor with negative dimension {size}: {sizes}";
    /// `meshgrid` of no tensors (`meshgrid`).
    MeshgridEmpty => Argument, "meshgrid expects a non-empty TensorList";
    /// `meshgrid` of several dtypes (`meshgrid`).
    MeshgridDtypes => Dtype, "meshgrid expects all tensors to have the same dtype";
    /// `meshgrid` by an indexing that is none (`meshgrid`).
    MeshgridIndexing { indexing: String = ["trunc".to_owned(), "floor".to_owned()] } => Argument,
        "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {indexing}";
    /// `meshgrid` of a tensor that is neither a scalar nor a vector (`meshgrid`). libtorch prints its elements here.
    MeshgridRank { shown: String = ["1".to_owned()] } => Dimension,
        "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {shown}";
    /// `cartesian_prod` of anything but vectors (`cartesian_prod`).
    CartesianRank { sizes: Vec<i64> } => Dimension, "Expect a 1D vector, but got shape {sizes}";
    /// A shape whose number of elements does not fit into 64 bits (`safe_compute_numel`).
    Numel => ImpossibleSize, "numel: integer multiplication overflow";
    } };
}

pub(super) use rows;
