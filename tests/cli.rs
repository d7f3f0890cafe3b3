//! The command line as a user meets it: each file in `tests/cli` is a session, with its output and its exit codes.
//!
//! To add a test, write the commands; `TRYCMD=overwrite cargo test --test cli` fills in what they print, for review.
//! What changes with the specification, such as the number of cases, is `[..]`. No session has a libtorch: the cache is
//! empty, and nothing can fetch one.
#![cfg(feature = "cli")]

mod common;

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

#[test]
fn sessions() {
    let examples = common::faulty_binary().parent().expect("a binary lies in a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([examples].into_iter().chain(std::env::split_paths(&path))).unwrap();
    trycmd::TestCases::new()
        .env("PATH", path.to_string_lossy())
        .env("BROADCHECK_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/no-libtorch"))
        .env("BROADCHECK_PYTHON", "no-such-python")
        .env("LIBTORCH", "")
        .env("LIBTORCH_USE_PYTORCH", "")
        // Help is wrapped to the terminal.
        .env("COLUMNS", "100")
        .case("tests/cli/*.trycmd");
}

#[test]
fn json_has_every_case_with_its_keys() {
    let report: Value = serde_json::from_str(&check(&["--format", "json"])).unwrap();
    let all =
        ["broadcheck", "cases", "clauses", "documents", "extent", "implementations", "suite", "totals", "verdict"];
    assert_eq!(keys(&report), all);
    assert_eq!(report["cases"].as_array().unwrap().len(), common::SPECIFICATION.cases.len());
    for (case, expected) in report["cases"].as_array().unwrap().iter().zip(&common::SPECIFICATION.cases) {
        assert_eq!(case["id"], expected.id);
        assert_eq!(keys(case), ["clause", "documented", "id", "implementations", "location", "source"], "{case}");
        assert!(case["source"]["doc"].is_string() && case["source"]["section"].is_string(), "{case}");
        let contradicted = case["documented"]["verdict"] == "contradicted";
        assert_eq!(contradicted, !expected.documented.is_empty(), "{case}");
        assert_eq!(keys(&case["implementations"]), ["reference"]);
        let ran = &case["implementations"]["reference"];
        assert_eq!(keys(ran), ["documented_holds", "exact", "outcome", "verdict"], "{ran}");
        assert_eq!(ran["verdict"]["is"], "passed", "{case}");
        assert_eq!(ran["documented_holds"], !contradicted, "{case}");
        assert!(!ran["outcome"].as_array().unwrap().is_empty(), "{case}");
    }
    for clause in report["clauses"].as_array().unwrap() {
        // The reference has no Python, and so no types of exceptions.
        let unseen = clause["cannot_be_shown"].is_string() || clause["about"] == serde_json::json!(["raises"]);
        assert_ne!(clause["holds"]["reference"].is_boolean(), unseen, "the reference executes every clause: {clause}");
    }
}

#[test]
fn implementations_of_one_name_are_told_apart() {
    let faulty = common::faulty_binary();
    let faulty = faulty.to_str().unwrap();
    let (honest, liar) = (format!("'{faulty}' honest"), format!("'{faulty}' wrong-message"));
    let both = ["--impl", &honest, "--impl", &liar, "--case", "einsum/", "--format"];
    let report: Value = serde_json::from_str(&check(&[&both[..], &["json"]].concat())).unwrap();
    let labels: BTreeSet<&str> =
        report["implementations"].as_array().unwrap().iter().map(|ready| ready["label"].as_str().unwrap()).collect();
    assert_eq!(labels.len(), 3, "{labels:?}");
    for case in report["cases"].as_array().unwrap() {
        assert_eq!(keys(&case["implementations"]), Vec::from_iter(labels.iter().copied()), "{case}");
    }
    let totals = &report["totals"]["implementations"];
    assert_eq!(totals[1]["failed"], 0, "{totals}");
    assert!(totals[2]["failed"].as_u64().unwrap() > 0, "{totals}");

    let junit = check(&[&both[..], &["junit"]].concat());
    let junit = quick_junit::Report::deserialize_from_str(&junit).unwrap();
    let failed: Vec<usize> = junit.test_suites.iter().map(|suite| suite.failures + suite.errors).collect();
    assert_eq!((junit.test_suites.len(), &failed[..2]), (3, &[0, 0][..]));
    assert!(failed[2] > 0);
    assert_eq!(junit.tests, 3 * report["cases"].as_array().unwrap().len());
}

/// What `broadcheck check` prints about the reference and whatever else the arguments name.
fn check(args: &[&str]) -> String {
    let broadcheck = Command::new(env!("CARGO_BIN_EXE_broadcheck"))
        .args(["check", "--impl", "reference"])
        .args(args)
        .output()
        .expect("cargo built it");
    assert!(broadcheck.stderr.is_empty(), "{}", String::from_utf8_lossy(&broadcheck.stderr));
    String::from_utf8(broadcheck.stdout).unwrap()
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap_or_else(|| panic!("{object} is no object")).keys().map(String::as_str).collect()
}
