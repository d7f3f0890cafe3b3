//! Reads from a shared library the libraries that it needs, and the C++ ABI that it was built with. Both are read
//! from the file, so that no list has to follow each release. It must not know where libraries come from.

use std::fs::File;
use std::path::Path;

use object::read::{Object, ObjectSymbol, ReadCache};

/// The names in the file's NEEDED entries, in order.
pub(super) fn needed(path: &Path) -> Result<Vec<String>, String> {
    let names: Vec<String> = with_file(path, |file| {
        let libraries = file.import_libraries()?;
        libraries.map(|library| Ok(String::from_utf8_lossy(library?.name()).into_owned())).collect()
    })?;
    // Each real one needs the C library at least. None at all means that the table was not found, and to go on then
    // would leave out libraries without a word.
    if names.is_empty() { Err("it has no NEEDED entries".to_string()) } else { Ok(names) }
}

/// Returns whether the library was built with the C++11 ABI of libstdc++, judged by its symbols: with that ABI a
/// function of PyTorch that takes or returns a string carries `__cxx11` in its name. `None` where no symbol shows it.
pub(super) fn cxx11_abi(path: &Path) -> Option<bool> {
    let judge = |file: &object::File<'_, &ReadCache<File>>| {
        let mut old = false;
        for symbol in file.dynamic_symbols() {
            let Ok(name) = symbol.name() else { continue };
            if name.starts_with("_ZN3c10") || name.starts_with("_ZNK3c10") {
                if name.contains("__cxx11") {
                    return Ok(Some(true));
                }
                // `Ss` is how the old ABI abbreviates std::string.
                old |= name.contains("Ss");
            }
        }
        Ok(old.then_some(false))
    };
    with_file(path, judge).ok().flatten()
}

/// Returns whether the system supplies the library: those of the C and C++ run-time belong to each Linux system
/// (PyTorch's wheels leave them out for that reason), and others count if they are in a default folder of the loader.
pub(super) fn is_system(soname: &str) -> bool {
    is_runtime(soname) || LOADER_FOLDERS.iter().any(|folder| Path::new(folder).join(soname).exists())
}

fn is_runtime(soname: &str) -> bool {
    RUNTIME.contains(&stem(soname)) || soname.starts_with("ld-linux") || soname.starts_with("ld64")
}

/// `libcudart` of `libcudart.so.13`.
pub(super) fn stem(soname: &str) -> &str {
    soname.split_once(".so").map_or(soname, |(stem, _)| stem)
}

/// The parts of glibc, libstdc++ and libgcc.
const RUNTIME: [&str; 12] = [
    "libc",
    "libm",
    "libdl",
    "libpthread",
    "librt",
    "libutil",
    "libanl",
    "libresolv",
    "libmvec",
    "libstdc++",
    "libgcc_s",
    "linux-vdso",
];

/// The folders that the loader searches by default.
const LOADER_FOLDERS: [&str; 6] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// Parses the file piecewise: libtorch is hundreds of megabytes, of which a few are looked at.
fn with_file<T>(
    path: &Path,
    look: impl FnOnce(&object::File<'_, &ReadCache<File>>) -> object::read::Result<T>,
) -> Result<T, String> {
    let cache = ReadCache::new(File::open(path).map_err(|error| error.to_string())?);
    let file = object::File::parse(&cache).map_err(|error| error.to_string())?;
    look(&file).map_err(|error| error.to_string())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_needs_of_a_real_program_are_read() {
        let needs = needed(&std::env::current_exe().unwrap()).unwrap();
        assert!(needs.iter().any(|name| name == "libc.so.6"), "{needs:?}");
        assert!(needs.iter().all(|name| is_system(name)), "{needs:?}");
    }

    #[test]
    fn what_is_no_library_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "no library").unwrap();
        assert!(needed(file.path()).is_err());
    }

    #[test]
    fn the_runtime_is_the_system_s_and_cuda_is_not() {
        for name in ["libc.so.6", "libstdc++.so.6", "ld-linux-x86-64.so.2", "libgcc_s.so.1"] {
            assert!(is_runtime(name), "{name}");
        }
        assert!(!is_runtime("libcudart.so.13") && !is_runtime("libcupti.so.13") && !is_runtime("libc10.so"));
    }
}
