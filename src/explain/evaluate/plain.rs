//! Python's own values: sizes, lists, numbers, and the functions on them.

use broadcheck_protocol::error::Rejection;

use super::{Evaluation, Placed, arguments_of};
use crate::bench::Stop;
use crate::value::Value;

impl Evaluation<'_> {
    /// Functions on sizes and lists, switches, and those that make layers; `None` for all others.
    pub(super) fn plain(
        &mut self,
        path: &str,
        method: bool,
        positional: &[Placed],
        named: &[(String, Placed)],
    ) -> Result<Option<Value>, Stop> {
        let name = path.rsplit('.').next().unwrap_or(path);
        let first = positional.first().map(|placed| &placed.value);
        let tensor = first.and_then(Value::tensor);
        let number = |at: usize| positional.get(at).and_then(|placed| placed.value.int());
        Ok(Some(match (name, tensor) {
            ("size", Some(tensor)) if method => match number(1) {
                None => self.sizes(tensor),
                Some(dim) => {
                    let sizes = self.bench.shape(tensor).sizes();
                    let at = if dim < 0 { dim + sizes.len() as i64 } else { dim };
                    let size = usize::try_from(at).ok().and_then(|at| sizes.get(at));
                    let high = sizes.len().max(1) as i64;
                    let range = Rejection::DimensionRange { low: -high, high: high - 1, got: dim };
                    Value::Int(*size.ok_or(Stop::from(range))?)
                }
            },
            ("dim" | "ndimension", Some(tensor)) if method => Value::Int(self.bench.shape(tensor).rank() as i64),
            ("numel" | "nelement", Some(tensor)) => Value::Int(self.bench.shape(tensor).numel() as i64),
            ("len", Some(tensor)) => Value::Int(self.bench.shape(tensor).sizes().first().copied().unwrap_or(0)),
            ("len", None) => match first {
                Some(Value::List(values)) => Value::Int(values.len() as i64),
                _ => return Ok(None),
            },
            ("list" | "tuple" | "Size", None) => first.cloned().unwrap_or(Value::List(Vec::new())),
            ("int", None) => first.and_then(Value::int).map_or(Value::Float(0.0), Value::Int),
            ("complex", None) if path == "complex" => {
                let part = |at: usize| match positional.get(at).map(|placed| &placed.value) {
                    Some(Value::Float(value)) => *value,
                    Some(value) => value.int().unwrap_or(0) as f64,
                    None => 0.0,
                };
                Value::Complex(part(0), part(1))
            }
            ("setattr", None) if path == "setattr" => {
                // Only the switch of warnings is set so.
                let enabled = positional.get(2).map(|placed| placed.value == Value::Bool(true));
                self.broadcast_warning(enabled)?
            }
            ("sqrt", None) => Value::Float(1.0),
            ("float", None) => Value::Float(1.0),
            ("requires_grad_", Some(tensor)) => {
                let given = positional.get(1).or_else(|| named.first().map(|(_, placed)| placed));
                self.bench.require_grad(tensor, !matches!(given.map(|placed| &placed.value), Some(Value::Bool(false))));
                Value::Tensor(tensor)
            }
            ("print", _) => first.cloned().unwrap_or(Value::None),
            ("Linear" | "CrossEntropyLoss" | "NLLLoss" | "BCELoss" | "Embedding" | "LayerNorm" | "Flatten", _)
                if !method || tensor.is_none() =>
            {
                Value::Layer(name.to_owned(), Box::new(arguments_of(positional, named)))
            }
            _ => return Ok(None),
        }))
    }
}

/// Arithmetic of Python's own numbers and lists, as sizes need it.
pub(super) fn arithmetic(left: &Value, sign: &str, right: &Value) -> Result<Value, Stop> {
    if let (Value::List(left), "+", Value::List(right)) = (left, sign, right) {
        return Ok(Value::List(left.iter().chain(right).cloned().collect()));
    }
    if let (Value::List(items), "*", Value::Int(count)) | (Value::Int(count), "*", Value::List(items)) =
        (left, sign, right)
    {
        let count = (*count).clamp(0, 64) as usize;
        return Ok(Value::List(items.iter().cloned().cycle().take(items.len() * count).collect()));
    }
    let (Some(a), Some(b)) = (left.int(), right.int()) else {
        return match (left, right) {
            (Value::Float(_) | Value::Int(_), Value::Float(_) | Value::Int(_)) => Ok(Value::Float(1.0)),
            _ => Err(Stop::Unsupported(format!("{} {sign} {} is not understood", left.kind(), right.kind()))),
        };
    };
    let made = match sign {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "//" if b != 0 => Some(a.div_euclid(b)),
        "%" if b != 0 => Some(a.rem_euclid(b)),
        "**" => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        "/" => return Ok(Value::Float(1.0)),
        "==" | "!=" | "<" | "<=" | ">" | ">=" => return Ok(Value::Bool(a == b)),
        _ => None,
    };
    made.map(Value::Int).ok_or_else(|| Stop::Unsupported(format!("{a} {sign} {b} is no size")))
}
