//! `broadcheck matrix`: the specification and the seeded corpus on releases of libtorch, or the specification on other
//! implementations.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::HumanDuration;

use super::campaign::run::stopped_by_signals;
use super::runner::{GIVE_UP, Named, TIMEOUT, limits, releases};
use super::{Ending, Failure, print, tell};
use crate::adapter::CommandLine;
use crate::case;
use crate::escape::visible;
use crate::harness::campaign::plausible::MAX_TIMEOUT;
use crate::harness::check::matrix::{MatrixRun, Row, Subject};
use crate::harness::model::divergence::Source;
use crate::harness::model::event::{Corpus, Event};
use crate::harness::runner::Start;
use crate::implementations;
use crate::install::{Installer, Progress};

/// Run the specification on releases of libtorch, or on other implementations, and keep an event file of each.
///
/// After the cases come generated programs, which the reference judges. Each release is installed if it is missing, run,
/// and removed from the cache again if it was not there before. One that cannot be installed or run is a row without
/// data, with the reason, or keeps the row of an earlier run. A case that an event file has judged already, with the same
/// program and the same expectation, is not run again: a new case is one program for each release, and an interrupted
/// matrix continues where it stopped. A change of divergences.yaml alone runs nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck matrix
  broadcheck matrix --releases 2.0.1,2.13.0 --out /tmp/events
  broadcheck matrix --releases latest --again --keep
  broadcheck matrix --implementations all
  broadcheck matrix --implementations numpy,jax --again

Exit codes: 0 all of them conform, 1 one does not conform or has no data, 2 could not run.")]
pub struct Matrix {
    /// The releases, with commas between them: versions, `latest`, or `all` that broadcheck knows.
    #[arg(long, value_name = "LIST", default_value = "all", value_delimiter = ',')]
    releases: Vec<String>,
    /// Other implementations instead, with commas between them: names that `broadcheck impl list` prints, or `all` of
    /// them. They run the cases, without generated programs.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["releases", "corpus", "prune"])]
    implementations: Vec<String>,
    /// The folder of the event files.
    #[arg(long, value_name = "DIR", default_value = "reports/events")]
    out: PathBuf,
    /// The number of generated programs to run after the cases.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    corpus: u64,
    /// The seed of the generated programs.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    corpus_seed: u64,
    /// The number of releases that run at once; adapters are built one at a time.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Keep newly installed releases in the cache. A release takes half a gigabyte.
    #[arg(long, conflicts_with = "prune")]
    keep: bool,
    /// Remove every release from the cache after its run, also those that were there before.
    #[arg(long)]
    prune: bool,
    /// Run every case again, whatever the event files have.
    #[arg(long)]
    again: bool,
    /// Judge by the known differences in this file, in place of those that come with broadcheck.
    #[arg(long, value_name = "FILE")]
    divergences: Option<PathBuf>,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
    /// Seconds that a program may take before it is a hang.
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT, value_parser = clap::value_parser!(u64).range(1..=MAX_TIMEOUT))]
    timeout: u64,
    /// Give one up after so many unpinned crashes and hangs; 0 for never. Its row has the cases judged by then,
    /// and does not conform; another run continues with the rest.
    #[arg(long, value_name = "N", default_value_t = GIVE_UP)]
    give_up: u64,
    /// The folder of the specification.
    #[arg(long, value_name = "DIR")]
    spec: Option<PathBuf>,
}

impl Matrix {
    pub fn run(&self) -> Result<Ending, Failure> {
        let specification = case::load(&super::runner::specification(self.spec.as_deref())?)
            .map_err(|error| format!("the specification cannot be read\n{error}"))?;
        let installer = Installer::from_env()?;
        let subjects = self.subjects(&installer)?;
        std::fs::create_dir_all(&self.out).map_err(|error| format!("--out {}: {error}", self.out.display()))?;
        let corpus = Corpus { seed: self.corpus_seed, programs: self.corpus };
        let corpus = self.implementations.is_empty().then_some(corpus);
        if self.divergences.is_some() && !self.implementations.is_empty() && subjects.len() > 1 {
            return Err("--divergences needs one implementation: name it with --implementations".into());
        }
        let halt = stopped_by_signals("stopping after the rows are saved; press Ctrl-C again to stop at once\n")?;
        let matrix = MatrixRun {
            specification: &specification,
            divergences: self.divergences.clone().map_or(Source::Own, Source::File),
            corpus,
            out: &self.out,
            limits: limits(self.timeout, self.give_up),
            give_up: self.give_up,
            halt: Arc::clone(&halt),
            corpus_digest: OnceLock::new(),
        };

        let queue: Mutex<VecDeque<&Subject>> = Mutex::new(subjects.iter().collect());
        let rows: Mutex<Vec<Row>> = Mutex::default();
        let failure: Mutex<Option<String>> = Mutex::default();
        let work = || {
            loop {
                if halt.load(Ordering::Relaxed) {
                    return;
                }
                let next = queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop_front();
                let Some(subject) = next else { return };
                match self.one(subject, &installer, &matrix) {
                    Ok(row) => rows.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(row),
                    Err(error) => {
                        // A folder that cannot be written now cannot be written after the run.
                        queue.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
                        *failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error.to_string());
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(work);
            }
        });
        if let Some(failure) = failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            return Err(failure.into());
        }
        let rows = rows.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let green = rows.iter().filter(|row| row.is_green()).count();
        let what = if self.implementations.is_empty() { "releases" } else { "implementations" };
        print(&format!("{green} of {} {what} conform; event files are in {}\n", rows.len(), self.out.display()))?;
        Ok(match () {
            () if halt.load(Ordering::Relaxed) => Ending::Interrupted,
            () if green == rows.len() => Ending::Conforms,
            () => Ending::Differs,
        })
    }

    /// The releases or implementations to run, in the given order.
    fn subjects(&self, installer: &Installer) -> Result<Vec<Subject>, Failure> {
        if self.implementations.is_empty() {
            return Ok(releases(&self.releases, installer)?.iter().map(|version| Subject::release(version)).collect());
        }
        let known: Vec<String> = implementations::known()?.into_iter().map(|known| known.name).collect();
        let mut names: Vec<&String> = Vec::new();
        for word in &self.implementations {
            let named: Vec<&String> = known.iter().filter(|name| word == "all" || *name == word).collect();
            if named.is_empty() {
                return Err(format!("there is no implementation `{word}`: choose among {}", known.join(", ")).into());
            }
            names.extend(named);
        }
        names.dedup();
        Ok(names.into_iter().map(|name| Subject::implementation(name)).collect())
    }

    /// One of them, from its installation to its row.
    fn one(&self, subject: &Subject, installer: &Installer, matrix: &MatrixRun<'_>) -> Result<Row, Failure> {
        let started = Instant::now();
        let earlier = if self.again { None } else { matrix.earlier(subject) };
        if let Some(earlier) = &earlier
            && let Some(row) = matrix.settled(subject, earlier)?
        {
            print(&visible(&line(subject, &row, "done before")))?;
            return Ok(row);
        }
        let progress = if self.quiet { Progress::silent() } else { Progress::auto() };
        let release = subject.version.as_deref();
        let was_there = release.is_none_or(|version| installer.find(Some(version)).is_ok());
        let start = match release {
            Some(version) => installer
                .libtorch(Some(version), &progress)
                .map(|installed| Start::Adapter(CommandLine::new(installed.adapter)))
                .map_err(|error| error.to_string()),
            None => Named::parse("--implementations", &subject.given)
                .map(|named| named.start)
                .map_err(|error| error.to_string()),
        };
        let mut counter = Counter::new(subject, self.quiet);
        let row = matrix.run(subject, start, earlier.as_ref(), |event| counter.hear(event))?;
        counter.clear();
        if let Some(version) = release.filter(|_| self.prune || !(was_there || self.keep)) {
            installer.remove(version, &progress)?;
        }
        print(&visible(&line(subject, &row, &HumanDuration(started.elapsed()).to_string())))?;
        Ok(row)
    }
}

fn line(subject: &Subject, row: &Row, note: &str) -> String {
    let state = match row {
        Row::NoData(reason) => format!("no data: {}", reason.lines().next().unwrap_or_default()),
        Row::Kept(_, reason) => {
            let reason = reason.lines().next().unwrap_or_default();
            format!("kept from an earlier run, without new and changed cases: {reason}")
        }
        Row::Ran(tally) => {
            let corpus = tally.corpus.as_ref().map(|corpus| {
                let (agree, known, differ, lacks) = (corpus.agree, corpus.known, corpus.differ, corpus.unsupported);
                format!("; corpus: {agree} agree, {known} known, {differ} differ, {lacks} unsupported")
            });
            let (passed, failed) = (tally.passed, tally.failed);
            let (diverging, unsupported) = (tally.diverging, tally.unsupported);
            let specific = tally.release_specific;
            let not_run = if tally.not_run > 0 { format!(", {} not run", tally.not_run) } else { String::new() };
            let ended = tally.ended_badly.as_ref().map(|how| format!("; {how}"));
            format!(
                "cases: {passed} passed, {failed} failed, {diverging} as known, {specific} release-specific, \
                 {unsupported} unsupported{not_run}{}{}",
                corpus.unwrap_or_default(),
                ended.unwrap_or_default()
            )
        }
    };
    format!("{:17} {state} ({note})\n", subject.label())
}

/// The progress of a run: a line now and then, or a line that is overwritten on a terminal.
struct Counter {
    label: String,
    of: u64,
    done: u64,
    shown: Instant,
    form: Option<bool>,
}

impl Counter {
    fn new(subject: &Subject, quiet: bool) -> Counter {
        let terminal = std::io::stderr().is_terminal();
        Counter { label: subject.label(), of: 0, done: 0, shown: Instant::now(), form: (!quiet).then_some(terminal) }
    }

    fn hear(&mut self, event: &Event) {
        match event {
            Event::Started(started) => {
                self.of = started.cases as u64 + started.corpus.map_or(0, |corpus| corpus.programs);
            }
            Event::Judged(_) | Event::Generated(_) => self.done += 1,
            _ => {}
        }
        let Some(terminal) = self.form else { return };
        let every = Duration::from_millis(if terminal { 200 } else { 15_000 });
        if self.shown.elapsed() >= every {
            self.shown = Instant::now();
            let text = format!("{}: {} of {} programs", self.label, self.done, self.of);
            if terminal { tell(&format!("\r{text}")) } else { tell(&format!("{text}\n")) }
        }
    }

    fn clear(&self) {
        if self.form == Some(true) {
            tell(&format!("\r{:60}\r", ""));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_data_says_why() {
        let text = line(&Subject::release("2.0.1"), &Row::NoData("it does not build\nat all".into()), "3 seconds");
        assert_eq!(text, "libtorch 2.0.1    no data: it does not build (3 seconds)\n");
    }
}
