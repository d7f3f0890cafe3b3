//! `fuzz/smoke`, with another `cargo` before it: what it says of targets that crash, that execute nothing, and that do not
//! build. The targets themselves take minutes to compile, and CI runs them.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// The output of the run if `cargo fuzz run` is this script.
fn smoke(run: &str, targets: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let cargo = folder.path().join("cargo");
    let script = format!("#!/usr/bin/env bash\ncase \"$*\" in\n*' fuzz run '*)\n{run}\n;;\nesac\n");
    std::fs::write(&cargo, script).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/smoke"))
        .arg("1")
        .args(targets)
        .env("PATH", path)
        .env("TMPDIR", folder.path())
        .env("FUZZ_OPTIONS", "--release")
        .env_remove("LIBTORCH")
        .output()
        .unwrap()
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

const RUNS: &str = "echo 'Done 4200 runs in 2 second(s)'";

#[test]
fn a_target_that_runs_has_a_line() {
    let output = smoke(RUNS, &["reference", "protocol"]);
    let (told, _) = texts(&output);
    assert!(output.status.success(), "{output:?}");
    let line = |target: &str| format!("{target}: 4200 runs in 2 s, 2100 a second, no crash\n");
    assert_eq!(told, line("reference") + &line("protocol"));
}

#[test]
fn a_crash_is_reported_briefly_and_the_others_run() {
    let crash = "case \"$*\" in *' reference '*)
        echo \"thread panicked at src/a.rs:1\"; echo 'not the same'; echo 'stack backtrace:'; echo '#0 main'
        printf 'unit' >\"$TMPDIR/unit\"; echo \"x; Test unit written to $TMPDIR/unit\"; exit 77
    esac";
    let output = smoke(&format!("{crash}\n{RUNS}"), &["reference", "protocol"]);
    let (told, wrong) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(told.contains("protocol: 4200 runs"), "{told}");
    assert!(wrong.contains("fuzz run --no-trace-compares --release reference crash\n"), "{wrong}");
    assert!(wrong.contains("not the same") && wrong.contains("\ndW5pdA==\n") && !wrong.contains("#0"), "{wrong}");
}

#[test]
fn targets_that_execute_nothing_or_do_not_build_fail() {
    let nothing = smoke("echo 'Done 0 runs in 0 second(s)'", &["reference"]);
    assert_eq!(nothing.status.code(), Some(1), "{nothing:?}");
    assert!(texts(&nothing).1.contains("reference: nothing was executed"), "{nothing:?}");
    let unbuilt = smoke("echo 'error: no such crate'; exit 101", &["reference"]);
    assert_eq!(unbuilt.status.code(), Some(1), "{unbuilt:?}");
    assert!(texts(&unbuilt).1.contains("error: no such crate"), "{unbuilt:?}");
}

#[test]
fn a_target_of_libtorch_wants_to_know_where_it_is() {
    let output = smoke(RUNS, &["shapes"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(texts(&output).1.contains("LIBTORCH has to say where it lies"), "{output:?}");
}
