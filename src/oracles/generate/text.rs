//! The arguments that are little languages: what stands between the brackets of `x[...]`, and einsum equations.

use arbitrary::{Result, Unstructured};

use crate::tensor::IndexItem;

use super::chance;

/// Words that a parameter with a default may take: rounding modes, and what is none.
pub(super) const WORDS: &[&str] = &["floor", "trunc", "floor", "trunc", "true", ""];

/// Basic indexing for a tensor of these sizes.
pub(super) fn index(u: &mut Unstructured, sizes: &[i64]) -> Result<Vec<IndexItem>> {
    let mut items = Vec::new();
    let mut ellipsis = false;
    // One more than there are dimensions, now and then.
    let beyond = usize::from(chance(u, 1, 16)?);
    let count = u.int_in_range(1..=sizes.len().max(1) + beyond)?;
    for at in 0..count {
        let size = sizes.get(at).copied().unwrap_or(1);
        match u.int_in_range(0..=8u8)? {
            0..=3 => items.push(slice(u, size)?),
            4 | 5 => items.push(IndexItem::At(u.int_in_range(-size - 1..=size)?)),
            6 => items.push(IndexItem::None),
            7 if !ellipsis => {
                ellipsis = true;
                items.push(IndexItem::Ellipsis);
            }
            _ => items.push(IndexItem::Slice { start: None, stop: None, step: 1 }),
        }
    }
    Ok(items)
}

fn slice(u: &mut Unstructured, size: i64) -> Result<IndexItem> {
    let mut bound = || -> Result<Option<i64>> {
        let given = chance(u, 1, 2)?;
        given.then(|| u.int_in_range(-size - 2..=size + 2)).transpose()
    };
    let (start, stop) = (bound()?, bound()?);
    // Slices go forward only.
    let step = if chance(u, 1, 16)? { u.int_in_range(-1..=0)? } else { u.int_in_range(1..=3)? };
    Ok(IndexItem::Slice { start, stop, step })
}

/// An equation for operands of these sizes: mostly one that fits them.
pub(super) fn equation(u: &mut Unstructured, operands: &[&[i64]]) -> Result<String> {
    let mut letters: Vec<(char, i64)> = Vec::new();
    let mut sides = Vec::new();
    let mut covered = false;
    for sizes in operands {
        let mut side = String::new();
        let hidden =
            if chance(u, 1, 4)? { u.int_in_range(0..=sizes.len())?..u.int_in_range(0..=sizes.len())? } else { 0..0 };
        for (dim, &size) in sizes.iter().enumerate() {
            if hidden.contains(&dim) {
                if dim == hidden.start {
                    side.push_str("...");
                    covered = true;
                }
                continue;
            }
            side.push(letter(u, &mut letters, size)?);
        }
        sides.push(side);
    }
    let mut equation = sides.join(if chance(u, 1, 8)? { " , " } else { "," });
    if chance(u, 3, 4)? {
        equation.push_str("->");
        let place = u.int_in_range(0..=letters.len())?;
        for at in 0..=letters.len() {
            if at == place && covered && chance(u, 7, 8)? {
                equation.push_str("...");
            }
            if at < letters.len() && u.arbitrary()? {
                equation.push(letters.swap_remove(at).0);
            }
        }
    }
    if chance(u, 1, 8)? {
        let at = u.int_in_range(0..=equation.len())?;
        equation.insert(at, *u.choose(&[' ', '.', ',', '1', 'a', 'Z', '-', '>'])?);
    }
    Ok(equation)
}

/// A letter that a dimension of this size can have beside the others, or a new one.
fn letter(u: &mut Unstructured, letters: &mut Vec<(char, i64)>, size: i64) -> Result<char> {
    let fitting: Vec<char> = letters
        .iter()
        .filter(|(_, other)| *other == size || *other == 1 || size == 1)
        .map(|&(letter, _)| letter)
        .collect();
    if !fitting.is_empty() && chance(u, 2, 3)? {
        return u.choose(&fitting).copied();
    }
    // Capital letters sort before small ones, so both take part.
    let new = *u.choose(&['i', 'j', 'k', 'A', 'b', 'Z', 'x', 'q'])?;
    if !letters.iter().any(|&(letter, _)| letter == new) {
        letters.push((new, size));
    }
    Ok(new)
}
