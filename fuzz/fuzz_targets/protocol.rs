//! The adapter protocol: a server answers every line, whatever is in it, and messages survive the way over the wire.

#![no_main]

use std::borrow::Cow;

use broadcheck_harness::adapter::protocol::{Encoding, Request, Response};
use broadcheck_harness::adapter::{Hello, Implementation, serve};
use broadcheck_harness::generate::{self, Options};
use broadcheck_protocol::program::{Program, Reply};
use broadcheck_reference::Reference;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // The first byte decides, so that libFuzzer can move what it learns about one half to the other.
    let Some((&first, rest)) = bytes.split_first() else { return };
    if first % 2 == 0 { serve_lines(rest) } else { round_trip(rest) }
});

/// Anything. To lines there are as many answers as there are lines with something in them, each a response.
fn serve_lines(bytes: &[u8]) {
    // What begins with a zero is a frame.
    let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) else {
        let _ = serve(&mut Mute, bytes, std::io::sink());
        return;
    };
    let mut answers = Vec::new();
    serve(&mut Mute, bytes, &mut answers).expect("memory does not break");
    let answers = String::from_utf8(answers).expect("JSON is text");
    let asked = text.lines().filter(|line| !line.trim_ascii().is_empty()).count();
    assert_eq!(answers.lines().count(), asked, "{answers}");
    for answer in answers.lines() {
        Response::parse(answer.as_bytes()).unwrap_or_else(|error| panic!("{error}: {answer}"));
    }
}

/// A program and the reply to it: what is read back is what was written.
fn round_trip(bytes: &[u8]) {
    let (program, reply) = generate::fuzzed(bytes, &Options::default());
    // There is none to a program without steps.
    let reply = reply.unwrap_or_default();
    let seq = bytes.len() as u64;
    survives(&Request::Run { seq, program: Cow::Owned(program) }, Request::write, Request::parse);
    survives(&Response::Ran { seq, reply }, Response::write, Response::parse);
}

fn survives<T>(message: &T, write: fn(&T, Encoding, &mut Vec<u8>), parse: fn(&[u8]) -> Result<T, String>) {
    for encoding in [Encoding::Json, Encoding::MessagePack] {
        let written = |message: &T| {
            let mut bytes = Vec::new();
            write(message, encoding, &mut bytes);
            bytes
        };
        let bytes = written(message);
        let line = bytes.strip_suffix(b"\n").filter(|_| encoding == Encoding::Json);
        let again = parse(line.unwrap_or(&bytes)).expect("its own writing");
        // As bytes, because a NaN is not equal to itself.
        assert_eq!(written(&again), bytes);
    }
}

/// An implementation without opinions: programs off the wire may claim any size, and it is the server that is tested.
struct Mute;

impl Implementation for Mute {
    fn hello(&mut self) -> Hello {
        Hello { name: "mute".to_owned(), ..Reference.hello() }
    }

    fn run(&mut self, _: &Program) -> Reply {
        Reply::default()
    }
}
