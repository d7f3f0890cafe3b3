//! Everything in one page: `index.html`, which needs nothing but itself.
//!
//! It begins with what people look for: the search, false sentences, the newest release. Releases, libraries and
//! statements are in its markup, and can be read without JavaScript. The tables of themes and statements, the cases and
//! the differences of libraries are [`Packed`] in it once, as compressed JSON; its script draws them where they are looked
//! at.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::changes::{Changes, show};
use super::columns::{columns, packed};
use super::documentation::{self, Place, Statement};
use super::history::{Cell, History, Holds};
use super::implementations::{self, Others};
use super::matrix::short_labels;
use super::newest::{Newest, newest};
use super::share::{self, percent};
use super::{is_failure, left_out, template};
use crate::harness::Difference;
use crate::harness::model::event::Kind;
use crate::harness::model::event::{Agreement, CaseStated, Drawing, Judged, Stated, Verdict};

#[derive(Serialize)]
struct Page<'a> {
    range: String,
    suite: String,
    cases: usize,
    documented: usize,
    code: usize,
    /// The number of releases, and of other libraries.
    releases: usize,
    libraries: usize,
    columns: Vec<Column>,
    newest: Option<Newest>,
    /// By what they are in all releases, those of documents first.
    groups: Vec<Group>,
    generated: Vec<Odd>,
    documents: Vec<(String, String)>,
    others: Option<&'a Others>,
    words: BTreeMap<&'static str, usize>,
    /// The legend of shares: the step of the scale, and its words.
    scale: Vec<(usize, &'static str)>,
    /// True if `explain.html` stands next to it.
    playground: bool,
    style: String,
    script: String,
    /// [`Index`], compressed, in base 85.
    index: String,
    /// [`Packed`], likewise.
    packed: String,
}

/// What the search needs at once, and what is unpacked before everything else.
#[derive(Serialize)]
struct Index<'a> {
    /// The names that cases call, as in `add_` and `add out=`.
    names: Vec<&'a str>,
    /// By statement, its cases in their order: their tags, and the places of the names that they call.
    cases: BTreeMap<&'a str, Vec<(&'a str, Vec<usize>)>>,
}

/// Statements that stand together.
#[derive(Serialize)]
struct Group {
    documented: bool,
    word: &'static str,
    statements: Vec<Statement>,
}

/// What the script unpacks: [`Drawn`], packed by [columns](super::columns).
#[derive(Serialize)]
struct Packed<'a> {
    columns: BTreeMap<String, Vec<Value>>,
    places: &'a BTreeMap<&'a str, &'a str>,
}

/// The data that the script draws.
#[derive(Serialize)]
struct Drawn<'a> {
    /// The columns of the grid, short and long.
    columns: Vec<[String; 2]>,
    themes: Vec<Theme>,
    statements: Vec<Section>,
    libraries: Vec<implementations::List>,
    /// The columns of the shares.
    others: &'a [String],
    shares: &'a [implementations::Theme],
}

#[derive(Serialize)]
struct Column {
    label: String,
    date: String,
    missing: Option<String>,
    passed: usize,
    percent: String,
    step: Option<usize>,
    diverging: usize,
    release_specific: usize,
    failed: usize,
    unsupported: String,
    executed: usize,
    /// The number of cases with another outcome than in the release before.
    changed: Option<usize>,
    yes: usize,
    no: usize,
    unseen: usize,
    corpus: Option<String>,
}

/// Statements whose first case is of one theme.
#[derive(Serialize)]
struct Theme {
    name: String,
    rows: Vec<Row>,
}

/// A statement in the grid, a character for each column: the colour of the cell, and whether the statement is true.
#[derive(Serialize)]
struct Row {
    id: String,
    colours: String,
    signs: String,
}

/// The parts of a statement that its markup leaves out: where it stands, what differs next to it, and its cases.
#[derive(Serialize)]
struct Section {
    id: String,
    sources: Vec<String>,
    footnotes: Vec<documentation::Footnote>,
    cases: Vec<Case>,
    /// Cases that stand with another statement.
    elsewhere: Vec<String>,
}

#[derive(Serialize)]
struct Case {
    id: String,
    /// These two are in the [`Index`].
    #[serde(skip)]
    calls: Vec<String>,
    #[serde(skip)]
    tags: String,
    program: String,
    expected: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    otherwise: Vec<(String, Vec<(String, String)>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    documented: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    control: Option<String>,
    /// Lines, each with whether it is a reason for a rejection.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    drawing: Vec<(bool, String)>,
    /// True if every outcome is the expected one everywhere, word for word.
    plain: bool,
    outcomes: Vec<Outcome>,
    /// The command that runs it again; `CASE` stands for the id.
    command: String,
}

/// The outcome of a case, in the columns that agree on it.
#[derive(Serialize)]
struct Outcome {
    columns: String,
    class: &'static str,
    word: String,
    /// The values, where they are not the expected ones word for word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<(String, String, String)>,
}

/// A generated program on which something differs.
#[derive(Serialize)]
struct Odd {
    program: u64,
    columns: String,
    what: String,
    yaml: String,
}

/// The page. `steps` are the changes from release to release; `playground` says that `explain.html` stands next to it.
pub fn render(
    history: &History,
    statements: Vec<Statement>,
    others: Option<&Others>,
    steps: &[Changes],
    playground: bool,
) -> String {
    let labels = short_labels(history);
    let order = newest_first(history);
    let mut words = BTreeMap::from([("true", 0), ("false", 0), ("unseen", 0), ("changing", 0), ("unshowable", 0)]);
    let documented = statements.iter().filter(|statement| statement.documented).count();
    for statement in statements.iter().filter(|statement| statement.documented) {
        *words.entry(statement.word).or_default() += 1;
    }
    let releases = history.releases();
    let names: Vec<&str> = releases.iter().map(|at| history.columns[*at].version.as_str()).collect();
    let sections = sections(history, &labels, &statements);
    let page = Page {
        range: documentation::span(&names),
        suite: super::short(history.suite()).to_owned(),
        cases: history.cases().len(),
        documented,
        code: statements.len() - documented,
        releases: releases.len(),
        libraries: others.map_or(0, Others::libraries),
        columns: order.iter().map(|at| column(history, *at, steps)).collect(),
        newest: newest(history, steps),
        generated: generated(history, &labels),
        documents: history.documents().iter().map(|document| (document.id.clone(), document.title.clone())).collect(),
        others,
        words,
        scale: share::SCALE.iter().enumerate().map(|(step, (_, words))| (step, *words)).collect(),
        playground,
        style: template::fill("page.css", ()),
        script: template::fill("page.js", ()),
        index: packed(&index(&sections)),
        packed: packed_columns(&Drawn {
            columns: order.iter().map(|at| [labels[*at].clone(), history.columns[*at].label.clone()]).collect(),
            themes: themes(history, &order),
            statements: sections,
            libraries: others.map(Others::lists_without_programs).unwrap_or_default(),
            others: others.map_or(&[], Others::labels),
            shares: others.map_or(&[], Others::themes),
        }),
        groups: groups(history, statements),
    };
    template::fill("index.html", page)
}

fn index(sections: &[Section]) -> Index<'_> {
    let mut names: Vec<&str> =
        sections.iter().flat_map(|one| &one.cases).flat_map(|case| &case.calls).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let place = |name: &String| names.binary_search(&name.as_str()).expect("it is a name of a case");
    let of = |case: &'_ Case| case.calls.iter().map(place).collect();
    let cases = sections.iter().map(|section| {
        (section.id.as_str(), section.cases.iter().map(|case| (case.tags.as_str(), of(case))).collect())
    });
    Index { cases: cases.collect(), names }
}

fn packed_columns(drawn: &Drawn) -> String {
    let (cases, statements) = (".statements[].cases[].id", ".statements[].id");
    let places = BTreeMap::from([
        (".libraries[].known[].case", cases),
        (".statements[].cases[].control", cases),
        (".statements[].elsewhere[]", cases),
        (".statements[].footnotes[].case", cases),
        (".themes[].rows[].id", statements),
    ]);
    let document = serde_json::to_value(drawn).expect("its maps have only text for keys");
    packed(&Packed { columns: columns(document, &places), places: &places })
}

/// The columns: the releases, the newest first, and then the others.
fn newest_first(history: &History) -> Vec<usize> {
    let releases = history.releases();
    let others = (0..history.columns.len()).filter(|at| !releases.contains(at));
    releases.iter().rev().copied().chain(others).collect()
}

/// Groups the statements: those that documents make come first, and the false ones before the true ones.
fn groups(history: &History, statements: Vec<Statement>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for documented in [true, false] {
        for word in ["false", "changing", "true", "unseen", "unshowable"] {
            groups.push(Group { documented, word, statements: Vec::new() });
        }
    }
    for statement in statements {
        let own = |group: &&mut Group| (group.documented, group.word) == (statement.documented, statement.word);
        groups.iter_mut().find(own).expect("every word has its group").statements.push(statement);
    }
    groups.retain(|group| !group.statements.is_empty());
    // The authors of a document see its false sentences together.
    let place = |statement: &Statement| {
        let first = statement.sources.first();
        history.documents().iter().position(|document| first.is_some_and(|place| place.doc == document.id))
    };
    for group in groups.iter_mut().filter(|group| group.documented && ["false", "changing"].contains(&group.word)) {
        group.statements.sort_by_key(place);
    }
    groups
}

fn column(history: &History, at: usize, steps: &[Changes]) -> Column {
    let column = &history.columns[at];
    let tally = column.came.clone().unwrap_or_default();
    let executed = tally.executed();
    let holds = history.holds_of_documents(at);
    let of = |wanted: Holds| holds.iter().filter(|holds| **holds == wanted).count();
    Column {
        label: column.label.clone(),
        date: column.header.date.split('T').next().unwrap_or_default().to_owned(),
        missing: column.came.as_ref().err().cloned(),
        passed: tally.passed,
        percent: percent(tally.passed, executed),
        step: share::step(tally.passed, executed),
        changed: steps.iter().find(|step| step.after == column.label).map(|step| step.differing),
        diverging: tally.diverging,
        release_specific: tally.release_specific,
        failed: tally.failed,
        unsupported: left_out(&tally),
        executed,
        yes: of(Holds::True),
        no: of(Holds::False),
        unseen: of(Holds::Unseen),
        corpus: tally.corpus.map(|corpus| {
            let run = corpus.agree + corpus.known + corpus.differ;
            let known = if corpus.known > 0 { format!(", {} known", corpus.known) } else { String::new() };
            format!("{}/{run} agree{known}", corpus.agree)
        }),
    }
}

fn themes(history: &History, order: &[usize]) -> Vec<Theme> {
    let holds: Vec<Vec<Holds>> = (0..history.columns.len()).map(|at| history.holds(at)).collect();
    let mut themes: Vec<Theme> = Vec::new();
    for (at, clause) in history.clauses().iter().enumerate() {
        let columns = order.iter().copied();
        let colour = |column: usize| match history.columns[column].came {
            Err(_) => 'n',
            Ok(_) => colour(&history.cell(column, clause)),
        };
        let sign = |column: usize| match holds[column][at] {
            Holds::True => '✓',
            Holds::False => '✗',
            Holds::Unseen => '·',
            Holds::Nothing => '?',
        };
        let first = clause.cases.first().map_or("", |case| case.split('/').next().unwrap_or_default());
        let (colours, signs) = (columns.clone().map(colour).collect(), columns.map(sign).collect());
        let row = Row { id: clause.id.clone(), colours, signs };
        match themes.iter_mut().find(|theme| theme.name == first) {
            Some(theme) => theme.rows.push(row),
            None => themes.push(Theme { name: first.to_owned(), rows: vec![row] }),
        }
    }
    themes
}

/// The worst that happened: failed, known, release-specific, passed, in part, nothing.
fn colour(cell: &Cell) -> char {
    match cell {
        Cell { failed: 1.., .. } => 'f',
        Cell { diverging: 1.., .. } => 'd',
        Cell { release_specific: 1.., .. } => 'r',
        Cell { executed: 0, .. } => 'u',
        Cell { executed, cases, .. } if executed < cases => 'q',
        _ => 'p',
    }
}

/// The statements with their cases. A case that tests several stands with the first.
fn sections(history: &History, labels: &[String], statements: &[Statement]) -> Vec<Section> {
    let mut own: BTreeMap<&str, Vec<&CaseStated>> = BTreeMap::new();
    let mut other: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in history.cases() {
        for (at, clause) in case.clauses.iter().enumerate() {
            match at {
                0 => own.entry(clause).or_default().push(case),
                _ => other.entry(clause).or_default().push(case.id.clone()),
            }
        }
    }
    let section = |statement: &Statement| Section {
        id: statement.id.clone(),
        sources: statement.sources.iter().map(place).collect(),
        footnotes: statement.footnotes.clone(),
        cases: own
            .get(statement.id.as_str())
            .map(|cases| cases.iter().map(|case| self::case(history, labels, case)).collect())
            .unwrap_or_default(),
        elsewhere: other.get(statement.id.as_str()).cloned().unwrap_or_default(),
    };
    statements.iter().map(section).collect()
}

fn place(place: &Place) -> String {
    let at = place.at.as_ref().map_or(String::new(), |at| format!(", {at}"));
    format!("{}: {}{at}", place.doc, place.section)
}

fn case(history: &History, labels: &[String], case: &CaseStated) -> Case {
    let mut groups: Vec<(Outcome, &Judged, Vec<usize>)> = Vec::new();
    for at in 0..history.columns.len() {
        let Some(judged) = history.judged(at, &case.id) else { continue };
        match groups.iter_mut().find(|(_, known, _)| known.exact == judged.exact && known.verdict == judged.verdict) {
            Some((_, _, columns)) => columns.push(at),
            None => groups.push((outcome(case, judged), judged, vec![at])),
        }
    }
    let single = groups.len() == 1;
    // Side by side, releases are distinguished by their differences.
    if !single {
        let all: Vec<Vec<(String, String)>> = groups.iter().map(|(_, judged, _)| values(judged)).collect();
        let differs = |value: &(String, String)| !all.iter().all(|values| values.contains(value));
        // What came as expected in one way stands there already.
        let one_way = groups.iter().filter(|(outcome, ..)| outcome.class == "p").count() == 1;
        for ((outcome, ..), values) in groups.iter_mut().zip(&all) {
            if one_way && outcome.class == "p" {
                continue;
            }
            outcome.values = values.iter().filter(|value| differs(value)).cloned().collect();
        }
    }
    // Where it is known what differs, that is printed, and nothing else.
    for (outcome, ..) in
        groups.iter_mut().filter(|(outcome, ..)| matches!(outcome.class, "d" | "r") && !outcome.differences.is_empty())
    {
        outcome.values.clear();
    }
    // Values of which the same is said stand together.
    let stated = |list: &[Stated]| {
        let mut together: Vec<(String, String)> = Vec::new();
        for one in list {
            match together.iter_mut().find(|(_, outcome)| *outcome == one.outcome) {
                Some((values, _)) => *values += &format!(" {}", one.value),
                None => together.push((one.value.clone(), one.outcome.clone())),
            }
        }
        together
    };
    let mut classes: Vec<&str> = groups.iter().map(|(outcome, ..)| outcome.class).collect();
    if groups.len() > 1 {
        classes.push("c");
    }
    classes.sort_unstable();
    classes.dedup();
    // The newest release, if one ran it, is the one to repeat it on.
    let newest = history.releases().into_iter().rev().find_map(|at| {
        let judged = history.judged(at, &case.id)?;
        judged.verdict.executed().then_some(judged)
    });
    let any = newest.or_else(|| groups.first().map(|(_, judged, _)| *judged));
    let mut calls: Vec<String> = case.calls.iter().map(|call| call.call.clone()).collect();
    calls.sort_unstable();
    calls.dedup();
    Case {
        id: case.id.clone(),
        calls,
        tags: classes.join(" "),
        program: case.program.trim_end().to_owned(),
        expected: stated(&case.expected),
        otherwise: case.otherwise.iter().map(|one| (one.releases.clone(), stated(&one.expected))).collect(),
        documented: stated(&case.documented),
        note: case.note.clone(),
        why: case.why.as_ref().map(|why| why.trim().to_owned()),
        control: case.control.clone(),
        drawing: case.drawing.as_ref().map(drawn).unwrap_or_default(),
        command: any.map(|judged| history.repeat_command(judged).replace(&case.id, "CASE")).unwrap_or_default(),
        plain: single && groups.iter().all(|(outcome, ..)| outcome.class == "p" && outcome.values.is_empty()),
        outcomes: groups
            .into_iter()
            .map(|(outcome, _, columns)| Outcome {
                columns: match single {
                    true => "everywhere".to_owned(),
                    false => history.names(labels, &columns),
                },
                ..outcome
            })
            .collect(),
    }
}

fn outcome(case: &CaseStated, judged: &Judged) -> Outcome {
    let mut values = values(judged);
    // What is as expected, word for word, stands there already, and what nothing is expected of is a step on the way.
    if judged.verdict == Verdict::Passed {
        let told =
            |value: &str| judged.outcome.iter().find(|seen| seen.value == value).map(|seen| seen.outcome.as_str());
        values.retain(|(value, _)| {
            let stated = case.expected.iter().find(|stated| stated.value == *value);
            let text = told(value).map(|text| text.strip_prefix("rejected: ").unwrap_or(text));
            stated.is_some_and(|stated| text.is_none_or(|text| !stated.outcome.contains(text)))
        });
    }
    let (class, why, differences) = match &judged.verdict {
        Verdict::Passed => ("p", None, Vec::new()),
        Verdict::Diverges { divergence, kind, why, differences, .. } => {
            let class = if *kind == Kind::Changed { "r" } else { "d" };
            (class, Some(format!("{divergence}: {}", why.trim())), differences.iter().map(shown).collect())
        }
        Verdict::Unsupported { what, .. } | Verdict::NotJudged { what } => ("u", Some(what.clone()), Vec::new()),
        Verdict::Uncontrolled { control } => {
            ("f", Some(format!("{control}, which accepts, does not pass")), Vec::new())
        }
        Verdict::Broken { fault, .. } => ("f", Some(fault.clone()), Vec::new()),
        Verdict::Failed { differences } => ("f", None, differences.iter().map(shown).collect()),
    };
    let word = if is_failure(judged) { judged.verdict.name() } else { word(&judged.verdict) };
    Outcome { columns: String::new(), class, word: word.to_owned(), values, why, differences }
}

/// A difference: value and aspect, what is expected, what is observed.
fn shown(one: &Difference) -> (String, String, String) {
    (format!("{} {}", one.value, one.aspect.name()), one.expected.clone(), one.observed.clone())
}

fn values(judged: &Judged) -> Vec<(String, String)> {
    judged.exact.iter().map(|exact| (exact.value.clone(), show(exact))).collect()
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "as expected",
        Verdict::Diverges { kind, .. } => kind.words(),
        Verdict::NotJudged { .. } => "not judged",
        _ => "not supported",
    }
}

/// The shapes under each other, as `broadcheck explain` draws them.
fn drawn(drawing: &Drawing) -> Vec<(bool, String)> {
    let dimensions = &drawing.dimensions;
    let sizes = dimensions.iter().flat_map(|dimension| dimension.sizes.iter().flatten());
    let width = sizes.map(|size| size.to_string().len()).max().unwrap_or(1).max(2);
    let name = drawing.operands.iter().map(|operand| operand.name.chars().count()).max().unwrap_or(0).max(9);
    let line = |first: &str, cells: &mut dyn Iterator<Item = String>| {
        let cells: String = cells.map(|cell| format!("  {cell:>width$}")).collect();
        (false, format!("{first:<name$}{cells}"))
    };
    let mut lines = vec![(false, drawing.call.clone())];
    if !dimensions.is_empty() {
        lines.push(line("dimension", &mut (0..dimensions.len()).map(|at| at.to_string())));
    }
    for (at, operand) in drawing.operands.iter().enumerate() {
        let cell = |size: Option<i64>| size.map_or("·".to_owned(), |size| size.to_string());
        let (_, text) = line(
            &operand.name,
            &mut dimensions.iter().map(|dimension| cell(dimension.sizes.get(at).copied().flatten())),
        );
        lines.push((false, format!("{text}   {:?}", operand.shape)));
    }
    let cell = |size: Option<i64>| size.map_or("✗".to_owned(), |size| size.to_string());
    lines.push(line("result", &mut dimensions.iter().map(|dimension| cell(dimension.result))));
    for (at, dimension) in dimensions.iter().enumerate().rev() {
        let mark = if dimension.conflict { "✗" } else { "✓" };
        lines.push((dimension.conflict, format!("{mark} dimension {at}: {}", dimension.rule)));
    }
    lines
}

fn generated(history: &History, labels: &[String]) -> Vec<Odd> {
    let mut found: BTreeMap<(u64, String), (Vec<usize>, String)> = BTreeMap::new();
    for at in 0..history.columns.len() {
        for (number, generated) in history.generated(at) {
            let (what, yaml) = match &generated.verdict {
                Agreement::Differs { signature, yaml, .. } => (signature.clone(), yaml.clone()),
                Agreement::Broken { fault, yaml } => (fault.clone(), yaml.clone()),
                _ => continue,
            };
            found.entry((number, what)).or_insert((Vec::new(), yaml)).0.push(at);
        }
    }
    let each = found.into_iter().map(|((program, what), (columns, yaml))| Odd {
        program,
        columns: history.names(labels, &columns),
        what,
        yaml: yaml.trim_end().to_owned(),
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_playground_is_linked_where_it_is() {
        let page = |playground| render(&History::default(), Vec::new(), None, &[], playground);
        assert!(page(true).contains("href=\"explain.html\""));
        assert!(!page(false).contains("explain.html"));
    }
}
