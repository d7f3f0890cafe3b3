//! Folders of findings: their texts as snapshots, their cases loaded, their Python compiled, and the same finding looked
//! for in other implementations.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use broadcheck::adapter::{Fault, FaultKind, Hello, Implementation};
use broadcheck::case::{load_files, load_program};
use broadcheck::harness::model::divergence::{self, Divergence, Kind, Source};
use broadcheck::harness::model::finding::{Finding, Oracle};
use broadcheck::harness::oracles::comparison::{Side, from_reference};
use broadcheck::harness::oracles::specification::judge;
use broadcheck::harness::triage::native::{Native, Script};
use broadcheck::harness::{Aspect, Difference, format};
use broadcheck::harness::{
    model::finding::FINDING,
    triage::{Dossier, Expected, Language, README, as_case, files, folder_name, repro, write},
};
use broadcheck::install::Catalog;
use broadcheck::program::{Outcome, Program, Reply, Step, Value};
use broadcheck::reference::Reference;
use common::SPECIFICATION;

/// Programs and what an implementation is said to have made of the named step: a changed text, or a changed element.
const FOUND: &[(&str, &str, Wrong)] = &[
    (
        "values",
        "{x: {values: [[1.5, .nan], [-0.0, .inf]]}, y: {shape: [2]}, r: {add: [x, y], alpha: 2}}",
        Wrong::Element,
    ),
    ("message", "{x: {shape: [2]}, y: {shape: [3]}, r: {add_: [x, y]}}", Wrong::Message),
    ("accepted", "{x: {shape: [2]}, y: {shape: [3]}, r: {mul: [x, y]}}", Wrong::Accepted),
    ("refused", "{x: {values: [-9223372036854775808, 1]}, r: {sum: [x], dim: 0, keepdim: true}}", Wrong::Refused),
    (
        "gradient",
        "{x: {shape: [2], requires_grad: true}, s: {sum: [x]}, done: {backward: [s]}, g: {grad: [x]}}",
        Wrong::Element,
    ),
    ("view", "{x: {shape: [2, 3]}, r: {index: [x, \"..., None\"]}}", Wrong::Strides),
    ("loss", "{x: {shape: [2]}, t: {values: [0.5, 0.25]}, r: {mse_loss: [x, t], reduction: none}}", Wrong::Element),
    ("einsum", "{a: {shape: [2, 3]}, b: {shape: [3, 2]}, r: {einsum: [\"ij,jk->ik\", a, b]}}", Wrong::Element),
    (
        "out",
        "{x: {shape: [2], dtype: complex64}, o: {shape: [0], dtype: complex64}, r: {mul: [x, x], out: o}}",
        Wrong::Element,
    ),
    ("crash", "{x: {shape: [2], dtype: int32}, r: {div: [x, x], rounding_mode: trunc}}", Wrong::Crash),
];

#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Element,
    Message,
    Accepted,
    Refused,
    Strides,
    Crash,
}

/// An implementation that says of itself what the reference does, under another name.
fn implementation() -> Hello {
    Hello { name: "other".to_owned(), version: "1.2".to_owned(), build: String::new(), ..Reference.hello() }
}

/// The finding, what the reference expects, and what was observed.
fn found(program: &str, wrong: Wrong) -> (Finding, Reply, Option<Reply>) {
    let program = load_program(Path::new("found.yaml"), program).unwrap_or_else(|fault| panic!("{fault}"));
    let expected = Reference.run(&program);
    let mut observed = expected.clone();
    let last = observed.steps.last_mut().expect("a step");
    match (wrong, &mut last.outcome) {
        (Wrong::Element, Outcome::Value(Value::Tensor(tensor))) => *tensor.data.last_mut().unwrap() ^= 1,
        (Wrong::Strides, Outcome::Value(Value::Tensor(tensor))) => tensor.strides = Some(vec![1, 2, 6]),
        (Wrong::Message, Outcome::Rejected(rejected)) => rejected.message.push('?'),
        (Wrong::Accepted, outcome) => *outcome = Outcome::Value(Value::Nothing),
        (Wrong::Refused, outcome) => {
            let text = "{\"rejected\": {\"message\": \"sum is not for today\"}}";
            *outcome = serde_json::from_str(text).unwrap();
        }
        (Wrong::Crash, _) => {
            let status = "signal: 8 (SIGFPE)".to_owned();
            let fault = Fault { kind: FaultKind::Crashed { status }, confirmed: true, stderr: "oh\n".to_owned() };
            return (Finding::of_fault(Oracle::Reference, &program, fault), expected, None);
        }
        (_, outcome) => panic!("{outcome:?}"),
    }
    let (reference, other) = (Reference.hello(), implementation());
    let (wanted, got) = (Side { hello: &reference, reply: &expected }, Side { hello: &other, reply: &observed });
    let finding = Finding::of_differences(Oracle::Reference, &program, from_reference(&program, wanted, got));
    (finding.expect("it differs"), expected, Some(observed))
}

/// A function that is applied to each of the findings.
fn each(mut told: impl FnMut(&str, &Dossier)) {
    for (name, program, wrong) in FOUND {
        let (finding, expected, observed) = found(program, *wrong);
        let (reference, other) = (Reference.hello(), implementation());
        let expected = Expected::Outcomes(Side { hello: &reference, reply: &expected });
        let observed = observed.as_ref();
        told(
            name,
            &Dossier {
                finding: &finding,
                expected,
                implementation: &other,
                observed,
                releases: "",
                known: None,
                native: None,
            },
        );
    }
    let (mut finding, expected, observed) = found(FOUND[0].1, FOUND[0].2);
    finding.signature.oracle = Oracle::Definition;
    let program = by_hand();
    let pairs = [("r".to_owned(), "r".to_owned())];
    let reply = Reference.run(&program);
    let same = Expected::SameAs { rule: "expanded", program: &program, pairs: &pairs, reply: Some(&reply) };
    let (other, observed) = (implementation(), observed.as_ref());
    drop(expected);
    told(
        "same",
        &Dossier {
            finding: &finding,
            expected: same,
            implementation: &other,
            observed,
            releases: "",
            known: None,
            native: None,
        },
    );
}

fn by_hand() -> Program {
    let text = "{x: {values: [[1.5, .nan], [-0.0, .inf]]}, y: {shape: [2]}, e: {expand: [y, [2, 2]]}, \
                c: {contiguous: [e]}, r: {add: [x, c], alpha: 2}}";
    load_program(Path::new("same.yaml"), text).unwrap_or_else(|fault| panic!("{fault}"))
}

/// A library in Rust that contradicts itself has both programs in one file, each with a `main` of its own.
#[test]
fn two_programs_in_rust_are_two_modules() {
    let program = |sum: &str| format!("use toy::Array;\n\nfn main() {{\n    {sum};\n}}\n// prints: r: [3]\n");
    let native = Native { language: Script::Rust, program: program("x + y"), other: Some(program("y + x")) };
    let mut seen = 0;
    each(|name, dossier| {
        let implementation =
            Hello { name: "toy".to_owned(), capabilities: Vec::new(), ..dossier.implementation.clone() };
        let alone = Native { other: None, ..native.clone() };
        if name == FOUND[0].0 {
            let text = files(&Dossier { native: Some(&alone), implementation: &implementation, ..*dossier }, name);
            let (_, text) = text.into_iter().find(|(file, _)| *file == "repro.rs").expect("a program");
            assert!(text.ends_with(&alone.program), "{text}");
            seen += 1;
        }
        if name == "same" {
            let text = files(&Dossier { native: Some(&native), implementation: &implementation, ..*dossier }, name);
            let (_, text) = text.into_iter().find(|(file, _)| *file == "repro.rs").expect("a program");
            let outer = "    program::main().report();\n    equivalent::main().report();\n}\n";
            assert!(text.contains(outer) && text.matches("\npub fn main()").count() == 2, "{text}");
            assert!(text.contains("\nmod program {\n") && text.contains("\nmod equivalent {\n"), "{text}");
            seen += 1;
        }
    });
    assert_eq!(seen, 2);
}

#[test]
fn folders_are_as_reviewed() {
    each(|name, dossier| {
        let folder = folder_name(dossier.finding);
        let mut text = format!("==> as a case\n{}\n", as_case(dossier, &SPECIFICATION, &folder));
        for (file, content) in files(dossier, &folder) {
            // What all programs in Rust begin with is in the sources.
            let content = if file == FINDING { "…\n".to_owned() } else { content };
            text += &format!("==> {file}\n{content}\n");
        }
        let rust = repro(dossier, Language::Rust);
        let rust = rust.split_once("\n#[rustfmt::skip]").map_or(rust.as_str(), |(_, rest)| rest);
        text += &format!("==> in Rust\n{rust}\n");
        insta::assert_snapshot!(format!("finding-{name}"), text);
    });
}

/// A case loads among the others, holds on the reference, and is broken by what was found.
#[test]
fn cases_of_findings_load_hold_and_turn_red() {
    each(|name, dossier| {
        let folder = folder_name(dossier.finding);
        let text = as_case(dossier, &SPECIFICATION, &folder);
        let in_folder = |folder: &str| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut sources: Vec<(PathBuf, String)> = in_folder("spec")
            .chain(in_folder("spec/clauses"))
            .chain(in_folder("spec/regressions"))
            .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
            .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
            .collect();
        sources.push((format!("spec/regressions/{folder}.yaml").into(), text.clone()));
        let specification = load_files(&sources).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
        let cases: Vec<_> = specification.cases.iter().filter(|case| case.theme() == folder).collect();
        assert!(!cases.is_empty(), "{name}");
        for case in &cases {
            let differences = judge(case, &Reference.hello(), &Reference.run(&case.program));
            assert!(differences.is_empty(), "{name}: {differences:?}\n{text}");
        }
        let case = cases.iter().find(|case| case.id.ends_with("/found")).unwrap();
        assert_eq!(case.program, dossier.finding.program, "{name}");
        if let Some(observed) = dossier.observed {
            assert!(!judge(case, dossier.implementation, observed).is_empty(), "{name} is not noticed\n{text}");
        }
    });
}

#[test]
fn python_compiles() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    each(|name, dossier| {
        let path = folder.path().join(format!("{name}.py"));
        std::fs::write(&path, repro(dossier, Language::Python)).unwrap();
        paths.push(path);
    });
    let compiled = Command::new("python3").args(["-m", "py_compile"]).args(&paths).output().expect("python3 is there");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    std::fs::write(&paths[0], "def f(:\n").unwrap();
    let wrong = Command::new("python3").args(["-m", "py_compile"]).arg(&paths[0]).output().unwrap();
    assert!(!wrong.status.success(), "a fault of syntax is not seen");
}

/// A finding of a message, on adapters that get every message wrong, none, and that end in the middle.
#[test]
fn bisect_lists_the_releases_that_show_a_finding() {
    let root = tempfile::tempdir().unwrap();
    let program = "{x: {shape: [1, 3, 1]}, y: {shape: [3, 1, 7]}, r: {add_: [x, y]}}";
    let program = load_program(Path::new("found.yaml"), program).unwrap();
    let mut liar = common::faulty("wrong-message", Default::default()).unwrap();
    let hello = liar.runner.hello();
    let mut observed = None;
    liar.runner.run_each(std::slice::from_ref(&program), |_, reply| observed = Some(reply.unwrap()));
    let (observed, reference, expected) = (observed.unwrap(), Reference.hello(), Reference.run(&program));
    let (wanted, got) = (Side { hello: &reference, reply: &expected }, Side { hello: &hello, reply: &observed });
    let finding = Finding::of_differences(Oracle::Reference, &program, from_reference(&program, wanted, got)).unwrap();
    let expected = Expected::Outcomes(wanted);
    let observed = Some(&observed);
    let dossier = Dossier {
        finding: &finding,
        expected,
        implementation: &hello,
        observed,
        releases: "",
        known: None,
        native: None,
    };
    let folder = write(&dossier, root.path()).unwrap();

    let faulty = common::faulty_binary();
    let bisect = |faults: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_broadcheck"));
        command.arg("bisect").arg(&folder);
        for fault in faults {
            command.args(["--impl", &format!("'{}' {fault}", faulty.display())]);
        }
        let ran = command.output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
    };
    let (code, table, _) = bisect(&["honest", "wrong-message", "grows-target"]);
    assert_eq!(code, Some(1), "{table}");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| faulty")).collect();
    assert!(rows[0].ends_with("| right |") && rows[1].ends_with("| the same |"), "{table}");
    assert!(rows[2].contains("| another difference: "), "{table}");
    assert!(table.contains("It is there since"), "{table}");
    let readme = std::fs::read_to_string(folder.join(README)).unwrap();
    assert!(readme.contains(table.trim()), "{readme}");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("bisect.json")).unwrap()).unwrap();
    let verdicts: Vec<&str> =
        json["releases"].as_array().unwrap().iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["right", "same", "another"]);

    let (code, table, _) = bisect(&["honest"]);
    assert_eq!(code, Some(0), "{table}");
    assert!(table.contains("It is in none of these."), "{table}");
    let (code, table, _) = bisect(&["wrong-message"]);
    assert_eq!(code, Some(1), "{table}");
    assert!(table.contains("One release alone says nothing"), "{table}");
    let (code, table, said) = bisect(&["no-such-fault"]);
    assert_eq!(code, Some(2), "{table}{said}");
    std::fs::remove_file(folder.join(FINDING)).unwrap();
    let (code, _, said) = bisect(&["honest"]);
    assert!(code == Some(2) && said.contains("finding.json"), "{said}");
}

/// Every divergence that says where it may be met is met in its own witnesses; an input that something is written to is
/// no step of them, so that those are left out. What goes wrong there in another way is not known. Where other releases
/// are otherwise, that shows in the event files (`tests/reports.rs`).
#[test]
fn known_divergences_are_recognised_in_their_witnesses() {
    let hello = Hello { name: "libtorch".to_owned(), version: "2.13.0".to_owned(), ..Reference.hello() };
    let divergences = divergence::load(&Source::Own, &hello, &SPECIFICATION).unwrap();
    let (catalog, mut met) = (Catalog::built_in(), 0);
    let here = |divergence: &&Divergence| !divergence.signature.is_empty() && divergence.kind != Kind::Changed;
    for divergence in divergences.iter().filter(here) {
        let hello = Hello { build: divergence.builds.first().cloned().unwrap_or_default(), ..hello.clone() };
        // In libtorch 2.13.0, or in the newest release that it is in.
        let versions = catalog.releases().iter().map(|release| release.version.clone());
        let versions = std::iter::once(hello.version.clone()).chain(versions);
        let mut hellos = versions.map(|version| Hello { version, ..hello.clone() });
        let hello = hellos.find(|hello| divergence.is_in(hello)).expect("it is in a release");
        for witness in
            divergence.witnesses.iter().filter(|_| divergence.signature.iter().all(|one| one.call != "input"))
        {
            // Of what has another text in each release there is nothing to recognise.
            let mut texts = witness.observed.values().flat_map(|aspects| aspects.values()).peekable();
            if texts.peek().is_some() && texts.all(|text| text == "*") {
                continue;
            }
            let case = SPECIFICATION.cases.iter().find(|case| case.id == witness.case).unwrap();
            let mut program = case.program.clone();
            // What ends the process is the step, and not what would have come after it.
            let culprit = |step: &Step| divergence.applies.iter().any(|one| one.ops.iter().any(|op| op.0 == step.op));
            if let Some(at) = program.steps.iter().position(culprit).filter(|_| witness.broken.is_some()) {
                program.steps.truncate(at + 1);
            }
            let mut finding = pinned(&program, &witness.observed, witness.broken.as_deref());
            let known = divergence::known(&divergences, &finding, &hello).map(|known| &known.id);
            assert_eq!(known, Some(&divergence.id), "{}: {}", case.id, finding.signature);
            let listed = |kind: &&str| divergence.signature.iter().any(|one| one.kind == *kind);
            let other = ["dtype", "strides"].into_iter().find(|kind| !listed(kind)).expect("a kind that it has not");
            finding.signature.kind = other.to_owned();
            assert_eq!(divergence::known(&divergences, &finding, &hello), None, "{} in another way", case.id);
            let other = Hello { version: "2.12.0".to_owned(), ..hello.clone() };
            assert_eq!(divergence::known(&divergences, &finding, &other), None, "{} in another release", case.id);
            met += 1;
        }
    }
    assert!(met > 50, "{met}");
}

/// The finding that the pinned outcomes of a case are.
fn pinned(program: &Program, observed: &BTreeMap<String, BTreeMap<Aspect, String>>, broken: Option<&str>) -> Finding {
    if let Some(broken) = broken {
        let signal = if broken.contains("signal: 11") { "signal: 11 (SIGSEGV)" } else { "signal: 8 (SIGFPE)" };
        let kind = FaultKind::Crashed { status: signal.to_owned() };
        return Finding::of_fault(Oracle::Reference, program, Fault { kind, confirmed: true, stderr: String::new() });
    }
    let reply = Reference.run(program);
    let differences = program.steps.iter().zip(&reply.steps).flat_map(|(step, answer)| {
        let expected = format::outcome(&answer.outcome);
        // Several results have a name each.
        let of_step = observed.iter().filter(|(value, _)| value.split('.').next() == Some(step.name.as_str()));
        let aspects = of_step.flat_map(|(value, aspects)| aspects.iter().map(move |aspect| (value, aspect)));
        aspects.map(move |(value, (aspect, observed))| {
            // Of warnings, the reference gives none where libtorch differs in them.
            let (expected, observed) = match aspect {
                Aspect::Warnings => {
                    (format::warnings(&answer.warnings), format::warnings(std::slice::from_ref(observed)))
                }
                _ => (expected.clone(), observed.clone()),
            };
            Difference { value: value.clone(), aspect: *aspect, by: "reference".to_owned(), expected, observed }
        })
    });
    Finding::of_differences(Oracle::Reference, program, differences.collect()).expect("something is pinned")
}
