//! Splits a text into lines, shapes and bindings, without parsing these.

use std::ops::Range;

/// The lines of a text, where a `;` ends a line too, and brackets and strings hold lines together. Each without the
/// spaces, the comment and the prompt of a console around it; empty ones are left out.
pub fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut scan = Scan::new(text);
    while let Some((at, c)) = scan.next() {
        if scan.depth == 0 && !scan.quoted() && matches!(c, '\n' | ';') {
            pieces.push(start..at);
            start = at + 1;
        } else if c == '#' && !scan.quoted() {
            // Up to the end of the line, which the scan sees again.
            let end = scan.skip_line();
            if scan.depth == 0 {
                pieces.push(start..at);
                start = end;
            }
        }
    }
    pieces.push(start..text.len());
    pieces.into_iter().map(|piece| trimmed(text, piece)).filter(|piece| !piece.is_empty()).collect()
}

/// A binding: its name, its place in the line, and the place of its value.
pub type Assignment = (String, Range<usize>, Range<usize>);

/// The bindings that a line consists of. `None` if it does not begin with one.
///
/// A binding begins with a name, or `x.shape`, `x.size()` or `x shape` of one, then `=`, `:` or nothing before
/// `torch.Size(`.
pub fn assignments(line: &str) -> Option<Vec<Assignment>> {
    let mut starts: Vec<(usize, String, usize)> = Vec::new();
    let mut scan = Scan::new(line);
    let mut before = ' ';
    let mut skip = 0;
    while let Some((at, c)) = scan.next() {
        let apart = before.is_whitespace() || matches!(before, ',' | ';');
        let begins = at >= skip && apart && scan.depth == 0 && !scan.quoted() && (c.is_alphabetic() || c == '_');
        if let Some((name, value)) = Some(at).filter(|_| begins).and_then(|at| target(line, at)) {
            starts.push((at, name, value));
            skip = value;
        }
        before = c;
    }
    if starts.first()?.0 != 0 {
        return None;
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|(at, _, _)| *at).chain([line.len()]).collect();
    let bindings = starts.into_iter().zip(ends).map(|((at, name, value), end)| {
        let mut value = trimmed(line, value.min(end)..end);
        // The comma between two bindings; that of `(5,)` is inside of brackets, and that of `5,` makes no difference.
        while line.get(value.clone()).is_some_and(|text| text.ends_with([',', ';'])) {
            value = trimmed(line, value.start..value.end - 1);
        }
        (name, at..value.end.max(at), value)
    });
    Some(bindings.collect())
}

/// The shapes that stand side by side in a line, such as `5,3 4,3` and `(5, 3) and (3,)`; `None` if there are not at
/// least two, or if one of them has neither a comma, a bracket nor a cross.
pub fn side_by_side(line: &str) -> Option<Vec<Range<usize>>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut scan = Scan::new(line);
    let mut start = None;
    let mut end = 0;
    while let Some((at, c)) = scan.next() {
        if scan.quoted() {
            return None;
        }
        if c.is_whitespace() && scan.depth == 0 {
            continue;
        }
        let gap = at > end && start.is_some();
        let written = line.get(..end).unwrap_or_default();
        let rest = line.get(at..).unwrap_or_default();
        let joined = written.ends_with([',', '×', ':']) || rest.starts_with([',', '×', ':']) || crossing(written, rest);
        let touching = at == end && c == '(' && written.ends_with(')');
        if let Some(first) = start.filter(|_| gap && !joined || touching) {
            parts.push(first..end);
            start = Some(at);
        }
        start = start.or(Some(at));
        end = at + c.len_utf8();
    }
    parts.push(start?..end);
    let text = |part: &Range<usize>| line.get(part.clone()).unwrap_or_default();
    parts.retain(|part| !["and", "vs", "vs.", "with"].contains(&text(part)));
    let plain = |part: &Range<usize>| {
        let cross = |c: char| matches!(c, ',' | '[' | ']' | '(' | ')' | '×' | 'x');
        text(part).contains(cross)
            && text(part).starts_with(|c: char| c.is_ascii_digit() || "([".contains(c) || word(c))
    };
    (parts.len() > 1 && parts.iter().all(plain)).then_some(parts)
}

/// The shapes of a line that has operators between them, such as `5,3 + 4,3` and `[5, 3] @ [3]`, and the line with a
/// letter for each. `None` if an operand is neither a number nor has a comma, a bracket or a cross.
pub fn calculation(line: &str) -> Option<(Vec<Range<usize>>, String)> {
    let mut parts = Vec::new();
    let mut formula = String::new();
    let mut start = 0;
    let mut count = 0;
    let mut operand = |part: Range<usize>, formula: &mut String| {
        let text = line.get(part.clone()).unwrap_or_default();
        count += 1;
        if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.') {
            formula.push_str(text);
            return Some(());
        }
        let begins = text.starts_with(|c: char| c.is_ascii_digit() || "([".contains(c));
        let name = letter(parts.len()).filter(|_| begins && text.contains([',', '[', '(', 'x', '×']))?;
        formula.push(name);
        parts.push(part);
        Some(())
    };
    let mut scan = Scan::new(line);
    while let Some((at, c)) = scan.next() {
        if scan.quoted() {
            return None;
        }
        let written = line.get(start..at).unwrap_or_default();
        if scan.depth > 0 || !c.is_whitespace() || written.trim().is_empty() {
            continue;
        }
        let rest = line.get(at..).unwrap_or_default().trim_start();
        let symbol = rest.split(char::is_whitespace).next().unwrap_or_default();
        if !symbol.is_empty() && symbol.chars().all(|c| "@+-*/%&|^<>=!".contains(c)) && symbol != "=" {
            operand(trimmed(line, start..at), &mut formula)?;
            formula.push_str(&format!(" {symbol} "));
            start = line.len() - rest.len() + symbol.len();
        }
    }
    operand(trimmed(line, start..line.len()), &mut formula)?;
    (count > 1 && !parts.is_empty()).then_some((parts, formula))
}

/// The name of an operand that has none: a, b, c, and so on.
pub fn letter(at: usize) -> Option<char> {
    ('a'..='z').nth(at)
}

/// True between `5` and `x 3`, and between `5 x` and `3`.
fn crossing(written: &str, rest: &str) -> bool {
    let number = |text: &str| text.ends_with(|c: char| c.is_ascii_digit());
    let next = |text: &str| text.trim_start().starts_with(|c: char| c.is_ascii_digit());
    let before = rest.strip_prefix(['x', 'X']).is_some_and(next) && number(written);
    let after = written.strip_suffix(['x', 'X']).is_some_and(|text| number(text.trim_end())) && next(rest);
    before || after
}

/// The name of the binding that begins at `at`, and where its value begins.
fn target(line: &str, at: usize) -> Option<(String, usize)> {
    let rest = line.get(at..)?;
    let length = rest.find(|c: char| !word(c) && c != '.').unwrap_or(rest.len());
    let (name, mut after) = rest.split_at(length);
    let mut name = name.strip_suffix(".shape").or(name.strip_suffix(".size")).unwrap_or(name);
    after = after.strip_prefix("()").unwrap_or(after);
    if let Some(more) = after.trim_start().strip_prefix("shape").or(after.trim_start().strip_prefix("size"))
        && after.starts_with(' ')
        && !more.starts_with(word)
    {
        after = more;
    }
    name = name.trim_end_matches('.');
    if name.is_empty() || name == "torch" || name == "torch.Size" {
        return None;
    }
    let spaced = after.trim_start();
    let value = match spaced.strip_prefix(['=', ':']) {
        Some(value) if value.starts_with('=') => return None,
        Some(value) if spaced.starts_with(':') && is_dtype(value) => return None,
        Some(value) => value,
        None if after.starts_with(' ') && (spaced.starts_with("torch.Size(") || spaced.starts_with("Size(")) => spaced,
        None => return None,
    };
    Some((name.to_owned(), line.len() - value.len()))
}

/// True of the dtype after the colon of `B,T:int64`.
fn is_dtype(value: &str) -> bool {
    let value = value.trim_start();
    let length = value.find(|c: char| !word(c) && c != '.').unwrap_or(value.len());
    super::dtype::dtype(&value[..length]).is_some() && !value[length..].starts_with(['(', '[', '.'])
}

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn trimmed(text: &str, piece: Range<usize>) -> Range<usize> {
    let content = text.get(piece.clone()).unwrap_or_default();
    let mut own = content.trim_start();
    for prompt in [">>>", "..."] {
        own = own.strip_prefix(prompt).filter(|own| own.starts_with(' ')).unwrap_or(own).trim_start();
    }
    for prompt in ["In [", "Out["] {
        let rest = own.strip_prefix(prompt).and_then(|rest| rest.split_once("]:"));
        own = rest.filter(|(number, _)| number.chars().all(|c| c.is_ascii_digit())).map_or(own, |(_, rest)| rest);
        own = own.trim_start();
    }
    let start = piece.end - own.len();
    start..start + own.trim_end().len()
}

/// The characters of a text, with the brackets and the string that each is in.
struct Scan<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    quote: Option<char>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Scan<'a> {
        Scan { text, at: 0, depth: 0, quote: None }
    }

    fn quoted(&self) -> bool {
        self.quote.is_some()
    }

    fn next(&mut self) -> Option<(usize, char)> {
        let at = self.at;
        let rest = self.text.get(at..)?;
        let c = rest.chars().next()?;
        self.at += c.len_utf8();
        match (self.quote, c) {
            // A string ends with its line, so that an apostrophe does not take the rest of a text with it.
            (Some(_), '\n') => self.quote = None,
            (Some(quote), c) if c == quote => self.quote = None,
            (Some(_), _) => {}
            // A quote inside of a word is an apostrophe.
            (None, '\'' | '"') if !self.text[..at].ends_with(|c: char| c.is_alphanumeric()) => self.quote = Some(c),
            (None, '(' | '[' | '{') => self.depth += 1,
            (None, ')' | ']' | '}') => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        Some((at, c))
    }

    /// Goes on at the end of the line, and returns it.
    fn skip_line(&mut self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.find('\n').unwrap_or(rest.len());
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_outside_of_brackets_and_strings() {
        let text = ">>> x = (1,\n 2) # a; b\n... y; 'a;b'\nOut[3]: z";
        let found: Vec<&str> = pieces(text).into_iter().map(|piece| &text[piece]).collect();
        assert_eq!(found, ["x = (1,\n 2)", "y", "'a;b'", "z"]);
        assert_eq!(pieces("don't\nx").len(), 2);
        assert!(pieces(" \n;# x").is_empty());
    }

    #[test]
    fn assignments_begin_with_a_name() {
        for (line, expected) in [
            ("x=5,3 y=3", &[("x", "5,3"), ("y", "3")][..]),
            ("x = (5,3), y=B,T", &[("x", "(5,3)"), ("y", "B,T")]),
            ("x.shape: torch.Size([5]) y.size() = [3]", &[("x", "torch.Size([5])"), ("y", "[3]")]),
            ("x shape: [5] y torch.Size([3])", &[("x", "[5]"), ("y", "torch.Size([3])")]),
            ("self.w.shape = [5]", &[("self.w", "[5]")]),
            ("x=B,T:int64 y=2", &[("x", "B,T:int64"), ("y", "2")]),
            ("x = torch.randn(5, dtype=int)", &[("x", "torch.randn(5, dtype=int)")]),
        ] {
            let found = assignments(line).expect(line);
            let found: Vec<(&str, &str)> =
                found.iter().map(|(name, _, value)| (&**name, &line[value.clone()])).collect();
            assert_eq!(found, expected, "{line}");
        }
        for line in ["x == y", "5,3", "x[0] = y", "a, b = c", "x += y", "f(x=5)", "B,T:int64", "torch.Size([3])", ""] {
            assert_eq!(assignments(line), None, "{line}");
        }
    }

    #[test]
    fn shapes_with_operators_between_them() {
        for (line, expected) in [
            ("5,3 + 4,3", "5,3;4,3;a + b"),
            ("(5, 3) @ [3, 4] * 2x2", "(5, 3);[3, 4];2x2;a @ b * c"),
            ("5 x 3 // 3", "5 x 3;a // 3"),
            ("2 * 3", "none"),
            ("(5, 3) * x", "none"),
            ("5,3", "none"),
            ("x + y", "none"),
            ("(5, 3) +", "none"),
            ("r = 5,3", "none"),
            ("5,3 = 4,3", "none"),
        ] {
            let found = calculation(line).map(|(parts, formula)| {
                let parts: Vec<&str> = parts.into_iter().map(|part| &line[part]).collect();
                format!("{};{formula}", parts.join(";"))
            });
            assert_eq!(found.as_deref().unwrap_or("none"), expected, "{line}");
        }
    }

    #[test]
    fn shapes_side_by_side() {
        for (line, expected) in [
            ("5,3 4,3", &["5,3", "4,3"][..]),
            ("(5, 3) (3,)", &["(5, 3)", "(3,)"]),
            ("(5,3)(3,)", &["(5,3)", "(3,)"]),
            ("torch.Size([5, 3]) and torch.Size([3])", &["torch.Size([5, 3])", "torch.Size([3])"]),
            ("5 x 3 4x3", &["5 x 3", "4x3"]),
            ("5, 3 [4]", &["5, 3", "[4]"]),
        ] {
            let found: Vec<&str> = side_by_side(line).expect(line).into_iter().map(|part| &line[part]).collect();
            assert_eq!(found, expected, "{line}");
        }
        for line in ["5, 3", "x + y", "5 3", "[5, 3]", "", "5 x 3", "torch.add(x, y)"] {
            assert_eq!(side_by_side(line), None, "{line}");
        }
    }
}
