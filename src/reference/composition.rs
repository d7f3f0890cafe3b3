//! Operations that are made of others, as libtorch's composite functions are: each step is an operation of the table, or
//! a function of real numbers that the table does not have, and leaves its own trace for gradients.

use crate::error::Rejection;
use crate::ops::{DtypeSet, Form, Op, ResultType};
use crate::program::Arg;
use crate::tensor::element::Element;
use crate::tensor::{Buffer, Category, Layout, Scalar, Shape};

use super::elementwise::{Casting, Elementwise, Facts, Plan, elementwise_kernel};
use super::graph::Slope;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, Tensor, TensorId};
use super::number::RealNumber;
use super::{autograd, dispatch, functions, math, write};

/// An argument of a step.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Tensor(TensorId),
    Other(Arg),
}

impl From<TensorId> for Term {
    fn from(id: TensorId) -> Term {
        Term::Tensor(id)
    }
}

impl From<f64> for Term {
    fn from(number: f64) -> Term {
        Term::Other(Arg::Number(Scalar::Float(number)))
    }
}

impl From<i64> for Term {
    fn from(number: i64) -> Term {
        Term::Other(Arg::Number(Scalar::Int(number)))
    }
}

/// A function of real numbers that the table does not have: a loop over elements, as a row has it, and its gradient.
pub(super) struct Function {
    /// The dtypes that it computes in and results in, and the name under which libtorch rejects the others.
    pub facts: Facts,
    pub kernel: Elementwise,
    /// The gradient of the operand, from the upstream gradient and the operand.
    pub slope: Slope,
    /// True if libtorch takes the gradient from the result, which it keeps in place of the operand.
    pub of_result: bool,
}

impl Function {
    /// One of floating-point numbers, which integers become first if it results in a float.
    pub const fn of_floats(refusal: &'static str, result: ResultType, kernel: Elementwise, slope: Slope) -> Function {
        Function { facts: Facts { result, dtypes: DtypeSet::Floats, refusal }, kernel, slope, of_result: false }
    }

    /// The plan of its result in a new tensor, or in `target`.
    fn infer(&self, machine: &Machine, op: Op, input: &Input, target: Option<TensorId>) -> Result<Plan> {
        let call = Call { op, form: Form::Functional, args: &[], out: None };
        let inputs = std::slice::from_ref(input);
        let plan = Plan::into(machine, &call, inputs, self.facts.dtypes(inputs), Casting::Promoted, target)?;
        if plan.common.category() == Category::Complex && self.facts.result == ResultType::Float {
            return Err(Stop::Unsupported("a function of complex numbers within a composite operation".to_owned()));
        }
        self.facts.check_kernel(plan.common)?;
        Ok(plan)
    }

    /// Writes its result to a new tensor, or to `target`.
    fn run(&self, machine: &mut Machine, op: Op, input: &Input, target: Option<TensorId>) -> Result<TensorId> {
        let plan = self.infer(machine, op, input, target)?;
        let (inputs, one) = (std::slice::from_ref(input), Scalar::Int(1));
        let values = self.kernel.evaluate(machine, op, inputs, one, (&plan.shape, plan.common, plan.result))?;
        Ok(plan.deliver(machine, values))
    }
}

/// A composite operation at work.
pub(super) struct Composition<'a> {
    pub machine: &'a mut Machine,
    /// The operation that is composed.
    pub op: Op,
}

impl Composition<'_> {
    /// An operation of the table. Parameters that are left out are what they are by default.
    pub fn step(&mut self, op: Op, form: Form, terms: &[Term]) -> Result<TensorId> {
        let defaults = op.info().arguments.iter().skip(terms.len()).filter_map(|param| param.default);
        let args: Vec<Term> = terms.iter().cloned().chain(defaults.map(|it| Term::Other(it.into()))).collect();
        let operands: Vec<Operand> = args
            .iter()
            .map(|term| match term {
                Term::Tensor(id) => Operand::Tensor(*id),
                Term::Other(arg) => Operand::Other(arg),
            })
            .collect();
        let call = Call { op, form, args: &operands, out: None };
        match dispatch::run(self.machine, &call)? {
            Slot::Tensor(id) => Ok(id),
            _ => Err(Stop::Malformed(format!("{op} is no step of a composite operation"))),
        }
    }

    /// The same, of two operands and into a new tensor.
    pub fn combine(&mut self, op: Op, a: impl Into<Term>, b: impl Into<Term>) -> Result<TensorId> {
        self.step(op, Form::Functional, &[a.into(), b.into()])
    }

    /// The same, into the first operand.
    pub fn update(&mut self, op: Op, target: TensorId, other: impl Into<Term>) -> Result<()> {
        self.step(op, Form::InPlace, &[target.into(), other.into()]).map(|_| ())
    }

    /// A function that the table does not have.
    pub fn function(&mut self, function: &'static Function, operand: TensorId) -> Result<TensorId> {
        let input = Input::Tensor(self.machine.tensor(operand).clone());
        let result = function.run(self.machine, self.op, &input, None)?;
        autograd::record_function(self.machine, self.op, result, &input, (function.slope, function.of_result));
        Ok(result)
    }

    /// The same in place, without autograd.
    pub fn overwrite(&mut self, function: &'static Function, operand: TensorId) -> Result<()> {
        let input = Input::Tensor(self.machine.tensor(operand).clone());
        function.run(self.machine, self.op, &input, Some(operand)).map(drop)
    }

    /// The elements of `a` where the condition is true, else those of `b` (`where`).
    pub fn choose(&mut self, condition: TensorId, a: TensorId, b: TensorId) -> Result<TensorId> {
        self.step(Op::Where, Form::Functional, &[condition.into(), a.into(), b.into()])
    }

    /// The absolute value. That of complex numbers is real.
    pub fn absolute(&mut self, operand: TensorId) -> Result<TensorId> {
        self.step(Op::Abs, Form::Functional, &[operand.into()])
    }

    /// Gives a new result another layout, and the number of writes that libtorch makes to it.
    fn relay(&mut self, result: TensorId, layout: Layout, writes: u64) {
        let kept = self.machine.tensor(result).clone();
        let moved = Tensor { node: kept.node, ..write::restride(self.machine, &kept, layout) };
        self.machine.set_version(moved.storage, writes);
        *self.machine.tensor_mut(result) = moved;
    }

    /// The negative.
    pub fn negative(&mut self, operand: TensorId) -> Result<TensorId> {
        self.step(Op::Neg, Form::Functional, &[operand.into()])
    }

    /// A number less a tensor: a copy that is filled with the number, and from which the tensor is taken then
    /// (`operator-` of TensorOperators.h).
    pub fn less(&mut self, number: f64, operand: TensorId) -> Result<TensorId> {
        let layout = iterator::dense(&self.machine.tensor(operand).layout);
        let number = self.number_like(number, operand)?;
        let result = self.combine(Op::Sub, number, operand)?;
        self.relay(result, layout, 2);
        Ok(result)
    }

    /// A number as a tensor without dimensions of the dtype of another, which `Scalar - Tensor` fills one like it with.
    fn number_like(&mut self, number: f64, like: TensorId) -> Result<TensorId> {
        let (dtype, filled) = (self.machine.tensor(like).dtype, self.machine.tensor(like).shape().numel());
        functions::check_filled(Scalar::Float(number), dtype, filled)?;
        let value = Buffer::from_scalars(dtype, std::iter::once(Scalar::Float(number)));
        Ok(self.place(value, Layout::contiguous(Shape::scalar())))
    }

    /// As many zeros, contiguous (`zeros_like`).
    pub fn zeros_like(&mut self, like: TensorId) -> TensorId {
        let tensor = self.machine.tensor(like);
        let zeros = self.machine.blank(tensor.dtype, Layout::contiguous(tensor.shape().clone()));
        self.machine.add(zeros)
    }

    /// Adds to a tensor in place, which keeps its dtype and its layout.
    pub fn add_into(&mut self, target: TensorId, other: TensorId) -> Result<TensorId> {
        let sum = self.combine(Op::Add, target, other)?;
        let (dtype, layout) = (self.machine.tensor(target).dtype, self.machine.tensor(target).layout.clone());
        let tensor = self.machine.tensor(sum).clone();
        if tensor.dtype == dtype && tensor.layout == layout {
            return Ok(sum);
        }
        let cast = self.machine.converted(&tensor, dtype);
        let result = self.place(self.machine.buffer(cast.storage).clone(), layout);
        autograd::record_copy(self.machine, self.op, result, &tensor);
        Ok(result)
    }

    /// The same tensor without what autograd knows of it.
    pub fn detached(&mut self, id: TensorId) -> TensorId {
        let mut tensor = self.machine.tensor(id).clone();
        tensor.node = None;
        tensor.base = Some(id);
        self.machine.add(tensor)
    }

    /// Reduces the elements of a loss (`apply_loss_reduction`).
    pub fn reduced(&mut self, loss: TensorId, reduction: Reduction) -> Result<TensorId> {
        match reduction {
            Reduction::None => Ok(loss),
            Reduction::Mean => self.step(Op::Mean, Form::Functional, &[loss.into()]),
            Reduction::Sum => self.step(Op::Sum, Form::Functional, &[loss.into()]),
        }
    }

    /// A new tensor of these elements, which are in row-major order.
    pub fn place(&mut self, values: Buffer, layout: Layout) -> TensorId {
        write::deliver_in(self.machine, None, layout, values)
    }
}

/// The reduction of the elements of a loss (`at::Reduction`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    None,
    Mean,
    Sum,
}

impl Reduction {
    /// That of a call.
    pub fn of(call: &Call) -> Result<Reduction> {
        let params = call.op.info().arguments;
        let at = params.iter().position(|param| param.name == "reduction").unwrap_or(params.len());
        match call.text(at)? {
            "none" => Ok(Reduction::None),
            "mean" => Ok(Reduction::Mean),
            "sum" => Ok(Reduction::Sum),
            other => Err(Stop::Malformed(format!("{other} is no reduction"))),
        }
    }
}

/// A real parameter of a call.
pub(super) fn real(call: &Call, at: usize) -> Result<f64> {
    Ok(f64::from_scalar(call.number(at)?))
}

/// The logarithm of the logistic function.
pub(super) static LOG_SIGMOID: Function = Function::of_floats(
    "log_sigmoid_cpu",
    ResultType::Promoted,
    elementwise_kernel!(float (x) {
        let least = if x < T::default() || RealNumber::is_nan(x) { x } else { T::default() };
        least - in_double(in_double(-x.abs(), f64::exp), f64::ln_1p)
    }),
    NO_SLOPE,
);

/// The exponential.
pub(super) static EXPONENTIAL: Function = Function {
    of_result: true,
    ..Function::of_floats(
        "exp",
        ResultType::Float,
        elementwise_kernel!(float (x) in_double(x, f64::exp)),
        |[gradient, x]| gradient * x.exp(),
    )
};

/// For a function whose operand no gradient flows to.
pub(super) const NO_SLOPE: Slope = |_| f64::NAN;

/// A function in double precision, rounded once: libtorch's own is nearer to that than any of its type.
pub(super) fn in_double<T: math::Real>(x: T, function: fn(f64) -> f64) -> T {
    T::nearest(function(x.wide()))
}

/// 1, 0 or -1 (`sgn`).
pub(super) fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// Refuses a gradient that the operand's shape does not expand to, and names the function as the engine does.
pub(super) fn check_gradient(index: usize, gradient: &Tensor, operand: &Tensor) -> Result<()> {
    if operand.shape().expands_to(gradient.shape()) {
        return Ok(());
    }
    let (gradient, expected) = (gradient.shape().sizes().to_vec(), operand.shape().sizes().to_vec());
    Err(Rejection::LogitsGradient { index, gradient, expected }.into())
}
