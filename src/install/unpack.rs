//! Takes out of PyTorch's wheel what the CPU part of libtorch needs: the headers, `libtorch_cpu.so`, and every library
//! that this one needs in turn, wherever it is to be had. Which they are is read from the libraries themselves. It
//! must not know where the result is put in the end, nor what is built against it.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::downloads::Downloads;
use super::elf;
use super::error::{InstallError, io_error};
use super::progress::Progress;
use super::requires::{self, Requirement, Supplier};
use super::wheel::{Entry, Wheel};

/// Unpacks into the folders `include` and `lib` of `into`, and gives the names of the libraries.
pub(super) fn libtorch(
    downloads: &mut Downloads<'_>,
    into: &Path,
    progress: &Progress,
) -> Result<Vec<String>, InstallError> {
    let torch = Wheel::open(&downloads.torch()?)?;
    let mut unpacking = Unpacking { torch, lib: into.join("lib"), placed: BTreeSet::new(), wanted: VecDeque::new() };
    let elsewhere = unpacking.take_from_torch(into, progress)?;
    unpacking.take_from_elsewhere(elsewhere, downloads)?;
    link_names(&unpacking.lib, &unpacking.placed)?;
    Ok(unpacking.placed.into_iter().collect())
}

struct Unpacking {
    torch: Wheel,
    lib: PathBuf,
    placed: BTreeSet<String>,
    wanted: VecDeque<Want>,
}

/// A library that is needed.
struct Want {
    soname: String,
    needed_by: String,
}

impl Unpacking {
    /// Takes the headers and libraries that PyTorch's wheel holds; gives what it does not.
    fn take_from_torch(&mut self, into: &Path, progress: &Progress) -> Result<Vec<Want>, InstallError> {
        let is_header = |entry: &&Entry| entry.name.starts_with("torch/include/");
        let headers: Vec<Entry> = self.torch.entries().iter().filter(is_header).cloned().collect();
        let main = self.torch_library(MAIN).ok_or_else(|| self.torch.bad("it has no torch/lib/libtorch_cpu.so"))?;
        let total = headers.iter().map(|entry| entry.size).sum::<u64>() + main.size;
        let mut phase = progress.phase("unpacking", Some(total));
        for entry in &headers {
            let path = into.join(entry.name.strip_prefix("torch/").unwrap_or(&entry.name));
            self.torch.extract(entry, &path, |count| phase.add(count))?;
        }
        self.want(MAIN, "PyTorch's wheel");
        let mut elsewhere = Vec::new();
        while let Some(want) = self.wanted.pop_front() {
            if self.placed.contains(&want.soname) {
                continue;
            }
            match self.torch_library(&want.soname) {
                Some(entry) => {
                    self.torch.extract(&entry, &self.lib.join(&want.soname), |count| phase.add(count))?;
                    self.place(want)?;
                }
                None => elsewhere.push(want),
            }
        }
        Ok(elsewhere)
    }

    /// Takes the other libraries from the wheels that PyTorch's wheel requires, or leaves them to the system.
    fn take_from_elsewhere(&mut self, wanted: Vec<Want>, downloads: &mut Downloads<'_>) -> Result<(), InstallError> {
        let requirements = requires::parse(&self.torch.metadata()?);
        self.wanted.extend(wanted);
        while let Some(want) = self.wanted.pop_front() {
            if self.placed.contains(&want.soname) {
                continue;
            }
            let path = self.lib.join(&want.soname);
            if let Some(entry) = self.torch_library(&want.soname) {
                self.torch.extract(&entry, &path, |_| {})?;
            } else if let Some(mut wheel) = supplying_wheel(&want.soname, &requirements, downloads)? {
                let Some(entry) = wheel.named(&want.soname) else { return Err(want.missing()) };
                wheel.extract(&entry, &path, |_| {})?;
            } else if elf::is_system(&want.soname) {
                continue;
            } else {
                return Err(want.missing());
            }
            self.place(want)?;
        }
        Ok(())
    }

    /// Notes that a library is there now, and what it needs itself.
    fn place(&mut self, want: Want) -> Result<(), InstallError> {
        let path = self.lib.join(&want.soname);
        let needed = elf::needed(&path)
            .map_err(|error| self.torch.bad(&format!("{} is not a shared library: {error}", want.soname)))?;
        for soname in needed {
            self.want(&soname, &want.soname);
        }
        self.placed.insert(want.soname);
        Ok(())
    }

    fn want(&mut self, soname: &str, needed_by: &str) {
        self.wanted.push_back(Want { soname: soname.to_string(), needed_by: needed_by.to_string() });
    }

    /// The library in PyTorch's wheel; older wheels keep those that are not PyTorch's own in `torch.libs`.
    fn torch_library(&self, soname: &str) -> Option<Entry> {
        let names = [format!("torch/lib/{soname}"), format!("torch.libs/{soname}")];
        self.torch.entries().iter().find(|entry| names.contains(&entry.name)).cloned()
    }
}

impl Want {
    fn missing(self) -> InstallError {
        InstallError::MissingLibrary { soname: self.soname, needed_by: self.needed_by }
    }
}

/// The wheel that PyTorch's requirements name for a library, fetched; `None` where they name none.
fn supplying_wheel(
    soname: &str,
    requirements: &[Requirement],
    downloads: &mut Downloads<'_>,
) -> Result<Option<Wheel>, InstallError> {
    let package = match requires::supplier(soname, requirements) {
        None => return Ok(None),
        Some(Supplier::Package(package)) => package,
        Some(Supplier::ThroughToolkit { toolkit, extra }) => {
            let metadata = Wheel::open(&downloads.required(&toolkit)?)?.metadata()?;
            match requires::supplier_in_toolkit(soname, extra, &requires::parse(&metadata)) {
                None => return Ok(None),
                Some(package) => package,
            }
        }
    };
    Wheel::open(&downloads.required(&package)?).map(Some)
}

/// Adds the names that the linker is asked for. torch-sys wants `-ltorch`, which in the wheel is an empty library that
/// would pull in the CUDA ones, and `-lgomp`, whose bare name a machine without gcc does not have.
fn link_names(lib: &Path, placed: &BTreeSet<String>) -> Result<(), InstallError> {
    let mut links = vec![("libtorch.so", MAIN)];
    links.extend(placed.iter().find(|name| name.starts_with("libgomp")).map(|name| ("libgomp.so", name.as_str())));
    for (name, target) in links {
        let path = lib.join(name);
        if !placed.contains(name) {
            symbolic_link(target, &path).map_err(io_error("link", &path))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn symbolic_link(target: &str, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn symbolic_link(_: &str, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// The library that everything else follows from.
const MAIN: &str = "libtorch_cpu.so";
