//! Virtual environments: one with exactly the pinned packages, and one with a release of PyTorch.

use std::ffi::{OsStr, OsString};
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
        let version = version_of(&python)?;
        Ok(Plan { requirements, text, python, version })
    }
}

/// The version that a Python reports.
fn version_of(python: &OsStr) -> Result<String, ImplementationError> {
    match Command::new(python).args(["-c", "import sys; print(sys.version)"]).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        _ => Err(InstallError::NoPython { python: python.to_string_lossy().into_owned() }.into()),
    }
}

/// Makes a virtual environment in a folder, with the packages that `choose` makes the arguments of pip name.
fn environment(
    python: &OsStr,
    name: &str,
    folder: &Path,
    choose: impl FnOnce(&mut Command),
    progress: &Progress,
) -> Result<(), ImplementationError> {
    let mut venv = Command::new(python);
    venv.args(["-m", "venv", "--clear"]).arg(folder);
    step(name, "making a virtual environment", venv, folder, progress)?;
    let mut pip = Command::new(interpreter(folder));
    pip.args(["-m", "pip", "install", "--only-binary=:all:", "--no-input"]);
    pip.args(["--disable-pip-version-check", "--progress-bar=off", "--no-cache-dir"]).env("LC_ALL", "C.UTF-8");
    choose(&mut pip);
    step(name, "fetching and installing the packages", pip, folder, progress)
}

impl super::Plan for Plan {
    fn key(&self) -> String {
        key(&self.version, &self.text)
    }

    fn pins(&self) -> Vec<String> {
        pins(&self.text)
    }

    fn run(&self, name: &str, folder: &Path, progress: &Progress) -> Result<(), ImplementationError> {
        let pinned = |pip: &mut Command| {
            pip.args(["--require-hashes", "--requirement"]).arg(&self.requirements);
        };
        environment(&self.python, name, folder, pinned, progress)
    }

    fn start(&self, folder: &Path, program: PathBuf) -> (PathBuf, Vec<PathBuf>) {
        (interpreter(folder), vec![program])
    }
}

/// One release of PyTorch, with the packages that it asks for.
pub(super) struct PyTorch {
    requirement: String,
    python: OsString,
    version: String,
}

impl PyTorch {
    pub(super) fn of(release: &str) -> Result<PyTorch, ImplementationError> {
        let python = python_from_env();
        let version = version_of(&python)?;
        Ok(PyTorch { requirement: format!("torch=={release}"), python, version })
    }
}

impl super::Plan for PyTorch {
    fn key(&self) -> String {
        key(&self.version, &self.requirement)
    }

    fn pins(&self) -> Vec<String> {
        vec![self.requirement.clone()]
    }

    fn run(&self, name: &str, folder: &Path, progress: &Progress) -> Result<(), ImplementationError> {
        // Compiling the modules that PyTorch does not import takes longer than fetching it.
        let release = |pip: &mut Command| {
            pip.args(["--no-compile", &self.requirement]);
        };
        environment(&self.python, name, folder, release, progress)
    }

    fn start(&self, folder: &Path, program: PathBuf) -> (PathBuf, Vec<PathBuf>) {
        (interpreter(folder), vec![program])
    }
}

/// The name of the folder of an environment: it depends on the Python and the packages.
fn key(version: &str, packages: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(format!("{version}\n{packages}"));
    hexadecimal(&hasher.finalize())[..16].to_owned()
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
