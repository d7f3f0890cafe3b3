//! Reads a wheel, which is a zip archive: its file list, its METADATA, and single files of it to disk. It must not
//! know which files are wanted, nor where a wheel comes from.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use super::error::{InstallError, io_error};

/// An open wheel.
pub(super) struct Wheel {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    entries: Vec<Entry>,
}

/// A file in a wheel.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    index: usize,
    /// The path in the wheel, with `/` between its parts.
    pub name: String,
    /// Bytes when unpacked.
    pub size: u64,
}

impl Wheel {
    pub(super) fn open(path: &Path) -> Result<Wheel, InstallError> {
        let file = File::open(path).map_err(io_error("open", path))?;
        let bad = |error: ZipError| bad_wheel(path, error);
        let mut archive = ZipArchive::new(BufReader::new(file)).map_err(bad)?;
        let mut entries = Vec::with_capacity(archive.len());
        for index in 0..archive.len() {
            let entry = archive.by_index_raw(index).map_err(bad)?;
            // A name that would lead out of the folder is unpacked to is nothing that a wheel has.
            let enclosed = entry.enclosed_name().is_some();
            let name = entry.name().map_err(bad)?.to_string();
            if enclosed && !name.ends_with('/') {
                entries.push(Entry { index, name, size: entry.size() });
            }
        }
        Ok(Wheel { path: path.to_path_buf(), archive, entries })
    }

    /// The files in it.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The file that has this name in whatever folder.
    pub(super) fn named(&self, file_name: &str) -> Option<Entry> {
        self.entries.iter().find(|entry| entry.name.rsplit('/').next() == Some(file_name)).cloned()
    }

    /// The text of its METADATA.
    pub(super) fn metadata(&mut self) -> Result<String, InstallError> {
        let is_metadata = |entry: &&Entry| entry.name.ends_with(".dist-info/METADATA");
        let entry = self.entries.iter().find(is_metadata).ok_or_else(|| self.bad("it has no METADATA"))?.clone();
        let mut text = String::new();
        let mut stream = self.archive.by_index(entry.index).map_err(|error| bad_wheel(&self.path, error))?;
        stream.read_to_string(&mut text).map_err(|error| bad_wheel(&self.path, error.into()))?;
        Ok(text)
    }

    /// Unpacks one file of it. `advance` hears of every piece written.
    pub(super) fn extract(
        &mut self,
        entry: &Entry,
        to: &Path,
        mut advance: impl FnMut(u64),
    ) -> Result<(), InstallError> {
        let folder = to.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(io_error("create", folder))?;
        let mut file = File::create(to).map_err(io_error("create", to))?;
        let mut stream = self.archive.by_index(entry.index).map_err(|error| bad_wheel(&self.path, error))?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = match stream.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) => return Err(bad_wheel(&self.path, ZipError::Io(error))),
            };
            file.write_all(&buffer[..count]).map_err(io_error("write", to))?;
            advance(count as u64);
        }
    }

    /// The error that says what is wrong with it.
    pub(super) fn bad(&self, detail: &str) -> InstallError {
        InstallError::BadWheel { path: self.path.clone(), detail: detail.to_string() }
    }
}

fn bad_wheel(path: &Path, error: ZipError) -> InstallError {
    match error {
        ZipError::Io(error) if error.kind() == io::ErrorKind::NotFound => io_error("read", path)(error),
        error => InstallError::BadWheel { path: path.to_path_buf(), detail: error.to_string() },
    }
}
