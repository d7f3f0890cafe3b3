//! The mutations of one case.

use broadcheck::case::{Case, Expectation, Expected, ExpectedRejection};
use broadcheck::error::Class;
use broadcheck::program::{Outcome, Program, Reply, Value, ValueRef};
use broadcheck::tensor::{Buffer, DType, Scalar, ScalarType, Shape};

macro_rules! properties {
    ($($property:ident $name:literal),+ $(,)?) => {
        /// The property that a mutation changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Property {
            $($property),+
        }

        impl Property {
            pub const ALL: &[Property] = &[$(Property::$property),+];

            pub fn name(self) -> &'static str {
                match self { $(Property::$property => $name),+ }
            }
        }
    };
}

properties! {
    Outcome "outcome", Shape "shape", Dtype "dtype", Strides "strides", Values "values", Decimals "decimals",
    Aliasing "aliasing", Number "number", Warnings "warnings", Class "class", Message "message",
    Unchanged "unchanged", Documented "documented",
}

/// A case with one wrong statement.
pub struct Mutation {
    pub property: Property,
    /// The change, for a message.
    pub what: String,
    pub case: Case,
}

/// Every mutation of a case to which an implementation that passes it answered this.
pub fn mutations(case: &Case, reply: &Reply) -> Vec<Mutation> {
    let mut all = Vec::new();
    for (at, (value, expectation)) in case.expect.iter().enumerate() {
        let mut changes = Changes { program: &case.program, reply, value: *value, changed: Vec::new() };
        changes.of(expectation);
        all.extend(changes.changed.into_iter().map(|(property, expectation)| {
            let what = format!("of entry {at} becomes {expectation:?}");
            let mut case = case.clone();
            case.expect[at].1 = expectation;
            Mutation { property, what, case }
        }));
    }
    if !case.documented.is_empty() {
        all.push(right_after_all(case, reply));
    }
    all
}

/// The document says what happens, and the case still claims that it does not.
fn right_after_all(case: &Case, reply: &Reply) -> Mutation {
    let mut mutated = case.clone();
    for (value, expectation) in &mut mutated.documented {
        let step = value.value.checked_sub(case.program.inputs.len());
        *expectation = match step.map(|step| &reply.steps[step].outcome) {
            Some(Outcome::Rejected(rejected)) => Expectation::Rejected(ExpectedRejection {
                message: Some(rejected.message.clone()),
                ..Default::default()
            }),
            Some(Outcome::Value(Value::Nothing)) => Expectation::Nothing,
            Some(Outcome::Value(Value::Number(number))) => {
                Expectation::Value(Expected { number: Some(*number), ..Expected::default() })
            }
            Some(Outcome::Value(Value::Dtype(dtype))) => {
                Expectation::Value(Expected { dtype: Some(*dtype), ..Expected::default() })
            }
            Some(Outcome::Value(Value::Sizes(sizes))) => {
                let shape = Shape::new(sizes.clone()).ok();
                Expectation::Value(Expected { shape, ..Expected::default() })
            }
            Some(outcome) => {
                let tensor = &outcome.tensors()[value.part.unwrap_or(0)];
                let (shape, values) = (Some(tensor.shape.clone()), Some(tensor.scalars()));
                Expectation::Value(Expected { shape, dtype: Some(tensor.dtype.into()), values, ..Expected::default() })
            }
            None => Expectation::Unchanged,
        };
    }
    Mutation { property: Property::Documented, what: "says what happens".to_owned(), case: mutated }
}

/// Makes an expectation with one property changed.
type Vary<'a> = &'a dyn Fn(&dyn Fn(&mut Expected)) -> Expectation;

struct Changes<'a> {
    program: &'a Program,
    reply: &'a Reply,
    value: ValueRef,
    changed: Vec<(Property, Expectation)>,
}

impl Changes<'_> {
    fn of(&mut self, expectation: &Expectation) {
        let anything = Expected { shape: Some(Shape::scalar()), ..Expected::default() };
        match expectation {
            Expectation::Value(expected) => {
                let class = Some(Class::SizeMismatch);
                let message = Some("The size of tensor a (2) must match".to_owned());
                self.add(Property::Outcome, Expectation::Rejected(ExpectedRejection { class, message, raises: None }));
                if !self.is_nothing() {
                    self.add(Property::Outcome, Expectation::Nothing);
                }
                self.of_value(expected);
            }
            Expectation::Rejected(rejection) => {
                self.add(Property::Outcome, Expectation::Value(anything));
                self.add(Property::Outcome, Expectation::Nothing);
                self.of_rejection(rejection);
            }
            Expectation::Nothing => self.add(Property::Outcome, Expectation::Value(anything)),
            Expectation::Unchanged => {
                self.add(Property::Unchanged, Expectation::Nothing);
                self.of_unchanged();
            }
        }
    }

    /// Returns whether the step has no result, and is watched for its warnings.
    fn is_nothing(&self) -> bool {
        let step = self.value.value.checked_sub(self.program.inputs.len()).and_then(|step| self.reply.steps.get(step));
        step.is_some_and(|step| matches!(step.outcome, Outcome::Value(Value::Nothing)))
    }

    fn of_rejection(&mut self, rejection: &ExpectedRejection) {
        for &class in Class::ALL.iter().filter(|class| rejection.class != Some(**class)) {
            self.add(
                Property::Class,
                Expectation::Rejected(ExpectedRejection { class: Some(class), ..rejection.clone() }),
            );
        }
        for message in rejection.message.iter().flat_map(|message| texts(message)) {
            let message = Some(message);
            self.add(Property::Message, Expectation::Rejected(ExpectedRejection { message, ..rejection.clone() }));
        }
    }

    /// The input with another shape, another dtype, or another element.
    fn of_unchanged(&mut self) {
        let input = &self.program.inputs[self.value.value];
        let values = Buffer::from_bytes(input.dtype, &input.data).expect("whole elements").scalars();
        let (shape, values) = (Some(input.shape.clone()), Some(values));
        let held = Expected { shape, dtype: Some(input.dtype.into()), values, ..Expected::default() };
        let mut changes = Changes { changed: Vec::new(), ..*self };
        changes.of_value(&held);
        self.changed.extend(changes.changed.into_iter().map(|(_, expectation)| (Property::Unchanged, expectation)));
    }

    fn of_value(&mut self, expected: &Expected) {
        let vary = |change: &dyn Fn(&mut Expected)| {
            let mut expected = expected.clone();
            change(&mut expected);
            Expectation::Value(expected)
        };
        for sizes in expected.shape.iter().flat_map(|shape| sizes(shape.sizes())) {
            let Ok(shape) = Shape::new(sizes) else { continue };
            self.add(Property::Shape, vary(&|expected| expected.shape = Some(shape.clone())));
        }
        let dtypes = DType::ALL.iter().map(|dtype| ScalarType::from(*dtype));
        for dtype in dtypes.filter(|dtype| expected.dtype.is_some_and(|expected| expected != *dtype)) {
            self.add(Property::Dtype, vary(&|expected| expected.dtype = Some(dtype)));
        }
        for strides in expected.strides.iter().flat_map(|strides| sizes(strides)) {
            self.add(Property::Strides, vary(&|expected| expected.strides = Some(strides.clone())));
        }
        for (at, &element) in expected.values.iter().flatten().enumerate() {
            let (property, others) = match expected.decimals {
                Some(decimals) => (Property::Decimals, next_decimals(element, decimals)),
                None => (Property::Values, others(element)),
            };
            for other in others {
                let put = |expected: &mut Expected| expected.values.as_mut().expect("there are values")[at] = other;
                self.add(property, vary(&put));
            }
        }
        self.of_storage(expected, &vary);
        for number in expected.number.iter().flat_map(|number| others(*number)) {
            self.add(Property::Number, vary(&|expected| expected.number = Some(number)));
        }
        for warnings in expected.warnings.iter().flat_map(|warnings| lists(warnings)) {
            self.add(Property::Warnings, vary(&|expected| expected.warnings = Some(warnings.clone())));
        }
    }

    /// A view of each input that it is no view of, and a view where there is none or none where there is one.
    fn of_storage(&mut self, expected: &Expected, vary: Vary) {
        if expected.view_of.is_none() && !expected.fresh {
            return;
        }
        let own = self.storage();
        for value in (0..self.program.inputs.len()).filter(|value| own != Some(*value)) {
            let base = Some(ValueRef { value, part: None });
            self.add(Property::Aliasing, vary(&|expected| (expected.view_of, expected.fresh) = (base, false)));
        }
        if own.is_some_and(|id| id < self.program.inputs.len()) {
            self.add(Property::Aliasing, vary(&|expected| (expected.view_of, expected.fresh) = (None, true)));
        }
    }

    fn storage(&self) -> Option<usize> {
        let tensor = match self.value.value.checked_sub(self.program.inputs.len()) {
            Some(step) => self.reply.steps[step].outcome.tensors().get(self.value.part.unwrap_or(0))?,
            None => return Some(self.value.value),
        };
        tensor.storage.map(|storage| storage.id)
    }

    fn add(&mut self, property: Property, expectation: Expectation) {
        self.changed.push((property, expectation));
    }
}

/// Each number one more and one less, each left out, and one more at either end.
fn sizes(sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut all = Vec::new();
    for at in 0..sizes.len() {
        for delta in [1, -1] {
            let mut other = sizes.to_vec();
            other[at] = i64::wrapping_add(other[at], delta);
            all.push(other);
        }
        let mut shorter = sizes.to_vec();
        shorter.remove(at);
        all.push(shorter);
    }
    all.push([&[1], sizes].concat());
    all.push([sizes, &[1]].concat());
    all
}

/// Other numbers.
fn others(number: Scalar) -> Vec<Scalar> {
    match number {
        Scalar::Bool(value) => vec![Scalar::Bool(!value)],
        Scalar::Int(value) => vec![Scalar::Int(value.wrapping_add(1)), Scalar::Int(value.wrapping_sub(1))],
        Scalar::Float(value) if !value.is_finite() => {
            let opposite = if value.is_nan() { f64::INFINITY } else { -value };
            vec![Scalar::Float(0.0), Scalar::Float(opposite)]
        }
        Scalar::Float(value) => {
            // Far enough for any dtype to distinguish them.
            let far = value.abs().max(1.0);
            let mut others = vec![Scalar::Float(value + far), Scalar::Float(value - far)];
            // The sign of zero counts.
            others.extend((value == 0.0).then_some(Scalar::Float(-value)));
            others
        }
        Scalar::Complex(value) => [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
            .map(|(re, im)| {
                let mut other = value;
                (other.re, other.im) = (value.re + re, value.im + im);
                Scalar::Complex(other)
            })
            .to_vec(),
    }
}

/// The number with one more and one less in its last printed decimal.
fn next_decimals(number: Scalar, decimals: u32) -> Vec<Scalar> {
    let unit = 10f64.powi(-(decimals as i32));
    match number {
        Scalar::Int(value) => vec![Scalar::Float(value as f64 + unit), Scalar::Float(value as f64 - unit)],
        Scalar::Float(value) if value.is_finite() => vec![Scalar::Float(value + unit), Scalar::Float(value - unit)],
        other => others(other),
    }
}

/// The text with its first, middle or last character changed, with one more, and with one less.
fn texts(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut all = vec![format!("{text}."), format!(" {text}")];
    let places = [0, characters.len() / 2, characters.len().saturating_sub(1)];
    for at in places.into_iter().filter(|at| *at < characters.len()) {
        let mut other = characters.clone();
        other[at] = if other[at] == '#' { '*' } else { '#' };
        all.push(other.into_iter().collect());
    }
    all.extend(characters.split_last().map(|(_, shorter)| shorter.iter().collect()));
    all
}

/// A warning more, each warning left out, and each with another text.
fn lists(warnings: &[String]) -> Vec<Vec<String>> {
    let mut all = vec![[warnings, &["something else".to_owned()]].concat()];
    for (at, warning) in warnings.iter().enumerate() {
        let mut fewer = warnings.to_vec();
        fewer.remove(at);
        all.push(fewer);
        for text in texts(warning) {
            let mut other = warnings.to_vec();
            other[at] = text;
            all.push(other);
        }
    }
    all
}
