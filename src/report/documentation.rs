//! What each documented statement is worth in each release: `documentation.md`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::history::{History, Holds, ranges};
use super::template;
use crate::harness::Difference;
use crate::harness::event::{Judged, Verdict};

/// One statement, for the page and for this report.
#[derive(Clone, Debug, Serialize)]
pub struct Statement {
    /// Its id.
    pub id: String,
    /// Our wording.
    pub statement: String,
    /// `true`, `false`, `unseen`, or `changing`.
    pub word: &'static str,
    /// The same as a sign.
    pub mark: &'static str,
    /// In which releases it is what.
    pub when: String,
    /// What really happens, where it is false: in which releases, in words, and the case that shows it.
    pub really: Vec<Really>,
    /// What the reference makes of it, where no release shows it.
    pub modelled: Option<String>,
    /// Where it stands: documents and sections.
    pub sources: Vec<Place>,
    /// How many cases test it.
    pub cases: usize,
}

/// What happens instead of what a document says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Really {
    /// The releases.
    pub releases: String,
    /// In words.
    pub why: String,
    /// What the document says, if the case has it.
    pub says: Option<String>,
    /// What came of it.
    pub came: String,
    /// The case that shows it.
    pub case: String,
}

/// Where a statement stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The document's id.
    pub doc: String,
    /// Its title.
    pub title: String,
    /// The section.
    pub section: String,
}

#[derive(Serialize)]
struct Document<'a> {
    id: &'a str,
    title: &'a str,
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
    changing: usize,
    all: usize,
}

#[derive(Serialize)]
struct Context<'a> {
    releases: Vec<&'a str>,
    missing: Vec<&'a str>,
    range: String,
    suite: &'a str,
    broadcheck: &'a str,
    cases: usize,
    counts: Counts,
    wrong: Vec<&'a Statement>,
    changing: Vec<&'a Statement>,
    unseen: Vec<&'a Statement>,
    documents: Vec<Document<'a>>,
}

/// The report.
pub fn render(history: &History) -> String {
    let statements = statements(history);
    let releases = history.releases();
    let names: Vec<&str> = releases.iter().map(|at| history.columns[*at].version.as_str()).collect();
    let missing = releases.iter().filter(|at| history.columns[**at].came.is_err());
    let of = |word: &str| statements.iter().filter(|statement| statement.word == word).collect::<Vec<_>>();
    template::fill(
        "documentation.md",
        Context {
            range: span(&names),
            missing: missing.map(|at| history.columns[*at].version.as_str()).collect(),
            releases: names,
            suite: &history.suite()[..history.suite().len().min(12)],
            broadcheck: history.columns.first().map_or("", |column| column.header.broadcheck.as_str()),
            cases: history.cases().len(),
            counts: Counts::of(statements.iter()),
            wrong: of("false"),
            changing: of("changing"),
            unseen: of("unseen"),
            documents: documents(history, &statements),
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

/// Every statement with what becomes of it in the releases.
pub fn statements(history: &History) -> Vec<Statement> {
    let releases = history.releases();
    let names: Vec<&str> = releases.iter().map(|at| history.columns[*at].version.as_str()).collect();
    let holds: Vec<Vec<Holds>> = releases.iter().map(|at| history.holds(*at)).collect();
    let truths: Vec<_> = releases.iter().map(|at| history.truth(*at)).collect();
    let ran = (0..releases.len()).filter(|at| history.columns[releases[*at]].came.is_ok());
    let (with_data, numbers): (Vec<&str>, Vec<usize>) = ran.map(|at| (names[at], at)).unzip();
    let reference = history.columns.iter().position(|column| column.name == "reference");
    let modelled = reference.map(|column| history.truth(column)).unwrap_or_default();
    let titles: BTreeMap<&str, &str> =
        history.documents().iter().map(|document| (document.id.as_str(), document.title.as_str())).collect();
    let each = history.clauses().iter().enumerate().map(|(at, clause)| {
        let row: Vec<Holds> = holds.iter().map(|column| column[at]).collect();
        let (word, mark) = word(&row);
        let mut really: Vec<(Really, Vec<usize>)> = Vec::new();
        for (release, truth) in truths.iter().enumerate() {
            // A release may contradict a statement in several ways; those with words of their own are told.
            let against = truth[at].against.iter();
            let told = against.filter_map(|judged| Some((*judged, super::why(judged)?)));
            for (judged, why) in told {
                let came = judged.outcome.iter().map(|seen| format!("{} = {}", seen.value, seen.outcome));
                let one = Really {
                    releases: String::new(),
                    why: why.trim().to_owned(),
                    says: judged.document_says.clone(),
                    came: came.collect::<Vec<_>>().join("; "),
                    case: judged.case.clone(),
                };
                match really.iter_mut().find(|(known, _)| known.why == one.why) {
                    Some((_, releases)) => releases.push(release),
                    None => really.push((one, vec![release])),
                }
            }
            let explained = truth[at].against.iter().any(|judged| super::why(judged).is_some());
            if let (false, Some(judged)) = (explained, truth[at].against.first()) {
                let one = unexplained(judged);
                match really.iter_mut().find(|(known, _)| *known == one) {
                    Some((_, releases)) => releases.push(release),
                    None => really.push((one, vec![release])),
                }
            }
        }
        let really = really.into_iter().map(|(one, seen)| {
            let releases = ranges(&with_data, |at| seen.contains(&numbers[at]));
            Really { releases, ..one }
        });
        let modelled = (word == "unseen").then(|| modelled.get(at).and_then(|truth| truth.holds())).flatten();
        let place = |source: &crate::case::Source| Place {
            doc: source.doc.clone(),
            title: titles.get(source.doc.as_str()).copied().unwrap_or_default().to_owned(),
            section: source.section.clone(),
        };
        let mut sources: Vec<Place> = clause.sources.iter().map(place).collect();
        sources.dedup();
        Statement {
            id: clause.id.clone(),
            statement: clause.statement.trim().to_owned(),
            word,
            mark,
            when: when(&names, &row),
            really: really.collect(),
            modelled: modelled
                .map(|holds| format!("{holds} in the reference, which models PyTorch's Python front end")),
            sources,
            cases: clause.cases.len(),
        }
    });
    each.collect()
}

/// What happens where a case fails of which nobody has said why.
fn unexplained(judged: &Judged) -> Really {
    let (expected, came) = match &judged.verdict {
        Verdict::Failed { differences } => {
            let first = differences.first();
            let side = |text: fn(&Difference) -> &String| {
                first.map(|one| format!("{} {} {}", one.value, one.aspect.name(), text(one)))
            };
            (side(|one| &one.expected), side(|one| &one.observed).unwrap_or_default())
        }
        Verdict::Broken { fault, .. } => (None, fault.clone()),
        _ => (None, judged.verdict.name().to_owned()),
    };
    Really {
        releases: String::new(),
        why: "A case of it fails, and nobody has explained it yet.".to_owned(),
        says: judged.document_says.clone().or(expected),
        came,
        case: judged.case.clone(),
    }
}

/// What a statement is in all releases together. Those without data say nothing.
fn word(row: &[Holds]) -> (&'static str, &'static str) {
    let mut seen: Vec<Holds> = row.iter().copied().filter(|holds| *holds != Holds::Nothing).collect();
    seen.sort();
    seen.dedup();
    match seen[..] {
        [Holds::True] => ("true", "✓"),
        [Holds::False] => ("false", "✗"),
        [] | [Holds::Unseen] => ("unseen", "·"),
        _ => ("changing", "◐"),
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
    // What changed once is told in the order of the releases.
    let turn = row.iter().position(|holds| holds != first).unwrap_or(0);
    if row[turn..].iter().all(|holds| holds == last) {
        return format!("{} since {}, {} before", word(*last), names[turn], word(*first));
    }
    let each = [Holds::True, Holds::False, Holds::Unseen].into_iter().filter(|holds| row.contains(holds));
    let each = each.map(|holds| format!("{} in {}", word(holds), ranges(names, |at| row[at] == holds)));
    each.collect::<Vec<_>>().join("; ")
}

fn documents<'a>(history: &'a History, statements: &'a [Statement]) -> Vec<Document<'a>> {
    let each = history.documents().iter().map(|document| {
        let mut sections: Vec<Section> = Vec::new();
        for statement in statements {
            for place in statement.sources.iter().filter(|place| place.doc == document.id) {
                match sections.iter_mut().find(|section| section.name == place.section) {
                    Some(section) if section.statements.last().is_some_and(|last| last.id == statement.id) => {}
                    Some(section) => section.statements.push(statement),
                    None => sections.push(Section { name: &place.section, statements: vec![statement] }),
                }
            }
        }
        let own = statements.iter().filter(|statement| statement.sources.iter().any(|place| place.doc == document.id));
        Document { id: &document.id, title: &document.title, counts: Counts::of(own), sections }
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
    fn what_changed_once_is_told_by_its_first_release() {
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
        assert_eq!(word(&[True, False]).0, "changing");
    }
}
