//! libtorch, in this process, against the reference.

use std::sync::LazyLock;

use broadcheck::adapter::{Hello, Implementation};
use broadcheck::case::render;
use broadcheck::generate::{Focus, Options};
use broadcheck::harness::compare::{Side, compare};
use broadcheck::harness::divergence::{Divergence, known};
use broadcheck::harness::finding::{Finding, Oracle};
use broadcheck::program::{Program, Reply};
use broadcheck::reference::Reference;
use broadcheck_libtorch::Libtorch;

/// The target whose programs are about the focus: libtorch comes to what the reference comes to.
#[macro_export]
macro_rules! differential {
    ($focus:ident) => {
        struct $focus;

        impl $crate::Programs for $focus {
            fn options() -> &'static broadcheck::generate::Options {
                static OPTIONS: std::sync::LazyLock<broadcheck::generate::Options> =
                    std::sync::LazyLock::new(|| $crate::differential::about(broadcheck::generate::Focus::$focus));
                &OPTIONS
            }
        }

        libfuzzer_sys::fuzz_target!(|case: $crate::Generated<$focus>| $crate::differential::judge(
            &case.program,
            case.reply()
        ));
    };
}

static REFERENCE: LazyLock<Hello> = LazyLock::new(|| Reference.hello());
static LIBTORCH: LazyLock<Hello> = LazyLock::new(|| Libtorch::new().hello());

/// In the program itself, since a target may run where its sources are not.
static KNOWN: LazyLock<Vec<Divergence>> = LazyLock::new(|| {
    serde_yaml::from_str(include_str!("../../adapters/libtorch/divergences.yaml")).expect("`cargo test` reads it too")
});

/// What libtorch declares of what the focus includes, less what has no one outcome.
pub fn about(focus: Focus) -> Options {
    Options::comparable(&LIBTORCH).about(focus)
}

/// Panics with all that is different, and with the program, unless it is known to be.
pub fn judge(program: &Program, wanted: &Reply) {
    let got = Libtorch::new().run(program);
    let (expected, observed) = (Side { hello: &REFERENCE, reply: wanted }, Side { hello: &LIBTORCH, reply: &got });
    let differences = compare(program, expected, observed);
    let Some(finding) = Finding::of_differences(Oracle::Reference, program, differences) else { return };
    if known(&KNOWN, &finding, &LIBTORCH).is_some() {
        return;
    }
    let lines = finding.differences.iter().map(|difference| {
        let (value, aspect) = (&difference.value, difference.aspect.name());
        format!("{value} {aspect}:\n  reference: {}\n  libtorch:  {}\n", difference.expected, difference.observed)
    });
    panic!("{}\n{}program:\n{}", finding.signature, lines.collect::<String>(), render::program(program));
}
