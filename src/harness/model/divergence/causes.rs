//! The causes of what an implementation does otherwise: `causes.toml` says what each is and where it is met, and
//! `divergences.yaml`, which `adapters/pin.py` writes, has the cases that show it and the versions that they were run on.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer};

use super::{Applies, Divergence, Kind, Pattern, Witness, valid};
use crate::case::{Releases, Specification};
use crate::model::finding::Oracle;

/// The name of the file with the causes, beside the one with the cases.
pub(super) const CAUSES: &str = "causes.toml";

/// The cases that show each cause.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pinned {
    /// The versions of the implementation that were run.
    releases: Vec<Releases>,
    /// The cases, by the id of the cause.
    #[serde(default)]
    witnesses: BTreeMap<String, Vec<Witness>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Causes {
    /// The adapters whose causes come after the own ones.
    #[serde(default)]
    inherits: Vec<String>,
    /// Whether the causes of others count in campaigns, too, by which programs they apply to.
    #[serde(default)]
    campaigns: bool,
    /// The same of an adapter that does not run the specification.
    #[serde(default)]
    campaigns_only: bool,
    #[serde(default)]
    cause: Vec<Cause>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cause {
    id: String,
    kind: Kind,
    link: String,
    why: String,
    /// The differences that it explains, which `pin.py` reads.
    #[serde(rename = "when")]
    _when: IgnoredAny,
    /// Whether elements are not pinned, which `pin.py` reads.
    #[serde(default, rename = "unwritten")]
    _unwritten: IgnoredAny,
    /// The end of an observed text that is pinned, which `pin.py` reads.
    #[serde(default, rename = "until")]
    _until: IgnoredAny,
    #[serde(default)]
    applies: Vec<Applies>,
    #[serde(default)]
    signature: Vec<Signatures>,
    /// Whether it is another adapter's.
    #[serde(skip)]
    inherited: bool,
}

/// One signature for each of several oracles.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signatures {
    #[serde(deserialize_with = "one_or_several")]
    oracle: Vec<Oracle>,
    call: String,
    kind: String,
    #[serde(default)]
    text: String,
}

fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Oracle>, D::Error> {
    let oracles = match toml::Value::deserialize(deserializer)? {
        toml::Value::Array(several) => several,
        one => vec![one],
    };
    oracles.into_iter().map(|oracle| oracle.try_into().map_err(D::Error::custom)).collect()
}

/// The divergences of the adapter in this folder, by the text of its file of cases.
///
/// # Errors
/// When a file cannot be read, or names a cause or a case that is not there.
pub(super) fn read(folder: &Path, pinned: &str, specification: &Specification) -> Result<Vec<Divergence>, String> {
    let Pinned { releases, mut witnesses } = serde_yaml::from_str(pinned).map_err(|error| error.to_string())?;
    let described = described(folder)?;
    let campaigns = described.campaigns || described.campaigns_only;
    let mut divergences = Vec::new();
    for cause in all(folder, described)? {
        let witnesses = witnesses.remove(&cause.id).unwrap_or_default();
        // One of another adapter that no case shows here counts in campaigns alone.
        let applies = !cause.applies.is_empty() && (campaigns || !cause.inherited);
        if !witnesses.is_empty() || applies {
            divergences.push(cause.shown_by(witnesses, &releases));
        }
    }
    if let Some(id) = witnesses.keys().next() {
        return Err(format!("there is no cause `{id}` in {CAUSES}"));
    }
    valid(&divergences, specification)?;
    Ok(divergences)
}

fn described(folder: &Path) -> Result<Causes, String> {
    let path = folder.join(CAUSES);
    let told = |error: String| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|error| told(error.to_string()))?;
    toml::from_str(&text).map_err(|error| told(error.to_string()))
}

/// The causes of an adapter, then those that it inherits, each once.
fn all(folder: &Path, described: Causes) -> Result<Vec<Cause>, String> {
    let mut causes = described.cause;
    for other in &described.inherits {
        let there = folder.with_file_name(other);
        for cause in all(&there, self::described(&there)?)? {
            match causes.iter_mut().find(|own| own.id == cause.id) {
                // Campaigns know one that has cases of its own as they know the one that it stands for.
                Some(own) if own.applies.is_empty() => {
                    (own.applies, own.signature) = (cause.applies, cause.signature);
                }
                Some(_) => {}
                None => causes.push(Cause { inherited: true, ..cause }),
            }
        }
    }
    Ok(causes)
}

impl Cause {
    fn shown_by(self, witnesses: Vec<Witness>, releases: &[Releases]) -> Divergence {
        Divergence {
            id: self.id,
            releases: releases.to_vec(),
            builds: Vec::new(),
            uninitialized: false,
            kind: self.kind,
            witnesses,
            findings: Vec::new(),
            link: self.link,
            why: self.why.split_whitespace().collect::<Vec<_>>().join(" "),
            applies: self.applies,
            signature: self.signature.iter().flat_map(Signatures::each).collect(),
        }
    }
}

impl Signatures {
    fn each(&self) -> Vec<Pattern> {
        let of = |oracle: &Oracle| Pattern {
            oracle: *oracle,
            call: self.call.clone(),
            kind: self.kind.clone(),
            text: self.text.clone(),
        };
        self.oracle.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cause of its own, one that it inherits with what campaigns know it by, and one that nothing shows here.
    #[test]
    fn causes_are_inherited_and_shown_by_cases() {
        let root = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            std::fs::create_dir_all(root.path().join(name)).unwrap();
            std::fs::write(root.path().join(name).join(CAUSES), text).unwrap();
        };
        let cause = |id: &str, more: &str| {
            format!(
                "[[cause]]\nid = \"{id}\"\nkind = \"bug\"\nlink = \"unreported\"\nwhy = \"\"\"\nOf two\nlines.\"\"\"\n\
                 when = [{{ aspect = \"values\" }}]\n{more}\n"
            )
        };
        let known = "applies = [{ ops = [\"add\"] }]\n\
                     signature = [{ oracle = [\"reference\", \"release\"], call = \"add\", kind = \"values\" }]";
        file("below", &[cause("rounds", known), cause("wraps", known), cause("hangs", "")].concat());
        let own = [cause("rounds", ""), cause("cuts", "")].concat();
        let read = |head: &str, pinned: &str| {
            file("above", &format!("{head}inherits = [\"below\"]\n{own}"));
            read(&root.path().join("above"), pinned, &Specification::default())
        };
        let ids = |divergences: &[Divergence]| divergences.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
        let pinned = "releases: [\"1.0\"]\nwitnesses: {}\n";
        let divergences = read("", pinned).unwrap();
        assert_eq!(ids(&divergences), ["rounds"], "what is inherited counts in campaigns alone, and where it is said");
        assert_eq!((divergences[0].why.as_str(), divergences[0].signature.len()), ("Of two lines.", 2));
        assert_eq!(ids(&read("campaigns = true\n", pinned).unwrap()), ["rounds", "wraps"]);
        let pinned =
            |id: &str| format!("releases: [\"1.0\"]\nwitnesses:\n  {id}:\n    - {{case: a/b, broken: no answer}}\n");
        assert_eq!(read("", &pinned("cut")).unwrap_err(), "there is no cause `cut` in causes.toml");
        assert_eq!(read("", &pinned("cuts")).unwrap_err(), "cuts: there is no case `a/b`");
    }
}
