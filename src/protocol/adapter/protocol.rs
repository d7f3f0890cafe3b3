//! The messages between the harness and an adapter: requests on stdin, replies on stdout.
//!
//! `adapters/README.md` specifies them by example; [`Encoding`] is how they are written.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Hello;
use super::wire;
pub use super::wire::Encoding;
use crate::program::{Program, Reply};

/// The protocol version that this broadcheck speaks.
pub const VERSION: u32 = 1;

/// A request of the harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request<'a> {
    /// Asks for the declaration of the implementation. Always first.
    Hello {
        /// The version of the protocol.
        protocol: u32,
    },
    /// Run one program; the answer bears the same number.
    Run {
        /// The number of the request.
        seq: u64,
        /// The program that was started.
        program: Cow<'a, Program>,
    },
}

impl Request<'_> {
    /// Adds the request to what is to be sent.
    // Adapters write none, so it is compiled where it is called.
    #[inline]
    pub fn write(&self, encoding: Encoding, to: &mut Vec<u8>) {
        encoding.write(self, to);
    }

    /// Parses a message.
    ///
    /// # Errors
    /// The reason why it is no request.
    pub fn parse(message: &[u8]) -> Result<Request<'static>, String> {
        wire::parse(message, "request")
    }
}

/// A response of an adapter. It flushes before it waits for the next request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Response {
    /// The answer to `hello`. JSON is not among the encodings: everybody understands it.
    Hello {
        /// The version of the protocol.
        protocol: u32,
        /// The encodings that it reads.
        #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "super::known")]
        encodings: Vec<Encoding>,
        /// The declaration.
        hello: Hello,
    },
    /// The answer to `run`, in the order of the requests.
    Ran {
        /// The number of the request.
        seq: u64,
        /// The outcome of the program.
        reply: Reply,
    },
    /// The request made no sense to the adapter. As the answer to `hello`: it cannot run on this machine.
    Error {
        /// The message.
        message: String,
    },
}

impl Response {
    /// Adds the response to what is to be sent.
    pub fn write(&self, encoding: Encoding, to: &mut Vec<u8>) {
        encoding.write(self, to);
    }

    /// Parses a message.
    ///
    /// # Errors
    /// The reason why it is no response.
    // Adapters read none, so it is compiled where it is called.
    #[inline]
    pub fn parse(message: &[u8]) -> Result<Response, String> {
        wire::parse(message, "response")
    }
}
