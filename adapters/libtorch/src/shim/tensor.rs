//! A tensor of libtorch, where the adapter is built without `tch`: the few functions of `tch::Tensor` that the adapter uses,
//! under the same names and with the same meaning.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use super::check;

pub use super::Raised;

/// An `at::Tensor`.
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct C_tensor {
    _private: [u8; 0],
}

/// A tensor.
#[derive(Debug)]
pub struct Tensor(*mut C_tensor);

/// libtorch's number for a dtype (`c10::ScalarType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(i64);

macro_rules! kinds {
    ($($name:ident $number:literal),+) => {
        #[allow(non_upper_case_globals, missing_docs)]
        impl Kind {
            $(pub const $name: Kind = Kind($number);)+
        }
    };
}

kinds! {
    Uint8 0, Int8 1, Int16 2, Int 3, Int64 4, Half 5, Float 6, Double 7, ComplexFloat 9, ComplexDouble 10, Bool 11,
    BFloat16 15
}

impl Tensor {
    /// Takes over a tensor.
    ///
    /// # Safety
    /// `tensor` must be a tensor that is not used elsewhere.
    pub unsafe fn from_ptr(tensor: *mut C_tensor) -> Tensor {
        Tensor(tensor)
    }

    /// The tensor, for as long as this lives.
    pub fn as_ptr(&self) -> *const C_tensor {
        self.0
    }

    /// A tensor of these bytes, in a storage of its own. There must be as many of them as the sizes and the dtype say.
    pub fn f_from_data_size(data: &[u8], sizes: &[i64], kind: Kind) -> Result<Tensor, Raised> {
        let (count, dims) = (data.len() as i64, sizes.len() as i64);
        // SAFETY: the shim copies `count` bytes out of `data`, and raises if the tensor has another number of them.
        made(|result| unsafe { bc_tensor(data.as_ptr().cast(), count, sizes.as_ptr(), dims, kind.0, result) })
    }

    /// Another handle of the same tensor.
    pub fn shallow_clone(&self) -> Tensor {
        // SAFETY: the tensor lives, and the result is ours.
        unsafe { Tensor(bc_clone(self.0)) }
    }

    /// True if it is defined.
    pub fn defined(&self) -> bool {
        // SAFETY: the tensor lives.
        unsafe { bc_defined(self.0) != 0 }
    }

    /// Its dtype.
    pub fn kind(&self) -> Kind {
        // SAFETY: the tensor lives.
        Kind(unsafe { bc_kind(self.0) })
    }

    /// Its dtype.
    pub fn f_kind(&self) -> Result<Kind, Raised> {
        Ok(self.kind())
    }

    /// Its sizes.
    pub fn size(&self) -> Vec<i64> {
        self.layout().0
    }

    /// Its strides.
    pub fn stride(&self) -> Vec<i64> {
        self.layout().1
    }

    /// The number of its elements.
    pub fn numel(&self) -> usize {
        self.size().iter().product::<i64>() as usize
    }

    /// The gradient that it has gathered.
    pub fn f_grad(&self) -> Result<Tensor, Raised> {
        // SAFETY: the tensor lives, and the result is ours.
        made(|result| unsafe { bc_grad(self.0, result) })
    }

    /// The same tensor, which gathers gradients or not.
    pub fn f_set_requires_grad(&self, requires_grad: bool) -> Result<Tensor, Raised> {
        // SAFETY: the tensor lives.
        unsafe { check(bc_set_requires_grad(self.0, c_int::from(requires_grad)))? };
        Ok(self.shallow_clone())
    }

    fn layout(&self) -> (Vec<i64>, Vec<i64>) {
        // SAFETY: the tensor lives, and there is room for as many numbers as it has dimensions.
        unsafe {
            let dims = bc_dims(self.0) as usize;
            let (mut sizes, mut strides) = (vec![0; dims], vec![0; dims]);
            bc_layout(self.0, sizes.as_mut_ptr(), strides.as_mut_ptr());
            (sizes, strides)
        }
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        // SAFETY: it is ours, and it is not used any more.
        unsafe { bc_free_tensor(self.0) }
    }
}

/// A tensor that a function of the shim makes.
fn made(make: impl FnOnce(*mut *mut C_tensor) -> *mut c_char) -> Result<Tensor, Raised> {
    let mut result = ptr::null_mut();
    // SAFETY: `result` lives through the call, and on success is a new tensor, which we own.
    unsafe { check(make(&mut result))? };
    Ok(Tensor(result))
}

unsafe extern "C" {
    fn bc_tensor(
        data: *const c_void,
        count: i64,
        sizes: *const i64,
        dims: i64,
        kind: i64,
        result: *mut *mut C_tensor,
    ) -> *mut c_char;
    fn bc_clone(tensor: *const C_tensor) -> *mut C_tensor;
    fn bc_defined(tensor: *const C_tensor) -> c_int;
    fn bc_kind(tensor: *const C_tensor) -> i64;
    fn bc_dims(tensor: *const C_tensor) -> i64;
    fn bc_layout(tensor: *const C_tensor, sizes: *mut i64, strides: *mut i64);
    fn bc_grad(tensor: *const C_tensor, result: *mut *mut C_tensor) -> *mut c_char;
    fn bc_set_requires_grad(tensor: *const C_tensor, requires_grad: c_int) -> *mut c_char;
    fn bc_free_tensor(tensor: *mut C_tensor);
}
