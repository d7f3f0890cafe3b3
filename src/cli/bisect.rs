//! `broadcheck bisect`: since which release a finding is there.

use std::path::{Path, PathBuf};

use clap::Args;

use super::runner::{Named, specification};
use super::{Ending, Failure, print};
use crate::adapter::{Hello, Implementation as _, Limits};
use crate::case;
use crate::escape::{self, visible};
use crate::harness::divergence::{self, Divergence, Source};
use crate::harness::runner::label;
use crate::harness::triage::{self, bisect};
use crate::install;
use crate::output;
use crate::reference::Reference;

/// Run a finding on the installed releases and say since when it is there.
///
/// Prints a table and writes it into the finding's README.md, and bisect.json next to it. What the implementation of the
/// finding does now, if it is among them and still shows the finding, is written into the folder as well.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck bisect findings/reference-add-values-1a2b3c4d
  broadcheck bisect findings/reference-add-values-1a2b3c4d --releases 2.12.0,2.13.0
  broadcheck bisect findings/reference-add-values-1a2b3c4d --impl 'python3 my_adapter.py'

Exit codes: 0 no implementation shows the finding, 1 one does, 2 could not run.")]
pub struct Bisect {
    /// The folder of the finding.
    #[arg(value_name = "FINDING-DIR")]
    finding: PathBuf,
    /// Only these releases, oldest first; they are installed if need be [default: those that are installed].
    #[arg(long, value_name = "VERSION", value_delimiter = ',')]
    releases: Vec<String>,
    /// Another implementation: reference, libtorch, or the command of an adapter; may be given more than once. Without
    /// --releases these alone are run.
    #[arg(long = "impl", value_name = "NAME|CMD")]
    implementations: Vec<String>,
}

impl Bisect {
    pub fn run(&self) -> Result<Ending, Failure> {
        let mut recorded = bisect::read(&self.finding)?;
        let mut rows = Vec::new();
        for given in self.given()? {
            let named = Named::parse("--impl", &given).and_then(|named| named.runner(&Limits::default()));
            let row = match named {
                Ok(mut runner) => {
                    let hello = runner.hello();
                    let own = (&recorded.implementation.name, &recorded.implementation.version);
                    let verdict = match (&hello.name, &hello.version) == own {
                        true => recorded.renew(&mut runner),
                        false => recorded.judge(&mut runner),
                    };
                    bisect::Row { implementation: label(&hello), verdict }
                }
                Err(failure) => {
                    let why = failure.to_string().lines().next().unwrap_or_default().to_owned();
                    bisect::Row { implementation: given, verdict: bisect::Verdict::CannotRun { why } }
                }
            };
            rows.push(row);
        }
        let table = visible(&bisect::table(&rows)).into_owned();
        let json = serde_json::json!({
            "signature": recorded.signature,
            "releases": rows,
            "since": bisect::since(&rows),
        });
        let write = |name: &str, text: String| output::write_named(&self.finding.join(name), text);
        let name = name_of(&self.finding)?;
        let known = explained(&recorded, &name)?;
        for (file, text) in recorded.with_dossier(&table, known.as_ref(), |dossier| triage::renewed(dossier, &name)) {
            write(file, text)?;
        }
        write("bisect.json", escape::json(&serde_json::to_string(&json)?).into_owned() + "\n")?;
        // A reader that has seen enough, such as `head`, is no failure.
        print(&table)?;
        if rows.iter().all(|row| matches!(row.verdict, bisect::Verdict::CannotRun { .. })) {
            return Err("none of them could run the program".into());
        }
        let shown = rows.iter().any(|row| row.verdict == bisect::Verdict::Same);
        Ok(if shown { Ending::Differs } else { Ending::Conforms })
    }

    /// What to run, as `--impl` has it, the oldest release first.
    fn given(&self) -> Result<Vec<String>, Failure> {
        let mut given: Vec<String> = self.releases.iter().map(|version| format!("libtorch@{version}")).collect();
        if given.is_empty() && self.implementations.is_empty() {
            given = install::list()?.into_iter().rev().map(|entry| format!("libtorch@{}", entry.version)).collect();
        }
        given.extend(self.implementations.iter().cloned());
        if given.is_empty() {
            return Err("no release is installed; `broadcheck libtorch install` does that".into());
        }
        Ok(given)
    }
}

/// The name of a finding's folder.
pub(super) fn name_of(folder: &Path) -> Result<String, Failure> {
    let whole = std::fs::canonicalize(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
}

/// The known divergence that names the folder.
pub(super) fn explained(recorded: &bisect::Recorded, name: &str) -> Result<Option<Divergence>, Failure> {
    let (library, version) = (recorded.implementation.name.clone(), recorded.implementation.version.clone());
    let hello = Hello { name: library, version, ..Reference.hello() };
    let specification = case::load(&specification(None)?)?;
    let divergences = divergence::load(&Source::Own, &hello, &specification)?;
    Ok(divergences.into_iter().find(|divergence| divergence.findings.iter().any(|folder| folder == name)))
}
