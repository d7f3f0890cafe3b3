//! What a person reads first: what differs, in what, and how to see it.

use std::fmt::Write as _;

use crate::case::render;
use crate::escape::{markdown_block, markdown_prose, one_line};

use super::{Dossier, Expected};

/// The lines between which the table of releases stands.
const BEGIN: &str = "<!-- releases: written by `broadcheck bisect` -->";
const END: &str = "<!-- end of releases -->";

pub(super) fn render(dossier: &Dossier, name: &str) -> String {
    let Dossier { finding, implementation, .. } = dossier;
    let mut text = String::new();
    let signature = &finding.signature;
    let _ = writeln!(text, "# {}: {}\n", signature.call, signature.kind);
    let _ = writeln!(text, "Signature: `{}`\n", code(&signature.to_string()));
    let _ =
        writeln!(text, "Found in {} {}", markdown_prose(&implementation.name), markdown_prose(&implementation.version));
    if !implementation.build.is_empty() {
        let _ = writeln!(text, "({})", markdown_prose(&implementation.build));
    }
    text.push_str("\n## What differs\n\n");
    match dossier.expected {
        Expected::Outcomes(side) => {
            let (name, version) = (markdown_prose(&side.hello.name), markdown_prose(&side.hello.version));
            let _ = writeln!(text, "Expected by {name} {version}.\n");
        }
        Expected::SameAs { rule, .. } => {
            let _ =
                writeln!(text, "Expected by the implementation itself, on a program that means the same ({rule}).\n");
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
    let _ = write!(text, "\n## The program\n\n{}", block(&finding.program));
    if let Expected::SameAs { program, .. } = dossier.expected {
        let _ = write!(text, "\nand the one that means the same\n\n{}", block(program));
    }
    let _ = writeln!(text, "\n## Releases\n\n{BEGIN}\nNot looked at yet: `broadcheck bisect {name}` does it.\n{END}");
    let _ = writeln!(
        text,
        "\n## How to see it\n\n\
         - `python3 repro.py` with PyTorch alone: prints expected and observed; exits with 1 if the difference is there.\n\
         - `repro.rs` with `tch` alone; its first lines say how.\n\
         - `{}` becomes a case as `spec/regressions/{name}.yaml`.",
        super::CASE
    );
    text
}

/// A text inside of backquotes.
fn code(text: &str) -> String {
    one_line(text).replace('`', "'")
}

/// The text of a `README.md` with another table of releases; at its end, if it has lost its place.
pub fn with_table(readme: &str, table: &str) -> String {
    let block = format!("{BEGIN}\n{}\n{END}", table.trim_end());
    let place = readme.find(BEGIN).and_then(|begin| Some((begin, begin + readme[begin..].find(END)? + END.len())));
    match place {
        Some((begin, end)) => format!("{}{block}{}", &readme[..begin], &readme[end..]),
        None => format!("{}\n\n## Releases\n\n{block}\n", readme.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_releases_is_replaced_and_nothing_else() {
        let readme = format!("# a\n\n{BEGIN}\nold\n{END}\n\nrest\n");
        let once = with_table(&readme, "| new |\n");
        assert_eq!(once, format!("# a\n\n{BEGIN}\n| new |\n{END}\n\nrest\n"));
        assert_eq!(with_table(&once, "| new |"), once);
        assert!(with_table("# a\n", "| new |").ends_with(&format!("{BEGIN}\n| new |\n{END}\n")));
    }
}
