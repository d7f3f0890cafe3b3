//! The command line as a user meets it: each file in `tests/cli` is a session, with its output and its exit codes.
//!
//! To add a test, write the commands; `TRYCMD=overwrite cargo test --test cli` fills in what they print, for review.
//! Parts that change with the specification, such as the number of cases, are `[..]`. No session has a libtorch: the
//! cache is empty, and nothing can fetch one.

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
fn implementations_of_one_name_are_distinguished() {
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

/// The totals come first and last, and however much is wrong, it fits between them.
#[test]
fn what_is_printed_is_for_a_person() {
    let faulty = common::faulty_binary();
    let run = |behaviour: &str| {
        let given = format!("'{}' {behaviour}", faulty.display());
        let output = Command::new(env!("CARGO_BIN_EXE_broadcheck")).args(["check", "--impl", &given]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, green) = run("honest");
    assert_eq!(code, Some(0), "{green}");
    let (code, red) = run("wrong-value");
    assert_eq!(code, Some(1), "{red}");
    for (text, most) in [(&green, 60), (&red, 200)] {
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() < most, "{} lines: {text}", lines.len());
        assert_eq!(lines[1], lines[lines.len() - 1], "{text}");
    }
    let failed: usize =
        red.lines().last().unwrap().split(" passed, ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(failed > 300, "{red}");
    let largest = red.lines().nth(3).unwrap();
    assert!(
        largest.contains(" cases faulty") && red.contains("  | r: {") && red.contains("  repeat: broadcheck check"),
        "{red}"
    );
}

/// A file that is not regular is written into, links are followed, and output that cannot be written is an error.
#[cfg(target_os = "linux")]
#[test]
fn writing_does_no_harm() {
    use std::fs;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let run = |events: &str, out: &str| {
        let script = format!("umask 027; exec \"$0\" check --impl reference --case einsum/ --events {events} > {out}");
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &script, env!("CARGO_BIN_EXE_broadcheck")]).current_dir(folder.path());
        let output = output.env("BROADCHECK_SOURCE", env!("CARGO_MANIFEST_DIR")).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run("/dev/null", "/dev/null"), (Some(0), String::new()));
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());

    let real = folder.path().join("real.jsonl");
    symlink("real.jsonl", folder.path().join("link.jsonl")).unwrap();
    assert_eq!(run("link.jsonl", "/dev/null"), (Some(0), String::new()));
    assert!(fs::symlink_metadata(folder.path().join("link.jsonl")).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640, "the umask decides");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o604)).unwrap();
    assert_eq!(run("real.jsonl", "/dev/null"), (Some(0), String::new()));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o604, "and later nothing changes it");

    let (code, said) = run("/dev/null", "/dev/full");
    assert_eq!(code, Some(2));
    assert!(said.contains("cannot write to standard output"), "{said}");
    assert_eq!(run("/dev/null", "/dev/null | true").0, Some(0), "a reader that closes the pipe early is no error");
}

/// The output of `broadcheck check` on the reference and on the implementations that the arguments name.
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
