//! Several runs of one specification next to each other: releases, and other implementations.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{Run, Truth, is_failure};
use crate::case::Document;
use crate::harness::model::event::Kind;
use crate::harness::model::event::file::{EventFile, Header};
use crate::harness::model::event::{
    CaseDigest, CaseStated, ClauseStated, CorpusTally, Event, Generated, Judged, Tally, Totals, Verdict,
};

/// The library whose releases a history is about.
pub const LIBRARY: &str = "libtorch";

/// Runs of one specification.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// All of them as one run.
    run: Run,
    /// Releases by version, then other implementations.
    pub columns: Vec<Column>,
    /// The place of each judgement in the run, by column and case.
    judged: Vec<HashMap<String, usize>>,
}

/// An implementation in a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name in reports, as in `libtorch 2.13.0`.
    pub label: String,
    /// Its name on the command line.
    pub given: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// A description of its build.
    pub build: String,
    /// When and where it ran.
    pub header: Header,
    /// Its outcome in numbers; the reason why there is none, if there is none.
    pub came: Result<Tally, String>,
}

/// The truth of a statement in a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Holds {
    /// No case contradicts it.
    True,
    /// A case does.
    False,
    /// No case of it could be run.
    Unseen,
    /// The release itself could not be run.
    Nothing,
}

fn kept_of<T: Clone>(all: &[T], keep: impl Fn(&T) -> bool) -> Vec<T> {
    all.iter().filter(|one| keep(one)).cloned().collect()
}

/// The outcomes of a statement's cases in one column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Its cases.
    pub cases: usize,
    /// Those that were executed.
    pub executed: usize,
    /// Those that passed.
    pub passed: usize,
    /// Those that differ as pinned, but for a change between releases.
    pub diverging: usize,
    /// Those that differ as pinned, since PyTorch changed between releases.
    pub release_specific: usize,
    /// Those that failed.
    pub failed: usize,
}

impl History {
    /// Puts files side by side. The newest of them says what the specification is: what the others have judged of cases
    /// that are not the same is left out, and those cases count as not run there.
    ///
    /// # Errors
    /// When there are none, or one has no case in common with the newest, or two are of one implementation.
    pub fn new(files: Vec<(String, EventFile)>) -> Result<History, String> {
        let mut files = files;
        let Some((newest, base)) = files.iter().max_by_key(|(_, file)| file.header.date.clone()) else {
            return Err("there are no event files; `broadcheck matrix` writes them".to_owned());
        };
        let newest = newest.clone();
        let mut history = History::default();
        for event in &base.events {
            if matches!(event, Event::Started(_) | Event::Clause(_) | Event::Case(_)) {
                history.run.add(event);
            }
        }
        let digests: HashMap<String, CaseDigest> =
            history.run.cases.iter().map(|case| (case.id.clone(), case.digest.clone())).collect();
        files.sort_by_key(|(_, file)| file.events.iter().find_map(rank).unwrap_or_default());
        let mut totals = Totals { conforms: true, ..Totals::default() };
        for (name, file) in files {
            let had = file.events.iter().any(|event| matches!(event, Event::Judged(_)));
            if history.take(&name, file, &digests, &mut totals)? == 0 && had && !digests.is_empty() {
                return Err(format!("{name} has judged no case as {newest} has it: run it again"));
            }
        }
        history.run.totals = Some(totals);
        Ok(History::of(history.run, history.columns))
    }

    /// Takes in the events of a file. Returns how many judgements of it count.
    fn take(
        &mut self,
        name: &str,
        file: EventFile,
        digests: &HashMap<String, CaseDigest>,
        totals: &mut Totals,
    ) -> Result<usize, String> {
        let before = self.run.implementations.len();
        let mut counted: Vec<Tally> = Vec::new();
        let mut judgements = 0;
        for event in file.events {
            match &event {
                Event::Started(_) | Event::Clause(_) | Event::Case(_) => {}
                Event::Finished(finished) => {
                    let recounted = finished.implementations.iter().zip(counted.drain(..));
                    let recounted = recounted.map(|(tally, counted)| counted.completed(tally, digests.len()));
                    totals.implementations.extend(recounted);
                    totals.conforms &= finished.conforms;
                }
                Event::Absent(absent) => {
                    self.columns.push(Column {
                        label: absent.label.clone(),
                        given: absent.given.clone(),
                        name: absent.name.clone(),
                        version: absent.version.clone(),
                        build: String::new(),
                        header: file.header.clone(),
                        came: Err(absent.reason.clone()),
                    });
                    self.run.take(event);
                }
                Event::Implementation(_) => {
                    counted.push(Tally::default());
                    self.run.take(event);
                }
                Event::Judged(judged) => {
                    if digests.get(&judged.case) == Some(&judged.digest) {
                        judgements += 1;
                        counted.last_mut().expect("an implementation comes first").add(&judged.verdict);
                        self.run.take(event);
                    }
                }
                Event::Generated(_) => self.run.take(event),
            }
        }
        let ready = self.run.implementations[before..].iter();
        let after = totals.implementations.len();
        for (ready, tally) in ready.zip(before..after) {
            self.columns.push(Column {
                label: ready.label.clone(),
                given: ready.given.clone(),
                name: ready.name.clone(),
                version: ready.version.clone(),
                build: ready.build.clone(),
                header: file.header.clone(),
                came: Ok(Tally { implementation: ready.label.clone(), ..totals.implementations[tally].clone() }),
            });
        }
        if self.run.implementations.len() > totals.implementations.len() {
            return Err(format!("{name} has a run that did not end: run it again"));
        }
        for (at, column) in self.columns.iter().enumerate() {
            let of = |column: &Column| (column.name.clone(), column.version.clone(), column.given.clone());
            if self.columns[..at].iter().any(|other| of(other) == of(column)) {
                return Err(format!("{name} has {} once more: remove one of the files", column.label));
            }
        }
        Ok(judgements)
    }

    /// Some of the columns alone.
    #[must_use]
    pub fn part(&self, keep: impl Fn(&Column) -> bool) -> History {
        let columns: Vec<Column> = self.columns.iter().filter(|column| keep(column)).cloned().collect();
        let kept = |label: &str| columns.iter().any(|column| column.label == label);
        let run = Run {
            started: self.run.started.clone(),
            clauses: self.run.clauses.clone(),
            cases: self.run.cases.clone(),
            implementations: kept_of(&self.run.implementations, |ready| kept(&ready.label)),
            judged: kept_of(&self.run.judged, |judged| kept(&judged.implementation)),
            generated: kept_of(&self.run.generated, |(label, _)| kept(label)),
            absent: kept_of(&self.run.absent, |absent| kept(&absent.label)),
            totals: self.run.totals.as_ref().map(|totals| Totals {
                implementations: kept_of(&totals.implementations, |tally| kept(&tally.implementation)),
                ..totals.clone()
            }),
        };
        History::of(run, columns)
    }

    /// With the judgements found by column and case.
    fn of(run: Run, columns: Vec<Column>) -> History {
        let mut judged = vec![HashMap::new(); columns.len()];
        let places: HashMap<&str, usize> =
            columns.iter().enumerate().map(|(at, column)| (column.label.as_str(), at)).collect();
        for (at, one) in run.judged.iter().enumerate() {
            judged[places[one.implementation.as_str()]].insert(one.case.clone(), at);
        }
        History { run, columns, judged }
    }

    /// SHA-256 over the specification.
    pub fn suite(&self) -> &str {
        self.run.started.as_ref().map_or("", |started| started.suite.as_str())
    }

    /// The documents.
    pub fn documents(&self) -> &[Document] {
        self.run.started.as_ref().map_or(&[], |started| started.documents.as_slice())
    }

    /// The statements.
    pub fn clauses(&self) -> &[ClauseStated] {
        &self.run.clauses
    }

    /// The cases.
    pub fn cases(&self) -> &[CaseStated] {
        &self.run.cases
    }

    /// The releases: columns of [`LIBRARY`], the oldest first, one a version.
    pub fn releases(&self) -> Vec<usize> {
        let of_library = |at: &usize| self.columns[*at].name == LIBRARY;
        let mut releases: Vec<usize> = (0..self.columns.len()).filter(of_library).collect();
        releases.dedup_by_key(|at| self.columns[*at].version.clone());
        releases
    }

    /// Returns the judgement of a case in one implementation.
    pub fn judged(&self, column: usize, case: &str) -> Option<&Judged> {
        self.judged.get(column)?.get(case).map(|at| &self.run.judged[*at])
    }

    /// Some columns, in short: ranges of releases, in which one without data is no gap, and then the others.
    pub fn names(&self, labels: &[String], chosen: &[usize]) -> String {
        let mut releases = self.releases();
        releases.retain(|at| self.columns[*at].came.is_ok());
        let names: Vec<&str> = releases.iter().map(|at| labels[*at].as_str()).collect();
        let ranges = ranges(&names, |at| chosen.contains(&releases[at]));
        let others = chosen.iter().filter(|at| !releases.contains(at)).map(|at| labels[*at].clone());
        Some(ranges).filter(|ranges| !ranges.is_empty()).into_iter().chain(others).collect::<Vec<_>>().join(", ")
    }

    /// The command that repeats a case. A release may have been run by any command; its version is what
    /// finds it anywhere.
    pub fn repeat_command(&self, judged: &Judged) -> String {
        let column = self.columns.iter().find(|column| column.label == judged.implementation);
        match column.filter(|column| column.name == LIBRARY) {
            Some(column) => format!("broadcheck check --impl {LIBRARY}@{} --case {}", column.version, judged.case),
            None => super::repeat_command(judged),
        }
    }

    /// Returns the outcomes of the corpus in one implementation, by number of the program.
    pub fn generated(&self, column: usize) -> BTreeMap<u64, &Generated> {
        let label = &self.columns[column].label;
        let own = self.run.generated.iter().filter(|(of, _)| of == label);
        own.map(|(_, generated)| (generated.program, generated)).collect()
    }

    /// The corpus in numbers.
    pub fn corpus(&self, column: usize) -> Option<&CorpusTally> {
        self.columns[column].came.as_ref().ok()?.corpus.as_ref()
    }

    /// Returns whether a document makes the statement, and not the library's code alone.
    pub fn is_documented(&self, clause: &ClauseStated) -> bool {
        self.run.is_documented(clause)
    }

    /// Returns the truth of every statement in one column.
    pub fn truth(&self, column: usize) -> Vec<Truth<'_>> {
        self.run.truth_by(|case| self.judged(column, case))
    }

    /// The same in a word.
    pub fn holds(&self, column: usize) -> Vec<Holds> {
        if self.columns[column].came.is_err() {
            return vec![Holds::Nothing; self.run.clauses.len()];
        }
        let word = |truth: &Truth| match truth.holds() {
            Some(true) => Holds::True,
            Some(false) => Holds::False,
            None => Holds::Unseen,
        };
        self.truth(column).iter().map(word).collect()
    }

    /// The same of the statements that documents make.
    pub fn holds_of_documents(&self, column: usize) -> Vec<Holds> {
        let each = self.run.clauses.iter().zip(self.holds(column));
        each.filter(|(clause, _)| self.run.is_documented(clause)).map(|(_, holds)| holds).collect()
    }

    /// Counts the outcomes of the cases of a statement.
    pub fn cell(&self, column: usize, clause: &ClauseStated) -> Cell {
        let mut cell = Cell { cases: clause.cases.len(), ..Cell::default() };
        for judged in clause.cases.iter().filter_map(|case| self.judged(column, case)) {
            cell.add(judged);
        }
        cell
    }
}

impl Cell {
    /// Counts a case.
    pub fn add(&mut self, judged: &Judged) {
        self.executed += usize::from(judged.verdict.executed());
        self.failed += usize::from(is_failure(judged));
        match judged.verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Diverges { kind: Kind::Changed, .. } => self.release_specific += 1,
            Verdict::Diverges { .. } => self.diverging += 1,
            _ => {}
        }
    }
}

/// Releases first, by version, then the others by name.
type Rank = (bool, String, Vec<u64>, String);

fn rank(event: &Event) -> Option<Rank> {
    let (name, version, label) = match event {
        Event::Implementation(ready) => (&ready.name, &ready.version, &ready.given),
        Event::Absent(absent) => (&absent.name, &absent.version, &absent.given),
        _ => return None,
    };
    Some((name != LIBRARY, name.clone(), numbers(version), label.clone()))
}

/// A version as what it is compared by.
fn numbers(version: &str) -> Vec<u64> {
    let digits = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    version.split(['.', '+', '-']).map(|part| digits(part).parse().unwrap_or(0)).collect()
}

/// Names of a list in an order, those that are chosen, as ranges: `2.0.1 – 2.4.1, 2.6.0`.
pub fn ranges(names: &[&str], chosen: impl Fn(usize) -> bool) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for at in (0..names.len()).filter(|at| chosen(*at)) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => ranges.push((at, at)),
        }
    }
    let text = |(first, last): &(usize, usize)| match last - first {
        0 => names[*first].to_owned(),
        1 => format!("{}, {}", names[*first], names[*last]),
        _ => format!("{} – {}", names[*first], names[*last]),
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_as_short_as_they_can_be() {
        let names = ["2.0", "2.1", "2.2", "2.3", "2.4"];
        let of = |chosen: &[usize]| ranges(&names, |at| chosen.contains(&at));
        assert_eq!(of(&[0, 1, 2, 3, 4]), "2.0 – 2.4");
        assert_eq!(of(&[0, 2, 3, 4]), "2.0, 2.2 – 2.4");
        assert_eq!(of(&[1, 2, 4]), "2.1, 2.2, 2.4");
        assert_eq!(of(&[]), "");
    }

    #[test]
    fn versions_are_in_the_order_of_their_numbers() {
        assert!(numbers("2.9.1") < numbers("2.10.0"));
        assert!(numbers("2.0.1+cu117") > numbers("2.0.0"));
    }
}
