//! Conditions on elementwise operations, views and gradients.

use crate::ops::{Compare, Family, Form, Kernel, Op, Quirk, ResultType, Rounding};
use crate::program::{Arg, Outcome, Step, TensorValue};
use crate::relaxations::conditions::*;
use crate::relaxations::tameness::Tameness;
use crate::relaxations::tracker::{Scene, TensorState};
use crate::tensor::element::Element;
use crate::tensor::{Category, DType, IndexItem, Scalar, Shape};

pub(crate) fn rounded_steps(scene: Scene) -> bool {
    let composed = |step: &&Step| step.op.info().family() == Family::Losses;
    let Some(step) = scene.last().filter(composed) else { return false };
    let first = scene.operands().next().map(|known| known.tensor.dtype);
    let large =
        |known: &TensorState| known.tensor.elements().any(|element| Tameness::of_number(element) <= Tameness::Special);
    let large = |known: &TensorState| large(known) || known.tensor.elements().any(tiny);
    let other = |known: &TensorState| Some(known.tensor.dtype) != first;
    step.op.info().compare == Compare::Tolerance && (scene.operands().any(large) || scene.operands().any(other))
}

pub(crate) fn extreme_slopes(scene: Scene) -> bool {
    let slope = |step: &&Step| matches!(step.op, Op::SmoothL1LossBackward | Op::HuberLossBackward);
    let Some(step) = scene.last().filter(slope) else { return false };
    // A product of four numbers between these is no extreme of the dtype; 16 bits are widened.
    let double = scene.operands().any(|known| known.tensor.dtype == DType::Float64);
    let (least, most) = if double { (1e-77, 1e77) } else { (1e-9, 1e9) };
    let extreme = |number: Scalar| {
        let size = f64::from_scalar(number).abs();
        size != 0.0 && !(least..=most).contains(&size)
    };
    numbers(step).any(extreme) || scene.operands().any(|known| known.tensor.elements().any(extreme))
}

pub(crate) fn complex_half(scene: Scene) -> bool {
    let parts = matches!(last_op(scene), Some(Op::Complex | Op::Polar));
    // Functions of dtypes make no tensor of it.
    last_op(scene).is_some_and(|op| op.info().family() != Family::Dtypes)
        && scene.operands().any(|known| known.tensor.dtype == DType::Float16)
        && (parts || has_complex(scene))
}

pub(crate) fn division_traps(scene: Scene) -> bool {
    let Some(step) = scene.last() else { return false };
    let divides = step.op == Op::Lcm || matches!(step.args.get(2), Some(Arg::Text(mode)) if mode == "trunc");
    // A number wraps around on its way into a narrower dtype, so any that ends in enough zeros may come to the least.
    let least = |number: Scalar| match number {
        Scalar::Int(value) => value != 0 && value.trailing_zeros() >= 31,
        Scalar::Float(value) => value.abs() >= 2147483648.0 || value.is_nan(),
        _ => false,
    };
    divides && (scene.operands().flat_map(|known| known.tensor.elements()).any(least) || numbers(step).any(least))
}

pub(crate) fn endless_trials(scene: Scene) -> bool {
    let Some(step) = scene.last().filter(|step| step.op == Op::Binomial) else { return false };
    let Some(Arg::Tensor(count)) = step.args.first() else { return false };
    let known = scene.find(*count);
    known.is_none_or(|known| known.tensor.elements().any(|count| !f64::from_scalar(count).is_finite()))
}

pub(crate) fn zero_extrema(scene: Scene) -> bool {
    let extremum = scene.last().filter(|step| step.op.info().has(Quirk::RefusesComplex));
    let negative = |number: Scalar| matches!(number, Scalar::Float(value) if value == 0.0 && value.is_sign_negative());
    extremum.is_some() && scene.operands().any(|known| known.tensor.elements().any(negative))
}

pub(crate) fn cancelled_logarithms(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let sum = scene.last().is_some_and(|step| matches!(step.op, Op::Logaddexp | Op::Logaddexp2));
    let small = |size: f64| size > 0.0 && size < 0.25;
    let cancelled = |number: Scalar| match number {
        Scalar::Float(value) => small(value.abs()),
        Scalar::Complex(value) => small(value.re.abs()),
        _ => false,
    };
    let tensors = outcome.map_or(&[][..], |outcome| outcome.tensors());
    sum && tensors.iter().flat_map(TensorValue::elements).any(cancelled)
}

pub(crate) fn complex_gradients(scene: Scene) -> bool {
    let complex = |number| matches!(number, Scalar::Complex(_));
    last_op(scene) == Some(Op::Backward)
        && (has_complex(scene) || scene.steps.iter().any(|step| numbers(step).any(complex)))
}

pub(crate) fn zero_points(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let zero = |tensor: &TensorValue| tensor.elements().any(|scalar| scalar == Scalar::Float(0.0));
    let tensors = outcome.map_or(&[][..], |outcome| outcome.tensors());
    last_op(scene) == Some(Op::Lerp) && tensors.iter().any(|tensor| tensor.shape.numel() >= 8 && zero(tensor))
}

pub(crate) fn uncountable_strides(scene: Scene, outcome: Option<&Outcome>) -> bool {
    const LARGEST_ELEMENT: u64 = 16;
    let countable = |shape: &Shape| {
        let mut sizes = shape.sizes().iter().map(|&size| size.max(1) as u64);
        sizes.try_fold(LARGEST_ELEMENT, |bytes: u64, size| bytes.checked_mul(size)).is_some_and(|bytes| bytes < 1 << 63)
    };
    let made = outcome.map_or(&[][..], |outcome| outcome.tensors()).iter().map(|tensor| &tensor.shape);
    let product = scene.last().is_some_and(|step| step.op.info().family() == Family::Products);
    let large = |known: &TensorState| known.tensor.shape.sizes().iter().any(|&size| size >= 1 << 40);
    if product && scene.operands().any(large) {
        return true;
    }
    let mut shapes = scene.operands().map(|known| &known.tensor.shape).chain(made);
    shapes.any(|shape| shape.numel() == 0 && !countable(shape))
}

pub(crate) fn spare_storage(scene: Scene) -> bool {
    let inputs = scene.inputs.len();
    let step = scene.last().filter(|step| step.op == Op::AsStrided);
    let maker = step.and_then(|step| scene.steps.get(step.uses().next()?.value.checked_sub(inputs)?));
    maker.is_some_and(|maker| maker.op.info().kernel == Kernel::Loss)
}

pub(crate) fn repeated_factors(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let step = scene.last().filter(|step| step.op.info().takes_alpha());
    let Some(step) = step.filter(|step| !is_unit(&step.args[2])) else { return false };
    let exact = matches!(step.args[2], Arg::Number(factor) if !rounds(factor));
    let made = outcome.and_then(|outcome| outcome.tensors().first());
    // Of these two, one is multiplied with the factor.
    step.args[..2].iter().any(|arg| match arg {
        Arg::Number(number) => !exact || rounds(*number),
        Arg::Tensor(value) => scene.find(*value).is_some_and(|known| {
            made.is_some_and(|made| made.shape != known.tensor.shape) && (!exact || known.tensor.elements().any(rounds))
        }),
        _ => false,
    })
}

pub(crate) fn complex_extremes(scene: Scene) -> bool {
    let product = |step: &&Step| match step.op.info() {
        info if info.takes_alpha() => !is_unit(&step.args[2]),
        info => is_arithmetic(info),
    };
    let Some(step) = scene.last().filter(product) else { return false };
    let mut elements = scene.operands().flat_map(|known| known.tensor.elements());
    has_complex(scene) && (elements.any(rounds) || numbers(step).any(rounds))
}

pub(crate) fn complex_division(scene: Scene) -> bool {
    let step = scene.last();
    step.is_some_and(|step| step.op.info().result == ResultType::Float) && has_complex(scene)
}

pub(crate) fn refused_after_resize(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let product = scene.last().is_some_and(|step| step.op.info().family() == Family::Products);
    refused(outcome) && (resized(scene).is_some() || (product && scene.tracker.reshaped))
}

pub(crate) fn grown_bools(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let out = scene.last().and_then(|step| scene.find(step.out?));
    let products = scene.last().is_some_and(|step| step.op.info().family() == Family::Products);
    // Whether a product into its own operand is rejected is open, too.
    let open = refused(outcome) || (products && outcome.is_some());
    open && out.is_some_and(|out| out.tensor.dtype == DType::Bool) && scene.tracker.reshaped
}

pub(crate) fn complex_functions(scene: Scene, outcome: Option<&Outcome>) -> bool {
    use Op::{Addcdiv, Addcmul, FloatPower, Ldexp, Lerp, Pow};
    let computes = scene.last().is_some_and(|step| match step.op {
        Pow | FloatPower | Addcmul | Addcdiv | Lerp | Ldexp => true,
        Op::SigmoidBackward | Op::TanhBackward | Op::SiluBackward => true,
        Op::Isclose => scene.operands().any(|known| known.tameness < Tameness::Whole),
        _ => false,
    });
    computes && has_complex(scene) && !refused(outcome)
}

pub(crate) fn turning_powers(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let Some(step) = scene.last().filter(|step| matches!(step.op, Op::Pow | Op::FloatPower)) else { return false };
    let magnitude = |number: Scalar| match number {
        Scalar::Complex(value) if !value.is_finite() => f64::INFINITY,
        Scalar::Complex(value) => value.norm(),
        number => f64::from_scalar(number).abs(),
    };
    let largest = |arg: &Arg, size: &dyn Fn(f64) -> f64| {
        let sizes: Vec<f64> = match arg {
            Arg::Number(number) => vec![size(magnitude(*number))],
            Arg::Tensor(value) => scene
                .find(*value)
                .map_or_else(Vec::new, |known| known.tensor.elements().map(|each| size(magnitude(each))).collect()),
            _ => Vec::new(),
        };
        // A power of 0, of an infinity or of NaN turns nowhere, and so does one by an infinity or by NaN.
        sizes.into_iter().filter(|size| size.is_finite()).fold(0.0, f64::max)
    };
    let logarithm = largest(&step.args[0], &|size| size.ln().abs());
    let turns = largest(&step.args[1], &|size| size) * logarithm.max(1.0);
    turns > TURNS && has_complex(scene) && !refused(outcome)
}

/// An angle beyond which the rounding error of the logarithm is a part of a turn.
const TURNS: f64 = 1e6;

pub(crate) fn complex_logarithms(scene: Scene, outcome: Option<&Outcome>) -> bool {
    last_op(scene) == Some(Op::Logaddexp) && has_complex(scene) && !refused(outcome)
}

pub(crate) fn bounds_of_zeros(scene: Scene) -> bool {
    let bounds = matches!(last_op(scene), Some(Op::Clamp | Op::ClampMin | Op::ClampMax));
    let negative_zero =
        |scalar: Scalar| matches!(scalar, Scalar::Float(value) if value == 0.0 && value.is_sign_negative());
    let step = scene.last();
    let number = step.is_some_and(|step| numbers(step).any(negative_zero));
    bounds && (number || scene.operands().any(|known| known.tensor.elements().any(negative_zero)))
}

pub(crate) fn signs_of_nan(scene: Scene) -> bool {
    let nan = |scalar: Scalar| matches!(scalar, Scalar::Float(value) if value.is_nan());
    let number = scene.last().is_some_and(|step| numbers(step).any(nan));
    last_op(scene) == Some(Op::Copysign) && (number || scene.operands().any(|known| known.tensor.elements().any(nan)))
}

pub(crate) fn widened_results(scene: Scene) -> bool {
    let Some(step) = scene.last() else { return false };
    let Some(target) = step.target().and_then(|target| scene.find(target)) else { return false };
    let wide = |known: &TensorState| known.tensor.dtype == target.tensor.dtype;
    let rounds = step.op.info().compare != Compare::Bits || step.op == Op::Addr || has_complex(scene);
    rounds && step.form != Form::Functional && {
        let read = step.args.iter().skip(usize::from(step.form == Form::InPlace));
        let mut read = read.filter_map(|arg| if let Arg::Tensor(value) = arg { scene.find(*value) } else { None });
        !read.any(wide)
    }
}

pub(crate) fn saved_results(scene: Scene) -> bool {
    let Some(step) = scene.last().filter(|step| step.form == Form::InPlace) else { return false };
    let plain = |op: Op| {
        let info = op.info();
        let once = info.kernel.rounding() == Rounding::Once || info.kernel == Kernel::Real;
        once || info.family() == Family::Views
    };
    let inputs = scene.inputs.len();
    let maker = |known: &TensorState| scene.steps.get(known.at.value.checked_sub(inputs)?);
    let storage = step.target().and_then(|target| scene.find(target)).map(|target| target.place().id);
    let mut views = scene.known().iter().filter(|known| Some(known.place().id) == storage);
    let mut made = || views.any(|view| maker(view).is_some_and(|maker| !plain(maker.op)));
    scene.operands().any(|known| known.grad) && (!plain(step.op) || made())
}

pub(crate) fn empty_ldexp(scene: Scene) -> bool {
    let ldexp = scene.last().is_some_and(|step| step.op == Op::Ldexp);
    ldexp && scene.operands().any(|known| known.tensor.shape.numel() == 0)
}

pub(crate) fn written_variables(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let Some(step) = scene.last().filter(|step| step.form == Form::Out) else { return false };
    let Some(out) = step.out.and_then(|out| scene.find(out)) else { return false };
    let inputs = scene.inputs.len();
    let maker = |known: &TensorState| scene.steps.get(known.at.value.checked_sub(inputs)?);
    let uses = |maker: &Step| maker.uses().any(|used| used == out.at);
    // The indices of a result are kept for its gradient.
    let beside = |known: &TensorState| known.at.value == out.at.value && known.at != out.at;
    let saved = || scene.known().iter().any(|known| known.grad && (beside(known) || maker(known).is_some_and(uses)));
    out.grad || (refused(outcome) && saved())
}

pub(crate) fn long_recurrences(scene: Scene) -> bool {
    let step = scene.last();
    let zeta = step.is_some_and(|step| step.op == Op::SpecialZeta);
    let long = |number: Scalar| f64::from_scalar(number).abs() > 300.0;
    (zeta || is_polynomial(scene))
        && (step.is_some_and(|step| numbers(step).any(long))
            || scene.operands().any(|known| known.tensor.elements().any(long)))
}

pub(crate) fn complex_compositions(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let products = scene.last().is_some_and(|step| match step.op {
        Op::Addcdiv | Op::Addcmul | Op::Ldexp | Op::Lerp | Op::SiluBackward => true,
        // Of a tensor they are products for some exponents.
        Op::Pow | Op::FloatPower => matches!(step.args[0], Arg::Tensor(_)),
        _ => false,
    });
    products && complex_functions(scene, outcome) && {
        let made = outcome.map_or(&[][..], |outcome| outcome.tensors()).iter().flat_map(TensorValue::elements);
        // The square overflows in single precision.
        let overflows = |number: Scalar| !weight(number).is_finite() || weight(number) > 1e18;
        made.chain(scene.operands().flat_map(|known| known.tensor.elements())).any(overflows)
    }
}

pub(crate) fn mixed_gradients(scene: Scene) -> bool {
    let function = scene.last().is_some_and(|step| {
        let info = step.op.info();
        let composed = info.family() == Family::Pointwise && info.kernel.rounding() == Rounding::Steps;
        composed || step.op == Op::SmoothL1LossBackward
    });
    let floats =
        || scene.operands().map(|known| known.tensor.dtype).filter(|dtype| dtype.category() >= Category::Floating);
    function && scene.operands().any(|known| known.grad) && floats().any(|dtype| Some(dtype) != floats().next())
}

pub(crate) fn undefined_sums(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let sums = matches!(last_op(scene), Some(Op::Sum | Op::Nansum | Op::Prod | Op::Cumsum | Op::Cumprod));
    let integral = |tensor: &TensorValue| tensor.dtype.category() == Category::Integral;
    let floats = |known: &TensorState| known.tensor.dtype.category() >= Category::Floating;
    sums && outcome.is_some_and(|outcome| outcome.tensors().iter().any(integral))
        && scene.operands().any(|known| floats(known) && known.tameness <= Tameness::Special)
}

pub(crate) fn undefined_copies(scene: Scene) -> bool {
    let copies = matches!(last_op(scene), Some(Op::Copy | Op::Fill | Op::SetItem));
    let to_integers = scene.operands().next().is_some_and(|known| known.tensor.dtype.category() <= Category::Integral);
    // A factor of a product of integers, where it is the least number that an integer just cannot be.
    let beyond = |number: Scalar| match number {
        Scalar::Float(value) => value.abs() >= -(i64::MIN as f64),
        Scalar::Complex(value) => value.re.abs() >= -(i64::MIN as f64),
        _ => false,
    };
    let product = scene.last().filter(|step| step.op.info().family() == Family::Products);
    let factor = product.is_some_and(|step| numbers(step).any(beyond));
    let special = || scene.operands().skip(1).any(|known| known.tameness <= Tameness::Special);
    // What is converted at the end: addbmm takes any `out=`.
    let out = product.filter(|step| step.op == Op::Addbmm).and_then(|step| scene.find(step.out?));
    let converts = out.is_some_and(|out| out.tensor.dtype.category() <= Category::Integral)
        && scene.operands().any(|known| known.tameness <= Tameness::Special);
    converts || (to_integers && (factor || (copies && special())))
}

pub(crate) fn given_gradients(scene: Scene) -> bool {
    last_op(scene) == Some(Op::Backward) && scene.operands().count() > 1
}

pub(crate) fn gradients_halfway(scene: Scene) -> bool {
    scene.tracker.halfway && scene.last().is_some_and(|step| step.op == Op::Grad)
}

pub(crate) fn modified_views(scene: Scene) -> bool {
    let of_views = |step: &Step| {
        let used: Vec<&TensorState> = step.uses().filter_map(|used| scene.find(used)).collect();
        used.iter()
            .enumerate()
            .any(|(at, one)| used[..at].iter().any(|other| one.place().id == other.place().id && one.at != other.at))
    };
    last_op(scene) == Some(Op::Backward) && scene.steps.iter().any(of_views)
}

/// The text in the reference's message in place of a node that it does not name.
const UNNAMED_NODE: &str = "a node without a name in the reference";

pub(crate) fn unnamed_nodes(scene: Scene, outcome: Option<&Outcome>) -> bool {
    last_op(scene) == Some(Op::Backward)
        && matches!(outcome, Some(Outcome::Rejected(rejected)) if rejected.message.contains(UNNAMED_NODE))
}

pub(crate) fn indexed_scalars(scene: Scene) -> bool {
    let args = scene.last().map_or(&[][..], |step| &step.args);
    let alone = |items: &[IndexItem]| matches!(items, [IndexItem::At(index)] if *index != 0);
    let index = args.iter().any(|arg| matches!(arg, Arg::Index(items) if alone(items)));
    index && scene.operands().any(|known| known.tensor.shape.rank() == 0)
}

pub(crate) fn fused_factors(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let step = scene.last().filter(|step| step.op.info().takes_alpha());
    let tensors = outcome.map_or(&[][..], |outcome| outcome.tensors());
    // Twice the elements mean the same, says a rule of the definition oracle.
    let vectors = tensors.iter().any(|tensor| 2 * tensor.shape.numel() >= VECTOR);
    vectors && scene.operands().any(reduced) && step.is_some_and(|step| !is_unit(&step.args[2]))
}

/// The fewest elements of 16 bits that libtorch's vector loop takes at a time.
pub(crate) const VECTOR: usize = 32;

/// Returns whether an argument is a factor that changes no number but in its sign.
pub(crate) fn is_unit(factor: &Arg) -> bool {
    matches!(factor, Arg::Number(Scalar::Int(1 | -1)))
}

/// Returns whether a product with a scalar may be rounded.
pub(crate) fn rounds(number: Scalar) -> bool {
    let small = |value: f64| !value.is_finite() || (value.fract() == 0.0 && value.abs() <= 64.0);
    match number {
        Scalar::Bool(_) => false,
        Scalar::Int(value) => !small(value as f64),
        Scalar::Float(value) => !small(value),
        Scalar::Complex(value) => !small(value.re) || !small(value.im),
    }
}
