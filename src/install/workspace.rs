//! The package that the adapter is built as. `adapters/libtorch/` names the `tch` of one release. For any other `tch` the
//! same sources are laid out in the cache, with that version in the manifest and the lock file that belongs to it. It
//! must not know what is built against, nor how.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{InstallError, io_error};
use super::files;

/// What cargo is to build.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Package {
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// Whether its `tch` is the one whose methods the operation table names. With any other, each call goes to libtorch's
    /// dispatcher.
    pub methods: bool,
}

/// The `tch` that the adapter's own manifest names, if it does so exactly.
pub(super) fn own_tch(source: &Path) -> Option<String> {
    let manifest: toml::Table = fs::read_to_string(adapter(source).join("Cargo.toml")).ok()?.parse().ok()?;
    let version = manifest.get("dependencies")?.get("tch")?.get("version")?.as_str()?;
    Some(version.trim_start_matches('=').to_string())
}

/// The lock file for a `tch` that is not the adapter's own.
pub(super) fn lock_file(source: &Path, tch: &str) -> PathBuf {
    adapter(source).join("locks").join(format!("tch-{tch}.lock"))
}

/// Lays out the package for a `tch` below `into`, unless the sources are one for it as they are.
pub(super) fn package(source: &Path, tch: Option<&str>, into: &Path) -> Result<Package, InstallError> {
    let Some(tch) = tch.filter(|tch| own_tch(source).as_deref() != Some(*tch)) else {
        return Ok(Package { folder: adapter(source), methods: true });
    };
    let lock = lock_file(source, tch);
    if !lock.is_file() {
        return Err(InstallError::NoLock { tch: tch.to_string(), lock });
    }
    files::remove_folder(into).map_err(io_error("empty", into))?;
    lay_out(source, tch, &lock, into).map_err(io_error("write the adapter's package to", into))?;
    Ok(Package { folder: into.to_path_buf(), methods: false })
}

fn lay_out(source: &Path, tch: &str, lock: &Path, into: &Path) -> io::Result<()> {
    let adapter = adapter(source);
    copy_folder(&adapter.join("src"), &into.join("src"))?;
    fs::copy(adapter.join("build.rs"), into.join("build.rs"))?;
    fs::copy(lock, into.join("Cargo.lock"))?;
    let text = fs::read_to_string(adapter.join("Cargo.toml"))?;
    fs::write(into.join("Cargo.toml"), manifest(&text, tch, source)?)
}

/// The adapter's manifest with another `tch`, and the way to broadcheck's own crate.
fn manifest(text: &str, tch: &str, source: &Path) -> io::Result<String> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("adapters/libtorch/Cargo.toml: {what}"));
    let mut manifest: toml::Table = text.parse().map_err(|error| wrong(&format!("{error}")))?;
    let mut set = |package: &str, key: &str, value: String| {
        let place = manifest.get_mut("dependencies").and_then(|dependencies| dependencies.get_mut(package)?.get_mut(key));
        place.map(|place| *place = value.into()).ok_or_else(|| wrong(&format!("no dependencies.{package}.{key}")))
    };
    for package in ["tch", "torch-sys"] {
        set(package, "version", format!("={tch}"))?;
    }
    set("broadcheck", "path", std::path::absolute(source)?.display().to_string())?;
    Ok(manifest.to_string())
}

fn adapter(source: &Path) -> PathBuf {
    source.join("adapters").join("libtorch")
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy_folder(&from, &to)? } else { fs::copy(from, to).map(drop)? }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn the_adapter_s_own_tch_is_built_where_it_stands() {
        let own = own_tch(source()).expect("adapters/libtorch/Cargo.toml names its tch exactly");
        for tch in [Some(own.as_str()), None] {
            let package = package(source(), tch, Path::new("/nowhere")).unwrap();
            assert_eq!(package, Package { folder: adapter(source()), methods: true });
        }
    }

    #[test]
    fn another_tch_gets_the_same_sources_with_its_own_manifest_and_lock() {
        let into = tempfile::tempdir().unwrap();
        let into = into.path().join("package");
        let laid = package(source(), Some("0.13.0"), &into).unwrap();
        assert!(!laid.methods && laid.folder == into);
        let manifest = fs::read_to_string(into.join("Cargo.toml")).unwrap();
        assert_eq!(manifest.matches("\"=0.13.0\"").count(), 2, "{manifest}");
        assert!(manifest.contains(&format!("path = \"{}\"", source().display())), "{manifest}");
        let lock = fs::read_to_string(into.join("Cargo.lock")).unwrap();
        assert!(lock.contains("name = \"tch\"\nversion = \"0.13.0\""), "{lock}");
        for file in ["build.rs", "src/main.rs", "src/shim.cpp"] {
            let of = |folder: &Path| fs::read(folder.join(file)).unwrap();
            assert_eq!(of(&into), of(&adapter(source())), "{file}");
        }
    }

    #[test]
    fn a_tch_without_a_lock_is_named_with_what_to_do() {
        let text = package(source(), Some("0.1.0"), Path::new("/nowhere")).unwrap_err().to_string();
        assert!(text.contains("tch-0.1.0.lock") && text.contains("adapters/libtorch/lock"), "{text}");
    }
}
