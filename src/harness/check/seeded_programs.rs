//! The seeded corpus: generated programs that are the same everywhere, judged by the reference and kept as events, so
//! that releases can be compared on them later.

use sha2::{Digest, Sha256};

use crate::adapter::{Fault, Hello, Implementation, unsupported_by};
use crate::campaign::cases::{Made, make};
use crate::case::render;
use crate::check::Candidate;
use crate::format;
use crate::generate::Options;
use crate::give_up::Breaks;
use crate::model::divergence;
use crate::model::event::{Agreement, Corpus, CorpusTally, Generated};
use crate::model::finding::{Finding, Oracle};
use crate::oracles::comparison::{Side, from_reference};
use crate::program::{Program, Reply};
use crate::reference::Reference;

/// The number of programs that are made before they are run.
const BATCH: u64 = 256;

/// Runs the corpus on an implementation and reports every program, in order, until the implementation is given up. A
/// corpus that is not whole has no digest.
pub fn run(
    corpus: Corpus,
    candidate: &mut Candidate,
    breaks: &mut Breaks,
    mut each: impl FnMut(Generated),
) -> CorpusTally {
    let hello = candidate.runner.hello();
    // Those that are comparable with anything like libtorch: the same for every implementation.
    let options = Options::comparable(&Reference.hello());
    let (mut tally, mut hash) = (CorpusTally::default(), Sha256::new());
    for start in (0..corpus.programs).step_by(BATCH as usize) {
        let batch: Vec<Made> =
            (start..corpus.programs.min(start + BATCH)).map(|case| make(corpus.seed, case, &options)).collect();
        for made in &batch {
            hash.update(serde_json::to_vec(&made.program).expect("programs have only text for keys"));
        }
        let lacks = |made: &Made| unsupported_by(&hello, &made.program);
        let runnable: Vec<usize> = (0..batch.len()).filter(|at| lacks(&batch[*at]).is_none()).collect();
        let programs: Vec<Program> = runnable.iter().map(|at| batch[*at].program.clone()).collect();
        let mut results: Vec<Option<Result<Reply, Fault>>> = vec![None; batch.len()];
        let leave = candidate.runner.leave();
        candidate.runner.run_each(&programs, |at, result| {
            if let Err(fault) = &result
                && !breaks.are_too_many()
            {
                breaks.count_fault(fault);
            }
            if breaks.are_too_many() {
                leave.now();
            }
            results[runnable[at]] = Some(result);
        });
        for (made, result) in batch.iter().zip(results) {
            if breaks.are_too_many() && matches!(&result, Some(Err(fault)) if !fault.kind.was_run()) {
                return tally;
            }
            let generated = judge(made, result, lacks(made), candidate, &hello);
            match &generated.verdict {
                Agreement::Agrees => tally.agree += 1,
                Agreement::Known { .. } => tally.known += 1,
                Agreement::Differs { .. } | Agreement::Broken { .. } => tally.differ += 1,
                Agreement::Unsupported { .. } => tally.unsupported += 1,
            }
            each(generated);
        }
    }
    tally.digest = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    tally
}

/// The digest of a corpus: which programs are made of its seed.
pub fn digest(corpus: Corpus) -> String {
    let options = Options::comparable(&Reference.hello());
    let mut hash = Sha256::new();
    for case in 0..corpus.programs {
        let made = make(corpus.seed, case, &options);
        hash.update(serde_json::to_vec(&made.program).expect("programs have only text for keys"));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn judge(
    made: &Made,
    result: Option<Result<Reply, Fault>>,
    lacks: Option<String>,
    candidate: &Candidate,
    hello: &Hello,
) -> Generated {
    let program = &made.program;
    let yaml = || render::program(program);
    let broken = |fault: String| Agreement::Broken { fault, yaml: yaml() };
    let mut generated = Generated {
        program: made.case,
        calls: program.steps.iter().map(format::call).collect(),
        outline: String::new(),
        digest: String::new(),
        verdict: Agreement::Agrees,
    };
    let reply = match (result, lacks) {
        (Some(Ok(reply)), _) => reply,
        (Some(Err(fault)), _) => {
            generated.verdict = match divergence::known_break(&candidate.divergences, program, &fault, hello) {
                Some(known) => Agreement::Known { divergence: known.id.clone() },
                None => broken(fault.to_string()),
            };
            return generated;
        }
        (None, Some(what)) => {
            generated.verdict = Agreement::Unsupported { what };
            return generated;
        }
        (None, None) => {
            generated.verdict = broken("the run ended before the program".to_owned());
            return generated;
        }
    };
    generated.outline = format::outline(&format::exact(program, &reply));
    generated.digest = format::digest(format::reply(program, &reply).as_bytes())[..16].to_owned();
    generated.verdict = match &made.expected {
        Err(abort) => broken(abort.to_string()),
        Ok(expected) => {
            let reference = Reference.hello();
            let (wanted, got) = (Side { hello: &reference, reply: expected }, Side { hello, reply: &reply });
            match Finding::of_differences(Oracle::Reference, program, from_reference(program, wanted, got)) {
                None => match reply.unsupported() {
                    Some(what) => Agreement::Unsupported { what: what.to_owned() },
                    None => Agreement::Agrees,
                },
                Some(finding) => match divergence::known(&candidate.divergences, &finding, hello) {
                    Some(known) => Agreement::Known { divergence: known.id.clone() },
                    None => Agreement::Differs {
                        signature: finding.signature.to_string(),
                        differences: finding.differences,
                        yaml: yaml(),
                    },
                },
            }
        }
    };
    generated
}
