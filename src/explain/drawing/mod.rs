//! Drawings: a column for each dimension, a row for each shape, and the rule that decides each column.
//!
//! A drawing is data. The command line and the page in the browser render it, each in its own way.

mod elementwise;
mod index;
mod product;
mod view;

use serde::{Deserialize, Serialize};

pub use elementwise::{cat, elementwise, prelu, stack};
pub use index::{IndexPart, PartKind, gather, index, scatter};
pub(crate) use product::sum_batches;
pub use product::{distances, einsum, kron, matmul};
pub use view::{expand, reduction, view};

/// A shape that a drawing names.
pub type Named = (String, broadcheck_protocol::tensor::Shape);

/// Writes a size: a number, or the name that it has.
pub type Label<'a> = &'a dyn Fn(i64) -> String;

/// A drawing of how shapes line up.
///
/// ```
/// use broadcheck_explain::drawing::{Cell, Drawing, Mark, Row};
///
/// let row = Row::new("a", "[5, 3]", vec![Cell::plain("5"), Cell::of("3", Mark::Conflict)]);
/// let drawing = Drawing { columns: vec!["0".into(), "1".into()], rows: vec![row], rules: Vec::new() };
/// assert_eq!(drawing.width(), 2, "columns are never narrower than two characters");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawing {
    /// The heads of the columns: numbers of dimensions, letters of an equation, or what a dimension is for.
    pub columns: Vec<String>,
    /// The rows, the result last.
    pub rows: Vec<Row>,
    /// The rules, in the order in which PyTorch looks at them.
    pub rules: Vec<Rule>,
}

/// A shape in a drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The name of the tensor or of the argument, or `result`.
    pub name: String,
    /// The whole shape, as text.
    pub shape: String,
    /// One for each column.
    pub cells: Vec<Cell>,
    /// True for the row of the result.
    pub result: bool,
}

/// A size in a drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The size as text; empty where there is no dimension.
    pub text: String,
    /// The part that it plays.
    pub mark: Mark,
}

/// The part that a size plays in the rule of its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// A size that stays as it is.
    Plain,
    /// No dimension is there, and none is needed.
    Empty,
    /// No dimension is there: it counts as 1, and is expanded.
    Missing,
    /// A size of 1 that is expanded.
    Expanded,
    /// A dimension that the operation sums over, or removes.
    Reduced,
    /// A size that contradicts another one.
    Conflict,
}

/// The rule that decides a column, or the whole call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// False if it is a reason for a rejection.
    pub holds: bool,
    /// The column it is about; `None` for a rule about the whole.
    pub column: Option<usize>,
    /// The rule in words.
    pub text: String,
}

impl Drawing {
    /// The width of the widest cell in characters, at least 2.
    pub fn width(&self) -> usize {
        let cells = self.rows.iter().flat_map(|row| row.cells.iter().map(|cell| cell.text.as_str()));
        cells.chain(self.columns.iter().map(String::as_str)).map(|text| text.chars().count()).fold(2, usize::max)
    }

    /// Adds a rule about one column.
    pub fn rule(&mut self, holds: bool, column: usize, text: impl Into<String>) {
        self.rules.push(Rule { holds, column: Some(column), text: text.into() });
    }

    /// Adds a rule about the whole.
    pub fn law(&mut self, holds: bool, text: impl Into<String>) {
        self.rules.push(Rule { holds, column: None, text: text.into() });
    }
}

/// A number of dimensions in words: `1 dimension`.
pub(crate) fn dims(rank: usize) -> String {
    if rank == 1 { "1 dimension".to_owned() } else { format!("{rank} dimensions") }
}

/// A whole shape as text: `[B, 3]`.
pub(crate) fn shape_text(sizes: &[i64], label: Label) -> String {
    let sizes: Vec<String> = sizes.iter().map(|size| label(*size)).collect();
    format!("[{}]", sizes.join(", "))
}

impl Row {
    /// The row of an operand.
    pub fn new(name: impl Into<String>, shape: impl Into<String>, cells: Vec<Cell>) -> Row {
        Row { name: name.into(), shape: shape.into(), cells, result: false }
    }

    /// The row of the result.
    pub fn result(shape: impl Into<String>, cells: Vec<Cell>) -> Row {
        Row { name: "result".to_owned(), shape: shape.into(), cells, result: true }
    }
}

impl Cell {
    /// A size that stays as it is.
    pub fn plain(text: impl Into<String>) -> Cell {
        Cell::of(text, Mark::Plain)
    }

    /// A size and its part.
    pub fn of(text: impl Into<String>, mark: Mark) -> Cell {
        Cell { text: text.into(), mark }
    }

    /// Nothing.
    pub fn empty() -> Cell {
        Cell::of("", Mark::Empty)
    }
}
