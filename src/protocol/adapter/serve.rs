//! The server side of the protocol, for adapters in Rust: implement [`Implementation`], call [`serve`].

use std::any::Any;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
#[cfg(unix)]
use std::{fs::File, os::fd::AsFd, os::unix::process::CommandExt, process::Command};

use super::Implementation;
use super::protocol::{Encoding, Request, Response, VERSION};
use super::wire::{Inbox, Piece};
use crate::program::{Outcome, Program, Reply, StepOutcome};

/// The number of bytes written at a time.
const BUFFER: usize = 64 * 1024;

/// The longest time that an answer may wait for others, so that they are written together. Programs that take longer
/// are answered one by one.
const PATIENCE: Duration = Duration::from_millis(2);

/// Answers requests until the input ends, each as it is written: a frame by a frame. A panic of the implementation becomes
/// a failed step, not the end. Answers to requests that came together are written together.
///
/// # Errors
/// When the streams break.
pub fn serve(
    implementation: &mut dyn Implementation,
    mut input: impl Read,
    mut output: impl Write,
) -> std::io::Result<()> {
    serve_streams(implementation, &mut input, &mut output)
}

/// The same for any streams: compiled once, and not by each caller.
fn serve_streams(
    implementation: &mut dyn Implementation,
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> std::io::Result<()> {
    let mut inbox = Inbox::new(usize::MAX);
    let mut answers = Vec::with_capacity(BUFFER);
    let mut written = Instant::now();
    loop {
        let ended = !inbox.has_message() && inbox.fill(input)? == 0;
        let message = match inbox.take() {
            Piece::Message(message) => message,
            // The last line need not have an end.
            Piece::Rest(rest) if ended => rest,
            Piece::Rest(_) | Piece::TooLong(_) => continue,
        };
        if !message.trim_ascii().is_empty() {
            let response = match Request::parse(message) {
                Ok(Request::Hello { .. }) => {
                    let (encodings, hello) = (vec![Encoding::MessagePack], implementation.hello());
                    Response::Hello { protocol: VERSION, encodings, hello }
                }
                Ok(Request::Run { seq, program }) => {
                    Response::Ran { seq, reply: run_guarded(implementation, &program) }
                }
                Err(message) => Response::Error { message },
            };
            response.write(Encoding::of(message), &mut answers);
        }
        if ended || answers.len() >= BUFFER || !inbox.has_message() || written.elapsed() > PATIENCE {
            output.write_all(&answers)?;
            output.flush()?;
            answers.clear();
            answers.shrink_to(BUFFER);
            written = Instant::now();
        }
        if ended {
            return Ok(());
        }
    }
}

fn run_guarded(implementation: &mut dyn Implementation, program: &Program) -> Reply {
    catch_unwind(AssertUnwindSafe(|| implementation.run(program))).unwrap_or_else(|panic| {
        let outcome = Outcome::Failed(format!("panic: {}", panic_text(&*panic)));
        let failed = StepOutcome::of(outcome);
        Reply { steps: vec![failed; program.steps.len()], inputs: Vec::new() }
    })
}

/// Returns the message of a panic.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without text")
}

/// Serves the standard streams of this process, with one thread in the pools of rayon, so that sums have one order, and
/// without backtraces in messages.
///
/// # Errors
/// When the streams break.
#[cfg(unix)]
pub fn serve_process(implementation: &mut dyn Implementation) -> std::io::Result<()> {
    let threads = std::env::var_os(THREADS);
    if threads.is_none() || std::env::var_os(BACKTRACE).is_some() {
        // Libraries read these when they begin, so the process begins again.
        let mut again = Command::new(std::env::current_exe()?);
        again.args(std::env::args_os().skip(1)).env(THREADS, threads.unwrap_or("1".into())).env_remove(BACKTRACE);
        return Err(again.exec());
    }
    serve(implementation, std::io::stdin().lock(), private_stdout()?)
}

#[cfg(unix)]
const THREADS: &str = "RAYON_NUM_THREADS";

#[cfg(unix)]
const BACKTRACE: &str = "RUST_BACKTRACE";

/// Moves the real stdout out of reach: what a library prints then goes to stderr and cannot break the stream of
/// replies.
///
/// # Errors
/// When the system has no descriptor left.
#[cfg(unix)]
pub fn private_stdout() -> std::io::Result<File> {
    let real = std::io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(std::io::stderr().as_fd())?;
    Ok(File::from(real))
}
