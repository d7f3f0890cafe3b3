//! The summary of a campaign that `fuzz`, `exhaust` and `merge` print.

pub mod run;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::runner::did_you_mean;
use super::{Ending, Failure};
use crate::adapter::Hello;
use crate::escape::{self, visible};
use crate::harness::campaign::FINDINGS;
use crate::harness::campaign::counts::{Checked, Judged};
use crate::harness::campaign::groups::CauseGroup;
use crate::harness::campaign::record::{Configuration, Identity};
use crate::harness::campaign::summary::{Line, Summary};
use crate::harness::json;
use crate::harness::model::finding::{Oracle, Signature};
use crate::ops::Op;
use crate::report::thousands as number;

/// The number of crashes and hangs after which an implementation is given up, unless `--give-up` sets another.
pub const GIVE_UP: u64 = 100;

/// The output format.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// What a command prints of a campaign: options that `fuzz`, `exhaust` and `merge` share.
#[derive(Clone, Copy, Debug, Args)]
pub struct Printed {
    /// The output format. JSON has every group with its signatures, and every signature.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// List every signature below its group.
    #[arg(long)]
    pub verbose: bool,
}

/// The number of characters of a line of an example, and of lines of its program.
const WIDTH: usize = 110;
const LINES: usize = 12;

/// The summary of the campaign in a folder.
pub fn render(summary: &Summary, printed: Printed, folder: &Path) -> String {
    match printed.format {
        Format::Text => visible(&text(summary, folder, printed.verbose)).into_owned(),
        Format::Json => json(summary),
    }
}

/// The operations with these names, of those that are possible with an implementation.
pub fn chosen(names: &[String], possible: &[Op], hello: &Hello) -> Result<Vec<Op>, Failure> {
    let mut ops = Vec::new();
    for name in names {
        let op = named(name)?;
        if !possible.contains(&op) {
            return Err(format!("{} has no operation `{op}`", hello.name).into());
        }
        ops.push(op);
    }
    ops.sort_unstable();
    ops.dedup();
    Ok(ops)
}

/// The operation of that name.
pub fn named(name: &str) -> Result<Op, Failure> {
    let known = || Op::ALL.iter().map(|op| op.name());
    Op::parse(name).map(|(op, _)| op).ok_or_else(|| {
        format!("there is no operation `{name}`{}", did_you_mean(name, known(), "see `broadcheck ops`")).into()
    })
}

/// As one JSON object.
pub fn json(summary: &impl Serialize) -> String {
    escape::json(&json::pretty(summary)).into_owned()
}

/// Decides the exit code of a command with this summary.
///
/// # Errors
/// When no step was judged.
pub fn ending(summary: &Summary) -> Result<Ending, Failure> {
    if summary.new_findings().next().is_some() {
        return Ok(Ending::Differs);
    }
    if !summary.judged() {
        return Err("no step was judged: the implementation ran no step of any program".into());
    }
    Ok(Ending::Conforms)
}

fn text(summary: &Summary, folder: &Path, verbose: bool) -> String {
    let mut text = String::new();
    let configuration = &summary.configuration;
    let _ = write!(text, "{}", label(&summary.implementation));
    if let Some(against) = &summary.against {
        let _ = write!(text, " against {}", label(against));
    }
    let oracles: Vec<&str> = configuration.oracles.iter().map(|oracle: &Oracle| oracle.name()).collect();
    let cases = match (&configuration.world, &configuration.corpus) {
        (Some(world), _) => world.to_string(),
        (None, Some(corpus)) => format!("programs of {}", corpus.display()),
        (None, None) => format!("seed {}", configuration.seed),
    };
    let _ = writeln!(text, ", {cases}, judged by {}", oracles.join(", "));
    if configuration.shard.of > 1 || summary.shards.len() > 1 {
        for part in &summary.shards {
            let ended = part.ended.as_deref().unwrap_or("killed, or still running");
            let _ = writeln!(text, "shard {}: {} cases, {ended}", part.shard, number(part.cases));
        }
    }
    for missing in &summary.missing {
        let _ = writeln!(text, "shard {missing}: missing");
    }
    text.push_str(&if configuration.world.is_some() { calls(summary) } else { steps(summary) });

    let (new, known, disputed): (Vec<&Line>, Vec<&Line>, Vec<&Line>) =
        (summary.new_findings().collect(), summary.known().collect(), summary.disputed().collect());
    text.push_str(&known_causes(&known, verbose));
    for (title, lines, of) in [("disputed: authorities differ", &disputed, true), ("findings", &new, false)] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        for group in summary.groups.iter().filter(|group| group.disputed == of) {
            text.push_str(&grouped(group, lines, &|line| place(line, configuration, folder), verbose));
        }
    }

    let steps = summary.steps;
    let judged = steps.accepted as f64 + steps.rejected as f64;
    let of = configuration.cases.map(|cases| configuration.shard.share(cases));
    let of = of.map_or(String::new(), |cases| format!(" of {}", number(cases)));
    let _ = writeln!(
        text,
        "\n{}{of} cases in {:.1} s, {:.0} a second; {} steps judged, {:.1} % of them rejected; {} restarts",
        number(summary.cases),
        summary.seconds,
        summary.cases as f64 / summary.seconds.max(0.001),
        number(steps.accepted.saturating_add(steps.rejected)),
        100.0 * steps.rejected as f64 / judged.max(1.0),
        summary.restarts,
    );
    let share = |part: u64, of: u64| 100.0 * part as f64 / (of as f64).max(1.0);
    let open = summary.openness;
    let _ = writeln!(
        text,
        "left open: {:.2} % of the elements (another {:.2} % have a set of right values), {:.2} % of the aspects",
        share(open.any, open.elements),
        share(open.sets, open.elements),
        share(open.open, open.aspects),
    );
    let cases = |lines: &[&Line]| number(findings(lines));
    let _ = write!(
        text,
        "{} signatures in {} groups found in {} findings; {} known divergences in {}",
        new.len(),
        summary.groups.iter().filter(|group| !group.disputed).count(),
        cases(&new),
        known.len(),
        cases(&known)
    );
    if !disputed.is_empty() {
        let _ = write!(text, "; {} disputed in {}", disputed.len(), cases(&disputed));
    }
    text.push('\n');
    let left = new.iter().filter(|line| line.not_reduced).count();
    if left > 0 {
        let _ = writeln!(
            text,
            "the campaign ended before {left} of the signatures were reduced: --resume reduces them, with more --seconds if \
             the time ran out"
        );
    }
    text
}

/// The known divergences, with the number of their findings; each signature, if all is asked for.
fn known_causes(lines: &[&Line], verbose: bool) -> String {
    let mut causes: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        causes.entry(line.known.as_deref().unwrap_or_default()).or_default().push(line);
    }
    let mut causes: Vec<_> = causes.into_iter().map(|(cause, lines)| (findings(&lines), cause, lines)).collect();
    causes.sort_by_key(|(count, cause, _)| (Reverse(*count), *cause));
    let mut text = String::new();
    if !causes.is_empty() {
        text.push_str("\nknown divergences\n");
    }
    for (count, cause, lines) in causes {
        let _ = writeln!(text, "{:>8} × {cause}{}", number(count), several(lines.len()));
        if verbose {
            lines.iter().for_each(|line| text.push_str(&signature(line, None)));
        }
    }
    text
}

/// A group of findings with its smallest program; each signature, if all is asked for. A group of one signature is
/// called by that.
pub fn grouped(group: &CauseGroup, lines: &[&Line], place: &dyn Fn(&Line) -> String, verbose: bool) -> String {
    let mut text = String::new();
    let alone = group.signatures.len() == 1;
    let _ = writeln!(text, "{:>8} × {}{}", number(group.count as u64), group.title(), several(group.signatures.len()));
    let of = |signature: &Signature| lines.iter().find(|line| line.known.is_none() && line.signature == *signature);
    if let Some(line) = of(&group.smallest) {
        let _ = writeln!(text, "           {}{}", if alone { "" } else { "smallest " }, place(line));
        text.push_str(&example(line));
    }
    if verbose && !alone {
        group.signatures.iter().filter_map(of).for_each(|line| text.push_str(&signature(line, Some(&place(line)))));
    }
    text
}

/// The program of a signature, and the first difference.
fn example(line: &Line) -> String {
    let Some(example) = &line.example else { return String::new() };
    let mut text = String::new();
    let mut put = |part: &str| {
        let short: String = part.chars().take(WIDTH).collect();
        let _ = writeln!(text, "             {short}{}", if short.len() < part.len() { "…" } else { "" });
    };
    let program: Vec<&str> = example.program.trim_end().lines().collect();
    program.iter().take(LINES).for_each(|line| put(line));
    if program.len() > LINES {
        put(&format!("… {} more lines", program.len() - LINES));
    }
    if let Some(first) = example.differences.first() {
        put(&format!("{}: expected {}", first.value, first.expected));
        put(&format!("{}: observed {}", first.value, first.observed));
    }
    text
}

/// A signature below its group, with the place of its first finding.
fn signature(line: &Line, place: Option<&str>) -> String {
    let place = place.map(|place| format!("{:>22}{place}\n", "")).unwrap_or_default();
    format!("{:>19} × {}\n{place}", number(line.count as u64), line.signature)
}

/// The number of signatures, where there are several.
fn several(signatures: usize) -> String {
    if signatures == 1 { String::new() } else { format!(", {} signatures", number(signatures as u64)) }
}

/// The case and the folder of the first finding of a signature.
pub fn place(line: &Line, configuration: &Configuration, folder: &Path) -> String {
    let reduced = if line.not_reduced { ", not reduced" } else { "" };
    let first = match configuration.corpus {
        Some(_) => format!("first on line {}{reduced}", line.first + 1),
        None => format!("first in case {}{reduced}", line.first),
    };
    match &line.folder {
        Some(name) => format!("{first}, see {}", folder.join(FINDINGS).join(name).display()),
        None => first,
    }
}

fn findings(lines: &[&Line]) -> u64 {
    lines.iter().map(|line| line.count as u64).sum()
}

/// Operations, with how often they were steps.
fn steps(summary: &Summary) -> String {
    let mut text = format!("\n{:<36} {:>10} {:>10} {:>13}\n", "steps", "accepted", "rejected", "not supported");
    let mut row = |name: &str, Judged { accepted, rejected, unsupported }: Judged| {
        let (accepted, rejected, unsupported) = (number(accepted), number(rejected), number(unsupported));
        let _ = writeln!(text, "{name:<36} {accepted:>10} {rejected:>10} {unsupported:>13}");
    };
    summary.operations.iter().for_each(|(op, judged)| row(op.name(), *judged));
    row("all", summary.steps);
    for op in &summary.never {
        let _ = writeln!(text, "{:<36} {:>10}", op.name(), "never");
    }
    text
}

/// The calls of a small scope, with the outcomes of each in all cases.
fn calls(summary: &Summary) -> String {
    let width = summary.calls.keys().map(|call| call.len()).max().unwrap_or(0);
    let heads = ["cases", "accepted", "rejected", "not supported", "broken", "known", "differing"];
    let mut text = String::new();
    let mut line = |name: &str, cells: [String; 7]| {
        let _ = write!(text, "\n{name:width$}");
        for (cell, head) in cells.iter().zip(heads) {
            let _ = write!(text, "  {cell:>width$}", width = head.len().max(10));
        }
    };
    line("calls", heads.map(str::to_owned));
    let mut row = |name: &str, checked: Checked| {
        let Checked { accepted, rejected, unsupported, broken, known, differing } = checked;
        line(name, [checked.cases(), accepted, rejected, unsupported, broken, known, differing].map(number));
    };
    let mut all = Checked::default();
    for (call, checked) in &summary.calls {
        row(call, *checked);
        all += *checked;
    }
    row("all", all);
    text.push('\n');
    text
}

fn label(identity: &Identity) -> String {
    format!("{} {}", identity.name, identity.version)
}
