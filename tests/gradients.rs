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

/// `isclose` writes to its own result, which counts: a further comparison for NaN, and one for distances (`isclose` in
/// `TensorCompare.cpp`).
#[test]
fn a_comparison_in_steps_counts_its_writes() {
    for (options, writes) in [("", 1), (", equal_nan: true", 2), (", rtol: 0, atol: 0", 0)] {
        let program = format!(
            "{{x: {{shape: [1], requires_grad: true}}, c: {{isclose: [x, x]{options}}}, m: {{mul: [x, c]}}, \
             w: {{copy_: [c, c]}}, s: {{sum: [m]}}, b: {{backward: [s]}}}}"
        );
        let Outcome::Rejected(rejected) = last(&program).outcome else { panic!("the mask is needed again") };
        let versions = format!("is at version {}; expected version {writes} instead", writes + 1);
        assert!(rejected.message.contains(&versions), "{options}: {}", rejected.message);
    }
}

/// The exponential in `poisson_nll_loss` keeps its result and the product the target; `cholesky_solve` keeps both
/// operands and `lerp` its weight, whichever operand requires a gradient (derivatives.yaml).
#[test]
fn what_is_kept_is_said_by_the_formulas() {
    let is_modified = |call: &str, required: &str, written: &str| {
        let input = |name: &str| format!("{name}0: {{shape: [1, 1], requires_grad: {}}}", name == required);
        let program = format!(
            "{{{}, {}, a: {{mul: [a0, 1]}}, b: {{mul: [b0, 1]}}, r: {{{call}}}, w: {{mul_: [{written}, 1]}}, \
             s: {{sum: [r]}}, d: {{backward: [s]}}}}",
            input("a"),
            input("b")
        );
        matches!(last(&program).outcome, Outcome::Rejected(_))
    };
    assert!(!is_modified("poisson_nll_loss: [a, b]", "a", "a"));
    assert!(is_modified("poisson_nll_loss: [a, b]", "a", "b"));
    for required in ["a", "b"] {
        assert!(is_modified("cholesky_solve: [a, b]", required, "a"));
        assert!(is_modified("cholesky_solve: [a, b]", required, "b"));
        assert!(is_modified("lerp: [a, a, b]", required, "b"));
    }
}

/// A gradient as an operation keeps what any of its own derivatives reads, whichever operand requires one
/// (derivatives.yaml).
#[test]
fn a_gradient_keeps_what_any_of_its_derivatives_reads() {
    let calls = [
        ("sigmoid_backward: [g, x]", "gx"),
        ("tanh_backward: [g, x]", "gx"),
        ("hardswish_backward: [g, x]", "gx"),
        ("softplus_backward: [g, x, 1.0, 20.0]", "gx"),
        ("elu_backward: [g, 1.0, 1.0, 1.0, false, x]", "gx"),
        ("gelu_backward: [g, x]", "gx"),
        ("native_dropout_backward: [g, x, 0.5]", "gx"),
        ("log_sigmoid_backward: [g, x, t]", "gxt"),
        ("mse_loss_backward: [g, x, t, mean]", "gxt"),
        ("smooth_l1_loss_backward: [g, x, t, mean, 1.0]", "gxt"),
        ("huber_loss_backward: [g, x, t, mean, 1.0]", "gxt"),
        ("soft_margin_loss_backward: [g, x, t, mean]", "gxt"),
        ("threshold_backward: [g, x, 0.1]", "x"),
        ("hardshrink_backward: [g, x, 0.1]", "x"),
        ("softshrink_backward: [g, x, 0.1]", "x"),
        ("leaky_relu_backward: [g, x, 0.1, false]", "x"),
        ("hardtanh_backward: [g, x, -1.0, 1.0]", "x"),
    ];
    for (call, kept) in calls {
        for (written, required) in ["g", "x", "t"].into_iter().flat_map(|name| [(name, "g"), (name, "x")]) {
            let input = |name: &str| format!("{name}0: {{shape: [2], requires_grad: {}}}", name == required);
            let program = format!(
                "{{{}, {}, {}, g: {{mul: [g0, 1]}}, x: {{mul: [x0, 1]}}, t: {{mul: [t0, 1]}}, r: {{{call}}}, \
                 w: {{mul_: [{written}, 1]}}, s: {{sum: [r]}}, b: {{backward: [s]}}}}",
                input("g"),
                input("x"),
                input("t")
            );
            let modified = match last(&program).outcome {
                Outcome::Rejected(rejected) => rejected.message.contains("modified by an inplace operation"),
                _ => false,
            };
            assert_eq!(
                modified,
                kept.contains(written),
                "{call}: {written} is written, {required} requires a gradient"
            );
        }
    }
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

/// The bound of a shrinkage is rounded to the dtype (`lambd.to<scalar_t>()`), a threshold of 16 bits to float32.
#[test]
fn the_bound_of_a_shrinkage_is_a_number_of_the_dtype() {
    let of = |op: &str| {
        let outcome = last(&format!("{{x: {{values: [0.1], dtype: bfloat16}}, r: {{{op}: [x, x, 0.1]}}}}")).outcome;
        outcome.tensors()[0].scalars()[0]
    };
    let tenth = Scalar::Float(0.10009765625);
    assert_eq!(of("hardshrink_backward"), Scalar::Float(0.0));
    assert_eq!(of("softshrink_backward"), Scalar::Float(0.0));
    assert_eq!(of("threshold_backward"), tenth, "it is above 0.1");
}
