//! Conditions on the last step of a program, which relaxations and exclusions share.

use std::collections::HashMap;

use crate::error::Class;
use crate::ops::{Compare, Family, Form, Kernel, Op, OpInfo, Rounding};
use crate::program::{Arg, Outcome, Step, TensorValue, Value};
use crate::relaxations::tameness::Tameness;
use crate::relaxations::tracker::{MOST_ELEMENTS, Scene, TensorState, sums};
use crate::tensor::{Category, DType, Layout, Scalar, Shape};

pub(crate) fn sums_of_extremes(scene: Scene, outcome: Option<&Outcome>) -> bool {
    // Integers have no order to care for, unless they are made floats first.
    let floats = |tensor: &TensorValue| tensor.dtype.category() >= Category::Floating;
    let converted = outcome.is_some_and(|outcome| outcome.tensors().iter().any(floats));
    let complex =
        outcome.is_some_and(|outcome| outcome.tensors().iter().any(|made| made.dtype.category() == Category::Complex));
    // Elimination multiplies infinities with zeros, or not, and so do products of complex numbers.
    let special = complex || last_op(scene).is_some_and(|op| op.matrix_of_equations().is_some() || op.decomposes());
    let large = |known: &TensorState| known.tensor.elements().any(|x| Tameness::of_number(x) == Tameness::Wild);
    let loses = |known: &TensorState| match known.tameness {
        Tameness::Wild => true,
        Tameness::Special => special,
        _ => converted && large(known),
    };
    scene.last().is_some_and(sums) && (scene.operands().any(loses) || wild_factor(scene))
}

pub(crate) fn functions_of_extremes(scene: Scene) -> bool {
    let composed = scene.last().filter(|step| {
        let info = step.op.info();
        sums(step) && (info.kernel.rounding() == Rounding::Steps || info.kernel == Kernel::Moment)
    });
    let large = |known: &TensorState| known.tensor.elements().any(|x| Tameness::of_number(x) == Tameness::Wild);
    composed.is_some() && (scene.operands().any(large) || wild_factor(scene))
}

pub(crate) fn gradients_of_extremes(scene: Scene) -> bool {
    // Of float16 what has fewer digits than others of its dtype is small enough to be lost.
    let short = |known: &TensorState, number: Scalar| {
        let small = |value: f64| value != 0.0 && value.abs() < f64::from(half::f16::MIN_POSITIVE);
        known.tensor.dtype == DType::Float16 && matches!(number, Scalar::Float(value) if small(value))
    };
    let lost = |known: &TensorState| {
        is_wild(known) || known.tensor.elements().any(|number| tiny(number) || short(known, number))
    };
    // What flows back is made of everything that gradients flow through.
    last_op(scene) == Some(Op::Backward)
        && (scene.known().iter().any(|known| known.grad && lost(known)) || extremes(scene))
}

fn is_wild(known: &TensorState) -> bool {
    known.tameness <= Tameness::Special
}

/// Returns whether a scalar of any step is an extreme, or next to nothing.
pub(crate) fn extremes(scene: Scene) -> bool {
    let wild = |number: Scalar| Tameness::of_number(number) <= Tameness::Special || tiny(number);
    scene.steps.iter().any(|step| numbers(step).any(wild))
}

/// Returns whether the square of a scalar is zero in single precision, and one over it infinite.
pub(crate) fn tiny(number: Scalar) -> bool {
    matches!(number, Scalar::Float(value) if value != 0.0 && value.abs() < 1e-15)
}

/// Returns whether a scalar of the last step is an extreme, by which a sum is multiplied.
pub(crate) fn wild_factor(scene: Scene) -> bool {
    let wild = |number: Scalar| Tameness::of_number(number) <= Tameness::Special;
    scene.last().is_some_and(|step| numbers(step).any(wild))
}

/// Returns whether elements are read or written at indices.
pub(crate) fn is_indexed(kernel: Kernel) -> bool {
    matches!(kernel, Kernel::Gather | Kernel::Indexing | Kernel::Slices | Kernel::Scatter)
}

/// Returns whether it follows from elements what is rejected, how many elements the result has, or what number it is.
pub(crate) fn decides_by_elements(op: Op) -> bool {
    use Op::*;
    let solves = matches!(op, LinalgSolve | LinalgLuSolve);
    let probable = matches!(op, Quantile | Nanquantile | Normal | Bernoulli | Binomial | BinaryCrossEntropy);
    is_indexed(op.info().kernel) || solves || probable || matches!(op, MaskedSelect | Item | Equal | Allclose)
}

/// The use of what is compared within a tolerance.
pub(crate) fn tolerant_operands(scene: Scene, outcome: Option<&Outcome>) -> bool {
    // What is within units in the last place may be summed and differentiated, which are compared within a tolerance: that
    // of its own dtype. The distance of two numbers that should be equal has a root that is far from zero.
    let tolerant = scene.last().is_some_and(|step| {
        let info = step.op.info();
        (info.compare == Compare::Tolerance && info.kernel != Kernel::Distance) || info.family() == Family::Autograd
    });
    let made = outcome.map_or(&[][..], |outcome| outcome.tensors());
    let other = |known: &TensorState| made.iter().any(|made| made.dtype != known.tensor.dtype);
    scene.operands().any(|known| known.tolerated || (known.inexact && (!tolerant || other(known))))
}

/// The same where it follows from elements whether the step is rejected: an index, a divisor that may be zero, a number
/// that must be a probability.
pub(crate) fn tolerant_decisions(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let whole = |known: &TensorState| known.tensor.dtype.category() < Category::Floating;
    (scene.operands().any(whole) || last_op(scene).is_some_and(decides_by_elements))
        && tolerant_operands(scene, outcome)
}

/// A mask of what is within a tolerance.
pub(crate) fn tolerant_masks(scene: Scene) -> bool {
    let mask = |known: &TensorState| known.tolerated && known.tensor.dtype == DType::Bool;
    last_op(scene).is_some_and(decides_by_elements) && scene.operands().any(mask)
}

/// The use of a tensor whose elements are unspecified since a rejected step.
pub(crate) fn abandoned_operands(scene: Scene) -> bool {
    scene.operands().any(|known| known.abandoned)
}

/// The use of what may lie in memory in several ways, and of views of it, where the result may as well.
pub(crate) fn open_layouts(scene: Scene) -> bool {
    scene.operands().any(|known| known.layout_open)
}

/// The same by a view, which another layout may not have, or have elsewhere.
pub(crate) fn views_of_open_layouts(scene: Scene) -> bool {
    open_layouts(scene) && last_op(scene).is_some_and(|op| op.info().family() == Family::Views)
}

pub(crate) fn overlapping_divisions(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let divides =
        |step: &Step| matches!(step.op.info().kernel, Kernel::Divide | Kernel::Quotient) || step.op == Op::Div;
    scene.last().is_some_and(divides) && overlapping_writes(scene, outcome)
}

pub(crate) fn overlapping_writes(scene: Scene, outcome: Option<&Outcome>) -> bool {
    // A product of matrices that overwrites its factors is wrong, not undefined.
    let product = |step: &&Step| step.op.info().family() == Family::Products && !is_arithmetic(step.op.info());
    let Some(step) = scene.last().filter(|step| !product(step)) else { return false };
    let Some(written) = step.target().and_then(|target| scene.find(target)) else { return false };
    let target = match outcome {
        Some(Outcome::Value(Value::Tensor(result))) => {
            let (Some(strides), Some(storage)) = (result.strides.clone(), result.storage) else { return false };
            Layout { shape: result.shape.clone(), strides, offset: storage.offset }
        }
        // What came before the zero, or the index that is out of range, has been written.
        Some(Outcome::Rejected(rejected)) if rejected.class == Some(Class::ZeroDivision) => written.layout(),
        Some(Outcome::Rejected(rejected))
            if rejected.class == Some(Class::Dimension) && last_op(scene) == Some(Op::IndexPut) =>
        {
            written.layout()
        }
        _ => return false,
    };
    if target.shape.numel() > MOST_ELEMENTS {
        return false;
    }
    // The target of an in-place operation is its first operand too.
    let read = step.args.iter().skip(usize::from(step.form == Form::InPlace));
    let (indices, operands): (Vec<&Arg>, Vec<&Arg>) = read.partition(|arg| matches!(arg, Arg::Indices(_)));
    let beside = |args: Vec<&Arg>| -> Vec<&TensorState> {
        let known = args.into_iter().flat_map(Arg::uses).filter_map(|value| scene.find(value));
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
    let touches =
        |own: Layout| own.shape.numel() <= MOST_ELEMENTS && own.positions().any(|place| places.contains_key(&place));
    // An index that is written to names another place from then on.
    indices.iter().any(|known| touches(known.layout()))
        || operands.iter().any(|known| match known.layout().expand(&target.shape) {
            Some(own) => own.positions().enumerate().any(|(at, place)| places.get(&place).is_some_and(|it| *it != at)),
            None => touches(known.layout()),
        })
}

/// The `out=` tensor of the last step if the result has another shape, or may have one.
pub(crate) fn resized<'a>(scene: Scene<'a>) -> Option<&'a TensorState> {
    let step = scene.last()?;
    let out = scene.find(step.out?)?;
    let read = step.args.iter().filter_map(|arg| if let Arg::Tensor(value) = arg { scene.find(*value) } else { None });
    if step.op == Op::ExpandCopy || read.clone().any(|known| known.shape_open) {
        return Some(out);
    }
    // What is looked up has a shape of its own, and what it is looked up in another.
    let looked_up = match step.op {
        Op::Bucketize | Op::Isin => read.clone().next(),
        Op::Searchsorted => read.clone().nth(1),
        _ => None,
    };
    let result = match looked_up {
        Some(known) => Ok(known.tensor.shape.clone()),
        None => read.map(|known| &known.tensor.shape).try_fold(Shape::scalar(), |shape, next| shape.broadcast(next)),
    };
    result.is_ok_and(|shape| shape != out.tensor.shape).then_some(out)
}

pub(crate) fn numbers(step: &Step) -> impl Iterator<Item = Scalar> {
    step.args.iter().filter_map(|arg| if let Arg::Number(number) = arg { Some(*number) } else { None })
}

pub(crate) fn reduced(known: &TensorState) -> bool {
    matches!(known.tensor.dtype, DType::Float16 | DType::Bfloat16)
}

pub(crate) fn refused(outcome: Option<&Outcome>) -> bool {
    matches!(outcome, Some(Outcome::Rejected(_)))
}

pub(crate) fn last_op(scene: Scene) -> Option<Op> {
    scene.last().map(|step| step.op)
}

pub(crate) fn is_polynomial(scene: Scene) -> bool {
    last_op(scene).is_some_and(|op| op.name().contains("_polynomial_"))
}

pub(crate) fn is_complex(known: &TensorState) -> bool {
    known.tensor.dtype.category() == Category::Complex
}

/// Returns whether the last step has a complex tensor or scalar.
pub(crate) fn has_complex(scene: Scene) -> bool {
    let number = |arg: &Arg| matches!(arg, Arg::Number(Scalar::Complex(_)));
    scene.operands().any(is_complex) || scene.last().is_some_and(|step| step.args.iter().any(number))
}

/// Returns whether libtorch computes the step from memory that it has not written, so that the result differs from call to
/// call: polynomials of NaN, and products whose factor is the `out=` tensor, which they resize first.
pub(crate) fn is_unreliable(scene: Scene) -> bool {
    let nan = |scalar: Scalar| matches!(scalar, Scalar::Float(value) if value.is_nan());
    let number = scene.last().is_some_and(|step| numbers(step).any(nan));
    let polynomial = is_polynomial(scene) && (number || scene.operands().any(|known| known.tensor.elements().any(nan)));
    let product = scene.last().filter(|step| step.op.info().family() == Family::Products);
    let storage = |value| scene.find(value).map(|known| known.place().id);
    let shares = |step: &Step| {
        step.target().is_some_and(|target| {
            let read = step.args.iter().skip(usize::from(step.form == Form::InPlace)).flat_map(Arg::uses);
            read.into_iter().any(|used| storage(used) == storage(target))
        })
    };
    polynomial || product.is_some_and(shares)
}

/// Returns whether elements are added, subtracted or multiplied one by one, by an outer product too.
pub(crate) fn is_arithmetic(info: &OpInfo) -> bool {
    info.kernel == Kernel::Number || (info.family() == Family::Products && info.compare == Compare::Bits)
}

/// The magnitude of a number.
pub(crate) fn weight(number: Scalar) -> f64 {
    match number {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Int(value) => (value as f64).abs(),
        Scalar::Float(value) => value.abs(),
        Scalar::Complex(value) => value.norm(),
    }
}
