//! Programs that are run without elements come to what the reference comes to with them: the same rejections, shapes,
//! dtypes, strides and warnings, as far as elements do not decide.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use broadcheck::adapter::Implementation;
use broadcheck::error::Rejection;
use broadcheck::generate::{self, Options};
use broadcheck::ops::{Family, Op};
use broadcheck::program::{Arg, Input, Outcome, Program, Reply, Step, TensorValue, Value};
use broadcheck::reference::{Declared, Inferred, Reference, TensorFacts, infer};
use broadcheck::tensor::{Category, Shape};

/// The programs that are generated, unless `BROADCHECK_INFER` says how many.
const PROGRAMS: u64 = 20_000;

/// What the comparison of a program came to.
#[derive(Debug, Default)]
struct Counts {
    steps: u64,
    values: u64,
    rejected: u64,
    unknown: u64,
    /// The reference does not look at so many elements, or does not model it.
    unsupported: u64,
    /// Rejections that elements decide, or the memory of a process.
    by_elements: u64,
}

/// The inputs of a program, of which integers and booleans alone have elements.
fn declared(program: &Program) -> Vec<Declared> {
    let declare = |input: &Input| Declared {
        name: input.name.clone(),
        dtype: input.dtype,
        shape: input.shape.clone(),
        data: (input.dtype.category() < Category::Floating).then(|| input.data.clone()),
        requires_grad: input.requires_grad,
    };
    program.inputs.iter().map(declare).collect()
}

/// Compares the outcomes of a program up to the first that elements decide, and counts them.
fn compare(program: &Program, reply: &Reply, counts: &mut Counts) -> Result<(), String> {
    let outcomes = infer(&declared(program), &program.steps)?;
    for (at, (step, (inferred, observed))) in
        program.steps.iter().zip(outcomes.steps.iter().zip(&reply.steps)).enumerate()
    {
        counts.steps += 1;
        match (&inferred.outcome, &observed.outcome) {
            (_, Outcome::Unsupported(_) | Outcome::Failed(_)) => {
                counts.unsupported += 1;
                return Ok(());
            }
            (Inferred::Rejected(rejection), Outcome::Rejected(rejected))
                if rejection.to_string() == rejected.message =>
            {
                counts.rejected += 1;
            }
            // Which of several wrong indices is named depends on those that are not there.
            (Inferred::Rejected(Rejection::IndexRange { .. }), Outcome::Rejected(rejected))
                if by_elements(step.op, &rejected.message) =>
            {
                counts.by_elements += 1;
                return Ok(());
            }
            // What a process has of memory is looked at before what the kernel rejects.
            (_, Outcome::Rejected(rejected)) if rejected.message.contains("DefaultCPUAllocator") => {
                counts.by_elements += 1;
                return Ok(());
            }
            (Inferred::Unknown(_), _) => {
                counts.unknown += 1;
                return Ok(());
            }
            (
                Inferred::Tensor(_) | Inferred::Tensors(_) | Inferred::Number | Inferred::Nothing,
                Outcome::Rejected(rejected),
            ) if by_elements(step.op, &rejected.message) => {
                counts.by_elements += 1;
                return Ok(());
            }
            (Inferred::Blocked(a), Outcome::Blocked(b)) if a == b => {}
            (_, Outcome::Value(value)) if agrees(&inferred.outcome, value) => counts.values += 1,
            _ => {
                return Err(format!(
                    "step {at}, {} {:?}:\n  inferred {:?}\n  observed {:?}",
                    step.op,
                    step.form,
                    inferred.outcome,
                    brief(&observed.outcome)
                ));
            }
        }
        if inferred.warnings != observed.warnings {
            return Err(format!(
                "step {at}, {}: warnings\n  inferred {:?}\n  observed {:?}",
                step.op, inferred.warnings, observed.warnings
            ));
        }
    }
    if program.mutates() {
        for (inferred, observed) in outcomes.inputs.iter().zip(&reply.inputs) {
            if !same(inferred, observed) {
                return Err(format!("an input afterwards: {inferred:?}, {:?} {:?}", observed.shape, observed.strides));
            }
        }
    }
    Ok(())
}

/// The facts of an outcome without its elements.
fn brief(outcome: &Outcome) -> String {
    let tensors = match outcome {
        Outcome::Value(Value::Tensor(tensor)) => std::slice::from_ref(tensor),
        Outcome::Value(Value::Tensors(tensors)) => tensors,
        other => return format!("{other:?}"),
    };
    let facts = tensors.iter().map(|it| format!("{} {} {:?} {:?}", it.dtype, it.shape, it.strides, it.storage));
    facts.collect::<Vec<_>>().join(", ")
}

/// Returns whether elements decide a rejection: inference supposes that those that are not there raise none.
fn by_elements(op: Op, message: &str) -> bool {
    let indexing = op.info().family() == Family::Indexing;
    match message {
        "ZeroDivisionError" => true,
        "index out of range in self" | "Number of elements of source < number of ones in mask" => indexing,
        _ if message.ends_with("The solver failed because the input matrix is singular.") => true,
        _ => {
            let texts = [
                "is out of bounds for dimension",
                "INDICES element is out of DATA bounds",
                "value cannot be converted to type",
            ];
            indexing && texts.iter().any(|text| message.contains(text))
        }
    }
}

fn agrees(inferred: &Inferred, value: &Value) -> bool {
    match (inferred, value) {
        (Inferred::Tensor(facts), Value::Tensor(tensor)) => same(facts, tensor),
        (Inferred::Tensors(facts), Value::Tensors(tensors)) => {
            facts.len() == tensors.len() && facts.iter().zip(tensors).all(|(facts, tensor)| same(facts, tensor))
        }
        (Inferred::Sizes(sizes), Value::Sizes(others)) => sizes == others,
        (Inferred::Number, Value::Number(_)) | (Inferred::Nothing, Value::Nothing) => true,
        _ => false,
    }
}

fn same(facts: &TensorFacts, tensor: &TensorValue) -> bool {
    (facts.dtype, &facts.shape, Some(&facts.strides), Some(&facts.storage))
        == (tensor.dtype, &tensor.shape, tensor.strides.as_ref(), tensor.storage.as_ref())
}

/// The bytes of a generated program.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(20_261_124);
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    (0..64).flat_map(|_| next().to_le_bytes()).collect()
}

#[test]
fn generated_programs_come_to_the_same_without_elements() {
    let programs = std::env::var("BROADCHECK_INFER").ok().and_then(|text| text.parse().ok()).unwrap_or(PROGRAMS);
    let options = Options { gradients: 2, exclusions: Vec::new(), ..Options::default() };
    let (mut counts, mut faults) = (Counts::default(), BTreeMap::<String, (u64, String)>::new());
    for seed in 0..programs {
        let (program, reply) = generate::program_with_reply(&bytes(seed), &options);
        let Some(reply) = reply else { continue };
        if let Err(why) = compare(&program, &reply, &mut counts) {
            let key = why.lines().next().unwrap_or_default().split(',').nth(1).unwrap_or_default().to_owned();
            let text = format!("seed {seed}: {why}\n{}", broadcheck::case::render::program(&program));
            faults.entry(key).or_insert((0, text)).0 += 1;
        }
    }
    println!("{counts:?}");
    let text: Vec<String> =
        faults.into_iter().map(|(key, (count, text))| format!("== {key}: {count}\n{text}")).collect();
    assert!(text.is_empty(), "{}", text.join("\n"));
    let share = counts.unknown as f64 / counts.steps as f64;
    println!("unknown: {:.2} % of the steps", share * 100.0);
    assert!(share < 0.02, "{share}");
}

#[test]
fn cases_come_to_the_same_without_elements() {
    let specification = broadcheck::case::load(Path::new("spec")).unwrap();
    let (mut counts, mut faults) = (Counts::default(), Vec::new());
    for case in &specification.cases {
        let reply = Reference.run(&case.program);
        if let Err(why) = compare(&case.program, &reply, &mut counts) {
            faults.push(format!("{}: {why}", case.id));
        }
    }
    println!("{counts:?}");
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), specification.cases.len(), faults.join("\n"));
}

/// The factors of sizes beyond those that machines hold.
const FACTORS: &[i64] = &[1_000_000_000, 1_000_000, 1000];

/// The operations that no large operand is accepted by: that of one element, and the front end's functions without tensors.
const NEVER_LARGE: &[Op] = &[Op::Item, Op::BroadcastShapes, Op::BroadcastWarning];

/// A size that is larger: 0, 1 and 3 stay, for the rules that name them.
fn scaled(size: i64, factor: i64) -> i64 {
    if matches!(size, 0 | 1 | 3) { size } else { size.saturating_mul(factor) }
}

fn scaled_shape(shape: &Shape, factor: i64) -> Option<Shape> {
    Shape::new(shape.sizes().iter().map(|&size| scaled(size, factor)).collect()).ok()
}

/// A program of larger tensors, where there are such; the data of those that stay is kept.
fn larger(program: &Program, factor: i64) -> Option<(Vec<Declared>, Vec<Step>)> {
    let mut inputs = declared(program);
    for input in &mut inputs {
        let shape = scaled_shape(&input.shape, factor)?;
        input.data = input.data.take().filter(|_| shape == input.shape);
        input.shape = shape;
    }
    let mut steps = program.steps.clone();
    for step in &mut steps {
        for (arg, param) in step.args.iter_mut().zip(step.op.info().arguments) {
            if let (Arg::Ints(sizes), true) = (arg, param.name.contains("size") || param.name.contains("shape")) {
                sizes.iter_mut().for_each(|size| *size = if *size < 0 { *size } else { scaled(*size, factor) });
            }
        }
    }
    Some((inputs, steps))
}

#[test]
fn no_operation_looks_at_each_element() {
    let options = Options { gradients: 2, exclusions: Vec::new(), ..Options::default() };
    let mut large: BTreeSet<&str> = BTreeSet::new();
    let (mut worst, mut spent) = (Duration::ZERO, Duration::ZERO);
    for seed in 0..PROGRAMS {
        let program = generate::program(&bytes(seed), &options);
        for &factor in FACTORS {
            let Some((inputs, steps)) = larger(&program, factor) else { continue };
            let begun = Instant::now();
            let outcomes = infer(&inputs, &steps).unwrap();
            let took = begun.elapsed();
            (worst, spent) = (worst.max(took), spent + took);
            assert!(took < Duration::from_secs(3), "seed {seed}, {factor}: {took:?}");
            let mut facts: Vec<Vec<TensorFacts>> = Vec::new();
            for (step, outcome) in steps.iter().zip(&outcomes.steps) {
                let read = step.uses().map(|used| match used.value.checked_sub(inputs.len()) {
                    None => inputs[used.value].shape.numel(),
                    Some(at) => facts[at].iter().map(|it| it.shape.numel()).max().unwrap_or(0),
                });
                let there = !matches!(
                    outcome.outcome,
                    Inferred::Rejected(_) | Inferred::Blocked(_) | Inferred::Unsupported(_) | Inferred::Malformed(_)
                );
                if there && read.max().unwrap_or(0) >= 100_000_000 {
                    large.insert(step.op.name());
                }
                facts.push(outcome.outcome.tensors().to_vec());
            }
        }
    }
    println!("{} operations, the slowest program {worst:?}, all of them {spent:?}", large.len());
    let missing: Vec<Op> = Op::ALL.iter().copied().filter(|op| !large.contains(op.name())).collect();
    assert_eq!(missing, NEVER_LARGE);
}
