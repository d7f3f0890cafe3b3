//! Random programs on the reference and on an adapter, and every kind of difference with its simplest program.
//!
//! ```text
//! cargo run --release --example sweep -- ADAPTER PROGRAMS [SEED] [OP,OP,…] [all]
//! ```
//!
//! With operations named, programs are made of these alone (and `sum`, `backward` and `grad`, if they are named); with
//! `all` nothing is left out that [`Avoid`](broadcheck::generate::Avoid) leaves out, apart from what the reference lacks.
//! Prints how often each operation was a step that both sides answered, so that none is sampled too thinly, and how often
//! one of them did not support it.

use std::collections::BTreeMap;
use std::process::ExitCode;

use broadcheck::adapter::{CommandLine, Fault, Hello, Implementation, Limits, Process};
use broadcheck::case::render;
use broadcheck::generate::{self, Avoid, Options, shrink::shrink};
use broadcheck::harness::compare::{Side, compare};
use broadcheck::harness::finding::{Finding, Oracle};
use broadcheck::ops::Op;
use broadcheck::program::{Outcome, Program, Reply};
use broadcheck::reference::Reference;

const BATCH: usize = 64;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [adapter, count, rest @ ..] = args.as_slice() else {
        eprintln!("usage: sweep ADAPTER PROGRAMS [SEED] [OP,OP,…] [all]");
        return ExitCode::from(2);
    };
    let count: usize = count.parse().expect("a number of programs");
    let mut seed: u64 = rest.first().map_or(1, |seed| seed.parse().expect("a seed"));
    let mut libtorch = Process::start(CommandLine::new(adapter), Limits { restarts: 100_000, ..Limits::default() })
        .expect("the adapter starts");
    let hello = libtorch.hello().clone();
    let mut options = Options::comparable(&hello);
    if let Some(names) = rest.get(1).filter(|names| *names != "all") {
        let named = |name: &str| Op::parse(name).unwrap_or_else(|| panic!("no operation {name}")).0;
        options.ops = names.split(',').map(named).collect();
    }
    if rest.iter().any(|word| word == "all") {
        options.avoid = Avoid::GAPS.to_vec();
    }
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut steps: BTreeMap<Op, Judged> = BTreeMap::new();
    let mut made = 0;
    while made < count {
        let programs: Vec<Program> = (0..BATCH)
            .map(|_| {
                let length = 96 + random(&mut seed) as usize % 672;
                let bytes: Vec<u8> = (0..length).map(|_| random(&mut seed) as u8).collect();
                generate::program(&bytes, &options)
            })
            .collect();
        made += programs.len();
        let replies = libtorch.run_all(&programs);
        for (program, reply) in programs.iter().zip(replies) {
            let Some((kind, text)) = difference(program, &hello, reply, &mut steps) else { continue };
            let seen = kinds.entry(kind.clone()).or_default();
            *seen += 1;
            if *seen == 1 {
                println!("--- {kind}\n{}", simplest(program, &options, &mut libtorch, &kind, text));
            }
        }
    }
    println!("=== {made} programs");
    for (op, Judged { accepted, rejected, unsupported }) in &steps {
        println!("{:<36} {accepted:>9} accepted {rejected:>9} rejected {unsupported:>9} not supported", op.name());
    }
    for op in options.ops.iter().filter(|op| !steps.contains_key(op)) {
        println!("{:<36} never", op.name());
    }
    println!("=== {} kinds of differences", kinds.len());
    for (kind, count) in &kinds {
        println!("{count:>7} × {kind}");
    }
    if kinds.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How often an operation was a step that both sides answered, by libtorch's answer, and that one of them did not.
#[derive(Default)]
struct Judged {
    accepted: usize,
    rejected: usize,
    unsupported: usize,
}

/// splitmix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The kind of the first difference and the text of all, if there is one; counts what was judged.
fn difference(
    program: &Program,
    hello: &Hello,
    reply: Result<Reply, Fault>,
    steps: &mut BTreeMap<Op, Judged>,
) -> Option<(String, String)> {
    let reply = match reply {
        Ok(reply) => reply,
        Err(fault) => {
            let text = fault.stderr.clone();
            return Some((Finding::of_fault(Oracle::Reference, program, fault).signature.to_string(), text));
        }
    };
    let reference = Reference.hello();
    let wanted = match std::panic::catch_unwind(|| Reference.run(program)) {
        Ok(wanted) => wanted,
        Err(_) => return Some(("the reference panics".to_owned(), String::new())),
    };
    for (step, answers) in program.steps.iter().zip(wanted.steps.iter().zip(&reply.steps)) {
        let judged = steps.entry(step.op).or_default();
        match (&answers.0.outcome, &answers.1.outcome) {
            (Outcome::Unsupported(_), _) | (_, Outcome::Unsupported(_)) => judged.unsupported += 1,
            (_, Outcome::Value(_)) => judged.accepted += 1,
            (_, Outcome::Rejected(_)) => judged.rejected += 1,
            _ => {}
        }
    }
    let differences = compare(program, Side { hello: &reference, reply: &wanted }, Side { hello, reply: &reply });
    let finding = Finding::of_differences(Oracle::Reference, program, differences)?;
    let lines = finding.differences.iter().map(|difference| {
        let (value, aspect) = (&difference.value, difference.aspect.name());
        format!("  {value} {aspect}\n    reference: {}\n    observed:  {}\n", difference.expected, difference.observed)
    });
    Some((finding.signature.to_string(), lines.collect()))
}

fn simplest(program: &Program, options: &Options, libtorch: &mut Process, kind: &str, found: String) -> String {
    let hello = libtorch.hello().clone();
    let mut text = found;
    let simplest = shrink(program.clone(), |candidate| {
        if !generate::allows(options, candidate) {
            return false;
        }
        let reply = libtorch.run_all(std::slice::from_ref(candidate)).remove(0);
        match difference(candidate, &hello, reply, &mut BTreeMap::new()).filter(|(found, _)| found == kind) {
            Some((_, found)) => {
                text = found;
                true
            }
            None => false,
        }
    });
    format!("program:\n{}{text}", render::program(&simplest))
}
