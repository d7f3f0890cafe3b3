//! A message with places for its facts, and the texts that it is found in.

use std::ops::Range;

use crate::error::FactKind;
use crate::tensor::{DType, ScalarType};

/// A message with its facts in braces, each with its kind: `inconsistent size {a:integer}`.
///
/// Spaces and line ends do not count, so a message is found that a terminal wrapped.
///
/// ```
/// use broadcheck_protocol::messages::Template;
///
/// let template = Template::new("got {shape:sizes} at entry {at:integer}").unwrap();
/// let found = template.read("got [3,\n 4] at en\ntry 0").unwrap();
/// assert_eq!(found.facts, [("shape", "[3, 4]".to_owned()), ("at", "0".to_owned())]);
/// assert!(template.read("got 3 at entry 0").is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(Vec<char>),
    Fact(&'static str, FactKind),
}

/// A message that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The facts, in the order of the message.
    pub facts: Vec<(&'static str, String)>,
    /// The place of the message in the text, in bytes.
    pub range: Range<usize>,
    /// The number of characters that are no facts: of two messages, the one with more of them fits better.
    pub literal: usize,
}

/// Texts longer than this are not searched for the rest of a message, from any place of them.
const LONGEST: usize = 4096;

/// The most places of a text at which one message is tried.
const MOST_PLACES: usize = 16;

/// The fewest characters at the start of a message by which it is looked for in the middle of a text.
const ENOUGH: usize = 12;

impl Template {
    /// Reads a template: the kinds are those of [`FactKind::parse`], and without one a fact is any text. `None` if a
    /// brace is not closed or a kind does not exist.
    pub fn new(message: &'static str) -> Option<Template> {
        Template::with(message, |name| match name.split_once(':') {
            Some((name, kind)) => Some((name, FactKind::parse(kind)?)),
            None => Some((name, FactKind::Text)),
        })
    }

    /// Reads a template whose facts have the kinds that `kind` says.
    pub(super) fn with(
        message: &'static str,
        kind: impl Fn(&'static str) -> Option<(&'static str, FactKind)>,
    ) -> Option<Template> {
        let mut parts = Vec::new();
        let mut literal = Vec::new();
        let mut rest = message;
        while let Some(next) = rest.chars().next() {
            if rest.starts_with("{{") || rest.starts_with("}}") {
                literal.push(next);
                rest = &rest[2..];
            } else if next == '{' {
                let end = rest.find('}')?;
                let (name, kind) = kind(&rest[1..end])?;
                if !literal.is_empty() {
                    parts.push(Part::Literal(std::mem::take(&mut literal)));
                }
                parts.push(Part::Fact(name, kind));
                rest = &rest[end + 1..];
            } else {
                literal.extend(Some(next).filter(|next| !next.is_whitespace()));
                rest = &rest[next.len_utf8()..];
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Some(Template { parts })
    }

    /// The same message where the name of a dtype stands between other words, `torch.FloatTensor` for `CPUFloatType`.
    /// `None` if the message has no name of that form.
    pub(super) fn respelled(&self, own: (&str, &str), other: (&str, &str)) -> Option<Template> {
        let characters = |text: &str| text.chars().collect::<Vec<_>>();
        let mut parts = self.parts.clone();
        let at = parts.windows(3).position(|parts| match parts {
            [Part::Literal(before), Part::Fact(_, FactKind::Dtype), Part::Literal(after)] => {
                before.ends_with(&characters(own.0)) && after.starts_with(&characters(own.1))
            }
            _ => false,
        })?;
        if let Some([Part::Literal(before), _, Part::Literal(after)]) = parts.get_mut(at..at + 3) {
            before.truncate(before.len() - own.0.chars().count());
            before.extend(other.0.chars());
            after.splice(..own.1.chars().count(), other.1.chars());
        }
        Some(Template { parts })
    }

    /// Finds the message at the start of a text. More text may follow it.
    pub fn read(&self, text: &str) -> Option<Found> {
        self.read_in(&Squeezed::new(text))
    }

    /// Finds the message anywhere in a text, at the last place where it is. A message that begins with a fact is found
    /// at the start alone.
    pub fn find(&self, text: &str) -> Option<Found> {
        self.find_in(&Squeezed::new(text))
    }

    pub(super) fn read_in(&self, text: &Squeezed) -> Option<Found> {
        self.at(text, 0)
    }

    pub(super) fn find_in(&self, text: &Squeezed) -> Option<Found> {
        match self.parts.first() {
            Some(Part::Literal(literal)) if literal.len() >= ENOUGH || self.parts.len() == 1 => {
                let literal: String = literal.iter().collect();
                let places = text.squeezed.rmatch_indices(&literal).take(MOST_PLACES);
                let place = |at: usize| text.squeezed.get(..at).map_or(0, |before| before.chars().count());
                places.map(|(at, _)| place(at)).find_map(|at| self.at(text, at))
            }
            _ => self.at(text, 0),
        }
    }

    fn at(&self, text: &Squeezed, start: usize) -> Option<Found> {
        let end = text.characters.len().min(start + LONGEST);
        let mut search = Search { text, parts: &self.parts, end, failed: Default::default(), captures: Vec::new() };
        let last = search.part(0, start)?;
        let facts = search.captures.iter().rev().map(|&(name, from, to)| (name, text.between(from, to))).collect();
        let literal = self.parts.iter().map(|part| if let Part::Literal(it) = part { it.len() } else { 0 }).sum();
        Some(Found { facts, range: text.range(start, last), literal })
    }
}

/// A text without its spaces, which knows where its characters were.
pub(super) struct Squeezed<'a> {
    text: &'a str,
    squeezed: String,
    characters: Vec<char>,
    places: Vec<usize>,
}

impl<'a> Squeezed<'a> {
    pub(super) fn new(text: &'a str) -> Squeezed<'a> {
        let (places, characters): (Vec<usize>, Vec<char>) =
            text.char_indices().filter(|(_, c)| !c.is_whitespace()).unzip();
        Squeezed { text, squeezed: characters.iter().collect(), characters, places }
    }

    fn range(&self, from: usize, to: usize) -> Range<usize> {
        let place = |at: usize| self.places.get(at).copied().unwrap_or(self.text.len());
        match to.checked_sub(1).filter(|&last| last >= from) {
            Some(last) => place(from)..place(last) + self.characters[last].len_utf8(),
            None => place(from)..place(from),
        }
    }

    /// The text between two characters, each run of spaces and line ends as one space.
    fn between(&self, from: usize, to: usize) -> String {
        self.text[self.range(from, to)].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// True if a word or a number may end before the character `at`.
    fn ends_before(&self, at: usize) -> bool {
        let Some(&next) = self.characters.get(at) else { return true };
        let apart = at.checked_sub(1).is_none_or(|last| self.range(last, at).end < self.places[at]);
        apart || !(next.is_alphanumeric() || next == '_')
    }

    /// True if a line ends before the character `at`.
    fn line_ends_before(&self, at: usize) -> bool {
        match (at.checked_sub(1), self.places.get(at)) {
            (Some(last), Some(&place)) => self.text[self.range(last, at).end..place].contains('\n'),
            _ => true,
        }
    }
}

/// A search for the parts of a template, from one place on.
struct Search<'a> {
    text: &'a Squeezed<'a>,
    parts: &'a [Part],
    end: usize,
    /// The parts that are not at these places.
    failed: std::collections::HashSet<(usize, usize)>,
    /// The facts that were found, the last one first.
    captures: Vec<(&'static str, usize, usize)>,
}

impl Search<'_> {
    /// Finds the parts from `part` on at `at`, and returns where they end.
    fn part(&mut self, part: usize, at: usize) -> Option<usize> {
        if self.failed.contains(&(part, at)) {
            return None;
        }
        let found = match &self.parts.get(part) {
            None => Some(at),
            Some(Part::Literal(literal)) => {
                let here = self.text.characters.get(at..self.end)?.starts_with(literal);
                let last = part + 1 == self.parts.len();
                let word = literal.last().is_some_and(|c| c.is_alphanumeric());
                if here && (!last || !word || self.text.ends_before(at + literal.len())) {
                    self.part(part + 1, at + literal.len())
                } else {
                    None
                }
            }
            Some(Part::Fact(name, kind)) => self.ends(part, at).into_iter().find_map(|end| {
                let fact: String = self.text.characters.get(at..end)?.iter().collect();
                let last = kind.accepts(&fact).then(|| self.part(part + 1, end)).flatten()?;
                self.captures.push((name, at, end));
                Some(last)
            }),
        };
        if found.is_none() {
            self.failed.insert((part, at));
        }
        found
    }

    /// The places where the fact `part` that begins at `at` may end, the most likely first.
    fn ends(&self, part: usize, at: usize) -> Vec<usize> {
        if let Some(Part::Literal(next)) = self.parts.get(part + 1) {
            let Some(rest) = self.text.characters.get(at..self.end) else { return Vec::new() };
            let places = rest.windows(next.len()).enumerate().filter(|(_, window)| window == next);
            return places.map(|(place, _)| at + place).collect();
        }
        let mut ends: Vec<usize> = (at + 1..=self.end).filter(|&end| self.text.ends_before(end)).collect();
        // The longest first, but nothing of the next line while this one is enough.
        let line = ends.iter().position(|&end| self.text.line_ends_before(end)).map_or(ends.len(), |at| at + 1);
        ends[..line].reverse();
        ends
    }
}

impl FactKind {
    /// The kind called `name` in a template.
    pub fn parse(name: &str) -> Option<FactKind> {
        Some(match name {
            "integer" => FactKind::Integer,
            "dtype" => FactKind::Dtype,
            "sizes" => FactKind::Sizes,
            "shapes" => FactKind::Shapes,
            "bare" => FactKind::Bare,
            "letter" => FactKind::Letter,
            "node" => FactKind::Node,
            "name" => FactKind::Name,
            "text" => FactKind::Text,
            _ => return None,
        })
    }

    /// True if a fact of this kind may be printed as this text, which has no spaces.
    fn accepts(self, text: &str) -> bool {
        match self {
            FactKind::Integer => text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok(),
            FactKind::Dtype => is_dtype(text),
            FactKind::Sizes => is_sizes(text),
            FactKind::Shapes => {
                let separate = |c| matches!(c, ']' | ')');
                let mut shapes = text.split_inclusive(separate).map(|shape| shape.trim_start_matches([',', ';']));
                !text.is_empty() && shapes.all(is_sizes)
            }
            // Without its spaces, which are not in this text.
            FactKind::Bare => text.chars().all(|c| c.is_ascii_digit()),
            FactKind::Letter => text.chars().count() == 1,
            FactKind::Node => text.is_empty() || text.starts_with(",whichisoutput") && text.ends_with(','),
            // The names of a namespace begin messages that quote other messages.
            FactKind::Name => text.len() < 64 && !text.starts_with("aten::") && !text.contains('"'),
            FactKind::Text => !text.is_empty(),
        }
    }
}

fn is_dtype(text: &str) -> bool {
    let text = text.strip_prefix("struct").unwrap_or(text);
    let text = text.strip_prefix("torch.").unwrap_or(text);
    let same = |name: &str| name.chars().filter(|c| !c.is_whitespace()).eq(text.chars());
    let own = ScalarType::ALL.iter().flat_map(|one| [one.libtorch_name(), one.name()]);
    let of_types = DType::ALL.iter().flat_map(|dtype| [dtype.cpp_name(), dtype.spelled_name()]);
    own.chain(of_types).any(same)
}

fn is_sizes(text: &str) -> bool {
    let inner = [('[', ']'), ('(', ')')].iter().find_map(|&(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    inner.is_some_and(|inner| {
        let inner = inner.strip_suffix(',').filter(|inner| !inner.is_empty()).unwrap_or(inner);
        inner.is_empty() || inner.split(',').all(|size| size.parse::<i64>().is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn facts(template: &'static str, text: &str) -> Option<Vec<String>> {
        let found = Template::new(template).expect("a template").find(text)?;
        Some(found.facts.into_iter().map(|(_, fact)| fact).collect())
    }

    #[test]
    fn the_last_fact_ends_with_its_word_or_its_line() {
        let template = "the size at dimension {dim:integer}";
        for end in ["", ".", " (function f)", "\n3 more", "\r\n", " [operator(): x]", ", and"] {
            let text = format!("the size at dimension 12{end}");
            assert_eq!(facts(template, &text), Some(vec!["12".to_owned()]), "{text}");
        }
        for end in ["x", "th", "_"] {
            assert_eq!(facts(template, &format!("the size at dimension 12{end}")), None, "{end}");
        }
        assert_eq!(facts("got this: {it}", "got this: a b, c\nd").unwrap(), ["a b, c"]);
    }

    #[test]
    fn a_message_is_found_where_it_was_last() {
        let template = Template::new("shapes differ in {n:integer} sizes").unwrap();
        let text = "Error: shapes differ in 1 sizes; shapes differ\nin 2 sizes, x";
        let found = template.find(text).unwrap();
        assert_eq!(found.facts, [("n", "2".to_owned())]);
        assert_eq!(&text[found.range], "shapes differ\nin 2 sizes");
        assert!(template.read(text).is_none());
    }

    #[test]
    fn kinds_accept_their_texts() {
        for (kind, good, bad) in [
            ("integer", &["3", "-1"][..], &["", "x", "3.5", "[3]"][..]),
            ("sizes", &["[]", "[3]", "(3,)", "()", "[5,-1]"], &["3", "[", "[3)", "[,]", "[a]"]),
            ("shapes", &["[3],[4]", "(3,)(4,)", "[3]"], &["", "3", "[3]x[4]"]),
            ("bare", &["", "3", "34"], &["[3]", "3,4", "x"]),
            ("dtype", &["Float", "longint", "torch.float32", "c10::complex<float>"], &["", "Real"]),
            ("letter", &["a"], &["", "ab"]),
        ] {
            let kind = FactKind::parse(kind).unwrap();
            assert!(good.iter().all(|text| kind.accepts(text)), "{kind:?}");
            assert!(!bad.iter().any(|text| kind.accepts(text)), "{kind:?}");
        }
    }

    #[test]
    fn a_template_that_is_broken_is_none() {
        assert!(Template::new("a {b").is_none());
        assert!(Template::new("a {b:c}").is_none());
        assert_eq!(facts("a {{{b:integer}}}", "a {3}").unwrap(), ["3"]);
    }
}
