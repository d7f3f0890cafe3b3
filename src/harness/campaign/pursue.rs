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
use super::bench::{Bench, Said};
use super::journal::{Book, Example, Pursued};
use super::tally::Tally;
use crate::case::load_program;
use crate::escape::{markdown_block, markdown_code, markdown_prose, one_line};
use crate::generate::{allows, shrink::shrink};
use crate::harness::compare::Side;
use crate::harness::finding::{Finding, Signature};
use crate::harness::triage::{self, Dossier, Expected, README};
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
        let name = match &finding {
            Some(finding) => report(setup, bench, finding, &folder)?,
            None => write(&folder, slug(&signature), &simplest, &signature)?,
        };
        let pursued = Pursued { folder: name, signature, reproduced, simplest };
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

/// Writes the folder of a finding that was seen again, and returns its name.
fn report(setup: &Setup, bench: &mut Bench, finding: &Finding, folder: &Path) -> Result<String, String> {
    let account = bench.account(finding)?;
    let expected = match &account.expected {
        Said::Reply(hello, reply) => Expected::Outcomes(Side { hello, reply }),
        Said::SameAs { rule, program, pairs } => Expected::SameAs { rule, program, pairs },
    };
    let (implementation, observed) = (&setup.subject.1, account.observed.as_ref());
    let dossier = Dossier { finding, expected, implementation, observed };
    triage::write(&dossier, &setup.specification, folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(triage::folder_name(finding))
}

/// Writes the folder of a finding that was not seen again, and returns its name. It is complete before it has its name.
fn write(findings: &Path, name: String, example: &Example, signature: &Signature) -> Result<String, String> {
    let (folder, unfinished) = (findings.join(&name), findings.join(format!(".{name}")));
    let write = || {
        fs::create_dir_all(&unfinished)?;
        fs::write(unfinished.join(README), text(example, signature))?;
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::rename(&unfinished, &folder)
    };
    write().map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(name)
}

/// What was wrong, and the program.
fn text(example: &Example, signature: &Signature) -> String {
    let title = one_line(&signature.to_string());
    let mut text =
        format!("# {title}\n\nIt was not seen again when the program was run once more, so it is not shrunk.\n\n");
    example.fault.iter().for_each(|fault| text.push_str(&format!("{}\n", markdown_prose(fault))));
    for difference in &example.differences {
        let [value, by] = [&difference.value, &difference.by].map(|text| markdown_prose(text));
        let [expected, observed] = [&difference.expected, &difference.observed].map(|text| markdown_code(text));
        text.push_str(&format!("- {value} {}, by the {by}\n", difference.aspect.name()));
        text.push_str(&format!("  - expected: {expected}\n  - observed: {observed}\n"));
    }
    text.push('\n');
    text.push_str(&markdown_block("yaml", &example.program));
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
