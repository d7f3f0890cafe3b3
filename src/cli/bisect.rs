//! `broadcheck bisect`: the first release that shows a finding.

use std::path::{Path, PathBuf};

use clap::Args;

use super::runner::{Named, specification};
use super::{Ending, Failure, print};
use crate::adapter::{Hello, Implementation as _, Limits};
use crate::case;
use crate::escape::{self, visible};
use crate::harness::model::divergence::{self, Divergence, Source};
use crate::harness::triage::{self, bisect};
use crate::harness::{format::label, runner::Runner};
use crate::install;
use crate::output;
use crate::reference::Reference;

/// Run findings on the installed releases and find the first release that shows each.
///
/// Prints a table (with several findings, a line for each), writes it into each finding's README.md, and writes
/// bisect.json next to it. If the implementation of a finding is among them and still shows it, its present outcome is
/// written into the folder as well.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck bisect findings/reference-add-values-1a2b3c4d
  broadcheck bisect findings/*/
  broadcheck bisect findings/reference-add-values-1a2b3c4d --releases 2.12.0,2.13.0
  broadcheck bisect findings/reference-add-values-1a2b3c4d --impl 'python3 my_adapter.py'

Exit codes: 0 no implementation shows any of them, 1 one does, 2 could not run.")]
pub struct Bisect {
    /// The folder of a finding; may be given more than once.
    #[arg(value_name = "FINDING-DIR", required = true)]
    findings: Vec<PathBuf>,
    /// Only these releases, oldest first; missing ones are installed [default: the installed releases].
    #[arg(long, value_name = "VERSION", value_delimiter = ',')]
    releases: Vec<String>,
    /// Another implementation: reference, libtorch, or the command of an adapter; may be given more than once. Without
    /// --releases these alone are run.
    #[arg(long = "impl", value_name = "NAME|CMD")]
    implementations: Vec<String>,
}

/// A finding with its outcomes in the releases so far.
pub(super) struct Finding {
    folder: PathBuf,
    name: String,
    recorded: bisect::Recorded,
    rows: Vec<bisect::Row>,
}

/// Runs the findings in folders on implementations, named as `--impl` has it, the oldest first; each is started once.
pub(super) fn run_on(folders: &[PathBuf], given: &[String]) -> Result<Vec<Finding>, Failure> {
    let finding = |folder: &PathBuf| -> Result<Finding, Failure> {
        let recorded = bisect::read(folder)?;
        Ok(Finding { folder: folder.clone(), name: name_of(folder)?, recorded, rows: Vec::new() })
    };
    let mut findings = folders.iter().map(finding).collect::<Result<Vec<_>, _>>()?;
    for given in given {
        let mut runner = Named::parse("--impl", given).and_then(|named| named.runner(&Limits::default()));
        for finding in &mut findings {
            let row = match &mut runner {
                Ok(runner) => finding.on(runner),
                Err(failure) => {
                    let why = failure.to_string().lines().next().unwrap_or_default().to_owned();
                    bisect::Row { implementation: given.clone(), verdict: bisect::Verdict::CannotRun { why } }
                }
            };
            finding.rows.push(row);
        }
    }
    Ok(findings)
}

/// The installed releases as `--impl` has them, the oldest first.
pub(super) fn installed() -> Result<Vec<String>, Failure> {
    Ok(install::list()?.into_iter().rev().map(|entry| format!("libtorch@{}", entry.version)).collect())
}

impl Bisect {
    pub fn run(&self) -> Result<Ending, Failure> {
        let findings = run_on(&self.findings, &self.given()?)?;
        let several = findings.len() > 1;
        for finding in &findings {
            let table = finding.write()?;
            // A reader that closes the pipe early, such as `head`, is not an error.
            match several {
                true => print(&finding.since())?,
                false => print(&table)?,
            }
        }
        let mut rows = findings.iter().flat_map(|finding| &finding.rows);
        if rows.clone().all(|row| matches!(row.verdict, bisect::Verdict::CannotRun { .. })) {
            return Err("no release could run the program".into());
        }
        Ok(if rows.any(|row| row.verdict == bisect::Verdict::Same) { Ending::Differs } else { Ending::Conforms })
    }

    /// The implementations to run, as `--impl` takes them, the oldest release first.
    fn given(&self) -> Result<Vec<String>, Failure> {
        let mut given: Vec<String> = self.releases.iter().map(|version| format!("libtorch@{version}")).collect();
        if given.is_empty() && self.implementations.is_empty() {
            given = installed()?;
        }
        given.extend(self.implementations.iter().cloned());
        if given.is_empty() {
            return Err(
                "no release is installed: run `broadcheck libtorch install`, or name releases with --releases".into()
            );
        }
        Ok(given)
    }
}

impl Finding {
    /// Runs the finding on one implementation and records its outcome.
    fn on(&mut self, runner: &mut Runner) -> bisect::Row {
        let hello = runner.hello();
        let own = (&self.recorded.implementation.name, &self.recorded.implementation.version);
        let verdict = match (&hello.name, &hello.version) == own {
            true => self.recorded.renew(runner),
            false => self.recorded.judge(runner),
        };
        bisect::Row { implementation: label(&hello), verdict }
    }

    /// Its name, and since which release it is there, as a line.
    pub(super) fn since(&self) -> String {
        format!("{}: {}\n", visible(&self.name), visible(&bisect::since(&self.rows)))
    }

    /// Writes the folder anew, and returns the table.
    pub(super) fn write(&self) -> Result<String, Failure> {
        let table = visible(&bisect::table(&self.rows)).into_owned();
        let json = serde_json::json!({
            "signature": self.recorded.signature,
            "releases": self.rows,
            "since": bisect::since(&self.rows),
        });
        let json = escape::json(&serde_json::to_string(&json)?).into_owned() + "\n";
        let known = explained(&self.recorded, &self.name)?;
        let mut files =
            self.recorded.with_dossier(&table, known.as_ref(), |dossier| triage::files(dossier, &self.name));
        files.push(("bisect.json", json));
        for (file, text) in files {
            output::write_named(&self.folder.join(file), text)?;
        }
        Ok(table)
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
