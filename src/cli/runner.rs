//! The implementations that command lines name.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Failure;
use crate::adapter::{CommandLine, Hello, Limits, StartError};
use crate::assets;
use crate::harness::runner::{Runner, Start};
use crate::implementations;
use crate::install::{self, Catalog, Installer, LATEST, Progress, this_target};

/// An implementation as it was typed after an option such as `--impl`.
#[derive(Clone, Debug)]
pub struct Named {
    option: &'static str,
    given: String,
    /// The way to start it.
    pub start: Start,
}

/// Seconds that a program may take before it is a hang, unless an option sets another limit.
pub const TIMEOUT: u64 = 20;

/// The number of unpinned crashes and hangs after which an implementation is given up, unless an option sets another:
/// more than any implementation that comes with broadcheck has in the specification.
pub const GIVE_UP: u64 = 30;

/// The limits of an adapter that has so many seconds for a program and is given up after so many crashes and hangs.
/// Each takes two restarts, and those that are pinned are not counted.
pub fn limits(timeout: u64, give_up: u64) -> Limits {
    const PINNED: u64 = 64;
    let restarts = if give_up == 0 { usize::MAX } else { give_up.saturating_add(PINNED).saturating_mul(2) as usize };
    Limits { program: Duration::from_secs(timeout), restarts, ..Limits::default() }
}

/// The folder of the specification: what was given after `--spec`, or the one that comes with broadcheck.
pub fn specification(given: Option<&Path>) -> Result<PathBuf, Failure> {
    Ok(match given {
        Some(given) => given.to_owned(),
        None => assets::specification()?,
    })
}

impl Named {
    /// Parses the name of an implementation, or a command. libtorch is installed first if it is missing.
    pub fn parse(option: &'static str, given: &str) -> Result<Named, Failure> {
        Named::parse_on(option, given, None)
    }

    /// The same, with the Python of `--python` for implementations in Python.
    pub fn parse_on(option: &'static str, given: &str, python: Option<&Path>) -> Result<Named, Failure> {
        Ok(Named { option, given: given.to_owned(), start: start(option, given, python)? })
    }

    /// Starts it.
    pub fn runner(&self, limits: &Limits) -> Result<Runner, Failure> {
        let Named { option, given, start } = self;
        Ok(start.runner(limits).map_err(|error| match error {
            StartError::NotFound { .. } => format!(
                "{option} {given}: {error}\n\
                 {option} takes reference, libtorch, libtorch@VERSION, a name that `broadcheck impl list` prints, or the \
                 command of an adapter"
            ),
            error => format!("{option} {given}: {error}"),
        })?)
    }

    /// Starts it and returns its `hello`.
    pub fn hello(&self, limits: &Limits) -> Result<Hello, Failure> {
        Ok(self.runner(limits)?.hello())
    }
}

/// The releases that `--releases` lists, in their order and each once: versions, `latest`, or `all` of the
/// catalogue.
pub fn releases(words: &[String], installer: &Installer) -> Result<Vec<String>, Failure> {
    let mut releases: Vec<String> = Vec::new();
    for word in words {
        let named = match word.as_str() {
            "all" => known(&installer.catalog),
            LATEST => vec![installer.latest()?],
            version => vec![version.to_owned()],
        };
        for version in named {
            if !releases.contains(&version) {
                releases.push(version);
            }
        }
    }
    Ok(releases)
}

/// The releases of the catalogue for this machine, the oldest first.
fn known(catalog: &Catalog) -> Vec<String> {
    let here = catalog.releases().iter().filter(|release| release.target == this_target());
    here.rev().map(|release| release.version.clone()).collect()
}

fn start(option: &str, given: &str, python: Option<&Path>) -> Result<Start, Failure> {
    let words = shlex::split(given).ok_or_else(|| format!("{option} {given:?} is not a command: close its quote"))?;
    // As in a shell: variables for the environment of what comes after them.
    let variables = words.iter().take_while(|word| is_assignment(word)).count();
    let (variables, words) = words.split_at(variables);
    let [program, args @ ..] = words else {
        return Err(format!("{option} {given:?} is not a command: name a program after the variables").into());
    };
    let named = match program.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (program.as_str(), None),
    };
    let command = match (named, args) {
        (("reference", None), []) if variables.is_empty() => return Ok(Start::Reference),
        (("libtorch", Some("")), []) => {
            return Err(format!(
                "{option} {given}: the release after the @ is missing: write libtorch@{}, libtorch@{}, or libtorch alone for the \
                 default",
                install::DEFAULT_VERSION,
                install::LATEST
            )
            .into());
        }
        (("libtorch", version), []) => CommandLine::new(install::libtorch(version, &Progress::auto())?.adapter),
        ((name, None), []) if implementations::find(name)?.is_some() => {
            let ready = implementations::ready(name, python, &Progress::auto())?;
            let command = ready
                .variables
                .into_iter()
                .fold(CommandLine::new(ready.program), |command, (name, value)| command.env(name, value));
            ready.arguments.into_iter().fold(command, |command, word| command.arg(word))
        }
        _ => args.iter().fold(CommandLine::new(program), |command, word| command.arg(word)),
    };
    let variables = variables.iter().filter_map(|variable| variable.split_once('='));
    Ok(Start::Adapter(variables.fold(command, |command, (name, value)| command.env(name, value))))
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The end of a message about an unknown name: the closest known name, or `otherwise`.
pub fn did_you_mean<'a>(wanted: &str, names: impl Iterator<Item = &'a str>, otherwise: &str) -> String {
    let closest = names.map(|name| (strsim::osa_distance(wanted, name), name)).min();
    match closest {
        Some((distance, name)) if 5 * distance <= wanted.len() => format!("; did you mean `{name}`?"),
        _ => format!("; {otherwise}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_the_releases_of_the_catalogue_the_oldest_first() {
        let all = known(&Catalog::built_in());
        if this_target() == "linux-x86_64" {
            assert_eq!((all.len(), all[0].as_str(), all[28].as_str()), (29, "1.13.1", "2.15.0"));
        }
    }

    #[test]
    fn variables_come_before_the_command() {
        let Ok(Start::Adapter(command)) = start("--impl", "A_1=x B='y z' prog --c=d e", None) else {
            panic!("no command")
        };
        assert_eq!(command, CommandLine::new("prog").env("A_1", "x").env("B", "y z").arg("--c=d").arg("e"));
        assert_eq!(start("--impl", "reference", None).unwrap(), Start::Reference);
        assert!(start("--impl", "A=x", None).unwrap_err().to_string().contains("is not a command"));
        assert!(start("--impl", "", None).is_err());
    }

    /// `libtorch@` with an empty variable after it means a release, and not the default one.
    #[test]
    fn an_empty_release_is_no_release() {
        for given in ["libtorch@", "A=x libtorch@"] {
            let error = start("--impl", given, None).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--impl {given}: the release after the @ is missing")), "{error}");
            assert!(error.contains("libtorch@latest") && error.contains("libtorch@2.13.0"), "{error}");
        }
    }
}
