//! Other libraries, one in Python, one in Rust and one for Node, as `--impl` has them: installed from their pins into the
//! cache, then against the whole specification. What they do otherwise is in their `divergences.yaml`, exactly so, and
//! snippets in their own language show it. And the skeletons that `new-adapter` writes.
#![cfg(feature = "cli")]

use std::path::{Path, PathBuf};
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

/// The Python of the environment that the pins of NumPy make.
fn python_with_numpy() -> PathBuf {
    let listed = String::from_utf8(broadcheck(&["impl", "install", "--quiet", "numpy"], here()).stdout).unwrap();
    let environment = listed.trim().strip_prefix("numpy is ready in ").expect("a folder");
    Path::new(environment).join("bin").join("python")
}

/// A Python of the user's, after `--python` or around the program, is used as it is: the cache stays empty but for the copy
/// of the adapters, and no other Python is asked.
#[cfg(unix)]
#[test]
fn a_python_of_the_users_is_used_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let python = python_with_numpy();
    let folder = tempfile::tempdir().unwrap();
    let environment = folder.path().join("environment");
    std::fs::create_dir_all(environment.join("bin")).unwrap();
    std::fs::write(environment.join("pyvenv.cfg"), "").unwrap();
    std::fs::write(environment.join("bin/python"), format!("#!/bin/sh\nexec '{}' \"$@\"\n", python.display())).unwrap();
    std::fs::set_permissions(environment.join("bin/python"), std::fs::Permissions::from_mode(0o755)).unwrap();
    // A link to the program would be taken for the program itself.
    std::fs::hard_link(env!("CARGO_BIN_EXE_broadcheck"), environment.join("bin/broadcheck"))
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_broadcheck"), environment.join("bin/broadcheck")).map(drop))
        .unwrap();
    let run = |program: &Path, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(["check", "--case", "broadcastable/", "--impl"]).args(args).current_dir(folder.path());
        command.env("BROADCHECK_CACHE", folder.path().join("cache")).env("BROADCHECK_PYTHON", "no-such-python");
        let output = command.env_remove("BROADCHECK_SOURCE").output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), said)
    };
    let outside = Path::new(env!("CARGO_BIN_EXE_broadcheck"));
    for (program, args) in [
        (outside, &["numpy", "--python", python.to_str().unwrap()][..]),
        (&environment.join("bin/broadcheck"), &["numpy"][..]),
    ] {
        let (code, said) = run(program, args);
        assert!(code == Some(0) && said.contains("· conforms"), "{said}");
    }
    assert!(!folder.path().join("cache/implementations").exists());
    let (code, said) = run(outside, &["numpy"]);
    assert!(code == Some(2) && said.contains("no-such-python"), "{said}");
    let (code, said) = run(outside, &["candle", "--python", python.to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("candle is not written in Python"), "{said}");
}

#[test]
fn numpy_keeps_the_rules_of_the_protocol() {
    let python = python_with_numpy();
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
