//! From a message back to the class of the rejection that it reports.
//!
//! The messages stand with the rejections in [`crate::error`], and are recognised by samples of these. They are those
//! of libtorch 2.13.0 and, for `torch.broadcast_shapes`, of its Python front end. The front end changes some of libtorch's
//! messages (`CPUFloatType` becomes `torch.FloatTensor`) and checks some things before libtorch does (the shape of the
//! gradient that `backward` is given).

mod template;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use template::Squeezed;

pub use template::{Found, Template};

use crate::error::{Class, FactKind, ROWS, Rejection, Row};
use crate::ops::Op;
use crate::tensor::{DType, ScalarType};

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
    let worded = || {
        // Some messages end in a word of the program's own.
        let (start, _) = line.strip_suffix('\'')?.rsplit_once('\'')?;
        found(&format!("{start}'2'"))
    };
    // Others have one without quotes, or none where a list of sizes is empty. A bracket in any other fact may begin another
    // message.
    let plain = |read: &Reading| read.facts.iter().all(|(name, fact)| !fact.contains('[') || read.has_sizes(name));
    let whole = || {
        let read = read(line).filter(|read| read.range == (0..line.len()) && read.literal >= TOLD)?;
        plain(&read).then_some(read.class)
    };
    found(line).or_else(worded).or_else(whole)
}

/// The characters that tell one message from another.
const TOLD: usize = 40;

/// A rejection that was read out of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The name of the rejection in [`Rejection`].
    pub rejection: &'static str,
    /// Its class.
    pub class: Class,
    /// The facts and arguments that its message prints, in the order of the message.
    pub facts: Vec<(&'static str, String)>,
    /// The place of the message in the text, in bytes.
    pub range: Range<usize>,
    /// The number of characters that are no facts: of two messages, the one with more of them fits better.
    pub literal: usize,
}

impl Reading {
    /// Returns whether a fact is sizes, which have brackets.
    fn has_sizes(&self, fact: &str) -> bool {
        let mut facts = ROWS.iter().filter(|row| row.name == self.rejection).flat_map(|row| row.facts);
        facts.any(|(name, kind)| *name == fact && *kind == FactKind::Sizes)
    }
}

/// Reads the message at the start of a text back into its rejection and facts. More text may follow it, and it may be
/// wrapped over lines. `None` for a message that is none of libtorch's.
///
/// ```
/// use broadcheck_protocol::messages::read;
///
/// let reading = read("shape '[2, 3]' is invalid for input of size 4\nException raised from f").unwrap();
/// assert_eq!(reading.rejection, "ViewSize");
/// assert_eq!(reading.facts, [("target", "[2, 3]".to_owned()), ("numel", "4".to_owned())]);
/// ```
pub fn read(text: &str) -> Option<Reading> {
    let text = Squeezed::new(text);
    best(|template| template.read_in(&text))
}

/// The same of a message that is anywhere in a text. A message that begins with a fact is found at the start alone.
pub fn find(text: &str) -> Option<Reading> {
    let text = Squeezed::new(text);
    best(|template| template.find_in(&text))
}

/// The reading of the template that fits best: that with most characters which are no facts.
fn best(found: impl Fn(&Template) -> Option<Found>) -> Option<Reading> {
    static TEMPLATES: LazyLock<Vec<(&Row, Template)>> = LazyLock::new(|| {
        ROWS.iter().flat_map(|row| templates(row).into_iter().map(move |template| (row, template))).collect()
    });
    let readings = TEMPLATES.iter().filter_map(|(row, template)| found(template).map(|found| (row, found)));
    let (row, found) = readings.max_by_key(|(_, found)| found.literal)?;
    let Found { facts, range, literal } = found;
    Some(Reading { rejection: row.name, class: row.class, facts, range, literal })
}

/// What Python and CUDA write around the dtype of a tensor where libtorch on the CPU writes `CPUFloatType`.
const TENSOR_TYPES: &[(&str, &str)] = &[("torch.", "Tensor"), ("torch.cuda.", "Tensor"), ("CUDA", "Type")];

/// The templates of a row: libtorch's own, and those with the other names for types of tensors.
fn templates(row: &'static Row) -> Vec<Template> {
    let kind = |name| Some((name, row.facts.iter().find(|(fact, _)| *fact == name).map_or(FactKind::Text, |it| it.1)));
    let own = Template::with(row.message, kind);
    let others = TENSOR_TYPES.iter().filter_map(|&other| own.as_ref()?.respelled(("CPU", "Type"), other));
    own.iter().cloned().chain(others).collect()
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
            && (variable
                || ScalarType::ALL.iter().any(|one| one.libtorch_name() == dtype)
                || DType::ALL.iter().any(|one| one.cpp_name() == dtype))
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
    use crate::error;

    #[test]
    fn every_message_is_read_back_into_its_class() {
        for rejection in samples() {
            let message = rejection.to_string();
            assert_eq!(classify(&message), Some(rejection.class()), "{message}");
        }
    }

    #[test]
    fn a_word_of_the_program_does_not_hide_a_message() {
        let side = "torch.searchsorted(): side can only be 'left' or 'right' but got true";
        assert_eq!(classify(side), Some(Class::Argument));
        assert_eq!(classify("torch.searchsorted(): side can be anything"), None);
    }

    #[test]
    fn a_node_that_no_sample_has_does_not_hide_a_message() {
        let modified = |tensor: &str| {
            let rejection = Rejection::Modified {
                dtype: DType::Int64,
                shape: vec![2, 3],
                node: Some(error::Node("FracBackward0")),
                version: 1,
                expected: 0,
            };
            classify(&rejection.to_string().replace("[CPULongType [2, 3]]", tensor))
        };
        assert_eq!(modified("[CPULongType [2, 3]]"), Some(Class::Autograd));
        assert_eq!(modified("[CPULongType []]"), Some(Class::Autograd));
        assert_eq!(modified("[CPULongType [2, three]]"), None);
    }

    #[test]
    fn every_message_is_read_back_into_its_rejection_and_facts() {
        for rejection in samples() {
            let message = rejection.to_string();
            let reading = read(&message).unwrap_or_else(|| panic!("{message}"));
            let (name, printed) = rejection.printed();
            assert_eq!(reading.rejection, name, "{message}");
            // Some samples have no name at the start.
            assert_eq!(&message[reading.range], message.trim(), "{name}");
            for (fact, text) in &reading.facts {
                let (_, own) = printed.iter().rfind(|(name, _)| name == fact).expect("a fact of the message");
                assert_eq!(text, own.trim(), "{fact} of {message}");
            }
        }
    }

    #[test]
    fn front_ends_and_devices_have_names_of_their_own_for_types_of_tensors() {
        for tensor in ["CPUFloatType", "torch.FloatTensor", "torch.cuda.FloatTensor", "CUDAFloatType"] {
            let message = format!(
                "expand({tensor}{{[2, 3]}}, size=[3]): the number of sizes provided (1) must be greater or equal to the \
                 number of dimensions in the tensor (2)"
            );
            let reading = read(&message).unwrap_or_else(|| panic!("{message}"));
            assert_eq!(reading.rejection, "ExpandRank");
            assert_eq!(reading.facts[0], ("dtype", "Float".to_owned()));
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
