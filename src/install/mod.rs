//! Brings libtorch releases into the cache and builds the adapter against them.
//!
//! A release comes out of PyTorch's own wheel, fetched by pip, in phases: fetch, check the hash, unpack what the CPU
//! part needs, fetch the small CUDA wheels that the CPU library is linked to, build the adapter. Each is done once; an
//! interrupted installation continues where it was, and processes that want the same release wait for each other. The
//! installer must not know what the adapter is for: it knows no case, no program and no protocol.
//!
//! ```text
//! CACHE/libtorch/2.13.0/            include/ lib/ install.json, put there by one rename
//!                       adapter/    the built adapter, and a stamp of what it was built from
//!                       built.json  how the adapter was built; compat.h, where that took one
//! CACHE/libtorch/external-3f2a…/    the same, less include/ and lib/, for a libtorch that LIBTORCH points to
//! CACHE/build/                      cargo's folder, which all adapters share
//! CACHE/downloads/2.13.0/           wheels, until the release is unpacked
//! CACHE/releases.toml               downloads of unpinned releases: trusted on first use, and checked
//!                                   from then on
//! ```
//!
//! # Other releases than that of `tch`
//!
//! `tch` is made for one release of libtorch, and its methods are used for that release and for newer ones. For older
//! ones the same sources are built without the feature `tch`: every call goes to libtorch's dispatcher by schema name,
//! as most do anyway, and `adapters/libtorch/src/shim/tensor.rs` stands in for its tensors. That compiles two files of
//! C++ less, in seconds instead of minutes. `broadcheck-libtorch --dispatcher` calls the same way with `tch`, so that
//! the two can be compared. What the dispatcher of a release lacks is not in its `hello`, or is named there under
//! `unsupported`.
//!
//! A release that is newer than `tch` does not always compile. What the compiler complains of is then read for the two
//! things that can be supplied, the C++ standard and functions that the release has removed; a header stands in for
//! those, and the build is tried again for as long as there is something new in the complaints. Where that does not
//! help, the adapter is built without `tch`. It says so, and built.json, next to the adapter, keeps it. A release that
//! is not in `adapters/libtorch/releases.toml` is fetched on trust: the hash of what arrived is kept in the cache and
//! checked from then on.
//!
//! The cache is `BROADCHECK_CACHE`, else `broadcheck` in the platform's cache folder. With `LIBTORCH` or
//! `LIBTORCH_USE_PYTORCH=1` the user's own libtorch is used as it is. The harness starts the adapter as a child process:
//! a crash of libtorch ends that process, not the run.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::assets::{self, AssetsError};

mod adapter;
mod cargo;
mod child;
mod compat;
mod downloads;
mod elf;
mod error;
mod external;
mod files;
mod listing;
mod pip;
mod progress;
mod releases;
mod requires;
mod unpack;
mod wheel;

pub use adapter::{Built, Tools};
pub use compat::Compat;
pub use downloads::WheelRecord;
pub use error::InstallError;
pub use external::External;
pub use listing::Entry;
pub use progress::Progress;
pub use releases::{Catalog, DEFAULT_VERSION, KnownFile, Release, this_target};

// What installing anything else needs, too.
pub(crate) use cargo::{command as cargo_command, compiling, stamp};
pub(crate) use child::watch;
pub(crate) use error::io_error;
pub(crate) use files::{Lock, hexadecimal, remove_folder, replace};
pub(crate) use pip::program_from_env as python_from_env;

use downloads::Downloads;
use external::Resolved;

/// Makes a libtorch and its adapter ready, and returns at once when they are: the release of that version, or the newest
/// one if that is [`LATEST`]; else what LIBTORCH or LIBTORCH_USE_PYTORCH points to, else [`DEFAULT_VERSION`].
pub fn libtorch(version: Option<&str>, progress: &Progress) -> Result<Installed, InstallError> {
    Installer::from_env()?.libtorch(version, progress)
}

/// Lists the contents of the cache, and the libtorch that the environment points to.
pub fn list() -> Result<Vec<Entry>, InstallError> {
    Installer::from_env()?.list()
}

/// The name for the newest release that the package index has.
pub const LATEST: &str = "latest";

/// A libtorch with its adapter, ready for use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Installed {
    /// The version.
    pub version: String,
    /// The folder that has `include` and `lib`.
    pub root: PathBuf,
    /// The adapter's program. It finds its libtorch by itself.
    pub adapter: PathBuf,
    /// Its origin.
    pub origin: Origin,
    /// The record of how the adapter was built.
    pub built: Built,
}

/// A libtorch whose adapter may or may not be built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Libraries {
    /// The version.
    pub version: String,
    /// The folder that has `include` and `lib`.
    pub root: PathBuf,
    /// Its origin.
    pub origin: Origin,
}

/// The origin of a libtorch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Installed by broadcheck.
    Cache,
    /// LIBTORCH names it.
    Folder,
    /// Python's torch package, by LIBTORCH_USE_PYTORCH.
    Python,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Cache => "cache",
            Origin::Folder => "LIBTORCH",
            Origin::Python => "python",
        })
    }
}

/// Everything that an installation depends on. [`Installer::from_env`] is the usual one; tests make their own.
#[derive(Debug, Clone)]
pub struct Installer {
    /// See [`assets::cache_dir`].
    pub cache: PathBuf,
    /// The Python program whose pip fetches wheels.
    pub python: OsString,
    /// The programs that build the adapter.
    pub tools: Tools,
    /// The folder of broadcheck's sources, if there is one. An adapter that is built needs none.
    pub source: Option<PathBuf>,
    /// Used when no version is asked for.
    pub external: Option<External>,
    /// The releases that can be fetched.
    pub catalog: Catalog,
}

/// `install.json`: what an installation was made from. It is written last, so that its presence means completeness.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    version: String,
    origin: Origin,
    target: String,
    cxx11_abi: bool,
    /// Changes whenever the libtorch is another one.
    identity: String,
    /// The version of the `tch` crate that belongs to the release, if one does.
    #[serde(default)]
    tch: Option<String>,
    /// It was not pinned: its hash is that of the first download.
    #[serde(default)]
    first_use: bool,
    /// The folder of `include` and `lib`, if it is not the one of this file.
    root: Option<PathBuf>,
    wheels: Vec<WheelRecord>,
    libraries: Vec<String>,
}

/// The file of releases that were trusted on first use.
const CATALOG: &str = "releases.toml";

/// The bytes that a wheel of PyTorch may well have.
const UNKNOWN_SIZE: u64 = 1_000_000_000;

/// The version that was asked for, and its folder in the cache.
struct Place {
    name: String,
    folder: PathBuf,
    external: Option<Resolved>,
}

impl Installer {
    /// The installer that the environment describes.
    pub fn from_env() -> Result<Installer, InstallError> {
        Ok(Installer {
            cache: assets::cache_dir()?,
            python: pip::program_from_env(),
            tools: Tools::from_env(),
            source: source_or_none()?,
            external: External::from_env(),
            catalog: Catalog::built_in(),
        })
    }

    /// See [`libtorch`].
    pub fn libtorch(&self, version: Option<&str>, progress: &Progress) -> Result<Installed, InstallError> {
        let place = self.place(version)?;
        if let Some(ready) = self.ready(&place) {
            return Ok(ready);
        }
        let _lock = self.lock(&place, progress)?;
        // Another process may have done it meanwhile.
        if let Some(ready) = self.ready(&place) {
            return Ok(ready);
        }
        let source = self.source.as_deref().ok_or(AssetsError::Nowhere)?;
        self.tools.check()?;
        let record = self.complete(&place, adapter::BUILD_SPACE, progress)?;
        let root = record.root(&place.folder);
        let build = adapter::Build {
            folder: &place.folder,
            build: &self.cache.join("build"),
            root: &root,
            version: &record.version,
            cxx11_abi: record.cxx11_abi,
            identity: &record.identity,
            tch: self.catalog.with_tch(&record.version),
        };
        let adapter = build.run(&self.tools, source, progress)?;
        Ok(record.installed(&place.folder, adapter))
    }

    /// Like [`Installer::libtorch`], without the adapter: for programs that are built against libtorch.
    pub fn libraries(&self, version: Option<&str>, progress: &Progress) -> Result<Libraries, InstallError> {
        let place = self.place(version)?;
        let record = match Record::of(&place) {
            Some(record) => record,
            None => {
                let _lock = self.lock(&place, progress)?;
                self.complete(&place, 0, progress)?
            }
        };
        Ok(Libraries { root: record.root(&place.folder), version: record.version, origin: record.origin })
    }

    /// The libtorch that [`Installer::libtorch`] would use, if it is there already.
    pub fn find(&self, version: Option<&str>) -> Result<Libraries, InstallError> {
        let place = self.place(version)?;
        if let Some(external) = place.external {
            let Resolved { version, root, origin, .. } = external;
            return Ok(Libraries { version, root, origin });
        }
        let record = Record::read(&place.folder);
        let record = record.ok_or_else(|| not_installed("libtorch", &place.name, Origin::Cache))?;
        Ok(Libraries { root: record.root(&place.folder), version: record.version, origin: record.origin })
    }

    /// The adapter that was built last for that libtorch, even if its sources have changed since.
    pub fn find_adapter(&self, version: Option<&str>) -> Result<PathBuf, InstallError> {
        let libraries = self.find(version)?;
        let binary = adapter::binary(&self.place(version)?.folder);
        let built = Some(binary).filter(|path| path.is_file());
        built.ok_or_else(|| not_installed("the adapter for libtorch", &libraries.version, libraries.origin))
    }

    /// Describes an installed release, as an entry of `releases.toml`.
    pub fn entry(&self, version: &str) -> Result<String, InstallError> {
        let place = self.place(Some(version))?;
        let release = self.catalog()?.find(&place.name)?;
        if release.first_use {
            return Err(not_installed("libtorch", &place.name, Origin::Cache));
        }
        let mut catalog = Catalog::default();
        catalog.put(release);
        Ok(catalog.to_toml())
    }

    /// Takes a release out of the cache: what was unpacked, built and downloaded. What is known of it stays.
    pub fn remove(&self, version: &str, progress: &Progress) -> Result<(), InstallError> {
        let place = self.place(Some(version))?;
        let _lock = self.lock(&place, progress)?;
        for folder in [place.folder, self.cache.join("downloads").join(&place.name)] {
            files::remove_folder(&folder).map_err(io_error("remove", &folder))?;
        }
        Ok(())
    }

    /// The newest release that the package index has.
    pub fn latest(&self) -> Result<String, InstallError> {
        pip::newest(&self.python, "torch")
    }

    /// See [`list`].
    pub fn list(&self) -> Result<Vec<Entry>, InstallError> {
        listing::list(self)
    }

    /// Returns the folder of the libtorch folders.
    fn home(&self) -> PathBuf {
        self.cache.join("libtorch")
    }

    fn place(&self, version: Option<&str>) -> Result<Place, InstallError> {
        let (name, external) = match (version, &self.external) {
            (None, Some(external)) => {
                let external = external.resolve()?;
                (external.short_name(), Some(external))
            }
            (version, _) => {
                let latest;
                let version = match version.unwrap_or(DEFAULT_VERSION) {
                    LATEST => {
                        latest = self.latest()?;
                        latest.as_str()
                    }
                    version => version,
                };
                // A version becomes the name of a folder, so what is not one gets no further than this.
                let known = Record::read(&self.home().join(version)).is_some_and(|record| record.version == version);
                if !known {
                    self.catalog()?.find(version)?;
                }
                (version.to_string(), None)
            }
        };
        Ok(Place { folder: self.home().join(&name), name, external })
    }

    /// The whole result, if nothing is left to do: no process is started, and nothing written.
    fn ready(&self, place: &Place) -> Option<Installed> {
        let record = Record::of(place)?;
        let adapter = adapter::current(&place.folder, &record.identity, self.source.as_deref())?;
        Some(record.installed(&place.folder, adapter))
    }

    /// The releases that are pinned, and those that have been trusted on first use.
    fn catalog(&self) -> Result<Catalog, InstallError> {
        let path = self.cache.join(CATALOG);
        let mut catalog = match fs::read_to_string(&path) {
            Ok(text) => Catalog::parse(&text).map_err(|detail| InstallError::BadCatalog { path, detail })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Catalog::default(),
            Err(error) => return Err(io_error("read", &path)(error)),
        };
        // What has been pinned since counts.
        self.catalog.releases().iter().cloned().for_each(|release| catalog.put(release));
        Ok(catalog)
    }

    /// Records the first download of an unpinned release.
    fn trust(&self, release: Release) -> Result<(), InstallError> {
        let path = self.cache.join(CATALOG);
        let _lock = Lock::take(&self.cache.join(".releases.lock"), "the list of releases", &Progress::silent())?;
        let mut catalog = match fs::read_to_string(&path) {
            Ok(text) => Catalog::parse(&text).unwrap_or_default(),
            Err(_) => Catalog::default(),
        };
        catalog.put(release);
        files::replace(&path, catalog.to_toml().as_bytes()).map_err(io_error("write", &path))
    }

    fn lock(&self, place: &Place, progress: &Progress) -> Result<Lock, InstallError> {
        let home = self.home();
        fs::create_dir_all(&home).map_err(io_error("create", &home))?;
        Lock::take(&home.join(format!(".{}.lock", place.name)), &format!("libtorch {}", place.name), progress)
    }

    /// The libtorch, fetched if need be. `more_space` is what will be wanted on disk afterwards.
    fn complete(&self, place: &Place, more_space: u64, progress: &Progress) -> Result<Record, InstallError> {
        if let Some(record) = Record::of(place) {
            return Ok(record);
        }
        let Some(external) = &place.external else {
            return self.fetch(&self.catalog()?.find(&place.name)?, &place.folder, more_space, progress);
        };
        let record = Record::of_external(external);
        fs::create_dir_all(&place.folder).map_err(io_error("create", &place.folder))?;
        record.write(&place.folder)?;
        Ok(record)
    }

    fn fetch(
        &self,
        release: &Release,
        folder: &Path,
        more_space: u64,
        progress: &Progress,
    ) -> Result<Record, InstallError> {
        let downloads = self.cache.join("downloads").join(&release.version);
        fs::create_dir_all(&downloads).map_err(io_error("create", &downloads))?;
        if release.first_use {
            progress.note(&format!(
                "libtorch {} is not in releases.toml: its first download is trusted, and later ones are checked against it",
                release.version
            ));
        }
        // pip copies the wheel once; when it is unpacked it goes, and the build comes after that.
        let there = !release.wheel.is_empty() && downloads.join(&release.wheel).exists();
        let size = if release.first_use { UNKNOWN_SIZE } else { release.size };
        let arriving = if there { 0 } else { size };
        let peak = (2 * arriving).max(arriving + release.unpacked).max(release.unpacked + more_space);
        files::require_space(&self.cache, peak)?;

        let mut downloads = Downloads { python: &self.python, folder: downloads, release, progress, used: Vec::new() };
        let staging = self.home().join(format!(".staging-{}", release.version));
        files::remove_folder(&staging).map_err(io_error("empty", &staging))?;
        fs::create_dir_all(&staging).map_err(io_error("create", &staging))?;
        let libraries = unpack::libtorch(&mut downloads, &staging, progress).inspect_err(|error| {
            // What is half done is of no use, and may be what fills the disk.
            let _ = files::remove_folder(&staging);
            if let InstallError::BadWheel { path, .. } = error {
                let _ = fs::remove_file(path);
            }
        })?;
        // libc10 is small and full of functions that take strings. What the library says of itself counts.
        let cxx11_abi = elf::cxx11_abi(&staging.join("lib/libc10.so")).unwrap_or(release.cxx11_abi);
        let mut sha256 = release.sha256.clone();
        if release.first_use {
            let arrived =
                arrived(release, &downloads.used, cxx11_abi, files::tree_size(&staging)).inspect_err(|_| {
                    let _ = files::remove_folder(&staging);
                    let _ = files::remove_folder(&downloads.folder);
                })?;
            sha256.clone_from(&arrived.sha256);
            self.trust(arrived)?;
        }
        let record = Record {
            version: release.version.clone(),
            origin: Origin::Cache,
            target: release.target.clone(),
            cxx11_abi,
            identity: sha256,
            tch: release.tch.clone(),
            first_use: release.first_use,
            root: None,
            wheels: downloads.used,
            libraries,
        };
        record.write(&staging)?;
        files::remove_folder(folder).map_err(io_error("empty", folder))?;
        fs::rename(&staging, folder).map_err(io_error("create", folder))?;
        files::remove_folder(&downloads.folder).map_err(io_error("remove", &downloads.folder))?;
        Ok(record)
    }
}

impl Record {
    fn of_external(external: &Resolved) -> Record {
        Record {
            version: external.version.clone(),
            origin: external.origin,
            target: this_target(),
            cxx11_abi: external.cxx11_abi,
            identity: external.identity.clone(),
            tch: None,
            first_use: false,
            root: Some(external.root.clone()),
            wheels: Vec::new(),
            libraries: Vec::new(),
        }
    }

    /// The record of a place, unless another libtorch has come where it was since.
    fn of(place: &Place) -> Option<Record> {
        let record = Record::read(&place.folder)?;
        let same = place.external.as_ref().is_none_or(|external| external.identity == record.identity);
        same.then_some(record)
    }

    fn read(folder: &Path) -> Option<Record> {
        serde_json::from_slice(&fs::read(folder.join("install.json")).ok()?).ok()
    }

    fn write(&self, folder: &Path) -> Result<(), InstallError> {
        let path = folder.join("install.json");
        let text = serde_json::to_string_pretty(self).expect("a record is plain data");
        files::replace(&path, text.as_bytes()).map_err(io_error("write", &path))
    }

    fn installed(self, folder: &Path, adapter: PathBuf) -> Installed {
        let built = Built::read(folder).unwrap_or_default();
        Installed { root: self.root(folder), version: self.version, adapter, origin: self.origin, built }
    }

    /// The folder that has `include` and `lib`.
    fn root(&self, folder: &Path) -> PathBuf {
        self.root.clone().unwrap_or_else(|| folder.to_path_buf())
    }
}

/// The entry of a release, from what has arrived of it.
fn arrived(release: &Release, used: &[WheelRecord], cxx11_abi: bool, unpacked: u64) -> Result<Release, InstallError> {
    let wanted =
        |file: &str| file.strip_prefix(&format!("torch-{}", release.version)).map(|rest| rest.starts_with(['-', '+']));
    let torch = used.iter().find(|wheel| wanted(&wheel.file) == Some(true)).ok_or_else(|| InstallError::Pip {
        wanted: format!("torch=={}", release.version),
        detail: format!("it brought {}", used.first().map_or("nothing", |wheel| wheel.file.as_str())),
    })?;
    // torch-VERSION-PYTHON-ABI-PLATFORM.whl
    let tags: Vec<&str> = torch.file.trim_end_matches(".whl").split('-').collect();
    let also = used.iter().filter(|wheel| wheel.file != torch.file);
    let also = also.map(|wheel| KnownFile { file: wheel.file.clone(), size: wheel.size, sha256: wheel.sha256.clone() });
    Ok(Release {
        wheel: torch.file.clone(),
        platform: tags.last().map(|tag| tag.to_string()).unwrap_or_default(),
        size: torch.size,
        unpacked,
        sha256: torch.sha256.clone(),
        cxx11_abi,
        also: also.collect(),
        first_use: false,
        ..release.clone()
    })
}

fn not_installed(what: &str, version: &str, origin: Origin) -> InstallError {
    let command = match origin {
        Origin::Cache => format!("broadcheck libtorch install {version}"),
        // Naming a version would mean the release of the cache.
        Origin::Folder | Origin::Python => "broadcheck libtorch install".to_string(),
    };
    InstallError::NotInstalled { what: format!("{what} {version}"), command }
}

/// A folder that is named wrongly is a fault at once; that there is none is one only when it is wanted.
fn source_or_none() -> Result<Option<PathBuf>, InstallError> {
    match assets::root() {
        Ok(source) => Ok(Some(source)),
        Err(AssetsError::Nowhere) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
