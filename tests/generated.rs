//! Exact snapshots of what libtorch makes of generated programs: for each operation one that is accepted, one that is
//! rejected, and one whose gradient is asked for, always the same ones. A release that does otherwise shows it as a
//! snapshot that differs; `cargo insta review` goes through them. The operations of a family are one trial and one file.
//!
//! Nothing is held to be right here: that is for the specification and for the comparison with the reference.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use broadcheck::adapter::Implementation;
use broadcheck::generate::Options;
use broadcheck::harness::campaign::cases;
use broadcheck::harness::format;
use broadcheck::harness::oracles::comparison::{Side, from_reference};
use broadcheck::ops::{Family, Op};
use broadcheck::program::{Arg, Outcome, Program, Reply, Value, ValueRef};
use broadcheck::reference::Reference;
use libtest_mimic::{Arguments, Failed, Trial};

/// The seed of the programs.
const SEED: u64 = 20261121;

/// The number of programs that are searched for one of each kind.
const TRIES: u64 = 1500;

/// The kind of a program that is rejected at its last step.
const REJECTED: &str = "rejected";

/// The number of kinds.
const KINDS: usize = 3;

/// The most elements of their inputs, so that they can be read.
const ELEMENTS: usize = 48;

/// Further operations that a program about an operation can have: views, for the layouts, and those that gradients
/// need.
const AROUND: &[Op] = &[Op::Transpose, Op::Expand, Op::Sum, Op::Backward, Op::Grad];

/// The trial that finds snapshots of no family.
const ORPHANS: &str = "no-orphans";

/// The replies of libtorch, by operation.
type Replies = Result<Vec<(Op, Vec<Shown>)>, String>;

/// A program, its purpose here, and its outcome.
struct Shown {
    kind: &'static str,
    program: Program,
    reply: Result<Reply, String>,
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let selected = |name: &str| !args.list && !args.is_filtered_out(&Trial::test(name, || Ok(())));
    let families = families();
    let wanted: Vec<Op> =
        families.iter().filter(|(name, _)| selected(name)).flat_map(|(_, ops)| ops.iter().copied()).collect();
    let replies: Arc<LazyLock<Replies, _>> = Arc::new(LazyLock::new(move || replies(&wanted)));
    let mut trials: Vec<Trial> = Vec::new();
    for (name, ops) in families {
        let replies = Arc::clone(&replies);
        trials.push(Trial::test(name.clone(), move || snapshot(&name, &ops, (**replies).as_ref()?)));
    }
    trials.push(Trial::test(ORPHANS, no_orphans));
    libtest_mimic::run(&args, trials).exit_code()
}

/// The operations by the name of their family.
fn families() -> BTreeMap<String, Vec<Op>> {
    let mut families: BTreeMap<String, Vec<Op>> = BTreeMap::new();
    for op in Op::ALL.iter().copied().filter(|op| !op.is_front_end()) {
        families.entry(format!("{:?}", op.info().family()).to_lowercase()).or_default().push(op);
    }
    families
}

/// Makes the programs and runs them together.
fn replies(ops: &[Op]) -> Replies {
    let mut candidate = common::libtorch()?;
    let mut shown: Vec<(Op, &'static str, Program)> = Vec::new();
    for &op in ops {
        shown.extend(programs(op).into_iter().map(|(kind, program)| (op, kind, program)));
    }
    let programs: Vec<Program> = shown.iter().map(|(_, _, program)| program.clone()).collect();
    let mut came: Vec<Option<Result<Reply, String>>> = vec![None; programs.len()];
    candidate.runner.run_each(&programs, |at, result| came[at] = Some(result.map_err(|fault| fault.to_string())));
    let hello = candidate.runner.hello();
    let mut replies: Vec<(Op, Vec<Shown>)> = ops.iter().map(|op| (*op, Vec::new())).collect();
    for ((op, kind, program), reply) in shown.into_iter().zip(came) {
        let reply = reply.ok_or("a program was not run")?.map(|reply| {
            let expected = Reference.run(&program);
            let reference = Reference.hello();
            let expected_side = Side { hello: &reference, reply: &expected };
            let same = from_reference(&program, expected_side, Side { hello: &hello, reply: &reply }).is_empty();
            if same { with_elements_of(reply, &expected) } else { reply }
        });
        let of_op = replies.iter_mut().find(|(of, _)| *of == op).map(|(_, of_op)| of_op);
        of_op.ok_or("an operation was not asked for")?.push(Shown { kind, program, reply });
    }
    Ok(replies)
}

/// The first programs of the seed about an operation: accepted, rejected, and differentiated.
fn programs(op: Op) -> Vec<(&'static str, Program)> {
    let mut ops = AROUND.to_vec();
    ops.push(op);
    ops.sort_unstable();
    ops.dedup();
    let options = Options { ops, large: 0, ..Options::comparable(&Reference.hello()) };
    let mut found: Vec<(&'static str, Program)> = Vec::new();
    for case in 0..TRIES {
        let made = cases::make(SEED, case, &options);
        let (program, Ok(reply)) = (made.program, made.expected) else { continue };
        let Some(at) = program.steps.iter().position(|step| step.op == op) else { continue };
        let elements: usize = program.inputs.iter().map(|input| input.shape.numel()).sum();
        let last = program.steps.len() - 1;
        let accepted = |at: usize| matches!(reply.steps[at].outcome, Outcome::Value(_));
        let kind = match &reply.steps[last].outcome {
            _ if elements > ELEMENTS || !(0..last).all(accepted) => continue,
            _ if (op.info().family() == Family::Products || matches!(op, Op::Quantile | Op::Nanquantile))
                && writes_to_what_it_reads(&program, &reply, at) =>
            {
                continue;
            }
            _ if matches!(op, Op::Median | Op::Nanmedian) && reads_expanded(&program, &reply, at) => continue,
            Outcome::Value(Value::Tensor(_)) if program.steps[last].op == Op::Grad => "differentiated",
            Outcome::Value(_) if at == last => "accepted",
            Outcome::Rejected(_) if at == last => REJECTED,
            _ => continue,
        };
        if !found.iter().any(|(other, _)| *other == kind) {
            found.push((kind, program));
        }
        if found.len() == KINDS {
            break;
        }
    }
    found.sort_by_key(|(kind, _)| *kind);
    found
}

/// Returns whether `out=` of a step is in the storage of an operand. What libtorch then makes of a product or a quantile
/// is a known divergence, and depends on the vector instructions of the processor or on what the memory held.
fn writes_to_what_it_reads(program: &Program, reply: &Reply, at: usize) -> bool {
    let storage = |value: ValueRef| match value.value.checked_sub(program.inputs.len()) {
        None => Some(value.value),
        Some(step) => {
            let made = &reply.steps.get(step)?.outcome;
            Some(made.tensors().get(value.part.unwrap_or(0))?.storage?.id)
        }
    };
    let step = &program.steps[at];
    step.out.is_some_and(|out| step.args.iter().flat_map(Arg::uses).any(|used| storage(used) == storage(out)))
}

/// Returns whether an operand of a step is expanded. libtorch then looks for a median in memory beyond it, a known
/// divergence that finds what happens to be there.
fn reads_expanded(program: &Program, reply: &Reply, at: usize) -> bool {
    let is_expanded = |value: ValueRef| {
        let step = value.value.checked_sub(program.inputs.len())?;
        let tensor = reply.steps.get(step)?.outcome.tensors().get(value.part.unwrap_or(0))?;
        Some(
            tensor
                .shape
                .sizes()
                .iter()
                .zip(tensor.strides.as_ref()?.iter())
                .any(|(&size, &stride)| size > 1 && stride == 0),
        )
    };
    program.steps[at].args.iter().flat_map(Arg::uses).any(|used| is_expanded(used).unwrap_or(false))
}

/// A reply with the elements that the reference has for it: the two are the same as far as anything is promised, and
/// what is not, the last bits of functions and sums, differs from processor to processor.
fn with_elements_of(mut reply: Reply, expected: &Reply) -> Reply {
    let tensors = |reply: &Reply| -> Vec<Vec<u8>> {
        let steps = reply.steps.iter().flat_map(|step| step.outcome.tensors());
        steps.chain(&reply.inputs).map(|tensor| tensor.data.clone()).collect()
    };
    let mut elements = tensors(expected).into_iter();
    let mut replace = |data: &mut Vec<u8>| {
        if let Some(elements) = elements.next().filter(|elements| elements.len() == data.len()) {
            *data = elements;
        }
    };
    for step in &mut reply.steps {
        match &mut step.outcome {
            Outcome::Value(Value::Tensor(tensor)) => replace(&mut tensor.data),
            Outcome::Value(Value::Tensors(tensors)) => tensors.iter_mut().for_each(|tensor| replace(&mut tensor.data)),
            _ => {}
        }
    }
    reply.inputs.iter_mut().for_each(|tensor| replace(&mut tensor.data));
    reply
}

fn snapshot(family: &str, ops: &[Op], replies: &[(Op, Vec<Shown>)]) -> Result<(), Failed> {
    let mut text = String::new();
    for op in ops {
        let (_, shown) = replies.iter().find(|(of, _)| of == op).ok_or("an operation was not run")?;
        if !shown.iter().any(|shown| shown.kind != REJECTED) {
            return Err(format!("none of {TRIES} programs about {op} is accepted").into());
        }
        for Shown { kind, program, reply } in shown {
            let transcript = format::transcript(program, reply.as_ref().map_err(String::as_str)?);
            common::entry(&mut text, &format!("{op}, {kind}"), &transcript);
        }
    }
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(snapshots());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(family, text));
    Ok(())
}

/// Every snapshot is one of a family.
fn no_orphans() -> Result<(), Failed> {
    Ok(common::no_orphans(&snapshots(), families().into_keys())?)
}

fn snapshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/generated")
}
