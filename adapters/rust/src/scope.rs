//! What the names in a row of the operation table stand for: patterns of arguments, matched against the arguments of a
//! step.

use std::collections::HashMap;
use std::rc::Rc;

use broadcheck_protocol::program::{Arg, ShapeArg, TensorValue, ValueRef};
use broadcheck_protocol::tensor::{IndexItem, Scalar};
use quote::ToTokens;
use syn::{Expr, Pat};

/// A tensor of the program.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The variable that has it.
    pub name: String,
    /// The tensor, as it was when its step ended.
    pub value: TensorValue,
}

/// What a name stands for.
#[derive(Clone)]
pub enum Bound {
    /// `None`.
    Nothing,
    /// A tensor.
    Tensor(Rc<Tensor>),
    /// Several tensors.
    Tensors(Vec<Rc<Tensor>>),
    /// Several tensors, some of them missing.
    Indices(Vec<Option<Rc<Tensor>>>),
    /// A scalar.
    Number(Scalar),
    /// An integer.
    Int(i64),
    /// Several integers.
    Ints(Vec<i64>),
    /// Shapes.
    Shapes(Vec<ShapeArg>),
    /// A shape.
    Shape(ShapeArg),
    /// A switch.
    Flag(bool),
    /// Text.
    Text(String),
    /// The index between the brackets.
    Index(Vec<IndexItem>),
    /// The arguments of a call.
    Arguments(Vec<Bound>),
    /// An expression of the program.
    Expr(Box<Expr>),
}

/// The names, each with what it stands for.
pub type Scope = HashMap<String, Bound>;

impl Bound {
    /// An argument of a step, if the tensors that it names are there.
    pub fn of(arg: &Arg, tensor: impl Fn(&ValueRef) -> Option<Rc<Tensor>>) -> Option<Bound> {
        Some(match arg {
            Arg::Nothing => Bound::Nothing,
            Arg::Tensor(value) => Bound::Tensor(tensor(value)?),
            Arg::Tensors(values) => Bound::Tensors(values.iter().map(tensor).collect::<Option<_>>()?),
            Arg::Indices(values) => {
                let each = |value: &Option<_>| value.as_ref().map_or(Some(None), |value| tensor(value).map(Some));
                Bound::Indices(values.iter().map(each).collect::<Option<_>>()?)
            }
            Arg::Number(number) => Bound::Number(*number),
            Arg::Int(int) => Bound::Int(*int),
            Arg::Ints(ints) => Bound::Ints(ints.clone()),
            Arg::Shapes(shapes) => Bound::Shapes(shapes.clone()),
            Arg::Flag(flag) => Bound::Flag(*flag),
            Arg::Text(text) => Bound::Text(text.clone()),
            Arg::Index(items) => Bound::Index(items.clone()),
            Arg::Dtype(_) | Arg::ScalarType(_) => return None,
        })
    }

    /// Its text, if it is an expression.
    pub fn text(&self) -> Option<String> {
        let Bound::Expr(expr) = self else { return None };
        Some(expr.to_token_stream().to_string())
    }

    /// What it is a list of.
    fn parts(&self) -> Option<Vec<Bound>> {
        Some(match self {
            Bound::Arguments(parts) => parts.clone(),
            Bound::Ints(ints) => ints.iter().map(|&int| Bound::Int(int)).collect(),
            Bound::Shapes(shapes) => shapes.iter().cloned().map(Bound::Shape).collect(),
            Bound::Tensors(tensors) => tensors.iter().cloned().map(Bound::Tensor).collect(),
            _ => return None,
        })
    }

    /// The list of these parts, which are some of its own.
    fn like(&self, parts: &[Bound]) -> Bound {
        let ints = parts.iter().map(|part| if let Bound::Int(int) = part { Some(*int) } else { None });
        let tensors =
            parts.iter().map(|part| if let Bound::Tensor(tensor) = part { Some(tensor.clone()) } else { None });
        match self {
            Bound::Ints(_) => ints.collect::<Option<_>>().map(Bound::Ints),
            Bound::Tensors(_) => tensors.collect::<Option<_>>().map(Bound::Tensors),
            _ => None,
        }
        .unwrap_or_else(|| Bound::Arguments(parts.to_vec()))
    }
}

/// Returns whether a pattern matches, and adds what its names stand for.
pub fn matches(pattern: &Pat, bound: &Bound, scope: &mut Scope) -> bool {
    match pattern {
        Pat::Wild(_) | Pat::Rest(_) => true,
        Pat::Paren(inner) => matches(&inner.pat, bound, scope),
        Pat::Reference(inner) => matches(&inner.pat, bound, scope),
        Pat::Or(cases) => cases.cases.iter().any(|case| {
            let mut own = scope.clone();
            let is_this = matches(case, bound, &mut own);
            if is_this {
                *scope = own;
            }
            is_this
        }),
        Pat::Ident(name) if name.ident == "Nothing" => matches!(bound, Bound::Nothing),
        Pat::Ident(name) => {
            scope.insert(name.ident.to_string(), bound.clone());
            true
        }
        Pat::TupleStruct(tuple) => {
            let name = tuple.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
            let inner = match (name.as_str(), bound) {
                ("T", Bound::Tensor(_))
                | ("Tensors", Bound::Tensors(_))
                | ("Indices", Bound::Indices(_))
                | ("Number", Bound::Number(_))
                | ("Ints", Bound::Ints(_))
                | ("Shapes", Bound::Shapes(_))
                | ("Flag", Bound::Flag(_))
                | ("Text", Bound::Text(_))
                | ("Index", Bound::Index(_)) => bound.clone(),
                ("Int", Bound::Int(int) | Bound::Number(Scalar::Int(int))) => Bound::Int(*int),
                _ => return false,
            };
            tuple.elems.first().is_some_and(|pattern| matches(pattern, &inner, scope))
        }
        Pat::Slice(slice) => {
            let Some(parts) = bound.parts() else { return false };
            let is_rest = |pattern: &Pat| match pattern {
                Pat::Rest(_) => true,
                Pat::Ident(name) => name.subpat.is_some(),
                _ => false,
            };
            let patterns: Vec<&Pat> = slice.elems.iter().collect();
            let Some(rest) = patterns.iter().position(|pattern| is_rest(pattern)) else {
                return patterns.len() == parts.len() && all(&patterns, &parts, scope);
            };
            let after = patterns.len() - rest - 1;
            if parts.len() < rest + after {
                return false;
            }
            let end = parts.len() - after;
            if let Pat::Ident(name) = patterns[rest] {
                scope.insert(name.ident.to_string(), bound.like(&parts[rest..end]));
            }
            all(&patterns[..rest], &parts[..rest], scope) && all(&patterns[rest + 1..], &parts[end..], scope)
        }
        // A literal.
        other => {
            let text = other.to_token_stream().to_string().replace(' ', "");
            match bound {
                Bound::Int(int) => text.parse() == Ok(*int),
                Bound::Flag(flag) => text.parse() == Ok(*flag),
                _ => false,
            }
        }
    }
}

fn all(patterns: &[&Pat], parts: &[Bound], scope: &mut Scope) -> bool {
    patterns.iter().zip(parts).all(|(pattern, part)| matches(pattern, part, scope))
}
