//! The aliases of the operation table: libtorch's other names reply as the operations themselves do.

mod common;

use broadcheck_libtorch::{Libtorch, missing_aliases};
use broadcheck_protocol::adapter::Implementation;
use broadcheck_protocol::ops::{Form, Op, ParamKind};
use broadcheck_protocol::program::{Arg, Outcome, Program, Reply, ValueRef};
use broadcheck_protocol::tensor::DType;
use common::*;
use num_complex::Complex32;

/// The dtypes of the two operands.
const DTYPES: &[(DType, DType)] = &[
    (DType::Float32, DType::Float32),
    (DType::Int64, DType::Int64),
    (DType::Bool, DType::Bool),
    (DType::Bool, DType::Uint8),
    (DType::Int32, DType::Int64),
    (DType::Int64, DType::Float32),
    (DType::Float16, DType::Float32),
    (DType::Float32, DType::Float64),
    (DType::Complex64, DType::Float32),
];

/// The shapes of the two operands: equal, broadcast in one direction or in both, without dimensions, and two that differ.
const SHAPES: &[(&[i64], &[i64])] =
    &[(&[2, 3], &[2, 3]), (&[2, 3], &[3]), (&[2, 1], &[3]), (&[2, 3], &[]), (&[], &[3]), (&[2], &[3]), (&[0, 3], &[3])];

#[test]
fn every_alias_replies_as_its_operation_does() {
    let mut by_aliases = Libtorch::by_aliases();
    let (mut programs, mut rejected) = (0, 0);
    for op in Op::ALL.iter().copied().filter(|op| !op.info().aliases.is_empty()) {
        for program in programs_of(op) {
            let own = Libtorch::new().run(&program);
            assert_eq!(by_aliases.run(&program), own, "{op}: {program:?}");
            programs += 1;
            rejected += usize::from(!is_accepted(&own));
        }
    }
    let (calls, missing) = (by_aliases.alias_calls(), missing_aliases());
    println!("{programs} programs, {rejected} of them rejected; libtorch does not register {missing:?}");
    calls.iter().for_each(|((alias, form), count)| println!("{alias} {form:?}: {count} calls"));
    assert!((programs / 10..programs * 9 / 10).contains(&rejected), "{rejected} of {programs} programs are rejected");

    let aliases: Vec<&str> = Op::ALL.iter().flat_map(|op| op.info().aliases).map(|(alias, _)| *alias).collect();
    let called = |alias: &str| calls.keys().any(|(called, _)| *called == alias);
    let forgotten: Vec<&&str> = aliases.iter().filter(|alias| !called(alias) && !missing.contains(alias)).collect();
    assert_eq!(forgotten, [] as [&&str; 0], "no program calls these aliases");
    assert_eq!(aliases.iter().filter(|alias| called(alias)).count() + missing.len(), aliases.len());
    assert!(aliases.len() >= 26, "{aliases:?}");
}

/// Aliases are called in each form that they have.
#[test]
fn aliases_are_called_in_place_and_with_out() {
    let mut by_aliases = Libtorch::by_aliases();
    for op in [Op::Mul, Op::Lt, Op::BitwiseAnd, Op::Atan2] {
        programs_of(op).iter().for_each(|program| drop(by_aliases.run(program)));
    }
    let (calls, missing) = (by_aliases.alias_calls(), missing_aliases());
    for (alias, form) in [
        ("multiply", Form::InPlace),
        ("multiply", Form::Out),
        ("less", Form::InPlace),
        ("less", Form::Out),
        ("__and__", Form::Functional),
        ("__iand__", Form::InPlace),
        ("arctan2", Form::InPlace),
        ("arctan2", Form::Out),
    ] {
        assert!(calls.contains_key(&(alias, form)) || missing.contains(&alias), "{alias} {form:?}: {calls:?}");
    }
    assert!(!calls.contains_key(&("__and__", Form::Out)), "the operator & has no out=");
}

fn is_accepted(reply: &Reply) -> bool {
    reply.steps.iter().all(|step| matches!(step.outcome, Outcome::Value(_)))
}

/// Programs that call an operation once: on operands of several shapes and dtypes, in each of its forms.
fn programs_of(op: Op) -> Vec<Program> {
    let mut programs = Vec::new();
    for &dtypes in DTYPES {
        for &shapes in SHAPES {
            programs.extend(on_tensors(op, shapes, dtypes));
        }
        programs.extend(on_scalars(op, dtypes.0));
        programs.extend(into_targets(op, dtypes));
    }
    programs.extend(gradient(op));
    programs
}

/// Functional and in place, with each of the options.
fn on_tensors(op: Op, shapes: (&[i64], &[i64]), dtypes: (DType, DType)) -> Vec<Program> {
    let mut draft = Draft::default();
    let (x, y) = (operand(&mut draft, dtypes.0, shapes.0), operand(&mut draft, dtypes.1, shapes.1));
    let calls = calls(op, tensor(x), tensor(y));
    let mut programs: Vec<Program> = calls.iter().map(|args| functional(&draft, op, args)).collect();
    if op.info().forms.contains(&Form::InPlace) {
        programs.extend(calls.iter().map(|args| in_place(&draft, op, args)));
    }
    programs
}

/// A scalar on either side, where the operation takes one.
fn on_scalars(op: Op, dtype: DType) -> Vec<Program> {
    let mut draft = Draft::default();
    let x = operand(&mut draft, dtype, &[2, 3]);
    let out = draft.input(&[2, 3], &[0f32; 6]);
    let params = op.info().arguments;
    let mut programs = Vec::new();
    for number in [int(2), float(2.5)] {
        if params.get(1).is_some_and(|param| param.kind == ParamKind::Operand) {
            for args in calls(op, tensor(x), number.clone()) {
                programs.push(functional(&draft, op, &args));
                programs.push(with_out(&draft, op, &args, out));
                if op.info().forms.contains(&Form::InPlace) {
                    programs.push(in_place(&draft, op, &args));
                }
            }
        }
        if params[0].kind == ParamKind::Operand {
            programs.extend(calls(op, number, tensor(x)).iter().map(|args| functional(&draft, op, args)));
        }
    }
    programs
}

/// Targets: of the dtypes that the result may have, of another shape, an operand itself, and one with internal overlap.
///
/// The target of another shape has more elements than the result, so that none of the result is uninitialized memory.
fn into_targets(op: Op, dtypes: (DType, DType)) -> Vec<Program> {
    let mut programs = Vec::new();
    for (dtype, shape) in [
        (dtypes.0, [2, 3]),
        (DType::Bool, [2, 3]),
        (DType::Int64, [2, 3]),
        (DType::Float64, [2, 3]),
        (DType::Float64, [4, 4]),
    ] {
        let mut draft = Draft::default();
        let (x, y) = (operand(&mut draft, dtypes.0, &[2, 1]), operand(&mut draft, dtypes.1, &[3]));
        let out = operand(&mut draft, dtype, &shape);
        programs.extend(calls(op, tensor(x), tensor(y)).iter().map(|args| with_out(&draft, op, args, out)));
    }
    let mut draft = Draft::default();
    let (x, y) = (operand(&mut draft, dtypes.0, &[2, 3]), operand(&mut draft, dtypes.1, &[3]));
    let row = operand(&mut draft, dtypes.0, &[1, 3]);
    programs.extend(calls(op, tensor(x), tensor(y)).iter().map(|args| with_out(&draft, op, args, x)));
    let expanded = draft.step(Op::Expand, [tensor(row), sizes(&[2, 3])]);
    programs.extend(calls(op, tensor(x), tensor(y)).iter().map(|args| with_out(&draft, op, args, expanded)));
    if op.info().forms.contains(&Form::InPlace) {
        programs.extend(calls(op, tensor(expanded), tensor(y)).iter().map(|args| in_place(&draft, op, args)));
    }
    programs
}

/// The gradients of both operands.
fn gradient(op: Op) -> Option<Program> {
    if !op.info().differentiable {
        return None;
    }
    let mut draft = Draft::default();
    let (x, y) = (operand(&mut draft, DType::Float32, &[2, 1]), operand(&mut draft, DType::Float32, &[3]));
    draft.keeps_gradient(x);
    draft.keeps_gradient(y);
    let result = draft.step(op, calls(op, tensor(x), tensor(y)).swap_remove(0));
    let total = draft.step(Op::Sum, [tensor(result), Arg::Nothing, Arg::Flag(false), Arg::Nothing]);
    draft.step(Op::Backward, [tensor(total), Arg::Nothing]);
    draft.step(Op::Grad, [tensor(x)]);
    draft.step(Op::Grad, [tensor(y)]);
    Some(draft.0)
}

/// The arguments of an operation on these operands, with each of the options that it may have.
fn calls(op: Op, x: Arg, y: Arg) -> Vec<Vec<Arg>> {
    let options: &[Arg] = match op {
        Op::Add | Op::Sub | Op::Rsub => &[int(1), int(2), float(2.5)],
        Op::Div => &[Arg::Nothing, text("floor"), text("trunc"), text("nearest")],
        Op::Clamp => return vec![vec![x.clone(), y.clone(), Arg::Nothing], vec![x, Arg::Nothing, y]],
        _ if op.info().arguments.len() == 1 => return vec![vec![x]],
        _ => return vec![vec![x, y]],
    };
    options.iter().map(|option| vec![x.clone(), y.clone(), option.clone()]).collect()
}

fn text(text: &str) -> Arg {
    Arg::Text(text.to_owned())
}

fn functional(draft: &Draft, op: Op, args: &[Arg]) -> Program {
    let mut draft = draft.clone();
    draft.step(op, args.to_vec());
    draft.0
}

fn in_place(draft: &Draft, op: Op, args: &[Arg]) -> Program {
    let mut draft = draft.clone();
    draft.in_place(op, args.to_vec());
    draft.0
}

fn with_out(draft: &Draft, op: Op, args: &[Arg], out: ValueRef) -> Program {
    let mut draft = draft.clone();
    draft.out(op, args.to_vec(), out);
    draft.0
}

/// An input of the numbers 1 to 4, over and over, or of true and false.
fn operand(draft: &mut Draft, dtype: DType, shape: &[i64]) -> ValueRef {
    /// The bits of these numbers in float16.
    const HALVES: [i16; 4] = [0x3c00, 0x4000, 0x4200, 0x4400];
    let count = shape.iter().product::<i64>() as usize;
    let numbers = || (0..count).map(|at| at % 4 + 1);
    match dtype {
        DType::Bool => draft.input(shape, &numbers().map(|number| number % 2 == 1).collect::<Vec<_>>()),
        DType::Uint8 => draft.input(shape, &numbers().map(|number| number as u8).collect::<Vec<_>>()),
        DType::Int32 => draft.input(shape, &numbers().map(|number| number as i32).collect::<Vec<_>>()),
        DType::Int64 => draft.input(shape, &numbers().map(|number| number as i64).collect::<Vec<_>>()),
        DType::Float32 => draft.input(shape, &numbers().map(|number| number as f32).collect::<Vec<_>>()),
        DType::Float64 => draft.input(shape, &numbers().map(|number| number as f64).collect::<Vec<_>>()),
        DType::Complex64 => {
            draft.input(shape, &numbers().map(|number| Complex32::new(number as f32, 1.0)).collect::<Vec<_>>())
        }
        DType::Float16 => {
            let half = draft.input(shape, &numbers().map(|number| HALVES[number - 1]).collect::<Vec<_>>());
            draft.0.inputs[half.value].dtype = DType::Float16;
            half
        }
        other => panic!("no operand of {other:?}"),
    }
}
