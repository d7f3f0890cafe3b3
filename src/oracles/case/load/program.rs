//! Programs: inputs with their elements, steps with their arguments.
//!
//! Only [`crate::ops`] defines the operations and their parameters.

use serde_yaml::Value;

use super::did_you_mean;
use super::names::{Kind, Name, Names, is_name};
use super::node::Node;
use super::step::{self, parse_operation};
use super::value::{self, Nested};
use crate::ops::Op;
use crate::program::{Input, Program, Step};
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

/// The most elements that an input may have. Inputs are the part of a program that is always materialised.
pub const MAX_ELEMENTS: usize = 1 << 20;

/// The keys of an input.
const INPUT_KEYS: &[&str] = &["shape", "fill", "values", "dtype", "requires_grad"];

/// Reads a program. The names are complete even where the program has faults; an entry with faults is left out of it.
pub fn read<'a>(node: Node<'a>) -> Option<(Program, Names<'a>)> {
    let entries = node.entries("a program: a mapping from names to inputs and steps")?;
    if entries.is_empty() {
        node.fault("a program has at least one input or step");
    }
    let mut names = Names::of(&entries);
    let mut program = Program::default();
    for at in 0..entries.len() {
        let entry = names.entries()[at];
        if !is_name(entry.name) {
            entry.node.key_fault(format!(
                "`{}` is not a name: a letter, then letters, digits and `_` (`r.0` is the first result of `r`)",
                entry.name
            ));
        }
        match entry.kind {
            Kind::Input => program.inputs.extend(input(entry)),
            _ => {
                if let Some((step, kind)) = read_step(entry, &names, at) {
                    names.set_kind(at, kind);
                    program.steps.push(step);
                }
            }
        }
    }
    Some((program, names))
}

fn input(entry: Name<'_>) -> Option<Input> {
    let record = entry.node.record("an input", INPUT_KEYS)?;
    let dtype = match record.get("dtype") {
        Some(node) => Some(value::dtype(node)?),
        None => None,
    };
    let (dtype, shape, data) = match (record.get("shape"), record.get("values")) {
        (Some(_), Some(values)) => {
            values.key_fault("an input has either `shape` or `values`, not both");
            return None;
        }
        (Some(shape), None) => {
            let dtype = dtype.unwrap_or(DType::Float32);
            let (shape, data) = filled(shape, record.get("fill"), dtype, entry.value)?;
            (dtype, shape, data)
        }
        (None, values) => {
            if let Some(fill) = record.get("fill") {
                fill.key_fault("`fill` goes with `shape`; `values` already has every element");
            }
            given(values?, dtype)?
        }
    };
    let grad = record.get("requires_grad");
    let requires_grad = match grad {
        Some(node) => node.flag("`requires_grad`: true or false")?,
        None => false,
    };
    if let (Some(grad), true, Category::Bool | Category::Integral) = (grad, requires_grad, dtype.category()) {
        grad.key_fault(format!("only floating and complex tensors can require gradients, not {dtype}"));
    }
    Some(Input { name: entry.name.to_owned(), dtype, shape, data, requires_grad })
}

/// The rule by which the elements of an input are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Small integers, different within the input and from those of its neighbours.
    Distinct,
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
}

impl Fill {
    /// Every fill, the default first.
    pub const ALL: &[Fill] = &[Fill::Distinct, Fill::Zeros, Fill::Ones];

    /// Returns the name in cases.
    pub fn name(self) -> &'static str {
        match self {
            Fill::Distinct => "distinct",
            Fill::Zeros => "zeros",
            Fill::Ones => "ones",
        }
    }

    /// The bytes of the input number `input`.
    pub fn data(self, shape: &Shape, dtype: DType, input: usize) -> Vec<u8> {
        let element = |at: usize| match self {
            Fill::Distinct => (1 + 16 * input + at) as i64,
            Fill::Zeros => 0,
            Fill::Ones => 1,
        };
        bytes(dtype, shape, (0..shape.numel()).map(|at| Scalar::Int(element(at))))
    }
}

fn filled(shape: Node<'_>, fill: Option<Node<'_>>, dtype: DType, input: usize) -> Option<(Shape, Vec<u8>)> {
    let fill = match fill {
        Some(node) => node.word("fill", Fill::ALL.iter().map(|fill| fill.name()), |name| {
            Fill::ALL.iter().copied().find(|fill| fill.name() == name)
        }),
        None => Some(Fill::Distinct),
    };
    let sizes = value::shape(shape)?;
    if sizes.numel() > MAX_ELEMENTS {
        shape.fault(format!(
            "{} elements are too many for an input, which has at most {MAX_ELEMENTS}; `expand` makes larger tensors \
             without copies",
            sizes.numel()
        ));
        return None;
    }
    let data = fill?.data(&sizes, dtype, input);
    Some((sizes, data))
}

fn given(values: Node<'_>, dtype: Option<DType>) -> Option<(DType, Shape, Vec<u8>)> {
    let nested = Nested::read(values)?;
    let dtype = dtype.unwrap_or_else(|| inferred(&nested));
    if !nested.fit(dtype) {
        return None;
    }
    let shape = value::possible(values, nested.sizes.clone())?;
    let data = bytes(dtype, &shape, nested.scalars().into_iter());
    Some((dtype, shape, data))
}

/// Returns the dtype that `torch.tensor` infers from Python numbers under the default dtype.
fn inferred(nested: &Nested<'_>) -> DType {
    let highest = nested.elements.iter().max_by_key(|(number, _)| number.category());
    highest.map_or(DType::Float32, |(number, _)| number.dtype())
}

fn bytes(dtype: DType, shape: &Shape, elements: impl Iterator<Item = Scalar>) -> Vec<u8> {
    Buffer::from_scalars(dtype, elements).to_bytes(&Layout::contiguous(shape.clone()))
}

fn read_step(entry: Name<'_>, names: &Names<'_>, at: usize) -> Option<(Step, Kind)> {
    let fields = entry.node.entries("an input (with `shape` or `values`) or a step such as `{add: [x, y]}`")?;
    let all = || fields.iter().filter(|(key, _)| parse_operation(key).is_some());
    // `min` and `max` name operations, and arguments of another one.
    let is_argument = |name: &str| {
        let mut others = all().filter(|(key, _)| *key != name).filter_map(|(key, _)| parse_operation(key)?.ok());
        others.any(|(op, _)| op.info().arguments.iter().any(|param| param.name == name))
    };
    let operations: Vec<_> = all().filter(|(key, _)| !is_argument(key)).collect();
    match operations[..] {
        [&(key, arguments)] => {
            let keywords: Vec<_> = fields.iter().copied().filter(|(other, _)| *other != key).collect();
            step::read(entry.name, (key, arguments), &keywords, names, at)
        }
        [] => {
            no_operation(entry.node, &fields);
            None
        }
        [&(first, _), &(second, node), ..] => {
            node.key_fault(format!("a step has one operation, not `{first}` and `{second}`"));
            None
        }
    }
}

/// Says what the step lacks: the operation is most likely misspelt, and most likely the key with the list.
fn no_operation(node: Node<'_>, fields: &[(&str, Node<'_>)]) {
    let input_key = |key: &str| INPUT_KEYS.contains(&key);
    let Some(&(key, value)) = fields
        .iter()
        .find(|(_, node)| matches!(node.value, Value::Sequence(_)))
        .or_else(|| fields.iter().find(|(key, _)| !step::is_keyword(key) && !input_key(key)))
    else {
        let what = if fields.iter().any(|(key, _)| input_key(key)) {
            "neither an input, which has `shape` or `values`, nor a step, which has an operation"
        } else {
            "a step without an operation, such as `{add: [x, y]}`"
        };
        node.fault(format!("this is {what}"));
        return;
    };
    let in_place = Op::ALL.iter().map(|op| format!("{op}_")).filter(|name| Op::parse(name).is_some());
    let known: Vec<String> = Op::ALL.iter().map(|op| op.name().to_owned()).chain(in_place).collect();
    let candidates = known.iter().map(String::as_str).chain(INPUT_KEYS.iter().copied());
    let suggestion = match did_you_mean(key, candidates) {
        none if none.is_empty() => "; `broadcheck ops` lists them".to_owned(),
        suggestion => suggestion,
    };
    value.key_fault(format!("unknown operation `{key}`{suggestion}"));
}
