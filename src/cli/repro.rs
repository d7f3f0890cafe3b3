//! `broadcheck repro`: a finding, or a case, as a program in the calls of its library, or in another language.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::bisect::{explained, name_of};
use super::runner::{Named, did_you_mean, specification};
use super::{Ending, Failure, print};
use crate::adapter::Limits;
use crate::case;
use crate::harness::triage::{self, bisect};

/// Print a finding, or what an implementation does otherwise in a case, as a program that needs nothing but the library.
///
/// For PyTorch and its modes that is a program in PyTorch's Python, as the README of the finding has it. For any other library
/// it is made of the calls that its adapter makes, as far as the adapter can write them; its repro.py or repro.mjs is the same.
/// The program in Rust, with tch, exits with 1 if the difference is there, with 0 if it is not, and with 2 if tch cannot show it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck repro findings/reference-add-values-1a2b3c4d
  broadcheck repro findings/reference-add-values-1a2b3c4d --lang rust > src/main.rs
  broadcheck repro findings/reference-add-values-1a2b3c4d --lang case > spec/regressions/reference-add-values-1a2b3c4d.yaml
  broadcheck repro findings/reference-add-values-1a2b3c4d --impl 'python3 my_adapter.py'
  broadcheck repro lookups/isin-of-integers-that-promote-to-one-number
  broadcheck repro unary/abs-of-complex-numbers-into-a-target-that-is-resized --impl pytorch-export

Exit codes: 0 printed, 2 could not be printed, as where a case has no difference.")]
pub struct Repro {
    /// The folder of the finding, or the id of a case, which is run on the reference and on the implementation.
    #[arg(value_name = "FINDING-DIR|CASE")]
    finding: PathBuf,
    /// The language of the program.
    #[arg(long, value_enum, default_value_t = Language::Native)]
    lang: Language,
    /// The implementation that runs a case [default: libtorch]; for a folder, the adapter that writes the program where
    /// the folder has none yet [default: the implementation that it was found in].
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
    /// a case of the specification, as a file of spec/regressions
    Case,
}

impl Repro {
    pub fn run(&self) -> Result<Ending, Failure> {
        let id = self.finding.to_string_lossy();
        let specification = case::load(&specification(None)?)?;
        let of_case = specification.cases.iter().find(|case| case.id == id);
        if of_case.is_none() && !self.finding.is_dir() {
            let hint = did_you_mean(
                &id,
                specification.cases.iter().map(|case| case.id.as_str()),
                "`broadcheck check --format json` lists the cases",
            );
            return Err(format!("there is neither a folder nor a case `{id}`{hint}").into());
        }
        let (mut recorded, known) = match of_case {
            Some(case) => (self.run_case(case)?, None),
            None => {
                let recorded = bisect::read(&self.finding)?;
                let known = explained(&recorded, &name_of(&self.finding)?)?;
                (recorded, known)
            }
        };
        if self.lang == Language::Native && !recorded.is_of_pytorch() {
            self.ask(&mut recorded)?;
        }
        print(&recorded.with_dossier("", known.as_ref(), |dossier| match self.lang {
            Language::Native => triage::repro(dossier, triage::Language::Native),
            Language::Python => triage::repro(dossier, triage::Language::Python),
            Language::Rust => triage::repro(dossier, triage::Language::Rust),
            Language::Case => triage::as_case(dossier, &specification, &triage::folder_name(dossier.finding)),
        }))?;
        Ok(Ending::Conforms)
    }

    /// Runs a case on the implementation.
    fn run_case(&self, case: &case::Case) -> Result<bisect::Recorded, Failure> {
        let given = self.implementation.as_deref().unwrap_or("libtorch");
        let named = Named::parse("--impl", given)?;
        let mut runner = named.start.runner(&Limits::default()).map_err(|error| format!("{given}: {error}"))?;
        match bisect::Recorded::of_case(case, &mut runner) {
            Ok(Some(recorded)) => Ok(recorded),
            Ok(None) => Err(format!(
                "{given} does what the reference does in `{}`: there is nothing to print. `broadcheck show {0}` prints the case",
                case.id
            )
            .into()),
            Err(why) => Err(format!("{given} cannot run `{}`: {why}", case.id).into()),
        }
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
