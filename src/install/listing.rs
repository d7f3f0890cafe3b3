//! Lists the contents of the cache, for people and for programs. It reads and must not change anything.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;

use super::error::{InstallError, io_error};
use super::releases::numbers;
use super::{Installer, Origin, Record, adapter, files};

/// One libtorch in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The version.
    pub version: String,
    /// Its origin.
    pub origin: Origin,
    /// The folder that has `include` and `lib`.
    pub path: PathBuf,
    /// The bytes that it takes in the cache, with the adapter and the files kept for its next build.
    pub bytes: u64,
    /// The adapter's program, when it is built.
    pub adapter: Option<PathBuf>,
}

/// Everything installed, newest version first, and the libtorch that the environment points to.
pub(super) fn list(installer: &Installer) -> Result<Vec<Entry>, InstallError> {
    let home = installer.home();
    let folders = match fs::read_dir(&home) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        found => found.map_err(io_error("read", &home))?.flatten().map(|entry| entry.path()).collect(),
    };
    let hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let mut entries: Vec<Entry> = folders
        .into_iter()
        .filter(|folder| !hidden(folder))
        .filter_map(|folder| {
            let record = Record::read(&folder)?;
            Some(Entry {
                origin: record.origin,
                path: record.root(&folder),
                bytes: files::tree_size(&folder),
                adapter: Some(adapter::binary(&folder)).filter(|path| path.is_file()),
                version: record.version,
            })
        })
        .collect();
    if let Some(external) = &installer.external {
        let external = external.resolve()?;
        if entries.iter().all(|entry| entry.path != external.root) {
            let (version, origin, path) = (external.version, external.origin, external.root);
            entries.push(Entry { version, origin, path, bytes: 0, adapter: None });
        }
    }
    entries.sort_by_cached_key(|entry| (std::cmp::Reverse(numbers(&entry.version)), entry.path.clone()));
    Ok(entries)
}
