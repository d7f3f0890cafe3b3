//! The errors of an installation, as data. Each variant prints as one sentence that names what failed and says what
//! to do. It knows nothing of how the steps work; `classify` in the modules that run programs chooses.

use std::io;
use std::path::{Path, PathBuf};

use indicatif::HumanBytes;

use crate::assets::AssetsError;

/// The reason why libtorch or its adapter could not be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// No Python was found.
    #[error("cannot run `{python}`: install Python 3, or set BROADCHECK_PYTHON to a Python 3 program that has pip")]
    NoPython {
        /// The Python that was asked.
        python: String,
    },

    /// Python has no pip.
    #[error(
        "`{python}` has no pip: install it (`{python} -m ensurepip`, or the system's python3-pip package), or set \
         BROADCHECK_PYTHON to a Python that has it"
    )]
    NoPip {
        /// The Python that was asked.
        python: String,
    },

    /// The package index cannot be reached.
    #[error(
        "{tool} cannot reach its package index ({detail}): check the network and {tool}'s proxy settings, then run \
         the command again"
    )]
    NoNetwork {
        /// The tool that needs the network.
        tool: &'static str,
        /// A description of the error.
        detail: String,
    },

    /// There is no such release.
    #[error("libtorch {asked} is not an available release: choose one of {known}{}", closest_note(.closest))]
    NoSuchRelease {
        /// The name or version that was asked for.
        asked: String,
        /// The ones that are known.
        known: String,
        /// The nearest release.
        closest: Option<String>,
    },

    /// There is no wheel for this platform.
    #[error(
        "the package index has no wheel for {wanted} ({detail}): check which index pip is configured for \
         (`pip config list`), since a mirror may lack it"
    )]
    NoWheel {
        /// The download that was attempted.
        wanted: String,
        /// A description of the error.
        detail: String,
    },

    /// pip failed.
    #[error("pip could not fetch {wanted}: {detail}; `pip download` with the same package shows more")]
    Pip {
        /// The download that was attempted.
        wanted: String,
        /// A description of the error.
        detail: String,
    },

    /// No C++ compiler was found.
    #[error("cannot run the C++ compiler `{tried}`: install one (such as g++), or set CXX to it")]
    NoCompiler {
        /// The command that was tried.
        tried: String,
    },

    /// No cargo was found.
    #[error("cannot run `{cargo}`: the adapter is built from source, so install Rust and put cargo on the PATH")]
    NoCargo {
        /// The command that was tried.
        cargo: String,
    },

    /// The disk is full.
    #[error(
        "the disk that holds {} has no space left{}: free some, or set BROADCHECK_CACHE to a folder on another disk",
        .path.display(), space_note(.needed, .free)
    )]
    DiskFull {
        /// The file.
        path: PathBuf,
        /// Bytes that are needed.
        needed: Option<u64>,
        /// Bytes that are free.
        free: Option<u64>,
    },

    /// A download differs from the pinned one.
    #[error(
        "{file} has the wrong SHA-256 hash (expected {expected}, got {got}): it was deleted, so run the command again \
         to fetch it anew, and if that repeats, check the index or mirror that pip uses"
    )]
    WrongHash {
        /// The name of the file.
        file: String,
        /// The expected hash.
        expected: String,
        /// The actual hash.
        got: String,
    },

    /// The wheel cannot be unpacked.
    #[error(
        "{} is not a usable wheel ({detail}): it was deleted, so run the command again to fetch it anew",
        .path.display()
    )]
    BadWheel {
        /// The file.
        path: PathBuf,
        /// A description of the error.
        detail: String,
    },

    /// A library that libtorch needs is nowhere.
    #[error(
        "`{needed_by}` needs the library `{soname}`, which no wheel that PyTorch names and no system folder supplies: \
         install the package that holds it, or set LIBTORCH to a complete libtorch"
    )]
    MissingLibrary {
        /// The name of the library.
        soname: String,
        /// The library that needs it.
        needed_by: String,
    },

    /// The adapter does not compile.
    #[error("building the libtorch adapter failed; the whole log is in {}, and its end is:\n{tail}", .log.display())]
    AdapterBuild {
        /// The file with all that was printed.
        log: PathBuf,
        /// The end of what the compiler printed.
        tail: String,
    },

    /// The compiler was killed.
    #[error(
        "the compiler of the libtorch adapter was killed, probably for lack of memory: set CARGO_BUILD_JOBS=1 and run the \
         command again; the whole log is in {}", .log.display()
    )]
    Killed {
        /// The file with all that was printed.
        log: PathBuf,
    },

    /// The sources of the adapter are missing.
    #[error(transparent)]
    Assets(#[from] AssetsError),

    /// There are no wheels for this platform.
    #[error(
        "broadcheck cannot fetch libtorch for {target} yet: set LIBTORCH to an unpacked libtorch, or \
         LIBTORCH_USE_PYTORCH=1 to use the one in Python's torch package"
    )]
    UnsupportedPlatform {
        /// This platform.
        target: String,
    },

    /// The user's own libtorch cannot be used.
    #[error("{from} is not a usable libtorch: {problem}; set it to a folder that has include/ and lib/, or unset it")]
    BadExternal {
        /// The variable that names it.
        from: String,
        /// A description of the problem with it.
        problem: String,
    },

    /// Python has no PyTorch.
    #[error(
        "LIBTORCH_USE_PYTORCH is set, but `{python}` has no torch package: install it there, set BROADCHECK_PYTHON to \
         a Python that has it, or unset LIBTORCH_USE_PYTORCH"
    )]
    NoPythonTorch {
        /// The Python that was asked.
        python: String,
    },

    /// It is not installed.
    #[error("{what} is not installed: run `{command}`")]
    NotInstalled {
        /// The missing item.
        what: String,
        /// The command that installs it.
        command: String,
    },

    /// The list of releases cannot be read.
    #[error("{} is not a list of releases ({detail}): fix it, or remove it to trust the next downloads anew", .path.display())]
    BadCatalog {
        /// The file.
        path: PathBuf,
        /// A description of the error.
        detail: String,
    },

    /// The file system failed.
    #[error("cannot {action} {}: {source}; check that folder, or set BROADCHECK_CACHE to another", .path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause, as the system reports it.
        source: io::Error,
    },
}

/// Adds what was being done, and to which file, to an I/O error. A full disk is recognised here, once for all steps.
pub(crate) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> InstallError {
    let path = path.to_path_buf();
    move |source| match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            InstallError::DiskFull { path, needed: None, free: None }
        }
        _ => InstallError::Io { action, path, source },
    }
}

fn closest_note(closest: &Option<String>) -> String {
    closest.as_ref().map(|version| format!(" (did you mean {version}?)")).unwrap_or_default()
}

fn space_note(needed: &Option<u64>, free: &Option<u64>) -> String {
    match (needed, free) {
        (Some(needed), Some(free)) => format!(" ({} needed, {} free)", HumanBytes(*needed), HumanBytes(*free)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_a_full_disk() {
        let path = Path::new("/dev/full");
        let refused = File::options().write(true).open(path).unwrap().write_all(b"x").unwrap_err();
        assert!(matches!(io_error("write", path)(refused), InstallError::DiskFull { .. }));
    }

    #[test]
    fn another_error_keeps_its_own_text() {
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        let text = io_error("create", Path::new("there"))(refused).to_string();
        assert!(text.starts_with("cannot create there: permission denied"), "{text}");
    }
}
