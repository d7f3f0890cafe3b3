//! Reports, one file a format. They see events and nothing else.

mod badge;
pub mod benchmarks;
pub mod changes;
pub mod diff;
mod documentation;
pub mod exhaustive;
pub mod history;
mod implementations;
pub mod json;
pub mod junit;
pub mod markdown;
mod matrix;
mod page;
mod plot;
pub mod scale;
mod template;
pub mod text;

/// The reports of a history, each with the name of its file.
///
/// # Errors
/// When one of them cannot be drawn.
pub fn files(history: &history::History) -> Result<Vec<(&'static str, String)>, String> {
    let others = implementations::others(history);
    let releases = history.part(|column| !implementations::is_other(column));
    let mut files = vec![
        ("documentation.md", documentation::render(&releases)),
        ("matrix.md", matrix::render(&releases)),
        ("index.html", page::render(&releases, others.as_ref())?),
        ("changes.svg", plot::render(&releases)?),
        ("badge.svg", badge::render(&releases)),
    ];
    files.extend(others.map(|others| ("implementations.md", implementations::render(&others))));
    Ok(files)
}

use std::collections::BTreeMap;

use crate::harness::event::{
    Absent, CaseStated, ClauseStated, Event, Generated, ImplementationReady, Judged, Started, Totals, Verdict,
};

/// The events of one run, sorted by what they are about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// How it began.
    pub started: Option<Started>,
    /// The statements, in the order of the specification.
    pub clauses: Vec<ClauseStated>,
    /// The cases, in the order of the specification.
    pub cases: Vec<CaseStated>,
    /// The implementations, in the order in which they ran.
    pub implementations: Vec<ImplementationReady>,
    /// Every judgement, in the order in which it was made.
    pub judged: Vec<Judged>,
    /// Every program of the seeded corpus, in the order of implementations, with their labels.
    pub generated: Vec<(String, Generated)>,
    /// Implementations that could not be run.
    pub absent: Vec<Absent>,
    /// How it ended; `None` if it did not.
    pub totals: Option<Totals>,
}

impl Run {
    /// Takes in the next event.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Started(started) => self.started = Some(started.clone()),
            Event::Clause(clause) => self.clauses.push(clause.clone()),
            Event::Case(case) => self.cases.push((**case).clone()),
            Event::Absent(absent) => self.absent.push(absent.clone()),
            Event::Generated(generated) => {
                let label = self.implementations.last().expect("it was there").label.clone();
                self.generated.push((label, (**generated).clone()));
            }
            Event::Implementation(ready) => {
                let mut ready = ready.clone();
                // Two builds of one library call themselves the same; what the user typed tells them apart.
                if self.implementations.iter().any(|other| other.label == ready.label) {
                    ready.label = format!("{} ({})", ready.label, ready.given);
                }
                self.implementations.push(ready);
            }
            Event::Judged(judged) => {
                let mut judged = (**judged).clone();
                // Judgements follow the implementation that they are about.
                judged.implementation.clone_from(&self.implementations.last().expect("it was there").label);
                self.judged.push(judged);
            }
            Event::Finished(totals) => {
                let mut totals = totals.clone();
                for (tally, ready) in totals.implementations.iter_mut().zip(&self.implementations) {
                    tally.implementation.clone_from(&ready.label);
                }
                self.totals = Some(totals);
            }
        }
    }

    /// The judgements of one implementation.
    pub fn of<'a>(&'a self, implementation: &'a str) -> impl Iterator<Item = &'a Judged> {
        self.judged.iter().filter(move |judged| judged.implementation == implementation)
    }

    /// The implementation that the truth table is about: the last one that is not our own reference, if there is one.
    pub fn witness(&self) -> Option<&ImplementationReady> {
        self.implementations.iter().rev().find(|ready| ready.name != "reference").or(self.implementations.last())
    }

    /// What becomes of every statement in one implementation.
    pub fn truth(&self, implementation: &str) -> Vec<Truth<'_>> {
        let judged: BTreeMap<&str, &Judged> = self
            .judged
            .iter()
            .filter(|judged| judged.implementation == implementation)
            .map(|judged| (judged.case.as_str(), judged))
            .collect();
        self.clauses
            .iter()
            .map(|clause| {
                let cases = clause.cases.iter().filter_map(|case| judged.get(case.as_str()).copied());
                let seen: Vec<&Judged> = cases.filter(|judged| judged.documented.is_some()).collect();
                let against = seen.iter().copied().filter(|judged| judged.documented == Some(false)).collect();
                Truth { clause, seen: seen.len(), against }
            })
            .collect()
    }
}

/// What becomes of one statement in one implementation.
#[derive(Clone, Debug)]
pub struct Truth<'a> {
    /// The statement.
    pub clause: &'a ClauseStated,
    /// How many cases of it were executed.
    pub seen: usize,
    /// The cases that contradict it.
    pub against: Vec<&'a Judged>,
}

impl Truth<'_> {
    /// `None` if no case of it was executed.
    pub fn holds(&self) -> Option<bool> {
        (self.seen > 0).then_some(self.against.is_empty())
    }

    /// The documents that make the statement, without repetition.
    pub fn documents(&self) -> Vec<&str> {
        let mut documents: Vec<&str> = self.clause.sources.iter().map(|source| source.doc.as_str()).collect();
        documents.dedup();
        documents
    }

    /// What really happens, where the statement is false, and the case that shows it.
    pub fn really(&self) -> Option<(&str, &str)> {
        let told = self.against.iter().find_map(|judged| Some((why(judged)?, judged.case.as_str())));
        told.or_else(|| self.against.first().map(|judged| ("see the failure below", judged.case.as_str())))
    }
}

/// Why a case is not as the document says: its own words, or those of the divergence that it shows.
fn why(judged: &Judged) -> Option<&str> {
    match &judged.verdict {
        Verdict::Diverges { why, .. } => Some(why),
        _ => judged.why.as_deref(),
    }
}

/// Whether a judgement makes the gate red.
pub fn is_failure(judged: &Judged) -> bool {
    !matches!(judged.verdict, Verdict::Passed | Verdict::Diverges { .. } | Verdict::Unsupported { .. })
}

/// The command that repeats one case on one implementation.
pub fn repeat_command(judged: &Judged) -> String {
    let given = shlex::try_quote(&judged.given).unwrap_or_else(|_| judged.given.as_str().into());
    format!("broadcheck check --impl {given} --case {}", judged.case)
}

/// A number with commas between thousands.
pub fn thousands(number: u64) -> String {
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

/// `1 case`, `2 cases`.
fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
