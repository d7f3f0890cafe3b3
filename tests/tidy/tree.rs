//! The text files of the repository, in memory.

use std::collections::BTreeMap;
use std::ops::Index;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

/// Text files by their paths from the root.
#[derive(Clone, Debug)]
pub struct Tree(BTreeMap<String, String>);

impl Tree {
    /// The files as they are.
    pub fn here() -> &'static Tree {
        static HERE: LazyLock<Tree> = LazyLock::new(|| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            let paths = tracked(root).unwrap_or_else(|| walk(root, Path::new("")));
            let read = |path: String| std::fs::read_to_string(root.join(&path)).ok().map(|text| (path, text));
            Tree(paths.into_iter().filter_map(read).collect())
        });
        &HERE
    }

    /// The same with another text in one file.
    pub fn with(&self, path: &str, text: &str) -> Tree {
        let mut tree = self.clone();
        tree.0.insert(path.to_owned(), text.to_owned());
        tree
    }

    pub fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust files whose paths begin so.
    pub fn sources<'a>(&'a self, start: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.all().filter(move |(path, _)| path.starts_with(start) && path.ends_with(".rs"))
    }

    /// True if a file or a folder exists. A folder ends with a slash.
    pub fn has(&self, path: &str) -> bool {
        self.0.contains_key(path) || (path.ends_with('/') && self.0.keys().any(|file| file.starts_with(path)))
    }
}

impl Index<&str> for Tree {
    type Output = str;

    fn index(&self, path: &str) -> &str {
        self.get(path).unwrap_or_else(|| panic!("{path} is missing, or is not text"))
    }
}

/// The files that git has or could add; none where there is no clone or no git.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let git = Command::new("git")
        .current_dir(root)
        .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .ok()?;
    let paths = String::from_utf8(git.stdout).ok()?;
    (git.status.success() && !paths.is_empty()).then(|| paths.split_terminator('\0').map(str::to_owned).collect())
}

/// All files but those of cargo and of version control.
fn walk(root: &Path, folder: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let path = folder.join(&name);
        if !entry.path().is_dir() {
            paths.push(path.to_string_lossy().replace('\\', "/"));
        } else if name != "target" && name != ".git" {
            paths.extend(walk(root, &path));
        }
    }
    paths
}
