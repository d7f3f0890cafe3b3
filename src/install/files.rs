//! Small things done with files that several steps of an installation need: the lock between processes, hashing,
//! atomic replacement, free space, sizes. It must not know what the files are for.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::error::{InstallError, io_error};
use super::progress::{Phase, Progress};

/// Exclusive use of something, among processes and threads, until it is dropped. The system releases it also when the
/// process is killed, which a file that merely exists would not survive.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for its turn, with a note if another process holds the lock.
    pub(crate) fn take(path: &Path, what: &str, progress: &Progress) -> Result<Lock, InstallError> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(io_error("open the lock file", path))?;
        let mut waiting: Option<Phase<'_>> = None;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::WouldBlock) => waiting
                    .get_or_insert_with(|| {
                        progress.phase(format!("waiting: another process is installing {what}"), None)
                    })
                    .tick(),
                Err(TryLockError::Error(error)) => return Err(io_error("lock", path)(error)),
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// The SHA-256 hash of a file, in lower-case hexadecimal. `advance` hears of every piece read.
pub(super) fn sha256(path: &Path, mut advance: impl FnMut(u64)) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hexadecimal(&hasher.finalize()));
        }
        hasher.update(&buffer[..count]);
        advance(count as u64);
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file atomically, so that no reader sees half of it. The caller holds the lock of whatever the file belongs
/// to.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("fresh");
    fs::write(&fresh, contents)?;
    fs::rename(&fresh, path)
}

/// Removes a folder and all in it; a folder that is not there is no fault.
pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Bytes in the files below a folder. Files that vanish meanwhile count as nothing: it is used to watch a download.
pub(super) fn tree_size(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => tree_size(&entry.path()),
        Ok(metadata) if metadata.is_file() => metadata.len(),
        _ => 0,
    });
    sizes.sum()
}

/// Fails where less than `needed` bytes are free below `path`. Where the free space is unknown, it is assumed to
/// suffice: a full disk is also recognised when a write fails.
pub(super) fn require_space(path: &Path, needed: u64) -> Result<(), InstallError> {
    match free_space(path) {
        Some(free) if free < needed => {
            Err(InstallError::DiskFull { path: path.to_path_buf(), needed: Some(needed), free: Some(free) })
        }
        _ => Ok(()),
    }
}

/// Free bytes on the disk that holds `path`. The standard library has no call for it; `df` is in POSIX.
fn free_space(path: &Path) -> Option<u64> {
    let output = Command::new("df").arg("-Pk").arg(path).env("LC_ALL", "C").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    // Filesystem 1024-blocks Used Available Capacity Mounted-on; a name with spaces shifts the columns, so they are
    // counted from the one that ends in a per cent sign.
    let fields: Vec<&str> = text.lines().nth(1)?.split_whitespace().collect();
    let capacity = fields.iter().position(|field| field.ends_with('%'))?;
    let blocks: u64 = fields.get(capacity.checked_sub(1)?)?.parse().ok()?;
    Some(blocks * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_published_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "abc").unwrap();
        let mut read = 0;
        let hash = sha256(file.path(), |count| read += count).unwrap();
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(read, 3);
    }

    #[test]
    #[cfg(unix)]
    fn missing_space_alone_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        require_space(folder.path(), 1).unwrap();
        let text = require_space(folder.path(), u64::MAX).unwrap_err().to_string();
        assert!(text.contains("needed") && text.contains("BROADCHECK_CACHE"), "{text}");
    }

    #[test]
    fn the_size_of_a_tree_counts_files_at_all_depths() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::write(folder.path().join("x"), [0; 3]).unwrap();
        fs::write(folder.path().join("a/b/y"), [0; 4]).unwrap();
        assert_eq!(tree_size(folder.path()), 7);
    }
}
