//! `broadcheck new-adapter`: a skeleton that runs, in a language of the user's choice.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{Ending, Failure, print};
use crate::assets;

/// Write the skeleton of an adapter, which runs as it is: fill in what TODO marks.
///
/// It describes a toy library, and passes the cases that this library supports. In Python and JavaScript the package
/// that speaks the protocol is copied next to it, so it runs wherever its language does; in Rust that is a crate.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck new-adapter mylib --lang python
  broadcheck new-adapter mylib --lang rust --into adapters

It prints where the tutorial is, adapters/TUTORIAL.md, which leads from the skeleton to a library that is judged.")]
pub struct NewAdapter {
    /// The library's name: lower-case letters, digits, `-` and `_`.
    name: String,
    /// The language of the adapter.
    #[arg(long, value_enum)]
    lang: Language,
    /// The folder to put its folder into.
    #[arg(long, value_name = "DIR", default_value = ".")]
    into: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    Python,
    Rust,
    Js,
}

/// A file of a skeleton. `@NAME@` in it is the library's name, `@SOURCE@` the folder of broadcheck's sources, and
/// `@VERSION@` their version.
type File = (&'static str, &'static str);

const PYTHON: &[File] =
    &[("adapter.py", include_str!("new_adapter/adapter.py.txt")), ("toy.py", include_str!("new_adapter/toy.py.txt"))];
const RUST: &[File] = &[
    ("Cargo.toml", include_str!("new_adapter/Cargo.toml.txt")),
    ("src/main.rs", include_str!("new_adapter/main.rs.txt")),
    ("src/toy.rs", include_str!("new_adapter/toy.rs.txt")),
];
const JS: &[File] = &[
    ("adapter.mjs", include_str!("new_adapter/adapter.mjs.txt")),
    ("toy.mjs", include_str!("new_adapter/toy.mjs.txt")),
];

/// The package that adapters in one language share: its folder in broadcheck's sources, and the suffix of its files.
type Package = (&'static str, &'static [&'static str]);

/// The folder of the copy, which is the name that Python imports.
const PACKAGE: &str = "broadcheck_adapter";
const LICENSES: [File; 2] =
    [("LICENSE-APACHE", include_str!("../../LICENSE-APACHE")), ("LICENSE-MIT", include_str!("../../LICENSE-MIT"))];

impl Language {
    fn files(self) -> &'static [File] {
        match self {
            Language::Python => PYTHON,
            Language::Rust => RUST,
            Language::Js => JS,
        }
    }

    fn package(self) -> Option<Package> {
        match self {
            Language::Python => Some(("adapters/python/broadcheck_adapter", &["py", "typed"])),
            Language::Js => Some(("adapters/js", &["mjs"])),
            Language::Rust => None,
        }
    }

    /// The commands that build the adapter (if it is compiled) and start it.
    fn commands(self, name: &str, folder: &Path) -> (Option<String>, String) {
        let path = |file: &str| folder.join(file).display().to_string();
        match self {
            Language::Python => (None, format!("python3 {}", path("adapter.py"))),
            Language::Js => (None, format!("node {}", path("adapter.mjs"))),
            Language::Rust => (
                Some(format!("cargo build --release --manifest-path {}", path("Cargo.toml"))),
                path(&format!("target/release/broadcheck-{name}")),
            ),
        }
    }
}

impl NewAdapter {
    pub fn run(&self) -> Result<Ending, Failure> {
        let name = &self.name;
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(letters) {
            return Err(format!(
                "{name:?} is not a valid name: use lower-case letters, digits, `-` and `_`, beginning with a letter"
            )
            .into());
        }
        let folder = self.into.join(name);
        if folder.exists() {
            return Err(format!(
                "{} exists already: choose another name, or another folder with --into",
                folder.display()
            )
            .into());
        }
        let root = assets::root()?;
        for (path, text) in self.lang.files() {
            let named = text.replace("@NAME@", name).replace("@VERSION@", env!("CARGO_PKG_VERSION"));
            write(&folder.join(path), &named.replace("@SOURCE@", &root.display().to_string()))?;
        }
        if let Some(package) = self.lang.package() {
            copy(package, &root, &folder.join(PACKAGE))?;
        }
        let (build, command) = self.lang.commands(name, &folder);
        let build = build.map(|build| format!("  {build}\n")).unwrap_or_default();
        let documents = ["TUTORIAL.md", "README.md"].map(|file| root.join("adapters").join(file));
        print(&format!(
            "{} is written. It describes a toy library: replace that by yours at each TODO, then\n\n{build}  \
             broadcheck validate-adapter -- {command}\n  broadcheck check --impl '{command}'\n\n\
             tutorial  {}\nprotocol  {}\n",
            folder.display(),
            documents[0].display(),
            documents[1].display(),
        ))?;
        Ok(Ending::Conforms)
    }
}

/// Copies the package that adapters in one language share, with its licenses, next to a skeleton.
fn copy((folder, endings): Package, root: &Path, to: &Path) -> Result<(), Failure> {
    let folder = root.join(folder);
    let fault = |error: std::io::Error| format!("cannot read {}: {error}", folder.display());
    for entry in fs::read_dir(&folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if let (true, Some(name)) = (endings.contains(&ending), path.file_name()) {
            write(&to.join(name), &fs::read_to_string(&path).map_err(fault)?)?;
        }
    }
    LICENSES.iter().try_for_each(|(name, text)| write(&to.join(name), text))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let fault = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fault)?;
    }
    fs::write(path, text).map_err(fault)?;
    Ok(())
}
