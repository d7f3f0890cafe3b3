//! `broadcheck scale`: a campaign on many machines, out of one journal.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::campaign::json;
use super::{Ending, Failure, print};
use crate::harness::campaign::cases::MAX_SHARDS;
use crate::harness::campaign::scale::Scale as Scaled;
use crate::report;

/// Say what a campaign would come to on many machines, out of the journal of one.
///
/// How many signatures so many cases have is estimated from how often each was found. What a machine writes is counted in its
/// journal. What a merge costs is measured: as many journals as machines are written to a temporary folder and put together.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck fuzz --cases 100000 --out measured
  broadcheck scale measured --machines 1000
  broadcheck scale measured --machines 1000 --format markdown > reports/scale.md

Exit codes: 0 told, 2 could not be told.")]
pub struct Scale {
    /// The folder of the campaign.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// How many machines there are.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=MAX_SHARDS))]
    machines: u64,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Markdown,
    Json,
}

impl Scale {
    pub fn run(&self) -> Result<Ending, Failure> {
        let scratch = tempfile::tempdir()?;
        let scale = Scaled::of(&self.folder, self.machines, scratch.path())?;
        let text = match self.format {
            Format::Markdown => report::scale::render(&scale),
            Format::Json => json(&scale),
        };
        // A reader that has seen enough, such as `head`, is no failure.
        print(&text)?;
        Ok(Ending::Conforms)
    }
}
