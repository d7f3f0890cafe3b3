//! `broadcheck fuzz`: a campaign of generated programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::campaign::run::{Campaign, greeted};
use super::campaign::{self, chosen};
use super::runner::Named;
use super::{Ending, Failure};
use crate::harness::campaign::cases::Shard;
use crate::harness::campaign::{
    journal::{self},
    record::Plan,
};
use crate::harness::campaign::{options, plausible};
use crate::harness::model::finding::Oracle;
use crate::harness::runner::Start;

/// Run generated programs on an implementation and write down every disagreement.
///
/// Programs come out of a seed: case k of a seed is the same program in every run, whatever the number of jobs and of
/// shards. The oracles judge each; disagreements are grouped by signature, the first of each is cut down to its simplest
/// program, and all is kept in a folder from which --resume goes on, even after kill -9.
///
/// Crashes and hangs are findings too, put down to the step that causes them: the adapter is started again and the campaign
/// goes on, up to a number of them (--give-up). Each adapter process may take 8 GiB of address space (Linux; --memory) and
/// 20 seconds for a program (--timeout). Inputs have at most 256
/// elements, results at most 4,096; in one program of 256 both have up to 34,000.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck fuzz --seconds 600 --jobs 2
  broadcheck fuzz --cases 1000000 --seed 7 --shard 0/3 --out part0
  broadcheck fuzz --ops lerp,transpose,sum --cases 20000
  broadcheck fuzz --impl 'ATEN_CPU_CAPABILITY=default libtorch' --against libtorch
  broadcheck fuzz --impl 'python3 my_adapter.py' --divergences known-differences.yaml
  broadcheck fuzz --oracle mathematics --cases 20000
  broadcheck fuzz --resume --out part0

Exit codes: 0 nothing was found that is not known, 1 something was, 2 could not run, nothing was judged, or the \
implementation was given up, 130 interrupted by Ctrl-C or SIGTERM: what was found is kept, and --resume goes on.")]
pub struct Fuzz {
    /// End after so many seconds, earlier runs of a resumed campaign included [default: 60, unless --cases is given]. What
    /// is found too late to be cut down is kept as it was found; --resume goes on with it.
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// End after so many cases; a shard does its share of them.
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    cases: Option<u64>,
    /// What the cases are made of [default: 1].
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Only programs of these operations [default: all that the implementation has].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    ops: Option<Vec<String>>,
    /// How many adapter processes to run, each with a thread that makes cases for it and judges
    /// [default: half of the processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// What is tested: reference, libtorch, libtorch@VERSION, a name that `broadcheck impl list` prints, or the command of
    /// an adapter, with NAME=VALUE before it to set variables of its environment [default: libtorch].
    #[arg(long = "impl", value_name = "NAME|CMD")]
    implementation: Option<String>,
    /// Run an implementation in Python, such as numpy or pytorch, on this interpreter, with the library that is installed
    /// there, instead of the pinned one.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// What the release oracle compares it with: named in the same way.
    #[arg(long, value_name = "NAME|CMD")]
    against: Option<String>,
    /// Only part I of N, counted from 0: the cases whose number is I modulo N. `broadcheck merge` puts parts together.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Go on with the campaign in the folder. Options that are not given are those that it was begun with.
    #[arg(long)]
    resume: bool,
    /// Where the campaign is kept.
    #[arg(long, value_name = "DIR", default_value = "broadcheck-fuzz")]
    out: PathBuf,
    /// Who judges [default: reference and definition, and release if --against is given].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    oracle: Option<Vec<Judge>>,
    /// Make programs also of what has no one right outcome.
    #[arg(long)]
    unrestricted: bool,
    /// Seconds that a program may take before it is a hang [default: 20].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=plausible::MAX_TIMEOUT))]
    timeout: Option<u64>,
    /// Give the implementation up, with exit code 2, after so many crashes and hangs that are not known; 0 for never.
    #[arg(long, value_name = "N", default_value_t = campaign::GIVE_UP)]
    give_up: u64,
    /// GiB of address space that an adapter process may take; 0 for no limit [default: 8].
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u64).range(..=plausible::MAX_MEMORY))]
    memory: Option<u64>,
    /// Judge by the known differences in this file, in place of those that come with broadcheck. A campaign knows them by
    /// their `applies` and `signature`.
    #[arg(long, value_name = "FILE")]
    divergences: Option<PathBuf>,
    /// What to print.
    #[arg(long, value_enum, default_value_t = campaign::Format::Text)]
    format: campaign::Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Judge {
    Reference,
    Definition,
    Release,
    Mathematics,
}

impl Fuzz {
    pub fn run(&self) -> Result<Ending, Failure> {
        let kept = if self.resume { Some(journal::read(&self.out)?.header.plan) } else { None };
        let begun = kept.as_ref();
        if begun.is_some_and(|plan| plan.world.is_some()) {
            return Err("this is a campaign of `broadcheck exhaust`, which goes on with it".into());
        }
        let implementation = self.implementation.clone().or_else(|| begun.map(|plan| plan.implementation.clone()));
        let implementation = implementation.unwrap_or_else(|| "libtorch".to_owned());
        let against = self.against.clone().or_else(|| begun.and_then(|plan| plan.against.clone()));
        let memory = self.memory.or(begun.map(|plan| plan.memory)).unwrap_or(8);
        let named = Named::parse_on("--impl", &implementation, self.python.as_deref())?;
        let oracles = self.oracles(begun, &named.start, against.is_some())?;
        let subject = greeted(named, memory)?;
        let other = against.as_ref().map(|given| greeted(Named::parse("--against", given)?, memory)).transpose()?;

        let unrestricted = self.unrestricted || begun.is_some_and(|plan| plan.unrestricted);
        let possible = options(&subject.1, other.as_ref().map(|(_, hello)| hello), unrestricted);
        let plan = Plan {
            seed: self.seed.or(begun.map(|plan| plan.seed)).unwrap_or(1),
            cases: self.cases.or(begun.and_then(|plan| plan.cases)),
            shard: self.shard.or(begun.map(|plan| plan.shard)).unwrap_or(Shard::WHOLE),
            ops: match (&self.ops, begun) {
                (Some(names), _) => chosen(names, &possible.ops, &subject.1)?,
                (None, Some(plan)) => plan.ops.clone(),
                (None, None) => possible.ops,
            },
            unrestricted,
            world: None,
            oracles,
            implementation,
            against,
            divergences: self.divergences.clone().or_else(|| begun.and_then(|plan| plan.divergences.clone())),
            timeout: self.timeout.or(begun.map(|plan| plan.timeout)).unwrap_or(20),
            memory,
        };
        let campaign = Campaign {
            out: &self.out,
            resume: self.resume,
            jobs: self.jobs,
            seconds: self.seconds,
            give_up: self.give_up,
            format: self.format,
        };
        campaign.run(plan, begun, subject, other)
    }

    /// Who judges, if that makes sense.
    fn oracles(&self, begun: Option<&Plan>, start: &Start, against: bool) -> Result<Vec<Oracle>, Failure> {
        let mut oracles: Vec<Oracle> = match (&self.oracle, begun) {
            (Some(given), _) => given.iter().map(|judge| judge.oracle()).collect(),
            (None, Some(plan)) => plan.oracles.clone(),
            (None, None) => {
                let all = [Oracle::Reference, Oracle::Definition, Oracle::Release];
                let makes_sense = |oracle: &Oracle| match oracle {
                    Oracle::Reference => *start != Start::Reference,
                    Oracle::Definition => true,
                    // Judges where it is asked to.
                    Oracle::Mathematics => false,
                    Oracle::Release => against,
                };
                all.into_iter().filter(makes_sense).collect()
            }
        };
        oracles.sort_unstable();
        oracles.dedup();
        if oracles.contains(&Oracle::Reference) && *start == Start::Reference {
            return Err("the reference cannot judge itself: choose another --impl or --oracle definition".into());
        }
        match (oracles.contains(&Oracle::Release), against) {
            (true, false) => Err("--oracle release compares with another adapter: name it with --against".into()),
            (false, true) => Err("--against is for the release oracle: add release to --oracle".into()),
            _ => Ok(oracles),
        }
    }
}

impl Judge {
    fn oracle(self) -> Oracle {
        match self {
            Judge::Reference => Oracle::Reference,
            Judge::Definition => Oracle::Definition,
            Judge::Release => Oracle::Release,
            Judge::Mathematics => Oracle::Mathematics,
        }
    }
}
