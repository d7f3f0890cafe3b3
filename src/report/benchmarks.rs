//! What the harness costs: `benchmarks.md` and `benchmarks.svg`.

use plotters::prelude::*;
use serde::Serialize;
use serde_json::json;

use super::plot::{self, INK};
use super::{template, thousands};
use crate::harness::benchmark::{Measured, Point, Soak, Speeds, Spent, Way, median};

/// The ways, in the order of the table, with their names and their colours.
const WAYS: [(Way, &str, RGBColor); 7] = [
    (Way::Tch, "tch alone", RGBColor(125, 145, 155)),
    (Way::Bare, "bare", RGBColor(66, 133, 190)),
    (Way::Reference, "reference", RGBColor(64, 150, 96)),
    (Way::Generator, "generator", RGBColor(140, 105, 175)),
    (Way::Protocol, "protocol", RGBColor(221, 145, 38)),
    (Way::Campaign, "campaign", RGBColor(207, 72, 60)),
    (Way::CampaignOfTwo, "campaign, 2 workers", RGBColor(120, 40, 60)),
];

/// What is to be reached.
#[derive(Debug, Serialize)]
struct Target {
    what: &'static str,
    wanted: String,
    measured: String,
    met: Option<bool>,
}

/// The reports of what was measured, each with the name of its file.
///
/// # Errors
/// When the picture cannot be drawn.
pub fn files(measured: &Measured, soak: Option<&Soak>) -> Result<Vec<(&'static str, String)>, String> {
    let plot = drawn(measured).map_err(|error| format!("the plot of benchmarks: {error}"))?;
    Ok(vec![("benchmarks.md", render(measured, soak)), ("benchmarks.svg", plot)])
}

/// The report.
pub fn render(measured: &Measured, soak: Option<&Soak>) -> String {
    let names: Vec<&str> = WAYS.iter().map(|(_, name, _)| *name).collect();
    let rates: Vec<_> = measured.sets.iter().map(|set| json!({"set": set.set, "programs": set.programs, "accepted": set.accepted, "refused": set.refused, "cells": WAYS.map(|(way, ..)| set.rate(way).map_or_else(String::new, rate))})).collect();
    let ratios: Vec<_> = measured.sets.iter().map(|set| json!({"set": set.set, "cells": WAYS.map(|(way, ..)| set.ratio(way, Way::Bare).map_or_else(String::new, ratio))})).collect();
    let spent: Vec<_> = measured.sets.iter().filter_map(spent).collect();
    let repeats = measured.sets.iter().flat_map(|set| set.seconds.values().map(Vec::len)).max().unwrap_or(0);
    let loops: Vec<_> = WAYS
        .iter()
        .filter_map(|&(way, name, _)| Some(json!({"way": name, "ratio": ratio(beside_the_loop(measured, way)?)})))
        .collect();
    let curve: Vec<_> = soak.map(|soak| thinned(&soak.points)).unwrap_or_default();
    let implementation = format!("{} {}", measured.implementation.name, measured.implementation.version);
    template::fill(
        "benchmarks.md",
        json!({
            "implementation": implementation, "machine": measured.machine, "repeats": repeats, "ways": names,
            "rates": rates, "ratios": ratios, "spent": spent, "targets": targets(measured, soak), "hypothesis": measured.hypothesis,
            "checks": measured.checks.iter().map(|(name, seconds)| json!({"name": name, "seconds": seconds_text(seconds)})).collect::<Vec<_>>(),
            "loops": loops, "curve": curve, "jobs": soak.map(|soak| soak.jobs),
        }),
    )
}

fn targets(measured: &Measured, soak: Option<&Soak>) -> Vec<Target> {
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
    let slowdown = soak.and_then(|soak| slowdown(&soak.points));
    vec![
        at_least(
            "campaign beside bare, programs of a campaign",
            0.8,
            campaign.and_then(|set| set.ratio(Way::Campaign, Way::Bare)),
        ),
        at_least(
            "campaign on small pairs beside the loop with Hypothesis",
            150.0,
            beside_the_loop(measured, Way::Campaign),
        ),
        at_least(
            "reference beside bare, programs of a campaign",
            1.0,
            campaign.and_then(|set| set.ratio(Way::Reference, Way::Bare)),
        ),
        at_least(
            "reference beside bare, small pairs that are accepted",
            1.0,
            set(PAIRS[0]).and_then(|set| set.ratio(Way::Reference, Way::Bare)),
        ),
        at_least(
            "reference beside bare, `add` of 10⁶ elements",
            1.0 / 3.0,
            set(ADD).and_then(|set| set.ratio(Way::Reference, Way::Bare)),
        ),
        below("`check` of the reference", 1.0, " s", check("reference")),
        below("`check` of libtorch", 10.0, " s", check("libtorch")),
        at_least("the last tenth of a long campaign beside its first", 0.9, slowdown),
    ]
}

/// The set of programs of a campaign.
const CAMPAIGN: &str = "programs of a campaign";

/// The sets of small pairs.
const PAIRS: [&str; 2] = ["small pairs, accepted", "small pairs, refused"];

/// How many times as many small pairs a way runs in a second as the loop with Hypothesis: as many that are accepted as
/// are refused.
fn beside_the_loop(measured: &Measured, way: Way) -> Option<f64> {
    let seconds = |name: &str| measured.sets.iter().find(|set| set.set == name)?.rate(way).map(|rate| 1.0 / rate);
    let pair = PAIRS.iter().map(|name| seconds(name)).sum::<Option<f64>>()? / PAIRS.len() as f64;
    Some(1.0 / pair / median(&measured.hypothesis.as_ref()?.rates)?)
}

/// The set of large additions.
const ADD: &str = "large additions";

/// What a case cost in the first tenth of a campaign, beside the last: processor time, whatever else the machine did.
fn slowdown(points: &[Point]) -> Option<f64> {
    let last = points.last()?;
    let speed = |from: u64, to: u64| {
        let mut within = points.iter().filter(|point| (from..=to).contains(&point.cases));
        let (first, last) = (within.next()?, within.next_back()?);
        Some((last.cases - first.cases) as f64 / (last.cpu - first.cpu))
    };
    Some(speed(last.cases * 9 / 10, last.cases)? / speed(0, last.cases / 10)?)
}

fn thinned(points: &[Point]) -> Vec<serde_json::Value> {
    let mib = |bytes: u64| format!("{:.0}", bytes as f64 / f64::from(1 << 20));
    let row = |point: &Point| json!({"cases": point.cases, "seconds": format!("{:.0}", point.seconds), "cpu": format!("{:.0}", point.cpu), "harness": mib(point.harness), "adapters": mib(point.adapters), "journal": format!("{:.1}", point.journal as f64 / f64::from(1 << 20)), "signatures": point.signatures});
    let apart = points.len().div_ceil(12).max(1);
    let mut rows: Vec<_> = points.iter().step_by(apart).map(row).collect();
    if let Some(last) = points.last().filter(|_| !(points.len() - 1).is_multiple_of(apart)) {
        rows.push(row(last));
    }
    rows
}

/// Where the time of a campaign goes, for each program and each repeat, in microseconds and beside bare.
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

/// Programs a second of every set in every way.
fn drawn(measured: &Measured) -> Result<String, Box<dyn std::error::Error>> {
    let rates = || measured.sets.iter().flat_map(|set| WAYS.iter().filter_map(|(way, ..)| set.rate(*way)));
    let most = rates().fold(10.0, f64::max) * 1.6;
    let least = rates().fold(most, f64::min) / 1.6;
    let mut svg = String::new();
    let root = SVGBackend::with_string(&mut svg, (900, 420)).into_drawing_area();
    let sets = &measured.sets;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(34)
        .y_label_area_size(64)
        .build_cartesian_2d(-0.5..sets.len() as f64 - 0.5, (least..most).log_scale())?;
    let text = ("sans-serif", 12).into_font().color(&INK);
    chart
        .configure_mesh()
        .disable_x_mesh()
        .axis_style(INK)
        .light_line_style(TRANSPARENT)
        .bold_line_style(INK.mix(0.25))
        .label_style(text.clone())
        .x_labels(sets.len())
        .x_label_formatter(&|at| match sets.get(at.round() as usize) {
            Some(set) if (at - at.round()).abs() < 0.01 => set.set.replace(" pairs", ""),
            _ => String::new(),
        })
        .y_desc("programs a second")
        .y_label_formatter(&|number| rate(*number))
        .draw()?;
    for (way, name, colour) in WAYS {
        let points: Vec<(f64, f64)> =
            sets.iter().enumerate().filter_map(|(at, set)| Some((at as f64, set.rate(way)?))).collect();
        chart
            .draw_series(points.into_iter().map(|point| Circle::new(point, 5, colour.filled())))?
            .label(name)
            .legend(move |(x, y)| Circle::new((x + 5, y), 5, colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .label_font(text)
        .border_style(TRANSPARENT)
        .draw()?;
    root.present()?;
    drop(chart);
    drop(root);
    Ok(plot::ended(svg))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_they_deserve() {
        assert_eq!([0.8, 12.345, 1234.5].map(ratio), ["0.80", "12.3", "1234"]);
        assert_eq!([12.3, 1234.5, 1_234_567.0].map(rate), ["12.3", "1,235", "1,234,567"]);
    }

    #[test]
    fn a_campaign_that_slows_down_is_seen() {
        let point = |cases: u64, cpu: f64| Point {
            cases,
            seconds: cpu,
            cpu,
            harness: 0,
            adapters: 0,
            journal: 0,
            signatures: 0,
        };
        let even: Vec<Point> = (0..=100).map(|at| point(at, at as f64)).collect();
        assert_eq!(slowdown(&even), Some(1.0));
        let slower: Vec<Point> = (0..=100).map(|at| point(at, (at * at) as f64)).collect();
        assert!(slowdown(&slower).unwrap() < 0.1);
    }
}
