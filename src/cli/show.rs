//! `broadcheck show`: one case, whole.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use super::runner::{Named, did_you_mean, specification};
use super::{Ending, Failure, events, print};
use crate::adapter::Limits;
use crate::case;
use crate::harness::check::{Candidate, Selection, check};
use crate::harness::model::divergence::Source;
use crate::report::{Run, brief};

/// Print one case: its program, its expectations, the statements that it tests, and its outcome on implementations.
///
/// The reference runs it now, and so do implementations after --impl. The outcomes of others are in event files, which
/// `broadcheck matrix` and `broadcheck check --events` write; a checkout of broadcheck has them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck show in-place/shape-would-change
  broadcheck show promotion/vector-loop-of-float32 --impl libtorch@2.15.0
  broadcheck show tutorial/vector-becomes-rows --events run.jsonl.gz

Exit codes: 0 printed, 2 could not be printed; verdicts do not change it.")]
pub struct Show {
    /// The id of the case, as reports print it. One that stands for several (`each` in the specification) is written out.
    case: String,
    /// Also run it on this implementation; may be given more than once.
    #[arg(long = "impl", value_name = "NAME|CMD")]
    implementations: Vec<String>,
    /// Run an implementation in Python, such as numpy or pytorch, on this interpreter, with the library that is installed
    /// there, instead of the pinned one.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// A folder of event files, or one of them [default: reports/events, if it is there].
    #[arg(long, value_name = "DIR|FILE")]
    events: Option<PathBuf>,
    /// The folder of the specification.
    #[arg(long, value_name = "DIR")]
    spec: Option<PathBuf>,
}

impl Show {
    pub fn run(&self) -> Result<Ending, Failure> {
        let specification = case::load(&specification(self.spec.as_deref())?)?;
        let ids = || specification.cases.iter().map(|case| case.id.as_str());
        if !ids().any(|id| id == self.case) {
            let alike: Vec<&str> = ids().filter(|id| id.starts_with(&self.case)).take(8).collect();
            let hint = match alike[..] {
                [] => did_you_mean(&self.case, ids(), "`broadcheck check --format json` lists them all"),
                _ => format!("; ids that begin with it: {}", alike.join(", ")),
            };
            return Err(format!("there is no case `{}`{hint}", self.case).into());
        }
        let given = ["reference".to_owned()].into_iter().chain(self.implementations.iter().cloned());
        let mut candidates = given
            .map(|given| {
                let runner = Named::parse_on("--impl", &given, self.python.as_deref())?.runner(&Limits::default())?;
                Ok(Candidate::new(given, runner, &Source::Own, &specification)?)
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        let selection = Selection { cases: vec![self.case.clone()], ..Selection::default() };
        let mut now = Run::default();
        check(&specification, &specification.digest, &selection, &mut candidates, |event| now.add(event));
        let folder = match &self.events {
            Some(folder) => folder.clone(),
            None => events::default_folder()?,
        };
        let files = if self.events.is_some() || folder.is_dir() { events::all(&folder)? } else { Vec::new() };
        let (now, files) = (now.visible(), events::visible(files));
        let mut text = brief::case(&now, &self.case);
        let there_are_none = files.is_empty();
        let mut judged = now.judged;
        // One id may be a prefix of another.
        judged.retain(|judged| judged.case == self.case);
        for (_, file) in files {
            let mut run = Run::default();
            file.events.into_iter().for_each(|event| run.take(event));
            run.judged.retain(|judged| judged.case == self.case && judged.given != "reference");
            judged.append(&mut run.judged);
        }
        text += &brief::outcomes(&judged);
        if there_are_none {
            let _ = writeln!(
                text,
                "\nno event files of other implementations in {}; `broadcheck matrix` writes them",
                folder.display()
            );
        }
        print(&text)?;
        Ok(Ending::Conforms)
    }
}
