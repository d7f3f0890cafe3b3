//! Bounds, choices, and closeness.

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
    autograd::check_target(machine, call, &inputs)?;
    if inputs.len() == 1 {
        return Err(Rejection::ClampNoBounds.into());
    }
    let numbers = inputs[1..].iter().all(|input| matches!(input, Input::Number(_)));
    let complex = of.dtype().category() == Category::Complex;
    if complex && (numbers || call.op == Op::Clamp) {
        return Err(Rejection::ClampComplex.into());
    }
    let plan = if numbers {
        numeric_bounds(machine, call, &of, &inputs)?
    } else {
        let plan = Plan::new(machine, call, &inputs)?;
        plan.prepare(machine, call)?;
        match &bounds {
            [Some(_), Some(_)] => check_dtype("clamp_cpu", plan.common, |dtype| {
                matches!(dtype.category(), Category::Integral | Category::Floating)
            })?,
            [Some(_), None] => check_dtype("maximum_cpu", plan.common, |dtype| dtype.category() < Category::Complex)?,
            _ => check_dtype("minimum_cpu", plan.common, |dtype| dtype.category() < Category::Complex)?,
        }
        plan
    };
    let kernel = match &bounds {
        [Some(_), Some(_)] => kernel!(real(a, low, high) => least(greatest(a, low), high)),
        [Some(_), None] => kernel!(real(a, low) => greatest(a, low)),
        _ => kernel!(real(a, high) => least(a, high)),
    };
    let [low, high] = bounds;
    let infinite = |bound: Option<Input>, infinity| bound.unwrap_or(Input::Number(Scalar::Float(infinity)));
    let recorded = vec![of, infinite(low, f64::NEG_INFINITY), infinite(high, f64::INFINITY)];
    finish(machine, call, plan, kernel, &inputs, &recorded)
}

/// Infers `clamp` with numbers. It promotes by hand, and only what is no fraction.
fn numeric_bounds(machine: &mut Machine, call: &Call, of: &Input, inputs: &[Input]) -> Result<Plan> {
    let complex_bound = inputs[1..].iter().any(|input| input.dtype().category() == Category::Complex);
    if complex_bound && call.op != Op::Clamp {
        return Err(Rejection::ClampComplex.into());
    }
    let mut result = of.dtype();
    if result.category() < Category::Floating {
        result = iterator::result_type(inputs);
        let own = call.target()?.is_some_and(|target| matches!(call.args[0], Operand::Tensor(id) if id == target));
        if own && result != of.dtype() {
            return Err(Rejection::CannotCast { from: result, to: of.dtype().cpp_name() }.into());
        }
    }
    if result.category() == Category::Complex {
        return Err(Rejection::ClampComplex.into());
    }
    let of = converted(machine, of, result);
    let plan = Plan::typed(machine, call, &[of], (result, result), Casting::Exact)?;
    plan.prepare(machine, call)?;
    let bounds =
        inputs[1..].iter().filter_map(|input| if let Input::Number(bound) = input { Some(*bound) } else { None });
    let bounds: Vec<Scalar> = bounds.collect();
    // Every bound is looked at in double precision first: one that is NaN makes everything NaN.
    for bound in &bounds {
        check_held(*bound, DType::Float64)?;
    }
    let nan = |bound: &Scalar| matches!(bound, Scalar::Float(value) if value.is_nan());
    if bounds.len() == 2 && bounds.iter().any(nan) {
        return Ok(plan);
    }
    let name = match (bounds.len(), bound(machine, call, 1)?.is_some() && call.op != Op::ClampMax) {
        (2, _) => "clamp_scalar_cpu",
        (_, true) => "clamp_min_scalar_cpu",
        _ => "clamp_max_scalar_cpu",
    };
    check_dtype(name, result, |dtype| matches!(dtype.category(), Category::Integral | Category::Floating))?;
    for bound in bounds {
        check_held(bound, result)?;
    }
    Ok(plan)
}

fn greatest<T: RealNumber>(a: T, b: T) -> T {
    if is_nan(b) || (a < b && !is_nan(a)) { b } else { a }
}

fn least<T: RealNumber>(a: T, b: T) -> T {
    if is_nan(b) || (b < a && !is_nan(a)) { b } else { a }
}

fn is_nan<T: RealNumber>(value: T) -> bool {
    value.partial_cmp(&value).is_none()
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
    let nan_equals_nan = call.flag(4)?;
    let plan = Plan::typed(machine, call, &inputs, (first, DType::Bool), Casting::Any)?;
    let operands = Operands::new(call.op, inputs, plan.shape.clone(), Scalar::Int(1));
    let close = Tolerance { relative, absolute, nan_equals_nan }.each(machine, &operands);
    let slot = plan.deliver(machine, bool::wrap(close));
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
    pub relative: f64,
    /// Beside that.
    pub absolute: f64,
    /// True if NaN is close to NaN.
    pub nan_equals_nan: bool,
}

impl Tolerance {
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
