//! The file of known differences in a library's own repository: `check --pin` writes it, and `check --divergences` fails
//! on anything new, on anything in it that is gone, and on less being supported.

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use common::faulty_binary;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The output of broadcheck for an adapter that is wrong in this way, after it has ended with this code.
    fn check(&self, fault: &str, arguments: &[&str], code: i32) -> String {
        let adapter = format!("'{}' {fault}", faulty_binary().display());
        self.broadcheck(&[&["check", "--impl", &adapter], arguments].concat(), code)
    }

    fn broadcheck(&self, arguments: &[&str], code: i32) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_broadcheck"));
        let output = command.args(arguments).current_dir(self.0.path()).output().unwrap();
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        said
    }
}

#[test]
fn known_differences_are_pinned_and_others_fail() {
    let folder = Folder::new();
    let said = folder.check("swapped-operands", &["--pin", "known.yaml"], 0);
    assert!(said.contains("known.yaml: ") && said.contains("without a reason yet"), "{said}");
    assert!(said.contains(" known to differ"), "{said}");

    // A person says why, and that is said no more.
    let reasons = folder.text("known.yaml").replace("why: TODO", "why: it takes its operands in the other order");
    fs::write(folder.path("known.yaml"), &reasons).unwrap();
    let known = ["--divergences", "known.yaml"];
    let said = folder.check("swapped-operands", &known, 0);
    assert!(!said.contains("without a reason"), "{said}");

    // What is pinned is gone; something else differs; less is supported.
    let gone = folder.check("honest", &known, 1);
    assert!(gone.contains("known differences that are gone · values-of-sub"), "{gone}");
    let new = folder.check("wrong-gradient", &known, 1);
    assert!(new.contains(" of grad"), "{new}");
    let less = folder.check("lacks-its-mistakes mul", &known, 1);
    assert!(less.contains("cases of mul, and known.yaml has ") && less.contains("less is supported"), "{less}");

    // A part of the specification says nothing of how much is supported.
    folder.check("lacks-its-mistakes mul", &["--divergences", "known.yaml", "--case", "losses/"], 0);
}

#[test]
fn a_new_pin_keeps_what_people_wrote() {
    let folder = Folder::new();
    let part = ["--pin", "known.yaml", "--case", "arithmetic/", "--case", "comparison/"];
    folder.check("swapped-operands", &part, 0);
    let ids =
        |text: &str| text.lines().filter(|line| line.starts_with("- id: ")).map(str::to_owned).collect::<Vec<_>>();
    let first = folder.text("known.yaml");
    assert!(ids(&first).len() > 1, "several causes: {first}");
    assert!(!first.contains("judged:"), "how much is supported is not seen in a part");
    let written =
        first.replacen("why: TODO", "why: 'it is so: \"a\" # b'", 1).replacen("kind: bug", "kind: by-design", 1);
    fs::write(folder.path("known.yaml"), &written).unwrap();

    folder.check("swapped-operands", &part, 0);
    let second = folder.text("known.yaml");
    assert!(second.contains("kind: by-design") && second.contains("it is so: \"a\" # b"), "{second}");
    assert_eq!(ids(&second), ids(&first));

    // The cases that are not run stay; what is right now goes.
    folder.check("honest", &["--pin", "known.yaml", "--case", "comparison/"], 0);
    let third = folder.text("known.yaml");
    assert!(third.contains("case\":\"arithmetic/") && !third.contains("case\":\"comparison/"), "{third}");
    let said = folder.check("honest", &part, 0);
    assert!(said.contains("gone: "), "{said}");
    assert!(folder.text("known.yaml").contains("divergences: []"));
}

#[test]
fn a_file_that_cannot_be_used_is_an_error_that_says_what_to_do() {
    let folder = Folder::new();
    let said = folder.check("honest", &["--divergences", "known.yaml"], 2);
    assert!(said.contains("known.yaml: No such file") && said.contains("--pin known.yaml` writes it"), "{said}");
    fs::write(
        folder.path("known.yaml"),
        "- {id: a, kind: bug, link: l, why: w, witnesses: [{case: no/such, broken: x}]}",
    )
    .unwrap();
    let said = folder.check("honest", &["--divergences", "known.yaml"], 2);
    assert!(said.contains("there is no case `no/such`"), "{said}");
    let said = folder.check("honest", &["--impl", "libtorch", "--divergences", "known.yaml"], 2);
    assert!(said.contains("needs one implementation: name it with --impl"), "{said}");
    let said = folder.broadcheck(&["check", "--impl", "reference", "--pin", "known.yaml"], 2);
    assert!(said.contains("needs one implementation: name it with --impl"), "{said}");
    assert!(folder.text("known.yaml").contains("no/such"), "nothing was written");
    let said = folder.check("honest", &["--pin", "known.yaml", "--case", "errors/"], 0);
    assert!(said.contains("gone: a") && folder.text("known.yaml").contains("divergences: []"), "{said}");
    fs::write(folder.path("known.yaml"), "- {id: a, kind: bog}").unwrap();
    let said = folder.check("honest", &["--pin", "known.yaml", "--case", "errors/"], 2);
    assert!(said.contains("--pin known.yaml: ") && folder.text("known.yaml").contains("bog"), "{said}");
    let said = folder.broadcheck(&["check", "--divergences", "known.yaml"], 2);
    assert!(said.contains("name it with --impl"), "{said}");
}

/// The pinned way of a crash is its fault.
#[test]
fn a_crash_is_pinned_as_broken() {
    let folder = Folder::new();
    let part = ["--case", "broadcastable/", "--case", "arithmetic/mul"];
    folder.check("dies mul", &[&part[..], &["--pin", "known.yaml"]].concat(), 0);
    assert!(folder.text("known.yaml").contains("\"broken\":"), "{}", folder.text("known.yaml"));
    folder.check("dies mul", &[&part[..], &["--divergences", "known.yaml"]].concat(), 0);
    folder.check("quits mul", &[&part[..], &["--divergences", "known.yaml"]].concat(), 1);
}

#[test]
fn campaigns_and_matrices_take_the_file_too() {
    let folder = Folder::new();
    let adapter = format!("'{}' swapped-operands", faulty_binary().display());
    let fuzz = |out: &str, more: &[&str], code| {
        let arguments = ["fuzz", "--impl", &adapter, "--ops", "sub", "--cases", "60", "--jobs", "1", "--out", out];
        folder.broadcheck(&[&arguments[..], more].concat(), code)
    };
    fuzz("before", &[], 1);
    let patterns =
        [("reference", "values"), ("definition", "values"), ("mathematics", "values"), ("reference", "message")];
    let patterns =
        patterns.map(|(oracle, kind)| format!("{{oracle: {oracle}, call: 'sub*', kind: {kind}, text: '*'}}"));
    let known = format!(
        "- {{id: swapped, kind: bug, link: l, why: w, applies: [{{ops: [sub]}}], signature: [{}]}}",
        patterns.join(", ")
    );
    fs::write(folder.path("known.yaml"), known).unwrap();
    let said = fuzz("after", &["--divergences", "known.yaml"], 0);
    assert!(said.contains("known divergences in"), "{said}");
    let said = folder.broadcheck(&["matrix", "--implementations", "numpy,jax", "--divergences", "known.yaml"], 2);
    assert!(said.contains("--divergences needs one implementation"), "{said}");
}

/// Cases that one of the two does not support are not compared, and the output says so.
#[test]
fn a_diff_compares_what_both_support() {
    let folder = Folder::new();
    let cases = ["--case", "arithmetic/"];
    folder.check("honest", &[&cases[..], &["--events", "all.jsonl"]].concat(), 0);
    folder.check("lacks-its-mistakes mul", &[&cases[..], &["--events", "less.jsonl"]].concat(), 0);
    let said = folder.broadcheck(&["diff", "all.jsonl", "less.jsonl"], 0);
    assert!(said.contains("no difference in ") && said.contains("not compared: "), "{said}");

    folder.check("swapped-operands", &[&cases[..], &["--events", "other.jsonl"]].concat(), 1);
    let said = folder.broadcheck(&["diff", "all.jsonl", "other.jsonl"], 1);
    assert!(said.contains("| r: {sub: [x, y]}"), "the program of the first case: {said}");
    let said = folder.broadcheck(
        &[
            "diff",
            "all.jsonl",
            "other.jsonl",
            "--ignore",
            "values,message,newly-rejected,shape,other,breaks,newly-accepted,class",
        ],
        0,
    );
    assert!(said.contains("ignored: values"), "{said}");
}
