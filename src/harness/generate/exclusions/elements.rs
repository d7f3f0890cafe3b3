//! Exclusions for elementwise operations, views and gradients.

use crate::generate::exclusions::*;

pub(super) fn rounded_steps(draft: &dyn Proposal) -> bool {
    let composed = |step: &&Step| step.op.info().family() == Family::Losses;
    let Some(step) = draft.program().steps.last().filter(composed) else { return false };
    let first = operands(draft).next().map(|known| known.tensor.dtype);
    let large =
        |known: &TensorState| known.tensor.elements().any(|element| Tameness::of_number(element) == Tameness::Wild);
    let large = |known: &TensorState| large(known) || known.tensor.elements().any(tiny);
    let other = |known: &TensorState| Some(known.tensor.dtype) != first;
    step.op.info().compare == Compare::Tolerance && (operands(draft).any(large) || operands(draft).any(other))
}

pub(super) fn complex_half(draft: &dyn Proposal) -> bool {
    operands(draft).any(|known| known.tensor.dtype == DType::Float16) && has_complex(draft)
}

pub(super) fn division_traps(draft: &dyn Proposal) -> bool {
    let Some(step) = draft.program().steps.last() else { return false };
    let divides = step.op == Op::Lcm || matches!(step.args.get(2), Some(Arg::Text(mode)) if mode == "trunc");
    // A number wraps around on its way into a narrower dtype, so any that ends in enough zeros may come to the least.
    let least = |number: Scalar| match number {
        Scalar::Int(value) => value != 0 && value.trailing_zeros() >= 31,
        Scalar::Float(value) => value.abs() >= 2147483648.0 || value.is_nan(),
        _ => false,
    };
    divides && (operands(draft).flat_map(|known| known.tensor.elements()).any(least) || numbers(step).any(least))
}

pub(super) fn zero_extrema(draft: &dyn Proposal) -> bool {
    let extremum = draft.program().steps.last().filter(|step| step.op.info().has(Quirk::RefusesComplex));
    let negative = |number: Scalar| matches!(number, Scalar::Float(value) if value == 0.0 && value.is_sign_negative());
    extremum.is_some() && operands(draft).any(|known| known.tensor.elements().any(negative))
}

pub(super) fn vector_remainders(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let Some(step) = draft.program().steps.last() else { return false };
    let info = step.op.info();
    let remainder = matches!(info.kernel, Kernel::Divide | Kernel::Quotient) || step.op == Op::Div;
    // Two vectors of four elements.
    let vectors = outcome.is_some_and(|outcome| outcome.tensors().iter().any(|tensor| tensor.shape.numel() >= 8));
    let far = |number: Scalar| match number {
        Scalar::Float(value) => value.abs() > 64.0 || value.is_nan() || (value != 0.0 && value.abs() < 0.01),
        Scalar::Int(value) => value.unsigned_abs() > 64,
        _ => false,
    };
    remainder
        && vectors
        && (operands(draft).flat_map(|known| known.tensor.elements()).any(far) || numbers(step).any(far))
}

pub(super) fn cancelled_logarithms(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let sum = draft.program().steps.last().is_some_and(|step| matches!(step.op, Op::Logaddexp | Op::Logaddexp2));
    let small = |size: f64| size > 0.0 && size < 0.25;
    let cancelled = |number: Scalar| match number {
        Scalar::Float(value) => small(value.abs()),
        Scalar::Complex(value) => small(value.re.abs()),
        _ => false,
    };
    let tensors = outcome.map_or(&[][..], |outcome| outcome.tensors());
    sum && tensors.iter().flat_map(TensorValue::elements).any(cancelled)
}

pub(super) fn complex_gradients(draft: &dyn Proposal) -> bool {
    let complex = |number| matches!(number, Scalar::Complex(_));
    last_op(draft) == Some(Op::Backward)
        && (has_complex(draft) || draft.program().steps.iter().any(|step| numbers(step).any(complex)))
}

pub(super) fn zero_points(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let zero = |tensor: &TensorValue| tensor.elements().any(|scalar| scalar == Scalar::Float(0.0));
    let tensors = outcome.map_or(&[][..], |outcome| outcome.tensors());
    last_op(draft) == Some(Op::Lerp) && tensors.iter().any(|tensor| tensor.shape.numel() >= 8 && zero(tensor))
}

pub(super) fn broadcast_bounds(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let Some(of) = operands(draft).next().filter(|_| last_op(draft) == Some(Op::Clamp)) else { return false };
    let tensors = outcome.map_or(&[][..], |outcome| outcome.tensors());
    of.grad && tensors.iter().any(|tensor| tensor.shape != of.tensor.shape)
}

pub(super) fn powers_of_truths(draft: &dyn Proposal) -> bool {
    let truth = |number| matches!(number, Scalar::Bool(_));
    matches!(last_op(draft), Some(Op::Pow | Op::FloatPower))
        && draft.program().steps.last().is_some_and(|step| numbers(step).any(truth))
        && operands(draft).any(|known| known.grad)
}

pub(super) fn uncountable_strides(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    const LARGEST_ELEMENT: u64 = 16;
    let countable = |shape: &Shape| {
        let mut sizes = shape.sizes().iter().map(|&size| size.max(1) as u64);
        sizes.try_fold(LARGEST_ELEMENT, |bytes: u64, size| bytes.checked_mul(size)).is_some_and(|bytes| bytes < 1 << 63)
    };
    let made = outcome.map_or(&[][..], |outcome| outcome.tensors()).iter().map(|tensor| &tensor.shape);
    let product = draft.program().steps.last().is_some_and(|step| step.op.info().family() == Family::Products);
    let large = |known: &TensorState| known.tensor.shape.sizes().iter().any(|&size| size >= 1 << 40);
    if product && operands(draft).any(large) {
        return true;
    }
    let mut shapes = operands(draft).map(|known| &known.tensor.shape).chain(made);
    shapes.any(|shape| shape.numel() == 0 && !countable(shape))
}

pub(super) fn spare_storage(draft: &dyn Proposal) -> bool {
    let inputs = draft.program().inputs.len();
    let step = draft.program().steps.last().filter(|step| step.op == Op::AsStrided);
    let maker = step.and_then(|step| draft.program().steps.get(step.uses().next()?.value.checked_sub(inputs)?));
    maker.is_some_and(|maker| maker.op.info().kernel == Kernel::Loss)
}

pub(super) fn repeated_factors(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let step = draft.program().steps.last().filter(|step| step.op.info().takes_alpha());
    let Some(step) = step.filter(|step| !is_unit(&step.args[2])) else { return false };
    let exact = matches!(step.args[2], Arg::Number(factor) if !rounds(factor));
    let made = outcome.and_then(|outcome| outcome.tensors().first());
    // Of these two, one is multiplied with the factor.
    step.args[..2].iter().any(|arg| match arg {
        Arg::Number(number) => !exact || rounds(*number),
        Arg::Tensor(value) => draft.find(*value).is_some_and(|known| {
            made.is_some_and(|made| made.shape != known.tensor.shape) && (!exact || known.tensor.elements().any(rounds))
        }),
        _ => false,
    })
}

pub(super) fn complex_extremes(draft: &dyn Proposal) -> bool {
    let product = |step: &&Step| match step.op.info() {
        info if info.takes_alpha() => !is_unit(&step.args[2]),
        info => is_arithmetic(info),
    };
    let Some(step) = draft.program().steps.last().filter(product) else { return false };
    let mut elements = operands(draft).flat_map(|known| known.tensor.elements());
    has_complex(draft) && (elements.any(rounds) || numbers(step).any(rounds))
}

/// Returns whether it is a function that works element by element and is more than arithmetic.
fn is_function(info: &OpInfo) -> bool {
    info.family() == Family::Pointwise && info.kernel.rounding() == Rounding::Steps
}

/// Returns whether elements are added, subtracted or multiplied one by one, by an outer product too.
pub(super) fn is_arithmetic(info: &OpInfo) -> bool {
    info.kernel == Kernel::Number || (info.family() == Family::Products && info.compare == Compare::Bits)
}

pub(super) fn complex_division(draft: &dyn Proposal) -> bool {
    let step = draft.program().steps.last();
    step.is_some_and(|step| step.op.info().result == ResultType::Float) && has_complex(draft)
}

pub(super) fn refused_after_resize(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let product = draft.program().steps.last().is_some_and(|step| step.op.info().family() == Family::Products);
    refused(outcome) && (resized(draft).is_some() || (product && draft.reshaped()))
}

pub(super) fn complex_functions(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let computes = draft.program().steps.last().is_some_and(|step| match step.op.info() {
        info if !is_function(info) || !info.dtypes.contains(DType::Complex64) => false,
        info if info.result == ResultType::Bool => operands(draft).any(|known| known.tameness < Tameness::Whole),
        info => matches!(info.result, ResultType::Promoted | ResultType::Float | ResultType::Double),
    });
    computes && has_complex(draft) && !refused(outcome)
}

pub(super) fn bounds_of_zeros(draft: &dyn Proposal) -> bool {
    let bounds = matches!(last_op(draft), Some(Op::Clamp | Op::ClampMin | Op::ClampMax));
    let negative_zero =
        |scalar: Scalar| matches!(scalar, Scalar::Float(value) if value == 0.0 && value.is_sign_negative());
    let step = draft.program().steps.last();
    let number = step.is_some_and(|step| numbers(step).any(negative_zero));
    bounds && (number || operands(draft).any(|known| known.tensor.elements().any(negative_zero)))
}

pub(super) fn polynomials_of_nan(draft: &dyn Proposal) -> bool {
    let nan = |scalar: Scalar| matches!(scalar, Scalar::Float(value) if value.is_nan());
    let number = draft.program().steps.last().is_some_and(|step| numbers(step).any(nan));
    is_polynomial(draft) && (number || operands(draft).any(|known| known.tensor.elements().any(nan)))
}

pub(super) fn signs_of_nan(draft: &dyn Proposal) -> bool {
    let nan = |scalar: Scalar| matches!(scalar, Scalar::Float(value) if value.is_nan());
    let number = draft.program().steps.last().is_some_and(|step| numbers(step).any(nan));
    last_op(draft) == Some(Op::Copysign) && (number || operands(draft).any(|known| known.tensor.elements().any(nan)))
}

pub(super) fn widened_results(draft: &dyn Proposal) -> bool {
    let Some(step) = draft.program().steps.last() else { return false };
    let Some(target) = step.target().and_then(|target| draft.find(target)) else { return false };
    let wide = |known: &TensorState| known.tensor.dtype == target.tensor.dtype;
    matches!(step.op.info().compare, Compare::Ulps(_)) && step.form != Form::Functional && {
        let read = step.args.iter().skip(usize::from(step.form == Form::InPlace));
        let mut read = read.filter_map(|arg| if let Arg::Tensor(value) = arg { draft.find(*value) } else { None });
        !read.any(wide)
    }
}

pub(super) fn saved_results(draft: &dyn Proposal) -> bool {
    let Some(step) = draft.program().steps.last().filter(|step| step.form == Form::InPlace) else { return false };
    let plain = |op: Op| {
        let info = op.info();
        let once = info.kernel.rounding() == Rounding::Once || info.kernel == Kernel::Real;
        once || info.family() == Family::Views
    };
    let inputs = draft.program().inputs.len();
    let maker = |known: &TensorState| draft.program().steps.get(known.at.value.checked_sub(inputs)?);
    let storage = step.target().and_then(|target| draft.find(target)).map(|target| target.place().id);
    let mut views = draft.known().iter().filter(|known| Some(known.place().id) == storage);
    let mut made = || views.any(|view| maker(view).is_some_and(|maker| !plain(maker.op)));
    operands(draft).any(|known| known.grad) && (!plain(step.op) || made())
}

pub(super) fn empty_ldexp(draft: &dyn Proposal) -> bool {
    let ldexp = draft.program().steps.last().is_some_and(|step| step.op == Op::Ldexp);
    ldexp && operands(draft).any(|known| known.tensor.shape.numel() == 0)
}

pub(super) fn written_variables(draft: &dyn Proposal) -> bool {
    let step = draft.program().steps.last().filter(|step| step.form == Form::Out);
    let out = step.and_then(|step| draft.find(step.out?));
    out.is_some_and(|out| out.grad)
}

pub(super) fn long_recurrences(draft: &dyn Proposal) -> bool {
    let step = draft.program().steps.last();
    let zeta = step.is_some_and(|step| step.op == Op::SpecialZeta);
    let long = |number: Scalar| f64::from_scalar(number).abs() > 300.0;
    (zeta || is_polynomial(draft))
        && (step.is_some_and(|step| numbers(step).any(long))
            || operands(draft).any(|known| known.tensor.elements().any(long)))
}

pub(super) fn rounded_exponents(draft: &dyn Proposal) -> bool {
    let rounded = |number: Scalar| match number {
        Scalar::Bool(_) => false,
        Scalar::Int(value) => f64::from(value as f32) != value as f64,
        Scalar::Float(value) => f64::from(value as f32) != value && !value.is_nan(),
        Scalar::Complex(_) => false,
    };
    let step = draft.program().steps.last();
    matches!(last_op(draft), Some(Op::Pow | Op::FloatPower)) && step.is_some_and(|step| numbers(step).any(rounded))
}

pub(super) fn mixed_gradients(draft: &dyn Proposal) -> bool {
    let function = draft.program().steps.last().is_some_and(|step| is_function(step.op.info()));
    let grad = operands(draft).any(|known| known.grad);
    let dtype = |known: &TensorState| known.tensor.dtype;
    let first = operands(draft).next().map(dtype);
    let mixed = |known: &TensorState| dtype(known).category() < Category::Floating || Some(dtype(known)) != first;
    function && grad && operands(draft).any(mixed)
}

pub(super) fn undefined_copies(draft: &dyn Proposal) -> bool {
    let copies = matches!(last_op(draft), Some(Op::Copy | Op::Fill));
    let to_integers = operands(draft).next().is_some_and(|known| known.tensor.dtype.category() <= Category::Integral);
    copies && to_integers && operands(draft).skip(1).any(|known| known.tameness == Tameness::Wild)
}

pub(super) fn ldexp_to_others(draft: &dyn Proposal) -> bool {
    let step = draft.program().steps.last();
    step.is_some_and(|step| step.op.name() == "ldexp" && step.form == Form::Out)
        && operands(draft).any(|known| known.tensor.dtype.category() <= Category::Integral)
}

pub(super) fn complex_of_halves(draft: &dyn Proposal) -> bool {
    let parts = matches!(last_op(draft), Some(Op::Complex | Op::Polar));
    parts && operands(draft).any(|known| known.tensor.dtype == DType::Float16)
}

pub(super) fn given_gradients(draft: &dyn Proposal) -> bool {
    last_op(draft) == Some(Op::Backward) && operands(draft).count() > 1
}

pub(super) fn gradients_halfway(draft: &dyn Proposal) -> bool {
    draft.halfway() && draft.program().steps.last().is_some_and(|step| step.op == Op::Grad)
}

pub(super) fn impossible_expansions(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let impossible = matches!(outcome, Some(Outcome::Rejected(it)) if it.class == Some(Class::ImpossibleSize));
    let args = draft.program().steps.last().map_or(&[][..], |step| &step.args);
    let empty = || operands(draft).any(|known| known.tensor.shape.sizes().contains(&0));
    let hidden = |sizes: &[i64]| (empty() || sizes.contains(&0)) && sizes.iter().any(|&size| size < 0);
    impossible && args.iter().any(|arg| matches!(arg, Arg::Ints(sizes) if hidden(sizes)))
}

pub(super) fn indexed_scalars(draft: &dyn Proposal) -> bool {
    let args = draft.program().steps.last().map_or(&[][..], |step| &step.args);
    let alone = |items: &[IndexItem]| matches!(items, [IndexItem::At(index)] if *index != 0);
    let index = args.iter().any(|arg| matches!(arg, Arg::Index(items) if alone(items)));
    index && operands(draft).any(|known| known.tensor.shape.rank() == 0)
}

pub(super) fn fused_factors(draft: &dyn Proposal, outcome: Option<&Outcome>) -> bool {
    let step = draft.program().steps.last().filter(|step| step.op.info().takes_alpha());
    let tensors = outcome.map_or(&[][..], |outcome| outcome.tensors());
    // Twice the elements mean the same, says a rule of the definition oracle.
    let vectors = tensors.iter().any(|tensor| 2 * tensor.shape.numel() >= VECTOR);
    vectors && operands(draft).any(reduced) && step.is_some_and(|step| !is_unit(&step.args[2]))
}

/// The fewest elements of 16 bits that libtorch's vector loop takes at a time.
pub(super) const VECTOR: usize = 32;

/// Returns whether an argument is a factor that changes no number but in its sign.
pub(super) fn is_unit(factor: &Arg) -> bool {
    matches!(factor, Arg::Number(Scalar::Int(1 | -1)))
}

/// Returns whether a product with a scalar may be rounded.
pub(super) fn rounds(number: Scalar) -> bool {
    let small = |value: f64| !value.is_finite() || (value.fract() == 0.0 && value.abs() <= 64.0);
    match number {
        Scalar::Bool(_) => false,
        Scalar::Int(value) => !small(value as f64),
        Scalar::Float(value) => !small(value),
        Scalar::Complex(value) => !small(value.re) || !small(value.im),
    }
}
