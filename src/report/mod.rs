//! Reports, one file a format. They see events and nothing else.

mod badge;
pub mod benchmarks;
pub mod brief;
pub mod causes;
pub mod changes;
pub mod columns;
pub mod confirmed;
mod devices;
pub mod diff;
mod documentation;
pub mod exhaustive;
pub mod history;
mod implementations;
pub mod json;
pub mod junit;
pub mod markdown;
mod matrix;
mod newest;
mod page;
mod share;
mod template;
pub mod text;

/// The page of `explain`, which `src/playground/build` makes and `index.html` links where it stands next to it.
pub const PLAYGROUND: &str = "explain.html";

/// The reports of a history and of campaigns on its implementations, each with the name of its file. `playground` says that [`PLAYGROUND`] stands next to them.
pub fn files(history: &history::History, campaigns: &[CampaignRow], playground: bool) -> Vec<(&'static str, String)> {
    let others = implementations::others(history);
    let releases = history.part(|column| !implementations::is_other(column));
    // PyTorch's Python front end is the witness of what only that can show.
    let shown = history.part(|column| !implementations::is_other(column) || column.name == documentation::FRONT_END);
    let statements = documentation::statements(&shown);
    let steps = changes::steps(&releases);
    let mut files = vec![
        ("documentation.md", documentation::render(&shown, &statements)),
        ("matrix.md", matrix::render(&releases, &steps)),
        ("index.html", page::render(&releases, statements, others.as_ref(), &steps, playground)),
        ("badge.svg", badge::render(&releases)),
    ];
    files.extend(devices::render(history).map(|devices| ("devices.md", devices)));
    files.extend(others.map(|others| ("implementations.md", implementations::render(&others, campaigns))));
    files
}

use std::collections::BTreeMap;

use serde::Serialize;

use crate::escape::visible_in;
use crate::harness::campaign::row::CampaignRow;
use crate::harness::model::event::{
    Absent, CaseStated, ClauseStated, Event, Generated, ImplementationReady, Judged, Started, Tally, Totals, Verdict,
};
use crate::harness::{Aspect, Difference, UNKNOWN};

/// The events of one run, sorted by what they are about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The event with which it began.
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
    /// The totals with which it ended; `None` if it did not.
    pub totals: Option<Totals>,
}

impl Run {
    /// Takes in the next event.
    pub fn add(&mut self, event: &Event) {
        self.take(event.clone());
    }

    /// Takes in the next event, which is not needed any more.
    pub fn take(&mut self, event: Event) {
        match event {
            Event::Started(started) => self.started = Some(started),
            Event::Clause(clause) => self.clauses.push(clause),
            Event::Case(case) => self.cases.push(*case),
            Event::Absent(absent) => self.absent.push(absent),
            Event::Generated(generated) => {
                let label = self.implementations.last().expect("it was there").label.clone();
                self.generated.push((label, *generated));
            }
            Event::Implementation(mut ready) => {
                // Two builds of one library have the same name; the command that the user typed distinguishes them.
                if self.implementations.iter().any(|other| other.label == ready.label) {
                    ready.label = format!("{} ({})", ready.label, ready.given);
                }
                self.implementations.push(ready);
            }
            Event::Judged(mut judged) => {
                // Judgements follow the implementation that they are about.
                judged.implementation.clone_from(&self.implementations.last().expect("it was there").label);
                self.judged.push(*judged);
            }
            Event::Finished(mut totals) => {
                for (tally, ready) in totals.implementations.iter_mut().zip(&self.implementations) {
                    tally.implementation.clone_from(&ready.label);
                }
                self.totals = Some(totals);
            }
        }
    }

    /// The same for people: whatever implementations and event files say is [visible](crate::escape::visible).
    #[must_use]
    pub fn visible(&self) -> Run {
        Run {
            started: visible_in(&self.started),
            clauses: self.clauses.iter().map(visible_in).collect(),
            cases: self.cases.iter().map(visible_in).collect(),
            implementations: visible_in(&self.implementations),
            judged: self.judged.iter().map(visible_in).collect(),
            generated: self.generated.iter().map(visible_in).collect(),
            absent: visible_in(&self.absent),
            totals: visible_in(&self.totals),
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

    /// Returns the truth of every statement in one implementation.
    pub fn truth(&self, implementation: &str) -> Vec<Truth<'_>> {
        let judged: BTreeMap<&str, &Judged> = self
            .judged
            .iter()
            .filter(|judged| judged.implementation == implementation)
            .map(|judged| (judged.case.as_str(), judged))
            .collect();
        self.truth_by(|case| judged.get(case).copied())
    }

    /// The same of the implementation whose judgement of a case is found so.
    fn truth_by<'a>(&'a self, judgement: impl Fn(&str) -> Option<&'a Judged>) -> Vec<Truth<'a>> {
        let cases: BTreeMap<&str, &CaseStated> = self.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        let of = |clause| {
            let mut truth = Truth { clause, supporting: 0, against: Vec::new(), besides: Vec::new() };
            for case in &clause.cases {
                if let (Some(judged), Some(case)) = (judgement(case), cases.get(case.as_str())) {
                    truth.hear(case, judged);
                }
            }
            truth
        };
        self.clauses.iter().map(of).collect()
    }

    /// Returns whether a document makes the statement, and not the library's code alone.
    pub fn is_documented(&self, clause: &ClauseStated) -> bool {
        let documents = self.started.as_ref().map(|started| started.documents.as_slice()).unwrap_or_default();
        let is_code = |id: &str| documents.iter().any(|document| document.id == id && document.code);
        clause.sources.iter().any(|source| !is_code(&source.doc))
    }

    /// The verdict on the run, in words. What conforms in what it supports, and supports less than everything, is not a
    /// full pass, and the text says so.
    pub fn verdict(&self) -> String {
        let Some(totals) = &self.totals else { return "the run did not end".to_owned() };
        if !totals.conforms {
            return "does not conform".to_owned();
        }
        // The one of which least was seen.
        let extents = totals.implementations.iter().map(|tally| self.extent(tally));
        match extents.filter(|extent| !extent.is_whole()).min_by_key(|extent| extent.executed) {
            None => "conforms".to_owned(),
            Some(extent) => format!("conforms in what it supports: {extent}"),
        }
    }

    /// Returns the part of the whole that an implementation has shown: judged cases of the chosen ones, and observed
    /// statements of those that documents make.
    pub fn extent(&self, tally: &Tally) -> Extent {
        let truths = self.truth(&tally.implementation);
        let documented = truths.iter().filter(|truth| self.is_documented(truth.clause));
        let (seen, all) =
            documented.fold((0, 0), |(seen, all), truth| (seen + usize::from(truth.holds().is_some()), all + 1));
        let cases = self.started.as_ref().map_or(0, |started| started.cases);
        Extent { executed: tally.executed(), cases, seen, documented: all }
    }
}

/// The part of the specification that a run has judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Cases that were run and judged.
    pub executed: usize,
    /// Cases that were chosen.
    pub cases: usize,
    /// Statements of documents of which a case was judged.
    pub seen: usize,
    /// Statements of documents.
    pub documented: usize,
}

impl Extent {
    /// Returns whether nothing was left out.
    pub fn is_whole(self) -> bool {
        self.executed == self.cases
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [executed, cases, seen, documented] =
            [self.executed, self.cases, self.seen, self.documented].map(|number| thousands(number as u64));
        write!(f, "{executed} of {cases} cases, {seen} of {documented} documented statements")
    }
}

/// The truth of one statement in one implementation.
#[derive(Clone, Debug)]
pub struct Truth<'a> {
    /// The statement.
    pub clause: &'a ClauseStated,
    /// The number of cases that support it.
    pub supporting: usize,
    /// The cases that contradict it, with the differences that do; none where the implementation broke.
    pub against: Vec<(&'a Judged, Vec<&'a Difference>)>,
    /// The cases that support it although something differs that it is not about.
    pub besides: Vec<(&'a Judged, Vec<&'a Difference>)>,
}

impl<'a> Truth<'a> {
    /// Takes in the judgement on a case: it contradicts the statement, supports it, or is no witness.
    fn hear(&mut self, case: &CaseStated, judged: &'a Judged) {
        let clause = self.clause;
        let broken = matches!(&judged.verdict, Verdict::Broken { .. } | Verdict::Diverges { broken: Some(_), .. });
        // Whatever was promised, no crash was.
        if broken {
            return self.against.push((judged, Vec::new()));
        }
        let witnesses = case.witnesses.get(&clause.id);
        let named = |value: &str| witnesses.is_none_or(|names| names.iter().any(|name| name == value));
        let says = case.expected.iter().filter(|one| !case.documented.iter().any(|other| other.value == one.value));
        let says = says.chain(&case.documented).filter(|one| named(&one.value));
        let expected: Vec<Aspect> = says.flat_map(|one| one.aspects.iter().copied()).collect();
        // The class of a rejection whose text no rule knows is unknown, and not another one.
        let unclassified = |one: &Difference| one.aspect == Aspect::Class && one.observed.starts_with(UNKNOWN);
        let unknown = judged.documented.iter().flatten().any(|one| named(&one.value) && unclassified(one));
        // What an implementation does not report is unseen. Shapes alone are no witness of a statement that is about
        // elements as well.
        let is_reported = |aspect: Aspect| !(judged.untold.contains(&aspect) || aspect == Aspect::Class && unknown);
        let mut seen = clause.about.iter().filter(|aspect| expected.contains(aspect) && is_reported(**aspect));
        let shapes_alone = judged.untold.contains(&Aspect::Values) && clause.about.contains(&Aspect::Values);
        if seen.next().is_none() || shapes_alone && expected.contains(&Aspect::Values) {
            return;
        }
        // A rejection whose accepting case does not pass shows nothing.
        let unproven = matches!(
            &judged.verdict,
            Verdict::Uncontrolled { .. }
                | Verdict::Diverges { control: Some(_), .. }
                | Verdict::Unsupported { control: Some(_), .. }
        );
        let Some(documented) = judged.documented.as_ref().filter(|_| !unproven) else { return };
        let of_witness = |difference: &&Difference| named(&difference.value) && !unclassified(difference);
        let differences: Vec<&Difference> = documented.iter().filter(of_witness).collect();
        let (about, beside): (Vec<&Difference>, Vec<&Difference>) =
            differences.into_iter().partition(|difference| clause.about.contains(&difference.aspect));
        if !about.is_empty() {
            return self.against.push((judged, about));
        }
        // Where there is no outcome of the kind that was expected, nothing of it can be seen.
        if beside.iter().any(|difference| difference.aspect == Aspect::Outcome) {
            return;
        }
        self.supporting += 1;
        if !beside.is_empty() {
            self.besides.push((judged, beside));
        }
    }

    /// `None` if no case was a witness of it.
    pub fn holds(&self) -> Option<bool> {
        match (self.against.is_empty(), self.supporting) {
            (false, _) => Some(false),
            (true, 0) => None,
            (true, _) => Some(true),
        }
    }

    /// The documents that make the statement, without repetition.
    pub fn documents(&self) -> Vec<&str> {
        let mut documents: Vec<&str> = self.clause.sources.iter().map(|source| source.doc.as_str()).collect();
        documents.dedup();
        documents
    }

    /// Returns the actual behaviour, where the statement is false, and the case that shows it.
    pub fn really(&self) -> Option<(&str, &str)> {
        let known = self.against.iter().find_map(|(judged, _)| Some((why(judged)?, judged.case.as_str())));
        known.or_else(|| self.against.first().map(|(judged, _)| ("see the failure", judged.case.as_str())))
    }
}

/// Returns the reason why a case is not as the document says: its own words, or those of the divergence that it
/// shows.
fn why(judged: &Judged) -> Option<&str> {
    match &judged.verdict {
        Verdict::Diverges { why, .. } => Some(why),
        // A crash has nothing to do with what the case says of its document.
        Verdict::Broken { .. } => None,
        _ => judged.why.as_deref(),
    }
}

/// Returns whether a judgement makes the gate fail.
pub fn is_failure(judged: &Judged) -> bool {
    matches!(judged.verdict, Verdict::Failed { .. } | Verdict::Uncontrolled { .. } | Verdict::Broken { .. })
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

/// The cases of an implementation that say nothing of it: `34`, or `34, 2 not run`.
fn left_out(tally: &Tally) -> String {
    let mut text = tally.unsupported.to_string();
    for (count, word) in [(tally.not_judged, "not judged"), (tally.not_run, "not run")] {
        if count > 0 {
            text += &format!(", {count} {word}");
        }
    }
    text
}

/// The beginning of a digest, as far as people need it.
fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// `1 case`, `2 cases`.
pub fn count(number: usize, noun: &str) -> String {
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
