//! What masks and indices refuse.

use crate::tensor::DType;
use crate::tensor::shape::bracketed;

use super::faults::{Names, Sample, faults};

faults! {
    /// What masks and indices refuse.
    IndexFault {
    /// `masked_fill` with a mask that is not of booleans (`masked_fill_impl_cpu`).
    FillMask { dtype: DType } => Dtype, "masked_fill_ only supports boolean masks, but got mask with dtype {}",
        dtype.cpp_name();
    /// `masked_fill` with a value that has dimensions (`masked_fill__cpu`).
    FillRank { rank: usize } => Argument,
        "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {rank} dimension(s).";
    /// `masked_scatter` of two dtypes (`masked_scatter__cpu`); the missing space is libtorch's.
    ScatterDtypes { own: DType, source: DType } => Dtype,
        "masked_scatter: expected self and source to have same dtypes but got{} and {}",
        own.libtorch_name(), source.libtorch_name();
    /// `masked_scatter` with a mask that is not of booleans (`masked_scatter_kernel`).
    ScatterMask { dtype: DType } => Dtype,
        "masked_scatter_ only supports boolean masks, but got mask with dtype {}", dtype.libtorch_name();
    /// `masked_scatter` with fewer elements than places for them (`cpu_masked_scatter_kernel`).
    SourceCount {} => ItemCount, "Number of elements of source < number of ones in mask";
    /// `masked_select` with a mask that is not of booleans (`masked_select_out_impl_cpu`).
    SelectMask {} => Dtype, "masked_select: expected BoolTensor for mask";
    /// `masked_select` into a tensor of another dtype (`masked_select_out_impl_cpu`).
    SelectDtype {} => Dtype, "masked_select(): self and result must have the same scalar type";
    /// More indices than dimensions (`_index_put_impl_`, the meta function of `index`).
    TooMany { rank: usize, got: usize } => Dimension, "too many indices for tensor of dimension {rank} (got {got})";
    /// An index that is neither an integer nor a mask (`checkIndexTensorTypes`).
    IndexDtype {} => Dtype, "tensors used as indices must be long, int, byte or bool tensors";
    /// A mask of other sizes than the dimensions that it stands for (`invalid_mask`).
    MaskShape { mask: Vec<i64>, at: usize, tensor: Vec<i64>, dim: usize } => SizeMismatch,
        "The shape of the mask {} at index {at} does not match the shape of the indexed tensor {} at index {dim}",
        bracketed(mask), bracketed(tensor);
    /// Indices that do not broadcast together (`make_info`).
    IndexShapes { shapes: Vec<Vec<i64>> } => SizeMismatch,
        "shape mismatch: indexing tensors could not be broadcast together with shapes {}",
        shapes.iter().map(|shape| bracketed(shape)).collect::<Vec<_>>().join(", ");
    /// Indices into a dimension that has none (`AdvancedIndex`).
    NoSuchIndex {} => Dimension, "index is out of bounds for dimension with size 0";
    /// Values that do not broadcast to the places they go to (`make_index_put_iterator`).
    ValueShape { value: Vec<i64>, places: Vec<i64> } => SizeMismatch,
        "shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}",
        bracketed(value), bracketed(places);
    /// Values of another dtype (`make_index_put_iterator`).
    PutDtypes { to: DType, from: DType } => Dtype,
        "Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.",
        to.libtorch_name(), from.libtorch_name();
    /// `take_along_dim` of two ranks (`_take_along_dim_helper`).
    TakeRank { rank: usize, indices: usize } => Dimension,
        "torch.take_along_dim(): input and indices should have the same number of dimensions, but got {rank} dimensions \
         for input, and {indices} dimensions for indices";
    /// `take_along_dim` with indices of another dtype (`_take_along_dim_helper`).
    TakeDtype { dtype: DType } => Dtype, "torch.take_along_dim(): dtype of indices should be Long but got {}",
        dtype.libtorch_name();
    /// The size of a dimension of a tensor that has none (`maybe_wrap_dim`).
    NoDimensions { dim: i64 } => Dimension, "Dimension specified as {dim} but tensor has no dimensions";
    /// A tensor given by `out=` of another dtype than the one that is indexed (the meta function of `index`).
    IndexOutDtype { pair: DtypePair } => Dtype, "index_out: self ({}) and result ({}) must have the same scalar type",
        pair.0.libtorch_name(), pair.1.libtorch_name();
    /// Indices of another dtype than integers (the meta function of `gather`).
    GatherDtype {} => Dtype, "gather(): Expected dtype int32/int64 for index";
    /// Indices of another rank (`gather_shape_check`).
    GatherRank {} => Dimension, "Index tensor must have the same number of dimensions as input tensor";
    /// Indices that are larger than the tensor beside the dimension they go along (`gather_shape_check`).
    GatherShape { at: usize, index: Vec<i64>, tensor: Vec<i64>, dim: usize } => SizeMismatch,
        "Size does not match at dimension {at} expected index {} to be no larger than self {} apart from dimension {dim}",
        bracketed(index), bracketed(tensor);
    /// A tensor given by `out=` of another dtype than the result (`resize_out` of structured operators).
    OutDtype { pair: DtypePair } => Dtype, "Expected out tensor to have dtype {}, but got {} instead",
        pair.0.cpp_name(), pair.1.cpp_name();
    /// A result of integers or booleans that is made of something that requires grad (`set_history`).
    NotDifferentiable { dtype: DType } => Autograd, "Autograd not support dtype: {}", dtype.libtorch_name();
    /// Indices of another dtype than integers (`scatter_gather_dtype_check`).
    ScatterIndexDtype {} => Dtype, "scatter(): Expected dtype int32/int64 for index";
    /// A source of another dtype (`scatter_gather_dtype_check`).
    ScatterSourceDtype {} => Dtype, "scatter(): Expected self.dtype to be equal to src.dtype";
    /// Indices of another rank (`scatter_shape_check`).
    ScatterRank {} => Dimension, "Index tensor must have the same number of dimensions as self tensor";
    /// A source of another rank than the indices (`scatter_shape_check`).
    ScatterSourceRank {} => Dimension, "Index tensor must have the same number of dimensions as src tensor";
    /// Indices that are larger than the tensor or the source (`scatter_shape_check`).
    ScatterShape { index: Vec<i64>, tensor: Vec<i64>, dim: usize, source: Vec<i64> } => SizeMismatch,
        "Expected index {} to be no larger than self {} apart from dimension {dim} and to be no larger size than src {}",
        bracketed(index), bracketed(tensor), bracketed(source);
    /// The same with a number as the source.
    ScatterValueShape { index: Vec<i64>, tensor: Vec<i64>, dim: usize } => SizeMismatch,
        "Expected index {} to be no larger than self {} apart from dimension {dim}",
        bracketed(index), bracketed(tensor);
    /// Indices with more than one dimension (`index_select_out_cpu_`).
    SelectRank {} => Dimension, "index_select(): Index is supposed to be a vector";
    /// Not one index for a tensor without dimensions (`index_select_out_cpu_`).
    SelectScalar { count: usize } => ItemCount,
        "index_select(): Index to scalar can have only 1 value, got {count} value(s)";
    /// Indices of another dtype than integers (`index_select_out_cpu_`).
    SelectIndexDtype {} => Dtype, "index_select(): Expected dtype int32 or int64 for index";
    /// A result of another dtype (`index_select_out_cpu_`).
    SelectResultDtype {} => Dtype, "index_select(): self and result must have the same scalar type";
    /// An index that is not there (`index_select_out_cpu_`).
    SelectRange {} => Dimension, "index out of range in self";
    /// An index that is not there, of the second dimension (`check_indexarray_range`).
    SelectBounds { index: i64, size: i64 } => Dimension,
        "INDICES element is out of DATA bounds, id={index} axis_dim={size}";
    /// Any index of a dimension of size 0 (`index_select_out_cpu_`).
    SelectEmpty {} => Dimension, "index_select(): self indexing axis dim should be positive";
    }
}

/// Two dtypes in one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DtypePair(pub DType, pub DType);

impl Sample for DtypePair {
    fn sample(_: &Names, round: usize) -> Self {
        let count = DType::ALL.len();
        DtypePair(DType::ALL[round % count], DType::ALL[round / count % count])
    }
}

impl Sample for Vec<Vec<i64>> {
    fn sample(_: &Names, round: usize) -> Self {
        vec![vec![2]; 2 + round % 16]
    }
}
