//! The changes that may make a call work, by the kind of call.

use broadcheck_protocol::ops::{Family, Form, Op};
use broadcheck_protocol::tensor::Shape;

use super::Candidate;
use super::edits::{after, atom, subscript};
use super::placements::{in_order, permuted, reordered};
use crate::beside::Kind;
use crate::evaluate::{Call, Operand};
use crate::names::Function;

/// The changes to try.
pub(super) fn candidates(source: &str, call: &Call, calls: &[Call]) -> Vec<Candidate> {
    let mut all = Vec::new();
    kept_dimensions(source, call, calls, &mut all);
    match call.function {
        Function::Table(Op::Einsum, _) => einsum(source, call, &mut all),
        Function::Table(Op::Expand | Op::BroadcastTo, _) => expand(source, call, &mut all),
        Function::Table(Op::View | Op::Reshape, _) => view(source, call, &mut all),
        Function::Table(Op::Backward, _) => backward(source, call, &mut all),
        Function::Beside(function) => match function.kind {
            Kind::Cat => cat(source, call, &mut all),
            Kind::Stack => stack(source, call, &mut all),
            Kind::CrossEntropy => classes(source, call, &mut all),
            Kind::Linear => linear(source, call, &mut all),
            Kind::Attention => attention(source, call, &mut all),
            _ => elementwise(source, call, &mut all),
        },
        Function::Table(op, _) if op.info().family() == Family::Products => product(source, call, &mut all),
        Function::Table(..) => elementwise(source, call, &mut all),
    }
    all
}

/// Returns whether the tensors of a call broadcast element by element.
pub(crate) fn is_elementwise(call: &Call) -> bool {
    match call.function {
        Function::Table(op, _) => {
            matches!(op.info().family(), Family::Pointwise | Family::Losses)
                || matches!(op, Op::MaskedFill | Op::MaskedSelect | Op::MaskedScatter | Op::IndexPut | Op::BroadcastTensors | Op::Copy)
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
        }
    }
    if target_is_written {
        instead_of_in_place(source, call, all);
    }
    if let Function::Table(op, Form::Functional) = call.function
        && matches!(op, Op::Mul)
        && call.operands.len() == 2
    {
        let (a, b) = (text(source, &call.operands[0]), text(source, &call.operands[1]));
        let edit = (call.span.clone(), format!("{} @ {}", atom(&a), atom(&b)));
        all.push(Candidate::new(vec![edit], "the product of matrices is @, and * multiplies element by element", 30));
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
        all.push(Candidate::new(vec![after(source, a, "[:, None, :]")], why, 14));
    }
}

/// The ways to bring an operand to dimensions that it shares with a target.
fn lay_onto(source: &str, operand: &Operand, target: &Shape, all: &mut Vec<Candidate>) {
    let (own, wanted) = (operand.shape.sizes(), target.sizes());
    let name = &operand.name;
    for places in in_order(own, wanted) {
        let suffix = subscript(&places, wanted.len());
        if suffix.is_empty() {
            continue;
        }
        let dims: Vec<String> = places
            .iter()
            .zip(own)
            .filter(|(_, size)| **size != 1)
            .map(|(dim, size)| format!("{size} of {name} to dimension {dim}"))
            .collect();
        let why = format!("new dimensions of size 1 move the {}", dims.join(" and the "));
        // A dimension of size 1 that is moved says nothing.
        let idle = own.iter().filter(|size| **size == 1).count() as u32;
        let gaps = places.windows(2).filter(|pair| pair[1] != pair[0] + 1).count() as u32;
        all.push(Candidate::new(vec![after(source, operand, &suffix)], why, 6 + 3 * idle + 4 * gaps));
    }
    for order in permuted(own, wanted) {
        let why = format!("the dimensions of {name} in another order");
        all.push(Candidate::new(vec![after(source, operand, &reordered(&order))], why, 10));
    }
    for dim in (0..own.len()).rev().filter(|&dim| own[dim] == 1) {
        let left: Vec<i64> = own.iter().enumerate().filter(|(at, _)| *at != dim).map(|(_, size)| *size).collect();
        if left.len() <= wanted.len() && !left.is_empty() {
            let why = format!("without dimension {dim} of {name}, which has size 1");
            all.push(Candidate::new(vec![after(source, operand, &format!(".squeeze({dim})"))], why, 9));
        }
    }
    // The same elements in the target's shape.
    if operand.shape.numel() == target.numel() && own != wanted && operand.shape.numel() > 1 {
        let sizes: Vec<String> = wanted.iter().map(i64::to_string).collect();
        let why = format!("the elements of {name} in the order of memory, in the other shape");
        all.push(Candidate::new(vec![after(source, operand, &format!(".reshape({})", sizes.join(", ")))], why, 22));
    }
    // Dimensions that are there twice: channels first and channels last with one more dimension to be placed.
    if own.len() + 1 == wanted.len() {
        for order in permuted(own, &wanted[1..]) {
            let why = format!("the dimensions of {name} in another order");
            all.push(Candidate::new(vec![after(source, operand, &reordered(&order))], why, 16));
        }
    }
}

/// A new tensor in place of one that would have to grow.
fn instead_of_in_place(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let Function::Table(op, Form::InPlace) = call.function else { return };
    let [target, rest @ ..] = &call.operands[..] else { return };
    if call.settings.assigned {
        return;
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
                all.push(Candidate::new(vec![swapped(".transpose(-1, -2)")], format!("matmul broadcasts; {} transposed", b.name), 14));
            }
        }
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
    // The summand of `addmm` and its like.
    if skip == 1 {
        let (summand, a, b) = (&call.operands[0], &call.operands[1], &call.operands[2]);
        if let ([rows, ..], [.., columns]) = (a.shape.sizes(), b.shape.sizes()) {
            lay_onto(source, summand, &Shape::new(vec![*rows, *columns]).unwrap_or_default(), all);
        }
    }
}

/// The changes of two factors.
fn factors(source: &str, _call: &Call, (a, b): (&Operand, &Operand), all: &mut Vec<Candidate>) {
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
        all.push(Candidate::new(vec![after(source, b, ".unsqueeze(-1)")], why, 9));
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

/// An operand whose dimensions after some are one: `.flatten(1)`.
fn flattened(source: &str, operand: &Operand, wanted: Option<i64>, all: &mut Vec<Candidate>) {
    let sizes = operand.shape.sizes();
    for from in 0..sizes.len().saturating_sub(1) {
        let product: i64 = sizes[from..].iter().fold(1, |all, size| all.saturating_mul(*size));
        if Some(product) == wanted {
            let why = format!("the dimensions of {} from {from} on as one of {product}", operand.name);
            all.push(Candidate::new(vec![after(source, operand, &format!(".flatten({from})"))], why, 6));
        }
    }
}

fn linear(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let [x, weight, ..] = &call.operands[..] else { return };
    let wanted = weight.shape.sizes().get(1).copied();
    let last = x.shape.sizes().last().copied();
    flattened(source, x, wanted, all);
    if let (Some(wanted), Some(last)) = (wanted, last) {
        for dim in (0..x.shape.rank()).filter(|&dim| x.shape.sizes()[dim] == wanted) {
            let why = format!("dimension {dim} of {}, which has {wanted}, is the last one that the layer takes", x.name);
            all.push(Candidate::new(vec![after(source, x, &format!(".transpose({dim}, -1)"))], why, 7));
        }
        // The layer is in the text: its size may be changed.
        let text = source.get(call.span.clone()).unwrap_or_default();
        let layer = format!("Linear({wanted}");
        if text.contains(&layer) {
            let edit = (call.span.clone(), text.replacen(&layer, &format!("Linear({last}"), 1));
            all.push(Candidate::new(vec![edit], format!("a layer that takes {last}"), 8));
        }
        // The layer was made in a statement before.
        if let Some(at) = source.find(&layer).filter(|at| !call.span.contains(at)) {
            let edit = (at..at + layer.len(), format!("Linear({last}"));
            all.push(Candidate::new(vec![edit], format!("a layer that takes {last}"), 8));
        }
    }
    if !weight.span.is_empty() && weight.shape.rank() == 2 {
        let why = format!("{} transposed: linear takes a weight of shape [out, in]", weight.name);
        all.push(Candidate::new(vec![after(source, weight, ".T")], why, 9));
    }
}

fn attention(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    if let [query, key, _, mask] = &call.operands[..] {
        let (q, k) = (query.shape.sizes(), key.shape.sizes());
        if q.len() > 1 && k.len() > 1 {
            let mut scores = q[..q.len() - 1].to_vec();
            scores.push(k[k.len() - 2]);
            lay_onto(source, mask, &Shape::new(scores).unwrap_or_default(), all);
        }
    }
    for operand in &call.operands {
        if operand.shape.rank() > 2 {
            let why = format!("the dimensions of {} as [batch, heads, length, size]", operand.name);
            all.push(Candidate::new(vec![after(source, operand, ".transpose(1, 2)")], why, 14));
        }
    }
}

fn einsum(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let equation = &call.settings.equation;
    let whole = source.get(call.span.clone()).unwrap_or_default();
    let (inputs, output) = equation.split_once("->").map_or((equation.as_str(), None), |(inputs, output)| (inputs, Some(output)));
    let terms: Vec<&str> = inputs.split(',').map(str::trim).collect();
    let join = |terms: &[String], output: Option<String>| match output {
        Some(output) => format!("{}->{output}", terms.join(",")),
        None => terms.join(","),
    };
    let mut propose = |new: String, why: String, cost: u32| {
        if new != *equation && whole.contains(equation.as_str()) {
            let edit = (call.span.clone(), whole.replacen(equation.as_str(), &new, 1));
            all.push(Candidate::new(vec![edit], why, cost));
        }
    };
    // Batch dimensions that no letter names.
    let dotted: Vec<String> = terms.iter().map(|term| if term.contains("...") { (*term).to_owned() } else { format!("...{term}") }).collect();
    let output_dotted = output.map(|output| if output.contains("...") { output.trim().to_owned() } else { format!("...{}", output.trim()) });
    propose(join(&dotted, output_dotted), "... stands for the dimensions that have no letter".to_owned(), 6);
    // The letters of one operand in another order, or its dimensions.
    for (at, term) in terms.iter().enumerate() {
        let letters: Vec<char> = term.chars().collect();
        if !(2..=4).contains(&letters.len()) || term.contains('.') {
            continue;
        }
        for order in orders(letters.len()) {
            let mut new: Vec<String> = terms.iter().map(|term| (*term).to_owned()).collect();
            new[at] = order.iter().map(|&from| letters[from]).collect();
            let name = call.operands.get(at).map_or("an operand", |operand| operand.name.as_str());
            propose(join(&new, output.map(str::to_owned)), format!("the letters of {name} in the order of its dimensions"), 9);
        }
    }
}

/// Every order of so many things but the first one.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        all = all
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..count).filter(|next| !order.contains(next)).map(|next| [order.clone(), vec![next]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    all.into_iter().filter(|order| order.windows(2).any(|pair| pair[0] > pair[1])).collect()
}

fn expand(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let [tensor, ..] = &call.operands[..] else { return };
    let wanted: Vec<i64> = call.settings.sizes.clone();
    if wanted.iter().any(|size| *size < -1) {
        return;
    }
    lay_onto(source, tensor, &Shape::new(wanted.iter().map(|size| (*size).max(0)).collect()).unwrap_or_default(), all);
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
    let write = |method: &str, sizes: &[i64]| {
        let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
        (call.span.clone(), format!("{}.{method}({})", atom(&own), sizes.join(", ")))
    };
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
    if method == "view" {
        all.push(Candidate::new(vec![write("reshape", sizes)], "reshape copies where the strides allow no view", 4));
    }
    if let [first, ..] = tensor.shape.sizes()
        && tensor.shape.rank() > 1
    {
        all.push(Candidate::new(vec![write(method, &[*first, -1])], "the first dimension stays, the others become one", 12));
    }
}

fn cat(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let names: Vec<String> = call.operands.iter().map(|operand| operand.name.clone()).collect();
    let ranks: Vec<usize> = call.operands.iter().map(|operand| operand.shape.rank()).collect();
    let most = ranks.iter().copied().max().unwrap_or(0);
    let dim = call.settings.dims.first().copied().unwrap_or(0);
    let write = |parts: &[String], dim: usize| (call.span.clone(), format!("torch.cat([{}], dim={dim})", parts.join(", ")));
    for other in (0..most).filter(|other| *other != dim) {
        all.push(Candidate::new(vec![write(&names, other)], format!("along dimension {other}, where the sizes differ"), 6));
    }
    // A tensor with one dimension less.
    for (at, rank) in ranks.iter().enumerate().filter(|(_, rank)| **rank + 1 == most) {
        for new in 0..=*rank {
            for along in 0..most {
                let mut parts = names.clone();
                parts[at] = format!("{}.unsqueeze({new})", atom(&parts[at]));
                let why = format!("{} with a new dimension of size 1", names[at]);
                let cost = if along == dim { 7 } else { 9 };
                all.push(Candidate::new(vec![write(&parts, along)], why, cost));
            }
        }
    }
    // Sizes of 1 are expanded by hand.
    if let [a, b] = &call.operands[..]
        && a.shape.rank() == b.shape.rank()
    {
        for (own, other, at) in [(a, b, 0), (b, a, 1)] {
            let sizes: Vec<String> = own
                .shape
                .sizes()
                .iter()
                .zip(other.shape.sizes())
                .enumerate()
                .map(|(place, (own, other))| if *own == 1 && place != dim && *other != 1 { other.to_string() } else { "-1".to_owned() })
                .collect();
            let mut parts = names.clone();
            parts[at] = format!("{}.expand({})", atom(&parts[at]), sizes.join(", "));
            all.push(Candidate::new(vec![write(&parts, dim)], format!("cat does not broadcast: {} is expanded first", names[at]), 8));
        }
        for order in permuted(b.shape.sizes(), a.shape.sizes()) {
            let parts = [names[0].clone(), format!("{}{}", atom(&names[1]), reordered(&order))];
            all.push(Candidate::new(vec![write(&parts, dim)], format!("the dimensions of {} in another order", names[1]), 10));
        }
    }
    let _ = source;
}

fn stack(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let names: Vec<String> = call.operands.iter().map(|operand| operand.name.clone()).collect();
    let write = |text: String| (call.span.clone(), text);
    for dim in 0..call.operands.iter().map(|operand| operand.shape.rank()).max().unwrap_or(0) {
        let edit = write(format!("torch.cat([{}], dim={dim})", names.join(", ")));
        all.push(Candidate::new(vec![edit], format!("cat joins along dimension {dim}, where the sizes may differ"), 8));
    }
    let broadcast = write(format!("torch.stack(torch.broadcast_tensors({}))", names.join(", ")));
    all.push(Candidate::new(vec![broadcast], "stack does not broadcast: the tensors are broadcast first", 7));
    if let [a, b] = &call.operands[..] {
        for (own, other, at) in [(b, a, 1), (a, b, 0)] {
            if own.shape.numel() == other.shape.numel() {
                let mut parts = names.clone();
                parts[at] = format!("{}.view_as({})", atom(&parts[at]), names[1 - at]);
                let why = format!("the elements of {} in the shape of {}", own.name, other.name);
                all.push(Candidate::new(vec![write(format!("torch.stack([{}])", parts.join(", ")))], why, 9));
            }
        }
    }
    let _ = source;
}

/// `cross_entropy`: targets that are to lose or gain a dimension, classes that are to move.
fn classes(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let [input, target, ..] = &call.operands[..] else { return };
    for dim in (0..target.shape.rank()).rev().filter(|&dim| target.shape.sizes()[dim] == 1) {
        let why = format!("without dimension {dim} of {}: a target has no dimension for the classes", target.name);
        all.push(Candidate::new(vec![after(source, target, &format!(".squeeze({dim})"))], why, 4));
    }
    if input.shape.rank() > 2 {
        let why = format!("the classes of {} in dimension 1", input.name);
        let last = input.shape.rank() - 1;
        let suffix = match last {
            2 => ".transpose(1, 2)".to_owned(),
            _ => {
                let order: Vec<String> = std::iter::once(0).chain(std::iter::once(last)).chain(1..last).map(|dim| dim.to_string()).collect();
                format!(".permute({})", order.join(", "))
            }
        };
        all.push(Candidate::new(vec![after(source, input, &suffix)], why, 6));
        let edits = vec![after(source, input, &format!(".flatten(0, {})", last - 1)), after(source, target, ".flatten()")];
        all.push(Candidate::new(edits, "each position is a row of its own", 7));
    }
    if target.shape.rank() > 1 {
        all.push(Candidate::new(vec![after(source, target, ".flatten()")], format!("{} as one row of targets", target.name), 10));
        let why = format!("the class with the highest score, where {} has one column a class", target.name);
        all.push(Candidate::new(vec![after(source, target, ".argmax(1)")], why, 12));
    }
    if input.shape.rank() == 2 {
        let why = format!("{} transposed: its rows are the batch", input.name);
        all.push(Candidate::new(vec![after(source, input, ".T")], why, 9));
    }
    // A sequence that was laid out as one row.
    if let ([rows, classes], [batch, ..]) = (input.shape.sizes(), target.shape.sizes())
        && *batch > 0
        && rows != batch
        && rows % batch == 0
    {
        let each = (rows / batch).saturating_mul(*classes);
        let why = format!("{} with {batch} rows", input.name);
        all.push(Candidate::new(vec![after(source, input, &format!(".reshape({batch}, {each})"))], why, 14));
    }
}

fn backward(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    if let [tensor, ..] = &call.operands[..] {
        let own = atom(&text(source, tensor));
        for (method, why) in [("sum", "the sum of all elements is one number"), ("mean", "the mean of all elements is one number")] {
            let edit = (call.span.clone(), format!("{own}.{method}().backward()"));
            all.push(Candidate::new(vec![edit], why, if method == "sum" { 4 } else { 5 }));
        }
    }
}

fn text(source: &str, operand: &Operand) -> String {
    match source.get(operand.span.clone()).filter(|text| !text.is_empty()) {
        Some(text) => text.to_owned(),
        None => operand.name.clone(),
    }
}
