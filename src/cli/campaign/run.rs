//! Runs a campaign for `fuzz` and `exhaust`: begins or resumes it, and shows progress until it ends or is stopped.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use super::{Format, Printed};
use crate::adapter::{Hello, Limits};
use crate::assets;
use crate::case;
use crate::cli::bisect;
use crate::cli::runner::Named;
use crate::cli::{Ending, Failure, INTERRUPTED, print, tell};
use crate::escape::visible;
use crate::harness::campaign::FINDINGS;
use crate::harness::campaign::row::{CampaignRow, Rows};
use crate::harness::campaign::summary::Summary;
use crate::harness::campaign::{GIVEN_UP, Setup, run};
use crate::harness::campaign::{
    journal::{self, Journal},
    record::{Configuration, Header, Identity, Machine},
};
use crate::harness::model::divergence::{self, Source};
use crate::harness::model::finding::FINDING;
use crate::harness::runner::Start;
use crate::output;
use crate::program::Program;

/// The options of this run of a campaign, next to its saved configuration.
pub struct Campaign<'a> {
    /// The folder of the campaign.
    pub out: &'a Path,
    /// True if the campaign exists and is resumed.
    pub resume: bool,
    /// The number of workers, if given.
    pub jobs: Option<u16>,
    /// The seconds that it may take, if its cases do not end it.
    pub seconds: Option<u64>,
    /// The number of crashes and hangs after which the implementation is given up; 0 for never.
    pub give_up: u64,
    /// True if the installed releases run what was found in a libtorch.
    pub bisect: bool,
    /// The form of the summary.
    pub printed: Printed,
    /// The file that its row of the report is written to, if one is.
    pub row: Option<&'a Path>,
    /// The programs of its cases, if they were read from a file.
    pub programs: Option<Arc<[Program]>>,
}

/// An implementation and its `hello`, with so many GiB of memory.
pub fn greeted(named: Named, memory: u64) -> Result<(Start, Hello), Failure> {
    let limits = Limits { memory: (memory > 0).then_some(memory << 30), ..Limits::default() };
    let hello = named.hello(&limits)?;
    Ok((named.start, hello))
}

/// What a campaign came to.
#[derive(Debug)]
pub struct Ran {
    /// Its summary.
    pub summary: Summary,
    /// Why it ended, as the journal has it.
    why: String,
    /// The same in words.
    ended: String,
}

impl Ran {
    /// Returns whether a signal stopped it.
    pub fn was_interrupted(&self) -> bool {
        self.why == journal::INTERRUPTED
    }

    /// What speaks against its summary as a verdict: the implementation was given up, or no step was judged.
    pub fn fault(&self) -> Option<String> {
        if self.why == GIVEN_UP {
            return Some(format!(
                "{} was {}; fix the adapter, leave operations out with --ops, or raise --give-up, then continue with --resume",
                super::label(&self.summary.implementation),
                self.ended
            ));
        }
        super::ending(&self.summary).err().map(|nothing| format!("{nothing} ({})", self.ended))
    }
}

impl Campaign<'_> {
    /// Runs the campaign of a configuration, which is the one that was `begun` if it is resumed, and prints its summary.
    pub fn run(
        &self,
        configuration: Configuration,
        begun: Option<&Configuration>,
        subject: (Start, Hello),
        against: Option<(Start, Hello)>,
    ) -> Result<Ending, Failure> {
        let ran = self.carry_out(configuration, begun, subject, against)?;
        let summary = &ran.summary;
        let text = super::render(summary, self.printed, self.out);
        // A reader that closes the pipe early, such as `head`, is not an error.
        print(&text)?;
        // The findings so far are not a verdict.
        if ran.was_interrupted() {
            return Ok(Ending::Interrupted);
        }
        if let Some(file) = self.row {
            write_row(file, summary)?;
        }
        if let Some(fault) = ran.fault() {
            return Err(format!("{fault}; its findings are in {}", self.out.display()).into());
        }
        self.bisect(summary)?;
        super::ending(summary)
    }

    /// The same without a word on standard output.
    pub fn carry_out(
        &self,
        configuration: Configuration,
        begun: Option<&Configuration>,
        subject: (Start, Hello),
        against: Option<(Start, Hello)>,
    ) -> Result<Ran, Failure> {
        if let Some(begun) = begun {
            self.same(&configuration.other_than(begun))?;
        }
        let mut setup = Setup::new(&configuration, subject, against);
        setup.programs.clone_from(&self.programs);
        let specification = case::load(&assets::specification()?)
            .map_err(|error| format!("the specification cannot be read\n{error}"))?;
        let source = configuration.divergences.clone().map_or(Source::Own, Source::File);
        let header = Header {
            broadcheck: env!("CARGO_PKG_VERSION").to_owned(),
            suite: specification.digest.clone(),
            programs: setup.sample(),
            implementation: Identity::of(&setup.subject.1),
            against: setup.against.as_ref().map(|(_, hello)| Identity::of(hello)),
            machine: Machine::here(),
            configuration,
        };
        let divergences = divergence::load(&source, &setup.subject.1, &specification)?;
        let hello = setup.subject.1.clone();
        let against = setup.against.as_ref().map(|(_, hello)| hello.clone()).filter(|other| other.name == hello.name);
        setup.known = Box::new(move |finding| {
            let known = match &against {
                Some(against) => divergence::known_between(&divergences, finding, &hello, against),
                None => divergence::known(&divergences, finding, &hello),
            };
            known.map(|divergence| divergence.id.clone())
        });
        let journal = if self.resume {
            let journal = Journal::resume(self.out)?;
            self.same(&header.other_than(&journal.tally().header))?;
            journal
        } else {
            Journal::create(self.out, header)?
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        setup.jobs = self.jobs.map_or((processors / 2).max(1), usize::from);
        if setup.configuration.cases.is_none() {
            let left = Duration::from_secs(self.seconds.unwrap_or(60)).saturating_sub(journal.elapsed());
            setup.deadline = Instant::now().checked_add(left);
        }
        setup.give_up = self.give_up;
        setup.stop = stopped_by_signals("stopping after the findings are saved; press Ctrl-C again to stop at once\n")?;

        let progress = Progress::new(&journal);
        let ran = run(&setup, journal, |journal| progress.show(journal));
        progress.clear();
        let (journal, why) = ran?;
        let summary = Summary::of(journal.tally());
        let ended = journal.tally().ended.clone().unwrap_or_default();
        Ok(Ran { summary, why: why.to_owned(), ended })
    }

    /// Writes into the folder of each new finding of a libtorch since which of the installed releases it is there.
    fn bisect(&self, summary: &Summary) -> Result<(), Failure> {
        let folders: Vec<_> = summary
            .new_findings()
            .filter(|line| !line.not_reduced)
            .filter_map(|line| Some(self.out.join(FINDINGS).join(line.folder.as_ref()?)))
            .filter(|folder| folder.join(FINDING).exists())
            .collect();
        let tested = &summary.configuration.implementation;
        let released = tested == "libtorch" || tested.starts_with("libtorch@");
        let releases = if self.bisect && released && !folders.is_empty() { bisect::installed()? } else { Vec::new() };
        if releases.len() < 2 {
            return Ok(());
        }
        tell(&format!(
            "looking for the first release that has each finding, on the {} that are installed\n",
            releases.len()
        ));
        let mut text = "\n".to_owned();
        for finding in bisect::run_on(&folders, &releases)? {
            finding.write()?;
            text.push_str(&finding.since());
        }
        match self.printed.format {
            Format::Text => print(&text),
            Format::Json => Ok(()),
        }
    }

    fn same(&self, differing: &[String]) -> Result<(), Failure> {
        if differing.is_empty() {
            return Ok(());
        }
        let (folder, differing) = (self.out.display(), differing.join(", "));
        Err(format!(
            "--resume: the campaign in {folder} was begun with other options: {differing}; begin a new one with --out"
        )
        .into())
    }
}

/// Writes the row of a campaign that the report has of it, next to those that the file has of other implementations.
pub fn write_row(file: &Path, summary: &Summary) -> Result<(), Failure> {
    let mut rows = match file.exists() {
        true => Rows::read(file).map_err(|error| format!("--row {error}"))?,
        false => Rows::default(),
    };
    rows.put(CampaignRow::of(summary));
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| format!("--row {}: {error}", file.display()))?;
    }
    Ok(output::write_named(file, rows.json())?)
}

/// The flag that the first signal sets, to end the run as soon as all is saved; `told` is printed then. The second signal ends it
/// at once.
pub fn stopped_by_signals(told: &'static str) -> Result<Arc<AtomicBool>, Failure> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(stop) = STOP.get() {
        return Ok(Arc::clone(stop));
    }
    let stop = Arc::clone(STOP.get_or_init(Arc::default));
    let set = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        tell(told);
    })?;
    Ok(stop)
}

/// Progress on standard error: a line that changes on a terminal, else a line now and then.
struct Progress {
    bar: ProgressBar,
    begun: Instant,
    /// Cases that earlier runs have done.
    before: u64,
    told: std::cell::RefCell<Told>,
}

/// The part of the progress that is printed already.
struct Told {
    groups: usize,
    last: Instant,
}

/// The interval between lines without a terminal.
const NOW_AND_THEN: Duration = Duration::from_secs(10);

impl Progress {
    fn new(journal: &Journal) -> Progress {
        let tally = journal.tally();
        let configuration = &tally.header.configuration;
        let bar = if !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else if let Some(cases) = configuration.cases {
            let style = ProgressStyle::with_template("{bar:20} {pos}/{len} {msg}").expect("a fixed template");
            ProgressBar::new(configuration.shard.share(cases)).with_style(style)
        } else {
            ProgressBar::new_spinner()
        };
        let told = Told { groups: tally.findings.len(), last: Instant::now() };
        let before = tally.checkpoint.counts.cases;
        Progress { bar, begun: Instant::now(), before, told: told.into() }
    }

    fn show(&self, journal: &Journal) {
        let tally = journal.tally();
        let mut told = self.told.borrow_mut();
        let counts = &tally.checkpoint.counts;
        let steps = counts.steps();
        let rate = (counts.cases - self.before) as f64 / self.begun.elapsed().as_secs_f64().max(0.001);
        let share = 100.0 * steps.rejected as f64 / (steps.accepted as f64 + steps.rejected as f64).max(1.0);
        let known = tally.findings.len() - tally.new_groups().count();
        let disputed = tally.new_groups().filter(|(group, _)| group.signature.is_disputed()).count();
        let (all, new) = (tally.findings.len(), tally.findings.len() - known - disputed);
        let left = tally.not_reduced();
        let end = tally.header.configuration.cases.map(|cases| tally.header.configuration.shard.share(cases));
        let time = end.map_or(String::new(), |end| match (end.saturating_sub(counts.cases) as f64 / rate).round() {
            seconds if rate > 0.0 => format!(" of {end}, {} left", HumanDuration(Duration::from_secs(seconds as u64))),
            _ => format!(" of {end}"),
        });
        let text = format!(
            "{} cases{time}, {rate:.0}/s, {share:.0} % of steps rejected, {new} new signatures ({left} to be cut \
             down), {disputed} disputed, {known} known, {} restarts",
            counts.cases, counts.restarts
        );
        if self.bar.is_hidden() {
            if told.last.elapsed() >= NOW_AND_THEN {
                told.last = Instant::now();
                tell(&format!("{text}\n"));
            }
            return;
        }
        if told.groups < all {
            told.groups = all;
            let newest = tally.findings.iter().filter_map(|(group, found)| Some((found.cases.last()?, group))).max();
            if let Some((case, group)) = newest {
                let found = format!("case {case}: {}", group.signature);
                self.bar.println(visible(&found));
            }
        }
        self.bar.set_position(counts.cases);
        self.bar.set_message(text);
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
