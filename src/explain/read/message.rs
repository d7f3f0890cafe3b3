//! Finds the error in a pasted message or traceback, and reads its facts.

use std::ops::Range;

use broadcheck_protocol::error::Class;
use broadcheck_protocol::messages;

use super::foreign;
use super::traceback::{Frame, frames, lines};

/// An error that was found in a pasted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The exception, such as `RuntimeError`, if the text names it.
    pub exception: Option<String>,
    /// The message, without line ends; of a message that is known, without what follows it.
    pub text: String,
    /// The place of the message in the pasted text, in bytes.
    pub span: Range<usize>,
    /// The meaning of the message; `None` for a message that is not known.
    pub known: Option<Known>,
    /// The frames of the traceback, the one that raised last.
    pub frames: Vec<Frame>,
    /// The part of the pasted text that the traceback and the message take up.
    pub extent: Range<usize>,
}

/// A message that is known, and its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The name of the rejection, or of the foreign message.
    pub name: &'static str,
    /// Its class.
    pub class: Class,
    /// The list that has it.
    pub origin: Origin,
    /// The facts that the message prints, each with its text, in the order of the message.
    pub facts: Vec<(&'static str, String)>,
}

/// The list that a message is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The table of rejections: `name` is a variant of `broadcheck_protocol::error::Rejection`.
    Table,
    /// The messages of other libraries, other releases and `torch.nn`.
    Foreign,
}

impl Reported {
    /// The last frame of the user's own code that has its source, or else the last one that has it.
    pub fn frame(&self) -> Option<&Frame> {
        let with_source = || self.frames.iter().rev().filter(|frame| frame.source.is_some());
        with_source().find(|frame| !frame.library).or_else(|| with_source().next())
    }

    /// A fact of the message, by its name.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.known.as_ref()?.fact(name)
    }
}

impl Known {
    /// A fact, by its name.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|(fact, _)| *fact == name).map(|(_, text)| text.as_str())
    }

    /// A fact that is a number.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.fact(name)?.parse().ok()
    }

    /// A fact that is a list of sizes.
    pub fn sizes(&self, name: &str) -> Option<Vec<i64>> {
        let inner = self.fact(name)?.trim().strip_prefix(['[', '('])?.strip_suffix([']', ')'])?;
        let sizes = inner.split(',').map(str::trim).filter(|size| !size.is_empty());
        sizes.map(|size| size.parse().ok()).collect()
    }

    /// A fact that is several lists of sizes, such as `(3,) (4,)`.
    pub fn shapes(&self, name: &str) -> Option<Vec<Vec<i64>>> {
        let parts = self.fact(name)?.split([']', ')']);
        let lists = parts.map(|part| part.trim_start_matches([',', ' '])).filter(|part| !part.is_empty());
        lists
            .map(|list| {
                let sizes = list.strip_prefix(['[', '('])?.split(',').map(str::trim).filter(|size| !size.is_empty());
                sizes.map(|size| size.parse().ok()).collect()
            })
            .collect()
    }
}

/// Finds the error that a text reports: a message of PyTorch, alone or with the exception before it, or a traceback of
/// Python or IPython with what came before and after it. Of several errors it is the last one that is known. `None` if
/// the text reports no error.
///
/// ```
/// use broadcheck_explain::read::message;
///
/// let text = "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    z = x + y\nRuntimeError: \
///             The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1\n";
/// let reported = message(text).unwrap();
/// assert_eq!(reported.exception.as_deref(), Some("RuntimeError"));
/// assert_eq!((reported.fact("a"), reported.fact("dim")), (Some("3"), Some("1")));
/// assert_eq!(reported.frame().unwrap().source.as_deref(), Some("z = x + y"));
/// assert!(message("x + y").is_none());
/// ```
pub fn message(text: &str) -> Option<Reported> {
    let (traceback, frames) = frames(text);
    let heads = heads(text);
    let bodies: Vec<(&Head, Range<usize>)> = heads
        .iter()
        .enumerate()
        .map(|(at, head)| (head, head.message..heads.get(at + 1).map_or(text.len(), |next| next.line)))
        .collect();
    let from = |head: &Head| traceback.unwrap_or(head.line).min(head.line);
    for (head, body) in bodies.iter().rev() {
        let content = text.get(body.clone()).unwrap_or_default();
        if let Some((known, range)) = known(content, false).or_else(|| known(content, true)) {
            let span = body.start + range.start..body.start + range.end;
            let extent = from(head)..end_of(text, span.end);
            let exception = Some(head.exception.clone());
            return Some(Reported { exception, text: joined(text, &span), span, known: Some(known), frames, extent });
        }
    }
    if let Some((head, body)) = bodies.iter().rev().find(|(head, _)| !head.is_warning()).or(bodies.last()) {
        let span = body.start..unknown_end(text, body);
        let extent = from(head)..end_of(text, span.end);
        let exception = Some(head.exception.clone());
        return Some(Reported { exception, text: joined(text, &span), span, known: None, frames, extent });
    }
    let (known, span) = known(text, true)?;
    let extent = traceback.unwrap_or(span.start).min(span.start)..end_of(text, span.end);
    Some(Reported { exception: None, text: joined(text, &span), span, known: Some(known), frames, extent })
}

/// The known message at the start of a text, or anywhere in it, and its place.
fn known(text: &str, anywhere: bool) -> Option<(Known, Range<usize>)> {
    let table = if anywhere { messages::find(text) } else { messages::read(text) };
    let foreign = foreign::find(text, anywhere);
    match (table, foreign) {
        (table, Some((message, found))) if table.as_ref().is_none_or(|table| table.literal < found.literal) => {
            let (name, class, facts) = (message.name, message.class, found.facts);
            Some((Known { name, class, origin: Origin::Foreign, facts }, found.range))
        }
        (table, _) => {
            let reading = table?;
            let (name, class, facts) = (reading.rejection, reading.class, reading.facts);
            Some((Known { name, class, origin: Origin::Table, facts }, reading.range))
        }
    }
}

/// A line with the name of an exception.
struct Head {
    exception: String,
    /// Where the line begins.
    line: usize,
    /// Where the message begins.
    message: usize,
}

impl Head {
    fn is_warning(&self) -> bool {
        self.exception.ends_with("Warning")
    }
}

/// The lines that have the name of an exception with a colon after it.
fn heads(text: &str) -> Vec<Head> {
    let head = |(line, content): (usize, &str)| {
        if content.trim_start().starts_with("frame #") {
            return None;
        }
        let colons = content.match_indices(':').map(|(at, _)| at);
        colons.into_iter().find_map(|colon| {
            let after = content.get(colon + 1..)?;
            let name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let before = content.get(..colon)?;
            let word = before.rsplit(|c| !name(c)).next()?;
            let exception = word.rsplit('.').next()?;
            let is_name = ["Error", "Exception", "Warning"].iter().any(|end| exception.ends_with(end));
            let apart = after.is_empty() || after.starts_with(char::is_whitespace);
            let outside =
                !before.strip_suffix(word)?.ends_with(':') && exception.starts_with(|c: char| c.is_ascii_uppercase());
            (is_name && apart && outside).then(|| Head {
                exception: exception.to_owned(),
                line,
                message: line + colon + 1,
            })
        })
    };
    lines(text).into_iter().filter_map(head).collect()
}

/// The end of a message that is not known: a blank line, or the first line of what libtorch adds.
fn unknown_end(text: &str, body: &Range<usize>) -> usize {
    let content = text.get(body.clone()).unwrap_or_default();
    let added =
        ["Exception raised from", "frame #", "Traceback (most recent", "During handling", "The above exception"];
    let ends = |line: &str| line.trim().is_empty() || added.iter().any(|added| line.trim_start().starts_with(added));
    let end = lines(content).into_iter().skip(1).find(|(_, line)| ends(line)).map_or(content.len(), |(at, _)| at);
    body.start + content.get(..end).unwrap_or(content).trim_end().len()
}

/// The end of the line that `at` is in, and of the C++ backtrace below it.
fn end_of(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let noise = |line: &str| {
        let line = line.trim_start();
        line.starts_with("frame #") || line.starts_with("Exception raised from") || line.starts_with("<omitting")
    };
    let mut end = 0;
    for (index, (place, line)) in lines(rest).into_iter().enumerate() {
        if index > 0 && !noise(line) {
            break;
        }
        end = place + line.len();
    }
    at + end
}

/// The text of a place, each run of spaces and line ends as one space.
fn joined(text: &str, span: &Range<usize>) -> String {
    text.get(span.clone()).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: &str = "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1";

    #[track_caller]
    fn name(text: &str) -> &'static str {
        let reported = message(text).unwrap_or_else(|| panic!("{text}"));
        reported.known.unwrap_or_else(|| panic!("{text}")).name
    }

    #[test]
    fn a_message_is_found_in_what_stands_around_it() {
        let wrapped = "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-single\n\
                       ton dimension 1";
        for text in [
            SIZES.to_owned(),
            format!("RuntimeError: {SIZES}"),
            format!("builtins.RuntimeError: {SIZES}."),
            format!("2026-01-01 10:00:00,000 ERROR train: step 3: RuntimeError: {SIZES} [operator(): x]"),
            format!("E       RuntimeError: {SIZES}\n\ntest_net.py:12: RuntimeError"),
            format!("I get \"{SIZES}\" and do not know why"),
            format!(
                "RuntimeError: {SIZES}\nException raised from infer_size_impl at ../ExpandUtils.cpp:31\nframe #0: x"
            ),
            format!("[rank0]: RuntimeError: {SIZES}\n\n"),
            format!(
                "torch._dynamo.exc.TorchRuntimeError: Failed running call_function add:\n{SIZES}\n\nfrom user code:"
            ),
            format!(
                "RuntimeError: {SIZES}\n\nDuring handling of the above exception, another exception occurred:\n\n\
                     SystemError: train failed"
            ),
            format!("W0101 UserWarning: Using a slow path\nRuntimeError: {SIZES}\nSomeWarning: x"),
            wrapped.to_owned(),
            wrapped.replace('\n', "\n    "),
            SIZES.replace(' ', "  "),
        ] {
            assert_eq!(name(&text), "SizeMismatch", "{text}");
            let reported = message(&text).unwrap();
            let known = reported.known.as_ref().unwrap();
            assert_eq!(
                (known.number("a"), known.number("b"), known.number("dim")),
                (Some(3), Some(4), Some(1)),
                "{text}"
            );
            assert_eq!(known.origin, Origin::Table);
            assert!(reported.text.starts_with("The size of tensor a (3)") && reported.text.ends_with("dimension 1"));
        }
    }

    #[test]
    fn texts_without_an_error_are_none() {
        for text in
            ["", "x + y", "5,3", "x=5,3 y=3", "torch.Size([5, 3])", "why does this broadcast?", "Error", "x::Error: y"]
        {
            assert_eq!(message(text), None, "{text}");
        }
        let unknown = message("Traceback (most recent call last):\nMyError: no\nsuch thing\n\nbye").unwrap();
        assert_eq!((unknown.exception.as_deref(), unknown.text.as_str()), (Some("MyError"), "no such thing"));
        assert_eq!(unknown.known, None);
        assert_eq!(message("ValueError:").unwrap().text, "");
    }

    #[test]
    fn messages_that_people_paste() {
        for (text, expected) in [
            ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x100 and 784x10)", "MatrixSizes"),
            ("ValueError: Expected input batch_size (32) to match target batch_size (16).", "BatchSize"),
            ("RuntimeError: output with shape [3] doesn't match the broadcast shape [3, 3]", "OutputShape"),
            ("RuntimeError: shape '[32, 784]' is invalid for input of size 100", "ViewSize"),
            (
                "RuntimeError: The expanded size of the tensor (3) must match the existing size (4) at non-singleton \
                 dimension 1. Target sizes: [2, 3]. Tensor sizes: [4]",
                "ExpandSize",
            ),
            (
                "/opt/torch/nn/modules/loss.py:535: UserWarning: Using a target size (torch.Size([32])) that is different to \
                 the input size (torch.Size([32, 1])). This will likely lead to incorrect results due to broadcasting. \
                 Please ensure they have the same size.\n  return F.mse_loss(input, target, reduction=self.reduction)",
                "TargetSizeWarning",
            ),
            (
                "ValueError: Using a target size (torch.Size([32])) that is different to the input size (torch.Size([32, \
                 1])) is deprecated. Please ensure they have the same size.",
                "TargetSizeWarning",
            ),
            (
                "ValueError: Target size (torch.Size([16])) must be the same as input size (torch.Size([16, 1]))",
                "TargetSize",
            ),
            ("ValueError: operands could not be broadcast together with shapes (3,) (4,) ", "NumpyOperands"),
            (
                "RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 3 but got size 4 for tensor \
                 number 1 in the list.",
                "CatSizes",
            ),
            (
                "RuntimeError: stack expects each tensor to be equal size, but got [3, 4] at entry 0 and [3] at entry 1",
                "StackSizes",
            ),
            (
                "RuntimeError: shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of shape \
                 [2, 4]",
                "PutShape",
            ),
            (
                "RuntimeError: Expected size for first two dimensions of batch2 tensor to be: [10, 3] but got: [10, 4].",
                "BatchSizes",
            ),
            (
                "IndexError: The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [4, 3] at \
                 index 0",
                "MaskShape",
            ),
            (
                "IndexError: shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
                "IndexShapes",
            ),
            ("IndexError: too many indices for tensor of dimension 2", "TooManyIndices"),
            ("IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)", "DimensionRange"),
            (
                "RuntimeError: size mismatch, m1: [64 x 100], m2: [784 x 10] at /pytorch/aten/THTensorMath.cpp:41",
                "MatrixSizes15",
            ),
            (
                "RuntimeError: Given groups=1, weight of size [64, 3, 7, 7], expected input[1, 1, 224, 224] to have 3 \
                 channels, but got 1 channels instead",
                "ConvolutionChannels",
            ),
            ("RuntimeError: result type Float can't be cast to the desired output type Long", "CannotCast"),
            ("RuntimeError: result type Float can't be cast to the desired output type long int", "CannotCast"),
            ("RuntimeError: Boolean value of Tensor with more than one value is ambiguous", "AmbiguousBool"),
            ("RuntimeError: grad can be implicitly created only for scalar outputs", "GradNeedsScalar"),
            (
                "RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight: copying a param with \
                 shape torch.Size([10, 512]) from checkpoint, the shape in current model is torch.Size([5, 512]).",
                "StateDict",
            ),
            (
                "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace \
                 operation: [torch.FloatTensor [2, 3]], which is output 0 of AddBackward0, is at version 1; expected \
                 version 0 instead. Hint: enable anomaly detection to find the operation that failed to compute its \
                 gradient, with torch.autograd.set_detect_anomaly(True).",
                "Modified212",
            ),
            (
                "RuntimeError: einsum(): subscript j has size 4 for operand 1 which does not broadcast with previously seen \
                 size 3",
                "EinsumSizeMismatch",
            ),
            (
                "RuntimeError: [enforce fail at alloc_cpu.cpp:75] . DefaultCPUAllocator: can't allocate memory: you tried to \
              allocate 4000000000000 bytes. Error code 12 (Cannot allocate memory)",
                "NoMemory",
            ),
            ("TypeError: add got incompatible shapes for broadcasting: (3,), (4,).", "JaxOperation"),
            (
                "RuntimeError: expand(torch.FloatTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be greater \
              or equal to the number of dimensions in the tensor (2)",
                "ExpandRank",
            ),
            (
                "RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.",
                "LeafViewInPlace",
            ),
        ] {
            assert_eq!(name(text), expected, "{text}");
        }
    }

    #[test]
    fn facts_are_numbers_sizes_and_shapes() {
        let known = |text: &str| message(text).and_then(|reported| reported.known).expect(text);
        let numpy = known("operands could not be broadcast together with shapes (3,) (4,5)");
        assert_eq!(numpy.shapes("shapes"), Some(vec![vec![3], vec![4, 5]]));
        let indices = known("shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3, 1]");
        assert_eq!(indices.shapes("shapes"), Some(vec![vec![2], vec![3, 1]]));
        let stack = known("stack expects each tensor to be equal size, but got [3, 4] at entry 0 and [] at entry 1");
        assert_eq!((stack.sizes("first"), stack.sizes("other")), (Some(vec![3, 4]), Some(vec![])));
        assert_eq!((stack.sizes("entry"), stack.number("first"), stack.fact("none")), (None, None, None));
    }

    #[test]
    fn the_frame_is_the_last_one_of_the_users_own_code() {
        let text = format!(
            "epoch 3\nTraceback (most recent call last):\n  File \"/opt/me/train.py\", line 40, in <module>\n    main()\n  File \
             \"/opt/me/net.py\", line 7, in forward\n    x = self.linear(x) + self.bias\n  File \
             \"/opt/lib/python3.12/site-packages/torch/nn/modules/module.py\", line 1511, in _call_impl\n    return \
             forward_call(*args, **kwargs)\n    ^^^^^^^^^^\nRuntimeError: {SIZES}\nbye\n"
        );
        let reported = message(&text).unwrap();
        let frame = reported.frame().unwrap();
        assert_eq!((frame.line, frame.source.as_deref()), (Some(7), Some("x = self.linear(x) + self.bias")));
        assert_eq!(reported.frames.len(), 3);
        assert_eq!(&text[..reported.extent.start], "epoch 3\n");
        assert_eq!(&text[reported.extent.end..], "\nbye\n");
        assert_eq!(&text[reported.span.clone()], SIZES);
    }
}
