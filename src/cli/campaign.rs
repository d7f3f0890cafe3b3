//! What `fuzz` and `merge` print of a campaign.

use std::fmt::Write as _;
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use super::{Ending, Failure};
use crate::harness::campaign::FINDINGS;
use crate::harness::campaign::journal::Identity;
use crate::harness::campaign::summary::{Line, Summary};
use crate::harness::finding::Oracle;

/// What to print.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// The summary of the campaign in a folder.
pub fn render(summary: &Summary, format: Format, folder: &Path) -> String {
    match format {
        Format::Text => text(summary, folder),
        Format::Json => json(summary),
    }
}

/// As one JSON object.
pub fn json(summary: &impl Serialize) -> String {
    let mut json = serde_json::to_string_pretty(summary).expect("a summary has only text for keys");
    json.push('\n');
    json
}

/// How a command with this summary ends.
///
/// # Errors
/// When nothing was judged, so that nothing can be said.
pub fn ending(summary: &Summary) -> Result<Ending, Failure> {
    if summary.new_findings().next().is_some() {
        return Ok(Ending::Differs);
    }
    if !summary.judged() {
        return Err("nothing was judged: no step of any program was answered".into());
    }
    Ok(Ending::Conforms)
}

fn text(summary: &Summary, folder: &Path) -> String {
    let mut text = String::new();
    let plan = &summary.plan;
    let _ = write!(text, "{}", label(&summary.implementation));
    if let Some(against) = &summary.against {
        let _ = write!(text, " against {}", label(against));
    }
    let oracles: Vec<&str> = plan.oracles.iter().map(|oracle: &Oracle| oracle.name()).collect();
    let _ = writeln!(text, ", seed {}, judged by {}", plan.seed, oracles.join(", "));
    if plan.shard.of > 1 || summary.shards.len() > 1 {
        for part in &summary.shards {
            let ended = part.ended.as_deref().unwrap_or("killed, or still running");
            let _ = writeln!(text, "shard {}: {} cases, {ended}", part.shard, number(part.cases));
        }
    }
    for missing in &summary.missing {
        let _ = writeln!(text, "shard {missing}: missing");
    }

    let _ = writeln!(text, "\n{:<36} {:>10} {:>10} {:>13}", "steps", "accepted", "rejected", "not supported");
    let mut row = |name: &str, [accepted, rejected, unsupported]: [u64; 3]| {
        let (accepted, rejected, unsupported) = (number(accepted), number(rejected), number(unsupported));
        let _ = writeln!(text, "{name:<36} {accepted:>10} {rejected:>10} {unsupported:>13}");
    };
    for (op, judged) in &summary.operations {
        row(op.name(), [judged.accepted, judged.rejected, judged.unsupported]);
    }
    let steps = summary.steps;
    row("all", [steps.accepted, steps.rejected, steps.unsupported]);
    for op in &summary.never {
        let _ = writeln!(text, "{:<36} {:>10}", op.name(), "never");
    }

    let (new, known): (Vec<&Line>, Vec<&Line>) = summary.findings.iter().partition(|line| line.known.is_none());
    for (title, lines) in [("known divergences", &known), ("findings", &new)] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        for line in lines {
            let _ = writeln!(text, "{:>8} × {}", number(line.count as u64), line.signature);
            if let Some(known) = &line.known {
                let _ = writeln!(text, "           {known}");
            }
            let _ = write!(text, "           first in case {}", line.first);
            let _ = match &line.folder {
                Some(name) => writeln!(text, ", see {}", folder.join(FINDINGS).join(name).display()),
                None => writeln!(text),
            };
        }
    }

    let judged = (steps.accepted + steps.rejected) as f64;
    let _ = writeln!(
        text,
        "\n{} cases in {:.1} s, {:.0} a second; {} steps judged, {:.1} % of them rejected; {} restarts",
        number(summary.cases),
        summary.seconds,
        summary.cases as f64 / summary.seconds.max(0.001),
        number(steps.accepted + steps.rejected),
        100.0 * steps.rejected as f64 / judged.max(1.0),
        summary.restarts,
    );
    let cases = |lines: &[&Line]| number(lines.iter().map(|line| line.count as u64).sum());
    let _ = writeln!(
        text,
        "{} signatures found in {} findings; {} known divergences in {}",
        new.len(),
        cases(&new),
        known.len(),
        cases(&known)
    );
    text
}

fn label(identity: &Identity) -> String {
    format!("{} {}", identity.name, identity.version)
}

/// A number with commas between thousands.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
    }
}
