//! The matrix of releases: nothing that a release does costs another one, and nothing is run twice. The reference stands
//! in for a release, and so do adapters that are wrong on purpose.
#![cfg(feature = "cli")]

mod common;

use std::path::Path;
use std::sync::LazyLock;

use broadcheck::adapter::{CommandLine, Limits};
use broadcheck::case::{Specification, load};
use broadcheck::harness::event::file;
use broadcheck::harness::event::{Corpus, Event};
use broadcheck::harness::matrix::{Plan, Row, Subject};
use broadcheck::harness::runner::Start;
use common::faulty_binary;

/// A specification of a few cases.
static SMALL: LazyLock<Specification> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wrong");
    load(&folder).unwrap_or_else(|error| panic!("{error}"))
});

/// What the reference says of itself.
const HERE: &str = env!("CARGO_PKG_VERSION");

fn plan(out: &Path) -> Plan<'_> {
    Plan { specification: &SMALL, corpus: Some(Corpus { seed: 3, programs: 20 }), out, limits: Limits::default() }
}

fn faulty(arg: &str) -> Start {
    Start::Adapter(arg.split(' ').fold(CommandLine::new(faulty_binary()), |command, arg| command.arg(arg)))
}

fn reason(row: &Row) -> &str {
    match row {
        Row::NoData(reason) => reason,
        Row::Ran(tally) => panic!("it ran: {tally:?}"),
    }
}

#[test]
fn a_release_that_was_run_is_not_run_again_unless_the_plan_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let first = plan(folder.path());
    assert_eq!(first.done(&Subject::release(HERE)), None);
    let mut heard = 0;
    let row = first.run(&Subject::release(HERE), Ok(Start::Reference), |_| heard += 1).unwrap();
    let Row::Ran(tally) = &row else { panic!("{row:?}") };
    let corpus = tally.corpus.clone().unwrap();
    assert_eq!((corpus.agree, corpus.differ), (20, 0));
    assert!(heard > SMALL.cases.len() + 20);
    assert_eq!(first.done(&Subject::release(HERE)), Some(row));

    let more = Plan { corpus: Some(Corpus { seed: 3, programs: 21 }), ..plan(folder.path()) };
    assert_eq!(more.done(&Subject::release(HERE)), None, "another corpus");
    let changed = Specification { digest: "another".to_owned(), ..SMALL.clone() };
    assert_eq!(
        Plan { specification: &changed, ..plan(folder.path()) }.done(&Subject::release(HERE)),
        None,
        "another specification"
    );
    let path = first.file(&Subject::release(HERE));
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(first.done(&Subject::release(HERE)), None, "half a file");
}

#[test]
fn a_release_that_cannot_be_had_is_a_row_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path());
    let row = plan.run(&Subject::release("9.9.9"), Err("it does not build".to_owned()), |_| {}).unwrap();
    assert_eq!(reason(&row), "it does not build");
    assert!(!row.is_green());
    let read = file::read(&plan.file(&Subject::release("9.9.9"))).unwrap();
    let absent = read.events.iter().find_map(|event| match event {
        Event::Absent(absent) => Some(absent),
        _ => None,
    });
    let absent = absent.expect("an event for it");
    assert_eq!((absent.label.as_str(), absent.reason.as_str()), ("libtorch 9.9.9", "it does not build"));
    assert!(!read.events.iter().any(|event| matches!(event, Event::Judged(_))));
    assert_eq!(plan.done(&Subject::release("9.9.9")), None, "it is tried again");
}

#[test]
fn an_adapter_that_does_not_start_or_is_another_release_s_gives_no_data() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path());
    let missing = Start::Adapter(CommandLine::new(folder.path().join("nothing")));
    let row = plan.run(&Subject::release("9.9.9"), Ok(missing), |_| {}).unwrap();
    assert!(reason(&row).contains("nothing"), "{row:?}");
    let row = plan.run(&Subject::release("9.9.9"), Ok(Start::Reference), |_| {}).unwrap();
    assert!(reason(&row).contains(&format!("says that it is reference {HERE}")), "{row:?}");
    let row = plan.run(&Subject::release("9.9.9"), Ok(faulty("old-protocol")), |_| {}).unwrap();
    assert!(reason(&row).contains("protocol"), "{row:?}");
}
