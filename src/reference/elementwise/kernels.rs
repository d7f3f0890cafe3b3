//! The kinds of kernels, and the loop of each over the dtypes of its kind.

use super::super::budget::charge;
use super::*;

impl Operands {
    pub fn new(op: Op, inputs: Vec<Input>, shape: Shape, factor: Scalar) -> Operands {
        let info = op.info();
        let factor = if info.has(Quirk::NegatedFactor) { factor.negative() } else { factor };
        let unrounded_second = info.has(Quirk::UnroundedSecond) && inputs[1].shape().numel() == 1;
        Operands { inputs, shape, factor, unrounded_second }
    }

    /// Returns whether operand `at` is taken as it is, whatever `T` would round it to.
    fn unrounded<T: Computed>(&self, at: usize) -> bool {
        self.unrounded_second && at == 1 && matches!(T::DTYPE, DType::Float16 | DType::Bfloat16)
    }

    /// The elements of operand `at`, row-major, in a type.
    pub fn column<T: Stored>(&self, machine: &Machine, at: usize) -> Vec<T> {
        let columns = machine.columns(&self.inputs[at..=at], &self.shape);
        columns.expect("operands were broadcast to this shape").remove(0)
    }

    /// The elements of each operand, row-major, in the common type `T` and widened to what it is computed in; then the
    /// factor.
    fn elements<T: Computed>(&self, machine: &Machine) -> (Vec<Vec<T::Wide>>, T::Wide) {
        let gather = |at: usize| {
            if self.unrounded::<T>(at) {
                return self.column::<T::Wide>(machine, at);
            }
            T::all_widened(self.column(machine, at))
        };
        ((0..self.inputs.len()).map(gather).collect(), T::Wide::from_scalar(self.factor))
    }

    /// The operands of every element in turn, and what `kernel` makes of them. Kernels of the table are function pointers,
    /// so that all of one type share this loop.
    pub fn each<T: Computed, R>(&self, machine: &Machine, kernel: impl Fn(&[T::Wide], T::Wide) -> R) -> Vec<R> {
        let (columns, factor) = self.elements::<T>(machine);
        rows(&columns, self.shape.numel(), factor, kernel)
    }

    /// The same without widening.
    pub fn each_stored<T: Stored, R>(&self, machine: &Machine, kernel: impl Fn(&[T], T) -> R) -> Vec<R> {
        let columns: Vec<Vec<T>> = (0..self.inputs.len()).map(|at| self.column(machine, at)).collect();
        rows(&columns, self.shape.numel(), T::from_scalar(self.factor), kernel)
    }
}

/// A formula of real operands in double precision, rounded once, as a contiguous tensor.
pub(crate) fn formula(
    machine: &mut Machine,
    inputs: &[Input],
    shape: &Shape,
    dtype: DType,
    formula: &dyn Fn(&[f64]) -> f64,
) -> Result<Tensor> {
    let values = machine.try_eval(dtype, || {
        let columns = machine.columns::<f64>(inputs, shape)?;
        let values = rows(&columns, shape.numel(), 0.0, |row, _| Scalar::Float(formula(row)));
        Ok::<_, Stop>(Buffer::from_scalars(dtype, values.into_iter()))
    })?;
    Ok(machine.allocate(Layout::contiguous(shape.clone()), values))
}

/// The one loop over elements.
fn rows<T: Stored, R>(columns: &[Vec<T>], count: usize, factor: T, kernel: impl Fn(&[T], T) -> R) -> Vec<R> {
    charge(count);
    let (mut row, mut results) = (vec![T::default(); columns.len()], Vec::with_capacity(count));
    for at in 0..count {
        for (element, column) in row.iter_mut().zip(columns) {
            *element = column[at];
        }
        results.push(kernel(&row, factor));
    }
    results
}

/// The kinds of kernels: what a kernel makes of one element of each operand and the factor, in a type of some kind, and
/// the loop of it over the dtypes of that kind. Other dtypes have been refused.
macro_rules! kernels {
    ($($(#[$doc:meta])* $trait:ident: $bound:path => $result:ty, $run:ident $how:ident over $types:ident ($dtype:ident, $T:ident) $into:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) trait $trait {
            fn apply<T: $bound>(operands: &[T], factor: T) -> $result;
        }

        pub(crate) fn $run<K: $trait>(
            $dtype: DType,
            machine: &Machine,
            operands: &Operands,
        ) -> std::result::Result<Buffer, Halt> {
            $types!($dtype, $T => {
                let into: fn(Vec<_>) -> std::result::Result<Buffer, Halt> = $into;
                kernels!(@ $how K $T operands machine into)
            })
        }
    )+};
    (@ widened $K:ident $T:ident $operands:ident $machine:ident $into:ident) => {{
        let kernel: fn(&[<$T as Computed>::Wide], _) -> _ = $K::apply::<<$T as Computed>::Wide>;
        $into($operands.each::<$T, _>($machine, kernel))
    }};
    (@ stored $K:ident $T:ident $operands:ident $machine:ident $into:ident) => {{
        let kernel: fn(&[$T], $T) -> _ = $K::apply::<$T>;
        $into($operands.each_stored::<$T, _>($machine, kernel))
    }};
}

kernels! {
    /// An expression over numbers of any type.
    NumberKernel: Number => T, run_number widened over with_any_type (dtype, T) narrowed::<T>;
    /// A test for equality.
    CompareKernel: Number => bool, run_compare widened over with_any_type (dtype, T) stored;
    /// A test of the order.
    OrderKernel: RealNumber => bool, run_order widened over with_real_type (dtype, T) stored;
    /// An expression over bool, integers and floating-point numbers.
    RealKernel: RealNumber => T, run_real widened over with_real_type (dtype, T) narrowed::<T>;
    /// A division of real numbers; `None` where integers have no quotient.
    DivideKernel: RealNumber => Option<T>, run_divide widened over with_real_type (dtype, T) quotients::<T>;
    /// An expression over bool and integers.
    IntegerKernel: Integer => T, run_integer widened over with_integer_type (dtype, T) narrowed::<T>;
    /// A complex number out of two real ones.
    PairKernel: Real => Complex<T>, run_pair widened over with_wide_type (dtype, T) stored;
    /// A function of floating-point numbers.
    FloatKernel: Real => T, run_float widened over with_float_type (dtype, T) narrowed::<T>;
    /// A sum with a product.
    SumKernel: Computed => T, run_sum stored over with_any_type (dtype, T) stored;
    /// A function of floating-point numbers that is rounded after every operation, in 16 bits, too.
    StepwiseKernel: Rounded => T, run_stepwise stored over with_float_type (dtype, T) stored;
}

/// The loop where there are no elements, in the place of every kernel's: nothing calls it.
pub(crate) fn absent(dtype: DType, _: &Machine, _: &Operands) -> std::result::Result<Buffer, Halt> {
    Ok(Buffer::zeros(dtype, 0))
}

fn stored<T: Stored>(results: Vec<T>) -> std::result::Result<Buffer, Halt> {
    Ok(T::wrap(results))
}

fn narrowed<T: Computed>(results: Vec<T::Wide>) -> std::result::Result<Buffer, Halt> {
    Ok(buffer_of::<T>(results))
}

/// A buffer of results, each rounded to `T`.
pub(crate) fn buffer_of<T: Computed>(results: Vec<T::Wide>) -> Buffer {
    T::wrap(T::all_narrowed(results))
}

fn quotients<T: Computed>(results: Vec<Option<T::Wide>>) -> std::result::Result<Buffer, Halt> {
    stored_quotients(results.into_iter().map(|result| result.map(T::narrow)).collect())
}

fn stored_quotients<T: Stored>(results: Vec<Option<T>>) -> std::result::Result<Buffer, Halt> {
    let done: Vec<bool> = results.iter().map(Option::is_some).collect();
    let all = done.iter().all(|&done| done);
    let results = T::wrap(results.into_iter().map(Option::unwrap_or_default).collect());
    if all { Ok(results) } else { Err(Halt { results, done }) }
}

/// A whole quotient of real numbers, every step of which is rounded to their type; `None` where integers have none.
pub(crate) trait QuotientKernel {
    fn apply<T: Quotient + Copy>(operands: &[T], factor: T) -> Option<T>;
}

pub(crate) fn run_quotient<K: QuotientKernel>(
    dtype: DType,
    machine: &Machine,
    operands: &Operands,
) -> std::result::Result<Buffer, Halt> {
    with_real_type!(dtype, T => {
        if operands.unrounded::<T>(1) {
            let kernel: fn(&[<T as Computed>::Wide], _) -> _ = K::apply::<<T as Computed>::Wide>;
            quotients::<T>(operands.each::<T, _>(machine, kernel))
        } else {
            let kernel: fn(&[T], T) -> _ = K::apply::<T>;
            stored_quotients(operands.each_stored::<T, _>(machine, kernel))
        }
    })
}

/// A kernel of the operation table: its kind, the names of the operands and perhaps of the factor, and the expression.
macro_rules! elementwise_kernel {
    (@ $trait:ident [$bound:ident $(+ $more:ident)?] $run:ident $result:ty, ($($operand:ident),+ $(; $factor:ident)?) $body:expr) => {{
        struct Kernel;
        impl $crate::elementwise::$trait for Kernel {
            fn apply<T: $crate::number::$bound $(+ $more)?>(operands: &[T], _factor: T) -> $result {
                let &[$($operand),+] = operands else { unreachable!("the operands that the signature names") };
                $(let $factor = _factor;)?
                $body
            }
        }
        $crate::elementwise::Elementwise {
            run: if cfg!(feature = "elements") { $crate::elementwise::$run::<Kernel> } else { $crate::elementwise::absent },
        }
    }};
    (number $names:tt $body:expr) => { elementwise_kernel!(@ NumberKernel [Number] run_number T, $names $body) };
    (compare $names:tt $body:expr) => { elementwise_kernel!(@ CompareKernel [Number] run_compare bool, $names $body) };
    (order $names:tt $body:expr) => { elementwise_kernel!(@ OrderKernel [RealNumber] run_order bool, $names $body) };
    (real $names:tt $body:expr) => { elementwise_kernel!(@ RealKernel [RealNumber] run_real T, $names $body) };
    (divide $names:tt $body:expr) => { elementwise_kernel!(@ DivideKernel [RealNumber] run_divide Option<T>, $names $body) };
    (integer $names:tt $body:expr) => { elementwise_kernel!(@ IntegerKernel [Integer] run_integer T, $names $body) };
    (sum $names:tt $body:expr) => { elementwise_kernel!(@ SumKernel [Computed] run_sum T, $names $body) };
    (stepwise $names:tt $body:expr) => {
        elementwise_kernel!(@ StepwiseKernel [Rounded] run_stepwise T, $names $body)
    };
    (quotient $names:tt $body:expr) => {
        elementwise_kernel!(@ QuotientKernel [Quotient + Copy] run_quotient Option<T>, $names $body)
    };
    (float $names:tt $body:expr) => { elementwise_kernel!(@ FloatKernel [Real] run_float T, $names $body) };
    (pair $names:tt $body:expr) => {
        elementwise_kernel!(@ PairKernel [Real] run_pair num_complex::Complex<T>, $names $body)
    };
}

pub(crate) use elementwise_kernel;
