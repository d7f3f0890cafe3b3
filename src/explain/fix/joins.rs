//! The changes of calls that do not broadcast element by element: layers, attention, equations, functions that join
//! tensors, and losses over classes.

use broadcheck_protocol::tensor::Shape;

use super::Candidate;
use super::edits::{after, atom};
use super::lay::{flattened, lay_onto, text};
use super::placements::{permuted, reordered};
use crate::evaluate::Call;

pub(super) fn linear(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let [x, weight, ..] = &call.operands[..] else { return };
    let wanted = weight.shape.sizes().get(1).copied();
    let last = x.shape.sizes().last().copied();
    flattened(source, x, wanted, all);
    if let (Some(wanted), Some(last)) = (wanted, last) {
        for dim in (0..x.shape.rank()).filter(|&dim| x.shape.sizes()[dim] == wanted) {
            let why =
                format!("dimension {dim} of {}, which has {wanted}, is the last one that the layer takes", x.name);
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

pub(super) fn attention(source: &str, call: &Call, all: &mut Vec<Candidate>) {
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

pub(super) fn einsum(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let equation = &call.settings.equation;
    let whole = source.get(call.span.clone()).unwrap_or_default();
    let (inputs, output) =
        equation.split_once("->").map_or((equation.as_str(), None), |(inputs, output)| (inputs, Some(output)));
    let terms: Vec<&str> = inputs.split(',').map(str::trim).collect();
    let join = |terms: &[String], output: Option<String>| match output {
        Some(output) => format!("{}->{output}", terms.join(",")),
        None => terms.join(","),
    };
    let mut edits: Vec<Candidate> = Vec::new();
    let mut propose = |new: String, why: String, cost: u32| {
        if new != *equation && whole.contains(equation.as_str()) {
            let edit = (call.span.clone(), whole.replacen(equation.as_str(), &new, 1));
            all.push(Candidate::new(vec![edit], why, cost));
        }
    };
    // Batch dimensions that no letter names.
    let dotted: Vec<String> =
        terms.iter().map(|term| if term.contains("...") { (*term).to_owned() } else { format!("...{term}") }).collect();
    let output_dotted = output
        .map(|output| if output.contains("...") { output.trim().to_owned() } else { format!("...{}", output.trim()) });
    propose(join(&dotted, output_dotted), "... stands for the dimensions that have no letter".to_owned(), 6);
    for operand in &call.operands {
        for new in 0..=operand.shape.rank() {
            let why = format!("{} with a new dimension of size 1", operand.name);
            let (_, text) = after(source, operand, &format!(".unsqueeze({new})"));
            if !operand.span.is_empty() {
                edits.push(Candidate::new(vec![(operand.span.clone(), text)], why, 10));
            }
        }
    }
    // A letter that is longer in one operand.
    for (at, term) in terms.iter().enumerate() {
        let Some(operand) = call.operands.get(at).filter(|operand| operand.shape.rank() == term.chars().count()) else {
            continue;
        };
        let shortest = |letter: char| {
            let sizes = terms.iter().zip(&call.operands).filter_map(|(term, operand)| {
                let place = term.chars().position(|own| own == letter)?;
                operand.shape.sizes().get(place).copied()
            });
            sizes.filter(|size| *size > 1).min().unwrap_or(1)
        };
        let items: Vec<String> = term
            .chars()
            .zip(operand.shape.sizes())
            .map(
                |(letter, size)| {
                    if *size > shortest(letter) { format!(":{}", shortest(letter)) } else { ":".to_owned() }
                },
            )
            .collect();
        if items.iter().any(|item| item != ":") && !operand.span.is_empty() {
            let edit = after(source, operand, &format!("[{}]", items.join(", ")));
            let why = format!("the first entries alone, if {} is longer than needed", operand.name);
            edits.push(Candidate::new(vec![edit], why, 22));
        }
    }
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
            propose(
                join(&new, output.map(str::to_owned)),
                format!("the letters of {name} in the order of its dimensions"),
                9,
            );
        }
    }
    all.extend(edits);
}

/// Every order of so many things but the first one.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        all = all
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..count)
                    .filter(|next| !order.contains(next))
                    .map(|next| [order.clone(), vec![next]].concat())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    all.into_iter().filter(|order| order.windows(2).any(|pair| pair[0] > pair[1])).collect()
}

pub(super) fn cat(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let names: Vec<String> = call.operands.iter().map(|operand| text(source, operand)).collect();
    let ranks: Vec<usize> = call.operands.iter().map(|operand| operand.shape.rank()).collect();
    let most = ranks.iter().copied().max().unwrap_or(0);
    let dim = call.settings.dims.first().copied().unwrap_or(0);
    let write =
        |parts: &[String], dim: usize| (call.span.clone(), format!("torch.cat([{}], dim={dim})", parts.join(", ")));
    for other in (0..most).filter(|other| *other != dim) {
        all.push(Candidate::new(
            vec![write(&names, other)],
            format!("along dimension {other}, where the sizes differ"),
            6,
        ));
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
    // The shortest of each other dimension.
    if ranks.iter().all(|rank| *rank == most) && call.operands.len() > 1 {
        let least = |at: usize| call.operands.iter().map(|operand| operand.shape.sizes()[at]).min().unwrap_or(0);
        let mut parts = Vec::new();
        for operand in &call.operands {
            let mut items: Vec<String> = (0..most)
                .map(|at| match at != dim && operand.shape.sizes()[at] > least(at) {
                    true => format!(":{}", least(at)),
                    false => ":".to_owned(),
                })
                .collect();
            while items.last().is_some_and(|item| item == ":") {
                items.pop();
            }
            let own = atom(&text(source, operand));
            parts.push(if items.is_empty() { own } else { format!("{own}[{}]", items.join(", ")) });
        }
        all.push(Candidate::new(vec![write(&parts, dim)], "the larger ones are cut to the smallest", 15));
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
                .map(
                    |(place, (own, other))| {
                        if *own == 1 && place != dim && *other != 1 { other.to_string() } else { "-1".to_owned() }
                    },
                )
                .collect();
            if sizes.iter().all(|size| size == "-1") {
                continue;
            }
            let mut parts = names.clone();
            parts[at] = format!("{}.expand({})", atom(&parts[at]), sizes.join(", "));
            all.push(Candidate::new(
                vec![write(&parts, dim)],
                format!("cat does not broadcast: {} is expanded first", names[at]),
                8,
            ));
        }
        for order in permuted(b.shape.sizes(), a.shape.sizes()) {
            let parts = [names[0].clone(), format!("{}{}", atom(&names[1]), reordered(&order))];
            all.push(Candidate::new(
                vec![write(&parts, dim)],
                format!("the dimensions of {} in another order", names[1]),
                10,
            ));
        }
    }
}

pub(super) fn stack(source: &str, call: &Call, all: &mut Vec<Candidate>) {
    let names: Vec<String> = call.operands.iter().map(|operand| text(source, operand)).collect();
    let write = |text: String| (call.span.clone(), text);
    for dim in 0..call.operands.iter().map(|operand| operand.shape.rank()).max().unwrap_or(0) {
        let edit = write(format!("torch.cat([{}], dim={dim})", names.join(", ")));
        all.push(Candidate::new(vec![edit], format!("cat joins along dimension {dim}, where the sizes may differ"), 8));
    }
    let broadcast = write(format!("torch.stack(torch.broadcast_tensors({}))", names.join(", ")));
    all.push(Candidate::new(vec![broadcast], "stack does not broadcast: the tensors are broadcast first", 7));
    if let [a, b] = &call.operands[..] {
        for (own, other, at) in [(b, a, 1), (a, b, 0)] {
            if own.shape.rank() + 1 == other.shape.rank() {
                for new in 0..=own.shape.rank() {
                    let mut parts = names.clone();
                    parts[at] = format!("{}.unsqueeze({new}).expand_as({})", atom(&parts[at]), names[1 - at]);
                    let why = format!("{} with a new dimension, expanded to {}", own.name, other.name);
                    all.push(Candidate::new(vec![write(format!("torch.stack([{}])", parts.join(", ")))], why, 10));
                }
            }
            if own.shape.numel() == other.shape.numel() {
                let mut parts = names.clone();
                parts[at] = format!("{}.view_as({})", atom(&parts[at]), names[1 - at]);
                let why = format!("the elements of {} in the shape of {}", own.name, other.name);
                all.push(Candidate::new(vec![write(format!("torch.stack([{}])", parts.join(", ")))], why, 9));
            }
        }
    }
}

/// `cross_entropy`: targets that are to lose or gain a dimension, classes that are to move.
pub(super) fn classes(source: &str, call: &Call, all: &mut Vec<Candidate>) {
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
                let order: Vec<String> =
                    std::iter::once(0).chain(std::iter::once(last)).chain(1..last).map(|dim| dim.to_string()).collect();
                format!(".permute({})", order.join(", "))
            }
        };
        all.push(Candidate::new(vec![after(source, input, &suffix)], why, 6));
        let edits =
            vec![after(source, input, &format!(".flatten(0, {})", last - 1)), after(source, target, ".flatten()")];
        all.push(Candidate::new(edits, "each position is a row of its own", 7));
    }
    for dim in 2..input.shape.rank() {
        let why = format!("dimension {dim} of {} as that of the classes, which is dimension 1", input.name);
        all.push(Candidate::new(vec![after(source, input, &format!(".movedim({dim}, 1)"))], why, 8));
    }
    if let ([rows, ..], [1]) = (input.shape.sizes(), target.shape.sizes()) {
        let why = format!("the one target for each of the {rows} rows");
        all.push(Candidate::new(vec![after(source, target, &format!(".expand({rows})"))], why, 11));
    }
    if target.shape.rank() > 1 {
        all.push(Candidate::new(
            vec![after(source, target, ".flatten()")],
            format!("{} as one row of targets", target.name),
            10,
        ));
        let why = format!("the class with the highest score, where {} has one column a class", target.name);
        all.push(Candidate::new(vec![after(source, target, ".argmax(1)")], why, 12));
    }
    if input.shape.rank() == 2 {
        let why = format!("{} transposed: its rows are the batch", input.name);
        all.push(Candidate::new(vec![after(source, input, ".T")], why, 9));
    }
}
