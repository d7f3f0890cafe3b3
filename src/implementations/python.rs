//! A virtual environment with exactly the pinned packages.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::{ImplementationError, Known, step};
use crate::install::{InstallError, Progress, hexadecimal, io_error, python_from_env};

/// The packages, each with its version and its hashes.
const REQUIREMENTS: &str = "requirements.txt";

/// The plan of an installation, and its Python.
pub(super) struct Plan {
    requirements: PathBuf,
    text: String,
    python: OsString,
    version: String,
}

impl Plan {
    pub(super) fn of(known: &Known) -> Result<Plan, ImplementationError> {
        let requirements = known.owner().join(REQUIREMENTS);
        let text = fs::read_to_string(&requirements).map_err(io_error("read", &requirements))?;
        let python = python_from_env();
        let answer = Command::new(&python).args(["-c", "import sys; print(sys.version)"]).output();
        let version = match answer {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            _ => return Err(InstallError::NoPython { python: python.to_string_lossy().into_owned() }.into()),
        };
        Ok(Plan { requirements, text, python, version })
    }
}

impl super::Plan for Plan {
    fn key(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(format!("{}\n{}", self.version, self.text));
        hexadecimal(&hasher.finalize())[..16].to_owned()
    }

    fn pins(&self) -> Vec<String> {
        pins(&self.text)
    }

    fn run(&self, name: &str, folder: &Path, progress: &Progress) -> Result<(), ImplementationError> {
        let mut venv = Command::new(&self.python);
        venv.args(["-m", "venv", "--clear"]).arg(folder);
        step(name, "making a virtual environment", venv, folder, progress)?;
        let mut pip = Command::new(interpreter(folder));
        pip.args(["-m", "pip", "install", "--require-hashes", "--only-binary=:all:", "--no-input"]);
        pip.args(["--disable-pip-version-check", "--progress-bar=off", "--no-cache-dir"]);
        pip.arg("--requirement").arg(&self.requirements).env("LC_ALL", "C.UTF-8");
        step(name, "fetching and installing the pinned packages", pip, folder, progress)
    }

    fn start(&self, folder: &Path, program: PathBuf) -> (PathBuf, Vec<PathBuf>) {
        (interpreter(folder), vec![program])
    }
}

/// The Python of an environment.
fn interpreter(folder: &Path) -> PathBuf {
    if cfg!(windows) { folder.join("Scripts").join("python.exe") } else { folder.join("bin").join("python") }
}

/// The Python of the environment that this program is installed in, if it is installed in one that has the module.
pub(super) fn around(module: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let python = interpreter(folder.parent()?);
    let is_environment = folder.parent()?.join("pyvenv.cfg").is_file() && python.parent() == Some(folder);
    let script = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";
    let has = || Command::new(&python).args(["-c", script, module]).status().is_ok_and(|status| status.success());
    (is_environment && python.is_file() && has()).then_some(python)
}

/// Names and versions, without hashes and comments.
fn pins(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.split_whitespace().next());
    lines.filter(|word| word.contains("==")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_listed_without_their_hashes() {
        let text = "# a comment\nnumpy==2.4.6 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\nother==1.0 --hash=sha256:22\n";
        assert_eq!(pins(text), ["numpy==2.4.6", "other==1.0"]);
    }
}
