//! Reads names with their shapes.

use std::ops::Range;

use super::ast::{ExprKind, StatementKind};
use super::dtype::dtype;
use super::error::ReadError;
use super::operand::{Attempt, attempt, shape};
use super::pieces::{assignments, pieces};
use super::sizes::{Operand, Size};

/// A name and the shape that is written for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The name, such as `x`, or `self.weight`.
    pub name: String,
    /// The shape.
    pub operand: Operand,
    /// The number, if the value is one number without a comma or a bracket: `B=32` may be a size, as well as an operand
    /// of the shape `[32]`.
    pub number: Option<i64>,
    /// The place of name and value in the text, in bytes.
    pub span: Range<usize>,
}

/// Reads bindings, separated by spaces, commas, `;` or line ends: `x=5,3 y=3`, `x = (5, 3)`,
/// `x.shape = torch.Size([5, 3])`, `x: torch.Size([5, 3])`, `x = torch.randn(5, 3)`, `B=32`.
///
/// ```
/// use broadcheck_explain::read::bindings;
///
/// let found = bindings("x=B,3 y.shape: torch.Size([3]) B=32").unwrap();
/// let names: Vec<&str> = found.iter().map(|binding| binding.name.as_str()).collect();
/// assert_eq!(names, ["x", "y", "B"]);
/// assert_eq!(found[0].operand.to_string(), "[B, 3]");
/// assert_eq!((found[1].number, found[2].number), (None, Some(32)));
/// ```
pub fn bindings(text: &str) -> Result<Vec<Binding>, ReadError> {
    let mut found = Vec::new();
    for piece in pieces(text) {
        let line = text.get(piece.clone()).unwrap_or_default();
        let Some(parts) = assignments(line) else {
            return Err(ReadError::new(
                text,
                piece,
                "no name with a shape",
                "write a name and its shape, such as x=5,3",
            ));
        };
        for (name, span, value) in parts {
            let written = line.get(value.clone()).unwrap_or_default();
            let operand = shape(written).map_err(|error| error.within(text, piece.start + value.start))?;
            let span = piece.start + span.start..piece.start + span.end;
            found.push(binding(name, operand, written, span));
        }
    }
    Ok(found)
}

/// The bindings of a line, or `None` if the line is to be read as Python: one of the values is computed, a string, a
/// number that is no size, or nothing, as in `x: Tensor = y`.
pub fn bindings_of_line(line: &str) -> Result<Option<Vec<Binding>>, ReadError> {
    let Some(parts) = assignments(line) else { return Ok(None) };
    if parts.iter().any(|(_, _, value)| value.is_empty()) && parts.len() > 1 {
        return Ok(None);
    }
    let mut found: Vec<Binding> = Vec::new();
    for (name, span, value) in parts {
        let written = line.get(value.clone()).unwrap_or_default();
        if is_scalar(written) {
            return Ok(None);
        }
        if let Some(tensor) = name.strip_suffix(".dtype")
            && let Some(dtype) = dtype(written)
            && let Some(Binding { operand, .. }) = found.iter_mut().find(|binding| binding.name == tensor)
        {
            operand.dtype = Some(dtype);
            continue;
        }
        match attempt(written).map_err(|error| error.within(line, value.start))? {
            Attempt::Operand(operand) => found.push(binding(name, operand, written, span)),
            Attempt::Python(_) => return Ok(None),
        }
    }
    Ok(Some(found))
}

fn binding(name: String, operand: Operand, written: &str, span: Range<usize>) -> Binding {
    let number = match operand.sizes.as_slice() {
        [Size::Number(number)]
            if written.starts_with(|c: char| c.is_ascii_digit()) && !written.contains([',', ':']) =>
        {
            Some(*number)
        }
        _ => None,
    };
    Binding { name, operand, number, span }
}

/// True of a value that is a Python number and no size: `-1`, `0.5`.
fn is_scalar(value: &str) -> bool {
    let Ok(Attempt::Python(statements)) = attempt(value.trim_start_matches(['-', '+'])) else {
        return value.starts_with('-') && value[1..].chars().all(|c| c.is_ascii_digit());
    };
    statements.iter().all(|statement| match &statement.kind {
        StatementKind::Expression(expr) => matches!(expr.kind, ExprKind::Float(_) | ExprKind::Imaginary(_)),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_their_shapes() {
        for (text, expected) in [
            ("x=5,3", "x[5, 3]"),
            ("x = (5,3)", "x[5, 3]"),
            ("x=5,3 y=3", "x[5, 3] y[3]"),
            ("x=(5,), y=3; z = []\nw=2x2", "x[5] y[3] z[] w[2, 2]"),
            ("x.shape = torch.Size([5, 3])", "x[5, 3]"),
            ("x.shape: torch.Size([5, 3])", "x[5, 3]"),
            ("x.size() = torch.Size([5, 3])", "x[5, 3]"),
            ("x: torch.Size([5, 3])", "x[5, 3]"),
            ("x: torch.Size([5, 3]), y: torch.Size([3])", "x[5, 3] y[3]"),
            ("x torch.Size([5, 3])", "x[5, 3]"),
            ("x shape: torch.Size([5,\n 3])", "x[5, 3]"),
            ("x = torch.randn(5, 3)\ny = torch.randn(3)", "x[5, 3] y[3]"),
            ("x=B,T:int64 B=32", "x[B, T] B[32]"),
            ("self.weight: [10, 784]", "self.weight[10, 784]"),
            ("", ""),
        ] {
            let found = bindings(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let found: Vec<String> = found.iter().map(|it| format!("{}{}", it.name, it.operand)).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_plain_number_may_be_a_size() {
        let number = |text: &str| bindings(text).unwrap()[0].number;
        assert_eq!(number("B=32"), Some(32));
        assert_eq!(number("B=1_000"), Some(1000));
        for text in ["B=32,", "B=(32,)", "B=[32]", "B=32:int64", "B=N", "B=torch.zeros(3)"] {
            assert_eq!(number(text), (text == "B=32,").then_some(32), "{text}");
        }
    }

    #[test]
    fn errors_are_placed_in_the_whole_text() {
        for (text, place) in
            [("x=5,3 y=3,-1", "-1"), ("x=5\n y=2N", "2N"), ("x=5\nhello", "hello"), ("x=", ""), ("5,3", "5,3")]
        {
            let error = bindings(text).expect_err(text);
            assert_eq!(&error.text[error.span.clone()], place, "{text}");
            assert_eq!(error.text, text);
        }
    }
}
