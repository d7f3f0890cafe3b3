//! Nothing conforms by not being asked: an adapter that declares less, has an excuse, or ends badly either fails or is
//! reported with what it was judged on.

mod common;

use std::collections::BTreeSet;

use broadcheck::adapter::Limits;
use broadcheck::case::Aspect;
use broadcheck::harness::check::required::Required;
use broadcheck::harness::check::{Selection, check};
use broadcheck::harness::model::event::Verdict;
use broadcheck::report::{Run, json, markdown, text};
use common::{SPECIFICATION, faulty, reference};

fn run_of(args: &str, selection: &Selection) -> Run {
    let mut candidates = [faulty(args, Limits::default()).unwrap()];
    let mut run = Run::default();
    check(&SPECIFICATION, "", selection, &mut candidates, |event| run.add(event));
    run
}

fn run(args: &str) -> Run {
    run_of(args, &Selection::default())
}

fn last_line(run: &Run) -> String {
    anstream::adapter::strip_str(&text::render(run)).to_string().lines().last().unwrap_or_default().to_owned()
}

fn conforms(run: &Run) -> bool {
    run.totals.as_ref().unwrap().conforms
}

/// It conforms, and each report says in what: by the numbers of cases and of documented statements.
fn assert_partial(run: &Run, executed: usize) {
    assert!(conforms(run), "{}", last_line(run));
    let verdict = run.verdict();
    let cases = broadcheck::report::thousands(executed as u64);
    assert!(verdict.starts_with(&format!("conforms in what it supports: {cases} of ")), "{verdict}");
    assert!(verdict.ends_with(" documented statements"), "{verdict}");
    for report in [last_line(run), json::render(run), markdown::render(run)] {
        assert!(report.contains(&verdict), "{report}");
    }
}

#[test]
fn an_honest_adapter_conforms_without_reservations() {
    let run = run("honest");
    assert!(conforms(&run) && run.verdict() == "conforms", "{}", last_line(&run));
}

#[test]
fn one_operation_is_no_conformance_of_all() {
    let run = run("one-operation add");
    let executed = run.judged.iter().filter(|judged| judged.verdict == Verdict::Passed).count();
    assert!(executed > 0 && executed < SPECIFICATION.cases.len() / 2, "{executed}");
    assert_partial(&run, executed);
}

#[test]
fn missing_support_is_counted_whatever_its_cause() {
    let run = run("lacks-its-mistakes mul");
    let unsupported = run.judged.iter().filter(|judged| matches!(judged.verdict, Verdict::Unsupported { .. })).count();
    assert!(unsupported > 0);
    assert_partial(&run, SPECIFICATION.cases.len() - unsupported);
}

#[test]
fn less_than_required_does_not_conform() {
    let require = |required: Required| run_of("one-operation add", &Selection { required, ..Selection::default() });
    let enough = require(Required { cases: 1, ..Required::default() });
    assert!(conforms(&enough));
    let more = require(Required { cases: SPECIFICATION.cases.len(), ..Required::default() });
    assert!(!conforms(&more));
    assert!(text::render(&more).contains("are required"), "{}", last_line(&more));
    let like = |id: &str| Required {
        cases: 0,
        like: Some(("earlier.jsonl".to_owned(), [id.to_owned()].into())),
        ..Required::default()
    };
    let passed = enough.judged.iter().find(|judged| judged.verdict == Verdict::Passed).unwrap();
    assert!(conforms(&require(like(&passed.case))));
    let lacking = enough.judged.iter().find(|judged| matches!(judged.verdict, Verdict::Unsupported { .. })).unwrap();
    let fewer = require(like(&lacking.case));
    assert!(!conforms(&fewer));
    assert!(text::render(&fewer).contains(&format!("earlier.jsonl has: {}", lacking.case)), "{}", last_line(&fewer));
    // The reference lacks nothing, and is no subject.
    let mut run = Run::default();
    let required = Required { cases: usize::MAX, ..Required::default() };
    let cases = vec!["in-place/".to_owned()];
    let selection = Selection { cases, required, ..Selection::default() };
    assert!(check(&SPECIFICATION, "", &selection, &mut [reference()], |event| run.add(event)).conforms);
}

#[test]
fn elements_that_are_not_reported_are_not_judged() {
    let run = run("no-values");
    for judged in &run.judged {
        let case = SPECIFICATION.cases.iter().find(|case| case.id == judged.case).unwrap();
        let of_elements = case.expect.iter().any(|(_, expectation)| expectation.aspects().contains(&Aspect::Values));
        match &judged.verdict {
            Verdict::NotJudged { .. } => assert!(of_elements, "{}", judged.case),
            Verdict::Passed | Verdict::Uncontrolled { .. } => assert!(!of_elements, "{} passed", judged.case),
            other => panic!("{}: {other:?}", judged.case),
        }
    }
    let executed = run.judged.iter().filter(|judged| judged.verdict.executed()).count();
    assert_partial(&run, executed);
    assert!(last_line(&run).contains("not judged"), "{}", last_line(&run));
    let label = &run.implementations[0].label;
    let unseen: BTreeSet<&str> = run
        .truth(label)
        .into_iter()
        .filter(|truth| truth.holds().is_none())
        .map(|truth| truth.clause.id.as_str())
        .collect();
    assert!(unseen.contains("special-values-broadcast"), "a statement on elements is unseen");
    assert!(!unseen.contains("other-sizes-do-not-broadcast"), "rejections are seen");
}

#[test]
fn elements_that_hello_rules_out_break_the_protocol() {
    let selection = ["in-place/", "promotion/", "gradient/"].map(str::to_owned).to_vec();
    let run = run_of("zeros-as-no-values", &Selection { cases: selection, ..Selection::default() });
    assert!(!conforms(&run));
    let told = run.judged.iter().filter_map(|judged| match &judged.verdict {
        Verdict::Broken { fault, .. } => Some(fault),
        _ => None,
    });
    let told: Vec<&String> = told.collect();
    assert!(told.len() > 50, "{}", told.len());
    assert!(told.iter().all(|fault| fault.contains("hello says `no_values`")), "{told:?}");
}

#[test]
fn the_name_of_the_reference_is_reserved() {
    let refused = faulty("named-reference", Limits::default()).err().expect("it starts");
    assert!(refused.contains("is reserved for broadcheck's own reference"), "{refused}");
}

#[test]
fn an_excuse_is_bound_to_what_it_excuses() {
    for args in ["unbound-excuse", "excuse-of-another add"] {
        let cases = vec!["arithmetic/mul".to_owned(), "comparison/".to_owned()];
        let run = run_of(args, &Selection { cases, ..Selection::default() });
        assert!(!conforms(&run), "{args}");
        for judged in &run.judged {
            let Verdict::Broken { fault, .. } = &judged.verdict else { panic!("{args}: {judged:?}") };
            assert!(fault.contains("hello declares all that it needs"), "{args}: {fault}");
        }
    }
}

#[test]
fn the_end_of_the_process_is_judged() {
    for (args, how) in [
        ("fails-at-the-end", "exit status: 3"),
        ("crashes-at-the-end", "signal: 6 (SIGABRT)"),
        ("speaks-at-the-end", "after its last answer: goodbye"),
    ] {
        let cases = vec!["in-place/".to_owned()];
        let run = run_of(args, &Selection { cases, ..Selection::default() });
        assert!(run.judged.iter().all(|judged| judged.verdict == Verdict::Passed), "{args}");
        assert!(!conforms(&run), "{args} conforms");
        for report in [text::render(&run), markdown::render(&run), json::render(&run)] {
            assert!(report.contains(how), "{args}: {report}");
        }
        assert!(broadcheck::report::junit::render(&run).contains(how), "{args}");
    }
}
