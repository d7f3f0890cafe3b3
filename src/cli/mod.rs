//! The command line, one file a subcommand. It words what the library does, and decides exit codes.

mod check;
mod explain;
mod libtorch;
mod mutants;
mod ops;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Conformance tests for PyTorch's broadcasting semantics, against the real libtorch.
#[derive(Debug, Parser)]
#[command(
    name = "broadcheck",
    version,
    arg_required_else_help = true,
    after_help = "\
Examples:
  broadcheck check                     the whole specification on the reference and on libtorch
  broadcheck explain 5,1,4,1 3,1,1     why two shapes broadcast, or do not
  broadcheck libtorch install          fetch libtorch and build its adapter

Exit codes: 0 conforms, 1 does not conform, 2 could not run."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Check),
    Explain(explain::Explain),
    Libtorch(libtorch::Libtorch),
    Mutants(mutants::Mutants),
    Ops(ops::Ops),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It conforms, or there was nothing to conform to.
    Conforms,
    /// It does not conform.
    Differs,
}

/// A reason why a command could not do its work.
type Failure = Box<dyn std::error::Error>;

/// Runs the program.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Check(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Libtorch(command) => libtorch::run(&command).map(|()| Ending::Conforms).map_err(Failure::from),
        Command::Mutants(command) => command.run(),
        Command::Ops(command) => command.run(),
    };
    match result {
        Ok(Ending::Conforms) => ExitCode::SUCCESS,
        Ok(Ending::Differs) => ExitCode::from(1),
        Err(failure) => {
            let error = anstyle::AnsiColor::Red.on_default().bold();
            anstream::eprintln!("{error}error:{error:#} {failure}");
            ExitCode::from(2)
        }
    }
}
