//! An implementation under test that is started again as often as it takes, and which step of a program breaks it.

use std::borrow::Borrow;
use std::slice;
use std::time::Duration;

use super::Setup;
use crate::adapter::{Fault, FaultKind, Halt, Hello};
use crate::program::{Program, Reply};
use crate::runner::{Runner, Start};

/// The number of attempts to start an adapter until it counts as one that does not start: something else can kill it
/// meanwhile.
const TRIES: usize = 3;

/// The number of times a program is run alone before the last of several faults is taken for its own.
const TRIES_ALONE: usize = 8;

/// The reason why programs were not judged to the last.
#[derive(Debug)]
pub enum Unfinished {
    /// It was time to halt. The number of the program or case that the implementation was busy with, and for how long, if
    /// it was.
    Halted(Option<(u64, Duration)>),
    /// The implementation cannot be started any more.
    Failed(String),
}

impl From<Unfinished> for String {
    fn from(unfinished: Unfinished) -> String {
        match unfinished {
            Unfinished::Failed(why) => why,
            Unfinished::Halted(_) => "the run ended before the programs did".to_owned(),
        }
    }
}

impl Unfinished {
    /// The same of cases that these programs are of.
    pub fn of_cases(self, case: impl FnOnce(usize) -> u64) -> Unfinished {
        match self {
            Unfinished::Halted(Some((at, waited))) => Unfinished::Halted(Some((case(at as usize), waited))),
            other => other,
        }
    }
}

/// The outcome of a program.
pub enum Came {
    /// A reply.
    Reply(Reply),
    /// The implementation broke, and this is the shortest beginning of the program that breaks it. If the fault is not
    /// confirmed, a reply to the same program follows: something else broke the implementation while it was at it.
    Fault(Fault, Program),
}

/// The way in which a program that breaks the implementation is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// As it is.
    Whole,
    /// Up to the step that breaks it.
    ToTheStep,
}

/// An implementation that is started again as often as it takes.
pub struct Tested<'a> {
    setup: &'a Setup,
    start: &'a Start,
    /// The declaration of the implementation.
    pub hello: &'a Hello,
    halt: Halt,
    runner: Runner,
    /// Another process of it, which beginnings of programs are tried on once one has broken the first.
    second: Option<Runner>,
    /// The time for a program.
    time: Duration,
    /// Restarts of runners that are gone.
    restarts: u64,
}

impl<'a> Tested<'a> {
    /// Starts it; it is left when it is time to halt.
    pub fn start(setup: &'a Setup, start: &'a Start, hello: &'a Hello, halt: Halt) -> Result<Tested<'a>, Unfinished> {
        let runner = started(setup, start, hello, &halt)?;
        Ok(Tested { setup, start, hello, halt, runner, second: None, time: setup.limits.program, restarts: 0 })
    }

    /// Allows each program so much time from now on.
    pub fn allow(&mut self, program: Duration) {
        self.time = program;
        self.runner.allow(program);
    }

    /// Returns the number of times it was restarted.
    pub fn restarts(&self) -> u64 {
        self.restarts + self.runner.restarts() + self.second.as_ref().map_or(0, Runner::restarts)
    }

    /// Runs programs and tells of each what came of it, in no fixed order.
    pub fn run(
        &mut self,
        programs: &[impl Borrow<Program>],
        told: Told,
        meanwhile: &mut dyn FnMut() -> bool,
        mut each: impl FnMut(usize, Came),
    ) -> Result<(), Unfinished> {
        let mut again = Vec::new();
        let mut unfinished = None;
        let Tested { setup, start, hello, halt, second, runner, time, .. } = self;
        runner.run_each_while(programs, meanwhile, |at, result| match result {
            Ok(reply) => each(at, Came::Reply(reply)),
            Err(Fault { kind: FaultKind::Halted { waited }, .. }) => {
                unfinished.get_or_insert(Unfinished::Halted(waited.map(|waited| (at as u64, waited))));
            }
            Err(fault) if !fault.kind.was_run() => again.push((at, None)),
            Err(fault) if times_needed(&fault) == 1 => {
                let program = programs[at].borrow();
                let start = || started(setup, start, hello, halt).ok();
                match blame(program, &fault, told, second, start, tenth(*time)) {
                    Some(program) => each(at, Came::Fault(fault, program)),
                    None => drop(unfinished.get_or_insert(Unfinished::Halted(None))),
                }
            }
            Err(fault) => again.push((at, Some(fault))),
        });
        if let Some(unfinished) = unfinished {
            return Err(unfinished);
        }
        for (at, fault) in again {
            let program = programs[at].borrow();
            let certain = self.run_alone(program, fault, |came| each(at, came));
            let certain = certain.map_err(|unfinished| unfinished.of_cases(|_| at as u64))?;
            if let Some(fault) = certain {
                let (setup, start, hello, halt) = (self.setup, self.start, self.hello, &self.halt);
                let start = || started(setup, start, hello, halt).ok();
                let found = blame(program, &fault, told, &mut self.second, start, tenth(self.time));
                each(at, Came::Fault(fault, found.ok_or(Unfinished::Halted(None))?));
            }
        }
        Ok(())
    }

    /// Runs a program until what comes of it is certain: a reply, or the same fault as often as it takes, which is
    /// returned.
    fn run_alone(
        &mut self,
        program: &Program,
        before: Option<Fault>,
        mut each: impl FnMut(Came),
    ) -> Result<Option<Fault>, Unfinished> {
        let stray = |fault: Fault| Came::Fault(Fault { confirmed: false, ..fault }, program.clone());
        let (mut times, mut last) = (1, before);
        for _ in 0..TRIES_ALONE {
            match (self.run_one(program)?, last.take()) {
                (Ok(reply), before) => {
                    before.into_iter().for_each(|fault| each(stray(fault)));
                    each(Came::Reply(reply));
                    return Ok(None);
                }
                (Err(fault), before) => {
                    let is_same = before.as_ref().is_some_and(|before| before.kind == fault.kind);
                    times = if is_same { times + 1 } else { 1 };
                    before.into_iter().filter(|_| !is_same).for_each(|before| each(stray(before)));
                    last = Some(fault);
                }
            }
            if last.as_ref().is_some_and(|fault| times >= times_needed(fault)) {
                break;
            }
        }
        Ok(last.map(|fault| Fault { confirmed: true, ..fault }))
    }

    /// Returns the reply to a program, if there is one.
    pub fn answer(&mut self, program: &Program) -> Result<Option<Reply>, Unfinished> {
        let mut answer = None;
        self.run(slice::from_ref(program), Told::Whole, &mut || false, |_, came| {
            if let Came::Reply(reply) = came {
                answer = Some(reply);
            }
        })?;
        Ok(answer)
    }

    fn run_one(&mut self, program: &Program) -> Result<Result<Reply, Fault>, Unfinished> {
        for _ in 0..TRIES {
            match one(&mut self.runner, program) {
                Some(Err(Fault { kind: FaultKind::Halted { waited }, .. })) => {
                    return Err(Unfinished::Halted(waited.map(|waited| (0, waited))));
                }
                Some(Err(fault)) if !fault.kind.was_run() => {
                    self.restarts += self.runner.restarts() + 1;
                    self.runner = started(self.setup, self.start, self.hello, &self.halt)?;
                    self.runner.allow(self.time);
                }
                Some(result) => return Ok(result),
                None => {}
            }
        }
        Err(Unfinished::Failed(format!("{} starts, and then does not start again", self.hello.name)))
    }
}

fn one(runner: &mut Runner, program: &Program) -> Option<Result<Reply, Fault>> {
    let mut came = None;
    runner.run_each(slice::from_ref(program), |_, result| came = Some(result));
    came
}

/// The time for a program of which one much like it has hung: a tenth, but not so little that a busy machine exceeds it.
pub fn tenth(limit: Duration) -> Duration {
    (limit / 10).max(Duration::from_secs(1)).min(limit)
}

/// The shortest beginning of a program that breaks the implementation in the same way, so that its last step is the one
/// that does it: all of it but the last step is tried first, since that is what shrunk programs need, and halves after
/// that. The whole program where nothing shorter can be tried; `None` when it is time to halt.
fn blame(
    program: &Program,
    fault: &Fault,
    told: Told,
    second: &mut Option<Runner>,
    start: impl Fn() -> Option<Runner>,
    time: Duration,
) -> Option<Program> {
    let beginning = |steps: usize| {
        let (inputs, steps) = (program.inputs.clone(), program.steps[..steps].to_vec());
        Program { inputs, steps }
    };
    let (mut answered, mut broken) = (0, program.steps.len());
    if told == Told::Whole || !fault.kind.is_break() {
        return Some(program.clone());
    }
    let mut steps = broken.saturating_sub(1);
    while answered + 1 < broken {
        if second.is_none() {
            *second = start();
        }
        let Some(runner) = second else { break };
        runner.allow(time);
        match one(runner, &beginning(steps)) {
            Some(Err(Fault { kind: FaultKind::Halted { .. }, .. })) => return None,
            Some(Err(other)) if other.kind.is_as(&fault.kind) => broken = steps,
            Some(Err(other)) if !other.kind.was_run() => {
                *second = None;
                break;
            }
            _ => answered = steps,
        }
        steps = usize::midpoint(answered, broken);
    }
    Some(beginning(broken))
}

/// Returns how often a fault has to occur before it is certainly that of the program. A process can also be ended by
/// others, and with SIGKILL it rarely ends itself.
fn times_needed(fault: &Fault) -> usize {
    match &fault.kind {
        FaultKind::Crashed { status } if status.contains("SIGKILL") => 4,
        FaultKind::Crashed { .. } => 2,
        _ if fault.confirmed => 1,
        _ => 2,
    }
}

fn started(setup: &Setup, start: &Start, hello: &Hello, halt: &Halt) -> Result<Runner, Unfinished> {
    let start = || start.runner_until(&setup.limits, halt.clone());
    let mut tries = (1..TRIES).filter_map(|_| if halt.is_now() { None } else { start().ok() });
    let runner = match tries.next().map_or_else(start, Ok) {
        Err(_) if halt.is_now() => return Err(Unfinished::Halted(None)),
        Err(error) => return Err(Unfinished::Failed(error.to_string())),
        Ok(runner) => runner,
    };
    if runner.hello() != *hello {
        let why = format!("{} says something else of itself than at the beginning", hello.name);
        return Err(Unfinished::Failed(why));
    }
    Ok(runner)
}
