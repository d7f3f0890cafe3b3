//! `broadcheck fuzz`: a campaign of generated programs.

mod releases;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::campaign::run::{Campaign, greeted};
use super::campaign::{self, chosen};
use super::runner::Named;
use super::{Ending, Failure};
use crate::adapter::Hello;
use crate::harness::campaign::cases::Shard;
use crate::harness::campaign::{
    journal::{self},
    record::Configuration,
};
use crate::harness::campaign::{options, plausible};
use crate::harness::corpus;
use crate::harness::model::finding::Oracle;
use crate::harness::runner::Start;
use crate::implementations;
use crate::ops::Op;
use crate::program::Program;

/// Run generated programs on an implementation and write down every disagreement.
///
/// Programs come out of a seed: case k of a seed is the same program in every run, whatever the number of jobs and of
/// shards. The oracles judge each; disagreements are grouped by signature, the first of each is reduced to its simplest
/// program, and all is kept in a folder from which --resume continues, even after kill -9. At the end the installed releases
/// of libtorch run the findings, and each finding states the first release that has it.
///
/// Crashes and hangs are findings too, attributed to the step that causes them: the adapter is restarted and the
/// campaign continues, up to a number of them (--give-up). Each adapter process may take 8 GiB of address space (Linux;
/// --memory) and 20 seconds for a program (--timeout). Inputs have at most 256 elements, results at most 4,096; in one
/// program of 256 both have up to 34,000.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck fuzz --seconds 600 --jobs 2
  broadcheck fuzz --cases 1000000 --seed 7 --shard 0/3 --out part0
  broadcheck fuzz --ops lerp,transpose,sum --cases 20000
  broadcheck fuzz --swarm --cases 100000
  broadcheck fuzz --impl 'ATEN_CPU_CAPABILITY=default libtorch' --against libtorch
  broadcheck fuzz --impl jax --against numpy
  broadcheck fuzz --impl jax --against numpy --oracle reference
  broadcheck fuzz --impl 'python3 my_adapter.py' --divergences known-differences.yaml
  broadcheck fuzz --corpus opinfo.jsonl.gz --out corpus
  broadcheck fuzz --oracle mathematics --cases 20000
  broadcheck fuzz --impl numpy --row reports/campaigns.json
  broadcheck fuzz --releases all --cases 100000
  broadcheck fuzz --releases 2.0.1,2.1.0,2.1.1 --oracle reference,release
  broadcheck fuzz --resume --out part0

Exit codes: 0 no unknown finding, 1 an unknown finding, 2 could not run, nothing was judged, or the \
implementation was given up, 130 interrupted by Ctrl-C or SIGTERM: findings are kept, and --resume continues.")]
pub struct Fuzz {
    /// End after so many seconds, earlier runs of a resumed campaign included [default: 60, unless --cases is given].
    /// What is found too late to be reduced is kept as it was found; --resume reduces it.
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// End after so many cases; a shard does its share of them.
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    cases: Option<u64>,
    /// The seed of the cases [default: 1].
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Run the programs of this file, each once, in place of generated ones. `broadcheck corpus` writes such files.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cases", "seconds", "seed", "ops", "unrestricted"])]
    corpus: Option<PathBuf>,
    /// Only programs of these operations [default: all that the implementation has].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    ops: Option<Vec<String>>,
    /// Make each program of one to three operations, which are drawn for it, beside those that write to a tensor and carry
    /// a gradient (swarm testing). What takes an operation twice, or next to a certain other one, is found sooner.
    #[arg(long, conflicts_with = "corpus")]
    swarm: bool,
    /// The number of adapter processes, each with a thread that makes cases for it and judges
    /// [default: half of the processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// The implementation under test: reference, libtorch, libtorch@VERSION, a name that `broadcheck impl list` prints,
    /// or the command of an adapter, with NAME=VALUE before it to set variables of its environment [default: libtorch].
    #[arg(long = "impl", value_name = "NAME|CMD")]
    implementation: Option<String>,
    /// Run an implementation in Python, such as numpy or pytorch, on this interpreter, with the library that is installed
    /// there, instead of the pinned one.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// A campaign on each of these releases of libtorch, with commas between them: versions, `latest`, or `all` that
    /// broadcheck knows. Each has its folder in --out, and what is new is one table with the releases that have it. With
    /// --oracle release each is compared with the one before it. A release is installed if it is missing, and removed
    /// from the cache again if it was not there before.
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["implementation", "python", "against", "shard"])]
    releases: Vec<String>,
    /// Keep newly installed releases in the cache. A release takes half a gigabyte.
    #[arg(long, requires = "releases")]
    keep: bool,
    /// Compare with this implementation, named in the same way: the release oracle. It is the only one that judges then,
    /// unless --oracle adds others.
    #[arg(long, value_name = "NAME|CMD")]
    against: Option<String>,
    /// Only part I of N, counted from 0: the cases whose number is I modulo N. `broadcheck merge` puts parts together.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Resume the campaign in the folder. Options that are not given keep the values that it was begun with.
    #[arg(long)]
    resume: bool,
    /// The folder of the campaign.
    #[arg(long, value_name = "DIR", default_value = "broadcheck-fuzz")]
    out: PathBuf,
    /// The oracles that judge [default: reference, definition and mathematics; with --against, release alone, to which
    /// this option adds].
    /// Without reference and release, which compute all of a program anew, programs also use results that are compared
    /// within a tolerance, and gradients flow through these.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    oracle: Option<Vec<Judge>>,
    /// Also make programs that have no single right outcome.
    #[arg(long)]
    unrestricted: bool,
    /// Seconds that a program may take before it is a hang [default: 20].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=plausible::MAX_TIMEOUT))]
    timeout: Option<u64>,
    /// Give the implementation up, with exit code 2, after so many unknown crashes and hangs; 0 for never.
    #[arg(long, value_name = "N", default_value_t = campaign::GIVE_UP)]
    give_up: u64,
    /// GiB of address space that an adapter process may take; 0 for no limit [default: 8, or what its adapter.toml says].
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u64).range(..=plausible::MAX_MEMORY))]
    memory: Option<u64>,
    /// Judge by the known differences in this file, in place of those that come with broadcheck. A campaign knows them by
    /// their `applies` and `signature`.
    #[arg(long, value_name = "FILE")]
    divergences: Option<PathBuf>,
    /// Do not look for the first release that has each new finding of libtorch. Without this option every installed release
    /// runs the findings once the campaign is complete; adapters that an older broadcheck built are built anew.
    #[arg(long)]
    no_bisect: bool,
    /// Also write the row of the campaign in reports/implementations.md to a file of rows, as JSON, in place of an older row of
    /// the same implementation: `broadcheck report` reads reports/campaigns.json.
    #[arg(long, value_name = "FILE")]
    row: Option<PathBuf>,
    #[command(flatten)]
    printed: campaign::Printed,
}

/// The options that `check --corpus FILE` has in common with a campaign.
pub struct RunOptions<'a> {
    /// Where the campaign is kept.
    pub out: &'a Path,
    /// How many workers there are, if that was said.
    pub jobs: Option<u16>,
    /// Seconds that a program may take.
    pub timeout: u64,
    /// After how many crashes and hangs the implementation is given up; 0 for never.
    pub give_up: u64,
    /// The file of its known differences.
    pub divergences: Option<&'a Path>,
    /// What to print.
    pub printed: campaign::Printed,
}

/// A campaign before its first case.
struct Ready {
    /// What it was begun with, if it is resumed.
    begun: Option<Configuration>,
    configuration: Configuration,
    subject: (Start, Hello),
    other: Option<(Start, Hello)>,
    programs: Option<Arc<[Program]>>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Judge {
    Reference,
    Definition,
    Release,
    Mathematics,
}

impl Fuzz {
    /// The campaign of `check --corpus FILE`.
    pub fn of_corpus(corpus: &Path, implementation: &str, python: Option<&Path>, run: &RunOptions<'_>) -> Fuzz {
        Fuzz {
            seconds: None,
            cases: None,
            seed: None,
            corpus: Some(corpus.to_owned()),
            ops: None,
            swarm: false,
            jobs: run.jobs,
            implementation: Some(implementation.to_owned()),
            python: python.map(Path::to_owned),
            releases: Vec::new(),
            keep: false,
            against: None,
            shard: None,
            resume: false,
            out: run.out.to_owned(),
            oracle: None,
            unrestricted: false,
            timeout: Some(run.timeout),
            give_up: run.give_up,
            memory: None,
            divergences: run.divergences.map(Path::to_owned),
            no_bisect: false,
            row: None,
            printed: run.printed,
        }
    }

    pub fn run(&self) -> Result<Ending, Failure> {
        if !self.releases.is_empty() {
            return releases::run(self);
        }
        let ready = self.prepare()?;
        let campaign = self.campaign(&ready);
        campaign.run(ready.configuration, ready.begun.as_ref(), ready.subject, ready.other)
    }

    /// What --resume, the other options and the implementations come to.
    fn prepare(&self) -> Result<Ready, Failure> {
        let kept = if self.resume { Some(journal::read(&self.out)?.header.configuration) } else { None };
        let begun = kept.as_ref();
        if begun.is_some_and(|configuration| configuration.world.is_some()) {
            return Err("this is a campaign of `broadcheck exhaust`: resume it with that command".into());
        }
        let implementation =
            self.implementation.clone().or_else(|| begun.map(|configuration| configuration.implementation.clone()));
        let implementation = implementation.unwrap_or_else(|| "libtorch".to_owned());
        let against = self.against.clone().or_else(|| begun.and_then(|configuration| configuration.against.clone()));
        let memory = match self.memory.or(begun.map(|configuration| configuration.memory)) {
            Some(memory) => memory,
            None => memory_of(&implementation)?.unwrap_or(8),
        };
        let named = Named::parse_on("--impl", &implementation, self.python.as_deref())?;
        let oracles = self.oracles(begun, &named.start, against.is_some())?;
        let subject = greeted(named, memory)?;
        let other = against.as_ref().map(|given| greeted(Named::parse("--against", given)?, memory)).transpose()?;

        let corpus = self.corpus.clone().or_else(|| begun.and_then(|configuration| configuration.corpus.clone()));
        let programs: Option<Arc<[Program]>> = corpus.as_deref().map(corpus::read).transpose()?.map(Arc::from);
        let unrestricted =
            self.unrestricted || programs.is_some() || begun.is_some_and(|configuration| configuration.unrestricted);
        let possible = options(&subject.1, other.as_ref().map(|(_, hello)| hello), unrestricted);
        let configuration = Configuration {
            seed: self.seed.or(begun.map(|configuration| configuration.seed)).unwrap_or(1),
            cases: programs
                .as_ref()
                .map(|programs| programs.len() as u64)
                .or(self.cases)
                .or(begun.and_then(|configuration| configuration.cases)),
            shard: self.shard.or(begun.map(|configuration| configuration.shard)).unwrap_or(Shard::WHOLE),
            ops: match (&self.ops, begun) {
                _ if programs.is_some() => used(programs.as_deref().unwrap_or_default()),
                (Some(names), _) => chosen(names, &possible.ops, &subject.1)?,
                (None, Some(configuration)) => configuration.ops.clone(),
                (None, None) => possible.ops,
            },
            unrestricted,
            swarm: self.swarm || begun.is_some_and(|configuration| configuration.swarm),
            world: None,
            corpus,
            oracles,
            implementation,
            against,
            divergences: self
                .divergences
                .clone()
                .or_else(|| begun.and_then(|configuration| configuration.divergences.clone())),
            timeout: self.timeout.or(begun.map(|configuration| configuration.timeout)).unwrap_or(20),
            memory,
        };
        Ok(Ready { begun: kept, configuration, subject, other, programs })
    }

    fn campaign(&self, ready: &Ready) -> Campaign<'_> {
        Campaign {
            out: &self.out,
            resume: self.resume,
            jobs: self.jobs,
            seconds: self.seconds,
            give_up: self.give_up,
            bisect: !self.no_bisect,
            printed: self.printed,
            row: self.row.as_deref(),
            programs: ready.programs.clone(),
        }
    }

    /// The oracles, or an error if they do not fit the other options.
    fn oracles(&self, begun: Option<&Configuration>, start: &Start, against: bool) -> Result<Vec<Oracle>, Failure> {
        let mut oracles: Vec<Oracle> = match (&self.oracle, begun) {
            (Some(given), _) => given.iter().map(|judge| judge.oracle()).collect(),
            (None, Some(configuration)) => configuration.oracles.clone(),
            // A difference from PyTorch that both of two implementations have says nothing of how they compare.
            (None, None) if against => Vec::new(),
            (None, None) => {
                let all = [Oracle::Reference, Oracle::Definition, Oracle::Mathematics];
                all.into_iter().filter(|oracle| *oracle != Oracle::Reference || *start != Start::Reference).collect()
            }
        };
        if oracles.contains(&Oracle::Release) && !against {
            return Err("--oracle release compares with another implementation: name it with --against".into());
        }
        oracles.extend(against.then_some(Oracle::Release));
        oracles.sort_unstable();
        oracles.dedup();
        if oracles.contains(&Oracle::Reference) && *start == Start::Reference {
            return Err("the reference cannot judge itself: choose another --impl or --oracle definition".into());
        }
        Ok(oracles)
    }
}

/// GiB of address space that the description of an implementation asks for, if it is one that has a name.
fn memory_of(implementation: &str) -> Result<Option<u64>, Failure> {
    let known = implementations::known()?.into_iter().find(|known| known.name == implementation);
    Ok(known.and_then(|known| known.description.memory))
}

/// The operations of programs.
fn used(programs: &[Program]) -> Vec<Op> {
    let ops: BTreeSet<Op> = programs.iter().flat_map(|program| &program.steps).map(|step| step.op).collect();
    ops.into_iter().collect()
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
