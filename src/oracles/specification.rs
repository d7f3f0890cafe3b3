//! One case against one reply: does every expectation hold?

use crate::adapter::{Capability, Hello};
use crate::case::{Case, Expectation, Expected, ExpectedRejection};
use crate::closeness::same_bits;
use crate::difference::class_of;
use crate::error::Class;
use crate::program::{Input, Outcome, Program, Rejected, Reply, StepOutcome, StorageRef, TensorValue, Value, ValueRef};
use crate::tensor::{Layout, Scalar, ScalarType, Shape, shape::bracketed};

use crate::{Aspect, Difference, UNKNOWN, format};

/// The value of `by` in a difference from the specification.
pub const SPECIFICATION: &str = "specification";

/// Everything in which a reply is not what the case expects; empty if the case holds.
pub fn judge(case: &Case, hello: &Hello, reply: &Reply) -> Vec<Difference> {
    let mut judge = Judge { program: &case.program, hello, reply, differences: Vec::new() };
    for (value, expectation) in case.expected_in(hello.release()) {
        judge.value(value, expectation);
    }
    judge.differences
}

/// Everything in which a reply is not what the document says: what the case expects, unless `documented` has something
/// else. What other releases do instead is no excuse here.
pub fn against_document(case: &Case, hello: &Hello, reply: &Reply) -> Vec<Difference> {
    let mut judge = Judge { program: &case.program, hello, reply, differences: Vec::new() };
    for (value, expectation) in case.document_says() {
        judge.value(value, expectation);
    }
    judge.differences
}

/// The aspects that a case expects something of, and that an implementation does not tell: whatever it did there, nothing
/// was seen.
pub fn untold(case: &Case, hello: &Hello, reply: &Reply) -> Vec<Aspect> {
    let has = |capability| hello.capabilities.contains(&capability);
    let raises = reply.steps.iter().any(|step| matches!(&step.outcome, Outcome::Rejected(it) if it.raises.is_some()));
    let is_told = |aspect: Aspect| match aspect {
        Aspect::Strides | Aspect::Aliasing => has(Capability::Strides),
        Aspect::Warnings => has(Capability::Warnings),
        Aspect::Message => has(Capability::Messages),
        Aspect::Raises => has(Capability::Messages) && raises,
        Aspect::Values => !has(Capability::NoValues),
        Aspect::Outcome | Aspect::Shape | Aspect::Dtype | Aspect::Class => true,
    };
    let expected: Vec<Aspect> = case.document_says().flat_map(|(_, expectation)| expectation.aspects()).collect();
    Aspect::ALL.into_iter().filter(|aspect| expected.contains(aspect) && !is_told(*aspect)).collect()
}

/// Returns whether the statements of the document hold of a reply, for a case whose document says something else than
/// `expect`.
pub fn documented_holds(case: &Case, hello: &Hello, reply: &Reply) -> bool {
    let mut judge = Judge { program: &case.program, hello, reply, differences: Vec::new() };
    for (value, expectation) in &case.documented {
        judge.value(*value, expectation);
    }
    judge.differences.is_empty()
}

struct Judge<'a> {
    program: &'a Program,
    hello: &'a Hello,
    reply: &'a Reply,
    differences: Vec<Difference>,
}

impl Judge<'_> {
    fn value(&mut self, value: ValueRef, expectation: &Expectation) {
        let name = format::name(self.program, value);
        match value.value.checked_sub(self.program.inputs.len()) {
            None => self.input(&name, value.value, expectation),
            Some(step) => match self.reply.steps.get(step) {
                Some(outcome) => self.step(&name, value.part, outcome, expectation),
                None => self.differ(&name, Aspect::Outcome, "an outcome".to_owned(), "none".to_owned()),
            },
        }
    }

    fn input(&mut self, name: &str, input: usize, expectation: &Expectation) {
        let before = self.held(input);
        let after = match self.reply.inputs.get(input) {
            Some(after) => after,
            // Where no step writes to anything, the inputs are not told of: they are what they were.
            None if !self.program.mutates() => &before,
            None => {
                self.differ(name, Aspect::Outcome, "its state after the program".to_owned(), "none".to_owned());
                return;
            }
        };
        match expectation {
            Expectation::Unchanged => {
                let data = before.data == after.data || self.has(Capability::NoValues);
                if (before.dtype, &before.shape) != (after.dtype, &after.shape) || !data {
                    let was = format!("unchanged: {}", format::tensor(&before));
                    self.differ(name, Aspect::Values, was, format::tensor(after));
                }
            }
            Expectation::Value(expected) => self.tensor(name, after, expected),
            other => {
                let expected = format::expectation(self.program, other);
                self.differ(name, Aspect::Outcome, expected, format::tensor(after));
            }
        }
    }

    /// An input as the program starts with it.
    fn held(&self, input: usize) -> TensorValue {
        let Input { dtype, shape, data, .. } = &self.program.inputs[input];
        TensorValue {
            dtype: *dtype,
            shape: shape.clone(),
            data: data.clone(),
            strides: Some(Layout::contiguous(shape.clone()).strides),
            storage: Some(StorageRef { id: input, offset: 0 }),
        }
    }

    fn step(&mut self, name: &str, part: Option<usize>, outcome: &StepOutcome, expectation: &Expectation) {
        match (expectation, &outcome.outcome) {
            (Expectation::Rejected(expected), Outcome::Rejected(rejected)) => self.rejection(name, rejected, expected),
            (Expectation::Nothing, Outcome::Value(Value::Nothing)) => {}
            (Expectation::Value(expected), Outcome::Value(value)) => {
                match (value, part) {
                    (Value::Tensor(tensor), None) => self.tensor(name, tensor, expected),
                    (Value::Tensors(tensors), Some(part)) if part < tensors.len() => {
                        self.tensor(name, &tensors[part], expected);
                    }
                    (Value::Sizes(sizes), None) if expected.shape.is_some() => self.shape(name, sizes, expected),
                    (Value::Dtype(dtype), None) if expected.dtype.is_some() => self.dtype(name, *dtype, expected),
                    (Value::Number(number), None) if expected.number.is_some() => self.number(name, *number, expected),
                    // A step that is expected to do no more than warn, or not to.
                    (Value::Nothing | Value::Tensors(_), None) if *expected == only_warnings(expected) => {}
                    (value, _) => {
                        let wanted = format::expectation(self.program, expectation);
                        self.differ(name, Aspect::Outcome, wanted, format::value(value));
                    }
                }
                self.warnings(name, outcome, expected);
            }
            (_, outcome) => {
                let wanted = format::expectation(self.program, expectation);
                self.differ(name, Aspect::Outcome, wanted, format::outcome(outcome));
            }
        }
    }

    fn rejection(&mut self, name: &str, rejected: &Rejected, expected: &ExpectedRejection) {
        if let (Some(wanted), Some(raised)) = (&expected.raises, &rejected.raises)
            && self.has(Capability::Messages)
            && wanted != raised
        {
            self.differ(name, Aspect::Raises, wanted.clone(), raised.clone());
        }
        let class = class_of(rejected);
        if expected.class.is_some() && expected.class != class {
            let text = |class: Option<Class>| class.map_or(UNKNOWN, Class::name).to_owned();
            self.differ(name, Aspect::Class, text(expected.class), format!("{}: {}", text(class), rejected.message));
        }
        let Some(message) = &expected.message else { return };
        if self.has(Capability::Messages) && *message != rejected.message {
            self.differ(name, Aspect::Message, message.clone(), rejected.message.clone());
        }
    }

    fn tensor(&mut self, name: &str, tensor: &TensorValue, expected: &Expected) {
        if let Some(dtype) = expected.dtype.filter(|dtype| *dtype != tensor.dtype.into()) {
            self.differ(name, Aspect::Dtype, dtype.to_string(), tensor.dtype.to_string());
        }
        if let Some(shape) = expected.shape.as_ref().filter(|shape| **shape != tensor.shape) {
            self.differ(name, Aspect::Shape, shape.to_string(), tensor.shape.to_string());
        } else if let (Some(values), Some(shape)) = (&expected.values, &expected.shape) {
            let observed = tensor.scalars();
            let fits = observed.len() == values.len()
                && values
                    .iter()
                    .zip(&observed)
                    .all(|(wanted, got)| equals(*wanted, *got, tensor.dtype, expected.decimals));
            if !fits && !self.has(Capability::NoValues) {
                let (wanted, got) = (format::elements(values, shape), format::elements(&observed, shape));
                self.differ(name, Aspect::Values, wanted, got);
            }
        }
        if expected.number.is_some() {
            self.differ(name, Aspect::Outcome, "a number".to_owned(), format::tensor(tensor));
        }
        self.layout(name, tensor, expected);
    }

    fn layout(&mut self, name: &str, tensor: &TensorValue, expected: &Expected) {
        if !self.has(Capability::Strides) {
            return;
        }
        if let Some(strides) = &expected.strides {
            let observed = tensor.strides.as_deref();
            if observed != Some(strides) {
                let got = observed.map_or("none".to_owned(), bracketed);
                self.differ(name, Aspect::Strides, bracketed(strides), got);
            }
        }
        let storage = tensor.storage.map(|storage| storage.id);
        if let Some(base) = expected.view_of {
            let shared = self.storage_of(base);
            if storage.is_none() || storage != shared {
                let wanted = format!("the storage of {}", format::name(self.program, base));
                self.differ(name, Aspect::Aliasing, wanted, self.storage_name(storage));
            }
        }
        if expected.fresh && storage.is_none_or(|id| id < self.program.inputs.len()) {
            self.differ(name, Aspect::Aliasing, "a storage of its own".to_owned(), self.storage_name(storage));
        }
    }

    fn shape(&mut self, name: &str, sizes: &[i64], expected: &Expected) {
        let wanted = expected.shape.as_ref().map(Shape::sizes).unwrap_or_default();
        if wanted != sizes {
            self.differ(name, Aspect::Shape, bracketed(wanted), bracketed(sizes));
        }
    }

    fn dtype(&mut self, name: &str, dtype: ScalarType, expected: &Expected) {
        if let Some(wanted) = expected.dtype.filter(|wanted| *wanted != dtype) {
            self.differ(name, Aspect::Dtype, wanted.to_string(), dtype.to_string());
        }
    }

    fn number(&mut self, name: &str, number: Scalar, expected: &Expected) {
        let wanted = expected.number.expect("the caller looked");
        if wanted != number {
            self.differ(name, Aspect::Values, wanted.to_string(), number.to_string());
        }
    }

    fn warnings(&mut self, name: &str, outcome: &StepOutcome, expected: &Expected) {
        let (warnings, categories) = (&outcome.warnings, &outcome.categories);
        if let Some(wanted) =
            expected.categories.as_ref().filter(|wanted| !categories.is_empty() && *wanted != categories)
            && self.has(Capability::Warnings)
        {
            self.differ(name, Aspect::Warnings, wanted.join(", "), categories.join(", "));
        }
        let Some(wanted) = &expected.warnings else { return };
        if self.has(Capability::Warnings) && wanted != warnings {
            self.differ(name, Aspect::Warnings, format::warnings(wanted), format::warnings(warnings));
        }
    }

    fn storage_of(&self, value: ValueRef) -> Option<usize> {
        let Some(step) = value.value.checked_sub(self.program.inputs.len()) else { return Some(value.value) };
        let tensors = self.reply.steps.get(step)?.outcome.tensors();
        Some(tensors.get(value.part.unwrap_or(0))?.storage?.id)
    }

    fn storage_name(&self, id: Option<usize>) -> String {
        match id {
            None => "no storage told".to_owned(),
            Some(id) => match self.program.inputs.get(id) {
                Some(input) => format!("the storage of {}", input.name),
                None => "a storage of its own".to_owned(),
            },
        }
    }

    fn has(&self, capability: Capability) -> bool {
        self.hello.capabilities.contains(&capability)
    }

    fn differ(&mut self, name: &str, aspect: Aspect, expected: String, observed: String) {
        let by = SPECIFICATION.to_owned();
        self.differences.push(Difference { value: name.to_owned(), aspect, by, expected, observed });
    }
}

fn only_warnings(expected: &Expected) -> Expected {
    let (warnings, categories) = (expected.warnings.clone(), expected.categories.clone());
    Expected { warnings, categories, ..Expected::default() }
}

/// Returns whether an element is the expected one: the same number in the element's dtype, or one that rounds to the
/// printed decimals.
fn equals(wanted: Scalar, got: Scalar, dtype: crate::tensor::DType, decimals: Option<u32>) -> bool {
    match (wanted, got, decimals) {
        (Scalar::Float(_) | Scalar::Int(_), Scalar::Float(got), Some(decimals)) => {
            let wanted = match wanted {
                Scalar::Int(value) => value as f64,
                Scalar::Float(value) => value,
                _ => unreachable!("the pattern takes integers and floats"),
            };
            if !wanted.is_finite() || !got.is_finite() {
                return same_bits(Scalar::Float(wanted), Scalar::Float(got));
            }
            // Half a unit of the last decimal, and what the dtype itself can be off by.
            let unit = 10f64.powi(-(decimals as i32));
            (wanted - got).abs() <= 0.5 * unit + got.abs() * f64::from(f32::EPSILON)
        }
        _ => crate::with_element_type!(dtype, T => {
            use crate::tensor::Element;
            if wanted.category() > dtype.category() {
                return false;
            }
            same_bits(T::from_scalar(wanted).to_scalar(), got)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    #[test]
    fn printed_decimals_say_nothing_of_infinities() {
        let fits = |wanted, got| equals(Scalar::Float(wanted), Scalar::Float(got), DType::Float32, Some(4));
        assert!(fits(0.3333, 1.0 / 3.0));
        assert!(fits(f64::INFINITY, f64::INFINITY));
        assert!(fits(f64::NAN, f64::NAN));
        for (wanted, got) in
            [(0.0, f64::INFINITY), (f64::INFINITY, 0.0), (f64::INFINITY, -f64::INFINITY), (1.0, f64::NAN)]
        {
            assert!(!fits(wanted, got), "{wanted} {got}");
        }
    }
}
