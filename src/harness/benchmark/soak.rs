//! A long campaign, looked at now and then: whether it stays as fast as it began, and in the memory that it began with.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::adapter::watch;
use crate::campaign::{self, Setup};
use crate::campaign::{
    journal::Book,
    record::{Identity, Machine},
};

/// How many points a curve has, about.
const POINTS: u64 = 100;

/// A long campaign.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Soak {
    /// The implementation under test.
    pub implementation: Identity,
    /// Where it ran.
    pub machine: Machine,
    /// How many workers there were.
    pub jobs: usize,
    /// What was seen, in order.
    pub points: Vec<Point>,
}

/// A look at a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Cases that were done.
    pub cases: u64,
    /// Seconds since the beginning.
    pub seconds: f64,
    /// Seconds of processor time that this process and the adapters took, whatever else the machine was doing; 0 where
    /// the system does not tell.
    pub cpu: f64,
    /// Resident memory of this process, in bytes.
    pub harness: u64,
    /// That of the adapters together.
    pub adapters: u64,
    /// The size of the journal, in bytes.
    pub journal: u64,
    /// Signatures that were found, known ones included.
    pub signatures: usize,
}

/// Runs a campaign of a known number of cases and looks at it now and then.
///
/// # Errors
/// When the campaign fails, or ends before it is complete.
pub fn soak(setup: &Setup, book: Book, mut tell: impl FnMut(&Point)) -> Result<Soak, String> {
    let (implementation, machine) = (Identity::of(&setup.subject.1), Machine::here());
    let apart = setup.cases.unwrap_or(POINTS).div_ceil(POINTS);
    let begun = Instant::now();
    let mut points: Vec<Point> = Vec::new();
    let (book, why) = campaign::run(setup, book, |book| {
        let cases = book.tally().checkpoint.counts.cases;
        if cases >= points.last().map_or(1, |point| point.cases + apart) {
            let point = look(book, begun.elapsed());
            tell(&point);
            points.push(point);
        }
    })?;
    match book.tally().complete() {
        Some(true) => Ok(Soak { implementation, machine, jobs: setup.jobs, points }),
        _ => Err(format!("the campaign ended before it was complete: {why}")),
    }
}

fn look(book: &Book, elapsed: Duration) -> Point {
    let journal = fs::read_dir(book.folder()).into_iter().flatten().filter_map(|entry| entry.ok()?.metadata().ok());
    let adapters = adapters();
    let (harness, adapting) = processors(&adapters);
    Point {
        cases: book.tally().checkpoint.counts.cases,
        seconds: elapsed.as_secs_f64(),
        cpu: harness + adapting,
        harness: resident(Path::new("/proc/self")),
        adapters: adapters.iter().map(|process| resident(process)).sum(),
        journal: journal.filter(fs::Metadata::is_file).map(|file| file.len()).sum(),
        signatures: book.tally().findings.len(),
    }
}

/// The processes that this one has started, in the file system of Linux.
pub fn adapters() -> Vec<PathBuf> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let children: String = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok()).collect();
    let children = children.split_whitespace().map(|process| Path::new("/proc").join(process));
    let watches =
        |process: &PathBuf| fs::read_to_string(process.join("cmdline")).is_ok_and(|words| words.contains(watch::NAME));
    children.filter(|process| !watches(process)).collect()
}

/// The processor time of this process and of these others, in seconds; 0 where the system does not tell.
pub fn processors(others: &[PathBuf]) -> (f64, f64) {
    (processor(Path::new("/proc/self")), others.iter().map(|process| processor(process)).sum())
}

/// The processor time of a process in seconds, with that of its children that have ended.
fn processor(process: &Path) -> f64 {
    /// `sysconf(_SC_CLK_TCK)`, which is this on every Linux.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
    // What comes after the name, which may have anything in it: the state is the third field, times are 14 to 17.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    fields.split(' ').skip(11).take(4).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS
}

/// The resident memory of a process in bytes.
fn resident(process: &Path) -> u64 {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib << 10)
}
