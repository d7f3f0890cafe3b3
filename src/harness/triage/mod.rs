//! From a finding to a folder that a maintainer can act on: what differs, in PyTorch's Python, as a case, and in `tch`.
//!
//! [`files`] makes the texts and knows no disk; [`write()`] puts them there. What is written follows from the finding alone,
//! so that the same finding makes the same folder on every machine. [`repro`] renders the program in one language.

pub mod bisect;
mod case;
pub mod confirm;
mod expected;
mod literal;
mod look;
pub mod native;
mod python;
mod readme;
mod rust;
mod tch;

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Aspect;
use crate::adapter::Hello;
use crate::case::Specification;
use crate::escape;
use crate::model::divergence::Divergence;
use crate::model::finding::{FINDING, Finding, Oracle, Signature};
use crate::oracles::comparison::Side;
use crate::oracles::metamorphic::Relation;
use crate::program::{Program, Reply};

pub use native::Native;
pub use python::{BROKEN, EXPECTED, PRINTS, UNDESCRIBED, input_name, statements};

/// The file that a person reads first.
pub const README: &str = "README.md";

/// A language that a finding can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// The library that the finding is in, by its own calls.
    Native,
    /// PyTorch's Python, with nothing else.
    Python,
    /// `tch`, with nothing else.
    Rust,
}

/// A finding, and all that is known of it.
#[derive(Clone, Copy, Debug)]
pub struct Dossier<'a> {
    /// The finding, shrunk.
    pub finding: &'a Finding,
    /// The expected outcome.
    pub expected: Expected<'a>,
    /// The implementation that it was found in.
    pub implementation: &'a Hello,
    /// The answer of the implementation; `None` if it broke.
    pub observed: Option<&'a Reply>,
    /// The outcome in each release, as [`bisect::table`] has it; empty if no release was run.
    pub releases: &'a str,
    /// The known divergence that explains it.
    pub known: Option<&'a Divergence>,
    /// The program in the calls of the library, for an implementation other than PyTorch whose adapter writes it.
    pub native: Option<&'a Native>,
}

/// The expectation of an oracle.
#[derive(Clone, Copy, Debug)]
pub enum Expected<'a> {
    /// These outcomes, by the reference or by another release.
    Outcomes(Side<'a>),
    /// The outcomes of another program that means the same, on the same implementation.
    SameAs {
        /// The relation by which it means the same.
        rule: &'a str,
        /// The other program.
        program: &'a Program,
        /// A value of the finding's program and the one of the other program that should equal it, by name.
        pairs: &'a [(String, String)],
        /// The answer of the implementation to the other program; `None` if it broke.
        reply: Option<&'a Reply>,
    },
}

/// Writes the folder of a finding below `root`, in place of an older one of the same signature and program, and returns
/// where it is.
///
/// # Errors
/// When something cannot be written.
pub fn write(dossier: &Dossier, root: &Path) -> io::Result<PathBuf> {
    let name = folder_name(dossier.finding);
    let folder = root.join(&name);
    std::fs::create_dir_all(&folder)?;
    for (file, text) in files(dossier, &name) {
        std::fs::write(folder.join(file), text)?;
    }
    Ok(folder)
}

/// The finding as a case, which loads as the file `spec/regressions/NAME.yaml` of a specification.
pub fn as_case(dossier: &Dossier, specification: &Specification, name: &str) -> String {
    case::render(dossier, specification, name)
}

/// The files of a finding's folder of that name.
pub fn files(dossier: &Dossier, name: &str) -> Vec<(&'static str, String)> {
    let program = dossier.native.map(|native| (native.language.file(), native::render(dossier, native)));
    let mut files: Vec<_> = program.into_iter().collect();
    files.extend([(README, readme::render(dossier, name)), (FINDING, finding_json(dossier))]);
    files
}

/// The program of a finding in one language. The library's own is PyTorch's where its adapter writes none.
pub fn repro(dossier: &Dossier, language: Language) -> String {
    match language {
        Language::Native => match dossier.native {
            Some(native) => native::render(dossier, native),
            None => python::render(dossier),
        },
        Language::Python => python::render(dossier),
        Language::Rust => rust::render(dossier),
    }
}

/// A finding in one sentence without its full stop.
fn title(dossier: &Dossier) -> String {
    let finding = dossier.finding;
    let call = &finding.signature.call;
    let Some(first) = finding.differences.first() else {
        return format!("{call}: {}", finding.signature.kind);
    };
    let rejected = !first.expected.starts_with("rejected");
    let aspect = first.aspect.name();
    match dossier.expected {
        Expected::Outcomes(side) if finding.signature.oracle == Oracle::Release => {
            format!("{call}: the {aspect} is not that of {} {}", side.hello.name, side.hello.version)
        }
        Expected::Outcomes(_) => match first.aspect {
            Aspect::Outcome if rejected => format!("{call} raises where it should return a value"),
            Aspect::Outcome => format!("{call} returns a value where it should raise"),
            Aspect::Values => format!("{call} returns wrong values"),
            _ => format!("{call}: the {aspect} of the result is wrong"),
        },
        Expected::SameAs { rule, .. } => {
            let other = other(rule);
            match first.aspect {
                Aspect::Outcome if rejected => format!("{call} raises where {other} returns a value"),
                Aspect::Outcome => format!("{call} returns a value where {other} raises"),
                Aspect::Values => format!("{call} returns other values than {other}"),
                Aspect::Class => format!("{call} raises another kind of error than {other}"),
                _ => format!("{call}: the {aspect} of the result is not that of {other}"),
            }
        }
    }
}

/// The name of what an implementation contradicts that contradicts itself.
fn other(rule: &str) -> &'static str {
    match Relation::named(rule) {
        Some(Relation::Sibling) => "a sibling operation",
        Some(Relation::Resized) => "the same call on other sizes",
        _ => "a program that is the same by definition",
    }
}

/// The signature in letters that every file system takes, and a digest of it and the program, since one signature can have
/// several causes.
pub fn folder_name(finding: &Finding) -> String {
    let Signature { oracle, call, kind, .. } = &finding.signature;
    let mut slug = String::new();
    for letter in format!("{} {call} {kind}", oracle.name()).chars() {
        match letter {
            letter if letter.is_ascii_alphanumeric() => slug.push(letter.to_ascii_lowercase()),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let program = serde_json::to_string(&finding.program).expect("programs have only text for keys");
    let digest = Sha256::digest(format!("{}\n{program}", finding.signature));
    let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{digest}", slug.trim_matches('-'))
}

/// Returns the data that a program needs to continue with the finding: its signature, its program, and who said what.
fn finding_json(dossier: &Dossier) -> String {
    let Dossier { finding, implementation, .. } = dossier;
    let (by, other) = match dossier.expected {
        Expected::Outcomes(side) => (format!("{} {}", side.hello.name, side.hello.version), None),
        Expected::SameAs { rule, program, pairs, reply } => (
            rule.to_owned(),
            Some(serde_json::json!({ "rule": rule, "program": program, "pairs": pairs, "reply": reply })),
        ),
    };
    // The reference can be asked again; another release may not be at hand.
    let expected = match dossier.expected {
        Expected::Outcomes(side) if finding.signature.oracle == Oracle::Release => Some((side.hello, side.reply)),
        _ => None,
    };
    // What broke has no reply.
    let fault = finding.fault.as_ref().map(ToString::to_string);
    let mut value = serde_json::json!({
        "signature": finding.signature,
        "implementation": { "name": implementation.name, "version": implementation.version, "build": implementation.build },
        "expected_by": by,
        "differences": finding.differences,
        "fault": fault.as_deref().or(finding.is_broken().then_some(&finding.signature.kind)),
        "observed": dossier.observed,
        "program": finding.program,
        "expected": expected,
        "same_as": other,
    });
    if !native::is_of_pytorch(implementation) {
        value["pytorch"] = false.into();
    }
    if let Some(native) = dossier.native {
        value["native"] = serde_json::json!(native);
    }
    escape::json(&serde_json::to_string(&value).expect("plain data")).into_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_that_differ_have_folders_that_differ() {
        let name = |call: &str, text: &str| {
            let (call, kind, text) = (call.to_owned(), "message".to_owned(), text.to_owned());
            let signature = Signature { oracle: Oracle::Reference, call, kind, text };
            folder_name(&Finding { signature, program: Program::default(), differences: Vec::new(), fault: None })
        };
        assert!(name("add out=", "").starts_with("reference-add-out-message-"), "{}", name("add out=", ""));
        assert_ne!(name("add", "a / b"), name("add", "a / c"));
        assert_ne!(name("add_", ""), name("add", ""));
    }

    #[test]
    fn causes_that_share_a_signature_have_folders_that_differ() {
        let name = |program: &str| {
            let program = crate::case::load_program(Path::new("found.yaml"), program).unwrap();
            let (call, kind) = ("grad".to_owned(), "values".to_owned());
            let signature = Signature { oracle: Oracle::Reference, call, kind, text: String::new() };
            folder_name(&Finding { signature, program, differences: Vec::new(), fault: None })
        };
        assert_ne!(name("{x: {shape: [1]}, g: {grad: [x]}}"), name("{x: {shape: [2]}, g: {grad: [x]}}"));
    }
}
