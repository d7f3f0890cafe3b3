//! Adapters that come with broadcheck, other than libtorch's: what there is, and an environment for each in the cache.
//!
//! A folder of `adapters/` with an `adapter.toml` is one. With a `Cargo.toml` it is written in Rust: its environment is
//! the program that cargo builds. With a `package.json` it is written for Node, else in Python: its environment has
//! exactly the packages that `package-lock.json` or `requirements.txt` pins by hash, and the adapter itself runs from its
//! folder. This module knows no case, no program and no protocol.
//!
//! ```text
//! CACHE/implementations/numpy/3f2a…/    the environment for these pins and this Python; installed.json is written last
//! CACHE/implementations/pytorch-releases/5b01…/    a release of PyTorch, in which `broadcheck confirm` runs programs
//! CACHE/build/                          cargo's folder, which all adapters in Rust share
//! ```

mod cargo;
mod node;
mod python;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::assets::{self, AssetsError};
use crate::install::{self, InstallError, Lock, Progress, compiling, io_error, remove_folder, watch};

/// The file that makes a folder of `adapters/` one of these.
const DESCRIPTION: &str = "adapter.toml";
/// The file that makes an environment complete.
const INSTALLED: &str = "installed.json";
/// The variable that names the environment of an adapter for Node, which Node would not look into.
const ENVIRONMENT: &str = "BROADCHECK_ENVIRONMENT";
/// The number of lines of a log that an error shows.
const GIST: usize = 12;

/// An adapter that comes with broadcheck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The name after `--impl`.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The contents of its `adapter.toml`.
    pub description: Description,
}

/// `adapter.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// A description of it, in a line.
    pub summary: String,
    /// The program in its folder that Python or Node runs; in Rust, the name of the binary.
    pub program: String,
    /// The arguments of the program.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The folder of `adapters/` that has its pins, if it is another one's.
    #[serde(default)]
    pub environment: Option<String>,
    /// The module of Python that it is about. Where the program is installed in a Python environment that has it, that
    /// environment is used.
    #[serde(default)]
    pub module: Option<String>,
    /// GiB of address space that a campaign gives a process of it, in place of 8; 0 for no limit, where the runtime
    /// reserves more than it uses.
    #[serde(default)]
    pub memory: Option<u64>,
}

/// An adapter whose environment is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ready {
    /// The name after `--impl`.
    pub name: String,
    /// The environment.
    pub environment: PathBuf,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<PathBuf>,
    /// The environment variables that it is given, with their values.
    pub variables: Vec<(&'static str, PathBuf)>,
}

/// The reason why an adapter cannot be made ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImplementationError {
    /// There is no such folder.
    #[error("there is no implementation `{asked}`{hint}: choose one of {known}, or give the command of an adapter")]
    Unknown {
        /// The implementation that was asked for.
        asked: String,
        /// The names that are known.
        known: String,
        /// The nearest name, as a question.
        hint: String,
    },
    /// `adapter.toml` is no description.
    #[error("{}: {detail}", .path.display())]
    Description {
        /// The file.
        path: PathBuf,
        /// A description of the error.
        detail: String,
    },
    /// A step of the installation ended badly.
    #[error("cannot install {name}: {step} failed; the whole log is in {}, and its error is:\n{gist}", .log.display())]
    Step {
        /// The name.
        name: String,
        /// The step.
        step: &'static str,
        /// The file with all that was printed.
        log: PathBuf,
        /// The line of it that says why.
        gist: String,
    },
    /// A Python was given for what does not run on one.
    #[error("{name} is not written in Python: leave out --python")]
    NotPython {
        /// The name.
        name: String,
    },
    /// There is no Node.
    #[error("{name} runs on Node: install Node.js 20 or newer with npm, and put node on the PATH")]
    NoNode {
        /// The name.
        name: String,
    },
    /// There is no cargo.
    #[error("{name} is built from its sources: install Rust, and put cargo on the PATH")]
    NoCargo {
        /// The name.
        name: String,
    },
    /// There are no adapters.
    #[error(transparent)]
    Assets(#[from] AssetsError),
    /// An error of the installation of libtorch.
    #[error(transparent)]
    Install(#[from] InstallError),
}

/// The adapters of the sources that this program belongs to, by name.
pub fn known() -> Result<Vec<Known>, ImplementationError> {
    in_folder(&assets::root()?.join("adapters"))
}

/// The adapter of that name, if there is one. Where there are no sources there is none.
pub fn find(name: &str) -> Result<Option<Known>, ImplementationError> {
    match known() {
        Ok(known) => Ok(known.into_iter().find(|known| known.name == name)),
        Err(ImplementationError::Assets(AssetsError::Nowhere)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes an adapter ready, and returns at once where it is. One in Python runs on `python` if that is given, with the
/// library that is installed there.
pub fn ready(name: &str, python: Option<&Path>, progress: &Progress) -> Result<Ready, ImplementationError> {
    let all = known()?;
    let Some(found) = all.iter().find(|known| known.name == name) else {
        let names = all.iter().map(|known| known.name.as_str());
        let close = names.clone().find(|known| strsim::osa_distance(known, name) <= 2);
        return Err(ImplementationError::Unknown {
            asked: name.to_owned(),
            known: names.collect::<Vec<_>>().join(", "),
            hint: close.map(|close| format!(" (did you mean `{close}`?)")).unwrap_or_default(),
        });
    };
    if let Some(python) = python {
        return found.on(python).ok_or_else(|| ImplementationError::NotPython { name: name.to_owned() });
    }
    match found.description.module.as_deref().and_then(python::around) {
        Some(python) => Ok(found.on(&python).expect("a description with a module is in Python")),
        None => found.install(progress),
    }
}

fn in_folder(adapters: &Path) -> Result<Vec<Known>, ImplementationError> {
    let mut known = Vec::new();
    for entry in fs::read_dir(adapters).map_err(io_error("read", adapters))? {
        let folder = entry.map_err(io_error("read", adapters))?.path();
        let path = folder.join(DESCRIPTION);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) if !path.exists() => continue,
            Err(error) => return Err(io_error("read", &path)(error).into()),
        };
        let description = toml::from_str(&text)
            .map_err(|error| ImplementationError::Description { path, detail: error.to_string() })?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        known.push(Known { name, folder, description });
    }
    known.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(known)
}

/// The contents of an environment.
trait Plan {
    /// Names the folder of an environment that is made of this.
    fn key(&self) -> String;

    /// Names and versions of the packages that are asked for.
    fn pins(&self) -> Vec<String>;

    /// Makes the environment in an empty folder.
    fn run(&self, name: &str, folder: &Path, progress: &Progress) -> Result<(), ImplementationError>;

    /// Returns the program that is started in this environment, and the first of its arguments, if any.
    fn start(&self, folder: &Path, program: PathBuf) -> (PathBuf, Vec<PathBuf>);
}

impl Known {
    /// Makes its environment, unless it is there.
    pub fn install(&self, progress: &Progress) -> Result<Ready, ImplementationError> {
        let plan = self.plan()?;
        let folder = made(&*plan, &self.name, &self.place()?, progress)?;
        let (program, mut arguments) = plan.start(&folder, self.folder.join(&self.description.program));
        arguments.extend(self.description.arguments.iter().map(PathBuf::from));
        let variables = vec![(ENVIRONMENT, folder.clone())];
        Ok(Ready { name: self.name.clone(), program, environment: folder, arguments, variables })
    }

    /// Itself on a Python of the user's, where nothing is installed; `None` if it is not written in Python.
    fn on(&self, python: &Path) -> Option<Ready> {
        let in_another_language = [cargo::MANIFEST, node::PACKAGE].iter().any(|file| self.owner().join(file).is_file());
        let mut arguments = vec![self.folder.join(&self.description.program)];
        arguments.extend(self.description.arguments.iter().map(PathBuf::from));
        (!in_another_language).then(|| Ready {
            name: self.name.clone(),
            environment: python.to_owned(),
            program: python.to_owned(),
            arguments,
            variables: Vec::new(),
        })
    }

    /// Its environment, if it is there for the pins of today.
    pub fn installed(&self) -> Result<Option<PathBuf>, ImplementationError> {
        let folder = self.place()?.join(self.plan()?.key());
        Ok(folder.join(INSTALLED).is_file().then_some(folder))
    }

    fn plan(&self) -> Result<Box<dyn Plan>, ImplementationError> {
        let has = |file: &str| self.owner().join(file).is_file();
        Ok(if has(cargo::MANIFEST) {
            Box::new(cargo::Plan::of(self)?)
        } else if has(node::PACKAGE) {
            Box::new(node::Plan::of(self)?)
        } else {
            Box::new(python::Plan::of(self)?)
        })
    }

    /// The folder of `adapters/` that has its pins.
    fn owner(&self) -> PathBuf {
        match &self.description.environment {
            Some(owner) => self.folder.with_file_name(owner),
            None => self.folder.clone(),
        }
    }

    fn place(&self) -> Result<PathBuf, ImplementationError> {
        let owner = self.description.environment.as_deref().unwrap_or(&self.name);
        Ok(assets::cache_dir()?.join("implementations").join(owner))
    }
}

/// Makes the environment of a plan below a folder, unless it is there, and returns its own folder.
fn made(plan: &dyn Plan, name: &str, below: &Path, progress: &Progress) -> Result<PathBuf, ImplementationError> {
    let folder = below.join(plan.key());
    if !folder.join(INSTALLED).is_file() {
        fs::create_dir_all(&folder).map_err(io_error("create", &folder))?;
        let _lock = Lock::take(&folder.with_extension("lock"), name, progress)?;
        if !folder.join(INSTALLED).is_file() {
            // What an interrupted run left is thrown away.
            remove_folder(&folder).map_err(io_error("empty", &folder))?;
            fs::create_dir_all(&folder).map_err(io_error("create", &folder))?;
            plan.run(name, &folder, progress)?;
            let record = serde_json::json!({"name": name, "pins": plan.pins()});
            let path = folder.join(INSTALLED);
            let text = serde_json::to_vec_pretty(&record).expect("a record has only text for keys");
            install::replace(&path, &text).map_err(io_error("write", &path))?;
        }
    }
    Ok(folder)
}

/// A release of PyTorch for Python, with an environment of its own in the cache.
pub struct PyTorch {
    /// The environment.
    folder: PathBuf,
    /// Whether it was there before.
    was_there: bool,
    start: (PathBuf, Vec<PathBuf>),
}

impl PyTorch {
    /// Installs a release, unless it is there, to run a program of `adapters/pytorch`.
    ///
    /// # Errors
    /// The package index has no such release for this Python, or it cannot be installed.
    pub fn install(release: &str, program: &str, progress: &Progress) -> Result<PyTorch, ImplementationError> {
        let plan = python::PyTorch::of(release)?;
        let below = assets::cache_dir()?.join("implementations").join("pytorch-releases");
        let was_there = below.join(plan.key()).join(INSTALLED).is_file();
        let folder = made(&plan, &format!("PyTorch {release}"), &below, progress)?;
        let start = plan.start(&folder, assets::path("adapters/pytorch")?.join(program));
        Ok(PyTorch { folder, was_there, start })
    }

    /// The command that runs the program.
    pub fn command(&self) -> Command {
        let (program, arguments) = &self.start;
        let mut command = Command::new(program);
        command.args(arguments);
        command
    }

    /// Removes the environment, unless it was there before.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(self) -> Result<(), ImplementationError> {
        if !self.was_there {
            // A removal that is interrupted leaves an environment that is not complete.
            let path = self.folder.join(INSTALLED);
            fs::remove_file(&path).map_err(io_error("remove", &path))?;
            remove_folder(&self.folder).map_err(io_error("remove", &self.folder))?;
        }
        Ok(())
    }
}

/// One step of an installation, whose output is kept next to the environment.
fn step(
    name: &str,
    what: &'static str,
    mut command: Command,
    folder: &Path,
    progress: &Progress,
) -> Result<(), ImplementationError> {
    let phase = RefCell::new(progress.phase(format!("{name}: {what}"), None));
    let mut said = String::new();
    let heard = |line: &str| {
        said.push_str(line);
        said.push('\n');
        if let Some(now) = compiling(line) {
            phase.borrow_mut().detail(now);
        }
    };
    let status =
        watch(&mut command, heard, || phase.borrow_mut().tick()).map_err(io_error("run a program in", folder))?;
    let log = folder.with_extension("log");
    fs::write(&log, &said).map_err(io_error("write", &log))?;
    if status.success() {
        return Ok(());
    }
    Err(ImplementationError::Step { name: name.to_owned(), step: what, log, gist: gist(&said) })
}

/// Returns the relevant part of a log: its first error, where a compiler marks it as one, or else its end.
fn gist(said: &str) -> String {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.iter().position(|line| line.starts_with("error"));
    let start = first.unwrap_or(lines.len().saturating_sub(GIST));
    lines[start..].iter().take(GIST).copied().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_a_description_is_an_adapter() {
        let root = tempfile::tempdir().unwrap();
        for name in ["one", "two", "plain"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let describe = |name: &str, text: &str| fs::write(root.path().join(name).join(DESCRIPTION), text).unwrap();
        describe("two", "summary = 'the second'\nprogram = 'adapter.py'\narguments = ['--wide']");
        describe("one", "summary = 'the first'\nprogram = 'adapter.py'");
        let names: Vec<String> = in_folder(root.path()).unwrap().into_iter().map(|known| known.name).collect();
        assert_eq!(names, ["one", "two"]);
        describe("plain", "summary = 'x'\nprogramme = 'y'");
        let error = in_folder(root.path()).unwrap_err().to_string();
        assert!(error.contains("plain") && error.contains("programme"), "{error}");
    }

    #[test]
    fn an_error_shows_the_first_error_or_the_end_of_what_was_said() {
        let mut said: String = (0..30).map(|n| format!("line {n}\n\n")).collect();
        assert!(gist(&said).starts_with("line 18\n") && gist(&said).ends_with("line 29"));
        said.insert_str(said.find("line 3").unwrap(), "error[E0308]: mismatched types\n");
        assert!(gist(&said).starts_with("error[E0308]") && gist(&said).ends_with("line 13"));
    }
}
