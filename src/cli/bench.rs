//! `broadcheck bench`: what the harness costs beside the library that it tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::runner::Named;
use super::{Ending, Failure, print};
use crate::adapter::{CommandLine, Limits};
use crate::assets;
use crate::harness::benchmark::{self, Hypothesis, Measured, Set, Soak, Speeds, Subject};
use crate::harness::campaign;
use crate::harness::campaign::record::{Identity, Machine};
use crate::harness::runner::Start;
use crate::output;
use crate::report::{benchmarks, thousands};

/// The files that `--write` keeps in its folder, beside what is made of them.
const MEASURED: &str = "benchmarks.json";
const SOAKED: &str = "soak.json";

/// Measure what the harness costs, as ratios to libtorch alone.
///
/// The same programs are run by libtorch in a loop of its own, by the reference, through the protocol alone, and in a
/// campaign with one and with two workers, one way after the other, as often as --repeats says; what is printed are medians.
/// The programs are those of a campaign, and calls of ten operations on pairs of small, medium and large operands that
/// broadcast, or do not. Run it on a machine that has nothing else to do.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck bench
  broadcheck bench --python .venv/bin/python --write reports
  broadcheck bench --soak 10000000 --write reports

--python names a Python with the packages of benches/requirements.txt; without it the loop with Hypothesis is not measured.

Exit codes: 0 measured, 2 could not be. Targets that are missed are told, and no failure.")]
pub struct Bench {
    /// Programs of a campaign; there are as many small pairs, and fewer of the larger ones.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1000..))]
    programs: u64,
    /// How often all of it is measured.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// What the programs of a campaign are made of.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The libtorch that is tested: libtorch, or libtorch@VERSION.
    #[arg(long = "impl", value_name = "NAME", default_value = "libtorch")]
    implementation: String,
    /// A Python that has NumPy, PyTorch and Hypothesis.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Run one campaign of so many cases instead, and look at its speed and its memory on the way.
    #[arg(long, value_name = "CASES", conflicts_with_all = ["programs", "repeats", "python"])]
    soak: Option<u64>,
    /// How many workers the long campaign has.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "soak")]
    jobs: usize,
    /// Keep what was measured in this folder, and write benchmarks.md and benchmarks.svg there.
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// Serve the answers in this file.
    #[arg(long, value_name = "FILE", hide = true)]
    canned: Option<PathBuf>,
}

/// What the loop with Hypothesis prints.
#[derive(Debug, Deserialize)]
struct Looped {
    cases: u64,
    seconds: f64,
    versions: std::collections::BTreeMap<String, String>,
}

impl Bench {
    pub fn run(&self) -> Result<Ending, Failure> {
        if let Some(file) = &self.canned {
            benchmark::serve_canned(file)?;
            return Ok(Ending::Conforms);
        }
        let named = Named::parse("--impl", &self.implementation)?;
        let Start::Adapter(command) = &named.start else {
            return Err(
                "--impl: what is measured is the cost beside a library: name libtorch, or libtorch@VERSION".into()
            );
        };
        let hello = named.hello(&Limits::default())?;
        let scratch = tempfile::tempdir()?;
        let canned = CommandLine::new(std::env::current_exe()?).arg("bench").arg("--canned");
        let subject = Subject { command, hello: &hello, canned: &canned, scratch: scratch.path(), seed: self.seed };
        let (measured, soaked) = match self.soak {
            Some(cases) => (None, Some(self.soak(&subject, cases)?)),
            None => (Some(self.measure(&subject)?), None),
        };
        self.tell(measured, soaked)
    }

    fn measure(&self, subject: &Subject) -> Result<Measured, Failure> {
        let mut sets = Set::all(self.programs, self.seed, &campaign::options(subject.hello, None, false));
        let mut measured = Measured {
            implementation: Identity::of(subject.hello),
            machine: Machine::here(),
            seed: self.seed,
            sets: sets.iter().map(Speeds::of).collect(),
            checks: Default::default(),
            hypothesis: None,
        };
        let bar = bar(u64::from(self.repeats) * (sets.len() as u64 + 1));
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

    fn soak(&self, subject: &Subject, cases: u64) -> Result<Soak, Failure> {
        let bar = bar(cases);
        let soaked = subject.soak(cases, self.jobs, |point| bar.set_position(point.cases))?;
        bar.finish_and_clear();
        if let (Some(first), Some(last)) = (soaked.points.first(), soaked.points.last()) {
            let mib = |bytes: u64| bytes >> 20;
            print(&format!(
                "{} cases in {:.0} s; memory of the harness {} MiB at first, {} MiB at last, of the adapters {} and {} MiB\n",
                thousands(last.cases),
                last.seconds,
                mib(first.harness),
                mib(last.harness),
                mib(first.adapters),
                mib(last.adapters),
            ))?;
        }
        Ok(soaked)
    }

    /// Prints what was measured, and keeps it with what was measured before of the other kind.
    fn tell(&self, measured: Option<Measured>, soaked: Option<Soak>) -> Result<Ending, Failure> {
        let Some(folder) = &self.write else {
            if let Some(measured) = measured {
                print(&benchmarks::render(&measured, soaked.as_ref()))?;
            }
            return Ok(Ending::Conforms);
        };
        keep(&folder.join(MEASURED), measured.as_ref())?;
        keep(&folder.join(SOAKED), soaked.as_ref())?;
        let written = reports(folder)?;
        if written.is_empty() {
            return Err(format!("{} is kept; `broadcheck bench --write` makes the report with it", SOAKED).into());
        }
        for (name, text) in written {
            let path = folder.join(name);
            output::write_named(&path, text)?;
            print(&format!("{}\n", path.display()))?;
        }
        Ok(Ending::Conforms)
    }
}

/// The reports of the measurements that are kept in a folder; none if there are none.
pub(super) fn reports(folder: &Path) -> Result<Vec<(&'static str, String)>, Failure> {
    let Some(measured) = kept::<Measured>(&folder.join(MEASURED))? else { return Ok(Vec::new()) };
    Ok(benchmarks::files(&measured, kept::<Soak>(&folder.join(SOAKED))?.as_ref())?)
}

fn bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("a fixed template");
    ProgressBar::new(length).with_style(style)
}

fn keep(path: &Path, what: Option<&impl Serialize>) -> Result<(), Failure> {
    let Some(what) = what else { return Ok(()) };
    let text = serde_json::to_string_pretty(what)? + "\n";
    Ok(output::write_named(path, text)?)
}

fn kept<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)),
        Err(_) if !path.exists() => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display()).into()),
    }
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
