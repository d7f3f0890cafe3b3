//! An adapter as a child process: starts it, sends it programs, and distinguishes replies from faults.
//!
//! It knows the protocol and nothing of expectations: whether a well-formed reply is right is for others to say.

use std::borrow::{Borrow, Cow};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::child::{Child, Ended, Event};
use super::fault::{Fault, FaultKind, StartError, excerpt, status_text};
use super::launch::{CommandLine, decode, launch};
use super::limits::{Halt, Limits};
use super::protocol::{Encoding, Request, Response};
use super::{Hello, check};
use crate::program::{Program, Reply};

/// Programs that may be in flight: enough to hide the latency of the pipe, few enough to be run again one by one when
/// the adapter breaks under them.
const WINDOW: usize = 64;

/// Bytes of requests that may be in flight, so that large tensors don't pile up in memory. One program is always sent.
const WINDOW_BYTES: usize = 16 << 20;

/// An adapter that said hello. Dropping it closes its input and, if it doesn't end by itself, kills it.
#[derive(Debug)]
pub struct Process {
    command: CommandLine,
    limits: Limits,
    hello: Hello,
    /// The encoding of requests.
    encoding: Encoding,
    /// `None` after a fault, until the next program needs it.
    child: Option<Child>,
    restarts: usize,
    /// The number of the next program. It continues over restarts, so that no number means two programs.
    seq: u64,
    /// The reason why the adapter will not be restarted.
    gone: Option<FaultKind>,
    halt: Halt,
}

impl Process {
    /// Starts an adapter and asks who it is.
    ///
    /// # Errors
    /// When the program cannot be run, or does not answer as an adapter of this protocol version does.
    pub fn start(command: CommandLine, limits: Limits) -> Result<Process, StartError> {
        Process::start_until(command, limits, Halt::default())
    }

    /// The same, with a time to halt. What is not answered by then has the fault [`FaultKind::Halted`].
    ///
    /// # Errors
    /// When the program cannot be run, or does not answer as an adapter of this protocol version does.
    pub fn start_until(command: CommandLine, limits: Limits, halt: Halt) -> Result<Process, StartError> {
        let (child, hello, encoding) = launch(&command, &limits, &halt)?;
        Ok(Process { command, limits, hello, encoding, child: Some(child), restarts: 0, seq: 0, gone: None, halt })
    }

    /// Allows each program so much time from now on.
    pub fn allow(&mut self, program: Duration) {
        self.limits.program = program;
    }

    /// Runs programs and returns the result of each, in order. See [`Process::run_each`].
    pub fn run_all(&mut self, programs: &[Program]) -> Vec<Result<Reply, Fault>> {
        let mut results = Vec::with_capacity(programs.len());
        self.run_each(programs, |_, result| results.push(result));
        results
    }

    /// Runs programs and hands over the result of each, with its index, in order, as soon as it is certain.
    ///
    /// Several programs are in flight at a time. If the adapter breaks, those are run again one by one in a fresh
    /// process; the one under which it breaks again gets the fault, the others their replies. If it does not break
    /// again, the first of them gets the fault, not [confirmed](Fault::confirmed). Once the restarts are spent, every
    /// program that is left gets a fault too: there are always as many results as programs.
    ///
    /// The programs must be such that [`unsupported_by`](super::unsupported_by) has nothing to say of them.
    pub fn run_each(&mut self, programs: &[impl Borrow<Program>], each: impl FnMut(usize, Result<Reply, Fault>)) {
        self.run_each_while(programs, &mut || false, each);
    }

    /// The same, with something else to do while the adapter is busy: `meanwhile` does a small piece of it, and says
    /// whether it did.
    pub fn run_each_while(
        &mut self,
        programs: &[impl Borrow<Program>],
        meanwhile: &mut dyn FnMut() -> bool,
        mut each: impl FnMut(usize, Result<Reply, Fault>),
    ) {
        let programs: Vec<&Program> = programs.iter().map(Borrow::borrow).collect();
        self.run_all_while(&programs, meanwhile, &mut each);
    }

    /// The same, compiled once: generic functions are compiled in the crate that calls them, as that crate is.
    fn run_all_while(
        &mut self,
        programs: &[&Program],
        meanwhile: &mut dyn FnMut() -> bool,
        each: &mut dyn FnMut(usize, Result<Reply, Fault>),
    ) {
        let base = self.seq;
        self.seq += programs.len() as u64;
        let mut flight = Flight::default();
        let mut next = 0;
        // Programs before this one go out one at a time, because a fault came while they were in flight together.
        let mut alone_until = 0;
        let mut doubt: Option<Doubt> = None;
        if !programs.is_empty()
            && let Some(fault) = self.fault_while_idle()
        {
            alone_until = 1;
            doubt = Some(Doubt { fault, first: 0, results: Vec::new() });
        }
        while next < programs.len() {
            if let Err(kind) = self.revive() {
                let halted = matches!(kind, FaultKind::Halted { .. });
                if halted && flight.len() > 0 {
                    // Its answers would be taken for those to other programs.
                    self.child.take().map(Child::kill);
                }
                match doubt.take() {
                    // Which program it was is not known by now.
                    Some(doubt) if halted => {
                        (doubt.first..).zip(doubt.results).for_each(|(at, result)| each(at, result));
                    }
                    Some(doubt) => {
                        each(next, Err(doubt.fault));
                        next += 1;
                    }
                    None => {}
                }
                let fault = Fault { kind, confirmed: true, stderr: String::new() };
                (next..programs.len()).for_each(|at| each(at, Err(fault.clone())));
                return;
            }
            let window = if next < alone_until { 1 } else { WINDOW };
            // Half a window at a time: each piece that is sent wakes the adapter.
            let unsent = next + flight.len();
            if unsent < programs.len() && flight.len() <= window / 2 {
                self.send(base + unsent as u64, &programs[unsent..], &mut flight, window);
            }
            match self.receive(base + next as u64, programs[next], meanwhile) {
                Answer::Settled(result) => {
                    flight.pop();
                    match &mut doubt {
                        Some(doubt) => doubt.results.push(result),
                        None => each(next, result),
                    }
                    next += 1;
                }
                Answer::Broken(fault) if flight.len() > 1 => {
                    alone_until = next + flight.len();
                    doubt = Some(Doubt { fault, first: next, results: Vec::new() });
                    flight = Flight::default();
                }
                Answer::Broken(fault) => {
                    // The culprit is found: those before it are innocent.
                    if let Some(doubt) = doubt.take() {
                        (doubt.first..).zip(doubt.results).for_each(|(at, result)| each(at, result));
                    }
                    each(next, Err(Fault { confirmed: true, ..fault }));
                    flight = Flight::default();
                    next += 1;
                }
                Answer::Halted(waited) => {
                    if let Some(doubt) = doubt.take() {
                        (doubt.first..).zip(doubt.results).for_each(|(at, result)| each(at, result));
                    }
                    let halted = |waited| {
                        let kind = FaultKind::Halted { waited };
                        Err(Fault { kind, confirmed: true, stderr: String::new() })
                    };
                    each(next, halted(Some(waited)));
                    (next + 1..programs.len()).for_each(|at| each(at, halted(None)));
                    return;
                }
            }
            if let Some(Doubt { fault, first, results }) = doubt.take_if(|_| next >= alone_until) {
                // All of them passed alone: the fault goes to the first.
                each(first, Err(fault));
                (first..).zip(results).skip(1).for_each(|(at, result)| each(at, result));
            }
        }
    }

    /// Ends the adapter after its last answer, by the end of its input. Returns the problem with its end, if any: a
    /// crash, an exit code, or output without a request. One that does not end is killed.
    pub fn finish(&mut self) -> Option<String> {
        let (unasked, Ended { status, unfinished, .. }) = self.child.take()?.end();
        match (unasked, status) {
            (Some(line), _) => Some(format!("it wrote more after its last answer: {}", excerpt(&line))),
            // A runtime that is slow to exit has answered everything.
            (None, None) => None,
            (None, Some(status)) if !status.success() => {
                Some(format!("its process ended with {} after the last answer", status_text(status)))
            }
            (None, Some(_)) if !unfinished.is_empty() => {
                Some(format!("it wrote more after its last answer: {}", excerpt(&unfinished)))
            }
            (None, Some(_)) => None,
        }
    }

    /// The declaration of the adapter.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// A flag that makes it halt, for good, once it is set.
    pub fn leave(&mut self) -> Arc<AtomicBool> {
        let flag = Arc::default();
        self.halt.flags.push(Arc::clone(&flag));
        flag
    }

    /// The number of times the adapter has been restarted.
    pub fn restarts(&self) -> usize {
        self.restarts
    }

    /// The process number, unless the adapter is down.
    pub fn id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }
}

/// A fault that came while several programs were in flight, or none, and what has come of them one by one since.
struct Doubt {
    fault: Fault,
    first: usize,
    results: Vec<Result<Reply, Fault>>,
}

/// The answer to a program.
enum Answer {
    /// A message that is certainly about this program; the adapter can go on.
    Settled(Result<Reply, Fault>),
    /// The adapter is down, or its output can no longer be assigned to requests and it has been ended.
    Broken(Fault),
    /// It was time to halt, and the adapter, which has been busy for so long, has been killed.
    Halted(Duration),
}

impl Process {
    /// Sends programs, numbered from `seq` on, in one piece, as long as there is room for them in flight.
    fn send(&mut self, seq: u64, programs: &[&Program], flight: &mut Flight, window: usize) {
        let mut requests = Vec::new();
        for (seq, program) in (seq..).zip(programs) {
            if !flight.has_room(window) {
                break;
            }
            let before = requests.len();
            Request::Run { seq, program: Cow::Borrowed(program) }.write(self.encoding, &mut requests);
            flight.push(requests.len() - before);
        }
        if !requests.is_empty() {
            self.running().send(requests);
        }
    }

    fn receive(&mut self, seq: u64, program: &Program, meanwhile: &mut dyn FnMut() -> bool) -> Answer {
        let limit = self.limits.program;
        let Process { child, halt, .. } = self;
        let child = child.as_mut().expect("revived before it is used");
        let mut event = child.poll();
        while event.is_none() && meanwhile() {
            event = child.poll();
        }
        let begun = Instant::now();
        let Some(event) = event.or_else(|| halt.receive(child, limit)) else {
            let waited = begun.elapsed();
            if waited < limit {
                self.child.take().map(Child::kill);
                return Answer::Halted(waited);
            }
            return Answer::Broken(self.give_up(None));
        };
        let Event::Message(line) = event else {
            return Answer::Broken(self.give_up(Some(event)));
        };
        let why = match decode(&line) {
            Ok(_) if Encoding::of(&line) != self.encoding => "a JSON line instead of a MessagePack frame".to_owned(),
            Ok(Response::Ran { seq: got, reply }) if got == seq => match check::problem(program, &reply, &self.hello) {
                None => return Answer::Settled(Ok(reply)),
                Some(why) => return Answer::Settled(Err(self.malformed(&line, why))),
            },
            // The stream is still in step: the adapter answers in order, and this is an answer.
            Ok(Response::Error { message }) => {
                let why = format!("the adapter could not parse the program: {message}");
                return Answer::Settled(Err(self.malformed(&line, why)));
            }
            Ok(Response::Ran { seq: got, .. }) => format!("the answer has `seq` {got} instead of {seq}"),
            Ok(Response::Hello { .. }) => "a `hello` instead of the answer to a program".to_owned(),
            Err(why) => why,
        };
        Answer::Broken(self.end_for(FaultKind::protocol(&line, why)))
    }

    /// The fault of an adapter that ended or wrote a line while no request was open.
    fn fault_while_idle(&mut self) -> Option<Fault> {
        match self.child.as_mut()?.poll()? {
            Event::Message(line) => {
                let kind = FaultKind::protocol(&line, "a line without a request");
                Some(self.end_for(kind))
            }
            event => Some(self.give_up(Some(event))),
        }
    }

    /// Ends an adapter that gave no line, and returns the kind of its fault.
    fn give_up(&mut self, event: Option<Event>) -> Fault {
        let limit = self.limits.program;
        let child = self.child.take().expect("an adapter that was listened to");
        let (kind, stderr) = match event {
            Some(Event::End { unfinished }) => {
                let Ended { status, stderr, .. } = child.ended();
                let kind = match status {
                    None => FaultKind::protocol(&unfinished, "it closed its standard output and did not exit"),
                    Some(status) if status.success() && !unfinished.is_empty() => {
                        FaultKind::protocol(&unfinished, "its output ends in the middle of a message")
                    }
                    Some(status) => FaultKind::Crashed { status: status_text(status) },
                };
                (kind, stderr)
            }
            Some(Event::Message(start) | Event::TooLong(start)) => {
                let why = format!("a message is longer than {} bytes", self.limits.line);
                (FaultKind::protocol(&start[..start.len().min(self.limits.line)], why), child.kill().stderr)
            }
            None => {
                let Ended { unfinished, stderr, .. } = child.kill();
                let kind = match unfinished.len() {
                    0 => FaultKind::TimedOut { after: limit },
                    _ => FaultKind::protocol(&unfinished, format!("an unfinished message after {limit:?}")),
                };
                (kind, stderr)
            }
        };
        Fault { kind, confirmed: false, stderr }
    }

    fn end_for(&mut self, kind: FaultKind) -> Fault {
        let stderr = self.child.take().expect("an adapter that was listened to").kill().stderr;
        Fault { kind, confirmed: false, stderr }
    }

    fn malformed(&mut self, line: &[u8], why: String) -> Fault {
        Fault { kind: FaultKind::protocol(line, why), confirmed: true, stderr: self.running().stderr() }
    }

    /// Makes sure that the adapter is up.
    fn revive(&mut self) -> Result<(), FaultKind> {
        if self.halt.is_now() {
            return Err(FaultKind::Halted { waited: None });
        }
        if let Some(kind) = &self.gone {
            return Err(kind.clone());
        }
        if self.child.is_some() {
            return Ok(());
        }
        if self.restarts == self.limits.restarts {
            return Err(FaultKind::BudgetSpent { restarts: self.restarts });
        }
        self.restarts += 1;
        let started = launch(&self.command, &self.limits, &self.halt).and_then(|(child, hello, encoding)| {
            let same = hello == self.hello && encoding == self.encoding;
            same.then_some(child).ok_or_else(|| StartError::Changed { program: self.command.name() })
        });
        match started {
            Ok(child) => self.child = Some(child),
            Err(_) if self.halt.is_now() => return Err(FaultKind::Halted { waited: None }),
            // Not tried again: an adapter that hangs at its start would take the long limit each time.
            Err(error) => {
                let why = error.to_string().lines().next().unwrap_or_default().to_owned();
                return Err(self.gone.insert(FaultKind::NotRestarted { why }).clone());
            }
        }
        Ok(())
    }

    fn running(&mut self) -> &mut Child {
        self.child.as_mut().expect("revived before it is used")
    }
}

/// The sizes of the requests that have no answer yet.
#[derive(Default)]
struct Flight {
    sizes: VecDeque<usize>,
    bytes: usize,
}

impl Flight {
    fn len(&self) -> usize {
        self.sizes.len()
    }

    fn has_room(&self, window: usize) -> bool {
        self.sizes.is_empty() || (self.len() < window && self.bytes < WINDOW_BYTES)
    }

    fn push(&mut self, size: usize) {
        self.sizes.push_back(size);
        self.bytes += size;
    }

    fn pop(&mut self) {
        self.bytes -= self.sizes.pop_front().unwrap_or_default();
    }
}
