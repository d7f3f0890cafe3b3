//! One step: its operation, and its arguments in the order of the row.

use serde_yaml::Value;

use super::did_you_mean;
use super::names::{Kind, Names};
use super::node::Node;
use super::value;
use crate::ops::{Form, Op, Param, ParamKind, REDUCTIONS};
use crate::program::{Arg, ShapeArg, Step, ValueRef};
use crate::tensor::{DType, Scalar, index};

/// The operation that a key names; `Err` if the operation exists, but not in place.
pub fn parse_operation(key: &str) -> Option<Result<(Op, Form), Op>> {
    match Op::parse(key) {
        Some(found) => Some(Ok(found)),
        None => Op::parse(key.strip_suffix('_')?).filter(|(_, form)| *form == Form::Functional).map(|(op, _)| Err(op)),
    }
}

/// Returns whether some operation has a keyword of this name.
pub fn is_keyword(key: &str) -> bool {
    key == "out" || Op::ALL.iter().any(|op| op.info().arguments.iter().any(|param| param.name == key))
}

/// Reads a step from its operation with the positional arguments, and its keywords. `at` is its number in the program.
pub fn read(
    name: &str,
    (key, positional): (&str, Node<'_>),
    keywords: &[(&str, Node<'_>)],
    names: &Names<'_>,
    at: usize,
) -> Option<(Step, Kind)> {
    let (op, form) = match parse_operation(key)? {
        Ok(found) => found,
        Err(op) => {
            positional.key_fault(format!("`{op}` has no in-place form `{key}`"));
            return None;
        }
    };
    let call = Call { op, key, form, names, at };
    let positional_list = positional.list(format_args!("the positional arguments of `{key}`: a list"))?;
    let out = call.out(keywords);
    let args = call.arguments(positional, &positional_list, keywords);
    let (out, args) = (out?, args?);
    let form = if out.is_some() { Form::Out } else { form };
    let variadic = args.iter().find_map(|arg| if let Arg::Tensors(values) = arg { Some(values.len()) } else { None });
    let kind = match (op, args.as_slice()) {
        (Op::BroadcastWarning, [Arg::Nothing]) => Kind::Number,
        _ => Kind::of(op, variadic.unwrap_or(args.len())),
    };
    Some((Step { name: name.to_owned(), op, form, args, out }, kind))
}

/// The step that is being read.
struct Call<'a> {
    op: Op,
    key: &'a str,
    form: Form,
    names: &'a Names<'a>,
    at: usize,
}

impl Call<'_> {
    fn params(&self) -> &'static [Param] {
        self.op.info().arguments
    }

    /// The tensor that `out` names, if it is there.
    fn out(&self, keywords: &[(&str, Node<'_>)]) -> Option<Option<ValueRef>> {
        let Some((_, node)) = keywords.iter().find(|(key, _)| *key == "out") else { return Some(None) };
        if self.form == Form::InPlace {
            node.key_fault(format!("`{}` writes to its first argument and takes no `out`", self.key));
            return None;
        }
        if !self.op.info().forms.contains(&Form::Out) {
            node.key_fault(format!("`{}` has no `out` form", self.key));
            return None;
        }
        self.tensor(*node, "out").map(Some)
    }

    /// One argument for each parameter, from wherever it is given.
    fn arguments(&self, step: Node<'_>, positional: &[Node<'_>], keywords: &[(&str, Node<'_>)]) -> Option<Vec<Arg>> {
        let mut sound = self.check_keywords(keywords);
        let mut rest = positional;
        let mut args = Vec::new();
        for param in self.params() {
            let keyword = keywords.iter().find(|(key, _)| *key == param.name).map(|&(_, node)| node);
            let variadic = matches!(param.kind, ParamKind::Tensors | ParamKind::Shapes);
            let arg = match (keyword, rest) {
                (Some(node), []) if variadic => {
                    let expected = format!("`{}` of `{}`: a list", param.name, self.key);
                    node.list(expected).and_then(|nodes| self.variadic(param, &nodes))
                }
                (None, nodes) if variadic => {
                    rest = &[];
                    self.variadic(param, nodes)
                }
                (Some(node), [_, ..]) => {
                    node.key_fault(format!("`{}` of `{}` is given by position and by keyword", param.name, self.key));
                    rest = &rest[1..];
                    None
                }
                (Some(node), []) => self.argument(param, node),
                (None, [node, others @ ..]) => {
                    rest = others;
                    self.argument(param, *node)
                }
                (None, []) => self.default(param, step),
            };
            match arg {
                Some(arg) => args.push(arg),
                None => sound = false,
            }
        }
        if let [extra, ..] = rest {
            extra.fault(format!(
                "`{}` takes at most {} arguments ({}), found {}",
                self.key,
                self.params().len(),
                self.parameter_names().join(", "),
                positional.len()
            ));
            sound = false;
        }
        sound.then_some(args)
    }

    fn check_keywords(&self, keywords: &[(&str, Node<'_>)]) -> bool {
        let mut allowed = self.parameter_names();
        if self.op.info().forms.contains(&Form::Out) {
            allowed.push("out");
        }
        let mut sound = true;
        for (key, node) in keywords {
            // `out` where it is not allowed has a better explanation.
            if !allowed.contains(key) && *key != "out" {
                let suggestion = did_you_mean(key, allowed.iter().copied());
                let allowed = allowed.join(", ");
                node.key_fault(format!("`{}` has no parameter `{key}`, only {allowed}{suggestion}", self.key));
                sound = false;
            }
        }
        sound
    }

    fn parameter_names(&self) -> Vec<&'static str> {
        self.params().iter().map(|param| param.name).collect()
    }

    fn default(&self, param: &Param, step: Node<'_>) -> Option<Arg> {
        if param.default.is_none() {
            let names = self.parameter_names().join(", ");
            step.key_fault(format!("`{}` takes ({names}); `{}` is missing", self.key, param.name));
        }
        param.default.map(Arg::from)
    }

    fn variadic(&self, param: &Param, nodes: &[Node<'_>]) -> Option<Arg> {
        if param.kind == ParamKind::Tensors {
            let values: Vec<_> = nodes.iter().map(|&node| self.tensor(node, param.name)).collect();
            return values.into_iter().collect::<Option<_>>().map(Arg::Tensors);
        }
        let expected = format!("each of `{}` of `{}`: a list of sizes or a single size", param.name, self.key);
        // Python passes on what is not a shape, and the function rejects it. What looks like a name is a mistake.
        let shapes: Vec<_> = nodes
            .iter()
            .map(|&node| match node.value {
                Value::Sequence(_) => value::integers(node, &expected).map(ShapeArg::Sizes),
                Value::String(text) if !text.starts_with(char::is_alphabetic) => Some(ShapeArg::Text(text.clone())),
                Value::Number(number) if number.is_f64() => number.as_f64().map(ShapeArg::Float),
                _ => node.integer(&expected).map(ShapeArg::Size),
            })
            .collect();
        shapes.into_iter().collect::<Option<_>>().map(Arg::Shapes)
    }

    fn argument(&self, param: &Param, node: Node<'_>) -> Option<Arg> {
        let wants = |what: &str| format!("`{}` of `{}`: {what}", param.name, self.key);
        match (param.kind, node.value) {
            (ParamKind::Tensor, _) => self.tensor(node, param.name).map(Arg::Tensor),
            (ParamKind::Operand | ParamKind::Value, Value::String(text)) if value::complex(text).is_none() => {
                self.tensor(node, param.name).map(Arg::Tensor)
            }
            (ParamKind::Operand | ParamKind::Value, Value::Number(_) | Value::Bool(_) | Value::String(_)) => {
                // The first argument of an in-place operation is written to.
                if self.form == Form::InPlace && param.name == "self" {
                    return node.wrong(wants("the name of a tensor to write to"));
                }
                value::number(node).map(Arg::Number)
            }
            (ParamKind::Operand | ParamKind::Value, _) => node.wrong(wants("the name of a tensor, or a number")),
            (ParamKind::Number, Value::Number(_) | Value::Bool(_)) => value::number(node).map(Arg::Number),
            (ParamKind::Number, Value::String(text)) if value::complex(text).is_some() => {
                value::number(node).map(Arg::Number)
            }
            (ParamKind::Number, _) => node.wrong(wants("a number")),
            (ParamKind::Int, _) => node.integer(wants("an integer")).map(Arg::Int),
            (ParamKind::Ints, _) => value::integers(node, wants("a list of integers")).map(Arg::Ints),
            (ParamKind::Dims, Value::Sequence(_)) => {
                value::integers(node, wants("an integer or a list of integers")).map(Arg::Ints)
            }
            (ParamKind::Dims, _) => node.integer(wants("an integer or a list of integers")).map(Arg::Int),
            (ParamKind::Real, Value::Number(_)) => value::number(node).map(|number| Arg::Number(real(number))),
            (ParamKind::Real, Value::String(text)) if value::complex(text).is_none() => {
                value::number(node).map(|number| Arg::Number(real(number)))
            }
            (ParamKind::Real, _) => node.wrong(wants("a real number")),
            (ParamKind::Reduction, Value::String(text)) if REDUCTIONS.contains(&text.as_str()) => {
                Some(Arg::Text(text.clone()))
            }
            (ParamKind::Reduction, _) => node.wrong(wants("none, mean or sum")),
            (ParamKind::Flag, _) => node.flag(wants("true or false")).map(Arg::Flag),
            (ParamKind::Dtype, Value::String(text)) if DType::parse(text).is_some() => {
                DType::parse(text).map(Arg::Dtype)
            }
            (ParamKind::ScalarType, _) => value::scalar_type(node).map(Arg::ScalarType),
            (ParamKind::Dtype, _) => node.wrong(wants("the name of a dtype")),
            (ParamKind::Text, Value::String(text)) => Some(Arg::Text(text.clone())),
            (ParamKind::Text, _) => node.wrong(wants("text")),
            (ParamKind::Index, Value::Number(number)) if number.is_i64() => self.index(node, &number.to_string()),
            (ParamKind::Index, Value::String(text)) => self.index(node, text),
            (ParamKind::Index, _) => node.wrong(wants("what stands between the brackets, as text")),
            (ParamKind::Indices, _) => self.indices(param, node),
            (ParamKind::Tensors | ParamKind::Shapes, _) => unreachable!("variadic parameters take several arguments"),
        }
    }

    /// A list of names, with `null` where there is no tensor.
    fn indices(&self, param: &Param, node: Node<'_>) -> Option<Arg> {
        let nodes = node.list(format_args!("`{}` of `{}`: a list of tensors and nulls", param.name, self.key))?;
        let values: Vec<_> = nodes
            .into_iter()
            .map(|node| match node.value {
                Value::Null => Some(None),
                _ => self.tensor(node, param.name).map(Some),
            })
            .collect();
        values.into_iter().collect::<Option<_>>().map(Arg::Indices)
    }

    fn index(&self, node: Node<'_>, text: &str) -> Option<Arg> {
        match index::parse(text) {
            Ok(items) => Some(Arg::Index(items)),
            Err(message) => {
                node.fault(message);
                None
            }
        }
    }

    /// The tensor that an argument names.
    fn tensor(&self, node: Node<'_>, param: &str) -> Option<ValueRef> {
        let Value::String(text) = node.value else {
            return node.wrong(format_args!("`{param}` of `{}`: the name of a tensor", self.key));
        };
        match self.names.tensor(text, Some(self.at)) {
            Ok(value) => Some(value),
            Err(message) => {
                node.fault(message);
                None
            }
        }
    }
}

/// A whole number stands for the floating-point number too.
fn real(number: Scalar) -> Scalar {
    match number {
        Scalar::Int(value) => Scalar::Float(value as f64),
        other => other,
    }
}
