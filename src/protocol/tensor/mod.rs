//! Tensors as data: element types, shapes, layouts and the memory behind them.
//!
//! Everything here is plain arithmetic on values. It knows no operation, no program and no implementation under test.

pub mod dtype;
pub mod element;
pub mod index;
pub mod layout;
pub mod scalar_type;
pub mod shape;
pub mod storage;

pub use dtype::{Category, DType};
pub use element::{Element, Scalar};
pub use index::IndexItem;
pub use layout::Layout;
pub use scalar_type::{ScalarKind, ScalarType};
pub use shape::Shape;
pub use storage::Buffer;
