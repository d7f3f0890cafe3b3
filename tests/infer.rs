//! Inference without elements agrees with the reference: the same rejections, shapes, dtypes, strides and warnings, as far as
//! elements do not decide. `explain`, which reads the same programs as Python, agrees with it too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use broadcheck::adapter::Implementation;
use broadcheck::case::render;
use broadcheck::error::{Class, Rejection};
use broadcheck::explanations::Verdict;
use broadcheck::generate::{self, Options};
use broadcheck::harness::triage;
use broadcheck::ops::{Family, Op};
use broadcheck::program::{Arg, Input, Outcome, Program, Reply, Step, TensorValue, Value};
use broadcheck::reference::{Declared, Inferred, Reference, TensorFacts, infer};
use broadcheck::tensor::shape::bracketed;
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
            // The singular values come before what is made of them, probabilities before their weights, and fractions before
            // the target.
            (Inferred::Rejected(_), Outcome::Rejected(rejected))
                if rejected.message.contains("failed to converge")
                    || rejected.message.ends_with("should be between 0 and 1")
                    || rejected.message.ends_with("std >= 0.0")
                    || rejected.message == "quantile() q values must be in the range [0, 1]" =>
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
                Inferred::Tensor(_) | Inferred::Tensors(_) | Inferred::Number | Inferred::Dtype(_) | Inferred::Nothing,
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
        "ZeroDivisionError" | "normal expects all elements of std >= 0.0" => true,
        _ if message.starts_with("all elements of") && message.ends_with("should be between 0 and 1") => true,
        _ if message.starts_with("Expected p_in >= 0 && p_in <= 1") => true,
        "quantile() q values must be in the range [0, 1]" => true,
        _ if message.starts_with("Pivots given to lu_solve must all be") => true,
        _ if message.contains("failed to converge because the input matrix contained non-finite values") => true,
        "index out of range in self" | "Number of elements of source < number of ones in mask" => indexing,
        _ if message.ends_with("The solver failed because the input matrix is singular.") => true,
        _ => {
            let texts = [
                "is out of bounds for dimension",
                "INDICES element is out of DATA bounds",
                "value cannot be converted to type",
                "out of range: tried to access index",
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
        (Inferred::Dtype(dtype), Value::Dtype(other)) => dtype == other,
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

/// What the comparison with `explain` came to.
#[derive(Debug, Default)]
struct Explained {
    accepted: u64,
    rejected: u64,
    /// Elements decide.
    by_elements: u64,
    /// The reference does not model it.
    unsupported: u64,
    /// Drawings that show the whole call.
    drawn: u64,
    /// Programs that end in a function of sizes, which has no operands to draw.
    of_sizes: u64,
}

/// Asks `explain` for a program as Python, up to the first step that is rejected, and compares the answers.
fn compare_explained(program: &Program, reply: &Reply, counts: &mut Explained) -> Result<(), String> {
    let rejected = |outcome: &Outcome| matches!(outcome, Outcome::Rejected(_));
    let last = reply.steps.iter().position(|step| rejected(&step.outcome)).unwrap_or(program.steps.len() - 1);
    let outcome = &reply.steps[last].outcome;
    if reply.steps[..=last].iter().any(|step| matches!(step.outcome, Outcome::Unsupported(_) | Outcome::Failed(_))) {
        counts.unsupported += 1;
        return Ok(());
    }
    let mut lines = Vec::new();
    let mut asked = Vec::new();
    let mut options = broadcheck::Options::default();
    let gradients = program.inputs.iter().any(|input| input.requires_grad);
    for (at, input) in program.inputs.iter().enumerate() {
        let name = triage::input_name(program, at);
        asked.push(format!("{name}=torch.Size({})", bracketed(input.shape.sizes())));
        options.dtypes.push(format!("{name}={}", input.dtype));
        if gradients || program.steps.iter().any(|step| step.op == Op::Backward) {
            let flag = if input.requires_grad { "" } else { "False" };
            lines.push(format!("{name}.requires_grad_({flag})"));
        }
    }
    lines.extend(triage::statements(program).into_iter().take(last + 1));
    let python = lines.join("\n");
    asked.insert(0, python.clone());
    let told = |what: String| format!("{}, {}: {what}\n{}", last, program.steps[last].op, asked.join("\n"));
    let answer = broadcheck::explain(&asked, &options).map_err(|error| told(error.to_string()))?;
    let failing = answer.drawing.as_ref().and_then(|drawing| drawing.rules.iter().find(|rule| !rule.holds));
    let message = answer.message.clone().unwrap_or_default();
    match (outcome, answer.verdict) {
        (_, Verdict::Unknown) => counts.by_elements += 1,
        // The front end in Python rejects such a gradient before libtorch sees it.
        (_, Verdict::Rejected) if message.starts_with("Mismatch in shape: grad_output") => {
            assert!(program.steps[..=last].iter().any(|step| step.op == Op::Backward), "{python}");
        }
        (Outcome::Rejected(rejected), Verdict::Accepted | Verdict::Rejected)
            if by_elements(program.steps[last].op, &rejected.message)
                || rejected.message.contains("DefaultCPUAllocator") =>
        {
            counts.by_elements += 1;
            // The shapes meet, and are drawn as those of a call that is accepted.
            counts.drawn += u64::from(answer.drawing.is_some() && failing.is_none());
        }
        (Outcome::Rejected(rejected), Verdict::Rejected) => {
            let own = message.as_str();
            // PyTorch in Python names types of tensors otherwise.
            let plain = |message: &str| {
                ["CPU", "Type", "torch.", "Tensor"].iter().fold(message.to_owned(), |text, part| text.replace(part, ""))
            };
            if plain(own) != plain(&rejected.message) {
                return Err(told(format!("message {own:?}, not {:?}", rejected.message)));
            }
            counts.rejected += 1;
            counts.drawn += u64::from(failing.is_some());
            let shapes = matches!(
                broadcheck::messages::classify(&rejected.message),
                Some(Class::SizeMismatch | Class::OutputShape | Class::Expand | Class::ProductShape)
            );
            if shapes && answer.drawing.is_some() && failing.is_none() {
                return Err(told(format!("{own:?} is rejected, and the drawing has no reason")));
            }
        }
        (Outcome::Value(value), Verdict::Accepted) => {
            counts.accepted += 1;
            let result = answer.result.as_ref().map(|result| (result.shape.clone(), result.dtype.clone()));
            let facts = |tensor: &TensorValue| (bracketed(tensor.shape.sizes()), tensor.dtype.name().to_owned());
            let expected = match value {
                Value::Tensor(tensor) => Some(facts(tensor)),
                Value::Tensors(tensors) => tensors.first().map(facts),
                Value::Sizes(sizes) => Some((bracketed(sizes), String::new())),
                Value::Number(_) | Value::Dtype(_) | Value::Nothing => None,
            };
            if expected.is_some() && result != expected {
                return Err(told(format!("result {result:?}, not {expected:?}")));
            }
            if let Some(rule) = failing {
                return Err(told(format!("accepted, and the drawing says {:?}", rule.text)));
            }
            if let Some(drawing) = &answer.drawing {
                counts.drawn += 1;
                // What is reduced after it was broadcast is called so.
                let row = drawing.rows.iter().find(|row| row.result && row.name != "broadcast");
                let shape = row.map(|row| &row.shape);
                let call = answer.result.as_ref().map(|result| &result.shape);
                // The drawing is of the call that decides, which need not be the last one.
                if program.steps.len() == 1 && shape.is_some() && call.is_some() && shape != call {
                    return Err(told(format!("the drawing ends in {shape:?}, and the call in {call:?}")));
                }
            }
        }
        (outcome, verdict) => {
            return Err(told(format!("{verdict:?} {message:?}, not {}", brief(outcome))));
        }
    }
    Ok(())
}

#[test]
fn explanations_of_generated_programs_agree_with_the_reference() {
    let programs = std::env::var("BROADCHECK_INFER").ok().and_then(|text| text.parse().ok()).unwrap_or(PROGRAMS / 4);
    let options = Options { gradients: 2, exclusions: Vec::new(), ..Options::default() };
    let (mut counts, mut faults) = (Explained::default(), BTreeMap::<String, (u64, String)>::new());
    for seed in 0..programs {
        let (program, reply) = generate::program_with_reply(&bytes(seed), &options);
        let Some(reply) = reply.filter(|reply| !reply.steps.is_empty()) else { continue };
        let last = program.steps.last().expect("it has an answer");
        counts.of_sizes +=
            u64::from(last.op.info().family() == Family::Sizes || last.op.info().family() == Family::Dtypes);
        if let Err(why) = compare_explained(&program, &reply, &mut counts) {
            let key = why.lines().next().unwrap_or_default().split(", ").nth(1).unwrap_or_default().to_owned();
            let key = key.split('"').next().unwrap_or_default().to_owned();
            faults.entry(key).or_insert((0, format!("seed {seed}: {why}"))).0 += 1;
        }
    }
    println!("{counts:?}");
    let text: Vec<String> =
        faults.into_iter().map(|(key, (count, text))| format!("== {key}: {count}\n{text}")).collect();
    assert!(text.is_empty(), "{}", text.join("\n"));
    // Views, reductions to a number and gradients have no shapes that meet.
    let of_tensors = programs - counts.of_sizes;
    assert!(counts.drawn * 5 > of_tensors * 2, "{} of {of_tensors} are drawn", counts.drawn);
}

/// The factors of sizes beyond those that machines hold.
const FACTORS: &[i64] = &[1_000_000_000, 1_000_000, 1000];

/// The operations that have no operand.
const NEVER_LARGE: &[Op] = &[
    Op::BroadcastShapes,
    Op::BroadcastWarning,
    Op::InferSize,
    Op::AreExpandable,
    Op::IsExpandableTo,
    Op::PromoteTypes,
    Op::CanCast,
];

/// A size that is larger: 0, 1 and 3 stay, for the rules that name them.
fn scaled(size: i64, factor: i64) -> i64 {
    if matches!(size, 0 | 1 | 3) { size } else { size.saturating_mul(factor) }
}

fn scaled_shape(shape: &Shape, factor: i64) -> Option<Shape> {
    Shape::new(shape.sizes().iter().map(|&size| scaled(size, factor)).collect()).ok()
}

/// The program with inputs that have no elements and large sizes beside.
fn empty(program: &Program) -> Option<Program> {
    let mut program = program.clone();
    for (at, input) in program.inputs.iter_mut().enumerate() {
        let mut sizes: Vec<i64> = input.shape.sizes().iter().map(|&size| scaled(size, FACTORS[0])).collect();
        let rank = sizes.len().max(1);
        // Another dimension each time, so that the large ones come before it and after it.
        *sizes.get_mut(at % rank)? = 0;
        input.shape = Shape::new(sizes).ok()?;
        input.data = Vec::new();
    }
    Some(program)
}

#[test]
fn no_operation_loops_over_the_sizes_of_nothing() {
    let options = Options { gradients: 2, exclusions: Vec::new(), ..Options::default() };
    let (said, hears) = mpsc::channel();
    let worker = thread::spawn(move || {
        for seed in 0..PROGRAMS {
            let program = generate::program(&bytes(seed), &options);
            let Some(program) = empty(&program) else { continue };
            said.send(render::program(&program)).expect("the test waits");
            Reference.run(&program);
        }
    });
    // A program takes microseconds; a loop over 10^9 sizes or more does not end.
    let mut last = String::new();
    loop {
        match hears.recv_timeout(Duration::from_secs(30)) {
            Ok(program) => last = program,
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("this takes longer than 30 s:\n{last}"),
        }
    }
    assert!(!last.is_empty(), "no program has operands without elements");
    assert!(worker.join().is_ok(), "the reference panics over this:\n{last}");
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
    for seed in 0..2 * PROGRAMS {
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
    // `item` takes one element, which a large operand has after `out=` resized it.
    let every = Op::ALL.iter().copied().filter(|op| *op != Op::Item);
    let missing: Vec<Op> = every.filter(|op| !large.contains(op.name())).collect();
    assert_eq!(missing, NEVER_LARGE);
}
