//! Each condition holds where it says, and the opposite does not.

use super::*;
use crate::case::load_program;
use crate::{Aspect, Difference};

fn finding(program: &str, aspect: Aspect, call: &str) -> Finding {
    let program = load_program(std::path::Path::new("test.yaml"), program).unwrap_or_else(|fault| panic!("{fault}"));
    let value = program.steps.last().expect("a step").name.clone();
    let difference =
        Difference { value, aspect, by: String::new(), expected: "1".to_owned(), observed: "2".to_owned() };
    let finding = Finding::of_differences(Oracle::Reference, &program, vec![difference]).unwrap();
    assert_eq!(finding.signature.call, call);
    finding
}

fn applies(text: &str) -> Applies {
    serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_word_of_the_vocabulary_holds_and_fails() {
    let plain = "{x: {values: [1.0, 2.0]}, r: {maximum: [x, x]}}";
    let told = [
        ("dtype: [float64]", "{x: {values: [1.0], dtype: float64}, r: {maximum: [x, x]}}"),
        ("has: [nan]", "{x: {values: [.nan]}, r: {maximum: [x, x]}}"),
        ("has: [negative-zero]", "{x: {values: [-0.0]}, r: {maximum: [x, x]}}"),
        ("has: [infinity]", "{x: {values: [-.inf]}, r: {maximum: [x, x]}}"),
        ("has: [subnormal]", "{x: {values: [1.0e-45]}, r: {maximum: [x, x]}}"),
        ("has: [zero]", "{x: {values: [0.0]}, r: {maximum: [x, x]}}"),
        ("has: [beyond-float32]", "{x: {values: [16777217]}, r: {maximum: [x, x]}}"),
        ("has: [fraction, minus-one]", "{x: {values: [0.5, -1.0]}, r: {maximum: [x, x]}}"),
        ("has: [least-integer]", "{x: {values: [-2147483648], dtype: int32}, r: {maximum: [x, x]}}"),
        ("input_has: [nan]", "{x: {shape: [2]}, y: {values: [.nan]}, r: {maximum: [x, x]}}"),
        ("elements: 3", "{x: {shape: [3]}, r: {maximum: [x, x]}}"),
        ("rank: 2", "{x: {shape: [1, 1]}, r: {maximum: [x, x]}}"),
        ("empty: true", "{x: {shape: [0]}, r: {maximum: [x, x]}}"),
        ("requires_grad: true", "{x: {values: [1.0], requires_grad: true}, r: {maximum: [x, x]}}"),
        ("mixed_dtypes: true", "{x: {shape: [1]}, y: {shape: [1], dtype: int8}, r: {maximum: [x, y]}}"),
        ("out_shares: true", "{x: {values: [1.0]}, r: {maximum: [x, x], out: x}}"),
        ("out_converts: true", "{x: {shape: [1]}, o: {shape: [1], dtype: float64}, r: {maximum: [x, x], out: o}}"),
    ];
    for (condition, program) in told {
        let applies = applies(&format!("{{ops: [maximum], where: {{{condition}}}}}"));
        let call = if program.contains("out:") { "maximum out=" } else { "maximum" };
        assert!(applies.matches(&finding(program, Aspect::Values, call)), "{condition}");
        assert!(!applies.matches(&finding(plain, Aspect::Values, "maximum")), "{condition} of a plain program");
    }
    let others = [
        ("div", "text: [trunc]", "{x: {shape: [1]}, r: {div: [x, x], rounding_mode: trunc}}"),
        ("div", "text: [\"t*c\"]", "{x: {shape: [1]}, r: {div: [x, x], rounding_mode: trunc}}"),
        ("div", "number: true", "{x: {shape: [1]}, r: {div: [x, 2]}}"),
        ("amax", "empty_list: true", "{x: {shape: [1]}, r: {amax: [x], dim: []}}"),
        ("sum", "to_dtype: [int8]", "{x: {shape: [1]}, r: {sum: [x], dtype: int8}}"),
        ("add", "factor: true", "{x: {shape: [1]}, r: {add: [x, x], alpha: 2}}"),
        (
            "add",
            "beside: [amax], beside_empty_list: true",
            "{x: {shape: [1]}, s: {amax: [x], dim: []}, r: {add: [x, x]}}",
        ),
        ("expand", "negative_size: true", "{x: {shape: [1]}, r: {expand: [x, [-1]]}}"),
        ("add", "size_one: true", "{x: {shape: [1]}, r: {add: [x, x]}}"),
        ("add", "vector: true", "{x: {shape: [1]}, r: {add: [x, x]}}"),
        ("add", "no_dimensions: true", "{x: {shape: []}, r: {add: [x, x]}}"),
        ("add", "mixed_shapes: true", "{x: {shape: [1]}, y: {shape: [2]}, r: {add: [x, y]}}"),
        ("add", "mixed_ranks: true", "{x: {shape: [1]}, y: {shape: [1, 1]}, r: {add: [x, y]}}"),
        ("div", "one_element: true", "{x: {shape: [2]}, y: {shape: [1]}, r: {div: [x, y]}}"),
        ("div", "one_element: false", "{x: {shape: [1]}, y: {shape: [2]}, r: {div: [x, y]}}"),
        ("index", "long_step: true", "{x: {shape: [1, 2]}, r: {index: [x, \"::6917529027641081856\"]}}"),
        ("index", "long_step: true", "{x: {shape: [3]}, r: {index: [x, \"::9223372036854775805\"]}}"),
        ("index", "long_step: false", "{x: {shape: [3]}, r: {index: [x, \"::9223372036854775804\"]}}"),
        (
            "add",
            "beside: [mul], beside_broadcasts: true",
            "{x: {shape: [2]}, y: {shape: [1]}, s: {mul: [x, y]}, r: {add: [s, s]}}",
        ),
        ("add", "beside: [mul], beside_below_zero: true", "{x: {values: [-1.0]}, s: {mul: [x, x]}, r: {add: [s, s]}}"),
        (
            "add",
            "beside: [mul], beside_mixed_dtypes: true",
            "{x: {shape: [1]}, y: {shape: [1], dtype: int8}, s: {mul: [x, y]}, r: {add: [s, s]}}",
        ),
        (
            "add",
            "beside: [mul], beside_overwritten: true",
            "{x: {shape: [1]}, y: {shape: [1]}, s: {mul: [x, y]}, t: {mul_: [y, 2]}, r: {add: [s, s]}}",
        ),
        ("add", "beside: [mul], beside_overwritten: false", "{x: {shape: [1]}, s: {mul: [x, x]}, r: {add: [s, s]}}"),
        ("add", "beside: [mul], beside_again: false", "{x: {shape: [1]}, s: {mul: [x, x]}, r: {add: [s, s]}}"),
        (
            "add",
            "beside: [mul], beside_again: true",
            "{x: {shape: [1]}, s: {mul: [x, x]}, t: {mul: [s, s]}, r: {add: [s, t]}}",
        ),
        ("add", "oracle: [reference]", "{x: {shape: [1]}, r: {add: [x, x]}}"),
        ("add", "nan_on_one_side: false", "{x: {shape: [2]}, r: {add: [x, x]}}"),
        (
            "add",
            "beside: [mse_loss], beside_dtype: [int8]",
            "{x: {shape: [1], dtype: int8}, s: {mse_loss: [x, x]}, r: {add: [s, s]}}",
        ),
        ("add", "beside: [pow], beside_bool: true", "{x: {shape: [1]}, s: {pow: [x, true]}, r: {add: [s, s]}}"),
        (
            "add",
            "beside: [mse_loss], beside_text: [sum]",
            "{x: {shape: [1]}, s: {mse_loss: [x, x], reduction: sum}, r: {add: [s, s]}}",
        ),
        ("pow", "number_is: [0.5, -0.5]", "{x: {shape: [1]}, r: {pow: [x, 0.5]}}"),
        ("pow", "number_above_zero: true", "{x: {shape: [1]}, r: {pow: [x, 0.5]}}"),
        ("pow", "number_above_zero: false", "{x: {shape: [1]}, r: {pow: [x, -0.5]}}"),
        ("pow", "number_above_zero: false", "{x: {shape: [1]}, r: {pow: [x, 1.0e-46]}}"),
        ("pow", "number_above_zero: true", "{x: {shape: [1], dtype: float64}, r: {pow: [x, 1.0e-46]}}"),
    ];
    for (op, condition, program) in others {
        let with = applies(&format!("{{ops: [{op}], where: {{{condition}}}}}"));
        let without = applies(&format!("{{ops: [{op}], where: {{{}}}}}", opposite(condition)));
        let finding = finding(program, Aspect::Values, op);
        assert!(with.matches(&finding) && !without.matches(&finding), "{condition}");
    }
}

/// A condition that the same program does not meet.
fn opposite(condition: &str) -> String {
    let changed = |pairs: &[(&str, &str)]| {
        pairs.iter().find(|(word, _)| condition.contains(word)).map(|(word, other)| condition.replace(word, other))
    };
    let pairs = [
        ("true", "false"),
        ("false", "true"),
        ("trunc", "floor"),
        ("t*c", "f*c"),
        ("int8", "int16"),
        ("[sum]", "[mean]"),
        ("[0.5, -0.5]", "[2.0]"),
        ("[reference]", "[definition]"),
    ];
    changed(&pairs).expect("there is another")
}

#[test]
fn a_difference_in_nan_is_seen_on_one_side_only() {
    let mut finding = finding("{x: {shape: [1]}, r: {add: [x, x]}}", Aspect::Values, "add");
    let nan = applies("{ops: [add], where: {nan_on_one_side: true}}");
    for (expected, observed, differ) in [
        ("float32 [1] [1.0]", "float32 [1] [nan]", true),
        ("float32 [1] [nan]", "float32 [1] [nan]", false),
        ("float32 [99] [nan, …]; at [7] 0.0", "float32 [99] [nan, …]; at [7] nan", true),
        ("between 2.0 and 3.0 at [0]: add of 1.0, nan in float32", "4.0 at [0]", false),
        ("between 2.0 and 3.0 at [0]: add of 1.0, 2.0 in float32", "nan at [0]", true),
    ] {
        (finding.differences[0].expected, finding.differences[0].observed) = (expected.into(), observed.into());
        assert_eq!(nan.matches(&finding), differ, "{expected}, {observed}");
    }
}

#[test]
fn texts_of_both_sides_are_matched() {
    let finding = finding("{x: {shape: [1]}, r: {add: [x, x]}}", Aspect::Values, "add");
    let told = [
        ("expected: ['1']", true),
        ("expected: ['2']", false),
        ("observed: ['1', '*2*']", true),
        ("observed: ['1']", false),
        ("expected: ['*'], observed: ['2']", true),
        ("expected: ['1'], observed: ['3']", false),
    ];
    for (condition, matches) in told {
        let applies = applies(&format!("{{ops: [add], where: {{{condition}}}}}"));
        assert_eq!(applies.matches(&finding), matches, "{condition}");
    }
}

#[test]
fn another_operation_or_form_is_not_meant() {
    let functional = finding("{x: {shape: [1]}, r: {add: [x, x]}}", Aspect::Values, "add");
    assert!(applies("{ops: [sub, add]}").matches(&functional) && !applies("{ops: [sub]}").matches(&functional));
    assert!(!applies("{ops: [add], forms: [in_place]}").matches(&functional));
    assert!(applies("{forms: [functional]}").matches(&functional));
    assert!(!applies("{forms: [in_place]}").matches(&functional));
}

#[test]
fn a_signature_is_exact_but_for_the_call() {
    let signature = |call: &str, text: &str| Signature {
        oracle: Oracle::Reference,
        call: call.to_owned(),
        kind: "values".to_owned(),
        text: text.to_owned(),
    };
    let pattern = |text: &str| serde_yaml::from_str::<Pattern>(text).unwrap();
    let all = pattern("{oracle: reference, call: '*mm*', kind: values}");
    assert!(all.matches(&signature("addmm_", "")) && all.matches(&signature("mm", "")));
    assert!(!all.matches(&signature("mv", "")) && !all.matches(&signature("mm", "a value")));
    assert!(!pattern("{oracle: definition, call: mm, kind: values}").matches(&signature("mm", "")));
    assert!(!pattern("{oracle: reference, call: mm, kind: shape}").matches(&signature("mm", "")));
}
