//! Serves the adapter protocol for libtorch: `adapters/README.md`.

use std::io::{self, Write};
use std::num::NonZero;
use std::process::ExitCode;

use broadcheck_libtorch::{Libtorch, bare, dispatch_all, set_threads};
use broadcheck_protocol::adapter::{Implementation, private_stdout, serve};

const HELP: &str = "\
broadcheck-libtorch: libtorch as an adapter of broadcheck

Reads requests from stdin and answers on stdout, lines or frames; adapters/README.md of broadcheck has the protocol.

Usage: broadcheck-libtorch [--threads N] [--dispatcher | --aliases] [--bare | --tch]

  --threads N   threads that libtorch may use; one, unless told otherwise, so that sums have one order
  --dispatcher  call libtorch's dispatcher where the methods of tch would be called
  --aliases     call each operation by an alias that libtorch registers, such as aten::multiply for aten::mul
  --bare        answer nothing, but print how many seconds the programs took; `broadcheck bench` asks so
  --tch         the same without this adapter, by the methods of tch alone
  --version     print the versions of the adapter and of libtorch
  --help        print this
";

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("broadcheck-libtorch: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let mut threads = 1;
    let mut aliases = false;
    let mut measure = None;
    let mut rest = args.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        match argument {
            "--threads" => {
                let number = rest.next().ok_or("--threads: a number is missing; see --help")?;
                let number: NonZero<u16> = number.parse().map_err(|error| format!("--threads {number}: {error}"))?;
                threads = number.get().into();
            }
            "--dispatcher" => dispatch_all(),
            "--aliases" => aliases = true,
            "--bare" | "--tch" => measure = Some(argument),
            "--version" | "-V" => {
                let hello = Libtorch::new().hello();
                println!("broadcheck-libtorch {} ({} {})", env!("CARGO_PKG_VERSION"), hello.name, hello.version);
                return Ok(());
            }
            "--help" | "-h" => {
                print!("{HELP}");
                return Ok(());
            }
            _ => return Err(format!("unexpected arguments: {}; see --help", args.join(" ")).into()),
        }
    }
    let mut replies = private_stdout()?;
    set_threads(threads);
    if let Some(how) = measure {
        let input = io::stdin().lock();
        writeln!(replies, "{}", if how == "--tch" { tch(input)? } else { bare(input)? })?;
        return Ok(());
    }
    let mut libtorch = if aliases { Libtorch::by_aliases() } else { Libtorch::new() };
    serve(&mut libtorch, io::stdin().lock(), replies)?;
    Ok(())
}

#[cfg(feature = "tch")]
use broadcheck_libtorch::tch;

#[cfg(not(feature = "tch"))]
fn tch(_: impl io::BufRead) -> io::Result<f64> {
    Err(io::Error::other("--tch: this adapter was built without tch"))
}
