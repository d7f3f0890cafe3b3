//! Checks that the programs of findings behave as the implementation does: random programs are written down as if
//! everything about them had been found, expected to be what the adapter answered, and run by a Python that has
//! PyTorch. Each should find no difference. With `rust` a package of examples for `tch` is written to FOLDER in place
//! of that.
//!
//! ```text
//! cargo run --release --example repros -- ADAPTER PYTHON PROGRAMS [SEED] [OP,OP,…]
//! cargo run --release --example repros -- ADAPTER rust:FOLDER PROGRAMS [SEED] [OP,OP,…]
//! ```

use std::path::Path;
use std::process::{Command, ExitCode};

use broadcheck::adapter::{CommandLine, Limits, Process};
use broadcheck::generate::{self, Options};
use broadcheck::harness::model::finding::{Finding, Oracle};
use broadcheck::harness::oracles::comparison::Side;
use broadcheck::harness::triage::{Dossier, Expected, Language, PRINTS, repro};
use broadcheck::harness::{Aspect, Difference};
use broadcheck::ops::Op;
use broadcheck::program::{Outcome, Program, Reply, Value};

/// Runs every program in one Python, which takes seconds to import PyTorch, and prints those that print something else than
/// their comments say.
const DRIVER: &str = "
import contextlib, io, re, runpy, sys
# Python has names of its own for some types of tensors, and does not always use them.
plain = lambda line: re.sub(r'torch\\.(\\w+)Tensor', r'CPU\\1Type', line.rstrip())
failed = without = 0
for path in sys.argv[1:]:
    out = io.StringIO()
    error = None
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(path, run_name='__main__')
    except BaseException as raised:
        error = raised
    with open(path) as program:
        promised = [plain(line[len(PRINTS):]) for line in program if line.startswith(PRINTS)]
    printed = [plain(line) for line in out.getvalue().split('\\n')[:-1]]
    if error or printed != promised:
        words = ['invalid combination of arguments', 'must be Tensor, not', 'failed to match any schema']
        if any(word in str(error) + str(printed) for word in words):
            without += 1
            continue
        failed += 1
        differing = [pair for pair in zip(promised, printed) if pair[0] != pair[1]][:1]
        print(path, repr(error), *differing, len(promised), len(printed), sep='\\n    ')
print(len(sys.argv) - 1, 'programs,', without, 'with calls that Python does not have,', failed, 'differ')
sys.exit(1 if failed else 0)
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [adapter, python, count, rest @ ..] = args.as_slice() else {
        eprintln!("usage: repros ADAPTER PYTHON|rust:FOLDER PROGRAMS [SEED] [OP,OP,…]");
        return ExitCode::from(2);
    };
    let count: usize = count.parse().expect("a number of programs");
    let mut seed: u64 = rest.first().map_or(1, |seed| seed.parse().expect("a seed"));
    let limits = Limits { restarts: 1000, ..Limits::default() };
    let mut adapter = Process::start(CommandLine::new(adapter), limits).expect("the adapter starts");
    let mut options = Options::comparable(adapter.hello());
    if let Some(names) = rest.get(1) {
        options.ops = names.split(',').map(|name| Op::parse(name).expect("an operation").0).collect();
    }
    let programs: Vec<Program> = (0..count)
        .map(|_| {
            let length = 96 + random(&mut seed) as usize % 672;
            let bytes: Vec<u8> = (0..length).map(|_| random(&mut seed) as u8).collect();
            generate::program(&bytes, &options)
        })
        .collect();
    let replies = adapter.run_all(&programs);
    let hello = adapter.hello().clone();
    let folder = tempfile::tempdir().expect("a folder");
    let rust = python.strip_prefix("rust:").map(Path::new);
    let mut paths = Vec::new();
    for (number, (program, reply)) in programs.iter().zip(replies).enumerate() {
        let Ok(reply) = reply else { continue };
        let Some(finding) = Finding::of_differences(Oracle::Reference, program, everything(program, &reply)) else {
            continue;
        };
        let expected = Expected::Outcomes(Side { hello: &hello, reply: &reply });
        let dossier = Dossier {
            finding: &finding,
            expected,
            implementation: &hello,
            observed: Some(&reply),
            releases: "",
            known: None,
            native: None,
        };
        paths.extend(write(&dossier, rust.unwrap_or(folder.path()), number, rust.is_some()));
    }
    println!("{} programs written", paths.len());
    if rust.is_some() {
        return ExitCode::SUCCESS;
    }
    let ran = Command::new(python)
        .args(["-c", &DRIVER.replace("PRINTS", &format!("{PRINTS:?}"))])
        .args(&paths)
        .status()
        .expect("Python starts");
    if ran.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn write(dossier: &Dossier, folder: &Path, number: usize, rust: bool) -> Option<String> {
    let text = repro(dossier, if rust { Language::Rust } else { Language::Python });
    if rust && text.contains("ExitCode::from(2)") {
        return None;
    }
    let path = folder.join(format!("repro{number}.{}", if rust { "rs" } else { "py" }));
    std::fs::write(&path, text).expect("the folder can be written to");
    Some(path.display().to_string())
}

/// Every aspect of every value, as if it differed.
fn everything(program: &Program, reply: &Reply) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut differ = |value: String, aspect: Aspect| {
        let by = "the adapter".to_owned();
        differences.push(Difference { value, aspect, by, expected: String::new(), observed: String::new() });
    };
    const TENSOR: [Aspect; 5] = [Aspect::Dtype, Aspect::Shape, Aspect::Values, Aspect::Strides, Aspect::Aliasing];
    for (step, answer) in program.steps.iter().zip(&reply.steps) {
        match &answer.outcome {
            Outcome::Value(Value::Tensor(_)) => TENSOR.into_iter().for_each(|aspect| differ(step.name.clone(), aspect)),
            Outcome::Value(Value::Tensors(tensors)) => {
                for part in 0..tensors.len() {
                    TENSOR.into_iter().for_each(|aspect| differ(format!("{}.{part}", step.name), aspect));
                }
            }
            Outcome::Value(_) => differ(step.name.clone(), Aspect::Outcome),
            Outcome::Rejected(_) => differ(step.name.clone(), Aspect::Message),
            _ => {}
        }
        if matches!(answer.outcome, Outcome::Value(_) | Outcome::Rejected(_)) {
            differ(step.name.clone(), Aspect::Warnings);
        }
    }
    for (input, _) in program.inputs.iter().zip(&reply.inputs) {
        [Aspect::Dtype, Aspect::Shape, Aspect::Values]
            .into_iter()
            .for_each(|aspect| differ(format!("{} after", input.name), aspect));
    }
    differences
}

/// splitmix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
