//! `broadcheck bisect`: since which release a finding is there.

use std::path::PathBuf;

use clap::Args;

use super::runner::Named;
use super::{Ending, Failure, print};
use crate::adapter::Limits;
use crate::escape::{self, visible};
use crate::harness::runner::label;
use crate::harness::triage::{self, README, bisect};
use crate::install;
use crate::output;

/// Run a finding on the installed releases and say since when it is there.
///
/// Prints a table, puts it into the finding's README.md in place of the one before, and writes bisect.json beside it.
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
        let recorded = bisect::read(&self.finding)?;
        let readme = self.finding.join(README);
        let text = std::fs::read_to_string(&readme).map_err(|error| format!("{}: {error}", readme.display()))?;
        let mut rows = Vec::new();
        for given in self.given()? {
            let named = Named::parse("--impl", &given).and_then(|named| named.runner(&Limits::default()));
            let row = match named {
                Ok(mut runner) => {
                    let implementation = label(&runner.hello());
                    bisect::Row { implementation, verdict: recorded.judge(&mut runner) }
                }
                Err(failure) => {
                    let why = failure.to_string().lines().next().unwrap_or_default().to_owned();
                    bisect::Row { implementation: given, verdict: bisect::Verdict::CannotRun { why } }
                }
            };
            rows.push(row);
        }
        let table = visible(&bisect::table(&recorded.signature, &rows)).into_owned();
        let json = serde_json::json!({
            "signature": recorded.signature,
            "releases": rows,
            "since": bisect::since(&rows),
        });
        let write = |path: PathBuf, text: String| output::write_named(&path, text);
        write(readme, triage::with_table(&text, &table))?;
        write(
            self.finding.join("bisect.json"),
            escape::json(&serde_json::to_string_pretty(&json)?).into_owned() + "\n",
        )?;
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
