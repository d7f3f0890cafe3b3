//! The memory that a call would take, so that one that takes too much is not made.

use std::collections::BTreeMap;

use broadcheck_protocol::ops::{Kernel, Op};
use broadcheck_protocol::program::VALUE_LIMIT;
use broadcheck_protocol::tensor::DType;

use crate::call::Fault;
use crate::shim::{Argument, Tensor};
use crate::value;

/// The bytes that a process on x86-64 can have at most.
const ADDRESS_SPACE: usize = 1 << 47;

/// Rejects a result that would take more memory than a value may have, before libtorch allocates it. Views take none,
/// whatever their size; everything else takes about as much as its result. Sizes that no process can allocate libtorch
/// rejects itself.
pub(super) fn within_limit(op: Op, args: &[Argument<'_>]) -> Result<(), Fault> {
    let tensors = args.iter().flat_map(|arg| match arg {
        Argument::Tensor(tensor) => vec![*tensor],
        Argument::Tensors(tensors) => tensors.clone(),
        _ => Vec::new(),
    });
    let tensors: Vec<&Tensor> = tensors.collect();
    let most = || tensors.iter().map(|tensor| tensor.numel()).max().unwrap_or(0);
    let elements = match op.info().kernel {
        Kernel::View | Kernel::Dtypes => 0,
        Kernel::Copy | Kernel::Autograd => most(),
        // Each element with each, in as many columns.
        Kernel::Grid => tensors.iter().fold(tensors.len(), |count, tensor| count.saturating_mul(tensor.numel().max(1))),
        // The places of the first operand's elements, or of the second's.
        Kernel::Lookup => most(),
        // As many elements as the list says, or as many copies.
        Kernel::Repetition => {
            let lists = args.iter().filter_map(|arg| if let Argument::Ints(list) = arg { Some(*list) } else { None });
            let counts = lists.flatten().map(|&count| count.max(1) as usize);
            let listed = counts.fold(1, usize::saturating_mul);
            if op == Op::ExpandCopy { listed.max(most()) } else { listed.saturating_mul(most()) }
        }
        // What is put somewhere, or taken for an index, is not copied.
        Kernel::Assignment => most(),
        _ if op == Op::IndexPut => most(),
        Kernel::Product if op.matrix_of_equations().is_none() && op != Op::LinalgVecdot => product(op, args, &tensors),
        Kernel::Reduction | Kernel::Extreme | Kernel::Scan | Kernel::Ranked | Kernel::Moment | Kernel::Norm => {
            let large = most();
            if large > VALUE_LIMIT / DType::Complex128.size() {
                return Err(value::too_large(large.saturating_mul(DType::Complex128.size())));
            }
            0
        }
        // The result is empty too, and nothing is converted.
        _ if tensors.iter().any(|tensor| tensor.numel() == 0)
            && tensors.iter().all(|tensor| tensor.kind() == tensors[0].kind()) =>
        {
            0
        }
        _ => broadcast(tensors.iter().map(|tensor| tensor.size())),
    };
    // libtorch finds no memory for as many bytes as this, whatever the dtype.
    if elements >= ADDRESS_SPACE {
        return Ok(());
    }
    // The widest dtype, since the result's own is libtorch's to say.
    let bytes = elements.saturating_mul(DType::Complex128.size());
    if bytes > VALUE_LIMIT { Err(value::too_large(bytes)) } else { Ok(()) }
}

/// The most elements that a product of tensors can have: those of the outer product, but for the dimension that is
/// summed over in products of matrices. Where the sizes of that one differ, libtorch rejects them before it allocates.
fn product(op: Op, args: &[Argument<'_>], tensors: &[&Tensor]) -> usize {
    let (summands, summed) = match op {
        Op::Dot | Op::Inner | Op::Mv | Op::Mm | Op::Bmm | Op::Matmul | Op::Linear => (0, true),
        Op::Addmm | Op::AddmmActivation | Op::Addmv | Op::Baddbmm | Op::Addbmm => (1, true),
        Op::Addr => (1, false),
        _ => (0, false),
    };
    if let (Op::ScaledDotProductAttention, [query, key, value, ..]) = (op, tensors) {
        return attention(query, key, value);
    }
    if let [Argument::Text(equation), ..] = args {
        return einsum(equation, tensors);
    }
    if let (Op::Bilinear, [first, second, weight, bias @ ..]) = (op, tensors) {
        return bilinear(first, second, weight, bias.first().copied());
    }
    let (summands, factors) = match op {
        // What is added comes last.
        Op::Linear => {
            let (factors, summand) = tensors.split_at(2.min(tensors.len()));
            (summand, factors)
        }
        _ => tensors.split_at(summands.min(tensors.len())),
    };
    let inner = factors.first().filter(|_| summed).and_then(|first| first.size().last().copied());
    let inner = inner.map_or(1, |size| size.max(1) as usize);
    let outer = factors.iter().fold(1, |product: usize, tensor| product.saturating_mul(tensor.numel().max(1)));
    // What no process can have is not made possible by a division.
    let result = if outer >= ADDRESS_SPACE { outer } else { outer / inner / inner };
    summands.iter().map(|summand| summand.numel()).fold(result.max(1), usize::max)
}

/// The elements of a result none of whose dimensions is larger than the largest there.
fn broadcast(shapes: impl Iterator<Item = Vec<i64>>) -> usize {
    let mut largest: Vec<i64> = Vec::new();
    for mut sizes in shapes {
        sizes.reverse();
        largest.resize(largest.len().max(sizes.len()), 1);
        largest.iter_mut().zip(sizes).for_each(|(largest, size)| *largest = size.max(*largest));
    }
    largest.iter().fold(1, |product: usize, &size| product.saturating_mul(size as usize))
}

/// The same of attention, whose scores are a number for each query and each key.
fn attention(query: &Tensor, key: &Tensor, value: &Tensor) -> usize {
    let size = |tensor: &Tensor, from_end: usize| tensor.size().iter().rev().nth(from_end).map_or(1, |it| *it.max(&1));
    let batch = |tensor: &Tensor| tensor.size().iter().rev().skip(2).rev().copied().collect();
    let batches = broadcast([query, key, value].into_iter().map(batch));
    let columns = size(key, 1).max(size(value, 0)) as usize;
    batches.saturating_mul(size(query, 1) as usize).saturating_mul(columns)
}

/// The same of an equation, with a dimension for each of its letters, and those that an ellipsis stands for.
fn einsum(equation: &str, tensors: &[&Tensor]) -> usize {
    let operands = equation.split("->").next().unwrap_or_default();
    let mut letters: BTreeMap<char, i64> = BTreeMap::new();
    let mut others = Vec::new();
    for (letters_of_one, tensor) in operands.split(',').zip(tensors) {
        let sizes = tensor.size();
        let (before, after) = letters_of_one.split_once("...").unwrap_or((letters_of_one, ""));
        let named = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<Vec<char>>();
        let (before, after) = (named(before), named(after));
        // libtorch rejects an operand with fewer dimensions.
        let Some(rest) = sizes.len().checked_sub(before.len() + after.len()) else { return 0 };
        let (first, sizes) = sizes.split_at(before.len());
        let (middle, last) = sizes.split_at(rest);
        others.push(middle.to_vec());
        for (letter, &size) in before.iter().zip(first).chain(after.iter().zip(last)) {
            let largest = letters.entry(*letter).or_insert(1);
            *largest = size.max(*largest);
        }
    }
    letters.values().fold(broadcast(others.into_iter()), |product, &size| product.saturating_mul(size as usize))
}

/// The same of the products of vectors with matrices, to which a bias broadcasts. What does not fit libtorch rejects before
/// it allocates.
fn bilinear(input: &Tensor, other: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> usize {
    let (mut sizes, mut others, matrices) = (input.size(), other.size(), weight.size());
    let features = [sizes.pop(), others.pop()];
    if sizes != others || features != [1, 2].map(|dim| matrices.get(dim).copied()) {
        return 0;
    }
    sizes.extend(matrices.first());
    let mut bias = bias.map(Tensor::size).unwrap_or_default();
    let rank = sizes.len().max(bias.len());
    for sizes in [&mut sizes, &mut bias] {
        sizes.splice(0..0, vec![1; rank - sizes.len()]);
    }
    let largest = sizes.iter().zip(&bias).map(|(product, bias)| *product.max(bias).max(&1) as usize);
    largest.fold(1, usize::saturating_mul)
}
