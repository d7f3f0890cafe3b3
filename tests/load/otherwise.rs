//! Expectations for other releases.

use super::*;

#[test]
fn faults_of_other_releases() {
    let rest = "  program: {x: {shape: [2]}, r: {add: [x, x]}}\n  expect: {r: {shape: [2]}}\n";
    let check = |entry: &str, words: &[&str]| {
        super::check(DOCUMENTS, CLAUSES, &third(&format!("{rest}  otherwise: {entry}")), words);
    };
    check("»[]", &["ranges of releases: a list", "empty"]);
    check("[{releases: »since 2.6, expect: {r: {shape: [3]}}}]", &["`since 2.6` is not a range of releases"]);
    check("[{releases: 2.6.0, expect: »{x: unchanged}}]", &["for which the case itself expects nothing"]);
    check("[{releases: 2.6.0, »because: x, expect: {r: {shape: [3]}}}]", &["no key `because`"]);
}

#[test]
fn the_first_range_that_has_a_release_decides() {
    let rest = "  program: {x: {shape: [2]}, r: {add: [x, x]}}\n  expect: {r: {shape: [2]}, x: unchanged}\n";
    let ranges = "[{releases: '<2.4', expect: {r: {shape: [3]}}}, {releases: '<2.6', expect: {r: {shape: [4]}}}]";
    let cases = third(&format!("{rest}  otherwise: {ranges}"));
    let specification = read(DOCUMENTS, CLAUSES, &cases).unwrap_or_else(|error| panic!("{error}"));
    let case = &specification.cases[2];
    let shape = |release| match case.expected_in(release)[..] {
        [(_, Expectation::Value(value)), (_, Expectation::Unchanged)] => value.shape.as_ref().unwrap().sizes()[0],
        ref other => panic!("{other:?}"),
    };
    let seen = [Some("2.3.1"), Some("2.5.1+cpu"), Some("2.6.0"), Some("unknown"), None].map(shape);
    assert_eq!(seen, [3, 4, 2, 2, 2]);
}
