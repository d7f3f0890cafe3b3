//! The truth of each documented statement in each release: `documentation.md`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::history::{History, Holds, ranges};
use super::{Truth, template};
use crate::harness::model::event::{Judged, Verdict};
use crate::harness::{Aspect, Difference};

/// The implementation that runs PyTorch's Python front end.
pub const FRONT_END: &str = "pytorch";

/// One statement, for the page and for this report.
#[derive(Clone, Debug, Serialize)]
pub struct Statement {
    /// Its id.
    pub id: String,
    /// Our wording.
    pub statement: String,
    /// True if a document makes it, and not the library's code alone.
    pub documented: bool,
    /// `true`, `false`, `changing`, `unseen`, or `unshowable`.
    pub word: &'static str,
    /// The same as a sign.
    pub mark: &'static str,
    /// The releases in which it is true, false, or neither.
    pub when: String,
    /// The actual behaviour, where it is false: in which releases, in words, and the case that shows it.
    pub really: Vec<Really>,
    /// The differences in its cases that it is not about.
    pub footnotes: Vec<Footnote>,
    /// The corrected sentence, where a document's own is false.
    pub correction: Option<String>,
    /// The behaviour of the reference, where nothing else shows it.
    pub modelled: Option<String>,
    /// Its sources: documents, sections, sentences.
    pub sources: Vec<Place>,
    /// The number of cases that test it.
    pub cases: usize,
}

/// The behaviour instead of what a document says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Really {
    /// The releases.
    pub releases: String,
    /// In words.
    pub why: String,
    /// The statement of the document: the value, the aspect that differs, and what it should be.
    pub says: Option<String>,
    /// The observation in that aspect.
    pub came: String,
    /// The case that shows it.
    pub case: String,
}

/// A difference in an aspect that a statement is not about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Footnote {
    /// The difference, in words: the aspect, the releases, how many cases.
    pub what: String,
    /// A case that shows it, with what is expected and what was observed there.
    pub case: String,
    /// The expected outcome.
    pub expected: String,
    /// The observed outcome.
    pub observed: String,
}

/// The place of a statement in a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The document's id.
    pub doc: String,
    /// Its title.
    pub title: String,
    /// The section.
    pub section: String,
    /// The sentence in the section.
    pub at: Option<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    id: &'a str,
    title: &'a str,
    code: bool,
    counts: Counts,
    sections: Vec<Section<'a>>,
}

#[derive(Serialize)]
struct Section<'a> {
    name: &'a str,
    statements: Vec<&'a Statement>,
}

#[derive(Default, Serialize)]
struct Counts {
    yes: usize,
    no: usize,
    unseen: usize,
    unshowable: usize,
    changing: usize,
    all: usize,
}

/// The statements of the documents, or those of the code.
#[derive(Serialize)]
struct Part<'a> {
    counts: Counts,
    wrong: Vec<&'a Statement>,
    changing: Vec<&'a Statement>,
    unseen: Vec<&'a Statement>,
    unshowable: Vec<&'a Statement>,
    footnoted: Vec<&'a Statement>,
    documents: Vec<Document<'a>>,
}

#[derive(Serialize)]
struct Context<'a> {
    releases: Vec<&'a str>,
    missing: Vec<&'a str>,
    range: String,
    suite: &'a str,
    broadcheck: &'a str,
    cases: usize,
    front_end: Option<&'a str>,
    documented: Part<'a>,
    code: Part<'a>,
}

/// The report, of what [`statements`] made of the same history.
pub fn render(history: &History, statements: &[Statement]) -> String {
    let releases = history.releases();
    let names: Vec<&str> = releases.iter().map(|at| history.columns[*at].version.as_str()).collect();
    let missing = releases.iter().filter(|at| history.columns[**at].came.is_err());
    let part = |documented: bool| {
        let own: Vec<&Statement> = statements.iter().filter(|one| one.documented == documented).collect();
        let of = |word: &str| own.iter().copied().filter(|one| one.word == word).collect::<Vec<_>>();
        Part {
            counts: Counts::of(own.iter().copied()),
            wrong: of("false"),
            changing: of("changing"),
            unseen: of("unseen"),
            unshowable: of("unshowable"),
            footnoted: own.iter().copied().filter(|one| one.word == "true" && !one.footnotes.is_empty()).collect(),
            documents: documents(history, &own, !documented),
        }
    };
    template::fill(
        "documentation.md",
        Context {
            range: span(&names),
            missing: missing.map(|at| history.columns[*at].version.as_str()).collect(),
            releases: names,
            suite: super::short(history.suite()),
            broadcheck: history.columns.first().map_or("", |column| column.header.broadcheck.as_str()),
            cases: history.cases().len(),
            front_end: front_end(history).map(|at| history.columns[at].version.as_str()),
            documented: part(true),
            code: part(false),
        },
    )
}

/// `2.0.1 – 2.15.0`, or the only one.
pub fn span(names: &[&str]) -> String {
    match names {
        [] => "no release".to_owned(),
        [only] => (*only).to_owned(),
        [first, .., last] => format!("{first} – {last}"),
    }
}

/// The column of PyTorch with its Python front end, the witness of what only that has.
fn front_end(history: &History) -> Option<usize> {
    history.columns.iter().position(|column| column.name == FRONT_END && column.came.is_ok())
}

/// Every statement with what becomes of it in the releases.
pub fn statements(history: &History) -> Vec<Statement> {
    let releases = history.releases();
    let names: Vec<&str> = releases.iter().map(|at| history.columns[*at].version.as_str()).collect();
    let holds: Vec<Vec<Holds>> = releases.iter().map(|at| history.holds(*at)).collect();
    let truths: Vec<Vec<Truth>> = releases.iter().map(|at| history.truth(*at)).collect();
    let front_end = front_end(history).map(|at| (&history.columns[at], history.truth(at)));
    let reference = history.columns.iter().position(|column| column.name == "reference");
    let modelled = reference.map(|column| history.truth(column)).unwrap_or_default();
    let titles: BTreeMap<&str, &str> =
        history.documents().iter().map(|document| (document.id.as_str(), document.title.as_str())).collect();
    let each = history.clauses().iter().enumerate().map(|(at, clause)| {
        let row: Vec<Holds> = holds.iter().map(|column| column[at]).collect();
        let ran = (0..releases.len()).filter(|at| history.columns[releases[*at]].came.is_ok());
        let mut witnesses: Vec<(&str, &Truth)> = ran.map(|release| (names[release], &truths[release][at])).collect();
        let ((mut word, mut mark), mut when) = (word(&row), when(&names, &row));
        // What no release shows, PyTorch's Python front end may.
        if let (true, Some((column, truths))) = (word == "unseen", &front_end)
            && let Some(holds) = truths[at].holds()
        {
            (word, mark) = if holds { ("true", "✓") } else { ("false", "✗") };
            when = format!("{word} in the Python front end of PyTorch {}", column.version);
            witnesses = vec![(column.label.as_str(), &truths[at])];
        }
        if let Some(reason) = &clause.cannot_be_shown {
            (word, mark) = ("unshowable", "–");
            when = format!("cannot be shown: {}", reason.trim());
        }
        let modelled = (word == "unseen").then(|| modelled.get(at).and_then(Truth::holds)).flatten();
        let place = |source: &crate::case::Source| Place {
            doc: source.doc.clone(),
            title: titles.get(source.doc.as_str()).copied().unwrap_or_default().to_owned(),
            section: source.section.clone(),
            at: source.at.clone(),
        };
        let mut sources: Vec<Place> = clause.sources.iter().map(place).collect();
        sources.dedup();
        Statement {
            id: clause.id.clone(),
            statement: clause.statement.trim().to_owned(),
            documented: history.is_documented(clause),
            word,
            mark,
            when,
            really: really(&witnesses),
            footnotes: footnotes(&witnesses),
            correction: clause.correction.clone().filter(|_| word == "false" || word == "changing"),
            modelled: modelled
                .map(|holds| format!("{holds} in the reference, which models PyTorch's Python front end")),
            sources,
            cases: clause.cases.len(),
        }
    });
    each.collect()
}

/// Returns the actual behaviour in the releases in which a statement is false. A release may contradict it in several
/// ways; those with words of their own come first, and stand for those without.
fn really(witnesses: &[(&str, &Truth)]) -> Vec<Really> {
    let mut really: Vec<(Really, Vec<usize>)> = Vec::new();
    for (release, (_, truth)) in witnesses.iter().enumerate() {
        let explained = truth.against.iter().any(|(judged, _)| super::why(judged).is_some());
        let shown = truth.against.iter().filter(|(judged, _)| !explained || super::why(judged).is_some());
        for (judged, differences) in shown {
            let one = contradiction(judged, differences);
            match really.iter_mut().find(|(known, _)| known.why == one.why && (explained || *known == one)) {
                Some((_, releases)) if releases.contains(&release) => {}
                Some((_, releases)) => releases.push(release),
                None => really.push((one, vec![release])),
            }
        }
    }
    let names: Vec<&str> = witnesses.iter().map(|(name, _)| *name).collect();
    let ranged =
        |(one, seen): (Really, Vec<usize>)| Really { releases: ranges(&names, |at| seen.contains(&at)), ..one };
    really.into_iter().map(ranged).collect()
}

/// Describes how a case contradicts a statement: by the aspect that differs, and nothing else.
fn contradiction(judged: &Judged, differences: &[&Difference]) -> Really {
    let (says, came) = match (differences.first(), &judged.verdict) {
        (Some(first), _) => (Some(side(first, &first.expected)), side(first, &first.observed)),
        (None, Verdict::Broken { fault, .. } | Verdict::Diverges { broken: Some(fault), .. }) => {
            (Some("a result or a rejection".to_owned()), fault.clone())
        }
        (None, verdict) => (None, verdict.name().to_owned()),
    };
    let why = super::why(judged).unwrap_or("A case of it fails, and no known difference explains it.");
    Really { releases: String::new(), why: why.trim().to_owned(), says, came, case: judged.case.clone() }
}

fn side(difference: &Difference, text: &str) -> String {
    format!("{} of {}: {text}", difference.aspect.name(), difference.value)
}

/// Returns the differences in the cases of a statement that it is not about, by aspect.
fn footnotes(witnesses: &[(&str, &Truth)]) -> Vec<Footnote> {
    type Seen<'a> = (&'a Judged, &'a Difference, Vec<usize>, Vec<&'a str>);
    let mut seen: BTreeMap<Aspect, Seen> = BTreeMap::new();
    for (release, (_, truth)) in witnesses.iter().enumerate() {
        for (judged, differences) in &truth.besides {
            for difference in differences {
                let new = || (*judged, *difference, Vec::new(), Vec::new());
                let (.., releases, cases) = seen.entry(difference.aspect).or_insert_with(new);
                releases.push(release);
                cases.push(judged.case.as_str());
            }
        }
    }
    let names: Vec<&str> = witnesses.iter().map(|(name, _)| *name).collect();
    let notes = seen.into_iter().map(|(aspect, (judged, difference, releases, mut cases))| {
        cases.sort_unstable();
        cases.dedup();
        let verb = match aspect {
            Aspect::Message => "message worded differently",
            Aspect::Warnings => "other warnings",
            Aspect::Strides => "other strides",
            Aspect::Aliasing => "other aliasing",
            Aspect::Class => "another class of rejection",
            Aspect::Raises => "another type of exception",
            Aspect::Shape => "another shape",
            Aspect::Dtype => "another dtype",
            Aspect::Values => "other values",
            Aspect::Outcome => "another outcome",
        };
        let releases = ranges(&names, |at| releases.contains(&at));
        Footnote {
            what: format!("{verb} in {releases} ({})", super::count(cases.len(), "case")),
            case: judged.case.clone(),
            expected: side(difference, &difference.expected),
            observed: side(difference, &difference.observed),
        }
    });
    notes.collect()
}

/// Returns the word for a statement in all releases together. Those that do not show it, or have no data, say
/// nothing.
fn word(row: &[Holds]) -> (&'static str, &'static str) {
    match (row.contains(&Holds::True), row.contains(&Holds::False)) {
        (true, false) => ("true", "✓"),
        (false, true) => ("false", "✗"),
        (true, true) => ("changing", "◐"),
        (false, false) => ("unseen", "·"),
    }
}

/// In which releases a statement is what. Those without data are left out, and named at the end.
fn when(names: &[&str], row: &[Holds]) -> String {
    let (seen, holds): (Vec<&str>, Vec<Holds>) = names
        .iter()
        .zip(row)
        .filter(|(_, holds)| **holds != Holds::Nothing)
        .map(|(name, holds)| (*name, *holds))
        .unzip();
    let mut text = among(&seen, &holds);
    if seen.len() < names.len() {
        text += &format!("; no data for {}", ranges(names, |at| row[at] == Holds::Nothing));
    }
    text
}

fn among(names: &[&str], row: &[Holds]) -> String {
    let word = |holds| match holds {
        Holds::True => "true",
        Holds::False => "false",
        Holds::Unseen | Holds::Nothing => "unseen",
    };
    let (Some(first), Some(last)) = (row.first(), row.last()) else { return "no release ran".to_owned() };
    if row.iter().all(|holds| holds == first) {
        return match names {
            [only] => format!("{} in {only}", word(*first)),
            _ => format!("{} in every release", word(*first)),
        };
    }
    // A single change is described in the order of the releases.
    let turn = row.iter().position(|holds| holds != first).unwrap_or(0);
    if row[turn..].iter().all(|holds| holds == last) {
        return format!("{} since {}, {} before", word(*last), names[turn], word(*first));
    }
    let each = [Holds::True, Holds::False, Holds::Unseen].into_iter().filter(|holds| row.contains(holds));
    let each = each.map(|holds| format!("{} in {}", word(holds), ranges(names, |at| row[at] == holds)));
    each.collect::<Vec<_>>().join("; ")
}

/// The documents with their statements, or the code.
fn documents<'a>(history: &'a History, statements: &[&'a Statement], code: bool) -> Vec<Document<'a>> {
    let each = history.documents().iter().filter(|document| document.code == code).map(|document| {
        let mut sections: Vec<Section> = Vec::new();
        for statement in statements.iter().copied() {
            for place in statement.sources.iter().filter(|place| place.doc == document.id) {
                match sections.iter_mut().find(|section| section.name == place.section) {
                    Some(section) if section.statements.last().is_some_and(|last| last.id == statement.id) => {}
                    Some(section) => section.statements.push(statement),
                    None => sections.push(Section { name: &place.section, statements: vec![statement] }),
                }
            }
        }
        let own = statements.iter().copied();
        let own = own.filter(|statement| statement.sources.iter().any(|place| place.doc == document.id));
        Document { id: &document.id, title: &document.title, code, counts: Counts::of(own), sections }
    });
    each.filter(|document| !document.sections.is_empty()).collect()
}

impl Counts {
    fn of<'a>(statements: impl Iterator<Item = &'a Statement>) -> Counts {
        let mut counts = Counts::default();
        for statement in statements {
            counts.all += 1;
            match statement.word {
                "true" => counts.yes += 1,
                "false" => counts.no += 1,
                "unseen" => counts.unseen += 1,
                "unshowable" => counts.unshowable += 1,
                _ => counts.changing += 1,
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Holds::{False, Nothing, True, Unseen};

    #[test]
    fn a_single_change_is_dated_by_its_first_release() {
        let names = ["2.0", "2.1", "2.2", "2.3"];
        let of = |row: [Holds; 4]| when(&names, &row);
        assert_eq!(of([True; 4]), "true in every release");
        assert_eq!(of([False, False, True, True]), "true since 2.2, false before");
        assert_eq!(of([True, False, False, False]), "false since 2.1, true before");
        assert_eq!(of([True, False, True, True]), "true in 2.0, 2.2, 2.3; false in 2.1");
        assert_eq!(of([Nothing, True, True, True]), "true in every release; no data for 2.0");
        assert_eq!(of([Nothing, True, Unseen, False]), "true in 2.1; false in 2.3; unseen in 2.2; no data for 2.0");
        assert_eq!(word(&[Nothing, True]).0, "true");
        assert_eq!(word(&[Nothing]).0, "unseen");
        assert_eq!(word(&[Unseen, True]).0, "true", "where it is seen it is true");
        assert_eq!(word(&[True, False]).0, "changing");
    }
}
