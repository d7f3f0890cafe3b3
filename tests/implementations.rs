//! Other libraries, one in Python, one in Rust and one for Node, as `--impl` has them: installed from their pins into the
//! cache, then against the whole specification. What they do otherwise is in their `divergences.yaml`, exactly so, and
//! snippets in their own language show it. And the skeletons that `new-adapter` writes.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn broadcheck(args: &[&str], folder: &Path) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_broadcheck")).args(args).current_dir(folder).output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The cases that ended so.
fn ended(report: &Value, how: &str) -> Vec<String> {
    let cases = report["cases"].as_array().expect("cases");
    let of = |case: &&Value| {
        let ran = case["implementations"].as_object().expect("implementations").values().next().expect("one");
        ran["verdict"]["is"] == how
    };
    cases.iter().filter(of).map(|case| case["id"].as_str().expect("an id").to_owned()).collect()
}

/// Runs the specification on a library, which may be wrong as it is known to be, and in no other way.
fn differs_only_where_it_is_known_to(name: &str, least: usize) {
    let output = broadcheck(&["check", "--impl", name, "--format", "json"], here());
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    for how in ["broken", "failed", "uncontrolled"] {
        assert_eq!(ended(&report, how), [""; 0], "{name}: {how}");
    }
    let (passed, pinned) = (ended(&report, "passed").len(), ended(&report, "diverges").len());
    assert!(passed > least && pinned > 100, "{passed} passed, {pinned} diverge");
    assert_eq!(output.status.code(), Some(0), "{name}");
}

#[test]
fn numpy_differs_only_where_it_is_known_to() {
    differs_only_where_it_is_known_to("numpy", 1000);
}

#[test]
fn ndarray_differs_only_where_it_is_known_to() {
    differs_only_where_it_is_known_to("ndarray", 100);
}

#[test]
fn tfjs_differs_only_where_it_is_known_to() {
    differs_only_where_it_is_known_to("tfjs", 400);
}

#[test]
fn snippets_print_what_they_say() {
    let mut python = Command::new(std::env::var_os("BROADCHECK_PYTHON").unwrap_or_else(|| "python3".into()));
    python.arg(here().join("adapters").join("snippets.py"));
    let output =
        python.args(["--broadcheck", env!("CARGO_BIN_EXE_broadcheck"), "numpy", "ndarray", "tfjs"]).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("numpy: 41 snippets, 0 faults"), "{said}");
}

#[test]
fn numpy_keeps_the_rules_of_the_protocol() {
    let listed = String::from_utf8(broadcheck(&["impl", "install", "--quiet", "numpy"], here()).stdout).unwrap();
    let environment = listed.trim().strip_prefix("numpy is ready in ").expect("a folder");
    let python = Path::new(environment).join("bin").join("python");
    let command = ["validate-adapter", "--", python.to_str().unwrap(), "adapters/numpy/adapter.py"];
    let output = broadcheck(&command, here());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("keeps the rules"), "{said}");
}

#[test]
fn skeletons_keep_the_rules_and_pass_something() {
    let root = tempfile::tempdir().unwrap();
    for (name, lang, program) in [
        ("snake", "python", "python3 snake/adapter.py"),
        ("crab", "rust", "crab/target/release/broadcheck-crab"),
        ("node", "js", "node node/adapter.mjs"),
    ] {
        broadcheck(&["new-adapter", name, "--lang", lang], root.path());
        if lang == "rust" {
            let mut cargo = Command::new("cargo");
            cargo.args(["build", "--quiet", "--release", "--target-dir", "crab/target"]);
            cargo.args(["--manifest-path", "crab/Cargo.toml"]).current_dir(root.path());
            assert!(cargo.status().unwrap().success());
        }
        let words: Vec<&str> = program.split(' ').collect();
        let output = broadcheck(&[&["validate-adapter", "--"], words.as_slice()].concat(), root.path());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("keeps the rules"), "{said}");
        let output =
            broadcheck(&["check", "--impl", program, "--case", "arithmetic/", "--format", "json"], root.path());
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        assert_eq!(ended(&report, "broken"), [""; 0]);
        assert!(!ended(&report, "unsupported").is_empty());
    }
}
