//! Faults of an adapter process: crashes, time-outs, protocol errors. The harness alone reports them, never an adapter.

use std::process::ExitStatus;
use std::time::Duration;

use super::protocol::Encoding;

/// The beginning of the message for a program without an answer in time.
pub const NO_ANSWER: &str = "no answer within";

/// The reason why a program has no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// True if the program is certain to be the cause: it alone was in flight, or the faulty line bears its number.
    ///
    /// Otherwise several programs were in flight, or none, and the fault did not occur again when they were run one by
    /// one in a fresh process. It is then attributed to the first that had no answer; the cause may be an earlier one.
    pub confirmed: bool,
    /// The last that the adapter wrote to standard error, at most 64 KiB. Attached, never interpreted.
    pub stderr: String,
}

/// The kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The process ended.
    Crashed {
        /// Its exit status, or its signal by number and name.
        status: String,
    },
    /// There was no answer in time.
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// The answer breaks the protocol.
    Protocol {
        /// The beginning of the message.
        line: String,
        /// The error in it, as a sentence without a full stop.
        why: String,
    },
    /// The program was not run: the adapter has been restarted as often as the limits allow.
    BudgetSpent {
        /// The number of restarts that the limits allow.
        restarts: usize,
    },
    /// The program was not run, or not to its end: it was time to [halt](super::Halt).
    Halted {
        /// The time that the adapter had spent on it.
        waited: Option<Duration>,
    },
    /// The program was not run: the adapter failed to restart.
    NotRestarted {
        /// The reason, on one line.
        why: String,
    },
}

/// The reason why an adapter cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no such program.
    #[error("adapter `{program}` was not found: check its path, or the PATH")]
    NotFound {
        /// The program that was started.
        program: String,
    },
    /// The operating system did not run it.
    #[error("adapter `{program}` could not be started: {source}; check that it is executable")]
    Spawn {
        /// The program that was started.
        program: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// It ended before it answered `hello`.
    #[error("adapter `{program}` ended before it answered hello ({status}){}", shown(stderr))]
    Exited {
        /// The program that was started.
        program: String,
        /// The exit status of the process, as text.
        status: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It did not answer `hello` in time.
    #[error("adapter `{program}` did not answer hello within {after:?}{}", shown(stderr))]
    TimedOut {
        /// The program that was started.
        program: String,
        /// The time that it was given.
        after: Duration,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It answered something else.
    #[error("adapter `{program}` did not answer hello: {why}: {line:?}{}", shown(stderr))]
    Rubbish {
        /// The program that was started.
        program: String,
        /// The line that it wrote.
        line: String,
        /// The reason.
        why: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It says that it cannot run on this machine, such as for want of a GPU.
    #[error("the adapter cannot run here: {message}")]
    CannotRun {
        /// The message.
        message: String,
    },
    /// It speaks another version of the protocol.
    #[error(
        "adapter `{program}` speaks protocol version {theirs}; this broadcheck speaks {ours}: use versions of both that match"
    )]
    WrongProtocol {
        /// The program that was started.
        program: String,
        /// The version that it speaks.
        theirs: u64,
        /// The version that this broadcheck speaks.
        ours: u32,
    },
    /// It uses the name of broadcheck's own reference.
    #[error(
        "adapter `{program}` declares the name {name:?}, which is reserved for broadcheck's own reference: rename it in `hello`"
    )]
    Reserved {
        /// The program that was started.
        program: String,
        /// The name.
        name: String,
    },
    /// Its `hello` after a restart differs from the first.
    #[error("adapter `{program}` answered hello differently after a restart: its hello must not change")]
    Changed {
        /// The program that was started.
        program: String,
    },
}

impl Fault {
    /// The last lines of standard error, enough for a terminal.
    pub fn stderr_lines(&self, count: usize) -> Vec<&str> {
        last_lines(&self.stderr, count)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind)?;
        if !self.confirmed && self.kind.was_run() {
            f.write_str(" (not reproduced with this program alone; an earlier one may be the cause)")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

impl FaultKind {
    /// Returns whether the process ended, or had to be ended.
    pub fn is_break(&self) -> bool {
        matches!(self, FaultKind::Crashed { .. } | FaultKind::TimedOut { .. })
    }

    /// Returns whether the process broke in the same way, whatever the limits were.
    pub fn is_as(&self, other: &FaultKind) -> bool {
        match (self, other) {
            (FaultKind::TimedOut { .. }, FaultKind::TimedOut { .. }) => true,
            (FaultKind::Crashed { status }, FaultKind::Crashed { status: other }) => status == other,
            _ => false,
        }
    }

    /// Returns whether the program was given to the adapter at all.
    pub fn was_run(&self) -> bool {
        !matches!(self, FaultKind::BudgetSpent { .. } | FaultKind::Halted { .. } | FaultKind::NotRestarted { .. })
    }

    pub(super) fn protocol(line: &[u8], why: impl Into<String>) -> FaultKind {
        FaultKind::Protocol { line: excerpt(line), why: why.into() }
    }
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FaultKind::Crashed { status } => write!(f, "the adapter ended ({status})"),
            FaultKind::TimedOut { after } => write!(f, "{NO_ANSWER} {after:?}"),
            FaultKind::Protocol { line, why } if line.is_empty() => write!(f, "protocol error: {why}"),
            FaultKind::Protocol { line, why } => write!(f, "protocol error: {why}: {line:?}"),
            FaultKind::BudgetSpent { restarts } => {
                write!(f, "not run: the adapter has used up its {restarts} restarts")
            }
            FaultKind::Halted { waited: None } => f.write_str("not run: the run ended first"),
            FaultKind::Halted { waited: Some(waited) } => {
                write!(f, "not finished: the run ended after {:.1} s of it", waited.as_secs_f64())
            }
            FaultKind::NotRestarted { why } => write!(f, "not run: {why}"),
        }
    }
}

/// The exit status, or the signal with its name. Whether a core was dumped depends on the machine, so it is left out.
pub(super) fn status_text(status: ExitStatus) -> String {
    status.to_string().replace(" (core dumped)", "")
}

/// The beginning of a message, as text that a person may see.
pub(super) fn excerpt(line: &[u8]) -> String {
    const SHOWN: usize = 160;
    if Encoding::of(line) == Encoding::MessagePack {
        return format!("a frame of {} bytes", line.len());
    }
    let start = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    match line.len() {
        0..=SHOWN => start.into_owned(),
        length => format!("{}… ({length} bytes)", start.trim_end_matches(char::REPLACEMENT_CHARACTER)),
    }
}

/// The last lines that say something. The frames of a Rust backtrace are left out: they come after what went wrong, and
/// there are enough of them to push it out of sight. (Python's come before it.)
fn last_lines(text: &str, count: usize) -> Vec<&str> {
    let mut lines: Vec<&str> =
        text.lines().rev().filter(|line| !line.trim().is_empty() && !of_a_backtrace(line)).take(count).collect();
    lines.reverse();
    lines
}

fn of_a_backtrace(line: &str) -> bool {
    let text = line.trim_start();
    // `stack backtrace:`, then for each frame `   7: path::of::function` and `             at file.rs:1:2`.
    let numbered = || text.split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    line.trim() == "stack backtrace:"
        || line.starts_with("note: Some details are omitted, run with `RUST_BACKTRACE")
        || (text.len() < line.len() && (numbered() || text.starts_with("at /") || text.starts_with("at ./")))
}

fn shown(stderr: &str) -> String {
    last_lines(stderr, 10).iter().map(|line| format!("\n    {line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_between_characters() {
        assert_eq!(excerpt(b"short"), "short");
        let long = "é".repeat(200);
        assert_eq!(excerpt(long.as_bytes()), format!("{}… (400 bytes)", "é".repeat(80)));
        let shifted = format!("x{long}");
        assert_eq!(excerpt(shifted.as_bytes()), format!("x{}… (401 bytes)", "é".repeat(79)));
    }

    #[test]
    fn a_start_error_shows_the_last_lines_of_standard_error() {
        let stderr: String = (0..20).map(|n| format!("line {n}\n\n")).collect();
        let error = StartError::Exited { program: "a".into(), status: "exit status: 3".into(), stderr }.to_string();
        assert!(error.starts_with("adapter `a` ended before it answered hello (exit status: 3)\n    line 10\n"));
        assert!(error.ends_with("\n    line 19"));
    }

    #[test]
    fn a_backtrace_does_not_hide_what_went_wrong() {
        let frames: String =
            (0..30).map(|n| format!("  {n:2}: alloc::raw_vec::f\n             at ./a.rs:{n}:1\n")).collect();
        let note = "note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.";
        let text = format!("memory allocation of 9 bytes failed\nstack backtrace:\n{frames}{note}\n");
        assert_eq!(last_lines(&text, 20), ["memory allocation of 9 bytes failed"]);
        let python = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 3: at /";
        assert_eq!(last_lines(python, 20).len(), 3);
    }
}
