//! From a rejection to libtorch's exact text, and from a text back to the class of the rejection.
//!
//! This is the one place that knows the words; [`crate::error`] knows only the facts. The texts are those of
//! libtorch 2.13.0 and, for `torch.broadcast_shapes`, of its Python front end. The front end changes some of
//! libtorch's own on their way to the user (`CPUFloatType` becomes `torch.FloatTensor`) and checks some things itself
//! before libtorch does (the shape of the gradient that `backward` is given).

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::error::{AlphaKind, Class, EinsumFault, FunctionFault, NAMES, Rejection, WORDS};
use crate::ops::Op;
use crate::tensor::DType;
use crate::tensor::shape::bracketed;

/// libtorch's text for a rejection.
pub fn text(rejection: &Rejection) -> String {
    match rejection {
        Rejection::SizeMismatch { a, b, dim } => {
            format!("The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim}")
        }
        Rejection::OutputShape { output, broadcast } => format!(
            "output with shape {} doesn't match the broadcast shape {}",
            bracketed(output),
            bracketed(broadcast)
        ),
        Rejection::ExpandRank { dtype, tensor, target } => format!(
            "expand(CPU{}Type{{{}}}, size={}): the number of sizes provided ({}) must be greater or equal to the \
             number of dimensions in the tensor ({})",
            dtype.libtorch_name(),
            bracketed(tensor),
            bracketed(target),
            target.len(),
            tensor.len()
        ),
        Rejection::ExpandSize { wanted, existing, dim, target, tensor } => format!(
            "The expanded size of the tensor ({wanted}) must match the existing size ({existing}) at non-singleton \
             dimension {dim}.  Target sizes: {}.  Tensor sizes: {}",
            bracketed(target),
            bracketed(tensor)
        ),
        Rejection::ExpandLeading { size, dim } => {
            format!("The expanded size of the tensor ({size}) isn't allowed in a leading, non-existing dimension {dim}")
        }
        Rejection::NotExpandable { from, to } => {
            format!("size {{{}}} is not expandable to size {{{}}}.", bracketed(from), bracketed(to))
        }
        Rejection::ShapesMismatch { size, dim, argument, shape, expected } => format!(
            "Attempting to broadcast a dimension of length {size} at {dim}! Mismatching argument at index {argument} \
             had {shape}; but expected shape should be broadcastable to {}",
            bracketed(expected)
        ),
        Rejection::ShapesFloat { value } => {
            format!("Input shapes should be of type ints, a tuple of ints, or a list of ints, got {value}")
        }
        Rejection::ShapesText => "'<' not supported between instances of 'str' and 'int'".to_owned(),
        Rejection::ShapesNegative => "Attempting to broadcast a dimension with negative length!".to_owned(),
        Rejection::DimensionRange { low, high, got } => {
            format!("Dimension out of range (expected to be in range of [{low}, {high}], but got {got})")
        }
        Rejection::DimensionRepeated { dim } => format!("dim {dim} appears multiple times in the list of dims"),
        Rejection::PermuteRank { got, rank } => format!(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired \
             ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {got}"
        ),
        Rejection::PermuteRepeated => "permute(): duplicate dims are not allowed.".to_owned(),
        Rejection::TooManyIndices { rank } => format!("too many indices for tensor of dimension {rank}"),
        Rejection::IndexRange { index, dim, size } => {
            format!("index {index} is out of bounds for dimension {dim} with size {size}")
        }
        Rejection::IndexScalar => "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or \
             `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
            .to_owned(),
        Rejection::ViewSize { target, numel } => {
            format!("shape '{}' is invalid for input of size {numel}", bracketed(target))
        }
        Rejection::ViewStride => "view size is not compatible with input tensor's size and stride (at least one \
             dimension spans across two contiguous subspaces). Use .reshape(...) instead."
            .to_owned(),
        Rejection::ViewInferred => "only one dimension can be inferred".to_owned(),
        Rejection::ViewNegative { size, at, target } => {
            format!("invalid shape dimension {size} at index {at} of shape {}", bracketed(target))
        }
        Rejection::ViewAmbiguous { target } => format!(
            "cannot reshape tensor of 0 elements into shape {} because the unspecified dimension size -1 can be any \
             value and is ambiguous",
            bracketed(target)
        ),
        Rejection::Numel => "numel: integer multiplication overflow".to_owned(),
        Rejection::CannotCast { from, to } => format!(
            "result type {} can't be cast to the desired output type {}",
            from.libtorch_name(),
            to.libtorch_name()
        ),
        Rejection::Alpha { kind } => match kind {
            AlphaKind::Bool => "Boolean alpha only supported for Boolean results.",
            AlphaKind::Float => "For integral input tensors, argument alpha must not be a floating point number.",
            AlphaKind::Complex => "For non-complex input tensors, argument alpha must not be a complex number.",
        }
        .to_owned(),
        Rejection::BoolSubtract => "Subtraction, the `-` operator, with two bool tensors is not supported. Use the \
             `^` or `logical_xor()` operator instead."
            .to_owned(),
        Rejection::BoolSubtractOne => "Subtraction, the `-` operator, with a bool tensor is not supported. If you \
             are trying to invert a mask, use the `~` or `logical_not()` operator instead."
            .to_owned(),
        Rejection::InternalOverlap => "unsupported operation: more than one element of the written-to tensor refers \
             to a single memory location. Please clone() the tensor before performing the operation."
            .to_owned(),
        Rejection::PartialOverlap => "unsupported operation: some elements of the input tensor and the written-to \
             tensor refer to a single memory location. Please clone() the tensor before performing the operation."
            .to_owned(),
        Rejection::ItemCount { numel } => format!("a Tensor with {numel} elements cannot be converted to Scalar"),
        Rejection::Einsum(fault) => einsum(fault),
        Rejection::GradNeedsScalar => "grad can be implicitly created only for scalar outputs".to_owned(),
        Rejection::NoGradient => "element 0 of tensors does not require grad and does not have a grad_fn".to_owned(),
        Rejection::InvalidGradient { gradient, output } => format!(
            "invalid gradient at index 0 - got {} but expected shape compatible with {}",
            bracketed(gradient),
            bracketed(output)
        ),
        Rejection::OutNeedsGrad { name } => format!(
            "{name}(): functions with out=... arguments don't support automatic differentiation, but one of the \
             arguments requires grad."
        ),
        Rejection::Freed => {
            "Trying to backward through the graph a second time (or directly access saved tensors after \
             they have already been freed). Saved intermediate values of the graph are freed when you call .backward() \
             or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or \
             if you need to access saved tensors after calling backward."
                .to_owned()
        }
        Rejection::LeafInPlace => {
            "a leaf Variable that requires grad is being used in an in-place operation.".to_owned()
        }
        Rejection::LeafViewInPlace => {
            "a view of a leaf Variable that requires grad is being used in an in-place operation.".to_owned()
        }
        // The texts of these families stand with their faults.
        Rejection::Pointwise(fault) => fault.text(),
        Rejection::Function(fault) => fault.text(),
        Rejection::View(fault) => fault.text(),
        Rejection::Index(fault) => fault.text(),
        Rejection::Product(fault) => fault.text(),
        Rejection::Reduction(fault) => fault.text(),
        Rejection::Loss(fault) => fault.text(),
    }
}

fn einsum(fault: &EinsumFault) -> String {
    let place = |operand: &Option<usize>| match operand {
        Some(operand) => format!("for operand {operand}"),
        None => "for output".to_owned(),
    };
    let text = match fault {
        EinsumFault::NoOperands => "must provide at least one operand".to_owned(),
        EinsumFault::InvalidSubscript { at } => {
            format!("invalid subscript given at index {at} in the equation string, subscripts must be in [a-zA-Z]")
        }
        EinsumFault::IncompleteEllipsis { operand: operand @ Some(_) } => {
            format!("found '.' {} that is not part of any ellipsis", place(operand))
        }
        EinsumFault::IncompleteEllipsis { operand: None } => {
            "found '.' for output that is not part of any ellipsis (...)".to_owned()
        }
        EinsumFault::SecondEllipsis { operand: operand @ Some(_) } => {
            format!("found '.' {} for which an ellipsis was already found", place(operand))
        }
        EinsumFault::SecondEllipsis { operand: None } => {
            "found '.' for output but an ellipsis (...) was already found".to_owned()
        }
        EinsumFault::TooFewOperands => "fewer operands were provided than specified in the equation".to_owned(),
        EinsumFault::TooManyOperands => "more operands were provided than specified in the equation".to_owned(),
        EinsumFault::SubscriptCount { subscripts, rank, operand, ellipsis: false } => format!(
            "the number of subscripts in the equation ({subscripts}) does not match the number of dimensions ({rank}) \
             for operand {operand} and no ellipsis was given"
        ),
        EinsumFault::SubscriptCount { subscripts, rank, operand, ellipsis: true } => format!(
            "the number of subscripts in the equation ({subscripts}) is more than the number of dimensions ({rank}) \
             for operand {operand}"
        ),
        EinsumFault::RepeatedSizes { label, operand, first, second } => format!(
            "subscript {label} is repeated for operand {operand} but the sizes don't match, {second} != {first}"
        ),
        EinsumFault::SizeMismatch { label, size, operand, seen } => format!(
            "subscript {label} has size {size} for operand {operand} which does not broadcast with previously seen \
             size {seen}"
        ),
        EinsumFault::UnknownOutput { label } => {
            format!("output subscript {label} does not appear in the equation for any input operand")
        }
        EinsumFault::RepeatedOutput { label } => {
            format!("output subscript {label} appears more than once in the output")
        }
        // The missing space before "has" is libtorch's.
        EinsumFault::EllipsisMismatch { dim, size, operand, seen } => format!(
            "dimension {dim} covered by ellipsis in operand {operand}has size {size} which does not broadcast with \
             previously seen ellipsis with size {seen} for the respective dimension"
        ),
    };
    format!("einsum(): {text}")
}

/// The class of the rejection that a text announces; `None` for a text that is none of libtorch's known ones.
pub fn classify(message: &str) -> Option<Class> {
    static SKELETONS: LazyLock<HashMap<String, Class>> = LazyLock::new(|| {
        samples().iter().rev().map(|rejection| (skeleton(&text(rejection)), rejection.class())).collect()
    });
    let line = message.lines().next().unwrap_or_default();
    let found = |line: &str| SKELETONS.get(&skeleton(line)).copied();
    found(line).or_else(|| {
        // Some texts end in a word of the program's own.
        let (start, _) = line.strip_suffix('\'')?.rsplit_once('\'')?;
        found(&format!("{start}'2'"))
    })
}

/// A text without its numbers, lists and dtype names, so that two instances of one message are equal. Triage groups
/// findings by it too.
pub fn skeleton(message: &str) -> String {
    // The names of C++ types that are more than one word.
    let names = DType::ALL.iter().filter(|dtype| dtype.cpp_name().contains([' ', ':']));
    let message = names.fold(message.to_owned(), |text, dtype| text.replace(dtype.cpp_name(), dtype.libtorch_name()));
    let mut skeleton = String::with_capacity(message.len());
    let mut word = String::new();
    let flush = |word: &mut String, skeleton: &mut String| {
        let number = word.strip_suffix('D').unwrap_or(word);
        let tensor_type = word.strip_prefix("CPU").and_then(|word| word.strip_suffix("Type"));
        // `linalg_vecdot` prints a dtype without the space before it.
        let dtype = tensor_type.or_else(|| word.strip_prefix("dtype")).unwrap_or(word);
        // Numbers, `2x3`, `3D`, and the single letters by which einsum names dimensions.
        let variable = number.chars().all(|c| c.is_ascii_digit() || c == '-' || c == 'x') || word.chars().count() == 1;
        if !word.is_empty()
            && (variable || DType::ALL.iter().any(|d| d.libtorch_name() == dtype || d.cpp_name() == dtype))
        {
            skeleton.push('#');
        } else {
            skeleton.push_str(word);
        }
        word.clear();
    };
    // Names of several words become the name of one.
    let several = DType::ALL.iter().map(|dtype| dtype.cpp_name()).filter(|name| name.contains([' ', ':']));
    let message = several.fold(message.to_owned(), |text, name| text.replace(name, DType::Float32.cpp_name()));
    let mut depth = 0usize;
    for c in message.chars() {
        match c {
            '[' => {
                flush(&mut word, &mut skeleton);
                depth += 1;
                skeleton.push('[');
            }
            ']' => {
                flush(&mut word, &mut skeleton);
                depth = depth.saturating_sub(1);
                skeleton.push(']');
            }
            // Lists differ in length, so nothing of a list is kept but its brackets.
            ' ' | ',' | '0'..='9' | '-' if depth > 0 => {}
            c if c.is_alphanumeric() || c == '-' || c == '_' => word.push(c),
            c => {
                flush(&mut word, &mut skeleton);
                skeleton.push(c);
            }
        }
    }
    flush(&mut word, &mut skeleton);
    skeleton
}

/// One rejection of each text, so that [`classify`] needs no second list of words.
fn samples() -> Vec<Rejection> {
    use Rejection as R;
    let list = || vec![2];
    let mut samples = vec![
        R::SizeMismatch { a: 2, b: 3, dim: 1 },
        R::OutputShape { output: list(), broadcast: list() },
        R::ExpandRank { dtype: DType::Float32, tensor: list(), target: list() },
        R::ExpandSize { wanted: 2, existing: 3, dim: 0, target: list(), tensor: list() },
        R::ExpandLeading { size: -1, dim: 0 },
        R::NotExpandable { from: list(), to: list() },
        R::ShapesMismatch { size: "2".into(), dim: -1, argument: 1, shape: "[2]".into(), expected: list() },
        R::ShapesMismatch { size: "2".into(), dim: -1, argument: 1, shape: "(2,)".into(), expected: list() },
        R::ShapesFloat { value: "1.5".into() },
        R::ShapesText,
        R::ShapesNegative,
        R::DimensionRange { low: -1, high: 0, got: 1 },
        R::DimensionRepeated { dim: 0 },
        R::PermuteRank { got: 1, rank: 2 },
        R::PermuteRepeated,
        R::TooManyIndices { rank: 1 },
        R::IndexRange { index: 3, dim: 0, size: 3 },
        R::IndexScalar,
        R::ViewSize { target: list(), numel: 3 },
        R::ViewStride,
        R::ViewInferred,
        R::ViewNegative { size: -2, at: 0, target: list() },
        R::ViewAmbiguous { target: list() },
        R::Numel,
        R::CannotCast { from: DType::Float32, to: DType::Int64 },
        R::Alpha { kind: AlphaKind::Bool },
        R::Alpha { kind: AlphaKind::Float },
        R::Alpha { kind: AlphaKind::Complex },
        R::BoolSubtract,
        R::BoolSubtractOne,
        R::InternalOverlap,
        R::PartialOverlap,
        R::ItemCount { numel: 3 },
        R::GradNeedsScalar,
        R::NoGradient,
        R::InvalidGradient { gradient: list(), output: list() },
        R::Freed,
        R::LeafInPlace,
        R::LeafViewInPlace,
    ];
    let named = Op::ALL.iter().map(|op| op.name()).chain(["_linalg_solve_ex"]);
    samples.extend(named.map(|name| R::OutNeedsGrad { name }));
    let names = Op::ALL
        .iter()
        .flat_map(|op| std::iter::once(op.name()).chain(op.info().refusals()))
        .chain(WORDS.iter().chain(NAMES).copied());
    // Truncated division has a kernel of its own, but no row; and one operation is named in its in-place form.
    let names: Vec<&str> = names.chain(["div_trunc_cpu", "floor_divide_"]).collect();
    samples.extend(R::family_samples(&names));
    samples.extend(
        [
            EinsumFault::NoOperands,
            EinsumFault::InvalidSubscript { at: 1 },
            EinsumFault::IncompleteEllipsis { operand: Some(0) },
            EinsumFault::IncompleteEllipsis { operand: None },
            EinsumFault::SecondEllipsis { operand: Some(0) },
            EinsumFault::SecondEllipsis { operand: None },
            EinsumFault::TooFewOperands,
            EinsumFault::TooManyOperands,
            EinsumFault::SubscriptCount { subscripts: 1, rank: 2, operand: 0, ellipsis: false },
            EinsumFault::SubscriptCount { subscripts: 2, rank: 1, operand: 0, ellipsis: true },
            EinsumFault::RepeatedSizes { label: 'i', operand: 0, first: 2, second: 3 },
            EinsumFault::SizeMismatch { label: 'k', size: 4, operand: 1, seen: 3 },
            EinsumFault::UnknownOutput { label: 'k' },
            EinsumFault::RepeatedOutput { label: 'i' },
        ]
        .map(R::Einsum),
    );
    // The missing space in this text glues the operand's number to a word.
    samples
        .extend((0..16).map(|operand| R::Einsum(EinsumFault::EllipsisMismatch { dim: 0, size: 4, operand, seen: 2 })));
    for &first in DType::ALL {
        for &other in DType::ALL {
            samples.push(FunctionFault::EndDtype { first, other }.into());
            samples.push(FunctionFault::WeightDtype { first, other }.into());
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_classified_as_its_rejection() {
        for rejection in samples() {
            assert_eq!(classify(&text(&rejection)), Some(rejection.class()), "{}", text(&rejection));
        }
    }

    #[test]
    fn other_numbers_do_not_hide_the_class_and_other_words_do() {
        let message = "The size of tensor a (17) must match the size of tensor b (0) at non-singleton dimension 3";
        assert_eq!(classify(message), Some(Class::SizeMismatch));
        assert_eq!(classify("output with shape [] doesn't match the broadcast shape [1, 2]"), Some(Class::OutputShape));
        assert_eq!(classify("The size of tensor a (17) should match"), None);
        assert_eq!(classify(""), None);
    }
}
