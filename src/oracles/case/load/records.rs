//! The lists that files hold: documents, clauses and cases, one record each.
//!
//! References to records elsewhere are only collected here; [`super::check`] verifies them.

use std::collections::BTreeMap;

use serde_yaml::Value;

use super::expect::{self, Side};
use super::names::Names;
use super::node::{Node, Record};
use super::program;
use crate::case::model::{Aspect, Case, Clause, Document, Expectation, Location, Otherwise, Shows, Source};
use crate::case::releases::Releases;
use crate::program::{Program, ValueRef};

/// The list that a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    /// `documents.yaml`.
    Documents,
    /// `clauses.yaml`, or a file in the folder `clauses/`.
    Clauses,
    /// Every other file.
    Cases,
}

impl List {
    /// Returns the noun for one record.
    pub fn noun(self) -> &'static str {
        match self {
            List::Documents => "document",
            List::Clauses => "clause",
            List::Cases => "case",
        }
    }
}

/// One record that names another.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The list that the other is in.
    pub list: List,
    /// The id that is named.
    pub id: String,
    /// True if the other must be an accepting case.
    pub control: bool,
    /// The location of the reference.
    pub location: Location,
}

/// The references in the records of all files.
pub type References = Vec<Reference>;

/// The kinds of case that a clause can ask for.
const SHOWS: [(&str, Shows); 3] = [("accept", Shows::Accept), ("reject", Shows::Reject), ("claim", Shows::Claim)];

/// Reads one record of `documents.yaml`.
pub fn document(node: Node<'_>) -> Option<Document> {
    let record = node.record("a document", &["id", "title", "code"])?;
    let id = record.require("id").and_then(id);
    let title = record.require("title").and_then(|node| node.text("the title"));
    let code = match record.get("code") {
        Some(node) => node.flag("`code`: true for the library's own source code"),
        None => Some(false),
    };
    Some(Document { id: id?, title: title?.to_owned(), code: code? })
}

/// The keys of a clause.
const CLAUSE_KEYS: &[&str] = &["id", "statement", "about", "shows", "cannot_be_shown", "correction", "sources"];

/// Reads one record of a file of clauses.
pub fn clause(node: Node<'_>, references: &mut References) -> Option<Clause> {
    let record = node.record("a clause", CLAUSE_KEYS)?;
    let id = record.require("id").and_then(id);
    let statement = record.require("statement").and_then(|node| node.text("the statement"));
    let shows = record.require("shows").and_then(|node| {
        let parse = |text: &str| SHOWS.iter().find(|(name, _)| *name == text).map(|&(_, shows)| shows);
        let kinds = list_of(node, "the kinds of case that show it: a list")?.into_iter();
        let kinds: Vec<_> =
            kinds.map(|node| node.word("kind of case", SHOWS.iter().map(|(name, _)| *name), parse)).collect();
        kinds.into_iter().collect::<Option<Vec<_>>>()
    });
    let sources = record.require("sources").and_then(|node| {
        let nodes = list_of(node, "the places where it stands: a list")?;
        let sources: Vec<_> = nodes.into_iter().map(|node| source(node, references)).collect();
        sources.into_iter().collect::<Option<Vec<_>>>()
    });
    let about = match record.get("about") {
        Some(node) => aspects(node),
        None => Some(Aspect::OF_A_STATEMENT.to_vec()),
    };
    let cannot_be_shown = text(&record, "cannot_be_shown", "why no case can show the statement");
    let correction = text(&record, "correction", "the corrected sentence");
    if let (Some(_), Some(node)) = (cannot_be_shown, record.get("about")) {
        node.key_fault("a statement that cannot be shown is not judged, so it has no `about`");
    }
    Some(Clause {
        id: id?,
        statement: statement?.to_owned(),
        about: about?,
        about_is_explicit: record.get("about").is_some(),
        shows: shows?,
        cannot_be_shown: cannot_be_shown.map(str::to_owned),
        correction: correction.map(|text| text.trim().to_owned()),
        sources: sources?,
        location: node.location(),
    })
}

/// Reads what a statement is about.
fn aspects(node: Node<'_>) -> Option<Vec<Aspect>> {
    let words = Aspect::ALL.iter().map(|aspect| aspect.name());
    let nodes = list_of(node, "the aspects that the statement is about: a list")?;
    let mut aspects: Vec<Aspect> = Vec::new();
    for node in nodes {
        let aspect = node.word("aspect", words.clone(), Aspect::parse)?;
        if aspects.contains(&aspect) {
            node.fault(format!("the aspect `{}` is named twice", aspect.name()));
        }
        aspects.push(aspect);
    }
    Some(aspects)
}

/// The keys of a case.
const CASE_KEYS: &[&str] =
    &["id", "clause", "source", "note", "control", "program", "expect", "otherwise", "documented", "why"];

/// Reads one record of a file of cases, which all belong to one theme.
pub fn case(node: Node<'_>, theme: &str, references: &mut References) -> Option<Case> {
    let record = node.record("a case", CASE_KEYS)?;
    let id = record.require("id").and_then(|node| case_id(node, theme));
    let source = record.require("source").and_then(|node| source(node, references));
    let note = text(&record, "note", "why the case is there");
    let why = text(&record, "why", "what really happens");

    let program = record.require("program").and_then(program::read);
    let names = program.as_ref().map(|(_, names)| names);
    let clauses = record.require("clause").and_then(|node| clause_ids(node, names, references));
    let expect = record.require("expect").zip(names).and_then(|(node, names)| expect::read(node, names, Side::Expect));
    let documented = match record.get("documented").zip(names) {
        Some((node, names)) => expect::read(node, names, Side::Documented),
        None => Some(Vec::new()),
    };
    match (record.get("documented"), record.get("why")) {
        (Some(node), None) => node.key_fault("`documented` without `why`: add what really happens"),
        (None, Some(node)) => node.key_fault("`why` without `documented`: add what the document says instead"),
        _ => {}
    }

    let otherwise = match record.get("otherwise").zip(names) {
        Some((node, names)) => otherwise(node, names, expect.as_deref().unwrap_or_default()),
        None => Some(Vec::new()),
    };

    let control = record.get("control").and_then(|node| reference(node, List::Cases, true, references));
    let program: Option<Program> = program.map(|(program, _)| program);
    let (clauses, witnesses) = clauses?;
    let case = Case {
        id: id?,
        clauses,
        witnesses,
        source: source?,
        note: note.map(str::to_owned),
        program: program?,
        expect: expect?,
        otherwise: otherwise?,
        documented: documented?,
        why: why.map(str::to_owned),
        control,
        location: node.location(),
    };
    match (case.rejects(), record.get("control")) {
        (true, None) => node.fault(
            "a case that expects a rejection needs a `control`: the id of an accepting case that differs as little as \
             possible",
        ),
        (false, Some(control)) => control.key_fault("`control` is only for a case that expects a rejection"),
        _ => {}
    }
    Some(case)
}

/// Reads what holds in other releases. It is about values of which it is said what holds everywhere else.
fn otherwise(node: Node<'_>, names: &Names<'_>, now: &[(ValueRef, Expectation)]) -> Option<Vec<Otherwise>> {
    let read = |node: Node<'_>| {
        let record = node.record("what holds in other releases", &["releases", "expect"])?;
        let releases = record.require("releases").and_then(|node| {
            let parsed = node.text("a range of releases, as `>=2.1, <2.6`")?.parse::<Releases>();
            parsed.map_err(|message| node.fault(message)).ok()
        });
        let expect = record.require("expect").and_then(|node| {
            let expect = expect::read(node, names, Side::Expect)?;
            let unknown = expect.iter().find(|(value, _)| !now.iter().any(|(other, _)| other == value));
            if unknown.is_some() && !now.is_empty() {
                node.fault("this names a value for which the case itself expects nothing");
                return None;
            }
            Some(expect)
        });
        Some(Otherwise { releases: releases?, expect: expect? })
    };
    let ranges: Vec<_> = list_of(node, "ranges of releases: a list")?.into_iter().map(read).collect();
    ranges.into_iter().collect()
}

/// Words of lower-case letters and digits, joined by `-`. Names of operations are words too, with their underscores.
pub fn is_id(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.split('-').all(|word| word.chars().any(plain) && word.chars().all(|c| plain(c) || c == '_'))
}

fn id(node: Node<'_>) -> Option<String> {
    let text = node.text("an id")?;
    if !is_id(text) {
        node.fault(format!("the id `{text}` is not lower-case words joined by `-`"));
        return None;
    }
    Some(text.to_owned())
}

fn case_id(node: Node<'_>, theme: &str) -> Option<String> {
    let text = node.text("an id")?;
    match text.split_once('/') {
        Some((before, words)) if before == theme && is_id(words) => Some(text.to_owned()),
        Some((before, words)) if is_id(words) && before != theme => {
            node.fault(format!("the id `{text}` must begin with `{theme}/`, the name of its file"));
            None
        }
        _ => {
            node.fault(format!("the id `{text}` must be `{theme}/` and lower-case words joined by `-`"));
            None
        }
    }
}

/// The clauses that a case tests, and the values that witness one, where they are named.
type Tested = (Vec<String>, BTreeMap<String, Vec<ValueRef>>);

/// Reads `[a, {b: [r]}]` or `{b: [r]}`: clauses, those in mappings with the values that witness them.
fn clause_ids(node: Node<'_>, names: Option<&Names<'_>>, references: &mut References) -> Option<Tested> {
    const EXPECTED: &str =
        "the clauses that it tests: a list, or a mapping from clauses to the values that witness them";
    let nodes = match node.value {
        Value::Mapping(_) => vec![node],
        _ => list_of(node, EXPECTED)?,
    };
    let (mut ids, mut witnesses) = (Vec::new(), BTreeMap::new());
    let mut note = |id: String, place: Node<'_>| {
        if ids.contains(&id) {
            place.fault(format!("the clause `{id}` is named twice"));
        }
        ids.push(id);
    };
    for node in nodes {
        if !matches!(node.value, Value::Mapping(_)) {
            note(reference(node, List::Clauses, false, references)?, node);
            continue;
        }
        let entries = node.entries(EXPECTED)?;
        if entries.is_empty() {
            node.fault(format!("expected {EXPECTED}; this one is empty"));
            return None;
        }
        for (id, values) in entries {
            references.push(Reference {
                list: List::Clauses,
                id: id.to_owned(),
                control: false,
                location: values.key_location(),
            });
            note(id.to_owned(), values);
            // Without a program its own faults are reported, and no name can be looked up.
            let Some(names) = names else { continue };
            let values = list_of(values, "the values that witness the clause: a list of names")?.into_iter();
            let values: Option<Vec<ValueRef>> = values
                .map(|value| {
                    let text = value.text("the name of a step or of an input")?;
                    names.resolve(text, None).map(|(value, _)| value).map_err(|message| value.fault(message)).ok()
                })
                .collect();
            witnesses.insert(id.to_owned(), values?);
        }
    }
    Some((ids, witnesses))
}

fn source(node: Node<'_>, references: &mut References) -> Option<Source> {
    let record = node.record("a source", &["doc", "section", "example", "at"])?;
    let doc = record.require("doc").and_then(|node| reference(node, List::Documents, false, references));
    let section = record.require("section").and_then(|node| node.text("the heading of a section"));
    let example = record.get("example").map(|node| match u32::try_from(node.integer("the number of an example")?) {
        Ok(number @ 1..) => Some(number),
        _ => node.wrong("the number of an example, counted from 1"),
    });
    let example = match example {
        Some(example) => Some(example?),
        None => None,
    };
    let at = match record.get("at") {
        Some(node) => Some(node.text("the place of the sentence in the section")?.to_owned()),
        None => None,
    };
    Some(Source { doc: doc?, section: section?.to_owned(), example, at })
}

fn reference(node: Node<'_>, list: List, control: bool, references: &mut References) -> Option<String> {
    let id = node.text(format_args!("the id of a {}", list.noun()))?.to_owned();
    references.push(Reference { list, id: id.clone(), control, location: node.location() });
    Some(id)
}

fn text<'a>(record: &Record<'a>, key: &str, expected: &str) -> Option<&'a str> {
    record.get(key).and_then(|node| node.text(expected))
}

/// A list with at least one element.
fn list_of<'a>(node: Node<'a>, expected: &str) -> Option<Vec<Node<'a>>> {
    let nodes = node.list(expected)?;
    if nodes.is_empty() {
        node.fault(format!("expected {expected}; this one is empty"));
        return None;
    }
    Some(nodes)
}
