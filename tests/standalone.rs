//! The program alone: copied to an empty folder, outside of any checkout, it has everything that it needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// A copy of the program, made before any test starts a process: a file that is being written cannot be run.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broadcheck-alone");
    fs::copy(env!("CARGO_BIN_EXE_broadcheck"), &program).unwrap();
    program
});

/// The copy, and the empty folder outside of the checkout in which it works.
struct Alone {
    folder: tempfile::TempDir,
    program: &'static Path,
}

impl Alone {
    fn new() -> Alone {
        Alone { program: &PROGRAM, folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command.args(arguments).current_dir(self.folder.path()).env_remove("BROADCHECK_SOURCE");
        command
    }

    /// Its output, after it has ended with this exit code.
    fn says(&self, arguments: &[&str], code: i32) -> String {
        ended(&self.command(arguments).output().unwrap(), arguments, code)
    }

    /// The same with a cache of its own, which is empty at first.
    fn says_with_an_empty_cache(&self, arguments: &[&str], code: i32) -> String {
        ended(&self.command(arguments).env("BROADCHECK_CACHE", self.path("cache")).output().unwrap(), arguments, code)
    }
}

fn ended(output: &Output, arguments: &[&str], code: i32) -> String {
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said:?}");
    let said = said.concat();
    // The cache may be below it.
    for folder in ["spec", "adapters", "src", "reports"] {
        let place = format!("{}/{folder}/", env!("CARGO_MANIFEST_DIR"));
        assert!(!said.contains(&place), "{arguments:?} tells of the checkout: {said}");
    }
    said
}

#[test]
fn its_specification_is_that_of_the_checkout() {
    let alone = Alone::new();
    let here = alone.says_with_an_empty_cache(&["--version", "--verbose"], 0);
    let there = alone.command(&["--version", "--verbose"]).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let there = String::from_utf8(there.stdout).unwrap();
    assert!(here.contains("from the copy in the program: ") && there.contains("from a checkout"), "{here}{there}");
    let specification = |text: &str| text.lines().find(|line| line.starts_with("specification")).map(str::to_owned);
    assert_eq!(
        specification(&here),
        specification(&there),
        "the program has another specification in it: files are noticed when they change, not when they are new, so touch \
         src/embedded.rs and build again"
    );
}

#[test]
fn it_judges_without_libtorch() {
    let alone = Alone::new();
    let checked = alone.says_with_an_empty_cache(&["check", "--impl", "reference", "--events", "one.jsonl.gz"], 0);
    assert!(checked.contains("· conforms"), "{checked}");
    let explained = alone.says_with_an_empty_cache(&["explain", "5,3", "4,3"], 1);
    assert!(explained.contains("5") && explained.contains("must match"), "{explained}");
    fs::copy(alone.path("one.jsonl.gz"), alone.path("other.jsonl.gz")).unwrap();
    alone.says_with_an_empty_cache(&["diff", "one.jsonl.gz", "other.jsonl.gz"], 0);
    alone.says_with_an_empty_cache(&["report", "--events", "one.jsonl.gz", "--out", "report"], 0);
    assert!(alone.path("report/index.html").is_file());
    let written = alone.says_with_an_empty_cache(&["new-adapter", "mylib", "--lang", "rust"], 0);
    let manifest: toml::Table = fs::read_to_string(alone.path("mylib/Cargo.toml")).unwrap().parse().unwrap();
    let depends = &manifest["dependencies"]["broadcheck-protocol"];
    assert_eq!(depends.as_str(), Some(env!("CARGO_PKG_VERSION")));
    let library = manifest["patch"]["crates-io"]["broadcheck-protocol"]["path"].as_str().unwrap().to_owned();
    assert!(Path::new(&library).join("lib.rs").is_file(), "{library}");
    let documents = written.lines().filter_map(|line| line.split_once("  ").filter(|(_, path)| path.ends_with(".md")));
    let documents: Vec<(&str, &str)> = documents.collect();
    assert_eq!(documents.iter().map(|(what, _)| *what).collect::<Vec<_>>(), ["tutorial", "protocol"], "{written}");
    assert!(documents.iter().all(|(_, path)| Path::new(path).is_file()), "{written}");
    let help = alone.says_with_an_empty_cache(&["new-adapter", "--help"], 0);
    assert!(help.contains("adapters/TUTORIAL.md"), "{help}");
    let listed = alone.says_with_an_empty_cache(&["impl", "list"], 0);
    assert!(listed.contains("numpy") && listed.contains("candle"), "{listed}");
    let shown = alone.says_with_an_empty_cache(&["show", "broadcast-shapes/text"], 0);
    assert!(
        shown.contains("reference: passed") && shown.contains("no event files of other implementations"),
        "{shown}"
    );
    let nothing = alone.says_with_an_empty_cache(&["diff", "2.12.1", "2.13.0"], 2);
    assert!(nothing.contains("broadcheck matrix"), "it names the remedy: {nothing}");
}

/// With the adapter that everything else here uses: the copy has the sources of the checkout, so nothing is built again.
#[test]
fn it_judges_libtorch() {
    let alone = Alone::new();
    let installed = alone.says(&["libtorch", "install"], 0);
    assert!(installed.contains("libtorch"), "{installed}");
    let checked = alone.says(&["check", "--impl", "libtorch", "--case", "libtorch-faults/"], 0);
    assert!(checked.contains("known to differ"), "its known differences are in the program: {checked}");
    alone.says(&["fuzz", "--cases", "200", "--out", "fuzz"], 0);
}

#[test]
fn a_folder_without_known_differences_judges_nothing() {
    let alone = Alone::new();
    alone.says_with_an_empty_cache(&["--version", "--verbose"], 0);
    let unpacked = fs::read_dir(alone.path("cache/source")).unwrap().next().unwrap().unwrap().path();
    let copy = alone.path("copy");
    fs::rename(unpacked, &copy).unwrap();
    fs::remove_file(copy.join("adapters/libtorch/divergences.yaml")).unwrap();
    let arguments = ["check", "--impl", "libtorch", "--case", "libtorch-faults/"];
    let output = alone.command(&arguments).env("BROADCHECK_SOURCE", &copy).output().unwrap();
    let said = ended(&output, &arguments, 2);
    assert!(said.contains("divergences.yaml is missing") && said.contains("--no-divergences"), "{said}");
}
