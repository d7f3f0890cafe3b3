//! Ranges of releases: where an expectation, or a known divergence, holds.

use std::fmt;
use std::str::FromStr;

use semver::{Version, VersionReq};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A range of releases, as in `>=2.1, <2.6`; a version alone is that version, and `2.6` all of its patch releases.
///
/// ```
/// use broadcheck_oracles::case::Releases;
///
/// let releases: Releases = serde_json::from_str("\">=2.1, <2.6\"").unwrap();
/// assert!(releases.contain("2.5.1") && !releases.contain("2.6.0"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Releases {
    text: String,
    range: VersionReq,
}

impl Releases {
    /// Returns whether a version is one of them. A text that is not a version is none of them.
    pub fn contain(&self, version: &str) -> bool {
        version_of(version).is_some_and(|version| self.range.matches(&version))
    }
}

/// The release behind a version: `2.13.0+cpu` is built of 2.13.0, and so are its release candidates.
fn version_of(text: &str) -> Option<Version> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let mut numbers = text[..end].split('.').map(str::parse::<u64>);
    let mut next = || numbers.next().unwrap_or(Ok(0)).ok();
    Some(Version::new(next()?, next()?, next()?))
}

impl FromStr for Releases {
    type Err = String;

    fn from_str(text: &str) -> Result<Releases, String> {
        let alone = text.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let range = if alone { format!("={text}") } else { text.to_owned() };
        let range = VersionReq::parse(&range)
            .map_err(|error| format!("`{text}` is not a range of releases such as `>=2.1, <2.6`: {error}"))?;
        Ok(Releases { text: text.to_owned(), range })
    }
}

impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Releases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Releases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Releases, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contain(range: &str, version: &str) -> bool {
        range.parse::<Releases>().unwrap().contain(version)
    }

    #[test]
    fn a_range_has_the_releases_between_its_ends() {
        for (version, inside) in [("2.0.1", false), ("2.1.0", true), ("2.5.1+cpu", true), ("2.6.0", false)] {
            assert_eq!(contain(">=2.1, <2.6", version), inside, "{version}");
        }
        assert!(contain("2.13.0", "2.13.0+cu130") && !contain("2.13.0", "2.13.1"));
        assert!(contain("2.13", "2.13.1") && !contain("2.13", "2.14.0"));
        assert!(contain("<2.16", "2.15.0a0+git1234"));
        assert!(!contain("<2.16", "unknown"));
    }

    #[test]
    fn an_invalid_range_is_an_error() {
        let told = "since 2.6".parse::<Releases>().unwrap_err();
        assert!(told.contains("`since 2.6` is not a range of releases such as `>=2.1, <2.6`"), "{told}");
    }
}
