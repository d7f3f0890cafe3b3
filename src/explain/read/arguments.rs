//! Sorts what was asked into shapes, names, Python, and an error message.

use std::ops::Range;

use super::ast::{Expr, ExprKind, Statement, StatementKind};
use super::bindings::{Binding, bindings_of_line};
use super::error::ReadError;
use super::message::{Reported, message};
use super::operand::{Attempt, attempt, shape};
use super::parser::python;
use super::pieces::{calculation, letter, pieces, side_by_side};
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
/// | `5,3 4,3`, `5,3 3` in one argument | two shapes |
/// | `5,3 + 4,3`, `[5, 3] @ [3]` | Python on the operands `a`, `b`, … |
/// | `x=5,3 y=3`, `x.shape: torch.Size([5, 3])` | shapes with names |
/// | `x / y x=5,3 y=3`, also `x / y with x=5,3` | Python and the shapes of its names |
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
    let several = arguments.len() > 1 && alone.iter().all(Option::is_none);
    let split = if several { message(&joined).filter(|reported| reported.known.is_some()) } else { None };
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
    Shape {
        text: String,
        operand: Operand,
    },
    /// The bindings of a line.
    Bindings {
        text: String,
        bindings: Vec<Binding>,
    },
    Python(String),
}

#[derive(Default)]
struct Sorter {
    lines: Vec<Line>,
    /// The name whose shape the last line asked for.
    showing: Option<String>,
    /// The bindings around a message that may be prose.
    aside: Vec<Binding>,
    message: Option<Reported>,
}

impl Sorter {
    /// Reads a text that has no message: every line of it has to be understood.
    fn text(&mut self, text: &str) -> Result<(), ReadError> {
        for piece in pieces(text) {
            let line = text.get(piece.clone()).unwrap_or_default();
            let lines = read_line(line).map_err(|error| error.within(text, piece.start))?;
            lines.into_iter().for_each(|line| self.take(line));
        }
        Ok(())
    }

    /// Takes a line. In a console, a shape is that of the `x.shape` on the line before it.
    fn take(&mut self, line: Line) {
        let showing = self.showing.take();
        match (line, showing) {
            (Line::Shape { text, operand }, Some(name)) if text.contains("Size(") => {
                if matches!(self.lines.last(), Some(Line::Python(before)) if shown(before).as_ref() == Some(&name)) {
                    self.lines.pop();
                }
                let bindings = vec![Binding { name, operand, number: None, span: 0..text.len() }];
                self.lines.push(Line::Bindings { text, bindings });
            }
            (line, _) => {
                if let Line::Python(text) = &line {
                    self.showing = shown(text);
                }
                self.lines.push(line);
            }
        }
    }

    /// Takes a message, and of the text around it what is understood.
    fn around(&mut self, text: &str, reported: Reported) {
        for outside in [0..reported.extent.start, reported.extent.end..text.len()] {
            let outside = text.get(outside).unwrap_or_default();
            for piece in pieces(outside) {
                for line in read_line(outside.get(piece).unwrap_or_default()).unwrap_or_default() {
                    match line {
                        Line::Bindings { bindings, .. } if !bindings.iter().all(is_sure) => self.aside.extend(bindings),
                        Line::Shape { text, operand } if !(text.contains(['(', '[', ',']) && is_numeric(&operand)) => {}
                        Line::Python(text) if !is_code(&text) => self.showing = shown(&text).or(self.showing.take()),
                        line => self.take(line),
                    }
                }
            }
        }
        self.message = Some(reported);
    }

    /// Decides what depends on several lines, and parses the Python.
    fn decide(self) -> Result<Asked, ReadError> {
        let mut asked = Asked { message: self.message, ..Asked::default() };
        let bound = bindings(&self.lines).map(|binding| (binding.name.clone(), binding.number.is_none()));
        let bound: Vec<(String, bool)> = bound.chain(assigned(&self.lines).map(|name| (name, true))).collect();
        // `z = x`, or `x, y`, of names that have shapes of their own, which are no sizes.
        let of_tensors = |operand: &Operand| {
            let of = |size: &Size, sure: bool| match size {
                Size::Name(name) => bound.iter().any(|(other, shape)| other == name && (*shape || !sure)),
                Size::Number(_) => false,
            };
            operand.sizes.iter().any(|size| of(size, true)) && operand.sizes.iter().all(|size| of(size, false))
        };
        let shapes = self.lines.iter().flat_map(|line| match line {
            Line::Bindings { bindings, .. } => bindings.iter().map(|binding| &binding.operand).collect(),
            Line::Shape { operand, .. } => vec![operand],
            Line::Python(_) => Vec::new(),
        });
        let used: Vec<String> = shapes.filter(|operand| !of_tensors(operand)).flat_map(names).collect();
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

/// Reads a line: as shapes side by side, as bindings, as a shape, or as Python.
fn read_line(line: &str) -> Result<Vec<Line>, ReadError> {
    if let Some(parts) = side_by_side(line).or_else(|| plain_shapes(line)) {
        let shapes = parts.into_iter().map(|part| {
            let text = line.get(part).unwrap_or_default().to_owned();
            match attempt(&text) {
                Ok(Attempt::Operand(operand)) => Some(Line::Shape { text, operand }),
                _ => None,
            }
        });
        if let Some(shapes) = shapes.collect() {
            return Ok(shapes);
        }
    }
    if let Some((parts, formula)) = calculation(line) {
        let bindings = parts.into_iter().enumerate().map(|(at, span)| {
            match (attempt(line.get(span.clone()).unwrap_or_default()), letter(at)) {
                (Ok(Attempt::Operand(operand)), Some(name)) => {
                    Some(Binding { name: name.to_string(), operand, number: None, span })
                }
                _ => None,
            }
        });
        if let Some(bindings) = bindings.collect() {
            return Ok(vec![Line::Bindings { text: line.to_owned(), bindings }, Line::Python(formula)]);
        }
    }
    let text = line.to_owned();
    let error = match bindings_of_line(line) {
        Ok(Some(bindings)) => return Ok(vec![Line::Bindings { text, bindings }]),
        // Python would read `x=5,-3` without an error.
        Err(error) if error.what.ends_with(" is a negative size") => return Err(error),
        other => other.err(),
    };
    let parsed = python(line);
    if let (Err(_), Some(lines)) = (&parsed, followed_by_bindings(line)) {
        return Ok(lines);
    }
    match (attempt(line), parsed) {
        (Ok(Attempt::Operand(operand)), _) => Ok(vec![Line::Shape { text, operand }]),
        // `5*3` and `[[1, 2], [3, 4]]` are no Python about tensors.
        (Ok(Attempt::Python(_)), _) if shape_like(line) && !line.contains(char::is_alphabetic) => {
            shape(line).map(|operand| vec![Line::Shape { text, operand }])
        }
        (Ok(Attempt::Python(_)), _) => Ok(vec![Line::Python(text)]),
        (Err(own), _) if shape_like(line) => Err(error.unwrap_or(own)),
        (Err(_), Ok(_)) => Ok(vec![Line::Python(text)]),
        (Err(_), Err(of_python)) => Err(error.unwrap_or(of_python)),
    }
}

/// Splits a line of shapes that are written without brackets, where a shape may be a single number: `5,3 3`. Returns their
/// places, or `None` if a word is no such shape.
fn plain_shapes(line: &str) -> Option<Vec<Range<usize>>> {
    let is_size = |size: &str| !size.is_empty() && size.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_shape =
        |word: &str| word.split(',').all(is_size) && (word.contains(',') || word.chars().all(|c| c.is_ascii_digit()));
    let mut places = Vec::new();
    for word in line.split_whitespace() {
        let after = places.last().map_or(0, |place: &Range<usize>| place.end);
        let start = after + line.get(after..)?.find(word).filter(|_| is_shape(word))?;
        places.push(start..start + word.len());
    }
    (places.len() > 1).then_some(places)
}

/// Reads Python that is followed by the shapes of its names, in one line: `x / x.sum(1) x=4,3`.
fn followed_by_bindings(line: &str) -> Option<Vec<Line>> {
    line.match_indices(char::is_whitespace).find_map(|(at, _)| {
        let (before, after) = (&line[..at], line[at..].trim());
        let before = before.trim().trim_end_matches(" with").trim_end_matches([',', ';', ':']);
        let names = after.split_once('=').map(|(name, _)| name.trim_end());
        let bound = names.is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')));
        if before.is_empty() || !bound || python(before).is_err() {
            return None;
        }
        let bindings = bindings_of_line(after).ok()??;
        let text = after.to_owned();
        Some(vec![Line::Python(before.to_owned()), Line::Bindings { text, bindings }])
    })
}

/// The names that Python assigns to: `z = x` is another name of such a tensor, too.
fn assigned(lines: &[Line]) -> impl Iterator<Item = String> {
    let statements = lines.iter().filter_map(|line| match line {
        Line::Python(text) => python(text).ok(),
        _ => None,
    });
    statements.flatten().flat_map(|statement| match statement.kind {
        StatementKind::Assign { targets, .. } => targets.into_iter().filter_map(|target| target.dotted()).collect(),
        _ => Vec::new(),
    })
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
        matches!(&expr.kind, ExprKind::Call { function, .. } if function.name() == Some("print"))
            || shown_by(expr).is_some()
    };
    python(text).is_ok_and(|statements| {
        statements.iter().all(|statement| match &statement.kind {
            StatementKind::Expression(expr) => computes(expr) && !prints(expr),
            _ => true,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_may_stand_behind_their_python() {
        assert_eq!(short(&["5,3 3"]), "[5, 3] [3]");
        assert_eq!(short(&["x / x.sum(1) x=4,3"]), "x[4, 3] | x / x.sum(1)");
        assert_eq!(short(&["a + b with a=5,3, b=4"]), "a[5, 3] b[4] | a + b");
        assert_eq!(
            short(&["F.mse_loss(p, t, reduction='none') p=8,1 t=8"]),
            "p[8, 1] t[8] | F.mse_loss(p, t, reduction='none')"
        );
    }

    /// What was asked in short: `[5, 3] y[3] | B=32 | x + y | SizeMismatch`.
    fn short(texts: &[&str]) -> String {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let asked = match arguments(&texts) {
            Ok(asked) => asked,
            Err(error) => return format!("error at {:?}: {}", &error.text[error.span.clone()], error.what),
        };
        let operand =
            |(name, operand): &(Option<String>, Operand)| format!("{}{operand}", name.as_deref().unwrap_or_default());
        let operands: Vec<String> = asked.operands.iter().map(operand).collect();
        let sizes: Vec<String> = asked.sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
        let python = asked.python.map(|script| script.text.replace('\n', "; "));
        let known = asked.message.map(|reported| reported.known.map_or("unknown", |known| known.name).to_owned());
        let parts = [Some(operands.join(" ")), Some(sizes.join(" ")), python, known];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn what_is_read_as_what() {
        for (texts, expected) in [
            (&["5,1,4,1", "3,1,1"][..], "[5, 1, 4, 1] [3, 1, 1]"),
            (&["5x3", "8", "[]"], "[5, 3] [8] []"),
            (&["B,T,C", "C"], "[B, T, C] [C]"),
            (&["B,T", "T", "B=32"], "[B, T] [T] | B=32"),
            (&["x=5,3", "n=8"], "x[5, 3] n[8]"),
            (&["x=5,3 y=3", "x[:, None] + y"], "x[5, 3] y[3] | x[:, None] + y"),
            (&["x*3"], "x*3"),
            (&["a @ b", "a=5,3", "b=3"], "a[5, 3] b[3] | a @ b"),
            (&["torch.add(x, y)", "x=5,3", "y=4,3"], "x[5, 3] y[4, 3] | torch.add(x, y)"),
            (&["torch.randn(5, 3)", "torch.randn(3)"], "[5, 3] [3]"),
            (&["torch.randn(5, 3) + torch.randn(4)"], "torch.randn(5, 3) + torch.randn(4)"),
            (&["x = torch.randn(5, 3); y = torch.ones(3)\nz = x + y"], "x[5, 3] y[3] | z = x + y"),
            (&["x=5,3", "z = x"], "x[5, 3] | z = x"),
            (&["x=5,3 y=3", "x, y"], "x[5, 3] y[3] | x, y"),
            (&["torch.add(x, y, alpha=0.5)"], "torch.add(x, y, alpha=0.5)"),
            (&["alpha=0.5"], "alpha=0.5"),
            (&["dim=-1", "x=5,3", "x.sum(dim)"], "x[5, 3] | dim=-1; x.sum(dim)"),
            (&["5,3 4,3"], "[5, 3] [4, 3]"),
            (&["(5, 3) and (3,)"], "[5, 3] [3]"),
            (&["5,3 + 4,3"], "a[5, 3] b[4, 3] | a + b"),
            (&["5x3 @ 3x4 + [4]"], "a[5, 3] b[3, 4] c[4] | a @ b + c"),
            (&["(5, 3) * 2"], "a[5, 3] | a * 2"),
            (&["x.shape=torch.Size([5, 3]), x.dtype=torch.int64"], "x[5, 3]"),
            (&["x torch.Size([5, 3]) torch.float32\ny torch.Size([3]), torch.int64"], "x[5, 3] y[3]"),
            (&["x.shape: torch.Size([5, 3])\ny.shape: torch.Size([3])"], "x[5, 3] y[3]"),
            (&[">>> x.shape\ntorch.Size([5, 3])\n>>> y.size()\ntorch.Size([3])\n>>> x + y"], "x[5, 3] y[3] | x + y"),
            (&["x += y", "x=3 y=3,3"], "x[3] y[3, 3] | x += y"),
            (&["import torch\nx = torch.zeros(3)"], "x[3] | import torch"),
            (&["x=5,3:int64"], "x[5, 3]"),
            (&["x: Tensor = y"], "x: Tensor = y"),
            (&["r = x.view(5, 3)"], "r = x.view(5, 3)"),
            (&["x=5 x=5,3"], "x[5, 3]"),
            (&["x == y"], "x == y"),
            (&["x[0] = y"], "x[0] = y"),
            (&["f(x=5)"], "f(x=5)"),
            (&[], ""),
            (&["", " "], ""),
        ] {
            let found = short(texts);
            assert_eq!(found.replace(" | import torch", ""), expected.replace(" | import torch", ""), "{texts:?}");
        }
    }

    #[test]
    fn messages_and_the_text_around_them() {
        let message = "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1";
        let split: Vec<&str> = message.split(' ').collect();
        assert_eq!(short(&split), "SizeMismatch");
        assert_eq!(short(&[message, "x=5,3"]), "x[5, 3] | SizeMismatch");
        assert_eq!(short(&["FooError: bar"]), "unknown");
        let pasted = format!(
            "Epoch: 5\nLoss: 0.3 note: slow\nit's x.shape below\n>>> x.shape\ntorch.Size([5, 3])\ny.shape: torch.Size([5, 4])\n\
             >>> x + y\nTraceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\nRuntimeError: {message}\n\
             (5, B)\nB=5\n"
        );
        assert_eq!(short(&[&pasted]), "x[5, 3] y[5, 4] [5, B] | B=5 | x + y | SizeMismatch");
    }

    #[test]
    fn errors_name_the_place() {
        for (text, expected) in [
            ("5,,3", "error at \",,\": a comma without a size before it"),
            ("5,-3", "error at \"-3\": -3 is a negative size"),
            ("x=5,-3", "error at \"-3\": -3 is a negative size"),
            ("x=5\ny=3,-1", "error at \"-1\": -1 is a negative size"),
            ("5*3", "error at \"5*3\": 5*3 is a product"),
            ("2N,3", "error at \"2N\": 2N is not a size"),
            ("x=2N", "error at \"2N\": 2N is not a size"),
            ("x +", "error at \"\": the expression ends too early"),
            ("x × y", "error at \"×\": '×' is not a part of Python"),
            ("lambda x: x", "error at \"lambda\": lambda is not read here"),
            ("(5,3", "error at \"(\": ( is never closed"),
            ("x y", "error at \"y\": y follows x directly"),
            ("[[1,2],[3,4]]", "error at \"[1,2]\": [1,2] is not a size"),
        ] {
            assert_eq!(short(&[text]), expected, "{text}");
        }
    }
}
