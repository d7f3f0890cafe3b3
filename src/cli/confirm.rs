//! `broadcheck confirm`: libtorch's known bugs as programs in PyTorch's Python, in the releases that have them and in those
//! that do not.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use clap::Args;

use super::runner::{Named, did_you_mean, releases, specification};
use super::{Ending, Failure, print, tell};
use crate::adapter::{Hello, Limits};
use crate::case::{self, Specification};
use crate::escape::visible;
use crate::harness::model::divergence::{self, Divergence, Kind};
use crate::harness::triage::confirm::{Ran, Snippet, snippet};
use crate::implementations::PyTorch;
use crate::install::{Installer, Progress};
use crate::output;
use crate::report::confirmed::{CONFIRMED, Confirmed};
use crate::report::history::LIBRARY;

/// The program that runs the others, in `adapters/pytorch`.
const PROGRAM: &str = "confirm.py";

/// Run the known bugs of libtorch in PyTorch's Python, in each of several releases.
///
/// The program of a bug is that of `broadcheck repro` for the first of its cases or findings. It should print what its comments
/// say in a release that has the bug, and something else in any other. The outcomes are kept in a file, from which
/// `broadcheck report` writes a column of causes.md. A release of PyTorch takes 5 GB while it runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck confirm --releases 2.13.0,2.15.0
  broadcheck confirm --releases all
  broadcheck confirm --releases 2.0.1,2.13.0 mode-of-negative-infinities

Environment:
  BROADCHECK_PYTHON  the Python that PyTorch is installed for (default: python3)

Exit codes: 0 every program did what was expected of it, 1 one did not, 2 could not run.")]
pub struct Confirm {
    /// The names of bugs, as causes.md has them [default: all].
    #[arg(value_name = "CAUSE")]
    causes: Vec<String>,
    /// Releases, with commas between them: versions, `latest`, or `all` that broadcheck knows.
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    releases: Vec<String>,
    /// Keep newly installed releases of PyTorch in the cache.
    #[arg(long)]
    keep: bool,
    /// The file that the outcomes are put into [default: reports/confirmed.json of these sources].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// A release of libtorch, and the programs of the bugs that it shows.
struct Release {
    version: String,
    hello: Hello,
    snippets: BTreeMap<String, Snippet>,
}

/// A program that did not do what was expected of it.
struct Unexpected {
    release: String,
    has: bool,
    snippet: Snippet,
    ran: Ran,
}

impl Confirm {
    pub fn run(&self) -> Result<Ending, Failure> {
        let specification = case::load(&specification(None)?)?;
        let known = divergence::all_of(LIBRARY, &specification)?;
        let bugs = self.chosen(&known)?;
        let installer = Installer::from_env()?;
        let versions = releases(&self.releases, &installer)?;
        let order = releases(&["all".to_owned()], &installer)?;
        let progress = if self.quiet { Progress::silent() } else { Progress::auto() };
        let mut shown = Vec::new();
        for version in versions {
            self.say(&format!("libtorch {version}: making the programs of its bugs\n"));
            shown.push(Release::new(version, &bugs, &specification)?);
        }
        let path = self.path()?;
        let mut confirmed = Confirmed::read(&path)?;
        confirmed.retain(|id| known.iter().any(|known| known.id == id && known.kind == Kind::Bug));
        let mut unexpected = Vec::new();
        for at in 0..shown.len() {
            let release = &shown[at].version;
            let pytorch = PyTorch::install(release, PROGRAM, &progress)?;
            let (mut has, mut has_not, mut cannot_run) = (0, 0, 0);
            for (snippet, is_in, ran) in asked(&shown, at, &bugs, &pytorch)? {
                let Some(is_shown) = snippet.is_confirmed_by(&ran) else {
                    confirmed.forget(&snippet.id, release);
                    cannot_run += 1;
                    continue;
                };
                confirmed.put(&snippet.id, release, is_shown, &order);
                *if is_in { &mut has } else { &mut has_not } += 1;
                if is_shown != is_in {
                    unexpected.push(Unexpected { release: release.clone(), has: is_in, snippet, ran });
                }
            }
            // What was found is kept before the next release is installed.
            output::write_named(&path, confirmed.to_json())?;
            if !self.keep {
                pytorch.remove()?;
            }
            let own = unexpected.iter().filter(|unexpected| unexpected.release == *release);
            let (wrong_has, wrong_has_not) = own.fold((0, 0), |(has, not), one| match one.has {
                true => (has + 1, not),
                false => (has, not + 1),
            });
            print(&format!(
                "PyTorch {release}: shows {} of {has} bugs that it has, and {wrong_has_not} of {has_not} that it has not; cannot run \
                 {cannot_run}\n",
                has - wrong_has
            ))?;
        }
        for one in &unexpected {
            print(&one.text())?;
        }
        print(&format!("{}\n", path.display()))?;
        Ok(if unexpected.is_empty() { Ending::Conforms } else { Ending::Differs })
    }

    /// The bugs that are named.
    fn chosen<'a>(&self, known: &'a [Divergence]) -> Result<Vec<&'a Divergence>, Failure> {
        let bugs = || known.iter().filter(|known| known.kind == Kind::Bug);
        for name in &self.causes {
            if !bugs().any(|bug| bug.id == *name) {
                let hint = did_you_mean(name, bugs().map(|bug| bug.id.as_str()), "reports/causes.md lists them");
                return Err(format!("there is no bug `{name}`{hint}").into());
            }
        }
        Ok(bugs().filter(|bug| self.causes.is_empty() || self.causes.contains(&bug.id)).collect())
    }

    fn path(&self) -> Result<PathBuf, Failure> {
        let default = || super::events::default_folder().map(|events| events.with_file_name(CONFIRMED));
        self.out.clone().map_or_else(default, Ok)
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            tell(text);
        }
    }
}

impl Release {
    /// Installs and starts a release of libtorch, and makes the programs of the bugs that it shows.
    fn new(version: String, bugs: &[&Divergence], specification: &Specification) -> Result<Release, Failure> {
        let named = Named::parse("--releases", &format!("{LIBRARY}@{version}"))?;
        let mut runner = named.runner(&Limits::default())?;
        let hello = runner.hello();
        let mut snippets = BTreeMap::new();
        for bug in bugs.iter().filter(|bug| bug.is_in(&hello)) {
            if let Some(snippet) = snippet(bug, specification, &mut runner)? {
                snippets.insert(bug.id.clone(), snippet);
            }
        }
        Ok(Release { version, hello, snippets })
    }
}

/// Runs the programs of all bugs in the Python of a release: its own program where it has the bug, and that of the nearest
/// release that has it where it has not. Each comes with whether the release has the bug.
fn asked(
    releases: &[Release],
    at: usize,
    bugs: &[&Divergence],
    pytorch: &PyTorch,
) -> Result<Vec<(Snippet, bool, Ran)>, Failure> {
    let mut order: Vec<usize> = (0..releases.len()).collect();
    order.sort_by_key(|other| other.abs_diff(at));
    let mut programs: Vec<(Snippet, bool)> = Vec::new();
    for bug in bugs {
        let is_in = bug.is_in(&releases[at].hello);
        let snippet = match is_in {
            true => releases[at].snippets.get(&bug.id),
            false => order.iter().find_map(|other| releases[*other].snippets.get(&bug.id)),
        };
        programs.extend(snippet.map(|snippet| (snippet.clone(), is_in)));
    }
    let text = serde_json::to_string(&programs.iter().map(|(snippet, _)| snippet).collect::<Vec<_>>())?;
    let mut child = pytorch.command().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // The program reads all of it before it prints anything. One that has ended already says why on its standard error.
    let _ = child.stdin.take().expect("standard input was asked for").write_all(text.as_bytes());
    let output = child.wait_with_output()?;
    let release = &releases[at].version;
    let mut lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let greeting: serde_json::Value = serde_json::from_slice(lines.next().unwrap_or_default()).unwrap_or_default();
    if greeting["torch"] != **release {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the Python of PyTorch {release} cannot import it: {said}").into());
    }
    let mut ran = BTreeMap::new();
    for line in lines {
        let one: Ran = serde_json::from_slice(line)?;
        ran.insert(one.id.clone(), one);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let missing = |id: &str| format!("PyTorch {release} did not run the program of {id}: {said}");
    let with_outcome = |(snippet, is_in): (Snippet, bool)| match ran.remove(&snippet.id) {
        Some(ran) => Ok((snippet, is_in, ran)),
        None => Err(missing(&snippet.id).into()),
    };
    programs.into_iter().map(with_outcome).collect()
}

impl Unexpected {
    fn text(&self) -> String {
        let Unexpected { release, has, snippet, ran } = self;
        let what = if *has { "has, does not show it" } else { "has not, shows it" };
        let ended = match (ran.code, ran.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "it did not end".to_owned(),
        };
        let text = format!(
            "\n{}, which PyTorch {release} {what}\n{}\n{ended}\n{}{}",
            snippet.id, snippet.text, ran.out, ran.err
        );
        visible(&text).into_owned()
    }
}
