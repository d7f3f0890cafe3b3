//! A campaign: generated programs on an implementation until time, cases or patience run out, judged by the oracles.
//!
//! A worker is an adapter process, and a thread that makes cases and asks the reference while the adapter is busy, and
//! judges what it answers: no thread waits for another. All share a [`Journal`], in which a finding stands before the next
//! result is looked at. A kill at any moment loses nothing that was found; the same seed makes the same cases whatever
//! the number of workers; and the shards of a campaign together are the whole.
//!
//! The cases can also be those of a small [world](crate::generate::bounded_exhaustive), all of them, and nothing else changes.
//!
//! # How it survives
//!
//! What it tests crashes, hangs and takes memory. Each adapter process of `broadcheck fuzz` has an address space of 8
//! GiB (`--memory`; by `prlimit`, on Linux) and 20 seconds for a program (`--timeout`); a message of its output has at
//! most 256 MiB. Inputs have at most 256 elements, and results 4,096; in one program of 256 both have up to 34,000,
//! which is more than libtorch leaves to one thread. A process that breaks is started again; after 100 crashes and hangs
//! that are not known (`--give-up`), or if it does not start at all, the campaign ends with exit code 2. A crash counts
//! as a program's own once it has come twice, or four times if the process was killed, since others can do that too; one
//! that comes less often is a finding of `any` program, and the program is judged all the same. A crash or hang is put
//! down to the last step of the shortest beginning of the program that shows it. To find that takes a few more runs;
//! each has a tenth of the time of a program, and so have programs that are tried while a hang is reduced.
//!
//! The reference goes wrong, too, and what it goes wrong over is a finding of it: a panic is caught, and a program that
//! takes more element operations than a [budget](broadcheck_reference::BUDGET) is stopped. The implementation runs the
//! program all the same, and the other oracles judge it. A case over which the reference ends the process twice, as an
//! overflow of its stack does, is found by `--resume`, and left out.
//!
//! When the seconds of a campaign are over, or it is stopped, adapters that are busy are killed. The cases in work are
//! not judged: they are not in the checkpoint, and run again when the campaign is resumed. What is not reduced by then
//! stands in the journal and in a folder as it is, marked so, and is reduced by a campaign that is resumed.
//!
//! The journal is a header, findings, checkpoints and an end, one JSON object a line, each written by one call before
//! the campaign goes on. A checkpoint says which cases are done and what was counted over them, and only the last one
//! counts: `--resume` runs again what came after it, and what is found again in a case is the same finding. At most a
//! twentieth of a campaign, and no more than five seconds of it, is run again. A last line without an end is left out.

pub mod cases;
pub mod counts;
pub mod coverage;
pub mod executor;
pub mod groups;
pub mod journal;
pub mod plausible;
mod pursuit;
pub mod record;
pub mod row;
pub mod summary;
mod supervised;
pub mod tally;
#[cfg(test)]
mod tests;
mod working;

pub use pursuit::report;

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::adapter::{Halt, Hello, Limits, unsupported_by};
use crate::generate::bounded_exhaustive::{Bounds, World};
use crate::generate::{Exclusion, Options};
use crate::ops::Op;
use crate::program::Program;
use crate::reference::{self, Abort, AbortKind, Ask, DEATH};

use super::give_up::Breaks;
use super::runner::Start;
use crate::model::finding::{Finding, Signature};

use crate::campaign::counts::Positions;
use crate::campaign::record::Configuration;
use cases::Made;
use executor::Bench;
use journal::Journal;
use supervised::Unfinished;
use working::{DEATHS, Working};

pub use super::give_up::GIVEN_UP;
pub use pursuit::FOLDER as FINDINGS;

/// The maximum number of cases that are made and run together. Between two batches the adapter waits for a moment.
const BATCH: u64 = 1024;

/// The size of the first batch. What the end of the campaign interrupts is a whole batch, so a slow adapter gets small
/// ones.
const FIRST_BATCH: u64 = 4;

/// The time that a batch should take: not so long that the end of a campaign waits for it.
const MOMENT: Duration = Duration::from_millis(100);

/// The number of programs that tell one generator from another.
const SAMPLE: u64 = 64;

/// Names the known divergence that a finding is.
pub type Known = Box<dyn Fn(&Finding) -> Option<String> + Sync>;

/// A run of a campaign: its saved [`Configuration`], and what is of this run only, such as processes and limits of time.
pub struct Setup {
    /// The configuration, which a campaign that is resumed keeps.
    pub configuration: Configuration,
    /// The options of the generator.
    pub options: Options,
    /// The source of the cases, if it is not the seed: a small world.
    pub world: Option<World>,
    /// The programs of the cases, if they were written down.
    pub programs: Option<Arc<[Program]>>,
    /// The cases of the seed that are run in place of its first ones.
    pub chosen: Option<Arc<[u64]>>,
    /// The maximum number of cases that are made and run together.
    pub batch: u64,
    /// The implementation under test, and what it says of itself.
    pub subject: (Start, Hello),
    /// The adapter to compare with.
    pub against: Option<(Start, Hello)>,
    /// The limits on adapters.
    pub limits: Limits,
    /// The number of workers.
    pub jobs: usize,
    /// When to end.
    pub deadline: Option<Instant>,
    /// Set from outside to end as soon as all is saved.
    pub stop: Arc<AtomicBool>,
    /// After how many crashes and hangs that are not known the implementation is given up; 0 for never.
    pub give_up: u64,
    /// The known divergence that a finding is.
    pub known: Known,
    /// How the reference is asked.
    pub ask: Ask,
}

/// The programs that a configuration means for implementations that say this of themselves.
pub fn options(hello: &Hello, against: Option<&Hello>, unrestricted: bool) -> Options {
    let mut options = Options::comparable(hello);
    if let Some(against) = against {
        options.ops.retain(|op| against.ops.contains(op));
        options.dtypes.retain(|dtype| against.dtypes.contains(dtype));
    }
    if unrestricted {
        options.exclusions = Exclusion::GAPS.to_vec();
    }
    options
}

/// The small world that a configuration means for an implementation that says this of itself.
pub fn world(bounds: &Bounds, ops: &[Op], hello: &Hello) -> World {
    let mut world = World::new(bounds, ops);
    world.retain(|program| unsupported_by(hello, program).is_none());
    world
}

/// Runs a campaign, or goes on with it, and tells of its progress now and then. Says why it ended. What is in work when it
/// ends is left: cases that were not judged to the end are not done, findings that were not shrunk to the end are kept as
/// they are, and a campaign that is resumed goes on with both.
///
/// # Errors
/// When the implementation cannot be started, or the journal cannot be written. All that was found is saved.
pub fn run(
    setup: &Setup,
    mut journal: Journal,
    mut tell: impl FnMut(&Journal),
) -> Result<(Journal, &'static str), String> {
    let deadly = setup.try_suspects(&mut journal).map_err(|error| unwritable(&error))?;
    let folder = journal.folder().to_owned();
    let shared = Shared {
        setup,
        deadly,
        queue: Mutex::new(Queue { next: 0, done: journal.tally().checkpoint.done.clone() }),
        failure: Mutex::new(None),
        breaks: Mutex::new(Breaks::new(setup.give_up, Arc::default())),
        given_up: Arc::default(),
        busy: Mutex::new(None),
        journal: Mutex::new(journal),
    };
    thread::scope(|scope| {
        let (ticks, ticked) = channel::<()>();
        let (pursued, to_pursue) = channel();
        pursuit::pending(shared.journal().tally()).into_iter().for_each(|finding| send(&pursued, finding));
        for worker in 0..setup.jobs {
            let (shared, ticks, pursued, folder) = (&shared, ticks.clone(), pursued.clone(), &folder);
            scope.spawn(move || {
                let working = Working::open(folder, worker).map_err(|error| unwritable(&error));
                shared.note(working.and_then(|working| shared.work(working, &ticks, &pursued)));
            });
        }
        drop(pursued);
        let shared = &shared;
        scope.spawn(move || {
            shared.note(pursuit::pursue(setup, &shared.journal, &to_pursue, || send(&ticks, ())));
        });
        loop {
            let ticked = ticked.recv_timeout(Duration::from_millis(200));
            tell(&shared.journal());
            if ticked == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
    });
    let failure = lock(&shared.failure).take();
    let stopped = setup.stop.load(Ordering::Relaxed);
    let (busy, given_up) = (lock(&shared.busy).take(), lock(&shared.breaks).given_up());
    let kept = pursuit::keep_the_rest(&shared.journal);
    let mut journal = shared.journal.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (why, more) = match (&failure, journal.tally().complete()) {
        (Some(_), _) => ("failed", String::new()),
        _ if given_up.is_some() => (GIVEN_UP, String::new()),
        (None, Some(true)) => ("complete", String::new()),
        _ if stopped => (journal::INTERRUPTED, String::new()),
        _ => {
            let busy = busy.map(|(case, waited)| {
                format!("; case {case} had no answer for {:.1} s by then and is not judged", waited.as_secs_f64())
            });
            ("time is up", busy.unwrap_or_default())
        }
    };
    let sentence = given_up.unwrap_or_else(|| format!("{why}{more}"));
    let ended = kept.and_then(|()| journal.end(&sentence).map_err(|error| unwritable(&error)));
    let ended = ended.and_then(|()| working::clear(&folder).map_err(|error| unwritable(&error)));
    match failure {
        Some(failure) => Err(failure),
        None => ended.map(|()| (journal, why)),
    }
}

/// The state that the workers share.
struct Shared<'a> {
    setup: &'a Setup,
    /// The cases over which the reference ends the process.
    deadly: BTreeSet<u64>,
    queue: Mutex<Queue>,
    journal: Mutex<Journal>,
    /// The reason why the campaign cannot continue.
    failure: Mutex<Option<String>>,
    /// The crashes and hangs that are not known.
    breaks: Mutex<Breaks>,
    /// True if there were too many of them.
    given_up: Arc<AtomicBool>,
    /// The case that was in work longest when the campaign ended, and for how long.
    busy: Mutex<Option<(u64, Duration)>>,
}

/// The positions that nobody has taken yet.
struct Queue {
    next: u64,
    /// Those that an earlier run has done.
    done: Positions,
}

impl Shared<'_> {
    fn journal(&self) -> MutexGuard<'_, Journal> {
        lock(&self.journal)
    }

    /// Remembers the first failure; everyone else ends too.
    fn note(&self, result: Result<(), String>) {
        if let Err(why) = result {
            lock(&self.failure).get_or_insert(why);
        }
    }

    fn is_over(&self) -> bool {
        let late = self.setup.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let told = [&self.setup.stop, &self.given_up].into_iter().any(|flag| flag.load(Ordering::Relaxed));
        late || told || lock(&self.failure).is_some()
    }

    /// Takes note of an end before the last case.
    fn ended(&self, unfinished: Unfinished) -> Result<(), String> {
        match unfinished {
            Unfinished::Failed(why) => return Err(why),
            Unfinished::Halted(Some((case, waited))) => {
                let mut busy = lock(&self.busy);
                if busy.is_none_or(|(_, longest)| waited > longest) {
                    *busy = Some((case, waited));
                }
            }
            Unfinished::Halted(None) => {}
        }
        Ok(())
    }

    /// The next positions to be done, so many at most.
    fn take(&self, count: u64) -> Option<(u64, u64)> {
        let setup = self.setup;
        if self.is_over() {
            return None;
        }
        let Configuration { cases, shard, .. } = &setup.configuration;
        let limit = cases.map_or(u64::MAX / shard.of, |cases| shard.share(cases));
        let mut queue = lock(&self.queue);
        let taken = queue.done.next_gap(queue.next, count, limit)?;
        queue.next = taken.1;
        Some(taken)
    }

    /// The work of one worker.
    fn work(&self, working: Working, ticks: &Sender<()>, pursued: &Sender<(Signature, Program)>) -> Result<(), String> {
        let setup = self.setup;
        let mut halt = setup.halt();
        halt.flags.push(Arc::clone(&self.given_up));
        let mut bench = match Bench::new(setup, halt) {
            Ok(bench) => bench,
            Err(unfinished) => return self.ended(unfinished),
        };
        let batch = setup.batch.min(FIRST_BATCH);
        let mut stock = Stock { shared: self, working, batch, batches: VecDeque::new(), failure: None };
        while let Some(Batch { start, end, made }) = stock.take() {
            if self.is_over() {
                return Ok(());
            }
            let begun = Instant::now();
            let meanwhile = &mut || stock.make_one();
            let mut unwritten = None;
            let found = |case, finding: Finding| {
                let known = (setup.known)(&finding);
                let new = known.is_none();
                if new && lock(&self.breaks).is_too_many(&finding) {
                    self.given_up.store(true, Ordering::Relaxed);
                }
                let first = self.journal().found(case, &finding, known);
                match first {
                    Ok(true) if new && finding.signature.kind == DEATH => {
                        self.note(pursuit::leave(&self.journal, &finding.signature));
                    }
                    Ok(true) if new => send(pursued, (finding.signature, finding.program)),
                    Ok(_) => {}
                    Err(error) => unwritten = Some(error),
                }
                new
            };
            let counts = match &setup.world {
                Some(world) => bench.judge_calls(made, world, meanwhile, found),
                None => bench.judge(made, &setup.configuration.oracles, meanwhile, found),
            };
            let written = unwritten.map_or(Ok(()), Err);
            let counts = match counts {
                Ok(counts) => counts,
                Err(unfinished) => {
                    written.map_err(|error| unwritable(&error))?;
                    return self.ended(unfinished);
                }
            };
            let done = written.and_then(|()| self.journal().done(start, end, &counts));
            done.map_err(|error| unwritable(&error))?;
            send(ticks, ());
            stock.batch = match begun.elapsed() {
                long if long > 2 * MOMENT => (stock.batch / 2).max(1),
                short if short < MOMENT / 2 => (stock.batch * 2).min(setup.batch),
                _ => stock.batch,
            };
        }
        stock.failure.map_or(Ok(()), Err)
    }
}

/// The cases that a worker makes while it waits for its adapter: those of the batches after the one that is run.
struct Stock<'a> {
    shared: &'a Shared<'a>,
    working: Working,
    /// The maximum number of cases in a batch.
    batch: u64,
    /// Batches, of which all but the last are whole.
    batches: VecDeque<Batch>,
    /// The reason why no more cases can be made.
    failure: Option<String>,
}

/// Positions that a worker has taken, and the cases that are made of them, from the first on.
struct Batch {
    start: u64,
    end: u64,
    made: Vec<Made>,
}

impl Batch {
    /// The first position of which there is no case yet.
    fn next(&self) -> u64 {
        self.start + self.made.len() as u64
    }

    fn is_whole(&self) -> bool {
        self.next() == self.end
    }
}

impl Stock<'_> {
    /// Makes one more case, unless two batches are there or nothing is left to be done.
    fn make_one(&mut self) -> bool {
        let setup = self.shared.setup;
        let made = self.batches.iter().map(|batch| batch.made.len() as u64).sum::<u64>();
        if self.failure.is_some() || made >= 2 * self.batch {
            return false;
        }
        if self.batches.back().is_none_or(Batch::is_whole) {
            let Some((start, end)) = self.shared.take(self.batch) else { return false };
            self.batches.push_back(Batch { start, end, made: Vec::new() });
        }
        let Some(last) = self.batches.back_mut() else { return false };
        let case = setup.configuration.shard.case(last.next());
        let made = match self.shared.deadly.contains(&case) {
            true => Ok(setup.deadly(case)),
            false => self.working.on(case, || setup.make(case)),
        };
        match made {
            Ok(made) => last.made.push(made),
            Err(error) => self.failure = Some(unwritable(&error)),
        }
        self.failure.is_none()
    }

    /// The next batch, or what is made of it if that is half; the rest is another one, so that the adapter need not wait.
    fn take(&mut self) -> Option<Batch> {
        while self.batches.front().is_none_or(|first| !first.is_whole() && first.made.len() as u64 <= self.batch / 2)
            && self.make_one()
        {}
        let Batch { start, end, made } = self.batches.pop_front()?;
        let middle = start + made.len() as u64;
        if middle < end {
            self.batches.push_front(Batch { start: middle, end, made: Vec::new() });
        }
        Some(Batch { start, end: middle, made })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends to someone who may have ended, and then needs nothing more.
fn send<T>(to: &Sender<T>, what: T) {
    let _ = to.send(what);
}

fn unwritable(error: &std::io::Error) -> String {
    format!("the journal cannot be written: {error}")
}

impl Setup {
    /// Returns the setup of a configuration, with defaults for the rest.
    pub fn new(configuration: &Configuration, subject: (Start, Hello), against: Option<(Start, Hello)>) -> Setup {
        let mut options = options(&subject.1, against.as_ref().map(|(_, hello)| hello), configuration.unrestricted);
        options.ops.clone_from(&configuration.ops);
        options.swarm = configuration.swarm;
        // However often an adapter breaks, the campaign goes on.
        let limits = Limits {
            restarts: usize::MAX,
            program: Duration::from_secs(configuration.timeout),
            memory: (configuration.memory > 0).then_some(configuration.memory << 30),
            ..Limits::default()
        };
        Setup {
            configuration: configuration.clone(),
            world: configuration.world.as_ref().map(|bounds| world(bounds, &configuration.ops, &subject.1)),
            options,
            programs: None,
            chosen: None,
            batch: BATCH,
            subject,
            against,
            limits,
            jobs: 1,
            deadline: None,
            stop: Arc::default(),
            give_up: 0,
            known: Box::new(|_| None),
            ask: reference::ask,
        }
    }

    /// When adapters are left.
    fn halt(&self) -> Halt {
        Halt { deadline: self.deadline, flags: vec![Arc::clone(&self.stop)] }
    }

    /// Makes the cases once more that the reference was at when an earlier run ended, one by one: one that ends the process
    /// again stands there when the campaign is resumed next. Returns those that did.
    fn try_suspects(&self, journal: &mut Journal) -> io::Result<BTreeSet<u64>> {
        // What another hand has written there may be no case.
        let is_case = |case: &u64| self.configuration.cases.is_none_or(|cases| *case < cases);
        for case in working::left(journal.folder())?.into_iter().filter(is_case) {
            let deaths = journal.tally().suspects.get(&case).map_or(1, |deaths| deaths + 1);
            journal.suspect(case, deaths)?;
        }
        working::clear(journal.folder())?;
        let mut suspects = journal.tally().suspects.clone();
        suspects.retain(|case, _| is_case(case));
        let mut alone = Working::open(journal.folder(), 0)?;
        for (&case, _) in suspects.iter().filter(|(_, deaths)| (1..DEATHS).contains(*deaths)) {
            alone.on(case, || self.make(case))?;
            journal.suspect(case, 0)?;
        }
        Ok(suspects.into_iter().filter(|(_, deaths)| *deaths >= DEATHS).map(|(case, _)| case).collect())
    }

    /// A case over which the reference ends the process. Its program is known only if it was not generated, which the reference
    /// takes part in.
    fn deadly(&self, case: u64) -> Made {
        let program = match (&self.world, &self.programs) {
            (Some(world), _) => world.program(case),
            (None, Some(programs)) => programs[case as usize].clone(),
            (None, None) => Program::default(),
        };
        Made { case, program, expected: Err(Abort { step: None, kind: AbortKind::Died { case } }) }
    }

    /// A case.
    pub fn make(&self, case: u64) -> Made {
        match (&self.world, &self.programs) {
            (Some(world), _) => Made::of(case, world.program(case), self.ask),
            (None, Some(programs)) => Made::of(case, programs[case as usize].clone(), self.ask),
            (None, None) => {
                let of_seed = self.chosen.as_ref().map_or(case, |chosen| chosen[case as usize]);
                Made { case, ..cases::make(self.configuration.seed, of_seed, &self.options) }
            }
        }
    }

    /// The digest by which a campaign is told from one with another generator: of programs from all over it, and of all that
    /// were written down.
    pub fn sample(&self) -> String {
        if let Some(programs) = &self.programs {
            return cases::digest(programs.iter());
        }
        let apart = self.world.as_ref().map_or(1, |world| world.len().div_ceil(SAMPLE).max(1));
        let of_seed = self.chosen.as_ref().map_or(SAMPLE, |chosen| SAMPLE.min(chosen.len() as u64));
        let all = self.world.as_ref().map_or(of_seed, World::len);
        cases::digest((0..all).step_by(apart as usize).map(|case| self.make(case).program))
    }
}
