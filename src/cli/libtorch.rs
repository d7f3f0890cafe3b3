//! `broadcheck libtorch`: installs a libtorch with its adapter, and shows what is installed. It only words what
//! [`crate::install`] does.

use clap::{Args, Subcommand, ValueEnum};
use indicatif::HumanBytes;

use super::{Failure, print};
use crate::install::{Entry, Installer, Progress};

/// Install libtorch and its adapter, and show what is installed.
#[derive(Debug, Args)]
pub struct Libtorch {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Install(Install),
    List(List),
    Path(Path),
    Entry(EntryOf),
    Remove(Remove),
}

/// Fetch a libtorch release and build the adapter against it.
///
/// Does nothing where both are there and the adapter's sources have not changed. When it is interrupted, running it
/// again continues where it was. Without VERSION, a libtorch that LIBTORCH or LIBTORCH_USE_PYTORCH=1 points to is used
/// instead of fetching one. The wheel is fetched by pip, with the index and the proxies that pip is configured for.
///
/// A release that is not in releases.toml is fetched as well: the first download is trusted, and its hash is checked
/// from then on. A release that is newer than tch is built without tch's version check and with what the compiler
/// misses: the C++ standard that the headers ask for, and a header that stands in for functions that the release has
/// removed. If that is not enough, the adapter does without tch, as it does for older releases.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck libtorch install
  broadcheck libtorch install 2.15.0
  broadcheck libtorch install latest
  LIBTORCH=/opt/libtorch broadcheck libtorch install

Environment:
  BROADCHECK_CACHE        where it is installed (default: the platform's cache folder)
  BROADCHECK_PYTHON       the Python whose pip is used (default: python3)
  BROADCHECK_SOURCE       a clone of broadcheck, which has the adapter's sources
  LIBTORCH                an unpacked libtorch to use as it is
  LIBTORCH_USE_PYTORCH=1  use the torch package of that Python as it is
  CXX                     the C++ compiler (default: c++)")]
struct Install {
    /// The release, or `latest` [default: LIBTORCH, LIBTORCH_USE_PYTORCH, or else 2.13.0].
    version: Option<String>,
    /// Install libtorch without the adapter, to build something else against it.
    #[arg(long)]
    libraries_only: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// List what is installed, and the libtorch that LIBTORCH or LIBTORCH_USE_PYTORCH points to.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck libtorch list
  broadcheck libtorch list --format json")]
struct List {
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Print the folder that has libtorch's include/ and lib/.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck libtorch path
  broadcheck libtorch path --adapter
  LIBTORCH=$(broadcheck libtorch path 2.13.0) cargo build")]
struct Path {
    /// The release [default: LIBTORCH, LIBTORCH_USE_PYTORCH, or else 2.13.0].
    version: Option<String>,
    /// Print the path of the adapter's program instead.
    #[arg(long)]
    adapter: bool,
}

/// Print the entry of releases.toml for an installed release.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck libtorch entry 2.15.0")]
struct EntryOf {
    /// The release.
    version: String,
}

/// Remove a release from the cache.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck libtorch remove 2.0.1")]
struct Remove {
    /// The release.
    version: String,
}

/// Runs the subcommand. Results go to standard output, progress to standard error.
pub fn run(arguments: &Libtorch) -> Result<(), Failure> {
    let installer = Installer::from_env()?;
    match &arguments.command {
        Command::Install(install) => run_install(&installer, install),
        Command::List(list) => run_list(&installer, list),
        Command::Path(path) => run_path(&installer, path),
        Command::Entry(entry) => print(&installer.entry(&entry.version)?),
        Command::Remove(remove) => Ok(installer.remove(&remove.version, &Progress::auto())?),
    }
}

fn run_install(installer: &Installer, install: &Install) -> Result<(), Failure> {
    let progress = if install.quiet { Progress::silent() } else { Progress::auto() };
    let version = install.version.as_deref();
    if install.libraries_only {
        let libraries = installer.libraries(version, &progress)?;
        print(&format!("libtorch {} is in {}\n", libraries.version, libraries.root.display()))?;
        return Ok(());
    }
    let installed = installer.libtorch(version, &progress)?;
    let (root, adapter) = (installed.root.display(), installed.adapter.display());
    print(&format!("libtorch {} is in {root}\nits adapter is {adapter}\n", installed.version))?;
    let built = &installed.built;
    if !built.tch {
        print("it was built without tch: every call goes to libtorch's dispatcher\n")?;
    }
    if !built.compat.is_empty() {
        print(&format!("to compile, it took {}\n", built.compat.describe()))?;
    }
    Ok(())
}

fn run_list(installer: &Installer, list: &List) -> Result<(), Failure> {
    let entries = installer.list()?;
    print(&match list.format {
        Format::Json => serde_json::to_string_pretty(&entries).expect("a list is plain data") + "\n",
        Format::Text if entries.is_empty() => {
            "no release is installed; `broadcheck libtorch install` installs one\n".into()
        }
        Format::Text => table(&entries),
    })
}

fn run_path(installer: &Installer, path: &Path) -> Result<(), Failure> {
    let version = path.version.as_deref();
    let shown = if path.adapter { installer.find_adapter(version)? } else { installer.find(version)?.root };
    print(&format!("{}\n", shown.display()))
}

fn table(entries: &[Entry]) -> String {
    let header = ["VERSION", "FROM", "ADAPTER", "SIZE", "PATH"].map(String::from);
    let rows = entries.iter().map(|entry| {
        let adapter = if entry.adapter.is_some() { "built" } else { "not built" };
        let size = HumanBytes(entry.bytes).to_string();
        [entry.version.clone(), entry.origin.to_string(), adapter.into(), size, entry.path.display().to_string()]
    });
    let rows: Vec<[String; 5]> = std::iter::once(header).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let line = |row: &[String; 5]| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}  "));
        padded.chain([row[4].clone(), "\n".to_string()]).collect::<String>()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::Origin;

    #[test]
    fn the_table_lines_its_columns_up() {
        let entry = |version: &str, adapter: Option<&str>| Entry {
            version: version.into(),
            origin: Origin::Cache,
            path: "there".into(),
            bytes: 2048,
            adapter: adapter.map(Into::into),
        };
        let text = table(&[entry("2.13.0", Some("x")), entry("2.9.1", None)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "2.13.0   cache  built      2.00 KiB  there");
        assert_eq!(lines[2], "2.9.1    cache  not built  2.00 KiB  there");
    }
}
