//! Bounds, choices, and closeness.

use half::{bf16, f16};

use super::*;

/// `clamp`: between numbers, or between tensors; either bound may be missing.
pub(crate) fn clamp(machine: &mut Machine, call: &Call) -> Result<Slot> {
    bounded(machine, call, [bound(machine, call, 1)?, bound(machine, call, 2)?])
}

/// `clamp_min`.
pub(crate) fn clamp_min(machine: &mut Machine, call: &Call) -> Result<Slot> {
    bounded(machine, call, [bound(machine, call, 1)?, None])
}

/// `clamp_max`.
pub(crate) fn clamp_max(machine: &mut Machine, call: &Call) -> Result<Slot> {
    bounded(machine, call, [None, bound(machine, call, 1)?])
}

fn bound(machine: &Machine, call: &Call, at: usize) -> Result<Option<Input>> {
    match call.args.get(at) {
        Some(Operand::Other(Arg::Nothing)) => Ok(None),
        _ => elementwise::input(machine, call, at).map(Some),
    }
}

fn bounded(machine: &mut Machine, call: &Call, bounds: [Option<Input>; 2]) -> Result<Slot> {
    let of = elementwise::input(machine, call, 0)?;
    let inputs: Vec<Input> = std::iter::once(of.clone()).chain(bounds.iter().flatten().cloned()).collect();
    let numbers = inputs[1..].iter().all(|input| matches!(input, Input::Number(_)));
    let dtype = infer_bounds(machine, call, &inputs, numbers)?;
    let plan = if numbers {
        // Of another dtype, the operand is copied.
        let of = converted(machine, &of, dtype);
        Plan::typed(machine, call, &[of], (dtype, dtype), Casting::Exact)?
    } else {
        Plan::new(machine, call, &inputs)?
    };
    plan.prepare(machine, call)?;
    match numbers {
        true => check_numbers(&bounds, dtype)?,
        false => check_tensors(&bounds, dtype)?,
    }
    let kernel = match &bounds {
        [Some(_), Some(_)] => kernel!(real(a, low, high) => a.greater(low).lesser(high)),
        [Some(_), None] => kernel!(real(a, low) => a.greater(low)),
        _ => kernel!(real(a, high) => a.lesser(high)),
    };
    let [low, high] = bounds;
    let infinite = |bound: Option<Input>, infinity| bound.unwrap_or(Input::Number(Scalar::Float(infinity)));
    let recorded = vec![of, infinite(low, f64::NEG_INFINITY), infinite(high, f64::INFINITY)];
    finish(machine, call, plan, kernel, &inputs, &recorded)
}

/// The dtype of the result. With numbers `clamp` promotes by hand, and only what is no fraction. The order of faults:
/// autograd, no bounds, complex operands, a target that is to be of another dtype.
fn infer_bounds(machine: &Machine, call: &Call, inputs: &[Input], numbers: bool) -> Result<DType> {
    autograd::check_target(machine, call, inputs)?;
    if inputs.len() == 1 {
        return Err(Rejection::ClampNoBounds.into());
    }
    let (of, promoted) = (inputs[0].dtype(), iterator::result_type(inputs));
    let complex = |dtype: DType| dtype.category() == Category::Complex;
    let complex_bound = numbers && inputs[1..].iter().any(|input| complex(input.dtype()));
    if (complex(of) && (numbers || call.op == Op::Clamp)) || (complex_bound && call.op != Op::Clamp) {
        return Err(Rejection::ClampComplex.into());
    }
    let result = if numbers && of.category() >= Category::Floating { of } else { promoted };
    let own = call.target()?.is_some_and(|target| matches!(call.args[0], Operand::Tensor(id) if id == target));
    if numbers && own && result != of {
        return Err(Rejection::CannotCast { from: result, to: of.cpp_name() }.into());
    }
    if numbers && complex(result) { Err(Rejection::ClampComplex.into()) } else { Ok(result) }
}

/// Rejects the dtypes that the kernels with tensors do not compute in.
fn check_tensors(bounds: &[Option<Input>; 2], dtype: DType) -> Result<()> {
    let no_bool = |dtype: DType| matches!(dtype.category(), Category::Integral | Category::Floating);
    let not_complex = |dtype: DType| dtype.category() < Category::Complex;
    match bounds {
        [Some(_), Some(_)] => check_dtype("clamp_cpu", dtype, no_bool),
        [Some(_), None] => check_dtype("maximum_cpu", dtype, not_complex),
        _ => check_dtype("minimum_cpu", dtype, not_complex),
    }
}

/// Rejects bounds that are beyond double precision, in which each is looked at first, since one of two that is NaN makes
/// everything NaN; then a dtype that the kernel does not compute in, then bounds that the dtype does not hold.
fn check_numbers(bounds: &[Option<Input>; 2], dtype: DType) -> Result<()> {
    let number = |bound: &Input| if let Input::Number(number) = bound { Some(*number) } else { None };
    let numbers = || bounds.iter().flatten().filter_map(number);
    numbers().try_for_each(|bound| check_held(bound, DType::Float64))?;
    let kernel = match bounds {
        [Some(_), Some(_)] if numbers().any(|bound| matches!(bound, Scalar::Float(value) if value.is_nan())) => {
            return Ok(());
        }
        [Some(_), Some(_)] => "clamp_scalar_cpu",
        [Some(_), None] => "clamp_min_scalar_cpu",
        _ => "clamp_max_scalar_cpu",
    };
    check_dtype(kernel, dtype, |dtype| matches!(dtype.category(), Category::Integral | Category::Floating))?;
    numbers().try_for_each(|bound| check_held(bound, dtype))
}

/// `where`: the condition chooses, and has nothing to say in promotion.
pub(crate) fn choose(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let recorded = elementwise::inputs(machine, call)?;
    let wanted = infer_choice(machine, call, &recorded)?;
    // The copy of a condition in bytes overlaps nothing.
    let dtypes = [DType::Bool, wanted, wanted];
    let inputs: Vec<Input> =
        recorded.iter().zip(dtypes).map(|(input, dtype)| converted(machine, input, dtype)).collect();
    let plan = Plan::typed(machine, call, &inputs, (wanted, wanted), Casting::Any)?;
    // The condition is read as it is.
    let plan = Plan { layout: iterator::result_layout(&inputs, &plan.shape), ..plan };
    plan.prepare(machine, call)?;
    let kernel = kernel!(number(condition, a, b) => if condition == T::default() { b } else { a });
    finish(machine, call, plan, kernel, &inputs, &recorded)
}

/// The dtype of the result. The order of faults: autograd, numbers, the dtype of `out`, that of the condition.
fn infer_choice(machine: &mut Machine, call: &Call, inputs: &[Input]) -> Result<DType> {
    autograd::check_target(machine, call, &inputs[1..])?;
    let wanted = iterator::result_type(&inputs[1..]);
    // Into `out` numbers go as tensors, whose conversion loses what does not fit.
    for input in inputs[1..].iter().filter(|_| call.form == Form::Functional) {
        if let Input::Number(number) = input {
            check_filled(*number, wanted, 1)?;
        }
    }
    if let Some(output) = call.target()?.map(|target| machine.tensor(target).dtype).filter(|it| *it != wanted) {
        return Err(Rejection::WhereOutput { wanted, output }.into());
    }
    match inputs[0].dtype() {
        DType::Bool => {}
        DType::Uint8 => machine.warnings.push(BYTE_CONDITION.to_owned()),
        dtype => return Err(Rejection::WhereCondition { dtype }.into()),
    }
    Ok(wanted)
}

/// The warning of `where_self_out`.
const BYTE_CONDITION: &str = "where received a uint8 condition tensor. This behavior is deprecated and will be removed in \
    a future version of PyTorch. Use a boolean condition instead.";

/// `isclose`: every step of the comparison is rounded to the dtype, as each is an operation of its own.
pub(crate) fn is_close(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let inputs = vec![elementwise::input(machine, call, 0)?, elementwise::input(machine, call, 1)?];
    let tolerance = Tolerance::infer(call, &inputs)?;
    let writes = tolerance.writes(inputs[0].dtype());
    let plan = Plan::typed(machine, call, &inputs, (inputs[0].dtype(), DType::Bool), Casting::Any)?;
    let close = machine.eval(DType::Bool, || {
        let operands = Operands::new(call.op, inputs, plan.shape.clone(), Scalar::Int(1));
        bool::wrap(tolerance.each(machine, &operands))
    });
    let slot = plan.deliver(machine, close);
    machine.set_version(machine.tensor(slot).storage, writes);
    Ok(Slot::Tensor(slot))
}

/// A number as C++ prints it to a stream: with six digits, and an exponent where it would be long otherwise.
pub(crate) fn printed(value: f64) -> String {
    if !value.is_finite() {
        return format!("{value}").to_lowercase();
    }
    let rounded = format!("{value:.5e}");
    let (digits, exponent) = rounded.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a number");
    let short = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    match exponent {
        -4..6 => {
            let places = usize::try_from(5 - exponent).expect("nine at most");
            short(&format!("{value:.places$}"))
        }
        _ => format!("{}e{}{:02}", short(digits), if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    }
}

/// The distance up to which numbers are close.
pub(crate) struct Tolerance {
    /// Times the magnitude of the second.
    relative: f64,
    /// Beside that.
    absolute: f64,
    /// True if NaN is close to NaN.
    nan_equals_nan: bool,
}

impl Tolerance {
    /// That of a call. The order of faults: operands of two dtypes, tolerances below zero.
    pub fn infer(call: &Call, inputs: &[Input]) -> Result<Tolerance> {
        let (first, second) = (inputs[0].dtype(), inputs[1].dtype());
        if first != second {
            return Err(Rejection::IscloseDtypes { first, second }.into());
        }
        let [relative, absolute] = [call.number(2)?, call.number(3)?].map(f64::from_scalar);
        for (name, value) in [("rtol", relative), ("atol", absolute)] {
            if value.is_nan() || value < 0.0 {
                return Err(Rejection::NegativeTolerance { name, value: printed(value) }.into());
            }
        }
        Ok(Tolerance { relative, absolute, nan_equals_nan: call.flag(4)? })
    }

    /// The number of comparisons after that of the numbers, each of which is written to its result: of NaN, which integers
    /// are not, and of distances.
    fn writes(&self, dtype: DType) -> u64 {
        let nan = self.nan_equals_nan && dtype.category() >= Category::Floating;
        u64::from(nan) + u64::from(!self.is_exact())
    }

    /// Returns which elements of two operands of one dtype are close.
    pub fn each(&self, machine: &Machine, operands: &Operands) -> Vec<bool> {
        let dtype = operands.inputs[0].dtype();
        let mut close =
            crate::with_element_type!(dtype, T => operands.each::<T, _>(machine, |row, _| row[0] == row[1]));
        let near: Vec<bool> = match dtype {
            DType::Float16 => self.real::<f16>(machine, operands),
            DType::Bfloat16 => self.real::<bf16>(machine, operands),
            DType::Float64 => self.real::<f64>(machine, operands),
            DType::Complex64 => self.complex::<f32>(machine, operands),
            DType::Complex128 => self.complex::<f64>(machine, operands),
            _ => self.real::<f32>(machine, operands),
        };
        close.iter_mut().zip(near).for_each(|(close, near)| *close |= near);
        close
    }

    fn real<T: Computed>(&self, machine: &Machine, operands: &Operands) -> Vec<bool>
    where
        T::Wide: math::Real,
    {
        use num_traits::Float;
        let step = |wide: T::Wide| T::narrow(wide).widened();
        let [relative, absolute] =
            [self.relative, self.absolute].map(|value| T::Wide::from_scalar(Scalar::Float(value)));
        operands.each::<T, _>(machine, |row, _| {
            let [a, b] = [row[0], row[1]];
            if a.is_nan() && b.is_nan() {
                return self.nan_equals_nan;
            }
            let allowed = step(absolute + step(relative * b).abs());
            let actual = step(a - b).abs();
            !self.is_exact() && actual.is_finite() && actual <= allowed
        })
    }

    fn complex<T: math::Real + Computed<Wide = T> + Number>(&self, machine: &Machine, operands: &Operands) -> Vec<bool>
    where
        num_complex::Complex<T>: Computed<Wide = num_complex::Complex<T>>,
    {
        let [relative, absolute] = [self.relative, self.absolute].map(|value| T::nearest(value));
        operands.each::<num_complex::Complex<T>, _>(machine, |row, _| {
            let [a, b] = [row[0], row[1]];
            let nan = |z: num_complex::Complex<T>| z.re.is_nan() || z.im.is_nan();
            if nan(a) && nan(b) {
                return self.nan_equals_nan;
            }
            let scaled = num_complex::Complex::new(relative * b.re, relative * b.im);
            let allowed = absolute + math::absolute(scaled);
            let actual = math::absolute(a - b);
            !self.is_exact() && actual.is_finite() && actual <= allowed
        })
    }

    /// Without tolerances only equal numbers are close.
    fn is_exact(&self) -> bool {
        self.relative == 0.0 && self.absolute == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::printed;

    /// As `std::cout << value` prints them.
    #[test]
    fn numbers_are_printed_as_a_stream_prints_them() {
        let numbers = [
            (-0.5, "-0.5"),
            (-1.0, "-1"),
            (-100000.0, "-100000"),
            (-999999.6, "-1e+06"),
            (-0.0001, "-0.0001"),
            (-0.00001, "-1e-05"),
            (-1234567.0, "-1.23457e+06"),
            (-3.105036184601418e231, "-3.10504e+231"),
            (-2.3033111081647696e-156, "-2.30331e-156"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ];
        for (number, text) in numbers {
            assert_eq!(printed(number), text);
        }
    }
}
