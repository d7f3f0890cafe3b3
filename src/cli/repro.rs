//! `broadcheck repro`: a finding as a program in the calls of its library, or in another language.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::bisect::{explained, name_of};
use super::runner::Named;
use super::{Ending, Failure, print};
use crate::adapter::Limits;
use crate::harness::triage::{self, bisect};

/// Print a finding as a program that needs nothing but the library.
///
/// For PyTorch and its modes that is a program in PyTorch's Python, as the README of the finding has it. For any other library
/// it is made of the calls that its adapter makes, as far as the adapter can write them; its repro.py or repro.mjs is the same.
/// The program in Rust, with tch, exits with 1 if the difference is there, with 0 if it is not, and with 2 if tch cannot show it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck repro findings/reference-add-values-1a2b3c4d
  broadcheck repro findings/reference-add-values-1a2b3c4d --lang rust > src/main.rs
  broadcheck repro findings/reference-add-values-1a2b3c4d --impl 'python3 my_adapter.py'

Exit codes: 0 printed, 2 could not be printed.")]
pub struct Repro {
    /// The folder of the finding.
    #[arg(value_name = "FINDING-DIR")]
    finding: PathBuf,
    /// The language of the program.
    #[arg(long, value_enum, default_value_t = Language::Native)]
    lang: Language,
    /// The adapter that writes the program, where the folder has none yet [default: the implementation that it was found
    /// in].
    #[arg(long = "impl", value_name = "NAME|CMD")]
    implementation: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    /// the library that the finding is in
    Native,
    /// PyTorch's Python
    Python,
    /// tch
    Rust,
}

impl Repro {
    pub fn run(&self) -> Result<Ending, Failure> {
        let mut recorded = bisect::read(&self.finding)?;
        let known = explained(&recorded, &name_of(&self.finding)?)?;
        let language = match self.lang {
            Language::Native => triage::Language::Native,
            Language::Python => triage::Language::Python,
            Language::Rust => triage::Language::Rust,
        };
        if self.lang == Language::Native && !recorded.is_of_pytorch() {
            self.ask(&mut recorded)?;
        }
        print(&recorded.with_dossier("", known.as_ref(), |dossier| triage::repro(dossier, language)))?;
        Ok(Ending::Conforms)
    }

    /// Asks the adapter for the program, unless the folder has it.
    fn ask(&self, recorded: &mut bisect::Recorded) -> Result<(), Failure> {
        let name = recorded.implementation.name.clone();
        if recorded.native.is_some() {
            return Ok(());
        }
        let named = Named::parse("--impl", self.implementation.as_deref().unwrap_or(&name))?;
        recorded.ask(&named.start, &Limits::default());
        match recorded.native {
            Some(_) => Ok(()),
            None => Err(format!(
                "the adapter of {name} does not write its calls as a program: `broadcheck bisect {} --impl {name}` runs the \
                 finding on it, and --lang python prints it in PyTorch's calls",
                self.finding.display()
            )
            .into()),
        }
    }
}
