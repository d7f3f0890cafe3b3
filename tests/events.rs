//! Event files: they are read as they were written, and other files are rejected.

mod common;

use std::path::Path;

use broadcheck::harness::check::{Selection, check};
use broadcheck::harness::model::event::file::{self, EventFile, Header, SUITE_FILE};
use broadcheck::harness::model::event::{Absent, Corpus, Event};
use broadcheck::report::{Run, json, junit, text};
use common::{SPECIFICATION, faulty, reference};

/// A run with passed and failed cases, a broken implementation, and generated programs.
fn events() -> Vec<Event> {
    let mut candidates = vec![reference(), faulty("wrong-value", broadcheck::adapter::Limits::default()).unwrap()];
    let cases = ["in-place/", "broadcastable/", "backcompat/"].map(str::to_owned).to_vec();
    let selection = Selection { cases, corpus: Some(Corpus { seed: 5, programs: 40 }), ..Selection::default() };
    let mut events = Vec::new();
    check(&SPECIFICATION, &SPECIFICATION.digest, &selection, &mut candidates, |event| events.push(event.clone()));
    events.push(Event::Absent(Absent {
        label: "libtorch 9.9.9".to_owned(),
        given: "libtorch@9.9.9".to_owned(),
        name: "libtorch".to_owned(),
        version: "9.9.9".to_owned(),
        reason: "it does not build".to_owned(),
    }));
    events
}

fn run(events: &[Event]) -> Run {
    let mut run = Run::default();
    events.iter().for_each(|event| run.add(event));
    run
}

fn rejected(path: &Path) -> String {
    file::read(path).unwrap_err().to_string()
}

#[test]
fn events_are_read_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let (told, header) = (events(), Header::now(&SPECIFICATION.digest));
    for name in ["run.jsonl", "run.jsonl.gz"] {
        let path = folder.path().join(name);
        file::write(&path, &header, &told).unwrap();
        let read = file::read(&path).unwrap();
        assert_eq!(read.header, header);
        assert!(read.events == told, "{name}: the events are others");
        let (live, kept) = (run(&told), run(&read.events));
        assert_eq!(live, kept);
        assert_eq!(text::render(&live), text::render(&kept));
        assert_eq!(json::render(&live), json::render(&kept));
        // What makes the run red is in each format: the liar differs on generated programs, too.
        assert!(junit::render(&kept).contains("it differs from the reference on generated programs"));
        assert!(text::render(&kept).contains("differs") && text::render(&kept).contains("generated program "));
    }
}

#[test]
fn what_is_the_same_stands_once() {
    let folder = tempfile::tempdir().unwrap();
    let (told, header) = (events(), Header::now(&SPECIFICATION.digest));
    let (one, two) = (folder.path().join("one.jsonl"), folder.path().join("two.jsonl"));
    file::write_sharing(&one, &header, &told).unwrap();
    let shared = std::fs::read(folder.path().join(SUITE_FILE)).unwrap();
    file::write_sharing(&two, &Header { date: "another".to_owned(), ..header.clone() }, &told).unwrap();
    assert_eq!(std::fs::read(folder.path().join(SUITE_FILE)).unwrap(), shared, "it was written again");
    for path in [&one, &two] {
        assert!(!std::fs::read_to_string(path).unwrap().contains("\"program\":\"x:"), "it has the programs of cases");
        assert!(file::read(path).unwrap().events == told, "the events are others");
    }

    // Another state of the specification: a case has another program, one is gone. The rest of the file is as good as it was.
    let other = Header { suite: "another".to_owned(), ..header };
    let mut rest: Vec<Event> =
        told.iter().filter(|event| matches!(event, Event::Clause(_) | Event::Case(_))).cloned().collect();
    let (mut cases, mut gone) = (0, String::new());
    rest.retain_mut(|event| {
        let Event::Case(case) = event else { return true };
        cases += 1;
        if cases == 1 {
            case.digest.program = "another".to_owned();
        }
        if cases == 2 {
            gone.clone_from(&case.id);
        }
        cases != 2
    });
    file::write(&folder.path().join(SUITE_FILE), &other, &rest).unwrap();
    let read = file::read(&one).unwrap();
    assert_eq!(read.stale, 4, "two cases, on two implementations");
    assert!(!read.events.iter().any(|event| matches!(event, Event::Judged(judged) if judged.case == gone)));
    let Some(Event::Finished(totals)) = read.events.iter().find(|event| matches!(event, Event::Finished(_))) else {
        panic!("no totals")
    };
    assert!(totals.implementations.iter().all(|tally| tally.not_run == 1), "{totals:?}");
    assert_eq!(totals.implementations[0].passed, cases - 2, "counted again");
    std::fs::remove_file(folder.path().join(SUITE_FILE)).unwrap();
    assert!(rejected(&one).contains(SUITE_FILE), "{}", rejected(&one));
}

#[test]
fn files_are_read_together_as_each_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (told, header) = (events(), Header::now(&SPECIFICATION.digest));
    let path = |name: &str| folder.path().join(name);
    file::write_sharing(&path("one.jsonl"), &header, &told).unwrap();
    file::write(&path("whole.jsonl"), &header, &told).unwrap();
    let hidden = Header { date: "\u{202e}today".to_owned(), ..header };
    file::write_sharing(&path("hidden.jsonl"), &hidden, &told).unwrap();
    let paths = ["one.jsonl", "hidden.jsonl", "whole.jsonl", "one.jsonl"].map(path);
    let together = file::read_all(&paths).unwrap();
    let alone: Vec<EventFile> = paths.iter().map(|path| file::read(path).unwrap()).collect();
    assert!(together == alone, "the files are others");
    assert_eq!(together.iter().map(|file| file.hides).collect::<Vec<_>>(), [false, true, false, false]);
    let [shown, plain] = [&together[1], &together[0]].map(|file| file.clone().visible());
    assert_eq!(shown.header.date, "\\u{202e}today");
    assert!(plain == together[0] && shown.events == plain.events, "what hides nothing stays");
    let error = file::read_all(&[path("one.jsonl"), path("no.jsonl"), path("none.jsonl")]).unwrap_err().to_string();
    assert!(error.contains("no.jsonl"), "{error}");
}

#[test]
fn truncated_or_changed_files_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    file::write(&path, &Header::now(&SPECIFICATION.digest), &events()).unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let told = |text: &str| {
        std::fs::write(&path, text).unwrap();
        rejected(&path)
    };
    // Wherever it is cut: between lines, within one, within the last.
    for end in [0, 1, whole.len() / 3, whole.len() / 2, whole.len() - 1, whole.len() - lines[lines.len() - 1].len() - 1]
    {
        let message = told(&whole[..whole.floor_char_boundary(end)]);
        assert!(message.contains("it was cut off; run the check again"), "{end}: {message}");
    }
    let judged = lines.iter().position(|line| line.starts_with("{\"judged\"")).unwrap();
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat().join("\n") + "\n";
    assert!(told(&without(judged)).contains("the footer counts"));
    assert!(told(&without(0)).contains("the footer counts"));
    let passed = whole.replacen("\"is\":\"passed\"", "\"is\":\"PASSED\"", 1);
    assert!(
        told(&passed).contains(&format!("{}: not an event: unknown variant `PASSED`", judged + 1)),
        "{}",
        told(&passed)
    );
    let failed = whole.replacen("\"documented\":[]", "\"documented\":null", 1);
    assert!(told(&failed).contains("somebody has changed the file"), "{}", told(&failed));
    let newer = whole.replacen("\"format\":2", "\"format\":3,\"more\":1", 1);
    assert!(told(&newer).contains(":1: event files of format 3; this broadcheck reads format 2"), "{}", told(&newer));
    assert!(told("a\nb\n").contains("cut off"));

    let packed = folder.path().join("run.jsonl.gz");
    file::write(&packed, &Header::now(&SPECIFICATION.digest), &events()).unwrap();
    let bytes = std::fs::read(&packed).unwrap();
    std::fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
    assert!(rejected(&packed).contains("cut off or changed"), "{}", rejected(&packed));
    std::fs::remove_file(&packed).unwrap();
    assert!(rejected(&packed).contains("run.jsonl.gz"), "{}", rejected(&packed));
}

#[test]
fn outcomes_are_kept_whole() {
    let told = events();
    let judged: Vec<_> =
        told.iter().filter_map(|event| if let Event::Judged(judged) = event { Some(judged) } else { None }).collect();
    assert!(judged.iter().any(|judged| judged.outcome.len() > 1));
    for judged in judged.iter().filter(|judged| !judged.outcome.is_empty()) {
        // Unchanged inputs are not recorded.
        let case = SPECIFICATION.cases.iter().find(|case| case.id == judged.case).expect("a case that is there");
        let input = |name: &str| case.program.inputs.iter().any(|input| input.name == name);
        for seen in judged.outcome.iter().filter(|seen| !input(&seen.value)) {
            let name = |exact: &str| exact == seen.value || exact.starts_with(&format!("{}.", seen.value));
            assert!(judged.exact.iter().any(|exact| name(&exact.value)), "{}: {}", judged.case, seen.value);
        }
    }
    let generated = told.iter().filter(|event| matches!(event, Event::Generated(_))).count();
    assert_eq!(generated, 80, "40 programs on each");
}
