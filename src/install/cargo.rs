//! The shared part of the builds of adapters: cargo, shielded from whatever cargo runs outside; a hash over the files
//! that a build reads; the package that is compiled right now. It must not know which adapters there are.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::files;

/// A program of Rust's in a folder, with nothing of an outer cargo in its environment.
pub(crate) fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| !passes(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    // What the compiler says is read, so it has to say it in English.
    command.env("CARGO_TERM_COLOR", "never").env("CARGO_TERM_PROGRESS_WHEN", "never").env("LC_ALL", "C");
    command.current_dir(folder);
    command
}

/// Returns the name of the package that cargo compiles, if this line reports it.
pub(crate) fn compiling(line: &str) -> Option<String> {
    let now = line.trim_start().strip_prefix("Compiling ")?;
    let name: Vec<&str> = now.split_whitespace().take(2).collect();
    Some(format!("compiling {}", name.join(" ")))
}

/// A hash over everything that the binary of an adapter in this folder depends on: its own sources, broadcheck's, and
/// what else `identity` names.
pub(crate) fn stamp(source: &Path, adapter: &Path, identity: &str) -> io::Result<String> {
    let mut paths = Vec::new();
    collect(&source.join(PROTOCOL), &mut paths)?;
    if fs::read_to_string(adapter.join("Cargo.toml")).is_ok_and(|manifest| manifest.contains(RECORDING)) {
        collect(&source.join("adapters/rust"), &mut paths)?;
    }
    collect(adapter, &mut paths)?;
    paths.sort();
    let mut hasher = Sha256::new();
    hasher.update(identity);
    for path in paths {
        let contents = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            contents => contents?,
        };
        let name = path.strip_prefix(source).unwrap_or(&path).to_string_lossy().into_owned();
        // With the lengths, no two different trees give the same bytes.
        hasher.update(format!("{}:{name}:{}:", name.len(), contents.len()));
        hasher.update(contents);
    }
    Ok(files::hexadecimal(&hasher.finalize()))
}

/// The crate of broadcheck that adapters depend on, below the root.
const PROTOCOL: &str = "src/protocol";

/// The dependency of adapters that write their calls as programs, which is the crate in `adapters/rust`.
const RECORDING: &str = "broadcheck-recording";

/// Entries next to the sources of an adapter that are no part of it.
const NOT_BUILT: [&str; 5] = ["target", "tests", "releases.toml", "adapter.toml", "causes.toml"];

/// The files below a folder that a build may read. Data and prose next to the sources are not among them: the adapter
/// must not see expectations, and a new release or divergence is no reason to rebuild.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let ignored = name.starts_with('.') || NOT_BUILT.contains(&name.as_str());
        let data = [".md", ".yaml", ".yml"].iter().any(|ending| name.ends_with(ending));
        if ignored || data {
            continue;
        }
        if path.is_dir() {
            collect(&path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

/// Returns whether a variable of our own environment may reach the inner cargo. We may have been started by an outer
/// one, for another package, with another compiler and flags (cargo-fuzz asks for a sanitizer), and none of that is
/// meant for the adapter; nor are variables that name another libtorch. Variables that say how the user reaches the
/// network are.
fn passes(name: &str) -> bool {
    const KEPT: [&str; 8] = [
        "CARGO_HOME",
        "CARGO_NET_",
        "CARGO_HTTP_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
        "CARGO_BUILD_JOBS",
        "CARGO_TERM_",
        "RUSTC_WRAPPER",
    ];
    const STOPPED: [&str; 11] = [
        "CARGO",
        "RUSTC",
        "RUSTDOC",
        "RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
        "OUT_DIR",
        "DEP_",
        "LIBTORCH",
        "TARGET",
        "PROFILE",
        "OPT_LEVEL",
    ];
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    starts(&KEPT) || !starts(&STOPPED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outer_cargo_does_not_reach_the_inner_one() {
        for name in [
            "CARGO_TARGET_DIR",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
            "CARGO_PKG_NAME",
            "CARGO_BUILD_TARGET",
            "LIBTORCH_USE_PYTORCH",
            "LIBTORCH_LIB",
        ] {
            assert!(!passes(name), "{name}");
        }
        for name in ["PATH", "HOME", "CARGO_HOME", "CARGO_HTTP_PROXY", "RUSTC_WRAPPER", "CXX", "RUSTUP_HOME"] {
            assert!(passes(name), "{name}");
        }
    }

    #[test]
    fn the_stamp_follows_the_sources_and_not_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("src/protocol/lib.rs", "a");
        write("adapters/one/src/main.rs", "b");
        let before = stamp(folder.path(), &folder.path().join("adapters/one"), "x").unwrap();
        write("adapters/one/divergences.yaml", "c");
        write("src/report/text.rs", "d");
        write("adapters/one/target/release/thing", "d");
        assert_eq!(stamp(folder.path(), &folder.path().join("adapters/one"), "x").unwrap(), before);
        assert_ne!(stamp(folder.path(), &folder.path().join("adapters/one"), "y").unwrap(), before);
        write("adapters/rust/src/lib.rs", "d");
        assert_eq!(stamp(folder.path(), &folder.path().join("adapters/one"), "x").unwrap(), before);
        write("adapters/one/Cargo.toml", "broadcheck-recording = { path = \"../rust\" }");
        let recording = stamp(folder.path(), &folder.path().join("adapters/one"), "x").unwrap();
        write("adapters/rust/src/lib.rs", "e");
        assert_ne!(stamp(folder.path(), &folder.path().join("adapters/one"), "x").unwrap(), recording);
        write("src/protocol/lib.rs", "e");
        assert_ne!(stamp(folder.path(), &folder.path().join("adapters/one"), "x").unwrap(), before);
    }

    #[test]
    fn the_crate_that_compiles_is_shown() {
        assert_eq!(compiling("   Compiling tch v0.26.0 (somewhere)").as_deref(), Some("compiling tch v0.26.0"));
        assert_eq!(compiling("   Downloaded tch v0.26.0"), None);
    }
}
