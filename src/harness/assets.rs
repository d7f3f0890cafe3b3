//! The files that come with broadcheck besides its code (the specification, the adapters with their sources and known
//! differences), and the cache, where everything is that can be fetched or made again. It must not know what any of it
//! means.
//!
//! These files are looked for in this order: the folder after `--source`, the one that BROADCHECK_SOURCE
//! names, a checkout around the working folder, and the copy in the program itself. That copy is unpacked once:
//!
//! ```text
//! CACHE/source/0.1.0-3f2a…/    the copy; whatever is in it, a program with other contents uses another folder
//! ```

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

/// The variable that names the folder.
const VARIABLE: &str = "BROADCHECK_SOURCE";
/// The files that a folder has to hold.
const MARKS: [&str; 3] = ["spec/documents.yaml", "adapters/libtorch/Cargo.toml", "src/protocol/Cargo.toml"];

/// A file of the copy in the program: its path below the root, with `/`, and its contents.
pub type Embedded = (String, Cow<'static, [u8]>);

static EMBEDDED: OnceLock<fn() -> Vec<Embedded>> = OnceLock::new();
static PREFERRED: OnceLock<PathBuf> = OnceLock::new();
static UNPACKED: OnceLock<PathBuf> = OnceLock::new();

/// Tells which files the program has in it. The library itself has none, so that a change of the specification compiles
/// the program alone.
pub fn embed(files: fn() -> Vec<Embedded>) {
    EMBEDDED.get_or_init(|| files);
}

/// Uses this folder and no other, as `--source` asks for.
pub fn prefer(folder: PathBuf) {
    PREFERRED.get_or_init(|| folder);
}

/// The reason why the files of broadcheck are not available.
#[derive(Debug, thiserror::Error)]
pub enum AssetsError {
    /// A folder that was named lacks something.
    #[error(
        "{named} names {}, which has no {lacks}: name a checkout of broadcheck, or leave it out to use what is in the \
         program", .folder.display()
    )]
    Incomplete {
        /// The option or variable that names it.
        named: &'static str,
        /// The folder.
        folder: PathBuf,
        /// The file that is not there.
        lacks: &'static str,
    },
    /// No folder, and no copy in the program.
    #[error(
        "the specification and the adapters were not found: run from a checkout of broadcheck, or set BROADCHECK_SOURCE \
         to one"
    )]
    Nowhere,
    /// The cache is nowhere.
    #[error("no cache folder can be found for this user: set BROADCHECK_CACHE to a folder that may be written")]
    NoCacheFolder,
    /// The copy in the program cannot be unpacked.
    #[error(
        "cannot unpack the specification and the adapters to {}: {error}; set BROADCHECK_CACHE to a folder that may be \
         written, or BROADCHECK_SOURCE to a checkout of broadcheck", .folder.display()
    )]
    Unpack {
        /// The folder to unpack to.
        folder: PathBuf,
        /// The error of the file system.
        error: io::Error,
    },
}

/// The setting that decided where the root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The option `--source`.
    Option,
    /// The variable BROADCHECK_SOURCE.
    Variable,
    /// The working folder is in a checkout.
    Checkout,
    /// The copy in the program.
    Program,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Option => "--source",
            Origin::Variable => VARIABLE,
            Origin::Checkout => "a checkout around the working folder",
            Origin::Program => "the copy in the program",
        })
    }
}

/// The folder that has `spec/` and `adapters/`, absolute, and what decided so.
///
/// # Errors
/// When a folder that was named lacks them, when there is none, or when the copy in the program cannot be unpacked.
pub fn found() -> Result<(PathBuf, Origin), AssetsError> {
    if let Some(folder) = PREFERRED.get() {
        return checked(folder, "--source").map(|root| (root, Origin::Option));
    }
    if let Some(folder) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return checked(Path::new(&folder), VARIABLE).map(|root| (root, Origin::Variable));
    }
    let here = std::env::current_dir().ok();
    if let Some(root) = here.iter().flat_map(|here| here.ancestors()).find(|folder| lacking(folder).is_none()) {
        return Ok((root.to_owned(), Origin::Checkout));
    }
    if let Some(root) = UNPACKED.get() {
        return Ok((root.clone(), Origin::Program));
    }
    let files = EMBEDDED.get().ok_or(AssetsError::Nowhere)?();
    let folder = cache_dir()?.join("source").join(format!("{}-{}", env!("CARGO_PKG_VERSION"), digest(&files)));
    unpack(&files, &folder).map_err(|error| AssetsError::Unpack { folder: folder.clone(), error })?;
    Ok((UNPACKED.get_or_init(|| folder).clone(), Origin::Program))
}

/// See [`found`].
///
/// # Errors
/// As there.
pub fn root() -> Result<PathBuf, AssetsError> {
    found().map(|(root, _)| root)
}

/// A path below the root, by the shorter name where the working folder is around it.
///
/// # Errors
/// As [`found`].
pub fn path(below: &str) -> Result<PathBuf, AssetsError> {
    let path = root()?.join(below);
    let here = std::env::current_dir().ok();
    Ok(here.and_then(|here| path.strip_prefix(here).map(Path::to_owned).ok()).unwrap_or(path))
}

/// The specification.
///
/// # Errors
/// As [`found`].
pub fn specification() -> Result<PathBuf, AssetsError> {
    path("spec")
}

/// The folder for everything that can be fetched or built again, absolute: BROADCHECK_CACHE, else `broadcheck` in the
/// platform's cache folder.
///
/// # Errors
/// When the platform has none for this user, or the working folder is gone.
pub fn cache_dir() -> Result<PathBuf, AssetsError> {
    use etcetera::BaseStrategy;
    if let Some(folder) = std::env::var_os("BROADCHECK_CACHE").filter(|value| !value.is_empty()) {
        return std::path::absolute(&folder).map_err(|_| AssetsError::NoCacheFolder);
    }
    let platform = etcetera::base_strategy::choose_native_strategy().map_err(|_| AssetsError::NoCacheFolder)?;
    Ok(platform.cache_dir().join("broadcheck"))
}

fn checked(folder: &Path, named: &'static str) -> Result<PathBuf, AssetsError> {
    match lacking(folder) {
        Some(lacks) => Err(AssetsError::Incomplete { named, folder: folder.to_owned(), lacks }),
        None => Ok(std::path::absolute(folder).unwrap_or(folder.to_owned())),
    }
}

fn lacking(folder: &Path) -> Option<&'static str> {
    MARKS.into_iter().find(|mark| !folder.join(mark).is_file())
}

/// The first half of a hash over all files.
fn digest(files: &[Embedded]) -> String {
    let mut hash = Sha256::new();
    for (path, contents) in files {
        // With the lengths, no two different lists give the same bytes.
        hash.update(format!("{}:{path}:{}:", path.len(), contents.len()));
        hash.update(contents);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the files into a folder that appears with all of them or not at all.
fn unpack(files: &[Embedded], folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let around = folder.parent().expect("it is in the cache");
    fs::create_dir_all(around)?;
    let new = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(around)?;
    for (path, contents) in files {
        let path = new.path().join(path);
        fs::create_dir_all(path.parent().expect("it is below the folder"))?;
        fs::write(path, contents)?;
    }
    match fs::rename(new.path(), folder) {
        // Another process was faster; what it unpacked is the same.
        Err(_) if folder.is_dir() => Ok(()),
        renamed => renamed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_appears_whole_and_once() {
        let cache = tempfile::tempdir().unwrap();
        let folder = cache.path().join("source/1");
        let files = [("spec/a.yaml".to_owned(), Cow::Borrowed(&b"a"[..])), ("b".to_owned(), Cow::Borrowed(&b"b"[..]))];
        unpack(&files, &folder).unwrap();
        unpack(&[], &folder).unwrap();
        assert_eq!(fs::read(folder.join("spec/a.yaml")).unwrap(), b"a");
        assert_eq!(fs::read_dir(cache.path().join("source")).unwrap().count(), 1, "no temporary folder is left");
        let [one, other] = files;
        assert_ne!(digest(&[one.clone(), other.clone()]), digest(&[other, one]));
    }

    #[test]
    fn a_named_folder_without_a_specification_is_an_error() {
        let empty = tempfile::tempdir().unwrap();
        let error = checked(empty.path(), VARIABLE).unwrap_err().to_string();
        assert!(error.contains("BROADCHECK_SOURCE") && error.contains("spec/documents.yaml"), "{error}");
    }
}
