//! The arguments of operations: parameters, their kinds and defaults, and the lists of them that operations share.

/// One parameter of a signature.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The documented name, usable as a keyword.
    pub name: &'static str,
    /// What it takes.
    pub kind: ParamKind,
    /// What it is when it is left out; `None` where it must be given.
    pub default: Option<ParamDefault>,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A tensor.
    Tensor,
    /// A tensor or a number.
    Operand,
    /// A number, or a tensor that stands for one: a value to be put somewhere, which takes no part in promotion.
    Value,
    /// All the remaining arguments, each a tensor.
    Tensors,
    /// A list of tensors, some of which may be missing: one for each of the first dimensions.
    Indices,
    /// All the remaining arguments, each a list of sizes or a single size.
    Shapes,
    /// A number.
    Number,
    /// An integer.
    Int,
    /// A list of integers.
    Ints,
    /// An integer or a list of integers.
    Dims,
    /// A floating-point number; an integer stands for one.
    Real,
    /// What a loss makes of its elements: `none`, `mean`, `sum`.
    Reduction,
    /// True or false.
    Flag,
    /// A dtype.
    Dtype,
    /// Text.
    Text,
    /// What stands between the brackets of `x[...]`, as text.
    Index,
}

/// The value of a parameter that is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamDefault {
    /// Python's `None`.
    Nothing,
    /// The integer 0.
    Zero,
    /// The integer 1.
    One,
    /// The integer 2.
    Two,
    /// The last dimension, -1.
    Last,
    /// False.
    False,
    /// True.
    True,
    /// The mean.
    Mean,
    /// A dimension.
    Dim(i64),
    /// A floating-point number.
    Real(f64),
}

/// What a loss can make of its elements, each at the place of the number by which libtorch's operators know it
/// (`at::Reduction`).
pub const REDUCTIONS: &[&str] = &["none", "mean", "sum"];

macro_rules! default {
    () => {
        None
    };
    ($default:ident) => {
        Some(ParamDefault::$default)
    };
    (($default:ident $value:expr)) => {
        Some(ParamDefault::$default($value))
    };
}

macro_rules! signatures {
    ($($(#[$doc:meta])* $variant:ident ($($name:literal $kind:ident $(= $default:tt)?),*))+) => {
        /// The arguments of an operation. An adapter turns each signature, not each operation, into calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Signature {
            $($(#[$doc])* $variant),+
        }

        impl Signature {
            /// The parameters, in order.
            #[inline]
            pub fn params(self) -> &'static [Param] {
                match self {
                    $(Signature::$variant => const { &[$(Param {
                        name: $name,
                        kind: ParamKind::$kind,
                        default: default!($($default)?),
                    }),*] }),+
                }
            }
        }
    };
}

signatures! {
    /// Two operands and a factor for the second.
    Arithmetic("self" Operand, "other" Operand, "alpha" Number = One)
    /// Two operands, and how their quotient is rounded.
    Division("self" Operand, "other" Operand, "rounding_mode" Text = Nothing)
    /// Two operands.
    Binary("self" Operand, "other" Operand)
    /// A tensor, and an operand that may be a number.
    TensorOperand("self" Tensor, "other" Operand)
    /// A base and an exponent.
    Power("self" Operand, "exponent" Operand)
    /// An argument and a degree.
    Polynomial("x" Operand, "n" Operand)
    /// Two tensors, the second with the values at zero.
    Step("self" Tensor, "values" Tensor)
    /// The two parts of complex numbers.
    Parts("real" Tensor, "imag" Tensor)
    /// Magnitudes and angles of complex numbers.
    PolarParts("abs" Tensor, "angle" Tensor)
    /// A tensor, two more, and a factor for what is made of those.
    Fused("self" Tensor, "tensor1" Tensor, "tensor2" Tensor, "value" Number = One)
    /// Two ends, and where to stand between them.
    Between("self" Tensor, "end" Tensor, "weight" Operand)
    /// A tensor and its bounds, either of which may be missing.
    Bounds("self" Tensor, "min" Operand = Nothing, "max" Operand = Nothing)
    /// A tensor and its lower bound.
    Lowest("self" Tensor, "min" Operand)
    /// A tensor and its upper bound.
    Highest("self" Tensor, "max" Operand)
    /// A condition and two operands to choose from.
    Choice("condition" Tensor, "self" Operand, "other" Operand)
    /// Two tensors, how far they may be apart, and whether NaN equals NaN.
    Closeness("self" Tensor, "other" Tensor, "rtol" Real = (Real 1e-5), "atol" Real = (Real 1e-8), "equal_nan" Flag = False)
    /// A tensor and the slopes of its channels.
    Slopes("self" Tensor, "weight" Tensor)
    /// A tensor and what is copied into it.
    Source("self" Tensor, "src" Tensor)
    /// A tensor and what it is filled with.
    Filled("self" Tensor, "value" Operand)
    /// One tensor.
    Unary("self" Tensor)
    /// Two tensors, no numbers.
    TwoTensors("self" Tensor, "other" Tensor)
    /// A tensor and a list of sizes or dimensions.
    Sizes("self" Tensor, "size" Ints)
    /// A tensor and a dimension.
    Dim("self" Tensor, "dim" Int)
    /// A tensor and two dimensions.
    TwoDims("self" Tensor, "dim0" Int, "dim1" Int)
    /// A tensor and two axes.
    TwoAxes("self" Tensor, "axis0" Int, "axis1" Int)
    /// A tensor, a dimension, and where it goes.
    Move("self" Tensor, "source" Int, "destination" Int)
    /// A tensor and a shape.
    Shape("self" Tensor, "shape" Ints)
    /// A tensor and a dimension, several, or all of them.
    Squeeze("self" Tensor, "dim" Dims = Nothing)
    /// A tensor, a dimension and an index.
    Select("self" Tensor, "dim" Int, "index" Int)
    /// A tensor, a dimension, where to start and how far to go.
    Narrow("self" Tensor, "dim" Int, "start" Int, "length" Int)
    /// A tensor, the first and the last of some dimensions.
    Flatten("self" Tensor, "start_dim" Int = Zero, "end_dim" Int = Last)
    /// A tensor, a dimension, and what it is split into.
    Unflatten("self" Tensor, "dim" Int, "sizes" Ints)
    /// A tensor, sizes, strides and perhaps the place of the first element.
    Strided("self" Tensor, "size" Ints, "stride" Ints, "storage_offset" Int = Nothing)
    /// A tensor and what stands between its brackets.
    Index("self" Tensor, "index" Index)
    /// A tensor and the tensors that index its first dimensions.
    IndexTensors("self" Tensor, "indices" Indices)
    /// The same, and the values to put there.
    IndexPut("self" Tensor, "indices" Indices, "values" Tensor, "accumulate" Flag = False)
    /// A tensor and a mask.
    Masked("self" Tensor, "mask" Tensor)
    /// A tensor, a mask, and the value that goes where the mask is true.
    MaskedFill("self" Tensor, "mask" Tensor, "value" Value)
    /// A tensor, a mask, and the elements that go where the mask is true.
    MaskedScatter("self" Tensor, "mask" Tensor, "source" Tensor)
    /// A tensor and indices along one dimension, or into all of it.
    TakeAlong("self" Tensor, "indices" Tensor, "dim" Int = Nothing)
    /// A tensor, a dimension, and indices along it.
    AlongDim("self" Tensor, "dim" Int, "index" Tensor)
    /// The same, and what goes there.
    Scatter("self" Tensor, "dim" Int, "index" Tensor, "src" Value)
    /// Any number of tensors.
    Tensors("tensors" Tensors)
    /// Any number of shapes.
    Shapes("shapes" Shapes)
    /// A reduction over a list of dimensions, or all of them.
    Reduction("self" Tensor, "dim" Dims = Nothing, "keepdim" Flag = False)
    /// A reduction over a list of dimensions, or all of them, of elements that are converted first.
    TypedReduction("self" Tensor, "dim" Dims = Nothing, "keepdim" Flag = False, "dtype" Dtype = Nothing)
    /// A reduction over one dimension, or all of them, of elements that are converted first.
    Product("self" Tensor, "dim" Int = Nothing, "keepdim" Flag = False, "dtype" Dtype = Nothing)
    /// A reduction over dimensions that must be named.
    NamedReduction("self" Tensor, "dim" Dims, "keepdim" Flag = False)
    /// A reduction to the index along one dimension, or among all elements.
    Position("self" Tensor, "dim" Int = Nothing, "keepdim" Flag = False)
    /// A variance: what is taken off the number of elements, as a number or as Bessel's correction or none.
    Variance(
        "self" Tensor, "dim" Dims = Nothing, "correction" Number = Nothing, "keepdim" Flag = False,
        "unbiased" Flag = Nothing
    )
    /// The same with two results.
    Moments(
        "self" Tensor, "dim" Dims = Nothing, "correction" Number = Nothing, "keepdim" Flag = False,
        "unbiased" Flag = Nothing
    )
    /// A norm: the exponent, then as a reduction.
    Norm(
        "self" Tensor, "ord" Number = Two, "dim" Dims = Nothing, "keepdim" Flag = False, "dtype" Dtype = Nothing
    )
    /// A reduction over no dimension, one, several, or all of them, each by an overload of its own.
    Truth("self" Tensor, "dim" Dims = Nothing, "keepdim" Flag = False)
    /// An equation and its operands.
    Einsum("equation" Text, "operands" Tensors)
    /// Two vectors.
    Tensors1D("self" Tensor, "tensor" Tensor)
    /// Two vectors, the second under the name that `outer` has for it.
    Vectors("self" Tensor, "vec2" Tensor)
    /// A matrix and a vector.
    MatrixVector("self" Tensor, "vec" Tensor)
    /// Two matrices.
    Matrices("self" Tensor, "mat2" Tensor)
    /// Two batches of matrices.
    Batches("self" Tensor, "mat2" Tensor)
    /// A summand and two matrices, with a factor for each part.
    Addmm("self" Tensor, "mat1" Tensor, "mat2" Tensor, "beta" Number = One, "alpha" Number = One)
    /// A summand, a matrix and a vector.
    Addmv("self" Tensor, "mat" Tensor, "vec" Tensor, "beta" Number = One, "alpha" Number = One)
    /// A summand and two vectors.
    Addr("self" Tensor, "vec1" Tensor, "vec2" Tensor, "beta" Number = One, "alpha" Number = One)
    /// A summand and two batches of matrices.
    BatchSum("self" Tensor, "batch1" Tensor, "batch2" Tensor, "beta" Number = One, "alpha" Number = One)
    /// Two tensors and the dimensions of each that are summed.
    Tensordot("self" Tensor, "other" Tensor, "dims_self" Ints, "dims_other" Ints)
    /// Two tensors and the dimension that holds their vectors.
    Vecdot("x" Tensor, "y" Tensor, "dim" Int = Last)
    /// Two tensors and a dimension of both.
    Along("self" Tensor, "other" Tensor, "dim" Int = Last)
    /// A matrix, the right side of its equation, and the side on which the matrix stands.
    Solve("A" Tensor, "B" Tensor, "left" Flag = True)
    /// A tensor to differentiate and, unless it has one element, the gradient to begin with.
    Backward("self" Tensor, "gradient" Tensor = Nothing)
    /// A switch of the front end, read without an argument.
    Setting("enabled" Flag = Nothing)
    /// A loss of two tensors.
    Loss("self" Tensor, "target" Tensor, "reduction" Reduction = Mean)
    /// A loss that is quadratic up to `beta`.
    SmoothLoss("self" Tensor, "target" Tensor, "reduction" Reduction = Mean, "beta" Real = (Real 1.0))
    /// A loss that is quadratic up to `delta`.
    HuberLoss("self" Tensor, "target" Tensor, "reduction" Reduction = Mean, "delta" Real = (Real 1.0))
    /// A loss of probabilities, with weights.
    EntropyLoss("self" Tensor, "target" Tensor, "weight" Tensor = Nothing, "reduction" Reduction = Mean)
    /// A loss of logits, with weights of the elements and of those that are true.
    LogitsLoss(
        "self" Tensor, "target" Tensor, "weight" Tensor = Nothing, "pos_weight" Tensor = Nothing,
        "reduction" Reduction = Mean
    )
    /// A divergence from a target, which may be given as a logarithm.
    Divergence("self" Tensor, "target" Tensor, "reduction" Reduction = Mean, "log_target" Flag = False)
    /// The likelihood of counts.
    PoissonLoss(
        "input" Tensor, "target" Tensor, "log_input" Flag = True, "full" Flag = False, "eps" Real = (Real 1e-8),
        "reduction" Reduction = Mean
    )
    /// A loss of two inputs that a target ranks or calls alike.
    PairLoss(
        "input1" Tensor, "input2" Tensor, "target" Tensor, "margin" Real = (Real 0.0), "reduction" Reduction = Mean
    )
    /// A loss of one input that a target calls alike or not.
    HingeLoss("self" Tensor, "target" Tensor, "margin" Real = (Real 1.0), "reduction" Reduction = Mean)
    /// A loss of an anchor and what is to be nearer to it, and farther from it.
    TripletLoss(
        "anchor" Tensor, "positive" Tensor, "negative" Tensor, "margin" Real = (Real 1.0), "p" Real = (Real 2.0),
        "eps" Real = (Real 1e-6), "swap" Flag = False, "reduction" Reduction = Mean
    )
    /// The cosine of vectors along a dimension.
    Similarity("x1" Tensor, "x2" Tensor, "dim" Int = (Dim 1), "eps" Real = (Real 1e-8))
    /// The distance of vectors along the last dimension.
    PairwiseDistance(
        "x1" Tensor, "x2" Tensor, "p" Real = (Real 2.0), "eps" Real = (Real 1e-6), "keepdim" Flag = False
    )
    /// The distances of every row of one matrix from every row of another.
    Cdist("x1" Tensor, "x2" Tensor, "p" Real = (Real 2.0), "compute_mode" Int = Nothing)
    /// The norm of a difference.
    Dist("self" Tensor, "other" Tensor, "p" Number = Two)
}
