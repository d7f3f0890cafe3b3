//! Right results are judged right, and each kind of wrong one is found.

mod edges;

use crate::mathematics::judge;
use crate::mathematics::set::{Format, Set};
use crate::ops::{Form, Op};
use crate::program::{
    Arg, Input, Outcome, Program, Rejected, Reply, Step, StepOutcome, StorageRef, TensorValue, Value, ValueRef,
};
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

fn bytes(dtype: DType, values: &[f64]) -> (Shape, Vec<u8>) {
    let shape = Shape::new(vec![values.len() as i64]).unwrap();
    let buffer = Buffer::from_scalars(dtype, values.iter().map(|value| Scalar::Float(*value)));
    (shape.clone(), buffer.to_bytes(&Layout::contiguous(shape)))
}

pub(super) fn input(name: &str, dtype: DType, values: &[f64], requires_grad: bool) -> Input {
    let (shape, data) = bytes(dtype, values);
    Input { name: name.to_owned(), dtype, shape, data, requires_grad }
}

pub(super) fn tensor(dtype: DType, values: &[f64], storage: usize) -> StepOutcome {
    let (shape, data) = bytes(dtype, values);
    let storage = Some(StorageRef { id: storage, offset: 0 });
    let tensor = TensorValue { dtype, shape, data, strides: Some(vec![1]), storage };
    StepOutcome::of(Outcome::Value(Value::Tensor(tensor)))
}

pub(super) fn step(name: &str, op: Op, uses: &[usize], rest: Vec<Arg>) -> Step {
    let args = uses.iter().map(|&value| Arg::Tensor(ValueRef { value, part: None })).chain(rest).collect();
    Step { name: name.to_owned(), op, form: Form::Functional, args, out: None }
}

pub(super) fn shaped(dtype: DType, sizes: &[i64], values: &[f64]) -> (Shape, Vec<u8>) {
    (Shape::new(sizes.to_vec()).unwrap(), bytes(dtype, values).1)
}

/// The sizes and elements of a result, if it is a tensor.
type Made<'a> = Option<(&'a [i64], &'a [f64])>;

/// What is said of the last step of a program on tensors of float64, whose results are given.
pub(super) fn judged(inputs: &[(&[i64], &[f64], bool)], steps: Vec<Step>, results: &[Made]) -> Option<String> {
    let dtype = DType::Float64;
    let inputs = inputs.iter().enumerate().map(|(number, (sizes, values, requires_grad))| {
        let (shape, data) = shaped(dtype, sizes, values);
        Input { name: format!("x{number}"), dtype, shape, data, requires_grad: *requires_grad }
    });
    let program = Program { inputs: inputs.collect(), steps };
    let result = |(number, result): (usize, &Made)| {
        StepOutcome::of(Outcome::Value(match result {
            None => Value::Nothing,
            Some((sizes, values)) => {
                let (shape, data) = shaped(dtype, sizes, values);
                let storage = Some(StorageRef { id: program.inputs.len() + number, offset: 0 });
                Value::Tensor(TensorValue { dtype, shape, data, strides: None, storage })
            }
        }))
    };
    let reply = Reply { steps: results.iter().enumerate().map(result).collect(), inputs: Vec::new() };
    judge(&program, &reply).pop().map(|difference| format!("{} / {}", difference.by, difference.expected))
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
    assert_eq!(said(Op::Ldexp, Float32, &[0.0], &[16777216.0], vec![], (Float32, &[0.0])), None);
    assert_eq!(
        said(
            Op::Ldexp,
            Float64,
            &[5e-324],
            &[2000.0],
            vec![],
            (Float64, &[5e-324 * 2f64.powi(1000) * 2f64.powi(1000)])
        ),
        None
    );
    assert_eq!(said(Op::Nextafter, Float64, &[1.0], &[0.0], vec![], (Float64, &[1f64.next_down()])), None);
    assert_eq!(said(Op::Logaddexp, Float64, &[1000.0], &[1000.0], vec![], (Float64, &[1000.0 + 2f64.ln()])), None);
}

/// The first product of three factors underflows, and the third multiplies what it has lost.
#[test]
fn sums_count_what_underflows_on_the_way() {
    let addr = |result: f64| {
        let rest = vec![Arg::Number(Scalar::Int(1)), Arg::Number(Scalar::Float(6e-8))];
        let inputs: &[(&[i64], &[f64], bool)] =
            &[(&[1, 1], &[0.0], false), (&[1], &[2.2250738585072014e-308], false), (&[1], &[33.0], false)];
        judged(inputs, vec![step("r", Op::Addr, &[0, 1, 2], rest)], &[Some((&[1, 1], &[result]))])
    };
    assert_eq!(addr(4.4056462457e-314), None);
    assert!(addr(4.41e-314).is_some());
}

/// Of the error function of 5 a series in float64 has lost seven digits.
#[test]
fn an_error_function_is_summed_in_wide_arithmetic_or_not_at_all() {
    let slope = |at: f64, result: f64| {
        said(
            Op::GeluBackward,
            DType::Float64,
            &[at],
            &[at],
            vec![Arg::Text("none".to_owned())],
            (DType::Float64, &[result]),
        )
    };
    assert_eq!(slope(7.0710678118654755, 7.071067812137064), None);
    assert_eq!(slope(0.0, 0.0), None);
    assert!(slope(1.0, 1.1).is_some());
}

/// An element that eps rounds to lies within it, or beyond it.
#[test]
fn on_which_side_of_a_rounded_bound_an_element_lies_is_open() {
    let at = f64::from(6e-8f32);
    let slope = |at: f64, result: f64| {
        let eps = vec![Arg::Number(Scalar::Float(6e-8))];
        said(Op::LogitBackward, DType::Float32, &[at], &[at], eps, (DType::Float32, &[result]))
    };
    assert_eq!((slope(at, 1.0000001192092896), slope(at, 0.0)), (None, None));
    assert!(slope(f64::from(5e-8f32), 1.0).is_some());
}

/// A view of more elements than can be gone through has another shape than a result that was printed.
#[test]
fn views_beyond_counting_are_judged_by_their_shape() {
    let sizes = Arg::Ints(vec![1 << 40, 1]);
    let said =
        judged(&[(&[1], &[1.0], false)], vec![step("r", Op::Expand, &[0], vec![sizes])], &[Some((&[1], &[1.0]))]);
    assert!(said.is_some_and(|said| said.contains("[1099511627776, 1]")));
}

/// One wrong result of each kind of set, each of which names its authority.
#[test]
fn wrong_results_are_found() {
    use DType::{Bool, Float16, Float32, Float64, Int8};
    let one_off = f64::from((1.0f32 / 3.0).next_up());
    let wrong: [(Op, DType, f64, f64, DType, f64, &str); 18] = [
        (Op::Div, Float32, 1.0, 3.0, Float32, one_off, "IEEE 754"),
        (Op::Mul, Int8, 100.0, 2.0, Int8, 127.0, "wrap around"),
        (Op::Pow, Float64, f64::NAN, 0.0, Float64, f64::NAN, "F.10.4.4"),
        (Op::Atan2, Float32, 0.0, -0.0, Float32, 0.0, "F.10.1.4"),
        (Op::Hypot, Float32, f64::INFINITY, f64::NAN, Float32, f64::NAN, "F.10.4.3"),
        (Op::Maximum, Float32, f64::NAN, 1.0, Float32, 1.0, "torch.maximum"),
        (Op::Lt, Float64, 1.0, 1.0, Bool, 1.0, "comparisons"),
        (Op::Ldexp, Float32, 0.0, 255.0, Float32, f64::NAN, "value of the function"),
        (Op::Ldexp, Float32, 0.0, 16777216.0, Float32, f64::NAN, "value of the function"),
        (Op::Ldexp, Float64, 5e-324, 2000.0, Float64, f64::INFINITY, "value of the function"),
        (Op::Xlogy, Float64, 0.0, 0.0, Float64, f64::NAN, "torch.xlogy"),
        (Op::Remainder, Float64, -1.0, 3.0, Float64, -1.0, "sign of the divisor"),
        (Op::Remainder, Float64, -1.0, 1.0, Float64, -0.0, "sign of the divisor"),
        (Op::FloorDivide, Float16, 2158.0, 3.0, Float16, 718.0, "rounded to an integer"),
        (Op::Igamma, Float64, f64::NAN, 0.0, Float64, 0.0, "IEEE 754"),
        (Op::SpecialZeta, Float64, 2.0, f64::INFINITY, Float64, f64::NAN, "terms are zeros"),
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

/// A result that another authority holds right is disputed; one that none holds right is wrong, and comes first.
#[test]
fn disputes_are_between_authorities() {
    let heaviside =
        |a: &[f64], result: &[f64]| said(Op::Heaviside, DType::Float64, a, &[7.0], vec![], (DType::Float64, result));
    assert_eq!(heaviside(&[f64::NAN], &[f64::NAN]), None);
    let disputed = |said: Option<String>| said.expect("it is said").starts_with("disputed: ");
    assert!(disputed(heaviside(&[f64::NAN], &[0.0])));
    assert!(!disputed(heaviside(&[f64::NAN], &[7.0])), "no authority has this value");
    assert!(!disputed(heaviside(&[f64::NAN, 1.0], &[0.0, 2.0])), "a wrong element after a disputed one");
    let of_nan = |place: f64| {
        let rest = vec![Arg::Int(0), Arg::Flag(true)];
        let program = Program {
            inputs: vec![input("x", DType::Float64, &[1.0, f64::NAN, 2.0], false)],
            steps: vec![step("r", Op::Argmax, &[0], rest)],
        };
        let reply = Reply { steps: vec![tensor(DType::Int64, &[place], 1)], inputs: Vec::new() };
        judge(&program, &reply).pop().map(|difference| difference.by)
    };
    assert_eq!(of_nan(1.0), None);
    assert!(disputed(of_nan(2.0)));
    assert!(!disputed(of_nan(0.0)));
}

/// A number just below the middle of two of bfloat16 is the middle in float32, and goes to the even one from there.
#[test]
fn conversions_to_16_bits_round_once_or_twice() {
    let format = Format::of(DType::Bfloat16).expect("a format");
    let middle = 1.0 + 2f64.powi(-8) + 2f64.powi(-7);
    let right = Set::Exactly(Scalar::Float(middle - 2f64.powi(-40))).converted(format);
    let holds = |value: f64| right.contains(Scalar::Float(value));
    assert!(holds(1.0 + 2f64.powi(-7)) && holds(1.0 + 2f64.powi(-6)));
    assert!(!holds(1.0) && !holds(middle));
    let exact = Set::Exactly(Scalar::Float(1.5)).converted(format);
    assert!(exact.contains(Scalar::Float(1.5)) && !exact.contains(Scalar::Float(1.5 + 2f64.powi(-7))));
}

/// False is less than true, and the first of equals counts.
#[test]
fn truths_have_an_order() {
    let place = |op: Op, truths: [f64; 3], place: f64| {
        let program = Program {
            inputs: vec![input("x", DType::Bool, &truths, false)],
            steps: vec![step("r", op, &[0], vec![Arg::Int(0), Arg::Flag(true)])],
        };
        judge(&program, &Reply { steps: vec![tensor(DType::Int64, &[place], 1)], inputs: Vec::new() }).pop()
    };
    assert_eq!(place(Op::Argmin, [1.0, 0.0, 0.0], 1.0), None);
    assert_eq!(place(Op::Argmax, [0.0, 1.0, 1.0], 1.0), None);
    assert!(place(Op::Argmin, [1.0, 0.0, 0.0], 0.0).is_some());
    assert!(place(Op::Argmax, [0.0, 1.0, 1.0], 2.0).is_some());
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
    // The hypotenuse has a kink at the origin.
    assert_eq!(gradient(Op::Hypot, 0.0, 0.0, 0.0, 1.0), None);
    assert!(gradient(Op::Hypot, 0.0, 0.0, 0.0, f64::NAN).is_some());
    assert_eq!(gradient(Op::Ldexp, 3.0, 2.0, 12.0, 4.0), None);
    assert_eq!(gradient(Op::Remainder, 7.0, 3.0, 1.0, 1.0), None);
    assert!(gradient(Op::Fmod, 7.0, 3.0, 1.0, 2.0).is_some());
    assert_eq!(gradient(Op::Fmod, 6.0, 3.0, 0.0, 2.0), None, "it jumps there");
    assert_eq!(gradient(Op::Logaddexp, 0.0, 0.0, 2f64.ln(), 0.5), None);
    assert!(gradient(Op::Logaddexp, 0.0, 0.0, 2f64.ln(), 1.0).is_some());
}

fn value(value: usize) -> ValueRef {
    ValueRef { value, part: None }
}

/// What is said of the result of one step on tensors, the rest of whose arguments is given.
pub(super) fn of_step(op: Op, inputs: &[(&[i64], &[f64])], rest: Vec<Arg>, result: (&[i64], &[f64])) -> Option<String> {
    let inputs: Vec<(&[i64], &[f64], bool)> = inputs.iter().map(|(sizes, values)| (*sizes, *values, false)).collect();
    let uses: Vec<usize> = (0..inputs.len()).collect();
    judged(&inputs, vec![step("r", op, &uses, rest)], &[Some(result)])
}

/// The shape of a reduction, which `dim` and `keepdim` say.
#[test]
fn reductions_have_the_shape_of_what_they_keep() {
    let sum = |dims: Vec<i64>, keeps: bool, result: (&[i64], &[f64])| {
        let rest = vec![Arg::Ints(dims), Arg::Flag(keeps), Arg::Nothing];
        of_step(Op::Sum, &[(&[2, 2], &[1.0, 2.0, 3.0, 4.0])], rest, result)
    };
    assert_eq!(sum(vec![0], true, (&[1, 2], &[4.0, 6.0])), None);
    assert_eq!(sum(vec![0, 1], false, (&[], &[10.0])), None);
    assert!(sum(vec![0], true, (&[2], &[4.0, 6.0])).unwrap().contains("[1, 2]"));
    assert!(sum(vec![0, 1], false, (&[2], &[4.0, 6.0])).unwrap().contains("keepdim"));
}

/// Views choose elements by their definition, from either end of a dimension.
#[test]
fn views_are_of_the_elements_that_they_name() {
    let matrix: (&[i64], &[f64]) = (&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let one = |op: Op, rest: Vec<Arg>, result: (&[i64], &[f64])| of_step(op, &[matrix], rest, result);
    let select = |result: (&[i64], &[f64])| one(Op::Select, vec![Arg::Int(1), Arg::Int(-1)], result);
    assert_eq!(select((&[2], &[3.0, 6.0])), None);
    assert!(select((&[2], &[1.0, 4.0])).is_some(), "counted from the other end");
    let transposed = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
    assert_eq!(one(Op::Transpose, vec![Arg::Int(0), Arg::Int(1)], (&[3, 2], &transposed)), None);
    assert!(one(Op::Transpose, vec![Arg::Int(0), Arg::Int(1)], (&[3, 2], matrix.1)).is_some());
    assert_eq!(one(Op::Unsqueeze, vec![Arg::Int(-1)], (&[2, 3, 1], matrix.1)), None);
    assert!(one(Op::Unsqueeze, vec![Arg::Int(-1)], (&[1, 2, 3], matrix.1)).is_some());
    assert_eq!(one(Op::Narrow, vec![Arg::Int(1), Arg::Int(1), Arg::Int(2)], (&[2, 2], &[2.0, 3.0, 5.0, 6.0])), None);
    let index = crate::tensor::index::parse("..., None, 1").unwrap();
    assert_eq!(one(Op::Index, vec![Arg::Index(index.clone())], (&[2, 1], &[2.0, 5.0])), None);
    assert!(one(Op::Index, vec![Arg::Index(index)], (&[2, 1], &[2.0, 4.0])).is_some());
    let expanded = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(one(Op::Expand, vec![Arg::Ints(vec![2, -1, 3])], (&[2, 2, 3], &expanded)), None);
}

/// The value of an assignment loses its leading sizes of 1 and expands; what the index does not name stays.
#[test]
fn assignments_write_the_part() {
    let assign = |value: Arg, result: &[f64]| {
        let mut inputs = vec![input("x", DType::Float32, &[1.0, 2.0, 3.0], false)];
        let (shape, data) = shaped(DType::Float32, &[1, 1, 1], &[9.0]);
        inputs.push(Input { name: "v".to_owned(), dtype: DType::Float32, shape, data, requires_grad: false });
        let index = Arg::Index(crate::tensor::index::parse("1:").unwrap());
        let step = Step { form: Form::InPlace, ..step("r", Op::SetItem, &[0], vec![index, value]) };
        let reply = Reply { steps: vec![tensor(DType::Float32, result, 0)], inputs: Vec::new() };
        judge(&Program { inputs, steps: vec![step] }, &reply).pop().map(|difference| difference.observed)
    };
    let (value, number) = (Arg::Tensor(value(1)), Arg::Number(Scalar::Float(9.0)));
    assert_eq!(assign(value.clone(), &[1.0, 9.0, 9.0]), None);
    assert!(assign(value.clone(), &[1.0, 9.0, 3.0]).unwrap().contains("3.0 at [2]"));
    assert!(assign(value, &[9.0, 9.0, 9.0]).unwrap().contains("9.0 at [0]"), "it writes beside the part");
    assert_eq!(assign(number.clone(), &[1.0, 9.0, 9.0]), None);
    assert!(assign(number, &[1.0, 9.0, 8.0]).is_some());
}

/// `index_put` adds or replaces; of two values for one element either may stay.
#[test]
fn indices_say_what_is_read_and_written() {
    let put = |indices: &[i64], accumulate: bool, result: &[f64]| {
        let dtype = DType::Float32;
        let mut inputs = vec![input("x", dtype, &[1.0, 2.0], false), input("v", dtype, &[10.0, 20.0], false)];
        let data = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
        let shape = Shape::new(vec![2]).unwrap();
        inputs.push(Input { name: "i".to_owned(), dtype: DType::Int64, shape, data, requires_grad: false });
        let args = vec![
            Arg::Tensor(value(0)),
            Arg::Indices(vec![Some(value(2))]),
            Arg::Tensor(value(1)),
            Arg::Flag(accumulate),
        ];
        let steps = vec![Step { name: "r".to_owned(), op: Op::IndexPut, form: Form::Functional, args, out: None }];
        let reply = Reply { steps: vec![tensor(dtype, result, 3)], inputs: Vec::new() };
        judge(&Program { inputs, steps }, &reply).pop().map(|difference| difference.by)
    };
    assert_eq!(put(&[1, 0], false, &[20.0, 10.0]), None);
    assert!(put(&[1, 0], false, &[21.0, 12.0]).is_some(), "added");
    assert_eq!(put(&[1, 1], true, &[1.0, 32.0]), None);
    assert!(put(&[1, 1], true, &[1.0, 20.0]).unwrap().contains("the sum"));
    assert_eq!(put(&[-1, 1], false, &[1.0, 10.0]), None);
    assert_eq!(put(&[-1, 1], false, &[1.0, 20.0]), None);
    assert!(put(&[-1, 1], false, &[1.0, 30.0]).is_some());
    // The first index of an advanced one comes where it is; of several that are apart, theirs come first.
    let gather = of_step(Op::Clone, &[(&[2], &[1.0, 2.0])], vec![], (&[2], &[1.0, 3.0]));
    assert!(gather.unwrap().contains("2.0 at [1]"));
}

#[test]
fn products_are_those_of_their_definition() {
    let axes: [(&[i64], &[f64]); 2] = [(&[3], &[1.0, 0.0, 0.0]), (&[3], &[0.0, 1.0, 0.0])];
    let cross = |result: &[f64]| of_step(Op::LinalgCross, &axes, vec![Arg::Int(-1)], (&[3], result));
    assert_eq!(cross(&[0.0, 0.0, 1.0]), None);
    assert!(cross(&[0.0, 0.0, -1.0]).is_some(), "the other way round");
    let kron = |result: &[f64]| of_step(Op::Kron, &[(&[2], &[1.0, 2.0]), (&[2], &[1.0, 10.0])], vec![], (&[4], result));
    assert_eq!(kron(&[1.0, 10.0, 2.0, 20.0]), None);
    assert!(kron(&[1.0, 2.0, 10.0, 20.0]).is_some());
    // [[2, 1], [0, 1]] X = [[3, 3], [1, 1]], or X [[2, 1], [0, 1]] = [[2, 2], [2, 2]].
    let solve = |left: bool, b: &[f64], result: &[f64]| {
        let sides: [(&[i64], &[f64]); 2] = [(&[2, 2], &[2.0, 1.0, 0.0, 1.0]), (&[2, 2], b)];
        of_step(Op::LinalgSolve, &sides, vec![Arg::Flag(left)], (&[2, 2], result))
    };
    assert_eq!(solve(true, &[3.0, 3.0, 1.0, 1.0], &[1.0, 1.0, 1.0, 1.0]), None);
    assert_eq!(solve(false, &[2.0, 2.0, 2.0, 2.0], &[1.0, 1.0, 1.0, 1.0]), None);
    assert!(solve(false, &[3.0, 3.0, 1.0, 1.0], &[1.0, 1.0, 1.0, 1.0]).unwrap().contains("X @ A"));
    let distance = |p: f64, result: f64| {
        let rows: [(&[i64], &[f64]); 2] = [(&[1, 2], &[0.0, 0.0]), (&[1, 2], &[3.0, 4.0])];
        of_step(Op::Cdist, &rows, vec![Arg::Number(Scalar::Float(p)), Arg::Nothing], (&[1, 1], &[result]))
    };
    for (p, right) in [(2.0, 5.0), (1.0, 7.0), (f64::INFINITY, 4.0), (0.0, 2.0)] {
        assert_eq!(distance(p, right), None, "{p}");
        assert!(distance(p, right + 0.5).is_some(), "{p}");
    }
}

#[test]
fn nan_is_close_to_nan_only_if_asked() {
    let close = |a: f64, b: f64, equal_nan: bool, result: f64| {
        let number = |value: f64| Arg::Number(Scalar::Float(value));
        let rest = vec![number(1e-5), number(1e-8), Arg::Flag(equal_nan)];
        said(Op::Isclose, DType::Float64, &[a], &[b], rest, (DType::Bool, &[result]))
    };
    assert_eq!(close(f64::NAN, f64::NAN, false, 0.0), None);
    assert!(close(f64::NAN, f64::NAN, false, 1.0).is_some());
    assert!(close(f64::NAN, f64::NAN, true, 0.0).is_some());
    assert!(close(f64::INFINITY, f64::INFINITY, false, 0.0).is_some());
    assert!(close(1.0, f64::INFINITY, false, 1.0).is_some());
    assert!(close(1.0, 1.001, false, 1.0).is_some());
    // On the tolerance either is right.
    assert_eq!(close(0.0, 1e-8 / (1.0 - 1e-5), false, 0.0), None);
    assert_eq!(close(0.0, 1e-8 / (1.0 - 1e-5), false, 1.0), None);
}

/// The chain rule through broadcasting, a view and a mean: d/dx of the mean of (x[:, None] * y).transpose(0, 1) is the sum
/// of the row of y, by 6.
#[test]
fn gradients_flow_through_broadcasting_and_views() {
    let gradient = |gradient: Made| {
        let y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let product = [1.0, 2.0, 3.0, 8.0, 10.0, 12.0];
        let transposed = [1.0, 8.0, 2.0, 10.0, 3.0, 12.0];
        let steps = vec![
            step("column", Op::Unsqueeze, &[0], vec![Arg::Int(1)]),
            step("product", Op::Mul, &[2, 1], vec![]),
            step("turned", Op::Transpose, &[3], vec![Arg::Int(0), Arg::Int(1)]),
            step("mean", Op::Mean, &[4], vec![Arg::Nothing, Arg::Flag(false), Arg::Nothing]),
            step("back", Op::Backward, &[5], vec![Arg::Nothing]),
            step("g", Op::Grad, &[0], vec![]),
        ];
        let results: [Made; 6] = [
            Some((&[2, 1], &[1.0, 2.0])),
            Some((&[2, 3], &product)),
            Some((&[3, 2], &transposed)),
            Some((&[], &[6.0])),
            None,
            gradient,
        ];
        judged(&[(&[2], &[1.0, 2.0], true), (&[2, 3], &y, false)], steps, &results)
    };
    assert_eq!(gradient(Some((&[2], &[1.0, 2.5]))), None);
    assert!(gradient(Some((&[2], &[6.0, 15.0]))).unwrap().contains("mean of transpose of mul"), "not averaged");
    assert!(gradient(Some((&[2], &[0.5, 1.0]))).is_some(), "not summed");
    assert!(gradient(Some((&[2, 1], &[1.0, 2.5]))).unwrap().contains("the shape of its tensor"));
    assert!(gradient(Some((&[2], &[f64::NAN, 2.5]))).is_some());
    assert!(gradient(None).is_some(), "there is a gradient");
}

/// d/dA of the sum of A @ b is b in each row; what is written in place carries the gradient on.
#[test]
fn gradients_flow_through_products_and_writes() {
    let gradient = |gradient: &[f64]| {
        let mut doubled = step("doubled", Op::Mul, &[2, 2], vec![]);
        doubled.form = Form::InPlace;
        let steps = vec![
            step("product", Op::Mv, &[0, 1], vec![]),
            doubled,
            step("sum", Op::Sum, &[2], vec![Arg::Nothing, Arg::Flag(false), Arg::Nothing]),
            step("back", Op::Backward, &[4], vec![Arg::Nothing]),
            step("g", Op::Grad, &[0], vec![]),
        ];
        // (1 3 + 2 4, 0 3 + 1 4), squared in place.
        let results: [Made; 5] = [
            Some((&[2], &[11.0, 4.0])),
            Some((&[2], &[121.0, 16.0])),
            Some((&[], &[137.0])),
            None,
            Some((&[2, 2], gradient)),
        ];
        judged(&[(&[2, 2], &[1.0, 2.0, 0.0, 1.0], true), (&[2], &[3.0, 4.0], false)], steps, &results)
    };
    assert_eq!(gradient(&[66.0, 88.0, 24.0, 32.0]), None);
    assert!(gradient(&[3.0, 4.0, 3.0, 4.0]).is_some(), "without the square");
}

/// d/dx of the variance of (1, 2, 6) with a correction of 1 is (x - 3), of its deviation that by twice the deviation; and
/// d/dq of zeta(2, 1), the sum of 1/n^2, is -2 zeta(3), by Apery's constant.
#[test]
fn gradients_flow_through_spreads_and_zeta() {
    let spread = |op: Op, result: f64, gradient: &[f64]| {
        let rest = vec![Arg::Nothing, Arg::Nothing, Arg::Flag(false), Arg::Nothing];
        let steps = vec![
            step("r", op, &[0], rest),
            step("back", Op::Backward, &[1], vec![Arg::Nothing]),
            step("g", Op::Grad, &[0], vec![]),
        ];
        judged(&[(&[3], &[1.0, 2.0, 6.0], true)], steps, &[Some((&[], &[result])), None, Some((&[3], gradient))])
    };
    assert_eq!(spread(Op::Var, 7.0, &[-2.0, -1.0, 3.0]), None);
    assert!(spread(Op::Var, 7.0, &[-4.0, -2.0, 6.0]).unwrap().contains("derivative of var"));
    let by = 1.0 / 7f64.sqrt() / 2.0;
    assert_eq!(spread(Op::Std, 7f64.sqrt(), &[-2.0 * by, -by, 3.0 * by]), None);
    assert!(spread(Op::Std, 7f64.sqrt(), &[f64::INFINITY, -by, 3.0 * by]).is_some());

    let zeta = |gradient: f64| {
        let steps = vec![
            step("r", Op::SpecialZeta, &[0, 1], vec![]),
            step("back", Op::Backward, &[2], vec![Arg::Nothing]),
            step("g", Op::Grad, &[1], vec![]),
        ];
        let sum = std::f64::consts::PI.powi(2) / 6.0;
        judged(
            &[(&[], &[2.0], false), (&[], &[1.0], true)],
            steps,
            &[Some((&[], &[sum])), None, Some((&[], &[gradient]))],
        )
    };
    assert_eq!(zeta(-2.0 * 1.202_056_903_159_594), None);
    assert!(zeta(-2.0).unwrap().contains("derivative of special_zeta"));
}

/// A polynomial of NaN is NaN, and so is 0 times an infinite product, which BLAS leaves out.
#[test]
fn nan_comes_through() {
    let legendre = |degree: f64, result: f64| {
        said(
            Op::SpecialLegendrePolynomialP,
            DType::Float64,
            &[f64::NAN],
            &[degree],
            vec![],
            (DType::Float64, &[result]),
        )
    };
    assert_eq!(legendre(3.0, f64::NAN), None);
    assert!(legendre(3.0, 7.0).is_some());
    assert_eq!(legendre(0.0, 1.0), None, "of degree 0 it is 1");
    let factor = |alpha: f64, result: f64| {
        let operands: [(&[i64], &[f64]); 3] = [(&[1], &[2.0]), (&[1, 1], &[f64::INFINITY]), (&[1], &[1.0])];
        let rest = vec![Arg::Number(Scalar::Int(1)), Arg::Number(Scalar::Float(alpha))];
        of_step(Op::Addmv, &operands, rest, (&[1], &[result]))
    };
    assert_eq!(factor(0.0, f64::NAN), None);
    assert!(factor(0.0, 2.0).unwrap().starts_with("disputed"));
    assert!(!factor(0.0, 3.0).unwrap().starts_with("disputed"), "no authority has this value");
}

/// Terms of a loss are computed in the dtype that its operands are promoted to: bfloat16, beside a float32 without dimensions.
#[test]
fn losses_are_as_exact_as_their_terms() {
    let huber = |result: f64| {
        let (shape, data) = shaped(DType::Float32, &[], &[4.0]);
        let number = Input { name: "x".to_owned(), dtype: DType::Float32, shape, data, requires_grad: false };
        let inputs = vec![number, input("y", DType::Bfloat16, &[1.0], false)];
        let rest = vec![Arg::Text("mean".to_owned()), Arg::Number(Scalar::Float(1.0))];
        let steps = vec![step("r", Op::HuberLoss, &[0, 1], rest)];
        let (shape, data) = shaped(DType::Float32, &[], &[result]);
        let storage = Some(StorageRef { id: 2, offset: 0 });
        let tensor = TensorValue { dtype: DType::Float32, shape, data, strides: None, storage };
        let reply = Reply { steps: vec![StepOutcome::of(Outcome::Value(Value::Tensor(tensor)))], inputs: Vec::new() };
        judge(&Program { inputs, steps }, &reply).pop()
    };
    assert_eq!(huber(2.5), None);
    assert_eq!(huber(2.515_625), None, "a unit in the last place of bfloat16");
    assert!(huber(3.5).is_some());
}

/// A root of so small an order makes any number of the rounding of a power; that of a usual one does not.
#[test]
fn norms_of_tiny_orders_are_open() {
    let norm = |order: f64, result: f64| {
        let rest = vec![Arg::Number(Scalar::Float(order)), Arg::Nothing, Arg::Flag(false), Arg::Nothing];
        of_step(Op::VectorNorm, &[(&[1], &[1e300])], rest, (&[], &[result]))
    };
    assert_eq!(norm(1e-38, 1e300), None);
    assert_eq!(norm(1.0, 1e300), None);
    assert!(norm(1.0, 1.0).is_some());
}

/// A rejected `out=` may have moved the memory of what a gradient needs; where nothing needs it, the gradient is judged.
#[test]
fn gradients_after_a_rejected_write_are_open() {
    let gradient = |target: usize| {
        let dtype = DType::Float64;
        let inputs = ["x", "y", "z"].map(|name| input(name, dtype, &[1.0], name == "x")).to_vec();
        let mut rejected = step("w", Op::Mul, &[0, 0], vec![]);
        (rejected.form, rejected.out) = (Form::Out, Some(value(target)));
        let steps = vec![
            step("r", Op::Mul, &[0, 1], vec![]),
            rejected,
            step("b", Op::Backward, &[3], vec![Arg::Nothing]),
            step("g", Op::Grad, &[0], vec![]),
        ];
        let outcomes = vec![
            tensor(dtype, &[1.0], 3),
            StepOutcome::of(Outcome::Rejected(Rejected {
                message: "no".to_owned(),
                class: None,
                origin: None,
                raises: None,
            })),
            StepOutcome::of(Outcome::Value(Value::Nothing)),
            tensor(dtype, &[7.0], 4),
        ];
        judge(&Program { inputs, steps }, &Reply { steps: outcomes, inputs: Vec::new() }).pop().map(|found| found.by)
    };
    assert_eq!(gradient(1), None);
    assert!(gradient(2).unwrap().contains("derivative"));
}
