//! Gradients.

mod common;

use broadcheck_protocol::ops::Op;
use broadcheck_protocol::program::{Arg, Outcome, Value};
use broadcheck_protocol::tensor::DType;
use common::*;

#[test]
fn the_gradient_of_an_operand_has_its_shape() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2, 1]), draft.counting(&[3]));
    draft.keeps_gradient(x);
    let product = draft.step(Op::Mul, [tensor(x), tensor(y)]);
    let total = draft.step(Op::Sum, [tensor(product), Arg::Nothing, Arg::Flag(false)]);
    draft.step(Op::Grad, [tensor(x)]);
    draft.step(Op::Backward, [tensor(total), Arg::Nothing]);
    draft.step(Op::Grad, [tensor(x)]);
    draft.step(Op::Grad, [tensor(y)]);
    let steps = draft.run().steps;
    assert_eq!(steps[2].outcome, Outcome::Value(Value::Nothing), "not before backward");
    assert_eq!(steps[3].outcome, Outcome::Value(Value::Nothing));
    assert_eq!(seen(&steps[4].outcome), (DType::Float32, vec![2, 1], vec![6., 6.]));
    assert_eq!(only(&steps[4].outcome).storage.unwrap().id, 4, "inputs 0 and 1, product 2, total 3");
    assert_eq!(steps[5].outcome, Outcome::Value(Value::Nothing), "no gradient was asked for");
}

#[test]
fn backward_begins_with_the_gradient_that_is_given_and_frees_the_graph() {
    let mut draft = Draft::default();
    let (x, seed) = (draft.counting(&[2]), draft.input(&[2], &[10f32, 20.]));
    draft.keeps_gradient(x);
    let square = draft.step(Op::Mul, [tensor(x), tensor(x)]);
    draft.step(Op::Backward, [tensor(square), tensor(seed)]);
    draft.step(Op::Grad, [tensor(x)]);
    draft.step(Op::Backward, [tensor(square), tensor(seed)]);
    let steps = draft.run().steps;
    assert_eq!(seen(&steps[2].outcome).2, [20., 80.]);
    let message = &rejected(&steps[3].outcome).message;
    assert!(message.starts_with("Trying to backward through the graph a second time"), "{message}");
}

#[test]
fn backward_raises_libtorchs_messages() {
    let mut draft = Draft::default();
    let (x, y, seed) = (draft.counting(&[2]), draft.counting(&[2]), draft.counting(&[3]));
    draft.keeps_gradient(x);
    let sum = draft.step(Op::Add, [tensor(x), tensor(y), int(1)]);
    for (base, gradient, message) in [
        (sum, Arg::Nothing, "grad can be implicitly created only for scalar outputs"),
        // Python looks at the shapes first, and its message is worded differently (`torch.autograd._make_grads`).
        (sum, tensor(seed), "invalid gradient at index 0 - got [3] but expected shape compatible with [2]"),
        (y, tensor(y), "element 0 of tensors does not require grad and does not have a grad_fn"),
    ] {
        let mut draft = draft.clone();
        draft.step(Op::Backward, [tensor(base), gradient]);
        assert_eq!(rejected(&draft.last()).message, message);
    }
    draft.in_place(Op::Add, [tensor(x), tensor(y), int(1)]);
    assert_eq!(
        rejected(&draft.last()).message,
        "a leaf Variable that requires grad is being used in an in-place operation."
    );
}

/// Python rejects this (`_make_grads`: "Mismatch in shape"); libtorch's engine takes any gradient that the output
/// expands to, and sums it (`torch::autograd::validate_outputs`).
#[test]
fn a_first_gradient_that_the_output_expands_to_is_summed() {
    let mut draft = Draft::default();
    let (x, seed) = (draft.counting(&[2]), draft.counting(&[3, 2]));
    draft.keeps_gradient(x);
    let sum = draft.step(Op::Add, [tensor(x), tensor(x), int(1)]);
    draft.step(Op::Backward, [tensor(sum), tensor(seed)]);
    draft.step(Op::Grad, [tensor(x)]);
    assert_eq!(seen(&draft.last()), (DType::Float32, vec![2], vec![18., 24.]));
}

#[test]
fn an_input_that_cannot_keep_gradients_fails_every_step() {
    let mut draft = Draft::default();
    let x = draft.input(&[1], &[1i64]);
    draft.keeps_gradient(x);
    draft.step(Op::Add, [tensor(x), tensor(x), int(1)]);
    draft.step(Op::Grad, [tensor(x)]);
    let steps = draft.run().steps;
    assert_eq!(steps.len(), 2);
    assert!(steps.iter().all(|step| matches!(step.outcome, Outcome::Failed(_))), "{steps:?}");
}
