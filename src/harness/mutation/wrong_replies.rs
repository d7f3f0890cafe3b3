//! Well-formed replies that are wrong, and that an oracle has to detect. `adapters/faulty` sends them over a pipe.

use std::collections::BTreeMap;

use crate::adapter::Implementation;
use crate::ops::{Form, Op};
use crate::program::{Arg, Outcome, Program, Rejected, Reply, Step, StorageRef, TensorValue, Value, ValueRef};
use crate::reference::Reference;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

/// Runs a program and returns a wrong reply.
pub type Lie = fn(&Program) -> Reply;

/// Tells the truth.
pub fn honest(program: &Program) -> Reply {
    Reference.run(program)
}

/// Puts a 1 before the sizes of each tensor.
pub fn wrong_shape(program: &Program) -> Reply {
    each_tensor(program, |tensor| {
        let mut sizes = tensor.shape.sizes().to_vec();
        sizes.insert(0, 1);
        tensor.shape = Shape::new(sizes).expect("a 1 does not make a shape impossible");
        if let Some(strides) = &mut tensor.strides {
            strides.insert(0, 1);
        }
    })
}

/// Changes one element of one result.
pub fn wrong_value(program: &Program) -> Reply {
    let mut done = false;
    each_tensor(program, |tensor| {
        let mut elements = tensor.scalars();
        if let (false, Some(first)) = (done, elements.first_mut()) {
            done = true;
            // Far from any rounding, and exact in every dtype.
            *first = match *first {
                Scalar::Bool(value) => Scalar::Bool(!value),
                Scalar::Int(7) | Scalar::Float(7.0) => Scalar::Int(8),
                _ => Scalar::Int(7),
            };
            tensor.data = bytes(tensor.dtype, &tensor.shape, &elements);
        }
    })
}

/// Answers in float32, or in float64 where float32 is right.
pub fn wrong_dtype(program: &Program) -> Reply {
    each_tensor(program, |tensor| {
        let dtype = if tensor.dtype == DType::Float32 { DType::Float64 } else { DType::Float32 };
        tensor.data = bytes(dtype, &tensor.shape, &tensor.scalars());
        tensor.dtype = dtype;
    })
}

/// Changes a character of each message.
pub fn wrong_message(program: &Program) -> Reply {
    let mut reply = honest(program);
    for step in &mut reply.steps {
        if let Outcome::Rejected(Rejected { message, .. }) = &mut step.outcome {
            // A number if there is one, so that the class stays what it was.
            *message = match message.find(|c: char| c.is_ascii_digit()) {
                Some(at) => {
                    let other = if message[at..].starts_with('9') { "8" } else { "9" };
                    format!("{}{other}{}", &message[..at], &message[at + 1..])
                }
                None => format!("{message} "),
            };
        }
    }
    reply
}

/// Swaps two tensor operands.
pub fn swapped_operands(program: &Program) -> Reply {
    let mut swapped = program.clone();
    for step in &mut swapped.steps {
        let two_operands = step.op.info().takes_two_operands();
        let both_tensors = matches!(step.args[..], [Arg::Tensor(_), Arg::Tensor(_), ..]);
        // In place, the target would be swapped too, which is another fault.
        if two_operands && both_tensors && step.form != Form::InPlace {
            step.args.swap(0, 1);
        }
    }
    honest(&swapped)
}

/// Claims that every tensor is contiguous.
pub fn wrong_strides(program: &Program) -> Reply {
    each_tensor(program, |tensor| {
        if let Some(strides) = &mut tensor.strides {
            *strides = Layout::contiguous(tensor.shape.clone()).strides;
        }
    })
}

/// Claims that every view is a copy.
pub fn lost_alias(program: &Program) -> Reply {
    let mut reply = honest(program);
    // Everything is numbered anew, so that nothing but the aliases is wrong.
    let mut reported: BTreeMap<usize, usize> = (0..program.inputs.len()).map(|id| (id, id)).collect();
    let mut next = program.inputs.len();
    for (step, answer) in program.steps.iter().zip(&mut reply.steps) {
        for tensor in tensors_mut(&mut answer.outcome) {
            let Some(storage) = &mut tensor.storage else { continue };
            match reported.get(&storage.id) {
                Some(&id) if step.form != Form::Functional => storage.id = id,
                Some(_) => {
                    *storage = StorageRef { id: next, offset: 0 };
                    next += 1;
                }
                None => {
                    reported.insert(storage.id, next);
                    storage.id = next;
                    next += 1;
                }
            }
        }
    }
    reply
}

/// Changes the target before it rejects.
pub fn changed_target(program: &Program) -> Reply {
    let mut reply = honest(program);
    for (step, answer) in program.steps.iter().zip(&reply.steps) {
        let rejected = matches!(answer.outcome, Outcome::Rejected(_)) && step.form == Form::InPlace;
        let target = target(step).filter(|_| rejected).and_then(|target| reply.inputs.get_mut(target.value));
        if let Some(byte) = target.and_then(|target| target.data.first_mut()) {
            *byte ^= 1;
        }
    }
    reply
}

/// Lets an in-place step change the shape of its target.
pub fn grows_target(program: &Program) -> Reply {
    let mut reply = honest(program);
    let is_rejected = |outcome: &Outcome| match outcome {
        Outcome::Rejected(rejected) => rejected.message.starts_with("output with shape"),
        _ => false,
    };
    let mut grown = program.clone();
    for (step, answer) in grown.steps.iter_mut().zip(&reply.steps) {
        if step.form == Form::InPlace && is_rejected(&answer.outcome) {
            step.form = Form::Functional;
        }
    }
    let grown = honest(&grown);
    for (at, step) in program.steps.iter().enumerate() {
        if step.form != Form::InPlace || !is_rejected(&reply.steps[at].outcome) {
            continue;
        }
        reply.steps[at] = grown.steps[at].clone();
        let target = target(step).and_then(|target| reply.inputs.get_mut(target.value));
        if let (Some(target), Some(result)) = (target, grown.steps[at].outcome.tensors().first()) {
            *target = TensorValue { storage: target.storage, ..result.clone() };
        }
    }
    reply
}

/// Rejects each step with a plausible text.
pub fn rejects_everything(program: &Program) -> Reply {
    let mut reply = honest(program);
    let inputs = program.inputs.len();
    for (step, answer) in program.steps.iter().zip(&mut reply.steps) {
        answer.outcome = match step.uses().find(|used| used.value >= inputs) {
            Some(used) => Outcome::Blocked(used.value),
            None => Outcome::Rejected(Rejected {
                message: "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1"
                    .to_owned(),
                class: None,
                origin: None,
                raises: None,
            }),
        };
    }
    reply
}

/// Turns each rejection into zeros.
pub fn accepts_everything(program: &Program) -> Reply {
    let mut reply = honest(program);
    for (step, answer) in program.steps.iter().zip(&mut reply.steps) {
        if !matches!(answer.outcome, Outcome::Rejected(_) | Outcome::Blocked(_)) {
            continue;
        }
        let operand = step.uses().find_map(|used| program.inputs.get(used.value));
        let (dtype, shape) = match operand {
            Some(input) => (input.dtype, input.shape.clone()),
            None => (DType::Float32, Shape::scalar()),
        };
        let strides = Some(Layout::contiguous(shape.clone()).strides);
        let data = vec![0; shape.numel() * dtype.size()];
        answer.outcome = Outcome::Value(Value::Tensor(TensorValue { dtype, shape, data, strides, storage: None }));
    }
    reply
}

/// Does not sum a gradient over the dimensions that were broadcast.
pub fn wrong_gradient(program: &Program) -> Reply {
    let mut reply = honest(program);
    let inputs = program.inputs.len();
    for at in 0..program.steps.len() {
        let step = &program.steps[at];
        let Some(of) = target(step).filter(|of| step.op == Op::Grad && of.value < inputs) else { continue };
        // The shape that the input was broadcast to is that of the first larger result that it went into.
        let own = &program.inputs[of.value].shape;
        let users = program.steps.iter().zip(&reply.steps).filter(|(step, _)| step.uses().any(|used| used == of));
        let larger = users
            .flat_map(|(_, answer)| answer.outcome.tensors())
            .map(|tensor| tensor.shape.clone())
            .find(|shape| shape != own && own.expands_to(shape));
        if let (Some(larger), Some(gradient)) = (larger, tensors_mut(&mut reply.steps[at].outcome).first_mut()) {
            expand(gradient, larger);
        }
    }
    reply
}

/// Keeps warnings to itself.
pub fn lost_warning(program: &Program) -> Reply {
    let mut reply = honest(program);
    reply.steps.iter_mut().for_each(|step| step.warnings.clear());
    reply
}

/// Warns in the first step.
pub fn invented_warning(program: &Program) -> Reply {
    let mut reply = honest(program);
    if let Some(first) = reply.steps.first_mut() {
        first.warnings.push("Casting complex values to real discards the imaginary part".to_owned());
    }
    reply
}

/// Puts 0 for NaN.
pub fn lost_nan(program: &Program) -> Reply {
    each_float(program, |value| if value.is_nan() { 0.0 } else { value })
}

/// Puts 0 for -0.
pub fn lost_zero_sign(program: &Program) -> Reply {
    each_float(program, |value| if value == 0.0 { 0.0 } else { value })
}

fn each_tensor(program: &Program, mut change: impl FnMut(&mut TensorValue)) -> Reply {
    let mut reply = honest(program);
    reply.steps.iter_mut().flat_map(|step| tensors_mut(&mut step.outcome)).for_each(&mut change);
    reply
}

fn each_float(program: &Program, change: impl Fn(f64) -> f64) -> Reply {
    each_tensor(program, |tensor| {
        // Other tensors are left alone, bit for bit.
        if tensor.dtype.category() != Category::Floating {
            return;
        }
        let mut elements = tensor.scalars();
        for element in &mut elements {
            if let Scalar::Float(value) = element {
                *value = change(*value);
            }
        }
        tensor.data = bytes(tensor.dtype, &tensor.shape, &elements);
    })
}

pub(super) fn tensors_mut(outcome: &mut Outcome) -> &mut [TensorValue] {
    match outcome {
        Outcome::Value(Value::Tensor(tensor)) => std::slice::from_mut(tensor),
        Outcome::Value(Value::Tensors(tensors)) => tensors,
        _ => &mut [],
    }
}

/// The first argument, if it is a tensor.
fn target(step: &Step) -> Option<ValueRef> {
    match step.args.first() {
        Some(Arg::Tensor(value)) => Some(*value),
        _ => None,
    }
}

pub(super) fn bytes(dtype: DType, shape: &Shape, elements: &[Scalar]) -> Vec<u8> {
    // A value that is too large for a reply has no elements.
    if elements.is_empty() {
        return Vec::new();
    }
    Buffer::from_scalars(dtype, elements.iter().copied()).to_bytes(&Layout::contiguous(shape.clone()))
}

fn expand(tensor: &mut TensorValue, shape: Shape) {
    let own = Layout::contiguous(tensor.shape.clone());
    let elements = Buffer::from_bytes(tensor.dtype, &tensor.data);
    if let (Some(layout), Some(elements)) = (own.expand(&shape), elements) {
        tensor.data = elements.to_bytes(&layout);
        tensor.strides = tensor.strides.as_ref().map(|_| Layout::contiguous(shape.clone()).strides);
        tensor.shape = shape;
    }
}
