//! Operations that are made of others, as libtorch's composite functions are: each step is an operation of the table, or
//! a function of real numbers that the table does not have, and leaves its own trace for gradients.

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::Arg;
use crate::tensor::element::Element;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::autograd;
use super::dispatch;
use super::functions;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, Tensor, TensorId};
use super::write;

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

/// Rounds the result of one step of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounding(pub DType);

impl Rounding {
    /// The nearest number of the dtype. float16 and bfloat16 are computed in float32 and rounded then.
    pub fn to(self, value: f64) -> f64 {
        match self.0 {
            DType::Float64 => value,
            DType::Float16 => half::f16::from_f32(value as f32).to_f64(),
            DType::Bfloat16 => half::bf16::from_f32(value as f32).to_f64(),
            _ => f64::from(value as f32),
        }
    }
}

/// A function of real numbers, element by element.
pub(super) struct Function {
    /// The name under which libtorch rejects a dtype that is not floating-point.
    pub kernel: &'static str,
    /// True if integers become the default float dtype first.
    pub promotes: bool,
    /// The function of integers, if it takes them.
    pub whole: Option<fn(&[i64]) -> i64>,
    /// The function of floating-point numbers: of an element of each operand and the parameters. What it rounds, if
    /// anything, it rounds to the dtype that it is given.
    pub value: fn(&[f64], Rounding) -> f64,
    /// The precision of the steps in between, for a dtype.
    pub steps: fn(DType) -> DType,
    /// The gradient that each operand receives, from the upstream gradient, the operands and the parameters.
    pub partials: fn(&[f64]) -> Vec<f64>,
}

impl Function {
    /// One that computes in the dtype itself and refuses what is not floating-point.
    pub const fn of_floats(kernel: &'static str, value: fn(&[f64], Rounding) -> f64) -> Function {
        Function { kernel, promotes: false, whole: None, value, steps: |dtype| dtype, partials: |_| Vec::new() }
    }

    /// The results, row-major, in the dtype that the operands meet in.
    pub fn compute(&self, machine: &Machine, inputs: &[Input], parameters: &[f64], shape: &Shape) -> Result<Buffer> {
        let common = self.dtype(inputs);
        if common.category() == Category::Complex && self.promotes {
            return Err(Stop::Unsupported("a function of complex numbers within a composite operation".to_owned()));
        }
        if let (Some(whole), true) = (self.whole, common.category() < Category::Floating && common != DType::Bool) {
            let columns = columns::<i64>(machine, inputs, shape, DType::Int64)?;
            let values = rows(&columns, &[], shape).map(|row| Scalar::Int(whole(&row))).collect::<Vec<_>>();
            return Ok(Buffer::from_scalars(common, values.into_iter()));
        }
        if common.category() != Category::Floating {
            return Err(Rejection::NoKernel { kernel: self.kernel, dtype: common }.into());
        }
        let rounding = Rounding((self.steps)(common));
        let columns = columns::<f64>(machine, inputs, shape, common)?;
        let values = rows(&columns, parameters, shape).map(|row| Scalar::Float((self.value)(&row, rounding)));
        Ok(Buffer::from_scalars(common, values.collect::<Vec<_>>().into_iter()))
    }

    /// The dtype that it computes in.
    pub fn dtype(&self, inputs: &[Input]) -> DType {
        match iterator::result_type(inputs) {
            dtype if self.promotes && dtype.category() < Category::Floating => DType::Float32,
            dtype => dtype,
        }
    }
}

/// The elements of each operand, broadcast, in the dtype `common`.
fn columns<T: Stored>(machine: &Machine, inputs: &[Input], shape: &Shape, common: DType) -> Result<Vec<Vec<T>>> {
    crate::with_element_type!(common, C => {
        let cast = |column: Vec<C>| column.into_iter().map(|element| T::from_scalar(element.to_scalar())).collect();
        Ok(machine.columns::<C>(inputs, shape)?.into_iter().map(cast).collect())
    })
}

/// An element of each column in turn, with the parameters behind them.
fn rows<'a, T: Copy>(columns: &'a [Vec<T>], parameters: &'a [T], shape: &Shape) -> impl Iterator<Item = Vec<T>> + 'a {
    (0..shape.numel()).map(|at| columns.iter().map(|column| column[at]).chain(parameters.iter().copied()).collect())
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
    pub fn function(
        &mut self,
        function: &'static Function,
        operands: &[TensorId],
        parameters: &[f64],
    ) -> Result<TensorId> {
        let inputs: Vec<Input> = operands.iter().map(|id| Input::Tensor(self.machine.tensor(*id).clone())).collect();
        let shape = iterator::broadcast(&inputs)?;
        let values = function.compute(self.machine, &inputs, parameters, &shape)?;
        let layout = iterator::result_layout(&iterator::converted(&inputs, function.dtype(&inputs)), &shape);
        let result = self.place(values, layout);
        autograd::record_function(self.machine, self.op, result, &inputs, parameters, function.partials);
        Ok(result)
    }

    /// The elements of `a` where the condition is true, else those of `b`. Both have one dtype.
    pub fn choose(&mut self, condition: TensorId, a: TensorId, b: TensorId) -> Result<TensorId> {
        let inputs = [condition, a, b].map(|id| Input::Tensor(self.machine.tensor(id).clone()));
        let shape = iterator::broadcast(&inputs)?;
        let dtype = self.machine.tensor(a).dtype;
        let chosen = columns::<bool>(self.machine, &inputs[..1], &shape, DType::Bool)?;
        let values = crate::with_element_type!(dtype, T => {
            let sides = columns::<T>(self.machine, &inputs[1..], &shape, dtype)?;
            let pick = |(at, &chosen): (usize, &bool)| if chosen { sides[0][at] } else { sides[1][at] };
            T::wrap(chosen[0].iter().enumerate().map(pick).collect())
        });
        let layout = iterator::result_layout(&inputs, &shape);
        let result = self.place(values, layout);
        let partials: super::graph::Slopes =
            |row| if row[1] != 0.0 { vec![0.0, row[0], 0.0] } else { vec![0.0, 0.0, row[0]] };
        autograd::record_function(self.machine, self.op, result, &inputs, &[], partials);
        Ok(result)
    }

    /// The absolute value. That of complex numbers is real.
    pub fn absolute(&mut self, operand: TensorId) -> Result<TensorId> {
        let tensor = self.machine.tensor(operand).clone();
        let real = match tensor.dtype {
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            _ => return self.function(&ABSOLUTE, &[operand], &[]),
        };
        let values: Vec<num_complex::Complex64> = self.machine.elements(&tensor);
        let values = values.into_iter().map(|value| Scalar::Float(value.re.hypot(value.im)));
        let values = Buffer::from_scalars(real, values);
        let layout = iterator::ordered_layout(&[Input::Tensor(tensor.clone())], tensor.shape());
        let result = self.place(values, layout);
        autograd::record_unknown(self.machine, self.op, result, &[operand]);
        Ok(result)
    }

    /// The greater of each element and 0 (`clamp_min`).
    pub fn not_below_zero(&mut self, operand: TensorId) -> Result<TensorId> {
        if self.machine.tensor(operand).dtype.category() == Category::Complex {
            return Err(Rejection::ClampComplex.into());
        }
        self.function(&NOT_BELOW_ZERO, &[operand], &[])
    }

    /// The same of what nothing else needs, where it lies (`clamp_min_`).
    pub fn lift_to_zero(&mut self, operand: TensorId) -> Result<TensorId> {
        let result = self.not_below_zero(operand)?;
        let own = self.machine.tensor(operand).layout.clone();
        self.relay(result, own, 1);
        Ok(result)
    }

    /// Gives a new result another layout, and the number of writes that libtorch makes to it.
    fn relay(&mut self, result: TensorId, layout: Layout, writes: u64) {
        let kept = self.machine.tensor(result).clone();
        let moved = Tensor { node: kept.node, ..write::restride(self.machine, &kept, layout) };
        self.machine.set_version(moved.storage, writes);
        *self.machine.tensor_mut(result) = moved;
    }

    /// The negative (`neg`).
    pub fn negative(&mut self, operand: TensorId) -> Result<TensorId> {
        match self.machine.tensor(operand).dtype {
            DType::Bool => Err(Rejection::BoolNegation.into()),
            _ => {
                let tensor = self.machine.tensor(operand).clone();
                let layout = iterator::result_layout(&[Input::Tensor(tensor.clone())], tensor.shape());
                let result = self.combine(Op::Mul, operand, -1i64)?;
                self.relay(result, layout, 0);
                Ok(result)
            }
        }
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
        let (dtype, shape) = (tensor.dtype, tensor.shape().clone());
        self.place(Buffer::zeros(dtype, shape.numel()), Layout::contiguous(shape))
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

static ABSOLUTE: Function = Function {
    whole: Some(|row| row[0].wrapping_abs()),
    partials: |row| vec![row[0] * sign(row[1])],
    ..Function::of_floats("abs_cpu", |row, _| row[0].abs())
};

static NOT_BELOW_ZERO: Function = Function {
    whole: Some(|row| row[0].max(0)),
    partials: |row| vec![if row[1] >= 0.0 { row[0] } else { 0.0 }],
    ..Function::of_floats("clamp_min_scalar_cpu", |row, _| if row[0] < 0.0 { 0.0 } else { row[0] })
};

/// The logarithm of the logistic function.
pub(super) static LOG_SIGMOID: Function = Function {
    steps: |dtype| if dtype == DType::Float64 { dtype } else { DType::Float32 },
    ..Function::of_floats("log_sigmoid_cpu", |row, r| {
        let more = r.to(r.to((-row[0].abs()).exp()).ln_1p());
        let least = if row[0].is_nan() { row[0] } else { row[0].min(0.0) };
        r.to(least - more)
    })
};

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
