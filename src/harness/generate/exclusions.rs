//! Exclusions: the programs that are left out, each for a reason that has a name.

use std::collections::HashMap;

use crate::error::Class;
use crate::ops::{Compare, Family, Form, Kernel, Op, OpInfo, ParamKind, Quirk, ResultType, Rounding};
use crate::program::{Arg, Outcome, Step, TensorValue, Value};
use crate::tensor::element::Element;
use crate::tensor::{Category, DType, IndexItem, Layout, Scalar, Shape};

use crate::generate::tensor_state::Proposal;
use crate::generate::tensor_state::TensorState;
use crate::generate::value::Tameness;

mod elements;
mod families;

use elements::*;
use families::*;

macro_rules! exclusions {
    ($($(#[$doc:meta])* $variant:ident: $applies:ident($($of:ident),+),)+) => {
        /// A kind of step that is left out of programs, because right implementations need not agree on it or because
        /// the reference is known to lack it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Exclusion {
            $($(#[$doc])* $variant),+
        }

        impl Exclusion {
            /// Every one.
            pub const ALL: &[Exclusion] = &[$(Exclusion::$variant),+];

            /// Returns whether the last step of the draft is to be left out, as far as that can be decided before it is
            /// run, when there is no outcome, or after.
            pub(super) fn applies(self, draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
                match self { $(Exclusion::$variant => exclusions!(@ $applies, draft, outcome; $($of)+)),+ }
            }
        }
    };
    // What does not look at the outcome is the same before and after.
    (@ $applies:ident, $draft:ident, $outcome:ident; draft) => { $outcome.is_none() && $applies($draft) };
    (@ $applies:ident, $draft:ident, $outcome:ident; draft outcome) => { $applies($draft, $outcome) };
}

impl Exclusion {
    /// The exclusions for programs that the reference cannot run, or not in time.
    pub const GAPS: &[Exclusion] = &[Exclusion::LongRecurrences];
}

exclusions! {
    /// Sums and products of extremes, infinities and NaN, and gradients of them: what is lost depends on the order of the terms, and libtorch
    /// promises none.
    SumsOfExtremes: sums_of_extremes(draft, outcome),
    /// The use of a result that is compared within a tolerance, or not in its strides: what is made of it has no
    /// tolerance of its own, and a comparison of it may go either way.
    UnspecifiedOperands: unspecified_operands(draft, outcome),
    /// Losses and distances that are within a tolerance, of operands of several dtypes, of large integers, or of numbers
    /// whose squares are lost: a step in the narrower dtype may be a unit off, which shows in the wider one, and no sum is
    /// exact.
    RoundedSteps: rounded_steps(draft),
    /// Losses without elements: the strides of what is empty follow from every step.
    EmptyLosses: empty_losses(draft, outcome),
    /// Writing to a tensor while another view of the same elements is read: PyTorch calls the result undefined where it
    /// does not refuse.
    OverlappingWrites: overlapping_writes(draft, outcome),
    /// float16 with complex operands: the result is complex32, a dtype that broadcheck does not have.
    ComplexHalf: complex_half(draft),
    /// The least number of int32 and int64 in a division that is truncated, or in a least common multiple: divided by -1,
    /// libtorch's process ends with SIGFPE.
    DivisionTraps: division_traps(draft),
    /// The negative zero as an operand of an extremum: which of two zeros libtorch takes depends on the element's place in
    /// the tensor and on the dtype, and IEEE 754 leaves it open.
    ZeroExtrema: zero_extrema(draft),
    /// Remainders, and quotients rounded to the floor, of numbers that are far from each other, and of infinities, where
    /// there are enough elements for libtorch's vector loop, which gives NaN where the loop over single elements is exact.
    VectorRemainders: vector_remainders(draft, outcome),
    /// `backward` with complex tensors: it needs a real root or a gradient of the root's own dtype, and says so in words
    /// that have the tensors in them. And after a complex number, which makes gradients complex even if it is real.
    ComplexGradients: complex_gradients(draft),
    /// Products of complex numbers, and sums with a factor, that are rounded or overflow: whether libtorch rounds the
    /// products that they are made of before it adds them depends on the element's place in the tensor.
    ComplexExtremes: complex_extremes(draft),
    /// Division of complex numbers: not correctly rounded in libtorch, whose vector and scalar loops differ too.
    ComplexDivision: complex_division(draft),
    /// An `out=` tensor that has grown when the operation is refused: what is in the new memory is anything.
    RefusedAfterResize: refused_after_resize(draft, outcome),
    /// The least or greatest of zeros of both signs: which one libtorch's vector loop comes to depends on where they stand.
    SignedZeros: signed_zeros(draft),
    /// Products that may be beyond the dtype on their way: whether they come back depends on the order.
    LargeProducts: large_products(draft, outcome),
    /// Norms with an exponent beyond 4, below 1/2, or that is no number: what is lost is raised to a power.
    ExtremeNorms: extreme_norms(draft, outcome),
    /// A reduction of complex numbers to float16 or bfloat16: libtorch converts them twice for some strides, and warns
    /// each time.
    LostParts: lost_parts(draft, outcome),
    /// Reductions that libtorch gets wrong, as the adapter's list of known divergences shows: truths of numbers that are
    /// no integers between 0 and 255 in uint8, `logsumexp` over an empty list of dimensions, the variance of
    /// everything from float16 to another dtype, the gradient of a variance over an empty list, and `mean` to integers,
    /// which is refused after it has written.
    ReductionFaults: reduction_faults(draft),
    /// A variance without a degree of freedom, of numbers that are rounded: whether it is zero or next to nothing that is
    /// divided by zero depends on the order of the sum.
    NoFreedom: no_freedom(draft, outcome),
    /// A reduction that is refused once its `out=` tensor has grown: the new elements are anything.
    GrownAndRefused: grown_and_refused(draft, outcome),
    /// A product written to the storage of one of its operands, unless it is an in-place summand: libtorch resizes the
    /// tensor, sets it to zero or fills it before it has read the operand.
    WrittenFactors: written_factors(draft),
    /// Linear equations with a matrix of which rounding decides whether it has an inverse, or how far off the solution is:
    /// any without a column of zeros whose diagonal elements do not outweigh the others of their columns. And one without
    /// an inverse where there is an `out=` tensor: it holds by then what the elimination came to.
    UnstableEquations: unstable_equations(draft, outcome),
    /// A refused `out=` of a loss, whose target has been resized already, and one into one of its operands: libtorch
    /// takes the dimensions of the target away before it reads them.
    LossesOfTarget: losses_of_target(draft, outcome),
    /// Functions of complex numbers that are no choice among them: libtorch's vector and scalar loops differ in what
    /// infinities and zeros come to, and in the last places.
    ComplexFunctions: complex_functions(draft, outcome),
    /// Bounds of tensors with negative zeros: which of two zeros comes out depends on whether libtorch's vector loop has the
    /// element.
    BoundsOfZeros: bounds_of_zeros(draft),
    /// Polynomials of NaN, for which libtorch gives whatever was in memory.
    PolynomialsOfNan: polynomials_of_nan(draft),
    /// Logarithms of sums that come close to zero: what cancels was rounded before.
    CancelledLogarithms: cancelled_logarithms(draft, outcome),
    /// `copysign` with NaN, whose sign nothing promises.
    SignsOfNan: signs_of_nan(draft),
    /// A function that is compared in units in the last place, written to a wider dtype than it is computed in: the units
    /// are those of the narrower one.
    WidenedResults: widened_results(draft),
    /// In-place operations on what gradients flow through, other than arithmetic on results of arithmetic and views: many
    /// operations keep their result for the gradient, and libtorch refuses once that is overwritten.
    SavedResults: saved_results(draft),
    /// `ldexp` of no elements, whose strides are those of a tensor in between.
    EmptyLdexp: empty_ldexp(draft),
    /// `out=` of what gradients flow through, where libtorch lets it be: its graph goes on with the tensor as it was.
    WrittenVariables: written_variables(draft),
    /// Polynomials of a degree beyond a few hundred, and the zeta function from far below zero: libtorch takes a step for each
    /// degree, and so does the reference.
    LongRecurrences: long_recurrences(draft),
    /// Powers with an exponent that float32 rounds: libtorch's loop over single elements takes it as it is, the vector loop
    /// does not.
    RoundedExponents: rounded_exponents(draft),
    /// Gradients of functions whose operands are of several dtypes: the formulas that libtorch differentiates them by
    /// refuse some, in the words of the operations that they are made of, and round what others come to in between.
    MixedGradients: mixed_gradients(draft),
    /// Copies of fractions that an integer dtype cannot hold, which C++ leaves undefined.
    UndefinedCopies: undefined_copies(draft),
    /// `ldexp` with integers to a tensor of another dtype, over which libtorch fails an assertion of its own.
    LdexpToOthers: ldexp_to_others(draft),
    /// `complex` and `polar` of float16: the result has a dtype that broadcheck does not have.
    ComplexOfHalves: complex_of_halves(draft),
    /// Summands that libtorch handles otherwise in one product than in the others: `addbmm_` lets its target grow, and
    /// `addmv` of an empty matrix gives the result the shape of a summand that should have broadcast.
    LooseSummands: loose_summands(draft, outcome),
    /// `backward` with a gradient: libtorch may keep the given tensor itself as the gradient of a leaf.
    GivenGradients: given_gradients(draft),
    /// `grad` after a `backward` that was refused: some gradients have arrived by then, in an order that is libtorch's own.
    GradientsHalfway: gradients_halfway(draft),
    /// A negative size that a 0 beside it hides: libtorch only multiplies the sizes out, and makes such a tensor.
    ImpossibleExpansions: impossible_expansions(draft, outcome),
    /// An integer but 0, and nothing else, of a tensor without dimensions: libtorch reads a size that is not there.
    IndexedScalars: indexed_scalars(draft),
    /// `gather` and its like into a tensor that they read, too, and refused ones into a tensor that was resized first, or with an index out of range after others that were
    /// written already: what the target holds then is whatever the loop had come to.
    GathersInPart: gathers_in_part(draft, outcome),
    /// `gather` and `scatter` refused for one of several bad indices: which one libtorch names depends on the loop, the
    /// dimension of the indices being its inner or its outer one.
    SeveralBadIndices: several_bad_indices(draft, outcome),
    /// `lerp` that comes to zero where there are enough elements for libtorch's vector loop: the sign of the zero depends on
    /// which of its loops has the element.
    ZeroPoints: zero_points(draft, outcome),
    /// The gradient of `clamp` whose bounds broadcast its operand: libtorch gives it the shape of the result.
    BroadcastBounds: broadcast_bounds(draft, outcome),
    /// The gradient of a power of a truth, which fails an assertion of libtorch's own.
    PowersOfTruths: powers_of_truths(draft),
    /// Tensors without elements whose row-major strides are more bytes than can be counted: whether libtorch refuses them, or
    /// makes strides of what is left of the overflow, depends on the tensors that it makes on its way.
    UncountableStrides: uncountable_strides(draft, outcome),
    /// `as_strided` of a loss: there may be memory behind its one element, where libtorch had the losses of all elements.
    SpareStorage: spare_storage(draft),
    /// Sums with a factor and an operand that is broadcast, whose product is not exact: libtorch's loops differ in whether
    /// they round it before the sum.
    RepeatedFactors: repeated_factors(draft, outcome),
    /// A factor `alpha` of float16 and bfloat16 where the product is not exact and there are enough elements for libtorch's
    /// vector loop, which does not round the product before the sum. The loop over single elements does.
    FusedFactors: fused_factors(draft, outcome),
}

fn sums_of_extremes(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let sums = draft.program().steps.last().is_some_and(sums);
    let wild = |known: &TensorState| known.tameness == Tameness::Wild;
    // What flows back is made of everything that gradients flow through.
    let gradients = last_op(draft) == Some(Op::Backward);
    // Integers have no order to care for, unless they are made floats first.
    let large = |known: &TensorState| known.tensor.elements().any(|x| Tameness::of_number(x) == Tameness::Wild);
    let floats = |tensor: &TensorValue| tensor.dtype.category() >= Category::Floating;
    let converted = outcome.is_some_and(|outcome| outcome.tensors().iter().any(floats));
    // Of float16 what has fewer digits than others of its dtype is small enough to be lost.
    let short = |known: &TensorState, number: Scalar| {
        let small = |value: f64| value != 0.0 && value.abs() < f64::from(half::f16::MIN_POSITIVE);
        known.tensor.dtype == DType::Float16 && matches!(number, Scalar::Float(value) if small(value))
    };
    let lost =
        |known: &TensorState| wild(known) || known.tensor.elements().any(|number| tiny(number) || short(known, number));
    (sums && (operands(draft).any(|known| wild(known) || (converted && large(known))) || wild_factor(draft)))
        || (gradients && (draft.known().iter().any(|known| known.grad && lost(known)) || extremes(draft)))
}

/// Returns whether a scalar of any step is an extreme, or next to nothing.
fn extremes(draft: &dyn Proposal) -> bool {
    let wild = |number: Scalar| Tameness::of_number(number) == Tameness::Wild || tiny(number);
    draft.program().steps.iter().any(|step| numbers(step).any(wild))
}

/// Returns whether the square of a scalar is zero in single precision, and one over it infinite.
fn tiny(number: Scalar) -> bool {
    matches!(number, Scalar::Float(value) if value != 0.0 && value.abs() < 1e-15)
}

/// Returns whether a scalar of the last step is an extreme, by which a sum is multiplied.
fn wild_factor(draft: &dyn Proposal) -> bool {
    let wild = |number: Scalar| Tameness::of_number(number) == Tameness::Wild;
    draft.program().steps.last().is_some_and(|step| numbers(step).any(wild))
}

/// Returns whether elements are added up, whatever the table says of how the sums are compared.
pub(super) fn sums(step: &Step) -> bool {
    step.compare() == Compare::Tolerance || step.op.info().result == ResultType::Sum
}

fn unspecified_operands(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    // What is within units in the last place may be summed and differentiated, which are compared within a tolerance: that
    // of its own dtype. The distance of two numbers that should be equal has a root that is far from zero.
    let tolerant = draft.program().steps.last().is_some_and(|step| {
        let info = step.op.info();
        (info.compare == Compare::Tolerance && info.kernel != Kernel::Distance) || info.family() == Family::Autograd
    });
    let made = outcome.map_or(&[][..], |outcome| outcome.tensors());
    let other = |known: &TensorState| made.iter().any(|made| made.dtype != known.tensor.dtype);
    operands(draft).any(|known| known.tolerated || (known.inexact && (!tolerant || other(known))))
}

fn overlapping_writes(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let Some(step) = draft.program().steps.last() else { return false };
    let Some(written) = step.target().and_then(|target| draft.find(target)) else { return false };
    let target = match outcome {
        Some(Outcome::Value(Value::Tensor(result))) => {
            let (Some(strides), Some(storage)) = (result.strides.clone(), result.storage) else { return false };
            Layout { shape: result.shape.clone(), strides, offset: storage.offset }
        }
        // What came before the zero, or the index that is out of range, has been written.
        Some(Outcome::Rejected(rejected)) if rejected.class == Some(Class::ZeroDivision) => written.layout(),
        Some(Outcome::Rejected(rejected))
            if rejected.class == Some(Class::Dimension) && last_op(draft) == Some(Op::IndexPut) =>
        {
            written.layout()
        }
        _ => return false,
    };
    if target.shape.numel() > crate::generate::MAX_LARGE_ELEMENTS {
        return false;
    }
    // The target of an in-place operation is its first operand too.
    let read = step.args.iter().skip(usize::from(step.form == Form::InPlace));
    let (indices, operands): (Vec<&Arg>, Vec<&Arg>) = read.partition(|arg| matches!(arg, Arg::Indices(_)));
    let beside = |args: Vec<&Arg>| -> Vec<&TensorState> {
        let known = args.into_iter().flat_map(Arg::uses).filter_map(|value| draft.find(value));
        known.filter(|known| known.place().id == written.place().id).collect()
    };
    let (indices, mut operands) = (beside(indices), beside(operands));
    // What is read where it is written, element by element, is read in time.
    operands.retain(|known| known.layout() != target);
    if indices.is_empty() && operands.is_empty() && target.is_dense() {
        return false;
    }
    let places: HashMap<usize, usize> = target.positions().enumerate().map(|(at, place)| (place, at)).collect();
    // Strides of `as_strided` can bring different indices to the same place, which libtorch does not look for.
    if places.len() < target.shape.numel() {
        return true;
    }
    let touches = |own: Layout| {
        own.shape.numel() <= crate::generate::MAX_LARGE_ELEMENTS
            && own.positions().any(|place| places.contains_key(&place))
    };
    // An index that is written to names another place from then on.
    indices.iter().any(|known| touches(known.layout()))
        || operands.iter().any(|known| match known.layout().expand(&target.shape) {
            Some(own) => own.positions().enumerate().any(|(at, place)| places.get(&place).is_some_and(|it| *it != at)),
            None => touches(known.layout()),
        })
}

/// The `out=` tensor of the last step if the result has another shape.
fn resized(draft: &dyn Proposal) -> Option<&TensorState> {
    let step = draft.program().steps.last()?;
    let out = draft.find(step.out?)?;
    let read = step.args.iter().filter_map(|arg| if let Arg::Tensor(value) = arg { draft.find(*value) } else { None });
    let result = read.map(|known| &known.tensor.shape).try_fold(Shape::scalar(), |shape, next| shape.broadcast(next));
    result.is_ok_and(|shape| shape != out.tensor.shape).then_some(out)
}

fn numbers(step: &Step) -> impl Iterator<Item = Scalar> {
    step.args.iter().filter_map(|arg| if let Arg::Number(number) = arg { Some(*number) } else { None })
}

fn reduced(known: &TensorState) -> bool {
    matches!(known.tensor.dtype, DType::Float16 | DType::Bfloat16)
}

fn refused(outcome: Option<&Outcome>) -> bool {
    matches!(outcome, Some(Outcome::Rejected(_)))
}

fn last_op(draft: &dyn Proposal) -> Option<Op> {
    draft.program().steps.last().map(|step| step.op)
}

fn is_polynomial(draft: &dyn Proposal) -> bool {
    last_op(draft).is_some_and(|op| op.name().contains("_polynomial_"))
}

fn is_complex(known: &TensorState) -> bool {
    known.tensor.dtype.category() == Category::Complex
}

/// Returns whether the last step has a complex tensor or scalar.
fn has_complex(draft: &dyn Proposal) -> bool {
    let number = |arg: &Arg| matches!(arg, Arg::Number(Scalar::Complex(_)));
    operands(draft).any(is_complex) || draft.program().steps.last().is_some_and(|step| step.args.iter().any(number))
}

/// The tensors that the last step reads or writes.
fn operands(draft: &dyn Proposal) -> impl Iterator<Item = &TensorState> {
    draft.operands().iter().map(|&at| &draft.known()[at])
}
