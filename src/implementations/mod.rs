//! Adapters that come with broadcheck, other than libtorch's: what there is, and an environment for each in the cache.
//!
//! A folder of `adapters/` with an `adapter.toml` is one. It is written in Python so far: its environment is a virtual
//! one with exactly the packages that its `requirements.txt` pins by hash, and the adapter itself runs from its folder.
//! This module knows no case, no program and no protocol.
//!
//! ```text
//! CACHE/implementations/numpy/3f2a…/    the environment for these pins and this Python; installed.json is written last
//! ```

mod python;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::install::{self, InstallError, Lock, Progress, io_error};

/// The file that makes a folder of `adapters/` one of these.
const DESCRIPTION: &str = "adapter.toml";
/// The file that makes an environment complete.
const INSTALLED: &str = "installed.json";

/// An adapter that comes with broadcheck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The name after `--impl`.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What its `adapter.toml` says.
    pub description: Description,
}

/// `adapter.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// What it is, in a line.
    pub summary: String,
    /// The program in its folder that Python runs.
    pub program: String,
    /// What the program is given.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The folder of `adapters/` that has its pins, if it is another one's.
    #[serde(default)]
    pub environment: Option<String>,
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
}

/// Why an adapter cannot be made ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImplementationError {
    /// There is no such folder.
    #[error("no implementation is called `{asked}`{hint}: choose one of {known}, or give the command of an adapter")]
    Unknown { asked: String, known: String, hint: String },
    /// `adapter.toml` is no description.
    #[error("{}: {detail}", .path.display())]
    Description { path: PathBuf, detail: String },
    /// A step of the installation ended badly.
    #[error("cannot install {name}: {step} failed; the whole log is in {}, and it ends:\n{tail}", .log.display())]
    Step { name: String, step: &'static str, log: PathBuf, tail: String },
    /// What installing libtorch can meet, too.
    #[error(transparent)]
    Install(#[from] InstallError),
}

/// The adapters of the sources that this program belongs to, by name.
pub fn known() -> Result<Vec<Known>, ImplementationError> {
    in_folder(&install::source_from_env()?.join("adapters"))
}

/// The adapter of that name, if there is one. Where there are no sources there is none.
pub fn find(name: &str) -> Result<Option<Known>, ImplementationError> {
    match known() {
        Ok(known) => Ok(known.into_iter().find(|known| known.name == name)),
        Err(ImplementationError::Install(InstallError::NoSourceTree { tried: None })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes an adapter ready, and returns at once where it is.
pub fn ready(name: &str, progress: &Progress) -> Result<Ready, ImplementationError> {
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
    found.install(progress)
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

impl Known {
    /// Makes its environment, unless it is there.
    pub fn install(&self, progress: &Progress) -> Result<Ready, ImplementationError> {
        let plan = python::Plan::of(self)?;
        let folder = self.place()?.join(plan.key());
        if !folder.join(INSTALLED).is_file() {
            fs::create_dir_all(&folder).map_err(io_error("create", &folder))?;
            let _lock = Lock::take(&folder.with_extension("lock"), &self.name, progress)?;
            if !folder.join(INSTALLED).is_file() {
                plan.run(&self.name, &folder, progress)?;
                let record = serde_json::json!({"name": self.name, "pins": plan.pins()});
                let path = folder.join(INSTALLED);
                let text = serde_json::to_vec_pretty(&record).expect("a record has only text for keys");
                install::replace(&path, &text).map_err(io_error("write", &path))?;
            }
        }
        let mut arguments = vec![self.folder.join(&self.description.program)];
        arguments.extend(self.description.arguments.iter().map(PathBuf::from));
        Ok(Ready { name: self.name.clone(), program: python::interpreter(&folder), environment: folder, arguments })
    }

    /// Its environment, if it is there for the pins of today.
    pub fn installed(&self) -> Result<Option<PathBuf>, ImplementationError> {
        let folder = self.place()?.join(python::Plan::of(self)?.key());
        Ok(folder.join(INSTALLED).is_file().then_some(folder))
    }

    fn place(&self) -> Result<PathBuf, ImplementationError> {
        let owner = self.description.environment.as_deref().unwrap_or(&self.name);
        Ok(install::cache_dir()?.join("implementations").join(owner))
    }
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
}
