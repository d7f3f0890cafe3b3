//! Questions: what a person has, as one text of Python with the shapes of its names.

use std::collections::BTreeSet;

use broadcheck_protocol::ops::{Form, Op, ParamKind};
use broadcheck_protocol::tensor::DType;

use crate::evaluate::dtype_named;
use crate::names::{self, Function};
use crate::read::ast::{Expr, ExprKind, Statement, StatementKind};
use crate::read::{self, Operand, ReadError, Reported, Size};
use crate::symbols::Symbols;

/// A question that cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The text cannot be read.
    #[error("{}", .0.pointed())]
    Read(#[from] ReadError),
    /// The text is read, and means nothing that is known.
    #[error("{0}")]
    Unknown(String),
}

/// What is asked besides the text itself.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The function that shapes are given to: a name or an operator; `add` and `broadcast_tensors` if there is none.
    pub op: Option<String>,
    /// The shape of the tensor that `out=` names.
    pub out: Option<String>,
    /// The dtype of the tensors whose dtype is not said: one for all, or `name=dtype`.
    pub dtypes: Vec<String>,
    /// More arguments of the function, `dim=1`.
    pub arguments: Vec<String>,
}

/// A question: Python, and the tensors in it.
#[derive(Clone, Debug)]
pub struct Question {
    /// The Python.
    pub source: String,
    /// The tensors.
    pub tensors: Vec<Given>,
    /// Sizes by name.
    sizes: Vec<(String, i64)>,
    /// Tensors that may be numbers.
    numbers: Vec<(String, i64)>,
    /// The message that was pasted.
    pub reported: Option<Reported>,
}

/// A tensor that is given.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its name.
    pub name: String,
    /// Its sizes.
    pub sizes: Vec<Size>,
    /// Its dtype, if it is said.
    pub dtype: Option<DType>,
}

impl Given {
    /// Its shape as it was given: `[B, 3]`.
    pub fn shape(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(Size::to_string).collect();
        format!("[{}]", sizes.join(", "))
    }
}

impl Question {
    /// Reads a question.
    ///
    /// # Errors
    /// When a part cannot be read, or nothing follows from all of them.
    pub fn new(arguments: &[String], options: &Options) -> Result<Question, AskError> {
        let asked = match read::arguments(arguments) {
            Ok(asked) => asked,
            Err(error) => {
                // Beside a message, what cannot be read does not count.
                let message = arguments.iter().find(|argument| read::message(argument).is_some());
                read::arguments(&[message.ok_or(error)?.clone()])?
            }
        };
        let mut tensors: Vec<Given> = Vec::new();
        for (name, operand) in asked.operands {
            let name = name.unwrap_or_else(|| letter(tensors.len()));
            tensors.push(Given { name, sizes: operand.sizes, dtype: operand.dtype });
        }
        let mut question = Question {
            source: String::new(),
            tensors,
            sizes: asked.sizes,
            numbers: asked.numbers,
            reported: asked.message,
        };
        let python = asked.python.map(|script| question.computed(script));
        question.take_dtypes(&options.dtypes)?;
        if let Some(script) = python.filter(|script| !script.statements.is_empty()) {
            if let Some(op) = &options.op {
                return Err(AskError::Unknown(format!(
                    "--op {op} goes with shapes, and the call stands in the Python already"
                )));
            }
            question.source = ordered(&script);
        } else if let Some(line) = question.reported.as_ref().and_then(line).filter(|_| options.op.is_none()) {
            // The line of the traceback, which may have names without shapes.
            question.source = line;
        } else if question.reported.is_some() && options.op.is_none() {
            // The message may tell of the call.
        } else if question.tensors.is_empty() && question.reported.is_none() {
            return Err(AskError::Unknown(
                "there is no shape; write shapes (5,3 3), or a line of Python (a + b a=5,3 b=3)".to_owned(),
            ));
        } else if !question.tensors.is_empty() {
            question.source = question.call(options)?;
        }
        if let Some(out) = &options.out {
            question.take_out(out)?;
        }
        Ok(question)
    }

    /// Takes the names whose shapes are computed out of a script: `x = B*H,T`.
    fn computed(&mut self, script: read::Script) -> read::Script {
        let mut kept = Vec::new();
        for statement in script.statements {
            let shape = match &statement.kind {
                StatementKind::Assign { targets, value } => match (targets.as_slice(), &value.kind) {
                    ([target], ExprKind::Tuple(items)) => target
                        .name()
                        .map(str::to_owned)
                        .zip(items.iter().map(|item| self.computed_size(item)).collect::<Option<Vec<i64>>>()),
                    _ => None,
                },
                _ => None,
            };
            match shape {
                Some((name, sizes)) => {
                    let sizes = sizes.into_iter().map(Size::Number).collect();
                    self.tensors.push(Given { name, sizes, dtype: None });
                }
                None => kept.push(statement),
            }
        }
        read::Script { statements: kept, ..script }
    }

    fn computed_size(&self, size: &Expr) -> Option<i64> {
        match &size.kind {
            ExprKind::Int(size) => Some(*size),
            ExprKind::Name(name) => {
                self.sizes.iter().chain(&self.numbers).find(|(own, _)| own == name).map(|(_, size)| *size)
            }
            ExprKind::Binary { left, operator, right } => {
                let (left, right) = (self.computed_size(left)?, self.computed_size(right)?);
                match operator.symbol() {
                    "*" => left.checked_mul(right),
                    "+" => left.checked_add(right),
                    "-" => left.checked_sub(right),
                    "//" if right > 0 => Some(left / right),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The question whether a call works, whose tensors are known.
    pub(crate) fn of(source: String, tensors: Vec<Given>) -> Question {
        Question { source, tensors, sizes: Vec::new(), numbers: Vec::new(), reported: None }
    }

    /// The same with numbers in place of the tensors that were written as one; `None` if there are none.
    pub(crate) fn with_numbers(&self) -> Option<Question> {
        if self.numbers.is_empty() {
            return None;
        }
        let mut other = self.clone();
        other.tensors.retain(|given| !self.numbers.iter().any(|(name, _)| *name == given.name));
        other.sizes.append(&mut other.numbers);
        Some(other)
    }

    fn take_dtypes(&mut self, dtypes: &[String]) -> Result<(), AskError> {
        for text in dtypes {
            let (name, dtype) =
                text.split_once('=').map_or((None, text.as_str()), |(name, dtype)| (Some(name.trim()), dtype));
            let parsed = dtype_named(dtype.trim().trim_start_matches("torch."));
            let parsed = parsed.ok_or_else(|| {
                let all: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
                AskError::Unknown(format!("{dtype} is no dtype; they are {}", all.join(", ")))
            })?;
            let mut found = false;
            for given in self.tensors.iter_mut().filter(|given| name.is_none_or(|name| name == given.name)) {
                found = true;
                if given.dtype.is_none() || name.is_some() {
                    given.dtype = Some(parsed);
                }
            }
            if let (false, Some(name)) = (found, name) {
                return Err(AskError::Unknown(format!("no tensor is called {name}")));
            }
        }
        Ok(())
    }

    /// `out=` in the call.
    fn take_out(&mut self, out: &str) -> Result<(), AskError> {
        let Operand { sizes, dtype } = read::shape(out)?;
        let Some(before) = self.source.trim_end().strip_suffix(')') else {
            return Err(AskError::Unknown("--out goes with a call by name, such as --op add".to_owned()));
        };
        self.source = format!("{before}, out=out)");
        self.tensors.push(Given { name: "out".to_owned(), sizes, dtype });
        Ok(())
    }

    /// The call of a function with the shapes as its tensors.
    fn call(&self, options: &Options) -> Result<String, AskError> {
        let names: Vec<&str> = self.tensors.iter().map(|given| given.name.as_str()).collect();
        let count = names.len();
        let Some(op) = options.op.as_deref().map(str::trim) else {
            let written = options.out.is_some() || !options.arguments.is_empty();
            return Ok(match names.as_slice() {
                [one] => (*one).to_owned(),
                [a, b] if !written => format!("{a} + {b}"),
                [a, b] => with(format!("torch.add({a}, {b}"), &options.arguments),
                _ => format!("torch.broadcast_tensors({})", names.join(", ")),
            });
        };
        if let Some(Function::Table(..)) = names::operator(op) {
            return match names.as_slice() {
                [a, b] if options.out.is_none() => Ok(format!("{a} {op} {b}")),
                [_, _] => Err(AskError::Unknown(format!("--out goes with a call by name, and {op} is an operator"))),
                _ => Err(AskError::Unknown(format!("{op} stands between 2 shapes, not {count}"))),
            };
        }
        if let Some(bare) = op.strip_suffix('=')
            && let (Some(Function::Table(..)), [a, b]) = (names::operator(bare), names.as_slice())
        {
            return Ok(format!("{a} {op} {b}"));
        }
        let Some(function) = names::function(op) else {
            let near = names::nearest(op).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
            return Err(AskError::Unknown(format!("--op {op}: no such operation; {near}`broadcheck ops` lists them")));
        };
        Ok(match function {
            Function::Table(Op::BroadcastTensors, _) => format!("torch.broadcast_tensors({})", names.join(", ")),
            Function::Table(Op::BroadcastShapes, _) => {
                let shapes: Vec<String> = self.tensors.iter().map(Given::shape).collect();
                format!("torch.broadcast_shapes({})", shapes.join(", "))
            }
            Function::Table(Op::Einsum, _) => {
                let equation = options.arguments.iter().find_map(|argument| argument.strip_prefix("equation="));
                let equation = equation.ok_or_else(|| {
                    AskError::Unknown("einsum needs its equation: --arg equation='ij,jk->ik'".to_owned())
                })?;
                format!("torch.einsum({equation:?}, {})", names.join(", "))
            }
            Function::Table(op, form) => self.table_call(op, form, &names, options)?,
            Function::Beside(function)
                if matches!(function.name, "cat" | "concat" | "concatenate" | "stack" | "hstack" | "vstack") =>
            {
                with(format!("torch.{}([{}]", function.name, names.join(", ")), &options.arguments)
            }
            Function::Beside(function) if function.name == "repeat" && count == 2 => {
                format!("{}.repeat({})", names[0], self.sizes_text(1))
            }
            Function::Beside(_) if op.starts_with(|c: char| c.is_uppercase()) || op.contains("nn.") => {
                format!("{op}()({})", names.join(", "))
            }
            Function::Beside(function) => {
                let module = if matches!(function.name, "linear" | "cross_entropy" | "scaled_dot_product_attention") {
                    "F"
                } else {
                    "torch"
                };
                with(format!("{module}.{}({}", function.name, names.join(", ")), &options.arguments)
            }
        })
    }

    fn table_call(&self, op: Op, form: Form, names: &[&str], options: &Options) -> Result<String, AskError> {
        let params = op.info().arguments;
        let tensor = |kind: ParamKind| {
            matches!(
                kind,
                ParamKind::Tensor | ParamKind::Operand | ParamKind::Value | ParamKind::Indices | ParamKind::Index
            )
        };
        let needed = params.iter().filter(|param| param.default.is_none());
        // Sizes are given as a shape, too: `3,1 3,4 --op expand`.
        if params.len() == 2 && params[1].kind == ParamKind::Ints && names.len() == 2 {
            return Ok(format!("{}.{op}({})", names[0], self.sizes_text(1)));
        }
        // A value that is written needs no shape: any number does.
        let least = needed.clone().filter(|param| tensor(param.kind) && param.kind != ParamKind::Value).count();
        let most = params.iter().filter(|param| tensor(param.kind)).count();
        if !(least..=most).contains(&names.len()) {
            let plural = if most == 1 { "" } else { "s" };
            let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
            return Err(AskError::Unknown(format!("--op {op} takes {range} shape{plural}, not {}", names.len())));
        }
        let missing: Vec<&str> = needed
            .filter(|param| !tensor(param.kind))
            .map(|param| param.name)
            .filter(|name| !options.arguments.iter().any(|argument| argument.starts_with(&format!("{name}="))))
            .collect();
        if let Some(name) = missing.first() {
            let example = format!("--arg {name}=1");
            return Err(AskError::Unknown(format!(
                "--op {op} needs {name}: add {example}; `{}`",
                crate::evaluate::signature(op)
            )));
        }
        let mut named: Vec<String> = Vec::new();
        let mut rest = names.iter();
        for param in params.iter().filter(|param| tensor(param.kind)) {
            let Some(name) = rest.next() else {
                if param.kind == ParamKind::Value {
                    named.push(format!("{}=0", param.name));
                }
                continue;
            };
            named.push(match param.kind {
                ParamKind::Indices => format!("{}=[{name}]", param.name),
                _ if form == Form::InPlace || param.name == "self" || params[0].kind == param.kind => {
                    (*name).to_owned()
                }
                _ => format!("{}={name}", param.name),
            });
        }
        let ordinary = params.iter().take(named.len()).all(|param| tensor(param.kind));
        if ordinary && named.len() == names.len() {
            named = names.iter().take(named.len()).map(|name| (*name).to_owned()).collect();
        }
        let losses = op.info().family() == broadcheck_protocol::ops::Family::Losses;
        let call = match form {
            Form::InPlace => format!("{}.{op}_({}", names[0], named[1..].join(", ")),
            _ if op.is_front_end() => format!("torch.{op}({}", named.join(", ")),
            _ if losses && op.name().contains("loss") => format!("F.{op}({}", named.join(", ")),
            _ => format!("torch.{op}({}", named.join(", ")),
        };
        Ok(with(call, &options.arguments))
    }

    fn sizes_text(&self, at: usize) -> String {
        let sizes: Vec<String> = self.tensors[at].sizes.iter().map(Size::to_string).collect();
        sizes.join(", ")
    }

    /// The sizes of a tensor as numbers.
    pub(crate) fn sizes_of(&self, given: &Given, symbols: &mut Symbols) -> Result<Vec<i64>, AskError> {
        Ok(given
            .sizes
            .iter()
            .map(|size| match size {
                Size::Number(size) => *size,
                Size::Name(name) => match self.sizes.iter().find(|(own, _)| own == name) {
                    Some((_, size)) => *size,
                    None => symbols.number(name),
                },
            })
            .collect())
    }

    /// Sizes that have a name and a number, as names of the Python.
    pub(crate) fn plain_sizes(&self) -> Vec<(String, i64)> {
        self.sizes.clone()
    }

    /// The numbers among the sizes.
    pub(crate) fn plain_numbers(&self) -> Vec<i64> {
        let sizes = self.tensors.iter().flat_map(|given| given.sizes.iter());
        let numbers: BTreeSet<i64> = sizes
            .filter_map(|size| match size {
                Size::Number(size) => Some(*size),
                Size::Name(_) => None,
            })
            .chain(self.sizes.iter().map(|(_, size)| *size))
            .collect();
        numbers.into_iter().collect()
    }
}

/// The line of the user's own code that raised an error, if it is Python by itself.
fn line(reported: &Reported) -> Option<String> {
    let line = reported.frame()?.source.clone()?;
    let line = line.trim().trim_start_matches("return ").trim_end_matches(':').to_owned();
    read::python(&line).is_ok().then_some(line)
}

/// The text of Python with the statements first that make layers: `loss(x, y)` may come before `loss = nn.MSELoss()`.
fn ordered(script: &read::Script) -> String {
    let makes = |statement: &&Statement| match &statement.kind {
        StatementKind::Assign { value, .. } => matches!(&value.kind, ExprKind::Call { function, .. }
            if function.dotted().is_some_and(|path| names::is_layer(&path))),
        _ => false,
    };
    let (layers, others): (Vec<&Statement>, Vec<&Statement>) = script.statements.iter().partition(makes);
    let texts = layers.into_iter().chain(others).filter_map(|statement| script.text.get(statement.span.clone()));
    texts.collect::<Vec<_>>().join("\n")
}

/// A call that is open, with more arguments, closed.
fn with(call: String, arguments: &[String]) -> String {
    let separator = if call.ends_with('(') || arguments.is_empty() { "" } else { ", " };
    format!("{call}{separator}{})", arguments.join(", "))
}

/// a, b, …, z, then numbered.
fn letter(at: usize) -> String {
    match u8::try_from(at) {
        Ok(at) if at < 26 => char::from(b'a' + at).to_string(),
        _ => format!("t{at}"),
    }
}
