//! An adapter that has its answers ready, so that nothing but the protocol takes time.

use std::io;
use std::path::Path;

use super::protocol::{Encoding, Response, VERSION};
use super::{Hello, Implementation, serve};
use crate::program::{Program, Reply};

/// A declaration, and answers in the order in which they will be asked for.
pub struct Canned {
    hello: Hello,
    replies: std::vec::IntoIter<Reply>,
}

impl Canned {
    /// Puts them into a file, as an adapter would write them.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(path: &Path, hello: Hello, replies: &[Reply]) -> io::Result<()> {
        let mut lines = Vec::new();
        Response::Hello { protocol: VERSION, encodings: Vec::new(), hello }.write(Encoding::Json, &mut lines);
        for (seq, reply) in (0..).zip(replies) {
            Response::Ran { seq, reply: reply.clone() }.write(Encoding::Json, &mut lines);
        }
        std::fs::write(path, lines)
    }

    /// Serves those of a file on standard input and output.
    ///
    /// # Errors
    /// When the file cannot be read, or a stream breaks.
    pub fn serve(path: &Path) -> io::Result<()> {
        let text = std::fs::read_to_string(path)?;
        let (mut declared, mut replies) = (None, Vec::new());
        for line in text.lines() {
            match Response::parse(line.as_bytes()).map_err(io::Error::other)? {
                Response::Hello { hello, .. } => declared = Some(hello),
                Response::Ran { reply, .. } => replies.push(reply),
                Response::Error { message } => return Err(io::Error::other(message)),
            }
        }
        let hello = declared.ok_or_else(|| io::Error::other("there is no declaration"))?;
        serve(&mut Canned { hello, replies: replies.into_iter() }, io::stdin().lock(), io::stdout().lock())
    }
}

impl Implementation for Canned {
    fn hello(&mut self) -> Hello {
        self.hello.clone()
    }

    fn run(&mut self, _: &Program) -> Reply {
        self.replies.next().unwrap_or_default()
    }
}
