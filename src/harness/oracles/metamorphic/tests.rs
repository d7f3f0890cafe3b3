//! Relations on programs of which it is known by hand whether they hold.

use std::path::Path;

use crate::adapter::Implementation;
use crate::case::load_program;
use crate::ops::Op;
use crate::oracles::metamorphic::{FollowUp, Relation, all};
use crate::program::{Outcome, Program, Reply};
use crate::reference::Reference;

fn program(text: &str) -> Program {
    load_program(Path::new("test.yaml"), text).unwrap_or_else(|error| panic!("{error}"))
}

/// The follow-ups of a program by a relation, and what the reference says of the program.
fn follow_ups(text: &str, rule: Relation) -> (Program, Reply, Vec<FollowUp>) {
    let program = program(text);
    let reply = Reference.run(&program);
    let follow_ups = all(&program, &reply).into_iter().filter(|follow_up| follow_up.rule == rule).collect();
    (program, reply, follow_ups)
}

/// What the reference contradicts itself in, as expected and observed.
fn contradictions(text: &str, rule: Relation) -> Vec<(String, String)> {
    let (program, reply, follow_ups) = follow_ups(text, rule);
    assert!(!follow_ups.is_empty(), "{rule:?} says nothing of {text}");
    let judged = follow_ups.iter().flat_map(|one| one.judge(&program, &reply, &Reference.run(&one.program)));
    judged.map(|difference| (difference.expected, difference.observed)).collect()
}

#[test]
fn a_target_that_is_read_has_one_result() {
    // 1 + 1 and 2 + 2, whatever is written first; and so for the transpose of a matrix of equal rows and columns.
    for text in [
        "{x: {values: [1.0, 2.0]}, r: {add_: [x, x]}}",
        "{x: {values: [1.0, 2.0]}, r: {add: [x, x], out: x}}",
        "{x: {values: [[1.0, 2.0], [3.0, 4.0]]}, r: {mm: [x, x], out: x}}",
    ] {
        assert_eq!(contradictions(text, Relation::Aliased), [], "{text}");
    }
    // A step that writes where nothing else reads is judged by the rules of the forms.
    let apart = "{x: {values: [1.0, 2.0]}, y: {values: [1.0, 2.0]}, r: {add_: [x, y]}}";
    assert!(follow_ups(apart, Relation::Aliased).2.is_empty());
    // The second element of each row is overwritten with the next of 17, 18, 19, 20, of which the second is 17 by then.
    let scattered =
        "{m: {values: [false, true]}, x: {values: [[17.0, 18.0], [19.0, 20.0]]}, r: {masked_scatter_: [x, m, x]}}";
    assert_eq!(
        contradictions(scattered, Relation::Aliased),
        [(
            "float32 [2, 2] [[17.0, 17.0], [19.0, 18.0]]".to_owned(),
            "float32 [2, 2] [[17.0, 17.0], [19.0, 17.0]]".to_owned()
        )]
    );
}

#[test]
fn a_rejected_step_in_place_has_written_nothing() {
    let kept = "{x: {values: [2.0, 0.0]}, y: {shape: [3]}, r: {add_: [x, y]}}";
    assert_eq!(contradictions(kept, Relation::Refused), []);
    // The quotient of the first element is 1, and the second has none.
    let halted = "{x: {values: [2, 0]}, r: {div_: [x, x], rounding_mode: floor}}";
    let contradictions = contradictions(halted, Relation::Refused);
    assert_eq!(contradictions.len(), 1);
    assert!(contradictions[0].0.ends_with("int64 [2] [2, 0]"), "{contradictions:?}");
    assert_eq!(contradictions[0].1, "int64 [2] [1, 0]");
}

#[test]
fn broadcasting_is_associative() {
    let three = "{a: {values: [true, false]}, b: {values: [[1.0], [2.0]]}, c: {values: [[[3.0]], [[4.0]]]}, ";
    for step in ["r: {where: [a, b, c]}}", "r: {broadcast_tensors: [a, b, c]}}"] {
        assert_eq!(contradictions(&format!("{three}{step}"), Relation::Regrouped), [], "{step}");
    }
    let two = "{b: {values: [[1.0], [2.0]]}, c: {values: [[[3.0]], [[4.0]]]}, r: {add: [b, c]}}";
    assert!(follow_ups(two, Relation::Regrouped).2.is_empty(), "of two there is one group");
}

/// The variance of one element warns, and so does its root.
#[test]
fn siblings_warn_as_often() {
    let (program, reply, follow_ups) = follow_ups("{x: {shape: [1]}, r: {var: [x]}}", Relation::Sibling);
    let [follow_up] = &follow_ups[..] else { panic!("{follow_ups:?}") };
    let mut other = Reference.run(&follow_up.program);
    assert_eq!(follow_up.judge(&program, &reply, &other), []);
    other.steps[0].warnings.clear();
    let differences = follow_up.judge(&program, &reply, &other);
    assert_eq!(differences.iter().map(|difference| difference.aspect).collect::<Vec<_>>(), [crate::Aspect::Warnings]);
}

/// The operations that a step is compared with.
fn siblings(text: &str) -> Vec<Op> {
    let (program, reply, follow_ups) = follow_ups(text, Relation::Sibling);
    assert!(matches!(reply.steps.last().map(|step| &step.outcome), Some(Outcome::Value(_))), "{text}");
    for follow_up in &follow_ups {
        assert_eq!(follow_up.judge(&program, &reply, &Reference.run(&follow_up.program)), [], "{text}");
    }
    follow_ups.iter().map(|follow_up| follow_up.program.steps.last().expect("a step").op).collect()
}

#[test]
fn calls_that_are_alike_are_compared() {
    use Op::{Bmm, Eq, Ge, Gt, HuberLoss, L1Loss, Le, Maximum, Mm, MseLoss, Ne, SmoothL1Loss};
    let pair = "{x: {shape: [2]}, y: {shape: [2]}, ";
    assert_eq!(siblings(&format!("{pair}r: {{lt: [x, y]}}}}")), [Le, Gt, Ge, Eq, Ne]);
    assert_eq!(
        siblings("{x: {shape: [2], dtype: complex64}, y: {shape: [2]}, r: {eq: [x, y]}}"),
        [Ne],
        "complex numbers have no order"
    );
    assert!(siblings(&format!("{pair}r: {{clamp_min: [x, y]}}}}")).contains(&Maximum));
    let matrices = "{x: {shape: [2, 2]}, y: {shape: [2, 2]}, ";
    assert_eq!(siblings(&format!("{matrices}r: {{addmm: [x, x, y]}}}}")), [Mm]);
    assert_eq!(siblings(&format!("{matrices}r: {{mm: [x, y]}}}}")), [Bmm]);
    // Of other shapes only those are compared that broadcast; of one shape all losses are.
    let column = "{x: {shape: [2, 2]}, y: {shape: [2]}, ";
    assert_eq!(siblings(&format!("{column}r: {{huber_loss: [x, y]}}}}")), [MseLoss, L1Loss, SmoothL1Loss]);
    let same = siblings(&format!("{matrices}r: {{kl_div: [x, y]}}}}"));
    assert!(same.len() == 8 && same.contains(&HuberLoss), "{same:?}");
}
