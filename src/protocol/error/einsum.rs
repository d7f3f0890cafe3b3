//! Rejections of `einsum` (`at::einsum`, ATen/native/Linear.cpp).

/// Adds the rows of `einsum`.
macro_rules! rows {
    ($($families:ident)*; $($rows:tt)*) => { $crate::error::table::rejections! { $($families)*; $($rows)*
    /// No operand at all.
    EinsumNoOperands => EinsumOperand, "einsum(): must provide at least one operand";
    /// A character that is no letter.
    EinsumSubscript { at: usize } => EinsumEquation,
        "einsum(): invalid subscript given at index {at} in the equation string, subscripts must be in [a-zA-Z]";
    /// A single or double dot in an operand.
    EinsumDot { operand: usize } => EinsumEquation,
        "einsum(): found '.' for operand {operand} that is not part of any ellipsis";
    /// A single or double dot in the output.
    EinsumOutputDot => EinsumEquation, "einsum(): found '.' for output that is not part of any ellipsis (...)";
    /// Two ellipses in one operand.
    EinsumSecondEllipsis { operand: usize } => EinsumEquation,
        "einsum(): found '.' for operand {operand} for which an ellipsis was already found";
    /// Two ellipses in the output.
    EinsumSecondOutputEllipsis => EinsumEquation,
        "einsum(): found '.' for output but an ellipsis (...) was already found";
    /// Fewer operands than the equation names.
    EinsumTooFewOperands => EinsumOperand, "einsum(): fewer operands were provided than specified in the equation";
    /// More operands than the equation names.
    EinsumTooManyOperands => EinsumOperand, "einsum(): more operands were provided than specified in the equation";
    /// An operand has another number of dimensions than letters, and no ellipsis.
    EinsumSubscriptCount { subscripts: usize, rank: usize, operand: usize } => EinsumOperand,
        "einsum(): the number of subscripts in the equation ({subscripts}) does not match the number of dimensions \
         ({rank}) for operand {operand} and no ellipsis was given";
    /// An operand with an ellipsis has fewer dimensions than letters.
    EinsumTooManySubscripts { subscripts: usize, rank: usize, operand: usize } => EinsumOperand,
        "einsum(): the number of subscripts in the equation ({subscripts}) is more than the number of dimensions \
         ({rank}) for operand {operand}";
    /// A letter twice in one operand, with different sizes.
    EinsumRepeatedSizes { label: char, operand: usize, first: i64, second: i64 } => EinsumOperand,
        "einsum(): subscript {label} is repeated for operand {operand} but the sizes don't match, {second} != {first}";
    /// A letter with sizes that do not broadcast.
    EinsumSizeMismatch { label: char, size: i64, operand: usize, seen: i64 } => EinsumOperand,
        "einsum(): subscript {label} has size {size} for operand {operand} which does not broadcast with previously \
         seen size {seen}";
    /// An output letter that no operand has.
    EinsumUnknownOutput { label: char } => EinsumEquation,
        "einsum(): output subscript {label} does not appear in the equation for any input operand";
    /// An output letter twice.
    EinsumRepeatedOutput { label: char } => EinsumEquation,
        "einsum(): output subscript {label} appears more than once in the output";
    /// The ellipses of two operands do not broadcast. The missing space before "has" is libtorch's.
    EinsumEllipsisMismatch { dim: usize, size: i64, operand: usize = (0..16), seen: i64 } => EinsumOperand,
        "einsum(): dimension {dim} covered by ellipsis in operand {operand}has size {size} which does not broadcast \
         with previously seen ellipsis with size {seen} for the respective dimension";
    } };
}

pub(super) use rows;
