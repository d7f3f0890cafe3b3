//! The releases of libtorch that can be installed, read from `adapters/libtorch/releases.toml`, and what is assumed of a
//! release that is not in it. It holds data only and must not know how a release is fetched or where it is put.

use serde::{Deserialize, Serialize};

use super::error::InstallError;

/// The release that the adapter's `tch` was generated from, and the one that is installed when none is named.
pub const DEFAULT_VERSION: &str = "2.13.0";

/// One installable release on one platform.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The release, as PyTorch numbers it.
    pub version: String,
    /// The version of the `tch` crate that the adapter is built with; without one, every call goes to libtorch's
    /// dispatcher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tch: Option<String>,
    /// Operating system and processor, as [`this_target`] gives them.
    pub target: String,
    /// File name of the wheel that holds it.
    pub wheel: String,
    /// The Python version that pip fetches for.
    pub python: String,
    /// The wheel's platform tag.
    pub platform: String,
    /// The wheel's size in bytes.
    pub size: u64,
    /// Bytes that the part of it that is kept takes when unpacked.
    pub unpacked: u64,
    /// The wheel's hash, lower-case hexadecimal.
    pub sha256: String,
    /// True if it was built with the C++11 ABI of libstdc++.
    pub cxx11_abi: bool,
    /// Known hashes of other wheels that it needs something of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<KnownFile>,
    /// It is not pinned: the wheel, its size and its hash are not known yet, and the first download is trusted.
    #[serde(skip)]
    pub first_use: bool,
}

/// A file whose hash is known beforehand.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFile {
    /// The name of the file.
    pub file: String,
    /// The size in bytes.
    pub size: u64,
    /// The SHA-256 of the file.
    pub sha256: String,
}

impl Release {
    /// The hash that a file of this name must have, where one is known.
    pub fn known_sha256(&self, file: &str) -> Option<&str> {
        if file == self.wheel {
            return Some(&self.sha256);
        }
        // An index may offer another build of torch under another name; that one has no hash of its own here.
        if file.starts_with("torch-") && !self.first_use {
            return Some(&self.sha256);
        }
        self.also.iter().find(|known| known.file == file).map(|known| known.sha256.as_str())
    }
}

/// All releases that can be installed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    #[serde(rename = "release", default)]
    releases: Vec<Release>,
}

impl Catalog {
    /// The releases that this version of broadcheck knows.
    pub fn built_in() -> Catalog {
        Catalog::parse(include_str!("../../packaged/adapters/libtorch/releases.toml"))
            .expect("releases.toml is checked by a test of this crate")
    }

    /// Reads a catalogue from text; the error says where the text is wrong.
    pub fn parse(text: &str) -> Result<Catalog, String> {
        let catalog: Catalog = toml::from_str(text).map_err(|error| error.to_string())?;
        for (index, release) in catalog.releases.iter().enumerate() {
            let same = |other: &Release| other.version == release.version && other.target == release.target;
            if catalog.releases[..index].iter().any(same) {
                return Err(format!("release {} for {} is listed twice", release.version, release.target));
            }
        }
        Ok(catalog)
    }

    /// The release of that version for this machine. One that is not in the catalogue is assumed to be like its
    /// neighbours, and to be fetched on trust; only a text that is not a release, or one older than all here, is
    /// rejected.
    pub fn find(&self, version: &str) -> Result<Release, InstallError> {
        self.find_for(version, &this_target())
    }

    fn find_for(&self, version: &str, target: &str) -> Result<Release, InstallError> {
        let here = || self.releases.iter().filter(|release| release.target == target);
        if here().next().is_none() {
            return Err(InstallError::UnsupportedPlatform { target: target.to_string() });
        }
        if let Some(known) = here().find(|release| release.version == version) {
            return Ok(known.clone());
        }
        let older = here().filter(|release| numbers(&release.version) < numbers(version));
        match older.max_by_key(|release| numbers(&release.version)) {
            Some(before) if is_release(version) => Ok(Release {
                version: version.to_string(),
                wheel: String::new(),
                size: 0,
                sha256: String::new(),
                also: Vec::new(),
                first_use: true,
                ..before.clone()
            }),
            _ => {
                let mut known: Vec<&str> = here().map(|release| release.version.as_str()).collect();
                known.sort_by_key(|version| std::cmp::Reverse(numbers(version)));
                Err(InstallError::NoSuchRelease {
                    asked: version.to_string(),
                    known: known.join(", "),
                    closest: closest(version, &known),
                })
            }
        }
    }

    /// Returns whether the adapter for a libtorch of this version is built with `tch`: as that of its release is,
    /// else as that of the newest release before it.
    pub(super) fn with_tch(&self, version: &str) -> bool {
        let version = numbers(version.split('+').next().unwrap_or(version));
        let older = self.releases.iter().filter(|release| numbers(&release.version) <= version);
        older.max_by_key(|release| numbers(&release.version)).is_some_and(|release| release.tch.is_some())
    }

    /// Puts a release in the place of one of the same version and target, or adds it.
    pub(super) fn put(&mut self, release: Release) {
        self.releases.retain(|other| other.version != release.version || other.target != release.target);
        self.releases.push(release);
        self.releases.sort_by_key(|release| std::cmp::Reverse(numbers(&release.version)));
    }

    /// Every release in it, for all platforms.
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The text of `releases.toml` for what is in it.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a catalogue is plain data")
    }
}

/// Returns whether it reads as PyTorch numbers its releases. A version becomes the name of a folder, so nothing else
/// gets far.
fn is_release(version: &str) -> bool {
    let parts: Vec<&str> = version.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

/// The numbers of a version, by which 2.10 comes after 2.9.
pub(super) fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// This machine's operating system and processor, as `releases.toml` names them.
pub fn this_target() -> String {
    format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH)
}

/// A guess is worth making only where there are several to choose from and one is plainly near.
fn closest(asked: &str, known: &[&str]) -> Option<String> {
    let near = known.iter().map(|version| (strsim::normalized_levenshtein(asked, version), *version));
    let (likeness, version) = near.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (known.len() > 1 && likeness >= 0.6).then(|| version.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_catalogue_has_the_default_version_with_a_plausible_hash() {
        let catalog = Catalog::built_in();
        let release = catalog.find_for(DEFAULT_VERSION, "linux-x86_64").unwrap();
        assert!(release.wheel.contains(&release.platform) && release.wheel.contains(&release.version));
        // The manifest names the `tch` of the default release, and there is no other.
        let manifest = include_str!("../../adapters/libtorch/Cargo.toml");
        for tch in catalog.releases().iter().filter_map(|release| release.tch.as_ref()) {
            assert!(manifest.contains(&format!("tch = {{ version = \"={tch}\"")), "{tch}");
        }
        assert!(release.tch.is_some());
        let hashes = release.also.iter().map(|known| &known.sha256).chain([&release.sha256]);
        for hash in hashes {
            assert!(hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{hash}");
        }
    }

    #[test]
    fn an_unknown_version_is_answered_with_the_known_ones() {
        for version in ["1.12.1", "2.13", "2.13.0rc1", "2.x.1", "../2.13.0", ""] {
            let text = Catalog::built_in().find_for(version, "linux-x86_64").unwrap_err().to_string();
            assert!(text.contains(version) && text.contains(DEFAULT_VERSION), "{text}");
        }
    }

    #[test]
    fn an_unpinned_release_is_like_the_one_before_it() {
        let catalog = Catalog::built_in();
        let future = catalog.find_for("99.1.0", "linux-x86_64").unwrap();
        let newest = &catalog.releases()[0];
        assert!(future.first_use && future.sha256.is_empty() && future.wheel.is_empty());
        assert_eq!((&future.tch, future.cxx11_abi), (&newest.tch, newest.cxx11_abi));
        assert_eq!(future.known_sha256("torch-99.1.0-x.whl"), None);
        assert!(catalog.with_tch("99.1.0+cpu") && !catalog.with_tch("2.0.1") && !catalog.with_tch("1.13.1"));
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        assert!(numbers("2.10.0") > numbers("2.9.1"));
        assert!(numbers("2.10.0+cpu") == numbers("2.10.0"));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut catalog = Catalog::built_in();
        let mut release = catalog.releases()[0].clone();
        release.version = "99.1.0".to_string();
        catalog.put(release);
        assert_eq!(Catalog::parse(&catalog.to_toml()).unwrap().releases()[0].version, "99.1.0");
    }

    #[test]
    fn another_platform_needs_its_own_libtorch() {
        let text = Catalog::built_in().find_for(DEFAULT_VERSION, "plan9-mips").unwrap_err().to_string();
        assert!(text.contains("plan9-mips") && text.contains("LIBTORCH"), "{text}");
    }

    #[test]
    fn a_release_that_is_listed_twice_is_rejected() {
        let text = include_str!("../../adapters/libtorch/releases.toml");
        let doubled = format!("{text}\n{text}");
        assert!(Catalog::parse(&doubled).unwrap_err().contains("listed twice"));
    }
}
