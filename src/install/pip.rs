//! Runs pip, and turns what it prints when it fails into one of our errors. pip finds the index, the proxies and the
//! certificates by the user's own configuration, so none of these is named here. It must not know what the packages
//! are for.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::child;
use super::error::{InstallError, io_error};
use super::files;
use super::progress::Phase;

/// One package to fetch, and for which machine.
pub(super) struct Order<'a> {
    /// As pip takes it: `torch==2.13.0`.
    pub spec: &'a str,
    /// The Python version to fetch for, whichever pip itself runs under.
    pub python: &'a str,
    /// Platform tags that will do.
    pub platforms: &'a [String],
}

/// Fetches the wheel into an emptied `folder`, which has to be on the disk where it is to stay, and gives its path.
pub(super) fn download(
    program: &OsStr,
    order: &Order<'_>,
    folder: &Path,
    phase: &mut Phase<'_>,
) -> Result<PathBuf, InstallError> {
    let arriving = folder.join("arriving");
    let temporary = folder.join("temporary");
    for part in [&arriving, &temporary] {
        // What an interrupted run left here is of no use: pip does not go on with half a file.
        files::remove_folder(part).map_err(io_error("empty", part))?;
        fs::create_dir_all(part).map_err(io_error("create", part))?;
    }
    let mut command = Command::new(program);
    command.args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"]);
    // pip's own cache would keep a second copy of half a gigabyte.
    command.args(["--no-cache-dir", "--progress-bar=off", "--no-input", "--disable-pip-version-check"]);
    command.args(["--python-version", order.python]);
    command.args(order.platforms.iter().flat_map(|tag| ["--platform", tag]));
    command.arg("--dest").arg(&arriving).arg(order.spec);
    // pip collects the bytes in a temporary file; there they can be counted, and no small /tmp overflows.
    command.env("TMPDIR", &temporary).env("LC_ALL", "C.UTF-8");

    let mut said = String::new();
    let heard = |line: &str| {
        said.push_str(line);
        said.push('\n');
    };
    let count = || phase.at(files::tree_size(&temporary).max(files::tree_size(&arriving)));
    let status = child::watch(&mut command, heard, count).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
            InstallError::NoPython { python: program.to_string_lossy().into_owned() }
        }
        _ => io_error("run pip in", folder)(error),
    })?;
    files::remove_folder(&temporary).map_err(io_error("remove", &temporary))?;
    if !status.success() {
        return Err(classify(&said, program, order.spec, folder));
    }
    let entries = fs::read_dir(&arriving).map_err(io_error("read", &arriving))?;
    let wheel = entries.flatten().map(|entry| entry.path()).find(|path| path.extension() == Some(OsStr::new("whl")));
    wheel.ok_or_else(|| InstallError::Pip {
        wanted: order.spec.to_string(),
        detail: "pip reported success and left no wheel".to_string(),
    })
}

/// The newest version of a package that the index has, as `pip index` prints it.
pub(super) fn newest(program: &OsStr, package: &str) -> Result<String, InstallError> {
    let mut command = Command::new(program);
    command.args(["-m", "pip", "index", "versions", "--disable-pip-version-check", "--no-input", package]);
    let output = command.env("LC_ALL", "C.UTF-8").output();
    let output = output.map_err(|_| InstallError::NoPython { python: program.to_string_lossy().into_owned() })?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(classify(&String::from_utf8_lossy(&output.stderr), program, package, Path::new(".")));
    }
    // torch (2.13.0)
    let version = text.lines().find_map(|line| line.strip_prefix(package)?.trim().strip_prefix('(')?.strip_suffix(')'));
    version.map(str::to_string).ok_or_else(|| InstallError::Pip {
        wanted: package.to_string(),
        detail: "`pip index versions` printed no version".to_string(),
    })
}

/// The platform tags that a machine for `platform` accepts, best first. pip takes a tag literally, and NVIDIA's wheels
/// bear older tags than PyTorch's.
pub(super) fn compatible_platforms(platform: &str) -> Vec<String> {
    let mut tags = vec![platform.to_string()];
    let machine = if platform.ends_with("aarch64") { "aarch64" } else { "x86_64" };
    let minor = platform.strip_prefix("manylinux_2_").and_then(|rest| rest.split('_').next()?.parse::<u32>().ok());
    tags.extend((5..minor.unwrap_or(29)).rev().map(|minor| format!("manylinux_2_{minor}_{machine}")));
    tags.extend(["manylinux2014", "manylinux2010", "manylinux1"].map(|tag| format!("{tag}_{machine}")));
    tags
}

/// Classifies the error output of pip. The order matters: after a failed connection pip also says that it found no
/// version, and a full disk may end a connection.
fn classify(said: &str, program: &OsStr, wanted: &str, folder: &Path) -> InstallError {
    let has = |text: &str| said.contains(text);
    if has("No module named pip") || has("No module named 'pip'") {
        return InstallError::NoPip { python: program.to_string_lossy().into_owned() };
    }
    if has("No space left on device") || has("[Errno 28]") || has("Disk quota exceeded") {
        return InstallError::DiskFull { path: folder.to_path_buf(), needed: None, free: None };
    }
    if let Some((_, meaning)) = CONNECTION.iter().find(|(text, _)| has(text)) {
        return InstallError::NoNetwork { tool: "pip", detail: meaning.to_string() };
    }
    let wanted = wanted.to_string();
    let detail = last_error(said);
    if has("No matching distribution found") || has("Could not find a version") {
        return InstallError::NoWheel { wanted, detail };
    }
    InstallError::Pip { wanted, detail }
}

/// The texts that pip prints when a connection fails, and their meanings; the more specific first.
const CONNECTION: [(&str, &str); 16] = [
    ("Cannot connect to proxy", "the proxy does not answer"),
    ("ProxyError", "the proxy rejected the request"),
    ("Proxy Authentication Required", "the proxy requires a password"),
    ("CERTIFICATE_VERIFY_FAILED", "the server's certificate is not trusted here"),
    ("SSLError", "the secure connection failed"),
    ("Temporary failure in name resolution", "its name cannot be resolved"),
    ("Name or service not known", "its name cannot be resolved"),
    ("nodename nor servname provided", "its name cannot be resolved"),
    ("Network is unreachable", "the network is unreachable"),
    ("No route to host", "there is no route to its host"),
    ("Connection refused", "the connection was refused"),
    ("timed out", "it did not answer in time"),
    ("Connection reset by peer", "the connection broke"),
    ("IncompleteRead", "the connection broke"),
    ("Failed to establish a new connection", "the connection failed"),
    ("connection broken by", "the connection broke"),
];

/// The last line that pip marks as an error, else its last line.
fn last_error(said: &str) -> String {
    let lines = || said.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| line.starts_with("ERROR:")).or_else(|| lines().next());
    let text = line.unwrap_or("it gave no reason").trim_start_matches("ERROR:").trim();
    text.chars().take(300).collect()
}

/// The Python program to run pip with: BROADCHECK_PYTHON, else `python3`.
pub(crate) fn program_from_env() -> OsString {
    std::env::var_os("BROADCHECK_PYTHON").filter(|value| !value.is_empty()).unwrap_or_else(|| "python3".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(said: &str) -> InstallError {
        classify(said, OsStr::new("python3"), "torch==2.13.0", Path::new("there"))
    }

    #[test]
    fn a_failed_connection_is_not_taken_for_a_missing_version() {
        let said = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(': Failed to \
                    establish a new connection: [Errno -3] Temporary failure in name resolution')'\n\
                    ERROR: Could not find a version that satisfies torch==2.13.0 (from versions: none)\n\
                    ERROR: No matching distribution found for torch==2.13.0";
        let error = meaning(said);
        assert!(matches!(&error, InstallError::NoNetwork { .. }), "{error}");
        assert!(error.to_string().contains("its name cannot be resolved"), "{error}");
    }

    #[test]
    fn a_missing_version_is_not_taken_for_a_failed_connection() {
        let said = "ERROR: Could not find a version that satisfies the requirement torch==2.13.0 (from versions: 1.0)\n\
                    ERROR: No matching distribution found for torch==2.13.0";
        assert!(matches!(meaning(said), InstallError::NoWheel { .. }));
    }

    #[test]
    fn an_unknown_error_is_passed_on() {
        let text = meaning("something\nERROR: the moon is full\n\n").to_string();
        assert!(text.contains("the moon is full"), "{text}");
    }

    #[test]
    fn older_platform_tags_are_accepted_and_newer_are_not() {
        let tags = compatible_platforms("manylinux_2_28_x86_64");
        assert_eq!(tags[0], "manylinux_2_28_x86_64");
        assert!(tags.contains(&"manylinux_2_25_x86_64".to_string()) && tags.contains(&"manylinux2014_x86_64".into()));
        assert!(!tags.contains(&"manylinux_2_29_x86_64".to_string()));
    }
}
