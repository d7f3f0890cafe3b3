//! A program that cargo builds, with exactly the crates that `Cargo.lock` pins.

use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

use super::{ImplementationError, Known, step};
use crate::assets;
use crate::install::{Progress, cargo_command, io_error, stamp};

/// The file that marks an adapter as one in Rust.
pub(super) const MANIFEST: &str = "Cargo.toml";
/// The crates, each with its version and its hash.
const LOCK: &str = "Cargo.lock";
/// The compiler, whose version is asked for.
const COMPILER: &str = "rustc";

/// The plan of a build: its sources and its compiler.
pub(super) struct Plan {
    folder: PathBuf,
    binary: String,
    manifest: Table,
    lock: Table,
    stamp: String,
}

impl Plan {
    pub(super) fn of(known: &Known) -> Result<Plan, ImplementationError> {
        let folder = known.owner();
        let table = |name: &str| {
            let path = folder.join(name);
            let text = fs::read_to_string(&path).map_err(io_error("read", &path))?;
            text.parse::<Table>().map_err(|error| ImplementationError::Description { path, detail: error.to_string() })
        };
        let (manifest, lock) = (table(MANIFEST)?, table(LOCK)?);
        let answer = cargo_command(COMPILER, &folder).arg("-vV").output();
        let version = match answer {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
            _ => return Err(ImplementationError::NoCargo { name: known.name.clone() }),
        };
        let source = assets::root()?;
        let stamp = stamp(&source, &folder, &version).map_err(io_error("read the sources in", &folder))?;
        Ok(Plan { folder, binary: known.description.program.clone(), manifest, lock, stamp })
    }
}

impl super::Plan for Plan {
    fn key(&self) -> String {
        self.stamp[..16].to_owned()
    }

    fn pins(&self) -> Vec<String> {
        pins(&self.manifest, &self.lock)
    }

    fn run(&self, name: &str, folder: &Path, progress: &Progress) -> Result<(), ImplementationError> {
        let build = assets::cache_dir()?.join("build");
        let mut cargo = cargo_command("cargo", &self.folder);
        cargo.args(["build", "--release", "--locked", "--bin", &self.binary, "--target-dir"]).arg(&build);
        step(name, "building the adapter (some minutes the first time)", cargo, folder, progress)?;
        // Half a file is never run: what counts is installed.json, which is written after this.
        let program = folder.join(&self.binary);
        fs::copy(build.join("release").join(&self.binary), &program)
            .map_err(io_error("copy the adapter to", &program))?;
        Ok(())
    }

    fn start(&self, folder: &Path, _program: PathBuf) -> (PathBuf, Vec<PathBuf>) {
        (folder.join(&self.binary), Vec::new())
    }
}

/// The versions of what the manifest depends on, less those next to it, which have no version of their own.
fn pins(manifest: &Table, lock: &Table) -> Vec<String> {
    let wanted = manifest.get("dependencies").and_then(|it| it.as_table());
    let locked = lock.get("package").and_then(|it| it.as_array());
    let pin = |package: &toml::Value| {
        let text = |key| package.get(key).and_then(toml::Value::as_str);
        let (name, version, _) = (text("name")?, text("version")?, text("source")?);
        wanted?.contains_key(name).then(|| format!("{name}@{version}"))
    };
    locked.into_iter().flatten().filter_map(pin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_those_of_what_is_asked_for() {
        let manifest = "[dependencies]\nndarray = '0.17'\nbroadcheck = {path = '../..'}".parse().unwrap();
        let package = |name: &str, source: &str| format!("[[package]]\nname = '{name}'\nversion = '1.2.3'\n{source}\n");
        let lock =
            [package("ndarray", "source = 'registry'"), package("broadcheck", ""), package("libm", "source = 'x'")];
        assert_eq!(pins(&manifest, &lock.concat().parse().unwrap()), ["ndarray@1.2.3"]);
    }
}
