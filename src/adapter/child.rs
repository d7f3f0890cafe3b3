//! One running adapter process and its three pipes.
//!
//! Each pipe has a thread, so that no side ever waits for the other on a full pipe. This module moves bytes and ends
//! processes; it must not know what the bytes mean.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{self, ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How much of standard error is kept.
const STDERR_KEPT: usize = 64 * 1024;

/// How long a process may take to end once it has closed its standard output, or has been asked to end. Writing a core
/// dump falls into this time; a kill during it would hide the signal that caused it.
const GRACE: Duration = Duration::from_secs(5);

/// How long pipes may stay open after the end of the process. Only what it started can hold them open.
const LINGER: Duration = Duration::from_secs(1);

/// How often it is read ahead. Rarely, because one line can be hundreds of megabytes.
const READS_AHEAD: usize = 4;

/// How much is read at a time.
const READ: usize = 64 * 1024;

/// What came out of standard output.
#[derive(Debug)]
pub(super) enum Event {
    /// A line, without its end.
    Line(Vec<u8>),
    /// The start of a line that is longer than allowed.
    TooLong(Vec<u8>),
    /// The stream ended; what is left is a line without an end.
    End { unfinished: Vec<u8> },
}

/// A running adapter. Dropping it ends the process, reaps it and joins its threads.
#[derive(Debug)]
pub(super) struct Child {
    process: process::Child,
    /// `None` once the input is closed.
    requests: Option<Sender<Vec<u8>>>,
    events: Receiver<Vec<Event>>,
    /// Events that came together with others, and were not asked for yet.
    ready: RefCell<VecDeque<Event>>,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// Hears nothing; it is disconnected when the last thread ends.
    threads_alive: Receiver<()>,
    threads: Vec<JoinHandle<()>>,
}

/// How a process ended.
pub(super) struct Ended {
    /// Its status; `None` if it had to be killed.
    pub status: Option<ExitStatus>,
    /// A line that it had begun.
    pub unfinished: Vec<u8>,
    /// The last that it wrote to standard error.
    pub stderr: String,
}

impl Child {
    /// Starts the process, with at most so many bytes of address space. Lines longer than `max_line` are not read to
    /// their end.
    pub(super) fn spawn(command: &mut process::Command, max_line: usize, memory: Option<u64>) -> io::Result<Child> {
        // A group of its own, so that what a wrapper (a shell, `uv run`) started can be ended along with it. The price
        // is that Ctrl-C does not reach it: it sees the end of its input instead.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        if let Some(bytes) = memory
            && let Err(error) = limit_memory(process.id(), bytes)
        {
            let _ = process.kill();
            let _ = process.wait();
            return Err(error);
        }
        let stdin = process.stdin.take().expect("standard input was asked for");
        let stdout = process.stdout.take().expect("standard output was asked for");
        let stderr = process.stderr.take().expect("standard error was asked for");
        let (requests, to_write) = channel();
        let (to_read, events) = sync_channel(READS_AHEAD);
        let (alive, threads_alive) = channel();
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&kept);
        let start = |work: Box<dyn FnOnce() + Send>| {
            let alive = alive.clone();
            thread::spawn(move || {
                work();
                drop(alive);
            })
        };
        let threads = vec![
            start(Box::new(move || write_requests(stdin, &to_write))),
            start(Box::new(move || read_lines(stdout, max_line, &to_read))),
            start(Box::new(move || keep_tail(stderr, &keep))),
        ];
        let (requests, ready) = (Some(requests), RefCell::default());
        Ok(Child { process, requests, events, ready, stderr: kept, threads_alive, threads })
    }

    /// Queues a request; a thread writes it. If the process is gone, [`Child::receive`] tells.
    pub(super) fn send(&self, request: Vec<u8>) {
        if let Some(requests) = &self.requests {
            // An error means that the writer met a closed pipe: the end of the output follows.
            let _ = requests.send(request);
        }
    }

    /// The next event, or `None` when `limit` passes without one.
    pub(super) fn receive(&self, limit: Duration) -> Option<Event> {
        self.next(|events| events.recv_timeout(limit).map_err(|error| error == RecvTimeoutError::Disconnected))
    }

    /// An event that is there already.
    pub(super) fn poll(&self) -> Option<Event> {
        self.next(|events| events.try_recv().map_err(|error| error == TryRecvError::Disconnected))
    }

    /// The next event, of those that `more` gets if there is none left. It fails with whether there will never be more.
    fn next(&self, more: impl Fn(&Receiver<Vec<Event>>) -> Result<Vec<Event>, bool>) -> Option<Event> {
        let mut ready = self.ready.borrow_mut();
        if ready.is_empty() {
            match more(&self.events) {
                Ok(events) => ready.extend(events),
                Err(true) => ready.push_back(Event::End { unfinished: Vec::new() }),
                Err(false) => {}
            }
        }
        ready.pop_front()
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

    /// Closes the input, and tells how the process ended, if it did by itself.
    pub(super) fn finish(&mut self) -> Option<ExitStatus> {
        self.close(GRACE).status
    }

    /// Kills the process.
    pub(super) fn kill(mut self) -> Ended {
        self.close(Duration::ZERO)
    }

    fn close(&mut self, grace: Duration) -> Ended {
        self.requests = None;
        let status = wait(&mut self.process, grace);
        if status.is_none() {
            // The group first: its number is certain to be this one's as long as the process has not been reaped. Both
            // can fail only because there is nothing left to kill.
            kill_group(self.process.id());
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
        let mut unfinished = self.drain();
        if unfinished.is_none() || !self.threads_ended() {
            // The process ended, but something that it started holds the pipes open.
            kill_group(self.process.id());
            unfinished = unfinished.or_else(|| self.drain());
        }
        // Nothing holds the pipes any more, unless it has moved to another process group. Then the threads are left
        // to it rather than waited for.
        if self.threads_ended() {
            for thread in self.threads.drain(..) {
                let _ = thread.join();
            }
        }
        Ended { status, unfinished: unfinished.unwrap_or_default(), stderr: self.stderr() }
    }

    /// Reads to the end of the output, so that its reader can end, and returns what was left without a line end.
    /// `None` if the output does not end.
    fn drain(&self) -> Option<Vec<u8>> {
        let deadline = Instant::now() + LINGER;
        loop {
            match self.receive(deadline.saturating_duration_since(Instant::now())) {
                Some(Event::End { unfinished }) => return Some(unfinished),
                Some(_) if Instant::now() < deadline => {}
                _ => return None,
            }
        }
    }

    fn threads_ended(&self) -> bool {
        self.threads_alive.recv_timeout(LINGER) == Err(RecvTimeoutError::Disconnected)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.threads.is_empty() {
            // Its input is closed first: an adapter that ends by itself can still write what a profiler collects.
            self.close(GRACE);
        }
    }
}

fn write_requests(mut stdin: ChildStdin, requests: &Receiver<Vec<u8>>) {
    // Rust programs ignore SIGPIPE, so a process that is gone shows as an error here and as the end of its output.
    while let Ok(request) = requests.recv() {
        if stdin.write_all(&request).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Lines that come together are handed over together, because handing over wakes a thread.
fn read_lines(stdout: ChildStdout, max_line: usize, events: &SyncSender<Vec<Event>>) {
    let mut reader = BufReader::with_capacity(READ, stdout);
    let mut together = Vec::new();
    loop {
        let event = read_line(&mut reader, max_line);
        let last = !matches!(event, Event::Line(_));
        together.push(event);
        if !last && reader.buffer().contains(&b'\n') {
            continue;
        }
        if events.send(std::mem::take(&mut together)).is_err() || last {
            return;
        }
    }
}

fn read_line(reader: &mut impl BufRead, max_line: usize) -> Event {
    let mut line = Vec::new();
    // A read error is the end: what was read so far is an unfinished line.
    let _ = reader.take(max_line as u64 + 1).read_until(b'\n', &mut line);
    if line.last() == Some(&b'\n') {
        line.pop();
        Event::Line(line)
    } else if line.len() > max_line {
        Event::TooLong(line)
    } else {
        Event::End { unfinished: line }
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

/// Waits for the end of a process, but not for ever. The standard library cannot wait with a limit, hence the naps.
fn wait(process: &mut process::Child, limit: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + limit;
    let mut nap = Duration::from_millis(1);
    loop {
        if let Ok(Some(status)) = process.try_wait() {
            return Some(status);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(50));
    }
}

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
#[cfg(unix)]
fn kill_group(leader: u32) {
    // The standard library can signal only the process itself; every shell has `kill`.
    let _ = process::Command::new("sh")
        .args(["-c", "kill -s KILL -- \"-$1\"", "sh", &leader.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

#[cfg(not(unix))]
fn kill_group(_leader: u32) {}
