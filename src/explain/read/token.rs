//! Splits Python into tokens.

use std::ops::Range;

use super::error::ReadError;

/// A token and its place in the text, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Range<usize>,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    Name(String),
    Int(i64),
    Float(f64),
    Imaginary(f64),
    Str(String),
    /// An operator or a bracket.
    Symbol(&'static str),
    /// The end of a line, outside of brackets.
    Newline,
}

/// Operators and brackets, the longer ones before their beginnings.
const SYMBOLS: &[&str] = &[
    "**=", "//=", "<<=", ">>=", "...", "!=", "==", "<=", ">=", "<<", ">>", "**", "//", "->", ":=", "+=", "-=", "*=",
    "/=", "%=", "@=", "&=", "|=", "^=", "(", ")", "[", "]", "{", "}", ",", ":", ";", ".", "=", "+", "-", "*", "/", "%",
    "@", "&", "|", "^", "~", "<", ">",
];

/// The tokens of `text`. Comments, spaces, and line ends in brackets are left out, and so are the prompts of Python's
/// and IPython's consoles.
pub fn tokens(text: &str) -> Result<Vec<Token>, ReadError> {
    let session = text.contains(">>>") || text.contains("In [");
    Tokens { text, at: 0, found: Vec::new(), open: Vec::new(), session }.all()
}

struct Tokens<'a> {
    text: &'a str,
    at: usize,
    found: Vec<Token>,
    /// The brackets that are open: each with its place.
    open: Vec<(char, usize)>,
    /// True if the text has prompts, so that `...` at the start of a line is one.
    session: bool,
}

impl<'a> Tokens<'a> {
    fn all(mut self) -> Result<Vec<Token>, ReadError> {
        self.prompt();
        while let Some(next) = self.rest().chars().next() {
            let start = self.at;
            if next == '\n' {
                self.at += 1;
                if self.open.is_empty() {
                    self.push(TokenKind::Newline, start);
                }
                self.prompt();
            } else if next.is_whitespace() || next == '\u{feff}' {
                self.at += next.len_utf8();
            } else if next == '#' {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if next == '\\' {
                self.continuation()?;
            } else if next.is_ascii_digit() || next == '.' && self.digit_after(1) {
                self.number()?;
            } else if next.is_alphabetic() || next == '_' {
                self.name()?;
            } else if next == '\'' || next == '"' {
                self.string(start, false)?;
            } else {
                self.symbol(next)?;
            }
        }
        match self.open.last() {
            Some(&(bracket, at)) => {
                let closing = closing(bracket);
                Err(self.error(at..at + 1, format!("{bracket} is never closed"), format!("write {closing} after it")))
            }
            None => Ok(self.found),
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn digit_after(&self, count: usize) -> bool {
        self.rest().chars().nth(count).is_some_and(|c| c.is_ascii_digit())
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.found.push(Token { kind, span: start..self.at });
    }

    fn error(&self, span: Range<usize>, what: impl Into<String>, advice: impl Into<String>) -> ReadError {
        ReadError::new(self.text, span, what, advice)
    }

    /// Skips the prompt of a console at the start of a line.
    fn prompt(&mut self) {
        let rest = self.rest();
        let trimmed = rest.trim_start_matches([' ', '\t']);
        let blank = rest.len() - trimmed.len();
        if let Some(after) = trimmed.strip_prefix(">>>") {
            self.at += rest.len() - after.len();
        } else if let Some(after) = trimmed.strip_prefix("... ").filter(|_| self.session) {
            self.at += rest.len() - after.len();
        } else if let Some((number, after)) = trimmed.strip_prefix("In [").and_then(|rest| rest.split_once("]:"))
            && number.chars().all(|c| c.is_ascii_digit())
        {
            self.at += rest.len() - after.len();
        } else {
            self.at += blank;
        }
    }

    fn continuation(&mut self) -> Result<(), ReadError> {
        let start = self.at;
        let after = self.rest().strip_prefix('\\').unwrap_or_default();
        let blank = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
        match after.get(blank..).and_then(|rest| rest.chars().next()) {
            Some('\n') => self.at += blank + 2,
            None => self.at = self.text.len(),
            Some(_) => {
                return Err(self.error(
                    start..start + 1,
                    "a backslash in a line",
                    "remove it, or end the line after it",
                ));
            }
        }
        Ok(())
    }

    fn name(&mut self) -> Result<(), ReadError> {
        let start = self.at;
        let length = self.rest().find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest().len());
        self.at += length;
        let name = self.text.get(start..self.at).unwrap_or_default().to_owned();
        let prefix = name.len() <= 2 && name.chars().all(|c| "rRbBuUfFtT".contains(c));
        if prefix && self.rest().starts_with(['\'', '"']) {
            return self.string(start, name.contains(['r', 'R']));
        }
        self.push(TokenKind::Name(name), start);
        Ok(())
    }

    fn number(&mut self) -> Result<(), ReadError> {
        let start = self.at;
        let rest = self.rest();
        let radix = match rest.get(..2).unwrap_or_default().to_ascii_lowercase().as_str() {
            "0x" => 16,
            "0o" => 8,
            "0b" => 2,
            _ => 10,
        };
        let mut seen = String::new();
        let mut length = if radix == 10 { 0 } else { 2 };
        let mut fraction = false;
        let bytes = rest.as_bytes();
        while let Some(&byte) = bytes.get(length) {
            let next = bytes.get(length + 1).copied().unwrap_or(b' ');
            let sign = matches!(next, b'+' | b'-') && bytes.get(length + 2).is_some_and(u8::is_ascii_digit);
            match byte {
                b'_' if seen.ends_with(|c: char| c.is_ascii_hexdigit()) && next.is_ascii_hexdigit() => {}
                b'.' if radix == 10 && !fraction => {
                    fraction = true;
                    seen.push('.');
                }
                b'e' | b'E' if radix == 10 && !seen.contains('e') && (next.is_ascii_digit() || sign) => {
                    fraction = true;
                    seen.push('e');
                    if sign {
                        seen.push(char::from(next));
                        length += 1;
                    }
                }
                digit if char::from(digit).is_digit(radix) => seen.push(char::from(digit)),
                _ => break,
            }
            length += 1;
        }
        let imaginary = radix == 10 && matches!(bytes.get(length), Some(b'j' | b'J'));
        self.at += length + usize::from(imaginary);
        let after = self.rest().find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest().len());
        let written = self.text.get(start..self.at + after).unwrap_or_default().to_owned();
        if after > 0 {
            let span = start..self.at + after;
            return Err(self.error(span, format!("{written} is not a number"), number_advice(&written)));
        }
        let whole = start..self.at;
        let kind = if imaginary {
            seen.parse().ok().map(TokenKind::Imaginary)
        } else if fraction {
            seen.parse().ok().map(TokenKind::Float)
        } else {
            match i64::from_str_radix(&seen, radix) {
                Ok(number) => Some(TokenKind::Int(number)),
                // The smallest integer is written as the negative of one that does not fit.
                Err(_) if seen == "9223372036854775808" && self.text[..start].ends_with('-') => {
                    Some(TokenKind::Int(i64::MIN))
                }
                Err(_) if seen.is_empty() => None,
                Err(_) => {
                    let most = format!("write a number of at most {}", i64::MAX);
                    return Err(self.error(whole, format!("{written} does not fit into 64 bits"), most));
                }
            }
        };
        let kind = kind.ok_or_else(|| self.error(whole, format!("{written} is not a number"), "write its digits"))?;
        self.push(kind, start);
        Ok(())
    }

    /// Reads a string whose prefix began at `start`; `self.at` is at its quotes.
    fn string(&mut self, start: usize, raw: bool) -> Result<(), ReadError> {
        let quote = if self.rest().starts_with('"') { '"' } else { '\'' };
        let triple: String = [quote; 3].iter().collect();
        let long = self.rest().starts_with(&triple);
        let fence = if long { triple } else { quote.to_string() };
        self.at += fence.len();
        let mut value = String::new();
        loop {
            if self.rest().starts_with(&fence) {
                self.at += fence.len();
                self.push(TokenKind::Str(value), start);
                return Ok(());
            }
            let mut characters = self.rest().chars();
            match characters.next() {
                None => return Err(self.unclosed(start, &fence)),
                Some('\n') if !long => return Err(self.unclosed(start, &fence)),
                Some('\\') => {
                    self.at += 1;
                    if let Some(escaped) = characters.next() {
                        self.at += escaped.len_utf8();
                        match escaped {
                            _ if raw => value.extend(['\\', escaped]),
                            'n' => value.push('\n'),
                            't' => value.push('\t'),
                            '\n' => {}
                            '\\' | '\'' | '"' => value.push(escaped),
                            other => value.extend(['\\', other]),
                        }
                    }
                }
                Some(other) => {
                    self.at += other.len_utf8();
                    value.push(other);
                }
            }
        }
    }

    fn unclosed(&self, start: usize, fence: &str) -> ReadError {
        self.error(start..self.at, "a string is never closed", format!("write {fence} after it"))
    }

    fn symbol(&mut self, next: char) -> Result<(), ReadError> {
        let start = self.at;
        let Some(&symbol) = SYMBOLS.iter().find(|symbol| self.rest().starts_with(**symbol)) else {
            let advice = match next {
                '×' | '·' | '∗' | '⋅' => "write * for a product of elements, or @ for a matrix product",
                '−' | '–' | '—' => "write the sign -",
                '“' | '”' | '‘' | '’' | '`' => "write straight quotes, ' or \"",
                '→' | '⇒' => "leave the arrow out: the result is what is asked for",
                '!' => "write not or ~",
                '?' | '$' => "remove it; commands of a notebook or a shell are not Python",
                '…' => "write three dots",
                '÷' => "write /",
                '≤' | '≥' | '≠' => "write <=, >= or !=",
                _ => "remove it",
            };
            let span = start..start + next.len_utf8();
            return Err(self.error(span, format!("{next:?} is not a part of Python"), advice));
        };
        self.at += symbol.len();
        match symbol {
            "(" | "[" | "{" => self.open.push((next, start)),
            ")" | "]" | "}" => match self.open.pop() {
                Some((bracket, _)) if closing(bracket) == next => {}
                Some((bracket, _)) => {
                    let (what, advice) =
                        (format!("{next} does not close {bracket}"), format!("write {} instead", closing(bracket)));
                    return Err(self.error(start..self.at, what, advice));
                }
                None => {
                    let what = format!("{next} closes nothing");
                    return Err(self.error(start..self.at, what, "remove it, or write the bracket that it closes"));
                }
            },
            _ => {}
        }
        self.push(TokenKind::Symbol(symbol), start);
        Ok(())
    }
}

fn closing(bracket: char) -> char {
    match bracket {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

fn number_advice(written: &str) -> String {
    let digits = written.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(written.len());
    let (number, rest) = written.split_at(digits);
    if rest.starts_with(['x', 'X']) && rest.len() > 1 {
        return "a shape such as 5x3 stands for itself; in Python write (5, 3)".to_owned();
    }
    match rest.chars().all(|c| c.is_alphanumeric() || c == '_') && !number.is_empty() {
        true => format!("write {number}*{rest} for a product, or a name that begins with a letter"),
        false => "write digits, with one dot and one exponent at most".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokens(text).unwrap_or_else(|error| panic!("{error}")).into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn numbers() {
        use TokenKind::{Float, Imaginary, Int};
        for (text, kind) in [
            ("1_000", Int(1000)),
            ("0xff", Int(255)),
            ("0b1_01", Int(5)),
            ("0o17", Int(15)),
            ("1.", Float(1.0)),
            (".5", Float(0.5)),
            ("1e-3", Float(1e-3)),
            ("1_0.2_5E+1", Float(102.5)),
            ("2j", Imaginary(2.0)),
            ("1.5J", Imaginary(1.5)),
        ] {
            assert_eq!(kinds(text), [kind], "{text}");
        }
        assert_eq!(kinds("1 .real")[1], TokenKind::Symbol("."));
        for text in ["5x3", "2N", "0x", "9223372036854775808", "1__0", "1_"] {
            tokens(text).expect_err(text);
        }
    }

    #[test]
    fn strings() {
        for (text, value) in [
            ("'a\\'b'", "a'b"),
            ("\"a'b\"", "a'b"),
            ("r'\\n'", "\\n"),
            ("Rb\"x\"", "x"),
            ("f'{x}'", "{x}"),
            ("'''a\nb'''", "a\nb"),
            ("\"\"\"a\"b\"\"\"", "a\"b"),
            ("''", ""),
            ("'\\\n'", ""),
        ] {
            assert_eq!(kinds(text), [TokenKind::Str(value.to_owned())], "{text}");
        }
        for text in ["'", "'a\nb'", "\"\"\"a\"\"", "'\\'"] {
            tokens(text).expect_err(text);
        }
    }

    #[test]
    fn lines_comments_prompts_and_brackets() {
        let name = |name: &str| TokenKind::Name(name.to_owned());
        assert_eq!(kinds("x # + y\ny"), [name("x"), TokenKind::Newline, name("y")]);
        assert_eq!(kinds("x \\\n y"), [name("x"), name("y")]);
        assert_eq!(kinds("(\nx)").len(), 3);
        assert_eq!(kinds(">>> x\n... y\nIn [12]: z").len(), 5);
        for (text, what) in [
            ("(x", "( is never closed"),
            ("x)", ") closes nothing"),
            ("(x]", "] does not close ("),
            ("a × b", "'×' is not a part of Python"),
            ("a \\ b", "a backslash in a line"),
        ] {
            assert_eq!(tokens(text).unwrap_err().what, what);
        }
    }
}
