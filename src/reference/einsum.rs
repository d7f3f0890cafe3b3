//! `einsum`: an equation, operands, and the sum over every label that the result lacks (`at::einsum`).

use num_complex::Complex64;

use crate::error::{EinsumFault, Product, Rejection};
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, Layout, Shape};

use super::backward;
use super::machine::{Call, Machine, Result, Slot, Tensor};
use super::number::Number;
use super::view;

/// `einsum`.
pub(super) fn einsum(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = call.tensors(1)?.to_vec();
    let operands: Vec<Tensor> = ids.iter().map(|id| machine.tensor(*id).clone()).collect();
    let ranks: Vec<usize> = operands.iter().map(|operand| operand.shape().rank()).collect();
    let equation = Equation::parse(call.text(0)?, &ranks).map_err(Rejection::Einsum)?;
    let layouts = operands
        .iter()
        .enumerate()
        .map(|(at, operand)| equation.align(at, &operand.layout))
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(Rejection::Einsum)?;
    let sizes = equation.sizes(&layouts).map_err(Rejection::Einsum)?;
    if operands.len() > 1 {
        check_dtypes(&operands)?;
    }
    let result = if operands.len() == 1 && equation.output == equation.dims.len() {
        // Nothing to multiply and nothing to sum: the result is a view of the operand.
        view::apply(machine, call.op, ids[0], |_, from, _| {
            let aligned = equation.align(0, from).map_err(Rejection::Einsum)?;
            Ok(aligned)
        })?
    } else {
        let shape = Shape::new(sizes[..equation.output].to_vec()).map_err(|_| Rejection::Numel)?;
        let full = Shape::new(sizes.clone()).map_err(|_| Rejection::Numel)?;
        let values = contract(machine, &operands, &layouts, &full, &shape);
        let result = machine.allocate(Layout::contiguous(shape), values);
        let result = machine.add(result);
        backward::record_unknown(machine, call.op, result, &ids);
        result
    };
    Ok(Slot::Tensor(result))
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

/// What a side of the equation is made of.
#[derive(Clone, Copy, PartialEq)]
enum Item {
    Letter(char),
    Ellipsis,
}

impl Equation {
    fn parse(text: &str, ranks: &[usize]) -> std::result::Result<Equation, EinsumFault> {
        if ranks.is_empty() {
            return Err(EinsumFault::NoOperands);
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
            if if ellipsis { subscripts > rank } else { subscripts != rank } {
                return Err(EinsumFault::SubscriptCount { subscripts, rank, operand, ellipsis });
            }
            if ellipsis {
                covered = covered.max(rank - subscripts);
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
    /// letter repeats.
    fn align(&self, operand: usize, layout: &Layout) -> std::result::Result<Layout, EinsumFault> {
        let mut sizes: Vec<Option<i64>> = vec![None; self.dims.len()];
        let mut strides = vec![0; self.dims.len()];
        for (dim, label) in self.operands[operand].iter().enumerate() {
            let at = self.dims.iter().position(|other| other == label).expect("every label has a dimension");
            let size = layout.shape.sizes()[dim];
            match (sizes[at], label) {
                (Some(first), Label::Letter(label)) if first != size => {
                    return Err(EinsumFault::RepeatedSizes { label: *label, operand, first, second: size });
                }
                _ => {}
            }
            sizes[at] = Some(size);
            strides[at] += layout.strides[dim];
        }
        let sizes = sizes.into_iter().map(|size| size.unwrap_or(1)).collect();
        Ok(Layout { shape: Shape::new(sizes).expect("sizes of an operand"), strides, offset: layout.offset })
    }

    /// The size of every dimension: sizes of 1 give way.
    fn sizes(&self, layouts: &[Layout]) -> std::result::Result<Vec<i64>, EinsumFault> {
        let mut sizes = vec![1; self.dims.len()];
        for (operand, layout) in layouts.iter().enumerate() {
            for (dim, label) in self.operands[operand].iter().enumerate() {
                let at = self.dims.iter().position(|other| other == label).expect("every label has a dimension");
                let (size, seen) = (layout.shape.sizes()[at], sizes[at]);
                if size == 1 || size == seen {
                    continue;
                }
                if seen != 1 {
                    return Err(match *label {
                        Label::Letter(label) => EinsumFault::SizeMismatch { label, size, operand, seen },
                        Label::Covered(_) => EinsumFault::EllipsisMismatch { dim, size, operand, seen },
                    });
                }
                sizes[at] = size;
            }
        }
        Ok(sizes)
    }
}

fn parse_operands(left: &str, count: usize) -> std::result::Result<Vec<Vec<Item>>, EinsumFault> {
    let mut operands = vec![Vec::new()];
    let mut at = 0;
    let bytes = left.as_bytes();
    while at < bytes.len() {
        let operand = operands.len() - 1;
        match bytes[at] {
            b' ' => {}
            b'.' => {
                if operands[operand].contains(&Item::Ellipsis) {
                    return Err(EinsumFault::SecondEllipsis { operand: Some(operand) });
                }
                if !left[at..].starts_with("...") {
                    return Err(EinsumFault::IncompleteEllipsis { operand: Some(operand) });
                }
                operands[operand].push(Item::Ellipsis);
                at += 2;
            }
            b',' => {
                if operands.len() == count {
                    return Err(EinsumFault::TooFewOperands);
                }
                operands.push(Vec::new());
            }
            letter if letter.is_ascii_alphabetic() => operands[operand].push(Item::Letter(letter as char)),
            _ => return Err(EinsumFault::InvalidSubscript { at }),
        }
        at += 1;
    }
    if operands.len() < count {
        return Err(EinsumFault::TooManyOperands);
    }
    Ok(operands)
}

fn parse_output(
    right: &str,
    offset: usize,
    letters: &[char],
    covered: usize,
) -> std::result::Result<Vec<Label>, EinsumFault> {
    let mut dims = Vec::new();
    let mut ellipsis = false;
    let mut at = 0;
    let bytes = right.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b' ' => {}
            b'.' => {
                if ellipsis {
                    return Err(EinsumFault::SecondEllipsis { operand: None });
                }
                if !right[at..].starts_with("...") {
                    return Err(EinsumFault::IncompleteEllipsis { operand: None });
                }
                ellipsis = true;
                dims.extend((0..covered).map(Label::Covered));
                at += 2;
            }
            letter if letter.is_ascii_alphabetic() => {
                let label = letter as char;
                if dims.contains(&Label::Letter(label)) {
                    return Err(EinsumFault::RepeatedOutput { label });
                }
                if !letters.contains(&label) {
                    return Err(EinsumFault::UnknownOutput { label });
                }
                dims.push(Label::Letter(label));
            }
            _ => return Err(EinsumFault::InvalidSubscript { at: offset + at }),
        }
        at += 1;
    }
    Ok(dims)
}

/// libtorch multiplies pairs as batches of matrices, or element by element where nothing is summed; only the first
/// insists on one dtype.
fn check_dtypes(operands: &[Tensor]) -> Result<()> {
    let first = operands[0].dtype;
    match operands.iter().find(|operand| operand.dtype != first) {
        Some(other) => Err(Rejection::ProductDtypes { a: first, b: other.dtype, product: Product::Batch }.into()),
        None => Ok(()),
    }
}

/// The product of all operands at every index, summed over the dimensions that the result lacks.
fn contract(machine: &Machine, operands: &[Tensor], layouts: &[Layout], full: &Shape, shape: &Shape) -> Buffer {
    let terms = full.numel() / shape.numel().max(1);
    macro_rules! contract {
        ($type:ty) => {{
            let mut products: Option<Vec<$type>> = None;
            for (operand, layout) in operands.iter().zip(layouts) {
                let expanded = layout.expand(full).expect("every dimension was checked");
                let factors = machine.buffer(operand.storage).gather::<$type>(&expanded);
                products = Some(match products {
                    None => factors,
                    Some(products) => products.into_iter().zip(factors).map(|(a, b)| a.times(b)).collect(),
                });
            }
            let products = products.unwrap_or_default();
            // The dimensions that are summed are the innermost ones.
            let sum = |terms: &[$type]| terms.iter().fold(<$type>::default(), |sum, term| sum.plus(*term));
            match products.len() {
                0 => <$type>::wrap(vec![<$type>::default(); shape.numel()]),
                _ => <$type>::wrap(products.chunks(terms).map(sum).collect()),
            }
        }};
    }
    let dtype = operands[0].dtype;
    let sums = match dtype.category() {
        Category::Complex => contract!(Complex64),
        Category::Floating => contract!(f64),
        _ => contract!(i64),
    };
    Buffer::from_scalars(dtype, sums.scalars().into_iter())
}
