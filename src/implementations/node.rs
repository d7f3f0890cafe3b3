//! A folder of Node packages, exactly those that `package-lock.json` pins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::{ImplementationError, Known, step};
use crate::install::{Progress, hexadecimal, io_error};

/// The file that marks an adapter as one for Node.
pub(super) const PACKAGE: &str = "package.json";
/// The packages, each with its version and its hash.
const LOCK: &str = "package-lock.json";
/// The command that runs the program.
const PROGRAM: &str = "node";

/// The plan of an installation, and its Node.
pub(super) struct Plan {
    /// Name and text of each file that npm reads.
    files: Vec<(&'static str, String)>,
    version: String,
}

impl Plan {
    pub(super) fn of(known: &Known) -> Result<Plan, ImplementationError> {
        let owner = known.owner();
        let read = |name: &'static str| {
            let path = owner.join(name);
            fs::read_to_string(&path).map(|text| (name, text)).map_err(io_error("read", &path))
        };
        let files = vec![read(PACKAGE)?, read(LOCK)?];
        let answer = Command::new(PROGRAM).arg("--version").output();
        let version = match answer {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            _ => return Err(ImplementationError::NoNode { name: known.name.clone() }),
        };
        Ok(Plan { files, version })
    }
}

impl super::Plan for Plan {
    fn key(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(&self.version);
        for (name, text) in &self.files {
            hasher.update(format!("\n{name}\n{text}"));
        }
        hexadecimal(&hasher.finalize())[..16].to_owned()
    }

    fn pins(&self) -> Vec<String> {
        let package: serde_json::Value = serde_json::from_str(&self.files[0].1).unwrap_or_default();
        let wanted = package["dependencies"].as_object().into_iter().flatten();
        wanted.map(|(name, version)| format!("{name}@{}", version.as_str().unwrap_or_default())).collect()
    }

    fn run(&self, name: &str, folder: &Path, progress: &Progress) -> Result<(), ImplementationError> {
        for (file, text) in &self.files {
            let path: PathBuf = folder.join(file);
            fs::write(&path, text).map_err(io_error("write", &path))?;
        }
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--no-progress", "--ignore-scripts", "--prefix"]).arg(folder);
        step(name, "fetching and installing the pinned packages", npm, folder, progress)
    }

    fn start(&self, _folder: &Path, program: PathBuf) -> (PathBuf, Vec<PathBuf>) {
        (PathBuf::from(PROGRAM), vec![program])
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plan as _;
    use super::*;

    #[test]
    fn the_folder_follows_the_pins_and_node() {
        let plan = |lock: &str, version: &str| Plan {
            files: vec![
                (PACKAGE, r#"{"dependencies": {"@a/b": "1.2.3", "c": "4.5.6"}}"#.to_owned()),
                (LOCK, lock.to_owned()),
            ],
            version: version.to_owned(),
        };
        assert_eq!(plan("{}", "v20").pins(), ["@a/b@1.2.3", "c@4.5.6"]);
        let key = plan("{}", "v20").key();
        assert_eq!(plan("{}", "v20").key(), key);
        assert_ne!(plan("{}", "v22").key(), key);
        assert_ne!(plan("[]", "v20").key(), key);
    }
}
