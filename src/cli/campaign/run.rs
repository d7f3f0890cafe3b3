//! How `fuzz` and `exhaust` run a campaign: begun or gone on with, with progress, until it ends or is stopped.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use super::Format;
use crate::adapter::{Hello, Limits};
use crate::assets;
use crate::case;
use crate::cli::runner::Named;
use crate::cli::{Ending, Failure, INTERRUPTED, print, tell};
use crate::escape::visible;
use crate::harness::campaign::summary::Summary;
use crate::harness::campaign::{GIVEN_UP, Setup, run};
use crate::harness::campaign::{
    journal::{self, Book},
    record::{Header, Identity, Machine, Plan},
};
use crate::harness::model::divergence::{self, Source};
use crate::harness::runner::Start;
use crate::program::Program;

/// How a campaign is run, beside its plan.
pub struct Campaign<'a> {
    /// Where it is kept.
    pub out: &'a Path,
    /// Whether it is there already.
    pub resume: bool,
    /// How many workers there are, if that was said.
    pub jobs: Option<u16>,
    /// The seconds that it may take, if its cases do not end it.
    pub seconds: Option<u64>,
    /// After how many crashes and hangs the implementation is given up; 0 for never.
    pub give_up: u64,
    /// What to print at its end.
    pub format: Format,
    /// The programs of its cases, if they were read from a file.
    pub programs: Option<Arc<[Program]>>,
}

/// An implementation, and what it says of itself, with so many GiB of memory.
pub fn greeted(named: Named, memory: u64) -> Result<(Start, Hello), Failure> {
    let limits = Limits { memory: (memory > 0).then_some(memory << 30), ..Limits::default() };
    let hello = named.hello(&limits)?;
    Ok((named.start, hello))
}

impl Campaign<'_> {
    /// Runs the campaign of a plan, which is the one that was `begun` if it is resumed.
    pub fn run(
        &self,
        plan: Plan,
        begun: Option<&Plan>,
        subject: (Start, Hello),
        against: Option<(Start, Hello)>,
    ) -> Result<Ending, Failure> {
        if let Some(begun) = begun {
            self.same(&plan.other_than(begun))?;
        }
        let mut setup = Setup::new(&plan, subject, against);
        setup.programs.clone_from(&self.programs);
        let specification = case::load(&assets::specification()?)
            .map_err(|error| format!("the specification cannot be read\n{error}"))?;
        let source = plan.divergences.clone().map_or(Source::Own, Source::File);
        let header = Header {
            broadcheck: env!("CARGO_PKG_VERSION").to_owned(),
            suite: specification.digest.clone(),
            programs: setup.sample(),
            implementation: Identity::of(&setup.subject.1),
            against: setup.against.as_ref().map(|(_, hello)| Identity::of(hello)),
            machine: Machine::here(),
            plan,
        };
        let divergences = divergence::load(&source, &setup.subject.1, &specification)?;
        let hello = setup.subject.1.clone();
        setup.known = Box::new(move |finding| {
            divergence::known(&divergences, finding, &hello).map(|divergence| divergence.id.clone())
        });
        setup.specification = specification;
        let book = if self.resume {
            let book = Book::resume(self.out)?;
            self.same(&header.other_than(&book.tally().header))?;
            book
        } else {
            Book::create(self.out, header)?
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        setup.jobs = self.jobs.map_or((processors / 2).max(1), usize::from);
        if setup.cases.is_none() {
            let left = Duration::from_secs(self.seconds.unwrap_or(60)).saturating_sub(book.elapsed());
            setup.deadline = Instant::now().checked_add(left);
        }
        setup.give_up = self.give_up;
        stop_on_signals(&setup.stop)?;

        let progress = Progress::new(&book);
        let ran = run(&setup, book, |book| progress.show(book));
        progress.clear();
        let (book, why) = ran?;
        let summary = Summary::of(book.tally());
        let text = super::render(&summary, self.format, self.out);
        // A reader that has seen enough, such as `head`, is no failure.
        print(&text)?;
        // Whatever it has found so far is no verdict.
        if why == journal::INTERRUPTED {
            return Ok(Ending::Interrupted);
        }
        let ended = book.tally().ended.clone().unwrap_or_default();
        if why == GIVEN_UP {
            return Err(format!(
                "{} was {ended}. What was found is in {}. Repair the adapter, leave operations out with --ops, or change \
                 the number with --give-up, and go on with --resume",
                super::label(&summary.implementation),
                self.out.display()
            )
            .into());
        }
        super::ending(&summary).map_err(|nothing| format!("{nothing} ({ended})").into())
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

/// The first signal ends the campaign as soon as all is saved, the second at once.
fn stop_on_signals(stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    let stop = Arc::clone(stop);
    ctrlc::set_handler(move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        tell("stopping; what has been found is saved (once more: at once)\n");
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
        let share = 100.0 * steps.rejected as f64 / (steps.accepted as f64 + steps.rejected as f64).max(1.0);
        let (new, all) = (tally.new_groups().count(), tally.findings.len());
        let left = tally.not_reduced();
        let end = tally.header.plan.cases.map(|cases| tally.header.plan.shard.share(cases));
        let time = end.map_or(String::new(), |end| match (end.saturating_sub(counts.cases) as f64 / rate).round() {
            seconds if rate > 0.0 => format!(" of {end}, {} left", HumanDuration(Duration::from_secs(seconds as u64))),
            _ => format!(" of {end}"),
        });
        let text = format!(
            "{} cases{time}, {rate:.0}/s, {share:.0} % of steps rejected, {new} new signatures ({left} to be cut \
             down), {} known, {} restarts",
            counts.cases,
            all - new,
            counts.restarts
        );
        if self.bar.is_hidden() {
            if told.last.elapsed() >= NOW_AND_THEN {
                told.last = Instant::now();
                tell(&format!("{text}\n"));
            }
            return;
        }
        if told.groups < all {
            told.groups = all;
            let newest = tally.findings.iter().filter_map(|(group, found)| Some((found.cases.last()?, group))).max();
            if let Some((case, group)) = newest {
                let found = format!("case {case}: {}", group.signature);
                self.bar.println(visible(&found));
            }
        }
        self.bar.set_position(counts.cases);
        self.bar.set_message(text);
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
