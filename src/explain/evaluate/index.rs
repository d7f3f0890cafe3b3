//! Subscripts: `x[…]`, and `x[…] = v`.
//!
//! As in `python_variable_indexing.cpp`, the basic items (integers, slices, `None`, `...`) make a view first, and the
//! tensors among the items index that. A value that is assigned is expanded to what is indexed, without its leading
//! dimensions of size 1 (`slicePrefix1sSize`).

use std::ops::Range;

use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::Arg;
use broadcheck_protocol::tensor::{DType, IndexItem, Shape};

use super::call::scalar;
use super::{Evaluation, Operand, Placed};
use crate::bench::{self, Made, Stop, Tensor};
use crate::drawing::{IndexPart, PartKind};
use crate::names::Function;
use crate::read::ast::{Expr, ExprKind};
use crate::value::{Settings, Value};

/// The items of an index: the basic ones, and the tensors, one for each dimension of the view that the basic ones make.
struct Items {
    basic: Vec<IndexItem>,
    tensors: Vec<Option<Tensor>>,
    operands: Vec<Operand>,
    parts: Vec<IndexPart>,
}

impl Evaluation<'_> {
    /// `object[index]`.
    pub(super) fn subscript(&mut self, object: Placed, index: &Expr, span: Range<usize>) -> Result<Value, Stop> {
        let tensor = match &object.value {
            Value::Tensor(tensor) => *tensor,
            Value::List(values) => {
                return match self.value(index)? {
                    Value::Int(at) => {
                        let wrapped = if at < 0 { at + values.len() as i64 } else { at };
                        let item = usize::try_from(wrapped).ok().and_then(|at| values.get(at)).cloned();
                        item.ok_or_else(|| Stop::Unsupported(format!("there is no item {at} among {}", values.len())))
                    }
                    Value::Slice(start, stop, None | Some(1)) => {
                        let len = values.len() as i64;
                        let wrap = |at: i64| if at < 0 { (at + len).max(0) } else { at.min(len) } as usize;
                        let (start, stop) = (wrap(start.unwrap_or(0)), wrap(stop.unwrap_or(len)));
                        Ok(Value::List(values.get(start..stop.max(start)).unwrap_or_default().to_vec()))
                    }
                    other => Err(Stop::Unsupported(format!("a list is indexed by integers, not by {}", other.kind()))),
                };
            }
            other => return Err(Stop::Unsupported(format!("{} cannot be indexed", other.kind()))),
        };
        let items = self.indexed(tensor, index)?;
        let own = self.operand(&object, "self");
        let operands: Vec<Operand> = std::iter::once(own).chain(items.operands.iter().cloned()).collect();
        let advanced = items.tensors.iter().any(Option::is_some);
        let function = if advanced { Op::IndexTensor } else { Op::Index };
        let function = Function::Table(function, Form::Functional);
        let settings = Settings { index: items.parts, ..Settings::default() };
        self.record(function, operands, settings, span, |bench| {
            let view = viewed(bench, tensor, items.basic)?;
            match advanced {
                false => Ok(Made::Tensor(view)),
                true => {
                    let args = vec![view.into(), bench::indices(&items.tensors)];
                    bench.call(Op::IndexTensor, Form::Functional, args, None)
                }
            }
        })
    }

    /// `object[index] = value`.
    pub(super) fn put(&mut self, object: Placed, index: &Expr, value: Placed, span: Range<usize>) -> Result<(), Stop> {
        let Value::Tensor(tensor) = object.value else {
            return Err(Stop::Unsupported(format!("{} cannot be assigned to", object.value.kind())));
        };
        let items = self.indexed(tensor, index)?;
        let mut bench = self.bench.clone();
        let view = viewed(&mut bench, tensor, items.basic.clone())?;
        let value_operand = self.operand(&value, "value");
        let given = value.value.tensor();
        let settings = Settings { assigned: true, ..Settings::default() };
        let text = self.source.get(object.span.start..index.span.end.max(object.span.end)).unwrap_or_default();
        let name = format!("{}]", text.trim_end_matches(']'));
        let place = |shape: Shape| Operand {
            name: name.clone(),
            span: object.span.start..index.span.end,
            shape,
            dtype: DType::Float32,
        };
        let Some(given) = given else {
            // A number goes everywhere.
            let operands = vec![place(bench.shape(view).clone())];
            let function = Function::Table(Op::Fill, Form::InPlace);
            let basic = items.tensors.iter().all(Option::is_none);
            let number = scalar(&value.value).filter(|_| basic);
            let args = number.map(|number| vec![tensor.into(), Arg::Index(items.basic), Arg::Number(number)]);
            return self
                .record(function, operands, settings, span, |bench| match args {
                    Some(args) => bench.call(Op::SetItem, Form::InPlace, args, None),
                    None => Ok(Made::Nothing),
                })
                .map(drop);
        };
        if items.tensors.iter().all(Option::is_none) {
            let part = bench.shape(view).clone();
            let operands = vec![place(part.clone()), as_assigned(value_operand, &part)];
            let function = Function::Table(Op::SetItem, Form::InPlace);
            let args = vec![tensor.into(), Arg::Index(items.basic), given.into()];
            return self
                .record(function, operands, settings, span, |bench| bench.call(Op::SetItem, Form::InPlace, args, None))
                .map(drop);
        }
        let args = vec![view.into(), bench::indices(&items.tensors)];
        let shape = match bench.call(Op::IndexTensor, Form::Functional, args, None) {
            Ok(made) => bench.shape(one(made)?).clone(),
            Err(_) => Shape::scalar(),
        };
        let operands = vec![place(shape), value_operand];
        let function = Function::Table(Op::IndexPut, Form::InPlace);
        self.record(function, operands, settings, span, |bench| {
            let view = viewed(bench, tensor, items.basic)?;
            let value = without_leading_ones(bench, given)?;
            let args = vec![view.into(), bench::indices(&items.tensors), value.into(), Arg::Flag(false)];
            bench.call(Op::IndexPut, Form::InPlace, args, None)
        })
        .map(drop)
    }

    /// Returns whether an index has tensors or lists in it.
    pub(super) fn has_tensors(&mut self, index: &Expr) -> bool {
        let items = match &index.kind {
            ExprKind::Tuple(items) => items.iter().collect(),
            _ => vec![index],
        };
        items.into_iter().any(|item| matches!(self.value(item), Ok(Value::Tensor(_) | Value::List(_))))
    }

    fn indexed(&mut self, tensor: Tensor, index: &Expr) -> Result<Items, Stop> {
        let expressions: Vec<&Expr> = match &index.kind {
            ExprKind::Tuple(items) => items.iter().collect(),
            _ => vec![index],
        };
        let mut placed = Vec::new();
        for expression in expressions {
            placed.push(self.placed(expression)?);
        }
        let rank = self.bench.shape(tensor).rank();
        let consumed = |bench: &bench::Bench, value: &Value| match value {
            Value::Int(_) | Value::Slice(..) | Value::List(_) => 1,
            Value::Tensor(tensor) if is_mask(bench.dtype(*tensor)) => bench.shape(*tensor).rank(),
            Value::Tensor(_) => 1,
            _ => 0,
        };
        let all: usize = placed.iter().map(|placed| consumed(&self.bench, &placed.value)).sum();
        let whole = IndexItem::Slice { start: None, stop: None, step: 1 };
        let mut items = Items { basic: Vec::new(), tensors: Vec::new(), operands: Vec::new(), parts: Vec::new() };
        for placed in placed {
            if let Some(kind) = self.part(&placed.value) {
                let text = self.source.get(placed.span.clone()).unwrap_or_default().trim().to_owned();
                items.parts.push(IndexPart { text, kind });
            }
            match &placed.value {
                Value::Int(at) => items.basic.push(IndexItem::At(*at)),
                Value::Slice(start, stop, step) => {
                    items.basic.push(IndexItem::Slice { start: *start, stop: *stop, step: step.unwrap_or(1) });
                    items.tensors.push(None);
                }
                Value::None => {
                    items.basic.push(IndexItem::None);
                    items.tensors.push(None);
                }
                Value::Ellipsis => {
                    items.basic.push(IndexItem::Ellipsis);
                    items.tensors.extend(std::iter::repeat_n(None, rank.saturating_sub(all)));
                }
                Value::Bool(_) => {
                    return Err(Stop::Unsupported("True and False as an index are not explained".to_owned()));
                }
                Value::List(values) => {
                    let ints = values.iter().map(Value::int).collect::<Option<Vec<_>>>();
                    let ints = ints
                        .ok_or_else(|| Stop::Unsupported("a list of lists as an index; make it a tensor".to_owned()))?;
                    let bools = values.iter().any(|value| matches!(value, Value::Bool(_)));
                    let (dtype, data) = match bools {
                        true => (DType::Bool, ints.iter().map(|value| *value as u8).collect()),
                        false => (DType::Int64, ints.iter().flat_map(|value| value.to_le_bytes()).collect()),
                    };
                    let shape =
                        Shape::new(vec![ints.len() as i64]).map_err(|error| Stop::Unsupported(error.to_string()))?;
                    let index = self.bench.declare("index", shape, dtype, Some(data));
                    items.basic.push(whole.clone());
                    items.tensors.push(Some(index));
                    items.operands.push(self.operand(&Placed::new(Value::Tensor(index), placed.span.clone()), "index"));
                }
                Value::Tensor(index) => {
                    let taken = consumed(&self.bench, &placed.value);
                    items.basic.extend(std::iter::repeat_n(whole.clone(), taken.max(1)));
                    items.tensors.push(Some(*index));
                    items.operands.push(self.operand(&placed, "index"));
                }
                other => return Err(Stop::Unsupported(format!("{} is no index", other.kind()))),
            }
        }
        while items.tensors.last().is_some_and(Option::is_none) {
            items.tensors.pop();
        }
        Ok(items)
    }
}

impl Evaluation<'_> {
    /// What an item of a subscript does, for its drawing.
    fn part(&self, value: &Value) -> Option<PartKind> {
        Some(match value {
            Value::Int(at) => PartKind::At(*at),
            Value::Slice(start, stop, step) => PartKind::Slice(*start, *stop, step.unwrap_or(1)),
            Value::None => PartKind::New,
            Value::Ellipsis => PartKind::Ellipsis,
            Value::List(values) if values.iter().any(|value| matches!(value, Value::Bool(_))) => {
                PartKind::Mask(vec![values.len() as i64])
            }
            Value::List(values) => PartKind::Places(vec![values.len() as i64]),
            Value::Tensor(index) => {
                let sizes = self.bench.shape(*index).sizes().to_vec();
                match is_mask(self.bench.dtype(*index)) {
                    true => PartKind::Mask(sizes),
                    false => PartKind::Places(sizes),
                }
            }
            _ => return None,
        })
    }
}

/// Returns whether an index of this dtype is a mask, which stands for as many dimensions as it has.
fn is_mask(dtype: DType) -> bool {
    matches!(dtype, DType::Bool | DType::Uint8)
}

/// The view that basic items make; the tensor itself if they change nothing.
fn viewed(bench: &mut bench::Bench, tensor: Tensor, items: Vec<IndexItem>) -> Result<Tensor, Stop> {
    one(bench.call(Op::Index, Form::Functional, vec![tensor.into(), Arg::Index(items)], None)?)
}

/// The operand as it is drawn: sizes of 1 that do not count, since the part has no such dimensions, are left away.
fn as_assigned(mut operand: Operand, part: &Shape) -> Operand {
    let beyond = operand.shape.rank().saturating_sub(part.rank());
    let (ones, rest) = operand.shape.sizes().split_at(beyond);
    if beyond > 0 && ones.iter().all(|size| *size == 1) {
        operand.shape = Shape::new(rest.to_vec()).expect("fewer sizes");
        operand.name = format!("{} without the 1s in front", operand.name);
    }
    operand
}

fn without_leading_ones(bench: &mut bench::Bench, value: Tensor) -> Result<Tensor, Stop> {
    let sizes = bench.shape(value).sizes().to_vec();
    let kept: Vec<i64> = sizes.iter().copied().skip_while(|size| *size == 1).collect();
    if kept.len() == sizes.len() {
        return Ok(value);
    }
    one(bench.call(Op::View, Form::Functional, vec![value.into(), Arg::Ints(kept)], None)?)
}

/// The tensor that a call has made.
fn one(made: Made) -> Result<Tensor, Stop> {
    match made {
        Made::Tensor(tensor) => Ok(tensor),
        _ => Err(Stop::Unsupported("no tensor".to_owned())),
    }
}
