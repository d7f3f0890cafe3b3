//! libtorch, in this process, against the reference.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use broadcheck_harness::adapter::{Fault, FaultKind, Hello, Implementation};
use broadcheck_harness::case::render;
use broadcheck_harness::model::divergence::{Divergence, known, known_break};
use broadcheck_harness::model::finding::{Finding, Oracle};
use broadcheck_harness::oracles::comparison::{Side, from_reference};
use broadcheck_harness::triage::{self, Dossier, Expected};
use broadcheck_harness::{
    generate::{Focus, Options, allows},
    reduce::shrink,
};
use broadcheck_libtorch::{Libtorch, set_threads};
use broadcheck_protocol::program::{Program, Reply};
use broadcheck_reference::Reference;

/// The target whose programs are about the focus: libtorch has the same outcomes as the reference.
#[macro_export]
macro_rules! differential {
    ($focus:ident) => {
        struct $focus;

        impl $crate::Programs for $focus {
            fn options() -> &'static broadcheck_harness::generate::Options {
                static OPTIONS: std::sync::LazyLock<broadcheck_harness::generate::Options> =
                    std::sync::LazyLock::new(|| {
                        $crate::differential::about(broadcheck_harness::generate::Focus::$focus)
                    });
                &OPTIONS
            }
        }

        libfuzzer_sys::fuzz_target!(|case: $crate::Generated<$focus>| $crate::differential::judge(
            <$focus as $crate::Programs>::options(),
            &case.program,
            case.reply()
        ));
    };
}

static REFERENCE: LazyLock<Hello> = LazyLock::new(|| Reference.hello());

/// One thread, as in the adapter: with several, the thread that raises first and the order of a sum vary.
static LIBTORCH: LazyLock<Hello> = LazyLock::new(|| {
    set_threads(1);
    Libtorch::new().hello()
});

/// In the program itself, since a target may run where its sources are not.
static KNOWN: LazyLock<Vec<Divergence>> = LazyLock::new(|| {
    serde_yaml::from_str(include_str!("../../adapters/libtorch/divergences.yaml")).expect("`cargo test` reads it too")
});

/// The operations of the focus that libtorch declares, without those that have no single outcome.
pub fn about(focus: Focus) -> Options {
    Options::comparable(&LIBTORCH).about(focus)
}

/// Panics with all that is different, and with the program, unless it is known to be. If `FINDINGS` names a folder, the
/// simplest program of which the same is true is there by then, as campaigns write theirs.
pub fn judge(options: &Options, program: &Program, wanted: &Reply) {
    let Some(finding) = unknown(program, wanted) else { return };
    if let Some(root) = std::env::var_os("FINDINGS") {
        eprintln!("the simplest program that shows it: {}", written(options, &finding, Path::new(&root)).display());
    }
    let lines = finding.differences.iter().map(|difference| {
        let (value, aspect) = (&difference.value, difference.aspect.name());
        format!("{value} {aspect}:\n  reference: {}\n  libtorch:  {}\n", difference.expected, difference.observed)
    });
    panic!("{}\n{}program:\n{}", finding.signature, lines.collect::<String>(), render::program(program));
}

/// The signals with which libtorch ends a process where it is known to.
static ENDS: LazyLock<Vec<Fault>> = LazyLock::new(|| {
    let ends = ["signal: 6 (SIGABRT)", "signal: 8 (SIGFPE)", "signal: 11 (SIGSEGV)"];
    let fault = |status: &str| {
        let kind = FaultKind::Crashed { status: status.to_owned() };
        Fault { kind, confirmed: true, stderr: String::new() }
    };
    ends.map(fault).into()
});

/// The differences of libtorch from the expected reply, unless they are known. A program that a known crash applies to is not
/// run, since it would end the target: campaigns run it, in a process of its own.
fn unknown(program: &Program, wanted: &Reply) -> Option<Finding> {
    if ENDS.iter().any(|end| known_break(&KNOWN, program, end, &LIBTORCH).is_some()) {
        return None;
    }
    let got = Libtorch::new().run(program);
    let (expected, observed) = (Side { hello: &REFERENCE, reply: wanted }, Side { hello: &LIBTORCH, reply: &got });
    let finding = Finding::of_differences(Oracle::Reference, program, from_reference(program, expected, observed))?;
    known(&KNOWN, &finding, &LIBTORCH).is_none().then_some(finding)
}

/// The folder of the finding, shrunk, below `root`.
fn written(options: &Options, finding: &Finding, root: &Path) -> PathBuf {
    let mut simplest = finding.clone();
    shrink(finding.program.clone(), |candidate| {
        if !allows(options, candidate) {
            return false;
        }
        match unknown(candidate, &Reference.run(candidate)) {
            Some(again) if again.signature == finding.signature => {
                simplest = again;
                true
            }
            _ => false,
        }
    });
    let (wanted, got) = (Reference.run(&simplest.program), Libtorch::new().run(&simplest.program));
    let dossier = Dossier {
        finding: &simplest,
        expected: Expected::Outcomes(Side { hello: &REFERENCE, reply: &wanted }),
        implementation: &LIBTORCH,
        observed: Some(&got),
        releases: "",
        known: None,
        native: None,
    };
    triage::write(&dossier, root).unwrap_or_else(|error| panic!("{}: {error}", root.display()))
}
