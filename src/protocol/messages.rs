//! From a message back to the class of the rejection that it reports.
//!
//! The messages stand with the rejections in [`crate::error`], and are recognised by samples of these. They are those
//! of libtorch 2.13.0 and, for `torch.broadcast_shapes`, of its Python front end. The front end changes some of libtorch's
//! messages (`CPUFloatType` becomes `torch.FloatTensor`) and checks some things before libtorch does (the shape of the
//! gradient that `backward` is given).

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::error::{Class, Rejection};
use crate::ops::Op;
use crate::tensor::DType;

/// The class of the rejection that a message reports; `None` for a message that is none of libtorch's.
///
/// ```
/// use broadcheck_protocol::error::Class;
/// use broadcheck_protocol::messages::classify;
///
/// let message = "The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 1";
/// assert_eq!(classify(message), Some(Class::SizeMismatch));
/// assert_eq!(classify("shapes differ"), None);
/// ```
pub fn classify(message: &str) -> Option<Class> {
    static SKELETONS: LazyLock<HashMap<String, Class>> = LazyLock::new(|| {
        samples().iter().map(|rejection| (skeleton(&rejection.to_string()), rejection.class())).collect()
    });
    let line = message.lines().next().unwrap_or_default();
    let found = |line: &str| SKELETONS.get(&skeleton(line)).copied();
    found(line).or_else(|| {
        // Some messages end in a word of the program's own.
        let (start, _) = line.strip_suffix('\'')?.rsplit_once('\'')?;
        found(&format!("{start}'2'"))
    })
}

/// A message without its numbers, lists and dtype names, so that two instances of one message are equal. Triage groups
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

fn samples() -> Vec<Rejection> {
    let names = Op::ALL.iter().flat_map(|op| std::iter::once(op.name()).chain(op.info().kernel_names()));
    Rejection::samples(&names.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use std::mem::discriminant;

    use super::*;

    #[test]
    fn every_message_is_read_back_into_its_class() {
        for rejection in samples() {
            let message = rejection.to_string();
            assert_eq!(classify(&message), Some(rejection.class()), "{message}");
        }
    }

    #[test]
    fn no_two_rejections_have_the_same_message() {
        let mut rejections = HashMap::new();
        for rejection in samples() {
            let other = rejections.entry(skeleton(&rejection.to_string())).or_insert_with(|| rejection.clone());
            assert_eq!(discriminant(other), discriminant(&rejection), "{other:?} and {rejection:?}: {rejection}");
        }
    }

    #[test]
    fn other_numbers_do_not_hide_the_class_and_another_wording_does() {
        let message = "The size of tensor a (17) must match the size of tensor b (0) at non-singleton dimension 3";
        assert_eq!(classify(message), Some(Class::SizeMismatch));
        assert_eq!(classify("output with shape [] doesn't match the broadcast shape [1, 2]"), Some(Class::OutputShape));
        assert_eq!(classify("The size of tensor a (17) should match"), None);
        assert_eq!(classify(""), None);
    }
}
