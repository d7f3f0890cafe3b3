//! The server side of the protocol, for adapters in Rust: implement [`Implementation`], call [`serve`].

use std::any::Any;
use std::io::{BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
#[cfg(unix)]
use std::{fs::File, os::fd::AsFd, os::unix::process::CommandExt, process::Command};

use super::Implementation;
use super::protocol::{Request, Response, VERSION, encode};
use crate::program::{Outcome, Program, Reply, StepOutcome};

/// How much is read and written at a time.
const BUFFER: usize = 64 * 1024;

/// How long an answer may wait for others, so that they are written together. Programs that take longer are answered
/// one by one.
const PATIENCE: Duration = Duration::from_millis(2);

/// Answers requests until the input ends. A panic of the implementation becomes a failed step, not the end. Answers to
/// requests that came together are written together.
///
/// # Errors
/// When the streams break.
pub fn serve(implementation: &mut dyn Implementation, input: impl Read, mut output: impl Write) -> std::io::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut answers = Vec::with_capacity(BUFFER);
    let mut written = Instant::now();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            output.write_all(&answers)?;
            return output.flush();
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let response = match serde_json::from_slice::<Request>(&line) {
            Ok(Request::Hello { .. }) => Response::Hello { protocol: VERSION, hello: implementation.hello() },
            Ok(Request::Run { seq, program }) => Response::Ran { seq, reply: run_guarded(implementation, &program) },
            Err(error) => Response::Error { message: format!("not a request: {error}") },
        };
        encode(&response, &mut answers);
        if answers.len() >= BUFFER || !input.buffer().contains(&b'\n') || written.elapsed() > PATIENCE {
            output.write_all(&answers)?;
            output.flush()?;
            answers.clear();
            answers.shrink_to(BUFFER);
            written = Instant::now();
        }
    }
}

fn run_guarded(implementation: &mut dyn Implementation, program: &Program) -> Reply {
    catch_unwind(AssertUnwindSafe(|| implementation.run(program))).unwrap_or_else(|panic| {
        let outcome = Outcome::Failed(format!("panic: {}", panic_text(&*panic)));
        let failed = StepOutcome { outcome, warnings: Vec::new() };
        Reply { steps: vec![failed; program.steps.len()], inputs: Vec::new() }
    })
}

/// What a panic says.
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
