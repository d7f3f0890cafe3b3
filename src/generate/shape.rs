//! Shapes that have something to do with each other, as far as broadcasting is concerned.

use arbitrary::{Result, Unstructured};

use crate::tensor::Shape;

use super::{MAX_INPUT_ELEMENTS, MAX_RANK};

/// Sizes to draw from; the first is what no bytes mean. Few and small, so that sizes meet again.
const SIZES: &[i64] = &[2, 3, 1, 4, 0, 5, 7, 8];

/// Ranks to draw from: the usual ones more than once.
const RANKS: &[usize] = &[2, 1, 3, 0, 2, 4, 3, 5, 1, 6];

/// The few sizes of one program, and the shape that its shapes are relatives of.
#[derive(Debug)]
pub(super) struct Palette {
    sizes: Vec<i64>,
    base: Vec<i64>,
}

impl Palette {
    pub fn new(u: &mut Unstructured) -> Result<Palette> {
        let sizes = vec![*u.choose(SIZES)?, *u.choose(SIZES)?, 1];
        let rank = *u.choose(RANKS)?;
        let base = (0..rank).map(|_| u.choose(&sizes).copied()).collect::<Result<_>>()?;
        Ok(Palette { sizes, base })
    }

    /// A size of the program.
    pub fn size(&self, u: &mut Unstructured) -> Result<i64> {
        u.choose(&self.sizes).copied()
    }

    /// A shape for an input.
    pub fn shape(&self, u: &mut Unstructured) -> Result<Shape> {
        let base = self.base.clone();
        Ok(fitting(self.relative(u, &base)?, MAX_INPUT_ELEMENTS))
    }

    /// Sizes that broadcast with `of`, or nearly do.
    pub fn relative(&self, u: &mut Unstructured, of: &[i64]) -> Result<Vec<i64>> {
        let mut sizes = of.to_vec();
        match u.int_in_range(0..=9u8)? {
            0..=2 => {}
            3 => drop_leading(u, &mut sizes)?,
            4 => make_ones(u, &mut sizes)?,
            5 => {
                drop_leading(u, &mut sizes)?;
                make_ones(u, &mut sizes)?;
            }
            // One size is another: mostly a mismatch, sometimes a neighbour that broadcasts.
            6 if !sizes.is_empty() => {
                let dim = u.choose_index(sizes.len())?;
                sizes[dim] = if u.arbitrary()? { sizes[dim] + 1 } else { self.size(u)? };
            }
            7 => {
                let leading = (0..u.int_in_range(1..=2)?).map(|_| self.size(u)).collect::<Result<Vec<_>>>()?;
                sizes.splice(0..0, leading);
            }
            // A product's other operand has the last two sizes the other way round.
            8 if sizes.len() >= 2 => {
                let last = sizes.len() - 1;
                sizes.swap(last, last - 1);
            }
            _ => {
                let rank = *u.choose(RANKS)?;
                sizes = (0..rank).map(|_| self.size(u)).collect::<Result<_>>()?;
            }
        }
        Ok(sizes)
    }
}

/// Takes a few of the first sizes away.
pub(super) fn drop_leading(u: &mut Unstructured, sizes: &mut Vec<i64>) -> Result<()> {
    let count = u.int_in_range(0..=sizes.len())?;
    sizes.drain(..count);
    Ok(())
}

/// Makes any of the sizes 1.
pub(super) fn make_ones(u: &mut Unstructured, sizes: &mut [i64]) -> Result<()> {
    for size in sizes {
        if u.arbitrary()? {
            *size = 1;
        }
    }
    Ok(())
}

/// The shape with these sizes, or the nearest that is within the limits: leading dimensions give way.
fn fitting(mut sizes: Vec<i64>, elements: usize) -> Shape {
    sizes.drain(..sizes.len().saturating_sub(MAX_RANK));
    for dim in 0..sizes.len() {
        if sizes.iter().product::<i64>() <= elements as i64 {
            break;
        }
        sizes[dim] = 1;
    }
    Shape::new(sizes).expect("sizes of the palette, none negative, their product small")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_hold() {
        let shape = fitting(vec![7; 9], MAX_INPUT_ELEMENTS);
        assert_eq!(shape.sizes(), [1, 1, 1, 1, 7, 7]);
        assert_eq!(fitting(vec![3, 0, 3], 1).sizes(), [3, 0, 3]);
    }
}
