//! Reading the specification: from YAML to [`Specification`], or to everything that is wrong with it.
//!
//! `serde_yaml` reads the values, `position` reads where they stand, `each` multiplies parameterised cases, `node` walks
//! what comes of it; `records`, `program`, `step` and
//! `expect` turn them into the model, and `check` compares the records with each other. A fault never ends the reading:
//! all are reported together, each with its place.

mod check;
mod each;
mod expect;
mod names;
mod node;
mod position;
mod program;
mod records;
mod step;
mod value;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_yaml::Value;
use sha2::{Digest, Sha256};

use self::check::Ids;
use self::node::{File, Node};
use self::position::{Place, Places};
use self::records::List;
use super::model::{Location, Specification};
use crate::program::Program;

pub use self::program::{Fill, MAX_ELEMENTS};

/// The most bytes that a file of a specification may have. The largest of broadcheck's own has 77 thousand; what a reader
/// of YAML builds in memory can be a hundred times as much.
pub const MAX_FILE: u64 = 4 << 20;

/// Reads the folder `spec/`: `documents.yaml`, the clauses in `clauses.yaml` or in `clauses/*.yaml`, and the cases in
/// every other `*.yaml` there and in `regressions/`. Next to them there may be texts for people, `*.md`. Anything else
/// is a fault, since it may be meant as cases, and would be missed.
pub fn load(dir: &Path) -> Result<Specification, LoadError> {
    let mut faults = Vec::new();
    let mut files = Vec::new();
    for folder in [dir.to_owned(), dir.join(CLAUSES), dir.join(REGRESSIONS)] {
        // Only the specification itself must be there.
        if folder != dir && !folder.exists() {
            continue;
        }
        match yaml_files(&folder, folder == dir, &mut faults) {
            Ok(paths) => files.extend(paths),
            Err(error) => faults.push(Fault::of_file(&folder, format!("cannot be listed: {error}"))),
        }
    }
    let mut texts = Vec::new();
    for path in files {
        match read(&path) {
            Ok(text) => texts.push((path, text)),
            Err(what) => faults.push(Fault::of_file(&path, what)),
        }
    }
    for (list, path) in [(List::Documents, dir.join(DOCUMENTS)), (List::Clauses, dir.join(CLAUSES_FILE))] {
        if faults.is_empty() && !texts.iter().any(|(other, _)| list_of(other) == list) {
            faults.push(Fault::of_file(&path, "is missing".to_owned()));
        }
    }
    if !faults.is_empty() {
        return Err(LoadError { faults });
    }
    load_files(&texts)
}

/// Returns the digest of the specification, independent of the folder that it lies in.
fn digest(files: &[(PathBuf, String)]) -> String {
    let mut hash = Sha256::new();
    for (path, text) in files {
        hash.update(path.file_name().unwrap_or_default().as_encoded_bytes());
        hash.update([0]);
        hash.update(text);
        hash.update([0]);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the files of a specification from memory. What a file holds follows from its name, as in a folder.
pub fn load_files(files: &[(PathBuf, String)]) -> Result<Specification, LoadError> {
    let faults = RefCell::new(Vec::new());
    let opened: Vec<File<'_>> = files.iter().map(|(path, _)| File { path, faults: &faults }).collect();
    let parsed: Vec<Option<(Value, Places)>> =
        opened.iter().zip(files).map(|(file, (_, text))| Some(each::expand(file, parse(file, text)?))).collect();

    let mut specification = Specification { digest: digest(files), ..Specification::default() };
    let mut references = Vec::new();
    let mut ids: HashMap<List, Ids> =
        [List::Documents, List::Clauses, List::Cases].map(|list| (list, Ids::default())).into();
    for (file, parsed) in opened.iter().zip(&parsed) {
        let list = list_of(file.path);
        let ids = ids.get_mut(&list).expect("each list has ids");
        let nodes = parsed.as_ref().and_then(|(value, places)| {
            Node::root(file, value, places).list(format_args!("a list of {}s", list.noun()))
        });
        let Some(nodes) = nodes else {
            ids.incomplete = true;
            continue;
        };
        let theme = theme(file.path);
        for node in nodes {
            ids.defined.extend(id_of(node));
            match list {
                List::Documents => specification.documents.extend(records::document(node)),
                List::Clauses => specification.clauses.extend(records::clause(node, &mut references)),
                List::Cases => specification.cases.extend(records::case(node, &theme, &mut references)),
            }
        }
    }

    let mut faults = faults.take();
    let read = specification.documents.len() + specification.clauses.len() + specification.cases.len();
    debug_assert!(
        !faults.is_empty() || read == ids.values().map(|ids| ids.defined.len()).sum::<usize>(),
        "a record was left out without a fault"
    );
    for (&list, ids) in &ids {
        check::unique(list, ids, &mut faults);
    }
    check::references(&references, &ids, &specification.cases, &mut faults);
    if faults.is_empty() {
        check::coverage(&specification, &mut faults);
    }
    finish(specification, faults, files)
}

/// Reads one program, such as the text under `program` of a case.
///
/// ```
/// use std::path::Path;
///
/// use broadcheck_oracles::case::{load_program, render};
///
/// let program = load_program(Path::new("sum.yaml"), "x: {shape: [2, 1]}\nr: {add: [x, x]}").unwrap();
/// assert_eq!(program.steps[0].name, "r");
/// assert!(render::program(&program).contains("r: {add: [x, x]}"));
///
/// let error = load_program(Path::new("sum.yaml"), "r: {add: [x, 1]}").unwrap_err();
/// assert!(error.to_string().contains("sum.yaml:1:"), "{error}");
/// ```
pub fn load_program(path: &Path, text: &str) -> Result<Program, LoadError> {
    let faults = RefCell::new(Vec::new());
    let file = File { path, faults: &faults };
    let program = parse(&file, text)
        .and_then(|(value, places)| program::read(Node::root(&file, &value, &places)).map(|(program, _)| program));
    finish(program.unwrap_or_default(), faults.take(), &[])
}

/// Everything that is wrong with a specification: at least one fault, in the order of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The problems, each with its location.
    pub faults: Vec<Fault>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The location. Line and column are 0 if the file as a whole is at fault.
    pub location: Location,
    /// The problem, and what was expected.
    pub message: String,
}

impl Fault {
    fn of_file(path: &Path, message: String) -> Fault {
        Fault { location: Location { file: path.to_owned(), line: 0, column: 0 }, message }
    }
}

impl std::error::Error for LoadError {}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.faults.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Location { file, line: 0, .. } => write!(f, "{}: {}", file.display(), self.message),
            location => write!(f, "{location}: {}", self.message),
        }
    }
}

const DOCUMENTS: &str = "documents.yaml";
/// The file of all clauses, for a small specification, and the folder of several, for a large one.
const CLAUSES_FILE: &str = "clauses.yaml";
const CLAUSES: &str = "clauses";
/// The folder of cases that were found by the fuzzer.
const REGRESSIONS: &str = "regressions";

/// The files of a folder, by name. The first folder of a specification has others in it.
fn yaml_files(folder: &Path, first: bool, faults: &mut Vec<Fault>) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut paths = entries?;
    paths.sort();
    paths.retain(|path| match role(path, first) {
        Ok(is_yaml) => is_yaml,
        Err(what) => {
            faults.push(Fault::of_file(path, what));
            false
        }
    });
    Ok(paths)
}

/// Returns whether an entry of a folder is a file to read, or `false` if it may be left out; else the problem with it.
fn role(path: &Path, first: bool) -> Result<bool, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    // Nothing is opened before it is known to be a file: to open a pipe is to wait for its other end.
    let kind = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Kind::File,
        Ok(metadata) if metadata.is_dir() => Kind::Folder,
        Ok(_) => Kind::Other,
        Err(error) if path.is_symlink() => return Err(format!("is a link without a target: {error}")),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    match (kind, extension) {
        (Kind::Folder, _) if first && [CLAUSES, REGRESSIONS].contains(&&*name) => Ok(false),
        (Kind::Folder, _) => Err(format!(
            "is a folder that is not read: cases are in the folder of the specification and in {REGRESSIONS}/, clauses \
             in {CLAUSES}/"
        )),
        (Kind::Other, _) => Err("is neither a file nor a folder, so it cannot be read".to_owned()),
        (Kind::File, "yaml") => Ok(true),
        (Kind::File, "md") => Ok(false),
        (Kind::File, "yml") => Err("is not read: rename it to `.yaml`".to_owned()),
        // Editors, file managers and git leave such files behind.
        (Kind::File, _) if name.starts_with('.') => Ok(false),
        (Kind::File, _) => Err("is not read: a specification has files in `.yaml`, and texts in `.md`".to_owned()),
    }
}

/// The kind of an entry of a folder, links followed.
enum Kind {
    File,
    Folder,
    Other,
}

/// The text of a file that is not too large.
fn read(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cannot be read: {error}");
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut text = String::new();
    file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_FILE {
        return Err(format!("has more than {MAX_FILE} bytes, the limit of a file of a specification: divide it"));
    }
    Ok(text)
}

fn list_of(path: &Path) -> List {
    match path.file_name().and_then(|name| name.to_str()) {
        Some(DOCUMENTS) => List::Documents,
        Some(CLAUSES_FILE) => List::Clauses,
        _ if path.parent().is_some_and(|folder| folder.ends_with(CLAUSES)) => List::Clauses,
        _ => List::Cases,
    }
}

/// Returns the prefix of the ids of a file's cases.
fn theme(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().replace('_', "-")
}

/// The id of a record, whatever else is wrong with it.
fn id_of(record: Node<'_>) -> Option<(String, Location)> {
    let Value::Mapping(mapping) = record.value else { return None };
    let at = mapping.iter().position(|(key, _)| key.as_str() == Some("id"))?;
    let (_, id) = mapping.iter().nth(at)?;
    Some((id.as_str()?.to_owned(), record.child(at, id).location()))
}

/// The values and places of a file, unless it is not valid YAML.
fn parse(file: &File<'_>, text: &str) -> Option<(Value, Places)> {
    let value = serde_yaml::from_str::<Value>(text);
    let places = Places::of(text);
    // `serde_yaml` calls duplicate keys an error too, but names neither place.
    if let Ok((_, duplicates)) = &places {
        for duplicate in duplicates {
            let Place { line, column } = duplicate.first;
            let key = &duplicate.key;
            file.fault(duplicate.again, format!("the key `{key}` occurs twice, first at line {line}, column {column}"));
        }
        if !duplicates.is_empty() {
            return None;
        }
    }
    match (value, places) {
        (Ok(value), Ok((places, _))) => Some((value, places)),
        (Err(error), _) => {
            let place = error.location().map(|at| Place { line: at.line(), column: at.column() }).unwrap_or_default();
            let at = format!(" at line {} column {}", place.line, place.column);
            file.fault(place, format!("this is not valid YAML: {}", error.to_string().replacen(&at, "", 1)));
            None
        }
        (Ok(_), Err((place, message))) => {
            file.fault(place, format!("this is not valid YAML: {message}"));
            None
        }
    }
}

/// Returns the value that was read, or all the problems in the order in which a reader meets them.
fn finish<T>(read: T, mut faults: Vec<Fault>, files: &[(PathBuf, String)]) -> Result<T, LoadError> {
    if faults.is_empty() {
        return Ok(read);
    }
    faults.sort_by_key(|Fault { location, .. }| {
        let file = files.iter().position(|(path, _)| *path == location.file);
        (file, location.line, location.column)
    });
    Err(LoadError { faults })
}

/// The candidate that `word` is most likely a misspelling of.
fn closest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let close = candidates.filter_map(|candidate| {
        let distance = strsim::osa_distance(&word.to_lowercase(), candidate);
        let longest = word.chars().count().max(candidate.chars().count());
        // A word of one letter is no more like one other than like the rest.
        (distance <= longest.div_ceil(3) && distance < longest).then_some((distance, candidate))
    });
    close.min_by_key(|&(distance, _)| distance).map(|(_, candidate)| candidate)
}

/// The end of a message about an unknown word; empty if nothing is like it.
fn did_you_mean<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    closest(word, candidates).map(|candidate| format!("; did you mean `{candidate}`?")).unwrap_or_default()
}
