//! The README of a finding, which a person reads first: what differs, since when, and why, as far as that is known.

use std::fmt::Write as _;

use crate::case::render;
use crate::escape::{markdown_block, markdown_prose, one_line};
use crate::model::finding::Oracle;

use super::{Dossier, Expected, PYTHON, other, title};

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
    let _ = write!(
        text,
        "\n## The program\n\n`python3 {PYTHON}` runs it with PyTorch alone.\n\n{}",
        block(&finding.program)
    );
    if let Expected::SameAs { program, .. } = dossier.expected {
        let _ = write!(text, "\nThe other program:\n\n{}", block(program));
    }
    let releases = match dossier.releases {
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

/// A text inside of backquotes.
fn code(text: &str) -> String {
    one_line(text).replace('`', "'")
}
