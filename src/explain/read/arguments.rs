//! Sorts what was asked into shapes, names, Python, and an error message.

use super::ast::{Expr, ExprKind, Statement, StatementKind};
use super::bindings::{Binding, bindings_of_line};
use super::error::ReadError;
use super::message::{Reported, message};
use super::operand::{Attempt, attempt};
use super::parser::python;
use super::pieces::{pieces, side_by_side};
use super::sizes::{Operand, Size};

/// What was asked, by its kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// The operands, in order, each with its name if it has one. A name that is bound twice has its last shape.
    pub operands: Vec<(Option<String>, Operand)>,
    /// The sizes of names that are used in shapes, such as 32 of `B=32` next to `x=B,3`.
    pub sizes: Vec<(String, i64)>,
    /// The names among the operands whose value was written as a plain number, `n=8`: each may be a number in
    /// the Python too.
    pub numbers: Vec<(String, i64)>,
    /// The Python.
    pub python: Option<Script>,
    /// The error that a pasted text reports.
    pub message: Option<Reported>,
}

/// Python with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The source, in which the places of the statements are.
    pub text: String,
    /// The statements.
    pub statements: Vec<Statement>,
}

/// Sorts the arguments of `broadcheck explain`, or one text that holds all of it.
///
/// | written | read as |
/// |---|---|
/// | `5,3`, `[]`, `8`, `5x3`, `B,T,C`, `torch.randn(5, 3)` | a shape: numbers and names only, or a call that makes a tensor |
/// | `5,3 4,3` in one argument | two shapes |
/// | `x=5,3 y=3`, `x.shape: torch.Size([5, 3])` | shapes with names |
/// | `B=32` | the size of `B` if a shape uses it, and otherwise the operand `B` of shape `[32]` |
/// | `x + y`, `x*3`, `a @ b`, `x[:, None]`, `r = x.sum(0)`, `alpha=0.5`, `dim=-1` | Python |
/// | `x, y` or `z = x` of names that have shapes | Python |
/// | a text with a known message, or with `SomeError:` in it | an error message; bindings around it count too |
///
/// ```
/// use broadcheck_explain::read::arguments;
///
/// let asked = arguments(&["x[:, None] + y".to_owned(), "x=B,3 y=3".to_owned(), "B=32".to_owned()]).unwrap();
/// assert_eq!(asked.operands.len(), 2);
/// assert_eq!(asked.sizes, [("B".to_owned(), 32)]);
/// assert_eq!(asked.python.unwrap().text, "x[:, None] + y");
/// ```
pub fn arguments(arguments: &[String]) -> Result<Asked, ReadError> {
    let mut sorter = Sorter::default();
    let joined = arguments.join(" ");
    let alone: Vec<Option<Reported>> = arguments.iter().map(|argument| message(argument)).collect();
    // A message that the shell split into its words.
    let split = message(&joined).filter(|reported| alone.iter().all(Option::is_none) && reported.known.is_some());
    match split {
        Some(reported) => sorter.around(&joined, reported),
        None => {
            for (argument, reported) in arguments.iter().zip(alone) {
                match reported {
                    Some(reported) => sorter.around(argument, reported),
                    None => sorter.text(argument)?,
                }
            }
        }
    }
    sorter.decide()
}

/// A line that was read.
enum Line {
    /// A shape without a name.
    Shape { text: String, operand: Operand },
    /// The bindings of a line.
    Bindings { text: String, bindings: Vec<Binding> },
    Python(String),
}

#[derive(Default)]
struct Sorter {
    lines: Vec<Line>,
    /// The bindings that stand around a message.
    aside: Vec<Binding>,
    message: Option<Reported>,
}

impl Sorter {
    /// Reads a text that has no message: every line of it has to be understood.
    fn text(&mut self, text: &str) -> Result<(), ReadError> {
        for piece in pieces(text) {
            let line = text.get(piece.clone()).unwrap_or_default();
            self.line(line).map_err(|error| error.within(text, piece.start))?;
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<(), ReadError> {
        if let Some(parts) = side_by_side(line) {
            let shapes = parts.iter().map(|part| {
                let text = line.get(part.clone()).unwrap_or_default();
                match attempt(text) {
                    Ok(Attempt::Operand(operand)) => Some(Line::Shape { text: text.to_owned(), operand }),
                    _ => None,
                }
            });
            if let Some(shapes) = shapes.collect::<Option<Vec<_>>>() {
                self.lines.extend(shapes);
                return Ok(());
            }
        }
        let bound = bindings_of_line(line);
        if let Ok(Some(bindings)) = bound {
            self.lines.push(Line::Bindings { text: line.to_owned(), bindings });
            return Ok(());
        }
        // A value that is neither a shape nor Python is an error of the value, unless the line is Python as a whole.
        let error = match bound {
            Ok(_) => None,
            Err(error) if error.what.ends_with(" is a negative size") => return Err(error),
            Err(error) => Some(error),
        };
        match attempt(line) {
            Ok(Attempt::Operand(operand)) => self.shape(line, operand),
            Ok(Attempt::Python(_)) => self.lines.push(Line::Python(line.to_owned())),
            Err(own) => match python(line) {
                Ok(_) if !shape_like(line) => self.lines.push(Line::Python(line.to_owned())),
                Ok(_) => return Err(own),
                Err(of_python) => return Err(error.unwrap_or(if shape_like(line) { own } else { of_python })),
            },
        }
        Ok(())
    }

    /// Takes a shape. In a console it is that of the `x.shape` on the line before it.
    fn shape(&mut self, line: &str, operand: Operand) {
        let before = match self.lines.last() {
            Some(Line::Python(text)) if line.contains("Size(") => shown(text),
            _ => None,
        };
        match before {
            Some(name) => {
                self.lines.pop();
                let bindings = vec![Binding { name, operand, number: None, span: 0..line.len() }];
                self.lines.push(Line::Bindings { text: line.to_owned(), bindings });
            }
            None => self.lines.push(Line::Shape { text: line.to_owned(), operand }),
        }
    }

    /// Takes a message, and of the text around it what is understood.
    fn around(&mut self, text: &str, reported: Reported) {
        for outside in [0..reported.extent.start, reported.extent.end..text.len()] {
            let outside = text.get(outside).unwrap_or_default();
            for piece in pieces(outside) {
                let mut own = Sorter::default();
                std::mem::swap(&mut own.lines, &mut self.lines);
                let count = own.lines.len();
                let understood = own.line(outside.get(piece).unwrap_or_default()).is_ok();
                let fresh = match own.lines.len() {
                    length if length > count => own.lines.pop().filter(|_| understood),
                    // The shape of the `x.shape` on the line before it.
                    _ => own.lines.pop(),
                };
                std::mem::swap(&mut own.lines, &mut self.lines);
                match fresh {
                    Some(Line::Bindings { text, bindings }) if bindings.iter().all(is_sure) => {
                        self.lines.push(Line::Bindings { text, bindings });
                    }
                    Some(Line::Bindings { bindings, .. }) => self.aside.extend(bindings),
                    Some(Line::Shape { text, operand }) if text.contains(['(', '[', ',']) && is_numeric(&operand) => {
                        self.lines.push(Line::Shape { text, operand });
                    }
                    Some(Line::Python(text)) if is_code(&text) => self.lines.push(Line::Python(text)),
                    _ => {}
                }
            }
        }
        self.message = Some(reported);
    }

    /// Decides what depends on several lines, and parses the Python.
    fn decide(self) -> Result<Asked, ReadError> {
        let mut asked = Asked { message: self.message, ..Asked::default() };
        let mut used: Vec<String> = Vec::new();
        for line in &self.lines {
            match line {
                Line::Bindings { bindings, .. } => {
                    used.extend(bindings.iter().flat_map(|binding| names(&binding.operand)));
                }
                Line::Shape { operand, .. } => used.extend(names(operand)),
                Line::Python(_) => {}
            }
        }
        let shapes: Vec<&Binding> = bindings(&self.lines).filter(|binding| binding.number.is_none()).collect();
        let tensors: Vec<String> = shapes.iter().map(|binding| binding.name.clone()).collect();
        // `z = x`, or `x, y`, of names that have shapes of their own, which are no sizes.
        let of_tensors = |operand: &Operand| {
            !operand.sizes.is_empty()
                && operand.sizes.iter().all(|size| matches!(size, Size::Name(name) if tensors.contains(name)))
        };
        let mut source: Vec<String> = Vec::new();
        for line in self.lines {
            match line {
                Line::Python(text) => source.push(text),
                Line::Shape { text, operand } if of_tensors(&operand) => source.push(text),
                Line::Bindings { text, bindings } if bindings.iter().any(|it| of_tensors(&it.operand)) => {
                    source.push(text);
                }
                Line::Shape { operand, .. } => asked.operands.push((None, operand)),
                Line::Bindings { bindings, .. } => {
                    for binding in bindings {
                        asked.bind(binding, &used);
                    }
                }
            }
        }
        for binding in self.aside.into_iter().filter(|binding| used.contains(&binding.name)) {
            asked.bind(binding, &used);
        }
        let text = source.join("\n");
        let statements = python(&text)?;
        asked.python = (!statements.is_empty()).then_some(Script { text, statements });
        Ok(asked)
    }
}

impl Asked {
    fn bind(&mut self, binding: Binding, used: &[String]) {
        let Binding { name, operand, number, .. } = binding;
        self.sizes.retain(|(other, _)| *other != name);
        self.numbers.retain(|(other, _)| *other != name);
        match number {
            Some(number) if used.contains(&name) => return self.sizes.push((name, number)),
            Some(number) => self.numbers.push((name.clone(), number)),
            None => {}
        }
        match self.operands.iter_mut().find(|(other, _)| other.as_ref() == Some(&name)) {
            Some((_, earlier)) => *earlier = operand,
            None => self.operands.push((Some(name), operand)),
        }
    }
}

fn bindings(lines: &[Line]) -> impl Iterator<Item = &Binding> {
    lines.iter().flat_map(|line| match line {
        Line::Bindings { bindings, .. } => bindings.as_slice(),
        _ => &[],
    })
}

fn names(operand: &Operand) -> impl Iterator<Item = String> {
    operand.sizes.iter().filter_map(|size| match size {
        Size::Name(name) => Some(name.clone()),
        Size::Number(_) => None,
    })
}

/// True of a line that has only what shapes consist of, and is meant as one.
fn shape_like(line: &str) -> bool {
    let digit = line.starts_with(|c: char| c.is_ascii_digit() || "([-,".contains(c));
    digit && line.chars().all(|c| c.is_alphanumeric() || " ,()[]×_-*.:".contains(c))
}

/// The name in `x.shape`, `x.size()`, or `print(x.shape)`.
fn shown(text: &str) -> Option<String> {
    let statements = python(text).ok()?;
    let [Statement { kind: StatementKind::Expression(expr), .. }] = statements.as_slice() else { return None };
    shown_by(expr)
}

fn shown_by(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Attribute { value, name, .. } if name == "shape" => value.dotted(),
        ExprKind::Call { function, arguments } => match (&function.kind, arguments.as_slice()) {
            (ExprKind::Attribute { value, name, .. }, []) if name == "size" => value.dotted(),
            (ExprKind::Name(print), [only]) if print == "print" => shown_by(&only.value),
            _ => None,
        },
        _ => None,
    }
}

fn is_numeric(operand: &Operand) -> bool {
    operand.sizes.is_empty() || operand.sizes.iter().any(|size| matches!(size, Size::Number(_)))
}

/// True of a binding that is a shape even in prose, where `Epoch: 5` and `note: this` are none.
fn is_sure(binding: &Binding) -> bool {
    binding.number.is_none() && is_numeric(&binding.operand)
}

/// True of Python that is no word of prose.
fn is_code(text: &str) -> bool {
    let computes = |expr: &Expr| !matches!(expr.kind, ExprKind::Name(_) | ExprKind::Str(_) | ExprKind::Tuple(_));
    let prints = |expr: &Expr| {
        matches!(&expr.kind, ExprKind::Call { function, .. } if function.name() == Some("print")) || shown_by(expr).is_some()
    };
    python(text).is_ok_and(|statements| {
        statements.iter().all(|statement| match &statement.kind {
            StatementKind::Expression(expr) => computes(expr) && !prints(expr),
            _ => true,
        })
    })
}
