//! Arrays of any element type as one type, and what Rust's rules of borrowing make of views.

use std::any::Any;
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::rc::Rc;

use broadcheck_protocol::adapter::library::shown;
use broadcheck_protocol::adapter::{Answer, CallError, Returned};
use broadcheck_protocol::program::{TensorValue, VALUE_LIMIT};
use broadcheck_protocol::tensor::{DType, Element};
use ndarray::{ArrayD, ArrayViewD};

pub const TYPES: &str = "Rust's operators take one element type";
pub const ALIAS: &str = "Rust lets nobody write to an array that is borrowed, by a view or as an operand";
pub const VIEW: &str = "a view of ndarray that is kept as an array of its own takes too much memory";

pub const LAYOUT: &str = "a view of ndarray that leaves elements out is kept here as an array of its own";

pub const DTYPES: [DType; 10] = [
    DType::Bool,
    DType::Uint8,
    DType::Int8,
    DType::Int16,
    DType::Int32,
    DType::Int64,
    DType::Float32,
    DType::Float64,
    DType::Complex64,
    DType::Complex128,
];

/// Runs `$body` with the type `$A` bound to the element type of a dtype, if it is one of a class of them.
#[macro_export]
macro_rules! with_element {
    (all $dtype:expr, $A:ident => $body:expr) => {
        $crate::with_element!($dtype, $A => $body; Bool bool, Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64,
            Float32 f32, Float64 f64, Complex64 num_complex::Complex32, Complex128 num_complex::Complex64)
    };
    (real $dtype:expr, $A:ident => $body:expr) => {
        $crate::with_element!($dtype, $A => $body; Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32,
            Float64 f64)
    };
    (number $dtype:expr, $A:ident => $body:expr) => {
        $crate::with_element!($dtype, $A => $body; Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float32 f32,
            Float64 f64, Complex64 num_complex::Complex32, Complex128 num_complex::Complex64)
    };
    (ordered $dtype:expr, $A:ident => $body:expr) => {
        $crate::with_element!($dtype, $A => $body; Bool bool, Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64,
            Float32 f32, Float64 f64)
    };
    (integer $dtype:expr, $A:ident => $body:expr) => {
        $crate::with_element!($dtype, $A => $body; Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64)
    };
    (bits $dtype:expr, $A:ident => $body:expr) => {
        $crate::with_element!($dtype, $A => $body; Bool bool, Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64)
    };
    (float $dtype:expr, $A:ident => $body:expr) => {
        $crate::with_element!($dtype, $A => $body; Float32 f32, Float64 f64)
    };
    ($dtype:expr, $A:ident => $body:expr; $($name:ident $element:ty),+) => {
        match $dtype {
            $(broadcheck_protocol::tensor::DType::$name => {
                type $A = $element;
                $body
            })+
            _ => Err(CallError::Unsupported($crate::operations::ELEMENT.to_owned())),
        }
    };
}

/// An array, which knows whether it is viewed or a view. Views are copies here: while there is a view no step can write
/// to the array, nor to the view, so that no program sees the difference, except in the layout.
#[derive(Clone)]
pub struct Tensor {
    pub dtype: DType,
    array: Rc<dyn Any>,
    borrowed: Rc<Cell<bool>>,
    /// True if it is the copy of a view that left elements out, or repeated them.
    pub scattered: bool,
}

impl Tensor {
    pub fn new<A: Element>(array: ArrayD<A>) -> Tensor {
        Tensor { dtype: A::DTYPE, array: Rc::new(RefCell::new(array)), borrowed: Rc::default(), scattered: false }
    }

    /// The array, of an element type that the caller has from another operand.
    pub fn get<A: Element>(&self) -> Result<Ref<'_, ArrayD<A>>, CallError> {
        self.cell()?.try_borrow().map_err(|_| CallError::Unsupported(ALIAS.to_owned()))
    }

    /// The same, to be written to.
    pub fn get_mut<A: Element>(&self) -> Result<RefMut<'_, ArrayD<A>>, CallError> {
        let free = self.cell()?.try_borrow_mut().ok().filter(|_| !self.borrowed.get());
        free.ok_or_else(|| CallError::Unsupported(ALIAS.to_owned()))
    }

    fn cell<A: Element>(&self) -> Result<&RefCell<ArrayD<A>>, CallError> {
        self.array.downcast_ref().ok_or_else(|| CallError::Unsupported(TYPES.to_owned()))
    }

    /// The answer of a function that gives a view of this array.
    pub fn view<A: Element>(&self, view: ArrayViewD<'_, A>) -> Answer<Tensor> {
        if view.len().saturating_mul(A::DTYPE.size()) > VALUE_LIMIT {
            return Err(CallError::Unsupported(VIEW.to_owned()));
        }
        self.borrowed.set(true);
        let copy = Tensor::new(view.to_owned());
        copy.borrowed.set(true);
        Ok(Returned::Tensor(Tensor { scattered: view.as_slice_memory_order().is_none(), ..copy }))
    }

    pub fn read(&self) -> Result<TensorValue, CallError> {
        crate::with_element!(all self.dtype, A => {
            let array = self.get::<A>()?;
            shown(array.shape(), || array.iter().copied().collect())
        })
    }
}
