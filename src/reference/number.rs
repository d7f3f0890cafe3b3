//! The arithmetic of each element type, as libtorch's CPU kernels do it.

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

use crate::tensor::storage::Stored;

/// An element type with arithmetic.
pub(super) trait Number: Stored {
    /// `a + b`; integers wrap, booleans or.
    fn plus(self, other: Self) -> Self;
    /// `a - b`; integers wrap.
    fn minus(self, other: Self) -> Self;
    /// `a × b`; integers wrap, booleans and.
    fn times(self, other: Self) -> Self;
    /// `a / b`, true division; only floating and complex types are ever asked.
    fn over(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl Number for $type {
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn over(self, _: Self) -> Self { unreachable!("true division promotes integers to float first") }
        }
    )+};
}

integers!(u8, i8, i16, i32, i64);

macro_rules! floats {
    ($($type:ty),+) => {$(
        impl Number for $type {
            fn plus(self, other: Self) -> Self { self + other }
            fn minus(self, other: Self) -> Self { self - other }
            fn times(self, other: Self) -> Self { self * other }
            fn over(self, other: Self) -> Self { self / other }
        }
    )+};
}

// `half` computes in f32 and rounds, as libtorch does.
floats!(f16, bf16, f32, f64, Complex32, Complex64);

impl Number for bool {
    fn plus(self, other: Self) -> Self {
        self | other
    }
    fn minus(self, other: Self) -> Self {
        self ^ other
    }
    fn times(self, other: Self) -> Self {
        self & other
    }
    fn over(self, _: Self) -> Self {
        unreachable!("true division promotes booleans to float first")
    }
}
