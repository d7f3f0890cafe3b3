//! Right results are judged right, and each kind of wrong one is found.

use crate::ops::{Form, Op};
use crate::oracles::mathematics::judge;
use crate::program::{
    Arg, Input, Outcome, Program, Reply, Step, StepOutcome, StorageRef, TensorValue, Value, ValueRef,
};
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

fn bytes(dtype: DType, values: &[f64]) -> (Shape, Vec<u8>) {
    let shape = Shape::new(vec![values.len() as i64]).unwrap();
    let buffer = Buffer::from_scalars(dtype, values.iter().map(|value| Scalar::Float(*value)));
    (shape.clone(), buffer.to_bytes(&Layout::contiguous(shape)))
}

fn input(name: &str, dtype: DType, values: &[f64], requires_grad: bool) -> Input {
    let (shape, data) = bytes(dtype, values);
    Input { name: name.to_owned(), dtype, shape, data, requires_grad }
}

fn tensor(dtype: DType, values: &[f64], storage: usize) -> StepOutcome {
    let (shape, data) = bytes(dtype, values);
    let storage = Some(StorageRef { id: storage, offset: 0 });
    let tensor = TensorValue { dtype, shape, data, strides: Some(vec![1]), storage };
    StepOutcome::of(Outcome::Value(Value::Tensor(tensor)))
}

fn step(name: &str, op: Op, uses: &[usize], rest: Vec<Arg>) -> Step {
    let args = uses.iter().map(|&value| Arg::Tensor(ValueRef { value, part: None })).chain(rest).collect();
    Step { name: name.to_owned(), op, form: Form::Functional, args, out: None }
}

/// What is said of the results of an operation on two tensors.
fn said(op: Op, dtype: DType, a: &[f64], b: &[f64], rest: Vec<Arg>, result: (DType, &[f64])) -> Option<String> {
    let inputs = vec![input("a", dtype, a, false), input("b", dtype, b, false)];
    let program = Program { inputs, steps: vec![step("r", op, &[0, 1], rest)] };
    let reply = Reply { steps: vec![tensor(result.0, result.1, 2)], inputs: Vec::new() };
    judge(&program, &reply).pop().map(|difference| format!("{} / {}", difference.by, difference.expected))
}

#[test]
fn right_results_are_right() {
    use DType::{Bool, Float32, Float64, Int8};
    let third = f64::from(1.0f32 / 3.0);
    assert_eq!(
        said(Op::Div, Float32, &[1.0, 1.0], &[3.0, 0.0], vec![Arg::Nothing], (Float32, &[third, f64::INFINITY])),
        None
    );
    assert_eq!(said(Op::Mul, Int8, &[100.0], &[2.0], vec![], (Int8, &[-56.0])), None);
    assert_eq!(said(Op::Pow, Float64, &[f64::NAN, 2.0], &[0.0, 0.5], vec![], (Float64, &[1.0, 2f64.sqrt()])), None);
    assert_eq!(said(Op::Lt, Float64, &[f64::NAN, 1.0], &[1.0, 2.0], vec![], (Bool, &[0.0, 1.0])), None);
    assert_eq!(said(Op::Nextafter, Float64, &[1.0], &[0.0], vec![], (Float64, &[1f64.next_down()])), None);
    assert_eq!(said(Op::Logaddexp, Float64, &[1000.0], &[1000.0], vec![], (Float64, &[1000.0 + 2f64.ln()])), None);
}

/// One wrong result of each kind of set, each of which names its authority.
#[test]
fn wrong_results_are_found() {
    use DType::{Bool, Float16, Float32, Float64, Int8};
    let one_off = f64::from((1.0f32 / 3.0).next_up());
    let wrong: [(Op, DType, f64, f64, DType, f64, &str); 12] = [
        (Op::Div, Float32, 1.0, 3.0, Float32, one_off, "IEEE 754"),
        (Op::Mul, Int8, 100.0, 2.0, Int8, 127.0, "wrap around"),
        (Op::Pow, Float64, f64::NAN, 0.0, Float64, f64::NAN, "F.10.4.4"),
        (Op::Atan2, Float32, 0.0, -0.0, Float32, 0.0, "F.10.1.4"),
        (Op::Hypot, Float32, f64::INFINITY, f64::NAN, Float32, f64::NAN, "F.10.4.3"),
        (Op::Maximum, Float32, f64::NAN, 1.0, Float32, 1.0, "torch.maximum"),
        (Op::Lt, Float64, 1.0, 1.0, Bool, 1.0, "comparisons"),
        (Op::Ldexp, Float32, 0.0, 255.0, Float32, f64::NAN, "value of the function"),
        (Op::Xlogy, Float64, 0.0, 0.0, Float64, f64::NAN, "torch.xlogy"),
        (Op::Remainder, Float64, -1.0, 3.0, Float64, -1.0, "sign of the divisor"),
        (Op::Logaddexp, Float64, 1000.0, 1000.0, Float64, f64::INFINITY, "value of the function"),
        (Op::Add, Float16, 1.0, 1.0, Float16, 2.001953125, "IEEE 754"),
    ];
    for (op, dtype, a, b, to, result, authority) in wrong {
        let rest = if matches!(op, Op::Div) { vec![Arg::Nothing] } else { vec![] };
        let rest = if matches!(op, Op::Add) { vec![Arg::Number(Scalar::Int(1))] } else { rest };
        let said = said(op, dtype, &[a], &[b], rest, (to, &[result])).unwrap_or_else(|| panic!("{op} is believed"));
        assert!(said.contains(authority), "{op}: {said}");
    }
}

/// The derivative of a product is the other factor; at a tie of a maximum any share is right, and NaN is not.
#[test]
fn gradients_are_derivatives() {
    let gradient = |op: Op, a: f64, b: f64, result: f64, gradient: f64| {
        let dtype = DType::Float64;
        let inputs = vec![input("a", dtype, &[a], true), input("b", dtype, &[b], false)];
        let steps = vec![
            step("r", op, &[0, 1], vec![]),
            step("s", Op::Backward, &[2], vec![Arg::Nothing]),
            step("g", Op::Grad, &[0], vec![]),
        ];
        let nothing = StepOutcome::of(Outcome::Value(Value::Nothing));
        let steps_of_reply = vec![tensor(dtype, &[result], 2), nothing, tensor(dtype, &[gradient], 3)];
        let reply = Reply { steps: steps_of_reply, inputs: Vec::new() };
        judge(&Program { inputs, steps }, &reply).pop().map(|difference| difference.by)
    };
    assert_eq!(gradient(Op::Mul, 3.0, 5.0, 15.0, 5.0), None);
    assert_eq!(gradient(Op::Mul, 3.0, 5.0, 15.0, 3.0).as_deref(), Some("mathematics: the derivative of mul"));
    assert_eq!(gradient(Op::Maximum, 2.0, 2.0, 2.0, 0.5), None);
    assert_eq!(gradient(Op::Maximum, 2.0, 2.0, 2.0, 0.0), None);
    assert!(gradient(Op::Maximum, 2.0, 2.0, 2.0, 2.0).is_some());
    assert!(gradient(Op::Maximum, 2.0, 2.0, 2.0, f64::NAN).is_some());
    assert_eq!(gradient(Op::Pow, 2.0, 3.0, 8.0, 12.0), None);
    assert!(gradient(Op::Atan2, 1.0, 2.0, 1f64.atan2(2.0), 0.5).is_some());
}
