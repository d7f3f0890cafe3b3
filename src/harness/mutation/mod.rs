//! Mutation testing of the oracles: faults planted in an implementation, one at a time, and how soon they are found.
//!
//! A mutant is the reference with one fault. Generated programs are run on it until an oracle finds it, and what is found
//! is cut down to its simplest program. The programs follow from the seed alone. The reference without a fault is run on
//! as many programs, and whatever is found in it is a false report.

mod catalog;
mod planted;
pub mod wrong_replies;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use broadcheck_oracles::difference::DISPUTED;
use serde::Serialize;

use crate::adapter::Implementation;
use crate::model::finding::{Finding, Oracle, Signature};
use crate::ops::Op;
use crate::oracles::comparison::{Side, from_reference};
use crate::oracles::mathematics;
use crate::oracles::metamorphic::{self, reference_exceptions::followed};
use crate::program::{Arg, Program, Reply, Step};
use crate::reference::Reference;
use crate::tensor::Scalar;
use crate::{
    generate::{self, Options},
    reduce::shrink,
};

pub use catalog::{NONE, all, common};
pub use planted::{How, Seen};

/// The reference with a fault.
///
/// ```
/// let mutant = broadcheck_harness::mutation::all().find(|mutant| mutant.id == "one-against-zero").unwrap();
/// assert_eq!((mutant.family, mutant.what), ("shapes", "a 1 and a 0 broadcast to 1"));
/// ```
pub struct Mutant {
    /// Its name.
    pub id: &'static str,
    /// The kind of the fault.
    pub family: &'static str,
    /// The error that it makes, in a few words.
    pub what: &'static str,
    how: How,
}

/// The settings of a search for faults.
#[derive(Clone, Debug)]
pub struct Search {
    /// The seed of the programs.
    pub seed: u64,
    /// The most programs for each mutant.
    pub programs: usize,
    /// The number of programs more that the second oracle gets, once one of them has found the fault.
    pub patience: usize,
    /// True if the reference has the fault as well, so that it sees nothing.
    pub common: bool,
}

impl Default for Search {
    fn default() -> Search {
        Search { seed: 1, programs: 40_000, patience: 300, common: false }
    }
}

/// The outcome of the search for one mutant.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The mutant.
    pub id: &'static str,
    /// Its kind.
    pub family: &'static str,
    /// The error that the mutant makes.
    pub what: &'static str,
    /// The oracles that found it, each with what it called it. The one that was first comes first.
    pub found: Vec<Found>,
    /// The programs that were run.
    pub programs: usize,
    /// The time that all of it took.
    pub seconds: f64,
}

/// The finding of one oracle.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// The oracle.
    pub oracle: Oracle,
    /// The signature of the finding.
    pub signature: Signature,
    /// The number of programs that it took.
    pub programs: usize,
    /// The seconds that it took.
    pub seconds: f64,
    /// The simplest program that shows it, in steps and in elements of inputs.
    pub steps: usize,
    /// The elements of its inputs.
    pub elements: usize,
}

/// The outcomes of all mutants.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The seed of the programs.
    pub seed: u64,
    /// The reference without a fault: everything that is found in it is a false report.
    pub control: Outcome,
    /// The mutants, in the order in which they were given.
    pub mutants: Vec<Outcome>,
}

impl Report {
    /// Returns whether enough faults were found that the reference shares, and nothing where there is none.
    pub fn is_independent(&self) -> bool {
        let found = self.mutants.iter().filter(|mutant| !mutant.found.is_empty()).count();
        found > 0 && found * 100 >= self.mutants.len() * COMMON_SHARE && self.control.found.is_empty()
    }

    /// Returns whether each fault was found, and nothing where there is none.
    pub fn has_teeth(&self) -> bool {
        !self.mutants.is_empty()
            && self.mutants.iter().all(|mutant| !mutant.found.is_empty())
            && self.control.found.is_empty()
    }
}

/// Looks for each of the mutants, several at a time; `progress` gets each outcome.
pub fn run(mutants: &[&'static Mutant], search: &Search, jobs: usize, progress: impl Fn(&Outcome) + Sync) -> Report {
    let queue: Vec<&Mutant> = [NONE].into_iter().chain(mutants.iter().copied()).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(vec![None; queue.len()]));
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some((at, mutant)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, *queue.get(at)?)))
                {
                    let outcome = look_for(mutant, search);
                    progress(&outcome);
                    done.lock().expect("no thread panics with it")[at] = Some(outcome);
                }
            });
        }
    });
    let done = done.into_inner().expect("no thread panics with it");
    let mut done = done.into_iter().map(|outcome| outcome.expect("every mutant was taken from the queue"));
    let control = done.next().expect("the control is the first");
    Report { seed: search.seed, control, mutants: done.collect() }
}

/// Runs programs on one mutant until both oracles have found it, or one has and the other had its time.
pub fn look_for(mutant: &Mutant, search: &Search) -> Outcome {
    let start = Instant::now();
    let options = Options::comparable(&mutant.hello());
    let mut found: Vec<Found> = Vec::new();
    let mut state = search.seed;
    let mut programs = 0;
    let oracles = if search.common { COMMON } else { ORACLES };
    while programs < search.programs && found.len() < oracles.len() {
        if found.first().is_some_and(|found| programs - found.programs >= search.patience) {
            break;
        }
        let program = generate(&mut state, &options);
        programs += 1;
        for oracle in oracles {
            if found.iter().any(|found| found.oracle == oracle) {
                continue;
            }
            if let Some(finding) = judge(mutant, oracle, &program, false) {
                let seconds = start.elapsed().as_secs_f64();
                let signature = finding.signature;
                let simplest = shrink(program.clone(), |candidate| {
                    judge(mutant, oracle, candidate, true).is_some_and(|finding| finding.signature == signature)
                });
                let (steps, elements) = (simplest.steps.len(), elements(&simplest));
                found.push(Found { oracle, signature, programs, seconds, steps, elements });
            }
        }
    }
    let Mutant { id, family, what, .. } = mutant;
    Outcome { id, family, what, found, programs, seconds: start.elapsed().as_secs_f64() }
}

const ORACLES: [Oracle; 2] = [Oracle::Reference, Oracle::Definition];

/// The oracles that do not know the reference.
const COMMON: [Oracle; 2] = [Oracle::Mathematics, Oracle::Definition];

/// The share of common faults that has to be found, in percent.
const COMMON_SHARE: usize = 90;

/// Operations whose results contradict mathematics in libtorch, and in the reference, which follows it: what the authority,
/// the expectation or the observation has in it there, and the fault.
const FOLLOWED: &[(Op, &[&str], &str)] = &[
    (Op::Ldexp, &[], "0 and what is subnormal are multiplied by a power of two that overflows or underflows by itself"),
    (Op::Gcd, &["of -"], "the least integer has no magnitude, and the divisor found with it is negative"),
    (Op::Gcd, &[", -"], "the same of the second operand"),
    (Op::SoftMarginLoss, &["inf"], "the exponential overflows where its logarithm does not"),
    (Op::Var, &["nan"], "a correction of NaN divides by 0"),
    (Op::Std, &["nan"], "the same"),
    (Op::Pow, &["-inf, 0.5", "nan"], "the square root is taken, which has no value at minus infinity"),
    (Op::Pow, &["-0.0, 0.5"], "the square root is taken, which keeps the sign of zero"),
    (Op::Logaddexp, &["NaN"], "the reciprocal of a subnormal complex number overflows"),
    (Op::Div, &["e3", "NaN"], "the quotient of complex numbers overflows on the way"),
    (Op::Clamp, &["torch.clamp", "in uint8", ", -"], "a negative bound of uint8 wraps around"),
    (Op::ClampMin, &["torch.clamp", "in uint8", ", -"], "the same"),
    (Op::ClampMax, &["torch.clamp", "in uint8", ", -"], "the same"),
    (Op::Mean, &["inf at", "float16"], "numbers of 16 bits are added up before they are converted"),
    (Op::Grad, &["loss of broadcast operands"], "a mean is divided by the number of elements before they broadcast"),
    (Op::Grad, &["addcdiv", "nan at"], "the square of the divisor underflows"),
    (Op::Grad, &["addcdiv", "inf at"], "the same"),
    (Op::VectorNorm, &["nan at"], "an order that rounds to infinity makes the root a power of 0"),
    (Op::Grad, &["hypot", "nan at"], "at the origin 0 is divided by 0"),
];

fn elements(program: &Program) -> usize {
    program.inputs.iter().map(|input| input.shape.numel()).sum()
}

/// Returns the finding of an oracle in a program; with `all` its follow-ups, not only those that are chosen of them.
fn judge(mutant: &Mutant, oracle: Oracle, program: &Program, all: bool) -> Option<Finding> {
    let hello = mutant.hello();
    let reply = match mutant.run(program) {
        Ok(reply) => reply,
        // A fault of the process needs no oracle, and is attributed to the first that asked.
        Err(fault) if oracle == Oracle::Reference => return Some(Finding::of_fault(oracle, program, fault)),
        Err(_) => return None,
    };
    match oracle {
        Oracle::Definition => by_definition(mutant, program, &reply, all),
        Oracle::Mathematics => by_mathematics(program, &reply),
        _ => {
            let (reference, wanted) = (Reference.hello(), Reference.run(program));
            let (wanted, got) = (Side { hello: &reference, reply: &wanted }, Side { hello: &hello, reply: &reply });
            Finding::of_differences(oracle, program, from_reference(program, wanted, got))
        }
    }
}

/// Differences with the least integer for a factor: libtorch, and the reference after it, negates it as an integer.
fn negates_the_least_integer(step: &Step) -> bool {
    matches!(step.op, Op::Sub | Op::Rsub) && step.args.contains(&Arg::Number(Scalar::Int(i64::MIN)))
}

/// What contradicts an authority that no other contradicts, and does not do so in libtorch too.
fn by_mathematics(program: &Program, reply: &Reply) -> Option<Finding> {
    let mut differences = mathematics::judge(program, reply);
    let step = |value: &str| program.steps.iter().find(|step| step.name == value);
    differences.retain(|difference| {
        let step = step(&difference.value);
        let op = step.map(|step| step.op);
        let texts = [&difference.by, &difference.expected, &difference.observed];
        let said = |part: &str| texts.iter().any(|text| text.contains(part));
        let followed =
            FOLLOWED.iter().any(|(known, parts, _)| Some(*known) == op && parts.iter().all(|part| said(part)));
        !followed && !step.is_some_and(negates_the_least_integer) && !difference.by.starts_with(DISPUTED)
    });
    Finding::of_differences(Oracle::Mathematics, program, differences)
}

fn by_definition(mutant: &Mutant, program: &Program, reply: &Reply, all: bool) -> Option<Finding> {
    let follow_ups = if all { metamorphic::all(program, reply) } else { metamorphic::follow_ups(program, reply) };
    follow_ups.into_iter().find_map(|follow_up| {
        let other = match mutant.run(&follow_up.program) {
            Ok(other) => other,
            Err(fault) => return Some(Finding::of_fault(Oracle::Definition, program, fault)),
        };
        let differences = follow_up.judge(program, reply, &other);
        if followed(&follow_up, program, &differences).is_some() {
            return None;
        }
        Finding::of_differences(Oracle::Definition, program, differences)
    })
}

/// The next program that follows from a seed.
fn generate(state: &mut u64, options: &Options) -> Program {
    let length = 96 + random(state) as usize % 672;
    let bytes: Vec<u8> = (0..length).map(|_| random(state) as u8).collect();
    generate::program(&bytes, options)
}

/// splitmix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
