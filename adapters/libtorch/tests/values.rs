//! The results of steps that libtorch accepts: values, strides, storages.

mod common;

use broadcheck_libtorch::Libtorch;
use broadcheck_protocol::adapter::{Capability, Implementation};
use broadcheck_protocol::ops::{Form, Op, ParamDefault, ParamKind};
use broadcheck_protocol::program::{Arg, Outcome, ShapeArg, StorageRef, VALUE_LIMIT, Value, ValueRef};
use broadcheck_protocol::tensor::{DType, IndexItem, Scalar, ScalarType};
use common::*;

#[test]
fn hello_names_the_library_and_leaves_the_front_end_out() {
    let hello = Libtorch::new().hello();
    assert_eq!(hello.name, "libtorch");
    assert!(hello.version.starts_with("2."), "{}", hello.version);
    assert!(hello.build.contains("CPU capability"), "{}", hello.build);
    assert!(hello.ops.contains(&Op::Add) && hello.ops.contains(&Op::Item));
    assert!(hello.ops.iter().all(|op| !op.is_front_end()));
    assert_eq!(hello.dtypes, DType::ALL);
    assert!(hello.capabilities.contains(&Capability::Messages));
}

#[test]
fn an_operation_broadcasts_and_lies_in_a_new_storage() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2, 1]), draft.counting(&[3]));
    draft.step(Op::Add, [tensor(x), tensor(y), int(1)]);
    let outcome = draft.last();
    assert_eq!(seen(&outcome), (DType::Float32, vec![2, 3], vec![2., 3., 4., 3., 4., 5.]));
    assert_eq!(only(&outcome).strides, Some(vec![3, 1]));
    assert_eq!(only(&outcome).storage, Some(StorageRef { id: 2, offset: 0 }));
}

#[test]
fn views_keep_the_storage_of_their_base_and_their_elements_come_row_major() {
    let mut draft = Draft::default();
    let x = draft.counting(&[2, 3]);
    let turned = draft.step(Op::Transpose, [tensor(x), Arg::Int(0), Arg::Int(1)]);
    draft.step(Op::Index, [tensor(turned), index(&[IndexItem::Slice { start: Some(1), stop: None, step: 1 }])]);
    draft.step(Op::Contiguous, [tensor(turned)]);
    let steps = draft.run().steps;
    assert_eq!(seen(&steps[0].outcome), (DType::Float32, vec![3, 2], vec![1., 4., 2., 5., 3., 6.]));
    assert_eq!(only(&steps[0].outcome).strides, Some(vec![1, 3]));
    assert_eq!(only(&steps[0].outcome).storage, Some(StorageRef { id: 0, offset: 0 }));
    assert_eq!(seen(&steps[1].outcome).2, [2., 5., 3., 6.]);
    assert_eq!(only(&steps[1].outcome).storage, Some(StorageRef { id: 0, offset: 1 }));
    assert_eq!(only(&steps[2].outcome).storage, Some(StorageRef { id: 1, offset: 0 }));
}

#[test]
fn every_view_by_a_list_of_sizes_or_a_dimension_runs() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2, 1]), draft.counting(&[3]));
    for (op, args, shape, strides) in [
        (Op::Expand, vec![tensor(x), sizes(&[-1, 3])], vec![2, 3], vec![1, 0]),
        (Op::BroadcastTo, vec![tensor(x), sizes(&[4, 2, 3])], vec![4, 2, 3], vec![0, 1, 0]),
        (Op::Permute, vec![tensor(x), sizes(&[1, 0])], vec![1, 2], vec![1, 1]),
        (Op::View, vec![tensor(x), sizes(&[2])], vec![2], vec![1]),
        (Op::Unsqueeze, vec![tensor(y), Arg::Int(-1)], vec![3, 1], vec![1, 1]),
        (Op::ExpandAs, vec![tensor(y), tensor(y)], vec![3], vec![1]),
        (Op::SumToSize, vec![tensor(x), sizes(&[1])], vec![1], vec![1]),
    ] {
        let mut draft = draft.clone();
        draft.step(op, args);
        let outcome = draft.last();
        assert_eq!(only(&outcome).shape.sizes(), shape, "{op}");
        assert_eq!(only(&outcome).strides, Some(strides), "{op}");
    }
}

#[test]
fn the_parts_of_broadcast_tensors_can_be_used_one_by_one() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2, 1]), draft.counting(&[3]));
    let both = draft.step(Op::BroadcastTensors, [Arg::Tensors(vec![x, y])]);
    let part = |part| tensor(ValueRef { part: Some(part), ..both });
    draft.step(Op::Mul, [part(0), part(1)]);
    draft.step(Op::Mul, [part(0), part(2)]);
    draft.step(Op::Mul, [tensor(both), part(0)]);
    let steps = draft.run().steps;
    let ids: Vec<_> = steps[0].outcome.tensors().iter().map(|tensor| tensor.storage.unwrap().id).collect();
    assert_eq!(ids, [0, 1]);
    assert_eq!(steps[0].outcome.tensors()[1].strides, Some(vec![0, 1]));
    assert_eq!(seen(&steps[1].outcome).2, [1., 2., 3., 2., 4., 6.]);
    assert_eq!(steps[2].outcome, Outcome::Blocked(both.value));
    assert_eq!(steps[3].outcome, Outcome::Blocked(both.value));
}

#[test]
fn an_index_is_libtorchs_own_basic_indexing() {
    let mut draft = Draft::default();
    let x = draft.counting(&[2, 3]);
    let all = [IndexItem::Ellipsis, IndexItem::None, IndexItem::Slice { start: None, stop: None, step: 2 }];
    draft.step(Op::Index, [tensor(x), index(&all)]);
    draft.step(Op::Index, [tensor(x), index(&[IndexItem::At(-1), IndexItem::At(0)])]);
    let steps = draft.run().steps;
    assert_eq!(seen(&steps[0].outcome), (DType::Float32, vec![2, 1, 2], vec![1., 3., 4., 6.]));
    assert_eq!(seen(&steps[1].outcome), (DType::Float32, vec![], vec![4.]));
}

#[test]
fn reductions_take_none_one_or_several_dimensions() {
    let mut draft = Draft::default();
    let x = draft.counting(&[2, 3]);
    let (keep, drop) = (Arg::Flag(true), Arg::Flag(false));
    for (op, dim, keepdim, wanted) in [
        (Op::Sum, Arg::Nothing, &drop, (DType::Float32, vec![], vec![21.])),
        (Op::Sum, Arg::Int(0), &keep, (DType::Float32, vec![1, 3], vec![5., 7., 9.])),
        (Op::Sum, sizes(&[0, 1]), &keep, (DType::Float32, vec![1, 1], vec![21.])),
        (Op::Mean, sizes(&[1]), &drop, (DType::Float32, vec![2], vec![2., 5.])),
        (Op::All, Arg::Nothing, &drop, (DType::Bool, vec![], vec![1.])),
        (Op::All, Arg::Nothing, &keep, (DType::Bool, vec![1, 1], vec![1.])),
        (Op::Any, Arg::Int(-1), &keep, (DType::Bool, vec![2, 1], vec![1., 1.])),
    ] {
        let mut draft = draft.clone();
        draft.step(op, [tensor(x), dim, keepdim.clone()]);
        assert_eq!(seen(&draft.last()), wanted, "{op}");
    }
}

#[test]
fn products_and_items() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2, 2]), draft.counting(&[2]));
    draft.step(Op::Matmul, [tensor(x), tensor(y)]);
    let total = draft.step(Op::Einsum, [Arg::Text("ij,j->".to_owned()), Arg::Tensors(vec![x, y])]);
    let number = draft.step(Op::Item, [tensor(total)]);
    draft.step(Op::Unsqueeze, [tensor(number), Arg::Int(0)]);
    let steps = draft.run().steps;
    assert_eq!(seen(&steps[0].outcome).2, [5., 11.]);
    assert_eq!(steps[2].outcome, Outcome::Value(Value::Number(Scalar::Float(16.))));
    assert_eq!(steps[3].outcome, Outcome::Blocked(number.value), "a number is no tensor");
}

#[test]
fn an_item_keeps_the_kind_of_number() {
    for (data, wanted) in [(vec![0u8, 0], Scalar::Int(0)), (vec![3, 7], Scalar::Int(7))] {
        let mut draft = Draft::default();
        let x = draft.input(&[2], &data);
        let last = draft.step(Op::Index, [tensor(x), index(&[IndexItem::At(1)])]);
        draft.step(Op::Item, [tensor(last)]);
        assert_eq!(draft.last(), Outcome::Value(Value::Number(wanted)));
    }
    let mut draft = Draft::default();
    let x = draft.input(&[], &[true]);
    draft.step(Op::Item, [tensor(x)]);
    assert_eq!(draft.last(), Outcome::Value(Value::Number(Scalar::Bool(true))));
}

#[test]
fn an_in_place_step_is_its_target_and_views_see_it() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2, 2]), draft.counting(&[2]));
    let row = draft.step(Op::Index, [tensor(x), index(&[IndexItem::At(1)])]);
    draft.in_place(Op::Mul, [tensor(row), tensor(y)]);
    let reply = draft.run();
    assert_eq!(seen(&reply.steps[0].outcome).2, [3., 4.], "as it was right after its step");
    assert_eq!(seen(&reply.steps[1].outcome).2, [3., 8.]);
    assert_eq!(only(&reply.steps[1].outcome).storage, Some(StorageRef { id: 0, offset: 2 }));
    assert_eq!(reply.inputs.iter().map(numbers).collect::<Vec<_>>(), [vec![1., 2., 3., 8.], vec![1., 2.]]);
    let functional = Draft::default().run();
    assert_eq!(functional.inputs, []);
}

#[test]
fn a_rejected_in_place_step_leaves_its_target_alone_and_blocks_what_uses_it() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[1, 3]), draft.counting(&[2, 1]));
    let sum = draft.in_place(Op::Add, [tensor(x), tensor(y), int(1)]);
    let product = draft.step(Op::Mul, [tensor(sum), tensor(y)]);
    draft.step(Op::Mul, [tensor(product), tensor(y)]);
    draft.step(Op::Mul, [tensor(x), tensor(y)]);
    let reply = draft.run();
    rejected(&reply.steps[0].outcome);
    assert_eq!(reply.steps[1].outcome, Outcome::Blocked(sum.value));
    assert_eq!(reply.steps[2].outcome, Outcome::Blocked(product.value));
    assert_eq!(seen(&reply.steps[3].outcome).2, [1., 2., 3., 2., 4., 6.]);
    assert_eq!(numbers(&reply.inputs[0]), [1., 2., 3.]);
}

#[test]
fn out_writes_into_the_tensor_that_is_given() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2]), draft.input(&[2], &[0f64, 0.]));
    draft.out(Op::Add, [tensor(x), tensor(x), int(1)], y);
    draft.out(Op::Add, [tensor(x), int(5), int(1)], y);
    draft.out(Op::Add, [tensor(x), tensor(x), int(10)], y);
    draft.out(Op::Lt, [tensor(x), float(1.5)], y);
    draft.out(Op::Sum, [tensor(x), Arg::Nothing, Arg::Flag(false)], y);
    let reply = draft.run();
    let wanted = [vec![2., 4.], vec![6., 7.], vec![11., 22.], vec![1., 0.], vec![3.]];
    for (step, wanted) in reply.steps.iter().zip(wanted) {
        assert_eq!(seen(&step.outcome).0, DType::Float64);
        assert_eq!(numbers(only(&step.outcome)), wanted);
        assert_eq!(only(&step.outcome).storage, Some(StorageRef { id: 1, offset: 0 }));
    }
}

#[test]
fn alpha_reaches_libtorch_in_every_form() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2]), draft.counting(&[1]));
    draft.step(Op::Sub, [tensor(x), tensor(y), int(2)]);
    draft.step(Op::Sub, [tensor(x), int(3), float(0.5)]);
    draft.step(Op::Sub, [int(3), tensor(x), int(2)]);
    draft.in_place(Op::Sub, [tensor(x), tensor(y), int(2)]);
    let steps = draft.run().steps;
    let values: Vec<_> = steps.iter().map(|step| seen(&step.outcome).2).collect();
    assert_eq!(values, [[-1., 0.], [-0.5, 0.5], [1., -1.], [-1., 0.]]);
}

#[test]
fn numbers_yield_in_promotion_on_either_side() {
    let mut draft = Draft::default();
    let x = draft.input(&[2], &[100u8, 2]);
    draft.step(Op::Sub, [int(2), tensor(x), int(1)]);
    draft.step(Op::Add, [tensor(x), int(300), int(1)]);
    draft.step(Op::Mul, [float(0.5), tensor(x)]);
    draft.step(Op::Mul, [tensor(x), float(0.5)]);
    draft.step(Op::Gt, [int(3), tensor(x)]);
    draft.step(Op::Add, [tensor(x), Arg::Number(Scalar::Bool(true)), int(1)]);
    draft.in_place(Op::Add, [tensor(x), Arg::Number(Scalar::Bool(true)), int(1)]);
    draft.step(Op::Add, [int(2), int(3), int(1)]);
    let steps = draft.run().steps;
    let wanted = [
        (DType::Uint8, vec![2], vec![158., 0.]),
        (DType::Uint8, vec![2], vec![144., 46.]),
        (DType::Float32, vec![2], vec![50., 1.]),
        (DType::Float32, vec![2], vec![50., 1.]),
        (DType::Bool, vec![2], vec![0., 1.]),
        (DType::Uint8, vec![2], vec![101., 3.]),
        (DType::Uint8, vec![2], vec![101., 3.]),
        (DType::Int64, vec![], vec![5.]),
    ];
    assert_eq!(steps.iter().map(|step| seen(&step.outcome)).collect::<Vec<_>>(), wanted);
}

#[test]
fn bits_survive_whatever_the_dtype() {
    let mut draft = Draft::default();
    let payload = [f32::from_bits(0x7fc0_0123), f32::NEG_INFINITY, -0.0, f32::MIN_POSITIVE / 4.0];
    let x = draft.input(&[4], &payload);
    draft.step(Op::Unsqueeze, [tensor(x), Arg::Int(0)]);
    assert_eq!(only(&draft.last()).data, draft.0.inputs[0].data);

    for &dtype in DType::ALL {
        let mut draft = Draft::default();
        let x = draft.input(&[0, 2], &[0f32; 0]);
        draft.0.inputs[0].dtype = dtype;
        draft.step(Op::Unsqueeze, [tensor(x), Arg::Int(0)]);
        assert_eq!(seen(&draft.last()), (dtype, vec![1, 0, 2], vec![]));
    }
}

#[test]
fn a_value_beyond_the_limit_is_rejected_and_not_allocated() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[1, 1]), draft.counting(&[4]));
    let side = VALUE_LIMIT as i64 / 16;
    let huge = draft.step(Op::Expand, [tensor(x), sizes(&[1 << 40, 1 << 20])]);
    draft.step(Op::Add, [tensor(huge), tensor(y), int(1)]);
    let tall = draft.step(Op::Expand, [tensor(x), sizes(&[side, 1])]);
    let wide = draft.step(Op::Expand, [tensor(x), sizes(&[1, side])]);
    draft.step(Op::Mul, [tensor(tall), tensor(wide)]);
    draft.step(Op::Matmul, [tensor(tall), tensor(wide)]);
    let outcomes: Vec<_> = draft.run().steps.into_iter().map(|step| step.outcome).collect();
    assert!(only(&outcomes[0]).data.is_empty());
    assert!(matches!(&outcomes[1], Outcome::Rejected(_)), "{:?}", outcomes[1]);
    only(&outcomes[2]);
    assert!(matches!(outcomes[4], Outcome::Unsupported(_)), "{:?}", outcomes[4]);
    assert!(matches!(outcomes[5], Outcome::Unsupported(_)), "{:?}", outcomes[5]);
}

/// What is summed over takes no memory.
#[test]
fn products_of_small_results_are_not_too_large() {
    let mut draft = Draft::default();
    let (long, four, square) = (draft.counting(&[5000]), draft.counting(&[7, 7, 7, 7]), draft.counting(&[7, 7]));
    let heads = draft.counting(&[2, 2, 130, 8]);
    let text = |equation: &str| Arg::Text(equation.to_owned());
    draft.step(Op::Inner, [tensor(long), tensor(long)]);
    draft.step(Op::LinalgVecdot, [tensor(long), tensor(long), Arg::Int(-1)]);
    draft.step(Op::Einsum, [text("ii,iiii,ii"), Arg::Tensors(vec![square, four, square])]);
    draft.step(Op::Einsum, [text("...i, ...i, i ->"), Arg::Tensors(vec![four, four, square])]);
    draft.step(Op::Einsum, [text("a,b,c->abc"), Arg::Tensors(vec![long, long, long])]);
    let nothing = || [Arg::Nothing, float(0.0), Arg::Flag(false), Arg::Nothing, Arg::Flag(false)];
    draft.step(
        Op::ScaledDotProductAttention,
        [tensor(heads), tensor(heads), tensor(heads)].into_iter().chain(nothing()),
    );
    let outcomes: Vec<_> = draft.run().steps.into_iter().map(|step| step.outcome).collect();
    let made = |outcome: &Outcome| !matches!(outcome, Outcome::Unsupported(_));
    assert_eq!(outcomes.iter().map(made).collect::<Vec<_>>(), [true, true, true, true, false, true], "{outcomes:?}");
}

#[test]
fn steps_that_cannot_run_name_the_cause() {
    let mut draft = Draft::default();
    let x = draft.counting(&[2]);
    draft.step(Op::BroadcastShapes, [Arg::Shapes(Vec::new())]);
    draft.step(Op::BroadcastWarning, [Arg::Flag(true)]);
    draft.step(Op::Add, [Arg::Text("x".to_owned()), tensor(x), int(1)]);
    draft.in_place(Op::Expand, [tensor(x), sizes(&[2])]);
    let outcomes: Vec<_> = draft.run().steps.into_iter().map(|step| step.outcome).collect();
    assert!(matches!(outcomes[0], Outcome::Unsupported(_)), "{:?}", outcomes[0]);
    assert!(matches!(outcomes[1], Outcome::Unsupported(_)), "{:?}", outcomes[1]);
    assert!(matches!(outcomes[2], Outcome::Failed(_)), "{:?}", outcomes[2]);
    assert!(matches!(outcomes[3], Outcome::Unsupported(_)), "{:?}", outcomes[3]);

    draft.0.inputs[0].data.pop();
    assert!(matches!(draft.last(), Outcome::Failed(_)));
}

/// Each with an argument of its kind for what has no default. Whether libtorch likes their values is not asked: it may
/// reject them, but it has to have the operator, and the adapter the arguments that the operator takes.
#[test]
fn every_form_of_the_table_is_one_that_libtorch_has() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2]), draft.counting(&[2]));
    let argument = |kind: ParamKind| match kind {
        ParamKind::Tensor | ParamKind::Operand | ParamKind::Value => tensor(x),
        ParamKind::Tensors => Arg::Tensors(vec![x, y]),
        ParamKind::Indices => Arg::Indices(vec![Some(y)]),
        ParamKind::Shapes => Arg::Shapes(vec![ShapeArg::Sizes(vec![2])]),
        ParamKind::Number => int(1),
        ParamKind::Int => Arg::Int(0),
        ParamKind::Ints => Arg::Ints(vec![2]),
        ParamKind::Dims => Arg::Int(0),
        ParamKind::Real => float(1.0),
        ParamKind::Reduction | ParamKind::Text => Arg::Text("none".to_owned()),
        ParamKind::Flag => Arg::Flag(false),
        ParamKind::Dtype => Arg::Dtype(DType::Float32),
        ParamKind::ScalarType => Arg::ScalarType(ScalarType::Float32),
        ParamKind::Index => index(&[IndexItem::Ellipsis]),
    };
    let (mut tried, mut missing) = (0, Vec::new());
    for &op in Op::ALL.iter().filter(|op| !op.is_front_end()) {
        for &form in op.info().forms.iter().filter(|&&form| form != Form::Functional) {
            let mut draft = draft.clone();
            let params = op.info().arguments.iter();
            let args = params.map(|param| match param.default {
                // Of everything, prod has no form that writes to a tensor given as out.
                Some(ParamDefault::Nothing) if param.name == "dim" => Arg::Int(0),
                Some(default) => default.into(),
                None => argument(param.kind),
            });
            match form {
                Form::InPlace => draft.in_place(op, args),
                _ => draft.out(op, args, y),
            };
            match draft.last() {
                Outcome::Value(_) => {}
                Outcome::Rejected(rejected) if !rejected.message.contains("INTERNAL ASSERT") => {}
                other => missing.push(format!("{op:?} {form:?}: {other:?}")),
            }
            tried += 1;
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(tried > 150, "only {tried} forms tried");
}
