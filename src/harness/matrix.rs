//! The whole specification and the seeded corpus on one release after the other, an event file for each. A release that
//! cannot be run is a row without data. It must not know how a release is brought here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::check::{Candidate, Selection, check};
use super::event::file::{self, FileError, Header};
use super::event::{Absent, Corpus, Event, Tally};
use super::runner::Start;
use crate::adapter::Limits;
use crate::case::Specification;

/// What is run on every release.
pub struct Plan<'a> {
    /// The cases.
    pub specification: &'a Specification,
    /// The generated programs after them.
    pub corpus: Corpus,
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
    /// The event file of a release.
    pub fn file(&self, version: &str) -> PathBuf {
        self.out.join(format!("libtorch-{version}.jsonl.gz"))
    }

    /// What an earlier run of the same plan has left of a release. One that had no data then is worth another try.
    pub fn done(&self, version: &str) -> Option<Row> {
        let read = file::read(&self.file(version)).ok()?;
        let same = |event: &Event| matches!(event, Event::Started(started) if started.corpus == Some(self.corpus));
        if read.header.suite != self.specification.digest || !read.events.iter().any(same) {
            return None;
        }
        match read.events.last()? {
            Event::Finished(totals) => totals.implementations.first().cloned().map(Row::Ran),
            _ => None,
        }
    }

    /// Runs a release that is started so, or could not be brought here for the reason given, and writes its event file.
    /// `each` hears of every event.
    ///
    /// # Errors
    /// When the file cannot be written. Nothing that a release does is an error.
    pub fn run(
        &self,
        version: &str,
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
            // A fault of ours with one release must not cost the others.
            let ran = catch_unwind(AssertUnwindSafe(|| self.check(version, &start, tell)));
            let tally = ran.unwrap_or_else(|panic| Err(format!("broadcheck panicked: {}", text(panic.as_ref()))))?;
            events = told;
            Ok(tally)
        });
        let row = match result {
            Ok(tally) => Row::Ran(tally),
            Err(reason) => {
                events = self.absent(version, &reason);
                Row::NoData(reason)
            }
        };
        file::write_sharing(&self.file(version), &Header::now(&self.specification.digest), &events)?;
        Ok(row)
    }

    fn check(&self, version: &str, start: &Start, each: impl FnMut(&Event)) -> Result<Tally, String> {
        let runner = start.runner(&self.limits).map_err(|error| error.to_string())?;
        let told = runner.hello().version;
        // A mistaken adapter would be a whole column of wrong results.
        if told.split('+').next() != Some(version) {
            return Err(format!("the adapter for libtorch {version} says that it is libtorch {told}"));
        }
        let mut candidates = [Candidate::new(given(version), runner, self.specification)?];
        let totals = check(self.specification, &self.specification.digest, &self.selection(), &mut candidates, each);
        totals.implementations.into_iter().next().ok_or_else(|| "nothing was run".to_owned())
    }

    /// The events of a release that was not run: the plan, and why nothing came of it.
    fn absent(&self, version: &str, reason: &str) -> Vec<Event> {
        let mut events = Vec::new();
        check(self.specification, &self.specification.digest, &self.selection(), &mut [], |event| {
            events.push(event.clone());
        });
        let absent = Event::Absent(Absent {
            label: format!("libtorch {version}"),
            given: given(version),
            name: "libtorch".to_owned(),
            version: version.to_owned(),
            reason: reason.to_owned(),
        });
        events.insert(events.len().saturating_sub(1), absent);
        events
    }

    fn selection(&self) -> Selection {
        Selection { corpus: Some(self.corpus), ..Selection::default() }
    }
}

/// How the command line calls a release.
fn given(version: &str) -> String {
    format!("libtorch@{version}")
}

fn text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a word".to_owned())
}
