//! The releases of libtorch that can be installed, read from `adapters/libtorch/releases.toml`. It holds data only and
//! must not know how a release is fetched or where it is put.

use serde::Deserialize;

use super::error::InstallError;

/// The release that the adapter's `tch` was generated from, and the one that is installed when none is named.
pub const DEFAULT_VERSION: &str = "2.13.0";

/// One installable release on one platform.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The release, as PyTorch numbers it.
    pub version: String,
    /// The version of the `tch` crate that the adapter is built with.
    pub tch: String,
    /// Operating system and processor, as [`this_target`] gives them.
    pub target: String,
    /// File name of the wheel that holds it.
    pub wheel: String,
    /// The Python version that pip is told to fetch for.
    pub python: String,
    /// The wheel's platform tag.
    pub platform: String,
    /// The wheel's size in bytes.
    pub size: u64,
    /// Bytes that the part of it that is kept takes when unpacked.
    pub unpacked: u64,
    /// The wheel's hash, lower-case hexadecimal.
    pub sha256: String,
    /// Whether it was built with the C++11 ABI of libstdc++.
    pub cxx11_abi: bool,
    /// Known hashes of other wheels that it needs something of.
    #[serde(default)]
    pub also: Vec<KnownFile>,
}

/// A file whose hash is known beforehand.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFile {
    pub file: String,
    pub size: u64,
    pub sha256: String,
}

impl Release {
    /// The hash that a file of this name must have, where one is known.
    pub fn known_sha256(&self, file: &str) -> Option<&str> {
        if file == self.wheel {
            return Some(&self.sha256);
        }
        self.also.iter().find(|known| known.file == file).map(|known| known.sha256.as_str())
    }
}

/// All releases that can be installed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    #[serde(rename = "release")]
    releases: Vec<Release>,
}

impl Catalog {
    /// The releases that this version of broadcheck knows.
    pub fn built_in() -> Catalog {
        Catalog::parse(include_str!("../../adapters/libtorch/releases.toml"))
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

    /// The release of that version for this machine.
    pub fn find(&self, version: &str) -> Result<&Release, InstallError> {
        self.find_for(version, &this_target())
    }

    fn find_for(&self, version: &str, target: &str) -> Result<&Release, InstallError> {
        let here = || self.releases.iter().filter(|release| release.target == target);
        if here().next().is_none() {
            return Err(InstallError::UnsupportedPlatform { target: target.to_string() });
        }
        here().find(|release| release.version == version).ok_or_else(|| {
            let known: Vec<&str> = here().map(|release| release.version.as_str()).collect();
            InstallError::NoSuchRelease {
                asked: version.to_string(),
                known: known.join(", "),
                closest: closest(version, &known),
            }
        })
    }

    /// Every release in it, for all platforms.
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }
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
        let hashes = release.also.iter().map(|known| &known.sha256).chain([&release.sha256]);
        for hash in hashes {
            assert!(hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{hash}");
        }
    }

    #[test]
    fn an_unknown_version_is_answered_with_the_known_ones() {
        let text = Catalog::built_in().find_for("9.9.9", "linux-x86_64").unwrap_err().to_string();
        assert!(text.contains("9.9.9") && text.contains(DEFAULT_VERSION), "{text}");
    }

    #[test]
    fn another_platform_is_told_to_bring_its_own() {
        let text = Catalog::built_in().find_for(DEFAULT_VERSION, "plan9-mips").unwrap_err().to_string();
        assert!(text.contains("plan9-mips") && text.contains("LIBTORCH"), "{text}");
    }

    #[test]
    fn a_release_that_is_listed_twice_is_refused() {
        let text = include_str!("../../adapters/libtorch/releases.toml");
        let doubled = format!("{text}\n{text}");
        assert!(Catalog::parse(&doubled).unwrap_err().contains("listed twice"));
    }
}
