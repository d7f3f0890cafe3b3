//! Builds the libtorch adapter from its sources against one libtorch, if that is needed. Where it does not compile
//! against a release that it was not made for, it is built again with what the compiler missed, and without `tch` where
//! that does not help. It must not know where the libtorch comes from.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::cargo;
use super::child;
use super::compat::Compat;
use super::error::{InstallError, io_error};
use super::files::{self, Lock};
use super::progress::Progress;
use super::releases::DEFAULT_VERSION;

/// Bytes that a build takes on disk, generously.
pub(super) const BUILD_SPACE: u64 = 1_500_000_000;

/// The programs that a build needs.
#[derive(Debug, Clone)]
pub struct Tools {
    /// cargo.
    pub cargo: OsString,
    /// The C++ compiler, possibly with arguments, as CXX has it.
    pub cxx: String,
}

impl Tools {
    /// cargo from the PATH, and the compiler that the `cc` crate will choose.
    pub fn from_env() -> Tools {
        // Not $CARGO: under cargo-fuzz that is a nightly compiler's, and the adapter is built with the default one.
        let cxx = std::env::var("CXX").ok().filter(|value| !value.trim().is_empty());
        Tools { cargo: "cargo".into(), cxx: cxx.unwrap_or_else(|| "c++".to_string()) }
    }

    /// Fails early, before anything large is fetched, where one of them is missing.
    pub(super) fn check(&self) -> Result<(), InstallError> {
        let runs = |program: &OsStr, arguments: &[&str]| {
            Command::new(program).args(arguments).arg("--version").output().is_ok_and(|output| output.status.success())
        };
        if !runs(&self.cargo, &[]) {
            return Err(InstallError::NoCargo { cargo: self.cargo.to_string_lossy().into_owned() });
        }
        let mut words = self.cxx.split_whitespace();
        let program = words.next().unwrap_or("c++");
        if !runs(program.as_ref(), &words.collect::<Vec<_>>()) {
            return Err(InstallError::NoCompiler { tried: self.cxx.clone() });
        }
        Ok(())
    }
}

/// The inputs of a build: the adapter, its sources, and the libtorch that it is built against.
pub(super) struct Build<'a> {
    /// The folder of the cache that belongs to this libtorch.
    pub folder: &'a Path,
    /// cargo's folder, which all adapters share.
    pub build: &'a Path,
    /// The folder that has libtorch's `include` and `lib`.
    pub root: &'a Path,
    pub version: &'a str,
    pub cxx11_abi: bool,
    /// Changes whenever the libtorch in `root` is another one.
    pub identity: &'a str,
    /// True if it is built with `tch`.
    pub tch: bool,
}

/// The record of how an adapter was built, stored next to it. Later builds begin with what this one found out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    /// True if it was built with `tch`; without, every call goes to libtorch's dispatcher.
    pub tch: bool,
    /// The compatibility measures that it took to compile.
    pub compat: Compat,
}

impl Built {
    /// Reads how the adapter in that folder was built.
    pub(super) fn read(folder: &Path) -> Option<Built> {
        serde_json::from_slice(&fs::read(folder.join("built.json")).ok()?).ok()
    }

    fn write(&self, folder: &Path) -> Result<(), InstallError> {
        let path = folder.join("built.json");
        let text = serde_json::to_string_pretty(self).expect("plain data");
        files::replace(&path, text.as_bytes()).map_err(io_error("write", &path))
    }
}

impl Build<'_> {
    /// Builds the adapter and puts it in its place, in one atomic step.
    pub(super) fn run(&self, tools: &Tools, source: &Path, progress: &Progress) -> Result<PathBuf, InstallError> {
        let stamp = cargo::stamp(source, &source.join(ADAPTER), self.identity)
            .map_err(io_error("read the sources in", source))?;
        let build = self.build.to_path_buf();
        // Who builds for one libtorch keeps others from doing it for another, as cargo would.
        fs::create_dir_all(&build).map_err(io_error("create", &build))?;
        let _lock = Lock::take(&build.join(".lock"), "an adapter", progress)?;
        self.forget_other_libtorch(tools, source, &build)?;
        let mut built = Built::read(self.folder).unwrap_or_default();
        built.tch = self.tch;
        while let Err((error, said)) = self.compile(tools, source, &built, &build, progress) {
            if !matches!(error, InstallError::AdapterBuild { .. }) {
                return Err(error);
            }
            // Each try knows more than the one before it, or does without `tch`, or was the last.
            let how = if built.compat.learn(&said) {
                built.compat.describe()
            } else if built.tch && !self.is_the_default() {
                // The headers require the standard, with or without `tch`.
                let compat = Compat { standard: built.compat.standard, ..Compat::default() };
                built = Built { tch: false, compat };
                "no tch: every call goes to libtorch's dispatcher".to_string()
            } else {
                return Err(error);
            };
            progress.note(&format!(
                "the adapter does not compile against libtorch {} as it is; retrying with {how}",
                self.version
            ));
        }
        built.write(self.folder)?;

        let home = self.folder.join("adapter");
        fs::create_dir_all(&home).map_err(io_error("create", &home))?;
        let (fresh, binary) = (home.join("fresh"), binary(self.folder));
        // A running adapter keeps the file it was started from, and no process starts half a file.
        fs::copy(build.join("release").join(BINARY), &fresh).map_err(io_error("copy the adapter to", &fresh))?;
        fs::rename(&fresh, &binary).map_err(io_error("create", &binary))?;
        let stamp_file = home.join("stamp");
        files::replace(&stamp_file, stamp.as_bytes()).map_err(io_error("write", &stamp_file))?;
        Ok(binary)
    }

    /// Forgets what was built against another libtorch, or against another one under the same path: torch-sys watches
    /// the path only. What knows no libtorch stays, and is most of it.
    fn forget_other_libtorch(&self, tools: &Tools, source: &Path, build: &Path) -> Result<(), InstallError> {
        let note = build.join("libtorch");
        if fs::read_to_string(&note).is_ok_and(|identity| identity == self.identity) {
            return Ok(());
        }
        let mut command = cargo::command(&tools.cargo, &source.join(ADAPTER));
        command.args(["clean", "--release", "--locked", "--package", "torch-sys", "--package", PACKAGE]);
        let status = command.arg("--target-dir").arg(build).output().map(|output| output.status);
        if !status.is_ok_and(|status| status.success()) {
            files::remove_folder(&build.join("release")).map_err(io_error("empty", build))?;
        }
        files::replace(&note, self.identity.as_bytes()).map_err(io_error("write", &note))
    }

    /// One try; what cargo said comes with the error.
    fn compile(
        &self,
        tools: &Tools,
        source: &Path,
        built: &Built,
        build: &Path,
        progress: &Progress,
    ) -> Result<(), (InstallError, Vec<String>)> {
        let silent = |error: InstallError| (error, Vec::new());
        let log_path = self.folder.join("build.log");
        let mut log = File::create(&log_path).map_err(|error| silent(io_error("create", &log_path)(error)))?;
        let mut said: Vec<String> = Vec::new();
        let phase = std::cell::RefCell::new(
            progress.phase(format!("building the adapter for libtorch {} (some minutes)", self.version), None),
        );
        let hear = |line: &str| {
            // The log is for people; a disk too full for it fails the build itself with a better message.
            let _ = writeln!(log, "{line}");
            said.push(line.to_string());
            if let Some(now) = cargo::compiling(line) {
                phase.borrow_mut().detail(now);
            }
        };
        let mut command = self.cargo(tools, source, built, build).map_err(silent)?;
        let status =
            child::watch(&mut command, hear, || phase.borrow_mut().tick()).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    silent(InstallError::NoCargo { cargo: tools.cargo.to_string_lossy().into_owned() })
                }
                _ => silent(io_error("run cargo in", source)(error)),
            })?;
        match status.code() {
            Some(0) => Ok(()),
            Some(_) => Err((classify(&said, build, log_path), said)),
            // A signal from outside is not an error of the sources.
            None => Err(silent(InstallError::Killed { log: log_path })),
        }
    }

    fn is_the_default(&self) -> bool {
        self.version.split('+').next() == Some(DEFAULT_VERSION)
    }

    fn cargo(&self, tools: &Tools, source: &Path, built: &Built, build: &Path) -> Result<Command, InstallError> {
        let mut command = cargo::command(&tools.cargo, &source.join(ADAPTER));
        command.args(["rustc", "--release", "--locked", "--bin", BINARY, "--target-dir"]).arg(build);
        if !built.tch {
            command.arg("--no-default-features");
        }
        // The program finds its libtorch by itself, without LD_LIBRARY_PATH; next to it in the cache, so that the cache
        // may be moved.
        let lib = self.root.join("lib");
        let beside = lib.parent() == Some(self.folder);
        let search = if beside { "$ORIGIN/../lib".to_string() } else { lib.display().to_string() };
        command.args(["--", "-C"]).arg(format!("link-arg=-Wl,-rpath,{search}"));
        command.env("LIBTORCH", self.root).env("LIBTORCH_CXX11_ABI", if self.cxx11_abi { "1" } else { "0" });
        if !self.is_the_default() {
            command.env("LIBTORCH_BYPASS_VERSION_CHECK", "1");
        }
        let compat = &built.compat;
        if !compat.is_empty() {
            let header = self.folder.join("compat.h");
            files::replace(&header, compat.header(self.version).as_bytes()).map_err(io_error("write", &header))?;
            let given = std::env::var("CXXFLAGS").ok();
            let flags = compat.flags(&header.display().to_string());
            let flags: Vec<String> = given.into_iter().filter(|given| !given.is_empty()).chain(flags).collect();
            command.env("CXXFLAGS", flags.join(" "));
        }
        Ok(command)
    }
}

/// Returns the path of the adapter of a libtorch.
pub(super) fn binary(folder: &Path) -> PathBuf {
    folder.join("adapter").join(BINARY)
}

/// The adapter, if it is there and no change of its sources has come since. Without sources nothing can have changed.
pub(super) fn current(folder: &Path, identity: &str, source: Option<&Path>) -> Option<PathBuf> {
    let binary = binary(folder);
    let built_from = fs::read_to_string(folder.join("adapter").join("stamp")).ok()?;
    let fresh = match source {
        Some(source) => cargo::stamp(source, &source.join(ADAPTER), identity).ok()? == built_from,
        None => true,
    };
    (fresh && binary.is_file()).then_some(binary)
}

/// Classifies the error output of cargo.
fn classify(said: &[String], build: &Path, log: PathBuf) -> InstallError {
    let has = |text: &str| said.iter().any(|line| line.contains(text));
    if has("No space left on device") || has("os error 28") || has("Disk quota exceeded") {
        return InstallError::DiskFull { path: build.to_path_buf(), needed: None, free: None };
    }
    if has("linker `cc` not found") {
        return InstallError::NoCompiler { tried: "cc".to_string() };
    }
    if has("(signal: 9, SIGKILL: kill)") {
        return InstallError::Killed { log };
    }
    let network = ["Could not resolve host", "failed to download from", "download of config.json failed", "[7] "];
    if network.iter().any(|text| has(text)) || (has("spurious network error") && !has("Compiling")) {
        return InstallError::NoNetwork { tool: "cargo", detail: "crates could not be downloaded".to_string() };
    }
    let tail = said[said.len().saturating_sub(TAIL)..].join("\n");
    InstallError::AdapterBuild { log, tail }
}

/// The number of lines of a failed build that are shown.
const TAIL: usize = 20;

/// The folder of the adapter, from the root of the sources.
const ADAPTER: &str = "adapters/libtorch";

/// The name of the adapter's program.
const BINARY: &str = "broadcheck-libtorch";

/// The name of its package.
const PACKAGE: &str = "broadcheck-libtorch";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_cargo_are_classified() {
        let error = |text: &str| classify(&[text.to_string()], Path::new("b"), PathBuf::from("l"));
        assert!(matches!(error("error: No space left on device (os error 28)"), InstallError::DiskFull { .. }));
        assert!(matches!(error("Could not resolve host: somewhere"), InstallError::NoNetwork { tool: "cargo", .. }));
        let killed = "process didn't exit successfully: `rustc --crate-name tch` (signal: 9, SIGKILL: kill)";
        assert!(matches!(error(killed), InstallError::Killed { .. }));
        assert!(error("error[E0308]: mismatched types").to_string().contains("E0308"));
    }
}
