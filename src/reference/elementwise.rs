//! Operations that work element by element: operands are broadcast and promoted, then one expression decides.

use num_complex::Complex;

use crate::error::Rejection;
use crate::ops::{DtypeSet, Form, Op, ParamKind, Quirk, ResultType};
use crate::program::Arg;
use crate::tensor::element::Element;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};
use crate::with_element_type as with_any_type;

use super::autograd;
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, Tensor, TensorId};
use super::number::{
    Computed, Integer, Number, Quotient, Real, RealNumber, Rounded, with_float_type, with_integer_type, with_real_type,
    with_wide_type,
};
use super::{held, write};

mod kernels;
mod rows;

pub(super) use kernels::*;
use rows::rounds;
pub(super) use rows::{arithmetic, run_row};

/// The loop of one operation, for every dtype that it takes.
pub(super) struct Elementwise {
    /// Computes the whole result from the operands, already broadcast, in the common dtype.
    pub run: fn(DType, &Machine, &Operands) -> std::result::Result<Buffer, Halt>,
}

impl Elementwise {
    /// The results of operands that broadcast to a shape, row-major: from the dtype that they are computed in to that of the
    /// result.
    pub fn evaluate(
        &self,
        machine: &Machine,
        op: Op,
        inputs: &[Input],
        factor: Scalar,
        (shape, common, result): (&Shape, DType, DType),
    ) -> Result<Buffer> {
        machine.try_eval(result, || {
            let operands = Operands::new(op, inputs.to_vec(), shape.clone(), factor);
            (self.run)(common, machine, &operands).map_err(|_| Rejection::ZeroDivision.into())
        })
    }
}

/// A loop that elements stop: integers are divided by zero.
pub(super) struct Halt {
    /// The results, with anything where there is none.
    pub results: Buffer,
    /// A flag for each element, row-major: true if it has a result.
    pub done: Vec<bool>,
}

/// Operands, broadcast to one shape, and the factor of one of them.
pub(super) struct Operands {
    pub inputs: Vec<Input>,
    pub shape: Shape,
    pub factor: Scalar,
    /// True if the second operand has one element and is not rounded to float16 or bfloat16.
    unrounded_second: bool,
}

/// The facts of an operation's row that decide how it is computed. An operation that is several (division with a rounding mode)
/// has a row for its arguments, and these for each.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    pub result: ResultType,
    pub dtypes: DtypeSet,
    pub refusal: &'static str,
}

impl Facts {
    pub fn of(op: Op) -> Facts {
        let info = op.info();
        Facts { result: info.result, dtypes: info.dtypes, refusal: info.kernel_names }
    }

    /// The dtype that operands are computed in, and that of the result.
    pub fn dtypes(&self, inputs: &[Input]) -> (DType, DType) {
        let common = iterator::result_type(inputs);
        match self.result {
            ResultType::Bool => (common, DType::Bool),
            ResultType::Float if common.category() < Category::Floating => (DType::Float32, DType::Float32),
            ResultType::Double if common.category() == Category::Complex => (DType::Complex128, DType::Complex128),
            ResultType::Double => (DType::Float64, DType::Float64),
            ResultType::Chosen => {
                let chosen = iterator::result_type(&inputs[1..]);
                (chosen, chosen)
            }
            ResultType::Complex if common == DType::Float64 => (common, DType::Complex128),
            ResultType::Complex => (common, DType::Complex64),
            _ => (common, common),
        }
    }

    /// Refuses a dtype that the kernel does not compute in.
    pub fn check_kernel(&self, common: DType) -> Result<()> {
        if self.dtypes.contains(common) {
            return Ok(());
        }
        Err(Rejection::NoKernel { kernel: self.refusal.split('|').next().unwrap_or_default(), dtype: common }.into())
    }
}

/// Runs an elementwise operation in any of its forms.
///
/// # The order of faults
///
/// A program with several faults is refused for the first of these:
///
/// 1. autograd: a leaf, or a view of one, that is written to; `out=` beside operands that require grad;
/// 2. what the operation refuses before it looks at anything else: a rounding mode that there is not, bool operands of a
///    difference, complex operands of an extremum;
/// 3. memory: a target with an element that stands for several, then one that overlaps an operand in part;
/// 4. shapes, from the first operand to the last; then a target in place, or one that is an operand, of another shape;
/// 5. dtypes: a result that cannot be cast to the target;
///
/// then `out=` is resized, with its warning, and after that
///
/// 6. a factor of a higher category than the result (`alpha_check`);
/// 7. a dtype that the kernel does not compute in;
/// 8. a factor that is beyond the dtype (`checked_convert`);
/// 9. an element: a division of an integer by zero. What came before it in the loop is written already.
pub(super) fn run(machine: &mut Machine, call: &Call, kernel: Elementwise) -> Result<Slot> {
    let inputs = inputs(machine, call)?;
    autograd::check_target(machine, call, &inputs)?;
    run_on(machine, call, kernel, (call.op, Facts::of(call.op)), inputs)
}

/// The same of an operation that is several, or of other operands than those of the call. `gradient` is the operation
/// whose gradient it has.
pub(super) fn run_on(
    machine: &mut Machine,
    call: &Call,
    kernel: Elementwise,
    (gradient, facts): (Op, Facts),
    inputs: Vec<Input>,
) -> Result<Slot> {
    let info = call.op.info();
    let casting = if info.has(Quirk::ExactTarget) { Casting::Exact } else { Casting::Promoted };
    let met = met(call.op, &inputs);
    if call.op == Op::LeakyReluBackward {
        check_slope(call)?;
    }
    let mut plan = Plan::typed(machine, call, &met, facts.dtypes(&inputs), casting)?;
    let factor = factor(call)?;
    plan.prepare(machine, call)?;
    alpha_check(call, plan.result, factor)?;
    facts.check_kernel(plan.common)?;
    if let (true, Some(target), Some(Input::Tensor(operand))) = (copies(call, plan.common), call.out, inputs.first()) {
        iterator::check_partial_overlap(machine.tensor(target), operand)?;
    }
    let factor = match info.takes_alpha() {
        true => factor,
        // The threshold and the slope are numbers of the type that is computed in, and the bound of a shrinkage is one of
        // the dtype.
        false if info.has(Quirk::SecondFirst) => held::converted(factor, held::computed_in(plan.common))?,
        false => held::converted(factor, plan.common)?,
    };
    let mut operands = Operands::new(call.op, inputs.clone(), plan.shape.clone(), factor);
    if call.form == Form::InPlace && call.op.info().has(Quirk::NumberFirstInPlace) {
        operands.unrounded_second &= !matches!(inputs[1], Input::Number(_));
    }
    if call.op.info().takes_alpha() && !operands.factor.fits(plan.common) {
        return Err(Rejection::Overflow { dtype: plan.common }.into());
    }
    let values = match machine.try_eval(plan.result, || (kernel.run)(plan.common, machine, &operands)) {
        Ok(values) => values,
        Err(halt) => {
            plan.write_in_part(machine, &inputs, &halt);
            return Err(Rejection::ZeroDivision.into());
        }
    };
    let saved = autograd::save(machine, call, inputs, rounds(call));
    // Its loop reads and writes any dtype.
    if call.op == Op::LogicalNot {
        plan.common = plan.result;
    }
    let slot = plan.deliver(machine, values);
    autograd::record_elementwise(machine, call, gradient, slot, saved, factor);
    Ok(Slot::Tensor(slot))
}

/// Returns whether a call copies its operand to `out=`: the functions that round real numbers copy integers. A copy looks at
/// the memory once `out=` is resized (`copy_`).
fn copies(call: &Call, common: DType) -> bool {
    let rounds = matches!(call.op, Op::Floor | Op::Ceil | Op::Trunc | Op::Round);
    let itself = matches!(call.args.first(), Some(Operand::Tensor(id)) if Some(*id) == call.out);
    rounds && common.category() < Category::Floating && !itself
}

/// The decisions that come before any element is computed, whatever the operation: libtorch's `TensorIterator` at work.
pub(super) struct Plan {
    /// The tensor that is written to, unless the result is a new one.
    pub target: Option<TensorId>,
    /// The shape of the result.
    pub shape: Shape,
    /// The dtype that operands are computed in.
    pub common: DType,
    /// The dtype of the result.
    pub result: DType,
    /// The layout of the result, if it is a new one.
    pub layout: Layout,
}

/// The dtypes that a target may have (`TensorIteratorConfig`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Casting {
    /// Every one that the result can be cast to.
    Promoted,
    /// That of the result.
    Exact,
    /// Every one.
    Any,
}

impl Plan {
    /// The checks, in libtorch's order: autograd, what the operation itself refuses, overlap, shapes, the target's
    /// shape, dtypes.
    pub fn new(machine: &Machine, call: &Call, inputs: &[Input]) -> Result<Plan> {
        Plan::typed(machine, call, inputs, Facts::of(call.op).dtypes(inputs), Casting::Promoted)
    }

    /// The same where the dtypes do not follow from the operands: that which they are computed in, that of the result,
    /// and what the target may have instead.
    pub fn typed(
        machine: &Machine,
        call: &Call,
        inputs: &[Input],
        (common, result): (DType, DType),
        casting: Casting,
    ) -> Result<Plan> {
        autograd::check_target(machine, call, inputs)?;
        Plan::into(machine, call, inputs, (common, result), casting, call.target()?)
    }

    /// The same of a step that autograd does not see, which writes to a target of its own.
    pub fn into(
        machine: &Machine,
        call: &Call,
        inputs: &[Input],
        (common, result): (DType, DType),
        casting: Casting,
        target: Option<TensorId>,
    ) -> Result<Plan> {
        check_operands(call.op, inputs)?;
        // `threshold` writes what is there already when it is run twice, and looks at no memory.
        if let Some(target) = target.filter(|_| call.op != Op::ThresholdBackward) {
            iterator::check_overlap(machine.tensor(target), inputs)?;
        }
        // A target that is an operand takes part in broadcasting, as that of an in-place operation always does; any
        // other target given by `out=` does not.
        let shape = iterator::broadcast(inputs)?;
        // What the loop reads may be a copy of the argument, or a view.
        let read = |target: &TensorId| {
            let own = machine.tensor(*target);
            let tensors = call.op.info().arguments.iter().map(|param| param.kind);
            let mut operands: Vec<&Operand> = (call.args.iter().zip(tensors))
                .filter(|(_, kind)| matches!(kind, ParamKind::Tensor | ParamKind::Operand))
                .map(|(arg, _)| arg)
                .filter(|arg| matches!(arg, Operand::Tensor(_) | Operand::Other(Arg::Number(_))))
                .collect();
            order(call.op, &mut operands);
            operands.into_iter().zip(inputs).any(|(arg, input)| match (arg, input) {
                (Operand::Tensor(id), Input::Tensor(tensor)) => {
                    id == target && tensor.storage == own.storage && tensor.layout == own.layout
                }
                _ => false,
            })
        };
        if let Some(target) = target.filter(read) {
            iterator::check_shape(machine.tensor(target).shape(), &shape)?;
        }
        if let Some(target) = target {
            let to = machine.tensor(target).dtype;
            match casting {
                Casting::Promoted => iterator::check_cast(result, to)?,
                Casting::Exact if result != to => {
                    return Err(Rejection::FoundDtype { found: to, expected: result }.into());
                }
                _ => {}
            }
        }
        let layout = iterator::result_layout(&iterator::converted(inputs, common), &shape);
        iterator::check_operands_memory(inputs, common, machine.has_elements())?;
        match target {
            // A tensor of truths without elements is made first, and resized.
            None if call.op.info().has(Quirk::Unstructured)
                && call.op.info().result == ResultType::Bool
                && !is_countable(&shape) =>
            {
                return Err(Rejection::Numel.into());
            }
            None => iterator::check_memory(&layout, result, iterator::request(&layout), machine.has_elements())?,
            Some(_) if machine.is_large(&shape, result) => return Err(iterator::too_large(usize::MAX)),
            Some(_) => {}
        }
        Ok(Plan { target, shape, common, result, layout })
    }

    /// Gives the tensor that is written to its shape. libtorch has done this when it comes to what the kernel refuses.
    pub fn prepare(&self, machine: &mut Machine, call: &Call) -> Result<()> {
        let Some(target) = self.target.filter(|_| call.form == Form::Out) else { return Ok(()) };
        // A result of another dtype goes through a tensor in between, which is resized as the target was. An iterator that
        // is no structured kernel's resizes that alone, and the target once it has a result.
        let direct = [self.common, self.result].contains(&machine.tensor(target).dtype);
        if !direct && call.op.info().has(Quirk::Unstructured) {
            return write::warn_of_resize(machine, target, &self.layout.shape, 1);
        }
        write::resize_output(machine, target, self.layout.clone(), if direct { 1 } else { 2 })
    }

    /// The same of any target, of a step that is no structured kernel's, once it is known what the kernel refuses. What is
    /// converted is resized once there is a result.
    pub fn prepare_checked<T>(&self, machine: &mut Machine, checked: Result<T>) -> Result<T> {
        if let Some(target) = self.target {
            if checked.is_ok() || machine.tensor(target).dtype == self.common {
                write::resize_output(machine, target, self.layout.clone(), 1)?;
            } else {
                write::warn_of_resize(machine, target, &self.shape, 1)?;
            }
        }
        checked
    }

    /// Writes the result, row-major, to its target or to a new tensor. One that is not of the target's dtype is one of the
    /// common dtype first.
    pub fn deliver(&self, machine: &mut Machine, values: Buffer) -> TensorId {
        if let Some(to) = self.target.map(|target| machine.tensor(target).dtype).filter(|to| *to != self.result) {
            write::warn_of_cast(machine, self.common, to, self.shape.numel());
        }
        if let Some(target) = self.target.filter(|target| *machine.tensor(*target).shape() != self.shape) {
            machine.replace(target, self.layout.clone());
        }
        write::deliver_in(machine, self.target, self.layout.clone(), values)
    }

    /// Writes the results before the element that stopped the loop. They are in the target only if it has the dtype
    /// that is computed in; else they were in a tensor in between.
    fn write_in_part(&self, machine: &mut Machine, inputs: &[Input], halt: &Halt) {
        let Some(target) = self.target else { return };
        let tensor = machine.tensor(target).clone();
        if tensor.dtype == self.common {
            let order = iterator::loop_places(&tensor.layout, inputs, &self.shape);
            write::in_part(machine, &tensor, &order, &halt.results, &halt.done);
        }
    }
}

/// The operands of a call: its tensors, and the numbers that stand where a tensor could.
pub(super) fn inputs(machine: &Machine, call: &Call) -> Result<Vec<Input>> {
    let params = call.op.info().arguments;
    let operands = (0..params.len()).filter(|at| matches!(params[*at].kind, ParamKind::Tensor | ParamKind::Operand));
    operands.map(|at| input(machine, call, at)).collect()
}

/// The operands in the order in which the iterator meets them.
pub(super) fn met(op: Op, inputs: &[Input]) -> Vec<Input> {
    let mut met = inputs.to_vec();
    order(op, &mut met);
    met
}

fn order<T>(op: Op, operands: &mut [T]) {
    if op.info().has(Quirk::SecondFirst) {
        operands.reverse();
    } else if op.info().has(Quirk::FirstLast) {
        operands.rotate_left(1);
    }
}

/// The operand that argument `at` is.
pub(super) fn input(machine: &Machine, call: &Call, at: usize) -> Result<Input> {
    match &call.args[at] {
        Operand::Tensor(id) => Ok(Input::Tensor(machine.tensor(*id).clone())),
        Operand::Other(Arg::Number(number)) => Ok(Input::Number(*number)),
        _ => Err(Stop::Malformed(format!("argument {at} of {} is neither a tensor nor a number", call.op))),
    }
}

/// Refuses operands before any shape is looked at (`sub_check`, `TORCH_META_FUNC(maximum)`).
fn check_operands(op: Op, inputs: &[Input]) -> Result<()> {
    let info = op.info();
    let is = |category| inputs.iter().any(|input| input.dtype().category() == category);
    let (bool, complex) = (is(Category::Bool), is(Category::Complex));
    match op {
        Op::Neg if bool => return Err(Rejection::BoolNegation.into()),
        Op::Sign if complex => return Err(Rejection::ComplexSign.into()),
        Op::Floor | Op::Ceil | Op::Trunc if complex => {
            return Err(Rejection::ComplexRounded { name: info.name }.into());
        }
        _ => {}
    }
    if info.has(Quirk::RefusesComplex) && inputs.iter().any(|input| input.dtype().category() == Category::Complex) {
        return Err(Rejection::ComplexOperands { name: info.name }.into());
    }
    if !info.has(Quirk::RefusesBool) {
        return Ok(());
    }
    match inputs.iter().filter(|input| input.dtype() == DType::Bool).count() {
        0 => Ok(()),
        1 => Err(Rejection::BoolSubtractOne.into()),
        _ => Err(Rejection::BoolSubtract.into()),
    }
}

/// Refuses a dtype that the kernel does not compute in.
pub(super) fn check_kernel(op: Op, common: DType) -> Result<()> {
    Facts::of(op).check_kernel(common)
}

/// The number that a call gives beside its operands: a factor of one of them; 1 if the operation has none.
fn factor(call: &Call) -> Result<Scalar> {
    let params = call.op.info().arguments;
    match params.iter().position(|param| param.kind == ParamKind::Number) {
        Some(at) => call.number(at),
        None => Ok(Scalar::Int(1)),
    }
}

/// Where only the result of `leaky_relu` is left, its sign must be that of the operand
/// (the meta function of `leaky_relu_backward`).
fn check_slope(call: &Call) -> Result<()> {
    let slope = call.number(2)?;
    if call.flag(3)? {
        held::check_held(slope, DType::Float64)?;
        if f64::from_scalar(slope).is_nan() || f64::from_scalar(slope) < 0.0 {
            return Err(Rejection::NegativeSlope.into());
        }
    }
    Ok(())
}

/// The factor of the second operand must be of the category of the result (`alpha_check`).
fn alpha_check(call: &Call, result: DType, alpha: Scalar) -> Result<()> {
    if !call.op.info().takes_alpha() {
        return Ok(());
    }
    let name = "alpha";
    match alpha.category() {
        Category::Bool if result != DType::Bool => Err(Rejection::BoolFactor { name }.into()),
        // A complex factor of integers is called a floating-point one, too.
        Category::Floating | Category::Complex if result.category() < Category::Floating => {
            Err(Rejection::FloatFactor { name }.into())
        }
        Category::Complex if result.category() < Category::Complex => Err(Rejection::ComplexFactor { name }.into()),
        _ => Ok(()),
    }
}

/// Returns whether the elements can be counted in 63 bits.
fn is_countable(shape: &Shape) -> bool {
    shape.sizes().iter().try_fold(1i64, |product, &size| product.checked_mul(size)).is_some()
}
