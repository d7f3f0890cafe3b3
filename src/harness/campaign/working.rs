//! The cases that the reference is at, in files that outlive the process.
//!
//! A panic of the reference is caught, and work is bounded by its budget; an overflow of its stack or the end of memory ends
//! the process of the campaign. So each worker writes down the case that it is about to ask the reference for, and takes it
//! back afterwards. What stands there when the campaign is resumed is a suspect: it is made once more, alone, before anything
//! else. A suspect that ends the process again is a finding, and is not made a third time; any other was there by chance,
//! when something else killed the campaign.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The folder of the files in that of the campaign.
const FOLDER: &str = "working";

/// The characters of a file: those of the largest number, and the end of the line.
const WIDTH: usize = 21;

/// How often a case may end the process before it is given up.
pub const DEATHS: u32 = 2;

/// The file of one worker.
#[derive(Debug)]
pub struct Working(File);

impl Working {
    /// The file of a worker.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(campaign: &Path, worker: usize) -> io::Result<Working> {
        let folder = campaign.join(FOLDER);
        fs::create_dir_all(&folder)?;
        File::create(folder.join(worker.to_string())).map(Working)
    }

    /// Does something that needs the reference for a case.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn on<R>(&mut self, case: u64, work: impl FnOnce() -> R) -> io::Result<R> {
        self.write(&case.to_string())?;
        let result = work();
        self.write("")?;
        Ok(result)
    }

    /// Leaves a case behind, as an end of the process does.
    #[cfg(test)]
    pub fn leave(&mut self, case: u64) -> io::Result<()> {
        self.write(&case.to_string())
    }

    /// One call of the system writes the whole file, so that nothing ends the process in between.
    fn write(&mut self, text: &str) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(format!("{text:<width$}\n", width = WIDTH - 1).as_bytes())
    }
}

/// The cases that workers of an earlier run were at when it ended.
///
/// # Errors
/// When the files are there and cannot be read.
pub fn left(campaign: &Path) -> io::Result<Vec<u64>> {
    let folder = campaign.join(FOLDER);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut cases = Vec::new();
    for entry in entries {
        let mut text = String::new();
        File::open(entry?.path())?.take(WIDTH as u64).read_to_string(&mut text)?;
        cases.extend(text.trim().parse::<u64>());
    }
    cases.sort_unstable();
    cases.dedup();
    Ok(cases)
}

/// Removes the files once nothing stands in them any more.
///
/// # Errors
/// When they cannot be removed.
pub fn clear(campaign: &Path) -> io::Result<()> {
    match fs::remove_dir_all(campaign.join(FOLDER)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_was_at_stands_there_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        assert!(left(dir.path()).unwrap().is_empty(), "a campaign that was never run");
        let mut workers = [0, 1, 2].map(|worker| Working::open(dir.path(), worker).unwrap());
        assert!(left(dir.path()).unwrap().is_empty());
        assert_eq!(workers[0].on(u64::MAX, || 7).unwrap(), 7);
        // The process ends while two of them are at work.
        for (worker, case) in workers[1..].iter_mut().zip([12, 3]) {
            let end = std::panic::AssertUnwindSafe(|| worker.on(case, || std::panic::resume_unwind(Box::new(()))));
            assert!(std::panic::catch_unwind(end).is_err());
        }
        assert_eq!(left(dir.path()).unwrap(), [3, 12]);
        clear(dir.path()).unwrap();
        assert!(left(dir.path()).unwrap().is_empty());
    }
}
