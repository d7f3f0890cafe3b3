//! `broadcheck check`: the specification on implementations.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::report::Format;
use super::runner::{Named, did_you_mean};
use super::{Ending, Failure, print, tell};
use crate::adapter::Limits;
use crate::case;
use crate::escape::{is_hidden, visible};
use crate::harness::check::{Candidate, Required, Selection, check, operations};
use crate::harness::divergence::{self, Source};
use crate::harness::event::file::{self, Header};
use crate::harness::event::{Corpus, Event, Judged};
use crate::harness::pin;
use crate::harness::runner::Runner;
use crate::output;
use crate::report::{Run, count};

/// Run the specification and say who conforms.
///
/// Prints the totals, the failures by what differs with an example each and the command that repeats it, which
/// statements of the documents are false, and the totals again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck check
  broadcheck check --impl libtorch@2.13.0 --clause in-place-keeps-shape
  broadcheck check --impl reference --case einsum/
  broadcheck check --impl 'python3 my_adapter.py' --format json
  broadcheck check --impl libtorch --corpus 1000 --events libtorch.jsonl.gz
  broadcheck check --impl 'python3 my_adapter.py' --require 145
  broadcheck check --impl pytorch --python venv/bin/python
  broadcheck check --impl 'python3 my_adapter.py' --pin known-differences.yaml
  broadcheck check --impl 'python3 my_adapter.py' --divergences known-differences.yaml

Exit codes: 0 conforms (in what it supports), 1 does not conform or less than required, 2 could not run.")]
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
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// List everything: each clause with its cases, each statement, each case that is unsupported or known to differ, and
    /// every failure.
    #[arg(long)]
    verbose: bool,
    /// Also write everything that was seen to this file, for `broadcheck diff` and `broadcheck report`. One that ends in
    /// .gz is compressed. In a folder, the file is named after the implementation, and shares with the others what is the
    /// same for all.
    #[arg(long, value_name = "FILE|DIR/")]
    events: Option<PathBuf>,
    /// After the cases, also run so many generated programs.
    #[arg(long, value_name = "N")]
    corpus: Option<u64>,
    /// The seed of the generated programs.
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "corpus")]
    corpus_seed: u64,
    /// Judge by the known differences in this file, in place of those that come with broadcheck. What is not in it fails,
    /// and what is in it and no longer differs; so does a whole run that is judged on fewer cases of an operation than the
    /// file has.
    #[arg(long, value_name = "FILE")]
    divergences: Option<PathBuf>,
    /// Write what differs now to this file, grouped by cause, and judge by it. A person then says why, cause by cause. Of a
    /// file that is there already, what people wrote of a cause stays.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["divergences", "no_divergences", "corpus"])]
    pin: Option<PathBuf>,
    /// Judge without known differences: every one of them is a failure then. This is what `adapters/pin.py` reads.
    #[arg(long, conflicts_with = "divergences")]
    no_divergences: bool,
    /// Require that each implementation but the reference is judged on at least so many cases. One that declares to lack
    /// more does not conform.
    #[arg(long, value_name = "N", default_value_t = 0)]
    require: usize,
    /// Require that each implementation but the reference is judged on every case that was judged in this event file.
    #[arg(long, value_name = "EVENTS")]
    require_like: Option<PathBuf>,
    /// The folder of the specification.
    #[arg(long, value_name = "DIR")]
    spec: Option<PathBuf>,
}

impl Check {
    pub fn run(&self) -> Result<Ending, Failure> {
        let specification = case::load(&super::runner::specification(self.spec.as_deref())?)
            .map_err(|error| format!("the specification cannot be read\n{error}"))?;
        let corpus = self.corpus.map(|programs| Corpus { seed: self.corpus_seed, programs });
        let required = Required { cases: self.require, like: self.like()?, operations: None };
        let mut selection = Selection { clauses: self.clause.clone(), cases: self.case.clone(), corpus, required };
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
            if let (Some(path), false) = (path, others.len() == 1) {
                let path = path.display();
                return Err(format!("{option} {path} is about one implementation: give it after --impl").into());
            }
        }
        let mut candidates = given
            .into_iter()
            .map(|given| {
                let runner = Named::parse_on("--impl", &given, self.python.as_deref())?.runner(&Limits::default())?;
                Ok(Candidate::new(given, runner, &source, &specification)?)
            })
            .collect::<Result<Vec<_>, Failure>>()?;

        let progress = Bar::new();
        if let Some(path) = &self.pin {
            pin(path, &specification, &selection, &mut candidates, |event| progress.show(event))?;
        }
        if let Some(path) = self.pin.as_ref().or(self.divergences.as_ref()) {
            selection.required.operations = wanted(path, &specification, &selection)?;
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
        Ok(if totals.conforms { Ending::Conforms } else { Ending::Differs })
    }

    /// What `--require-like` has executed, and what it is called.
    fn like(&self) -> Result<Option<(String, BTreeSet<String>)>, Failure> {
        let Some(path) = &self.require_like else { return Ok(None) };
        let mut executed = BTreeSet::new();
        for event in file::read(path)?.events {
            match event {
                // The reference lacks nothing, so it is no measure.
                Event::Implementation(ready) if ready.name != "reference" => executed.clear(),
                Event::Judged(judged) if judged.verdict.executed() => drop(executed.insert(judged.case)),
                _ => {}
            }
        }
        if executed.is_empty() {
            return Err(format!("--require-like {}: no case was judged there", path.display()).into());
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
        // One wrong id among right ones would be a case that nobody misses.
        let cases = || specification.cases.iter().map(|case| case.id.as_str());
        for wanted in &self.case {
            if !cases().any(|id| id.starts_with(wanted.as_str())) {
                return Err(format!("there is no case `{wanted}`{}", did_you_mean(wanted, cases(), LIST)).into());
            }
        }
        if !specification.cases.iter().any(|case| selection.takes(case)) {
            return Err("no case is chosen by both --clause and --case".into());
        }
        Ok(())
    }
}

/// How many causes are named that are new or gone.
const SHOWN: usize = 10;

/// Pins what differs now, and has the candidates judged by that. What they have done is not done again.
fn pin(
    path: &Path,
    specification: &case::Specification,
    selection: &Selection,
    candidates: &mut [Candidate],
    mut each: impl FnMut(&Event),
) -> Result<(), Failure> {
    let earlier = match std::fs::read_to_string(path) {
        Ok(_) => {
            divergence::read(path, specification)?;
            Some(std::fs::read_to_string(path)?)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("--pin {}: {error}", path.display()).into()),
    };
    let mut run = Run::default();
    check(specification, &specification.digest, selection, candidates, |event| {
        each(event);
        run.add(event);
    });
    let ready = run.implementations.iter().find(|ready| ready.name != "reference");
    let Some(label) = ready.map(|ready| ready.label.clone()) else {
        return Err("--pin: the reference does not differ from itself".into());
    };
    let judged: Vec<Judged> = run.of(&label).cloned().collect();
    let ran = judged.iter().filter(|judged| judged.verdict.executed());
    let ran: BTreeSet<&str> = ran.map(|judged| judged.case.as_str()).collect();
    let counts = operations(specification.cases.iter().filter(|case| ran.contains(case.id.as_str())));
    let whole = selection.is_whole(specification).then_some(&counts);
    let pinned = pin::pin(earlier.as_deref(), &label, &judged, &run.cases, whole)
        .map_err(|error| format!("--pin {}: {error}", path.display()))?;
    output::write_named(path, &pinned.text).map_err(|error| format!("--pin {error}"))?;
    let mut told =
        format!("{}: {} of {}\n", path.display(), count(pinned.cases, "case"), count(pinned.causes, "cause"));
    for (word, ids) in [("new, without a reason yet", &pinned.new), ("gone", &pinned.gone)] {
        if !ids.is_empty() {
            let first = ids.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = ids.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            told += &format!("  {word}: {first}{more}\n");
        }
    }
    tell(&visible(&told));
    for candidate in candidates.iter_mut().filter(|one| !matches!(one.runner, Runner::Reference)) {
        candidate.divergences =
            divergence::load(&Source::File(path.to_owned()), &candidate.runner.hello(), specification)?;
        candidate.earlier = judged.iter().map(|judged| (judged.case.clone(), judged.clone())).collect();
    }
    Ok(())
}

/// A file, and how many cases of each operation it requires.
type Wanted = (String, BTreeMap<String, usize>);

/// How many cases of each operation a file of known differences requires; none in a part of the specification.
fn wanted(path: &Path, specification: &case::Specification, selection: &Selection) -> Result<Option<Wanted>, Failure> {
    let judged = divergence::read(path, specification)?.judged;
    Ok(selection.is_whole(specification).then(|| (path.display().to_string(), judged)))
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

/// What to do about an unknown id.
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
