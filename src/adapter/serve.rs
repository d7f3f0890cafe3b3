//! The server side of the protocol, for adapters in Rust: implement [`Implementation`], call [`serve`].

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Implementation;
use super::protocol::{Request, Response, VERSION};
use crate::program::{Outcome, Program, Reply, StepOutcome};

/// Answers requests until the input ends. A panic of the implementation becomes a failed step, not the end.
///
/// # Errors
/// When the streams break.
pub fn serve(
    implementation: &mut dyn Implementation,
    input: impl BufRead,
    mut output: impl Write,
) -> std::io::Result<()> {
    for line in input.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let response = match serde_json::from_str::<Request>(&line) {
            Ok(Request::Hello { .. }) => Response::Hello { protocol: VERSION, hello: implementation.hello() },
            Ok(Request::Run { seq, program }) => Response::Ran { seq, reply: run_guarded(implementation, &program) },
            Err(error) => Response::Error { message: format!("not a request: {error}") },
        };
        serde_json::to_writer(&mut output, &response)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
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
