//! `broadcheck coverage`: the functions, dtypes, shapes and rejections that generated programs reach.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;

use super::campaign::{Format, json};
use super::{Ending, Failure, print};
use crate::adapter::Implementation;
use crate::harness::campaign::coverage::{self, Clause, Seen};
use crate::harness::campaign::options;
use crate::ops::{Form, Op};
use crate::reference::Reference;
use crate::report::thousands as number;
use crate::tensor::DType;

/// Count the operations, dtypes and shapes in generated programs, as the reference accepts and rejects them.
///
/// The programs are those of `broadcheck fuzz` with the same seed on an implementation that supports every operation.
/// Counted is each function in each form: the dtypes of its tensors, the statements of the documents on the shapes of
/// operands that broadcast, and the classes of rejection. At the end are the steps that were proposed and left out, by
/// reason, and the combinations that were not generated: without --unrestricted these include what
/// src/oracles/generate/exclusions.rs excludes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck coverage
  broadcheck coverage --unrestricted
  broadcheck coverage --cases 1000000 --seed 7 --format json

Exit codes: 0 every combination was generated, 1 some were not.")]
pub struct Coverage {
    /// The number of programs.
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    cases: u64,
    /// The seed of the programs.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Also make programs that have no single right outcome.
    #[arg(long)]
    unrestricted: bool,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Serialize)]
struct Report<'a> {
    seed: u64,
    coverage: &'a coverage::Coverage,
    gaps: Vec<String>,
}

impl Coverage {
    pub fn run(&self) -> Result<Ending, Failure> {
        let bar = ProgressBar::new(self.cases);
        let options = options(&Reference.hello(), None, self.unrestricted);
        let coverage = coverage::Coverage::of(self.seed, self.cases, &options, |made| bar.inc(made));
        bar.finish_and_clear();
        let gaps: Vec<String> = coverage.gaps(Op::ALL).iter().map(ToString::to_string).collect();
        let ending = if gaps.is_empty() { Ending::Conforms } else { Ending::Differs };
        let text = match self.format {
            Format::Text => self.text(&coverage, &gaps),
            Format::Json => json(&Report { seed: self.seed, coverage: &coverage, gaps }),
        };
        // A reader that closes the pipe early, such as `head`, is not an error.
        print(&text)?;
        Ok(ending)
    }

    fn text(&self, coverage: &coverage::Coverage, gaps: &[String]) -> String {
        let mut text = String::new();
        let mut row = |name: &str, seen: Seen| {
            let _ = writeln!(text, "{name:<44} {:>10} {:>10}", number(seen.accepted), number(seen.rejected));
        };
        let mut dtypes: BTreeMap<DType, Seen> = BTreeMap::new();
        let mut clauses: BTreeMap<Clause, Seen> = BTreeMap::new();
        let mut rejections = BTreeMap::new();
        for (op, forms) in &coverage.functions {
            for (form, of) in forms {
                let call = match form {
                    Form::Functional => op.name().to_owned(),
                    Form::InPlace => format!("{}_", op.name()),
                    Form::Out => format!("{} out=", op.name()),
                };
                row(&call, of.steps);
                of.dtypes.iter().for_each(|(dtype, seen)| *dtypes.entry(*dtype).or_default() += *seen);
                of.clauses.iter().for_each(|(clause, seen)| *clauses.entry(*clause).or_default() += *seen);
                for (class, count) in &of.rejections {
                    *rejections.entry((op.info().family(), *class)).or_insert(0) += count;
                }
            }
        }
        for (dtype, seen) in dtypes {
            row(&dtype.to_string(), seen);
        }
        for (clause, seen) in clauses {
            row(clause.id(), seen);
        }
        for ((family, class), rejected) in rejections {
            row(&format!("{family:?}, rejected for {class}"), Seen { accepted: 0, rejected });
        }
        row("all", coverage.steps);
        let mut left_out: Vec<(&String, &u64)> = coverage.left_out.iter().collect();
        left_out.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (reason, count) in left_out {
            let _ = writeln!(text, "{:>10} steps left out: {reason}", number(*count));
        }
        for gap in gaps {
            let _ = writeln!(text, "{gap}");
        }
        let (programs, steps) = (number(coverage.programs), coverage.steps);
        let all = steps.accepted + steps.rejected;
        let refused = 100.0 * steps.rejected as f64 / all.max(1) as f64;
        let _ = writeln!(
            text,
            "{programs} programs of seed {}: {} steps, {refused:.1} % of them rejected; {} combinations left out",
            self.seed,
            number(all),
            gaps.len()
        );
        text
    }
}
