//! The wheels on disk: fetched once, checked, and kept until the installation has succeeded, so that an interrupted
//! one continues where it was. It must not know what is inside a wheel.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::{InstallError, io_error};
use super::files;
use super::pip::{self, Order};
use super::progress::Progress;
use super::releases::Release;
use super::requires::Requirement;

/// The download folder of one release. Its user holds the release's lock.
pub(super) struct Downloads<'a> {
    pub python: &'a OsStr,
    pub folder: PathBuf,
    pub release: &'a Release,
    pub progress: &'a Progress,
    /// The wheels of it that were used, for the record.
    pub used: Vec<WheelRecord>,
}

/// A wheel that an installation was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WheelRecord {
    /// The name of the file.
    pub file: String,
    /// The size in bytes.
    pub size: u64,
    /// The SHA-256 of the file.
    pub sha256: String,
}

impl Downloads<'_> {
    /// PyTorch's own wheel.
    pub(super) fn torch(&mut self) -> Result<PathBuf, InstallError> {
        let release = self.release;
        let kept = if release.first_use { self.kept_torch() } else { Some(self.folder.join(&release.wheel)) };
        if let Some(kept) = kept.filter(|kept| kept.exists()) {
            match self.check(&kept) {
                // It was whole when it was put here, so the disk or a person has changed it since: fetch it again.
                Err(InstallError::WrongHash { .. }) => {}
                checked => return checked.map(|()| kept),
            }
        }
        let spec = format!("torch=={}", release.version);
        if release.first_use {
            let platforms = pip::compatible_platforms(&release.platform);
            self.fetch(&spec, &platforms, None)
        } else {
            self.fetch(&spec, std::slice::from_ref(&release.platform), Some(release.size))
        }
    }

    /// The wheel of a release whose file name is not known.
    fn kept_torch(&self) -> Option<PathBuf> {
        let beginning = format!("torch-{}-", self.release.version);
        let mut paths = fs::read_dir(&self.folder).ok()?.flatten().map(|entry| entry.path());
        paths.find(|path| file_name(path).starts_with(&beginning) && path.extension() == Some(OsStr::new("whl")))
    }

    /// A wheel that another one requires.
    pub(super) fn required(&mut self, requirement: &Requirement) -> Result<PathBuf, InstallError> {
        if let Some(kept) = self.kept(requirement) {
            match self.check(&kept) {
                Err(InstallError::WrongHash { .. }) => {}
                checked => return checked.map(|()| kept),
            }
        }
        let platforms = pip::compatible_platforms(&self.release.platform);
        let size = self.release.also.iter().find(|known| requirement.satisfied_by(&known.file)).map(|known| known.size);
        self.fetch(&requirement.spec(), &platforms, size)
    }

    fn kept(&self, requirement: &Requirement) -> Option<PathBuf> {
        let entries = fs::read_dir(&self.folder).ok()?;
        let mut paths = entries.flatten().map(|entry| entry.path());
        paths.find(|path| requirement.satisfied_by(&file_name(path)))
    }

    fn fetch(&mut self, spec: &str, platforms: &[String], size: Option<u64>) -> Result<PathBuf, InstallError> {
        let order = Order { spec, python: &self.release.python, platforms };
        let mut phase = self.progress.phase(format!("fetching {spec}"), size);
        let arrived = pip::download(self.python, &order, &self.folder, &mut phase)?;
        drop(phase);
        self.check(&arrived)?;
        let kept = self.folder.join(file_name(&arrived));
        fs::rename(&arrived, &kept).map_err(io_error("keep", &kept))?;
        Ok(kept)
    }

    /// Compares the file with what is known of it, and deletes it where they differ.
    fn check(&mut self, path: &Path) -> Result<(), InstallError> {
        let file = file_name(path);
        let size = fs::metadata(path).map_err(io_error("read", path))?.len();
        // Only PyTorch's wheel is large enough to be worth a line.
        let silent = Progress::silent();
        let progress = if size < 100_000_000 { &silent } else { self.progress };
        let mut phase = progress.phase(format!("checking {file}"), Some(size));
        let sha256 = files::sha256(path, |count| phase.add(count)).map_err(io_error("read", path))?;
        drop(phase);
        if let Some(expected) = self.release.known_sha256(&file).filter(|expected| *expected != sha256) {
            fs::remove_file(path).map_err(io_error("delete", path))?;
            return Err(InstallError::WrongHash { file, expected: expected.to_string(), got: sha256 });
        }
        self.used.retain(|record| record.file != file);
        self.used.push(WheelRecord { file, size, sha256 });
        Ok(())
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
