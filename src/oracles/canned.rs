//! An adapter that has its answers ready, so that nothing but the protocol takes time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use crate::adapter::{Hello, Implementation, serve};
use crate::program::{Program, Reply};
use crate::reference::Reference;

/// Answers, in the order in which they will be asked for.
pub struct Canned(std::vec::IntoIter<Reply>);

impl Canned {
    /// Puts answers into a file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(path: &Path, replies: &[Reply]) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        for reply in replies {
            serde_json::to_writer(&mut file, reply)?;
            file.write_all(b"\n")?;
        }
        file.flush()
    }
}

impl Implementation for Canned {
    fn hello(&mut self) -> Hello {
        Hello { name: "canned".to_owned(), ..Reference.hello() }
    }

    fn run(&mut self, _: &Program) -> Reply {
        self.0.next().unwrap_or_default()
    }
}

/// Serves the answers in a file on standard input and output.
///
/// # Errors
/// When the file cannot be read, or a stream breaks.
pub fn serve_canned(path: &Path) -> io::Result<()> {
    let lines = BufReader::new(File::open(path)?).lines();
    let replies: Vec<Reply> = lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect::<io::Result<_>>()?;
    serve(&mut Canned(replies.into_iter()), io::stdin().lock(), io::stdout().lock())
}
