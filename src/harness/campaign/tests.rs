//! A reference that goes wrong is a finding, and no end of the campaign: planted faults in the way it is asked.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use super::cases::{self, Shard};
use super::journal::{self, Journal};
use super::record::{Configuration, Header, Identity, Machine};
use super::{FINDINGS, Setup, Working, run};
use crate::adapter::Implementation;
use crate::case::load_program;
use crate::generate::Options;
use crate::model::finding::Oracle;
use crate::ops::Op;
use crate::program::{Program, Reply};
use crate::reference::{Abort, AbortKind, BUDGET, Reference, Session, ask, ask_with};
use crate::runner::Start;

/// Four programs; the second and the third are those over which planted faults go wrong.
const PROGRAMS: [&str; 4] = [
    "{x: {shape: [2]}, r: {add: [x, x]}}",
    "{x: {shape: [20, 20]}, y: {shape: [2]}, a: {add: [y, y]}, r: {mm: [x, x]}, s: {sum: [r]}}",
    "{x: {shape: [2]}, r: {mul: [x, x]}, s: {sub: [r, x]}}",
    "{x: {shape: [2]}, r: {sub: [x, x]}}",
];

/// The variable that names the folder of a campaign that this test runs in a process of its own.
const CHILD: &str = "BROADCHECK_TEST_CAMPAIGN";

fn setup(ask: fn(&Program) -> Result<Reply, Abort>) -> Setup {
    let configuration = Configuration {
        seed: 1,
        cases: Some(PROGRAMS.len() as u64),
        shard: Shard::WHOLE,
        ops: Op::ALL.to_vec(),
        unrestricted: false,
        swarm: false,
        world: None,
        corpus: None,
        oracles: vec![Oracle::Reference, Oracle::Definition, Oracle::Mathematics],
        implementation: String::new(),
        against: None,
        divergences: None,
        timeout: 20,
        memory: 0,
    };
    let programs: Vec<Program> =
        PROGRAMS.iter().map(|text| load_program(Path::new("test.yaml"), text).expect("a program")).collect();
    let subject = (Start::Reference, Reference.hello());
    Setup { programs: Some(Arc::from(programs)), ask, ..Setup::new(&configuration, subject, None) }
}

fn begun(setup: &Setup, folder: &Path) -> Journal {
    let header = Header {
        broadcheck: String::new(),
        suite: String::new(),
        programs: setup.sample(),
        implementation: Identity::of(&setup.subject.1),
        against: None,
        machine: Machine::here(),
        configuration: setup.configuration.clone(),
    };
    Journal::create(folder, header).expect("a new folder")
}

/// The signatures of the findings of a campaign that is complete.
fn findings(folder: &Path) -> Vec<(String, Vec<u64>)> {
    let tally = journal::read(folder).expect("a journal");
    assert_eq!(tally.complete(), Some(true));
    let found = tally.findings.iter();
    found.map(|(group, found)| (group.signature.to_string(), found.cases.iter().copied().collect())).collect()
}

#[test]
fn a_panic_and_a_budget_are_findings_and_the_campaign_goes_on() {
    let frail: fn(&Program) -> Result<Reply, Abort> =
        |program| ask_with(program, 1000, |step| assert!(step.op != Op::Mul, "planted in {}", step.op), None);
    let folder = tempfile::tempdir().unwrap();
    let setup = setup(frail);
    let (journal, why) = run(&setup, begun(&setup, folder.path()), |_| {}).unwrap();
    assert_eq!(why, "complete");
    assert_eq!(
        findings(folder.path()),
        [
            // A product of 20 by 20 matrices has 8,000 terms; a budget of 1,000 has room for the sum before it.
            (
                "reference · mm · reference budget · the program takes more than # element operations".to_owned(),
                vec![1]
            ),
            ("reference · mul · reference panic · planted in mul".to_owned(), vec![2]),
        ]
    );
    // The implementation ran all the same: what comes after the wrong step is counted, too.
    let counts = &journal.tally().checkpoint.counts;
    assert_eq!([Op::Add, Op::Mm, Op::Sum, Op::Mul, Op::Sub].map(|op| counts.operations[&op].accepted), [2, 1, 1, 1, 2]);
    let written: Vec<String> = std::fs::read_dir(folder.path().join(FINDINGS))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path().join("README.md")).unwrap())
        .collect();
    assert_eq!(written.len(), 2);
    for text in ["the reference panicked: planted in mul", "the reference stopped: the program takes more than 1000"] {
        assert!(written.iter().any(|readme| readme.contains(text)), "{text}: {written:?}");
    }
}

/// A reference that ends the process, which a stack overflow does: nothing can catch it.
fn deadly(program: &Program) -> Result<Reply, Abort> {
    if program.steps[0].op == Op::Mul {
        std::process::abort();
    }
    ask(program)
}

#[test]
fn a_case_that_ends_the_process_is_found_and_skipped() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let setup = setup(deadly);
        let journal = Journal::resume(Path::new(&folder)).unwrap();
        run(&setup, journal, |_| {}).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The digest of the programs needs no reference.
    drop(begun(&setup(ask), folder.path()));
    let resume = || {
        let test = "campaign::tests::a_case_that_ends_the_process_is_found_and_skipped";
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([test, "--exact", "--nocapture"]).env(CHILD, folder.path());
        command.output().unwrap().status.success()
    };
    assert!(!resume(), "the process ends over the third program");
    assert!(!resume(), "which is tried again, alone");
    assert!(resume(), "and not a third time");
    assert_eq!(findings(folder.path()), [("reference · sub · reference death".to_owned(), vec![2])]);
    let tally = journal::read(folder.path()).unwrap();
    let example = &tally.findings.values().next().unwrap().examples[0].1;
    assert_eq!(example.differences[0].observed, "the reference ended the process twice, over case 2");
    assert_eq!(tally.checkpoint.counts.operations[&Op::Mul].accepted, 1, "the implementation runs it all the same");
    assert!(resume(), "nothing is left to be done, such as a reduction, which needs the reference");
}

#[test]
fn a_campaign_that_was_killed_by_chance_accuses_no_case() {
    let folder = tempfile::tempdir().unwrap();
    let setup = setup(ask);
    drop(begun(&setup, folder.path()));
    for _ in 0..2 {
        // Something ended the process while a worker was at case 3.
        Working::open(folder.path(), 1).unwrap().leave(3).unwrap();
        // And what no campaign writes is left alone.
        Working::open(folder.path(), 2).unwrap().leave(u64::MAX).unwrap();
        run(&setup, Journal::resume(folder.path()).unwrap(), |_| {}).unwrap();
        assert_eq!(findings(folder.path()), []);
        assert_eq!(journal::read(folder.path()).unwrap().suspects[&3], 0);
    }
}

/// The element operations that a program takes.
fn operations(program: &Program) -> u64 {
    let mut session = Session::new(&program.inputs).expect("inputs that fit");
    program.steps.iter().for_each(|step| drop(session.step(step).expect("no failure of the reference")));
    session.operations().expect("within the budget")
}

#[test]
fn what_is_run_today_is_far_within_the_budget() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let specification = crate::case::load(&folder).unwrap_or_else(|error| panic!("{error}"));
    let most = specification.cases.iter().map(|case| (operations(&case.program), case.id.as_str())).max();
    let (most, case) = most.expect("a case");
    assert!(most <= BUDGET / 64, "{case} takes {most}");
    let options = Options { large: 64, ..Options::default() };
    let generated = (0..1000).map(|case| super::cases::make(1, case, &options).program);
    let most = generated.map(|program| operations(&program)).max().expect("a program");
    assert!(most <= BUDGET / 64, "a generated program takes {most}");
}

/// Programs that would take from hours to the age of the universe, each by another loop.
#[test]
fn what_takes_too_long_is_stopped_and_named() {
    for (step, text) in [
        (2, "{x: {shape: [1, 1]}, a: {expand: [x, [3000, 3000]]}, b: {clone: [a]}, r: {mm: [b, b]}}"),
        (0, "{x: {values: [0.5]}, r: {special_legendre_polynomial_p: [x, 1.0e+18]}}"),
        (
            1,
            "{x: {values: [1.0], dtype: float64}, r: {add: [x, x]}, \
              s: {special_laguerre_polynomial_l: [x, 9.0e+17]}}",
        ),
        (
            0,
            "{x: {values: [2.0], dtype: float64}, y: {values: [-1500000000.5], dtype: float64}, \
              r: {special_zeta: [x, y]}}",
        ),
        (2, "{x: {shape: [1, 1]}, a: {expand: [x, [100000, 1]]}, b: {clone: [a]}, r: {cdist: [b, b], p: 1.0}}"),
    ] {
        let abort = ask(&load_program(Path::new("test.yaml"), text).expect("a program")).expect_err(text);
        assert!(matches!(abort.kind, AbortKind::OverBudget(_)), "{text}: {abort}");
        assert_eq!(abort.step, Some(step), "{text}");
    }
}

#[test]
fn chosen_cases_are_those_of_the_seed() {
    let chosen = Setup { programs: None, chosen: Some(Arc::from([7, 2])), ..setup(ask) };
    for (case, of_seed) in [(0, 7), (1, 2)] {
        let (made, right) = (chosen.make(case), cases::make(1, of_seed, &chosen.options));
        assert_eq!((made.case, made.program, made.expected), (case, right.program, right.expected));
    }
    assert_eq!(chosen.sample(), cases::digest([7, 2].map(|case| cases::make(1, case, &chosen.options).program).iter()));
}
