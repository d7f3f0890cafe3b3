//! The table of statements can say "false". `fixtures/opposites/` holds twenty statements of the specification next to
//! their opposites, with the same programs for both: on the reference and on libtorch every statement is true and every
//! opposite is false, for the right reason. Changed judgements show what does not contradict a statement.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use broadcheck::case::{Aspect, Case, Clause, Specification, load};
use broadcheck::harness::Difference;
use broadcheck::harness::check::{Candidate, Selection, check};
use broadcheck::harness::model::divergence::Kind;
use broadcheck::harness::model::event::{Event, Judged, Verdict};
use broadcheck::report::{Run, Truth};
use common::SPECIFICATION;

static FIXTURE: LazyLock<Specification> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opposites");
    load(&folder).unwrap_or_else(|error| panic!("{error}"))
});

static ON_REFERENCE: LazyLock<Vec<Event>> = LazyLock::new(|| events(common::reference()));

/// The statements, and the aspects that contradict their opposites: each of them somewhere, but for the type of the
/// exception, which only Python has.
const CONTRADICTED: [(&str, &[Aspect]); 20] = [
    ("ones-are-prepended", &[Aspect::Shape, Aspect::Values]),
    ("expanded-dimensions-have-stride-zero", &[Aspect::Strides]),
    ("in-place-returns-its-target", &[Aspect::Aliasing]),
    ("mismatch-dimension-counts-in-the-result", &[Aspect::Message]),
    ("broadcast-tensors-promotes-nothing", &[Aspect::Dtype]),
    ("expand-drops-no-dimension", &[Aspect::Outcome]),
    ("comparison-gives-booleans", &[Aspect::Dtype]),
    ("matrix-sizes-must-fit", &[Aspect::Outcome]),
    ("shape-before-types", &[Aspect::Class]),
    ("gradients-accumulate", &[Aspect::Values]),
    ("vdot-conjugates", &[Aspect::Values]),
    ("ger-out-warns", &[Aspect::Warnings]),
    ("reshape-is-a-view-where-it-can", &[Aspect::Strides, Aspect::Aliasing]),
    ("writes-go-through-views", &[Aspect::Values]),
    ("position-is-the-first", &[Aspect::Values]),
    ("index-dimensions-stay-or-come-first", &[Aspect::Shape]),
    ("loss-of-nothing", &[Aspect::Values]),
    ("huber-resizes-its-result", &[Aspect::Warnings]),
    ("bool-is-not-subtracted", &[Aspect::Class]),
    ("copy-of-itself", &[Aspect::Outcome]),
];

#[test]
fn opposites_are_false_on_the_reference() {
    assert_told_apart(&replay(&ON_REFERENCE, |_| ()));
}

#[test]
fn opposites_are_false_on_libtorch() {
    let libtorch = common::libtorch().unwrap_or_else(|error| panic!("{error}"));
    assert_told_apart(&replay(&events(libtorch), |_| ()));
}

/// The statements are those of the specification: they are about the same aspects, and their cases have the programs of
/// cases there. Each opposite has the programs and the expectations of its statement.
#[test]
fn statements_and_programs_are_those_of_the_specification() {
    assert_eq!(FIXTURE.clauses.len(), 2 * CONTRADICTED.len());
    let clause = |of: &'static Specification, id: &str| -> &'static Clause {
        of.clauses.iter().find(|clause| clause.id == id).unwrap_or_else(|| panic!("no clause is called {id}"))
    };
    for (id, _) in CONTRADICTED {
        let (original, opposite) = (clause(&FIXTURE, id), clause(&FIXTURE, &format!("{id}-opposite")));
        assert_eq!(original.about, clause(&SPECIFICATION, id).about, "{id}");
        assert_eq!(original.about, opposite.about, "{id}");
        for case in cases_of(&FIXTURE, id) {
            let is_same = |other: &&Case| other.program == case.program;
            assert!(cases_of(&SPECIFICATION, id).any(|other| is_same(&other)), "no case of {id} has {}", case.id);
            assert!(case.documented.is_empty(), "{}", case.id);
        }
        for case in cases_of(&FIXTURE, &opposite.id) {
            let name = case.id.replace("opposite/", "original/");
            let twin = cases_of(&FIXTURE, id).find(|other| other.id == name);
            let twin = twin.unwrap_or_else(|| panic!("{id} has no case {name}"));
            assert_eq!(case.program, twin.program, "{}", case.id);
            // As text, since no NaN equals another.
            assert_eq!(format!("{:?}", case.expect), format!("{:?}", twin.expect), "{}", case.id);
            assert_eq!(case.witnesses.get(&opposite.id), twin.witnesses.get(id), "{}", case.id);
            assert!(!case.documented.is_empty(), "{}", case.id);
        }
    }
}

/// A statement about shapes that are rejected stays true if the message is worded differently; that is a footnote.
#[test]
fn another_message_is_a_footnote() {
    let run = with(&["original/three-by-three-with-four-by-two"], |judged| differ(judged, "r", Aspect::Message));
    let truth = truth_of(&run, "matrix-sizes-must-fit");
    assert_eq!(truth.holds(), Some(true));
    assert!(truth.against.is_empty());
    let [(judged, differences)] = truth.besides.as_slice() else { panic!("{:?}", truth.besides) };
    assert_eq!(judged.case, "original/three-by-three-with-four-by-two");
    assert_eq!(differences.iter().map(|one| one.aspect).collect::<Vec<_>>(), [Aspect::Message]);

    let run = with(&["original/documented-mismatch"], |judged| differ(judged, "r", Aspect::Message));
    let truth = truth_of(&run, "mismatch-dimension-counts-in-the-result");
    assert_eq!(truth.holds(), Some(false), "a statement about the message");
    assert!(truth.besides.is_empty());
}

/// A crash of one of its cases contradicts every statement, whatever it is about, also where the crash is a known
/// divergence.
#[test]
fn crashes_contradict_every_statement() {
    let fault = || "the adapter crashed: signal 11".to_owned();
    let broken = Verdict::Broken { fault: fault(), stderr: String::new() };
    let known = Verdict::Diverges {
        divergence: "crash".to_owned(),
        kind: Kind::Bug,
        why: "libtorch reads beyond the storage.".to_owned(),
        differences: Vec::new(),
        broken: Some(fault()),
        control: None,
    };
    for verdict in [broken, known] {
        for (id, _) in CONTRADICTED {
            let case = cases_of(&FIXTURE, id).next().expect("every statement has a case");
            let run = with(&[&case.id], |judged| {
                (judged.verdict, judged.documented) = (verdict.clone(), None);
            });
            let truth = truth_of(&run, id);
            assert_eq!(truth.holds(), Some(false), "{id}");
            let [(judged, differences)] = truth.against.as_slice() else { panic!("{id}: {:?}", truth.against) };
            assert_eq!((judged.case.as_str(), differences.len()), (case.id.as_str(), 0), "{id}");
        }
    }
}

/// A program that is rejected shows nothing of the storage that its result would have had.
#[test]
fn another_outcome_is_no_witness_of_other_aspects() {
    let case = "original/row-to-each-row-in-place";
    let run = with(&[case], |judged| differ(judged, "r", Aspect::Outcome));
    let of_storage = truth_of(&run, "in-place-returns-its-target");
    assert_eq!(of_storage.holds(), None);
    assert!(of_storage.against.is_empty() && of_storage.besides.is_empty());

    let run = with(&["original/copy-of-itself"], |judged| differ(judged, "r", Aspect::Outcome));
    assert_eq!(truth_of(&run, "copy-of-itself").holds(), Some(false), "a statement about the outcome");
}

/// Without a difference in what an adapter does not report, nothing is shown.
#[test]
fn aspects_that_are_not_reported_are_unseen() {
    let untold = |case: &str, clause: &str, aspects: &[Aspect]| {
        let run = with(&[case], |judged| judged.untold = aspects.to_vec());
        truth_of(&run, clause).holds()
    };
    assert_eq!(untold("original/ger-into-out-is-deprecated", "ger-out-warns", &[Aspect::Warnings]), None);
    assert_eq!(untold("original/ger-into-out-is-deprecated", "ger-out-warns", &[Aspect::Values]), Some(true));
    let message = untold("original/documented-mismatch", "mismatch-dimension-counts-in-the-result", &[Aspect::Message]);
    assert_eq!(message, None);
    let huber = ("original/huber_loss-of-a-larger-target", "huber-resizes-its-result");
    assert_eq!(untold(huber.0, huber.1, &[Aspect::Warnings]), Some(true), "outcome and shape are reported");
    // A statement that is about elements among others needs them.
    let both = ["original/shorter-operand-fits", "original/first-operand-has-fewer-dimensions"];
    let run = with(&both, |judged| judged.untold = vec![Aspect::Values]);
    assert_eq!(truth_of(&run, "ones-are-prepended").holds(), None);
}

/// A difference counts in the values that witness the statement, and in no other value of the program.
#[test]
fn differences_in_other_values_do_not_count() {
    let holds = |value: &str| {
        let run = with(&["original/second-backward-pass"], |judged| differ(judged, value, Aspect::Values));
        let truth = truth_of(&run, "gradients-accumulate");
        (truth.holds(), truth.against.len(), truth.besides.len())
    };
    assert_eq!(holds("first"), (Some(true), 0, 0), "not even as a footnote");
    assert_eq!(holds("second"), (Some(false), 1, 0));
}

/// Everything that the check of the fixture reports of one implementation.
fn events(candidate: Candidate) -> Vec<Event> {
    let mut events = Vec::new();
    check(&FIXTURE, &FIXTURE.digest, &Selection::default(), &mut [candidate], |event| events.push(event.clone()));
    events
}

/// The run that these events are, with changed judgements.
fn replay(events: &[Event], change: impl Fn(&mut Judged)) -> Run {
    let mut run = Run::default();
    for event in events {
        let mut event = event.clone();
        if let Event::Judged(judged) = &mut event {
            change(judged);
        }
        run.add(&event);
    }
    run
}

/// The run of the reference, with changed judgements on some cases.
fn with(cases: &[&str], change: impl Fn(&mut Judged)) -> Run {
    for case in cases {
        assert!(FIXTURE.cases.iter().any(|other| other.id == *case), "no case is called {case}");
    }
    replay(&ON_REFERENCE, |judged| {
        if cases.contains(&judged.case.as_str()) {
            change(judged);
        }
    })
}

/// Makes an implementation differ in one aspect of one value, which a case without `documented` expects.
fn differ(judged: &mut Judged, value: &str, aspect: Aspect) {
    let difference = Difference {
        value: value.to_owned(),
        aspect,
        by: "specification".to_owned(),
        expected: "this".to_owned(),
        observed: "that".to_owned(),
    };
    judged.documented = Some(vec![difference.clone()]);
    judged.verdict = Verdict::Failed { differences: vec![difference] };
}

fn truth_of<'a>(run: &'a Run, clause: &str) -> Truth<'a> {
    let truths = run.truth(&run.implementations[0].label);
    truths.into_iter().find(|truth| truth.clause.id == clause).unwrap_or_else(|| panic!("no clause is called {clause}"))
}

fn cases_of<'a>(specification: &'a Specification, clause: &'a str) -> impl Iterator<Item = &'a Case> {
    specification.cases.iter().filter(move |case| case.clauses.iter().any(|other| other == clause))
}

/// Every statement is true, every opposite is false in the aspects that contradict it, and the implementation conforms:
/// whether it does has nothing to do with what documents say.
fn assert_told_apart(run: &Run) {
    let label = &run.implementations[0].label;
    let failed: Vec<_> = run.judged.iter().filter(|judged| judged.verdict != Verdict::Passed).collect();
    assert!(failed.is_empty(), "{label}: {failed:#?}");
    assert!(run.totals.as_ref().is_some_and(|totals| totals.conforms), "{label} does not conform");

    let truths: BTreeMap<String, Truth> =
        run.truth(label).into_iter().map(|truth| (truth.clause.id.clone(), truth)).collect();
    let mut contradicted = BTreeSet::new();
    for (id, aspects) in CONTRADICTED {
        let original = &truths[id];
        assert_eq!(original.holds(), Some(true), "{label}: {id}: {:#?}", original.against);
        assert_eq!(original.supporting, original.clause.cases.len(), "{label}: {id}");
        assert!(original.besides.is_empty(), "{label}: {id}");

        let opposite = &truths[&format!("{id}-opposite")];
        let statement = &opposite.clause.statement;
        assert_eq!(opposite.holds(), Some(false), "{label}: {statement}");
        assert_eq!(opposite.against.len(), opposite.clause.cases.len(), "{label}: a case supports: {statement}");
        let differences = opposite.against.iter().flat_map(|(_, differences)| differences);
        let seen: BTreeSet<Aspect> = differences.map(|difference| difference.aspect).collect();
        assert_eq!(seen, aspects.iter().copied().collect(), "{label}: {statement}");
        assert!(seen.iter().all(|aspect| opposite.clause.about.contains(aspect)), "{label}: {statement}");
        assert!(opposite.really().is_some_and(|(why, _)| why.ends_with('.')), "{label}: {statement}");
        contradicted.extend(seen);
    }
    let all: BTreeSet<Aspect> = Aspect::ALL.into_iter().filter(|aspect| *aspect != Aspect::Raises).collect();
    assert_eq!(contradicted, all, "{label}");
}
