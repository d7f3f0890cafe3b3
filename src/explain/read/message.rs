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
            let outside = !before.ends_with("::") && exception.starts_with(|c: char| c.is_ascii_uppercase());
            (is_name && apart && outside).then(|| {
                Head { exception: exception.to_owned(), line, message: line + colon + 1 }
            })
        })
    };
    lines(text).into_iter().filter_map(head).collect()
}

/// The end of a message that is not known: a blank line, or the first line of what libtorch adds.
fn unknown_end(text: &str, body: &Range<usize>) -> usize {
    let content = text.get(body.clone()).unwrap_or_default();
    let added = ["Exception raised from", "frame #", "Traceback (most recent", "During handling", "The above exception"];
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
