//! What expansions and other views refuse.

use crate::tensor::shape::bracketed;

use super::faults::faults;

faults! {
    /// What expansions and other views refuse.
    ViewFault {
    /// `t` of more than a matrix.
    NoMatrix { rank: usize } => Dimension, "t() expects a tensor with <= 2 dimensions, but self is {rank}D";
    /// The same in place.
    NoMatrixInPlace { rank: usize } => Dimension, "t_() expects a tensor with <= 2 dimensions, but self is {rank}D";
    /// A list of dimensions of a tensor that has too many (`dim_list_to_bitset`).
    TooManyDimensions {} => Dimension, "only tensors with up to 64 dims are supported";
    /// A part of a dimension of a tensor that has none.
    NoDimension { name: &'static str } => Dimension, "{name}() cannot be applied to a 0-dim tensor.";
    /// A slice of no dimensions.
    NoSlice {} => Dimension, "slice() cannot be applied to a 0-dim tensor.";
    /// `select` beyond the dimension.
    SelectRange { index: i64, sizes: Vec<i64>, dim: usize } => Dimension,
        "select(): index {index} out of range for tensor of size {} at dimension {dim}", bracketed(sizes);
    /// `narrow` to a negative length.
    NarrowLength {} => Dimension, "narrow(): length must be non-negative.";
    /// `narrow` from beyond the dimension.
    NarrowStart { low: i64, high: i64, start: i64 } => Dimension,
        "start out of range (expected to be in range of [{low}, {high}], but got {start})";
    /// `narrow` to beyond the dimension.
    NarrowEnd { start: i64, length: i64, size: i64 } => Dimension,
        "start ({start}) + length ({length}) exceeds dimension size ({size}).";
    /// A slice with a step of 0 (`Slice`), which is refused before any index is looked at.
    SliceStepZero {} => Argument, "slice step cannot be zero";
    /// A slice with a step that is not positive (`applySlice`).
    SliceStep {} => Argument, "step must be greater than zero";
    /// `flatten` of dimensions in the wrong order.
    FlattenOrder {} => Dimension, "flatten() has invalid args: start_dim cannot come after end_dim";
    /// `unflatten` to no dimensions at all.
    UnflattenEmpty {} => View, "unflatten: sizes must be non-empty";
    /// `unflatten` to sizes of another product.
    UnflattenSizes { sizes: Vec<i64>, dim: usize, size: i64 } => View,
        "unflatten: Provided sizes {} don't multiply up to the size of dim {dim} ({size}) in the input tensor",
        bracketed(sizes);
    /// `as_strided` with more sizes than strides, or fewer.
    StridesLength {} => View, "mismatch in length of strides and shape";
    /// `as_strided` backwards.
    NegativeStride { strides: Vec<i64> } => View,
        "as_strided: Negative strides are not supported at the moment, got strides: {}", bracketed(strides);
    /// `as_strided` from before the storage.
    NegativeOffset { offset: i64 } => View, "Tensor: invalid storage offset {offset}";
    /// `as_strided` beyond the storage (`checkInBoundsForStorage`).
    StorageBounds { sizes: Vec<i64>, strides: Vec<i64>, offset: i64, item: i64, needed: i64, storage: i64 } => View,
        "setStorage: sizes {}, strides {}, storage offset {offset}, and itemsize {item} requiring a storage size of \
         {needed} are out of bounds for storage of size {storage}", bracketed(sizes), bracketed(strides);
    /// More bytes than can be counted, in a layout that is given (`computeStorageNbytes`).
    StridedOverflow { sizes: Vec<i64>, strides: Vec<i64> } => ImpossibleSize,
        "Storage size calculation overflowed with sizes={} and strides={}", bracketed(sizes), bracketed(strides);
    /// More bytes than can be counted (`computeStorageNbytesContiguous`).
    StorageOverflow { sizes: Vec<i64> } => ImpossibleSize,
        "Storage size calculation overflowed with sizes={}", bracketed(sizes);
    /// Strides beyond 64 bits, which only a tensor without elements gets as far as (`empty_tensor_restride`).
    StrideOverflow {} => ImpossibleSize, "Stride calculation overflowed";
    /// More bytes than a process can have (`alloc_cpu`).
    NoMemory { bytes: i64 } => ImpossibleSize,
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to \
         allocate {bytes} bytes. Error code 12 (Cannot allocate memory)";
    }
}
