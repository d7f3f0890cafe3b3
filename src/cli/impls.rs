//! `broadcheck impl`: the adapters that come with broadcheck, and their environments. It words what
//! [`crate::implementations`] does.

use std::fmt::Write as _;

use clap::{Args, Subcommand};

use super::{Ending, Failure, print};
use crate::implementations;
use crate::install::Progress;

/// Install other implementations with their pinned packages, and list them.
#[derive(Debug, Args)]
pub struct Impl {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Install(Install),
    List(List),
}

/// Make the environment of an implementation: exactly the packages that its folder in `adapters/` pins by hash.
///
/// `--impl NAME` of the other commands does this by itself where it is missing. The packages are fetched by pip, npm or
/// cargo, with the index and the proxies that these are configured for; an adapter in Rust is then built.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck impl install numpy
  broadcheck impl install candle ndarray

Environment:
  BROADCHECK_CACHE   where it is installed (default: the platform's cache folder)
  BROADCHECK_PYTHON  the Python of the environment (default: python3)
  BROADCHECK_SOURCE  a clone of broadcheck, which has the adapters")]
struct Install {
    /// One or more names that `broadcheck impl list` prints.
    #[arg(required = true)]
    names: Vec<String>,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// List the implementations that come with broadcheck, and which of them are installed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck impl list")]
struct List {}

impl Impl {
    pub fn run(&self) -> Result<Ending, Failure> {
        match &self.command {
            Command::Install(install) => install.run(),
            Command::List(_) => list(),
        }
    }
}

impl Install {
    fn run(&self) -> Result<Ending, Failure> {
        let progress = if self.quiet { Progress::silent() } else { Progress::auto() };
        for name in &self.names {
            let ready = implementations::ready(name, None, &progress)?;
            print(&format!("{name} is ready in {}\n", ready.environment.display()))?;
        }
        Ok(Ending::Conforms)
    }
}

fn list() -> Result<Ending, Failure> {
    let mut text = String::new();
    for known in implementations::known()? {
        // One that cannot run on this machine does not hide the others.
        let state = match known.installed() {
            Ok(Some(folder)) => format!("installed in {}", folder.display()),
            Ok(None) => format!("not installed: `broadcheck impl install {}`", known.name),
            Err(error) => error.to_string(),
        };
        let _ = writeln!(text, "{:<18} {}\n{:<18} {state}", known.name, known.description.summary, "");
    }
    print(&text)?;
    Ok(Ending::Conforms)
}
