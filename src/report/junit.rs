//! The run as JUnit XML, for CI systems: a suite for each implementation, a test case for each case.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Run, count, repeat_command};
use crate::harness::model::event::{Judged, Tally, Verdict};

/// The document.
pub fn render(run: &Run) -> String {
    let mut report = Report::new("broadcheck");
    for ready in &run.implementations {
        let mut suite = TestSuite::new(ready.label.as_str());
        for judged in run.of(&ready.label) {
            let mut case = TestCase::new(judged.case.as_str(), status(judged));
            case.set_classname(format!("{}.{}", ready.name, judged.case.split('/').next().unwrap_or_default()));
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    if let Some(suite) = as_a_whole(run) {
        report.add_test_suite(suite);
    }
    report.to_string().expect("a report of text is XML")
}

/// Returns the reasons why the run fails though no case failed: otherwise a reader of this report alone would see it
/// pass.
fn as_a_whole(run: &Run) -> Option<TestSuite> {
    let totals = run.totals.as_ref()?;
    let idle = totals.implementations.iter().filter(|tally| tally.passed == 0);
    let idle = idle.map(|tally| (tally.implementation.as_str(), "it passed nothing"));
    let clauses = totals.unexecuted_clauses.iter().filter(|_| !totals.conforms);
    let clauses = clauses.map(|clause| (clause.as_str(), "no implementation executed a case of this clause"));
    let differ = |tally: &&Tally| tally.corpus.as_ref().is_some_and(|corpus| corpus.differ > 0);
    let corpus = totals.implementations.iter().filter(differ);
    let corpus =
        corpus.map(|tally| (tally.implementation.as_str(), "it differs from the reference on generated programs"));
    let ended = totals.implementations.iter();
    let ended = ended.filter_map(|tally| Some((tally.implementation.as_str(), tally.ended_badly.as_deref()?)));
    let mut suite = TestSuite::new("the run as a whole");
    for (name, message) in idle.chain(clauses).chain(corpus).chain(ended) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(message);
        suite.add_test_case(TestCase::new(name, status));
    }
    (!suite.test_cases.is_empty()).then_some(suite)
}

fn status(judged: &Judged) -> TestCaseStatus {
    let non_success = |kind, message: String, detail: String| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_message(message).set_description(format!("{detail}\nrepeat: {}", repeat_command(judged)));
        status
    };
    match &judged.verdict {
        Verdict::Passed | Verdict::Diverges { .. } => TestCaseStatus::success(),
        Verdict::Unsupported { what, .. } => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("unsupported: {what}"));
            status
        }
        Verdict::NotJudged { what } => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("not judged: {what}"));
            status
        }
        Verdict::Failed { differences } => {
            let lines = differences.iter().map(|difference| {
                let (value, aspect, by) = (&difference.value, difference.aspect.name(), &difference.by);
                format!(
                    "{value} {aspect} ({by})\n  expected {}\n  observed {}",
                    difference.expected, difference.observed
                )
            });
            let detail = lines.collect::<Vec<_>>().join("\n");
            non_success(NonSuccessKind::Failure, count(differences.len(), "difference"), detail)
        }
        Verdict::Uncontrolled { control } => non_success(
            NonSuccessKind::Failure,
            format!("the accepting case {control} does not pass, so this rejection counts for nothing"),
            String::new(),
        ),
        Verdict::Broken { fault, stderr } => non_success(NonSuccessKind::Error, fault.clone(), stderr.clone()),
    }
}
