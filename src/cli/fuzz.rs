//! `broadcheck fuzz`: a campaign of generated programs.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use super::runner::{Named, did_you_mean};
use super::{Ending, Failure, campaign};
use crate::adapter::{Hello, Limits};
use crate::case;
use crate::harness::campaign::cases::Shard;
use crate::harness::campaign::journal::{self, Book, Header, Identity, Machine, Plan};
use crate::harness::campaign::summary::Summary;
use crate::harness::campaign::{Setup, options, run, sample};
use crate::harness::divergence;
use crate::harness::finding::Oracle;
use crate::harness::runner::Start;
use crate::ops::Op;

/// Run generated programs on an implementation and write down every disagreement.
///
/// Programs come out of a seed: case k of a seed is the same program in every run, whatever the number of jobs and of
/// shards. The oracles judge each; disagreements are grouped by signature, the first of each is cut down to its simplest
/// program, and all is kept in a folder from which --resume goes on, even after kill -9.
///
/// Crashes and hangs are findings too: the adapter is started again and the campaign goes on. Each adapter process may
/// take 8 GiB of address space (Linux; --memory) and 20 seconds for a program (--timeout). Inputs have at most 256
/// elements, results at most 4,096; in one program of 256 both have up to 34,000.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck fuzz --seconds 600 --jobs 2
  broadcheck fuzz --cases 1000000 --seed 7 --shard 0/3 --out part0
  broadcheck fuzz --ops lerp,transpose,sum --cases 20000
  broadcheck fuzz --impl 'ATEN_CPU_CAPABILITY=default libtorch' --against libtorch
  broadcheck fuzz --resume --out part0

Exit codes: 0 nothing was found that is not known, 1 something was, 2 could not run, or nothing was judged.")]
pub struct Fuzz {
    /// End after so many seconds, earlier runs of a resumed campaign included [default: 60, unless --cases is given].
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
    /// How many adapter processes to run, each with a thread that makes cases and one that judges
    /// [default: half of the processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// What is tested: reference, libtorch, libtorch@VERSION, or the command of an adapter, with NAME=VALUE before it to
    /// set variables of its environment [default: libtorch].
    #[arg(long = "impl", value_name = "NAME|CMD")]
    implementation: Option<String>,
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
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// GiB of address space that an adapter process may take; 0 for no limit [default: 8].
    #[arg(long, value_name = "GIB")]
    memory: Option<u64>,
    /// What to print.
    #[arg(long, value_enum, default_value_t = campaign::Format::Text)]
    format: campaign::Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Judge {
    Reference,
    Definition,
    Release,
}

impl Fuzz {
    pub fn run(&self) -> Result<Ending, Failure> {
        let kept = if self.resume { Some(journal::read(&self.out)?.header.plan) } else { None };
        let begun = kept.as_ref();
        let implementation = self.implementation.clone().or_else(|| begun.map(|plan| plan.implementation.clone()));
        let implementation = implementation.unwrap_or_else(|| "libtorch".to_owned());
        let against = self.against.clone().or_else(|| begun.and_then(|plan| plan.against.clone()));
        let memory = self.memory.or(begun.map(|plan| plan.memory)).unwrap_or(8);
        let limits = Limits { memory: (memory > 0).then_some(memory << 30), ..Limits::default() };
        let named = Named::parse("--impl", &implementation)?;
        let oracles = self.oracles(begun, &named.start, against.is_some())?;
        let subject = (named.start.clone(), named.hello(&limits)?);
        let other = against.as_ref().map(|given| {
            let named = Named::parse("--against", given)?;
            let hello = named.hello(&limits)?;
            Ok::<_, Failure>((named.start, hello))
        });
        let other = other.transpose()?;

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
            oracles,
            implementation,
            against,
            timeout: self.timeout.or(begun.map(|plan| plan.timeout)).unwrap_or(20),
            memory,
        };
        if let Some(begun) = begun {
            self.same(&plan.other_than(begun))?;
        }
        let mut setup = Setup::new(&plan, subject, other);
        let specification = case::load(&case::default_folder())
            .map_err(|error| format!("the specification cannot be read\n{error}"))?;
        let header = Header {
            broadcheck: env!("CARGO_PKG_VERSION").to_owned(),
            suite: specification.digest.clone(),
            programs: sample(plan.seed, &setup.options),
            implementation: Identity::of(&setup.subject.1),
            against: setup.against.as_ref().map(|(_, hello)| Identity::of(hello)),
            machine: Machine::here(),
            plan,
        };
        let divergences = divergence::load(&setup.subject.1, &specification)?;
        let hello = setup.subject.1.clone();
        setup.known = Box::new(move |finding| {
            divergence::known(&divergences, finding, &hello).map(|divergence| divergence.id.clone())
        });
        setup.specification = specification;
        let book = if self.resume {
            let book = Book::resume(&self.out)?;
            self.same(&header.other_than(&book.tally().header))?;
            book
        } else {
            Book::create(&self.out, header)?
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        setup.jobs = self.jobs.map_or((processors / 2).max(1), usize::from);
        if setup.cases.is_none() {
            let left = Duration::from_secs(self.seconds.unwrap_or(60)).saturating_sub(book.elapsed());
            setup.deadline = Instant::now().checked_add(left);
        }
        stop_on_signals(&setup.stop)?;

        let progress = Progress::new(&book);
        let ran = run(&setup, book, |book| progress.show(book));
        progress.clear();
        let (book, why) = ran?;
        let summary = Summary::of(book.tally());
        let text = campaign::render(&summary, self.format, &self.out);
        // A reader that has seen enough, such as `head`, is no failure.
        let _ = anstream::stdout().write_all(text.as_bytes());
        campaign::ending(&summary).map_err(|nothing| format!("{nothing} ({why})").into())
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

    fn same(&self, differing: &[String]) -> Result<(), Failure> {
        if differing.is_empty() {
            return Ok(());
        }
        let (folder, differing) = (self.out.display(), differing.join(", "));
        Err(format!("--resume: the campaign in {folder} was begun otherwise: {differing}; begin another with --out")
            .into())
    }
}

impl Judge {
    fn oracle(self) -> Oracle {
        match self {
            Judge::Reference => Oracle::Reference,
            Judge::Definition => Oracle::Definition,
            Judge::Release => Oracle::Release,
        }
    }
}

/// The operations with these names.
fn chosen(names: &[String], possible: &[Op], hello: &Hello) -> Result<Vec<Op>, Failure> {
    let mut ops = Vec::new();
    for name in names {
        let Some((op, _)) = Op::parse(name) else {
            let known = Op::ALL.iter().map(|op| op.name());
            return Err(
                format!("there is no operation `{name}`{}", did_you_mean(name, known, "see `broadcheck ops`")).into()
            );
        };
        if !possible.contains(&op) {
            return Err(format!("{} has no operation `{op}`", hello.name).into());
        }
        ops.push(op);
    }
    ops.sort_unstable();
    ops.dedup();
    Ok(ops)
}

/// The first signal ends the campaign as soon as all is saved, the second at once.
fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    let stop = Arc::clone(stop);
    ctrlc::set_handler(move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        anstream::eprintln!("stopping; what has been found is saved (once more: at once)");
    })?;
    Ok(())
}

/// Progress on standard error: a line that changes on a terminal, else a line now and then.
struct Progress {
    bar: ProgressBar,
    begun: Instant,
    /// Cases that earlier runs have done.
    before: u64,
    told: std::cell::RefCell<Told>,
}

/// What has been told already.
struct Told {
    groups: usize,
    last: Instant,
}

/// How often there is a line without a terminal.
const NOW_AND_THEN: Duration = Duration::from_secs(10);

impl Progress {
    fn new(book: &Book) -> Progress {
        let tally = book.tally();
        let plan = &tally.header.plan;
        let bar = if !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else if let Some(cases) = plan.cases {
            let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg}").expect("a fixed template");
            ProgressBar::new(plan.shard.share(cases)).with_style(style)
        } else {
            ProgressBar::new_spinner()
        };
        let told = Told { groups: tally.findings.len(), last: Instant::now() };
        let before = tally.checkpoint.counts.cases;
        Progress { bar, begun: Instant::now(), before, told: told.into() }
    }

    fn show(&self, book: &Book) {
        let tally = book.tally();
        let mut told = self.told.borrow_mut();
        let counts = &tally.checkpoint.counts;
        let steps = counts.steps();
        let rate = (counts.cases - self.before) as f64 / self.begun.elapsed().as_secs_f64().max(0.001);
        let share = 100.0 * steps.rejected as f64 / ((steps.accepted + steps.rejected) as f64).max(1.0);
        let (new, all) = (tally.new_groups().count(), tally.findings.len());
        let left = tally.new_groups().filter(|(_, found)| found.pursued.is_none()).count();
        let text = format!(
            "{} cases, {rate:.0}/s, {share:.0} % of steps rejected, {new} new signatures ({left} to be cut \
             down), {} known, {} restarts",
            counts.cases,
            all - new,
            counts.restarts
        );
        if self.bar.is_hidden() {
            if told.last.elapsed() >= NOW_AND_THEN {
                told.last = Instant::now();
                anstream::eprintln!("{text}");
            }
            return;
        }
        if told.groups < all {
            told.groups = all;
            let newest = tally.findings.iter().filter_map(|(group, found)| Some((found.cases.last()?, group))).max();
            if let Some((case, group)) = newest {
                self.bar.println(format!("case {case}: {}", group.signature));
            }
        }
        self.bar.set_position(counts.cases);
        self.bar.set_message(text);
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
