//! `einsum`: an equation, operands, and the sum over every label that the result lacks (`at::einsum`).
//!
//! Operands are contracted from left to right, each pair by a sum of what only one of them has, and a batched product or
//! an elementwise one, as libtorch does it: from these come the dtype of the result, its strides, what is refused of the
//! dtypes, and the gradients.

use std::collections::VecDeque;

use crate::error::Rejection;
use crate::ops::Op;
use crate::tensor::{Layout, Shape};

use super::machine::{Call, Machine, Result, Slot, TensorId};
use super::product::parts;
use super::view;

/// `einsum`.
pub(super) fn einsum(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = call.tensors(1)?.to_vec();
    let ranks: Vec<usize> = ids.iter().map(|id| machine.tensor(*id).shape().rank()).collect();
    let equation = Equation::parse(call.text(0)?, &ranks)?;
    let mut seen = Seen { sizes: vec![1; equation.dims.len()], counts: vec![0; equation.dims.len()] };
    for (operand, id) in ids.iter().enumerate() {
        let layout = machine.tensor(*id).layout.clone();
        equation.align(operand, &layout, &mut seen)?;
    }
    machine.compose(|machine| equation.contract(machine, call.op, &ids, seen.counts)).map(Slot::Tensor)
}

/// The facts about each dimension of the equation from the operands looked at so far: its size, and how many operands
/// have it with another size than 1.
struct Seen {
    sizes: Vec<i64>,
    counts: Vec<usize>,
}

/// A label of the equation: a letter, or one of the dimensions that ellipses cover, counted as in the widest of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Letter(char),
    Covered(usize),
}

/// A parsed equation: all its dimensions, those of the result first, and the labels of each operand.
struct Equation {
    dims: Vec<Label>,
    output: usize,
    operands: Vec<Vec<Label>>,
}

/// A part of a side of the equation.
#[derive(Clone, Copy, PartialEq)]
enum Item {
    Letter(char),
    Ellipsis,
}

impl Equation {
    fn parse(text: &str, ranks: &[usize]) -> std::result::Result<Equation, Rejection> {
        if ranks.is_empty() {
            return Err(Rejection::EinsumNoOperands);
        }
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text, None),
        };
        let sides = parse_operands(left, ranks.len())?;
        let mut covered = 0;
        for (operand, (items, &rank)) in sides.iter().zip(ranks).enumerate() {
            let ellipsis = items.contains(&Item::Ellipsis);
            let subscripts = items.len() - usize::from(ellipsis);
            match ellipsis {
                true if subscripts > rank => {
                    return Err(Rejection::EinsumTooManySubscripts { subscripts, rank, operand });
                }
                true => covered = covered.max(rank - subscripts),
                false if subscripts != rank => {
                    return Err(Rejection::EinsumSubscriptCount { subscripts, rank, operand });
                }
                false => {}
            }
        }
        let operands: Vec<Vec<Label>> = sides
            .iter()
            .zip(ranks)
            .map(|(items, &rank)| {
                let own = rank - items.iter().filter(|item| **item != Item::Ellipsis).count();
                let labels = items.iter().flat_map(|item| match item {
                    Item::Letter(letter) => vec![Label::Letter(*letter)],
                    Item::Ellipsis => (covered - own..covered).map(Label::Covered).collect(),
                });
                labels.collect()
            })
            .collect();
        let mut letters: Vec<char> = sides
            .iter()
            .flatten()
            .filter_map(|item| match item {
                Item::Letter(letter) => Some(*letter),
                Item::Ellipsis => None,
            })
            .collect();
        // Capital letters come before small ones, in the result of an equation without an arrow too.
        letters.sort_unstable();
        let mut dims = match right {
            Some(right) => parse_output(right, left.len() + 2, &letters, covered)?,
            None => {
                let once = |letter: &&char| letters.iter().filter(|other| other == letter).count() == 1;
                let letters = letters.iter().filter(once).map(|letter| Label::Letter(*letter));
                (0..covered).map(Label::Covered).chain(letters).collect()
            }
        };
        let output = dims.len();
        let rest = (0..covered).map(Label::Covered).chain(letters.into_iter().map(Label::Letter));
        for label in rest {
            if !dims.contains(&label) {
                dims.push(label);
            }
        }
        Ok(Equation { dims, output, operands })
    }

    /// An operand with its dimensions in the order of the equation, size 1 where it lacks one, and the diagonal where a
    /// letter repeats. Sizes are compared with each other, and with those of the operands before, letter by letter.
    fn align(&self, operand: usize, layout: &Layout, seen: &mut Seen) -> std::result::Result<Layout, Rejection> {
        let (mut sizes, mut strides) = (layout.shape.sizes().to_vec(), layout.strides.clone());
        let mut places: Vec<Option<usize>> = vec![None; self.dims.len()];
        // The next dimension: a diagonal takes one away.
        let mut dim = 0;
        for label in &self.operands[operand] {
            let at = self.dims.iter().position(|other| other == label).expect("every label has a dimension");
            if let (Some(first), Label::Letter(letter)) = (places[at], label) {
                if sizes[dim] != sizes[first] {
                    let (first, second) = (sizes[first], sizes[dim]);
                    return Err(Rejection::EinsumRepeatedSizes { label: *letter, operand, first, second });
                }
                sizes.remove(dim);
                strides[first] = i64::wrapping_add(strides[first], strides.remove(dim));
                continue;
            }
            let size = sizes[dim];
            if size != 1 {
                let known = seen.sizes[at];
                if known != 1 && known != size {
                    return Err(match *label {
                        Label::Letter(label) => Rejection::EinsumSizeMismatch { label, size, operand, seen: known },
                        Label::Covered(_) => Rejection::EinsumEllipsisMismatch { dim, size, operand, seen: known },
                    });
                }
                seen.sizes[at] = size;
                seen.counts[at] += 1;
            }
            places[at] = Some(dim);
            dim += 1;
        }
        let shape = places.iter().map(|place| place.map_or(1, |dim| sizes[dim])).collect();
        let strides = places.iter().map(|place| place.map_or(1, |dim| strides[dim])).collect();
        Ok(Layout { shape: Shape::of_sizes(shape), strides, offset: layout.offset })
    }

    /// The operands, aligned, multiplied and summed. `counts` says how many of them are left that have a dimension.
    fn contract(&self, machine: &mut Machine, op: Op, ids: &[TensorId], mut counts: Vec<usize>) -> Result<TensorId> {
        let mut operands = VecDeque::new();
        for (operand, id) in ids.iter().enumerate() {
            let aligned = |_: &Machine, from: &Layout, _| {
                let mut own = Seen { sizes: vec![1; self.dims.len()], counts: counts.clone() };
                Ok(self.align(operand, from, &mut own)?)
            };
            operands.push_back(view::apply(machine, op, *id, aligned)?);
        }
        while operands.len() > 1 {
            let (Some(mut a), Some(mut b)) = (operands.pop_front(), operands.pop_front()) else { break };
            let (mut together, mut only_a, mut only_b) = (Vec::new(), Vec::new(), Vec::new());
            for (dim, count) in counts.iter_mut().enumerate().skip(self.output) {
                let size = |id: TensorId| machine.tensor(id).shape().sizes()[dim];
                if size(a) != 1 && size(b) != 1 {
                    *count -= 1;
                    if *count == 1 {
                        together.push(dim);
                        *count = 0;
                    }
                } else if *count == 1 && (size(a) != 1 || size(b) != 1) {
                    if size(a) != 1 { &mut only_a } else { &mut only_b }.push(dim as i64);
                    *count = 0;
                }
            }
            if !only_a.is_empty() {
                a = parts::sum(machine, a, only_a, true)?;
            }
            if !only_b.is_empty() {
                b = parts::sum(machine, b, only_b, true)?;
            }
            operands.push_front(pair(machine, a, b, &together)?);
        }
        let result = operands.pop_front().ok_or(Rejection::EinsumNoOperands)?;
        if self.output == self.dims.len() {
            return Ok(result);
        }
        if ids.len() == 1 {
            return parts::sum(machine, result, (self.output as i64..self.dims.len() as i64).collect(), false);
        }
        let sizes = machine.tensor(result).shape().sizes()[..self.output].to_vec();
        parts::view(machine, result, sizes)
    }
}

/// Two operands multiplied, and summed over dimensions that both have, which stay with length 1 (`sumproduct_pair`).
fn pair(machine: &mut Machine, a: TensorId, b: TensorId, summed: &[usize]) -> Result<TensorId> {
    if summed.is_empty() {
        return parts::binary(machine, Op::Mul, a, b);
    }
    let (left, right) = (machine.tensor(a).shape().sizes().to_vec(), machine.tensor(b).shape().sizes().to_vec());
    let (mut both, mut only_a, mut only_b) = (Vec::new(), Vec::new(), Vec::new());
    for dim in (0..left.len()).filter(|dim| !summed.contains(dim)) {
        match (left[dim] != 1, right[dim] != 1) {
            (true, true) => both.push(dim),
            (true, false) => only_a.push(dim),
            _ => only_b.push(dim),
        }
    }
    // What the result has later comes from the right.
    let exchanged = matches!((only_a.first(), only_b.last()), (Some(first), Some(last)) if last < first);
    let (a, b, left, right) = if exchanged { (b, a, right, left) } else { (a, b, left, right) };
    if exchanged {
        std::mem::swap(&mut only_a, &mut only_b);
    }
    let sizes = |dims: &[usize], of: &[i64]| -> Vec<i64> { dims.iter().map(|&dim| of[dim]).collect() };
    let product = |dims: &[usize], of: &[i64]| parts::multiplied(&sizes(dims, of));
    let order = |groups: [&[usize]; 4]| -> Vec<i64> { groups.concat().into_iter().map(|dim| dim as i64).collect() };
    let (batch, inner) = (product(&both, &left), product(summed, &left));
    let (rows, columns) = (product(&only_a, &left), product(&only_b, &right));
    let permuted = parts::permute(machine, a, order([&both, &only_a, summed, &only_b]))?;
    let first = parts::reshape(machine, permuted, vec![batch, rows, inner])?;
    let permuted = parts::permute(machine, b, order([&both, summed, &only_b, &only_a]))?;
    let second = parts::reshape(machine, permuted, vec![batch, inner, columns])?;
    let made = parts::binary(machine, Op::Bmm, first, second)?;
    let spread = [sizes(&both, &left), sizes(&only_a, &left), vec![1; summed.len()], sizes(&only_b, &right)].concat();
    let made = parts::view(machine, made, spread)?;
    let places = order([&both, &only_a, summed, &only_b]);
    let mut back = vec![0; places.len()];
    for (at, dim) in places.into_iter().enumerate() {
        back[dim as usize] = at as i64;
    }
    parts::permute(machine, made, back)
}

fn parse_operands(left: &str, count: usize) -> std::result::Result<Vec<Vec<Item>>, Rejection> {
    let mut operands = vec![Vec::new()];
    let mut at = 0;
    let bytes = left.as_bytes();
    while at < bytes.len() {
        let operand = operands.len() - 1;
        match bytes[at] {
            b' ' => {}
            b'.' => {
                if operands[operand].contains(&Item::Ellipsis) {
                    return Err(Rejection::EinsumSecondEllipsis { operand });
                }
                if !left[at..].starts_with("...") {
                    return Err(Rejection::EinsumDot { operand });
                }
                operands[operand].push(Item::Ellipsis);
                at += 2;
            }
            b',' => {
                if operands.len() == count {
                    return Err(Rejection::EinsumTooFewOperands);
                }
                operands.push(Vec::new());
            }
            letter if letter.is_ascii_alphabetic() => operands[operand].push(Item::Letter(letter as char)),
            _ => return Err(Rejection::EinsumSubscript { at }),
        }
        at += 1;
    }
    if operands.len() < count {
        return Err(Rejection::EinsumTooManyOperands);
    }
    Ok(operands)
}

fn parse_output(
    right: &str,
    offset: usize,
    letters: &[char],
    covered: usize,
) -> std::result::Result<Vec<Label>, Rejection> {
    let mut dims = Vec::new();
    let mut ellipsis = false;
    let mut at = 0;
    let bytes = right.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b' ' => {}
            b'.' => {
                if ellipsis {
                    return Err(Rejection::EinsumSecondOutputEllipsis);
                }
                if !right[at..].starts_with("...") {
                    return Err(Rejection::EinsumOutputDot);
                }
                ellipsis = true;
                dims.extend((0..covered).map(Label::Covered));
                at += 2;
            }
            letter if letter.is_ascii_alphabetic() => {
                let label = letter as char;
                if dims.contains(&Label::Letter(label)) {
                    return Err(Rejection::EinsumRepeatedOutput { label });
                }
                if !letters.contains(&label) {
                    return Err(Rejection::EinsumUnknownOutput { label });
                }
                dims.push(Label::Letter(label));
            }
            _ => return Err(Rejection::EinsumSubscript { at: offset + at }),
        }
        at += 1;
    }
    Ok(dims)
}
