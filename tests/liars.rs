//! The whole specification on adapters that are wrong on purpose (`adapters/faulty`): none of them conforms, each lie
//! is noticed in every case in which it occurs and named for what it is, and a fault costs the cases that it strikes
//! and no others.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use broadcheck::adapter::{Implementation, Limits};
use broadcheck::case::{Case, Expectation};
use broadcheck::error::Class;
use broadcheck::harness::check::{Selection, check};
use broadcheck::harness::model::event::{Event, Judged, Totals, Verdict};
use broadcheck::harness::oracles::specification::SPECIFICATION as BY_SPECIFICATION;
use broadcheck::harness::{Aspect, Difference};
use broadcheck::ops::{Compare, Family, Op};
use broadcheck::program::{Outcome, Program, Reply, Value};
use broadcheck::reference::Reference;
use broadcheck::tensor::{Buffer, Layout, Scalar};
use common::SPECIFICATION;

/// The operation that faults of the process strike: few programs have it, and each hang costs time.
const STRUCK: Op = Op::ExpandAs;

/// Everything that was seen of one adapter.
struct Seen {
    totals: Totals,
    judged: BTreeMap<String, Judged>,
}

impl Seen {
    fn of(args: &str) -> Seen {
        // Those that never answer are waited for in vain; the others may be slow on a machine that has other work.
        let silent = args.starts_with("hangs") || args.starts_with("half-");
        let limits =
            Limits { program: Duration::from_secs(if silent { 3 } else { 60 }), line: 16 << 20, ..Limits::default() };
        let mut candidate = common::faulty(args, limits).unwrap();
        let mut order = Vec::new();
        let mut judged = BTreeMap::new();
        let candidates = std::slice::from_mut(&mut candidate);
        let totals = check(&SPECIFICATION, "", &Selection::default(), candidates, |event| {
            if let Event::Judged(one) = event {
                order.push(one.case.clone());
                judged.insert(one.case.clone(), (**one).clone());
            }
        });
        let all: Vec<String> = SPECIFICATION.cases.iter().map(|case| case.id.clone()).collect();
        assert_eq!(order, all, "each case is judged once, in order");
        Seen { totals, judged }
    }

    fn verdict(&self, case: &Case) -> &Verdict {
        &self.judged[&case.id].verdict
    }

    fn cases(&self, take: impl Fn(&Verdict) -> bool) -> Vec<&'static Case> {
        SPECIFICATION.cases.iter().filter(|case| take(self.verdict(case))).collect()
    }

    fn differences(&self) -> impl Iterator<Item = (&'static Case, &Difference)> {
        SPECIFICATION.cases.iter().flat_map(|case| match self.verdict(case) {
            Verdict::Failed { differences } => differences.iter().map(|difference| (case, difference)).collect(),
            _ => Vec::new(),
        })
    }
}

/// A difference that names a lie.
type Names = fn(&Case, &Difference) -> bool;

macro_rules! lies {
    ($($test:ident $name:literal => $names:expr;)+) => {
        $(#[test] fn $test() { assert_caught($name, $names); })+

        const LIES: &[&str] = &[$($name),+];
    };
}

lies! {
    wrong_shapes "wrong-shape" => |_, difference| difference.aspect == Aspect::Shape;
    wrong_values "wrong-value" => |_, difference| difference.aspect == Aspect::Values;
    wrong_dtypes "wrong-dtype" => |_, difference| difference.aspect == Aspect::Dtype;
    wrong_messages "wrong-message" => |_, difference| difference.aspect == Aspect::Message;
    swapped_operands "swapped-operands" => |_, difference| difference.aspect == Aspect::Values;
    wrong_strides "wrong-strides" => |_, difference| difference.aspect == Aspect::Strides;
    lost_aliases "lost-alias" => |_, difference| difference.aspect == Aspect::Aliasing;
    changed_targets "changed-target" => |_, difference| {
        difference.aspect == Aspect::Values && difference.expected.starts_with("unchanged")
    };
    grown_targets "grows-target" => |case, difference| {
        let expected = case.expect.iter().map(|(_, expectation)| expectation);
        let mut rejections = expected.filter_map(|expectation| match expectation {
            Expectation::Rejected(rejection) => rejection.class,
            _ => None,
        });
        difference.aspect == Aspect::Outcome && rejections.any(|class| class == Class::OutputShape)
    };
    accepted_everything "accepts-everything" => |case, difference| {
        difference.aspect == Aspect::Outcome && case.rejects() && difference.expected.starts_with("rejected")
    };
    wrong_gradients "wrong-gradient" => |case, difference| {
        difference.aspect == Aspect::Shape && case.program.steps.iter().any(|step| step.op == Op::Grad)
    };
    lost_warnings "lost-warning" => |_, difference| {
        difference.aspect == Aspect::Warnings && difference.observed == "no warning"
    };
    invented_warnings "invented-warning" => |_, difference| {
        difference.aspect == Aspect::Warnings && difference.expected == "no warning"
    };
    lost_nans "lost-nan" => |_, difference| difference.aspect == Aspect::Values && difference.expected.contains("nan");
    lost_signs_of_zero "lost-zero-sign" => |_, difference| {
        difference.aspect == Aspect::Values && difference.expected.contains("-0.0")
    };
    rejected_everything "refuses-everything" => |case, difference| {
        difference.aspect == Aspect::Outcome && !case.rejects()
    };
}

/// The wrong reply is noticed in every case in which it occurs, in no other, and the specification itself gives it its
/// name.
fn assert_caught(lie: &str, names: Names) {
    let seen = Seen::of(lie);
    assert!(!seen.totals.conforms, "{lie} conforms");
    let Told { determined, anything } = told(lie);
    assert!(!anything.is_empty(), "no case shows {lie}");
    for case in &SPECIFICATION.cases {
        let id = &case.id;
        match seen.verdict(case) {
            Verdict::Failed { .. } => {
                assert!(anything.contains(id), "{lie} is noticed in {id}, where it does not occur")
            }
            Verdict::Passed => assert!(!determined.contains(id), "{lie} occurs in {id} and is not noticed"),
            // The control has the wrong reply, or the wrong rejection happens to be the expected one.
            Verdict::Uncontrolled { .. } => {}
            other => panic!("{id}: {other:?}"),
        }
    }
    let named: Vec<(&Case, &Difference)> =
        seen.differences().filter(|(case, difference)| names(case, difference)).collect();
    let by_specification = named.iter().filter(|(_, difference)| difference.by == BY_SPECIFICATION).count();
    println!(
        "{lie}: told in {} cases, named {} times, {by_specification} of them by the specification",
        anything.len(),
        named.len()
    );
    assert!(by_specification > 0, "the specification does not name {lie}");
}

/// The cases in which the adapter answers otherwise than the reference.
struct Told {
    /// In something that the operation determines.
    determined: BTreeSet<String>,
    /// In anything.
    anything: BTreeSet<String>,
}

fn told(lie: &str) -> Told {
    let mut candidate = common::faulty(lie, Limits::default()).unwrap();
    let programs: Vec<Program> = SPECIFICATION.cases.iter().map(|case| case.program.clone()).collect();
    let mut told = Told { determined: BTreeSet::new(), anything: BTreeSet::new() };
    candidate.runner.run_each(&programs, |at, reply| {
        let (program, id) = (&programs[at], &SPECIFICATION.cases[at].id);
        let (lie, truth) = (reply.unwrap(), Reference.run(program));
        if lie != truth {
            told.anything.insert(id.clone());
        }
        if determined(program, lie) != determined(program, truth) {
            told.determined.insert(id.clone());
        }
    });
    told
}

/// A reply without the strides of results, such as gradients, that libtorch may choose as it likes, and without the signs
/// of zeros that a tolerance takes for the same.
fn determined(program: &Program, mut reply: Reply) -> Reply {
    for (step, answer) in program.steps.iter().zip(&mut reply.steps) {
        if let Outcome::Value(Value::Tensor(tensor)) = &mut answer.outcome
            && (step.op.info().family() == Family::Autograd || step.compare() == Compare::Tolerance)
        {
            let unsigned = |number: Scalar| match number {
                Scalar::Float(0.0) => Scalar::Float(0.0),
                other => other,
            };
            let elements: Vec<Scalar> = tensor.scalars().into_iter().map(unsigned).collect();
            let layout = Layout::contiguous(tensor.shape.clone());
            if !elements.is_empty() {
                tensor.data = Buffer::from_scalars(tensor.dtype, elements.into_iter()).to_bytes(&layout);
            }
        }
        let tensor = match &mut answer.outcome {
            Outcome::Value(Value::Tensor(tensor)) if !step.op.info().layout_is_specified() => tensor,
            _ => continue,
        };
        let strides = tensor.strides.iter_mut().flatten().zip(tensor.shape.sizes());
        strides.filter(|(_, size)| **size == 1).for_each(|(stride, _)| *stride = 0);
    }
    reply
}

#[test]
fn an_adapter_that_rejects_everything_gets_no_rejection_counted() {
    let seen = Seen::of("refuses-everything");
    assert_eq!(seen.totals.implementations[0].passed, 0);
    let rejecting: Vec<&Case> = SPECIFICATION.cases.iter().filter(|case| case.rejects()).collect();
    let uncontrolled =
        rejecting.iter().filter(|case| matches!(seen.verdict(case), Verdict::Uncontrolled { .. })).count();
    let failed = rejecting.iter().filter(|case| matches!(seen.verdict(case), Verdict::Failed { .. })).count();
    println!("of {} rejecting cases {uncontrolled} are uncontrolled, {failed} failed", rejecting.len());
    assert_eq!(uncontrolled + failed, rejecting.len());
    assert!(uncontrolled > 0, "no rejection was as expected, so the controls were not needed");
}

#[test]
fn an_honest_adapter_conforms() {
    let seen = Seen::of("honest");
    assert!(seen.totals.conforms, "{:?}", seen.totals);
    assert_eq!(seen.totals.implementations[0].passed, SPECIFICATION.cases.len());
}

macro_rules! strikes {
    ($($test:ident $name:literal => $wording:literal;)+) => {
        $(#[test] fn $test() { assert_struck($name, $wording); })+

        const STRIKES: &[&str] = &[$($name),+];
    };
}

strikes! {
    crashes "dies" => "the adapter ended (signal: 6 (SIGABRT))";
    exits "quits" => "the adapter ended (exit status: 0)";
    hangs "hangs" => "no answer within 3s";
    rubbish "rubbish" => "protocol error: not JSON";
    banners "banner" => "protocol error: not JSON";
    blank_lines "blank-line" => "protocol error: a blank line";
    half_lines "half-line" => "protocol error: an unfinished message after 3s";
    half_frames "half-frame" => "protocol error: an unfinished message after 3s";
    lines_for_frames "line-for-frame" => "protocol error: a JSON line instead of a MessagePack frame";
    endless_lines "endless-line" => "protocol error: a message is longer than 16777216 bytes";
    wrong_numbers "wrong-seq" => "protocol error: the answer has `seq`";
    short_data "short-data" => "bytes of data";
    missing_steps "missing-step" => "step outcomes, the program has";
    undeclared_gaps "undeclared-unsupported" => "but hello declares all that it needs";
    misunderstandings "misunderstands" => "the adapter could not parse the program: unknown operation";
}

/// The cases with the operation are broken, in these words; all others are judged as if nothing had happened.
fn assert_struck(fault: &str, wording: &str) {
    let seen = Seen::of(&format!("{fault} {STRUCK}"));
    assert!(!seen.totals.conforms, "{fault} conforms");
    let struck: Vec<&str> = SPECIFICATION
        .cases
        .iter()
        .filter(|case| case.theme() != "huge" && case.program.steps.iter().any(|step| step.op == STRUCK))
        .map(|case| case.id.as_str())
        .collect();
    assert!(!struck.is_empty(), "no case has {STRUCK}");
    // A value that is too large for a reply has no data that could be short.
    for case in SPECIFICATION.cases.iter().filter(|case| case.theme() != "huge") {
        match seen.verdict(case) {
            Verdict::Broken { fault, stderr } => {
                assert!(struck.contains(&case.id.as_str()), "{} is not struck: {fault}", case.id);
                assert!(fault.contains(wording), "{}: {fault}", case.id);
                // An adapter that keeps writing may write there after its answer.
                let striking = stderr.is_empty() || stderr.contains("faulty strikes program");
                assert!(striking, "{}: {stderr}", case.id);
            }
            Verdict::Uncontrolled { control } => assert!(struck.contains(&control.as_str()), "{}: {control}", case.id),
            // A rejection has no data that could be short.
            Verdict::Passed if fault == "short-data" && case.rejects() => {}
            Verdict::Passed => assert!(!struck.contains(&case.id.as_str()), "{} is struck and passes", case.id),
            other => panic!("{}: {other:?}", case.id),
        }
    }
    let broken = seen.cases(|verdict| matches!(verdict, Verdict::Broken { .. }));
    let spared = SPECIFICATION.cases.iter().filter(|case| fault == "short-data" && case.rejects());
    let spared = spared.filter(|case| struck.contains(&case.id.as_str())).count();
    assert_eq!(broken.iter().filter(|case| case.theme() != "huge").count(), struck.len() - spared);
}

const AT_START: &[(&str, &str)] = &[
    ("dies-at-start", "ended before it answered hello (exit status: 3)"),
    ("hangs-at-start", "did not answer hello within 500ms"),
    ("rubbish-at-start", "did not answer hello: not JSON"),
    ("old-protocol", "speaks protocol version 0"),
];

#[test]
fn adapters_that_do_not_start_are_never_judged() {
    for (fault, wording) in AT_START {
        let limits = Limits { hello: Duration::from_millis(500), ..Limits::default() };
        let error = common::faulty(fault, limits).err().unwrap_or_else(|| panic!("{fault} starts"));
        assert!(error.contains(wording), "{fault}: {error}");
    }
}

/// Those of `tests/evasion.rs`: they do not lie, they are not asked.
const EVASIONS: &[&str] = &[
    "zeros-as-no-values",
    "no-values",
    "named-reference",
    "one-operation",
    "lacks-its-mistakes",
    "unbound-excuse",
    "excuse-of-another",
    "fails-at-the-end",
    "crashes-at-the-end",
    "speaks-at-the-end",
];

#[test]
fn every_fault_of_the_adapter_is_tried() {
    let listed = Command::new(common::faulty_binary()).arg("--list").output().unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    let names: Vec<&str> =
        listed.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next()).collect();
    let at_start = AT_START.iter().map(|(name, _)| *name);
    for name in EVASIONS {
        assert!(include_str!("evasion.rs").contains(name), "tests/evasion.rs does not try {name}");
    }
    // Without the limit that `tests/campaign.rs` sets, one would take all memory; `tests/harm.rs` tries the other.
    let elsewhere = ["honest", "greedy", "hidden-text"];
    let mut tried: Vec<&str> =
        elsewhere.iter().chain(LIES).chain(STRIKES).chain(EVASIONS).copied().chain(at_start).collect();
    tried.sort_unstable();
    let mut listed = names.clone();
    listed.sort_unstable();
    assert_eq!(listed, tried);
}
