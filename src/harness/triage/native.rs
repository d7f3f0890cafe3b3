//! A finding in the calls of the library that it is in, as the library's adapter writes them.
//!
//! An adapter knows best how it calls its library. It writes the program while it runs it, into the file that the variable
//! [`RENDER`] names: the language on the first line, then the program. One that does not know the variable writes nothing.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::super::runner::Start;
use super::{Dossier, Expected, other, title};
use crate::adapter::library::RENDER;
use crate::adapter::{Capability, Hello, Limits};
use crate::escape::{one_line, visible};
use crate::model::finding::Oracle;
use crate::program::Program;

/// A program in the calls of a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Native {
    /// The language.
    pub language: Script,
    /// The program, with its inputs, a `print` for each result, and a comment of what it printed.
    pub program: String,
    /// The program that should have the same results, if the library contradicts itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

/// A language that adapters write programs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Script {
    /// Python.
    Python,
    /// JavaScript, a module for Node.
    Js,
    /// Rust, the main file of a package.
    Rust,
}

impl Script {
    /// The file of a finding's program.
    pub fn file(self) -> &'static str {
        match self {
            Script::Python => "repro.py",
            Script::Js => "repro.mjs",
            Script::Rust => "repro.rs",
        }
    }

    /// What runs it, as the subject of a sentence in Markdown.
    pub fn runner(self) -> &'static str {
        match self {
            Script::Python => "`python3 repro.py`",
            Script::Js => "`node repro.mjs`",
            Script::Rust => {
                "`RAYON_NUM_THREADS=1 cargo run --release`, in a package that has `repro.rs` as `src/main.rs` and the dependencies that it names,"
            }
        }
    }

    fn comment(self) -> &'static str {
        match self {
            Script::Python => "#",
            Script::Js | Script::Rust => "//",
        }
    }
}

/// Returns whether PyTorch's Python is the language of an implementation: of PyTorch, of its modes, and of any that declares
/// to have PyTorch's messages.
pub fn is_of_pytorch(implementation: &Hello) -> bool {
    implementation.capabilities.contains(&Capability::Messages) || is_named_pytorch(&implementation.name)
}

/// The same of an implementation of which only the name is known.
pub(super) fn is_named_pytorch(name: &str) -> bool {
    ["pytorch", "libtorch", "torch", "faulty", "reference"]
        .iter()
        .any(|root| name == *root || name.starts_with(&format!("{root}-")))
}

/// Asks an adapter for a program in its library's calls, and for the one that should mean the same. `None` if the
/// implementation is PyTorch, or no adapter, or if its adapter does not write programs.
pub fn ask(
    start: &Start,
    implementation: &Hello,
    limits: &Limits,
    program: &Program,
    other: Option<&Program>,
) -> Option<Native> {
    if is_of_pytorch(implementation) {
        return None;
    }
    let (language, program) = written(start, limits, program)?;
    // One of two programs that should agree shows nothing.
    let other = match other {
        Some(other) => Some(written(start, limits, other)?.1),
        None => None,
    };
    Some(Native { language, program, other })
}

fn written(start: &Start, limits: &Limits, program: &Program) -> Option<(Script, String)> {
    let Start::Adapter(command) = start else { return None };
    let folder = tempfile::tempdir().ok()?;
    let file = folder.path().join("program");
    let command = command.clone().env(RENDER, &file);
    // A program that breaks the adapter is written before it does.
    let mut runner = Start::Adapter(command).runner(&Limits { restarts: 0, ..limits.clone() }).ok()?;
    runner.run_each(std::slice::from_ref(program), |_, _| {});
    runner.finish();
    let text = std::fs::read_to_string(&file).ok()?;
    let (language, text) = text.split_once('\n')?;
    let language = match language {
        "python" => Script::Python,
        "js" => Script::Js,
        "rust" => Script::Rust,
        _ => return None,
    };
    (!text.trim().is_empty()).then(|| (language, visible(text).into_owned()))
}

/// The file of a finding: what it is about in comments, then the program.
pub(super) fn render(dossier: &Dossier, native: &Native) -> String {
    let comment = native.language.comment();
    let Dossier { finding, implementation, .. } = dossier;
    let mut text = String::new();
    let mut say = |line: &str| {
        let line = one_line(line);
        let _ = writeln!(text, "{comment} {line}");
    };
    say(&format!("{} {}, {}", implementation.name, implementation.version, title(dossier)));
    let by = authority(dossier);
    for difference in &finding.differences {
        say(&format!("{}, {}:", difference.value, difference.aspect.name()));
        say(&format!("  expected: {}, by {by}", difference.expected));
        say(&format!("  observed: {}", difference.observed));
    }
    if let Some(fault) = &finding.fault {
        say(&format!("The process failed: {fault}"));
    }
    say("A comment that begins with `prints:` has what the program printed.");
    text.push('\n');
    let program = visible(&native.program);
    let Some(other) = &native.other else {
        text.push_str(&program);
        return text;
    };
    let other = visible(other);
    let _ = match native.language {
        // Each has a `main`.
        Script::Rust => writeln!(
            text,
            "fn main() {{\n    use std::process::Termination;\n    program::main().report();\n    equivalent::main().report();\n}}\n\n\
             mod program {{\n{}\n}}\n\n/// The program that should have the same results.\nmod equivalent {{\n{}\n}}",
            module(&program),
            module(&other)
        ),
        Script::Python | Script::Js => writeln!(
            text,
            "{program}\n{comment} The program that should have the same results:\n\n{}",
            other.trim_end()
        ),
    };
    text
}

/// A program in Rust whose `main` another module may call.
fn module(program: &str) -> String {
    program.trim_end().replacen("\nfn main()", "\npub fn main()", 1)
}

/// On whose word the outcome is wrong.
pub(super) fn authority(dossier: &Dossier) -> Cow<'static, str> {
    match dossier.expected {
        Expected::Outcomes(_) if dossier.finding.signature.oracle == Oracle::Mathematics => {
            format!("mathematics ({})", dossier.finding.signature.text).into()
        }
        Expected::Outcomes(side) if side.hello.name == "reference" => {
            "broadcheck's reference, which does what PyTorch does".into()
        }
        Expected::Outcomes(side) => format!("{} {}", side.hello.name, side.hello.version).into(),
        Expected::SameAs { rule, .. } => {
            format!("{} itself, of {} ({rule})", dossier.implementation.name, other(rule)).into()
        }
    }
}
