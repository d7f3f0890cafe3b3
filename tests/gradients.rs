//! What the reference needs for a gradient, and what it comes to, derived by hand from libtorch's `derivatives.yaml`.

use std::path::Path;

use broadcheck::case::load_program;
use broadcheck::harness::reference::ask;
use broadcheck::program::{Outcome, StepOutcome};
use broadcheck::tensor::Scalar;

fn last(program: &str) -> StepOutcome {
    let program = load_program(Path::new("test.yaml"), program).expect("a program");
    ask(&program).expect("a reply").steps.pop().expect("a step")
}

/// `norm_backward` takes the difference of both operands again (derivatives.yaml, dist), and is rejected once one of them was
/// written to.
#[test]
fn a_distance_needs_its_operands_again() {
    let backward = |written: &str| {
        last(&format!(
            "{{x: {{shape: [1], requires_grad: true}}, y: {{shape: [1]}}, z: {{shape: [1]}}, d: {{dist: [x, y]}}, \
             w: {{add_: [{written}, 1]}}, b: {{backward: [d]}}}}"
        ))
    };
    let is_modified = |outcome: &Outcome| match outcome {
        Outcome::Rejected(rejected) => rejected.message.contains("has been modified by an inplace operation"),
        _ => false,
    };
    assert!(is_modified(&backward("y").outcome));
    assert!(matches!(backward("z").outcome, Outcome::Value(_)));
}

/// `gather` needs its operand and its index again (derivatives.yaml, `gather_backward`), and `masked_scatter_` its mask, and not
/// the target that it has written to itself.
#[test]
fn what_is_written_in_place_is_not_needed_again() {
    let gathered = |written: &str| {
        last(&format!(
            "{{x: {{shape: [2], requires_grad: true}}, i: {{shape: [1], fill: zeros, dtype: int64}}, y: {{mul: [x, 1]}}, \
             g: {{gather: [y, 0, i]}}, w: {{{written}}}, b: {{backward: [g]}}}}"
        ))
    };
    assert!(matches!(gathered("mul_: [y, 2]").outcome, Outcome::Rejected(_)));
    assert!(matches!(gathered("mul_: [i, 2]").outcome, Outcome::Rejected(_)));
    assert!(matches!(gathered("mul_: [g, 2]").outcome, Outcome::Value(_)));
    for mask in ["[true, true]", "[false, false]"] {
        let program = format!(
            "{{x: {{shape: [2]}}, m: {{values: {mask}, dtype: bool}}, s: {{shape: [2], requires_grad: true}}, \
             r: {{masked_scatter_: [x, m, s]}}, t: {{sum: [r]}}, b: {{backward: [t]}}}}"
        );
        assert!(matches!(last(&program).outcome, Outcome::Value(_)), "{mask}");
    }
    // Who needs what again: the names of the tensors, a target, indices and a source, without those that may change.
    let needs = |step: &str, grads: &str| {
        let grad = |name: char| if grads.contains(name) { ", requires_grad: true" } else { "" };
        let modified = |name: char| {
            let program = format!(
                "{{x: {{shape: [2]{}}}, y: {{shape: [2]{}}}, a: {{mul: [x, 1]}}, s: {{mul: [y, 1]}}, \
                 i: {{values: [0, 1], dtype: int64}}, m: {{values: [true, false], dtype: bool}}, r: {{{step}}}, \
                 w: {{{}: [{name}, {name}]}}, t: {{sum: [r]}}, b: {{backward: [t]}}}}",
                grad('a'),
                grad('s'),
                if name == 'm' { "logical_and_" } else { "mul_" }
            );
            matches!(last(&program).outcome, Outcome::Rejected(_))
        };
        ['a', 'i', 'm', 's']
            .into_iter()
            .filter(|name| step.contains(&format!(" {name}")) || step.contains(&format!("[{name}")))
            .filter(|name| modified(*name))
            .collect::<String>()
    };
    for (step, of_target, of_source) in [
        ("put: [a, i, s]", "i", "is"),
        ("index_put: [a, [i], s]", "i", "i"),
        ("scatter: [a, 0, i, s]", "i", "i"),
        ("scatter_add: [a, 0, i, s]", "", "i"),
        ("index_add: [a, 0, i, s]", "", "is"),
        ("index_copy: [a, 0, i, s]", "i", "is"),
        ("masked_scatter: [a, m, s]", "m", "m"),
    ] {
        assert_eq!((needs(step, "a").as_str(), needs(step, "s").as_str()), (of_target, of_source), "{step}");
    }
    for (step, needed) in [
        ("take_along_dim: [a, i, 0]", "a"),
        ("gather: [a, 0, i]", "ai"),
        ("index_select: [a, 0, i]", "i"),
        ("index.Tensor: [a, [i]]", "i"),
        ("index_fill: [a, 0, i, 1.0]", "i"),
        ("masked_select: [a, m]", "am"),
    ] {
        assert_eq!(needs(step, "a"), needed, "{step}");
    }
    let in_its_memory = "{x: {shape: [2], requires_grad: true}, m: {values: [true, false], dtype: bool}, y: {mul: [x, 1]}, \
                         r: {masked_scatter_: [y, m, y]}, t: {sum: [r]}, b: {backward: [t]}}";
    assert!(matches!(last(in_its_memory).outcome, Outcome::Value(_)), "the source is the target");
}

/// `cumsum_backward` and `cumprod_backward` convert the upstream gradient to the dtype of the operand.
#[test]
fn an_imaginary_part_is_lost_with_a_warning() {
    for op in ["cumsum", "cumprod"] {
        let warnings = |dtype: &str| {
            let program = format!(
                "{{x: {{shape: [], requires_grad: true}}, r: {{{op}: [x, 0], dtype: {dtype}}}, \
                 b: {{backward: [r], gradient: r}}}}"
            );
            last(&program).warnings.len()
        };
        assert_eq!((warnings("complex64"), warnings("float64")), (1, 0), "{op}");
    }
}

/// 16777217 is an infinity of float16, to which it is promoted.
#[test]
fn an_integer_is_an_operand_in_the_dtype_of_the_result() {
    let gradient = last(
        "{x: {values: 16777217}, y: {shape: [], dtype: float16, requires_grad: true}, r: {xlogy: [y, x]}, \
         b: {backward: [r]}, g: {grad: [y]}}",
    );
    let expected = Scalar::Float(f64::INFINITY);
    assert_eq!(gradient.outcome.tensors()[0].scalars(), [expected]);
}
