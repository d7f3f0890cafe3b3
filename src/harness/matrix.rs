//! The whole specification, and the seeded corpus, on one release or other implementation after the other, an event file
//! for each. What cannot be run is a row without data. It must not know how an implementation is brought here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::check::{Candidate, Selection, check};
use super::event::file::{self, FileError, Header};
use super::event::{Absent, Corpus, Event, Tally};
use super::runner::Start;
use crate::adapter::Limits;
use crate::case::Specification;

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// How the command line calls it.
    pub given: String,
    /// The name that its adapter must say.
    pub name: String,
    /// The version that its adapter must say, if that is known.
    pub version: Option<String>,
}

impl Subject {
    /// A release of libtorch.
    pub fn release(version: &str) -> Subject {
        let given = format!("libtorch@{version}");
        Subject { given, name: "libtorch".to_owned(), version: Some(version.to_owned()) }
    }

    /// Another implementation, in the version that its pins say.
    pub fn implementation(name: &str) -> Subject {
        Subject { given: name.to_owned(), name: name.to_owned(), version: None }
    }

    /// How rows call it.
    pub fn label(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.name),
            None => self.name.clone(),
        }
    }
}

/// What is run on each of them.
pub struct Plan<'a> {
    /// The cases.
    pub specification: &'a Specification,
    /// The generated programs after them.
    pub corpus: Option<Corpus>,
    /// The folder of the event files.
    pub out: &'a Path,
    /// How long a program may take, and the like.
    pub limits: Limits,
}

/// What a release came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// It was run.
    Ran(Tally),
    /// It was not, for this reason.
    NoData(String),
}

impl Row {
    /// Whether it was run and nothing was red.
    pub fn is_green(&self) -> bool {
        match self {
            Row::Ran(tally) => {
                tally.failed == 0 && tally.passed > 0 && tally.corpus.as_ref().is_none_or(|corpus| corpus.differ == 0)
            }
            Row::NoData(_) => false,
        }
    }
}

impl Plan<'_> {
    /// The event file of a subject.
    pub fn file(&self, subject: &Subject) -> PathBuf {
        self.out.join(format!("{}.jsonl.gz", subject.label().replace(' ', "-")))
    }

    /// What an earlier run of the same plan has left of a subject. One that had no data then is worth another try.
    pub fn done(&self, subject: &Subject) -> Option<Row> {
        let read = file::read(&self.file(subject)).ok()?;
        let same = |event: &Event| matches!(event, Event::Started(started) if started.corpus == self.corpus);
        if read.header.suite != self.specification.digest || !read.events.iter().any(same) {
            return None;
        }
        match read.events.last()? {
            Event::Finished(totals) => totals.implementations.first().cloned().map(Row::Ran),
            _ => None,
        }
    }

    /// Runs a subject that is started so, or could not be brought here for the reason given, and writes its event file.
    /// `each` hears of every event.
    ///
    /// # Errors
    /// When the file cannot be written. Nothing that an implementation does is an error.
    pub fn run(
        &self,
        subject: &Subject,
        start: Result<Start, String>,
        mut each: impl FnMut(&Event),
    ) -> Result<Row, FileError> {
        let mut events = Vec::new();
        let result = start.and_then(|start| {
            let mut told = Vec::new();
            let tell = |event: &Event| {
                each(event);
                told.push(event.clone());
            };
            // A fault of ours with one of them must not cost the others.
            let ran = catch_unwind(AssertUnwindSafe(|| self.check(subject, &start, tell)));
            let tally = ran.unwrap_or_else(|panic| Err(format!("broadcheck panicked: {}", text(panic.as_ref()))))?;
            events = told;
            Ok(tally)
        });
        let row = match result {
            Ok(tally) => Row::Ran(tally),
            Err(reason) => {
                events = self.absent(subject, &reason);
                Row::NoData(reason)
            }
        };
        file::write_sharing(&self.file(subject), &Header::now(&self.specification.digest), &events)?;
        Ok(row)
    }

    fn check(&self, subject: &Subject, start: &Start, each: impl FnMut(&Event)) -> Result<Tally, String> {
        let runner = start.runner(&self.limits).map_err(|error| error.to_string())?;
        let hello = runner.hello();
        // A mistaken adapter would be a whole column of wrong results.
        let other = |version: &String| hello.version.split('+').next() != Some(version);
        if subject.version.as_ref().is_some_and(other) || subject.version.is_none() && hello.name != subject.name {
            let (wanted, name, version) = (subject.label(), hello.name, hello.version);
            return Err(format!("the adapter for {wanted} says that it is {name} {version}"));
        }
        let mut candidates = [Candidate::new(subject.given.clone(), runner, self.specification)?];
        let totals = check(self.specification, &self.specification.digest, &self.selection(), &mut candidates, each);
        totals.implementations.into_iter().next().ok_or_else(|| "nothing was run".to_owned())
    }

    /// The events of a subject that was not run: the plan, and why nothing came of it.
    fn absent(&self, subject: &Subject, reason: &str) -> Vec<Event> {
        let mut events = Vec::new();
        check(self.specification, &self.specification.digest, &self.selection(), &mut [], |event| {
            events.push(event.clone());
        });
        let absent = Event::Absent(Absent {
            label: subject.label(),
            given: subject.given.clone(),
            name: subject.name.clone(),
            version: subject.version.clone().unwrap_or_default(),
            reason: reason.to_owned(),
        });
        events.insert(events.len().saturating_sub(1), absent);
        events
    }

    fn selection(&self) -> Selection {
        Selection { corpus: self.corpus, ..Selection::default() }
    }
}

fn text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a word".to_owned())
}
