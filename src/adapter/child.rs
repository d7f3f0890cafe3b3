//! One running adapter process and its three pipes.
//!
//! The side that reads also writes, as much as the pipe takes, so that no side ever waits for the other on a full one,
//! and no thread has to be woken for a message. This module moves messages and ends processes; it must not know what
//! messages say.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{self, ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use super::watch;
use super::wire::{Inbox, Piece};

/// The number of bytes of standard error that are kept.
const STDERR_KEPT: usize = 64 * 1024;

/// The time that a process has to end once it has closed its standard output, or has been asked to end. Writing a core
/// dump falls into this time; a kill during it would hide the signal that caused it.
const GRACE: Duration = Duration::from_secs(5);

/// The time that pipes may stay open after the end of the process. Only what it started can hold them open.
const LINGER: Duration = Duration::from_secs(1);

/// The capacity in bytes that is kept for requests.
const KEPT: usize = 1 << 20;

/// An event on standard output.
#[derive(Debug)]
pub(super) enum Event {
    /// A message: a line without its end, or a frame.
    Message(Vec<u8>),
    /// The start of a message that is longer than allowed.
    TooLong(Vec<u8>),
    /// The stream ended; what is left is a message without an end.
    End { unfinished: Vec<u8> },
}

/// A running adapter. Dropping it ends the process, reaps it and joins its thread.
#[derive(Debug)]
pub(super) struct Child {
    process: process::Child,
    /// `None` once the input is closed.
    stdin: Option<ChildStdin>,
    /// The bytes to write; `written` of them are written.
    requests: Vec<u8>,
    written: usize,
    stdout: ChildStdout,
    inbox: Inbox,
    /// True if nothing more will be read.
    ended: bool,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// Hears nothing; it is disconnected when the thread ends.
    thread_alive: Receiver<()>,
    /// The thread that reads standard error.
    thread: Option<JoinHandle<()>>,
}

/// The end of a process.
pub(super) struct Ended {
    /// Its status; `None` if it had to be killed.
    pub status: Option<ExitStatus>,
    /// A message that it had begun.
    pub unfinished: Vec<u8>,
    /// The last that it wrote to standard error.
    pub stderr: String,
}

impl Child {
    /// Starts the process, with at most so many bytes of address space. Messages longer than `limit` are not read to
    /// their end.
    pub(super) fn spawn(command: &mut process::Command, limit: usize, memory: Option<u64>) -> io::Result<Child> {
        // A group of its own, so that what a wrapper (a shell, `uv run`) started can be ended along with it. The price
        // is that Ctrl-C does not reach it: it sees the end of its input instead, or is killed by `watch`.
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let stdin = process.stdin.take().expect("standard input was asked for");
        let stdout = process.stdout.take().expect("standard output was asked for");
        let stderr = process.stderr.take().expect("standard error was asked for");
        let pipes = [stdin.as_fd(), stdout.as_fd()];
        let limited = memory.map_or(Ok(()), |bytes| limit_memory(process.id(), bytes));
        let ready =
            limited.and_then(|()| Ok(pipes.iter().try_for_each(|pipe| rustix::io::ioctl_fionbio(pipe, true))?));
        if let Err(error) = ready {
            let _ = process.kill();
            let _ = process.wait();
            return Err(error);
        }
        watch::add(process.id());
        pipes.into_iter().for_each(widen);
        let (alive, thread_alive) = channel::<()>();
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&kept);
        let thread = thread::spawn(move || {
            keep_tail(stderr, &keep);
            drop(alive);
        });
        Ok(Child {
            process,
            stdin: Some(stdin),
            requests: Vec::new(),
            written: 0,
            stdout,
            inbox: Inbox::new(limit),
            ended: false,
            stderr: kept,
            thread_alive,
            thread: Some(thread),
        })
    }

    /// Sends requests, as far as the pipe takes them; [`Child::receive`] and [`Child::poll`] send the rest. If the process is
    /// gone, they tell.
    pub(super) fn send(&mut self, requests: Vec<u8>) {
        if self.requests.is_empty() {
            self.requests = requests;
        } else {
            self.requests.extend(requests);
        }
        self.write();
    }

    /// The next event, or `None` when `limit` passes without one.
    pub(super) fn receive(&mut self, limit: Duration) -> Option<Event> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(event) = self.poll() {
                return Some(event);
            }
            let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            self.wait_for_pipes(left);
        }
    }

    /// An event that is there already.
    pub(super) fn poll(&mut self) -> Option<Event> {
        loop {
            match self.inbox.take() {
                Piece::Message(message) => return Some(Event::Message(message.to_vec())),
                Piece::TooLong(start) => {
                    let start = start.to_vec();
                    (self.ended, self.inbox) = (true, Inbox::new(0));
                    return Some(Event::TooLong(start));
                }
                Piece::Rest(rest) if self.ended => return Some(Event::End { unfinished: rest.to_vec() }),
                Piece::Rest(_) => {}
            }
            self.write();
            match self.inbox.fill(&mut self.stdout) {
                Ok(0) => self.ended = true,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                // A read error is the end: what was read so far is an unfinished message.
                Err(_) => self.ended = true,
            }
        }
    }

    /// Writes what the pipe takes of the requests.
    fn write(&mut self) {
        while let Some(stdin) = self.stdin.as_mut().filter(|_| self.written < self.requests.len()) {
            match stdin.write(&self.requests[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // Rust programs ignore SIGPIPE, so a process that is gone shows here, and as the end of its output.
                Err(_) => self.stdin = None,
            }
        }
        self.requests.clear();
        self.requests.shrink_to(KEPT);
        self.written = 0;
    }

    /// Waits until there is something to be read, or room for what is to be written.
    fn wait_for_pipes(&self, limit: Duration) {
        let mut pipes = vec![PollFd::new(&self.stdout, PollFlags::IN)];
        if let Some(stdin) = self.stdin.as_ref().filter(|_| self.written < self.requests.len()) {
            pipes.push(PollFd::new(stdin, PollFlags::OUT));
        }
        // A wait that fails, as a signal makes it, ends early. More seconds than poll can represent are as good as for
        // ever.
        let _ = rustix::event::poll(&mut pipes, Timespec::try_from(limit).ok().as_ref());
    }

    /// The process number.
    pub(super) fn id(&self) -> u32 {
        self.process.id()
    }

    /// The last that the process wrote to standard error so far.
    pub(super) fn stderr(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept[kept.len().saturating_sub(STDERR_KEPT)..]).into_owned()
    }

    /// Waits a while for a process that has closed its standard output to end by itself, then makes it.
    pub(super) fn ended(mut self) -> Ended {
        self.close(GRACE)
    }

    /// Closes the input after the last answer. Returns the first message that nothing asked for, and how the process ended.
    pub(super) fn end(mut self) -> (Option<Vec<u8>>, Ended) {
        self.stdin = None;
        let deadline = Instant::now() + GRACE;
        let mut unasked = None;
        while let Some(Event::Message(message) | Event::TooLong(message)) =
            self.receive(deadline.saturating_duration_since(Instant::now()))
        {
            unasked.get_or_insert(message);
        }
        (unasked, self.close(GRACE))
    }

    /// Closes the input, and returns how the process ended, if it did by itself.
    pub(super) fn finish(&mut self) -> Option<ExitStatus> {
        self.close(GRACE).status
    }

    /// Kills the process.
    pub(super) fn kill(mut self) -> Ended {
        self.close(Duration::ZERO)
    }

    fn close(&mut self, grace: Duration) -> Ended {
        self.stdin = None;
        let status = self.wait(grace);
        if status.is_none() {
            // The group first: its number is certain to be this one's as long as the process has not been reaped. Both
            // can fail only because there is nothing left to kill.
            kill_group(self.process.id());
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
        let mut unfinished = self.drain();
        if unfinished.is_none() || !self.thread_ended() {
            // The process ended, but something that it started holds the pipes open.
            kill_group(self.process.id());
            unfinished = unfinished.or_else(|| self.drain());
        }
        // Nothing holds the pipes any more, unless it has moved to another process group. Then the thread is left to it
        // rather than waited for.
        if let Some(thread) = self.thread.take().filter(|_| self.thread_ended()) {
            let _ = thread.join();
        }
        watch::remove(self.process.id());
        Ended { status, unfinished: unfinished.unwrap_or_default(), stderr: self.stderr() }
    }

    /// Waits for the end of the process, but not for ever. The standard library cannot wait with a limit, hence the naps.
    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        let mut nap = Duration::from_millis(1);
        loop {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Some(status);
            }
            if Instant::now() >= deadline {
                return None;
            }
            // It cannot end while its output is not read.
            while Instant::now() < deadline && matches!(self.poll(), Some(Event::Message(_))) {}
            thread::sleep(nap);
            nap = (nap * 2).min(Duration::from_millis(50));
        }
    }

    /// Reads to the end of the output, and returns what was left without an end; `None` if the output does not end.
    fn drain(&mut self) -> Option<Vec<u8>> {
        let deadline = Instant::now() + LINGER;
        loop {
            match self.receive(deadline.saturating_duration_since(Instant::now())) {
                Some(Event::End { unfinished }) => return Some(unfinished),
                Some(_) if Instant::now() < deadline => {}
                _ => return None,
            }
        }
    }

    fn thread_ended(&self) -> bool {
        self.thread_alive.recv_timeout(LINGER) == Err(RecvTimeoutError::Disconnected)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // Its input is closed first: an adapter that ends by itself can still write what a profiler collects.
            self.close(GRACE);
        }
    }
}

fn keep_tail(mut stderr: ChildStderr, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 8 * 1024];
    while let Ok(count @ 1..) = stderr.read(&mut chunk) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..count]);
        // Cut at twice the size, so that the cost of moving the rest is spread over many reads.
        if kept.len() > 2 * STDERR_KEPT {
            let surplus = kept.len() - STDERR_KEPT;
            kept.drain(..surplus);
        }
    }
}

/// Gives a pipe room for many messages, where the system lets it have that: a side that finds it full has to wait, and be
/// woken.
#[cfg(target_os = "linux")]
fn widen(pipe: BorrowedFd) {
    const ROOM: usize = 1 << 20;
    // As large as it was is large enough.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, ROOM);
}

#[cfg(not(target_os = "linux"))]
fn widen(_pipe: BorrowedFd) {}

/// Limits the address space of a process that has only just begun, and of what it will start.
#[cfg(target_os = "linux")]
fn limit_memory(process: u32, bytes: u64) -> io::Result<()> {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    match prlimit(i32::try_from(process).ok().and_then(Pid::from_raw), Resource::As, limit) {
        // One that has ended already needs no limit; its end is seen where it is listened to.
        Ok(_) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn limit_memory(_process: u32, _bytes: u64) -> io::Result<()> {
    Ok(())
}

/// Kills what is left of a process group. Its number cannot belong to anyone else while a member lives.
fn kill_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // It fails only if nothing is left to be killed.
        let _ = kill_process_group(group, Signal::KILL);
    }
}
