//! The specification on every implementation, a trial for each case, and exact snapshots of what libtorch does.
//!
//! `reference::<case>` and `libtorch::<case>` are judged by the code of `broadcheck check`; `snapshot::<theme>` compares
//! everything that libtorch answered to the cases of a theme with a file under `tests/snapshots/libtorch`. What is selected runs once, as a
//! batch; libtorch is installed when a trial that needs it is selected, and without it each of those fails.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use broadcheck::adapter::unsupported_by;
use broadcheck::case::{Case, render};
use broadcheck::harness::check::{Candidate, Selection, check};
use broadcheck::harness::format;
use broadcheck::harness::model::divergence::Divergence;
use broadcheck::harness::model::event::{Event, Judged, Totals, Verdict};
use broadcheck::ops::Op;
use broadcheck::program::{Program, Reply};
use broadcheck::report::Run;
use common::{SPECIFICATION, needs_front_end};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// The trial of an implementation that is about the specification as a whole.
const CLAUSES: &str = "clauses-executed";

/// The trial that keeps the cases which libtorch cannot run from growing.
const UNSUPPORTED: &str = "libtorch::unsupported-is-python-only";

/// The trial that finds snapshots of no theme.
const ORPHANS: &str = "snapshot::no-orphans";

/// The names of the trials that are going to run.
static SELECTED: OnceLock<BTreeSet<String>> = OnceLock::new();

static REFERENCE: LazyLock<Batch> = LazyLock::new(|| Batch::run("reference", &mut common::reference()));

static LIBTORCH: LazyLock<Result<Mutex<Candidate>, String>> = LazyLock::new(|| common::libtorch().map(Mutex::new));

static ON_LIBTORCH: LazyLock<Result<Batch, String>> =
    LazyLock::new(|| libtorch().map(|mut candidate| Batch::run("libtorch", &mut candidate)));

static REPLIES: LazyLock<Result<Replies, String>> = LazyLock::new(replies);

/// By case, what libtorch answered, or how it broke.
type Replies = BTreeMap<String, Result<Reply, String>>;

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let mut trials = trials();
    // An orphan is certain only when the trials of all snapshots are there to be compared with.
    let everything = args.filter.is_none() && args.skip.is_empty();
    trials.retain(|trial| everything || trial.name() != ORPHANS);
    let running = trials.iter().filter(|trial| !args.list && !args.is_filtered_out(trial));
    SELECTED.set(running.map(|trial| trial.name().to_owned()).collect()).expect("set once");
    libtest_mimic::run(&args, trials).exit_code()
}

fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test(format!("reference::{CLAUSES}"), || clauses_executed(&REFERENCE)),
        Trial::test(format!("libtorch::{CLAUSES}"), || clauses_executed(on_libtorch()?)),
        Trial::test(UNSUPPORTED, unsupported_is_python_only),
        Trial::test(ORPHANS, no_orphans),
    ];
    for case in &SPECIFICATION.cases {
        let id = &case.id;
        trials.push(Trial::ignorable_test(format!("reference::{id}"), || judged(case, &REFERENCE, false)));
        let on_libtorch = || judged(case, on_libtorch()?, needs_front_end(case));
        trials.push(Trial::ignorable_test(format!("libtorch::{id}"), on_libtorch));
    }
    for theme in themes().keys() {
        trials.push(Trial::test(format!("snapshot::{theme}"), || snapshot(theme)));
    }
    trials
}

fn selected(name: &str) -> bool {
    SELECTED.get().expect("set before any trial runs").contains(name)
}

/// The output of `broadcheck check` for the selected cases on one implementation.
struct Batch {
    totals: Totals,
    judged: BTreeMap<String, Judged>,
}

impl Batch {
    fn run(implementation: &str, candidate: &mut Candidate) -> Batch {
        // What is said of all clauses has to be seen of all cases.
        let about_all = ["reference", "libtorch"].map(|name| format!("{name}::{CLAUSES}"));
        let all = about_all.iter().any(|name| selected(name));
        let ids = SPECIFICATION.cases.iter().map(|case| &case.id);
        let chosen = ids.filter(|id| all || selected(&format!("{implementation}::{id}")));
        let selection = Selection { cases: chosen.cloned().collect(), ..Selection::default() };
        let mut run = Run::default();
        let candidates = std::slice::from_mut(candidate);
        let totals =
            check(&SPECIFICATION, &SPECIFICATION.digest, &selection, candidates, |event: &Event| run.add(event));
        Batch { totals, judged: run.judged.into_iter().map(|judged| (judged.case.clone(), judged)).collect() }
    }
}

fn libtorch() -> Result<MutexGuard<'static, Candidate>, String> {
    let candidate = LIBTORCH.as_ref().map_err(Clone::clone)?;
    Ok(candidate.lock().unwrap_or_else(PoisonError::into_inner))
}

fn on_libtorch() -> Result<&'static Batch, Failed> {
    ON_LIBTORCH.as_ref().map_err(Failed::from)
}

/// The verdict on a case. It may be unsupported if, and only if, that is known beforehand.
fn judged(case: &Case, batch: &Batch, unsupported: bool) -> Result<Completion, Failed> {
    let judged = batch.judged.get(&case.id).ok_or("the case was not judged")?;
    match (&judged.verdict, unsupported) {
        (Verdict::Passed | Verdict::Diverges { .. }, false) => Ok(Completion::Completed),
        (Verdict::Unsupported { what, .. }, true) => Ok(Completion::ignored_with(format!("unsupported: {what}"))),
        (Verdict::Passed | Verdict::Diverges { .. }, true) => {
            Err("it passed, but nothing in it should be supported".into())
        }
        (Verdict::Unsupported { what, .. }, false) => {
            Err(format!("unsupported: {what}; only functions of PyTorch's Python front end may be").into())
        }
        (Verdict::Failed { differences }, _) => {
            let lines = differences.iter().map(|difference| {
                let (value, aspect, by) = (&difference.value, difference.aspect.name(), &difference.by);
                format!(
                    "\n{value}: {aspect}\n  expected {} ({by})\n  observed {}",
                    difference.expected, difference.observed
                )
            });
            Err(format!("{}{}", judged.location, lines.collect::<String>()).into())
        }
        (Verdict::NotJudged { what }, _) => Err(format!("not judged: {what}").into()),
        (Verdict::Uncontrolled { control }, _) => {
            Err(format!("{}: the accepting case {control} does not pass", judged.location).into())
        }
        (Verdict::Broken { fault, stderr }, _) => Err(format!("{fault}\n{stderr}").into()),
    }
}

/// The implementation passed something, and some implementation executed each clause.
fn clauses_executed(batch: &Batch) -> Result<(), Failed> {
    let tally = &batch.totals.implementations[0];
    if batch.judged.len() != SPECIFICATION.cases.len() {
        return Err(format!("{} of {} cases were judged", batch.judged.len(), SPECIFICATION.cases.len()).into());
    }
    if tally.passed == 0 {
        return Err(format!("{} passed nothing", tally.implementation).into());
    }
    let everywhere: Vec<&String> = batch
        .totals
        .unexecuted_clauses
        .iter()
        .filter(|clause| REFERENCE.totals.unexecuted_clauses.contains(clause))
        .collect();
    if !everywhere.is_empty() {
        return Err(format!("no implementation executed a case of {everywhere:?}").into());
    }
    Ok(())
}

/// Exactly the functions that PyTorch has in Python alone are not supported by libtorch, so no skip grows unseen.
fn unsupported_is_python_only() -> Result<(), Failed> {
    let python: Vec<&str> = Op::ALL.iter().filter(|op| op.is_front_end()).map(|op| op.name()).collect();
    if python != ["broadcast_shapes", "backcompat.broadcast_warning"] {
        return Err(format!("the functions without libtorch are now {python:?}").into());
    }
    let hello = libtorch()?.runner.hello();
    for case in &SPECIFICATION.cases {
        let unsupported = unsupported_by(&hello, &case.program);
        if unsupported.is_some() != needs_front_end(case) {
            return Err(format!("{}: unsupported is {unsupported:?}", case.id).into());
        }
    }
    Ok(())
}

/// The cases that libtorch runs, by their theme: that which stands before the `/` of their ids.
fn themes() -> &'static BTreeMap<&'static str, Vec<&'static Case>> {
    static THEMES: LazyLock<BTreeMap<&str, Vec<&Case>>> = LazyLock::new(|| {
        let mut themes: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
        for case in SPECIFICATION.cases.iter().filter(|case| !needs_front_end(case)) {
            themes.entry(split(case).0).or_default().push(case);
        }
        themes
    });
    &THEMES
}

/// Theme and name of a case.
fn split(case: &Case) -> (&str, &str) {
    case.id.split_once('/').expect("the loader demands a theme")
}

/// The replies of libtorch to the cases of the selected themes.
fn replies() -> Result<Replies, String> {
    let mut candidate = libtorch()?;
    let chosen = themes().iter().filter(|(theme, _)| selected(&format!("snapshot::{theme}")));
    let cases: Vec<&Case> = chosen.flat_map(|(_, cases)| cases.iter().copied()).collect();
    let programs: Vec<Program> = cases.iter().map(|case| case.program.clone()).collect();
    let mut replies = BTreeMap::new();
    candidate.runner.run_each(&programs, |at, result| {
        replies.insert(cases[at].id.clone(), result.map_err(|fault| fault.to_string()));
    });
    Ok(replies)
}

fn snapshot(theme: &str) -> Result<(), Failed> {
    let replies = REPLIES.as_ref()?;
    let mut text = String::new();
    for case in &themes()[theme] {
        let reply = replies.get(&case.id).ok_or("the case was not run")?;
        // The program belongs to what is compared, so that no outcome is ever that of another program.
        let transcript = match reply {
            Ok(_) if BY_PROCESSOR.contains(&case.id) => unobserved(case, "the processor decides"),
            Ok(reply) => format::transcript(&case.program, reply),
            // Of a crash only the pinned part is kept: the rest depends on the machine.
            Err(fault) => match pinned_fault(case)? {
                Some(pinned) if fault.contains(&pinned) => unobserved(case, &pinned),
                _ => return Err(fault.into()),
            },
        };
        common::entry(&mut text, split(case).1, &transcript);
    }
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(snapshots());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(theme, text));
    Ok(())
}

/// The program of a case whose outcome is not kept, and why.
fn unobserved(case: &Case, why: &str) -> String {
    format!("{} → {why}", render::program(&case.program).trim_end().replace('\n', "; "))
}

/// The cases whose outcome is another one on some of the processors with vector loops.
static BY_PROCESSOR: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let divergences = libtorch().map(|libtorch| libtorch.divergences.clone()).unwrap_or_default();
    let loops = |known: &Divergence, name: &str| known.builds.iter().any(|part| part.ends_with(name));
    let decided = divergences.iter().flat_map(|known| {
        let by_loops = loops(known, "AVX2") != loops(known, "AVX512");
        known.witnesses.iter().filter(move |witness| by_loops || witness.some_processors.is_some())
    });
    decided.map(|witness| witness.case.clone()).collect()
});

/// The known fault of libtorch in a case.
fn pinned_fault(case: &Case) -> Result<Option<String>, Failed> {
    let libtorch = libtorch()?;
    let mut witnesses = libtorch.divergences.iter().flat_map(|divergence| &divergence.witnesses);
    Ok(witnesses.find(|witness| witness.case == case.id).and_then(|witness| witness.broken.clone()))
}

/// Every snapshot is one of a theme.
fn no_orphans() -> Result<(), Failed> {
    Ok(common::no_orphans(&snapshots(), themes().keys().copied())?)
}

fn snapshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/libtorch")
}
