//! `broadcheck diff`: the differences between two releases.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Ending, Failure, events, print};
use crate::report::changes::{Kind, between};
use crate::report::diff;
use crate::report::history::History;

/// List the differences between two releases: outcomes, message texts, warnings.
///
/// It compares event files of `broadcheck matrix` or `broadcheck check --events`, value by value, and runs nothing.
/// Cases that one of the two does not support, and aspects that one does not report, are not compared. Changes are
/// grouped by kind, by statement and by operation; the first case of each group is shown with its program, and with the
/// reason where the change is a known one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck diff 2.12.1 2.13.0
  broadcheck diff 2.0.1 2.15.0 --format markdown
  broadcheck diff 2.12.1 2.13.0 --ignore message,warnings
  broadcheck diff reference 2.13.0
  broadcheck diff before.jsonl.gz after.jsonl.gz

Exit codes: 0 nothing differs, 1 something does, 2 could not compare.")]
pub struct Diff {
    /// A release (2.12.1), another implementation (reference), or an event file.
    #[arg(value_name = "A")]
    before: String,
    /// The release, implementation or event file to compare with it.
    #[arg(value_name = "B")]
    after: String,
    /// Kinds of changes to leave out, with commas between them: message, warnings, strides, aliasing, rounding, …
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = kind)]
    ignore: Vec<Kind>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The folder of the event files of releases [default: reports/events of these sources].
    #[arg(long, value_name = "DIR")]
    events: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
}

/// The kind of changes of this name, as in JSON reports.
fn kind(given: &str) -> Result<Kind, String> {
    let found = Kind::ALL.iter().copied().find(|kind| kind.key() == given);
    found.ok_or_else(|| {
        let names: Vec<String> = Kind::ALL.iter().map(|kind| kind.key()).collect();
        format!("there is no kind of change of this name: choose among {}", names.join(", "))
    })
}

impl Diff {
    pub fn run(&self) -> Result<Ending, Failure> {
        let folder = match &self.events {
            Some(given) => given.clone(),
            None => events::default_folder()?,
        };
        let (before, after) = (events::one(&self.before, &folder)?, events::one(&self.after, &folder)?);
        let (before_name, after_name) = (before.0.clone(), after.0.clone());
        let [before, after] = [before, after].map(|(name, file)| match self.format {
            Format::Json => (name, file),
            Format::Text | Format::Markdown => (name, file.visible()),
        });
        let first = History::new(vec![before])?;
        let second = History::new(vec![after])?;
        let (before_at, after_at) = (only(&first, &before_name)?, only(&second, &after_name)?);
        let changes = between((&first, before_at), (&second, after_at), &self.ignore);
        if changes.cases == 0 && changes.generated == 0 {
            let message = format!(
                "{before_name} and {after_name} have no case in common: run the older one again with `broadcheck matrix`"
            );
            return Err(message.into());
        }
        let report = match self.format {
            Format::Text => diff::text(&changes),
            Format::Json => diff::json(&changes),
            Format::Markdown => diff::markdown(&changes),
        };
        print(&report)?;
        let same = changes.differing == 0 && changes.generated_differing == 0;
        Ok(if same { Ending::Conforms } else { Ending::Differs })
    }
}

/// The implementation that a file is about: the last one that is not the reference, if there are several.
fn only(history: &History, name: &str) -> Result<usize, Failure> {
    let columns = &history.columns;
    let at = columns.iter().rposition(|column| column.name != "reference").or(columns.len().checked_sub(1));
    let at = at.ok_or_else(|| format!("{name} has no implementation"))?;
    match &columns[at].came {
        Ok(_) => Ok(at),
        Err(reason) => Err(format!("{name} has no data of {}: {reason}", columns[at].label).into()),
    }
}
