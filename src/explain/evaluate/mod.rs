//! Evaluates the Python that people write about tensors, on shapes alone.
//!
//! Every call of PyTorch is recorded with the tensors that it was given and their places in the text, so that the answer can
//! draw it and propose changes to it. Nothing here knows which calls are worth drawing.

mod call;
mod index;
mod plain;

use std::collections::BTreeMap;
use std::ops::Range;

use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::Arg;
use broadcheck_protocol::tensor::{DType, ScalarType, Shape};

use crate::bench::{Bench, Made, Stop, Tensor};
use crate::beside;
use crate::names::{self, Function};
use crate::read::ast::{Argument, BinaryOperator, Expr, ExprKind, Statement, StatementKind, UnaryOperator};
use crate::value::{Arguments, Settings, Value};

pub use call::signature;

/// A call of PyTorch.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its place in the text.
    pub span: Range<usize>,
    /// The function.
    pub function: Function,
    /// The tensors that it was given, in the order of the function's parameters.
    pub operands: Vec<Operand>,
    /// The tensor that `out=` names.
    pub out: Option<Operand>,
    /// The arguments that are no tensors.
    pub settings: Settings,
    /// The shape and dtype of the result, if it is a tensor.
    pub result: Option<(Shape, DType)>,
    /// The reason why it has no result.
    pub stop: Option<Stop>,
    /// The warnings that it gives.
    pub warnings: Vec<String>,
}

/// A tensor that a call was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// Its text, or the name of the parameter where the text is long.
    pub name: String,
    /// Its place in the text.
    pub span: Range<usize>,
    /// Its shape before the call.
    pub shape: Shape,
    /// Its dtype.
    pub dtype: DType,
}

/// A value and its place in the text.
#[derive(Clone, Debug)]
struct Placed {
    value: Value,
    span: Range<usize>,
    /// The places of the items of a list that is written out.
    parts: Vec<Range<usize>>,
}

impl Placed {
    fn new(value: Value, span: Range<usize>) -> Placed {
        Placed { value, span, parts: Vec::new() }
    }

    /// The items of a list, each in its place.
    fn items(&self) -> Vec<Placed> {
        let Value::List(items) = &self.value else { return vec![self.clone()] };
        let part = |at: usize| self.parts.get(at).filter(|_| self.parts.len() == items.len()).cloned().unwrap_or(0..0);
        items.iter().enumerate().map(|(at, item)| Placed::new(item.clone(), part(at))).collect()
    }
}

/// The state of an evaluation.
#[derive(Debug)]
pub struct Evaluation<'a> {
    source: &'a str,
    bench: Bench,
    names: BTreeMap<String, Value>,
    /// Every call, in order; the last one has stopped if [`run`](Evaluation::run) fails.
    pub calls: Vec<Call>,
}

impl<'a> Evaluation<'a> {
    /// An evaluation of a text whose names have these values.
    pub fn new(source: &'a str, bench: Bench, names: BTreeMap<String, Value>) -> Evaluation<'a> {
        Evaluation { source, bench, names, calls: Vec::new() }
    }

    /// The tensors, with their shapes.
    pub fn bench(&self) -> &Bench {
        &self.bench
    }

    /// Runs statements, and returns the value of the last one.
    ///
    /// # Errors
    /// When a call is rejected, or the text has something that cannot be explained.
    pub fn run(&mut self, statements: &[Statement]) -> Result<Value, Stop> {
        let mut last = Value::None;
        for statement in statements {
            last = self.statement(statement)?;
        }
        Ok(last)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Value, Stop> {
        match &statement.kind {
            StatementKind::Expression(expression) => self.value(expression),
            StatementKind::Assign { targets, value } => {
                let value = self.placed(value)?;
                for target in targets {
                    self.assign(target, value.clone())?;
                }
                // After `x[…] = v` it is x that people look at.
                match targets.last().map(|target| &target.kind) {
                    Some(ExprKind::Subscript { value: object, .. }) => self.value(object),
                    _ => Ok(value.value),
                }
            }
            StatementKind::Augmented { target, operator, value } => {
                let (own, other) = (self.placed(target)?, self.placed(value)?);
                let sign = operator.symbol();
                if own.value.tensor().is_none() {
                    let value = self.binary(own.clone(), sign, other, statement.span.clone())?;
                    self.assign(target, Placed::new(value.clone(), own.span))?;
                    return Ok(value);
                }
                let Some(Function::Table(op, _)) = names::operator(sign) else {
                    return Err(Stop::Unsupported(format!("{sign}= is not an operation on tensors")));
                };
                // Python calls the in-place method, then assigns its result: for `x[i] += y`, once more to `x[i]`.
                let form = if op.info().forms.contains(&Form::InPlace) { Form::InPlace } else { Form::Functional };
                let settings = Settings { operator: names::sign(op), ..Settings::default() };
                let args = [own.clone(), other];
                let value = self.table(op, form, &args, &[], settings, statement.span.clone())?;
                let made = Placed::new(value.clone(), own.span);
                if matches!(target.kind, ExprKind::Name(_)) {
                    self.assign(target, made)?;
                } else if let ExprKind::Subscript { value, index } = &target.kind
                    && self.has_tensors(index)
                {
                    let object = self.placed(value)?;
                    self.put(object, index, made, statement.span.clone())?;
                }
                Ok(value)
            }
        }
    }

    fn assign(&mut self, target: &Expr, value: Placed) -> Result<(), Stop> {
        match &target.kind {
            ExprKind::Name(name) => {
                self.names.insert(name.clone(), value.value);
                Ok(())
            }
            ExprKind::Tuple(targets) | ExprKind::List(targets) => {
                let Value::List(values) = value.value.clone() else {
                    return Err(Stop::Unsupported(format!("{} cannot be unpacked", value.value.kind())));
                };
                for (target, item) in targets.iter().zip(values) {
                    self.assign(target, Placed::new(item, value.span.clone()))?;
                }
                Ok(())
            }
            ExprKind::Subscript { value: object, index } => {
                let span = target.span.start..value.span.end.max(target.span.end);
                let object = self.placed(object)?;
                self.put(object, index, value, span)
            }
            ExprKind::Attribute { value: object, name, .. }
                if name == "enabled"
                    && object.dotted().is_some_and(|path| path.ends_with("backcompat.broadcast_warning")) =>
            {
                self.broadcast_warning(Some(value.value == Value::Bool(true))).map(drop)
            }
            // An attribute that is set, such as `p.data = …`, changes no shape that is asked about.
            _ => Ok(()),
        }
    }

    fn placed(&mut self, expression: &Expr) -> Result<Placed, Stop> {
        let parts = match &expression.kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().map(|item| item.span.clone()).collect(),
            _ => Vec::new(),
        };
        Ok(Placed { value: self.value(expression)?, span: expression.span.clone(), parts })
    }

    fn value(&mut self, expression: &Expr) -> Result<Value, Stop> {
        let span = expression.span.clone();
        Ok(match &expression.kind {
            ExprKind::Name(name) => return self.name(name),
            ExprKind::Int(value) => Value::Int(*value),
            ExprKind::Float(value) => Value::Float(*value),
            ExprKind::Imaginary(value) => Value::Complex(0.0, *value),
            ExprKind::Str(text) => Value::Text(text.clone()),
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::None => Value::None,
            ExprKind::Ellipsis => Value::Ellipsis,
            ExprKind::Attribute { value, name, .. } => return self.attribute(expression, value, name),
            ExprKind::Call { function, arguments } => return self.call(function, arguments, span),
            ExprKind::Subscript { value, index } => {
                let object = self.placed(value)?;
                return self.subscript(object, index, span);
            }
            ExprKind::Slice { start, stop, step } => {
                let mut bound = |part: &Option<Box<Expr>>| match part {
                    None => Ok(None),
                    Some(part) => match self.value(part)? {
                        Value::None => Ok(None),
                        value => value.int().map(Some).ok_or_else(|| not_understood("a slice", &value)),
                    },
                };
                Value::Slice(bound(start)?, bound(stop)?, bound(step)?)
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let mut values = Vec::new();
                for item in items {
                    match &item.kind {
                        ExprKind::Starred(inner) => match self.value(inner)? {
                            Value::List(inner) => values.extend(inner),
                            other => return Err(not_understood("*", &other)),
                        },
                        _ => values.push(self.value(item)?),
                    }
                }
                Value::List(values)
            }
            ExprKind::Starred(inner) => return self.value(inner),
            ExprKind::Unary { operator, operand } => {
                let operand = self.placed(operand)?;
                return self.unary(*operator, operand, span);
            }
            ExprKind::Binary { left, operator, right } => {
                let (left, right) = (self.placed(left)?, self.placed(right)?);
                if matches!(operator, BinaryOperator::And | BinaryOperator::Or) {
                    let what = "`and` and `or` ask for a single truth; for tensors write & or |".to_owned();
                    return Err(Stop::Unsupported(what));
                }
                return self.binary(left, operator.symbol(), right, span);
            }
            ExprKind::Compare { first, rest } => {
                let [(operator, right)] = rest.as_slice() else {
                    let what = "a chain of comparisons asks for a single truth; write (a < b) & (b < c)".to_owned();
                    return Err(Stop::Unsupported(what));
                };
                let (left, right) = (self.placed(first)?, self.placed(right)?);
                return self.binary(left, operator.symbol(), right, span);
            }
        })
    }

    fn name(&self, name: &str) -> Result<Value, Stop> {
        if let Some(value) = self.names.get(name) {
            return Ok(value.clone());
        }
        Err(Stop::Unsupported(format!("{name} has no shape; add it, for example {name}=5,3")))
    }

    /// The shape of a tensor as a list of sizes.
    fn sizes(&self, tensor: Tensor) -> Value {
        Value::List(self.bench.shape(tensor).sizes().iter().map(|size| Value::Int(*size)).collect())
    }

    fn attribute(&mut self, whole: &Expr, object: &Expr, name: &str) -> Result<Value, Stop> {
        // A name with dots may have a shape of its own: `self.pos_embed=1,64,64,768`.
        if let Some(path) = whole.dotted()
            && let Some(value) = self.names.get(&path).or_else(|| self.names.get(path.strip_prefix("self.")?))
        {
            return Ok(value.clone());
        }
        if let Some(path) = whole.dotted().filter(|path| is_module(path) && !self.is_bound(path)) {
            return match name {
                "newaxis" => Ok(Value::None),
                "inf" => Ok(Value::Float(f64::INFINITY)),
                "nan" => Ok(Value::Float(f64::NAN)),
                "pi" | "e" => Ok(Value::Float(1.0)),
                "enabled" if path.ends_with("backcompat.broadcast_warning.enabled") => self.broadcast_warning(None),
                "broadcast_warning" if path.ends_with("backcompat.broadcast_warning") => Ok(Value::Text(path)),
                _ => scalar_type_named(name).map(Value::Dtype).ok_or_else(|| {
                    Stop::Unsupported(format!("{path} is not known; shapes and calls of PyTorch's functions are"))
                }),
            };
        }
        let value = self.placed(object)?;
        match (&value.value, name) {
            (Value::Tensor(tensor), "shape") => Ok(self.sizes(*tensor)),
            (Value::Tensor(tensor), "ndim") => Ok(Value::Int(self.bench.shape(*tensor).rank() as i64)),
            (Value::Tensor(tensor), "dtype") => Ok(Value::Dtype(self.bench.dtype(*tensor).into())),
            (Value::Tensor(tensor), "T" | "mT" | "H" | "mH") => {
                self.transposed(*tensor, name, whole.span.clone(), &value)
            }
            (Value::Tensor(tensor), "grad") => {
                // A gradient that is there, or else the tensor itself, whose shape it will have.
                match self.bench.call(Op::Grad, Form::Functional, vec![(*tensor).into()], None) {
                    Ok(Made::Tensor(gradient)) => Ok(Value::Tensor(gradient)),
                    _ => Ok(value.value),
                }
            }
            (Value::Tensor(_), "data" | "real" | "imag") => Ok(value.value),
            (Value::Tensor(_), "device" | "is_cuda" | "requires_grad") => Ok(Value::None),
            // `max(dim)` and its like return a tuple with names.
            (Value::List(parts), "values") if !parts.is_empty() => Ok(parts[0].clone()),
            (Value::List(parts), "indices") if parts.len() > 1 => Ok(parts[1].clone()),
            (other, _) => Err(Stop::Unsupported(format!("{} has no attribute {name} that says a shape", other.kind()))),
        }
    }

    /// Sets or reads `torch.utils.backcompat.broadcast_warning.enabled`, which decides about warnings.
    fn broadcast_warning(&mut self, enabled: Option<bool>) -> Result<Value, Stop> {
        let arg = enabled.map_or(Arg::Nothing, Arg::Flag);
        self.bench.call(Op::BroadcastWarning, Form::Functional, vec![arg], None).map(value_of)
    }

    fn transposed(&mut self, tensor: Tensor, name: &str, span: Range<usize>, own: &Placed) -> Result<Value, Stop> {
        let rank = self.bench.shape(tensor).rank() as i64;
        let operands = vec![self.operand(own, "self")];
        if name.starts_with('m') {
            let args = vec![tensor.into(), Arg::Int(-2), Arg::Int(-1)];
            return self.record(
                Function::Table(Op::Transpose, Form::Functional),
                operands,
                Settings::default(),
                span,
                |bench| bench.call(Op::Transpose, Form::Functional, args, None),
            );
        }
        let order: Vec<i64> = (0..rank).rev().collect();
        let args = vec![tensor.into(), Arg::Ints(order)];
        self.record(Function::Table(Op::Permute, Form::Functional), operands, Settings::default(), span, |bench| {
            bench.call(Op::Permute, Form::Functional, args, None)
        })
    }

    fn unary(&mut self, operator: UnaryOperator, operand: Placed, _span: Range<usize>) -> Result<Value, Stop> {
        match (operator, operand.value) {
            (UnaryOperator::Negative, Value::Int(value)) => Ok(Value::Int(value.wrapping_neg())),
            (UnaryOperator::Negative, Value::Float(value)) => Ok(Value::Float(-value)),
            (UnaryOperator::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
            (UnaryOperator::Not, Value::Tensor(_)) => {
                Err(Stop::Unsupported("`not` asks for a single truth; for a bool tensor write ~".to_owned()))
            }
            // Element by element: shape and dtype stay.
            (_, value) => Ok(value),
        }
    }

    /// `left sign right`, of tensors, or of numbers and lists as Python computes them.
    fn binary(&mut self, left: Placed, sign: &'static str, right: Placed, span: Range<usize>) -> Result<Value, Stop> {
        if left.value.tensor().is_none() && right.value.tensor().is_none() {
            return plain::arithmetic(&left.value, sign, &right.value);
        }
        let Some(Function::Table(mut op, form)) = names::operator(sign) else {
            return Err(Stop::Unsupported(format!("{sign} is not an operation on tensors")));
        };
        let mut args = [left, right];
        // A number before the operator: Python asks the tensor, which turns the operation around.
        if args[0].value.tensor().is_none() && !matches!(op, Op::Pow | Op::FloorDivide | Op::Remainder | Op::Matmul) {
            args.swap(0, 1);
            op = match op {
                Op::Sub => Op::Rsub,
                Op::Lt => Op::Gt,
                Op::Le => Op::Ge,
                Op::Gt => Op::Lt,
                Op::Ge => Op::Le,
                other => other,
            };
        }
        let settings = Settings { operator: Some(sign), ..Settings::default() };
        self.table(op, form, &args, &[], settings, span)
    }

    fn call(&mut self, function: &Expr, arguments: &[Argument], span: Range<usize>) -> Result<Value, Stop> {
        // A layer that is called: `nn.Linear(4, 3)(x)`.
        if let ExprKind::Call { .. } = &function.kind
            && let Value::Layer(name, made) = self.value(function)?
        {
            return self.layer(&name, &made, arguments, span);
        }
        let (mut positional, mut named) = (Vec::new(), Vec::new());
        let mut path = function.dotted().unwrap_or_default();
        let mut method = false;
        match &function.kind {
            ExprKind::Name(name) => {
                if let Some(Value::Layer(layer, made)) = self.names.get(name).cloned() {
                    return self.layer(&layer, &made, arguments, span);
                }
            }
            ExprKind::Attribute { value, name, .. } => {
                let module = value.dotted().is_some_and(|path| is_module(&path) && !self.is_bound(&path));
                if !module {
                    let object = self.placed(value)?;
                    positional.push(object);
                    (path, method) = (name.clone(), true);
                }
            }
            _ => return Err(Stop::Unsupported("this is called like a function, and is none that is known".to_owned())),
        }
        for argument in arguments {
            let value = self.placed(&argument.value)?;
            match &argument.name {
                Some(name) => named.push((name.clone(), value)),
                None if argument.starred => match value.value {
                    Value::List(items) => {
                        positional.extend(items.into_iter().map(|item| Placed::new(item, value.span.clone())));
                    }
                    other => return Err(not_understood("*", &other)),
                },
                None => positional.push(value),
            }
        }
        self.invoke(&path, method, positional, named, span)
    }

    /// Calls a function by its name.
    fn invoke(
        &mut self,
        path: &str,
        method: bool,
        positional: Vec<Placed>,
        named: Vec<(String, Placed)>,
        span: Range<usize>,
    ) -> Result<Value, Stop> {
        if let Some(made) = self.plain(path, method, &positional, &named)? {
            return Ok(made);
        }
        // `torch.autograd.grad(outputs, inputs)`: the gradients have the shapes of the inputs.
        if let (true, [outputs, inputs, ..]) = (path.ends_with("autograd.grad"), positional.as_slice()) {
            let upstream = positional
                .get(2)
                .or_else(|| named.iter().find(|(name, _)| name == "grad_outputs").map(|(_, value)| value));
            let args: Vec<Placed> = std::iter::once(outputs.clone()).chain(upstream.cloned()).collect();
            let inputs = inputs.value.clone();
            self.table(Op::Backward, Form::Functional, &args, &[], Settings::default(), span)?;
            return Ok(inputs);
        }
        match names::function(path) {
            Some(Function::Table(op, _)) if names::is_layer(path) => {
                let given = arguments_of(&positional, &named);
                Ok(Value::Layer(op.name().to_owned(), Box::new(given)))
            }
            Some(Function::Table(op, form)) => {
                let mut positional = positional;
                // The method is called on what the function takes second.
                if method && op == Op::Where && positional.len() > 1 {
                    positional.swap(0, 1);
                }
                let settings = Settings { aten: names::operator_name(path).is_some(), ..Settings::default() };
                self.table(op, form, &positional, &named, settings, span)
            }
            Some(Function::Beside(function)) => self.beside(function, &positional, &named, span),
            None => {
                let near = names::nearest(path).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                let list = if near.is_empty() { "; `broadcheck ops` lists the operations" } else { "" };
                Err(Stop::Unsupported(format!("{path} is not known{near}{list}")))
            }
        }
    }

    /// Calls a layer on its input.
    fn layer(
        &mut self,
        name: &str,
        made: &Arguments,
        arguments: &[Argument],
        span: Range<usize>,
    ) -> Result<Value, Stop> {
        let (mut positional, mut named) = (Vec::new(), Vec::new());
        for argument in arguments {
            let value = self.placed(&argument.value)?;
            match &argument.name {
                Some(name) => named.push((name.clone(), value)),
                None => positional.push(value),
            }
        }
        let own: Vec<(String, Placed)> =
            made.named.iter().map(|(name, value)| (name.clone(), Placed::new(value.clone(), span.clone()))).collect();
        named.extend(own);
        let weights = beside::weights(&mut self.bench, name, made);
        positional.extend(weights.into_iter().map(|value| Placed::new(value, span.end..span.end)));
        let function = beside::layer(name).unwrap_or(name);
        self.invoke(function, false, positional, named, span)
    }

    /// Runs a call and records it.
    fn record(
        &mut self,
        function: Function,
        operands: Vec<Operand>,
        settings: Settings,
        span: Range<usize>,
        work: impl FnOnce(&mut Bench) -> Result<Made, Stop>,
    ) -> Result<Value, Stop> {
        let made = work(&mut self.bench);
        let mut call =
            Call { span, function, operands, out: None, settings, result: None, stop: None, warnings: Vec::new() };
        let value = match made {
            Ok(made) => {
                call.warnings = self.bench.warnings().to_vec();
                if let Made::Tensor(tensor) = made {
                    call.result = Some((self.bench.shape(tensor).clone(), self.bench.dtype(tensor)));
                }
                Ok(value_of(made))
            }
            Err(stop) => {
                call.stop = Some(stop.clone());
                Err(stop)
            }
        };
        self.calls.push(call);
        value
    }

    /// A tensor as an operand of a call. `parameter` is its name where its text is long.
    fn operand(&self, placed: &Placed, parameter: &str) -> Operand {
        let tensor = placed.value.tensor();
        let text = self.source.get(placed.span.clone()).unwrap_or_default();
        let short = !text.is_empty() && text.chars().count() <= 24 && !text.contains('\n');
        Operand {
            name: if short { text.to_owned() } else { parameter.to_owned() },
            span: placed.span.clone(),
            shape: tensor.map(|tensor| self.bench.shape(tensor).clone()).unwrap_or_default(),
            dtype: tensor.map_or(DType::Float32, |tensor| self.bench.dtype(tensor)),
        }
    }

    fn is_bound(&self, path: &str) -> bool {
        self.names.contains_key(path.split('.').next().unwrap_or(path))
    }
}

fn value_of(made: Made) -> Value {
    match made {
        Made::Tensor(tensor) => Value::Tensor(tensor),
        Made::Tensors(tensors) => Value::List(tensors.into_iter().map(Value::Tensor).collect()),
        Made::Sizes(sizes) => Value::List(sizes.into_iter().map(Value::Int).collect()),
        Made::Number => Value::Float(1.0),
        Made::Dtype(dtype) => Value::Dtype(dtype),
        Made::Nothing => Value::None,
    }
}

fn arguments_of(positional: &[Placed], named: &[(String, Placed)]) -> Arguments {
    Arguments {
        positional: positional.iter().map(|placed| placed.value.clone()).collect(),
        named: named.iter().map(|(name, placed)| (name.clone(), placed.value.clone())).collect(),
    }
}

/// Returns whether a dotted name begins with a module of PyTorch's, or of NumPy's.
fn is_module(path: &str) -> bool {
    matches!(
        path.split('.').next().unwrap_or_default(),
        "torch" | "F" | "nn" | "np" | "numpy" | "Tensor" | "functional" | "linalg" | "jnp" | "math"
    )
}

/// The dtype that a name of PyTorch means: `float32`, `long`.
pub fn dtype_named(name: &str) -> Option<DType> {
    Some(match name {
        "float" => DType::Float32,
        "double" => DType::Float64,
        "half" => DType::Float16,
        "long" => DType::Int64,
        "int" => DType::Int32,
        "short" => DType::Int16,
        "cfloat" => DType::Complex64,
        "cdouble" => DType::Complex128,
        _ => return DType::parse(name),
    })
}

/// The same of a dtype that no tensor of a program has, too: `uint16`, `complex32`.
fn scalar_type_named(name: &str) -> Option<ScalarType> {
    dtype_named(name).map(ScalarType::from).or_else(|| ScalarType::parse(name))
}

fn not_understood(what: &str, value: &Value) -> Stop {
    Stop::Unsupported(format!("{what} of {} is not understood", value.kind()))
}
