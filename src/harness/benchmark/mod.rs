//! The cost of the harness, compared with the library that it tests and with the loop that one would write otherwise.
//!
//! The same programs are run in several ways in one run, one way after the other, and again as often as is asked for.
//! The results are ratios of one repeat, and their median: the seconds are those of a machine and of a moment.

mod processes;
mod sets;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::adapter::canned::Canned;
use crate::adapter::protocol::Request;
use crate::adapter::{CommandLine, Hello, Implementation, Limits, Process};
use crate::program::{Outcome, Program, Reply};
use crate::reference::Reference;

use crate::campaign::{self, Setup, cases};
use crate::campaign::{
    journal::Journal,
    record::{Configuration, Header, Identity, Machine},
};
use crate::model::finding::Oracle;
use crate::runner::Start;

pub use sets::{Set, TEN};

/// The measurements of a run of `broadcheck bench`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The implementation under test.
    pub implementation: Identity,
    /// The machine that it ran on.
    pub machine: Machine,
    /// The seed of the programs of a campaign.
    pub seed: u64,
    /// The sets of programs.
    pub sets: Vec<Speeds>,
    /// Seconds that `broadcheck check` took, by implementation, one for each repeat.
    pub checks: BTreeMap<String, Vec<f64>>,
    /// The loop that one would write otherwise, where there is a Python with what it needs.
    pub hypothesis: Option<Hypothesis>,
}

/// The time that a set of programs took.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speeds {
    /// The name of the set.
    pub set: String,
    /// The number of programs.
    pub programs: usize,
    /// The number of steps that are accepted.
    pub accepted: usize,
    /// Calls that are rejected.
    pub rejected: usize,
    /// Seconds by way, one for each repeat.
    pub seconds: BTreeMap<Way, Vec<f64>>,
    /// The time that a campaign with one worker spends on each part, one for each repeat.
    #[serde(default)]
    pub spent: Vec<Spent>,
}

/// The time that a campaign takes for a program, in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// Of the clock.
    pub clock: f64,
    /// Seconds of processor time of this process; 0 where the system does not report it.
    pub harness: f64,
    /// Of a processor, by the adapters.
    pub adapters: f64,
}

/// A way to run programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// A loop over the methods of `tch`: operands made, the call, the result or the error read back.
    Tch,
    /// The adapter's own loop, in one process, without the protocol; nothing is judged.
    Bare,
    /// The reference.
    Reference,
    /// Making the programs, which runs them on the reference as well.
    Generator,
    /// Both sides of the protocol and the pipe between them; the answers are there before they are asked for.
    Protocol,
    /// A campaign with one worker, judged by the reference.
    Campaign,
    /// A campaign with two workers.
    CampaignOfTwo,
}

/// The loop of `benches/hypothesis_loop.py`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hypothesis {
    /// Names and versions of what it uses.
    pub versions: BTreeMap<String, String>,
    /// Cases a second, one for each repeat.
    pub rates: Vec<f64>,
}

impl Speeds {
    /// Programs a second.
    pub fn rate(&self, way: Way) -> Option<f64> {
        Some(self.programs as f64 / median(self.seconds.get(&way)?)?)
    }

    /// Returns how many times as fast one way is as another.
    pub fn ratio(&self, way: Way, to: Way) -> Option<f64> {
        let ratios: Vec<f64> =
            self.seconds.get(&way)?.iter().zip(self.seconds.get(&to)?).map(|(way, to)| to / way).collect();
        median(&ratios)
    }
}

/// The median; of an even number the mean of the two in the middle.
pub fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The implementation and the tools of a measurement.
pub struct Subject<'a> {
    /// The command of an adapter that knows `--bare`, as that of libtorch does.
    pub command: &'a CommandLine,
    /// The declaration of the implementation.
    pub hello: &'a Hello,
    /// The command of this program that serves [canned](crate::adapter::canned) answers; a file is added to it.
    pub canned: &'a CommandLine,
    /// The folder for campaigns and answers during the measurement.
    pub scratch: &'a Path,
    /// The seed of campaigns.
    pub seed: u64,
}

impl Subject<'_> {
    /// Leaves out the programs of a set that end the implementation's process: where it runs all of them by itself, it is not
    /// restarted. Returns how many they are.
    ///
    /// # Errors
    /// When the implementation cannot be run.
    pub fn leave_out_crashes(&self, set: &mut Set) -> Result<usize, String> {
        let limits = Limits { restarts: usize::MAX, ..Limits::default() };
        let mut process = Process::start(self.command.clone(), limits).map_err(|error| error.to_string())?;
        let mut answered = Vec::new();
        process.run_each(&set.programs, |_, reply| answered.push(reply.is_ok()));
        let mut each = answered.iter();
        set.programs.retain(|_| each.next() == Some(&true));
        if let Some(cases) = &mut set.cases {
            let mut each = answered.iter();
            cases.retain(|_| each.next() == Some(&true));
        }
        Ok(answered.len() - set.programs.len())
    }

    /// Measures a set once, in every way, and adds what it took.
    ///
    /// # Errors
    /// When something cannot be run.
    pub fn measure(&self, set: &Set, speeds: &mut Speeds) -> Result<(), String> {
        let programs = &set.programs;
        let mut took = |way: Way, seconds: f64| speeds.seconds.entry(way).or_default().push(seconds);
        let lines = lines(programs);
        if set.cases.is_none() {
            took(Way::Tch, self.inside("--tch", &lines)?);
        }
        took(Way::Bare, self.inside("--bare", &lines)?);
        drop(lines);
        let begun = Instant::now();
        let replies: Vec<Reply> = programs.iter().map(|program| Reference.run(program)).collect();
        took(Way::Reference, begun.elapsed().as_secs_f64());
        took(Way::Protocol, self.protocol(programs, &replies)?);
        drop(replies);
        if let Some(cases) = &set.cases {
            let options = campaign::options(self.hello, None, false);
            let begun = Instant::now();
            for case in cases {
                std::hint::black_box(cases::make(self.seed, *case, &options));
            }
            took(Way::Generator, begun.elapsed().as_secs_f64());
        }
        let [one, two] = [self.campaign(set, 1)?, self.campaign(set, 2)?];
        took(Way::Campaign, one.clock * programs.len() as f64);
        took(Way::CampaignOfTwo, two.clock * programs.len() as f64);
        speeds.spent.push(one);
        Ok(())
    }

    /// The seconds that an adapter takes for programs by itself.
    fn inside(&self, how: &str, lines: &[u8]) -> Result<f64, String> {
        let name = self.command.program.to_string_lossy();
        let failed = |error: std::io::Error| format!("{name} {how}: {error}");
        let mut command = Command::new(&self.command.program);
        command.args(&self.command.args).arg(how).envs(self.command.env.iter().map(|(name, value)| (name, value)));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        // It reads all of them before it says anything, so that neither side waits for the other.
        child.stdin.take().expect("it was asked for").write_all(lines).map_err(failed)?;
        let output = child.wait_with_output().map_err(failed)?;
        if !output.status.success() {
            return Err(format!("{name} {how} ended with {}", output.status));
        }
        let answer = String::from_utf8_lossy(&output.stdout);
        answer.trim().parse().map_err(|_| format!("{name} {how}: no number of seconds, but {:?}", answer.trim()))
    }

    /// The seconds that requests and answers take on their way.
    fn protocol(&self, programs: &[Program], replies: &[Reply]) -> Result<f64, String> {
        let path = self.scratch.join("answers.jsonl");
        let hello = Hello { name: "canned".to_owned(), ..Reference.hello() };
        Canned::write(&path, hello, replies).map_err(|error| format!("{}: {error}", path.display()))?;
        let command = self.canned.clone().arg(&path);
        let mut process = Process::start(command, Limits::default()).map_err(|error| error.to_string())?;
        let begun = Instant::now();
        let mut faults = 0;
        process.run_each(programs, |_, reply| faults += usize::from(reply.is_err()));
        let seconds = begun.elapsed().as_secs_f64();
        if faults > 0 { Err(format!("{faults} canned answers did not arrive")) } else { Ok(seconds) }
    }

    /// Measures the time of a campaign for the programs, from the first that are done to the last that are observed while
    /// its adapters run: how long a library takes to start is no matter of this.
    fn campaign(&self, set: &Set, jobs: usize) -> Result<Spent, String> {
        let (mut setup, journal) = self.setup(set.programs.len() as u64)?;
        setup.jobs = jobs;
        // Of a few large programs several batches, too.
        setup.batch = (set.programs.len() as u64 / 16).clamp(1, setup.batch);
        match &set.cases {
            Some(cases) => setup.chosen = Some(Arc::from(cases.as_slice())),
            None => setup.programs = Some(Arc::from(set.programs.clone())),
        }
        let begun = Instant::now();
        let mut seen: Vec<(u64, Spent)> = Vec::new();
        let (journal, why) = campaign::run(&setup, journal, |journal| {
            let done = journal.tally().checkpoint.counts.cases;
            let adapters = processes::adapters();
            if done > seen.last().map_or(0, |(done, _)| *done) && !adapters.is_empty() {
                let clock = begun.elapsed().as_secs_f64();
                let (harness, adapters) = processes::processors(&adapters);
                seen.push((done, Spent { clock, harness, adapters }));
            }
        })?;
        if journal.tally().complete() != Some(true) {
            return Err(format!("a campaign was to be measured, and it ended: {why}"));
        }
        let [(before, first), .., (after, last)] = seen[..] else {
            return Err("too little was seen of a campaign".to_owned());
        };
        let each = |first: f64, last: f64| (last - first) / (after - before) as f64;
        let (harness, adapters) = (each(first.harness, last.harness), each(first.adapters, last.adapters));
        Ok(Spent { clock: each(first.clock, last.clock), harness, adapters })
    }

    fn setup(&self, cases: u64) -> Result<(Setup, Journal), String> {
        let configuration = Configuration {
            seed: self.seed,
            cases: Some(cases),
            shard: cases::Shard::WHOLE,
            ops: campaign::options(self.hello, None, false).ops,
            unrestricted: false,
            swarm: false,
            world: None,
            corpus: None,
            oracles: vec![Oracle::Reference],
            implementation: "libtorch".to_owned(),
            against: None,
            divergences: None,
            timeout: 60,
            memory: 0,
        };
        let mut setup = Setup::new(&configuration, (Start::Adapter(self.command.clone()), self.hello.clone()), None);
        // Differences are counted, and not looked into.
        setup.known = Box::new(|_| Some("not looked at".to_owned()));
        let folder = self.scratch.join("campaign");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let header = Header {
            broadcheck: env!("CARGO_PKG_VERSION").to_owned(),
            suite: String::new(),
            programs: String::new(),
            implementation: Identity::of(self.hello),
            against: None,
            machine: Machine::here(),
            configuration,
        };
        Ok((setup, Journal::create(&folder, header)?))
    }
}

impl Speeds {
    /// Of a set that was not measured yet.
    pub fn of(set: &Set) -> Speeds {
        let outcomes = set.programs.iter().flat_map(|program| Reference.run(program).steps);
        let (mut accepted, mut rejected) = (0, 0);
        for step in outcomes {
            match step.outcome {
                Outcome::Value(_) => accepted += 1,
                Outcome::Rejected(_) => rejected += 1,
                _ => {}
            }
        }
        let (set, programs) = (set.name.clone(), set.programs.len());
        Speeds { set, programs, accepted, rejected, seconds: BTreeMap::new(), spent: Vec::new() }
    }
}

/// The requests to run programs, a line each.
fn lines(programs: &[Program]) -> Vec<u8> {
    let mut lines = Vec::new();
    for (seq, program) in (0..).zip(programs) {
        let request = Request::Run { seq, program: Cow::Borrowed(program) };
        serde_json::to_writer(&mut lines, &request).expect("requests have only text for keys");
        lines.push(b'\n');
    }
    lines
}

/// Measures the time of a command of this program, its start included.
///
/// # Errors
/// When it cannot be run, or ends otherwise than with 0.
pub fn time(command: &mut Command) -> Result<f64, String> {
    let begun = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().map_err(|error| error.to_string())?;
    let took: Duration = begun.elapsed();
    if status.success() { Ok(took.as_secs_f64()) } else { Err(format!("{command:?} ended with {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_median_of_those_of_each_repeat() {
        let seconds = BTreeMap::from([(Way::Bare, vec![1.0, 2.0, 4.0]), (Way::Campaign, vec![2.0, 2.0, 5.0])]);
        let speeds =
            Speeds { set: "x".to_owned(), programs: 10, accepted: 10, rejected: 0, seconds, spent: Vec::new() };
        assert_eq!(speeds.ratio(Way::Campaign, Way::Bare), Some(0.8));
        assert_eq!((speeds.rate(Way::Bare), speeds.rate(Way::Tch)), (Some(5.0), None));
        assert_eq!(median(&[1.0, 3.0]), Some(2.0));
    }
}
