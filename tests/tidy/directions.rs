//! The modules that each module may use.

use super::code::{Use, code_only, uses};
use super::tree::Tree;

/// The modules that a module may use, besides itself: crate, module, used modules, those of the crates below included.
/// Cargo holds the order of the crates; the reference's own files are held by the check for circles. `tensor` and
/// `error` are one layer, since shapes that do not broadcast are rejections and rejections name dtypes.
const MAY_USE: &[(&str, &str, &[&str])] = &[
    ("protocol", "tensor", &["error"]),
    ("protocol", "error", &["tensor"]),
    ("protocol", "ops", &["tensor"]),
    ("protocol", "messages", &["tensor", "error", "ops"]),
    ("protocol", "program", &["tensor", "error", "ops"]),
    ("protocol", "adapter", &["tensor", "error", "ops", "program"]),
    ("oracles", "difference", &["error", "messages", "program"]),
    ("oracles", "case", &["tensor", "error", "ops", "program", "difference"]),
    ("oracles", "format", &["tensor", "ops", "program", "adapter", "case"]),
    ("oracles", "reference", &["tensor", "program", "adapter"]),
    ("oracles", "relaxations", &["tensor", "error", "ops", "program"]),
    ("oracles", "generate", &["tensor", "ops", "program", "adapter", "reference", "relaxations"]),
    ("oracles", "modes", &["tensor", "ops", "program", "relaxations"]),
    ("oracles", "closeness", &["tensor", "ops", "program", "relaxations", "modes"]),
    (
        "oracles",
        "comparison",
        &[
            "tensor",
            "ops",
            "program",
            "adapter",
            "case",
            "difference",
            "format",
            "reference",
            "relaxations",
            "modes",
            "closeness",
        ],
    ),
    (
        "oracles",
        "metamorphic",
        &[
            "tensor",
            "error",
            "ops",
            "program",
            "adapter",
            "case",
            "difference",
            "format",
            "reference",
            "relaxations",
            "modes",
            "closeness",
        ],
    ),
    ("oracles", "mathematics", &["tensor", "ops", "program", "difference", "format", "relaxations"]),
    (
        "oracles",
        "specification",
        &["tensor", "error", "program", "adapter", "case", "difference", "format", "closeness"],
    ),
    ("harness", "assets", &[]),
    ("harness", "corpus", &["tensor", "ops", "program"]),
    ("harness", "escape", &[]),
    ("harness", "json", &[]),
    ("harness", "output", &[]),
    ("harness", "reduce", &["tensor", "error", "ops", "program", "adapter", "reference", "generate"]),
    ("harness", "format", &["tensor", "ops", "program", "adapter", "case", "model"]),
    (
        "harness",
        "model",
        &[
            "tensor",
            "error",
            "ops",
            "program",
            "difference",
            "messages",
            "adapter",
            "reference",
            "assets",
            "escape",
            "output",
            "case",
            "format",
        ],
    ),
    ("harness", "runner", &["program", "adapter", "reference", "model", "format"]),
    ("harness", "give_up", &["adapter", "model"]),
    (
        "harness",
        "oracles",
        &["tensor", "error", "ops", "program", "adapter", "reference", "case", "model", "format", "relaxations"],
    ),
    (
        "harness",
        "triage",
        &[
            "tensor",
            "ops",
            "program",
            "adapter",
            "reference",
            "escape",
            "case",
            "corpus",
            "model",
            "format",
            "oracles",
            "runner",
        ],
    ),
    (
        "harness",
        "mutation",
        &[
            "tensor",
            "error",
            "ops",
            "program",
            "difference",
            "adapter",
            "reference",
            "generate",
            "reduce",
            "model",
            "format",
            "oracles",
        ],
    ),
    (
        "harness",
        "campaign",
        &[
            "tensor",
            "error",
            "ops",
            "program",
            "messages",
            "adapter",
            "reference",
            "assets",
            "escape",
            "json",
            "case",
            "generate",
            "relaxations",
            "reduce",
            "model",
            "format",
            "runner",
            "give_up",
            "oracles",
            "triage",
        ],
    ),
    (
        "harness",
        "check",
        &[
            "tensor",
            "ops",
            "program",
            "adapter",
            "reference",
            "assets",
            "case",
            "generate",
            "model",
            "format",
            "runner",
            "give_up",
            "oracles",
            "campaign",
        ],
    ),
    (
        "harness",
        "benchmark",
        &["tensor", "ops", "program", "adapter", "reference", "generate", "model", "runner", "oracles", "campaign"],
    ),
    ("broadcheck", "install", &["assets"]),
    ("broadcheck", "implementations", &["assets", "install"]),
    ("broadcheck", "report", &["escape", "case", "harness", "generate", "output"]),
    (
        "broadcheck",
        "cli",
        &[
            "tensor",
            "error",
            "ops",
            "program",
            "adapter",
            "reference",
            "assets",
            "escape",
            "output",
            "case",
            "generate",
            "harness",
            "implementations",
            "install",
            "report",
        ],
    ),
];

/// The items of a module that may be used, if not all: crate and user, used, items.
const ONLY: &[(&str, &str, &str, &[&str])] = &[
    // The reference is an implementation, and knows no other.
    ("reference", "", "adapter", &["Capability", "Hello", "Implementation"]),
    ("oracles", "generate", "adapter", &["Capability", "Hello", "Implementation"]),
    // Reports see events, the data in events, summaries of campaigns, and measurements.
    ("broadcheck", "report", "harness", &["model", "campaign", "benchmark", "Aspect", "Difference", "UNKNOWN"]),
    ("broadcheck", "report", "case", &["Document", "Source"]),
    ("broadcheck", "report", "generate", &["bounded_exhaustive"]),
    // Its page has compressed data; the files are written by others.
    ("broadcheck", "report", "output", &["gzip"]),
];

/// Folders inside a module that may use less than the module: the folder, and the modules that it never uses.
const NEVER: &[(&str, &[&str])] = &[
    // What a function is does not depend on any implementation of it.
    ("src/oracles/mathematics/", &["reference", "adapter", "case"]),
];

/// Uses of modules that the tables above do not allow.
pub fn directions(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    let own = |of: &str, module: &str| MAY_USE.iter().find(|(by, name, _)| (*by, *name) == (of, module));
    for (of, root) in CRATES {
        for declared in declared_modules(&tree[root]) {
            if own(of, &declared).is_none() {
                findings.push(format!("{root}: {declared} has no place in MAY_USE of tests/tidy.rs"));
            }
        }
    }
    let is_module =
        |name: &str| ["harness", "reference"].contains(&name) || MAY_USE.iter().any(|(_, module, _)| *module == name);
    for (path, text) in tree.sources("src/") {
        let Some((of, user)) = module_of(path) else { continue };
        let code = code_only(text);
        // By the crate's own root, which hands on the crates below, or by the name of one of these.
        let roots =
            ["crate", "broadcheck_protocol", "broadcheck_reference", "broadcheck_oracles", "broadcheck_harness"];
        for Use { line, path: used } in roots.iter().flat_map(|root| uses(&code, root)) {
            let (module, item) = (used[0].as_str(), used.get(1).map_or("", String::as_str));
            if module == user {
                continue;
            }
            let allowed = own(of, user).is_none_or(|(_, _, allowed)| allowed.contains(&module));
            if is_module(module) && !allowed {
                findings.push(format!("{path}:{line}: {user} uses {module}"));
            }
            let never = NEVER.iter().find(|(folder, _)| path.starts_with(folder));
            if never.is_some_and(|(_, modules)| modules.contains(&module)) {
                findings.push(format!("{path}:{line}: {path} uses {module}"));
            }
            let only = ONLY
                .iter()
                .find(|(by, name, used, _)| *by == of && (*name == user || name.is_empty()) && *used == module);
            if only.is_some_and(|(_, _, _, items)| !items.contains(&item)) {
                findings.push(format!("{path}:{line}: {user} uses {module}::{item}"));
            }
        }
    }
    findings
}

/// The crates whose modules [`MAY_USE`] lists, and their roots.
const CRATES: [(&str, &str); 4] = [
    ("broadcheck", "src/lib.rs"),
    ("protocol", "src/protocol/lib.rs"),
    ("oracles", "src/oracles/lib.rs"),
    ("harness", "src/harness/lib.rs"),
];

/// The crate and the module in it that a file of `src/` belongs to; none for the roots of the crates.
fn module_of(path: &str) -> Option<(&str, &str)> {
    let path = path.strip_prefix("src/")?;
    let (of, path) = match path.split_once('/') {
        Some((of @ ("protocol" | "reference" | "oracles" | "harness"), path)) => (of, path),
        _ => ("broadcheck", path),
    };
    let name = path.split('/').next()?;
    let name = name.strip_suffix(".rs").unwrap_or(name);
    (name != "lib" && name != "main").then_some((of, name))
}

fn declared_modules(text: &str) -> Vec<String> {
    let code = code_only(text);
    let names = code.lines().filter_map(|line| line.trim().strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}
