//! Operands expanded by hand.

use crate::ops::{Family, Form, Op, ParamKind, Quirk};
use crate::program::{Arg, Program, ValueRef};
use crate::tensor::{Category, DType, Shape};

use crate::metamorphic::judge::{Compared, OutputRelation, same};
use crate::metamorphic::step_context::{Facts, Rewrite, StepContext};
use crate::metamorphic::{LARGEST, LARGEST_PRODUCT};

/// Sizes to expand an operand to: an argument that is a tensor, or one of the tensors of an argument.
pub(super) struct Expansion {
    pub argument: usize,
    /// The position in the argument, if that is a list of operands.
    pub part: Option<usize>,
    pub sizes: Vec<i64>,
}

pub(super) fn expanded(context: &StepContext) -> Option<(Program, OutputRelation)> {
    if !context.accepted() || !context.is_apart() {
        return None;
    }
    let expansions = expansions(context)?;
    if context.step.op.info().family() == Family::Products && together(context, &expansions) > LARGEST_PRODUCT {
        return None;
    }
    let mut rewrite = Rewrite::before(context);
    let mut last = context.step.clone();
    for Expansion { argument, part, sizes } in expansions {
        match (&mut last.args[argument], part) {
            (Arg::Tensor(operand), None) => *operand = rewrite.expanded(*operand, &sizes),
            (Arg::Tensors(operands), Some(part)) => operands[part] = rewrite.expanded(operands[part], &sizes),
            (Arg::Indices(operands), Some(part)) => {
                operands[part] = operands[part].map(|operand| rewrite.expanded(operand, &sizes));
            }
            _ => return None,
        }
    }
    rewrite.push(last);
    Some(same(rewrite, Compared::Elements))
}

/// The elements of all operands multiplied, once some are expanded: a product may take as much memory on its way.
fn together(context: &StepContext, expansions: &[Expansion]) -> usize {
    let times = |product: usize, elements: usize| product.saturating_mul(elements.max(1));
    let own = context.step.uses().filter_map(|used| context.known(used)).map(|known| known.shape().numel());
    let grown = expansions.iter().map(|expansion| {
        let operand = match (&context.step.args[expansion.argument], expansion.part) {
            (Arg::Tensor(operand), None) => Some(*operand),
            (Arg::Tensors(operands), Some(part)) => Some(operands[part]),
            (Arg::Indices(operands), Some(part)) => operands[part],
            _ => None,
        };
        let before = operand.and_then(|operand| context.known(operand)).map_or(1, |known| known.shape().numel());
        expansion.sizes.iter().fold(1, |product, &size| times(product, size as usize)) / before.max(1)
    });
    own.chain(grown).fold(1, times)
}

pub(super) fn repeated(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let [result] = context.outcome.tensors() else { return None };
    if context.step.form != Form::Functional || !context.is_elementwise() || 2 * result.shape.numel() > LARGEST {
        return None;
    }
    let operands = context.read()?;
    // What has no dimensions, and what has one element, takes a way of its own.
    if operands.iter().any(|(_, operand)| operand.shape() != &result.shape) || result.shape.rank() == 0 {
        return None;
    }
    let sizes: Vec<i64> = [2].iter().chain(result.shape.sizes()).copied().collect();
    let mut rewrite = Rewrite::before(context);
    let mut last = context.step.clone();
    for (number, _) in operands {
        let Arg::Tensor(operand) = &mut last.args[number] else { return None };
        *operand = rewrite.expanded(*operand, &sizes);
    }
    let twice = rewrite.push(last);
    rewrite.add("once", Op::Select, vec![Arg::Tensor(twice), Arg::Int(0), Arg::Int(1)]);
    Some(same(rewrite, Compared::Elements))
}

/// The operands of a step, three or more, grouped from the right, though the step itself does it from the left.
pub(super) fn regrouped(context: &StepContext) -> Option<(Program, OutputRelation)> {
    let step = context.step;
    if !context.accepted() || step.form != Form::Functional {
        return None;
    }
    let result = context.outcome.tensors().first()?;
    let mut last = step.clone();
    let operands = match (step.op, step.args.first()) {
        (Op::BroadcastTensors, Some(Arg::Tensors(operands))) => operands.clone(),
        _ if context.is_elementwise() => {
            let known: Vec<Facts> = context.read()?.into_iter().map(|(_, known)| known).collect();
            let operands: Vec<ValueRef> = step.uses().collect();
            (keeps_promotion(context, &known, result.dtype) && operands.len() == known.len()).then_some(operands)?
        }
        _ => return None,
    };
    if operands.len() < 3 || result.shape.numel() > LARGEST {
        return None;
    }
    let mut rewrite = Rewrite::before(context);
    let part = |value: ValueRef, part: usize| ValueRef { part: Some(part), ..value };
    let rest = rewrite.add("rest", Op::BroadcastTensors, vec![Arg::Tensors(operands[1..].to_vec())]);
    let all = rewrite.add("all", Op::BroadcastTensors, vec![Arg::Tensors(vec![operands[0], part(rest, 0)])]);
    let grouped = std::iter::once(part(all, 0)).chain((0..operands.len() - 1).map(|at| part(rest, at)));
    last.uses_mut().into_iter().zip(grouped).for_each(|(used, grouped)| *used = grouped);
    rewrite.push(last);
    Some(same(rewrite, Compared::Elements))
}

/// Returns the expansions of the operands of the step as documented; `None` where none of them is expanded, or where an
/// expanded operand is not the same.
pub(super) fn expansions(context: &StepContext) -> Option<Vec<Expansion>> {
    let step = context.step;
    let result = context.outcome.tensors().first()?;
    let whole = |numbers: &[usize], shapes: &[Facts], sizes: &[i64]| -> Vec<Expansion> {
        let grown = numbers.iter().zip(shapes).filter(|(_, known)| known.sizes() != sizes);
        grown.map(|(number, _)| Expansion { argument: *number, part: None, sizes: sizes.to_vec() }).collect()
    };
    let read = || -> Option<(Vec<usize>, Vec<Facts>)> { Some(context.read()?.into_iter().unzip()) };
    let expansions = match step.op {
        _ if context.is_elementwise() => {
            let (numbers, known) = read()?;
            if !keeps_promotion(context, &known, result.dtype) {
                return None;
            }
            let common = common(known.iter().chain(&context.target().filter(|_| step.form == Form::InPlace)))?;
            whole(&numbers, &known, common.sizes())
        }
        Op::MaskedFill | Op::MaskedScatter | Op::MaskedSelect => {
            let (Arg::Tensor(own), Arg::Tensor(mask)) = (&step.args[0], &step.args[1]) else { return None };
            let (own, mask) = (context.known(*own)?, context.known(*mask)?);
            let common = common([&own, &mask].into_iter())?;
            match step.form {
                Form::InPlace => whole(&[1], &[mask], common.sizes()),
                _ => whole(&[0, 1], &[own, mask], common.sizes()),
            }
        }
        Op::MseLoss
        | Op::L1Loss
        | Op::SmoothL1Loss
        | Op::HuberLoss
        | Op::SoftMarginLoss
        | Op::HingeEmbeddingLoss
        | Op::MarginRankingLoss
        | Op::KlDiv
        | Op::PoissonNllLoss
        | Op::BinaryCrossEntropyWithLogits
        | Op::BinaryCrossEntropy
        | Op::CosineSimilarity
        | Op::PairwiseDistance
        | Op::Dist
        | Op::Allclose
        | Op::LinalgVecdot
        | Op::LinalgCross => {
            let (numbers, known) = read()?;
            if known.iter().any(|operand| operand.dtype != known[0].dtype) {
                return None;
            }
            whole(&numbers, &known, common(known.iter())?.sizes())
        }
        Op::Addmm | Op::AddmmActivation | Op::Addmv | Op::Addr | Op::Baddbmm | Op::Addbmm
            if step.form != Form::InPlace =>
        {
            let (numbers, known) = read()?;
            whole(&numbers[..1], &known[..1], result.shape.sizes())
        }
        // The first size of the bias is checked before it broadcasts.
        Op::Bilinear => {
            let (numbers, known) = read()?;
            let weight = known.get(2)?;
            if result.shape.sizes().first() != weight.sizes().first() {
                return None;
            }
            whole(&numbers[3..], &known[3..], result.shape.sizes())
        }
        Op::Matmul | Op::Cdist | Op::LinalgSolve | Op::LinalgSolveTriangular | Op::CholeskySolve => {
            batches(context, 2)?
        }
        Op::LinalgLuSolve => factored(context)?,
        // The mask has dimensions of its own.
        Op::ScaledDotProductAttention => batches(context, 3)?,
        Op::LinalgMatrixRank | Op::LinalgPinv => tolerances(context)?,
        Op::Einsum => einsum(context)?,
        Op::IndexTensor => indices(context)?,
        Op::TakeAlongDim => along(context)?,
        _ => return None,
    };
    let small = expansions.iter().all(|expansion| {
        let mut sizes = expansion.sizes.iter();
        sizes.try_fold(1usize, |all, size| all.checked_mul(*size as usize)).is_some_and(|all| all <= LARGEST)
    });
    (small && !expansions.is_empty()).then_some(expansions)
}

/// The shape that tensors broadcast to.
fn common<'a>(mut known: impl Iterator<Item = &'a Facts>) -> Option<Shape> {
    known.try_fold(Shape::scalar(), |shape, next| shape.broadcast(next.shape()).ok())
}

/// Returns whether the operands have the same role in promotion, and in rounding, once each has all the dimensions.
fn keeps_promotion(context: &StepContext, operands: &[Facts], result: DType) -> bool {
    let target = context.target().filter(|_| context.step.form == Form::InPlace);
    let mut dtypes = operands.iter().chain(&target).map(|operand| operand.dtype);
    let first = dtypes.next();
    let mixed = dtypes.any(|dtype| Some(dtype) != first);
    let by_rank = operands.iter().any(|operand| operand.shape().rank() == 0);
    let reduced = matches!(result, DType::Float16 | DType::Bfloat16);
    let unrounded = reduced && context.step.op.info().has(Quirk::UnroundedSecond);
    // A number has no dimensions either, and its place in promotion is below that of a tensor of none.
    let numbers = context
        .step
        .args
        .iter()
        .enumerate()
        .any(|(number, arg)| matches!(arg, Arg::Number(_)) && context.kind(number) == ParamKind::Operand);
    !(by_rank && (mixed || numbers)) && !(unrounded && mixed)
}

/// The dimensions before the matrices of the first operands, so many of them. A vector is no batch.
fn batches(context: &StepContext, count: usize) -> Option<Vec<Expansion>> {
    let operands = context.read()?;
    let operands = operands.get(..count)?;
    let split = |known: &Facts| {
        let (batch, matrix) = known.sizes().split_at_checked(known.sizes().len().checked_sub(2)?)?;
        Some((Shape::new(batch.to_vec()).ok()?, matrix.to_vec()))
    };
    let parts: Vec<(Shape, Vec<i64>)> = operands.iter().map(|(_, known)| split(known)).collect::<Option<_>>()?;
    // Of another rank it may be a batch of vectors.
    let ranks = operands.iter().map(|(_, known)| known.shape().rank());
    if context.step.op == Op::LinalgSolve && ranks.clone().min() != ranks.max() {
        return None;
    }
    let common = parts.iter().try_fold(Shape::scalar(), |shape, (batch, _)| shape.broadcast(batch).ok())?;
    let grown = operands.iter().zip(&parts).filter_map(|((number, known), (_, matrix))| {
        let sizes = [common.sizes(), matrix].concat();
        (sizes != known.sizes()).then_some(Expansion { argument: *number, part: None, sizes })
    });
    Some(grown.collect())
}

/// The dimensions before the matrices, and before the vectors of their pivots.
fn factored(context: &StepContext) -> Option<Vec<Expansion>> {
    let operands = context.read()?;
    let matrices = [operands.first()?, operands.get(2)?];
    let batch = |known: &Facts| Shape::new(known.sizes().split_last_chunk::<2>()?.0.to_vec()).ok();
    let common = batch(&matrices[0].1)?.broadcast(&batch(&matrices[1].1)?).ok()?;
    let grown = operands.iter().zip([2, 1, 2]).filter_map(|((argument, known), own)| {
        let sizes = [common.sizes(), &known.sizes()[known.sizes().len().checked_sub(own)?..]].concat();
        (sizes != known.sizes()).then_some(Expansion { argument: *argument, part: None, sizes })
    });
    Some(grown.collect())
}

/// The dimensions before the matrices, which tolerances are broadcast with.
fn tolerances(context: &StepContext) -> Option<Vec<Expansion>> {
    let operands = context.read()?;
    let ((first, matrices), rest) = operands.split_first()?;
    let (batch, matrix) = matrices.sizes().split_at(matrices.shape().rank().checked_sub(2)?);
    let own = Shape::new(batch.to_vec()).ok()?;
    let common = rest.iter().try_fold(own, |shape, (_, next)| shape.broadcast(next.shape()).ok())?;
    let whole = [common.sizes(), matrix].concat();
    let grown = std::iter::once((first, matrices, whole))
        .chain(rest.iter().map(|(number, known)| (number, known, common.sizes().to_vec())));
    let grown = grown.filter(|(_, known, sizes)| known.sizes() != &sizes[..]);
    Some(grown.map(|(number, _, sizes)| Expansion { argument: *number, part: None, sizes }).collect())
}

/// Sizes of 1 under a letter that is longer elsewhere.
fn einsum(context: &StepContext) -> Option<Vec<Expansion>> {
    let (Arg::Text(equation), Arg::Tensors(values)) = (&context.step.args[0], &context.step.args[1]) else {
        return None;
    };
    let operands: Vec<Facts> = values.iter().map(|value| context.known(*value)).collect::<Option<_>>()?;
    let terms: Vec<&str> = equation.split("->").next()?.split(',').collect();
    if terms.len() != operands.len() {
        return None;
    }
    // A letter, or the place of a dimension of the ellipsis, counted from its end.
    let labels = |(term, operand): (&&str, &Facts)| -> Option<Vec<(Option<char>, usize)>> {
        let (before, after) = match term.split_once("...") {
            Some((before, after)) => (before, Some(after)),
            None => (*term, None),
        };
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).map(|c| (Some(c), 0)).collect::<Vec<_>>();
        let mut labels = letters(before);
        if let Some(after) = after.map(letters) {
            let hidden = operand.shape().rank().checked_sub(labels.len() + after.len())?;
            labels.extend((0..hidden).rev().map(|place| (None, place)));
            labels.extend(after);
        }
        (labels.len() == operand.shape().rank()).then_some(labels)
    };
    let labels: Vec<Vec<_>> = terms.iter().zip(&operands).map(labels).collect::<Option<_>>()?;
    let size = |wanted: &(Option<char>, usize)| {
        let all = labels.iter().zip(&operands).flat_map(|(labels, known)| labels.iter().zip(known.sizes()));
        let mut sizes: Vec<i64> = all.filter(|(label, _)| *label == wanted).map(|(_, size)| *size).collect();
        sizes.sort_unstable();
        sizes.into_iter().find(|size| *size != 1).unwrap_or(1)
    };
    let mut expansions = Vec::new();
    for (part, (labels, known)) in labels.iter().zip(&operands).enumerate() {
        let sizes: Vec<i64> = labels.iter().map(size).collect();
        if sizes != known.sizes() {
            expansions.push(Expansion { argument: 1, part: Some(part), sizes });
        }
    }
    Some(expansions)
}

/// Integer indices broadcast together. A mask stands for as many indices as it has dimensions.
fn indices(context: &StepContext) -> Option<Vec<Expansion>> {
    let Arg::Indices(values) = &context.step.args[1] else { return None };
    let given = values.iter().enumerate().filter_map(|(part, value)| Some((part, (*value)?)));
    let given: Vec<(usize, Facts)> =
        given.map(|(part, value)| Some((part, context.known(value)?))).collect::<Option<_>>()?;
    if given.iter().any(|(_, index)| index.dtype.category() == Category::Bool || index.dtype == DType::Uint8) {
        return None;
    }
    let common = common(given.iter().map(|(_, index)| index))?;
    let grown = given.into_iter().filter(|(_, index)| index.shape() != &common);
    let sizes = common.sizes().to_vec();
    Some(grown.map(|(part, _)| Expansion { argument: 1, part: Some(part), sizes: sizes.clone() }).collect())
}

/// Everything but the dimension that is indexed.
fn along(context: &StepContext) -> Option<Vec<Expansion>> {
    let operands = context.read()?;
    let ([(first, own), (second, index)], Arg::Int(dim)) = (operands.as_slice(), &context.step.args[2]) else {
        return None;
    };
    let rank = own.shape().rank();
    let dim = usize::try_from(if *dim < 0 { *dim + rank as i64 } else { *dim }).ok()?;
    if rank != index.shape().rank() || dim >= rank {
        return None;
    }
    let without = |known: &Facts| {
        let mut sizes = known.sizes().to_vec();
        sizes[dim] = 1;
        Shape::new(sizes).ok()
    };
    let common = without(own)?.broadcast(&without(index)?).ok()?;
    let grown = [(first, own), (second, index)].into_iter().map(|(number, known)| {
        let mut sizes = common.sizes().to_vec();
        sizes[dim] = known.sizes()[dim];
        (sizes != known.sizes()).then_some(Expansion { argument: *number, part: None, sizes })
    });
    Some(grown.flatten().collect())
}
