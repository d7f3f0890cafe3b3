//! Relations on programs of which it is known by hand whether they hold.

use std::path::Path;

use crate::adapter::Implementation;
use crate::case::load_program;
use crate::metamorphic::own_faults;
use crate::metamorphic::step_context::StepContext;
use crate::metamorphic::{FollowUp, Relation, all};
use crate::ops::Op;
use crate::program::{Outcome, Program, Rejected, Reply, Value, ValueRef};
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
        // A vector is solved for in a tensor of its own.
        "{a: {values: [[2.0, 0.0], [0.0, 4.0]]}, x: {values: [2.0, 4.0, 8.0]}, b: {narrow: [x, 0, 0, 2]}, \
          o: {narrow: [x, 0, 1, 2]}, r: {linalg_solve: [a, b], out: o}}",
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

/// A product into its factor that has another shape: what it says of sizes that the caller did not pass is found, and so is
/// an empty view that grows over an operand.
#[test]
fn a_target_is_not_resized_before_the_operands_are_read() {
    let grows = "{x: {values: [4, 0, 2]}, o: {narrow: [x, 0, 0, 0]}, r: {floor_divide: [x, 2], out: o}}";
    let (program, reply, follow_ups) = follow_ups(grows, Relation::Aliased);
    let [follow_up] = &follow_ups[..] else { panic!("{follow_ups:?}") };
    let halted = Outcome::Rejected(rejected("ZeroDivisionError"));
    let mut other = Reference.run(&follow_up.program);
    other.steps.last_mut().expect("a step").outcome = halted;
    assert_ne!(follow_up.judge(&program, &reply, &other), []);

    let text = "{x: {values: [1.0, 2.0]}, y: {values: [3.0, 4.0]}, r: {dot: [x, y], out: x}}";
    let dot = self::program(text);
    let mut reply = Reference.run(&dot);
    let misread = "inconsistent tensor size, expected tensor [] and src [2] to have the same number of elements, but got 1 \
                   and 2 elements respectively";
    reply.steps[0].outcome =
        Outcome::Rejected(Rejected { class: Some(crate::error::Class::SizeMismatch), ..rejected(misread) });
    let of_alias = all(&dot, &reply).into_iter().filter(|follow_up| follow_up.rule == Relation::Aliased);
    let of_alias: Vec<FollowUp> = of_alias.collect();
    let [follow_up] = &of_alias[..] else { panic!("{of_alias:?}") };
    assert_ne!(follow_up.judge(&dot, &reply, &Reference.run(&follow_up.program)), []);
}

/// Elements that are other in each run, such as those of new memory, make what follows other as well.
#[test]
fn what_came_otherwise_says_nothing_of_the_next_step() {
    let text = "{x: {values: [1.0, 2.0]}, a: {add: [x, x]}, r: {mul_: [a, a]}}";
    let (program, reply, follow_ups) = follow_ups(text, Relation::Aliased);
    let judged = |also_before: bool| {
        let judge = |follow_up: &FollowUp| {
            let mut other = Reference.run(&follow_up.program);
            for (at, step) in other.steps.iter_mut().enumerate() {
                if let (Outcome::Value(Value::Tensor(made)), true) = (&mut step.outcome, at > 0 || also_before) {
                    made.data[0] ^= 1;
                }
            }
            follow_up.judge(&program, &reply, &other).len()
        };
        follow_ups.iter().map(judge).sum::<usize>()
    };
    assert_eq!((judged(false), judged(true)), (1, 0));
}

fn rejected(message: &str) -> Rejected {
    Rejected { message: message.to_owned(), class: None, origin: None, raises: None }
}

#[test]
fn what_a_library_calls_its_own_fault_is_one() {
    let program = program("{x: {values: [1.0]}, r: {add: [x, x]}, s: {add: [x, x]}}");
    let mut reply = Reference.run(&program);
    assert_eq!(own_faults(&program, &reply), []);
    let asserts = "false INTERNAL ASSERT FAILED at \"Scalar.cpp\":1, please report a bug to PyTorch.";
    let checks = "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true";
    for text in [asserts, checks] {
        reply.steps[1].outcome = Outcome::Rejected(rejected(text));
        let faults = own_faults(&program, &reply);
        assert_eq!(faults.iter().map(|fault| fault.value.as_str()).collect::<Vec<_>>(), ["s"]);
    }
}

/// What is written to the one reshapes the other, or does not.
#[test]
fn a_product_of_one_vector_may_be_that_vector() {
    let begin = "{x: {values: [1.0]}, y: {values: 2.0}, p: {cartesian_prod: [x]}, ";
    for (write, is_known) in [("", true), ("w: {lt: [y, 0], out: p}, ", false), ("w: {lt: [y, 0], out: y}, ", true)] {
        let program = program(&format!("{begin}{write}r: {{add: [x, y]}}}}"));
        let reply = Reference.run(&program);
        let context = StepContext::new(&program, &reply, program.steps.len() - 1).unwrap();
        assert_eq!(context.known(ValueRef { value: 0, part: None }).is_some(), is_known, "{write}");
    }
}

/// Each operand of a lower dtype is converted, one a follow-up; so is an integer that a gradient flows past.
#[test]
fn an_operand_may_be_converted_by_the_caller() {
    let integers = "a: {values: [1, 2], dtype: int32}, b: {values: [[true], [false]]}, ";
    for (text, count) in [
        (format!("{{x: {{values: [0.5, 2.0]}}, {integers} r: {{addcmul: [x, a, b]}}}}"), 2),
        (format!("{{x: {{values: [0.5, 2.0]}}, {integers} r: {{where: [b, x, a]}}}}"), 1),
        (format!("{{x: {{values: [0.5, 2.0]}}, {integers} r: {{add: [a, b]}}}}"), 1),
        (
            format!(
                "{{x: {{values: [0.5, 2.0], requires_grad: true}}, {integers} r: {{mul: [x, a]}}, s: {{sum: [r]}}, \
                 t: {{backward: [s]}}, g: {{grad: [x]}}}}"
            ),
            3,
        ),
    ] {
        assert_eq!(contradictions(&text, Relation::Promoted), [], "{text}");
        assert_eq!(follow_ups(&text, Relation::Promoted).2.len(), count, "{text}");
    }
    for none in [
        // A tensor without dimensions counts less than one that has some.
        "{x: {values: [1, 2]}, y: {values: 1.0}, r: {add: [x, y]}}",
        // Its exponents have a dtype of their own.
        "{x: {values: [1.0, 2.0]}, y: {values: [1, 2]}, r: {ldexp: [x, y]}}",
        // No float32 is this integer.
        "{x: {values: [16777217]}, y: {values: [1.0]}, r: {add: [x, y]}}",
    ] {
        assert!(follow_ups(none, Relation::Promoted).2.is_empty(), "{none}");
    }
    // A gradient that is refused for the dtype of an operand is found.
    let text = "{x: {values: [0.5], requires_grad: true}, y: {values: [true]}, r: {mul: [x, y]}, s: {sum: [r]}, t: {backward: [s]}}";
    let program = program(text);
    let mut reply = Reference.run(&program);
    reply.steps[2].outcome = Outcome::Rejected(rejected("Subtraction, the `-` operator, with two bool tensors"));
    let refused: Vec<FollowUp> =
        all(&program, &reply).into_iter().filter(|follow_up| follow_up.rule == Relation::Promoted).collect();
    assert!(refused.iter().any(|one| !one.judge(&program, &reply, &Reference.run(&one.program)).is_empty()));
}

#[test]
fn a_reduction_may_keep_its_dimensions() {
    let matrix = "x: {values: [[1.0, 5.0], [2.0, 3.0]]}, ";
    for step in ["sum: [x], dim: [1]", "amax: [x]", "var: [x], dim: [0], keepdim: true", "logsumexp: [x], dim: [0, 1]"]
    {
        let text = format!("{{{matrix} r: {{{step}}}}}");
        assert_eq!(contradictions(&text, Relation::KeepDim), [], "{text}");
    }
    // Both are rejected.
    assert_eq!(contradictions(&format!("{{{matrix} r: {{sum: [x], dim: [2]}}}}"), Relation::KeepDim), []);
    let (program, reply, follow_ups) = follow_ups(&format!("{{{matrix} r: {{sum: [x]}}}}"), Relation::KeepDim);
    let mut other = Reference.run(&follow_ups[0].program);
    other.steps.last_mut().expect("a step").outcome = Outcome::Rejected(rejected("no"));
    assert_ne!(follow_ups[0].judge(&program, &reply, &other), []);
}

#[test]
fn a_rejected_step_has_written_nothing() {
    let kept = "{x: {values: [2.0, 0.0]}, y: {shape: [3]}, r: {add_: [x, y]}}";
    assert_eq!(contradictions(kept, Relation::Refused), []);
    // The quotient of the first element is 1, and the second has none.
    let halted = "{x: {values: [2, 0]}, r: {div_: [x, x], rounding_mode: floor}}";
    let into_out = "{x: {values: [2, 0]}, o: {values: [2, 0]}, r: {div: [x, x], rounding_mode: floor, out: o}}";
    for halted in [halted, into_out] {
        let contradictions = contradictions(halted, Relation::Refused);
        assert_eq!(contradictions.len(), 1);
        assert!(contradictions[0].0.ends_with("int64 [2] [2, 0]"), "{contradictions:?}");
        assert_eq!(contradictions[0].1, "int64 [2] [1, 0]");
    }
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

/// The follow-ups on other sizes, and how many of them contradict the reference's outcome.
fn resized(text: &str) -> (usize, Vec<(String, String)>) {
    let (program, reply, follow_ups) = follow_ups(text, Relation::Resized);
    let judged = follow_ups.iter().flat_map(|one| one.judge(&program, &reply, &Reference.run(&one.program)));
    (follow_ups.len(), judged.map(|difference| (difference.expected, difference.observed)).collect())
}

#[test]
fn no_size_decides_what_is_accepted() {
    let pair = "{x: {shape: [2, 3]}, y: {shape: [3, 4]}, ";
    // Three letters, and the sizes 0, 1, 2 and 5 in place of each.
    assert_eq!(resized(&format!("{pair}r: {{mm: [x, y]}}}}")), (11, vec![]));
    assert_eq!(resized(&format!("{pair}s: {{shape: [2, 4]}}, r: {{addmm: [s, x, y]}}}}")), (11, vec![]));
    assert_eq!(resized(&format!("{pair}r: {{mm: [y, x]}}}}")), (8, vec![]), "the inner sizes differ");
    let (_, rejected) = resized("{x: {shape: [2, 2], dtype: bool}, r: {mm: [x, x]}}");
    assert!(!rejected.is_empty(), "bools are rejected where there is something to multiply");
    // What is accepted for one size and rejected for another is found.
    let (program, reply, follow_ups) = follow_ups(&format!("{pair}r: {{mm: [x, y]}}}}"), Relation::Resized);
    let other = follow_ups.first().expect("a follow-up");
    let refused = Reference.run(&self::program("{x: {shape: [2]}, y: {shape: [2]}, r: {mm: [x, y]}}"));
    assert!(matches!(refused.steps[0].outcome, Outcome::Rejected(_)));
    assert_ne!(other.judge(&program, &reply, &refused), []);
}

/// The follow-ups by the default of an argument, each of which holds of the reference, and not of a result that is changed.
fn written_out(text: &str) -> usize {
    let (program, reply, follow_ups) = follow_ups(text, Relation::Default);
    assert!(matches!(reply.steps.last().map(|step| &step.outcome), Some(Outcome::Value(_))), "{text}: {reply:?}");
    for follow_up in &follow_ups {
        let mut other = Reference.run(&follow_up.program);
        assert_eq!(follow_up.judge(&program, &reply, &other), [], "{text}");
        let last = other.steps.last_mut().expect("a step");
        let Outcome::Value(Value::Tensor(tensor)) = &mut last.outcome else { panic!("{text}: {last:?}") };
        *tensor.data.last_mut().expect("an element") ^= 0x41;
        assert_ne!(follow_up.judge(&program, &reply, &other), [], "{text}");
    }
    follow_ups.len()
}

#[test]
fn a_default_may_be_written_out() {
    for (operands, step, count) in [
        ("x: {values: [1.5]}, y: {values: [2.0]}", "add: [x, y]", 1),
        ("x: {values: [1.5]}, y: {values: [2.0]}", "add_: [x, y]", 1),
        ("x: {values: [1.5]}, y: {values: [2.0]}", "addcmul: [x, y, y]", 1),
        ("x: {values: [1.5]}, y: {values: [2.0]}", "dist: [x, y]", 1),
        ("x: {values: [1.5]}, y: {values: [2.0]}", "huber_loss: [x, y]", 1),
        ("x: {values: [1.5]}, y: {values: [2.0]}", "binary_cross_entropy_with_logits: [x, y]", 1),
        ("x: {values: [[1.5]]}, y: {values: [[2.0]]}", "addmm: [x, y, y]", 2),
        // All dimensions, the correction, and what it is called otherwise.
        ("x: {values: [1.5, 2.0]}", "var: [x]", 3),
        // All dimensions, and the dtype.
        ("x: {values: [1.5, 2.0]}", "sum: [x]", 2),
        ("x: {values: [1.5, 2.0]}", "amax: [x], dim: 0", 1),
        ("x: {values: [1.5, 2.0]}", "prod: [x]", 2),
        // A factor that is a float is rejected.
        ("x: {values: [1]}, y: {values: [2]}", "add: [x, y]", 0),
        ("x: {values: [1.5]}", "sub: [2, 3], out: x", 0),
        ("x: {values: [1.5]}", "margin_ranking_loss: [x, x, x], margin: -0.0", 0),
        ("x: {values: [1.5]}", "margin_ranking_loss: [x, x, x], margin: 0.0", 1),
        ("x: {values: [1.5]}, y: {values: [2.0]}", "add: [x, y], alpha: 2", 0),
    ] {
        let text = format!("{{{operands}, r: {{{step}}}}}");
        assert_eq!(written_out(&text), count, "{text}");
    }
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
