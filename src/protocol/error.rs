//! Rejections as data: what was refused and the numbers that decided it. [`crate::wording`] turns them into text.

mod faults;
mod functions;
mod indexing;
mod losses;
mod pointwise;
mod products;
mod reductions;
mod views;

use serde::{Deserialize, Serialize};

use crate::tensor::DType;

pub use functions::{FunctionFault, NAMES};
pub use indexing::{DtypePair, IndexFault};
pub use losses::LossFault;
pub use pointwise::{Node, PointwiseFault};
pub use products::ProductFault;
pub(crate) use products::WORDS;
pub use reductions::ReductionFault;
pub use views::ViewFault;

/// Why an operation refused its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Two sizes differ and neither is 1 (`infer_size_impl`); `dim` counts in the broadcast shape.
    SizeMismatch { a: i64, b: i64, dim: usize },
    /// The tensor that is written to would have to grow (`TensorIteratorBase::mark_resize_outputs`).
    OutputShape { output: Vec<i64>, broadcast: Vec<i64> },
    /// `expand` to fewer dimensions than the tensor has.
    ExpandRank { dtype: DType, tensor: Vec<i64>, target: Vec<i64> },
    /// `expand` of a dimension that is neither 1 nor the wanted size.
    ExpandSize { wanted: i64, existing: i64, dim: usize, target: Vec<i64>, tensor: Vec<i64> },
    /// `expand` with -1 for a dimension that the tensor does not have.
    ExpandLeading { size: i64, dim: usize },
    /// `sum_to_size` to a shape that the tensor is no expansion of.
    NotExpandable { from: Vec<i64>, to: Vec<i64> },
    /// `torch.broadcast_shapes` (Python): two sizes differ and neither is 1; `dim` counts from the end, from -1.
    ShapesMismatch { size: String, dim: i64, argument: usize, shape: String, expected: Vec<i64> },
    /// `torch.broadcast_shapes` (Python): a number that is not an integer.
    ShapesFloat { value: String },
    /// `torch.broadcast_shapes` (Python): a character of a text, where a size is compared with 0.
    ShapesText,
    /// `torch.broadcast_shapes` (Python): a negative size.
    ShapesNegative,
    /// A dimension number outside of `low..=high`.
    DimensionRange { low: i64, high: i64, got: i64 },
    /// The same dimension twice in a reduction.
    DimensionRepeated { dim: usize },
    /// `permute` with a list of the wrong length.
    PermuteRank { got: usize, rank: usize },
    /// `permute` with a dimension twice.
    PermuteRepeated,
    /// More integers and slices between the brackets than the tensor has dimensions.
    TooManyIndices { rank: usize },
    /// An integer index outside of the dimension.
    IndexRange { index: i64, dim: usize, size: i64 },
    /// `view` or `reshape` to a shape with another number of elements.
    ViewSize { target: Vec<i64>, numel: usize },
    /// `view` to a shape that strides cannot express.
    ViewStride,
    /// The result's dtype is of a higher category than the tensor it would be written to.
    CannotCast { from: DType, to: DType },
    /// `alpha` is of a higher category than the result.
    Alpha { kind: AlphaKind },
    /// `-` with two boolean operands.
    BoolSubtract,
    /// `-` with a boolean scalar or tensor on one side.
    BoolSubtractOne,
    /// The tensor that is written to names one element twice.
    InternalOverlap,
    /// The tensor that is written to overlaps an operand in part.
    PartialOverlap,
    /// `item()` of anything but one element.
    ItemCount { numel: usize },
    /// An integer index into a tensor of no dimensions.
    IndexScalar,
    /// More than one -1 among the sizes of a view.
    ViewInferred,
    /// A size below -1 among the sizes of a view.
    ViewNegative { size: i64, at: usize, target: Vec<i64> },
    /// A -1 among the sizes of a view of an empty tensor, where any size would do.
    ViewAmbiguous { target: Vec<i64> },
    /// A shape whose number of elements does not fit into 64 bits.
    Numel,
    /// An einsum equation or its operands.
    Einsum(EinsumFault),
    /// `backward` of more than one element without a gradient.
    GradNeedsScalar,
    /// `backward` of a tensor that nothing differentiable made.
    NoGradient,
    /// The gradient given to `backward` has a shape that the tensor's does not expand to (`validate_outputs`).
    InvalidGradient { gradient: Vec<i64>, output: Vec<i64> },
    /// `out=` while gradients are kept for an operand.
    OutNeedsGrad { name: &'static str },
    /// `backward` through what it has gone through before.
    Freed,
    /// In-place on a leaf that requires grad.
    LeafInPlace,
    /// In-place on a view of a leaf that requires grad.
    LeafViewInPlace,
    /// An elementwise operation.
    Pointwise(PointwiseFault),
    /// A function that works element by element.
    Function(FunctionFault),
    /// A view.
    View(ViewFault),
    /// Masks and indices.
    Index(IndexFault),
    /// A product.
    Product(ProductFault),
    /// A reduction.
    Reduction(ReductionFault),
    /// A loss or a distance.
    Loss(LossFault),
}

macro_rules! families {
    ($($variant:ident $fault:ident),+) => {
        $(impl From<$fault> for Rejection {
            fn from(fault: $fault) -> Rejection {
                Rejection::$variant(fault)
            }
        })+

        impl Rejection {
            /// One rejection of each text of the families.
            pub(crate) fn family_samples(names: &[&'static str]) -> Vec<Rejection> {
                let mut samples = Vec::new();
                $(samples.extend($fault::samples(names).into_iter().map(Rejection::$variant));)+
                samples
            }
        }
    };
}

families!(
    Pointwise PointwiseFault, Function FunctionFault, View ViewFault, Index IndexFault, Product ProductFault, Reduction ReductionFault,
    Loss LossFault
);

/// What `alpha` may not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlphaKind {
    /// A boolean, unless the result is boolean.
    Bool,
    /// A float, when the result is integral.
    Float,
    /// A complex number, when the result is not complex.
    Complex,
}

/// What is wrong with an einsum (`at::einsum`, ATen/native/Linear.cpp).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EinsumFault {
    /// No operand at all.
    NoOperands,
    /// A character that is no letter.
    InvalidSubscript { at: usize },
    /// A single or double dot.
    IncompleteEllipsis { operand: Option<usize> },
    /// Two ellipses in one operand.
    SecondEllipsis { operand: Option<usize> },
    /// Fewer operands than the equation names.
    TooFewOperands,
    /// More operands than the equation names.
    TooManyOperands,
    /// An operand has another number of dimensions than letters, and no ellipsis.
    SubscriptCount { subscripts: usize, rank: usize, operand: usize, ellipsis: bool },
    /// A letter twice in one operand, with different sizes.
    RepeatedSizes { label: char, operand: usize, first: i64, second: i64 },
    /// A letter with sizes that do not broadcast.
    SizeMismatch { label: char, size: i64, operand: usize, seen: i64 },
    /// An output letter that no operand has.
    UnknownOutput { label: char },
    /// An output letter twice.
    RepeatedOutput { label: char },
    /// The ellipses of two operands do not broadcast.
    EllipsisMismatch { dim: usize, size: i64, operand: usize, seen: i64 },
}

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident $name:literal),+ $(,)?) => {
        /// The portable kind of a rejection: what any library that has these semantics would call it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Class {
            $($(#[$doc])* #[serde(rename = $name)] $class),+
        }

        impl Class {
            /// Every class.
            pub const ALL: &[Class] = &[$(Class::$class),+];

            /// The name that cases and reports use.
            pub fn name(self) -> &'static str {
                match self { $(Class::$class => $name),+ }
            }
        }
    };
}

classes! {
    /// Operand shapes do not broadcast together.
    SizeMismatch "size-mismatch",
    /// An in-place target or `out=` would have to change shape.
    OutputShape "output-shape",
    /// `expand` cannot produce the wanted shape.
    Expand "expand",
    /// A gradient or `sum_to_size` target is no shape that expands to the tensor's.
    NotExpandable "not-expandable",
    /// A size that no tensor can have: negative, or too large.
    ImpossibleSize "impossible-size",
    /// A dimension number or an index out of range, repeated, or too many.
    Dimension "dimension",
    /// A view that needs another number of elements, or strides that do not exist.
    View "view",
    /// A dtype that the operation or the target does not take.
    Dtype "dtype",
    /// Memory that is written to overlaps itself or an operand.
    Overlap "overlap",
    /// More than one element where one was needed.
    ItemCount "item-count",
    /// Inner sizes of a product differ.
    ProductShape "product-shape",
    /// An einsum equation is malformed.
    EinsumEquation "einsum-equation",
    /// The operands of an einsum do not fit its equation.
    EinsumOperand "einsum-operand",
    /// An argument that is none of the values that the operation takes.
    Argument "argument",
    /// Integers divided by zero.
    ZeroDivision "zero-division",
    /// A matrix that has no inverse.
    Singular "singular",
    /// Autograd refuses.
    Autograd "autograd",
}

impl Rejection {
    /// The portable class.
    pub fn class(&self) -> Class {
        match self {
            Rejection::SizeMismatch { .. } | Rejection::ShapesMismatch { .. } => Class::SizeMismatch,
            Rejection::OutputShape { .. } => Class::OutputShape,
            Rejection::ExpandRank { .. } | Rejection::ExpandSize { .. } | Rejection::ExpandLeading { .. } => {
                Class::Expand
            }
            Rejection::NotExpandable { .. } | Rejection::InvalidGradient { .. } => Class::NotExpandable,
            Rejection::ShapesFloat { .. } | Rejection::ShapesText => Class::Argument,
            Rejection::ShapesNegative | Rejection::Numel => Class::ImpossibleSize,
            Rejection::DimensionRange { .. }
            | Rejection::DimensionRepeated { .. }
            | Rejection::PermuteRank { .. }
            | Rejection::PermuteRepeated
            | Rejection::TooManyIndices { .. }
            | Rejection::IndexScalar
            | Rejection::IndexRange { .. } => Class::Dimension,
            Rejection::ViewSize { .. }
            | Rejection::ViewStride
            | Rejection::ViewInferred
            | Rejection::ViewAmbiguous { .. }
            | Rejection::ViewNegative { .. } => Class::View,
            Rejection::CannotCast { .. }
            | Rejection::Alpha { .. }
            | Rejection::BoolSubtract
            | Rejection::BoolSubtractOne => Class::Dtype,
            Rejection::InternalOverlap | Rejection::PartialOverlap => Class::Overlap,
            Rejection::ItemCount { .. } => Class::ItemCount,
            Rejection::Einsum(fault) => fault.class(),
            Rejection::Pointwise(fault) => fault.class(),
            Rejection::Function(fault) => fault.class(),
            Rejection::View(fault) => fault.class(),
            Rejection::Index(fault) => fault.class(),
            Rejection::Product(fault) => fault.class(),
            Rejection::Reduction(fault) => fault.class(),
            Rejection::Loss(fault) => fault.class(),
            Rejection::GradNeedsScalar
            | Rejection::NoGradient
            | Rejection::OutNeedsGrad { .. }
            | Rejection::Freed
            | Rejection::LeafInPlace
            | Rejection::LeafViewInPlace => Class::Autograd,
        }
    }
}

impl EinsumFault {
    fn class(&self) -> Class {
        match self {
            EinsumFault::InvalidSubscript { .. }
            | EinsumFault::IncompleteEllipsis { .. }
            | EinsumFault::SecondEllipsis { .. }
            | EinsumFault::UnknownOutput { .. }
            | EinsumFault::RepeatedOutput { .. } => Class::EinsumEquation,
            EinsumFault::NoOperands
            | EinsumFault::TooFewOperands
            | EinsumFault::TooManyOperands
            | EinsumFault::SubscriptCount { .. }
            | EinsumFault::RepeatedSizes { .. }
            | EinsumFault::SizeMismatch { .. }
            | EinsumFault::EllipsisMismatch { .. } => Class::EinsumOperand,
        }
    }
}

impl Class {
    /// The class called `name`.
    pub fn parse(name: &str) -> Option<Class> {
        Class::ALL.iter().copied().find(|class| class.name() == name)
    }
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
