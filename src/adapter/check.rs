//! The check that a reply belongs to the program: of its form, never of its content.

use super::{Capability, Hello};
use crate::program::{Outcome, Program, Reply, TensorValue, VALUE_LIMIT};
use crate::tensor::{DType, Shape};

/// Returns the error in the form of a reply to a program that the adapter has declared to support, but for what it lacks.
pub(super) fn problem(program: &Program, reply: &Reply, hello: &Hello) -> Option<String> {
    let of_tensor = |tensor: &TensorValue| of_tensor(tensor, hello.capabilities.contains(&Capability::NoValues));
    if reply.steps.len() != program.steps.len() {
        return Some(format!(
            "the reply has {} step outcomes, the program has {} steps",
            reply.steps.len(),
            program.steps.len()
        ));
    }
    let steps = program.steps.iter().zip(&reply.steps).enumerate();
    for (at, (step, answer)) in steps {
        let (name, op) = (&step.name, step.op);
        match &answer.outcome {
            Outcome::Unsupported(what) => {
                let declared = hello.unsupported.iter().any(|one| one.what == *what && one.covers(program, step));
                if !declared {
                    return Some(format!(
                        "step `{name}` ({op}) is answered as unsupported ({what}), but hello declares all that it needs: \
                         `unsupported` of hello has no such text for this operation, form and dtype"
                    ));
                }
            }
            Outcome::Blocked(value) if *value >= program.inputs.len() + at => {
                return Some(format!(
                    "step `{name}` ({op}) is blocked by value {value}, which does not come before it"
                ));
            }
            outcome => {
                let wrong = outcome.tensors().iter().find_map(of_tensor);
                if let Some(wrong) = wrong {
                    return Some(format!("the result of step `{name}` ({op}) {wrong}"));
                }
            }
        }
    }
    of_inputs(program, reply, of_tensor)
}

fn of_inputs(program: &Program, reply: &Reply, of_tensor: impl Fn(&TensorValue) -> Option<String>) -> Option<String> {
    let failed = reply.steps.iter().any(|step| matches!(step.outcome, Outcome::Failed(_)));
    if reply.inputs.is_empty() && (failed || !program.mutates()) {
        return None;
    }
    if reply.inputs.len() != program.inputs.len() {
        return Some(format!(
            "the reply has the final state of {} inputs, the program has {}",
            reply.inputs.len(),
            program.inputs.len()
        ));
    }
    let mut inputs = program.inputs.iter().zip(&reply.inputs);
    inputs.find_map(|(input, after)| Some(format!("the final state of input `{}` {}", input.name, of_tensor(after)?)))
}

fn of_tensor(tensor: &TensorValue, no_values: bool) -> Option<String> {
    // A shape off the wire has not been checked yet, and arithmetic on an impossible one would overflow.
    let shape = match Shape::new(tensor.shape.sizes().to_vec()) {
        Ok(shape) => shape,
        Err(error) => return Some(format!("has an impossible shape: {error}")),
    };
    let (dtype, given) = (tensor.dtype, tensor.data.len());
    let needed = shape.numel().checked_mul(dtype.size());
    if no_values && given > 0 {
        return Some(format!(
            "has {given} bytes of data, and hello says `no_values`: leave out the data or the capability"
        ));
    }
    let left_out = given == 0 && (no_values || needed.is_none_or(|needed| needed > VALUE_LIMIT));
    if needed != Some(given) && !left_out {
        let needed = needed.map_or("more bytes than can be counted".to_owned(), |needed| format!("{needed} bytes"));
        return Some(format!("has {given} bytes of data; {dtype} {shape} takes {needed}"));
    }
    if dtype == DType::Bool
        && let Some(byte) = tensor.data.iter().find(|&&byte| byte > 1)
    {
        return Some(format!("has a bool that is {byte}, not 0 or 1"));
    }
    let strides = tensor.strides.as_ref().map_or(shape.rank(), Vec::len);
    (strides != shape.rank()).then(|| format!("has {strides} strides and {} dimensions", shape.rank()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UnsupportedCall;
    use crate::ops::{Form, Op};
    use crate::program::{Arg, Input, Step, StepOutcome, Value, ValueRef};

    fn program(form: Form) -> Program {
        let shape = Shape::new(vec![3]).unwrap();
        let x = Input { name: "x".into(), dtype: DType::Float32, shape, data: vec![0; 12], requires_grad: false };
        let args = vec![Arg::Tensor(ValueRef { value: 0, part: None })];
        Program { inputs: vec![x], steps: vec![Step { name: "r".into(), op: Op::Contiguous, form, args, out: None }] }
    }

    fn hello() -> Hello {
        serde_json::from_value(serde_json::json!({"name": "n", "version": "1", "ops": [], "dtypes": []})).unwrap()
    }

    fn tensor(sizes: &[i64], bytes: usize) -> TensorValue {
        // Through JSON, since `Shape::new` would reject the shape that is tested.
        let shape = serde_json::from_value(serde_json::json!(sizes)).unwrap();
        TensorValue { dtype: DType::Float32, shape, data: vec![0; bytes], strides: None, storage: None }
    }

    fn reply(outcome: Outcome) -> Reply {
        Reply { steps: vec![StepOutcome::of(outcome)], inputs: Vec::new() }
    }

    fn value(sizes: &[i64], bytes: usize) -> Reply {
        reply(Outcome::Value(Value::Tensor(tensor(sizes, bytes))))
    }

    #[test]
    fn well_formed_replies_pass() {
        let functional = program(Form::Functional);
        assert_eq!(problem(&functional, &value(&[3], 12), &hello()), None);
        assert_eq!(problem(&functional, &value(&[0, 5], 0), &hello()), None);
        assert_eq!(problem(&functional, &reply(Outcome::Blocked(0)), &hello()), None);
        assert_eq!(problem(&program(Form::InPlace), &reply(Outcome::Failed("panic".into())), &hello()), None);
    }

    #[test]
    fn wrong_replies_are_described() {
        let says = |reply: &Reply, text: &str| {
            let found = problem(&program(Form::Functional), reply, &hello()).unwrap_or_default();
            assert!(found.contains(text), "{found:?} does not contain {text:?}");
        };
        says(&Reply::default(), "0 step outcomes, the program has 1 steps");
        says(&value(&[3], 11), "the result of step `r` (contiguous) has 11 bytes of data; float32 [3] takes 12 bytes");
        let shapes = Hello { capabilities: vec![Capability::NoValues], ..hello() };
        assert_eq!(problem(&program(Form::Functional), &value(&[3], 0), &shapes), None);
        for told in [11, 12] {
            assert!(problem(&program(Form::Functional), &value(&[3], told), &shapes).is_some(), "it says `no_values`");
        }
        says(&value(&[-3], 12), "an impossible shape: size -3");
        says(&value(&[i64::MAX], 12), "more bytes than can be counted");
        says(&reply(Outcome::Blocked(1)), "blocked by value 1");
        says(&reply(Outcome::Unsupported("mood".into())), "unsupported (mood), but hello declares");
        let moody = reply(Outcome::Unsupported("mood".into()));
        assert_eq!(
            problem(
                &program(Form::Functional),
                &moody,
                &Hello { unsupported: vec![UnsupportedCall::of("mood", &[Op::Contiguous])], ..hello() }
            ),
            None,
            "it was declared"
        );
        for other in
            [UnsupportedCall::of("mood", &[Op::Add]), UnsupportedCall { what: "mood".to_owned(), ..Default::default() }]
        {
            let hello = Hello { unsupported: vec![other], ..hello() };
            assert!(problem(&program(Form::Functional), &moody, &hello).is_some(), "of another operation, or of none");
        }
        let truth = TensorValue { dtype: DType::Bool, data: vec![0, 1, 2], ..tensor(&[3], 0) };
        says(&reply(Outcome::Value(Value::Tensor(truth))), "a bool that is 2");
        let mut strided = tensor(&[3], 12);
        strided.strides = Some(vec![1, 1]);
        says(&reply(Outcome::Value(Value::Tensor(strided))), "2 strides and 1 dimensions");
    }

    #[test]
    fn the_final_inputs_are_needed_where_something_is_written() {
        let mut answer = value(&[3], 12);
        assert!(problem(&program(Form::InPlace), &answer, &hello()).unwrap().contains("final state of 0 inputs"));
        answer.inputs = vec![tensor(&[3], 12)];
        assert_eq!(problem(&program(Form::InPlace), &answer, &hello()), None);
        answer.inputs = vec![tensor(&[3], 8)];
        assert!(problem(&program(Form::InPlace), &answer, &hello()).unwrap().contains("input `x` has 8 bytes"));
    }
}
