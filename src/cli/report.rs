//! `broadcheck report`: reports out of event files.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Ending, Failure, bench, events, print};
use crate::assets;
use crate::case;
use crate::harness::model::divergence;
use crate::output;
use crate::report::confirmed::{CONFIRMED, Confirmed};
use crate::report::history::{History, LIBRARY};
use crate::report::{self, Run, brief, json, junit, markdown, text};

/// Write the reports of all releases out of event files; nothing is run.
///
/// In the folder of --out: documentation.md (each documented statement in each release), matrix.md (the releases side
/// by side, with the changes between them), index.html (the same with every case, to browse) and badge.svg;
/// implementations.md (other libraries, with the rows of their campaigns that `broadcheck fuzz --row` has written to
/// the folder `campaigns` next to that of the event files); devices.md (PyTorch on a GPU beside libtorch of its release);
/// causes.md (the root causes of libtorch's known differences, with what `broadcheck confirm` has written to confirmed.json
/// there);
/// exhaustive.md, from the output of `broadcheck exhaust --format json` in the folder `exhaustive` there; and
/// benchmarks.md, from the measurements of `broadcheck bench --write` there. With --format, one run is printed instead,
/// as `broadcheck check` would have printed it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck report
  broadcheck report --events run.jsonl.gz --out site      links the page of explain if site/explain.html is there
  broadcheck report --events run.jsonl.gz --format markdown >> $GITHUB_STEP_SUMMARY
  broadcheck report --events run.jsonl.gz --format junit > junit.xml

Exit codes: 0 written, 2 could not be written; verdicts in the events do not change it.")]
pub struct Report {
    /// A folder of event files, or one of them [default: reports/events of these sources].
    #[arg(long, value_name = "DIR|FILE")]
    events: Option<PathBuf>,
    /// The folder of the reports [default: the parent of the folder of events; for one file, its folder].
    #[arg(long, value_name = "DIR", conflicts_with = "format")]
    out: Option<PathBuf>,
    /// Print one run instead; --events names its file.
    #[arg(long, value_enum, requires = "events")]
    format: Option<Format>,
    /// List everything, as after `broadcheck check --verbose`.
    #[arg(long, requires = "format")]
    verbose: bool,
}

/// The formats of one run.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Junit,
    Markdown,
}

impl Format {
    /// The run in this format. JSON has every text unchanged; the others make control characters visible.
    pub fn render(self, run: &Run, verbose: bool) -> String {
        match self {
            Format::Text if verbose => text::render(&run.visible()),
            Format::Text => brief::render(&run.visible()),
            Format::Json => json::render(run),
            Format::Junit => junit::render(&run.visible()),
            Format::Markdown => markdown::render(&run.visible()),
        }
    }
}

impl Report {
    pub fn run(&self) -> Result<Ending, Failure> {
        let from = match &self.events {
            Some(given) => given.clone(),
            None => events::default_folder()?,
        };
        if let Some(format) = self.format {
            if from.is_dir() {
                return Err(format!("--format prints one run: name its file in {}", from.display()).into());
            }
            let (_, file) = events::one(&from.display().to_string(), &from)?;
            let mut run = Run::default();
            file.events.into_iter().for_each(|event| run.take(event));
            print(&format.render(&run, self.verbose))?;
            return Ok(Ending::Conforms);
        }
        let history = History::new(events::visible(events::all(&from)?))?;
        let folder = match &self.out {
            Some(folder) => folder.clone(),
            None => from.parent().map(PathBuf::from).unwrap_or_default(),
        };
        let mut files = report::files(&history, &events::campaigns(&from)?, folder.join(report::PLAYGROUND).is_file());
        let worlds = events::exhaustive(&from)?;
        if !worlds.is_empty() {
            files.push(("exhaustive.md", report::exhaustive::render(&worlds)));
        }
        if !history.releases().is_empty() {
            let specification = case::load(&assets::specification()?).map_err(|error| error.to_string())?;
            let divergences = divergence::all_of(LIBRARY, &specification)?;
            let confirmed = Confirmed::read(&from.with_file_name(CONFIRMED))?;
            files.push(("causes.md", report::causes::render(&history, &divergences, &confirmed)));
        }
        files.extend(bench::report(&from.parent().map(PathBuf::from).unwrap_or_default())?);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for (name, text) in files {
            let path = folder.join(name);
            output::write_named(&path, text)?;
            print(&format!("{}\n", path.display()))?;
        }
        Ok(Ending::Conforms)
    }
}
