//! `broadcheck mutants`: plants faults and checks that the oracles find them.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Ending, Failure, print};
use crate::harness::model::finding::Oracle;
use crate::harness::mutation::{self, Mutant, NONE, Outcome, Report, Search};

/// Plant faults in an implementation, one at a time, and check that the oracles find them.
///
/// Each mutant is the reference with one fault. Generated programs are run on it until the oracles find the fault, and
/// the finding is reduced to its simplest program. The reference without a fault runs as many programs: a finding there
/// is a false alarm.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck mutants
  broadcheck mutants --only maximum-drops-nan --only alpha-lost
  broadcheck mutants --format markdown > reports/mutants.md
  broadcheck mutants --common

Exit codes: 0 every fault is found (with --common, 90 % of them), without a false alarm, 1 otherwise, 2 could not run.")]
pub struct Mutants {
    /// Only this mutant; may be given more than once. `none` is the reference without a fault.
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Plant each fault in the reference too, so that only oracles that do not know the reference can find it: faults of
    /// values and gradients, of which 90 % have to be found.
    #[arg(long)]
    common: bool,
    /// The seed of the programs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most programs for each mutant.
    #[arg(long, value_name = "COUNT", default_value_t = 40_000)]
    programs: usize,
    /// The number of mutants to run at a time [default: one for each processor].
    #[arg(long, value_name = "COUNT")]
    jobs: Option<NonZeroUsize>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
}

impl Mutants {
    pub fn run(&self) -> Result<Ending, Failure> {
        let chosen = self.chosen()?;
        let search = Search { seed: self.seed, programs: self.programs, common: self.common, ..Search::default() };
        let search = if self.common { Search { patience: 0, ..search } } else { search };
        let jobs = self.jobs.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let bar = bar(chosen.len() + 1);
        let report = mutation::run(&chosen, &search, jobs, |outcome| {
            bar.set_message(outcome.id);
            bar.inc(1);
        });
        bar.finish_and_clear();
        let text = match self.format {
            Format::Text => text(&report),
            Format::Json => serde_json::to_string_pretty(&report)? + "\n",
            Format::Markdown => markdown(&report),
        };
        // A reader that closes the pipe early, such as `head`, is not an error.
        print(&text)?;
        let enough = if self.common { report.is_independent() } else { report.has_teeth() };
        Ok(if enough { Ending::Conforms } else { Ending::Differs })
    }

    fn chosen(&self) -> Result<Vec<&'static Mutant>, Failure> {
        let known = || mutation::all().chain(mutation::common()).chain([NONE]);
        if self.only.is_empty() && self.common {
            return Ok(mutation::common().collect());
        }
        if self.only.is_empty() {
            return Ok(mutation::all().collect());
        }
        let named = |id: &String| {
            let closest = || known().map(|mutant| (strsim::osa_distance(id, mutant.id), mutant.id)).min();
            known().find(|mutant| mutant.id == id).ok_or_else(|| match closest() {
                Some((_, closest)) => format!("there is no mutant `{id}`; did you mean `{closest}`?"),
                None => format!("there is no mutant `{id}`"),
            })
        };
        Ok(self.only.iter().map(named).collect::<Result<_, _>>()?)
    }
}

fn bar(length: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("mutants {bar:30} {pos}/{len} {msg}").expect("a fixed template");
    ProgressBar::new(length as u64).with_style(style)
}

/// The oracles that found a mutant.
fn oracles(outcome: &Outcome) -> String {
    let mut names: Vec<&str> = outcome.found.iter().map(|found| found.oracle.name()).collect();
    names.sort_by_key(|name| *name != Oracle::Reference.name());
    if names.is_empty() { "not found".to_owned() } else { names.join(", ") }
}

/// Programs, steps and elements of the first finding.
fn figures(outcome: &Outcome) -> [String; 3] {
    match outcome.found.first() {
        Some(found) => [found.programs, found.steps, found.elements].map(|figure| figure.to_string()),
        None => ["-".to_owned(), "-".to_owned(), "-".to_owned()],
    }
}

fn seconds(outcome: &Outcome) -> f64 {
    outcome.found.first().map_or(outcome.seconds, |found| found.seconds)
}

fn summary(report: &Report) -> String {
    let found = report.mutants.iter().filter(|mutant| !mutant.found.is_empty()).count();
    let (all, control) = (report.mutants.len(), &report.control);
    let missed = if found == all { String::new() } else { format!(", {} not found", all - found) };
    let control = match control.found.first() {
        None => format!("nothing is found without a fault, in {} programs", control.programs),
        Some(found) => format!("a FALSE REPORT without a fault: {}", found.signature),
    };
    format!("{found} of {all} planted faults found{missed}; {control}")
}

fn text(report: &Report) -> String {
    let width = report.mutants.iter().map(|mutant| mutant.id.len()).max().unwrap_or(0);
    let mut text = format!("{:width$}  programs  seconds  steps  elements  found by\n", "mutant");
    for mutant in &report.mutants {
        let [programs, steps, elements] = figures(mutant);
        let (id, seconds, oracles) = (mutant.id, seconds(mutant), oracles(mutant));
        let _ = writeln!(text, "{id:width$}  {programs:>8}  {seconds:>7.2}  {steps:>5}  {elements:>8}  {oracles}");
    }
    let _ = writeln!(text, "\n{}", summary(report));
    text
}

fn markdown(report: &Report) -> String {
    let mut text = format!(
        "# Planted faults\n\n\
         What `broadcheck mutants --format markdown` printed, with seed {}: an implementation with one fault at a time, \
         and the oracles that found it,\nafter how many programs and seconds, and the size of the simplest program that \
         shows it. Seconds are those of one machine.\n\n{}.\n",
        report.seed,
        summary(report)
    );
    let mut family = "";
    for mutant in &report.mutants {
        if mutant.family != family {
            family = mutant.family;
            let _ = write!(
                text,
                "\n## {}{}\n\n| mutant | the fault | found by | programs | steps | elements | seconds |\n\
                 |---|---|---|---:|---:|---:|---:|\n",
                family[..1].to_uppercase(),
                &family[1..]
            );
        }
        let [programs, steps, elements] = figures(mutant);
        let (id, what, seconds, oracles) = (mutant.id, mutant.what, seconds(mutant), oracles(mutant));
        let _ = writeln!(text, "| {id} | {what} | {oracles} | {programs} | {steps} | {elements} | {seconds:.2} |");
    }
    text
}
