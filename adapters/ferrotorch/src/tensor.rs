//! Tensors of any of ferrotorch's types as one type.

use std::any::Any;
use std::rc::Rc;

use broadcheck_protocol::adapter::library::{elements, shown};
use broadcheck_protocol::adapter::{Answer, CallError, Returned};
use broadcheck_protocol::program::{Input, TensorValue};
use broadcheck_protocol::tensor::{Category, DType, Element};
use ferrotorch_core::{BoolTensor, ComplexTensor, FerrotorchResult, Float, IntElement, IntTensor, TensorStorage};
use num_complex::Complex;

pub const OPERANDS: &str = "the operands of ferrotorch have the types that its function takes";
pub const KIND: &str = "ferrotorch has no such function of this type of tensor";
pub const LEAF: &str = "only ferrotorch's tensors of floats keep gradients";

pub const DTYPES: [DType; 9] = [
    DType::Bool,
    DType::Int32,
    DType::Int64,
    DType::Float16,
    DType::Bfloat16,
    DType::Float32,
    DType::Float64,
    DType::Complex64,
    DType::Complex128,
];

/// Runs the first of the bodies whose kind of tensors the dtype is of, with `$T` as the type of its tensors.
#[macro_export]
macro_rules! with_type {
    (@match $dtype:expr, $T:ident, $body:expr; $($name:ident $type:ty),+; $($rest:tt)*) => {
        match $dtype {
            $(broadcheck_protocol::tensor::DType::$name => {
                type $T = $type;
                $body
            })+
            _ => $crate::with_type!($dtype, $T; $($rest)*),
        }
    };
    ($dtype:expr, $T:ident;) => { Err(CallError::Unsupported($crate::tensor::KIND.to_owned())) };
    ($dtype:expr, $T:ident; all => $body:expr) => {
        $crate::with_type!($dtype, $T; float => $body, int => $body, bool => $body, complex => $body)
    };
    ($dtype:expr, $T:ident; float => $body:expr $(, $($rest:tt)*)?) => {
        $crate::with_type!(@match $dtype, $T, $body;
            Float16 ferrotorch_core::Tensor<half::f16>, Bfloat16 ferrotorch_core::Tensor<half::bf16>,
            Float32 ferrotorch_core::Tensor<f32>, Float64 ferrotorch_core::Tensor<f64>; $($($rest)*)?)
    };
    ($dtype:expr, $T:ident; int => $body:expr $(, $($rest:tt)*)?) => {
        $crate::with_type!(@match $dtype, $T, $body;
            Int32 ferrotorch_core::IntTensor<i32>, Int64 ferrotorch_core::IntTensor<i64>; $($($rest)*)?)
    };
    ($dtype:expr, $T:ident; bool => $body:expr $(, $($rest:tt)*)?) => {
        $crate::with_type!(@match $dtype, $T, $body; Bool ferrotorch_core::BoolTensor; $($($rest)*)?)
    };
    ($dtype:expr, $T:ident; complex => $body:expr $(, $($rest:tt)*)?) => {
        $crate::with_type!(@match $dtype, $T, $body;
            Complex64 ferrotorch_core::ComplexTensor<f32>, Complex128 ferrotorch_core::ComplexTensor<f64>;
            $($($rest)*)?)
    };
}

/// The same for the dtype of the first operand, with all operands as tensors of that type.
#[macro_export]
macro_rules! typed {
    (@dtype ($first:ident $($others:tt)*)) => { $first.dtype };
    (@get ($($operand:ident),+) $T:ident; $body:expr) => {{
        $(let $operand = $operand.get::<$T>()?;)+
        $body
    }};
    ($operands:tt $($kind:ident => $body:expr),+ $(,)?) => {
        $crate::with_type!($crate::typed!(@dtype $operands), X; $($kind => $crate::typed!(@get $operands X; $body)),+)
    };
}

/// A type of tensors.
pub trait Typed: Sized + 'static {
    type Element: Element;

    fn make(data: Vec<Self::Element>, sizes: Vec<usize>, requires_grad: bool) -> FerrotorchResult<Self>;

    fn sizes(&self) -> &[usize];

    fn elements(&self) -> FerrotorchResult<Vec<Self::Element>>;
}

impl<T: Float + Element> Typed for ferrotorch_core::Tensor<T> {
    type Element = T;

    fn make(data: Vec<T>, sizes: Vec<usize>, requires_grad: bool) -> FerrotorchResult<Self> {
        Self::from_storage(TensorStorage::cpu(data), sizes, requires_grad)
    }

    fn sizes(&self) -> &[usize] {
        self.shape()
    }

    fn elements(&self) -> FerrotorchResult<Vec<T>> {
        self.data_vec()
    }
}

impl<T: IntElement + Element> Typed for IntTensor<T> {
    type Element = T;

    fn make(data: Vec<T>, sizes: Vec<usize>, _requires_grad: bool) -> FerrotorchResult<Self> {
        Self::from_vec(data, sizes)
    }

    fn sizes(&self) -> &[usize] {
        self.shape()
    }

    fn elements(&self) -> FerrotorchResult<Vec<T>> {
        Ok(self.data()?.to_vec())
    }
}

impl Typed for BoolTensor {
    type Element = bool;

    fn make(data: Vec<bool>, sizes: Vec<usize>, _requires_grad: bool) -> FerrotorchResult<Self> {
        Self::from_vec(data, sizes)
    }

    fn sizes(&self) -> &[usize] {
        self.shape()
    }

    fn elements(&self) -> FerrotorchResult<Vec<bool>> {
        Ok(self.data()?.to_vec())
    }
}

impl<T: Float> Typed for ComplexTensor<T>
where
    Complex<T>: Element,
{
    type Element = Complex<T>;

    fn make(data: Vec<Complex<T>>, sizes: Vec<usize>, _requires_grad: bool) -> FerrotorchResult<Self> {
        let (re, im) = data.iter().map(|element| (element.re, element.im)).unzip();
        Self::from_re_im(re, im, sizes)
    }

    fn sizes(&self) -> &[usize] {
        self.shape()
    }

    fn elements(&self) -> FerrotorchResult<Vec<Complex<T>>> {
        Ok(self.re().iter().zip(self.im()).map(|(&re, &im)| Complex { re, im }).collect())
    }
}

/// A tensor of some type.
#[derive(Clone)]
pub struct Tensor {
    pub dtype: DType,
    tensor: Rc<dyn Any>,
}

impl Tensor {
    pub fn new<T: Typed>(tensor: T) -> Tensor {
        Tensor { dtype: T::Element::DTYPE, tensor: Rc::new(tensor) }
    }

    /// The tensor, of the type that a function takes.
    pub fn get<T: Typed>(&self) -> Result<&T, CallError> {
        self.tensor.downcast_ref().ok_or_else(|| CallError::Unsupported(OPERANDS.to_owned()))
    }

    pub fn make(input: &Input) -> Result<Tensor, CallError> {
        if input.requires_grad && input.dtype.category() != Category::Floating {
            return Err(CallError::Unsupported(LEAF.to_owned()));
        }
        let sizes = input.shape.sizes().iter().map(|&size| size as usize).collect();
        with_type!(input.dtype, X; all => {
            Ok(Tensor::new(<X as Typed>::make(elements(&input.data), sizes, input.requires_grad)?))
        })
    }

    pub fn read(&self) -> Result<TensorValue, CallError> {
        let tensor = self;
        typed!((tensor) all => show(tensor))
    }
}

fn show<T: Typed>(tensor: &T) -> Result<TensorValue, CallError> {
    shown(tensor.sizes(), || tensor.elements().expect("a tensor can be read"))
}

pub fn one<T: Typed>(result: FerrotorchResult<T>) -> Answer<Tensor> {
    Ok(Returned::Tensor(Tensor::new(result?)))
}
