//! Generated programs: what must hold of the reference alone, and the reference against libtorch.
//!
//! No difference is ignored here but a known one. What cannot be compared is left out by the generator, under a name
//! ([`broadcheck::generate::Exclusion`]), and what has no single right outcome is judged by a weaker rule
//! ([`broadcheck::harness::relaxations::Relaxation`]).

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use broadcheck::adapter::{CommandLine, Hello, Implementation, Limits, Process};
use broadcheck::case::{self, load_program, render};
use broadcheck::error::Class;
use broadcheck::generate::{self, Options};
use broadcheck::harness::Aspect;
use broadcheck::harness::campaign::coverage::Coverage;
use broadcheck::harness::model::divergence::{self, Divergence, Source};
use broadcheck::harness::model::finding::{Finding, Oracle};
use broadcheck::harness::oracles::comparison::{Side, from_reference};
use broadcheck::harness::oracles::metamorphic::{self, Relation, reference_exceptions::followed};
use broadcheck::harness::reduce::shrink;
use broadcheck::harness::relaxations::{Elements, freedoms};
use broadcheck::install::{self, Progress};
use broadcheck::messages::skeleton;
use broadcheck::ops::{Family, Form, Op};
use broadcheck::program::{Arg, Outcome, Program, Rejected, Reply, ShapeArg, Step, ValueRef};
use broadcheck::reference::Reference;
use broadcheck::tensor::{IndexItem, Scalar, Shape};
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use support::{Generated, pairs_of_dtypes, programs};

/// Programs for each property of the reference.
const CASES: u32 = 1000;

/// Programs that together should have everything.
const COVERED: u64 = 250_000;

/// The operations that gradients need.
const AROUND_GRADIENTS: &[Op] = &[Op::Sum, Op::Backward, Op::Grad];

/// Programs for libtorch, and how many of them are in flight together.
const DIFFERENTIAL: usize = 4000;
const BATCH: usize = 250;

/// The number of differences that are shrunk and printed in full; the rest is counted.
const TOLD: usize = 12;

/// Always the same programs, so that a red run can be repeated. The fuzz targets are for new ones.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(20250601),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(CASES))]

    /// The generator makes whole programs, and the reference has an outcome for every step.
    #[test]
    fn the_reference_never_fails(generated in programs(Options::default())) {
        let Generated(program) = &generated;
        let reply = run(program);
        prop_assert_eq!(reply.steps.len(), program.steps.len());
        for (step, came) in program.steps.iter().zip(&reply.steps) {
            let failed = matches!(came.outcome, Outcome::Failed(_));
            prop_assert!(!failed, "{}: {:?}", step.name, came.outcome);
        }
    }

    /// A finding can be pasted into a case: the YAML of a program loads to the program.
    #[test]
    fn programs_survive_yaml(generated in programs(Options::default())) {
        let written = render::program(&generated.0);
        let read = load_program(Path::new("generated.yaml"), &written);
        // As text, because a NaN is not equal to itself.
        let text = |program: &Program| format!("{program:?}");
        prop_assert_eq!(read.as_ref().map(text).map_err(ToString::to_string), Ok(text(&generated.0)), "{}", written);
    }

    /// Broadcasting follows its definition: programs that are equivalent by definition have equal outcomes.
    /// Where libtorch contradicts itself and the reference follows it, that is listed.
    #[test]
    fn the_reference_keeps_to_the_definition(generated in programs(Options::comparable(&Reference.hello()))) {
        let Generated(program) = &generated;
        let reply = run(program);
        for follow_up in metamorphic::all(program, &reply) {
            let differences = follow_up.judge(program, &reply, &run(&follow_up.program));
            let known = followed(&follow_up, program, &differences).is_some();
            prop_assert!(differences.is_empty() || known, "{:?}\n{:?}", differences, Generated(follow_up.program));
        }
    }

    /// A rejected step leaves the tensor that it would have written to as it was.
    #[test]
    fn rejected_steps_write_nothing(generated in programs(Options::default())) {
        let Generated(program) = &generated;
        let reply = run(program);
        for (at, (step, came)) in program.steps.iter().zip(&reply.steps).enumerate() {
            let target = match (step.form, &step.args[0]) {
                (Form::InPlace, Arg::Tensor(target)) => Some(*target),
                (Form::Out, _) => step.out,
                _ => None,
            };
            // A loop that one of its elements stops has written the elements before it, and `out` has been resized.
            let texts = ["ZeroDivisionError", "Number of elements of source <", " is out of bounds for dimension "];
            let stopped = |it: &str| it == "index out of range in self" || texts.iter().any(|text| it.contains(text));
            // A product has copied its summand to `out` when it looks at its factors; these two are composed there.
            let composed = matches!(step.op, Op::SoftMarginLoss | Op::SoftMarginLossBackward);
            let copied = step.form == Form::Out && (composed || step.op.info().family() == Family::Products);
            if let (Some(target), Outcome::Rejected(rejected)) = (target, &came.outcome)
                && !copied
                && !stopped(&rejected.message)
            {
                let (before, after) = (looked_at(program, at, target), looked_at(program, at + 1, target));
                let shape = |looked: &(Outcome, Vec<Vec<u8>>)| looked.0.tensors().first().map(|tensor| tensor.shape.clone());
                let resized = step.form == Form::Out && shape(&before) != shape(&after);
                if !resized {
                    prop_assert_eq!(before, after, "step {}", at);
                }
            }
        }
    }

    /// Which operand comes first decides neither whether shapes broadcast nor what to.
    #[test]
    fn broadcasting_shapes_is_commutative_and_associative(generated in programs(Options::default())) {
        let shapes: Vec<&Shape> = generated.0.inputs.iter().map(|input| &input.shape).collect();
        for (a, b) in pairs(&shapes) {
            let together = a.broadcast(b).ok();
            prop_assert_eq!(&together, &b.broadcast(a).ok(), "{} {}", a, b);
            for c in &shapes {
                let left = together.as_ref().and_then(|shape| shape.broadcast(c).ok());
                let right = b.broadcast(c).ok().and_then(|shape| a.broadcast(&shape).ok());
                prop_assert_eq!(left, right, "{} {} {}", a, b, c);
            }
            // The front end's own function, which is another one in PyTorch, agrees.
            let sizes = together.map(|shape| shape.sizes().to_vec());
            prop_assert_eq!(sizes, broadcast_shapes(a, b), "{} {}", a, b);
        }
    }
}

/// No rule of the definition is without follow-ups, and each of them sees a fault in what it compares.
#[test]
fn every_rule_applies_and_can_fail() {
    let strategy = programs(Options::comparable(&Reference.hello()));
    let mut runner = TestRunner::new(config(1));
    let mut left: BTreeSet<Relation> = Relation::ALL.iter().copied().collect();
    for _ in 0..20_000 {
        let Generated(program) = strategy.new_tree(&mut runner).expect("no filter").current();
        let reply = run(&program);
        for follow_up in metamorphic::all(&program, &reply)
            .into_iter()
            .filter(|follow_up| left.contains(&follow_up.rule))
            .collect::<Vec<_>>()
        {
            let mut other = run(&follow_up.program);
            let data = other.steps.iter_mut().flat_map(|step| match &mut step.outcome {
                Outcome::Value(broadcheck::program::Value::Tensor(tensor)) => Some(&mut tensor.data),
                _ => None,
            });
            // Every last byte is another: no tolerance has room for it.
            data.last().into_iter().flat_map(|data| data.last_mut()).for_each(|byte| *byte ^= 0x5a);
            if matches!(follow_up.rule, Relation::Resized | Relation::Dtypes) {
                // Their elements are others by intention, or count for nothing.
                let refused = Rejected { message: "no".to_owned(), class: None, origin: None, raises: None };
                other.steps.iter_mut().for_each(|step| step.outcome = Outcome::Rejected(refused.clone()));
            }
            if !follow_up.judge(&program, &reply, &other).is_empty() {
                left.remove(&follow_up.rule);
            }
        }
        if left.is_empty() {
            return;
        }
    }
    panic!("these rules have seen nothing: {left:?}");
}

/// Autograd takes a view of what has become part of a graph for a leaf, and rejects writes to it, until something reads
/// the view. The copies around a rejected step are such reads, and break no rule.
#[test]
fn a_rejection_that_a_read_repairs_is_none() {
    let text = "\
x: {values: 3.0, requires_grad: true}
y: {values: [[1.0, 2.0], [3.0, 4.0]]}
row: {index: [y, \"0\"]}
column: {index: [y, \":, 1\"]}
r0: {mul_: [row, x]}
r1: {add: [y, 0]}
r2: {mul_: [column, x]}
";
    let program = load_program(Path::new("stale.yaml"), text).expect("a program");
    let reply = run(&program);
    assert!(matches!(reply.steps[4].outcome, Outcome::Rejected(_)), "{:?}", reply.steps[4]);
    let of_rejected = |follow_up: &metamorphic::FollowUp| follow_up.rule == Relation::Refused;
    let follow_ups: Vec<_> = metamorphic::all(&program, &reply).into_iter().filter(of_rejected).collect();
    assert!(!follow_ups.is_empty());
    for follow_up in follow_ups {
        let differences = follow_up.judge(&program, &reply, &run(&follow_up.program));
        assert!(differences.is_empty(), "{differences:?}");
    }
}

/// A selection from an empty tensor, of any number of rows, can need an `out=` tensor that exceeds memory: that is
/// said, and not tried.
#[test]
fn no_output_is_larger_than_memory() {
    let text = "\
x: {shape: [1, 0]}
z: {values: [0.0]}
at: {values: [0], dtype: int64}
wide: {expand: [x, [36028797018963968, 0]]}
r0: {index_select: [wide, 1, at], out: z}
";
    let program = load_program(Path::new("wide.yaml"), text).expect("a program");
    let reply = run(&program);
    let outcomes: Vec<&Outcome> = reply.steps.iter().map(|step| &step.outcome).collect();
    assert!(matches!(outcomes[..], [Outcome::Value(_), Outcome::Unsupported(_)]), "{outcomes:?}");
}

/// The reference's reply. A panic names the program.
fn run(program: &Program) -> Reply {
    let reply = std::panic::catch_unwind(|| Reference.run(program));
    reply.unwrap_or_else(|_| panic!("the reference panics over {:?}", Generated(program.clone())))
}

fn pairs<'a>(shapes: &[&'a Shape]) -> Vec<(&'a Shape, &'a Shape)> {
    shapes.iter().flat_map(|a| shapes.iter().map(|b| (*a, *b))).collect()
}

/// The result of `torch.broadcast_shapes` for two shapes.
fn broadcast_shapes(a: &Shape, b: &Shape) -> Option<Vec<i64>> {
    let shapes = [a, b].map(|shape| ShapeArg::Sizes(shape.sizes().to_vec())).to_vec();
    let step = functional(Op::BroadcastShapes, vec![Arg::Shapes(shapes)]);
    match Reference.run(&Program { inputs: Vec::new(), steps: vec![step] }).steps.pop()?.outcome {
        Outcome::Value(broadcheck::program::Value::Sizes(sizes)) => Some(sizes),
        _ => None,
    }
}

/// A tensor after the first `steps` steps, and the inputs.
fn looked_at(program: &Program, steps: usize, target: ValueRef) -> (Outcome, Vec<Vec<u8>>) {
    let mut program = Program { inputs: program.inputs.clone(), steps: program.steps[..steps].to_vec() };
    program.steps.push(functional(Op::Index, vec![Arg::Tensor(target), Arg::Index(vec![IndexItem::Ellipsis])]));
    let before: Vec<Vec<u8>> = program.inputs.iter().map(|input| input.data.clone()).collect();
    let mut reply = Reference.run(&program);
    let after: Vec<Vec<u8>> = reply.inputs.drain(..).map(|input| input.data).collect();
    let last = reply.steps.pop().expect("one outcome for each step").outcome;
    // No step that writes, no state of inputs: they are as they were.
    (last, if after.is_empty() { before } else { after })
}

fn functional(op: Op, args: Vec<Arg>) -> Step {
    Step { name: "look".to_owned(), op, form: Form::Functional, args, out: None }
}

/// Every operation is generated in every form, accepted and rejected, on every dtype, with shapes that are examples of
/// every statement on broadcasting, and every family has each of its rejections.
#[test]
fn the_distribution_leaves_nothing_out() {
    // Large programs would take most of the time, and are made of the same operations; some are made below.
    let options = Options { large: 0, ..Options::default() };
    let mut coverage = Coverage::of(1, COVERED, &options, |_| {});
    // A rejection in the backward pass of a loss needs a loss, operands that broadcast, and a gradient.
    let of_losses = |op: &Op| op.info().family() == Family::Losses || AROUND_GRADIENTS.contains(op);
    let losses = Op::ALL.iter().copied().filter(of_losses).collect();
    coverage += Coverage::of(1, COVERED / 5, &Options { ops: losses, gradients: 4, ..options.clone() }, |_| {});
    // Element by element, sizes are impossible only where expanded operands are broadcast to more than can be counted.
    let of_large = |op: &Op| op.info().family() == Family::Pointwise || *op == Op::Expand;
    let pointwise = Op::ALL.iter().copied().filter(of_large).collect();
    coverage += Coverage::of(1, COVERED / 50, &Options { ops: pointwise, large: u8::MAX, ..options }, |_| {});
    let gaps: Vec<String> = coverage.gaps(Op::ALL).iter().map(ToString::to_string).collect();
    let steps = coverage.steps;
    println!("{} programs: {} steps accepted, {} rejected", coverage.programs, steps.accepted, steps.rejected);
    assert_eq!(gaps, [] as [&str; 0]);
    for (what, count) in [("accepted", steps.accepted), ("rejected", steps.rejected)] {
        assert!(count * 5 > steps.all(), "only {count} of {} steps are {what}", steps.all());
    }
    let families: BTreeSet<Family> = Op::ALL.iter().map(|op| op.info().family()).collect();
    for family in families {
        for class in family.rejections() {
            let class = Class::parse(class).expect("a class");
            assert!(coverage.rejections(family, class) > 0, "{family:?} is never rejected for {class}");
        }
    }
}

/// Fuzzers start from the specification: its cases can be written as bytes, and come out of them as they were.
#[test]
fn cases_are_seeds() {
    let specification = case::load(&broadcheck::assets::specification().expect("the specification"))
        .unwrap_or_else(|error| panic!("{error}"));
    let options = Options { exclusions: Vec::new(), ..Options::default() };
    let (mut written, mut whole) = (0, 0);
    for case in &specification.cases {
        let Some(seed) = generate::seed(&case.program) else { continue };
        written += 1;
        let (program, _) = generate::fuzzed(&seed, &options);
        let calls = |program: &Program| program.steps.iter().map(|step| (step.op, step.form)).collect::<Vec<_>>();
        whole += usize::from(calls(&program) == calls(&case.program));
    }
    let all = specification.cases.len();
    println!("{written} of {all} cases are seeds, {whole} of them whole");
    // The others are beyond the limits of generated programs: many inputs or steps, huge sizes.
    assert!(written * 10 > all * 9, "only {written} of {all} cases can be written");
    assert!(whole * 10 > written * 9, "only {whole} of {written} seeds are whole");
}

/// The summand is copied into `out=` first, which a part of its memory forbids; without it nothing is copied, and a vector is
/// solved for in memory of its own (`copy_`, `addmm_impl_cpu_`, `linalg_lu_solve`).
#[test]
fn an_out_that_shares_a_part_of_the_summand_is_rejected() {
    let overlapping = "x: {shape: [5]}, s0: {narrow: [x, 0, 0, 4]}, o0: {narrow: [x, 0, 1, 4]}";
    let vectors = "v: {shape: [2, 4]}, w: {shape: [2]}, m: {shape: [4, 2]}, a: {shape: [2, 2]}, b: {shape: [1, 2, 2]}, \
                   c: {shape: [2, 2, 2]}";
    let accepted = |sizes: &str, step: &str| {
        let text = format!(
            "{{{vectors}, {overlapping}, s: {{view: [s0, {sizes}]}}, o: {{view: [o0, {sizes}]}}, r: {{{step}, out: o}}}}"
        );
        let program = load_program(Path::new("overlap.yaml"), &text).unwrap_or_else(|error| panic!("{error}"));
        match &run(&program).steps.last().expect("a step").outcome {
            Outcome::Value(_) => true,
            Outcome::Rejected(rejected) if rejected.message.starts_with("unsupported operation: some elements") => {
                false
            }
            other => panic!("{text}: {other:?}"),
        }
    };
    for (sizes, step) in [
        ("[2, 2]", "addmm: [s, a, a]"),
        ("[4]", "addmv: [s, m, w]"),
        ("[2, 2]", "addbmm: [s, b, b]"),
        ("[1, 2, 2]", "baddbmm: [s, b, b]"),
    ] {
        assert!(!accepted(sizes, step), "{step}");
        assert!(accepted(sizes, &format!("{step}, beta: 0")), "{step}");
    }
    assert!(accepted("[2, 2]", "linalg_solve: [c, s]"), "the rows are vectors, one for each matrix");
}

/// The reference agrees with itself on the programs of the specification, which fuzzers start from, but for contradictions of
/// libtorch that it follows.
#[test]
fn cases_agree_with_their_follow_ups() {
    let specification = case::load(&broadcheck::assets::specification().expect("the specification"))
        .unwrap_or_else(|error| panic!("{error}"));
    let (mut judged, mut wrong) = (0, Vec::new());
    for case in &specification.cases {
        let reply = run(&case.program);
        for follow_up in metamorphic::all(&case.program, &reply) {
            judged += 1;
            let differences = follow_up.judge(&case.program, &reply, &run(&follow_up.program));
            if !differences.is_empty() && followed(&follow_up, &case.program, &differences).is_none() {
                wrong.push(format!("{}: {:?}", case.id, differences[0]));
            }
        }
    }
    assert!(judged > specification.cases.len(), "{judged}");
    assert_eq!(wrong, [] as [String; 0]);
}

/// The reference and libtorch have equal outcomes, in every aspect that `harness::compare` knows, on a few thousand
/// programs, and on all pairs of dtypes, but for differences that `divergences.yaml` explains.
#[test]
fn the_reference_agrees_with_libtorch() {
    // The first time this installs it. Without libtorch nothing is shown, so that is a failure.
    let installed = install::libtorch(None, &Progress::auto()).unwrap_or_else(|error| panic!("{error}"));
    let mut libtorch =
        Process::start(CommandLine::new(installed.adapter), Limits::default()).expect("the adapter starts");
    let hello = libtorch.hello().clone();
    let specification = case::load(&broadcheck::assets::specification().expect("the specification"))
        .unwrap_or_else(|error| panic!("{error}"));
    let divergences = divergence::load(&Source::Own, &hello, &specification).unwrap_or_else(|error| panic!("{error}"));
    let subject = Subject { hello, divergences };
    let strategy = programs(Options::comparable(&subject.hello));
    let mut runner = TestRunner::new(config(1));
    let mut found: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut generate = || strategy.new_tree(&mut runner).expect("no filter").current().0;
    let batch = |_| std::iter::repeat_with(&mut generate).take(BATCH).collect::<Vec<Program>>();
    for programs in (0..DIFFERENTIAL.div_ceil(BATCH)).map(batch).chain([pairs_of_dtypes()]) {
        let differing: Vec<(usize, Difference)> = libtorch
            .run_all(&programs)
            .into_iter()
            .enumerate()
            .filter_map(|(at, reply)| Some((at, difference(&programs[at], &subject, reply)?)))
            .collect();
        for (at, difference) in differing {
            let told = found.len();
            let (count, text) = found.entry(difference.kind.clone()).or_default();
            *count += 1;
            if *count == 1 && told < TOLD {
                *text = simplest(&programs[at], &mut libtorch, &subject, difference);
            }
        }
    }
    let text: String = found.iter().map(|(kind, (count, text))| format!("\n{count} × {kind}\n{text}")).collect();
    assert!(found.is_empty(), "{} kinds of differences:\n{text}", found.len());
}

/// A program draws the same numbers whenever it is run, and others from one step to the next.
#[test]
fn libtorch_draws_the_same_numbers_again() {
    let installed = install::libtorch(None, &Progress::auto()).unwrap_or_else(|error| panic!("{error}"));
    let mut libtorch =
        Process::start(CommandLine::new(installed.adapter), Limits::default()).expect("the adapter starts");
    for step in ["normal: [z, o]", "binomial: [n, h]", "bernoulli: [z, h]"] {
        let inputs =
            "z: {shape: [64], fill: zeros}, o: {shape: [64], fill: ones}, n: {shape: [64]}, h: {values: [0.5]}";
        let program = loaded(&format!("{{{inputs}, a: {{{step}}}, b: {{{step}}}}}"));
        let drawn: Vec<Vec<Vec<Scalar>>> = (libtorch.run_all(&[program.clone(), program]).into_iter())
            .map(|reply| reply.expect("a reply").steps.iter().map(|step| step.outcome.tensors()[0].scalars()).collect())
            .collect();
        assert_eq!(drawn[0], drawn[1], "{step}");
        assert_ne!(drawn[0][0], drawn[0][1], "{step}");
    }
}

/// The implementation under test, and what is known of it.
struct Subject {
    hello: Hello,
    divergences: Vec<Divergence>,
}

/// The difference, and the kind of finding that it is.
struct Difference {
    kind: String,
    text: String,
}

fn difference(
    program: &Program,
    subject: &Subject,
    reply: Result<Reply, broadcheck::adapter::Fault>,
) -> Option<Difference> {
    let hello = &subject.hello;
    let reply = match reply {
        Ok(reply) => reply,
        Err(fault) => {
            let text = format!("{fault}\n{}", fault.stderr);
            let known = divergence::known_break(&subject.divergences, program, &fault, hello);
            return known.is_none().then(|| Difference { kind: "broken".to_owned(), text });
        }
    };
    let (reference, wanted) = (Reference.hello(), run(program));
    let differences =
        from_reference(program, Side { hello: &reference, reply: &wanted }, Side { hello, reply: &reply });
    let first = differences.first()?;
    let finding = Finding::of_differences(Oracle::Reference, program, differences.clone())?;
    if divergence::known(&subject.divergences, &finding, hello).is_some() {
        return None;
    }
    // Values differ from program to program; what is said of them does not.
    let said =
        |text: &str| if text.contains(": ") || text.contains("(): ") { skeleton(text) } else { "a value".to_owned() };
    let step = program.steps.iter().find(|step| first.value.split(['.', ' ']).next() == Some(&step.name));
    let call = step.map_or("an input".to_owned(), |step| format!("{} {:?}", step.op, step.form));
    let kind = match first.aspect {
        Aspect::Outcome => format!("{} / {}", said(&first.expected), said(&first.observed)),
        Aspect::Message | Aspect::Warnings => {
            format!("{} / {}", skeleton(&first.expected), skeleton(&first.observed))
        }
        aspect => format!("{call} {}", aspect.name()),
    };
    let lines = differences.iter().map(|difference| {
        let (value, aspect) = (&difference.value, difference.aspect.name());
        format!("  {value} {aspect}\n    reference: {}\n    libtorch:  {}\n", difference.expected, difference.observed)
    });
    Some(Difference { kind, text: lines.collect() })
}

/// The simplest program that comes out otherwise in the same way, and how.
fn simplest(program: &Program, libtorch: &mut Process, subject: &Subject, found: Difference) -> String {
    let mut text = found.text;
    let simplest = shrink(program.clone(), |candidate| {
        let reply = libtorch.run_all(std::slice::from_ref(candidate)).remove(0);
        match difference(candidate, subject, reply).filter(|difference| difference.kind == found.kind) {
            Some(difference) => {
                text = difference.text;
                true
            }
            None => false,
        }
    });
    format!("{:?}{text}", Generated(simplest))
}

fn loaded(program: &str) -> Program {
    load_program(Path::new("found.yaml"), program).unwrap_or_else(|error| panic!("{error}"))
}

/// Messages of libtorch that fuzz targets found, on programs that are too odd for the specification.
#[test]
fn rejections_that_fuzz_targets_found() {
    for (program, message) in [
        (
            // The matrix is factored before anything is written to out=, of which one element stands for several.
            "{a: {values: [[1.0, 0.0], [0.0, 1.0]], dtype: float16}, c: {shape: [2, 1], dtype: float16}, \
              o: {expand: [c, [2, 2]]}, r: {linalg_solve: [a, a], out: o}}",
            "\"lu_cpu\" not implemented for 'Half'",
        ),
        (
            // No strides are taken for strides that are not given (`checkInBoundsForStorage`).
            "{x: {shape: [2]}, r: {as_strided: [x, [], []], storage_offset: 4611686018427387903}}",
            "Storage size calculation overflowed with sizes=[]",
        ),
        (
            // A mask without dimensions has an unknown gradient, and is rejected as all others.
            "{x: {values: 5.0, requires_grad: true}, m: {shape: [], dtype: bool}, t: {shape: [1], dtype: int64}, \
              r: {index_put: [t, [m], x]}}",
            "Autograd not support dtype: Long",
        ),
        (
            // The margin is a tensor of the input's dtype, which holds nothing below zero.
            "{x: {shape: [1], dtype: uint8}, r: {hinge_embedding_loss: [x, x], margin: -2.0e-265}}",
            "value cannot be converted to type uint8_t without overflow",
        ),
        (
            // An out= that grows over the indices of scatter.
            "{x: {shape: [], dtype: int64}, i: {shape: [1], dtype: int64}, o: {index: [i, \":-2\"]}, \
              r: {scatter: [x, 0, i, 0], out: o}}",
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory \
             location. Please clone() the tensor before performing the operation.",
        ),
        (
            // A copy of rows of an expanded tensor checks its indices, and no overlap.
            "{o: {shape: []}, i: {values: 17}, e: {broadcast_to: [o, [1, 2]]}, r: {index_select: [e, 1, i], out: o}}",
            "INDICES element is out of DATA bounds, id=17 axis_dim=2",
        ),
        (
            "{x: {shape: [], requires_grad: true}, m: {values: true}, r: {masked_scatter: [x, m, x]}, \
              a: {backward: [r]}, b: {backward: [r]}}",
            "Trying to backward through the graph a second time (or directly access saved tensors after they have already \
             been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). \
             Specify retain_graph=True if you need to backward through the graph a second time or if you need to access \
             saved tensors after calling backward.",
        ),
        (
            // The sum of the exponentials goes to out= as any other does.
            "{x: {shape: [2, 2]}, o: {shape: [1]}, e: {expand: [o, [2]]}, r: {logsumexp: [x, 0], out: e}}",
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. \
             Please clone() the tensor before performing the operation.",
        ),
    ] {
        let reply = run(&loaded(program));
        let last = reply.steps.last().expect("a step");
        let Outcome::Rejected(rejected) = &last.outcome else { panic!("{message}: {reply:?}") };
        assert_eq!(rejected.message, message);
    }
}

/// A finding of a fuzz target: which index is out of range depends on what the loop has written to the indices by then.
#[test]
fn indices_that_are_written_while_they_are_read_are_left_open() {
    let allowed = |program: &str| {
        let program = loaded(program);
        let freedoms = freedoms(&program, &run(&program));
        freedoms.last().is_some_and(|freedom| freedom.elements < Elements::Any && !freedom.outcome)
    };
    assert!(allowed("{x: {shape: [2]}, i: {values: [0, 5]}, y: {shape: [2]}, r: {index_put_: [x, [i], y]}}"));
    let own =
        "{x: {values: [1, 2]}, e: {expand: [x, [2, 2]]}, y: {values: [1, 1]}, r: {index_put_: [e, [null, x], y]}}";
    assert!(!allowed(own), "the second index is out of range until the first is written");
    let views = "{x: {values: [1, 0, 0, 1]}, a: {index: [x, '::2']}, b: {index: [x, '::2']}, y: {values: [0, 1]}, \
                 r: {index_put_: [a, [b], y]}}";
    assert!(!allowed(views), "the second index is 0 until the first is written");
}

/// Findings of a campaign in gradients. The gradient of an expansion of a tensor without dimensions is a sum, which starts
/// at zero, so that it has no negative zero (`at::sum_to`). A leaf that `out=` has resized has no gradient of its shape.
/// nextafter keeps its operands for the gradient of the first alone. What the fallback has written through a view has no
/// gradient, though none of the operands is the view.
#[test]
fn gradients_that_a_campaign_found() {
    let expanded = "{x: {shape: [], requires_grad: true}, e: {broadcast_to: [x, []]}, r: {mul: [e, -0.0]}, \
                     b: {backward: [r]}, g: {grad: [x]}}";
    let reply = run(&loaded(expanded));
    let zero = reply.steps.last().and_then(|step| step.outcome.tensors().first()?.scalars().into_iter().next());
    assert!(matches!(zero, Some(Scalar::Float(zero)) if zero.to_bits() == 0), "{zero:?}");
    let kept = "{x: {shape: [], requires_grad: true}, y: {shape: []}, r: {nextafter: [y, x]}, w: {mul_: [y, 2]}, \
                 b: {backward: [r]}}";
    let last = run(&loaded(kept)).steps.pop().map(|step| step.outcome);
    assert!(matches!(last, Some(Outcome::Value(_))), "nothing is kept for its second operand: {last:?}");
    let fallback = "{x: {shape: [], requires_grad: true}, y: {shape: [1]}, v: {permute: [y, [0]]}, \
                     r: {heaviside: [x, y], out: v}, b: {backward: [y]}}";
    let last = run(&loaded(fallback)).steps.pop().map(|step| step.outcome);
    let Some(Outcome::Rejected(rejected)) = last else { panic!("no gradient: {last:?}") };
    assert_eq!(rejected.message, "derivative for aten::heaviside is not implemented");
    let resized = "{x: {shape: [1], requires_grad: true}, y: {shape: [1, 3]}, c: {clone: [x]}, \
                    r: {lt: [y, c], out: x}, b: {backward: [c]}}";
    let reply = run(&loaded(resized));
    let last = reply.steps.last().map(|step| &step.outcome);
    assert!(matches!(last, Some(Outcome::Unsupported(_))), "{last:?}");
}
