//! Programs in few words, for the tests of the adapter.

// Each test file uses its own part of this.
#![allow(dead_code)]

use broadcheck_libtorch::Libtorch;
use broadcheck_protocol::adapter::Implementation;
use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::{Arg, Input, Outcome, Program, Rejected, Reply, Step, TensorValue, Value, ValueRef};
use broadcheck_protocol::tensor::{DType, Element, IndexItem, Scalar, Shape};

/// A program under construction. Inputs come first.
#[derive(Clone, Debug, Default)]
pub struct Draft(pub Program);

impl Draft {
    /// An input of the float32 values 1, 2, 3, …
    pub fn counting(&mut self, shape: &[i64]) -> ValueRef {
        let count = shape.iter().product::<i64>();
        self.input(shape, &(1..=count).map(|i| i as f32).collect::<Vec<_>>())
    }

    pub fn input<T: Element>(&mut self, shape: &[i64], values: &[T]) -> ValueRef {
        assert!(self.0.steps.is_empty(), "inputs come before steps");
        let mut data = Vec::new();
        values.iter().for_each(|value| value.write(&mut data));
        let name = format!("x{}", self.0.inputs.len());
        let shape = Shape::new(shape.to_vec()).unwrap();
        self.0.inputs.push(Input { name, dtype: T::DTYPE, shape, data, requires_grad: false });
        value(self.0.inputs.len() - 1)
    }

    pub fn keeps_gradient(&mut self, input: ValueRef) {
        self.0.inputs[input.value].requires_grad = true;
    }

    pub fn step(&mut self, op: Op, args: impl IntoIterator<Item = Arg>) -> ValueRef {
        self.push(op, Form::Functional, args, None)
    }

    pub fn in_place(&mut self, op: Op, args: impl IntoIterator<Item = Arg>) -> ValueRef {
        self.push(op, Form::InPlace, args, None)
    }

    pub fn out(&mut self, op: Op, args: impl IntoIterator<Item = Arg>, out: ValueRef) -> ValueRef {
        self.push(op, Form::Out, args, Some(out))
    }

    fn push(&mut self, op: Op, form: Form, args: impl IntoIterator<Item = Arg>, out: Option<ValueRef>) -> ValueRef {
        let name = format!("s{}", self.0.steps.len());
        self.0.steps.push(Step { name, op, form, args: args.into_iter().collect(), out });
        value(self.0.inputs.len() + self.0.steps.len() - 1)
    }

    pub fn run(&self) -> Reply {
        Libtorch::new().run(&self.0)
    }

    /// The outcome of the last step.
    pub fn last(&self) -> Outcome {
        self.run().steps.pop().expect("a step").outcome
    }
}

pub fn value(value: usize) -> ValueRef {
    ValueRef { value, part: None }
}

pub fn tensor(value: ValueRef) -> Arg {
    Arg::Tensor(value)
}

pub fn int(number: i64) -> Arg {
    Arg::Number(Scalar::Int(number))
}

pub fn float(number: f64) -> Arg {
    Arg::Number(Scalar::Float(number))
}

pub fn sizes(sizes: &[i64]) -> Arg {
    Arg::Ints(sizes.to_vec())
}

pub fn index(items: &[IndexItem]) -> Arg {
    Arg::Index(items.to_vec())
}

/// The one tensor that a step resulted in.
#[track_caller]
pub fn only(outcome: &Outcome) -> &TensorValue {
    match outcome {
        Outcome::Value(Value::Tensor(tensor)) => tensor,
        other => panic!("not a tensor: {other:?}"),
    }
}

/// Dtype, sizes and numbers of the one tensor that a step resulted in.
#[track_caller]
pub fn seen(outcome: &Outcome) -> (DType, Vec<i64>, Vec<f64>) {
    let tensor = only(outcome);
    (tensor.dtype, tensor.shape.sizes().to_vec(), numbers(tensor))
}

pub fn numbers(tensor: &TensorValue) -> Vec<f64> {
    let number = |scalar| match scalar {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Int(value) => value as f64,
        Scalar::Float(value) => value,
        Scalar::Complex(value) => panic!("a complex number: {value}"),
    };
    tensor.scalars().into_iter().map(number).collect()
}

#[track_caller]
pub fn rejected(outcome: &Outcome) -> &Rejected {
    match outcome {
        Outcome::Rejected(rejected) => rejected,
        other => panic!("not rejected: {other:?}"),
    }
}
