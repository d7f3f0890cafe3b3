//! Conditions on reductions, products, losses and indices.

use crate::error::Class;
use crate::ops::{Family, Form, Kernel, Op, ParamKind};
use crate::program::{Arg, Outcome, Step, TensorValue};
use crate::relaxations::conditions::*;
use crate::relaxations::tameness::Tameness;
use crate::relaxations::tracker::{Scene, TensorState};
use crate::tensor::element::Element;
use crate::tensor::{Category, DType, Scalar};

pub(crate) fn signed_zeros(scene: Scene) -> bool {
    let extreme = scene.last().is_some_and(|step| matches!(step.op, Op::Amax | Op::Amin | Op::Aminmax));
    let has = |known: &TensorState, zero: f64| {
        known.tensor.elements().any(|number| matches!(number, Scalar::Float(x) if x.to_bits() == zero.to_bits()))
    };
    extreme && scene.operands().any(|known| has(known, 0.0) && has(known, -0.0))
}

/// The elements of the operand of the last step in lines along its dimension, if it is one of these operations.
fn lines(scene: Scene, ops: &[Op]) -> Vec<Vec<Scalar>> {
    let Some(step) = scene.last().filter(|step| ops.contains(&step.op)) else { return Vec::new() };
    let Some(operand) = scene.operands().next() else { return Vec::new() };
    let sizes = operand.tensor.shape.sizes();
    let at = step.op.info().arguments.iter().position(|param| param.name == "dim");
    let rank = sizes.len() as i64;
    let dim = match at.and_then(|at| step.args.get(at)) {
        Some(Arg::Int(dim)) if (-rank..rank).contains(dim) => dim.rem_euclid(rank) as usize,
        Some(Arg::Nothing) => return vec![operand.tensor.elements().collect()],
        _ => return Vec::new(),
    };
    let inner = sizes[dim + 1..].iter().product::<i64>() as usize;
    let size = sizes[dim] as usize;
    let mut lines = vec![Vec::new(); operand.tensor.shape.numel() / size.max(1)];
    for (number, element) in operand.tensor.elements().enumerate() {
        lines[number / (inner * size) * inner + number % inner].push(element);
    }
    lines
}

/// The lengths of the runs of equal elements of a line, and of its NaN.
fn runs(line: &[Scalar]) -> (Vec<usize>, usize) {
    let mut numbers: Vec<Scalar> =
        line.iter().copied().filter(|element| !matches!(element, Scalar::Float(value) if value.is_nan())).collect();
    let nan = line.len() - numbers.len();
    let compared = |a: &Scalar, b: &Scalar| match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal),
        (Scalar::Int(a), Scalar::Int(b)) => a.cmp(b),
        (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(b),
        _ => std::cmp::Ordering::Equal,
    };
    numbers.sort_by(compared);
    (numbers.chunk_by(|a, b| compared(a, b).is_eq()).map(<[Scalar]>::len).collect(), nan)
}

pub(crate) fn tied_places(scene: Scene) -> bool {
    let ops =
        [Op::Cummax, Op::Cummin, Op::Median, Op::Nanmedian, Op::Mode, Op::Kthvalue, Op::Quantile, Op::Nanquantile];
    lines(scene, &ops).iter().any(|line| {
        let (runs, nan) = runs(line);
        nan > 1 || runs.iter().any(|run| *run > 1)
    })
}

pub(crate) fn random_elements(scene: Scene) -> bool {
    scene.last().is_some_and(|step| step.op.info().kernel == Kernel::Sampler)
}

pub(crate) fn tied_modes(scene: Scene) -> bool {
    lines(scene, &[Op::Mode]).iter().any(|line| {
        let (runs, nan) = runs(line);
        let most = runs.iter().max();
        nan > 0 || runs.iter().filter(|run| Some(*run) == most).count() > 1
    })
}

pub(crate) fn large_products(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let product = scene.last().is_some_and(|step| matches!(step.op, Op::Prod | Op::Cumprod));
    let Some(result) = outcome.and_then(|outcome| outcome.tensors().first()).filter(|_| product) else { return false };
    let most = match result.dtype {
        DType::Float16 => 65504.0,
        dtype if dtype.category() < Category::Floating => return false,
        _ => f64::from(f32::MAX),
    };
    let size = |number: Scalar| match number {
        Scalar::Float(value) => value.abs(),
        Scalar::Int(value) => value.unsigned_abs() as f64,
        Scalar::Complex(value) => value.norm(),
        Scalar::Bool(_) => 1.0,
    };
    scene.operands().any(|known| known.tensor.elements().map(|x| size(x).max(1.0)).product::<f64>() > most)
}

pub(crate) fn extreme_norms(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let Some(step) = scene.last() else { return false };
    let tame = |order: f64| order == 0.0 || order.is_infinite() || (0.5..=4.0).contains(&order.abs());
    let mut orders = step.op.info().arguments.iter().zip(&step.args).filter_map(|(param, arg)| match arg {
        Arg::Number(number) if ["ord", "p"].contains(&param.name) => Some(f64::from_scalar(*number)),
        _ => None,
    });
    // A distance may refuse its exponent, which a norm never does.
    let asked = step.op == Op::VectorNorm || matches!(outcome, Some(Outcome::Value(_)));
    asked && orders.any(|order| !tame(order))
}

pub(crate) fn lost_parts(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let reduction = scene.last().is_some_and(is_reduction);
    let half = |tensor: &TensorValue| matches!(tensor.dtype, DType::Float16 | DType::Bfloat16);
    reduction && outcome.is_some_and(|outcome| outcome.tensors().iter().any(half)) && has_complex(scene)
}

pub(crate) fn processor_fallback(scene: Scene) -> bool {
    let batches = matches!(last_op(scene), Some(Op::Bmm | Op::Baddbmm | Op::Matmul));
    batches && scene.operands().any(reduced)
}

pub(crate) fn no_freedom(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let moment = scene.last().is_some_and(|step| step.op.info().kernel == Kernel::Moment);
    let infinite = |tensor: &TensorValue| tensor.elements().any(|number| !weight(number).is_finite());
    moment
        && scene.operands().any(|known| known.tameness < Tameness::Whole)
        && outcome.is_some_and(|outcome| outcome.tensors().iter().any(infinite))
}

pub(crate) fn grown_and_refused(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let Some(step) = scene.last().filter(|step| is_reduction(step)) else { return false };
    let Some(out) = step.out.and_then(|out| scene.find(out)) else { return false };
    let largest = scene.operands().map(|known| known.tensor.shape.numel().max(1)).max();
    refused(outcome) && largest > Some(out.tensor.shape.numel())
}

pub(crate) fn is_reduction(step: &Step) -> bool {
    step.op.info().family() == Family::Reductions
}

pub(crate) fn empty_losses(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let loss = scene.last().is_some_and(|step| step.op.info().kernel == Kernel::Loss);
    let empty = |tensor: &TensorValue| tensor.shape.numel() == 0 && tensor.shape.rank() > 1;
    loss && outcome.is_some_and(|outcome| outcome.tensors().iter().any(empty))
}

pub(crate) fn losses_of_target(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let step = scene.last().filter(|step| step.form == Form::Out);
    step.is_some_and(|step| {
        let reduces = step.op.info().arguments.iter().any(|param| param.kind == ParamKind::Reduction);
        reduces && refused(outcome)
    })
}

pub(crate) fn losses_into_operands(scene: Scene) -> bool {
    let step = scene.last().filter(|step| step.form == Form::Out);
    step.is_some_and(|step| {
        let reduces = step.op.info().arguments.iter().any(|param| param.kind == ParamKind::Reduction);
        let own = |arg: &Arg| matches!(arg, Arg::Tensor(value) if Some(*value) == step.out);
        reduces && (step.args.iter().any(own) || reads_its_out(scene, step))
    })
}

/// Membership in what is said to have no element twice.
pub(crate) fn assumed_unique(scene: Scene) -> bool {
    scene.last().is_some_and(|step| step.op == Op::Isin && step.args.get(2) == Some(&Arg::Flag(true)))
}

pub(crate) fn repeated_places(scene: Scene) -> bool {
    let Some([own, index, source, Arg::Flag(false)]) =
        scene.last().filter(|step| step.op == Op::Put).map(|step| &step.args[..])
    else {
        return false;
    };
    let find = |arg: &Arg| if let Arg::Tensor(value) = arg { scene.find(*value) } else { None };
    let [Some(own), Some(index), Some(source)] = [own, index, source].map(find) else { return false };
    let count = own.tensor.shape.numel().max(1) as i64;
    let mut places: Vec<i64> = index.tensor.elements().map(|at| i64::from_scalar(at).rem_euclid(count)).collect();
    places.sort_unstable();
    let repeated = places.windows(2).any(|pair| pair[0] == pair[1]);
    repeated && [index, source].iter().any(|known| !known.layout().is_contiguous())
}

pub(crate) fn indices_of_nothing(scene: Scene) -> bool {
    let Some(step) = scene.last().filter(|step| matches!(step.op, Op::IndexCopy | Op::IndexAdd)) else { return false };
    let [Arg::Tensor(own), Arg::Int(dim), Arg::Tensor(index), ..] = &step.args[..] else { return false };
    let [Some(own), Some(index)] = [own, index].map(|value| scene.find(*value)) else { return false };
    let sizes = own.tensor.shape.sizes();
    let at = usize::try_from(if *dim < 0 { dim + sizes.len() as i64 } else { *dim });
    let size = at.ok().and_then(|at| sizes.get(at)).copied().unwrap_or(1);
    let beyond = |at: Scalar| !(0..size).contains(&i64::from_scalar(at));
    own.tensor.shape.numel() == 0 && index.tensor.elements().any(beyond)
}

/// A triangle of batches of matrices for an `out=` tensor in which the batches do not lie one after the other.
pub(crate) fn scattered_batches(scene: Scene) -> bool {
    let triangle = scene.last().filter(|step| step.op.info().kernel == Kernel::Triangle);
    let out = triangle.and_then(|step| step.out.filter(|out| step.args.first() != Some(&Arg::Tensor(*out))));
    let Some(layout) = out.and_then(|out| scene.find(out)).map(TensorState::layout) else { return false };
    let (sizes, strides) = (layout.shape.sizes(), &layout.strides);
    let apart = |dim: usize| strides[dim] != strides[dim + 1].wrapping_mul(sizes[dim + 1]);
    (0..sizes.len().saturating_sub(3)).any(apart)
}

/// A refusal after the target was resized or written to, and a result that is made of what it overwrites.
pub(crate) fn gathers_in_part(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let indexes = |step: &&Step| is_indexed(step.op.info().kernel);
    let step = scene.last().filter(indexes);
    let Some(step) = step.filter(|step| step.form != Form::Functional) else { return false };
    let class = match outcome {
        Some(Outcome::Rejected(rejected)) => rejected.class,
        Some(Outcome::Value(_)) => return reads_its_out(scene, step),
        _ => return false,
    };
    let loops = class == Some(Class::Dimension);
    match step.op {
        // What these write before an index is out of range the reference knows.
        Op::IndexPut => false,
        Op::IndexTensor => loops,
        Op::Scatter | Op::IndexFill => loops || class == Some(Class::Argument),
        Op::ScatterReduce => loops || step.form == Form::Out || class == Some(Class::Dtype),
        // These resize `out=` before they look at the rest.
        _ if matches!(step.op.info().kernel, Kernel::Slices | Kernel::Scatter) => loops || step.form == Form::Out,
        // What the shape of the result would have been is not to be seen from the indices.
        Op::TakeAlongDim => true,
        _ => loops || resized_by_shape(scene, step),
    }
}

/// Returns whether the `out=` tensor shares its storage with another tensor of the step, or is what the step is about.
pub(crate) fn reads_its_out(scene: Scene, step: &Step) -> bool {
    let storage = |value| scene.find(value).map(|known| known.place().id);
    step.out.is_some_and(|out| {
        let own = matches!(step.args[0], Arg::Tensor(value) if value == out);
        own || step.uses().any(|used| used != out && storage(used) == storage(out))
    })
}

/// Returns whether the `out=` tensor has another shape than the indices.
pub(crate) fn resized_by_shape(scene: Scene, step: &Step) -> bool {
    let shape = |value| scene.find(value).map(|known| &known.tensor.shape);
    let index = step.args.iter().skip(1).find_map(|arg| if let Arg::Tensor(value) = arg { Some(*value) } else { None });
    step.out.is_some_and(|out| shape(out) != index.and_then(shape))
}

/// A `gather` refused for an index while another is bad, too.
pub(crate) fn several_bad_indices(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let along = |kernel: Kernel| matches!(kernel, Kernel::Gather | Kernel::Slices | Kernel::Scatter);
    let Some(step) = scene.last().filter(|step| along(step.op.info().kernel)) else {
        return false;
    };
    let index = step.args.iter().skip(1).find_map(|arg| if let Arg::Tensor(value) = arg { Some(*value) } else { None });
    let Some(index) = index.and_then(|index| scene.find(index)) else { return false };
    // Whether an index is in range is not known here, but the ends are out of range wherever anything is.
    let mut values: Vec<f64> = index.tensor.elements().map(f64::from_scalar).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    refused(outcome) && values.len() > 2
}

pub(crate) fn unstable_equations(scene: Scene, outcome: Option<&Outcome>) -> bool {
    if last_op(scene) != Some(Op::LinalgSolve) {
        return false;
    }
    match outcome {
        Some(Outcome::Rejected(rejected)) if rejected.class == Some(Class::Singular) => {
            if scene.last().is_some_and(|step| step.out.is_some()) {
                return true;
            }
        }
        Some(Outcome::Value(_)) => {}
        _ => return false,
    }
    any_matrix(scene, |matrix| {
        let zero = (0..matrix.size).any(|at| matrix.column(at) == 0.0);
        !zero && (0..matrix.size).any(|at| matrix.is_weak(at))
    })
}

pub(crate) fn unstable_triangles(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let triangles = [Op::LinalgSolveTriangular, Op::CholeskySolve, Op::LinalgLuSolve];
    let Some(step) = scene.last().filter(|step| triangles.contains(&step.op)) else { return false };
    let unit = step.op == Op::LinalgSolveTriangular && step.args.last() == Some(&Arg::Flag(true));
    matches!(outcome, Some(Outcome::Value(_)))
        && any_matrix(scene, |matrix| unit || (0..matrix.size).any(|at| matrix.is_weak(at)))
}

pub(crate) fn steep_attention(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let Some(step) = scene.last().filter(|step| step.op == Op::ScaledDotProductAttention) else { return false };
    let largest = |at: usize| match &step.args[at] {
        Arg::Tensor(value) => {
            let sizes = scene.find(*value).into_iter().flat_map(|known| known.tensor.elements()).map(weight);
            sizes.filter(|size| *size < f64::INFINITY).fold(0.0, f64::max)
        }
        _ => 0.0,
    };
    let inner = match &step.args[0] {
        Arg::Tensor(value) => scene.find(*value).and_then(|known| known.tensor.shape.sizes().last().copied()),
        _ => None,
    };
    let inner = inner.unwrap_or(1).max(1) as f64;
    let scale = match step.args.last() {
        Some(Arg::Number(scale)) => weight(*scale),
        _ => inner.sqrt().recip(),
    };
    let score = largest(0) * largest(1) * inner * scale + largest(3);
    matches!(outcome, Some(Outcome::Value(_))) && (score.is_nan() || score > 4.0)
}

pub(crate) fn steep_normalization(scene: Scene, outcome: Option<&Outcome>) -> bool {
    let Some(step) = scene.last().filter(|step| step.op == Op::LayerNorm) else { return false };
    let [Arg::Tensor(input), Arg::Ints(normalized), weight, _, Arg::Number(eps)] = &step.args[..] else { return false };
    // An infinity times what is zero, or next to it.
    let infinite = match weight {
        Arg::Tensor(weight) => scene
            .find(*weight)
            .is_some_and(|known| known.tensor.elements().any(|number| f64::from_scalar(number).is_infinite())),
        _ => false,
    };
    let Some(input) = scene.find(*input).filter(|_| matches!(outcome, Some(Outcome::Value(_)))) else { return false };
    let length = normalized.iter().product::<i64>().max(1) as usize;
    let elements: Vec<f64> = input.tensor.elements().map(f64::from_scalar).collect();
    let steep = |row: &[f64]| {
        let count = row.len() as f64;
        let mean = row.iter().sum::<f64>() / count;
        let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        let deviation = (variance + f64::from_scalar(*eps)).sqrt();
        let largest = row.iter().fold(0.25, |most: f64, value| most.max(value.abs()));
        // Infinities and NaN are so in every order, and so are roots of what is far below zero.
        let vanishes = |value: &f64| (value - mean).abs() < 1e-3 * largest;
        (infinite && row.iter().any(vanishes))
            || largest > 4.0 * deviation
            || (variance + f64::from_scalar(*eps)).abs() < 1e-3 * largest * largest
    };
    elements.chunks(length).any(steep)
}

/// The absolute values of the elements of a matrix of equations, row by row.
struct Weights<'a> {
    size: usize,
    elements: &'a [f64],
}

impl Weights<'_> {
    fn column(&self, at: usize) -> f64 {
        (0..self.size).map(|row| self.elements[row * self.size + at]).sum()
    }

    /// Returns whether the diagonal element does not outweigh the others of its column.
    fn is_weak(&self, at: usize) -> bool {
        let own = self.elements[at * self.size + at];
        own < 1e-3 || self.column(at) >= 2.0 * own
    }
}

/// Returns whether a matrix of the equations that the last step solves has a property, or none is known for its elements.
fn any_matrix(scene: Scene, has: impl Fn(Weights) -> bool) -> bool {
    let Some(step) = scene.last() else { return false };
    let matrices = step.op.matrix_of_equations().and_then(|at| step.args.get(at));
    let Some(Arg::Tensor(matrices)) = matrices else { return false };
    // Of what was resized, or turned in place, the elements are not known here.
    let turns = |step: &Step| step.form == Form::InPlace && step.op.info().family() == Family::Views;
    if scene.steps.iter().any(|step| turns(step) && step.target() == Some(*matrices)) {
        return true;
    }
    let Some(matrices) = scene.find(*matrices) else { return true };
    let Some([rows, columns]) = matrices.tensor.shape.sizes().last_chunk::<2>() else { return false };
    if rows != columns {
        return false;
    }
    let size = *columns as usize;
    let weights: Vec<f64> = matrices.tensor.elements().map(weight).collect();
    if weights.iter().any(|weight| !weight.is_finite()) {
        return true;
    }
    weights.chunks((size * size).max(1)).any(|elements| has(Weights { size, elements }))
}
