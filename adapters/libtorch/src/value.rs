//! Tensors to and from bytes, and the numbers that storages bear in a reply.

use crate::call::Fault;
use crate::shim::{self, Kind, Tensor};
use broadcheck_protocol::program::{Input, StorageRef, TensorValue, VALUE_LIMIT};
use broadcheck_protocol::tensor::{DType, Shape};

#[cfg(target_endian = "big")]
compile_error!("the protocol's bytes are little-endian, and this file copies them as they are");

/// Makes an input: contiguous, in a storage of its own.
pub fn input(input: &Input) -> Result<Tensor, Fault> {
    let name = &input.name;
    // The size must be right before libtorch copies from the bytes: tch does not look.
    let shape = Shape::new(input.shape.sizes().to_vec()).map_err(|error| Fault::Failed(format!("{name}: {error}")))?;
    let wanted = shape.numel().checked_mul(input.dtype.size());
    if wanted != Some(input.data.len()) {
        return Err(Fault::Failed(format!("{name}: {} bytes of data for the shape {shape}", input.data.len())));
    }
    let normal;
    let data = match input.dtype {
        // A C++ bool that is neither 0 nor 1 is undefined.
        DType::Bool => {
            normal = input.data.iter().map(|&byte| u8::from(byte != 0)).collect::<Vec<_>>();
            &normal
        }
        _ => &input.data,
    };
    let tensor = Tensor::f_from_data_size(data, shape.sizes(), kind(input.dtype))?;
    if input.requires_grad { Ok(tensor.f_set_requires_grad(true)?) } else { Ok(tensor) }
}

/// The present state of a tensor.
pub fn snapshot(tensor: &Tensor, storages: &mut Storages) -> Result<TensorValue, Fault> {
    let dtype =
        dtype(tensor.f_kind()?).ok_or_else(|| Fault::Failed(format!("a result of the dtype {:?}", tensor.kind())))?;
    let shape = Shape::new(tensor.size()).map_err(|error| Fault::Failed(error.to_string()))?;
    let bytes = shape.numel().saturating_mul(dtype.size());
    let mut data = if bytes > VALUE_LIMIT { Vec::new() } else { shim::read(tensor, bytes)? };
    if dtype == DType::Bool {
        // Memory that nothing has been written to.
        data.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
    let (storage, offset) = shim::storage(tensor)?;
    let storage = Some(StorageRef { id: storages.number(storage), offset });
    Ok(TensorValue { dtype, shape, data, strides: Some(tensor.stride()), storage })
}

/// The rejection of a value beyond [`VALUE_LIMIT`].
pub fn too_large(bytes: usize) -> Fault {
    Fault::Unsupported(format!("a value of {bytes} bytes: the limit is {} MiB", VALUE_LIMIT >> 20))
}

/// The storages of one reply, by libtorch's identity of them, in the order of first mention. The tensors must be kept
/// alive meanwhile, or another storage may get the same identity.
#[derive(Debug, Default)]
pub struct Storages(Vec<usize>);

impl Storages {
    /// The number of a storage.
    pub fn number(&mut self, storage: usize) -> usize {
        self.0.iter().position(|&known| known == storage).unwrap_or_else(|| {
            self.0.push(storage);
            self.0.len() - 1
        })
    }
}

macro_rules! kinds {
    ($($dtype:ident $kind:ident),+ $(,)?) => {
        /// libtorch's name for a dtype.
        fn kind(dtype: DType) -> Kind {
            match dtype { $(DType::$dtype => Kind::$kind),+ }
        }

        /// The dtype that libtorch names so, if broadcheck has it.
        fn dtype(kind: Kind) -> Option<DType> {
            match kind { $(Kind::$kind => Some(DType::$dtype),)+ _ => None }
        }
    };
}

kinds! {
    Bool Bool, Uint8 Uint8, Int8 Int8, Int16 Int16, Int32 Int, Int64 Int64, Float16 Half, Bfloat16 BFloat16,
    Float32 Float, Float64 Double, Complex64 ComplexFloat, Complex128 ComplexDouble,
}
