//! `broadcheck repro`: a finding as a program of one language.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::bisect::{explained, name_of};
use super::{Ending, Failure, print};
use crate::harness::triage::{self, bisect};

/// Print a finding as a program that needs nothing but PyTorch, or nothing but tch.
///
/// The program in Python is in the folder already, as repro.py. The one in Rust exits with 1 if the difference is there, with 0
/// if it is not, and with 2 if tch cannot show it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck repro findings/reference-add-values-1a2b3c4d
  broadcheck repro findings/reference-add-values-1a2b3c4d --lang rust > src/main.rs

Exit codes: 0 printed, 2 could not be printed.")]
pub struct Repro {
    /// The folder of the finding.
    #[arg(value_name = "FINDING-DIR")]
    finding: PathBuf,
    /// The language of the program.
    #[arg(long, value_enum, default_value_t = Language::Python)]
    lang: Language,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    /// PyTorch's Python
    Python,
    /// tch
    Rust,
}

impl Repro {
    pub fn run(&self) -> Result<Ending, Failure> {
        let recorded = bisect::read(&self.finding)?;
        let known = explained(&recorded, &name_of(&self.finding)?)?;
        let language = match self.lang {
            Language::Python => triage::Language::Python,
            Language::Rust => triage::Language::Rust,
        };
        print(&recorded.with_dossier("", known.as_ref(), |dossier| triage::repro(dossier, language)))?;
        Ok(Ending::Conforms)
    }
}
