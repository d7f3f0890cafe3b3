//! The seeds of the fuzz targets, and dictionaries for those that read text, out of the specification.
//!
//! ```text
//! cargo run --release --example seeds -- [FOLDER]
//! ```
//!
//! Writes a folder for each target, and `TARGET.dict` where there is one, to FOLDER, which is `fuzz/corpus` unless it is
//! named. A seed is named after its case, so that running it again changes nothing; what a fuzzer has found stays.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use broadcheck::adapter::protocol::{Encoding, Request, Response, VERSION};
use broadcheck::adapter::{Hello, Implementation};
use broadcheck::case::{self, Case, Specification};
use broadcheck::generate::{self, Focus};
use broadcheck::ops::Op;
use broadcheck::reference::Reference;
use broadcheck::tensor::DType;

/// By target, then by name.
type Seeds = BTreeMap<&'static str, BTreeMap<String, Vec<u8>>>;

/// Words of a dictionary by target.
type Words = BTreeMap<&'static str, BTreeSet<String>>;

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).map_or(PathBuf::from("fuzz/corpus"), PathBuf::from);
    match run(&broadcheck::assets::specification().expect("the specification"), &folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("seeds: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(spec: &Path, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let specification = case::load(spec)?;
    let (mut seeds, mut words) = (Seeds::new(), Words::new());
    programs(&specification, &mut seeds);
    texts(spec, &specification, &mut seeds, &mut words)?;
    messages(&specification, &mut seeds, &mut words)?;
    for (target, seeds) in &seeds {
        std::fs::create_dir_all(folder.join(target))?;
        for (name, bytes) in seeds {
            let path = folder.join(target).join(name);
            std::fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        println!("{target:<16} {:>5} seeds {:>9} bytes", seeds.len(), seeds.values().map(Vec::len).sum::<usize>());
    }
    for (target, words) in &words {
        let lines: String = words.iter().map(|word| format!("{}\n", quoted(word))).collect();
        std::fs::write(folder.join(format!("{target}.dict")), lines)?;
        println!("{target:<16} {:>5} words", words.len());
    }
    Ok(())
}

/// Programs for the targets that run them: each case for those that it is about.
fn programs(specification: &Specification, seeds: &mut Seeds) {
    for case in &specification.cases {
        let Some(bytes) = generate::seed(&case.program) else { continue };
        let ops: Vec<Op> = case.program.steps.iter().map(|step| step.op).collect();
        for focus in Focus::ALL.iter().filter(|focus| ops.iter().all(|op| focus.includes(op.info()))) {
            seeds.entry(focus.name()).or_default().insert(file(&case.id), bytes.clone());
        }
        seeds.entry("reference").or_default().insert(file(&case.id), bytes);
    }
}

/// A specification in one text for each entry of its files: the entry, and what it refers to.
fn texts(
    spec: &Path,
    specification: &Specification,
    seeds: &mut Seeds,
    words: &mut Words,
) -> Result<(), Box<dyn std::error::Error>> {
    let read = |name: &str| std::fs::read_to_string(spec.join(name)).map_err(|error| format!("{name}: {error}"));
    let documents = read("documents.yaml")?;
    let files: BTreeSet<&PathBuf> = specification.clauses.iter().map(|clause| &clause.location.file).collect();
    let clauses: String = files.into_iter().map(std::fs::read_to_string).collect::<Result<_, _>>()?;
    let clauses: BTreeMap<&str, &str> = entries(&clauses).collect();
    let themes: BTreeSet<&PathBuf> = specification.cases.iter().map(|case| &case.location.file).collect();
    let (seeds, words) = (seeds.entry("spec_yaml").or_default(), words.entry("spec_yaml").or_default());
    words.extend(Op::ALL.iter().map(|op| op.name().to_owned()));
    words.extend(DType::ALL.iter().map(|dtype| dtype.name().to_owned()));
    for theme in themes {
        let text = std::fs::read_to_string(theme).map_err(|error| format!("{}: {error}", theme.display()))?;
        yaml_keys(&serde_yaml::from_str(&text)?, words);
        for (id, entry) in entries(&text) {
            let named: String = clauses.iter().filter(|(id, _)| entry.contains(**id)).map(|(_, text)| *text).collect();
            seeds.insert(file(id), [&documents, named.as_str(), entry].join("\n---\n").into_bytes());
        }
    }
    for case in &specification.cases {
        // As `Debug` of a finding shows it; once for each combination of operations is enough.
        let name = format!("program-{}", called(case));
        seeds.entry(name).or_insert_with(|| case::render::program(&case.program).into_bytes());
    }
    Ok(())
}

/// The lines and frames that an adapter is sent, and programs to make lines of.
fn messages(
    specification: &Specification,
    seeds: &mut Seeds,
    words: &mut Words,
) -> Result<(), Box<dyn std::error::Error>> {
    /// The first bytes of the target: lines or frames follow, or a program.
    const LINES: u8 = 0;
    const PROGRAM: u8 = 1;
    let (seeds, words) = (seeds.entry("protocol").or_default(), words.entry("protocol").or_default());
    let hello = Request::Hello { protocol: VERSION };
    let few = Hello { ops: vec![Op::ALL[0]], ..Reference.hello() };
    let answer = Response::Hello { protocol: VERSION, encodings: vec![Encoding::MessagePack], hello: few };
    for (name, message) in [("hello", serde_json::to_value(&hello)?), ("hello-answer", serde_json::to_value(&answer)?)]
    {
        json_words(&message, words);
        seeds.insert(name.to_owned(), [&[LINES], message.to_string().as_bytes()].concat());
    }
    for case in &specification.cases {
        let name = called(case);
        if seeds.contains_key(&name) {
            continue;
        }
        let request = Request::Run { seq: 1, program: Cow::Borrowed(&case.program) };
        let mut frame = vec![LINES];
        request.write(Encoding::MessagePack, &mut frame);
        seeds.insert(format!("{name}-frame"), frame);
        let message = serde_json::to_value(request)?;
        json_words(&message, words);
        json_words(&serde_json::to_value(Response::Ran { seq: 1, reply: Reference.run(&case.program) })?, words);
        seeds.insert(name.clone(), [&[LINES], message.to_string().as_bytes()].concat());
        if let Some(bytes) = generate::seed(&case.program) {
            seeds.insert(format!("program-{name}"), [vec![PROGRAM], bytes].concat());
        }
    }
    Ok(())
}

/// An id as the name of a file.
fn file(id: &str) -> String {
    id.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// The operations of a case and their forms, as a name of a file.
fn called(case: &Case) -> String {
    let calls: Vec<String> =
        case.program.steps.iter().map(|step| format!("{}.{:?}", step.op.name(), step.form)).collect();
    // Names of files have at most 255 bytes.
    calls.join("-").chars().take(200).collect()
}

/// The entries of a list in YAML, each with its id, as they are written.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    const START: &str = "- id: ";
    let starts = text.match_indices(START).map(|(at, _)| at).filter(|at| *at == 0 || text[..*at].ends_with('\n'));
    let starts: Vec<usize> = starts.collect();
    let ends = starts.clone().into_iter().skip(1).chain([text.len()]);
    starts.into_iter().zip(ends).map(|(start, end)| {
        let entry = &text[start..end];
        (entry[START.len()..].lines().next().unwrap_or_default().trim(), entry)
    })
}

fn yaml_keys(value: &serde_yaml::Value, words: &mut BTreeSet<String>) {
    match value {
        serde_yaml::Value::Mapping(mapping) => {
            for (key, value) in mapping {
                words.extend(key.as_str().filter(|key| is_word(key)).map(|key| format!("{key}: ")));
                yaml_keys(value, words);
            }
        }
        serde_yaml::Value::Sequence(items) => items.iter().for_each(|item| yaml_keys(item, words)),
        _ => {}
    }
}

fn json_words(value: &serde_json::Value, words: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                words.insert(format!("\"{key}\":"));
                json_words(value, words);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| json_words(item, words)),
        serde_json::Value::String(text) if is_word(text) => {
            words.insert(format!("\"{text}\""));
        }
        _ => {}
    }
}

/// True if this is a word of a format, and not a name or data of one case.
fn is_word(text: &str) -> bool {
    (3..=24).contains(&text.len()) && text.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '-')
}

/// A word as a dictionary of libFuzzer has it.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}
