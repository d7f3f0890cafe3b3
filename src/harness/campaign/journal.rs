//! The journal of a campaign: a file of JSON lines to which records are only added.
//!
//! Whatever happens to the campaign, the journal is what there was of it: a kill can cut off its last line, and that is
//! left out when it is read. Findings are in it before the next result is looked at. Which cases are done, and what was
//! counted over them, stands in checkpoints, the last of which counts: cases after it are run again, and what is found
//! again is the same finding.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::plausible::{self, MAX_LINE};
use super::record::{Example, FindingRecord, Header, Pursued, Record, Suspect};
use super::tally::{Group, Tally};
use crate::campaign::counts::Counts;
use crate::model::finding::Finding;

/// The name of the file in a campaign's folder.
pub const FILE: &str = "journal.jsonl";

/// The reason for the end of a run that a signal has ended.
pub const INTERRUPTED: &str = "interrupted";

/// The number of findings of a group that are kept in full.
const EXAMPLES: usize = 3;

/// The longest time between two checkpoints. A young campaign makes them more often: no more than a twentieth of it has
/// to be done again.
const CHECKPOINT: Duration = Duration::from_secs(5);

/// Reads the journal in a campaign's folder.
///
/// # Errors
/// When there is none, or when anything but its end is damaged.
pub fn read(folder: &Path) -> Result<Tally, String> {
    let path = folder.join(FILE);
    let bytes = fs::read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{}: there is no campaign here: {FILE} is missing", folder.display()),
        _ => format!("{}: {error}", path.display()),
    })?;
    parse(&bytes).map(|(tally, _)| tally).map_err(|error| format!("{}: {error}", path.display()))
}

/// The record on a line, if it can be one.
fn record(line: &[u8]) -> Result<Record, String> {
    if line.len() > MAX_LINE {
        return Err(format!("{} bytes are more than a line of a journal has: at most {MAX_LINE}", line.len()));
    }
    let record = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    plausible::record(&record)?;
    Ok(record)
}

/// The length of the lines that are whole.
fn whole(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

/// The state that a journal tells of, and the length of the lines that are whole.
fn parse(bytes: &[u8]) -> Result<(Tally, u64), String> {
    let whole = whole(bytes);
    let mut tally: Option<Tally> = None;
    for (at, line) in bytes[..whole].split_inclusive(|&byte| byte == b'\n').enumerate() {
        let record = record(line).map_err(|error| format!("line {}: {error}", at + 1))?;
        match (&mut tally, record) {
            (None, Record::Header(header)) => tally = Some(Tally::new(*header)),
            (None, _) => return Err("the first line is no header of a campaign".to_owned()),
            (Some(_), Record::Header(_)) => return Err(format!("line {}: a second header", at + 1)),
            (Some(tally), record) => tally.take(record),
        }
    }
    let tally = tally.ok_or("it was killed before it began: begin it anew, without --resume")?;
    Ok((tally, whole as u64))
}

/// An open journal, and what it has come to.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    /// Locked as long as it is open.
    file: File,
    tally: Tally,
    begun: Instant,
    /// The time that earlier runs took.
    before: Duration,
    last_checkpoint: Instant,
}

impl Journal {
    /// Begins a campaign.
    ///
    /// # Errors
    /// When the folder has one already, or cannot be written to.
    pub fn create(folder: &Path, header: Header) -> Result<Journal, String> {
        let path = folder.join(FILE);
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(folder).map_err(failed)?;
        let file = OpenOptions::new().create(true).read(true).append(true).open(&path).map_err(failed)?;
        lock(&file, &path)?;
        let mut first = Vec::new();
        BufReader::new(&file).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut first).map_err(failed)?;
        if first.len() > MAX_LINE {
            return Err(format!("{}: this is no journal: its first line has no end", path.display()));
        }
        if first.ends_with(b"\n") {
            let folder = folder.display();
            return Err(format!(
                "{folder} has a campaign already: --resume goes on with it, --out names another folder"
            ));
        }
        // A campaign that was killed before its first line was whole has nothing to lose.
        file.set_len(0).map_err(failed)?;
        let mut journal = Journal::open(folder, file, Tally::new(header.clone()));
        journal.write(&Record::Header(Box::new(header))).map_err(failed)?;
        Ok(journal)
    }

    /// Goes on with a campaign.
    ///
    /// # Errors
    /// When there is none, when another process is at it, or when anything but the end of the journal is damaged.
    pub fn resume(folder: &Path) -> Result<Journal, String> {
        let path = folder.join(FILE);
        // For its message where there is none.
        read(folder)?;
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
        lock(&file, &path)?;
        // Only now is it certain that nobody adds to it.
        let bytes = fs::read(&path).map_err(failed)?;
        let (tally, whole) = parse(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        file.set_len(whole).map_err(failed)?;
        Ok(Journal::open(folder, file, tally))
    }

    fn open(folder: &Path, file: File, tally: Tally) -> Journal {
        let before = Duration::from_millis(tally.checkpoint.milliseconds);
        let now = Instant::now();
        Journal { folder: folder.to_owned(), file, tally, begun: now, before, last_checkpoint: now }
    }

    /// The state so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The folder of the campaign.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// For how long the campaign has been running, earlier runs included.
    pub fn elapsed(&self) -> Duration {
        self.before + self.begun.elapsed()
    }

    /// Writes a finding down. True for the first of its group.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn found(&mut self, case: u64, finding: &Finding, known: Option<String>) -> io::Result<bool> {
        let group = Group { signature: finding.signature.clone(), known: known.clone() };
        let before = self.tally.findings.get(&group);
        if before.is_some_and(|found| found.cases.contains(&case)) {
            return Ok(false);
        }
        let first = before.is_none();
        let example = before.is_none_or(|found| found.cases.len() < EXAMPLES).then(|| Example::of(finding));
        self.add(Record::Finding(FindingRecord { case, signature: group.signature, known, example }))?;
        if first {
            // Not even a loss of power takes it.
            self.file.sync_data()?;
        }
        Ok(first)
    }

    /// Notes that the cases at these positions are done, and what was counted over them.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn done(&mut self, start: u64, end: u64, counts: &Counts) -> io::Result<()> {
        self.tally.checkpoint.done.insert(start, end);
        self.tally.checkpoint.counts += counts;
        // What comes after the last case, such as shrinking, says nothing of how fast cases are.
        self.tally.checkpoint.milliseconds = self.elapsed().as_millis() as u64;
        if self.last_checkpoint.elapsed() >= CHECKPOINT.min(self.elapsed() / 20) {
            self.checkpoint()?;
        }
        Ok(())
    }

    /// Notes what became of the first finding of a signature.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn pursued(&mut self, pursued: Pursued) -> io::Result<()> {
        self.add(Record::Pursued(pursued))
    }

    /// Notes how often the process ended while the reference was at a case. Not even a loss of power takes it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn suspect(&mut self, case: u64, deaths: u32) -> io::Result<()> {
        self.add(Record::Suspect(Suspect { case, deaths }))?;
        self.file.sync_data()
    }

    /// Ends a run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(&mut self, why: &str) -> io::Result<()> {
        self.checkpoint()?;
        self.add(Record::End { why: why.to_owned() })?;
        self.file.sync_data()
    }

    fn checkpoint(&mut self) -> io::Result<()> {
        self.last_checkpoint = Instant::now();
        self.write(&Record::Checkpoint(self.tally.checkpoint.clone()))
    }

    fn add(&mut self, record: Record) -> io::Result<()> {
        self.write(&record)?;
        self.tally.take(record);
        Ok(())
    }

    /// One call of the system for a line: what was written survives the end of this process, however it comes.
    fn write(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

fn lock(file: &File, path: &Path) -> Result<(), String> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(format!("{}: another process is at this campaign", path.display())),
        Err(TryLockError::Error(error)) => Err(format!("{}: {error}", path.display())),
    }
}
