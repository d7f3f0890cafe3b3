//! The adapters that run, and the processor time that they take.

use std::fs;
use std::path::{Path, PathBuf};

use crate::adapter::watch;

/// The processes that this one has started, in the file system of Linux.
pub fn adapters() -> Vec<PathBuf> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let children: String = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok()).collect();
    let children = children.split_whitespace().map(|process| Path::new("/proc").join(process));
    let watches =
        |process: &PathBuf| fs::read_to_string(process.join("cmdline")).is_ok_and(|words| words.contains(watch::NAME));
    children.filter(|process| !watches(process)).collect()
}

/// The processor time of this process and of these others, in seconds; 0 where the system does not report it.
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
