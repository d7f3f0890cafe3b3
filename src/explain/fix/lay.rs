//! Changes of one operand: new dimensions, another order, a part of it, its elements in other rows.

use broadcheck_protocol::tensor::Shape;

use super::Candidate;
use super::edits::{after, subscript};
use super::placements::{in_order, permuted, reordered};
use crate::evaluate::Operand;

/// The ways to bring an operand to dimensions that it shares with a target.
pub(super) fn lay_onto(source: &str, operand: &Operand, target: &Shape, all: &mut Vec<Candidate>) {
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
        // A dimension that moves for the sake of a 1 is hardly meant.
        let end = &wanted[wanted.len() - own.len()..];
        let loose = order.iter().zip(end).filter(|(dim, size)| own[**dim] != **size).count() as u32;
        all.push(Candidate::new(vec![after(source, operand, &reordered(&order))], why, 10 + 6 * loose));
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

/// The first entries of a tensor that is longer than the other one: a table of positions, a mask that was made for more. A
/// single entry is taken only where the other one cannot be expanded.
pub(super) fn cut(source: &str, operand: &Operand, target: &Shape, alone: bool, all: &mut Vec<Candidate>) {
    let rank = operand.shape.rank();
    let mut items = Vec::new();
    let mut said = Vec::new();
    for (dim, size) in operand.shape.sizes().iter().enumerate() {
        // From the end, as the shapes line up.
        let other = (dim + target.rank()).checked_sub(rank).map(|at| target.sizes()[at]);
        match other {
            Some(other) if *size > other && (other > 1 || alone) => {
                items.push(format!(":{other}"));
                said.push(format!("{other} of {size}"));
            }
            _ => items.push(":".to_owned()),
        }
    }
    if said.is_empty() {
        return;
    }
    while items.last().is_some_and(|item| item == ":") {
        items.pop();
    }
    let why = format!("the first {} alone, if {} is longer than needed", said.join(" and "), operand.name);
    all.push(Candidate::new(vec![after(source, operand, &format!("[{}]", items.join(", ")))], why, 30));
}

/// An operand whose dimensions after some are one: `.flatten(1)`; or whose elements make whole rows of the wanted size.
pub(super) fn flattened(source: &str, operand: &Operand, wanted: Option<i64>, all: &mut Vec<Candidate>) {
    let sizes = operand.shape.sizes();
    for from in 0..sizes.len().saturating_sub(1) {
        let product: i64 = sizes[from..].iter().fold(1, |all, size| all.saturating_mul(*size));
        if Some(product) == wanted {
            let why = format!("the dimensions of {} from {from} on as one of {product}", operand.name);
            all.push(Candidate::new(vec![after(source, operand, &format!(".flatten({from})"))], why, 6));
        }
    }
    let Some(wanted) = wanted.filter(|wanted| *wanted > 1 && sizes.last() != Some(wanted)) else { return };
    let all_elements = sizes.iter().fold(1i64, |all, size| all.saturating_mul(*size));
    if all_elements % wanted == 0 && !sizes.is_empty() {
        let why = format!("rows of {wanted}: the elements of {} are {} of them", operand.name, all_elements / wanted);
        all.push(Candidate::new(vec![after(source, operand, &format!(".reshape(-1, {wanted})"))], why, 27));
    }
}

pub(super) fn text(source: &str, operand: &Operand) -> String {
    match source.get(operand.span.clone()).filter(|text| !text.is_empty()) {
        Some(text) => text.to_owned(),
        None => operand.name.clone(),
    }
}
