//! Two implementations on one program: the oracle that asks whether every outcome of one equals that of the other.

use std::cell::LazyCell;

use crate::adapter::{Capability, Hello};
use crate::ops::{Op, OpInfo};
use crate::program::{Outcome, Program, Reply, TensorValue, Value};
use crate::reference::ask_given;
use crate::relaxations::Freedom;

use crate::closeness::{Extent, first_other, same_bits};
use crate::difference::{ROUNDED_OTHERWISE, class_of};
use crate::format::label;
use crate::modes::Modes;
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
    compared(program, expected, observed, Modes::of, &|| expected.hello.name.clone())
}

/// Everything in which an implementation differs from the reference. `expected` is what the reference makes of the program
/// by itself. Where that is not what was observed, it may be that two right results within a tolerance have become the
/// operands of another step: the reference is then asked again, and given what the implementation has.
pub fn from_reference(program: &Program, expected: Side, observed: Side) -> Vec<Difference> {
    let by = || expected.hello.name.clone();
    let differences = compared(program, expected, observed, Modes::of_given, &by);
    if differences.is_empty() || program.steps.len() == 1 {
        return differences;
    }
    let told = !observed.hello.capabilities.contains(&Capability::NoValues);
    match told.then(|| ask_given(program, observed.reply)) {
        Some(Ok(given)) => compared(program, Side { reply: &given, ..expected }, observed, Modes::of_adopted, &by),
        _ => compare(program, expected, observed),
    }
}

/// The same of the program of a case, whose outcome is pinned where it is not as expected: no relaxation applies.
pub fn compare_case(program: &Program, expected: Side, observed: Side) -> Vec<Difference> {
    compared(program, expected, observed, Modes::by_table, &|| expected.hello.name.clone())
}

/// The release oracle: everything in which two releases of one library differ, or one release under two capability levels
/// of the processor or two numbers of threads, bit for bit. Two libraries are compared as the table asks, since each has an
/// order of sums and roundings of its own. One library has no second one to point to, so that another rounding shows here,
/// too; it says that it is one, and stands after everything else. What any element is right for, such as memory that nothing
/// was written to, says nothing of a release.
pub fn between_releases(program: &Program, expected: Side, observed: Side) -> Vec<Difference> {
    let by = || label(expected.hello);
    if expected.hello.name != observed.hello.name {
        return compared(program, expected, observed, Modes::of, &by);
    }
    let mut differences = compared(program, expected, observed, Modes::bits, &by);
    if differences.iter().all(|difference| difference.aspect != Aspect::Values) {
        return differences;
    }
    let beyond = compared(program, expected, observed, Modes::of, &by);
    for difference in differences.iter_mut().filter(|difference| difference.aspect == Aspect::Values) {
        match beyond.iter().find(|other| other.aspect == Aspect::Values && other.value == difference.value) {
            Some(other) => *difference = other.clone(),
            None => difference.by.push_str(ROUNDED_OTHERWISE),
        }
    }
    differences.sort_by_key(|difference| difference.by.ends_with(ROUNDED_OTHERWISE));
    differences
}

fn compared(
    program: &Program,
    expected: Side,
    observed: Side,
    modes: fn(&Program, &Reply) -> Modes,
    by: &dyn Fn() -> String,
) -> Vec<Difference> {
    let modes = LazyCell::new(|| modes(program, expected.reply));
    let modes = &|| &*modes;
    let mut compare = Comparison { program, expected, observed, modes, by, step: None, differences: Vec::new() };
    for (at, step) in program.steps.iter().enumerate() {
        let (Some(wanted), Some(got)) = (expected.reply.steps.get(at), observed.reply.steps.get(at)) else {
            compare.differ(&step.name, Aspect::Outcome, "an outcome".to_owned(), "none".to_owned());
            continue;
        };
        if wanted.outcome.unsupported().or(got.outcome.unsupported()).is_some() {
            return compare.differences;
        }
        compare.step = Some(at);
        let before = compare.differences.len();
        compare.outcome(&step.name, step.op, program.inputs.len() + at, &wanted.outcome, &got.outcome);
        if compare.both(Capability::Warnings) && wanted.warnings != got.warnings && !modes().step(at).warnings {
            compare.differ(
                &step.name,
                Aspect::Warnings,
                format::warnings(&wanted.warnings),
                format::warnings(&got.warnings),
            );
        }
        // Whatever follows may follow from it.
        let decides =
            |difference: &Difference| matches!(difference.aspect, Aspect::Outcome | Aspect::Message | Aspect::Class);
        let lies = |difference: &Difference| matches!(difference.aspect, Aspect::Shape | Aspect::Aliasing);
        let new = &compare.differences[before..];
        let open = || modes().step(at);
        if (new.iter().any(decides) && open().outcome) || (new.iter().any(lies) && open().geometry) {
            compare.differences.truncate(before);
            return compare.differences;
        }
    }
    let inputs = program.inputs.iter().enumerate();
    compare.step = None;
    for (((at, input), wanted), got) in inputs.zip(&expected.reply.inputs).zip(&observed.reply.inputs) {
        compare.tensor(&format!("{} after", input.name), (at, 0), None, wanted, got);
    }
    if expected.reply.inputs.len() != observed.reply.inputs.len() {
        compare.differ("the inputs", Aspect::Outcome, "their state after the program".to_owned(), "none".to_owned());
    }
    compare.differences
}

struct Comparison<'a> {
    program: &'a Program,
    expected: Side<'a>,
    observed: Side<'a>,
    /// The closeness of the values. It is called only if something differs, which most do not.
    modes: &'a dyn Fn() -> &'a Modes,
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
                    let open = || self.freedom().message && class_of(wanted) == class_of(got);
                    // Of an empty argument that ends a message a space is left, which adapters take away.
                    let [expected, observed] = [wanted, got].map(|rejected| rejected.message.trim_end());
                    if expected != observed && !open() {
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
                self.tensor(name, (at, 0), Some(info), wanted, got);
            }
            (Value::Tensors(wanted), Value::Tensors(got)) if wanted.len() == got.len() => {
                for (part, (wanted, got)) in wanted.iter().zip(got).enumerate() {
                    self.tensor(&format!("{name}.{part}"), (at, part), Some(info), wanted, got);
                }
            }
            (Value::Number(a), Value::Number(b)) if same_bits(*a, *b) => {}
            (Value::Sizes(a), Value::Sizes(b)) if a == b => {}
            (Value::Dtype(a), Value::Dtype(b)) if a == b => {}
            (Value::Dtype(a), Value::Dtype(b)) => self.differ(name, Aspect::Dtype, a.to_string(), b.to_string()),
            (Value::Nothing, Value::Nothing) => {}
            (wanted, got) => self.differ(name, Aspect::Outcome, format::value(wanted), format::value(got)),
        }
    }

    /// Compares a value, or one of several results that it has.
    fn tensor(
        &mut self,
        name: &str,
        value: (usize, usize),
        made: Option<&OpInfo>,
        wanted: &TensorValue,
        got: &TensorValue,
    ) {
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
            && let Some(at) = self.first_other(value, wanted, got)
        {
            let [expected, observed] = [wanted, got].map(|tensor| format::tensor_at(tensor, at));
            self.differ(name, Aspect::Values, expected, observed);
        }
        let layout = made.is_none_or(OpInfo::layout_is_specified);
        if !self.both(Capability::Strides) {
            return;
        }
        if wanted.strides != got.strides && (layout || !strides_agree(wanted, got)) && !self.freedom().strides {
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

    /// What the step that is compared leaves open.
    fn freedom(&self) -> Freedom {
        self.step.map_or(Freedom::NONE, |at| (self.modes)().step(at))
    }

    /// Returns the row-major position of the first element that differs.
    fn first_other(&self, (value, part): (usize, usize), wanted: &TensorValue, got: &TensorValue) -> Option<usize> {
        let mode = (self.modes)().value(value).of_part(part);
        first_other(mode, if mode.asks_extent() { self.extent() } else { Extent::NONE }, wanted, got)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Compare;
    use crate::tensor::DType;

    #[test]
    fn releases_of_one_library_are_compared_bit_for_bit() {
        use crate::adapter::Implementation;
        use crate::ops::Form;
        use crate::program::{Arg, Input, Step, StepOutcome, ValueRef};
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
        let differences = between_releases(&program, expected, observed);
        assert!(matches!(&differences[..], [rounding] if rounding.by.ends_with(ROUNDED_OTHERWISE)), "{differences:?}");
        let far = reply(1.5);
        let differences = between_releases(&program, expected, Side { hello: &hello, reply: &far });
        assert!(matches!(&differences[..], [wrong] if !wrong.by.ends_with(ROUNDED_OTHERWISE)), "{differences:?}");
        assert_eq!(between_releases(&program, expected, elsewhere), []);
        assert_eq!(compare(&program, expected, observed), []);
    }

    /// Elements of which any is right are no difference between releases. Their dtype is.
    #[test]
    fn elements_that_are_open_say_nothing_of_a_release() {
        use crate::adapter::Implementation;
        use crate::reference::Reference;

        let program = "{x: {shape: [1]}, r: {normal: [x, x]}}";
        let program = crate::case::load_program(std::path::Path::new("test.yaml"), program).unwrap();
        let (hello, old) = (Reference.hello(), Reference.run(&program));
        let changed = |change: &dyn Fn(&mut TensorValue)| {
            let mut new = old.clone();
            let Outcome::Value(Value::Tensor(tensor)) = &mut new.steps[0].outcome else { panic!("a tensor") };
            change(tensor);
            let sides = [&old, &new].map(|reply| Side { hello: &hello, reply });
            between_releases(&program, sides[0], sides[1]).len()
        };
        assert_eq!(changed(&|tensor| tensor.data.iter_mut().for_each(|byte| *byte ^= 0x5a)), 0);
        assert_eq!(changed(&|tensor| tensor.dtype = DType::Int32), 1);
    }

    /// What a fuzz target found: libtorch adds the shares of 166 elements that are one, in an order of its own.
    #[test]
    fn shares_of_a_gradient_are_added_in_any_order() {
        use crate::adapter::Implementation;
        use crate::reference::Reference;

        let program = "{x: {shape: [2, 1], requires_grad: true}, e: {expand: [x, [2, 166]]}, m: {amax: [e], dim: [0, 1]}, \
                       b: {backward: [m]}, g: {grad: [x]}}";
        let program = crate::case::load_program(std::path::Path::new("test.yaml"), program).unwrap();
        let modes = Modes::of(&program, &Reference.run(&program));
        (0..3).for_each(|value| assert_eq!(modes.value(value).compare, Compare::Bits));
        assert_eq!(modes.value(program.inputs.len() + program.steps.len() - 1).compare, Compare::Tolerance);
    }

    /// A sum that is a unit off is right, and so is what is made of it; what is not made of it is wrong.
    #[test]
    fn a_step_is_judged_by_what_it_was_given() {
        use crate::adapter::Implementation;
        use crate::reference::Reference;

        let program = "{x: {values: [0.5, 2.5]}, s: {sum: [x]}, r: {floor: [s]}}";
        let program = crate::case::load_program(std::path::Path::new("test.yaml"), program).unwrap();
        let (hello, expected) = (Reference.hello(), Reference.run(&program));
        let differences = |sum: f32, floor: f32| {
            let mut observed = expected.clone();
            for (step, number) in observed.steps.iter_mut().zip([sum, floor]) {
                let Outcome::Value(Value::Tensor(tensor)) = &mut step.outcome else { panic!("a tensor") };
                tensor.data = number.to_ne_bytes().to_vec();
            }
            let sides = [&expected, &observed].map(|reply| Side { hello: &hello, reply });
            from_reference(&program, sides[0], sides[1])
                .into_iter()
                .map(|difference| difference.value)
                .collect::<Vec<_>>()
        };
        let below = 3.0f32.next_down();
        assert_eq!(differences(3.0, 3.0), [] as [&str; 0]);
        assert_eq!(differences(below, 2.0), [] as [&str; 0]);
        assert_eq!(differences(below, 1.0), ["r"]);
        assert_eq!(differences(3.0, 2.0), ["r"], "no unit is off");
        assert_eq!(differences(4.0, 4.0), ["s"], "far from the sum");
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
}
