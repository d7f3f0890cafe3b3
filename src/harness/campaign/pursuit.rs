//! The reduction of the first finding of a signature: it is shrunk on a process of its own, so that the campaign
//! continues, and written to a folder.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::adapter::Limits;
use crate::campaign::executor::{Bench, Said};
use crate::campaign::supervised::{Unfinished, tenth};
use crate::campaign::tally::Tally;
use crate::campaign::{Setup, lock};
use crate::campaign::{
    journal::Journal,
    record::{Example, Pursued},
};
use crate::case::load_program;
use crate::escape::{markdown_block, markdown_code, markdown_prose, one_line};
use crate::generate::{Exclusion, Options, allows};
use crate::model::finding::{Finding, HANG, Signature};
use crate::oracles::comparison::Side;
use crate::program::Program;
use crate::reduce::shrink;
use crate::reference::DEATH;
use crate::triage::{self, Dossier, Expected, README, native};

/// The folder of the findings in that of the campaign.
pub const FOLDER: &str = "findings";

/// The longest time that one finding is shrunk for: each program that hangs takes its whole time.
const LONGEST: Duration = Duration::from_secs(60);

/// Shrinks what comes in until nothing more can come, or the campaign ends. What is left then is pursued when the
/// campaign is resumed.
///
/// # Errors
/// When the implementation cannot be started any more, or a file cannot be written.
pub fn pursue(
    setup: &Setup,
    journal: &Mutex<Journal>,
    findings: &Receiver<(Signature, Program)>,
    tell: impl Fn(),
) -> Result<(), String> {
    let mut bench: Option<Bench> = None;
    let folder = lock(journal).folder().join(FOLDER);
    let halt = setup.halt();
    for (signature, program) in findings {
        if halt.is_now() {
            return Ok(());
        }
        let bench = match &mut bench {
            Some(bench) => bench,
            none => match Bench::new(setup, halt.clone()) {
                Ok(bench) => none.insert(bench),
                Err(Unfinished::Halted(_)) => return Ok(()),
                Err(Unfinished::Failed(why)) => return Err(why),
            },
        };
        match pursue_one(setup, bench, journal, &signature, program, &folder) {
            Ok(()) => tell(),
            Err(Unfinished::Halted(_)) => return Ok(()),
            Err(Unfinished::Failed(why)) => return Err(why),
        }
    }
    Ok(())
}

fn pursue_one(
    setup: &Setup,
    bench: &mut Bench,
    journal: &Mutex<Journal>,
    signature: &Signature,
    program: Program,
    folder: &Path,
) -> Result<(), Unfinished> {
    let (finding, ended) = simplest(setup, bench, signature, program);
    let reproduced = finding.is_some();
    let simplest = match &finding {
        Some(finding) => Some(Example::of(finding)),
        // As it was found.
        None => example(lock(journal).tally(), signature).cloned(),
    };
    let Some(simplest) = simplest else { return ended };
    match (ended, finding) {
        (Err(Unfinished::Halted(busy)), Some(_)) => {
            keep(journal, signature, simplest, reproduced).map_err(Unfinished::Failed)?;
            Err(Unfinished::Halted(busy))
        }
        (Err(unfinished), _) => Err(unfinished),
        (Ok(()), finding) => {
            let name = match &finding {
                Some(finding) => {
                    bench.allow(setup.limits.program);
                    report(setup, bench, finding, folder)?
                }
                None => {
                    let why = "It was not seen again when the program was run once more, so it is not shrunk.";
                    write(folder, slug(signature), &simplest, signature, why).map_err(Unfinished::Failed)?
                }
            };
            let signature = signature.clone();
            let pursued = Pursued { folder: name, signature, reproduced, not_reduced: false, simplest };
            note(journal, pursued).map_err(Unfinished::Failed)
        }
    }
}

/// Keeps all that is not pursued yet as it was found.
///
/// # Errors
/// When a file cannot be written.
pub fn keep_the_rest(journal: &Mutex<Journal>) -> Result<(), String> {
    let rest: Vec<(Signature, Example)> = {
        let journal = lock(journal);
        let rest = journal.tally().new_groups().filter(|(_, found)| found.pursued.is_none());
        let first =
            rest.filter_map(|(group, found)| Some((group.signature.clone(), found.examples.first()?.1.clone())));
        first.collect()
    };
    rest.into_iter().try_for_each(|(signature, example)| keep(journal, &signature, example, false))
}

/// Writes down a finding that is not shrunk to the end.
fn keep(journal: &Mutex<Journal>, signature: &Signature, simplest: Example, reproduced: bool) -> Result<(), String> {
    let folder = lock(journal).folder().join(FOLDER);
    let why = "The campaign ended before it was reduced to its simplest program. `--resume` goes on with it.";
    let folder = write(&folder, slug(signature), &simplest, signature, why)?;
    note(journal, Pursued { folder, signature: signature.clone(), reproduced, not_reduced: true, simplest })
}

/// Writes down a finding that is never shrunk: the reference, which that takes, would end the process.
///
/// # Errors
/// When a file cannot be written.
pub fn leave(journal: &Mutex<Journal>, signature: &Signature) -> Result<(), String> {
    let (folder, simplest) = {
        let journal = lock(journal);
        (journal.folder().join(FOLDER), example(journal.tally(), signature).cloned())
    };
    let Some(simplest) = simplest else { return Ok(()) };
    let why = "It is not reduced: the reference ends the process whenever it is asked for this case.";
    let folder = write(&folder, slug(signature), &simplest, signature, why)?;
    note(journal, Pursued { folder, signature: signature.clone(), reproduced: true, not_reduced: false, simplest })
}

/// Writes down what became of a finding. The folder of what it was before, not reduced, is not needed any more.
fn note(journal: &Mutex<Journal>, pursued: Pursued) -> Result<(), String> {
    let mut journal = lock(journal);
    let group = journal.tally().new_groups().find(|(group, _)| group.signature == pursued.signature);
    let before = group.and_then(|(_, found)| found.pursued.as_ref()).filter(|before| before.not_reduced);
    let stale = before.filter(|before| before.folder != pursued.folder).map(|before| before.folder.clone());
    let folder = journal.folder().join(FOLDER);
    journal.pursued(pursued).map_err(|error| format!("the journal cannot be written: {error}"))?;
    match stale.map(|name| folder.join(name)) {
        Some(stale) if stale.is_dir() => {
            fs::remove_dir_all(&stale).map_err(|error| format!("{}: {error}", stale.display()))
        }
        _ => Ok(()),
    }
}

/// The findings that are not known divergences and are not shrunk yet, with the program of their first example, or the
/// simplest so far.
pub fn pending(tally: &Tally) -> Vec<(Signature, Program)> {
    let left = tally.new_groups().filter(|(group, found)| !found.is_reduced() && group.signature.kind != DEATH);
    left.filter_map(|(group, found)| {
        let example = match &found.pursued {
            Some(pursued) => &pursued.simplest,
            None => &found.examples.first()?.1,
        };
        let program = load_program(Path::new("journal"), &example.program).ok()?;
        Some((group.signature.clone(), program))
    })
    .collect()
}

fn example<'a>(tally: &'a Tally, signature: &Signature) -> Option<&'a Example> {
    let found = tally.new_groups().find(|(group, _)| group.signature == *signature);
    found.and_then(|(_, found)| found.examples.first()).map(|(_, example)| example)
}

/// The simplest program with the same signature that could be reached in time; `None` if it is not seen again. With it, why
/// it is not certain to be that.
fn simplest(
    setup: &Setup,
    bench: &mut Bench,
    signature: &Signature,
    program: Program,
) -> (Option<Finding>, Result<(), Unfinished>) {
    let oracles = [signature.oracle];
    let (whole, hangs) = (setup.limits.program, signature.kind == HANG);
    let mut failed = None;
    let mut again = |program: &Program, time: Duration| {
        bench.allow(time);
        match bench.findings(program, &oracles) {
            // What is known differs for another reason.
            Ok(findings) => {
                let same = |finding: &Finding| finding.signature == *signature && (setup.known)(finding).is_none();
                findings.into_iter().find(same)
            }
            Err(unfinished) => {
                failed.get_or_insert(unfinished);
                None
            }
        }
    };
    let halt = setup.halt();
    // A program that generated ones are never like is reduced to its like. Any other stays one that could be generated.
    let strict = Options { exclusions: Exclusion::ALL.to_vec(), ..setup.options.clone() };
    let options = if allows(&strict, &program) { &strict } else { &setup.options };
    let found = again(&program, whole);
    let mut simplest = found.clone();
    if simplest.is_some() {
        let begun = Instant::now();
        shrink(program, |candidate| {
            if halt.is_now() || begun.elapsed() > LONGEST {
                return false;
            }
            // A program that has no one outcome differs for another reason.
            if !allows(options, candidate) {
                return false;
            }
            let finding = again(candidate, if hangs { tenth(whole) } else { whole });
            let same = finding.is_some();
            simplest = finding.or(simplest.take());
            same
        });
        // What has no answer in a tenth of the time may have one later.
        if hangs && simplest.as_ref().is_some_and(|simplest| found.as_ref() != Some(simplest)) {
            simplest = simplest.and_then(|simplest| again(&simplest.program, whole)).or(found);
        }
    }
    let ended = failed.or_else(|| halt.is_now().then_some(Unfinished::Halted(None)));
    (simplest, ended.map_or(Ok(()), Err))
}

/// Writes the folder of a finding that was seen again below this one, and returns its name.
///
/// # Errors
/// When the implementation cannot be started any more, or a file cannot be written.
pub fn report(setup: &Setup, bench: &mut Bench, finding: &Finding, folder: &Path) -> Result<String, Unfinished> {
    let account = bench.account(finding)?;
    let expected = match &account.expected {
        Said::Reply(hello, reply) => Expected::Outcomes(Side { hello, reply }),
        Said::SameAs { rule, program, pairs, reply } => {
            Expected::SameAs { rule, program, pairs, reply: reply.as_ref() }
        }
    };
    let (implementation, observed) = (&setup.subject.1, account.observed.as_ref());
    let other = match expected {
        Expected::SameAs { program, .. } => Some(program),
        Expected::Outcomes(_) => None,
    };
    let native = native::ask(&setup.subject.0, implementation, &Limits::default(), &finding.program, other);
    let native = native.as_ref();
    let dossier = Dossier { finding, expected, implementation, observed, releases: "", known: None, native };
    let written = triage::write(&dossier, folder);
    written.map_err(|error| Unfinished::Failed(format!("{}: {error}", folder.display())))?;
    Ok(triage::folder_name(finding))
}

/// Writes the folder of a finding that is not shrunk, for this reason, and returns its name. It is complete before it has
/// its name.
fn write(findings: &Path, name: String, example: &Example, signature: &Signature, why: &str) -> Result<String, String> {
    let (folder, unfinished) = (findings.join(&name), findings.join(format!(".{name}")));
    let write = || {
        fs::create_dir_all(&unfinished)?;
        fs::write(unfinished.join(README), text(example, signature, why))?;
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::rename(&unfinished, &folder)
    };
    write().map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(name)
}

/// Writes what was wrong, and the program.
fn text(example: &Example, signature: &Signature, why: &str) -> String {
    let title = one_line(&signature.to_string());
    let mut text = format!("# {title}\n\n{why}\n\n");
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
