//! Event files: what a run told, kept. A header, the events, a footer, one JSON object a line; compressed if the name ends
//! in `.gz`.
//!
//! A file that was cut off or changed is refused, with the place. What stands in the specification is the same for every
//! implementation, so runs that belong together may share it: a file then names a second one beside it, which has the
//! statements and the cases, and is read with it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io::Read;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::bufread::GzDecoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::escape;
use crate::model::event::Replacement;
use crate::model::event::recount::Recount;
use crate::model::event::{
    CaseDigest, CaseStated, ClauseStated, Event, Exact, ImplementationReady, Judged, Seen, Stated, Tally, Verdict,
};
use crate::output;
use crate::{Aspect, Difference};

/// The version of the format. A file of another one is refused.
pub const FORMAT: u32 = 2;

/// The name of the file that runs of one specification share, beside theirs.
pub const SUITE_FILE: &str = "suite.jsonl.gz";

/// The most bytes that a file may have, unpacked. Those of broadcheck's own have three million, for three thousand cases and
/// two thousand generated programs; a file that was packed by an evil hand could fill the memory.
pub const MAX_UNPACKED: u64 = 1 << 30;

/// The header of a file, before the first event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of broadcheck.
    pub broadcheck: String,
    /// SHA-256 over the specification's files.
    pub suite: String,
    /// The file beside this one that has the statements and the cases; in this one, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_file: Option<String>,
    /// The date, in UTC.
    pub date: String,
    /// The machine of the run.
    pub machine: Machine,
}

/// The machine of a run, as far as it can change results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The operating system and the architecture.
    pub system: String,
    /// The model of the processor, where the system tells it.
    pub processor: String,
    /// The number of threads that it runs at once.
    pub threads: usize,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct EventFile {
    /// The header of the file.
    pub header: Header,
    /// Everything that the run told, in order. A judgement on a case that is not what it was is left out: the case counts as
    /// not run.
    pub events: Vec<Event>,
    /// The judgements that were left out so, or are of cases that are gone.
    pub stale: usize,
    /// Whether a text in it, or in what it shares, has a character that [cannot be seen](escape::is_hidden).
    pub hides: bool,
}

/// The reason why a file cannot be read or written.
#[derive(Debug, Error)]
pub enum FileError {
    /// The system refuses.
    #[error("{}: {error}", path.display())]
    System {
        /// The file.
        path: PathBuf,
        /// The error that it reports.
        error: std::io::Error,
    },
    /// The content is not what it should be.
    #[error("{}{}: {what}", path.display(), line.map_or(String::new(), |line| format!(":{line}")))]
    Content {
        /// The file.
        path: PathBuf,
        /// The line, from 1, where there is one.
        line: Option<usize>,
        /// The problem, and what to do.
        what: String,
    },
}

/// A line of a file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Header(Header),
    Event(Box<Event>),
    Ready(ImplementationReady),
    Judged(Box<JudgedLine>),
    Footer(Footer),
}

/// A judgement without what stands in the case and with the implementation.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgedLine {
    case: String,
    digest: CaseDigest,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replaced: Vec<Replacement>,
    verdict: Verdict,
    documented: Option<Vec<Difference>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    untold: Vec<Aspect>,
    outcome: Vec<Seen>,
    exact: Vec<Exact>,
}

/// The footer of a file: the counts of its lines, so that a truncated file is detected.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Footer {
    /// The number of lines before this one.
    lines: usize,
    /// The number of them that are judgements.
    judged: usize,
    /// The number of them that are generated programs.
    generated: usize,
    /// SHA-256 over all lines before this one.
    sha256: String,
}

impl Header {
    /// That of a run here and now.
    pub fn now(suite: &str) -> Header {
        Header {
            format: FORMAT,
            broadcheck: env!("CARGO_PKG_VERSION").to_owned(),
            suite: suite.to_owned(),
            suite_file: None,
            date: chrono::Utc::now().format("%Y-%m-%dT%H:%M:%SZ").to_string(),
            machine: Machine::here(),
        }
    }
}

impl Machine {
    /// This one.
    pub fn here() -> Machine {
        let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        Machine {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            processor: model.map_or("not told".to_owned(), |(_, model)| model.trim().to_owned()),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

impl EventFile {
    /// The same for people: whatever it says is [visible](escape::visible).
    #[must_use]
    pub fn visible(mut self) -> EventFile {
        if self.hides {
            self.header = escape::visible_in(&self.header);
            self.events = self.events.iter().map(escape::visible_in).collect();
            self.hides = false;
        }
        self
    }
}

/// Writes a file that has everything. It is there as a whole, or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, header: &Header, events: &[Event]) -> Result<(), FileError> {
    let lines = events.iter().map(line_of);
    save(path, &[Line::Header(header.clone())].into_iter().chain(lines).collect::<Vec<_>>())
}

/// Writes a file, and the statements and the cases to [`SUITE_FILE`] beside it, which is left as it is if it has the same
/// already.
///
/// # Errors
/// When one of them cannot be written.
pub fn write_sharing(path: &Path, header: &Header, events: &[Event]) -> Result<(), FileError> {
    let suite = path.with_file_name(SUITE_FILE);
    let is_shared = |event: &Event| matches!(event, Event::Clause(_) | Event::Case(_));
    let (shared, own): (Vec<Event>, Vec<Event>) = events.iter().cloned().partition(is_shared);
    if read(&suite).is_ok_and(|there| there.header.suite == header.suite && there.events == shared) {
        // It is the same, whatever machine wrote it.
    } else {
        let lean: Vec<Event> = shared.into_iter().map(without_cases).collect();
        write(&suite, header, &lean)?;
    }
    write(path, &Header { suite_file: Some(SUITE_FILE.to_owned()), ..header.clone() }, &own)
}

/// The statement without the list of its cases, each of which names its statements.
fn without_cases(event: Event) -> Event {
    match event {
        Event::Clause(clause) => Event::Clause(ClauseStated { cases: Vec::new(), ..clause }),
        other => other,
    }
}

/// Gives the statements that came without them the lists of their cases, in the order of the cases.
fn fill_cases(lines: &mut [Line]) {
    let mut cases: HashMap<String, Vec<String>> = HashMap::new();
    for line in lines.iter() {
        if let Line::Event(event) = line
            && let Event::Case(case) = &**event
        {
            for clause in &case.clauses {
                cases.entry(clause.clone()).or_default().push(case.id.clone());
            }
        }
    }
    for line in lines {
        if let Line::Event(event) = line
            && let Event::Clause(clause) = &mut **event
            && clause.cases.is_empty()
        {
            clause.cases = cases.remove(&clause.id).unwrap_or_default();
        }
    }
}

/// Reads a file, and what it shares with others. What it shares may have been written later, for another state of the
/// specification: each judgement says which case it is of, and those of other cases are left out.
///
/// # Errors
/// When it cannot be read, was cut off or changed, or is of another format.
pub fn read(path: &Path) -> Result<EventFile, FileError> {
    read_beside(path, &Shared::default())
}

/// Reads files as [`read`] does, on every core, and what they share once.
///
/// # Errors
/// When one of them cannot be read: the error of the first of these.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<EventFile>, FileError> {
    let shared = Shared::default();
    let next = AtomicUsize::new(0);
    let read_some = || {
        let mut read = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(at) else { break read };
            read.push((at, read_beside(path, &shared)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(paths.len());
    let mut files = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(read_some)).collect();
        let joined = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.flatten().collect::<Vec<_>>()
    });
    files.sort_by_key(|(at, _)| *at);
    files.into_iter().map(|(_, file)| file).collect()
}

/// The files that others share, as far as they were read.
#[derive(Default)]
struct Shared(Mutex<HashMap<PathBuf, Arc<Loaded>>>);

impl Shared {
    /// The file, from the disk if it was not read yet.
    fn load(&self, path: &Path) -> Result<Arc<Loaded>, FileError> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = files.get(path) {
            return Ok(Arc::clone(there));
        }
        let mut loaded = load(path)?;
        fill_cases(&mut loaded.lines);
        let loaded = Arc::new(loaded);
        files.insert(path.to_owned(), Arc::clone(&loaded));
        Ok(loaded)
    }
}

fn read_beside(path: &Path, files: &Shared) -> Result<EventFile, FileError> {
    let Loaded { header, mut lines, hides } = load(path)?;
    let shared = match &header.suite_file {
        None => None,
        Some(name) => Some(files.load(&path.with_file_name(name))?),
    };
    if shared.is_none() {
        fill_cases(&mut lines);
    }
    let hides = hides || shared.as_ref().is_some_and(|shared| shared.hides);
    let shared = shared.map_or(Vec::new(), |shared| shared.lines.clone());
    let (events, stale) = assemble(path, shared, lines)?;
    Ok(EventFile { header, events, stale, hides })
}

fn line_of(event: &Event) -> Line {
    match event {
        Event::Judged(judged) => Line::Judged(Box::new(JudgedLine {
            case: judged.case.clone(),
            digest: judged.digest.clone(),
            replaced: judged.replaced.clone(),
            verdict: judged.verdict.clone(),
            documented: judged.documented.clone(),
            untold: judged.untold.clone(),
            outcome: judged.outcome.clone(),
            exact: judged.exact.clone(),
        })),
        Event::Implementation(ready) => Line::Ready(ready.clone()),
        other => Line::Event(Box::new(other.clone())),
    }
}

fn save(path: &Path, lines: &[Line]) -> Result<(), FileError> {
    let system = |error| FileError::System { path: path.to_owned(), error };
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{}", json(line));
    }
    let judged = lines.iter().filter(|line| matches!(line, Line::Judged(_))).count();
    let generated = lines.iter().filter(|line| matches!(line, Line::Event(event) if is_generated(event))).count();
    let footer = Footer { lines: lines.len(), judged, generated, sha256: digest(&text) };
    let _ = writeln!(text, "{}", json(&Line::Footer(footer)));
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    let bytes = if packed { output::gzip(text.as_bytes()) } else { text.into_bytes() };
    output::write(path, &bytes).map_err(system)
}

fn json(line: &Line) -> String {
    serde_json::to_string(line).expect("events have only text for keys")
}

fn is_generated(event: &Event) -> bool {
    matches!(event, Event::Generated(_))
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file whose footer is right.
struct Loaded {
    header: Header,
    /// What stands between the header and the footer.
    lines: Vec<Line>,
    /// As in [`EventFile::hides`].
    hides: bool,
}

fn load(path: &Path) -> Result<Loaded, FileError> {
    let wrong = |line: Option<usize>, what: String| FileError::Content { path: path.to_owned(), line, what };
    let text = text_of(path)?;
    let count = text.lines().count();
    let cut = || {
        let what = format!("the file ends after {count} lines without a footer: it was cut off; run the check again");
        wrong(None, what)
    };
    let body = text.strip_suffix('\n').ok_or_else(cut)?;
    let (before, last) = body.rsplit_once('\n').ok_or_else(cut)?;
    let Ok(Line::Footer(footer)) = serde_json::from_str(last) else { return Err(cut()) };
    if footer.lines != count - 1 {
        let what =
            format!("the footer counts {} lines, and {} are there: run the check again", footer.lines, count - 1);
        return Err(wrong(Some(count), what));
    }
    let mut lines = Vec::with_capacity(count);
    for (at, line) in before.lines().enumerate() {
        if at == 0 {
            is_of_this_format(line).map_err(|what| wrong(Some(1), what))?;
        }
        let line = serde_json::from_str(line).map_err(|error| wrong(Some(at + 1), format!("not an event: {error}")))?;
        lines.push(line);
    }
    let (judged, generated) = (
        lines.iter().filter(|line| matches!(line, Line::Judged(_))).count(),
        lines.iter().filter(|line| matches!(line, Line::Event(event) if is_generated(event))).count(),
    );
    if digest(&text[..=before.len()]) != footer.sha256 || (judged, generated) != (footer.judged, footer.generated) {
        let what = "the lines are not those that the footer was written for: somebody has changed the file; take it \
                    as it was, or run the check again";
        return Err(wrong(Some(count), what.to_owned()));
    }
    let mut lines = lines.into_iter();
    match lines.next() {
        Some(Line::Header(header)) => {
            Ok(Loaded { header, lines: lines.collect(), hides: escape::hides_something(&text) })
        }
        _ => Err(wrong(Some(1), "this is no header, so it is no event file".to_owned())),
    }
}

/// A file of a newer format has to say so, and not that one of its fields is unknown.
fn is_of_this_format(line: &str) -> Result<(), String> {
    let value: serde_json::Value =
        serde_json::from_str(line).map_err(|error| format!("this is no header, so it is no event file: {error}"))?;
    match value["header"]["format"].as_u64() {
        Some(format) if format == u64::from(FORMAT) => Ok(()),
        Some(format) => Err(format!("event files of format {format}; this broadcheck reads format {FORMAT}")),
        None => Err("this is no header, so it is no event file".to_owned()),
    }
}

fn text_of(path: &Path) -> Result<String, FileError> {
    let system = |error| FileError::System { path: path.to_owned(), error };
    let wrong = |what: String| FileError::Content { path: path.to_owned(), line: None, what };
    let bytes = limited(std::fs::File::open(path).map_err(system)?, MAX_UNPACKED).map_err(|failed| match failed {
        Failed::System(error) => system(error),
        Failed::TooLong => wrong(too_long(MAX_UNPACKED)),
    })?;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) { unpacked(&bytes, MAX_UNPACKED).map_err(wrong)? } else { bytes };
    String::from_utf8(bytes).map_err(|error| wrong(format!("is no text: {error}")))
}

/// The reason why something was not read to its end.
enum Failed {
    System(std::io::Error),
    TooLong,
}

fn too_long(limit: u64) -> String {
    format!("has more than {limit} bytes when it is unpacked, the most that an event file may have")
}

/// All that comes, unless it is too much.
fn limited(from: impl Read, limit: u64) -> Result<Vec<u8>, Failed> {
    let mut bytes = Vec::new();
    from.take(limit + 1).read_to_end(&mut bytes).map_err(Failed::System)?;
    if bytes.len() as u64 > limit { Err(Failed::TooLong) } else { Ok(bytes) }
}

/// Unpacks the data, which must be all that there is: a second part, or anything else behind it, would be read by some
/// programs and not by others.
fn unpacked(packed: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    let mut gzip = GzDecoder::new(packed);
    let plain = limited(&mut gzip, limit).map_err(|failed| match failed {
        Failed::System(error) => format!("cannot be unpacked, so it was cut off or changed: {error}"),
        Failed::TooLong => too_long(limit),
    })?;
    match gzip.into_inner().len() {
        0 => Ok(plain),
        more => Err(format!(
            "has {more} bytes behind the end of what was packed: something was added to it; take it as it was"
        )),
    }
}

/// The events as they were told: what files share goes where it was told, and judgements get back what they were
/// written without. What is counted is counted again, without the judgements that are left out.
fn assemble(path: &Path, shared: Vec<Line>, own: Vec<Line>) -> Result<(Vec<Event>, usize), FileError> {
    let wrong = |line: usize, what: String| FileError::Content { path: path.to_owned(), line: Some(line), what };
    let shares = !shared.is_empty();
    let mut cases: HashMap<String, CaseStated> = HashMap::new();
    let mut events = Vec::with_capacity(shared.len() + own.len());
    let mut ready: Option<(String, String)> = None;
    let mut shared = Some(shared);
    let (mut stale, mut tallies) = (0, Vec::<Tally>::new());
    // The same with the judgements that are left out: what the end of the run has to say.
    let mut recount = Recount::default();
    let (mut clauses, mut executed) = (BTreeMap::new(), BTreeSet::new());
    // The header is the first line.
    for (line, number) in own.into_iter().zip(2..) {
        match line {
            Line::Event(mut event) => {
                let begins = matches!(*event, Event::Started(_));
                if let Event::Started(started) = &*event {
                    recount.started(started);
                }
                match &mut *event {
                    Event::Case(case) => {
                        cases.insert(case.id.clone(), (**case).clone());
                    }
                    Event::Started(started) if shares => {
                        let own = shared.iter().flatten();
                        let is_case =
                            |line: &&Line| matches!(line, Line::Event(event) if matches!(**event, Event::Case(_)));
                        let whole = started.cases == started.of;
                        started.cases = own.filter(is_case).count();
                        started.of = if whole { started.cases } else { started.of };
                    }
                    Event::Clause(clause) => {
                        clauses.insert(clause.id.clone(), clause.cannot_be_shown.is_none());
                    }
                    Event::Generated(generated) => {
                        recount.generated(&generated.verdict).map_err(|what| wrong(number, what))?;
                    }
                    Event::Judged(_) | Event::Implementation(_) => {
                        return Err(wrong(number, "it does not stand on a line of its kind".to_owned()));
                    }
                    Event::Finished(totals) => {
                        let right = recount.check(totals);
                        // What is shared may have been written later.
                        let right = right.and_then(|()| match shares {
                            true => Ok(()),
                            false => Recount::check_clauses(totals, &clauses, &executed),
                        });
                        right.map_err(|what| wrong(number, what))?;
                        for (told, counted) in totals.implementations.iter_mut().zip(&tallies) {
                            *told = counted.clone().completed(told, cases.len());
                        }
                        totals.conforms = totals.implementations.iter().all(Tally::is_green) && totals.conforms;
                    }
                    _ => {}
                }
                events.push(*event);
                if begins {
                    for line in shared.take().unwrap_or_default() {
                        let Line::Event(event) = line else { continue };
                        if let Event::Case(case) = &*event {
                            cases.insert(case.id.clone(), (**case).clone());
                        }
                        events.push(*event);
                    }
                }
            }
            Line::Ready(implementation) => {
                ready = Some((implementation.label.clone(), implementation.given.clone()));
                tallies.push(Tally::default());
                recount.implementation();
                events.push(Event::Implementation(implementation));
            }
            Line::Judged(judged) => {
                let (Some((implementation, given)), Some(tally)) = (&ready, tallies.last_mut()) else {
                    return Err(wrong(number, "a judgement of no implementation".to_owned()));
                };
                recount.judged(&judged.case, &judged.verdict).map_err(|what| wrong(number, what))?;
                match cases.get(&judged.case) {
                    Some(case) if case.digest == judged.digest => {
                        tally.add(&judged.verdict);
                        if judged.verdict.executed() {
                            executed.extend(case.clauses.iter().cloned());
                        }
                        events.push(Event::Judged(Box::new(whole(*judged, case, implementation, given))));
                    }
                    None if !shares => return Err(wrong(number, format!("there is no case `{}`", judged.case))),
                    _ => stale += 1,
                }
            }
            Line::Header(_) | Line::Footer(_) => {
                return Err(wrong(number, "a header or a footer in the middle".to_owned()));
            }
        }
    }
    // A file that is shared itself has no beginning of a run.
    events.extend(shared.into_iter().flatten().filter_map(|line| match line {
        Line::Event(event) => Some(*event),
        _ => None,
    }));
    Ok((events, stale))
}

fn whole(line: JudgedLine, case: &CaseStated, implementation: &str, given: &str) -> Judged {
    let says = |stated: &Stated| format!("{} = {}", stated.value, stated.outcome);
    Judged {
        case: line.case,
        digest: line.digest,
        clauses: case.clauses.clone(),
        source: case.source.clone(),
        location: case.location.clone(),
        implementation: implementation.to_owned(),
        given: given.to_owned(),
        replaced: line.replaced,
        verdict: line.verdict,
        documented: line.documented,
        untold: line.untold,
        document_says: (!case.documented.is_empty())
            .then(|| case.documented.iter().map(says).collect::<Vec<_>>().join("; ")),
        why: case.why.clone(),
        outcome: line.outcome,
        exact: line.exact,
    }
}
