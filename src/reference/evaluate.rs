//! Runs a program step by step and reports the outcome of each.

use crate::error::Rejection;
use crate::for_each_op;
use crate::ops::{Form, Op};
use crate::program::{
    Arg, Input, Outcome, Program, Rejected, Reply, Step, StepOutcome, StorageRef, TensorValue, Value, ValueRef,
};
use crate::tensor::{Buffer, Layout, Shape};

use super::budget::{BUDGET, Meter, OverBudget};
use super::dispatch::dispatch;
use super::machine::{Call, Kernel, Machine, Operand, Result, Slot, Stop, StorageId, Tensor, TensorId, is_large};
// The families by the words of the rows.
use super::{
    arithmetic, assignment, distance, dtypes, einsum, engine as autograd, extreme, front_end, functions as function,
    gather, grid, indexing, integral, lookup, loss, mask, moment, norm, normalization, product, quantile, ranked,
    reduction, repetition, reshape, reshape as copy, sampler, scan, scatter, sizes, slice, slices, triangle, view,
};

/// Runs a program and returns the outcome of every step. An error where it is malformed or over its budget.
pub(super) fn run(program: &Program) -> std::result::Result<Reply, String> {
    let mut session = Session::new(&program.inputs)?;
    let steps = program.steps.iter().map(|step| session.step(step).map_err(|over| over.to_string()));
    let steps = steps.collect::<std::result::Result<_, _>>()?;
    let inputs = if program.mutates() { session.inputs() } else { Vec::new() };
    Ok(Reply { steps, inputs })
}

/// A program that is run step by step. A clone goes on by itself from where it is made, so that a step can be tried.
#[derive(Clone, Debug)]
pub struct Session {
    inputs: usize,
    machine: Machine,
    meter: Meter,
    /// One for each value of the program; `None` where a step has none.
    slots: Vec<Option<Slot>>,
    /// The storages that were told of, by their numbers.
    storages: Vec<StorageId>,
}

impl Session {
    /// A program with these inputs and no steps, which may take [`BUDGET`].
    ///
    /// # Errors
    /// When the data of an input does not fill its shape.
    pub fn new(inputs: &[Input]) -> std::result::Result<Session, String> {
        Session::within(inputs, BUDGET)
    }

    /// The same with a budget of its own, in element operations.
    ///
    /// # Errors
    /// When the data of an input does not fill its shape.
    pub fn within(inputs: &[Input], budget: u64) -> std::result::Result<Session, String> {
        let machine = Machine::new(kernel, true);
        let meter = Meter::new(budget);
        let mut session = Session { inputs: 0, machine, meter, slots: Vec::new(), storages: Vec::new() };
        for input in inputs {
            let buffer = Buffer::from_bytes(input.dtype, &input.data)
                .filter(|_| input.data.len() == input.shape.numel() * input.dtype.size())
                .ok_or_else(|| format!("input {}: the data does not fill the shape {}", input.name, input.shape))?;
            session.declare(&input.shape, buffer, input.requires_grad);
        }
        Ok(session)
    }

    /// Runs the next step and returns its outcome.
    ///
    /// # Errors
    /// When the program takes more element operations than its budget allows, with this step or with one before it.
    pub fn step(&mut self, step: &Step) -> std::result::Result<StepOutcome, OverBudget> {
        let mut meter = self.meter;
        let outcome = meter.run(|| self.run_step(step));
        self.meter = meter;
        outcome
    }

    /// Goes on with the elements that an implementation has in the result of the last step, in place of its own: what is
    /// within a tolerance there is given here. A result of another shape or dtype stays as it is.
    pub fn adopt(&mut self, observed: &Outcome) {
        let ids = match self.slots.last() {
            Some(Some(Slot::Tensor(id))) => vec![*id],
            Some(Some(Slot::Tensors(ids))) => ids.clone(),
            _ => return,
        };
        for (id, observed) in ids.into_iter().zip(observed.tensors()) {
            let tensor = self.machine.tensor(id).clone();
            let fits = tensor.dtype == observed.dtype && tensor.shape() == &observed.shape;
            if !fits || is_large(tensor.shape(), tensor.dtype) || observed.data.is_empty() {
                continue;
            }
            let version = self.machine.version(tensor.storage);
            if let Some(values) = Buffer::from_bytes(observed.dtype, &observed.data) {
                self.machine.write(&tensor, &values);
            }
            // That is no write of the program.
            self.machine.set_version(tensor.storage, version);
        }
    }

    /// Returns the element operations that the steps have taken; `None` if they are more than the budget.
    pub fn operations(&self) -> Option<u64> {
        self.meter.taken()
    }

    fn run_step(&mut self, step: &Step) -> StepOutcome {
        let result = self.advance(step);
        let outcome = match result {
            Ok(slot) => Outcome::Value(self.observe(&slot)),
            Err(Halted::Blocked(value)) => Outcome::Blocked(value),
            Err(Halted::Stopped(stop)) => outcome_of(stop),
        };
        StepOutcome { outcome, warnings: self.warnings(), categories: Vec::new() }
    }

    /// Runs the next step and returns its value.
    pub(super) fn advance(&mut self, step: &Step) -> std::result::Result<Slot, Halted> {
        self.machine.warnings.clear();
        let blocked = step.uses().find(|used| self.slots.get(used.value).is_none_or(|slot| slot.is_none()));
        let result = match blocked {
            Some(used) => Err(Halted::Blocked(used.value)),
            None => self.call(step).and_then(|slot| self.countable(slot)).map_err(Halted::Stopped),
        };
        self.slots.push(result.as_ref().ok().cloned());
        result
    }

    /// Refuses tensors that are too large to be counted, as their allocation does (`empty_generic`). With elements they
    /// have been refused before.
    fn countable(&self, slot: Slot) -> Result<Slot> {
        let ids = match &slot {
            Slot::Tensor(id) => std::slice::from_ref(id),
            Slot::Tensors(ids) => ids,
            _ => &[],
        };
        let beyond = ids.iter().map(|id| self.machine.tensor(*id)).find(|tensor| !self.machine.is_countable(tensor));
        match beyond {
            Some(tensor) => Err(Rejection::StorageOverflow { sizes: tensor.shape().sizes().to_vec() }.into()),
            None => Ok(slot),
        }
    }

    /// The warnings of the last step.
    pub(super) fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.machine.warnings)
    }

    /// A program without elements, apart from those that are given.
    pub(super) fn without_elements() -> Session {
        let machine = Machine::new(kernel, false);
        Session { inputs: 0, machine, meter: Meter::new(BUDGET), slots: Vec::new(), storages: Vec::new() }
    }

    /// Declares a further input, contiguous, before the first step.
    pub(super) fn declare(&mut self, shape: &Shape, buffer: Buffer, requires_grad: bool) {
        let mut tensor = self.machine.allocate(Layout::contiguous(shape.clone()), buffer);
        if requires_grad {
            tensor.node = Some(self.machine.graph.leaf(shape.clone(), tensor.dtype));
        }
        self.storages.push(tensor.storage);
        self.slots.push(Some(Slot::Tensor(self.machine.add(tensor))));
        self.inputs += 1;
    }

    /// The inputs as they are now.
    pub fn inputs(&mut self) -> Vec<TensorValue> {
        (0..self.inputs).map(|input| self.snapshot(TensorId(input))).collect()
    }

    /// The shape that an input has now; `None` for a value that is no input.
    pub fn input_shape(&self, value: usize) -> Option<&Shape> {
        (value < self.inputs).then(|| self.machine.tensor(TensorId(value)).shape())
    }

    fn call(&mut self, step: &Step) -> Result<Slot> {
        let args = step
            .args
            .iter()
            .map(|arg| match arg {
                Arg::Tensor(value) => self.lookup(*value).map(Operand::Tensor),
                Arg::Tensors(values) => {
                    values.iter().map(|value| self.lookup(*value)).collect::<Result<_>>().map(Operand::Tensors)
                }
                Arg::Indices(values) => values
                    .iter()
                    .map(|value| value.map(|value| self.lookup(value)).transpose())
                    .collect::<Result<_>>()
                    .map(Operand::Indices),
                other => Ok(Operand::Other(other)),
            })
            .collect::<Result<Vec<_>>>()?;
        let out = step.out.map(|out| self.lookup(out)).transpose()?;
        if !step.op.info().forms.contains(&step.form) || (step.form == Form::Out) != out.is_some() {
            return Err(Stop::Malformed(format!("{} has no such form", step.op)));
        }
        dispatch(&mut self.machine, &Call { op: step.op, form: step.form, args: &args, out })
    }

    fn lookup(&self, value: ValueRef) -> Result<TensorId> {
        match (self.slots.get(value.value), value.part) {
            (Some(Some(Slot::Tensor(id))), None) => Ok(*id),
            (Some(Some(Slot::Tensors(ids))), Some(part)) if part < ids.len() => Ok(ids[part]),
            _ => Err(Stop::Malformed(format!("value {} is no tensor", value.value))),
        }
    }

    fn observe(&mut self, slot: &Slot) -> Value {
        match slot {
            Slot::Tensor(id) => Value::Tensor(self.snapshot(*id)),
            Slot::Tensors(ids) => Value::Tensors(ids.iter().map(|id| self.snapshot(*id)).collect()),
            Slot::Sizes(sizes) => Value::Sizes(sizes.clone()),
            Slot::Number(number) => Value::Number(*number),
            Slot::Dtype(dtype) => Value::Dtype(*dtype),
            Slot::Nothing => Value::Nothing,
        }
    }

    /// A tensor, and the number of its storage.
    pub(super) fn tensor(&mut self, id: TensorId) -> (&Tensor, usize) {
        let tensor = self.machine.tensor(id);
        let known = self.storages.iter().position(|&storage| storage == tensor.storage);
        let number = known.unwrap_or_else(|| {
            self.storages.push(tensor.storage);
            self.storages.len() - 1
        });
        (tensor, number)
    }

    /// The number of inputs.
    pub(super) fn count_inputs(&self) -> usize {
        self.inputs
    }

    fn snapshot(&mut self, id: TensorId) -> TensorValue {
        let number = self.tensor(id).1;
        let tensor = self.machine.tensor(id);
        let data = match is_large(tensor.shape(), tensor.dtype) {
            true => Vec::new(),
            false => self.machine.buffer(tensor.storage).to_bytes(&tensor.layout),
        };
        TensorValue {
            dtype: tensor.dtype,
            shape: tensor.shape().clone(),
            data,
            strides: Some(tensor.layout.strides.clone()),
            storage: Some(StorageRef { id: number, offset: tensor.layout.offset }),
        }
    }
}

/// The reason why a step has no value, or the first value that it uses and that is not there.
pub(super) enum Halted {
    Blocked(usize),
    Stopped(Stop),
}

macro_rules! kernel {
    (product (einsum)) => {
        Some(einsum::einsum)
    };
    (view ($module:ident $function:ident)) => {
        Some($module::$function)
    };
    ($module:ident ($function:ident)) => {
        Some($module::$function)
    };
    ($word:ident $operands:tt $($body:tt)+) => {
        None
    };
}

macro_rules! kernels {
    ($($variant:ident { facts: $facts:tt kernel: $kernel:tt gradient: $gradient:tt calls: $calls:tt })+) => {
        /// The function that runs an operation, unless its row says it element by element.
        fn kernel(op: Op) -> Option<Kernel> {
            match op {
                $(Op::$variant => kernel! $kernel),+
            }
        }
    };
}

for_each_op!(kernels);

fn outcome_of(stop: Stop) -> Outcome {
    match stop {
        Stop::Rejected(rejection) => Outcome::Rejected(Rejected {
            message: rejection.to_string(),
            class: Some(rejection.class()),
            origin: None,
            raises: None,
        }),
        Stop::Unsupported(what) => Outcome::Unsupported(what),
        Stop::Malformed(what) | Stop::Unknown(what) => Outcome::Failed(what),
    }
}
