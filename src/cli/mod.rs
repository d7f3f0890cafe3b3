//! The command line, one file a subcommand. It formats results of the library as text, and decides exit codes.

mod bench;
mod bisect;
mod campaign;
mod check;
mod confirm;
mod corpus;
mod coverage;
mod diff;
mod events;
mod exhaust;
mod explain;
mod fuzz;
mod impls;
mod libtorch;
mod matrix;
mod merge;
mod mutants;
mod new_adapter;
mod ops;
mod report;
mod repro;
mod runner;
mod show;
mod validate_adapter;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::assets;
use crate::case;
use crate::escape::visible;

/// Conformance tests and a differential fuzzer for PyTorch's broadcasting semantics, against the real libtorch.
#[derive(Debug, Parser)]
#[command(
    name = "broadcheck",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  broadcheck check                     the whole specification on the reference and on libtorch
  broadcheck fuzz --seconds 600        generated programs on libtorch, judged by three oracles
  broadcheck exhaust                   every pair of small shapes through every operation
  broadcheck diff 2.12.1 2.13.0        what changed between two releases
  broadcheck explain 5,1,4,1 3,1,1     why two shapes broadcast, or do not
  broadcheck libtorch install          fetch libtorch and build its adapter
  broadcheck check --impl numpy        the same on another library, which is installed first

Exit codes: 0 conforms, 1 does not conform, 2 could not run, 130 interrupted (a campaign or matrix, by Ctrl-C or SIGTERM).

The specification, the adapters and their known differences come with the program. `broadcheck --version --verbose` says
which ones are used: those after --source, in BROADCHECK_SOURCE, in a checkout around the working folder, or the
program's own."
)]
struct Cli {
    /// A checkout of broadcheck, whose specification and adapters are used instead of those in the program.
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bench(bench::Bench),
    Bisect(bisect::Bisect),
    Check(check::Check),
    Confirm(confirm::Confirm),
    Corpus(corpus::Corpus),
    Coverage(coverage::Coverage),
    Diff(diff::Diff),
    Exhaust(exhaust::Exhaust),
    Explain(explain::Explain),
    Fuzz(fuzz::Fuzz),
    Impl(impls::Impl),
    Libtorch(libtorch::Libtorch),
    Matrix(matrix::Matrix),
    Merge(merge::Merge),
    Mutants(mutants::Mutants),
    NewAdapter(new_adapter::NewAdapter),
    Ops(ops::Ops),
    Report(report::Report),
    Repro(repro::Repro),
    Show(show::Show),
    ValidateAdapter(validate_adapter::ValidateAdapter),
}

/// The result of a command, which decides its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The implementation conforms, or the command judges nothing.
    Conforms,
    /// The implementation does not conform.
    Differs,
    /// The command was stopped before it was done. Its findings so far are saved.
    Interrupted,
}

/// The exit code of an interrupted command, as shells have it for Ctrl-C.
const INTERRUPTED: u8 = 130;

/// The reason why a command could not do its work.
type Failure = Box<dyn std::error::Error>;

/// Runs the program.
pub fn main() -> ExitCode {
    if let Some(ending) = verbose_version(std::env::args_os().skip(1)) {
        return ended(ending);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // `--help` and `--version` are no errors; anything else is a mistake in the arguments.
        Err(asked) if !asked.use_stderr() => {
            return ended(print(&asked.render().ansi().to_string()).map(|()| Ending::Conforms));
        }
        Err(mistake) => mistake.exit(),
    };
    if let Some(folder) = cli.source {
        assets::prefer(folder);
    }
    ended(match cli.command {
        Command::Bench(command) => command.run(),
        Command::Bisect(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Confirm(command) => command.run(),
        Command::Corpus(command) => command.run(),
        Command::Coverage(command) => command.run(),
        Command::Diff(command) => command.run(),
        Command::Exhaust(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Fuzz(command) => command.run(),
        Command::Impl(command) => command.run(),
        Command::Libtorch(command) => libtorch::run(&command).map(|()| Ending::Conforms),
        Command::Matrix(command) => command.run(),
        Command::Merge(command) => command.run(),
        Command::Mutants(command) => command.run(),
        Command::NewAdapter(command) => command.run(),
        Command::Ops(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Repro(command) => command.run(),
        Command::Show(command) => command.run(),
        Command::ValidateAdapter(command) => command.run(),
    })
}

/// Prints a report. A reader that closes the pipe early, such as `head`, is not an error; any other write error is.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}").into())
        }
        _ => Ok(()),
    }
}

/// Prints a message to standard error. A closed standard error is ignored.
fn tell(text: &str) {
    let mut err = anstream::stderr();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

fn ended(result: Result<Ending, Failure>) -> ExitCode {
    match result {
        Ok(Ending::Conforms) => ExitCode::SUCCESS,
        Ok(Ending::Differs) => ExitCode::from(1),
        Ok(Ending::Interrupted) => ExitCode::from(INTERRUPTED),
        Err(failure) => {
            let error = anstyle::AnsiColor::Red.on_default().bold();
            tell(&format!("{error}error:{error:#} {}\n", visible(&failure.to_string())));
            ExitCode::from(2)
        }
    }
}

/// `--version --verbose`: the version of this program, and the folders of its specification and cache. `None` for other
/// arguments.
fn verbose_version(arguments: impl Iterator<Item = OsString>) -> Option<Result<Ending, Failure>> {
    let mut arguments: Vec<OsString> = arguments.collect();
    arguments.sort();
    let asked = [["--verbose", "--version"], ["--version", "-v"], ["--verbose", "-V"], ["-V", "-v"]];
    asked.iter().any(|asked| arguments == asked).then(|| {
        let (root, origin) = assets::found()?;
        let specification = case::load(&root.join("spec"))?;
        print(&format!(
            "broadcheck {}\nspecification {}: {} cases\nfrom {origin}: {}\ncache: {}\n",
            env!("CARGO_PKG_VERSION"),
            &specification.digest[..12],
            crate::report::thousands(specification.cases.len() as u64),
            root.display(),
            assets::cache_dir()?.display()
        ))?;
        Ok(Ending::Conforms)
    })
}
