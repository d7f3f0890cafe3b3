//! `broadcheck new-adapter`: a skeleton that runs, in a language of the user's choice.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{Ending, Failure, print};
use crate::assets;

/// Write the skeleton of an adapter. It runs as it is, and has two places to fill in.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck new-adapter mylib --lang python
  broadcheck new-adapter mylib --lang rust --into adapters")]
pub struct NewAdapter {
    /// The library's name: lower-case letters, digits, `-` and `_`.
    name: String,
    /// What the adapter is written in.
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

/// A file of a skeleton. `NAME` in it is the library's name, `SOURCE` where broadcheck's sources are, and `VERSION` which
/// they are.
type File = (&'static str, &'static str);

const PYTHON: &[File] = &[("adapter.py", include_str!("new_adapter/adapter.py.txt"))];
const RUST: &[File] = &[
    ("Cargo.toml", include_str!("new_adapter/Cargo.toml.txt")),
    ("src/main.rs", include_str!("new_adapter/main.rs.txt")),
];
const JS: &[File] = &[("adapter.mjs", include_str!("new_adapter/adapter.mjs.txt"))];

impl NewAdapter {
    pub fn run(&self) -> Result<Ending, Failure> {
        let name = &self.name;
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(letters) {
            return Err(format!(
                "{name:?} cannot be the name: use lower-case letters, digits, `-` and `_`, a letter first"
            )
            .into());
        }
        let folder = self.into.join(name);
        if folder.exists() {
            return Err(
                format!("{} is there already: choose another name or --into another folder", folder.display()).into()
            );
        }
        let files = match self.lang {
            Language::Python => PYTHON,
            Language::Rust => RUST,
            Language::Js => JS,
        };
        let source = assets::root()?.display().to_string();
        for (path, text) in files {
            let text = text.replace("SOURCE", &source).replace("VERSION", env!("CARGO_PKG_VERSION"));
            write(&folder.join(path), &text.replace("NAME", name))?;
        }
        let command = match self.lang {
            Language::Python => format!("python3 {}", folder.join("adapter.py").display()),
            Language::Rust => folder.join(format!("target/release/broadcheck-{name}")).display().to_string(),
            Language::Js => format!("node {}", folder.join("adapter.mjs").display()),
        };
        let build = match self.lang {
            Language::Rust => {
                format!("  cargo build --release --manifest-path {}\n", folder.join("Cargo.toml").display())
            }
            Language::Python | Language::Js => String::new(),
        };
        print(&format!(
            "{} is there. It has one operation, `add`; fill in what TODO marks, then\n\n{build}  \
             broadcheck validate-adapter -- {command}\n  broadcheck check --impl '{command}'\n",
            folder.display()
        ))?;
        Ok(Ending::Conforms)
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let fault = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fault)?;
    }
    fs::write(path, text).map_err(fault)?;
    Ok(())
}
