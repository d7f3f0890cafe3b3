//! The error of text that cannot be read.

use std::ops::Range;

use thiserror::Error;

/// Reports text that cannot be read: what is wrong, where, and what to write.
///
/// ```
/// let error = broadcheck_explain::read::shape("5,-3").unwrap_err();
/// assert_eq!(
///     error.pointed(),
///     "-3 is a negative size\n    5,-3\n      ^^\nsizes are 0 or more: write it without the minus sign"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}, at column {} of {:?}; {advice}", self.column(), self.line())]
pub struct ReadError {
    /// The problem, in a few words.
    pub what: String,
    /// The place in `text`, in bytes. It is empty at the end of the text.
    pub span: Range<usize>,
    /// The text that was read.
    pub text: String,
    /// The remedy: the text to write.
    pub advice: String,
}

impl ReadError {
    /// Creates an error. A span that is not inside `text` is moved into it.
    pub fn new(text: &str, span: Range<usize>, what: impl Into<String>, advice: impl Into<String>) -> ReadError {
        let start = boundary(text, span.start);
        let end = boundary(text, span.end).max(start);
        ReadError { what: what.into(), span: start..end, text: text.to_owned(), advice: advice.into() }
    }

    /// The line of `text` that the error is in.
    pub fn line(&self) -> &str {
        let (start, end) = self.bounds();
        self.text.get(start..end).unwrap_or_default()
    }

    /// The column of the error in its line: the number of its first character, from 1.
    pub fn column(&self) -> usize {
        let (start, _) = self.bounds();
        self.text.get(start..self.span.start).unwrap_or_default().chars().count() + 1
    }

    /// The error over several lines: the problem, the line with carets below the place, and the remedy.
    pub fn pointed(&self) -> String {
        let (start, end) = self.bounds();
        let before = self.text.get(start..self.span.start).unwrap_or_default().chars().count();
        let marked = self.text.get(self.span.start..self.span.end.min(end)).unwrap_or_default().chars().count();
        let (blank, carets) = (" ".repeat(before), "^".repeat(marked.max(1)));
        // A tab would move the line, and not the carets.
        let line = self.line().replace('\t', " ");
        format!("{}\n    {line}\n    {blank}{carets}\n{}", self.what, self.advice)
    }

    /// Moves the error of a part into the whole text that the part begins at `offset` of.
    pub(super) fn within(self, whole: &str, offset: usize) -> ReadError {
        ReadError::new(whole, self.span.start + offset..self.span.end + offset, self.what, self.advice)
    }

    fn bounds(&self) -> (usize, usize) {
        let before = self.text.get(..self.span.start).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let after = self.text.get(self.span.start..).unwrap_or_default();
        (start, self.span.start + after.find('\n').unwrap_or(after.len()))
    }
}

/// The nearest place at or before `at` that a character of `text` begins at.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carets_are_below_the_place_in_its_line() {
        let error = ReadError::new("first\n\tα × 2", 10..12, "no operator", "write *");
        assert_eq!(error.column(), 4);
        assert_eq!(error.pointed(), "no operator\n     α × 2\n       ^\nwrite *");
        assert_eq!(error.to_string(), "no operator, at column 4 of \"\\tα × 2\"; write *");
    }

    #[test]
    fn a_place_outside_of_the_text_is_its_end() {
        let error = ReadError::new("é", 1..900, "cut off", "go on");
        assert_eq!((error.span.clone(), error.column()), (0..2, 1));
        assert_eq!(ReadError::new("", 5..5, "nothing", "write").pointed(), "nothing\n    \n    ^\nwrite");
    }
}
