//! Planted faults: the oracles find them, and find nothing where there is none. The whole list takes a release build;
//! `broadcheck mutants` runs it, and `reports/mutants.md` has what it printed.

use std::collections::BTreeSet;
use std::process::Command;

use broadcheck::harness::model::finding::Oracle;
use broadcheck::harness::mutation::{self, Mutant, NONE, Search, look_for};

/// Programs for each mutant here: enough for those that show often.
const SEARCH: Search = Search { seed: 1, programs: 400, patience: 0, common: false };

fn mutant(id: &str) -> &'static Mutant {
    mutation::all().find(|mutant| mutant.id == id).unwrap_or_else(|| panic!("no mutant {id}"))
}

#[test]
fn there_are_enough_and_each_has_a_name_of_its_own() {
    let ids: BTreeSet<&str> = mutation::all().map(|mutant| mutant.id).collect();
    assert_eq!(ids.len(), mutation::all().count());
    assert!(ids.len() >= 60, "{} mutants", ids.len());
    let known: BTreeSet<&str> = mutation::all().map(|mutant| mutant.what).collect();
    assert_eq!(known.len(), ids.len(), "two mutants have the same description");
}

/// One of each way to plant a fault.
#[test]
fn faults_are_found() {
    for id in
        ["one-element", "lt-takes-equal", "leading-one-dropped", "vector-body", "sizes-swapped", "warning-repeated"]
    {
        let outcome = look_for(mutant(id), &SEARCH);
        assert!(!outcome.found.is_empty(), "{id} is not found in {} programs", outcome.programs);
        // The first finding is reduced.
        let steps = outcome.found[0].steps;
        assert!((1..=3).contains(&steps), "{id}: {:?}", outcome.found);
    }
}

/// Faults that the reference has as well: it sees nothing, and what a function is by definition does.
#[test]
fn faults_that_the_reference_shares_are_found() {
    assert!(mutation::common().count() >= 80, "{} common faults", mutation::common().count());
    let search = Search { programs: 1500, common: true, ..SEARCH };
    for id in ["atan2-in-degrees", "gt-takes-equal", "amax-is-amin", "gradient-doubled"] {
        let mutant = mutation::common().find(|mutant| mutant.id == id).expect("a common fault");
        let outcome = look_for(mutant, &search);
        assert!(!outcome.found.is_empty(), "{id} is not found in {} programs", outcome.programs);
        assert!(outcome.found.iter().all(|found| found.oracle != Oracle::Reference), "{id}: {:?}", outcome.found);
    }
    let control = look_for(NONE, &Search { programs: 400, ..search });
    assert!(control.found.is_empty(), "{:?}", control.found);
}

/// Without the reference: what an implementation answers is held against itself alone.
#[test]
fn the_definition_finds_faults_by_itself() {
    let search = Search { patience: 400, ..SEARCH };
    for id in ["vector-body", "number-has-a-dimension", "target-not-written"] {
        let outcome = look_for(mutant(id), &search);
        let by_definition = outcome.found.iter().any(|found| found.oracle == Oracle::Definition);
        assert!(by_definition, "{id}: {:?}", outcome.found);
    }
}

#[test]
fn a_fault_of_the_process_is_found() {
    let outcome = look_for(mutant("crash-by-rank"), &SEARCH);
    assert_eq!(outcome.found.first().map(|found| found.signature.kind.as_str()), Some("crash"));
}

#[test]
fn the_same_seed_finds_the_same() {
    let figures =
        || look_for(mutant("alpha-lost"), &SEARCH).found.into_iter().map(|found| (found.programs, found.signature));
    assert!(figures().eq(figures()));
}

#[test]
fn nothing_is_found_without_a_fault() {
    let outcome = look_for(NONE, &SEARCH);
    assert_eq!((outcome.found.len(), outcome.programs), (0, SEARCH.programs), "{:?}", outcome.found);
}

/// A mutant that changes nothing is not skipped: it is not found, and the command fails.
#[test]
fn mutants_that_change_nothing_are_reported() {
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_broadcheck"))
            .args(["mutants", "--programs", "60", "--format", "json"])
            .args(args)
            .output()
            .expect("broadcheck runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, printed) = run(&["--only", "none"]);
    let report: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!((code, &report["mutants"][0]["found"]), (Some(1), &serde_json::json!([])));
    assert_eq!(run(&["--only", "one-element"]).0, Some(0));
    assert_eq!(run(&["--only", "no-such-mutant"]).0, Some(2));
}

/// The checked-in report has each mutant, in order, and all are found.
#[test]
fn the_report_is_of_these_mutants() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/reports/mutants.md");
    let report = std::fs::read_to_string(path).expect("reports/mutants.md");
    let rows = report.lines().filter_map(|line| line.strip_prefix("| ")).map(|line| line.split(" | "));
    let told: Vec<(&str, &str)> = rows.filter_map(|mut cells| Some((cells.next()?, cells.next()?))).collect();
    let told: Vec<_> = told.into_iter().filter(|(id, _)| *id != "mutant").collect();
    let all: Vec<(&str, &str)> = mutation::all().map(|mutant| (mutant.id, mutant.what)).collect();
    assert_eq!(told, all, "`broadcheck mutants --format markdown > reports/mutants.md` writes it anew");
    assert!(!report.contains("not found") && !report.contains("FALSE"), "reports/mutants.md has a failure");
}
