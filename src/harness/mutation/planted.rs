//! Planting of a fault: a wrapper around the reference that changes the question to it, or its answer.

use std::time::Duration;

use crate::adapter::{Fault, FaultKind, Hello, Implementation};
use crate::program::{Outcome, Program, Reply, Step, StepOutcome, TensorValue};
use crate::reference::Reference;
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

use crate::mutation::Mutant;
use crate::mutation::wrong_replies::tensors_mut;

/// The part that is broken.
#[derive(Clone, Copy)]
pub enum How {
    /// The whole reply, made by other means.
    Lies(fn(&Program) -> Reply),
    /// Each step, before it is run.
    Steps(fn(&Seen, &mut Step)),
    /// Each tensor that comes of a step.
    Tensors(fn(&Seen, &mut TensorValue)),
    /// The elements of each tensor that comes of a step.
    Elements(fn(&Seen, &mut [Scalar])),
    /// The message of each rejection.
    Words(fn(&Seen, &str) -> String),
    /// The outcome of each step, whatever it is.
    Outcomes(fn(&Seen, &mut StepOutcome)),
    /// The process, over some steps.
    Breaks(fn(&Seen) -> Option<FaultKind>),
}

/// One step of a program, and what the reference makes of it.
pub struct Seen<'a> {
    /// The program that was started.
    pub program: &'a Program,
    /// The outcome of the program.
    pub reply: &'a Reply,
    /// The number of the step.
    pub at: usize,
}

/// An operand of a step.
pub struct Operand<'a> {
    pub dtype: DType,
    pub shape: &'a Shape,
    pub strides: Option<&'a [i64]>,
    pub elements: Vec<Scalar>,
}

impl<'a> Seen<'a> {
    /// The step.
    pub fn step(&self) -> &'a Step {
        &self.program.steps[self.at]
    }

    /// The outcome of the step.
    pub fn outcome(&self) -> &'a Outcome {
        &self.reply.steps[self.at].outcome
    }

    /// The tensors that the step uses, as they were when they were made.
    pub fn operands(&self) -> Vec<Operand<'a>> {
        let operand = |used: crate::program::ValueRef| match self.program.inputs.get(used.value) {
            Some(input) => Some(Operand {
                dtype: input.dtype,
                shape: &input.shape,
                strides: None,
                elements: Buffer::from_bytes(input.dtype, &input.data)?.scalars(),
            }),
            None => {
                let made = &self.reply.steps.get(used.value - self.program.inputs.len())?.outcome;
                let tensor = made.tensors().get(used.part.unwrap_or(0))?;
                let (dtype, shape, strides) = (tensor.dtype, &tensor.shape, tensor.strides.as_deref());
                Some(Operand { dtype, shape, strides, elements: tensor.scalars() })
            }
        };
        self.step().uses().filter_map(operand).collect()
    }

    /// Returns whether an operand does not lie row by row.
    pub fn has_strided_operand(&self) -> bool {
        self.operands().iter().any(|operand| {
            let strides = operand.strides.map(<[i64]>::to_vec);
            strides.is_some_and(|strides| !Layout { shape: operand.shape.clone(), strides, offset: 0 }.is_contiguous())
        })
    }

    /// Returns whether an operand has another shape than the tensor.
    pub fn broadcasts(&self, tensor: &TensorValue) -> bool {
        self.operands().iter().any(|operand| operand.shape != &tensor.shape)
    }

    /// Returns whether elements are combined one by one.
    pub fn is_elementwise(&self) -> bool {
        self.step().op.info().family() == crate::ops::Family::Pointwise
    }
}

impl Mutant {
    /// Returns the declaration of the mutant.
    pub fn hello(&self) -> Hello {
        Hello { name: "mutant".to_owned(), build: self.id.to_owned(), ..Reference.hello() }
    }

    /// Runs a program, wrongly.
    ///
    /// # Errors
    /// When the fault is one of the process.
    pub fn run(&self, program: &Program) -> Result<Reply, Fault> {
        let honest = || Reference.run(program);
        let seen = |reply| move |at| Seen { program, reply, at };
        Ok(match self.how {
            How::Lies(lie) => lie(program),
            How::Steps(change) => {
                let honest = honest();
                let mut changed = program.clone();
                changed.steps.iter_mut().enumerate().for_each(|(at, step)| change(&seen(&honest)(at), step));
                if changed == *program { honest } else { Reference.run(&changed) }
            }
            How::Tensors(change) => each(program, honest(), |seen, answer| {
                tensors_mut(&mut answer.outcome).iter_mut().for_each(|tensor| change(seen, tensor));
            }),
            How::Elements(change) => each(program, honest(), |seen, answer| {
                for tensor in tensors_mut(&mut answer.outcome) {
                    let mut elements = tensor.scalars();
                    change(seen, &mut elements);
                    set(tensor, tensor.dtype, &elements);
                }
            }),
            How::Words(change) => each(program, honest(), |seen, answer| {
                if let Outcome::Rejected(rejected) = &mut answer.outcome {
                    rejected.message = change(seen, &rejected.message);
                }
            }),
            How::Outcomes(change) => each(program, honest(), change),
            How::Breaks(breaks) => {
                let honest = honest();
                match (0..program.steps.len()).find_map(|at| breaks(&seen(&honest)(at))) {
                    Some(kind) => return Err(Fault { kind, confirmed: true, stderr: String::new() }),
                    None => honest,
                }
            }
        })
    }
}

fn each(program: &Program, honest: Reply, change: impl Fn(&Seen, &mut StepOutcome)) -> Reply {
    let mut reply = honest.clone();
    for (at, answer) in reply.steps.iter_mut().enumerate() {
        change(&Seen { program, reply: &honest, at }, answer);
    }
    reply
}

/// Gives a tensor other elements, and a dtype for them.
pub fn set(tensor: &mut TensorValue, dtype: DType, elements: &[Scalar]) {
    // A value that is too large for a reply has no elements.
    if !elements.is_empty() {
        tensor.data = crate::mutation::wrong_replies::bytes(dtype, &tensor.shape, elements);
    }
    tensor.dtype = dtype;
}

/// Gives a tensor other sizes for its elements; what is missing is zero.
pub fn reshape(tensor: &mut TensorValue, sizes: Vec<i64>) {
    let Ok(shape) = Shape::new(sizes) else { return };
    tensor.data.resize(shape.numel() * tensor.dtype.size(), 0);
    tensor.strides = tensor.strides.as_ref().map(|_| Layout::contiguous(shape.clone()).strides);
    tensor.shape = shape;
}

pub fn crash(signal: &str) -> Option<FaultKind> {
    Some(FaultKind::Crashed { status: signal.to_owned() })
}

pub fn hang() -> Option<FaultKind> {
    Some(FaultKind::TimedOut { after: Duration::from_secs(20) })
}
