//! Finds circles of files in `src/`: the strongly connected components of the graph of uses.
//!
//! A file uses another one if it names an item that the other one defines. Names are resolved through imports and
//! re-exports to the file that defines the item, so no file uses a parent that only re-exports its children. Not
//! counted: declarations of modules, re-exports, test modules, and uses of a file's own submodules, which are its parts.

use std::collections::{BTreeMap, BTreeSet};

use super::code::code_only;
use super::tree::Tree;

/// The circles, each file with those that it uses.
pub fn file_circles(tree: &Tree) -> Vec<String> {
    let told = |circle: BTreeMap<String, Vec<String>>| {
        let lines = circle.iter().map(|(path, used)| format!("\n    {path} uses {}", used.join(", ")));
        format!("a circle of {} files:{}", circle.len(), lines.collect::<String>())
    };
    circles(tree).into_iter().map(told).collect()
}

type Edges<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Groups of files that use each other, directly or not: each file with the others of its group that it uses itself.
fn circles(tree: &Tree) -> Vec<BTreeMap<String, Vec<String>>> {
    crates(tree).into_iter().flat_map(|root| circles_of(&Files::of(tree, root))).collect()
}

/// The folders that have a crate's `lib.rs`. Crates themselves use each other without circles: Cargo sees to it.
fn crates(tree: &Tree) -> Vec<&str> {
    tree.sources("src/").filter_map(|(path, _)| path.strip_suffix("lib.rs")).collect()
}

fn circles_of(files: &Files) -> Vec<BTreeMap<String, Vec<String>>> {
    let edges: Edges = files.0.iter().map(|(module, file)| (file.path.as_str(), files.used_by(module))).collect();
    let reached: Edges = edges.keys().map(|&path| (path, reach(&edges, path))).collect();
    let mut groups = BTreeSet::new();
    for (path, others) in reached.iter().filter(|(path, others)| others.contains(*path)) {
        groups.insert(others.iter().copied().filter(|other| reached[other].contains(path)).collect::<BTreeSet<_>>());
    }
    let own = |group: &BTreeSet<&str>, path: &str| edges[path].intersection(group).map(|&it| it.to_owned()).collect();
    let written = |group: &BTreeSet<&str>| group.iter().map(|&path| (path.to_owned(), own(group, path))).collect();
    groups.iter().map(written).collect()
}

/// The files that are reached from one along uses.
fn reach<'a>(edges: &Edges<'a>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(path) = next.pop() {
        next.extend(edges[path].iter().filter(|used| reached.insert(**used)));
    }
    reached
}

/// The segments of a path; of a module, from the root of the crate.
type Path = Vec<String>;

/// The files of a crate, by their modules.
struct Files(BTreeMap<Path, File>);

struct File {
    path: String,
    /// The code without tests and imports.
    code: String,
    /// The names of its items.
    defined: BTreeSet<String>,
    imports: Vec<Import>,
}

/// A name that a `use` binds, or all names of a module.
struct Import {
    /// None for all.
    name: Option<String>,
    path: Path,
    /// True if it is a re-export.
    handed_on: bool,
}

impl Files {
    fn of(tree: &Tree, root: &str) -> Files {
        let crates = crates(tree);
        let own = |path: &str| crates.iter().filter(|it| path.starts_with(**it)).max() == Some(&root);
        let module = |path: &str| -> Option<Path> {
            let inner = path.strip_prefix(root)?.strip_suffix(".rs").filter(|it| *it != "main" && own(path))?;
            let inner = inner.strip_suffix("/mod").unwrap_or(if inner == "lib" { "" } else { inner });
            Some(inner.split('/').filter(|it| !it.is_empty()).map(str::to_owned).collect())
        };
        let all = || tree.sources("src/").filter_map(|(path, text)| Some((module(path)?, path, text)));
        let modules: BTreeSet<Path> = all().map(|(module, ..)| module).collect();
        Files(all().map(|(module, path, text)| (module.clone(), File::of(path, text, &module, &modules))).collect())
    }

    /// The files that define what a file names.
    fn used_by(&self, module: &Path) -> BTreeSet<&str> {
        let file = &self.0[module];
        let words: BTreeSet<&str> = file.code.split(|c: char| !is_word(c)).collect();
        let mut used: Vec<&str> = Vec::new();
        for import in &file.imports {
            match &import.name {
                None => used.extend(words.iter().filter_map(|word| self.item(&import.path, word, &[], &[]))),
                Some(name) if import.handed_on && !words.contains(name.as_str()) => {}
                // A module of which no path says what is used.
                Some(name) if !import.handed_on && !file.code.contains(&format!("{name}::")) => {
                    used.extend(self.0.get(&import.path).map(|file| file.path.as_str()).or(self.definer(&import.path)))
                }
                Some(_) => used.extend(self.definer(&import.path)),
            }
        }
        for path in paths(&file.code) {
            let bound = file.imports.iter().find(|import| import.name.as_ref() == path.first());
            let path = match bound {
                Some(import) => Some([&import.path, &path[1..]].concat()),
                None => absolute(&path, module, |path| self.0.contains_key(path)),
            };
            used.extend(path.and_then(|path| self.definer(&path)));
        }
        let folder = file.path.trim_end_matches("mod.rs").trim_end_matches(".rs").trim_end_matches('/');
        let part = |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        used.into_iter().filter(|path| *path != file.path && !part(path)).collect()
    }

    /// The file that defines the item of a path; none for a module by itself and for a macro of the whole crate.
    fn definer(&self, path: &[String]) -> Option<&str> {
        self.definer_but(path, &[])
    }

    /// The same, which does not ask the modules again that have no such item but by imports.
    fn definer_but(&self, path: &[String], asked: &[&[String]]) -> Option<&str> {
        let end = (0..=path.len()).rev().find(|&end| self.0.contains_key(&path[..end]))?;
        let (module, rest) = path.split_at(end);
        let item = rest.first()?;
        // An item that is not found is made by a macro.
        let own = || Some(self.0[module].path.as_str()).filter(|_| !module.is_empty());
        if asked.contains(&module) {
            return own();
        }
        self.item(module, item, &rest[1..], asked).or_else(own)
    }

    /// The file that defines an item of a module, or `rest` inside of it.
    fn item<'a>(&'a self, module: &[String], item: &str, rest: &[String], asked: &[&[String]]) -> Option<&'a str> {
        let file = self.0.get(module)?;
        if file.defined.contains(item) {
            return Some(&file.path);
        }
        let asked = [asked, &[module]].concat();
        let imports = file.imports.iter().filter(|import| import.path[..] != *module);
        if let Some(import) = imports.clone().find(|import| import.name.as_deref() == Some(item)) {
            return self.definer_but(&[&import.path, rest].concat(), &asked);
        }
        let mut all = imports.filter(|import| import.name.is_none() && import.handed_on);
        all.find_map(|import| self.item(&import.path, item, rest, &asked))
    }
}

impl File {
    fn of(path: &str, text: &str, module: &Path, modules: &BTreeSet<Path>) -> File {
        let (mut code, mut imports) = (String::new(), Vec::new());
        let all = without_tests(&code_only(text));
        let mut rest = all.as_str();
        while let Some((before, start, after)) = next_import(rest) {
            code.push_str(before);
            let (body, after) = after.split_once(';').unwrap_or((after, ""));
            let handed_on = start.starts_with("pub");
            for (path, name) in leaves(body, &[]) {
                let path = absolute(&path, module, |path| modules.contains(path));
                imports.extend(path.map(|path| Import { name, path, handed_on }));
            }
            rest = after;
        }
        code.push_str(rest);
        let defined = code.lines().filter_map(defined).map(str::to_owned).collect();
        File { path: path.to_owned(), code, defined, imports }
    }
}

/// The code before the next `use`, that up to it on its line, and what comes after it.
fn next_import(code: &str) -> Option<(&str, &str, &str)> {
    code.match_indices("use ").find_map(|(at, word)| {
        let line = code[..at].rfind('\n').map_or(0, |end| end + 1);
        let start = code[line..at].trim();
        let alone = start.is_empty() || start == "pub" || (start.starts_with("pub(") && start.ends_with(')'));
        alone.then(|| (&code[..line], start, &code[at + word.len()..]))
    })
}

/// The paths of a tree of imports and the names that they bind, none for a star.
fn leaves(tree: &str, prefix: &[String]) -> Vec<(Path, Option<String>)> {
    let tree = tree.trim();
    if let Some(group) = tree.strip_prefix('{').and_then(|tree| tree.strip_suffix('}')) {
        let mut depth = 0;
        let parts = group.split(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        return parts.filter(|part| !part.trim().is_empty()).flat_map(|part| leaves(part, prefix)).collect();
    }
    match tree.split_once("::") {
        Some((first, rest)) => leaves(rest, &[prefix, &[first.trim().to_owned()]].concat()),
        None if tree == "*" => vec![(prefix.to_vec(), None)],
        None => {
            let (last, alias) = tree.split_once(" as ").unwrap_or((tree, tree));
            let path = if last == "self" { prefix.to_vec() } else { [prefix, &[last.to_owned()]].concat() };
            let name = if alias == "self" { path.last().cloned() } else { Some(alias.trim().to_owned()) };
            vec![(path, name)]
        }
    }
}

/// A path from the root of the crate; none for one that leads out of it.
fn absolute(path: &[String], module: &Path, known: impl Fn(&Path) -> bool) -> Option<Path> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let up = path.iter().take_while(|it| *it == "super").count();
            Some([&module[..module.len().checked_sub(up)?], &path[up..]].concat())
        }
        _ => Some([&module[..], path].concat()).filter(|_| known(&[&module[..], &path[..1]].concat())),
    }
}

/// The paths of several segments in code.
fn paths(code: &str) -> Vec<Path> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(is_word) {
        let before = rest[..at].ends_with("::");
        rest = &rest[at..];
        let mut path = Vec::new();
        loop {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            path.push(rest[..end].to_owned());
            rest = &rest[end..];
            match rest.strip_prefix("::") {
                Some(after) if after.starts_with(is_word) => rest = after,
                // What a macro is given.
                Some(_) => break path.push("_".to_owned()),
                None => break,
            }
        }
        if path.len() > 1 && !before {
            found.push(path);
        }
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name of the item that a line at the left margin begins.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().filter(|word| !word.starts_with("pub"));
    if line.starts_with([' ', '}', ')']) {
        return None;
    }
    let kind = words.find(|word| !["const", "async", "in"].contains(word) || line.starts_with("const "))?;
    let kinds = ["fn", "struct", "enum", "trait", "union", "static", "type", "macro_rules!", "const"];
    let name = if kind == "const" { words.find(|word| *word != "fn")? } else { words.next()? };
    let end = name.find(|c| !is_word(c)).unwrap_or(name.len());
    kinds.contains(&kind).then(|| &name[..end])
}

/// The code without modules of tests.
fn without_tests(code: &str) -> String {
    let (mut kept, mut inside, mut tests) = (String::new(), false, false);
    for line in code.lines() {
        tests |= line.starts_with("#[cfg(") && line.contains("test");
        inside |= tests && line.starts_with("mod ") && line.ends_with('{');
        tests &= line.starts_with("#[");
        if !inside {
            kept.push_str(line);
            kept.push('\n');
        }
        inside &= line != "}";
    }
    kept
}
