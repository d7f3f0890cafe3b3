//! The folders of `reports/findings/`: each program still shows on libtorch exactly what its folder says.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use broadcheck::harness::model::divergence::{self, Divergence, Kind, findings_folder};
use broadcheck::harness::oracles::{mathematics, metamorphic};
use broadcheck::harness::runner::Runner;
use broadcheck::harness::triage::bisect::{self, Verdict};
use broadcheck::harness::{
    model::finding::{FINDING, Oracle},
    triage::{BROKEN, Language, PRINTS, README, UNDESCRIBED, repro},
};
use broadcheck::install::Catalog;
use broadcheck::program::Program;
use broadcheck::report::confirmed::{CONFIRMED, Confirmed};
use common::SPECIFICATION;

/// The bugs of libtorch that no program in PyTorch's Python shows, each with the reason.
const NOT_IN_PYTHON: &[(&str, &str)] = &[
    ("negative-sizes-beside-zero", "the adapter cannot describe the tensor, so that no program says what is printed"),
    ("sums-are-not-fused-without-vector-loops", "libtorch takes ATEN_CPU_CAPABILITY=default for it"),
    ("huber-loss-warns-of-a-tensor-of-its-own", "operators hand no warning to Python"),
];

/// The bugs that every release has whose Python has the function.
const AS_OLD_AS_THE_FUNCTION: &[&str] = &["masked-scores-overflow"];

/// The releases in the range of a bug in which its program was not shown, each with the reason.
const NOT_SHOWN_IN: &[(&str, &[&str], &str)] = &[
    ("variance-of-everything-in-another-dtype", &["1.13.1"], "torch.var takes no out= without dim"),
    ("variance-into-a-narrower-out", &["1.13.1"], "torch.var takes no out= without dim"),
    ("leaf-that-is-its-own-gradient", &["1.13.1"], "tensors have no untyped_storage"),
    ("product-of-one-vector-is-the-vector", &["1.13.1"], "tensors have no untyped_storage"),
    ("degrees-of-freedom-that-overflow", &["1.13.1"], "torch.std takes no correction without dim"),
    ("attention-of-rows-that-are-hidden", &["1.13.1"], "the function is not there"),
    ("gradient-of-a-soft-margin-in-the-dtype-of-its-target", &["1.13.1"], "libtorch is right in its program"),
    (
        "gradient-of-soft-margin-loss-overflows-on-the-way",
        &["1.13.1", "2.0.0", "2.0.1"],
        "libtorch is right in its program of float16, and wrong in others of bfloat16",
    ),
    (
        "floors-of-rounded-quotients",
        &["2.1.0", "2.1.1", "2.1.2"],
        "floor_divide is right in its program, and div is wrong in others",
    ),
    (
        "attention-of-heads-with-a-mask-of-few-dimensions",
        &["2.0.0", "2.0.1", "2.1.0", "2.1.1", "2.1.2", "2.2.0", "2.2.1", "2.2.2"],
        "its cases are witnesses since 2.3",
    ),
];

/// The bugs of libtorch 2.13.0 that the reference alone sees, each with the reason why neither mathematics nor a relation
/// between two programs can say it.
const BY_THE_REFERENCE_ALONE: &[(&str, &str)] = &[
    ("errors-of-indices-into-nothing", "it is a message"),
    ("triangles-of-shared-memory", "no rule says which targets are rejected"),
    ("grids-print-their-elements", "it is a message"),
    ("bool-targets-of-loss-gradients-in-backward", "the mathematics of gradients does not judge what is rejected"),
    ("loss-gradients-warn-in-backward", "it is a warning, of which no document says when it is due"),
    ("gradient-of-a-fill-at-negative-indices", "the mathematics of gradients does not judge what is rejected"),
    ("repeats-a-negative-number-of-times", "the mathematics of gradients does not judge what is rejected"),
    ("gradient-of-a-number-put-into-nothing", "the mathematics of gradients does not judge what is rejected"),
    ("gradient-of-a-short-distance-in-16-bits", "mathematics takes no derivative of this loss"),
    ("index-add-drops-indices-into-nothing", "no rule says which indices are rejected"),
    ("indices-of-nothing-have-no-range", "no rule says which indices are rejected"),
    ("taken-indices-are-divided-by-the-size", "no rule says which indices are rejected"),
    (
        "second-gradient-of-cross-entropies-at-certainty",
        "mathematics takes no derivative of this kernel, which no page describes",
    ),
    ("running-extremes-of-nothing-along-any-dimension", "no rule says which dimensions are rejected"),
    ("vecdot-of-vectors-along-any-dimension", "no rule says which dimensions are rejected"),
    ("complex-product-by-its-place", "both results are within the error bound of a product of complex numbers"),
    ("truth-of-complex-numbers-into-bytes", "it is a warning, of which no document says when it is due"),
    ("gradient-of-where-warns-again", "it is a warning, of which no document says when it is due"),
    (
        "gradient-of-a-mask-beside-an-absent-index",
        "an absent index is PyTorch's own: no document says what a surplus one means",
    ),
    ("variance-counts-an-expanded-out", "it is a warning, and whether the call is to be rejected is left open"),
    ("binomial-warns-of-a-resize", "it is a warning, of which no document says when it is due"),
    (
        "gradient-of-pseudoinverses",
        "results that are rounded are not differentiated, as those of linear equations are not",
    ),
    ("ranks-into-one-element", "no rule but the reference's says when out= may overlap itself"),
    ("triangles-of-two-dtypes", "the operands of linear equations are not promoted, so that none may be converted"),
    ("addr-rounds-its-factors", "mathematics leaves open what a factor comes to that the dtype has to round"),
    (
        "gradient-of-an-interpolation-by-truths",
        "the operands of an interpolation are not promoted, so that none may be converted",
    ),
];

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
    let changed = changed(&mut libtorch.runner, &named);
    assert!(changed.is_empty(), "\n{}", changed.join("\n"));
}

/// A person pastes the program into an issue, and reads since when the finding is there.
#[test]
fn findings_are_short_and_say_since_when() {
    let folders = folders();
    assert!(folders.len() > 50, "{}", folders.len());
    for folder in folders {
        let (program, readme) = (python_of(&folder), std::fs::read_to_string(folder.join(README)).unwrap());
        assert!(program.lines().count() <= 25, "{}: {} lines", folder.display(), program.lines().count());
        let told = [PRINTS, BROKEN, UNDESCRIBED].iter().any(|comment| program.contains(comment));
        assert!(told, "{}: it does not say what it prints", folder.display());
        assert!(!program.contains("def "), "{}", folder.display());
        let release = readme.split("\nIn ").nth(1).and_then(|text| text.split(". Expected").next()).unwrap_or_default();
        let shown = readme.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" | the same |"));
        assert!(shown.clone().any(|releases| has(releases, release)), "{}", folder.display());
        assert!(!readme.contains("Not explained yet"), "{}", folder.display());
    }
}

/// Whether a line of the table of releases has this one: `libtorch 2.0.0 to 2.1.0 (3 releases)`.
fn has(line: &str, release: &str) -> bool {
    let numbers = |version: &str| version.split('.').map(|part| part.parse().unwrap()).collect::<Vec<u32>>();
    let versions = |text: &str| {
        let is_version = |word: &&str| word.contains('.');
        text.split([' ', ',']).filter(is_version).map(numbers).collect::<Vec<_>>()
    };
    let (line, release) = (versions(line), versions(release).remove(0));
    line[0] <= release && release <= line[line.len() - 1]
}

/// The program in the README of a finding.
fn python_of(folder: &Path) -> String {
    let readme = std::fs::read_to_string(folder.join(README)).unwrap();
    let (_, rest) = readme.split_once("```python\n").unwrap_or_else(|| panic!("{}: no program", folder.display()));
    rest.split_once("```\n").unwrap_or_else(|| panic!("{}: no end", folder.display())).0.to_owned()
}

/// `BROADCHECK_WRITE=1` writes it anew.
#[test]
fn readmes_have_the_program_that_repro_prints() {
    for folder in folders() {
        let recorded = bisect::read(&folder).unwrap_or_else(|error| panic!("{error}"));
        let printed = recorded.with_dossier("", None, |dossier| repro(dossier, Language::Python));
        let program = python_of(&folder);
        if std::env::var_os("BROADCHECK_WRITE").is_some() {
            let readme = std::fs::read_to_string(folder.join(README)).unwrap().replace(&program, &printed);
            std::fs::write(folder.join(README), readme).expect("the README can be written");
        } else {
            assert_eq!(program, printed, "{}", folder.display());
        }
    }
}

/// `broadcheck confirm --releases all` has run the program of every bug in PyTorch's Python. It showed the bug in each release
/// that has it, and in none that has not; at least one of these was asked, if there is one.
#[test]
fn python_confirms_every_bug() {
    let confirmed = Confirmed::read(&findings_folder().unwrap().with_file_name(CONFIRMED)).unwrap();
    let releases: Vec<String> =
        Catalog::built_in().releases().iter().rev().map(|release| release.version.clone()).collect();
    let (mut wrong, mut alone) = (Vec::new(), BTreeSet::new());
    let divergences = divergence::all_of("libtorch", &SPECIFICATION).unwrap();
    let bugs: Vec<&Divergence> = divergences.iter().filter(|known| known.kind == Kind::Bug).collect();
    for bug in &bugs {
        let is_in = |release: &String| bug.releases.iter().any(|range| range.contain(release));
        let Some(asked) = confirmed.of(&bug.id).filter(|asked| !asked.shown.is_empty()) else {
            alone.insert(bug.id.as_str());
            continue;
        };
        let is_old = AS_OLD_AS_THE_FUNCTION.contains(&bug.id.as_str());
        let has_not = !is_old && releases.iter().any(|release| !is_in(release));
        let listed = NOT_SHOWN_IN.iter().find(|(id, ..)| *id == bug.id).map_or(&[][..], |(_, releases, _)| releases);
        let missed: Vec<&str> =
            releases.iter().filter(|one| is_in(one) && !asked.shown.contains(one)).map(|one| &**one).collect();
        if !asked.shown.iter().all(is_in) || missed != listed || has_not && asked.not_shown.is_empty() {
            wrong.push(format!("{}: {}", bug.id, confirmed.cell(&bug.id, &releases)));
        }
    }
    println!("{} bugs, {} of them not shown in Python", bugs.len(), alone.len());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    let listed: BTreeSet<&str> = NOT_IN_PYTHON.iter().map(|(id, _)| *id).collect();
    assert_eq!(alone, listed);
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
    let divergences = divergence::all_of("libtorch", &SPECIFICATION).unwrap();
    for divergence in &divergences {
        for name in &divergence.findings {
            let recorded = bisect::read(&findings_folder().unwrap().join(name)).unwrap();
            let finding = recorded.finding();
            let known = divergence::known(&divergences, &finding, &recorded.hello()).map(|known| &known.id);
            assert_eq!(known, Some(&divergence.id), "{name}: {}", finding.signature);
        }
    }
}

/// Who sees each bug of libtorch without the reference: mathematics, or a relation between programs, in the programs that are
/// kept, or in those of campaigns, whose signatures are kept. A bug that ends the process, or the adapter, needs no word.
#[test]
fn bugs_are_seen_without_the_reference() {
    let mut libtorch = common::libtorch().unwrap_or_else(|error| panic!("{error}"));
    let hello = libtorch.runner.hello();
    let bugs = libtorch.divergences.iter().filter(|known| known.is_in(&hello) && known.kind == Kind::Bug);
    let mut alone = BTreeSet::new();
    let mut count = 0;
    for bug in bugs {
        let others = bug.signature.iter().map(|pattern| pattern.oracle).filter(|oracle| *oracle != Oracle::Reference);
        let mut words: BTreeSet<String> = others.map(|oracle| format!("{} in campaigns", oracle.name())).collect();
        for program in programs_of(bug) {
            words.extend(words_on(&mut libtorch.runner, &program));
        }
        count += 1;
        println!("{}: {}", bug.id, words.iter().map(String::as_str).collect::<Vec<_>>().join(", "));
        if words.is_empty() {
            alone.insert(bug.id.as_str());
        }
    }
    println!("{count} bugs, {} of them seen by the reference alone", alone.len());
    let listed: BTreeSet<&str> = BY_THE_REFERENCE_ALONE.iter().map(|(id, _)| *id).collect();
    assert!(count > 90, "{count}");
    assert_eq!(alone, listed);
}

/// The programs of the findings and of the witnesses of a divergence.
fn programs_of(known: &Divergence) -> Vec<Program> {
    let findings = known.findings.iter().map(|name| {
        let recorded = bisect::read(&findings_folder().unwrap().join(name)).unwrap_or_else(|error| panic!("{error}"));
        recorded.finding().program
    });
    let witnesses = known.witnesses.iter().filter_map(|witness| {
        let case = SPECIFICATION.cases.iter().find(|case| case.id == witness.case)?;
        Some(case.program.clone())
    });
    findings.chain(witnesses).collect()
}

/// The oracles, but for the reference, that find a fault in what libtorch makes of a program.
fn words_on(runner: &mut Runner, program: &Program) -> BTreeSet<String> {
    let mut run = |program: &Program| {
        let mut came = None;
        runner.run_each(&[program], |_, answer| came = Some(answer));
        came.expect("an answer")
    };
    let Ok(reply) = run(program) else { return BTreeSet::from(["fault".to_owned()]) };
    let mut differences = mathematics::judge(program, &reply);
    differences.extend(metamorphic::own_faults(program, &reply));
    for follow_up in metamorphic::all(program, &reply) {
        if let Ok(other) = run(&follow_up.program) {
            differences.extend(follow_up.judge(program, &reply, &other));
        }
    }
    let failed = reply.steps.iter().any(|step| matches!(step.outcome, broadcheck::program::Outcome::Failed(_)));
    let faults = failed.then(|| "fault".to_owned());
    differences.into_iter().map(|difference| difference.by).chain(faults).collect()
}
