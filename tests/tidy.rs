//! Checks that the statements of the documents and the house rules hold for this repository.
//!
//! Each check is a function from the repository's files to findings. It is run on the files as they are, and on a copy
//! in memory with a fault planted, which it has to find.

mod tidy {
    pub mod circles;
    pub mod code;
    pub mod directions;
    pub mod documents;
    pub mod tree;
}

use std::collections::HashSet;
use std::path::Path;

use broadcheck::case::{self, Specification};
use broadcheck::generate::Focus;
use broadcheck::ops::Op;
use tidy::circles::file_circles;
use tidy::code::{Use, code_only, uses};
use tidy::directions::directions;
use tidy::documents;
use tidy::documents::{
    arguments, blocks, broadcheck, examples, first_difference, leaf_commands, missing_files, shown_runs, unnamed_files,
};
use tidy::tree::Tree;

/// Modules that compute and nothing else.
const PURE: &[&str] =
    &["protocol/tensor", "protocol/error", "protocol/ops", "protocol/messages", "protocol/program", "reference/"];

/// The lines that a source file may have.
const LONGEST: usize = 600;

#[test]
fn dependencies_run_one_way() {
    check(directions);
    finds(directions, "src/protocol/ops.rs", "use crate::program::Program;", "ops uses program");
    finds(directions, "src/protocol/tensor/shape.rs", "fn f() { crate::ops::Op::ALL; }", "tensor uses ops");
    finds(
        directions,
        "src/report/junit.rs",
        "use crate::{case::Document, reference::Reference};",
        "report uses reference",
    );
    finds(directions, "src/report/text.rs", "use crate::case::Case;", "report uses case::Case");
    finds(
        directions,
        "src/report/text.rs",
        "use crate::harness::{model::event::Event, check::Selection};",
        "harness::check",
    );
    finds(directions, "src/reference/view.rs", "use crate::adapter::{Hello, Library};", "view uses adapter::Library");
    finds(directions, "src/install/pip.rs", "use crate::cli;", "install uses cli");
    finds(directions, "src/protocol/adapter/serve.rs", "use crate::messages;", "adapter uses messages");
    finds(directions, "src/oracles/case/model.rs", "use crate::generate;", "case uses generate");
    finds(directions, "src/lib.rs", "pub mod newcomer;", "newcomer");
    finds(directions, "src/protocol/lib.rs", "pub mod newcomer;", "newcomer");
    finds(directions, "src/harness/lib.rs", "pub mod newcomer;", "newcomer");
    finds(directions, "src/report/text.rs", "use crate::ops::Op;", "report uses ops");
    finds(directions, "src/install/pip.rs", "use broadcheck_protocol::program::Program;", "install uses program");
    finds(directions, "src/oracles/case/model.rs", "use crate::reference::Reference;", "case uses reference");
    finds(directions, "src/harness/model/event.rs", "use crate::oracles::specification;", "model uses oracles");
    let mathematics = "src/oracles/mathematics/mod.rs";
    finds(directions, mathematics, "use crate::reference::Reference;", "mod.rs uses reference");
}

#[test]
fn files_use_each_other_without_circles() {
    check(file_circles);
    let below = "src/protocol/tensor/layout.rs";
    finds(file_circles, below, "use crate::tensor::Buffer;", "src/protocol/tensor/storage.rs");
    finds(file_circles, below, "fn f() { super::storage::Buffer::zeros(); }", "src/protocol/tensor/storage.rs");
    finds(
        file_circles,
        below,
        "use super::{self as all}; fn f() { all::Buffer::zeros(); }",
        "src/protocol/tensor/storage.rs",
    );
}

#[test]
fn the_reference_does_no_input_or_output() {
    check(purity);
    finds(purity, "src/reference/view.rs", "use std::{fmt, fs::File};", "std::fs");
    finds(purity, "src/protocol/tensor/shape.rs", "fn f() { std::process::exit(1) }", "std::process");
    finds(purity, "src/protocol/messages.rs", "fn f() { println!() }", "println");
}

/// A macro that prints loses the error, or panics over it, so that a full disk goes unseen.
#[test]
fn output_that_fails_is_an_error() {
    check(printing);
    finds(printing, "src/cli/ops.rs", "fn f() { anstream::println!(); }", "println!");
    finds(printing, "src/cli/bench.rs", "fn f() { print!(\"\"); }", "print!");
    finds(printing, "src/cli/matrix.rs", "fn f() { eprintln!(); }", "eprintln!");
}

#[test]
fn nothing_is_left_undone() {
    check(leftovers);
    finds(
        leftovers,
        "src/oracles/case/model.rs",
        "#[serde(rename_all = \"snake_case\", untagged)] enum E {}",
        "untagged",
    );
    finds(leftovers, "tests/load.rs", "#[test] #[ignore] fn f() {}", "ignore");
    finds(leftovers, "src/main.rs", "fn f() { todo!() }", "todo");
    finds(leftovers, "adapters/libtorch/src/lib.rs", "fn f() { unimplemented!() }", "unimplemented");
}

#[test]
fn unsafe_code_is_in_the_libtorch_adapter_and_says_why_it_is_sound() {
    check(unsafety);
    finds(
        unsafety,
        "src/protocol/tensor/storage.rs",
        "// SAFETY: none.\nunsafe fn f() {}",
        "outside of adapters/libtorch",
    );
    let page = "src/playground/lib.rs";
    finds(unsafety, page, "// SAFETY: none.\nunsafe fn f() {}", "outside of adapters/libtorch");
    finds(unsafety, page, "#[unsafe(no_mangle)]\npub extern \"C\" fn f() {}", "says why");
    finds(unsafety, "adapters/libtorch/src/shim.rs", "fn f() {\n    unsafe { g() }\n}", "says why");
}

#[test]
fn no_file_is_long() {
    check(length);
    finds(length, "src/main.rs", &"// One more line.\n".repeat(LONGEST), "lines");
}

#[test]
fn files_name_no_machine_and_have_no_tabs() {
    check(places);
    for place in PLACES {
        finds(places, "spec/errors.yaml", &format!("# see {place}somebody"), "machine");
    }
    finds(places, "README.md", "a\tb", "tab");
}

/// The public place of the repository is not known yet, and CONTRIBUTING.md says so once.
#[test]
fn no_placeholder_stands_for_the_repository() {
    check(placeholders);
    let planted = [
        concat!("- uses: OWN", "ER/broadcheck@main"),
        concat!("git clone https://git", "hub.com/somebody/broadcheck"),
        concat!("repository = \"https://git", "lab.com/a/broadcheck.git\""),
        concat!("RUN git clone MAIN", "_REPO"),
        concat!("uses: <own", "er>/<repository>@v1"),
    ];
    for planted in planted {
        finds(placeholders, "README.md", planted, "repository");
        finds(placeholders, ".github/workflows/ci.yml", planted, "repository");
    }
}

#[test]
fn every_operation_has_a_case() {
    let specification = specification();
    assert_eq!(without_case(&specification), [] as [&str; 0]);
    let mut fewer = specification;
    fewer.cases.retain(|case| case.program.steps.iter().all(|step| step.op != Op::Einsum));
    assert_eq!(without_case(&fewer), ["einsum"]);
}

#[test]
fn every_command_has_examples_and_is_in_the_readme() {
    let commands = leaf_commands();
    assert!(commands.len() > 3, "{commands:?}");
    let readme = &Tree::here()["README.md"];
    for (command, help) in &commands {
        assert!(has_examples(help, command), "`{command} --help` has no examples of it");
        assert!(readme.contains(command.as_str()), "README.md does not mention `{command}`");
    }
    assert!(!has_examples("Usage: broadcheck ops\n\nExamples:\n", "broadcheck ops"));
}

#[test]
fn examples_in_the_help_are_accepted() {
    let mut tried = 0;
    for (command, help) in leaf_commands() {
        // What installs or needs libtorch is tried by other tests.
        if ["broadcheck explain", "broadcheck ops"].contains(&command.as_str()) {
            for example in examples(&help).filter(|example| example.starts_with(&command)) {
                let (shown, said) = broadcheck(&arguments(example));
                assert!(!shown.is_empty(), "`{command} --help` has the example\n  {example}\nbut it says\n{said}");
                tried += 1;
            }
        }
    }
    assert!(tried > 3, "only {tried} examples were found");
    assert_eq!(broadcheck(&arguments("broadcheck explain 1,,x 2")).0, "");
}

#[test]
fn the_readme_shows_what_explain_prints() {
    let readme = &Tree::here()["README.md"];
    let shown = shown_runs(readme, "$ broadcheck explain ");
    assert!(!shown.is_empty(), "README.md shows no `broadcheck explain`");
    for (args, output) in &shown {
        assert_eq!(*output, broadcheck(args).0, "README.md and `broadcheck {}`", args.join(" "));
    }
    let (args, output) = &shown[0];
    let changed = readme.replace(output.as_str(), &output.replace('5', "6"));
    assert_ne!(shown_runs(&changed, "$ broadcheck explain ")[0].1, broadcheck(args).0);
}

/// The numbers in it move with every case, so they are compared by their places only.
#[test]
fn the_readme_shows_what_check_prints() {
    let shown = shown_runs(&Tree::here()["README.md"], "$ cargo run --release -- check");
    let [(args, shown)] = shown.as_slice() else { panic!("README.md shows `check` {} times", shown.len()) };
    let (printed, said) = broadcheck(args);
    assert!(!printed.is_empty(), "{said}");
    assert_eq!(first_difference(shown, &printed), None, "README.md shows a line that `check` does not print there");
    let last = shown.lines().last().expect("lines");
    assert!(first_difference(&shown.replace(last, "conforms"), &printed).is_some());
}

#[test]
fn the_verbose_report_has_every_clause() {
    let (printed, said) = broadcheck(&["check".to_owned(), "--verbose".to_owned()]);
    // It conforms, so there is no failure to point to: a false statement has its reason next to it.
    assert!(!printed.is_empty() && !printed.contains("see the failure"), "{said}");
    let missing = |printed: &str| {
        let files = Tree::here().all().filter(|(path, _)| path.starts_with("spec/clauses/"));
        let mut clauses = files.flat_map(|(_, text)| text.lines()).filter_map(|line| line.strip_prefix("- id: "));
        let shown: HashSet<&str> = printed.lines().filter_map(|line| line.split(' ').next()).collect();
        clauses.find(|id| !shown.contains(id)).map(str::to_owned)
    };
    assert_eq!(missing(&printed), None);
    let id = "set-item-expands-the-value";
    assert_eq!(missing(&printed.replace(id, "")).as_deref(), Some(id));
}

/// Adapters in Python read the operation table from it.
#[test]
fn the_checked_in_operation_table_is_what_ops_prints() {
    let (printed, said) = broadcheck(&["ops".to_owned(), "--format".to_owned(), "json".to_owned()]);
    assert!(!printed.is_empty(), "{said}");
    let kept = &Tree::here()["adapters/operations.json"];
    assert!(*kept == printed, "`broadcheck ops --format json > adapters/operations.json` writes it anew");
}

#[test]
fn the_readme_shows_a_case_of_the_specification() {
    check(shown_cases);
    let sizes = "[1, 3, 1]";
    let other = Tree::here()["README.md"].replace(sizes, "[1, 3, 2]");
    assert!(!shown_cases(&Tree::here().with("README.md", &other)).is_empty());
}

#[test]
fn documents_name_files_and_tests_that_exist() {
    check(named);
    for document in DOCUMENTS {
        finds(named, document, "See `src/no_such_file.rs`.", "src/no_such_file.rs");
        finds(named, document, "See [that](spec/nowhere.yaml).", "spec/nowhere.yaml");
        finds(named, document, "See `tests/load.rs::no_such_test`.", "no_such_test");
        finds(named, document, "See `adapters/nobody/`.", "adapters/nobody/");
    }
}

#[test]
fn documents_name_every_folder_test_and_adapter() {
    check(mapped);
    let newcomers =
        ["src/harness/newcomer/mod.rs", "newcomer/main.py", "tests/newcomer.rs", "adapters/newcomer/main.py"];
    let tree = newcomers.iter().fold(Tree::here().clone(), |tree, path| tree.with(path, ""));
    let findings = mapped(&tree);
    assert_eq!(findings.len(), newcomers.len(), "{findings:?}");
}

#[test]
fn fuzz_targets_are_listed() {
    check(fuzz_targets);
    let tree = Tree::here();
    let findings = fuzz_targets(&tree.with("fuzz/fuzz_targets/newcomer.rs", "broadcheck_fuzz::differential!(New);"));
    assert_eq!(findings.len(), 3, "{findings:?}");
    let findings = fuzz_targets(&tree.with("fuzz/fuzz_targets/shapes.rs", "//! Nothing."));
    assert_eq!(findings, ["no fuzz target compares with libtorch about `shapes`"]);
}

const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md"];

/// Beginnings of paths that only one machine has. In pieces, so that this file has none.
const PLACES: [&str; 4] = [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

type Check = fn(&Tree) -> Vec<String>;

#[track_caller]
fn check(check: Check) {
    let findings = check(Tree::here());
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

/// The check finds nothing in the repository's files, but does with this text at the end of one of them.
#[track_caller]
fn finds(check: Check, path: &str, planted: &str, word: &str) {
    let tree = Tree::here();
    let text = format!("{}\n{planted}\n", tree.get(path).unwrap_or_else(|| panic!("{path} is not there")));
    let findings = check(&tree.with(path, &text));
    let found = findings.iter().any(|finding| finding.contains(path) && finding.contains(word));
    assert!(found, "not found in {path}: {planted}\nbut: {findings:?}");
}

fn purity(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources("src/").filter(|(path, _)| {
        PURE.iter().any(|pure| path.strip_prefix("src/").is_some_and(|path| path.starts_with(pure)))
    }) {
        let code = code_only(text);
        for Use { line, path: used } in uses(&code, "std") {
            if ["fs", "io", "process", "net", "env"].contains(&used[0].as_str()) {
                findings.push(format!("{path}:{line}: std::{}", used[0]));
            }
        }
        findings.extend(words(path, &code, &["println!", "eprintln!", "print!", "eprint!", "dbg!"]));
    }
    findings
}

fn leftovers(tree: &Tree) -> Vec<String> {
    let wrong = ["todo!", "unimplemented!", "dbg!", "untagged", "#[ignore]"];
    tree.sources("").flat_map(|(path, text)| words(path, &code_only(text), &wrong)).collect()
}

fn printing(tree: &Tree) -> Vec<String> {
    let wrong = ["println!", "eprintln!", "print!", "eprint!"];
    tree.sources("src/cli/").flat_map(|(path, text)| words(path, &code_only(text), &wrong)).collect()
}

fn unsafety(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources("") {
        let lines: Vec<&str> = text.lines().collect();
        for (at, code) in code_only(text).lines().enumerate() {
            if !code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe") {
                continue;
            }
            // The name of an exported function, whose body is safe code.
            let exports = path == "src/playground/lib.rs" && code.trim() == "#[unsafe(no_mangle)]";
            if !path.starts_with("adapters/libtorch/") && !exports {
                findings.push(format!("{path}:{}: unsafe outside of adapters/libtorch", at + 1));
            }
            // Declarations only describe the other language; their calls have to be sound.
            let declares = code.trim_start().starts_with("unsafe extern");
            if !declares && !says_why(&lines[..at]) {
                findings.push(format!("{path}:{}: unsafe, and no comment above says why it is sound", at + 1));
            }
        }
    }
    findings
}

/// True if the comment above the statement that these lines lead to says why it is sound.
fn says_why(before: &[&str]) -> bool {
    let near = before.iter().rev().take_while(|line| !line.trim().is_empty() && !line.starts_with('}')).take(8);
    near.map(|line| line.trim()).any(|line| line.contains("// SAFETY") || line.contains("/// # Safety"))
}

fn length(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources("") {
        let lines = text.lines().count();
        if lines > LONGEST {
            findings.push(format!("{path}: {lines} lines; split it"));
        }
    }
    findings
}

fn places(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in tree.all() {
        for (at, line) in text.lines().enumerate() {
            if let Some(place) = PLACES.iter().find(|place| line.contains(*place)) {
                findings.push(format!("{path}:{}: {place} is on one machine only", at + 1));
            }
            if line.contains('\t') {
                findings.push(format!("{path}:{}: a tab", at + 1));
            }
        }
    }
    findings
}

fn placeholders(tree: &Tree) -> Vec<String> {
    // In pieces, so that this file has none.
    let words = [concat!("OWN", "ER/"), concat!("<own", "er>"), concat!("MAIN", "_REPO"), concat!("YOUR", "_")];
    let hosted = |line: &str| {
        let places = ["github.com/", "gitlab.com/"].into_iter().flat_map(|host| line.split(host).skip(1));
        // Documents about other projects have their places.
        places.into_iter().any(|place| place.split('/').nth(1).is_some_and(|name| name.starts_with("broadcheck")))
    };
    let mut findings = Vec::new();
    for (path, text) in tree.all().filter(|(path, _)| !path.starts_with("reports/")) {
        for (at, line) in text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) || hosted(line) {
                findings.push(format!("{path}:{}: a place of the repository, which has none yet", at + 1));
            }
        }
    }
    findings
}

fn named(tree: &Tree) -> Vec<String> {
    DOCUMENTS.iter().flat_map(|document| missing_files(tree, document)).collect()
}

fn mapped(tree: &Tree) -> Vec<String> {
    type Wanted = fn(&[&str]) -> Option<String>;
    let lists: [(&str, Wanted); 3] = [
        ("ARCHITECTURE.md", documents::folder),
        ("tests/README.md", documents::test),
        ("adapters/README.md", documents::adapter),
    ];
    lists.into_iter().flat_map(|(document, wanted)| unnamed_files(tree, document, wanted)).collect()
}

/// Fuzz targets that a document lacks, and foci without a target.
fn fuzz_targets(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    let mut compared = Vec::new();
    for (path, text) in tree.sources("fuzz/fuzz_targets/") {
        let name = path.trim_start_matches("fuzz/fuzz_targets/").trim_end_matches(".rs");
        let listings = [("fuzz/README.md", format!("| `{name}` |")), ("fuzz/Cargo.toml", format!("name = \"{name}\""))];
        let missing = listings.iter().filter(|(list, entry)| !tree[*list].contains(entry));
        findings.extend(missing.map(|(list, _)| format!("{list} does not list the fuzz target {name}")));
        if code_only(text).contains("differential!") {
            compared.push(name);
        }
    }
    let focuses: Vec<&str> = Focus::ALL.iter().map(|focus| focus.name()).collect();
    let lacking = focuses.iter().filter(|name| !compared.contains(name));
    findings.extend(lacking.map(|name| format!("no fuzz target compares with libtorch about `{name}`")));
    let nameless = compared.iter().filter(|name| !focuses.contains(name));
    findings.extend(nameless.map(|name| format!("the fuzz target {name} has not the name of its focus")));
    findings
}

/// The cases that README.md shows and `spec/` does not have, word for word.
fn shown_cases(tree: &Tree) -> Vec<String> {
    let shown = blocks(&tree["README.md"], "yaml");
    if shown.is_empty() {
        return vec!["README.md shows no case".to_owned()];
    }
    let is_there = |block: &str| tree.all().any(|(path, text)| path.starts_with("spec/") && text.contains(block));
    shown
        .into_iter()
        .filter(|block| !is_there(block))
        .map(|block| format!("README.md: not in spec/:\n{block}"))
        .collect()
}

fn words(path: &str, code: &str, wrong: &[&str]) -> Vec<String> {
    let mut findings = Vec::new();
    for (at, line) in code.lines().enumerate() {
        for word in wrong {
            let found = line.match_indices(word).any(|(start, _)| {
                let before = line[..start].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            });
            if found {
                findings.push(format!("{path}:{}: {word}", at + 1));
            }
        }
    }
    findings
}

fn specification() -> Specification {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec");
    case::load(&folder).unwrap_or_else(|error| panic!("{error}"))
}

fn without_case(specification: &Specification) -> Vec<&'static str> {
    let used = |op| specification.cases.iter().any(|case| case.program.steps.iter().any(|step| step.op == op));
    Op::ALL.iter().filter(|op| !used(**op)).map(|op| op.name()).collect()
}

/// True if a help text has an example of the command.
fn has_examples(help: &str, command: &str) -> bool {
    examples(help).any(|example| example.contains(command))
}
