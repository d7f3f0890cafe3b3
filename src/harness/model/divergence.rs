//! Known divergences: where an implementation is wrong, and known to be, in exactly one way.
//!
//! Each adapter may have a `divergences.yaml` beside its sources. An entry pins the outcome that was observed; another
//! wrong outcome is a new failure, and so is a right one, since the entry is then out of date. An entry may also say where
//! it will be met again, in programs that nobody has written down: by predicates in `applies`, and by the exact signatures
//! that such findings have.
//!
//! A case has one right outcome, which the reference gives. Where an implementation contradicts itself and the reference
//! follows it, there is no such case, and the evidence of an entry is the folder of a finding: a program that must still
//! show its signature.

mod applies;
mod causes;
mod known;
mod witness;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::adapter::Hello;
use crate::assets::{self, AssetsError};
use crate::case::{Releases, Specification};

pub use crate::model::event::{FILE, Kind};
use crate::model::finding::FINDING;
use crate::{Aspect, Difference};

pub use applies::{Applies, Conditions, OpName, Pattern, Special};
pub use known::{known, known_between, known_break};
pub use witness::{Observed, Witness, mismatch, observed};
pub(crate) use witness::{is_pinned, value_of};

/// One way in which an implementation is known to be wrong.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Divergence {
    /// Its name.
    pub id: String,
    /// The versions of the implementation in which it was observed, or ranges of them. In any other it is a failure like
    /// all others. In a file of the user's own ([`Source::File`]), none stand for every version.
    #[serde(default)]
    pub releases: Vec<Releases>,
    /// Parts of the build that the implementation reports, one of which it must have, such as `CPU capability usage: AVX2`;
    /// any build, if there are none. Some kernels exist for some processors only.
    #[serde(default)]
    pub builds: Vec<String>,
    /// The kind of the divergence.
    pub kind: Kind,
    /// The cases that show it.
    #[serde(default)]
    pub witnesses: Vec<Witness>,
    /// The findings that show it: folders in [`findings_folder`].
    #[serde(default)]
    pub findings: Vec<String>,
    /// Whether its results are uninitialized memory, so that another run has others.
    #[serde(default)]
    pub uninitialized: bool,
    /// The report, or `unreported`.
    pub link: String,
    /// The rule of its own that the implementation breaks.
    pub why: String,
    /// The conditions under which it may be met again; empty if none is known.
    #[serde(default)]
    pub applies: Vec<Applies>,
    /// The signatures of findings of it.
    #[serde(default)]
    pub signature: Vec<Pattern>,
}

impl Divergence {
    /// Returns whether it was observed in this version, as it is built here.
    pub fn is_in(&self, hello: &Hello) -> bool {
        (self.releases.is_empty() || self.releases.iter().any(|releases| releases.contain(&hello.version)))
            && (self.builds.is_empty() || self.builds.iter().any(|part| hello.build.contains(part)))
    }
}

/// Returns the path of the file with the divergences of an implementation of this name.
///
/// # Errors
/// Fails if the files that come with broadcheck are not found.
pub fn file_of(implementation: &str) -> Result<PathBuf, AssetsError> {
    Ok(assets::root()?.join("adapters").join(implementation).join("divergences.yaml"))
}

/// Returns the folder of the findings that divergences name. Only a checkout has them.
///
/// # Errors
/// Fails if the files that come with broadcheck are not found.
pub fn findings_folder() -> Result<PathBuf, AssetsError> {
    Ok(assets::root()?.join("reports").join("findings"))
}

/// The place where the divergences of an implementation are read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The file that comes with broadcheck for an implementation of its name, if there is one.
    #[default]
    Own,
    /// This file, such as one in the repository of the library itself.
    File(PathBuf),
    /// No place: every difference counts, but those that a front end of PyTorch has from libtorch.
    Nowhere,
}

/// A file of divergences in the repository of a library: what `check --pin` writes and `--divergences` reads.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownDifferences {
    /// For each operation, how many cases that call it were judged. Fewer do not conform.
    #[serde(default)]
    pub judged: BTreeMap<String, usize>,
    /// The divergences.
    #[serde(default)]
    pub divergences: Vec<Divergence>,
}

/// Reads a file of divergences that a user has named: a [`KnownDifferences`], or a list of divergences.
///
/// # Errors
/// When it cannot be read, or names a case that does not exist.
pub fn read(path: &Path, specification: &Specification) -> Result<KnownDifferences, String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!("{}: {error}; `broadcheck check --impl … --pin {}` writes it", path.display(), path.display())
    })?;
    let parsed = if is_list(&text) {
        serde_yaml::from_str(&text).map(|divergences| KnownDifferences { divergences, ..KnownDifferences::default() })
    } else {
        serde_yaml::from_str(&text)
    };
    let told = |error: String| format!("{}: {error}", path.display());
    let known: KnownDifferences = parsed.map_err(|error| told(error.to_string()))?;
    valid(&known.divergences, specification).map_err(|error| {
        told(format!(
            "{error}; correct it, or bring the file up to date with `broadcheck check --impl … --pin {}`",
            path.display()
        ))
    })?;
    Ok(known)
}

/// Returns whether the first thing in a YAML text is an item of a list.
fn is_list(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#') && *line != "---");
    first.is_some_and(|line| line.starts_with(['-', '[']))
}

/// The divergences of an implementation; none if it has no file of them.
///
/// # Errors
/// When the file cannot be read, or names what is not there.
pub fn load(source: &Source, hello: &Hello, specification: &Specification) -> Result<Vec<Divergence>, String> {
    match source {
        Source::Own => load_own(hello, specification),
        Source::File(path) => {
            let known = read(path, specification)?.divergences;
            once_each(&known, hello).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(known)
        }
        Source::Nowhere => inherited(&[], hello, specification),
    }
}

/// The divergences that come with broadcheck.
fn load_own(hello: &Hello, specification: &Specification) -> Result<Vec<Divergence>, String> {
    // A name with a path in it is no folder of ours.
    if hello.name.contains(['/', '\\', '.']) {
        return Ok(Vec::new());
    }
    let file = file_of(&hello.name).map_err(|error| error.to_string())?;
    let folder = file.parent().expect("it is in the folder of the adapter");
    // Each implementation that comes with broadcheck has such a file. Without it, what is known would be called new.
    let is_ours = ["adapter.toml", "releases.toml"].iter().any(|name| folder.join(name).is_file());
    if is_ours && !file.is_file() {
        return Err(format!(
            "{} is missing, so nothing can be told to be known: put it back, leave BROADCHECK_SOURCE and --source out to \
             use the copy in the program, or give --no-divergences to count every difference",
            file.display()
        ));
    }
    let mut all = all_of(&hello.name, specification)?;
    once_each(&all, hello).map_err(|error| format!("{}: {error}", file.display()))?;
    let below = inherited(&all, hello, specification)?;
    all.extend(below);
    Ok(all)
}

/// What a front end or a mode of PyTorch meets of libtorch, which it runs. What its own file says of a case comes first.
fn inherited(own: &[Divergence], hello: &Hello, specification: &Specification) -> Result<Vec<Divergence>, String> {
    if hello.name.split('-').next() != Some("pytorch") {
        return Ok(Vec::new());
    }
    let there = own.iter().filter(|divergence| divergence.is_in(hello)).flat_map(|divergence| &divergence.witnesses);
    let named: BTreeSet<&str> =
        there.filter(|witness| witness.is_in(&hello.version)).map(|witness| witness.case.as_str()).collect();
    let mut below = all_of("libtorch", specification)?;
    for cause in &mut below {
        cause.findings.clear();
        cause.witnesses.retain(|witness| !named.contains(witness.case.as_str()));
        cause.witnesses.iter_mut().for_each(|witness| witness.inherited = true);
    }
    Ok(below)
}

/// The divergences of an implementation of broadcheck's own, in all of its releases; none if it has no file of them.
///
/// # Errors
/// When a file cannot be read, or names what is not there.
pub fn all_of(implementation: &str, specification: &Specification) -> Result<Vec<Divergence>, String> {
    let file = file_of(implementation).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for path in [file.clone(), file.with_file_name("changes.yaml")].into_iter().filter(|path| path.is_file()) {
        let told = |error: String| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| told(error.to_string()))?;
        let folder = path.parent().expect("it is in the folder of the adapter");
        let read =
            if is_list(&text) { parse(&text, specification) } else { causes::read(folder, &text, specification) };
        all.extend(read.map_err(told)?);
    }
    if let Some(id) = named_twice(&all) {
        return Err(format!(
            "{}: two entries, of it or of the file of causes next to it, are called {id}",
            file.display()
        ));
    }
    let findings = findings_folder().map_err(|error| error.to_string())?;
    if !all.is_empty() && findings.is_dir() {
        let told = |error| format!("{}: {error}", file.display());
        name_each(&all, &folders_of(implementation, &findings).map_err(told)?).map_err(told)?;
    }
    Ok(all)
}

/// The folders of findings in an implementation. Next to them are the pages of other libraries, which are files.
fn folders_of(implementation: &str, root: &Path) -> Result<BTreeSet<String>, String> {
    #[derive(Deserialize)]
    struct Found {
        implementation: Named,
    }
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let mut folders = BTreeSet::new();
    for entry in std::fs::read_dir(root).map_err(|error| format!("{}: {error}", root.display()))? {
        let entry = entry.map_err(|error| format!("{}: {error}", root.display()))?;
        let path = entry.path().join(FINDING);
        if !path.is_file() {
            continue;
        }
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let found: Found = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        if found.implementation.name == implementation {
            folders.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(folders)
}

/// The name that two divergences share, if there is one.
fn named_twice(divergences: &[Divergence]) -> Option<&str> {
    let mut names = BTreeSet::new();
    divergences.iter().map(|divergence| divergence.id.as_str()).find(|id| !names.insert(*id))
}

/// Each folder of a finding belongs to exactly one divergence, which says why it is there, and each one named is there.
fn name_each(divergences: &[Divergence], folders: &BTreeSet<String>) -> Result<(), String> {
    let mut named = BTreeMap::new();
    for Divergence { id, findings, .. } in divergences {
        for folder in findings {
            if !folders.contains(folder) {
                return Err(format!("{id}: there is no finding `{folder}` in reports/findings"));
            }
            if let Some(other) = named.insert(folder, id) {
                return Err(format!("{id}: {folder} is a finding of {other} already"));
            }
        }
    }
    match folders.iter().find(|folder| !named.contains_key(folder)) {
        Some(folder) => Err(format!("no divergence names the finding `{folder}` of reports/findings")),
        None => Ok(()),
    }
}

/// In one version, a case is the witness of one divergence.
fn once_each(divergences: &[Divergence], hello: &Hello) -> Result<(), String> {
    let mut seen = BTreeMap::new();
    for divergence in divergences.iter().filter(|divergence| divergence.is_in(hello)) {
        for witness in divergence.witnesses.iter().filter(|witness| witness.is_in(&hello.version)) {
            if let Some(other) = seen.insert(&witness.case, &divergence.id) {
                return Err(format!("{}: {} is a witness of {other} already", divergence.id, witness.case));
            }
        }
    }
    Ok(())
}

fn parse(text: &str, specification: &Specification) -> Result<Vec<Divergence>, String> {
    let divergences: Vec<Divergence> = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
    if let Some(divergence) = divergences.iter().find(|divergence| divergence.releases.is_empty()) {
        return Err(format!("{}: without a release, it says nothing", divergence.id));
    }
    valid(&divergences, specification)?;
    Ok(divergences)
}

/// Checks what every file of divergences has to hold to.
pub(crate) fn valid(divergences: &[Divergence], specification: &Specification) -> Result<(), String> {
    for divergence in divergences {
        let id = &divergence.id;
        if divergence.witnesses.is_empty() && divergence.findings.is_empty() && divergence.applies.is_empty() {
            return Err(format!("{id}: without a witness or a finding, it says nothing"));
        }
        if divergence.applies.is_empty() != divergence.signature.is_empty() {
            return Err(format!("{id}: `applies` and `signature` say nothing without each other"));
        }
        for witness in &divergence.witnesses {
            let case = &witness.case;
            if !specification.cases.iter().any(|known| known.id == *case) {
                return Err(format!("{id}: there is no case `{case}`"));
            }
            if witness.observed.values().any(BTreeMap::is_empty) {
                return Err(format!("{id}: {case}: `observed` names a value and no aspect of it"));
            }
            if !witness.elsewhere.is_empty() && witness.some_processors.is_none() {
                return Err(format!("{id}: {case}: `elsewhere` needs the reason in `some_processors`"));
            }
            if witness.observed.is_empty() == witness.broken.is_none() {
                return Err(format!("{id}: {case}: say either what was `observed` or how it was `broken`"));
            }
        }
    }
    Ok(())
}

/// The divergence that a case of this version is a witness of.
pub fn of_case<'a>(divergences: &'a [Divergence], hello: &Hello, case: &str) -> Option<(&'a Divergence, &'a Witness)> {
    let witness = |divergence: &'a Divergence| {
        divergence.witnesses.iter().find(|witness| witness.case == case && witness.is_in(&hello.version))
    };
    let mut there = divergences.iter().filter(|divergence| divergence.is_in(hello));
    there.find_map(|divergence| Some((divergence, witness(divergence)?)))
}

/// Returns the difference of a case that should diverge and does not, or not as pinned.
pub fn unmatched(divergence: &Divergence, observed: &str) -> Difference {
    Difference {
        value: format!("divergence {}", divergence.id),
        aspect: Aspect::Outcome,
        by: FILE.to_owned(),
        expected: "the pinned outcome".to_owned(),
        observed: observed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Implementation;
    use crate::reference::Reference;

    const TEXT: &str = "- {id: a, releases: [1.0], kind: bug, link: unreported, why: w, witnesses: [{case: c, ";

    fn fault(text: &str) -> String {
        parse(text, &Specification::default()).unwrap_err()
    }

    #[test]
    fn faults_of_the_file_are_told() {
        assert!(fault("- {id: a, kind: bog}").contains("unknown variant `bog`"));
        assert!(fault("- {id: a, more: 1}").contains("unknown field `more`"));
        assert!(fault(&format!("{TEXT}observed: {{r: {{values: x}}}}}}]}}")).contains("no case `c`"));
        assert!(fault("- {id: a, releases: [], kind: bug, link: l, why: w, witnesses: []}").contains("says nothing"));
    }

    #[test]
    fn findings_and_divergences_name_each_other() {
        let entry = |id: &str, findings: &str| {
            format!("- {{id: {id}, releases: [1.0], kind: bug, link: l, why: w, findings: {findings}}}\n")
        };
        let folders = ["one", "two"].map(str::to_owned).into();
        let told = |text: String| name_each(&parse(&text, &Specification::default()).unwrap(), &folders);
        assert_eq!(told(entry("a", "[one, two]")), Ok(()));
        assert_eq!(told(entry("a", "[one]") + &entry("b", "[two]")), Ok(()));
        assert!(told(entry("a", "[one]")).unwrap_err().contains("no divergence names the finding `two`"));
        assert!(told(entry("a", "[one, two, six]")).unwrap_err().contains("no finding `six`"));
        assert!(told(entry("a", "[one, two]") + &entry("b", "[two]")).unwrap_err().contains("two is a finding of a"));
        assert!(fault(&entry("a", "[]")).contains("says nothing"));
    }

    #[test]
    fn folders_are_those_of_the_implementation() {
        let root = tempfile::tempdir().unwrap();
        for (folder, name) in [("one", "libtorch"), ("two", "other")] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
            let text = format!("{{\"implementation\": {{\"name\": \"{name}\"}}}}");
            std::fs::write(root.path().join(folder).join(FINDING), text).unwrap();
        }
        assert_eq!(folders_of("libtorch", root.path()), Ok(["one".to_owned()].into()));
        // The pages of other libraries are no folders, and a folder may have no finding yet.
        std::fs::write(root.path().join("numpy.md"), "").unwrap();
        std::fs::create_dir(root.path().join("three")).unwrap();
        assert_eq!(folders_of("libtorch", root.path()), Ok(["one".to_owned()].into()));
        std::fs::write(root.path().join("three").join(FINDING), "{}").unwrap();
        assert!(folders_of("libtorch", root.path()).unwrap_err().contains("three"));
    }

    #[test]
    fn malformed_predicates_are_told_with_their_line() {
        let entry = |applies: &str| fault(&format!("- id: a\n  releases: [1.0]\n  applies:\n  - {applies}\n"));
        assert!(entry("{ops: [ad]}").contains("no operation is called \"ad\""), "{}", entry("{ops: [ad]}"));
        for wrong in [
            "{ops: [ad]}",
            "{ops: [add], where: {size: 1}}",
            "{ops: [add], where: {has: [huge]}}",
            "{forms: [outside]}",
        ] {
            assert!(entry(wrong).contains("line 4"), "{}", entry(wrong));
        }
        let lone = format!("{TEXT}observed: {{r: {{values: x}}}}}}], applies: [{{ops: [add]}}]}}");
        assert!(fault(&lone).contains("say nothing without each other"), "{}", fault(&lone));
    }

    #[test]
    fn what_one_build_does_is_pinned_for_that_build() {
        let text =
            "- {id: a, releases: [\">=1.0\"], builds: [AVX2, AVX512], kind: bug, link: l, why: w, findings: [f]}";
        let [divergence] = &parse(text, &Specification::default()).unwrap()[..] else { panic!("one entry") };
        let built = |build: &str| Hello { version: "2.0".to_owned(), build: build.to_owned(), ..Reference.hello() };
        assert!(divergence.is_in(&built("GCC; CPU capability usage: AVX512; MKL")));
        assert!(!divergence.is_in(&built("GCC; CPU capability usage: DEFAULT; MKL")));
    }

    #[test]
    fn a_case_is_the_witness_of_one_divergence_in_a_version() {
        let entry = |id: &str, releases: &str, own: &str| Divergence {
            id: id.to_owned(),
            releases: vec![releases.parse().unwrap()],
            builds: Vec::new(),
            kind: Kind::Changed,
            witnesses: vec![Witness {
                case: "c".to_owned(),
                releases: Some(own.parse().unwrap()),
                ..Witness::default()
            }],
            findings: Vec::new(),
            uninitialized: false,
            link: String::new(),
            why: String::new(),
            applies: Vec::new(),
            signature: Vec::new(),
        };
        let both = [entry("a", "<2.6", "<2.4"), entry("b", "<2.6", ">=2.4")];
        let hello = |version: &str| Hello { version: version.to_owned(), ..Reference.hello() };
        let of = |version| of_case(&both, &hello(version), "c").map(|(divergence, _)| divergence.id.clone());
        assert_eq!((of("2.3.1").as_deref(), of("2.5.1").as_deref(), of("2.6.0")), (Some("a"), Some("b"), None));
        assert_eq!(once_each(&both, &hello("2.3.1")), Ok(()));
        assert_eq!(named_twice(&[entry("a", "<2.6", "<2.6"), entry("b", "<2.6", "<2.6")]), None);
        assert_eq!(named_twice(&[entry("a", "<2.6", "<2.6"), entry("a", ">=2.6", "<2.6")]), Some("a"));
        let twice = [entry("a", "<2.6", "<2.4"), entry("b", "<2.6", "<2.6")];
        assert!(once_each(&twice, &hello("2.3.1")).unwrap_err().contains("b: c is a witness of a already"));
        assert_eq!(once_each(&twice, &hello("2.5.1")), Ok(()));
    }
}
