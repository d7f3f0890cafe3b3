//! Runs a program while watching it: its lines of standard error as they come, and a tick for progress.
//! It must not know which programs they are.

use std::io::{self, BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The interval between ticks.
const TICK: Duration = Duration::from_millis(100);

/// The time to wait for the next line once the program has ended.
const GRACE: Duration = Duration::from_secs(2);

/// Runs the command to its end. `line` hears each line of its standard error; `tick` is called about ten times a
/// second.
pub(crate) fn watch(
    command: &mut Command,
    mut line: impl FnMut(&str),
    mut tick: impl FnMut(),
) -> io::Result<ExitStatus> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let stderr = child.stderr.take().expect("standard error was asked for");
    let (sender, lines) = channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(stderr);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&bytes).trim_end().to_string();
            bytes.clear();
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    let mut ticked = Instant::now();
    let status = loop {
        match lines.recv_timeout(TICK) {
            Ok(text) => line(&text),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break child.wait()?,
        }
        if ticked.elapsed() >= TICK {
            tick();
            ticked = Instant::now();
        }
        if let Some(status) = child.try_wait()? {
            break status;
        }
    };
    // A daemon that the program left behind (a compiler cache does that) may hold the pipe open for ever, so the end
    // of the lines is not waited for beyond what is already on its way; on a busy machine that takes its time.
    while let Ok(text) = lines.recv_timeout(GRACE) {
        line(&text);
    }
    Ok(status)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run(script: &str) -> (ExitStatus, Vec<String>) {
        let mut seen = Vec::new();
        let status = watch(Command::new("sh").args(["-c", script]), |line| seen.push(line.to_string()), || {});
        (status.unwrap(), seen)
    }

    #[test]
    fn lines_and_status_arrive() {
        let (status, seen) = run("echo one >&2; echo ignored; echo two >&2; exit 3");
        assert_eq!((status.code(), seen), (Some(3), vec!["one".to_string(), "two".to_string()]));
    }

    #[test]
    fn a_daemon_that_keeps_the_pipe_open_is_not_waited_for() {
        let started = Instant::now();
        let (status, seen) = run("echo one >&2; sleep 5 & exit 0");
        assert!(status.success() && seen == ["one"]);
        assert!(started.elapsed() < Duration::from_secs(4));
    }
}
