//! The operation table against the list of functions that libtorch itself registers, and against its own promises.
//!
//! `fixtures/pointwise-ops.json` was made by calling every operator of libtorch 2.13.0 on shapes that only broadcasting
//! accepts; `BROADCASTING` are the functions of the other families that broadcast. Whatever is missing is named.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use broadcheck::case::{self, Expectation, ExpectedRejection};
use broadcheck::ops::{Compare, DtypeSet, Family, Form, Kernel, Op};
use serde::Deserialize;

/// The functions that broadcast besides the elementwise ones of the fixture.
const BROADCASTING: &[(&str, &[&str])] = &[
    ("optional or scalar operands", &["clamp"]),
    (
        "expansion and views",
        &[
            "expand",
            "expand_as",
            "broadcast_to",
            "broadcast_tensors",
            "broadcast_shapes",
            "sum_to_size",
            "unsqueeze",
            "index",
            "squeeze",
            "view",
            "reshape",
            "permute",
            "transpose",
            "as_strided",
            "copy",
            "fill",
        ],
    ),
    ("masks and indices", &["masked_select", "masked_scatter", "masked_fill", "index_put", "take_along_dim"]),
    (
        "products",
        &[
            "matmul",
            "bmm",
            "baddbmm",
            "addbmm",
            "addmm",
            "addmv",
            "addr",
            "linalg_vecdot",
            "linalg_cross",
            "linalg_solve",
            "tensordot",
            "einsum",
        ],
    ),
    ("reductions", &["sum", "mean", "prod", "amax", "amin", "any", "all", "var", "std", "logsumexp"]),
    (
        "losses and distances",
        &[
            "mse_loss",
            "l1_loss",
            "smooth_l1_loss",
            "huber_loss",
            "binary_cross_entropy_with_logits",
            "kl_div",
            "poisson_nll_loss",
            "soft_margin_loss",
            "margin_ranking_loss",
            "hinge_embedding_loss",
            "cosine_similarity",
            "pairwise_distance",
            "cdist",
            "dist",
            "isclose",
            "allclose",
            "equal",
        ],
    ),
];

#[derive(Deserialize)]
struct Registered {
    aliases: BTreeMap<String, String>,
    primary: BTreeMap<String, Overloads>,
}

#[derive(Deserialize)]
struct Overloads {
    functional: Vec<String>,
    in_place: Vec<String>,
    out: Vec<String>,
}

fn registered() -> Registered {
    serde_json::from_str(include_str!("fixtures/pointwise-ops.json")).expect("the fixture is JSON")
}

/// The functions of `registered` that the table lacks without a reason.
fn missing(registered: &Registered, known: impl Fn(&str) -> Option<Op>) -> Vec<String> {
    let mut missing = Vec::new();
    for (name, overloads) in &registered.primary {
        let Some(op) = known(name) else {
            missing.push(name.clone());
            continue;
        };
        let forms = [
            (Form::Functional, &overloads.functional),
            (Form::InPlace, &overloads.in_place),
            (Form::Out, &overloads.out),
        ];
        for (form, overloads) in forms {
            let info = op.info();
            let excused = info.absent.iter().any(|(absent, _)| *absent == form);
            if !overloads.is_empty() && !info.forms.contains(&form) && !excused {
                missing.push(format!("{name} {form:?}: {}", overloads.join(", ")));
            }
        }
    }
    for (alias, name) in &registered.aliases {
        if known(alias).is_none() || known(alias) != known(name) {
            missing.push(format!("{alias}, which is {name}"));
        }
    }
    missing
}

/// The operation of this name, of which `name` may be another one, or the in-place form the only one.
fn known(name: &str) -> Option<Op> {
    let has = |op: &Op| op.name() == name || op.info().aliases.iter().any(|(alias, _)| *alias == name);
    Op::ALL.iter().copied().find(has)
}

#[test]
fn the_table_has_every_function_that_libtorch_registers() {
    let mut registered = registered();
    assert_eq!((registered.primary.len(), registered.aliases.len()), (69, 25));
    assert_eq!(missing(&registered, known), [] as [&str; 0]);
    // The comparison finds a function, a form and an alias that are not there.
    let nothing = Overloads { functional: vec!["x".to_owned()], in_place: Vec::new(), out: Vec::new() };
    registered.primary.insert("no_such_function".to_owned(), nothing);
    registered.aliases.insert("no_such_alias".to_owned(), "add".to_owned());
    let in_place = vec!["isclose_".to_owned()];
    registered.primary.get_mut("isclose").expect("it is there").in_place = in_place;
    let found = missing(&registered, known);
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn the_table_has_every_function_that_broadcasts() {
    let names = BROADCASTING.iter().flat_map(|(_, names)| *names);
    let missing: Vec<&&str> = names.filter(|name| known(name).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A form that is left out has its reason, and is really left out.
#[test]
fn absent_forms_have_reasons() {
    for op in Op::ALL {
        for (form, reason) in op.info().absent {
            assert!(!op.info().forms.contains(form), "{op} {form:?} is there");
            assert!(reason.len() > 10, "{op} {form:?}: {reason:?} is no reason");
        }
    }
}

/// A dtype is rejected with the name of a kernel, and a bound has its reason.
#[test]
fn rejections_and_bounds_are_explained() {
    for op in Op::ALL {
        let info = op.info();
        let by_word =
            info.family() == Family::Pointwise && !matches!(info.kernel, Kernel::Function | Kernel::Arithmetic);
        assert!(!by_word || info.dtypes == DtypeSet::All || !info.kernel_names.is_empty(), "{op}");
        assert_eq!(matches!(info.compare, Compare::Ulps(_)), !info.bound.is_empty(), "{op}");
    }
}

/// The table lists the rejections of each family, in the order of its checks: of each class there is a
/// case, and of no other.
#[test]
fn rejections_are_those_of_the_cases() {
    let specification = case::load(&broadcheck::assets::specification().expect("the specification")).expect("it loads");
    let mut seen: BTreeMap<Family, BTreeSet<&str>> = BTreeMap::new();
    for case in &specification.cases {
        let inputs = case.program.inputs.len();
        for (value, expectation) in &case.expect {
            let Expectation::Rejected(ExpectedRejection { class: Some(class), .. }) = expectation else { continue };
            let op = case.program.steps[value.value - inputs].op;
            seen.entry(op.info().family()).or_default().insert(class.name());
        }
    }
    for op in Op::ALL {
        let family = op.info().family();
        let listed: BTreeSet<&str> = family.rejections().iter().copied().collect();
        assert_eq!(listed, seen.remove(&family).unwrap_or(listed.clone()), "{family:?}, as of {op}");
    }
    assert_eq!(seen.len(), 0);
}

/// The recipe of CONTRIBUTING.md for one more operation on two operands: its row is the whole of the change.
#[test]
#[ignore = "compiles the crates anew; .ci/run runs it"]
fn one_row_in_one_file_adds_an_operation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let contributing = std::fs::read_to_string(root.join("CONTRIBUTING.md")).expect("it is there");
    let shown =
        contributing.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a row is shown");
    let copy = tempfile::tempdir().expect("a folder");
    copy_tree(root, copy.path());

    // Without its row, nothing in the sources knows of the operation.
    let table = copy.path().join("src/protocol/ops/pointwise.rs");
    let rows = std::fs::read_to_string(&table).expect("it is there");
    let indented: String = shown.lines().map(|line| format!("            {line}\n")).collect();
    assert!(rows.contains(&indented), "the table has not the row that CONTRIBUTING.md shows:\n{indented}");
    let (variant, name) = (shown.split(' ').next().unwrap_or_default(), shown.split('"').nth(1).unwrap_or_default());
    std::fs::write(&table, rows.replace(&indented, "")).expect("a copy");
    for folder in ["src", "adapters/libtorch/src"] {
        for (path, text) in sources(&copy.path().join(folder)) {
            let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            assert!(!code.contains(variant) && !code.contains(&format!("\"{name}\"")), "{} names it", path.display());
        }
    }

    // With the row again, at the end, it is there in all its forms, and its cases pass.
    let end = "            ]\n        }\n    };\n}\n";
    let without = std::fs::read_to_string(&table).expect("a copy");
    assert!(without.ends_with(end), "the end of the table has changed");
    std::fs::write(&table, format!("{}{indented}{end}", without.strip_suffix(end).expect("it ends so")))
        .expect("a copy");
    // Under a name of its own: cargo would take the copy's binary for that of the project, and leave it in its place.
    let manifest = copy.path().join("Cargo.toml");
    let renamed = std::fs::read_to_string(&manifest).expect("it is there").replace("name = \"broadcheck\"", OTHER_NAME);
    // It is built once and used for a moment.
    let renamed = renamed.replace("opt-level = 1", "opt-level = 0");
    std::fs::write(&manifest, format!("{renamed}\n[lib]\nname = \"broadcheck\"\n")).expect("a copy");
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .current_dir(copy.path())
            .args(["run", "--quiet", "--offline", "--"])
            .args(args)
            .env("CARGO_TARGET_DIR", target_folder())
            .output()
            .expect("cargo runs");
        assert!(output.status.success(), "{args:?}\n{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(run(&["ops"]).lines().any(|line| line.starts_with(&format!("{name}("))), "`ops` does not list it");
    let specification = case::load(&broadcheck::assets::specification().expect("the specification")).expect("it loads");
    let uses = |case: &&case::Case| case.program.steps.iter().any(|step| step.op.name() == name);
    let cases: Vec<&str> = specification.cases.iter().filter(uses).map(|case| case.id.as_str()).collect();
    assert!(cases.len() > 4, "{cases:?}");
    let chosen = cases.iter().flat_map(|case| ["--case", case]);
    let args: Vec<&str> = ["check", "--impl", "reference"].into_iter().chain(chosen).collect();
    assert!(run(&args).contains("conforms"));
}

/// The recipe of CONTRIBUTING.md for an operation with new arithmetic: what it shows stands in the files that it names, and
/// no other file of the sources knows of the operation.
#[test]
#[ignore = "compiles the crates anew; .ci/run runs it"]
fn a_row_and_a_function_add_an_operation_with_new_arithmetic() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let contributing = std::fs::read_to_string(root.join("CONTRIBUTING.md")).expect("it is there");
    let shown = contributing.split("```diff\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a diff");
    let unindented = |text: &str| text.lines().map(|line| format!("{}\n", line.trim())).collect::<String>();
    let mut named: Vec<PathBuf> = Vec::new();
    for file in shown.split("+++ ").skip(1) {
        let (path, lines) = file.split_once('\n').expect("a line each");
        let text = std::fs::read_to_string(root.join(path)).expect("a file of the repository");
        let lines: String =
            lines.lines().map(|line| line.strip_prefix('+').expect("an added line").to_owned() + "\n").collect();
        assert!(unindented(&text).contains(&unindented(&lines)), "{path} has, in one piece:\n{lines}");
        named.push(root.join(path));
    }
    let (variant, name) =
        (shown.split_whitespace().nth(2).unwrap_or_default(), shown.split('"').nth(1).unwrap_or_default());
    let variant = variant.trim_start_matches('+');
    assert_eq!((variant, name, named.len()), ("Nextafter", "nextafter", 3));
    for (path, text) in sources(&root.join("src")).into_iter().filter(|(path, _)| !named.contains(path)) {
        let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let names = code.contains(variant) || code.contains(&format!("\"{name}\"")) || code.contains("next_after");
        assert!(!names, "{} names it", path.display());
    }
}

const OTHER_NAME: &str = "name = \"broadcheck-with-one-more\"";

/// The folder in which cargo has built this test, so that its dependencies are built already.
fn target_folder() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.ancestors().nth(3).expect("target/<profile>/deps/<test>").to_owned()
}

fn copy_tree(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        if [".git", "target", "snapshots"].iter().any(|left_out| name == *left_out) {
            continue;
        }
        let target = to.join(&name);
        if entry.path().is_dir() {
            std::fs::create_dir(&target).expect("a folder");
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).expect("a file");
        }
    }
}

const OPTIONAL: [&str; 3] = ["mutation/catalog", "oracles/mathematics", "metamorphic/siblings.rs"];

/// All but what may name an operation and need not: the catalog of planted faults, the oracle of mathematics, which says again
/// what an operation is, from other sources, and the relation between siblings.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if OPTIONAL.iter().any(|optional| path.ends_with(optional)) {
            continue;
        }
        if path.is_dir() {
            found.extend(sources(&path));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            found.push((path, text));
        }
    }
    found
}
