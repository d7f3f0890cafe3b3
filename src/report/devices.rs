//! What holds on the processor and not on a GPU: `devices.md`, of PyTorch's front end on CUDA and libtorch of the same
//! release.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::documentation::FRONT_END;
use super::history::{History, Holds, LIBRARY};
use super::{short, template};
use crate::harness::model::event::{Judged, Verdict};
use crate::harness::{Aspect, Difference};

/// The implementation that runs on a GPU.
const DEVICE: &str = "pytorch-cuda";

#[derive(Serialize)]
struct Page<'a> {
    suite: &'a str,
    version: &'a str,
    build: &'a str,
    /// The release of the front end on the processor, which is the witness of what is its own.
    front_end: Option<&'a str>,
    statements: Vec<Statement<'a>>,
    texts: Vec<Text>,
    /// How many cases the GPU passed that both ran, and how many both ran.
    passed: usize,
    both: usize,
}

/// A statement that is true on the processor and false on the GPU.
#[derive(Serialize)]
struct Statement<'a> {
    statement: &'a str,
    documented: bool,
    value: &'a str,
    aspect: &'a str,
    expected: &'a str,
    observed: &'a str,
    cause: &'a str,
    case: &'a str,
}

/// A message that the GPU words otherwise.
#[derive(Serialize)]
struct Text {
    processor: String,
    device: String,
    cases: usize,
    case: String,
}

/// The report; `None` if no GPU has run, or no libtorch of its release.
pub fn render(history: &History) -> Option<String> {
    let ran = |at: &usize| history.columns[*at].came.is_ok();
    let columns = || (0..history.columns.len()).filter(ran);
    let device = columns().find(|at| history.columns[*at].name == DEVICE)?;
    let version = history.columns[device].version.as_str();
    let processor =
        columns().find(|at| history.columns[*at].name == LIBRARY && history.columns[*at].version == version)?;
    let front_end = columns().find(|at| history.columns[*at].name == FRONT_END);
    let sides = Sides { history, device, processor, front_end };
    let both = || history.cases().iter().filter_map(|case| sides.both(&case.id));
    let page = Page {
        suite: short(history.suite()),
        version,
        build: history.columns[device].build.rsplit("device ").next().unwrap_or_default(),
        front_end: front_end.map(|at| history.columns[at].version.as_str()),
        statements: sides.statements(),
        texts: sides.texts(),
        passed: both().filter(|(device, _)| matches!(device.verdict, Verdict::Passed)).count(),
        both: both().count(),
    };
    Some(template::fill("devices.md", page))
}

/// The columns that are compared.
struct Sides<'a> {
    history: &'a History,
    device: usize,
    processor: usize,
    front_end: Option<usize>,
}

impl<'a> Sides<'a> {
    /// The judgements of a case on the GPU and on the processor, if both executed it.
    fn both(&self, case: &str) -> Option<(&'a Judged, &'a Judged)> {
        let executed = |judged: &&Judged| !matches!(judged.verdict, Verdict::Unsupported { .. });
        let of = |at: usize| self.history.judged(at, case).filter(executed);
        Some((of(self.device)?, of(self.processor)?))
    }

    /// Returns whether a case differs on the processor, too, in libtorch or in the front end.
    fn is_of_both(&self, case: &str) -> bool {
        let differs = |at: usize| {
            let verdict = self.history.judged(at, case).map(|judged| &judged.verdict);
            verdict.is_some_and(|verdict| !matches!(verdict, Verdict::Passed))
        };
        differs(self.processor) || self.front_end.is_some_and(differs)
    }

    fn statements(&self) -> Vec<Statement<'a>> {
        let (there, here) = (self.history.holds(self.device), self.history.holds(self.processor));
        let front_end = self.front_end.map(|at| self.history.holds(at)).unwrap_or_default();
        let documented: BTreeSet<&str> =
            self.history.documents().iter().filter(|one| !one.code).map(|one| one.id.as_str()).collect();
        let truths = self.history.truth(self.device).into_iter().enumerate();
        let lost = truths.filter(|(at, _)| {
            there[*at] == Holds::False && here[*at] == Holds::True && front_end.get(*at) != Some(&Holds::False)
        });
        let statement = |(_, truth): (usize, super::Truth<'a>)| {
            let (judged, differences) = truth.against.into_iter().find(|(judged, _)| !self.is_of_both(&judged.case))?;
            let first = differences.first();
            let side = |text: fn(&'a Difference) -> &'a str| first.map_or("", |one| text(one));
            Some(Statement {
                statement: &truth.clause.statement,
                documented: truth.clause.sources.iter().any(|source| documented.contains(source.doc.as_str())),
                value: side(|one| &one.value),
                aspect: first.map_or("broken", |one| one.aspect.name()),
                expected: side(|one| &one.expected),
                observed: side(|one| &one.observed),
                cause: match &judged.verdict {
                    Verdict::Diverges { divergence, .. } => divergence,
                    _ => "",
                },
                case: &judged.case,
            })
        };
        lost.filter_map(statement).collect()
    }

    /// The messages that differ, those of most cases first.
    fn texts(&self) -> Vec<Text> {
        let mut found: BTreeMap<(String, String), (usize, String)> = BTreeMap::new();
        for case in self.history.cases().iter().filter(|case| !self.is_of_both(&case.id)) {
            let Some((judged, _)) = self.both(&case.id) else { continue };
            let (Verdict::Diverges { differences, .. } | Verdict::Failed { differences }) = &judged.verdict else {
                continue;
            };
            for one in differences.iter().filter(|one| one.aspect == Aspect::Message) {
                let texts = (named(&one.expected), named(&one.observed));
                found.entry(texts).or_insert_with(|| (0, case.id.clone())).0 += 1;
            }
        }
        let text = |((processor, device), (cases, case))| Text { processor, device, cases, case };
        let mut texts: Vec<Text> = found.into_iter().map(text).collect();
        texts.sort_by_key(|one| std::cmp::Reverse(one.cases));
        texts
    }
}

/// A message without the numbers that differ from call to call. A kernel has a name for each operation.
fn named(message: &str) -> String {
    let mut text = String::new();
    for letter in message.chars() {
        match letter {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            other => text.push(other),
        }
    }
    let Some(rest) = text.strip_prefix('"') else { return text };
    match rest.split_once("\" not implemented for") {
        Some((kernel, _)) if kernel.ends_with("_cpu") => "\"…_cpu\" not implemented for …".to_owned(),
        Some((kernel, _)) if kernel.ends_with("_cuda") => "\"…_cuda\" not implemented for …".to_owned(),
        _ => text,
    }
}
