//! The blocks, commands and files that documents show and name.

use std::collections::BTreeSet;
use std::process::Command;

use super::tree::Tree;

/// The insides of the fenced blocks of one language.
pub fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(fence) = line.strip_prefix("```") {
            let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if fence == language {
                found.push(inside.iter().map(|line| format!("{line}\n")).collect());
            }
        }
    }
    found
}

/// The runs that a document shows whose commands begin so: the arguments, and the output that it shows.
pub fn shown_runs(text: &str, start: &str) -> Vec<(Vec<String>, String)> {
    let parse = |block: String| {
        let (command, output) = block.split_once('\n')?;
        command
            .starts_with(start.trim_end())
            .then(|| (arguments(&command.replace("run --release -- ", "")), output.to_owned()))
    };
    blocks(text, "console").into_iter().filter_map(parse).collect()
}

/// The arguments in a command line, less the prompt, the program and the remark after several blanks.
pub fn arguments(command: &str) -> Vec<String> {
    let command = command.trim_start_matches("$ ");
    let command = command.split("   ").next().unwrap_or_default();
    shlex::split(command).unwrap_or_default().into_iter().skip(1).collect()
}

/// The examples in a help text.
pub fn examples(help: &str) -> impl Iterator<Item = &str> {
    let examples = help.split_once("Examples:\n").map_or("", |(_, examples)| examples);
    examples.lines().take_while(|line| !line.is_empty()).map(str::trim)
}

/// The first shown line that was not printed, where `…` alone on a line stands for any lines, and a number for any
/// number.
pub fn first_difference(shown: &str, printed: &str) -> Option<String> {
    let printed: Vec<String> = printed.lines().map(plain).collect();
    let mut rest = printed.as_slice();
    for (at, part) in format!("\n{shown}").split("\n…").enumerate() {
        let part: Vec<String> = part.lines().skip(1).map(plain).collect();
        let mut starts = (0..=rest.len().saturating_sub(part.len())).take(if at == 0 { 1 } else { usize::MAX });
        let Some(start) = starts.find(|start| rest[*start..].starts_with(&part)) else {
            return Some(part.join("\n"));
        };
        rest = &rest[start + part.len()..];
    }
    (!shown.ends_with("…\n") && !rest.is_empty()).then(|| rest.join("\n"))
}

/// A line whose numbers are all 0, as are the columns and the hashes that they fill.
fn plain(line: &str) -> String {
    let words = line.split_whitespace().map(|word| {
        let hash = word.len() == 12 && word.chars().all(|c| c.is_ascii_hexdigit());
        let digits = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>();
        if hash { "hash".to_owned() } else { digits.replace("000", "0").replace("00", "0") }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The output of `broadcheck` for these arguments on its standard output, and on its standard error.
pub fn broadcheck(args: &[String]) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_broadcheck")).args(args).output().expect("broadcheck runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr))
}

/// Every command that has no further subcommands, as it is typed, and its help.
pub fn leaf_commands() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let mut args: Vec<String> = path.clone();
        args.push("--help".to_owned());
        let help = broadcheck(&args).0;
        let listed = help.split_once("Commands:\n").map_or("", |(_, listed)| listed);
        // Names are indented by two, their descriptions by more.
        let names = listed.lines().take_while(|line| !line.is_empty()).filter_map(|line| {
            let line = line.strip_prefix("  ")?;
            (!line.starts_with(' ')).then(|| line.split(' ').next().unwrap_or_default())
        });
        let names: Vec<&str> = names.filter(|name| *name != "help").collect();
        if names.is_empty() {
            found.push((format!("broadcheck {}", path.join(" ")), help));
            continue;
        }
        open.extend(names.into_iter().map(|name| [path.clone(), vec![name.to_owned()]].concat()));
    }
    found
}

/// The files, folders and tests that a document names and the repository does not have.
///
/// A name is what stands between backquotes or in a link and looks like a path. It may be short for one in the folder
/// that the heading above it names. `…`, `*` and capitals stand for names of the reader's own.
pub fn missing_files(tree: &Tree, document: &str) -> Vec<String> {
    let names = names(&tree[document]);
    let missing = names.into_iter().filter(|name| !exists(tree, name));
    missing.map(|Name { line, name, .. }| format!("{document}:{line}: there is no {name}")).collect()
}

/// The names that a document should have and has not: of each path, in parts, `wanted` says which name that is.
pub fn unnamed_files(tree: &Tree, document: &str, wanted: fn(&[&str]) -> Option<String>) -> Vec<String> {
    let names = names(&tree[document]);
    let named = |path: &str| names.iter().any(|name| name.readings().any(|reading| reading == path));
    let wanted: BTreeSet<String> =
        tree.all().filter_map(|(path, _)| wanted(&path.split('/').collect::<Vec<_>>())).collect();
    let unnamed = wanted.into_iter().filter(|path| !named(path));
    unnamed.map(|path| format!("{document} does not name {path}")).collect()
}

/// The map has every folder of a crate, of the program, and of the repository.
pub fn folder(parts: &[&str]) -> Option<String> {
    match parts {
        ["src", of @ ("protocol" | "reference" | "oracles" | "harness"), room, _, ..] => {
            Some(format!("src/{of}/{room}/"))
        }
        ["src", room, _, ..] => Some(format!("src/{room}/")),
        [folder, _, ..] if !folder.starts_with('.') => Some(format!("{folder}/")),
        _ => None,
    }
}

/// The list of tests has every file of tests, and every folder next to them.
pub fn test(parts: &[&str]) -> Option<String> {
    match parts {
        ["tests", folder, _, ..] => Some(format!("tests/{folder}/")),
        ["tests", file] if file.ends_with(".rs") => Some(format!("tests/{file}")),
        _ => None,
    }
}

/// The list of adapters has every folder of them.
pub fn adapter(parts: &[&str]) -> Option<String> {
    match parts {
        ["adapters", folder, _, ..] => Some(format!("adapters/{folder}/")),
        _ => None,
    }
}

/// A name in a document, and the folder that its heading is about.
#[derive(Debug)]
struct Name {
    line: usize,
    folder: String,
    name: String,
}

impl Name {
    /// The paths that it may mean.
    fn readings(&self) -> impl Iterator<Item = String> {
        let file = self.name.split("::").next().unwrap_or_default().to_owned();
        [format!("{}{file}", self.folder), file].into_iter()
    }
}

fn names(text: &str) -> Vec<Name> {
    let (mut found, mut folder, mut fenced) = (Vec::new(), String::new(), false);
    for (at, line) in text.lines().enumerate() {
        fenced ^= line.starts_with("```");
        if fenced {
            continue;
        }
        let quoted = line.split('`').skip(1).step_by(2);
        if line.starts_with('#') {
            folder = quoted.clone().find(|name| name.ends_with('/')).unwrap_or_default().to_owned();
        }
        let linked = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let paths = quoted.chain(linked).filter(|name| is_path(name)).map(str::to_owned);
        found.extend(paths.map(|name| Name { line: at + 1, folder: folder.clone(), name }));
    }
    found
}

fn is_path(name: &str) -> bool {
    const ENDINGS: [&str; 9] = [".rs", ".md", ".yaml", ".toml", ".json", ".cpp", ".h", ".py", ".lock"];
    // The only names in capitals that are meant as they stand.
    const LOUD: [&str; 5] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Cargo.toml", "Cargo.lock"];
    let file = name.split("::").next().unwrap_or_default();
    if file == ".ci/run" || file == "fuzz/smoke" {
        return true;
    }
    let quiet = LOUD.iter().fold(file.to_owned(), |file, loud| file.replace(loud, "loud.md"));
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-/".contains(c);
    let ends = file.ends_with('/') || ENDINGS.iter().any(|ending| file.ends_with(ending));
    ends && quiet.chars().all(plain) && !file.starts_with(['.', '-', '/']) && !file.starts_with("target/")
}

fn exists(tree: &Tree, name: &Name) -> bool {
    let test = name.name.split_once("::").map(|(_, test)| format!("fn {test}("));
    name.readings().any(|path| match &test {
        None => tree.has(&path),
        Some(test) => tree.get(&path).is_some_and(|text| text.contains(test)),
    })
}
