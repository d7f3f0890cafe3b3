//! `broadcheck validate-adapter`: checks that a program follows the rules of the adapter protocol.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;

use super::{Ending, Failure, print};
use crate::adapter::validate::{Trial, Validation, validate};
use crate::adapter::{CommandLine, Limits};
use crate::assets;
use crate::case;
use crate::escape::visible;

/// Check that a program follows the rules of the adapter protocol, and explain every rule that it breaks.
///
/// It gets a `hello`, a line that is not a request, and then programs with every operation and form that it has
/// declared. Results are not judged: `check` does that.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck validate-adapter -- python3 my_adapter.py
  broadcheck validate-adapter --all -- ./my-adapter --wide

Exit codes: 0 follows the rules, 1 breaks some, 2 could not run.")]
pub struct ValidateAdapter {
    /// Run every program of the specification that the adapter declares to support, not a few for each operation.
    #[arg(long)]
    all: bool,
    /// The adapter's command.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Programs for each operation and form, unless all are asked for.
const EACH: usize = 3;
/// The most places that are shown for one rule.
const SHOWN: usize = 5;

impl ValidateAdapter {
    pub fn run(&self) -> Result<Ending, Failure> {
        let specification = case::load(&assets::specification()?)
            .map_err(|error| format!("the specification cannot be read\n{error}"))?;
        let (program, args) = self.command.split_first().expect("clap asks for one");
        let command = args.iter().fold(CommandLine::new(program), |command, word| command.arg(word));
        let trials: Vec<Trial> = specification.cases.iter().map(|case| (case.id.as_str(), &case.program)).collect();
        let found = validate(&command, &Limits::default(), &trials, (!self.all).then_some(EACH))?;
        print(&text(&found))?;
        Ok(if found.violations.is_empty() { Ending::Conforms } else { Ending::Differs })
    }
}

fn text(found: &Validation) -> String {
    let mut text = String::new();
    if let Some(hello) = &found.hello {
        let _ = writeln!(
            text,
            "{} {}: {} operations, {} dtypes; {} programs",
            visible(&hello.name),
            visible(&hello.version),
            hello.ops.len(),
            hello.dtypes.len(),
            found.programs
        );
    }
    let mut by_advice: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for violation in &found.violations {
        let place = visible(&format!("{}: {}", violation.place, violation.what)).into_owned();
        by_advice.entry(violation.advice).or_default().push(place);
    }
    let red = anstyle::AnsiColor::Red.on_default().bold();
    for (advice, places) in &by_advice {
        for place in places.iter().take(SHOWN) {
            let _ = writeln!(text, "\n{red}wrong{red:#}  {place}");
        }
        if places.len() > SHOWN {
            let _ = writeln!(text, "       and {} more places", places.len() - SHOWN);
        }
        let _ = writeln!(text, "       {advice}");
    }
    if !found.ended.is_empty() {
        text.push_str(
            "\nnote   these ended the adapter's process, which was restarted; `check` reports this as a crash of the library\n",
        );
        for (place, status) in &found.ended {
            let _ = writeln!(text, "       {place}: {}", visible(status));
        }
    }
    if !found.never.is_empty() {
        let names: Vec<&str> = found.never.iter().map(|op| op.info().name).collect();
        let _ = writeln!(text, "\nnote   no program got a value from {}", names.join(", "));
    }
    let _ = match (found.violations.len(), found.programs) {
        (0, 0) => {
            writeln!(text, "follows the rules of `hello`; no program was run, since the adapter supports none of them")
        }
        (0, _) => writeln!(text, "follows the rules"),
        (count, _) => writeln!(text, "\nbreaks the rules in {count} places"),
    };
    text
}
