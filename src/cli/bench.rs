//! `broadcheck bench`: the cost of the harness compared with the library that it tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;

use super::runner::Named;
use super::{Ending, Failure, print, tell};
use crate::adapter::{CommandLine, Limits};
use crate::assets;
use crate::harness::adapter::canned::Canned;
use crate::harness::benchmark::{self, Hypothesis, Measured, Set, Speeds, Subject};
use crate::harness::campaign;
use crate::harness::campaign::record::{Identity, Machine};
use crate::harness::json;
use crate::harness::runner::Start;
use crate::output;
use crate::report::benchmarks;

/// The file that `--write` keeps in its folder, next to the report.
const MEASURED: &str = "benchmarks.json";

/// The report that is written from that file.
const REPORT: &str = "benchmarks.md";

/// Measure the cost of the harness, as ratios to libtorch alone.
///
/// The same programs are run by libtorch in a loop of its own, by the reference, through the protocol alone, and in a
/// campaign with one and with two workers, one way after the other, --repeats times; the medians are printed.
/// The programs are those of a campaign, and calls of ten operations on pairs of small, medium and large operands that
/// broadcast, or do not. Run it on an idle machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck bench
  broadcheck bench --python .venv/bin/python --write reports

--python names a Python with the packages of benches/requirements.txt; without it the loop with Hypothesis is not measured.

Exit codes: 0 measured, 2 could not be measured. A missed target is printed and is no failure.")]
pub struct Bench {
    /// Programs of a campaign; there are as many small pairs, and fewer of the larger ones.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1000..))]
    programs: u64,
    /// The number of repetitions.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// The seed of the programs of a campaign.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The libtorch that is tested: libtorch, or libtorch@VERSION.
    #[arg(long = "impl", value_name = "NAME", default_value = "libtorch")]
    implementation: String,
    /// A Python that has NumPy, PyTorch and Hypothesis.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Write the measurements to benchmarks.json in this folder, and the report to benchmarks.md.
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Serve the answers in this file.
    #[arg(long, value_name = "FILE", hide = true)]
    canned: Option<PathBuf>,
}

/// The output of the loop with Hypothesis.
#[derive(Debug, Deserialize)]
struct Looped {
    cases: u64,
    seconds: f64,
    versions: std::collections::BTreeMap<String, String>,
}

impl Bench {
    pub fn run(&self) -> Result<Ending, Failure> {
        if let Some(file) = &self.canned {
            Canned::serve(file)?;
            return Ok(Ending::Conforms);
        }
        let named = Named::parse("--impl", &self.implementation)?;
        let Start::Adapter(command) = &named.start else {
            return Err("--impl: the cost is measured against libtorch: give libtorch, or libtorch@VERSION".into());
        };
        let hello = named.hello(&Limits::default())?;
        let scratch = tempfile::tempdir()?;
        let canned = CommandLine::new(std::env::current_exe()?).arg("bench").arg("--canned");
        let subject = Subject { command, hello: &hello, canned: &canned, scratch: scratch.path(), seed: self.seed };
        let measured = self.measure(&subject)?;
        let Some(folder) = &self.write else {
            print(&benchmarks::render(&measured))?;
            return Ok(Ending::Conforms);
        };
        let write = |name: &str, text: String| -> Result<(), Failure> {
            let path = folder.join(name);
            output::write_named(&path, text)?;
            print(&format!("{}\n", path.display()))
        };
        write(MEASURED, json::pretty(&measured))?;
        // From the file, to the last digit: `broadcheck report` writes the same.
        report(folder)?.map_or(Ok(()), |(name, text)| write(name, text))?;
        Ok(Ending::Conforms)
    }

    fn measure(&self, subject: &Subject) -> Result<Measured, Failure> {
        let mut sets = Set::all(self.programs, self.seed, &campaign::options(subject.hello, None, false));
        for set in sets.iter_mut().filter(|set| set.cases.is_some()) {
            let left_out = subject.leave_out_crashes(set)?;
            if left_out > 0 {
                tell(&format!("{}: without {left_out} that end the process\n", set.name));
            }
        }
        let mut measured = Measured {
            implementation: Identity::of(subject.hello),
            machine: Machine::here(),
            seed: self.seed,
            sets: sets.iter().map(Speeds::of).collect(),
            checks: Default::default(),
            hypothesis: None,
        };
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("a fixed template");
        let bar = ProgressBar::new(u64::from(self.repeats) * (sets.len() as u64 + 1)).with_style(style);
        for _ in 0..self.repeats {
            for (set, speeds) in sets.iter_mut().zip(&mut measured.sets) {
                bar.set_message(set.name.clone());
                subject.measure(set, speeds)?;
                bar.inc(1);
            }
            bar.set_message("the specification");
            for name in ["reference", "libtorch"] {
                let given = if name == "libtorch" { &self.implementation } else { name };
                let mut check = Command::new(std::env::current_exe()?);
                let seconds = benchmark::time(check.args(["check", "--impl", given]))?;
                measured.checks.entry(name.to_owned()).or_default().push(seconds);
            }
            if let Some(python) = &self.python {
                let Looped { cases, seconds, versions } = looped(python)?;
                let found = measured.hypothesis.get_or_insert(Hypothesis { versions, rates: Vec::new() });
                found.rates.push(cases as f64 / seconds);
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(measured)
    }
}

/// The report of the measurements that are kept in a folder, with the name of its file; `None` if there are none.
pub(super) fn report(folder: &Path) -> Result<Option<(&'static str, String)>, Failure> {
    let path = folder.join(MEASURED);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(_) if !path.exists() => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", path.display()).into()),
    };
    let measured: Measured = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Some((REPORT, benchmarks::render(&measured))))
}

/// Runs the loop with Hypothesis for some seconds.
fn looped(python: &Path) -> Result<Looped, Failure> {
    let script = assets::path("benches/hypothesis_loop.py")?;
    let output = Command::new(python).arg(&script).arg("10").output();
    let output = output.map_err(|error| format!("--python {}: {error}", python.display()))?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr).trim_end().lines().last().unwrap_or_default().to_owned();
        format!("--python {}: {}: {error}: {said}", python.display(), script.display()).into()
    })
}
