//! What becomes of the first finding of a signature: it is shrunk on a process of its own, so that the campaign goes on,
//! and written to a folder.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::Setup;
use super::bench::Bench;
use super::journal::{Book, Example, Pursued};
use super::tally::Tally;
use crate::case::load_program;
use crate::generate::{allows, shrink::shrink};
use crate::harness::finding::{Finding, Signature};
use crate::program::Program;

/// The folder of the findings in that of the campaign.
pub const FOLDER: &str = "findings";

/// The longest time that one finding is shrunk for: each program that hangs takes its whole time.
const LONGEST: Duration = Duration::from_secs(60);

/// Shrinks what comes in until nothing more can come, or the campaign is stopped. What is left then is in the journal and
/// is pursued when the campaign is resumed.
///
/// # Errors
/// When the implementation cannot be started any more, or a file cannot be written.
pub fn pursue(
    setup: &Setup,
    book: &Mutex<Book>,
    findings: &Receiver<(Signature, Program)>,
    tell: impl Fn(),
) -> Result<(), String> {
    let mut bench: Option<Bench> = None;
    let folder = book.lock().unwrap_or_else(PoisonError::into_inner).folder().join(FOLDER);
    for (signature, program) in findings {
        if setup.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let bench = match &mut bench {
            Some(bench) => bench,
            none => none.insert(Bench::new(setup)?),
        };
        let finding = simplest(setup, bench, &signature, program.clone())?;
        if setup.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let reproduced = finding.is_some();
        let simplest = match &finding {
            Some(finding) => Example::of(finding),
            // As it was found.
            None => {
                let book = book.lock().unwrap_or_else(PoisonError::into_inner);
                match example(book.tally(), &signature) {
                    Some(example) => example.clone(),
                    None => continue,
                }
            }
        };
        let pursued = Pursued { folder: slug(&signature), signature, reproduced, simplest };
        write(&folder, &pursued)?;
        let mut book = book.lock().unwrap_or_else(PoisonError::into_inner);
        book.pursued(pursued).map_err(|error| format!("the journal cannot be written: {error}"))?;
        drop(book);
        tell();
    }
    Ok(())
}

/// The findings that are not known divergences and have no folder yet, with the program of their first example.
pub fn pending(tally: &Tally) -> Vec<(Signature, Program)> {
    let left = tally.new_groups().filter(|(_, found)| found.pursued.is_none());
    left.filter_map(|(group, _)| {
        let program = load_program(Path::new("journal"), &example(tally, &group.signature)?.program).ok()?;
        Some((group.signature.clone(), program))
    })
    .collect()
}

fn example<'a>(tally: &'a Tally, signature: &Signature) -> Option<&'a Example> {
    let found = tally.new_groups().find(|(group, _)| group.signature == *signature);
    found.and_then(|(_, found)| found.examples.first()).map(|(_, example)| example)
}

/// The simplest program with the same signature that could be reached in time; `None` if it is not seen again.
fn simplest(
    setup: &Setup,
    bench: &mut Bench,
    signature: &Signature,
    program: Program,
) -> Result<Option<Finding>, String> {
    let oracles = [signature.oracle];
    let mut failed = None;
    let mut again = |program: &Program| match bench.findings(program, &oracles) {
        Ok(findings) => findings.into_iter().find(|finding| finding.signature == *signature),
        Err(error) => {
            failed = Some(error);
            None
        }
    };
    let mut simplest = again(&program);
    if simplest.is_some() {
        let begun = Instant::now();
        shrink(program, |candidate| {
            if setup.stop.load(Ordering::Relaxed) || begun.elapsed() > LONGEST {
                return false;
            }
            // A program that has no one outcome differs for another reason.
            if !allows(&setup.options, candidate) {
                return false;
            }
            let finding = again(candidate);
            let same = finding.is_some();
            simplest = finding.or(simplest.take());
            same
        });
    }
    failed.map_or(Ok(simplest), Err)
}

/// Writes the folder of a finding. It is complete before it has its name.
fn write(findings: &Path, pursued: &Pursued) -> Result<(), String> {
    let (folder, unfinished) = (findings.join(&pursued.folder), findings.join(format!(".{}", pursued.folder)));
    let write = || {
        fs::create_dir_all(&unfinished)?;
        fs::write(unfinished.join("case.yaml"), text(pursued))?;
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::rename(&unfinished, &folder)
    };
    write().map_err(|error| format!("{}: {error}", folder.display()))
}

/// The program as YAML, with what is wrong as comments.
fn text(pursued: &Pursued) -> String {
    let mut text = format!("# {}\n", pursued.signature);
    let mut remark = |line: &str| text.push_str(&format!("# {}\n", line.replace('\n', "\n# ")));
    if !pursued.reproduced {
        remark("It was not seen again when the program was run once more, so it is not shrunk.");
    }
    pursued.simplest.fault.iter().for_each(|fault| remark(fault));
    for difference in &pursued.simplest.differences {
        remark(&format!("{} {}, by the {}", difference.value, difference.aspect.name(), difference.by));
        remark(&format!("  expected: {}", difference.expected));
        remark(&format!("  observed: {}", difference.observed));
    }
    text.push_str("program:\n");
    pursued.simplest.program.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
    text
}

/// The name of a signature's folder: what a person recognises of it, and a hash of the whole.
fn slug(signature: &Signature) -> String {
    let words: String =
        signature.to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
    let mut slug = String::new();
    for word in words.to_lowercase().split_whitespace() {
        if slug.len() + word.len() > 60 {
            break;
        }
        slug.push_str(word);
        slug.push('-');
    }
    let hash = Sha256::digest(signature.to_string());
    hash.iter().take(3).for_each(|byte| slug.push_str(&format!("{byte:02x}")));
    slug
}
