//! A program that grows call by call, of which the reference infers shapes, dtypes, strides and rejections.
//!
//! It makes no elements: see [`broadcheck_reference::infer()`].

use broadcheck_protocol::error::Rejection;
use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::{Arg, Input, Program, Step, ValueRef};
use broadcheck_protocol::tensor::{Buffer, Category, DType, Layout, Scalar, ScalarType, Shape};
use broadcheck_reference::{Declared, Inferences, Inferred, TensorFacts, infer};

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
    /// A dtype.
    Dtype(ScalarType),
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

/// The dtype of a tensor that is given this one.
///
/// # Errors
/// When no tensor of a program has it.
pub fn of_tensors(dtype: ScalarType) -> Result<DType, Stop> {
    dtype
        .dtype()
        .ok_or_else(|| Stop::Unsupported(format!("tensors of torch.{dtype} are not known; those of other dtypes are")))
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
    /// A tensor that gradients are kept for.
    pub fn declare_leaf(&mut self, name: &str, shape: Shape, dtype: DType) -> Tensor {
        let tensor = self.declare(name, shape, dtype, None);
        self.require_grad(tensor, dtype.category() >= Category::Floating);
        tensor
    }

    /// Keeps gradients for a tensor that was declared, or keeps none. The result of a call is left as it is.
    pub fn require_grad(&mut self, tensor: Tensor, required: bool) {
        if let Some(Node::Declared(at)) = self.nodes.get(tensor.0.value) {
            self.declared[*at].requires_grad = required;
        }
    }

    /// A tensor that is there, with the elements that an index or a mask has, where they are known.
    pub fn declare(&mut self, name: &str, shape: Shape, dtype: DType, data: Option<Vec<u8>>) -> Tensor {
        let number = self.nodes.len();
        self.nodes.push(Node::Declared(self.declared.len()));
        self.declared.push(Declared { name: name.to_owned(), dtype, shape, data, requires_grad: false });
        let made = self.infer();
        self.remember(&made);
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
        let made = self.infer();
        let last = made.steps.last();
        let result = match last.map_or(&Inferred::Nothing, |inference| &inference.outcome) {
            Inferred::Tensor(_) => Ok(Made::Tensor(Tensor(ValueRef { value: number, part: None }))),
            Inferred::Tensors(all) => {
                let part = |part| Tensor(ValueRef { value: number, part: Some(part) });
                Ok(Made::Tensors((0..all.len()).map(part).collect()))
            }
            Inferred::Sizes(sizes) => Ok(Made::Sizes(sizes.clone())),
            Inferred::Number => Ok(Made::Number),
            Inferred::Dtype(dtype) => Ok(Made::Dtype(*dtype)),
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
        self.warnings = last.map(|inference| inference.warnings.clone()).unwrap_or_default();
        self.remember(&made);
        result
    }

    /// The program as it stands, for a run on a real implementation: with ones, and with zeros where they may be indices.
    pub fn program(&self) -> Program {
        let inputs = self.declared.iter().map(|declared| {
            let ones =
                || Buffer::from_scalars(declared.dtype, std::iter::repeat_n(Scalar::Int(1), declared.shape.numel()));
            let data = || ones().to_bytes(&Layout::contiguous(declared.shape.clone()));
            Input {
                name: declared.name.clone(),
                dtype: declared.dtype,
                shape: declared.shape.clone(),
                data: declared.data.clone().unwrap_or_else(data),
                requires_grad: declared.requires_grad,
            }
        });
        Program { inputs: inputs.collect(), steps: self.steps.iter().map(|step| self.numbered(step)).collect() }
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
    fn infer(&self) -> Inferences {
        let steps: Vec<Step> = self.steps.iter().map(|step| self.numbered(step)).collect();
        // Data is given for lists alone, which fill their shape.
        infer(&self.declared, &steps).unwrap_or(Inferences { steps: Vec::new(), inputs: Vec::new() })
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

    fn remember(&mut self, made: &Inferences) {
        let facts = self.nodes.iter().map(|node| match node {
            Node::Declared(at) => made.inputs.get(*at).cloned().into_iter().collect(),
            Node::Step(at) => made.steps.get(*at).map(|step| step.outcome.tensors().to_vec()).unwrap_or_default(),
        });
        self.facts = facts.collect();
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
