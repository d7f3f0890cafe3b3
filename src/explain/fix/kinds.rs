//! The changes that may make a call work, by the kind of call.

use broadcheck_protocol::ops::{Family, Form, Op};
use broadcheck_protocol::tensor::Shape;

use super::Candidate;
use super::edits::{after, atom, subscript};
use super::joins;
use super::lay::{cut, flattened, lay_onto, text};
use super::placements::in_order;
use crate::beside::Kind;
use crate::evaluate::{Call, Operand};
use crate::names::Function;

/// The changes to try.
pub(super) fn candidates(source: &str, call: &Call, calls: &[Call]) -> Vec<Candidate> {
    let mut all = Vec::new();
    kept_dimensions(source, call, calls, &mut all);
    respelled(source, call, &mut all);
    without_out(source, call, &mut all);
    match call.function {
        Function::Table(Op::Einsum, _) => joins::einsum(source, call, &mut all),
        Function::Table(Op::Expand | Op::BroadcastTo, _) => expand(source, call, &mut all),
        Function::Table(Op::View | Op::Reshape, _) => view(source, call, &mut all),
        Function::Table(Op::Backward, _) => backward(source, call, &mut all),
        Function::Beside(function) => match function.kind {
            Kind::Cat => joins::cat(source, call, &mut all),
            Kind::Stack => joins::stack(source, call, &mut all),
            Kind::CrossEntropy => joins::classes(source, call, &mut all),
            Kind::Linear => joins::linear(source, call, &mut all),
            Kind::Attention => joins::attention(source, call, &mut all),
            Kind::Repeat => repeat(source, call, &mut all),
            _ => elementwise(source, call, &mut all),
        },
        Function::Table(op, _) if op.info().family() == Family::Products => product(source, call, &mut all),
        Function::Table(..) => elementwise(source, call, &mut all),
    }
    all
}

/// Operands that are written so that they lose, or turn around, more dimensions than is meant.
fn respelled(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    for operand in &call.operands {
        let text = text(source, operand);
        if let Some(bare) = text.strip_suffix(".T").filter(|_| operand.shape.rank() > 2) {
            let edit = (operand.span.clone(), format!("{bare}.mT"));
            all.push(Candidate::new(vec![edit], ".T turns all dimensions around, .mT the last two alone", 3));
        }
        if let Some(bare) = text.strip_suffix(".squeeze()") {
            for dim in 0..4 {
                let edit = (operand.span.clone(), format!("{bare}.squeeze({dim})"));
                all.push(Candidate::new(
                    vec![edit],
                    "squeeze() removes every dimension of size 1, also that of a batch of one",
                    5,
                ));
            }
        }
    }
}

/// The call without a tensor to write to that has another shape.
fn without_out(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let Some(out) = &call.out else { return };
    let whole = source.get(call.span.clone()).unwrap_or_default();
    let written = format!(", out={}", out.name);
    if whole.contains(&written) {
        let edit = (call.span.clone(), whole.replacen(&written, "", 1));
        all.push(Candidate::new(vec![edit], "a new tensor has the shape of the result", 5));
    }
}

/// Returns whether the tensors of a call broadcast element by element.
pub(crate) fn is_elementwise(call: &Call) -> bool {
    match call.function {
        Function::Table(op, _) => {
            matches!(op.info().family(), Family::Pointwise | Family::Losses)
                || matches!(
                    op,
                    Op::MaskedFill
                        | Op::MaskedSelect
                        | Op::MaskedScatter
                        | Op::IndexPut
                        | Op::BroadcastTensors
                        | Op::Copy
                )
        }
        Function::Beside(function) => function.kind == Kind::BinaryCrossEntropy,
    }
}

/// `keepdim=True` for an operand that is a reduction, and lines up with another dimension than its own.
fn kept_dimensions(source: &str, call: &Call, calls: &[Call], all: &mut Vec<Candidate>) {
    for operand in &call.operands {
        let Some(made) = reduction_at(operand, calls) else { continue };
        let text = source.get(made.span.clone()).unwrap_or_default();
        if let Some(before) = text.strip_suffix(')') {
            let separator = if before.ends_with('(') { "" } else { ", " };
            let edit = (made.span.clone(), format!("{before}{separator}keepdim=True)"));
            let why = format!("keepdim=True leaves a 1 where {} has lost a dimension", operand.name);
            all.push(Candidate::new(vec![edit], why, 4));
        }
    }
}

/// The reduction without `keepdim` that an operand is, over some dimensions.
pub(crate) fn reduction_at<'a>(operand: &Operand, calls: &'a [Call]) -> Option<&'a Call> {
    calls.iter().find(|made| {
        // `x.max(dim=1).values` and `x.max(1)[0]` are behind the call itself.
        let here = made.span == operand.span
            || (made.span.start == operand.span.start && made.span.end < operand.span.end && made.stop.is_none());
        let reduces = match made.function {
            Function::Table(
                Op::Cumsum | Op::Cumprod | Op::Cummax | Op::Cummin | Op::Logcumsumexp | Op::LayerNorm,
                _,
            ) => false,
            Function::Table(op, _) => op.info().family() == Family::Reductions && op != Op::SumToSize,
            Function::Beside(function) => function.kind == Kind::Extreme,
        };
        here && reduces && !made.settings.keepdim
    })
}

fn elementwise(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let target_is_written = matches!(call.function, Function::Table(_, Form::InPlace));
    for (at, operand) in call.operands.iter().enumerate() {
        if target_is_written && at == 0 {
            continue;
        }
        let others: Vec<&Operand> =
            call.operands.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, operand)| operand).collect();
        let mut targets: Vec<&Shape> = others.iter().map(|other| &other.shape).collect();
        targets.sort_by_key(|shape| std::cmp::Reverse((shape.rank(), shape.numel())));
        targets.dedup();
        for target in targets {
            lay_onto(source, operand, target, all);
            cut(source, operand, target, target_is_written, all);
        }
        if target_is_written && operand.shape.rank() > call.operands[0].shape.rank() {
            let why = format!("the first entry of {} alone", operand.name);
            all.push(Candidate::new(vec![after(source, operand, "[0]")], why, 28));
        }
    }
    if target_is_written {
        instead_of_in_place(source, call, all);
    }
    let binary = matches!(call.function, Function::Beside(function) if function.kind == Kind::BinaryCrossEntropy);
    let loss = matches!(call.function, Function::Table(op, _) if op.info().family() == Family::Losses);
    if let (true, [input, target, ..]) = (binary || loss, &call.operands[..]) {
        if input.shape.rank() == target.shape.rank() + 1 && input.shape.rank() > 1 {
            let (own, other) = (text(source, input), text(source, target));
            let edit = (call.span.clone(), format!("F.cross_entropy({own}, {other})"));
            all.push(Candidate::new(
                vec![edit],
                "one column a class, and one class a row, is what cross_entropy takes",
                21,
            ));
        }
        for (own, other) in [(target, input), (input, target)] {
            let suffix = format!(".expand_as({})", text(source, other));
            let why = format!("{} for each of {}, said in so many words", own.name, other.name);
            all.push(Candidate::new(vec![after(source, own, &suffix)], why, 20));
        }
    }
    if let Function::Table(op, Form::Functional) = call.function
        && matches!(op, Op::Mul)
        && call.operands.len() == 2
    {
        let (a, b) = (text(source, &call.operands[0]), text(source, &call.operands[1]));
        let edit = (call.span.clone(), format!("{} @ {}", atom(&a), atom(&b)));
        let why = "the product of matrices is @, and * multiplies element by element";
        all.push(Candidate::new(vec![edit], why, 20));
        let (_, turned) = after(source, &call.operands[1], ".mT");
        let edit = (call.span.clone(), format!("{} @ {turned}", atom(&a)));
        all.push(Candidate::new(vec![edit], format!("{why}; {} transposed", call.operands[1].name), 21));
    }
    if call.operands.len() == 2 && !target_is_written {
        outer(source, call, all);
    }
}

/// Both shapes at once: every element of the one with every element of the other.
fn outer(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let [a, b] = &call.operands[..] else { return };
    if a.shape.rank() == 1 && b.shape.rank() == 1 {
        let why = format!("every element of {} with every element of {}", a.name, b.name);
        all.push(Candidate::new(vec![after(source, a, ".unsqueeze(1)")], why, 12));
    }
    if a.shape.rank() == 2 && b.shape.rank() == 2 && a.shape.sizes()[1] == b.shape.sizes()[1] {
        let why = format!("every row of {} with every row of {}", a.name, b.name);
        all.push(Candidate::new(vec![after(source, a, "[:, None, :]")], &why, 14));
        all.push(Candidate::new(
            vec![after(source, b, "[:, None, :]")],
            format!("{why}, those of {} first", b.name),
            14,
        ));
    }
}

/// A new tensor in place of one that would have to grow.
fn instead_of_in_place(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let Function::Table(op, Form::InPlace) = call.function else { return };
    let [target, rest @ ..] = &call.operands[..] else { return };
    if call.settings.assigned {
        return;
    }
    // A target that is too long may be cut, if it is a new tensor then.
    if let (Some(sign), [other]) = (call.settings.operator, rest) {
        let mut cuts = Vec::new();
        cut(source, target, &other.shape, false, &mut cuts);
        for candidate in cuts {
            let cut = candidate.edits.first().map(|(_, text)| text.clone()).unwrap_or_default();
            let edit =
                (call.span.clone(), format!("{} = {cut} {sign} {}", text(source, target), atom(&text(source, other))));
            all.push(Candidate::new(vec![edit], candidate.why, 31));
        }
    }
    let whole = source.get(call.span.clone()).unwrap_or_default();
    let why = format!("a new tensor, since {} cannot grow in place", target.name);
    let own = text(source, target);
    match (call.settings.operator, rest) {
        // `a += b` is a statement, and `a = a + b` another one.
        (Some(sign), [other]) => {
            let edit = (call.span.clone(), format!("{own} = {} {sign} {}", atom(&own), atom(&text(source, other))));
            all.push(Candidate::new(vec![edit], why, 5));
        }
        _ => {
            let (method, plain) = (format!(".{op}_("), format!(".{op}("));
            if whole.contains(&method) {
                let edit = (call.span.clone(), whole.replacen(&method, &plain, 1));
                all.push(Candidate::new(vec![edit], why, 5));
            }
        }
    }
}

/// Products of matrices and vectors.
fn product(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let Function::Table(op, _) = call.function else { return };
    let skip = call.operands.len().saturating_sub(2);
    if let [a, b] = &call.operands[skip..] {
        factors(source, call, (a, b), all);
        if matches!(op, Op::Mm | Op::Bmm | Op::Mv | Op::Dot | Op::Inner) {
            let edit = (call.span.clone(), format!("torch.matmul({}, {})", text(source, a), text(source, b)));
            all.push(Candidate::new(vec![edit], format!("{op} does not broadcast, and matmul does"), 8));
            // A change of an operand with it.
            let swapped = |suffix: &str| {
                let (_, b) = after(source, b, suffix);
                (call.span.clone(), format!("torch.matmul({}, {b})", text(source, a)))
            };
            if b.shape.rank() > 1 {
                all.push(Candidate::new(
                    vec![swapped(".transpose(-1, -2)")],
                    format!("matmul broadcasts; {} transposed", b.name),
                    14,
                ));
            }
        }
        cut_inner(source, (a, b), all);
        repeated(source, (a, b), all);
        if call.operands.len() == 2 && op != Op::Dot {
            let (left, right) = (text(source, a), text(source, b));
            let plain = match call.settings.operator {
                Some(sign) => format!("{} {sign} {}", atom(&right), atom(&left)),
                None => format!("torch.{op}({right}, {left})"),
            };
            all.push(Candidate::new(vec![(call.span.clone(), plain)], "the factors in the other order", 20));
            let edit = (call.span.clone(), format!("{} * {}", atom(&left), atom(&right)));
            all.push(Candidate::new(vec![edit], "* multiplies element by element, and broadcasts", 24));
        }
        if op == Op::Dot {
            let edit = (call.span.clone(), format!("({} * {}).sum()", atom(&text(source, a)), atom(&text(source, b))));
            all.push(Candidate::new(vec![edit], "the sum of the products, element by element", 18));
        }
    }
    instead_of_in_place(source, call, all);
    // The summand of `addmm` and its like.
    if let (1, Function::Table(_, Form::Functional)) = (skip, call.function) {
        let [summand, a, b] = [0, 1, 2].map(|at| atom(&text(source, &call.operands[at])));
        let edit = (call.span.clone(), format!("{summand} + {a} @ {b}"));
        all.push(Candidate::new(vec![edit], "a sum broadcasts both ways, and addmm its summand alone", 10));
    }
    if skip == 1 {
        let (summand, a, b) = (&call.operands[0], &call.operands[1], &call.operands[2]);
        if let ([rows, ..], [.., columns]) = (a.shape.sizes(), b.shape.sizes()) {
            lay_onto(source, summand, &Shape::new(vec![*rows, *columns]).unwrap_or_default(), all);
        }
    }
}

/// The changes of two factors.
fn factors(source: &str, call: &Call, (a, b): (&Operand, &Operand), all: &mut Vec<Candidate>) {
    let transposed = |operand: &Operand| if operand.shape.rank() == 2 { ".T" } else { ".transpose(-1, -2)" };
    if b.shape.rank() > 1 {
        let why = format!("{} transposed: its last dimension is the inner one", b.name);
        all.push(Candidate::new(vec![after(source, b, transposed(b))], why, 5));
    }
    if a.shape.rank() > 1 {
        let why = format!("{} transposed: its first dimension is the inner one", a.name);
        all.push(Candidate::new(vec![after(source, a, transposed(a))], why, 7));
    }
    if a.shape.rank() > 1 && b.shape.rank() > 1 {
        let edits = vec![after(source, a, transposed(a)), after(source, b, transposed(b))];
        all.push(Candidate::new(edits, "both transposed", 26));
    }
    // A batch of vectors is a batch of matrices with one column.
    if b.shape.rank() > 1 {
        let why = format!("{} as columns: each of its rows is a vector", b.name);
        let edit = after(source, b, ".unsqueeze(-1)");
        let product = source.get(call.span.clone()).unwrap_or_default();
        let start = edit.0.start.saturating_sub(call.span.start);
        if let (Some(before), Some(behind)) = (product.get(..start), product.get(start + edit.0.len()..)) {
            let whole = format!("{before}{}{behind}", edit.1);
            let squeezed = (call.span.clone(), format!("{}.squeeze(-1)", atom(&whole)));
            all.push(Candidate::new(vec![squeezed], format!("{why}, and the column is removed again"), 8));
        }
        all.push(Candidate::new(vec![edit], why, 9));
    }
    if a.shape.rank() > 0 {
        let why = format!("{} as a row", a.name);
        all.push(Candidate::new(vec![after(source, a, ".unsqueeze(-2)")], why, 13));
    }
    if b.shape.rank() == 1 {
        all.push(Candidate::new(vec![after(source, b, ".unsqueeze(0)")], format!("{} as a row", b.name), 12));
    }
    // Batch dimensions that are to meet others.
    for (own, other) in [(b, a), (a, b)] {
        let (rank, others) = (own.shape.rank(), other.shape.rank());
        if rank >= 2 && others > rank {
            let batch = &own.shape.sizes()[..rank - 2];
            for places in in_order(batch, &other.shape.sizes()[..others - 2]) {
                let mut places = places;
                places.extend([others - 2, others - 1]);
                let why = format!("the batch dimensions of {} where {} has them", own.name, other.name);
                all.push(Candidate::new(vec![after(source, own, &subscript(&places, others))], why, 8));
            }
        }
    }
    // The rest of the dimensions as one row: images before a layer.
    flattened(source, a, b.shape.sizes().get(b.shape.rank().saturating_sub(2)).copied(), all);
}

/// The first entries of an inner dimension that is longer than the other one.
fn cut_inner(source: &str, (a, b): (&Operand, &Operand), all: &mut Vec<Candidate>) {
    let ([.., left], [.., right, _]) = (a.shape.sizes(), b.shape.sizes()) else { return };
    let why = |of: &Operand, count: i64| format!("the first {count} alone, if {} is longer than needed", of.name);
    if left > right {
        all.push(Candidate::new(vec![after(source, a, &format!("[..., :{right}]"))], why(a, *right), 30));
    } else {
        all.push(Candidate::new(vec![after(source, b, &format!("[..., :{left}, :]"))], why(b, *left), 30));
    }
}

/// A batch that is a whole number of times in the other one, repeated.
fn repeated(source: &str, (a, b): (&Operand, &Operand), all: &mut Vec<Candidate>) {
    for (own, other) in [(b, a), (a, b)] {
        let (Some(size), Some(wanted)) = (own.shape.sizes().first(), other.shape.sizes().first()) else { continue };
        if own.shape.rank() == other.shape.rank()
            && own.shape.rank() > 2
            && *size > 1
            && wanted > size
            && wanted % size == 0
        {
            let ones = vec!["1"; own.shape.rank() - 1].join(", ");
            let suffix = format!(".repeat({}, {ones})", wanted / size);
            let why = format!("{} copies of the batch of {}", wanted / size, own.name);
            all.push(Candidate::new(vec![after(source, own, &suffix)], why, 24));
        }
    }
}

fn expand(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let [tensor, ..] = &call.operands[..] else { return };
    let wanted: Vec<i64> = call.settings.sizes.clone();
    if wanted.iter().any(|size| *size < -1) {
        return;
    }
    lay_onto(source, tensor, &Shape::new(wanted.iter().map(|size| (*size).max(0)).collect()).unwrap_or_default(), all);
    cut(source, tensor, &Shape::new(wanted.iter().map(|size| (*size).max(0)).collect()).unwrap_or_default(), true, all);
    if wanted.len() == tensor.shape.rank() + 1 {
        for at in 0..wanted.len() {
            let why = format!("a new dimension of size 1 at {at}, which is expanded");
            all.push(Candidate::new(vec![after(source, tensor, &format!(".unsqueeze({at})"))], why, 7));
        }
    }
    // Copies, where a size is a multiple of what is there.
    let own = tensor.shape.sizes();
    if wanted.len() >= own.len() && !own.contains(&0) {
        let missing = wanted.len() - own.len();
        let counts: Option<Vec<i64>> = wanted
            .iter()
            .enumerate()
            .map(|(at, wanted)| {
                let size = at.checked_sub(missing).map_or(1, |at| own[at]);
                (*wanted > 0 && wanted % size == 0).then(|| wanted / size)
            })
            .collect();
        if let Some(counts) = counts {
            let counts: Vec<String> = counts.iter().map(i64::to_string).collect();
            let edit = (call.span.clone(), format!("{}.repeat({})", atom(&text(source, tensor)), counts.join(", ")));
            all.push(Candidate::new(vec![edit], "repeat copies a dimension that is not 1", 18));
        }
    }
    // Fewer sizes than dimensions: -1 for those that stay.
    if wanted.len() < own.len() {
        let mut sizes: Vec<String> = vec!["-1".to_owned(); own.len() - wanted.len()];
        sizes.extend(wanted.iter().map(i64::to_string));
        let edit = (call.span.clone(), format!("{}.expand({})", atom(&text(source, tensor)), sizes.join(", ")));
        all.push(Candidate::new(vec![edit], "-1 keeps a size; every dimension needs one", 8));
    }
}

fn view(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let [tensor, ..] = &call.operands[..] else { return };
    let (own, sizes) = (text(source, tensor), &call.settings.sizes);
    let write = |method: &str, sizes: &[i64]| (call.span.clone(), format!("{}.{method}({})", atom(&own), join(sizes)));
    let method = match call.function {
        Function::Table(op, _) => op.name(),
        Function::Beside(function) => function.name,
    };
    for at in (0..sizes.len()).rev() {
        let mut new = sizes.clone();
        new[at] = -1;
        if new.iter().filter(|size| **size == -1).count() == 1 {
            let why = format!("-1 takes what is left of the {} elements", tensor.shape.numel());
            // The first size is mostly the batch, which is to be kept.
            all.push(Candidate::new(vec![write(method, &new)], why, if at == 0 { 8 } else { 6 }));
        }
    }
    // One size, or two that are equal, as the number of elements asks for.
    let numel = i64::try_from(tensor.shape.numel()).unwrap_or(i64::MAX);
    let rest = |without: &[usize]| {
        let kept = sizes.iter().enumerate().filter(|(at, _)| !without.contains(at));
        kept.fold(1i64, |all, (_, size)| all.saturating_mul((*size).max(1)))
    };
    for at in (0..sizes.len()).rev() {
        for other in (at + 1..sizes.len()).filter(|&other| sizes[other] == sizes[at] && sizes[at] > 0) {
            let left = rest(&[at, other]);
            let root = ((numel / left.max(1)) as f64).sqrt().round() as i64;
            if root.saturating_mul(root).saturating_mul(left) == numel {
                let mut new = sizes.clone();
                (new[at], new[other]) = (root, root);
                let why = format!(
                    "{root} × {root}, which the {numel} elements make, in place of {} × {}",
                    sizes[at], sizes[at]
                );
                all.push(Candidate::new(vec![write(method, &new)], why, 5));
            }
        }
    }
    // Whole groups alone, where the last one is not full.
    if let ([first, ..], 1) = (tensor.shape.sizes(), sizes.iter().filter(|size| **size == -1).count()) {
        let (group, row) = (rest(&[]), if *first > 0 { numel / first } else { 0 });
        if row > 0 && group % row == 0 && group > numel % group && numel > group {
            let keep = (numel / group) * (group / row);
            let edit = (call.span.clone(), format!("{}[:{keep}].{method}({})", atom(&own), join(sizes)));
            let why = format!("without the last {} of {first}, which fill no group", first - keep);
            all.push(Candidate::new(vec![edit], why, 14));
        }
    }
    if method == "view" {
        all.push(Candidate::new(vec![write("reshape", sizes)], "reshape copies where the strides allow no view", 4));
    }
    if let [first, ..] = tensor.shape.sizes()
        && tensor.shape.rank() > 1
    {
        all.push(Candidate::new(
            vec![write(method, &[*first, -1])],
            "the first dimension stays, the others become one",
            12,
        ));
    }
}

fn join(sizes: &[i64]) -> String {
    sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// `repeat` with fewer numbers than dimensions, or with a zero.
fn repeat(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let [tensor, ..] = &call.operands[..] else { return };
    let (own, counts) = (atom(&text(source, tensor)), &call.settings.sizes);
    let rank = tensor.shape.rank();
    if counts.len() < rank {
        let mut new = vec![1; rank - counts.len()];
        new.extend(counts);
        let edit = (call.span.clone(), format!("{own}.repeat({})", join(&new)));
        all.push(Candidate::new(vec![edit], "one number for each dimension; 1 repeats nothing", 6));
        for dim in (0..rank).filter(|&dim| tensor.shape.sizes()[dim] == 1) {
            let why = format!("without dimension {dim} of {}, which has size 1", tensor.name);
            all.push(Candidate::new(vec![after(source, tensor, &format!(".squeeze({dim})"))], why, 5));
        }
    }
    if counts.contains(&0) {
        let new: Vec<i64> = counts.iter().map(|count| (*count).max(1)).collect();
        let edit = (call.span.clone(), format!("{own}.repeat({})", join(&new)));
        all.push(Candidate::new(vec![edit], "1 repeats nothing, and 0 leaves nothing", 5));
    }
}

fn backward(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    if let [tensor, ..] = &call.operands[..] {
        let own = atom(&text(source, tensor));
        for (method, why) in
            [("sum", "the sum of all elements is one number"), ("mean", "the mean of all elements is one number")]
        {
            let whole = source.get(call.span.clone()).unwrap_or_default();
            let edit = match whole.contains("autograd.grad(") {
                true => after(source, tensor, &format!(".{method}()")),
                false => (call.span.clone(), format!("{own}.{method}().backward()")),
            };
            all.push(Candidate::new(vec![edit], why, if method == "sum" { 4 } else { 5 }));
        }
        let edit = (call.span.clone(), format!("{own}.backward(torch.ones_like({own}))"));
        all.push(Candidate::new(vec![edit], "a gradient of the shape of the tensor", 6));
    }
}
