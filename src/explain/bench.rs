//! A program that grows call by call, of which the reference infers shapes, dtypes, strides and rejections.
//!
//! It makes no elements: see [`broadcheck_reference::infer`].

use broadcheck_protocol::error::Rejection;
use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::{Arg, Step, ValueRef};
use broadcheck_protocol::tensor::{DType, Shape};
use crate::infer_shim::{Declared, Inference, Inferred, TensorFacts, infer};

/// Names a tensor of the bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor(ValueRef);

/// The result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    /// A tensor.
    Tensor(Tensor),
    /// Several tensors.
    Tensors(Vec<Tensor>),
    /// Sizes.
    Sizes(Vec<i64>),
    /// A number or a bool, which the elements decide.
    Number,
    /// Nothing.
    Nothing,
}

/// The reason why a call has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// PyTorch rejects the call with this message.
    Rejected(String, Option<Box<Rejection>>),
    /// The elements decide.
    Unknown(String),
    /// The call cannot be explained; the text says why, and what to write instead.
    Unsupported(String),
}

impl Stop {
    /// A rejection that is not in the table of rejections.
    pub fn rejected(message: impl Into<String>) -> Stop {
        Stop::Rejected(message.into(), None)
    }
}

impl From<Rejection> for Stop {
    fn from(rejection: Rejection) -> Stop {
        Stop::Rejected(rejection.to_string(), Some(Box::new(rejection)))
    }
}

/// A program that grows.
#[derive(Clone, Debug, Default)]
pub struct Bench {
    declared: Vec<Declared>,
    steps: Vec<Step>,
    /// What stands behind each number that a [`Tensor`] has: the inputs and the steps as they came.
    nodes: Vec<Node>,
    /// The facts of every node after the last call.
    facts: Vec<Vec<TensorFacts>>,
    /// The warnings of the last call.
    warnings: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
enum Node {
    Declared(usize),
    Step(usize),
}

impl Bench {
    /// A tensor that is there, with the elements that an index or a mask has, where they are known.
    pub fn declare(&mut self, name: &str, shape: Shape, dtype: DType, data: Option<Vec<u8>>) -> Tensor {
        let number = self.nodes.len();
        self.nodes.push(Node::Declared(self.declared.len()));
        self.declared.push(Declared { name: name.to_owned(), dtype, shape, data, requires_grad: false });
        let made = self.infer();
        self.remember(made);
        Tensor(ValueRef { value: number, part: None })
    }

    /// Calls an operation of the table.
    ///
    /// # Errors
    /// When libtorch rejects the call, or elements decide about it, or the reference does not model it. The bench is then as
    /// it was before.
    pub fn call(&mut self, op: Op, form: Form, args: Vec<Arg>, out: Option<Tensor>) -> Result<Made, Stop> {
        let before = (self.steps.len(), self.nodes.len());
        let number = self.nodes.len();
        self.nodes.push(Node::Step(self.steps.len()));
        self.steps.push(Step { name: format!("t{number}"), op, form, args, out: out.map(|out| out.0) });
        let mut made = self.infer();
        let last = made.pop().map(|inference| (inference.outcome, inference.warnings));
        let (outcome, warnings) = last.unwrap_or((Inferred::Nothing, Vec::new()));
        let result = match &outcome {
            Inferred::Tensor(_) => Ok(Made::Tensor(Tensor(ValueRef { value: number, part: None }))),
            Inferred::Tensors(all) => {
                let part = |part| Tensor(ValueRef { value: number, part: Some(part) });
                Ok(Made::Tensors((0..all.len()).map(part).collect()))
            }
            Inferred::Sizes(sizes) => Ok(Made::Sizes(sizes.clone())),
            Inferred::Number => Ok(Made::Number),
            Inferred::Nothing => Ok(Made::Nothing),
            Inferred::Rejected(rejection) => Err(rejection.clone().into()),
            Inferred::Unknown(what) => Err(Stop::Unknown(what.clone())),
            Inferred::Unsupported(what) => Err(Stop::Unsupported(what.clone())),
            Inferred::Malformed(what) => Err(Stop::Unsupported(what.clone())),
            Inferred::Blocked(_) => Err(Stop::Unsupported("a call on a value that is not there".to_owned())),
        };
        if result.is_err() {
            self.steps.truncate(before.0);
            self.nodes.truncate(before.1);
            return result;
        }
        self.warnings = warnings.clone();
        made.push(Inference { outcome, warnings });
        self.remember(made);
        result
    }

    /// The warnings of the last call that was accepted.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Shape, dtype and strides of a tensor, as it is now.
    pub fn facts(&self, tensor: Tensor) -> &TensorFacts {
        &self.facts[tensor.0.value][tensor.0.part.unwrap_or(0)]
    }

    /// The shape of a tensor.
    pub fn shape(&self, tensor: Tensor) -> &Shape {
        &self.facts(tensor).shape
    }

    /// The dtype of a tensor.
    pub fn dtype(&self, tensor: Tensor) -> DType {
        self.facts(tensor).dtype
    }

    /// Runs the whole program; it has a few calls, and none makes elements.
    fn infer(&self) -> Vec<Inference> {
        let steps: Vec<Step> = self.steps.iter().map(|step| self.numbered(step)).collect();
        infer(&self.declared, &steps)
    }

    /// A step with the numbers that a program has: first the inputs, then the steps.
    fn numbered(&self, step: &Step) -> Step {
        let mut step = step.clone();
        for used in step.uses_mut() {
            used.value = match self.nodes[used.value] {
                Node::Declared(at) => at,
                Node::Step(at) => self.declared.len() + at,
            };
        }
        step
    }

    fn remember(&mut self, made: Vec<Inference>) {
        self.facts = self
            .nodes
            .iter()
            .map(|node| match node {
                Node::Declared(at) => {
                    let declared = &self.declared[*at];
                    vec![TensorFacts::contiguous(declared.dtype, declared.shape.clone())]
                }
                Node::Step(at) => match made.get(*at).map(|inference| &inference.outcome) {
                    Some(Inferred::Tensor(facts)) => vec![facts.clone()],
                    Some(Inferred::Tensors(all)) => all.clone(),
                    _ => Vec::new(),
                },
            })
            .collect();
    }
}

impl From<Tensor> for Arg {
    fn from(tensor: Tensor) -> Arg {
        Arg::Tensor(tensor.0)
    }
}

/// The argument that a list of tensors is.
pub fn list(tensors: &[Tensor]) -> Arg {
    Arg::Tensors(tensors.iter().map(|tensor| tensor.0).collect())
}

/// The argument that indices are, some of which may be missing.
pub fn indices(tensors: &[Option<Tensor>]) -> Arg {
    Arg::Indices(tensors.iter().map(|tensor| tensor.map(|tensor| tensor.0)).collect())
}
