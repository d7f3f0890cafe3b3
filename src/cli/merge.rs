//! `broadcheck merge`: the shards of a campaign put together.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Ending, Failure, campaign, print};
use crate::harness::campaign::FINDINGS;
use crate::harness::campaign::journal;
use crate::harness::campaign::summary::Summary;
use crate::output;

/// Put the shards of a campaign together and list their findings.
///
/// Each folder is the --out of one `broadcheck fuzz --shard` or `broadcheck exhaust --shard`. They have to be of one
/// campaign: the same implementation, specification, generator, seed and options. Missing and killed shards are
/// reported.
///
/// The new folder gets `summary.json`, which is what --format json prints, and the folder of each finding.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck merge part0 part1 part2 --out whole
  broadcheck merge part0 part1 part2 --out whole --format json

Exit codes: 0 no unknown finding, 1 an unknown finding, 2 could not merge, or nothing was found and cases are
missing or nothing was judged.")]
pub struct Merge {
    /// The folders of the shards.
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// The folder to write.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    printed: campaign::Printed,
}

impl Merge {
    pub fn run(&self) -> Result<Ending, Failure> {
        let tallies = self.folders.iter().map(|folder| journal::read(folder)).collect::<Result<Vec<_>, String>>()?;
        let summary = Summary::of_all(&tallies)?;
        let failed = |path: &Path| {
            let path = path.display().to_string();
            move |error: std::io::Error| format!("{path}: {error}")
        };
        if self.out.exists() {
            return Err(format!("{} exists already: name a new folder with --out", self.out.display()).into());
        }
        fs::create_dir_all(&self.out).map_err(failed(&self.out))?;
        let path = self.out.join("summary.json");
        output::write(&path, campaign::json(&summary)).map_err(failed(&path))?;
        for folder in summary.findings.iter().filter_map(|line| line.folder.as_ref()) {
            let to = self.out.join(FINDINGS).join(folder);
            let from = self.folders.iter().map(|part| part.join(FINDINGS).join(folder)).find(|from| from.is_dir());
            if let Some(from) = from {
                copy(&from, &to).map_err(failed(&from))?;
            }
        }
        let text = campaign::render(&summary, self.printed, &self.out);
        // A reader that closes the pipe early, such as `head`, is not an error.
        print(&text)?;
        let ending = campaign::ending(&summary)?;
        let unfinished = tallies.iter().any(|tally| tally.complete() == Some(false) || tally.ended.is_none());
        if ending == Ending::Conforms && (unfinished || !summary.missing.is_empty()) {
            return Err(
                "nothing was found, but some cases were not run: resume the shards that are missing or unfinished"
                    .into(),
            );
        }
        Ok(ending)
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for file in fs::read_dir(from)? {
        let file = file?;
        if file.file_type()?.is_dir() {
            copy(&file.path(), &to.join(file.file_name()))?;
        } else {
            fs::copy(file.path(), to.join(file.file_name()))?;
        }
    }
    Ok(())
}
