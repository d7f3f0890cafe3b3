//! Random programs on the reference and on an adapter, and every kind of difference with its simplest program.
//!
//! ```text
//! cargo run --release --example sweep -- ADAPTER PROGRAMS [SEED] [OP,OP,…] [all]
//! ```
//!
//! With operations named, programs are made of these alone (and `sum`, `backward` and `grad`, if they are named); with
//! `all` nothing is left out that [`Avoid`](broadcheck::generate::Avoid) leaves out, apart from what the reference lacks.
//! Prints how often each operation was a step, so that none is sampled too thinly.

use std::collections::BTreeMap;
use std::process::ExitCode;

use broadcheck::adapter::{CommandLine, Fault, Hello, Implementation, Limits, Process};
use broadcheck::case::render;
use broadcheck::generate::{self, Avoid, Options, shrink::shrink};
use broadcheck::harness::Aspect;
use broadcheck::harness::compare::{Side, compare};
use broadcheck::ops::Op;
use broadcheck::program::{Outcome, Program, Reply};
use broadcheck::reference::Reference;
use broadcheck::wording::skeleton;

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
    let mut steps: BTreeMap<Op, [usize; 2]> = BTreeMap::new();
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
            if let Ok(reply) = &reply {
                for (step, answer) in program.steps.iter().zip(&reply.steps) {
                    let [accepted, rejected] = steps.entry(step.op).or_default();
                    match answer.outcome {
                        Outcome::Value(_) => *accepted += 1,
                        Outcome::Rejected(_) => *rejected += 1,
                        _ => {}
                    }
                }
            }
            let Some((kind, text)) = difference(program, &hello, reply) else { continue };
            let seen = kinds.entry(kind.clone()).or_default();
            *seen += 1;
            if *seen == 1 {
                println!("--- {kind}\n{}", simplest(program, &mut libtorch, &hello, &kind, text));
            }
        }
    }
    println!("=== {made} programs");
    for (op, [accepted, rejected]) in &steps {
        println!("{:<36} {accepted:>9} accepted {rejected:>9} rejected", op.name());
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

/// splitmix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn difference(program: &Program, hello: &Hello, reply: Result<Reply, Fault>) -> Option<(String, String)> {
    let reply = match reply {
        Ok(reply) => reply,
        Err(fault) => return Some((format!("broken: {}", skeleton(&fault.to_string())), fault.stderr)),
    };
    let reference = Reference.hello();
    let wanted = match std::panic::catch_unwind(|| Reference.run(program)) {
        Ok(wanted) => wanted,
        Err(_) => return Some(("the reference panics".to_owned(), String::new())),
    };
    let differences = compare(program, Side { hello: &reference, reply: &wanted }, Side { hello, reply: &reply });
    let first = differences.first()?;
    let step = program.steps.iter().find(|step| first.value.split(['.', ' ']).next() == Some(&step.name));
    let call = step.map_or("an input".to_owned(), |step| format!("{} {:?}", step.op, step.form));
    let refused = |text: &str| if text.contains(": ") { skeleton(text) } else { "a value".to_owned() };
    let kind = match first.aspect {
        Aspect::Outcome => format!("{call}: {} / {}", refused(&first.expected), refused(&first.observed)),
        Aspect::Message | Aspect::Warnings => {
            format!("{call}: {} / {}", skeleton(&first.expected), skeleton(&first.observed))
        }
        aspect => format!("{call}: {}", aspect.name()),
    };
    let lines = differences.iter().map(|difference| {
        let (value, aspect) = (&difference.value, difference.aspect.name());
        format!("  {value} {aspect}\n    reference: {}\n    observed:  {}\n", difference.expected, difference.observed)
    });
    Some((kind, lines.collect()))
}

fn simplest(program: &Program, libtorch: &mut Process, hello: &Hello, kind: &str, found: String) -> String {
    let mut text = found;
    let simplest = shrink(program.clone(), |candidate| {
        let reply = libtorch.run_all(std::slice::from_ref(candidate)).remove(0);
        match difference(candidate, hello, reply).filter(|(found, _)| found == kind) {
            Some((_, found)) => {
                text = found;
                true
            }
            None => false,
        }
    });
    format!("program:\n{}{text}", render::program(&simplest))
}
