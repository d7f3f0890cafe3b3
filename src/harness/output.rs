//! Writing files so that no harm is done: whole or not at all, into what is no regular file, along links, and with the
//! permissions that the file has or the user gives to new ones. It must not know what the files are for.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use libdeflater::{CompressionLvl, Compressor};

/// The maximum number of links that lead to a file, as on Linux.
const LINKS: usize = 40;

/// Bytes compressed by gzip, as small as libdeflate makes them: a thirteenth smaller than zlib does. Neither time nor name goes into
/// it, so the same bytes give the same.
///
/// # Panics
/// If memory for them is short.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::best());
    let mut compressed = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let length = compressor.gzip_compress(bytes, &mut compressed).expect("there is room for every text");
    compressed.truncate(length);
    compressed
}

/// Writes a file whole or not at all. A link is followed, and what is no regular file, such as a device or a pipe, is
/// written into.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let contents = contents.as_ref();
    let path = target(path)?;
    let there = fs::metadata(&path).ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return OpenOptions::new().write(true).open(&path)?.write_all(contents);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Of a new file the umask decides.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut temporary = builder.tempfile_in(folder)?;
    temporary.write_all(contents)?;
    if let Some(there) = there {
        temporary.as_file().set_permissions(there.permissions())?;
    }
    temporary.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes a file, and says which one it was if that fails.
///
/// # Errors
/// When it cannot be written.
pub fn write_named(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), String> {
    write(path, contents).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the path that links lead to; the last one may lead to a file that is not there yet.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.with_file_name("").join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead in a circle, or there are too many of them"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_and_circles_end() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("real", at("one")).unwrap();
        symlink("one", at("two")).unwrap();
        write(&at("two"), "text").unwrap();
        assert_eq!(fs::read_to_string(at("real")).unwrap(), "text");
        assert!(at("two").is_symlink() && at("one").is_symlink());
        symlink("b", at("a")).unwrap();
        symlink("a", at("b")).unwrap();
        let error = write_named(&at("a"), "text").unwrap_err();
        assert!(error.contains("links lead in a circle") && error.contains("/a: "), "{error}");
    }
}
