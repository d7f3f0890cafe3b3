//! Tensors of any rank and kind as one type.

use std::any::Any;
use std::rc::Rc;

use broadcheck_protocol::adapter::{Answer, CallError, Returned};
use broadcheck_protocol::program::{Input, TensorValue, VALUE_LIMIT};
use broadcheck_protocol::tensor::{self, Category, Shape};
use burn_tensor::{BoolStore, DType, Device, TensorData, kind::Basic};

pub const OPERANDS: &str = "the operands of Burn have one rank and one kind, in their types";
pub const RANK: &str = "Burn's tensors have from one to six dimensions here, and none has no dimension";
pub const KIND: &str = "Burn has no such function of this kind of tensor";

pub const DTYPES: [(tensor::DType, DType); 10] = [
    (tensor::DType::Bool, DType::Bool(BoolStore::Native)),
    (tensor::DType::Uint8, DType::U8),
    (tensor::DType::Int8, DType::I8),
    (tensor::DType::Int16, DType::I16),
    (tensor::DType::Int32, DType::I32),
    (tensor::DType::Int64, DType::I64),
    (tensor::DType::Float16, DType::F16),
    (tensor::DType::Bfloat16, DType::BF16),
    (tensor::DType::Float32, DType::F32),
    (tensor::DType::Float64, DType::F64),
];

/// The kinds of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Float,
    Int,
    Bool,
}

/// A kind as Burn has it, in a type.
pub trait OfKind: Basic + 'static {
    const OF: Kind;
}

macro_rules! kinds {
    ($($kind:ident),+) => {
        $(impl OfKind for burn_tensor::$kind {
            const OF: Kind = Kind::$kind;
        })+
    };
}

kinds!(Float, Int, Bool);

/// Runs `$body` with `$D` as a constant rank.
#[macro_export]
macro_rules! with_rank {
    ($rank:expr, $D:ident => $body:expr) => {
        $crate::with_rank!($rank, $D => $body; 1 2 3 4 5 6)
    };
    ($rank:expr, $D:ident => $body:expr; $($literal:literal)+) => {
        match $rank {
            $($literal => {
                const $D: usize = $literal;
                $body
            })+
            _ => Err(CallError::Unsupported($crate::tensor::RANK.to_owned())),
        }
    };
}

/// Runs `$body` with the rank and the kind of a tensor, if it is one of these kinds.
#[macro_export]
macro_rules! with_type {
    (all $tensor:expr, $D:ident $K:ident => $body:expr) => {
        $crate::with_type!($tensor, $D $K => $body; Float Int Bool)
    };
    (number $tensor:expr, $D:ident $K:ident => $body:expr) => {
        $crate::with_type!($tensor, $D $K => $body; Float Int)
    };
    (float $tensor:expr, $D:ident $K:ident => $body:expr) => {
        $crate::with_type!($tensor, $D $K => $body; Float)
    };
    (int $tensor:expr, $D:ident $K:ident => $body:expr) => {
        $crate::with_type!($tensor, $D $K => $body; Int)
    };
    (bool $tensor:expr, $D:ident $K:ident => $body:expr) => {
        $crate::with_type!($tensor, $D $K => $body; Bool)
    };
    ($tensor:expr, $D:ident $K:ident => $body:expr; $($kind:ident)+) => {
        match $tensor.kind {
            $($crate::tensor::Kind::$kind => {
                type $K = burn_tensor::$kind;
                $crate::with_rank!($tensor.rank, $D => $body)
            })+
            #[allow(unreachable_patterns)]
            _ => Err(CallError::Unsupported($crate::tensor::KIND.to_owned())),
        }
    };
}

/// A tensor of some rank and kind.
#[derive(Clone)]
pub struct Tensor {
    pub rank: usize,
    pub kind: Kind,
    tensor: Rc<dyn Any>,
}

impl Tensor {
    pub fn new<const D: usize, K: OfKind>(tensor: burn_tensor::Tensor<D, K>) -> Tensor {
        Tensor { rank: D, kind: K::OF, tensor: Rc::new(tensor) }
    }

    /// The tensor, of a rank and a kind that the caller has from another operand.
    pub fn get<const D: usize, K: OfKind>(&self) -> Result<burn_tensor::Tensor<D, K>, CallError> {
        self.tensor.downcast_ref().cloned().ok_or_else(|| CallError::Unsupported(OPERANDS.to_owned()))
    }

    pub fn make(input: &Input) -> Result<Tensor, CallError> {
        let sizes: Vec<usize> = input.shape.sizes().iter().map(|&size| size as usize).collect();
        let kind = match input.dtype.category() {
            Category::Bool => Kind::Bool,
            Category::Integral => Kind::Int,
            _ => Kind::Float,
        };
        let dtype = DTYPES.iter().find(|(dtype, _)| *dtype == input.dtype).expect("a dtype of hello").1;
        let device = if input.requires_grad { Device::flex().autodiff() } else { Device::flex() };
        let data = TensorData::from_bytes_vec(input.data.clone(), sizes.clone(), dtype);
        // Only the kind and the rank are looked at.
        let typed = Tensor { rank: sizes.len(), kind, tensor: Rc::new(()) };
        if input.requires_grad {
            return with_type!(float typed, D K => {
                Ok(Tensor::new(burn_tensor::Tensor::<D, K>::from_data(data, (&device, dtype)).require_grad()))
            });
        }
        with_type!(all typed, D K => Ok(Tensor::new(burn_tensor::Tensor::<D, K>::from_data(data, (&device, dtype)))))
    }

    pub fn read(&self) -> Result<TensorValue, CallError> {
        with_type!(all self, D K => {
            let tensor = self.get::<D, K>()?;
            let of = |dtype: DType| match dtype {
                DType::Bool(_) => Some(tensor::DType::Bool),
                dtype => DTYPES.iter().find(|(_, known)| *known == dtype).map(|(dtype, _)| *dtype),
            };
            let dtype = of(tensor.dtype())
                .ok_or_else(|| CallError::Failed(format!("a result of dtype {:?}", tensor.dtype())))?;
            let sizes = tensor.dims().iter().map(|&size| size as i64).collect();
            let shape = Shape::new(sizes).map_err(|error| CallError::Failed(error.to_string()))?;
            let small = shape.numel().saturating_mul(dtype.size()) <= VALUE_LIMIT;
            let data = if small { tensor.into_data().as_bytes().to_vec() } else { Vec::new() };
            Ok(TensorValue { dtype, shape, data, strides: None, storage: None })
        })
    }
}

pub fn one<const D: usize, K: OfKind>(tensor: burn_tensor::Tensor<D, K>) -> Answer<Tensor> {
    Ok(Returned::Tensor(Tensor::new(tensor)))
}
