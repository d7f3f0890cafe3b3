//! The README of a finding, which a person reads first: what differs, since when, and why, as far as that is known.

use std::fmt::Write as _;

use crate::case::render;
use crate::escape::{markdown_block, markdown_prose, one_line};
use crate::model::finding::Oracle;

use super::native::is_of_pytorch;
use super::{Dossier, Expected, Native, other, python, title};

pub(super) fn render(dossier: &Dossier, name: &str) -> String {
    let Dossier { finding, implementation, .. } = dossier;
    let mut text = String::new();
    let signature = &finding.signature;
    let (call, title) = (&signature.call, one_line(&title(dossier)));
    let rest = title.strip_prefix(call).unwrap_or(&title);
    let space = if rest.starts_with(' ') { " " } else { "" };
    let _ = writeln!(text, "# `{}`{space}{}\n", code(call), markdown_prose(rest.trim_start()));
    let (library, version) = (markdown_prose(&implementation.name), markdown_prose(&implementation.version));
    let _ = write!(text, "In {library} {version}. ");
    match dossier.expected {
        Expected::Outcomes(_) if signature.oracle == Oracle::Mathematics => {
            let _ = writeln!(text, "Expected by mathematics ({}).\n", markdown_prose(&one_line(&signature.text)));
        }
        Expected::Outcomes(side) => {
            let (name, version) = (markdown_prose(&side.hello.name), markdown_prose(&side.hello.version));
            let _ = writeln!(text, "Expected by {name} {version}.\n");
        }
        Expected::SameAs { rule, .. } => {
            let _ = writeln!(text, "Expected by {library} itself, of {} ({rule}).\n", other(rule));
        }
    }
    for difference in &finding.differences {
        let _ = writeln!(text, "- `{}`, {}", difference.value, difference.aspect.name());
        let _ = writeln!(text, "  - expected: `{}`", code(&difference.expected));
        let _ = writeln!(text, "  - observed: `{}`", code(&difference.observed));
    }
    if let Some(fault) = &finding.fault {
        let _ = writeln!(text, "- the implementation broke: {}", markdown_prose(&fault.to_string()));
        let stderr = fault.stderr_lines(20).join("\n");
        if !stderr.is_empty() {
            let _ = write!(text, "\n{}", markdown_block("text", &stderr));
        }
    }
    let block = |program| markdown_block("yaml", &render::program(program));
    let _ = write!(text, "\n## The program\n\n{}\n{}", how_to_run(dossier, name), block(&finding.program));
    if let Expected::SameAs { program, .. } = dossier.expected {
        let _ = write!(text, "\nThe other program:\n\n{}", block(program));
    }
    let releases = match dossier.releases {
        "" if !is_of_pytorch(implementation) => format!("Seen in {library} {version}."),
        "" => format!("Seen in {library} {version}; `broadcheck bisect {name}` looks at other releases."),
        table => table.trim_end().to_owned(),
    };
    let _ = writeln!(text, "\n## Releases\n\n{releases}\n\n## Cause\n");
    let _ = match dossier.known {
        Some(known) => writeln!(
            text,
            "`{}`: {}\n\nUpstream: {}.",
            code(&known.id),
            markdown_prose(known.why.trim()),
            markdown_prose(&known.link)
        ),
        None => writeln!(text, "Not explained yet. Upstream: unreported, as far as is known here."),
    };
    let _ = writeln!(text, "\nSignature: `{}`", code(&signature.to_string()));
    if !implementation.build.is_empty() {
        let _ = writeln!(text, "\nBuild: {}", markdown_prose(&implementation.build));
    }
    text
}

/// What shows the finding: the program with PyTorch alone, or the commands that run it, by its program, if there is one, and
/// on the adapter.
fn how_to_run(dossier: &Dossier, name: &str) -> String {
    let implementation = dossier.implementation;
    if is_of_pytorch(implementation) {
        let program = markdown_block("python", &python::render(dossier));
        return format!("With PyTorch alone, as `broadcheck repro` prints it:\n\n{program}\nAs a case has it:\n");
    }
    let library = markdown_prose(&implementation.name);
    let again = format!(
        "`broadcheck bisect {name} --impl {}` runs it on the adapter again, and exits with 1 if the difference is still \
         there.",
        code(&implementation.name)
    );
    match dossier.native {
        Some(Native { language, .. }) => format!(
            "{} runs it with {library} alone: it is the calls that the adapter makes, and ends with a comment of what \
             they printed. {again}\n",
            language.runner()
        ),
        None => format!("The adapter does not write its calls of {library} as a program. {again}\n"),
    }
}

/// A text inside of backquotes.
fn code(text: &str) -> String {
    one_line(text).replace('`', "'")
}
