//! Kinds of kernels: the words that stand before a row's kernel, and what follows from them.

use serde::Serialize;

macro_rules! kernels {
    ($($(#[$doc:meta])* $word:ident $kernel:ident: $family:ident, $rounding:ident;)+) => {
        /// The kind of a kernel: a loop over elements, or a module of functions in the reference.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Kernel {
            $($(#[$doc])* $kernel),+
        }

        impl Kernel {
            /// The family whose rules it follows.
            pub fn family(self) -> Family {
                match self {
                    $(Kernel::$kernel => Family::$family),+
                }
            }

            /// Returns where its results are rounded.
            pub fn rounding(self) -> Rounding {
                match self {
                    $(Kernel::$kernel => Rounding::$rounding),+
                }
            }
        }

        /// The kinds by the words that rows have for them.
        #[allow(non_upper_case_globals)]
        pub(super) mod word {
            use super::Kernel;

            $(pub const $word: Kernel = Kernel::$kernel;)+
        }
    };
}

kernels! {
    /// Sums of one operand and a multiple of the other.
    sum Sum: Pointwise, Once;
    /// Products and quotients of numbers.
    number Number: Pointwise, Once;
    /// The larger or smaller of two real numbers.
    real Real: Pointwise, Never;
    /// Remainders.
    divide Divide: Pointwise, Once;
    /// Quotients rounded to integers.
    quotient Quotient: Pointwise, Once;
    /// Sums and quotients that choose among loops.
    arithmetic Arithmetic: Pointwise, Once;
    /// Equality and truth values.
    compare Compare: Pointwise, Never;
    /// Order comparisons.
    order Order: Pointwise, Never;
    /// Functions of integers.
    integer Integer: Pointwise, Never;
    /// Functions of two floating-point numbers.
    float Float: Pointwise, Steps;
    /// Functions of two floating-point numbers that round after every operation to their dtype, in 16 bits, too.
    stepwise Stepwise: Pointwise, Steps;
    /// Functions with rules of their own on dtypes or operands.
    function Function: Pointwise, Steps;
    /// Random numbers.
    sampler Sampler: Pointwise, Never;
    /// Views: the same memory in another layout.
    view View: Views, Never;
    /// Views where the layout allows one, else copies.
    copy Copy: Views, Never;
    /// Copies of a tensor along its dimensions.
    repetition Repetition: Views, Never;
    /// Products of sets of elements.
    grid Grid: Views, Never;
    /// Triangles of matrices.
    triangle Triangle: Indexing, Never;
    /// Selection by a mask.
    mask Mask: Indexing, Never;
    /// Indices along one dimension.
    gather Gather: Indexing, Never;
    /// Slices of one dimension that are written at indices.
    slices Slices: Indexing, Sums;
    /// Elements that are combined at indices along one dimension.
    scatter Scatter: Indexing, Sums;
    /// Elements that are looked for among others.
    lookup Lookup: Indexing, Never;
    /// Tensors as indices.
    indexing Indexing: Indexing, Never;
    /// Values that are written to a part of a tensor.
    assignment Assignment: Indexing, Never;
    /// Products of vectors and matrices.
    product Product: Products, Sums;
    /// Sums, products and truth values of many elements.
    reduction Reduction: Reductions, Sums;
    /// Maxima and minima of many elements.
    extreme Extreme: Reductions, Never;
    /// Running sums and products.
    scan Scan: Reductions, Sums;
    /// Order statistics, and the most frequent element.
    ranked Ranked: Reductions, Never;
    /// Quantiles.
    quantile Quantile: Reductions, Steps;
    /// Variances and logarithms of sums.
    moment Moment: Reductions, Steps;
    /// Means and variances that a tensor is normalized by; it keeps its shape.
    normalization Normalization: Reductions, Steps;
    /// Norms.
    norm Norm: Reductions, Steps;
    /// Losses.
    loss Loss: Losses, Steps;
    /// Distances and similarities of vectors, and whether tensors are close.
    distance Distance: Losses, Steps;
    /// Integrals.
    integral Integral: Losses, Steps;
    /// Gradients.
    autograd Autograd: Autograd, Sums;
    /// Functions of sizes.
    sizes Sizes: Sizes, Never;
    /// Functions of dtypes.
    dtypes Dtypes: Dtypes, Never;
    /// Functions of PyTorch's Python front end alone.
    front_end FrontEnd: FrontEnd, Never;
}

/// The point at which a kernel rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// Nowhere: it moves elements, compares them, or computes with integers.
    Never,
    /// Once for each element, as IEEE 754 says.
    Once,
    /// After each of several operations, or in a transcendental function.
    Steps,
    /// After each term of a sum, whose order is free.
    Sums,
}

/// Operations that share rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Element by element, on operands that broadcast.
    Pointwise,
    /// The same memory in another layout, and copies where there is no such layout.
    Views,
    /// Masks and indices.
    Indexing,
    /// Products of vectors and matrices.
    Products,
    /// Many elements to one.
    Reductions,
    /// Losses, distances and integrals.
    Losses,
    /// Gradients.
    Autograd,
    /// Functions of sizes, without tensors.
    Sizes,
    /// Functions of dtypes, and of the dtypes of tensors.
    Dtypes,
    /// Functions that only PyTorch's Python front end has.
    FrontEnd,
}

impl Family {
    /// The classes of the family's rejections, roughly in the order in which libtorch checks for them. The exact order
    /// of an operation stands with its function in `reference`.
    pub fn rejections(self) -> &'static [&'static str] {
        match self {
            Family::Pointwise => &[
                "autograd",
                "argument",
                "dimension",
                "overlap",
                "size-mismatch",
                "expand",
                "output-shape",
                "impossible-size",
                "dtype",
                "zero-division",
            ],
            Family::Views => {
                &["autograd", "argument", "dtype", "dimension", "impossible-size", "size-mismatch", "expand", "view"]
            }
            Family::Indexing => &[
                "autograd",
                "argument",
                "dtype",
                "overlap",
                "view",
                "item-count",
                "dimension",
                "expand",
                "size-mismatch",
                "output-shape",
            ],
            Family::Products => &[
                "autograd",
                "einsum-equation",
                "einsum-operand",
                "argument",
                "dimension",
                "size-mismatch",
                "product-shape",
                "view",
                "expand",
                "output-shape",
                "overlap",
                "dtype",
                "singular",
            ],
            Family::Reductions => &[
                "autograd",
                "not-expandable",
                "argument",
                "size-mismatch",
                "dtype",
                "dimension",
                "item-count",
                "overlap",
            ],
            Family::Losses => &[
                "autograd",
                "argument",
                "dimension",
                "size-mismatch",
                "product-shape",
                "output-shape",
                "overlap",
                "dtype",
            ],
            Family::Autograd => &["not-expandable", "autograd", "dtype", "output-shape"],
            Family::Sizes => &["size-mismatch"],
            Family::Dtypes => &["dtype"],
            Family::FrontEnd => &["argument", "impossible-size", "size-mismatch"],
        }
    }
}
