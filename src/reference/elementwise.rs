//! Operations that work element by element: operands are broadcast and promoted, then one expression decides.

use crate::error::{AlphaKind, Rejection};
use crate::ops::{Form, Op, ResultType, Signature};
use crate::program::Arg;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

use super::backward;
use super::evaluate::{self, Kernel};
use super::iterator::{self, Input};
use super::machine::{Call, Machine, Operand, Result, Slot, Stop, Tensor, TensorId};
use super::number::Number;

/// The loop of one operation, for every dtype that it takes.
pub(super) struct Elementwise {
    /// Computes the whole result from the operands, already broadcast, in the common dtype.
    pub run: fn(DType, &Machine, &Pair) -> Buffer,
    /// Whether complex numbers are refused.
    pub ordered: bool,
}

/// Two operands, broadcast to one shape, and the factor of the second.
pub(super) struct Pair {
    left: Input,
    right: Input,
    shape: Shape,
    alpha: Scalar,
}

/// Runs an elementwise operation in any of its forms. The order of the checks is libtorch's: autograd, what the
/// operation itself refuses, overlap, shapes, the target's shape, dtypes, `alpha`.
pub(super) fn run(machine: &mut Machine, call: &Call, kernel: Elementwise) -> Result<Slot> {
    let inputs = [input(machine, call, 0)?, input(machine, call, 1)?];
    let target = match call.form {
        Form::Functional => None,
        Form::InPlace => Some(call.tensor(0)?),
        Form::Out => call.out,
    };
    if let Some(target) = target {
        backward::check_in_place(machine, call, target, &inputs)?;
    }
    check_operands(call.op, &inputs)?;
    if let Some(target) = target {
        iterator::check_overlap(machine.tensor(target), &inputs)?;
    }
    // A target that is an operand takes part in broadcasting, as that of an in-place operation always does; any other
    // target given by `out=` does not.
    let shape = iterator::broadcast(&inputs)?;
    let read = |target: &TensorId| call.args.iter().any(|arg| matches!(arg, Operand::Tensor(id) if id == target));
    if let Some(target) = target.filter(read) {
        let output = machine.tensor(target).shape();
        if *output != shape {
            let (output, broadcast) = (output.sizes().to_vec(), shape.sizes().to_vec());
            return Err(Rejection::OutputShape { output, broadcast }.into());
        }
    }
    let (common, result) = dtypes(call.op, &inputs);
    if let Some(target) = target {
        let to = machine.tensor(target).dtype;
        if !result.can_cast_to(to) {
            return Err(Rejection::CannotCast { from: result, to }.into());
        }
    }
    let alpha = alpha(call, result)?;
    if kernel.ordered && common.category() == Category::Complex {
        return Err(Rejection::Unordered { name: call.op.name(), dtype: common }.into());
    }

    let layout = iterator::result_layout(&inputs, &shape);
    let [left, right] = inputs.clone();
    let values = (kernel.run)(common, machine, &Pair { left, right, shape: shape.clone(), alpha });
    let slot = match target {
        None => {
            let mut result = machine.allocate(Layout::contiguous(shape.clone()), values);
            if result.layout != layout {
                result = restride(machine, &result, layout);
            }
            machine.add(result)
        }
        Some(target) => {
            if call.form == Form::Out && *machine.tensor(target).shape() != shape {
                // A result of another dtype goes through a tensor in between, which is told to resize the target again.
                let tellings = if [common, result].contains(&machine.tensor(target).dtype) { 1 } else { 2 };
                resize_output(machine, target, layout, tellings);
            }
            let tensor = machine.tensor(target).clone();
            machine.write(&tensor, &values);
            target
        }
    };
    backward::record_elementwise(machine, call, slot, &inputs, alpha);
    Ok(Slot::Tensor(slot))
}

/// Computes an elementwise operation on operands that are known to fit, without autograd, in a new contiguous tensor.
pub(super) fn compute(
    machine: &mut Machine,
    op: Op,
    inputs: &[Input; 2],
    shape: Shape,
    alpha: Scalar,
) -> Result<Tensor> {
    let Kernel::Elementwise(kernel) = evaluate::kernel(op) else {
        return Err(Stop::Malformed(format!("{op} is not elementwise")));
    };
    let [left, right] = inputs.clone();
    let pair = Pair { left, right, shape: shape.clone(), alpha };
    let values = (kernel.run)(dtypes(op, inputs).0, machine, &pair);
    Ok(machine.allocate(Layout::contiguous(shape), values))
}

fn input(machine: &Machine, call: &Call, at: usize) -> Result<Input> {
    match &call.args[at] {
        Operand::Tensor(id) => Ok(Input::Tensor(machine.tensor(*id).clone())),
        Operand::Other(Arg::Number(number)) => Ok(Input::Number(*number)),
        _ => Err(Stop::Malformed(format!("argument {at} of {} is neither a tensor nor a number", call.op))),
    }
}

/// What an operation refuses before any shape is looked at (`sub_check`).
fn check_operands(op: Op, inputs: &[Input; 2]) -> Result<()> {
    if op != Op::Sub {
        return Ok(());
    }
    match inputs.iter().filter(|input| input.dtype() == DType::Bool).count() {
        0 => Ok(()),
        1 => Err(Rejection::BoolSubtractOne.into()),
        _ => Err(Rejection::BoolSubtract.into()),
    }
}

/// The dtype that operands are computed in, and that of the result.
fn dtypes(op: Op, inputs: &[Input]) -> (DType, DType) {
    let common = iterator::result_type(inputs);
    match op.info().result {
        ResultType::Bool => (common, DType::Bool),
        ResultType::Float if common.category() < Category::Floating => (DType::Float32, DType::Float32),
        _ => (common, common),
    }
}

/// The factor of the second operand, checked against the dtype of the result (`alpha_check`).
fn alpha(call: &Call, result: DType) -> Result<Scalar> {
    if call.op.info().signature != Signature::Arithmetic {
        return Ok(Scalar::Int(1));
    }
    let alpha = call.number(2)?;
    let refused = match alpha.category() {
        Category::Bool if result != DType::Bool => Some(AlphaKind::Bool),
        // A complex factor of integers is called a floating-point one, too.
        Category::Floating | Category::Complex if result.category() < Category::Floating => Some(AlphaKind::Float),
        Category::Complex if result.category() < Category::Complex => Some(AlphaKind::Complex),
        _ => None,
    };
    refused.map_or(Ok(alpha), |kind| Err(Rejection::Alpha { kind }.into()))
}

/// The same elements laid out otherwise, in a new storage.
pub(super) fn restride(machine: &mut Machine, tensor: &Tensor, layout: Layout) -> Tensor {
    let values = Buffer::from_bytes(tensor.dtype, &machine.buffer(tensor.storage).to_bytes(&tensor.layout))
        .expect("the bytes of whole elements");
    let result = machine.allocate(layout, Buffer::zeros(tensor.dtype, tensor.shape().numel()));
    machine.write(&result, &values);
    result
}

/// Gives an `out=` tensor the shape that it should have had, with libtorch's warning (`resize_output`).
fn resize_output(machine: &mut Machine, target: TensorId, layout: Layout, tellings: usize) {
    let tensor = machine.tensor(target);
    if tensor.shape().numel() != 0 {
        let warning = format!(
            "An output with one or more elements was resized since it had shape {}, which does not match the required \
             output shape {}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized \
             unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero \
             elements with t.resize_(0).",
            tensor.shape(),
            layout.shape
        );
        machine.warnings.extend(std::iter::repeat_n(warning, tellings));
    }
    machine.replace(target, layout);
}

impl Pair {
    /// Both operands and the factor, element by element in row-major order.
    fn elements<T: Stored>(&self, machine: &Machine) -> (Vec<T>, Vec<T>, T) {
        let gather = |input: &Input| match input {
            Input::Tensor(tensor) => {
                let expanded = tensor.layout.expand(&self.shape).expect("operands were broadcast to this shape");
                machine.buffer(tensor.storage).gather(&expanded)
            }
            Input::Number(number) => vec![T::from_scalar(*number); self.shape.numel()],
        };
        (gather(&self.left), gather(&self.right), T::from_scalar(self.alpha))
    }
}

/// An expression over two numbers of one type.
pub(super) trait NumberKernel {
    fn apply<T: Number>(a: T, b: T, alpha: T) -> T;
}

/// A test of two elements for equality.
pub(super) trait CompareKernel {
    fn apply<T: PartialEq>(a: T, b: T) -> bool;
}

/// A test of the order of two elements.
pub(super) trait OrderKernel {
    fn apply<T: PartialOrd>(a: T, b: T) -> bool;
}

pub(super) fn run_number<K: NumberKernel>(dtype: DType, machine: &Machine, pair: &Pair) -> Buffer {
    crate::with_element_type!(dtype, T => {
        let (a, b, alpha) = pair.elements::<T>(machine);
        T::wrap(a.into_iter().zip(b).map(|(a, b)| K::apply(a, b, alpha)).collect())
    })
}

pub(super) fn run_compare<K: CompareKernel>(dtype: DType, machine: &Machine, pair: &Pair) -> Buffer {
    crate::with_element_type!(dtype, T => {
        let (a, b, _) = pair.elements::<T>(machine);
        bool::wrap(a.into_iter().zip(b).map(|(a, b)| K::apply(a, b)).collect())
    })
}

pub(super) fn run_order<K: OrderKernel>(dtype: DType, machine: &Machine, pair: &Pair) -> Buffer {
    macro_rules! ordered {
        ($($variant:ident $type:ty),+) => {
            match dtype {
                $(DType::$variant => {
                    let (a, b, _) = pair.elements::<$type>(machine);
                    bool::wrap(a.into_iter().zip(b).map(|(a, b)| K::apply(a, b)).collect())
                })+
                DType::Complex64 | DType::Complex128 => unreachable!("complex numbers were refused"),
            }
        };
    }
    ordered!(
        Bool bool, Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float16 half::f16, Bfloat16 half::bf16,
        Float32 f32, Float64 f64
    )
}

macro_rules! number_kernel {
    (($a:ident, $b:ident, $alpha:ident) $body:expr) => {{
        struct Kernel;
        impl $crate::reference::elementwise::NumberKernel for Kernel {
            fn apply<T: $crate::reference::number::Number>($a: T, $b: T, $alpha: T) -> T {
                $body
            }
        }
        $crate::reference::elementwise::Elementwise {
            run: $crate::reference::elementwise::run_number::<Kernel>,
            ordered: false,
        }
    }};
}

macro_rules! compare_kernel {
    (($a:ident, $b:ident) $body:expr) => {{
        struct Kernel;
        impl $crate::reference::elementwise::CompareKernel for Kernel {
            fn apply<T: PartialEq>($a: T, $b: T) -> bool {
                $body
            }
        }
        $crate::reference::elementwise::Elementwise {
            run: $crate::reference::elementwise::run_compare::<Kernel>,
            ordered: false,
        }
    }};
}

macro_rules! order_kernel {
    (($a:ident, $b:ident) $body:expr) => {{
        struct Kernel;
        impl $crate::reference::elementwise::OrderKernel for Kernel {
            fn apply<T: PartialOrd>($a: T, $b: T) -> bool {
                $body
            }
        }
        $crate::reference::elementwise::Elementwise {
            run: $crate::reference::elementwise::run_order::<Kernel>,
            ordered: true,
        }
    }};
}

pub(super) use {compare_kernel, number_kernel, order_kernel};
