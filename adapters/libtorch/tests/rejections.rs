//! The messages of steps that libtorch rejects or warns about: its own, as a user of Python reads them.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use broadcheck_libtorch::Libtorch;
use broadcheck_protocol::ops::Op;
use broadcheck_protocol::program::Arg;
use broadcheck_protocol::tensor::{DType, IndexItem};
use common::*;
use tch::{Kind, TchError, Tensor};

#[test]
fn messages_are_libtorchs_own_with_the_function_that_raised_them() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2]), draft.counting(&[3]));
    let (low, high) = (draft.counting(&[1, 3, 1]), draft.counting(&[3, 1, 7]));
    draft.step(Op::Add, [tensor(x), tensor(y), int(1)]);
    draft.in_place(Op::Add, [tensor(low), tensor(high), int(1)]);
    draft.step(Op::Add, [tensor(x), tensor(y), int(2)]);
    let steps = draft.run().steps;
    let first = rejected(&steps[0].outcome);
    assert_eq!(
        first.message,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"
    );
    assert_eq!(first.origin.as_deref(), Some("infer_size_impl"));
    assert_eq!(
        rejected(&steps[1].outcome).message,
        "output with shape [1, 3, 1] doesn't match the broadcast shape [3, 3, 7]"
    );
    assert_eq!(rejected(&steps[2].outcome), first, "the dispatcher says it as tch does");
}

#[test]
fn indexing_speaks_as_it_does_in_python() {
    let mut draft = Draft::default();
    let (x, scalar) = (draft.counting(&[2, 3]), draft.counting(&[]));
    let at = |at| IndexItem::At(at);
    for (base, items, message) in [
        (x, vec![at(5)], "index 5 is out of bounds for dimension 0 with size 2"),
        (x, vec![at(1), at(-4)], "index -4 is out of bounds for dimension 1 with size 3"),
        (x, vec![at(9), at(9), at(9)], "too many indices for tensor of dimension 2"),
        (
            scalar,
            vec![at(0)],
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a \
             0-dim tensor to a number",
        ),
        (scalar, vec![IndexItem::None, at(0)], "too many indices for tensor of dimension 0"),
        (
            scalar,
            vec![IndexItem::Slice { start: Some(0), stop: Some(1), step: 1 }],
            "slice() cannot be applied to a 0-dim tensor.",
        ),
    ] {
        let mut draft = draft.clone();
        draft.step(Op::Index, [tensor(base), index(&items)]);
        assert_eq!(rejected(&draft.last()).message, message, "{items:?}");
    }
}

#[test]
fn other_operations_speak_as_they_do_in_python() {
    let mut draft = Draft::default();
    let (x, matrix) = (draft.counting(&[2]), draft.counting(&[2, 3]));
    let (flags, whole) = (draft.input(&[2], &[true, false]), draft.input(&[2], &[1i64, 2]));
    for (op, args, message) in [
        (Op::Item, vec![tensor(x)], "a Tensor with 2 elements cannot be converted to Scalar"),
        (
            Op::Sub,
            vec![int(2), tensor(flags), int(1)],
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, \
             use the `~` or `logical_not()` operator instead.",
        ),
        (
            Op::Add,
            vec![tensor(whole), tensor(whole), float(1.0)],
            "For integral input tensors, argument alpha must not be a floating point number.",
        ),
        (Op::Matmul, vec![tensor(matrix), tensor(matrix)], "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
        (
            Op::Unsqueeze,
            vec![tensor(x), Arg::Int(2)],
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
        ),
        (
            Op::Expand,
            vec![tensor(x), sizes(&[3])],
            "The expanded size of the tensor (3) must match the existing size (2) at non-singleton dimension 0.  \
             Target sizes: [3].  Tensor sizes: [2]",
        ),
        (
            Op::Mean,
            vec![tensor(whole), Arg::Nothing, Arg::Flag(false)],
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: \
             Long",
        ),
        (
            Op::Einsum,
            vec![Arg::Text("i->k".to_owned()), Arg::Tensors(vec![x])],
            "einsum(): output subscript k does not appear in the equation for any input operand",
        ),
    ] {
        let mut draft = draft.clone();
        draft.step(op, args);
        assert_eq!(rejected(&draft.last()).message, message, "{op}");
    }
}

#[test]
fn warnings_come_with_their_step_and_every_time() {
    let mut draft = Draft::default();
    let (x, out) = (draft.counting(&[2]), draft.counting(&[3]));
    draft.step(Op::Add, [tensor(x), tensor(x), int(1)]);
    draft.out(Op::Add, [tensor(x), int(2), int(1)], out);
    for _ in 0..2 {
        let steps = draft.run().steps;
        assert_eq!(steps[0].warnings, Vec::<String>::new());
        let [warning] = &steps[1].warnings[..] else { panic!("{:?}", steps[1].warnings) };
        assert!(
            warning.starts_with("An output with one or more elements was resized since it had shape [3]"),
            "{warning}"
        );
        assert!(!warning.contains(".cpp"), "{warning}");
    }
}

#[test]
fn no_error_carries_a_backtrace() {
    Libtorch::new();
    let (a, b) =
        (Tensor::ones([2], (Kind::Float, tch::Device::Cpu)), Tensor::ones([3], (Kind::Float, tch::Device::Cpu)));
    let Err(TchError::Torch(what)) = a.f_add(&b) else { panic!("accepted, or no error of libtorch") };
    assert!(what.contains("Exception raised from infer_size_impl"), "{what}");
    assert!(what.trim_end().ends_with("(most recent call first):"), "the fetcher was not replaced: {what}");
}

/// A ratio within one run, so that a slow or busy machine changes nothing: with backtraces it is in the thousands.
#[test]
fn a_rejected_call_costs_no_more_than_a_few_accepted_ones() {
    Libtorch::new();
    let (a, b) =
        (Tensor::ones([2], (Kind::Float, tch::Device::Cpu)), Tensor::ones([3], (Kind::Float, tch::Device::Cpu)));
    let accepted = cost(|| black_box(a.f_add(&a)).is_ok());
    let rejected = cost(|| black_box(a.f_add(&b)).is_err());
    let ratio = rejected.as_secs_f64() / accepted.as_secs_f64();
    println!("accepted {accepted:?}, rejected {rejected:?}, ratio {ratio:.1}");
    assert!(ratio < 1000.0, "accepted {accepted:?}, rejected {rejected:?}");
}

/// The median over batches of the time of one call.
fn cost(call: impl Fn() -> bool) -> Duration {
    const BATCH: u32 = 200;
    let mut times: Vec<Duration> = (0..21)
        .map(|_| {
            let start = Instant::now();
            assert!((0..BATCH).all(|_| call()));
            start.elapsed() / BATCH
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

#[test]
fn a_rejection_by_the_kernel_names_the_dtype() {
    let mut draft = Draft::default();
    let x = draft.input(&[0], &[0f32; 0]);
    draft.0.inputs[0].dtype = DType::Complex64;
    draft.step(Op::Lt, [tensor(x), tensor(x)]);
    assert_eq!(rejected(&draft.last()).message, "\"lt_cpu\" not implemented for 'ComplexFloat'");
}
