//! Small scopes: planted faults show in one, and a campaign over one is complete however it is divided into shards.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use broadcheck::adapter::Implementation;
use broadcheck::generate::bounded_exhaustive::{Bounds, World};
use broadcheck::harness::campaign::journal;
use broadcheck::harness::campaign::summary::Summary;
use broadcheck::harness::campaign::{counts::Checked, tally::Tally};
use broadcheck::harness::mutation::{self, Mutant, NONE};
use broadcheck::harness::oracles::comparison::{Side, from_reference};
use broadcheck::ops::Op;
use broadcheck::program::Program;
use broadcheck::reference::Reference;
use tempfile::TempDir;

/// One of each kind: arithmetic, a comparison, a view, a write that is nothing else.
const OPS: &str = "add,lt,expand,copy";

/// A scope of 16 pairs and no triple.
const TINY: &[&str] = &["--rank", "1", "--triples", "0", "--sizes", "0,1,2"];

/// True if any call in a scope shows that this is not the reference.
fn shows(mutant: &Mutant, world: &World) -> bool {
    let (reference, hello) = (Reference.hello(), mutant.hello());
    let differs = |program: Program| {
        let expected = Reference.run(&program);
        let Ok(observed) = mutant.run(&program) else { return true };
        let expected = Side { hello: &reference, reply: &expected };
        !from_reference(&program, expected, Side { hello: &hello, reply: &observed }).is_empty()
    };
    (0..world.len()).flat_map(|case| world.programs(case)).any(differs)
}

/// All that can be wrong with the shapes of operands, and something of each other kind.
#[test]
fn planted_faults_show_in_a_small_scope() {
    let ops = [Op::Add, Op::Lt, Op::Expand, Op::Copy];
    let world = |rank, layouts| World::new(&Bounds { rank, triples: 0, sizes: vec![0, 1, 2], layouts }, &ops);
    let (plain, laid_out) = (world(2, false), world(1, true));
    let faults = [
        "one-before",
        "aligned-from-the-left",
        "one-against-zero",
        "leading-one-dropped",
        "number-has-a-dimension",
        "empty-only",
        "both-broadcast",
        "swapped-operands",
        "lt-takes-equal",
        "refuses-empty",
        "accepts-one-in-a-hundred",
        "expands-anything",
        "target-grows",
        "changed-before-refused",
        "copies-first-only",
        "sizes-swapped",
        "dimension-off-by-one",
        "outermost-mismatch",
        "shapes-swapped",
        "stride-zero-lost",
    ];
    let of_layouts = ["only-strided-operands", "offset-lost", "writes-to-expanded"];
    let in_plain = faults.iter().map(|id| (*id, &plain));
    for (id, world) in in_plain.chain(of_layouts.iter().map(|id| (*id, &laid_out))) {
        let mutant = mutation::all().find(|mutant| mutant.id == id).unwrap_or_else(|| panic!("no mutant {id}"));
        assert!(shows(mutant, world), "{id}");
    }
    assert!(!of_layouts.iter().any(|id| mutation::all().any(|mutant| mutant.id == *id && shows(mutant, &plain))));
    assert!(!shows(NONE, &plain) && !shows(NONE, &laid_out));
}

#[test]
fn every_case_of_an_honest_adapter_is_counted() {
    let dir = TempDir::new().unwrap();
    let (code, printed) = exhaust("honest", dir.path(), &[TINY, &["--ops", OPS, "--format", "json"]].concat());
    let summary: Summary = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, summary.cases, summary.configuration.cases), (0, 16, Some(16)));
    let checked = |accepted, rejected| Checked { accepted, rejected, ..Checked::default() };
    let calls = [
        // [], [1] go with anything, [0] and [2] with themselves and those.
        ("add(self, other)", checked(14, 2)),
        ("add_(self, other)", checked(9, 7)),
        // In place nothing has a dimension more than its target.
        ("copy_(self, src)", checked(9, 7)),
        ("expand(self, size)", checked(9, 7)),
        ("lt(self, other)", checked(14, 2)),
        ("lt_(self, other)", checked(9, 7)),
    ];
    let there: Vec<(&str, Checked)> = summary.calls.iter().map(|(call, checked)| (call.as_str(), *checked)).collect();
    assert_eq!(there, calls);
}

#[test]
fn a_finding_is_one_call() {
    let dir = TempDir::new().unwrap();
    let (code, _) = exhaust("wrong-message", dir.path(), &[TINY, &["--ops", OPS]].concat());
    let tally = tally(dir.path());
    assert_eq!(code, 1);
    for (group, found) in &tally.findings {
        let simplest = &found.pursued.as_ref().expect("it was pursued").simplest;
        assert_eq!(simplest.program.matches("r0:").count(), 1, "{}", simplest.program);
        assert!(found.examples.iter().all(|(_, example)| !example.program.contains("r1:")), "{group:?}");
    }
    // All of the rejections and nothing else.
    let calls = &tally.checkpoint.counts.calls;
    assert!(calls.values().all(|checked| checked.differing == checked.rejected && checked.known == 0), "{calls:?}");
}

#[test]
fn a_call_that_breaks_the_adapter_hides_no_other() {
    let dir = TempDir::new().unwrap();
    let (code, _) = exhaust("dies lt", dir.path(), &[TINY, &["--ops", OPS]].concat());
    let tally = tally(dir.path());
    let calls = &tally.checkpoint.counts.calls;
    assert_eq!((code, tally.complete()), (1, Some(true)));
    assert_eq!((calls["lt(self, other)"].broken, calls["lt_(self, other)"].differing), (16, 16));
    assert_eq!((calls["add(self, other)"].accepted, calls["add(self, other)"].broken), (14, 0));
}

#[test]
fn shards_and_layouts_make_the_whole() {
    let dir = TempDir::new().unwrap();
    let folder = |name: &str| dir.path().join(name);
    let more = |shard: &[&'static str]| [&["--layouts", "--rank", "1", "--triples", "0", "--ops", OPS], shard].concat();
    exhaust("wrong-strides", &folder("whole"), &more(&[]));
    let parts = ["0/3", "1/3", "2/3"].map(|shard| {
        let part = folder(&shard[..1]);
        exhaust("wrong-strides", &part, &more(&["--shard", shard]));
        part
    });
    let merged = Summary::of_all(&parts.map(|part| tally(&part))).unwrap();
    let whole = Summary::of(&tally(&folder("whole")));
    let counted = |summary: &Summary| {
        let findings = summary.findings.iter().map(|line| (line.signature.clone(), line.count, line.first));
        (summary.cases, summary.calls.clone(), summary.operations.clone(), findings.collect::<Vec<_>>())
    };
    assert_eq!(counted(&merged), counted(&whole));
    assert!(whole.cases > 100 && !whole.findings.is_empty() && merged.missing.is_empty());
}

#[test]
fn a_kill_loses_nothing() {
    let dir = TempDir::new().unwrap();
    let (calm, killed) = (dir.path().join("calm"), dir.path().join("killed"));
    let more = ["--rank", "3", "--triples", "0", "--ops", "sub,expand", "--jobs", "2"];
    exhaust("swapped-operands", &calm, &more);
    let mut campaign = command("swapped-operands", &killed, &more).spawn().unwrap();
    while !journal::read(&killed).is_ok_and(|tally| tally.checkpoint.counts.cases > 0) {
        assert_eq!(campaign.try_wait().unwrap(), None, "it ended before it could be killed");
        thread::sleep(Duration::from_millis(1));
    }
    campaign.kill().unwrap();
    campaign.wait().unwrap();
    assert_eq!(tally(&killed).complete(), Some(false), "there is nothing left to go on with");
    exhaust("swapped-operands", &killed, &["--resume"]);
    let [calm, killed] = [calm, killed].map(|folder| Summary::of(&tally(&folder)));
    assert_eq!((&calm.calls, calm.cases), (&killed.calls, killed.cases));
}

#[test]
fn senseless_options_are_rejected() {
    let dir = TempDir::new().unwrap();
    let fails = |given: &[&str], why: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_broadcheck"))
            .arg("exhaust")
            .args(given)
            .arg("--out")
            .arg(dir.path().join("campaign"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.contains(why)), (Some(2), true), "{given:?}: {said}");
    };
    let honest = format!("'{}' honest", common::faulty_binary().display());
    fails(&["--impl", "reference"], "cannot judge itself");
    fails(&["--impl", &honest, "--ops", "sum"], "`sum` does not broadcast two tensors");
    fails(&["--impl", &honest, "--rank", "4", "--sizes", "64"], "more than a small world has");
    fails(&["--impl", &honest, "--resume"], "there is no campaign here");
    exhaust("honest", &dir.path().join("campaign"), &[TINY, &["--ops", "add"]].concat());
    fails(&["--impl", &honest, "--resume", "--rank", "2"], "begun with other options");
}

/// The exit code and what is printed.
fn exhaust(adapter: &str, out: &Path, more: &[&str]) -> (i32, String) {
    let output = command(adapter, out, more).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap_or_else(|| panic!("{said}")), String::from_utf8(output.stdout).unwrap())
}

fn command(adapter: &str, out: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadcheck"));
    let adapter = format!("'{}' {adapter}", common::faulty_binary().display());
    command.args(["exhaust", "--impl", &adapter, "--out"]).arg(out).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn tally(folder: &Path) -> Tally {
    assert!(fs::exists(folder.join(journal::FILE)).unwrap());
    journal::read(folder).unwrap_or_else(|error| panic!("{error}"))
}
