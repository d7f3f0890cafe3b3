//! The folders of `reports/findings/`: each program still shows on libtorch exactly what its folder says.

mod common;

use std::path::PathBuf;
use std::process::Command;

use broadcheck::adapter::{Hello, Implementation};
use broadcheck::harness::model::divergence::{self, Source, findings_folder};
use broadcheck::harness::runner::Runner;
use broadcheck::harness::triage::bisect::{self, Verdict};
use broadcheck::harness::{
    model::finding::FINDING,
    triage::{BROKEN, PRINTS, PYTHON, README, UNDESCRIBED},
};
use broadcheck::reference::Reference;
use common::SPECIFICATION;

/// The findings of which libtorch returns uninitialised memory.
const UNINITIALISED: [&str; 3] = [
    "reference-linalg-solve-out-values-c777a394",
    "reference-special-laguerre-polynomial-l-values-2d355ca9",
    "reference-special-legendre-polynomial-p-values-ee1a400a",
];

/// The findings that some processors do not show: MKL's small products read their factors before they write on those with
/// AVX512-FP16 (`some_processors` in `adapters/libtorch/divergences.yaml`). There they are right, and nothing else.
const SOME_PROCESSORS: [&str; 1] = ["reference-addbmm-out-values-78242cad"];

/// The findings of the divergences of this release that have changed, each with its present state.
fn changed(runner: &mut Runner, folders: &[PathBuf]) -> Vec<String> {
    let mut changed = Vec::new();
    for folder in folders {
        let recorded = bisect::read(folder).unwrap_or_else(|error| panic!("{error}"));
        let verdict = recorded.judge(runner);
        if verdict != Verdict::Same {
            changed.push(format!("{}: {}", folder.display(), verdict.text()));
        }
    }
    changed
}

fn folders() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(findings_folder().unwrap()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.join(FINDING).is_file()).collect();
    folders.sort();
    folders
}

/// As with the witnesses of a divergence: one that is right now is out of date, and one that is wrong in another way is
/// a new failure.
#[test]
fn libtorch_shows_every_finding_that_is_explained() {
    // The first time this installs it. Without libtorch nothing is shown, so that is a failure.
    let mut libtorch = common::libtorch().unwrap_or_else(|error| panic!("{error}"));
    let hello = libtorch.runner.hello();
    let mut named = Vec::new();
    for divergence in libtorch.divergences.iter().filter(|divergence| divergence.is_in(&hello)) {
        named.extend(divergence.findings.iter().map(|folder| findings_folder().unwrap().join(folder)));
    }
    assert!(!named.is_empty(), "no finding is of libtorch {}", hello.version);
    let mut changed = changed(&mut libtorch.runner, &named);
    changed.retain(|line| !SOME_PROCESSORS.iter().any(|name| line.ends_with(&format!("{name}: right"))));
    assert!(changed.is_empty(), "\n{}", changed.join("\n"));
}

/// A person pastes the program into an issue, and reads since when the finding is there.
#[test]
fn findings_are_short_and_say_since_when() {
    let folders = folders();
    assert!(folders.len() > 50, "{}", folders.len());
    for folder in folders {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let (program, readme) = (text(PYTHON), text(README));
        assert!(program.lines().count() <= 25, "{}: {} lines", folder.display(), program.lines().count());
        let told = [PRINTS, BROKEN, UNDESCRIBED].iter().any(|comment| program.contains(comment));
        assert!(told, "{}: it does not say what it prints", folder.display());
        assert!(!program.contains("def "), "{}", folder.display());
        assert!(readme.contains("| libtorch 2.13.0 | the same |"), "{}", folder.display());
        assert!(!readme.contains("Not explained yet"), "{}", folder.display());
    }
}

/// Each `repro.py` prints what its comments say, or ends the way that the adapter did, in the Python that
/// `BROADCHECK_PYTHON` names. It takes PyTorch of the release, which CI does not install.
#[test]
fn python_confirms_every_finding() {
    let Ok(python) = std::env::var("BROADCHECK_PYTHON") else {
        eprintln!("left out: BROADCHECK_PYTHON names no Python that has PyTorch");
        return;
    };
    let mut wrong = Vec::new();
    let folders = folders();
    for folder in &folders {
        let recorded = bisect::read(folder).unwrap_or_else(|error| panic!("{error}"));
        let program = folder.join(PYTHON);
        let ran = Command::new(&python).arg(&program).output().expect("Python starts");
        let text = std::fs::read_to_string(&program).unwrap();
        let promised: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix(PRINTS)).map(str::trim_end).collect();
        let printed = String::from_utf8_lossy(&ran.stdout);
        let confirmed = match recorded.signature.kind.as_str() {
            "crash" => ran.status.code().is_none(),
            _ if text.contains(UNDESCRIBED) => ran.status.success() && !printed.is_empty(),
            // Whatever the memory holds, but for what is expected.
            _ if UNINITIALISED.iter().any(|name| folder.ends_with(name)) => {
                let expected = text.lines().filter_map(|line| line.strip_prefix("# expected: "));
                ran.status.success() && !printed.is_empty() && !printed.lines().eq(expected)
            }
            _ => ran.status.success() && printed.lines().map(str::trim_end).eq(promised),
        };
        if !confirmed {
            let said = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
            wrong.push(format!("{}: {}\n{said}", folder.display(), ran.status));
        }
    }
    assert!(!folders.is_empty());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), folders.len(), wrong.join("\n"));
}

/// The reference does not contradict itself in a crash, and what it is compared with is itself, so that a finding of the
/// reference oracle is gone there. That is seen.
#[test]
fn a_finding_that_is_gone_is_detected() {
    let of_reference = |folder: &PathBuf| folder.file_name().unwrap().to_string_lossy().starts_with("reference-");
    let folders: Vec<PathBuf> = folders().into_iter().filter(of_reference).collect();
    assert!(!folders.is_empty());
    let told = changed(&mut Runner::Reference, &folders);
    assert_eq!(told.len(), folders.len(), "{told:?}");
    assert!(told.iter().all(|told| told.ends_with(": right")), "{told:?}");
}

/// Each folder says of itself that a divergence covers it, so that a campaign that meets it again counts it as known.
#[test]
fn findings_are_known_by_their_own_divergence() {
    let mut hello = Hello { name: "libtorch".to_owned(), version: "2.13.0".to_owned(), ..Reference.hello() };
    let divergences = divergence::load(&Source::Own, &hello, &SPECIFICATION).unwrap();
    for divergence in &divergences {
        for name in &divergence.findings {
            let recorded = bisect::read(&findings_folder().unwrap().join(name)).unwrap();
            recorded.build().clone_into(&mut hello.build);
            let finding = recorded.finding();
            let known = divergence::known(&divergences, &finding, &hello).map(|known| &known.id);
            assert_eq!(known, Some(&divergence.id), "{name}: {}", finding.signature);
        }
    }
}
