//! Runs a program step by step and tells what came of each.

use std::collections::HashMap;

use crate::for_each_op;
use crate::ops::{Form, Op};
use crate::program::{
    Arg, Outcome, Program, Rejected, Reply, Step, StepOutcome, StorageRef, TensorValue, Value, ValueRef,
};
use crate::tensor::{Buffer, Layout};
use crate::wording;

use super::elementwise::{self, Elementwise};
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, StorageId, TensorId};
use super::{backward, einsum, front_end, product, reduction, view};

/// What every step of the program comes to.
pub(super) fn run(program: &Program) -> Reply {
    let mut run = Run { program, machine: Machine::default(), slots: Vec::new(), storages: HashMap::new() };
    if let Err(text) = run.load_inputs() {
        let failed = StepOutcome { outcome: Outcome::Failed(text), warnings: Vec::new() };
        return Reply { steps: vec![failed; program.steps.len()], inputs: Vec::new() };
    }
    let steps = program.steps.iter().map(|step| run.step(step)).collect();
    let inputs = if program.mutates() { run.inputs() } else { Vec::new() };
    Reply { steps, inputs }
}

/// What an operation does: a loop over elements, or a function.
pub(super) enum Kernel {
    Elementwise(Elementwise),
    Function(fn(&mut Machine, &Call) -> Result<Slot>),
}

macro_rules! kernel {
    (number $arguments:tt $body:expr) => { Kernel::Elementwise(elementwise::number_kernel!($arguments $body)) };
    (compare $arguments:tt $body:expr) => { Kernel::Elementwise(elementwise::compare_kernel!($arguments $body)) };
    (order $arguments:tt $body:expr) => { Kernel::Elementwise(elementwise::order_kernel!($arguments $body)) };
    (view ($function:ident)) => { Kernel::Function(view::$function) };
    (reduction ($function:ident)) => { Kernel::Function(reduction::$function) };
    (product (einsum)) => { Kernel::Function(einsum::einsum) };
    (product ($function:ident)) => { Kernel::Function(product::$function) };
    (front_end ($function:ident)) => { Kernel::Function(front_end::$function) };
    (autograd ($function:ident)) => { Kernel::Function(backward::$function) };
}

macro_rules! kernels {
    ($($variant:ident $name:literal $schema:literal {
        signature: $signature:ident, forms: $forms:tt, result: $result:ident, compare: $compare:ident,
        kernel: $shape:ident $arguments:tt $(=> $body:expr)?, gradient: $gradient:ident $(($d:ident) => $partials:tt)?,
        tch: $tch:tt,
    })+) => {
        /// The kernel of an operation, from its row.
        pub(super) fn kernel(op: Op) -> Kernel {
            match op {
                $(Op::$variant => kernel!($shape $arguments $($body)?)),+
            }
        }
    };
}

for_each_op!(kernels);

struct Run<'a> {
    program: &'a Program,
    machine: Machine,
    /// One for each value of the program; `None` where a step has none.
    slots: Vec<Option<Slot>>,
    /// The number under which a storage was first told.
    storages: HashMap<StorageId, usize>,
}

impl Run<'_> {
    fn load_inputs(&mut self) -> std::result::Result<(), String> {
        for input in &self.program.inputs {
            let buffer = Buffer::from_bytes(input.dtype, &input.data)
                .filter(|_| input.data.len() == input.shape.numel() * input.dtype.size())
                .ok_or_else(|| format!("input {}: the data does not fill the shape {}", input.name, input.shape))?;
            let mut tensor = self.machine.allocate(Layout::contiguous(input.shape.clone()), buffer);
            if input.requires_grad {
                tensor.node = Some(self.machine.graph.leaf(input.shape.clone(), input.dtype));
            }
            self.storages.insert(tensor.storage, self.storages.len());
            let id = self.machine.add(tensor);
            self.slots.push(Some(Slot::Tensor(id)));
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> StepOutcome {
        self.machine.warnings.clear();
        let blocked = step.uses().find(|used| self.slots.get(used.value).is_none_or(|slot| slot.is_none()));
        let result = match blocked {
            Some(used) => Err(Outcome::Blocked(used.value)),
            None => self.call(step).map_err(outcome_of),
        };
        let outcome = match &result {
            Ok(slot) => Outcome::Value(self.observe(slot)),
            Err(outcome) => outcome.clone(),
        };
        self.slots.push(result.ok());
        StepOutcome { outcome, warnings: std::mem::take(&mut self.machine.warnings) }
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
                other => Ok(Operand::Other(other)),
            })
            .collect::<Result<Vec<_>>>()?;
        let out = step.out.map(|out| self.lookup(out)).transpose()?;
        if !step.op.info().forms.contains(&step.form) || (step.form == Form::Out) != out.is_some() {
            return Err(Stop::Malformed(format!("{} has no such form", step.op)));
        }
        let call = Call { op: step.op, form: step.form, args: &args, out };
        match kernel(step.op) {
            Kernel::Elementwise(elementwise) => elementwise::run(&mut self.machine, &call, elementwise),
            Kernel::Function(function) => function(&mut self.machine, &call),
        }
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
            Slot::Nothing => Value::Nothing,
        }
    }

    fn snapshot(&mut self, id: TensorId) -> TensorValue {
        let tensor = self.machine.tensor(id);
        let next = self.storages.len();
        TensorValue {
            dtype: tensor.dtype,
            shape: tensor.shape().clone(),
            data: self.machine.buffer(tensor.storage).to_bytes(&tensor.layout),
            strides: Some(tensor.layout.strides.clone()),
            storage: Some(StorageRef {
                id: *self.storages.entry(tensor.storage).or_insert(next),
                offset: tensor.layout.offset,
            }),
        }
    }

    fn inputs(&mut self) -> Vec<TensorValue> {
        (0..self.program.inputs.len()).map(|input| self.snapshot(TensorId(input))).collect()
    }
}

fn outcome_of(stop: Stop) -> Outcome {
    match stop {
        Stop::Rejected(rejection) => Outcome::Rejected(Rejected {
            message: wording::text(&rejection),
            class: Some(rejection.class()),
            origin: None,
        }),
        Stop::Unsupported(what) => Outcome::Unsupported(what),
        Stop::Malformed(what) => Outcome::Failed(what),
    }
}
