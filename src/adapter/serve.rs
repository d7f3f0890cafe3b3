//! The server side of the protocol, for adapters in Rust: implement [`Implementation`], call [`serve`].

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::Implementation;
use super::protocol::{Request, Response, VERSION};
use crate::program::{Outcome, Program, Reply, StepOutcome};

/// How much is read and written at a time.
const BUFFER: usize = 64 * 1024;

/// How long an answer may wait for others, so that they are written together. Programs that take longer are answered
/// one by one.
const PATIENCE: Duration = Duration::from_millis(1);

/// Answers requests until the input ends. A panic of the implementation becomes a failed step, not the end. Answers to
/// requests that came together are written together.
///
/// # Errors
/// When the streams break.
pub fn serve(implementation: &mut dyn Implementation, input: impl Read, output: impl Write) -> std::io::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut output = BufWriter::with_capacity(BUFFER, output);
    let mut flushed = Instant::now();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
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
        serde_json::to_writer(&mut output, &response)?;
        output.write_all(b"\n")?;
        if !input.buffer().contains(&b'\n') || flushed.elapsed() > PATIENCE {
            output.flush()?;
            flushed = Instant::now();
        }
    }
}

fn run_guarded(implementation: &mut dyn Implementation, program: &Program) -> Reply {
    catch_unwind(AssertUnwindSafe(|| implementation.run(program))).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("a panic without text");
        let failed = StepOutcome { outcome: Outcome::Failed(format!("panic: {text}")), warnings: Vec::new() };
        Reply { steps: vec![failed; program.steps.len()], inputs: Vec::new() }
    })
}
