//! The validation of an adapter: every rule of `adapters/README.md` that can be observed from outside, tried on a
//! process. It judges no result.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde_json::Value as Json;

use super::check::problem;
use super::child::{Child, Event};
use super::fault::{excerpt, status_text};
use super::launch::{CommandLine, decode, spawn};
use super::protocol::{Encoding, Request, Response, VERSION};
use super::{Capability, Hello, StartError, unsupported_by};
use crate::limits::Limits;
use crate::ops::{Form, Op};
use crate::program::{Outcome, Program};
use crate::tensor::DType;

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The place where it shows.
    pub place: String,
    /// The error.
    pub what: String,
    /// The advice on how to fix it.
    pub advice: &'static str,
}

/// The checks that were made, and their outcome.
#[derive(Debug, Default)]
pub struct Validation {
    /// The declaration of the adapter, if it was understood.
    pub hello: Option<Hello>,
    /// The programs that it was given.
    pub programs: usize,
    /// Everything that is wrong.
    pub violations: Vec<Violation>,
    /// Programs that ended the process twice, with its exit status: a crash of the library, which `check` reports.
    pub ended: Vec<(String, String)>,
    /// Operations that `hello` lists and that gave no value in any program.
    pub never: Vec<Op>,
}

/// A program to try, and what to call it.
pub type Trial<'a> = (&'a str, &'a Program);

const STREAM: &str = "duplicate standard output before the library is loaded, point descriptor 1 at standard error, and \
                      write nothing but answers to the duplicate; flush them";
const NAMES: &str = "use the names that `broadcheck ops --format json` prints; a misspelt one is never run";
const MISTAKE: &str = "`failed` is for the adapter's own mistakes: read what it wrote to standard error, and answer \
                       `rejected` where the library raises";
const BY_HAND: &str = "run it by hand and read what it writes to standard error";
const FORM: &str = "see `Run` and `All there is` in adapters/README.md, and adapters/protocol.schema.json";

/// Starts the adapter, greets it, gives it nonsense and then programs of `trials` that it has declared to support: so many
/// for `each` operation and form, or all. Then it closes its input.
///
/// # Errors
/// When it cannot be started.
pub fn validate(
    command: &CommandLine,
    limits: &Limits,
    trials: &[Trial],
    each: Option<usize>,
) -> Result<Validation, StartError> {
    let child = spawn(command, limits)?;
    let mut session = Session {
        command,
        child,
        limits,
        found: Validation::default(),
        encoding: Encoding::Json,
        starts: 0,
        stray: None,
    };
    session.greet();
    if session.found.hello.is_some() && session.nonsense() && session.programs(trials, each) {
        session.end();
    }
    Ok(session.found)
}

struct Session<'a> {
    command: &'a CommandLine,
    child: Child,
    limits: &'a Limits,
    found: Validation,
    /// The encoding that it offers next to JSON, or JSON.
    encoding: Encoding,
    /// The number of times the process has been restarted.
    starts: usize,
    /// The place where the process broke, though not when it was asked again, and its status: the next program is the
    /// cause or an accident.
    stray: Option<(String, String)>,
}

impl Session<'_> {
    fn violation(&mut self, place: &str, what: impl Into<String>, advice: &'static str) {
        self.found.violations.push(Violation { place: place.to_owned(), what: what.into(), advice });
    }

    /// The next line, or why there is none.
    fn line(&mut self, place: &str, limit: Duration) -> Option<Vec<u8>> {
        let event = self.child.receive(limit);
        self.line_of(place, limit, event)
    }

    fn line_of(&mut self, place: &str, limit: Duration, event: Option<Event>) -> Option<Vec<u8>> {
        match event {
            Some(Event::Message(line)) => return Some(line),
            Some(Event::TooLong(line)) => {
                self.violation(place, format!("the line is longer than the limit: {}", excerpt(&line)), FORM);
            }
            Some(Event::End { unfinished }) if unfinished.is_empty() => {
                self.violation(place, "the adapter ended", BY_HAND)
            }
            Some(Event::End { unfinished }) => {
                self.violation(place, format!("the line has no end (`\\n`): {}", excerpt(&unfinished)), STREAM);
            }
            None => {
                let what = format!("no answer within {limit:?}");
                self.violation(
                    place,
                    what,
                    "flush before you wait for the next line, and answer every line that is not blank",
                );
            }
        }
        None
    }

    fn greeting(&mut self) {
        let mut message = Vec::new();
        Request::Hello { protocol: VERSION }.write(Encoding::Json, &mut message);
        self.child.send(message);
    }

    fn greet(&mut self) {
        let place = "the answer to `hello`";
        self.greeting();
        let Some(line) = self.line(place, self.limits.hello) else { return };
        let Ok(json) = serde_json::from_slice::<Json>(&line) else {
            self.violation(place, format!("not JSON: {}", excerpt(&line)), STREAM);
            return;
        };
        if let Ok(Response::Error { message }) = decode(&line) {
            let what = StartError::CannotRun { message }.to_string();
            self.violation(place, what, "run this where its library runs");
            return;
        }
        for (what, advice) in of_hello(&json) {
            self.violation(place, what, advice);
        }
        match decode(&line) {
            Ok(Response::Hello { encodings, hello, .. }) => {
                self.found.hello = Some(hello);
                self.encoding = encodings.first().copied().unwrap_or_default();
            }
            Ok(_) => self.violation(place, "it is another answer than `hello`", FORM),
            Err(why) => self.violation(place, why, FORM),
        }
    }

    fn nonsense(&mut self) -> bool {
        let mut tries =
            vec![("the answer to a line that is not a request", &b"{\"neither\": \"hello nor run\"}\n"[..])];
        if self.encoding == Encoding::MessagePack {
            tries.push(("the answer to a frame that is not a request", &[0, 1, 0, 0, 0, 7]));
        }
        for (place, nonsense) in tries {
            self.child.send(nonsense.to_vec());
            let Some(message) = self.line(place, self.limits.program) else { return false };
            if !matches!(decode(&message), Ok(Response::Error { .. })) {
                let advice = "answer {\"error\":{\"message\":\"…\"}} and read the next request";
                self.violation(place, format!("it is {}", excerpt(&message)), advice);
            }
        }
        true
    }

    /// The answer to a program that has been asked for. Where the process breaks over it, it is started and asked again;
    /// where it breaks once more there is none, and it is started for the next program. `None` if nothing can follow.
    fn answer(&mut self, place: &str, request: Vec<u8>) -> Option<Option<Vec<u8>>> {
        let before = match self.heard(place)? {
            Ok(line) => return Some(Some(line)),
            Err(status) => status,
        };
        self.again(place)?;
        self.child.send(request);
        match self.heard(place)? {
            Ok(line) => {
                self.stray = Some((place.to_owned(), before));
                Some(Some(line))
            }
            Err(status) => {
                self.found.ended.push((place.to_owned(), status));
                self.again(place)?;
                Some(None)
            }
        }
    }

    /// A line, or how the process broke. One that ends with status 0 was not broken by a library.
    fn heard(&mut self, place: &str) -> Option<Result<Vec<u8>, String>> {
        let limit = self.limits.program;
        let event = self.child.receive(limit);
        if matches!(&event, Some(Event::End { unfinished }) if unfinished.is_empty())
            && let Some(status) = self.child.finish().filter(|status| !status.success())
        {
            return Some(Err(status_text(status)));
        }
        self.line_of(place, limit, event).map(Ok)
    }

    fn again(&mut self, place: &str) -> Option<()> {
        match spawn(self.command, self.limits) {
            Ok(child) => self.child = child,
            Err(error) => {
                self.violation(place, format!("it failed to restart: {error}"), BY_HAND);
                return None;
            }
        }
        self.starts += 1;
        self.greeting();
        self.line(place, self.limits.hello).map(drop)
    }

    /// Two requests are always there before the first is answered. Where the adapter has an encoding next to JSON,
    /// every other one is written so.
    fn programs(&mut self, trials: &[Trial], each: Option<usize>) -> bool {
        let hello = self.found.hello.clone().expect("the caller looked");
        let supported = trials.iter().filter(|(_, program)| unsupported_by(&hello, program).is_none());
        let runnable: Vec<&Trial> = match each {
            Some(each) => a_few(supported, each),
            None => supported.collect(),
        };
        let mut valued: BTreeMap<Op, bool> = BTreeMap::new();
        let encodings = [Encoding::Json, self.encoding];
        let request = |at: usize| {
            let (_, program) = runnable.get(at)?;
            let mut message = Vec::new();
            let request = Request::Run { seq: at as u64 + 1, program: Cow::Borrowed(*program) };
            request.write(encodings[at % 2], &mut message);
            Some(message)
        };
        let ask = |child: &mut Child, at: usize| request(at).into_iter().for_each(|request| child.send(request));
        ask(&mut self.child, 0);
        for (at, (name, program)) in runnable.iter().enumerate() {
            ask(&mut self.child, at + 1);
            let place = format!("the answer to program {} ({name})", at + 1);
            let (starts, stray) = (self.starts, self.stray.take());
            let Some(answer) = request(at).and_then(|request| self.answer(&place, request)) else { return false };
            if self.starts > starts {
                ask(&mut self.child, at + 1);
            } else if let Some((place, status)) = stray {
                self.violation(&place, format!("{status}, but an answer when the program was sent again"), BY_HAND);
            }
            self.found.programs += 1;
            let Some(line) = answer else { continue };
            if Encoding::of(&line) != encodings[at % 2] {
                self.violation(
                    &place,
                    format!("it is {}", excerpt(&line)),
                    "answer a line by a line, a frame by a frame",
                );
            }
            match decode(&line) {
                Ok(Response::Ran { seq, reply }) => {
                    if seq != at as u64 + 1 {
                        let advice = "answer in the order of the requests, each with the number of its request";
                        self.violation(&place, format!("it has `seq` {seq}"), advice);
                    }
                    if let Some(what) = problem(program, &reply, &hello) {
                        self.violation(&place, what, FORM);
                    }
                    for (step, answer) in program.steps.iter().zip(&reply.steps) {
                        *valued.entry(step.op).or_default() |= matches!(answer.outcome, Outcome::Value(_));
                        if let Outcome::Failed(why) = &answer.outcome {
                            let last = why.lines().last().unwrap_or_default();
                            self.violation(
                                &place,
                                format!("step `{}` ({}) failed: {last}", step.name, step.op),
                                MISTAKE,
                            );
                        }
                    }
                }
                Ok(Response::Error { message }) => {
                    self.violation(&place, format!("the adapter could not parse the request: {message}"), FORM);
                }
                Ok(Response::Hello { .. }) => self.violation(&place, "it is a `hello`", FORM),
                Err(why) => {
                    let advice = if why.starts_with("not JSON") { STREAM } else { FORM };
                    self.violation(&place, format!("{why}: {}", excerpt(&line)), advice);
                }
            }
        }
        if let Some((place, status)) = self.stray.take() {
            self.violation(&place, format!("{status}, but an answer when the program was sent again"), BY_HAND);
        }
        self.found.never = valued.into_iter().filter_map(|(op, valued)| (!valued).then_some(op)).collect();
        true
    }

    fn end(&mut self) {
        let place = "the end of the input";
        let advice = "exit with status 0 when standard input ends";
        if let Some(Event::Message(line)) = self.child.poll() {
            self.violation(place, format!("a line without a request: {}", excerpt(&line)), STREAM);
        }
        match self.child.finish() {
            None => self.violation(place, "the adapter does not exit", advice),
            Some(status) if !status.success() => self.violation(place, status_text(status), advice),
            Some(_) => {}
        }
    }
}

/// Programs until each operation has been met so often in each form.
fn a_few<'a>(trials: impl Iterator<Item = &'a Trial<'a>>, each: usize) -> Vec<&'a Trial<'a>> {
    let mut met: HashMap<(Op, Form), usize> = HashMap::new();
    let wanted = |(_, program): &&Trial| {
        let mut wanted = false;
        for step in &program.steps {
            let count = met.entry((step.op, step.form)).or_default();
            wanted |= *count < each;
            *count += 1;
        }
        wanted
    };
    trials.filter(wanted).collect()
}

/// Returns the errors in a hello that serde would accept, or would report with less helpful names.
fn of_hello(json: &Json) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let outer = &json["hello"];
    match outer["protocol"].as_u64() {
        Some(theirs) if theirs == u64::from(VERSION) => {}
        Some(theirs) => found.push((
            format!("it speaks protocol version {theirs}, this broadcheck speaks {VERSION}"),
            "write the adapter for this version; `adapters/README.md` has it",
        )),
        None => {
            found.push(("it has no `hello.protocol`".to_owned(), "answer {\"hello\":{\"protocol\":1,\"hello\":{…}}}"))
        }
    }
    let hello = &outer["hello"];
    for field in ["name", "version"] {
        if hello[field].as_str().is_none_or(str::is_empty) {
            found.push((format!("`{field}` is not a string, or empty"), "ask the library for it at run time"));
        }
    }
    if hello["name"].as_str().is_some_and(|name| name.contains(['/', '\\', '.'])) {
        found.push(("`name` looks like a path".to_owned(), "use the plain name of the library"));
    }
    let mut names = |field: &str, known: &dyn Fn(&str) -> bool| {
        let Some(list) = hello[field].as_array() else {
            if field != "capabilities" {
                found.push((format!("`{field}` is not a list"), FORM));
            }
            return;
        };
        for name in list {
            match name.as_str() {
                None => found.push((format!("`{field}` has {name}, which is not a string"), FORM)),
                Some(name) if !known(name) => {
                    found.push((format!("`{field}` has `{name}`, which broadcheck does not know"), NAMES));
                }
                Some(_) => {}
            }
        }
    };
    names("ops", &|name| Op::ALL.iter().any(|op| op.info().name == name));
    names("dtypes", &|name| DType::ALL.iter().any(|dtype| dtype.name() == name));
    names("capabilities", &|name| serde_json::from_value::<Capability>(Json::from(name)).is_ok());
    if hello["ops"].as_array().is_some_and(Vec::is_empty) || hello["dtypes"].as_array().is_some_and(Vec::is_empty) {
        found.push(("it declares no operation or no dtype, so it can run nothing".to_owned(), NAMES));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(hello: Json) -> String {
        let found = of_hello(&json!({"hello": hello}));
        found.into_iter().map(|(what, _)| what).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_correct_hello_passes() {
        let inner = json!({"name": "n", "version": "1", "ops": ["add"], "dtypes": ["bool"], "capabilities": ["out"]});
        assert_eq!(said(json!({"protocol": 1, "hello": inner})), "");
    }

    #[test]
    fn every_error_of_a_hello_is_reported() {
        let inner = json!({"name": "a/b", "version": 1, "ops": ["ad"], "dtypes": [], "capabilities": ["wings"]});
        let said = said(json!({"protocol": 2, "hello": inner}));
        for part in ["version 2", "`version` is not a string", "like a path", "`ad`", "`wings`", "can run nothing"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(super::of_hello(&json!({})).len() >= 4);
    }
}
