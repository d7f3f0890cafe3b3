//! Two implementations on one program: the oracle that asks whether every outcome of one equals that of the other.

use crate::adapter::{Capability, Hello};
use crate::ops::{Compare, Op};
use crate::program::{Outcome, Program, Reply, TensorValue, Value};
use crate::tensor::{DType, Scalar};

use super::expect::{class_of, same_bits};
use super::{Aspect, Difference, show};

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What the implementation says of itself.
    pub hello: &'a Hello,
    /// What it answered.
    pub reply: &'a Reply,
}

/// Everything in which `observed` differs from `expected`. A step that either side does not support is left out; two
/// failures are never agreement.
pub fn compare(program: &Program, expected: Side, observed: Side) -> Vec<Difference> {
    let mut compare = Comparison { program, expected, observed, differences: Vec::new() };
    for (at, step) in program.steps.iter().enumerate() {
        let (Some(wanted), Some(got)) = (expected.reply.steps.get(at), observed.reply.steps.get(at)) else {
            compare.differ(&step.name, Aspect::Outcome, "an outcome".to_owned(), "none".to_owned());
            continue;
        };
        compare.outcome(&step.name, step.op, &wanted.outcome, &got.outcome);
        let compared =
            !matches!((&wanted.outcome, &got.outcome), (Outcome::Unsupported(_), _) | (_, Outcome::Unsupported(_)));
        if compared && compare.both(Capability::Warnings) && wanted.warnings != got.warnings {
            compare.differ(
                &step.name,
                Aspect::Warnings,
                show::warnings(&wanted.warnings),
                show::warnings(&got.warnings),
            );
        }
    }
    for ((input, wanted), got) in program.inputs.iter().zip(&expected.reply.inputs).zip(&observed.reply.inputs) {
        compare.tensor(&format!("{} after", input.name), Compare::Bits, true, wanted, got);
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
    differences: Vec<Difference>,
}

impl Comparison<'_> {
    fn outcome(&mut self, name: &str, op: Op, wanted: &Outcome, got: &Outcome) {
        match (wanted, got) {
            (Outcome::Unsupported(_), _) | (_, Outcome::Unsupported(_)) => {}
            (Outcome::Value(wanted), Outcome::Value(got)) => self.value(name, op, wanted, got),
            (Outcome::Rejected(wanted), Outcome::Rejected(got)) => {
                if self.both(Capability::Messages) {
                    if wanted.message != got.message {
                        self.differ(name, Aspect::Message, wanted.message.clone(), got.message.clone());
                    }
                } else if class_of(wanted) != class_of(got) {
                    self.differ(
                        name,
                        Aspect::Class,
                        show::outcome(&Outcome::Rejected(wanted.clone())),
                        got.message.clone(),
                    );
                }
            }
            (Outcome::Blocked(a), Outcome::Blocked(b)) if a == b => {}
            (wanted, got) => self.differ(name, Aspect::Outcome, show::outcome(wanted), show::outcome(got)),
        }
    }

    fn value(&mut self, name: &str, op: Op, wanted: &Value, got: &Value) {
        let info = op.info();
        match (wanted, got) {
            (Value::Tensor(wanted), Value::Tensor(got)) => {
                self.tensor(name, info.compare, info.layout_is_specified(), wanted, got);
            }
            (Value::Tensors(wanted), Value::Tensors(got)) if wanted.len() == got.len() => {
                for (part, (wanted, got)) in wanted.iter().zip(got).enumerate() {
                    self.tensor(&format!("{name}.{part}"), info.compare, info.layout_is_specified(), wanted, got);
                }
            }
            (Value::Number(a), Value::Number(b)) if same_bits(*a, *b) => {}
            (Value::Sizes(a), Value::Sizes(b)) if a == b => {}
            (Value::Nothing, Value::Nothing) => {}
            (wanted, got) => self.differ(name, Aspect::Outcome, show::value(wanted), show::value(got)),
        }
    }

    fn tensor(&mut self, name: &str, mode: Compare, layout: bool, wanted: &TensorValue, got: &TensorValue) {
        if wanted.dtype != got.dtype {
            self.differ(name, Aspect::Dtype, wanted.dtype.to_string(), got.dtype.to_string());
        }
        if wanted.shape != got.shape {
            self.differ(name, Aspect::Shape, wanted.shape.to_string(), got.shape.to_string());
            return;
        }
        if wanted.dtype == got.dtype && wanted.data != got.data && !same_values(mode, wanted, got) {
            self.differ(name, Aspect::Values, show::tensor(wanted), show::tensor(got));
        }
        if !layout || !self.both(Capability::Strides) {
            return;
        }
        if wanted.strides != got.strides {
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

    fn both(&self, capability: Capability) -> bool {
        [self.expected, self.observed].iter().all(|side| side.hello.capabilities.contains(&capability))
    }

    fn differ(&mut self, name: &str, aspect: Aspect, expected: String, observed: String) {
        let by = self.expected.hello.name.clone();
        self.differences.push(Difference { value: name.to_owned(), aspect, by, expected, observed });
    }
}

fn same_values(mode: Compare, wanted: &TensorValue, got: &TensorValue) -> bool {
    let (wanted_values, got_values) = (wanted.scalars(), got.scalars());
    wanted_values.len() == got_values.len()
        && wanted_values
            .iter()
            .zip(&got_values)
            .all(|(a, b)| same_bits(*a, *b) || (mode == Compare::Tolerance && close(*a, *b, wanted.dtype)))
}

/// Within what the order of a sum can change: a few units of the dtype's precision, relative to the larger value, with
/// an absolute floor of the same for sums that cancel.
fn close(a: Scalar, b: Scalar, dtype: DType) -> bool {
    let precision = match dtype {
        DType::Float16 => 2f64.powi(-10),
        DType::Bfloat16 => 2f64.powi(-7),
        DType::Float32 | DType::Complex64 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    };
    let near = |a: f64, b: f64| (a - b).abs() <= 16.0 * precision * a.abs().max(b.abs()).max(1.0);
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => near(a, b),
        (Scalar::Complex(a), Scalar::Complex(b)) => near(a.re, b.re) && near(a.im, b.im),
        _ => false,
    }
}
