//! The start of an adapter, its greeting, and the conversion of messages into responses.

use std::ffi::OsString;
use std::io;

use serde::Deserialize;

use super::Hello;
use super::child::{Child, Ended, Event};
use super::fault::{StartError, excerpt, status_text};
use super::limits::{Halt, Limits};
use super::protocol::{Encoding, Request, Response, VERSION};

/// The name of broadcheck's own implementation. What is compared with it depends on how it was started, and an adapter of
/// that name would only mislead.
const RESERVED: &str = "reference";

/// The command that starts an adapter.
///
/// ```
/// use broadcheck_adapter::{CommandLine, Limits, Process, StartError};
///
/// let command = CommandLine::new("no-such-adapter").arg("--quiet").env("OMP_NUM_THREADS", "1");
/// let error = Process::start(command, Limits::default()).err().unwrap();
/// assert!(matches!(error, StartError::NotFound { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The program; a bare name is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Variables to set in addition to the environment that it inherits.
    pub env: Vec<(OsString, OsString)>,
}

impl CommandLine {
    /// A program without arguments.
    pub fn new(program: impl Into<OsString>) -> CommandLine {
        CommandLine { program: program.into(), args: Vec::new(), env: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> CommandLine {
        self.args.push(arg.into());
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> CommandLine {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Returns the name that messages give it.
    pub(super) fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }
}

/// Starts a process.
pub(super) fn spawn(command: &CommandLine, limits: &Limits) -> Result<Child, StartError> {
    let program = command.name();
    let mut process = std::process::Command::new(&command.program);
    process.args(&command.args).envs(command.env.iter().map(|(name, value)| (name, value)));
    Child::spawn(&mut process, limits.line, limits.memory).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => StartError::NotFound { program },
        _ => StartError::Spawn { program, source },
    })
}

/// Starts a process and waits for its hello, unless it is time to halt. With it comes the best encoding that it
/// understands.
pub(super) fn launch(
    command: &CommandLine,
    limits: &Limits,
    halt: &Halt,
) -> Result<(Child, Hello, Encoding), StartError> {
    let program = command.name();
    let mut child = spawn(command, limits)?;
    let mut request = Vec::new();
    Request::Hello { protocol: VERSION }.write(Encoding::Json, &mut request);
    child.send(request);
    let rubbish = |child: Child, line: &[u8], why: String| {
        let line = excerpt(line);
        Err(StartError::Rubbish { program: command.name(), line, why, stderr: child.kill().stderr })
    };
    let line = match halt.receive(&mut child, limits.hello) {
        Some(Event::Message(line)) => line,
        Some(Event::TooLong(line)) => return rubbish(child, &line, format!("longer than {} bytes", limits.line)),
        Some(Event::End { unfinished }) => {
            let Ended { status, stderr, .. } = child.ended();
            return Err(match status {
                Some(status) if unfinished.is_empty() || !status.success() => {
                    StartError::Exited { program, status: status_text(status), stderr }
                }
                _ => {
                    let why = "its output ends in the middle of the line".to_owned();
                    StartError::Rubbish { program, line: excerpt(&unfinished), why, stderr }
                }
            });
        }
        None => {
            let Ended { unfinished, stderr, .. } = child.kill();
            if unfinished.is_empty() {
                return Err(StartError::TimedOut { program, after: limits.hello, stderr });
            }
            let why = format!("the line has no end after {:?}", limits.hello);
            return Err(StartError::Rubbish { program, line: excerpt(&unfinished), why, stderr });
        }
    };
    if let Some(theirs) = version_of(&line).filter(|&theirs| theirs != u64::from(VERSION)) {
        return Err(StartError::WrongProtocol { program, theirs, ours: VERSION });
    }
    match decode(&line) {
        Ok(Response::Hello { hello, .. }) if hello.name == RESERVED => {
            Err(StartError::Reserved { program, name: hello.name })
        }
        Ok(Response::Hello { encodings, hello, .. }) => {
            Ok((child, hello, encodings.first().copied().unwrap_or_default()))
        }
        Ok(Response::Error { message }) => Err(StartError::CannotRun { message }),
        Ok(Response::Ran { .. }) => rubbish(child, &line, "an answer to `run` instead of `hello`".to_owned()),
        Err(why) => rubbish(child, &line, why),
    }
}

/// The protocol version in a hello, whatever else that version has put there.
fn version_of(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct AnyResponse {
        hello: AnyHello,
    }
    #[derive(Deserialize)]
    struct AnyHello {
        protocol: u64,
    }
    serde_json::from_slice(line).ok().map(|AnyResponse { hello }| hello.protocol)
}

/// The response that a message is, or why it is none.
pub(super) fn decode(message: &[u8]) -> Result<Response, String> {
    if message.trim_ascii().is_empty() {
        return Err("a blank line".to_owned());
    }
    Response::parse(message)
}
