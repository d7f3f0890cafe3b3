//! Helpers of the tests of the specification: the specification, libtorch, and the faulty adapters.
#![allow(dead_code)] // Each test binary compiles this file and uses a part of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use broadcheck::adapter::{CommandLine, Limits, Process};
use broadcheck::case::{Case, Specification, load};
use broadcheck::harness::check::Candidate;
use broadcheck::harness::model::divergence::Source;
use broadcheck::harness::runner::Runner;
use broadcheck::install::{self, Progress};

/// The specification of these sources.
pub static SPECIFICATION: LazyLock<Specification> = LazyLock::new(|| {
    load(&broadcheck::assets::specification().expect("the specification")).unwrap_or_else(|error| panic!("{error}"))
});

/// The reference, as `--impl reference` gives it.
pub fn reference() -> Candidate {
    let given = "reference".to_owned();
    Candidate { given, runner: Runner::Reference, divergences: Vec::new(), earlier: BTreeMap::new() }
}

/// libtorch, as `--impl libtorch` gives it; the first time it is installed. Without it the installer's sentence comes
/// back, and tests that need libtorch have to fail with it.
pub fn libtorch() -> Result<Candidate, String> {
    let installed = install::libtorch(None, &Progress::auto()).map_err(|error| error.to_string())?;
    adapter("libtorch", CommandLine::new(installed.adapter), Limits::default())
}

/// One of the adapters that are wrong on purpose, with its arguments.
pub fn faulty(args: &str, limits: Limits) -> Result<Candidate, String> {
    let command = args.split(' ').fold(CommandLine::new(faulty_binary()), |command, arg| command.arg(arg));
    adapter(&format!("faulty {args}"), command, limits)
}

fn adapter(given: &str, command: CommandLine, limits: Limits) -> Result<Candidate, String> {
    let process = Process::start(command, limits).map_err(|error| error.to_string())?;
    Candidate::new(given.to_owned(), Runner::Adapter(Box::new(process)), &Source::Own, &SPECIFICATION)
}

/// The example that `cargo test` builds next to the tests.
pub fn faulty_binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(|deps| deps.parent()).expect("tests are built into target/<profile>/deps");
    let binary = target.join("examples").join(format!("faulty{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "{} is not there: `cargo build --example faulty` makes it", binary.display());
    binary
}

/// Adds a program with its outcomes to the text of a snapshot: its name and the first line of it, then the others.
pub fn entry(text: &mut String, name: &str, transcript: &str) {
    let mut lines = transcript.lines();
    text.extend([name, ": ", lines.next().unwrap_or_default(), "\n"]);
    text.extend(lines.flat_map(|line| ["  ", line, "\n"]));
}

/// A folder has the snapshots with these names, and no other.
pub fn no_orphans<S: Into<String>>(folder: &Path, names: impl Iterator<Item = S>) -> Result<(), String> {
    let known: BTreeSet<String> = names.map(|name| name.into() + ".snap").collect();
    let files = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let found = files.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    // What insta proposes in place of a snapshot that differs is not one yet.
    let found: BTreeSet<String> = found.filter(|name| !name.ends_with(".snap.new")).collect();
    let differing: Vec<&String> = found.symmetric_difference(&known).collect();
    if differing.is_empty() { Ok(()) } else { Err(format!("missing, or not needed: {differing:?}")) }
}

/// True if a case is about a function that PyTorch has in Python alone, so that libtorch cannot run it.
pub fn needs_front_end(case: &Case) -> bool {
    case.program.steps.iter().any(|step| step.op.is_front_end())
}
