//! `broadcheck check`: the specification on implementations.

mod pin;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::campaign;
use super::fuzz::{Fuzz, RunOptions};
use super::report::Format;
use super::runner::{GIVE_UP, Named, TIMEOUT, did_you_mean, limits};
use super::{Ending, Failure, print};
use crate::case;
use crate::escape::{is_hidden, visible};
use crate::harness::campaign::plausible::MAX_TIMEOUT;
use crate::harness::check::required::Required;
use crate::harness::check::{Candidate, Selection, check};
use crate::harness::give_up;
use crate::harness::model::divergence::Source;
use crate::harness::model::event::file::{self, Header};
use crate::harness::model::event::{Corpus, Event, Tally, Totals};
use crate::report::Run;

/// Run the specification on implementations and report which of them conform.
///
/// Prints the totals, the failures grouped by difference (each with an example and the command that repeats it), which
/// statements of the documents are false, and the totals again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck check
  broadcheck check --impl libtorch@2.13.0 --clause in-place-keeps-shape
  broadcheck check --impl reference --case einsum/
  broadcheck check --impl 'python3 my_adapter.py' --format json
  broadcheck check --impl libtorch --corpus 1000 --events libtorch.jsonl.gz
  broadcheck check --impl libtorch --corpus opinfo.jsonl.gz --out broadcheck-corpus
  broadcheck check --impl 'python3 my_adapter.py' --require 145
  broadcheck check --impl pytorch --python venv/bin/python
  broadcheck check --impl 'python3 my_adapter.py' --pin known-differences.yaml
  broadcheck check --impl 'python3 my_adapter.py' --divergences known-differences.yaml
  broadcheck check --impl 'python3 my_adapter.py' --timeout 5 --give-up 0

Exit codes: 0 conforms (in what it supports), 1 does not conform or less than required, 2 could not run, \
or was given up.")]
pub struct Check {
    /// reference, libtorch, libtorch@VERSION, a name that `broadcheck impl list` prints, or the command of an adapter; may
    /// be given more than once [default: reference and libtorch]. Variables may stand before it, as in a shell:
    /// 'ATEN_CPU_CAPABILITY=default libtorch'.
    #[arg(long = "impl", value_name = "NAME|CMD")]
    implementations: Vec<String>,
    /// Run an implementation in Python, such as numpy or pytorch, on this interpreter, with the library that is installed
    /// there, instead of the pinned one.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Only the cases of this clause; may be given more than once.
    #[arg(long, value_name = "ID")]
    clause: Vec<String>,
    /// Only the case with this id, or the cases whose ids begin so; may be given more than once.
    #[arg(long, value_name = "ID")]
    case: Vec<String>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// List everything: each clause with its cases, each statement, each case that is unsupported or known to differ, and
    /// every failure. With --corpus, every signature below its group.
    #[arg(long)]
    verbose: bool,
    /// Also write all events to this file, for `broadcheck diff` and `broadcheck report`. One that ends in .gz is
    /// compressed. In a folder, the file is named after the implementation, and shares with the others what is equal in
    /// all of them.
    #[arg(long, value_name = "FILE|DIR/")]
    events: Option<PathBuf>,
    /// After the cases, also run so many generated programs; or, in place of the cases, the programs of a file that
    /// `broadcheck corpus` wrote, judged as `broadcheck fuzz` judges its own.
    #[arg(long, value_name = "N|FILE")]
    corpus: Option<Programs>,
    /// The seed of the generated programs.
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "corpus")]
    corpus_seed: u64,
    /// Where the findings in the programs of a file are kept; `broadcheck fuzz --resume --out DIR` continues
    /// [default: broadcheck-corpus].
    #[arg(long, value_name = "DIR", requires = "corpus")]
    out: Option<PathBuf>,
    /// How many adapter processes run the programs of a file [default: half of the processors].
    #[arg(long, value_name = "N", requires = "corpus", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Judge by the known differences in this file, in place of those that come with broadcheck. A difference that it
    /// lacks fails, and so does one in it that no longer occurs, and a whole run that is judged on fewer cases of an
    /// operation than the file requires.
    #[arg(long, value_name = "FILE")]
    divergences: Option<PathBuf>,
    /// Write the present differences to this file, grouped by cause, and judge by it. You then add the reason of each
    /// cause; in an existing file, reasons that people wrote are kept.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["divergences", "no_divergences", "corpus"])]
    pin: Option<PathBuf>,
    /// Judge without known differences, so that each difference is a failure, but those that a front end of PyTorch has
    /// from libtorch. `adapters/pin.py` reads this output.
    #[arg(long, conflicts_with = "divergences")]
    no_divergences: bool,
    /// Require that each implementation but the reference is judged on at least so many cases. One that declares to lack
    /// more does not conform.
    #[arg(long, value_name = "N", default_value_t = 0)]
    require: usize,
    /// Require that each implementation but the reference is judged on every case that was judged in this event file.
    #[arg(long, value_name = "EVENTS")]
    require_like: Option<PathBuf>,
    /// Seconds that a program may take before it is a hang.
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT, value_parser = clap::value_parser!(u64).range(1..=MAX_TIMEOUT))]
    timeout: u64,
    /// Give an implementation up, with exit code 2, after so many unpinned crashes and hangs; 0 for never.
    #[arg(long, value_name = "N", default_value_t = GIVE_UP)]
    give_up: u64,
    /// The folder of the specification.
    #[arg(long, value_name = "DIR")]
    spec: Option<PathBuf>,
}

/// The argument of `--corpus`.
#[derive(Clone, Debug)]
enum Programs {
    /// So many generated programs.
    Generated(u64),
    /// The programs of a file.
    File(PathBuf),
}

impl FromStr for Programs {
    type Err = std::num::ParseIntError;

    /// A number is one, and anything else a path.
    fn from_str(text: &str) -> Result<Programs, Self::Err> {
        match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().map(Programs::Generated),
            false => Ok(Programs::File(text.into())),
        }
    }
}

impl Check {
    pub fn run(&self) -> Result<Ending, Failure> {
        let programs = match &self.corpus {
            Some(Programs::File(path)) => return self.run_corpus(path),
            Some(Programs::Generated(programs)) => Some(*programs),
            None => None,
        };
        for (option, given) in [("--out", self.out.is_some()), ("--jobs", self.jobs.is_some())] {
            if given {
                return Err(format!("{option} is for the programs of a file: name it with --corpus").into());
            }
        }
        let specification = case::load(&super::runner::specification(self.spec.as_deref())?)
            .map_err(|error| format!("the specification cannot be read\n{error}"))?;
        let corpus = programs.map(|programs| Corpus { seed: self.corpus_seed, programs });
        let required = Required { cases: self.require, like: self.like()?, operations: None };
        let (clauses, cases) = (self.clause.clone(), self.case.clone());
        let mut selection =
            Selection { clauses, cases, corpus, required, give_up: self.give_up, ..Selection::default() };
        self.check_selection(&specification, &selection)?;
        let given = match self.implementations.as_slice() {
            [] => vec!["reference".to_owned(), "libtorch".to_owned()],
            given => given.to_vec(),
        };
        if let Some(again) = given.iter().enumerate().find(|(at, one)| given[..*at].contains(*one)) {
            return Err(format!("--impl {} is given twice", again.1).into());
        }
        let source = match (&self.divergences, self.no_divergences || self.pin.is_some()) {
            (Some(path), _) => Source::File(path.clone()),
            (None, true) => Source::Nowhere,
            (None, false) => Source::Own,
        };
        for (option, path) in [("--divergences", &self.divergences), ("--pin", &self.pin)] {
            let others: Vec<&String> = given.iter().filter(|given| *given != "reference").collect();
            if let (Some(path), true) = (path, self.implementations.is_empty() || others.len() != 1) {
                let path = path.display();
                return Err(format!("{option} {path} needs one implementation: name it with --impl").into());
            }
        }
        let mut candidates = given
            .into_iter()
            .map(|given| {
                let runner = Named::parse_on("--impl", &given, self.python.as_deref())?
                    .runner(&limits(self.timeout, self.give_up))?;
                Ok(Candidate::new(given, runner, &source, &specification)?)
            })
            .collect::<Result<Vec<_>, Failure>>()?;

        let progress = Bar::new();
        if let Some(path) = &self.pin {
            pin::write(path, &specification, &selection, &mut candidates, |event| progress.show(event))?;
        }
        if let Some(path) = self.pin.as_ref().or(self.divergences.as_ref()) {
            selection.required.operations = pin::wanted(path, &specification, &selection)?;
        }
        let mut run = Run::default();
        let mut events = Vec::new();
        let totals = check(&specification, &specification.digest, &selection, &mut candidates, |event| {
            progress.show(event);
            run.add(event);
            if self.events.is_some() {
                events.push(event.clone());
            }
        });
        progress.clear();
        if let Some(path) = &self.events {
            keep(path, &Header::now(&specification.digest), &events, &run)?;
        }
        let report = self.format.render(&run, self.verbose);
        print(&report)?;
        given_up(&totals)?;
        Ok(if totals.conforms { Ending::Conforms } else { Ending::Differs })
    }

    /// Runs the programs of a file in place of the cases, as a campaign.
    fn run_corpus(&self, path: &Path) -> Result<Ending, Failure> {
        for (option, given) in [
            ("--clause", !self.clause.is_empty()),
            ("--case", !self.case.is_empty()),
            ("--events", self.events.is_some()),
            ("--corpus-seed", self.corpus_seed != 0),
            ("--no-divergences", self.no_divergences),
            ("--require", self.require != 0),
            ("--require-like", self.require_like.is_some()),
            ("--spec", self.spec.is_some()),
        ] {
            if given {
                let path = path.display();
                return Err(format!("--corpus {path} runs programs in place of the cases: leave {option} out").into());
            }
        }
        let format = match self.format {
            Format::Text => campaign::Format::Text,
            Format::Json => campaign::Format::Json,
            _ => return Err("the programs of a file are reported as text or json: choose one with --format".into()),
        };
        let implementation = match self.implementations.as_slice() {
            [] => "libtorch",
            [one] => one,
            _ => return Err("the programs of a file run on one implementation: give one --impl".into()),
        };
        let run = RunOptions {
            out: self.out.as_deref().unwrap_or(Path::new("broadcheck-corpus")),
            jobs: self.jobs,
            timeout: self.timeout,
            give_up: self.give_up,
            divergences: self.divergences.as_deref(),
            printed: campaign::Printed { format, verbose: self.verbose },
        };
        Fuzz::of_corpus(path, implementation, self.python.as_deref(), &run).run()
    }

    /// The cases that the event file of `--require-like` has judged, and its name.
    fn like(&self) -> Result<Option<(String, BTreeSet<String>)>, Failure> {
        let Some(path) = &self.require_like else { return Ok(None) };
        let mut executed = BTreeSet::new();
        for event in file::read(path)?.events {
            match event {
                // The reference supports everything, so it sets no bar.
                Event::Implementation(ready) if ready.name != "reference" => executed.clear(),
                Event::Judged(judged) if judged.verdict.executed() => drop(executed.insert(judged.case)),
                _ => {}
            }
        }
        if executed.is_empty() {
            return Err(format!("--require-like {}: that file has no judged case", path.display()).into());
        }
        Ok(Some((path.display().to_string(), executed)))
    }

    fn check_selection(&self, specification: &case::Specification, selection: &Selection) -> Result<(), Failure> {
        let clauses = || specification.clauses.iter().map(|clause| clause.id.as_str());
        for wanted in &self.clause {
            if !clauses().any(|id| id == wanted) {
                return Err(format!("there is no clause `{wanted}`{}", did_you_mean(wanted, clauses(), LIST)).into());
            }
        }
        // One wrong id among right ones would silently run fewer cases.
        let cases = || specification.cases.iter().map(|case| case.id.as_str());
        for wanted in &self.case {
            if !cases().any(|id| id.starts_with(wanted.as_str())) {
                return Err(format!("there is no case `{wanted}`{}", did_you_mean(wanted, cases(), LIST)).into());
            }
        }
        if !specification.cases.iter().any(|case| selection.takes(case)) {
            return Err("no case matches both --clause and --case".into());
        }
        Ok(())
    }
}

/// The error that an implementation was given up, after its events have been reported.
fn given_up(totals: &Totals) -> Result<(), Failure> {
    let given_up = |tally: &&Tally| tally.ended_badly.as_ref().is_some_and(|how| how.starts_with(give_up::GIVEN_UP));
    let Some(tally) = totals.implementations.iter().find(given_up) else { return Ok(()) };
    let (name, how) = (&tally.implementation, tally.ended_badly.as_deref().unwrap_or_default());
    Err(format!(
        "{name} was {how}; {} of the cases were not run. Fix the adapter, leave the operation out of its hello, or raise \
         --give-up",
        tally.not_run
    )
    .into())
}

/// Writes the events to a file, or to one of their own in a folder.
fn keep(path: &Path, header: &Header, events: &[Event], run: &Run) -> Result<(), Failure> {
    if !path.is_dir() && !path.as_os_str().to_string_lossy().ends_with('/') {
        return Ok(file::write(path, header, events)?);
    }
    let [ready] = run.implementations.as_slice() else {
        let folder = path.display();
        return Err(
            format!("--events {folder} is a folder, where each file has one implementation: give one --impl").into()
        );
    };
    let whole = run.started.as_ref().is_some_and(|started| started.cases == started.of);
    if !whole {
        let folder = path.display();
        return Err(format!("--events {folder} is a folder, for whole runs: leave out --case and --clause").into());
    }
    let label = ready.label.replace(|c| c == ' ' || c == '/' || is_hidden(c), "-");
    let name = format!("{label}.jsonl.gz");
    Ok(file::write_sharing(&path.join(name), header, events)?)
}

/// The advice for an unknown id.
const LIST: &str = "`broadcheck check --format json` lists them all";

/// Progress on a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Bar {
        if !std::io::stderr().is_terminal() {
            return Bar(ProgressBar::hidden());
        }
        let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {msg}").expect("a fixed template");
        Bar(ProgressBar::new(0).with_style(style))
    }

    fn show(&self, event: &Event) {
        match event {
            Event::Started(started) => {
                let corpus = started.corpus.map_or(0, |corpus| corpus.programs);
                self.0.set_length(started.cases as u64 + corpus);
            }
            Event::Implementation(ready) => {
                self.0.set_prefix(visible(&ready.label).into_owned());
                self.0.set_position(0);
            }
            Event::Judged(_) | Event::Generated(_) => self.0.inc(1),
            Event::Clause(_) | Event::Case(_) | Event::Absent(_) | Event::Finished(_) => {}
        }
    }

    fn clear(&self) {
        self.0.finish_and_clear();
    }
}
