//! Time is bounded, whatever an adapter does: a campaign ends when its seconds are over, an adapter that breaks again
//! and again is given up, a crash is attributed to one step, and it never outlives the program that started it.
//!
//! The bounds here are far from the measured times: they distinguish what ends from what does not.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use broadcheck::adapter::{CommandLine, Limits};
use broadcheck::case::Specification;
use broadcheck::harness::campaign::cases::Shard;
use broadcheck::harness::campaign::summary::Summary;
use broadcheck::harness::campaign::tally::Tally;
use broadcheck::harness::campaign::{Setup, run};
use broadcheck::harness::campaign::{
    journal::{self, Journal},
    record::{Configuration, Header, Identity, Machine},
};
use broadcheck::harness::check::matrix::{self, Row, Subject};
use broadcheck::harness::check::{Selection, check};
use broadcheck::harness::model::divergence::{Divergence, Source};
use broadcheck::harness::model::event::{Corpus, Event, file};
use broadcheck::harness::model::finding::Oracle;
use broadcheck::harness::runner::Start;
use broadcheck::ops::Op;
use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;

/// Defines `main`, which runs these tests. The compiler warns of one that is not listed, as of any function without a caller.
macro_rules! tests {
    ($($(#[$cfg:meta])* $test:ident),+ $(,)?) => {
        fn main() -> ExitCode {
            let tests: &[(&str, fn())] = &[$($(#[$cfg])* (stringify!($test), $test)),+];
            let mut arguments = Arguments::from_args();
            // They mostly wait, so more of them run at once than there are cores.
            arguments.test_threads.get_or_insert(2 * thread::available_parallelism().map_or(1, usize::from));
            let trial = |&(name, test): &(&str, fn())| {
                Trial::test(name, move || {
                    test();
                    Ok(())
                })
            };
            libtest_mimic::run(&arguments, tests.iter().map(trial).collect()).exit_code()
        }
    };
}

tests! {
    a_campaign_on_an_adapter_that_hangs_ends_in_time,
    findings_that_are_not_reduced_in_time_are_kept_and_marked,
    a_campaign_that_ran_out_of_time_resumes_to_the_same_result,
    one_cause_is_one_signature,
    a_campaign_gives_an_adapter_up_and_loses_nothing,
    check_takes_a_time_for_a_program,
    check_gives_an_adapter_up_and_reports_what_it_judged,
    breaks_that_are_pinned_do_not_count,
    the_matrix_keeps_what_was_judged_before_an_adapter_was_given_up,
    the_matrix_keeps_what_was_judged_before_it_was_interrupted,
    #[cfg(target_os = "linux")]
    an_adapter_dies_with_the_program_that_started_it,
}

/// Much longer than any of these tests takes, and much shorter than what they keep from happening.
const LONG: Duration = Duration::from_secs(120);

fn a_campaign_on_an_adapter_that_hangs_ends_in_time() {
    let dir = TempDir::new().unwrap();
    // One hang alone is longer than all of it.
    let begun = Instant::now();
    let ran = fuzz("hangs mul", "mul", dir.path(), &["--seconds", "3", "--timeout", "600"]);
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
    let stderr = text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("no step was judged") && stderr.contains("had no answer for"), "{stderr}");
    let tally = tally(dir.path());
    assert!(tally.checkpoint.done.is_empty() && tally.findings.is_empty(), "what was in work is not judged");
}

fn findings_that_are_not_reduced_in_time_are_kept_and_marked() {
    let dir = TempDir::new().unwrap();
    let mut setup = setup("hangs mul", "mul", 60);
    setup.limits.program = Duration::from_secs(8);
    let stop = Arc::clone(&setup.stop);
    // To see it once more takes eight seconds, so it cannot be reduced by then.
    let campaign = dir.path().join("campaign");
    let (journal, why) = run(&setup, Journal::create(&campaign, header(&setup)).unwrap(), |journal| {
        stop.fetch_or(!journal.tally().findings.is_empty(), Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!((why, journal.tally().not_reduced()), ("interrupted", 1));
    let summary = Summary::of(journal.tally());
    assert!(summary.findings[0].not_reduced);
    let folder = campaign.join("findings").join(summary.findings[0].folder.as_ref().expect("it is kept"));
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(readme.contains("ended before it was reduced") && readme.contains("mul"), "{readme}");
    drop(journal);
    let merged = broadcheck(&["merge", "--out"]).arg(dir.path().join("merged")).arg(&campaign).output().unwrap();
    let told = text(&merged.stdout);
    assert!(told.contains("first in case 0, not reduced, see") && told.contains("--resume"), "{told}");
}

/// A resumed campaign finishes the rest, and has the same result as one that was not interrupted.
fn a_campaign_that_ran_out_of_time_resumes_to_the_same_result() {
    let dir = TempDir::new().unwrap();
    let setup = setup("dies lerp", "add,lerp,sum", 60);
    let whole = dir.path().join("whole");
    let (calm, why) = run(&setup, Journal::create(&whole, header(&setup)).unwrap(), |_| {}).unwrap();
    assert_eq!(why, "complete");

    let cut = dir.path().join("cut");
    let mut journal = Journal::create(&cut, header(&setup)).unwrap();
    let mut ends = Vec::new();
    for milliseconds in [0, 300, 700] {
        let mut short = self::setup("dies lerp", "add,lerp,sum", 60);
        short.deadline = Instant::now().checked_add(Duration::from_millis(milliseconds));
        let (ended, why) = run(&short, journal, |_| {}).unwrap();
        ends.push(why);
        let tally = ended.tally().clone();
        assert!(tally.new_groups().all(|(_, found)| found.pursued.is_some()), "each is kept");
        drop(ended);
        journal = Journal::resume(&cut).unwrap();
    }
    assert_eq!(ends[0], "time is up");
    let (journal, why) = run(&setup, journal, |_| {}).unwrap();
    assert_eq!(why, "complete");
    assert_eq!(journal.tally().not_reduced(), 0);
    let outcome = |tally: &Tally| {
        let lines = Summary::of(tally).findings;
        let found: Vec<_> = lines.into_iter().map(|line| (line.signature, line.count, line.first)).collect();
        (found, tally.checkpoint.counts.cases, tally.checkpoint.counts.operations.clone())
    };
    assert_eq!(outcome(calm.tally()), outcome(journal.tally()));
    // The folders of what was not reduced are gone.
    let folders = |campaign: &Path| fs::read_dir(campaign.join("findings")).unwrap().count();
    assert_eq!(folders(&whole), folders(&cut));
}

fn one_cause_is_one_signature() {
    let dir = TempDir::new().unwrap();
    let calls =
        |tally: &Tally| tally.findings.keys().map(|group| group.signature.call.clone()).collect::<BTreeSet<_>>();
    let mul = BTreeSet::from(["mul".to_owned()]);

    let dies = dir.path().join("dies");
    fuzz("dies mul", "add,mul,sum,expand,transpose", &dies, &["--cases", "120", "--give-up", "0"]);
    let tally = tally(&dies);
    let longer = tally.findings.values().flat_map(|found| &found.examples);
    assert!(longer.clone().count() > 2);
    assert_eq!(calls(&tally), mul, "{:?}", tally.findings.keys());

    let hangs = dir.path().join("hangs");
    fuzz("hangs mul", "add,mul,sum,expand,transpose", &hangs, &["--cases", "8", "--timeout", "1"]);
    assert_eq!(calls(&self::tally(&hangs)), mul, "{:?}", self::tally(&hangs).findings.keys());
}

fn a_campaign_gives_an_adapter_up_and_loses_nothing() {
    let dir = TempDir::new().unwrap();
    let ran = fuzz("dies lerp", "add,lerp,sum", dir.path(), &["--cases", "100000", "--give-up", "4", "--jobs", "1"]);
    let (stdout, stderr) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("given up after 4 crashes and hangs: 4 × crash in lerp"), "{stderr}");
    assert!(stderr.contains("--give-up") && stdout.contains("4 × reference · lerp · crash"), "{stdout}{stderr}");
    let tally = tally(dir.path());
    let found = tally.findings.values().next().expect("the crashes are kept");
    assert_eq!(found.cases.len(), 4);
    assert!(found.is_reduced(), "what was found is cut down all the same");
    assert!(tally.ended.as_deref().is_some_and(|why| why.starts_with("given up")), "{:?}", tally.ended);
}

fn check_takes_a_time_for_a_program() {
    let ran =
        broadcheck(&["check", "--impl", &adapter("hangs mul"), "--case", CASE, "--timeout", "1"]).output().unwrap();
    let stdout = text(&ran.stdout);
    assert_eq!(ran.status.code(), Some(1), "{stdout}{}", text(&ran.stderr));
    assert!(stdout.contains("no answer within 1s in mul"), "{stdout}");
}

fn check_gives_an_adapter_up_and_reports_what_it_judged() {
    let dir = TempDir::new().unwrap();
    let events = dir.path().join("events.jsonl");
    let mut command = broadcheck(&["check", "--impl", &adapter("dies add"), "--give-up", "3", "--events"]);
    let ran = command.arg(&events).output().unwrap();
    let (stdout, stderr) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("given up after 3 crashes and hangs") && stderr.contains("--give-up"), "{stderr}");
    assert!(stdout.contains("3 failed") && stdout.contains("not run") && stdout.contains("add"), "{stdout}");
    let file = file::read(&events).unwrap_or_else(|error| panic!("{error}"));
    let judged = file.events.iter().filter(|event| matches!(event, Event::Judged(_))).count();
    let told = file.events.iter().find_map(|event| match event {
        Event::Finished(totals) => totals.implementations.first(),
        _ => None,
    });
    let told = told.expect("the run was finished");
    assert!(told.failed == 3 && told.executed() + told.unsupported == judged, "{told:?}");
    assert!(told.ended_badly.as_ref().is_some_and(|how| how.starts_with("given up")), "{told:?}");
}

/// Pinned breaks are no reason to give an adapter up, whatever the time for a program was when they were pinned.
fn breaks_that_are_pinned_do_not_count() {
    let specification = small();
    let cases: Vec<String> = specification.cases.iter().map(|case| case.id.clone()).collect();
    assert!(cases.len() > 2, "{cases:?}");
    let checked = |fault: &str, broken: &str, give_up: u64| {
        let limits = Limits { program: Duration::from_secs(1), ..Limits::default() };
        let mut candidate = common::faulty(&format!("{fault} add"), limits).unwrap();
        let witnesses: Vec<_> =
            cases.iter().map(|case| serde_json::json!({ "case": case, "broken": broken })).collect();
        let divergence = serde_json::json!([{
            "id": "breaks", "releases": ["*"], "kind": "bug", "link": "unreported", "why": "it is faulty",
            "witnesses": witnesses,
        }]);
        candidate.divergences = serde_json::from_value::<Vec<Divergence>>(divergence).unwrap();
        let selection = Selection { give_up, ..Selection::default() };
        let mut totals = check(&specification, "", &selection, std::slice::from_mut(&mut candidate), |_| {});
        totals.implementations.remove(0)
    };
    for (fault, broken) in [("dies", "SIGABRT"), ("hangs", "no answer within 20s")] {
        let tally = checked(fault, broken, 1);
        assert_eq!((tally.diverging, tally.not_run, tally.ended_badly.clone()), (cases.len(), 0, None), "{tally:?}");
    }
    let tally = checked("dies", "SIGSEGV", 1);
    assert!(tally.not_run > 0 && tally.ended_badly.is_some(), "{tally:?}");
}

/// A matrix that is halted, or not.
fn matrix_of<'a>(
    specification: &'a Specification,
    out: &'a Path,
    corpus: Option<Corpus>,
    give_up: u64,
    halted: bool,
) -> matrix::MatrixRun<'a> {
    matrix::MatrixRun {
        specification,
        corpus,
        divergences: Source::Own,
        out,
        limits: Limits::default(),
        give_up,
        halt: Arc::new(AtomicBool::new(halted)),
        corpus_digest: OnceLock::new(),
    }
}

/// A row that was given up has what was judged by then, and is not green; the next run continues with the rest.
fn the_matrix_keeps_what_was_judged_before_an_adapter_was_given_up() {
    let (dir, specification) = (TempDir::new().unwrap(), small());
    let plan = |give_up| matrix_of(&specification, dir.path(), None, give_up, false);
    let subject = Subject::implementation("faulty");
    let first = plan(1);
    let Row::Ran(tally) = first.run(&subject, Ok(start("dies add")), None, |_| {}).unwrap() else { panic!("no row") };
    assert!(tally.failed == 1 && tally.not_run > 0 && !tally.is_green(), "{tally:?}");
    let earlier = first.earlier(&subject).expect("it has a file");
    assert_eq!(earlier.judged.len(), tally.executed() + tally.unsupported);
    let all = plan(0);
    assert!(all.settled(&subject, &earlier).unwrap().is_none(), "there is something left to be run");
    let Row::Ran(rest) = all.run(&subject, Ok(start("dies add")), Some(&earlier), |_| {}).unwrap() else {
        panic!("no row")
    };
    assert!(rest.failed > 1 && rest.not_run == 0 && rest.ended_badly.is_none(), "{rest:?}");
}

/// So has one that was interrupted.
fn the_matrix_keeps_what_was_judged_before_it_was_interrupted() {
    let (dir, specification) = (TempDir::new().unwrap(), small());
    let corpus = Some(Corpus { seed: 3, programs: 200 });
    let plan = |halted| matrix_of(&specification, dir.path(), corpus, 0, halted);
    let subject = Subject::implementation("faulty");
    let first = plan(true);
    let Row::Ran(tally) = first.run(&subject, Ok(start("honest")), None, |_| {}).unwrap() else { panic!("no row") };
    assert!(tally.passed > 0 && tally.not_run > 0 && !tally.is_green(), "{tally:?}");
    assert_eq!(tally.ended_badly.as_deref(), Some("given up: the run was interrupted"));
    let earlier = first.earlier(&subject).expect("it has a file");
    let Row::Ran(rest) = plan(false).run(&subject, Ok(start("honest")), Some(&earlier), |_| {}).unwrap() else {
        panic!("no row")
    };
    assert!(rest.not_run == 0 && rest.ended_badly.is_none() && rest.is_green(), "{rest:?}");
    assert!(rest.corpus.is_some_and(|corpus| corpus.agree > 0 && !corpus.digest.is_empty()));

    // The same among the generated programs, which have no digest as long as they are not all of them.
    let other = TempDir::new().unwrap();
    let corpus = Some(Corpus { seed: 3, programs: 2000 });
    let cut = matrix_of(&specification, other.path(), corpus, 0, false);
    let halt = |event: &Event| {
        cut.halt.fetch_or(matches!(event, Event::Generated(_)), Ordering::Relaxed);
    };
    let Row::Ran(tally) = cut.run(&subject, Ok(start("honest")), None, halt).unwrap() else { panic!("no row") };
    assert!(tally.not_run == 0 && !tally.is_green(), "{tally:?}");
    assert!(tally.corpus.is_some_and(|corpus| corpus.agree + corpus.unsupported < 2000 && corpus.digest.is_empty()));
}

/// A process that is killed cannot kill its adapters, and one that hangs does not see the end of its input.
#[cfg(target_os = "linux")]
fn an_adapter_dies_with_the_program_that_started_it() {
    for signal in ["KILL", "TERM", "INT"] {
        let dir = TempDir::new().unwrap();
        // A name of its own, by which it is found.
        let own = dir.path().join(format!("faulty-{signal}"));
        fs::copy(common::faulty_binary(), &own).unwrap();
        let given = format!("'{}' hangs mul", own.display());
        let mut command = broadcheck(&["check", "--impl", &given, "--case", CASE]);
        let mut check = command.stdout(Stdio::null()).spawn().unwrap();
        let running = || processes_of(&own);
        wait_until(|| !running().is_empty(), "the adapter was not started");
        thread::sleep(Duration::from_millis(500));
        let killed = Command::new("kill").args(["-s", signal, &check.id().to_string()]).status().unwrap();
        assert!(killed.success());
        check.wait().unwrap();
        wait_until(|| running().is_empty(), &format!("the adapter is still there after SIG{signal}"));
    }
}

/// A case of one step, which multiplies.
const CASE: &str = "arithmetic/mul-broadcasts";

#[cfg(target_os = "linux")]
fn processes_of(program: &Path) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let runs = |entry: &fs::DirEntry| fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program);
    processes.filter(runs).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(target_os = "linux")]
fn wait_until(mut holds: impl FnMut() -> bool, otherwise: &str) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "{otherwise}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A few cases of additions.
fn small() -> Specification {
    let mut specification = common::SPECIFICATION.clone();
    specification.cases.retain(|case| case.id.starts_with("arithmetic/add-") && case.control.is_none());
    specification.cases.truncate(5);
    specification
}

fn fuzz(faulty: &str, ops: &str, out: &Path, more: &[&str]) -> Output {
    let mut command = broadcheck(&["fuzz", "--impl", &adapter(faulty), "--ops", ops, "--out"]);
    command.arg(out).args(more).output().unwrap()
}

fn broadcheck(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadcheck"));
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

fn adapter(arguments: &str) -> String {
    format!("'{}' {arguments}", common::faulty_binary().display())
}

fn start(arguments: &str) -> Start {
    let command = CommandLine::new(common::faulty_binary());
    Start::Adapter(arguments.split(' ').fold(command, |command, argument| command.arg(argument)))
}

fn setup(faulty: &str, ops: &str, cases: u64) -> Setup {
    let hello = start(faulty).runner(&Limits::default()).unwrap().hello();
    Setup::new(&configuration(ops, cases), (start(faulty), hello), None)
}

fn configuration(ops: &str, cases: u64) -> Configuration {
    Configuration {
        seed: 1,
        cases: Some(cases),
        shard: Shard::WHOLE,
        ops: ops.split(',').map(|name| Op::parse(name).unwrap().0).collect(),
        unrestricted: false,
        swarm: false,
        world: None,
        corpus: None,
        oracles: vec![Oracle::Reference],
        implementation: String::new(),
        against: None,
        divergences: None,
        timeout: 20,
        memory: 8,
    }
}

fn header(setup: &Setup) -> Header {
    let ops: Vec<&str> = setup.options.ops.iter().map(|op| op.name()).collect();
    Header {
        broadcheck: String::new(),
        suite: String::new(),
        programs: setup.sample(),
        implementation: Identity::of(&setup.subject.1),
        against: None,
        machine: Machine::here(),
        configuration: configuration(&ops.join(","), setup.configuration.cases.unwrap()),
    }
}

fn tally(folder: &Path) -> Tally {
    journal::read(folder).unwrap_or_else(|error| panic!("{error}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
