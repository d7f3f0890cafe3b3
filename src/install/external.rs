//! A libtorch that the user already has and points to: a folder (LIBTORCH) or Python's torch package
//! (LIBTORCH_USE_PYTORCH). It is looked at and never changed. This module must not know the cache.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use super::elf;
use super::error::InstallError;
use super::files;
use super::{Origin, pip};

/// The way in which the user points to a libtorch.
#[derive(Debug, Clone)]
pub enum External {
    /// The folder that LIBTORCH names.
    Folder(PathBuf),
    /// The torch package of this Python program.
    Python(OsString),
}

/// The properties of it that an inspection found.
#[derive(Debug)]
pub(super) struct Resolved {
    pub origin: Origin,
    pub root: PathBuf,
    pub version: String,
    pub cxx11_abi: bool,
    /// Changes whenever another libtorch is put in the same folder.
    pub identity: String,
}

impl External {
    /// Returns the libtorch that the environment points to. LIBTORCH comes first, being the more definite.
    pub fn from_env() -> Option<External> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(folder) = variable("LIBTORCH") {
            return Some(External::Folder(folder.into()));
        }
        variable("LIBTORCH_USE_PYTORCH").filter(|value| value != "0")?;
        Some(External::Python(pip::program_from_env()))
    }

    /// Looks at it.
    pub(super) fn resolve(&self) -> Result<Resolved, InstallError> {
        match self {
            External::Folder(folder) => look(folder, Origin::Folder, &format!("LIBTORCH={}", folder.display())),
            External::Python(program) => {
                let folder = torch_folder(program)?;
                look(&folder, Origin::Python, &format!("Python's torch package in {}", folder.display()))
            }
        }
    }
}

impl Resolved {
    /// A short name that differs for each folder.
    pub(super) fn short_name(&self) -> String {
        let hash = Sha256::digest(self.root.to_string_lossy().as_bytes());
        format!("external-{}", &files::hexadecimal(&hash)[..12])
    }
}

fn look(folder: &Path, origin: Origin, from: &str) -> Result<Resolved, InstallError> {
    let bad = |problem: &str| InstallError::BadExternal { from: from.to_string(), problem: problem.to_string() };
    let root = fs::canonicalize(folder).map_err(|error| bad(&format!("it cannot be read ({error})")))?;
    if !root.join("include").is_dir() {
        return Err(bad("it has no folder include/"));
    }
    let library = library_in(&root).ok_or_else(|| bad("it has no lib/libtorch_cpu.so"))?;
    let version = version_of(&root).ok_or_else(|| bad("neither build-version nor its headers have its version"))?;
    let metadata = fs::metadata(&library).map_err(|error| bad(&format!("its library cannot be read ({error})")))?;
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let identity = format!("{version} {} {} {}", root.display(), metadata.len(), changed.as_nanos());
    // libc10 is small and full of functions that take strings; a libtorch that hides them is of this decade.
    let named = std::env::var("LIBTORCH_CXX11_ABI").ok().map(|value| value != "0");
    let cxx11_abi = named.or_else(|| elf::cxx11_abi(&library.with_file_name("libc10.so"))).unwrap_or(true);
    Ok(Resolved { origin, root, version, cxx11_abi, identity })
}

/// libtorch's library, in `lib` or, as Debian has it in `/usr`, one folder further down, where linkers look unasked.
fn library_in(root: &Path) -> Option<PathBuf> {
    let names = ["libtorch_cpu.so", "libtorch_cpu.dylib"];
    let folders = [root.join("lib"), root.join("lib").join(format!("{}-linux-gnu", std::env::consts::ARCH))];
    folders.iter().flat_map(|folder| names.map(|name| folder.join(name))).find(|path| path.is_file())
}

/// The version, from the file that PyTorch's own libtorch archives carry, else from the headers.
fn version_of(root: &Path) -> Option<String> {
    if let Ok(text) = fs::read_to_string(root.join("build-version")) {
        return Some(text.trim().to_string()).filter(|version| !version.is_empty());
    }
    // The macro has moved: first where it is now, then where it was.
    let headers = ["include/torch/headeronly/version.h", "include/torch/csrc/api/include/torch/version.h"];
    headers.iter().find_map(|header| version_macro(&fs::read_to_string(root.join(header)).ok()?))
}

/// The string in `#define TORCH_VERSION "…"`, which may stand on the next line.
fn version_macro(header: &str) -> Option<String> {
    let (_, after) = header.split_once("#define TORCH_VERSION ")?;
    let quoted = after.trim_start_matches(|c: char| c.is_whitespace() || c == '\\').strip_prefix('"')?;
    quoted.split_once('"').map(|(version, _)| version.to_string())
}

/// Asks Python where its torch is, without the seconds that importing it would take.
fn torch_folder(program: &OsString) -> Result<PathBuf, InstallError> {
    const QUESTION: &str = "import importlib.util as u; s = u.find_spec('torch'); \
                            print(s.submodule_search_locations[0] if s else '')";
    let python = || program.to_string_lossy().into_owned();
    let output = Command::new(program).args(["-c", QUESTION]).output();
    let output = output.map_err(|_| InstallError::NoPython { python: python() })?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim() {
        "" => Err(InstallError::NoPythonTorch { python: python() }),
        folder => Ok(folder.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_either_form_of_the_header() {
        let new = "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION \\\n  \"2.13.0\"\n";
        assert_eq!(version_macro(new).unwrap(), "2.13.0");
        assert_eq!(version_macro("#define TORCH_VERSION \"1.13.1\"\n").unwrap(), "1.13.1");
        assert_eq!(version_macro("#define TORCH_VERSION_MAJOR 2\n"), None);
    }

    #[test]
    fn a_folder_without_headers_is_rejected_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let text = External::Folder(folder.path().into()).resolve().unwrap_err().to_string();
        assert!(text.contains("LIBTORCH=") && text.contains("include/"), "{text}");
        fs::create_dir(folder.path().join("include")).unwrap();
        let text = External::Folder(folder.path().into()).resolve().unwrap_err().to_string();
        assert!(text.contains("lib/libtorch_cpu.so"), "{text}");
        let debian = folder.path().join(format!("lib/{}-linux-gnu", std::env::consts::ARCH));
        fs::create_dir_all(&debian).unwrap();
        fs::write(debian.join("libtorch_cpu.so"), "").unwrap();
        let text = External::Folder(folder.path().into()).resolve().unwrap_err().to_string();
        assert!(text.contains("version"), "{text}");
    }
}
