//! The matrix of releases: nothing that a release does costs another one, and nothing is run twice. The reference stands
//! in for a release, and so do adapters that are wrong on purpose.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};

use broadcheck::adapter::{CommandLine, Limits};
use broadcheck::case::{Expectation, Specification, load};
use broadcheck::harness::check::matrix::{MatrixRun, Row, Subject};
use broadcheck::harness::model::divergence::Source;
use broadcheck::harness::model::event::file;
use broadcheck::harness::model::event::{CaseDigest, Corpus, Event};
use broadcheck::harness::runner::Start;
use common::faulty_binary;

/// A specification of a few cases.
static SMALL: LazyLock<Specification> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wrong");
    load(&folder).unwrap_or_else(|error| panic!("{error}"))
});

/// The `hello` of the reference.
const HERE: &str = env!("CARGO_PKG_VERSION");

fn matrix(out: &Path) -> MatrixRun<'_> {
    let corpus = Some(Corpus { seed: 3, programs: 20 });
    MatrixRun {
        specification: &SMALL,
        corpus,
        out,
        limits: Limits::default(),
        give_up: 0,
        divergences: Source::Own,
        halt: Arc::default(),
        corpus_digest: OnceLock::new(),
    }
}

fn faulty(arg: &str) -> Start {
    Start::Adapter(arg.split(' ').fold(CommandLine::new(faulty_binary()), |command, arg| command.arg(arg)))
}

fn reason(row: &Row) -> &str {
    match row {
        Row::NoData(reason) => reason,
        Row::Ran(tally) | Row::Kept(tally, _) => panic!("it ran: {tally:?}"),
    }
}

/// Runs what is new or changed of the reference, which stands in for a release, and says which cases it was.
fn run(matrix: &MatrixRun<'_>, subject: &Subject) -> (Row, BTreeSet<String>) {
    let earlier = matrix.earlier(subject);
    if let Some(earlier) = &earlier
        && let Some(row) = matrix.settled(subject, earlier).unwrap()
    {
        return (row, BTreeSet::new());
    }
    let judged_before: BTreeMap<String, _> = earlier.iter().flat_map(|earlier| earlier.judged.clone()).collect();
    let mut judged = BTreeMap::new();
    let row = matrix
        .run(subject, Ok(Start::Reference), earlier.as_ref(), |event| {
            if let Event::Judged(one) = event {
                judged.insert(one.case.clone(), (**one).clone());
            }
        })
        .unwrap();
    let is_new = |case: &String, digest: &CaseDigest| judged_before.get(case).is_none_or(|one| one.digest != *digest);
    let ran = judged.iter().filter(|(case, one)| is_new(case, &one.digest)).map(|(case, _)| case.clone()).collect();
    (row, ran)
}

#[test]
fn a_release_that_was_run_is_not_run_again_unless_the_plan_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let (first, subject) = (matrix(folder.path()), Subject::release(HERE));
    assert!(first.earlier(&subject).is_none());
    let (row, ran) = run(&first, &subject);
    let Row::Ran(tally) = &row else { panic!("{row:?}") };
    let corpus = tally.corpus.clone().unwrap();
    assert_eq!((corpus.agree, corpus.differ), (20, 0));
    assert_eq!(ran.len(), SMALL.cases.len());
    let written = std::fs::read(first.file(&subject)).unwrap();
    assert_eq!(run(&first, &subject), (row, BTreeSet::new()));
    assert_eq!(std::fs::read(first.file(&subject)).unwrap(), written, "the file is as it was");

    let more = MatrixRun { corpus: Some(Corpus { seed: 3, programs: 21 }), ..matrix(folder.path()) };
    let earlier = more.earlier(&subject).unwrap();
    assert!(earlier.generated.is_none(), "another corpus");
    assert!(more.settled(&subject, &earlier).unwrap().is_none());
    let whole = std::fs::read(first.file(&subject)).unwrap();
    std::fs::write(first.file(&subject), &whole[..whole.len() / 2]).unwrap();
    assert!(first.earlier(&subject).is_none(), "half a file");
}

/// Adding a case costs one case, and changing what one expects costs that one; the files of others stay valid.
#[test]
fn a_new_case_and_a_changed_one_are_run_alone() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::release(HERE);
    let without = |id: &str| {
        let cases = SMALL.cases.iter().filter(|case| case.id != id).cloned().collect();
        Specification { cases, digest: "without".to_owned(), ..SMALL.clone() }
    };
    let added = &SMALL.cases.iter().find(|case| case.control.is_none()).expect("an accepting case").id;
    let is_control = SMALL.cases.iter().any(|case| case.control.as_ref() == Some(added));
    assert!(!is_control, "the case stands alone");
    let smaller = without(added);
    let (row, ran) = run(&MatrixRun { specification: &smaller, ..matrix(folder.path()) }, &subject);
    assert!(matches!(row, Row::Ran(_)));
    assert_eq!(ran.len(), SMALL.cases.len() - 1);
    let (row, ran) = run(&matrix(folder.path()), &subject);
    assert_eq!(ran, [added.clone()].into(), "the new case alone");
    let Row::Ran(tally) = row else { panic!("{row:?}") };
    assert_eq!(tally.executed() + tally.unsupported, SMALL.cases.len());
    assert_eq!(tally.corpus.map(|corpus| corpus.agree), Some(20), "the generated programs are kept");

    let mut changed = SMALL.clone();
    let case = changed.cases.iter_mut().find(|case| case.id == *added).unwrap();
    for (_, expectation) in &mut case.expect {
        if let Expectation::Value(expected) = expectation {
            expected.fresh = !expected.fresh;
        }
    }
    let (_, ran) = run(&MatrixRun { specification: &changed, ..matrix(folder.path()) }, &subject);
    assert_eq!(ran, [added.clone()].into(), "the changed case alone");
}

/// Without the release at hand, its row stays, and the new case is not run in it.
#[test]
fn a_release_that_became_unavailable_keeps_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject::release(HERE);
    let added = SMALL.cases.iter().find(|case| case.control.is_none()).expect("an accepting case").id.clone();
    let cases = SMALL.cases.iter().filter(|case| case.id != added).cloned().collect();
    let smaller = Specification { cases, ..SMALL.clone() };
    run(&MatrixRun { specification: &smaller, ..matrix(folder.path()) }, &subject);
    let matrix = matrix(folder.path());
    let mut earlier = matrix.earlier(&subject).expect("a row");
    // It was run somewhere else, which its row says also after it was judged again here.
    earlier.header.machine.processor = "another".to_owned();
    // An adapter that is there and does not run on this machine, such as one for a GPU, is not at hand either.
    let starts =
        [(Err("there is no such wheel".to_owned()), "there is no such wheel"), (Ok(faulty("dies-at-start")), "ended")];
    for (start, why) in starts {
        let row = matrix.run(&subject, start, Some(&earlier), |_| {}).unwrap();
        let Row::Kept(tally, reason) = &row else { panic!("{row:?}") };
        assert!(tally.not_run == 1 && reason.contains(why), "{row:?}");
        assert!(!row.is_green());
    }
    let read = file::read(&matrix.file(&subject)).unwrap();
    assert_eq!(read.header.machine.processor, "another");
    assert!(!read.events.iter().any(|event| matches!(event, Event::Judged(judged) if judged.case == added)));
    assert!(read.events.iter().any(|event| matches!(event, Event::Case(case) if case.id == added)));
}

#[test]
fn an_unavailable_release_is_a_row_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = matrix(folder.path());
    let row = matrix.run(&Subject::release("9.9.9"), Err("it does not build".to_owned()), None, |_| {}).unwrap();
    assert_eq!(reason(&row), "it does not build");
    assert!(!row.is_green());
    let read = file::read(&matrix.file(&Subject::release("9.9.9"))).unwrap();
    let absent = read.events.iter().find_map(|event| match event {
        Event::Absent(absent) => Some(absent),
        _ => None,
    });
    let absent = absent.expect("an event for it");
    assert_eq!((absent.label.as_str(), absent.reason.as_str()), ("libtorch 9.9.9", "it does not build"));
    assert!(!read.events.iter().any(|event| matches!(event, Event::Judged(_))));
    assert!(matrix.earlier(&Subject::release("9.9.9")).is_none(), "it is tried again");
}

#[test]
fn an_adapter_that_does_not_start_or_is_another_release_s_gives_no_data() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = matrix(folder.path());
    let missing = Start::Adapter(CommandLine::new(folder.path().join("nothing")));
    let row = matrix.run(&Subject::release("9.9.9"), Ok(missing), None, |_| {}).unwrap();
    assert!(reason(&row).contains("nothing"), "{row:?}");
    let row = matrix.run(&Subject::release("9.9.9"), Ok(Start::Reference), None, |_| {}).unwrap();
    assert!(reason(&row).contains(&format!("says that it is reference {HERE}")), "{row:?}");
    let row = matrix.run(&Subject::release("9.9.9"), Ok(faulty("old-protocol")), None, |_| {}).unwrap();
    assert!(reason(&row).contains("protocol"), "{row:?}");
}
