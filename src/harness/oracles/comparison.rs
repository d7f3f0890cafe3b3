//! Two implementations on one program: the oracle that asks whether every outcome of one equals that of the other.

use std::cell::LazyCell;

use crate::adapter::{Capability, Hello};
use crate::ops::{Compare, Family, Kernel, Op, OpInfo};
use crate::program::{Outcome, Program, Reply, Step, TensorValue, Value};
use crate::tensor::{Buffer, Category, DType, Scalar};

use crate::format::label;
use crate::model::difference::class_of;
use crate::oracles::specification::same_bits;
use crate::{Aspect, Difference, format};

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The declaration of the implementation.
    pub hello: &'a Hello,
    /// The reply of the implementation.
    pub reply: &'a Reply,
}

/// Everything in which `observed` differs from `expected`, as closely as the table of operations asks. Nothing is compared
/// from the first step on that either side does not support: what follows may be made of its result, may be written over
/// by it, and counts its storages. Two failures are never agreement.
pub fn compare(program: &Program, expected: Side, observed: Side) -> Vec<Difference> {
    compared(program, expected, observed, false, &|| expected.hello.name.clone())
}

/// The release oracle: everything in which two releases of one library differ, or one release under two capability levels
/// of the processor or two numbers of threads, bit for bit. Two libraries are compared as the table asks, since each has an
/// order of sums and roundings of its own; one library has no second one to point to, so that what it leaves open shows
/// here, too, and is for whoever reads the finding.
pub fn between_releases(program: &Program, expected: Side, observed: Side) -> Vec<Difference> {
    compared(program, expected, observed, expected.hello.name == observed.hello.name, &|| label(expected.hello))
}

fn compared(program: &Program, expected: Side, observed: Side, bits: bool, by: &dyn Fn() -> String) -> Vec<Difference> {
    let modes = LazyCell::new(|| match bits {
        true => vec![Compare::Bits; program.inputs.len() + program.steps.len()],
        false => modes(program, expected.reply),
    });
    let mode = &|value: usize| modes[value];
    let mut compare = Comparison { program, expected, observed, mode, by, step: None, differences: Vec::new() };
    for (at, step) in program.steps.iter().enumerate() {
        let (Some(wanted), Some(got)) = (expected.reply.steps.get(at), observed.reply.steps.get(at)) else {
            compare.differ(&step.name, Aspect::Outcome, "an outcome".to_owned(), "none".to_owned());
            continue;
        };
        if wanted.outcome.unsupported().or(got.outcome.unsupported()).is_some() {
            return compare.differences;
        }
        compare.step = Some(at);
        compare.outcome(&step.name, step.op, program.inputs.len() + at, &wanted.outcome, &got.outcome);
        if compare.both(Capability::Warnings) && wanted.warnings != got.warnings {
            compare.differ(
                &step.name,
                Aspect::Warnings,
                format::warnings(&wanted.warnings),
                format::warnings(&got.warnings),
            );
        }
    }
    let inputs = program.inputs.iter().enumerate();
    compare.step = None;
    for (((at, input), wanted), got) in inputs.zip(&expected.reply.inputs).zip(&observed.reply.inputs) {
        compare.tensor(&format!("{} after", input.name), at, None, wanted, got);
    }
    if expected.reply.inputs.len() != observed.reply.inputs.len() {
        compare.differ("the inputs", Aspect::Outcome, "their state after the program".to_owned(), "none".to_owned());
    }
    compare.differences
}

/// The mode of comparison for each value of a program: as its operation says, and no closer than the values that it is
/// computed from. A value that is computed from an inexact one, by more than inspection, is within a tolerance; so are
/// gradients, which are computed from everything. Integers and bools are the same in any order, or different.
fn modes(program: &Program, expected: &Reply) -> Vec<Compare> {
    let mut modes = vec![Compare::Bits; program.inputs.len()];
    // The first name of each tensor: the result of a step that writes to one is that tensor.
    let mut names: Vec<usize> = (0..program.inputs.len()).collect();
    // The storages of each, which others may look at: an input has the one of its own number.
    let mut storages: Vec<Vec<usize>> = (0..program.inputs.len()).map(|input| vec![input]).collect();
    for (at, step) in program.steps.iter().enumerate() {
        let info = step.op.info();
        let used = step.uses().filter_map(|used| modes.get(used.value)).copied().max().unwrap_or(Compare::Bits);
        let used = if info.family() == Family::Autograd { modes.iter().copied().max().unwrap_or(used) } else { used };
        // In 16 bits every step of a formula shows. What equals an extreme has a share of its gradient, a fraction.
        let narrow = |tensor: &TensorValue| matches!(tensor.dtype, DType::Float16 | DType::Bfloat16);
        let shares = |step: &Step| step.op.info().kernel == Kernel::Extreme;
        let tensors = expected.steps.get(at).map_or(&[][..], |outcome| outcome.outcome.tensors());
        let rounds = tensors.iter().any(narrow) || program.steps[..at].iter().any(shares);
        let used = if info.family() == Family::Autograd && rounds { Compare::Tolerance } else { used };
        let passed = if info.family() == Family::Views || used == Compare::Bits { used } else { Compare::Tolerance };
        let whole = |tensor: &TensorValue| tensor.dtype.category() < Category::Floating;
        let exact = !tensors.is_empty() && tensors.iter().all(whole);
        let mode = if exact { Compare::Bits } else { step.compare().max(passed) };
        let own = names.len();
        let name = step.target().and_then(|target| names.get(target.value).copied()).unwrap_or(own);
        let place = match step.target() {
            Some(target) => storages.get(target.value).cloned().unwrap_or_default(),
            None => Vec::new(),
        };
        let others = names.iter().zip(&storages).zip(&mut modes);
        let seen = |storages: &[usize]| storages.iter().any(|storage| place.contains(storage));
        for (_, written) in others.filter(|((other, own), _)| **other == name || seen(own)) {
            *written = mode.max(*written);
        }
        names.push(name);
        storages.push(tensors.iter().filter_map(|tensor| tensor.storage.map(|storage| storage.id)).collect());
        modes.push(mode);
    }
    // The result of a step that writes to a value is that value, and what is written to it later is written to both.
    for (at, step) in program.steps.iter().enumerate().rev() {
        let mode = modes[program.inputs.len() + at];
        if let Some(written) = step.target().and_then(|target| modes.get_mut(target.value)) {
            *written = mode.max(*written);
        }
    }
    modes
}

/// The bound on the precision that a step can lose: sums round their terms, however small the result is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The largest magnitude among what is summed.
    size: f64,
    /// The number of terms in a sum, at most.
    terms: f64,
}

impl Extent {
    pub(super) const NONE: Extent = Extent { size: 0.0, terms: 1.0 };

    /// That of step `at`: of its operands; of everything there is where gradients flow; of products where there are some.
    pub(super) fn of(program: &Program, reply: &Reply, at: usize) -> Extent {
        let step = &program.steps[at];
        let info = step.op.info();
        let inputs = program.inputs.len();
        // A view, or a copy, is as close as what it is made of.
        if let (Family::Views, Some(made_of)) = (info.family(), step.uses().next())
            && let Some(made_at) = made_of.value.checked_sub(inputs).filter(|made_at| *made_at < at)
        {
            return Extent::of(program, reply, made_at);
        }
        let measure = |value: usize| -> (f64, usize) {
            let largest = |scalars: Vec<Scalar>| scalars.into_iter().map(magnitude).fold(0.0, f64::max);
            match (program.inputs.get(value), value.checked_sub(inputs).and_then(|step| reply.steps.get(step))) {
                (Some(input), _) => {
                    let elements = Buffer::from_bytes(input.dtype, &input.data).map(|buffer| buffer.scalars());
                    (largest(elements.unwrap_or_default()), input.shape.numel())
                }
                (None, Some(step)) => {
                    let tensors = step.outcome.tensors().iter();
                    tensors.fold((0.0, 0), |(size, count): (f64, usize), tensor| {
                        (size.max(largest(tensor.scalars())), count.max(tensor.shape.numel()))
                    })
                }
                (None, None) => (0.0, 0),
            }
        };
        let measured: Vec<(f64, usize)> = match info.family() {
            Family::Autograd => (0..inputs + at).map(measure).collect(),
            _ => step.uses().map(|used| measure(used.value)).collect(),
        };
        let count = measured.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let made = reply.steps.get(at).map_or(&[][..], |step| step.outcome.tensors());
        let made = made.iter().map(|tensor| tensor.shape.numel()).max().unwrap_or(1).max(1);
        let sizes = measured.iter().map(|(size, _)| *size);
        match info.family() {
            Family::Products => Extent { size: sizes.map(|size| size.max(1.0)).product(), terms: count.max(1) as f64 },
            Family::Autograd => Extent { size: sizes.fold(0.0, f64::max), terms: count.max(1) as f64 },
            _ => Extent { size: sizes.fold(0.0, f64::max), terms: count.div_ceil(made).max(1) as f64 },
        }
    }

    /// The most by which two orders of summation can differ, in units of the precision: each of n - 1 additions rounds
    /// by half a unit of the sum of the magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 4.2), and
    /// a few more steps go before and after it. What is summed in a wider dtype is rounded only there.
    fn loss(self, dtype: DType) -> f64 {
        self.additions(dtype) * self.terms * self.size
    }

    /// The same relative to the sum of the magnitudes.
    fn additions(self, dtype: DType) -> f64 {
        let wider = matches!(dtype, DType::Float16 | DType::Bfloat16);
        4.0 + if wider { 0.0 } else { (self.terms - 1.0) / 2.0 }
    }
}

/// The magnitude of a number that is finite, else 0.
fn magnitude(number: Scalar) -> f64 {
    let size = match number {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Int(value) => (value as f64).abs(),
        Scalar::Float(value) => value.abs(),
        Scalar::Complex(value) => value.re.abs().max(value.im.abs()),
    };
    if size.is_finite() { size } else { 0.0 }
}

struct Comparison<'a> {
    program: &'a Program,
    expected: Side<'a>,
    observed: Side<'a>,
    /// The mode of comparison of a value. It is called only if values differ, which most do not.
    mode: &'a dyn Fn(usize) -> Compare,
    /// The name in differences of the side that is compared with.
    by: &'a dyn Fn() -> String,
    /// The step that is compared, before the inputs are.
    step: Option<usize>,
    differences: Vec<Difference>,
}

impl Comparison<'_> {
    fn outcome(&mut self, name: &str, op: Op, at: usize, wanted: &Outcome, got: &Outcome) {
        match (wanted, got) {
            (Outcome::Value(wanted), Outcome::Value(got)) => self.value(name, op, at, wanted, got),
            (Outcome::Rejected(wanted), Outcome::Rejected(got)) => {
                if self.both(Capability::Messages) {
                    if wanted.message != got.message {
                        self.differ(name, Aspect::Message, wanted.message.clone(), got.message.clone());
                    }
                } else if class_of(wanted) != class_of(got) {
                    self.differ(
                        name,
                        Aspect::Class,
                        format::outcome(&Outcome::Rejected(wanted.clone())),
                        got.message.clone(),
                    );
                }
            }
            (Outcome::Blocked(a), Outcome::Blocked(b)) if a == b => {}
            (wanted, got) => self.differ(name, Aspect::Outcome, format::outcome(wanted), format::outcome(got)),
        }
    }

    fn value(&mut self, name: &str, op: Op, at: usize, wanted: &Value, got: &Value) {
        let info = op.info();
        match (wanted, got) {
            (Value::Tensor(wanted), Value::Tensor(got)) => {
                self.tensor(name, at, Some(info), wanted, got);
            }
            (Value::Tensors(wanted), Value::Tensors(got)) if wanted.len() == got.len() => {
                for (part, (wanted, got)) in wanted.iter().zip(got).enumerate() {
                    self.tensor(&format!("{name}.{part}"), at, Some(info), wanted, got);
                }
            }
            (Value::Number(a), Value::Number(b)) if same_bits(*a, *b) => {}
            (Value::Sizes(a), Value::Sizes(b)) if a == b => {}
            (Value::Nothing, Value::Nothing) => {}
            (wanted, got) => self.differ(name, Aspect::Outcome, format::value(wanted), format::value(got)),
        }
    }

    fn tensor(&mut self, name: &str, value: usize, made: Option<&OpInfo>, wanted: &TensorValue, got: &TensorValue) {
        if wanted.dtype != got.dtype {
            self.differ(name, Aspect::Dtype, wanted.dtype.to_string(), got.dtype.to_string());
        }
        if wanted.shape != got.shape {
            self.differ(name, Aspect::Shape, wanted.shape.to_string(), got.shape.to_string());
            return;
        }
        if wanted.dtype == got.dtype
            && wanted.data != got.data
            && !self.either(Capability::NoValues)
            && let Some(at) = first_other((self.mode)(value), self.extent(), wanted, got)
        {
            let [expected, observed] = [wanted, got].map(|tensor| format::tensor_at(tensor, at));
            self.differ(name, Aspect::Values, expected, observed);
        }
        let layout = made.is_none_or(OpInfo::layout_is_specified);
        if !self.both(Capability::Strides) {
            return;
        }
        if wanted.strides != got.strides && (layout || !strides_agree(wanted, got)) {
            let text = |tensor: &TensorValue| format!("{:?}", tensor.strides.as_deref().unwrap_or_default());
            self.differ(name, Aspect::Strides, text(wanted), text(got));
        }
        if wanted.storage != got.storage {
            let text = |tensor: &TensorValue| match tensor.storage {
                Some(storage) => match self.program.inputs.get(storage.id) {
                    Some(input) => format!("the storage of {} from element {}", input.name, storage.offset),
                    None => format!("storage {} from element {}", storage.id, storage.offset),
                },
                None => "no storage told".to_owned(),
            };
            self.differ(name, Aspect::Aliasing, text(wanted), text(got));
        }
    }

    /// The extent of the step that is compared. What was written to an input can be of any step's.
    fn extent(&self) -> Extent {
        let of = |at: usize| Extent::of(self.program, self.expected.reply, at);
        match self.step {
            Some(at) => of(at),
            None => (0..self.program.steps.len()).map(of).fold(Extent::NONE, |extent, next| Extent {
                size: extent.size.max(next.size),
                terms: extent.terms.max(next.terms),
            }),
        }
    }

    fn both(&self, capability: Capability) -> bool {
        [self.expected, self.observed].iter().all(|side| side.hello.capabilities.contains(&capability))
    }

    fn either(&self, capability: Capability) -> bool {
        [self.expected, self.observed].iter().any(|side| side.hello.capabilities.contains(&capability))
    }

    fn differ(&mut self, name: &str, aspect: Aspect, expected: String, observed: String) {
        let by = (self.by)();
        self.differences.push(Difference { value: name.to_owned(), aspect, by, expected, observed });
    }
}

/// Returns whether strides agree apart from those of sizes of 1. The first gradient that arrives at a leaf may become its
/// gradient as it is, whatever such strides it has (`obeys_layout_contract`).
fn strides_agree(wanted: &TensorValue, got: &TensorValue) -> bool {
    let matter = |tensor: &TensorValue| -> Option<Vec<i64>> {
        let sizes = tensor.shape.sizes().iter();
        let strides = tensor.strides.as_ref()?.iter().zip(sizes);
        Some(strides.filter(|(_, size)| **size != 1).map(|(stride, _)| *stride).collect())
    };
    matter(wanted) == matter(got)
}

/// Returns whether two tensors of one dtype have the same elements, as this mode compares them.
pub(super) fn same_values(mode: Compare, extent: Extent, wanted: &TensorValue, got: &TensorValue) -> bool {
    first_other(mode, extent, wanted, got).is_none()
}

/// Returns the row-major position of the first element that differs.
fn first_other(mode: Compare, extent: Extent, wanted: &TensorValue, got: &TensorValue) -> Option<usize> {
    let dtype = wanted.dtype;
    let close = |a: Scalar, b: Scalar| {
        same_bits(a, b)
            || match mode {
                Compare::Bits => false,
                Compare::Ulps(ulps) => near(a, b, |a, b| within_ulps(a, b, dtype, ulps)),
                Compare::Tolerance => near(a, b, |a, b| within_tolerance(a, b, dtype, extent)),
            }
    };
    let (wanted, got) = (wanted.scalars(), got.scalars());
    let missing = (wanted.len() != got.len()).then_some(wanted.len().min(got.len()));
    wanted.iter().zip(&got).position(|(a, b)| !close(*a, *b)).or(missing)
}

fn near(a: Scalar, b: Scalar, near: impl Fn(f64, f64) -> bool) -> bool {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => near(a, b),
        (Scalar::Complex(a), Scalar::Complex(b)) => near(a.re, b.re) && near(a.im, b.im),
        _ => false,
    }
}

/// Within what the order of a sum can change: a few units of the dtype's precision, relative to the larger value, with
/// an absolute floor for sums that cancel. In double precision both sides round every term.
fn within_tolerance(a: f64, b: f64, dtype: DType, extent: Extent) -> bool {
    let (digits, _) = precision(dtype);
    let units: f64 = if digits == 53 { 256.0 } else { 16.0 };
    let most = (units.max(extent.additions(dtype)) * a.abs().max(b.abs()).max(1.0)).max(extent.loss(dtype));
    // Nothing is near an infinity.
    let finite = a.is_finite() && b.is_finite();
    same(a, b) || (finite && (a - b).abs() <= most * 2f64.powi(1 - digits))
}

/// At most so many numbers of the dtype apart. What is not finite, and the sign of a zero, must be the same.
fn within_ulps(a: f64, b: f64, dtype: DType, ulps: u32) -> bool {
    if same(a, b) || !a.is_finite() || !b.is_finite() || (a == 0.0 && b == 0.0) {
        return same(a, b);
    }
    let (digits, lowest) = precision(dtype);
    // The distance between neighbours at the larger of the two.
    let exponent = a.abs().max(b.abs()).log2().floor() as i32;
    (a - b).abs() <= f64::from(ulps) * f64::from((exponent + 1 - digits).max(lowest)).exp2()
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// The binary digits of the dtype's numbers, and the exponent of its smallest one.
fn precision(dtype: DType) -> (i32, i32) {
    match dtype {
        DType::Float16 => (11, -24),
        DType::Bfloat16 => (8, -133),
        DType::Float32 | DType::Complex64 => (24, -149),
        _ => (53, -1074),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_one_library_are_compared_bit_for_bit() {
        use crate::adapter::Implementation;
        use crate::ops::Form;
        use crate::program::{Arg, Input, StepOutcome, ValueRef};
        use crate::reference::Reference;
        use crate::tensor::Shape;

        let tensor = |value: f32| TensorValue {
            dtype: DType::Float32,
            shape: Shape::scalar(),
            data: value.to_le_bytes().to_vec(),
            strides: None,
            storage: None,
        };
        let reply = |value: f32| Reply {
            steps: vec![StepOutcome::of(Outcome::Value(Value::Tensor(tensor(value))))],
            inputs: Vec::new(),
        };
        let TensorValue { dtype, shape, data, .. } = tensor(1.0);
        let input = Input { name: "x".to_owned(), dtype, shape, data, requires_grad: false };
        let operand = Arg::Tensor(ValueRef { value: 0, part: None });
        let args = vec![operand.clone(), operand];
        let step = Step { name: "r".to_owned(), op: Op::Matmul, form: Form::Functional, args, out: None };
        let program = Program { inputs: vec![input], steps: vec![step] };
        let (old, new) = (reply(1.0), reply(1.0f32.next_up()));
        let (hello, other) = (Reference.hello(), Hello { name: "another".to_owned(), ..Reference.hello() });
        let (expected, observed) = (Side { hello: &hello, reply: &old }, Side { hello: &hello, reply: &new });
        let elsewhere = Side { hello: &other, reply: &new };
        assert_eq!(between_releases(&program, expected, observed).len(), 1);
        assert_eq!(between_releases(&program, expected, elsewhere), []);
        assert_eq!(compare(&program, expected, observed), []);
    }

    /// What a fuzz target found: libtorch adds the shares of 166 elements that are one, in an order of its own.
    #[test]
    fn shares_of_a_gradient_are_added_in_any_order() {
        use crate::adapter::Implementation;
        use crate::reference::Reference;

        let program = "{x: {shape: [2, 1], requires_grad: true}, e: {expand: [x, [2, 166]]}, m: {amax: [e], dim: [0, 1]}, \
                       b: {backward: [m]}, g: {grad: [x]}}";
        let program = crate::case::load_program(std::path::Path::new("test.yaml"), program).unwrap();
        let modes = modes(&program, &Reference.run(&program));
        assert_eq!(modes[..3], [Compare::Bits; 3]);
        assert_eq!(modes.last(), Some(&Compare::Tolerance));
    }

    #[test]
    fn nothing_is_compared_after_an_unsupported_step() {
        use crate::adapter::Implementation;
        use crate::reference::Reference;

        let program = "{x: {shape: [2]}, m: {mul: [x, 2]}, r: {add_: [x, 1]}, s: {sub: [r, 3]}}";
        let program = crate::case::load_program(std::path::Path::new("test.yaml"), program).unwrap();
        let (hello, ran) = (Reference.hello(), Reference.run(&program));
        let mut other = Reference.run(&program);
        let mut inputs = ran.inputs.clone();
        inputs[0].data.reverse();
        other.inputs = inputs;
        let differences = |a: &Reply, b: &Reply| {
            compare(&program, Side { hello: &hello, reply: a }, Side { hello: &hello, reply: b })
        };
        assert_eq!(differences(&ran, &other).len(), 1);
        other.steps[1].outcome = Outcome::Unsupported("add_".to_owned());
        other.steps[2].outcome = Outcome::Blocked(2);
        assert_eq!(differences(&ran, &other), []);
        assert_eq!(differences(&other, &ran), []);
        other.steps[0].outcome = Outcome::Blocked(0);
        assert_eq!(differences(&ran, &other).len(), 1, "what came before it is");
    }

    #[test]
    fn sums_of_more_may_differ_by_more() {
        let off = 1.0 + 40.0 * f64::from(f32::EPSILON);
        let extent = |size, terms| Extent { size, terms };
        assert!(!within_tolerance(1.0, off, DType::Float32, Extent::NONE));
        assert!(within_tolerance(1.0, off, DType::Float32, extent(10.0, 1.0)), "it cancelled");
        assert!(within_tolerance(1.0, off, DType::Float32, extent(1.0, 8.0)), "every term was rounded");
        assert!(!within_tolerance(1.0, f64::INFINITY, DType::Float32, extent(1.0, 8.0)));
    }

    #[test]
    fn units_in_the_last_place_are_those_of_the_dtype() {
        let next = f64::from(1f32.next_up());
        assert!(within_ulps(1.0, next, DType::Float32, 1));
        assert!(!within_ulps(1.0, next, DType::Float64, 1));
        assert!(!within_ulps(1.0, 1.0 + 2.5 * (next - 1.0), DType::Float32, 2));
        assert!(within_ulps(0.0, 5e-324, DType::Float64, 1), "neighbours among the subnormal numbers");
        assert!(!within_ulps(0.0, -0.0, DType::Float64, 9), "the sign of a zero counts");
        assert!(!within_ulps(f64::MAX, f64::INFINITY, DType::Float64, 9));
        assert!(within_ulps(f64::NAN, -f64::NAN, DType::Float64, 0));
    }
}
