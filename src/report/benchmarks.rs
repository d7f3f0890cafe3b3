//! The cost of the harness: `benchmarks.md`.

use serde::Serialize;
use serde_json::json;

use super::{template, thousands};
use crate::harness::benchmark::{Measured, Speeds, Spent, Way, median};

/// The ways, in the order of the table, with their names.
const WAYS: [(Way, &str); 7] = [
    (Way::Tch, "tch alone"),
    (Way::Bare, "bare"),
    (Way::Reference, "reference"),
    (Way::Generator, "generator"),
    (Way::Protocol, "protocol"),
    (Way::Campaign, "campaign"),
    (Way::CampaignOfTwo, "campaign, 2 workers"),
];

/// A target to be reached.
#[derive(Debug, Serialize)]
struct Target {
    what: &'static str,
    wanted: String,
    measured: String,
    met: Option<bool>,
}

/// The report.
pub fn render(measured: &Measured) -> String {
    let names: Vec<&str> = WAYS.iter().map(|(_, name)| *name).collect();
    let rates: Vec<_> = measured.sets.iter().map(|set| json!({"set": set.set, "programs": set.programs, "accepted": set.accepted, "rejected": set.rejected, "cells": WAYS.map(|(way, _)| set.rate(way).map_or_else(String::new, rate))})).collect();
    let ratios: Vec<_> = measured.sets.iter().map(|set| json!({"set": set.set, "cells": WAYS.map(|(way, _)| set.ratio(way, Way::Bare).map_or_else(String::new, ratio))})).collect();
    let spent: Vec<_> = measured.sets.iter().filter_map(spent).collect();
    let repeats = measured.sets.iter().flat_map(|set| set.seconds.values().map(Vec::len)).max().unwrap_or(0);
    let loops: Vec<_> = WAYS
        .iter()
        .filter_map(|&(way, name)| Some(json!({"way": name, "ratio": ratio(beside_the_loop(measured, way)?)})))
        .collect();
    let implementation = format!("{} {}", measured.implementation.name, measured.implementation.version);
    template::fill(
        "benchmarks.md",
        json!({
            "implementation": implementation, "machine": measured.machine, "repeats": repeats, "ways": names,
            "rates": rates, "ratios": ratios, "spent": spent, "targets": targets(measured), "hypothesis": measured.hypothesis,
            "checks": measured.checks.iter().map(|(name, seconds)| json!({"name": name, "seconds": seconds_text(seconds)})).collect::<Vec<_>>(),
            "loops": loops,
        }),
    )
}

fn targets(measured: &Measured) -> Vec<Target> {
    let set = |name: &str| measured.sets.iter().find(|set| set.set == name);
    let at_least = |what, wanted: f64, measured: Option<f64>| Target {
        what,
        wanted: format!("≥ {}", ratio(wanted)),
        measured: measured.map_or_else(unmeasured, ratio),
        met: measured.map(|measured| measured >= wanted),
    };
    let below = |what, wanted: f64, unit: &str, measured: Option<f64>| Target {
        what,
        wanted: format!("≤ {wanted}{unit}"),
        measured: measured.map_or_else(unmeasured, |measured| format!("{measured:.2}{unit}")),
        met: measured.map(|measured| measured <= wanted),
    };
    let campaign = set(CAMPAIGN);
    let check = |name: &str| measured.checks.get(name).and_then(|seconds| median(seconds));
    vec![
        at_least(
            "campaign compared with bare, programs of a campaign",
            0.8,
            campaign.and_then(|set| set.ratio(Way::Campaign, Way::Bare)),
        ),
        at_least(
            "campaign on small pairs compared with the loop with Hypothesis",
            150.0,
            beside_the_loop(measured, Way::Campaign),
        ),
        at_least(
            "reference compared with bare, programs of a campaign",
            1.0,
            campaign.and_then(|set| set.ratio(Way::Reference, Way::Bare)),
        ),
        at_least(
            "reference compared with bare, small pairs that are accepted",
            1.0,
            set(PAIRS[0]).and_then(|set| set.ratio(Way::Reference, Way::Bare)),
        ),
        at_least(
            "reference compared with bare, `add` of 10⁶ elements",
            1.0 / 3.0,
            set(ADD).and_then(|set| set.ratio(Way::Reference, Way::Bare)),
        ),
        below("`check` of the reference", 1.0, " s", check("reference")),
        below("`check` of libtorch", 10.0, " s", check("libtorch")),
    ]
}

/// The set of programs of a campaign.
const CAMPAIGN: &str = "programs of a campaign";

/// The sets of small pairs.
const PAIRS: [&str; 2] = ["small pairs, accepted", "small pairs, rejected"];

/// Returns how many times as many small pairs a way runs in a second as the loop with Hypothesis: as many that are
/// accepted as are rejected.
fn beside_the_loop(measured: &Measured, way: Way) -> Option<f64> {
    let seconds = |name: &str| measured.sets.iter().find(|set| set.set == name)?.rate(way).map(|rate| 1.0 / rate);
    let pair = PAIRS.iter().map(|name| seconds(name)).sum::<Option<f64>>()? / PAIRS.len() as f64;
    Some(1.0 / pair / median(&measured.hypothesis.as_ref()?.rates)?)
}

/// The set of large additions.
const ADD: &str = "large additions";

/// Returns where the time of a campaign goes, for each program and each repeat, in microseconds and relative to bare.
fn spent(set: &Speeds) -> Option<serde_json::Value> {
    let bare: Vec<f64> = set.seconds.get(&Way::Bare)?.iter().map(|seconds| seconds / set.programs as f64).collect();
    let of = |part: fn(&Spent) -> f64| set.spent.iter().map(part).collect::<Vec<f64>>();
    let micros = |seconds: &[f64]| median(seconds).map_or_else(unmeasured, |seconds| format!("{:.1}", seconds * 1e6));
    let busy = |part: Vec<f64>| {
        let shares: Vec<f64> = part.iter().zip(&set.spent).map(|(part, spent)| part / spent.clock * 100.0).collect();
        median(&shares).map_or_else(unmeasured, |share| format!("{share:.0} %"))
    };
    let adapters = of(|spent| spent.adapters);
    let beside: Vec<f64> = adapters.iter().zip(&bare).map(|(adapter, bare)| adapter / bare).collect();
    (!set.spent.is_empty()).then(|| {
        json!({
            "set": set.set, "bare": micros(&bare), "clock": micros(&of(|spent| spent.clock)),
            "adapter": micros(&adapters), "harness": micros(&of(|spent| spent.harness)),
            "adapter_busy": busy(adapters), "harness_busy": busy(of(|spent| spent.harness)),
            "beside": median(&beside).map_or_else(unmeasured, ratio),
        })
    })
}

fn unmeasured() -> String {
    "not measured".to_owned()
}

/// A ratio in as many digits as it deserves.
fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 100.0 => format!("{ratio:.0}"),
        ratio if ratio >= 10.0 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.2}"),
    }
}

/// Programs a second, with commas between thousands.
fn rate(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { thousands(rate.round() as u64) }
}

fn seconds_text(seconds: &[f64]) -> String {
    median(seconds).map_or_else(unmeasured, |seconds| format!("{seconds:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_they_deserve() {
        assert_eq!([0.8, 12.345, 1234.5].map(ratio), ["0.80", "12.3", "1234"]);
        assert_eq!([12.3, 1234.5, 1_234_567.0].map(rate), ["12.3", "1,235", "1,234,567"]);
    }
}
