//! What programs leave out, each for a reason that has a name.

use crate::error::Class;
use crate::ops::{Compare, Form, OpInfo, Param, ParamKind, ResultType, Signature};
use crate::program::{Arg, Outcome, Step, StorageRef, TensorValue};
use crate::tensor::{Category, DType, IndexItem, Layout, Scalar, Shape};

use super::draft::{Draft, Known, target};
use super::value::Tameness;

macro_rules! avoid {
    ($($(#[$doc:meta])* $variant:ident: $applies:path,)+) => {
        /// A kind of step that is left out of programs, because right implementations need not agree on it or because
        /// the reference is known to lack it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Avoid {
            $($(#[$doc])* $variant),+
        }

        impl Avoid {
            /// Every one.
            pub const ALL: &[Avoid] = &[$(Avoid::$variant),+];

            /// Whether the last step of the draft is to be left out, as far as that can be told before it is run, when
            /// there is no outcome, or after.
            pub(super) fn applies(self, draft: &Draft, outcome: Option<&Outcome>) -> bool {
                match self { $(Avoid::$variant => $applies(draft, outcome)),+ }
            }
        }
    };
}

impl Avoid {
    /// What the reference does not model yet. Each of these is a task, and goes when the task is done.
    pub const GAPS: &[Avoid] = &[Avoid::ResizedViews, Avoid::ResizedVariables];
}

avoid! {
    /// Sums and products of extremes, infinities and NaN, and gradients of them: what is lost depends on the order of the terms, and libtorch
    /// promises none.
    SumsOfExtremes: sums_of_extremes,
    /// The use of a result that is compared within a tolerance, or not in its strides: what is made of it has no
    /// tolerance of its own, and a comparison of it may go either way.
    UnspecifiedOperands: unspecified_operands,
    /// Writing to a tensor while another view of the same elements is read: PyTorch calls the result undefined where it
    /// does not refuse.
    OverlappingWrites: overlapping_writes,
    /// An `out=` tensor that must be resized while other tensors look at its storage. libtorch lets the storage grow
    /// under them; the reference replaces it.
    ResizedViews: resized_views,
    /// An `out=` tensor that requires grad and must be resized: the reference's graph keeps the old shape, and `backward`
    /// panics over it.
    ResizedVariables: resized_variables,
    /// In-place operations that gradients flow through: the reference keeps no copy of what was overwritten, so its
    /// `backward` takes the new elements for the old ones.
    InPlaceGradients: in_place_gradients,
    /// float16 with complex operands: the result is complex32, a dtype that broadcheck does not have.
    ComplexHalf: complex_half,
    /// Complex numbers written to a real tensor, of which libtorch warns.
    ComplexToReal: complex_to_real,
    /// `backward` with complex tensors: it needs a real root or a gradient of the root's own dtype, and says so in words
    /// that have the tensors in them.
    ComplexGradients: complex_gradients,
    /// Sums, differences and products of complex numbers that are no small integers, or with a number: the sign of a zero
    /// and what infinities come to depend on whether libtorch's vector loop has the element, and libtorch subtracts by
    /// adding the product with the negative of `alpha`.
    ComplexExtremes: complex_extremes,
    /// Division of complex numbers: not correctly rounded in libtorch, whose vector and scalar loops differ too.
    ComplexDivision: complex_division,
    /// `out=` of an order comparison of complex numbers, or with an `alpha`: libtorch has resized the tensor already when
    /// it refuses these.
    RefusedAfterResize: refused_after_resize,
    /// `alpha` that is beyond the dtype of the result, which libtorch refuses.
    LargeAlpha: large_alpha,
    /// Products of bool or of several dtypes, and einsum of integers: what is refused, in which words, and whether the
    /// result is int64, depends on the way that libtorch multiplies, and that on the sizes.
    ProductDtypes: product_dtypes,
    /// A refused einsum with a letter twice in one operand: libtorch compares the sizes of one operand with each other
    /// and with those of the operands before it in one go.
    RepeatedLetters: repeated_letters,
    /// `backward` with a gradient: libtorch may keep the given tensor itself as the gradient of a leaf.
    GivenGradients: given_gradients,
    /// Expansion to impossible sizes: libtorch multiplies them out first, and lets a tensor without dimensions have them.
    ImpossibleExpansions: impossible_expansions,
    /// A slice or an integer but 0, and nothing else, of a tensor without dimensions: libtorch has a message of its own
    /// for the slice, and reads a size that is not there for the integer.
    IndexedScalars: indexed_scalars,
    /// A factor `alpha` where the product is not exact: whether libtorch rounds it before the sum depends on the
    /// instruction set, and on the dtype.
    FusedFactors: fused_factors,
    /// float16 and bfloat16 with a number or a tensor without dimensions that the dtype rounds: libtorch computes with
    /// it unrounded.
    UnroundedScalars: unrounded_scalars,
    /// Elementwise results of rank 4 that are not row-major: libtorch prefers its channels-last order, with strides of
    /// its own for sizes of 1.
    ChannelsLast: channels_last,
}

fn sums_of_extremes(draft: &Draft, _: Option<&Outcome>) -> bool {
    let sums = draft.program.steps.last().is_some_and(|step| sums(step.op.info()));
    let wild = |known: &Known| known.tameness == Tameness::Wild;
    // What flows back is made of everything that gradients flow through.
    let gradients = signature(draft) == Some(Signature::Backward);
    (sums && operands(draft).any(wild)) || (gradients && draft.known.iter().any(|known| known.grad && wild(known)))
}

/// Whether elements are added up, whatever the table says of how the sums are compared.
pub(super) fn sums(info: &OpInfo) -> bool {
    info.compare == Compare::Tolerance || info.result == ResultType::Sum
}

fn unspecified_operands(draft: &Draft, _: Option<&Outcome>) -> bool {
    operands(draft).any(|known| known.tolerated)
}

fn overlapping_writes(draft: &Draft, outcome: Option<&Outcome>) -> bool {
    let Some(step) = draft.program.steps.last() else { return false };
    let Some(written) = target(Some(step)).and_then(|target| draft.find(target)) else { return false };
    if !matches!(outcome, Some(Outcome::Value(_))) {
        return false;
    }
    // The target of an in-place operation is its first operand too.
    let read = step.args.iter().skip(usize::from(step.form == Form::InPlace));
    let read = read.filter_map(|arg| if let Arg::Tensor(value) = arg { draft.find(*value) } else { None });
    let place = |known: &Known| place(draft, known);
    let mut others = read.filter(|known| place(known).id == place(written).id);
    others.any(|known| place(known) != place(written) || strides(known) != strides(written))
}

fn resized_views(draft: &Draft, _: Option<&Outcome>) -> bool {
    let Some(out) = resized(draft) else { return false };
    draft.known.iter().any(|known| known.at != out.at && place(draft, known).id == place(draft, out).id)
}

fn resized_variables(draft: &Draft, _: Option<&Outcome>) -> bool {
    resized(draft).is_some_and(|out| out.grad)
}

fn in_place_gradients(draft: &Draft, outcome: Option<&Outcome>) -> bool {
    let in_place = draft.program.steps.last().is_some_and(|step| step.form == Form::InPlace);
    in_place && matches!(outcome, Some(Outcome::Value(_))) && operands(draft).any(|known| known.grad)
}

/// The `out=` tensor of the last step if the result has another shape.
fn resized<'a>(draft: &'a Draft) -> Option<&'a Known> {
    let step = draft.program.steps.last()?;
    let out = draft.find(step.out?)?;
    let read = step.args.iter().filter_map(|arg| if let Arg::Tensor(value) = arg { draft.find(*value) } else { None });
    let result = read.map(|known| &known.tensor.shape).try_fold(Shape::scalar(), |shape, next| shape.broadcast(next));
    result.is_ok_and(|shape| shape != out.tensor.shape).then_some(out)
}

fn complex_half(draft: &Draft, _: Option<&Outcome>) -> bool {
    operands(draft).any(|known| known.tensor.dtype == DType::Float16) && has_complex(draft)
}

fn complex_to_real(draft: &Draft, outcome: Option<&Outcome>) -> bool {
    let written = target(draft.program.steps.last()).and_then(|target| draft.find(target));
    !refused(outcome) && written.is_some_and(|written| !is_complex(written)) && has_complex(draft)
}

fn complex_gradients(draft: &Draft, _: Option<&Outcome>) -> bool {
    signature(draft) == Some(Signature::Backward) && has_complex(draft)
}

fn complex_extremes(draft: &Draft, _: Option<&Outcome>) -> bool {
    let step = draft.program.steps.last().filter(|step| step.op.info().kernel == "number");
    let wild = operands(draft).any(|known| known.tameness < Tameness::Whole);
    let number = |arg: &Arg| matches!(arg, Arg::Number(_));
    has_complex(draft) && step.is_some_and(|step| wild || step.args[..2].iter().any(number))
}

fn complex_division(draft: &Draft, _: Option<&Outcome>) -> bool {
    let step = draft.program.steps.last();
    step.is_some_and(|step| step.op.info().result == ResultType::Float) && has_complex(draft)
}

fn refused_after_resize(draft: &Draft, outcome: Option<&Outcome>) -> bool {
    let step = draft.program.steps.last();
    let late = step.filter(|step| step.form == Form::Out).is_some_and(|step| match step.op.info().signature {
        Signature::Arithmetic => step.args[2] != Arg::Number(Scalar::Int(1)),
        _ => step.op.info().kernel == "order" && has_complex(draft),
    });
    refused(outcome) && late
}

fn large_alpha(draft: &Draft, _: Option<&Outcome>) -> bool {
    let large = |value: f64| value.is_finite() && value.abs() > 100.0;
    let alpha = draft.program.steps.last().and_then(|step| match (step.op.info().signature, step.args.get(2)) {
        (Signature::Arithmetic, Some(Arg::Number(alpha))) => Some(*alpha),
        _ => None,
    });
    alpha.is_some_and(|alpha| match alpha {
        Scalar::Bool(_) => false,
        Scalar::Int(value) => large(value as f64),
        Scalar::Float(value) => large(value),
        Scalar::Complex(value) => large(value.re) || large(value.im),
    })
}

fn product_dtypes(draft: &Draft, _: Option<&Outcome>) -> bool {
    let product = draft.program.steps.last().is_some_and(|step| step.op.info().kernel == "product");
    let first = operands(draft).next().map(|known| known.tensor.dtype);
    let einsum = signature(draft) == Some(Signature::Einsum);
    let lowest = if einsum { Category::Floating } else { Category::Integral };
    product && operands(draft).any(|known| known.tensor.dtype.category() < lowest || Some(known.tensor.dtype) != first)
}

fn repeated_letters(draft: &Draft, outcome: Option<&Outcome>) -> bool {
    let args = draft.program.steps.last().map_or(&[][..], |step| &step.args);
    let repeats = |side: &str| side.char_indices().any(|(at, letter)| letter != '.' && side[..at].contains(letter));
    let repeated = |arg: &Arg| matches!(arg, Arg::Text(equation) if equation.split([',', '-']).any(repeats));
    refused(outcome) && args.iter().any(repeated)
}

fn given_gradients(draft: &Draft, _: Option<&Outcome>) -> bool {
    signature(draft) == Some(Signature::Backward) && operands(draft).count() > 1
}

fn impossible_expansions(draft: &Draft, outcome: Option<&Outcome>) -> bool {
    let classes = [Some(Class::Expand), Some(Class::ImpossibleSize)];
    let expansion = matches!(outcome, Some(Outcome::Rejected(rejected)) if classes.contains(&rejected.class));
    let scalar = operands(draft).any(|known| known.tensor.shape.rank() == 0);
    let impossible = |&size: &i64| size < -1 || (size == -1 && scalar);
    let args = draft.program.steps.last().map_or(&[][..], |step| &step.args);
    expansion && args.iter().any(|arg| matches!(arg, Arg::Ints(sizes) if sizes.iter().any(impossible)))
}

fn indexed_scalars(draft: &Draft, _: Option<&Outcome>) -> bool {
    let args = draft.program.steps.last().map_or(&[][..], |step| &step.args);
    let alone = |items: &[IndexItem]| match items {
        [IndexItem::At(index)] => *index != 0,
        [item] => matches!(item, IndexItem::Slice { .. }),
        _ => false,
    };
    let index = args.iter().any(|arg| matches!(arg, Arg::Index(items) if alone(items)));
    index && operands(draft).any(|known| known.tensor.shape.rank() == 0)
}

fn fused_factors(draft: &Draft, _: Option<&Outcome>) -> bool {
    let step = draft.program.steps.last().filter(|step| step.op.info().signature == Signature::Arithmetic);
    let factor = step.filter(|step| step.args[2] != Arg::Number(Scalar::Int(1)));
    factor.is_some_and(|step| {
        let zero = matches!(step.args[2], Arg::Number(number) if number == Scalar::Int(0));
        zero || operands(draft).any(reduced)
            || operands(draft).any(|known| known.tameness < Tameness::Whole)
            || numbers(step).any(inexact)
    })
}

fn unrounded_scalars(draft: &Draft, _: Option<&Outcome>) -> bool {
    let Some(step) = draft.program.steps.last().filter(|step| step.op.info().kernel == "number") else { return false };
    let scalar = |known: &Known| known.tensor.shape.rank() == 0 && known.tensor.scalars().into_iter().any(inexact);
    operands(draft).any(reduced) && (operands(draft).any(scalar) || numbers(step).any(inexact))
}

fn channels_last(draft: &Draft, outcome: Option<&Outcome>) -> bool {
    let elementwise =
        draft.program.steps.last().is_some_and(|step| step.op.info().signature.params().iter().any(is_operand));
    let four = |tensor: &TensorValue| {
        let row_major = Layout::contiguous(tensor.shape.clone()).strides;
        tensor.shape.rank() == 4 && tensor.strides.as_ref().is_some_and(|strides| *strides != row_major)
    };
    elementwise && outcome.is_some_and(|outcome| outcome.tensors().iter().any(four))
}

fn numbers(step: &Step) -> impl Iterator<Item = Scalar> {
    step.args.iter().filter_map(|arg| if let Arg::Number(number) = arg { Some(*number) } else { None })
}

fn reduced(known: &Known) -> bool {
    matches!(known.tensor.dtype, DType::Float16 | DType::Bfloat16)
}

fn inexact(number: Scalar) -> bool {
    Tameness::of_number(number) < Tameness::Whole
}

fn refused(outcome: Option<&Outcome>) -> bool {
    matches!(outcome, Some(Outcome::Rejected(_)))
}

fn signature(draft: &Draft) -> Option<Signature> {
    draft.program.steps.last().map(|step| step.op.info().signature)
}

fn is_operand(param: &Param) -> bool {
    param.kind == ParamKind::Operand
}

fn is_complex(known: &Known) -> bool {
    known.tensor.dtype.category() == Category::Complex
}

/// Whether the last step has a complex tensor or number.
fn has_complex(draft: &Draft) -> bool {
    let number = |arg: &Arg| matches!(arg, Arg::Number(Scalar::Complex(_)));
    operands(draft).any(is_complex) || draft.program.steps.last().is_some_and(|step| step.args.iter().any(number))
}

/// The tensors that the last step reads or writes.
fn operands<'a>(draft: &'a Draft) -> impl Iterator<Item = &'a Known> {
    let uses = draft.program.steps.last().into_iter().flat_map(|step| step.uses());
    uses.filter_map(|used| draft.find(used))
}

/// Where a tensor lies. An input lies at the start of a storage of its own.
fn place(draft: &Draft, known: &Known) -> StorageRef {
    let input = || {
        debug_assert!(known.at.value < draft.program.inputs.len(), "the reference tells the storage of every result");
        StorageRef { id: known.at.value, offset: 0 }
    };
    known.tensor.storage.unwrap_or_else(input)
}

fn strides(known: &Known) -> Vec<i64> {
    let contiguous = || Layout::contiguous(known.tensor.shape.clone()).strides;
    known.tensor.strides.clone().unwrap_or_else(contiguous)
}
