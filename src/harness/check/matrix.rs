//! The whole specification, and the seeded corpus, on one release or other implementation after the other, an event file
//! for each. What cannot be run is a row without data. It must not know how an implementation is brought here.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use crate::adapter::Limits;
use crate::case::Specification;
use crate::check::seeded_programs;
use crate::check::{Candidate, Selection, check, digests};
use crate::model::divergence;
use crate::model::event::file::{self, FileError, Header};
use crate::model::event::{
    Absent, CaseDigest, Corpus, CorpusTally, Event, Generated, ImplementationReady, Judged, Started, Tally, Verdict,
};
use crate::reference::message;
use crate::runner::{Runner, Start};

/// The subject of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The name on the command line.
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

    /// Returns the name in rows.
    pub fn label(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.name),
            None => self.name.clone(),
        }
    }
}

/// The cases and options that are run on each of them.
pub struct MatrixRun<'a> {
    /// The cases.
    pub specification: &'a Specification,
    /// The generated programs after them.
    pub corpus: Option<Corpus>,
    /// The folder of the event files.
    pub out: &'a Path,
    /// The source of the known differences.
    pub divergences: divergence::Source,
    /// The limits of a program, such as its time limit.
    pub limits: Limits,
    /// After how many crashes and hangs that are not pinned an implementation is given up; 0 for never. Its row has
    /// what was judged by then; another run continues with the rest.
    pub give_up: u64,
    /// Once it is true a row ends with what was judged by then, as if its implementation had been given up.
    pub halt: Arc<AtomicBool>,
    /// The digest of the generated programs, once it was asked for.
    pub corpus_digest: OnceLock<String>,
}

/// The data that an earlier run has left of a subject.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The header of its file: when it was, and on which machine.
    pub header: Header,
    /// The implementation that it was.
    pub ready: ImplementationReady,
    /// Its judgements, by case.
    pub judged: BTreeMap<String, Judged>,
    /// The generated programs and their numbers, if they are those of the matrix.
    pub generated: Option<(Vec<Generated>, Option<CorpusTally>)>,
}

/// The result of a release.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// It was run, or its earlier run was of the same cases.
    Ran(Tally),
    /// It could not be run, for this reason, and what an earlier run has of the same cases was kept.
    Kept(Tally, String),
    /// It was not run, for this reason.
    NoData(String),
}

impl Row {
    /// Returns whether it was run and nothing failed.
    pub fn is_green(&self) -> bool {
        match self {
            Row::Ran(tally) => tally.is_green(),
            Row::Kept(..) | Row::NoData(_) => false,
        }
    }
}

impl MatrixRun<'_> {
    /// The event file of a subject.
    pub fn file(&self, subject: &Subject) -> PathBuf {
        self.out.join(format!("{}.jsonl.gz", subject.label().replace(' ', "-")))
    }

    /// Returns the data that an earlier run has left of a subject; `None` if it had no data then, which is worth another
    /// try.
    pub fn earlier(&self, subject: &Subject) -> Option<Earlier> {
        let file = file::read(&self.file(subject)).ok()?;
        let mut ready = None;
        let (mut judged, mut generated) = (BTreeMap::new(), Vec::new());
        let mut tally = None;
        let mut corpus = None;
        for event in file.events {
            match event {
                Event::Implementation(implementation) => ready = Some(implementation),
                Event::Judged(one) => drop(judged.insert(one.case.clone(), *one)),
                Event::Generated(one) => generated.push(*one),
                Event::Finished(totals) => tally = totals.implementations.into_iter().next(),
                Event::Started(started) => corpus = started.corpus,
                Event::Clause(_) | Event::Case(_) | Event::Absent(_) => {}
            }
        }
        let tally = tally?;
        // The same programs, and not only as many.
        let same = corpus == self.corpus
            && corpus.is_none_or(|corpus| tally.corpus.as_ref().is_some_and(|kept| kept.digest == self.digest(corpus)));
        let generated = same.then_some((generated, tally.corpus));
        Some(Earlier { header: file.header, ready: ready?, judged, generated })
    }

    /// A digest of the corpus, made once.
    fn digest(&self, corpus: Corpus) -> String {
        self.corpus_digest.get_or_init(|| seeded_programs::digest(corpus)).clone()
    }

    /// The row of a subject of which an earlier run has everything that is in the matrix: the same cases and the same generated
    /// programs. Nothing is run. What is known of it by now may be more than it was, so its file is written anew where its
    /// verdicts change by that.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn settled(&self, subject: &Subject, earlier: &Earlier) -> Result<Option<Row>, FileError> {
        let digests = digests(self.specification);
        let is_there = |(case, digest): (&String, &CaseDigest)| {
            let judged = earlier.judged.get(case).filter(|judged| judged.digest == *digest);
            judged.is_some_and(|judged| !matches!(judged.verdict, Verdict::Failed { .. }))
        };
        if earlier.generated.is_none() || !digests.iter().all(is_there) {
            return Ok(None);
        }
        self.keep(subject, earlier).map(Some)
    }

    /// The row of a subject that is not at hand: what an earlier run has of the cases that are the same, and nothing of
    /// the others.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self, subject: &Subject, earlier: &Earlier) -> Result<Row, FileError> {
        let runner = Runner::Earlier(Box::new(earlier.ready.clone()));
        let mut events = Vec::new();
        let row = self.check_on(subject, runner, Some(earlier), |event| events.push(event.clone()));
        let row = match row {
            Ok(tally) => Row::Ran(tally),
            Err(reason) => return Ok(Row::NoData(reason)),
        };
        // Nothing has run: the date and the machine are those of the run that is judged again.
        let header = Header { suite: self.specification.digest.clone(), ..earlier.header.clone() };
        self.write(subject, &header, &events)?;
        Ok(row)
    }

    /// Runs what is new or changed of a subject that is started so, or could not be brought here for the reason given, and
    /// writes its event file. `each` hears of every event.
    ///
    /// # Errors
    /// When the file cannot be written. Nothing that an implementation does is an error.
    pub fn run(
        &self,
        subject: &Subject,
        start: Result<Start, String>,
        earlier: Option<&Earlier>,
        mut each: impl FnMut(&Event),
    ) -> Result<Row, FileError> {
        let mut events = Vec::new();
        let result = start.and_then(|start| {
            let mut recorded = Vec::new();
            let tell = |event: &Event| {
                each(event);
                recorded.push(event.clone());
            };
            // A fault of ours with one of them must not cost the others.
            let ran = catch_unwind(AssertUnwindSafe(|| self.check(subject, &start, earlier, tell)));
            let tally = ran.unwrap_or_else(|panic| Err(format!("broadcheck panicked: {}", message(panic.as_ref()))))?;
            events = recorded;
            Ok(tally)
        });
        let row = match (result, earlier) {
            (Ok(tally), _) => Row::Ran(tally),
            (Err(reason), Some(earlier)) => {
                return Ok(match self.keep(subject, earlier)? {
                    Row::Ran(tally) | Row::Kept(tally, _) => Row::Kept(tally, reason),
                    Row::NoData(reason) => Row::NoData(reason),
                });
            }
            (Err(reason), None) => {
                events = self.absent(subject, &reason);
                Row::NoData(reason)
            }
        };
        self.write(subject, &Header::now(&self.specification.digest), &events)?;
        Ok(row)
    }

    /// Writes the event file of a subject, unless it has the same already, whenever it was written.
    fn write(&self, subject: &Subject, header: &Header, events: &[Event]) -> Result<(), FileError> {
        let path = self.file(subject);
        if file::read(&path).is_ok_and(|there| there.stale == 0 && there.events == events) {
            return Ok(());
        }
        file::write_sharing(&path, header, events)
    }

    fn check(
        &self,
        subject: &Subject,
        start: &Start,
        earlier: Option<&Earlier>,
        each: impl FnMut(&Event),
    ) -> Result<Tally, String> {
        let runner = start.runner(&self.limits).map_err(|error| error.to_string())?;
        let hello = runner.hello();
        // A mistaken adapter would be a whole column of wrong results.
        let other = |version: &String| hello.version.split('+').next() != Some(version);
        if subject.version.as_ref().is_some_and(other) || subject.version.is_none() && hello.name != subject.name {
            let (wanted, name, version) = (subject.label(), hello.name, hello.version);
            return Err(format!("the adapter for {wanted} says that it is {name} {version}"));
        }
        // What another build has judged is no judgement of this one.
        let same = |earlier: &&Earlier| {
            let ready = &earlier.ready;
            (&ready.name, &ready.version, &ready.build) == (&hello.name, &hello.version, &hello.build)
                && ready.declares == runner.declares()
        };
        // A failure may have been the machine's, and is worth another run.
        let earlier = earlier.filter(same).cloned().map(|mut earlier| {
            earlier.judged.retain(|_, judged| !matches!(judged.verdict, Verdict::Failed { .. }));
            earlier
        });
        self.check_on(subject, runner, earlier.as_ref(), each)
    }

    /// Judges a subject by what an earlier run has, and runs the rest.
    fn check_on(
        &self,
        subject: &Subject,
        runner: Runner,
        earlier: Option<&Earlier>,
        mut each: impl FnMut(&Event),
    ) -> Result<Tally, String> {
        let mut candidate = Candidate::new(subject.given.clone(), runner, &self.divergences, self.specification)?;
        let reused = earlier.and_then(|earlier| earlier.generated.clone());
        let absent = !candidate.runner.is_at_hand();
        if let Some(earlier) = earlier {
            candidate.earlier.clone_from(&earlier.judged);
        }
        let corpus = if reused.is_some() || absent { None } else { self.corpus };
        let selection =
            Selection { corpus, give_up: self.give_up, halt: Arc::clone(&self.halt), ..Selection::default() };
        let digest = &self.specification.digest;
        let mut tally = None;
        check(self.specification, digest, &selection, std::slice::from_mut(&mut candidate), |event| match event {
            Event::Started(started) if reused.is_some() => {
                each(&Event::Started(Started { corpus: self.corpus, ..started.clone() }));
            }
            Event::Finished(totals) => {
                let mut totals = totals.clone();
                if let (Some((generated, corpus)), Some(tally)) = (&reused, totals.implementations.first_mut()) {
                    generated.iter().for_each(|one| each(&Event::Generated(Box::new(one.clone()))));
                    tally.corpus.clone_from(corpus);
                    totals.conforms &= totals.implementations.iter().all(Tally::is_green);
                }
                tally = totals.implementations.first().cloned();
                each(&Event::Finished(totals));
            }
            event => each(event),
        });
        tally.ok_or_else(|| "nothing was run".to_owned())
    }

    /// The events of a subject that was not run: the plan, and the reason why it did not run.
    fn absent(&self, subject: &Subject, reason: &str) -> Vec<Event> {
        let mut events = Vec::new();
        let selection = Selection { corpus: self.corpus, ..Selection::default() };
        check(self.specification, &self.specification.digest, &selection, &mut [], |event| {
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
}
