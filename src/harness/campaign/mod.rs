//! A campaign: generated programs on an implementation until time, cases or patience run out, judged by the oracles.
//!
//! A worker is an adapter process, a thread that makes cases and asks the reference, and one that runs and judges them.
//! All share a [`Book`], in which a finding stands before the next result is looked at. A kill at any moment loses
//! nothing that was found; the same seed makes the same cases whatever the number of workers; and the shards of a
//! campaign together are the whole.
//!
//! The cases can also be those of a small [world](crate::generate::world), all of them, and nothing else changes.

pub mod bench;
pub mod cases;
pub mod journal;
mod pursue;
pub mod scale;
pub mod summary;
pub mod tally;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::adapter::{Hello, Limits, unsupported_by};
use crate::case::Specification;
use crate::generate::world::{Bounds, World};
use crate::generate::{Avoid, Options};
use crate::ops::Op;
use crate::program::Program;

use super::finding::{Finding, Oracle, Signature};
use super::runner::Start;

use bench::Bench;
use cases::{Made, Shard};
use journal::{Book, Plan};
use tally::Positions;

pub use pursue::FOLDER as FINDINGS;

/// How many cases are made and run together, mostly. Between two batches the adapter waits for a moment.
const BATCH: u64 = 256;

/// How many batches a worker has in store, so that making and running cases overlap.
const STORED: usize = 2;

/// How many programs tell one generator from another.
const SAMPLE: u64 = 64;

/// Names the known divergence that a finding is.
pub type Known = Box<dyn Fn(&Finding) -> Option<String> + Sync>;

/// How a campaign is run.
pub struct Setup {
    /// What the cases are made of.
    pub seed: u64,
    /// How many cases the whole campaign has.
    pub cases: Option<u64>,
    /// Which of them.
    pub shard: Shard,
    /// What programs to make.
    pub options: Options,
    /// Where the cases come from, if not from the seed: a small world.
    pub world: Option<World>,
    /// The programs of the cases, if they were written down.
    pub programs: Option<Arc<[Program]>>,
    /// How many cases are made and run together.
    pub batch: u64,
    /// Who judges.
    pub oracles: Vec<Oracle>,
    /// The implementation under test, and what it says of itself.
    pub subject: (Start, Hello),
    /// What it is compared with.
    pub against: Option<(Start, Hello)>,
    /// What adapters are allowed.
    pub limits: Limits,
    /// How many workers there are.
    pub jobs: usize,
    /// When to end.
    pub deadline: Option<Instant>,
    /// Set from outside to end as soon as all is saved.
    pub stop: Arc<AtomicBool>,
    /// The known divergence that a finding is.
    pub known: Known,
    /// What a finding's case refers to.
    pub specification: Specification,
}

/// The programs that a plan means for implementations that say this of themselves.
pub fn options(hello: &Hello, against: Option<&Hello>, unrestricted: bool) -> Options {
    let mut options = Options::comparable(hello);
    if let Some(against) = against {
        options.ops.retain(|op| against.ops.contains(op));
        options.dtypes.retain(|dtype| against.dtypes.contains(dtype));
    }
    if unrestricted {
        options.avoid = Avoid::GAPS.to_vec();
    }
    options
}

/// The small world that a plan means for an implementation that says this of itself.
pub fn world(bounds: &Bounds, ops: &[Op], hello: &Hello) -> World {
    let mut world = World::new(bounds, ops);
    world.retain(|program| unsupported_by(hello, program).is_none());
    world
}

/// Runs a campaign, or goes on with it, and tells of its progress now and then. Says why it ended.
///
/// # Errors
/// When the implementation cannot be started, or the journal cannot be written. All that was found is saved.
pub fn run(setup: &Setup, book: Book, mut tell: impl FnMut(&Book)) -> Result<(Book, &'static str), String> {
    let shared = Shared {
        setup,
        queue: Mutex::new(Queue { next: 0, done: book.tally().checkpoint.done.clone() }),
        failure: Mutex::new(None),
        book: Mutex::new(book),
    };
    thread::scope(|scope| {
        let (ticks, ticked) = channel::<()>();
        let (pursued, to_pursue) = channel();
        pursue::pending(shared.book().tally()).into_iter().for_each(|finding| send(&pursued, finding));
        for _ in 0..setup.jobs {
            let (shared, ticks, pursued) = (&shared, ticks.clone(), pursued.clone());
            scope.spawn(move || shared.note(shared.work(scope, &ticks, &pursued)));
        }
        drop(pursued);
        let shared = &shared;
        scope.spawn(move || {
            shared.note(pursue::pursue(setup, &shared.book, &to_pursue, || send(&ticks, ())));
        });
        loop {
            let ticked = ticked.recv_timeout(Duration::from_millis(200));
            tell(&shared.book());
            if ticked == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
    });
    let failure = lock(&shared.failure).take();
    let stopped = setup.stop.load(Ordering::Relaxed);
    let mut book = shared.book.into_inner().unwrap_or_else(PoisonError::into_inner);
    let why = match (&failure, book.tally().complete()) {
        (Some(_), _) => "failed",
        (None, Some(true)) => "complete",
        _ if stopped => "interrupted",
        _ => "time is up",
    };
    let ended = book.end(why).map_err(|error| unwritable(&error));
    match failure {
        Some(failure) => Err(failure),
        None => ended.map(|()| (book, why)),
    }
}

/// What the workers share.
struct Shared<'a> {
    setup: &'a Setup,
    queue: Mutex<Queue>,
    book: Mutex<Book>,
    /// Why the campaign cannot go on.
    failure: Mutex<Option<String>>,
}

/// The positions that nobody has taken yet.
struct Queue {
    next: u64,
    /// Those that an earlier run has done.
    done: Positions,
}

impl Shared<'_> {
    fn book(&self) -> MutexGuard<'_, Book> {
        lock(&self.book)
    }

    /// Remembers the first failure; everyone else ends too.
    fn note(&self, result: Result<(), String>) {
        if let Err(why) = result {
            lock(&self.failure).get_or_insert(why);
        }
    }

    fn is_over(&self) -> bool {
        self.setup.stop.load(Ordering::Relaxed) || lock(&self.failure).is_some()
    }

    /// The next positions to be done.
    fn take(&self) -> Option<(u64, u64)> {
        let setup = self.setup;
        if self.is_over() || setup.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return None;
        }
        let limit = setup.cases.map_or(u64::MAX / setup.shard.of, |cases| setup.shard.share(cases));
        let mut queue = lock(&self.queue);
        let taken = queue.done.next_gap(queue.next, setup.batch, limit)?;
        queue.next = taken.1;
        Some(taken)
    }

    /// The work of one worker.
    fn work<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        ticks: &Sender<()>,
        pursued: &Sender<(Signature, Program)>,
    ) -> Result<(), String> {
        let setup = self.setup;
        let (store, batches) = sync_channel(STORED);
        // It ends when there is nothing more to take, or nobody who takes what it makes.
        scope.spawn(move || {
            while let Some((start, end)) = self.take() {
                let make = |position| setup.make(setup.shard.case(position));
                if store.send((start, end, (start..end).map(make).collect::<Vec<_>>())).is_err() {
                    return;
                }
            }
        });
        let mut bench = Bench::new(setup)?;
        for (start, end, batch) in batches {
            if self.is_over() {
                return Ok(());
            }
            let mut unwritten = None;
            let found = |case, finding: Finding| {
                let known = (setup.known)(&finding);
                let new = known.is_none();
                match self.book().found(case, &finding, known) {
                    Ok(true) if new => send(pursued, (finding.signature, finding.program)),
                    Ok(_) => {}
                    Err(error) => unwritten = Some(error),
                }
                new
            };
            let counts = match &setup.world {
                Some(world) => bench.judge_calls(batch, world, found)?,
                None => bench.judge(batch, &setup.oracles, found)?,
            };
            let done = unwritten.map_or(Ok(()), Err).and_then(|()| self.book().done(start, end, &counts));
            done.map_err(|error| unwritable(&error))?;
            send(ticks, ());
        }
        Ok(())
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
    /// How a plan is run, with the rest as it is mostly.
    pub fn new(plan: &Plan, subject: (Start, Hello), against: Option<(Start, Hello)>) -> Setup {
        let mut options = options(&subject.1, against.as_ref().map(|(_, hello)| hello), plan.unrestricted);
        options.ops.clone_from(&plan.ops);
        // However often an adapter breaks, the campaign goes on.
        let limits = Limits {
            restarts: usize::MAX,
            program: Duration::from_secs(plan.timeout),
            memory: (plan.memory > 0).then_some(plan.memory << 30),
            ..Limits::default()
        };
        Setup {
            seed: plan.seed,
            cases: plan.cases,
            shard: plan.shard,
            world: plan.world.as_ref().map(|bounds| world(bounds, &plan.ops, &subject.1)),
            options,
            programs: None,
            batch: BATCH,
            oracles: plan.oracles.clone(),
            subject,
            against,
            limits,
            jobs: 1,
            deadline: None,
            stop: Arc::default(),
            known: Box::new(|_| None),
            specification: Specification::default(),
        }
    }

    /// A case.
    pub fn make(&self, case: u64) -> Made {
        match (&self.world, &self.programs) {
            (Some(world), _) => Made::of(case, world.program(case)),
            (None, Some(programs)) => Made::of(case, programs[case as usize].clone()),
            (None, None) => cases::make(self.seed, case, &self.options),
        }
    }

    /// The digest by which a campaign is told from one with another generator: of programs from all over it.
    pub fn sample(&self) -> String {
        let apart = self.world.as_ref().map_or(1, |world| world.len().div_ceil(SAMPLE).max(1));
        let all = self.world.as_ref().map_or(SAMPLE, World::len);
        cases::digest((0..all).step_by(apart as usize).map(|case| self.make(case)))
    }
}
