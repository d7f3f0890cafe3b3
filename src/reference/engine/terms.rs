//! The terms in which the partial derivatives of the operation table are written.

use super::*;
use crate::number::{Quotient, RealNumber, with_float_type};

/// A quotient of numbers that are no integers, which always have one.
fn quotient<T: Element>(a: f64, b: f64, divide: impl Fn(T, T) -> Option<T>) -> f64 {
    divide(T::from_scalar(Scalar::Float(a)), T::from_scalar(Scalar::Float(b)))
        .map_or(f64::NAN, |quotient| f64::from_scalar(quotient.to_scalar()))
}

/// The terms in which the partial derivatives of the operation table are written.
pub(super) struct Terms<'a> {
    pub machine: RefCell<&'a mut Machine>,
    pub op: Op,
    pub gradient: &'a Tensor,
    pub saved: &'a Saved,
    pub factor: Scalar,
}

impl Terms<'_> {
    /// Returns the upstream gradient.
    pub fn gradient(&self) -> Result<Input> {
        Ok(Input::Tensor(self.gradient.clone()))
    }

    /// The same, of an operation that keeps operand `at` for the gradients of several others, and so for every one: what
    /// only one of them needs, libtorch keeps for that one alone.
    pub fn gradient_keeping(&self, at: usize) -> Result<Input> {
        self.raw(at)?;
        self.gradient()
    }

    /// Operand `at`, unless it has been written to since (`SavedVariable::unpack`).
    pub fn raw(&self, at: usize) -> Result<&Input> {
        let machine = self.machine.borrow();
        // A number in the place of the first tensor was wrapped in one (`wrapped_scalar_tensor`), which was kept.
        if self.saved.freed && (at == 0 || matches!(self.saved.inputs[at], Input::Tensor(_))) {
            return Err(Rejection::Freed.into());
        }
        let Some((id, storage, expected)) = self.saved.versions[at] else { return Ok(&self.saved.inputs[at]) };
        let version = machine.version(storage);
        if version == expected {
            return Ok(&self.saved.inputs[at]);
        }
        let (tensor, node) = match (id, &self.saved.inputs[at]) {
            (Some(id), _) => {
                let tensor = machine.tensor(id);
                let node = match tensor.node.map(|node| &machine.graph[node].kind) {
                    Some(Kind::Operation { derivative, .. }) => Some(derivative.node().unwrap_or(UNNAMED)),
                    _ => None,
                };
                (tensor, node)
            }
            // Of a step inside an operation.
            (None, Input::Tensor(tensor)) => (tensor, tensor.node.map(|_| UNNAMED)),
            (None, Input::Number(_)) => return Ok(&self.saved.inputs[at]),
        };
        let (dtype, shape) = (tensor.dtype, tensor.shape().sizes().to_vec());
        Err(Rejection::Modified { dtype, shape, node, version, expected }.into())
    }

    /// The first operand, conjugated.
    pub fn left(&self) -> Result<Input> {
        self.conjugated(self.raw(0)?)
    }

    /// The second operand, conjugated.
    pub fn right(&self) -> Result<Input> {
        self.conjugated(self.raw(1)?)
    }

    /// Any operand, conjugated.
    pub fn operand(&self, at: usize) -> Result<Input> {
        self.conjugated(self.raw(at)?)
    }

    /// Rejects operands that were written to, for an operation that keeps them whatever it needs.
    pub fn all_operands(&self) -> Result<()> {
        (0..self.saved.inputs.len()).try_for_each(|at| self.raw(at).map(drop))
    }

    /// The number 0.
    pub fn zero(&self) -> Result<Input> {
        Ok(Input::Number(Scalar::Int(0)))
    }

    /// For an operand that no gradient flows to.
    pub fn nothing(&self) -> Result<Input> {
        Ok(Input::Tensor(self.gradient.clone()))
    }

    /// For an operand whose gradient libtorch has no formula for.
    pub fn without_derivative(&self, name: &'static str) -> Result<Input> {
        // What was kept for the other operand is looked at first.
        if self.saved.inputs.iter().filter(|input| input.node().is_some()).count() > 1 {
            self.all_operands()?;
        }
        Err(Rejection::NoFormula { name }.into())
    }

    /// For the operands of an operation that libtorch has no derivatives of.
    pub fn without_derivatives(&self) -> Result<Input> {
        Err(Rejection::NoDerivative { name: self.op.name() }.into())
    }

    /// The factor of the second operand, conjugated.
    pub fn alpha(&self) -> Result<Input> {
        self.conjugated(&Input::Number(self.factor))
    }

    /// The number that is given beside the operands.
    pub fn factor(&self) -> f64 {
        f64::from_scalar(self.factor)
    }

    /// Number `at` of those that are given beside the operands.
    pub fn number(&self, at: usize) -> f64 {
        f64::from_scalar(self.saved.numbers[at])
    }

    /// True if a flag is set.
    pub fn flag(&self) -> bool {
        self.saved.flag
    }

    /// The argument that is a text.
    pub fn text(&self) -> &str {
        &self.saved.text
    }

    /// The share of one element of the second operand in a loss, of whose gradient these are the derivatives.
    pub fn share(&self) -> f64 {
        if self.text() == "mean" { 1.0 / self.saved.inputs[1].shape().numel() as f64 } else { 1.0 }
    }

    /// A factor times the share of an element: of a difference up to a number, and beyond it of the number with its sign.
    pub fn bent(&self, difference: f64, factor: f64) -> f64 {
        let bend = self.number(0);
        let size = if factor.is_infinite() { 1.0 } else { bend * factor };
        self.share()
            * if difference <= -bend {
                -size
            } else if difference >= bend {
                size
            } else {
                difference * factor
            }
    }

    /// The derivative of that.
    pub fn is_bent(&self, difference: f64, factor: f64) -> f64 {
        if difference.abs() < self.number(0) { self.share() * factor } else { 0.0 }
    }

    /// The gradient of `gelu` times a number, or, of the second order, that of its gradient.
    pub fn gelu(&self, gradient: f64, at: f64, second: bool) -> f64 {
        let half_circle = std::f64::consts::PI;
        if self.text() != "tanh" {
            let density = (-at * at / 2.0).exp() / (2.0 * half_circle).sqrt();
            let share = 0.5 * (1.0 + libm::erf(at / 2f64.sqrt()));
            return gradient * if second { density * (2.0 - at * at) } else { share + at * density };
        }
        let (beta, cubic) = ((2.0 / half_circle).sqrt(), 0.044715);
        let curve = (beta * (at + cubic * at * at * at)).tanh();
        let rest = 1.0 - curve * curve;
        let (slope, bend) = (beta * (1.0 + 3.0 * cubic * at * at), beta * 6.0 * cubic * at);
        gradient
            * if second {
                rest * slope + 0.5 * at * (rest * bend - 2.0 * curve * rest * slope * slope)
            } else {
                0.5 * (1.0 + curve) + 0.5 * at * rest * slope
            }
    }

    /// The gradient of `elu` times a number, as `elu_backward` has it with the numbers of the call.
    pub fn elu(&self, gradient: f64, at: f64) -> f64 {
        let [alpha, scale, input_scale] = [0, 1, 2].map(|number| self.number(number));
        if at > 0.0 {
            gradient * scale
        } else if self.flag() {
            gradient * input_scale * (at + alpha * scale)
        } else {
            gradient * input_scale * alpha * scale * (at * input_scale).exp()
        }
    }

    /// The upstream gradient times the sign of the operand; complex numbers have the sign `z / |z|`, and 0 has none.
    pub fn towards_sign(&self) -> Result<Input> {
        let operand = self.raw(0)?.clone();
        if operand.dtype().category() < Category::Complex {
            return self.formula(|[g, a]| g * RealNumber::sign(a));
        }
        let Input::Tensor(operand) = operand else { return self.gradient() };
        let mut machine = self.machine.borrow_mut();
        let values = machine.try_eval(operand.dtype, || {
            let arrived: Vec<Complex64> = machine.elements(self.gradient);
            let elements: Vec<Complex64> = machine.elements(&operand);
            let sign = |z: Complex64| if z.norm() == 0.0 { z } else { z / z.norm() };
            let values = arrived.iter().zip(elements).map(|(g, z)| Scalar::Complex(g * sign(z)));
            Ok::<_, Stop>(Buffer::from_scalars(operand.dtype, values))
        })?;
        Ok(Input::Tensor(machine.allocate(Layout::contiguous(operand.shape().clone()), values)))
    }

    /// A quotient rounded to the floor, as it is computed for the dtype of the result (`div` with `rounding_mode`).
    pub fn floored(&self, a: f64, b: f64) -> f64 {
        with_float_type!(self.gradient.dtype, T => quotient(a, b, T::floor_over))
    }

    /// The same without the fraction.
    pub fn truncated(&self, a: f64, b: f64) -> f64 {
        with_float_type!(self.gradient.dtype, T => quotient(a, b, T::truncated_over))
    }

    /// A formula of real numbers: of what arrived at the result, and of each operand, all of them broadcast to one
    /// shape. It is computed in double precision and rounded once.
    pub fn formula<const N: usize>(&self, formula: impl Fn([f64; N]) -> f64) -> Result<Input> {
        let all: Vec<usize> = (0..self.saved.inputs.len()).collect();
        self.formula_over(&all, &|row| formula(numbers(row)))
    }

    /// The same, of what arrived and of some of the operands, for an operation that keeps no others.
    pub fn formula_reading<const N: usize>(
        &self,
        operands: [usize; N],
        formula: impl Fn(f64, [f64; N]) -> f64,
    ) -> Result<Input> {
        self.formula_over(&operands, &|row| formula(row[0], numbers(&row[1..])))
    }

    fn formula_over(&self, operands: &[usize], formula: &dyn Fn(&[f64]) -> f64) -> Result<Input> {
        let mut columns = vec![Input::Tensor(self.gradient.clone())];
        for &at in operands {
            columns.push(self.raw(at)?.clone());
        }
        real_formula(&mut self.machine.borrow_mut(), &columns, self.gradient, formula).map(Input::Tensor)
    }

    /// For an operand that bounds are put to: what arrived where it is between them.
    pub fn within_bounds(&self) -> Result<Input> {
        self.formula(|[g, a, low, high]| if a >= low && a <= high { g } else { 0.0 })
    }

    /// For the lower of two bounds: what arrived where the operand is below it, and the upper one is not, too.
    pub fn below_bounds(&self) -> Result<Input> {
        self.formula(|[g, a, low, high]| if a < low && (low < high || high == f64::INFINITY) { g } else { 0.0 })
    }

    /// For the upper of two bounds: what arrived where the operand is above it, or the bounds are crossed.
    pub fn above_bounds(&self) -> Result<Input> {
        self.formula(|[g, a, low, high]| if a > high || high < low { g } else { 0.0 })
    }

    /// A formula of the complex number that arrived at the result, and of real operands.
    pub fn parts<const N: usize>(&self, formula: impl Fn(Complex64, [f64; N]) -> f64) -> Result<Input> {
        let mut machine = self.machine.borrow_mut();
        let shape = self.gradient.shape().clone();
        let dtype = self.saved.inputs[0].dtype();
        let values = machine.try_eval(dtype, || {
            let arrived: Vec<Complex64> = machine.elements(self.gradient);
            let columns = machine.columns::<f64>(&self.saved.inputs, &shape)?;
            let values: Vec<Scalar> = (0..shape.numel())
                .map(|at| Scalar::Float(formula(arrived[at], std::array::from_fn(|column| columns[column][at]))))
                .collect();
            Ok::<_, Stop>(Buffer::from_scalars(dtype, values.into_iter()))
        })?;
        Ok(Input::Tensor(machine.allocate(Layout::contiguous(shape.clone()), values)))
    }

    pub fn times(&self, a: Result<Input>, b: Result<Input>) -> Result<Input> {
        self.combine(Op::Mul, a?, b?)
    }

    pub fn over(&self, a: Result<Input>, b: Result<Input>) -> Result<Input> {
        self.combine(Op::Div, a?, b?)
    }

    pub fn negative(&self, a: Result<Input>) -> Result<Input> {
        self.combine(Op::Mul, a?, Input::Number(Scalar::Int(-1)))
    }

    pub fn combine(&self, op: Op, a: Input, b: Input) -> Result<Input> {
        arithmetic(&mut self.machine.borrow_mut(), op, a, b).map(Input::Tensor)
    }

    pub fn conjugated(&self, input: &Input) -> Result<Input> {
        Ok(match input {
            Input::Number(Scalar::Complex(value)) => Input::Number(Scalar::Complex(value.conj())),
            Input::Tensor(tensor) => Input::Tensor(conjugate(&mut self.machine.borrow_mut(), tensor)),
            other => other.clone(),
        })
    }

    pub fn tensor(&self, input: Result<Input>) -> Result<Tensor> {
        match input? {
            Input::Tensor(tensor) => Ok(tensor),
            Input::Number(_) => Err(Stop::Malformed("a partial derivative without the gradient".to_owned())),
        }
    }
}

/// The first elements of a row, one for each operand of a formula.
fn numbers<const N: usize>(row: &[f64]) -> [f64; N] {
    row[..N].try_into().expect("as many as were taken")
}

/// The partial derivatives of one row.
macro_rules! row {
    ($op:ident $terms:ident $wanted:ident (partials $d:ident [$($partial:expr),+ $(,)?])) => {{
        let $d = $terms;
        let mut wanted = $wanted.iter();
        Ok(vec![$(if wanted.next() == Some(&true) { Some($partial) } else { None }),+])
    }};
    ($op:ident $terms:ident $wanted:ident $other:tt) => {
        Err(Stop::Unsupported(format!("the gradient of {}", $op)))
    };
}

macro_rules! partials {
    ($($variant:ident { facts: $facts:tt kernel: $kernel:tt gradient: $gradient:tt calls: $calls:tt })+) => {
        /// Returns the gradient that each operand of an operation receives that is `wanted`.
        pub fn partials(op: Op, terms: &Terms, wanted: &[bool]) -> Result<Vec<Option<Result<Input>>>> {
            match op {
                $(Op::$variant => row!(op terms wanted $gradient)),+
            }
        }
    };
}

for_each_op!(partials);
