//! The messages between the harness and an adapter: JSON lines, requests on stdin, replies on stdout.
//!
//! `adapters/README.md` specifies them by example.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Hello;
use crate::program::{Program, Reply};

/// The protocol version that this broadcheck speaks.
pub const VERSION: u32 = 1;

/// What the harness sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request<'a> {
    /// Who are you? Always first.
    Hello { protocol: u32 },
    /// Run one program; the answer bears the same number.
    Run { seq: u64, program: Cow<'a, Program> },
}

/// What an adapter answers. It flushes before it waits for the next request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Response {
    /// The answer to `hello`.
    Hello { protocol: u32, hello: Hello },
    /// The answer to `run`, in the order of the requests.
    Ran { seq: u64, reply: Reply },
    /// The request made no sense to the adapter.
    Error { message: String },
}

/// Adds the line of a message.
pub(super) fn encode(message: &impl Serialize, lines: &mut Vec<u8>) {
    serde_json::to_writer(&mut *lines, message).expect("messages have only text for keys");
    lines.push(b'\n');
}
